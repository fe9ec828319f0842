"""The cost model: one unit, and the work that rows declare."""

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.fusion import costs
from gpuarray.fusion.steps import Step
from gpuarray.graph import build
from gpuarray.graph.nodes import host_leaf
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators
from gpuarray.ops.columns import Work
from gpuarray.ops.spec import OPS, CallOp
from gpuarray.runtime import plans


def step_of(array: xp.GpuArray) -> Step:
    planned = plans.plan_of((array.node(),), array.device)
    assert planned is not None
    return planned[0].plan.steps[0].step


def vector(size: int, dtype: str = "float32") -> xp.GpuArray:
    return xp.asarray(np.ones(size, dtype), device="cpu")


def test_the_cost_of_a_node_is_that_of_its_operation():
    leaf = host_leaf(np.ones(3, np.float32))
    assert costs.of_node(build.elementwise(ops.exp, leaf)) == ops.exp.cost
    assert costs.of_node(build.full((), 1.0, dtypes.float32)) == generators.full.cost == 0
    assert costs.of_node(leaf) == 0


def test_wide_and_complex_arithmetic_is_more_operations():
    result = [costs.cost(step_of(vector(10, name) + vector(10, name))).operations for name in ("f4", "f8", "c8", "c16")]
    assert result == [10, 20, 80, 320]


@pytest.mark.parametrize("name", [row.name for row in OPS.values() if isinstance(row, CallOp)])
def test_calls_declare_their_work(name):
    row = OPS[name]
    assert isinstance(row, CallOp)
    assert isinstance(row.work, Work)
    few, many = (row.cost(((1, n, n), (n,)), ((1, n, n),)) for n in (8, 64))
    assert 0 < few < many


def test_steps_say_what_their_time_is_spent_on():
    x = vector(1 << 10)
    assert costs.cost(step_of(xp.sort(x))).work == ((Work.SORT, 10 << 10),)
    assert costs.cost(step_of(xp.cumulative_sum(x))).work == ((Work.SCAN, 1 << 10),)
    assert costs.cost(step_of(x.reshape(32, 32) @ x.reshape(32, 32))).work == ((Work.PRODUCT, 2 * 32**3),)
    assert costs.cost(step_of(x + 1)).work == ()
