"""What planning costs: passes over the graph, and that what is tried with a loop leaves no trace."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.adapter_profile import AdapterProfile
from gpuarray.device import Capabilities, Device
from gpuarray.fusion import limits
from gpuarray.fusion.graphs import view_graph
from gpuarray.fusion.loop_builder import LoopBuilder
from gpuarray.fusion.lowering import Lowering
from gpuarray.fusion.planner import Planner, make_plan
from gpuarray.fusion.step_texts import loop_text
from gpuarray.fusion.steps import Loop
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.graph.walk import topological
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions


def test_passes_do_not_grow_with_the_values_that_must_be_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = 0
    group = Planner.group

    def counted(own: Planner) -> bool:
        nonlocal passes
        passes += 1
        return group(own)

    monkeypatch.setattr(Planner, "group", counted)
    host = np.arange(12.0).reshape(3, 4)
    x = xp.asarray(host, device="cpu")
    for _ in range(30):  # no layout says what a turned and reshaped value is: each must be stored
        host = (host * 0.5 + 1).T.reshape(3, 4)
        x = (x * 0.5 + 1).T.reshape(3, 4)
    np.testing.assert_array_equal(np.asarray(x), host)
    assert passes <= 3


def test_what_was_tried_with_a_loop_leaves_no_trace() -> None:
    source = build.host_node(np.ones((3, 4)))
    doubled = build.binary(ops.add, source, source)
    total = build.reduce(reductions.sum, doubled, (1,))
    root = build.unary(ops.sqrt, total)
    walk = topological([doubled, root])
    first, fold, last = (walk.position[node] for node in (doubled, total, root))
    graph = view_graph(walk.order, walk.position, {first, fold, last})
    builder = LoopBuilder(graph, (3, 4), None)
    builder.make_elementwise(first)
    before = loop_text(builder.finish(set()))
    mark = builder.mark()
    builder.adopt_axes((1,))
    builder.make(fold)
    builder.make_row_value(last)
    assert len(builder.folds) == 1
    assert loop_text(builder.finish(set())) != before
    builder.restore(mark)
    assert loop_text(builder.finish(set())) == before
    assert (builder.axes, builder.folds, builder.length) == (None, [], len(builder.instructions))
    assert builder.outer == ()


@pytest.mark.parametrize(("launch", "folds", "steps"), [(1 << 20, True, 1), (1 << 10, True, 2), (1 << 10, False, 1)])
def test_what_leads_to_pairs_is_stored_where_that_takes_less(launch: int, folds: bool, steps: int) -> None:
    places, speeds = (build.host_node(np.ones(100, np.float32)) for _ in range(2))
    moved = build.binary(ops.add, places, speeds)
    across, down = (build.view(moved, Layout((100, 100), strides, 0)) for strides in ((0, 1), (1, 0)))
    root = build.binary(ops.multiply, across, down)
    if folds:  # otherwise it is memory that takes the time
        root = build.reduce(reductions.sum, root, (1,))
    walk = topological([root])
    capabilities = Capabilities(adapter="a device", profile=AdapterProfile(launch_operations=launch))
    plan = make_plan(walk.order, walk.position, {walk.position[root]}, capabilities)
    assert len(plan.steps) == steps


def option(levels: int) -> Any:
    """Each level reads the one below at two offsets."""
    value, price = xp.linspace(0, 50, 131), xp.linspace(50, 150, 131)
    for _ in range(levels):
        value = 0.99 * (0.5 * value[:-1] + 0.5 * value[1:])
        price = price[:-1] * 1.01
        value = xp.maximum(value, 100 - price)
    return value


def normalised(levels: int) -> Any:
    """Each level reads the one below before and after a fold."""
    x = xp.ones((8, 128), xp.float32)
    for level in range(levels):
        x = xp.exp(x - xp.max(x, axis=1, keepdims=True))
        x = x / xp.sum(x, axis=1, keepdims=True) + level
    return x


def count_lowered(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return a counter of the values that plans lower from now on."""
    counted: Counter[str] = Counter()

    def counting(function: Any) -> Any:
        def count(*given: Any) -> Any:
            counted["lowered"] += 1
            return function(*given)

        return count

    for name in ("_emit", "_stored"):
        monkeypatch.setattr(Lowering, name, counting(getattr(Lowering, name)))
    return counted


@pytest.mark.parametrize(("program", "levels"), [(option, 40), (option, 60), (normalised, 15), (normalised, 60)])
def test_planning_takes_time_in_proportion_to_the_graph(
    monkeypatch: pytest.MonkeyPatch, program: Any, levels: int
) -> None:
    """Where values are read several times, what is lowered and computed does not grow faster than the graph."""
    counted = count_lowered(monkeypatch)
    with xp.using(pending_limit=10_000):
        root = program(levels).node()
    walk = topological([root])
    plan = make_plan(walk.order, walk.position, {walk.position[root]}, Capabilities(adapter="test"))
    assert counted["lowered"] <= 4 * len(walk.order)
    loops = [planned.step for planned in plan.steps if isinstance(planned.step, Loop)]
    assert sum(len(loop.instructions) for loop in loops) <= 3 * len(walk.order)
    assert len(plan.steps) <= levels + 4


def test_loops_that_are_cut_where_many_values_are_wanted_compute_each_once() -> None:
    """A value joins a long loop that computes the same operands, whatever its length alone would be."""
    values = [xp.asarray(np.ones(100), device="cpu")]
    with xp.using(pending_limit=10_000, direct_limit=0):
        for number in range(1000):
            values.append(values[-1] * 0.5 + values[max(0, number - 6)])
        root = values[-1].node()
    walk = topological([root])
    plan = make_plan(walk.order, walk.position, {walk.position[root]}, Capabilities(adapter="test"))
    loops = [planned.step for planned in plan.steps if isinstance(planned.step, Loop)]
    assert sum(len(loop.instructions) for loop in loops) <= 1.2 * len(walk.order)
    assert len(loops) <= 8


def test_what_many_operands_are_computed_from_is_looked_at_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    unions = 0
    union = limits._union

    def counted(one: Any, other: Any) -> Any:
        nonlocal unions
        unions += 1
        return union(one, other)

    monkeypatch.setattr(limits, "_union", counted)
    parts = [xp.asarray(np.full(20, float(number)), device="cpu") for number in range(800)]
    with xp.using(direct_limit=0):
        root = xp.concatenate([part * 2 + number for number, part in enumerate(parts)])
    np.testing.assert_array_equal(np.asarray(root), np.repeat(np.arange(800) * 3.0, 20))
    assert unions <= 24 * len(parts)


def test_stencils_of_stencils_give_the_same_values(device: Device) -> None:
    x = np.random.default_rng(0).random((40, 40)).astype(np.float32)

    def smoothed(namespace: Any, x: Any) -> Any:
        for _ in range(6):
            x = 0.25 * (x[1:-1, 1:-1] + x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:])
        return x - x.mean()

    with xp.using(verify=True):
        result = smoothed(xp, xp.asarray(x)).get()
    np.testing.assert_allclose(result, smoothed(np, x), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(("count", "is_stored"), [(1, False), (5, True)])
def test_values_that_several_loops_would_read_many_arrays_for_are_stored(count: int, is_stored: bool) -> None:
    arrays = [xp.asarray(np.full((64, 64), float(n)), device="cpu") for n in range(count)]
    with xp.using(direct_limit=0):
        value = arrays[0] * 0.5
        for other in arrays[1:]:
            value = value + other
        result = sum(np.roll(value, (n, n), (0, 1)) for n in range(1, 5))
        steps = xp.explain(result).steps
        expected = sum(range(1, count)) * 4.0
    reads = [step.text.count(" = load ") for step in steps[:-1]]
    assert (max(reads) == count and sum(n == count for n in reads) == 1) == is_stored
    assert np.array_equal(np.asarray(result), np.full((64, 64), expected))
