"""Random calls of scipy.ndimage and scipy.signal, some with invalid arguments: names and arguments, from a seed."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from ndimage_cases import MODES, sample

Random = np.random.Generator
Arguments = tuple[list[Any], dict[str, Any]]

DTYPES: Final = (
    "bool",
    *("int8", "uint8", "int16", "int32", "int64"),
    *("float16", "float32", "float64"),
    *("complex64", "complex128"),
)
#: How often arrays have the dtypes above; most have those that all functions accept.
WEIGHTS: Final = np.array((1, 1, 2, 1, 2, 2, 1, 8, 8, 2, 1)) / 29


class Call(NamedTuple):
    """A function by its subpackage and name, with arguments for SciPy."""

    package: str
    name: str
    args: list[Any]
    kwargs: dict[str, Any]

    def run(self, namespace: Any, put: Callable[[Any], Any]) -> Any:
        """Call the function of a namespace, with arrays that ``put`` makes of NumPy's."""
        function = getattr(getattr(namespace, self.package), self.name)
        return function(*map(put, self.args), **{name: put(value) for name, value in self.kwargs.items()})


def one_of(random: Random, *values: Any) -> Any:
    return values[random.integers(len(values))]


def rarely(random: Random, value: Any, other: Any) -> Any:
    """Return the other value in one of twelve calls."""
    return other if random.random() < 1 / 12 else value


def dtype_of(random: Random) -> str:
    return str(random.choice(DTYPES, p=WEIGHTS))


def array(random: Random, ndim: int, dtype: str = "", most: int = 9) -> Any:
    """Return an array of few elements, rarely of none."""
    least = rarely(random, 1, 0)
    return sample(random.integers(least, most + 1, ndim), dtype or dtype_of(random), int(random.integers(99)))


def image(random: Random) -> Any:
    return array(random, int(random.integers(1, 4)))


def line(random: Random, least: int = 0, most: int = 40) -> Any:
    return sample(int(random.integers(least, most)), dtype_of(random), int(random.integers(99)))


def _boundary(random: Random, ndim: int, *, is_each: bool = True) -> dict[str, Any]:
    mode = str(random.choice(MODES))
    result = {"mode": [str(random.choice(MODES)) for _ in range(ndim)] if is_each and random.random() < 0.2 else mode}
    result = rarely(random, result, {"mode": "around"})
    return result | ({"cval": float(random.integers(-3, 4))} if random.random() < 0.4 else {})


def _axis(random: Random, ndim: int) -> int:
    return rarely(random, int(random.integers(-ndim, ndim)), ndim)


def _axes(random: Random, ndim: int) -> dict[str, Any]:
    if random.random() < 0.8:
        return {}
    count = int(random.integers(1, ndim + 1))
    return {"axes": rarely(random, tuple(int(a) for a in random.permutation(ndim)[:count]), (ndim,))}


def _some(random: Random, **options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if random.random() < 0.4}


def _window(random: Random, ndim: int) -> dict[str, Any]:
    size = int(random.integers(0 if random.random() < 0.1 else 1, 6))
    if random.random() < 0.6:
        return {"size": one_of(random, size, [size + int(k) for k in range(ndim)])}
    return {"footprint": array(random, rarely(random, ndim, ndim + 1), "bool", 4)}


def _origin(random: Random, ndim: int) -> Any:
    return one_of(random, 0, int(random.integers(-1, 2)), [int(v) for v in random.integers(-1, 2, ndim)])


def by_size(random: Random, *first: Any) -> Arguments:
    x = image(random)
    n = x.ndim
    window = _window(random, n)
    if (
        n == 1
    ):  # SciPy's ranks of shorter lines are not defined, and there it takes the holes of footprints for elements
        x = sample(int(random.integers(6, 12)), dtype_of(random))
        window = {"size": int(random.integers(1, 6))}
    kwargs = window | _boundary(random, n) | _axes(random, n) | _some(random, origin=_origin(random, n))
    return [x, *first], kwargs


def by_rank(random: Random) -> Arguments:
    return by_size(random, int(random.integers(-3, 6)))


def by_percentile(random: Random) -> Arguments:
    return by_size(random, rarely(random, float(random.integers(-100, 101)), 170.0))


def by_weights(random: Random) -> Arguments:
    x = image(random)
    n = x.ndim
    weights = array(random, rarely(random, n, n + 1), one_of(random, "float64", "float32", "int64", "complex64"), 4)
    return [x, weights], _boundary(random, n) | _some(random, origin=_origin(random, n), output=dtype_of(random))


def by_weights1d(random: Random) -> Arguments:
    x = image(random)
    weights = array(random, 1, one_of(random, "float64", "float32", "int64", "complex64"), 7)
    kwargs = _boundary(random, x.ndim, is_each=False)
    return [x, weights, _axis(random, x.ndim)], kwargs | _some(random, origin=int(random.integers(-2, 3)))


def by_sigma(random: Random) -> Arguments:
    x = image(random)
    sigma = rarely(random, float(random.integers(0, 5)) / 2 + 0.1, 0.0)
    given = one_of(random, sigma, [sigma] * x.ndim)
    options = _some(random, truncate=2.5, output=dtype_of(random))
    return [x, given], options | _boundary(random, x.ndim) | _axes(random, x.ndim)


def gaussian(random: Random) -> Arguments:
    args, kwargs = by_sigma(random)
    return args, kwargs | _some(random, order=rarely(random, int(random.integers(0, 4)), -1), radius=2)


def gaussian1d(random: Random) -> Arguments:
    x = image(random)
    kwargs = _boundary(random, x.ndim, is_each=False) | _some(random, order=int(random.integers(0, 4)), truncate=3.0)
    return [x, float(random.integers(1, 5)) / 2, _axis(random, x.ndim)], kwargs


def along(random: Random) -> Arguments:
    x = image(random)
    return [x, _axis(random, x.ndim)], _boundary(random, x.ndim)


def along_of_size(random: Random) -> Arguments:
    x = image(random)
    kwargs = _boundary(random, x.ndim, is_each=False) | _some(random, origin=int(random.integers(-2, 3)))
    return [x, rarely(random, int(random.integers(1, 7)), 0), _axis(random, x.ndim)], kwargs


def plain(random: Random) -> Arguments:
    x = image(random)
    return [x], _boundary(random, x.ndim) | _axes(random, x.ndim)


def binary(random: Random) -> Arguments:
    x = array(random, int(random.integers(1, 4)), one_of(random, "bool", dtype_of(random)))
    structure = array(random, rarely(random, x.ndim, x.ndim + 1), "bool", 3)
    mask = sample(x.shape, "bool", 1)
    options = {"iterations": int(random.integers(-1, 4)), "structure": structure, "mask": mask, "border_value": 1}
    origin = _origin(random, x.ndim) if min(structure.shape, default=0) > 2 else 0  # SciPy does not check others
    return [x], _some(random, **options, origin=origin)


def hit_or_miss(random: Random) -> Arguments:
    x = array(random, int(random.integers(1, 3)), "bool")
    structures = (array(random, x.ndim, "bool", 3) for _ in range(2))
    return [x], _some(random, structure1=next(structures), structure2=next(structures))


def fill_holes(random: Random) -> Arguments:
    return [array(random, int(random.integers(1, 4)), "bool")], {}


def label(random: Random) -> Arguments:
    x = array(random, int(random.integers(1, 4)), one_of(random, "bool", dtype_of(random)))
    return [x], _some(random, structure=np.ones((3,) * rarely(random, x.ndim, x.ndim + 1)))


def distances(random: Random) -> Arguments:
    x = array(random, int(random.integers(1, 4)), one_of(random, "bool", "uint8"))
    return [x], _some(random, return_indices=True, sampling=[float(k) + 0.5 for k in range(x.ndim)])


def distances_by_metric(random: Random) -> Arguments:
    x = array(random, int(random.integers(1, 4)), one_of(random, "bool", "uint8"))
    metric = rarely(random, one_of(random, "taxicab", "chessboard", "cityblock"), "none")
    return [x, metric], _some(random, return_indices=True)


def distances_to_all(random: Random) -> Arguments:
    (x, metric), kwargs = distances_by_metric(random)
    return [x, one_of(random, metric, "euclidean")], kwargs | _some(random, sampling=1.5)


def measured(random: Random) -> Arguments:
    x = image(random)
    labels = random.integers(0, 4, x.shape).astype(one_of(random, "int32", "int64", "uint8"))
    index = one_of(random, None, 1, [1, 2], [3, 1, 9], np.array([[1, 2], [0, 7]]))
    return [x], one_of(random, {}, {"labels": labels}, {"labels": labels, "index": index})


def histogram(random: Random) -> Arguments:
    args, kwargs = measured(random)
    return [*args, -5, one_of(random, 5, 11.5), rarely(random, int(random.integers(1, 9)), 0)], kwargs


def _interpolation(random: Random, ndim: int) -> dict[str, Any]:
    order = {"order": rarely(random, int(random.integers(0, 6)), 6)}
    return order | _boundary(random, ndim, is_each=False) | _some(random, prefilter=False)


def coordinates(random: Random) -> Arguments:
    x = image(random)
    shape = (rarely(random, x.ndim, x.ndim + 1), *random.integers(1, 6, int(random.integers(1, 3))))
    at = random.random(shape) * 14 - 3
    return [x, rarely(random, at, np.rint(at))], _interpolation(random, x.ndim)


def shift(random: Random) -> Arguments:
    x = image(random)
    by = one_of(random, float(random.integers(-9, 9)) / 4, [float(v) / 4 for v in random.integers(-9, 9, x.ndim)])
    return [x, by], _interpolation(random, x.ndim)


def zoom(random: Random) -> Arguments:
    x = image(random)
    by = float(random.integers(1, 12)) / 4
    options = _interpolation(random, x.ndim) | _some(random, grid_mode=True)
    return [x, one_of(random, by, [by] * x.ndim)], options


def affine(random: Random) -> Arguments:
    x = image(random)
    n = x.ndim
    matrix = random.integers(-6, 7, one_of(random, (n,), (n, n), (n, n), (n, n + 1), (n + 1, n + 1))) / 4
    if matrix.ndim == 1:  # SciPy divides by its elements
        matrix[matrix == 0] = 1
    elif matrix.shape == (n + 1, n + 1):
        matrix[-1] = [0] * n + [1]
    kwargs = _some(random, offset=float(random.integers(-9, 9)) / 4, output_shape=tuple([5] * n))
    return [x, matrix], kwargs | _interpolation(random, n)


def rotate(random: Random) -> Arguments:
    x = sample(random.integers(1, 9, int(random.integers(2, 4))), dtype_of(random))
    kwargs = _interpolation(random, x.ndim) | _some(random, reshape=False, axes=(0, rarely(random, x.ndim - 1, x.ndim)))
    return [x, float(random.integers(0, 24)) * 15], kwargs


def spline(random: Random) -> Arguments:
    x = image(random)
    mode = rarely(random, str(random.choice(MODES)), "around")
    return [x], {"order": rarely(random, int(random.integers(2, 6)), 1), "mode": mode}


def spline1d(random: Random) -> Arguments:
    args, kwargs = spline(random)
    return args, kwargs | {"axis": _axis(random, args[0].ndim)}


def fourier(random: Random) -> Arguments:
    x = image(random)
    by = float(random.integers(0, 9)) / 2
    return [x, one_of(random, by, [by] * x.ndim)], _some(random, n=int(random.integers(4, 9)))


def one_image(random: Random) -> Arguments:
    return [image(random)], {}


# -- signals ----------------------------------------------------------------------------------------------------------


def pair(random: Random) -> Arguments:
    n = int(random.integers(1, 4))
    args = [array(random, n), array(random, rarely(random, n, n + 1))]
    kwargs = _some(random, mode=rarely(random, one_of(random, "full", "same", "valid"), "most"))
    return args, kwargs


def pair_by_method(random: Random) -> Arguments:
    args, kwargs = pair(random)
    return args, kwargs | _some(random, method=rarely(random, one_of(random, "direct", "fft", "auto"), "best"))


def pair_along(random: Random) -> Arguments:
    args, kwargs = pair(random)
    return args, kwargs | _some(random, axes=_axis(random, args[0].ndim))


def pair_of_images(random: Random) -> Arguments:
    n = rarely(random, 2, 1)
    boundary = rarely(random, one_of(random, "fill", "wrap", "symm"), "none")
    kwargs = _some(random, mode=one_of(random, "full", "same", "valid"), boundary=boundary, fillvalue=2)
    first = sample(random.integers(1, 9, n), dtype_of(random))  # SciPy divides by zero if it is empty
    return [first, array(random, n, most=5)], kwargs


def transfer(random: Random) -> tuple[Any, Any]:
    """Return stable coefficients, rarely none."""
    b = rarely(random, random.standard_normal(int(random.integers(1, 5))), np.zeros(0))
    a = np.array([1.0, *(random.random(int(random.integers(0, 4))) / 4)]) * one_of(random, 1.0, 2.0)
    return b, rarely(random, a, np.zeros(2))


def lfilter(random: Random) -> Arguments:
    x = image(random)
    b, a = transfer(random)
    axis = _axis(random, x.ndim)
    kwargs: dict[str, Any] = {"axis": axis}
    if random.random() < 0.4:
        shape = list(x.shape)
        shape[axis if axis < x.ndim else 0] = max(len(a), len(b)) - 1
        kwargs["zi"] = sample(shape, "float64")
    return [b, a, x], kwargs


def filtfilt(random: Random) -> Arguments:
    x = image(random)
    padding = one_of(random, "odd", "even", "constant", None)
    kwargs = {"axis": _axis(random, x.ndim)} | _some(random, padtype=padding, padlen=int(random.integers(0, 5)))
    if random.random() < 0.2:
        kwargs |= {"method": "gust"} | _some(random, irlen=int(random.integers(1, 5)))
    return [*transfer(random), x], kwargs


def _sections(random: Random) -> Any:
    rows = int(random.integers(1, 4))
    result = np.concatenate([random.standard_normal((rows, 3)), np.ones((rows, 1)), random.random((rows, 2)) / 4], 1)
    return rarely(random, result, result[:, :5])


def sosfilt(random: Random) -> Arguments:
    x = image(random)
    sections, axis = _sections(random), _axis(random, x.ndim)
    kwargs: dict[str, Any] = {"axis": axis}
    if random.random() < 0.4:
        shape = list(x.shape)
        shape[axis if axis < x.ndim else 0] = 2
        kwargs["zi"] = sample((len(sections), *shape), "float64")
    return [sections, x], kwargs


def sosfiltfilt(random: Random) -> Arguments:
    x = image(random)
    return [_sections(random), x], {"axis": _axis(random, x.ndim)} | _some(random, padlen=int(random.integers(0, 5)))


def segments(random: Random) -> Arguments:
    x = line(random) if random.random() < 0.7 else image(random)
    size = int(random.integers(1, 20))
    options = {
        "fs": 2.5,
        "window": one_of(random, "hann", "boxcar", ("tukey", 0.25), np.ones(size)),
        "nperseg": size,
        "noverlap": rarely(random, size // 2, size + 1),
        "nfft": size + int(random.integers(-1, 9)),
        "detrend": one_of(random, "constant", "linear", False),
        "return_onesided": False,
        "scaling": rarely(random, one_of(random, "density", "spectrum"), "power"),
        "axis": _axis(random, x.ndim),
    }
    return [x], _some(random, **options)


def periodogram(random: Random) -> Arguments:
    args, kwargs = segments(random)
    return args, {name: value for name, value in kwargs.items() if name not in ("nperseg", "noverlap")}


def two_segments(random: Random) -> Arguments:
    args, kwargs = segments(random)
    other = sample(args[0].shape, one_of(random, "float32", "float64"), 5)
    return [*args, other], {name: v for name, v in kwargs.items() if name != "return_onesided"}


def coherence(random: Random) -> Arguments:
    args, kwargs = two_segments(random)
    kwargs.pop("scaling", None)
    return args, {"nperseg": 4} | kwargs | {"detrend": False}  # what it leaves of a mean is rounding errors


def stft(random: Random) -> Arguments:
    args, kwargs = segments(random)
    kwargs["scaling"] = rarely(random, one_of(random, "psd", "spectrum"), "power")
    boundary = rarely(random, one_of(random, "zeros", "even", "odd", "constant", None), "most")
    return args, kwargs | _some(random, boundary=boundary, padded=False)


def istft(random: Random) -> Arguments:
    size = int(random.integers(1, 9))
    shape = (size // 2 + 1, int(random.integers(1, 6)))
    return [sample(shape, "complex128")], {"nperseg": size} | _some(random, boundary=False, noverlap=size // 2)


def resample(random: Random) -> Arguments:
    x = image(random)
    window = one_of(random, None, "hann", ("kaiser", 3.0))
    kwargs = {"axis": _axis(random, x.ndim)} | _some(random, window=window)
    return [x, rarely(random, int(random.integers(1, 15)), 0)], kwargs


def resample_poly(random: Random) -> Arguments:
    x = image(random)
    rates = [rarely(random, int(random.integers(1, 6)), 0), int(random.integers(1, 6))]
    padding = rarely(random, one_of(random, "constant", "line", "mean", "median", "maximum", "minimum"), "most")
    options = {"padtype": padding, "window": one_of(random, "hamming", np.ones(5))}
    return [x, *rates], {"axis": _axis(random, x.ndim)} | _some(random, **options)


def upfirdn(random: Random) -> Arguments:
    # at least two elements, because SciPy divides by zero for some modes otherwise
    x = sample(random.integers(2, 9, int(random.integers(1, 4))), dtype_of(random))
    mode = one_of(random, "constant", "symmetric", "edge", "wrap", "reflect", "smooth", "line", "none")
    rates = [rarely(random, int(random.integers(1, 5)), 0), int(random.integers(1, 5))]
    return [line(random, most=9), x, *rates], {"axis": _axis(random, x.ndim)} | _some(random, mode=mode)


def decimate(random: Random) -> Arguments:
    x = line(random)
    options = _some(random, ftype=rarely(random, one_of(random, "iir", "fir"), "no"), zero_phase=False, n=4)
    return [x, int(random.integers(1, 5))], options


def savgol(random: Random) -> Arguments:
    x = image(random)
    length = int(random.integers(1, 8))
    mode = one_of(random, "interp", "mirror", "constant", "nearest", "wrap", "none")
    options = _some(random, deriv=int(random.integers(0, 3)), delta=0.5, mode=mode, cval=2.0)
    return [x, length, int(random.integers(0, 4))], options | {"axis": _axis(random, x.ndim)}


def detrend(random: Random) -> Arguments:
    x = image(random)
    kind = rarely(random, one_of(random, "linear", "constant"), "cubic")
    return [x], {"axis": _axis(random, x.ndim)} | _some(random, type=kind, bp=one_of(random, 0, [2], [3, 1]))


def hilbert(random: Random) -> Arguments:
    x = image(random)
    return [x], {"axis": _axis(random, x.ndim)} | _some(random, N=int(random.integers(0, 12)))


def chirp_transform(random: Random) -> Arguments:
    x = image(random)
    return [x], {"axis": _axis(random, x.ndim)} | _some(random, m=int(random.integers(0, 9)))


def zoom_fft(random: Random) -> Arguments:
    (x,), kwargs = chirp_transform(random)
    return [x, one_of(random, 0.4, [0.1, 0.7], [0.1, 0.2, 0.3])], kwargs | _some(random, endpoint=True)


def medfilt(random: Random) -> Arguments:
    x = image(random)
    return [x], _some(random, kernel_size=one_of(random, 1, 3, 5, 4, [3] * x.ndim))


def wiener(random: Random) -> Arguments:
    x = image(random)
    return [x], _some(random, mysize=one_of(random, 1, 3, [3] * x.ndim), noise=0.5)


def deconvolve(random: Random) -> Arguments:
    return [line(random, 6), line(random, rarely(random, 1, 0), 6)], {}


def waveform(random: Random) -> Arguments:
    return [line(random)], _some(random, width=one_of(random, 0.3, 0.0, 1.0, 2.0))


def extremum(random: Random) -> Arguments:
    x = image(random)
    options = _some(random, axis=_axis(random, x.ndim), order=rarely(random, 2, 0), mode=one_of(random, "clip", "wrap"))
    return [x], options


def band(random: Random) -> Arguments:
    x = array(random, int(random.integers(1, 3)), most=16)
    ends = int(random.integers(-8, 8)), int(random.integers(-8, 9))
    options = {
        "bp_in": one_of(random, ends, (min(ends), max(ends)), (1, None), (None, 3), (None, None)),
        "n_out": int(random.integers(1, 30)),
        "squared": True,
        "residual": one_of(random, "all", "lowpass", None, rarely(random, "all", "most")),
        "axis": _axis(random, x.ndim),
    }
    return [x], _some(random, **options)


def samples(random: Random) -> Arguments:
    return [line(random, 3)], _some(random, lamb=one_of(random, 0.0, 0.5, 20.0))


def quadratic(random: Random) -> Arguments:
    return [line(random, 1)], _some(random, lamb=rarely(random, 0.0, 1.0))


def grid(random: Random) -> Arguments:
    x = sample(random.integers(rarely(random, 20, 1), 30, 2), dtype_of(random), int(random.integers(99)))
    return [x], _some(random, lamb=rarely(random, 0.0, 0.5), precision=0.01)


def smoothed(random: Random) -> Arguments:
    x = sample(random.integers(30, 50, 2), one_of(random, "float32", "float64", "int32"))
    return [x], _some(random, lmbda=float(random.integers(1, 9)))


def spline_values(random: Random) -> Arguments:
    coefficients, x = rarely(random, line(random, 2), np.zeros(0)), image(random)
    x = x if x.dtype.kind in "biu" or x.dtype.itemsize > 2 else x.astype("float32")
    return [coefficients, x.real], _some(random, dx=0.5, x0=2)


def gaussian_values(random: Random) -> Arguments:
    return [image(random), int(random.integers(0, 5))], {}


def one_pole(random: Random) -> Arguments:
    x = sample((*random.integers(1, 4, int(random.integers(0, 3))), 40), dtype_of(random))
    return [x, 2.0, rarely(random, random.random() - 0.5, 1.5)], _some(random, precision=0.01)


def two_poles(random: Random) -> Arguments:
    x = sample((*random.integers(1, 4, int(random.integers(0, 3))), 60), dtype_of(random))
    poles = [rarely(random, random.random() / 2, 1.5), random.random() * 3]
    return [x, *poles], _some(random, precision=0.01)


def two_filters(random: Random) -> Arguments:
    x = sample(random.integers(5, 9, rarely(random, 2, 1)), dtype_of(random))
    dtype = one_of(random, "float32", "float64")
    return [x, *(sample(rarely(random, int(random.integers(0, 3)) * 2 + 1, 2), dtype) for _ in range(2))], {}


NDIMAGE: Final[dict[Callable[[Random], Arguments], str]] = {
    by_size: "uniform_filter median_filter maximum_filter minimum_filter grey_dilation grey_erosion grey_opening "
    "grey_closing white_tophat black_tophat morphological_gradient morphological_laplace",
    by_rank: "rank_filter",
    by_percentile: "percentile_filter",
    by_weights: "correlate convolve",
    by_weights1d: "correlate1d convolve1d",
    by_sigma: "gaussian_laplace gaussian_gradient_magnitude",
    gaussian: "gaussian_filter",
    gaussian1d: "gaussian_filter1d",
    along: "sobel prewitt",
    along_of_size: "uniform_filter1d maximum_filter1d minimum_filter1d",
    plain: "laplace",
    binary: "binary_dilation binary_erosion",
    hit_or_miss: "binary_hit_or_miss",
    fill_holes: "binary_fill_holes",
    label: "label",
    distances: "distance_transform_edt",
    distances_by_metric: "distance_transform_cdt",
    distances_to_all: "distance_transform_bf",
    measured: "sum sum_labels mean variance standard_deviation minimum maximum extrema center_of_mass median "
    "minimum_position maximum_position",
    histogram: "histogram",
    coordinates: "map_coordinates",
    shift: "shift",
    zoom: "zoom",
    affine: "affine_transform",
    rotate: "rotate",
    spline: "spline_filter",
    spline1d: "spline_filter1d",
    fourier: "fourier_gaussian fourier_uniform fourier_shift fourier_ellipsoid",
}
SIGNAL: Final[dict[Callable[[Random], Arguments], str]] = {
    pair_by_method: "convolve correlate",
    pair_along: "fftconvolve oaconvolve",
    pair_of_images: "convolve2d correlate2d",
    lfilter: "lfilter",
    filtfilt: "filtfilt",
    sosfilt: "sosfilt",
    sosfiltfilt: "sosfiltfilt",
    segments: "welch spectrogram",
    periodogram: "periodogram",
    two_segments: "csd",
    coherence: "coherence",
    stft: "stft",
    istft: "istft",
    resample: "resample",
    resample_poly: "resample_poly",
    upfirdn: "upfirdn",
    decimate: "decimate",
    savgol: "savgol_filter",
    detrend: "detrend",
    hilbert: "hilbert",
    one_image: "hilbert2 find_peaks",
    chirp_transform: "czt",
    zoom_fft: "zoom_fft",
    medfilt: "medfilt medfilt2d",
    wiener: "wiener",
    deconvolve: "deconvolve",
    waveform: "sawtooth square",
    extremum: "argrelmax argrelmin",
    band: "envelope",
    samples: "cspline1d",
    quadratic: "qspline1d",
    grid: "cspline2d qspline2d",
    smoothed: "spline_filter",
    spline_values: "cspline1d_eval qspline1d_eval",
    gaussian_values: "gauss_spline",
    one_pole: "symiirorder1",
    two_poles: "symiirorder2",
    two_filters: "sepfir2d",
}
FUNCTIONS: Final = [
    (package, name, make)
    for package, table in (("ndimage", NDIMAGE), ("signal", SIGNAL))
    for make, names in table.items()
    for name in names.split()
]


def random_call(seed: int) -> Call:
    """Return the call of a seed."""
    random = np.random.default_rng(seed)
    package, name, make = FUNCTIONS[int(random.integers(len(FUNCTIONS)))]
    args, kwargs = make(random)
    return Call(package, name, args, kwargs)
