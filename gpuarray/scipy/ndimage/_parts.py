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
from gpuarray.providers.inprocess.workers import ChunkTiming
from gpuarray.scipy._mirror import is_target, trial
from gpuarray.scipy._threads import LEAST, shared
from gpuarray.scipy.ndimage._arguments import each

#: Elements of a part, which the cache of a core holds.
_PART: Final = 1 << 17
#: The modes in which what lies beyond an edge depends on elements near it.
_NEAR: Final = frozenset(("reflect", "constant", "nearest", "mirror", "grid-mirror", "grid-constant"))


def in_parts(function: Callable[..., Any], reach: Callable[[Any], int]) -> Callable[..., Any]:
    """Return one of SciPy's filters that computes parts of large arrays at the same time.

    Parameters
    ----------
    function : callable
        The filter.
    reach : callable
        ``reach(arguments)`` returns how many rows away the elements are, at most, that an element depends on. The
        arguments have their names in SciPy.
    """
    parameters = signature(function)

    @lru_cache(maxsize=256)
    def timing(*_call: Any) -> ChunkTiming:
        return ChunkTiming(calls=1)

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        source = args[0] if args else kwargs.get("input")
        if not isinstance(source, np.ndarray) or source.size < LEAST:
            return function(*args, **kwargs)
        try:
            bound = parameters.bind(*args, **kwargs)
            bound.apply_defaults()
            _, *others = bound.arguments
            given = {name: bound.arguments[name] for name in others}
            rows, apart = _rows(source, SimpleNamespace(**given, input=source), reach)
            dtype = trial(function, source, **given) if rows < len(source) else None
        except (TypeError, ValueError, RuntimeError, IndexError, AttributeError):
            dtype = None  # SciPy says what is wrong
        if dtype is None:
            return function(*args, **kwargs)
        found = np.empty(source.shape, dtype)

        def part(number: int) -> None:
            first = number * rows
            begin = max(first - apart, 0)
            target = found[first : first + rows]
            values = function(source[begin : first + rows + apart], **given)
            target[...] = values[first - begin : first - begin + len(target)]

        shared(-(-len(source) // rows), part, timing(source.shape, source.dtype, apart))
        return found

    return run


def _rows(source: Any, a: Any, reach: Callable[[Any], int]) -> tuple[int, int]:
    """Return how many rows a part has, and how many are read before and after them."""
    if each(a.mode, source.ndim)[0] not in _NEAR or getattr(a, "axes", None) is not None or is_target(a.output):
        return len(source), 0
    apart = reach(a)
    rows = min(_PART * len(source) // source.size, -(-len(source) // thread_pool.thread_count()))
    return max(rows, 4 * apart + 4), apart


def by_window(a: Any) -> int:
    """Return how many rows the window of a filter reaches."""
    given = (getattr(a, name, None) for name in ("footprint", "structure", "weights"))
    extents = [np.shape(value)[0] for value in given if value is not None] or each(a.size, 1)[:1]
    return int(max(extents)) + abs(int(each(a.origin, 1)[0]))


def by_two_windows(a: Any) -> int:
    """Return how many rows a filter of a filter reaches."""
    return 2 * by_window(a)


def by_line(a: Any) -> int:
    """Return how many rows the weights, or the window, along one axis reach."""
    if a.axis not in (0, -a.input.ndim):
        return 0
    extent = a.size if hasattr(a, "size") else len(a.weights)
    return int(extent) + abs(int(a.origin))


def by_gaussian(a: Any) -> int:
    """Return how many rows a Gaussian reaches."""
    radius, sigma = (each(value, 1)[0] for value in (a.radius, a.sigma))
    return 1 + (int(radius) if radius is not None else int(a.truncate * float(sigma) + 0.5))


def by_neighbours(_a: Any) -> int:
    """Return how many rows differences of neighbours reach."""
    return 1
