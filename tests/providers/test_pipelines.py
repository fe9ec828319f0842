"""Kernels are compiled once, side by side where several are new, and an error of one is its user's."""

import threading
import time
from weakref import ref

import numpy as np
import pytest
import wgpu

import gpuarray as xp
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.errors import DeviceError
from gpuarray.providers.base import Task
from gpuarray.providers.wgpu import pipelines as kept
from gpuarray.providers.wgpu.provider import WgpuProvider

SOURCE = """struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
@compute @workgroup_size(1)
fn main() { found[0] = parameters.words[0].x + %du; }
"""
BROKEN = "fn main( {"

pytestmark = pytest.mark.wgpu


def kernel(number):
    return SOURCE % number, f"kernel {number}", (True,)


@pytest.fixture
def provider(tmp_path):
    with xp.using(cache_dir=str(tmp_path)):
        result = WgpuProvider()
        yield result
        result.close()


@pytest.fixture
def pipelines(provider):
    return provider._pipelines


def prepared(provider, *numbers):
    """Return a program of several kernels, of which the last one's value stays."""
    launches = []
    for number in numbers:
        source, label, _ = kernel(number)
        launches.append(Launch(source, label, (Binding("output", 0, 0, 4, True),), (40, 0, 0, 0), (), (1, 1, 1)))
    return provider.prepare_program(Program(tuple(launches)))


def ran(provider, program):
    """Run a program and return what it found."""
    result, found = provider.allocate(4), np.zeros(1, np.uint32)
    provider.run([Task(program, (), (result,), ())])
    provider.read(result, found)
    return int(found[0])


def pipeline_of(program):
    return program.launches[0].pipeline


def meeting(monkeypatch, provider, count):
    """Let every compilation wait until so many are under way; return the threads that compiled."""
    barrier, real, seen = threading.Barrier(count), provider._driver.shader_module, []

    def module(*arguments, **keywords):
        seen.append(threading.current_thread())
        barrier.wait(20)
        return real(*arguments, **keywords)

    monkeypatch.setattr(provider._driver, "shader_module", module)
    return seen


def test_what_was_begun_compiles_on_other_threads(monkeypatch, provider, pipelines):
    seen = meeting(monkeypatch, provider, 2)
    assert len(pipelines.begin([kernel(1), kernel(1)])) == 1
    assert pipelines.begin([kernel(1)]) == []
    pipelines.pipeline(*kernel(2))
    first = pipelines.pipeline(*kernel(1))
    assert pipelines.pipeline(*kernel(1)) is first
    assert pipelines.begin([kernel(1), kernel(2)]) == []
    assert len(set(seen)) == 2
    assert provider.stats()["compiles"] == pipelines.count == 2


def test_new_kernels_of_one_run_compile_side_by_side(monkeypatch, provider):
    seen = meeting(monkeypatch, provider, 2)
    result = provider.allocate(4)
    tasks = []
    for number in (5, 6):
        source, label, _ = kernel(number)
        launch = Launch(source, label, (Binding("output", 0, 0, 4, True),), (40, 0, 0, 0), (), (1, 1, 1))
        tasks.append(Task(provider.prepare_program(Program((launch, launch))), (), (result,), ()))
    provider.run(tasks)
    found = np.zeros(1, np.uint32)
    provider.read(result, found)
    assert found == [46]
    assert len(seen) == len(set(seen)) == 2
    provider.run(tasks)
    assert len(seen) == 2


def test_new_kernels_of_several_runs_compile_side_by_side(monkeypatch, provider):
    barrier, real = threading.Barrier(2), kept.Pipelines._compile

    def compiled(self, source, label, layout, module):
        module.run()
        barrier.wait(20)
        return real(self, source, label, layout, module)

    monkeypatch.setattr(kept.Pipelines, "_compile", compiled)
    result = provider.allocate(4)
    for number in (25, 26):
        provider.run([Task(prepared(provider, number), (), (result,), ())])
    found = np.zeros(1, np.uint32)
    provider.read(result, found)
    assert found == [66]


def test_what_is_open_is_submitted_when_it_is_compiled(monkeypatch, provider):
    """No later call of the program is needed."""
    end, real = threading.Event(), kept.Pipelines._compile

    def compiled(self, source, label, layout, module):
        module.run()
        end.wait(100)
        return real(self, source, label, layout, module)

    monkeypatch.setattr(kept.Pipelines, "_compile", compiled)
    result = provider.allocate(4)
    provider.run([Task(prepared(provider, 27), (), (result,), ())])
    before = provider._driver.submissions
    time.sleep(0.3)  # longer than the thread that submits looks after what is not compiled
    assert provider._driver.submissions == before
    end.set()
    stop = time.monotonic() + 100
    while provider._driver.submissions == before and time.monotonic() < stop:
        time.sleep(0.001)
    assert provider._driver.submissions > before
    found = np.zeros(1, np.uint32)
    provider.read(result, found)
    assert found == [67]


def test_a_text_that_the_driver_refuses_later_ends_the_use_of_the_device(monkeypatch):
    provider, is_run = WgpuProvider(), threading.Event()

    def refuse(**_):
        is_run.wait(20)
        raise wgpu.GPUError("internal error")

    try:
        result = provider.allocate(4)
        monkeypatch.setattr(provider._driver.device, "create_compute_pipeline", refuse)
        provider.run([Task(prepared(provider, 28), (), (result,), ())])
        is_run.set()
        with pytest.raises(DeviceError, match=r"was lost .*does not compile: internal error"):
            provider.read(result, np.zeros(1, np.uint32))
        assert not provider.alive
    finally:
        provider.close()


def test_an_error_is_of_who_asks(provider, pipelines):
    pipelines.begin([(BROKEN, "broken", (True,)), kernel(3)])
    pipelines.pipeline(*kernel(3))
    for _ in range(2):
        with pytest.raises(DeviceError, match="'broken' does not compile"):
            pipelines.pipeline(BROKEN, "broken", (True,))
    assert provider.stats()["compiles"] == 1


def test_closing_waits_for_what_is_being_compiled(monkeypatch, tmp_path):
    with xp.using(cache_dir=str(tmp_path)):
        provider = WgpuProvider()
    begun, done, real = threading.Event(), [], provider._driver.shader_module

    def module(*arguments, **keywords):
        begun.set()
        closing.join(0.2)  # long enough for it to get ahead
        result = real(*arguments, **keywords)
        done.append(closing.is_alive())
        return result

    def close():
        begun.wait(20)
        provider.close()

    monkeypatch.setattr(provider._driver, "shader_module", module)
    closing = threading.Thread(target=close)
    closing.start()
    provider._pipelines.begin([kernel(4)])
    closing.join(20)
    assert done == [True]


def test_kernels_that_run_no_more_are_let_go(monkeypatch, provider, pipelines):
    monkeypatch.setattr(kept, "_CAPACITY", 4)
    often, programs = prepared(provider, 98, 99), [prepared(provider, number) for number in range(20)]
    assert ran(provider, often) == 139
    hot, gone = pipeline_of(often), []
    for number, program in enumerate(programs):
        assert ran(provider, program) == 40 + number
        assert ran(provider, often) == 139
        gone.append(ref(pipeline_of(program)))
        assert pipelines.count <= 4
    assert pipeline_of(often) is hot
    assert sum(result() is not None for result in gone) == 2  # those programs are all alive
    assert ran(provider, programs[0]) == 40
    assert provider.stats()["compiles"] == 23


def test_kernels_are_kept_for_as_many_bytes_as_they_may_take(monkeypatch, provider, pipelines):
    monkeypatch.setattr(kept, "_MOST_BYTES", 1 << 20)
    fixed, each = pipelines._sizes
    for number in range(10):
        ran(provider, prepared(provider, number))
    assert pipelines.count == -(-(1 << 20) // (fixed + each * len(SOURCE % 1)))
    ran(provider, prepared(provider, 1))
    assert pipelines._nbytes == sum(result.nbytes for result in pipelines._compiled.values())


def test_a_closed_device_has_no_kernels(provider):
    program = prepared(provider, 7)
    ran(provider, program)
    result = ref(pipeline_of(program))
    provider.close()
    assert result() is None
    assert pipeline_of(program) is None
