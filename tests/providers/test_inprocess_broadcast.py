"""Values that broadcasting repeats, and takes of whole lines, beside NumPy's."""

from collections.abc import Iterator

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.providers.inprocess.loops import PreparedLoop
from gpuarray.runtime import evaluate

RANDOM = np.random.default_rng(0)
TABLE = RANDOM.random((100, 256)).astype(np.float32)
ROWS = RANDOM.integers(0, 100, 1024)
BOX, LINE, COLUMN = RANDOM.random((50, 60, 70)), RANDOM.random(70) + 0.1, RANDOM.random((50, 1, 1))
#: Columns in any order, but for the first and the last one.
SHUFFLED = np.concatenate([[0], RANDOM.permutation(np.arange(1, 255)), [255]])
FEW = RANDOM.integers(0, 50, 33)

CASES = {
    "rows": (lambda n, p: p(TABLE)[p(ROWS)]),
    "rows of a part": (lambda n, p: p(TABLE)[p(ROWS), 7:230]),
    "rows with gaps": (lambda n, p: p(TABLE)[p(ROWS), 10:200:2]),
    "rows from the end": (lambda n, p: p(TABLE)[::-1][p(ROWS)]),
    "rows turned": (lambda n, p: p(TABLE)[:, ::-1][p(ROWS)]),
    "columns": (lambda n, p: p(TABLE).T[p(ROWS) % 256]),
    "rows, then arithmetic": (lambda n, p: n.exp(p(TABLE)[p(ROWS)]) + 1),
    "columns in any order": (lambda n, p: p(TABLE)[:, p(SHUFFLED)]),
    "columns in any order, in short": (lambda n, p: p(TABLE)[:, p(SHUFFLED.astype(np.int32))]),
    "columns of a part, in any order": (lambda n, p: p(TABLE)[:, 3:][:, p(SHUFFLED[SHUFFLED < 253])]),
    "columns in their order": (lambda n, p: p(TABLE)[:, p(np.arange(7, 230))]),
    "columns of every third row, some of them often": (lambda n, p: p(TABLE)[::3, p(SHUFFLED % 7)]),
    "columns of rows from the end": (lambda n, p: p(TABLE)[::-1, p(SHUFFLED)]),
    "columns from the end of a part": (lambda n, p: p(TABLE)[5:, 3:][:, p(-1 - SHUFFLED % 253)]),
    "columns of several matrices": (lambda n, p: p(BOX)[:, ::2, p(SHUFFLED % 70)]),
    "columns of a repeated matrix": (lambda n, p: n.broadcast_to(p(TABLE), (9, 100, 256))[:, :, p(SHUFFLED)]),
    "rows of a repeated matrix": (lambda n, p: n.broadcast_to(p(TABLE), (9, 100, 256))[:, p(ROWS)]),
    "parts of repeated rows": (lambda n, p: n.stack([p(TABLE)[p(ROWS) % 50, 2:90]] * 2) + p(TABLE)[p(ROWS), 2:90]),
    "a column of repeated short rows": (lambda n, p: n.broadcast_to(p(TABLE[:7]), (2, 7, 256))[:, :, p(ROWS[:2] * 0)]),
    "short rows of a repeated matrix": (lambda n, p: n.broadcast_to(p(TABLE[:, :2]), (2, 100, 2))[:, p(ROWS[:7])]),
    "columns of one row": (lambda n, p: p(TABLE)[99:, p(SHUFFLED)]),
    "short rows": (lambda n, p: p(TABLE[:, :3])[p(np.tile(ROWS, 9))]),
    "parts of short rows": (lambda n, p: p(TABLE[:, :5])[p(np.tile(ROWS, 9)), 1:4]),
    "some columns of rows": (lambda n, p: p(TABLE)[p(np.tile(ROWS, 9))[:, None], p(SHUFFLED[:3])]),
    "middle axis": (lambda n, p: p(BOX)[:, p(FEW)]),
    "two keys": (lambda n, p: p(BOX)[p(FEW), p(FEW)]),
    "one line": (lambda n, p: p(BOX) * n.exp(p(LINE))),
    "line and column": (lambda n, p: p(BOX) * n.exp(p(LINE)) + n.sin(p(COLUMN) * 2)),
    "power of a column": (lambda n, p: p(LINE)[:, None] ** 2.5 + p(LINE) ** 0.5),
    "several outputs": (lambda n, p: n.frexp(p(LINE))[0] + p(BOX)),
    "conversion": (lambda n, p: p(LINE).astype(np.float32)[:, None] + p(BOX[0, :1])),
    "repeated alone": (lambda n, p: n.broadcast_to(n.log(p(LINE)), (60, 70)) + 0),
    "choice": (lambda n, p: n.where(p(LINE) > 0.5, p(BOX), 0)),
    "ranges": (lambda n, p: p(np.zeros(1)) + n.arange(300)[:, None] * n.arange(200)),
    "sum over repeats": (lambda n, p: (n.exp(p(LINE)) * p(BOX)).sum(1)),
    "diagonal": (lambda n, p: n.eye(300, 200, 7) + p(LINE)[:1]),
    "triangle": (lambda n, p: n.tri(301, 203, -9) + p(LINE)[:1]),
    "integers": (lambda n, p: p(FEW)[:, None] // (p(FEW) + 1)),
}


@pytest.fixture(autouse=True)
def _planned() -> Iterator[None]:
    with xp.using(device="cpu", direct_limit=0):
        yield


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    case = CASES[name]
    xp.testing.assert_same(case(xp, xp.asarray), case(np, np.asarray), ulp=8)


def _text(array):
    planned = evaluate.plan_of((array.node(),), array.device)
    assert planned is not None
    return "".join(PreparedLoop(one.step).describe() for one in planned[0].plan.steps)


def test_rows_are_taken_whole():
    assert "take_lines(" in _text(xp.asarray(TABLE)[xp.asarray(ROWS)] + 1)


def test_short_rows_are_taken_whole():
    assert "take_lines(" in _text(xp.asarray(TABLE[:, :3])[xp.asarray(np.tile(ROWS, 9))] + 1)


def test_positions_of_lines_that_are_stored_too():
    gradient = xp.grad(lambda x: (x[FEW] ** 2).sum())(xp.asarray(BOX[:, 0]))
    sums = np.zeros_like(BOX[:, 0])
    np.add.at(sums, FEW, BOX[FEW, 0])
    xp.testing.assert_same(gradient, 2 * sums, ulp=8)


def test_a_repeated_value_is_computed_once():
    assert "s0f8_1" in _text(xp.asarray(BOX) * xp.broadcast_to(xp.negative(xp.asarray(LINE)), BOX.shape))


def test_an_element_is_taken_from_a_computed_position():
    host = RANDOM.random(200_000)
    host[::7] = np.nan
    result = xp.nanquantile(xp.asarray(host), 0.25, method="lower")
    assert result.item() == np.nanquantile(host, 0.25, method="lower")
