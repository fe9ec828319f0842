"""Transposes of subgraphs, which are recorded once for all subgraphs of one structure.

To apply the rules takes several times as long as to record the function. What they record follows from the operations,
dtypes and shapes of a subgraph, and from constants in it. So it is recorded with placeholders for values when a
structure occurs for the second time, and copied for each further subgraph of the structure. A constant that was not the
same in all of them has a placeholder too. Where a rule asks for a value, the rules are applied to each subgraph.
"""

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import nullcontext
from threading import get_ident
from typing import Any, Final, NamedTuple, TypeAlias

from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff.pieces import Pullback
from gpuarray.autodiff.subgraph import Cotangents, Outputs, Subgraph, differentiated
from gpuarray.config import config, using
from gpuarray.dtypes import bool_
from gpuarray.errors import GpuArrayError
from gpuarray.graph import tape, tracing
from gpuarray.graph.nodes import Generate, Node, copied
from gpuarray.graph.repeats import CopiedGraph, UnknownError, unknown
from gpuarray.settings import recording
from gpuarray.source_locations import assumed_origins, derivative_of

#: How many structures are kept.
_KEPT: Final = 512


class _Transpose(NamedTuple):
    """The transpose of the subgraphs of one structure.

    Attributes
    ----------
    graph : CopiedGraph
        The cotangents of the variables, computed from nodes of the subgraph and cotangents of the results.
    lines : list of (int, int)
        The numbers of nodes of the graph, and of the nodes of the subgraph of whose derivatives they are parts.
    places : list of int or None
        The number of the cotangent of each variable in the graph; None stands for zeros.
    constants : list of bytes or None
        The constants for which it was recorded; None for those that may have any value.
    """

    graph: CopiedGraph
    lines: list[tuple[int, int]]
    places: list[int | None]
    constants: "_Constants"


_Constants: TypeAlias = list[bytes | None]
#: By key, the one that was not used for longest first. It is the constants if the structure occurred once, and None if
#: rules ask for values.
_known: Final[OrderedDict[Any, _Transpose | _Constants | None]] = OrderedDict()


def pull(subgraph: Subgraph, cotangents: Cotangents) -> list[GpuArray | None] | None:
    """Return the cotangents of the variables of a subgraph, given those of the results.

    The result is None if the rules are to be applied to this subgraph.
    """
    if subgraph.runs_code or tracing.active() is not None or get_ident() in assumed_origins:
        return None
    structure = _TransposeKey(subgraph, cotangents)
    known = _known.pop(structure.key, structure.constants)
    if known is not None and known is not structure.constants:
        constants = known.constants if isinstance(known, _Transpose) else known
        if known is constants or not all(map(_agree, constants, structure.constants)):
            common = [a if a == b else None for a, b in zip(constants, structure.constants, strict=True)]
            known = structure.transpose(common)
    _known[structure.key] = known
    if len(_known) > _KEPT:
        _known.popitem(last=False)
    return structure.copied(known) if isinstance(known, _Transpose) else None


def _agree(recorded: bytes | None, constant: bytes | None) -> bool:
    return recorded is None or recorded == constant


Subgraph.repeated = staticmethod(pull)
#: The code of the origins of placeholders, in which the numbers of what they stand for are in place of instructions.
_NUMBERED: Final = pull.__code__
_UNCHANGED: Final = nullcontext()


class _TransposeKey:
    """The structure of a subgraph and of the cotangents of its results.

    Parameters
    ----------
    subgraph : Subgraph
        The subgraph.
    cotangents : sequence of GpuArray or None
        The cotangents.

    Attributes
    ----------
    key : tuple
        Equal for subgraphs whose transposes differ by constants at most.
    constants : list of bytes
        The constants in the subgraph.
    """

    def __init__(self, subgraph: Subgraph, cotangents: Cotangents) -> None:
        self._subgraph = subgraph
        #: What the transpose may refer to: nodes and joints of the subgraph, constants in it, and cotangents.
        self._nodes: list[Any] = []
        #: The numbers of their operands; None of those whose operands do not matter.
        self._operands: list[Sequence[int] | None] = []
        self._parts: list[Any] = [subgraph.device, config.current]
        self.constants: _Constants = []
        number: dict[Any, int] = {}
        for node, operands, needed in subgraph.steps:
            for operand in operands:
                if operand not in number:
                    number[operand] = self._add_source(operand)
            number[node] = self._add(node, [number[operand] for operand in operands], *needed)
            if type(node) is Outputs:
                for output in node.known.values():
                    if output.result is not None and not subgraph.varies(output):
                        self._add(output, [number[node]])
        for node in (*subgraph.results, *subgraph.variables):
            if node not in number:
                number[node] = self._add_source(node)
        self._results = [number[node] for node in subgraph.results]
        self._variables = [number[node] for node in subgraph.variables]
        self._seeds = [None if ct is None else self._add_source(ct.node()) for ct in cotangents]
        self.key = (*self._parts, tuple(self._results), tuple(self._variables), tuple(self._seeds))

    def _add(self, node: Any, operands: Sequence[int], *needed: bool) -> int:
        """Add a node or a joint with its operands, and return its number."""
        if type(node) is Outputs:
            self._parts.append((*operands, *needed, node.call.op, node.call.detail[1]))
        else:
            is_pending = node.result is None
            self._parts.append((*operands, *needed, node.op, node.dtype, node.shape, node.detail, is_pending))
        self._operands.append(operands)
        self._nodes.append(node)
        return len(self._nodes) - 1

    def _add_source(self, node: Any) -> int:
        """Add a node whose operands do not matter, and return its number."""
        is_constant = _is_constant(node)
        if is_constant:
            self.constants.append(node.detail[0].tobytes())
        self._parts.append((node.dtype, node.shape, is_constant))
        self._operands.append(None)
        self._nodes.append(node)
        return len(self._nodes) - 1

    def copied(self, transpose: _Transpose) -> list[GpuArray | None]:
        """Return the cotangents of the variables as a copy of a transpose."""
        device, nodes = self._subgraph.device, transpose.graph.nodes(self._nodes)
        for number, line in transpose.lines:
            nodes[number].origin = derivative_of(self._nodes[line].origin)
        deepest = max([nodes[place].depth for place in transpose.places if place is not None], default=0)
        with using(pending_limit=tape.UNBOUNDED) if deepest >= recording.counted else _UNCHANGED:
            return [None if place is None else wrap(nodes[place], device) for place in transpose.places]

    def transpose(self, constants: _Constants) -> _Transpose | None:
        """Record the transpose for some constants; return None if a rule reads a value, runs code, or fails."""
        device = self._subgraph.device
        sources = [unknown(node.shape, node.dtype) for node in self._subgraph.variables]
        try:
            with differentiated(sources) as (record, variables):
                code = len(record.replaced)
                stand_ins = self._stand_ins(variables, constants)
                results = [stand_ins[number] for number in self._results]
                seeds = [None if number is None else wrap(stand_ins[number], device) for number in self._seeds]
                cts = Subgraph(results, variables, record, device).record(seeds, Pullback())
                if len(record.replaced) > code:  # the derivative has a rule for its own derivative, which copies lack
                    return None
        except (UnknownError, GpuArrayError):
            return None
        graph = CopiedGraph([ct.node() for ct in cts if ct is not None], stand_ins, shares_pending=False)
        places = iter(graph.results)
        lines = [
            (number, node.origin[1])
            for number, (node, _) in enumerate(graph.steps, graph.first)
            if node.origin is not None and node.origin[0] is _NUMBERED
        ]
        return _Transpose(graph, lines, [None if ct is None else next(places) for ct in cts], constants)

    def _stand_ins(self, variables: Sequence[Node], constants: _Constants) -> list[Node]:
        """Return nodes without values that stand for those of the subgraph, given those of its variables."""
        known = dict(zip(self._variables, variables, strict=True))
        values = iter(constants)
        stand_ins: list[Node] = []
        for number, (node, operands) in enumerate(zip(self._nodes, self._operands, strict=True)):
            if type(node) is Outputs:
                stand_in: Node = unknown((), bool_)  # nothing refers to it
            elif operands is None:
                is_known = _is_constant(node) and next(values) is not None
                stand_in = copied(node, ()) if is_known else known.get(number) or unknown(node.shape, node.dtype)
            else:
                if type(self._nodes[operands[0]]) is Outputs:
                    operands = self._operands[operands[0]] or ()
                stand_in = copied(node, tuple([stand_ins[operand] for operand in operands]))
                if node.result is not None:
                    stand_in.resolve(unknown(node.shape, node.dtype))
            stand_in.origin = _NUMBERED, number
            stand_ins.append(stand_in)
        return stand_ins


def _is_constant(node: Any) -> bool:
    return type(node) is Generate and node.op.is_constant and node.result is None
