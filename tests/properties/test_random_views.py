"""Random programs of views and in-place updates: what aliases in NumPy aliases here, and every write is seen alike."""

import warnings

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_views import Program

import gpuarray as xp


def check(seed: int, device: str) -> None:
    """Run one random program on both sides and compare all live arrays, after each step or at the end."""
    # steps that follow each other unread stay pending together, which is what most code does
    each_step = seed % 2 == 0
    with np.errstate(all="ignore"), warnings.catch_warnings(), xp.using(fuse=seed % 5 != 0, verify=seed % 3 == 0):
        warnings.simplefilter("ignore")
        program = Program(seed, device)
        for _ in range(3 + seed % 10):
            try:
                program.step()
            except Exception as error:
                lines = "\n".join(program.lines)
                raise AssertionError(f"seed {seed} on {device}: {program.current}\nafter\n{lines}") from error
            if each_step:
                program.check(f"seed {seed} on {device}")
        program.check(f"seed {seed} on {device}")


@pytest.mark.parametrize("device", ["cpu", "wgpu"])
@settings(phases=[Phase.generate])  # a case is a seed: nothing shrinks
@given(seed=st.integers(0, 2**48))
def test_random_views(device: str, seed: int) -> None:
    check(seed, device)
