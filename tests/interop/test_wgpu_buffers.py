"""Buffers shared with other users of wgpu: no copy, and clear errors."""

import numpy as np
import pytest
import wgpu

import gpuarray as xp
from gpuarray.errors import DeviceError
from gpuarray.interop import from_wgpu_buffer, to_wgpu_buffer, wgpu_device

USAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST


@pytest.fixture(autouse=True)
def _on_wgpu():
    with xp.using(device="wgpu"):
        yield


def given(array, *, size=None, usage=USAGE):
    """Return a buffer of the shared device that begins with an array's bytes."""
    buffer = wgpu_device().create_buffer(size=size or max(-(-array.nbytes // 64) * 64, 64), usage=usage)
    wgpu_device().queue.write_buffer(buffer, 0, array.tobytes() + b"\0" * (-array.nbytes % 4))
    return buffer


def held(buffer, like):
    """Return the beginning of a buffer as an array with the dtype and shape of another one."""
    data = wgpu_device().queue.read_buffer(buffer, 0, -(-like.nbytes // 4) * 4)
    return np.frombuffer(data, like.dtype, like.size).reshape(like.shape)


@pytest.mark.parametrize("dtype", ["float32", "int64", "float16", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(3, 5), (), (7,), (1000,)])
def test_there_and_back(dtype: str, shape: tuple[int, ...]) -> None:
    host = (np.arange(np.prod(shape, dtype=int)) % 3).astype(dtype).reshape(shape)
    array = from_wgpu_buffer(given(host), shape, dtype)
    assert (array.shape, array.dtype, array.device) == (shape, np.dtype(dtype), "wgpu:0")
    doubled = xp.logical_not(array) if dtype == "bool" else array + array
    expected = ~host if dtype == "bool" else host + host
    np.testing.assert_array_equal(held(to_wgpu_buffer(doubled), expected), expected)
    np.testing.assert_array_equal(np.asarray(array), host)


def test_nothing_is_copied() -> None:
    own = given(np.arange(64, dtype=np.float32))
    array = from_wgpu_buffer(own, (8, 8), np.float32)
    assert to_wgpu_buffer(array) is own
    assert to_wgpu_buffer(array.reshape(64)) is own
    pending = xp.arange(1000, dtype=xp.float32) * 2
    xp.reset_stats()
    buffer = to_wgpu_buffer(pending)
    assert to_wgpu_buffer(pending) is buffer
    assert xp.stats()["launches"] == 1
    assert xp.stats()["bytes_downloaded"] == xp.stats()["bytes_uploaded"] == 0


def test_values_of_the_host_are_uploaded_once() -> None:
    host = np.arange(10.0, dtype=np.float32)
    array = xp.asarray(host)
    np.testing.assert_array_equal(held(to_wgpu_buffer(array), host), host)
    assert to_wgpu_buffer(array) is to_wgpu_buffer(array)


def test_writing_to_the_array_leaves_the_buffer_as_it_is() -> None:
    host = np.arange(16, dtype=np.int32)
    own = given(host)
    array = from_wgpu_buffer(own, 16, "int32")
    array += 1
    array[3:5] = 0
    assert np.asarray(array)[2:6].tolist() == [3, 0, 0, 6]
    np.testing.assert_array_equal(held(own, host), host)
    del array
    xp.evaluate(xp.ones(16, dtype=xp.int32) + 1)
    np.testing.assert_array_equal(held(own, host), host)


def test_later_work_sees_what_was_submitted_before() -> None:
    own = given(np.zeros(16, np.int32))
    wgpu_device().queue.write_buffer(own, 0, np.full(16, 5, np.int32))
    assert int(from_wgpu_buffer(own, 16, "int32").sum()) == 80


def test_sizes() -> None:
    own = given(np.zeros(5, np.float32), size=32)
    assert from_wgpu_buffer(own, (0, 3), "float32").shape == (0, 3)
    assert from_wgpu_buffer(own, 8, "float32").shape == (8,)
    with pytest.raises(ValueError, match=r"32 bytes.*at least 48"):
        from_wgpu_buffer(own, (3, 3), "float32")
    with pytest.raises(ValueError, match=r"20 bytes.*at least 32"):
        from_wgpu_buffer(given(np.zeros(5, np.float32), size=20), 5, "float32")
    with pytest.raises(ValueError, match="negative"):
        from_wgpu_buffer(own, -3, "float32")


def test_what_cannot_be_handed_out() -> None:
    array = xp.arange(20).reshape(4, 5)
    for part in (array[1:], array.T, array[:, ::2], xp.asarray(np.ones(3, complex)).real):
        with pytest.raises(ValueError, match="copy"):
            to_wgpu_buffer(part)
    with pytest.raises(DeviceError, match="to_device"):
        to_wgpu_buffer(xp.ones(3, device="cpu"))
    with pytest.raises(TypeError, match="ndarray"):
        to_wgpu_buffer(np.ones(3))


def test_what_cannot_be_taken_in() -> None:
    host = np.zeros(4, np.float32)
    with pytest.raises(TypeError, match="GPUBuffer"):
        from_wgpu_buffer(host, 4, "float32")
    with pytest.raises(DeviceError, match="usages"):
        from_wgpu_buffer(given(host, usage=wgpu.BufferUsage.COPY_DST), 4, "float32")
    with pytest.raises(DeviceError, match="no wgpu buffers"):
        from_wgpu_buffer(given(host), 4, "float32", device="cpu")
    with pytest.raises(TypeError, match="not supported"):
        from_wgpu_buffer(given(host), 4, object)
    with pytest.raises(DeviceError, match="cpu"):
        wgpu_device("cpu")
    other = wgpu.gpu.enumerate_adapters_sync()[0].request_device_sync()
    foreign = other.create_buffer(size=16, usage=USAGE)
    with pytest.raises(DeviceError, match="another wgpu"):
        from_wgpu_buffer(foreign, 4, "float32")
    other.destroy()
