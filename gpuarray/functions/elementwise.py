"""Elementwise functions: one line a row, and the compositions over them.

Every function broadcasts its operands, promotes as NumPy does (NEP 50), and takes NumPy's keywords of ufuncs. It has
their methods, too.
"""

from collections.abc import Callable
from typing import Any, Final, Protocol

import numpy as np

from gpuarray import dispatch, dtypes
from gpuarray.array import WEAK, GpuArray, apply, as_operand
from gpuarray.config import config, strictness
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import ArrayLike, DTypeLike, as_array, as_arrays, write_out
from gpuarray.graph import standard
from gpuarray.ops import elementwise as rows
from gpuarray.ops.spec import MapOp


class Methods(Protocol):
    """The methods that functions have as NumPy's ufuncs, whose arguments they take."""

    accumulate: Callable[..., Any]
    at: Callable[..., Any]
    outer: Callable[..., Any]
    reduce: Callable[..., Any]
    reduceat: Callable[..., Any]


class Unary(Methods, Protocol):
    """A function of one array."""

    def __call__(  # noqa: D102  # what it does is the row's to say
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

    def __call__(  # noqa: D102  # what it does is the row's to say
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

    def __call__(  # noqa: D102  # what it does is the row's to say
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
    """Return a method of NumPy's ufunc that makes an array of its first argument, but for what it writes to."""
    numpys = getattr(ufunc, name)

    def method(array: ArrayLike, /, *arguments: Any, **keywords: Any) -> Any:
        return numpys(array if name == "at" else as_array(array), *arguments, **keywords)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Compute what :meth:`numpy.ufunc.{name}` does, of arrays of this package."
    return method


def _finished(function: Any, row: MapOp, operands: str) -> Any:
    """Return a function with the name, text and methods of what it is."""
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


def _with_keywords(row: MapOp, inputs: tuple[Any, ...], **given: Any) -> Any:
    """Call a function with ufunc keywords, by the handler of the ufunc that the row is."""
    defaults = {"out": None, "where": True, "dtype": None, "casting": "same_kind"}
    keywords = {name: value for name, value in given.items() if value is not defaults[name]}
    if "out" in keywords and not isinstance(keywords["out"], tuple):
        keywords["out"] = (keywords["out"],)
    return dispatch.UFUNC_METHODS["__call__"](row.numpy, inputs, keywords)


def _refused(row: MapOp, values: tuple[Any, ...]) -> TypeError:
    kinds = ", ".join(type(value).__name__ for value in values)
    return TypeError(f"{row.name} is not defined for operands of types {kinds}; accepted are arrays and numbers")


def unary(row: MapOp) -> Unary:
    """Return the public function of a row with one operand."""

    def function(
        x: ArrayLike, /, out: Any = None, *, where: Any = True, dtype: Any = None, casting: str = "same_kind"
    ) -> GpuArray:
        if out is None and dtype is None and where is True:
            found: GpuArray = apply(row, x)
        else:
            found = _with_keywords(row, (x,), out=out, where=where, dtype=dtype, casting=casting)
        if found is NotImplemented:
            raise _refused(row, (x,))
        return found

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
        else:
            found = _with_keywords(row, (x1, x2), out=out, where=where, dtype=dtype, casting=casting)
        if found is NotImplemented:
            raise _refused(row, (x1, x2))
        return found

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
        else:
            found = _with_keywords(row, (x1, x2, x3), out=out, where=where, dtype=dtype, casting=casting)
        if found is NotImplemented:
            raise _refused(row, (x1, x2, x3))
        return found

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


# -- compositions -----------------------------------------------------------------------------------------------------


def real(x: ArrayLike, /) -> GpuArray:
    """Return the real part: a view for complex arrays, otherwise the array itself."""
    array = as_array(x)
    if strictness.possible:
        standard.require("real", array)
    return array.real


def imag(x: ArrayLike, /) -> GpuArray:
    """Return the imaginary part: a view for complex arrays, otherwise read-only zeros."""
    array = as_array(x)
    if strictness.possible:
        standard.require("imag", array)
    return array.imag


def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[GpuArray, GpuArray]:
    """Return the quotient, rounded down, and the remainder."""
    return floor_divide(x1, x2), remainder(x1, x2)


def frexp(x: ArrayLike, /) -> tuple[GpuArray, GpuArray]:
    """Return the mantissa, of magnitude in [0.5, 1), and the int32 exponent of 2."""
    array = as_array(x)
    return apply(rows.frexp_mantissa, array), apply(rows.frexp_exponent, array)


def modf(x: ArrayLike, /) -> tuple[GpuArray, GpuArray]:
    """Return the fractional and the integral part, both with the sign of ``x``."""
    array = as_array(x)
    return apply(rows.modf_fraction, array), apply(rows.modf_integral, array)


def bounded(array: GpuArray, low: Any, high: Any, **keywords: Any) -> GpuArray:
    """Return an array limited to a range, whose ends may be None; the keywords are those of ``maximum``."""
    limited = array if "dtype" in keywords else _promoted(array, low, high)
    if low is not None and not _clips_nothing(low, limited.dtype, "min"):
        limited = maximum(limited, low, **keywords)
    if high is not None and not _clips_nothing(high, limited.dtype, "max"):
        limited = minimum(limited, high, **keywords)
    return limited.copy() if limited is array else limited


def _promoted(array: GpuArray, low: Any, high: Any) -> GpuArray:
    """Return an array in the dtype of a clip between two ends: promoting with a weak end first may go too far."""
    if type(low) not in WEAK or type(high) is type(low):
        return array
    end = as_operand(high)
    if high is None or end is NotImplemented:
        return array
    wanted = np.result_type(array.dtype, low, end if type(end) in WEAK else end.dtype)
    return array.astype(dtypes.canonical(wanted), copy=False)


def clip(
    x: ArrayLike, /, min: ArrayLike = None, max: ArrayLike = None, out: Any = None, *, a_min: ArrayLike = None,
    a_max: ArrayLike = None,
) -> GpuArray:  # fmt: skip
    """Limit the elements to a range; NaN are unchanged.

    Parameters
    ----------
    x : array_like
        Real numbers.
    min, max : array_like, optional
        Limits that broadcast with ``x``; None means no limit. Where ``min > max`` the result is ``max``.
    out : GpuArray or ndarray, optional
        Array for the result.
    a_min, a_max : array_like, optional
        NumPy's older names of ``min`` and ``max``.

    Returns
    -------
    GpuArray
        Of the promoted dtype, with weak Python scalars; of the dtype of ``x`` if ``config.strict_array_api`` is on.

    Raises
    ------
    ValueError
        If a limit is given by both of its names.
    """
    array = as_array(x)
    if (min is not None and a_min is not None) or (max is not None and a_max is not None):
        raise ValueError("a_min and a_max are aliases of min and max; only one name of each can be given")
    min, max = a_min if min is None else min, a_max if max is None else max
    strict = strictness.possible and config.current.strict_array_api
    if strict:
        standard.require("clip", array, *(as_operand(end) for end in (min, max) if end is not None))
    limited = bounded(array, min, max)
    if strict:
        limited = limited.astype(array.dtype, copy=False)
    return write_out(limited, out)


def _clips_nothing(bound: Any, dtype: DType, extreme: str) -> bool:
    """Return whether an end of a range is a Python integer beyond all that a dtype holds."""
    if dtype.kind not in "iu" or type(bound) is not int:
        return False
    info = np.iinfo(dtype)
    return bound < info.min if extreme == "min" else bound > info.max


def round(x: ArrayLike, /, decimals: int = 0, out: Any = None) -> GpuArray:
    """Round to the given number of decimals, ties to even.

    Parameters
    ----------
    x : array_like
        Numbers.
    decimals : int
        Number of decimals; negative values round before the decimal point.
    out : GpuArray or ndarray, optional
        Array for the result.

    Returns
    -------
    GpuArray
        Of the dtype of ``x``.
    """
    array = as_array(x)
    if strictness.possible:
        standard.require("round", array)
    if array.dtype.kind in "iub":
        if decimals >= 0:
            rounded = array.copy()
        else:
            scale = 10.0**-decimals
            rounded = multiply(rint(divide(array.astype(dtypes.float64), scale)), scale).astype(array.dtype)
    elif decimals == 0:
        rounded = rint(array)
    elif decimals > 0:
        rounded = divide(rint(multiply(array, 10.0**decimals)), 10.0**decimals)
    else:
        rounded = multiply(rint(divide(array, 10.0**-decimals)), 10.0**-decimals)
    return write_out(rounded, out)


around = round


def nan_to_num(
    x: ArrayLike, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> GpuArray:
    """Replace NaN by ``nan`` and infinities by the given or the largest numbers, in both parts of complex numbers."""
    array = as_array(x)
    if array.dtype.kind == "c":
        parts = [nan_to_num(part, True, nan, posinf, neginf) for part in (array.real, array.imag)]
        replaced: GpuArray = apply(rows.complex_from_parts, *parts)
    elif array.dtype.kind == "f":
        limits = np.finfo(array.dtype)
        above = array.dtype.type(limits.max if posinf is None else posinf)
        below = array.dtype.type(limits.min if neginf is None else neginf)
        finite = apply(rows.where, isnan(array), array.dtype.type(nan), array)
        finite = apply(rows.where, equal(array, np.inf), above, finite)
        replaced = apply(rows.where, equal(array, -np.inf), below, finite)
    else:
        replaced = array.copy()
    if copy:
        return replaced
    array.assign(replaced)
    return array


#: What needs no conversion beside an array.
_KNOWN: Final = frozenset((GpuArray, bool, int, float, complex))


def where(condition: ArrayLike, x1: ArrayLike = None, x2: ArrayLike = None, /) -> Any:
    """Select elements from two arrays by a condition.

    Parameters
    ----------
    condition : array_like
        Booleans, or numbers, which are true where they are non-zero.
    x1, x2 : array_like
        Values where the condition is true, and elsewhere; all three broadcast. Without them the result is that of
        :func:`nonzero`.

    Returns
    -------
    GpuArray
        Of the broadcast shape and the promoted dtype.
    """
    if x1 is None and x2 is None:
        return dispatch.METHODS["nonzero"](condition)
    if x1 is None or x2 is None:
        raise ValueError("either both or neither of x and y should be given")
    if type(condition) is GpuArray and type(x1) in _KNOWN and type(x2) in _KNOWN:
        return apply(rows.where, condition, x1, x2)
    found = apply(
        rows.where, *(v if isinstance(v, int | float | complex) else a for v, a in _beside(condition, x1, x2))
    )
    if found is NotImplemented:
        raise _refused(rows.where, (condition, x1, x2))
    return found


def _beside(*values: Any) -> list[tuple[Any, GpuArray]]:
    return list(zip(values, as_arrays(*values), strict=True))
