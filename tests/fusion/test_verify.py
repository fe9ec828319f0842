"""The verifier of plans finds what is wrong with a step."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpuarray.device import Capabilities
from gpuarray.errors import InternalError
from gpuarray.fusion.plan import Plan, make_plan
from gpuarray.fusion.steps import FULL, Loop
from gpuarray.fusion.verify import check_plan
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.graph.walk import merge, topological
from gpuarray.ops import elementwise as rows
from gpuarray.ops import reductions


def planned() -> tuple[Plan, list[Node]]:
    """Return the plan of a reduction over columns, and of what uses it in rows."""
    x = host_leaf(np.ones((40, 30), np.float32))
    columns = build.reduce(reductions.max, x, 0, None, True)
    wanted = build.elementwise(rows.subtract, x, columns)
    nodes, position, *_ = merge(topological([wanted]))
    return make_plan(nodes, position, {position[id(wanted)]}, Capabilities(adapter="test")), nodes


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
