"""Fixtures: every test body that takes ``device`` runs in-process, in-process without float64, and on a wgpu device."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.device import Device
from gpuarray.providers import registry
from gpuarray.providers.inprocess.provider import InProcessProvider, default_capabilities

# the helpers in support.py are for all folders of tests
sys.path.insert(0, str(Path(__file__).parent))

#: An in-process device that lacks what many GPUs lack: 64-bit floating point.
LIMITED = "cpuf32"
DEVICES = ("cpu", LIMITED, "wgpu")


def _open_limited(number: int) -> InProcessProvider:
    narrow = frozenset(dtypes.ALL) - {dtypes.float64, dtypes.complex128}
    return InProcessProvider(Device(LIMITED), capabilities=replace(default_capabilities(), dtypes=narrow))


registry.register(LIMITED, _open_limited)


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    """A device, which is also the default one while the test runs."""
    with xp.using(device=request.param):
        yield Device(request.param)


@pytest.fixture(autouse=True)
def _fresh_counters() -> None:
    xp.reset_stats()
