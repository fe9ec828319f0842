"""Subgraphs: the part of a graph between variables and results, in order, and its transposition.

A subgraph keeps the operands of its nodes, which evaluations take from the nodes. Cotangents of its results become
those of its variables from the last node to the first; the operations are recorded like any others.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from typing import Any, Final, TypeAlias

from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff.pieces import Pieces, Pullback
from gpuarray.autodiff.sums import Sums, is_part
from gpuarray.config import using
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.graph import build, tape
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import BaseNode, Call, Generate, Leaf, Map, Node, View
from gpuarray.graph.walk import current
from gpuarray.ops import elementwise as ops
from gpuarray.ops.spec import CallOp
from gpuarray.runtime.evaluate import value_of
from gpuarray.settings import recording
from gpuarray.source_locations import Origin, assumed_origins, derivative_of

#: A cotangent of each operand, or None.
Cotangents: TypeAlias = Sequence[GpuArray | None]
#: Takes a node, the operands that it had, the cotangent, which operands need one, and the device.
Rule: TypeAlias = Callable[[Any, Sequence[Node], Any, Sequence[bool], Device], Cotangents]

#: The rules by kind of node, which :mod:`gpuarray.autodiff.nodes` sets.
rules: Final[dict[type, Rule]] = {}


class Outputs:
    """The outputs of one call of an opaque operation.

    Attributes
    ----------
    call : Call
        One of the outputs.
    known : dict
        The outputs that were evaluated, by number.
    origin : Origin or None
        The line that recorded it, or what it is a part of.
    """

    rule: Callable[["Outputs", dict[int, GpuArray], Sequence[bool], Device], Cotangents]

    def __init__(self, call: Call, inputs: tuple[Node, ...], known: dict[int, Node]) -> None:
        self.call = call
        self.inputs = inputs
        self.known = known
        self.origin = call.origin

    def pull(
        self, cotangents: dict[int, GpuArray], needed: Sequence[bool], device: Device, pullback: Pullback
    ) -> Cotangents:
        """Return the cotangents of the operands, given those of some outputs."""
        return Outputs.rule(self, cotangents, needed, device)

    def outputs(self, numbers: Sequence[int], kinds: Sequence[tuple[Shape, DType]], like: GpuArray) -> list[Any]:
        """Return some outputs, of given shapes and dtypes, on the device of an array: what was computed, if it was."""
        call = self.call
        nodes: list[Any] = [
            self.known.get(number) or Call(call.op, self.inputs, call.parameters, number, *kind)
            for number, kind in zip(numbers, kinds, strict=True)
        ]
        return [wrap(node, like.device) for node in nodes]

    def result(self, like: GpuArray) -> Any:
        """Return the output that :attr:`call` is, on the device of an array."""
        return wrap(self.call, like.device)


def variable(node: Node) -> Node:
    """Return a node with the same value, with respect to which is differentiated; integers are constants.

    A value that is there already is its value too, so that nothing copies it.
    """
    if node.dtype.kind not in "fc":
        return node
    copied = Map(ops.positive, (node,), node.shape, node.dtype)
    value = current(node)
    if isinstance(value, Leaf) and tape.batch_of(value) is None:
        copied.resolve(value)
    return copied


#: Kinds of nodes without operands.
_CONSTANT: Final = frozenset((Leaf, Generate))


class Subgraph:
    """The nodes through which results depend on variables.

    Two class attributes are functions that return what :meth:`pull` returns, or None: ``at_once``, which
    :mod:`gpuarray.autodiff.at_once` sets, computes it from the values of the cotangents if it is small; ``repeated``,
    which :mod:`gpuarray.autodiff.transposes` sets, copies what was recorded for a subgraph of the same structure.

    Parameters
    ----------
    results : sequence of Node
        What to differentiate.
    variables : sequence of Node
        With respect to what.
    record : Tape
        What has the operands of evaluated nodes.
    device : Device
        Where derivatives are computed.
    """

    at_once: Callable[["Subgraph", Sequence[Any]], list[GpuArray | None] | None]
    repeated: Callable[["Subgraph", Cotangents], list[GpuArray | None] | None]

    def __init__(self, results: Sequence[Node], variables: Sequence[Node], record: tape.Tape, device: Device) -> None:
        self.results = tuple(results)
        self.variables = tuple(variables)
        self.device = device
        self.values = record.values
        """The values of small nodes that are known already."""
        self.runs_code = False
        """Whether a derivative is one that the user has defined."""
        self.numbers: dict[Any, int] = {}
        """The numbers of the nodes that are one of several results of a joint."""
        self.nodes: list[Node] = []
        """The nodes from which the results are computed in order, those that no variable changes, too."""
        self.steps: list[tuple[Any, tuple[Any, ...], list[bool]]] = []
        """The nodes and joints that depend on variables in order, their operands, and which of these depend on them."""
        self._varying: set[Any] = {node for node in self.variables if node.dtype.kind in "fc"}
        self._find_steps(record)

    def _find_steps(self, record: tape.Tape) -> None:
        """Note the nodes between the variables and the results, operands before their users."""
        joints: dict[Any, Outputs] = {}
        known, replaced, varying = record.operands, record.replaced, self._varying
        visited: set[Any] = {*self.variables}
        stack: list[Any] = [*self.results]
        pop, push, extend, visit = stack.pop, stack.append, stack.extend, visited.add
        while stack:
            node = pop()
            kind = type(node)
            if kind is tuple:  # a node that was entered, whose operands have been noted
                node, operands = node
                needed = [operand in varying for operand in operands]
                if isinstance(node, BaseNode):
                    self.nodes.append(node)  # type: ignore[arg-type]  # all classes of nodes are kinds
                    if True not in needed or node.dtype.kind not in "fc":
                        continue
                elif True not in needed:
                    continue
                elif type(node) is not Outputs:
                    self.runs_code = True
                varying.add(node)
                self.steps.append((node, operands, needed))
                continue
            if node in visited or (kind in _CONSTANT and node not in replaced):
                continue
            visit(node)
            if node in replaced:
                joint, self.numbers[node] = replaced[node]
                operands = (joint,)
            else:  # a new tuple, so that the operands have one more reference and are not overwritten
                operands = (*(node.inputs or known.get(node, ())),)
                if kind is Call and operands:
                    operands = (self._joint(node, operands, record, joints),)
            push((node, operands))
            extend(operands[::-1])

    def _joint(self, node: Call, operands: tuple[Any, ...], record: tape.Tape, joints: dict[Any, Outputs]) -> Outputs:
        """Return the joint between the outputs of a call and its operands."""
        key = node.op, operands, node.detail[1]
        self.numbers[node] = node.output
        if key not in joints:
            joints[key] = Outputs(node, operands, dict(record.calls.get(key, {})))
        joints[key].known[node.output] = node
        return joints[key]

    def varies(self, node: Any) -> bool:
        """Return whether a node depends on a variable."""
        return node in self._varying

    def pull(self, cotangents: Cotangents, pullback: Pullback | None = None) -> list[GpuArray | None]:
        """Return the cotangents of the variables, given those of the results; None stands for zeros."""
        seeds = [None if ct is None else value_of(ct.node()) for ct in cotangents]
        if all((seed is None) == (ct is None) for seed, ct in zip(seeds, cotangents, strict=True)):
            gradients = Subgraph.at_once(self, seeds)
            if gradients is not None:
                return gradients
        pullback = pullback or Pullback()
        if pullback.is_whole(len(self.steps)):
            gradients = Subgraph.repeated(self, cotangents)
            if gradients is not None:
                pullback.count += len(self.steps)
                return gradients
        return self.record(cotangents, pullback)

    def record(self, cotangents: Cotangents, pullback: Pullback) -> list[GpuArray | None]:
        """Return the cotangents of :meth:`pull`, by the rules of the nodes."""
        pieces = Pieces(self, pullback)
        # constants are part of the kernels that read them
        with standing_for() as stand, using(pending_limit=tape.UNBOUNDED, direct_pinned=False):
            known = Sums(pieces.reach, stand)
            for node, ct in zip(self.results, cotangents, strict=True):
                if ct is not None and node in self._varying:
                    known.add(node, ct)
            for step, (node, operands, needed) in reversed([*enumerate(self.steps)]):
                pieces.pass_by(step, known)
                ct = known.pop(node)
                if ct is None:
                    continue
                if node in self.numbers:
                    if type(operands[0]) is Outputs and operands[0].origin is None:
                        operands[0].origin = node.origin
                    known.add_output(operands[0], self.numbers[node], ct)  # equal calls are one joint
                    continue
                origin = node.origin if isinstance(node, BaseNode | Outputs) else None  # others run a program's code
                for operand in operands:  # constants of the line
                    if isinstance(operand, BaseNode) and operand.origin is None:
                        operand.origin = origin
                stand(origin)
                if type(node) is View and is_part(node.layout, operands[0]):
                    known.add_part(operands[0], node.layout, ct, origin)
                    continue
                if isinstance(node, BaseNode):
                    shares = rules[type(node)](node, operands, ct, needed, self.device)
                else:
                    with using(pending_limit=pieces.limit):
                        shares = node.pull(ct, needed, self.device, pieces.pullback)
                for operand, share, is_needed in zip(operands, shares, needed, strict=True):
                    if share is not None and is_needed:
                        known.add(operand, share)
            cts = [known.pop(node) for node in self.variables]
        return [None if ct is None else unshared(ct) for ct in cts]


@contextmanager
def standing_for() -> Iterator[Callable[[Origin | None], None]]:
    """Yield a function that says of which line the derivative is that this thread records next."""
    thread = get_ident()
    if thread in assumed_origins or not recording.origins:  # a derivative within a derivative
        yield lambda _origin: None
        return

    def stand(origin: Origin | None) -> None:
        line = derivative_of(origin)
        if line is None:
            assumed_origins.pop(thread, None)
        else:
            assumed_origins[thread] = line

    try:
        yield stand
    finally:
        assumed_origins.pop(thread, None)


class differentiated(tape.recording):  # noqa: N801  # a context manager
    """Give this thread a tape, and return it with variables that have the values of some nodes.

    Parameters
    ----------
    sources : sequence of Node
        The nodes.
    """

    __slots__ = ("_own", "_sources")

    def __init__(self, sources: Sequence[Node]) -> None:
        self._sources = sources

    def __enter__(self) -> tuple[tape.Tape, list[Node]]:  # type: ignore[override]  # more than the tape
        variables = [variable(node) for node in self._sources]
        self._own = [node for node in variables if node.dtype.kind in "fc"]
        record = super().__enter__()
        record.variables.update(self._own)
        return record, variables

    def __exit__(self, *error: object) -> None:
        self._tape.variables.difference_update(self._own)
        super().__exit__(*error)


def called(op: CallOp, operands: Sequence[Any], shape: Shape, dtype: DType, **parameters: Any) -> Any:
    """Return the first output of a call, of arrays of this package or of NumPy."""
    return outputs_of(op, operands, [(shape, dtype)], **parameters)[0]


def outputs_of(
    op: CallOp, operands: Sequence[Any], kinds: Sequence[tuple[Shape, DType]], **parameters: Any
) -> Sequence[Any]:
    """Return the outputs of a call, of given shapes and dtypes; of arrays of this package or of NumPy."""
    first = operands[0]
    if isinstance(first, GpuArray):
        nodes = build.call(op, [operand.node() for operand in operands], parameters, kinds)
        return [wrap(node, first.device) for node in nodes]
    results = op.numpy(*operands, **parameters)
    return results if isinstance(results, tuple) else (results,)


def through(function: Callable[..., GpuArray], operands: Sequence[GpuArray], ct: GpuArray) -> list[GpuArray | None]:
    """Return the cotangents of the operands of a composition, given that of its result."""
    with differentiated([operand.node() for operand in operands]) as (record, variables):
        result = function(*(wrap(node, ct.device) for node in variables))
        subgraph = Subgraph([result.node()], variables, record, ct.device)
    return subgraph.pull([ct])


def unshared(ct: GpuArray) -> GpuArray:
    """Return a cotangent as an array to which a program may write: others may have the same one, or it is a view."""
    return wrap(ct.node(), ct.device)


def zeros_like(array: GpuArray) -> GpuArray:
    """Return zeros with the shape, dtype and device of an array."""
    return wrap(build.full(array.shape, 0, array.dtype), array.device)
