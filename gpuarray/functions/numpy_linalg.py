"""NumPy's functions of ``numpy.linalg``: those of the namespace, with NumPy's signatures and defaults."""
# ruff: noqa: D103  # the functions are NumPy's, and NumPy documents them

from functools import partial
from typing import Any, Final

import numpy as np

from gpuarray.functions import factorisations, linalg_products, linear_systems, matrix_products, norms
from gpuarray.functions.arguments import NOT_GIVEN, as_array
from gpuarray.functions.registry import HOST, INVERSE, LAPACK, SINGULAR_VALUES, implements, native

_GIVES_REAL: Final = np.lib.NumpyVersion(np.__version__) < "2.5.0"
_by_lapack = partial(implements, kind=HOST, reason=LAPACK)

# --- products and norms ---------------------------------------------------------------------------------------------


@native("linalg.matmul")
def matmul(x1: Any, x2: Any, /) -> Any:
    return matrix_products.matmul(x1, x2)


@native("linalg.vecdot")
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return matrix_products.vecdot(x1, x2, axis=axis)


@native("linalg.outer")
def outer(x1: Any, x2: Any, /) -> Any:
    return linalg_products.outer(x1, x2)


@native("linalg.cross")
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return linalg_products.cross(x1, x2, axis=axis)


@native("linalg.diagonal")
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return linalg_products.diagonal(x, offset=offset)


@native("linalg.trace")
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return linalg_products.trace(x, offset=offset, dtype=dtype)


@implements("linalg.multi_dot")
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    return linalg_products.multi_dot(arrays, out=out)


@implements("linalg.norm", reason=SINGULAR_VALUES)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    return norms.norm(x, ord, axis, keepdims)


@implements("linalg.vector_norm")
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    return norms.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


@implements("linalg.matrix_norm", reason=SINGULAR_VALUES)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return norms.matrix_norm(x, keepdims=keepdims, ord=ord)


# --- factorisations -------------------------------------------------------------------------------------------------


@_by_lapack("linalg.cholesky")
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    return factorisations.cholesky(a, upper=upper)


def _is_real(a: Any, values: Any) -> bool:
    """Whether NumPy, before 2.5, returns eigenvalues as real numbers: none of a real array's has an imaginary part."""
    return _GIVES_REAL and as_array(a).dtype.kind != "c" and not (values.imag != 0).any().item()


@_by_lapack("linalg.eig")
def eig(a: Any) -> Any:
    values, vectors = found = factorisations.eig(a)
    if _is_real(a, values):
        return factorisations.EigResult(values.real.copy(), vectors.real.copy())
    return found


@_by_lapack("linalg.eigvals")
def eigvals(a: Any) -> Any:
    values = factorisations.eigvals(a)
    return values.real.copy() if _is_real(a, values) else values


@_by_lapack("linalg.eigh")
def eigh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803  # NumPy's name
    return factorisations.eigh(a, UPLO=UPLO)


@_by_lapack("linalg.eigvalsh")
def eigvalsh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803  # NumPy's name
    return factorisations.eigvalsh(a, UPLO=UPLO)


@_by_lapack("linalg.qr")
def qr(a: Any, mode: str = "reduced") -> Any:
    if mode == "r":
        return factorisations.qr_factors(a, mode)[0]
    if mode == "raw":
        return factorisations.qr_factors(a, mode)
    return factorisations.qr(a, mode=mode)  # type: ignore[arg-type]  # which checks it


@_by_lapack("linalg.svd")
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if not compute_uv:
        return factorisations.svdvals(a, hermitian=hermitian)
    return factorisations.svd(a, full_matrices=full_matrices, hermitian=hermitian)


@_by_lapack("linalg.svdvals")
def svdvals(x: Any, /) -> Any:
    return factorisations.svdvals(x)


# --- systems of equations -------------------------------------------------------------------------------------------


@_by_lapack("linalg.det")
def det(a: Any) -> Any:
    return linear_systems.det(a)


@_by_lapack("linalg.slogdet")
def slogdet(a: Any) -> Any:
    return linear_systems.slogdet(a)


@_by_lapack("linalg.inv")
def inv(a: Any) -> Any:
    return linear_systems.inv(a)


@_by_lapack("linalg.solve")
def solve(a: Any, b: Any) -> Any:
    return linear_systems.solve(a, b)


@_by_lapack("linalg.lstsq")
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    return tuple(linear_systems.lstsq(a, b, rcond))


@_by_lapack("linalg.pinv")
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NOT_GIVEN) -> Any:
    if rcond is not None and rtol is not NOT_GIVEN:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rcond is None:
        rcond = 1e-15 if rtol is NOT_GIVEN else rtol
    return linear_systems.pinv(a, rtol=rcond, hermitian=hermitian)


@_by_lapack("linalg.matrix_rank")
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:  # noqa: N803
    array = as_array(A)
    if array.ndim < 2:
        return int((array != 0).any().item())
    return linear_systems.matrix_rank(array, rtol=rtol, tol=tol, hermitian=hermitian)


@_by_lapack("linalg.cond")
def cond(x: Any, p: Any = None) -> Any:
    return linear_systems.cond(x, p)


@implements("linalg.matrix_power", reason=INVERSE)
def matrix_power(a: Any, n: Any) -> Any:
    return linear_systems.matrix_power(a, n)


@_by_lapack("linalg.tensorinv")
def tensorinv(a: Any, ind: int = 2) -> Any:
    return linear_systems.tensorinv(a, ind)


@_by_lapack("linalg.tensorsolve")
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    return linear_systems.tensorsolve(a, b, axes)
