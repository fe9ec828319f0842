"""Elementwise functions, one line for each row of :mod:`gpuarray.ops.elementwise`.

Every function broadcasts its operands, promotes as NumPy does (NEP 50), and takes NumPy's keywords of ufuncs. It has
their methods, too.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from gpuarray import dispatch
from gpuarray.array import GpuArray, apply
from gpuarray.functions.arguments import ArrayLike, DTypeLike, as_array
from gpuarray.ops import elementwise as rows
from gpuarray.ops.spec import MapOp

__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_count", "bitwise_invert",
    "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "cbrt", "ceil", "conj",
    "conjugate", "copysign", "cos", "cosh", "deg2rad", "degrees", "divide", "equal", "exp", "exp2", "expm1", "fabs",
    "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "gcd", "greater", "greater_equal", "heaviside",
    "hypot", "invert", "isfinite", "isinf", "isnan", "lcm", "ldexp", "left_shift", "less", "less_equal", "log",
    "log1p", "log2", "log10", "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor",
    "maximum", "minimum", "mod", "multiply", "negative", "nextafter", "not_equal", "positive", "pow", "power",
    "rad2deg", "radians", "reciprocal", "remainder", "right_shift", "rint", "sign", "signbit", "sin", "sinh",
    "spacing", "sqrt", "square", "subtract", "tan", "tanh", "true_divide", "trunc",
]  # fmt: skip


class Methods(Protocol):
    """The methods that functions have as NumPy's ufuncs, whose arguments they take."""

    accumulate: Callable[..., GpuArray]
    at: Callable[..., None]
    outer: Callable[..., GpuArray]
    reduce: Callable[..., GpuArray]
    reduceat: Callable[..., GpuArray]


class Unary(Methods, Protocol):
    """A function of one array."""

    def __call__(
        self,
        x: ArrayLike,
        /,
        out: Any = None,
        *,
        where: Any = True,
        dtype: DTypeLike = None,
        casting: str = "same_kind",
    ) -> GpuArray: ...


class Binary(Methods, Protocol):
    """A function of two arrays."""

    def __call__(
        self,
        x1: ArrayLike,
        x2: ArrayLike,
        /,
        out: Any = None,
        *,
        where: Any = True,
        dtype: DTypeLike = None,
        casting: str = "same_kind",
    ) -> GpuArray: ...


class Ternary(Methods, Protocol):
    """A function of three arrays."""

    def __call__(
        self,
        x1: ArrayLike,
        x2: ArrayLike,
        x3: ArrayLike,
        /,
        out: Any = None,
        *,
        where: Any = True,
        dtype: DTypeLike = None,
        casting: str = "same_kind",
    ) -> GpuArray: ...


def _method(ufunc: np.ufunc, name: str) -> Callable[..., Any]:
    """Return a method of NumPy's ufunc. Its first argument is converted to an array, but not the target of ``at``."""
    numpys = getattr(ufunc, name)

    def method(array: ArrayLike, /, *arguments: Any, **keywords: Any) -> Any:
        return numpys(array if name == "at" else as_array(array), *arguments, **keywords)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Compute :meth:`numpy.ufunc.{name}` with arrays of this package."
    return method


def _finished(function: Any, row: MapOp, operands: str) -> Any:
    """Return a function with the name and the docstring of its row, and the methods of ufuncs."""
    if isinstance(row.numpy, np.ufunc):
        for name in Methods.__annotations__:
            setattr(function, name, _method(row.numpy, name))
    function.__name__ = function.__qualname__ = row.name
    function.__doc__ = f"""{row.doc}

    Parameters
    ----------
    {operands} : array_like
        Arrays that broadcast against each other, or Python scalars, which are weakly typed.
    out : GpuArray or ndarray, optional
        Array for the result, of the broadcast shape.
    where : array_like, optional
        Booleans that broadcast with the operands. Where False, ``out`` keeps its elements.
    dtype : dtype, optional
        Dtype of the computation.
    casting : str
        Which conversions are allowed.

    Returns
    -------
    GpuArray
        Of the broadcast shape; the error is at most {row.ulp:g} units in the last place for floating dtypes.

    Raises
    ------
    TypeError
        If the operation does not support the dtypes.
    ValueError
        If the shapes do not broadcast.
    """
    return function


def _with_keywords(row: MapOp, inputs: tuple[Any, ...], out: Any, where: Any, dtype: Any, casting: str) -> GpuArray:
    """Call a function with keywords of ufuncs, or with operands that the row does not accept."""
    if out is None and where is True and dtype is None:
        masked: GpuArray = _of_masked(row, inputs)
        return masked
    keywords: dict[str, Any] = {"where": where, "casting": casting}
    if out is not None:
        keywords["out"] = out if isinstance(out, tuple) else (out,)
    if dtype is not None:
        keywords["dtype"] = dtype
    found: GpuArray = dispatch.METHODS["__array_ufunc__"](row.numpy, "__call__", inputs, keywords)
    if found is NotImplemented:
        raise refused(row, inputs)
    return found


def refused(row: MapOp, values: tuple[Any, ...]) -> TypeError:
    """Return the error for operands that an operation does not accept."""
    kinds = ", ".join(type(value).__name__ for value in values)
    if any(isinstance(value, np.ma.MaskedArray) for value in values):
        return TypeError(
            f"{row.name} does not take masked arrays, as their mask would be lost; give m.filled(value), or use "
            f"numpy.{row.name}"
        )
    return TypeError(f"{row.name} is not defined for operands of types {kinds}; accepted are arrays and numbers")


def _of_masked(row: MapOp, values: tuple[Any, ...]) -> Any:
    """Return NumPy's result if an operand is a masked array: arrays of this package have no masks.

    Raises
    ------
    TypeError
        If no operand is masked.
    """
    is_masked = any(isinstance(value, np.ma.MaskedArray) for value in values)
    if is_masked and isinstance(row.numpy, np.ufunc) and row.numpy.nout == 1:
        return row.numpy(*[np.asarray(v) if isinstance(v, GpuArray) else v for v in values])
    raise refused(row, values)


def unary(row: MapOp) -> Unary:
    """Return the public function of a row with one operand."""

    def function(
        x: ArrayLike, /, out: Any = None, *, where: Any = True, dtype: Any = None, casting: str = "same_kind"
    ) -> GpuArray:
        if out is None and dtype is None and where is True:
            found: GpuArray = apply(row, x)
            if found is not NotImplemented:
                return found
        return _with_keywords(row, (x,), out, where, dtype, casting)

    finished: Unary = _finished(function, row, "x")
    return finished


def binary(row: MapOp) -> Binary:
    """Return the public function of a row with two operands."""

    def function(
        x1: ArrayLike,
        x2: ArrayLike,
        /,
        out: Any = None,
        *,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
    ) -> GpuArray:
        if out is None and dtype is None and where is True:
            found: GpuArray = apply(row, x1, x2)
            if found is not NotImplemented:
                return found
        return _with_keywords(row, (x1, x2), out, where, dtype, casting)

    finished: Binary = _finished(function, row, "x1, x2")
    return finished


def ternary(row: MapOp) -> Ternary:
    """Return the public function of a row with three operands."""

    def function(
        x1: ArrayLike,
        x2: ArrayLike,
        x3: ArrayLike,
        /,
        out: Any = None,
        *,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
    ) -> GpuArray:
        if out is None and dtype is None and where is True:
            found: GpuArray = apply(row, x1, x2, x3)
            if found is not NotImplemented:
                return found
        return _with_keywords(row, (x1, x2, x3), out, where, dtype, casting)

    finished: Ternary = _finished(function, row, "x1, x2, x3")
    return finished


abs = unary(rows.abs)
acos = unary(rows.acos)
acosh = unary(rows.acosh)
add = binary(rows.add)
asin = unary(rows.asin)
asinh = unary(rows.asinh)
atan = unary(rows.atan)
atan2 = binary(rows.atan2)
atanh = unary(rows.atanh)
bitwise_and = binary(rows.bitwise_and)
bitwise_count = unary(rows.bitwise_count)
bitwise_invert = unary(rows.bitwise_invert)
bitwise_left_shift = binary(rows.bitwise_left_shift)
bitwise_or = binary(rows.bitwise_or)
bitwise_right_shift = binary(rows.bitwise_right_shift)
bitwise_xor = binary(rows.bitwise_xor)
cbrt = unary(rows.cbrt)
ceil = unary(rows.ceil)
conj = unary(rows.conj)
copysign = binary(rows.copysign)
cos = unary(rows.cos)
cosh = unary(rows.cosh)
degrees = unary(rows.degrees)
divide = binary(rows.divide)
equal = binary(rows.equal)
exp = unary(rows.exp)
exp2 = unary(rows.exp2)
expm1 = unary(rows.expm1)
fabs = unary(rows.fabs)
float_power = binary(rows.float_power)
floor = unary(rows.floor)
floor_divide = binary(rows.floor_divide)
fmax = binary(rows.fmax)
fmin = binary(rows.fmin)
fmod = binary(rows.fmod)
gcd = binary(rows.gcd)
greater = binary(rows.greater)
greater_equal = binary(rows.greater_equal)
heaviside = binary(rows.heaviside)
hypot = binary(rows.hypot)
isfinite = unary(rows.isfinite)
isinf = unary(rows.isinf)
isnan = unary(rows.isnan)
lcm = binary(rows.lcm)
ldexp = binary(rows.ldexp)
less = binary(rows.less)
less_equal = binary(rows.less_equal)
log = unary(rows.log)
log10 = unary(rows.log10)
log1p = unary(rows.log1p)
log2 = unary(rows.log2)
logaddexp = binary(rows.logaddexp)
logaddexp2 = binary(rows.logaddexp2)
logical_and = binary(rows.logical_and)
logical_not = unary(rows.logical_not)
logical_or = binary(rows.logical_or)
logical_xor = binary(rows.logical_xor)
maximum = binary(rows.maximum)
minimum = binary(rows.minimum)
multiply = binary(rows.multiply)
negative = unary(rows.negative)
nextafter = binary(rows.nextafter)
not_equal = binary(rows.not_equal)
positive = unary(rows.positive)
pow = binary(rows.pow)
radians = unary(rows.radians)
reciprocal = unary(rows.reciprocal)
remainder = binary(rows.remainder)
rint = unary(rows.rint)
sign = unary(rows.sign)
signbit = unary(rows.signbit)
sin = unary(rows.sin)
sinh = unary(rows.sinh)
spacing = unary(rows.spacing)
sqrt = unary(rows.sqrt)
square = unary(rows.square)
subtract = binary(rows.subtract)
tan = unary(rows.tan)
tanh = unary(rows.tanh)
trunc = unary(rows.trunc)

# NumPy's other names of the same functions
absolute = abs
arccos = acos
arccosh = acosh
arcsin = asin
arcsinh = asinh
arctan = atan
arctan2 = atan2
arctanh = atanh
bitwise_not = bitwise_invert
conjugate = conj
deg2rad = radians
invert = bitwise_invert
left_shift = bitwise_left_shift
mod = remainder
power = pow
rad2deg = degrees
right_shift = bitwise_right_shift
true_divide = divide
