"""Logic: choices between elements, comparisons of arrays, and tests of elements."""

from typing import Any, Final, overload

import numpy as np

from gpuarray.array import GpuArray, apply, device_of
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import ArrayLike, as_array, as_arrays, as_choices, value_or, write_out
from gpuarray.functions.at_once import QUICK
from gpuarray.functions.registry import implements, native
from gpuarray.functions.searching import nonzero
from gpuarray.ops import elementwise as ops
from gpuarray.ops import selection

__all__ = [
    "allclose", "array_equal", "array_equiv", "isclose", "iscomplex", "iscomplexobj", "isneginf", "isposinf",
    "isreal", "isrealobj", "select", "where",
]  # fmt: skip

#: Types of operands that need no conversion.
_KNOWN: Final = frozenset((GpuArray, bool, int, float, complex))


@overload
def where(condition: ArrayLike, /) -> tuple[GpuArray, ...]: ...


@overload
def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike, /) -> GpuArray: ...


@native("where", at_once="elements", call=selection.where)
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
    x1, x2 = value_or(x1, None), value_or(x2, None)
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ValueError("either both or neither of x and y should be given")
    if type(condition) is GpuArray and type(x1) in _KNOWN and type(x2) in _KNOWN:
        return apply(ops.where, condition, x1, x2)
    device = device_of(condition, x1, x2)
    values = (condition, x1, x2)
    result = apply(ops.where, *(v if isinstance(v, int | float | complex) else as_array(v, device) for v in values))
    if result is NotImplemented:
        raise elementwise.refused(ops.where, (condition, x1, x2))
    return result


@native("select", at_once="elements")
def select(condlist: Any, choicelist: Any, default: Any = 0) -> GpuArray:
    """Return elements of the choices, each from the first choice whose condition is true."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    if any(c.dtype != np.bool_ for c in map(as_array, condlist)):
        raise TypeError("invalid entry in condlist: should be boolean ndarray")
    *choices, result = as_choices((*choicelist, default), wraps=True)
    for condition, choice in reversed(list(zip(condlist, choices, strict=True))):
        result = where(condition, choice, result)
    return result


@native("isclose", at_once="elements")
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> GpuArray:
    """Return elementwise whether two arrays are equal within a tolerance."""
    # Python numbers are weakly typed
    first: Any = a if type(a) in (int, float, complex) and isinstance(b, GpuArray | np.ndarray) else as_array(a)
    second: Any = float(b) if type(b) is int else b if type(b) in (float, complex) else as_array(b)
    if isinstance(second, GpuArray):
        second = second.astype(np.result_type(second.dtype, 1.0), copy=False)
    near = abs(first - second) <= atol + rtol * abs(second)
    result: GpuArray = (near & np.isfinite(second)) | (first == second)
    if equal_nan:
        result = result | (np.isnan(first) & np.isnan(second))
    return result


def holds(flags: Any) -> bool:
    """Read whether all flags are true."""
    return bool(flags.all().item())


@implements("allclose", at_once="elements", most=QUICK)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Return True if two arrays are equal elementwise within a tolerance."""
    return holds(isclose(a, b, rtol, atol, equal_nan))


@implements("array_equal", at_once="elements", most=QUICK)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Return True if two arrays have the same shape and elements."""
    first, second = as_arrays(a1, a2)
    if first.shape != second.shape:
        return False
    same = first == second
    if equal_nan and first.dtype.kind in "fc" and second.dtype.kind in "fc":
        same = same | (np.isnan(first) & np.isnan(second))
    return holds(same)


@implements("array_equiv", at_once="elements", most=QUICK)
def array_equiv(a1: Any, a2: Any) -> bool:
    """Return True if two arrays broadcast to the same shape and have equal elements."""
    try:
        first, second = np.broadcast_arrays(*as_arrays(a1, a2))
    except ValueError:
        return False
    return holds(first == second)


@native("isposinf", at_once="elements")
def isposinf(x: Any, out: Any = None) -> GpuArray:
    """Return elementwise whether elements are positive infinity."""
    return write_out(real_only(x) == np.inf, out)


@native("isneginf", at_once="elements")
def isneginf(x: Any, out: Any = None) -> GpuArray:
    """Return elementwise whether elements are negative infinity."""
    return write_out(real_only(x) == -np.inf, out)


def real_only(x: Any) -> GpuArray:
    """Return an array, which has to be of a real dtype."""
    source = as_array(x)
    if source.dtype.kind == "c":
        raise TypeError(f"This operation is not supported for {source.dtype} values because it would be ambiguous.")
    return source


@native("iscomplex", at_once="elements")
def iscomplex(x: Any) -> GpuArray:
    """Return elementwise whether elements have a nonzero imaginary part."""
    return as_array(x).imag != 0


@native("isreal", at_once="elements")
def isreal(x: Any) -> GpuArray:
    """Return elementwise whether elements have a zero imaginary part."""
    return as_array(x).imag == 0


@implements("iscomplexobj")
def iscomplexobj(x: Any) -> bool:
    """Return True if the dtype of an array is complex."""
    return as_array(x).dtype.kind == "c"


@implements("isrealobj")
def isrealobj(x: Any) -> bool:
    """Return True if the dtype of an array is not complex."""
    return not iscomplexobj(x)
