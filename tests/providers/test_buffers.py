"""The buffers of the wgpu provider: their pool, its limits, and those shared with other code."""

import gc

import numpy as np
import pytest
import wgpu
from handwritten import add_launch, download, upload

from gpuarray.codegen.programs import Program
from gpuarray.config import config
from gpuarray.errors import DeviceError, DeviceMemoryError
from gpuarray.providers.base import Task
from gpuarray.providers.wgpu import buffers

pytestmark = pytest.mark.wgpu

MIB = 1 << 20


class TestBuffers:
    @pytest.mark.parametrize("nbytes", [0, 1, 256, 257, 1000, 4097, 3 * MIB, 64 * MIB + 1, 1000 * MIB])
    def test_size_classes(self, nbytes):
        size = buffers.size_class(nbytes)
        assert size >= max(nbytes, 256)
        assert size % 16 == 0
        assert size <= max(256, nbytes * 1.25 + 16)
        assert buffers.size_class(size) == size

    def test_released_memory_is_used_again(self, fresh):
        first = fresh.allocate(10_000)
        handle = fresh.export(first)
        first.release()
        first.release()
        assert fresh.export(fresh.allocate(9_999)) is handle

    def test_dropped_memory_is_used_again(self, fresh):
        handle = fresh.export(fresh.allocate(10_000))
        assert fresh.export(fresh.allocate(10_000)) is handle

    def test_use_after_release(self, provider):
        buffer = provider.allocate(16)
        buffer.release()
        for call in (provider.read, provider.write):
            with pytest.raises(DeviceError, match="after its release"):
                call(buffer, np.zeros(1))

    def test_buffers_of_another_device(self, provider, fresh):
        with pytest.raises(DeviceError, match="another device"):
            provider.read(fresh.allocate(16), np.zeros(1))

    def test_larger_than_a_buffer_can_be(self, provider):
        with pytest.raises(DeviceMemoryError, match=r"limit of this device is [\d,]+ bytes"):
            provider.allocate(provider.capabilities.buffer_limit + 1)

    def test_memory_limit(self, fresh):
        with config.using(memory_limit=10 * MIB):
            held = [fresh.allocate(4 * MIB), fresh.allocate(4 * MIB)]
            with pytest.raises(
                DeviceMemoryError, match=r"8,388,608 bytes are in use in 2 buffers; config.memory_limit"
            ):
                fresh.allocate(4 * MIB)
            held.pop()
            held.append(fresh.allocate(5 * MIB))
            stats = fresh.stats()
            assert stats["bytes_live"] + stats["bytes_pooled"] <= 10 * MIB

    def test_memory_limit_holds_for_what_is_pooled(self, fresh):
        fresh.allocate(8 * MIB).release()
        held = fresh.allocate(4 * MIB)
        assert fresh.stats()["bytes_pooled"] >= 8 * MIB
        with config.using(memory_limit=10 * MIB), pytest.raises(DeviceMemoryError, match="memory_limit"):
            fresh.allocate(8 * MIB)
        # what was given back a moment ago, and is not counted as pooled yet
        fresh.allocate(8 * MIB).release()
        with config.using(memory_limit=10 * MIB), pytest.raises(DeviceMemoryError, match="memory_limit"):
            fresh.allocate(8 * MIB)
        held.release()

    def test_memory_limit_finds_garbage_in_cycles(self, fresh):
        gc.disable()
        try:
            with config.using(memory_limit=10 * MIB):
                cycle = [fresh.allocate(8 * MIB)]
                cycle.append(cycle)
                del cycle
                fresh.allocate(8 * MIB)
        finally:
            gc.enable()

    def test_garbage_is_seldom_searched_for_where_that_takes_long(self, fresh, monkeypatch):
        now, searches = [0.0], []

        def search():
            searches.append(now[0])
            now[0] += 3.0  # a program with many objects

        monkeypatch.setattr("gpuarray.providers.wgpu.buffers.time.monotonic", lambda: now[0])
        monkeypatch.setattr("gpuarray.providers.wgpu.buffers.gc.collect", search)
        with config.using(memory_limit=6 * MIB):
            held = fresh.allocate(4 * MIB)
            for _ in range(300):
                now[0] += 1.0
                with pytest.raises(DeviceMemoryError):
                    fresh.allocate(4 * MIB)
            held.release()
            fresh.allocate(4 * MIB)
        assert 3 <= len(searches) <= 6

    def test_a_device_that_is_full_is_trimmed_and_asked_again(self, fresh, monkeypatch):
        fresh.allocate(8 * MIB).release()
        create, calls = fresh._driver.create_buffer, []

        def full_while_pooled(nbytes, usage):
            calls.append(nbytes)
            if len(calls) == 1:
                raise wgpu.GPUOutOfMemoryError("Not enough memory left.")
            return create(nbytes, usage)

        monkeypatch.setattr(fresh._driver, "create_buffer", full_while_pooled)
        fresh.allocate(MIB)
        assert calls == [MIB, MIB]
        assert fresh.stats()["bytes_pooled"] == MIB

        def full(nbytes, usage):
            raise wgpu.GPUOutOfMemoryError("Not enough memory left.")

        monkeypatch.setattr(fresh._driver, "create_buffer", full)
        with pytest.raises(DeviceMemoryError, match=r"no room for 2,097,152 bytes .* Not enough memory left"):
            fresh.allocate(2 * MIB)

    def test_destroyed_buffers_take_their_bind_groups_along(self, fresh):
        prepared = fresh.prepare_program(Program((add_launch(64),)))
        for _ in range(5):
            held = [upload(fresh, np.ones(64, np.float32)) for _ in range(3)]
            fresh.run([Task(prepared, held[:2], held[2:], [])])
            assert download(fresh, held[2], 1, np.float32)[0] == 2
            del held
            fresh.trim()
            assert not fresh._dispatcher._groups
            assert not any(fresh._dispatcher._keys.values())

    def test_export_and_adopt(self, fresh):
        usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
        foreign = fresh.gpu_device.create_buffer(size=256, usage=usage)
        before = fresh.stats()
        adopted = fresh.adopt(foreign, 256)
        assert fresh.export(adopted) is foreign
        fresh.write(adopted, np.arange(64, dtype=np.float32))
        result = fresh.allocate(256)
        fresh.run([Task(fresh.prepare_program(Program((add_launch(64),))), [adopted, adopted], [result], [])])
        assert np.array_equal(download(fresh, result, 64, np.float32), 2 * np.arange(64, dtype=np.float32))
        adopted.release()
        result.release()
        assert fresh.stats()["bytes_live"] == before["bytes_live"]
        assert bytes(fresh.gpu_device.queue.read_buffer(foreign, 4, 4)) == np.float32(1).tobytes()
        with pytest.raises(DeviceError, match="announced"):
            fresh.adopt(foreign, 257)
        with pytest.raises(DeviceError, match="usages"):
            fresh.adopt(fresh.gpu_device.create_buffer(size=256, usage=wgpu.BufferUsage.STORAGE), 256)
