"""Peaks, their prominences and widths, compared with SciPy's."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy import signal

import gpuarray as xp
from gpuarray.scipy import signal as ours

pytestmark = pytest.mark.filterwarnings("ignore:some peaks have")

CONDITIONS = [
    {},
    {"height": 0.5, "threshold": (None, 9.0), "plateau_size": (None, None)},
    {"prominence": (1.0, None), "width": 1.5},
    {"prominence": (None, 20.0), "wlen": 9, "rel_height": 0.3, "width": (None, None)},
    {"width": 0, "rel_height": 1.5, "plateau_size": 2},
    {"threshold": 0.1, "distance": 7.5, "prominence": 0},
]


def line(kind, count=1500):
    random = np.random.default_rng(count)
    noise = random.standard_normal(count) * 4
    return {
        "noise": noise,
        "steps": np.round(noise / 4),
        "walk": np.cumsum(noise),
        "rising": np.sort(noise) + (np.arange(count) % 3),
        "invalid": np.where(random.random(count) < 0.02, np.nan, noise),
    }[kind]


def same(result, wanted):
    if isinstance(wanted, dict):
        assert list(result) == list(wanted)
        result, wanted = (tuple(part.values()) for part in (result, wanted))
    if isinstance(wanted, tuple):
        assert len(result) == len(wanted)
        for one, other in zip(result, wanted, strict=True):
            same(one, other)
        return
    assert result.dtype == wanted.dtype
    np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("conditions", CONDITIONS, ids=" ".join)
@pytest.mark.parametrize("kind", ["noise", "steps", "walk", "rising", "invalid"])
def test_find_peaks(kind, conditions, device):
    for count, dtype in ((1500, "float32"), (40, "float64"), (500, "int16"), (2, "float32"), (0, "float64")):
        x = np.nan_to_num(line(kind, count)).astype(dtype) if dtype == "int16" else line(kind, count).astype(dtype)
        if "distance" in conditions:  # SciPy does not define which one of equal peaks is kept
            x = x + np.arange(count) * 1e-6
        same(ours.find_peaks.composition(xp.asarray(x), **conditions), signal.find_peaks(x, **conditions))


def test_intervals_of_arrays(device):
    x = line("noise")
    least, most = line("walk") / 100, np.abs(x)
    for interval in (least, (None, most), (least, most)):
        put = tuple(xp.asarray(v) if v is not None else v for v in interval) if len(interval) == 2 else least
        result = ours.find_peaks.composition(xp.asarray(x), height=put)
        same(result, signal.find_peaks(x, height=interval))


@pytest.mark.parametrize("wlen", [None, 2, 31, 100.5])
@pytest.mark.parametrize("kind", ["noise", "steps", "walk", "invalid"])
def test_prominences_and_widths(kind, wlen, device):
    x = line(kind).astype(np.float32)
    peaks = np.concatenate([signal.find_peaks(x)[0], [0, 5, 700, 1499]])
    a, places = xp.asarray(x), xp.asarray(peaks)
    expected = signal.peak_prominences(x, peaks, wlen)
    same(ours.peak_prominences.composition(a, places, wlen), expected)
    same(ours.peak_widths.composition(a, places, 0.7, None, wlen), signal.peak_widths(x, peaks, 0.7, None, wlen))
    same(ours.peak_widths.composition(a, peaks, 0.2, expected), signal.peak_widths(x, peaks, 0.2, expected))


X = line("noise", 50)
ERRORS = [
    ("find_peaks", (X.reshape(5, 10),), {}),
    ("find_peaks", (X,), {"distance": 0.5}),
    ("find_peaks", (X,), {"height": X[:9]}),
    ("find_peaks", (X,), {"width": 1, "wlen": 1}),
    ("find_peaks", (X,), {"width": 1, "rel_height": -1}),
    ("peak_prominences", (X, np.array([3, 50])), {}),
    ("peak_prominences", (X, np.array([[3]])), {}),
    ("peak_prominences", (X, np.array([3.5])), {}),
    ("peak_widths", (X, np.array([3]), -0.5), {}),
    ("peak_widths", (X, np.array([3]), 0.5, (X[:2], np.array([1, 1]), np.array([5, 5]))), {}),
    ("peak_widths", (X, np.array([3]), 0.5, (X[:1], np.array([4]), np.array([5]))), {}),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), ERRORS)
def test_errors(name, args, kwargs, device):
    with pytest.raises((ValueError, TypeError)) as expected:
        getattr(signal, name)(*args, **kwargs)
    with pytest.raises(expected.type, match=str(expected.value).split("(")[0]):
        getattr(ours, name).composition(*(xp.asarray(v) if isinstance(v, np.ndarray) else v for v in args), **kwargs)


def test_warnings(device):
    flat = xp.zeros(9)
    with pytest.warns(RuntimeWarning, match="prominence of 0"):
        ours.peak_prominences.composition(flat, [4])
    with pytest.warns(RuntimeWarning, match="width of 0"):
        ours.peak_widths.composition(flat, [4])


@pytest.mark.parametrize("distance", [1, 2.5, 40, 5000])
def test_peaks_apart(distance, device):
    time = np.arange(20000.0)
    noise = np.random.default_rng(0).random(time.size)
    for x in (noise, np.cumsum(noise - 0.5), time % 3 * 2 + time, 9 * np.sin(time / 900) + time % 4 + noise / 99):
        with xp.using(fallback="allow" if device.kind == "cpuf32" else "error"):  # the former has no float64
            peaks, _ = ours.find_peaks(xp.asarray(x), distance=distance)
        same(peaks, signal.find_peaks(x, distance=distance)[0])


def test_last_of_equal_peaks_is_kept(device):
    peaks, _ = ours.find_peaks.composition(xp.asarray([0.0, 1, 0] * 5), distance=7)
    same(peaks, np.array([4, 13]))


def test_prominences_are_recorded_and_have_derivatives(device):
    x = xp.asarray(line("noise"))
    peaks = signal.find_peaks(line("noise"))[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = xp.jit(lambda x: ours.peak_prominences(x, peaks))(x)
    same(result, signal.peak_prominences(line("noise"), peaks))
    gradient = xp.grad(lambda x: ours.peak_prominences(x, peaks[3:4])[0].sum())(x).get()
    assert gradient[peaks[3]] == 1
    assert sorted(gradient[gradient != 0]) == [-1, 1]


def test_prominences_of_batches_of_peaks(device):
    x = line("noise")
    peaks = signal.find_peaks(x)[0][:12].reshape(3, 4)
    result = xp.vmap(lambda peaks: ours.peak_prominences(xp.asarray(x), peaks)[0])(xp.asarray(peaks))
    np.testing.assert_allclose(result, signal.peak_prominences(x, peaks.ravel())[0].reshape(3, 4), rtol=1e-12)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_peaks_of_batches_of_lines(device, number):
    lines = np.random.default_rng(4).standard_normal((number, 3, 37))
    lines[:, :, ::5] = np.round(lines[:, :, ::5])
    lines[0, 0, 7] = np.nan
    places = np.asarray([0, 7, 11, 20, 36])

    def actual(x):
        prominences = ours.peak_prominences(x, places, 21)
        return (*prominences, *ours.peak_widths(x, places, 0.7, prominences))

    def wanted(x):
        prominences = signal.peak_prominences(x, places, 21)
        return (*prominences, *signal.peak_widths(x, places, 0.7, prominences))

    results = xp.vmap(xp.vmap(actual))(xp.asarray(lines))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [wanted(x) for x in lines.reshape(-1, 37)]
    for one, others in zip(results, zip(*expected, strict=True), strict=True):
        np.testing.assert_allclose(one.get().reshape(-1, 5), np.stack(others), rtol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"gap_thresh": 0, "min_snr": 2.5},
        {"max_distances": np.full(12, 5.5), "min_length": 2},
        {"window_size": 7, "noise_perc": 33},
        {"wavelet": lambda points, width: np.hanning(int(points))},
        {"min_snr": 1e9},
    ],
    ids=lambda options: " ".join(options) or "none",
)
@pytest.mark.parametrize("kind", ["noise", "steps", "walk"])
def test_peaks_of_wavelets(kind, options, device, monkeypatch):
    widths = np.linspace(1, 9, 12)
    for count in (300, 31, 2):
        x = line(kind, count)
        with xp.using(fallback="allow" if device.kind == "cpuf32" else "error"):
            peaks = ours.find_peaks_cwt.composition(xp.asarray(x), widths, **options)
        with monkeypatch.context() as patch:
            # SciPy sorts the rows of a ridge, and the order of equal ones depends on the processor otherwise
            patch.setattr(np, "argsort", partial(np.argsort, kind="stable"))
            expected = signal.find_peaks_cwt(x, widths, **options)
        same(peaks, expected)


def test_errors_of_wavelets(device):
    for options in ({"max_distances": [1.0]}, {"noise_perc": 101}):
        with pytest.raises(ValueError) as expected:  # noqa: PT011  # the message is compared below
            signal.find_peaks_cwt(X, [2, 3], **options)
        with pytest.raises(ValueError, match=str(expected.value).split("[")[0]):
            ours.find_peaks_cwt.composition(xp.asarray(X), [2, 3], **options)
