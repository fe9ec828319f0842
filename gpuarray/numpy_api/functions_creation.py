"""NumPy's creation functions: ``*_like``, those called with ``like=``, ranges, grids and triangles.

``like=`` does not tell the device of the array it names, so such arrays are on the default device.
"""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from operator import index
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, default_device, default_dtype, make, wrap
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.graph import build
from gpuarray.graph.layouts import Shape
from gpuarray.numpy_api.arguments import as_array, as_arrays
from gpuarray.numpy_api.registry import implements, native
from gpuarray.ops import generators


def _floating(dtype: Any) -> DType:
    return default_dtype(float) if dtype is None else dtypes.canonical(dtype)


def filled(shape: Any, value: Any, dtype: DType, device: Device | None = None) -> GpuArray:
    """Return ``shape`` filled with a host scalar, which is converted as NumPy assigns it."""
    scalar = np.asarray(value).astype(dtype)[()] if not isinstance(value, int) else value
    return make(build.full(build.resolve_shape(shape), scalar, dtype), device or default_device())


# --- like= ----------------------------------------------------------------------------------------------------------


@native("zeros")
def zeros(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    return filled(shape, 0, _floating(dtype))


@native("empty")
def empty(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    return filled(shape, 0, _floating(dtype))


@native("ones")
def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    return filled(shape, 1, _floating(dtype))


@native("full")
def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    return _filled_with(shape, fill_value, dtypes.canonical(dtype) if dtype is not None else None, default_device())


def _filled_with(shape: Any, fill_value: Any, dtype: DType | None, device: Device) -> GpuArray:
    if isinstance(fill_value, GpuArray) or np.ndim(fill_value):
        values = as_array(fill_value, device)
        values = values.astype(dtype or values.dtype, copy=False)
        return values.broadcast(build.resolve_shape(shape)).copy()
    return filled(shape, fill_value, dtype or dtypes.canonical(np.asarray(fill_value).dtype), device)


@native("arange")
def arange(start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None) -> Any:
    # the host knows best how many elements there are and of which dtype
    first, last = (0, start) if stop is None else (start or 0, stop)
    ends = [v.item() if isinstance(v, GpuArray) else v for v in (first, last, 1 if step is None else step)]
    length = len(range(*ends)) if all(isinstance(v, int) for v in ends) else int(np.ceil((ends[1] - ends[0]) / ends[2]))
    kind = dtypes.canonical(dtype) if dtype is not None else dtypes.canonical(np.result_type(*map(np.asarray, ends)))
    return wrap(build.generate(generators.arange, (ends[0], ends[2]), (max(length, 0),), kind), default_device())


def _diagonal_ones(op: Any, rows: Any, columns: Any, k: Any, dtype: Any) -> GpuArray:
    shape = (index(rows), index(rows) if columns is None else index(columns))
    return wrap(build.generate(op, (max(shape[1], 1), index(k)), shape, _floating(dtype)), default_device())


@native("eye")
def eye(N: Any, M: Any = None, k: int = 0, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:  # noqa: N803
    return _diagonal_ones(generators.eye, N, M, k, dtype)


@native("identity")
def identity(n: Any, dtype: Any = None) -> Any:
    return _diagonal_ones(generators.eye, n, None, 0, dtype)


@native("tri")
def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = None) -> Any:  # noqa: N803
    return _diagonal_ones(generators.tri, N, M, k, dtype)


@native("array")
def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: str = "K", subok: bool = False, ndmin: int = 0,
    ndmax: int = 0,
) -> Any:  # fmt: skip
    source = as_array(object)
    if dtype is not None:
        source = source.astype(dtype, copy=False)
    if ndmin > source.ndim:
        source = source.reshape((1,) * (ndmin - source.ndim) + source.shape)
    return source.copy() if copy else source


@native("asarray", "asanyarray")
def asarray(a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None) -> Any:
    return array(a, dtype, copy=bool(copy))


@native("ascontiguousarray", "asfortranarray")
def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    return array(a, dtype, copy=False, ndmin=1)


@native("require")
def require(a: Any, dtype: Any = None, requirements: Any = None) -> Any:
    return array(a, dtype, copy=False)


# --- *_like and copies ----------------------------------------------------------------------------------------------


def _like(prototype: Any, value: Any, dtype: Any, shape: Any, device: Any) -> GpuArray:
    source = as_array(prototype)
    kind = source.dtype if dtype is None else dtypes.canonical(dtype)
    place = source.device if device is None else Device(device)
    return _filled_with(source.shape if shape is None else shape, value, kind, place)


@native("zeros_like")
def zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return _like(a, 0, dtype, shape, device)


@native("empty_like")
def empty_like(
    prototype: Any, /, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return _like(prototype, 0, dtype, shape, device)


@native("ones_like")
def ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return _like(a, 1, dtype, shape, device)


@native("full_like")
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> Any:  # fmt: skip
    return _like(a, fill_value, dtype, shape, device)


@native("copy")
def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return as_array(a).copy()


@native("astype")
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return as_array(x).astype(dtype, copy=copy)


# --- ranges and grids -----------------------------------------------------------------------------------------------


@implements("linspace")
def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    count = index(num)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    first, last = as_arrays(start, stop)
    divisor = count - 1 if endpoint else count
    kind = np.result_type(first.dtype, last.dtype, float(count))
    kind = np.dtype(np.float64) if kind.kind in "biu" else kind
    delta = np.subtract(last, first, dtype=kind)
    step = delta / divisor if divisor > 0 else delta * np.nan
    ndim = max(first.ndim, last.ndim)
    ramp = wrap(build.generate(generators.arange, (0, 1), (count,), kind), first.device).reshape((-1,) + (1,) * ndim)
    values = ramp * (step if divisor > 0 else delta) + first
    if endpoint and count > 1:
        values = np.where(ramp == count - 1, last, values)
    wanted = kind if dtype is None else dtypes.canonical(dtype)
    if wanted.kind in "iu":
        values = np.floor(values)
    values = np.moveaxis(values.astype(wanted, copy=False), 0, axis)
    return (values, step) if retstep else values


@implements("logspace")
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    if np.ndim(base):
        start, stop, base = np.broadcast_arrays(*as_arrays(start, stop, base))
        base = np.expand_dims(base, axis)
    values = np.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return values if dtype is None else values.astype(dtype, copy=False)


@native("meshgrid")
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    ndim = len(xi)
    swap = indexing == "xy" and ndim > 1
    places = [1, 0, *range(2, ndim)] if swap else list(range(ndim))
    lines = [
        a.reshape([-1 if k == place else 1 for k in range(ndim)])
        for place, a in zip(places, as_arrays(*xi), strict=True)
    ]
    grids = lines if sparse else np.broadcast_arrays(*lines) if lines else []
    return tuple(a.copy() if copy else a for a in grids)


# --- triangles and diagonals ----------------------------------------------------------------------------------------


def _triangle(shape: Shape, k: int) -> Any:
    return build.generate(generators.tri, (max(shape[-1], 1), index(k)), shape[-2:], dtypes.bool_)


def _masked_triangle(m: Any, k: int, below: bool) -> GpuArray:
    source = as_array(m)
    if source.ndim == 1:
        source = source.broadcast((source.size, source.size))
    if source.ndim < 1:
        raise ValueError("tril and triu need an array of at least one dimension")
    mask = wrap(_triangle(source.shape, k), source.device)
    zero = source.dtype.type(0)
    result: Any = np.where(mask, source, zero) if below else np.where(mask, zero, source)
    return result  # type: ignore[no-any-return]  # NumPy's stub knows no duck arrays


@native("tril")
def tril(m: Any, k: int = 0) -> Any:
    return _masked_triangle(m, k, True)


@native("triu")
def triu(m: Any, k: int = 0) -> Any:
    return _masked_triangle(m, k - 1, False)


@implements("vander")
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:  # noqa: N803
    source = as_array(x)
    if source.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = source.size if N is None else index(N)
    kind = np.promote_types(source.dtype, np.int_)
    repeated = source.astype(kind, copy=False)[:, None].broadcast((source.size, max(columns - 1, 0)))
    ones_ = filled((source.size, min(columns, 1)), 1, kind, source.device)
    powers = np.concatenate([ones_, np.multiply.accumulate(repeated, axis=1)], axis=1)
    return powers if increasing else powers[:, ::-1]
