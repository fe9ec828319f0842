"""Selections of elements have the bits of NumPy's, whatever memory they share with their operands."""

import numpy as np
import pytest

from gpuarray.ops import generators, references

MASKS = {"alternating": lambda i: i % 2 == 0, "rare": lambda i: i % 97 == 0, "never": lambda i: i < 0}


@pytest.mark.parametrize("dtype", ["?", "u1", "f2", "f4", "f8", "i8", "c8", "c16"])
@pytest.mark.parametrize("mask", MASKS)
def test_selections_have_the_bits_of_numpys(mask, dtype):
    i = np.arange(4096)
    condition = MASKS[mask](i)
    x, y = (i % 7 - 3).astype(dtype), (i % 5).astype(dtype)
    if x.dtype.kind in "fc":
        x[::3], y[::11] = np.nan, -0.0
    expected = np.where(condition, x, y)
    for first, second in ((x, y), (x[1], y), (x, y[1]), (x[1], y[4])):
        out = np.empty_like(x)
        assert references.where(condition, first, second, out) is out
        assert out.tobytes() == np.where(condition, first, second).tobytes()
    same = x.copy()
    assert references.where(condition, same, y, same).tobytes() == expected.tobytes()
    same = y.copy()
    assert references.where(condition, x, same, same).tobytes() == expected.tobytes()
    rows, columns = condition.reshape(64, 64), condition[:64, None]
    for chosen in (rows, rows.T, columns):
        out = np.empty((64, 64), dtype).T
        references.where(chosen, x.reshape(64, 64), y.reshape(64, 64).T, out)
        np.testing.assert_array_equal(out, np.where(chosen, x.reshape(64, 64), y.reshape(64, 64).T))


@pytest.mark.parametrize(
    "limits", [(0, 5000), (7, 90_000, 13), (7, -90_000, -13), (0.0, -4.0, -1.0), (2.5, 9.0, 0.25), (250, 256)]
)
@pytest.mark.parametrize("dtype", ["i2", "i4", "u1", "i8", "f4", "f8"])
def test_ranges_have_the_bits_of_numpys(limits, dtype):
    if dtype[0] in "iu" and not all(np.iinfo(dtype).min <= end <= np.iinfo(dtype).max for end in limits):
        return  # NumPy raises an error
    expected = np.arange(*limits, dtype=dtype)
    start, step = limits[0] if len(limits) > 1 else 0, limits[2] if len(limits) > 2 else 1
    for index in (range(expected.size), np.arange(expected.size), range(2, expected.size)):
        result = generators.arange.numpy(index, start, step, dtype=np.dtype(dtype))
        assert result.dtype == expected.dtype
        assert result.tobytes() == expected[-len(index) :].tobytes()
