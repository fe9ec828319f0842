"""Data types: the dtype objects, which are NumPy's scalar types, and functions of dtypes."""

from typing import Any, Final

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.dtypes import DType, canonical
from gpuarray.functions.arguments import ArrayLike, DeviceLike, as_array, as_arrays, wanted_device
from gpuarray.functions.registry import implements, native
from gpuarray.graph import build, standard
from gpuarray.graph.layouts import Shape

__all__ = [
    "astype", "bool", "bool_", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "can_cast", "complex64",
    "complex128", "dtype", "finfo", "float16", "float32", "float64", "iinfo", "int8", "int16", "int32", "int64",
    "isdtype", "result_type", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

bool: Final = np.bool_
bool_: Final = np.bool_
int8: Final = np.int8
int16: Final = np.int16
int32: Final = np.int32
int64: Final = np.int64
uint8: Final = np.uint8
uint16: Final = np.uint16
uint32: Final = np.uint32
uint64: Final = np.uint64
float16: Final = np.float16
float32: Final = np.float32
float64: Final = np.float64
complex64: Final = np.complex64
complex128: Final = np.complex128

dtype: Final = np.dtype
isdtype: Final = np.isdtype


@native("astype")
def astype(x: ArrayLike, dtype: Any, /, *, copy: Any = True, device: DeviceLike = None) -> GpuArray:
    """Convert an array to another dtype, with the conversions of C.

    Parameters
    ----------
    x : array_like
        Any numbers.
    dtype : dtype
        The dtype of the result.
    copy : bool
        Whether to return a new array even if the dtype is the same.
    device : Device or str, optional
        Device of the result; by default that of ``x``.

    Returns
    -------
    GpuArray
        Of the shape of ``x``.

    Raises
    ------
    TypeError
        If the dtype is not supported, or if ``config.strict_array_api`` is on and imaginary parts would be discarded.
    """
    standard.require_part(as_array(x).dtype, canonical(dtype))
    converted = as_array(x).astype(dtype, copy=copy)
    return converted if device is None else converted.to_device(wanted_device(device))


@implements("can_cast")
def can_cast(from_: Any, to: Any, /, casting: Any = "safe") -> Any:
    """Return whether a dtype, or that of an array, can be cast to another dtype by a rule."""
    source, target = _dtype_of(from_), _dtype_of(to)
    if standard.is_on():
        return standard.can_cast(canonical(source), canonical(target))
    return np.can_cast(source, target, casting)


class FloatingLimits:
    """Limits of a floating-point dtype: those of :class:`numpy.finfo`, as Python floats, as in the standard."""

    __slots__ = ("_limits",)

    def __init__(self, limits: Any) -> None:
        self._limits = limits

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._limits, name)
        return float(value) if isinstance(value, np.floating) else value

    def __dir__(self) -> list[str]:
        return dir(self._limits)

    def __str__(self) -> str:
        return str(self._limits)

    def __repr__(self) -> str:
        return repr(self._limits)


def finfo(type: Any, /) -> FloatingLimits:
    """Return the limits of a floating-point dtype, or of that of an array, under NumPy's names."""
    return FloatingLimits(np.finfo(_dtype_of(type)))


def iinfo(type: Any, /) -> Any:
    """Return the limits of an integer dtype, or of that of an array, as NumPy does."""
    return np.iinfo(_dtype_of(type))


@implements("result_type")
def result_type(*arrays_and_dtypes: Any) -> DType:
    """Return the dtype that arrays, dtypes and Python scalars (which are weak) promote to."""
    given = [_dtype_of(a) for a in arrays_and_dtypes]
    standard.require("result_type", *given)
    return canonical(np.result_type(*given))


@native("broadcast_arrays")
def broadcast_arrays(*arrays: Any, subok: Any = False) -> tuple[Any, ...]:
    """Return read-only views of arrays, broadcast to their common shape; the arrays themselves if all have it.

    ``subok`` is accepted for NumPy's sake. What only an array of objects can hold, such as None, is returned as one of
    NumPy.
    """
    hosted = [_objects(array) for array in arrays]
    rest = iter(as_arrays(*(a for a, objects in zip(arrays, hosted, strict=True) if objects is None)))
    given = [next(rest) if objects is None else objects for objects in hosted]
    shape = broadcast_shapes(*(array.shape for array in given))
    if all(array.shape == shape for array in given):
        return tuple(given)
    return tuple(a.broadcast(shape) if isinstance(a, GpuArray) else np.broadcast_to(a, shape) for a in given)


def _objects(value: Any) -> Any:
    """Return None or a text, or a NumPy array of objects or texts, as an array of NumPy; None for anything else."""
    if value is None or isinstance(value, str) or (isinstance(value, np.ndarray) and value.dtype.kind in "OUS"):
        return np.asarray(value)
    return None


def broadcast_shapes(*shapes: Any) -> Shape:
    """Return the shape to which shapes broadcast.

    Raises
    ------
    ValueError
        If they do not broadcast.
    """
    return np.broadcast_shapes(*shapes)


@native("broadcast_to")
def broadcast_to(x: ArrayLike, /, shape: Any, subok: Any = False) -> GpuArray:
    """Return a read-only view of an array with another shape, to which it must broadcast.

    ``subok`` is accepted for NumPy's sake.
    """
    return as_array(x).broadcast(build.resolve_shape(shape))


def _dtype_of(value: Any) -> Any:
    return value.dtype if isinstance(value, GpuArray) else value
