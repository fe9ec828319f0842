"""Cotangents of small values in host memory, which NumPy computes at once.

To record the transposes of a small subgraph and to evaluate them takes several times as long as NumPy takes to compute
them. The kinds of nodes that most subgraphs consist of have a rule for NumPy arrays here. The other ones take the rule
that records, whose results are read.
"""

from collections.abc import Callable, Sequence
from functools import partial
from operator import mul
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from gpuarray.array import GpuArray
from gpuarray.array.memory import of_host
from gpuarray.autodiff import calls, folds
from gpuarray.autodiff import nodes as _nodes  # noqa: F401  # sets the rules
from gpuarray.autodiff.elementwise import converted, shares_of
from gpuarray.autodiff.folds import shape_beside
from gpuarray.autodiff.pieces import Pullback
from gpuarray.autodiff.subgraph import Outputs, Subgraph, outputs_of, rules, standing_for
from gpuarray.dtypes import DType
from gpuarray.errors import DerivativeError
from gpuarray.graph.layouts import (
    Layout,
    Shape,
    contiguous_strides,
    inverse,
    is_identity,
    is_injective,
    without_repetition,
)
from gpuarray.graph.nodes import BaseNode, Concat, Contract, Gather, Map, Node, Reduce, Scan, Scatter, View
from gpuarray.immediacy import immediacy
from gpuarray.ops import reductions
from gpuarray.ops.references import multiply_no_nan
from gpuarray.references import owner_count
from gpuarray.runtime.evaluate import NodeValues, compute_small, keep, read, strided

#: An array, or a scalar of NumPy if it has no axes.
Value = npt.NDArray[Any]


def pull(subgraph: Subgraph, seeds: Sequence[Any]) -> list[GpuArray | None] | None:
    """Return the cotangents of the variables of a subgraph, given values of those of the results; None means zeros.

    The result is None if a value of the subgraph is large, or not in host memory, or a rule raises an error: the rules
    that record raise it with the line.
    """
    state = immediacy()
    if not state.limit or not state.covers(subgraph.device):
        return None
    try:
        with np.errstate(all="ignore"):
            values = NodeValues(subgraph.values)
            numbers = [node for node in subgraph.variables if node.inputs]  # copies of constants, which are no leaves
            if not compute_small([*numbers, *subgraph.nodes], subgraph.device, values):
                return None
            values.read = partial(read, device=subgraph.device)
            gradients = None if subgraph.runs_code else _HostPullback(subgraph, values).run(seeds)
            return gradients or _HostPullback(subgraph, values, zero_wins=True).run(seeds)
    except DerivativeError:
        return None


Subgraph.at_once = staticmethod(pull)


class _HostPullback:
    """The computation of cotangents by NumPy, for a subgraph whose values the host has.

    Parameters
    ----------
    subgraph : Subgraph
        The subgraph.
    values : NodeValues
        The values of its nodes.
    zero_wins : bool
        Whether a product with 0 is 0 also if the other factor is NaN or infinite. The check of each product takes a
        tenth of the time, so it is made only if a cotangent is NaN without it.
    """

    def __init__(self, subgraph: Subgraph, values: NodeValues, *, zero_wins: bool = False) -> None:
        self._subgraph = subgraph
        self.device = subgraph.device
        self._zero_wins = zero_wins
        #: Returns a cotangent times a derivative, and 0 where either is 0.
        self.scaled: Callable[[Any, Any], Any] = _scaled if zero_wins else mul
        self.values = values
        self.value: Callable[[Node], Any] = values.__getitem__
        self.known: dict[Any, Any] = {}
        """The cotangents so far, by node; those of a joint by number."""
        self._own: set[Any] = set()
        """The nodes whose cotangents are in memory that nothing else has."""

    def run(self, seeds: Sequence[Any]) -> list[GpuArray | None] | None:
        """Return the cotangents of the variables; None if one has a NaN, and ``zero_wins`` is False."""
        subgraph, known = self._subgraph, self.known
        numbers, rule_of, pop = subgraph.numbers, _RULES.get, known.pop
        for node, seed in zip(subgraph.results, seeds, strict=True):
            if seed is not None and subgraph.varies(node):
                self.add(node, seed)
        for node, operands, needed in reversed(subgraph.steps):
            ct = pop(node, None)
            if ct is None:
                continue
            if node in numbers:
                number, joint = numbers[node], known.setdefault(operands[0], {})
                joint[number] = joint[number] + ct if number in joint else ct
                continue
            rule_of(type(node), _by_recording)(self, node, operands, ct, needed)
        results = [self._result(node) for node in subgraph.variables]
        if not self._zero_wins and any(value is not None and _has_nan(value) for value in results):
            return None
        return [None if value is None else _array(value, self.device) for value in results]

    def add(self, node: Any, share: Value) -> None:
        """Add a part to the cotangent of a node."""
        sofar = self.known.get(node)
        if sofar is None:
            self.known[node] = share
        elif node in self._own:
            np.add(sofar, share, out=sofar)
        else:
            self.known[node] = total = sofar + share
            if type(total) is np.ndarray:
                self._own.add(node)

    def fit(self, operand: Node, share: Value) -> None:
        """Add a part to the cotangent of an operand that was broadcast and converted."""
        dtype, shape = operand.dtype, operand.shape
        share = converted(share, dtype)
        if share.shape != shape:
            lead = share.ndim - len(shape)
            axes = tuple([a for a, n in enumerate(share.shape) if a < lead or n != shape[a - lead]])
            share = np.add.reduce(share, axes).reshape(shape)
        self.add(operand, share)

    def memory(self, node: Node) -> Value:
        """Return the cotangent of a node in C order, in memory of its own, to which parts can be added."""
        sofar: Any = self.known.get(node)
        if node not in self._own or not sofar.flags.c_contiguous:
            sofar = np.zeros(node.shape, node.dtype) if sofar is None else np.array(sofar, order="C")
            self.known[node] = sofar
            self._own.add(node)
        return cast(Value, sofar)

    def _result(self, node: Node) -> Value | None:
        """Return the cotangent of a variable in C order, in memory that nothing else has."""
        if node not in self.known:
            return None
        flags = self.known[node].flags
        is_new = flags.owndata and flags.c_contiguous and owner_count(self.known, node) == 1
        return cast(Value, self.known[node] if is_new else self.known[node].copy())


def _array(value: Value, device: Any) -> GpuArray:
    """Return a value as an array."""
    if type(value) is np.ndarray and not value.flags.writeable:
        value = value.copy()
    return of_host(GpuArray, value, device)


def _scaled(ct: Value, factor: Any) -> Value:
    """Return the product of a cotangent and a derivative, and 0 where either is 0."""
    product: Value = ct * factor
    return multiply_no_nan(ct, factor, np.empty_like(product))[()] if _has_nan(product) else product


def _has_nan(value: Value) -> bool:
    """Return whether an element is NaN."""
    line = value.reshape(-1)
    total = line.dot(line)  # in a third of the time of np.vdot
    return bool(total != total)


# -- rules -------------------------------------------------------------------------------------------------------------


def _by_recording(pullback: _HostPullback, node: Any, operands: Sequence[Any], ct: Any, needed: Sequence[bool]) -> None:
    """Take the rule that records, with the values that are known."""
    known: Any
    for known in (node, *operands):
        if known in pullback.values:
            keep(known, pullback.values[known])
    with standing_for() as stand:
        stand(node.origin if isinstance(node, BaseNode | Outputs) else None)
        if isinstance(node, BaseNode):
            cts = rules[type(node)](node, operands, _array(ct, pullback.device), needed, pullback.device)
        else:
            ct_arrays = {number: _array(share, pullback.device) for number, share in ct.items()}
            cts = node.pull(ct_arrays, needed, pullback.device, Pullback())
        for operand, share, is_needed in zip(operands, cts, needed, strict=True):
            if share is not None and is_needed:
                pullback.add(operand, share.get())


def _map(pullback: _HostPullback, node: Map, operands: Sequence[Node], ct: Value, needed: Sequence[bool]) -> None:
    for operand, share_of, is_needed in zip(operands, shares_of(node.op), needed, strict=False):
        if is_needed and (share := share_of(node, operands, ct, pullback.value, pullback.scaled)) is not None:
            if share.dtype is operand.dtype and share.shape == operand.shape:
                pullback.add(operand, share)
            else:
                pullback.fit(operand, share)


def _view(pullback: _HostPullback, node: View, operands: Sequence[Node], ct: Value, needed: Sequence[bool]) -> None:
    (source,) = operands
    repeated, layout = without_repetition(node.layout)
    if repeated:
        ct = np.add.reduce(ct, repeated)
    if is_identity(layout, source.size):
        pullback.add(source, ct.reshape(source.shape))
    elif (whole := inverse(layout, source.shape)) is not None:
        pullback.add(source, strided(np.asarray(ct, order="C"), whole).reshape(source.shape))
    elif is_injective(layout):
        target = strided(pullback.memory(source), layout)
        np.add(target, ct, out=target)
    else:
        positions = strided(np.arange(source.size).reshape(source.shape), layout)
        np.add.at(pullback.memory(source).reshape(-1), positions, ct)


def _reduce(pullback: _HostPullback, node: Reduce, operands: Sequence[Node], ct: Value, needed: Sequence[bool]) -> None:
    (source,) = operands
    if node.op is reductions.sum:
        values, strides = np.asarray(converted(ct, source.dtype), order="C"), [0] * len(source.shape)
        if node.shape:
            steps = enumerate(contiguous_strides(shape_beside(node, source)))
            strides = [0 if axis in node.axes else step for axis, step in steps]
        pullback.add(source, strided(values, Layout(source.shape, tuple(strides), 0)))
    elif node.op not in folds.RULES:
        _by_recording(pullback, node, operands, ct, needed)
    else:
        beside = shape_beside(node, source)
        result, ct = pullback.value(node).reshape(beside), converted(ct, node.dtype).reshape(beside)
        pullback.fit(source, folds.RULES[node.op](node.axes, pullback.value(source), result, ct, pullback.scaled))


def _scan(pullback: _HostPullback, node: Scan, operands: Sequence[Node], ct: Value, needed: Sequence[bool]) -> None:
    if node.op is not reductions.sum:
        _by_recording(pullback, node, operands, ct, needed)
        return
    backwards = np.flip(ct, node.axis)
    pullback.fit(operands[0], np.flip(np.add.accumulate(backwards, node.axis), node.axis))


def _contract(
    pullback: _HostPullback, node: Contract, operands: Sequence[Node], ct: Value, needed: Sequence[bool]
) -> None:
    left, right = operands
    if node.dtype.itemsize < 4:
        _by_recording(pullback, node, operands, ct, needed)
        return
    if needed[0]:
        pullback.add(left, np.matmul(ct, pullback.value(right).swapaxes(1, 2)))
    if needed[1]:
        pullback.add(right, np.matmul(pullback.value(left).swapaxes(1, 2), ct))


def _concat(pullback: _HostPullback, node: Concat, operands: Sequence[Node], ct: Value, needed: Sequence[bool]) -> None:
    start = 0
    for operand, is_needed in zip(operands, needed, strict=True):
        stop = start + operand.shape[node.axis]
        if is_needed:
            pullback.add(operand, ct[(slice(None),) * node.axis + (slice(start, stop),)])
        start = stop


def _gather(pullback: _HostPullback, node: Gather, operands: Sequence[Node], ct: Value, needed: Sequence[bool]) -> None:
    source, positions = operands
    np.add.at(pullback.memory(source).reshape(-1), pullback.value(positions), ct)


def _scatter(
    pullback: _HostPullback, node: Scatter, operands: Sequence[Node], ct: Value, needed: Sequence[bool]
) -> None:
    if node.is_whole or node.layout is None or node.combine is not None:
        _by_recording(pullback, node, operands, ct, needed)
        return
    target, values = operands
    if needed[1]:
        pullback.add(values, strided(np.asarray(ct, order="C"), node.layout))
    if needed[0]:
        rest = np.array(ct, order="C")
        strided(rest, node.layout)[...] = 0
        pullback.add(target, rest)


def _call(pullback: _HostPullback, node: Outputs, operands: Sequence[Node], ct: Any, needed: Sequence[bool]) -> None:
    rule = calls.RULES.get(node.call.op)
    if rule is None:
        _by_recording(pullback, node, operands, ct, needed)
        return
    try:
        shares = rule(_KnownOutputs(pullback, node), ct, [*map(pullback.value, operands)])
    except np.linalg.LinAlgError:  # the rule raises it with the line if it records
        _by_recording(pullback, node, operands, ct, needed)
        return
    for operand, share, is_needed in zip(operands, shares, needed, strict=True):
        if is_needed and share is not None:
            pullback.fit(operand, share)


class _KnownOutputs(Outputs):
    """The outputs of a call whose values are known."""

    def __init__(self, pullback: _HostPullback, node: Outputs) -> None:
        super().__init__(node.call, node.inputs, node.known)
        self._pullback = pullback

    def outputs(self, numbers: Sequence[int], kinds: Sequence[tuple[Shape, DType]], like: Any) -> list[Any]:
        """Return the values of some outputs: what was computed, if all were."""
        if all(map(self.known.__contains__, numbers)):
            return [self._pullback.value(self.known[number]) for number in numbers]
        results = outputs_of(self.call.op, [*map(self._pullback.value, self.inputs)], kinds, **self.call.parameters)
        return [results[number] for number in numbers]

    def result(self, like: Any) -> Any:
        """Return the value of the output that :attr:`call` is."""
        return self._pullback.value(self.call)


_RULES: Final[dict[type, Callable[[_HostPullback, Any, Sequence[Any], Any, Sequence[bool]], None]]] = {
    Map: _map,
    View: _view,
    Reduce: _reduce,
    Scan: _scan,
    Contract: _contract,
    Concat: _concat,
    Gather: _gather,
    Scatter: _scatter,
    Outputs: _call,
}
