"""Running folds along the middle axis of (before, length, after).

Rows that lie side by side, and short ones, advance together, one vector operation a position; other rows of
contiguous elements run by themselves, and a long one in blocks: first the fold of every block, then the blocks, each
starting from the fold of what is before it. Adding floating-point numbers one after the other waits for every sum, so
long rows of them are added as products with a triangle of ones, which BLAS computes in many lanes: when the sums of
short lines are known, a line's first element is raised by what is before the line, and the line times the triangle is
the running sum.
Invariant: the blocks depend on the step alone. The provider calls :class:`PreparedScan`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.fusion.steps import ScanStep
from gpuarray.providers.inprocess.buffers import Memory
from gpuarray.providers.inprocess.loops import PreparedLoop
from gpuarray.providers.inprocess.workers import ChunkTiming, WorkerPool

Array = npt.NDArray[Any]

#: Elements of a block of one long row.
_BLOCK: Final = 1 << 16

#: Elements of a line that a triangle of ones adds up, and lines of one product: BLAS leaves such on one thread.
_LINE: Final = 16
_LINES: Final = 512

#: Elements of a row from which it is accumulated by itself.
_ALONE_LEAST: Final = 1000

#: Rows side by side from which advancing them together beats running each by itself.
_TOGETHER_LEAST: Final = 64

#: The bytes of the longest row that advances together with those behind it, those of a line of a cache: NumPy takes
#: longer to begin with a row than for so few elements.
_SHORT: Final = 64

#: Rows side by side that one piece of work advances: their working set stays in the first-level cache.
_TOGETHER: Final = 2048


class PreparedScan:
    """A scan step, ready to run."""

    def __init__(self, step: ScanStep) -> None:
        self.step = step
        combine = None if step.op.combine is None else step.op.combine.numpy
        assert isinstance(combine, np.ufunc)
        self._combine: Callable[..., Any] = combine
        self._accumulate = combine.accumulate
        self._reduce: Callable[..., Any] = combine.reduce
        # what accumulates in a narrower type than it results would lose what NumPy keeps
        self._dtype = step.op.accumulate(step.source)
        self.epilogue = None if step.epilogue is None else PreparedLoop(step.epilogue)
        self._rows = max(1, _BLOCK // max(step.length * step.after, 1))
        self._folding, self._scanning = ChunkTiming(calls=4), ChunkTiming(calls=8)
        self._advancing, self._accumulating = ChunkTiming(calls=max(step.length, 1)), ChunkTiming(calls=self._rows)

    def run(
        self, inputs: Sequence[Memory], outputs: Sequence[Memory], scalars: Sequence[Any], workers: WorkerPool
    ) -> None:
        """Compute the scan and its epilogue, from and into flat memory."""
        step = self.step
        shape = step.before, step.length, step.after
        if 0 in shape:
            return
        source: Array = np.ndarray(shape, step.source, inputs[0])
        if self.epilogue is None:
            self._scan(source, np.ndarray(shape, step.dtype, outputs[0]), workers)
            return
        result: Array = np.empty(shape, step.dtype)
        self._scan(source, result, workers)
        self.epilogue.run([result.reshape(-1).view(np.uint8), *inputs[1:]], outputs, scalars, workers)

    def _scan(self, source: Array, target: Array, workers: WorkerPool) -> None:
        step = self.step
        if step.after >= _TOGETHER_LEAST:
            self._run_together(source, target, workers)
        elif step.length * self._dtype.itemsize <= _SHORT and target.dtype == self._dtype:
            self._run_short(source, target, workers)
        elif step.after == 1 and step.length > 2 * _BLOCK:
            for row in range(step.before):
                self._run_long(source[row, :, 0], target[row, :, 0], workers)
        else:
            self._run_rows(source, target, workers)

    def describe(self) -> str:
        """Return one line about the step."""
        step = self.step
        return f"{step.op.name} accumulated over axis 1 of ({step.before}, {step.length}, {step.after})\n"

    def _run_together(self, source: Array, target: Array, workers: WorkerPool) -> None:
        columns = -(-self.step.after // _TOGETHER)

        def piece(number: int) -> None:
            row, column = divmod(number, columns)
            span = slice(column * _TOGETHER, (column + 1) * _TOGETHER)
            self._advance(source[row, :, span], target[row, :, span])

        workers.run_each(self.step.before * columns, piece, self._advancing)

    def _run_short(self, source: Array, target: Array, workers: WorkerPool) -> None:
        def piece(number: int) -> None:
            span = slice(number * self._rows, (number + 1) * self._rows)
            self._advance(source[span].swapaxes(0, 1), target[span].swapaxes(0, 1))

        workers.run_each(-(-self.step.before // self._rows), piece, self._advancing)

    def _advance(self, values: Array, results: Array) -> None:
        """Accumulate along the first axis."""
        np.copyto(results[0], values[0], casting="unsafe")
        for position in range(1, len(values)):
            self._combine(results[position - 1], values[position], out=results[position], casting="unsafe")

    def _run_rows(self, source: Array, target: Array, workers: WorkerPool) -> None:
        before, rows = self.step.before, self._rows
        # NumPy lets other threads run during the accumulation of one long row, but not of several
        if self.step.after > 1 or self.step.length < _ALONE_LEAST:
            for start in range(0, before, rows):
                self._accumulate_into(source[start : start + rows], target[start : start + rows], 1)
            return

        def piece(number: int) -> None:
            for row in range(number * rows, min((number + 1) * rows, before)):
                self._accumulate_into(source[row, :, 0], target[row, :, 0], 0)

        workers.run_each(-(-before // rows), piece, self._accumulating)

    def _run_long(self, source: Array, target: Array, workers: WorkerPool) -> None:
        is_float = source.dtype == target.dtype == self._dtype and self._dtype in (dtypes.float32, dtypes.float64)
        # only a sum of negative zeros is one, which a product that adds positive zeros too would miss
        if is_float and self._combine is np.add and not (source[0] == 0 and np.signbit(source[0])):
            whole = source.size // _BLOCK * _BLOCK
            last = self._add_lines(source[:whole], target[:whole], workers)
            if last is not None:
                rest = target[whole:]
                self._accumulate_into(source[whole:], rest, 0)
                np.add(rest, last, out=rest, casting="same_kind")
                return
        blocks = -(-source.size // _BLOCK)
        folds = np.empty(blocks, self._dtype)

        def fold(number: int) -> None:
            block = source[number * _BLOCK : (number + 1) * _BLOCK].astype(self._dtype, copy=False)
            # without a start of its own, a fold would start from the neutral zero, which is positive
            folds[number] = self._reduce(block[1:], 0, self._dtype, None, False, initial=block[0])

        def scan(number: int) -> None:
            span = slice(number * _BLOCK, (number + 1) * _BLOCK)
            self._accumulate_into(source[span], target[span], 0)
            if number:
                self._combine(folds[number - 1], target[span], out=target[span], casting="unsafe")

        workers.run_each(blocks, fold, self._folding)
        folds = self._accumulate(folds, 0, self._dtype)
        workers.run_each(blocks, scan, self._scanning)

    def _add_lines(self, source: Array, target: Array, workers: WorkerPool) -> float | None:
        """Write running sums of whole blocks and return the last one.

        Nothing is returned, and what is written means nothing, where a sum is not finite: the triangle's zeros would
        make every element of its line no number.
        """
        dtype, blocks = self._dtype, source.size // _BLOCK
        shape = blocks, _BLOCK // (_LINES * _LINE), _LINES, _LINE
        lines, results = source.reshape(shape), target.reshape(shape)
        ones = np.ones(_LINE, dtype)
        triangle = np.triu(np.ones((_LINE, _LINE), dtype))
        # one line's sum after the other adds up rounding, and is little work in double precision
        before = np.empty((blocks, _BLOCK // _LINE), np.float64)
        peaks = np.empty(blocks)

        def add(number: int) -> None:
            sums = np.matmul(lines[number], ones).reshape(-1)
            np.add.accumulate(sums, 0, np.float64, before[number])
            peaks[number] = np.abs(before[number]).max()

        workers.run_each(blocks, add, self._folding)
        starts = np.append(0.0, np.add.accumulate(before[:, -1]))
        if not (np.abs(starts[:-1]) + peaks).max() <= np.finfo(dtype).max:
            return None

        def scan(numbers: Iterator[int]) -> None:
            arena = workers.borrow_arena()
            try:
                arena.reserve(dtype.itemsize * _BLOCK)
                raised: Array = np.ndarray(shape[1:], dtype, arena.memory)
                first = raised.reshape(-1, _LINE)[:, 0]
                for number in numbers:
                    np.copyto(raised, lines[number])
                    known = np.add(before[number], starts[number], out=before[number])
                    first[0] += starts[number]
                    first[1:] += known[:-1]
                    np.matmul(raised, triangle, out=results[number])
            finally:
                workers.return_arena(arena)

        workers.run(blocks, scan, self._scanning)
        return float(starts[-1])

    def _accumulate_into(self, source: Array, target: Array, axis: int) -> None:
        values = source.astype(self._dtype, copy=False)
        if target.dtype == self._dtype:
            self._accumulate(values, axis, self._dtype, target)
        else:
            np.copyto(target, self._accumulate(values, axis, self._dtype), casting="unsafe")
