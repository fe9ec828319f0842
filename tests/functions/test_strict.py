"""``config.strict_array_api``, with array_api_strict as the oracle of what is refused and of the dtypes of the rest."""

import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gpuarray as xp
from gpuarray.config import Settings
from gpuarray.errors import ConfigurationError
from gpuarray.settings import Config, strictness
from gpuarray.testing import assert_same

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
SCALARS = (True, 1, 1.0, 1j)
UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_invert", "ceil", "conj", "cos", "cosh", "exp"),
    *("expm1", "floor", "imag", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_not"),
    *("negative", "positive", "real", "reciprocal", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan"),
    *("tanh", "trunc"),
)
BINARY = (
    *("add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor"),
    *("copysign", "divide", "equal", "floor_divide", "greater", "greater_equal", "hypot", "less", "less_equal"),
    *("logaddexp", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "nextafter"),
    *("not_equal", "pow", "remainder", "subtract"),
)
OPERATORS = (
    *("add", "and_", "eq", "floordiv", "ge", "gt", "le", "lshift", "lt", "matmul", "mod", "mul", "ne", "or_", "pow"),
    *("rshift", "sub", "truediv", "xor"),
)
IN_PLACE = (
    "iadd",
    "iand",
    "ifloordiv",
    "ilshift",
    "imod",
    "imul",
    "ior",
    "ipow",
    "irshift",
    "isub",
    "itruediv",
    "ixor",
)
#: Functions of one array, besides the elementwise ones; matrices of two rows will do for all.
OTHER = (
    *("argmax", "argmin", "argsort", "max", "min", "mean", "prod", "sort", "std", "sum", "var", "count_nonzero", "all"),
    *(
        "any",
        "nonzero",
        "unique_values",
        "unique_all",
        "diff",
        "flip",
        "matrix_transpose",
        "linalg.inv",
        "linalg.det",
        "linalg.qr",
    ),
    *("linalg.cholesky", "linalg.eigh", "linalg.eigvalsh", "linalg.svdvals", "linalg.pinv", "linalg.matrix_norm"),
    *("linalg.vector_norm", "linalg.trace", "linalg.slogdet", "linalg.diagonal", "fft.fft", "fft.ifft", "fft.rfft"),
    *("fft.irfft", "fft.hfft", "fft.ihfft", "fft.fftn", "fft.ifftn", "fft.rfftn", "fft.irfftn", "fft.fftshift"),
    *("fft.ifftshift",),
)
#: Functions of two arrays, besides the elementwise ones.
OTHER_BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "concat": lambda ns, a, b: ns.concat([a, b]),
    "stack": lambda ns, a, b: ns.stack([a, b]),
    "matmul": lambda ns, a, b: ns.matmul(a, b),
    "tensordot": lambda ns, a, b: ns.tensordot(a, b),
    "vecdot": lambda ns, a, b: ns.vecdot(a, b),
    "outer": lambda ns, a, b: ns.linalg.outer(a[0, :], b[0, :]),
    "solve": lambda ns, a, b: ns.linalg.solve(a, b),
    "searchsorted": lambda ns, a, b: ns.searchsorted(a[0, :], b),
    "isin": lambda ns, a, b: ns.isin(a, b),
    "where": lambda ns, a, b: ns.where(ns.asarray(True), a, b),
    "where with a condition": lambda ns, a, b: ns.where(a, b, b),
    "result_type": lambda ns, a, b: ns.empty(0, dtype=ns.result_type(a, b)),
    "can_cast": lambda ns, a, b: ns.asarray(ns.can_cast(a.dtype, b.dtype)),
    "astype": lambda ns, a, b: ns.astype(a, b.dtype),
}


#: Those whose operands array_api_strict leaves to NumPy's promotion.
UNPROMOTED = ("matmul", "tensordot", "vecdot", "outer", "solve", "searchsorted")


@pytest.fixture(autouse=True)
def _strict() -> Iterator[None]:
    with xp.using(strict_array_api=True):
        yield


def array(namespace: Any, dtype: str) -> Any:
    return namespace.asarray([[1, 0], [0, 1]], dtype=getattr(namespace, dtype))


def outcome(call: Callable[[], Any]) -> str:
    """Return the dtype of a result, or that the call was refused."""
    try:
        with np.errstate(all="ignore"):
            result = call()
    except TypeError:
        return "refused"
    if isinstance(result, tuple):
        result = result[0]
    return str(np.dtype(getattr(result.dtype, "_np_dtype", result.dtype)))


def both(call: Callable[[Any], Any]) -> tuple[str, str]:
    return outcome(lambda: call(xp)), outcome(lambda: call(strict))


def named(namespace: Any, path: str) -> Any:
    return operator.attrgetter(path)(namespace)


@pytest.mark.parametrize("name", [*UNARY, *OTHER])
def test_one_array(name: str) -> None:
    for dtype in DTYPES:
        own, expected = both(lambda ns: named(ns, name)(array(ns, dtype)))
        assert own == expected, dtype


@pytest.mark.parametrize("name", BINARY)
def test_two_arrays(name: str) -> None:
    for first in DTYPES:
        for second in DTYPES:
            own, expected = both(lambda ns: getattr(ns, name)(array(ns, first), array(ns, second)))
            assert own == expected, (first, second)


@pytest.mark.parametrize("name", [*OPERATORS, *IN_PLACE])
def test_operators(name: str) -> None:
    function = getattr(operator, name)
    for first in DTYPES:
        for second in DTYPES:
            own, expected = both(lambda ns: function(array(ns, first), array(ns, second)))
            assert own == expected, (first, second)


@pytest.mark.parametrize("name", OTHER_BINARY)
def test_other_functions_of_two_arrays(name: str) -> None:
    for first in DTYPES:
        for second in DTYPES:
            own, expected = both(lambda ns: OTHER_BINARY[name](ns, array(ns, first), array(ns, second)))
            if name in UNPROMOTED and outcome(lambda: strict.empty(0, dtype=strict.result_type(
                array(strict, first), array(strict, second)
            ))) == "refused":  # fmt: skip
                expected = "refused"
            assert own == expected, (first, second)


def scalar_calls(name: str) -> list[Callable[[Any, Any], Any]]:
    if name in BINARY:
        return [lambda a, b: getattr(a.__array_namespace__(), name)(a, b),
                lambda a, b: getattr(a.__array_namespace__(), name)(b, a)]  # fmt: skip
    function = getattr(operator, name)
    return [function] if name in IN_PLACE else [function, lambda a, b: function(b, a)]


@pytest.mark.parametrize("name", sorted({*BINARY, *OPERATORS, *IN_PLACE} - {"matmul"}))
def test_python_scalars(name: str) -> None:
    for dtype in DTYPES:
        for scalar in SCALARS:
            for call in scalar_calls(name):
                own, expected = both(lambda ns: call(array(ns, dtype), scalar))
                if scalar == 1j and expected != own:
                    # it promotes before it asks for the category, and so takes complex numbers for real ones
                    assert (own, expected[:7]) in {("refused", "complex"), ("refused", "bool")}, (dtype, scalar)
                else:
                    assert own == expected, (dtype, scalar)


def test_scalars_alone_are_refused() -> None:
    with pytest.raises(TypeError, match="add requires an array"):
        xp.add(1, 2)
    with pytest.raises(TypeError, match="sin requires an array"):
        xp.sin(1.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_clip_keeps_the_dtype(dtype: str) -> None:
    x = array(xp, dtype)
    if dtype == "bool" or dtype.startswith("complex"):
        with pytest.raises(TypeError, match="clip requires real-valued"):
            xp.clip(x, 0, 1)
        return
    assert xp.clip(x, 0, 1).dtype == x.dtype
    if dtype.startswith("int"):
        assert xp.clip(x, xp.asarray(0, dtype=xp.int64)).dtype == x.dtype
        with pytest.raises(TypeError, match="Python float and"):
            xp.clip(x, 0.5)


def test_messages_say_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"int8 and float32.*astype.*turn the setting off"):
        xp.ones(2, dtype=xp.int8) + xp.ones(2, dtype=xp.float32)
    with pytest.raises(TypeError, match=r"sqrt requires floating-point dtypes .*float32, float64.*got int64"):
        xp.sqrt(xp.arange(3))
    with pytest.raises(TypeError, match=r"Python float and an array of dtype int64"):
        xp.arange(3) * 0.5
    with pytest.raises(TypeError, match=r"float16"):
        xp.sqrt(xp.ones(2, dtype=xp.float16))


# -- values -----------------------------------------------------------------------------------------------------------

REAL = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floor_divide_rounds_the_quotient(dtype: str, device: Any) -> None:
    x, y = (part.ravel().astype(dtype) for part in np.meshgrid(REAL, REAL))
    with np.errstate(all="ignore"):
        expected = np.floor(x / y)
    expected[(x == 0) & (y == 0)] = np.nan
    first, second = xp.asarray(x), xp.asarray(y)
    assert_same(first // second, expected, message="operator")
    assert_same(xp.floor_divide(first, second), expected, message="function")
    first //= second
    assert_same(first, expected, message="in place")
    with np.errstate(all="ignore"):
        assert_same(second // 2.0, np.floor(y / 2), message="scalar")
        assert_same(2.0 // second, np.floor(np.array(2, dtype) / y), message="reflected scalar")


def parts(pairs: list[tuple[float, float]], dtype: str) -> Any:
    return np.array([complex(*pair) for pair in pairs], dtype)


def complex_dtype(device: Any) -> str:
    """Return the dtype to test: a software driver takes long to compile functions of complex128."""
    return "complex64" if device == "wgpu" else "complex128"


def test_expm1_at_infinities(device: Any) -> None:
    dtype, inf, nan = complex_dtype(device), np.inf, np.nan
    given = [(0.0, 0.0), (-0.0, 0.0), (inf, 0.0), (-inf, 1.0), (inf, 1.0), (-inf, inf), (-inf, nan), (nan, 0.0)]
    expected = [(0.0, 0.0), (0.0, 0.0), (inf, 0.0), (-1.0, 0.0), (inf, inf), (-1.0, 0.0), (-1.0, 0.0), (nan, 0.0)]
    result = np.asarray(xp.expm1(xp.asarray(parts(given, dtype))))
    np.testing.assert_array_equal(result.real, np.array([w[0] for w in expected]))
    np.testing.assert_array_equal(result.imag, np.array([w[1] for w in expected]))
    assert not np.signbit(result.real[:2]).any()
    result = np.asarray(xp.expm1(xp.asarray(parts([(inf, inf), (inf, nan)], dtype))))
    assert np.isinf(result.real).all()
    assert np.isnan(result.imag).all()
    ordinary = parts([(1e-3, 2.0), (-0.5, -1.0), (3.0, 0.25)], dtype)
    assert_same(xp.expm1(xp.asarray(ordinary)), np.expm1(ordinary), ulp=4)


def test_tanh_at_infinities(device: Any) -> None:
    dtype = complex_dtype(device)
    given = [(s * np.inf, t * b) for b in (0.5, 2.0, 3.0) for s in (1, -1) for t in (1, -1)]
    result = np.asarray(xp.tanh(xp.asarray(parts(given, dtype))))
    np.testing.assert_array_equal(result.real, np.sign([g[0] for g in given]))
    np.testing.assert_array_equal(result.imag, 0)
    np.testing.assert_array_equal(np.signbit(result.imag), np.signbit([g[1] for g in given]))
    ordinary = parts([(1e-3, 2.0), (-0.5, -1.0), (3.0, 0.25)], dtype)
    assert_same(xp.tanh(xp.asarray(ordinary)), np.tanh(ordinary), ulp=4)


# -- the switch -------------------------------------------------------------------------------------------------------


def test_without_it_values_and_dtypes_are_numpys() -> None:
    with xp.using(strict_array_api=False):
        assert (xp.arange(3) + xp.ones(3)).dtype == xp.float64
        assert xp.sqrt(xp.arange(3)).dtype == xp.float64
        with np.errstate(all="ignore"):
            assert_same(xp.asarray(REAL) // np.inf, REAL // np.inf)


def test_it_is_local_to_a_thread() -> None:
    result: list[Any] = []
    thread = threading.Thread(target=lambda: result.append((xp.arange(3) + xp.ones(3)).dtype))
    thread.start()
    thread.join()
    assert result == [xp.float64]


def test_functions_under_numpys_names_mean_what_they_mean_there() -> None:
    x = xp.arange(4)
    assert_same(np.add(x, 0.5), np.arange(4) + 0.5)
    assert_same(np.sqrt(x), np.sqrt(np.arange(4)))
    assert_same(np.median(x), np.median(np.arange(4)))
    with pytest.raises(TypeError, match="sqrt requires"):
        xp.sqrt(x)


def test_what_functions_do_inside_is_not_checked(device: Any) -> None:
    x = xp.asarray([[4.0, 1.0], [1.0, 3.0]], dtype=xp.float32)
    assert xp.linalg.matrix_norm(x, ord=2).dtype == xp.float32
    assert xp.linalg.matrix_rank(x).dtype == xp.int64
    assert xp.round(xp.arange(25), -1).dtype == xp.int64
    assert xp.count_nonzero(x > 1).dtype == xp.int64
    assert xp.linspace(0, 1, 3, dtype=xp.float32).dtype == xp.float32


def test_that_it_was_on_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strictness, "possible", False)
    settings = Settings(Config())
    with settings.using(fuse=False):
        assert not strictness.possible
    settings.strict_array_api = True
    settings.strict_array_api = False
    assert strictness.possible
    with pytest.raises(ConfigurationError, match="strict_array_api"):
        settings.strict_array_api = "perhaps"
