"""The in-process provider against NumPy: every kind of step and instruction, memory, threads and fork."""

import os
import sys
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from gpuarray import dtypes
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import DeviceError, DeviceMemoryError
from gpuarray.fusion.steps import (
    FULL,
    OUTER,
    UNIFORM,
    Apply,
    CallStep,
    ContractStep,
    CopyStep,
    Fold,
    Index,
    Load,
    Loop,
    Scalar,
    ScanStep,
    ScatterStep,
    Store,
    Take,
)
from gpuarray.graph.layouts import Layout, broadcast, contiguous, flip, permute
from gpuarray.ops import elementwise, generators, reductions, spec
from gpuarray.ops.columns import Work
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import CallOp
from gpuarray.providers.base import Task
from gpuarray.providers.inprocess import InProcessProvider, default_capabilities, loops, tiles, workers
from gpuarray.providers.inprocess.stages import stages

RNG = np.random.default_rng(7)
REDUCTIONS = [row for row in vars(reductions).values() if isinstance(row, ReduceOp)]
SCANNED = [reductions.sum, reductions.max]


@pytest.fixture(autouse=True)
def _threads_cost_nothing(monkeypatch):
    """Let work of any size be shared."""
    monkeypatch.setattr(workers, "thread_costs", lambda: workers.ThreadCosts(wake=1, handoff=1))


@pytest.fixture(params=[1, 2], ids=["one-thread", "two-threads"])
def provider(request):
    opened = InProcessProvider(Device("cpu"), threads=request.param)
    yield opened
    opened.close()


class Builder:
    """Writes a loop instruction by instruction."""

    def __init__(self, outer, inner):
        self.outer, self.inner = tuple(outer), tuple(inner)
        self.items, self.stores, self.inputs, self.outputs, self.scalars = [], [], [], [], []

    def space(self, level):
        return {FULL: self.outer + self.inner, OUTER: self.outer, UNIFORM: ()}[level]

    def add(self, item):
        self.items.append(item)
        return len(self.items) - 1

    def load(self, dtype, layout=None, level=FULL, extent=None):
        layout = layout or contiguous(self.space(level))
        self.inputs.append(np.dtype(dtype))
        return self.add(Load(len(self.inputs) - 1, layout, extent or layout.size, np.dtype(dtype), level))

    def take(self, dtype, position, extent):
        self.inputs.append(np.dtype(dtype))
        level = self.items[position].level
        return self.add(Take(len(self.inputs) - 1, position, extent, np.dtype(dtype), level))

    def scalar(self, dtype):
        self.scalars.append(np.dtype(dtype))
        return self.add(Scalar(len(self.scalars) - 1, np.dtype(dtype)))

    def index(self, op, dtype, parameters, layout=None):
        self.scalars += parameters
        slots = tuple(range(len(self.scalars) - len(parameters), len(self.scalars)))
        return self.add(Index(op, layout or contiguous(self.space(FULL)), slots, np.dtype(dtype), FULL))

    def apply(self, op, *operands, dtype=None):
        sources = tuple(self.items[o].dtype for o in operands)
        dtype = np.dtype(dtype) if dtype else op.resolve(*sources).output
        return self.add(Apply(op, operands, sources, dtype, max(self.items[o].level for o in operands)))

    def fold(self, op, operand):
        source = self.items[operand].dtype
        return self.add(Fold(op, operand, source, op.result_dtype(source)))

    def store(self, value, layout=None, level=None):
        item = self.items[value]
        level = item.level if level is None else level
        layout = layout or contiguous(self.space(level))
        self.outputs.append(item.dtype)
        self.stores.append(Store(len(self.outputs) - 1, value, layout, layout.size, item.dtype, level))
        return self

    def loop(self):
        items, stores = tuple(self.items), tuple(self.stores)
        inputs, outputs, scalars = map(tuple, (self.inputs, self.outputs, self.scalars))
        return Loop(self.outer, self.inner, items, stores, inputs, outputs, scalars)


def upload(provider, array):
    array = np.ascontiguousarray(array)
    buffer = provider.allocate(array.nbytes)
    provider.write(buffer, array)
    return buffer


def run(provider, step, arrays, shapes, scalars=()):
    outputs = [provider.allocate(int(np.prod(s)) * d.itemsize) for s, d in zip(shapes, step.output_dtypes, strict=True)]
    prepared = provider.prepare(step)
    provider.run([Task(prepared, [upload(provider, a) for a in arrays], outputs, scalars)])
    assert provider.launch_count(prepared) == 1
    (kernel,) = provider.describe(prepared)
    assert kernel.source
    results = [np.empty(s, d) for s, d in zip(shapes, step.output_dtypes, strict=True)]
    for buffer, result in zip(outputs, results, strict=True):
        provider.read(buffer, result)
    return results[0] if len(results) == 1 else results


def values(shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return RNG.random(shape) < 0.5
    if dtype.kind in "iu":
        return RNG.integers(0 if dtype.kind == "u" else -50, 50, shape).astype(dtype)
    made = RNG.standard_normal(shape)
    return (made + 1j * RNG.standard_normal(shape)).astype(dtype) if dtype.kind == "c" else made.astype(dtype)


def chain(shape, dtype="f4"):
    b = Builder((), shape)
    x, one = b.load(dtype), b.scalar(dtype)
    square = b.apply(elementwise.square, b.apply(elementwise.sin, x))
    root = b.apply(elementwise.sqrt, b.apply(elementwise.add, b.apply(elementwise.abs, x), one))
    return b.store(b.apply(elementwise.add, square, root)).loop()


def folding(op, outer, inner, dtype, layout=None):
    b = Builder(outer, inner)
    return b.store(b.fold(op, b.load(dtype, layout, extent=int(np.prod(outer + inner))))).loop()


class TestLoops:
    @pytest.mark.parametrize("shape", [(), (0,), (1,), (1000,), (300_001,), (3, 0, 2), (70, 3, 901)])
    @pytest.mark.parametrize("dtype", ["f4", "f8", "c8"])
    def test_elementwise(self, provider, shape, dtype):
        x = values(shape, dtype)
        b = Builder((), shape)
        power = b.apply(elementwise.exp, b.load(dtype))
        total = b.apply(elementwise.multiply, power, b.apply(elementwise.add, power, b.scalar(dtype)))
        result = run(provider, b.store(total).loop(), [x], [shape], [1.5])
        flat = np.exp(x.reshape(-1))  # arithmetic of NumPy scalars rounds in its own way
        expected = (flat * (flat + x.dtype.type(1.5))).reshape(shape)
        # NumPy's complex product rounds the last few elements of a call in another way than the rest
        np.testing.assert_allclose(result, expected, rtol=1e-6 if dtype == "c8" else 0)

    def test_broadcast_strided_and_reversed_operands(self, provider):
        x, y, z = values((401, 7, 90), "f8"), values((90,), "f8"), values((401, 1, 1), "f8")
        shape = x.shape
        b = Builder((), shape)
        backwards = b.load("f8", flip(contiguous(shape), (0, 2)))
        row, column = b.load("f8", broadcast((90,), shape), extent=90), b.load("f8", broadcast((401, 1, 1), shape))
        total = b.apply(elementwise.add, b.apply(elementwise.multiply, backwards, row), column)
        total = b.apply(elementwise.subtract, total, row)
        result = run(provider, b.store(total).loop(), [x, y, z], [shape])
        np.testing.assert_array_equal(result, x[::-1, :, ::-1] * y + z - y)

    @pytest.mark.parametrize("shape", [(5, 7), (700, 900), (3, 100_000)])
    def test_transpose(self, provider, shape):
        x = values(shape, "i2")
        b = Builder((), shape[::-1])
        result = run(provider, b.store(b.load("i2", permute(contiguous(shape), (1, 0)))).loop(), [x], [shape[::-1]])
        np.testing.assert_array_equal(result, x.T)

    def test_strided_store_leaves_the_rest(self, provider):
        x = values((1000,), "i8")
        loop = Builder((), (1000,))
        loop.store(loop.load("i8"), Layout((1000,), (-3,), 2999))
        out = upload(provider, np.full(3000, 9))
        provider.run([Task(provider.prepare(loop.loop()), [upload(provider, x)], [out], [])])
        expected = np.full(3000, 9)
        expected[::-3] = x
        np.testing.assert_array_equal(provider.export(out).view("i8"), expected)

    def test_scalars_are_computed_once_and_stored_to_each(self, provider):
        b = Builder((), (50_000,))
        twice = b.apply(elementwise.multiply, b.scalar("f4"), b.scalar("f4"))
        b.store(b.apply(elementwise.add, b.load("f4"), twice)).store(twice, level=FULL)
        x = values((50_000,), "f4")
        result, all_equal = run(provider, b.loop(), [x], [x.shape, x.shape], [2.0, np.float64(3)])
        np.testing.assert_array_equal(result, x + np.float32(6))
        np.testing.assert_array_equal(all_equal, np.full(x.shape, 6, "f4"))

    def test_take(self, provider):
        source, at = values((500,), "c8"), RNG.integers(0, 500, (90_000,), dtype="u4")
        b = Builder((), at.shape)
        result = run(provider, b.store(b.take("c8", b.load("u4"), 500)).loop(), [at, source], [at.shape])
        np.testing.assert_array_equal(result, source[at])

    def test_generators(self, provider):
        b = Builder((), (300, 400))
        made = b.index(generators.arange, "f4", [dtypes.float32, dtypes.float32], flip(contiguous((300, 400)), (1,)))
        result = run(
            provider, b.store(b.apply(elementwise.square, made)).store(made).loop(), [], [(300, 400)] * 2, [1, 2]
        )
        expected = (1 + 2 * np.arange(120_000, dtype="f4")).reshape(300, 400)[:, ::-1]
        np.testing.assert_array_equal(result[1], expected)
        np.testing.assert_array_equal(result[0], expected**2)

    def test_operation_with_several_outputs(self, provider):
        b = Builder((), (40_000,))
        x = b.load("f8")
        mantissa, exponent = b.apply(elementwise.frexp_mantissa, x), b.apply(elementwise.frexp_exponent, x)
        data = values((40_000,), "f8")
        result = run(provider, b.store(mantissa).store(exponent).loop(), [data], [data.shape] * 2)
        for one, other in zip(result, np.frexp(data), strict=True):
            np.testing.assert_array_equal(one, other)

    def test_cast_and_where(self, provider):
        b = Builder((), (70_000,))
        x = b.load("f8")
        narrow = b.apply(elementwise.cast, x, dtype="i2")
        wide = b.apply(elementwise.cast, narrow, dtype="f8")
        b.store(b.apply(elementwise.where, b.apply(elementwise.less, x, wide), x, wide)).store(narrow)
        data = values((70_000,), "f8") * 9
        result = run(provider, b.loop(), [data], [data.shape] * 2)
        np.testing.assert_array_equal(result[1], data.astype("i2"))
        np.testing.assert_array_equal(result[0], np.minimum(data, data.astype("i2")))

    def test_no_warning_leaks(self, provider):
        b = Builder((), (200_000,))
        b.store(b.apply(elementwise.divide, b.load("f4"), b.load("f4")))
        zero = np.zeros(200_000, "f4")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isnan(run(provider, b.loop(), [zero, zero], [zero.shape])).all()


def reduced(op, x, axis):
    """Return NumPy's answer."""
    if op in (reductions.argmax, reductions.argmin):
        return getattr(np, op.name)(x, axis=axis)
    x = x.astype(op.accumulate(x.dtype))
    if op is reductions.squared_deviations:
        with np.errstate(over="ignore"):  # of float16
            return (np.var(x, axis=axis, dtype=np.float64) * x.shape[axis]).astype(x.dtype)
    if op is reductions.logsumexp:  # NumPy adds one after the other, and rounds each time
        with np.errstate(invalid="ignore"):
            return np.logaddexp.reduce(x.astype(np.float64), axis=axis).astype(x.dtype)
    return op.combine.numpy.reduce(x, axis=axis)


class TestFolds:
    @pytest.mark.parametrize(
        ("op", "dtype"),
        [(op, dtype) for op in REDUCTIONS for dtype in dtypes.ALL if dtype.kind in op.identity],
        ids=lambda value: getattr(value, "name", str(value)),
    )
    def test_every_reduction_along_every_axis(self, provider, op, dtype):
        for rows, columns in [(1, 1), (40, 33), (3, 70_000), (1, 200_003)]:
            x = values((rows, columns), dtype)
            if op.name == "prod":
                x = (
                    np.array([1, 1j]).astype(dtype)[(x.real > 0) * 1]
                    if dtype.kind == "c"
                    else np.where(x > 0, 1, x < 0).astype(dtype)
                )
            if dtype.kind in "fc" and rows > 1:
                x[1, columns // 2 :] = np.nan
                x[2, columns - 1] = np.nan
            tolerance = {"rtol": 2e-2 if dtype == dtypes.float16 else 3e-4 if dtype.itemsize <= 8 else 1e-9}
            tolerance["atol"] = tolerance["rtol"] * columns**0.5
            result = run(provider, folding(op, (rows,), (columns,), dtype), [x], [(rows,)])
            np.testing.assert_allclose(result, reduced(op, x, 1), **tolerance)
            result = run(
                provider,
                folding(op, (columns,), (rows,), dtype, permute(contiguous(x.shape), (1, 0))),
                [x],
                [(columns,)],
            )
            np.testing.assert_allclose(result, reduced(op, x, 0), **tolerance)

    @pytest.mark.parametrize("op", [row for row in REDUCTIONS if not row.empty_is_error], ids=lambda row: row.name)
    def test_nothing_gives_the_neutral_value(self, provider, op):
        dtype = "i4" if "i" in op.identity else "f4"
        result = run(provider, folding(op, (3,), (0,), dtype), [np.empty((3, 0), dtype)], [(3,)])
        np.testing.assert_array_equal(result, np.full(3, op.identity_of(np.dtype(dtype))))
        assert run(provider, folding(op, (0,), (100_000,), dtype), [np.empty(0, dtype)], [(0,)]).shape == (0,)

    @pytest.mark.parametrize("op", [reductions.argmax, reductions.argmin], ids=["argmax", "argmin"])
    @pytest.mark.parametrize("kept", [(0,), (1,), (2,), (), (0, 2)])
    def test_positions_count_in_c_order(self, provider, op, kept):
        x = RNG.integers(0, 3, (61, 53, 47)).astype("f4")
        folded = tuple(axis for axis in range(3) if axis not in kept)
        layout = permute(contiguous(x.shape), kept + folded)
        outer, inner = layout.shape[: len(kept)], layout.shape[len(kept) :]
        result = run(provider, folding(op, outer, inner, "f4", layout), [x], [outer])
        rows = x.transpose(kept + folded).reshape(*outer, -1)
        np.testing.assert_array_equal(result, getattr(np, op.name)(rows, axis=-1))

    def test_float16_sums_do_not_overflow_on_the_way(self, provider):
        x = np.concatenate([np.full(30_000, 8), np.full(30_000, -8)]).astype("f2")
        assert run(provider, folding(reductions.sum, (), (60_000,), "f2"), [x], [()]) == 0

    @pytest.mark.parametrize(("outer", "inner"), [((), (1_000_003,)), ((5,), (200_000,)), ((3000,), (700,))])
    def test_sums_are_the_same_on_any_number_of_threads(self, outer, inner):
        x = values(outer + inner, "f4")
        results = []
        for count in (1, 2, 5):
            opened = InProcessProvider(Device("cpu"), threads=count)
            results.append(run(opened, folding(reductions.sum, outer, inner, "f4"), [x], [outer]))
            opened.close()
        assert all(r.tobytes() == results[0].tobytes() for r in results)
        exact = x.astype("f8").sum(axis=-1)
        assert np.abs(results[0] - exact).max() <= 2 * np.abs(x.sum(axis=-1) - exact).max() + 1e-3

    @pytest.mark.parametrize(("rows", "columns"), [(500, 300), (2, 90_000), (1, 1), (3, 0), (0, 5)])
    def test_prologue_epilogue_and_elements_stored_beside(self, provider, rows, columns):
        b = Builder((rows,), (columns,))
        x, scale = b.load("f8"), b.load("f8", level=OUTER)
        scaled = b.apply(elementwise.multiply, x, scale)
        total, most = b.fold(reductions.sum, scaled), b.fold(reductions.sum, x)
        b.store(b.apply(elementwise.divide, total, b.apply(elementwise.add, most, b.scalar("f8"))))
        b.store(scaled).store(total, level=FULL)
        data, factors = values((rows, columns), "f8"), values((rows,), "f8")
        result = run(provider, b.loop(), [data, factors], [(rows,), data.shape, data.shape], [1000.0])
        product_ = data * factors[:, None]
        np.testing.assert_allclose(result[0], product_.sum(1) / (data.sum(1) + 1000), rtol=1e-9)
        np.testing.assert_array_equal(result[1], product_)
        np.testing.assert_allclose(result[2], np.broadcast_to(product_.sum(1)[:, None], data.shape), rtol=1e-9)


def softmax(rows, columns, dtype, layout=None):
    b = Builder((rows,), (columns,))
    x = b.load(dtype, layout)
    powers = b.apply(elementwise.exp, b.apply(elementwise.subtract, x, b.fold(reductions.max, x)))
    return b.store(b.apply(elementwise.divide, powers, b.fold(reductions.sum, powers)), layout).loop()


class TestRowPrograms:
    @pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1000, 321), (4, 50_000), (3, 140_000), (0, 7)])
    @pytest.mark.parametrize("transposed", [False, True])
    def test_softmax(self, provider, rows, columns, transposed):
        x = values((rows, columns), "f8")
        layout = permute(contiguous((columns, rows)), (1, 0)) if transposed else None
        data = x.T if transposed else x
        result = run(provider, softmax(rows, columns, "f8", layout), [data], [data.shape])
        expected = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
        expected /= expected.sum(1, keepdims=True)
        np.testing.assert_allclose(result.T if transposed else result, expected, rtol=1e-12)

    @pytest.mark.parametrize(("rows", "columns"), [(7, 90), (1, 333), (200, 3)])
    def test_tiles_of_any_size_agree(self, provider, monkeypatch, rows, columns):
        x = values((rows, columns), "f8")
        expected = run(provider, softmax(rows, columns, "f8"), [x], [x.shape])
        for most, row_limit in product([16, 50], [1, 64]):
            for name in ("TILE_LEAST", "TILE_MOST", "STREAM_LEAST", "STREAM_MOST"):
                monkeypatch.setattr(tiles, name, most)
            monkeypatch.setattr(tiles, "_CUT_LEAST", 0)
            monkeypatch.setattr(loops, "ROW_LIMIT", row_limit)
            result = run(provider, softmax(rows, columns, "f8"), [x], [x.shape])
            np.testing.assert_allclose(result, expected, rtol=1e-14)

    def test_stages_have_no_use_of_their_own_folds(self):
        cut = stages(softmax(3, 1000, "f4"))
        assert [len(loop.folds) for loop in cut.loops] == [1, 1, 0]
        assert cut.results == (dtypes.float32, dtypes.float32)


class TestScans:
    @pytest.mark.parametrize(
        "shape", [(1, 1, 1), (1, 400_000, 1), (3, 200, 5), (50, 1000, 1), (2, 300, 700), (2, 0, 3)]
    )
    @pytest.mark.parametrize(("op", "dtype"), list(product(SCANNED, ["i1", "u4", "f4", "f8", "?"])))
    def test_running_fold(self, provider, shape, op, dtype):
        x = values(shape, dtype)
        result = op.accumulate(x.dtype)
        got = run(provider, ScanStep(op, *shape, x.dtype, result, None, (x.dtype,), (result,)), [x], [shape])
        expected = op.combine.numpy.accumulate(x.astype("f8" if dtype == "f4" else result), axis=1)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=2e-2 if dtype == "f4" else 1e-9)

    @pytest.mark.parametrize("shape", [(90_000, 2, 1), (40_001, 8, 1), (5000, 3, 7), (1, 4, 1)])
    @pytest.mark.parametrize(
        ("op", "dtype"), [*product(SCANNED, ["i1", "u4", "f4", "f8", "?"]), (reductions.sum, "c8")]
    )
    def test_short_rows_have_numpys_bits(self, provider, shape, op, dtype):
        x = values(shape, dtype)
        result = op.accumulate(x.dtype)
        got = run(provider, ScanStep(op, *shape, x.dtype, result, None, (x.dtype,), (result,)), [x], [shape])
        np.testing.assert_array_equal(got, op.combine.numpy.accumulate(x, axis=1, dtype=result))


class TestContractions:
    @pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "i4", "u1", "?"])
    @pytest.mark.parametrize("shape", [(1, 3, 4, 5), (3, 70, 130, 20), (2, 3, 0, 4), (0, 1, 2, 3), (1, 300, 50, 1)])
    def test_products_of_strided_operands(self, provider, dtype, shape):
        batch, rows, depth, columns = shape
        left, right = values((batch, rows, depth), dtype), values((columns, depth), dtype)
        whole = permute(contiguous((columns, depth)), (1, 0))
        right_layout = Layout((batch, depth, columns), (0, *whole.strides), 0)
        step = ContractStep(contiguous(left.shape), right_layout, left.dtype, None, (left.dtype,) * 2, (left.dtype,))
        result = run(provider, step, [left, right], [(batch, rows, columns)])
        rtol = {"f2": 2e-2, "f4": 1e-4, "c8": 1e-4}.get(dtype, 1e-10)
        expected = np.matmul(left.astype("f4"), right.T.astype("f4")) if dtype == "f2" else np.matmul(left, right.T)
        np.testing.assert_allclose(result, expected.astype(dtype), rtol=rtol, atol=rtol * 10)

    def test_epilogue(self, provider):
        left, right, bias = values((1, 60, 70), "f4"), values((1, 70, 80), "f4"), values((80,), "f4")
        b = Builder((), (60, 80))
        shifted = b.apply(elementwise.add, b.load("f4"), b.load("f4", broadcast((80,), (60, 80)), extent=80))
        epilogue = b.store(b.apply(elementwise.maximum, shifted, b.scalar("f4"))).loop()
        layouts = contiguous(left.shape), contiguous(right.shape)
        step = ContractStep(
            *layouts, dtypes.float32, epilogue, (dtypes.float32,) * 3, (dtypes.float32,), epilogue.scalar_dtypes
        )
        result = run(provider, step, [left, right, bias], [(60, 80)], [0])
        np.testing.assert_allclose(result, np.maximum(left[0] @ right[0] + bias, 0), rtol=1e-4, atol=1e-4)


@pytest.fixture
def sort_pair(monkeypatch):
    """A call with two results, which other tests do not find among the operations."""
    monkeypatch.setattr(spec, "OPS", {})
    return CallOp(
        name="sort_pair",
        work=Work.SORT,
        cost=lambda operands, results: 1,
        numpy=lambda x, axis: (np.sort(x, axis), np.argsort(x, axis)),
        doc="For tests.",
    )


class TestOtherSteps:
    def test_call(self, provider, sort_pair):
        x = values((40, 50), "f8")
        step = CallStep(
            sort_pair, (("axis", 0),), (x.shape,), (x.shape,) * 2, (x.dtype,), (dtypes.int64, x.dtype), (1, 0)
        )
        result = run(provider, step, [x], [x.shape] * 2)
        np.testing.assert_array_equal(result[1], np.sort(x, 0))
        np.testing.assert_array_equal(result[0], np.argsort(x, 0))

    def test_call_that_breaks_its_promise(self, provider, sort_pair):
        step = CallStep(sort_pair, (("axis", 0),), ((4,),), ((5,),), (dtypes.float32,), (dtypes.float32,), (0,))
        with pytest.raises(ValueError, match=r"where \(5,\) was planned"):
            run(provider, step, [np.zeros(4, "f4")], [(5,)])

    @pytest.mark.parametrize("size", [0, 5, 3_000_000])
    def test_copy_then_scatter(self, provider, size):
        x, v = values((size,), "f4"), values((min(size, 4),), "f4")
        at = np.zeros(v.shape, "u4")
        result, scattered = provider.allocate(x.nbytes), ScatterStep(x.dtype, at.dtype, v.size, size)
        tasks = [Task(provider.prepare(CopyStep(x.dtype, size)), [upload(provider, x)], [result], [])]
        tasks.append(Task(provider.prepare(scattered), [upload(provider, v), upload(provider, at)], [result], []))
        provider.run(tasks)
        x[at] = v
        np.testing.assert_array_equal(provider.export(result).view("f4"), x)


class TestMemory:
    def test_memory_comes_back(self, provider):
        before = provider.stats()["bytes_live"]
        for _ in range(5):
            run(provider, chain((100_000,)), [values((100_000,), "f4")], [(100_000,)], [1.0])
        stats = provider.stats()
        assert stats["bytes_live"] == before
        assert stats["launches"] == 5
        assert stats["bytes_uploaded"] == stats["bytes_downloaded"] == 2_000_000
        assert 0 < stats["bytes_pooled"] < 2_000_000
        provider.reset_stats()
        assert provider.stats()["launches"] == 0
        assert provider.stats()["bytes_pooled"] == stats["bytes_pooled"]

    def test_buffers_are_aligned_and_released_once(self, provider):
        buffer = provider.allocate(1001)
        assert provider.export(buffer).ctypes.data % 64 == 0
        assert provider.export(buffer).nbytes == 1001
        buffer.release()
        buffer.release()
        assert provider.stats()["bytes_live"] == 0
        with pytest.raises(ValueError, match="size of buffer"):
            provider.run([Task(provider.prepare(chain((3,))), [buffer], [buffer], [1.0])])

    def test_a_buffer_takes_the_memory_of_a_result(self, provider):
        live = provider.stats()["bytes_live"]
        buffer = provider.allocate(80_000)
        made = np.arange(10_000.0)
        assert buffer.take(made.view(np.uint8))
        assert np.shares_memory(buffer.memory, made)
        assert provider.stats()["bytes_live"] == live + made.nbytes
        del made
        assert buffer.memory.view(float)[9_999] == 9_999
        buffer.release()
        assert provider.stats()["bytes_live"] == live

    def test_a_buffer_does_not_take_memory_that_others_have(self, provider):
        buffer, whole = provider.allocate(80_000), np.arange(20_000.0)
        assert not buffer.take(np.frombuffer(bytes(80_000), np.uint8))
        assert not buffer.take(np.ndarray(80_000, np.uint8, whole.data))
        assert not buffer.take(np.zeros(79_999, np.uint8))
        with config.using(memory_limit=1 << 30):
            assert not buffer.take(np.zeros(80_000, np.uint8))
        exported = buffer.export()
        assert not buffer.take(np.zeros(80_000, np.uint8))
        del exported

    def test_exported_memory_outlives_the_buffer(self, provider):
        buffer = upload(provider, np.arange(100))
        view = provider.export(buffer).view("i8")[10:20]
        buffer.release()
        other = upload(provider, np.zeros(100, "i8"))
        np.testing.assert_array_equal(view, np.arange(10, 20))
        assert provider.stats()["bytes_pooled"] == 0
        del view, other
        assert provider.stats()["bytes_live"] == 0
        assert provider.stats()["bytes_pooled"] > 0

    def test_adopted_memory_stays_the_arrays(self, provider):
        own = np.arange(6.0)
        buffer = provider.adopt(own, own.nbytes)
        provider.write(buffer, np.ones(2))
        np.testing.assert_array_equal(own, [1, 1, 2, 3, 4, 5])
        with pytest.raises(ValueError, match="C-contiguous"):
            provider.adopt(own[::2], 8)

    def test_limit(self, provider):
        with config.using(memory_limit=1 << 20):
            held = provider.allocate(700_000)
            with pytest.raises(DeviceMemoryError, match="memory_limit"):
                provider.allocate(700_000)
            held.release()
            assert provider.allocate(900_000).nbytes == 900_000
            assert provider.stats()["bytes_pooled"] <= 1 << 20

    def test_limit_holds_for_what_is_pooled(self, provider):
        provider.allocate(700_000).release()
        held = provider.allocate(100_000)
        assert provider.stats()["bytes_pooled"] >= 700_000
        with config.using(memory_limit=600_000), pytest.raises(DeviceMemoryError, match="memory_limit"):
            provider.allocate(700_000)
        held.release()


class TestProvider:
    def test_limited_devices_refuse(self):
        without = default_capabilities().dtypes - {dtypes.float64}
        narrow = InProcessProvider(Device("cpu"), capabilities=replace(default_capabilities(), dtypes=without))
        assert narrow.supports(chain((5,), "f8")) == "float64 is not supported by this device"
        assert narrow.supports(chain((5,), "f4")) is None
        tiny = InProcessProvider(Device("cpu"), capabilities=replace(default_capabilities(), storage_bindings=1))
        assert "2 buffers" in tiny.supports(chain((5,)))

    def test_closed(self):
        opened = InProcessProvider(Device("cpu"))
        opened.close()
        with pytest.raises(DeviceError, match="closed"):
            opened.allocate(1)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform does not fork")
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    @pytest.mark.filterwarnings("ignore:.*fork.*:RuntimeWarning")  # JAX's, if another test has imported it
    def test_fork(self):
        opened = InProcessProvider(Device("cpu"), threads=2)
        x = values((500_000,), "f4")
        expected = run(opened, chain(x.shape), [x], [x.shape], [1.0])
        child = os.fork()
        if child == 0:
            same = np.array_equal(run(opened, chain(x.shape), [x], [x.shape], [1.0]), expected)
            sys.stdout.flush()
            os._exit(0 if same else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        opened.close()


@pytest.mark.parametrize(("strides", "is_whole"), [((1, 0), True), ((1, 2000), False)], ids=["broadcast", "turned"])
def test_tiles_are_whole_rows_unless_an_operand_steps_across_them(strides, is_whole):
    extents = (2000, 2000)
    write = Builder((), extents)
    x, y = write.load("f4"), write.load("f4", Layout(extents, strides, 0))
    block = tiles.tile_elements(write.store(write.apply(elementwise.add, x, y)).loop()).block
    assert (block[1] == extents[1]) == is_whole
