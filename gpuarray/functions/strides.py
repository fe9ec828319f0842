"""Views with other strides: overlapping windows, and any strides within the memory of the array."""

from operator import index
from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array
from gpuarray.functions.registry import native
from gpuarray.graph.layouts import Layout
from gpuarray.graph.shapes import listed, resolve_shape


@native("lib.stride_tricks.sliding_window_view")
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> GpuArray:
    """Return a view with all windows of a given shape."""
    if writeable:
        raise ValueError("windows overlap, and cannot be written to; leave out writeable=True, or write to the array")
    source = as_array(x)
    extents = tuple(index(extent) for extent in listed(window_shape))
    if any(extent < 0 for extent in extents):
        raise ValueError("`window_shape` cannot contain negative values")
    if axis is None:
        axes = tuple(range(source.ndim))
        what = (
            f"Since axis is None, must provide window_shape for all dimensions of `x`; got {len(extents)} window_shape"
        )
    else:
        axes = np.lib.array_utils.normalize_axis_tuple(axis, source.ndim, allow_duplicate=True)
        what = f"Must provide matching length window_shape and axis; got {len(extents)} window_shape"
    if len(extents) != len(axes):
        raise ValueError(f"{what} elements and `x.ndim` or `axis` is {len(axes)}.")
    layout = source._storage_layout()
    shape = list(layout.shape)
    for number, extent in zip(axes, extents, strict=True):
        if shape[number] < extent:
            raise ValueError("window shape cannot be larger than input array shape")
        shape[number] -= extent - 1
    strides = (*layout.strides, *(layout.strides[number] for number in axes))
    return source.view_of(Layout((*shape, *extents), strides, layout.offset), writeable=False)


def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> GpuArray:
    """Return a view with any shape and any strides in bytes, as :func:`numpy.lib.stride_tricks.as_strided`.

    Parameters
    ----------
    x : array_like
        The array.
    shape, strides : sequence of int, optional
        Those of the view; by default those of ``x``.
    subok : bool
        Accepted for compatibility with NumPy.
    writeable : bool
        Whether the view can be written to, provided that its elements do not overlap.

    Raises
    ------
    ValueError
        If elements would be outside of the memory of ``x``, or strides are not multiples of the size of an element.
    """
    source = as_array(x)
    layout = source._storage_layout()
    extents = layout.shape if shape is None else resolve_shape(shape)
    steps = source.strides if strides is None else tuple(map(index, listed(strides)))
    if len(steps) != len(extents) or any(step % source.unit for step in steps):
        raise ValueError(
            f"strides are multiples of {source.unit} bytes, one for each of {len(extents)} axes; {steps} were given"
        )
    steps = tuple(step // source.unit for step in steps)
    ends = [(extent - 1) * step for extent, step in zip(extents, steps, strict=True)]
    lowest, highest = (layout.offset + sum(pick(end, 0) for end in ends) for pick in (min, max))
    if 0 not in extents and not 0 <= lowest <= highest < source.stored().size:
        raise ValueError(
            f"a view of shape {extents} with strides of {steps} elements has elements outside of the array's memory"
        )
    reached = 0
    for step, end in sorted((abs(step), abs(end)) for step, end in zip(steps, ends, strict=True) if end):
        writeable = writeable and step > reached
        reached += end
    writeable = writeable and all(step or extent < 2 for step, extent in zip(steps, extents, strict=True))
    return source.view_of(Layout(extents, steps, layout.offset), writeable=writeable)
