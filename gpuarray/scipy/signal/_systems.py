"""Responses of linear systems: their states follow a recurrence, which runs in parallel."""

from typing import Any, Final

import numpy as np
from scipy import interpolate, linalg
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, read
from gpuarray.functions.registry import COMPOSED
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.signal import _recurrences as recurrences

__all__ = ["dlsim", "lsim"]

_SYSTEM: Final = "the matrices of the system are computed on the host"


def _evolved(step: Any, added: GpuArray, start: GpuArray) -> GpuArray:
    """Return states, of shape (N + 1, order): each is the one before it times a matrix, plus an input."""
    kind = added.dtype
    recurrence = recurrences.recurrence(recurrences.of_step, step, dtype=kind, device=added.device)
    return recurrence.evolve(added, start.astype(kind).reshape(1, -1))


def _columns(u: Any) -> GpuArray:
    inputs = xp.atleast_1d(as_array(u))
    return inputs[:, None] if inputs.ndim == 1 else inputs


def _parts(system: Any) -> tuple[Any, ...]:
    return tuple(read(matrix) if isinstance(matrix, GpuArray) else matrix for matrix in system)


def _exponential(a: Any, b: Any, dt: float) -> tuple[Any, Any, Any]:
    """Return the matrices by which a step multiplies states, inputs that are constant, and what inputs rise by."""
    order, count = b.shape
    whole = np.zeros((order + 2 * count,) * 2)
    whole[:order, :order], whole[:order, order : order + count] = a * dt, b * dt
    whole[order : order + count, order + count :] = np.identity(count)
    result = linalg.expm(whole.T)
    return result[:order, :order], result[order : order + count, :order], result[order + count :, :order]


@mirrors(scipy_signal.lsim, kind=COMPOSED, reason=_SYSTEM, values=("T",))
def lsim(
    system: Any, U: Any, T: Any, X0: Any = None, interp: bool = True  # noqa: N803  # SciPy's names
) -> tuple[GpuArray, GpuArray, GpuArray]:  # fmt: skip
    """Return the response of a continuous-time system to inputs.

    Parameters
    ----------
    system : lti or tuple
        The system.
    U : array_like
        The inputs, of shape (N,) or (N, M); 0 or None for none.
    T : array_like
        The times, at equal distances, of shape (N,).
    X0 : array_like, optional
        The state at time 0.
    interp : bool
        Whether inputs are lines between times, or constant.

    Returns
    -------
    T, yout, xout : GpuArray
        The times, the outputs, and the states.

    Raises
    ------
    ValueError
        If a shape does not fit, or the times are not at equal distances.
    AttributeError
        If the system is one of discrete time.
    """
    if isinstance(system, scipy_signal.dlti):
        raise AttributeError("lsim can only be used with continuous-time systems.")
    known = (system if isinstance(system, scipy_signal.lti) else scipy_signal.lti(*_parts(system))).to_ss()
    times = np.atleast_1d(read(T))
    if times.ndim != 1:
        raise ValueError("T must be a rank-1 array.")
    a, b, c, d = (np.asarray(matrix) for matrix in (known.A, known.B, known.C, known.D))
    count = times.size
    start = as_array(np.zeros(len(a), a.dtype) if X0 is None else X0)
    if times[0] < 0:
        raise ValueError("Initial time must be nonnegative")
    if times[0] > 0:
        start = start @ as_array(linalg.expm(a.T * times[0]), start.device)
    has_input = U is not None and (U.size > 0 if isinstance(U, GpuArray) else bool(np.any(U)))
    inputs = _columns(U if has_input else np.zeros((count, b.shape[1])))
    if count > 1:
        dt = times[1] - times[0]
        if not np.allclose(np.diff(times), dt):
            raise ValueError("Time steps are not equally spaced.")
        if inputs.shape[0] != count:
            raise ValueError("U must have the same number of rows as elements in T.")
        if inputs.shape[1] != b.shape[1]:
            raise ValueError("System does not define that many inputs.")
        step, held, rising = _exponential(a, b, dt)
        inputs = inputs.astype(np.result_type(inputs.dtype, a.dtype), copy=False)
        added = inputs[:-1] @ as_array(held, inputs.device)
        if interp:
            added = added + (inputs[1:] - inputs[:-1]) @ as_array(rising, inputs.device)
        states = _evolved(step, added, start)
    else:
        states = start.astype(a.dtype).reshape(1, -1)
    result = xp.squeeze(states @ as_array(c.T, inputs.device))
    if has_input:
        result = result + xp.squeeze(inputs @ as_array(d.T, inputs.device))
    return as_array(times, inputs.device), result, xp.squeeze(states)


@mirrors(scipy_signal.dlsim, kind=COMPOSED, reason=_SYSTEM, values=("t",))
def dlsim(system: Any, u: Any, t: Any = None, x0: Any = None) -> tuple[GpuArray, ...]:
    """Return the response of a discrete-time system to inputs.

    Parameters
    ----------
    system : dlti or tuple
        The system.
    u : array_like
        The inputs, of shape (N,) or (N, M).
    t : array_like, optional
        The times of the inputs, between which they are lines.
    x0 : array_like, optional
        The first state.

    Returns
    -------
    tout, yout : GpuArray
        The times, and the outputs, of shape (N, P).
    xout : GpuArray
        The states, if the system is given by its state space.

    Raises
    ------
    ValueError
        If a shape does not fit.
    AttributeError
        If the system is one of continuous time.
    """
    if isinstance(system, scipy_signal.lti):
        raise AttributeError("dlsim can only be used with discrete-time dlti systems.")
    if not isinstance(system, scipy_signal.dlti):
        *parts, dt = _parts(system)
        system = scipy_signal.dlti(*parts, dt=dt)
    known = system.to_ss()
    a, b, c, d = (np.asarray(matrix, np.float64) for matrix in (known.A, known.B, known.C, known.D))
    inputs = _columns(u)
    if t is None:
        times = np.linspace(0.0, (len(inputs) - 1) * known.dt, len(inputs))
    else:
        samples = np.asarray(read(t), np.float64)
        times = np.linspace(0.0, samples[-1], int(np.floor(samples[-1] / known.dt)) + 1)
        interpolate.make_interp_spline(samples, np.zeros(len(inputs)), k=1)  # raises SciPy's errors
        after = np.clip(np.searchsorted(samples, times, side="right"), 1, len(samples) - 1)
        share = as_array(((times - samples[after - 1]) / (samples[after] - samples[after - 1]))[:, None], inputs.device)
        inputs = inputs[after - 1] * (1 - share) + inputs[after] * share
    start = as_array(np.zeros(len(a)) if x0 is None else x0, inputs.device)
    through = [as_array(matrix.T, inputs.device) for matrix in (b, c, d)]
    states = _evolved(a.T, inputs[:-1] @ through[0], xp.broadcast_to(start, (len(a),)))
    result = as_array(times, inputs.device), states @ through[1] + inputs @ through[2]
    return (*result, states) if isinstance(system, scipy_signal.StateSpace) else result
