"""Every function of array-api-extra, on GpuArrays and on NumPy's: the same values, on the device, without fallbacks.

A case is a function of :class:`Side`, which makes its arrays; it runs once with NumPy's and once with ours.
"""

from dataclasses import dataclass
from typing import Any

import array_api_extra as xpx
import numpy as np
import pytest
from array_api_compat import array_namespace

import gpuarray as xp

COMPLEX = {np.dtype(np.float32): np.complex64, np.dtype(np.float64): np.complex128}
NAN, INF = np.nan, np.inf


@dataclass(frozen=True)
class Side:
    """Where a case's arrays come from, with the floating dtype under test."""

    xp: Any
    dtype: Any

    def reals(self, numbers: Any) -> Any:
        return self.xp.asarray(np.asarray(numbers, self.dtype))

    def complexes(self, numbers: Any) -> Any:
        return self.xp.asarray(np.asarray(numbers, COMPLEX[np.dtype(self.dtype)]))

    def integers(self, numbers: Any) -> Any:
        return self.xp.asarray(np.asarray(numbers, np.int32))

    def mask(self, values: Any) -> Any:
        return self.xp.asarray(np.asarray(values, np.bool_))

    @property
    def line(self) -> Any:
        return self.reals([0.5, -2.5, 3.25, 0.0, -0.75, 8.0, 1.5])

    @property
    def hollow(self) -> Any:
        return self.reals([0.5, NAN, 3.25, -INF, NAN, INF, 1.5])

    @property
    def table(self) -> Any:
        return self.reals([[3.0, 1.5, NAN, -2.0], [0.25, 8.0, 1.0, 4.5], [-1.0, 2.5, 2.5, 0.0]])

    @property
    def whole(self) -> Any:
        return self.reals([[3.0, 1.5, 7.0, -2.0], [0.25, 8.0, 1.0, 4.5], [-1.0, 2.5, 2.5, 0.0]])

    @property
    def labels(self) -> Any:
        return self.integers([3, 1, 2, 3, 0, 5, 1])


def _partitioned(s, axis):
    """Return the element that a partition puts at its place, and what is on either side of it, in order."""
    result = xpx.partition(s.whole, 2, axis=axis)
    return _sides(s.xp, result if axis is not None else s.xp.reshape(result, (-1,)), -1 if axis is None else axis)


def _argpartitioned(s, axis):
    source = s.whole if axis is not None else s.xp.reshape(s.whole, (-1,))
    order = xpx.argpartition(s.whole, 2, axis=axis)
    along = -1 if axis is None else axis
    return _sides(s.xp, s.xp.take_along_axis(source, order, axis=along), along)


def _sides(namespace, x, axis):
    x = namespace.moveaxis(x, axis, 0)
    return namespace.sort(x[:2], axis=0), x[2], namespace.sort(x[3:], axis=0)


def _asserted(s):
    xpx.testing.assert_equal(s.line, s.line)
    xpx.testing.assert_close(s.hollow, s.hollow, rtol=1e-6)
    xpx.testing.assert_close_nulp(s.line, s.line, nulp=1)
    xpx.testing.assert_less(s.line, s.line + 1)
    for check in (xpx.testing.assert_equal, xpx.testing.assert_close):
        with pytest.raises(AssertionError):
            check(s.line, s.line + 1)
    return s.line


def _unchanged(s, update):
    """Return a copy of an array with an update, and the array, which the update leaves alone."""
    x = s.line
    return update(x), x


def _updated(s, update):
    """Return an array after an update in place, and that the update returned the array itself."""
    x = s.line
    return x, update(x) is x


CASES = {
    "angle": lambda s: xpx.angle(s.complexes([1 + 2j, -3, 4j, 0, -1 - 1j])),
    "angle of reals, in degrees": lambda s: xpx.angle(s.line, deg=True),
    "apply_where": lambda s: xpx.apply_where(s.line > 0, s.line, s.xp.sqrt, lambda x: x * 2),
    "apply_where with a value": lambda s: xpx.apply_where(
        s.line != 0, (s.line, s.line[0]), lambda a, b: b / a, fill_value=NAN
    ),
    "apply_where with values": lambda s: xpx.apply_where(s.line > 0, s.line, s.xp.log, fill_value=s.line),
    "apply_where that broadcasts": lambda s: xpx.apply_where(
        s.mask([[True], [False], [True]]), s.whole, s.xp.exp, s.xp.negative
    ),
    "argpartition": lambda s: _argpartitioned(s, -1),
    "argpartition along the first axis": lambda s: _argpartitioned(s, 0),
    "argpartition of all elements": lambda s: _argpartitioned(s, None),
    "at set": lambda s: xpx.at(s.line)[2:4].set(9),
    "at set of a mask": lambda s: xpx.at(s.line)[s.line > 1].set(s.line[s.line > 1] * 2),
    "at set of a table": lambda s: xpx.at(s.whole, (s.integers([0, 2]), slice(None, None, 2))).set(-1),
    "at set with a copy": lambda s: _unchanged(s, lambda x: xpx.at(x)[1].set(7, copy=True)),
    "at set in place": lambda s: _updated(s, lambda x: xpx.at(x)[1].set(7, copy=False)),
    "at add": lambda s: xpx.at(s.line)[::2].add(1.5),
    "at add with a copy": lambda s: _unchanged(s, lambda x: xpx.at(x)[::2].add(1.5, copy=True)),
    "at add in place": lambda s: _updated(s, lambda x: xpx.at(x)[::2].add(1.5, copy=False)),
    "at subtract": lambda s: xpx.at(s.line)[-1].subtract(s.line[0], copy=True),
    "at multiply": lambda s: _unchanged(s, lambda x: xpx.at(x)[s.integers([0, 4])].multiply(2, copy=True)),
    "at divide": lambda s: _updated(s, lambda x: xpx.at(x)[x > 1].divide(2, copy=False)),
    "at power": lambda s: _unchanged(s, lambda x: xpx.at(x)[1:3].power(2, copy=True)),
    "at min": lambda s: _unchanged(s, lambda x: xpx.at(x)[::2].min(s.line[2], copy=True)),
    "at max": lambda s: _updated(s, lambda x: xpx.at(x)[::2].max(s.line[2], copy=False)),
    "at max of a scalar": lambda s: xpx.at(s.line)[::2].max(1.0),
    "atleast_nd": lambda s: (xpx.atleast_nd(s.line, ndim=3), xpx.atleast_nd(s.table, ndim=1)),
    "cov": lambda s: xpx.cov(s.whole, correction=0.5),
    "cov with weights": lambda s: xpx.cov(
        s.whole, axis=0, correction=0.5, fweights=s.integers([1, 2, 1]), aweights=s.reals([0.5, 1, 2])
    ),
    "cov of a batch": lambda s: xpx.cov(s.reals(np.arange(24).reshape(2, 3, 4) % 7)),
    "create_diagonal": lambda s: xpx.create_diagonal(s.line, offset=-1),
    "create_diagonal of a batch": lambda s: xpx.create_diagonal(s.whole, offset=2),
    "default_dtype": lambda s: xpx.default_dtype(s.xp) == np.float64,
    "default_dtype of a kind": lambda s: xpx.default_dtype(s.xp, "indexing") == np.int64,
    "deg2rad": lambda s: xpx.deg2rad(s.line),
    "deg2rad of complex numbers": lambda s: xpx.deg2rad(s.complexes([1 + 2j, -90j])),
    "deg2rad of integers": lambda s: xpx.deg2rad(s.labels),
    "diag_indices": lambda s: xpx.diag_indices(3, ndim=3, xp=s.xp, device=s.line.device),
    "isclose": lambda s: xpx.isclose(s.hollow, s.hollow * 1.000001),
    "isclose with NaN": lambda s: xpx.isclose(s.hollow, s.hollow, equal_nan=True, rtol=0.0),
    "isclose to a scalar": lambda s: xpx.isclose(s.labels, 3, atol=1),
    "isin": lambda s: xpx.isin(s.labels, s.integers([1, 5])),
    "isin of many": lambda s: xpx.isin(s.labels, s.integers(range(2, 50)), invert=True),
    "kron": lambda s: xpx.kron(s.whole, s.line[:2]),
    "kron with a scalar": lambda s: xpx.kron(2, s.line),
    "lazy_apply": lambda s: xpx.lazy_apply(np.cumsum, s.whole, axis=1, as_numpy=True),
    "lazy_apply of several": lambda s: xpx.lazy_apply(
        lambda x: (x + 1, s.xp.sum(x)), s.whole, shape=((3, 4), ()), dtype=(s.dtype, s.dtype)
    ),
    "nan_to_num": lambda s: xpx.nan_to_num(s.hollow, fill_value=3.0),
    "nan_to_num of complex numbers": lambda s: xpx.nan_to_num(s.complexes([1 + 2j, complex(NAN, INF), -INF])),
    "nanmax": lambda s: (xpx.nanmax(s.hollow), xpx.nanmax(s.table, axis=1)),
    "nanmean": lambda s: (xpx.nanmean(s.table), xpx.nanmean(s.table, axis=(0, 1)), xpx.nanmean(s.table, axis=0)),
    "nanmin": lambda s: (xpx.nanmin(s.hollow), xpx.nanmin(s.table, axis=0)),
    "nansum": lambda s: (xpx.nansum(s.table), xpx.nansum(s.table, axis=1)),
    "nunique": lambda s: xpx.nunique(s.labels),
    "one_hot": lambda s: xpx.one_hot(s.labels, 6, dtype=s.dtype),
    "one_hot along the first axis": lambda s: xpx.one_hot(s.labels, 4, dtype=s.xp.bool, axis=0),
    "one_hot of the default dtype": lambda s: xpx.one_hot(s.labels, 6),
    "pad": lambda s: xpx.pad(s.whole, 2),
    "pad of each side": lambda s: xpx.pad(s.whole, [(1, 0), (0, 3)], constant_values=1.5),
    "partition": lambda s: _partitioned(s, -1),
    "partition along the first axis": lambda s: _partitioned(s, 0),
    "partition of all elements": lambda s: _partitioned(s, None),
    "rad2deg": lambda s: xpx.rad2deg(s.line),
    "searchsorted": lambda s: xpx.searchsorted(s.reals([-1, 0.5, 3.25, 3.25]), s.line, side="right"),
    "searchsorted of rows": lambda s: xpx.searchsorted(s.xp.sort(s.whole, axis=-1), s.whole[:, :2] + 1),
    "setdiff1d": lambda s: xpx.setdiff1d(s.labels, s.integers([1, 5])),
    "setdiff1d of many": lambda s: xpx.setdiff1d(
        s.integers(range(20)), s.integers(range(3, 18, 2)), assume_unique=True
    ),
    "sinc": lambda s: xpx.sinc(s.reals([0.5, -2.5, 3.25, 0.0, -0.75, 8.5])),
    "testing": _asserted,
    "tril_indices": lambda s: xpx.tril_indices(4, offset=1, xp=s.xp, device=s.line.device),
    "triu_indices": lambda s: xpx.triu_indices(4, m=3, xp=s.xp, device=s.line.device),
    "union1d": lambda s: xpx.union1d(s.line, s.line + 1),
    "unravel_index": lambda s: xpx.unravel_index(s.xp.astype(s.labels, s.xp.int64), (2, 3)),
}
#: What computes with float64 although its arguments hold none, which takes the host where a device lacks it.
NEEDS_FLOAT64 = {
    "at max of a scalar": "the client makes an array of the scalar, which then is of the default dtype",
    "cov": "the client computes in float64, whatever the dtype",
    "cov of a batch": "the client computes in float64, whatever the dtype",
    "cov with weights": "the client computes in float64, whatever the dtype",
    "deg2rad of integers": "integers give the default dtype",
    "one_hot of the default dtype": "the default dtype is float64",
}
#: Deprecated by the client, because the standard has them now: :func:`test_deprecated`.
DEPRECATED = {"broadcast_shapes", "expand_dims"}


def assert_alike(ours: Any, theirs: Any, device: Any) -> None:
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_alike(one, other, device)
    elif isinstance(theirs, np.ndarray | np.generic):
        assert array_namespace(ours) is xp
        assert ours.device == device
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        epsilon = np.finfo(theirs.dtype).eps if theirs.dtype.kind in "fc" else 0
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=4 * epsilon, atol=4 * epsilon)
    else:
        assert ours == theirs


def test_every_function_has_a_case() -> None:
    public = set(xpx.__all__) - {"__version__"}
    assert {name.partition(" ")[0] for name in CASES} | DEPRECATED == public


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, dtype: Any, device: Any) -> None:
    has_float64 = "float64" in xp.__array_namespace_info__().dtypes(device=device)
    case = CASES[name]
    with np.errstate(all="ignore"):
        theirs = case(Side(np, dtype))
    ours = case(Side(xp, dtype))
    assert_alike(ours, theirs, device)
    if has_float64 or (dtype == np.float32 and name not in NEEDS_FLOAT64):
        assert xp.stats()["fallbacks"] == 0
    elif dtype == np.float32:
        assert xp.stats()["fallbacks"] > 0


@pytest.mark.parametrize("name", CASES)
def test_values_as_the_standard_has_it(name: str) -> None:
    with np.errstate(all="ignore"):
        theirs = CASES[name](Side(np, np.float32))
    with xp.using(device="cpu", strict_array_api=True):
        assert_alike(CASES[name](Side(xp, np.float32)), theirs, xp.Device("cpu"))


def test_single_precision_throughout(device: Any) -> None:
    with xp.using(default_float="float32", fallback="error"):
        side = Side(xp, np.float32)
        assert xpx.default_dtype(xp, device=device) == xp.float32
        for name, reason in NEEDS_FLOAT64.items():
            if "default dtype" in reason:
                assert CASES[name](side).dtype == xp.float32
                assert xp.stats()["fallbacks"] == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_deprecated(device: Any) -> None:
    assert xpx.broadcast_shapes((2, 1), (3,), xp=xp) == (2, 3)
    x = xpx.expand_dims(xp.ones(3), axis=(0, 2))
    assert x.shape == (1, 3, 1)
    assert x.device == device


def test_errors_reach_the_caller(device: Any) -> None:
    with pytest.raises(TypeError):
        xpx.at(xp.asarray([1, 2, 3]))[:1].divide(2)
    with pytest.raises(IndexError):
        xpx.at(xp.zeros(3))[5].set(1)
    with pytest.raises(TypeError):
        xpx.one_hot(xp.zeros(3), 2)
    with pytest.raises(ValueError, match="broadcast"):
        xpx.apply_where(xp.ones(3, dtype=xp.bool), xp.ones(2), xp.exp, fill_value=0)
