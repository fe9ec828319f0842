"""The error of a missing derivative, with the source line that needs it."""

from typing import Any

from gpuarray.errors import DerivativeError
from gpuarray.source_locations import locate


def undefined(node: Any, name: str, why: str = "is not implemented") -> DerivativeError:
    """Return the error for a node of which the derivative is needed."""
    return DerivativeError(f"the derivative of {name} {why}{line_of(node)}; use gpuarray.stop_gradient for a constant")


def line_of(node: Any) -> str:
    """Return the line that recorded a node, for the end of a message."""
    if node.origin is None:
        return ""
    location = locate(node.origin)
    return f" ({location}: {location.text})" if location.text else f" ({location})"
