"""A process that ends while a device computes."""

import os
import subprocess
import sys

import pytest

from gpuarray.device import Device
from gpuarray.providers.wgpu.provider import WgpuProvider

pytestmark = pytest.mark.wgpu

PROGRAM = """
import numpy as np, gpuarray as xp
x = xp.asarray(np.linspace(0, 1, 1 << 20, dtype="f4"), device="wgpu")
y = x
for _ in range(2):
    y = np.sin(y) * x + np.exp(-y)
xp.evaluate(y, np.sort(y), np.cumsum(np.sqrt(abs(y))))
"""


def test_a_process_ends_well_whatever_is_under_way() -> None:
    # kernels that are new, so that a driver without a GPU still compiles them when the last line is reached
    environment = os.environ | {"MESA_SHADER_CACHE_DISABLE": "true"}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_what_closes_a_device_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = WgpuProvider(0, device=Device("closing"))
    done: list[str] = []
    wait = provider._driver.wait
    monkeypatch.setattr(provider._driver, "wait", lambda: (wait(), done.append("waited")))
    monkeypatch.setattr(provider._pipelines, "clear", lambda: done.append("released"))
    provider.close()
    assert done == ["waited", "released"]
