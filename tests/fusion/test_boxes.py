"""Writes to boxes that are selected where they are read, instead of being stored."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.fusion.boxes import Side, box_of
from gpuarray.graph.layouts import Layout
from gpuarray.providers import registry
from gpuarray.providers.inprocess.provider import InProcessProvider, default_capabilities

#: An in-process device on which boxes are selected as on a GPU.
SELECTING = "cpuboxes"


def _open(number: int, **profile: int) -> InProcessProvider:
    known = default_capabilities()
    known = replace(known, profile=replace(known.profile, selects_boxes=True, **profile))
    return InProcessProvider(Device(SELECTING), capabilities=known)


@pytest.fixture(params=[SELECTING, pytest.param("wgpu", marks=pytest.mark.wgpu)])
def selecting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The default device, one on which boxes are selected."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(SELECTING, _open)
    with xp.using(device=request.param):
        yield


def padded(a: Any, boxes: list[Any]) -> Any:
    """Return a sum of functions of boxes, each in an array of zeros, and of arrays with one number in a box."""
    total = a * 2
    for number, (first, second) in enumerate(pairwise(boxes)):
        zeros = np.zeros_like(a)
        zeros[first] = np.sin(a[first]) * (number + 0.5)
        tripled = a * 3
        tripled[second] = 1.5
        total = (total + zeros) * tripled + tripled
    part = total[boxes[0]] * 2
    inner = np.zeros_like(part)
    if part.ndim:
        inner[..., 1:] = part[..., :-1]
    outer = np.zeros_like(a)
    outer[boxes[0]] = inner
    return total + outer


def test_selected_boxes_have_the_values_of_stored_ones(selecting: None) -> None:
    for trial in range(8):
        random = np.random.default_rng(trial)
        shape = tuple(map(int, random.integers(2, 7, random.integers(1, 4))))
        host = random.standard_normal(shape)

        def box(shape: tuple[int, ...] = shape, random: Any = random) -> tuple[Any, ...]:
            sides: list[Any] = []
            for n in shape:
                start = int(random.integers(0, n))
                sides.append(start if random.random() < 0.2 else slice(start, int(random.integers(start + 1, n + 1))))
            return tuple(sides)

        boxes = [box() for _ in range(4)]
        np.testing.assert_allclose(padded(xp.asarray(host), boxes), padded(host, boxes), rtol=1e-12, atol=1e-12)


def test_the_transpose_of_a_stencil_is_one_launch(selecting: None) -> None:
    def step(u: Any) -> Any:
        u = u.copy()
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        return u

    random = np.random.default_rng(0)
    start, seed = random.standard_normal((2, 20, 30))
    y, pullback = xp.vjp(step, xp.asarray(start))
    assert len(xp.explain(y).steps) == 1
    (found,) = pullback(xp.asarray(seed))
    assert len(xp.explain(found).steps) == 1
    unit = random.standard_normal((20, 30))
    np.testing.assert_allclose(np.sum(step(unit) * seed), np.sum(unit * found.get()), rtol=1e-9)


@pytest.mark.parametrize("launch", [1 << 27, 0])
def test_steps_of_a_stencil_share_a_launch_that_takes_longer(launch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(u: Any) -> Any:
        u = u.copy()
        for _ in range(8):
            u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        return u

    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    name = f"launching{launch}"
    registry.register(name, lambda number: _open(number, recompute_limit=32, launch_operations=launch))
    host = np.random.default_rng(0).standard_normal((20, 30))
    with xp.using(device=name, direct_limit=0):
        made = run(xp.asarray(host))
        steps = len(xp.explain(made).steps)
        assert steps == 3 if launch else steps > 3
        np.testing.assert_array_equal(made.get(), run(host))


def test_small_writes_to_kept_arrays_stay_in_place() -> None:
    with xp.using(device="cpu"):
        x = xp.zeros(100) + np.ones(100)
        for place in range(5):
            x[place] = 7
        assert "not_negative" not in str(xp.explain(x, stage="plan"))


def test_boxes_are_told_from_other_regions() -> None:
    assert box_of(Layout((2, 3), (5, 1), 6), (4, 5)) == (Side(0, 1, 2), Side(1, 1, 3))
    assert box_of(Layout((3,), (1,), 7), (4, 5)) == (Side(None, 1, 1), Side(0, 2, 3))
    assert box_of(Layout((2,), (6,), 0), (4, 5)) is None  # a diagonal
    assert box_of(Layout((2, 2), (10, 1), 0), (4, 5)) is None  # every other row
    assert box_of(Layout((4,), (1,), 3), (4, 5)) is None  # passes to the next row
