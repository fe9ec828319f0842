"""Functions of matrices: the exponential and functions of it.

The exponential is a polynomial of Taylor of the matrix divided by a power of two, and is squared as often. It takes
matrix products alone, which devices are good at; a quotient after Padé, as SciPy computes it, needs fewer products but
solves a system, which takes longer. Norms of powers tell the degree and the power of two.
"""

from math import factorial
from typing import Any, Final

import numpy as np
from scipy import linalg as scipy_linalg

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.autodiff import stop_gradient
from gpuarray.functions import linear_systems
from gpuarray.functions.arguments import as_array
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph import tape, tracing
from gpuarray.runtime import evaluate
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.linalg._arguments import computed, is_square, refuse, require_finite

__all__ = ["coshm", "cosm", "expm", "expm_frechet", "sinhm", "sinm", "tanhm", "tanm"]

#: Norms up to which polynomials of a degree are exact to the last digit, by the bytes of a real number: the backward
#: error, log(exp(-x) T(x)) / x with absolute values of its coefficients, is half of epsilon there.
_DEGREES: Final = {
    4: {8: 0.5800524627688768, 12: 1.4616615072090335},
    8: {8: 0.049912288711153226, 12: 0.299615891381158, 16: 0.7802874256626574},
}
#: How often a result is squared at most where norms are not known, as in functions that ``jit`` records.
_MOST_SQUARINGS: Final = 16


def _norm(x: GpuArray) -> GpuArray:
    return xp.max(xp.sum(xp.abs(x), axis=-2), axis=-1)


def _polynomial(powers: list[GpuArray], unit: GpuArray, degree: int) -> GpuArray:
    """Return the polynomial of Taylor of a matrix, given its first four powers."""
    low = [unit, *powers[:3]]

    def part(start: int) -> GpuArray:
        return sum(x * (1 / factorial(start + j)) for j, x in enumerate(low))  # type: ignore[return-value]  # there are terms

    result = part(degree - 4) + powers[3] * (1 / factorial(degree))
    for start in range(degree - 8, -1, -4):
        result = part(start) + powers[3] @ result
    return result


@mirrors(scipy_linalg.expm, kind=COMPOSED)
def expm(A: Any) -> GpuArray:  # noqa: N803  # SciPy's name
    """Return exponentials of matrices.

    Parameters
    ----------
    A : array_like
        Of shape (..., M, M), or one number.

    Returns
    -------
    GpuArray
        Of shape (..., M, M). In functions that ``jit`` or ``vmap`` record, results of norms above 2**16 are not exact.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices are not square.
    """
    source = as_array(A)
    if source.ndim < 2 and source.size == 1:
        return xp.exp(source).reshape(1, 1)
    array = computed(scipy_linalg.expm, source, check_finite=False)
    if not is_square(array):
        refuse(scipy_linalg.expm, array)
    if not array.size or array.shape[-1] == 1:
        return xp.exp(array)
    second = array @ array
    powers = [array, second, second @ array, second @ second]
    size = stop_gradient(xp.maximum(_norm(powers[2]) ** (1 / 3), _norm(powers[3]) ** 0.25))
    limits = _DEGREES[size.dtype.itemsize]
    degree, largest = max(limits.items())
    unit = xp.eye(array.shape[-1], dtype=array.dtype, device=array.device)
    if tracing.active() is not None or tape.batch_of(size.node()) is not None:
        times = _MOST_SQUARINGS
    else:
        evaluate.evaluate_early([*(power.settled() for power in powers), size.settled()], size.device)
        norm = float(evaluate.read(size.node(), size.device).max())
        degree = min((d for d, limit in limits.items() if norm <= limit), default=degree)
        times = int(np.ceil(np.log2(norm / largest))) if largest < norm < np.inf else 0
    if not times:
        return _polynomial(powers, unit, degree)
    tiny = float(np.finfo(size.dtype).tiny)
    squarings = xp.clip(xp.ceil(xp.log2(xp.maximum(size, tiny) / largest)), 0, times)[..., None, None]
    scale = xp.exp2(-squarings)
    result = _polynomial([x * scale**p for p, x in enumerate(powers, 1)], unit, degree)
    for step in range(times):
        result = xp.where(squarings > step, result @ result, result)
    return result


@mirrors(scipy_linalg.expm_frechet, kind=COMPOSED)
def expm_frechet(
    A: Any, E: Any, method: Any = None, compute_expm: bool = True, check_finite: bool = True  # noqa: N803
) -> Any:  # fmt: skip
    """Return the exponential of a matrix, and its derivative in the direction of another.

    Parameters
    ----------
    A, E : array_like
        Of shape (M, M).
    method : {None, "SPS", "blockEnlarge"}
        It is checked, and makes no difference.
    compute_expm : bool
        Whether to return the exponential.
    check_finite : bool
        Whether elements must be finite.

    Returns
    -------
    expm_A, expm_frechet_AE : GpuArray
        Of shape (M, M); the second alone if not ``compute_expm``.

    Raises
    ------
    ValueError
        If the matrices are not square, or their shapes differ.
    """
    array, direction = computed(scipy_linalg.expm_frechet, A, E, check_finite=check_finite, method=method)
    if array.ndim != 2 or not is_square(array) or array.shape != direction.shape:
        refuse(scipy_linalg.expm_frechet, array, direction)
    n = array.shape[-1]
    nothing = xp.zeros((n, n), array.dtype, device=array.device)
    result = expm(xp.block([[array, direction], [nothing, array]]))
    return (result[:n, :n], result[:n, n:]) if compute_expm else result[:n, n:]


def _square(original: Any, value: Any) -> GpuArray:
    array: GpuArray = computed(original, value, check_finite=False)
    if not is_square(array):
        refuse(original, array)
    return array


@mirrors(scipy_linalg.cosm, kind=COMPOSED)
def cosm(A: Any) -> GpuArray:  # noqa: N803
    """Return cosines of matrices of shape (..., M, M)."""
    x = _square(scipy_linalg.cosm, A)
    return (expm(1j * x) + expm(-1j * x)) * 0.5 if x.dtype.kind == "c" else expm(1j * x).real


@mirrors(scipy_linalg.sinm, kind=COMPOSED)
def sinm(A: Any) -> GpuArray:  # noqa: N803
    """Return sines of matrices of shape (..., M, M)."""
    x = _square(scipy_linalg.sinm, A)
    return (expm(1j * x) - expm(-1j * x)) * -0.5j if x.dtype.kind == "c" else expm(1j * x).imag


@mirrors(scipy_linalg.tanm, kind=COMPOSED)
def tanm(A: Any) -> GpuArray:  # noqa: N803
    """Return tangents of matrices of shape (..., M, M)."""
    x = _square(scipy_linalg.tanm, A)
    require_finite(x)
    return linear_systems.solve(cosm(x), sinm(x))


@mirrors(scipy_linalg.coshm, kind=COMPOSED)
def coshm(A: Any) -> GpuArray:  # noqa: N803
    """Return hyperbolic cosines of matrices of shape (..., M, M)."""
    x = _square(scipy_linalg.coshm, A)
    return (expm(x) + expm(-x)) * 0.5


@mirrors(scipy_linalg.sinhm, kind=COMPOSED)
def sinhm(A: Any) -> GpuArray:  # noqa: N803
    """Return hyperbolic sines of matrices of shape (..., M, M)."""
    x = _square(scipy_linalg.sinhm, A)
    return (expm(x) - expm(-x)) * 0.5


@mirrors(scipy_linalg.tanhm, kind=COMPOSED)
def tanhm(A: Any) -> GpuArray:  # noqa: N803
    """Return hyperbolic tangents of matrices of shape (..., M, M)."""
    x = _square(scipy_linalg.tanhm, A)
    require_finite(x)
    return linear_systems.solve(coshm(x), sinhm(x))
