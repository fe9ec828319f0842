"""Functions of SciPy on all threads of the host, with SciPy's bits."""

from collections.abc import Callable, Iterable, Iterator
from contextvars import copy_context
from functools import lru_cache, wraps
from inspect import signature
from typing import Any, Final

import numpy as np
from scipy import fft as scipy_fft

from gpuarray import thread_pool
from gpuarray.providers.inprocess.workers import ChunkTiming, WorkerPool

__all__ = ["LEAST", "by_lines", "elementwise", "shared", "with_workers"]

#: Smaller arrays are computed by one thread.
LEAST: Final = 1 << 16
#: The most elements of a part, which the cache of a core holds.
_PART: Final = 1 << 16
#: The same of lines: functions prepare their parameters again for each part.
_LINES: Final = 1 << 18

_POOL: Final = WorkerPool()


def shared(count: int, work: Callable[[int], None], timing: ChunkTiming) -> None:
    """Call a function with all numbers below ``count``, on as many threads as gain from it.

    Threads have the settings of floating-point errors of the caller.

    Parameters
    ----------
    count : int
        How many parts the work has.
    work : callable
        Does one part of it.
    timing : ChunkTiming
        How long the parts took before.
    """
    context = copy_context()

    def draw(numbers: Iterator[int]) -> None:
        for number in numbers:
            work(number)

    _POOL.run(count, lambda numbers: context.copy().run(draw, numbers), timing)


@lru_cache(maxsize=1024)
def elementwise(function: Callable[..., Any], calls: int = 1) -> Callable[..., Any]:
    """Return a function of elements that computes parts of large arrays at the same time.

    Parameters
    ----------
    function : callable
        The function. Its parts must not depend on each other if all arrays among the arguments have one shape.
    calls : int
        About how many functions of NumPy it calls.
    """
    timing = ChunkTiming(calls)
    is_ufunc = isinstance(function, np.ufunc)

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if not (is_large(args) and thread_pool.thread_count() > 1):
            return function(*args, **kwargs)
        arrays = [a for a in args if isinstance(a, np.ndarray) and a.ndim]
        shapes = {a.shape for a in arrays}
        if len(shapes) != 1 or not all(map(_is_single, (*kwargs.values(), *_others(args)))):
            return function(*args, **kwargs)
        size = arrays[0].size
        lines = [a.reshape(-1) if isinstance(a, np.ndarray) and a.ndim else a for a in args]

        def part(piece: slice, **into: Any) -> Any:
            pieces = [a[piece] if isinstance(a, np.ndarray) and a.ndim else a for a in lines]
            return function(*pieces, **kwargs, **into)

        sample = part(slice(1))  # options such as ``complex`` determine the dtype and the number of results
        if type(sample) is not np.ndarray or sample.shape != (1,):
            return function(*args, **kwargs)
        result = np.empty(size, sample.dtype)
        parts = -(-size // _PART)
        step = -(-size // parts)

        def work(number: int) -> None:
            piece = slice(number * step, (number + 1) * step)
            if is_ufunc:
                part(piece, out=result[piece])
            else:
                result[piece] = part(piece)

        shared(parts, work, timing)
        return result.reshape(*shapes)

    return run


def by_lines(function: Callable[..., Any], name: str, others: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Return a function of the lines along one axis that computes groups of lines of large arrays at the same time.

    Parameters
    ----------
    function : callable
        The function, with a parameter ``axis``. Its result has the axes of one of its arguments, and its extents along
        all of them but that one.
    name : str
        The parameter of this argument.
    others : tuple of str
        Parameters with which lines depend on each other, or are written to, unless they have their defaults.
    """
    parameters = signature(function)
    has_target = "output" in parameters.parameters
    timing = ChunkTiming(calls=1)

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if not (is_large(args, 2) and thread_pool.thread_count() > 1):
            return function(*args, **kwargs)
        bound = parameters.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        source, axis = arguments[name], arguments["axis"]
        is_line = (
            not isinstance(source, np.ndarray)
            or source.ndim < 2
            or any(arguments[other] is not parameters.parameters[other].default for other in others)
        )
        if is_line or not -source.ndim <= axis < source.ndim:
            return function(*args, **kwargs)
        across = max((a for a in range(source.ndim) if a != axis % source.ndim), key=source.shape.__getitem__)
        lines = np.moveaxis(source, across, 0)
        step = max(1, _LINES * len(lines) // source.size)
        if step >= len(lines):
            return function(*args, **kwargs)

        def part(piece: slice, **into: Any) -> Any:
            return function(**(arguments | {name: np.moveaxis(lines[piece], 0, across)} | into))

        sample = part(slice(1))
        shape = list(sample.shape)
        shape[across] = len(lines)
        result = np.empty(shape, sample.dtype)
        targets = np.moveaxis(result, across, 0)

        def work(number: int) -> None:
            piece = slice(number * step, (number + 1) * step)
            target = np.moveaxis(targets[piece], 0, across)
            if has_target:
                part(piece, output=target)
            else:
                target[...] = part(piece)

        shared(-(-len(lines) // step), work, timing)
        return result

    return run


def is_large(values: Iterable[Any], axes: int = 0) -> bool:
    """Whether there is an array among values that threads share, with at least as many axes."""
    for value in values:  # noqa: SIM110  # a generator would take longer than the test
        if isinstance(value, np.ndarray) and value.size >= LEAST and value.ndim >= axes:
            return True
    return False


def _others(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if not isinstance(value, np.ndarray)]


def _is_single(value: Any) -> bool:
    """Whether an argument holds no array."""
    return not isinstance(value, list | tuple | dict) and not (isinstance(value, np.ndarray) and value.ndim)


def with_workers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of SciPy whose Fourier transforms compute lines of large arrays at the same time."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if not is_large(args):
            return function(*args, **kwargs)
        with scipy_fft.set_workers(min(thread_pool.thread_count(), thread_pool.core_count())):
            return function(*args, **kwargs)

    return run
