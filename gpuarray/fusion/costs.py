"""The cost model: the costs of nodes, instructions and steps, in one unit.

The unit is the *operation*: the time of a float32 addition of values in registers, in which :mod:`gpuarray.ops` states
its costs. Bytes are counted separately, because the ratio of their costs depends on the place. The planner decides by
these figures whether to store a value or to compute it again. The placement converts them to nanoseconds by the rates
measured at a place. The in-process provider decides how finely to divide a loop. Profiles compare measured times with
them.

Bytes are those of the different elements that a step reads and writes, as if each crossed the memory once. A kernel
that moves more, because it walks its input twice or reaches across cache lines, shows as a lower rate.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Final, TypeAlias, assert_never

from gpuarray.dtypes import DType
from gpuarray.fusion.steps import (
    FULL,
    OUTER,
    UNIFORM,
    Apply,
    CallStep,
    ContractStep,
    CopyStep,
    Fold,
    Index,
    Instruction,
    Load,
    Loop,
    Scalar,
    ScanStep,
    ScatterStep,
    Step,
    Take,
)
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Call, Concat, Contract, Gather, Generate, Leaf, Map, Node, Reduce, Scan, Scatter, View
from gpuarray.ops.columns import Work
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import GenerateOp, MapOp, compute_type

# -- what the planner's choices are worth, in operations ---------------------------------------------------------------

#: Loading an element that a cache has. Measured on GPUs, where it is about four dependent additions.
LOAD: Final = 4
#: Storing an element and loading it again: what broadcasting recomputes for each element takes less.
STORE: Final = 2 * LOAD
#: Selecting an element of a write to a box: tests of coordinates, and a load at a computed position.
SELECT: Final = 2 * LOAD
#: Values that share no operand are computed in one launch up to this: a longer program is bound by arithmetic, and
#: gains nothing from a launch less.
INDEPENDENT_LIMIT: Final = 100
#: What several walks over a row need is computed by each of them up to this: some 25 loads, which is what storing and
#: loading it takes where the row has left the cache.
REPEATED_LIMIT: Final = 25 * LOAD
#: Arithmetic that costs less than this part of a store is free: it hides behind memory traffic.
HIDDEN: Final = 1 / 8
#: How many units of an operation's cost count as one instruction to a driver, which inlines functions.
PER_INSTRUCTION: Final = 2

Op: TypeAlias = MapOp | GenerateOp | ReduceOp

#: By compute type: the width in bits of the arithmetic, and how many operations of that width one operation is. A
#: complex operation is between two additions and a division, which takes some twenty.
_ARITHMETIC: Final = {"i64": (64, 1), "u64": (64, 1), "f64": (64, 1), "c64": (32, 8), "c128": (64, 16)}
#: Operations of 32 bits that one of 64 bits is: no device has more than half as many units for them.
_WIDE: Final = 2


def arithmetic(dtype: DType) -> tuple[int, int]:
    """Return the width of the arithmetic of a dtype, in bits, and how many operations of that width one of it is."""
    return _ARITHMETIC.get(compute_type(dtype), (32, 1))


@lru_cache(maxsize=1024)
def width(*dtypes: DType) -> int:
    """Return how many operations one operation on values of these dtypes is: that of the widest."""
    return max([count * (_WIDE if bits == 64 else 1) for bits, count in map(arithmetic, dtypes)])


def of_node(node: Node) -> int:
    """Return the operations of one element of a node that is computed where it is used.

    Widths of dtypes are left out: what this is compared with, loads and stores of the element, is as much wider.
    """
    match node:
        case Map() | Generate():
            return node.op.cost
        case Scatter():
            return SELECT
        case Concat():
            return SELECT * (len(node.inputs) - 1)
        case Leaf() | View() | Gather() | Reduce() | Scan() | Contract() | Call():
            return 0
        case _:
            assert_never(node)


def of_launch(node: Node) -> int:
    """Return the operations that a launch does again to compute a node which takes a launch of its own."""
    match node:
        case Contract():
            return node.size * node.inputs[0].shape[2]
        case Call():  # of unknown kind: as many passes over its largest array as a store is worth
            return STORE * max([node.size, *(operand.size for operand in node.inputs)])
        case Reduce() | Scan() | Scatter():
            return max([node.size, *(operand.size for operand in node.inputs)])
        case Leaf() | Map() | Generate() | View() | Gather() | Concat():
            return 0
        case _:
            assert_never(node)


def instructions_of(op: GenerateOp | MapOp) -> int:
    """Return the number of instructions that an operation counts as: functions and random numbers compile slowly."""
    return max(1, op.cost // PER_INSTRUCTION)


@lru_cache(maxsize=4096)
def of_applied(op: MapOp, dtype: DType, sources: tuple[DType, ...]) -> tuple[int, int]:
    """Return how many instructions an operation on values of these dtypes counts as, and its operations."""
    return instructions_of(op), op.cost * width(dtype, *sources)


def operations(instructions: Iterable[Instruction], *, with_widths: bool = True) -> int:
    """Return the operations of computing instructions once, folds aside, whatever the widths if these are left out."""
    total = 0
    for item in instructions:
        match item:
            case Apply():
                total += item.op.cost * (width(item.dtype, *item.sources) if with_widths else 1)
            case Index():
                total += item.op.cost * (width(item.dtype) if with_widths else 1)
            case Scalar() | Load() | Take() | Fold():
                pass
            case _:
                assert_never(item)
    return total


# -- steps -------------------------------------------------------------------------------------------------------------


def calls_of_fold(op: ReduceOp) -> int:
    """Return about how many NumPy functions the in-process provider calls to fold a tile."""
    return 4 if op.numpy is None else 1 + op.numpy.calls


@dataclass(frozen=True, slots=True)
class OperationCount:
    """An operation of a loop, the dtype in which it computes, and the number of elements."""

    op: Op
    dtype: DType
    count: int

    @property
    def numpy_calls(self) -> int:
        """About how many NumPy functions the in-process provider calls for a tile."""
        return calls_of_fold(self.op) if isinstance(self.op, ReduceOp) else 1


def operation_counts(loop: Loop) -> Iterator[OperationCount]:
    """Yield what a loop evaluates, in order."""
    counts = _counts(loop)
    for item in loop.instructions:
        match item:
            case Apply():
                yield OperationCount(item.op, item.sources[0], counts[item.level])
            case Index():
                yield OperationCount(item.op, item.dtype, counts[item.level])
            case Fold():
                yield OperationCount(item.op, item.source, counts[FULL])
            case Scalar() | Load() | Take():
                pass
            case _:
                assert_never(item)


@dataclass(frozen=True, slots=True)
class Cost:
    """Bytes read, bytes written, and operations.

    Attributes
    ----------
    read, written : int
        Bytes.
    operations : int
        All operations.
    work : tuple of (Work, int)
        Those of them that are no arithmetic on values in registers, by what they spend their time on.
    """

    read: int
    written: int
    operations: int
    work: tuple[tuple[Work, int], ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes read and written."""
        return self.read + self.written


def cost(step: Step) -> Cost:
    """Return the least bytes that a step moves and operations that it computes."""
    match step:
        case Loop():
            return _loop_cost(step)
        case ScanStep():
            size = step.before * step.length * step.after
            scanned = size * max(1, step.dtype.itemsize // 4)
            scan = Cost(size * step.source.itemsize, size * step.dtype.itemsize, size, ((Work.SCAN, scanned),))
            return _with_epilogue(scan, step.epilogue, step.dtype.itemsize * size)
        case ContractStep():
            return _product_cost(step)
        case CallStep():
            read = sum(prod(s) * d.itemsize for s, d in zip(step.shapes, step.input_dtypes, strict=True))
            written = sum(prod(s) * d.itemsize for s, d in zip(step.output_shapes, step.output_dtypes, strict=True))
            operations = step.op.cost(step.shapes, step.output_shapes)
            words = max((dtype.itemsize // 4 for dtype in step.input_dtypes), default=1)
            sorted_ = operations * max(1, words) if step.op.work is Work.SORT else operations  # digits of wider keys
            return Cost(read, written, operations, ((step.op.work, sorted_),))
        case CopyStep():
            return Cost(step.extent * step.dtype.itemsize, step.extent * step.dtype.itemsize, 0)
        case ScatterStep():
            moved = step.count * step.dtype.itemsize
            read = step.count * sum(kind.itemsize for kind in step.input_dtypes)
            work = [(Work.GATHER, 2 * step.count)]  # the value goes to its place, after who writes there last is known
            if step.combine is None:
                return Cost(read, moved, 0, tuple(work))
            work.append((Work.SORT, step.count * max(step.count - 1, 1).bit_length()))
            return Cost(read, moved, step.count * step.combine.cost, tuple(work))
        case _:
            assert_never(step)


def _counts(loop: Loop) -> dict[int, int]:
    """Return how often an instruction is evaluated, by its level."""
    return {FULL: loop.rows * loop.columns, OUTER: loop.rows, UNIFORM: 1}


def touched(layout: Layout) -> int:
    """Return how many different elements a layout reaches at most."""
    return prod(extent for extent, stride in zip(layout.shape, layout.strides, strict=True) if stride)


def _loop_cost(loop: Loop) -> Cost:
    counts = _counts(loop)
    inputs: dict[int, int] = {}
    total = gathered = 0
    for item in loop.instructions:
        count = counts[item.level]
        match item:
            case Load():
                reached = min(item.extent, touched(item.layout))
                inputs[item.slot] = min(item.extent, inputs.get(item.slot, 0) + reached)
            case Take():
                inputs[item.slot] = min(item.extent, inputs.get(item.slot, 0) + count)
                gathered += count
            case Fold():
                total += item.op.cost * counts[FULL]
            case Apply() | Index():
                total += operations((item,)) * count
            case Scalar():
                pass
            case _:
                assert_never(item)
    read = sum(size * loop.input_dtypes[slot].itemsize for slot, size in inputs.items())
    written = sum(min(store.extent, store.layout.size) * store.dtype.itemsize for store in loop.stores)
    return Cost(read, written, total, ((Work.GATHER, gathered),) if gathered else ())


def _with_epilogue(step: Cost, epilogue: Loop | None, result: int) -> Cost:
    """Return the cost of a step whose result, of ``result`` bytes, is passed to a loop instead of to memory."""
    if epilogue is None:
        return step
    after = _loop_cost(epilogue)
    read = step.read + max(0, after.read - result)
    return Cost(read, after.written, step.operations + after.operations, step.work + after.work)


def _product_cost(step: ContractStep) -> Cost:
    batch, height, depth = step.left.shape
    columns = step.right.shape[2]
    itemsize = step.dtype.itemsize
    # a multiplication and an addition, of complex numbers four of each
    products = (8 if step.dtype.kind == "c" else 2) * batch * height * depth * columns
    product = Cost(0, batch * height * columns * itemsize, products, ((Work.PRODUCT, products),))
    for layout, prologue in zip((step.left, step.right), step.prologues, strict=True):
        before = Cost(touched(layout) * itemsize, 0, 0) if prologue is None else _loop_cost(prologue)
        total = product.operations + before.operations
        product = Cost(product.read + before.read, product.written, total, product.work + before.work)
    return _with_epilogue(product, step.epilogue, product.written)
