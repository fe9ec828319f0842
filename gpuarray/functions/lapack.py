"""Functions of :mod:`numpy.linalg` for small arrays of NumPy: its ufuncs, which call LAPACK, and nothing else.

For two rows, ``numpy.linalg.inv`` takes 3.3 µs, of which the ufunc takes 1.2. These functions have the parameters of
NumPy's, and the same results bit for bit. They are called at once (see :mod:`gpuarray.functions.at_once`), so an error
of any class leads to the implementation of the package, which checks the arguments. NumPy's functions take their place
if it lacks one of the ufuncs.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

import numpy as np

from gpuarray.immediacy import strict

_F = TypeVar("_F", bound=Callable[..., Any])

_UFUNCS: Final = getattr(np.linalg, "_umath_linalg", None)
#: The dtypes of results for operands of single precision.
_NARROWED: Final = {np.dtype(np.float64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.complex64)}


def _by(*names: str) -> Callable[[_F], _F]:
    """Return a decorator that puts NumPy's function in the place of one whose ufuncs are missing."""

    def choose(function: _F) -> _F:
        is_complete = all(hasattr(_UFUNCS, name) for name in names)
        return function if is_complete else cast(_F, getattr(np.linalg, function.__name__))

    return choose


def _run(name: str, signature: str, *operands: Any) -> Any:
    """Call a ufunc as numpy.linalg does: in double precision, with an error if LAPACK fails.

    Parameters
    ----------
    name : str
        The name of the ufunc.
    signature : str
        The types of its operands and results for complex matrices, with C for what is complex of real ones too.
    *operands : ndarray
        The operands.
    """
    kinds = {x.dtype.char for x in operands}
    types = signature.replace("D", "d") if kinds.isdisjoint("FD") else signature
    result = strict.run(getattr(_UFUNCS, name), *operands, signature=types.replace("C", "D"))
    if not kinds.issubset("fF"):
        return result
    return tuple(map(_narrowed, result)) if type(result) is tuple else _narrowed(result)


def _narrowed(x: Any) -> Any:
    return x.astype(_NARROWED[x.dtype])


@_by("cholesky_lo", "cholesky_up")
def cholesky(a: Any, upper: bool = False) -> Any:
    """Compute as :func:`numpy.linalg.cholesky`."""
    return _run("cholesky_up" if upper else "cholesky_lo", "D->D", a)


@_by("det")
def det(a: Any) -> Any:
    """Compute as :func:`numpy.linalg.det`."""
    return _run("det", "D->D", a)


@_by("eigh_lo", "eigh_up")
def eigh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803  # NumPy's name
    """Compute as :func:`numpy.linalg.eigh`."""
    return _run({"L": "eigh_lo", "U": "eigh_up"}[UPLO], "D->dD", a)


@_by("eigvalsh_lo", "eigvalsh_up")
def eigvalsh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803
    """Compute as :func:`numpy.linalg.eigvalsh`."""
    return _run({"L": "eigvalsh_lo", "U": "eigvalsh_up"}[UPLO], "D->d", a)


def eig(a: Any) -> Any:
    """Compute as :func:`numpy.linalg.eig`, with complex results without names."""
    _check_finite(a)
    return _run("eig", "D->CC", a)


def eigvals(a: Any) -> Any:
    """Compute as :func:`numpy.linalg.eigvals`, with a complex result."""
    _check_finite(a)
    return _run("eigvals", "D->C", a)


def _check_finite(a: Any) -> None:
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError


@_by("inv")
def inv(a: Any) -> Any:
    """Compute as :func:`numpy.linalg.inv`."""
    return _run("inv", "D->D", a)


@_by("qr_r_raw", "qr_reduced", "qr_complete")
def qr(a: Any, mode: str = "reduced") -> Any:
    """Compute as :func:`numpy.linalg.qr` in its other modes than "raw", without names of the results."""
    if mode not in ("reduced", "complete", "r"):
        raise ValueError
    (m, n), kind = a.shape[-2:], a.dtype.char
    reflectors = a.astype("D" if kind in "FD" else "d")
    scales = _run("qr_r_raw", "D->D", reflectors)  # which writes to its operand
    is_complete = mode == "complete" and m > n
    above = reflectors[..., : m if is_complete else min(m, n), :]
    r = np.where(_is_below(*above.shape[-2:]), 0, above)
    if mode == "r":
        return _narrowed(r) if kind in "fF" else r
    q = _run("qr_complete" if is_complete else "qr_reduced", "DD->D", reflectors, scales)
    return (_narrowed(q), _narrowed(r)) if kind in "fF" else (q, r)


@lru_cache(maxsize=4)
def _is_below(rows: int, columns: int) -> Any:
    """Return which elements of a matrix are below the diagonal."""
    return np.tri(rows, columns, -1, bool)


@_by("slogdet")
def slogdet(a: Any) -> Any:
    """Compute as :func:`numpy.linalg.slogdet`."""
    return _run("slogdet", "D->Dd", a)


@_by("solve", "solve1")
def solve(a: Any, b: Any) -> Any:
    """Compute as :func:`numpy.linalg.solve`."""
    return _run("solve1" if b.ndim == 1 else "solve", "DD->D", a, b)


@_by("svd", "svd_f", "svd_s")
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Compute as :func:`numpy.linalg.svd`, without names of the results."""
    if hermitian:
        return np.linalg.svd(a, full_matrices, compute_uv, hermitian)  # type: ignore[call-overload]  # its flags are literals
    return _run("svd_f" if full_matrices else "svd_s", "D->DdD", a) if compute_uv else _run("svd", "D->d", a)


def svdvals(a: Any, hermitian: bool = False) -> Any:
    """Compute as :func:`numpy.linalg.svdvals`."""
    return svd(a, compute_uv=False, hermitian=hermitian)
