"""The text of arrays, formatted by NumPy from the elements that are shown, so that only these are downloaded."""

from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from gpuarray.graph import build
from gpuarray.graph.layouts import contiguous, slice_axis
from gpuarray.graph.nodes import Node
from gpuarray.runtime import evaluate
from gpuarray.runtime.history import without_frames

_PREFIX = "GpuArray("


def _shown(array: Any) -> tuple[npt.NDArray[Any], bool]:
    """Return the elements that NumPy's print options show, on the host, and whether others are omitted."""
    options = np.get_printoptions()
    edge = options["edgeitems"]
    if array.size <= options["threshold"]:
        return evaluate.read(array.settled(), array.device), False
    node: Node = array.node()
    for axis, extent in enumerate(array.shape):
        # one more than is shown on each side, so that NumPy's formatter adds an ellipsis
        if extent > 2 * edge + 1:
            node = _edges(node, axis, edge)
    return evaluate.read(node, array.device), True


def _edges(node: Node, axis: int, edge: int) -> Node:
    """Return the first ``edge + 1`` and the last ``edge`` positions of an axis."""
    extent = node.shape[axis]
    layout = contiguous(node.shape)
    front = build.view(node, slice_axis(layout, axis, 0, 1, edge + 1))
    return build.concat([front, build.view(node, slice_axis(layout, axis, extent - edge, 1, edge))], axis)


def _body(array: Any, prefix: str, separator: str) -> str:
    host, shortened = _shown(array)
    if not shortened:
        return np.array2string(host, separator=separator, prefix=prefix)
    return np.array2string(host, separator=separator, prefix=prefix, threshold=0)


@without_frames
def representation(array: Any) -> str:
    """Return ``GpuArray([...], dtype=float32, device='cpu')``, with ``shape=`` if elements are omitted."""
    facts = [f"dtype={array.dtype.name}", f"device={array.device.name!r}"]
    if array.size == 0:
        facts.insert(0, f"shape={array.shape}")
        body = "[]"
    else:
        body = _body(array, _PREFIX, ", ")
        if array.size > np.get_printoptions()["threshold"]:
            facts.insert(0, f"shape={array.shape}")
    tail = ", ".join(facts) + ")"
    last = body.rsplit("\n", 1)[-1]
    fits = len(last) + len(tail) + 2 + (len(_PREFIX) if "\n" not in body else 0) <= np.get_printoptions()["linewidth"]
    gap = ", " if fits else ",\n" + " " * len(_PREFIX)
    return _PREFIX + body + gap + tail


@without_frames
def text(array: Any) -> str:
    """Return ``str`` of the NumPy array with the same elements."""
    return str(array.get()[()]) if not array.shape else _body(array, "", " ")


def html(array: Any) -> str:
    """Return a table of the array's properties and the shown elements, for notebooks."""
    facts = {"shape": array.shape, "dtype": array.dtype.name, "device": array.device.name, "bytes": f"{array.nbytes:,}"}
    cells = "".join(f"<th>{name}</th><td>{escape(str(value))}</td>" for name, value in facts.items())
    return f"<table><tr>{cells}</tr></table><pre>{escape(text(array))}</pre>"
