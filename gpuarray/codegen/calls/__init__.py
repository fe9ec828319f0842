"""Kernels of calls: one entry for each call that devices can run.

A call without an entry runs in-process, as its NumPy reference. Kernels of calls read and write whole arrays in C
order, with scratch memory between their launches. Sizes are parameters, as in all kernels.
"""

from typing import Final

from gpuarray.codegen.calls.counting import BINCOUNT, HISTOGRAM
from gpuarray.codegen.calls.fourier import FOURIER
from gpuarray.codegen.calls.images import ENVELOPE, PARTS, RANKS
from gpuarray.codegen.calls.kernels import CallKernels
from gpuarray.codegen.calls.linear_algebra.programs import KERNELS as FACTORISATIONS
from gpuarray.codegen.calls.ordered_folds import RUNNING, SPANS
from gpuarray.codegen.calls.searching import SEARCHSORTED
from gpuarray.codegen.calls.sorting import ARGSORT, SORT
from gpuarray.codegen.calls.trees import LEAST, OUTSIDE
from gpuarray.ops import calls, images, searches
from gpuarray.ops.spec import CallOp

KERNELS: Final[dict[CallOp, CallKernels]] = {
    **FACTORISATIONS,
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
    images.first_of_part: PARTS,
    images.lower_envelope: ENVELOPE,
    images.place_in_envelope: ENVELOPE,
    images.rank_of_windows: RANKS,
    searches.last_least: LEAST,
    searches.last_outside: OUTSIDE,
}
