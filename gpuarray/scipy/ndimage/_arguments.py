"""Arguments of filters: values for each axis, and what SciPy says about them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, read
from gpuarray.graph.shapes import normalize_axis
from gpuarray.scipy._calls import is_target, trial, write

#: The types of most arguments that are not sequences, or are not taken for one.
_SINGLE: Final = frozenset((int, float, str, type(None)))


def each(value: Any, count: int) -> list[Any]:
    """Return a value for each axis: those of a sequence, or one value repeated."""
    if type(value) not in _SINGLE and isinstance(value, Iterable) and getattr(value, "shape", True) != ():
        return [*value]
    return [value] * count


def axes_of(axes: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes of a filter, in the order that was given; None stands for all."""
    if axes is None:
        return tuple(range(ndim))
    return tuple(normalize_axis(axis, ndim) for axis in (axes if isinstance(axes, Iterable) else (axes,)))


def checked(function: Callable[..., Any], input: Any, *args: Any, output: Any = None, **kwargs: Any) -> Any:
    """Return the array and the dtype of the result, after SciPy's checks of the arguments."""
    source = as_array(input)
    dtype = output.dtype.type if is_target(output) else output
    return source, np.dtype(trial(function, source, *args, output=dtype, **kwargs))


def output_dtype(output: Any, source: GpuArray) -> Any:
    """Return the dtype that ``output`` specifies: that of an array, a dtype, or that of the source."""
    if output is None:
        return source.dtype
    return np.dtype(output.dtype if is_target(output) else output)


def finished(values: GpuArray, output: Any) -> GpuArray:
    """Return the result of a filter, or the array that was given for it with the result in it."""
    return write(values, output) if is_target(output) else values


def footprint_of(footprint: Any, size: Any, axes: Sequence[int], ndim: int) -> Any:
    """Return a footprint as booleans with an axis for each axis of the array.

    SciPy does not transpose footprints: their axes are those of the filter in ascending order.
    """
    known = np.ones(each(size, len(axes)), bool) if footprint is None else np.asarray(read(footprint), bool)
    shape = [1] * ndim
    for axis, extent in zip(sorted(axes), known.shape, strict=True):
        shape[axis] = extent
    return known.reshape(shape)


def spread(values: Any, axes: Sequence[int], ndim: int) -> list[int]:
    """Return numbers that were given for some axes for all axes, 0 for the others.

    SciPy takes as many numbers as the array has axes in their order, whatever the order of the axes of the filter is.
    """
    listed = [int(value) for value in each(values, len(axes))]
    if len(axes) == ndim:
        return listed
    result = [0] * ndim
    for axis, value in zip(axes, listed, strict=True):
        result[axis] = value
    return result
