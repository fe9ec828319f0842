"""Functions that call a Python function, and iteration over elements.

The Python function is called with arrays, and what it does is recorded. ``vectorize`` and ``nditer`` give it single
elements instead, on the host.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, as_arrays, gpu_arrays
from gpuarray.functions.fallback import on_host
from gpuarray.functions.joining import stack
from gpuarray.functions.manipulation import expand_dims, moveaxis
from gpuarray.functions.registry import implements
from gpuarray.graph.shapes import normalize_axis

__all__ = ["apply_along_axis", "apply_over_axes", "nditer", "piecewise", "vectorize"]


@implements("apply_along_axis")
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> GpuArray:
    """Apply a function to the 1-d slices along an axis."""
    source = as_array(arr)
    number = normalize_axis(axis, source.ndim)
    moved = moveaxis(source, number, -1)
    indices = list(np.ndindex(moved.shape[:-1]))
    if not indices:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [as_array(func1d(moved[index], *args, **kwargs), source.device) for index in indices]
    first = results[0]
    if any(result.shape != first.shape for result in results):
        raise ValueError(f"func1d must return arrays of one shape, and returned {sorted({p.shape for p in results})}")
    joined = stack([each if each.dtype is first.dtype else each.astype(first.dtype) for each in results])
    joined = joined.reshape(*moved.shape[:-1], *first.shape)
    lead = moved.ndim - 1
    return joined.transpose([*range(number), *range(lead, joined.ndim), *range(number, lead)])


@implements("apply_over_axes")
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> GpuArray:
    """Apply a function over several axes, one after the other."""
    value = as_array(a)
    ndim = value.ndim
    for axis in (axes,) if np.ndim(axes) == 0 else axes:
        number = axis + ndim if axis < 0 else axis
        reduced = as_array(func(value, number), value.device)
        if reduced.ndim != value.ndim:
            reduced = expand_dims(reduced, number)
        if reduced.ndim != value.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        value = reduced
    return value


@implements("piecewise")
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> GpuArray:
    """Evaluate functions on the parts of an array that conditions select."""
    source = as_array(x)
    alone = condlist.ndim == 0 if isinstance(condlist, GpuArray) else np.isscalar(condlist)
    one = alone or (not isinstance(condlist[0], list) and not np.ndim(condlist[0]) and source.ndim != 0)
    masks = [mask.astype(bool) for mask in as_arrays(*([condlist] if one else condlist))]
    if len(funclist) == len(masks) + 1:
        rest: GpuArray = ~masks[0]
        for mask in masks[1:]:
            rest = rest & ~mask
        masks.append(rest)
    elif len(funclist) != len(masks):
        count = len(masks)
        raise ValueError(
            f"with {count} condition(s), either {count} or {count + 1} functions are expected, not {len(funclist)}"
        )
    result = source.copy()
    result[...] = 0
    for mask, function in zip(masks, funclist, strict=True):
        if not callable(function):
            result[mask] = function
            continue
        chosen = source[mask]
        if chosen.size:
            result[mask] = function(chosen, *args, **kw)
    return result


class vectorize(np.vectorize):  # noqa: N801  # NumPy's name
    """Calls a Python function for each element, as :class:`numpy.vectorize`.

    The host calls it, on a copy of the elements; results are arrays of this package. Functions of arrays, with
    :func:`gpuarray.where` for conditions, run on the device instead.

    Examples
    --------
    >>> import gpuarray as xp
    >>> larger = xp.vectorize(lambda a, b: a if a > b else b)
    >>> larger(xp.asarray([1, 5]), 3).tolist()
    [3, 5]
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the function's results for the elements of arrays, which broadcast."""
        return on_host(super().__call__, args, kwargs, "a Python function is called for each element", "vectorize")


def nditer(op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **kwargs: Any) -> np.nditer:
    """Return an iterator over the elements of arrays, a :class:`numpy.nditer` of copies on the host.

    Parameters
    ----------
    op : array_like or sequence of array_like
        The operands.
    flags : sequence of str, optional
        As in NumPy.
    op_flags : sequence of sequence of str, optional
        As in NumPy.
    *args, **kwargs
        Other parameters of NumPy's class.

    Raises
    ------
    TypeError
        If an array of this package is to be written to.
    """
    operands = op if isinstance(op, tuple | list) else (op,)
    flags_of = _by_operand(op_flags, len(operands))
    written = [x for x, flags in zip(operands, flags_of, strict=False) if "readonly" not in flags]
    if next(gpu_arrays(written), None) is not None:
        raise TypeError(
            "nditer cannot write to a GpuArray, as it would write to a copy; compute with whole arrays, or iterate "
            "over gpuarray.asnumpy(x) and assign the result with x[...] = host"
        )
    return np.nditer(op, flags, op_flags, *args, **kwargs)


def _by_operand(op_flags: Any, count: int) -> Sequence[Sequence[str]]:
    """Return the flags of each operand. A single list of texts applies to all operands."""
    if not op_flags:
        return [("readonly",)] * count
    return [op_flags] * count if isinstance(op_flags[0], str) else [*op_flags]
