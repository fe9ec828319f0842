"""`jit`: a recorded function gives what the plain one gives, at every call, or says why it cannot."""

import traceback
from collections import namedtuple

import numpy as np
import pytest
from support import assert_alike, two_arrays

import gpuarray as xp
from gpuarray.errors import ReadOnlyError, RecordingError
from gpuarray.jit import trace
from gpuarray.testing import assert_same

Pair = namedtuple("Pair", "first second")


def _softmax(x, y):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _layer_norm(x, y):
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)


def _heat(x, y):
    inner = x[1:-1, 1:-1]
    new = x.copy()
    new[1:-1, 1:-1] = inner + 0.1 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * inner)
    return new


def _deep(x, y):
    for _ in range(150):  # more than are pending at once
        x = x * 0.5 + y
    return x, y - x


def _twice(x, y):
    total = x.sum(axis=0)
    return total, total, (x.T, x[::2, 1]), {"a": [x, y.copy()], "b": None, "c": (1, "s")}, Pair(x + 1, 2.5)


FUNCTIONS = [
    _softmax,
    _layer_norm,
    _heat,
    _deep,
    _twice,
    lambda x, y: x @ y.T,
    lambda x, y: np.where(x > y, x, -y),
    lambda x, y: np.sort(x, axis=1)[:, ::-1],
    lambda x, y: np.cumsum(x, axis=1) + np.argmax(y, axis=0),
    lambda x, y: np.concatenate([x, y], axis=1).reshape(-1)[3:],
    lambda x, y: x[:, None] - y[None],
    lambda x, y: np.linalg.norm(x - y, axis=1),
    lambda x, y: xp.zeros(5) + 1,
    lambda x, y: (x.astype(np.int32), np.clip(x, -1, 1), x.dtype.name, x.shape),
    lambda x, y: x * np.array([1.0, 2, 3, 4, 5, 6], np.float32),
    lambda x, y: np.add.outer(x[0], y[0]) + np.asarray([1, 2, 3, 4, 5, 6]),
    lambda x, y: x[np.array([0, 2, -1])],
]


class TestResults:
    @pytest.mark.usefixtures("planned")  # sums are added in another order without a plan
    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_those_of_the_plain_function(self, device, function):
        fast = xp.jit(function)
        for seed in range(3):
            x, y = two_arrays(seed)
            assert_alike(fast(x, y), function(x, y))
        assert fast.cache_info()[:2] == (2, 1)

    def test_shapes_dtypes_and_layouts_are_told_apart(self, device):
        fast = xp.jit(_softmax)
        x, y = two_arrays(0)
        given = [x, x.astype(np.float16), x[:4], x.T, x[::2], x[:, ::-1], x.reshape(6, 8), x[None]]
        for _ in range(2):
            for value in given:
                assert_alike(fast(value, y), _softmax(value, y))
        assert fast.cache_info()[:2] == (len(given), len(given))

    def test_pending_arguments_are_evaluated(self, device):
        fast = xp.jit(_softmax)
        x, y = two_arrays(0)
        for _ in range(2):
            assert_alike(fast(x * 2 + 1, y), _softmax(x * 2 + 1, y))

    def test_pending_arrays_that_are_not_used_stay_so(self, device):
        x, kept = xp.asarray(np.linspace(0, 1, 30)), []

        def refused(x):
            kept.append(x * 3)
            return float(x.sum())

        def long(x):
            for _ in range(60):
                x = np.sin(x) * 1.01
            return x

        with xp.using(pending_limit=32, direct_limit=0):
            with pytest.raises(RecordingError):
                xp.jit(refused)(x)
            other = x * 2 + 1
            recorded = xp.jit(long)
            for _ in range(2):
                assert_same(recorded(x), long(np.linspace(0, 1, 30)), rtol=1e-6)
            assert not other.is_computed()

    def test_elements_are_iterated_over(self, device):
        def total(x, u):
            rows = [x[i] * (k + 1) for k, i in enumerate(xp.arange(3))]
            return sum(v * v for v in u) + sum(rows)

        recorded = xp.jit(total)
        for k in range(3):
            x, u = np.arange(12.0).reshape(4, 3) + k, np.arange(4.0) * k
            assert_same(recorded(xp.asarray(x), xp.asarray(u)), total(x, u), rtol=1e-6)

    def test_nested_arguments(self, device):
        def function(tree, *rest, scale):
            return {"sum": tree["w"][0] + tree["w"][1].first, "rest": [scale * r for r in rest]}

        fast = xp.jit(function)
        for seed in range(2):
            x, y = two_arrays(seed)
            for arguments in [({"w": (x, Pair(y, 1))},), ({"w": (x, Pair(y, 1))}, x, y)]:
                assert_alike(fast(*arguments, scale=seed + 0.5), function(*arguments, scale=seed + 0.5))
        assert fast.cache_info().misses == 2

    def test_numpy_arrays_are_brought_to_the_default_device(self, device):
        fast = xp.jit(lambda x, y: x * y + 1)
        x, y = two_arrays(0)
        for _ in range(2):
            assert_same(fast(x, y.get()), x.get() * y.get() + 1)
        assert fast(x.get(), y.get()).device is device

    def test_recorded_functions_within_one(self, device):
        inner = xp.jit(lambda x, a: x * a)
        outer = xp.jit(lambda x, a: inner(x, a) + inner(x, 2 * a))
        x, _ = two_arrays(0)
        for a in (0.5, 2.0):
            assert_alike(outer(x, a), x * a + x * (2 * a))
        assert inner.cache_info().misses == 0
        assert outer.cache_info()[:2] == (1, 1)

    def test_nothing_is_recorded_walked_or_planned_again(self, device, monkeypatch):
        fast = xp.jit(_deep)
        x, y = two_arrays(0)
        fast(x, y)
        monkeypatch.setattr("gpuarray.runtime.evaluate.find_plan", None)
        monkeypatch.setattr(trace, "find_plan", None)
        monkeypatch.setattr("gpuarray.graph.build.binary", None)
        result = fast(x, y)
        monkeypatch.undo()
        assert_alike(result, _deep(x, y))


class TestNumbers:
    def test_new_values_need_no_new_recording(self, device):
        def function(x, dt, n):
            scale = dt / 2 + n**2 - abs(-dt) // 1
            x = x * scale + n
            return x - dt, np.where(x > dt, x, dt), np.maximum(x, -dt), scale, n

        fast = xp.jit(function)
        x, _ = two_arrays(0)
        for dt, n in [(0.5, 1), (0.25, -7), (3.0, 100)]:
            assert_alike(fast(x, dt, n), function(x, dt, n))
        assert fast.cache_info()[:2] == (2, 1)

    def test_promotion_is_that_of_the_numbers(self, device):
        fast = xp.jit(lambda x, a: (x * a, a - x, x > a))
        x = xp.asarray(np.arange(5, dtype=np.int16))
        for value in (2, 2.5, 3, np.float32(2), np.int32(5), np.int32(6), np.float32(7)):
            assert_alike(fast(x, value), (x * value, value - x, x > value))
        assert fast.cache_info()[:2] == (3, 4)

    def test_functions_of_numpy_are_computed_at_each_call(self, device):
        def function(x, a):
            return x.astype(np.float64) * np.sqrt(a) + np.exp(-a * 2), np.sin(a)

        fast = xp.jit(function)
        x, _ = two_arrays(0)
        for a in (0.5, 2.0):
            assert_alike(fast(x, a), function(x, a))

    def test_functions_with_options(self, device):
        def function(x, a):
            y = x.copy()
            np.add(x, a, out=y)
            np.multiply(y, a > 1, where=x > 0, out=y)
            y.fill(a) if np.ndim(a) else None
            return y, np.full_like(x, a), np.clip(x, None, a), np.subtract(x, a, dtype=x.dtype)

        fast = xp.jit(function)
        x, _ = two_arrays(0)
        for a in (0.5, 2.0):
            assert_alike(fast(x, a), function(x, a))
        assert fast.cache_info()[:2] == (1, 1)

    def test_the_standard_is_kept_where_that_is_asked_for(self, device):
        x, _ = two_arrays(0)
        fast = xp.jit(lambda x, a: (x * a + 1.0, x // a, xp.where(x > a, x, a)))
        with xp.using(strict_array_api=True):
            for a in (0.5, 2.0):
                assert_alike(fast(x, a), (x * a + 1.0, x // a, xp.where(x > a, x, a)))
            with pytest.raises(TypeError, match="does not promote"):
                xp.jit(lambda x, a: x.astype(xp.int32) * a)(x, 0.5)

    def test_they_pass_for_what_they_are(self, device):
        def function(x, a):
            return x * a if isinstance(a, int | float) and np.isscalar(a) else x

        fast = xp.jit(function)
        x, _ = two_arrays(0)
        assert_alike(fast(x, 3.0), x * 3.0)

    def test_assigned(self, device):
        def function(x, a):
            x[1] = a
            x[:, 2] += a
            return xp.full((3,), a, dtype=np.float32)

        fast = xp.jit(function)
        for a in (1.5, -2.0):
            (x, _), (u, _) = two_arrays(0), two_arrays(0)
            assert_alike(fast(x, a), function(u, a))
            assert_same(x, u.get())

    def test_a_number_out_of_range_is_an_error(self, device):
        fast = xp.jit(lambda x, a: x + a)
        x = xp.asarray(np.arange(5, dtype=np.int8))
        assert_alike(fast(x, 5), x + 5)
        with pytest.raises(OverflowError):
            fast(x, 500)

    def test_static_ones_are_part_of_the_signature(self, device):
        def function(x, axis, *, power=2, keep=False):
            return (x**power).sum(axis, keepdims=keep)

        fast = xp.jit(function, static_argnames=("axis", "power"))
        x, _ = two_arrays(0)
        for axis, power in [(0, 2), (1, 2), (1, 3), (1, 3)]:
            assert_alike(fast(x, axis, power=power), function(x, axis, power=power))
        assert_alike(fast(x, axis=(0, 1)), x[None].reshape(-1)[:].__pow__(2).sum())
        assert fast.cache_info()[:2] == (1, 4)
        assert xp.jit(function, static_argnums=-1)(x, 0).shape == (6,)

    def test_functions_and_methods_as_arguments(self, device):
        class Shifted:
            by = 1.0

            def apply(self, x):
                return x + self.by

        def doubled(x):
            return x * 2

        fast = xp.jit(lambda function, x: function(x) + 1)
        x, _ = two_arrays(0)
        shifted = Shifted()
        for _ in range(2):
            for function in (np.sin, xp.exp, doubled, shifted.apply, abs):
                assert_alike(fast(function, x), function(x) + 1)
        assert fast.cache_info()[:2] == (5, 5)
        shifted.by = 3.0
        assert_alike(fast(shifted.apply, x), x + 3.0 + 1)

    def test_static_zeros_have_signs(self, device):
        fast = xp.jit(lambda x, a: np.copysign(x, a), static_argnums=1)
        x, _ = two_arrays(0)
        for a in (0.0, -0.0):
            assert_alike(fast(x, a), np.copysign(x, a))

    def test_unknown_static_names(self):
        with pytest.raises(ValueError, match="static_argnames has \\['axes'\\]"):
            xp.jit(lambda x, axis: x, static_argnames="axes")


class TestWrites:
    def test_to_arguments(self, device):
        def function(x, y, a):
            x += a
            y[1:3] *= 2
            x[::2, 1] = y[::2, 0]
            view = y.T
            view[0] -= 1
            return y

        fast = xp.jit(function)
        x, y = two_arrays(0)
        u, v = two_arrays(0)
        for a in (1.0, 2.5, 4.0):
            assert fast(x, y, a) is y
            function(u, v, a)
            assert_alike((x, y), (u, v))
        assert fast.cache_info()[:2] == (2, 1)

    def test_through_views_and_results(self, device):
        fast = xp.jit(lambda x: (x.__setitem__(0, 5), x[1:], x.reshape(-1))[1:])
        x, _ = two_arrays(0)
        whole = xp.concatenate([x, x])
        for _ in range(2):
            rows, line = fast(whole[8:])
            rows += 1
            line[3] = -1
        expected = np.concatenate([x.get(), x.get()])
        expected[9:] += 1
        expected[9:] += 1
        expected[8] = 5
        expected[8, 3] = -1
        assert_same(whole, expected)

    def test_arguments_with_one_storage(self, device):
        def function(x, y):
            x += 1
            return y * 2

        fast = xp.jit(function)
        for _ in range(2):
            x, y = two_arrays(0)
            assert_same(fast(x, x), (x.get()) * 2)
            before = y.get() * 2
            assert_same(fast(x, y), before)
            assert_same(fast(x, x.T), x.get().T * 2)
        assert fast.cache_info()[:2] == (3, 3)

    def test_new_results_share_among_themselves_only(self, device):
        def function(x):
            y = x + 1
            return y, y[0], y.T

        fast = xp.jit(function)
        x, _ = two_arrays(0)
        first, again = fast(x), fast(x)
        first[0][0] = 7
        assert_alike(first, (first[0], first[0][0], first[0].T))
        assert_alike(again, function(x))

    def test_readers_of_old_values_keep_them(self, device):
        fast = xp.jit(lambda x: x.__setitem__(slice(1, 3), 0))
        x, _ = two_arrays(0)
        old, copied, before = x * 2, x.copy(), x.get()
        fast(x)
        fast(x)
        assert_same(old, before * 2)
        assert_same(copied, before)

    def test_memory_is_written_in_place_if_nobody_else_has_it(self, device):
        def function(x):
            x[1:3] += 1

        fast = xp.jit(function)
        x = xp.asarray(np.zeros((1000, 100), np.float32)) + 0
        fast(x)
        fast(x)
        xp.synchronize()
        xp.reset_stats()
        fast(x)
        assert xp.stats()["launches"] <= 1
        copied = x.copy()
        fast(x)
        assert_same(copied[:3, 0], np.float32([0, 3, 3]))
        assert_same(x[:3, 0], np.float32([0, 4, 4]))

    def test_to_a_read_only_array_or_one_of_numpy(self, device):
        def function(x):
            x += 1
            return x

        fast = xp.jit(function)
        x, _ = two_arrays(0)
        with pytest.raises(ReadOnlyError):
            fast(xp.broadcast_to(x, (3, *x.shape)))
        with pytest.raises(ReadOnlyError):
            fast(x.get())

    def test_nothing_is_written_by_a_recording_that_fails(self, device):
        def function(x):
            x += 1
            return float(x.sum())

        x, _ = two_arrays(0)
        before = x.get()
        with pytest.raises(RecordingError):
            xp.jit(function)(x)
        assert_same(x, before)

    def test_loops_feed_results_back(self, device):
        step = xp.jit(_heat)
        x, y = two_arrays(0)
        u = x
        for _ in range(20):
            x, u = step(x, y), _heat(u, y)
        assert_alike(x, u)


def _draw(rng, n, x):
    noise = rng.standard_normal(5, dtype=np.float32) * n
    return (
        noise,
        rng.random(7, dtype=np.float32),
        rng.integers(0, 10, 3),
        rng.gamma(2.0, size=3, dtype=np.float32),
        rng.permutation(x),
        rng.random((), dtype=np.float32) + x[0],
    )


class TestRandom:
    def test_numbers_of_an_argument_and_of_a_variable(self, device):
        own, other, third = (xp.random.default_rng(7) for _ in range(3))
        fast, around = xp.jit(_draw), xp.jit(lambda n, x: _draw(third, n, x))
        x = xp.arange(6, dtype=np.float32)
        for n in (1.0, 2.0, 3.0):
            expected = _draw(own, n, x)
            assert_alike(fast(other, n, x), expected)
            assert_alike(around(n, x), expected)
        assert fast.cache_info()[:2] == (2, 1)
        assert (
            other.bit_generator.state["state"]["counter"].tolist()
            == own.bit_generator.state["state"]["counter"].tolist()
        )

    def test_another_generator(self, device):
        fast = xp.jit(_draw)
        x = xp.arange(6, dtype=np.float32)
        for seed in (1, 2):
            assert_alike(fast(xp.random.default_rng(seed), 1.0, x), _draw(xp.random.default_rng(seed), 1.0, x))
        assert fast.cache_info()[:2] == (1, 1)

    def test_one_made_inside(self, device):
        fast = xp.jit(lambda x: x + xp.random.default_rng(3).random(4, dtype=np.float32))
        x = xp.arange(4, dtype=np.float32)
        for _ in range(2):
            assert_alike(fast(x), x + xp.random.default_rng(3).random(4, dtype=np.float32))
        with pytest.raises(RecordingError, match="without a seed"):
            xp.jit(lambda x: x + xp.random.default_rng().random(4))(x)

    def test_states_are_not_seen(self, device):
        rng = xp.random.default_rng(3)
        for use in (lambda x: rng.bit_generator.state, lambda x: rng.spawn(2), lambda x: rng.bytes(4)):
            with pytest.raises(RecordingError, match="random"):
                xp.jit(use)(xp.arange(3))


class TestRefusals:
    @pytest.mark.parametrize(
        ("function", "asked"),
        [
            (lambda x, n: x if x.sum() > 0 else -x, "truth value"),
            (lambda x, n: x if n > 0 else -x, "truth value of a number"),
            (lambda x, n: x.reshape(n, -1), "as an integer .* of the number 'n'"),
            (lambda x, n: float(x[0, 0]), "as a float"),
            (lambda x, n: x * int(n), "as an int"),
            (lambda x, n: np.asarray(x), "NumPy array"),
            (lambda x, n: x[x > 1], "elements of a mask"),
            (lambda x, n: np.zeros(n), "as an integer"),
            (lambda x, n: f"{x}", "the text"),
            (lambda x, n: f"{n}", "the text"),
            (lambda x, n: np.unique(x), "for unique"),
            (lambda x, n: x.tolist(), "for tolist"),
            (lambda x, n: xp.repeat(x[0], x[0].astype(int)), "for repeat"),
            (lambda x, n: [float(v) for v in x[0]], "as a float"),
            (lambda x, n: n**n, "to the power"),
            (lambda x, n: x.astype(np.int32) ** n, "an integer power"),
            (lambda x, n: x.to_device("cpu" if x.device.kind != "cpu" else "cpuf32"), "to_device"),
        ],
    )
    def test_what_asks_for_values(self, device, function, asked):
        x, _ = two_arrays(0)
        with pytest.raises(RecordingError, match=asked) as caught:
            xp.jit(function)(x, 2)
        error = caught.value.__cause__ or caught.value  # NumPy may have put an error of its own in its place
        lines = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
        assert "<lambda>" in lines

    def test_an_error_that_the_function_catches(self, device):
        def function(x):
            try:
                return x * float(x[0, 0])
            except TypeError:
                return x

        x, _ = two_arrays(0)
        with pytest.raises(RecordingError):
            xp.jit(function)(x)

    def test_positions_are_checked_at_each_call(self, device):
        def function(x, rows):
            y = x[rows[1:]] * 2
            y[rows[:1]] = 5
            return y

        fast = xp.jit(function)
        x, _ = two_arrays(0)
        for given in ([1, 0, 3], [0, 7, 2], [1, -1, 5], [-2, -1, -1], [0, 3, 4]):
            rows = xp.asarray(given)
            assert_alike(fast(x, rows), function(x, rows))
        assert fast.cache_info().misses == 3
        for given in ([0, 8, 0], [2, 0, 0], [0, -9, 0]):
            with pytest.raises(IndexError, match="out of bounds"):
                fast(x, xp.asarray(given))
        rows += 6
        with pytest.raises(IndexError, match="index 9 is out of bounds"):
            fast(x, rows)

    def test_positions_are_not_checked_if_that_is_said(self, device):
        def function(x, rows):
            with xp.using(check_indices=False):
                return x[rows % 8]

        fast = xp.jit(function)
        x, _ = two_arrays(0)
        for given in ([0, 3], [-1, 5]):
            assert_alike(fast(x, xp.asarray(given)), x[xp.asarray(given) % 8])
        with pytest.raises(RecordingError, match="whether positions are in range"):
            xp.jit(lambda x, rows: x[rows + 1])(x, xp.asarray(given))

    def test_values_that_do_not_depend_on_the_call(self, device):
        fast = xp.jit(lambda x: x * float(xp.arange(5).sum()))
        x, _ = two_arrays(0)
        for _ in range(2):
            assert_alike(fast(x), x * 10.0)

    def test_arguments_and_results_of_other_kinds(self, device):
        x, _ = two_arrays(0)
        with pytest.raises(TypeError, match="has no hash"):
            xp.jit(lambda x, s: x)(x, {1, 2})
        with pytest.raises(TypeError, match="name arrays as static"):
            xp.jit(lambda x: x, static_argnums=0)(x)
        with pytest.raises(RecordingError, match="returned a set"):
            xp.jit(lambda x: {1})(x)
        with pytest.raises(TypeError, match="jit takes a function"):
            xp.jit(5)

    def test_the_functions_own_errors(self, device):
        fast = xp.jit(lambda x, y: x @ y)
        x, y = two_arrays(0)
        for _ in range(2):
            with pytest.raises(ValueError, match="matmul"):
                fast(x, y)
        assert fast.cache_info().misses == 0


def test_each_run_has_its_own_scalars() -> None:
    x = xp.asarray(np.ones(1000), device="cpu")
    scaled = xp.jit(lambda x, s: xp.stack([x * s, x / (s * s + s)]))
    for s in (0.0, -0.0, 0.0, np.nan, 1.0, 1.0, -0.0, 2.5):
        with np.errstate(all="ignore"):
            expected = np.stack([np.ones(1000) * s, np.ones(1000) / (np.float64(s) * s + s)])
        assert scaled(x, s).get().tobytes() == expected.tobytes()
