"""Calibration: measured in a moment, kept soundly, and never worth an error."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import gpuarray as xp
from gpuarray import records
from gpuarray.device import Device
from gpuarray.runtime import auto, calibrate, places
from gpuarray.runtime.rates import DEVICE_DEFAULTS, HOST_DEFAULTS, Rates, at, from_json, risen

CPU = Device("cpu")


@pytest.fixture
def folder(tmp_path):
    """Keep records in a folder of this test's own, and measure next to nothing."""
    with xp.using(cache_dir=str(tmp_path)):
        yield tmp_path


@pytest.fixture
def measured(monkeypatch):
    """Count the measurements, each of which finds other rates."""
    found = []

    def rates(bench):
        found.append(bench)
        return replace(HOST_DEFAULTS, launch=1000.0 + len(found))

    monkeypatch.setattr(calibrate._Bench, "rates", rates)
    return found


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

    monkeypatch.setattr(records.os, "fdopen", full)
    assert calibrate.rates_of(CPU).launch == 1001
    assert not list(folder.glob("calibration-*"))


def test_processes_write_side_by_side(tmp_path):
    program = (
        "import sys; from gpuarray import records\n"
        "for k in range(200): records.write('calibration', 'one', {'text': sys.argv[1] * 5000})\n"
        "found = records.read('calibration', 'one')\n"
        "assert found is not None and len(set(found['text'])) == 1\n"
    )
    environment = {**os.environ, "GPUARRAY_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(xp.__file__).parents[1])}
    writers = [subprocess.Popen([sys.executable, "-c", program, letter], env=environment) for letter in "ab"]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert len(list(tmp_path.iterdir())) == 1


def test_the_host_is_measured(folder):
    told = []
    found = calibrate._Bench(places.host(), told.append).rates()
    assert found.launch > 0
    assert found.traffic[-1][1] > 0
    assert found.rows["exp:float64"] > found.rows["negative:float64"] > 0
    assert not found.upload
    assert told[0] == "launches"
    assert from_json(json.loads(json.dumps(found.as_json()))).sort


def test_precedence(folder, measured):
    provider = places.host()
    auto.set_rates(provider, None)
    with xp.using(calibration="off"):
        assert auto.rates_of(provider) is HOST_DEFAULTS
    auto.set_rates(provider, replace(HOST_DEFAULTS, launch=7.0))
    assert auto.rates_of(provider).launch == 7
    auto.set_rates(provider, None)
    assert auto.rates_of(provider).launch == 1001
    auto.set_rates(provider, None)


def test_curves():
    curve = [(10, 100.0), (100, 1000.0)]
    assert at(curve, 1) == 100
    assert at(curve, 55) == 550
    assert at(curve, 1000) == 10_000
    assert at([], 5) == 0
    assert risen([(2, 5.0), (1, 9.0), (3, 7.0)]) == [(1, 9.0), (2, 9.0), (3, 9.0)]


def test_defaults_are_sound():
    for rates in (HOST_DEFAULTS, DEVICE_DEFAULTS):
        assert isinstance(from_json(json.loads(json.dumps(rates.as_json()))), Rates)
