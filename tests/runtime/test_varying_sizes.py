"""Loops over growing and shrinking parts of arrays make a constant number of plans: those that planning would make."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.codegen import emit
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.fusion.planner import make_plan
from gpuarray.fusion.templates import StepTemplates
from gpuarray.graph.cases import Cases
from gpuarray.graph.moving import MustStay
from gpuarray.graph.varying import Sizes
from gpuarray.graph.walk import merge, topological
from gpuarray.runtime import known_graphs, plans

#: A loop over parts of a matrix, which yields what is evaluated at the end of each of its turns.
Program = Callable[[Any, Any, int], Iterator[Any]]


def lu(np_: Any, a: Any, turns: int) -> Iterator[Any]:
    for k in range(turns):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k : k + 1] * a[k, k + 1 :]
        yield a


def cholesky(np_: Any, a: Any, turns: int) -> Iterator[Any]:
    low = np_.zeros_like(a)
    for j in range(turns):
        low[j, j] = np_.sqrt(a[j, j] - low[j, :j] @ low[j, :j])
        low[j + 1 :, j] = (a[j + 1 :, j] - low[j + 1 :, :j] @ low[j, :j]) / low[j, j]
        yield low


def householder(np_: Any, a: Any, turns: int) -> Iterator[Any]:
    for k in range(turns):
        v = a[k:, k].copy()
        v[0] += np_.copysign(np_.sqrt((v * v).sum()), v[0])
        v /= np_.sqrt((v * v).sum())
        a[k:, k:] -= 2 * np_.outer(v, v @ a[k:, k:])
        yield a


def triangular_solve(np_: Any, a: Any, turns: int) -> Iterator[Any]:
    x = np_.zeros_like(a[0])
    for i in range(turns):
        x[i] = (a[-1, i] - a[i, :i] @ x[:i]) / a[i, i]
        yield x


def symmetric_update(np_: Any, a: Any, turns: int) -> Iterator[Any]:
    c = np_.zeros_like(a)
    for i in range(turns):
        c[i, : i + 1] += a[: i + 1] @ a[i]
        yield c


def durbin(np_: Any, a: Any, turns: int) -> Iterator[Any]:
    r, y = a[0], np_.zeros_like(a[0])
    for k in range(1, turns):
        alpha = -(r[k] + r[:k][::-1] @ y[:k]) / 400
        y[:k] = y[:k] + alpha * y[:k][::-1]
        y[k] = alpha
        yield y


def binomial(np_: Any, a: Any, turns: int) -> Iterator[Any]:
    for _ in range(turns):
        a = np_.maximum(0.5 * a[:-1, 1:] + 0.5 * a[1:, :-1], 0.25)
        yield a


def prefixes(np_: Any, a: Any, turns: int) -> Iterator[Any]:
    for k in range(1, turns):
        yield np_.concatenate([np_.cumsum(a[k, :k]), a[k:, ::2].max(axis=0), a[: 2 * k : 2, k].sum(keepdims=True)])


PROGRAMS: list[Program] = [
    lu,
    cholesky,
    householder,
    triangular_solve,
    symmetric_update,
    durbin,
    binomial,
    prefixes,
]


def _values(width: int) -> Any:
    return (np.random.default_rng(width).random((width, width)) + width * np.eye(width)).astype(np.float32)


def _plans(program: Program, turns: int) -> int:
    values = _values(50)
    before = xp.stats()["plans"]
    *_, expected = program(np, values.copy(), turns)
    for actual in program(xp, xp.asarray(values), turns):
        xp.evaluate(actual)
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=2e-4, atol=1e-5)
    return int(xp.stats()["plans"]) - before


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_parts_that_grow_and_shrink_make_a_constant_number_of_plans(program: Program, device: Device) -> None:
    with xp.using(verify=True):
        few = _plans(program, 16)
        more = _plans(program, 48)
    assert few <= 12
    assert more <= 4  # of other conditions: sizes of 0 and 1


# pieces of a concatenation that are equally long by chance share a loop only where sizes do not vary
@pytest.mark.parametrize("program", PROGRAMS[:-1], ids=lambda program: program.__name__)
def test_plans_of_templates_are_those_that_planning_makes(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "_plans", plans.Plans())
    monkeypatch.setattr(known_graphs, "LAUNCH_BOUND", 0)  # else offsets move, and do not vary
    compared = 0
    for result in program(xp, xp.asarray(_values(20), device="cpu"), 18):
        node = result.node()
        prepared, walked, provider = plans.plan_of((node,), result.device)
        if not any(step.scalars and step.step.loops and step.step.loops[0].moves for step in prepared.plan.steps):
            walk = topological((node,))
            merged = merge(walk)
            expected = {position for position, _ in prepared.plan.results}
            made = make_plan(merged.order, merged.position, expected, provider.capabilities, fuse=config.fuse)
            assert prepared.plan == made
            compared += 1
        del walked
        xp.evaluate(result)
    assert compared >= 10


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs_of_templates_are_those_that_code_generation_makes(
    program: Program, monkeypatch: pytest.MonkeyPatch, nothing_prepared: None
) -> None:
    derive, emit_program, emitted, derived = StepTemplates.derive, emit.emit, 0, 0

    def counted(*arguments: Any, **keywords: Any) -> Any:
        nonlocal emitted
        emitted += 1
        return emit_program(*arguments, **keywords)

    def compared(self: StepTemplates, step: Any, key: Any, compute: Any) -> Any:
        nonlocal derived
        result = derive(self, step, key, compute)
        with monkeypatch.context() as patch:
            patch.setattr(emit, "emit", emit_program)
            assert result == compute(step)
        derived += 1
        return result

    monkeypatch.setattr(emit, "emit", counted)
    monkeypatch.setattr(StepTemplates, "derive", compared)
    *_, expected = program(np, _values(50), 48)
    for actual in program(xp, xp.asarray(_values(50), device="wgpu"), 48):
        xp.evaluate(actual)
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=2e-4, atol=1e-5)
    assert emitted * 3 <= derived  # what steps of a few sizes have


def test_recorded_functions_make_a_constant_number_of_recordings(device: Device) -> None:
    values = np.random.default_rng(3).random(60, np.float32)
    ours = xp.asarray(values)

    @xp.jit
    def step(x: Any, y: Any) -> Any:
        return {"sum": x * 0.5 + y, "largest": x.max()}

    for k in range(1, 50):
        result = step(ours[k:], ours[:-k])
        np.testing.assert_allclose(result["sum"].get(), values[k:] * np.float32(0.5) + values[:-k], rtol=1e-6)
        assert float(result["largest"]) == values[k:].max()
    assert step.cache_info().misses <= 10
    for _ in range(3):
        step(ours[7:], ours[:-7])
    assert step.cache_info().hits >= 1


def test_sizes_that_come_again_are_recorded(device: Device) -> None:
    @xp.jit
    def double(x: Any) -> Any:
        return x * 2

    for _ in range(2):
        for n in range(3, 9):
            double(xp.ones(n))
    assert (double.cache_info().hits, double.cache_info().misses) == (6, 6)


def _hold(sizes: Sizes, values: list[int]) -> bool:
    """Return whether what was computed for some sizes is found for others."""
    cases = Cases()
    cases.add(sizes, "made")
    result = cases.find(values)
    assert result is None or result == ("made", sizes.factors(values))
    return result is not None


def test_numbers_that_vary_note_what_is_asked_of_them() -> None:
    sizes = Sizes([3, 5], [10, 7], [True, True])
    n, m = sizes.number(0), sizes.number(1)
    assert n > 1
    assert n * m != 0
    assert _hold(sizes, [2, 90])  # extents are several
    assert not _hold(sizes, [1, 7])
    assert n > m
    assert (n + 2) % 4 == 0
    assert -(-n // 4) == 3
    assert max(n, 8) is n
    assert min(n * 4, 64) == n * 4
    for values, holds in {(10, 7): True, (10, 9): True, (10, 10): False, (11, 7): False, (14, 7): False}.items():
        assert _hold(sizes, [*values]) == holds


def test_cases_of_one_computation_are_found_by_their_answers() -> None:
    cases = Cases()

    def compute(n: Any) -> tuple[str, Any]:
        if n < 100:
            return "small", n % 4 == 0
        return "large", -(-n // 256)

    for value in (40, 41, 1000):
        sizes = Sizes([0], [value], [True])
        cases.add(sizes, compute(sizes.number(0)))
    assert cases.count == 3
    for value in (2, 4, 99, 100, 512, 513):
        result = cases.find([value])
        assert result is not None
        (kind, second), factors = result
        assert (kind, second.at(factors) if kind == "large" else second) == compute(value)
    assert cases.find([1]) is None


def test_computations_from_steps_note_the_values_that_they_take() -> None:
    sizes = Sizes([3, 5], [10, 7], [True, True])
    assert sizes.number(0) > sizes.number(1)
    derived, (n, m) = sizes.derived([12, 8])
    assert (len(range(n)), f"{m // 2}", n / 8, n * 0.5, m < 8.5) == (12, "4", 1.5, 6.0, True)
    assert _hold(derived, [12, 8])
    assert not _hold(derived, [13, 8])
    assert not _hold(derived, [12, 9])
    assert _hold(sizes, [13, 9])


def test_numbers_that_vary_compute_as_integers_do() -> None:
    sizes = Sizes([0, 1], [10, 7], [True, False])
    n, m = sizes.number(0), sizes.number(1)
    formula = (2 * n - m) * (n + 1) + (n * m) // 3 - 100 % m - n
    for values in ((10, 7), (4, 3), (25, 8)):
        a, b = values
        assert formula.at(sizes.factors(values)) == (2 * a - b) * (a + 1) + (a * b) // 3 - 100 % b - a
    assert n - n == 0
    assert (n * 6) // 3 == n * 2
    with pytest.raises(MustStay) as request:
        range(n)
    assert request.value.numbers == (0,)
