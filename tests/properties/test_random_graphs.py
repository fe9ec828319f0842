"""Random expression graphs: fused, unfused and NumPy agree, to the bit or within the rounding that is promised."""

import warnings
from typing import Any

import bounds
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from random_graphs import Graph

import gpuarray as xp
from gpuarray.settings import Config

SEEDS = st.integers(0, 2**48)


def check(seed: int, device: str) -> None:
    """Compare one random program, evaluated with and without fusion, and without plans where possible, with NumPy."""
    ways: list[dict[str, Any]] = [{"fuse": True}, {"fuse": False}]
    if device == "cpu":
        ways.append({"direct_limit": Config().direct_limit})
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = Graph(seed)
        for way in ways:
            # kernels are compiled with and without checks of indices
            with xp.using(**way, verify=seed % 2 == 0):
                arrays = graph.record(lambda leaf: xp.asarray(leaf, device=device))
                xp.evaluate(*(arrays[number] for number in graph.wanted))
                for number in graph.wanted:
                    compare(graph, number, arrays[number], f"seed {seed} on {device}, {way}")


def compare(graph: Graph, number: int, array: Any, what: str) -> None:
    value = graph.values[number]
    actual = np.asarray(array)
    assert actual.shape == value.array.shape, f"{what}: shape of\n{graph.text(number)}"
    assert actual.dtype == value.array.dtype, f"{what}: dtype {actual.dtype} of\n{graph.text(number)}"
    places = bounds.mismatches(actual, value)
    if places.size:
        shown = [
            f"[{p}] {actual.flat[p]!r}, NumPy has {value.array.flat[p]!r}, slack {value.slack.flat[p]:.3g}"
            for p in places[:5]
        ]
        pytest.fail(
            f"{what}: {places.size} of {actual.size} elements of %{number} differ\n"
            f"{graph.text(number)}\n" + "\n".join(shown),
            pytrace=False,
        )


@pytest.mark.parametrize("device", ["cpu", "cpuf32", "wgpu"])
@pytest.mark.usefixtures("limited")  # the device without float64, whose steps come in turn with the host's
@settings(phases=[Phase.generate])  # a case is a seed: nothing shrinks
@given(seed=SEEDS)
def test_random_graphs(device: str, seed: int) -> None:
    check(seed, device)


def test_bounds_are_tight() -> None:
    """Most elements must be NumPy's to the bit, or the comparison would say little."""
    certain = rounded = lost = 0
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(300):
            graph = Graph(seed)
            for number in graph.wanted:
                slack = graph.values[number].slack
                share = 1 / max(slack.size, 1)
                certain += float((slack <= bounds.TINY).sum()) * share
                rounded += float(((slack > bounds.TINY) & np.isfinite(slack)).sum()) * share
                lost += float(np.isinf(slack).sum()) * share
    total = certain + rounded + lost
    assert certain > 0.5 * total
    assert lost < 0.25 * total
