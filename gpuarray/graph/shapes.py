"""Arguments that are shapes or axes, and broadcasting, with NumPy's errors."""

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, TypeAlias

import numpy as np

from gpuarray.graph.layouts import Layout, Shape, broadcast

AxisArgument: TypeAlias = int | Sequence[int] | None


def is_single(value: Any) -> bool:
    """Whether an argument is a number, a 0-d array or another object that is not a sequence."""
    return not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0


def listed(value: Any) -> tuple[Any, ...]:
    """Return the items of a sequence or array as a tuple; anything else as a tuple of one item."""
    return value if type(value) is tuple else (value,) if is_single(value) else tuple(value)


def resolve_shape(shape: Any, size: int | None = None) -> Shape:
    """Return a shape argument as a tuple of integers; -1 is inferred if ``size`` is given.

    Raises
    ------
    TypeError
        If an extent is not an integer.
    ValueError
        If an extent is negative, or the sizes differ.
    """
    if type(shape) is int and shape >= 0 and size is None:
        return (shape,)
    extents = listed(shape)
    try:
        numbers = [e.__index__() for e in extents]
    except AttributeError:
        raise TypeError(f"a shape is an integer or a tuple of integers, not {shape!r}") from None
    if size is not None:
        unknown = [i for i, n in enumerate(numbers) if n == -1]
        known = 1
        for n in numbers:
            known *= 1 if n == -1 else n
        if len(unknown) == 1 and known > 0 and size % known == 0:
            numbers[unknown[0]] = size // known
        elif len(unknown) > 1:
            raise ValueError("can only specify one unknown dimension")
        elif unknown or known != size:
            raise ValueError(f"cannot reshape array of size {size} into shape {tuple(numbers)}")
    if numbers and min(numbers) < 0:
        raise ValueError(f"negative dimensions are not allowed: {tuple(numbers)}")
    return tuple(numbers)


def normalize_axis(axis: Any, ndim: int) -> int:
    """Return ``axis`` counted from the front.

    Raises
    ------
    numpy.exceptions.AxisError
        If the axis is out of bounds.
    """
    number = index(axis)
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(number, ndim)
    return number + ndim if number < 0 else number


def normalize_axes(axis: AxisArgument, ndim: int) -> tuple[int, ...]:
    """Return the axes in ``axis`` in ascending order; None stands for all.

    Raises
    ------
    numpy.exceptions.AxisError
        If the axis is out of bounds.
    ValueError
        If an axis occurs twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is tuple and len(axis) == 1:
        return (normalize_axis(axis[0], ndim),)
    if isinstance(axis, tuple | list):
        axes = tuple(sorted(normalize_axis(a, ndim) for a in axis))
        if len(set(axes)) != len(axes):
            raise ValueError(f"duplicate value in 'axis': {axis}")
        return axes
    return (normalize_axis(axis, ndim),)


def broadcast_shapes(first: Shape, second: Shape) -> Shape:
    """Return the shape to which two shapes broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.
    """
    if first == second or not second:
        return first
    if not first:
        return second
    shapes = first, second
    if len(first) < len(second):
        first, second = second, first
    lead = len(first) - len(second)
    result = list(first)
    for axis, extent in enumerate(second, lead):
        current = result[axis]
        if current == 1:
            result[axis] = extent
        elif extent not in (1, current):
            raise ValueError(
                f"operands could not be broadcast together with shapes {shapes[0]} and {shapes[1]}: "
                f"extents {current} and {extent} differ and neither is 1"
            )
    return tuple(result)


def broadcast_to(shape: Shape, target: Shape) -> Layout:
    """Return the layout that broadcasts ``shape`` to ``target``.

    Raises
    ------
    ValueError
        If ``shape`` does not broadcast to ``target``.
    """
    lead = len(target) - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, target[lead:], strict=True)):
        raise ValueError(f"could not broadcast input array from shape {shape} into shape {target}")
    return broadcast(shape, target)
