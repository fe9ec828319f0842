"""Elementwise functions, one line for each operation of :mod:`gpuarray.ops.elementwise`.

Every function broadcasts its operands, promotes as NumPy does (NEP 50), and takes NumPy's keywords of ufuncs. It has
their methods, too.
"""

from collections.abc import Callable
from typing import Any, Final, Protocol

import numpy as np

from gpuarray import dispatch
from gpuarray.array import GpuArray, apply
from gpuarray.array.compiled import of_ufunc
from gpuarray.functions.arguments import ArrayLike, DTypeLike
from gpuarray.ops import elementwise as ops
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


#: The functions of ufuncs and these, whose methods :mod:`gpuarray.functions.ufuncs` adds.
OF_UFUNCS: Final[list[tuple[Any, np.ufunc]]] = []


def _finished(function: Any, op: MapOp, operands: str) -> Any:
    """Return a function with the name and the docstring of its operation."""
    function.__name__ = function.__qualname__ = op.name
    function.__doc__ = f"""{op.doc}

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
        Of the broadcast shape; the error is at most {op.ulp:g} units in the last place for floating dtypes.

    Raises
    ------
    TypeError
        If the operation does not support the dtypes.
    ValueError
        If the shapes do not broadcast.
    """
    if not isinstance(op.numpy, np.ufunc):
        return function
    finished = of_ufunc(function, op.numpy)
    OF_UFUNCS.append((finished, op.numpy))
    return finished


def _with_keywords(op: MapOp, inputs: tuple[Any, ...], out: Any, where: Any, dtype: Any, casting: str) -> GpuArray:
    """Call a function with keywords of ufuncs, or with operands that the operation does not accept."""
    if out is None and where is True and dtype is None and casting == "same_kind":
        return _of_other_classes(op, inputs)
    keywords: dict[str, Any] = {}
    if where is not True:
        keywords["where"] = where
    if casting != "same_kind":
        keywords["casting"] = casting
    if out is not None:
        keywords["out"] = out if isinstance(out, tuple) else (out,)
    if dtype is not None:
        keywords["dtype"] = dtype
    result: GpuArray = dispatch.METHODS["__array_ufunc__"](op.numpy, "__call__", inputs, keywords)
    if result is NotImplemented:
        raise refused(op, inputs)
    return result


def refused(op: MapOp, values: tuple[Any, ...]) -> TypeError:
    """Return the error for operands that an operation does not accept."""
    kinds = ", ".join(type(value).__name__ for value in values)
    if any(isinstance(value, np.ma.MaskedArray) for value in values):
        return TypeError(
            f"{op.name} does not take masked arrays, as their mask would be lost; give m.filled(value), or use "
            f"numpy.{op.name}"
        )
    return TypeError(f"{op.name} is not defined for operands of types {kinds}; use arrays and numbers")


def _of_other_classes(op: MapOp, values: tuple[Any, ...]) -> Any:
    """Return NumPy's result if an operand is of a class that has an answer of its own, such as a masked array.

    pandas' series, xarray's arrays and pint's quantities are such classes. Arrays of this package have no masks, so
    beside a masked array they are given as NumPy's.

    Raises
    ------
    TypeError
        If there is no such operand, or it does not know the operation.
    """
    if not isinstance(op.numpy, np.ufunc) or op.numpy.nout != 1:
        raise refused(op, values)
    if any(isinstance(value, np.ma.MaskedArray) for value in values):
        return op.numpy(*[np.asarray(v) if isinstance(v, GpuArray) else v for v in values])
    others = [value for value in values if not isinstance(value, GpuArray | np.ndarray | np.generic)]
    if not any(getattr(type(value), "__array_ufunc__", None) is not None for value in others):
        raise refused(op, values)
    return op.numpy(*values)


def unary(op: MapOp) -> Unary:
    """Return the public function of an operation with one operand."""

    def function(
        x: ArrayLike, /, out: Any = None, *, where: Any = True, dtype: Any = None, casting: str = "same_kind"
    ) -> GpuArray:
        if out is None and dtype is None and where is True and casting == "same_kind":
            result: GpuArray = apply(op, x)
            if result is not NotImplemented:
                return result
        return _with_keywords(op, (x,), out, where, dtype, casting)

    return _finished(function, op, "x")


def binary(op: MapOp) -> Binary:
    """Return the public function of an operation with two operands."""

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
        if out is None and dtype is None and where is True and casting == "same_kind":
            result: GpuArray = apply(op, x1, x2)
            if result is not NotImplemented:
                return result
        return _with_keywords(op, (x1, x2), out, where, dtype, casting)

    return _finished(function, op, "x1, x2")


def ternary(op: MapOp) -> Ternary:
    """Return the public function of an operation with three operands."""

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
        if out is None and dtype is None and where is True and casting == "same_kind":
            result: GpuArray = apply(op, x1, x2, x3)
            if result is not NotImplemented:
                return result
        return _with_keywords(op, (x1, x2, x3), out, where, dtype, casting)

    return _finished(function, op, "x1, x2, x3")


abs = unary(ops.abs)
acos = unary(ops.acos)
acosh = unary(ops.acosh)
add = binary(ops.add)
asin = unary(ops.asin)
asinh = unary(ops.asinh)
atan = unary(ops.atan)
atan2 = binary(ops.atan2)
atanh = unary(ops.atanh)
bitwise_and = binary(ops.bitwise_and)
bitwise_count = unary(ops.bitwise_count)
bitwise_invert = unary(ops.bitwise_invert)
bitwise_left_shift = binary(ops.bitwise_left_shift)
bitwise_or = binary(ops.bitwise_or)
bitwise_right_shift = binary(ops.bitwise_right_shift)
bitwise_xor = binary(ops.bitwise_xor)
cbrt = unary(ops.cbrt)
ceil = unary(ops.ceil)
conj = unary(ops.conj)
copysign = binary(ops.copysign)
cos = unary(ops.cos)
cosh = unary(ops.cosh)
degrees = unary(ops.degrees)
divide = binary(ops.divide)
equal = binary(ops.equal)
exp = unary(ops.exp)
exp2 = unary(ops.exp2)
expm1 = unary(ops.expm1)
fabs = unary(ops.fabs)
float_power = binary(ops.float_power)
floor = unary(ops.floor)
floor_divide = binary(ops.floor_divide)
fmax = binary(ops.fmax)
fmin = binary(ops.fmin)
fmod = binary(ops.fmod)
gcd = binary(ops.gcd)
greater = binary(ops.greater)
greater_equal = binary(ops.greater_equal)
heaviside = binary(ops.heaviside)
hypot = binary(ops.hypot)
isfinite = unary(ops.isfinite)
isinf = unary(ops.isinf)
isnan = unary(ops.isnan)
lcm = binary(ops.lcm)
ldexp = binary(ops.ldexp)
less = binary(ops.less)
less_equal = binary(ops.less_equal)
log = unary(ops.log)
log10 = unary(ops.log10)
log1p = unary(ops.log1p)
log2 = unary(ops.log2)
logaddexp = binary(ops.logaddexp)
logaddexp2 = binary(ops.logaddexp2)
logical_and = binary(ops.logical_and)
logical_not = unary(ops.logical_not)
logical_or = binary(ops.logical_or)
logical_xor = binary(ops.logical_xor)
maximum = binary(ops.maximum)
minimum = binary(ops.minimum)
multiply = binary(ops.multiply)
negative = unary(ops.negative)
nextafter = binary(ops.nextafter)
not_equal = binary(ops.not_equal)
positive = unary(ops.positive)
pow = binary(ops.pow)
radians = unary(ops.radians)
reciprocal = unary(ops.reciprocal)
remainder = binary(ops.remainder)
rint = unary(ops.rint)
sign = unary(ops.sign)
signbit = unary(ops.signbit)
sin = unary(ops.sin)
sinh = unary(ops.sinh)
spacing = unary(ops.spacing)
sqrt = unary(ops.sqrt)
square = unary(ops.square)
subtract = binary(ops.subtract)
tan = unary(ops.tan)
tanh = unary(ops.tanh)
trunc = unary(ops.trunc)

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
