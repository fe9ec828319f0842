"""Random calls of scipy.ndimage and scipy.signal: values, dtypes and errors of the compositions are SciPy's."""

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from ndimage_cases import placed
from random_filters import Call, random_call
from scipy import ndimage, signal

import gpuarray as xp
from gpuarray.scipy import ndimage as our_ndimage
from gpuarray.scipy import signal as our_signal

#: Calls that one of both refuses: the name, SciPy's class of errors and ours; None is a result.
REFUSED = {
    ("convolve", IndexError, None),  # SciPy looks at the first element of results without elements
    ("correlate", IndexError, None),
    ("correlate", ValueError, None),  # nor does it find the method for arrays without elements
    ("convolve", None, ValueError),
    ("savgol_filter", ValueError, None),  # LAPACK takes no empty matrices
    ("wiener", ValueError, None),
    ("zoom", ValueError, None),
    ("detrend", ValueError, None),  # LAPACK takes no empty matrices
    ("histogram", ValueError, None),  # SciPy takes no labels of several axes
    ("resample", ZeroDivisionError, ValueError),
    ("resample", None, ValueError),  # SciPy may not look at the axis
    ("filtfilt", IndexError, ValueError),  # without coefficients
    ("filtfilt", None, ValueError),  # SciPy looks at the axis only if the filter has states
    ("stft", None, ValueError),
    ("spline_filter1d", None, ValueError),
}
#: Functions whose results in other dtypes than these kinds follow from rounding errors or the order of equal elements.
UNDEFINED = {
    "affine_transform": "fc", "geometric_transform": "fc", "map_coordinates": "fc", "rotate": "fc", "shift": "fc",
    "spline_filter": "fc", "spline_filter1d": "fc", "zoom": "fc", "sobel": "iufc", "prewitt": "iufc",
    "extrema": "fc", "maximum_position": "fc", "minimum_position": "fc",
}  # fmt: skip
_FIRST = """
affine_transform convolve convolve1d convolve2d correlate correlate1d correlate2d cspline1d cspline2d detrend
fftconvolve gaussian_filter gaussian_filter1d gaussian_laplace laplace map_coordinates prewitt qspline1d qspline2d
resample resample_poly savgol_filter sepfir2d shift sobel spline_filter spline_filter1d symiirorder1 symiirorder2
uniform_filter uniform_filter1d zoom
"""
#: Functions that are linear in one array, with its place among the arguments.
LINEAR = {"filtfilt": 2, "lfilter": 2, "sosfilt": 1, "upfirdn": 1} | dict.fromkeys(_FIRST.split(), 0)
#: Arguments by which they are not.
_OFFSETS = ("cval", "fillvalue", "output", "zi")
WIDE = {"int32", "int64", "float64", "complex128"}


class Compositions:
    """A subpackage whose functions are the compositions, also where the device is the host."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.module, name)
        return getattr(function, "composition", function)


THEIRS = SimpleNamespace(ndimage=ndimage, signal=signal)
OURS = SimpleNamespace(ndimage=Compositions(our_ndimage), signal=Compositions(our_signal))


def outcome(call: Call, namespace: Any, put: Any) -> Any:
    """Return the arrays that a call returns, or its error."""
    try:
        return [np.asarray(part) for part in parts(call.run(namespace, put))]
    except Exception as error:
        return error


def parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.tolist()
    return [part for item in value for part in parts(item)] if isinstance(value, list | tuple) else [value]


def is_accepted(call: Call, wanted: Any, result: Any) -> bool:
    """Return whether our error is of SciPy's class, or the difference is known."""
    theirs = type(wanted) if isinstance(wanted, Exception) else None
    if not isinstance(result, Exception):
        return (call.name, theirs, None) in REFUSED
    if theirs is None and isinstance(result, RuntimeError):  # SciPy checks no dtype where there are no elements
        return not all(x.size for x in (*call.args, *wanted) if isinstance(x, np.ndarray))
    return isinstance(result, theirs or ()) or any((call.name, theirs, one) in REFUSED for one in type(result).__mro__)


def difference(call: Call) -> str:
    """Return how our outcome of a call differs from SciPy's; an empty text if it does not."""
    arrays = [value for value in (*call.args, *call.kwargs.values()) if isinstance(value, np.ndarray)]
    if any(x.dtype.kind not in UNDEFINED.get(call.name, "biufc") for x in arrays):
        return ""
    expected = outcome(call, THEIRS, lambda value: value.copy() if isinstance(value, np.ndarray) else value)
    result = outcome(call, OURS, placed)
    if isinstance(expected, Exception) or isinstance(result, Exception):
        if is_accepted(call, expected, result):
            return ""
        return f"SciPy: {expected!r}; ours: {result!r}"
    kinds = [[(part.dtype, part.shape) for part in one] for one in (expected, result)]
    if kinds[0] != kinds[1]:
        return f"dtypes SciPy: {kinds[0]}; ours: {kinds[1]}"
    dtypes = {x.dtype.name for x in (*arrays, *expected)}
    is_half, is_narrow = "float16" in dtypes, not dtypes <= WIDE
    tolerance = 2e-2 if is_half else 2e-4 if is_narrow else 1e-9
    for one, other in zip(expected, result, strict=True):
        if one.dtype.kind not in "fc":
            is_same = bool((one == other).all())
        else:
            largest = float(np.abs(one[np.isfinite(one)]).max(initial=1))
            is_same = np.allclose(other, one, rtol=tolerance, atol=tolerance * largest, equal_nan=True)
        if not is_same:
            return f"SciPy: {one.ravel()[:9]}; ours: {other.ravel()[:9]}"
    return ""


@pytest.mark.parametrize(("device", "calls"), [("cpu", 400), ("wgpu", 16)])
def test_call(device, calls):
    @settings(phases=[Phase.generate], max_examples=calls)  # a case is a seed: nothing shrinks
    @given(st.integers(0, 2**32 - 1))
    def check(seed):
        call = random_call(seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"), xp.using(device=device):
            warnings.simplefilter("ignore")
            result = difference(call)
        assert not result, f"seed {seed}, {device}: {call.name}(*{call.args}, **{call.kwargs}): {result}"

    check()


@pytest.mark.parametrize(("device", "calls"), [("cpu", 300), ("wgpu", 12)])
def test_gradient_of_a_linear_function_is_its_adjoint(device, calls):
    @settings(phases=[Phase.generate], max_examples=calls)
    @given(st.integers(0, 2**32 - 1))
    def check(seed):
        package, name, args, kwargs = random_call(seed)
        place = LINEAR.get(name)
        if place is None:
            return
        x = np.asarray(args[place]).real.astype(np.float64)
        before, behind = args[:place], args[place + 1 :]
        call = Call(package, name, [*before, x, *behind], {k: v for k, v in kwargs.items() if k not in _OFFSETS})
        expected = outcome(call, THEIRS, lambda value: value)
        if isinstance(expected, Exception) or expected[0].dtype != np.float64 or not expected[0].size:
            return
        weights = np.random.default_rng(seed).random(expected[0].shape)

        def total(x):
            result = call._replace(args=[*before, x, *behind]).run(OURS, placed)
            return (result * xp.asarray(weights)).sum()

        try:
            gradient = np.asarray(xp.grad(total)(xp.asarray(x)))
        except ValueError:
            assert (name, None, ValueError) in REFUSED
            return
        terms, shares = expected[0] * weights, gradient * x
        bound = 1e-8 * max(1, np.abs(terms).sum(), np.abs(shares).sum())
        assert abs(terms.sum() - shares.sum()) <= bound, f"seed {seed}, {device}: {call}"

    with warnings.catch_warnings(), np.errstate(all="ignore"), xp.using(device=device):
        warnings.simplefilter("ignore")
        check()
