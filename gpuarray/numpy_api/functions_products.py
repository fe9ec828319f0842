"""NumPy's products of vectors, matrices and tensors, over the matrix product; norms."""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from operator import index
from typing import Any

import numpy as np

from gpuarray.api import linear_algebra
from gpuarray.array import GpuArray
from gpuarray.numpy_api.arguments import as_array, as_arrays, deliver, device_among, normalized
from gpuarray.numpy_api.functions_shape import moveaxis
from gpuarray.numpy_api.functions_statistics import max_, min_, sum_
from gpuarray.numpy_api.host import on_host
from gpuarray.numpy_api.registry import implements, native

# --- products -------------------------------------------------------------------------------------------------------


@native("tensordot", "linalg.tensordot")
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    if hasattr(axes, "__len__"):
        axes = tuple(tuple(x) if hasattr(x, "__len__") else (x,) for x in axes)
    return linear_algebra.tensordot(a, b, axes)


@native("dot")
def dot(a: Any, b: Any, out: Any = None) -> Any:
    result = linear_algebra.dot(a, b)
    if out is not None and out.dtype != result.dtype:
        raise ValueError(f"output array is not acceptable: its dtype is {out.dtype}, and must be {result.dtype}")
    return deliver(result, out)


@native("inner")
def inner(a: Any, b: Any, /) -> Any:
    first, second = as_arrays(a, b)
    if first.ndim == 0 or second.ndim == 0:
        return first * second
    if first.shape[-1] != second.shape[-1]:
        raise ValueError(f"shapes {first.shape} and {second.shape} not aligned: the last extents differ")
    return linear_algebra.tensordot(first, second, ((-1,), (-1,)))


@native("outer")
def outer(a: Any, b: Any, out: Any = None) -> Any:
    return deliver(linear_algebra.outer(a, b), out)


@native("linalg.outer")
def linalg_outer(x1: Any, x2: Any, /) -> Any:
    first, second = as_arrays(x1, x2)
    if first.ndim != 1 or second.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {first.ndim=} and {second.ndim=}.")
    return outer(first, second)


@native("vdot")
def vdot(a: Any, b: Any, /) -> Any:
    first, second = (x.reshape(-1) for x in as_arrays(a, b))
    if first.size != second.size:
        raise ValueError("cannot reshape array: vdot needs arrays of the same size")
    return linear_algebra.vecdot(first, second)


@native("linalg.matmul")
def linalg_matmul(x1: Any, x2: Any, /) -> Any:
    return linear_algebra.matmul(x1, x2)


@native("linalg.vecdot")
def linalg_vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return linear_algebra.vecdot(x1, x2, axis=axis)


@native("kron")
def kron(a: Any, b: Any) -> Any:
    first, second = as_arrays(a, b)
    ndim = max(first.ndim, second.ndim)
    shapes = [(1,) * (ndim - x.ndim) + x.shape for x in (first, second)]
    left = first.reshape([n for extent in shapes[0] for n in (extent, 1)])
    right = second.reshape([n for extent in shapes[1] for n in (1, extent)])
    return (left * right).reshape([n * m for n, m in zip(*shapes, strict=True)])


@native("cross")
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = as_arrays(a, b)
    if first.ndim == 0 or second.ndim == 0:
        raise ValueError("At least one array has zero dimension")
    first, second = moveaxis(first, axisa, -1), moveaxis(second, axisb, -1)
    if first.shape[-1] not in (2, 3) or second.shape[-1] not in (2, 3):
        raise ValueError(
            f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {first.shape[-1]} and "
            f"{second.shape[-1]} dimensional instead."
        )
    if first.shape[-1] != 3 or second.shape[-1] != 3:
        return on_host(np.cross, (a, b, axisa, axisb, axisc), {}, "vectors of two components are NumPy's")
    return _cross(first, second, axisc)


def _cross(first: GpuArray, second: GpuArray, axis: int) -> Any:
    x = [first[..., k] for k in range(3)]
    y = [second[..., k] for k in range(3)]
    parts = [x[(k + 1) % 3] * y[(k + 2) % 3] - x[(k + 2) % 3] * y[(k + 1) % 3] for k in range(3)]
    return moveaxis(np.stack(parts, -1), -1, axis)


@native("linalg.cross")
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    first, second = as_arrays(x1, x2)
    if first.shape[axis] != 3 or second.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{first.shape[axis]} and {second.shape[axis]} dimensional instead."
        )
    return _cross(moveaxis(first, axis, -1), moveaxis(second, axis, -1), axis)


@implements("linalg.multi_dot")
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    product, *others = as_arrays(*arrays)
    for other in others:
        product = dot(product, other)
    return deliver(product, out)


@implements("linalg.matrix_power")
def matrix_power(a: Any, n: Any) -> Any:
    base = as_array(a)
    if base.ndim < 2 or base.shape[-1] != base.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    power = index(n)
    if power < 0:
        base, power = np.linalg.inv(base), -power  # type: ignore[assignment]  # a duck array
    if power == 0:
        unit = np.eye(base.shape[-1], dtype=base.dtype)
        return as_array(unit, device_among(base)).broadcast(base.shape).copy()
    result: Any = None
    while power:
        if power & 1:
            result = base if result is None else np.matmul(result, base)
        power >>= 1
        base = np.matmul(base, base) if power else base
    return result if result is not a else result.copy()


@implements("polyval")
def polyval(p: Any, x: Any) -> Any:
    if isinstance(p, np.poly1d) or isinstance(x, np.poly1d):
        return on_host(np.polyval, (p, x), {}, "polynomial objects are NumPy's")
    coefficients, points = as_arrays(p, x)
    result: Any = np.zeros_like(points)
    for k in range(coefficients.shape[0]):
        result = result * points + coefficients[k]
    return result


# --- norms ----------------------------------------------------------------------------------------------------------


def _lengths(x: GpuArray, order: Any, axis: Any, keepdims: bool) -> Any:
    """Return a vector norm along axes."""
    size = np.abs(x)
    if order in (np.inf, -np.inf):
        return (max_ if order > 0 else min_)(size, axis, keepdims=keepdims)
    if order == 0:
        return sum_((x != 0).astype(size.dtype), axis, keepdims=keepdims)
    if order is None or order == 2:
        square = x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x
        return np.sqrt(sum_(square, axis, keepdims=keepdims))
    if order == 1:
        return sum_(size, axis, keepdims=keepdims)
    return np.power(sum_(np.power(size, order), axis, keepdims=keepdims), 1.0 / order)


def _inexact(x: Any) -> GpuArray:
    source = as_array(x)
    return source if source.dtype.kind in "fc" else source.astype(np.float64)


@implements("linalg.norm")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    source = _inexact(x)
    if axis is None and (ord is None or source.ndim == 1):
        if ord is not None:
            return _lengths(source, ord, None, keepdims) if not isinstance(ord, str) else _invalid(ord)
        return _lengths(source, None, None, keepdims)
    axes = tuple(range(source.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(normalized(a, source.ndim) for a in axes)
    if len(axes) == 1:
        return _lengths(source, ord, axes, keepdims) if not isinstance(ord, str) else _invalid(ord)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if axes[0] == axes[1]:
        raise ValueError("Duplicate axes given.")
    return _matrix_norm(source, ord, axes, keepdims)


def _invalid(order: Any) -> Any:
    raise ValueError(f"Invalid norm order '{order}' for vectors")


def _matrix_norm(source: GpuArray, order: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if order in (None, "fro", "f"):
        return _lengths(source, 2, axes, keepdims)
    if order in (1, -1, np.inf, -np.inf):
        summed, chosen = axes if abs(order) == 1 else axes[::-1]
        columns = sum_(np.abs(source), summed, keepdims=True)
        result = (max_ if order > 0 else min_)(columns, chosen, keepdims=True)
        return result if keepdims else np.squeeze(result, axis=tuple(axes))
    return on_host(
        np.linalg.norm, (source, order), {"axis": axes, "keepdims": keepdims}, "norms by singular values are NumPy's"
    )


@implements("linalg.vector_norm")
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    source = _inexact(x)
    return _lengths(source, ord, axis, keepdims)


@implements("linalg.matrix_norm")
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return norm(x, ord, (-2, -1), keepdims)
