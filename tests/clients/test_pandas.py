"""pandas holds host memory: arrays become columns through ``__array__``, each read counted, and columns arrays."""

import operator

import numpy as np
import pandas as pd
import pytest

import gpuarray as xp
from gpuarray.errors import TransferError
from gpuarray.testing import TOLERANCES, assert_same

pytestmark = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)

NUMBERS = np.random.default_rng(0).random((6, 4)).astype(np.float32)


@pytest.fixture
def x(device):
    """An array that was computed where the device is."""
    return xp.asarray(NUMBERS - 1) + 1


@pytest.mark.usefixtures("planned")
def test_reading_is_counted(x):
    pd.DataFrame(x)
    assert xp.stats()["bytes_downloaded"] == x.nbytes
    assert xp.stats()["fallbacks"] == 0
    assert (xp.stats()["transfers"] > 0) == (x.device.kind == "wgpu")


def test_reading_can_be_forbidden(x):
    with xp.using(transfer="error"):
        if x.device.kind == "wgpu":
            with pytest.raises(TransferError, match="bytes from device"):
                pd.DataFrame(x)
        pd.DataFrame(xp.asnumpy(x))


@pytest.mark.parametrize(
    "make",
    [
        lambda a: pd.Series(a[:, 0]),
        lambda a: pd.Series(a[:, 0], index=list("abcdef"), name="v"),
        lambda a: pd.DataFrame(a, columns=list("wxyz")),
        lambda a: pd.DataFrame({"a": a[:, 0], "b": NUMBERS[:, 1]}),
        lambda a: pd.DataFrame(NUMBERS).assign(z=a[:, 0]),
        lambda a: pd.Series(NUMBERS[:, 0]) + a[:, 1],
        lambda a: a[:, 1] + pd.Series(NUMBERS[:, 0]),
        lambda a: np.exp(pd.Series(a[:, 0])),
        lambda a: pd.Series(NUMBERS[:, 0]).where(a[:, 0] > 0.5),
        lambda a: pd.DataFrame(NUMBERS).where(a > 0.5),
        lambda a: pd.concat([pd.Series(a[:, 0]), pd.Series(a[:, 1])]),
        lambda a: pd.cut(pd.Series(a[:, 0]), 3),
        lambda a: pd.Series(a[:, 0]).groupby(list("aabbcc")).mean(),
    ],
)
def test_same_frames_as_of_numpys_arrays(make, x):
    made, expected = make(x), make(np.asarray(x))
    compare = pd.testing.assert_frame_equal if isinstance(expected, pd.DataFrame) else pd.testing.assert_series_equal
    compare(made, expected)


def test_columns_become_arrays(x, device):
    frame = pd.DataFrame(NUMBERS, columns=list("wxyz"))
    assert_same(xp.asarray(frame), NUMBERS)
    assert_same(xp.asarray(frame["y"]), NUMBERS[:, 2])
    assert_same(xp.mean(xp.asarray(frame), axis=0), NUMBERS.mean(axis=0), rtol=TOLERANCES)
    assert xp.asarray(frame).device == device
    assert_same(x.__class__.__add__(x[:, 0], xp.asarray(frame["w"])), np.asarray(x)[:, 0] + NUMBERS[:, 0])


def test_text_columns_are_refused(device):
    with pytest.raises(TypeError, match="numbers"):
        xp.asarray(pd.Series(["a", "b"], dtype=object))


def written(target, key, value):
    """Return a copy of a frame or series with what ``target(copy)[key] = value`` makes of it."""
    return lambda data: (copy := data.copy(), target(copy).__setitem__(key, value))[0]


@pytest.mark.parametrize(
    "select",
    [
        lambda data, mask: data[mask],
        lambda data, mask: data.loc[mask],
        lambda data, mask: data.iloc[mask],
        lambda data, mask: data.index[mask].to_series(),
        lambda data, mask: data.where(data.loc[mask] > 0),
        lambda data, mask: written(lambda d: d.loc, mask, 7)(data),
        lambda data, mask: written(lambda d: d.iloc, mask, 7)(data),
    ],
)
def test_masks_select_rows(select, x):
    """By np.asarray alone pandas would take a mask for labels, and ``iloc`` for the positions 0 and 1."""
    mask = x[:, 0] > 0.5
    for data in (pd.DataFrame(NUMBERS, index=list("abcdef")), pd.Series(NUMBERS[:, 1], index=list("abcdef"))):
        assert select(data, mask).equals(select(data, mask.get()))


@pytest.mark.parametrize(
    "call", [operator.add, operator.mul, operator.floordiv, operator.pow, operator.gt, operator.eq]
)
@pytest.mark.parametrize("operand", [lambda a: a, lambda a: a[:, 0], lambda a: a[0], lambda a: a.mean()])
def test_operators(call, operand, x):
    given, known = operand(x), operand(x.get())
    known = known.dtype.type(given) if known.ndim == 0 else known
    for data in (pd.DataFrame(NUMBERS), pd.Series(NUMBERS[:, 1]), pd.Index(NUMBERS[:, 1]), pd.array(NUMBERS[:, 1])):
        for order in (slice(None), slice(None, None, -1)):
            try:
                expected = call(*(data, known)[order])
            except (ValueError, TypeError, NotImplementedError) as error:
                with pytest.raises(type(error)):
                    call(*(data, given)[order])
                continue
            actual = call(*(data, given)[order])
            assert type(actual) is type(expected)
            assert str(actual) == str(expected)  # pandas formats no columns that are arrays of other packages


@pytest.mark.parametrize("update", [operator.iadd, operator.imul, operator.itruediv])
def test_updates_of_frames_in_place_name_what_to_write(update, x):
    frame = pd.DataFrame(NUMBERS)
    for operand in (x, x[0, 0], x.mean()):
        with pytest.raises(TypeError, match=r"write frame = frame \* x"):
            update(frame, operand)
    pd.testing.assert_frame_equal(update(frame, x[0]), update(pd.DataFrame(NUMBERS), xp.asnumpy(x[0])))


def test_ufuncs(x):
    for ufunc in (np.maximum, np.add, np.hypot):
        for data, part in ((pd.Series(NUMBERS[:, 1]), x[:, 0]), (pd.DataFrame(NUMBERS), x)):
            assert ufunc(data, part).equals(ufunc(data, part.get()))
            assert ufunc(part, data).equals(ufunc(part.get(), data))


def test_results_are_numbers_in_frames(x):
    frame = pd.DataFrame({"a": NUMBERS[:, 0], "b": x.mean()})
    frame["c"] = x.max()
    assert [str(dtype) for dtype in frame.dtypes] == ["float32"] * 3
    assert frame.clip(x.min(), x.mean()).equals(frame.clip(x.min().item(), x.mean().item()))
    assert frame["a"].replace(x[0, 0], 7).equals(frame["a"].replace(x[0, 0].item(), 7))
    assert pd.unique(x[:, 0]).tolist() == pd.unique(x[:, 0].get()).tolist()
    column = frame["a"].copy()
    column -= x.mean()
    assert column.equals(frame["a"] - x.mean().item())


def test_what_pandas_takes_from_numpys_class_alone(x):
    """It tests for the class and calls no method of an array first: the page names what to write."""
    frame, keys = pd.DataFrame(NUMBERS, columns=list("wxyz")), x[:, 0] > 0.5
    for refused, error, message in (
        (lambda: frame.groupby(keys), TypeError, r"frame\.groupby\(gpuarray\.asnumpy\(keys\)\)"),
        (lambda: frame["w"].groupby([keys, keys]), TypeError, r"gpuarray\.asnumpy"),
        (lambda: frame.set_index(keys), TypeError, "keys"),
        (lambda: frame.add(x), ValueError, "Unable to coerce"),
        (lambda: frame.__setitem__(keys, 0), TypeError, r"gpuarray\.asnumpy"),
        (lambda: pd.factorize(keys), AttributeError, r"gpuarray\.asnumpy"),
    ):
        with pytest.raises(error, match=message):
            refused()
    host = keys.to_numpy()
    assert_same(xp.asarray(frame.groupby(host).sum()), np.asarray(frame.groupby(NUMBERS[:, 0] > 0.5).sum()))


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32, np.uint8])
def test_isin(dtype, device):
    column, wanted = pd.Series(np.array([0, 1, 2, 3, 4, 0, 1]).astype(dtype)), np.array([1, 3], dtype)
    array = xp.asarray(wanted)
    expected = column.isin(wanted)
    for values in (array, [array.min(), array[1]], {array[0], array[1]}, [*array]):
        assert column.isin(values).tolist() == expected.tolist()
    assert pd.Index(column).isin(array).tolist() == expected.tolist()
    assert pd.DataFrame({"a": column}).isin(array)["a"].tolist() == expected.tolist()
    assert column.drop(array.astype(np.int64)).tolist() == column.drop(wanted.astype(np.int64)).tolist()


@pytest.mark.parametrize("column_dtype", [np.float32, np.float64, object, "Float64"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_isin_finds_nan(column_dtype, dtype, device):
    """The hash tables of pandas find a NaN only among Python's numbers, which an iteration by pandas yields."""
    column, wanted = pd.Series([1, np.nan, 3, 4], dtype=column_dtype), np.array([np.nan, 3], dtype)
    array = xp.asarray(wanted) + 0
    for data in (column, pd.Index(column), column.to_frame()):
        assert np.array_equal(data.isin(array), data.isin(wanted))
        assert np.ravel(data.isin(array)).tolist() == [False, column_dtype != "Float64", True, False]
    with pytest.warns(RuntimeWarning, match=r"x\.item"):
        column.isin([array[0]])


def test_iterations_of_pandas_yield_numbers(device):
    array = xp.asarray(np.array([[1, 0, 3], [4, 0, 1]])) + 0
    for make in (pd.Categorical, lambda x: pd.MultiIndex.from_arrays([x, x])):
        assert str(make(array[0])) == str(make(array[0].get()))
    assert pd.DataFrame.from_records(array).equals(pd.DataFrame.from_records(array.get()))
    assert all(isinstance(element, xp.GpuArray) for element in array[0])


def test_elementwise_functions_of_the_namespace_return_what_numpys_do(x):
    frame = pd.DataFrame(NUMBERS)
    series = frame[0]
    pd.testing.assert_frame_equal(xp.exp(frame), np.exp(frame))
    for function in ("log", "abs", "isnan"):
        pd.testing.assert_series_equal(getattr(xp, function)(series), getattr(np, function)(series))
    pd.testing.assert_series_equal(xp.maximum(series, 0.5), np.maximum(series, 0.5))
    pd.testing.assert_series_equal(xp.add(series, x[:, 1]), np.add(series, NUMBERS[:, 1]))
    with pytest.raises(TypeError, match="str"):
        xp.sqrt(pd.Series(["a"]))
