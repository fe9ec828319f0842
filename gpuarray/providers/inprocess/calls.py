"""Steps that are not loops: contractions, calls, copies and scatters.

Each prepared step has ``run(inputs, outputs, scalars, workers)`` over flat memory, and ``describe()``. The provider
prepares :class:`~gpuarray.fusion.steps.ContractStep`, ``CallStep``, ``CopyStep`` and ``ScatterStep`` so.
"""

from collections.abc import Sequence
from math import prod
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import CallStep, ContractStep, CopyStep, ScatterStep
from gpuarray.graph.layouts import Layout
from gpuarray.providers.inprocess.buffers import Memory
from gpuarray.providers.inprocess.loops import PreparedLoop
from gpuarray.providers.inprocess.workers import ChunkTiming, WorkerPool

Array = npt.NDArray[Any]

#: Dtypes of matrices that BLAS multiplies, on threads of its own.
_BLAS: Final = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)

#: Multiplications of one piece of a matrix product without BLAS.
_PRODUCT_PIECE: Final = 1 << 20

#: Elements of an operand whose lines are worth spreading over threads, and of a piece of them.
_LINES_LEAST: Final = 1 << 15
_PIECE: Final = 1 << 16
#: Positions that are converted to NumPy's index type at a time.
_POSITIONS: Final = 1 << 14


def strided(memory: Memory, layout: Layout, dtype: DType) -> Array:
    """Return flat memory seen through ``layout``."""
    width = dtype.itemsize
    offset = layout.offset * width if layout.size else 0
    return np.ndarray(layout.shape, dtype, memory, offset, tuple(s * width for s in layout.strides))


class PreparedContract:
    """A batch of matrix products with its prologues and epilogue."""

    def __init__(self, step: ContractStep) -> None:
        self.step = step
        self.shape = step.left.shape[0], step.left.shape[1], step.right.shape[2]
        self.prologues = [None if loop is None else PreparedLoop(loop) for loop in step.prologues]
        self.epilogue = None if step.epilogue is None else PreparedLoop(step.epilogue)
        self._timing = ChunkTiming(calls=1)

    def run(
        self, inputs: Sequence[Memory], outputs: Sequence[Memory], scalars: Sequence[Any], workers: WorkerPool
    ) -> None:
        """Compute the products from and into flat memory."""
        step = self.step
        operands = []
        for layout, prologue, slot in zip((step.left, step.right), self.prologues, (0, step.reads - 1), strict=True):
            memory = inputs[slot]
            if prologue is not None:
                memory = np.empty(layout.size, step.dtype).view(np.uint8)
                prologue.run(inputs, [memory], scalars, workers)
            operands.append(strided(memory, layout, step.dtype))
        left, right = operands
        if self.epilogue is None:
            target: Array = np.ndarray(self.shape, step.output_dtypes[0], outputs[0])
            self._multiply(left, right, target, workers)
            return
        product = np.empty(self.shape, step.dtype)
        self._multiply(left, right, product, workers)
        flat = product.reshape(-1).view(np.uint8)
        self.epilogue.run([flat, *inputs[step.reads :]], outputs, scalars, workers)

    def describe(self) -> str:
        """Return the product as one line, between what makes its operands and its epilogue."""
        step = self.step
        line = f"matmul of {step.left.shape} and {step.right.shape} in {step.dtype.name}\n"
        before = [loop.describe() for loop in self.prologues if loop is not None]
        return "".join([*before, line, *([] if self.epilogue is None else [self.epilogue.describe()])])

    def _multiply(self, left: Array, right: Array, target: Array, workers: WorkerPool) -> None:
        if not target.size:
            return
        dtype = self.step.dtype
        if _is_sliding(left) and right.shape[2] == 1 and dtype != dtypes.float16:
            self._slide(left, right, target, workers)
        elif dtype == dtypes.float16:
            wide = np.matmul(left.astype(dtypes.float32), right.astype(dtypes.float32))
            np.copyto(target, wide, casting="unsafe")
        elif dtype in _BLAS:
            np.matmul(_for_blas(left, dtype), _for_blas(right, dtype), out=target)
        else:
            self._multiply_by_rows(left.astype(dtype, copy=False), right.astype(dtype, copy=False), target, workers)

    def _slide(self, left: Array, right: Array, target: Array, workers: WorkerPool) -> None:
        """Multiply the windows of a line, each one element after the last, by a vector, without copying them."""
        _, height, width = left.shape
        line = np.lib.stride_tricks.as_strided(left[0, 0], (height + width - 1,), left.strides[2:])
        vector = np.conj(right[0, :, 0])  # of which NumPy takes the conjugate
        rows = max(width, _PRODUCT_PIECE // width)

        def piece(number: int) -> None:
            first = number * rows
            count = min(rows, height - first)
            target[0, first : first + count, 0] = np.correlate(line[first : first + count + width - 1], vector, "valid")

        workers.run_each(-(-height // rows), piece, self._timing)

    def _multiply_by_rows(self, left: Array, right: Array, target: Array, workers: WorkerPool) -> None:
        batches, height, width = self.shape
        rows = max(1, _PRODUCT_PIECE // max(width * left.shape[2], 1))
        pieces = -(-height // rows)

        def piece(number: int) -> None:
            batch, block = divmod(number, pieces)
            span = slice(block * rows, (block + 1) * rows)
            np.matmul(left[batch, span], right[batch], out=target[batch, span])

        workers.run_each(batches * pieces, piece, self._timing)


def _is_sliding(left: Array) -> bool:
    """Return True if the rows of the one matrix are windows of a line, each one element after the last."""
    batches, height, width = left.shape
    return batches == 1 and min(height, width) > 1 and left.strides[1] == left.strides[2] == left.itemsize


def _for_blas(array: Array, dtype: DType) -> Array:
    """Return ``array`` with matrices that BLAS can read; NumPy multiplies others element by element."""
    array = array.astype(dtype, copy=False)
    rows, columns = array.strides[1:]
    width = dtype.itemsize
    by_rows = columns == width and rows >= array.shape[2] * width and rows % width == 0
    by_columns = rows == width and columns >= array.shape[1] * width and columns % width == 0
    return array if by_rows or by_columns else np.ascontiguousarray(array)


class PreparedCall:
    """A call on whole operands, or on chunks of lines or parts where it allows that."""

    def __init__(self, step: CallStep) -> None:
        self.step = step
        self.parameters = dict(step.parameters)
        self.lines = 0
        self._timing = ChunkTiming(calls=4)
        if step.op.by_line and prod(step.shapes[0]) >= _LINES_LEAST:
            self.lines = prod(step.shapes[0][:-1])
        self.part = max(_PIECE, 4 * prod(step.output_shapes[0]))
        self.has_parts = step.op.by_part and prod(step.shapes[0]) > self.part

    def run(
        self, inputs: Sequence[Memory], outputs: Sequence[Memory], scalars: Sequence[Any], workers: WorkerPool
    ) -> Sequence[Memory]:
        """Call the reference on views of the inputs, and return its results; none if they are in the outputs."""
        step = self.step
        arrays: list[Array] = []
        for shape, dtype, memory in zip(step.shapes, step.input_dtypes, inputs, strict=True):
            arrays.append(np.ndarray(shape, dtype, memory))  # writeable, as NumPy copies read-only arrays in some calls
        if self.lines > 1:
            self._run_lines(arrays[0], outputs[0], workers)
            return ()
        if self.has_parts:
            self._run_parts(arrays, outputs[0], workers)
            return ()
        if step.op.into is not None:
            step.op.into(
                np.ndarray(step.output_shapes[0], step.output_dtypes[0], outputs[0]), *arrays, **self.parameters
            )
            return ()
        returned = step.op.numpy(*arrays, **self.parameters)
        results = returned if isinstance(returned, tuple) else (returned,)
        parts = []
        for pick, shape, dtype in zip(step.picks, step.output_shapes, step.output_dtypes, strict=True):
            values = np.asarray(results[pick])
            if values.size != prod(shape):
                raise ValueError(
                    f"operation {step.op.name!r} returned an array of shape {values.shape} where {shape} was planned"
                )
            flat = values.reshape(-1).astype(dtype, casting="same_kind", copy=False)
            is_operand = any(np.may_share_memory(flat, array) for array in arrays)
            parts.append((flat.copy() if is_operand else np.ascontiguousarray(flat)).view(np.uint8))
        return parts

    def describe(self) -> str:
        """Return the call as one line."""
        parameters = "".join(f", {name}={value!r}" for name, value in self.step.parameters)
        return f"{self.step.op.name}({', '.join(map(str, self.step.shapes))}{parameters})\n"

    def _run_lines(self, array: Array, output: Memory, workers: WorkerPool) -> None:
        """Call the reference on pieces of about equal size, which are the same for any number of threads."""
        step, lines = self.step, self.lines
        source = array.reshape(lines, -1)
        target: Array = np.ndarray((lines, step.output_shapes[0][-1]), step.output_dtypes[0], output)
        some = max(1, _PIECE // max(source.shape[1], 1))

        def piece(number: int) -> None:
            span = slice(number * some, (number + 1) * some)
            if step.op.into is not None:
                step.op.into(target[span], source[span], **self.parameters)
            else:
                np.copyto(target[span], step.op.numpy(source[span], **self.parameters), casting="same_kind")

        workers.run_each(-(-lines // some), piece, self._timing)

    def _run_parts(self, arrays: Sequence[Array], output: Memory, workers: WorkerPool) -> None:
        """Call the reference on parts of the first operand, and add up the results."""
        step, (first, *others) = self.step, arrays
        line = first.reshape(-1)
        total: Array = np.ndarray(step.output_shapes[0], step.output_dtypes[0], output)
        total[...] = 0
        lock = Lock()

        def piece(number: int) -> None:
            results = step.op.numpy(line[number * self.part : (number + 1) * self.part], *others, **self.parameters)
            with lock:
                np.add(total, results, out=total)

        workers.run_each(-(-line.size // self.part), piece, self._timing)


class PreparedCopy:
    """A copy of flat memory."""

    def __init__(self, step: CopyStep) -> None:
        self.step = step
        self.nbytes = step.extent * step.dtype.itemsize

    def run(
        self, inputs: Sequence[Memory], outputs: Sequence[Memory], scalars: Sequence[Any], workers: WorkerPool
    ) -> None:
        """Copy input 0 to output 0."""
        workers.copy(outputs[0][: self.nbytes], inputs[0][: self.nbytes])

    def describe(self) -> str:
        """Return the copy as one line."""
        return f"copy of {self.nbytes} bytes\n"


class PreparedScatter:
    """Values written at flat positions, or combined with the elements there."""

    def __init__(self, step: ScatterStep) -> None:
        self.step = step

    def run(
        self, inputs: Sequence[Memory], outputs: Sequence[Memory], scalars: Sequence[Any], workers: WorkerPool
    ) -> None:
        """Write input 0 at the positions of input 1, or combine it with the elements there, in order."""
        step = self.step
        values: Array = np.ndarray(step.count, step.input_dtypes[0], inputs[0])
        positions: Array = np.ndarray(step.count, step.positions, inputs[1])
        target: Array = np.ndarray(step.extent, step.dtype, outputs[0])
        if step.combine is None:
            target[positions.astype(np.intp, copy=False)] = values
            return
        update = step.combine.numpy.at  # type: ignore[attr-defined]  # a ufunc, as the functions that combine see to
        some = step.count if positions.dtype == np.intp else _POSITIONS  # the converted ones stay in the cache
        for start in range(0, step.count, some):
            span = slice(start, start + some)
            operands = (values[span],)[: step.combine.arity - 1]
            update(target, positions[span].astype(np.intp, copy=False), *operands)

    def describe(self) -> str:
        """Return the scatter as one line."""
        step = self.step
        how = "scatter" if step.combine is None else f"{step.combine.name}.at"
        return f"{how} of {step.count} values over {step.extent} elements\n"
