"""NumPy's functions of ``numpy.lib.scimath``: beyond their real domain they give complex numbers.

Whether an element is beyond it, which decides the dtype of the result, is the one value that is read.
"""

from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array
from gpuarray.functions.registry import implements


def _complex(array: GpuArray) -> GpuArray:
    single = array.dtype.char in "fFbBhH"
    return array.astype(np.complex64 if single else np.complex128)


def _widened(x: Any, beyond: Any) -> Any:
    """Return numbers as complex ones if one of them is ``beyond`` the domain and has no imaginary part."""
    array = as_array(x)
    if array.dtype.kind in "bu" and beyond is _negative:
        return array
    outside = beyond(array.real)
    if array.dtype.kind == "c":
        return array
    return _complex(array) if outside.any().item() else array


def _negative(real: GpuArray) -> GpuArray:
    return real < 0


def _above_one(real: GpuArray) -> Any:
    return np.abs(real) > 1


@implements("lib.scimath.sqrt")
def sqrt(x: Any) -> Any:
    """Return the square root; it is complex for negative elements."""
    return np.sqrt(_widened(x, _negative))


@implements("lib.scimath.log")
def log(x: Any) -> Any:
    """Return the natural logarithm; it is complex for negative elements."""
    return np.log(_widened(x, _negative))


@implements("lib.scimath.log10")
def log10(x: Any) -> Any:
    """Return the base-10 logarithm; it is complex for negative elements."""
    return np.log10(_widened(x, _negative))


@implements("lib.scimath.log2")
def log2(x: Any) -> Any:
    """Return the base-2 logarithm; it is complex for negative elements."""
    return np.log2(_widened(x, _negative))


@implements("lib.scimath.logn")
def logn(n: Any, x: Any) -> Any:
    """Return the logarithm to base ``n``; it is complex for negative elements."""
    return log(x) / log(n)


@implements("lib.scimath.power")
def power(x: Any, p: Any) -> Any:
    """Return powers; they are complex for negative bases."""
    exponent = as_array(p)
    if exponent.dtype.kind == "i" and (exponent < 0).any().item():
        exponent = exponent * 1.0
    return np.power(_widened(x, _negative), exponent)


@implements("lib.scimath.arccos")
def arccos(x: Any) -> Any:
    """Return the inverse cosine; it is complex outside [-1, 1]."""
    return np.arccos(_widened(x, _above_one))


@implements("lib.scimath.arcsin")
def arcsin(x: Any) -> Any:
    """Return the inverse sine; it is complex outside [-1, 1]."""
    return np.arcsin(_widened(x, _above_one))


@implements("lib.scimath.arctanh")
def arctanh(x: Any) -> Any:
    """Return the inverse hyperbolic tangent; it is complex outside [-1, 1]."""
    return np.arctanh(_widened(x, _above_one))
