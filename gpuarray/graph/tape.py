"""What an evaluation would erase of a graph, kept while a function is differentiated.

A node that was evaluated lets its operands go (:meth:`gpuarray.graph.nodes.BaseNode.resolve`). While a thread has a
:class:`Tape`, the operands of a node that depends on one of its variables are noted there first, so that a function may
read values and record graphs of any length. Nested derivatives share the tape of the thread. A function may let other
threads evaluate, so each evaluation notes on the tapes of all threads.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any, Final

from gpuarray.errors import DerivativeError
from gpuarray.immediacy import immediacy
from gpuarray.source_locations import frame_at, is_user_file, locate


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
    """

    __slots__ = ("calls", "depth", "operands", "replaced", "variables")

    def __init__(self) -> None:
        self.depth = 0
        self.variables: set[Any] = set()
        self.operands: dict[Any, tuple[Any, ...]] = {}
        self.replaced: dict[Any, tuple[Any, int]] = {}
        self.calls: dict[Any, dict[int, Any]] = {}

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
            else:
                operands = below.inputs
            for operand in operands:
                if operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
        return False

    def operands_of(self, node: Any) -> tuple[Any, ...]:
        """Return the operands that a node has or had."""
        return node.inputs or self.operands.get(node, ())


class _State:
    """The tapes of all threads, by thread: asked before the thread is, as there is none nearly always."""

    __slots__ = ("tapes",)

    def __init__(self) -> None:
        self.tapes: dict[int, Tape] = {}


state: Final = _State()


def active() -> Tape | None:
    """Return the tape of this thread; None if it differentiates nothing."""
    return state.tapes.get(get_ident()) if state.tapes else None


def note(node: Any) -> None:
    """Keep the operands of a node that is about to lose them on the tapes of those whose variables it depends on."""
    for tape in [*state.tapes.values()]:
        tape.note(node)


def replace(node: Any, rule: Any, number: int) -> None:
    """Note who knows the derivative of a node, and which of the results it is, on the tapes that it concerns."""
    own = active()
    for tape in [*state.tapes.values()]:
        if tape is own or any(tape.varies(below) for below in (node, *rule.inputs)):
            tape.replaced[node] = rule, number


def varying(node: Any) -> bool:
    """Return whether a node of real or complex numbers depends on a variable of any thread."""
    return node.dtype.kind in "fc" and any(tape.varies(node) for tape in [*state.tapes.values()])


#: Functions with which a program reads values. Derivatives treat what it computes from them as constant.
_READERS: Final = frozenset((
    "__bool__", "__complex__", "__contains__", "__float__", "__format__", "__hash__", "__index__", "__int__",
    "__iter__", "__reduce__", "__repr__", "__round__", "__str__", "_repr_html_", "array2string", "array_repr",
    "array_str", "as_integer_ratio", "asnumpy", "dump", "dumps", "get", "is_integer", "item", "save", "savetxt",
    "savez", "savez_compressed", "to_numpy", "tobytes", "tofile", "tolist",
))  # fmt: skip


def check_reader(node: Any) -> None:
    """Raise DerivativeError if a function reads a value that depends on a variable, and goes on without the graph.

    A program may read values, by what :data:`_READERS` names.
    """
    if not varying(node):
        return
    frame, inner = frame_at(1), frame_at(1)
    while frame.f_back is not None and not is_user_file(frame.f_code.co_filename):
        frame, inner = frame.f_back, frame
    name = inner.f_code.co_name
    if name in _READERS:
        return
    called = inner.f_locals.get("function", inner.f_locals.get("ufunc"))
    name = getattr(called, "__name__", name)
    hint = "; make arrays of arrays with gpuarray.stack, and read values with x.get()" if name == "__array__" else ""
    place = f" ({locate((frame.f_code, frame.f_lasti))}: {locate((frame.f_code, frame.f_lasti)).text})"
    raise DerivativeError(
        f"{name} computes with values on the host, so that it has no derivative{place}{hint}; use "
        "gpuarray.stop_gradient for a constant"
    )


@contextmanager
def recording() -> Iterator[Tape]:
    """Give this thread a tape, or share the one that it has."""
    thread = get_ident()
    tape = state.tapes.setdefault(thread, Tape())
    tape.depth += 1
    try:
        with immediacy.suspended():
            yield tape
    finally:
        tape.depth -= 1
        if not tape.depth:
            del state.tapes[thread]
