"""Which functions compute small arrays in host memory at once, and with which results."""

import operator
import threading

import numpy as np
import pytest
from support import assert_same

import gpuarray as xp
from gpuarray.array import GpuArray
from gpuarray.dispatch import FUNCTIONS
from gpuarray.settings import Config


@pytest.fixture(autouse=True)
def small_values():
    with xp.using(device="cpu", direct_limit=Config().direct_limit):
        yield


X = np.random.default_rng(0).normal(size=(4, 4)) + 4 * np.eye(4)
V = np.array([0.5, np.nan, -2.0, 3.0])
I = np.array([2, 0, 1, 1])  # noqa: E741  # indices

#: Calls with a namespace and arrays on the device.
CALLS = {
    "pad": lambda np, x, v, i: np.pad(x, 1, mode="edge"),
    "tile": lambda np, x, v, i: np.tile(v, (2, 3)),
    "repeat": lambda np, x, v, i: np.repeat(x, 2, axis=1),
    "repeat each": lambda np, x, v, i: np.repeat(v, i) + np.repeat(x, i, axis=1),
    "targets": lambda np, x, v, i: (
        np.clip(x, -1, 1, out=x.copy()) + np.sum(x, axis=1, out=np.zeros(4)) + np.dot(x, x, np.ones((4, 4)))
    ),
    "diag": lambda np, x, v, i: np.diag(v, 1) + np.diag(np.diag(np.ones((5, 5)))),
    "vander": lambda np, x, v, i: np.vander(x[0], 3),
    "polynomials": lambda np, x, v, i: np.polyval(np.polymul(np.polyint(x[0]), x[1]), x[2]),
    "fit": lambda np, x, v, i: np.polyfit(x[0], x[1], 2),
    "roots": lambda np, x, v, i: np.sort(abs(np.roots(x[0]))),
    "lstsq": lambda np, x, v, i: np.linalg.lstsq(x, x[0])[0],
    "svd": lambda np, x, v, i: np.linalg.svd(x)[1],
    "qr": lambda np, x, v, i: abs(np.linalg.qr(x)[1]),
    "eig": lambda np, x, v, i: np.sort(abs(np.linalg.eig(x)[0])) + abs(np.linalg.eig(x)[1]).sum(),
    "solutions": lambda np, x, v, i: np.linalg.solve(np.eye(40) + np.ones((40, 40)), np.ones((40, 40)))[:4, :4] + x,
    "cond": lambda np, x, v, i: np.linalg.cond(x),
    "nan": lambda np, x, v, i: np.nanmax(v) + np.nanmin(v) + np.nancumsum(v) + np.nanargmax(v),
    "spread": lambda np, x, v, i: np.nanmean(v) + np.nanstd(v, ddof=1) + np.nanvar(x, axis=0, keepdims=True) + x.mT,
    "sets": lambda np, x, v, i: np.setdiff1d(i, np.intersect1d(i, i[:2])),
    "histogram": lambda np, x, v, i: np.histogram(x, 5)[0],
    "cov": lambda np, x, v, i: np.cov(x) + np.corrcoef(x),
    "bits": lambda np, x, v, i: np.unpackbits(np.packbits(i > 0)),
    "indices": lambda np, x, v, i: np.ravel_multi_index(np.unravel_index(i, (3, 2)), (3, 2)),
    "sort": lambda np, x, v, i: np.argsort(i, kind="stable") + np.lexsort((i, i[::-1])),
    "cross": lambda np, x, v, i: np.cross(x[:, :3], x[:, 1:]),
    "reduce": lambda np, x, v, i: np.add.reduce(x, axis=1) + np.maximum.accumulate(x[0]),
    "copies": lambda np, x, v, i: np.array(x) + np.asfortranarray(x) + np.broadcast_arrays(x, v)[1] + np.resize(v, 4),
    "chains": lambda np, x, v, i: np.linalg.multi_dot([x[0], np.ones((4, 99)), np.ones((99, 4)), x]),
    "contractions": lambda np, x, v, i: (
        np.tensordot(np.ones((40, 40)), np.ones((40, 40)), 1)[:4, :4]
        + np.einsum("i,i->", np.ones(1000), np.ones(1000))
        + np.linalg.vecdot(np.ones((4, 64)), np.ones((4, 64)))
    ),
    "unique values": lambda np, x, v, i: np.sort(np.unique_values(v)),
    "methods": lambda np, x, v, i: (
        x.sum()
        + x.sum(1)
        + x.prod(axis=0, keepdims=1)
        + x.min(0)
        + x.max(axis=(0, 1), keepdims=True)
        + x.mean(-1)
        + x.argmin(0)
        + x.argmax()
        + x.any(axis=1)
        + (x > 0).all()
    ),
    "keepdims": lambda np, x, v, i: np.sum(x, axis=0, keepdims=1) + np.max(x, axis=1, keepdims=True),
    "outer": lambda np, x, v, i: np.subtract.outer(x[0], x[1]),
    "reduceat": lambda np, x, v, i: np.add.reduceat(x[0], np.asarray([0, 2])),
    "full_like": lambda np, x, v, i: np.full_like(x, 3) + np.eye(4) + np.tri(4) + np.ones(4),
    "ranges": lambda np, x, v, i: np.arange(4) + np.arange(0, 1, 0.25) + np.arange(3, -1, -1),
    "lists": lambda np, x, v, i: np.array([x[0, 0], x[1, 1]]) + np.array([[1, 2], [3.5, 4]]) + np.asarray((1, 2)),
    "spaces": lambda np, x, v, i: (
        np.linspace(0, 1, 4) + np.logspace(0, 1, 4) + np.geomspace(1, 8, 4) + np.fft.fftfreq(4)
    ),
    "windows": lambda np, x, v, i: np.hanning(4) + np.hamming(4) + np.blackman(4) + np.bartlett(4) + np.kaiser(4, 2.0),
    "grids": lambda np, x, v, i: np.meshgrid(x[0], i)[0] + np.indices((4, 4))[1],
    "quantiles": lambda np, x, v, i: (
        np.nanmedian(x, 0) + np.nanpercentile(x, 30) + np.nanquantile(x, 0.2) + np.i0(x[0])
    ),
    "numbers": lambda np, x, v, i: np.sqrt(2) * np.maximum(3, 2.5) + np.log(i.dtype.type(3)),
    "joined": lambda np, x, v, i: np.r_[0, x[0, 0], v[:1], 1:3] + np.c_[i, v, x, [5, 6, 7, 8]][:, 1:6].T[0, 0],
    "masked": lambda np, x, v, i: np.divide(1, x, out=np.zeros_like(x), where=x > 0),
    "between": lambda np, x, v, i: np.linspace(x[0, 0], v[3], 4) + np.linspace(x[0], 2, 4, axis=1),
    "nested": lambda np, x, v, i: np.array([((x[0, 0], 1), (2, v[3])), ((i[0], 2.5), (i[1], i[2]))])[0],
}


@pytest.mark.parametrize("name", CALLS)
def test_the_result_is_there_at_once(name):
    result = CALLS[name](xp, xp.asarray(X), xp.asarray(V), xp.asarray(I))
    assert result._cell.memory is not None
    assert_same(result, np.asarray(CALLS[name](np, X, V, I)))
    assert xp.stats()["evaluations"] == 0


def test_arguments_are_written_to():
    x, host = xp.asarray(X.copy()), X.copy()
    out, expected = xp.zeros((4, 4)), np.zeros((4, 4))
    for a, o in ((x, out), (host, expected)):
        assert np.multiply(a, 2, out=o, where=a > 0) is o
        np.add.at(a, ([0, 0], [1, 1]), 5)
        a[1:3].sort(axis=0)
        a[3].fill(7)
        a.flat[[1, 2]] = -1
        np.exp(a[0], out=a[0])
        assert np.modf(a[1], out=(a[1], None))[0].shape == (4,)
        a[:, 2].partition(1)
    assert x._cell.memory is not None
    assert_same(out, expected)
    assert_same(x, host)
    assert [x.item(3), x.item(1, 2), x.item((2, 0))] == [host.item(3), host.item(1, 2), host.item((2, 0))]


def test_lines_of_which_threads_gain_nothing_are_computed_at_once():
    host = np.random.default_rng(5).random((300, 300))
    x = xp.asarray(host)
    spectrum = np.fft.fft2(x) * 2
    assert_same(np.fft.ifft2(spectrum).real, np.fft.ifft2(np.fft.fft2(host) * 2).real)
    assert_same(np.sort(x, axis=0), np.sort(host, axis=0))
    assert_same(np.median(x, axis=1), np.median(host, axis=1))
    assert xp.stats()["evaluations"] == 0


def test_averages_of_nothing_do_not_warn(recwarn):
    x = xp.asarray(np.array([[1.0, np.nan], [2.0, np.nan]]))
    for result in (np.nanmean(x, 0), np.nanstd(x, 0), np.nanvar(x, 0, ddof=1)):
        assert np.isnan(result).tolist() == [False, True]
    assert not np.isfinite(x[0].var(ddof=2))
    assert not np.isfinite(x.std(axis=0, ddof=3)).any()
    assert np.isnan(x.mean(axis=1, where=x > 3)).all()
    assert not recwarn.list


def test_comparisons_of_arrays_are_truths():
    x = xp.asarray(X)
    assert np.allclose(x, x + 1e-12) is True
    assert xp.array_equal(x, x + 1) is False
    assert np.array_equal(x, x[0]) is False
    assert xp.stats()["evaluations"] == 0


def test_elements_that_a_mask_leaves_out_are_zeros():
    x = xp.asarray(X)
    assert_same(np.negative(x, where=x > 0), np.where(X > 0, -X, 0))


def test_masked_updates_of_memory_that_operands_share_are_numpys():
    x, host = xp.asarray(X[0]), X[0].copy()
    for a, i in ((x, xp.asarray(I)), (host, I)):
        np.add(a[:-1], a[1:], out=a[1:], where=i[:-1] > 0)
        np.negative(i, out=a, where=a > 1)
    assert_same(x, host)
    with pytest.raises(TypeError, match="Cannot cast"):
        np.divide(x, 2, out=xp.asarray(I), where=x > 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda x, device: xp.linspace(0, 1, 3, device=device),
        lambda x, device: xp.zeros_like(x, device=device),
        lambda x, device: xp.full_like(x, 2, device=device),
        lambda x, device: xp.astype(x, xp.float32, device=device),
        lambda x, device: np.ones_like(x, device=device),
        lambda x, device: xp.fft.fftfreq(3, device=device),
    ],
)
def test_results_are_on_the_device_that_an_argument_names(make):
    with xp.using(device="wgpu"):
        x = xp.ones(3)
        assert [make(x, device).device.kind for device in ("cpu", "wgpu", None)] == ["cpu", "wgpu", "wgpu"]


@pytest.mark.parametrize(
    "call",
    [
        lambda np, x: np.sort(x),
        lambda np, x: np.dot(x, x),
        lambda np, x: np.reshape(x, (2, -1)),
        lambda np, x: np.squeeze(x),
        lambda np, x: np.atleast_1d(x, x)[1],
        lambda np, x: np.where(x > 0, x, 0.5),
        lambda np, x: np.concatenate([x, x]),
    ],
)
def test_functions_take_numpys_arrays_and_keep_none(call):
    host = X[0].copy()
    result = call(xp, host)
    assert type(result) is GpuArray
    assert result.is_computed()
    assert_same(result, call(np, host))
    result[...] = 0
    assert np.array_equal(host, X[0])


def test_results_that_are_arguments_are_arrays_of_this_package_unless_they_were_written_to():
    host = X[0].copy()
    assert [type(each) for each in np.atleast_1d(xp.asarray(V), host)] == [GpuArray, GpuArray]
    assert np.add(xp.asarray(V), 1, out=host) is host
    np.testing.assert_array_equal(host, V + 1)


def test_results_that_would_be_large_are_recorded():
    x = xp.asarray(np.ones(5000))
    large = xp.diag(x), xp.einsum("i,j->ij", x, x), xp.tile(x, 1000), np.add.outer(x, x), xp.repeat(x, 500)
    for result in (*large, xp.tensordot(x, x, 0)):
        assert result.size > 1 << 20
        assert result._cell.memory is None
        assert result.residency == ()
    assert xp.outer(x[:800], x[:800])._cell.memory is None  # its elements are there, and what follows is recorded


def test_values_in_memory_do_not_outlive_the_limit():
    x = xp.asarray(np.arange(10.0))
    with xp.using(direct_limit=5):
        assert (x[:3] + 1)._cell.memory is not None
        assert xp.zeros(10)._cell.memory is None
        assert xp.asarray([1.0] * 10)._cell.memory is None


def test_new_arrays_have_memory_of_their_own():
    host = np.arange(4.0)
    x = xp.asarray(host)
    host[0] = 9
    y = xp.array(x)
    y[1] = 8
    assert x.tolist() == [0, 1, 2, 3]
    zero = xp.asarray(3.0)
    zero += 1
    assert zero.tolist() == 4
    assert not np.shares_memory(x.get(), x.host())
    assert_same(xp.diff(x, 0), x.get())
    assert xp.diff(x, 0) is not x


def test_results_have_the_names_of_the_package():
    x = xp.asarray(X)
    for function in (xp.linalg.svd, xp.linalg.qr, xp.linalg.eigh, xp.linalg.slogdet, xp.unique_counts):
        result = function(x)
        with xp.using(direct_limit=0):
            assert type(result) is type(function(x))
        assert all(isinstance(part, GpuArray) for part in result)


def test_rules_are_those_of_functions_that_numpy_has():
    assert {np.concatenate, np.linalg.solve, np.fft.fft, np.put} <= FUNCTIONS.keys()


def test_no_thread_updates_twice_or_not_at_all():
    """Another thread makes the value a node, so that the elements have to be copied before they are updated."""
    x, ends = xp.zeros(8), threading.Event()

    def look():
        while not ends.is_set():
            x.node()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(3000):
            x += 1
    finally:
        ends.set()
        thread.join()
    assert x.tolist() == [3000] * 8


def test_several_results_are_computed_at_once():
    x = xp.asarray(np.array([-2.5, 0.0, 7.25]))
    for result, expected in (
        (xp.frexp(x), np.frexp(np.asarray(x))),
        (xp.modf(x), np.modf(np.asarray(x))),
        (xp.divmod(x, 2), np.divmod(np.asarray(x), 2)),
    ):
        for ours, theirs in zip(result, expected, strict=True):
            assert ours._value is not None
            assert_same(ours, theirs)


def test_many_lines_are_recorded_and_a_single_one_is_not():
    x = xp.asarray(np.arange(160_000.0)[::-1])
    assert xp.sort(x)._value is not None
    assert xp.sort(x.reshape(400, 400))._value is None
    assert_same(xp.sort(x.reshape(400, 400), axis=0), np.sort(np.asarray(x).reshape(400, 400), axis=0))
    assert_same(xp.argsort(x, descending=True), np.arange(160_000))


def test_products_and_joints_of_nothing_are_computed_at_once():
    before = xp.stats()["evaluations"]
    result = []
    for np_ in (xp, np):
        x, v = np_.asarray(X), np_.asarray(V)
        result.append([
            v[:0] @ v[:0], np.dot(x[:, :0], v[:0]), np.matmul(x[:, :0], x[:0]), np_.concatenate([v[:0], v]),
            np.add(v[:0], 1.0), np.outer(v[:0], v),
        ])  # fmt: skip
    for x, y in zip(*result, strict=True):
        assert_same(x, y)
    assert xp.stats()["evaluations"] == before
    with pytest.raises(ValueError, match="zero-size"):
        xp.max(xp.asarray(V)[:0])


@pytest.mark.parametrize("name", ["tril_indices", "triu_indices", "diag_indices"])
def test_positions_in_matrices_are_numpys_however_many(name):
    arguments = (800,) if name == "diag_indices" else (800, 3, 700)
    before = xp.stats()["evaluations"]
    for result, expected in zip(getattr(xp, name)(*arguments), getattr(np, name)(*arguments), strict=True):
        assert_same(result, expected)
    assert xp.stats()["evaluations"] == before


def test_large_identities_have_no_plan():
    assert xp.explain(xp.eye(800, 700, 5)).is_direct
    assert not xp.explain(xp.eye(800, 700, 5) + 1).is_direct
    assert_same(xp.eye(800, 700, -5, dtype="int16"), np.eye(800, 700, -5, dtype="int16"))


def test_few_results_of_many_elements_that_only_the_host_has_make_no_plan():
    host = np.random.default_rng(0).random((256, 256))
    with xp.using(device="auto"):
        x = xp.asarray(host)
        assert np.linalg.norm(x).is_computed()
        assert_same(xp.sum(x), host.sum())


@pytest.mark.parametrize("data", [[1, 2.5], np.arange(3), np.arange(6.0).reshape(2, 3).T, 7])
def test_a_device_that_the_host_computes_for_gets_data_as_the_default_device_does(data):
    for named, default in (("cpu", "wgpu"), ("auto", "cpu")):
        with xp.using(device=default):
            named_array = xp.asarray(data, device=named)
        with xp.using(device=named):
            expected = xp.asarray(data)
        assert named_array.is_computed()
        assert expected.is_computed()
        assert named_array.device == expected.device
        assert named_array.strides == expected.strides
        assert_same(named_array, np.asarray(expected))


@pytest.mark.parametrize(
    "call",
    [
        lambda np, a, v: np.linalg.norm(a, 1),
        lambda np, a, v: np.linalg.norm(a, -np.inf),
        lambda np, a, v: np.linalg.norm(a, axis=1),
        lambda np, a, v: np.linalg.vector_norm(a, axis=0),
        lambda np, a, v: np.linalg.matrix_norm(a),
        lambda np, a, v: np.linalg.vecdot(a, v),
        lambda np, a, v: np.tensordot(a, a),
        lambda np, a, v: np.linalg.multi_dot([a, a, a, v]),
    ],
)
def test_few_results_of_a_million_elements_are_numpys_and_make_no_plan(call):
    host = np.random.default_rng(0).standard_normal((1024, 1024))
    x, v = xp.asarray(host), xp.asarray(host[0])
    before = xp.stats()["plans"]
    result = call(np, x, v).get()
    assert xp.stats()["plans"] == before
    np.testing.assert_array_equal(result, call(np, host, host[0]))


def test_contractions_of_few_multiplications_are_computed_at_once():
    x, y = (np.arange(64.0 * 64).reshape(shape) for shape in ((64, 64), (8, 8, 64)))
    for axes in (1, ([0], [1]), ([1], [0])):
        assert xp.tensordot(xp.asarray(x), xp.asarray(x), axes).is_computed()
    for axes in (([0], [2]), ([1], [2])):
        assert_same(xp.tensordot(xp.asarray(x), xp.asarray(y), axes=axes), np.tensordot(x, y, axes=axes))


def test_products_of_long_vectors_are_numpys():
    x, y = np.random.default_rng(0).random((2, 600_000))
    with xp.using(device="cpu", direct_limit=Config().direct_limit):
        before = xp.stats()["plans"]
        for name in ("vecdot", "vdot", "inner", "dot"):
            assert_same(getattr(np, name)(xp.asarray(x), xp.asarray(y)), getattr(np, name)(x, y))
        assert_same(np.linalg.norm(xp.asarray(x).reshape(800, 750)), np.linalg.norm(x))
        assert xp.stats()["plans"] == before


def test_quantiles_of_a_pending_line_are_numpys():
    host = np.random.default_rng(0).random(600_000)
    with xp.using(device="cpu", direct_limit=Config().direct_limit):
        for shape in (600_000, (800, 750)):
            x = xp.asarray(host.reshape(shape))
            assert xp.median(x * 2).is_computed()
            assert_same(xp.percentile(x * 2, [10, 90]), np.percentile(host * 2, [10, 90]))
        missing = np.where(host < 0.5, np.nan, host)
        x = xp.asarray(missing)
        assert_same(xp.nanmedian(x * 2), np.nanmedian(missing * 2))
        assert_same(xp.median(x[:1] * 2, axis=0), np.median(missing[:1] * 2, axis=0))


def test_quantiles_of_one_line_are_numpys_and_write_to_no_array():
    host = np.random.default_rng(0).random(600_000)
    with xp.using(device="cpu", direct_limit=Config().direct_limit):
        x = xp.asarray(host)
        shared = +x
        before = xp.stats()["plans"]
        assert_same(xp.median(x, overwrite_input=True), np.median(host))
        assert_same(xp.percentile(x.reshape(800, 750), [25, 75]), np.percentile(host, [25, 75]))
        assert_same(xp.nanquantile(x.reshape(800, 750), 0.3, keepdims=True), np.quantile(host, 0.3).reshape(1, 1))
        assert xp.stats()["plans"] == before
        assert_same(xp.nanmedian(x, None, None, True), np.median(host))
        assert_same(shared, host)
        assert_same(x, host)


@pytest.mark.parametrize("name", ["@", "matmul", "dot"])
def test_large_products_with_a_vector_of_floating_numbers_make_no_plan(name):
    image, weights = np.arange(480 * 640 * 3).astype(np.uint8).reshape(480, 640, 3), np.array([0.299, 0.587, 0.114])
    product = operator.matmul if name == "@" else getattr(np, name)
    with xp.using(device="cpu", direct_limit=Config().direct_limit):
        before = xp.stats()["plans"]
        result = product(xp.asarray(image), xp.asarray(weights)).get()
        assert xp.stats()["plans"] == before
    np.testing.assert_array_equal(result, product(image, weights))
