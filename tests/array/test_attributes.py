"""Every attribute of NumPy's arrays has a status here, and those that exist have NumPy's signatures and values."""

import copy
import inspect
import operator
import pickle

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.array import absent
from gpuarray.testing import assert_same

A = np.array([[3.0, -1.5, 2.0], [0.5, 7.0, -4.0]])

#: What arrays lack on purpose; everything else that NumPy's arrays have must exist.
MISSING = {
    "__array_finalize__", "__array_interface__", "__array_struct__", "__array_wrap__", "__buffer__", "__setstate__",
    "ctypes", "data", "getfield", "setfield",
}  # fmt: skip
#: Parameters that differ from NumPy's, and why.
DIFFERENT = {
    "item": "positions are checked here",
    "reshape": "the text of NumPy's signature has no names",
    "resize": "the text of NumPy's signature has no names",
    "to_device": "it is the standard's",
    "transpose": "the text of NumPy's signature has no names",
    "view": "the text of NumPy's signature has no names",
}


def test_every_attribute_of_numpys_arrays_has_a_status():
    public = [name for name in dir(np.ndarray) if name.startswith("__") or not name.startswith("_")]
    missing = {name for name in public if not hasattr(xp.GpuArray, name)}
    assert missing <= MISSING, "NumPy's arrays have attributes without a status here"
    assert not {name for name in MISSING if hasattr(xp.GpuArray, name)}
    assert absent.ABSENT.keys() >= MISSING


def _parameters(function):
    return {
        name: parameter.default
        for name, parameter in list(inspect.signature(function).parameters.items())[1:]
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }


METHODS = sorted(
    name
    for name in dir(np.ndarray)
    if not name.startswith("_") and name not in MISSING | DIFFERENT.keys() and callable(getattr(np.ndarray, name))
)


@pytest.mark.parametrize("name", METHODS)
def test_methods_take_numpys_arguments(name):
    function = getattr(np.ndarray, name)
    if not function.__text_signature__:
        pytest.skip("this NumPy has no text of the signature")
    theirs, ours = _parameters(function), _parameters(getattr(xp.GpuArray, name))
    assert list(theirs) == list(ours)[: len(theirs)]
    assert theirs == {parameter: ours[parameter] for parameter in theirs}


@pytest.mark.parametrize("name", ["bit_count", "ctypes", "data", "getfield", "itemset", "numpy", "nonsense"])
def test_what_is_missing_says_why(name):
    x = xp.asarray(A)
    assert not hasattr(x, name)
    with pytest.raises(AttributeError, match=name) as caught:
        getattr(x, name)
    assert (": " in str(caught.value)) == (name != "nonsense")


@pytest.mark.parametrize(
    "ask",
    [
        np.isscalar, np.ndim, np.shape, np.size, np.iterable, len, np.result_type, np.iscomplexobj, np.isrealobj,
        lambda x: np.result_type(x, np.float32), lambda x: np.can_cast(x.dtype, np.float32),
        lambda x: hasattr(x, "__array_ufunc__"), lambda x: hasattr(x, "__array_function__"),
        lambda x: x.flags["C"], lambda x: x.T.flags["F_CONTIGUOUS"], lambda x: x.T.flags.fnc, lambda x: x.flags.behaved,
        lambda x: x.flags.carray, lambda x: x.T.flags.farray, lambda x: repr(x.flags), lambda x: x[:, ::2].T.flags.num,
        lambda x: x[0].flags.num, lambda x: x.flags == x.flags,
        lambda x: x.strides, lambda x: x.T.strides, lambda x: x[:, ::-2].strides, lambda x: x.nbytes,
        lambda x: x.itemsize, lambda x: x.base is None, lambda x: x[1:].base is None,
        lambda x: 7.0 in x, lambda x: 8 in x, lambda x: f"{x[0, 0]:8.3f}", lambda x: f"{x}", lambda x: [*x.flat],
        lambda x: x.tobytes("F"), lambda x: x.tolist(), lambda x: next(iter(x.flat)), lambda x: len(x.flat),
        lambda x: x.item(1, 2), lambda x: x.item(4), lambda x: np.array_equal(x.byteswap().byteswap(), x),
    ],
)  # fmt: skip
def test_questions_have_numpys_answers(ask, device):
    assert ask(xp.asarray(A, np.float32)) == ask(A.astype(np.float32))


@pytest.mark.parametrize(
    "change",
    [
        lambda x: setattr(x, "shape", (3, 2)),
        lambda x: setattr(x, "shape", -1),
        lambda x: x.byteswap(inplace=True),
        lambda x: x.fill(2),
        lambda x: x.put([0, 7, -1], [1.0, 2.0], mode="wrap"),
        lambda x: setattr(x, "flat", [1, 2]),
        lambda x: setattr(x.T, "flat", range(6)),
        lambda x: operator.setitem(x.flat, [0, 3], 9),
        lambda x: setattr(x, "real", 5),
        lambda x: x.sort(axis=0),
        lambda x: x.partition(1),
        lambda x: x.resize((4, 2), refcheck=False),
        lambda x: x.resize(2, 2, refcheck=False),
        lambda x: x.setflags(write=True),
    ],
)
@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")  # of NumPy 2.5's arrays
def test_changes_are_numpys(change, device):
    expected, actual = A.astype(np.float32), xp.asarray(A, np.float32)
    change(expected)
    change(actual)
    assert_same(actual, expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, p: x.clip(-1, 2, casting="unsafe"),
        lambda x, p: x.clip(max=1),
        lambda x, p: x.astype(int, order="F", casting="unsafe", copy=False),
        lambda x, p: x.copy("K"),
        lambda x, p: x.flatten("F"),
        lambda x, p: x.ravel("K"),
        lambda x, p: x.max(0, initial=1, where=p(A > 0), keepdims=True),
        lambda x, p: x.std(1, ddof=1, keepdims=True),
        lambda x, p: x.cumsum(1, dtype=np.float32),
        lambda x, p: x.choose(p(A), mode="clip") if x.dtype.kind == "i" else x,
        lambda x, p: x.view(np.int32),
        lambda x, p: x.view(dtype=np.uint32),
        lambda x, p: x.byteswap().view(np.uint32),
    ],
)
def test_methods_give_numpys_results(call, device):
    single = A.astype(np.float32)
    assert_same(call(xp.asarray(single), xp.asarray), call(single, np.asarray), ulp=2)


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint32", "int64", "float16", "float32", "complex64"])
def test_byteswap(dtype, device):
    host = np.arange(1, 7).astype(dtype)
    assert xp.asarray(host).byteswap().tobytes() == host.byteswap().tobytes()


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda x: x.__delitem__(0), ValueError),
        (lambda x: setattr(x.T, "shape", (6,)), AttributeError),
        (lambda x: setattr(x, "shape", (5,)), ValueError),
        (lambda x: f"{x:>9}", TypeError),
        (lambda x: x.fill([1, 2]), ValueError),
        (lambda x: x.copy("Z"), ValueError),
        (lambda x: x.astype(int, order="Z"), ValueError),
        (lambda x: x[0].resize(9), ValueError),
        (lambda x: operator.setitem(x.flags, "C", True), KeyError),
        (lambda x: x.flags["nonsense"], KeyError),
        (lambda x: x.put([77], 0), IndexError),
        (float, TypeError),
        (operator.index, TypeError),
        (bool, ValueError),
    ],
)
@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")  # of NumPy 2.5's arrays
def test_what_numpy_refuses_is_refused(wrong, error, device):
    for x in (A.copy(), xp.asarray(A, np.float32)):
        with pytest.raises(error):
            wrong(x)


@pytest.mark.parametrize("name", ["dtype", "strides", "T", "device"])
def test_what_cannot_be_set_says_so(name):
    with pytest.raises(AttributeError):
        setattr(xp.asarray(A), name, None)


def test_write_protection(device):
    x = xp.asarray(A, np.float32)
    x.flags.writeable = False
    view = x[0]
    for write in (lambda: operator.setitem(view, 0, 1), lambda: operator.iadd(x, 1), lambda: np.put(x, [0], 1)):
        with pytest.raises(ValueError, match="read-only"):
            write()
    with pytest.raises(ValueError, match="share memory"):
        np.broadcast_to(x, (2, 2, 3)).setflags(write=True)
    with pytest.raises(ValueError, match="read-only"):
        view.setflags(write=True)
    x.flags["WRITEABLE"] = True
    view.setflags(write=True)
    x[0] = 1
    assert x[0].tolist() == [1, 1, 1]


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_arrays_are_pickled_with_their_device(protocol, device, tmp_path):
    x = xp.asarray(A, np.float32)[:, ::2]
    again = pickle.loads(pickle.dumps(x, protocol))
    assert again.device == x.device
    assert_same(again, np.asarray(x))
    x.dump(tmp_path / "array")
    with (tmp_path / "array").open("rb") as file:
        assert_same(pickle.load(file), np.asarray(x))
    assert_same(pickle.loads(x.dumps()), np.asarray(x))
    x.tofile(tmp_path / "raw")
    assert (tmp_path / "raw").read_bytes() == np.asarray(x).tobytes()


def test_pickles_land_on_the_default_device_or_on_the_one_they_were_pinned_to():
    with xp.using(device="cpu"):
        default, pinned = (pickle.dumps(xp.asarray(A, device=name)) for name in (None, "wgpu:0"))
    with xp.using(device="wgpu:0"):
        assert pickle.loads(default).device.name == "wgpu:0"
    with xp.using(device="auto"):
        assert pickle.loads(default).device.name == "auto"
        assert pickle.loads(pinned).device.name == "wgpu:0"


def test_resizing_what_others_may_see_is_refused(device):
    x = xp.asarray(A, np.float32)
    x.resize(3, 3)
    assert_same(x, np.append(A, [0, 0, 0]).reshape(3, 3).astype(np.float32))
    row = x[1]
    with pytest.raises(ValueError, match="cannot resize an array that references"):
        x.resize(2)
    x.resize(2, refcheck=False)
    x[:] = 5
    assert row.tolist() == [0.5, 7.0, -4.0]


def test_copies_have_storage_of_their_own(device):
    x = xp.asarray(A, np.float32)
    copies = [copy.copy(x), copy.deepcopy(x), x.copy(), copy.deepcopy({"a": [x]})["a"][0]]
    x[0] = 9
    for other in copies:
        assert other.device == x.device
        assert_same(other, A.astype(np.float32))


def test_flat_is_an_iterator(device):
    ours, theirs = xp.asarray(A, np.float32).T.flat, A.astype(np.float32).T.flat
    for flat in (ours, theirs):
        next(flat)
        next(flat)
    assert (ours.index, ours.coords) == (theirs.index, theirs.coords)
    assert float(next(ours)) == float(next(theirs))
