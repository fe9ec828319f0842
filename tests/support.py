"""What tests of several folders share: values worth comparing, and what devices can do."""

import inspect
import os
import signal
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.device import Capabilities, Device
from gpuarray.providers import registry
from gpuarray.testing import assert_same

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


def is_interrupted_soon(function: Callable[[], Any]) -> bool:
    """Return whether SIGINT ends a call within a second; where other processes disturb, one of five calls."""
    for _ in range(5):
        sent: list[float] = []

        def send(sent: list[float] = sent) -> None:
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(0.1, send).start()
        has_ended = False
        try:
            function()
            has_ended = True
            time.sleep(60)  # the signal is still to come
        except KeyboardInterrupt:
            if not has_ended and time.monotonic() - sent[0] < 1:
                return True
    return False
