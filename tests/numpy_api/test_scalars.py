"""Arrays without axes stand for NumPy's scalars: where integers are wanted, as text, and beside Python's lists."""

import array
import json
import math
import operator
import statistics
import time
from collections import Counter
from datetime import date
from decimal import Decimal
from fractions import Fraction
from unittest.mock import ANY

import numpy as np
import pytest

import gpuarray as xp

LINE = np.array([0.1, 2.5, -3.25, 7.0, 1 / 3], np.float32)
TABLE = np.arange(12, dtype=np.float32).reshape(3, 4)
NUMBERS = np.array([3, 1, 2, 0])

#: Functions that take integers: ``i`` are the numbers, ``line`` and ``m`` the arrays.
CALLS = {
    "roll": lambda i, line, m: np.roll(line, i[1]),
    "roll rows": lambda i, line, m: np.roll(m, (i[1], i[0]), (i[3], i[1])),
    "roll an axis": lambda i, line, m: np.roll(m, i[1], i[1]),
    "tile": lambda i, line, m: np.tile(line, i[2]),
    "tile rows": lambda i, line, m: np.tile(line, (i[2], i[1])),
    "repeat": lambda i, line, m: np.repeat(line, i[2]),
    "reshape": lambda i, line, m: m.reshape(i[2], -1),
    "expand_dims": lambda i, line, m: np.expand_dims(m, i[1]),
    "split": lambda i, line, m: np.split(line[:4], i[2]),
    "split at": lambda i, line, m: np.split(line, i[2:3]),
    "array_split": lambda i, line, m: np.array_split(m, i[2], axis=i[1]),
    "hsplit": lambda i, line, m: np.hsplit(m, i[2]),
    "vsplit": lambda i, line, m: np.vsplit(m, i[0]),
    "rot90": lambda i, line, m: np.rot90(m, i[2]),
    "resize": lambda i, line, m: np.resize(line, i[0]),
    "zeros": lambda i, line, m: np.zeros(i[0], like=m),
    "full": lambda i, line, m: np.full((i[0], 2), line[0], like=m),
    "diag": lambda i, line, m: np.diag(line, i[1]),
    "diagonal": lambda i, line, m: np.diagonal(m, i[1]),
    "unravel_index": lambda i, line, m: np.unravel_index(i, (i[0] + 1, 2)),
    "ravel_multi_index": lambda i, line, m: np.ravel_multi_index((i % 2, i % 2), (i[0], i[2] + 1)),
    "fftshift": lambda i, line, m: np.fft.fftshift(line, i[3]),
    "windows": lambda i, line, m: np.lib.stride_tricks.sliding_window_view(line, i[1] + 1),
    "tensordot": lambda i, line, m: np.tensordot(m, m, axes=i[2]),
    "tensordot of axes": lambda i, line, m: np.tensordot(m, m, axes=([i[3]], i[3])),
    "pad": lambda i, line, m: np.pad(line, i[2]),
    "sum": lambda i, line, m: m.sum(axis=i[1]),
    "slice": lambda i, line, m: m[i[1] : i[0], :: i[2]],
    "bincount": lambda i, line, m: np.bincount(i, minlength=i[0] + 3),
}


@pytest.mark.parametrize("name", CALLS)
def test_integers_may_be_results(name, put, same):
    call = CALLS[name]
    same(call(put(NUMBERS), put(LINE), put(TABLE)), call(NUMBERS, LINE, TABLE))


def test_integers_repeat_lists(put):
    i = put(NUMBERS)
    assert [0] * i[0] == i[0] * [0] == [0, 0, 0]
    assert [0, 1] * (i.max() - 1) == [0, 1, 0, 1]
    assert (7,) * i.argmin() == (7, 7, 7)
    assert "ab" * i[2] == "abab"
    for product in ([2] * xp.asarray(3), [2] * i[:1]):  # NumPy's arrays, too, multiply lists
        assert isinstance(product, xp.GpuArray)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.int8, np.bool_])
def test_text_of_one_element_is_numpys(dtype, put):
    host = np.array([0.1, 1, 1 / 3]).astype(dtype)
    for ours, numpys in ((put(host)[0], host[0]), (put(host).max(), host.max()), (put(host[2]), host[2])):
        assert str(ours) == f"{ours!s}" == str(numpys)
        assert f"{ours}" == f"{numpys}"
    assert ",".join(map(str, put(host))) == ",".join(map(str, host))


def test_truncation(put):
    assert math.trunc(put(np.array([-2.7]))[0]) == math.trunc(np.float64(-2.7)) == -2


POWERS = {
    "operator": lambda x: x**-1,
    "scalar": lambda x: x ** np.int64(-1),
    "array": lambda x: x ** np.array([1, -1, 2]),
    "list": lambda x: x ** [1, -1, 2],
    "function": lambda x: np.power(x, -1),
    "in place": lambda x: x.__ipow__(np.array(-1)),
    "of a number": lambda x: np.power(2, np.array([-1])) if isinstance(x, np.ndarray) else xp.pow(2, np.array([-1])),
}


@pytest.mark.parametrize("name", POWERS)
def test_integers_have_no_negative_powers(name, put):
    for x in (put(np.array([1, 2, 3], np.int32)), np.array([1, 2, 3], np.int32)):
        with pytest.raises(ValueError, match="negative integer powers"):
            POWERS[name](x)


UNKNOWN_POWERS = {
    "operator": lambda x, n: x**n,
    "of a number": lambda x, n: 2**n,
    "in place": lambda x, n: x.__ipow__(n),
    "function": lambda x, n: np.power(x, n),
    "out": lambda x, n: np.power(x, n, out=x.copy()),
    "outer": lambda x, n: np.power.outer(x, n),
    "at": lambda x, n: (np.power.at(x, [0, 2, 1], n), x)[1],
    "reduce": lambda x, n: np.power.reduce(n),
    "accumulate": lambda x, n: np.power.accumulate(n),
    "reduceat": lambda x, n: np.power.reduceat(n, [0, 2]),
    "booleans": lambda x, n: x.astype(bool) ** n.astype(np.int8),
}


@pytest.mark.parametrize("name", UNKNOWN_POWERS)
@pytest.mark.usefixtures("planned")
def test_exponents_that_are_computed_are_checked(name, put):
    for make in (np.array, put):
        x, n = make(np.array([1, 2, 3])), make(np.array([1, -2, 3])) + 1
        with pytest.raises(ValueError, match="negative integer powers"):
            np.asarray(UNKNOWN_POWERS[name](x, n))  # the host raises it where the power is read


@pytest.mark.usefixtures("planned")
def test_negative_powers_that_are_no_error(put, same):
    exponent = np.array([-1, 2])
    for base in (np.array([2, 3], np.uint64), np.array([2.0, 3.0]), np.zeros((0, 2), np.int64)):
        same(put(base) ** put(exponent), base**exponent)
    base = np.array([2, 3])
    mask = exponent > 0
    same(np.power(put(base), put(exponent), where=put(mask), out=put(base)), np.array([2, 9]))
    same(np.power(put(base), put(exponent), dtype=float), np.power(base, exponent, dtype=float))
    same(np.power.reduce(put(exponent)), np.power.reduce(exponent))
    with pytest.raises(OverflowError):
        put(base.astype(np.uint8)) ** -1


def test_recorded_powers_are_checked_at_each_call(put, same):
    power = xp.jit(lambda x, n: x ** (n - 1))
    for _ in range(2):
        same(power(put(np.array([2, 3])), put(np.array([1, 3]))), np.array([1, 9]))
        with pytest.raises(ValueError, match="negative integer powers") as caught:
            power(put(np.array([2, 3])), put(np.array([0, 3]))).get()
        assert "x ** (n - 1)" in "".join(caught.value.__notes__)


def test_powers_that_integers_have(put, same):
    host = np.array([1, 2, 3], np.int32)
    for exponent in (2.0, -1.0, np.float32(-1), np.array([-1.0, 0, 1]), [1, 0, 2], np.array([3, 2, 1], np.uint8)):
        same(put(host) ** exponent, host**exponent)
    same(put(host.astype(np.float32)) ** np.array([-1, 0, 2]), host.astype(np.float32) ** np.array([-1, 0, 2]))


def test_results_are_keys(put):
    x = put(LINE)
    results = {x.max(): "max", x[0]: "first"}
    assert results[7.0] == "max"
    assert results[float(LINE[0])] == "first"
    assert {x.max(), x[3], 7.0} == {7.0}
    missing = (x / 0 * 0).sum()
    assert {missing: 1}[missing] == 1
    for unhashable in (x, put(np.array(1.0))):
        with pytest.raises(TypeError, match="unhashable type: 'GpuArray'"):
            hash(unhashable)


def test_elements_of_an_iteration_are_keys(put):
    assert set(put(NUMBERS)) == {0, 1, 2, 3}
    assert Counter(put(NUMBERS[[0, 1, 1]]))[1] == 2
    assert json.dumps([*put(LINE)], default=float) == json.dumps([*LINE], default=float)
    assert statistics.fmean(put(LINE.astype(np.float64))) == statistics.fmean(LINE.astype(np.float64))


def test_counts_and_seeds(put):
    count = put(NUMBERS).max()
    assert np.fft.fftfreq(4).tolist() == xp.fft.fftfreq(count + 1).tolist()
    rng, other = xp.random.default_rng(count), xp.random.default_rng(3)
    assert rng.permutation(count).tolist() == other.permutation(3).tolist()
    assert rng.choice(count, size=count).tolist() == other.choice(3, size=3).tolist()


def test_numbers_of_python(put):
    x = put(LINE.astype(np.float64))
    assert x[1].as_integer_ratio() == (5, 2)
    assert statistics.fmean([x[1], x[3]]) == 4.75
    assert x[3].is_integer()
    assert not x[1].is_integer()
    assert put(NUMBERS)[0].is_integer()
    with pytest.raises(TypeError, match="0-dimensional"):
        x.is_integer()
    with pytest.raises(TypeError, match=r"float64: use float\(x\)"):
        time.sleep(x[0])


@pytest.mark.parametrize(
    "value", ["text", b"", None, ..., slice(1), {}, {1}, object(), range(5)], ids=lambda value: type(value).__name__
)
@pytest.mark.parametrize("compare", [operator.eq, operator.ne])
def test_comparisons_with_what_is_no_number(compare, value, put, same):
    for host in (LINE, NUMBERS[:1], LINE[:0] if value != range(5) else LINE):
        same(compare(put(host), value), compare(host, value))
        same(compare(value, put(host)), compare(value, host))


@pytest.mark.parametrize(
    "value",
    [
        np.str_("1"),
        np.bytes_(b"1"),
        np.datetime64("2020"),
        np.array("1"),
        np.array([["1"]] * 2),
        np.dtype("f8"),
        date(2020, 1, 1),
        bytearray(b"\x01"),
        memoryview(b"\x01"),
        array.array("d", [1.0]),
    ],
    ids=lambda value: "memoryview" if isinstance(value, memoryview) else repr(value),
)
@pytest.mark.parametrize("compare", [operator.eq, operator.ne])
def test_comparisons_with_texts_dates_and_buffers(compare, value, put, same):
    for host in (LINE, NUMBERS[:1]):
        same(compare(put(host), value), compare(host, value))


def test_shapes_of_texts_have_to_broadcast(put):
    with pytest.raises(ValueError, match="broadcast"):
        put(LINE) == np.array(["a"] * (LINE.size + 1))  # noqa: B015


def test_another_class_may_know_what_is_equal(put):
    assert (put(LINE) == ANY) is True
    assert (put(LINE) != ANY) is False


@pytest.mark.parametrize("value", [Fraction(1, 2), Decimal(1)])
def test_comparisons_with_numbers_of_other_packages_are_refused(value, put):
    with pytest.raises(TypeError, match="float"):
        put(LINE) == value  # noqa: B015


@pytest.mark.parametrize(
    "name", ["median", "nanmedian", "quantile", "nanquantile", "percentile", "nanpercentile", "lexsort"]
)
def test_results_without_axes_are_values(name, put):
    # NumPy returns scalars here: they have a hash, and an in-place operator replaces them
    arguments = (0.5,) if "tile" in name else ()
    result = getattr(xp, name)(put(LINE) if name != "lexsort" else (put(LINE)[0],), *arguments)
    assert hash(result) == hash(result.item())
    before = result.item()
    other = result
    other += 1
    assert result.item() == before != other.item()


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_powers_of_complex_numbers_to_integers_are_products(device, dtype):
    values = [0, 1, -1, 1j, 2 - 3j, np.inf, complex(np.inf, 1), complex(np.nan, 0), -0.0, 0.5 + 0.25j, -1.5 + 0.125j]
    host = np.array(values, dtype)
    x = xp.asarray(host, device=device)
    for exponent in (0, 1, 2, 3, 5, 12, 99, -1, -2, -7, 3.0):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(
                (x**exponent).get(), host**exponent, rtol=4e-6 if dtype == np.complex64 else 1e-13
            )
    y = x[1:5]
    y **= 3
    np.testing.assert_allclose(x.get()[1:5], host[1:5] ** 3, rtol=1e-6)
    kernel = str(xp.explain(xp.asarray(host, device="wgpu") ** 3 + 1, stage="wgsl"))
    assert "fn log_" not in kernel  # drivers take a minute for ten of them
    grad = xp.grad(lambda z: (z**3).real.sum())(x[1:5].copy() * 0 + 2)
    np.testing.assert_allclose(grad.get(), np.full(4, 12, dtype))
