"""SciPy's filters on all threads of the host: each computes some rows, for which it reads a few more.

The elements of results do not depend on where rows begin, so that results are SciPy's to the last bit.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from gpuarray import thread_pool
from gpuarray.scipy.ndimage._arguments import each

#: Smaller arrays are filtered by one thread.
_LEAST: Final = 1 << 16
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

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        source = args[0] if args else kwargs.get("input")
        if not isinstance(source, np.ndarray) or source.size < _LEAST or (threads := thread_pool.thread_count()) < 2:
            return function(*args, **kwargs)
        try:
            bound = parameters.bind(*args, **kwargs)
            bound.apply_defaults()
            rows = _rows(SimpleNamespace(**bound.arguments), reach, threads)
        except (TypeError, ValueError, IndexError, AttributeError):
            rows = []  # SciPy says what is wrong
        if len(rows) < 2:
            return function(*args, **kwargs)

        def part(first: int, last: int, begin: int, end: int) -> Any:
            values = dict(bound.arguments, input=source[begin:end])
            return function(**values)[first - begin : last - begin]

        futures = [thread_pool.submit(part, *own) for own in rows[1:]]
        try:
            found = [part(*rows[0])]
        finally:
            thread_pool.wait(futures)
        return np.concatenate([*found, *(future.result() for future in futures)])

    return run


def _rows(a: Any, reach: Callable[[Any], int], threads: int) -> list[tuple[int, int, int, int]]:
    """Return the first and last row of each part, and the first and last that it reads; none if one thread computes."""
    length = len(a.input)
    mode = each(a.mode, a.input.ndim)[0]
    if mode not in _NEAR or getattr(a, "axes", None) is not None or isinstance(a.output, np.ndarray):
        return []
    apart = reach(a)
    parts = min(threads, length // (4 * apart + 4))
    ends = [length * k // parts for k in range(parts + 1)] if parts > 1 else []
    return [(first, last, max(first - apart, 0), min(last + apart, length)) for first, last in pairwise(ends)]


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
