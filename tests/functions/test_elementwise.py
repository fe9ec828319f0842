"""Generated from the rows: each elementwise function against its NumPy reference, for every dtype."""

from enum import IntEnum
from typing import Any

import numpy as np
import pytest
from support import DTYPES, special_values, values

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.ops.spec import OPS, MapOp
from gpuarray.testing import assert_same

FUNCTIONS = {
    row.name: row
    for row in OPS.values()
    if isinstance(row, MapOp) and isinstance(row.numpy, np.ufunc) and row.numpy.nout == 1
}
UNARY = [name for name, row in FUNCTIONS.items() if row.arity == 1]
BINARY = [name for name, row in FUNCTIONS.items() if row.arity == 2]

#: NumPy's own loops are this far from exact, so that two correct results may differ by as much more.
REFERENCE_ULP = 2.0


def tolerance(row: MapOp, device: Any) -> float:
    """Return how far from NumPy an element may be: nothing where the row promises correct rounding."""
    return 0 if row.ulp <= 0.5 else row.ulp + REFERENCE_ULP


def dtypes_on(device: Any, row: MapOp) -> list[np.dtype[Any]]:
    """Return the dtypes to try: a software driver takes minutes to compile complex functions, which test_math has."""
    slow = device == "wgpu" and (row.ulp > 0.5 or row.cost >= 4)
    return [dtype for dtype in DTYPES.values() if not (slow and dtype.kind == "c")]


def operands(name: str, dtype: np.dtype[Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    first = special_values(dtype)
    x, y = (part.ravel() for part in np.meshgrid(first, first))
    if name == "pow" and dtype.kind in "iu":
        y = np.array([0, 1, 2, 3, 5], dtype)[np.arange(y.size) % 5]
    if name.endswith("_shift") and dtype.kind in "iu":
        y = np.array([0, 1, 3, 7, 31, 70], dtype)[np.arange(y.size) % 6]
    if dtype.kind == "f" and name in ("floor_divide", "remainder", "fmod"):
        keep = np.isfinite(x) & np.isfinite(y)
        x, y = x[keep], y[keep]
    return x, y


def reference(row: MapOp, *arrays: np.ndarray[Any, Any]) -> Any:
    """Return NumPy's result, or TypeError where it has none."""
    with np.errstate(all="ignore"):
        try:
            result = row.numpy(*arrays)
        except TypeError:
            return TypeError
    return result if dtypes.is_supported(result.dtype) else TypeError


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, device: Any) -> None:
    row = FUNCTIONS[name]
    pairs = []
    for dtype in dtypes_on(device, row):
        host = special_values(dtype)
        expected = reference(row, host)
        if expected is TypeError:
            with pytest.raises(TypeError):
                getattr(xp, name)(xp.asarray(host))
            continue
        pairs.append((dtype, getattr(xp, name)(xp.asarray(host)), expected))
    for dtype, result, expected in pairs:
        assert_same(result, expected, ulp=tolerance(row, device), message=f"{name} of {dtype}")


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, device: Any) -> None:
    row = FUNCTIONS[name]
    pairs = []
    for dtype in dtypes_on(device, row):
        x, y = operands(name, dtype)
        if name == "ldexp":
            y = (np.arange(x.size) % 7 - 3).astype(np.int32)
        expected = reference(row, x, y)
        if expected is TypeError:
            with pytest.raises(TypeError):
                getattr(xp, name)(xp.asarray(x), xp.asarray(y))
            continue
        pairs.append((dtype, getattr(xp, name)(xp.asarray(x), xp.asarray(y)), expected))
    for dtype, result, expected in pairs:
        # of two zeros NumPy takes the first for some dtypes and the second for others, whatever their signs
        extreme = name in ("maximum", "minimum", "fmax", "fmin", "nextafter")
        assert_same(
            result, expected, ulp=tolerance(row, device), message=f"{name} of {dtype}", signed_zeros=not extreme
        )


@pytest.mark.parametrize("name", BINARY)
def test_dtype_of_every_pair(name: str) -> None:
    row = FUNCTIONS[name]
    for first in DTYPES.values():
        for second in DTYPES.values():
            x, y = np.ones(2, first), np.ones(2, second)
            expected = reference(row, x, y)
            function = getattr(xp, name)
            if expected is TypeError:
                with pytest.raises(TypeError):
                    function(xp.asarray(x), xp.asarray(y))
            else:
                assert function(xp.asarray(x), xp.asarray(y)).dtype == expected.dtype, (first, second)


class Length(float):
    """A number whose type is a class of its own, which NumPy takes for an array."""


class Flag(IntEnum):
    SET = 2


SCALARS = [True, 2, 1.5, 1 + 2j, np.float32(3), np.int64(2), np.uint8(7), Flag.SET, Length(1.5)]


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "less", "divide"])
def test_scalars_promote_as_in_numpy(name: str, scalar: Any) -> None:
    row = FUNCTIONS[name]
    for dtype in DTYPES.values():
        host = np.ones(3, dtype)
        for arguments in ((host, scalar), (scalar, host)):
            try:
                expected = row.numpy(*arguments)
            except (TypeError, OverflowError) as error:
                with pytest.raises(type(error).__mro__[-3] if type(error) is not OverflowError else OverflowError):
                    getattr(xp, name)(*(xp.asarray(a) if a is host else a for a in arguments))
                continue
            result = getattr(xp, name)(*(xp.asarray(a) if a is host else a for a in arguments))
            assert result.dtype == expected.dtype, (dtype, scalar)
            assert np.asarray(result).tolist() == expected.tolist()


SHAPES = [((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 1, 3), (5, 1)), ((), (3, 2)), ((0, 3), (3,)), ((1,), (0,)), ((), ())]


@pytest.mark.parametrize(("first", "second"), SHAPES, ids=str)
def test_broadcasting(first: Any, second: Any, device: Any) -> None:
    x, y = values(first, np.float32), values(second, np.float32, seed=1)
    assert_same(xp.asarray(x) - xp.asarray(y), x - y)
    assert_same(xp.multiply(x, xp.asarray(y)), x * y)


def test_views_and_strides(device: Any) -> None:
    host = values((6, 8), np.float32)
    x = xp.asarray(host)
    assert_same(x[::2, ::-1] + x.T[:, ::2].T[:, :8], host[::2, ::-1] + host.T[:, ::2].T[:, :8])
    assert_same(xp.exp(x[1:-1, 3]), np.exp(host[1:-1, 3]), ulp=4)
    assert_same(x.T * x.T[::-1], host.T * host.T[::-1])


def test_out_and_where(device: Any) -> None:
    host = values((4, 3), np.float32)
    x, out = xp.asarray(host), xp.zeros((4, 3), xp.float32)
    assert xp.multiply(x, 2, out=out) is out
    assert_same(out, host * 2)
    expected = np.zeros((4, 3), np.float32)
    np.add(host, 1, out=expected, where=host > 0)
    target = xp.zeros((4, 3), xp.float32)
    xp.add(x, 1, out=target, where=x > 0)
    assert_same(target, expected)
    inner = xp.zeros((4, 6), xp.float32)
    np.negative(x, out=inner[:, ::2])
    wanted = np.zeros((4, 6), np.float32)
    wanted[:, ::2] = -host
    assert_same(inner, wanted)


@pytest.mark.parametrize("decimals", [0, 1, 2, -1])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_round(decimals: int, dtype: str, device: Any) -> None:
    if device == "wgpu" and dtype == "complex64" and decimals:
        return  # see dtypes_on
    host = (values((20,), dtype) * 13 / 8).astype(dtype)
    with np.errstate(all="ignore"):
        assert_same(xp.round(xp.asarray(host), decimals), np.round(host, decimals), ulp=1 if decimals else 0)


def test_clip(device: Any) -> None:
    host = np.array([-5, -1, 0, 2, 9, np.nan], np.float32)
    x = xp.asarray(host)
    for low, high in ((-1, 2), (None, 3), (0, None), (3, 1), (np.float32(-1), np.ones(6, np.float32))):
        assert_same(xp.clip(x, low, high), np.clip(host, low, high))
    assert_same(x.clip(max=1.5), host.clip(max=1.5))


def test_several_outputs(device: Any) -> None:
    host = np.array([1.5, -2.25, 0, 8, 1000], np.float32)
    for function in ("frexp", "modf"):
        for result, expected in zip(getattr(xp, function)(xp.asarray(host)), getattr(np, function)(host), strict=True):
            assert_same(result, expected)
    whole = np.array([7, -7, 9, 0], np.int32)
    for result, expected in zip(divmod(xp.asarray(whole), 4), divmod(whole, 4), strict=True):
        assert_same(result, expected)


def test_nan_to_num(device: Any) -> None:
    host = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
    assert_same(xp.nan_to_num(xp.asarray(host)), np.nan_to_num(host))
    assert_same(xp.nan_to_num(xp.asarray(host), nan=2.0, posinf=5), np.nan_to_num(host, nan=2.0, posinf=5))


def test_where(device: Any) -> None:
    condition = np.array([[True], [False]])
    for x, y in ((values(3, np.int8), values(3, np.float32)), (1.5, values(3, np.float32)), (1, 2)):
        expected = np.where(condition, x, y)
        assert_same(xp.where(xp.asarray(condition), x, y), expected)


def test_complex_parts(device: Any) -> None:
    host = values((3, 4), np.complex64)
    x = xp.asarray(host)
    assert_same(xp.real(x), host.real)
    assert_same(xp.imag(x), host.imag)
    assert_same(xp.conj(x), host.conj())
    assert_same(x.imag[::2], host.imag[::2])
    assert_same(xp.imag(xp.asarray([1.0, 2.0])), np.imag(np.array([1.0, 2.0])))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, 2.0, -2])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_powers(exponent: Any, dtype: str, device: Any) -> None:
    host = np.abs(values(8, dtype)) + np.dtype(dtype).type(1)
    if dtype == "int32" and isinstance(exponent, int) and exponent < 0:
        with pytest.raises(ValueError, match="negative integer powers"):
            xp.asarray(host) ** exponent
        return
    assert_same(xp.asarray(host) ** exponent, host**exponent, ulp=4)


@pytest.mark.parametrize("step", [2, 3, 4, 8])
@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "signbit", "negative", "abs", "square", "floor"])
def test_results_are_put_right_into_elements_with_gaps(name: str, step: int, device: Any) -> None:
    # some of NumPy's own loops go wrong there, if they are given such an array as ``out``
    host = np.resize(np.array([1, np.nan, -2.5, np.inf, -np.inf, 3, -0.0], np.float32), 200)
    function, numpys = getattr(xp, name), getattr(np, name)
    for source in (host, np.resize(np.arange(-5, 9, dtype=np.int32), 200)):
        expected = numpys(source)
        table = xp.zeros((200, step), expected.dtype)
        table[:, 1] = function(xp.asarray(source))
        assert_same(table[:, 1], expected)
        if expected.dtype == source.dtype:
            x = xp.asarray(source)
            x[::step] = function(x[::step])
            assert_same(x[::step], expected[::step])
