"""Writes to a part of an array happen in its buffer if nobody can see the old value any more, and only then."""

import gc
import sys

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import references
from gpuarray.graph import build
from gpuarray.interop import from_wgpu_buffer, to_wgpu_buffer
from gpuarray.ops import spec
from gpuarray.ops.columns import Work
from gpuarray.ops.spec import CallOp
from gpuarray.runtime import evaluate, ownership, plans
from gpuarray.testing import assert_same

SIZE = 100_000


NBYTES = 4 * SIZE


def place_of(x):
    """Return a number of the memory in which an array's storage is; a reference to the buffer would make it shared."""
    xp.evaluate(x)
    node = x._cell.node
    (buffer,) = (node if node.result is None else node.result).buffers.values()
    return buffer.storage(buffer.pool).serial if hasattr(buffer, "pool") else buffer.memory.ctypes.data


@pytest.fixture
def start(device):
    x = xp.asarray(np.arange(SIZE, dtype=np.float32)) + 0
    xp.evaluate(x)
    evaluate.synchronize(x.device)  # what is still to be submitted holds buffers
    xp.reset_stats()
    return x


def _launches():
    return xp.stats()["launches"]


HOST = np.arange(SIZE, dtype=np.float32)

#: A write, what it launches where nothing is copied, and what makes it so.
WRITES = [
    (lambda x, p: x.__setitem__(slice(3, 9), 1), 1),
    (lambda x, p: x.__setitem__(5, 2.5), 1),
    (lambda x, p: x[100:200].__iadd__(1), 1),
    (lambda x, p: x[::7].__imul__(2), 1),
    (lambda x, p: x[::-3].__isub__(x.dtype.type(2)), 1),
    (lambda x, p: x.reshape(100, -1)[:, 3].fill(7), 1),
    (lambda x, p: x.reshape(100, -1).T[3:5].__iadd__(1), 1),
    (lambda x, p: np.negative(x[7:70], out=x[7:70]), 1),
    (lambda x, p: x.__setitem__(slice(20, 40), x[:20] + x[60:80]), 1),
    (lambda x, p: x[1::2].__iadd__(x[::2]), 1),
    (lambda x, p: x.reshape(100, -1)[:, 3].__imul__(x.reshape(100, -1)[::-1, 2]), 1),
    (lambda x, p: x.__setitem__(slice(1, 9), x[:8]), 2),
    (lambda x, p: x[1:50].__iadd__(x[:49]), 2),
    (lambda x, p: x.__setitem__(slice(40, 20, -1), x[20:40]), 2),
]


@pytest.mark.parametrize(("write", "launches"), WRITES)
def test_a_write_stays_in_the_buffer(write, launches, start):
    before = place_of(start)
    gc.collect()  # what earlier tests have left would be freed meanwhile
    live = xp.stats()["bytes_live"]
    expected = HOST.copy()
    write(expected, np.asarray)
    write(start, xp.asarray)
    assert place_of(start) == before
    assert _launches() == launches
    assert abs(xp.stats()["bytes_live"] - live) < NBYTES
    assert_same(start, expected)


@pytest.mark.parametrize("write", [write for write, _ in WRITES])
def test_without_counts_every_write_is_a_copy(write, start, monkeypatch):
    monkeypatch.setattr(references, "_count", None)
    before = place_of(start)
    expected = HOST.copy()
    write(expected, np.asarray)
    write(start, xp.asarray)
    assert place_of(start) != before
    assert_same(start, expected)


def test_counts_are_used_only_under_the_global_lock(monkeypatch):
    assert references.find_counter() is sys.getrefcount
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert references.find_counter() is None
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    assert references.find_counter() is sys.getrefcount
    monkeypatch.delattr(sys, "getrefcount")
    assert references.find_counter() is None


def test_writes_at_positions_stay_in_the_buffer(start):
    before = place_of(start)
    expected = HOST.copy()
    places = np.array([5, 3, 5, -1])
    for x in (expected, start):
        x[places] = np.array([1, 2, 3, 4], np.float32)
    assert place_of(start) == before
    for x in (expected, start):
        np.add.at(x, places, np.float32(2))
        np.put(x, places, np.array([7, 8], np.float32))
    assert place_of(start) == before
    assert_same(start, expected)


def test_writes_that_were_not_evaluated_are_one_plan_in_one_buffer(start):
    before = place_of(start)
    expected = HOST.copy()
    for x in (expected, start):
        for i in range(20):
            x[i : 2 * i + 1] += i
    assert place_of(start) == before
    assert xp.stats()["evaluations"] == 1
    assert _launches() == 20
    assert_same(start, expected)


def test_what_is_only_made_to_be_written_to_is_made_once(device):
    x = xp.zeros(SIZE, dtype=xp.float32)
    x[: SIZE // 2] = 1
    gc.collect()
    live = xp.stats()["bytes_live"]
    xp.evaluate(x)
    assert _launches() == (1 if device == "wgpu" else 2)  # GPUs select what was written where they read
    assert xp.stats()["bytes_live"] - live < 2 * NBYTES
    assert_same(x, np.repeat(np.float32([1, 0]), SIZE // 2))


def _copy(x):
    return x.copy(), HOST


def _pending(x):
    return x * 2, HOST * 2


def _pending_view(x):
    return x[10:20] + 1, HOST[10:20] + 1


def _evaluated_twin(x):
    twin = x.copy()
    xp.evaluate(twin)
    return twin, HOST


def _shape_twin(x):
    twin = xp.reshape(x, (100, -1), copy=True)
    xp.evaluate(twin)
    return twin, HOST.reshape(100, -1)


@pytest.mark.parametrize("reader", [_copy, _pending, _pending_view, _evaluated_twin, _shape_twin])
def test_whoever_saw_the_old_value_still_does(reader, start):
    seen, expected = reader(start)
    before = place_of(start)
    start[:50] = -1
    assert place_of(start) != before
    assert_same(seen, expected)
    assert start[:51].tolist() == [-1] * 50 + [50]


def test_a_reader_in_the_same_plan_may_come_before_the_write(start):
    before = place_of(start)
    total = start[:1000].sum()
    start[:50] = -1
    xp.evaluate(total, start)
    assert float(total) == HOST[:1000].sum()
    assert place_of(start) == before


def test_a_value_that_stays_pending_keeps_what_it_needs(start):
    kept = start + 1  # not evaluated with the sum below, which is
    both = kept.sum()
    start[:50] = -1
    xp.evaluate(both + start.sum())
    assert_same(kept, HOST + 1)


def test_reading_one_element_evaluates_the_write_once(start):
    for i in range(5):
        start[i] = -1
        assert float(start[i]) == -1
    assert _launches() <= 10


def test_exported_memory_is_not_written_to(device):
    x = xp.zeros(SIZE, dtype=xp.float32) + 1
    before = place_of(x)
    seen = to_wgpu_buffer(x) if device == "wgpu" else np.from_dlpack(x, copy=False)
    x[0] = 5
    x[1] = 6
    if device == "wgpu":
        assert place_of(x) != before
        seen = xp.asnumpy(from_wgpu_buffer(seen, (SIZE,), xp.float32))
    assert seen[:2].tolist() == [1, 1]
    assert x[:2].tolist() == [5, 6]


@pytest.fixture
def failing_op(monkeypatch):
    """A call that always fails, which other tests do not find among the operations."""
    monkeypatch.setattr(spec, "OPS", {})
    return CallOp(name="broken", work=Work.SORT, cost=lambda operands, results: 1, numpy=lambda x: 1 / 0, doc="Fails.")


def test_a_failing_plan_leaves_the_array_as_it_was(start, failing_op):
    start[:4] += 1
    later = start + 0
    failing = build.call_one(failing_op, [later.node()], later.shape, later.dtype)
    start[:4] += 1
    with pytest.raises(ZeroDivisionError):
        evaluate.evaluate((failing, start._cell.node), start.device)
    assert start[:5].tolist() == [2, 3, 4, 5, 4]
    assert later[:5].tolist() == [1, 2, 3, 4, 4]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "int64", "complex64"])
@pytest.mark.parametrize("region", [slice(1, 6), slice(None, None, 3), slice(9, 2, -2), slice(4, 5)])
def test_updates_of_every_width(dtype, region, device):
    expected = np.arange(13).astype(dtype)
    actual = xp.asarray(expected)
    xp.evaluate(actual)
    for x in (expected, actual):
        x[region] = np.where(x[region] != 3, x[region] + x[region], x[region])
        x[region] += x[region]
    assert_same(actual, expected)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "int64", "complex64"])
def test_a_step_that_reads_the_one_before_is_one_launch(dtype, device):
    start = (np.arange(24) % 5).astype(dtype)
    for steps in (lambda x: x, lambda x: x.reshape(6, 4), lambda x: x.reshape(4, 6).T):
        expected, actual = start.copy(), xp.asarray(start) + xp.asarray(start)[:1]
        expected = expected + expected[:1]
        xp.evaluate(actual)
        xp.reset_stats()
        for x in (expected, actual):
            lines = steps(x)
            for i in range(1, len(lines)):
                lines[i] = lines[i - 1] + lines[i]
        xp.evaluate(actual)
        assert _launches() == len(lines) - 1
        assert_same(actual, expected)


def test_the_graph_is_walked_once_for_all_updates_in_it(device, monkeypatch):
    walks, own = [], ownership.donors_of
    monkeypatch.setattr(plans, "donors_of", lambda *given: walks.append(given) or own(*given))
    rows = [xp.asarray(np.zeros(4, np.float32)) + n for n in range(20)]
    places = [place_of(row) for row in rows]
    first = rows[0] * 2  # reads the old value, which is computed only afterwards
    for row in rows:
        row[:2] = 1
    del walks[:]
    xp.evaluate(*rows)
    assert len(walks) <= 1  # when the plan is made
    assert [n for n, row in enumerate(rows) if place_of(row) != places[n]] == [0]
    assert_same(first, np.zeros(4, np.float32))
    assert_same(rows[7], np.array([1, 1, 7, 7], np.float32))


TABLE = np.random.default_rng(0).standard_normal((60, 700))
MASK, OTHER = TABLE > 0.3, TABLE[::-1].copy()

#: Writes to ``x`` of selections, with a mask ``m`` and numbers ``o`` of the same shape.
SELECTIONS = {
    "mask": (TABLE, lambda np, x, m, o: x.__setitem__(m, 0)),
    "mask of a part": (TABLE, lambda np, x, m, o: x[:, :-1].__setitem__(m[:, 1:], 5)),
    "its own signs": (TABLE, lambda np, x, m, o: x.__setitem__(x < 0, 0)),
    "old value first": (TABLE, lambda np, x, m, o: x.__setitem__(..., np.where(m, x, 0))),
    "old value twice": (TABLE, lambda np, x, m, o: x.__setitem__(..., np.where(m, x, x))),
    "neighbours": (TABLE, lambda np, x, m, o: x[:, 1:].__setitem__(..., np.where(m[:, 1:], x[:, :-1], x[:, 1:]))),
    "other array": (TABLE, lambda np, x, m, o: x.__setitem__(..., np.where(m, o, x))),
    "conversion": (TABLE.astype(np.float32), lambda np, x, m, o: x.__setitem__(..., np.where(m, o, x))),
    "old value as mask": (MASK, lambda np, x, m, o: x.__setitem__(..., np.where(x, o > 0, o < 0.1))),
    "masks": (MASK, lambda np, x, m, o: x.__setitem__(..., np.where(o > 0, x, ~x))),
    "mask and old value": (MASK, lambda np, x, m, o: x.__setitem__(..., np.where(x, ~x, x))),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_selections_are_written_where_they_are_read(name, device):
    before, write = SELECTIONS[name]
    expected, x = before.copy(), xp.asarray(before.copy())
    mask, other = xp.asarray(MASK), xp.asarray(OTHER)
    for _ in range(2):  # the first write may make a copy
        write(np, expected, MASK, OTHER)
        write(xp, x, mask, other)
        xp.evaluate(x)
    assert_same(x, expected)
