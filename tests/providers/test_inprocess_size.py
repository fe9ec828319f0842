"""The in-process provider with arrays of many tiles: values, memory and growth."""

import tracemalloc

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.ops import row_sums
from gpuarray.providers import registry
from gpuarray.providers.inprocess import scans
from gpuarray.providers.inprocess.workers import WorkerPool

MIB = 1 << 20


@pytest.fixture
def pool():
    """Return the memory of the device ``cpu``, with nothing pooled."""
    pool = registry.open_device(registry.resolve(xp.empty(0, device="cpu").device)).pool
    pool.trim()
    pool.restart_peak()
    return pool


def on_host(x):
    return xp.asarray(x, device="cpu")


def chain(m, x):
    return m.sin(x) * m.sin(x) + m.exp(-x * x) * m.sqrt(m.abs(x) + 1)


def softmax(m, x):
    shifted = m.exp(x - m.max(x, axis=1, keepdims=True))
    return shifted / m.sum(shifted, axis=1, keepdims=True)


def pictures(m, x):
    mean = m.mean(x, axis=(1, 2), keepdims=True)
    sigma = m.sqrt(m.mean((x - mean) ** 2, axis=(1, 2), keepdims=True) + 1e-6)
    return m.mean((m.maximum((x - mean) / sigma, 0.0) ** 1.8 - x) ** 2)


class TestSums:
    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("size", [63, 64, 65, 511, 512, 513, 1000, 2047, 2049, 4600, 1_000_003])
    def test_sums_of_any_length_are_exact_where_numbers_are_small_integers(self, dtype, size):
        x = np.arange(size) % 7 - 3
        line = x.astype(dtype)
        rows = np.stack([line, line[::-1], -line])
        assert float(xp.sum(on_host(line))) == x.sum()
        assert xp.asnumpy(xp.sum(on_host(rows), axis=1)).tolist() == [x.sum(), x.sum(), -x.sum()]
        assert xp.asnumpy(xp.sum(on_host(rows)[:, ::2], axis=1)).tolist() == rows[:, ::2].sum(1).tolist()

    @pytest.mark.parametrize("size", [600, 1_000_003])
    def test_what_is_no_number_stays_so(self, size):
        for value in (np.inf, -np.inf, np.nan):
            x = np.ones(size, np.float32)
            x[size // 2] = value
            np.testing.assert_array_equal(xp.asnumpy(xp.sum(on_host(x))), np.float32(value))

    def test_rounding_is_about_numpys(self):
        x = np.random.default_rng(0).random(3_000_000, dtype=np.float32)
        exact = x.sum(dtype=np.float64)
        error = abs(float(xp.sum(on_host(x))) - exact)
        assert error <= max(2 * abs(float(x.sum()) - exact), exact * 2**-24)


@pytest.mark.parametrize("shape", [(1, 65_536), (6, 10_000), (65, 1000), (655, 100)], ids=str)
def test_other_threads_run_while_blas_adds_a_tile(shape):
    """NumPy keeps the interpreter's lock in calls for up to 500 dot products."""
    cut = row_sums.in_pieces(np.ones(shape), (1,))
    assert cut.pieces[..., 0].size > 500


class TestVariances:
    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("size", [1000, 300_007])
    @pytest.mark.parametrize("kind", ["even", "from zero", "far", "equal", "two", "halves", "outlier"])
    def test_rounding_is_a_few_units(self, dtype, size, kind):
        rng = np.random.default_rng(4)
        x = {
            "even": lambda: rng.uniform(-2, 2, size),
            "from zero": lambda: rng.random(size),
            "far": lambda: rng.standard_normal(size) + 1e3,
            "equal": lambda: np.full(size, 0.1),
            "two": lambda: np.where(np.arange(size) % 2, 0.1, 0.3),
            "halves": lambda: np.where(np.arange(size) < size // 2, 0.1, 3.3),
            "outlier": lambda: np.append(1e4, rng.standard_normal(size - 1)),
        }[kind]().astype(dtype)
        exact = x.astype(np.longdouble).var()
        for result in (xp.var(on_host(x)), xp.var(on_host(np.stack([x, x[::-1]])), axis=1)[1]):
            assert abs(float(result) - exact) <= 6 * np.finfo(dtype).eps * exact

    def test_no_row_depends_on_others(self):
        rng = np.random.default_rng(6)
        x = rng.random((40, 1500), np.float32) + np.repeat(np.float32([0, 1, 1e3, -0.5]), 10)[:, None]
        together = xp.asnumpy(xp.var(on_host(x), axis=1))
        alone = [float(xp.var(on_host(row))) for row in x]
        assert together.tolist() == alone

    @pytest.mark.parametrize("value", [np.inf, np.nan])
    def test_what_is_no_number_stays_so(self, value):
        x = np.ones(300_007, np.float32)
        x[200_000] = value
        assert np.isnan(float(xp.var(on_host(x))))

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    def test_squares_too_large_for_the_dtype(self, dtype):
        large = np.dtype(dtype).type(np.sqrt(np.finfo(dtype).max) * 16)
        assert float(xp.var(on_host(np.full(5000, large)))) == 0
        near = large * (1 + np.tile([0, 1e-3], 5000)).astype(dtype)
        expected = (float(large) * 5e-4) ** 2
        np.testing.assert_allclose(float(xp.var(on_host(near))), expected, 1e-4)


class TestPositions:
    @pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i4", "u8"])
    @pytest.mark.parametrize("size", [1000, 16_384, 600_001])
    def test_the_first_extreme_of_a_line_is_found_in_any_block(self, dtype, size):
        x = (np.random.default_rng(5).random(size) * 100).astype(dtype)
        for place in (0, size // 2, size - 1):
            for value in (120, 0) if dtype[0] != "f" else (200, -1, np.nan):
                y = x.copy()
                y[place] = y[-1] = value
                assert int(xp.argmax(on_host(y))) == y.argmax()
                assert int(xp.argmin(on_host(y))) == y.argmin()

    @pytest.mark.parametrize("axis", [None, 0, 1])
    def test_the_first_of_equal_extremes_counts_in_read_only_memory(self, axis):
        x = (np.arange(1_200_000) % 1000).reshape(1200, 1000).astype(np.float32)
        x.flags.writeable = False
        np.testing.assert_array_equal(xp.asnumpy(xp.argmax(on_host(x), axis=axis)), x.argmax(axis))
        np.testing.assert_array_equal(xp.asnumpy(xp.argmin(on_host(x), axis=axis)), x.argmin(axis))


class TestRunningSums:
    SIZE = 5 * scans._BLOCK + 77

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    def test_integers_add_up_exactly(self, dtype):
        x = (np.arange(self.SIZE) % 11 - 5).astype(dtype)
        np.testing.assert_array_equal(xp.asnumpy(xp.cumsum(on_host(x))), np.cumsum(x))

    @pytest.mark.parametrize("place", [0, 3, 70_000, SIZE - 1])
    @pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
    def test_elements_before_what_is_no_number_are_sums(self, place, value):
        x = np.ones(self.SIZE)
        x[place] = value
        np.testing.assert_array_equal(xp.asnumpy(xp.cumsum(on_host(x))), np.cumsum(x))

    def test_sums_beyond_the_greatest_number_are_infinite_from_there_on(self):
        x = np.full(self.SIZE, 2e33, np.float32)
        result = xp.asnumpy(xp.cumsum(on_host(x)))
        exact = np.cumsum(x, dtype=np.float64)
        is_finite = exact < 3.3e38
        with np.errstate(over="ignore"):
            error, numpys = (abs(sums - exact)[is_finite].max() for sums in (result, np.cumsum(x)))
        assert error <= numpys
        assert np.isinf(result[exact > 3.5e38]).all()
        assert np.isinf(result[-1])

    def test_rounding_does_not_add_up(self):
        x = np.full(self.SIZE, 0.1, np.float32)
        exact = np.cumsum(x, dtype=np.float64)
        np.testing.assert_allclose(
            xp.asnumpy(xp.cumsum(on_host(x)))[: 5 * scans._BLOCK], exact[: 5 * scans._BLOCK], 1e-6
        )

    def test_negative_zeros_add_up_to_one(self):
        x = np.full(self.SIZE, -0.0)
        assert np.signbit(xp.asnumpy(xp.cumsum(on_host(x)))).all()


class TestOrders:
    @pytest.mark.parametrize("descending", [False, True])
    @pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u4", "i8", "u8"])
    @pytest.mark.parametrize("shape", [(5000,), (3, 1700), (70_000,)])
    @pytest.mark.parametrize("kind", ["spread", "tied", "close", "special"])
    def test_equal_elements_keep_their_order(self, descending, dtype, shape, kind):
        rng = np.random.default_rng(1)
        x = rng.standard_normal(shape) * 1000
        if kind == "tied":
            x = np.round(x / 100)
        elif kind == "close":  # keys that differ in their last bits only
            x = 1 + np.round(rng.random(shape) * 20) * 2.0**-52
            x.reshape(-1)[:2] = -1e300 if dtype == "f8" else -1000, 1000
        elif kind == "special" and dtype[0] == "f":
            for value in (np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf):
                x[rng.random(shape) < 0.1] = value
        with np.errstate(over="ignore"):
            x = (abs(x) if dtype[0] == "u" else x).astype(dtype)
        if kind == "special" and dtype[0] != "f":
            x.reshape(-1)[:2] = np.iinfo(dtype).max, np.iinfo(dtype).min
        expected = np.argsort(x, axis=-1, stable=True)
        if descending:
            expected = np.flip(shape[-1] - 1 - np.argsort(np.flip(x, -1), axis=-1, stable=True), -1)
            lost = np.isnan(np.take_along_axis(x, expected, -1))  # which come last whatever the order
            expected = np.take_along_axis(expected, np.argsort(lost, axis=-1, stable=True), -1)
        actual = xp.argsort(on_host(x), axis=-1, descending=descending)
        np.testing.assert_array_equal(xp.asnumpy(actual), expected)

    def test_rows_on_threads_are_rows(self):
        x = np.random.default_rng(2).random((300, 700))
        np.testing.assert_array_equal(xp.asnumpy(xp.sort(on_host(x), axis=-1)), np.sort(x, -1))
        np.testing.assert_allclose(xp.asnumpy(xp.fft.fft(on_host(x))), np.fft.fft(x), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(xp.asnumpy(xp.fft.rfft(on_host(x), n=900)), np.fft.rfft(x, n=900))


class TestMemory:
    @pytest.mark.parametrize(
        ("function", "shape", "results"),
        [
            (chain, (10_000_000,), 1),
            (softmax, (10_000, 1000), 1),
            (lambda m, x: m.var(x), (10_000_000,), 0),
            (lambda m, x: m.cumsum(x), (10_000_000,), 1),
            (lambda m, x: m.argmax(x), (10_000_000,), 0),
            (pictures, (1, 2160, 3840), 0),
            (lambda m, x: m.sort(x), (10_000_000,), 1),
            (lambda m, x: m.argsort(x), (10_000_000,), 2),
        ],
        ids=["chain", "softmax", "var", "cumsum", "argmax", "pictures", "sort", "argsort"],
    )
    def test_ten_million_elements_take_inputs_outputs_and_32_mib_at_most(self, function, shape, results, pool):
        x = on_host(np.full(shape, 0.5, np.float32))
        xp.evaluate(x)
        pool.restart_peak()
        live = pool.stats()["bytes_live"]
        tracemalloc.start()
        try:
            result = function(xp, x)
            xp.evaluate(result)
            traced = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert traced <= results * x.nbytes + 32 * MIB
        # a buffer may be an eighth larger than what it holds
        assert pool.stats()["peak_bytes"] - live <= results * x.nbytes * 9 // 8 + MIB

    def test_temporaries_do_not_grow_with_arrays(self, pool):
        extra = []
        for size in (1_000_000, 4_000_000, 16_000_000):
            x = on_host(np.ones(size, np.uint8))
            xp.evaluate(x)
            tracemalloc.start()
            try:
                total = xp.sum((x ^ 3) & 1, dtype=xp.uint8)
                xp.evaluate(total)
                extra.append(tracemalloc.get_traced_memory()[1])
            finally:
                tracemalloc.stop()
            assert int(total) == 0
        assert max(extra) <= 32 * MIB
        assert extra[2] <= extra[0] + 8 * MIB

    @pytest.mark.parametrize("function", [chain, lambda m, x: m.sum(x), lambda m, x: m.cumsum(x)])
    def test_pieces_of_work_grow_as_elements_do(self, function, monkeypatch):
        pieces = []
        spread = WorkerPool.run

        def counting(workers, number, work, pace):
            pieces.append(number)
            spread(workers, number, work, pace)

        monkeypatch.setattr(WorkerPool, "run", counting)
        result = []
        for size in (8_000_000, 32_000_000):
            x = on_host(np.ones(size, np.float32))
            pieces.clear()
            xp.evaluate(function(xp, x))
            result.append(sum(pieces))
        assert 3 * result[0] <= result[1] <= 4 * result[0] + 2
