"""Waveforms, transforms, smoothing and peaks of gpuarray.scipy.signal, compared with SciPy's."""

import numpy as np
import pytest
from comparing import compare
from scipy import signal

import gpuarray as xp
from gpuarray.scipy import signal as ours


def values(dtype, *shape):
    if np.dtype(dtype).kind == "c":
        return (values("float64", *shape) + 1j * values("float64", *shape)).astype(dtype)
    return (np.random.default_rng(sum(shape)).standard_normal(shape) * 5).astype(dtype)


def check(name, *args, tolerance=2e-5, **kwargs):
    """Compare a function, as it is called and as a composition, with SciPy's."""
    expected = getattr(signal, name)(*args, **kwargs)
    function = getattr(ours, name)
    put = [xp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    for call in (function, getattr(function, "composition", function)):
        compare(call(*put, **kwargs), expected, tolerance)


@pytest.fixture(params=(("cpu", "float32"), ("cpu", "float64"), ("cpu", "int32"), ("wgpu", "float32")), ids=" ".join)
def dtype(request):
    with xp.using(device=request.param[0]):
        yield request.param[1]


def test_waveforms():
    t = np.linspace(-1, 3, 400)
    with xp.using(device="cpu"):
        for width in (0.0, 0.3, 1.0, 1.5):
            check("sawtooth", 7 * t, width)
        check("square", 7 * t, 0.3)
        check("square", 7 * t, np.linspace(-0.1, 1.1, 400))
        for method in ("linear", "quadratic", "logarithmic", "hyperbolic"):
            check("chirp", t + 1, 6.0, 5.0, 1.0, method, 30)
        check("chirp", t, 6.0, 5.0, 1.0, "quadratic", vertex_zero=False)
        check("chirp", t, 6.0, 5.0, 1.0, complex=True)
        check("gausspulse", t / 100, 50, retquad=True, retenv=True)
        check("sweep_poly", t, np.array([0.05, -0.75, 2.5, 5.0]), 10)
        check("vectorstrength", t**2, np.array([0.5, 0.7]))
        check("vectorstrength", t**2, 0.5)
        with pytest.raises(ValueError, match="method must be"):
            ours.chirp.composition(t, 1, 1, 1, "cubic")


def test_transforms(dtype):
    x = values(dtype, 3, 50)
    check("hilbert", x)
    check("hilbert", x, 33, 0)
    check("hilbert2", x)
    check("czt", x, tolerance=1e-4)
    check("czt", x, 20, np.exp(-0.1j), 0.9, tolerance=1e-4)
    check("zoom_fft", x, [0.1, 0.4], 30, tolerance=1e-4)
    check("zoom_fft", x, 0.4, fs=3, endpoint=True, tolerance=1e-4)


def test_lombscargle():
    times, angular = np.sort(values("float64", 40)), np.linspace(0.5, 8, 25)
    y = np.sin(3 * times)
    with xp.using(device="cpu"):
        for normalize in (False, True, "amplitude"):
            for mean in (False, True):
                check("lombscargle", times, y, angular, normalize=normalize, floating_mean=mean, tolerance=1e-9)


def test_smoothing(dtype):
    x = values(dtype, 4, 40)
    for mode in ("interp", "mirror", "constant", "nearest", "wrap"):
        for deriv in (0, 1):
            check("savgol_filter", x, 7, 2, deriv, 0.5, mode=mode)
    check("savgol_filter", x, 3, 1, axis=0)
    check("medfilt", x, 3)
    check("medfilt", x, (1, 5))
    check("medfilt2d", x.astype("float32"), 3)
    check("order_filter", x, np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]), 1)
    check("wiener", x, (3, 5))
    check("wiener", x, 3, 2.0)


def test_extrema(dtype):
    x = np.round(values(dtype, 5, 60))
    for mode in ("clip", "wrap"):
        check("argrelmax", x, 1, 2, mode)
        check("argrelmin", x, 0, 1, mode)
    check("argrelextrema", x, np.greater_equal, 1)


@pytest.mark.parametrize("mode", ["onesided", "onesided2X", "twosided", "centered"])
def test_short_time_transforms(mode):
    window = signal.windows.gaussian(50, 12)
    x = values("float64", 3, 400)
    options = {"hop": 13, "fs": 20.0, "fft_mode": mode, "mfft": 64}
    options["scale_to"] = "psd" if mode == "onesided2X" else None
    theirs = signal.ShortTimeFFT(window, **options)
    with xp.using(device="cpu"):
        transform = ours.ShortTimeFFT(window, **options)
        spectra = theirs.stft(x, padding="odd")
        compare(transform.stft(xp.asarray(x), padding="odd"), spectra, 1e-12)
        compare(transform.stft(xp.asarray(x[0])), theirs.stft(x[0]), 1e-12)
        compare(transform.spectrogram(xp.asarray(x), detr="linear"), theirs.spectrogram(x, detr="linear"), 1e-12)
        compare(transform.istft(xp.asarray(spectra), k1=400), theirs.istft(spectra, k1=400), 1e-12)
        compare(transform.istft(xp.asarray(spectra), 20, 300), theirs.istft(spectra, 20, 300), 1e-12)


def test_every_name_is_there():
    assert not [name for name in signal.__all__ if not hasattr(ours, name)]


@pytest.mark.filterwarnings("ignore:Casting complex:numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("shift", [1e-3, 0.3, 2.0])
@pytest.mark.parametrize("place", ["cpu", "wgpu"])
def test_complex_coefficients(place, shift):
    """Filters whose poles and zeros are turned, so that they pass frequencies of one sign."""
    with xp.using(device=place):
        for order, dtype in ((1, "float64"), (2, "complex64"), (5, "float32")):
            turn = np.exp(1j * shift * np.arange(order + 1))
            b, a = (turn * line for line in signal.butter(order, 0.2))
            for shape in ((2, 300), (50,), (3,)):
                x = values(dtype, *shape)
                check("lfilter", b, a, x)
                check("lfilter", b, a, x, -1, values("complex128", *shape[:-1], order))
            check("lfilter", b, np.ones(1), x)
            check("filtfilt", b, a, values(dtype, 50, 2), 0)
        zeros, poles, _ = signal.butter(4, 0.2, output="zpk")
        pairs = [(np.exp(1j * shift) * part).reshape(2, 2) for part in (zeros, poles)]
        sections = np.asarray([[*np.poly(z), *np.poly(p)] for z, p in zip(*pairs, strict=True)])
        check("sosfilt", sections, values("float64", 2, 300))
        check("sosfilt", sections, values("float32", 9, 2), 0, values("complex64", 2, 2, 2))
        check("sosfiltfilt", sections, values("complex128", 2, 50))
        assert xp.stats()["fallbacks"] == 0
        check("filtfilt", b, a, values("float32", 50), method="gust")
        assert xp.stats()["fallbacks"] == 2 * (place == "wgpu")  # as it is called, and as a composition


CORNERS = [
    ("savgol_filter", values("float64", 3, 21), 4, 2, 1, 0.5, 1),
    ("savgol_filter", values("float32", 20), 6, 3),
    ("savgol_filter", values("int32", 9), 9, 2),
    ("savgol_filter", values("float64", 20), 6, 3, 0, 1.0, -1, "wrap"),
    ("medfilt2d", values("int32", 8, 7)),
    ("detrend", values("float16", 4, 9), -1, "constant"),
    ("filtfilt", [1.0, 0.5, 0.2], [1.0, -0.3], np.arange(0, 250, 9, np.uint8)),
    ("sosfiltfilt", signal.butter(3, 0.2, output="sos"), np.arange(40) % 3 == 1),
    ("stft", np.arange(40) % 3 == 1, 1.0, "hann", 9, None, None, False, True, "odd"),
    ("fftconvolve", values("float32", 1), values("float32", 4), "same"),
    ("fftconvolve", values("int32", 9000), values("float32", 3)),
    ("oaconvolve", values("int32", 200, 3), values("float32", 1, 3), "same", 0),
    ("correlate2d", values("complex64", 2, 1), values("complex64", 4, 3), "valid", "wrap"),
    ("resample", np.arange(9, dtype=np.uint8), 14, None, 0, None, "freq"),
    ("csd", np.ones((2, 0, 3)), np.ones((2, 0, 3)), 1.0, "hann", None, None, None, "constant", True, "density", 1),
]
REFUSED = [
    ("medfilt2d", values("complex64", 4, 3)),
    ("order_filter", np.ones(4, bool), [1, 1, 1], 1),
    ("convolve2d", values("float16", 4, 3), values("float16", 2, 2)),
    ("correlate2d", np.ones((4, 3), bool), np.ones((2, 2), bool)),
    ("csd", values("float64", 400), values("complex64", 400)),
]


@pytest.mark.filterwarnings("ignore:Casting complex:numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("device", ["cpu", "wgpu"])
def test_corners(device):
    with xp.using(device=device):
        for name, *args in CORNERS:
            check(name, *args, tolerance=1e-3 if name == "detrend" else 2e-5)
        for name, *args in REFUSED:
            for function in (getattr(signal, name), getattr(ours, name).composition):
                with pytest.raises(ValueError, match=r"not (supported|available|allowed)|must be at least 2"):
                    function(*args)


@pytest.mark.parametrize("device", ["cpu", "wgpu"])
@pytest.mark.parametrize("method", ["pad", "gust"])
def test_filters_of_one_coefficient(device, method):
    args = "filtfilt", [2.0], [0.5], values("float64", 40), -1, "odd", None, method
    with xp.using(device=device):
        try:
            signal.filtfilt(*args[1:])
        except ValueError as error:  # before SciPy 1.18
            with pytest.raises(ValueError, match=str(error)):
                ours.filtfilt.composition(*args[1:])
        else:
            check(*args)


@pytest.mark.parametrize("function", ["sawtooth", "square"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_waveforms_have_scipys_dtypes(function, dtype):
    times = np.arange(1, 9).astype(dtype)
    with xp.using(device="cpu"):
        for part in (0.25, np.float32(0.25), np.full(8, 0.25, dtype), np.full(8, 0.25)):
            check(function, times, part, tolerance=5e-3 if dtype == "float16" else 1e-5)


def test_medfilt_warns_of_long_windows(device):
    for shape, size in (((3,), 5), ((3, 9), (5, 3))):
        for _ in range(3):
            with pytest.warns(UserWarning, match="the volume will be zero-padded"):
                result = ours.medfilt(xp.ones(shape, np.float32), size)
            with pytest.warns(UserWarning, match="zero-padded"):
                expected = signal.medfilt(np.ones(shape, np.float32), size)
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("name", "count", "keywords"),
    [
        ("welch", 2, {"nperseg": 100, "average": "median"}),
        ("csd", 2, {}),
        ("coherence", 2, {"window": "boxcar"}),
        ("periodogram", 1, {"detrend": "linear"}),
        ("detrend", 1, {}),
        ("cspline1d_eval", 2, {}),
    ],
)
def test_long_signals_of_the_host(name, count, keywords):
    """Compositions take the place of SciPy's functions where these take more time."""
    signals = [values("f8", 5000), values("f8", 5000) * 900][: 1 if name == "welch" else count]
    with xp.using(device="cpu"):
        check(name, *signals, tolerance=1e-9, **keywords)


def test_coefficients_that_are_not_finite():
    sections = np.array([[1.2, 0.6, np.nan, 1, 0.2, 0.1]])
    x = np.sin(np.arange(20.0))
    calls = [
        ("lfilter", [1, np.nan], [1, 0.2, 0.3], x), ("lfilter", [1, 2.0], [1, np.inf, 0.3], x),
        ("filtfilt", [1, 2.0], [1, np.nan, 0.3], x), ("sosfilt", sections, x), ("sosfiltfilt", sections, x),
    ]  # fmt: skip
    for device in ("cpu", "wgpu"):
        with xp.using(device=device), np.errstate(invalid="ignore"):
            for call in calls:
                check(*call)
    assert xp.stats()["fallbacks"] == 10  # as they are called, and as compositions


def test_envelope_of_a_band_without_other_frequencies_has_a_residual_of_zeros():
    x = np.sin(np.arange(11.0))
    x[3] = np.nan
    with xp.using(device="cpu"):
        for band in ((None, 3), (-6, 4), (1, 3)):
            check("envelope", x, band, squared=True)
