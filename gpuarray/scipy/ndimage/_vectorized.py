"""Filters by functions of arrays."""

from typing import Any

import numpy as np
from scipy import ndimage

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, read
from gpuarray.scipy._mirror import mirrors
from gpuarray.scipy.ndimage._arguments import axes_of, by_name, finished, footprint_of, output_dtype, spread
from gpuarray.scipy.ndimage._windows import along_last

__all__ = ["vectorized_filter"] if hasattr(ndimage, "vectorized_filter") else []

if __all__:

    @mirrors(ndimage.vectorized_filter, by_scipy=False)
    @by_name(ndimage.vectorized_filter)
    def vectorized_filter(a: Any) -> GpuArray:
        """Return what a function of arrays computes of windows along ``axis``, which is the last one."""
        source = as_array(a.input)
        if (a.size is None) == (a.footprint is None):
            raise ValueError("Either `size` or `footprint` must be provided." if a.size is None else
                             "Either `size` or `footprint` may be provided, not both.")  # fmt: skip
        footprint = None if a.footprint is None else np.asarray(read(a.footprint), bool)
        axes = axes_of(a.axes, source.ndim)
        known = footprint_of(footprint, a.size, axes, source.ndim)
        origins = spread(0 if a.origin is None else a.origin, axes, source.ndim)
        before = [extent // 2 + o for extent, o in zip(known.shape, origins, strict=True)]
        cval = 0 if a.cval is None else a.cval
        if a.mode == "valid":
            widths = [(lead, extent - 1 - lead) for extent, lead in zip(known.shape, before, strict=True)]
            lines = along_last(source, known, before, ["nearest"] * source.ndim, cval)
            inside = zip(widths, source.shape, strict=True)
            lines = lines[tuple(slice(first, extent - last) for (first, last), extent in inside)]
        else:
            lines = along_last(source, known, before, [a.mode] * source.ndim, cval)
        found = as_array(a.function(lines, axis=-1), source.device)
        return finished(found.astype(output_dtype(a.output, found), copy=False), a.output)
