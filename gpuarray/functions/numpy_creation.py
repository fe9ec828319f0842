"""NumPy's creation functions: ``*_like``, those called with ``like=``, ranges, grids and triangles.

What is made with ``like=`` is on the device of the array that is named.
"""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from operator import index
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.functions import creation, data_types
from gpuarray.functions.arguments import as_array, as_arrays, numbers
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build
from gpuarray.ops import generators

# --- like= ----------------------------------------------------------------------------------------------------------


@native("zeros")
def zeros(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    return creation.zeros(shape, dtype)


@native("empty")
def empty(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    return creation.empty(shape, dtype)


@native("ones")
def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    return creation.ones(shape, dtype)


@native("full")
def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    return creation.full(shape, fill_value, dtype)


@native("arange")
def arange(start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None) -> Any:
    first, last = (0, start) if stop is None else (0 if start is None else start, stop)
    return creation.arange(first, last, 1 if step is None else step, dtype)


@native("eye")
def eye(N: Any, M: Any = None, k: int = 0, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:  # noqa: N803
    return creation.eye(index(N), M, index(k), dtype)


@native("identity")
def identity(n: Any, dtype: Any = None) -> Any:
    return creation.identity(index(n), dtype)


@native("tri")
def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = None) -> Any:  # noqa: N803
    return creation.tri(index(N), M, index(k), dtype)


@native("array")
def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: str = "K", subok: bool = False, ndmin: int = 0,
    ndmax: int = 0,
) -> Any:  # fmt: skip
    source = creation.asarray(object, dtype)
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
    np.require(np.empty(0), None, requirements)  # NumPy checks these
    return array(a, dtype, copy=False)


#: The functions that NumPy calls on account of ``like=`` alone.
WITH_LIKE: Final = frozenset(
    (zeros, empty, ones, full, arange, eye, identity, tri, array, asarray, ascontiguousarray, require)
)


# --- *_like and copies ----------------------------------------------------------------------------------------------


def _like(prototype: Any, value: Any, dtype: Any, shape: Any, device: Any) -> GpuArray:
    source = as_array(prototype)
    kind = source.dtype if dtype is None else dtypes.canonical(dtype)
    return creation.full_like(source, value, kind, shape=shape, device=device)


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
    return data_types.astype(as_array(x), dtype, copy=copy)


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
    values: Any = ramp * (step if divisor > 0 else delta) + first
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


@implements("geomspace")
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    ends = as_arrays(start, stop)
    if any(numbers(*((end == 0).any() for end in ends))):
        raise ValueError("Geometric sequence cannot include zero")
    wanted = dtypes.float64 if dtype is None else dtypes.canonical(dtype)
    kind = np.result_type(ends[0].dtype, ends[1].dtype, float(num), wanted)
    first, last = (end.astype(kind) for end in ends)
    # turned to positive numbers at the start, and back at the end: of those the logarithms are real
    direction: Any = np.sign(first)
    first, last = first / direction, last / direction
    count = index(num)
    values = logspace(np.log10(first), np.log10(last), count, endpoint, base=10.0, dtype=kind)
    number = creation.arange(count, dtype=dtypes.int64, device=values.device).reshape((-1,) + (1,) * (values.ndim - 1))
    values = np.where(number == 0, first, values)
    if endpoint and count > 1:
        values = np.where(number == count - 1, last, values)
    values = np.moveaxis(values * direction, 0, axis)
    return values.astype(kind if dtype is None else wanted, copy=False)


@native("meshgrid")
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    return creation.meshgrid(*xi, indexing=indexing, sparse=sparse, copy=copy)


# --- triangles and diagonals ----------------------------------------------------------------------------------------


def _square(m: Any) -> Any:
    """Return a vector as the matrix of which each row is that vector."""
    source = as_array(m)
    return source.broadcast((source.size, source.size)) if source.ndim == 1 else source


@native("tril")
def tril(m: Any, k: int = 0) -> Any:
    return creation.tril(_square(m), index(k))


@native("triu")
def triu(m: Any, k: int = 0) -> Any:
    return creation.triu(_square(m), index(k))


@implements("vander")
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:  # noqa: N803
    source = as_array(x)
    if source.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = source.size if N is None else index(N)
    kind = np.promote_types(source.dtype, np.int_)
    repeated = source.astype(kind, copy=False)[:, None].broadcast((source.size, max(columns - 1, 0)))
    ones_ = creation.ones((source.size, min(columns, 1)), kind, device=source.device)
    powers = np.concatenate([ones_, np.multiply.accumulate(repeated, axis=1)], axis=1)
    return powers if increasing else powers[:, ::-1]
