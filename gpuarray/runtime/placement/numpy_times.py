"""Times of NumPy's functions for elementwise operations, in one thread of the host."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from gpuarray.dtypes import DType
from gpuarray.ops.spec import MapOp
from gpuarray.runtime.placement.timing import SMALL, elapsed, typical

#: The number of elements in a tile of the in-process provider, about.
TILE: Final = 1 << 14
#: A function that takes longer than this for a few elements, in nanoseconds, is not measured with more.
_SLOW: Final = 20_000
_FEW: Final = 1 << 10
#: A function that takes longer than this, in nanoseconds, is not called again.
_HEAVY: Final = 20_000_000


def is_formula(op: MapOp) -> bool:
    """Whether an operation consists of many calls of NumPy. There are dozens: each is measured when first needed."""
    return op.cost > 1 and not isinstance(op.numpy, np.ufunc)


def host_time(op: MapOp, sample: Any) -> float | None:
    """Return the nanoseconds per element of an operation without its call; None if it does not accept the dtype."""
    run = _caller(op, sample)
    if run is None:
        return None
    few = min(elapsed(partial(run, _FEW)), elapsed(partial(run, _FEW)))
    if few > 50 * _SLOW:
        return few / _FEW
    size = 4 * _FEW if few > _SLOW else int(sample.size)
    many, call = (typical([elapsed(partial(run, number)) for _ in range(6)][1:]) for number in (size, 1))
    return max(many - call, 1.0) / size


def formula_times(op: MapOp, dtype: DType) -> tuple[float, float] | None:
    """Return the nanoseconds per element of a formula and those of one call; None if they cannot be measured."""
    sample = (np.random.default_rng(0).random(TILE, np.float32) + 0.5).astype(dtype) + (dtype.kind == "i")
    run = _caller(op, sample)
    if run is None:
        return None
    least = elapsed(partial(run, SMALL))
    if least < _HEAVY:  # otherwise the work of the first call is negligible
        least = min(elapsed(partial(run, SMALL)) for _ in range(2))
    size = 4 * _FEW if least > 50 * _SLOW else TILE
    return elapsed(partial(run, size)) / size, float(least)


def _caller(op: MapOp, sample: Any) -> Callable[[int], None] | None:
    """Return a function that calls an operation with ``size`` elements; None if it does not accept the dtype.

    NumPy's warnings must be off.
    """
    operands = (sample,) * op.arity
    try:
        resolved = op.resolve(*(sample.dtype,) * op.arity)
        if resolved.inputs != (sample.dtype,) * op.arity:  # it computes in another dtype, after casts
            return None
        out = np.empty(sample.shape, resolved.output)

        def run(size: int) -> None:
            op.numpy(*(operand[:size] for operand in operands), out=out[:size])

        run(1)
    except (TypeError, ValueError, NotImplementedError):
        return None
    return run
