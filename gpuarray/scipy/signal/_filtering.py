"""Filters with recurrences: lfilter, filtfilt, sosfilt, sosfiltfilt and deconvolve."""

from collections.abc import Callable
from functools import partial, wraps
from operator import index
from typing import Any, Final, TypeVar, cast

import numpy as np
from scipy import signal as scipy_signal

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.autodiff import stop_gradient
from gpuarray.functions.arguments import as_array, as_arrays, read
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph.shapes import normalize_axis
from gpuarray.scipy._calls import run_counted
from gpuarray.scipy._compositions import lfilter_zi, sosfilt_zi
from gpuarray.scipy._derivatives import vary
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy._threads import by_lines
from gpuarray.scipy.signal import _coefficients
from gpuarray.scipy.signal import _recurrences as recurrences
from gpuarray.scipy.signal._convolution import convolve
from gpuarray.scipy.signal._extension import extended
from gpuarray.scipy.signal._gustafsson import in_any_order
from gpuarray.scipy.signal._long_numbers import Matrix, NotFiniteError
from gpuarray.unprotected import unprotected

_F = TypeVar("_F", bound=Callable[..., Any])

_GUST: Final = "the method gust takes the real parts of states, if coefficients are complex"
_NOT_FINITE: Final = "coefficients are not finite"


def _transfer_function(b: Any, a: Any) -> tuple[Matrix, Matrix]:
    """Return the coefficients of a filter on the host, divided by ``a[0]`` and without leading zeros of ``a``."""
    top, bottom = (np.atleast_1d(read(line)) for line in (b, a))
    if top.ndim != 1 or bottom.ndim != 1:
        raise ValueError("Filter coefficients b and a must be 1-D arrays.")
    if not top.size or not bottom.size:
        raise ValueError("Filter coefficients b and a must not be empty.")
    if bottom[0] == 0:
        raise ValueError("The first element of a, by which the filter is normalized, must not be 0.")
    kind = np.result_type(top, bottom, np.float64)
    return top.astype(kind) / bottom[0], bottom.astype(kind) / bottom[0]


def _filtered(
    kind: Any, coefficients: tuple[Matrix, ...], x: GpuArray, axis: int, state: GpuArray | None
) -> tuple[GpuArray, Any]:
    """Return the response of a filter along an axis and, if one was given, the last state along the last axis."""
    recurrence = recurrences.recurrence(kind, *coefficients, dtype=x.dtype, device=x.device)
    y, after = recurrence.respond(xp.moveaxis(x, axis, -1), state, is_state_wanted=state is not None)
    return xp.moveaxis(y, -1, axis), after


def _floating(*values: Any) -> np.dtype[Any]:
    kind = np.result_type(*(v.dtype if hasattr(v, "dtype") else np.asarray(v).dtype for v in values))
    if kind.kind not in "biufc" or kind == np.float16:
        raise NotImplementedError(f"input type '{kind}' not supported")
    return kind if kind.kind in "fc" else np.dtype(np.float64)


def _finite(original: Callable[..., Any]) -> Callable[[_F], _F]:
    """Let SciPy's function compute on the host if coefficients are not finite."""

    def declare(function: _F) -> _F:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except NotFiniteError:
                return run_counted(original, _NOT_FINITE, args, kwargs)

        return cast(_F, run)

    return declare


@wraps(scipy_signal.lfilter)
def _lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Call SciPy's function, which copies a read-only signal if the response is finite."""
    return scipy_signal.lfilter(b, a, unprotected(x) if isinstance(x, np.ndarray) else x, axis, zi)


@mirrors(scipy_signal.lfilter, kind=COMPOSED, values=("b", "a"), on_host=by_lines(_lfilter, "x", ("zi",)))
@_finite(scipy_signal.lfilter)
def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter signals along an axis by a rational transfer function.

    Parameters
    ----------
    b, a : array_like
        Coefficients of the numerator and of the denominator, of shapes (M,) and (N,).
    x : array_like
        The signals.
    axis : int
        The axis of time.
    zi : array_like, optional
        The state before them, of the shape of ``x`` with ``max(M, N) - 1`` along the axis.

    Returns
    -------
    y : GpuArray
        The filtered signals, of the shape of ``x``.
    zf : GpuArray
        The state after them, if ``zi`` was given.

    Raises
    ------
    ValueError
        If a shape does not fit.
    """
    signal = as_array(x)
    if not signal.ndim:
        raise ValueError("object of too small depth for desired array: x needs an axis")
    operands = [b, a, signal] if zi is None else [b, a, signal, zi]
    kind = _floating(*operands)
    top, bottom = _transfer_function(stop_gradient(b), stop_gradient(a))
    number = normalize_axis(axis, signal.ndim)
    signal = signal.astype(kind, copy=False)
    order = max(len(top), len(bottom)) - 1
    state = None
    if zi is not None:
        state = as_array(zi, signal.device).astype(kind, copy=False)
        state_shape = (*signal.shape[:number], order, *signal.shape[number + 1 :])
        is_fitting = state.ndim == signal.ndim and state.shape[number] == order
        if not is_fitting or any(n not in (1, m) for n, m in zip(state.shape, state_shape, strict=True)):
            raise ValueError(f"Unexpected shape for zi: expected {state_shape}, found {state.shape}.")
        state = xp.moveaxis(xp.broadcast_to(state, state_shape), number, -1)
    if not signal.size:
        if len(bottom) == 1:
            raise ValueError("the signal is empty; a filter of finite impulse response needs at least one sample")
        result, after = signal, state
    elif vary(b, a):
        zeros, poles = (as_array(line, signal.device).reshape(-1).astype(kind, copy=False) for line in (b, a))
        result, after = _coefficients.filtered(zeros, poles, xp.moveaxis(signal, number, -1), state)
        result = xp.moveaxis(result, -1, number)
    elif order and len(bottom) == 1 and state is None:
        shape = [1] * signal.ndim
        shape[number] = len(top)
        taps = as_array(top.astype(kind), signal.device).reshape(shape)
        full = convolve(signal, taps, method="direct")
        keep = [slice(None)] * signal.ndim
        keep[number] = slice(0, signal.shape[number])
        return full[tuple(keep)]
    else:
        result, after = _filtered(recurrences.of_transfer_function, (top, bottom), signal, number, state)
    return result if zi is None else (result, xp.moveaxis(after, -1, number))


def _check_sections(sos: Any) -> Matrix:
    sections = np.atleast_2d(read(sos))
    if sections.ndim != 2:
        raise ValueError("sos array must be 2D")
    if sections.shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    if not (sections[:, 3] == 1).all():
        raise ValueError("sos[:, 3] should be all ones")
    return sections


def _writable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of SciPy with a copy of the sections, which it takes only if they can be written to."""

    @wraps(function)
    def run(sos: Any, *args: Any, **kwargs: Any) -> Any:
        return function(np.array(sos), *args, **kwargs)

    return run


_sosfilt: Final = _writable(scipy_signal.sosfilt)
_sosfiltfilt: Final = _writable(scipy_signal.sosfiltfilt)


@mirrors(_sosfilt, kind=COMPOSED, values=("sos",), on_host=by_lines(_sosfilt, "x", ("zi",)))
@_finite(_sosfilt)
def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter signals along an axis by second-order sections in series.

    Parameters
    ----------
    sos : array_like
        The coefficients of the sections, of shape (K, 6).
    x : array_like
        The signals.
    axis : int
        The axis of time.
    zi : array_like, optional
        The states before them, of shape (K, ..., 2, ...), where ``...`` are the other axes of ``x``.

    Returns
    -------
    y : GpuArray
        The filtered signals, of the shape of ``x``.
    zf : GpuArray
        The states after them, if ``zi`` was given.

    Raises
    ------
    ValueError
        If a shape does not fit.
    """
    sections = _check_sections(stop_gradient(sos))
    signal = as_array(x)
    if not signal.ndim:
        raise ValueError("x must be at least 1D")
    kind = _floating(*([sos, signal] if zi is None else [sos, signal, zi]))
    number = normalize_axis(axis, signal.ndim)
    signal = signal.astype(kind, copy=False)
    count = len(sections)
    others = (*signal.shape[:number], *signal.shape[number + 1 :])
    state = None
    if zi is not None:
        start = as_array(zi, signal.device)
        state_shape = (count, *signal.shape[:number], 2, *signal.shape[number + 1 :])
        if start.shape != state_shape:
            raise ValueError(
                f"Invalid zi shape. With axis={axis!r}, an input with shape {signal.shape!r}, and an sos array with "
                f"{count} sections, zi must have shape {state_shape!r}, got {start.shape!r}."
            )
        moved = xp.moveaxis(start.astype(kind, copy=False), (0, number + 1), (-2, -1))
        state = moved.reshape(*others, 2 * count)
    if not signal.shape[number]:
        raise ValueError(f"the signals have no samples along axis {axis}")
    if not signal.size:
        return signal if zi is None else (signal, as_array(zi, signal.device))
    if vary(sos):
        return _one_by_one(sos, signal, number, zi)
    y, after = _filtered(recurrences.of_sections, (sections,), signal, number, state)
    if zi is None:
        return y
    return y, xp.moveaxis(after.reshape(*others, count, 2), (-2, -1), (0, number + 1))


def _one_by_one(sos: GpuArray, y: GpuArray, axis: int, zi: Any) -> Any:
    """Return the results of :func:`sosfilt`, section by section."""
    states = []
    for number, section in enumerate(sos.reshape(-1, 6)):
        b, a = section[:3], section[3:]
        if zi is None:
            y = lfilter(b, a, y, axis)
        else:
            y, state = lfilter(b, a, y, axis, zi[number])
            states.append(state)
    return y if zi is None else (y, xp.stack(states))


def _extent_of_padding(padtype: Any, padlen: Any, extent: int, ntaps: int) -> int:
    """Return by how many samples a signal is continued at each end before it is filtered in both directions."""
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(
            f"Unknown value '{padtype}' given to padtype. padtype must be 'even', 'odd', 'constant', or None."
        )
    if padtype is None:
        padlen = 0
    edge = ntaps * 3 if padlen is None else index(padlen)
    if extent <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    return edge


def _both_ways(
    respond: Callable[[GpuArray], GpuArray], kind: np.dtype[Any], x: GpuArray, axis: int, edge: int, padtype: Any
) -> GpuArray:
    """Filter forward and backward by a function of lines, from the states of a step as high as the first sample.

    Integers are continued as such, as in SciPy, and may wrap around.
    """
    if not x.size:
        return x.astype(kind)
    line = xp.moveaxis(x, axis, -1)
    if edge:
        line = extended(line, edge, padtype)
    line = line.astype(kind, copy=False)
    for _ in range(2):
        line = respond(line)[..., ::-1]
    if edge:
        line = line[..., edge:-edge]
    return xp.moveaxis(line, -1, axis)


def _from_steady(recurrence: recurrences.Recurrence, steady: Callable[[], Any]) -> Callable[[GpuArray], GpuArray]:
    """Return a filter that starts from the states of a step, which a function of SciPy returns."""
    states = recurrence.kept("steady", steady)
    return lambda line: recurrence.respond(line, line[..., :1] * states, is_state_wanted=False)[0]


def _by_transfer_function(line: GpuArray, b: Any, a: Any) -> GpuArray:
    return lfilter(b, a, line, zi=lfilter_zi(b, a) * line[..., :1])[0]


def _by_sections(line: GpuArray, sos: GpuArray) -> GpuArray:
    states = [state * line[..., :1] for state in sosfilt_zi(sos)]
    return sosfilt(sos, line, zi=xp.stack(states))[0]


@mirrors(
    scipy_signal.filtfilt,
    kind=COMPOSED,
    reason=_GUST,
    values=("b", "a"),
    on_host=by_lines(scipy_signal.filtfilt, "x", ("method",)),
)
@_finite(scipy_signal.filtfilt)
def filtfilt(
    b: Any, a: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: Any = None, method: str = "pad",
    irlen: Any = None,
) -> GpuArray:  # fmt: skip
    """Filter signals along an axis by a transfer function forward and backward, so that no phase is shifted.

    Parameters
    ----------
    b, a : array_like
        Coefficients of the numerator and of the denominator.
    x : array_like
        The signals.
    axis : int
        The axis of time.
    padtype : {"odd", "even", "constant", None}
        How the signals are continued at both ends.
    padlen : int, optional
        By how many samples; by default three times the number of coefficients.
    method : {"pad", "gust"}
        How the ends are treated: the signals are continued there, or states are found for which the order of the
        directions does not matter.
    irlen : int, optional
        After how many samples the impulse response is negligible, for the method "gust".

    Raises
    ------
    ValueError
        If a parameter has another value, or the signals are not longer than ``padlen``.
    """
    if method not in ("pad", "gust"):
        raise ValueError("method must be 'pad' or 'gust'.")
    signal = as_array(x)
    is_varying = method == "pad" and vary(b, a)
    top, bottom = (np.atleast_1d(read(stop_gradient(line) if is_varying else line)) for line in (b, a))
    number = normalize_axis(axis, signal.ndim)
    kind = _floating(top, bottom, signal)
    scaled = _transfer_function(top, bottom)
    recurrence = recurrences.recurrence(recurrences.of_transfer_function, *scaled, dtype=kind, device=signal.device)
    if method == "gust":
        if scaled[0].dtype.kind == "c":
            options = {"method": method, "irlen": irlen}
            return run_counted(scipy_signal.filtfilt, _GUST, (b, a, signal, axis), options)
        if not signal.shape[number]:
            raise ValueError(f"the signals have no samples along axis {axis}")
        line = xp.moveaxis(signal.astype(kind, copy=False), number, -1)
        return xp.moveaxis(in_any_order(recurrence, *scaled, line, irlen), -1, number)
    edge = _extent_of_padding(padtype, padlen, signal.shape[number], max(len(top), len(bottom)))
    if len(bottom) == 1 and not signal.size:
        raise ValueError("the signal is empty; a filter of finite impulse response needs at least one sample")
    if is_varying and max(len(top), len(bottom)) > 1:
        respond: Any = partial(_by_transfer_function, b=b, a=a)
    else:
        respond = _from_steady(recurrence, lambda: scipy_signal.lfilter_zi(top, bottom))
    return _both_ways(respond, kind, signal, number, edge, padtype)


@mirrors(_sosfiltfilt, kind=COMPOSED, values=("sos",), on_host=by_lines(_sosfiltfilt, "x"))
@_finite(_sosfiltfilt)
def sosfiltfilt(sos: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: Any = None) -> GpuArray:
    """Filter signals along an axis by second-order sections forward and backward, so that no phase is shifted.

    Parameters
    ----------
    sos : array_like
        The coefficients of the sections, of shape (K, 6).
    x : array_like
        The signals.
    axis : int
        The axis of time.
    padtype : {"odd", "even", "constant", None}
        How the signals are continued at both ends.
    padlen : int, optional
        By how many samples.

    Raises
    ------
    ValueError
        If a parameter has another value, or the signals are not longer than ``padlen``.
    """
    sections = _check_sections(stop_gradient(sos))
    signal = as_array(x)
    number = normalize_axis(axis, signal.ndim)
    taps = 2 * len(sections) + 1
    taps -= min((sections[:, 2] == 0).sum(), (sections[:, 5] == 0).sum())
    edge = _extent_of_padding(padtype, padlen, signal.shape[number], int(taps))
    kind = _floating(sections, signal)
    recurrence = recurrences.recurrence(recurrences.of_sections, sections, dtype=kind, device=signal.device)
    if vary(sos):
        respond: Any = partial(_by_sections, sos=sos)
    else:
        respond = _from_steady(recurrence, lambda: scipy_signal.sosfilt_zi(sections).ravel())
    return _both_ways(respond, kind, signal, number, edge, padtype)


@mirrors(scipy_signal.deconvolve, kind=COMPOSED)
def deconvolve(signal: Any, divisor: Any) -> tuple[GpuArray, GpuArray]:
    """Return the quotient and the remainder of two signals, of which the first is a convolution with the second.

    Parameters
    ----------
    signal, divisor : array_like
        Of shapes (N,) and (M,).

    Raises
    ------
    ValueError
        If an argument has another number of axes, or no elements.
    """
    whole, divided_by = (xp.atleast_1d(line) for line in as_arrays(signal, divisor))
    for name, line in (("signal", whole), ("divisor", divided_by)):
        if line.ndim > 1 or not line.size:
            raise ValueError(f"Parameter {name} must be non-empty 1d array, but {name}.shape={line.shape}!")
    count = whole.size - divided_by.size + 1
    if count <= 0:
        return as_array(np.zeros(0), whole.device), whole
    pulse = np.zeros(count)
    pulse[0] = 1
    quotient = lfilter(whole, divided_by, pulse)
    return quotient, whole - convolve(divided_by, quotient, mode="full")


__all__ = ["deconvolve", "filtfilt", "lfilter", "sosfilt", "sosfiltfilt"]
