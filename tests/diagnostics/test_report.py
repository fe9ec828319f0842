"""`report`: sections, and where settings come from."""

import json
import os
import subprocess
import sys

import numpy as np

import gpuarray as xp
from gpuarray.config import Config
from gpuarray.diagnostics import environment


def test_sections_hold_what_happened(device):
    x = xp.asarray(np.eye(3, dtype=np.float32))
    xp.evaluate(xp.exp(x) + 1)
    xp.evaluate(xp.tanh(x))
    found = xp.report()
    assert found["versions"]["numpy"] == np.__version__
    assert found["devices"][device.name]["adapter"]
    assert found["events"]["evaluations"] == 2
    assert found["caches"]["plans"] >= 2
    assert found["memory"][device.name]["peak_bytes"] > 0
    assert found["decisions"][0].startswith(f"tanh: {device.name}, ")
    assert found["self_test"]["wgpu:0"]
    assert json.loads(found.json()) == found


def test_fallbacks_name_reasons_and_lines():
    x = xp.eye(3, dtype=xp.float32, device="wgpu")
    xp.linalg.eigvals(x)
    xp.linalg.eigvals(x)
    found = xp.report()
    assert found["fallbacks"]["eigvals"] == {"no kernel: runs as NumPy's function on the host": 2}
    lines = found["lines"]["eigvals"]
    assert sum(lines.values()) == 2
    assert all("test_report.py:" in line for line in lines)
    assert len(lines) == 2
    text = str(found)
    assert "Fallbacks" in text
    assert "no kernel" in text


def test_settings_tell_where_their_values_come_from():
    with xp.using(pending_limit=17):
        found = xp.report()["settings"]
    assert found["pending_limit"] == {"value": 17, "source": "using"}
    assert found["verify"]["source"] == "assigned"  # by the tests' fixtures
    assert found["power_preference"] == {"value": "high-performance", "source": "default"}
    assert set(found) == set(Config.__dataclass_fields__)
    script = "import gpuarray; print(gpuarray.report().json())"
    environ = {**os.environ, "GPUARRAY_THREADS": "3", "PYTHONPATH": ":".join(sys.path)}
    told = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
    assert json.loads(told.stdout)["settings"]["threads"] == {"value": 3, "source": "GPUARRAY_THREADS"}


def test_what_is_broken_is_replaced_by_the_reason(monkeypatch):
    def broken():
        raise OSError("no driver")

    monkeypatch.setattr(environment, "_ENVIRONMENT", {"adapters": broken, "versions": environment._versions})
    found = environment.environment()
    assert found["adapters"] == "not available: OSError: no driver"
    assert "no driver" in str(found)
    assert found["versions"]


def test_text_is_complete():
    text = str(xp.report())
    for title in ("Versions", "Adapters", "Self test", "Auto", "Settings", "Caches", "Memory", "Events", "Decisions"):
        assert f"{title}\n" in text
