"""Connected parts of an array."""

from typing import Any

import numpy as np
from scipy import ndimage

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array, elements_at, read
from gpuarray.functions.logic import where
from gpuarray.functions.ranges import arange
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph import build, tape, tracing
from gpuarray.ops import images
from gpuarray.runtime import evaluate
from gpuarray.scipy._calls import is_target, trial, write
from gpuarray.scipy._mirror import by_name
from gpuarray.scipy._repeats import repeated

__all__ = ["label"]


def _roots(inside: GpuArray, structure: Any) -> GpuArray:
    """Return for each element the position of the first element of its part; outside parts the size of the array."""
    steps = [tuple(index) for index in (np.argwhere(structure) - 1).tolist()]
    before = tuple(step for step in steps if step < (0,) * inside.ndim)
    node = build.call_one(images.first_of_part, (inside.node(),), inside.shape, dtypes.int32, before=before)
    return make(node, inside.device)


def _labels(input: Any, structure: Any, output: Any) -> Any:
    """Return SciPy's labels alone."""
    return ndimage.label(input, structure, output)[0]


def _labelled(source: GpuArray, structure: Any, dtype: Any) -> tuple[GpuArray, GpuArray]:
    """Return the labels of elements, and the largest one."""
    known = ndimage.generate_binary_structure(source.ndim, 1) if structure is None else structure.astype(bool)
    inside = source if source.dtype.kind == "b" else source != 0
    roots = _roots(inside, known).reshape(-1)
    is_root = roots == arange(source.size, dtype=np.int32, device=source.device)
    numbers = is_root.astype(np.int32).cumsum(0, dtype=np.int32)
    first = elementwise.minimum(roots, np.int32(source.size - 1))
    labels = where(inside, elements_at(numbers, first).reshape(source.shape), np.int32(0)).astype(dtype)
    return labels, make(numbers[-1:].node(), source.device)


@by_name(ndimage.label, kind=COMPOSED)
def label(a: Any) -> Any:
    """Return an array with a number for each connected part, and how many parts there are.

    While ``jit`` or ``vmap`` record, the number of parts is an array without axes.
    """
    source = as_array(a.input)
    structure = None if a.structure is None else np.asarray(read(a.structure))
    output = a.output.dtype if is_target(a.output) else a.output
    dtype = trial(_labels, source, structure, output)
    if is_target(a.output) and a.output.shape != source.shape:
        raise ValueError("input and output must have the same shape")
    if source.size and source.ndim:
        labels, last = repeated(_labelled, (source, structure, dtype), {})
    else:
        inside = source != 0
        last = inside.astype(np.int32).sum()
        labels = inside.astype(dtype)
    count: Any = last.reshape(())
    if tracing.active() is None and tape.batch_of(labels.node()) is None:
        evaluate.evaluate((labels.node(), count.node()), labels.device)
        count = int(count.item())
    if not is_target(a.output):
        return labels, count
    write(labels, a.output)
    return count
