"""Products of the windows of a line and a vector: NumPy's values, without a copy of the windows."""

import tracemalloc

import numpy as np
import pytest

import gpuarray as xp

DTYPES = ("bool", "uint8", "int32", "int64", "float32", "float64", "complex64", "complex128")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["valid", "same", "full"])
def test_values(dtype, mode):
    random = np.random.default_rng(0)
    line, kernel = (random.normal(size=(2, n)) * 5 for n in (20_000, 200))
    first, second = ((a[0] + 1j * a[1] if dtype[0] == "c" else a[0]).astype(dtype) for a in (line, kernel))
    with xp.using(device="cpu"):
        for function in (np.convolve, np.correlate):
            expected = function(first, second, mode)
            actual = function(xp.asarray(first), xp.asarray(second), mode)
            assert actual.dtype == expected.dtype
            scale = np.abs(expected).max()
            np.testing.assert_allclose(actual.get(), expected, atol=1e-6 * scale if dtype[-2:] in ("32", "64") else 0)


@pytest.mark.parametrize("pending", [False, True])
def test_windows_are_not_copied(pending):
    with xp.using(device="cpu"):
        line, kernel = xp.asarray(np.ones(100_000)), xp.asarray(np.ones(300))
        xp.evaluate(line, kernel)
        tracemalloc.start()
        try:
            given = (line + 1) / 2 if pending else line
            assert float(np.convolve(given, kernel, "valid").max()) == 300
            assert tracemalloc.get_traced_memory()[1] < 20 * line.nbytes
        finally:
            tracemalloc.stop()
