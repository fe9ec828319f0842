"""SciPy's filters by parts, on all threads of the host: each part is some rows, for which a few more are read.

The elements of results do not depend on where rows begin, so that results are SciPy's to the last bit. Parts stay in
the cache of a core while the axes are filtered one after the other.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from inspect import signature
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from gpuarray import thread_pool
from gpuarray.functions.fallback import seen
from gpuarray.providers.inprocess.workers import ChunkTiming
from gpuarray.scipy._calls import is_target, trial
from gpuarray.scipy._threads import LEAST, shared
from gpuarray.scipy.ndimage._arguments import each

#: Elements of a part, which the cache of a core holds.
_PART: Final = 1 << 17
#: From so many elements on compositions of few neighbours take less time than SciPy.
LARGE: Final = 1 << 17
#: The modes in which what lies beyond an edge depends on elements near it.
_NEAR: Final = frozenset(("reflect", "constant", "nearest", "mirror", "grid-mirror", "grid-constant"))


def depends_on_near(a: Any) -> bool:
    """Whether the elements of a filter depend on elements near them, and are a new array."""
    return each(a.mode, a.input.ndim)[0] in _NEAR and getattr(a, "axes", None) is None and not is_target(a.output)


def in_parts(
    function: Callable[..., Any], reach: Callable[[Any], int], is_divisible: Callable[[Any], bool] = depends_on_near
) -> Callable[..., Any]:
    """Return one of SciPy's filters that computes parts of large arrays at the same time.

    Parameters
    ----------
    function : callable
        The filter. Its result has the shape of its first argument.
    reach : callable
        ``reach(arguments)`` returns how many rows away the elements are, at most, that an element depends on. The
        arguments have their names in SciPy; the first one is ``input``.
    is_divisible : callable
        ``is_divisible(arguments)`` returns whether parts can be computed.
    """
    parameters = signature(function)
    first = next(iter(parameters.parameters))

    @lru_cache(maxsize=256)
    def timing(*_call: Any) -> ChunkTiming:
        return ChunkTiming(calls=1)

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        source = args[0] if args else kwargs.get(first)
        if not isinstance(source, np.ndarray) or source.size < LEAST or thread_pool.thread_count() < 2:
            return function(*args, **kwargs)
        try:
            bound = parameters.bind(*args, **kwargs)
            bound.apply_defaults()
            (_, *others), keywords = bound.args, bound.kwargs
            named = {**bound.arguments, **keywords, "input": source}
            arguments = SimpleNamespace(**named)
            apart = reach(arguments) if is_divisible(arguments) else len(source)
            rows = _rows(source, apart)
            dtype = trial(function, source, *others, **keywords) if rows < len(source) else None
        except (TypeError, ValueError, RuntimeError, IndexError, AttributeError):
            dtype = None  # SciPy says what is wrong
        if dtype is None:
            return function(*args, **kwargs)
        result = np.empty(source.shape, dtype)

        def part(number: int) -> None:
            start = number * rows
            begin = max(start - apart, 0)
            target = result[start : start + rows]
            values = function(source[begin : start + rows + apart], *others, **keywords)
            target[...] = values[start - begin : start - begin + len(target)]

        shared(-(-len(source) // rows), part, timing(source.shape, source.dtype, apart))
        return result

    return run


def _rows(source: Any, apart: int) -> int:
    """Return the number of rows of a part; ``apart`` rows before and after it are computed twice."""
    rows: int = max(_PART * len(source) // source.size, 16 * apart)
    return max(min(rows, -(-len(source) // thread_pool.thread_count())), 4 * apart + 4)


def by_window(a: Any) -> int:
    """Return how many rows the window of a filter reaches."""
    arrays = (getattr(a, name, None) for name in ("footprint", "structure", "weights"))
    extents = [np.shape(value)[0] for value in arrays if value is not None] or each(a.size, 1)[:1]
    return _reach(max(extents), a.origin)


def _reach(extent: Any, origin: Any = 0) -> int:
    """Return how many rows a window reaches; those of dilations with even extents lie one row lower."""
    return int(extent) // 2 + 1 + abs(int(each(origin, 1)[0]))


def by_two_windows(a: Any) -> int:
    """Return how many rows a filter of a filter reaches."""
    return 2 * by_window(a)


def by_structure(a: Any) -> int:
    """Return how many rows a step of binary morphology reaches, with all of its repetitions."""
    return int(a.iterations) * _reach(3 if a.structure is None else np.shape(a.structure)[0], a.origin)


def by_two_structures(a: Any) -> int:
    """Return how many rows an opening or a closing reaches."""
    return 2 * by_structure(a)


def has_steps(a: Any) -> bool:
    """Whether binary morphology has a known number of steps, without a mask, and its result is a new array."""
    is_plain = a.mask is None and a.axes is None and not is_target(a.output)
    return is_plain and int(a.iterations) > 0


def by_line(a: Any) -> int:
    """Return how many rows the weights, or the window, along one axis reach."""
    if a.axis not in (0, -a.input.ndim):
        return 0
    return _reach(a.size if hasattr(a, "size") else len(a.weights), a.origin)


def by_image(a: Any) -> int:
    """Return how many rows the second image of a convolution reaches, or the window of medians and ranks."""
    if hasattr(a, "kernel_size"):
        return _reach(np.atleast_1d(a.kernel_size)[0])
    return _reach(len(a.domain if hasattr(a, "domain") else a.in2))


def by_gaussian(a: Any) -> int:
    """Return how many rows a Gaussian, or its derivatives, reach."""
    radius, sigma = (each(value, 1)[0] for value in (getattr(a, "radius", None), a.sigma))
    return 1 + (int(radius) if radius is not None else int(getattr(a, "truncate", 4.0) * float(sigma) + 0.5))


def is_network(a: Any) -> bool:
    """Whether the ranks of windows are selected by a network whose values the cache of a core holds."""
    count = np.sum(a.footprint) if a.footprint is not None else np.prod(each(a.size, a.input.ndim))
    return bool(count <= (49 if a.input.dtype.itemsize <= 4 else 9)) and _is_ordered(a)


def is_narrow(a: Any) -> bool:
    """Whether extremes of windows are those of a few neighbours."""
    count = max(each(a.size, 1)) if a.footprint is None else np.sum(a.footprint)
    return bool(count <= 9) and getattr(a, "structure", None) is None and _is_ordered(a)


def _is_ordered(a: Any) -> bool:
    """Whether SciPy compares elements as they are; others it converts, and where NaN goes depends on its order."""
    if a.output is not None or (a.input.dtype.itemsize > 4 and a.input.dtype.kind != "f"):
        return False
    return not np.isnan(seen(a.input).min()) if a.input.dtype.kind == "f" else a.cval == 0


def is_one_step(a: Any) -> bool:
    """Whether binary morphology takes one step of a few neighbours."""
    return a.iterations == 1 and a.mask is None and (a.structure is None or np.size(a.structure) <= 9)


def by_neighbours(_a: Any) -> int:
    """Return how many rows differences of neighbours reach."""
    return 1
