"""Ranges of numbers, and grids of them."""

import math
from operator import index
from typing import Any, Final, Literal, overload

import numpy as np

from gpuarray import dtypes
from gpuarray.array import WEAK, GpuArray, default_dtype, made_of, make
from gpuarray.array.compiled import RANGE, SPACED
from gpuarray.device import Device
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import (
    ArrayLike,
    DeviceLike,
    DTypeLike,
    as_arrays,
    checked_device,
    checked_shape,
    numbers,
    result,
)
from gpuarray.functions.at_once import NOT_COMPUTED, AtOnce, created
from gpuarray.functions.creation import asarray, chosen_dtype, is_immediate, target_device
from gpuarray.functions.logic import where
from gpuarray.functions.manipulation import broadcast_arrays, expand_dims, moveaxis
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build
from gpuarray.graph.indexing import INDEX_LIMIT
from gpuarray.graph.shapes import normalize_axis
from gpuarray.immediacy import immediacy, quiet
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators

__all__ = ["arange", "geomspace", "linspace", "logspace", "meshgrid"]


def _meshgrid(*arrays: Any, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> tuple[Any, ...]:
    """Return NumPy's coordinate matrices, but for views, which would be writeable."""
    if not copy:
        raise LookupError
    return tuple(np.meshgrid(*arrays, indexing=indexing, sparse=sparse))  # type: ignore[call-overload]  # any inputs


_DATES: Final = (np.datetime64, np.timedelta64)


@native("arange", makes=created(np.arange, bound=RANGE))
def arange(
    start: Any, /, stop: Any = None, step: Any = 1, dtype: DTypeLike = None, *, device: DeviceLike = None,
    like: Any = None,
) -> GpuArray:  # fmt: skip
    """Return evenly spaced numbers in a half-open range.

    Parameters
    ----------
    start, stop : number
        The range, without ``stop``. A single argument is the stop, and the start is 0.
    step : number
        The step, which may be negative.
    dtype : dtype, optional
        By default int64, or the default floating dtype if an argument is a float.
    device : Device or str, optional
        Device of the array; ``config.device`` by default.

    Returns
    -------
    GpuArray
        Of shape ``(ceil((stop - start) / step),)``.

    Raises
    ------
    TypeError
        If the ends are dates.
    ZeroDivisionError
        If the step is 0.
    """
    if isinstance(start, _DATES) or isinstance(step, _DATES):
        raise TypeError("dates are not a supported dtype; make them with numpy.arange, and keep them in NumPy arrays")
    first, last = (0, start) if stop is None else (0 if start is None else start, stop)
    step = 1 if step is None else step
    integral = type(first) is type(last) is type(step) is int
    if not integral:
        first, last, step = (
            v.item() if isinstance(v, GpuArray | np.ndarray | np.generic) else v for v in (first, last, step)
        )
        integral = all(isinstance(v, int) for v in (first, last, step))
    if step == 0:
        raise ZeroDivisionError("the step of arange is 0; use another number")
    kind = chosen_dtype(dtype, int if integral else float)
    if integral:
        count = -((first - last) // step)
    else:
        length = (last - first) / step
        if not math.isfinite(length):
            raise ValueError(f"arange from {first} to {last} in steps of {step} has no finite length")
        count = math.ceil(length)
    (extent,) = checked_shape(max(count, 0), kind)
    target = target_device(device, like)
    if kind == dtypes.bool_:
        return _boolean_range(first, step, extent, target)
    if kind in (dtypes.int64, dtypes.float64) and is_immediate((extent,), target):
        return made_of(quiet.run(np.arange, first, last, step, kind), target)
    # as in NumPy, the first two elements are converted, and their difference is the step
    begin: Any = kind.type(first) if extent else kind.type(0)
    stride = kind.type(first + step) - begin if extent > 1 else kind.type(0)
    return make(build.generate(generators.arange, (begin, stride), (extent,), kind), target)


def _boolean_range(first: Any, step: Any, extent: int, device: Device) -> GpuArray:
    if extent > 2:
        raise TypeError("arange() is only supported for booleans when the result has at most length 2.")
    return asarray(np.array([bool(first), bool(first + step)][:extent], np.bool_), device=device)


def _count(start: Any, stop: Any, num: Any = 50, *_: Any, **others: Any) -> int:
    return index(num)


#: How few numbers between arrays are computed at once.
_FEW: Final = AtOnce(np.linspace, "sums")


@overload
def linspace(
    start: Any,
    stop: Any,
    /,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> GpuArray: ...


@overload
def linspace(
    start: Any,
    stop: Any,
    /,
    num: int = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike = None,
    axis: int = 0,
    device: DeviceLike = None,
) -> tuple[GpuArray, Any]: ...


@implements("linspace", makes=created(np.linspace, _count, bound=SPACED))
def linspace(
    start: Any,
    stop: Any,
    /,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> Any:
    """Return evenly spaced numbers over an interval.

    Parameters
    ----------
    start, stop : number or array_like
        Ends of the interval. For arrays, the result has a new axis.
    num : int
        Number of elements.
    endpoint : bool
        Whether ``stop`` is the last element.
    retstep : bool
        Whether to return the step, too.
    dtype : dtype, optional
        By default the default floating (or complex) dtype; integers are rounded down.
    axis : int
        Position of the new axis, if the ends are arrays.
    device : Device or str, optional
        Device of the array; ``config.device`` by default.

    Raises
    ------
    ValueError
        If ``num`` is negative.
    """
    count = index(num)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    parts = count - 1 if endpoint else count
    step: Any
    are_arrays = isinstance(start, GpuArray) or isinstance(stop, GpuArray) or np.ndim(start) or np.ndim(stop)
    if are_arrays and device is None and count * np.size(start) * np.size(stop) <= immediacy().limit:
        few = _FEW.compute(start, stop, count, endpoint, retstep, dtype, axis)
        if few is not NOT_COMPUTED:
            return few
    if are_arrays or count > INDEX_LIMIT:  # the generator of lines between numbers counts in 32 bits
        if not are_arrays:
            dtype = chosen_dtype(dtype, complex if isinstance(start, complex) or isinstance(stop, complex) else float)
        values, step = _between_arrays(start, stop, count, endpoint, dtype, device)
    else:
        values = _between_numbers(start, stop, count, endpoint, dtype, device)
        step = (stop - start) / parts if parts > 0 and retstep else math.nan
    if axis != 0:
        order = list(range(1, values.ndim))
        order.insert(normalize_axis(axis, values.ndim), 0)
        values = values.transpose(order)
    return (values, step) if retstep else values


def _between_arrays(
    start: Any, stop: Any, num: int, endpoint: bool, dtype: DTypeLike, device: DeviceLike
) -> tuple[GpuArray, GpuArray]:
    """Return evenly spaced numbers along a new first axis, and the distances between neighbours."""
    first, last = as_arrays(start, stop)
    ends = zip((start, stop), (first, last), strict=True)
    kind = dtypes.promote(*(end if type(end) in WEAK else array.dtype for end, array in ends), float)
    result_dtype = kind if dtype is None else dtypes.canonical(dtype)
    parts = num - 1 if endpoint else num
    delta = elementwise.subtract(last, first, dtype=kind)
    step = delta / parts if parts > 0 else delta * np.nan
    ndim = max(first.ndim, last.ndim)
    node = build.generate(generators.arange, (0, 1), (num,), kind)
    ramp = result(node, first, last).reshape((-1,) + (1,) * ndim)
    values = ramp * (step if parts > 0 else delta) + first
    if endpoint and num > 1:
        values = where(ramp == num - 1, last, values)
    if result_dtype.kind in "iu":
        values = elementwise.floor(values)
    values = values.astype(result_dtype, copy=False)
    return values if device is None else values.to_device(checked_device(device)), step


def _between_numbers(start: Any, stop: Any, num: int, endpoint: bool, dtype: DTypeLike, device: DeviceLike) -> GpuArray:
    """Return evenly spaced numbers along a new first axis."""
    first, last = (v.item() if isinstance(v, np.ndarray | np.generic) else v for v in (start, stop))
    is_complex = isinstance(first, complex) or isinstance(last, complex)
    result_dtype = chosen_dtype(dtype, complex if is_complex else float)
    if dtype is None and any(hasattr(end, "dtype") for end in (start, stop)):
        result_dtype = dtypes.promote(*(getattr(end, "dtype", end) for end in (start, stop)), float)
    compute = result_dtype if result_dtype.kind in "fc" else default_dtype(float)
    (extent,) = checked_shape((num,), compute)
    parts = num - 1 if endpoint else num
    first, last = (complex(v) if is_complex else float(v) for v in (first, last))
    step = (last - first) / parts if parts > 0 else 0.0
    parameters = (first, step, last, num - 1 if endpoint and num > 1 else -1)
    node = build.generate(generators.linspace, parameters, (extent,), compute)
    if result_dtype.kind in "iu":
        return make(build.cast(build.elementwise(ops.floor, node), result_dtype), checked_device(device))
    return make(build.cast(node, result_dtype), checked_device(device))


@implements("logspace", makes=created(np.logspace, _count, bound=SPACED))
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> GpuArray:
    """Return numbers that are evenly spaced on a logarithmic scale."""
    if np.ndim(base):
        start, stop, base = broadcast_arrays(start, stop, base)
        base = expand_dims(base, axis)
    values = elementwise.pow(base, linspace(start, stop, num, endpoint, axis=axis))
    return values if dtype is None else values.astype(dtype, copy=False)


@implements("geomspace", makes=created(np.geomspace, _count, bound=SPACED))
def geomspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> GpuArray:
    """Return numbers that form a geometric progression."""
    ends = as_arrays(start, stop)
    if any(numbers(*((end == 0).any() for end in ends))):
        raise ValueError("Geometric sequence cannot include zero")
    result_dtype = dtypes.float64 if dtype is None else dtypes.canonical(dtype)
    kind = np.result_type(ends[0].dtype, ends[1].dtype, float(num), result_dtype)
    first, last = (end.astype(kind) for end in ends)
    # the logarithms are computed of positive numbers, which are multiplied by the direction at the end
    direction = elementwise.sign(first)
    first, last = first / direction, last / direction
    count = index(num)
    values = logspace(elementwise.log10(first), elementwise.log10(last), count, endpoint, base=10.0, dtype=kind)
    number = arange(count, dtype=dtypes.int64, device=values.device).reshape((-1,) + (1,) * (values.ndim - 1))
    values = where(number == 0, first, values)
    if endpoint and count > 1:
        values = where(number == count - 1, last, values)
    values = moveaxis(values * direction, 0, axis)
    return values.astype(kind if dtype is None else result_dtype, copy=False)


@native("meshgrid", at_once="products", call=_meshgrid)
def meshgrid(*arrays: ArrayLike, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> tuple[GpuArray, ...]:
    """Return coordinate matrices from coordinate vectors.

    Parameters
    ----------
    *arrays : array_like
        The coordinates along each axis, with at most one axis.
    indexing : {"xy", "ij"}
        Whether the first two axes are exchanged (Cartesian indexing) or not (matrix indexing).
    sparse : bool
        Whether to return arrays that broadcast to the full ones.
    copy : bool
        Whether to copy. False returns read-only views.

    Raises
    ------
    ValueError
        If ``indexing`` is invalid.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Valid values for `indexing` are 'xy' and 'ij', not {indexing!r}.")
    lines = as_arrays(*arrays)
    axes = list(range(len(lines)))
    if indexing == "xy" and len(lines) > 1:
        axes[0], axes[1] = 1, 0
    extents = [0] * len(lines)
    for line, number in zip(lines, axes, strict=True):
        extents[number] = line.size
    grids = []
    for line, number in zip(lines, axes, strict=True):
        grid = line.reshape([-1 if axis == number else 1 for axis in range(len(lines))])
        if not sparse:
            grid = grid.broadcast(tuple(extents))
        grids.append(grid.copy() if copy else grid)
    return tuple(grids)
