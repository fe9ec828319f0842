"""pandas holds host memory: arrays become columns through ``__array__``, each read counted, and columns arrays."""

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


def test_what_pandas_takes_from_numpys_class_alone(x):
    """It looks for the class in operators of frames, and in pd.unique: np.asarray says what is meant."""
    with pytest.raises(ValueError, match="Unable to coerce"):
        pd.DataFrame(NUMBERS) * x
    with pytest.raises(TypeError, match=r"np\.ndarray"):
        pd.unique(x[:, 0])
    np.testing.assert_array_equal((pd.DataFrame(NUMBERS) * np.asarray(x)).to_numpy(), NUMBERS * np.asarray(x))


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


def test_what_the_page_writes_instead(x):
    frame = pd.DataFrame(NUMBERS)
    mask = x[:, 0] > 0.5
    assert_same(xp.asarray(frame[mask.to_numpy()]), NUMBERS[NUMBERS[:, 0] > 0.5])
    assert_same(xp.asarray(frame.groupby(mask.to_numpy()).sum()), np.asarray(frame.groupby(NUMBERS[:, 0] > 0.5).sum()))
    for refused, error in ((lambda: frame[mask], KeyError), (lambda: frame.groupby(mask).sum(), TypeError)):
        with pytest.raises(error):
            refused()
    assert pd.DataFrame([{"mean": float(x.mean())}]).dtypes.iloc[0] == np.float64


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
