"""Kernels of opaque rows: one entry for each row that devices can run.

A row that has no entry runs as its NumPy reference, in-process. An entry's kernels read and write whole arrays in C
order, with scratch memory between the launches; sizes and parameters enter as words only, as everywhere.
"""

from typing import Final

from gpuarray.codegen.calls.counting import BINCOUNT, HISTOGRAM
from gpuarray.codegen.calls.fourier import FOURIER
from gpuarray.codegen.calls.kernels import CallKernels
from gpuarray.codegen.calls.ordered_folds import RUNNING, SPANS
from gpuarray.codegen.calls.searching import SEARCHSORTED
from gpuarray.codegen.calls.sorting import ARGSORT, SORT
from gpuarray.ops import calls
from gpuarray.ops.spec import CallOp

KERNELS: Final[dict[CallOp, CallKernels]] = {
    calls.argsort: ARGSORT,
    calls.sort: SORT,
    calls.searchsorted: SEARCHSORTED,
    calls.fold_spans: SPANS,
    calls.running_fold: RUNNING,
    calls.bincount: BINCOUNT,
    calls.histogram: HISTOGRAM,
    calls.fft: FOURIER,
    calls.rfft: FOURIER,
    calls.irfft: FOURIER,
}
