"""The verifier of plans finds what is wrong with a step."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpuarray import dtypes
from gpuarray.device import Capabilities
from gpuarray.errors import InternalError
from gpuarray.fusion.plan import Plan
from gpuarray.fusion.planner import make_plan
from gpuarray.fusion.steps import FULL, CopyStep, Loop
from gpuarray.fusion.verify import check_plan
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.graph.walk import merge, topological
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators, reductions


def planned() -> tuple[Plan, list[Node]]:
    """Return the plan of a reduction over columns, and of what uses it in rows."""
    x = host_leaf(np.ones((40, 30), np.float32))
    columns = build.reduce(reductions.max, x, 0, None, True)
    expected = build.elementwise(ops.subtract, x, columns)
    nodes, position, *_ = merge(topological([expected]))
    return make_plan(nodes, position, {position[expected]}, Capabilities(adapter="test")), nodes


def loop_of(plan: Plan, number: int) -> Loop:
    loop = plan.steps[number].step
    assert isinstance(loop, Loop)
    return loop


def with_loop(plan: Plan, **changes: Any) -> Plan:
    first = plan.steps[0]
    return replace(plan, steps=(replace(first, step=replace(loop_of(plan, 0), **changes)), *plan.steps[1:]))


def with_load(plan: Plan, **changes: Any) -> Plan:
    first, *rest = loop_of(plan, 0).instructions
    return with_loop(plan, instructions=(replace(first, **changes), *rest))


WRONG: dict[str, Callable[[Plan], Plan]] = {
    "steps out of order": lambda p: replace(p, steps=p.steps[::-1]),
    "a step that is missing": lambda p: replace(p, steps=p.steps[:1]),
    "a step that reads what it writes": lambda p: replace(
        p, steps=(*p.steps[:1], replace(p.steps[1], inputs=p.steps[1].outputs * 2))
    ),
    "a load out of bounds": lambda p: with_load(p, layout=Layout((30, 40), (1, 30), 1)),
    "a layout of another space": lambda p: with_load(p, layout=Layout((1200,), (1,), 0)),
    "a load at another level": lambda p: with_load(p, level=1),
    "a wrong extent": lambda p: with_load(p, extent=1201),
    "phases that do not fit": lambda p: with_loop(p, phases=(1,) * len(loop_of(p, 0).phases)),
    "a place that is no integer": lambda p: with_loop(
        p, stores=tuple(replace(s, position=0) for s in loop_of(p, 0).stores)
    ),
    "a store of a row for each element": lambda p: with_loop(
        p, stores=tuple(replace(s, level=FULL) for s in loop_of(p, 0).stores)
    ),
    "a shared buffer that is a result's": lambda p: replace(p, slots={p.results[0][1]: 0}, slot_bytes=(4800,)),
    "a buffer that is too small": lambda p: replace(p, slot_bytes=tuple(n - 1 for n in p.slot_bytes)),
}


def test_a_plan_is_right() -> None:
    plan, nodes = planned()
    assert len(plan.steps) == 2
    check_plan(plan, nodes)


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_found(what: str) -> None:
    plan, nodes = planned()
    with pytest.raises(InternalError, match="an invariant does not hold"):
        check_plan(WRONG[what](plan), nodes)


def updated() -> tuple[Plan, list[Node]]:
    """Return the plan of a write to a region whose values are made of what was there."""
    x = host_leaf(np.ones(40, np.float32))
    region = Layout((10,), (2,), 5)
    expected = build.scatter(x, build.elementwise(ops.add, build.view(x, region), 1.0), region)
    nodes, position, *_ = merge(topological([expected]))
    return make_plan(nodes, position, {position[expected]}, Capabilities(adapter="test")), nodes


def with_update(plan: Plan, **changes: Any) -> Plan:
    copy, last = plan.steps
    return replace(plan, steps=(copy, replace(last, step=replace(loop_of(plan, 1), **changes))))


def test_an_update_reads_what_it_writes_there_only_or_what_it_does_not_write() -> None:
    plan, nodes = updated()
    check_plan(plan, nodes)
    assert plan.donors == {0}
    assert loop_of(plan, 1).updates == ((0, 0),)
    with pytest.raises(InternalError, match="does not read what else it writes"):
        check_plan(with_update(plan, updates=()), nodes)
    first, *rest = loop_of(plan, 1).instructions
    beside = replace(first, layout=Layout((10,), (2,), 6))
    check_plan(with_update(plan, instructions=(beside, *rest)), nodes)
    moved = replace(first, layout=Layout((10,), (2,), 7))
    with pytest.raises(InternalError, match="reads the elements that it updates"):
        check_plan(with_update(plan, instructions=(moved, *rest)), nodes)


def test_what_is_copied_only_to_be_written_to_is_made_there() -> None:
    source = build.generate(generators.arange, (0, 1), (40,), dtypes.float32)
    first = build.scatter(source, build.full((), 5, dtypes.float32), Layout((3,), (1,), 2))
    second = build.scatter(first, build.full((), 7, dtypes.float32), Layout((4,), (2,), 9))
    nodes, position, *_ = merge(topological([second]))
    plan = make_plan(nodes, position, {position[second]}, Capabilities(adapter="test"))
    check_plan(plan, nodes)
    assert {step.outputs for step in plan.steps} == {(position[second],)}
    assert len(plan.steps) == 3
    both = make_plan(nodes, position, {position[second], position[first]}, Capabilities(adapter="test"))
    assert sum(isinstance(step.step, CopyStep) for step in both.steps) == 1
    assert not both.donors
