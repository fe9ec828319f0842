"""The errors of missing rules, with the name of the function and the source line that needs it."""

from typing import Any

from gpuarray.errors import BatchingError, DerivativeError
from gpuarray.graph.nodes import Call
from gpuarray.ops import calls, factorisations
from gpuarray.source_locations import locate


def undefined(node: Any, name: str) -> DerivativeError:
    """Return the error for a node of which the derivative is needed."""
    where = line_of(node)
    return DerivativeError(
        f"the derivative of {name} is not implemented{where}; use gpuarray.stop_gradient for a constant"
    )


def without_rule(node: Any, name: str, why: str = "") -> BatchingError:
    """Return the error for a node that has no counterpart for all elements of a batch."""
    return BatchingError(f"vmap has no batching rule for {name}{why}{line_of(node)}")


def name_of(call: Call) -> str:
    """Return the name under which users know a call."""
    op = call.op
    if op in (calls.fold_spans, calls.running_fold):
        method = call.parameters.get("method", "accumulate")
        return f"{call.parameters['combine'].name}.{method}"
    return f"linalg.{op.name}" if op in vars(factorisations).values() else op.name


def line_of(node: Any) -> str:
    """Return the line that recorded a node, for the end of a message."""
    return "" if node.origin is None else locate(node.origin).quoted
