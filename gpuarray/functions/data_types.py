"""Data types: the dtype objects, which are NumPy's scalar types, and functions of dtypes."""

import builtins
from typing import Any, Final, cast

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.dtypes import DType, canonical
from gpuarray.functions.arguments import ArrayLike, DeviceLike, as_array, checked_device, standard_function
from gpuarray.functions.registry import implements, native
from gpuarray.graph import standard

__all__ = [
    "astype", "bool", "bool_", "can_cast", "common_type", "complex64", "complex128", "dtype", "finfo", "float16",
    "float32", "float64", "iinfo", "int8", "int16", "int32", "int64", "isdtype", "min_scalar_type", "result_type",
    "uint8", "uint16", "uint32", "uint64",
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


@native("astype", at_once="elements")
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
    return converted if device is None else converted.to_device(checked_device(device))


@implements("can_cast")
def can_cast(from_: Any, to: Any, /, casting: Any = "safe") -> builtins.bool:
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


def iinfo(type: Any, /) -> np.iinfo[Any]:
    """Return the limits of an integer dtype, or of that of an array, as NumPy does."""
    return np.iinfo(_dtype_of(type))


@implements("result_type")
@standard_function
def result_type(*arrays_and_dtypes: Any) -> DType:
    """Return the dtype that arrays, dtypes and Python scalars (which are weak) promote to."""
    return canonical(np.result_type(*(_dtype_of(a) for a in arrays_and_dtypes)))


@implements("common_type")
def common_type(*arrays: Any) -> builtins.type[np.inexact[Any]]:
    """Return the inexact scalar type to which the dtypes of arrays promote."""
    hosted: list[Any] = [np.empty(0, a.dtype) if isinstance(a, GpuArray) else a for a in arrays]
    return cast("builtins.type[np.inexact[Any]]", np.common_type(*hosted))


@implements("min_scalar_type")
def min_scalar_type(a: Any, /) -> DType:
    """Return the smallest dtype that holds a scalar; the dtype of an array."""
    return a.dtype if isinstance(a, GpuArray) and a.ndim else np.min_scalar_type(np.asarray(a))


def _dtype_of(value: Any) -> Any:
    return value.dtype if isinstance(value, GpuArray) else value
