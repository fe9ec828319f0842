"""What derivatives launch and move on a large GPU, which plans tell without one: a pass over memory too many shows."""

from fractions import Fraction
from typing import NamedTuple

import pytest

from bench import plans
from bench.workloads import TOPICS, Workload
from gpuarray.providers import registry


class Most(NamedTuple):
    """Launches, and bytes read and written relative to inputs once and outputs once, at most."""

    launches: int
    share: float


DERIVATIVES = {
    "gradient-chain": Most(2, 1.01),
    "gradient-cross-entropy": Most(2, 1.01),
    "training-step": Most(5, 1.97),
    "gradient-heat-100": Most(202, 0.69),
    "hessian-vector": Most(3, 1.34),
    "jacobians-10000": Most(2, 1.56),
    "gradients-10000": Most(2, 2.51),
    "chain-1000": Most(1, 1.01),
    "gradient-chain-1000": Most(1, 1.01),
}


@pytest.mark.parametrize(
    "workload", [w for w in TOPICS["derivatives"] if isinstance(w, Workload)], ids=lambda w: w.name
)
@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "jit"])
def test_derivatives_launch_and_move_no_more(
    workload: Workload, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))  # the provider of plans is none of users
    most = DERIVATIVES[workload.name]
    result = plans.counts(workload, Fraction(1, 4), compiled=compiled)
    assert 0 < result.launches <= most.launches
    assert 0 < result.share <= most.share
