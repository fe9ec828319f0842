"""Settings of the tests of the benchmarks: every graph and plan is checked against its invariants."""

from collections.abc import Iterator

import pytest

import gpuarray as xp

xp.config.verify = True
xp.config.direct_pinned = False


@pytest.fixture(autouse=True)
def _fresh_counters() -> None:
    xp.reset_stats()


@pytest.fixture(autouse=True)
def _planned() -> Iterator[None]:
    """Make a plan for every evaluation, however small: the benchmarks' sizes are reduced here."""
    with xp.using(direct_limit=0):
        yield
