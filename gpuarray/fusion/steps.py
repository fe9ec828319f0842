"""Steps: what one launch computes, as data that every provider interprets.

A :class:`Loop` runs a small straight-line program over an index space of two groups of axes, *outer* (rows) and
*inner* (reduced axes). It is the only elementwise and reduction step. Without a reduction, all axes are inner, and it
is a fused elementwise kernel. With reductions it has a prologue and an epilogue, and if the results of reductions are
used again within the row, it is a row program such as softmax.

Programs are lists of instructions; an operand is the number of an earlier instruction. Each instruction has a *level*:

- ``UNIFORM``: one value for the whole step (scalars and values computed only from them);
- ``OUTER``: one value per row, of index space ``outer``;
- ``FULL``: one value per element, of index space ``outer + inner``.

Layouts of an instruction at level FULL have the shape ``outer + inner``, those at level OUTER the shape ``outer``, and
those at level UNIFORM the shape (). The shapes are collapsed: axes that all layouts traverse as one are one axis.

Inputs and outputs are numbered storage slots with C-contiguous values. A step never reads its outputs, except for
elements that it replaces (:attr:`Loop.updates`). Scalars are numbered run-time parameters, so that neither they nor
sizes are part of a step's :func:`~gpuarray.fusion.step_texts.text`.

Nothing here is ever changed. Instructions and stores are not frozen, as it would take four times as long to make one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import ClassVar, Final, TypeAlias

from gpuarray.dtypes import DType
from gpuarray.graph.layouts import Layout, Shape, contiguous_strides
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import CallOp, GenerateOp, MapOp, Signature

#: An input or an output of a loop: its kind, ``"input"`` or ``"output"``, and its number.
Slot: TypeAlias = tuple[str, int]

UNIFORM: Final = 0
OUTER: Final = 1
FULL: Final = 2


@dataclass(slots=True, unsafe_hash=True)
class Scalar:
    """The run-time scalar number ``slot``."""

    operands: ClassVar[tuple[int, ...]] = ()
    slot: int
    dtype: DType
    level: int = UNIFORM


@dataclass(slots=True, unsafe_hash=True)
class Load:
    """The element of input ``slot`` (which has ``extent`` elements) at the position given by ``layout``."""

    operands: ClassVar[tuple[int, ...]] = ()
    slot: int
    layout: Layout
    extent: int
    dtype: DType
    level: int

    @property
    def key(self) -> Slot:
        """The input that is read."""
        return "input", self.slot

    @property
    def span(self) -> tuple[int, int]:
        """The lowest and the highest element that may be read; (0, -1) if there is none."""
        return (0, self.extent - 1) if self.layout.moves else self.layout.bounds()


@dataclass(slots=True, unsafe_hash=True)
class Take:
    """The element of input ``slot`` (which has ``extent`` elements) at the flat position given by an operand."""

    slot: int
    position: int
    extent: int
    dtype: DType
    level: int

    @property
    def key(self) -> Slot:
        """The input that is read."""
        return "input", self.slot

    @property
    def span(self) -> tuple[int, int]:
        """The lowest and the highest element that may be read."""
        return 0, self.extent - 1

    @property
    def operands(self) -> tuple[int, ...]:
        """The number of the instruction that computes the position."""
        return (self.position,)


@dataclass(slots=True, unsafe_hash=True)
class Index:
    """A generator at the flat position given by ``layout``; ``parameters`` are scalar slots."""

    operands: ClassVar[tuple[int, ...]] = ()
    op: GenerateOp
    layout: Layout
    parameters: tuple[int, ...]
    dtype: DType
    level: int


@dataclass(slots=True, unsafe_hash=True)
class Apply:
    """An elementwise operation over operands; ``sources`` are the dtypes of the operands."""

    op: MapOp
    operands: tuple[int, ...]
    sources: tuple[DType, ...]
    dtype: DType
    level: int


@dataclass(slots=True, unsafe_hash=True)
class Fold:
    """A reduction over the inner axes of one FULL operand of dtype ``source``; the result is at level OUTER.

    ``dtype`` is the result's. The operand is cast to ``op.accumulate(source)`` first; the result of an ``argmax`` is
    the flat position among the row's elements in C order.
    """

    op: ReduceOp
    operand: int
    source: DType
    dtype: DType
    level: int = OUTER

    @property
    def operands(self) -> tuple[int, ...]:
        """The number of the instruction whose values are reduced."""
        return (self.operand,)


Instruction: TypeAlias = Scalar | Load | Take | Index | Apply | Fold


@dataclass(slots=True, unsafe_hash=True)
class Store:
    """Store instruction ``value`` to output ``slot`` (of ``extent`` elements) at the positions of ``layout``.

    ``layout`` has the shape of the instruction's level, or of a higher one (a row's value stored to each element).
    If there is a ``position``, the instruction of that number gives the flat position instead, and ``layout`` only
    gives the index space. Positions are distinct, and elements beyond the extent are dropped.
    """

    slot: int
    value: int
    layout: Layout
    extent: int
    dtype: DType
    level: int
    position: int | None = None

    @property
    def key(self) -> Slot:
        """The output that is written."""
        return "output", self.slot

    @property
    def span(self) -> tuple[int, int]:
        """The lowest and the highest element that may be written; (0, -1) if there is none."""
        is_anywhere = self.position is not None or self.layout.moves
        return (0, self.extent - 1) if is_anywhere else self.layout.bounds()

    @property
    def operands(self) -> tuple[int, ...]:
        """The numbers of the instructions whose values are read."""
        return (self.value,) if self.position is None else (self.value, self.position)


def _laid_out(item: Load | Index, layout: Layout) -> Load | Index:
    """Return an instruction with another layout."""
    if isinstance(item, Load):
        return Load(item.slot, layout, item.extent, item.dtype, item.level)
    return Index(item.op, layout, item.parameters, item.dtype, item.level)


@dataclass(frozen=True)
class Loop:
    """A straight-line program over ``outer + inner``; see the module docstring."""

    outer: Shape
    inner: Shape
    instructions: tuple[Instruction, ...]
    stores: tuple[Store, ...]
    input_dtypes: tuple[DType, ...]
    output_dtypes: tuple[DType, ...]
    scalar_dtypes: tuple[DType, ...]
    phases: tuple[int, ...] = ()
    """For each instruction, the number of reductions that must precede it (the longest chain of reductions)."""
    updates: tuple[tuple[int, int], ...] = ()
    """Pairs of an input and an output slot that are one buffer. An element is read only by the invocation that writes
    it, and before the write."""

    @property
    def loops(self) -> "list[Loop]":
        """The elementwise programs of the step: the loop itself."""
        return [self]

    @property
    def rows(self) -> int:
        """Number of rows: elements of the outer index space."""
        return prod(self.outer)

    @property
    def columns(self) -> int:
        """Elements in a row: of the inner index space."""
        return prod(self.inner)

    @cached_property
    def folds(self) -> tuple[int, ...]:
        """The numbers of the fold instructions."""
        return tuple(i for i, item in enumerate(self.instructions) if isinstance(item, Fold))

    @property
    def wanted(self) -> tuple[int, ...]:
        """The numbers of the instructions whose values the stores read."""
        return tuple(operand for store in self.stores for operand in store.operands)

    @cached_property
    def laid_out(self) -> list[Load | Index | Store]:
        """The instructions and stores that have a layout."""
        return [x for x in (*self.instructions, *self.stores) if isinstance(x, Load | Index | Store)]

    @cached_property
    def spans(self) -> dict[Slot, tuple[int, int]]:
        """The lowest and highest element that is touched of each input and output."""
        spans: dict[Slot, tuple[int, int]] = {}
        for item in (*self.instructions, *self.stores):
            if isinstance(item, Load | Store | Take):
                low, high = item.span
                if high < low:
                    low = high = 0
                old = spans.get(item.key)
                spans[item.key] = (low, high) if old is None else (min(old[0], low), max(old[1], high))
        for read, written in self.updates:  # one binding shows both
            reads = spans.get(("input", read))
            if reads is not None:
                low, high = spans.get(("output", written), reads)
                spans["output", written] = min(low, reads[0]), max(high, reads[1])
            spans["input", read] = spans["output", written]
        return spans

    def laid_out_at(self, level: int) -> list[Load | Index | Store]:
        """Return the instructions and stores that have a layout, of one level."""
        return [x for x in self.laid_out if x.level == level]

    def over(self, outer: Shape, inner: Shape, layout: Callable[[Load | Index | Store], Layout]) -> "Loop":
        """Return the loop over another index space, with other layouts of its instructions and stores."""
        items = [_laid_out(x, layout(x)) if isinstance(x, Load | Index) else x for x in self.instructions]
        stores = [Store(x.slot, x.value, layout(x), x.extent, x.dtype, x.level, x.position) for x in self.stores]
        return Loop(
            outer,
            inner,
            tuple(items),
            tuple(stores),
            self.input_dtypes,
            self.output_dtypes,
            self.scalar_dtypes,
            self.phases,
            self.updates,
        )

    @property
    def moves(self) -> bool:
        """Whether an offset of a layout is a run-time parameter."""
        return any(x.layout.moves for x in self.laid_out)

    def dtype_of(self, key: Slot) -> DType:
        """Return the dtype of an input or output."""
        return (self.input_dtypes if key[0] == "input" else self.output_dtypes)[key[1]]

    def index_space(self, level: int) -> Shape:
        """Return the shape that layouts at ``level`` have."""
        return self.outer + self.inner if level == FULL else self.outer if level == OUTER else ()


@dataclass(frozen=True)
class ScanStep:
    """The running fold of input 0, of shape (before, length, after), along the middle axis, and a program over it.

    ``epilogue`` is as that of :class:`ContractStep`, over the index space (before, length, after).
    """

    op: ReduceOp
    before: int
    length: int
    after: int
    source: DType
    dtype: DType
    epilogue: Loop | None
    input_dtypes: tuple[DType, ...]
    output_dtypes: tuple[DType, ...]
    scalar_dtypes: tuple[DType, ...] = ()

    @property
    def loops(self) -> list[Loop]:
        """The elementwise program, if there is one."""
        return [] if self.epilogue is None else [self.epilogue]


@dataclass(frozen=True)
class ContractStep:
    """A batch of matrix products, with elementwise programs over the operands and over the result.

    ``left`` and ``right`` are layouts of shapes (B, M, K) and (B, K, N), over the first and the last of the ``reads``
    inputs that the product takes. An operand may have a prologue in place of an input: a Loop without folds over its
    index space, whose one store stands for the operand in C order; input and scalar slots are those of this step.

    ``epilogue`` is a Loop without folds over the index space (B, M, N), collapsed as any; its input slot 0 stands for
    the product in C order, its further slots for this step's inputs from number ``reads`` on. Without an epilogue the
    product goes to output 0.
    """

    left: Layout
    right: Layout
    dtype: DType
    epilogue: Loop | None
    input_dtypes: tuple[DType, ...]
    output_dtypes: tuple[DType, ...]
    scalar_dtypes: tuple[DType, ...] = ()
    prologues: tuple[Loop | None, Loop | None] = (None, None)
    reads: int = 2

    @property
    def loops(self) -> list[Loop]:
        """The elementwise programs that there are."""
        return [loop for loop in (*self.prologues, self.epilogue) if loop is not None]


class _WithoutLoops:
    """A step without elementwise programs."""

    @property
    def loops(self) -> list[Loop]:
        """The elementwise programs that there are: none."""
        return []


@dataclass(frozen=True)
class CallStep(_WithoutLoops):
    """A call on whole operands: kernels of its own where it has some, else its NumPy reference on the host."""

    op: CallOp
    parameters: tuple[tuple[str, object], ...]
    shapes: tuple[Shape, ...]
    output_shapes: tuple[Shape, ...]
    input_dtypes: tuple[DType, ...]
    output_dtypes: tuple[DType, ...]
    picks: tuple[int, ...]
    """Which outputs of the call are wanted, one for each of ``output_shapes``."""
    scalar_dtypes: tuple[DType, ...] = ()


@dataclass(frozen=True)
class CopyStep(_WithoutLoops):
    """Input 0, of ``extent`` elements, copied to output 0: the start of a scatter into a region."""

    dtype: DType
    extent: int
    scalar_dtypes: tuple[DType, ...] = ()

    @property
    def input_dtypes(self) -> tuple[DType, ...]:
        """The dtype of the one input."""
        return (self.dtype,)

    @property
    def output_dtypes(self) -> tuple[DType, ...]:
        """The dtype of the one output."""
        return (self.dtype,)


@dataclass(frozen=True)
class ScatterStep(_WithoutLoops):
    """Values (input 0) written into output 0, of ``extent`` elements, at flat positions (input 1).

    Of several values for one position the last counts. With ``combine`` each of them is combined with the element that
    output 0 has there, in the order of the values.
    """

    dtype: DType
    positions: DType
    count: int
    extent: int
    scalar_dtypes: tuple[DType, ...] = ()
    values: DType | None = None
    """The dtype of the values; None is the output's."""
    combine: MapOp | None = None

    @property
    def signature(self) -> Signature | None:
        """The dtypes in which ``combine`` computes."""
        if self.combine is None:
            return None
        return self.combine.resolve(*(self.dtype, self.input_dtypes[0])[: self.combine.arity])

    @property
    def input_dtypes(self) -> tuple[DType, ...]:
        """The dtypes of the values and of the positions."""
        return (self.dtype if self.values is None else self.values, self.positions)

    @property
    def output_dtypes(self) -> tuple[DType, ...]:
        """The dtype of the one output."""
        return (self.dtype,)


Step: TypeAlias = Loop | ScanStep | ContractStep | CallStep | CopyStep | ScatterStep


def needed(
    instructions: Sequence[Instruction], values: Iterable[int], among: Callable[[int], bool] = lambda _number: True
) -> set[int]:
    """Return the numbers of the instructions that values depend on, themselves included.

    Instructions for which ``among`` is false are left out, and what only they depend on.
    """
    numbers: set[int] = set()
    pending = list(values)
    while pending:
        number = pending.pop()
        if number not in numbers and among(number):
            numbers.add(number)
            pending += instructions[number].operands
    return numbers


def stride_class(layout: Layout) -> str:
    """Return how a layout steps through its shape: ``b`` one element for all, ``c`` C-contiguous, ``s`` strided."""
    if all(stride == 0 for stride in layout.strides):
        return "b"
    if layout.strides == contiguous_strides(layout.shape):
        return "c"
    return f"s{len(layout.shape)}"
