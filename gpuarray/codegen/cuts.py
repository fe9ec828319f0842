"""Cutting steps into pieces that a storage binding shows: lines of opaque steps, and rows or batches of products.

A piece is a step of fewer lines or rows, whose bindings begin where these do; so pieces are ordinary steps, and share
their kernels' texts.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import gcd, lcm, prod
from typing import Generic, TypeVar

from gpuarray.codegen.programs import Launch, Program
from gpuarray.codegen.wgsl import WINDOW_START
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import CallStep, ContractStep
from gpuarray.graph.layouts import slice_axis

S = TypeVar("S", CallStep, ContractStep)


@dataclass(frozen=True, slots=True)
class Piece(Generic[S]):
    """A step that is part of another one, and the bytes at which its bindings of inputs and outputs begin."""

    step: S
    inputs: Sequence[int]
    outputs: Sequence[int]


def call_pieces(
    step: CallStep, capabilities: Capabilities, beside: Collection[tuple[str, int]] = ()
) -> list[Piece[CallStep]] | None:
    """Return steps of some lines each; None if the limits allow of none.

    Inputs and outputs ``beside``, by kind and number, may be of any size.
    """
    shapes, dtypes = step.shapes + step.output_shapes, step.input_dtypes + step.output_dtypes
    shown = _shown(capabilities)
    places = [
        *(("input", n) for n in range(len(step.shapes))),
        *(("output", n) for n in range(len(step.output_shapes))),
    ]
    if all(
        place in beside or prod(shape) * dtype.itemsize <= shown
        for place, shape, dtype in zip(places, shapes, dtypes, strict=True)
    ):
        return [Piece(step, [0] * len(step.shapes), [0] * len(step.output_shapes))]
    if not step.op.by_line:
        return None
    lines = prod(step.shapes[0][:-1])
    widths = [shape[-1] * dtype.itemsize for shape, dtype in zip(shapes, dtypes, strict=True)]
    together = lcm(*map(_aligned, widths))
    most = shown // max(widths) // together * together
    if not most:
        return None
    return [_of_lines(step, start, min(most, lines - start), widths) for start in range(0, lines, most)]


def _of_lines(step: CallStep, start: int, count: int, widths: Sequence[int]) -> Piece[CallStep]:
    part = replace(
        step,
        shapes=tuple((count, shape[-1]) for shape in step.shapes),
        output_shapes=tuple((count, shape[-1]) for shape in step.output_shapes),
    )
    begins = [start * width for width in widths]
    return Piece(part, begins[: len(step.shapes)], begins[len(step.shapes) :])


def product_pieces(step: ContractStep, capabilities: Capabilities, begin: int = 0) -> list[Piece[ContractStep]] | None:
    """Return products of some batches or rows each; None if the limits, or what is fused with it, allow of none."""
    shown, itemsize = _shown(capabilities), step.dtype.itemsize
    (batch, height, _), width = step.left.shape, step.right.shape[2]
    spans = [high - low + 1 for low, high in (step.left.bounds(), step.right.bounds())]
    if max(*spans, batch * height * width) * itemsize <= shown:
        return [Piece(step, [0] * len(step.input_dtypes), [begin])]
    axis, extent, size = (0, batch, height * width * itemsize) if batch > 1 else (1, height, width * itemsize)
    half = extent // 2 // _aligned(size) * _aligned(size)
    if not half or step.epilogue is not None or any(step.prologues):
        return None
    found = []
    for start, count in ((0, half), (half, extent - half)):
        left = slice_axis(step.left, axis, start, 1, count)
        right = slice_axis(step.right, 0, start, 1, count) if axis == 0 else step.right
        parts = product_pieces(replace(step, left=left, right=right), capabilities, begin + start * size)
        if parts is None:
            return None
        found += parts
    return found


def joined(pieces: Sequence[Piece[S]] | None, program: Callable[[S], Program]) -> Program:
    """Return one program of the pieces of a step that can be cut."""
    assert pieces is not None
    if len(pieces) == 1:
        return program(pieces[0].step)
    launches: list[Launch] = []
    scratch: tuple[int, ...] = ()
    for piece in pieces:
        own = program(piece.step)
        launches += _moved(own.launches, piece)
        scratch = tuple(max(pair) for pair in zip_longest(scratch, own.scratch, fillvalue=0))
    return Program(tuple(launches), scratch)


def _moved(launches: Sequence[Launch], piece: Piece[S]) -> Iterator[Launch]:
    """Yield launches whose inputs and outputs begin where the piece does."""
    begins = {"input": piece.inputs, "output": piece.outputs}
    for launch in launches:
        bindings = (
            replace(b, offset=b.offset + begins[b.kind][b.slot]) if b.kind in begins else b for b in launch.bindings
        )
        yield replace(launch, bindings=tuple(bindings))


def starts(size: int, capabilities: Capabilities, *dtypes: DType) -> range:
    """Return where pieces begin of lines of ``size`` elements each, of several dtypes, that one binding shows."""
    each = _shown(capabilities) // max(dtype.itemsize for dtype in dtypes) // WINDOW_START * WINDOW_START
    return range(0, size, each)


def _shown(capabilities: Capabilities) -> int:
    """Return how many bytes of an array one binding shows, wherever they begin."""
    return capabilities.binding_limit - 2 * WINDOW_START


def _aligned(size: int) -> int:
    """Return the least number of things of so many bytes after which a binding may begin."""
    return WINDOW_START // gcd(WINDOW_START, size)
