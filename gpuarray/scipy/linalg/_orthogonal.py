"""QR factors."""

from typing import Any

from scipy import linalg as scipy_linalg

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.autodiff import stop_gradient
from gpuarray.functions import factorisations
from gpuarray.functions.arguments import as_array
from gpuarray.scipy._calls import run_counted
from gpuarray.scipy._derivatives import vary
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.linalg._arguments import computed, refuse

__all__ = ["qr"]

_PIVOTING = "columns are chosen one after the other"


@mirrors(scipy_linalg.qr, reason=f"with pivoting, {_PIVOTING}")
def qr(
    a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", pivoting: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """Return orthogonal and upper triangular factors of matrices, in a tuple.

    Parameters
    ----------
    a : array_like
        Of shape (..., M, N), with K = min(M, N).
    overwrite_a, lwork : bool, int
        Accepted for compatibility.
    mode : {"full", "r", "economic", "raw"}
        With "full" Q has M columns, with "economic" K columns. "r" returns R alone, and "raw" the reflectors of LAPACK
        with their scales, and R.
    pivoting : bool
        Interchange columns, which LAPACK does on the host.
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    Q : GpuArray
        Of shape (..., M, M) or (..., M, K); for "raw" a tuple of arrays of shapes (..., M, N) and (..., K).
    R : GpuArray
        Of shape (..., M, N) or, for "economic" and "raw", (..., K, N).
    P : GpuArray
        With pivoting, the columns of ``a`` in their order.

    Raises
    ------
    ValueError
        If ``mode`` is anything else, there are fewer than two axes, or an element is not finite.
    """
    if pivoting and mode != "raw" and vary(a):  # the order of the columns never changes by a little
        *_, order = qr(stop_gradient(a), mode="r", pivoting=True, check_finite=check_finite)
        return *qr(xp.take_along_axis(a, order[..., None, :], axis=-1), mode=mode), order
    if pivoting:
        options = {"mode": mode, "pivoting": True, "check_finite": check_finite}
        return run_counted(scipy_linalg.qr, _PIVOTING, (a,), options)
    if mode not in ("full", "qr", "r", "economic", "raw"):
        refuse(scipy_linalg.qr, as_array(a), mode=mode)
    array = computed(scipy_linalg.qr, a, check_finite=check_finite)
    if array.ndim < 2:
        refuse(scipy_linalg.qr, array)
    if mode == "raw":
        reflectors, scales = factorisations.qr(array, "raw")
        return (reflectors.mT, scales), xp.triu(reflectors.mT[..., : min(array.shape[-2:]), :])
    if mode == "r":
        return (_tall(factorisations.qr(array, "r"), array.shape[-2]),)  # a tuple, as SciPy returns
    return tuple(factorisations.qr(array, "reduced" if mode == "economic" else "complete"))


def _tall(r: GpuArray, rows: int) -> GpuArray:
    """Return R with rows of zeros below."""
    *batch, least, columns = r.shape
    if rows == least:
        return r
    return xp.concat([r, xp.zeros((*batch, rows - least, columns), r.dtype, device=r.device)], axis=-2)
