"""What the tests of NumPy's dialect share: putting arrays on the device, and comparing what comes back with NumPy."""

import sys
from pathlib import Path

import numpy as np
import pytest

import gpuarray  # noqa: F401  # importing it installs NumPy's functions
from gpuarray.array import GpuArray, from_host
from gpuarray.device import Device
from gpuarray.testing import TOLERANCES, assert_same

# the samples are for all files of this folder
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def put(device):
    """A function that puts a NumPy array on the device under test."""
    return lambda array: from_host(np.asarray(array), Device(device))


def _ours(value):
    """Return a result with NumPy's arrays, which ``out=`` may be, as arrays of this package, to be compared."""
    if isinstance(value, list | tuple):
        return type(value)(map(_ours, value)) if type(value) in (list, tuple) else value
    return from_host(np.asarray(value), Device("cpu")) if isinstance(value, np.ndarray) else value


@pytest.fixture
def same():
    """:func:`gpuarray.testing.assert_same` of arrays of either kind, with tolerances for many operations."""

    def check(actual, expected, *, atol=0):
        assert_same(_ours(actual), expected, rtol=TOLERANCES, atol=atol)

    return check


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
