"""Loops over rows, columns and parts of arrays make a constant number of plans, with NumPy's values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.graph.layouts import Layout, are_apart, compose
from gpuarray.graph.moving import Moving, MustStay, as_number, at_values, is_multiple

Program = Callable[[Any, Any, int], Any]


def _evaluated(x: Any) -> Any:
    if isinstance(x, xp.ndarray):
        xp.evaluate(x)
    return x


def read_rows(np_: Any, a: Any, steps: int) -> Any:
    total = 0.0
    for k in range(steps):
        total += float((a[k] * a[:, k]).sum())
    return np_.asarray(total)


def write_rows(np_: Any, a: Any, steps: int) -> Any:
    for k in range(1, steps):
        a[k] = a[k - 1] * 0.5 + a[k]
        _evaluated(a)
    return a


def write_columns(np_: Any, a: Any, steps: int) -> Any:
    for k in range(1, steps):
        a[:, k] -= a[:, k - 1] * 0.5
        _evaluated(a)
    return a


def write_without_reading(np_: Any, a: Any, steps: int) -> Any:
    for k in range(1, steps):
        a[k] = a[k] + np_.roll(a[k - 1], 1)
    return a


def write_elements(np_: Any, a: Any, steps: int) -> Any:
    for k in range(1, steps):
        a[k, k] = a[k - 1, k - 1] + a[k, k - 1]
        _evaluated(a)
    return a


def solve_toeplitz(np_: Any, a: Any, steps: int) -> Any:
    r, y, beta = a[0] / 64, np_.zeros_like(a[0]), 1.0
    alpha = -r[0]
    y[0] = alpha
    for k in range(1, steps):
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + np_.dot(np_.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np_.flip(y[:k])
        y[k] = alpha
    return y


def relax_all_pairs(np_: Any, a: Any, steps: int) -> Any:
    for k in range(steps):
        a = _evaluated(np_.minimum(a, a[:, k : k + 1] + a[k : k + 1, :]))
    return a


def windows(np_: Any, a: Any, steps: int) -> Any:
    out = np_.zeros_like(a)
    for k in range(steps):
        out[k] = np_.cumsum(a[k] * 2) + a[:, k + 1].max() + (a[k : k + 4] * 2)[1]
        out[k, 1:5] += a[1:5, k] @ a[k : k + 4, 1:5]
        _evaluated(out)
    return out


def rows_that_are_reversed(np_: Any, a: Any, steps: int) -> Any:
    for k in range(steps):
        a[k] = np_.where(a[k, ::-1] > a[k + 1], a[k], a[k + 2, ::-1])
        _evaluated(a)
    return a


PROGRAMS: list[Program] = [
    read_rows,
    write_rows,
    write_columns,
    write_without_reading,
    write_elements,
    relax_all_pairs,
    windows,
    rows_that_are_reversed,
]


def _plans(program: Program, values: Any, steps: int) -> int:
    before = xp.stats()["plans"]
    result = np.asarray(program(xp, xp.asarray(values.copy()), steps))
    np.testing.assert_allclose(result, program(np, values.copy(), steps), rtol=2e-5, atol=1e-5)
    return int(xp.stats()["plans"]) - before


def test_parts_that_grow_and_are_reversed_make_few_plans(device: Device) -> None:
    values = np.random.default_rng(0).random((80, 80), np.float32)
    with xp.using(verify=True):
        assert _plans(solve_toeplitz, values, 80) <= 40


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("width", [32, 37])
def test_views_that_move_make_a_constant_number_of_plans(program: Program, width: int, device: Device) -> None:
    values = np.random.default_rng(0).random((width, width), np.float32)
    with xp.using(verify=True):
        few = _plans(program, values, 12)
        again = _plans(program, values, 12)
        more = _plans(program, values, 28)
    assert few <= 9
    assert again == 0
    # loops that are evaluated in one go have a plan of their own for each length
    assert more <= (few if program is write_without_reading else 0)


def test_plans_that_assume_views_to_be_apart_serve_no_others(device: Device) -> None:
    rng = np.random.default_rng(1)
    values = rng.random(64, np.float32)
    ours = xp.asarray(values.copy())
    with xp.using(verify=True):
        for read, written in rng.integers(0, 56, (40, 2)).tolist():
            ours[written : written + 8] = ours[read : read + 8] * 0.5 + ours[written : written + 8]
            values[written : written + 8] = values[read : read + 8] * np.float32(0.5) + values[written : written + 8]
            xp.evaluate(ours)
            np.testing.assert_allclose(ours.get(), values, rtol=1e-6)


def test_recorded_functions_run_plans_whose_offsets_move(device: Device) -> None:
    values = np.arange(144, dtype=np.float32).reshape(12, 12)
    ours = xp.asarray(values)

    def recorded(k: int) -> Any:
        return xp.jit(lambda a: a[k] * 2 + a[k + 1])

    functions = [recorded(k) for k in range(11)]
    for _ in range(2):
        for k, function in enumerate(functions):
            np.testing.assert_array_equal(function(ours).get(), values[k] * 2 + values[k + 1])


def test_recordings_take_copies_of_rows(device: Device) -> None:
    values = np.random.default_rng(2).random((20, 8)).astype(np.float32)
    rows = xp.asarray(values)

    @xp.jit
    def step(x: Any, row: Any) -> Any:
        return x * 0.5 + row

    x, expected = xp.zeros(8, np.float32), np.zeros(8, np.float32)
    for k in range(20):
        x, expected = step(x, rows[k]), expected * np.float32(0.5) + values[k]
    np.testing.assert_allclose(x.get(), expected, rtol=1e-6)
    assert step.cache_info().misses == 4
    assert step.cache_info().hits == 16


def test_recordings_that_write_to_views_or_return_them_take_no_copies(device: Device) -> None:
    values = np.random.default_rng(2).random((9, 8)).astype(np.float32)
    rows = xp.asarray(values.copy())

    @xp.jit
    def double(row: Any) -> None:
        row *= 2

    @xp.jit
    def half(row: Any) -> Any:
        return row[:4]

    for k in range(9):
        double(rows[k])
        xp.copyto(half(rows[k]), -1)
    expected = values * 2
    expected[:, :4] = -1
    np.testing.assert_array_equal(rows.get(), expected)


def test_offsets_that_move_keep_what_is_known_of_them() -> None:
    row = Moving(3, 40, 4)
    assert (row + 8).at(40) == 48
    assert (row + 8) - row == 8
    assert row * 2 == Moving(3, 40, 4, 2)
    assert row != 40
    assert is_multiple(as_number(row + 8), 4)
    assert not is_multiple(as_number(row + 6), 4)
    assert at_values(as_number(row * 4 + 2), [0, 0, 0, 12]) == 50
    with pytest.raises(MustStay):
        row < 3  # noqa: B015  # the comparison is what is tested
    with pytest.raises(MustStay):
        row - Moving(4, 40)


def test_layouts_that_move_together_are_compared_and_others_assumed_apart() -> None:
    assumed: list[Any] = []
    row, other = Moving(3, 40, assumed=assumed), Moving(4, 80, assumed=assumed)
    first = Layout((8,), (1,), as_number(row))
    assert are_apart(first, Layout((8,), (1,), as_number(row + 8)))
    assert not are_apart(first, Layout((8,), (1,), as_number(row + 7)))
    assert not assumed
    apart = Layout((8,), (1,), as_number(other))
    assert are_apart(first, apart)
    assert assumed == [(first, apart)]
    assert compose(Layout((4,), (2,), 1), first) == Layout((4,), (2,), as_number(row + 1))
