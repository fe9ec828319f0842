"""cffi takes host memory only, and says so; a NumPy array in between is that memory."""

import cffi
import numpy as np
import pytest

import gpuarray as xp

pytestmark = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)

ffi = cffi.FFI()


def test_arrays_are_refused(device):
    x = xp.arange(4, dtype=xp.float32)
    with pytest.raises(TypeError, match="bytes-like object is required, not 'GpuArray'"):
        ffi.from_buffer(x)
    with pytest.raises(TypeError, match="GpuArray"):
        ffi.new("float[]", x)
    with pytest.raises(TypeError, match="0-dimensional"):
        ffi.cast("float *", x)


def test_host_copies_are_taken(device):
    x = xp.arange(4, dtype=xp.float32) * 2
    host = np.asarray(x)
    assert list(ffi.from_buffer("float[]", host)) == [0, 2, 4, 6]
    assert ffi.cast("double", x[3]) == ffi.cast("double", 6.0)
