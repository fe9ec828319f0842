"""numba compiles for host memory: its functions refuse arrays and say what to give; its ufuncs run on the host."""

import numba
import numpy as np
import pytest

import gpuarray as xp
from gpuarray.testing import assert_same

pytestmark = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)

NUMBERS = np.arange(6, dtype=np.float32)


@numba.njit
def total(a):
    """Return the sum of elements, added up one by one."""
    result = 0.0
    for value in a:
        result += value
    return result


@numba.vectorize
def squared_plus(a, b):
    """Return a ufunc's result that NumPy does not have."""
    return a * a + b


@numba.guvectorize([(numba.float32[:], numba.float32[:])], "(n)->(n)")
def reversed_line(line, result):
    """Fill in a line backwards."""
    for i in range(line.size):
        result[i] = line[line.size - 1 - i]


def test_compiled_functions_refuse(device):
    x = xp.asarray(NUMBERS)
    with pytest.raises(numba.TypingError, match=r"np\.asarray\(x\), or np\.from_dlpack\(x\)"):
        total(x)
    with pytest.raises(ValueError, match=r"shape \(6,\) and dtype float32"):
        numba.typeof(x)
    assert xp.stats()["bytes_downloaded"] == 0


def test_what_the_refusal_proposes_works(device):
    x = xp.asarray(NUMBERS) + 1
    assert total(np.asarray(x)) == 21
    assert total(np.from_dlpack(x)) == 21


def test_arrays_are_no_host_or_cuda_memory(device):
    x = xp.asarray(NUMBERS)
    assert not hasattr(x, "__cuda_array_interface__")
    assert not hasattr(x, "__array_interface__")
    with pytest.raises(TypeError, match="bytes-like"):
        memoryview(x)


def test_ufuncs_run_on_the_host_and_come_back(device):
    x = xp.asarray(NUMBERS)
    assert_same(squared_plus(x, 1), squared_plus(NUMBERS, 1))
    assert_same(squared_plus(x, x), squared_plus(NUMBERS, NUMBERS))
    assert_same(reversed_line(x), NUMBERS[::-1])
    assert squared_plus(x, 1).device == device
    assert xp.stats()["fallbacks"] == (4 if device.kind == "wgpu" else 0)
