"""Choices: the reasons for which a composition computes a value in a certain way, as texts for ``explain``.

They are stored outside of the nodes, because they do not affect what a node means.
"""

from collections.abc import Iterable
from typing import Final
from weakref import WeakKeyDictionary

from gpuarray.graph.nodes import Node

_choices: Final[WeakKeyDictionary[Node, str]] = WeakKeyDictionary()


def note(node: Node, choice: str) -> None:
    """Note a choice that led to a node."""
    _choices[node] = choice


def noted(node: Node) -> str | None:
    """Return the choice that led to a node, if one was noted."""
    return _choices.get(node)


def among(nodes: Iterable[Node]) -> tuple[str, ...]:
    """Return the choices that led to some nodes, each once."""
    return tuple(dict.fromkeys(choice for node in nodes if (choice := _choices.get(node)) is not None))
