"""Kernels are as accurate as promised: below two units in the last place, or not above NumPy's error."""

from collections.abc import Iterator

import numpy as np
import pytest

import gpuarray as xp
from bench.accuracy import measure
from bench.accuracy.functions import FUNCTIONS
from bench.peers import Ours
from gpuarray.ops import special  # noqa: F401  (declares the operations)
from gpuarray.ops.spec import OPS, MapOp
from gpuarray.providers import registry

pytestmark = pytest.mark.wgpu

COUNTS = {"float32": 1 << 15, "float64": 1 << 14, "complex64": 200, "complex128": 200}
SPECIAL_COUNTS = {"float32": 1 << 14, "float64": 100}
FEWER = {"float32": 1 << 11, "float64": 30}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("dtype", COUNTS)
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name in OPS])
def test_error_is_below_two_units_or_numpys(name: str, dtype: str) -> None:
    function, row = FUNCTIONS[name], OPS[name]
    if function.exact is None:  # tests/codegen/test_math.py compares bits
        return
    if dtype.startswith("complex") and not function.complex_:
        return
    assert isinstance(row, MapOp)
    # of special functions mpmath judges each value in float64, since long double has none
    counts = FEWER if function.sample else SPECIAL_COUNTS if function.special else COUNTS
    # loops over lanes of many lengths take NumPy long
    operands, exact = measure.sampled(Ours("wgpu" if function.sample else "cpu"), function, dtype, counts[dtype])
    ours = measure.applied(Ours("wgpu"), function, operands)
    if isinstance(row.numpy, np.ufunc):
        theirs = row.numpy(*operands)
        theirs = theirs[row.output] if isinstance(theirs, tuple) else theirs
    else:
        theirs = row.numpy(*operands, out=np.empty(operands[0].shape, ours.dtype))
    result, numpy = measure.judged(function, dtype, operands, exact, {"ours": ours, "numpy": theirs})
    # complex powers are exp(b log(a)) in both, with the rounding errors of log(a) times |b|, which differ by luck
    share = 1.02 if name == "pow" and dtype.startswith("complex") else 1.0
    assert result.error <= max(2.0, share * numpy.error), result
    # what a device flushes is counted apart, in the table of accuracies
    flushes = not registry.open_device(xp.Device("wgpu")).capabilities.subnormal_float32
    assert flushes or result.wrong <= numpy.wrong, result
