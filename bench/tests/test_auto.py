"""How the benchmarks of the device "auto" and of profiling measure."""

import itertools
import json
import types

import numpy as np
import pytest

import gpuarray as xp
from bench import placement, profiling
from gpuarray import observers
from gpuarray.providers import registry
from gpuarray.runtime import places
from gpuarray.runtime.placement import auto
from gpuarray.runtime.placement.rates import DEVICE_DEFAULTS, HOST_DEFAULTS


def timed(times, log, name):
    """Return what stands for a call, which takes these times in milliseconds, again and again."""
    given = itertools.cycle(times)

    def call():
        log.append(name)
        return next(given)

    return call


def test_devices_take_turns_in_every_order():
    log = []
    calls = {name: timed([1.0], log, name) for name in ("cpu", "wgpu:0", "auto")}
    result = placement.measured(calls, 0.0)
    assert result == {"cpu": 1.0, "wgpu:0": 1.0, "auto": 1.0}
    warm = 3 * 60  # calls of a millisecond in 60 of them
    assert log[:warm] == ["cpu"] * 60 + ["wgpu:0"] * 60 + ["auto"] * 60
    turns = [(name, len([*calls])) for name, calls in itertools.groupby(log[warm:])]
    assert {count for _, count in turns} <= {3, 6}  # of three milliseconds; who ends one round may begin the next
    names = [name for name, count in turns for _ in range(count // 3)]
    rounds = [tuple(names[at : at + 3]) for at in range(0, len(names), 3)]
    assert sorted(rounds) == sorted(itertools.permutations(calls))


def test_the_first_call_of_a_turn_is_not_counted():
    log = []
    calls = {"cpu": timed([1.0], log, "cpu")}
    rest = timed([9.0, 1.0, 1.0], log, "auto")
    warm = timed([1.0], log, "auto")
    calls["auto"] = lambda: warm() if log.count("auto") < 60 else rest()
    assert placement.measured(calls, 0.0) == {"cpu": 1.0, "auto": 1.0}
    assert log.count("auto") == 60 + 2 * 3
    calls["auto"] = timed([9.0], log, "once")  # of a turn of one call that one is counted
    assert placement.measured(calls, 0.0)["auto"] == 9.0


def test_who_is_far_behind_is_asked_no_more():
    log = []
    calls = {name: timed([each], log, name) for name, each in (("cpu", 50.0), ("wgpu:0", 1.0), ("auto", 20.0))}
    result = placement.measured(calls, 0.0)
    assert result == {"cpu": 50.0, "wgpu:0": 1.0, "auto": 20.0}
    assert log.count("cpu") == 2
    assert log.count("auto") > 3  # always
    long = {"cpu": timed([5000.0], log, "slow"), "auto": timed([1.0], log, "auto")}
    assert placement.measured(long, 0.0)["cpu"] == 5000.0
    assert log.count("slow") == 1


def test_the_cost_of_a_profile_is_that_of_pieces_in_a_block(monkeypatch):
    x = xp.asarray(np.ones(64, np.float32), device="cpu")
    answers = []
    clock = [0.0]
    monkeypatch.setattr(profiling, "time", types.SimpleNamespace(perf_counter=lambda: clock[0]))

    def work(x):
        inside = bool(observers.active)
        answers.append(inside)
        clock[0] += 2e-3 if inside else 1e-3

    took, inside, outside = profiling.cost(work, x, 3, 0.01, 1.0)
    assert took == pytest.approx(1000)
    assert inside == pytest.approx(2)
    assert outside == pytest.approx(1)
    assert {True, False} == {*answers}


def test_the_table_of_auto(monkeypatch, capsys, tmp_path):
    gpu, host = registry.open_device(xp.Device("wgpu:0")), places.host()
    auto.set_rates(gpu, DEVICE_DEFAULTS)
    auto.set_rates(host, HOST_DEFAULTS)
    monkeypatch.setattr(placement, "_NEAR", 0.0)
    monkeypatch.setattr(placement, "_WARM", 2.0)
    target = tmp_path / "found.json"
    given = ["placement", "--software", "--largest", "1000", "--seconds", "0", "--reasons", "--json", str(target)]
    monkeypatch.setattr("sys.argv", [*given, "--workloads", "add;sum"])
    assert placement.main() == 0
    auto.set_rates(gpu, None)
    auto.set_rates(host, None)
    out = capsys.readouterr().out
    assert "add: host, it is over before the device would have begun" in out
    assert "0 of 4 within 0.0 of the better" in out
    rows = json.loads(target.read_text())["rows"]
    assert [(row["workload"], row["size"]) for row in rows] == [
        ("add", 100),
        ("add", 1000),
        ("sum", 100),
        ("sum", 1000),
    ]
    for row in rows:
        better = min(row["cpu"], row["wgpu:0"])
        assert row["ratio"] == pytest.approx(row["auto"] / better, abs=0.01)
        assert row["where"] == ["cpu"]
