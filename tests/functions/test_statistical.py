"""Reductions, scans and what is composed of them, against NumPy."""

from typing import Any

import numpy as np
import pytest
from support import DTYPES, both, special_values, values

import gpuarray as xp
from gpuarray.testing import assert_same

REDUCTIONS = ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std"]
AXES = [None, 0, -1, (0, 2), (1,), ()]


def expected_of(name: str, host: np.ndarray[Any, Any], **keywords: Any) -> Any:
    with np.errstate(all="ignore"):
        try:
            return np.asarray(getattr(np, name)(host, **keywords))
        except (TypeError, ValueError) as error:
            return type(error)


def tolerance(name: str, dtype: Any) -> float:
    """Return how many units apart sums may be: their order is open, and float16 accumulates in float32 here."""
    if np.dtype(dtype).kind not in "fc" and name not in ("var", "std", "mean"):
        return 0
    return {"min": 0, "max": 0, "any": 0, "all": 0}.get(name, 64 if np.dtype(dtype) == np.float16 else 16)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float32", "complex64"])
def test_reductions(name: str, dtype: str, device: Any) -> None:
    host, x = both(values((3, 4, 5), dtype))
    if name == "prod":
        host, x = both(
            np.where(host > 0, 1, -1 if dtype[0] in "if" else 0).astype(dtype)
            if dtype != "complex64"
            else host[:1, :2, :2]
        )
    results = []
    for axis in AXES:
        for keepdims in (False, True):
            expected = expected_of(name, host, axis=axis, keepdims=keepdims)
            results.append((getattr(xp, name)(x, axis=axis, keepdims=keepdims), expected, (axis, keepdims)))
    xp.evaluate(*(r for r, _, _ in results))
    for result, expected, what in results:
        assert_same(result, expected, ulp=tolerance(name, dtype), message=str(what))


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_of_reductions(name: str, dtype: str) -> None:
    host = values((2, 3), dtype)
    expected = expected_of(name, host)
    assert getattr(xp, name)(xp.asarray(host)).dtype == expected.dtype
    assert getattr(xp.asarray(host), name)().dtype == expected.dtype


@pytest.mark.parametrize("name", ["sum", "mean", "var", "std", "prod"])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_floating_reductions(name: str, dtype: str, device: Any) -> None:
    host, x = both((values((5, 7), dtype) + 1).astype(dtype))
    for axis in (None, 0, 1):
        with np.errstate(all="ignore"):
            assert_same(getattr(xp, name)(x, axis=axis), expected_of(name, host, axis=axis), ulp=tolerance(name, dtype))


@pytest.mark.parametrize("name", ["min", "max", "any", "all", "argmin", "argmax"])
def test_special_values(name: str, device: Any) -> None:
    results = []
    for dtype in DTYPES.values():
        if dtype.kind == "c":
            continue
        host = special_values(dtype)
        for part in (host, host[host == host], host[::-1]):
            results.append((getattr(xp, name)(xp.asarray(part)), getattr(np, name)(part), dtype.name))
    xp.evaluate(*(r for r, _, _ in results))
    for result, expected, what in results:
        np.testing.assert_array_equal(np.asarray(result), expected, err_msg=what)


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "mean"])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), ()], ids=str)
def test_empty_and_zero_dimensional(name: str, shape: Any, device: Any) -> None:
    host, x = both(np.ones(shape, np.float32))
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning) if name == "mean" and 0 in shape else np.errstate():
        expected = np.asarray(getattr(np, name)(host))
    assert_same(getattr(xp, name)(x), expected)
    if shape == (0, 3):
        assert getattr(xp, name)(x, axis=1).shape == (0,)


@pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax"])
def test_nothing_to_reduce_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match=r"zero-size|empty"):
        getattr(xp, name)(xp.zeros(0))
    with pytest.raises(ValueError, match=r"zero-size|empty"):
        getattr(xp, name)(xp.zeros((0, 3)), axis=0)
    assert getattr(xp, name)(xp.zeros((0, 3)), axis=1).shape == (0,)


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("dtype", ["int32", "float32", "uint8"])
def test_positions_of_extremes(name: str, dtype: str, device: Any) -> None:
    host, x = both(values((4, 5, 6), dtype))
    for axis in (None, 0, 1, -1):
        for keepdims in (False, True):
            expected = np.asarray(getattr(np, name)(host, axis=axis, keepdims=keepdims))
            assert_same(getattr(xp, name)(x, axis=axis, keepdims=keepdims), expected)
    assert_same(getattr(x.T, name)(), np.asarray(getattr(host.T, name)()))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "extreme"), [("max", -np.inf), ("min", np.inf)])
def test_masked_extremes_of_the_dtypes_own_extremes(name: str, extreme: float, dtype: str, device: Any) -> None:
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        start: Any = np.iinfo(kind).min if name == "max" else np.iinfo(kind).max
    elif kind.kind == "b":
        start = name == "min"
    else:
        start = complex(extreme, extreme) if kind.kind == "c" else extreme
    x = np.full((3, 40), start, kind)
    x[:, 1::2] = values((3, 20), dtype)
    where = np.zeros(x.shape, bool)
    where[:, ::2] = True
    reduce = getattr(np, name)
    for axis in (0, 1, None):
        expected = reduce(x, axis=axis, where=where, initial=start)
        result = reduce(xp.asarray(x, device=device), axis=axis, where=xp.asarray(where, device=device), initial=start)
        np.testing.assert_array_equal(np.asarray(result), expected)


def test_keywords(device: Any) -> None:
    host, x = both(values((4, 5), np.float32))
    mask = host > 0
    for name, initial in (("sum", 2), ("prod", 3), ("min", 100), ("max", -100)):
        expected = getattr(np, name)(host, axis=0, initial=initial, where=mask)
        assert_same(getattr(xp, name)(x, axis=0, initial=initial, where=xp.asarray(mask)), expected, ulp=4)
    for name in ("mean", "var", "std", "any", "all"):
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(host, axis=1, where=mask)
        assert_same(getattr(xp, name)(x, axis=1, where=xp.asarray(mask)), expected, ulp=8)
    out = xp.zeros(5, xp.float64)
    assert xp.sum(x, axis=0, out=out) is out
    assert_same(out, host.sum(axis=0).astype(np.float64), ulp=2**32)
    assert_same(xp.sum(x, dtype="float64"), host.sum(dtype="float64"), ulp=4)
    assert_same(xp.max(xp.zeros(0), initial=3.0), np.max(np.zeros(0), initial=3.0))
    for correction in (0, 1, 2.5):
        assert_same(xp.var(x, correction=correction), np.asarray(np.var(host, ddof=correction)), ulp=8)
        assert_same(x.std(ddof=correction), np.asarray(host.std(ddof=correction)), ulp=8)


def test_variance_of_large_numbers(device: Any) -> None:
    host = (1e4 + np.arange(64)).astype(np.float32)
    np.testing.assert_allclose(float(xp.var(xp.asarray(host))), float(np.var(host.astype(np.float64))), rtol=1e-5)


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32", "bool", "complex64"])
def test_scans(name: str, dtype: str, device: Any) -> None:
    host, x = both(values((3, 4), dtype))
    for axis in (0, 1, -1):
        for include_initial in (False, True):
            expected = getattr(np, name)(host, axis=axis, include_initial=include_initial)
            assert_same(getattr(xp, name)(x, axis=axis, include_initial=include_initial), expected, ulp=8)
    assert_same(x.cumsum(), host.cumsum(), ulp=8)
    assert_same(x.cumprod(1, dtype="float32") if dtype != "complex64" else x.cumprod(1),
                host.cumprod(1, dtype="float32") if dtype != "complex64" else host.cumprod(1), ulp=8)  # fmt: skip
    with pytest.raises(ValueError, match="axis"):
        getattr(xp, name)(x)


def test_long_lines(device: Any) -> None:
    host = (np.arange(100_003) % 7).astype(np.float32)
    x = xp.asarray(host)
    assert float(xp.sum(x)) == host.sum(dtype=np.float64)
    assert int(xp.count_nonzero(x)) == np.count_nonzero(host)
    assert int(xp.argmax(x)) == 6
    whole = xp.asarray(np.arange(100_003) % 7)
    assert_same(xp.cumulative_sum(whole), np.cumsum(np.arange(100_003) % 7))


def test_count_nonzero_and_diff(device: Any) -> None:
    host, x = both(values((4, 6), np.float32))
    for axis in (None, 0, (0, 1)):
        assert_same(xp.count_nonzero(x, axis=axis), np.asarray(np.count_nonzero(host, axis=axis)))
    for n in (0, 1, 2):
        assert_same(xp.diff(x, n=n), np.diff(host, n=n))
        assert_same(xp.diff(x, n=n, axis=0, prepend=0), np.diff(host, n=n, axis=0, prepend=0))
    assert_same(xp.diff(x > 0), np.diff(host > 0))
    assert_same(x.ptp(axis=0), np.ptp(host, axis=0))


def test_wrong_axes() -> None:
    x = xp.zeros((2, 3))
    for axis in (2, -3, (0, 5)):
        with pytest.raises(np.exceptions.AxisError):
            xp.sum(x, axis=axis)
    with pytest.raises(ValueError, match="duplicate"):
        xp.sum(x, axis=(0, 0))
    with pytest.raises(TypeError):
        xp.sum(x, axis=0.5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_logarithms_of_sums_of_exponentials(dtype: str, device: Any) -> None:
    special = [
        [0, 1e4, -1e4, 3],
        [np.inf, 1, 2, 3],
        [-np.inf] * 4,
        [np.nan, 1, np.inf, 2],
        [-np.inf, -1e4, -1e4, -np.inf],
    ]
    for host in (values((37, 1300), dtype) * 9, values((1300, 37), dtype), np.array(special, dtype)):
        x = xp.asarray(host, device=device)
        for axis in (0, 1):
            with np.errstate(invalid="ignore"):
                expected = np.logaddexp.reduce(host.astype(np.longdouble), axis=axis).astype(dtype)
            result = np.logaddexp.reduce(x, axis=axis)
            assert result.dtype == np.dtype(dtype)
            np.testing.assert_allclose(np.asarray(result), expected, rtol=4 * np.finfo(dtype).eps)


def test_logarithms_of_sums_take_the_keywords_of_reduce(device: Any) -> None:
    host = values((4, 6), "float32")
    x, mask = xp.asarray(host, device=device), host > 0
    for keywords in ({"axis": (0, 1)}, {"axis": 1, "keepdims": True}, {"initial": 2.0}, {"where": mask}, {"axis": ()}):
        given = {k: xp.asarray(v, device=device) if v is mask else v for k, v in keywords.items()}
        result, expected = np.logaddexp.reduce(x, **given), np.logaddexp.reduce(host, **keywords)
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-6)
    assert float(np.logaddexp.reduce(xp.zeros(0))) == -np.inf
    for dtype in ("int8", "int64"):
        host = np.arange(-3, 4, dtype=dtype)
        result, expected = np.logaddexp.reduce(xp.asarray(host)), np.logaddexp.reduce(host)
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(float(result), float(expected), rtol=1e-3)
    np.testing.assert_allclose(
        np.asarray(np.logaddexp.accumulate(x, axis=1)), np.logaddexp.accumulate(values((4, 6), "f4"), 1), rtol=1e-5
    )


def test_weighted_averages_are_recorded_and_mapped(device):
    with xp.using(device=device, direct_limit=0):
        weights = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
        values = weights * weights
        mapped = xp.vmap(lambda a, w: np.average(a, weights=w))
        desired = [np.average(a, weights=w) for a, w in zip(values, weights, strict=True)]
        np.testing.assert_allclose(mapped(xp.asarray(values), xp.asarray(weights)), desired, rtol=1e-6)
        recorded = xp.jit(lambda a, w: np.average(a, weights=w))
        for turn in range(3):
            actual = recorded(xp.asarray(values), xp.asarray(weights + turn))
            assert float(actual) == pytest.approx(np.average(values, weights=weights + turn), rel=1e-6)
        for function in (mapped, recorded):
            with pytest.raises(ZeroDivisionError, match="Weights sum to zero"):
                float(function(xp.asarray(values), xp.asarray(0 * weights)).sum())
