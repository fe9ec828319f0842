"""The functions of ``numpy.lib.scimath``, which return complex numbers for arguments outside of the real domain.

One boolean is read for each call: whether an element is outside, which determines the dtype.
"""

from collections.abc import Callable

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import ArrayLike, as_array
from gpuarray.functions.registry import implements


def _complex(array: GpuArray) -> GpuArray:
    single = array.dtype.char in "fFbBhH"
    return array.astype(np.complex64 if single else np.complex128)


def _widened(x: ArrayLike, beyond: Callable[[GpuArray], GpuArray]) -> GpuArray:
    """Convert real numbers to complex ones if an element is ``beyond`` the domain."""
    array = as_array(x)
    if array.dtype.kind == "c" or (array.dtype.kind in "bu" and beyond is _negative):
        return array
    return _complex(array) if beyond(array).any().item() else array


def _negative(real: GpuArray) -> GpuArray:
    return real < 0


def _above_one(real: GpuArray) -> GpuArray:
    return elementwise.abs(real) > 1


@implements("lib.scimath.sqrt")
def sqrt(x: ArrayLike) -> GpuArray:
    """Return the square root; it is complex for negative elements."""
    return elementwise.sqrt(_widened(x, _negative))


@implements("lib.scimath.log")
def log(x: ArrayLike) -> GpuArray:
    """Return the natural logarithm; it is complex for negative elements."""
    return elementwise.log(_widened(x, _negative))


@implements("lib.scimath.log10")
def log10(x: ArrayLike) -> GpuArray:
    """Return the base-10 logarithm; it is complex for negative elements."""
    return elementwise.log10(_widened(x, _negative))


@implements("lib.scimath.log2")
def log2(x: ArrayLike) -> GpuArray:
    """Return the base-2 logarithm; it is complex for negative elements."""
    return elementwise.log2(_widened(x, _negative))


@implements("lib.scimath.logn")
def logn(n: ArrayLike, x: ArrayLike) -> GpuArray:
    """Return the logarithm to base ``n``; it is complex for negative elements."""
    return log(x) / log(n)


@implements("lib.scimath.power")
def power(x: ArrayLike, p: ArrayLike) -> GpuArray:
    """Return powers; they are complex for negative bases."""
    exponent = as_array(p)
    if exponent.dtype.kind == "i" and (exponent < 0).any().item():
        exponent = exponent * 1.0
    return elementwise.pow(_widened(x, _negative), exponent)


@implements("lib.scimath.arccos")
def arccos(x: ArrayLike) -> GpuArray:
    """Return the inverse cosine; it is complex outside [-1, 1]."""
    return elementwise.acos(_widened(x, _above_one))


@implements("lib.scimath.arcsin")
def arcsin(x: ArrayLike) -> GpuArray:
    """Return the inverse sine; it is complex outside [-1, 1]."""
    return elementwise.asin(_widened(x, _above_one))


@implements("lib.scimath.arctanh")
def arctanh(x: ArrayLike) -> GpuArray:
    """Return the inverse hyperbolic tangent; it is complex outside [-1, 1]."""
    return elementwise.atanh(_widened(x, _above_one))
