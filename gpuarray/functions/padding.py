"""NumPy's ``pad``. Edges are computed and concatenated along one axis after the other."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gpuarray.array import GpuArray, as_element, wrap
from gpuarray.functions import elementwise, reductions
from gpuarray.functions.arguments import along, as_array, concatenated
from gpuarray.functions.at_once import UNSHARED
from gpuarray.functions.manipulation import moveaxis
from gpuarray.functions.quantiles import median
from gpuarray.functions.ranges import linspace
from gpuarray.functions.registry import native
from gpuarray.functions.statistics import mean
from gpuarray.graph import build

__all__ = ["pad"]

#: The keywords that each mode has, with NumPy's defaults.
_KEYWORDS: Final[dict[str, dict[str, Any]]] = {
    "constant": {"constant_values": 0},
    "edge": {},
    "empty": {},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "mean": {"stat_length": None},
    "median": {"stat_length": None},
    "minimum": {"stat_length": None},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "wrap": {},
}
_STATISTICS: Final[dict[str, Callable[..., GpuArray]]] = {
    "maximum": reductions.max,
    "minimum": reductions.min,
    "mean": mean,
    "median": median,
}


def _pairs(value: Any, ndim: int) -> list[tuple[Any, Any]]:
    """Return a (before, after) pair for each axis, as NumPy broadcasts the argument."""
    if isinstance(value, dict):
        table: list[Any] = [value.get(a, value.get(a - ndim, (0, 0))) for a in range(ndim)]
        return [(p, p) if np.ndim(p) == 0 else tuple(p) for p in table]
    return [tuple(pair) for pair in np.broadcast_to(np.asarray(value), (ndim, 2)).tolist()]


def _constant(source: GpuArray, axis: int, width: int, value: Any) -> GpuArray:
    shape = (*source.shape[:axis], width, *source.shape[axis + 1 :])
    return wrap(build.full(shape, as_element(value, source.dtype), source.dtype), source.device)


def _repeated(edge: GpuArray, axis: int, width: int) -> GpuArray:
    """Return an edge of extent 1 ``width`` times."""
    return edge.broadcast((*edge.shape[:axis], width, *edge.shape[axis + 1 :]))


def _statistic(source: GpuArray, axis: int, mode: str, length: Any, *, last: bool) -> GpuArray:
    """Return a statistic of the first or last elements along an axis, with extent 1 there."""
    extent = source.shape[axis]
    count = extent if length is None else min(length, extent)
    if count == 0 and mode in ("maximum", "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    edge = source[along(axis, slice(extent - count, None) if last else slice(0, count))]
    value = _STATISTICS[mode](edge, axis, keepdims=True)
    if source.dtype.kind in "iu" and value.dtype.kind not in "iu":
        value = elementwise.rint(value)
    return value.astype(source.dtype, copy=False)


def _ramp(source: GpuArray, axis: int, width: int, end: Any, *, last: bool) -> Any:
    edge = source[along(axis, -1 if last else 0)]
    ramp = linspace(end, edge, width, endpoint=False, dtype=source.dtype, axis=axis)
    return ramp[along(axis, slice(None, None, -1))] if last else ramp


def _mirrored(source: GpuArray, axis: int, positions: Any, mode: str, kind: str) -> Any:
    """Return the elements at positions outside the array, which is continued by repetition or reflection.

    If ``kind`` is "odd", reflected elements are also subtracted from twice the value at the edge.
    """
    extent = source.shape[axis]
    period = extent - 1 if mode == "reflect" else extent
    times, rest = np.divmod(positions, max(period, 1))
    if mode == "wrap":
        return source[along(axis, rest)]
    is_reflected = times % 2
    mirrored = source[along(axis, np.where(is_reflected, extent - 1 - rest, rest))]
    if kind == "even" or not period:
        return mirrored
    # each reflection changes the sign and adds twice the value at its edge
    lows = np.where(times < 0, (1 - times) // 2, -(times // 2))
    highs = np.where(times < 0, -(-times // 2), (times + 1) // 2)
    shape = (-1,) + (1,) * (source.ndim - 1 - axis)
    signs, low, high = (
        factor.reshape(shape).astype(source.dtype) for factor in (1 - 2 * is_reflected, 2 * lows, 2 * highs)
    )
    return mirrored * signs + source[along(axis, slice(0, 1))] * low + source[along(axis, slice(-1, None))] * high


def _by_function(source: GpuArray, widths: list[tuple[Any, Any]], function: Any, keywords: dict[str, Any]) -> GpuArray:
    """Pad with zeros, and call a function with each line along each axis, which it changes in place."""
    for axis, (before, after) in enumerate(widths):
        edges = (_constant(source, axis, width, 0) for width in (before, after))
        source = concatenated([next(edges), source, next(edges)], axis)
    source = source.copy()
    for axis, pair in enumerate(widths):
        moved = moveaxis(source, axis, -1)
        for index in np.ndindex(moved.shape[:-1]):
            function(moved[index], pair, axis, keywords)
    return source


@native("pad", at_once="multiples", most=UNSHARED)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> GpuArray:
    """Return the array with edges around it; the arguments are those of ``numpy.pad``."""
    source = as_array(array)
    widths = _pairs(pad_width, source.ndim)
    pairs = [np.asarray(width) for width in (pad_width.values() if isinstance(pad_width, dict) else [pad_width])]
    if any(width.dtype.kind not in "iu" for width in pairs):
        raise TypeError("`pad_width` must be of integral type.")
    if any((width < 0).any() for width in pairs):
        raise ValueError("index can't contain negative values")
    if callable(mode):
        return _by_function(source, widths, mode, kwargs)
    if mode not in _KEYWORDS:
        raise ValueError(f"mode {mode!r} is not supported; supported are {', '.join(_KEYWORDS)}")
    unknown = kwargs.keys() - _KEYWORDS[mode].keys()
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode {mode!r}: {unknown}")
    options: Any = (*(_KEYWORDS[mode] | kwargs).values(), None)[0]
    if mode in _STATISTICS and options is None:
        options = (None, None)
    values: list[Any] = [options] * source.ndim if isinstance(options, str) else _ends(options, source.ndim)
    if mode in _STATISTICS:
        lengths = [length for pair in values for length in pair if length is not None]
        if any(length < 0 for length in lengths):
            raise ValueError("index can't contain negative values")
        if mode in ("maximum", "minimum") and 0 in lengths:
            raise ValueError("stat_length of 0 yields no value for padding")
    for axis, (pair, ends) in enumerate(zip(widths, values, strict=True)):
        if any(pair):
            if not source.shape[axis] and mode not in ("constant", "empty"):
                raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
            source = _extended(source, axis, *pair, mode, ends)
    return source if source is not array else source.copy()


def _ends(options: Any, ndim: int) -> list[Any]:
    if options is None or (isinstance(options, tuple) and all(option is None for option in options)):
        return [(None, None)] * ndim
    return _pairs(options, ndim)


def _extended(source: GpuArray, axis: int, before: int, after: int, mode: str, ends: Any) -> GpuArray:
    """Return an array with edges along one axis."""
    edges = []
    for last, width in ((False, before), (True, after)):
        if mode in ("wrap", "reflect", "symmetric"):
            positions = np.arange(width) + (source.shape[axis] if last else -width)
            edge = _mirrored(source, axis, positions, mode, ends)
        elif mode in ("constant", "empty"):
            edge = _constant(source, axis, width, 0 if mode == "empty" else ends[last])
        elif mode == "linear_ramp":
            edge = _ramp(source, axis, width, ends[last], last=last)
        elif mode == "edge":
            edge = _repeated(source[along(axis, slice(-1, None) if last else slice(0, 1))], axis, width)
        else:
            edge = _repeated(_statistic(source, axis, mode, ends[last], last=last), axis, width)
        edges.append(edge)
    return concatenated([edges[0], source, edges[1]], axis)
