"""Static types: what checkers find in a user's program, in their strict modes."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpuarray

ROOT = Path(__file__).parents[1]
PROGRAM = Path(__file__).with_name("user_program.py")


def checked(*command, cwd=ROOT):
    result = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_mypy_agrees_with_a_users_program(tmp_path):
    pytest.importorskip("mypy")
    options = ["--strict", "--config-file=", f"--cache-dir={tmp_path}"]
    checked(sys.executable, "-m", "mypy", *options, PROGRAM)


@pytest.mark.slow
def test_pyright_agrees_with_a_users_program(tmp_path):
    pytest.importorskip("pyright")
    shutil.copy(PROGRAM, tmp_path)
    settings = {"typeCheckingMode": "strict", "include": [PROGRAM.name], "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    checked(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, cwd=tmp_path)


def test_completion_offers_names_that_are_documented():
    x = gpuarray.ones(3)
    own = {"as_integer_ratio", "device", "get", "is_integer", "prefetch", "residency", "to_device", "to_numpy"}
    assert {name for name in dir(x) if not name.startswith("_")} <= {*dir(np.ones(3)), "ptp", *own}
