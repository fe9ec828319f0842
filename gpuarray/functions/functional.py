"""NumPy's functions that call a Python function: it is given arrays of the device, and what it does is recorded."""

from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, as_arrays, concatenated
from gpuarray.functions.manipulation import expand_dims, moveaxis
from gpuarray.functions.registry import implements
from gpuarray.graph import build

__all__ = ["apply_along_axis", "apply_over_axes", "piecewise"]


@implements("apply_along_axis")
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a function to the 1-d slices along an axis."""
    source: Any = as_array(arr)
    number = build.normalize_axis(axis, source.ndim)
    moved = moveaxis(source, number, -1)
    places = list(np.ndindex(moved.shape[:-1]))
    if not places:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = [as_array(func1d(moved[place], *args, **kwargs), source.device) for place in places]
    first = found[0]
    if any(part.shape != first.shape for part in found):
        raise ValueError(f"func1d must return arrays of one shape, and returned {sorted({p.shape for p in found})}")
    joined = concatenated([part.reshape(1, *first.shape) for part in found], 0, first.dtype)
    joined = joined.reshape(*moved.shape[:-1], *first.shape)
    lead = moved.ndim - 1
    return joined.transpose([*range(number), *range(lead, joined.ndim), *range(number, lead)])


@implements("apply_over_axes")
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """Apply a function over several axes, one after the other."""
    value = as_array(a)
    ndim = value.ndim
    for axis in (axes,) if np.ndim(axes) == 0 else axes:
        number = axis + ndim if axis < 0 else axis
        found = as_array(func(value, number), value.device)
        if found.ndim != value.ndim:
            found = expand_dims(found, number)
        if found.ndim != value.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        value = found
    return value


@implements("piecewise")
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
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
