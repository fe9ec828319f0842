"""The filters of Fourier transforms are SciPy's."""

import numpy as np
import pytest
from scipy import ndimage

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi

FUNCTIONS = ("fourier_gaussian", "fourier_uniform", "fourier_shift", "fourier_ellipsoid")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape", [(9,), (6, 8), (4, 3, 5), (0, 3)])
@pytest.mark.parametrize("n", [-1, 8])
def test_filters_are_scipys(device, name, shape, n):
    rng = np.random.default_rng(1)
    for dtype in ("f4", "f8", "i4", "c8"):
        x = (rng.standard_normal(shape) * 9 + (1j * rng.standard_normal(shape) if dtype == "c8" else 0)).astype(dtype)
        for width in (1.5, list(range(2, 2 + len(shape)))):
            expected = getattr(ndimage, name)(x, width, n, 0)
            actual = getattr(ndi, name).composition(xp.asarray(x), width, n, 0)
            assert actual.dtype == expected.dtype
            precise = dtype in ("f8", "i4")
            np.testing.assert_allclose(
                actual.get(), expected, rtol=1e-12 if precise else 1e-5, atol=1e-12 if precise else 1e-5
            )
