"""Sorting the rows of a matrix: short rows by a network, others digit by digit."""

from functools import partial
from math import prod
from typing import Final

from gpuarray.codegen.calls.kernels import ALL_PLACES, CallKernels
from gpuarray.codegen.calls.sorting_digits import DigitSort
from gpuarray.codegen.calls.sorting_rows import longest_short_row, short_rows
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


SORT: Final = CallKernels(partial(_program, positions=False), pieces=ALL_PLACES)
ARGSORT: Final = CallKernels(partial(_program, positions=True), pieces=ALL_PLACES)
