"""Functions of gpuarray.scipy.signal, compared with SciPy's."""

import numpy as np
import pytest
from comparing import compare
from scipy import signal

import gpuarray as xp
from gpuarray.scipy import signal as ours

RNG = np.random.default_rng(3)
REAL = ("float32", "float64")
ALL = (*REAL, "complex64", "int32")


def values(dtype, *shape):
    if np.dtype(dtype).kind == "c":
        return (values("float64", *shape) + 1j * values("float64", *shape)).astype(dtype)
    return (np.random.default_rng(sum(shape)).standard_normal(shape) * 5).astype(dtype)


def put(value):
    if isinstance(value, np.ndarray):
        return xp.asarray(value)
    return value


def check(name, *args, tolerance=2e-5, **kwargs):
    """Compare a function, as it is called and as a composition, with SciPy's."""
    expected = getattr(signal, name)(*args, **kwargs)
    function = getattr(ours, name)
    given = [put(a) for a in args], {k: put(v) for k, v in kwargs.items()}
    for call in (function, getattr(function, "composition", function)):
        compare(call(*given[0], **given[1]), expected, tolerance)


@pytest.fixture(params=("cpu", "wgpu"))
def place(request):
    with xp.using(device=request.param):
        yield request.param


@pytest.fixture(params=(*(("cpu", dtype) for dtype in ALL), ("wgpu", "float32")), ids=" ".join)
def dtype(request):
    """A dtype of signals, while a device is the default one; kernels of one dtype are compiled, as it takes long."""
    with xp.using(device=request.param[0]):
        yield request.param[1]


def some(cases):
    """Return all cases in-process, and a few on the other device."""
    cases = list(cases)
    return cases if xp.config.device == "cpu" else cases[:: max(2, len(cases) // 3)]


def test_convolution(dtype):
    image, kernel = values(dtype, 9, 10), values(dtype, 4, 3)
    line, taps = image.ravel(), kernel.ravel()[:5]
    for mode in some(("full", "same", "valid")):
        for first, second in some(((image, kernel), (kernel, image), (line, taps), (taps, line))):
            for method in ("direct", "fft"):
                check("convolve", first, second, mode, method)
                check("correlate", first, second, mode, method)
            check("fftconvolve", first, second, mode)
            check("oaconvolve", first, second, mode)
        for boundary in some(("fill", "wrap", "symm")):
            check("convolve2d", image, kernel, mode, boundary, 2)
            check("correlate2d", image, kernel, mode, boundary, 2)
            check("correlate2d", kernel, image, mode, boundary, 2)


def test_convolution_along_axes(place):
    lines, taps = values("float32", 3, 3000), values("float32", 1, 33)
    for mode in ("full", "same", "valid"):
        check("oaconvolve", lines, taps, mode, axes=1)
        check("fftconvolve", lines, taps, mode, axes=1)
    with pytest.raises(ValueError, match="acceptable mode flags"):
        ours.convolve.composition(lines, taps, "some")
    with pytest.raises(ValueError, match="at least as large as the other in every dimension"):
        ours.convolve.composition(np.ones((2, 9)), np.ones((9, 2)), "valid")
    with pytest.raises(ValueError, match="same dimensionality"):
        ours.fftconvolve.composition(lines, taps[0])


def test_convolution_by_blocks(dtype):
    line, taps = values(dtype, 70001), values(dtype, 500)
    check("fftconvolve", line, taps)
    check("fftconvolve", taps, line, "valid")
    check("fftconvolve", values(dtype, 300, 250), values(dtype, 21, 4), "same")
    check("fftconvolve", values(dtype, 40000, 2), values(dtype, 9, 1), axes=0)
    check("oaconvolve", values(dtype, 4000, 2), values(dtype, 9, 1), axes=0)


@pytest.mark.parametrize("axis", [0, -1])
def test_filters(dtype, axis):
    b, a = signal.butter(3, 0.2)
    sos = signal.butter(5, [0.1, 0.3], "bandpass", output="sos")
    x = np.moveaxis(values(dtype, 4, 201), -1, axis)
    state = np.moveaxis(values("float64", 4, 3), -1, axis)
    for top, bottom in some(((b, a), (b, np.ones(1)), (np.array([3.0]), np.array([2.0])), (b[:2], 2 * a))):
        check("lfilter", top, bottom, x, axis)
    check("lfilter", b, a, x, axis, state)
    check("lfilter", b, np.ones(1), x, axis, state)
    check("sosfilt", sos, x, axis)
    check("sosfilt", sos, x, axis, np.take(values("float64", 5, *x.shape), [0, 1], axis=axis % 2 + 1))
    for padtype in some(("odd", "even", "constant", None)):
        check("filtfilt", b, a, x, axis, padtype)
        check("sosfiltfilt", sos, x, axis, padtype)
    for irlen in (None, 30):
        with xp.using(fallback="error"):
            check("filtfilt", b, a, x, axis, method="gust", irlen=irlen)


def test_filters_of_single_precision_are_as_exact_as_those_of_double_precision(place):
    x = values("float32", 20001)
    for b, a in (signal.butter(4, 0.005), signal.ellip(6, 0.1, 60, 0.02), (np.ones(1), np.array([1.0, -1.0]))):
        expected = signal.lfilter(*(c.astype(np.float32).astype(np.float64) for c in (b, a)), x.astype(np.float64))
        if not np.isfinite(expected).all() or np.abs(expected).max() > 1e6:
            continue  # these coefficients are unstable if they are rounded
        result = ours.lfilter.composition(*(xp.asarray(c.astype(np.float32)) for c in (b, a)), xp.asarray(x))
        compare(result, expected.astype(np.float32), 1e-6)


def test_filter_spreads_a_nan_only_forward(place):
    x = values("float64", 500)
    x[300] = np.nan
    b, a = signal.butter(3, 0.2)
    result = np.asarray(ours.lfilter.composition(b, a, xp.asarray(x)))
    assert np.isfinite(result[:300]).all()
    assert np.isnan(result[300:]).all()


def test_filters_check_shapes():
    x = np.ones((3, 50))
    for call in (ours.lfilter.composition, signal.lfilter):
        with pytest.raises(ValueError, match="zi"):
            call([1.0, 1], [1.0, 0.5], x, zi=np.ones((3, 2)))
    for call in (ours.sosfilt.composition, signal.sosfilt):
        with pytest.raises(ValueError, match="Invalid zi shape"):
            call(signal.butter(2, 0.2, output="sos"), x, zi=np.ones((3, 2)))
    for call in (ours.filtfilt.composition, signal.filtfilt):
        with pytest.raises(ValueError, match="greater than padlen"):
            call([1.0, 1], [1.0, 0.5], x[:, :4])


def test_deconvolution(place):
    divisor = np.array([1.0, 0.3, -0.2, 0.1])
    quotient, rest = ours.deconvolve.composition(np.convolve(values("float64", 20), divisor), put(divisor))
    compare(quotient, signal.deconvolve(np.convolve(values("float64", 20), divisor), divisor)[0], 1e-9)
    assert float(abs(rest).max()) < 1e-12


def test_resampling(dtype):
    x = values(dtype, 3, 100)
    for up, down in some(((3, 2), (1, 1), (2, 1), (1, 3), (4, 6))):
        for mode in some(("constant", "symmetric", "wrap", "antisymmetric", "antireflect", "line", "smooth")):
            check("upfirdn", np.arange(1, 8, dtype=np.float32), x, up, down, -1, mode, 2)
        for padtype in ("constant", "mean", "line") if dtype == "complex64" else ("median", "maximum", "edge"):
            check("resample_poly", x, up, down, axis=1, padtype=padtype)
    for extent in (100, 99):
        for count in some((50, 99, 100, 101, 150)):
            for window in (None, "hann"):
                check("resample", x[:, :extent], count, axis=1, window=window)
    check("resample", x, 50, t=np.arange(100) * 0.1, axis=1)
    for kind in ("iir", "fir"):
        for zero_phase in (True, False):
            check("decimate", x, 5, ftype=kind, zero_phase=zero_phase)


@pytest.mark.filterwarnings("ignore:Input data is complex")
def test_spectra(dtype):
    x, y = values(dtype, 3, 1000), values(dtype, 3, 900)
    cases = [{}, {"nperseg": 100, "noverlap": 75, "nfft": 128}, {"nperseg": 101, "boundary": "odd", "padded": False}]
    cases += [{"detrend": "linear", "scaling": "psd", "boundary": "even"}, {"return_onesided": False, "boundary": None}]
    for options in some(cases):
        check("stft", x, 2.0, **options)
    check("stft", x.T.copy(), 2.0, axis=0, nperseg=64)
    spectra = signal.stft(x, 2.0, nperseg=64, noverlap=50, return_onesided=False)[2]
    check("istft", spectra, 2.0, nperseg=64, noverlap=50, input_onesided=False, tolerance=1e-4)
    if dtype != "complex64":
        check("istft", signal.stft(x, 2.0, nperseg=101, scaling="psd")[2], 2.0, nperseg=101, scaling="psd")
    for mode in ("psd", "complex", "magnitude"):
        check("spectrogram", x, 3.0, nperseg=100, mode=mode)
    cases = [{}, {"nperseg": 100, "average": "median"}, {"window": ("kaiser", 3.0), "scaling": "spectrum"}]
    cases += [{"return_onesided": False}, {"detrend": "linear", "nperseg": 900}, {"window": np.hanning(77)}]
    for options in some(cases):
        check("welch", x, 2.0, **options)
        check("csd", x, y, 2.0, **options)
    check("coherence", x, x[:, ::-1].copy(), nperseg=64, tolerance=1e-4)
    for points in (None, 500, 1500):
        check("periodogram", x, nfft=points)
    check("detrend", x)
    check("detrend", x, 0, "constant")
    check("detrend", x, bp=[100, 300])


def test_design_returns_arrays_and_is_no_fallback():
    with xp.using(device="wgpu"):
        b, a = ours.butter(3, 0.2)
        result = ours.lfilter(b, a, xp.asarray(values("float64", 50)))
        assert isinstance(b, xp.GpuArray)
        assert isinstance(ours.windows.hann(5), xp.GpuArray)
        assert isinstance(result, xp.GpuArray)
        compare(ours.freqz(b, a, 16), signal.freqz(*signal.butter(3, 0.2), 16), 1e-12)


def test_filters_have_derivatives():
    b, a = signal.butter(3, 0.2)
    x = values("float64", 150)
    with xp.using(device="cpu"):
        rate = xp.grad(lambda line: (ours.lfilter(b, a, line) * np.arange(150.0)).sum())(xp.asarray(x))
        expected = signal.lfilter(b, a, np.arange(150.0)[::-1])[::-1]
        np.testing.assert_allclose(rate.get(), expected, rtol=1e-9, atol=1e-9)
        rate = xp.grad(lambda line: ours.resample_poly(line, 3, 2).sum())(xp.asarray(x))
        assert np.isfinite(rate.get()).all()
