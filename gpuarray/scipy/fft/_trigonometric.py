"""Cosine and sine transforms of types 1 to 4, by Fourier transforms of real numbers.

A sine transform is a cosine transform of the same type, of numbers in another order or with other signs.
"""

from collections.abc import Callable
from math import pi, sqrt
from operator import index
from typing import Any, Final

import numpy as np
from scipy import fft as scipy_fft

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray, apply
from gpuarray.functions import fourier
from gpuarray.functions.arguments import as_array, concatenated
from gpuarray.graph.shapes import normalize_axis
from gpuarray.ops import elementwise as ops
from gpuarray.scipy._mirror import by_name
from gpuarray.scipy._threads import with_workers

__all__ = ["dct", "dctn", "dst", "dstn", "idct", "idctn", "idst", "idstn"]

#: The type of the inverse transform.
_INVERSE: Final = {1: 1, 2: 3, 3: 2, 4: 4}
_NORMS: Final = (None, "backward", "ortho", "forward")


def _phases(angles: Any, like: GpuArray) -> GpuArray:
    """Return exp(i angle) in the precision of a real array."""
    kind = dtypes.promote(like.dtype, dtypes.complex64)
    return as_array(np.exp(1j * np.asarray(angles)).astype(kind), like.device)


def _joined(*parts: GpuArray) -> GpuArray:
    return concatenated(parts, parts[0].ndim - 1)


def _cosine(x: GpuArray, kind: int) -> GpuArray:
    """Return the cosine transform along the last axis, without a factor."""
    count = x.shape[-1]
    if kind == 1:
        return fourier.rfft(_joined(x, x[..., -2:0:-1])).real
    if kind == 4:
        n = np.arange(count)
        points = fourier.fft(x * _phases(-pi * n / (2 * count), x), 2 * count)[..., :count]
        return 2 * (points * _phases(-pi * (2 * n + 1) / (4 * count), x)).real
    k = np.arange(count // 2 + 1)
    phases = _phases(-pi * k / (2 * count), x)
    if kind == 2:
        mixed = _joined(x[..., ::2], x[..., 1::2][..., ::-1])
        result = 2 * (fourier.rfft(mixed) * phases)
        upper = -result.imag[..., 1 : (count + 1) // 2][..., ::-1]
        return _joined(result.real, upper)
    mirror = _joined(xp.zeros_like(x[..., :1]), x[..., :0:-1])[..., : count // 2 + 1]
    mixed = apply(ops.complex_from_parts, x[..., : count // 2 + 1], -mirror)
    line = fourier.irfft(mixed * phases.conj(), count, norm="forward")
    half = (count + 1) // 2
    first, second = line[..., :half], line[..., half:][..., ::-1]
    if count % 2:
        second = xp.pad(second, [(0, 0)] * (x.ndim - 1) + [(0, 1)])
    pairs = xp.stack([first, second], axis=-1)
    return pairs.reshape(*x.shape[:-1], 2 * half)[..., :count]


def _signed(x: GpuArray) -> GpuArray:
    """Return the elements along the last axis with alternating signs."""
    signs = 1 - 2 * (np.arange(x.shape[-1]) % 2)
    return x * as_array(signs.astype(x.dtype), x.device)


def _sine(x: GpuArray, kind: int) -> GpuArray:
    """Return the sine transform along the last axis, without a factor."""
    if kind == 1:
        zero = xp.zeros_like(x[..., :1])
        return -fourier.rfft(_joined(zero, x, zero, -x[..., ::-1])).imag[..., 1:-1]
    if kind == 2:
        return _cosine(_signed(x), 2)[..., ::-1]
    return _signed(_cosine(x[..., ::-1], kind))


def _scaled(x: GpuArray, columns: list[int], factor: float) -> GpuArray:
    """Return an array with some elements of the last axis multiplied by a factor."""
    factors = np.ones(x.shape[-1])
    factors[columns] = factor
    return x * as_array(factors.astype(x.dtype), x.device)


#: Which elements are scaled before and after a transform so that its matrix is orthogonal.
_ENDS: Final[dict[tuple[str, int], tuple[list[int], list[int]]]] = {
    ("cosine", 1): ([0, -1], [0, -1]),
    ("cosine", 2): ([], [0]),
    ("cosine", 3): ([0], []),
    ("sine", 2): ([], [-1]),
    ("sine", 3): ([-1], []),
}


def _transform(
    x: Any, family: str, kind: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any, *, inverse: bool
) -> GpuArray:
    if kind not in _INVERSE:
        raise ValueError("invalid DCT type")
    if norm not in _NORMS:
        raise ValueError(f"Invalid norm value {norm!r}, should be 'backward', 'ortho' or 'forward'")
    array = as_array(x)
    array = array.astype(_floating(array.dtype), copy=False)
    if array.dtype.kind == "c":
        parts = (
            _transform(part, family, kind, n, axis, norm, orthogonalize, inverse=inverse)
            for part in (array.real, array.imag)
        )
        return apply(ops.complex_from_parts, *parts)
    number = normalize_axis(axis, array.ndim)
    line = xp.moveaxis(array, number, -1)
    count = line.shape[-1] if n is None else index(n)
    if count < 1:
        raise ValueError(f"invalid number of data points ({count}) specified")
    if count > line.shape[-1]:
        line = xp.pad(line, [(0, 0)] * (line.ndim - 1) + [(0, count - line.shape[-1])])
    line = line[..., :count]
    if family == "cosine" and kind == 1 and count < 2:
        raise RuntimeError("zero-length FFT requested: DCT-I is not defined for size < 2")
    which = _INVERSE[kind] if inverse else kind
    before, after = _ENDS.get((family, which), ([], []))
    is_orthogonal = norm == "ortho" if orthogonalize is None else bool(orthogonalize)
    if is_orthogonal and before:
        line = _scaled(line, before, sqrt(2))
    result = _cosine(line, which) if family == "cosine" else _sine(line, which)
    period = 2 * (count if kind != 1 else count - 1 if family == "cosine" else count + 1)
    if norm == "ortho":
        result = result * (1 / sqrt(period))
    elif (norm == "forward") != inverse:
        result = result * (1 / period)
    if is_orthogonal and after:
        result = _scaled(result, after, 1 / sqrt(2))
    return xp.moveaxis(result, -1, number)


def _floating(dtype: Any) -> Any:
    if dtype.kind == "c":
        return dtype
    return dtypes.float32 if dtype in (dtypes.float16, dtypes.float32) else dtypes.float64


def _along_axes(
    x: Any, family: str, kind: Any, s: Any, axes: Any, norm: Any, orthogonalize: Any, *, inverse: bool
) -> GpuArray:
    array = as_array(x)
    sizes = None if s is None else [s] if isinstance(s, int) else [*s]
    if axes is None:
        count = array.ndim if sizes is None else len(sizes)
        numbers = list(range(array.ndim - count, array.ndim))
    else:
        numbers = [axes] if isinstance(axes, int) else [*axes]
    if sizes is not None and len(sizes) != len(numbers):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    for number, axis in enumerate(numbers):
        n = None if sizes is None or sizes[number] == -1 else sizes[number]
        array = _transform(array, family, kind, n, axis, norm, orthogonalize, inverse=inverse)
    return array


def _defined(original: Callable[..., Any], family: str, *, is_inverse: bool = False) -> Callable[..., GpuArray]:
    """Return a transform, along one axis or several, which has SciPy's parameters."""
    along = "several axes" if original.__name__.endswith("n") else "an axis"

    def run(a: Any) -> GpuArray:
        function, where = (_transform, (a.n, a.axis)) if hasattr(a, "n") else (_along_axes, (a.s, a.axes))
        return function(a.x, family, a.type, *where, a.norm, a.orthogonalize, inverse=is_inverse)

    run.__doc__ = f"Return the discrete {'inverse ' * is_inverse}{family} transform along {along}."
    return by_name(original, on_host=with_workers(original))(run)


dct, dctn = (_defined(original, "cosine") for original in (scipy_fft.dct, scipy_fft.dctn))
dst, dstn = (_defined(original, "sine") for original in (scipy_fft.dst, scipy_fft.dstn))
idct, idctn = (_defined(original, "cosine", is_inverse=True) for original in (scipy_fft.idct, scipy_fft.idctn))
idst, idstn = (_defined(original, "sine", is_inverse=True) for original in (scipy_fft.idst, scipy_fft.idstn))
