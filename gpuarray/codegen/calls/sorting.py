"""Sorting the rows of a matrix: short rows by a network, others digit by digit."""

from functools import partial
from math import prod
from typing import Final

from gpuarray import dtypes
from gpuarray.codegen.calls.kernels import CallKernels
from gpuarray.codegen.calls.sorting_digits import DigitSort
from gpuarray.codegen.calls.sorting_rows import longest_short_row, short_rows
from gpuarray.codegen.calls.sorting_tiles import longest_tile
from gpuarray.codegen.programs import Program
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import CallStep


def _program(step: CallStep, label: str, capabilities: Capabilities, *, positions: bool) -> Program:
    dtype = step.input_dtypes[0]
    length = step.shapes[0][-1]
    rows = prod(step.shapes[0][:-1])
    descending = bool(dict(step.parameters)["descending"])
    title = f"{label}_{dtype.name}"
    if length <= longest_short_row(dtype):
        return short_rows(title, dtype, rows, length, capabilities, descending=descending, positions=positions)
    return DigitSort(title, dtype, rows, length, capabilities, descending=descending, positions=positions).program()


def _unsupported(step: CallStep, capabilities: Capabilities) -> str | None:
    dtype = step.input_dtypes[0]
    if step.shapes[0][-1] <= max(longest_short_row(dtype), longest_tile(capabilities)):
        return None
    # while they are moved, small values take a word each
    nbytes = prod(step.shapes[0]) * max(dtype.itemsize, dtypes.uint32.itemsize)
    if nbytes + 512 > capabilities.binding_limit:
        return f"sorting needs {nbytes} bytes of scratch memory, more than one storage binding of this device shows"
    return None


SORT: Final = CallKernels(partial(_program, positions=False), _unsupported)
ARGSORT: Final = CallKernels(partial(_program, positions=True), _unsupported)
