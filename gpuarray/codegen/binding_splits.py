"""Splits of calls and matrix products whose arrays are larger than a storage binding can show.

A piece is a step with fewer lines, rows or batches, whose bindings begin where these do. So pieces are ordinary steps,
and share the texts of their kernels.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import gcd, lcm, prod
from typing import Generic, TypeVar, assert_never

from gpuarray.codegen import loop_splits
from gpuarray.codegen.programs import Launch, Program
from gpuarray.codegen.wgsl import WINDOW_START
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import CallStep, ContractStep, Loop, ScanStep
from gpuarray.graph.layouts import slice_axis

S = TypeVar("S", CallStep, ContractStep)


@dataclass(frozen=True, slots=True)
class StepPiece(Generic[S]):
    """A part of a step, and the bytes at which its inputs and outputs begin in those of the whole."""

    step: S
    inputs: Sequence[int]
    outputs: Sequence[int]


def split_call(
    step: CallStep, capabilities: Capabilities, beside: Collection[tuple[str, int]]
) -> list[StepPiece[CallStep]] | None:
    """Return steps of some lines each, within the limits; None if there are none.

    Inputs and outputs ``beside``, by kind and number, may have any size where lines cannot be split.
    """
    shapes, dtypes = step.shapes + step.output_shapes, step.input_dtypes + step.output_dtypes
    shown = _shown(capabilities)
    arrays = [
        *(("input", n) for n in range(len(step.shapes))),
        *(("output", n) for n in range(len(step.output_shapes))),
    ]
    large = [
        array
        for array, shape, dtype in zip(arrays, shapes, dtypes, strict=True)
        if prod(shape) * dtype.itemsize > shown
    ]
    most = 0
    if large and step.op.by_line:
        lines = prod(step.shapes[0][:-1])
        widths = [shape[-1] * dtype.itemsize for shape, dtype in zip(shapes, dtypes, strict=True)]
        together = lcm(*map(_aligned, widths))
        most = shown // max(widths) // together * together
    if not most:
        whole = StepPiece(step, [0] * len(step.shapes), [0] * len(step.output_shapes))
        return [whole] if all(array in beside for array in large) else None
    return [_of_lines(step, start, min(most, lines - start), widths) for start in range(0, lines, most)]


def _of_lines(step: CallStep, start: int, count: int, widths: Sequence[int]) -> StepPiece[CallStep]:
    piece = replace(
        step,
        shapes=tuple((count, shape[-1]) for shape in step.shapes),
        output_shapes=tuple((count, shape[-1]) for shape in step.output_shapes),
    )
    begins = [start * width for width in widths]
    return StepPiece(piece, begins[: len(step.shapes)], begins[len(step.shapes) :])


def split_product(step: ContractStep, capabilities: Capabilities, begin: int = 0) -> list[StepPiece[ContractStep]]:
    """Return products of some batches or rows each, split as long as that makes arrays that are too large smaller."""
    shown, nbytes = _shown(capabilities), _product_bytes(step)
    whole = [StepPiece(step, [0] * len(step.input_dtypes), [begin])]
    if max(nbytes) <= shown or step.epilogue is not None or any(step.prologues):
        return whole
    (batch, height, _), width = step.left.shape, step.right.shape[2]
    extent, size = (batch, height * width) if batch > 1 else (height, width)
    size *= step.dtype.itemsize
    half = extent // 2 // _aligned(size) * _aligned(size)
    if not half:
        return whole
    first, second = _of_rows(step, 0, half), _of_rows(step, half, extent - half)
    narrower = zip(nbytes, _product_bytes(first), strict=True)
    if not any(before > shown and 4 * after <= 3 * before for before, after in narrower):
        return whole
    return split_product(first, capabilities, begin) + split_product(second, capabilities, begin + half * size)


def _of_rows(step: ContractStep, start: int, count: int) -> ContractStep:
    """Return a product of some of its batches, or of some rows where there is one batch."""
    if step.left.shape[0] == 1:
        return replace(step, left=slice_axis(step.left, 1, start, 1, count))
    left, right = (slice_axis(layout, 0, start, 1, count) for layout in (step.left, step.right))
    return replace(step, left=left, right=right)


def _product_bytes(step: ContractStep) -> list[int]:
    """Return the bytes that the operands and the result of a product span."""
    (batch, height, _), width = step.left.shape, step.right.shape[2]
    spans = (high - low + 1 for low, high in (step.left.bounds(), step.right.bounds()))
    return [count * step.dtype.itemsize for count in (*spans, batch * height * width)]


def most_bytes(step: Loop | ScanStep | ContractStep | CallStep) -> int:
    """Return the bytes of the largest span of an array that a step reaches."""
    match step:
        case Loop():
            return loop_splits.widest(step)
        case ScanStep():
            size = step.before * step.length * step.after
            sizes = [size * max(step.source.itemsize, step.dtype.itemsize)]
        case ContractStep():
            sizes = _product_bytes(step)
        case CallStep():
            shapes, dtypes = step.shapes + step.output_shapes, step.input_dtypes + step.output_dtypes
            return max(prod(shape) * dtype.itemsize for shape, dtype in zip(shapes, dtypes, strict=True))
        case _:
            assert_never(step)
    return max([*sizes, *map(loop_splits.widest, step.loops)])


def join(pieces: Sequence[StepPiece[S]] | None, program: Callable[[S], Program]) -> Program:
    """Return one program that runs the pieces of a step in order."""
    assert pieces is not None
    if len(pieces) == 1:
        return program(pieces[0].step)
    launches: list[Launch] = []
    scratch: tuple[int, ...] = ()
    for piece in pieces:
        written = program(piece.step)
        launches += _moved(written.launches, piece)
        scratch = tuple(max(pair) for pair in zip_longest(scratch, written.scratch, fillvalue=0))
    return Program(tuple(launches), scratch)


def _moved(launches: Sequence[Launch], piece: StepPiece[S]) -> Iterator[Launch]:
    """Yield launches whose inputs and outputs begin where those of the piece do."""
    begins = {"input": piece.inputs, "output": piece.outputs}
    for launch in launches:
        bindings = (
            replace(b, offset=b.offset + begins[b.kind][b.slot]) if b.kind in begins else b for b in launch.bindings
        )
        yield replace(launch, bindings=tuple(bindings))


def piece_starts(size: int, capabilities: Capabilities, *dtypes: DType) -> range:
    """Return where the pieces of arrays of ``size`` elements begin, of which one binding shows each."""
    each = _shown(capabilities) // max(dtype.itemsize for dtype in dtypes) // WINDOW_START * WINDOW_START
    return range(0, size, each)


def _shown(capabilities: Capabilities) -> int:
    """Return the bytes of an array that one binding shows, wherever they begin."""
    return capabilities.binding_limit - 2 * WINDOW_START


def _aligned(size: int) -> int:
    """Return the least number of elements of ``size`` bytes after which a binding may begin."""
    return WINDOW_START // gcd(WINDOW_START, size)
