"""Filters in both directions from states for which the order of the directions does not matter.

The method is that of F. Gustafsson, Determining the initial states in forward-backward filtering, IEEE Transactions on
Signal Processing 46 (1996) 988.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import linalg
from scipy import signal as scipy_signal

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_array, concatenated
from gpuarray.scipy.signal._long_numbers import Matrix
from gpuarray.scipy.signal._recurrences import Recurrence

__all__ = ["in_any_order"]


@lru_cache(maxsize=16)
def _matrices(b: tuple[float, ...], a: tuple[float, ...], ends: int, *, is_whole: bool) -> tuple[Matrix, Matrix]:
    """Return the matrices from differences of the directions to the states, and from these to the results.

    Parameters
    ----------
    b, a : tuple of float
        The coefficients of the filter.
    ends : int
        How many samples at each end depend on the states.
    is_whole : bool
        Whether these are all samples, and both ends the same ones.
    """
    order = max(len(a), len(b)) - 1
    seen = scipy_signal.lfilter(b, a, np.zeros((order, ends)), zi=np.eye(order))[0].T
    filtered = scipy_signal.lfilter(b, a, seen[::-1], axis=0)
    parts = (filtered[::-1] - seen, seen[::-1] - filtered), (filtered[::-1], seen[::-1])
    away, through = (np.hstack(pair) if is_whole else linalg.block_diag(*pair) for pair in parts)
    return linalg.pinv(away).T, through.T


def in_any_order(recurrence: Recurrence, b: Matrix, a: Matrix, x: GpuArray, irlen: int | None) -> GpuArray:
    """Return signals along the last axis filtered in both directions.

    Parameters
    ----------
    recurrence : Recurrence
        The filter.
    b, a : ndarray
        Its coefficients.
    x : GpuArray
        The signals.
    irlen : int, optional
        After how many samples the impulse response is negligible.
    """

    def filtered(line: GpuArray) -> GpuArray:
        return recurrence.respond(line, None, is_state_wanted=False)[0]

    if len(b) == len(a) == 1:  # there are no states
        return x * recurrence.dtype.type(b[0] ** 2)
    count = x.shape[-1]
    is_whole = irlen is None or count <= 2 * irlen
    ends = count if irlen is None or is_whole else irlen
    ahead = filtered(filtered(x)[..., ::-1])[..., ::-1]
    away = filtered(filtered(x[..., ::-1])[..., ::-1]) - ahead
    matrices = _matrices(tuple(b.tolist()), tuple(a.tolist()), ends, is_whole=is_whole)
    to_states, to_results = (as_array(matrix.astype(recurrence.dtype), x.device) for matrix in matrices)
    axis = x.ndim - 1
    if is_whole:
        return ahead + away @ to_states @ to_results
    both = concatenated([away[..., :ends], away[..., -ends:]], axis) @ to_states @ to_results
    middle: Any = ahead[..., ends:-ends]
    return concatenated([ahead[..., :ends] + both[..., :ends], middle, ahead[..., -ends:] + both[..., ends:]], axis)
