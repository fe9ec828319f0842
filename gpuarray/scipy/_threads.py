"""Functions of SciPy on all threads of the host, with SciPy's bits."""

from collections.abc import Callable, Iterable
from contextvars import copy_context
from functools import lru_cache
from typing import Any, Final

import numpy as np
from scipy import fft as scipy_fft

from gpuarray import thread_pool

__all__ = ["elementwise", "with_workers"]

#: Smaller arrays are computed by one thread.
_LEAST: Final = 1 << 16
#: Elements of a part, which the cache of a core holds.
_PART: Final = 1 << 15


@lru_cache(maxsize=1024)
def elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of elements that computes parts of large arrays at the same time.

    Parameters
    ----------
    function : callable
        The function. Its parts must not depend on each other if all arrays among the arguments have one shape.
    """

    def run(*args: Any, **kwargs: Any) -> Any:
        shapes = {a.shape for a in args if isinstance(a, np.ndarray) and a.ndim}
        size = max((a.size for a in args if isinstance(a, np.ndarray)), default=0)
        if size < _LEAST or len(shapes) != 1 or not all(map(_is_single, (*kwargs.values(), *_others(args)))):
            return function(*args, **kwargs)
        lines = [a.reshape(-1) if isinstance(a, np.ndarray) and a.ndim else a for a in args]

        def part(number: int) -> Any:
            piece = slice(number * _PART, (number + 1) * _PART)
            return function(*[a[piece] if isinstance(a, np.ndarray) and a.ndim else a for a in lines], **kwargs)

        first = part(0)
        if type(first) is not np.ndarray or first.shape != (_PART,):
            return function(*args, **kwargs)
        found = np.empty(size, first.dtype)
        found[:_PART] = first
        threads, parts = thread_pool.thread_count(), -(-size // _PART)

        def work(begin: int) -> None:
            for number in range(begin, parts, threads):
                found[number * _PART : (number + 1) * _PART] = part(number)

        # the settings of floating-point errors are those of the caller
        futures = [thread_pool.submit(copy_context().run, work, n) for n in range(2, threads + 1)]
        try:
            work(1)
        finally:
            thread_pool.wait(futures)
        for future in futures:
            future.result()
        return found.reshape(*shapes)

    return run


def _others(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if not isinstance(value, np.ndarray)]


def _is_single(value: Any) -> bool:
    """Whether an argument holds no array."""
    return not isinstance(value, list | tuple | dict) and not (isinstance(value, np.ndarray) and value.ndim)


def with_workers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of SciPy whose Fourier transforms compute lines of large arrays at the same time."""

    def run(*args: Any, **kwargs: Any) -> Any:
        if max((a.size for a in args if isinstance(a, np.ndarray)), default=0) < _LEAST:
            return function(*args, **kwargs)
        with scipy_fft.set_workers(min(thread_pool.thread_count(), thread_pool.core_count())):
            return function(*args, **kwargs)

    return run
