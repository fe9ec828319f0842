"""`report`: sections, and where settings come from."""

import json
import os
import subprocess
import sys

import numpy as np

import gpuarray as xp
from gpuarray.diagnostics import environment
from gpuarray.settings import Config


def test_sections_hold_what_happened(device):
    x = xp.asarray(np.eye(3, dtype=np.float32))
    xp.evaluate(xp.exp(x) + 1)
    xp.evaluate(xp.tanh(x))
    result = xp.report()
    assert result["versions"]["numpy"] == np.__version__
    assert result["devices"][device.name]["adapter"]
    assert result["events"]["evaluations"] == 2
    assert result["caches"]["plans"] >= 2
    assert result["memory"][device.name]["peak_bytes"] > 0
    assert result["decisions"][0].startswith(f"tanh: {device.name}, ")
    assert result["self_test"]["wgpu:0"]
    assert json.loads(result.json()) == result


def test_fallbacks_name_reasons_and_lines():
    x = xp.eye(3, dtype=xp.float32, device="wgpu")
    xp.linalg.eigvals(x)
    xp.linalg.eigvals(x)
    result = xp.report()
    assert result["fallbacks"]["eigvals"] == {"no kernel: runs as NumPy's function on the host": 2}
    lines = result["lines"]["eigvals"]
    assert sum(lines.values()) == 2
    assert all("test_report.py:" in line for line in lines)
    assert len(lines) == 2
    text = str(result)
    assert "Fallbacks" in text
    assert "no kernel" in text


def test_settings_tell_where_their_values_come_from():
    with xp.using(pending_limit=17):
        result = xp.report()["settings"]
    assert result["pending_limit"] == {"value": 17, "source": "using"}
    assert result["verify"]["source"] == "assigned"  # by the tests' fixtures
    assert result["power_preference"] == {"value": "high-performance", "source": "default"}
    assert set(result) == set(Config.__dataclass_fields__)
    script = "import gpuarray; print(gpuarray.report().json())"
    environ = {**os.environ, "GPUARRAY_THREADS": "3", "PYTHONPATH": ":".join(sys.path)}
    output = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
    assert json.loads(output.stdout)["settings"]["threads"] == {"value": 3, "source": "GPUARRAY_THREADS"}


def test_what_is_broken_is_replaced_by_the_reason(monkeypatch):
    def broken():
        raise OSError("no driver")

    monkeypatch.setattr(environment, "_ENVIRONMENT", {"adapters": broken, "versions": environment._versions})
    result = environment.environment()
    assert result["adapters"] == "not available: OSError: no driver"
    assert "no driver" in str(result)
    assert result["versions"]


def test_text_is_complete():
    text = str(xp.report())
    for title in ("Versions", "Adapters", "Self test", "Auto", "Settings", "Caches", "Memory", "Events", "Decisions"):
        assert f"{title}\n" in text
