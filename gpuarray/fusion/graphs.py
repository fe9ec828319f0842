"""The planner's view of a graph: nodes by position, their costs, and which values are stored.

Positions are those of :func:`gpuarray.graph.walk.topological`. A *stored* node has its value in a buffer. Any other
node is computed where it is used. Leaves are stored from the start.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import inf
from types import MappingProxyType
from typing import Final, assert_never

from gpuarray.adapter_profile import LAUNCH_BOUND
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion import boxes, costs
from gpuarray.graph.layouts import Layout, are_apart, is_identity
from gpuarray.graph.nodes import Call, Concat, Contract, Gather, Generate, Leaf, Map, Node, Reduce, Scan, Scatter, View
from gpuarray.graph.walk import operands
from gpuarray.ops.elementwise import positive

#: About how many instructions one kernel has: drivers take 10 to 80 ms to compile each function of a new kernel, and a
#: second or two for as many as this allows.
INSTRUCTION_LIMIT = 544

#: Bytes of an array up to which a write to most of it is selected where the whole is copied: one launch, of which each
#: element takes longer, instead of two or three.
MOST_SELECTED = 1 << 24
#: Kinds of nodes that a loop computes, and does not need stored, unless nothing is fused.
_FREE: Final = frozenset((Leaf, Generate, Map))
#: Kinds of nodes that a loop may compute where it reads them.
_LOWERED: Final = frozenset((Map, View, Gather, Scatter))
#: Operations of one element that are computed again rather than stored by another launch, where launches take longer.
#: They make a kernel about as long as it may be.
MOST_AGAIN: Final = INSTRUCTION_LIMIT * costs.PER_INSTRUCTION
#: How many parts a concatenation has at most whose elements are selected, and how many elements, as positions have 32
#: bits.
_PARTS: Final = 4
_POSITIONS: Final = 2**31 - 1
#: A view with this many times fewer elements than its array is small.
_FEW: Final = 64


@dataclass
class GraphView:
    """Nodes in topological order with their operands, and the set of those that are stored."""

    nodes: Sequence[Node]
    inputs: list[tuple[int, ...]]
    stored: set[int]
    aliases: dict[int, int] = field(default_factory=dict)
    """Stored values that are those of their operand in C order, and share its buffer."""
    narrow: int = 0
    """Up to this width matrix products compute their operands where they read them."""
    launch: int = 0
    """The number of operations that take as long as a launch."""
    selects: bool = False
    """Whether writes to boxes, and concatenations, are selected where they are read, if that is cheaper."""
    binding_limit: float = inf
    """Bytes that one binding shows."""
    largest: int = 0
    """Bytes of the largest array."""
    recompute: int = 0
    """How many operations an element may take to be computed twice rather than stored."""
    foreign: set[int] = field(default_factory=set)
    """Nodes that the host computes, because the device lacks a dtype of theirs or of their operands."""
    symbols: Mapping[int, int] = field(default_factory=dict)
    """For each parameter of an offset that moves, the position of the node that has its value."""
    following: dict[int, bool] = field(default_factory=dict)
    """For writes, whether their values follow from other elements of the target."""
    wanted: frozenset[int] = field(init=False)
    """Leaves, and the values that the plan keeps."""

    def __post_init__(self) -> None:
        self.wanted = frozenset(self.stored)

    @cached_property
    def users(self) -> Counter[int]:
        """How often each node is an operand."""
        return Counter(chain.from_iterable(self.inputs))

    @cached_property
    def users_of(self) -> list[list[int]]:
        """The nodes of which each node is an operand, in order."""
        users: list[list[int]] = [[] for _ in self.nodes]
        for position, inputs in enumerate(self.inputs):
            for operand in inputs:
                users[operand].append(position)
        return users

    @cached_property
    def loops(self) -> Counter[int]:
        """How often each node is an operand of a node that a loop computes, which can compute the operand, too."""
        computed = (i for n, i in zip(self.nodes, self.inputs, strict=True) if isinstance(n, Map | Reduce))
        return Counter(chain.from_iterable(computed))

    def below(self, position: int) -> Iterator[int]:
        """Yield a value and all that it is computed from, each once: down to stored values, these included."""
        seen, stack = {position}, [position]
        while stack:
            current = stack.pop()
            yield current
            if current == position or current not in self.stored:
                for operand in self.inputs[current]:
                    if operand not in seen:
                        seen.add(operand)
                        stack.append(operand)

    def store_required(self, capabilities: Capabilities, *, fuse: bool) -> None:
        """Extend the stored nodes by what kinds and aliases demand; :mod:`gpuarray.fusion.limits` adds the rest."""
        profile = capabilities.profile
        self.narrow, self.launch = profile.narrow_product, profile.launch_operations
        self.recompute = profile.recompute_limit
        self.selects, self.binding_limit = fuse and profile.selects_boxes, capabilities.binding_limit
        self.largest = max([node.nbytes for node in self.nodes])
        for position, node in enumerate(self.nodes):
            if type(node) not in _FREE or not fuse:
                self._demand(position, node, fuse)
            if isinstance(node, View):
                whole = self.nodes[self.inputs[position][0]].nbytes
                # a piece of a loop over such an array could not bind both its own part and the elements of the view
                if whole > capabilities.binding_limit and node.nbytes * _FEW <= whole:
                    self.stored.add(position)
        self._keep_apart(capabilities.dtypes)
        for position in reversed(range(len(self.nodes))):
            node = self.nodes[position]
            if position in self.stored and self._is_same(position, node):
                (source,) = self.inputs[position]
                self.aliases[position] = source
                self.stored.add(source)

    def _is_same(self, position: int, node: Node) -> bool:
        """Whether a node has the elements of its operand, in the same order."""
        if isinstance(node, View):
            return is_identity(node.layout, self.nodes[self.inputs[position][0]].size)
        return isinstance(node, Map) and node.op is positive

    def _demand(self, position: int, node: Node, fuse: bool) -> None:
        inputs = self.inputs[position]
        match node:
            case Reduce():
                self.stored.add(position)
            case Concat() if self.is_selected(position):
                source = self.source(position)
                if source is not None:
                    self.stored.add(source)
            case Concat():
                self.stored.add(position)
            case Contract():
                self.stored.add(position)
                self.stored.update(self.unread(position, fuse=fuse))
            case Scan() | Call():
                self.stored.add(position)
                self.stored.update(inputs)
            case Scatter() if node.is_whole:
                self.stored.add(position)
            case Scatter() if self.is_selected(position):
                if self.following.get(position) and node.size > LAUNCH_BOUND:
                    self.stored.add(position)
            case Scatter():
                self.stored.update((position, inputs[0], *inputs[2:]))
                if node.layout is None:
                    self.stored.add(inputs[1])
            case Gather():
                self.stored.add(inputs[0])
            case Map():
                if not fuse:
                    self.stored.add(position)
            case Leaf() | Generate() | View():
                pass
            case _:
                assert_never(node)

    def is_selected(self, position: int) -> bool:
        """Return whether the elements of a write, or of a concatenation, are selected by coordinates.

        Those are writes to a box where nothing could be updated in place: the target is a number; or the values are and
        others read the target, too; or most of the array is written, with values that follow from its other elements.
        Such a target need not be stored. Of concatenations they are those of few parts, which are parts of one array,
        as those of a roll are, or which take no longer to compute than to store.
        """
        node = self.nodes[position]
        if not self.selects:
            return False
        if isinstance(node, Concat):
            inputs = self.inputs[position]
            if len(inputs) > _PARTS or node.size > _POSITIONS or not self._can_read_anywhere(inputs):
                return False
            if self.source(position) is not None:
                return True
            return sum(self.cost(i, enough=costs.STORE) for i in inputs) <= costs.STORE
        if not isinstance(node, Scatter) or node.layout is None:
            return False
        target, values = self.inputs[position]
        is_shared = self.users[target] > 1 and position not in self.wanted
        is_apart = (
            boxes.is_constant(self.nodes[target])
            or (is_shared and boxes.is_constant(self.nodes[values]))
            or (
                node.nbytes <= MOST_SELECTED
                and 2 * node.layout.size > node.size
                and self._follows(position, node.layout)
            )
        )
        is_box = is_apart and boxes.box_of(node.layout, node.shape) is not None
        return is_box and self._can_read_anywhere([values])

    def views_read_later(self, position: int) -> list[int]:
        """Return the views of the target of a write that later steps read, if nothing else needs the old value.

        The target can be updated in place if these are stored before. None are returned if they have more than half
        of its elements, as to store them would take no less time than to copy the target.
        """
        target = self.inputs[position][0]
        if target in self.wanted:
            return []
        later = [user for user in self.users_of[target] if user != position and self._is_read_later(user, position)]
        size = sum(self.nodes[user].size for user in later)
        is_small = 2 * size <= self.nodes[target].size and all(isinstance(self.nodes[user], View) for user in later)
        return later if is_small else []

    def _is_read_later(self, value: int, position: int) -> bool:
        """Return whether a step after that of a stored value computes something from a given one."""
        seen, stack = {value}, [value]
        while stack:
            current = stack.pop()
            if current in self.stored:
                if current > position:
                    return True
                continue
            for user in self.users_of[current]:
                if user != position and user not in seen:
                    seen.add(user)
                    stack.append(user)
        return False

    def _can_read_anywhere(self, positions: Iterable[int]) -> bool:
        """Whether any elements of values can be computed: from arrays of one binding, by coordinates that are known."""
        stack = [*positions] if self.symbols or self.largest > self.binding_limit else []
        while stack:
            current = stack.pop()
            node = self.nodes[current]
            if node.nbytes > self.binding_limit or (isinstance(node, View) and node.layout.moves):
                return False
            if current not in self.stored:
                stack += self.inputs[current]
        return True

    def _follows(self, position: int, layout: Layout) -> bool:
        """Return whether a loop of the values of a write may read elements of the target that it has replaced."""
        if position not in self.following:
            target, values, *_ = self.inputs[position]
            self.following[position] = self._reads_elsewhere(target, values, layout)
        return self.following[position]

    def _reads_elsewhere(self, target: int, values: int, layout: Layout) -> bool:
        stack, seen = [values], {values}
        while stack:
            current = stack.pop()
            node = self.nodes[current]
            for operand in self.inputs[current] if type(node) in _LOWERED else ():
                if operand == target:
                    if not isinstance(node, View) or not (node.layout == layout or are_apart(node.layout, layout)):
                        return True
                elif operand > target and operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
        return False

    def hides(self, operations: int, size: int) -> bool:
        """Return whether a launch takes longer than these operations for each of ``size`` elements."""
        is_short = operations <= MOST_AGAIN and operations * size <= self.launch
        return self.selects and size <= LAUNCH_BOUND and is_short

    def source(self, position: int) -> int | None:
        """Return the value of which all parts of a concatenation are views; None if there are several, or many parts.

        The concatenation of views of a concatenation that is not stored has the parts of both.
        """
        parts = [position]
        stored: set[int] = set()
        count = 0
        while parts:
            count += 1
            current = parts.pop()
            while isinstance(self.nodes[current], View) and current not in self.stored:
                (current,) = self.inputs[current]
            if isinstance(self.nodes[current], Concat) and (current == position or current not in self.stored):
                parts += self.inputs[current]
            else:
                stored.add(current)
            if len(stored) > 1 or count + len(parts) > _PARTS**2:
                return None
        (only,) = stored
        return None if self.nodes[only].size > _POSITIONS or boxes.is_constant(self.nodes[only]) else only

    def unread(self, position: int, *, fuse: bool) -> list[int]:
        """Return the nodes that must be stored, and are not yet, for a matrix product to read its operands."""
        if fuse and self.is_fold(position):
            return []
        operands = [self._storage_of(i) for i in self.inputs[position]]
        computed = self.computed_operands(position) if fuse else (False, False)
        return [
            o for o, is_computed in zip(operands, computed, strict=True) if o not in self.stored and not is_computed
        ]

    def is_fold(self, position: int) -> bool:
        """Whether a product is of a vector with an elementwise matrix, which is folded without being stored."""
        node = self.nodes[position]
        depth = self.nodes[self.inputs[position][0]].shape[2]
        if depth == 0 or node.dtype.itemsize < 4:  # sums of smaller numbers take wider ones
            return False
        sides = zip(self.inputs[position], (node.shape[2], node.shape[1]), strict=True)
        return any(width == 1 and self._is_unstored_map(i) for i, width in sides)

    def computed_operands(self, position: int) -> tuple[bool, bool]:
        """Return for each operand of a matrix product whether tiles compute it where they read it.

        They do if few tiles read it and nothing else needs it stored.
        """
        node = self.nodes[position]
        left, right = (
            width <= self.narrow and self._is_unstored_map(i) and self._is_for_loops(i)
            for i, width in zip(self.inputs[position], (node.shape[2], node.shape[1]), strict=True)
        )
        return left, right

    def _is_for_loops(self, operand: int) -> bool:
        """Whether an operand of a product has no other users but loops that compute it from fewer bytes."""
        source = self._storage_of(operand)
        loops, users = self.loops, self.users
        if users[operand] - loops[operand] > 1 or users[source] - loops[source] > 1:
            return False
        if not loops[operand] and not loops[source]:
            return True
        read, operations = self.made_of(source)
        nodes = self.nodes
        return operations <= self.recompute and 2 * sum(nodes[i].nbytes for i in read) <= nodes[source].nbytes

    def _is_unstored_map(self, position: int) -> bool:
        """Whether an operand of a product is elementwise, not stored, and not read in overlapping windows."""
        source, node = self._storage_of(position), self.nodes[position]
        if source in self.stored or not isinstance(self.nodes[source], Map):
            return False
        return not (isinstance(node, View) and node.size > self.nodes[source].size and all(node.layout.strides))

    def _storage_of(self, position: int) -> int:
        """Return the node that must be stored for a matrix product to read ``position`` through a layout."""
        node = self.nodes[position]
        is_seen_through = isinstance(node, View) and position not in self.stored and not node.layout.moves
        return self.inputs[position][0] if is_seen_through else position

    def root(self, position: int) -> int:
        """Return the node whose buffer holds a stored node's value."""
        while position in self.aliases:
            position = self.aliases[position]
        return position

    def _keep_apart(self, known: frozenset[DType]) -> None:
        """Store the values that pass between the device and the host, which has the dtypes that the device lacks.

        Without that a step of both kinds of nodes would run on the host as a whole. Views, folds and masks of values of
        the host stay on the host: they are too light to move.
        """
        nodes, foreign = self.nodes, self.foreign
        if all(node.dtype in known for node in nodes):
            return
        for position, node in enumerate(nodes):
            inputs = self.inputs[position]
            is_light = isinstance(node, Reduce | View) or (isinstance(node, Map) and node.dtype.kind == "b")
            if not isinstance(node, Leaf) and (
                any(nodes[p].dtype not in known for p in (position, *inputs))
                or (is_light and all(i in foreign for i in inputs))
            ):
                foreign.add(position)
        for position, inputs in enumerate(self.inputs):
            for operand in inputs:
                if operand in foreign and position not in foreign:
                    self.stored.add(operand)
                elif position in foreign and operand not in foreign:
                    self._hand_over(operand)

    def _hand_over(self, position: int) -> None:
        """Store a value of the device that the host reads, or its operands if these have fewer bytes."""
        stack = [position]
        while stack:
            current = stack.pop()
            if current in self.stored:
                continue
            read = sum(self.nodes[operand].nbytes for operand in self.below(current) if operand in self.stored)
            if self.nodes[current].nbytes <= read:
                self.stored.add(current)
            else:
                stack += self.inputs[current]

    def cost(self, position: int, enough: float = inf) -> int:
        """Return the operations of computing one element of a node from stored values; they count up to ``enough``."""
        total = 0
        for current in self.below(position):
            if total > enough:
                break
            if current == position or current not in self.stored:
                total += costs.of_node(self.nodes[current])
        return total

    def is_stored_along(self, position: int) -> bool:
        """Whether computing an elementwise value costs more than a load, and storing it costs no launch.

        It costs no launch where a launch makes a value of its size that it is computed from, as a fold does.
        """
        nodes = self.nodes
        read, operations = self.made_of(position)
        return self._beyond_a_load(read, operations) > costs.LOAD and any(
            nodes[i].size == nodes[position].size and isinstance(nodes[i], Contract | Map | Reduce | Scan) for i in read
        )

    def is_cheaper_to_store(self, position: int, times: int) -> bool:
        """Whether computing a value costs more than a load, and doing it so often takes longer than a launch."""
        more = self._beyond_a_load(*self.made_of(position))
        return more > costs.LOAD and times * more > self.launch

    def _beyond_a_load(self, read: Sequence[int], operations: int) -> int:
        """Return the operations of computing a value from stored ones, minus those of loading it."""
        return operations + (sum(self.nodes[i].size > 1 for i in read) - 1) * costs.LOAD

    def made_of(self, position: int) -> tuple[list[int], int]:
        """Return the stored values that a value is computed from, and the operations that takes."""
        if position in self.stored:
            return [position], 0
        read, operations = [], 0
        for current in self.below(position):
            if current in self.stored:
                read.append(current)
            else:
                operations += costs.of_node(self.nodes[current])
        return read, operations


def view_graph(
    nodes: Sequence[Node],
    position: Mapping[Node, int],
    wanted: set[int],
    symbols: Mapping[int, int] = MappingProxyType({}),
) -> GraphView:
    """Return the planner's view of a walked graph of which the nodes ``wanted`` will be stored."""
    inputs = [operands(node, position) for node in nodes]
    stored = {i for i, node in enumerate(nodes) if isinstance(node, Leaf)} | wanted
    return GraphView(nodes, inputs, stored, symbols=symbols)
