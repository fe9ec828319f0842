"""The wgpu provider on a real device, with programs written by hand."""

import itertools
import signal
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from handwritten import DUMP, FILL, add_launch, download, upload

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.codegen.programs import IN_RANGE, Binding, Launch, Program, ScalarParameter
from gpuarray.config import config
from gpuarray.errors import DeviceError
from gpuarray.providers.base import Task
from gpuarray.providers.wgpu import device, uniforms
from gpuarray.providers.wgpu.chunks import CHUNK_BYTES as CHUNK
from gpuarray.providers.wgpu.driver import PublicDriver
from gpuarray.providers.wgpu.native import NativeDriver
from gpuarray.providers.wgpu.provider import WgpuProvider

pytestmark = pytest.mark.wgpu

MIB = 1 << 20


@pytest.fixture(params=["native", "public"])
def driven(request, monkeypatch):
    """A provider on each of the two drivers."""
    if request.param == "public":
        monkeypatch.setattr("gpuarray.providers.wgpu.provider.open_driver", PublicDriver)
    provider = WgpuProvider(0)
    assert isinstance(provider._driver, NativeDriver) == (request.param == "native")
    yield provider
    provider.close()


#: What some of Intel's GPUs have; their drivers choose the size of subgroups for each kernel.
INTEL = ("shader-int64", "subgroup")


class TestDevice:
    def test_capabilities_come_from_the_adapter(self, provider):
        result = provider.capabilities
        assert result.adapter
        assert result.backend in ("Vulkan", "Metal", "D3D12")
        assert result.driver
        assert result.binding_limit % 4 == 0
        assert result.binding_limit <= 2**31 - 4
        assert result.buffer_limit % 16 == 0
        assert result.buffer_limit >= result.binding_limit
        assert result.storage_bindings >= 8
        assert result.workgroup_limit >= 65535
        assert dtypes.float32 in result.dtypes
        assert dtypes.float16 in result.dtypes
        assert dtypes.int8 in result.dtypes

    @pytest.mark.parametrize("features", [(), ("shader-f64",), ("shader-int64",), ("shader-f64", "shader-int64")])
    def test_dtypes_follow_features(self, provider, features):
        limited = SimpleNamespace(features=features, limits=provider.gpu_device.limits)
        result = device.capabilities(device.select(0), limited)
        # functions of 64-bit floats work on their bits; integers of 64 bits there are always
        absent = set() if len(features) == 2 else {dtypes.float64, dtypes.complex128}
        assert result.dtypes == frozenset(dtypes.ALL) - absent
        assert result.native_int64 == ("shader-int64" in features)

    @pytest.mark.parametrize(("backend", "bound"), [("Metal", 29), ("Vulkan", 31)])
    def test_metal_counts_all_buffers_of_a_kernel(self, backend, bound):
        info = {
            "device": "GPU",
            "adapter_type": "IntegratedGPU",
            "backend_type": backend,
            "vendor": "",
            "description": "",
        }
        adapter = device.Adapter(SimpleNamespace(info=info))
        opened = SimpleNamespace(
            features=(), limits={**device.LEAST_LIMITS, "max-storage-buffers-per-shader-stage": 31}
        )
        assert device.capabilities(adapter, opened).storage_bindings == bound

    def test_all_limits_of_the_adapter_are_asked_for(self, provider):
        adapter = device.select(0).handle
        for name in ("max-buffer-size", "max-storage-buffer-binding-size", "max-compute-workgroup-storage-size"):
            assert provider.gpu_device.limits[name] == adapter.limits[name]

    def test_a_number_that_does_not_exist_names_those_that_do(self):
        with pytest.raises(DeviceError, match=r"no device 'wgpu:99'; there are 'wgpu:0'"):
            WgpuProvider(99)

    def test_no_adapter_says_what_to_install(self, monkeypatch):
        monkeypatch.setattr(device, "enumerate_handles", list)
        device.adapters.cache_clear()
        try:
            with pytest.raises(DeviceError, match="apt install mesa-vulkan-drivers"):
                WgpuProvider(0)
            assert "no adapter" in device.adapter_report()
        finally:
            device.adapters.cache_clear()

    def test_order_is_wanted_then_hardware_then_preference(self, monkeypatch):
        def handle(name, kind, backend="Vulkan", number=0):
            class Handle:
                info = {"device": name, "adapter_type": kind, "backend_type": backend, "vendor": "",
                        "description": "", "device_id": number}  # fmt: skip
                features = ()
                limits = device.LEAST_LIMITS

            return Handle()

        handles = [
            handle("llvmpipe", "CPU"),
            handle("Iris", "IntegratedGPU"),
            handle("Radeon", "DiscreteGPU", "D3D12"),
            handle("Radeon", "DiscreteGPU"),
            handle("Iris", "IntegratedGPU", "OpenGL"),
            handle("H100", "DiscreteGPU"),
            handle("H100", "DiscreteGPU"),
        ]
        monkeypatch.setattr(device, "enumerate_handles", lambda: handles)

        def names(**settings):
            device.adapters.cache_clear()
            with config.using(**settings):
                return [adapter.name for adapter in device.adapters()]

        try:
            assert names(power_preference="high-performance") == ["Radeon", "H100", "H100", "Iris", "llvmpipe"]
            assert names(power_preference="low-power") == ["Iris", "Radeon", "H100", "H100", "llvmpipe"]
            assert names(adapter="PIPE")[0] == "llvmpipe"
            with pytest.raises(DeviceError, match="'Iris'"):
                names(adapter="Voodoo")
        finally:
            device.adapters.cache_clear()

    def test_report_names_the_adapter(self, provider):
        assert provider.capabilities.adapter in device.adapter_report()

    @pytest.mark.parametrize(
        ("features", "texts"),
        [
            ((), ("missing: shader-f64", "32-bit words", "default_float='float32'", "not used", "clock: none")),
            (device.FEATURES, ("missing: none", "64-bit integers: native; 64-bit floats: native")),
            (INTEL, ("integers: native; 64-bit floats: on the host", "their size changes")),
        ],
        ids=["none", "all", "some"],
    )  # fmt: skip
    def test_report_says_what_follows(self, monkeypatch, features, texts):
        vendor = 0x8086 if features == INTEL else 0x10DE
        info = {"device": "GPU", "adapter_type": "IntegratedGPU", "backend_type": "Metal", "vendor": "",
                "description": "", "device_id": 0, "vendor_id": vendor}  # fmt: skip
        handle = SimpleNamespace(info=info, features=features, limits=device.LEAST_LIMITS)
        monkeypatch.setattr(device, "enumerate_handles", lambda: [handle])
        device.adapters.cache_clear()
        try:
            report = device.adapter_report()
        finally:
            device.adapters.cache_clear()
        assert all(text in report for text in texts)
        for text in ("subgroups", "clock"):  # what is there is not reported
            assert (text in report) == (features != device.FEATURES)

    def test_an_adapter_that_allows_too_little_is_left_out(self, monkeypatch):
        info = {"device": "Toy", "adapter_type": "DiscreteGPU", "backend_type": "Vulkan", "device_id": 0}
        limits = {**device.LEAST_LIMITS, "max-compute-invocations-per-workgroup": 128}
        monkeypatch.setattr(device, "enumerate_handles", lambda: [SimpleNamespace(info=info, limits=limits)])
        device.adapters.cache_clear()
        try:
            assert device.adapters() == ()
            with pytest.raises(DeviceError, match=r"Toy cannot be used: max-compute-invocations.* is 128, not 256"):
                device.select(0)
            assert "Toy cannot be used" in device.adapter_report()
        finally:
            device.adapters.cache_clear()


class TestTransfer:
    @pytest.mark.parametrize("nbytes", [0, 1, 3, 4, 5, 255, 65536, 65537, 17 * MIB + 3])
    def test_bytes_come_back(self, driven, nbytes):
        sent = np.random.default_rng(nbytes).integers(0, 256, nbytes, np.uint8)
        buffer = upload(driven, sent)
        assert np.array_equal(download(driven, buffer, nbytes, np.uint8), sent)
        assert driven.stats()["bytes_uploaded"] == nbytes == driven.stats()["bytes_downloaded"]

    def test_more_than_all_staging_memory(self, provider):
        sent = np.arange(25 * MIB, dtype=np.uint32)
        received = download(provider, upload(provider, sent), sent.size, np.uint32)
        assert np.array_equal(received, sent)

    @pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
    def test_all_dtypes_and_ranks(self, provider, dtype):
        for shape in ((), (3,), (2, 3), (0, 4)):
            sent = np.ones(shape, dtype)
            received = np.zeros(shape, dtype)
            provider.read(upload(provider, sent), received)
            assert np.array_equal(sent, received)

    def test_host_array_may_change_after_the_write(self, provider):
        sent = np.zeros(1000, np.int32)
        buffer = upload(provider, sent)
        sent[:] = 7
        assert not download(provider, buffer, 1000, np.int32).any()

    def test_read_only_arrays_can_be_sent(self, provider):
        sent = np.arange(8)
        sent.flags.writeable = False
        assert np.array_equal(download(provider, upload(provider, sent), 8, sent.dtype), sent)

    @pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer that signals")
    @pytest.mark.parametrize("finish", [lambda y: y[0, 0].item(), lambda y: (xp.evaluate(y), xp.synchronize())])
    def test_a_signal_ends_a_wait(self, finish):
        class Signalled(BaseException):
            pass

        def stop(*_given):
            raise Signalled

        x = xp.ones((700, 700), dtype=xp.float32, device="wgpu")
        xp.evaluate(x @ x)
        xp.synchronize()
        before = signal.signal(signal.SIGALRM, stop)
        try:
            y = x @ x
            for _ in range(4):
                y = y @ x * 1e-3
            started = time.perf_counter()
            with pytest.raises(Signalled):  # noqa: PT012  # the signal may come later than the device
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                finish(y)
                time.sleep(1)
            assert time.perf_counter() - started < 9  # and not the patience for a callback, which has been
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert float((x @ x)[0, 0]) == 700

    @pytest.mark.parametrize("nbytes", [100, 40 * MIB])
    def test_an_interrupted_read_does_no_harm(self, driven, monkeypatch, nbytes):
        sent = np.random.default_rng(0).integers(0, 256, nbytes, np.uint8)
        buffer = upload(driven, sent)
        with monkeypatch.context() as patch:

            def interrupt(staging, nbytes):
                raise KeyboardInterrupt

            patch.setattr(driven._driver, "mapped", interrupt)
            with pytest.raises(KeyboardInterrupt):
                driven.read(buffer, np.empty_like(sent))
        assert np.array_equal(download(driven, buffer, nbytes, np.uint8), sent)
        driven.synchronize()

    @pytest.mark.parametrize("name", ["mapped", "send"])
    def test_an_interrupted_upload_does_no_harm(self, fresh, monkeypatch, name):
        sent = np.random.default_rng(0).integers(0, 256, 40 * MIB, np.uint8)
        buffer = fresh.allocate(sent.nbytes)
        once = getattr(fresh._driver, name)
        calls = []

        def interrupt(*arguments):
            calls.append(arguments)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return once(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(fresh._driver, name, interrupt)
            with pytest.raises(KeyboardInterrupt):
                fresh.write(buffer, sent)
        fresh.write(buffer, sent)
        assert np.array_equal(download(fresh, buffer, sent.nbytes, np.uint8), sent)

    @pytest.mark.parametrize(
        "nbytes",
        [MIB, 2 * MIB + 1, CHUNK, CHUNK + 1, 11 * MIB + 6, 12 * CHUNK - 3],
    )
    def test_big_arrays_go_both_ways_in_chunks(self, driven, nbytes):
        sent = np.random.default_rng(0).integers(0, 256, nbytes, np.uint8)
        buffer = driven.allocate(nbytes)
        for _ in range(2):
            sent += 1
            driven.write(buffer, sent)
            expected = sent.copy()
            sent[:] = 0  # what was sent is what it was
            assert np.array_equal(download(driven, buffer, nbytes, np.uint8), expected)
            sent[:] = expected

    def test_chunks_reuse_their_buffers(self, fresh):
        sent = np.zeros(12 * CHUNK, np.uint8)
        buffer = fresh.allocate(sent.nbytes)
        kept = []
        for _ in range(3):
            fresh.write(buffer, sent)
            fresh.read(buffer, sent)
            kept.append(list(fresh._transfers.objects()))
        assert len(kept[0]) <= 16
        assert all(result == kept[0] for result in kept)
        fresh.trim()
        assert not list(fresh._transfers.objects())
        fresh.write(buffer, sent + 1)
        assert np.array_equal(download(fresh, buffer, sent.size, np.uint8), sent + 1)

    def test_arrays_must_fit_and_be_contiguous(self, provider):
        buffer = provider.allocate(8)
        with pytest.raises(ValueError, match="does not fit"):
            provider.write(buffer, np.zeros(3, np.float32))
        with pytest.raises(ValueError, match="C-contiguous"):
            provider.write(buffer, np.zeros(4, np.uint8)[::2])


class TestWanted:
    """What is read next is copied to the host by the submit that computes it."""

    def add(self, driven, count=1000):
        """Return a task that adds two arrays, and its results: first that, and then the sum of the result and 1."""
        a, one = np.arange(count, dtype=np.float32), np.ones(count, np.float32)
        inputs, result = [upload(driven, a), upload(driven, one)], driven.allocate(4 * count)
        prepared = driven.prepare_program(Program((add_launch(count),)))
        again = Task(prepared, [upload(driven, a + 1), inputs[1]], [result], [])
        return Task(prepared, inputs, [result], []), again, a + 1

    def test_it_needs_one_submit(self, driven, monkeypatch):
        task, _, expected = self.add(driven)
        driven.run([task])
        submits = []
        submit = driven._driver.submit
        monkeypatch.setattr(driven._driver, "submit", lambda *given: (submits.append(given), submit(*given)))
        driven.run([task], task.outputs[0])
        assert np.array_equal(download(driven, task.outputs[0], 1000, np.float32), expected)
        assert len(submits) == 1
        assert np.array_equal(download(driven, task.outputs[0], 500, np.float32), expected[:500]), "and once more"
        assert len(submits) == 2

    @pytest.mark.parametrize("change", ["run", "write", "export"])
    def test_what_comes_before_the_read_is_seen(self, driven, change):
        task, again, expected = self.add(driven)
        (result,) = task.outputs
        driven.run([task], result)
        if change == "run":
            driven.run([again])
        elif change == "write":
            driven.write(result, expected + 1)
        else:
            driven.gpu_device.queue.write_buffer(driven.export(result), 0, expected + 1)
        assert np.array_equal(download(driven, result, 1000, np.float32), expected + 1)

    def test_others_are_read_meanwhile(self, driven):
        task, _, expected = self.add(driven)
        driven.run([task], task.outputs[0])
        assert np.array_equal(download(driven, task.inputs[0], 1000, np.float32), expected - 1)
        assert np.array_equal(download(driven, task.outputs[0], 1000, np.float32), expected)

    def test_large_ones_are_read_in_chunks(self, driven):
        task, _, expected = self.add(driven, 1 << 20)
        driven.run([task], task.outputs[0])
        assert np.array_equal(download(driven, task.outputs[0], 1 << 20, np.float32), expected)

    def test_an_interrupt_does_no_harm(self, driven, monkeypatch):
        task, _, expected = self.add(driven)
        with monkeypatch.context() as patch:

            def interrupt(commands, download):
                raise KeyboardInterrupt

            patch.setattr(driven._driver, "submit", interrupt)
            with pytest.raises(KeyboardInterrupt):
                driven.run([task], task.outputs[0])
        driven.run([task], task.outputs[0])
        assert np.array_equal(download(driven, task.outputs[0], 1000, np.float32), expected)


class TestRun:
    def test_one_launch(self, driven):
        a, b = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
        result = driven.allocate(4000)
        prepared = driven.prepare_program(Program((add_launch(1000, factor=2.0),)))
        driven.run([Task(prepared, [upload(driven, a), upload(driven, b)], [result], [])])
        assert np.array_equal(download(driven, result, 1000, np.float32), a + 2)
        assert driven.launch_count(prepared) == 1
        assert [kernel.launches for kernel in driven.describe(prepared) if "left[id.x]" in kernel.source] == [1]

    def test_later_tasks_see_what_earlier_ones_wrote(self, driven):
        driven.reset_stats()
        one = upload(driven, np.ones(64, np.float32))
        chain = [upload(driven, np.zeros(64, np.float32)), *(driven.allocate(256) for _ in range(600))]
        prepared = driven.prepare_program(Program((add_launch(64),)))
        tasks = [Task(prepared, [before, one], [after], []) for before, after in itertools.pairwise(chain)]
        driven.run(tasks)
        assert np.array_equal(download(driven, chain[-1], 64, np.float32), np.full(64, 600, np.float32))
        stats = driven.stats()
        assert (stats["launches"], stats["compiles"]) == (600, 1)
        assert stats["submits"] == 3, "a long plan is cut so that the device starts early"

    def test_a_long_program_begins_early_and_shares_bind_groups(self, driven, monkeypatch):
        groups, create = [], driven._driver.bind_group
        monkeypatch.setattr(driven._driver, "bind_group", lambda *given: groups.append(create(*given)) or groups[-1])
        a, one, result = (upload(driven, np.ones(64, np.float32)) for _ in range(3))
        prepared = driven.prepare_program(Program((add_launch(64),) * 100))
        driven.reset_stats()
        driven.run([Task(prepared, [a, one], [result], [])])
        assert np.array_equal(download(driven, result, 64, np.float32), np.full(64, 2, np.float32))
        assert (driven.stats()["launches"], driven.stats()["submits"], len(groups)) == (100, 3, 1)

    def test_launches_of_a_program_share_scratch(self, provider):
        launches = (
            add_launch(64, result=("scratch", 0)),
            add_launch(64, left=("scratch", 0), result=("scratch", 1)),
            add_launch(64, left=("scratch", 1), right=("scratch", 0)),
        )
        prepared = provider.prepare_program(Program(launches, (256, 256)))
        one = upload(provider, np.ones(64, np.float32))
        results = [provider.allocate(256) for _ in range(3)]
        before = provider.stats()["buffers_live"]
        provider.run([Task(prepared, [one, one], [result], []) for result in results])
        for result in results:
            assert np.array_equal(download(provider, result, 64, np.float32), np.full(64, 5, np.float32))
        assert provider.stats()["buffers_live"] == before

    def test_windows_of_a_buffer(self, provider):
        step = 256  # no device asks for more
        count = step // 4
        a = np.arange(4 * count, dtype=np.float32)
        source, result = upload(provider, a), upload(provider, np.zeros_like(a))
        launches = tuple(add_launch(count, right=("input", 0), offset=k * step, factor=k) for k in (1, 3))
        provider.run([Task(provider.prepare_program(Program(launches)), [source], [result], [])])
        expected = np.zeros_like(a)
        expected[count : 2 * count] = 2 * a[count : 2 * count]
        expected[3 * count :] = 4 * a[3 * count :]
        assert np.array_equal(download(provider, result, a.size, np.float32), expected)

    def test_many_launches_in_one_task(self, provider):
        count, launches = 64, []
        for k in range(700):
            window = (Binding("output", 0, k * 256, 256, True),)
            launches.append(Launch(FILL, "fill", window, (count, 1000 * k, 0, 0), (), (1, 1, 1)))
        result = provider.allocate(700 * 256)
        provider.run([Task(provider.prepare_program(Program(tuple(launches))), [], [result], [])])
        expected = (1000 * np.arange(700)[:, None] + np.arange(count)).astype(np.uint32).ravel()
        assert np.array_equal(download(provider, result, expected.size, np.uint32), expected)

    def test_parameters_larger_than_the_parameter_buffer_are_cut(self, provider, monkeypatch):
        monkeypatch.setattr(uniforms, "CAPACITY", 1024)
        self.test_many_launches_in_one_task(provider)

    def test_parameters_change_between_runs(self, provider):
        """The words of two runs in a row must not be taken for each other."""
        result = provider.allocate(256)
        fills = []
        for start in (5, 9):
            window = (Binding("output", 0, 0, 256, True),)
            fills.append(
                provider.prepare_program(Program((Launch(FILL, "fill", window, (64, start, 0, 0), (), (1, 1, 1)),)))
            )
        for which in (0, 1, 1, 0):
            provider.run([Task(fills[which], [], [result], [])])
            assert download(provider, result, 1, np.uint32)[0] == (5, 9)[which]

    def test_nothing_to_do(self, provider):
        provider.run([])
        provider.synchronize()

    def test_a_text_that_does_not_compile_is_shown_with_line_numbers(self, driven):
        launch = Launch(
            "@compute @workgroup_size(1)\nfn main() { let x: f32 = 1u; }", "bad", (), (0,) * 4, (), (1, 1, 1)
        )
        with pytest.raises(DeviceError, match=r"'bad' does not compile(?s:.*)    2 \| fn main"):
            driven.run([Task(driven.prepare_program(Program((launch,))), [], [], [])])
        assert driven.alive

    @pytest.mark.parametrize(
        ("settings", "in_range", "trusted"),
        [({}, True, True), ({}, False, False), ({"debug": 1}, True, False), ({"verify": True}, True, False)],
        ids=str,
    )
    def test_bounds_checks_are_left_out_where_indices_are_in_range(
        self, fresh, monkeypatch, settings, in_range, trusted
    ):
        asked = []
        compile_module = fresh._driver.shader_module

        def recording(source, label, *, trusted):
            asked.append(trusted)
            return compile_module(source, label, trusted=trusted)

        monkeypatch.setattr(fresh._driver, "shader_module", recording)
        with config.using(**{"debug": 0, "verify": False, **settings}):
            launch = add_launch(64)
            source = f"{IN_RANGE}\n{launch.source}" if in_range else launch.source
            prepared = fresh.prepare_program(Program((replace(launch, source=source),)))
            one, result = upload(fresh, np.ones(64, np.float32)), fresh.allocate(256)
            fresh.run([Task(prepared, [one, one], [result], [])])
            assert np.array_equal(download(fresh, result, 64, np.float32), np.full(64, 2, np.float32))
        assert asked == [trusted]
        assert fresh._driver.can_trust

    def test_a_launch_that_is_refused_leaves_the_device_usable(self, driven):
        launch = add_launch(64)
        too_many = Launch(launch.source, "many", launch.bindings, launch.parameters, (), (70000, 1, 1))
        buffers = [upload(driven, np.ones(64, np.float32)) for _ in range(3)]
        task = Task(driven.prepare_program(Program((launch,))), buffers[:2], buffers[2:], [])
        driven.run([task])
        driven.synchronize()  # the kernel is compiled, so that the next run does not wait for its submission
        with pytest.raises(DeviceError, match="refused a launch"):
            driven.run([Task(driven.prepare_program(Program((too_many,))), buffers[:2], buffers[2:], [])])
        driven.run([task])
        assert download(driven, buffers[2], 1, np.float32)[0] == 2

    @pytest.mark.parametrize("debug", [0, 1, 2, 3, 4])
    def test_debug_levels(self, fresh, caplog, debug):
        with config.using(debug=debug):
            result = fresh.allocate(256)
            window = (Binding("output", 0, 0, 256, True),)
            launch = Launch(FILL, "fill rows", window, (64, 1, 0, 0), (), (1, 1, 1))
            fresh.run([Task(fresh.prepare_program(Program((launch,) * 300)), [], [result], [])])
            assert download(fresh, result, 1, np.uint32)[0] == 1
        # a line for each launch, one for the text, and one that it was compiled
        assert caplog.text.count("fill rows") == (300 if debug >= 2 else 0) + (debug >= 4) + (debug >= 1)
        assert ("@workgroup_size" in caplog.text) == (debug >= 4)

    def test_a_program_prepared_elsewhere_is_compiled_again(self, provider, fresh):
        prepared = fresh.prepare_program(Program((add_launch(64),)))
        for owner in (fresh, provider, fresh):
            buffers = [upload(owner, np.ones(64, np.float32)) for _ in range(3)]
            owner.run([Task(prepared, buffers[:2], buffers[2:], [])])
            assert download(owner, buffers[2], 1, np.float32)[0] == 2


def nan32(bits):
    return np.array([bits], np.uint32).view(np.float32)[0]


class TestScalars:
    @pytest.mark.parametrize(
        ("dtype", "value", "expected"),
        [
            (np.bool_, True, np.uint32(1)),
            (np.bool_, np.False_, np.uint32(0)),
            (np.int8, -3, np.int32(-3)),
            (np.uint8, np.uint8(200), np.uint32(200)),
            (np.int16, np.int16(-30000), np.int32(-30000)),
            (np.uint16, 65535, np.uint32(65535)),
            (np.int32, -(2**31), np.int32(-(2**31))),
            (np.uint32, 2**32 - 1, np.uint32(2**32 - 1)),
            (np.int64, -(2**63), np.int64(-(2**63))),
            (np.uint64, np.uint64(2**64 - 1), np.uint64(2**64 - 1)),
            (np.float16, 1.0009765625, np.float32(1.0009765625)),
            (np.float16, 1e9, np.float32(np.inf)),
            (np.float32, 0.1, np.float32(0.1)),
            (np.float32, 3, np.float32(3)),
            (np.float32, -1e300, np.float32(-np.inf)),
            (np.float32, -0.0, np.float32(-0.0)),
            (np.float32, nan32(0x7FC01234), nan32(0x7FC01234)),
            (np.float32, 1e-45, np.float32(1e-45)),
            (np.float64, 0.1, np.float64(0.1)),
            (np.float64, np.float64(np.nan), np.float64(np.nan)),
            (np.complex64, 1 - 2j, np.complex64(1 - 2j)),
            (np.complex64, 2.5, np.complex64(2.5)),
            (np.complex128, np.complex128(0.1 + 0.2j), np.complex128(0.1 + 0.2j)),
        ],
    )
    def test_bits_arrive(self, provider, dtype, value, expected):
        window = (Binding("output", 0, 0, 32, True),)
        marks = tuple(range(0xF0000001, 0xF0000009))
        launch = Launch(DUMP, "dump", window, marks, (ScalarParameter(2, 1, np.dtype(dtype)),), (1, 1, 1))
        result = provider.allocate(32)
        provider.run([Task(provider.prepare_program(Program((launch,))), [], [result], ["unused", value])])
        received = download(provider, result, 32, np.uint8).tobytes()
        bits = expected.tobytes()
        untouched = np.array(marks, np.uint32).tobytes()
        assert received == untouched[:8] + bits + untouched[8 + len(bits) :]


class TestLife:
    def test_a_closed_device_says_so(self):
        provider = WgpuProvider(0)
        buffer = upload(provider, np.zeros(4))
        prepared = provider.prepare_program(Program((add_launch(64),)))
        provider.close()
        provider.close()
        calls = [
            lambda: provider.allocate(4),
            lambda: provider.read(buffer, np.zeros(4)),
            lambda: provider.run([Task(prepared, [], [], [])]),
            provider.synchronize,
        ]
        for call in calls:
            with pytest.raises(DeviceError, match="'wgpu:0' is closed"):
                call()
        buffer.release()
        assert not provider.alive
        assert provider.stats()["bytes_live"] == 0

    @pytest.mark.parametrize("call", ["read", "write", "run", "allocate", "synchronize"])
    def test_a_lost_device_says_so(self, driven, call):
        held = [upload(driven, np.ones(64, np.float32)) for _ in range(3)]
        prepared = driven.prepare_program(Program((add_launch(64),)))
        calls = {
            "read": lambda: driven.read(held[0], np.zeros(4)),
            "write": lambda: driven.write(held[0], np.zeros(4)),
            "run": lambda: driven.run([Task(prepared, held[:2], held[2:], [])]),
            "allocate": lambda: driven.allocate(MIB),
            "synchronize": driven.synchronize,
        }
        driven.gpu_device.destroy()
        with pytest.raises(DeviceError, match=r"was lost|refused|does not compile"):
            calls[call]()
        with pytest.raises(DeviceError, match="was lost"):
            calls["read"]()
        assert not driven.alive
        with pytest.raises(DeviceError, match="was lost"):
            driven.allocate(4)

    def test_threads(self, driven):
        prepared = driven.prepare_program(Program((add_launch(4096),)))
        failures = []

        def work(seed):
            try:
                for i in range(30):
                    a = np.full(4096, seed * 1000 + i, np.float32)
                    held = [upload(driven, a), upload(driven, a), driven.allocate(a.nbytes)]
                    driven.run([Task(prepared, held[:2], held[2:], [])])
                    if not np.array_equal(download(driven, held[2], a.size, np.float32), 2 * a):
                        failures.append((seed, i))
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not failures
