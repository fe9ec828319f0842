"""Which values an evaluation stores in addition to the requested ones.

A value without a buffer is computed again when it is read later. Results with a launch of their own are stored if an
array of the program has them, and so are values whose storage costs little compared with computing them again. Other
values of arrays are stored when a second evaluation computes them, and from then on in the first evaluation, too, of
graphs of the same structure.
"""

from collections.abc import Sequence, Set
from typing import Final, assert_never
from weakref import ref

from gpuarray.fusion import costs
from gpuarray.graph.nodes import (
    Call,
    Concat,
    Contract,
    Gather,
    Generate,
    Leaf,
    Map,
    Node,
    Reduce,
    Scan,
    Scatter,
    View,
)
from gpuarray.graph.walk import Walk, current

#: Values of at most so many bytes are stored when they are computed a second time; larger ones if a leaf of the graph
#: is as large.
LIGHT: Final = 1 << 26

_computed: Final[dict[ref[Node], tuple[list[int], int]]] = {}
"""Values that arrays had while something was computed from them, and that were not stored. For each the indices of the
values that are stored of its graph, and its own index there."""


def storable(walk: Walk, roots: Sequence[Node]) -> list[int]:
    """Return the indices of the values below ``roots`` that are stored if arrays have them.

    These are results that take a launch of their own, and what is computed of such, if to store it is little beside
    what would have to be done again. Single numbers are stored when they are computed again: programs have chains of
    them.
    """
    order, position = walk
    asked = {position[root] for root in roots}
    indices = []
    work = [0] * len(order)  # operations that would be repeated to compute a value again
    for index, node in enumerate(order):
        match node:
            case Leaf() | Generate():
                pass
            case Reduce() | Scan() | Scatter() | Contract() | Call():
                work[index] = costs.of_launch(node)
                indices.append(index)
            case Map() | View() | Concat() | Gather():
                work[index] = max([work[position[current(operand)]] for operand in node.inputs])
                if isinstance(node, Map) and 1 < node.size <= work[index] // costs.STORE:
                    indices.append(index)
            case _:
                assert_never(node)
    return [index for index in indices if index not in asked]


def held(order: Sequence[Node], candidates: Sequence[int]) -> list[int]:
    """Return the indices, among those that :func:`storable` returned, of nodes whose values arrays have."""
    return [index for index in candidates if (node := order[index]).holder and node.is_held]


def recomputed(order: Sequence[Node], wanted: Set[int]) -> tuple[list[int], list[int]]:
    """Return the indices of values that are computed a second time, and of those that arrays have and none stores.

    What an array has is computed where it is used, and not stored, as the array may never be asked for it. A program
    that asks for something of each value, and makes the next value from it, as iterations do until they have converged,
    would evaluate ever longer graphs, no two of them alike. So a value is stored when it is computed a second time, and
    added to what is stored of the graph that it was in at first.
    """
    again, unstored = [], []
    for index, node in enumerate(order):
        if node.inputs and index not in wanted:
            if ref(node) in _computed:
                again.append(index)
            elif node.holder is not None and node.is_held:
                unstored.append(index)
    again = _light(order, again)
    for index in again:
        storable, first = _computed[ref(order[index])]
        if first not in storable:
            storable.append(first)
    return again, _light(order, unstored)


def _light(order: Sequence[Node], indices: list[int]) -> list[int]:
    """Return the indices of values that cost little memory beside the graph."""
    if all(order[index].nbytes <= LIGHT for index in indices):
        return indices
    most = max([LIGHT, *(node.nbytes for node in order if type(node) is Leaf)])
    return [index for index in indices if order[index].nbytes <= most]


def is_repeated(order: Sequence[Node], unstored: Sequence[int]) -> bool:
    """Return whether an earlier evaluation computed any of the values that arrays have and a plan does not store."""
    return any(ref(order[index]) in _computed for index in unstored)


def note(order: Sequence[Node], unstored: Sequence[int], storable: list[int]) -> None:
    """Note that values which arrays have were computed, and not stored; ``storable`` is that of their graph."""
    for index in unstored:
        _computed[ref(order[index], _forget)] = storable, index


def _forget(node: ref[Node]) -> None:
    _computed.pop(node, None)
