"""Graphs in words, for people, from what their nodes said: the nodes themselves may be gone.

So a plan can be explained as long as it is kept, and keeps no array alive for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpuarray.dtypes import DType
from gpuarray.graph.layouts import Shape
from gpuarray.graph.walk import Meaning


@dataclass(frozen=True, slots=True)
class Described:
    """One node of a graph.

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
        Its operands, by number.
    detail : str
        What else it says, such as axes.
    """

    kind: str
    name: str
    dtype: DType
    shape: Shape
    inputs: tuple[int, ...]
    detail: str = ""


def described(meanings: Sequence[Meaning]) -> list[Described]:
    """Return the nodes of a graph in words."""
    found = []
    for kind, op, dtype, shape, detail, inputs in meanings:
        name = kind.__name__.lower()
        text = kind.describe(detail)  # type: ignore[attr-defined]  # a class of nodes has it
        found.append(Described(name, name if op is kind else op.name, dtype, shape, inputs, text))
    return found
