"""Compositions of functions that SciPy runs on the host, for derivatives and batches.

They take SciPy's arguments, and return NotImplemented for those that they do not cover.
"""

from collections.abc import Callable, Mapping
from math import pi
from typing import Any, Final

import numpy as np
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.device import Device
from gpuarray.functions import factorisations
from gpuarray.functions.arguments import as_array, as_arrays, read

#: What selects all eigenvalues.
_ALL: Final = ("a", "all", 0)

# -- matrices ----------------------------------------------------------------------------------------------------------


def _eigvals(
    a: Any, b: Any = None, overwrite_a: bool = False, check_finite: bool = True, homogeneous_eigvals: bool = False
) -> Any:
    return _eig(a, b, right=False, homogeneous_eigvals=homogeneous_eigvals)


def _eig(
    a: Any, b: Any = None, left: bool = False, right: bool = True, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True, homogeneous_eigvals: bool = False,
) -> Any:  # fmt: skip
    if b is not None or left or homogeneous_eigvals:
        return NotImplemented
    return tuple(factorisations.eig(a)) if right else factorisations.eigvals(a)


def _eigvals_banded(
    a_band: Any, lower: bool = False, overwrite_a_band: bool = False, select: str = "a", *_: Any
) -> Any:
    return _eig_banded(a_band, lower, eigvals_only=True, select=select)


def _eig_banded(
    a_band: Any, lower: bool = False, eigvals_only: bool = False, overwrite_a_band: bool = False, select: str = "a",
    *_: Any, **__: Any,
) -> Any:  # fmt: skip
    """Return eigenvalues; the signs of LAPACK's vectors are those of its own steps."""
    if not eigvals_only or select not in _ALL or a_band.ndim != 2:
        return NotImplemented
    return factorisations.eigvalsh(_of_bands(a_band, lower))


def _eigh_tridiagonal(d: Any, e: Any, eigvals_only: bool = False, select: str = "a", *_: Any, **__: Any) -> Any:
    diagonals = as_arrays(d, e)
    if not eigvals_only or select not in _ALL or any(line.ndim != 1 for line in diagonals):
        return NotImplemented
    return factorisations.eigvalsh(_hermitian(diagonals))


def _eigvalsh_tridiagonal(d: Any, e: Any, select: str = "a", *_: Any, **__: Any) -> Any:
    return _eigh_tridiagonal(d, e, True, select)


def _hermitian(below: list[GpuArray]) -> GpuArray:
    """Return a Hermitian matrix by its diagonals, the main one first."""
    rest = sum(xp.diag(line, -k) for k, line in enumerate(below) if k and line.size)
    return xp.diag(below[0]) + (rest + xp.conj(rest).mT if isinstance(rest, GpuArray) else 0)


def _of_bands(bands: GpuArray, lower: bool) -> GpuArray:
    """Return a Hermitian matrix by its diagonals below the main one, or above it, in SciPy's form."""
    last, size = bands.shape[0] - 1, bands.shape[1]
    return _hermitian([bands[k, : size - k] if lower else xp.conj(bands[last - k, k:]) for k in range(last + 1)])


def cholesky_banded(ab: Any, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True) -> Any:
    """Return the bands of the factor of the whole matrix; what stands beside them stays, as SciPy has it."""
    if ab.ndim != 2 or ab.shape[0] > ab.shape[1]:
        return NotImplemented
    last, size = ab.shape[0] - 1, ab.shape[1]
    factor = factorisations.cholesky(_of_bands(ab, lower))
    below = [xp.diag(factor, -k) for k in range(last + 1)]
    if lower:
        return xp.stack([xp.concat([line, ab[k, size - k :]]) for k, line in enumerate(below)])
    above = [xp.concat([ab[last - k, :k], xp.conj(line)]) for k, line in enumerate(below)]
    return xp.stack(above[::-1])


def _rq(a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", check_finite: bool = True) -> Any:
    """Return the factors of RQ: those of QR, of the rows and columns in the opposite order."""
    if mode not in ("full", "economic", "r"):
        return NotImplemented
    q, r = factorisations.qr(_reversed_adjoint(a), "reduced" if mode == "economic" else "complete")
    return _reversed_adjoint(r) if mode == "r" else (_reversed_adjoint(r), _reversed_adjoint(q))


def _reversed_adjoint(a: GpuArray) -> GpuArray:
    return xp.conj(a[..., ::-1, ::-1]).mT


# -- filters -----------------------------------------------------------------------------------------------------------


def _circle(
    device: Device, frequencies: Any, whole: bool, fs: float, **kwargs: Any
) -> tuple[GpuArray, np.ndarray[Any, Any]]:
    """Return frequencies, and the points of the unit circle for them."""
    frequencies = read(frequencies) if isinstance(frequencies, GpuArray) else frequencies
    w, _ = scipy_signal.freqz([1.0], worN=frequencies, whole=whole, fs=fs, **kwargs)
    return as_array(w, device), np.exp(2j * pi / fs * w)


def _freqz(
    b: Any, a: Any = 1, worN: Any = 512, whole: bool = False, plot: Any = None, fs: float = 2 * pi,  # noqa: N803  # SciPy's
    include_nyquist: bool = False,
) -> Any:  # fmt: skip
    above, below = map(xp.atleast_1d, as_arrays(b, a))
    if plot is not None or above.ndim > 1 or below.ndim > 1:
        return NotImplemented
    w, points = _circle(above.device, worN, whole, fs, include_nyquist=include_nyquist)
    return w, _polynomial(above, points) / _polynomial(below, points)


def _freqz_sos(sos: GpuArray, worN: Any = 512, whole: bool = False, fs: float = 2 * pi) -> Any:  # noqa: N803  # SciPy's name
    if sos.ndim != 2 or sos.shape[1] != 6:
        return NotImplemented
    w, points = _circle(sos.device, worN, whole, fs)
    lines = sos.mT
    return w, xp.prod(_polynomial(lines[:3], points) / _polynomial(lines[3:], points), axis=-1)


def _freqz_zpk(z: Any, p: Any, k: Any, worN: Any = 512, whole: bool = False, fs: float = 2 * pi) -> Any:  # noqa: N803  # SciPy's name
    zeros, poles, gain = as_arrays(z, p, k)
    w, points = _circle(gain.device, worN, whole, fs)
    at = as_array(points, gain.device)[:, None]
    return w, gain * xp.prod(at - zeros, axis=-1) / xp.prod(at - poles, axis=-1)


def _polynomial(coefficients: GpuArray, points: np.ndarray[Any, Any]) -> GpuArray:
    """Return polynomials of 1 / z at points, from coefficients along the first axis."""
    powers = as_array(np.vander(1 / points, coefficients.shape[0], increasing=True), coefficients.device)
    return powers @ coefficients.astype(powers.dtype)


def lfilter_zi(b: Any, a: Any) -> Any:
    """Return the state of a filter after a constant 1 for ever: the equations of its delays, solved one by one."""
    above, below = map(xp.atleast_1d, as_arrays(b, a))
    length = max(above.size, below.size)
    above, below = (xp.pad(line / below[0], (0, length - line.size)) for line in (above, below))
    rest = (above - below * above[0])[1:]
    first = rest.sum() / below.sum()
    return xp.cumsum(below)[:-1] * first - xp.concat([xp.zeros_like(rest[:1]), xp.cumsum(rest)[:-1]])


def sosfilt_zi(sos: Any) -> Any:
    """Return the states of the sections of a filter after a constant 1 for ever, which each section multiplies."""
    level, states = 1.0, []
    for section in sos:
        b, a = section[:3], section[3:]
        states.append(level * lfilter_zi(b, a))
        level = level * (b.sum() / a.sum())
    return xp.stack(states)


def _zpk2tf(z: Any, p: Any, k: Any) -> Any:
    zeros, poles, gain = as_arrays(z, p, k)
    if any(array.dtype.kind == "c" or array.ndim > 1 for array in (zeros, poles)):
        return NotImplemented  # SciPy's results are real if the roots are pairs
    return xp.atleast_1d(gain * xp.poly(zeros)), xp.atleast_1d(xp.poly(poles))


#: By subpackage and name.
COMPOSITIONS: Final[Mapping[str, Mapping[str, Callable[..., Any]]]] = {
    "linalg": {
        "eig": _eig,
        "eig_banded": _eig_banded,
        "eigh_tridiagonal": _eigh_tridiagonal,
        "eigvals": _eigvals,
        "eigvals_banded": _eigvals_banded,
        "eigvalsh_tridiagonal": _eigvalsh_tridiagonal,
        "rq": _rq,
    },
    "signal": {
        "freqz": _freqz,
        "freqz_sos": _freqz_sos,
        "freqz_zpk": _freqz_zpk,
        "lfilter_zi": lfilter_zi,
        "sosfilt_zi": sosfilt_zi,
        "sosfreqz": _freqz_sos,
        "zpk2tf": _zpk2tf,
    },
}
