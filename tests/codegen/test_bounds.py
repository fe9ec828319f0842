"""No index of a generated kernel is out of bounds, whatever positions a buffer holds: kernels run without checks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.array import wrap
from gpuarray.codegen import emit, scatters
from gpuarray.codegen.programs import Program
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import CopyStep
from gpuarray.graph import build

OUTSIDE = np.array([0, -1, 99, 100, 1 << 30, (1 << 31) - 1, 5], np.int32)
INSIDE = (OUTSIDE >= 0) & (OUTSIDE < 100)


def on_device(values: np.ndarray[Any, Any]) -> Any:
    return xp.asarray(values, device="wgpu")


def test_a_program_says_that_its_indices_are_in_range() -> None:
    program = emit.emit(CopyStep(np.dtype("f4"), 1000), Capabilities(adapter="any"))
    assert program.in_range
    unknown = replace(program.launches[0], source="// written by hand\n")
    assert not unknown.in_range
    assert not Program((*program.launches, unknown)).in_range


@pytest.mark.wgpu
@pytest.mark.parametrize("dtype", ["float32", "uint8", "int16", "complex64"])
def test_a_gather_beyond_the_end_reads_the_last_element(dtype: str) -> None:
    source = np.arange(1, 101).astype(dtype)
    taken = wrap(build.gather(on_device(source).node(), on_device(OUTSIDE).node()), on_device(source).device)
    result = np.asarray(taken + 0)
    np.testing.assert_array_equal(result, source[np.where(INSIDE, OUTSIDE, 99)])


@pytest.mark.wgpu
@pytest.mark.parametrize("way", ["direct", "sorted", "sparse"])
def test_a_scatter_beyond_the_end_is_dropped(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "sorted":
        monkeypatch.setattr(scatters, "_should_sort", lambda step, _: step.extent <= 16 * step.count)
    extent = 10_000 if way == "sparse" else 100
    outside = np.where(INSIDE, OUTSIDE, np.maximum(OUTSIDE, extent).astype(np.int32))
    target = on_device(np.zeros(extent, np.float32))
    written = build.scatter(target.node(), on_device(np.ones(7, np.float32)).node(), on_device(outside).node())
    expected = np.zeros(extent, np.float32)
    expected[OUTSIDE[INSIDE]] = 1
    np.testing.assert_array_equal(np.asarray(wrap(written, target.device)), expected)
