"""Operators on large arrays in host memory take the memory of temporary results, and of nothing else."""

import dis
import functools
import operator
import tracemalloc
from types import CodeType

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.array import compiled, temporaries
from gpuarray.array.temporaries import LEFT, NOT_TAKEN, RIGHT

SHAPE = (200, 200)


@pytest.fixture(autouse=True)
def at_once():
    with xp.using(device="cpu", direct_limit=1 << 19):
        yield


def numbers(seed, dtype=float):
    return np.random.default_rng(seed).random(SHAPE).astype(dtype)


def operators(code: CodeType) -> list[int]:
    return [result.offset for result in dis.get_instructions(code) if result.opname == "BINARY_OP"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x * y + z", LEFT),
        ("z - x * y", RIGHT),
        ("x * y + z[1:n, :]", LEFT),
        ("x * y + m.f(z, n)", LEFT),
        ("x * y + m.a.b", LEFT),
        ("x * y + (-z)", LEFT),
        ("f(x * y) + z", NOT_TAKEN),
        ("[x * y][0] + z", NOT_TAKEN),
        ("(w := x * y) + z", NOT_TAKEN),
        ("[x * y for _ in z] + z", NOT_TAKEN),
        ("z.f(x * y) + z", NOT_TAKEN),
    ],
)
def test_what_an_operator_takes_follows_from_the_code(text: str, expected: int) -> None:
    code = compile(text, "<test>", "eval")
    actual = operators(code)
    if expected == NOT_TAKEN:
        assert all(temporaries.taken(code, a, b) == NOT_TAKEN for a in actual for b in actual)
    else:
        first, last = actual[0], actual[-1]
        assert temporaries.taken(code, first, last) == expected
        assert temporaries.taken(code, last, first) == NOT_TAKEN


def test_calls_and_operators_of_one_value_make_and_take_results() -> None:
    text = "-(~f(x) * 2) if f(*x) + z else 0"
    code = compile(text, "<test>", "eval")
    offsets = {instruction.opname: instruction.offset for instruction in dis.get_instructions(code)}
    call, spread, invert, negative = (
        offsets[name] for name in ("CALL", "CALL_FUNCTION_EX", "UNARY_INVERT", "UNARY_NEGATIVE")
    )
    plus, times = sorted(operators(code))
    assert temporaries.taken(code, call, invert) == LEFT
    assert temporaries.taken(code, invert, times) == LEFT
    assert temporaries.taken(code, times, negative) == LEFT
    assert temporaries.taken(code, spread, plus) == LEFT
    assert temporaries.taken(code, call, times) == NOT_TAKEN
    assert temporaries.taken(code, spread, times) == NOT_TAKEN


def test_no_statement_between_two_operators_is_passed_over() -> None:
    code = compile("w = x * y\nv = w + z", "<test>", "exec")
    assert temporaries.taken(code, *operators(code)) == NOT_TAKEN


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_values_are_numpys(dtype: str) -> None:
    a, b = numbers(0, dtype), numbers(1, dtype)

    def compute(x, y):
        whole = 2.0 * x * y + x / (y + 1.5) - (x - y) * 3 + x[0] * y
        inner = x[1:-1, 1:-1] * 4.0 - x[2:, 1:-1] - x[:-2, 1:-1] + (y[1:-1, 2:] - y[1:-1, :-2])
        return whole, inner, -(x * y) + y * (x * y), 1.0 - x * y, 1.0 / (x + y) - y

    for actual, expected in zip(compute(xp.asarray(a), xp.asarray(b)), compute(a, b), strict=True):
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual.get(), expected)


def most_memory(compute):
    """Return the largest sum of the sizes of arrays that exist at a time during a call."""
    compute()  # caches of the interpreter fill
    tracemalloc.start()
    try:
        compute()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not compiled.IS_COMPILED, reason="operators in Python make new memory")
def test_a_temporary_result_gives_its_memory_to_the_next() -> None:
    x, y = xp.asarray(numbers(0)), xp.asarray(numbers(1))
    one = most_memory(lambda: x * y)
    assert x.nbytes <= one < 1.2 * x.nbytes
    assert most_memory(lambda: x * y + x - y) < 1.2 * one
    assert most_memory(lambda: x - x * y) < 1.2 * one
    assert most_memory(lambda: (kept := x * y) - x) > 1.8 * one  # noqa: F841


@pytest.mark.skipif(not compiled.IS_COMPILED, reason="operators in Python make new memory")
def test_results_of_functions_and_of_other_operators_give_their_memory_too() -> None:
    x, whole, mask = xp.asarray(numbers(0)), xp.arange(200 * 200), xp.zeros((512, 1024), dtype=bool)
    for array, compute in [
        (x, lambda: xp.clip(x, 0.0, 0.5) * 2.0),
        (x, lambda: (x + x) ** 2),
        (x, lambda: -(x * x)),
        (x, lambda: np.exp(x) - x),
        (whole, lambda: (whole + 1) // 3 % 7),
        (mask, lambda: ~(mask & mask) | mask),
    ]:
        assert array.nbytes <= most_memory(compute) < 1.2 * array.nbytes


def test_results_of_functions_that_something_keeps_do_not_change() -> None:
    a = numbers(0)
    x = xp.asarray(a)
    clipped = functools.lru_cache(lambda low, high: xp.clip(x, low, high))
    with_numbers = functools.lru_cache(xp.full)
    shared = []

    def kept(array):
        shared.append(array)
        return array

    for _ in range(2):
        np.testing.assert_array_equal((clipped(0.25, 0.5) * 2).get(), np.clip(a, 0.25, 0.5) * 2)
        np.testing.assert_array_equal((with_numbers(SHAPE, 0.25) * 2).get(), np.full(SHAPE, 0.5))
        np.testing.assert_array_equal((kept(xp.clip(x, 0.25, 0.5)) * 2).get(), np.clip(a, 0.25, 0.5) * 2)
    for array in (clipped(0.25, 0.5), *shared):
        np.testing.assert_array_equal(array.get(), np.clip(a, 0.25, 0.5))
    total = functools.reduce(xp.add, [x, x, x]) * 2 + xp.transpose(x)
    np.testing.assert_array_equal(total.get(), (a + a + a) * 2 + a.T)
    np.testing.assert_array_equal((xp.reshape(x, SHAPE) * 2 - x).get(), a)
    np.testing.assert_array_equal(x.get(), a)


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "f4", "c8"])
def test_values_of_other_operators_are_numpys(dtype: str) -> None:
    shape = (500, 1000)
    rng = np.random.default_rng(2)
    a, b = (rng.integers(1, 9, shape).astype(dtype) for _ in range(2))

    def results(x, y):
        for compute in (
            lambda: (x + y) ** 2,
            lambda: (x * y) ** 2.0,
            lambda: (x + y) // y,
            lambda: (x * y) % 3,
            lambda: -(x * y),
            lambda: ~(x & y) ^ x,
            lambda: (x | y) << 1,
            lambda: 2 ** (x + y),
            lambda: (x + y) / 2,
            lambda: (x * y) + True,
            lambda: ~(x > y) & (x != y),
        ):
            try:
                yield compute()
            except TypeError:
                yield None

    # NumPy's square of a temporary result of booleans is an error, but not that of a part
    parts = zip(*(results(a[i : i + 100], b[i : i + 100]) for i in range(0, shape[0], 100)), strict=True)
    for actual, expected in zip(results(xp.asarray(a), xp.asarray(b)), parts, strict=True):
        if expected[0] is None:
            assert actual is None
        else:
            assert actual.dtype == expected[0].dtype
            np.testing.assert_array_equal(actual.get(), np.concatenate(expected))


def test_what_a_name_or_a_container_refers_to_keeps_its_value() -> None:
    a, b = numbers(0), numbers(1)
    x, y = xp.asarray(a), xp.asarray(b)
    product = x * y
    total = product + x
    held = [x * y]
    sums = held[0] + x, held[0].__add__(x), operator.add(held[0], x)
    walrus = (kept := x * y) + x
    view = (x * y)[1:] + x[1:]
    for array in (product, held[0], kept):
        np.testing.assert_array_equal(array.get(), a * b)
    for array in (total, *sums, walrus):
        np.testing.assert_array_equal(array.get(), a * b + a)
    np.testing.assert_array_equal(view.get(), (a * b + a)[1:])
    np.testing.assert_array_equal(x.get(), a)


def test_arrays_that_an_array_of_objects_repeats_raise_an_error_or_have_a_name() -> None:
    a, b = numbers(0), numbers(1)
    one, several = np.empty(1, object), np.empty(2, object)
    one[0], several[:] = xp.asarray(a), [xp.asarray(b), xp.asarray(a)]
    with pytest.raises(RuntimeError, match="give the result of the first operator a name"):
        one * one + several
    squares = one * one
    for actual, expected in zip(squares + several, (a * a + b, a * a + a), strict=True):
        np.testing.assert_array_equal(actual.get(), expected)
    np.testing.assert_array_equal((several * several + several)[1].get(), a * a + a)


def test_results_of_other_calls_keep_their_value() -> None:
    a, b = numbers(0), numbers(1)
    x, y = xp.asarray(a), xp.asarray(b)
    kept = []

    def keep(array):
        kept.append(array)
        return array

    def product(depth):
        return x * y if not depth else keep(product(depth - 1)) + x

    np.testing.assert_allclose(product(2).get(), a * b + 2 * a)
    np.testing.assert_array_equal(kept[0].get(), a * b)
    generator = ((keep(x * y) + x) - y for _ in range(2))
    for result in generator:
        np.testing.assert_array_equal(result.get(), a * b + a - b)
    assert len(kept) == 4
    np.testing.assert_array_equal(kept[-1].get(), a * b)


def test_arrays_of_objects() -> None:
    a, b = numbers(0), numbers(1)
    boxes = np.empty(2, object)
    boxes[:] = [xp.asarray(a), xp.asarray(b)]
    result = boxes * boxes + boxes
    for array, host in zip(result, (a, b), strict=True):
        np.testing.assert_array_equal(array.get(), host * host + host)


def test_other_dtypes_and_shapes_get_memory_of_their_own() -> None:
    a, b = numbers(0, "f4"), numbers(1, "f8")
    x, y = xp.asarray(a), xp.asarray(b)
    for actual, expected in [
        (x * x + y, a * a + b),
        (x * x + 1j, a * a + 1j),
        (x[0] * x + y[:1], a[0] * a + b[:1]),
        ((x > 0.5) * 1 + (y > 0.5), (a > 0.5) * 1 + (b > 0.5)),
        (x * x + y[0, 0], a * a + b[0, 0]),
    ]:
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual.get(), expected)


def test_what_fails_has_numpys_error() -> None:
    x, y = xp.asarray(numbers(0)), xp.asarray(numbers(1))
    for compute in (lambda: x * y + 10**400, lambda: 10**400 - x * y):
        with pytest.raises(OverflowError):
            compute()
