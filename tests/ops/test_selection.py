"""Selections by a condition, with and without the loops in C."""

import numpy as np
import pytest

from gpuarray.ops import selection


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.arange(5000.0), -1),
        (1, 0),
        (np.float32(0.5), np.arange(5000, dtype=np.int8)),
        (np.arange(5000, dtype=np.uint8), 7),
        (np.arange(5000) * 1j, 2.0),
        (np.arange(5000.0)[::-1], np.arange(15000.0).reshape(3, 5000)),
        ([5.0], np.arange(5000)),
        (np.array(["a", "b"] * 2500), "c"),
    ],
)
@pytest.mark.parametrize("condition", [np.arange(5000) % 3 == 0, np.arange(10000)[::2] % 4 == 0, np.arange(5000) % 2])
def test_where_is_numpys(condition, x, y):
    np.testing.assert_array_equal(selection.where(condition, x, y), np.where(condition, x, y), strict=True)


def test_where_refuses_what_numpy_refuses():
    condition = np.arange(5000) % 3 == 0
    with pytest.raises(OverflowError):
        selection.where(condition, np.ones(5000, np.int8), 1000)
    with pytest.raises(ValueError, match="broadcast"):
        selection.where(condition, np.ones(4), 1)
    with pytest.raises(ValueError, match="either both or neither"):
        selection.where(condition, 1)
