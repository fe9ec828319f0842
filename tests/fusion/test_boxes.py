"""Writes to boxes, and concatenations, that are selected where they are read, instead of being stored."""

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
    (result,) = pullback(xp.asarray(seed))
    assert len(xp.explain(result).steps) == 1
    unit = random.standard_normal((20, 30))
    np.testing.assert_allclose(np.sum(step(unit) * seed), np.sum(unit * result.get()), rtol=1e-9)


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


def rolled(np: Any, a: Any, random: Any) -> Any:
    """Return a sum of functions of parts of an array that are rolled, and joined with others."""
    total, kept = a * 2, []
    for _ in range(5):
        axis = int(random.integers(a.ndim))
        source = total if random.random() < 0.3 else a
        shift = int(random.integers(-2 * a.shape[axis], 2 * a.shape[axis]))
        moved = np.roll(source, shift, axis)
        if random.random() < 0.5:
            moved = np.roll(moved, int(random.integers(5)), int(random.integers(a.ndim)))
        if random.random() < 0.3:
            moved = np.roll(moved.T, 1)[::-1].T
        first, last = sorted(random.integers(0, a.shape[axis] + 1, 2).tolist())
        at = (slice(None),) * axis
        parts = [
            moved[(*at, slice(last, None))],
            a[(*at, slice(first, last))] * 3,
            np.zeros_like(a)[(*at, slice(first))],
        ]
        total = np.concatenate(parts, axis=axis)[(*at, slice(None, None, -1))] + np.sin(moved)
        kept.append(moved[(*at, slice(1, None))] * 0.5)
    return [total, *kept, np.sum(np.roll(total, 1, 0) * total, axis=0)]


def test_selected_parts_have_the_values_of_stored_ones(selecting: None) -> None:
    for trial in range(12):
        shape = tuple(map(int, np.random.default_rng(trial).integers(1, 7, trial % 3 + 1)))
        host = np.random.default_rng(trial).standard_normal(shape)
        for result, known in zip(
            rolled(xp, xp.asarray(host), np.random.default_rng(trial)),
            rolled(np, host, np.random.default_rng(trial)),
            strict=True,
        ):
            np.testing.assert_allclose(result.get(), known, rtol=1e-12, atol=1e-12)


def test_a_step_of_rolls_is_one_launch(selecting: None) -> None:
    x = xp.asarray(np.random.default_rng(0).standard_normal((20, 30)))
    y = sum(xp.roll(xp.roll(x, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1)) * 0.1
    assert len(xp.explain(y).steps) == 1
    assert len(xp.explain(xp.roll(x, 3, 0)).steps) == 1
    assert len(xp.explain(xp.concatenate([x, x[:3] * 2], axis=0) + 1).steps) == 1


def test_what_takes_long_to_compute_is_not_computed_for_elements_of_others(selecting: None) -> None:
    x = xp.asarray(np.random.default_rng(0).standard_normal((20, 30)))
    heavy = xp.concatenate([xp.sin(x), xp.cos(x) * 2, xp.tanh(x)], axis=1)
    assert "not_negative" not in str(xp.explain(heavy + 1, stage="plan"))
    many = xp.concatenate([x, x, x, x, x, x], axis=1)
    assert "not_negative" not in str(xp.explain(many + 1, stage="plan"))


def test_rolls_of_rows_that_move_have_few_plans(selecting: None) -> None:
    host = np.random.default_rng(0).standard_normal((30, 16))
    x = xp.asarray(host)
    before = xp.stats()["plans"]
    for row in range(30):
        result = (np.roll(x[row], 3) * 2).get()
        np.testing.assert_array_equal(result, np.roll(host[row], 3) * 2)
    assert xp.stats()["plans"] - before <= 5


def test_parts_beyond_what_is_read_are_left_out(selecting: None) -> None:
    x = xp.asarray(np.random.default_rng(0).standard_normal((20, 30)))
    part = xp.roll(x, 2, 0)[5:]
    assert "not_negative" not in str(xp.explain(part + 1, stage="plan"))


def test_small_writes_to_kept_arrays_stay_in_place() -> None:
    with xp.using(device="cpu"):
        x = xp.zeros(100) + np.ones(100)
        for place in range(5):
            x[place] = 7
        assert "not_negative" not in str(xp.explain(x, stage="plan"))


@pytest.mark.wgpu
def test_cuts_of_a_loop_have_the_plans_of_its_last_run() -> None:
    def run(parts: Any) -> Any:
        for _ in range(6):
            moved = [np.roll(np.roll(part, n, 0), -n, 1) for n, part in enumerate(parts)]
            mean = sum(moved) / 9
            parts = [part + 0.3 * (mean - part) for part in moved]
        return sum(parts)

    host = [np.random.default_rng(n).standard_normal((16, 16)).astype(np.float32) for n in range(9)]
    with xp.using(device="wgpu"):
        for _ in range(2):
            result = run([xp.asarray(part) for part in host]).get()
        plans = xp.stats()["plans"]
        for _ in range(3):
            np.testing.assert_array_equal(run([xp.asarray(part) for part in host]).get(), result)
        assert xp.stats()["plans"] == plans


def test_boxes_are_told_from_other_regions() -> None:
    assert box_of(Layout((2, 3), (5, 1), 6), (4, 5)) == (Side(0, 1, 2), Side(1, 1, 3))
    assert box_of(Layout((3,), (1,), 7), (4, 5)) == (Side(None, 1, 1), Side(0, 2, 3))
    assert box_of(Layout((2,), (6,), 0), (4, 5)) is None  # a diagonal
    assert box_of(Layout((2, 2), (10, 1), 0), (4, 5)) is None  # every other row
    assert box_of(Layout((4,), (1,), 3), (4, 5)) is None  # passes to the next row
