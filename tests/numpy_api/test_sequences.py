"""Ufunc methods that go through elements in order: ``at``, ``reduceat``, and folds of what does not associate."""

import numpy as np
import pytest

import gpuarray
from gpuarray.runtime import telemetry

RANDOM = np.random.default_rng(7)
A = RANDOM.integers(1, 6, (6, 5))
PLACES = np.array([3, -1, 3, 0, 3, 3, -6, 2])
VALUES = RANDOM.integers(1, 4, (8, 5))
DTYPES = ["bool", "uint8", "int16", "int32", "int64", "float16", "float32", "complex64"]
# of power and arctan2, the vectorised loops of NumPy 2 take the last element of a line only
FUNCTIONS = [
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.fmin, np.hypot, np.copysign, np.fmod, np.floor_divide,
    np.bitwise_xor, np.left_shift, np.logical_and, np.greater,
]  # fmt: skip

METHODS = {
    "at": lambda f, x, p, v: f.at(x, p, v),
    "at columns": lambda f, x, p, v: f.at(x, (slice(None, None, 2), p % 5), v[0, 0]),
    "at scalar": lambda f, x, p, v: f.at(x.T, (p % 5, 1), 2),
    "at basic": lambda f, x, p, v: f.at(x.T, 2, v[:6, 0]),
    "at mask": lambda f, x, p, v: f.at(x, x > 3, v[1, 1]),
    "reduceat": lambda f, x, p, v: f.reduceat(x, [0, 3, 1, 1, 5]),
    "reduceat axis": lambda f, x, p, v: f.reduceat(x, p[:2] % 3, axis=1),
    "reduce": lambda f, x, p, v: f.reduce(x),
    "reduce axis": lambda f, x, p, v: f.reduce(x[:, ::-1], 1, keepdims=True),
    "reduce initial": lambda f, x, p, v: f.reduce(x, 0, initial=1),
    "accumulate": lambda f, x, p, v: f.accumulate(x, 1),
    "outer": lambda f, x, p, v: f.outer(x[0], v[0]),
}


@pytest.fixture(autouse=True)
def _fresh_counters():
    telemetry.reset_stats()


def _outcome(method, function, x, p, v):
    try:
        with np.errstate(all="ignore"):
            result = METHODS[method](function, x, p, v)
    except (TypeError, ValueError) as error:
        return type(error) if isinstance(error, ValueError) else TypeError
    return x if result is None else result


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_methods_agree_with_numpy(method, function, put, same):
    for dtype in DTYPES:
        values = VALUES.astype(dtype)
        expected = _outcome(method, function, A.astype(dtype), PLACES, values)
        actual = _outcome(method, function, put(A.astype(dtype)), put(PLACES), put(values))
        if isinstance(expected, type):
            assert actual is expected, f"{dtype}: {actual}"
            continue
        host = np.asarray(actual)
        assert (host.shape, host.dtype) == (expected.shape, expected.dtype)
        close = {"e": 1e-2, "f": 1e-6, "d": 1e-12, "F": 1e-6, "D": 1e-12}.get(expected.dtype.char, 0)
        np.testing.assert_allclose(host, expected, rtol=close, err_msg=f"{dtype}")


@pytest.mark.parametrize("function", [np.power, np.arctan2], ids=lambda f: f.__name__)
def test_lines_are_folded_in_order(function, put):
    line = np.array([1.5, 1.25, 0.75, 2.0], np.float32)
    expected = line[0]
    for value in line[1:]:
        expected = function(expected, value)
    for actual in (
        function.reduce(put(line)),
        function.reduceat(put(line), [0])[0],
        function.accumulate(put(line))[-1],
    ):
        np.testing.assert_allclose(float(actual), expected, rtol=1e-6)


def test_updates_of_one_element_come_in_order(put, same):
    x, expected = put(np.zeros(3, np.float32)), np.zeros(3, np.float32)
    places = np.tile([1, 2, 1], 200)
    values = RANDOM.random(600).astype(np.float32) * 1e6
    for target in (x, expected):
        np.add.at(target, places, values)
    same(x, expected)
    for target in (x, expected):
        np.negative.at(target, places[:4])
        np.subtract.at(target[::-1], places[:9], values[:9])
    same(x, expected)


def test_components_and_bits_are_updated(put, same):
    expected = (A[0] + 1j).astype(np.complex64)
    x = put(expected)
    for target in (x, expected):
        np.add.at(target.imag, [0, 0, 4], np.float32(2))
        np.maximum.at(target.real, [3, 3], 9)
    same(x, expected)


def test_values_are_broadcast_to_the_selection(put, same):
    # NumPy's own takes the first of the rows only
    x = put(np.zeros(4, np.int32))
    np.add.at(x, np.array([[0, 1, 2], [2, 2, 3]]), np.array([1, 10, 100]))
    same(x, np.array([1, 10, 111, 100], np.int32))


def test_nothing_runs_on_the_host(put):
    x = put(A.astype(np.float32))
    with gpuarray.using(fallback="error", transfer="error"):
        np.add.at(x, put(PLACES), put(VALUES.astype(np.float32)))
        np.subtract.reduce(x)
        np.divide.accumulate(x)
        gpuarray.evaluate(x, np.add.reduceat(x, [0, 2]), np.subtract.outer(x, x))
    assert telemetry.stats()["fallbacks"] == 0


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: np.add.at(x, [6], 1), IndexError),
        (lambda x: np.add.at(x, [0, 1], np.ones((3, 5))), ValueError),
        (lambda x: np.add.at(np.broadcast_to(x, (2, 6, 5)), (slice(None), slice(None), [0]), 1), ValueError),
        (lambda x: np.add.reduceat(x, [6]), IndexError),
        (lambda x: np.add.reduceat(x, [-1]), IndexError),
        (lambda x: np.add.reduceat(x, [[0]]), ValueError),
        (lambda x: np.add.reduceat(x[0, 0:1].reshape(()), [0]), TypeError),
        (lambda x: np.subtract.reduce(x, axis=None), ValueError),
        (lambda x: np.subtract.reduce(x[:0]), ValueError),
        (lambda x: np.subtract.accumulate(x, 2), ValueError),
        (lambda x: np.subtract.reduce(x, out=np.zeros(4)), ValueError),
        (lambda x: np.subtract.reduce(x[0, 0, ...], axis=5), np.exceptions.AxisError),
        (lambda x: np.subtract.accumulate(x[0, 0, ...], 3), np.exceptions.AxisError),
        (lambda x: np.maximum.accumulate(x[0, 0, ...], 3), np.exceptions.AxisError),
        (lambda x: np.maximum.accumulate(x[0, 0, ...]), TypeError),
        (lambda x: np.gcd.reduceat(x, [9]), IndexError),
    ],
)
def test_errors_are_numpys(call, error, put):
    for x in (A.astype(np.float64), put(A.astype(np.float64))):
        with pytest.raises(error):
            call(x)
