"""Every function of NumPy has a derivative: it agrees with differences in the calls of all tests."""

import numpy as np
import pytest
from numpy_calls import CALLS

import gpuarray as xp
from gpuarray.array import GpuArray
from gpuarray.functions import registry

STEP = 1e-6
#: Functions of Hermitian matrices, whose derivatives are those in Hermitian directions.
HERMITIAN = {"linalg.cholesky", "linalg.eigh", "linalg.eigvalsh"}
#: Calls at points where the function has no derivative, and why.
EXCEPT = {
    ("roots", 1): "a root is repeated",
    ("unique", 5): "columns are equal",
}
NAMES = sorted(
    name
    for name, implementation in registry.IMPLEMENTATIONS.items()
    if implementation.kind != registry.REFUSED and not isinstance(registry.find(name), np.ufunc)
)


def _numbers(value):
    """Iterate over the results with real or complex elements."""
    if isinstance(value, np.ndarray | np.generic | GpuArray | float | complex):
        if np.dtype(getattr(value, "dtype", type(value))).kind in "fc":
            yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _numbers(item)


def _weighted(results):
    """Return the sum of all elements of results with different weights."""
    total = 0.0
    for number, value in enumerate(_numbers(results)):
        weights = np.cos(1.3 * np.arange(value.size) + number).reshape(value.shape)
        value = value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)
        parts = [value] if value.dtype.kind == "f" else [value.real, 0.7 * value.imag]
        total = total + sum((part * weights).sum() for part in parts)
    return total


def _arguments(call, function):
    """Return the arrays that a call puts on the device, and whether the function has results with derivatives."""
    result = []

    def note(array):
        result.append(np.array(array))
        return np.array(array)

    return result, any(True for _ in _numbers(call(function, note)))


def _filled(call, function, arrays):
    remaining = iter(arrays)
    return call(function, lambda _: next(remaining))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_agree_with_differences(name):
    function = registry.find(name)
    for number, call in enumerate(CALLS[name] if function is not None else ()):
        with np.errstate(all="ignore"):
            arrays, is_smooth = _arguments(call, function)
            places = [n for n, a in enumerate(arrays) if a.dtype == np.float64 and a.size and np.isfinite(a).all()]
            if not is_smooth or not places or (name, number) in EXCEPT:
                continue
            directions = [np.sin(np.arange(1.0, arrays[n].size + 1)).reshape(arrays[n].shape) for n in places]
            if name in HERMITIAN:
                directions = [d + d.T for d in directions]

            def moved(step, arrays=arrays, places=places, directions=directions):
                result = [np.array(a) for a in arrays]
                for place, direction in zip(places, directions, strict=True):
                    result[place] = result[place] + step * direction
                return result

            def value(*chosen, call=call, arrays=arrays, places=places):
                result = [xp.asarray(np.array(a)) for a in arrays]
                for place, array in zip(places, chosen, strict=True):
                    result[place] = array
                return _weighted(_filled(call, function, result))

            after, before = (_weighted(_filled(call, function, moved(step))) for step in (STEP, -STEP))
            expected = (after - before) / (2 * STEP)
            with xp.using(device="cpu"):
                slopes = xp.grad(value, tuple(range(len(places))))(*(xp.asarray(arrays[n]) for n in places))
            actual = sum((s.get() * d).sum() for s, d in zip(slopes, directions, strict=True))
        is_single = any(a.dtype.itemsize == 4 for a in _numbers(_filled(call, function, moved(0))))
        if not np.isnan(expected) and not is_single:
            np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5, err_msg=f"call {number} of numpy.{name}")
