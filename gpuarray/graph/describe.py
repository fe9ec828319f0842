"""What a graph says, read back from the key of a walk over it: for people, when the nodes themselves are gone.

Invariant: reads exactly what :func:`gpuarray.graph.walk.topological` writes, which tells a graph from all others but
for the values of leaves and scalars. So a plan can be explained as long as it is kept, and keeps no array alive for it.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from gpuarray.dtypes import DType
from gpuarray.graph.layouts import Layout, Shape
from gpuarray.graph.nodes import Call, Concat, Leaf, Reduce, Scan, Scatter, View
from gpuarray.ops.spec import GenerateOp, MapOp


@dataclass(frozen=True, slots=True)
class Described:
    """One node of a walk.

    Attributes
    ----------
    kind : str
        The node's kind in lower case: ``"leaf"``, ``"map"``, ``"reduce"``, ...
    name : str
        Its row, or its kind if it has none.
    dtype : dtype
        Of the value.
    shape : tuple of int
        Of the value.
    inputs : tuple of int
        Places of its operands in the walk.
    detail : str
        What else it says, such as axes.
    """

    kind: str
    name: str
    dtype: DType
    shape: Shape
    inputs: tuple[int, ...]
    detail: str = ""


def described(key: Sequence[Hashable]) -> list[Described]:
    """Return the nodes of a walk by its key, in the order of their places."""
    found: list[Described] = []
    at = 0
    while at < len(key):
        item: Any = key[at]
        if isinstance(item, MapOp):
            stop = at + 3
            while stop < len(key) and type(key[stop]) is int:
                stop += 1
            places: Any = key[at + 3 : stop]
            found.append(Described("map", item.name, _dtype(key[at + 1]), _shape(key[at + 2]), tuple(places)))
            at = stop
        elif isinstance(item, GenerateOp):
            found.append(Described("generate", item.name, _dtype(key[at + 1]), _shape(key[at + 2]), ()))
            at += 3
        elif item is Leaf:
            found.append(Described("leaf", "leaf", _dtype(key[at + 1]), _shape(key[at + 2]), ()))
            at += 3
        else:
            found.append(_other(item))
            at += 1
    return found


def _dtype(item: Any) -> DType:
    found: DType = item
    return found


def _shape(item: Any) -> Shape:
    found: Shape = item
    return found


def _other(meaning: Any) -> Described:
    """Return what a node that is neither leaf, generator nor elementwise row says."""
    kind, dtype, shape, places, *rest = meaning
    name = kind.__name__.lower()
    detail = ""
    if kind is View:
        detail = _layout_text(rest[0])
    elif kind is Concat:
        detail = f"axis {rest[0]}"
    elif kind in (Reduce, Scan):
        name = rest[0].name
        detail = f"axis {', '.join(map(str, rest[1])) if kind is Reduce else rest[1]}"
    elif kind is Scatter:
        layout, combine = rest
        detail = combine.name if combine is not None else _layout_text(layout) if layout is not None else ""
    elif kind is Call:
        name = rest[0].name
        detail = f"output {rest[1]}" if rest[1] else ""
    return Described(kind.__name__.lower(), name, dtype, shape, places, detail)


def _layout_text(layout: Layout) -> str:
    start = f" from {layout.offset}" if layout.offset else ""
    return f"strides {'x'.join(map(str, layout.strides))}{start}"
