"""Functions that run on the host, mapped over a batch: one call computes the results for all elements."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff.containers import leaves, rebuilt
from gpuarray.errors import BatchingError
from gpuarray.graph import tape

#: Runs a function with positional and keyword arguments.
Run: TypeAlias = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


def over_batch(run: Run, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what a function of NumPy arrays returns for one element of the innermost batch on which arrays depend.

    Parameters
    ----------
    run : callable
        Runs a function with values in place of arrays. It is called once, with a function that loops over the elements.
    function : callable
        The function.
    args, kwargs
        Its arguments.

    Returns
    -------
    object
        NotImplemented if no array depends on a batch.

    Raises
    ------
    BatchingError
        If results are not arrays of numbers, or their shapes differ, or the batch is empty.
    """
    arrays = [leaf for leaf in leaves((args, kwargs)) if isinstance(leaf, GpuArray)]
    nodes = [array.node() for array in arrays]
    batches = [batch for node in nodes if (batch := tape.batch_of(node)) is not None]
    if not batches:
        return NotImplemented
    batch = max(batches, key=lambda batch: batch.level)
    if not batch.size:
        raise BatchingError(
            "a batch without elements does not show the shapes of results that are computed on the host"
        )
    own = batch.batched(nodes, arrays[0].device)
    stacks = [array if node is None else wrap(node, array.device) for array, node in zip(arrays, own, strict=True)]

    def for_all(*values: Any) -> Any:
        results = []
        for i in range(batch.size):
            elements = iter([v if node is None else v[i] for v, node in zip(values, own, strict=True)])
            changed = rebuilt((args, kwargs), lambda leaf: next(elements) if isinstance(leaf, GpuArray) else leaf)  # noqa: B023
            results.append(function(*changed[0], **changed[1]))
        return _stacked(results, nodes)

    result = run(for_all, tuple(stacks), {})
    return rebuilt(result, lambda leaf: wrap(batch.placeholder(leaf.node()), leaf.device))


def _stacked(results: list[Any], nodes: list[Any]) -> Any:
    """Return the results for the elements of a batch, given the arguments for one, as arrays for all elements."""
    first = results[0]
    if isinstance(first, tuple | list):
        if len({*map(len, results)}) != 1:
            tape.check_batched(nodes, is_shape=True)
        items = [_stacked([*each], nodes) for each in zip(*results, strict=True)]
        return type(first)(*items) if hasattr(first, "_fields") else tuple(items)
    if all(result is None for result in results):
        return None
    arrays = [np.asarray(result) for result in results]
    if len({array.shape for array in arrays}) != 1:
        tape.check_batched(nodes, is_shape=True)
    stack = np.stack(arrays)
    if not dtypes.is_supported(stack.dtype):
        tape.check_batched(nodes)
    return stack
