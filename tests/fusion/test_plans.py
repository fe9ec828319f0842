"""How many passes over memory expressions take, in stated numbers, and what makes a device compile again."""

from typing import Any

import numpy as np
import pytest
from support import capabilities_of

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.fusion import single_steps

ROWS, COLUMNS = 300, 400


@pytest.fixture(params=["cpu", "wgpu"])
def place(request: pytest.FixtureRequest) -> str:
    return request.param


def numbers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).random(shape, np.float32)


def on(place: str, host: np.ndarray[Any, Any]) -> xp.GpuArray:
    return xp.asarray(host, device=place)


def reads_of_leaves(explanation: Any) -> int:
    """Return how many steps read something that was there before."""
    made = {o for step in explanation.steps for o in step.outputs}
    return sum(1 for step in explanation.steps if set(step.inputs) - made)


# -- one launch -------------------------------------------------------------------------------------------------------


def chain(x: Any, row: Any, turned: Any, scalar: float) -> Any:
    """Thirty operations, with a broadcast row, a transposed operand, and scalars."""
    y = x
    for k in range(7):
        y = y * scalar + row
        y = np.sqrt(np.abs(y - turned.T)) + (scalar + k)
    return np.maximum(y, 0.5) - x


def operands(place: str, rows: int, columns: int) -> tuple[Any, Any, Any]:
    return (
        on(place, numbers(rows, columns)),
        on(place, numbers(columns, seed=1)),
        on(place, numbers(columns, rows, seed=2)),
    )


def test_a_chain_of_thirty_operations_is_one_launch_and_compiles_once(place: str) -> None:
    arrays = operands(place, ROWS, COLUMNS)
    explanation = xp.explain(chain(*arrays, 1.5))
    assert explanation.launches == 1
    assert len(explanation.steps) == 1
    assert sum(" = leaf" not in line and " = full" not in line for line in explanation.graph) >= 30
    assert len(explanation.steps[0].inputs) == 3
    xp.evaluate(chain(*arrays, 1.5))
    compiled = xp.stats()["compiles"]
    for scalar in (2.5, -1.0, 0.0, 1e9):
        result = chain(*arrays, scalar)
        xp.evaluate(result)
    assert xp.stats()["compiles"] == compiled
    xp.evaluate(chain(*operands(place, 124, 76), 3.0))
    assert xp.stats()["compiles"] == compiled
    # rows and columns whose lengths are not multiples of 4 all have the same access pattern, but another one
    xp.evaluate(chain(*operands(place, 123, 77), 3.0))
    compiled = xp.stats()["compiles"]
    xp.evaluate(chain(*operands(place, 121, 53), 3.0))
    assert xp.stats()["compiles"] == compiled
    host = [np.asarray(a) for a in arrays]
    np.testing.assert_allclose(np.asarray(chain(*arrays, 1.5)), chain(*host, 1.5), rtol=1e-6)


def test_scalars_change_no_plan(place: str) -> None:
    x = on(place, numbers(1000))
    xp.evaluate(x * 2.0 + 1.0)
    xp.reset_stats()
    for scalar in range(5):
        xp.evaluate(x * float(scalar) + 0.5)
    assert xp.stats()["plans"] == 0
    assert xp.stats()["compiles"] == 0
    assert xp.stats()["launches"] == 5


def test_several_results_of_one_shape_are_one_launch(place: str) -> None:
    x, y = on(place, numbers(ROWS, COLUMNS)), on(place, numbers(ROWS, COLUMNS, seed=1))
    explanation = xp.explain(x + y, x - y, np.exp(x * y))
    assert explanation.launches == 1
    assert len(explanation.steps[0].outputs) == 3


def test_views_cost_no_launch(place: str) -> None:
    x = on(place, numbers(ROWS, COLUMNS))
    blurred = (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, ::-1][:, 1:-1]) / 4
    explanation = xp.explain(blurred)
    assert explanation.launches == 1
    assert len(explanation.steps[0].inputs) == 1


def pulls(places: Any) -> Any:
    """Return what each of some places is pulled by."""
    return (places[None, :] - places[:, None]).sum(axis=1)


def test_what_a_fold_leads_to_is_not_computed_again_for_all_pairs(place: str) -> None:
    places, speeds = on(place, numbers(40)), on(place, numbers(40, seed=1))
    steps = xp.explain(pulls(places + 0.5 * (speeds + pulls(places)))).steps
    assert len(steps) == 2
    first, second = (sum(":f:" in line for line in step.text.splitlines()) for step in steps)
    assert first == second == 2


# -- reductions -------------------------------------------------------------------------------------------------------


def softmax(x: Any, axis: int) -> Any:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def test_softmax_over_rows_is_one_launch(place: str) -> None:
    explanation = xp.explain(softmax(on(place, numbers(ROWS, COLUMNS)), 1))
    assert explanation.launches == 1
    assert explanation.steps[0].text.startswith("loop 1+1")


def test_softmax_over_columns_reads_its_input_three_times(place: str) -> None:
    assert len(xp.explain(softmax(on(place, numbers(ROWS, COLUMNS)), 0)).steps) == 3


def layernorm(x: Any, gain: Any, shift: Any) -> Any:
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * gain + shift


def test_layernorm_over_rows_is_one_launch(place: str) -> None:
    gain, shift = on(place, numbers(COLUMNS, seed=1)), on(place, numbers(COLUMNS, seed=2))
    launches = 1 if capabilities_of(place).storage_bindings > 8 else 2
    assert xp.explain(layernorm(on(place, numbers(ROWS, COLUMNS)), gain, shift)).launches == launches


@pytest.mark.parametrize("size", [1000, 1_000_000])
def test_variance_passes_over_its_input_twice_at_most(place: str, size: int) -> None:
    explanation = xp.explain(on(place, numbers(size)).var())
    assert reads_of_leaves(explanation) <= 2
    assert len(explanation.steps) <= 2
    # parts of a long row, and what folds them, once a pass
    assert explanation.launches <= 4


def test_mean_squared_error_is_one_pass(place: str) -> None:
    x, y = on(place, numbers(1_000_000)), on(place, numbers(1_000_000, seed=1))
    explanation = xp.explain(((x - y) ** 2).mean())
    assert len(explanation.steps) == 1
    assert explanation.launches <= 2


def test_sum_and_maximum_of_one_array_are_one_pass(place: str) -> None:
    x = on(place, numbers(ROWS, COLUMNS))
    explanation = xp.explain(x.sum(), x.max())
    assert len(explanation.steps) == 1
    assert len(explanation.steps[0].inputs) == 1
    assert len(xp.explain(x.sum(axis=0), (x * 2).max(axis=0)).steps) == 1


def test_what_follows_a_reduction_joins_it(place: str) -> None:
    x, row = on(place, numbers(ROWS, COLUMNS)), on(place, numbers(COLUMNS, seed=1))
    explanation = xp.explain((x + 1).sum(axis=0) * 2 + row)
    assert len(explanation.steps) == 1


def test_what_follows_a_product_or_a_scan_joins_it(place: str) -> None:
    x, y = on(place, numbers(60, 70)), on(place, numbers(70, 80, seed=1))
    assert len(xp.explain((x @ y) * 2 + 1).steps) == 1
    assert len(xp.explain(np.cumsum(x, axis=1) * 2 + x).steps) == 1


def test_pieces_of_equal_shape_are_joined_in_one_launch(place: str) -> None:
    x, y = on(place, numbers(ROWS, COLUMNS)), on(place, numbers(ROWS, COLUMNS, seed=1))
    assert xp.explain(xp.concat([x + 1, y * 2])).launches == 1
    # a GPU selects what is small; in-process a copy is faster
    assert xp.explain(xp.concat([x + 1, y * 2, x[:7]])).launches == (1 if place == "wgpu" else 2)
    assert xp.explain(xp.stack([x, y, x - y], axis=-1)).launches == 1


# -- what is kept, and what costs nothing -----------------------------------------------------------------------------


def blurred(x: Any) -> Any:
    """The weighted mean of 5 x 5 neighbours: rows, then columns of what that gives."""
    weights = (1, 4, 6, 4, 1)
    rows = sum(w * x[k : x.shape[0] - 4 + k] for k, w in enumerate(weights))
    return sum(w * rows[:, k : x.shape[1] - 4 + k] for k, w in enumerate(weights))


def test_a_stencil_over_a_stencil_is_not_computed_again_for_each_neighbour(place: str) -> None:
    host = numbers(40, 50)
    x = on(place, host)
    thrice = blurred(blurred(blurred(x)))
    steps = xp.explain(thrice).steps
    assert 3 <= len(steps) <= 6
    assert max(len(step.text.splitlines()) for step in steps) < 120  # computed again, they would be thousands
    np.testing.assert_allclose(np.asarray(thrice), blurred(blurred(blurred(host))), rtol=1e-5)


def test_what_is_cheap_is_computed_again_for_each_neighbour() -> None:
    x = on("wgpu", numbers(40, 50))
    scaled = x * 2 + 1
    assert len(xp.explain(scaled[1:] - scaled[:-1]).steps) == 1
    assert len(xp.explain(blurred(x)).steps) == 1


def test_an_unread_array_costs_nothing(place: str) -> None:
    x = on(place, numbers(1000))
    xp.evaluate(x + 0)
    xp.reset_stats()
    for _ in range(10):
        _unread = np.exp(x) + x.sum()
    del _unread
    counts = xp.stats()
    assert counts["launches"] == counts["evaluations"] == 0


def test_reductions_that_a_user_holds_are_kept(place: str) -> None:
    x = on(place, numbers(ROWS, COLUMNS))
    total = x.sum(axis=0)
    elementwise = x * 2
    xp.evaluate(x - total)
    xp.reset_stats()
    assert xp.explain(total).launches == 0
    np.asarray(total)
    assert xp.stats()["launches"] == 0
    assert xp.explain(elementwise).launches == 1


def test_a_long_loop_compiles_a_handful_of_kernels(place: str) -> None:
    x = on(place, numbers(1000))
    host = np.asarray(x)
    xp.reset_stats()
    for _ in range(1000):
        x = x * 1.01 + 0.1
        host = host * np.float32(1.01) + np.float32(0.1)
    np.testing.assert_array_equal(np.asarray(x), host)
    counts = xp.stats()
    assert counts["plans"] <= 4
    assert counts["compiles"] <= 4
    assert counts["launches"] <= 30


def eliminate(a: Any) -> None:
    for i in range(len(a)):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, len(a)):
            a[i, j] -= a[i, :i] @ a[:i, j]


def test_pieces_of_nested_loops_have_few_structures_and_compute_nothing_twice() -> None:
    size = 24
    expected = numbers(size, size).astype(np.float64) + 3 * np.eye(size)
    actual = on("wgpu", expected)
    xp.reset_stats()
    eliminate(expected)
    eliminate(actual)
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-9, atol=1e-12)
    counts = xp.stats()
    writes = size * size + size * (size - 1) // 2
    assert counts["operations"] <= 7 * writes
    assert counts["plans"] <= 80


@pytest.mark.parametrize(("function", "steps"), [(lambda y: y * 1.01, 1), (lambda y: y**1.01, 2), (np.sin, 1)])
def test_kernels_have_no_more_functions_than_compile_soon(function: Any, steps: int, place: str) -> None:
    y = on(place, numbers(1000))
    for _ in range(100):
        y = function(y)
    assert len(xp.explain(y).steps) == steps


def test_a_loop_over_growing_shapes_compiles_a_handful_of_kernels(place: str) -> None:
    xp.reset_stats()
    for size in range(2, 60):
        x = on(place, numbers(size, 3 * size))
        np.asarray(x.T * 2 + x.sum(axis=0, keepdims=True).T)
    # row lengths that four divides have wider loads, and short rows are walked otherwise
    assert xp.stats()["compiles"] <= 12


def test_results_do_not_depend_on_fusion(device: Device) -> None:
    host = numbers(ROWS, COLUMNS)
    for expression in (
        lambda x: softmax(x, 1),
        lambda x: softmax(x, 0),
        lambda x: x.var(axis=0),
        lambda x: x.T[::-2] * x.max(),
    ):
        fused = np.asarray(expression(xp.asarray(host)))
        with xp.using(fuse=False):
            unfused = np.asarray(expression(xp.asarray(host)))
        np.testing.assert_allclose(fused, unfused, rtol=1e-5)
        np.testing.assert_allclose(fused, expression(host), rtol=1e-5)


@pytest.mark.parametrize("part", [np.s_[1:-1, 1:-1], np.s_[2:], np.s_[:, :-3], np.s_[:-1, 1:]])
def test_what_reads_around_and_is_written_over_most_of_an_array_copies_only_the_rest(
    place: str, part: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_steps, "LARGE_COPY", 0)
    host = numbers(ROWS, COLUMNS)

    def step(u: Any) -> Any:
        u[part] = u[::-1, ::-1][part] * 2
        return u

    x = on(place, host)
    old = x + 0
    explanation = xp.explain(step(x))
    assert sum(planned.cost.written for planned in explanation.steps) == host.nbytes
    np.testing.assert_array_equal(np.asarray(x), step(host.copy()))
    np.testing.assert_array_equal(np.asarray(old), host)


def taken_out(y: Any) -> Any:
    taken = []
    for k in range(20):
        taken.append(np.sin(y[k]) + y[k + 1])
        y[k] = 0
    return sum(taken[::-1]) + y[25]


def moved_up(y: Any) -> Any:
    first, products = y[:3] * 2, 1.0
    y[3] = y[4]
    for k in range(20):
        row = y[k + 1] * 3
        y[k + 1] = y[k] + y[k + 2]
        products = products * row
    return y[25] + products + first.sum(0)


@pytest.mark.parametrize("function", [taken_out, moved_up])
def test_rows_that_are_read_after_they_are_replaced_are_kept_instead_of_the_array(function: Any) -> None:
    host = numbers(ROWS, COLUMNS)
    with xp.using(direct_limit=0):
        result = function(on("cpu", host) + 1)
        explanation = xp.explain(result)
        assert sum(planned.cost.written for planned in explanation.steps) <= 1.5 * host.nbytes
        np.testing.assert_allclose(np.asarray(result), function(host + 1), rtol=1e-5)


def updated_rows(x: Any) -> Any:
    y = x + 1
    for k in range(1, len(x)):
        y[k] += np.sin(y[k - 1]) * y[k]
    return np.sum(y * y)


def test_gradients_of_writes_to_rows_do_not_copy_the_array_for_each_row() -> None:
    x = on("cpu", numbers(20, COLUMNS).astype(np.float64))
    at_once = xp.grad(updated_rows)(x)
    with xp.using(direct_limit=0, pending_limit=10_000):  # one plan
        gradient = xp.grad(updated_rows)(x)
        explanation = xp.explain(gradient)
        assert sum(planned.cost.written for planned in explanation.steps) <= 14 * x.nbytes
        np.testing.assert_allclose(np.asarray(gradient), np.asarray(at_once), rtol=1e-12)
