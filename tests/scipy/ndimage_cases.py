"""What tests of gpuarray.scipy.ndimage compare: the compositions, on any device, with SciPy's functions."""

import numpy as np
from scipy import ndimage

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi

MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap")


def sample(shape, dtype, seed=0):
    """Return random numbers: whole ones for integers, some of them large."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        return rng.integers(0 if kind == "u" else -100, 120, shape).astype(dtype)
    values = rng.standard_normal(shape) * 10
    return (values + 1j * rng.standard_normal(shape) if kind == "c" else values).astype(dtype)


def placed(value):
    """Return arguments with arrays of this package in place of NumPy's."""
    if isinstance(value, np.ndarray):
        return xp.asarray(value)
    if isinstance(value, list | tuple):
        return type(value)(map(placed, value))
    return value


def compare(name, x, *args, off=0, **kwargs):
    """Check that the composition gives SciPy's values and dtype; ``off`` is by how much integers may differ."""
    expected = getattr(ndimage, name)(x, *args, **kwargs)
    actual = getattr(ndi, name).composition(xp.asarray(x), *args, **kwargs)
    same(actual, expected, off)
    return actual


def same(actual, expected, off=0):
    """Check values and dtype; floating results to a few units in the last place of the largest."""
    if isinstance(expected, tuple | list):
        assert len(actual) == len(expected)
        for part, wanted in zip(actual, expected, strict=True):
            same(part, wanted, off)
        return
    expected = np.asarray(expected)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    values = np.asarray(actual)
    if expected.dtype.kind in "fc" and expected.size:
        finite = np.abs(expected[np.isfinite(expected)])
        bound = 64 * np.finfo(expected.dtype).eps * float(finite.max(initial=1))
        np.testing.assert_allclose(values, expected, rtol=0, atol=bound)
    elif off:
        difference = np.abs(values.astype(int) - expected.astype(int))
        assert difference.max(initial=0) <= off
    else:
        np.testing.assert_array_equal(values, expected)
