"""Functions of NumPy that arrays cannot override, as no array is given to them: window functions, grids, positions."""

from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, default_dtype
from gpuarray.functions import creation, searching
from gpuarray.functions.arguments import as_array, as_arrays, as_choices, concatenated


def _ramp(M: Any) -> tuple[Any, int]:  # noqa: N803
    """Return the numbers from ``1 - M`` to ``M - 1`` in steps of 2, and the last of them, which is 1 for one number."""
    count = int(np.ceil(max(M, 0)))
    return creation.arange(1 - count, count, 2, dtype=default_dtype(float)), max(count - 1, 1)


def bartlett(M: Any) -> Any:  # noqa: N803
    """Return the Bartlett window of M points, as :func:`numpy.bartlett`."""
    ramp, last = _ramp(M)
    return 1 - np.abs(ramp) / last


def blackman(M: Any) -> Any:  # noqa: N803
    """Return the Blackman window of M points, as :func:`numpy.blackman`."""
    ramp, last = _ramp(M)
    if ramp.size == 1:
        return creation.ones(1, dtype=ramp.dtype)  # of which the sum below is rounded
    angle = np.pi / last * ramp
    return 0.42 + 0.5 * np.cos(angle) + 0.08 * np.cos(2.0 * angle)


def hamming(M: Any) -> Any:  # noqa: N803
    """Return the Hamming window of M points, as :func:`numpy.hamming`."""
    ramp, last = _ramp(M)
    return 0.54 + 0.46 * np.cos(np.pi / last * ramp)


def hanning(M: Any) -> Any:  # noqa: N803
    """Return the Hann window of M points, as :func:`numpy.hanning`."""
    ramp, last = _ramp(M)
    return 0.5 + 0.5 * np.cos(np.pi / last * ramp)


def kaiser(M: Any, beta: Any) -> Any:  # noqa: N803
    """Return the Kaiser window of M points, as :func:`numpy.kaiser`."""
    ramp, last = _ramp(M)
    inside = np.i0(beta * np.sqrt(1 - (ramp / last) ** 2))
    return inside / float(np.i0(float(beta)))


# --- grids and positions --------------------------------------------------------------------------------------------


class Grid:
    """What ``mgrid`` and ``ogrid`` are: positions of the points of a grid, which slices tell.

    Parameters
    ----------
    sparse : bool
        Whether the arrays have extents of 1 along the other axes, and broadcast to those of the grid.
    """

    def __init__(self, *, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        lines: Any = np.ogrid[key]
        if not isinstance(key, tuple):
            return as_array(lines)
        arrays: Any = as_arrays(*lines)
        if self._sparse:
            return tuple(arrays)
        extents = np.broadcast_shapes(*(line.shape for line in arrays))
        return np.stack([line.broadcast(extents) for line in arrays])


#: The points of a grid, as ``numpy.mgrid``: one array, whose first axis counts the grid's axes.
mgrid: Final = Grid(sparse=False)
#: The points of a grid, as ``numpy.ogrid``: arrays that broadcast to the grid's shape.
ogrid: Final = Grid(sparse=True)


class Joined:
    """What ``r_`` and ``c_`` are: numbers, slices that stand for ranges, and arrays, one after the other.

    Parameters
    ----------
    columns : bool
        Whether a line is a column, and all are joined along the last axis; else they are joined along the first one.
    """

    def __init__(self, *, columns: bool) -> None:
        self._columns = columns

    def __getitem__(self, key: Any) -> GpuArray:
        items = key if isinstance(key, tuple) else (key,)
        if any(isinstance(item, str) for item in items):
            raise TypeError(
                "numbers, slices and arrays are joined here, and a text was given; concatenate and stack take an axis"
            )
        parts = as_choices(np.r_[item] if isinstance(item, slice) else item for item in items)
        if self._columns:
            parts = [
                part[:, None] if part.ndim == 1 else part.reshape(1, 1) if not part.ndim else part for part in parts
            ]
        return concatenated([part if part.ndim else part[None] for part in parts], -1 if self._columns else 0)


#: What is given between brackets as one line, as ``numpy.r_``.
r_: Final = Joined(columns=False)
#: What is given between brackets as columns of a matrix, as ``numpy.c_``.
c_: Final = Joined(columns=True)


def diag_indices(n: int, ndim: int = 2) -> tuple[GpuArray, ...]:
    """Return the positions of the main diagonal along each of ``ndim`` axes, as :func:`numpy.diag_indices`."""
    return (creation.arange(n, dtype=dtypes.int64),) * ndim


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[GpuArray, ...]:
    """Return the positions of the lower triangle of a matrix, as :func:`numpy.tril_indices`."""
    return searching.nonzero(creation.tri(n, m, k=k, dtype=dtypes.bool_))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[GpuArray, ...]:
    """Return the positions of the upper triangle of a matrix, as :func:`numpy.triu_indices`."""
    return searching.nonzero(~creation.tri(n, m, k=k - 1, dtype=dtypes.bool_))


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> tuple[GpuArray, ...]:
    """Return where ``mask_func(ones((n, n)), k)`` is not zero, as :func:`numpy.mask_indices`."""
    return searching.nonzero(mask_func(creation.ones((n, n), dtypes.int64), k))


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> GpuArray:
    """Return data as an array, as :func:`numpy.asarray_chkfinite`.

    Raises
    ------
    ValueError
        If an element is NaN or infinite; the elements are looked at for it.
    """
    array = creation.asarray(a, dtype, order)
    if array.dtype.kind in "fc" and not np.isfinite(array).all().item():
        raise ValueError("array must not contain infs or NaNs")
    return array


def isfortran(a: Any) -> bool:
    """Return whether an array's elements lie in Fortran order and not in C order."""
    return as_array(a).flags.fnc


def matvec(x1: Any, x2: Any, /) -> Any:
    """Return the products of matrices and vectors, as ``numpy.matvec``: shapes (..., M, N) and (..., N)."""
    left, right = as_arrays(x1, x2)
    return np.matmul(left, right[..., None])[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Any:
    """Return the products of conjugated vectors and matrices, as ``numpy.vecmat``: shapes (..., M) and (..., M, N)."""
    left, right = as_arrays(x1, x2)
    return np.matmul(np.conjugate(left)[..., None, :], right)[..., 0, :]
