"""The device "auto": where steps run, why, and that it changes no result."""

import dataclasses
import itertools
from importlib import import_module
from typing import get_args

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import DeviceMemoryError
from gpuarray.graph.nodes import Node
from gpuarray.graph.walk import meanings_of, topological
from gpuarray.interop import to_wgpu_buffer, wgpu_device
from gpuarray.providers import registry
from gpuarray.runtime import evaluate, places, schedule
from gpuarray.runtime.placement import at_once, auto, calibrate, decisions, trials
from gpuarray.runtime.placement.rates import DEVICE_DEFAULTS, HOST_DEFAULTS
from gpuarray.runtime.prepared import placed_anew
from gpuarray.settings import recording

GPU = Device("wgpu:0")


@pytest.fixture(autouse=True)
def imagined(compiled_at_once):
    """Let "auto" take the software device, as if it were a fast one."""
    with xp.using(software=True, offload="auto", refine=False):
        gpu, host = registry.open_device(GPU), places.host()
        auto.set_rates(gpu, DEVICE_DEFAULTS)
        auto.set_rates(host, HOST_DEFAULTS)
        yield
        auto.set_rates(gpu, None)
        auto.set_rates(host, None)


def numbers(size, dtype="f4"):
    return np.random.default_rng(0).random(size).astype(dtype)


def heavy(x):
    for _ in range(6):
        x = np.sin(x) * x + np.exp(-x)
    return x


def test_small_work_stays_on_the_host():
    x = xp.asarray(numbers(100))
    y = np.sin(x) + 1
    xp.evaluate(y)
    assert y.device == "auto"
    assert y.residency == x.residency == ("cpu",)
    assert "before the device would have begun" in str(xp.explain(np.cos(x), stage="placement"))


def test_small_work_is_placed_without_a_comparison_of_divisions(monkeypatch):
    monkeypatch.setattr(decisions.division, "divide", None)
    y = xp.asarray(numbers(100)) + 1
    xp.evaluate(y)
    assert y.residency == ("cpu",)


def test_large_work_goes_to_the_device_and_stays_there():
    data = numbers(1 << 20)
    x = xp.asarray(data)
    y = heavy(x)
    xp.evaluate(y)
    assert y.residency == ("wgpu:0",)
    assert x.residency == ("cpu", "wgpu:0")
    z = y + 1
    xp.evaluate(z)
    assert z.residency == ("wgpu:0",)
    np.testing.assert_allclose(np.asarray(z), heavy(data) + 1, rtol=1e-5)


def test_plans_on_the_device_run_as_on_a_pinned_one(monkeypatch):
    repeated = []
    provider = registry.open_device(GPU)
    repeat = type(provider).repeat

    def counted(*arguments):
        repeated.append(repeat(*arguments))
        return repeated[-1]

    monkeypatch.setattr(type(provider), "repeat", counted)
    x = xp.asarray(numbers(1 << 20))
    with xp.using(refine=True):  # which times steps on the host
        for _ in range(6):
            y = heavy(x)
            xp.evaluate(y)
            assert y.residency == ("wgpu:0",)
            del y
        assert repeated[-2:] == [True, True]
        submits = []
        for _ in range(4):
            before = xp.stats()["submits"]
            float(heavy(x).sum())
            submits.append(xp.stats()["submits"] - before)
        assert min(submits) == 1  # which copies the sum, too


def test_the_host_computes_while_kernels_are_compiled(monkeypatch):
    monkeypatch.setattr(auto, "_COMPILING", 20e6)
    missing = iter([2, 2, 2, 1, 1, 0])
    monkeypatch.setattr(type(registry.open_device(GPU)), "compile_ahead", lambda *_: next(missing))
    data = numbers(1 << 20)
    x = xp.asarray(data)
    xp.reset_stats()
    for _ in range(2):
        y = heavy(x)
        xp.evaluate(y)
        assert y.residency == ("cpu",)
        np.testing.assert_allclose(np.asarray(y), heavy(data), rtol=1e-5)
        assert "kernels are being compiled" in str(xp.explain(heavy(x), stage="placement"))
    assert xp.stats()["placed_compiling"] == 1
    y = heavy(x)
    xp.evaluate(y)
    assert y.residency == ("wgpu:0",)


def test_what_the_device_has_waits_for_kernels(monkeypatch):
    monkeypatch.setattr(auto, "_COMPILING", 20e6)
    monkeypatch.setattr(type(registry.open_device(GPU)), "compile_ahead", lambda *_: 2)
    x = xp.asarray(numbers(1 << 20))
    xp.prefetch(x, GPU)
    y = heavy(x)
    xp.evaluate(y)
    assert y.residency == ("wgpu:0",)


@pytest.mark.usefixtures("nothing_prepared")
def test_kernels_that_were_compiled_ahead_are_not_compiled_again(monkeypatch):
    monkeypatch.setattr(auto, "_COMPILING", 20e6)
    gpu = registry.open_device(GPU)
    x = xp.asarray(numbers(1 << 20))
    gpu.collect()
    xp.reset_stats()
    while True:  # the host computes, until the kernels are compiled
        y = np.cbrt(np.arctan(heavy(x)) + np.float32(0.625))
        xp.evaluate(y)
        if y.residency == ("wgpu:0",):
            break
    assert xp.stats()["placed_compiling"] > 0
    compiles = xp.stats()["compiles"]
    assert compiles > 0
    xp.evaluate(np.cbrt(np.arctan(heavy(x)) + np.float32(0.625)))
    assert xp.stats()["compiles"] == compiles


def test_a_result_that_is_read_may_be_made_elsewhere_than_one_that_is_kept():
    data = numbers(1 << 18)
    x = xp.asarray(data)
    xp.prefetch(x, GPU)
    assert x.residency == ("cpu", "wgpu:0")
    xp.reset_stats()
    np.testing.assert_array_equal(np.asarray(x + 1), data + 1)  # to read it back takes longer than to add on the host
    assert xp.stats()["bytes_downloaded"] == data.nbytes
    y = x + 1
    xp.evaluate(y)
    assert y.residency == ("wgpu:0",)


def test_formulas_are_measured_when_one_is_first_placed(monkeypatch):
    measured = []

    def times(row, dtype):
        measured.append((row.name, dtype.name))
        return 3.0, 5e8

    monkeypatch.setattr(calibrate, "formula_times", times)
    erf = xp.special.erf
    xp.evaluate(erf(xp.asarray(numbers(100), device="cpu")), xp.asarray(numbers(100)) + 1)
    assert measured == []
    x = xp.asarray(numbers(100))
    for size in (100, 200):
        y = erf(xp.asarray(numbers(size)) + 1)
        xp.evaluate(y)
        assert y.residency == ("wgpu:0",)  # half a second is more than the device takes
    assert measured == [("erf", "float32")]
    with xp.using(calibration="off"):
        xp.evaluate(xp.special.gammaln(x))
    assert len(measured) == 1
    assert auto.rates_of(places.host()).rows["erf:float32"] == 3


def test_what_a_loop_does_not_read_need_not_be_downloaded():
    slow = dataclasses.replace(DEVICE_DEFAULTS, download=((64, 100_000.0), (1 << 22, 5e6)))
    auto.set_rates(registry.open_device(GPU), slow)
    x = xp.asarray(numbers(1 << 20))
    for turn in range(20):
        if turn == 10:
            xp.reset_stats()
        x = x * np.float32(0.5) + np.float32(0.25)
        float(x[0])
    assert registry.open_device(GPU).stats()["launches"] >= 10


def test_what_the_device_cannot_do_runs_on_the_host_and_the_rest_where_it_is_best():
    data = numbers((256, 256))
    x = xp.asarray(data)
    xp.prefetch(x, GPU)
    xp.reset_stats()
    result = np.linalg.eigvals(np.sin(x @ x))
    expected = np.linalg.eigvals(np.sin(data @ data))
    np.testing.assert_allclose(abs(np.asarray(result)).max(), abs(expected).max(), rtol=2e-3)
    assert xp.stats()["fallbacks"] == 1


def test_never_and_always():
    x = xp.asarray(numbers(1 << 20))
    with xp.using(offload="never"):
        y = heavy(x)
        xp.evaluate(y)
        assert y.residency == ("cpu",)
        assert "'never'" in str(xp.explain(x + 1, stage="placement"))
    small = xp.asarray(numbers(10))
    with xp.using(offload="always"):
        y = small + 1
        xp.evaluate(y)
    assert y.residency == ("wgpu:0",)


def test_pinned_devices_are_respected():
    for device, there in (("cpu", "cpu"), ("wgpu", "wgpu:0")):
        for size in (10, 1 << 20):
            y = heavy(xp.asarray(numbers(size), device=device))
            xp.evaluate(y)
            assert there in y.residency


def test_a_software_device_is_not_chosen():
    with xp.using(software=False):
        y = heavy(xp.asarray(numbers(1 << 20)))
        xp.evaluate(y)
        assert y.residency == ("cpu",)


def test_writes_to_part_of_an_array_keep_to_one_place():
    data = numbers(1 << 20)
    x = xp.asarray(data)
    y = heavy(x)
    y[::2] = x[::2] * 2
    y[5] = 7
    want = heavy(data)
    want[::2] = data[::2] * 2
    want[5] = 7
    np.testing.assert_allclose(np.asarray(y), want, rtol=1e-5)


def test_arrays_do_not_bounce():
    x = xp.asarray(numbers(1 << 15))
    seen = []
    for _ in range(10):
        x = np.sqrt(x * x + 1)
        xp.evaluate(x)
        seen.append(x.residency)
    assert len(set(seen)) == 1


def test_a_device_without_room_lets_the_host_do_it():
    data = numbers(3_000_017)  # no buffer that is kept serves for so many
    x = xp.prefetch(xp.asarray(data), GPU)
    with xp.using(memory_limit=data.nbytes * 3 // 2):
        xp.reset_stats()
        y = heavy(x)
        xp.evaluate(y)
    assert y.residency == ("cpu",)
    assert xp.stats()["fallbacks"] == 1
    np.testing.assert_allclose(np.asarray(y), heavy(data), rtol=1e-5)


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_an_update_is_made_once_although_a_later_step_finds_no_room(failing, monkeypatch):
    data = numbers(100_000)
    x = xp.asarray(data, device="wgpu") + 0
    xp.evaluate(x)
    x = x.to_device("auto")
    x[::2] += 1  # in the buffer, as nobody sees the old value
    z = xp.cumsum(xp.cumsum(x) * 2)
    place, provider = auto.placed, registry.open_device(GPU)
    take = provider.allocate
    counted = itertools.count(1)

    def divided(prepared, *rest, **options):
        placed = place(prepared, *rest, **options)
        if len(placed.steps) != 4:
            return placed
        where = ["device", "device", "host", "device"]
        decisions = [dataclasses.replace(s.decision, where=w) for s, w in zip(placed.steps, where, strict=True)]
        return dataclasses.replace(placed_anew(placed, decisions, registry.open_device(GPU)), is_free=True)

    def allocate(nbytes):
        if next(counted) >= failing:
            raise DeviceMemoryError("no room")
        return take(nbytes)

    with monkeypatch.context() as patched:
        patched.setattr(auto, "placed", divided)
        patched.setattr(provider, "allocate", allocate)
        patched.setattr(provider, "allocate_all", lambda sizes: [*map(allocate, sizes)])
        xp.evaluate(z, x)
    want = data.copy()
    want[::2] += 1
    np.testing.assert_array_equal(np.asarray(x), want)
    np.testing.assert_allclose(np.asarray(z), np.cumsum(np.cumsum(want) * 2), rtol=1e-4)
    assert next(counted) > failing


def test_estimates_are_corrected_by_the_least_time_that_is_seen():
    known = decisions.Corrections()
    assert not known.observe(0, 1000, 1500)
    assert not known.observe(0, 1000, 90_000)
    assert not known.used  # two runs say nothing yet
    assert known.observe(0, 1000, 1750)
    assert known.used == {0: 1.5}
    assert not known.observe(0, 1500, 1450)  # as corrected estimates say
    assert known.observe(0, 1500, 1000)
    assert known.used == {0: 1}
    for _ in range(5):  # of the latest times, as what else the machine does may go on
        known.observe(0, 1000, 4000)
    assert known.used == {0: 4}
    for _ in range(3):
        known.observe(1, 1000, 10**9)
        known.observe(2, 1000, 1)
    assert known.used == {0: 4, 1: 64, 2: 1 / 64}


def test_a_plan_is_placed_by_what_its_own_steps_took(monkeypatch):
    auto.set_rates(registry.open_device(GPU), dataclasses.replace(DEVICE_DEFAULTS, launch=50_000.0))
    x = xp.prefetch(xp.asarray(numbers(150_000)), GPU)
    elapsed = 10**6
    clock = itertools.count()
    monkeypatch.setattr(schedule, "perf_counter_ns", lambda: next(clock) * elapsed)  # each step takes so long
    seen = []
    with xp.using(refine=True):
        for _ in range(6):
            y = x + 1
            xp.evaluate(y)
            seen.append(y.residency)
        other = x * 2
        xp.evaluate(other)
        small = xp.prefetch(xp.asarray(numbers(1 << 16)), GPU)
        elapsed = 100_000  # as long as on the device, if that were as quick as in its calibration
        for _ in range(6):
            z = small + 1
            xp.evaluate(z)
            assert z.residency == ("cpu",)  # to hand it over is taken to be as slow as the host's steps are
    assert seen == [("cpu",)] * 4 + [("wgpu:0",)] * 2
    assert other.residency == ("cpu",)


def test_no_operand_travels_before_estimates_were_held_against_times(monkeypatch):
    gpu = dataclasses.replace(DEVICE_DEFAULTS, launch=0.0, use=10_000.0, upload=((64, 80_000.0), (1 << 22, 80_000.0)))
    auto.set_rates(registry.open_device(GPU), gpu)
    monkeypatch.setattr(schedule, "perf_counter_ns", itertools.count().__next__)  # no step takes any time
    x, y = xp.asarray(numbers(1 << 15)), xp.asarray(numbers(1 << 15))
    for _ in range(8):  # estimates are 48 microseconds, of which 37 would be saved if the operand were there
        with xp.using(refine=True):
            xp.evaluate(np.sqrt(x))
        xp.evaluate(np.cbrt(y))
    assert x.residency == ("cpu",)
    assert y.residency == ("cpu", "wgpu:0")
    z = xp.asarray(numbers(1 << 15))
    for number in range(8):  # no plan comes again
        xp.evaluate(np.sqrt(z[number:]))
    assert z.residency == ("cpu", "wgpu:0")


def test_reasons_are_counted():
    x = xp.asarray(numbers(1000))
    xp.reset_stats()
    for _ in range(3):  # placed once
        xp.evaluate(np.sin(x) + 41)
    assert {name: n for name, n in xp.stats().items() if name.startswith("placed")} == {"placed_too_small": 1}
    xp.evaluate(heavy(xp.asarray(numbers(1 << 20))))
    assert xp.stats()["placed_model"] == 1
    with xp.using(offload="never"):
        xp.evaluate(np.sin(x) + 41)
    assert xp.stats()["placed_disabled"] == 1
    xp.reset_stats()
    assert not any(name.startswith("placed") for name in xp.stats())


def test_estimates_are_shown():
    text = str(xp.explain(heavy(xp.asarray(numbers(1 << 20))), stage="placement"))
    assert "expected" in text
    assert "on the device" in text


def test_what_is_used_again_and_again_pays_its_way_to_the_device():
    data = numbers(1 << 21)
    x = xp.asarray(data)
    seen = []
    for _ in range(40):
        assert float(np.sum(x)) == pytest.approx(data.sum(dtype="f8"), rel=1e-5)
        seen.append(x.residency)
    assert seen[0] == ("cpu",)
    assert seen[-1] == ("cpu", "wgpu:0")
    assert seen == sorted(seen, key=len)


def test_a_loop_that_makes_its_operand_anew_pays_its_way_too():
    x, seen = xp.asarray(numbers(1 << 20)), []
    auto.set_rates(
        registry.open_device(GPU), dataclasses.replace(DEVICE_DEFAULTS, upload=((64, 20_000.0), (1 << 22, 3e6)))
    )
    for _ in range(20):
        x = x * np.float32(0.5) + np.float32(0.25)
        xp.evaluate(x)
        seen.append(x.residency)
    assert seen[0] == ("cpu",)
    assert seen[-1] == ("wgpu:0",)
    assert seen == sorted(seen)
    for _ in range(20):  # what comes from the host again and again does not: it would be used once there
        y = xp.asarray(numbers(1 << 20)) * np.float32(0.5) + np.float32(0.25)
        xp.evaluate(y)
        assert y.residency == ("cpu",)


def test_what_is_read_in_parts_again_and_again_pays_its_way_to_the_host():
    with xp.using(offload="always"):
        x = xp.ones(1 << 20, dtype=xp.bool)
        xp.evaluate(x)
    expected, seen = np.ones(1 << 20, bool), []
    xp.reset_stats()
    with xp.using(direct_limit=1 << 18):  # writes on the host need no plan
        for number in range(2, 100):
            assert bool(x[number]) == expected[number]
            seen.append(x.residency)
            if expected[number]:  # the value after a write has the savings of the one before
                x[number * number :: number] = False
                expected[number * number :: number] = False
        np.testing.assert_array_equal(np.asarray(x), expected)
    assert seen[0] == ("wgpu:0",)
    assert seen[-1] == ("cpu",)
    assert xp.stats()["bytes_downloaded"] < 2 * x.nbytes


def test_buffers_that_other_code_has_stay_on_the_device():
    with xp.using(offload="always"):
        x = xp.zeros(1 << 20, dtype=xp.float32) + 1
        xp.evaluate(x)
    buffer = to_wgpu_buffer(x)
    for number in range(50):
        assert float(x[number]) == 1
    assert x.residency == ("wgpu:0",)
    assert np.frombuffer(wgpu_device().queue.read_buffer(buffer, 0, x.nbytes), np.float32).all()


@pytest.mark.parametrize("is_read", [False, True])
def test_small_work_on_what_only_the_device_has(is_read):
    with xp.using(offload="always"):
        x = xp.asarray(numbers(100)) * 2
        xp.evaluate(x)
    assert x.residency == ("wgpu:0",)
    y = x + 1
    if not is_read:
        xp.evaluate(y)
    np.testing.assert_array_equal(np.asarray(y), numbers(100) * 2 + 1)


def test_to_explain_moves_nothing():
    x = xp.asarray(numbers(1 << 21))
    for _ in range(100):
        xp.explain(np.sum(x), stage="placement")
    assert x.residency == ("cpu",)


def test_a_device_that_cannot_be_measured_is_used_all_the_same(caplog):
    gpu = registry.open_device(GPU)
    auto.set_rates(gpu, None)
    x = xp.asarray(numbers(100))
    with xp.using(memory_limit=1 << 12, cache_dir="", calibration="auto"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibrate.disk_cache, "read", lambda kind, subject: None)
        patch.setattr(auto, "_estimated", 0.0)
        xp.evaluate(x + 1)
        assert not caplog.text  # nothing is measured for so little
        patch.setattr(auto, "_estimated", auto._CALIBRATING - 1.0)
        xp.evaluate(x + 1)
        y = x + 1
        xp.evaluate(y)
    assert "was not calibrated" in caplog.text
    np.testing.assert_array_equal(np.asarray(y), numbers(100) + 1)


class TestOpenQuestion:
    """The host computes until a program has lost as much time as the opening of a device takes."""

    @pytest.fixture(autouse=True)
    def undecided(self, monkeypatch):
        gpu = registry.open_device(GPU)
        monkeypatch.setattr(registry, "_opened", {("cpu", 0): places.host()})
        monkeypatch.setattr(registry, "_resolved", {})
        monkeypatch.setattr(registry, "_registered", {**registry._registered})
        registry.register("wgpu", lambda number: gpu)
        monkeypatch.setattr(registry, "_resolve", lambda *_: (GPU, "it is imagined"))
        monkeypatch.setattr(recording, "gpu", False)
        monkeypatch.setattr(import_module("gpuarray.settings"), "_hosts", set())
        monkeypatch.setattr(trials, "_lost", 0.0)
        monkeypatch.setattr(trials, "_OPENING", 5e6)
        with xp.using(software=False):
            yield
        config.record_midsize(False)

    def test_little_work(self):
        x = xp.asarray(numbers(1 << 12))
        xp.evaluate(heavy(x))
        assert registry.is_open()

    def test_one_large_plan(self):
        data = numbers(1 << 20)
        y = heavy(xp.asarray(data))
        xp.evaluate(y)
        assert y.residency == ("wgpu:0",)
        np.testing.assert_allclose(np.asarray(y), heavy(data), rtol=1e-5)

    @pytest.mark.parametrize("is_recorded", [False, True])
    def test_many_plans(self, monkeypatch, is_recorded):
        function = xp.jit(heavy) if is_recorded else heavy
        x = xp.asarray(numbers(1 << 20))
        monkeypatch.setattr(trials, "_OPENING", 1e18)
        xp.evaluate(function(x))
        monkeypatch.setattr(trials, "_OPENING", 4 * trials._lost)
        result = []
        for _ in range(10):
            y = function(x)
            xp.evaluate(y)
            result.append(y.residency)
        assert result[0] == ("cpu",)
        assert result[-1] == ("wgpu:0",)

    def test_what_never_computes_on_a_device_opens_none(self):
        with xp.using(offload="never"):
            xp.evaluate(heavy(xp.asarray(numbers(1 << 20))))
            assert registry.is_open()

    def test_arrays_that_a_gpu_would_get_are_computed_at_once_meanwhile(self):
        data = numbers(1 << 18)
        with xp.using(direct_limit=1 << 18):
            x = xp.asarray(data)
            assert (x + 1).is_computed()
            while registry.is_open():
                y = x + 1
            assert not (x + 1).is_computed()
            np.testing.assert_array_equal(y.get(), data + 1)

    def test_what_is_asked_for_by_name(self):
        x = xp.asarray(numbers(100))
        xp.prefetch(x)
        assert x.residency == ("cpu", "wgpu:0")
        assert not registry.is_open()

    def test_mid_sized_arrays_that_are_computed_at_once(self):
        data = numbers(1 << 17)
        with xp.using(direct_limit=1 << 17):
            x = xp.asarray(data)
            y = x + 1
            assert y.is_computed()
            while registry.is_open():
                y = y * x + 1
            y = np.sin(x + x)
            assert not y.is_computed()
            np.testing.assert_allclose(np.asarray(y), np.sin(data + data), rtol=1e-6)


class TestTrials:
    """Mid-sized arrays are computed by NumPy or recorded, whichever has taken less time."""

    @pytest.fixture(autouse=True)
    def fresh(self, monkeypatch):
        for name, value in {
            "_lost": 0.0,
            "_saved": 0.0,
            "_most_saved": 0.0,
            "_failures": 0,
            "_is_judging": False,
        }.items():
            monkeypatch.setattr(trials, name, value)
        with xp.using(direct_limit=1 << 17):
            yield
        config.record_midsize(False)

    @staticmethod
    def compute(x):
        """Return the number of operations at once until one is recorded."""
        for number in range(10_000):
            if not (x + x).is_computed():
                return number
        return None

    def test_what_a_device_might_save_is_worth_a_trial(self):
        x = xp.asarray(numbers(1 << 17))
        expected = trials._TRIAL / (trials._PER_ELEMENT * ((1 << 17) - (1 << 14)))
        assert expected <= self.compute(x) <= expected + 20  # operators in C tell of several at once
        with xp.using(device="cpu"):
            assert (xp.asarray(x.get()) + 1).is_computed()

    def test_small_and_pinned_arrays_are_worth_none(self):
        assert self.compute(xp.asarray(numbers(1 << 14))) is None
        with xp.using(offload="never"):
            assert self.compute(xp.asarray(numbers(1 << 17))) is None

    def test_there_is_none_where_the_host_is_the_provider(self):
        with xp.using(provider="cpu"):
            assert self.compute(xp.asarray(numbers(1 << 17))) is None
            matrix, vector = xp.asarray(numbers(1 << 18).reshape(512, 512)), xp.asarray(numbers(512))
            for _ in range(10):
                assert (matrix @ vector).is_computed()
            assert trials._lost == 0.0

    def test_a_trial_that_loses_ends_and_the_next_costs_twice_as_much(self, monkeypatch):
        x = xp.asarray(numbers(1 << 17))
        first = self.compute(x)
        clock = iter(range(0, 10**18, 10**7)).__next__  # each evaluation takes 10 ms or more
        monkeypatch.setattr(evaluate, "perf_counter_ns", clock)
        evaluations = 0
        while not (y := x + x).is_computed():
            xp.evaluate(np.sin(y) + np.exp(y))
            evaluations += 1
        assert 1 < evaluations < 20
        second = self.compute(x)
        assert second > 1.8 * first

    def test_a_trial_that_saves_goes_on(self, monkeypatch):
        x = xp.asarray(numbers(1 << 17))
        self.compute(x)
        monkeypatch.setattr(evaluate, "perf_counter_ns", lambda: 0)
        for _ in range(1000):
            y = np.sin(x + x) + np.exp(x)
            assert not y.is_computed()
            xp.evaluate(y)
        assert trials._saved > 10 * trials._TRIAL
        clock = iter(range(0, 10**18, 10**7)).__next__  # the program begins to do what takes 10 ms
        monkeypatch.setattr(evaluate, "perf_counter_ns", clock)
        for _ in range(2):
            xp.evaluate(np.sin(x + x) + np.exp(x))
        assert not (x + x).is_computed()
        for _ in range(2):
            xp.evaluate(np.sin(x + x) + np.exp(x))
        assert (x + x).is_computed()
        assert trials._failures == 0

    def test_single_operations_lose(self):
        x = xp.asarray(numbers(1 << 17))
        self.compute(x)
        evaluations = 0
        while not (y := x + x).is_computed():
            xp.evaluate(y)
            evaluations += 1
        assert 100 < evaluations < 10_000

    def test_numpy_is_estimated_to_compute_each_node_once(self):
        def estimate(levels):
            x = xp.asarray(numbers(1 << 15)) * 1
            for _ in range(levels):
                x = x + xp.roll(x, 1) + xp.roll(x, 2)
            return at_once.time_at_once(meanings_of(topological([x.node()])))

        with xp.using(direct_limit=0):
            assert estimate(12) < 2.5 * estimate(6)

    def test_each_kind_of_node_has_an_estimate(self):
        assert at_once._RULES.keys() == {*get_args(Node)}

    def test_large_arrays_say_nothing(self, monkeypatch):
        x = xp.asarray(numbers(1 << 17))
        self.compute(x)
        clock = iter(range(0, 10**18, 10**9)).__next__
        monkeypatch.setattr(evaluate, "perf_counter_ns", clock)
        large = xp.asarray(numbers(1 << 18))
        for _ in range(10):
            xp.evaluate(large + 1)
        assert not (x + x).is_computed()

    def test_the_report_says_which(self):
        x = xp.asarray(numbers(1 << 17))
        assert "NumPy computes operations on 16,384 to 131,072 elements at once" in str(xp.report()["auto"])
        self.compute(x)
        assert "are recorded" in str(xp.report()["auto"])
