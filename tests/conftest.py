"""Fixtures: every test body that takes ``device`` runs in-process, in-process without float64, and on a wgpu device."""

import gc
import os
import secrets
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import pytest
from hypothesis import HealthCheck, settings

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.device import Device
from gpuarray.providers import registry
from gpuarray.providers.inprocess.provider import InProcessProvider, default_capabilities
from gpuarray.runtime import plans, prepared
from gpuarray.runtime.placement import auto, trials
from gpuarray.settings import recording

# SciPy and scikit-learn take arrays of other namespaces if this is set before SciPy is imported
os.environ["SCIPY_ARRAY_API"] = "1"

# the helpers in support.py are for all folders of tests
sys.path.insert(0, str(Path(__file__).parent))

#: An in-process device that lacks what many GPUs lack: 64-bit floating point.
LIMITED = "cpuf32"
DEVICES = ("cpu", LIMITED, "wgpu")


def _open_limited(number: int) -> InProcessProvider:
    narrow = frozenset(dtypes.ALL) - {dtypes.float64, dtypes.complex128}
    return InProcessProvider(Device(LIMITED), capabilities=replace(default_capabilities(), dtypes=narrow))


#: The wgpu device as one that has no more than every GPU: no 64-bit numbers, subgroups or clock, and small limits.
PORTABLE = "wgpuportable"


def _open_portable(number: int) -> Any:
    # imported here because most tests need no GPU
    from gpuarray.providers.wgpu.provider import WgpuProvider

    provider = WgpuProvider(number, device=Device(PORTABLE), portable=True)
    # and arithmetic takes subnormal numbers for 0, as far as kernels know
    provider.capabilities = replace(provider.capabilities, subnormal_float32=False)
    return provider


# every graph and plan of every test is checked against its invariants
xp.config.verify = True
# tests of GPUs run kernels, although their arrays are small
xp.config.direct_pinned = False

# the same cases every time; with --hypothesis-profile=deep many more, and new ones in each run
_PROFILE = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
settings.register_profile("quick", _PROFILE, derandomize=True, max_examples=150)
settings.register_profile("deep", _PROFILE, print_blob=True, max_examples=5000)
settings.load_profile("quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes the golden texts again."""
    parser.addoption("--update-golden", action="store_true", help="write the golden texts of tests/golden again")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of a deep run, unless the command line has one."""
    if config.getoption("--hypothesis-profile") == "deep" and config.getoption("--hypothesis-seed") is None:
        # workers of pytest-xdist get the seed with the options of the first process
        config.option.hypothesis_seed = str(secrets.randbits(32))


def pytest_report_header(config: pytest.Config) -> str | None:
    """Print the seed, with which --hypothesis-seed repeats a deep run."""
    seed = config.getoption("--hypothesis-seed")
    return None if seed is None else f"random tests: --hypothesis-profile=deep --hypothesis-seed={seed}"


def pytest_collection_finish() -> None:
    """Take what was collected out of the collector's sight: it would look at twenty thousand tests each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Device:
    """The in-process device without float64, known while the test runs."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(LIMITED, _open_limited)
    return Device(LIMITED)


@pytest.fixture
def portable(monkeypatch: pytest.MonkeyPatch) -> Device:
    """The wgpu device with no more than every GPU has, known while the test runs."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(PORTABLE, _open_portable)
    return Device(PORTABLE)


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest, limited: Device) -> Iterator[Device]:
    """A device, which is also the default one while the test runs."""
    with xp.using(device=request.param):
        yield Device(request.param)


#: Folders of tests about plans, what runs them, and what is read from devices; others evaluate small graphs directly.
_PLANNED = frozenset(("codegen", "diagnostics", "fusion", "golden", "graph", "properties", "providers", "runtime"))


@pytest.fixture(autouse=True)
def _planned(request: pytest.FixtureRequest) -> Iterator[None]:
    """Make a plan for every evaluation, however small, in tests of plans."""
    if request.path.parent.name not in _PLANNED:
        yield
        return
    with xp.using(direct_limit=0):
        yield


@pytest.fixture
def planned() -> Iterator[None]:
    """Record every operation and make a plan for every evaluation, in a test of graphs outside of these folders."""
    with xp.using(direct_limit=0):
        yield


@pytest.fixture
def compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels take no time to compile, so that on "auto" the host need not compute meanwhile."""
    monkeypatch.setattr(auto, "_COMPILING", 0.0)


@pytest.fixture
def nothing_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the plans and the programs of steps in a test, so that it generates code itself."""
    monkeypatch.setattr(plans, "_plans", plans.Plans())
    monkeypatch.setattr(prepared, "_known", WeakValueDictionary())
    monkeypatch.setattr(prepared, "_templates", WeakKeyDictionary())


@pytest.fixture(autouse=True)
def _fresh_counters() -> None:
    xp.reset_stats()


@pytest.fixture(autouse=True)
def _no_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin each test like a program, whose calls on the host have not yet cost what a trial of a device costs."""
    monkeypatch.setattr(trials, "_lost", 0.0)
    monkeypatch.setattr(trials, "_failures", 0)
    for take in trials.computed_by:
        take()
    if recording.midsize:
        xp.config.record_midsize(False)
