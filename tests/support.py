"""Parity with NumPy: what tests compare, and values worth comparing."""

import inspect
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.device import Capabilities, Device
from gpuarray.providers import registry

REAL_VALUES = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.7, 1e-3, 7.0, -7.0, 42.0, np.inf, -np.inf, np.nan)
COMPLEX_VALUES = (0j, 1 + 0j, -1 + 0.5j, 2.5 - 3j, 0.25 + 4j, -3 - 2j)


def special_values(dtype: Any) -> np.ndarray[Any, Any]:
    """Return values of a dtype at which operations tend to go wrong."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True, True, False])
    if kind.kind == "c":
        return np.array(COMPLEX_VALUES, kind)
    if kind.kind == "f":
        return np.array(REAL_VALUES, kind)
    limits = np.iinfo(kind)
    inner = [0, 1, 2, 3, 7, 42, 100, limits.max, limits.max - 1, limits.min]
    return np.array(inner + ([-1, -2, -7] if kind.kind == "i" else []), kind)


def values(shape: Any, dtype: Any = np.float64, seed: int = 0) -> np.ndarray[Any, Any]:
    """Return ordinary values: small integers of any sign where the dtype has one, halves of floating dtypes."""
    kind = np.dtype(dtype)
    generator = np.random.default_rng(seed)
    low = 0 if kind.kind in "bu" else -9
    numbers = generator.integers(low, 2 if kind.kind == "b" else 10, shape)
    if kind.kind == "f":
        numbers = numbers / 2
    elif kind.kind == "c":
        numbers = numbers / 2 + 1j * generator.integers(-9, 10, shape)
    return np.asarray(numbers).astype(kind)


def assert_same(actual: Any, expected: Any, *, ulp: float = 0, what: str = "", signed_zeros: bool = True) -> None:
    """Check that an array has NumPy's shape, dtype and elements, NaN and signed zeros included.

    Parameters
    ----------
    actual : GpuArray
        What was computed here.
    expected : ndarray
        What NumPy computed.
    ulp : float
        How many units in the last place floating elements may be apart.
    what : str
        What to say of a failure.
    signed_zeros : bool
        Whether the sign of zeros counts.
    """
    assert isinstance(actual, xp.GpuArray), f"{what}: {type(actual)}"
    wanted = np.asarray(expected)
    assert actual.shape == wanted.shape, what
    assert actual.dtype == wanted.dtype, what
    host = np.asarray(actual)
    assert host.shape == wanted.shape, what
    assert host.dtype == wanted.dtype, what
    if wanted.dtype.kind == "c":
        _assert_close_complex(host, wanted, ulp, what)
        return
    if not ulp or wanted.dtype.kind != "f":
        np.testing.assert_array_equal(host, wanted, err_msg=what, strict=True)
        if wanted.dtype.kind == "f" and signed_zeros:
            numbers = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(host[numbers]), np.signbit(wanted[numbers]), err_msg=what)
        return
    _assert_within(host, wanted, ulp, what)


def _assert_within(host: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], ulp: float, what: str) -> None:
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(host[~finite], wanted[~finite], err_msg=what)
    with np.errstate(all="ignore"):
        unit = np.maximum(np.spacing(np.abs(wanted[finite])), np.finfo(wanted.dtype).tiny).astype(np.float64)
        apart = np.abs(host[finite].astype(np.float64) - wanted[finite].astype(np.float64))
    worst = float((apart / unit).max(initial=0))
    assert worst <= ulp, f"{what}: {worst} units in the last place apart\n{host}\n{wanted}"


def _assert_close_complex(host: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], ulp: float, what: str) -> None:
    epsilon = np.finfo(wanted.dtype).eps
    np.testing.assert_allclose(host, wanted, rtol=epsilon * (ulp or 0.5) * 4, atol=epsilon * ulp, err_msg=what)


def capabilities_of(device: Any) -> Capabilities:
    """Return what a device can do, which differs from GPU to GPU."""
    return registry.open_device(Device(device)).capabilities


def computes(device: Any, *kinds: Any) -> bool:
    """Whether a device computes with all of some dtypes; the host does what it cannot."""
    return capabilities_of(device).dtypes.issuperset(map(np.dtype, kinds))


def need_dtypes(device: Any, *kinds: Any) -> None:
    """Skip a test of kernels for dtypes that a device leaves to the host."""
    if not computes(device, *kinds):
        pytest.skip(f"{device} has no {', '.join(np.dtype(kind).name for kind in kinds)}: the host computes with it")


def both(host: np.ndarray[Any, Any], device: Any = None) -> tuple[np.ndarray[Any, Any], xp.GpuArray]:
    """Return a NumPy array of its own, and the array here with the same elements."""
    return host.copy(), xp.asarray(host, device=device)


#: Dtypes by name, for readable parameters of tests.
DTYPES = {dtype.name: dtype for dtype in dtypes.ALL}


def assert_near(actual: Any, expected: Any, *, rtol: float = 1e-5, what: str = "") -> None:
    """Check for NumPy's shape and dtype, and values that are apart by a share of the largest at most.

    Parameters
    ----------
    actual : GpuArray
        What a client computed with arrays of this package.
    expected : ndarray
        What it computed with NumPy's.
    rtol : float
        The share; elements of integers and booleans must be equal.
    what : str
        What to say of a failure.
    """
    assert isinstance(actual, xp.GpuArray), f"{what}: {type(actual)}"
    host, wanted = np.asarray(actual), np.asarray(expected)
    assert (host.shape, host.dtype) == (wanted.shape, wanted.dtype), what
    if wanted.dtype.kind not in "fc":
        np.testing.assert_array_equal(host, wanted, err_msg=what)
        return
    finite = wanted[np.isfinite(wanted)]
    largest = float(np.abs(finite).max(initial=0))
    np.testing.assert_allclose(host, wanted, rtol=rtol, atol=rtol * largest, err_msg=what)


def assert_alike(actual: Any, expected: Any) -> None:
    """Assert that what two calls returned is the same, arrays in any nesting, their devices and flags included."""
    assert type(actual) is type(expected)
    if isinstance(expected, xp.GpuArray):
        assert_same(actual, expected.get())
        assert actual.device is expected.device
        assert actual.flags.writeable == expected.flags.writeable
    elif isinstance(expected, tuple | list):
        for one, other in zip(actual, expected, strict=True):
            assert_alike(one, other)
    elif isinstance(expected, dict):
        assert [*actual] == [*expected]
        assert_alike([*actual.values()], [*expected.values()])
    else:
        assert actual == expected


def two_arrays(seed: int, shape: tuple[int, ...] = (8, 6), dtype: Any = np.float32) -> tuple[xp.GpuArray, xp.GpuArray]:
    """Return two arrays of normal numbers on the default device."""
    made = np.random.default_rng(seed).standard_normal((2, *shape)).astype(dtype)
    return xp.asarray(made[0]), xp.asarray(made[1])


def scipy_ufunc(name: str) -> Any:
    """Return the function of ``scipy.special`` that takes NumPy's arrays, where the public one looks for namespaces."""
    return inspect.unwrap(getattr(import_module("scipy.special"), name))
