"""NumPy's elementwise functions that are no ufuncs: clipping, rounding, parts of complex numbers, choices, tests."""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from typing import Any

import numpy as np

from gpuarray.array import GpuArray, apply
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import NOT_GIVEN, as_array, as_arrays, as_choices, write_out
from gpuarray.functions.registry import implements, native
from gpuarray.ops import elementwise as rows
from gpuarray.ops.spec import map_op


@native("clip")
def clip(
    a: Any, a_min: Any = NOT_GIVEN, a_max: Any = NOT_GIVEN, out: Any = None, *, min: Any = NOT_GIVEN,
    max: Any = NOT_GIVEN, **kwargs: Any,
) -> Any:  # fmt: skip
    for name, one, other in (("a_min", a_min, a_max), ("a_max", a_max, a_min)):
        if one is NOT_GIVEN and other is not NOT_GIVEN:
            raise TypeError(f"clip() missing 1 required positional argument: '{name}'")
    if a_min is not NOT_GIVEN and (min is not NOT_GIVEN or max is not NOT_GIVEN):
        raise ValueError("min and max are aliases of a_min and a_max; only one name of each can be given")
    ends = (min, max) if a_min is NOT_GIVEN else (a_min, a_max)
    low, high = (None if end is NOT_GIVEN else end for end in ends)
    keywords = {name: value for name, value in kwargs.items() if name not in ("order", "subok", "where")}
    result = elementwise.bounded(as_array(a), low, high, **keywords)
    if kwargs.get("where", True) is not True:
        return np.positive(result, out=out, where=kwargs["where"])
    return write_out(result, out, kwargs.get("casting", "same_kind"))


@native("round", "around")
def round_(a: Any, decimals: int = 0, out: Any = None) -> Any:
    source = as_array(a)
    if source.dtype.kind == "c":
        parts = apply(rows.complex_from_parts, round_(source.real, decimals), round_(source.imag, decimals))
        return write_out(parts, out)
    if source.dtype.kind == "b" and decimals:
        raise TypeError(f"booleans cannot be rounded to {decimals} decimals: what is computed does not cast to bool")
    if source.dtype.kind in "iu":
        if decimals >= 0:
            return write_out(source.copy(), out)
        return write_out(_tens(source, 10.0**-decimals), out)
    if decimals == 0:
        return write_out(np.rint(source), out)  # type: ignore[arg-type]  # a duck array
    factor = 10.0 ** abs(decimals)
    scaled: Any = np.rint(source * factor) / factor if decimals > 0 else np.rint(source / factor) * factor
    return write_out(scaled, out)


def _tens(source: GpuArray, tens: float) -> Any:
    """Return integers rounded to a multiple of ``tens``, as NumPy does it: by way of float64."""
    rounded: Any = np.rint(source / tens) * tens
    return rounded.astype(source.dtype)


@native("fix")
def fix(x: Any, out: Any = None) -> Any:
    return write_out(apply(rows.trunc, as_array(x)), out)


@native("real")
def real(val: Any) -> Any:
    return as_array(val).real


@native("imag")
def imag(val: Any) -> Any:
    return as_array(val).imag


@native("angle")
def angle(z: Any, deg: bool = False) -> Any:
    source = as_array(z)
    part: Any = source.imag if source.dtype.kind == "c" else 0
    result = np.arctan2(part, source.real)
    return result * (180 / np.pi) if deg else result


@native("sinc")
def sinc(x: Any) -> Any:
    source = as_array(x)
    if source.dtype.kind != "c":
        return apply(map_op("sinc"), source)
    scaled = np.pi * np.where(source == 0, float(np.finfo(source.dtype).eps), source)
    return np.sin(scaled) / scaled


@native("i0")
def i0(x: Any) -> Any:
    return apply(map_op("i0"), _real_only(x, "i0"))


@native("where")
def where(condition: Any, x: Any = NOT_GIVEN, y: Any = NOT_GIVEN, /) -> Any:
    return elementwise.where(condition, *(None if v is NOT_GIVEN else v for v in (x, y)))


@native("select")
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    if any(c.dtype != np.bool_ for c in map(as_array, condlist)):
        raise TypeError("invalid entry in condlist: should be boolean ndarray")
    *choices, result = as_choices((*choicelist, default))
    for condition, choice in reversed(list(zip(condlist, choices, strict=True))):
        result = where(condition, choice, result)
    return result


@native("nan_to_num")
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    return elementwise.nan_to_num(x, copy, nan, posinf, neginf)


# --- tests ----------------------------------------------------------------------------------------------------------


@native("isclose")
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    # Python's numbers take on the dtype of the other operand
    first: Any = a if type(a) in (int, float, complex) and isinstance(b, GpuArray | np.ndarray) else as_array(a)
    second: Any = float(b) if type(b) is int else b if type(b) in (float, complex) else as_array(b)
    if isinstance(second, GpuArray):
        second = second.astype(np.result_type(second.dtype, 1.0), copy=False)
    near = abs(first - second) <= atol + rtol * abs(second)
    result = (near & np.isfinite(second)) | (first == second)
    if equal_nan:
        result = result | (np.isnan(first) & np.isnan(second))
    return result


def _holds(flags: Any) -> bool:
    """Return whether all of some flags hold, which is read."""
    return bool(flags.all().item())


@implements("allclose")
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    return _holds(isclose(a, b, rtol, atol, equal_nan))


@implements("array_equal")
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    first, second = as_arrays(a1, a2)
    if first.shape != second.shape:
        return False
    same = first == second
    if equal_nan and first.dtype.kind in "fc" and second.dtype.kind in "fc":
        same = same | (np.isnan(first) & np.isnan(second))
    return _holds(same)


@implements("array_equiv")
def array_equiv(a1: Any, a2: Any) -> bool:
    try:
        first, second = np.broadcast_arrays(*as_arrays(a1, a2))
    except ValueError:
        return False
    return _holds(first == second)


@native("isposinf")
def isposinf(x: Any, out: Any = None) -> Any:
    return write_out(_real_only(x, "isposinf") == np.inf, out)


@native("isneginf")
def isneginf(x: Any, out: Any = None) -> Any:
    return write_out(_real_only(x, "isneginf") == -np.inf, out)


def _real_only(x: Any, name: str) -> Any:
    source = as_array(x)
    if source.dtype.kind == "c":
        raise TypeError(f"This operation is not supported for {source.dtype} values because it would be ambiguous.")
    return source


@native("iscomplex")
def iscomplex(x: Any) -> Any:
    return as_array(x).imag != 0


@native("isreal")
def isreal(x: Any) -> Any:
    return as_array(x).imag == 0


@implements("iscomplexobj")
def iscomplexobj(x: Any) -> bool:
    return as_array(x).dtype.kind == "c"


@implements("isrealobj")
def isrealobj(x: Any) -> bool:
    return not iscomplexobj(x)


@implements("real_if_close")
def real_if_close(a: Any, tol: Any = 100) -> Any:
    source = as_array(a)
    if source.dtype.kind != "c":
        return source
    limit = tol * float(np.finfo(source.dtype).eps) if tol > 1 else tol
    return source.real if _holds(np.abs(source.imag) < limit) else source
