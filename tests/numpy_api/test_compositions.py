"""Functions composed of others: any shapes and sizes, errors of NumPy's classes, and what they promise besides."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy_samples import A, B, C, K, M, S, V

import gpuarray as xp
from gpuarray.array import GpuArray, from_host
from gpuarray.device import Device
from gpuarray.functions import signals
from gpuarray.runtime import telemetry

DEVICES = ("cpu", "wgpu")


def _check(function, same):
    """Run a function with NumPy's arrays and with ours on each device, and compare."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = function(np.array)
        for name in DEVICES:
            same(function(lambda host, name=name: from_host(np.asarray(host), Device(name))), expected)


def _numbers(data, shape, low=-9, high=9):
    return np.random.default_rng(data.draw(st.integers(0, 99))).integers(low, high + 1, shape)


@settings(max_examples=12)
@given(data=st.data())
def test_convolutions_of_any_lengths(data, same):
    a, v = (_numbers(data, data.draw(st.integers(1, 40))) for _ in range(2))
    mode = data.draw(st.sampled_from(("full", "same", "valid")))
    _check(lambda p: np.convolve(p(a), p(v), mode), same)
    _check(lambda p: np.correlate(p(a), p(v), mode), same)


@settings(max_examples=12)
@given(data=st.data())
def test_edges_of_any_widths(data, same):
    shape = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    widths = data.draw(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=len(shape), max_size=len(shape))
    )
    mode = data.draw(st.sampled_from(("reflect", "symmetric", "wrap", "edge", "maximum", "constant")))
    keywords = {"reflect_type": data.draw(st.sampled_from(("even", "odd")))} if mode in ("reflect", "symmetric") else {}
    source = _numbers(data, shape)
    _check(lambda p: np.pad(p(source), widths, mode, **keywords), same)


@settings(max_examples=12)
@given(data=st.data())
def test_insertions_anywhere(data, same):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    extent = shape[axis]
    positions = data.draw(st.lists(st.integers(-extent, extent), min_size=1, max_size=5))
    source = _numbers(data, shape)
    _check(lambda p: np.insert(p(source), positions, 99, axis), same)
    _check(lambda p: np.insert(p(source), positions[0], 99, axis), same)
    kept = [k % extent for k in positions]
    _check(lambda p: np.delete(p(source), kept, axis), same)


@settings(max_examples=12)
@given(data=st.data())
def test_unique_rows_of_any_shape(data, same):
    shape = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    axis = data.draw(st.integers(0, len(shape) - 1))
    source = _numbers(data, shape, 0, 2)
    _check(lambda p: np.unique(p(source), True, True, True, axis=axis), same)


@settings(max_examples=12)
@given(data=st.data())
def test_windows_of_any_shape(data, same):
    shape = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, max_size=2, unique=True))
    windows = [data.draw(st.integers(1, shape[axis])) for axis in axes]
    source = _numbers(data, shape)
    _check(lambda p: np.lib.stride_tricks.sliding_window_view(p(source), windows, axes), same)
    _check(lambda p: np.lib.stride_tricks.sliding_window_view(p(source).T[::-1], shape[-1], 0).sum(-1), same)


@settings(max_examples=12)
@given(data=st.data())
def test_bits_of_any_shape(data, same):
    shape = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    axis = data.draw(st.none() | st.integers(0, len(shape) - 1))
    order = data.draw(st.sampled_from(("big", "little")))
    bits = _numbers(data, shape, 0, 1)
    _check(lambda p: np.packbits(p(bits), axis, order), same)
    bytes_ = _numbers(data, shape, 0, 255).astype(np.uint8)
    count = data.draw(st.none() | st.integers(-8, 80))
    _check(lambda p: np.unpackbits(p(bytes_), axis, count, order), same)


@settings(max_examples=12)
@given(data=st.data())
def test_bins_of_any_edges(data, same):
    size, ndim = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 3))
    points, weights = _numbers(data, (size, ndim)), _numbers(data, size, 1, 4)
    edges = [np.unique(_numbers(data, data.draw(st.integers(2, 6)))) for _ in range(ndim)]
    edges = [np.append(line, line[-1] + 1) for line in edges]
    _check(lambda p: np.histogramdd(p(points), [p(line) for line in edges], weights=p(weights)), same)
    _check(lambda p: np.histogram(p(points), p(edges[0]))[0], same)
    _check(lambda p: np.interp(p(points), p(edges[0]), p(edges[0] ** 2), left=-1), same)


REFUSALS = [
    lambda p: np.convolve(p(V), p(np.empty(0))),
    lambda p: np.convolve(p(A), p(V)),
    lambda p: np.correlate(p(V), p(V), "middle"),
    lambda p: np.interp(p(V), p(V[:3]), p(V[:2])),
    lambda p: np.interp(p(V), p(V[:0]), p(V[:0])),
    lambda p: np.interp(p(V), p(V), p(V), period=0),
    lambda p: np.interp(p(V), p(A), p(A)),
    lambda p: np.choose(p(K), [p(A), p(B)]),
    lambda p: np.choose(p(A), [p(A), p(B)]),
    lambda p: np.choose(p(M), [p(A), p(B)], mode="mirror"),
    lambda p: np.insert(p(V), 13, 0),
    lambda p: np.insert(p(V), [0, 14], 0),
    lambda p: np.insert(p(A), [[0]], 0, 1),
    lambda p: np.piecewise(p(A), [p(M)], [1, 2, 3]),
    lambda p: np.apply_along_axis(np.sum, 2, p(A)),
    lambda p: np.apply_along_axis(np.sum, 0, p(np.empty((3, 0)))),
    lambda p: np.apply_over_axes(lambda x, axis: x.ravel()[0], p(A), 0),
    lambda p: np.diag_indices_from(p(V)),
    lambda p: np.diag_indices_from(p(A)),
    lambda p: np.tril_indices_from(p(V)),
    lambda p: np.triu_indices_from(p(np.zeros((2, 2, 2)))),
    lambda p: np.ix_(p(A)),
    lambda p: np.unravel_index(p(np.array([12])), (3, 4)),
    lambda p: np.unravel_index(p(np.array([-1])), (3, 4)),
    lambda p: np.unravel_index(p(V), (3, 4)),
    lambda p: np.ravel_multi_index((p(K[0]), p(K[1])), (3, 4)),
    lambda p: np.ravel_multi_index((p(K[0]),), (3, 4)),
    lambda p: np.packbits(p(A)),
    lambda p: np.packbits(p(M), bitorder="middle"),
    lambda p: np.unpackbits(p(K)),
    lambda p: np.unpackbits(p(np.uint8([1])), count=-9),
    lambda p: np.geomspace(p(V), p(V * 0)),
    lambda p: np.lib.stride_tricks.sliding_window_view(p(V), 13),
    lambda p: np.lib.stride_tricks.sliding_window_view(p(A), 2),
    lambda p: np.lib.stride_tricks.sliding_window_view(p(A), -1, 0),
    lambda p: np.poly(p(A)),
    lambda p: np.polyder(p(V), -1),
    lambda p: np.polyint(p(V), -1),
    lambda p: np.polyint(p(V), 3, [1, 2]),
    lambda p: np.polynomial.polynomial.polyval2d(p(V), p(V[:2]), p(A)),
    lambda p: np.bincount(p(np.array([1, -1]))),
    lambda p: np.bincount(p(A[0])),
    lambda p: np.bincount(p(K)),
    lambda p: np.bincount(p(np.array([1, 2])), p(V)),
    lambda p: np.bincount(p(np.array([1, 2])), p(C[0, :2])),
    lambda p: np.bincount(p(np.array([1, 2])), minlength=-1),
    lambda p: np.histogram(p(V), 0),
    lambda p: np.histogram(p(V), p(np.array([1.0, 0.0]))),
    lambda p: np.histogram(p(V), 3, weights=p(A)),
    lambda p: np.histogram(p(V), 3, (2, 1)),
    lambda p: np.histogram(p(np.array([1.0, np.inf]))),
    lambda p: np.histogram(p(V), "guess"),
    lambda p: np.histogram(p(V), "auto", weights=p(V)),
    lambda p: np.histogram2d(p(V), p(V[1:])),
    lambda p: np.histogramdd(p(A), (1, 2)),
    lambda p: np.histogramdd(p(A), 2, range=[(0, 1)]),
    lambda p: np.gradient(p(A), 1, 2, 3),
    lambda p: np.gradient(p(A), p(V), axis=0),
    lambda p: np.gradient(p(A), edge_order=3),
    lambda p: np.gradient(p(A[:2]), axis=0, edge_order=2),
    lambda p: np.pad(p(A), -1),
    lambda p: np.pad(p(A), 1, "around"),
    lambda p: np.pad(p(A), 1, "edge", constant_values=1),
    lambda p: np.pad(p(np.empty((0, 2))), 1, "edge"),
    lambda p: np.pad(p(A), 1, "maximum", stat_length=0),
    lambda p: np.quantile(p(A), 0.5, weights=p(A)),
    lambda p: np.quantile(p(A), 0.5, method="inverted_cdf", weights=p(V)),
    lambda p: np.quantile(p(V), 0.5, method="inverted_cdf", weights=p(0 * V)),
    lambda p: np.quantile(p(V), 0.5, method="inverted_cdf", weights=p(-np.abs(V))),
    lambda p: np.quantile(p(np.empty(0)), 0.5),
    lambda p: np.cov(p(A), fweights=[1, 2]),
    lambda p: np.cov(p(A), fweights=[0.5, 1, 1, 1]),
    lambda p: np.cov(p(A), aweights=[-1, 1, 1, 1]),
    lambda p: np.cov(p(A), aweights=p(A)),
    lambda p: np.cov(p(A), ddof=0.5),
    lambda p: np.einsum("ij,jk", p(A)),
    lambda p: np.einsum("ij", p(V)),
    lambda p: np.einsum("ij->k", p(A)),
    lambda p: np.einsum("ij,jk", p(A), p(B)),
    lambda p: np.cross(p(A), p(B)),
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
def test_bad_input_raises_numpys_class_of_error(number, put):
    call = REFUSALS[number]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as ours:  # noqa: PT011  # whichever NumPy raises
            call(put)
        with pytest.raises(Exception) as theirs:  # noqa: PT011
            call(np.array)
    assert isinstance(ours.value, theirs.type) or isinstance(theirs.value, ours.type), (ours, theirs)
    assert not isinstance(ours.value, AttributeError | NameError)
    assert str(ours.value)


def test_what_is_not_finite_stays_within_its_window(put, same):
    line = np.arange(9.0)
    line[4] = np.nan
    line[7] = np.inf
    same(np.convolve(put(line), put(np.ones(2))), np.convolve(line, np.ones(2)))


def test_long_kernels_are_summed_in_parts(put, same, monkeypatch):
    monkeypatch.setattr(signals, "_MOST_PRODUCTS", 40)
    same(np.convolve(put(V), put(K.reshape(-1))), np.convolve(V, K.reshape(-1)))
    same(np.convolve(put(M[0]), put(M[1])), np.convolve(M[0], M[1]))


def test_weighted_counts_do_not_depend_on_what_ran_first(put):
    rng = np.random.default_rng(3)
    places, weights = put(rng.integers(0, 5, 4000)), put(rng.standard_normal(4000))
    first, *others = (np.asarray(np.bincount(places, weights)).tobytes() for _ in range(3))
    assert all(other == first for other in others)


@pytest.mark.parametrize("bins", [3, 5000])
def test_many_elements_are_counted(bins, put, same):
    rng = np.random.default_rng(4)
    places, weights = rng.integers(0, bins, 30_000), rng.standard_normal(30_000)
    same(np.bincount(put(places), minlength=bins), np.bincount(places, minlength=bins))
    same(np.bincount(put(places), put(weights), bins), np.bincount(places, weights, bins))


def test_windows_are_read_only_views(put):
    line = put(V)
    windows = np.lib.stride_tricks.sliding_window_view(line, 3)
    assert not windows.flags.writeable
    assert np.shares_memory(windows, line)
    line[4] = 99
    assert np.asarray(windows)[3, 1] == 99
    with pytest.raises(ValueError, match="cannot be written to"):
        np.lib.stride_tricks.sliding_window_view(line, 3, writeable=True)


def test_python_functions_are_given_arrays_of_the_device(put, device):
    seen = []

    def function(*arrays):
        seen.extend(arrays)
        return arrays[0]

    x = put(A)
    np.apply_along_axis(function, 0, x)
    np.piecewise(x, [x > 0], [function])
    np.fromfunction(function, (2, 2), like=x)
    assert all(isinstance(array, GpuArray) and array.device == device for array in seen)
    assert len(seen) == 4 + 1 + 2


def test_callables_that_read_nothing_are_recorded(put):
    x = put(A)
    before = telemetry.stats()["evaluations"]
    np.apply_along_axis(lambda line: line * 2, 0, x)
    assert telemetry.stats()["evaluations"] == before


def test_the_namespace_has_numpys_functions(device, same):
    """Given lists, they make arrays on the default device."""
    same(xp.convolve([1.0, 2, 3], [1, 1]), np.convolve([1.0, 2, 3], [1, 1]))
    same(xp.histogram([1, 2, 2, 3], 2), np.histogram([1, 2, 2, 3], 2))
    same(xp.mgrid[0:3, 1:2:4j], np.mgrid[0:3, 1:2:4j])
    same(xp.ogrid[0:3, 1:2:4j], np.ogrid[0:3, 1:2:4j])
    same(xp.mgrid[0:5:2], np.mgrid[0:5:2])
    same(xp.indices((2, 3)), np.indices((2, 3)))
    same(xp.indices((2, 3), sparse=True), np.indices((2, 3), sparse=True))
    same(xp.tril_indices(3, 1, 4), np.tril_indices(3, 1, 4))
    same(xp.triu_indices(3, -1), np.triu_indices(3, -1))
    same(xp.diag_indices(3), np.diag_indices(3))
    same(xp.mask_indices(3, xp.triu), np.mask_indices(3, np.triu))
    same(xp.matvec(S, V[:4]), S @ V[:4])
    same(xp.vecmat(C[0], S), C[0].conj() @ S)
    assert xp.bartlett(4).device == device
    assert xp.isfortran(xp.asarray(A).T)
    with pytest.raises(ValueError, match="infs or NaNs"):
        xp.asarray_chkfinite([1.0, np.nan])


@pytest.mark.parametrize("points", [0, 1, 2, 7, 8])
def test_window_functions(points, device, same):
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        same(getattr(xp, name)(points), getattr(np, name)(points))
    with xp.using(default_float="float32"):
        same(xp.kaiser(points, 8.6), np.kaiser(points, 8.6).astype(np.float32))


def test_host_functions_of_the_namespace_put_results_on_the_device(device, same):
    result = xp.roots([1.0, -3.0, 2.0])
    same(result, np.roots([1.0, -3.0, 2.0]))
    assert result.device == device
