"""Running folds over one block, several blocks, and more blocks than one turn of the carries takes."""

import numpy as np
import pytest
from support import values

import gpuarray as xp
from gpuarray.codegen.scans import TILE
from gpuarray.graph.layouts import Shape

pytestmark = pytest.mark.wgpu

SHAPES = ((12,), (TILE - 1,), (TILE + 4,), (2, TILE + 3), (2 * TILE + 5, 3))
CASES = [("float32", shape) for shape in SHAPES]
CASES += [(dtype, (2, 2 * TILE + 8)) for dtype in ("bool", "uint8", "int16", "int64", "complex64")]


@pytest.mark.parametrize(("dtype", "shape"), CASES, ids=str)
def test_running_sums(dtype: str, shape: Shape) -> None:
    x = values(shape, dtype)
    with xp.using(device="wgpu"):
        axis = int(np.argmax(shape))
        expected = np.cumsum(x, axis=axis)
        result = np.cumsum(xp.asarray(x), axis=axis)
        # sums of halves are exact
        np.testing.assert_array_equal(np.asarray(result), expected)
        np.testing.assert_array_equal(np.asarray(result * 2 + 1), expected * 2 + 1)


def test_more_blocks_than_one_turn_of_the_carries() -> None:
    x = np.arange(TILE * (TILE + 1) + 4) % 3 == 0
    with xp.using(device="wgpu"):
        result = np.asarray(np.cumsum(xp.asarray(x), dtype=np.int32))
        np.testing.assert_array_equal(result, np.cumsum(x, dtype=np.int32))
