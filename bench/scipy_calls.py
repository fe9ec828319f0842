"""The calls of ``bench.functions --package scipy``: functions of SciPy that compute with arrays, as text.

A call has the name of the subpackage, whose function in :mod:`scipy` and in :mod:`gpuarray.scipy` it stands for. Its
operands are those of :func:`operands`.
"""

from math import isqrt
from typing import Any, Final

import numpy as np
from scipy import signal, special

CALLS: Final = """
fft.fft(x)
fft.ifft(c)
fft.rfft(x)
fft.irfft(c)
fft.hfft(c)
fft.ihfft(x)
fft.fft(R)
fft.fft2(A)
fft.ifft2(C)
fft.rfft2(A)
fft.fftn(A)
fft.rfftn(A)
fft.ifftn(C)
fft.irfftn(C)
fft.hfft2(A)
fft.hfftn(A)
fft.ihfft2(A)
fft.ihfftn(A)
fft.irfft2(C)
fft.dct(x)
fft.dct(R)
fft.idct(x)
fft.dst(x)
fft.idst(x)
fft.dctn(A)
fft.idctn(A)
fft.dstn(A)
fft.idstn(A)
fft.fht(x, .1, .5)
fft.ifht(x, .1, .5)
fft.fftfreq(n)
fft.rfftfreq(n)
fft.next_fast_len(n)
fft.fftshift(x)
fft.ifftshift(A)
interpolate.CubicSpline(g, h)(x)
interpolate.PchipInterpolator(g, h)(x)
interpolate.Akima1DInterpolator(g, h)(x)
interpolate.make_interp_spline(g, h)(x)
interpolate.interp1d(g, h)(x)
interpolate.barycentric_interpolate(g[:9], h[:9], x)
interpolate.krogh_interpolate(g[:9], h[:9], x)
interpolate.pchip_interpolate(g, h, x)
interpolate.griddata(Q, h, P)
interpolate.RegularGridInterpolator((g, g), G)(P)
interpolate.RegularGridInterpolator((g, g), G, "nearest")(P)
interpolate.interpn((g, g), G, P)
linalg.block_diag(A, A)
linalg.cho_factor(S)
linalg.cho_solve((S, True), S)
linalg.cholesky(S)
linalg.circulant(a)
linalg.det(S)
linalg.eigh(S)
linalg.eigvalsh(S)
linalg.expm(S / 99)
linalg.hankel(a)
linalg.inv(S)
linalg.khatri_rao(A[:9, :9], A[:9, :9])
linalg.lstsq(S, a)
linalg.lu(S)
linalg.lu_factor(S)
linalg.norm(A)
linalg.null_space(A[:9])
linalg.orth(S)
linalg.pinv(S)
linalg.pinvh(S)
linalg.polar(S)
linalg.qr(S)
linalg.solve(S, a)
linalg.solve_banded((1, 1), T, x)
linalg.solve_triangular(S, a)
linalg.sqrtm(S)
linalg.svd(S)
linalg.svdvals(S)
linalg.toeplitz(a)
signal.argrelmax(x)
signal.argrelmin(x)
signal.butter(4, .2)
signal.cspline1d(x)
signal.cspline1d_eval(x, 99 * y)
signal.envelope(x)
signal.firwin(101, .3)
signal.find_peaks_cwt(x[:1000], [2, 4])
signal.freqz(b, d, n)
signal.freqz_sos(s, n)
signal.gauss_spline(x, 3)
signal.get_window('hann', n)
signal.group_delay((b, d), n)
signal.lfilter_zi(b, d)
signal.peak_prominences(x, p)
signal.peak_widths(x, p)
signal.qspline1d(x)
signal.savgol_coeffs(11, 3)
signal.sepfir2d(A, w[:9], w[:9])
signal.symiirorder1(x, .5, .5)
signal.symiirorder2(x, .5, .5)
signal.unit_impulse(n)
signal.windows.kaiser(n, 3)
signal.chirp(x, 1, 1, 9)
signal.choose_conv_method(x, w)
signal.coherence(x, y)
signal.convolve(x, w)
signal.convolve(x, w, method="fft")
signal.convolve(x, w, method="direct")
signal.convolve2d(A, W)
signal.correlate(x, w)
signal.correlate2d(A, W, "same", "symm")
signal.csd(x, y)
signal.czt(x)
signal.decimate(x, 4)
signal.deconvolve(x, w)
signal.detrend(x)
signal.detrend(x, type="constant")
signal.fftconvolve(x, w)
signal.fftconvolve(A, A)
signal.filtfilt(b, d, x)
signal.find_peaks(x)
signal.gausspulse(x, 9)
signal.hilbert(x)
signal.hilbert2(A)
signal.istft(Z)
signal.lfilter(b, d, x)
signal.lfilter(b, [1.0], x)
signal.lfilter(b, d, R)
signal.lombscargle(x[:500], y[:500], g)
signal.medfilt(x)
signal.medfilt2d(A)
signal.oaconvolve(x, w)
signal.order_filter(x[:5000], [1, 1, 1], 1)
signal.periodogram(x)
signal.resample(x, n // 2)
signal.resample_poly(x, 3, 2)
signal.resample_poly(R, 1, 2, axis=1)
signal.savgol_filter(x, 11, 3)
signal.sawtooth(x)
signal.sosfilt(s, x)
signal.sosfilt(s, R)
signal.sosfiltfilt(s, x)
signal.spectrogram(x)
signal.square(x)
signal.stft(x)
signal.sweep_poly(x, [1, 2, 3])
signal.upfirdn(w, x, 3, 2)
signal.vectorstrength(x, 0.1)
signal.welch(x)
signal.wiener(x)
signal.zoom_fft(x, 0.5)
stats.describe(x)
stats.kurtosis(x)
stats.sem(x)
stats.skew(x)
stats.zscore(x)
stats.zmap(x, y)
stats.gzscore(x + 1)
stats.gaussian_kde(g)(x[:9999])
special.logsumexp(x)
special.logsumexp(A, axis=1)
special.softmax(A, axis=1)
special.log_softmax(A, axis=1)
special.multigammaln(x + 4, 3)
special.polygamma(2, x)
special.diric(x, 5)
special.zeta(x + 1)
special.sinc(x)
special.softplus(x)
special.comb(k, j)
special.perm(k, j)
special.factorial(k)
special.jvp(1, x)
special.lambertw(x)
special.legendre_p(3, x)
special.roots_legendre(20)
special.spherical_jn(2, x)
special.sph_harm_y(3, 2, x, y)
"""
#: Distributions with their parameters, and methods of the continuous ones.
DISTRIBUTIONS: Final = {
    "beta": (2, 3), "cauchy": (), "chi2": (3,), "expon": (), "f": (3, 4), "gamma": (2,), "laplace": (), "logistic": (),
    "lognorm": (1,), "norm": (), "t": (5,), "uniform": (), "weibull_min": (2,),
}  # fmt: skip
METHODS: Final = ("pdf", "logpdf", "cdf", "sf", "ppf")
#: Special functions whose first argument is a degree.
DEGREES: Final = ("eval_hermite", "eval_hermitenorm")


def calls() -> list[str]:
    """Return every call; the arguments of ufuncs of SciPy are vectors."""
    result = CALLS.strip().splitlines()
    result += [f"stats.{name}.{method}{('x', *args)}".replace("'", "") for name, args in DISTRIBUTIONS.items()
              for method in METHODS]  # fmt: skip
    result += [f"stats.{name}.{method}(k, {args})" for name, args in (("poisson", "4"), ("binom", "40, .3"))
              for method in ("pmf", "cdf")]  # fmt: skip
    for name in special.__all__:
        if name in DEGREES:
            result.append(f"special.{name}(3, x)")
        elif isinstance(ufunc := getattr(special, name), np.ufunc):
            result.append(f"special.{name}({', '.join('xyxyxyx'[: ufunc.nin])})")
    return result


def operands(size: int) -> dict[str, Any]:
    """Return the operands of calls for arrays of ``size`` elements, by name.

    Names in small letters are vectors of ``size`` elements, and those in capital letters are matrices of nearly as
    many. Exceptions are ``a``, as long as a row of a matrix, the window ``w``, the image of weights ``W``, the filters
    ``b``, ``d`` and ``s``, the grid ``g`` with the values ``h`` and ``G``, and its points ``P``. ``R`` has rows of 512,
    ``Q`` are points of the values ``h``, and ``p`` positions.
    """
    random, side = np.random.default_rng(0), min(isqrt(size), 512)
    x, y = random.random(size), random.random(size)
    image = random.random((isqrt(size),) * 2)
    matrix, grid = random.random((side, side)), np.linspace(0, 1, 50)
    b, d = signal.butter(4, 0.2)
    bands = random.random((3, size))
    bands[1] += 3
    return {
        **{"n": size, "x": x, "y": y, "c": x + 1j * y, "k": random.integers(0, 40, size)},
        **{"a": random.random(side), "A": image if size > 1 << 18 else matrix, "C": image + 1j},
        **{"S": matrix @ matrix.T + side * np.eye(side), "T": bands, "R": random.random((size // 512 or 1, 512))},
        **{"b": b, "d": d, "s": signal.butter(8, 0.1, output="sos"), "w": random.random(101)},
        **{"W": random.random((7, 7)), "g": grid, "h": np.sin(9 * grid), "G": random.random((50, 50))},
        **{"j": random.integers(0, 9, size), "Q": random.random((50, 2)), "p": np.arange(1, size - 1, 99)},
        **{"P": random.random((size // 2, 2)), "Z": random.random((129, size // 129 or 1)) + 0j},
    }
