"""Random programs on the device "auto", whose steps are placed at random: where a step runs changes no result."""

import random

import pytest
import test_random_graphs
import test_random_views
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.providers import registry
from gpuarray.runtime import places
from gpuarray.runtime.placement import auto, decisions
from gpuarray.runtime.placement.rates import DEVICE_DEFAULTS, HOST_DEFAULTS


@pytest.fixture(scope="module", autouse=True)
def at_random():
    """Draw the place of each step; those that write one value stay together."""
    pick = random.Random(0)

    def decided(prepared, leaves, provider, *, is_read):
        group = list(range(len(prepared.plan.steps)))
        writer = {}
        for number, planned in enumerate(prepared.plan.steps):
            for output in planned.outputs:
                group[number] = group[writer.setdefault(output, number)]
        where = {}
        for number, step in enumerate(prepared.pinned.steps):
            drawn = pick.choice((decisions.HOST, decisions.DEVICE))
            where.setdefault(group[number], drawn)
            if step.decision.is_fallback:
                where[group[number]] = decisions.HOST
        # savings make operands travel to the host or to the device now and then
        savings = pick.choice(((0, 0), (0, 0), (10**6, 0), (0, 10**6)))
        return [decisions.Decision(where[g], decisions.Reason.MODEL) for g in group], savings

    gpu, host = registry.open_device(Device("wgpu")), places.host()
    with pytest.MonkeyPatch.context() as patch, xp.using(software=True):
        auto.set_rates(gpu, DEVICE_DEFAULTS)
        auto.set_rates(host, HOST_DEFAULTS)
        patch.setattr(auto, "_decided", decided)
        yield
        auto.set_rates(gpu, None)
        auto.set_rates(host, None)


@settings(phases=[Phase.generate])
@given(seed=st.integers(0, 2**48))
def test_graphs(seed):
    test_random_graphs.check(seed, "auto")


@settings(phases=[Phase.generate])
@given(seed=st.integers(0, 2**48))
def test_views(seed):
    test_random_views.check(seed, "auto")
