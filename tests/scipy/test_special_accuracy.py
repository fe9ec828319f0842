"""The operations that only gpuarray.scipy has are within two units in the last place of mpmath's values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from scipy import special

import gpuarray as xp
from gpuarray.ops.special import OF_SCIPY
from gpuarray.scipy import special as ours

_RANDOM = np.random.default_rng(3)
_SIZES = np.concatenate([
    10 ** _RANDOM.uniform(-8, 5, 150), _RANDOM.uniform(0, 30, 250), [2, 4.9, 8, 11.1, 14.2, 17.35, 1.25, 1e9, 3e18],
])  # fmt: skip
_ZEROS = [float(mp.findroot(mp.ci, start)) for start in (0.617, 3.384, 6.427, 9.529, 12.65, 15.78)]


def _values(function: Callable[..., Any], *operands: np.ndarray) -> list[Any]:
    with mp.workprec(300):
        return [function(*map(mp.mpf, map(float, row))) for row in zip(*operands, strict=True)]


#: The function of mpmath, and the operands.
_EXACT: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "sine_integral": (mp.si, (np.concatenate([_SIZES, -_SIZES[::9]]),)),
    "cosine_integral": (mp.ci, (np.concatenate([_SIZES, _ZEROS, np.nextafter(_ZEROS, 99)]),)),
    "fresnel_sine": (mp.fresnels, (np.concatenate([_SIZES, -_SIZES[::9]]),)),
    "fresnel_cosine": (mp.fresnelc, (np.concatenate([_SIZES, -_SIZES[::9]]),)),
    "wrightomega": (
        lambda x: mp.lambertw(mp.exp(x)).real,
        (np.concatenate([_RANDOM.uniform(-80, 80, 400), _SIZES, -_SIZES[_SIZES < 1], [-2, 1, -18, -38]]),),
    ),
}


def _apply(name: str, *operands: np.ndarray, device: str) -> np.ndarray:
    return xp.GpuArray._apply(OF_SCIPY[name], *(xp.asarray(v, device=device) for v in operands)).get()


def test_all_operations_are_measured() -> None:
    assert set(_EXACT) == set(OF_SCIPY)


@pytest.mark.parametrize(("device", "dtype"), [("cpu", np.float64), ("cpu", np.float32), ("wgpu", np.float32)])
@pytest.mark.parametrize("name", OF_SCIPY)
def test_errors_are_at_most_two_units(name: str, device: str, dtype: Any) -> None:
    function, operands = _EXACT[name]
    operands = tuple(v.astype(dtype) for v in operands)
    result = _apply(name, *operands, device=device)
    assert result.dtype == dtype
    wanted = _values(function, *operands)
    units = np.spacing(np.abs(np.array([float(w) for w in wanted]).astype(dtype)))
    errors = [float(abs(mp.mpf(float(r)) - w) / float(u)) for r, w, u in zip(result, wanted, units, strict=True)]
    worst = int(np.argmax(errors))
    assert errors[worst] <= 2, [float(v[worst]) for v in operands]


@pytest.mark.parametrize("device", ["cpu", "wgpu"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ends_are_scipys(device: str, dtype: Any) -> None:
    x = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 5, -5], dtype)
    for name in ("sici", "fresnel", "wrightomega"):
        with xp.using(fallback="error"), np.errstate(all="ignore"):
            results, expected = getattr(ours, name)(xp.asarray(x, device=device)), getattr(special, name)(x)
        if name == "wrightomega":
            results, expected = (results,), (expected,)
        for one, other in zip(results, expected, strict=True):
            assert one.dtype == dtype
            np.testing.assert_allclose(one, other, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("device", ["cpu", "wgpu"])
@pytest.mark.parametrize("name", ["sine_integral", "fresnel_sine", "fresnel_cosine"])
def test_odd_functions_keep_the_sign_of_zero(name: str, device: str) -> None:
    result = _apply(name, np.array([0.0, -0.0], np.float32), device=device)
    np.testing.assert_array_equal(np.signbit(result), [False, True])


@pytest.mark.parametrize("name", ["sici", "fresnel", "wrightomega"])
def test_batches(name: str) -> None:
    x = np.linspace(0.3, 9, 12).reshape(3, 4)
    results, expected = xp.vmap(getattr(ours, name))(xp.asarray(x)), getattr(special, name)(x)
    pairs = zip(results, expected, strict=True) if isinstance(expected, tuple) else [(results, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-12)
