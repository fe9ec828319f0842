"""Functions of gpuarray.scipy.fft, compared with SciPy's."""

import numpy as np
import pytest
from scipy import fft

import gpuarray as xp
from gpuarray.scipy import fft as ours


def values(dtype, *shape):
    if np.dtype(dtype).kind == "c":
        return (values("float64", *shape) + 1j * values("float64", *shape)).astype(dtype)
    return (np.random.default_rng(sum(shape)).standard_normal(shape) * 5).astype(dtype)


def check(name, x, *args, tolerance=1e-5, **kwargs):
    """Compare a function, as it is called and as a composition, with SciPy's."""
    expected = np.asarray(getattr(fft, name)(x, *args, **kwargs))
    function = getattr(ours, name)
    for call in (function, function.composition):
        result = np.asarray(call(xp.asarray(x), *args, **kwargs))
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.fixture(params=(("cpu", "float32"), ("cpu", "float64"), ("cpu", "int16"), ("wgpu", "float32")), ids=" ".join)
def dtype(request):
    with xp.using(device=request.param[0]):
        yield request.param[1]


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
def test_cosine_and_sine_transforms(dtype, name):
    lengths = (2, 7, 8, 15) if xp.config.device == "cpu" else (7, 8)
    for kind in (1, 2, 3, 4):
        for count in lengths:
            for norm in (None, "ortho", "forward") if xp.config.device == "cpu" else (None,):
                check(name, values(dtype, 3, count), kind, norm=norm)
        check(name, values(dtype, 9, 4), kind, 6, 0, orthogonalize=True)
        check(name, values(dtype, 5, 4), kind, 6)
        check(name + "n", values(dtype, 5, 4, 3), kind, (4, 4), (0, 1), norm="ortho")
    if dtype == "float64":
        check(name, values("complex128", 5, 4))
        check(name + "n", values(dtype, 5, 4))
    with pytest.raises(ValueError, match="norm"):
        getattr(ours, name).composition(np.ones(4), norm="all")
    with pytest.raises(ValueError, match="type"):
        getattr(ours, name).composition(np.ones(4), 5)


def test_fourier_transforms(dtype):
    x = values(dtype, 4, 6, 5)
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        check(name, x, 8, 1, "ortho", overwrite_x=True, workers=2)
    for name in ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn", "fft2", "ifft2", "rfft2", "irfft2"):
        check(name, x, norm="forward")
    for name in ("hfft2", "ihfft2", "hfftn", "ihfftn", "fftn", "irfftn"):
        check(name, x, (4, 7), (0, 2))
    check("fftn", x, (3, 3))
    for name in ("irfftn", "irfft2", "hfftn", "hfft2"):
        check(name, x[..., :1])
    for name in ("irfft", "hfft", "irfftn", "fft"):
        check(name, np.ones((2, 4), np.float16))
    check("fftshift", x, 1)
    check("ifftshift", x)


def test_names():
    assert not [name for name in fft.__all__ if not hasattr(ours, name)]
    assert ours.next_fast_len(97) == fft.next_fast_len(97)
    np.testing.assert_array_equal(ours.fftfreq(7, 0.5).get(), fft.fftfreq(7, 0.5))
    with pytest.raises(RuntimeError, match="zero-length FFT"):
        ours.dct.composition(np.ones(1), 1)
    with pytest.raises(ValueError, match="unique"):
        ours.fftn.composition(np.ones((3, 3)), axes=(0, 0))


@pytest.mark.filterwarnings("ignore:singular")
@pytest.mark.parametrize("name", ["fht", "ifht"])
def test_hankel_transforms(dtype, name):
    for count in (1, 2, 7, 16):
        for order, offset, bias in ((0.5, 0, 0), (2.0, 0.3, -0.4), (0.0, -0.2, 0.7), (1.5, 0.0, 2.5), (0.0, 0.0, -1.0)):
            check(name, values(dtype, 3, count), 0.1, order, offset, bias=bias)
    assert xp.stats()["fallbacks"] == 0
    with pytest.warns(UserWarning, match="singular transform; consider changing the bias"):
        ours.fht.composition(xp.ones(4), 0.1, 0.0, bias=-1.0)


@pytest.mark.parametrize("name", ["fft", "ifftn", "dct", "idstn"])
def test_arguments_are_not_overwritten(name, device):
    x = np.random.default_rng(0).random((4, 6)).astype(np.complex64)
    a = xp.asarray(x)
    result = getattr(ours, name)(a, overwrite_x=True)
    assert np.allclose(result, getattr(fft, name)(x), atol=1e-5)
    assert np.array_equal(a, x)
    if name == "fft":
        assert np.allclose(ours.fft(a, None, -1, None, True), fft.fft(x), atol=1e-5)
