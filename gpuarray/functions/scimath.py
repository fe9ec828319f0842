"""The functions of ``numpy.lib.scimath``, which return complex numbers for arguments outside of the real domain.

One boolean is read for each call: whether an element is outside, which determines the dtype.
"""

from collections.abc import Callable

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import ArrayLike, as_array
from gpuarray.functions.elementwise import Unary
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


def _extended(
    name: str, function: Unary, beyond: Callable[[GpuArray], GpuArray], doc: str
) -> Callable[[ArrayLike], GpuArray]:
    """Register an elementwise function with complex results beyond its real domain."""

    def extended(x: ArrayLike) -> GpuArray:
        return function(_widened(x, beyond))

    extended.__name__ = extended.__qualname__ = name
    extended.__doc__ = doc
    return implements(f"lib.scimath.{name}")(extended)


sqrt = _extended("sqrt", elementwise.sqrt, _negative, "Return the square root; it is complex for negative elements.")
log = _extended("log", elementwise.log, _negative, "Return the natural logarithm; it is complex for negative elements.")
log10 = _extended(
    "log10", elementwise.log10, _negative, "Return the base-10 logarithm; it is complex for negative elements."
)
log2 = _extended(
    "log2", elementwise.log2, _negative, "Return the base-2 logarithm; it is complex for negative elements."
)
arccos = _extended("arccos", elementwise.acos, _above_one, "Return the inverse cosine; it is complex outside [-1, 1].")
arcsin = _extended("arcsin", elementwise.asin, _above_one, "Return the inverse sine; it is complex outside [-1, 1].")
arctanh = _extended(
    "arctanh", elementwise.atanh, _above_one, "Return the inverse hyperbolic tangent; it is complex outside [-1, 1]."
)


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
