"""Arguments of filters: values for each axis, and what SciPy says about them."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array
from gpuarray.graph import build
from gpuarray.scipy._mirror import is_target, trial, write


def each(value: Any, count: int) -> list[Any]:
    """Return a value for each axis: those of a sequence, or one value repeated."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [*value]
    return [value] * count


def axes_of(axes: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes of a filter, in the order that was given; None stands for all."""
    if axes is None:
        return tuple(range(ndim))
    return tuple(build.normalize_axis(axis, ndim) for axis in (axes if isinstance(axes, Iterable) else (axes,)))


def checked(function: Callable[..., Any], input: Any, *args: Any, output: Any = None, **kwargs: Any) -> Any:
    """Return the array and the dtype of the result, after SciPy's checks of the arguments."""
    source = as_array(input)
    wanted = output.dtype.type if is_target(output) else output
    return source, np.dtype(trial(function, source, *args, output=wanted, **kwargs))


def finished(found: GpuArray, output: Any) -> GpuArray:
    """Return the result of a filter, or the array that was given for it with the result in it."""
    result: GpuArray = write(found, output) if is_target(output) else found
    return result
