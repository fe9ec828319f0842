"""Set functions against NumPy's: values, first positions, inverse indices and counts."""

from typing import Any

import numpy as np
import pytest
from support import DTYPES, special_values, values

import gpuarray as xp
from gpuarray.testing import assert_same

SHAPES: tuple[tuple[int, ...], ...] = ((0,), (), (1,), (3, 7), (2, 0, 3), (5000,))


def _counted(dtype: str) -> bool:
    return dtype not in ("float64", "complex128")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_unique(shape: tuple[int, ...], dtype: str, device: Any) -> None:
    host = values(shape, dtype)
    x = xp.asarray(host)
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        expected = getattr(np, name)(host)
        actual = getattr(xp, name)(x)
        assert actual._fields == expected._fields
        for own, other in zip(actual, expected, strict=True):
            assert_same(own, other, message=name)
    assert_same(xp.unique_values(x), np.unique_all(host).values)
    if _counted(dtype):
        assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_unique_of_special_values(dtype: str, device: Any) -> None:
    host = np.tile(special_values(dtype), 3)
    x = xp.asarray(host)
    actual, expected = xp.unique_all(x), np.unique_all(host)
    for own, other in zip(actual, expected, strict=True):
        assert_same(own, other, signed_zeros=False)
    assert_same(xp.unique_inverse(x).values[actual.inverse_indices], host, signed_zeros=False)
    for own, other in zip(np.unique(x, True, True, True), np.unique(host, True, True, True), strict=True):
        assert_same(own, other, signed_zeros=False)
    assert_same(np.unique(x), np.unique(host), signed_zeros=False)


def test_unique_of_views(device: Any) -> None:
    host = values((6, 5, 4), np.int32)
    x = xp.asarray(host)
    for key in (np.s_[::-2, :, 1], np.s_[:, 2, ::-1], np.s_[..., 0]):
        for own, other in zip(xp.unique_all(x[key].T), np.unique_all(host[key].T), strict=True):
            assert_same(own, other)
    wide = xp.broadcast_to(x[0, 0], (7, 4))
    assert_same(xp.unique_counts(wide).counts, np.unique_counts(np.broadcast_to(host[0, 0], (7, 4))).counts)


@pytest.mark.parametrize("count", [0, 1, 3, 8, 9, 300])
@pytest.mark.parametrize("dtype", DTYPES)
def test_isin(dtype: str, count: int, device: Any) -> None:
    host, others = values((4, 50), dtype), values(count, dtype, seed=1)
    if host.dtype.kind in "fc":
        host[1, ::7] = np.nan
        others[: count // 3] = np.nan
    for invert in (False, True):
        assert_same(xp.isin(xp.asarray(host), xp.asarray(others), invert=invert), np.isin(host, others, invert=invert))
    if _counted(dtype):
        assert xp.stats()["fallbacks"] == 0


def test_isin_with_scalars_and_other_dtypes(device: Any) -> None:
    host = np.array([0.1, 2, 300], np.float32)
    x, small = xp.asarray(host), xp.asarray(np.array([1, 2], np.uint8))
    assert xp.isin(x, 0.1).tolist() == [True, False, False]  # a Python scalar is a float32 here
    assert bool(xp.isin(2, x))
    assert bool(xp.isin(2, 2))
    assert not bool(xp.isin(2, [3, 1]))
    assert not bool(xp.isin(xp.asarray(7), x))
    assert xp.isin(small, 300).tolist() == [False, False]
    assert xp.isin(2, small, invert=True).tolist() is False
    assert_same(xp.isin(small, x), np.isin(np.asarray(small), host))
    assert_same(xp.isin([[1, 2], [3, 4]], small), np.isin([[1, 2], [3, 4]], [1, 2]))
    assert_same(np.isin(x, np.arange(20)), np.isin(host, np.arange(20)))
    with pytest.raises(ValueError, match="kind"):
        np.isin(x, x, kind="hash")
