"""The eleven kinds of node: what a lazy array was asked to be.

A node is immutable but for three slots: ``result``, the :class:`Leaf` that an evaluation made of it, after which
its operands are let go; ``holder``, a weak reference to the storage cell whose value it is; and ``origin``, the line of
the program that asked for it. The value of a node is a C-contiguous array of ``shape`` and ``dtype``. Leaves and
generators alone have no operands. Nodes are made by :mod:`gpuarray.graph.build`, which checks; the classes here only
hold. The set is closed: whoever takes nodes apart matches over all of :data:`Node` and ends in ``assert_never``.
"""

from collections.abc import Mapping
from math import prod
from typing import Any, ClassVar, TypeAlias
from weakref import ref

import numpy as np
import numpy.typing as npt

from gpuarray.dtypes import DType, canonical
from gpuarray.graph.layouts import Layout, Shape
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import CallOp, GenerateOp, MapOp
from gpuarray.source_locations import Origin


class BaseNode:
    """What all nodes have: a shape, a dtype, operands, and the depth of what is still to be computed below."""

    __slots__ = ("__weakref__", "depth", "dtype", "holder", "inputs", "origin", "result", "shape")

    shape: Shape
    dtype: DType
    inputs: "tuple[Node, ...]"
    depth: int
    result: "Leaf | None"
    holder: "ref[Any] | None"
    origin: Origin | None
    """The line that asked for it; None of nodes inside a composition, which are their users' lines."""

    def __init__(self, shape: Shape, dtype: DType, inputs: "tuple[Node, ...]") -> None:
        self.shape = shape
        self.dtype = dtype
        self.inputs = inputs
        self.result = None
        self.holder = None
        self.origin = None
        depth = 0
        for node in inputs:  # what has been evaluated has depth 0
            if node.depth > depth:
                depth = node.depth
        self.depth = depth + 1

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Number of bytes of the value, as NumPy stores it."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def is_held(self) -> bool:
        """Whether a user's array still has this value."""
        cell = None if self.holder is None else self.holder()
        return cell is not None and cell.node is self

    def settle(self, leaf: "Leaf") -> None:
        """Record the evaluated value and let the operands go."""
        self.result = leaf
        self.inputs = ()
        self.depth = 0


class Leaf(BaseNode):
    """A value that is there: in host memory, in a provider's buffer, or in both.

    ``host`` is a C-contiguous array that nobody writes to. ``buffers`` maps a provider to its buffer with the same
    contents; which of them exist is residency, and no part of what the value means. ``evaluation`` is the number of
    the evaluation that made it, 0 if none did; ``used`` that of the last one that read it. ``regret`` is the time,
    in nanoseconds, that would have been saved so far had it been on the device.
    """

    __slots__ = ("buffers", "evaluation", "host", "regret", "used")

    op: ClassVar[type]
    host: "npt.NDArray[Any] | None"
    buffers: dict[Any, Any]
    evaluation: int
    used: int
    regret: float

    def __init__(self, shape: Shape, dtype: DType, host: "npt.NDArray[Any] | None" = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.inputs = ()
        self.result = None
        self.holder = None
        self.origin = None
        self.depth = 0
        self.host = host
        self.buffers = {}
        self.evaluation = 0
        self.used = 0
        self.regret = 0.0


class Generate(BaseNode):
    """An expression of the flat output index; ``parameters`` are host scalars, and no part of a plan's key."""

    __slots__ = ("op", "parameters")

    def __init__(self, op: GenerateOp, parameters: tuple[Any, ...], shape: Shape, dtype: DType) -> None:
        self.op = op
        self.parameters = parameters
        self.shape = shape
        self.dtype = dtype
        self.inputs = ()
        self.result = None
        self.holder = None
        self.origin = None
        self.depth = 1


class Map(BaseNode):
    """An elementwise row over operands that broadcast to ``shape``; their dtypes are those the row computes in."""

    __slots__ = ("op",)

    def __init__(self, op: MapOp, inputs: "tuple[Node, ...]", shape: Shape, dtype: DType) -> None:
        # as BaseNode does, without a further call: this is recorded more often than all other kinds together
        self.op = op
        self.shape = shape
        self.dtype = dtype
        self.inputs = inputs
        self.result = None
        self.holder = None
        self.origin = None
        depth = 0
        for node in inputs:
            if node.depth > depth:
                depth = node.depth
        self.depth = depth + 1


class View(BaseNode):
    """The elements of the source seen through ``layout``, which counts positions in the source's C order."""

    __slots__ = ("layout",)

    op: ClassVar[type]

    def __init__(self, source: "Node", layout: Layout) -> None:
        self.layout = layout  # and the rest as a Map does
        self.shape = layout.shape
        self.dtype = source.dtype
        self.inputs = (source,)
        self.result = None
        self.holder = None
        self.origin = None
        self.depth = source.depth + 1


class Concat(BaseNode):
    """The sources one after the other along ``axis``; equal shapes but for that axis, one dtype."""

    __slots__ = ("axis",)

    op: ClassVar[type]

    def __init__(self, inputs: "tuple[Node, ...]", axis: int, shape: Shape, dtype: DType) -> None:
        super().__init__(shape, dtype, inputs)
        self.axis = axis


class Reduce(BaseNode):
    """The source folded along ``axes`` (sorted, not negative), which are gone from ``shape``."""

    __slots__ = ("axes", "op")

    #: What a scan with the same row has, so that one can be told from the other by either.
    axis: ClassVar[None] = None

    def __init__(self, op: ReduceOp, source: "Node", axes: tuple[int, ...], shape: Shape, dtype: DType) -> None:
        self.op = op  # and the rest as a Map does
        self.axes = axes
        self.shape = shape
        self.dtype = dtype
        self.inputs = (source,)
        self.result = None
        self.holder = None
        self.origin = None
        self.depth = source.depth + 1


class Scan(BaseNode):
    """The running fold of the source along ``axis``, each element included in its own result."""

    __slots__ = ("axis", "op")

    #: What a fold with the same row has.
    axes: ClassVar[None] = None

    def __init__(self, op: ReduceOp, source: "Node", axis: int, dtype: DType) -> None:
        super().__init__(source.shape, dtype, (source,))
        self.op = op
        self.axis = axis


class Gather(BaseNode):
    """Elements of the source (first operand) at flat C-order positions (second operand, an integer node).

    Positions are in range and not negative: the builder has seen to it.
    """

    __slots__ = ()

    op: ClassVar[type]

    def __init__(self, source: "Node", positions: "Node") -> None:
        super().__init__(positions.shape, source.dtype, (source, positions))


class Scatter(BaseNode):
    """The target (first operand) with some elements replaced by values (second operand), or combined with them.

    With ``layout`` the values, of its shape, replace the elements it names (no position twice). Without, a third
    operand gives flat C-order positions in range; of values for one position the last in C order counts.

    With ``combine``, an elementwise row, an element at a position becomes ``combine(element, value)`` for each value
    with that position, in C order of the values. The row computes in the dtypes that it resolves for the target's and
    the values', and each result is cast to the target's dtype. A row of one operand takes no notice of the values.

    Without a target (``is_whole``) the operands are values and positions: exactly one value has each flat position of
    ``shape``, and values whose position is beyond that are dropped.
    """

    __slots__ = ("combine", "is_whole", "layout")

    op: ClassVar[type]

    def __init__(
        self,
        target: "Node | None",
        values: "Node",
        layout: Layout | None,
        positions: "Node | None",
        shape: Shape,
        combine: MapOp | None = None,
    ) -> None:
        operands = tuple([operand for operand in (target, values, positions) if operand is not None])
        super().__init__(shape, values.dtype if target is None else target.dtype, operands)
        self.layout = layout
        self.combine = combine
        self.is_whole = target is None


class Contract(BaseNode):
    """A batch of matrix products: operands of shapes (B, M, K) and (B, K, N), result (B, M, N), all of one dtype."""

    __slots__ = ()

    op: ClassVar[type]

    def __init__(self, left: "Node", right: "Node") -> None:
        shape = (left.shape[0], left.shape[1], right.shape[2])
        super().__init__(shape, left.dtype, (left, right))


class Call(BaseNode):
    """One output of an opaque row over whole operands, with host parameters that are part of its meaning."""

    __slots__ = ("op", "output", "parameters")

    def __init__(
        self,
        op: CallOp,
        inputs: "tuple[Node, ...]",
        parameters: Mapping[str, Any],
        output: int,
        shape: Shape,
        dtype: DType,
    ) -> None:
        super().__init__(shape, dtype, inputs)
        self.op = op
        self.parameters = parameters
        self.output = output


# kinds without a row are their own: what a graph says of a node where it names the row of another
Leaf.op, View.op, Concat.op, Gather.op, Scatter.op, Contract.op = Leaf, View, Concat, Gather, Scatter, Contract

Node: TypeAlias = Leaf | Generate | Map | View | Concat | Reduce | Scan | Gather | Scatter | Contract | Call


def host_leaf(array: "npt.NDArray[Any]") -> Leaf:
    """Return a leaf that holds ``array``, which must be C-contiguous, native and private to the leaf."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    array.flags.writeable = False
    # NumPy has several objects for one dtype: those of pickled arrays, and those with another letter
    return Leaf(array.shape, canonical(array.dtype), array)
