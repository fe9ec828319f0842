"""Creation functions: arrays from data, and arrays of one value, which take no memory where they are large."""

from math import inf, prod
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import (
    WEAK,
    GpuArray,
    as_node,
    default_device,
    default_dtype,
    device_of,
    dtype_of,
    holds_arrays,
    made_of,
    make,
    placed_node,
    weak_node,
)
from gpuarray.array.compiled import DATA, SHAPE, call
from gpuarray.array.memory import VALUE
from gpuarray.array.storage import check_order
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import (
    ArrayLike,
    DeviceLike,
    DTypeLike,
    as_array,
    checked_device,
    checked_shape,
)
from gpuarray.functions.at_once import NOT_COMPUTED, AtOnce, created
from gpuarray.functions.registry import native
from gpuarray.graph import build
from gpuarray.graph.layouts import Shape
from gpuarray.graph.shapes import broadcast_to
from gpuarray.immediacy import immediacy, quiet

__all__ = [
    "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "copy", "empty",
    "empty_like", "full", "full_like", "ones", "ones_like", "require", "zeros", "zeros_like",
]  # fmt: skip


#: Types of scalars that fill arrays as NumPy's own function does.
_FILLS: Final = (*WEAK, np.float32, np.float64, np.complex64, np.complex128)


#: Types of the items of nested lists that NumPy makes arrays of at once.
_ITEMS: Final = WEAK | {GpuArray}


def target_device(device: DeviceLike, like: Any, *data: Any) -> Device:
    """Return the first one that exists: ``device``, the device of the data, that of ``like``, the default device."""
    if device is None and like is None and not data:
        return default_device()
    return checked_device(device if device is not None else device_of(*data) or device_of(like))


def is_immediate(shape: Shape, device: Device) -> bool:
    """Return whether a new array of a shape has its elements in host memory from the beginning."""
    return 0 < immediacy().limit >= prod(shape) and immediacy().covers(device)


def chosen_dtype(dtype: DTypeLike, kind: type = float) -> DType:
    return default_dtype(kind) if dtype is None else dtypes.canonical(dtype)


@native("asarray", "asanyarray", makes=created(np.array, bound=DATA))
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
        is a GPU. A GpuArray is returned unchanged, a result without axes as a copy.
    dtype : dtype, optional
        By default that of the data; for Python numbers NumPy's default dtypes, or ``config.default_float``.
    order : {"C", "F", "A", "K"}, optional
        The order of memory; by default that of the data.
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
    kind = None if dtype is None else dtypes.canonical(dtype)
    order = "K" if order is None else check_order(order, "CFAK")
    if isinstance(obj, GpuArray):
        return _from_array(obj, kind, order, device, copy)
    if immediacy().limit and copy is not False and like is None:
        arguments = (obj,) if kind is None else (obj, kind)
        is_joined = device is None and type(obj) in (list, tuple)
        array = call(np.array, arguments, {}, inf, 0, False) if is_joined else None
        if array is None and _count(obj) <= immediacy().limit:
            array = _at_once(obj, kind, device)
        if array is not None:
            return _ordered(array, order)
    target = target_device(device, like, obj)
    if copy is False:
        raise ValueError(
            f"a {type(obj).__name__} cannot be converted to a GpuArray without a copy; omit copy=False or use copy=None"
        )
    node = placed_node(obj, target, kind)
    if kind is None and not hasattr(obj, "dtype") and node.dtype in (dtypes.float64, dtypes.complex128):
        node = build.cast(node, default_dtype(float if node.dtype == dtypes.float64 else complex))
    return _ordered(make(node, target), order)


def _ordered(array: GpuArray, order: str | None) -> GpuArray:
    """Return an array in C or Fortran order, a copy if it is not; for other orders the array itself."""
    if order == "C" and array._layout is None:
        return array
    if order in ("C", "F") and not getattr(array.flags, f"{order.lower()}_contiguous"):
        return array.copy(order)
    return array


asanyarray = asarray


def _count(value: Any) -> float:
    """Return the number of elements of an array of NumPy, or of nested lists of numbers or arrays; else infinity."""
    kind = type(value)
    if kind is np.ndarray:
        return int(value.size)
    if kind is not list and kind is not tuple:
        return 1 if kind in WEAK else inf
    if len(value) > immediacy().limit:
        return inf
    kinds = {*map(type, value)}
    if kinds <= _ITEMS:
        return len(value)
    return sum(map(_count, value)) if kinds <= {list, tuple} else inf


#: How sequences of arrays are computed at once.
_ARRAY: Final = AtOnce(np.array, "sums")


def _at_once(value: Any, dtype: DType | None, name: DeviceLike) -> GpuArray | None:
    """Return an array whose elements are in host memory from the beginning; None if they are many or elsewhere."""
    if type(value) is not np.ndarray and holds_arrays(value):
        if name is not None:
            return None
        result = _ARRAY.compute(*(value,) if dtype is None else (value, dtype))
        return None if result is NOT_COMPUTED else result
    device = checked_device(name)
    if not immediacy().covers(device):
        return None
    try:
        host = quiet.run(np.array, value, dtype, order="K")
        kind = dtypes.canonical(host.dtype)
    except Exception:  # the error is that of a recording
        return None
    if type(value) is not np.ndarray and dtype is None and kind.kind in "fc":
        kind = default_dtype(float if kind.kind == "f" else complex)
    if host.size > immediacy().limit:
        return None
    return made_of(host if host.dtype is kind else host.astype(kind), device)


def _from_array(array: GpuArray, dtype: DType | None, order: str, device: DeviceLike, copy: bool | None) -> GpuArray:
    moved = array if device is None else array.to_device(checked_device(device))
    converted = _ordered(moved if dtype is None else moved.astype(dtype, order, copy=False), order)
    if copy is False and converted is not array:
        raise ValueError(
            f"an array of dtype {array.dtype.name} on {array.device} cannot become one of dtype "
            f"{converted.dtype.name} on {converted.device} without a copy; omit copy=False"
        )
    if copy is False:
        return converted
    if converted.ndim == 0 and converted._access is VALUE:
        return converted[...]
    return converted.copy(order) if copy and converted is array else converted


@native("array", at_once="views", makes=created(np.array, bound=DATA))
def array(
    obj: Any,
    /,
    dtype: DTypeLike = None,
    *,
    copy: bool | None = True,
    order: str | None = None,
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = 0,
    device: DeviceLike = None,
    like: Any = None,
) -> GpuArray:
    """Convert data to a new array, like :func:`asarray` with ``copy=True``.

    ``ndmin`` is the minimum number of axes; ``subok`` and ``ndmax`` are accepted for compatibility with NumPy.
    """
    result = asarray(obj, dtype, order, device=device, copy=copy, like=like)
    return result.reshape((1,) * (ndmin - result.ndim) + result.shape) if result.ndim < ndmin else result


@native("ascontiguousarray")
def ascontiguousarray(obj: Any, /, dtype: DTypeLike = None, *, like: Any = None) -> GpuArray:
    """Convert data to an array in C order with at least one axis."""
    converted = asarray(obj, dtype, like=like)
    return array(converted if converted.flags.c_contiguous else converted.copy(), copy=None, ndmin=1)


@native("full", makes=created(np.full, bound=SHAPE))
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
    order : {"C", "F"}
        The order of memory.
    device : Device or str, optional
        Device of the array; ``config.device`` by default.

    Raises
    ------
    ValueError
        If an extent is negative or the array is too large.
    """
    node = None if type(fill_value) in _FILLS else as_node(fill_value)
    if dtype is not None:
        kind = dtypes.canonical(dtype)
    elif node is not None:
        kind = node.dtype
    else:
        kind = dtype_of(fill_value) if type(fill_value) in WEAK else dtypes.canonical(fill_value.dtype)
    extents = checked_shape(shape, kind)
    target = target_device(device, like) if node is None else target_device(device, like, fill_value)
    if node is None and is_immediate(extents, target):
        return _ordered(made_of(np.full(extents, fill_value, kind), target), check_order(order, "CF"))
    if type(fill_value) in WEAK:
        if isinstance(fill_value, float | complex):
            fill_value = np.asarray(fill_value).astype(kind)[()]  # NumPy casts here, integers alone it assigns
        node = weak_node(fill_value, kind)
    node = build.cast(as_node(fill_value) if node is None else node, kind)
    return _ordered(make(build.view(node, broadcast_to(node.shape, extents)), target), check_order(order, "CF"))


@native("zeros", makes=created(np.zeros, bound=SHAPE))
def zeros(
    shape: Any, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None, like: Any = None
) -> GpuArray:
    """Return an array of zeros, of the default floating dtype unless one is given; see :func:`full`."""
    return _ordered(_filled(shape, 0, dtype, device, like), check_order(order, "CF"))


@native("ones", makes=created(np.ones, bound=SHAPE))
def ones(
    shape: Any, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None, like: Any = None
) -> GpuArray:
    """Return an array of ones, of the default floating dtype unless one is given; see :func:`full`."""
    return _ordered(_filled(shape, 1, dtype, device, like), check_order(order, "CF"))


@native("empty", makes=created(np.empty, bound=SHAPE))
def empty(
    shape: Any, dtype: DTypeLike = None, order: str = "C", *, device: DeviceLike = None, like: Any = None
) -> GpuArray:
    """Return an array with undefined contents: those of a small one are what was in the memory, as NumPy's."""
    return _ordered(_filled(shape, 0, dtype, device, like), check_order(order, "CF"))


def _filled(shape: Any, value: Any, dtype: DTypeLike, device: DeviceLike, like: Any) -> GpuArray:
    kind = chosen_dtype(dtype)
    extents = checked_shape(shape, kind)
    target = target_device(device, like)
    if is_immediate(extents, target):
        return made_of(np.ones(extents, kind) if value else np.zeros(extents, kind), target)
    return make(build.full(extents, value, kind), target)


@native("full_like", at_once="elements")
def full_like(
    x: ArrayLike, /, fill_value: Any, dtype: DTypeLike = None, order: str = "K", subok: bool = True,
    shape: Any = None, *, device: DeviceLike = None,
) -> GpuArray:  # fmt: skip
    """Return an array with the shape, dtype and device of another one, filled with a value.

    ``subok`` is accepted for compatibility with NumPy.
    """
    like = as_array(x)
    extents = like.shape if shape is None else shape
    filled = full(extents, fill_value, like.dtype if dtype is None else dtype, device=device or like.device)
    axes = like.axes_in_order(check_order(order, "CFAK")) if filled.ndim == like.ndim else None
    return filled if axes is None else filled._fresh(filled.node(), axes)


@native("zeros_like", at_once="elements")
def zeros_like(
    x: ArrayLike, /, dtype: DTypeLike = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: DeviceLike = None,
) -> GpuArray:  # fmt: skip
    """Return zeros with the shape, dtype and device of another array."""
    return full_like(x, 0, dtype, order, shape=shape, device=device)


@native("ones_like", at_once="elements")
def ones_like(
    x: ArrayLike, /, dtype: DTypeLike = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: DeviceLike = None,
) -> GpuArray:  # fmt: skip
    """Return ones with the shape, dtype and device of another array."""
    return full_like(x, 1, dtype, order, shape=shape, device=device)


@native("empty_like", at_once="elements")
def empty_like(
    x: ArrayLike, /, dtype: DTypeLike = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: DeviceLike = None,
) -> GpuArray:  # fmt: skip
    """Return an array with the shape, dtype and device of another one, and undefined contents."""
    return full_like(x, 0, dtype, order, shape=shape, device=device)


@native("copy", at_once="elements")
def copy(x: ArrayLike, /, order: str = "K", subok: bool = False) -> GpuArray:
    """Return a new array with the same elements, in an order of memory; ``subok`` is accepted but has no effect."""
    return asarray(x, None, order, copy=True)


@native("asfortranarray", at_once="views")
def asfortranarray(a: Any, dtype: DTypeLike = None, *, like: Any = None) -> GpuArray:
    """Convert data to an array in Fortran order with at least one axis."""
    return array(a, dtype, copy=None, order="F", ndmin=1, like=like)


@native("require")
def require(a: Any, dtype: DTypeLike = None, requirements: Any = None, *, like: Any = None) -> GpuArray:
    """Return an array that satisfies requirements on its dtype and flags."""
    square = np.empty((2, 2))  # NumPy checks the requirements, and shows which orders they leave as they are
    keeps_c = np.require(square, None, requirements).flags.c_contiguous
    keeps_f = np.require(square.T, None, requirements).flags.f_contiguous
    return asarray(a, dtype, "K" if keeps_c and keeps_f else "C" if keeps_c else "F", like=like)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> GpuArray:
    """Return data as an array, as :func:`numpy.asarray_chkfinite`.

    Raises
    ------
    ValueError
        If an element is NaN or infinite. The check reads a value and waits for it.
    """
    array = asarray(a, dtype, order)
    if array.dtype.kind in "fc" and not np.isfinite(array).all().item():
        raise ValueError("array must not contain infs or NaNs")
    return array
