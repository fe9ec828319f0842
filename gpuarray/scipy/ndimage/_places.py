"""SciPy's functions of elements at coordinates, and of splines, on all threads of the host, with SciPy's bits."""

import platform
from collections.abc import Callable
from functools import lru_cache, reduce, wraps
from inspect import signature
from operator import add
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from scipy import ndimage

from gpuarray import thread_pool
from gpuarray.providers.inprocess.workers import ChunkTiming
from gpuarray.scipy._calls import is_target, trial
from gpuarray.scipy._threads import LEAST, by_lines, is_large, shared
from gpuarray.scipy.ndimage._interpolation import Places

#: Elements of a part that a thread computes.
_PART: Final = 1 << 15
#: Whether SciPy rounds each product of a matrix and coordinates, as NumPy does. Compilers for other processors join it
#: with a sum.
ROUNDS_PRODUCTS: Final = platform.machine() in ("x86_64", "AMD64")

_TIMINGS: Final = lru_cache(maxsize=64)(lambda *_call: ChunkTiming(calls=1))

spline_lines = by_lines(ndimage.spline_filter1d, "input", ("output",))


@wraps(ndimage.spline_filter)
def spline(input: Any, order: Any = 3, output: Any = np.float64, mode: Any = "mirror") -> Any:
    """Run SciPy's filter, of large arrays along one axis after the other."""
    if not is_large((input,)) or output is not np.float64 or order not in range(2, 6):
        return ndimage.spline_filter(input, order, output, mode)
    for axis in range(input.ndim):
        input = spline_lines(input, order, axis, mode=mode)
    return input


def at_places(original: Callable[..., Any], places: Callable[[Any], Places | None]) -> Callable[..., Any]:
    """Return one of SciPy's functions that computes parts of large arrays at the same time.

    Parameters
    ----------
    original : callable
        The function.
    places : callable
        ``places(arguments)`` returns the positions of results; None if SciPy takes less time than finding them does.
    """
    parameters = signature(original)

    @wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = parameters.bind(*args, **kwargs)
            bound.apply_defaults()
            a = SimpleNamespace(**bound.arguments)
            known = places(a) if _is_divisible(a, a.input.size) else None
            others = {name: None if name == "output_shape" else value for name, value in bound.arguments.items()}
            dtype = None if known is None else trial(original, others.pop("input"), **others)
        except (TypeError, ValueError, RuntimeError, IndexError, AttributeError):
            known = None  # SciPy says what is wrong
        if known is None or not np.prod(known.shape):
            return original(*args, **kwargs)
        axes = [terms for terms in known.axes if terms is not None]
        result = np.empty(known.shape, dtype)

        def part(rows: slice) -> tuple[Any, Any]:
            target = result[rows]
            coordinates = np.empty((len(axes), *target.shape))
            for line, terms in zip(coordinates, axes, strict=True):
                line[...] = reduce(add, [_along(axis, values, rows, target.ndim) for axis, values in terms])
            return coordinates, target

        return _by_parts(a, result, len(result), part)

    return run


@wraps(ndimage.map_coordinates)
def mapped(
    input: Any, coordinates: Any, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:  # fmt: skip
    """Run SciPy's function with parts of many coordinates at the same time."""
    source, points = np.asarray(input), np.asarray(coordinates)
    a = SimpleNamespace(input=source, output=output, order=order, mode=mode, cval=cval, prefilter=prefilter)
    if points.ndim < 2 or not _is_divisible(a, points.size):
        return ndimage.map_coordinates(input, coordinates, output, order, mode, cval, prefilter)
    positions = points.reshape(len(points), -1)
    dtype = trial(ndimage.map_coordinates, source, positions[:, :1], output, order, mode, cval, prefilter)
    result = np.empty(points.shape[1:], dtype)
    lines = result.reshape(-1)
    return _by_parts(a, result, lines.size, lambda piece: (positions[:, piece], lines[piece]))


def _is_divisible(a: Any, size: int) -> bool:
    """Whether threads share the elements of a result, which is a new array, and SciPy does not extend the source."""
    is_extended = a.order > 1 and a.prefilter and a.mode in ("nearest", "grid-constant")
    is_shared = size >= LEAST and thread_pool.thread_count() > 1
    return is_shared and a.input.dtype.kind != "c" and not is_target(a.output) and not is_extended


def _along(axis: int, values: Any, rows: slice, ndim: int) -> Any:
    """Return the values along an axis of the result, in some of its rows."""
    return (values if axis else values[rows]).reshape([-1 if axis == number else 1 for number in range(ndim)])


def _by_parts(a: Any, result: Any, count: int, part: Callable[[slice], tuple[Any, Any]]) -> Any:
    """Write the elements at coordinates to a result, parts of it at the same time.

    Parameters
    ----------
    a : SimpleNamespace
        The arguments of SciPy's function.
    result : ndarray
        The result.
    count : int
        How many lines it has.
    part : callable
        ``part(lines)`` returns the coordinates of some lines, and where to write their elements.
    """
    is_filtered = a.prefilter and a.order > 1
    source = spline(a.input, a.order, np.float64, a.mode) if is_filtered else a.input
    step = max(_PART * count // result.size, 1)

    def work(number: int) -> None:
        coordinates, target = part(slice(number * step, (number + 1) * step))
        ndimage.map_coordinates(source, coordinates, target, a.order, a.mode, a.cval, False)

    shared(-(-count // step), work, _TIMINGS(source.ndim, a.order))
    return result
