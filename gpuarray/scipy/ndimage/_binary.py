"""Binary morphology: whether all, or any, of the elements of a window are true."""

from operator import index
from typing import Any, Final

import numpy as np
from scipy import ndimage

from gpuarray.array import GpuArray
from gpuarray.functions import creation
from gpuarray.functions.arguments import as_array, read
from gpuarray.functions.logic import where
from gpuarray.functions.registry import COMPOSED
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions
from gpuarray.scipy._mirror import below, by_name
from gpuarray.scipy.ndimage._arguments import axes_of, checked, each, finished, footprint_of, spread
from gpuarray.scipy.ndimage._boundary import rounded
from gpuarray.scipy.ndimage._parts import LARGE, by_structure, by_two_structures, has_steps, in_parts, is_one_step
from gpuarray.scipy.ndimage._windows import folded

__all__ = [
    "binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes", "binary_hit_or_miss",
    "binary_opening", "binary_propagation",
]  # fmt: skip

#: The number of steps between tests whether anything changes.
_STEPS: Final = 16


def _structure(structure: Any, axes: Any, ndim: int) -> Any:
    """Return a structuring element with an axis for each axis of the array."""
    known = ndimage.generate_binary_structure(len(axes), 1) if structure is None else structure
    return footprint_of(known, None, axes, ndim)


def _step(source: GpuArray, structure: Any, before: Any, border: bool, *, grow: bool) -> GpuArray:
    if not structure.any():  # any of no elements, and all of them
        return creation.full(source.shape, not grow, dtype=bool, device=source.device)
    combine, fold = (ops.logical_or, reductions.any) if grow else (ops.logical_and, reductions.all)
    return folded(source, structure, before, ["constant"] * source.ndim, border, combine, fold)


def _repeated(
    source: GpuArray, structure: Any, a: Any, origin: Any, *, grow: bool, iterations: int, mask: Any, border: bool
) -> GpuArray:
    """Return the dilation or the erosion, repeated; without end until nothing changes if ``iterations`` is below 1."""
    if not source.size:
        return source
    axes = axes_of(a.axes, source.ndim)
    known = _structure(structure, axes, source.ndim)
    listed = each(origin, len(axes))
    if grow:
        known = known[(slice(None, None, -1),) * known.ndim]
        extents = [3] * len(axes) if structure is None else np.shape(structure)
        listed = [-o - (extent % 2 == 0) for o, extent in zip(listed, extents, strict=True)]
    origins = spread(listed, axes, source.ndim)
    before = [extent // 2 + o for extent, o in zip(known.shape, origins, strict=True)]
    allowed = None if mask is None else as_array(mask, source.device).astype(bool)

    def step(current: GpuArray) -> GpuArray:
        result = _step(current, known, before, border, grow=grow)
        return result if allowed is None else where(allowed, result, current)

    if iterations >= 1:
        for _ in range(iterations):
            source = step(source)
        return source
    while True:
        last = source
        for _ in range(_STEPS):
            last, source = source, step(source)
        if not bool((last != source).any().item()):
            return source


def _truth(value: Any) -> GpuArray:
    source = as_array(value)
    return source if source.dtype.kind == "b" else source != 0


def _checked(function: Any, a: Any, **known: Any) -> tuple[GpuArray, Any]:
    mask = getattr(a, "mask", None)
    if mask is not None:
        shape = as_array(mask).shape
        if shape != as_array(a.input).shape:
            raise RuntimeError("mask and input must have equal sizes")
    extra = {name: getattr(a, name) for name in ("iterations", "border_value", "brute_force") if hasattr(a, name)}
    if extra.get("iterations", 1) != 1:
        index(extra["iterations"])
        extra["iterations"] = 1
    source, dtype = checked(function, a.input, output=a.output, axes=a.axes, **extra, **known)
    return source, dtype


def _morphed(function: Any, a: Any, *grows: bool) -> GpuArray:
    structure = None if a.structure is None else np.asarray(read(a.structure), bool)
    source, dtype = _checked(function, a, structure=structure, origin=a.origin)
    result = _truth(source)
    for grow in grows:
        result = _repeated(
            result, structure, a, a.origin, grow=grow, iterations=index(a.iterations), mask=a.mask,
            border=bool(a.border_value),
        )  # fmt: skip
    return finished(rounded(result, dtype), a.output)


@by_name(
    ndimage.binary_erosion, kind=COMPOSED, values=("structure",),
    on_host=in_parts(ndimage.binary_erosion, by_structure, has_steps),
    by_scipy=below(LARGE, ndimage.binary_erosion, is_one_step),
)  # fmt: skip
def binary_erosion(a: Any) -> GpuArray:
    """Return the binary erosion."""
    return _morphed(ndimage.binary_erosion, a, False)


@by_name(
    ndimage.binary_dilation, kind=COMPOSED, values=("structure",),
    on_host=in_parts(ndimage.binary_dilation, by_structure, has_steps),
    by_scipy=below(LARGE, ndimage.binary_dilation, is_one_step),
)  # fmt: skip
def binary_dilation(a: Any) -> GpuArray:
    """Return the binary dilation."""
    return _morphed(ndimage.binary_dilation, a, True)


@by_name(
    ndimage.binary_opening, kind=COMPOSED, values=("structure",),
    on_host=in_parts(ndimage.binary_opening, by_two_structures, has_steps),
    by_scipy=below(LARGE, ndimage.binary_opening, is_one_step),
)  # fmt: skip
def binary_opening(a: Any) -> GpuArray:
    """Return the binary opening, the dilation of the erosion."""
    return _morphed(ndimage.binary_opening, a, False, True)


@by_name(
    ndimage.binary_closing, kind=COMPOSED, values=("structure",),
    on_host=in_parts(ndimage.binary_closing, by_two_structures, has_steps),
    by_scipy=below(LARGE, ndimage.binary_closing, is_one_step),
)  # fmt: skip
def binary_closing(a: Any) -> GpuArray:
    """Return the binary closing, the erosion of the dilation."""
    return _morphed(ndimage.binary_closing, a, True, False)


@by_name(ndimage.binary_propagation, kind=COMPOSED)
def binary_propagation(a: Any) -> GpuArray:
    """Return the dilation inside a mask, repeated until nothing changes."""
    structure = None if a.structure is None else np.asarray(read(a.structure), bool)
    source, dtype = _checked(ndimage.binary_propagation, a, structure=structure, origin=a.origin)
    border = bool(a.border_value)
    result = _repeated(_truth(source), structure, a, a.origin, grow=True, iterations=-1, mask=a.mask, border=border)
    return finished(rounded(result, dtype), a.output)


@by_name(ndimage.binary_fill_holes, kind=COMPOSED)
def binary_fill_holes(a: Any) -> GpuArray:
    """Return an array without holes: what cannot be reached from outside is true."""
    structure = None if a.structure is None else np.asarray(read(a.structure), bool)
    source = as_array(a.input)
    outside = ~_truth(source)
    empty = creation.zeros(source.shape, dtype=bool, device=source.device)
    result = ~_repeated(empty, structure, a, a.origin, grow=True, iterations=-1, mask=outside, border=True)
    return finished(result, a.output)


@by_name(ndimage.binary_hit_or_miss)
def binary_hit_or_miss(a: Any) -> GpuArray:
    """Return where a pattern of true and false elements is found."""
    first, second = (None if s is None else np.asarray(read(s), bool) for s in (a.structure1, a.structure2))
    source, dtype = checked(
        ndimage.binary_hit_or_miss, a.input, first, second, origin1=a.origin1, origin2=a.origin2, output=a.output,
        axes=a.axes,
    )  # fmt: skip
    axes = axes_of(a.axes, source.ndim)
    hit = _structure(first, axes, source.ndim)
    miss = ~hit if second is None else _structure(second, axes, source.ndim)
    origin2 = a.origin1 if a.origin2 is None else a.origin2
    truth = _truth(source)
    if not source.size:
        return finished(rounded(truth, dtype), a.output)
    masks = (
        [extent // 2 + o for extent, o in zip(known.shape, spread(origin, axes, source.ndim), strict=True)]
        for known, origin in ((hit, a.origin1), (miss, origin2))
    )
    result = _step(truth, hit, next(masks), False, grow=False)
    if miss.any():
        result = result & ~_step(truth, miss, next(masks), False, grow=True)
    return finished(rounded(result, dtype), a.output)
