"""Waveforms of given times."""

from typing import Any

import numpy as np
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray.array import GpuArray, apply
from gpuarray.functions.arguments import as_array, as_arrays, inexact
from gpuarray.functions.registry import COMPOSED
from gpuarray.ops import elementwise as ops
from gpuarray.scipy._calls import trial
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy._threads import elementwise

__all__ = ["chirp", "gausspulse", "sawtooth", "square", "sweep_poly"]

_METHODS = "'linear', 'quadratic', 'logarithmic', or 'hyperbolic' (or equivalents), but a value of "


def _periodic(function: Any, t: Any, fraction: Any) -> list[GpuArray]:
    """Return times and parts of the period in the dtype of SciPy's results.

    Raises
    ------
    TypeError
        If SciPy's function takes no times of this dtype.
    """
    phases = t if isinstance(t, GpuArray) else np.asarray(t)
    sample = fraction if type(fraction) in (int, float) else np.zeros(1, np.asarray(fraction).dtype)
    kind = trial(function, phases, sample)
    return [x.astype(kind) for x in as_arrays(phases, fraction)]


@mirrors(scipy_signal.sawtooth, on_host=elementwise(scipy_signal.sawtooth))
def sawtooth(t: Any, width: Any = 1) -> GpuArray:
    """Return a periodic sawtooth or triangle, which rises from -1 to 1 in a part ``width`` of the period 2 pi."""
    times, rising = _periodic(scipy_signal.sawtooth, t, width)
    phase = xp.remainder(times, 2 * np.pi)
    top = rising * (2 * np.pi)
    is_rising = phase < top
    up = phase / (np.pi * xp.where(rising == 0, 1, rising)) - 1
    down = (np.pi * (rising + 1) - phase) / (np.pi * xp.where(rising == 1, 0.5, 1 - rising))
    result = xp.where(is_rising, up, down)
    return xp.where((rising < 0) | (rising > 1), np.nan, result).astype(times.dtype, copy=False)


@mirrors(scipy_signal.square, on_host=elementwise(scipy_signal.square))
def square(t: Any, duty: Any = 0.5) -> GpuArray:
    """Return a periodic square wave, which is 1 in a part ``duty`` of the period 2 pi, and -1 in the rest."""
    times, fraction = _periodic(scipy_signal.square, t, duty)
    result = xp.where(xp.remainder(times, 2 * np.pi) < fraction * (2 * np.pi), 1.0, -1.0)
    return xp.where((fraction < 0) | (fraction > 1), np.nan, result).astype(times.dtype, copy=False)


@mirrors(scipy_signal.gausspulse, by_scipy=lambda t, *_, **__: not isinstance(t, str))
def gausspulse(
    t: Any, fc: float = 1000, bw: float = 0.5, bwr: float = -6, tpr: float = -60, retquad: bool = False,
    retenv: bool = False,
) -> Any:  # fmt: skip
    """Return a Gaussian-modulated sinusoid, and its quadrature and envelope if they are wanted."""
    if isinstance(t, str):
        return scipy_signal.gausspulse(t, fc, bw, bwr, tpr, retquad, retenv)
    scipy_signal.gausspulse(0.0, fc, bw, bwr, tpr)  # its checks
    times = inexact(t)
    reference = 10.0 ** (bwr / 20.0)
    decay = -((np.pi * fc * bw) ** 2) / (4.0 * np.log(reference))
    envelope = xp.exp(-decay * times * times)
    phase = 2 * np.pi * fc * times
    result = [envelope * xp.cos(phase)]
    if retquad:
        result.append(envelope * xp.sin(phase))
    if retenv:
        result.append(envelope)
    return result[0] if len(result) == 1 else tuple(result)


@mirrors(scipy_signal.chirp, on_host=elementwise(scipy_signal.chirp))
def chirp(
    t: Any, f0: float, t1: float, f1: float, method: str = "linear", phi: float = 0, vertex_zero: bool = True, *,
    complex: bool = False,
) -> GpuArray:  # fmt: skip
    """Return a cosine whose frequency changes from ``f0`` at time 0 to ``f1`` at time ``t1``."""
    times = inexact(t)
    f0, f1, t1 = float(f0), float(f1), float(t1)
    if method in ("linear", "lin", "li"):
        phase = 2 * np.pi * (f0 * times + 0.5 * ((f1 - f0) / t1) * times * times)
    elif method in ("quadratic", "quad", "q"):
        rate = (f1 - f0) / t1**2
        if vertex_zero:
            phase = 2 * np.pi * (f0 * times + rate * times**3 / 3)
        else:
            phase = 2 * np.pi * (f1 * times + rate * ((t1 - times) ** 3 - t1**3) / 3)
    elif method in ("logarithmic", "log", "lo"):
        if f0 * f1 <= 0.0:
            raise ValueError("For a logarithmic chirp, f0 and f1 must be nonzero and have the same sign.")
        if f0 == f1:
            phase = 2 * np.pi * f0 * times
        else:
            rate = t1 / np.log(f1 / f0)
            phase = 2 * np.pi * rate * f0 * (xp.pow(f1 / f0, times / t1) - 1.0)
    elif method in ("hyperbolic", "hyp"):
        if f0 == 0 or f1 == 0:
            raise ValueError("For a hyperbolic chirp, f0 and f1 must be nonzero.")
        if f0 == f1:
            phase = 2 * np.pi * f0 * times
        else:
            pole = -f1 * t1 / (f0 - f1)
            phase = 2 * np.pi * (-pole * f0) * xp.log(xp.abs(1 - times / pole))
    else:
        raise ValueError(f"method must be {_METHODS}{method!r} was given.")
    return _wave(phase + np.deg2rad(float(phi)), complex)


def _wave(phase: GpuArray, is_complex: bool) -> GpuArray:
    if not is_complex:
        return xp.cos(phase)
    return apply(ops.complex_from_parts, xp.cos(phase), xp.sin(phase))


@mirrors(scipy_signal.sweep_poly, kind=COMPOSED)
def sweep_poly(t: Any, poly: Any, phi: float = 0) -> GpuArray:
    """Return a cosine whose frequency is a polynomial of time."""
    times = inexact(t)
    phase = xp.polyval(xp.polyint(as_array(poly, times.device)), times) * (2 * np.pi)
    return xp.cos(phase + np.deg2rad(float(phi)))
