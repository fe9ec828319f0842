"""What SciPy and scikit-learn rely on beside values: shapes of Python integers, errors with names, cheap iteration."""

import numpy as np
import pytest
from support import scipy_ufunc, values

import gpuarray as xp
from gpuarray import special
from gpuarray.testing import assert_same


def test_shapes_of_numpy_integers_become_python_integers(device):
    x = xp.broadcast_to(xp.ones(3), (np.int64(2), np.int32(3)))
    assert [type(extent) for extent in x.shape] == [int, int]
    assert_same(x + 1, np.full((2, 3), 2.0))


def test_errors_name_the_argument(device):
    for arguments in ((3, 0), (0, 3)):
        with pytest.raises(np.exceptions.AxisError) as theirs:
            np.moveaxis(np.zeros((2, 2)), *arguments)
        with pytest.raises(np.exceptions.AxisError) as ours:
            xp.moveaxis(xp.zeros((2, 2)), *arguments)
        assert str(ours.value) == str(theirs.value)


def test_iteration_over_a_line_transfers_once(device):
    host = values(40, np.float32)
    x = xp.asarray(host)
    elements = list(x)
    assert all(element.device == device and element.shape == () for element in elements)
    downloaded = xp.stats()["bytes_downloaded"]
    for element, value in zip(elements, host, strict=True):
        assert_same(element, value)
    assert float(max(x)) == host.max()
    # one program for all elements, and not one for each position
    assert xp.stats()["plans"] < 8
    assert downloaded in (0, host.nbytes)


def test_devices_are_a_tuple(device):
    assert type(xp.__array_namespace_info__().devices()) is tuple  # since the standard's version 2025.12


def test_taking_by_what_follows_a_product(device):
    a, b, table = values((15, 4), np.float32), values((1, 4), np.float32, seed=1), np.array([5, 7], np.float32)
    x, y = xp.asarray(a), xp.asarray(b)
    which = xp.astype(xp.reshape(x @ y.T + 0.5, (-1,)) > 0, xp.int64)
    expected = table[((a @ b.T + 0.5).reshape(-1) > 0).astype(np.int64)]
    assert_same(xp.take(xp.asarray(table), which, axis=0), expected)


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_special_functions_of_nothing(shape, device):
    x = xp.zeros(shape)
    assert_same(special.xlogy(x, x + 1), np.zeros(shape))
    assert_same(special.ndtr(x / 2), np.zeros(shape))


@pytest.mark.parametrize("name", ["chdtr", "chdtrc"])
def test_chi_square_functions_are_those_of_scipy_below_zero_too(name, device):
    freedom, limit = (x.ravel() for x in np.meshgrid([-2.0, 0, 0.5, 3, 40, np.inf], [-1.0, 0, 0.5, 7, 50, np.inf]))
    result = np.asarray(getattr(special, name)(xp.asarray(freedom), xp.asarray(limit)))
    np.testing.assert_allclose(result, scipy_ufunc(name)(freedom, limit), rtol=1e-13)


def test_student_distribution_is_that_of_scipy(device):
    freedom = [-2.0, 0, 0.3, 1, 7, 40, 1e6, 1e18, np.inf, np.nan]
    limits = [-np.inf, -1e150, -50, -5, -1e-3, 0, 0.7, 3, 1e300, np.inf, np.nan]
    df, t = (x.ravel() for x in np.meshgrid(freedom, limits))
    result = np.asarray(special.stdtr(xp.asarray(df), xp.asarray(t)))
    np.testing.assert_allclose(result, scipy_ufunc("stdtr")(df, t), rtol=1e-12)
    # where SciPy's square overflows, and its tail is 0: with one degree of freedom that is 1 / (pi t)
    far = special.stdtr(xp.asarray([1.0]), xp.asarray([-1e200]))
    np.testing.assert_allclose(np.asarray(far), [1e-200 / np.pi], rtol=1e-12)


def test_the_quantile_of_student_is_that_of_scipy(device):
    freedom = [-2.0, 0, 0.3, 1, 7, 40, 1e6, 1e18, np.inf, np.nan]
    df, p = (x.ravel() for x in np.meshgrid(freedom, [1e-30, 1e-9, 0.2, 0.5, 0.9, 1, 1.5, np.nan]))
    with np.errstate(all="ignore"):
        result = np.asarray(special.stdtrit(xp.asarray(df), xp.asarray(p)))
        np.testing.assert_allclose(result, scipy_ufunc("stdtrit")(df, p), rtol=1e-9)


@pytest.mark.parametrize(("dtype", "most"), [(np.float32, 1e-4), (np.float64, 6e-9)])
def test_the_cosine_of_what_is_tiny_is_one(dtype, most, device):
    host = np.concatenate([np.linspace(-most, most, 51), [-0.0, 1e-30]]).astype(dtype)
    x = xp.asarray(host)
    assert_same(xp.cos(x), np.ones(53, dtype))
    assert_same(xp.cos(x * 1) * 2, np.full(53, 2, dtype))


@pytest.mark.parametrize("function", ["floor", "ceil", "trunc", "round"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_integers_that_are_not_finite(function, dtype, device):
    host = np.array([np.nan, np.inf, -np.inf, 3.5, -0.0], dtype)
    x, one = xp.asarray(host), xp.asarray(np.ones(5, dtype))
    expected = getattr(np, function)(1 - host)
    for predicate in ("isfinite", "isnan", "isinf"):
        actual = getattr(xp, predicate)(getattr(xp, function)((one - x) / one))
        assert_same(actual, getattr(np, predicate)(expected))
