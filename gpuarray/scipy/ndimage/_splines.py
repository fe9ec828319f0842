"""Splines through the elements of an array: their coefficients, and their values at any coordinates.

A coordinate is a whole number and a rest, so that float32 results need no float64. The coefficients of a spline are a
convolution with a kernel that falls exponentially, which is cut off where the dtype does not see it any more.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import log, prod
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import ndimage

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import as_array
from gpuarray.functions.logic import where
from gpuarray.graph import build
from gpuarray.scipy.ndimage._boundary import extended, inside
from gpuarray.scipy.ndimage._correlation import line_filtered

#: The largest pole of the recursion for the coefficients, by the order of the spline.
_POLES: Final = {2: 0.171573, 3: 0.267950, 4: 0.361342, 5: 0.430576}
#: How far arrays are extended whose splines have no closed form beyond the edges, as in SciPy.
_PAD: Final = 12


class Coordinate(NamedTuple):
    """Where results lie along an axis: NumPy's arrays or ours, which broadcast to the shape of the result.

    Attributes
    ----------
    whole : array
        Integers.
    rest : array
        What is to be added, at least 0 and less than 1.
    """

    whole: Any
    rest: Any


@lru_cache(maxsize=64)
def _kernel(order: int, is_single: bool) -> Any:
    """Return the kernel whose convolution with an array gives the coefficients of its spline."""
    bits = 30 if is_single else 58
    radius = int(bits * log(2) / -log(_POLES[order])) + 1
    impulse = np.zeros(2 * radius + 81)  # the edges are far enough away
    impulse[radius + 40] = 1
    return ndimage.spline_filter1d(impulse, order)[40:-40].copy()


def coefficients(source: GpuArray, order: int, axes: Sequence[int], mode: str, dtype: DType) -> GpuArray:
    """Return the coefficients of the spline through an array along axes."""
    if mode in ("reflect", "grid-mirror", "nearest"):
        beyond = "reflect"
    else:
        beyond = "grid-wrap" if mode == "grid-wrap" else "mirror"
    found = source
    for axis in axes:
        if found.shape[axis] > 1:
            is_single = found.dtype == dtype and dtype in (dtypes.float32, dtypes.complex64)
            found = line_filtered(found, _kernel(order, is_single), axis, beyond, 0.0, dtype)
    return found.astype(dtype, copy=False)


def coordinate(value: Any, dtype: DType) -> Coordinate:
    """Return numbers, NumPy's or ours, as a coordinate whose rest has a dtype."""
    whole = np.floor(value)
    return Coordinate(whole.astype(np.int32), (value - whole).astype(dtype))


def total(parts: Sequence[Coordinate]) -> Coordinate:
    """Return the sum of coordinates."""
    whole, rest = parts[0]
    for other in parts[1:]:
        whole, rest = whole + other.whole, rest + other.rest
        over = np.floor(rest)
        whole, rest = whole + over.astype(np.int32), rest - over
    return Coordinate(whole, rest)


def _weights(t: Any, order: int) -> list[Any]:
    """Return the values of the basis splines at distances from the first element that they have a part in."""
    if order == 0:
        return [1]
    if order == 1:
        return [1 - t, t]
    if order == 2:  # t is between -1/2 and 1/2
        return [0.5 * (0.5 - t) ** 2, 0.75 - t * t, 0.5 * (0.5 + t) ** 2]
    z = 1 - t
    if order == 3:
        return [z * z * z / 6, (t * t * (t - 2) * 3 + 4) / 6, (z * z * (z - 2) * 3 + 4) / 6, t * t * t / 6]
    if order == 4:
        s, minus, plus = t * t, 0.5 - t, 0.5 + t
        near, far = 1 + t, 1 - t
        return [
            minus**4 / 24,
            near * (near * (near * (5 - near) / 6 - 1.25) + 5 / 24) + 55 / 96,
            s * (s * 0.25 - 0.625) + 115 / 192,
            far * (far * (far * (5 - far) / 6 - 1.25) + 5 / 24) + 55 / 96,
            plus**4 / 24,
        ]

    def inner(x: Any) -> Any:
        return x * x * (x * x * (0.25 - x / 12) - 0.5) + 0.55

    def outer(x: Any) -> Any:
        return x * (x * (x * (x * (x / 24 - 0.375) + 1.25) - 1.75) + 0.625) + 0.425

    return [z**5 / 120, outer(1 + t), inner(t), inner(z), outer(1 + z), t**5 / 120]


class _Taps(NamedTuple):
    """What is read along an axis: positions with weights, and where they are beyond the array."""

    positions: list[Any]
    weights: list[Any]
    beyond: Any
    missed: list[Any]


def _taps(at: Coordinate, extent: int, mode: str, order: int) -> _Taps:
    whole, rest = at
    beyond = None
    if mode == "constant":
        beyond = (whole < 0) | (whole > extent - 1) | ((whole == extent - 1) & (rest > 0))
    elif mode == "wrap":
        period = max(extent - 1, 1)
        is_inside = (whole >= 0) & ((whole < extent - 1) | ((whole == extent - 1) & (rest == 0)))
        turned = whole % period
        turned = np.where((whole < 0) & (turned == 0) & (rest == 0), np.int32(extent - 1), turned)
        whole = np.where(is_inside, whole, turned)
        if extent == 1:
            whole, rest = whole * np.int32(0), rest * rest.dtype.type(0)
    if order % 2 == 0:
        upper = rest >= 0.5
        if order == 0 and mode in ("mirror", "reflect"):  # SciPy reflects coordinates, so halves round down
            is_mirror = mode == "mirror"
            period = max(2 * (extent - is_mirror), 1)
            length = np.where(whole < 0, np.int32(extent - is_mirror), np.int32(extent))
            upper = upper & ((rest != 0.5) | (whole % period < length))
        whole, rest = whole + upper.astype(np.int32), rest - upper.astype(rest.dtype)
    weights = _weights(rest, order)
    edge = {"constant": "mirror", "wrap": "mirror"}.get(mode, mode)
    starts = (inside(whole + (k - order // 2), extent, edge) for k in range(order + 1))
    positions = [start.astype(np.int32) for start in starts]
    missed = [start < 0 for start in positions] if mode == "grid-constant" else []
    return _Taps([np.maximum(p, np.int32(0)) for p in positions] if missed else positions, weights, beyond, missed)


def interpolated(
    source: GpuArray,
    at: Sequence[Coordinate | None],
    shape: Sequence[int],
    order: int,
    mode: str,
    cval: Any,
    result: DType,
    *,
    prefilter: bool,
) -> GpuArray:
    """Return the values of the spline through an array, before they are stored.

    Parameters
    ----------
    source : GpuArray
        The array.
    at : sequence of Coordinate or None
        Where, along each axis; None for the elements of the axis themselves.
    shape : sequence of int
        The shape of the result.
    order : int
        The order of the spline, 0 to 5.
    mode : str
        What is beyond the edges.
    cval : number
        The constant that may be there.
    result : dtype
        The dtype of the result.
    prefilter : bool
        Whether the coefficients are to be computed first.
    """
    dtype = _dtype(source, result)
    if not prod(shape):
        return make(build.full(tuple(shape), 0, dtype), source.device)
    moved = [axis for axis, where_ in enumerate(at) if where_ is not None]
    pad = 0
    if mode == "grid-mirror":
        mode = "reflect"
    if prefilter and order > 1:
        pad = _PAD if mode in ("nearest", "grid-constant") else 0
        widths = [pad if axis in moved else 0 for axis in range(source.ndim)]
        source = extended(source.astype(dtype, copy=False), widths, widths, [mode] * source.ndim, cval)
        source = coefficients(source, order, moved, mode, dtype)
    source = source.astype(dtype, copy=False)
    known: list[_Taps] = []
    stride = prod(source.shape)
    for axis, extent in enumerate(source.shape):
        stride //= max(extent, 1)
        here = at[axis]
        if here is None:
            line = np.arange(extent, dtype=np.int32).reshape([-1 if a == axis else 1 for a in range(len(shape))])
            known.append(_placed(_Taps([line], [1], None, []), stride, source))
        else:
            shifted = Coordinate(here.whole + np.int32(pad), here.rest)
            known.append(_placed(_taps(shifted, extent, mode, order), stride, source))
    found = _summed(source, known, None, None, shape, cval)
    beyond = None
    for taps in known:
        if taps.beyond is not None:
            beyond = taps.beyond if beyond is None else beyond | taps.beyond
    if beyond is not None:
        found = where(beyond, as_array(cval, source.device).astype(found.dtype), found)
    return found if found.shape == tuple(shape) else found.broadcast(tuple(shape)).copy()


def _dtype(source: GpuArray, result: DType) -> DType:
    is_single = source.dtype in (dtypes.float32, dtypes.complex64) and result in (dtypes.float32, dtypes.complex64)
    if "c" in (source.dtype.kind, result.kind):
        return dtypes.complex64 if is_single else dtypes.complex128
    return dtypes.float32 if is_single else dtypes.float64


def rest_dtype(source: GpuArray, result: DType) -> DType:
    """Return the dtype of the rests of coordinates."""
    return dtypes.float32 if _dtype(source, result) in (dtypes.float32, dtypes.complex64) else dtypes.float64


def _placed(taps: _Taps, stride: int, source: GpuArray) -> _Taps:
    """Return taps as arrays of this package, their positions in units of elements."""
    single = source.dtype in (dtypes.float32, dtypes.complex64)

    def put(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            kind = value.dtype if value.dtype.kind != "f" else np.dtype(np.float32 if single else np.float64)
            return as_array(value.astype(kind), source.device)
        return value

    steps = [put(p * np.int32(stride)) for p in taps.positions]
    return _Taps(steps, [*map(put, taps.weights)], put(taps.beyond), [*map(put, taps.missed)])


def _summed(
    source: GpuArray, taps: Sequence[_Taps], start: Any, missed: Any, shape: Sequence[int], cval: Any
) -> GpuArray:
    """Return the sum over the taps of the first axis of their weights times the sum over the taps of the others."""
    if not taps:
        found = make(build.gather(source.node(), start.node()), source.device)
        return found if missed is None else where(missed, as_array(cval, source.device).astype(source.dtype), found)
    first, *others = taps
    sum_: Any = None
    for k, (position, weight) in enumerate(zip(first.positions, first.weights, strict=True)):
        out = missed
        if first.missed:
            out = first.missed[k] if missed is None else missed | first.missed[k]
        part = _summed(source, others, position if start is None else start + position, out, shape, cval)
        term = part if isinstance(weight, int) else weight * part
        sum_ = term if sum_ is None else sum_ + term
    result: GpuArray = sum_
    return result
