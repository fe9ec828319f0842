"""Exported kernels run without this package, and give the same bits."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpuarray as xp


def run(folder, *steps):
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, str(folder / "run.py"), *map(str, steps)]
    return subprocess.run(command, capture_output=True, text=True, env=environ, cwd=folder, check=False)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A folder with steps of all kinds, what was explained, and the results."""
    folder = tmp_path_factory.mktemp("exported")
    numbers = np.random.default_rng(5)
    x = xp.asarray(numbers.standard_normal((70, 333)).astype(np.float32), device="wgpu")
    counts = xp.asarray(numbers.integers(0, 70, 50), device="wgpu")
    changed = xp.asarray(x, copy=True)
    changed[3:9, ::2] *= 2.5
    arrays = (
        xp.sum(xp.exp(x) * 2 + 1, axis=1),
        xp.sort(x, axis=1)[:, :5] + 1,
        xp.cumulative_sum(x, axis=0),
        x @ x.T * 0.5,
        xp.take(x, counts, axis=0).astype(xp.int64),
        changed,
        (x > 0).any(axis=0),
    )
    explanation = xp.explain(*arrays)
    files = explanation.save(folder)
    return folder, explanation, files, arrays, x


def test_results_are_bit_for_bit_the_same(exported):
    folder, explanation, _, _, _ = exported
    result = run(folder)
    assert result.returncode == 0, result.stdout + result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == len(json.loads((folder / "plan.json").read_text())["steps"]) >= 6
    assert all(line.endswith(": identical") for line in lines)
    assert len(lines) <= len(explanation.steps)


def test_the_program_knows_nothing_of_this_package(exported):
    folder = exported[0]
    assert "gpuarray" not in (folder / "run.py").read_text()


def test_saved_results_are_the_arrays(exported):
    folder, explanation, _, arrays, _ = exported
    saved = {p.name: np.load(p) for p in (folder / "arrays").iterdir()}
    for array in arrays:
        expected = np.asarray(array)
        assert any(
            a.dtype == expected.dtype and a.shape == expected.shape and a.tobytes() == expected.tobytes()
            for a in saved.values()
        )
    assert not explanation.has_run


def test_a_changed_input_gives_another_result_and_status(exported, tmp_path):
    folder, _, files, _, _ = exported
    for file in files:
        target = tmp_path / file.relative_to(folder)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(file.read_bytes())
    step = json.loads((tmp_path / "plan.json").read_text())["steps"][0]
    name = tmp_path / step["inputs"][0]
    np.save(name, np.load(name) + np.float32(1))
    result = run(tmp_path, 0)
    assert result.returncode == 1
    assert "DIFFERENT" in result.stdout


def test_files_are_complete_and_each_array_is_saved_once(exported):
    folder, _, files, _, x = exported
    assert {Path(file) for file in files} == {p for p in folder.rglob("*") if p.is_file()}
    contents = [(p.read_bytes()) for p in (folder / "arrays").iterdir()]
    assert len(set(contents)) == len(contents)
    plan = json.loads((folder / "plan.json").read_text())
    for step in plan["steps"]:
        for launch in step["launches"]:
            assert (folder / launch["source"]).read_text().count("@compute") == 1
            assert len(launch["workgroups"]) == 3
            assert {b["kind"] for b in launch["bindings"]} <= {"input", "output", "scratch"}
    saved = [np.load(folder / name) for name in plan["steps"][0]["inputs"]]
    assert any(a.shape == x.shape for a in saved)


def test_saving_evaluates_the_arrays(exported):
    assert all(xp.explain(array).launches == 0 for array in exported[3])


def test_what_cannot_be_saved(tmp_path):
    y = xp.exp(xp.ones(4, device="cpu"))
    with pytest.raises(ValueError, match="create the arrays on device='wgpu'"):
        xp.explain(y).save(tmp_path)
    z = xp.exp(xp.ones(4, dtype=xp.float32, device="wgpu"))
    before = xp.explain(z)
    xp.evaluate(z)
    with pytest.raises(ValueError, match="call save before"):
        before.save(tmp_path)
    with pytest.raises(ValueError, match="call explain before"):
        xp.explain(z).save(tmp_path)
