"""Every method and keyword of NumPy's ufuncs, with arrays of this package in any place."""

import warnings

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import dispatch
from gpuarray.array import GpuArray

A = np.array([[1.5, -2.0, 0.25], [3.0, 4.0, -0.5]])
B = np.array([[2.0, 0.5, -1.0], [1.0, 3.0, 2.0]])
K = np.array([[1, 2, 3], [4, 5, 6]])
U = np.array([[1, 2, 250], [4, 5, 6]], np.uint8)
M = np.array([[True, False, True], [False, False, True]])
F = A.astype(np.float32)
C = A + 1j * B
N = np.array([[1.0, np.nan], [np.nan, np.nan]])

UFUNCS = sorted(
    {u for u in vars(np).values() if isinstance(u, np.ufunc) and u.signature is None and u is not np.isnat},
    key=lambda u: u.__name__,
)


def _operands(ufunc):
    """Return operands of the first dtypes that the ufunc takes."""
    for sample in (np.abs(A), np.abs(K), M):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                arguments = [sample, sample[:1]][: ufunc.nin]
                ufunc(*arguments)
        except TypeError:
            continue
        return arguments
    second = [np.abs(A), np.abs(K)]
    return second[: ufunc.nin]


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_call(ufunc, agree):
    operands = _operands(ufunc)
    agree(lambda p: ufunc(*map(p, operands)))
    if ufunc.nin == 2:
        agree(lambda p: ufunc(p(operands[0]), operands[1]))
        agree(lambda p: ufunc(operands[0], p(operands[1])))


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_out_and_where(ufunc, put, same):
    operands = _operands(ufunc)
    with np.errstate(all="ignore"):
        results = ufunc(*operands)
        results = results if ufunc.nout > 1 else (results,)
        for mask in (True, M, M[:1], False):
            expected = tuple(np.full_like(r, 3) for r in results)
            ufunc(*operands, out=expected, where=mask)
            for ours in (True, False):
                outs = tuple(np.full_like(r, 3) for r in results)
                outs = tuple(map(put, outs)) if ours else outs
                given = mask if isinstance(mask, bool) else put(mask)
                actual = ufunc(*map(put, operands), out=outs, where=given)
                assert all(a is b for a, b in zip(actual if ufunc.nout > 1 else (actual,), outs, strict=True))
                same(outs, expected)


CALLS = [
    lambda p: np.add(p(K), p(U), dtype=np.float32),
    lambda p: np.add(p(F), 1.5, dtype=np.float64),
    lambda p: np.divide(p(K), 3, dtype=np.float32),
    lambda p: np.multiply(p(K), p(K), dtype=np.int8, casting="unsafe"),
    lambda p: np.add(p(A), 1, signature="dd->d"),
    lambda p: np.add(p(F), p(F), signature=(np.float64, np.float64, None)),
    lambda p: np.add(p(A), p(B), order="F", subok=False),
    lambda p: np.subtract(p(C), p(A), casting="safe"),
    lambda p: np.equal(p(K), 2.5),
    lambda p: np.less(p(U), 300),
    lambda p: np.greater(p(U), -1),
    lambda p: np.add([1, 2, 3], p(A)),
    lambda p: np.add(p(F), np.float64(2)),
    lambda p: np.add(p(F), 2.0),
    lambda p: np.divmod(p(A), 0.75),
    lambda p: np.divmod(p(K), p(U)),
    lambda p: np.frexp(p(A)),
    lambda p: np.modf(p(A)),
    lambda p: np.matmul(p(A), p(B.T)),
    lambda p: np.matmul(p(K), p(U.T)),
    lambda p: np.matmul(p(A), B.T),
    lambda p: np.matmul(p(A), p(B.T), dtype=np.float32, casting="same_kind"),
    lambda p: np.vecdot(p(C), p(A)),
    lambda p: np.matvec(p(A), p(B[0])),
    lambda p: np.vecmat(p(C[:, 0]), p(C)),
    lambda p: np.vecdot(p(A), p(B), axis=0),
    lambda p: np.matmul(p(A), p(B), axes=[(0, 1), (1, 0), (0, 1)]),
    lambda p: np.ldexp(p(F), 2),
    lambda p: np.add(p(np.array(2.0)), 3),
    lambda p: np.add(p(np.zeros((0, 3))), p(A[0])),
]


@pytest.mark.parametrize("position", range(len(CALLS)))
def test_call_with_keywords(position, agree):
    agree(CALLS[position])


REDUCIBLE = [
    np.add, np.multiply, np.minimum, np.maximum, np.fmin, np.fmax, np.logical_and, np.logical_or, np.logical_xor,
    np.subtract, np.divide, np.hypot, np.arctan2, np.logaddexp, np.power,
]  # fmt: skip
INTEGER = [np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.gcd, np.lcm]
_REORDERABLE = {u for u in REDUCIBLE + INTEGER if u.identity is not None or u in (np.minimum, np.maximum)} - {
    np.subtract, np.divide, np.power,
}  # fmt: skip


# of power and arctan2, NumPy's vectorised loops take the last element of a line only; test_sequences.py has them
FOLDED = [u for u in REDUCIBLE + INTEGER if u not in (np.power, np.arctan2)]


@pytest.mark.parametrize("ufunc", FOLDED, ids=lambda u: u.__name__)
def test_reduce(ufunc, agree):
    values = np.abs(K) if ufunc in INTEGER else np.abs(A)
    agree(lambda p: ufunc.reduce(p(values)))
    agree(lambda p: ufunc.reduce(p(values), axis=-1, keepdims=True))
    agree(lambda p: ufunc.reduce(p(values), 1, initial=1))
    if ufunc in _REORDERABLE:
        agree(lambda p: ufunc.reduce(p(values), axis=None))
        agree(lambda p: ufunc.reduce(p(values), axis=(0, 1)))
        agree(lambda p: ufunc.reduce(p(values), axis=(), keepdims=True))
        agree(lambda p: ufunc.reduce(p(values), where=p(M), initial=2))


@pytest.mark.parametrize("ufunc", REDUCIBLE + INTEGER, ids=lambda u: u.__name__)
def test_accumulate(ufunc, agree):
    values = np.abs(K) if ufunc in INTEGER else np.abs(A)
    agree(lambda p: ufunc.accumulate(p(values)))
    agree(lambda p: ufunc.accumulate(p(values), axis=1))


@pytest.mark.parametrize("ufunc", FOLDED, ids=lambda u: u.__name__)
def test_reduceat_and_outer(ufunc, agree):
    values = np.abs(K) if ufunc in INTEGER else np.abs(A)
    agree(lambda p: ufunc.reduceat(p(values), [0, 2, 1], axis=1))
    agree(lambda p: ufunc.outer(p(values[0]), p(values)))
    agree(lambda p: ufunc.outer(values[0], p(values)))
    agree(lambda p: ufunc.outer(p(values), 2))


REDUCTIONS = [
    lambda p: np.add.reduce(p(U)),
    lambda p: np.add.reduce(p(M)),
    lambda p: np.add.reduce(p(U), dtype=np.uint8),
    lambda p: np.add.reduce(p(F), axis=None, dtype=np.float64),
    lambda p: np.multiply.reduce(p(K), dtype=np.float32),
    lambda p: np.maximum.reduce(p(M)),
    lambda p: np.logical_or.reduce(p(K)),
    lambda p: np.logical_and.reduce(p(A), axis=None),
    lambda p: np.add.reduce(p(np.array(3.0)), axis=0),
    lambda p: np.add.reduce(p(np.zeros((0, 2)))),
    lambda p: np.multiply.reduce(p(np.zeros((0, 2), int)), axis=None),
    lambda p: np.maximum.reduce(p(np.zeros((0, 2))), initial=-1),
    lambda p: np.add.reduce(p(K), initial=1.5),
    lambda p: np.add.reduce(p(K), where=False),
    lambda p: np.minimum.reduce(p(A), axis=1, where=M, initial=np.inf),
    lambda p: np.maximum.reduce(p(N), axis=1),
    lambda p: np.fmax.reduce(p(N), axis=1),
    lambda p: np.fmin.reduce(p(N), axis=None),
    lambda p: np.bitwise_and.reduce(p(U), axis=1, where=p(M)),
    lambda p: np.add.reduce(p(C)),
    lambda p: np.multiply.accumulate(p(K), 1, np.float64),
    lambda p: np.add.accumulate(p(U), axis=1),
    lambda p: np.maximum.accumulate(p(N), axis=1),
    lambda p: np.logical_or.accumulate(p(K)),
    lambda p: np.add.outer(p(K), p(F), dtype=np.float32, casting="same_kind"),
]


@pytest.mark.parametrize("position", range(len(REDUCTIONS)))
def test_methods_with_keywords(position, agree):
    agree(REDUCTIONS[position])


METHODS_WITH_OUT = [
    (lambda p, out: np.add.reduce(p(A), out=out), (3,), float),
    (lambda p, out: np.add.reduce(p(A), 0, None, out), (3,), np.float32),
    (lambda p, out: np.add.reduce(p(A), out=(out,)), (3,), float),
    (lambda p, out: np.add.accumulate(p(A), 1, out=out), (2, 3), float),
    (lambda p, out: np.subtract.reduce(p(A), out=out), (3,), float),
    (lambda p, out: np.subtract.accumulate(p(A), out=out), (2, 3), float),
    (lambda p, out: np.add.reduceat(p(A), [0, 1], out=out), (2, 3), float),
    (lambda p, out: np.add.outer(p(A[0]), p(B[0]), out=out), (3, 3), float),
    (lambda p, out: np.matmul(p(A), p(B.T), out=out), (2, 2), float),
    (lambda p, out: np.add(p(A[0]), p(B[0]), out=out), (2, 3), float),
    (lambda p, out: np.exp(p(A), out), (2, 3), np.float32),
]


@pytest.mark.parametrize("ours", [True, False], ids=["ours", "numpy"])
@pytest.mark.parametrize("position", range(len(METHODS_WITH_OUT)))
def test_methods_with_out(position, ours, put, same):
    case, shape, dtype = METHODS_WITH_OUT[position]
    expected = np.zeros(shape, dtype)
    case(np.array, expected)
    out = np.zeros(shape, dtype)
    out = put(out) if ours else out
    assert case(put, out) is out
    same(out, expected)


def test_outs_of_several_results(put, same):
    quotient, remainder = put(np.zeros((2, 3))), np.zeros((2, 3))
    result = np.divmod(put(A), 0.75, out=(quotient, remainder))
    assert result[0] is quotient
    assert result[1] is remainder
    same((quotient, remainder), np.divmod(A, 0.75))
    mantissa = put(np.zeros((2, 3)))
    result = np.frexp(put(A), out=(mantissa, None))
    assert result[0] is mantissa
    same(result, np.frexp(A))


@pytest.mark.parametrize("name", ["divmod", "frexp", "modf"])
def test_functions_of_two_results_take_what_ufuncs_take(name, put, same):
    operands = (A, 0.75) if name == "divmod" else (A,)
    dtype = np.int32 if name == "frexp" else float
    for arguments in (
        lambda first, second: ((first, second), {}),
        lambda first, second: ((first,), {}),
        lambda first, second: ((), {"out": (None, second)}),
        lambda first, second: ((), {"out": (first, second), "where": A > 0}),
        lambda first, second: ((), {"casting": "safe"}),
    ):
        expected, actual = [], []
        for function, convert, results in ((getattr(np, name), np.array, expected), (getattr(xp, name), put, actual)):
            first, second = convert(np.full((2, 3), 7.0)), convert(np.full((2, 3), 7, dtype))
            given, keywords = arguments(first, second)
            results += function(convert(operands[0]), *operands[1:], *given, **keywords), first, second
        same(actual[0], expected[0])
        same(actual[1:], expected[1:])
    with pytest.raises(TypeError, match="positional and keyword"):
        getattr(xp, name)(put(A), *operands[1:], put(A), out=(None, None))


def test_out_may_overlap_an_operand(put, same):
    expected, actual = A.copy(), put(A)
    for x in (expected, actual):
        np.add(x[:, 1:], x[:, :-1], out=x[:, 1:])
        np.multiply(x, x[::-1], out=x)
    same(actual, expected)


def test_numpy_operators_with_our_operand(put, same):
    for function in (lambda x, y: x + y, lambda x, y: x < y, lambda x, y: x @ y.T, lambda x, y: x**2 / y):
        result = function(A, put(B))
        assert isinstance(result, GpuArray)
        same(result, function(A, B))
    host = A.copy()
    host += put(B)
    same(host, A + B)


ERRORS = [
    (lambda p: np.bitwise_and(p(A), 1), TypeError),
    (lambda p: np.add(p(A), p(K.T)), ValueError),
    (lambda p: np.add(p(A), 1, out=p(np.zeros(3))), ValueError),
    (lambda p: np.add(p(A), 1, out=p(np.zeros((2, 3), int))), TypeError),
    (lambda p: np.add(p(A), 1, dtype=np.int64), TypeError),
    (lambda p: np.add(p(A), p(K), casting="no"), TypeError),
    (lambda p: np.add(p(A), 1, where=p(K), out=None), TypeError),
    (lambda p: np.add(p(U), 300), OverflowError),
    (lambda p: np.add(p(A), "text"), TypeError),
    (lambda p: np.isnat(p(A)), TypeError),
    (lambda p: np.strings.upper(p(A)), TypeError),
    (lambda p: np.bitwise_or.reduce(p(A)), TypeError),
    (lambda p: np.maximum.reduce(p(np.zeros((0, 2)))), ValueError),
    (lambda p: np.maximum.reduce(p(A), where=p(M)), ValueError),
    (lambda p: np.add.reduce(p(A), axis=2), np.exceptions.AxisError),
    (lambda p: np.add.reduce(p(A), axis=(0, 0)), ValueError),
    (lambda p: np.add.reduce(p(A), out=p(np.zeros(2))), ValueError),
    (lambda p: np.add.accumulate(p(np.array(1.0))), TypeError),
    (lambda p: np.negative.reduce(p(A)), ValueError),
    (lambda p: np.negative.outer(p(A), p(A)), ValueError),
    (lambda p: np.matmul.outer(p(A), p(A)), TypeError),
    (lambda p: np.matmul(p(A), p(A)), ValueError),
    (lambda p: np.matmul(p(A), 2), ValueError),
    (lambda p: np.vecdot(p(A), p(A[:, :2])), ValueError),
    (lambda p: np.add(p(A), 1, nonsense=2), TypeError),
]


@pytest.mark.parametrize("position", range(len(ERRORS)))
def test_errors_are_those_of_numpy(position, put):
    case, error = ERRORS[position]
    with pytest.raises(error):
        case(np.array)
    with pytest.raises(error):
        np.asarray(case(put))


def test_unsupported_dtypes_are_refused(put):
    with pytest.raises(TypeError, match="not supported"):
        np.add(put(A), np.ones(3, np.longdouble))
    with pytest.raises(TypeError):
        np.add(put(A), np.array(["a", "b", "c"]))
    with pytest.raises(TypeError):
        np.add(put(A), 1, dtype=object)


def test_a_ufunc_of_somebody_else_runs_on_the_host(put, same):
    doubled = np.frompyfunc(lambda x: 2.0 * x, 1, 1)
    result = doubled(put(A))
    same(np.asarray(result).astype(float), 2 * A)


def test_operations_match_the_arity_of_ufuncs():
    for ufunc, rows in dispatch.UFUNC_OPS.items():
        assert len(rows) == ufunc.nout
        assert all(row.arity == ufunc.nin for row in rows)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("ufunc", [np.fmin, np.fmax], ids=lambda u: u.__name__)
@pytest.mark.parametrize("extent", [3, 5000])
def test_folds_of_lines_that_are_all_nan_are_nan(ufunc, dtype, extent, put, same):
    host = np.full((3, extent), np.nan, dtype)
    host[1, extent // 2] = 5
    for axis in (0, 1, None):
        same(ufunc.reduce(put(host), axis=axis), ufunc.reduce(host, axis=axis))
