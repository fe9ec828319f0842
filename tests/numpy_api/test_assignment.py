"""Python's numbers where elements of a dtype are wanted: converted, refused or promoted as NumPy does it."""

import numpy as np
import pytest

import gpuarray as xp

BYTES = np.array([1, 2, 100], np.int8)


def written(write):
    """Return a call that writes to a copy of the bytes and returns it."""

    def call(p):
        array = p(BYTES)
        write(array)
        return array

    return call


CALLS = {
    "item": written(lambda x: x.__setitem__(0, 300)),
    "list": written(lambda x: x.__setitem__(slice(2), [7, 300])),
    "tuple": written(lambda x: x.__setitem__([0, 1], (7, -129))),
    "mask": written(lambda x: x.__setitem__(x > 1, [300, 7])),
    "scalar": written(lambda x: x.__setitem__(0, np.int64(300))),
    "nan": written(lambda x: x.__setitem__(slice(2), [7, np.nan])),
    "complex": written(lambda x: x.__setitem__(slice(2), [7, 1j])),
    "fractions": written(lambda x: x.__setitem__(slice(2), [7.9, -7.9])),
    "text": written(lambda x: x.__setitem__(slice(2), ["7", "-7"])),
    "range": written(lambda x: x.__setitem__(slice(3), range(126, 129))),
    "deeper list": written(lambda x: x.__setitem__(slice(None), [[1, 2, 3]])),
    "deeper list of an array": written(lambda x: x.__setitem__(..., [np.array([1, 2, 3])])),
    "deeper array": written(lambda x: x.__setitem__(slice(None), np.array([[1, 2, 3]]))),
    "deeper list at positions": written(lambda x: x.__setitem__([0, 1], [[1, 2]])),
    "range as an element": written(lambda x: x.__setitem__(0, range(1))),
    "list as a view of an element": written(lambda x: x.__setitem__((0, ...), [1])),
    "fill": written(lambda x: x.fill(300)),
    "flat": written(lambda x: x.flat.__setitem__(slice(None), [300])),
    "flat element": written(lambda x: x.flat.__setitem__(0, [1])),
    "flat without values": written(lambda x: x.flat.__setitem__(slice(None), [])),
    "flat with a new axis": written(lambda x: x.flat.__setitem__(None, 1)),
    "put": written(lambda x: np.put(x, [0], 300)),
    "place": written(lambda x: np.place(x, x > 1, [300])),
    "putmask": written(lambda x: np.putmask(x, x > 1, 300)),
    "copyto": written(lambda x: np.copyto(x, 300)),
    "asarray": lambda p: np.asarray([300], np.int8, like=p(BYTES)),
    "array": lambda p: np.array([7, 128], np.int8, like=p(BYTES)),
    "full": lambda p: np.full(2, 300, np.int8, like=p(BYTES)),
    "full of NaN": lambda p: np.full(2, np.nan, np.int32, like=p(BYTES)),
    "full_like": lambda p: np.full_like(p(BYTES), 300),
    "full_like of fractions": lambda p: np.full_like(p(BYTES), 2.7),
    "full_like of scalars": lambda p: np.full_like(p(BYTES), np.int64(300)),
    "insert": lambda p: np.insert(p(BYTES), 1, 300),
    "insert fractions": lambda p: np.insert(p(BYTES), 1, 2.7),
    "append": lambda p: np.append(p(BYTES), 300),
    "pad": lambda p: np.pad(p(BYTES), 1, constant_values=300),
    "pad with fractions": lambda p: np.pad(p(BYTES), 1, constant_values=2.7),
    "choose": lambda p: np.choose([0, 1, 0], [p(BYTES), 300]),
    "choose floats": lambda p: np.choose([0, 1, 0], [p(np.ones(3, np.float32)), 0.1]),
    "choose lists": lambda p: np.choose([0, 1, 0], [p(np.ones(3, np.float32)), [0.1]]),
    "select": lambda p: np.select([p(BYTES) > 1], [p(BYTES)], 300),
    "where": lambda p: np.where(p(BYTES) > 1, p(BYTES), 300),
    "add": lambda p: p(BYTES) + 300,
    "add lists": lambda p: np.add(p(BYTES), [300]),
    "searchsorted": lambda p: np.searchsorted(p(BYTES), 300),
    "searchsorted below": lambda p: np.searchsorted(p(np.arange(3, dtype=np.uint8)), -1),
    "searchsorted of halves": lambda p: np.searchsorted(p(BYTES), 1.5),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CALLS)
def test_numbers_are_taken_or_refused_as_numpy_does(name, put, same):
    call = CALLS[name]
    try:
        expected = call(np.array)
    except Exception as error:
        with pytest.raises(type(error)):
            call(put)
    else:
        same(call(put), expected)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_numbers_between_two_floats_have_their_place(dtype, side, put, device):
    line = np.sort(np.array([0.1, 0.2, 0.30000001, 65504.0, np.inf], dtype))
    for value in (0.1, 0.2, 0.3, 1e5, 1e300, np.inf, -np.inf, np.nan, float(line[0])):
        assert int(np.searchsorted(put(line), value, side)) == np.searchsorted(line, value, side)
    assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize("values", [[300], (7, -129), [[1], [300]]])
def test_lists_become_elements_that_hold_them(values, device):
    with pytest.raises(OverflowError, match="out of bounds for int8"):
        xp.asarray(values, xp.int8)
    with pytest.raises(OverflowError):
        xp.array([xp.asarray(1, xp.int8), 300], dtype=xp.int8)
    assert xp.asarray(values, xp.int16).tolist() == np.asarray(values).tolist()


def test_lists_with_arrays_keep_their_numbers(put, same):
    x = put(np.ones(3, np.float32))
    x[:2] = [x[2] * 4, 0.1]
    same(x, np.array([4, 0.1, 1], np.float32))


SUBSCRIPTS = {
    "...->...": (2, 3), "i": (3,), "ij->ij": (2, 3), "ij->ji": (2, 3), "ijk->kij": (2, 3, 4), "i...->...i": (2, 3),
    "ii->i": (3, 3), "iij->ji": (2, 2, 3), "iii->i": (2, 2, 2), "...ii->...i": (2, 3, 3),
}  # fmt: skip


@pytest.mark.parametrize("subscripts", SUBSCRIPTS)
def test_einsum_that_computes_nothing_is_a_view(subscripts, put, same):
    host = np.arange(float(np.prod(SUBSCRIPTS[subscripts])), dtype=np.float32).reshape(SUBSCRIPTS[subscripts])
    x = put(host)
    for array in (x, host):
        view = np.einsum(subscripts, array)
        view[...] = -view
        np.einsum(subscripts, array, dtype=np.float32, out=view * 0)[...] = 7
    same(x, host)
    assert np.einsum(subscripts, x).strides == np.einsum(subscripts, host).strides
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        np.einsum(subscripts, x)[...] = 0


def test_einsum_that_computes_is_no_view(put, same):
    host = np.ones((3, 3), np.float32)
    x = put(host)
    for subscripts, options in (("ij->j", {}), ("ij->ij", {"dtype": np.int16, "casting": "unsafe"})):
        np.einsum(subscripts, x, **options)[...] = 7
    same(x, host)
    for call in (np.einsum, xp.einsum):
        with pytest.raises(ValueError, match="collapsing index"):
            call("ii->i", put(np.ones((1, 3))))


@pytest.mark.parametrize("axis", [0, -1])
def test_unique_numbers_of_an_axis_have_one_nan(axis, agree):
    line = np.array([np.nan, 1, -0.0, np.nan, 0], np.float32)
    agree(lambda p: np.unique(p(line), axis=axis))
    agree(lambda p: np.unique(p(line), return_index=True, return_inverse=True, return_counts=True, axis=axis))
    agree(lambda p: np.unique(p(line), axis=axis, equal_nan=False))
    agree(lambda p: np.unique(p(line.reshape(5, 1)), axis=axis))
