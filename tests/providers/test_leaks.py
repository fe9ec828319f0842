"""Memory: after each scenario the pool is where it was, and the process does not grow."""

import gc
import threading

import numpy as np
import pytest

from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.errors import DeviceMemoryError
from gpuarray.providers.base import Task
from gpuarray.providers.wgpu.buffers import _FLOOR_BYTES
from gpuarray.providers.wgpu.provider import WgpuProvider

pytestmark = pytest.mark.wgpu

MIB = 1 << 20
SOURCE = """
@group(0) @binding(0) var<uniform> words: array<vec4<u32>, 1>;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < words[0].x) { result[id.x] = source[id.x] + 1u; }
}
"""


def increments(count):
    """output = input + 2, through a scratch buffer."""
    nbytes = 4 * count

    def launch(source, result):
        windows = (Binding(*source, 0, nbytes, False), Binding(*result, 0, nbytes, True))
        return Launch(SOURCE, "increment", windows, (count, 0, 0, 0), (), (-(-count // 64), 1, 1))

    return Program((launch(("input", 0), ("scratch", 0)), launch(("scratch", 0), ("output", 0))), (nbytes,))


@pytest.fixture
def provider():
    provider = WgpuProvider(0)
    yield provider
    provider.close()


@pytest.fixture
def baseline(provider):
    """Check at the end that everything live at the start, and nothing else, is live."""
    before = provider.stats()
    yield
    after = provider.stats()
    assert (after["bytes_live"], after["buffers_live"]) == (before["bytes_live"], before["buffers_live"])


def chain(provider, count, steps):
    """Run ``steps`` programs one after the other; each result dies when the next exists."""
    prepared = provider.prepare_program(increments(count))
    value = provider.allocate(4 * count)
    provider.write(value, np.zeros(count, np.uint32))
    for _ in range(steps):
        result = provider.allocate(4 * count)
        provider.run([Task(prepared, [value], [result], [])])
        value = result
    received = np.empty(count, np.uint32)
    provider.read(value, received)
    assert (received == 2 * steps).all()


@pytest.mark.usefixtures("baseline")
class TestBaseline:
    def test_chain(self, provider):
        chain(provider, 1000, 50)

    def test_a_loop_needs_a_handful_of_buffers(self, provider):
        chain(provider, 1 << 16, 5)
        held = provider.stats()["bytes_pooled"]
        chain(provider, 1 << 16, 100)
        assert provider.stats()["bytes_pooled"] == held <= 4 * 4 * (1 << 16)
        assert len(provider._dispatcher._groups) <= 24

    def test_failures_keep_nothing(self, provider):
        prepared = provider.prepare_program(increments(64))
        value = provider.allocate(256)
        released = provider.allocate(256)
        released.release()
        with pytest.raises(RuntimeError, match="after its release"):
            provider.run([Task(prepared, [value], [value], []), Task(prepared, [released], [released], [])])
        with pytest.raises(DeviceMemoryError):
            provider.allocate(1 << 60)
        assert not provider._dispatcher._commands
        assert not provider._dispatcher._spare

    def test_release_from_many_threads(self, provider):
        held = [provider.allocate(1000) for _ in range(200)]
        threads = [threading.Thread(target=lambda: [buffer.release() for buffer in held]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        handles = [provider.allocate(1000) for _ in range(200)]
        assert len({id(provider.export(buffer)) for buffer in handles}) == 200


def test_pooled_memory_is_bounded_by_what_was_needed(provider):
    for size in range(1, 60):
        provider.allocate(size * MIB)
    stats = provider.stats()
    assert stats["bytes_live"] == 0
    assert stats["bytes_pooled"] <= max(_FLOOR_BYTES, 1.5 * 64 * MIB)
    assert stats["peak_bytes"] <= 64 * MIB
    provider.trim()
    assert provider.stats()["bytes_pooled"] == 0


def test_memory_that_nobody_wants_is_given_back(provider, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("gpuarray.providers.wgpu.buffers.time.monotonic", lambda: now[0])
    provider.allocate(MIB).release()
    assert provider.stats()["bytes_pooled"] == MIB
    now[0] += 31
    assert provider.stats()["bytes_pooled"] == 0


def test_resetting_the_counters_keeps_the_gauges(provider):
    held = provider.allocate(MIB)
    provider.allocate(2 * MIB).release()
    provider.write(held, np.zeros(10))
    provider.reset_stats()
    stats = provider.stats()
    assert stats["bytes_uploaded"] == stats["launches"] == 0
    assert stats["bytes_live"] == stats["peak_bytes"] == MIB
    assert stats["bytes_pooled"] == 2 * MIB


def test_opening_and_closing_many_times_does_not_grow():
    resource = pytest.importorskip("resource")
    peaks = []
    for _ in range(4):
        for _ in range(3):
            provider = WgpuProvider(0)
            chain(provider, 1 << 20, 3)
            provider.close()
            del provider
            gc.collect()  # wgpu's own objects refer to each other
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert peaks[-1] - peaks[0] < 64 << 10
