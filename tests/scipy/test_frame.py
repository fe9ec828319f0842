"""What all functions of gpuarray.scipy have in common."""

import copy
import pickle
import subprocess
import sys
import weakref
from importlib import import_module
from inspect import isbuiltin, signature, unwrap

import numpy as np
import pytest
from scipy import linalg as scipy_linalg
from scipy import ndimage, signal
from scipy import special as scipy_special

import gpuarray as xp
import gpuarray.scipy.linalg as sla
import gpuarray.scipy.ndimage as ndi
import gpuarray.scipy.signal as sig
from gpuarray.functions.fallback import seen
from gpuarray.functions.host_results import in_order_of_memory, in_own_memory
from gpuarray.functions.registry import HOST, KINDS
from gpuarray.scipy import SUBPACKAGES, fft, special, stats
from gpuarray.scipy._calls import run_if_host, run_scipy
from gpuarray.scipy._mirror import IMPLEMENTATIONS
from gpuarray.scipy.ndimage import _arguments


def functions():
    for package in SUBPACKAGES:
        import_module(f"gpuarray.scipy.{package}")
    return [(package, name) for package, table in sorted(IMPLEMENTATIONS.items()) for name in sorted(table)]


@pytest.mark.parametrize(("package", "name"), functions())
def test_function_has_scipys_name_and_parameters(package, name):
    theirs = getattr(import_module(f"scipy.{package}"), name)
    ours = getattr(import_module(f"gpuarray.scipy.{package}"), name)
    kind, reason, function = IMPLEMENTATIONS[package][name]
    assert function is ours
    assert kind in KINDS
    assert reason or kind != HOST
    assert ours.__doc__
    if kind != HOST and not isbuiltin(unwrap(theirs)):  # those state no parameters
        assert [*signature(ours).parameters] == [*signature(theirs).parameters]


def test_functions_are_like_those_of_python():
    for function in (ndi.sobel, sig.lfilter, special.erf, special.yn):
        assert pickle.loads(pickle.dumps(function)) is copy.deepcopy(function) is weakref.ref(function)() is function
        assert repr(function).startswith(f"<function {function.__name__} at ")
        assert function.__module__.startswith("gpuarray.scipy.")
        assert type("Holder", (), {"method": function})().method.__func__ is function


def test_warnings_of_small_calls_name_the_line_of_the_call():
    x = np.array([0.5, 1.5])
    with xp.using(device="cpu"), pytest.warns(RuntimeWarning, match="truncated") as caught:
        special.yn(xp.asarray(x), xp.asarray(x))
    assert {warning.filename for warning in caught} == {__file__}


def test_small_calls_choose_the_loop_that_scipy_chooses():
    x = np.array([0.5, np.nan])
    with xp.using(device="cpu"):
        for degree in (0, 1, 0.5):  # integers have a loop of their own, which need not read the elements
            ours = special.eval_chebyt(degree, xp.asarray(x)).get()
            np.testing.assert_array_equal(ours, scipy_special.eval_chebyt(degree, x))
        for kind in (np.float32, np.int16, np.complex128):
            ours, expected = (
                special.gamma(xp.asarray(x[:1].astype(kind) + 1)),
                scipy_special.gamma(x[:1].astype(kind) + 1),
            )
            assert ours.dtype == expected.dtype
            np.testing.assert_array_equal(ours.get(), expected)


def test_missing_name_says_what_to_do():
    with pytest.raises(AttributeError, match=r"use scipy\.ndimage\.\w+ with gpuarray\.asnumpy\(x\)|no attribute"):
        ndi.no_such_name
    with pytest.raises(AttributeError, match=r"'gpuarray.scipy' has no attribute 'integrate': use scipy.integrate"):
        xp.scipy.integrate


def test_without_scipy_the_import_says_what_to_install():
    code = "import sys; sys.modules['scipy'] = None; import gpuarray; gpuarray.sum; import gpuarray.scipy"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: gpuarray.scipy needs SciPy; install it with `pip install scipy`" in finished.stderr


def test_import_of_the_package_does_not_import_scipy():
    code = "import sys, gpuarray; assert 'scipy' not in sys.modules; gpuarray.scipy.ndimage.fourier_shift"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_scipy_computes_on_values_of_the_host(monkeypatch):
    x = np.arange(12.0).reshape(3, 4)
    with xp.using(device="cpu"):
        a = xp.asarray(x)
        memory = a.node().host
        result = ndi.fourier_shift(a, 1.5)
        assert np.array_equal(result.get(), ndimage.fourier_shift(x, 1.5))
        assert not result.node().depth
        assert memory is a.node().host
        assert xp.stats()["fallbacks"] == 0


_KEPT = np.arange(3.0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x,
        lambda x: x[1:],
        lambda x: np.asarray(x).T,
        lambda x: _KEPT,
        lambda x: (x * 2)[1:],
        lambda x: np.diff(x)[:],
        lambda x: [x, _KEPT, 3, "text"],
        lambda x: {"kept": _KEPT, "pair": (x, np.zeros((2, 3)).T)},
        lambda x: np.broadcast_to(x, (2, 4)),
    ],
)
def test_results_of_small_arrays_have_their_own_memory(function):
    def arrays(value):
        items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        return [value] if hasattr(value, "shape") else [array for item in items for array in arrays(item)]

    x = np.arange(4.0)
    with xp.using(device="cpu"):
        a = xp.asarray(x)
        result = run_if_host(function, (a,), {})
        assert type(result) is type(function(x)) or isinstance(result, xp.ndarray)
        for ours, theirs in zip(arrays(result), arrays(function(x)), strict=True):
            assert isinstance(ours, xp.ndarray)
            np.testing.assert_array_equal(ours.get(), theirs)
            ours[...] = 7
    np.testing.assert_array_equal(a.get(), x)
    np.testing.assert_array_equal(_KEPT, np.arange(3.0))


def test_targets_by_position():
    x = np.arange(12, dtype=np.int16).reshape(3, 4)
    with xp.using(device="cpu"):
        a = xp.asarray(x)
        for target in (None, np.float32, "f8"):
            result = ndi.sobel(a, 0, target, "nearest")
            expected = ndimage.sobel(x, 0, target, "nearest")
            assert result.dtype == expected.dtype
            np.testing.assert_array_equal(result.get(), expected)
        for target in (xp.zeros((3, 4)), np.zeros((3, 4))):
            ndi.sobel(a, 0, target, "nearest")
            np.testing.assert_array_equal(np.asarray(target), ndimage.sobel(x, 0, np.float64, "nearest"))


def test_results_of_small_arrays_are_arrays_of_the_package():
    x = np.sin(np.arange(40.0))
    with xp.using(device="cpu"):
        a = xp.asarray(x)
        peaks, properties = sig.find_peaks(a, height=0, distance=2)
        b, d = sig.butter(2, 0.5)
        single = ndi.sum_labels(a)
        labels, count = ndi.label(a > 0)
    for array in (peaks, properties["peak_heights"], b, d, single, labels):
        assert isinstance(array, xp.ndarray)
        assert array.device.kind == "cpu"
    assert type(count) is int
    assert peaks.tolist() == signal.find_peaks(x, distance=2)[0].tolist()


def test_small_arrays_are_not_written_to():
    x = np.arange(8.0)
    with xp.using(device="cpu"):
        a = xp.asarray(x)
        sig.detrend(a, overwrite_data=True)
        same = sig.convolve(a, [1.0])
        same[0] = 9
        assert a.tolist() == x.tolist()
        with pytest.raises(RuntimeError, match="mode not supported"):
            ndi.correlate1d(a, [1.0], mode="spam")


@pytest.mark.parametrize("given", ["ours", "numpy", "dtype", "itself"])
def test_output(device, given):
    x = np.arange(12, dtype=np.complex64).reshape(3, 4)
    a = xp.asarray(x)
    expected = ndimage.fourier_shift(x, 0.5)
    if given == "dtype":
        result = ndi.fourier_shift(a, 0.5, output=np.complex64)
    else:
        target = {"ours": xp.zeros((3, 4), np.complex64), "numpy": np.zeros((3, 4), np.complex64), "itself": a}[given]
        result = ndi.fourier_shift(a, 0.5, output=target)
        assert result is target
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5, atol=1e-5)


def test_errors_are_scipys_at_the_users_line(device):
    a = xp.ones((3, 4), np.float32)
    with pytest.raises(RuntimeError, match="sequence argument must have length equal to input rank"):
        ndi.fourier_shift(a, [1, 2, 3])
    with pytest.raises(RuntimeError, match="shape"):
        ndi.fourier_shift(a, 1, output=xp.ones((2, 2), np.complex64))


def test_functions_of_the_host_are_counted():
    x = np.zeros((5, 5), np.uint8)
    markers = np.zeros((5, 5), np.int8)
    markers[1, 1] = 1
    markers[3, 3] = -1
    with xp.using(device="wgpu"):
        result = ndi.watershed_ift(xp.asarray(x), xp.asarray(markers))
        assert xp.stats()["fallbacks"] == 1
    assert np.array_equal(result.get(), ndimage.watershed_ift(x, markers))


def test_results_take_part_in_graphs_and_derivatives():
    with xp.using(device="cpu"):
        x = xp.asarray(np.arange(6.0))
        rate = xp.grad(lambda a: ndi.fourier_uniform(a, 2.0).sum())(x)
        np.testing.assert_allclose(rate.get(), ndimage.fourier_uniform(np.ones(6), 2.0), atol=1e-12)
        compiled = xp.jit(lambda a: ndi.fourier_gaussian(a + 1, 1.0) * 2)
        for _ in range(3):
            np.testing.assert_allclose(compiled(x).get(), ndimage.fourier_gaussian(np.arange(6.0) + 1, 1.0) * 2)


REPEATED = {
    "sobel": (lambda x, y: ndi.sobel(x, 0), lambda x, y: ndimage.sobel(x, 0)),
    "a view": (lambda x, y: ndi.laplace(x[::2].T) + 1, lambda x, y: ndimage.laplace(x[::2].T) + 1),
    "two arrays": (
        lambda x, y: ndi.map_coordinates(x, y * 5, order=1),
        lambda x, y: ndimage.map_coordinates(x, y * 5, order=1),
    ),
    "one array twice": (lambda x, y: ndi.correlate(x, x), lambda x, y: ndimage.correlate(x, x)),
    "footprint": (
        lambda x, y: ndi.median_filter(x, footprint=xp.asarray(np.eye(3))),
        lambda x, y: ndimage.median_filter(x, footprint=np.eye(3)),
    ),
    "a fallback": (
        lambda x, y: ndi.distance_transform_edt(x > 0.5, return_indices=True)[1],
        lambda x, y: ndimage.distance_transform_edt(x > 0.5, return_indices=True)[1],
    ),
    "output": (
        lambda x, y: ndi.uniform_filter(x, 3, output=xp.zeros((2, 12), np.float32)),
        lambda x, y: ndimage.uniform_filter(x, 3),
    ),
    "coefficients": (
        lambda x, y: sig.lfilter(y[0, :3], [1, 0.5], x),
        lambda x, y: signal.lfilter(y[0, :3], [1, 0.5], x),
    ),
    "several results": (
        lambda x, y: xp.concat(sig.welch(x, nperseg=4)[1:] + sig.lfilter([1], [1, 0.5], x, zi=y[:, :1]), axis=1),
        lambda x, y: np.concatenate(
            signal.welch(x, nperseg=4)[1:] + signal.lfilter([1], [1, 0.5], x, zi=y[:, :1]), axis=1
        ),
    ),
    "complex coefficients": (
        lambda x, y: sig.lfilter([1j], [1, 0.5], x).imag,
        lambda x, y: signal.lfilter([1j], [1, 0.5], x).imag,
    ),
    "mask and structure": (
        lambda x, y: ndi.binary_dilation(x > 0.5, y[:, :3] > 0.2, 2, y > 0.3),
        lambda x, y: ndimage.binary_dilation(x > 0.5, y[:, :3] > 0.2, 2, y > 0.3),
    ),
    "until nothing changes": (
        lambda x, y: ndi.binary_dilation(x > 0.9, mask=y > 0.3, iterations=0),
        lambda x, y: ndimage.binary_dilation(x > 0.9, mask=y > 0.3, iterations=0),
    ),
    "mask of ranks": (
        lambda x, y: sig.order_filter(x, y[:1, :3] > 0.2, 0),
        lambda x, y: signal.order_filter(x, y[:1, :3] > 0.2, 0),
    ),
    "unchanged": (lambda x, y: ndi.gaussian_filter(x, 0), lambda x, y: ndimage.gaussian_filter(x, 0)),
}


@pytest.mark.parametrize("name", REPEATED)
def test_repeated_calls_have_values_of_their_own(name):
    ours, theirs = REPEATED[name]
    rng = np.random.default_rng(0)
    with xp.using(device="wgpu"):
        for _ in range(4):
            x, y = rng.random((2, 2, 12), np.float32)
            np.testing.assert_allclose(np.asarray(ours(xp.asarray(x), xp.asarray(y))), theirs(x, y), rtol=1e-4)


@pytest.mark.filterwarnings("ignore:Casting complex:numpy.exceptions.ComplexWarning")
def test_repeated_calls_on_the_host_are_counted_once():
    with xp.using(device="wgpu"):
        x = xp.ones(9, np.float32)
        for count in range(1, 4):
            sig.filtfilt([1j], [1, 0.5], x, method="gust")
            assert xp.stats()["fallbacks"] == count


def test_repeated_calls_follow_arguments_and_settings():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    with xp.using(device="wgpu"):
        a = xp.asarray(x)
        for _ in range(3):
            for size in (2, 3):
                np.testing.assert_allclose(ndi.uniform_filter(a, size), ndimage.uniform_filter(x, size), rtol=1e-5)
            with pytest.raises(RuntimeError, match="boundary mode not supported"):
                ndi.uniform_filter(a, 3, mode="none")
            gradient = xp.grad(lambda a: ndi.uniform_filter(a, 3).sum())(a)
            np.testing.assert_allclose(gradient, np.ones((3, 4)), rtol=1e-5)


def test_repeated_calls_tell_zeros_apart_by_their_signs():
    x = np.ones((3, 4), np.float32)
    with xp.using(device="wgpu"):
        a = xp.asarray(x)
        for edge in (0.0, 0.0, 0.0, -0.0, -0.0):
            result = ndi.shift(a, 1, order=1, cval=edge)
            np.testing.assert_array_equal(np.signbit(result), np.signbit(ndimage.shift(x, 1, order=1, cval=edge)))


def test_repeated_calls_warn_each_time():
    with xp.using(device="wgpu"):
        x = xp.ones((3, 4), np.float32)
        for _ in range(4):
            with pytest.warns(UserWarning, match="nperseg = 9 is greater") as result:
                sig.welch(x, nperseg=9)
            assert [warning.filename for warning in result] == [__file__]


def test_repeated_calls_have_the_device_that_arrays_have_together():
    x = np.ones((3, 4), np.float32)
    pinned = xp.asarray(x, device="wgpu")
    with xp.using(software=True):
        free = xp.asarray(x, device="auto")
        for _ in range(4):
            assert sig.fftconvolve(free, pinned).device == sig.fftconvolve(pinned, free).device == pinned.device


@pytest.mark.parametrize("call", ["binary_opening(x)", "binary_erosion(x, [[True, True]])", "zoom(y, 2)"])
def test_repeated_calls_check_their_arguments_once(call, monkeypatch):
    result = []
    check = _arguments.trial
    monkeypatch.setattr(_arguments, "trial", lambda *args, **kwargs: result.append(args) or check(*args, **kwargs))
    with xp.using(device="wgpu"):
        for seed in range(4):
            y = xp.asarray(np.random.default_rng(seed).random((7, 9), np.float32))
            eval(call, {**vars(ndi), "x": y > 0.5, "y": y})
    assert len(result) == 2  # what the second one recorded is copied


@pytest.mark.parametrize("output", [np.float32, "float32", np.dtype(np.float32)])
def test_dtypes_of_outputs_in_functions_that_call_functions(device, output):
    x = np.random.default_rng(0).random((9, 8))
    a = xp.asarray(x)

    def moved(at):
        return at[0] * 0.9 + 0.3, at[1] * 0.8

    results = [
        (ndi.geometric_transform(a, moved, output=output), ndimage.geometric_transform(x, moved, output=output)),
        (ndi.generic_laplace(a, ndi.sobel, output), ndimage.generic_laplace(x, ndimage.sobel, output)),
    ]
    for actual, expected in results:
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(actual, expected, rtol=1e-4)


def test_arrays_of_numpy_go_to_the_device_of_the_others():
    image, weights = np.random.default_rng(0).random((2, 5, 5))
    with xp.using(device="cpu"):
        on_device = xp.asarray(weights, device="wgpu")
        for name in ("convolve", "map_coordinates"):
            given = on_device if name == "convolve" else on_device[:2]
            for _ in range(3):
                result = getattr(ndi, name)(image, given)
                assert result.device == on_device.device
                np.testing.assert_allclose(result, getattr(ndimage, name)(image, given.get()), rtol=1e-10)


def test_results_that_are_the_begin_of_a_longer_array_are_not_copied():
    line = np.arange(1 << 14, dtype=np.float64)
    result = in_own_memory(line[:-5])
    assert result.base is None
    result[0] = 7  # a copy, because the line is needed further
    assert (line[0], len(line)) == (0, 1 << 14)
    start = line.__array_interface__["data"]
    begin = line[:-5].reshape(-1, 11)
    del line
    result = in_own_memory(begin)
    assert result.base is None
    assert result.flags.owndata
    assert result.__array_interface__["data"] == start
    np.testing.assert_array_equal(result, np.arange((1 << 14) - 5).reshape(-1, 11))


def test_elements_are_scalars_for_functions_of_the_host(device):
    """SciPy asks whether the distance is an integer of Python or NumPy."""
    for hop in xp.asarray([3, 5]):
        window, _ = sig.closest_STFT_dual_window(np.hanning(12)[1:-1], hop)
        np.testing.assert_allclose(window, signal.closest_STFT_dual_window(np.hanning(12)[1:-1], int(hop))[0])


def test_errors_of_jit_name_the_function():
    numerator = xp.asarray([1.0, 0.5])
    with pytest.raises(xp.errors.RecordingError, match=r"the value, for lfilter\(\), of an array"):
        xp.jit(lambda x: sig.lfilter(numerator, [1.0], x))(xp.ones(9))


def test_explanations_tell_choices():
    choices = {
        "one window: 9 elements": lambda x: ndi.sobel(x),
        "one axis after the other: 50 products an element, 625 in one window": lambda x: ndi.gaussian_filter(x, 3) * 2,
        "extremes of windows of 7 elements": lambda x: ndi.minimum_filter(x, 40),
        "a network of minima and maxima": lambda x: ndi.median_filter(x, 3),
        "25 products a sum: Fourier transforms": lambda x: sig.convolve(x, x[:5, :5], "same"),
        "Fourier transforms of 200 points": lambda x: sig.fftconvolve(x[0], x[1]) + 1,
    }
    with xp.using(device="wgpu"):
        x = xp.asarray(np.random.default_rng(0).random((100, 100), np.float32))
        for choice, function in choices.items():
            for _ in range(3):
                result = xp.explain(function(x))
                assert result.choices[0].startswith(choice)
                assert f"choice: {choice}" in str(result)
        assert xp.explain(x + 1).choices == ()


def test_results_with_exchanged_axes_are_taken_over():
    memory = np.arange(24.0).reshape(2, 3, 4)
    memory, kept = memory.copy(), memory.copy()
    start = memory.__array_interface__["data"][0]
    view = memory.transpose(2, 0, 1)
    del memory
    taken, axes = in_order_of_memory(view)
    assert taken.__array_interface__["data"][0] == start
    assert np.array_equal(taken, kept)
    assert axes == [1, 2, 0]
    assert in_order_of_memory(kept.T) is None  # it has another name
    assert in_order_of_memory(np.arange(24.0).reshape(4, 6)[:, ::2].T) is None
    own = np.asfortranarray(kept)
    taken, axes = in_order_of_memory(own)
    assert np.shares_memory(taken, own)
    assert np.array_equal(taken.transpose(2, 1, 0), kept)
    assert axes == [2, 1, 0]


def test_large_factors_in_the_order_of_lapack_are_taken_over_and_read_in_place():
    matrix = np.random.default_rng(0).standard_normal((40, 40))
    with xp.using(device="cpu", direct_limit=100):
        factors, pivots = sla.lu_factor(xp.asarray(matrix))
        assert factors.flags.f_contiguous
        assert factors.base is None
        assert np.shares_memory(seen(factors), seen(factors))
        assert not seen(factors).flags.writeable
        expected = scipy_linalg.lu_factor(matrix)
        solution = sla.lu_solve((factors, pivots), xp.ones(40))
        assert np.array_equal(solution, scipy_linalg.lu_solve(expected, np.ones(40)))
        before = seen(factors)
        factors[0, 1] = 7.0  # what was read keeps its elements
        assert np.array_equal(before, expected[0])
        expected[0][0, 1] = 7.0
        assert np.array_equal(factors, expected[0])


def test_spectrum_of_a_long_signal_is_scipys():
    x = np.random.default_rng(0).random(1 << 19)
    with xp.using(device="cpu"):
        result = sig.stft(xp.asarray(x))[2]
        assert np.array_equal(result, signal.stft(x)[2])
        result[0] = 1
        assert np.array_equal(result[:2], np.stack([np.ones(result.shape[1]), signal.stft(x)[2][1]]))


@pytest.mark.parametrize("device", ["cpu", "wgpu"])
def test_out_keeps_what_a_function_does_not_write(device):
    def halve(x, *, out, where):
        out[where] = x[where] / 2
        return out

    with xp.using(device=device, direct_pinned=False):
        out = xp.full(4, 7.0)
        arguments = {"out": out, "where": xp.asarray([True, False, True, False])}
        assert run_scipy(halve, (xp.arange(4.0),), arguments) is out
        assert out.tolist() == [0, 7, 1, 7]


@pytest.mark.parametrize(
    "call",
    [
        lambda x, number: ndi.shift(x, (number, number)),
        lambda x, number: ndi.uniform_filter(x, (number.astype(int) + 1, 3)),
        lambda x, number: fft.dct(x, type=number.astype(int), axis=0),
    ],
    ids=["shift", "uniform_filter", "dct"],
)
def test_numbers_may_be_results_on_any_device(call):
    host = np.arange(48.0).reshape(6, 8)
    expected = None
    for device in ("cpu", "wgpu", "wgpu", "wgpu", "cpu", "wgpu"):  # what is repeated is recorded
        x = xp.asarray(host, device=device)
        result = np.asarray(call(x, xp.asarray([2.0, 1.0], device=device).max()))
        expected = result if expected is None else expected
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "call",
    [
        ndi.mean,
        ndi.standard_deviation,
        special.logsumexp,
        lambda x: stats.skew(x, axis=None),
        lambda x: stats.sem(x, axis=None),
    ],
    ids=["mean", "standard_deviation", "logsumexp", "skew", "sem"],
)
def test_results_without_axes_are_values(call):
    for _ in range(3):  # what is repeated is recorded
        result = call(xp.asarray(np.arange(6.0), device="wgpu"))
        first = result
        result += 1
        assert {float(first): 1}[first] == 1
        assert float(result) == pytest.approx(float(first) + 1)
