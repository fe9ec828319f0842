"""The eleven kinds of node of a lazy graph.

The value of a node is a C-contiguous array of ``shape`` and ``dtype``. Four attributes define what a node computes: its
operation ``op`` (the class itself, for kinds without one), its ``detail`` (what else the kind needs, such as axes), its
``dtype`` and its operands. Look-up, merging, verification and description of graphs depend on these alone.

A node is immutable except for its result, its operands (which an evaluation drops), its holder and its origin.
:mod:`gpuarray.graph.build` makes nodes and checks their arguments; the classes here do not. The set of kinds is closed:
code that depends on the kind matches over all of :data:`Node` and ends in ``assert_never``.
"""

from collections.abc import Hashable, Mapping
from math import prod
from typing import Any, Final, TypeAlias
from weakref import ref

import numpy as np
import numpy.typing as npt

from gpuarray.dtypes import DType, canonical
from gpuarray.graph.layouts import Layout, Shape
from gpuarray.graph.tape import note
from gpuarray.graph.tape import state as tapes
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import CallOp, GenerateOp, MapOp
from gpuarray.source_locations import Origin


class BaseNode:
    """A node of any kind.

    Parameters
    ----------
    op : Op or type
        The operation that computes the value; the class itself, for kinds without one.
    inputs : tuple of Node
        The operands. Leaves and generators have none.
    shape : tuple of int
        Shape of the value.
    dtype : dtype
        Dtype of the value.
    detail : object
        What else defines the value, such as axes; subclasses give it a name. Hashable, except for generators.

    Attributes
    ----------
    depth : int
        Length of the longest chain of nodes that are still to be computed; 0 of a leaf.
    result : Leaf or None
        The value, once it was computed.
    holder : weakref or None
        The storage cell of the user's array whose value the node is.
    origin : Origin or None
        The line of the program that recorded it; None inside a composition, whose users have it.
    needs_plan : bool
        Whether an operation on it has tried in vain to have it computed at once, as a value that it is computed from is
        large or elsewhere. Operations on it need not try again.
    """

    __slots__ = (
        "__weakref__",
        "depth",
        "detail",
        "dtype",
        "holder",
        "inputs",
        "needs_plan",
        "op",
        "origin",
        "result",
        "shape",
    )

    op: Any
    detail: Any
    shape: Shape
    dtype: DType
    inputs: "tuple[Node, ...]"
    depth: int
    result: "Leaf | None"
    holder: "ref[Any] | None"
    origin: Origin | None
    needs_plan: bool

    def __init__(self, op: Any, inputs: "tuple[Node, ...]", shape: Shape, dtype: DType, detail: Any = None) -> None:
        self.op = op
        self.detail = detail
        self.shape = shape
        self.dtype = dtype
        self.inputs = inputs
        self.result = None
        self.holder = None
        self.origin = None
        self.needs_plan = False
        if not inputs:
            self.depth = 1
        elif len(inputs) == 2:  # the most frequent first
            first, second = inputs
            self.depth = (first.depth if first.depth > second.depth else second.depth) + 1
        elif len(inputs) == 1:
            self.depth = inputs[0].depth + 1
        else:
            self.depth = max([node.depth for node in inputs]) + 1

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
        """Whether a user's array still has this value, or a view of all of its elements."""
        cell = None if self.holder is None else self.holder()
        if cell is None:
            return False
        node = cell.node
        return node is self or (type(node) is View and node.inputs == (self,))

    def hold(self, holder: "ref[Any]") -> None:
        """Note that a storage cell has this value; if it is a view of all elements of another one, it has that, too."""
        self.holder = holder
        if type(self) is View and self.inputs:
            (shown,) = self.inputs
            if shown.size == self.size and (shown.holder is None or shown.holder() is None):
                shown.holder = holder

    def resolve(self, leaf: "Leaf") -> None:
        """Record the computed value and drop the operands, which tapes keep if there are any."""
        if tapes.tapes:
            note(self)
        self.result = leaf
        self.inputs = ()
        self.depth = 0

    @staticmethod
    def describe(detail: Any) -> str:
        """Return the detail of a node of this kind as text for people."""
        return ""


_new: Final = object.__new__
#: What subclasses call as ``super().__init__``, which takes a tenth of a microsecond more at each node.
_init: Final = BaseNode.__init__
#: The slot ``detail``, to which subclasses give a name of their own.
_detail: Final[Any] = BaseNode.__dict__["detail"]


class Leaf(BaseNode):
    """A value in host memory, in the buffers of providers, or in several of these.

    Attributes
    ----------
    host : ndarray or None
        The value as a C-contiguous read-only array.
    buffers : dict
        Buffers with the value, by provider. They are the residency of the leaf, and not part of its meaning.
    evaluation : int
        Number of the evaluation that made it; 0 if none did.
    used : int
        Number of the evaluation that read it last.
    saving : float
        Nanoseconds that evaluations so far would have saved had the value been on the device.
    """

    __slots__ = ("buffers", "evaluation", "host", "saving", "used")

    host: "npt.NDArray[Any] | None"
    buffers: dict[Any, Any]
    evaluation: int
    used: int
    saving: float

    def __init__(self, shape: Shape, dtype: DType, host: "npt.NDArray[Any] | None" = None, evaluation: int = 0) -> None:
        _init(self, Leaf, (), shape, dtype)
        self.depth = 0
        self.host = host
        self.buffers = {}
        self.evaluation = self.used = evaluation
        self.saving = 0.0


class Generate(BaseNode):
    """An expression of the flat output index; its parameters are host scalars, which are no part of the structure."""

    __slots__ = ()

    op: GenerateOp
    parameters: tuple[Any, ...] = _detail


class Map(BaseNode):
    """An elementwise operation over operands that broadcast to ``shape``; their dtypes are those it computes in."""

    __slots__ = ()

    op: MapOp


def map_with_scalar(
    op: MapOp, node: "Node", generator: GenerateOp, scalar: Any, scalar_dtype: DType, dtype: DType, is_first: bool
) -> Map:
    """Return a ``Map`` of a node and of a ``Generate`` of a scalar, in half the time of two calls of the classes.

    Every other line of a program has a scalar. The function repeats ``BaseNode.__init__`` for both nodes.
    """
    value: Any = _new(Generate)
    value.op = generator
    value.detail = (scalar,)
    value.shape = value.inputs = ()
    value.dtype = scalar_dtype
    value.result = value.holder = value.origin = None
    value.needs_plan = False
    value.depth = 1
    new: Map = _new(Map)
    new.op = op
    new.detail = None
    new.shape = node.shape
    new.dtype = dtype
    new.inputs = (value, node) if is_first else (node, value)
    new.result = new.holder = new.origin = None
    new.needs_plan = False
    new.depth = (node.depth or 1) + 1
    return new


class View(BaseNode):
    """The elements of the source seen through ``layout``, which counts positions in the source's C order."""

    __slots__ = ()

    layout: Layout = _detail

    def __init__(self, source: "Node", layout: Layout) -> None:
        _init(self, View, (source,), layout.shape, source.dtype, layout)

    @property
    def parameters(self) -> tuple[int, ...]:
        """The offset, for plans in which it moves."""
        return (self.layout.offset,)

    @staticmethod
    def describe(detail: Layout) -> str:
        """Return the strides and the offset of a layout."""
        return _layout_text(detail)


class Concat(BaseNode):
    """The sources one after the other along ``axis``; equal shapes but for that axis, one dtype."""

    __slots__ = ()

    axis: int = _detail

    def __init__(self, inputs: "tuple[Node, ...]", axis: int, shape: Shape, dtype: DType) -> None:
        _init(self, Concat, inputs, shape, dtype, axis)

    @staticmethod
    def describe(detail: int) -> str:
        """Return the axis."""
        return f"axis {detail}"


class Reduce(BaseNode):
    """The source folded along ``axes`` (sorted, not negative), which are gone from ``shape``."""

    __slots__ = ()

    op: ReduceOp
    axes: tuple[int, ...] = _detail

    def __init__(self, op: ReduceOp, source: "Node", axes: tuple[int, ...], shape: Shape, dtype: DType) -> None:
        _init(self, op, (source,), shape, dtype, axes)

    @staticmethod
    def describe(detail: tuple[int, ...]) -> str:
        """Return the axes."""
        return f"axis {', '.join(map(str, detail))}"


class Scan(BaseNode):
    """The running fold of the source along ``axis``, each element included in its own result."""

    __slots__ = ()

    op: ReduceOp
    axis: int = _detail

    def __init__(self, op: ReduceOp, source: "Node", axis: int, dtype: DType) -> None:
        _init(self, op, (source,), source.shape, dtype, axis)

    @staticmethod
    def describe(detail: int) -> str:
        """Return the axis."""
        return f"axis {detail}"


class Gather(BaseNode):
    """Elements of the source (first operand) at flat C-order positions (second operand, an integer node).

    Positions are in range and not negative; the builder checks that.

    If the positions are those of whole rows of equal length, ``rows`` is an integer node with the numbers of these
    rows, which NumPy takes in one call. It does not affect the value of the node. Otherwise it is None.
    """

    __slots__ = ("rows",)

    rows: "Node | None"

    def __init__(self, source: "Node", positions: "Node", rows: "Node | None" = None) -> None:
        _init(self, Gather, (source, positions), positions.shape, source.dtype)
        self.rows = rows

    def resolve(self, leaf: "Leaf") -> None:
        """Record the computed value and drop the operands."""
        BaseNode.resolve(self, leaf)
        self.rows = None


class Scatter(BaseNode):
    """The target (first operand) with some elements replaced by values (second operand), or combined with them.

    With ``layout``, the values have its shape and replace the elements at its positions, none of which occurs twice.
    Without it, a third operand gives flat C-order positions in range; of several values for one position, the last in
    C order counts.

    With ``combine``, an elementwise operation, an element at a position becomes ``combine(element, value)`` for each
    value with that position, in C order of the values. It computes in the dtypes that it resolves for those of the
    target and the values, and each result is cast to the dtype of the target. With one operand it ignores the values.

    Without a target (``is_whole``) the operands are values and positions: exactly one value has each flat position of
    ``shape``, and values whose position is beyond that are dropped.
    """

    __slots__ = ("combine", "is_whole", "layout")

    layout: Layout | None
    combine: MapOp | None
    is_whole: bool

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
        result = values.dtype if target is None else target.dtype
        _init(self, Scatter, operands, shape, result, (layout, combine))
        self.layout = layout
        self.combine = combine
        self.is_whole = target is None

    @property
    def parameters(self) -> tuple[int, ...]:
        """The offset of the layout, for plans in which it moves; nothing without a layout."""
        return () if self.layout is None else (self.layout.offset,)

    @staticmethod
    def describe(detail: tuple[Layout | None, MapOp | None]) -> str:
        """Return the operation that combines values, or the strides and the offset of the layout."""
        layout, combine = detail
        return combine.name if combine is not None else _layout_text(layout) if layout is not None else ""


class Contract(BaseNode):
    """A batch of matrix products: operands of shapes (B, M, K) and (B, K, N), result (B, M, N), all of one dtype."""

    __slots__ = ()

    def __init__(self, left: "Node", right: "Node") -> None:
        shape = (left.shape[0], left.shape[1], right.shape[2])
        _init(self, Contract, (left, right), shape, left.dtype)


class Call(BaseNode):
    """One output of a call over whole operands, with host parameters that are part of its meaning."""

    __slots__ = ("output", "parameters")

    op: CallOp
    parameters: Mapping[str, Any]
    output: int

    def __init__(
        self,
        op: CallOp,
        inputs: "tuple[Node, ...]",
        parameters: Mapping[str, Any],
        output: int,
        shape: Shape,
        dtype: DType,
    ) -> None:
        _init(self, op, inputs, shape, dtype, (output, frozen(parameters)))
        self.parameters = parameters
        self.output = output

    @staticmethod
    def describe(detail: tuple[int, Hashable]) -> str:
        """Return which output it is, if it is not the first."""
        return f"output {detail[0]}" if detail[0] else ""


def _layout_text(layout: Layout) -> str:
    start = f" from {layout.offset}" if layout.offset else ""
    return f"strides {'x'.join(map(str, layout.strides))}{start}"


def copied(node: "Node", inputs: "tuple[Node, ...]") -> "Node":
    """Return the same operation as that of a node on other operands, which have the same shapes and dtypes."""
    kind = type(node)
    new: Any = _new(kind)
    _init(new, node.op, inputs, node.shape, node.dtype, node.detail)
    for name in kind.__slots__:
        kind.__dict__[name].__set__(new, getattr(node, name))
    if kind is Gather:
        new.rows = None  # it follows from the operands
    return new


_HASHABLE: Final = frozenset((str, int, float, complex, bool, type(None)))


def frozen(value: Any) -> Hashable:
    """Return a hashable stand-in for the parameters of a call."""
    if type(value) in _HASHABLE:  # the test below takes ten times as long
        return value
    if isinstance(value, Mapping):
        return tuple([(k, frozen(v)) for k, v in value.items()])
    if isinstance(value, list | tuple):
        return tuple([frozen(v) for v in value])
    if isinstance(value, np.ndarray):  # whose repr leaves out elements
        return value.dtype.str, value.shape, value.tobytes()
    return value if isinstance(value, Hashable) else repr(value)


Node: TypeAlias = Leaf | Generate | Map | View | Concat | Reduce | Scan | Gather | Scatter | Contract | Call
#: The kinds of which each element takes many operations: derivatives store values, rather than compute them again.
HEAVY: Final = frozenset((Call, Contract, Reduce, Scan))


def host_leaf(array: "npt.NDArray[Any]") -> Leaf:
    """Return a leaf that holds ``array``, which must be C-contiguous, native and private to the leaf."""
    if not array.flags.c_contiguous:
        array = array.copy()
    array.flags.writeable = False
    # NumPy has several objects for one dtype: those of pickled arrays, and those with another letter
    return Leaf(array.shape, canonical(array.dtype), array)
