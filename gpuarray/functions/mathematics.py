"""Mathematical functions over the elementwise ones: parts of complex numbers, rounding, limits."""

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import WEAK, GpuArray, apply, as_operand
from gpuarray.array.traced_scalars import weak_of
from gpuarray.dtypes import DType
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import (
    NOT_GIVEN,
    ArrayLike,
    DTypeLike,
    as_array,
    standard_function,
    value_or,
    write_out,
)
from gpuarray.functions.at_once import at_once
from gpuarray.functions.indexing import copyto
from gpuarray.functions.logic import holds, real_only, where
from gpuarray.functions.registry import implements, native
from gpuarray.graph import standard
from gpuarray.ops import elementwise as ops
from gpuarray.ops.spec import MapOp, map_op

__all__ = [
    "angle", "around", "clip", "divmod", "fix", "frexp", "i0", "imag", "modf", "nan_to_num", "real", "real_if_close",
    "round", "sinc",
]  # fmt: skip


@native("real")
@standard_function
def real(x: ArrayLike, /) -> GpuArray:
    """Return the real part: a view for complex arrays, otherwise the array itself."""
    return as_array(x).real


@native("imag")
@standard_function
def imag(x: ArrayLike, /) -> GpuArray:
    """Return the imaginary part: a view for complex arrays, otherwise read-only zeros."""
    return as_array(x).imag


def _two_outputs(
    ufunc: np.ufunc,
    compute: Callable[..., tuple[GpuArray, GpuArray]],
    inputs: tuple[ArrayLike, ...],
    outputs: tuple[Any, Any],
    out: Any,
    where: Any,
    dtype: DTypeLike,
    casting: str,
) -> tuple[GpuArray, GpuArray]:
    """Compute two results; if arguments of a ufunc are given, call the ufunc, which handles them."""
    if outputs[0] is outputs[1] is out is dtype is None and where is True and casting == "same_kind":
        return compute(*inputs)
    outs = outputs if outputs[1] is not None else outputs[:1] if outputs[0] is not None else ()
    keywords = {} if out is None else {"out": out}
    return ufunc(as_array(inputs[0]), *inputs[1:], *outs, where=where, dtype=dtype, casting=casting, **keywords)


def _quotient_and_remainder(x1: ArrayLike, x2: ArrayLike) -> tuple[GpuArray, GpuArray]:
    return elementwise.floor_divide(x1, x2), elementwise.remainder(x1, x2)


@implements("divmod", at_once="elements")
def divmod(
    x1: ArrayLike,
    x2: ArrayLike,
    out1: Any = None,
    out2: Any = None,
    /,
    *,
    out: Any = None,
    where: Any = True,
    dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> tuple[GpuArray, GpuArray]:
    """Return the quotient, rounded down, and the remainder."""
    return _two_outputs(np.divmod, _quotient_and_remainder, (x1, x2), (out1, out2), out, where, dtype, casting)


def _parts(ufunc: np.ufunc, first: MapOp, second: MapOp, doc: str) -> Callable[..., tuple[GpuArray, GpuArray]]:
    """Return the function of a ufunc with two results, each of which has an operation."""

    def compute(x: ArrayLike) -> tuple[GpuArray, GpuArray]:
        array = as_array(x)
        return apply(first, array), apply(second, array)

    def function(
        x: ArrayLike, out1: Any = None, out2: Any = None, /, *, out: Any = None, where: Any = True,
        dtype: DTypeLike = None, casting: str = "same_kind",
    ) -> tuple[GpuArray, GpuArray]:  # fmt: skip
        return _two_outputs(ufunc, compute, (x,), (out1, out2), out, where, dtype, casting)

    function.__name__ = function.__qualname__ = ufunc.__name__
    function.__doc__ = doc
    return at_once(function, "elements", ufunc)


frexp = _parts(
    np.frexp, ops.frexp_mantissa, ops.frexp_exponent,
    "Return the mantissa, of magnitude in [0.5, 1), and the int32 exponent of 2.",
)  # fmt: skip
modf = _parts(
    np.modf, ops.modf_fraction, ops.modf_integral,
    "Return the fractional and the integral part, both with the sign of ``x``.",
)  # fmt: skip


@native("angle", at_once="elements")
def angle(z: Any, deg: bool = False) -> GpuArray:
    """Return the angle of complex elements."""
    source = as_array(z)
    part: Any = source.imag if source.dtype.kind == "c" else 0
    result = elementwise.atan2(part, source.real)
    return result * (180 / np.pi) if deg else result


@implements("real_if_close")
def real_if_close(a: Any, tol: Any = 100) -> GpuArray:
    """Return the real part if all imaginary parts are close to zero, else the complex array."""
    source = as_array(a)
    if source.dtype.kind != "c":
        return source
    limit = tol * float(np.finfo(source.dtype).eps) if tol > 1 else tol
    return source.real if holds(np.abs(source.imag) < limit) else source


def _bounded(array: GpuArray, low: Any, high: Any, **keywords: Any) -> GpuArray:
    """Limit an array to a range, whose ends may be None. The keywords are those of ``maximum``."""
    limited = array if "dtype" in keywords else _promoted(array, low, high)
    if low is not None and not _clips_nothing(low, limited.dtype, "min"):
        limited = elementwise.maximum(limited, low, **keywords)
    if high is not None and not _clips_nothing(high, limited.dtype, "max"):
        limited = elementwise.minimum(limited, high, **keywords)
    return limited.copy() if limited is array else limited


def _promoted(array: GpuArray, low: Any, high: Any) -> GpuArray:
    """Convert an array to the dtype of its clip, because promotion with one end at a time may give a wider dtype."""
    if type(low) not in WEAK or type(high) is type(low):
        return array
    end = as_operand(high)
    if high is None or end is NotImplemented:
        return array
    if type(end) not in WEAK:  # a number of a recorded function has the dtype of Python's numbers
        weak = weak_of(end)
        end = end.dtype if weak is None else weak.python()
    common = np.result_type(array.dtype, low, end)
    return array.astype(dtypes.canonical(common), copy=False)


def _clips_nothing(bound: Any, dtype: DType, extreme: str) -> bool:
    """Return whether an end of a range is a Python integer outside of the range of a dtype."""
    if dtype.kind not in "iu" or type(bound) is not int:
        return False
    info = np.iinfo(dtype)
    return bound < info.min if extreme == "min" else bound > info.max


def clip(
    x: ArrayLike, /, min: ArrayLike = None, max: ArrayLike = None, out: Any = None, *, a_min: ArrayLike = None,
    a_max: ArrayLike = None, **kwargs: Any,
) -> GpuArray:  # fmt: skip
    """Limit elements to a range; NaN stays NaN.

    Parameters
    ----------
    x : array_like
        Real numbers.
    min, max : array_like, optional
        Ends of the range, which broadcast with ``x``; None means no limit. Where ``min > max`` the result is ``max``.
    out : GpuArray or ndarray, optional
        Where to put the result.
    a_min, a_max : array_like, optional
        NumPy's older names of ``min`` and ``max``.
    **kwargs : optional
        Keywords of ufuncs: ``where``, ``dtype``, ``casting``, ``order`` and ``subok``.

    Returns
    -------
    GpuArray
        Of the promoted dtype, where Python scalars are weak; with ``config.strict_array_api``, of the dtype of ``x``.

    Raises
    ------
    ValueError
        If an end is given by both of its names.
    """
    array = as_array(x)
    if (min is not None and a_min is not None) or (max is not None and a_max is not None):
        raise ValueError("a_min and a_max are other names of min and max; give either these or those")
    min, max = a_min if min is None else min, a_max if max is None else max
    strict = standard.is_on()
    if strict:
        standard.require("clip", array, *(as_operand(end) for end in (min, max) if end is not None))
    keywords = {name: value for name, value in kwargs.items() if name not in ("order", "subok", "where")}
    limited = _bounded(array, min, max, **keywords)
    if strict:
        limited = limited.astype(array.dtype, copy=False)
    if kwargs.get("where", True) is not True:
        return elementwise.positive(limited, out=out, where=kwargs["where"])
    return write_out(limited, out, kwargs.get("casting", "same_kind"))


clip = at_once(clip, "elements", np.clip)


@native("clip", at_once="elements")
def _numpys_clip(
    a: Any, a_min: Any = NOT_GIVEN, a_max: Any = NOT_GIVEN, out: Any = None, *, min: Any = NOT_GIVEN,
    max: Any = NOT_GIVEN, **kwargs: Any,
) -> GpuArray:  # fmt: skip
    # unlike the standard, NumPy requires both ends if one is given by position
    for name, one, bound in (("a_min", a_min, a_max), ("a_max", a_max, a_min)):
        if one is NOT_GIVEN and bound is not NOT_GIVEN:
            raise TypeError(f"clip() missing 1 required positional argument: '{name}'")
    if a_min is not NOT_GIVEN and (min is not NOT_GIVEN or max is not NOT_GIVEN):
        raise ValueError("min and max are other names of a_min and a_max; give either these or those")
    ends = (min, max) if a_min is NOT_GIVEN else (a_min, a_max)
    low, high = (value_or(end, None) for end in ends)
    return clip(a, low, high, out, **kwargs)


@native("round", "around", at_once="elements")
@standard_function
def round(x: ArrayLike, /, decimals: int = 0, out: Any = None) -> GpuArray:
    """Round to the given number of decimals, ties to even.

    Parameters
    ----------
    x : array_like
        Numbers.
    decimals : int
        Number of decimals; negative numbers round to the left of the decimal point.
    out : GpuArray or ndarray, optional
        Where to put the result.

    Returns
    -------
    GpuArray
        Of the dtype of ``x``.

    Raises
    ------
    TypeError
        If booleans are to be rounded to decimals.
    """
    return write_out(_rounded(as_array(x), index(decimals)), out)


def _rounded(array: GpuArray, decimals: int) -> GpuArray:
    kind = array.dtype.kind
    if kind == "c":
        return apply(ops.complex_from_parts, *(_rounded(part, decimals) for part in (array.real, array.imag)))
    if kind == "b" and decimals:
        raise TypeError(f"booleans cannot be rounded to {decimals} decimals; convert them with astype")
    if kind in "iu" and decimals >= 0:
        return array.copy()
    if decimals == 0:
        return elementwise.rint(array)
    factor = 10.0 ** abs(decimals)
    if decimals > 0:
        return elementwise.rint(array * factor) / factor
    source = array.astype(dtypes.float64) if kind in "iu" else array  # as NumPy
    return (elementwise.rint(source / factor) * factor).astype(array.dtype, copy=False)


around = round


@native("fix", at_once="elements")
def fix(x: Any, out: Any = None) -> GpuArray:
    """Return elements rounded towards zero."""
    return write_out(apply(ops.trunc, as_array(x)), out)


@native("nan_to_num", at_once="elements")
def nan_to_num(x: ArrayLike, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> GpuArray:
    """Replace NaN by ``nan`` and infinities by the given or the largest numbers, in both parts of complex numbers."""
    array = as_array(x)
    if nan is None:
        raise TypeError("nan must be a number (got None)")
    if array.dtype.kind == "c":
        parts = [nan_to_num(part, True, nan, posinf, neginf) for part in (array.real, array.imag)]
        replaced: GpuArray = apply(ops.complex_from_parts, *parts)
    elif array.dtype.kind == "f":
        limits = np.finfo(array.dtype)
        positions = (elementwise.isnan(array), elementwise.equal(array, np.inf), elementwise.equal(array, -np.inf))
        values = [nan, limits.max if posinf is None else posinf, limits.min if neginf is None else neginf]
        replaced = array.copy()
        for position, value in zip(positions, values, strict=True):
            copyto(replaced, value, where=position)
    else:
        replaced = array.copy()
    if copy:
        return replaced
    array[...] = replaced
    return array


@native("sinc", at_once="elements")
def sinc(x: Any) -> GpuArray:
    """Return ``sin(pi * x) / (pi * x)``, which is 1 at 0."""
    source = as_array(x)
    if source.dtype.kind != "c":
        return elementwise.unary(map_op("sinc"))(source)
    scaled = np.pi * where(source == 0, float(np.finfo(source.dtype).eps), source)
    return elementwise.sin(scaled) / scaled


def _of_finite(x: Any) -> Any:
    if not np.isfinite(x).all():
        raise NotImplementedError  # NumPy's result for infinities is NaN
    return np.i0(x)


@native("i0", at_once="elements", call=_of_finite)
def i0(x: Any) -> GpuArray:
    """Return the modified Bessel function of the first kind of order 0."""
    return elementwise.unary(map_op("i0"))(real_only(x))
