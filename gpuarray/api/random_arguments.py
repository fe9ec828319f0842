"""Arguments of the methods of random generators: checked, and made into what the methods compute with."""

import math
from operator import index
from typing import Any, TypeAlias

import numpy as np

from gpuarray import dtypes
from gpuarray.api.arguments import ArrayLike, DTypeLike
from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.graph import build

Size: TypeAlias = int | tuple[int, ...] | None


def are_scalars(*values: Any) -> bool:
    """Whether all values are Python or NumPy numbers that are real."""
    return all(isinstance(v, int | float | np.integer | np.floating) for v in values)


def check_scale(scale: Any) -> None:
    """Raise ValueError, as NumPy does, if a scale is a negative number."""
    if are_scalars(scale) and (scale < 0 or math.copysign(1.0, scale) < 0):
        raise ValueError(f"scale < 0: {scale} was given; 0 and positive numbers are accepted")


def integer(value: Any) -> int:
    """Return a bound as an integer; TypeError if it is an array or not integral."""
    if isinstance(value, GpuArray | np.ndarray) and value.ndim:
        raise TypeError("bounds of integers cannot be arrays here; scale random(size) for one range each")
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    return index(value)


def probabilities(p: ArrayLike, population: int) -> Any:
    """Return probabilities as a host array of float64, if that is what they are."""
    chances = np.asarray(p, dtype=np.float64)
    if chances.shape != (population,):
        raise ValueError(
            f"a and p must have same size: p has shape {chances.shape}, there are {population} to choose from"
        )
    if np.isnan(chances).any():
        raise ValueError("Probabilities contain NaN")
    if (chances < 0).any():
        raise ValueError("Probabilities are not non-negative")
    if abs(math.fsum(chances) - 1.0) > math.sqrt(np.finfo(np.float64).eps):
        raise ValueError(f"Probabilities do not sum to 1: their sum is {math.fsum(chances)}")
    return chances


def checked_out(out: Any, dtype: DTypeLike, size: Size) -> tuple[DType, tuple[int, ...]]:
    """Return the dtype and the shape of ``out``, which must be those that were asked for."""
    if not isinstance(out, GpuArray):
        raise TypeError(f"out must be a GpuArray, not a {type(out).__name__}")
    if dtype is not None and dtypes.canonical(dtype) != out.dtype:
        raise TypeError(
            f"Supplied output array has the wrong type. Expected {dtypes.canonical(dtype).name}, got {out.dtype.name}"
        )
    if size is not None and build.resolve_shape(size) != out.shape:
        raise ValueError(f"size must match out.shape when used together: {size} is not {out.shape}")
    out.check_writeable()
    return out.dtype, out.shape
