"""Splines through the elements of an array: coordinates, coefficients, and the weights of elements.

A coordinate is a whole number and a rest, so that float32 results need no float64. The coefficients of a spline are a
convolution with a kernel that falls exponentially, which is cut off where the dtype does not see it any more.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import log
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import ndimage

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array
from gpuarray.functions.manipulation import moveaxis
from gpuarray.functions.products import matmul
from gpuarray.scipy.ndimage._correlation import line_filtered

#: The largest pole of the recursion for the coefficients, by the order of the spline.
_POLES: Final = {2: 0.171573, 3: 0.267950, 4: 0.361342, 5: 0.430576}


#: The coefficients along axes of up to this many elements are a product with a matrix. For longer axes SciPy's results
#: are those of splines without an end.
_SHORT: Final = 24


class Coordinate(NamedTuple):
    """Where results lie along an axis: NumPy's arrays or ours, which broadcast to the shape of the result.

    Attributes
    ----------
    whole : array
        Integers.
    rest : array
        What is to be added, at least 0 and less than 1.
    """

    whole: Any
    rest: Any


@lru_cache(maxsize=64)
def _kernel(order: int, is_single: bool) -> Any:
    """Return the kernel whose convolution with an array gives the coefficients of its spline."""
    bits = 30 if is_single else 58
    radius = int(bits * log(2) / -log(_POLES[order])) + 1
    impulse = np.zeros(2 * radius + 81)  # the edges are far enough away
    impulse[radius + 40] = 1
    return ndimage.spline_filter1d(impulse, order)[40:-40].copy()


@lru_cache(maxsize=256)
def _responses(order: int, extent: int, mode: str, is_single: bool) -> Any:
    """Return the matrix from the elements of a short axis to the coefficients of their spline, as SciPy has it."""
    result = ndimage.spline_filter1d(np.eye(extent), order, axis=0, mode=mode).T
    return np.ascontiguousarray(result, np.float32 if is_single else np.float64)


def coefficients(source: GpuArray, order: int, axes: Sequence[int], mode: str, dtype: DType) -> GpuArray:
    """Return the coefficients of the spline through an array along axes."""
    if mode in ("reflect", "grid-mirror", "nearest"):
        beyond = "reflect"
    else:
        beyond = "grid-wrap" if mode == "grid-wrap" else "mirror"
    result = source
    for axis in axes:
        if 1 < result.shape[axis] <= _SHORT:
            matrix = _responses(order, result.shape[axis], beyond, dtype in (dtypes.float32, dtypes.complex64))
            last = moveaxis(result.astype(dtype, copy=False), axis, -1)
            result = moveaxis(matmul(last, as_array(matrix, result.device)), -1, axis)
        elif result.shape[axis] > 1:
            is_single = result.dtype == dtype and dtype in (dtypes.float32, dtypes.complex64)
            result = line_filtered(result, _kernel(order, is_single), axis, beyond, 0.0, dtype)
    return result.astype(dtype, copy=False)


def coordinate(value: Any, dtype: DType) -> Coordinate:
    """Return numbers, NumPy's or ours, as a coordinate whose rest has a dtype."""
    whole = _floor(value)
    rest = value - whole
    return Coordinate(whole.astype(np.int32), rest if rest.dtype == dtype else rest.astype(dtype))


def _floor(value: Any) -> Any:
    return elementwise.floor(value) if isinstance(value, GpuArray) else np.floor(value)


def total(parts: Sequence[Coordinate]) -> Coordinate:
    """Return the sum of coordinates."""
    whole, rest = parts[0]
    for term in parts[1:]:
        whole, rest = whole + term.whole, rest + term.rest
        over = _floor(rest)
        whole, rest = whole + over.astype(np.int32), rest - over
    return Coordinate(whole, rest)


def basis(t: Any, order: int) -> list[Any]:
    """Return the values of the basis splines at distances from the first element that they have a part in."""
    if order == 0:
        return [1]
    if order == 1:
        return [1 - t, t]
    if order == 2:  # t is between -1/2 and 1/2
        return [0.5 * (0.5 - t) ** 2, 0.75 - t * t, 0.5 * (0.5 + t) ** 2]
    z = 1 - t
    if order == 3:
        return [z * z * z / 6, (t * t * (t - 2) * 3 + 4) / 6, (z * z * (z - 2) * 3 + 4) / 6, t * t * t / 6]
    if order == 4:
        s, minus, plus = t * t, 0.5 - t, 0.5 + t
        near, far = 1 + t, 1 - t
        return [
            minus**4 / 24,
            near * (near * (near * (5 - near) / 6 - 1.25) + 5 / 24) + 55 / 96,
            s * (s * 0.25 - 0.625) + 115 / 192,
            far * (far * (far * (5 - far) / 6 - 1.25) + 5 / 24) + 55 / 96,
            plus**4 / 24,
        ]

    def inner(x: Any) -> Any:
        return x * x * (x * x * (0.25 - x / 12) - 0.5) + 0.55

    def outer(x: Any) -> Any:
        return x * (x * (x * (x * (x / 24 - 0.375) + 1.25) - 1.75) + 0.625) + 0.425

    return [z**5 / 120, outer(1 + t), inner(t), inner(z), outer(1 + z), t**5 / 120]


@lru_cache(maxsize=8)
def polynomials(order: int) -> Any:
    """Return the coefficients of the weights, of shape (elements, powers), from the lowest power on."""
    parts = [np.polynomial.Polynomial([piece]) if isinstance(piece, int) else piece for piece in basis(_T, order)]
    return np.array([[*piece.coef, *[0.0] * (order + 1 - len(piece.coef))] for piece in parts])


_T: Final = np.polynomial.Polynomial([0.0, 1.0])
