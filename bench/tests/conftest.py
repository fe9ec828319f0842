"""Settings of the tests of the benchmarks: every graph and plan is checked against its invariants."""

import pytest

import gpuarray as xp

xp.config.verify = True


@pytest.fixture(autouse=True)
def _fresh_counters() -> None:
    xp.reset_stats()
