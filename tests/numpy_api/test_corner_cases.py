"""What NumPy's own tests ask of functions beyond their plain use: odd shapes, numbers beyond a dtype, refusals."""

import itertools

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.testing import assert_same

NAN, INF = np.nan, np.inf


def numpys(function, *arguments, **keywords):
    """Assert that a function gives of our arrays what NumPy gives of its own, or raises an error of the same class."""
    given = [xp.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        expected = function(*arguments, **keywords)
    except Exception as error:
        with pytest.raises(type(error)):
            function(*given, **keywords)
    else:
        assert_same(function(*given, **keywords), expected)


TABLE = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("axis", [(0, 1), (1, 0), (2, 0), (-1, 1), (0, 2, 1)])
def test_weights_have_the_order_of_the_axes(axis, device):
    weights = np.arange(1.0, 1 + np.prod([TABLE.shape[a] for a in axis])).reshape([TABLE.shape[a] for a in axis])
    result = np.average(xp.asarray(TABLE), axis=axis, weights=xp.asarray(weights))
    np.testing.assert_allclose(np.asarray(result), np.average(TABLE, axis=axis, weights=weights), rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["cov", "corrcoef"])
def test_covariances_are_of_the_dtype_that_is_asked_for(name, dtype, device):
    table = np.random.default_rng(0).random((3, 10))
    actual, expected = (getattr(np, name)(t, dtype=dtype) for t in (xp.asarray(table), table))
    assert actual.dtype == expected.dtype == dtype
    np.testing.assert_allclose(np.asarray(actual), expected, atol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("shape", [(4,), (1, 4), (4, 1), (3, 4)])
@pytest.mark.parametrize("rowvar", [False, True])
def test_covariances_of_lines_and_columns(shape, rowvar, device):
    numpys(np.cov, np.arange(np.prod(shape), dtype=float).reshape(shape), ddof=0, rowvar=rowvar)


def test_select_takes_lists(device):
    assert_same(xp.select([True], [0], default=[0]), np.select([True], [0], default=[0]))
    cases = np.array([[True, False, False], [True, True, False]])
    assert_same(xp.select(xp.asarray(cases), [[1, 2, 3], 0.5]), np.select(cases, [[1, 2, 3], 0.5]))


@pytest.mark.parametrize("value", [2.0, 5.0])
def test_piecewise_of_a_number(value, device):
    x = xp.asarray(value)
    assert float(xp.piecewise(x, x > 3, [4, 0])) == np.piecewise(np.array(value), value > 3, [4, 0])


@pytest.mark.parametrize("line", [[], [1.0, 2.0], np.array([]), np.array([1.0])])
def test_insert_wants_integers(line, device):
    positions = line if isinstance(line, list) else xp.asarray(line)
    if isinstance(line, list) and not line:
        assert_same(xp.insert(xp.arange(3), positions, 7), np.arange(3))
        return
    with pytest.raises(IndexError, match="must be of integer"):
        xp.insert(xp.arange(3), positions, 7)


def test_trim_zeros_of_a_list(device):
    assert_same(xp.trim_zeros([0, 0, 1, 0, 2, 0]), np.array([1, 0, 2]))


@pytest.mark.parametrize(("x", "bins"), [([1, 2j], [1, 2]), ([1, 2], [1, 2j])])
def test_complex_numbers_have_no_bins(x, bins, device):
    with pytest.raises(TypeError, match="complex"):
        np.digitize(xp.asarray(x), xp.asarray(bins))


@pytest.mark.parametrize("is_complex", [False, True])
def test_interp_between_what_is_not_finite(is_complex, device):
    wanted = np.array([-3, 0, 0.25, 0.5, 1, 2, INF, -INF, NAN])
    points = [[0, 1], [NAN, 1], [0, NAN], [-INF, 1], [-INF, INF], [0, INF], [NAN, NAN], [1, 1]]
    values = list(itertools.product([NAN, -INF, 0, 1, INF], repeat=2))
    if is_complex:
        values = [(complex(a, 1), complex(2, b)) for a, b in values]
    for ends, line in itertools.product(points, values):
        with np.errstate(all="ignore"):
            expected = np.interp(wanted, ends, line)
        assert_same(np.interp(xp.asarray(wanted), xp.asarray(ends), xp.asarray(line)), expected)


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
@pytest.mark.parametrize("count", [-1, 0, 1])
def test_windows_of_one_point(name, count, device):
    assert_same(getattr(xp, name)(count), getattr(np, name)(count))


@pytest.mark.parametrize("function", [xp.sort, xp.argsort])
def test_sorting_without_an_axis(function, device):
    table = np.array([[3, 1, 2], [9, 8, 7]])
    assert_same(function(xp.asarray(table), axis=None), getattr(np, function.__name__)(table, axis=None))


@pytest.mark.parametrize("function", [np.nanmean, np.nanstd, np.nanvar])
def test_an_out_of_integers_takes_no_mean(function, device):
    numpys(function, np.array([[1.0, NAN]]), axis=1, out=np.zeros(1, int))


@pytest.mark.parametrize("name", ["nanargmin", "nanargmax"])
def test_nothing_has_no_position(name, device):
    with pytest.raises(ValueError, match="empty sequence"):
        getattr(np, name)(xp.zeros((0,)))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
@pytest.mark.parametrize("ends", [(-1, 129), (-(2**33), 2**33), (-(2**33), 3), (2, 2**33)])
def test_clip_to_numbers_beyond_the_dtype(ends, dtype, device):
    line = np.arange(6, dtype=dtype)
    assert_same(xp.clip(xp.asarray(line), *ends), np.clip(line, *ends))
    assert_same(np.clip(xp.asarray(line), *ends), np.clip(line, *ends))


def test_clip_wants_both_ends_or_names(device):
    x = xp.arange(4)
    with pytest.raises(TypeError, match="'a_max'"):
        np.clip(x, 1)
    with pytest.raises(ValueError, match="min and max"):
        np.clip(x, 1, 2, min=3)


def test_isclose_takes_numbers_as_of_the_dtype(device):
    one, below = xp.asarray(np.float32(1)), 1.0 - float(np.finfo(np.float64).eps)
    assert bool(np.isclose(one, below, atol=0, rtol=0))
    assert bool(np.isclose(below, one, atol=0, rtol=0))
    assert not bool(np.isclose(xp.asarray(1.0), below, atol=0, rtol=0))
    assert xp.isclose(xp.asarray([1, 1]), [1, 2]).tolist() == [True, False]
    assert bool(xp.isclose(1, 1))


def test_require_knows_its_requirements(device):
    with pytest.raises(KeyError):
        xp.require(xp.ones(3), None, "Q")
    with pytest.raises(ValueError, match="order"):
        xp.require(xp.ones(3), None, ["C", "F"])


@pytest.mark.parametrize("direct_limit", [0, 1 << 17])
@pytest.mark.parametrize("value", [-0.0, None, np.nan, (0.0, -0.0)], ids=repr)
def test_pad_takes_constants_as_they_are(value, direct_limit, device):
    with xp.using(direct_limit=direct_limit):
        result = np.pad(xp.asarray(np.ones(3, np.float32)), 2, constant_values=value)
    expected = np.pad(np.ones(3, np.float32), 2, constant_values=value)
    np.testing.assert_array_equal(result.get(), expected)
    np.testing.assert_array_equal(np.signbit(result.get()), np.signbit(expected))


@pytest.mark.parametrize("mode", ["mean", "median", "minimum", "maximum"])
def test_pad_checks_the_length_of_statistics(mode, device):
    with pytest.raises(ValueError, match="negative"):
        np.pad(xp.arange(4.0), 1, mode=mode, stat_length=-2)
    if mode in ("minimum", "maximum"):
        with pytest.raises(ValueError, match="stat_length of 0"):
            np.pad(xp.arange(4.0), 1, mode=mode, stat_length=0)


def test_a_diagonal_is_of_a_matrix(device):
    numpys(np.diag, np.zeros((1, 1, 1)))
    with pytest.raises(ValueError, match="1- or 2-d"):
        xp.diag(xp.zeros((1, 1, 1)))


def test_unravelling(device):
    numpys(np.unravel_index, np.array([0]), ())
    numpys(np.unravel_index, np.array([]), (2, 3))
    numpys(np.unravel_index, np.array(1), (2**32 - 1, 2**31 + 1))
    for mode in ("raise", "clip", "wrap"):
        numpys(np.ravel_multi_index, (np.array([0]), np.array([1])), (5, 0), mode=mode)


def test_open_grids_keep_the_dtype_of_empty_arrays(device):
    (line,) = xp.ix_(xp.zeros(0, dtype=xp.float32))
    assert line.dtype == xp.float32
    (line,) = xp.ix_([])
    assert line.dtype == xp.int64


@pytest.mark.parametrize("call", [lambda f: f(2, M=4, k=1), lambda f: f(2, 4), lambda f: f(3)])
def test_the_names_of_columns(call, device):
    assert_same(call(xp.eye), call(np.eye))
    assert_same(call(xp.tri), call(np.tri))


def test_einsum_refuses(device):
    x = xp.ones((2, 3))
    for call in (
        lambda f: f(optimize=False),
        lambda f: f("ij", x, order="W"),
        lambda f: f(x, [0, 52], x, [52, 2], [0, 2]),
    ):
        with pytest.raises(ValueError, match=r"operand|order|range"):
            call(xp.einsum)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("dtype", [None, np.float32, np.int64])
def test_casting_of_numbers_beside_arrays(casting, dtype, device):
    line = np.arange(3, dtype=np.float32)
    for other in (3.0, 3, np.float32(3), np.arange(3.0)):
        try:
            expected = np.add(line, other, dtype=dtype, casting=casting)
        except TypeError:
            with pytest.raises(TypeError):
                np.add(xp.asarray(line), other, dtype=dtype, casting=casting)
        else:
            assert_same(np.add(xp.asarray(line), other, dtype=dtype, casting=casting), expected)


def test_the_namespace_takes_numpys_parameters(device):
    line = np.array([3.0, 1.0, 2.0])
    x = xp.asarray(line)
    assert_same(xp.clip(x, a_min=1.5, a_max=2.5), np.clip(line, a_min=1.5, a_max=2.5))
    with pytest.raises(ValueError, match="other names of min and max"):
        xp.clip(x, 1.5, a_min=1.0)
    assert_same(xp.searchsorted(xp.sort(x), x, "right"), np.searchsorted(np.sort(line), line, "right"))
    assert_same(xp.array(x, subok=True, ndmin=2), line[None])
    for name in ("concatenate", "stack"):
        with pytest.raises(TypeError, match="same_kind"):
            getattr(xp, name)([x, x], dtype=np.int32)
        result = getattr(xp, name)([x, x], dtype=np.int32, casting="unsafe")
        assert_same(result, getattr(np, name)([line, line], dtype=np.int32, casting="unsafe"))
    for name in ("cumulative_sum", "cumulative_prod"):
        for module in (np, xp):
            out = xp.zeros(4)
            assert getattr(module, name)(x, include_initial=True, out=out) is out
            assert_same(out, getattr(np, name)(line, include_initial=True))


def test_complex_objects_may_be_lists():
    assert xp.iscomplexobj([1, 2j])
    assert xp.iscomplexobj(1j)
    assert xp.isrealobj([1.0, 2])


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("keywords", [{"axis": 0}, {"axis": None}, {"axis": 1, "ddof": 1, "where": TABLE[0] != 5}])
def test_spread_about_a_known_mean(name, keywords, device):
    table = TABLE[0] ** 2
    options = {**keywords, "mean": np.mean(table, axis=keywords["axis"], keepdims=True) + 1}
    expected = getattr(np, name)(table, **options)
    given = {key: xp.asarray(v) if isinstance(v, np.ndarray) else v for key, v in options.items()}
    for module in (np, xp):
        np.testing.assert_allclose(np.asarray(getattr(module, name)(xp.asarray(table), **given)), expected, rtol=1e-14)


@pytest.mark.parametrize("limit", [0, 1 << 18])
def test_integers_beyond_64_bits_are_weak_among_choices(limit, device):
    host = np.arange(4.0)
    with xp.using(direct_limit=limit):
        numpys(lambda x: np.where(True, 10**30, x), host)
        numpys(lambda x: np.select([x > 1], [x], 10**30), host)
        numpys(lambda x: np.choose((x > 1).astype(int), [x, 10**30]), host)
        numpys(lambda x: np.where(x > 1, x.astype(np.int32), 10**30), host)
        assert_same(xp.full(3, 2**63 + 1), np.full(3, 2**63 + 1))


def test_a_real_transform_of_no_points_tells_of_their_number(device):
    numpys(np.fft.rfft, np.empty(0, complex))
    numpys(lambda x: np.fft.rfft(x, norm="unknown"), np.ones(2, complex))
    numpys(np.fft.rfft, np.ones(2, complex))
