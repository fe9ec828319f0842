"""SciPy's functions of elements compute parts of large arrays on all threads of the host."""

import re

import numpy as np
import pytest
from scipy import fft, ndimage, signal, special, stats

import gpuarray as xp
from gpuarray.scipy import _threads
from gpuarray.scipy import fft as our_fft
from gpuarray.scipy import ndimage as our_ndimage
from gpuarray.scipy import signal as our_signal
from gpuarray.scipy import special as our_special
from gpuarray.scipy import stats as our_stats

X = np.random.default_rng(0).random((3, 50_000))
CASES = {
    "one argument": lambda s, f, g, t, x: s.erf(x),
    "two arguments": lambda s, f, g, t, x: s.gammainc(x, x),
    "a number": lambda s, f, g, t, x: s.jv(1.5, x),
    "broadcast": lambda s, f, g, t, x: s.xlogy(x, x[:1]),
    "a transform": lambda s, f, g, t, x: f.rfft2(x),
    "a convolution": lambda s, f, g, t, x: g.fftconvolve(x, x[:, :9]),
    "a waveform": lambda s, f, g, t, x: g.chirp(x, 1, 1, 9),
    "a distribution": lambda s, f, g, t, x: t.norm.cdf(x, 0.5, scale=2.0),
}


@pytest.mark.parametrize("name", CASES)
def test_results_have_scipys_bits(name):
    with xp.using(device="cpu", threads=3):
        result = CASES[name](our_special, our_fft, our_signal, our_stats, xp.asarray(X))
    np.testing.assert_array_equal(result.get(), CASES[name](special, fft, signal, stats, X))


def test_options_determine_the_dtype_of_each_result():
    with xp.using(device="cpu", threads=3):
        for is_complex in (False, True, False):
            result = our_signal.chirp(xp.asarray(X), 1, 1, 9, complex=is_complex)
            expected = signal.chirp(X, 1, 1, 9, complex=is_complex)
            assert result.dtype == expected.dtype
            np.testing.assert_array_equal(result.get(), expected)


B, A = signal.butter(3, 0.2)
SECTIONS = signal.butter(4, 0.2, output="sos")
LINES = {
    "a filter": lambda g, n, x: g.lfilter(B, A, x),
    "a filter of columns": lambda g, n, x: g.lfilter(B, A, x.T, axis=0),
    "a finite response": lambda g, n, x: g.lfilter(B, [2.0], x, 0),
    "a filter with states": lambda g, n, x: g.lfilter(B, A, x, zi=np.ones((3, 3))),
    "sections": lambda g, n, x: g.sosfilt(SECTIONS, x),
    "both ways": lambda g, n, x: g.filtfilt(B, A, x),
    "both ways without padding": lambda g, n, x: g.filtfilt(B, A, x, method="gust", irlen=20),
    "sections both ways": lambda g, n, x: g.sosfiltfilt(SECTIONS, x.T, 0),
    "fewer samples": lambda g, n, x: g.decimate(x, 5),
    "another rate": lambda g, n, x: g.resample_poly(x, 3, 2, axis=1),
    "another number": lambda g, n, x: g.resample(x, 700, axis=1),
    "inserted zeros": lambda g, n, x: g.upfirdn([1.0, 2, 1], x, 3, 2),
    "a Gaussian": lambda g, n, x: n.gaussian_filter1d(x, 2.0, 0),
    "a spline": lambda g, n, x: n.spline_filter1d(x, 3, 1),
    "splines": lambda g, n, x: n.spline_filter(x.astype("f4"), 2, mode="wrap"),
    "means": lambda g, n, x: n.uniform_filter1d(x, 4, 0, origin=1),
    "means along axes": lambda g, n, x: n.uniform_filter(
        x.astype("f4"), (2, 7), mode=["wrap", "nearest"], origin=(0, -2)
    ),
    "means along one axis": lambda g, n, x: n.uniform_filter(x, 3, axes=1),
    "no means": lambda g, n, x: n.uniform_filter(x, 1),
}


@pytest.mark.parametrize("name", LINES)
def test_lines_have_scipys_bits(name):
    with xp.using(device="cpu", threads=3):
        result = LINES[name](our_signal, our_ndimage, xp.asarray(X))
    expected = LINES[name](signal, ndimage, X)
    for one, other in zip(*(part if isinstance(part, tuple) else (part,) for part in (result, expected)), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.get(), other)


def test_errors_of_lines():
    with xp.using(device="cpu"):
        for call in (lambda g, n, x: g.lfilter(B, A, x, axis=2), lambda g, n, x: n.uniform_filter(x, 3, mode="none")):
            with pytest.raises(Exception) as expected:  # noqa: PT011  # SciPy says which
                call(signal, ndimage, X)
            with pytest.raises(expected.type, match=re.escape(str(expected.value))):
                call(our_signal, our_ndimage, xp.asarray(X))


def test_errors_and_settings_of_threads_are_those_of_the_caller():
    def failing(x):
        if x.min() < 0:
            raise ValueError("negative")
        return np.log(x)

    x = np.ones(1 << 18)
    with xp.using(threads=2), np.errstate(divide="raise"):
        x[-1] = 0
        with pytest.raises(FloatingPointError):
            _threads.elementwise(failing)(x)
        x[-1] = -1
        with pytest.raises(ValueError, match="negative"):
            _threads.elementwise(failing)(x)


def test_a_signal_is_convolved_in_place(monkeypatch):
    writeable = []
    convolve = np.convolve

    def noted(weights, line):
        writeable.append(line.flags.writeable)  # NumPy copies lines that are read-only
        return convolve(weights, line)

    monkeypatch.setattr(np, "convolve", noted)
    x = xp.asarray(X[0].repeat(2), device="cpu")
    result = our_signal.lfilter([1.0, 2.0], [1.0], x)
    assert writeable == [True]
    monkeypatch.undo()
    np.testing.assert_array_equal(result.get(), signal.lfilter([1.0, 2.0], [1.0], X[0].repeat(2)))
