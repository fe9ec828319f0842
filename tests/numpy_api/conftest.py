"""What the tests of NumPy's dialect share: putting arrays on the device, and comparing what comes back with NumPy."""

import sys
from pathlib import Path

import numpy as np
import pytest

import gpuarray  # noqa: F401  # importing it installs NumPy's functions
from gpuarray.array import GpuArray, from_host
from gpuarray.device import Device

# the samples are for all files of this folder
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def put(device):
    """A function that puts a NumPy array on the device under test."""
    return lambda array: from_host(np.asarray(array), Device(device))


def assert_same(actual, expected):
    """Assert that a result is NumPy's: the same structure, dtypes, shapes, and values up to rounding."""
    if isinstance(expected, list | tuple):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, np.ndarray | np.generic):
        host = np.asarray(actual)
        assert host.dtype == expected.dtype
        assert host.shape == expected.shape
        single = expected.dtype.char in "fF"
        rtol = 2e-2 if expected.dtype == np.float16 else 2e-5 if single else 1e-11
        np.testing.assert_allclose(host, expected, rtol=rtol, atol=rtol)
    else:
        assert type(actual) is type(expected)
        assert actual == expected


@pytest.fixture
def same():
    """:func:`assert_same`."""
    return assert_same


@pytest.fixture
def agree(put, same):
    """Run a function once with NumPy arrays and once with arrays on the device, and compare the results.

    The function takes ``p``, through which its arrays go. The result must hold an array of this package wherever
    NumPy's holds an array.
    """

    def check(function, *, arrays=True):
        with np.errstate(all="ignore"):
            expected = function(np.array)
            actual = function(put)
        same(actual, expected)
        parts = actual if isinstance(actual, list | tuple) else [actual]
        if arrays and isinstance(expected, np.ndarray | np.generic):
            assert all(isinstance(part, GpuArray) for part in parts)

    return check
