"""Functions of :mod:`numpy.linalg` for small arrays of NumPy: its ufuncs, which call LAPACK, and little else.

For matrices of few rows, numpy.linalg takes longer to check and to convert arguments than LAPACK takes to compute.
These functions have the parameters of NumPy's, and the same results bit for bit. They are called at once (see
:mod:`gpuarray.functions.at_once`), so an error of any class leads to the implementation of the package, which checks
the arguments. Where a version of NumPy has other ufuncs, its functions are called instead.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import NOT_GIVEN
from gpuarray.functions.at_once import grouped
from gpuarray.immediacy import strict

_F = TypeVar("_F", bound=Callable[..., Any])

_numpy: Final[Any] = np.linalg
_UFUNCS: Final = getattr(np.linalg, "_umath_linalg", None)
_FLOAT, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_EPS: Final = {kind: float(np.finfo(kind).eps) for kind in (_FLOAT, _DOUBLE)}
_NARROWED: Final = {_DOUBLE: _FLOAT, np.dtype(np.complex128): np.dtype(np.complex64)}
#: The characters of the dtypes whose results have single precision.
_SINGLE: Final = frozenset("fF")
#: The most elements of a triangle for which the places below it are remembered.
_FEW: Final = 1 << 12


class QRResult(NamedTuple):
    """What :func:`gpuarray.linalg.qr` returns."""

    Q: GpuArray
    R: GpuArray


class SVDResult(NamedTuple):
    """What :func:`gpuarray.linalg.svd` returns."""

    U: GpuArray
    S: GpuArray
    Vh: GpuArray


def _ufunc(name: str, signature: str, real: str = "") -> Callable[..., Any]:
    """Return a function that calls a ufunc as numpy.linalg does: in double precision, with an error if LAPACK fails.

    Parameters
    ----------
    name : str
        The name of the ufunc.
    signature : str
        The types of its operands and results for complex matrices.
    real : str
        The same for real matrices; by default with d for each D.
    """
    ufunc = getattr(_UFUNCS, name, None)
    real = real or signature.replace("D", "d")

    def call(*operands: Any) -> Any:
        kinds = {x.dtype.char for x in operands[:2]}
        found = strict.run(ufunc, *operands, signature=real if kinds.isdisjoint("FD") else signature)
        if not kinds <= _SINGLE:
            return found
        return tuple(map(_narrowed, found)) if type(found) is tuple else _narrowed(found)

    return call


def _narrowed(x: Any) -> Any:
    return x.astype(_NARROWED.get(x.dtype, x.dtype))


def _by(*names: str, group: Callable[..., Any] | None = None) -> Callable[[_F], _F]:
    """Return a decorator that puts NumPy's function in the place of one whose ufuncs this version of NumPy lacks."""

    def choose(function: _F) -> _F:
        if all(hasattr(_UFUNCS, name) for name in names):
            return function
        numpys = getattr(_numpy, function.__name__)
        return cast(_F, grouped(numpys, group) if group else numpys)

    return choose


det = _ufunc("det", "D->D")
slogdet = _ufunc("slogdet", "D->Dd")
inv = _ufunc("inv", "D->D")
_solve = _ufunc("solve", "DD->D")
_solve_line = _ufunc("solve1", "DD->D")
_cholesky = {False: _ufunc("cholesky_lo", "D->D"), True: _ufunc("cholesky_up", "D->D")}
_eigh = {"L": _ufunc("eigh_lo", "D->dD"), "U": _ufunc("eigh_up", "D->dD")}
_eigvalsh = {"L": _ufunc("eigvalsh_lo", "D->d"), "U": _ufunc("eigvalsh_up", "D->d")}
_eig = _ufunc("eig", "D->DD", "d->DD")
_eigvals = _ufunc("eigvals", "D->D", "d->D")
_svd = {True: _ufunc("svd_f", "D->DdD"), False: _ufunc("svd_s", "D->DdD")}
_svdvals = _ufunc("svd", "D->d")
_lstsq = _ufunc("lstsq", "DDd->Ddid")
_reflectors = _ufunc("qr_r_raw", "D->D")
_orthogonal = {False: _ufunc("qr_reduced", "DD->D"), True: _ufunc("qr_complete", "DD->D")}
_numpys_svd: Final = grouped(_numpy.svd, SVDResult)


def cholesky(a: Any, upper: bool = False) -> Any:
    """Compute as :func:`numpy.linalg.cholesky`."""
    return _cholesky[upper](a)


def eigh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803  # NumPy's name
    """Compute as :func:`numpy.linalg.eigh`."""
    return _eigh[UPLO](a)


def eigvalsh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803
    """Compute as :func:`numpy.linalg.eigvalsh`."""
    return _eigvalsh[UPLO](a)


def eig(a: Any) -> Any:
    """Return eigenvalues and eigenvectors, which are complex."""
    return _eig(_finite(a))


def eigvals(a: Any) -> Any:
    """Return eigenvalues, which are complex."""
    return _eigvals(_finite(a))


def _finite(a: Any) -> Any:
    if not np.isfinite(a).all():
        raise ArithmeticError
    return a


def solve(a: Any, b: Any) -> Any:
    """Compute as :func:`numpy.linalg.solve`."""
    return (_solve_line if b.ndim == 1 else _solve)(a, b)


@_by("lstsq")
def lstsq(a: Any, b: Any, rcond: float | None = None) -> Any:
    """Compute as :func:`numpy.linalg.lstsq`."""
    m, n = a.shape
    if b.ndim > 2:
        raise ValueError
    least = _EPS[_DOUBLE] * max(m, n) if rcond is None else rcond
    x, residuals, rank, s = _lstsq(a, b[:, None] if b.ndim == 1 else b, least)
    return x[:, 0] if b.ndim == 1 else x, residuals if rank == n < m else residuals[:0], rank, s


@_by("qr_r_raw", "qr_reduced", "qr_complete", group=QRResult)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Compute as :func:`numpy.linalg.qr`."""
    if mode not in ("reduced", "complete", "r"):
        return _numpy.qr(a, mode)
    m, n = a.shape[-2:]
    # the ufunc writes R and the reflectors to its operand
    packed = a.astype(np.complex128 if a.dtype.kind == "c" else _DOUBLE)
    scales = _reflectors(packed)
    is_square = mode == "complete" and m > n
    r = packed[..., : m if is_square else min(m, n), :]
    r = np.where(_below(*r.shape[-2:]), 0, r) if r.size <= _FEW else np.triu(r)
    is_single = a.dtype.char in _SINGLE
    if is_single:
        r = _narrowed(r)
    if mode == "r":
        return r
    q = _orthogonal[is_square](packed, scales)
    return QRResult(_narrowed(q) if is_single else q, r)


@lru_cache(maxsize=64)
def _below(rows: int, columns: int) -> Any:
    return np.tri(rows, columns, -1, bool)


@_by("svd", "svd_f", "svd_s", group=SVDResult)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Compute as :func:`numpy.linalg.svd`."""
    if hermitian:
        return _numpys_svd(a, full_matrices, compute_uv, hermitian)
    return SVDResult(*_svd[full_matrices](a)) if compute_uv else _svdvals(a)


@_by("svd")
def svdvals(a: Any) -> Any:
    """Compute as :func:`numpy.linalg.svdvals`."""
    return _svdvals(a)


@_by("svd")
def cond(a: Any, p: Any = None) -> Any:
    """Compute as :func:`numpy.linalg.cond`."""
    if not (p is None or p in (2, -2)):
        return _numpy.cond(a, p)
    s = _svdvals(a)
    found = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    if np.isnan(found).any():  # NumPy tells infinite numbers from those of matrices with NaN
        raise ArithmeticError
    return found


@_by("svd")
def matrix_rank(a: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Compute as :func:`numpy.linalg.matrix_rank`."""
    if a.ndim < 2 or hermitian or tol is not None or rtol is not None:
        return _numpy.matrix_rank(a, tol, hermitian, rtol=rtol)
    s = _svdvals(a)
    return (s > s[..., :1] * (max(a.shape[-2:]) * _EPS[s.dtype])).sum(-1)


@_by("svd_s")
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NOT_GIVEN) -> Any:
    """Compute as :func:`numpy.linalg.pinv`."""
    if rtol is not NOT_GIVEN:
        return standard_pinv(a, rcond, hermitian, rtol=rtol)
    least = 1e-15 if rcond is None else rcond
    if hermitian or type(least) is not float:
        return _numpy.pinv(a, least, hermitian)
    u, s, vh = _svd[False](a.conj())
    is_large = s > np.float64(least) * s[..., :1]
    np.divide(1, s, where=is_large, out=s)
    s[~is_large] = 0
    return np.matmul(vh.mT, s[..., None] * u.mT)


def standard_pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Return pseudo-inverses with the default tolerance of the array API standard."""
    if rcond is not None and rtol is not None:
        raise ValueError
    least = rcond if rtol is None else rtol
    if least is None:
        least = max(a.shape[-2:]) * _EPS[_DOUBLE if a.dtype.char not in _SINGLE else _FLOAT]
    return pinv(a, least, hermitian)
