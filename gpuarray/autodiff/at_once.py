"""Cotangents of small values in host memory, which NumPy computes at once.

To record the transposes of a small program and to evaluate them takes several times as long as NumPy takes to compute
them. The kinds of nodes that most programs consist of have a rule for NumPy arrays here. The other ones take the rule
that records, whose results are read.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray.array import FREE, GpuArray
from gpuarray.array.memory import of_host
from gpuarray.autodiff.elementwise import Unevaluated, partials_of
from gpuarray.autodiff.nodes import inverse, is_injective, without_repetition
from gpuarray.autodiff.program import Cotangents, Outputs, Program, Walk, rules, standing_for
from gpuarray.dtypes import DType
from gpuarray.graph.layouts import Layout, contiguous_strides, is_identity
from gpuarray.graph.nodes import BaseNode, Concat, Contract, Gather, Map, Node, Reduce, Scatter, View
from gpuarray.immediacy import immediacy
from gpuarray.ops import elementwise as ops
from gpuarray.ops import factorisations, reductions
from gpuarray.ops.columns import Kind
from gpuarray.ops.references import multiply_no_nan
from gpuarray.runtime.evaluate import compute_small, strided, value_of
from gpuarray.source_locations import Origin

#: An array, or a scalar of NumPy if it has no axes.
Value = npt.NDArray[Any]


def pull(program: Program, cotangents: Cotangents, walk: Walk | None = None) -> list[GpuArray | None]:
    """Return the cotangents of the variables of a program, given those of the results; None stands for zeros.

    They are computed at once if all values of the program are small and in host memory, and recorded otherwise.
    """
    limit = immediacy().limit
    if limit and program.device.kind in FREE:
        nodes: list[Any] = [node for node, _, _ in program.steps if isinstance(node, BaseNode)]
        if max([prod(node.shape) for node in nodes], default=0) <= limit:
            seeds = [None if ct is None else value_of(ct.node()) for ct in cotangents]
            if all((seed is None) == (ct is None) for seed, ct in zip(seeds, cotangents, strict=True)):
                values = compute_small(nodes, program.results, program.device)
                if values is not None:
                    runs_code = any(not isinstance(node, BaseNode | Outputs) for node, _, _ in program.steps)
                    if runs_code or (found := _HostWalk(program, values).run(seeds)) is None:
                        found = _HostWalk(program, values, is_careful=True).run(seeds)
                    if found is not None:
                        return found
    return program.pull(cotangents, walk)


class _HostWalk:
    """One walk through a program whose values the host has.

    Parameters
    ----------
    program : Program
        The program.
    values : dict
        The values of its nodes.
    is_careful : bool
        Whether a product with 0 is 0, also if the other factor is no number. To ask for each product takes a tenth of
        the time, so it is only done if something is no number without it.
    """

    def __init__(self, program: Program, values: dict[Node, Any], *, is_careful: bool = False) -> None:
        self._program = program
        self._values = values
        self._is_careful = is_careful
        self.known: dict[Any, Any] = {}
        """The cotangents so far, by node; those of a joint by number."""
        self.own: set[Any] = set()
        """The nodes whose cotangents are in memory that nothing else has."""

    def run(self, seeds: Sequence[Any]) -> list[GpuArray | None] | None:
        """Return the cotangents of the variables; None if care is needed."""
        program, known = self._program, self.known
        for node, seed in zip(program.results, seeds, strict=True):
            if seed is not None and program.varies(node):
                self.add(node, seed)
        with np.errstate(all="ignore"):
            for node, operands, wanted in reversed(program.steps):
                ct = known.pop(node, None)
                if ct is None:
                    continue
                if (number := program.numbers.get(node)) is not None:
                    self._join(node, operands[0], number, ct)
                    continue
                rule = _RULES.get(type(node))
                if rule is None or not rule(self, node, operands, ct, wanted):
                    self._by_rule(node, operands, ct, wanted)
                self.own.discard(node)
            if not self._is_careful:
                found = [known[node] for node in program.variables if node in known]
                if any(map(_is_unknown, found)):
                    return None
        return [self._result(node) for node in program.variables]

    def value(self, node: Node) -> Any:
        """Return the value of a node; None if the host does not have it."""
        known = self._values.get(node)
        return value_of(node) if known is None else known

    def add(self, node: Any, part: Value, *, is_own: bool = False) -> None:
        """Add a part to the cotangent of a node; ``is_own`` says that nothing else has its memory."""
        sofar = self.known.get(node)
        if sofar is None:
            self.known[node] = part
            if is_own:
                self.own.add(node)
        elif node in self.own and type(sofar) is np.ndarray:
            np.add(sofar, part, out=sofar)
        else:
            self.known[node] = sofar + part
            self.own.add(node)

    def scaled(self, ct: Value, factor: Any) -> Value:
        """Return a cotangent times a derivative, and 0 where either is 0."""
        made: Value = ct * factor
        if self._is_careful and _is_unknown(made):
            made = multiply_no_nan(ct, factor, np.empty_like(made))[()]
        return made

    def fit(self, operand: Node, part: Value, *, is_own: bool = False) -> None:
        """Add a part to the cotangent of an operand that was broadcast and converted."""
        dtype, shape = operand.dtype, operand.shape
        if part.dtype != dtype:
            part, is_own = _converted(part, dtype), True
        if part.shape != shape:
            lead = part.ndim - len(shape)
            axes = tuple([a for a, n in enumerate(part.shape) if a < lead or n != shape[a - lead]])
            part, is_own = np.add.reduce(part, axes).reshape(shape), True
        self.add(operand, part, is_own=is_own)

    def memory(self, node: Node) -> Value:
        """Return the cotangent of a node in memory of its own, to which parts can be added."""
        sofar = self.known.get(node)
        if type(sofar) is not np.ndarray or node not in self.own or not sofar.flags.c_contiguous:
            sofar = np.zeros(node.shape, node.dtype) if sofar is None else np.array(sofar, order="C")
            self.known[node] = sofar
            self.own.add(node)
        return sofar

    def _join(self, node: Any, joint: Any, number: int, ct: Value) -> None:
        if type(joint) is Outputs and joint.origin is None:
            joint.origin = node.origin
        parts = self.known.setdefault(joint, {})
        parts[number] = parts[number] + ct if number in parts else ct

    def _by_rule(self, node: Any, operands: Sequence[Any], ct: Any, wanted: Sequence[bool]) -> None:
        """Take the rule that records."""
        device = self._program.device
        with standing_for() as stand:
            if isinstance(node, BaseNode):
                node.origin = node.origin or self._line(node)
                stand(node.origin)
                parts = rules[type(node)](node, operands, _array(ct, device), wanted, device)
            else:
                stand(node.origin if isinstance(node, Outputs) else None)
                given = {number: _array(part, device) for number, part in ct.items()}
                parts = node.pull(given, wanted, device, Walk())
        for operand, part, is_wanted in zip(operands, parts, wanted, strict=True):
            if part is not None and is_wanted:
                self.add(operand, part.get())

    def _line(self, node: Any) -> Origin | None:
        """Return the line of what a node is a part of."""
        users = (user for user, operands, _ in self._program.steps if node in operands)
        return next((user.origin or self._line(user) for user in users if isinstance(user, BaseNode)), None)

    def _result(self, node: Node) -> GpuArray | None:
        found = self.known.get(node)
        if found is None:
            return None
        return _array(found if node in self.own else found.copy(), self._program.device)


def _array(value: Value, device: Any) -> GpuArray:
    """Return a value as an array."""
    if type(value) is np.ndarray and not value.flags.writeable:
        value = value.copy()
    return of_host(GpuArray, value, device)


def _converted(part: Value, dtype: DType) -> Value:
    return (part.real if part.dtype.kind == "c" and dtype.kind != "c" else part).astype(dtype)


def _is_unknown(value: Value) -> bool:
    """Return whether an element is not a number."""
    total = np.vdot(value, value)
    return bool(total != total)


# -- rules: each returns whether it knows the derivative ---------------------------------------------------------------


def _map(walk: _HostWalk, node: Map, operands: Sequence[Node], ct: Value, wanted: Sequence[bool]) -> bool:
    op = node.op
    if op is ops.cast:
        walk.fit(operands[0], ct)
        return True
    partials = partials_of(op)
    if partials is None or (op.kind is Kind.EXTREME and node.dtype.kind == "c"):
        return op is ops.where and _select(walk, operands, ct, wanted)
    values: list[Any] = []
    parts: list[tuple[Node, Value, bool]] = []
    try:
        for partial, operand, is_wanted in zip(partials, operands, wanted, strict=True):
            if not is_wanted or partial == 0:
                continue
            if callable(partial):
                values = values or [walk.value(operand) for operand in (node, *operands)]
                if any(value is None for value in values):
                    return False
                factor = partial(*values)
                if factor.dtype != ct.dtype:
                    factor = _converted(factor, ct.dtype)
                parts.append((operand, walk.scaled(ct, factor), True))
            elif isinstance(partial, float):
                parts.append((operand, ct if partial == 1 else ct * partial, partial != 1))
            else:
                return False
    except Unevaluated:
        return False
    for operand, part, is_own in parts:
        walk.fit(operand, part, is_own=is_own)
    return True


def _select(walk: _HostWalk, operands: Sequence[Node], ct: Value, wanted: Sequence[bool]) -> bool:
    condition = walk.value(operands[0])
    if condition is None:
        return False
    nothing = ct.dtype.type(0)
    for operand, is_wanted, sides in zip(operands, wanted, ((), (ct, nothing), (nothing, ct)), strict=True):
        if is_wanted:
            walk.fit(operand, np.where(condition, *sides)[()], is_own=True)
    return True


def _view(walk: _HostWalk, node: View, operands: Sequence[Node], ct: Value, wanted: Sequence[bool]) -> bool:
    (source,) = operands
    repeated, layout = without_repetition(node.layout)
    if repeated:
        ct = np.add.reduce(ct, repeated)
    if ct.shape == source.shape and is_identity(layout, source.size):
        walk.add(source, ct, is_own=bool(repeated))
    elif (whole := inverse(layout, source.shape)) is not None:
        part = strided(np.asarray(ct, order="C"), whole).reshape(source.shape)
        walk.add(source, part)
    elif 0 not in layout.shape and is_injective(layout):
        target = strided(walk.memory(source), layout)
        np.add(target, ct, out=target)
    else:
        return False
    return True


def _reduce(walk: _HostWalk, node: Reduce, operands: Sequence[Node], ct: Value, wanted: Sequence[bool]) -> bool:
    (source,) = operands
    beside = tuple([1 if a in node.axes else n for a, n in enumerate(source.shape)])
    if node.op is reductions.sum:
        part = np.asarray(ct if ct.dtype == source.dtype else _converted(ct, source.dtype), order="C")
        strides = [0 if a in node.axes else step for a, step in enumerate(contiguous_strides(beside))]
        walk.add(source, strided(part, Layout(source.shape, tuple(strides), 0)))
        return True
    values = walk.value(source), walk.value(node)
    if (node.op is reductions.max or node.op is reductions.min) and values[0] is not None and values[1] is not None:
        is_found = values[0] == values[1].reshape(beside)
        share = is_found / np.add.reduce(is_found, node.axes, source.dtype, keepdims=True)
        walk.fit(source, walk.scaled(np.broadcast_to(ct.reshape(beside), source.shape), share), is_own=True)
        return True
    return False


def _contract(walk: _HostWalk, node: Contract, operands: Sequence[Node], ct: Value, wanted: Sequence[bool]) -> bool:
    left, right = operands
    others = walk.value(right), walk.value(left)
    if node.dtype.itemsize < 4 or any(other is None for other in others):
        return False
    if wanted[0]:
        walk.add(left, np.matmul(ct, others[0].swapaxes(1, 2)), is_own=True)
    if wanted[1]:
        walk.add(right, np.matmul(others[1].swapaxes(1, 2), ct), is_own=True)
    return True


def _concat(walk: _HostWalk, node: Concat, operands: Sequence[Node], ct: Value, wanted: Sequence[bool]) -> bool:
    start = 0
    for operand, is_wanted in zip(operands, wanted, strict=True):
        stop = start + operand.shape[node.axis]
        if is_wanted:
            walk.add(operand, ct[(slice(None),) * node.axis + (slice(start, stop),)])
        start = stop
    return True


def _gather(walk: _HostWalk, node: Gather, operands: Sequence[Node], ct: Value, wanted: Sequence[bool]) -> bool:
    source, positions = operands
    places = walk.value(positions)
    if places is None:
        return False
    np.add.at(walk.memory(source).reshape(-1), places, ct)
    return True


def _scatter(walk: _HostWalk, node: Scatter, operands: Sequence[Node], ct: Value, wanted: Sequence[bool]) -> bool:
    if node.is_whole or node.layout is None or node.combine is not None:
        return False
    target, values = operands
    if wanted[1]:
        walk.add(values, strided(np.asarray(ct, order="C"), node.layout).copy(), is_own=True)
    if wanted[0]:
        rest = np.array(ct, order="C")
        strided(rest, node.layout)[...] = 0
        walk.add(target, rest, is_own=True)
    return True


def _call(walk: _HostWalk, node: Outputs, operands: Sequence[Node], ct: Any, wanted: Sequence[bool]) -> bool:
    """Take the rules of systems of equations; the other factorisations take longer than recording."""
    if node.call.op is not factorisations.solve:
        return False
    values = [walk.value(operand) for operand in (*operands, node.call)]
    if any(value is None for value in values):
        return False
    left, right, solution = values
    is_line = right.ndim == 1
    try:
        part = np.linalg.solve(left.swapaxes(-1, -2), ct[0][..., None] if is_line else ct[0])
    except np.linalg.LinAlgError:  # the rule that records tells which matrix
        return False
    if wanted[0]:
        across = solution[..., None, :] if is_line else solution.swapaxes(-1, -2)
        walk.fit(operands[0], -np.matmul(part, across), is_own=True)
    if wanted[1]:
        walk.fit(operands[1], part[..., 0] if is_line else part)
    return True


_RULES: Final[dict[type, Callable[[_HostWalk, Any, Sequence[Any], Any, Sequence[bool]], bool]]] = {
    Map: _map,
    View: _view,
    Reduce: _reduce,
    Contract: _contract,
    Concat: _concat,
    Gather: _gather,
    Scatter: _scatter,
    Outputs: _call,
}
