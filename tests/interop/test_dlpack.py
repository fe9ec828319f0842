"""DLPack: host copies go out, arrays of other libraries come in."""

import numpy as np
import pytest

import gpuarray
from gpuarray.array import from_host
from gpuarray.device import Device
from gpuarray.interop.dlpack import from_dlpack

NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
DTYPES = NAMES.split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_imports_every_dtype(dtype, device):
    host = np.arange(6).reshape(2, 3).astype(dtype)
    result = np.from_dlpack(from_host(host, Device(device)))
    assert result.dtype == host.dtype
    np.testing.assert_array_equal(result, host)


def test_the_export_is_a_copy(device):
    array = from_host(np.zeros(3), Device(device))
    result = np.from_dlpack(array)
    array[0] = 5
    np.testing.assert_array_equal(result, np.zeros(3))


def test_the_device_is_the_host(device):
    assert from_host(np.zeros(3), Device(device)).__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("keywords", [{"stream": 1}, {"dl_device": (2, 0)}, {"copy": False}])
def test_what_cannot_be_is_refused(keywords, device):
    with pytest.raises(BufferError, match=next(iter(keywords))):
        from_host(np.zeros(6), Device(device))[::2].__dlpack__(**keywords)


def test_without_a_copy_the_memory_is_shared_and_read_only(device):
    array = from_host(np.arange(6.0), Device(device)) + 1
    first, second = (np.from_dlpack(view, copy=False) for view in (array, array.reshape(2, 3)))
    np.testing.assert_array_equal(first, np.arange(1.0, 7.0))
    assert np.shares_memory(first, second)
    assert not first.flags.writeable
    array[0] = -1
    np.testing.assert_array_equal(first, np.arange(1.0, 7.0))
    np.testing.assert_array_equal(np.asarray(array)[:2], [-1.0, 2.0])


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0)])
def test_every_version_may_ask_for_no_copy(version, device):
    for shape in ((3,), (0,), ()):
        array = from_host(np.zeros(shape), Device(device))
        assert array.__dlpack__(copy=False, max_version=version) is not None


@pytest.mark.parametrize("keywords", [{}, {"max_version": (1, 0)}, {"dl_device": (1, 0)}, {"copy": True}])
def test_accepted_keywords(keywords, device):
    assert from_host(np.zeros(3), Device(device)).__dlpack__(**keywords) is not None


def test_views_are_exported_by_value(device):
    host = np.arange(12.0).reshape(3, 4)
    view = from_host(host, Device(device)).T[::2]
    np.testing.assert_array_equal(np.from_dlpack(view), host.T[::2])


def test_arrays_of_numpy_come_in(device):
    host = np.arange(12.0, dtype=np.float32).reshape(3, 4).T
    result = from_dlpack(host, device=Device(device))
    host[0] = -1
    assert result.device == device
    assert result.dtype == np.float32
    np.testing.assert_array_equal(np.asarray(result), np.arange(12.0, dtype=np.float32).reshape(3, 4).T)


def test_our_own_arrays_come_in(device):
    array = from_host(np.zeros(3), Device(device))
    assert from_dlpack(array) is array
    assert from_dlpack(array, copy=False) is array
    copied = from_dlpack(array, copy=True)
    copied[0] = 1
    np.testing.assert_array_equal(np.asarray(array), np.zeros(3))


def test_a_copy_that_must_not_be_is_refused():
    with pytest.raises(BufferError, match="copy=False"):
        from_dlpack(np.zeros(3), copy=False)


def test_unsupported_dtypes_and_objects_are_refused():
    with pytest.raises(AttributeError):
        from_dlpack([1, 2, 3])


def test_the_public_name_is_this_function():
    assert gpuarray.from_dlpack is from_dlpack
