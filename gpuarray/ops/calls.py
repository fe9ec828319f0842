"""Opaque rows: operations on whole arrays that are no composition of elementwise rows, folds and views."""

from typing import Any, Final

import numpy as np

from gpuarray.ops.spec import CallOp


def _sort(x: Any, *, descending: bool) -> Any:
    if not descending:
        return np.sort(x, stable=True)
    # equal elements keep their order: the reversed array is sorted, and reversed again
    return np.flip(np.sort(np.flip(x, -1), stable=True), -1)


def _argsort(x: Any, *, descending: bool) -> Any:
    if not descending:
        return np.argsort(x, stable=True)
    return np.flip(x.shape[-1] - 1 - np.argsort(np.flip(x, -1), stable=True), -1)


def _searchsorted(x1: Any, x2: Any, *, side: Any) -> Any:
    return np.asarray(np.searchsorted(x1, x2, side=side))


def _fft(x: Any, *, n: int, inverse: bool, norm: Any) -> Any:
    return (np.fft.ifft if inverse else np.fft.fft)(x, n, norm=norm)


def _rfft(x: Any, *, n: int, inverse: bool, norm: Any) -> Any:
    return (np.fft.ihfft if inverse else np.fft.rfft)(x, n, norm=norm)


def _irfft(x: Any, *, n: int, inverse: bool, norm: Any) -> Any:
    return (np.fft.irfft if inverse else np.fft.hfft)(x, n, norm=norm)


sort: Final = CallOp(name="sort", numpy=_sort, doc="Elements in order along the last axis; stable.")
argsort: Final = CallOp(name="argsort", numpy=_argsort, doc="Positions that put the last axis in order; stable.")
searchsorted: Final = CallOp(name="searchsorted", numpy=_searchsorted, doc="Positions that keep a sorted line sorted.")
fft: Final = CallOp(name="fft", numpy=_fft, doc="Fourier transforms of n points along the last axis, or inverse ones.")
rfft: Final = CallOp(name="rfft", numpy=_rfft, doc="The first half of Fourier transforms of real numbers.")
irfft: Final = CallOp(name="irfft", numpy=_irfft, doc="Real Fourier transforms of rows whose first half is given.")
