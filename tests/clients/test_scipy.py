"""Every function of SciPy that takes the arrays of a namespace, on GpuArrays and on NumPy's: the same values.

A case is a function of :class:`Side`, which makes its arrays; it runs once with NumPy's and once with ours.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import (
    cluster,
    constants,
    differentiate,
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    spatial,
    special,
    stats,
)
from scipy._lib._array_api import SCIPY_ARRAY_API, array_namespace, xp_capabilities_table
from scipy.optimize import elementwise

import gpuarray as xp

windows, hierarchy = signal.windows, cluster.hierarchy
Rotation, RigidTransform = spatial.transform.Rotation, spatial.transform.RigidTransform


def words(text: str) -> list[str]:
    return text.split()


def numbers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Return numbers between 0 and 1 that float32 holds."""
    return np.random.default_rng(seed).random(shape, np.float32)


@dataclass(frozen=True)
class Side:
    """Where a case's arrays come from, with the floating dtype under test."""

    xp: Any
    dtype: Any

    def reals(self, values: Any) -> Any:
        return self.xp.asarray(np.asarray(values, self.dtype))

    def integers(self, values: Any) -> Any:
        return self.xp.asarray(np.asarray(values, np.int64))

    def mask(self, values: Any) -> Any:
        return self.xp.asarray(np.asarray(values, np.bool_))

    @property
    def complexes(self) -> Any:
        return self.xp.asarray(np.asarray(numbers(16) + 1j * numbers(16, seed=1), np.result_type(self.dtype, 1j)))

    @property
    def x(self) -> Any:
        return self.reals(numbers(16))

    @property
    def y(self) -> Any:
        return self.reals(numbers(16, seed=1))

    @property
    def rising(self) -> Any:
        return self.reals(np.linspace(0, 3, 16) ** 1.5)

    @property
    def wave(self) -> Any:
        return self.reals(np.sin(np.arange(64) / 3) + 0.25 * numbers(64))

    @property
    def table(self) -> Any:
        return self.reals(numbers(6, 8))

    @property
    def image(self) -> Any:
        return self.reals(np.round(16 * numbers(9, 12)))

    @property
    def blobs(self) -> Any:
        return self.mask(numbers(9, 12) > 0.4)

    @property
    def labels(self) -> Any:
        return self.xp.asarray(ndimage.label(numbers(9, 12) > 0.5)[0])

    @property
    def points(self) -> Any:
        return self.reals(numbers(10, 2) + 3 * (np.arange(10) % 3)[:, None])

    @property
    def tree(self) -> Any:
        return hierarchy.linkage(self.reals(numbers(7, 2)), "average")

    @property
    def sos(self) -> Any:
        return self.reals(signal.butter(4, 0.3, output="sos"))

    @property
    def system(self) -> Any:
        b, a = signal.butter(3, 0.3)
        return self.reals(b), self.reals(a)

    @property
    def zpk(self) -> Any:
        z, p, k = signal.butter(4, 0.3, output="zpk")
        kind = np.result_type(self.dtype, 1j)
        return self.xp.asarray(np.asarray(z, kind)), self.xp.asarray(np.asarray(p, kind)), float(k)

    @property
    def rotation(self) -> Any:
        return Rotation.from_quat(self.reals([[0, 0, 0.6, 0.8], [0.8, 0, 0, 0.6], [0.5, 0.5, 0.5, 0.5]]))

    @property
    def rigid(self) -> Any:
        return RigidTransform.from_components(self.reals(numbers(3, 3)), self.rotation)


# -- cases ------------------------------------------------------------------------------------------------------------

#: Special functions by the number of their arguments; those of several take the same values for each.
SPECIAL = {
    1: "cbrt cosdg cosm1 cotdg ellipk ellipkm1 entr erf erfc erfcx erfinv exp1 exp10 exp2 expi expit exprel gamma "
    "gammaln gammasgn i0 i0e i1 i1e j0 j1 k0 k0e k1 k1e log_ndtr loggamma logit ndtr ndtri psi rgamma sinc sindg "
    "spence tandg y0 y1 zetac log_softmax logsumexp softmax",
    2: "betaln boxcox boxcox1p chdtr chdtrc chdtri gammainc gammaincc gammainccinv gammaincinv huber inv_boxcox "
    "inv_boxcox1p kl_div poch pseudo_huber rel_entr stdtr stdtrit xlog1py xlogy binom",
    3: "betainc betaincc betaincinv fdtr fdtrc fdtri gdtr gdtrc hyp1f1 radian",
}
_MORE = (lambda s: s.x, lambda s: s.y, lambda s: s.x * s.y)

CASES: dict[str, Any] = {
    f"special.{name}": lambda s, name=name, count=count: getattr(special, name)(*(f(s) for f in _MORE[:count]))
    for count, names in SPECIAL.items()
    for name in names.split()
}
CASES |= {
    "special.bdtr": lambda s: special.bdtr(s.reals([0, 1, 3]), s.integers([4, 5, 6]), s.x[:3]),
    "special.bdtrc": lambda s: special.bdtrc(s.reals([0, 1, 3]), s.integers([4, 5, 6]), s.x[:3]),
    "special.bdtri": lambda s: special.bdtri(s.reals([0, 1, 3]), s.integers([4, 5, 6]), s.x[:3]),
    "special.expn": lambda s: special.expn(s.integers([1, 2, 3]), s.x[:3]),
    "special.lpmv": lambda s: special.lpmv(s.reals([0, 1, 1]), s.reals([1, 2, 3]), s.x[:3]),
    "special.multigammaln": lambda s: special.multigammaln(s.x + 3, 2),
    "special.nbdtr": lambda s: special.nbdtr(s.integers([1, 2, 3]), s.integers([2, 3, 4]), s.x[:3]),
    "special.nbdtrc": lambda s: special.nbdtrc(s.integers([1, 2, 3]), s.integers([2, 3, 4]), s.x[:3]),
    "special.nbdtri": lambda s: special.nbdtri(s.integers([1, 2, 3]), s.integers([2, 3, 4]), s.x[:3]),
    "special.pdtr": lambda s: special.pdtr(s.reals([0, 1, 3]), s.x[:3]),
    "special.pdtrc": lambda s: special.pdtrc(s.reals([0, 1, 3]), s.x[:3]),
    "special.pdtri": lambda s: special.pdtri(s.integers([0, 1, 3]), s.x[:3]),
    "special.polygamma": lambda s: special.polygamma(2, s.x),
    "special.yn": lambda s: special.yn(s.integers([0, 1, 3]), s.x[:3]),
    "special.zeta": lambda s: special.zeta(s.x + 1.5, s.y),
}
CASES |= {
    f"fft.{name}": lambda s, name=name: getattr(fft, name)(s.wave) for name in words("rfft ihfft dct dst idct idst")
}
CASES |= {f"fft.{name}": lambda s, name=name: getattr(fft, name)(s.complexes) for name in words("fft ifft irfft hfft")}
CASES |= {
    f"fft.{name}": lambda s, name=name: getattr(fft, name)(s.xp.reshape(s.complexes, (4, 4)))
    for name in words("fft2 fftn ifft2 ifftn irfft2 irfftn hfft2 hfftn")
}
CASES |= {
    f"fft.{name}": lambda s, name=name: getattr(fft, name)(s.table)
    for name in words("rfft2 rfftn ihfft2 ihfftn dctn idctn dstn idstn")
}
CASES |= {
    "fft.fftfreq": lambda s: fft.fftfreq(9, 0.5, xp=s.xp),
    "fft.rfftfreq": lambda s: fft.rfftfreq(9, 0.5, xp=s.xp),
    "fft.fftshift": lambda s: fft.fftshift(s.table),
    "fft.ifftshift": lambda s: fft.ifftshift(s.table, axes=1),
    "fft.fht": lambda s: fft.fht(s.x, 0.1, 0.5),
    "fft.ifht": lambda s: fft.ifht(s.x, 0.1, 0.5),
}

CASES |= {
    f"stats.{name}": lambda s, name=name: getattr(stats, name)(s.table, axis=1)
    for name in words(
        "circmean circstd circvar describe differential_entropy entropy "
        "false_discovery_control gmean gstd gzscore hmean iqr jarque_bera kstat kstatvar kurtosis lmoment "
        "median_abs_deviation moment mode rankdata sem skew tmax tmean tmin tsem tstd tvar "
        "variation zscore"
    )
}
CASES |= {
    f"stats.{name}": lambda s, name=name: getattr(stats, name)(s.wave)
    for name in ("kurtosistest", "skewtest", "normaltest")
}
CASES |= {
    f"stats.{name}": lambda s, name=name: getattr(stats, name)(s.x, s.y)
    for name in words(
        "ansari bartlett brunnermunzel chatterjeexi epps_singleton_2samp "
        "f_oneway fligner kruskal levene mannwhitneyu mood pearsonr spearmanrho ttest_ind ttest_rel wilcoxon zmap"
    )
}
CASES |= {
    "stats._xp_searchsorted": lambda s: stats._quantile._xp_searchsorted(s.rising, s.x),
    "stats.bootstrap": lambda s: (
        stats.bootstrap((s.x,), s.xp.mean, n_resamples=50, rng=np.random.default_rng(3)).confidence_interval
    ),
    "stats.alexandergovern": lambda s: stats.alexandergovern(s.x, s.y).pvalue,
    "stats.boxcox_llf": lambda s: stats.boxcox_llf(0.5, s.x),
    "stats.chisquare": lambda s: stats.chisquare(s.integers([16, 18, 16, 14, 12, 12])),
    "stats.directional_stats": lambda s: stats.directional_stats(s.table).mean_direction,
    "stats.combine_pvalues": lambda s: stats.combine_pvalues(s.x, method="stouffer", weights=s.y),
    "stats.cramervonmises": lambda s: stats.cramervonmises(s.x, special.ndtr).pvalue,
    "stats.cramervonmises_2samp": lambda s: stats.cramervonmises_2samp(s.x, s.y).pvalue,
    "stats.friedmanchisquare": lambda s: stats.friedmanchisquare(s.x, s.y, s.rising),
    "stats.ks_1samp": lambda s: stats.ks_1samp(s.x, special.ndtr, method="asymp"),
    "stats.monte_carlo_test": lambda s: (
        stats.monte_carlo_test(
            s.x, lambda size: s.reals(numbers(*size, seed=5)), s.xp.mean, n_resamples=40, vectorized=True
        ).pvalue
    ),
    "stats.permutation_test": lambda s: (
        stats.permutation_test(
            (s.x, s.y),
            lambda x, y, axis: s.xp.mean(x, axis=axis) - s.xp.mean(y, axis=axis),
            n_resamples=40,
            vectorized=True,
            rng=np.random.default_rng(3),
        ).pvalue
    ),
    "stats.pmean": lambda s: stats.pmean(s.table, 3, axis=0),
    "stats.power": lambda s: (
        stats.power(
            lambda x, axis=-1: stats.ttest_1samp(x, s.reals(0.5), axis=axis).pvalue,
            lambda size: s.reals(numbers(*np.atleast_1d(size), seed=5)),
            12,
            significance=0.05,
            n_resamples=20,
            vectorized=True,
        ).power
    ),
    "stats.power_divergence": lambda s: stats.power_divergence(s.x / s.xp.mean(s.x), lambda_="log-likelihood"),
    "stats.quantile": lambda s: stats.quantile(s.table, s.reals([0.25, 0.5]), axis=1, method="hazen"),
    "stats.sigmaclip": lambda s: stats.sigmaclip(s.x, 1.5, 1.5).clipped,
    "stats.trim_mean": lambda s: stats.trim_mean(s.table, 0.2, axis=1),
    "stats.ttest_1samp": lambda s: stats.ttest_1samp(s.table, 0.4, axis=1),
    "stats.ttest_ind_from_stats": lambda s: stats.ttest_ind_from_stats(
        s.reals(0.5), s.reals(0.2), 10, s.reals(0.75), s.reals(0.25), 12
    ),
    "stats.yeojohnson_llf": lambda s: stats.yeojohnson_llf(0.5, s.x),
}

#: Windows of one argument; the others' further arguments.
WINDOWS = (
    "barthann bartlett blackman blackmanharris bohman boxcar cosine flattop hamming hann lanczos nuttall parzen triang"
)
WINDOW_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "chebwin": (80,),
    "exponential": (),
    "gaussian": (2.0,),
    "general_gaussian": (1.5, 2.0),
    "general_hamming": (0.6,),
    "kaiser": (4.0,),
    "taylor": (),
    "tukey": (),
}
CASES |= {f"signal.{name}": lambda s, name=name: getattr(windows, name)(11, xp=s.xp) for name in WINDOWS.split()}
CASES |= {
    f"signal.{name}": lambda s, name=name: getattr(windows, name)(11, *WINDOW_ARGUMENTS[name], xp=s.xp)
    for name in WINDOW_ARGUMENTS
}
CASES |= {
    "signal.general_cosine": lambda s: windows.general_cosine(11, s.reals([0.5, 0.3, 0.2])),
    "signal.get_window": lambda s: windows.get_window(("kaiser", 4.0), 11, xp=s.xp),
    "signal.kaiser_bessel_derived": lambda s: windows.kaiser_bessel_derived(12, 4.0, xp=s.xp),
}
CASES |= {
    f"signal.{name}": lambda s, name=name: getattr(signal, name)(s.wave, s.x[:5])
    for name in ("convolve", "correlate", "fftconvolve", "oaconvolve", "upfirdn")
}
CASES |= {
    f"signal.{name}": lambda s, name=name: getattr(signal, name)(s.image, s.image[:3, :3])
    for name in ("convolve2d", "correlate2d")
}
CASES |= {
    f"signal.{name}": lambda s, name=name: getattr(signal, name)(s.wave)
    for name in ("cspline1d", "detrend", "envelope", "hilbert", "medfilt", "qspline1d", "wiener")
}
#: Analogue prototypes and digital designs, which make their arrays in the namespace that they are told.
CASES |= {
    f"signal.{name}": lambda s, name=name, arguments=arguments: getattr(signal, name)(*arguments, xp=s.xp)
    for name, arguments in {
        "besselap": (4,),
        "buttap": (4,),
        "cheb1ap": (4, 1),
        "cheb2ap": (4, 20),
        "ellipap": (4, 1, 20),
        "iircomb": (0.25, 20),
        "iirnotch": (0.25, 20),
        "iirpeak": (0.25, 20),
    }.items()
}
CASES |= {
    f"signal.{name}": lambda s, name=name, arguments=arguments: getattr(signal, name)(
        *arguments, s.reals([0.2, 0.5]), "band"
    )
    for name, arguments in {
        "bessel": (3,),
        "butter": (3,),
        "cheby1": (3, 1),
        "cheby2": (3, 20),
        "ellip": (3, 1, 20),
    }.items()
}
CASES |= {
    f"signal.{name}": lambda s, name=name: getattr(signal, name)(s.reals([0.2, 0.5]), s.reals([0.1, 0.6]), 3, 20)
    for name in ("buttord", "cheb1ord", "cheb2ord", "ellipord", "iirdesign")
}
CASES |= {
    f"signal.{name}": lambda s, name=name: getattr(signal, name)(*s.system)
    for name in ("freqs", "freqz", "lfilter_zi", "normalize")
}
CASES |= {
    f"signal.{name}": lambda s, name=name: getattr(signal, name)(*s.zpk)
    for name in words("freqs_zpk freqz_zpk lp2bp_zpk lp2bs_zpk lp2hp_zpk lp2lp_zpk zpk2sos zpk2tf")
}
CASES |= {
    f"signal.{name}": lambda s, name=name: getattr(signal, name)(*s.system)
    for name in ("lp2bp", "lp2bs", "lp2hp", "lp2lp", "bilinear")
}
CASES |= {
    f"signal.{name}": lambda s, name=name: getattr(signal, name)(s.sos)
    for name in ("freqz_sos", "sosfreqz", "sos2tf", "sos2zpk", "sosfilt_zi")
}
CASES |= {
    "signal.abcd_normalize": lambda s: signal.abcd_normalize(s.table[:2, :2], s.table[:2, :1], s.table[:1, :2]),
    "signal.bilinear_zpk": lambda s: signal.bilinear_zpk(*s.zpk, 2.0),
    "signal.bode": lambda s: signal.bode(s.system, w=s.rising[1:]),
    "signal.choose_conv_method": lambda s: signal.choose_conv_method(s.wave, s.x),
    "signal.cspline1d_eval": lambda s: signal.cspline1d_eval(s.x, s.rising),
    "signal.cspline2d": lambda s: signal.cspline2d(s.reals(numbers(48, 48)), 1.0),
    "signal.deconvolve": lambda s: signal.deconvolve(s.reals([1, 3, 5, 3]), s.reals([1, 2])),
    "signal.filtfilt": lambda s: signal.filtfilt(*s.system, s.wave),
    "signal.firls": lambda s: signal.firls(9, s.reals([0, 0.3, 0.5, 1]), s.reals([1, 1, 0, 0])),
    "signal.firwin": lambda s: signal.firwin(9, s.reals([0.2, 0.5]), pass_zero=False),
    "signal.firwin2": lambda s: signal.firwin2(9, s.reals([0, 0.5, 1]), s.reals([1, 1, 0])),
    "signal.gammatone": lambda s: signal.gammatone(0.3, "iir", xp=s.xp),
    "signal.gauss_spline": lambda s: signal.gauss_spline(s.x, 3),
    "signal.group_delay": lambda s: signal.group_delay(s.system, w=s.reals([0.5, 1.0, 1.5])),
    "signal.hilbert2": lambda s: signal.hilbert2(s.image),
    "signal.iirfilter": lambda s: signal.iirfilter(3, s.reals([0.2, 0.5])),
    "signal.lfilter": lambda s: signal.lfilter(*s.system, s.wave),
    "signal.lfiltic": lambda s: signal.lfiltic(*s.system, s.x[:3]),
    "signal.medfilt2d": lambda s: signal.medfilt2d(s.image),
    "signal.minimum_phase": lambda s: signal.minimum_phase(s.reals(signal.firwin(9, 0.3)), n_fft=64),
    "signal.order_filter": lambda s: signal.order_filter(s.image, s.reals(np.ones((3, 3))), 4),
    "signal.place_poles": lambda s: (
        signal.place_poles(s.table[:2, :2], s.table[2:4, :1], s.reals([-1, -2])).gain_matrix
    ),
    "signal.qspline1d_eval": lambda s: signal.qspline1d_eval(s.x, s.rising),
    "signal.remez": lambda s: signal.remez(9, s.reals([0, 0.1, 0.2, 0.5]), s.reals([1, 0])),
    "signal.resample": lambda s: signal.resample(s.wave, 40),
    "signal.resample_poly": lambda s: signal.resample_poly(s.wave, 3, 2),
    "signal.savgol_coeffs": lambda s: signal.savgol_coeffs(7, 3, xp=s.xp),
    "signal.savgol_filter": lambda s: signal.savgol_filter(s.wave, 7, 3),
    "signal.sosfilt": lambda s: signal.sosfilt(s.sos, s.wave),
    "signal.sosfiltfilt": lambda s: signal.sosfiltfilt(s.sos, s.wave),
    "signal.spline_filter": lambda s: signal.spline_filter(s.reals(numbers(48, 48)), 1.0),
    "signal.tf2sos": lambda s: signal.sos2tf(signal.tf2sos(*s.system)),
    "signal.tf2zpk": lambda s: signal.zpk2tf(*signal.tf2zpk(*s.system)),
    "signal.vectorstrength": lambda s: signal.vectorstrength(s.x, s.reals(0.3)),
}

CASES |= {
    f"ndimage.{name}": lambda s, name=name, arguments=arguments: getattr(ndimage, name)(s.image, *arguments)
    for names, arguments in {
        "gaussian_filter gaussian_filter1d gaussian_gradient_magnitude gaussian_laplace": (1.5,),
        "grey_closing grey_dilation grey_erosion grey_opening black_tophat white_tophat morphological_gradient "
        "morphological_laplace maximum_filter maximum_filter1d median_filter minimum_filter minimum_filter1d "
        "uniform_filter uniform_filter1d": (3,),
        "fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform": (2,),
        "laplace prewitt sobel spline_filter spline_filter1d center_of_mass extrema maximum maximum_position mean "
        "median minimum minimum_position standard_deviation sum sum_labels variance": (),
        "percentile_filter": (30, 3),
        "rank_filter": (2, 3),
        "rotate": (30,),
        "shift": (1.5,),
        "zoom": (1.5,),
        "histogram": (0, 16, 8),
        "generic_filter": (np.ptp, 3),
        "generic_laplace": (ndimage.sobel,),
        "generic_gradient_magnitude": (ndimage.sobel,),
    }.items()
    for name in names.split()
}
CASES |= {
    f"ndimage.{name}": lambda s, name=name: getattr(ndimage, name)(s.blobs)
    for name in words(
        "binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss binary_opening "
        "binary_propagation distance_transform_bf distance_transform_cdt distance_transform_edt label"
    )
}
CASES |= {
    f"ndimage.{name}": lambda s, name=name: getattr(ndimage, name)(s.image, s.image[:3, :3])
    for name in ("convolve", "correlate")
}
CASES |= {
    f"ndimage.{name}": lambda s, name=name: getattr(ndimage, name)(s.image, s.x[:3])
    for name in ("convolve1d", "correlate1d")
}


def _sums_in_place(line: Any, out: Any) -> None:
    out[:] = line[:-2] + line[1:-1] + line[2:]


CASES |= {
    "ndimage.affine_transform": lambda s: ndimage.affine_transform(s.image, s.reals([[0.5, 0.1], [0, 0.75]])),
    "ndimage.find_objects": lambda s: ndimage.find_objects(s.labels),
    "ndimage.generic_filter1d": lambda s: ndimage.generic_filter1d(s.image, _sums_in_place, 3),
    "ndimage.geometric_transform": lambda s: ndimage.geometric_transform(s.image, lambda at: (at[0] / 2, at[1] / 3)),
    "ndimage.iterate_structure": lambda s: ndimage.iterate_structure(s.mask([[0, 1, 0], [1, 1, 1], [0, 1, 0]]), 2),
    "ndimage.labeled_comprehension": lambda s: ndimage.labeled_comprehension(
        s.image, s.labels, s.integers([1, 2]), np.ptp, np.float64, 0
    ),
    "ndimage.map_coordinates": lambda s: ndimage.map_coordinates(s.image, s.reals(8 * numbers(2, 5))),
    "ndimage.value_indices": lambda s: ndimage.value_indices(s.labels),
    "ndimage.vectorized_filter": lambda s: ndimage.vectorized_filter(s.image, s.xp.sum, size=(3, 3)),
    "ndimage.watershed_ift": lambda s: ndimage.watershed_ift(
        s.xp.asarray((numbers(9, 12) * 200).astype(np.uint8)), s.xp.asarray(s.labels, dtype=s.xp.int32)
    ),
}

CASES |= {
    f"cluster.{name}": lambda s, name=name: getattr(hierarchy, name)(s.points)
    for name in words("average centroid complete linkage median single ward weighted")
}
CASES |= {
    f"cluster.{name}": lambda s, name=name: getattr(hierarchy, name)(s.tree)
    for name in words(
        "cophenet dendrogram inconsistent is_monotonic is_valid_linkage leaves_list maxdists num_obs_linkage "
        "to_mlab_linkage"
    )
}
CASES |= {
    "cluster.correspond": lambda s: hierarchy.correspond(s.tree, s.reals(numbers(21))),
    "cluster.fcluster": lambda s: hierarchy.fcluster(s.tree, 3, "maxclust"),
    "cluster.fclusterdata": lambda s: hierarchy.fclusterdata(s.points, 1.0),
    "cluster.from_mlab_linkage": lambda s: hierarchy.from_mlab_linkage(hierarchy.to_mlab_linkage(s.tree)),
    "cluster.is_isomorphic": lambda s: hierarchy.is_isomorphic(s.integers([1, 1, 2]), s.integers([3, 3, 1])),
    "cluster.is_valid_im": lambda s: hierarchy.is_valid_im(hierarchy.inconsistent(s.tree)),
    "cluster.leaders": lambda s: hierarchy.leaders(s.tree, hierarchy.fcluster(s.tree, 3, "maxclust")),
    "cluster.maxinconsts": lambda s: hierarchy.maxinconsts(s.tree, hierarchy.inconsistent(s.tree)),
    "cluster.maxRstat": lambda s: hierarchy.maxRstat(s.tree, hierarchy.inconsistent(s.tree), 1),
    "cluster.optimal_leaf_ordering": lambda s: hierarchy.optimal_leaf_ordering(s.tree, s.reals(numbers(7, 2))),
    "cluster.to_tree": lambda s: hierarchy.to_tree(s.tree).pre_order(),
    "cluster.kmeans": lambda s: cluster.vq.kmeans(s.points, s.points[:3]),
    "cluster.kmeans2": lambda s: cluster.vq.kmeans2(s.points, s.points[:3], minit="matrix"),
    "cluster.vq": lambda s: cluster.vq.vq(s.points, s.points[:3]),
    "cluster.whiten": lambda s: cluster.vq.whiten(s.points),
}

CASES |= {
    "constants.convert_temperature": lambda s: constants.convert_temperature(s.x, "C", "K"),
    "constants.lambda2nu": lambda s: constants.lambda2nu(s.x),
    "constants.nu2lambda": lambda s: constants.nu2lambda(s.x),
    "differentiate.derivative": lambda s: (lambda r: (r.df, r.nit))(differentiate.derivative(s.xp.exp, s.x)),
    "differentiate.hessian": lambda s: differentiate.hessian(optimize.rosen, s.x[:3], maxiter=2).ddf,
    "differentiate.jacobian": lambda s: differentiate.jacobian(lambda x: x**3, s.x[:3], maxiter=3).df,
    "integrate.cubature": lambda s: (
        integrate.cubature(lambda at: s.xp.sum(at**2, axis=-1), s.reals([0, 0]), s.reals([1, 2])).estimate
    ),
    "integrate.cumulative_simpson": lambda s: integrate.cumulative_simpson(s.x, x=s.rising),
    "integrate.cumulative_trapezoid": lambda s: integrate.cumulative_trapezoid(s.x, x=s.rising),
    "integrate.nsum": lambda s: integrate.nsum(lambda k: 1 / k**2, s.reals(1), s.reals(np.inf)).sum,
    "integrate.qmc_quad": lambda s: (
        integrate.qmc_quad(
            lambda at: s.xp.exp(at[0]), s.reals([0]), s.reals([1]), n_points=64, qrng=stats.qmc.Halton(1, rng=1)
        ).integral
    ),
    "integrate.romb": lambda s: integrate.romb(s.x[:9]),
    "integrate.tanhsinh": lambda s: integrate.tanhsinh(s.xp.exp, s.x, s.y + 1).integral,
    "integrate.trapezoid": lambda s: integrate.trapezoid(s.x, x=s.rising),
    "linalg.block_diag": lambda s: linalg.block_diag(s.table[:2], s.table[:1, :3]),
    "linalg.fiedler": lambda s: linalg.fiedler(s.x),
    "linalg.orthogonal_procrustes": lambda s: linalg.orthogonal_procrustes(s.table[:3, :3], s.table[3:, :3]),
    "optimize.bracket_minimum": lambda s: elementwise.bracket_minimum(lambda x: (x - 0.5) ** 2, s.x).bracket,
    "optimize.bracket_root": lambda s: elementwise.bracket_root(lambda x: x - 0.5, s.x).bracket,
    "optimize.find_minimum": lambda s: (
        elementwise.find_minimum(
            lambda x, c: (x - c) ** 2 + 1, (s.y - 2, s.y + 0.25, s.y + 3), args=(s.y,), maxiter=3
        ).f_x
    ),
    "optimize.find_root": lambda s: (
        elementwise.find_root(lambda x, c: x**3 - c, (s.y * 0, s.y + 1), args=(s.y,), maxiter=6).x
    ),
    "optimize.rosen": lambda s: optimize.rosen(s.table),
    "optimize.rosen_der": lambda s: optimize.rosen_der(s.table),
    "optimize.rosen_hess": lambda s: optimize.rosen_hess(s.x),
    "optimize.rosen_hess_prod": lambda s: optimize.rosen_hess_prod(s.x, s.y),
}

CASES |= {
    f"interpolate.{name}": lambda s, name=name: getattr(interpolate, name)(s.rising, s.wave[:16])(s.x)
    for name in words("Akima1DInterpolator CubicSpline PchipInterpolator make_interp_spline")
}
CASES |= {
    "interpolate.BPoly": lambda s: interpolate.BPoly(s.table[:3, :5], s.rising[:6])(s.x),
    "interpolate.BSpline": lambda s: interpolate.BSpline(s.rising, s.x[:12], 3).derivative()(s.x),
    "interpolate.CubicHermiteSpline": lambda s: interpolate.CubicHermiteSpline(s.rising, s.x, s.y)(s.x),
    "interpolate.NdBSpline": lambda s: interpolate.NdBSpline((s.rising[:8], s.rising[:8]), s.table[:6, :6], 1)(
        s.points
    ),
    "interpolate.PPoly": lambda s: interpolate.PPoly(s.table[:4, :5], s.rising[:6]).antiderivative()(s.x),
    "interpolate.RBFInterpolator": lambda s: interpolate.RBFInterpolator(s.points, s.x[:10])(s.points + 0.5),
    "interpolate.RegularGridInterpolator": lambda s: interpolate.RegularGridInterpolator(
        (s.rising[:6], s.rising[:8]), s.table, bounds_error=False, fill_value=None
    )(s.points),
    "interpolate.generate_knots": lambda s: list(interpolate.generate_knots(s.rising, s.x, s=0.1))[-1],
    "interpolate.make_lsq_spline": lambda s: interpolate.make_lsq_spline(
        s.rising, s.x, s.reals([0, 0, 0, 0, 2, 3**1.5, 3**1.5, 3**1.5, 3**1.5])
    )(s.x),
    "interpolate.make_smoothing_spline": lambda s: interpolate.make_smoothing_spline(s.rising, s.x, lam=0.5)(s.x),
    "interpolate.make_splprep": lambda s: interpolate.make_splprep([s.x, s.y], s=0.1)[1],
    "interpolate.make_splrep": lambda s: interpolate.make_splrep(s.rising, s.x, s=0.1)(s.x),
}

CASES |= {
    f"spatial.Rotation.as_{name}": lambda s, name=name, arguments=arguments: getattr(s.rotation, f"as_{name}")(
        *arguments
    )
    for name, arguments in {
        "davenport": (np.eye(3), "extrinsic"),
        "euler": ("xyz",),
        "matrix": (),
        "mrp": (),
        "quat": (),
        "rotvec": (),
    }.items()
}
CASES |= {
    f"spatial.Rotation.from_{name}": lambda s, name=name, value=value: getattr(Rotation, f"from_{name}")(
        value(s)
    ).as_quat()
    for name, value in {
        "matrix": lambda s: s.rotation.as_matrix(),
        "mrp": lambda s: s.table[:, :3],
        "quat": lambda s: s.table[:, :4],
        "rotvec": lambda s: s.table[:, :3],
    }.items()
}
CASES |= {
    f"spatial.Rotation.{name}": lambda s, value=value: value(s, s.rotation)
    for name, value in {
        "__getitem__": lambda s, r: r[1].as_quat(),
        "__iter__": lambda s, r: next(iter(r)).as_quat(),
        "__mul__": lambda s, r: (r * r[0]).as_quat(),
        "__pow__": lambda s, r: (r**2.5).as_quat(),
        "__repr__": lambda s, r: repr(r).count("\n"),
        "__setitem__": lambda s, r: (r.__setitem__(0, r[1]), r.as_quat())[1],
        "align_vectors": lambda s, r: Rotation.align_vectors(s.table[:, :3], s.table[:, 3:6])[0].as_quat(),
        "apply": lambda s, r: r.apply(s.table[:3, :3]),
        "approx_equal": lambda s, r: r.approx_equal(r[0], atol=1e-3),
        "concatenate": lambda s, r: Rotation.concatenate([r, r]).as_quat(),
        "from_davenport": lambda s, r: Rotation.from_davenport(s.reals(np.eye(3)), "extrinsic", s.x[:3]).as_quat(),
        "from_euler": lambda s, r: Rotation.from_euler("xyz", s.x[:3]).as_quat(),
        "inv": lambda s, r: r.inv().as_quat(),
        "magnitude": lambda s, r: r.magnitude(),
        "mean": lambda s, r: r.mean().as_matrix(),
        "reduce": lambda s, r: r.reduce(r[:1], r[1:]).as_quat(),
    }.items()
}
CASES |= {
    f"spatial.RigidTransform.{name}": lambda s, value=value: value(s, s.rigid)
    for name, value in {
        "__getitem__": lambda s, r: r[1].as_matrix(),
        "__iter__": lambda s, r: next(iter(r)).as_matrix(),
        "__mul__": lambda s, r: (r * r[0]).as_matrix(),
        "__pow__": lambda s, r: (r**2.5).as_matrix(),
        "__setitem__": lambda s, r: (r.__setitem__(0, r[1]), r.as_matrix())[1],
        "apply": lambda s, r: r.apply(s.table[:3, :3]),
        "as_components": lambda s, r: r.as_components()[0],
        "as_dual_quat": lambda s, r: r.as_dual_quat(),
        "as_exp_coords": lambda s, r: r.as_exp_coords(),
        "as_matrix": lambda s, r: r.as_matrix(),
        "concatenate": lambda s, r: RigidTransform.concatenate([r, r]).as_matrix(),
        "from_components": lambda s, r: RigidTransform.from_components(s.x[:3], s.rotation).as_matrix(),
        "from_dual_quat": lambda s, r: RigidTransform.from_dual_quat(r.as_dual_quat()).as_matrix(),
        "from_exp_coords": lambda s, r: RigidTransform.from_exp_coords(s.x[:6]).as_matrix(),
        "from_matrix": lambda s, r: RigidTransform.from_matrix(r.as_matrix()).as_matrix(),
        "from_rotation": lambda s, r: RigidTransform.from_rotation(s.rotation).as_matrix(),
        "from_translation": lambda s, r: RigidTransform.from_translation(s.x[:3]).as_matrix(),
        "inv": lambda s, r: r.inv().as_matrix(),
        "mean": lambda s, r: r.mean().as_matrix(),
    }.items()
}
CASES |= {
    "spatial.Slerp.__call__": lambda s: spatial.transform.Slerp(s.reals([0, 1, 2]), s.rotation)(
        s.reals([0.25, 1.5])
    ).as_quat(),
}
#: Declared, and not functions of arrays of their own.
WITHOUT_CASE = {
    "signal.impulse": "calls NumPy's functions, and refuses the mix of arrays that it gets",
    "spatial.RigidTransform.identity": "makes NumPy's arrays",
    "spatial.Slerp.__init__": "in the case of its __call__",
    "spatial._promote": "private",
    "spatial.normalize_dual_quaternion": "private",
}


def declared() -> set[str]:
    """Return what SciPy says takes arrays of other namespaces, as ``package.name``."""
    table = {f: c for f, c in xp_capabilities_table.items() if not (c["np_only"] or c["out_of_scope"])}
    return {f"{f.__module__.split('.')[1]}.{f.__qualname__}" for f in table}


def assert_alike(ours: Any, theirs: Any, device: Any) -> None:
    """Check that results are equal: arrays on the device, sequences and dictionaries of them, other values."""
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        assert_alike(list(ours.values()), list(theirs.values()), device)
    elif isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_alike(one, other, device)
    elif isinstance(theirs, np.ndarray | np.generic):
        assert array_namespace(ours) is xp
        assert ours.device == device
        assert ours.shape == theirs.shape
        tolerance = 16 * np.sqrt(np.finfo(ours.dtype).eps) if theirs.dtype.kind in "fc" else 0
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=tolerance, atol=tolerance)
    else:
        assert ours == theirs


def test_scipy_takes_namespaces() -> None:
    assert SCIPY_ARRAY_API == "1"


def test_every_function_has_a_case() -> None:
    assert set(CASES) | set(WITHOUT_CASE) == declared()


#: A software device compiles long what a case runs in no time: there it is one case in eight, of all packages.
PLACES = [("cpu", np.float64, name) for name in CASES] + [("wgpu", np.float32, name) for name in sorted(CASES)[4::8]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("device", "dtype", "name"), PLACES, indirect=["device"])
def test_values(name: str, dtype: Any, device: Any) -> None:
    case = CASES[name]
    with np.errstate(all="ignore"):
        # transforms of NumPy's arrays are computed in double precision, whatever the dtype
        theirs = case(Side(np, np.float64 if name.startswith("spatial.") else dtype))
    assert_alike(case(Side(xp, dtype)), theirs, device)
