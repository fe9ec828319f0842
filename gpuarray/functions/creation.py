"""Creation functions: arrays from data, and arrays computed from their indices, which need no memory."""

import math
from operator import index
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, as_node, default_dtype, device_of, make, placed_node, weak_node
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import (
    ArrayLike,
    DeviceLike,
    DTypeLike,
    as_array,
    as_arrays,
    checked_shape,
    result,
    wanted_device,
)
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Node
from gpuarray.ops import elementwise as rows
from gpuarray.ops import generators


def _place(device: DeviceLike, like: Any, *data: Any) -> Device:
    """Return the device that is named, else that of the data, else that of ``like``, else the default."""
    return wanted_device(device if device is not None else device_of(*data) or device_of(like))


def _default(dtype: DTypeLike, kind: type = float) -> DType:
    return default_dtype(kind) if dtype is None else dtypes.canonical(dtype)


def asarray(
    obj: Any,
    /,
    dtype: DTypeLike = None,
    order: str | None = None,
    *,
    device: DeviceLike = None,
    copy: bool | None = None,
    like: Any = None,
) -> GpuArray:
    """Convert data to an array.

    Parameters
    ----------
    obj : GpuArray, ndarray, scalar, sequence, or an object with a buffer, ``__array__`` or DLPack
        The data. NumPy arrays are copied, and those of a megabyte and more are uploaded at once if ``device``
        is a GPU. A GpuArray is returned unchanged.
    dtype : dtype, optional
        By default that of the data; for Python numbers NumPy's default dtypes, or ``config.default_float``.
    order : {"C", "F", "A", "K"}, optional
        Accepted for compatibility with NumPy; arrays are stored in C order.
    device : Device or str, optional
        Device of the array; by default that of ``obj``, or ``config.device``.
    copy : bool, optional
        True always copies; False raises an error if a copy is needed.
    like : GpuArray, optional
        Array whose device is used if no other argument determines it. This is NumPy's parameter for dispatch to other
        packages, and all creation functions accept it.

    Returns
    -------
    GpuArray
        Of the shape of the data.

    Raises
    ------
    TypeError
        If the data are not numeric (strings, objects, dates).
    ValueError
        If sequences are ragged, or ``copy=False`` and a copy is needed.
    """
    wanted = None if dtype is None else dtypes.canonical(dtype)
    if isinstance(obj, GpuArray):
        return _from_array(obj, wanted, device, copy)
    place = _place(device, like, obj)
    if copy is False:
        raise ValueError(
            f"a {type(obj).__name__} cannot be converted to a GpuArray without a copy; omit copy=False or use copy=None"
        )
    node = placed_node(obj, place, wanted)
    if wanted is None and not hasattr(obj, "dtype") and node.dtype in (dtypes.float64, dtypes.complex128):
        node = build.cast(node, default_dtype(float if node.dtype == dtypes.float64 else complex))
    return make(node, place)


def _from_array(array: GpuArray, dtype: DType | None, device: DeviceLike, copy: bool | None) -> GpuArray:
    moved = array if device is None else array.to_device(wanted_device(device))
    converted = moved if dtype is None else moved.astype(dtype, copy=False)
    if copy is False and converted is not array:
        raise ValueError(
            f"an array of dtype {array.dtype.name} on {array.device} cannot become one of dtype "
            f"{converted.dtype.name} on {converted.device} without a copy; omit copy=False"
        )
    return converted.copy() if copy and converted is array else converted


def array(
    obj: Any,
    /,
    dtype: DTypeLike = None,
    *,
    copy: bool | None = True,
    order: str | None = None,
    subok: bool = False,
    ndmin: int = 0,
    device: DeviceLike = None,
    like: Any = None,
) -> GpuArray:
    """Convert data to a new array, like :func:`asarray` with ``copy=True``.

    ``ndmin`` is the minimum number of axes; ``subok`` is accepted for compatibility with NumPy.
    """
    made = asarray(obj, dtype, order, device=device, copy=copy, like=like)
    return made.reshape((1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made


def ascontiguousarray(obj: Any, /, dtype: DTypeLike = None) -> GpuArray:
    """Convert data to an array in C order with at least one axis."""
    made = asarray(obj, dtype)
    return array(made if made.flags.c_contiguous else made.copy(), copy=None, ndmin=1)


def full(
    shape: Any, fill_value: ArrayLike, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None,
    like: Any = None,
) -> GpuArray:  # fmt: skip
    """Return an array filled with a value.

    Parameters
    ----------
    shape : int or tuple of int
        Its shape.
    fill_value : scalar or array_like
        The value, which broadcasts to ``shape``.
    dtype : dtype, optional
        By default that of the value: float64, int64, complex128 or bool for Python scalars.
    order : str
        Accepted for compatibility with NumPy.
    device : Device or str, optional
        Device of the array; ``config.device`` by default.

    Raises
    ------
    ValueError
        If an extent is negative or the array is too large.
    """
    if type(fill_value) in (bool, int, float, complex):
        kind = _default(dtype, type(fill_value))
        if isinstance(fill_value, float | complex):
            fill_value = np.asarray(fill_value).astype(kind)[()]  # NumPy casts here, integers alone it assigns
        node: Node = weak_node(fill_value, kind)
    else:
        node = as_node(fill_value)
        kind = node.dtype if dtype is None else dtypes.canonical(dtype)
    extents = checked_shape(shape, kind)
    node = build.cast(node, kind)
    return make(build.view(node, build.broadcast_to(node.shape, extents)), _place(device, like, fill_value))


def zeros(
    shape: Any, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None, like: Any = None
) -> GpuArray:
    """Return an array of zeros, of the default floating dtype unless one is given; see :func:`full`."""
    return _filled(shape, 0, _default(dtype), device, like)


def ones(
    shape: Any, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None, like: Any = None
) -> GpuArray:
    """Return an array of ones, of the default floating dtype unless one is given; see :func:`full`."""
    return _filled(shape, 1, _default(dtype), device, like)


def empty(
    shape: Any, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None, like: Any = None
) -> GpuArray:
    """Return an array with undefined contents. It contains zeros, which take no memory until they are needed."""
    return _filled(shape, 0, _default(dtype), device, like)


def _filled(shape: Any, value: Any, dtype: DType, device: DeviceLike, like: Any) -> GpuArray:
    return make(build.full(checked_shape(shape, dtype), value, dtype), _place(device, like))


def full_like(
    x: ArrayLike, /, fill_value: Any, dtype: DTypeLike = None, order: str = "K", subok: bool = True,
    shape: Any = None, *, device: DeviceLike = None,
) -> GpuArray:  # fmt: skip
    """Return an array with the shape, dtype and device of another one, filled with a value.

    ``order`` and ``subok`` are accepted for compatibility with NumPy.
    """
    like = as_array(x)
    extents = like.shape if shape is None else shape
    return full(extents, fill_value, like.dtype if dtype is None else dtype, device=device or like.device)


def zeros_like(
    x: ArrayLike, /, dtype: DTypeLike = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: DeviceLike = None,
) -> GpuArray:  # fmt: skip
    """Return zeros with the shape, dtype and device of another array."""
    return full_like(x, 0, dtype, shape=shape, device=device)


def ones_like(
    x: ArrayLike, /, dtype: DTypeLike = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: DeviceLike = None,
) -> GpuArray:  # fmt: skip
    """Return ones with the shape, dtype and device of another array."""
    return full_like(x, 1, dtype, shape=shape, device=device)


def empty_like(
    x: ArrayLike, /, dtype: DTypeLike = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: DeviceLike = None,
) -> GpuArray:  # fmt: skip
    """Return an array with the shape, dtype and device of another one, and undefined contents."""
    return full_like(x, 0, dtype, shape=shape, device=device)


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
    ZeroDivisionError
        If the step is 0.
    """
    first, last = (0, start) if stop is None else (start, stop)
    first, last, step = (
        v.item() if isinstance(v, GpuArray | np.ndarray | np.generic) else v for v in (first, last, step)
    )
    if step == 0:
        raise ZeroDivisionError("the step of arange must not be 0")
    integral = all(isinstance(v, int) for v in (first, last, step))
    kind = _default(dtype, int if integral else float)
    if integral:
        count = -((first - last) // step)
    else:
        length = (last - first) / step
        if not math.isfinite(length):
            raise ValueError(f"arange from {first} to {last} in steps of {step} has no finite length")
        count = math.ceil(length)
    (extent,) = checked_shape((max(count, 0),), kind)
    if kind == dtypes.bool_:
        return _boolean_range(first, step, extent, _place(device, like))
    # NumPy converts the first two elements, and goes on with their difference
    begin: Any = kind.type(first) if extent else kind.type(0)
    stride = kind.type(first + step) - begin if extent > 1 else kind.type(0)
    return make(build.generate(generators.arange, (begin, stride), (extent,), kind), _place(device, like))


def _boolean_range(first: Any, step: Any, extent: int, device: Device) -> GpuArray:
    if extent > 2:
        raise TypeError("arange() is only supported for booleans when the result has at most length 2.")
    return asarray(np.array([bool(first), bool(first + step)][:extent], np.bool_), device=device)


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
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    values = _evenly(start, stop, num, endpoint, dtype, device)
    if axis != 0:
        order = list(range(1, values.ndim))
        order.insert(build.normalize_axis(axis, values.ndim), 0)
        values = values.transpose(order)
    parts = num - 1 if endpoint else num
    return (values, (stop - start) / parts if parts > 0 else math.nan) if retstep else values


def _evenly(start: Any, stop: Any, num: int, endpoint: bool, dtype: DTypeLike, device: DeviceLike) -> GpuArray:
    """Return evenly spaced numbers along a new first axis."""
    if any(np.ndim(v) if not isinstance(v, GpuArray) else v.ndim for v in (start, stop)):
        return _linspace_of_arrays(start, stop, num, endpoint, dtype, device)
    first, last = (v.item() if isinstance(v, GpuArray | np.ndarray | np.generic) else v for v in (start, stop))
    is_complex = isinstance(first, complex) or isinstance(last, complex)
    wanted = _default(dtype, complex if is_complex else float)
    if dtype is None and any(hasattr(end, "dtype") for end in (start, stop)):
        wanted = dtypes.promote(*(getattr(end, "dtype", end) for end in (start, stop)), float)
    compute = wanted if wanted.kind in "fc" else default_dtype(float)
    (extent,) = checked_shape((num,), compute)
    parts = num - 1 if endpoint else num
    first, last = (complex(v) if is_complex else float(v) for v in (first, last))
    step = (last - first) / parts if parts > 0 else 0.0
    parameters = (first, step, last, num - 1 if endpoint and num > 1 else -1)
    node = build.generate(generators.linspace, parameters, (extent,), compute)
    if wanted.kind in "iu":
        return make(build.cast(build.elementwise(rows.floor, node), wanted), wanted_device(device))
    return make(build.cast(node, wanted), wanted_device(device))


def _linspace_of_arrays(
    start: Any, stop: Any, num: int, endpoint: bool, dtype: DTypeLike, device: DeviceLike
) -> GpuArray:
    first, last = as_arrays(start, stop)
    wanted = dtypes.promote(first.dtype, last.dtype, float) if dtype is None else dtypes.canonical(dtype)
    parts = num - 1 if endpoint else num
    delta = last - first
    line = arange(num, dtype=dtypes.float64, device=device).reshape((num,) + (1,) * delta.ndim)
    spread = line * (delta / parts) + first if parts > 0 else line * delta + first
    if endpoint and num > 1:
        spread = make(spread.node(), spread.device)
        spread[-1] = last
    if wanted.kind in "iu":
        spread = make(build.elementwise(rows.floor, spread.node()), spread.device)
    return spread.astype(wanted, copy=False)


def eye(
    n_rows: int, n_cols: int | None = None, /, k: int = 0, dtype: DTypeLike = None, order: str = "C", *,
    M: int | None = None, device: DeviceLike = None, like: Any = None,  # noqa: N803  # NumPy's name
) -> GpuArray:  # fmt: skip
    """Return a matrix with ones on diagonal ``k`` (positive above the main diagonal) and zeros elsewhere.

    ``M`` is NumPy's name of ``n_cols``; ``order`` is accepted for compatibility with NumPy.
    """
    kind = _default(dtype)
    n_cols = M if n_cols is None else n_cols
    shape = checked_shape((n_rows, n_rows if n_cols is None else n_cols), kind)
    return make(build.generate(generators.eye, (shape[1], _diagonal(k, shape)), shape, kind), _place(device, like))


def identity(n: int, dtype: DTypeLike = None, *, device: DeviceLike = None, like: Any = None) -> GpuArray:
    """Return the identity matrix with ``n`` rows."""
    return eye(n, dtype=dtype, device=device, like=like)


def tri(
    n_rows: int, n_cols: int | None = None, /, k: int = 0, dtype: DTypeLike = None, *,
    M: int | None = None,  # noqa: N803  # NumPy's name
    device: DeviceLike = None, like: Any = None,
) -> GpuArray:  # fmt: skip
    """Return a matrix with ones at and below the diagonal ``k`` and zeros elsewhere; ``M`` is NumPy's ``n_cols``."""
    kind = _default(dtype)
    n_cols = M if n_cols is None else n_cols
    shape = checked_shape((n_rows, n_rows if n_cols is None else n_cols), kind)
    return make(build.generate(generators.tri, (shape[1], _diagonal(k, shape)), shape, kind), _place(device, like))


def _diagonal(k: int, shape: tuple[int, ...]) -> int:
    """Return ``k``, or where it is far outside of the matrix the nearest diagonal that is outside."""
    return max(-shape[0] - 1, min(k, shape[1] + 1))


def tril(x: ArrayLike, /, k: int = 0) -> GpuArray:
    """Return the lower triangle of matrices up to diagonal ``k``, with zeros elsewhere."""
    return _triangle(as_array(x), k, lower=True)


def triu(x: ArrayLike, /, k: int = 0) -> GpuArray:
    """Return the upper triangle of matrices from diagonal ``k`` on, with zeros elsewhere."""
    return _triangle(as_array(x), k - 1, lower=False)


def _triangle(matrices: GpuArray, k: int, *, lower: bool) -> GpuArray:
    if matrices.ndim < 2:
        raise ValueError(f"a triangle needs an array with at least two axes, not {matrices.ndim}")
    shape = matrices.shape[-2:]
    below = build.generate(generators.tri, (shape[1], _diagonal(k, shape)), shape, dtypes.bool_)
    zero = build.full((), 0, matrices.dtype)
    chosen = (below, matrices.node(), zero) if lower else (below, zero, matrices.node())
    return result(build.elementwise(rows.where, *chosen), matrices)


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
    places = list(range(len(lines)))
    if indexing == "xy" and len(lines) > 1:
        places[0], places[1] = 1, 0
    extents = [0] * len(lines)
    for line, place in zip(lines, places, strict=True):
        extents[place] = line.size
    grids = []
    for line, place in zip(lines, places, strict=True):
        grid = line.reshape([-1 if axis == place else 1 for axis in range(len(lines))])
        if not sparse:
            grid = grid.broadcast(tuple(extents))
        grids.append(grid.copy() if copy else grid)
    return tuple(grids)


def copy(x: ArrayLike, /, order: str = "K", subok: bool = False) -> GpuArray:
    """Return a copy of an array. ``order`` and ``subok`` are accepted for compatibility with NumPy."""
    return as_array(x).copy()


def diag(x: ArrayLike, /, k: int = 0) -> GpuArray:
    """Return a diagonal of a matrix, or the matrix with a diagonal."""
    given = as_array(x)
    if given.ndim > 2:
        raise ValueError(f"Input must be 1- or 2-d, not {given.ndim}-d; x.diagonal() takes those of stacked matrices")
    k = index(k)
    if given.ndim != 1:
        return given.diagonal(k).copy()
    side = given.size + abs(k)
    matrix = zeros((side, side), given.dtype, device=given.device)
    offset, stride = (k if k >= 0 else -k * side), side + 1
    matrix.store(Layout((given.size,), (stride,), offset), given.node())
    return matrix
