"""Tapes, which keep graphs that evaluations would erase while a function is differentiated; placeholders of batches.

A node that was evaluated releases its operands (:meth:`gpuarray.graph.nodes.BaseNode.resolve`). While a thread has a
:class:`Tape`, the operands of a node that depends on one of its variables are noted there first, so that a function may
read values and record graphs of any length. Nested derivatives share the tape of the thread. A function may let other
threads evaluate, so each evaluation notes on the tapes of all threads.

A function that is mapped over a batch is run once, with placeholders: leaves without values, each of which stands for
one element of a batch. The tape knows to which batch they belong. What depends on them is never evaluated.
"""

import cmath
import math
from collections.abc import Callable, Sequence
from threading import get_ident
from types import FrameType
from typing import Any, Final, Protocol

import numpy as np

from gpuarray.device import Device
from gpuarray.errors import BatchingError, DerivativeError
from gpuarray.immediacy import resume_all, suspend_all
from gpuarray.source_locations import Origin, called_by, frame_at, is_user_file, locate, name_of_call, writes_element

#: A limit of the depth of pending graphs that none reaches, for graphs that are not evaluated in parts.
UNBOUNDED: Final = 1 << 30


class Batch(Protocol):
    """A batch over which a function is mapped.

    Attributes
    ----------
    level : int
        How many batches surround it.
    size : int
        How many elements it has.
    sources : dict
        The values for all elements, by placeholder.
    """

    level: int
    size: int
    sources: dict[Any, Any]

    def batched(self, nodes: Sequence[Any], device: Device) -> list[Any]:
        """Return nodes for all elements, with the axis of the batch in front; None for those without a batch."""

    def placeholder(self, source: Any) -> Any:
        """Return a node that stands for one element of values along their first axis."""


class Tape:
    """The operands of evaluated nodes that depend on variables, and the nodes that have a derivative of their own.

    Attributes
    ----------
    variables : set of Node
        The nodes with respect to which something is differentiated.
    operands : dict
        The operands that evaluated nodes had.
    replaced : dict
        For the results of functions that have a derivative of their own, who knows it, and the number of the result.
    calls : dict
        The outputs of evaluated calls by number, by what the outputs of one call have in common.
    batches : dict
        The batch of each placeholder.
    values : dict
        The values of small nodes that were computed with others and have no result of their own.
    """

    __slots__ = ("batches", "calls", "depth", "operands", "replaced", "values", "variables")

    def __init__(self) -> None:
        self.depth = 0
        self.variables: set[Any] = set()
        self.operands: dict[Any, tuple[Any, ...]] = {}
        self.replaced: dict[Any, tuple[Any, int]] = {}
        self.calls: dict[Any, dict[int, Any]] = {}
        self.batches: dict[Any, Batch] = {}
        self.values: dict[Any, Any] = {}

    def note(self, node: Any) -> None:
        """Keep the operands of a node that is about to lose them, if it depends on a variable."""
        if self.varies(node):
            self.operands[node] = node.inputs
            output = getattr(node, "output", None)
            if output is not None:
                self.calls.setdefault((node.op, node.inputs, node.detail[1]), {})[output] = node

    def varies(self, node: Any) -> bool:
        """Return whether a node depends on a variable."""
        known, variables = self.operands, self.variables
        seen = {node}
        stack = [node]
        while stack:
            below = stack.pop()
            if below in variables:
                return True
            if below in self.replaced:
                operands = self.replaced[below][0].inputs
            elif below in known:
                return True
            elif below in self.batches:
                operands = (self.batches[below].sources[below],)
            else:
                operands = below.inputs
            for operand in operands:
                if operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
        return False

    def batch_of(self, node: Any) -> "Batch | None":
        """Return the innermost batch on whose placeholders a node depends; None if there is none."""
        innermost: Batch | None = None
        seen = {node}
        stack = [node]
        while stack:
            below = stack.pop()
            batch = self.batches.get(below)
            if batch is not None and (innermost is None or batch.level > innermost.level):
                innermost = batch
            for operand in below.inputs:
                if operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
        return innermost


class _Tapes:
    """The tapes of all threads, by thread. Code looks here first, because there is nearly never a tape.

    Attributes
    ----------
    tapes : dict
        The tapes.
    with_rule : callable
        Returns an array that was computed from others with a derivative of its own: takes it, the others, and a
        function that takes its cotangent and the others, and returns theirs. :mod:`gpuarray.autodiff` sets it.
    constant : callable
        Returns a node of real or complex numbers with the value of another one, on which no derivative depends.
        :mod:`gpuarray.autodiff` sets it.
    """

    __slots__ = ("constant", "tapes", "with_rule")

    constant: Callable[[Any], Any]
    with_rule: Callable[[Any, Sequence[Any], Callable[..., Sequence[Any]]], Any]

    def __init__(self) -> None:
        self.tapes: dict[int, Tape] = {}


state: Final = _Tapes()


def active() -> Tape | None:
    """Return the tape of this thread; None if it differentiates nothing."""
    return state.tapes.get(get_ident()) if state.tapes else None


def note(node: Any) -> None:
    """Keep the operands of a node that is about to lose them on the tapes of those whose variables it depends on."""
    for tape in [*state.tapes.values()]:
        tape.note(node)


def replace(node: Any, rule: Any, number: int) -> None:
    """Note who knows the derivative of a node, and which of the results it is, on the tapes that it concerns."""
    innermost = active()
    for tape in [*state.tapes.values()]:
        if tape is innermost or any(tape.varies(below) for below in (node, *rule.inputs)):
            tape.replaced[node] = rule, number


def varying(node: Any) -> bool:
    """Return whether a node of real or complex numbers depends on a variable of any thread."""
    return node.dtype.kind in "fc" and any(tape.varies(node) for tape in [*state.tapes.values()])


def is_distinct(node: Any) -> bool:
    """Return whether a node differs from all with the same operation and operands, because a tape knows more of it.

    It is a variable, a result with a derivative of its own, or a placeholder of a batch.
    """
    return any(
        node in tape.variables or node in tape.replaced or node in tape.batches for tape in [*state.tapes.values()]
    )


def batch_of(node: Any) -> Batch | None:
    """Return the innermost batch of any thread on whose placeholders a node depends; None if there is none."""
    for tape in [*state.tapes.values()]:
        if tape.batches and (batch := tape.batch_of(node)) is not None:
            return batch
    return None


def is_followed(node: Any) -> bool:
    """Return whether a node depends on a variable or a batch of any thread, so that its graph is needed."""
    return varying(node) or batch_of(node) is not None


def whole(node: Any, device: Device) -> Any:
    """Return the values of a node for all elements of the batches on which it depends."""
    while (batch := batch_of(node)) is not None:
        (whole_node,) = batch.batched([node], device)
        node = node if whole_node is None else whole_node
    return node


def check_batched(nodes: Sequence[Any], *, is_shape: bool = False) -> None:
    """Raise BatchingError if the value of a node is wanted that stands for one element of a batch.

    ``is_shape`` says that a result has a shape that depends on it.
    """
    if any(batch_of(node) is not None for node in nodes):
        name, location = _reader()
        if is_shape:
            raise BatchingError(
                f"{name} has a result whose shape depends on values, which differ along the axis that vmap maps over"
                f"{location}; do not map over this array"
            )
        raise BatchingError(
            f"{name.strip('_')} needs a value, which differs along the axis that vmap maps over{location}; choose "
            "between values with np.where, or do not map over this array"
        )


#: Functions with which a program reads values. Derivatives treat results that it computes from them as constant.
_READERS: Final = frozenset((
    "__bool__", "__complex__", "__contains__", "__float__", "__format__", "__hash__", "__index__", "__int__",
    "__iter__", "__reduce__", "__repr__", "__round__", "__str__", "_repr_html_", "array2string", "array_repr",
    "array_str", "as_integer_ratio", "asnumpy", "dump", "dumps", "get", "is_integer", "item", "save", "savetxt",
    "savez", "savez_compressed", "to_numpy", "tobytes", "tofile", "tolist",
))  # fmt: skip


#: Modules of functions that convert their arguments to numbers to compute with them.
_COMPUTING: Final = frozenset(("cmath", "math", "numpy"))
#: Their functions whose results never change by a little.
_DECIDING: Final = (
    math.ceil, math.floor, math.isclose, math.isfinite, math.isinf, math.isnan, math.trunc,
    cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan,
)  # fmt: skip
#: Alternatives that an error proposes, by the name of a function.
_HINTS: Final = {
    "__array__": "; make arrays of arrays with gpuarray.stack, and read values with x.get()",
    "numpy.fromiter": "; make arrays of arrays with gpuarray.stack",
    "a write to an array of NumPy": "; write to an array of this package",
}


def check_reader(node: Any, reader: tuple[str, Origin] | None = None) -> None:
    """Raise DerivativeError if a function reads a value that depends on a variable, and goes on without the graph.

    A program may read values, by what :data:`_READERS` names, unless they stand for one element of a batch, or a
    function of ``math`` or NumPy reads them to compute with them.

    Parameters
    ----------
    node : Node
        The value.
    reader : tuple, optional
        The name of the function and the line that calls it, if the stack does not tell.
    """
    check_batched((node,))
    if not varying(node):
        return
    name, location = _reader() if reader is None else (reader[0], locate(reader[1]).quoted)
    if name in _READERS:
        return
    raise DerivativeError(
        f"{name} computes with values on the host and has no derivative{location}{_HINTS.get(name, '')}; use "
        "gpuarray.stop_gradient for a constant"
    )


def _reader() -> tuple[str, str]:
    """Return the name of the function that the user's code calls, and the line."""
    frame, inner = frame_at(1), frame_at(1)
    while frame.f_back is not None and not is_user_file(frame.f_code.co_filename):
        frame, inner = frame.f_back, frame
    name = name_of_call(inner)
    if name in ("__float__", "__complex__"):
        name = _computing(frame) or name
    return name, locate((frame.f_code, frame.f_lasti)).quoted


def _computing(frame: FrameType) -> str | None:
    """Return the name of what computes with a number that a line asks an array for; None if nothing is known to."""
    if writes_element(frame):  # Python's own containers convert nothing
        return "a write to an array of NumPy"
    called = called_by(frame)
    owner = getattr(called, "__self__", None)
    module = "numpy" if isinstance(owner, np.ndarray) else str(getattr(called, "__module__", None))
    name = getattr(called, "__name__", "")
    is_deciding = any(called is function for function in _DECIDING)
    return f"{module}.{name}" if module in _COMPUTING and not is_deciding else None


class recording:  # noqa: N801  # a context manager, which as a generator would take three times as long
    """Give this thread a tape, or share the one that it has, for the duration of a ``with`` block.

    All threads record their operations meanwhile: the function may hand its arrays to other threads.
    """

    __slots__ = ("_tape", "_thread")

    def __enter__(self) -> Tape:
        self._thread = get_ident()
        self._tape = state.tapes.setdefault(self._thread, Tape())
        self._tape.depth += 1
        suspend_all()
        return self._tape

    def __exit__(self, *error: object) -> None:
        resume_all()
        self._tape.depth -= 1
        if not self._tape.depth:
            del state.tapes[self._thread]
