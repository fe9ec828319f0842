"""Batches: what a function records for one element of a batch, translated to nodes for all elements.

Placeholders stand for one element. Every node that depends on them has a counterpart with the axis of the batch in
front, which one rule for each kind of node makes (:mod:`.batched_nodes`); the others are the same for all elements.
Nothing else changes, so that the translation can be differentiated, translated for an outer batch, and recorded.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

from gpuarray.array import GpuArray, wrap
from gpuarray.config import config, using
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.errors import BatchingError
from gpuarray.graph import build, tape
from gpuarray.graph.layouts import Layout, Shape, contiguous_strides, is_identity
from gpuarray.graph.nodes import Leaf, Node, View
from gpuarray.ops import generators, reductions
from gpuarray.runtime import evaluate

#: Makes the counterpart of a node.
Rule: TypeAlias = Callable[["Batch", Any], Node]

#: The rules by kind of node, which :mod:`gpuarray.autodiff.batched_nodes` sets.
rules: Final[dict[type, Rule]] = {}

_Given = TypeVar("_Given", bound=Rule)


def rule(kind: type) -> Callable[[_Given], _Given]:
    """Return a decorator that makes a function the rule of a kind of node."""

    def set_rule(function: _Given) -> _Given:
        rules[kind] = function
        return function

    return set_rule


class _Nowhere:
    """Stands where the provider of a value would, for values of one element of a batch."""

    device: Final = Device("batch")

    def read(self, buffer: int, array: Any) -> NoReturn:
        """Raise BatchingError; called like a provider's method of this name."""
        raise BatchingError(
            "an array has the value of one element of a batch, because a function that vmap maps has written to it; "
            "return the array from the function instead"
        )


_NOWHERE: Final = _Nowhere()


class Batch:
    """A batch over which a function is mapped.

    Parameters
    ----------
    size : int
        How many elements it has.
    record : Tape
        The tape of the thread.

    Attributes
    ----------
    level : int
        Greater than those of the batches that surround it.
    sources : dict
        The values for all elements, by placeholder.
    """

    def __init__(self, size: int, record: tape.Tape) -> None:
        self.size = size
        self.sources: dict[Any, Node] = {}
        self.level = 1 + max((batch.level for batch in record.batches.values()), default=0)
        self.calls: dict[Any, Any] = {}
        """The counterparts of calls, for all outputs of one call."""
        self.units: Node | None = None
        """The elements of the batch, if these are the rows of an identity matrix."""
        self._record = record
        self._values: dict[Any, Node | None] = {}
        """Counterparts; None for nodes that are the same for all elements."""
        self._joints: dict[int, Any] = {}

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let placeholders stand for elements of the batch in this block, where no graph of them is evaluated."""
        with tape.recording() as record, using(strict_array_api=False, pending_limit=tape.UNBOUNDED):
            self._record = record  # a pullback runs when the tape of the function is gone
            batches = record.batches
            before = dict(batches)
            batches.update(dict.fromkeys(self.sources, self))
            try:
                yield
            finally:
                batches.clear()
                batches.update(before)

    def placeholder(self, source: Node) -> Node:
        """Return a node that stands for one element of values along their first axis."""
        leaf = Leaf(source.shape[1:], source.dtype)
        leaf.buffers[_NOWHERE] = 0
        self.sources[leaf] = self._values[leaf] = source
        self._record.batches[leaf] = self
        return leaf

    def batched(self, nodes: Sequence[Node], device: Device) -> list[Node | None]:
        """Return nodes for all elements, with the axis of the batch in front; None for those without a batch."""
        order, uses = self._below(nodes)
        limit = config.current.pending_limit
        for node in order:
            counterpart = self._counterpart(node)
            self._values[node] = counterpart
            for operand in self._operands(node):
                uses[operand] -= 1
            if counterpart is not None and counterpart.depth > limit:
                values = [self._values.get(live) for live, count in uses.items() if count > 0]
                evaluate.evaluate([value for value in values if value is not None and value.depth], device)
        return [self._values[node] for node in nodes]

    def value(self, node: Node) -> Node | None:
        """Return the counterpart of an operand; None if it is the same for all elements."""
        return self._values[node]

    def full(self, node: Node) -> Node:
        """Return the counterpart of an operand, repeated if it is the same for all elements."""
        value = self._values[node]
        return self.repeated(node) if value is None else value

    def is_of_units(self, node: Node) -> bool:
        """Return whether the elements of a counterpart are those of the identity matrix, in C order."""
        while isinstance(node, View) and node.result is None and is_identity(node.layout, node.inputs[0].size):
            (node,) = node.inputs
        return node is self.units

    def is_replaced(self, node: Node) -> bool:
        """Return whether a node has a derivative of its own."""
        return node in self._record.replaced

    def repeated(self, node: Node) -> Node:
        """Return a node repeated along a new first axis."""
        layout = Layout((self.size, *node.shape), (0, *contiguous_strides(node.shape)), 0)
        return build.view(node, layout)

    def starts(self, step: int, ndim: int, dtype: DType) -> Node:
        """Return 0, step, 2 * step, ..., one for each element, with ``ndim`` axes behind."""
        line = build.generate(generators.arange, (0, step), (self.size,), dtype)
        return build.reshape(line, (self.size,) + (1,) * ndim)

    def _below(self, nodes: Sequence[Node]) -> tuple[list[Any], Counter[Any]]:
        """Return the nodes without a counterpart, operands before their users, and how often each is used."""
        order: list[Any] = []
        finished: set[Any] = set()
        uses: Counter[Any] = Counter(nodes)
        stack: list[Any] = [*reversed(nodes)]
        opened: set[Any] = set()
        while stack:
            node = stack[-1]
            if node in finished or node in self._values:
                stack.pop()
                continue
            operands = self._operands(node)
            if node not in opened:
                opened.add(node)
                uses.update(operands)
                missing = [below for below in operands if below not in finished and below not in self._values]
                if missing:
                    stack += reversed(missing)
                    continue
            finished.add(node)
            order.append(node)
            stack.pop()
        return order, uses

    def _operands(self, node: Any) -> tuple[Any, ...]:
        replaced = self._record.replaced.get(node)
        return node.inputs if replaced is None else (*node.inputs, *replaced[0].inputs)

    def _counterpart(self, node: Any) -> Node | None:
        if all(self._values[operand] is None for operand in self._operands(node)):
            return None
        if all(self._values[operand] is None for operand in node.inputs):
            counterpart = self.repeated(node)
        else:
            counterpart = rules[type(node)](self, node)
        if counterpart.origin is None:
            counterpart.origin = node.origin
        replaced = self._record.replaced.get(node)
        if replaced is not None:
            rule, number = replaced
            if id(rule) not in self._joints:
                self._joints[id(rule)] = _Joint(self, rule) if rule.inputs else rule
            self._record.replaced[counterpart] = self._joints[id(rule)], number
        return counterpart


def mapped_over_units(
    units: Node, device: Device, function: Callable[[GpuArray], Sequence[GpuArray]]
) -> list[GpuArray]:
    """Return the results of a function for each row of an identity matrix, along a new first axis.

    The rows may have the shape of any array.
    """
    with tape.recording() as record:
        batch = Batch(units.shape[0], record)
        batch.units = units
        with batch.active():
            results = [array.node() for array in function(wrap(batch.placeholder(units), device))]
        batch.batched(results, device)
        return [wrap(batch.full(node), device) for node in results]


class _Joint:
    """The derivative of a function for all elements of a batch, by its own derivative for one element."""

    def __init__(self, batch: Batch, rule: Any) -> None:
        self._batch = batch
        self._rule = rule
        self._own = [batch.value(node) for node in rule.inputs]
        self.inputs = tuple(
            node if stacked is None else stacked for node, stacked in zip(rule.inputs, self._own, strict=True)
        )

    def pull(
        self, cotangents: dict[int, GpuArray], needed: Sequence[bool], device: Device, pullback: Any
    ) -> list[GpuArray | None]:
        """Return the cotangents of the operands, given those of some results."""
        batch = self._batch
        with batch.active():
            single = {n: wrap(batch.placeholder(ct.node()), ct.device) for n, ct in cotangents.items()}
            parts = self._rule.pull(single, needed, device, pullback)
            nodes = [result.node() for result in parts if result is not None]
            batch.batched(nodes, device)
            results = map(batch.full, nodes)
            return [
                None if result is None else wrap(_summed(next(results), stacked), device)
                for result, stacked in zip(parts, self._own, strict=True)
            ]


def _summed(node: Node, stacked: Node | None) -> Node:
    """Return the cotangent of an operand: a sum over the batch, if the operand is the same for all elements."""
    return build.reduce(reductions.sum, node, 0) if stacked is None else node


def moved(node: Node, source: int, target: int) -> Node:
    """Return a node with an axis at another position."""
    if source == target:
        return node
    axes = [axis for axis in range(len(node.shape)) if axis != source]
    axes.insert(target, source)
    return permuted(node, axes)


def permuted(node: Node, axes: Sequence[int]) -> Node:
    """Return a node with its axes in another order."""
    strides = contiguous_strides(node.shape)
    shape: Shape = tuple(node.shape[axis] for axis in axes)
    return build.view(node, Layout(shape, tuple(strides[axis] for axis in axes), 0))
