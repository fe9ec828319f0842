"""Correlations, and the separable filters made of them, are SciPy's."""

import numpy as np
import pytest
from ndimage_cases import MODES, compare, placed, same, sample
from scipy import ndimage

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi

DTYPES = ("f4", "f8", "u1", "i2", "i4", "c8")


@pytest.mark.parametrize("mode", MODES)
def test_every_mode(device, mode):
    shapes = (((3, 2), 11), ((7,), 5), ((4, 9), 3), ((1, 1), 3), ((3, 4, 5), 3))
    for shape, size in shapes if device.name == "cpu" else shapes[:1]:
        x = sample(shape, "f4")
        weights = sample((size,) * len(shape), "f8", 1)
        compare("correlate", x, weights, mode=mode, cval=2.5)
        compare("convolve", x, weights, mode=mode, cval=2.5, origin=-1)
        compare("uniform_filter", x, size, mode=mode, cval=1.5)
        compare("gaussian_filter", x, 1.3, mode=mode, cval=-1.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(device, dtype):
    x = sample((6, 7), dtype)
    for name, arguments in {
        "correlate": (np.array([[1.0, -2, 0.5], [0, 3, 1]]),),
        "convolve": (np.array([[1, 2, 1], [0, 3, 1]]),),
        "correlate1d": ([1, 2.5, -1], 0),
        "convolve1d": ([1, 2, -1, 3],),
        "gaussian_filter": (1.0,),
        "gaussian_filter1d": (0.7, 0, 1),
        "uniform_filter": (6,),
        "uniform_filter1d": (3, 0),
        "sobel": (0,),
        "prewitt": (1,),
        "laplace": (),
        "gaussian_laplace": (1.0,),
        "gaussian_gradient_magnitude": (1.0,),
    }.items():
        compare(name, x, *arguments, off=1 if name.startswith("gaussian") else 0)


def test_other_arguments(device):
    x = sample((6, 7, 4), "f8")
    compare("gaussian_filter", x, (1, 0, 2), order=(0, 1, 2), mode=("wrap", "nearest", "mirror"), truncate=2.0)
    compare("gaussian_filter", x, 1.5, radius=(1, 4), axes=(0, 2))
    compare("uniform_filter", x, (3, 4), axes=(2, 0), mode=("wrap", "reflect"), origin=(1, -1))
    compare("correlate", x, np.arange(6.0).reshape(3, 2), axes=(2, 1), origin=(-1, 0))
    compare("convolve", x, np.arange(6.0).reshape(2, 3), axes=(1, 2), origin=(0, 1))
    compare("laplace", x, mode="wrap", axes=(1,))
    compare("gaussian_laplace", x, 1.0, axes=(0, 1), truncate=3.0)
    compare("gaussian_filter", x, 0)
    compare("sobel", x, output=np.float32)
    compare("correlate", x, np.ones((5, 5, 5)))  # more weights than one loop reads
    compare("correlate1d", x, np.ones(5) * (1 + 2j), 0, output=np.complex128)
    compare("correlate1d", x, np.zeros(3))


@pytest.mark.parametrize("name", ["uniform_filter", "minimum_filter", "grey_dilation"])
def test_origins_along_axes_without_windows_do_not_count(name, device):
    x = sample((5, 6, 7), "float32")
    for origin in (-1, [-1, 0, 1]):
        compare(name, x, size=[1, 2, 3], origin=origin)


def test_generic_filters_take_functions_of_arrays(device):
    x = sample((5, 6), "f4")
    for name, ours, theirs in (
        ("generic_laplace", ndi.sobel, ndimage.sobel),
        ("generic_gradient_magnitude", ndi.prewitt, ndimage.prewitt),
    ):
        same(getattr(ndi, name)(xp.asarray(x), ours), getattr(ndimage, name)(x, theirs))


def test_empty_and_nan(device):
    for shape in ((0,), (3, 0)):
        compare("gaussian_filter", np.zeros(shape, "f4"), 1.0)
        compare("correlate", np.zeros(shape, "f4"), np.ones((3,) * len(shape)))
    x = sample((8,), "f8")
    x[3] = np.nan
    compare("correlate1d", x, [1.0, 2, 1])
    picture = sample((9, 8), "f4")
    picture[2, 3], picture[6, 5] = np.inf, np.nan
    weights = np.arange(12.0).reshape(3, 4)
    weights[1, 2], weights[2, 1] = np.nan, 1e-17  # both are zero to SciPy
    compare("correlate", picture, weights)
    compare("convolve", picture.astype("f8"), weights)


def test_weights_may_be_arrays_of_this_package(device):
    x, weights = sample((5, 6), "f4"), sample((3, 3), "f4", 1)
    same(ndi.correlate(*placed((x, weights))), ndimage.correlate(x, weights))
    if device.name == "cpu":
        rate = xp.grad(lambda w: (ndi.convolve(xp.asarray(x), w) ** 2).sum())(xp.asarray(weights))
        step = 1e-2 * np.eye(9)[4].reshape(3, 3).astype("f4")
        difference = [float((ndimage.convolve(x.astype("f8"), weights + s) ** 2).sum()) for s in (step, -step)]
        assert float(rate[1, 1]) == pytest.approx((difference[0] - difference[1]) / 2e-2, rel=1e-3)


def test_errors_are_scipys(device):
    a = xp.ones((4, 5), np.float32)
    for call, error, message in (
        (lambda: ndi.gaussian_filter(a, 1, mode="no"), RuntimeError, "boundary mode not supported"),
        (lambda: ndi.correlate(a, [1, 2]), RuntimeError, r"weights.ndim \(1\) must match len\(axes\) \(2\)"),
        (lambda: ndi.correlate1d(a, [1, 2], origin=5), ValueError, "Invalid origin"),
        (lambda: ndi.uniform_filter(a, 3, axes=(4,)), ValueError, "out of range"),
        (lambda: ndi.gaussian_filter1d(a, 1, radius=-2), ValueError, "Radius must be a nonnegative integer"),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize(
    ("call", "most"),
    [
        (lambda a: ndi.correlate1d(a, [1.0, 2, 3]), 2),
        (lambda a: ndi.gaussian_filter(a, 3.0), 4),
        (lambda a: ndi.sobel(a), 4),
        (lambda a: xp.sqrt(ndi.uniform_filter(a * 2 + 1, 5) ** 2 + 1), 4),
    ],
)
def test_filters_take_few_launches(call, most):
    with xp.using(device="wgpu"):
        assert xp.explain(call(xp.ones((40, 50), np.float32))).launches <= most


def test_large_arrays_are_filtered_in_parts():
    x = sample((700, 400), "f4")
    for device in ("cpu", "wgpu"):
        with xp.using(device=device):
            for mode in ("mirror", "constant", "wrap"):
                compare("gaussian_filter", x, 2.0, mode=mode, cval=1.0)
            compare("correlate", x, np.arange(12.0).reshape(3, 4), mode="wrap")
            compare("maximum_filter1d", x, 5, 0, origin=-2)
            compare("median_filter", x, 3, mode="constant", cval=2.0)


def test_sums_over_large_images():
    x = np.tile(sample((64, 256), "f4"), (64, 16))
    with xp.using(device="wgpu"):
        a = xp.asarray(x)
        for name, arguments in (("sobel", ()), ("uniform_filter1d", (4, 0))):
            same(getattr(ndi, name)(a, *arguments), getattr(ndimage, name)(x, *arguments))
        assert xp.explain(ndi.sobel(a)).launches == 1


@pytest.mark.parametrize("name", ["correlate1d", "gaussian_filter", "prewitt", "convolve"])
def test_infinities_and_nan_of_a_part_stay_in_it(name, device):
    x = sample((6, 7), "complex128")
    x[2, 3], x[4, 1] = complex(np.nan, 2), complex(1, np.inf)
    args = {"correlate1d": ([1, 2, -1],), "gaussian_filter": (1,), "convolve": (np.ones((2, 3)),)}.get(name, ())
    with np.errstate(invalid="ignore"):
        expected = getattr(ndimage, name)(x, *args, mode="nearest")
        result = getattr(ndi, name).composition(xp.asarray(x), *args, mode="nearest").get()
    for one, other in ((result.real, expected.real), (result.imag, expected.imag)):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
