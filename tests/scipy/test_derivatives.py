"""Derivatives and batches of functions of signals, of interpolation, of statistics and of matrices."""

import numpy as np
import pytest
from scipy import signal as scipy_signal

import gpuarray as xp
from gpuarray import testing
from gpuarray.errors import DerivativeError
from gpuarray.scipy import fft, interpolate, linalg, ndimage, signal, special, stats

LINE = np.random.default_rng(0).standard_normal(150)
IMAGE = LINE.reshape(10, 15)
B, A = scipy_signal.butter(3, 0.2)
SOS = scipy_signal.butter(4, 0.2, output="sos")
KNOTS = np.linspace(-4.0, 4.0, 12)
VALUES = np.cos(KNOTS)
GRID = interpolate.RegularGridInterpolator((KNOTS, KNOTS), np.outer(VALUES, KNOTS**2), bounds_error=False)

#: Functions of a line of 150 numbers.
FUNCTIONS = {
    "convolve": lambda x: signal.convolve(x, x[:7], "same"),
    "fftconvolve": lambda x: signal.fftconvolve(x, x[:30]),
    "oaconvolve": lambda x: signal.oaconvolve(x, x[:5]),
    "convolve2d": lambda x: signal.convolve2d(x.reshape(10, 15), x[:9].reshape(3, 3), boundary="symm"),
    "correlate": lambda x: signal.correlate(x, x[:7], method="direct"),
    "lfilter": lambda x: signal.lfilter(B, A, x),
    "lfilter with a state": lambda x: signal.lfilter(B, A, x, zi=x[:3])[1],
    "filtfilt": lambda x: signal.filtfilt(B, A, x),
    "filtfilt in any order": lambda x: signal.filtfilt(B, A, x, method="gust", irlen=60),
    "sosfilt": lambda x: signal.sosfilt(SOS, x),
    "sosfiltfilt": lambda x: signal.sosfiltfilt(SOS, x),
    "cspline1d": lambda x: signal.cspline1d(x, 2.0),
    "cspline2d": lambda x: signal.cspline2d(x.reshape(10, 15), precision=0.1),
    "cspline1d_eval": lambda x: signal.cspline1d_eval(x[:20], x * 9 + 3),
    "qspline1d_eval": lambda x: signal.qspline1d_eval(signal.qspline1d(x[:20]), x),
    "symiirorder1": lambda x: signal.symiirorder1(x, 2.0, 0.4),
    "symiirorder2": lambda x: signal.symiirorder2(x, 0.4, 0.7),
    "sepfir2d": lambda x: signal.sepfir2d(x.reshape(10, 15), [1.0, 2, 3], [1.0, 4, 2]),
    "lsim": lambda x: signal.lsim(([1.0], [1.0, 0.4, 2.0]), x, np.arange(150) * 0.2)[1],
    "dlsim": lambda x: signal.dlsim((B, A, 1.0), x)[1],
    "savgol_filter": lambda x: signal.savgol_filter(x, 9, 3),
    "detrend": lambda x: signal.detrend(x),
    "upfirdn": lambda x: signal.upfirdn([1.0, 2, 3], x, 3, 2),
    "resample": lambda x: signal.resample(x, 70),
    "resample_poly": lambda x: signal.resample_poly(x, 3, 2),
    "decimate": lambda x: signal.decimate(x, 3),
    "hilbert": lambda x: abs(signal.hilbert(x)),
    "envelope": lambda x: signal.envelope(x, (2, 40), n_out=90),
    "stft": lambda x: abs(signal.stft(x, nperseg=32)[2]) ** 2,
    "welch": lambda x: signal.welch(x, nperseg=64)[1],
    "periodogram": lambda x: signal.periodogram(x)[1],
    "dct": lambda x: fft.dct(x, 2),
    "dstn": lambda x: fft.dstn(x.reshape(10, 15), 3),
    "rfft": lambda x: abs(fft.rfft(x, 128)) ** 2,
    "spline": lambda x: interpolate.CubicSpline(KNOTS, VALUES)(x),
    "pchip": lambda x: interpolate.PchipInterpolator(KNOTS, VALUES)(x),
    "b-spline": lambda x: interpolate.make_interp_spline(KNOTS, VALUES)(x),
    "grid": lambda x: GRID(x.reshape(75, 2)),
    "cdf": lambda x: stats.norm.cdf(x, 0.5, 2.0),
    "zscore": lambda x: stats.zscore(x),
    "skew": lambda x: stats.skew(x),
    "logsumexp": lambda x: special.logsumexp(x),
    "gammaln": lambda x: special.gammaln(x * x + 1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_and_batches(name):
    def total(x):
        result = FUNCTIONS[name](x)
        return (xp.sin(result) * (1 + xp.arange(result.size).reshape(result.shape) % 5)).sum()

    direction = np.random.default_rng(1).standard_normal(150)
    with xp.using(device="cpu"):
        ends = [float(total(xp.asarray(LINE + sign * 1e-6 * direction))) for sign in (1, -1)]
        rate = xp.grad(total)(xp.asarray(LINE)).get()
        np.testing.assert_allclose(rate @ direction, (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-6)
        both = xp.asarray(np.stack([LINE, LINE[::-1] / 2]))
        each = [FUNCTIONS[name](x).get() for x in both]
        np.testing.assert_allclose(xp.vmap(FUNCTIONS[name])(both).get(), each, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(xp.vmap(xp.grad(total))(both)[0].get(), rate, rtol=1e-8, atol=1e-10)


MATRIX = LINE[:9].reshape(3, 3) + 3 * np.eye(3)
SYMMETRIC = MATRIX @ MATRIX.T


@pytest.mark.parametrize(
    ("function", "matrices"),
    [
        (linalg.sqrtm, (SYMMETRIC,)),
        (linalg.sqrtm, (MATRIX + 0.5j * SYMMETRIC,)),
        (linalg.sqrtm, (np.eye(3),)),
        (linalg.logm, (MATRIX,)),
        (linalg.logm, (MATRIX + 0.5j * SYMMETRIC,)),
        (linalg.logm, (np.eye(3),)),
        (linalg.fractional_matrix_power, (SYMMETRIC, np.array(0.4))),
        (lambda a: linalg.fractional_matrix_power(a, 0.3), (MATRIX,)),
        (linalg.signm, (MATRIX - 3 * np.eye(3),)),
        (lambda a: linalg.sqrtm(a).imag, (np.diag([-1.0, 2, 3]) + 0.1 * MATRIX,)),
        (linalg.solve_sylvester, (MATRIX, SYMMETRIC[:2, :2], MATRIX[:, :2])),
        (linalg.solve_continuous_lyapunov, (MATRIX, SYMMETRIC)),
        (linalg.solve_continuous_lyapunov, (MATRIX + 1j * SYMMETRIC, SYMMETRIC + 0j)),
        (linalg.solve_discrete_lyapunov, (MATRIX / 9, SYMMETRIC)),
        (linalg.solve_discrete_lyapunov, ((MATRIX + 0.1j * SYMMETRIC) / 9, SYMMETRIC + 0j)),
    ],
)
def test_derivatives_of_functions_of_matrices_on_the_host(function, matrices):
    with xp.using(device="cpu"):
        testing.check_grads(function, tuple(map(xp.asarray, matrices)), order=2, rtol=1e-4, atol=1e-4)


def test_logarithms_have_no_derivative_on_the_branch_cut():
    with xp.using(device="cpu"):
        slope = xp.grad(lambda a: abs(linalg.logm(a)).sum())(xp.asarray(np.diag([-1.0, 2.0])))
        assert np.isnan(slope).all()


ZI = LINE[20:26].reshape(2, 3)
#: Sections of which check_grads varies all coefficients but the ones.
FREE = np.array([1.0, 1, 1, 0, 1, 1])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (signal.lfilter, (B, A * 1.3, LINE[:18].reshape(2, 9))),
        (lambda b, a, x, zi: signal.lfilter(b, a, x, zi=zi), (B, A, LINE[:18].reshape(2, 9), ZI)),
        (lambda b, a, zi: signal.lfilter(b, a, LINE[:2], zi=zi), (B, A, LINE[:3])),
        (lambda b: signal.lfilter(b, 1.0, LINE[:9], zi=LINE[:3]), (B,)),
        (lambda b: signal.lfilter(b, A, LINE[:18].reshape(9, 2), axis=0), (B,)),
        (lambda a: signal.lfilter([1.0], a, LINE[:9]), (A,)),
        (lambda b, a: signal.lfilter(b, a, LINE[:9]), (B + 0.1j, A - 0.2j)),
        (lambda s, x: signal.sosfilt(s * FREE + (1 - FREE), x), (SOS, LINE[:18].reshape(2, 9))),
        (lambda s: signal.sosfilt(s * FREE + (1 - FREE), LINE[:9], zi=LINE[:4].reshape(2, 2)), (SOS,)),
        (lambda b, a, x: signal.filtfilt(b, a, x, axis=0), (B, A, LINE[:40].reshape(20, 2))),
        (lambda b: signal.filtfilt(b, 1.0, LINE[:20], padtype="even"), (B,)),
        (lambda a: signal.filtfilt(B, a, LINE[:9], padtype=None), (A,)),
        (lambda s, x: signal.sosfiltfilt(s * FREE + (1 - FREE), x), (SOS, LINE[:40].reshape(2, 20))),
    ],
)
def test_coefficients_of_filters_have_derivatives(function, arguments):
    with xp.using(device="cpu"):
        arrays = tuple(map(xp.asarray, arguments))
        testing.check_grads(function, arrays, order=2, rtol=1e-4, atol=1e-4)
        for known, varying in zip(_results(function(*arrays)), _results(xp.vjp(function, *arrays)[0]), strict=True):
            np.testing.assert_allclose(varying, known, rtol=1e-12, atol=1e-14)


def _results(result):
    return result if isinstance(result, tuple) else (result,)


POINTS = np.linspace(0.2, 10, 12)
KNOWN = np.arange(12.0)
ORDER = np.random.default_rng(2).permutation(12)
BANDS = np.random.default_rng(3).random((3, 6))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (linalg.eigvals, (MATRIX,)),
        (lambda a: (linalg.eig(a)[0], abs(linalg.eig(a)[1])), (MATRIX,)),
        (linalg.eigvals_banded, (BANDS,)),
        (lambda a: linalg.eig_banded(a, lower=True, eigvals_only=True), (BANDS,)),
        (linalg.eigvalsh_tridiagonal, (POINTS[:5], POINTS[1:5])),
        (lambda d, e: linalg.eigh_tridiagonal(d, e, eigvals_only=True), (POINTS[:5], POINTS[1:5])),
        (linalg.cholesky_banded, (BANDS + 4 * np.eye(3)[:, 2:],)),
        (lambda a: linalg.cholesky_banded(a, lower=True), (BANDS + 4 * np.eye(3)[:, :1],)),
        (lambda a: linalg.cholesky_banded(a + 0j), (BANDS[:, :3] + 4 * np.eye(3)[:, 2:],)),
        (linalg.rq, (MATRIX,)),
        (linalg.rq, (MATRIX + 1j * SYMMETRIC,)),
        (lambda a: linalg.rq(a, mode="economic"), (MATRIX[:2],)),
        (lambda a: linalg.rq(a)[0], (MATRIX[:2],)),
        (lambda a: linalg.rq(a, mode="r"), (BANDS.T,)),
        (lambda a: linalg.qr(a, pivoting=True)[:2], (MATRIX,)),
        (lambda a: linalg.qr(a, mode="economic", pivoting=True)[:2], (BANDS.T + 1j * LINE[:18].reshape(6, 3),)),
        (lambda a: linalg.qr(a, mode="r", pivoting=True)[0], (LINE[:18].reshape(2, 3, 3),)),
        (lambda b, a: signal.freqz(b, a, worN=6), (B, A)),
        (lambda b: signal.freqz(b, worN=[0.1, 0.4], fs=2.0)[1], (B,)),
        (lambda a: signal.freqz(B, a, 7, True)[1], (A,)),
        (lambda s: signal.freqz_sos(s * FREE + (1 - FREE), 5)[1], (SOS,)),
        (lambda z, p, k: signal.freqz_zpk(z, p, k, 5)[1], (POINTS[:2] / 20, POINTS[:3] / 30, np.array(1.3))),
        (signal.lfilter_zi, (B, A * 1.7)),
        (lambda b: signal.lfilter_zi(b, A[:2]), (B,)),
        (lambda a: signal.lfilter_zi(B[:2], a), (A,)),
        (lambda s: signal.sosfilt_zi(s * FREE + (1 - FREE)), (SOS,)),
        (signal.zpk2tf, (POINTS[:2], POINTS[:3], np.array(1.3))),
        (lambda h: signal.upfirdn(h, LINE[:9], 3, 2), (B,)),
        (lambda h: signal.upfirdn(h, LINE[:9], 2, 3, mode="symmetric"), (LINE[:7],)),
        (lambda c: interpolate.PPoly(c, KNOWN[:3])(POINTS / 5), (BANDS[:, :2],)),
        (lambda c: interpolate.PPoly(c, KNOWN[:3], axis=1)(POINTS / 5), (LINE[:24].reshape(3, 2, 2, 2),)),
        (lambda c: interpolate.BSpline(KNOWN, c, 3)(POINTS / 3 + 3), (LINE[:8],)),
        (lambda c: interpolate.BSpline(KNOWN, c, 3, axis=1).derivative()(POINTS / 3 + 3), (LINE[:16].reshape(2, 8),)),
    ],
)  # fmt: skip
def test_compositions_stand_for_functions_on_the_host(function, arguments):
    with xp.using(device="cpu"):
        arrays = tuple(map(xp.asarray, arguments))
        testing.check_grads(function, arrays, order=1, rtol=1e-4, atol=1e-4)
        for known, varying in zip(_results(function(*arrays)), _results(xp.vjp(function, *arrays)[0]), strict=True):
            assert known.dtype == varying.dtype
            np.testing.assert_allclose(varying, known, rtol=1e-9, atol=1e-12)


def test_compositions_are_mapped_over_batches():
    with xp.using(device="cpu"):
        stack = xp.asarray(LINE[:12].reshape(2, 6))
        each = [signal.freqz(line, worN=5)[1].get() for line in stack]
        np.testing.assert_allclose(xp.vmap(lambda b: signal.freqz(b, worN=5)[1])(stack), each, rtol=1e-12)


def test_centres_of_mass_have_derivatives():
    labels = (IMAGE > 0.2) * 1 + (IMAGE > 1)
    with xp.using(device="cpu"):
        image = xp.asarray(IMAGE + 3)
        testing.check_grads(lambda a: ndimage.center_of_mass(a), (image,), order=2, rtol=1e-4, atol=1e-4)
        testing.check_grads(
            lambda a: ndimage.center_of_mass(a, labels, [1, 2]), (image,), order=1, rtol=1e-4, atol=1e-4
        )


#: Neither coordinates nor their differences from whole numbers are 0, where images have no derivatives.
TURN = np.array([[0.913, 0.127], [-0.0713, 1.0431]])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda m: ndimage.affine_transform(IMAGE, m, order=1), (TURN,)),
        (lambda m, by: ndimage.affine_transform(IMAGE, m, by, (4, 20), mode="mirror"), (TURN, np.array([0.3, 0.2]))),
        (lambda m: ndimage.affine_transform(IMAGE, m, mode="nearest"), (np.c_[TURN, [0.21, 0.13]],)),
        (lambda m: ndimage.affine_transform(IMAGE, m, 0.117, mode="nearest"), (np.diag(TURN),)),
        (lambda by: ndimage.affine_transform(IMAGE, TURN, by), (np.array(0.23),)),
        (lambda by: ndimage.shift(IMAGE, by), (np.array([1.7, -2.3]),)),
        (lambda x, by: ndimage.shift(x, by, order=2, mode="reflect"), (IMAGE, np.array(0.4))),
        (lambda x, angle: ndimage.rotate(x, angle), (IMAGE, np.array(33.0))),
        (lambda angle: ndimage.rotate(IMAGE, angle, reshape=False, order=1, mode="nearest"), (np.array(-7.0),)),
        (lambda angle: ndimage.rotate(LINE.reshape(3, 5, 10), angle, axes=(2, 1)), (np.array(12.0),)),
    ],
)
def test_places_that_images_are_seen_at_have_derivatives(function, arguments):
    with xp.using(device="cpu"):
        arrays = tuple(map(xp.asarray, arguments))
        testing.check_grads(function, arrays, order=1, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(xp.vjp(function, *arrays)[0], function(*arguments), rtol=1e-9, atol=1e-9)


def test_factors_of_zoom_decide_on_the_number_of_samples_alone():
    with xp.using(device="cpu"):
        assert xp.grad(lambda factor: ndimage.zoom(xp.asarray(IMAGE), factor).sum())(xp.asarray(1.3)) == 0


@pytest.mark.parametrize(
    "call",
    [
        "ndimage.gaussian_filter(IMAGE, x[0])",
        "ndimage.fourier_shift(IMAGE, x[:2])",
        "ndimage.percentile_filter(IMAGE, x[1], 3)",
        "ndimage.uniform_filter(IMAGE, 3, mode='constant', cval=x[0])",
        "signal.savgol_filter(LINE, 5, 2, deriv=1, delta=x[1])",
        "signal.filtfilt(x[:2], [1.0, 0.1], LINE, method='gust')",
    ],
)
def test_parameters_without_derivatives_are_errors_that_name_the_function(call):
    function = eval(f"lambda x, IMAGE, LINE: abs({call}).sum()", {"ndimage": ndimage, "signal": signal})
    with xp.using(device="cpu"):
        images = (xp.asarray(IMAGE), xp.asarray(LINE))
        with pytest.raises(DerivativeError, match=call.split("(")[0].split(".")[1]):
            xp.grad(function)(xp.asarray(KNOWN + 1), *images)
        assert np.isfinite(float(function(xp.asarray(KNOWN + 1), *images)))


@pytest.mark.parametrize("method", ["pdf", "logpdf"])
def test_densities_have_derivatives_by_the_data(method):
    weights = np.linspace(1, 2, 9)

    def function(data, points, weighted=True):
        return getattr(stats.gaussian_kde(data, weights=weights if weighted else None), method)(points)

    with xp.using(device="cpu"):
        line, plane, points = (xp.asarray(v) for v in (LINE[:9], LINE[:18].reshape(2, 9), LINE[20:28].reshape(2, 4)))
        testing.check_grads(lambda data: function(data, points[0], False), (line,), order=2, rtol=1e-4, atol=1e-4)
        testing.check_grads(function, (plane, points), order=1, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(xp.vjp(function, plane, points)[0], function(plane, points), rtol=1e-9)
        with pytest.raises(DerivativeError):
            xp.grad(lambda data: stats.gaussian_kde(data).integrate_box_1d(0, 1))(line)
        with pytest.raises(DerivativeError):
            xp.grad(lambda data: stats.gaussian_kde(data, lambda kde: 0.3).pdf(points[0]).sum())(line)


@pytest.mark.parametrize(
    "kind", ["linear", "nearest", "nearest-up", "previous", "next", "zero", "slinear", "quadratic", "cubic"]
)
def test_values_of_interpolants_have_derivatives(kind):
    def function(values, points):
        return interpolate.interp1d(KNOWN[ORDER], values, kind, 0, fill_value="extrapolate")(points)

    with xp.using(device="cpu"):
        values = xp.asarray(np.stack([LINE[:12], LINE[12:24]], 1))
        testing.check_grads(lambda y: function(y, POINTS), (values,), order=2, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(
            xp.vjp(lambda y: function(y, POINTS), values)[0], function(values, POINTS), rtol=1e-9
        )
        slope = xp.grad(lambda points: (function(values, points) ** 2).sum())(xp.asarray(POINTS))
        both = xp.grad(lambda y, points: (function(y, points) ** 2).sum(), argnums=1)(values, xp.asarray(POINTS))
        np.testing.assert_allclose(both, slope, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: linalg.eig_banded(xp.stack([x, x]))[1],
        lambda x: interpolate.interp1d(x, KNOWN)(POINTS[:3]),
        lambda x: interpolate.interp1d(KNOWN[:1], x[:1])(POINTS[:3]),
        lambda x: interpolate.BSpline(x, KNOWN[:8], 3)(POINTS[:3]),
        lambda x: signal.zpk2tf(x * 1j, x, 1.0)[0],
    ],
)
def test_what_has_no_composition_is_an_error(function):
    with xp.using(device="cpu"), pytest.raises(DerivativeError):
        xp.grad(lambda x: abs(function(x)).sum())(xp.asarray(KNOWN))


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("order", [1, 2])
def test_polar_factors_of_equal_singular_values_have_derivatives(side, order):
    complex_ = MATRIX + 0.5j * SYMMETRIC
    equal = [np.eye(3), np.eye(4, 3), np.eye(3, 4)] if order == 1 else []
    with xp.using(device="cpu"):
        for matrix in (*equal, MATRIX, MATRIX[:, :2], MATRIX[:2], complex_, complex_[:, :2]):
            testing.check_grads(
                lambda a: tuple(linalg.polar(a, side)), (xp.asarray(matrix),), order=order, rtol=1e-4, atol=1e-4
            )
