"""The function that maps functions over batches, under JAX's name."""

import functools
from collections.abc import Callable, Iterable, Sequence
from operator import index
from typing import Any

from gpuarray.array import GpuArray, wrap
from gpuarray.array.operands import default_device, device_of
from gpuarray.autodiff import batched_nodes as _batched_nodes  # noqa: F401  # sets the rules
from gpuarray.autodiff import containers
from gpuarray.autodiff.arguments import Function, P
from gpuarray.autodiff.batches import Batch, moved
from gpuarray.autodiff.linearized import array_of
from gpuarray.errors import BatchingError
from gpuarray.graph import tape
from gpuarray.graph.nodes import Node

__all__ = ["vmap"]


def vmap(fun: Function[P], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Return a function that maps ``fun`` over an axis of its arguments, as a loop and a stack would, in one go.

    Parameters
    ----------
    fun : callable
        NumPy code for one element of the batch. It may use views, write to arrays, draw random numbers, which are the
        same for all elements, and differentiate. It cannot read values that differ along the batch: neither ``float``
        nor ``if``, nor a mask as an index whose length would depend on them.
    in_axes : int, None or sequence
        The axis of the arguments that is mapped over: one for all, or one for each positional argument. None stands for
        an argument that is the same for all elements, and may be any object. An argument that is a container may have a
        container of axes of the same structure, or of its first levels. Keyword arguments are mapped over axis 0.
    out_axes : int, None or container
        Where the results have the axis of the batch. None stands for a result that is the same for all elements.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` with one more axis each. Returns its results with one more axis each.

    Raises
    ------
    BatchingError
        When the function is called: if it reads a value that differs along the batch, or an operation has no batching
        rule. The error names the function and the source line.
    ValueError
        When the function is called: if extents differ, or axes do not fit.

    See Also
    --------
    grad : The gradient of each element is ``vmap(grad(fun))``.
    jacrev : All rows of a Jacobian.

    Examples
    --------
    >>> import numpy as np
    >>> import gpuarray as xp
    >>> points, weights = xp.asarray([[1.0, 2.0], [3.0, 4.0]]), xp.asarray([1.0, 10.0])
    >>> xp.vmap(np.dot, in_axes=(0, None))(points, weights).tolist()
    [21.0, 43.0]
    """

    @functools.wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        call = args, dict(kwargs)
        mapping = _Mapping(containers.leaves(call), _axes_of(args, kwargs, in_axes))
        with tape.recording() as record:
            batch = Batch(mapping.size, record)
            with batch.active():
                own_args, own_kwargs = containers.with_leaves(call, mapping.inner(batch))
                result = fun(*own_args, **own_kwargs)
                results = [array_of(leaf, "what the function returns") for leaf in containers.leaves(result)]
                written = mapping.written(batch)
                nodes = [array.node() for array in (*results, *written.values())]
            axes = _spread(out_axes, result, "out_axes")
            values = batch.batched(nodes, mapping.device)
            mapping.write(batch, written, nodes[len(results) :], values[len(results) :])
            outs = [
                array
                if axis is None and stacked is None
                else wrap(_placed(batch, array.node(), stacked, axis), array.device)
                for array, stacked, axis in zip(results, values, axes, strict=False)
            ]
        return containers.with_leaves(result, outs)

    return mapped


class _Mapping:
    """The arguments of one call of a function that is mapped over a batch.

    Parameters
    ----------
    leaves : list
        The leaves of the arguments.
    axes : list of int or None
        The axis of the batch of each.

    Attributes
    ----------
    size : int
        Elements of the batch.
    device : Device
        The device of the arguments.
    """

    def __init__(self, leaves: list[Any], axes: list[int | None]) -> None:
        self._leaves, self._axes = leaves, axes
        self._sources = [
            None if axis is None else _source(leaf, axis, number)
            for number, (leaf, axis) in enumerate(zip(leaves, axes, strict=True))
        ]
        self._inner: list[Any] = []
        self._placeholders: frozenset[Any] = frozenset()
        self.size = _size(self._sources, axes)
        self.device = device_of(*[leaf for leaf in leaves if isinstance(leaf, GpuArray)]) or default_device()

    def inner(self, batch: Batch) -> list[Any]:
        """Return the leaves for one element."""
        self._inner = [
            leaf if source is None else _argument(batch, source, leaf, self.device)
            for leaf, source in zip(self._leaves, self._sources, strict=True)
        ]
        self._placeholders = frozenset(batch.sources)
        return self._inner

    def written(self, batch: Batch) -> dict[int, GpuArray]:
        """Return the arguments for one element to which the function has written, by their numbers.

        Raises
        ------
        BatchingError
            If it has written values that differ along the batch to an argument without a batch.
        """
        for number, (leaf, axis) in enumerate(zip(self._leaves, self._axes, strict=True)):
            if axis is None and isinstance(leaf, GpuArray) and tape.batch_of(leaf._cell.node) is batch:
                raise BatchingError(
                    f"the function has written values that differ along the batch to array {number} of its arguments, "
                    "which is the same for all elements; map over it too, or copy it first"
                )
        return {
            number: array
            for number, (leaf, axis, array) in enumerate(zip(self._leaves, self._axes, self._inner, strict=True))
            if axis is not None and isinstance(leaf, GpuArray) and array._cell.node not in self._placeholders
        }

    def write(self, batch: Batch, numbers: Iterable[int], nodes: Sequence[Node], values: Sequence[Node | None]) -> None:
        """Write values for all elements to some of the arguments."""
        for number, node, stacked in zip(numbers, nodes, values, strict=True):
            leaf, axis = self._leaves[number], self._axes[number]
            whole = batch.repeated(node) if stacked is None else stacked
            leaf[...] = wrap(moved(whole, 0, (axis or 0) % leaf.ndim), self.device)


def _axes_of(args: tuple[Any, ...], kwargs: dict[str, Any], in_axes: Any) -> list[int | None]:
    """Return the axis of each leaf of the arguments."""
    if isinstance(in_axes, tuple | list):
        if len(in_axes) != len(args):
            raise ValueError(
                f"in_axes has {len(in_axes)} entries and the function was called with {len(args)} positional "
                "arguments; give one for each argument"
            )
        prefix: Any = tuple(in_axes)
    elif in_axes is None or hasattr(in_axes, "__index__"):
        prefix = (in_axes,) * len(args)
    else:
        raise TypeError(f"in_axes must be an integer, None, or a sequence of these, not a {type(in_axes).__name__}")
    axes = [
        axis for axes_of_arg, arg in zip(prefix, args, strict=True) for axis in _spread(axes_of_arg, arg, "in_axes")
    ]
    return axes + [0] * len(containers.leaves(dict(kwargs)))


def _spread(prefix: Any, tree: Any, what: str) -> list[int | None]:
    """Return an axis for each leaf of a container, given those of its first levels."""
    if prefix is None or hasattr(prefix, "__index__"):
        axis = None if prefix is None else index(prefix)
        return [axis] * len(containers.leaves(tree))
    parts, items = containers.children(prefix), containers.children(tree)
    if parts is None or items is None or parts.keys() != items.keys():
        raise ValueError(
            f"{what} must be integers, None, or containers like those of the arrays, {containers.described(tree)}; "
            f"not {prefix!r}"
        )
    return [axis for key in items for axis in _spread(parts[key], items[key], what)]


def _source(leaf: Any, axis: int, number: int) -> Node:
    """Return the values for all elements of the batch, with its axis in front."""
    array = array_of(leaf, "what vmap maps over")
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(
            f"vmap: array {number} of the arguments has {array.ndim} axes and no axis {axis}; use None in in_axes for "
            "an argument that is the same for all elements"
        )
    return moved(array.node(), axis % array.ndim, 0)


def _size(sources: Sequence[Node | None], axes: Sequence[int | None]) -> int:
    sizes = {number: source.shape[0] for number, source in enumerate(sources) if source is not None}
    if not sizes:
        raise ValueError("in_axes is None for all arguments of vmap; give the axis of the batch for at least one")
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"array {number} has {extent} along axis {axes[number]}" for number, extent in sizes.items())
        raise ValueError(f"vmap: the axes that in_axes names must have one extent: {listed}")
    return next(iter(sizes.values()))


def _argument(batch: Batch, source: Node, leaf: Any, device: Any) -> GpuArray:
    array = wrap(batch.placeholder(source), leaf.device if isinstance(leaf, GpuArray) else device)
    if isinstance(leaf, GpuArray):
        array._access = leaf._access
    return array


def _placed(batch: Batch, node: Node, stacked: Node | None, axis: int | None) -> Node:
    """Return a result with the axis of the batch at its position."""
    if axis is None:
        raise ValueError("out_axes is None for a result that differs along the batch; give an axis")
    if stacked is None:
        stacked = batch.repeated(node)
    ndim = len(stacked.shape)
    if not -ndim <= axis < ndim:
        raise ValueError(f"out_axes is {axis}, but the result has {ndim} axes, that of the batch included")
    return moved(stacked, 0, axis % ndim)
