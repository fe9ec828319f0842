"""Calibration: measured in a moment, kept soundly, and never worth an error."""

import itertools
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import disk_cache, dtypes
from gpuarray.device import Capabilities, Device
from gpuarray.errors import DeviceMemoryError
from gpuarray.ops.spec import OPS, op_named
from gpuarray.providers.inprocess import InProcessProvider
from gpuarray.runtime import evaluate, places
from gpuarray.runtime.placement import auto, calibrate, numpy_times, timing
from gpuarray.runtime.placement.rates import DEVICE_DEFAULTS, HOST_DEFAULTS, Rates, at, from_json, risen

CPU = Device("cpu")


@pytest.fixture
def folder(tmp_path):
    """Keep records in a folder of this test's own, and measure next to nothing."""
    with xp.using(cache_dir=str(tmp_path)):
        yield tmp_path


@pytest.fixture
def measured(monkeypatch):
    """Count the measurements, each of which finds other rates."""
    result = []

    def rates(bench):
        result.append(bench)
        return replace(HOST_DEFAULTS, launch=1000.0 + len(result))

    monkeypatch.setattr(calibrate._Bench, "rates", rates)
    return result


def record(folder):
    (path,) = folder.glob("calibration-*.json")
    return path


def test_rates_are_measured_once_and_kept(folder, measured):
    first = calibrate.rates_of(CPU)
    assert first.launch == 1001
    again = calibrate.rates_of(CPU)
    assert again.launch == 1001
    assert again.as_json() == from_json(json.loads(json.dumps(first.as_json()))).as_json()
    assert len(measured) == 1
    assert calibrate.rates_of(CPU, fresh=True).launch == 1002
    assert calibrate.rates_of(CPU).launch == 1002


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "not json",
        lambda text: text.replace('"launch": 1001.0', '"launch": -5'),
        lambda text: text.replace('"launch": 1001.0', '"launch": "soon"'),
        lambda text: text.replace('"launch"', '"lunch"'),
        lambda text: text.replace('"version": ', '"version": 9'),
        lambda text: "[]",
    ],
    ids=["empty", "half", "text", "negative", "word", "name", "version", "list"],
)
def test_a_damaged_record_is_measured_again(folder, measured, damage):
    calibrate.rates_of(CPU)
    path = record(folder)
    path.write_text(damage(path.read_text()))
    assert calibrate.rates_of(CPU).launch == 1002
    assert calibrate.rates_of(CPU).launch == 1002


def test_a_damaged_record_is_warned_of(folder, measured, caplog):
    calibrate.rates_of(CPU)
    path = record(folder)
    path.write_text(path.read_text()[:100])
    with caplog.at_level("WARNING", "gpuarray"):
        calibrate.rates_of(CPU)
    assert "ignored" in caplog.text


def test_a_record_of_something_else_is_not_taken(folder, measured):
    calibrate.rates_of(CPU)
    path = record(folder)
    values = json.loads(path.read_text())
    path.write_text(json.dumps(values | {"subject": "another driver"}))
    assert calibrate.rates_of(CPU).launch == 1002


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path, measured):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with xp.using(cache_dir=str(blocked)):
        assert calibrate.rates_of(CPU).launch == 1001


def test_a_full_disk_leaves_no_file(folder, measured, monkeypatch):
    def full(*arguments, **keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk_cache.os, "fdopen", full)
    assert calibrate.rates_of(CPU).launch == 1001
    assert not list(folder.glob("calibration-*"))


def test_processes_write_side_by_side(tmp_path):
    program = (
        "import sys; from gpuarray import disk_cache\n"
        "for k in range(200): disk_cache.write('calibration', 'one', {'text': sys.argv[1] * 5000})\n"
        "found = disk_cache.read('calibration', 'one')\n"
        "assert found is not None and len(set(found['text'])) == 1\n"
    )
    environment = {**os.environ, "GPUARRAY_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(xp.__file__).parents[1])}
    writers = [subprocess.Popen([sys.executable, "-c", program, letter], env=environment) for letter in "ab"]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert len(list(tmp_path.iterdir())) == 1


def test_the_host_is_measured(folder):
    messages = []
    result = calibrate._Bench(places.host(), messages.append).rates()
    assert result.launch > 0
    assert result.traffic[-1][1] > 0
    assert result.rows["exp:float64"] > result.rows["negative:float64"] > 0
    assert not result.upload
    assert messages[0] == "launches"
    assert from_json(json.loads(json.dumps(result.as_json()))).work["sort"]


def test_formulas_join_the_record_when_they_are_measured(folder, measured):
    rates = calibrate.rates_of(CPU)
    row = op_named("erf")
    assert numpy_times.is_formula(row)
    assert not numpy_times.is_formula(OPS["exp"])
    result = calibrate.learn(places.host(), rates, [(row, dtypes.float32), (row, dtypes.int8)])
    assert result.least["erf:float32"] > result.rows["erf:float32"] > 0
    assert result.rows["erf:int8"] == row.cost * rates.operation["32"]  # it is computed in another dtype
    again = calibrate.rates_of(CPU)
    assert again.rows == result.rows
    assert again.least == result.least
    assert again.launch == rates.launch
    record(folder).unlink()
    calibrate.learn(places.host(), rates, [(row, dtypes.float64)])
    assert not [*folder.iterdir()]  # these rates are of no record


def test_a_formula_takes_its_calls_at_least():
    rates = Rates(rows={"erf:float32": 2.0}, least={"erf:float32": 700.0})
    assert rates.step(step_of(xp.special.erf(vector(10)))) == 700
    assert rates.step(step_of(xp.special.erf(vector(1000)))) == 2000


def test_precedence(folder, measured, monkeypatch):
    provider = places.host()
    auto.set_rates(provider, None)
    with xp.using(calibration="off"):
        assert auto.rates_of(provider) is HOST_DEFAULTS
    auto.set_rates(provider, replace(HOST_DEFAULTS, launch=7.0))
    assert auto.rates_of(provider).launch == 7
    auto.set_rates(provider, None)
    monkeypatch.setattr(auto, "_estimated", 0.0)
    assert auto.rates_of(provider) is HOST_DEFAULTS  # the program has done too little for a measurement
    auto.set_rates(provider, None)
    monkeypatch.setattr(auto, "_estimated", 1e12)
    assert auto.rates_of(provider).launch == 1001
    auto.set_rates(provider, None)
    monkeypatch.setattr(auto, "_estimated", 0.0)
    assert auto.rates_of(provider).launch == 1001  # there is a record
    auto.set_rates(provider, None)


def test_curves():
    curve = [(10, 100.0), (100, 1000.0)]
    assert at(curve, 1) == 100
    assert at(curve, 55) == 550
    assert at(curve, 1000) == 10_000
    assert at([], 5) == 0
    assert risen([(2, 5.0), (1, 9.0), (3, 7.0)]) == [(1, 5.0), (2, 5.0), (3, 7.0)]
    assert risen([(2, 5.0), (1, 9.0), (3, 7.0)], are_rests=True) == [(1, 9.0), (2, 9.0), (3, 9.0)]
    assert risen([]) == []


def step_of(array):
    """Return the one step that computes an array in-process."""
    (step,) = evaluate.plan_of((array.node(),), CPU)[0].pinned.steps
    return step.planned.step


def vector(size):
    return xp.asarray(np.ones(size, "f4"), device="cpu")


def test_a_loop_on_the_host_is_calls_arithmetic_and_traffic():
    rates = Rates(launch=100.0, call=10.0, rows={"add:float32": 2.0, "exp:float32": 5.0}, traffic=((80, 30.0),))
    assert rates.step(step_of(np.exp(vector(10) + 1))) == 100 + 2 * 10 + 10 * (2 + 5) + 30


def test_threads_share_the_work_and_take_turns_in_between():
    step = step_of(np.exp(vector(1000)) + 1)
    rows = {"add:float32": 2.0, "exp:float32": 6.0}
    assert Rates(rows=rows).step(step) == 8000
    assert Rates(rows=rows, speedup=4.0).step(step, chunks=2) == 4000
    assert Rates(rows=rows, speedup=4.0).step(step, chunks=10) == 2000
    # two calls for each of ten pieces
    assert Rates(rows=rows, speedup=4.0, handoff=300.0).step(step, chunks=10) == 6000
    # where that is longer, one thread computes
    assert Rates(rows=rows, speedup=4.0, handoff=500.0).step(step, chunks=10) == 8000


def test_the_host_says_what_its_threads_share():
    host, square = places.host(), vector(1 << 16).reshape(256, 256)
    assert host.chunks(step_of(np.exp(vector(1000)) + 1)) == 1
    assert host.chunks(step_of(np.exp(vector(1 << 20)) + 1)) > 4
    assert host.chunks(step_of(vector(1 << 17) + 1)) == 1  # soon over
    assert host.chunks(step_of(square @ square)) == 1  # BLAS has threads of its own


def test_folds_on_the_host_have_curves():
    rates = Rates(call=10.0, rows={"max:float32": 2.0}, folds={"sum": ((10, 700.0), (100, 1000.0))})
    assert rates.step(step_of(vector(10).sum())) == 700
    assert rates.step(step_of(vector(55).sum())) == 850
    assert rates.step(step_of(xp.asarray(np.ones(10), device="cpu").sum())) == 1400  # twice as wide
    assert rates.step(step_of(vector(10).max())) == 10 + 20


def test_a_device_moves_while_it_computes():
    rates = Rates(launch=100.0, operation={"32": 2.0}, traffic=((80, 30.0),))
    assert rates.step(step_of(vector(10) + 1)) == 100
    assert rates.step(step_of(vector(1000) + 1)) == 8000 / 80 * 30
    assert rates.step(step_of(vector(1000) + 1), 40) == 4000


@pytest.mark.parametrize(("takes", "runs"), [(1000, 9), (1_000_000, 4), (3_000_000, 2), (50_000_000, 1)])
def test_few_runs_of_what_takes_long(monkeypatch, takes, runs):
    now = itertools.count(0, takes)
    monkeypatch.setattr(timing.time, "perf_counter_ns", lambda: next(now))
    assert len(timing._times(lambda: None)) == runs


@pytest.fixture
def idle(monkeypatch):
    """A bench of a device whose runs take as many milliseconds as a list says, the last of these for ever."""
    gpu = InProcessProvider(CPU, capabilities=Capabilities(adapter="idle", kind="DiscreteGPU"))
    bench = calibrate._Bench(gpu, lambda _: None)
    bench.now, bench.left = 0, []

    def run(tasks, count):
        bench.now += (bench.left.pop(0) if len(bench.left) > 1 else bench.left[0]) * 10**6

    monkeypatch.setattr(timing.time, "perf_counter_ns", lambda: bench.now)
    monkeypatch.setattr(bench, "tasks", lambda node: [])
    monkeypatch.setattr(bench, "run", run)
    return bench


@pytest.mark.parametrize(
    ("times", "least", "most"),
    [([9] * 20 + [4] * 30 + [2], 2, 700), ([5], 5, 300), ([*range(400, 300, -20), 1], 380, 1000)],
    ids=["rises in steps", "was awake", "takes too long"],
)
def test_a_device_is_kept_busy_until_it_becomes_no_quicker(idle, times, least, most):
    idle.left = [1, *times]
    idle.awaken()
    assert timing._fastest[idle.provider] == least * 10**6
    assert idle.now <= most * 10**6


def test_a_device_that_is_known_to_be_awake_is_not_kept_busy(idle):
    idle.left = [1, *[9] * 10, 2]
    idle.awaken()
    began = idle.now
    idle.awaken()
    assert idle.now - began == 4 * 10**6
    idle.left = [9, 9, 9, 9, 2]  # it slept meanwhile
    began = idle.now
    idle.awaken()
    assert idle.now - began == (4 * 9 + 2) * 10**6


@pytest.mark.parametrize(
    ("each", "measured"),
    [(1, [10, 1000, 10**6]), (1000, [10, 1000]), (10**6, [10])],
    ids=["all", "one would take too long", "the first takes long"],
)
def test_curves_end_where_they_would_take_too_long(monkeypatch, each, measured):
    bench = calibrate._Bench(places.host(), lambda _: None)
    monkeypatch.setattr(bench, "time", lambda node: float(node * each + 500))
    curve = bench._curve((10, 1000, 10**6), lambda size: size, lambda size: 2 * size, 500)
    assert curve == [(2 * size, size * each) for size in measured]


def test_a_curve_ends_where_there_is_no_room(monkeypatch):
    bench = calibrate._Bench(places.host(), lambda _: None)

    def timed(node):
        if node > 10:
            raise DeviceMemoryError("no room")
        return 7.0

    monkeypatch.setattr(bench, "time", timed)
    assert bench._curve((1, 10, 100), lambda size: size, float, 0) == [(1, 7), (10, 7)]


def test_defaults_are_sound():
    for rates in (HOST_DEFAULTS, DEVICE_DEFAULTS):
        assert isinstance(from_json(json.loads(json.dumps(rates.as_json()))), Rates)
