"""Nested containers: their leaves in order, and the same containers with other leaves.

Tuples, lists, dictionaries, named tuples, dataclasses and what optree knows are containers, and None is one without
leaves. Dictionaries are in the order of their keys if these can be sorted, as JAX has it.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from gpuarray.array import GpuArray


def leaves(tree: Any) -> list[Any]:
    """Return the leaves of nested containers."""
    if type(tree) is GpuArray:
        return [tree]
    if _is_plain(tree):
        return [*tree]
    arrays: list[Any] = []
    rebuilt(tree, lambda leaf: arrays.append(leaf))
    return arrays


def _is_plain(tree: Any) -> bool:
    """Return whether a container is a tuple of arrays, as most are."""
    return type(tree) is tuple and {*map(type, tree)} == {GpuArray}


def rebuilt(tree: Any, change: Callable[[Any], Any]) -> Any:
    """Return the same containers with each leaf changed by a function, which is called in order."""
    kind = type(tree)
    if kind is GpuArray:
        return change(tree)
    if kind is tuple or kind is list:
        return kind([rebuilt(item, change) for item in tree])
    if tree is None:
        return None
    if (taken := _taken_apart(tree)) is not None:
        items, join = taken
        return join([rebuilt(item, change) for item in items])
    if isinstance(tree, dict):
        children = {key: rebuilt(tree[key], change) for key in _ordered(tree)}
        changed = {key: children[key] for key in tree}
        return changed if type(tree) is dict else type(tree)(changed)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(rebuilt(item, change) for item in tree))
    if isinstance(tree, list | tuple):
        return kind(rebuilt(item, change) for item in tree)
    if hasattr(kind, "__dataclass_fields__"):
        return replace(tree, **{f.name: rebuilt(getattr(tree, f.name), change) for f in fields(tree) if f.init})
    return change(tree)


def _taken_apart(tree: Any) -> tuple[list[Any], Callable[[list[Any]], Any]] | None:
    """Return the items of a container whose class optree knows, for all or for us, and what joins others; or None."""
    optree = sys.modules.get("optree")
    if optree is None or type(tree) in _BUILTIN:
        return None
    entry = optree.register_pytree_node.get(type(tree), namespace="gpuarray")
    if entry is None:
        return None
    items, about, *_ = entry.flatten_func(tree)
    return [*items], lambda leaves: entry.unflatten_func(about, leaves)


#: Containers that are the same with optree and without.
_BUILTIN = frozenset((dict, list, tuple, type(None)))


def _ordered(keys: Iterable[Any]) -> list[Any]:
    try:
        return sorted(keys)
    except TypeError:
        return list(keys)


def children(tree: Any) -> dict[Any, Any] | None:
    """Return the items of a container in order, by key, position or field; None if it is no container."""
    if (taken := _taken_apart(tree)) is not None:
        return dict(enumerate(taken[0]))
    if isinstance(tree, dict):
        return {key: tree[key] for key in _ordered(tree)}
    if isinstance(tree, list | tuple):
        return dict(enumerate(tree))
    if is_dataclass(tree) and not isinstance(tree, type):
        return {f.name: getattr(tree, f.name) for f in fields(tree) if f.init}
    return None


def with_leaves(tree: Any, values: Iterable[Any]) -> Any:
    """Return the same containers with other leaves."""
    if type(tree) is GpuArray:
        (value,) = values
        return value
    if _is_plain(tree):
        return (*values,)
    remaining: Iterator[Any] = iter(values)
    return rebuilt(tree, lambda _: next(remaining))


def outline(tree: Any) -> Any:
    """Return the structure of a container, without its leaves, which can be compared."""
    if (taken := _taken_apart(tree)) is not None:
        return type(tree), tuple([outline(item) for item in taken[0]])
    if isinstance(tree, dict):
        return type(tree), tuple((key, outline(tree[key])) for key in _ordered(tree))
    if isinstance(tree, list | tuple):
        return type(tree), tuple(outline(item) for item in tree)
    if is_dataclass(tree) and not isinstance(tree, type):
        return type(tree), tuple(outline(getattr(tree, f.name)) for f in fields(tree))
    return None if tree is None else "leaf"


def require_same(tree: Any, expected: Any, what: str) -> None:
    """Raise TypeError unless containers have the same structure.

    Raises
    ------
    TypeError
        If they have not.
    """
    if outline(tree) != outline(expected):
        raise TypeError(f"{what} must have the structure {described(expected)}, not {described(tree)}")


def described(tree: Any) -> str:
    """Return a structure as text, with ``*`` for each leaf."""
    return repr(rebuilt(tree, lambda _: _STAR))


class _Star:
    def __repr__(self) -> str:
        return "*"


_STAR = _Star()
