"""Temporary results that NumPy gets: memory that nothing else knows is not copied, and all other memory is."""

import numpy as np
import pytest

import gpuarray as xp

SIZES = (100, 600_000)


@pytest.fixture(params=["cpu", "auto"], autouse=True)
def device(request):
    with xp.using(device=request.param, offload="auto" if request.param == "cpu" else "never", software=True):
        yield request.param


@pytest.fixture(params=SIZES)
def x(request):
    return xp.asarray(np.arange(float(request.param)))


def cleared(values):
    """Return values before they are set to zero."""
    before = values.copy()
    values[...] = 0
    return before


def test_results_are_given_up(x, monkeypatch):
    given = []
    original = xp.GpuArray._given_up
    monkeypatch.setattr(xp.GpuArray, "_given_up", lambda self: given.append(original(self)) or given[-1])
    actual = np.asarray(x * 2 + 1)
    assert actual is given[0]
    assert actual.flags.writeable
    np.testing.assert_array_equal(cleared(actual), np.arange(float(len(x))) * 2 + 1)
    np.testing.assert_array_equal(np.asarray(x * 2 + 1), np.arange(float(len(x))) * 2 + 1)


def test_arrays_with_a_name_are_copied(x):
    y = x * 2
    np.testing.assert_array_equal(cleared(np.asarray(y)), 2.0 * np.arange(len(x)))
    kept = [x * 3]
    np.testing.assert_array_equal(cleared(np.asarray(kept[0])), 3.0 * np.arange(len(x)))
    assert float(y[5]) == 10
    assert float(kept[0][5]) == 15


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[3:],
        lambda x: x.reshape(2, -1),
        lambda x: x[:],
        lambda x: x.T,
        lambda x: +x,
        lambda x: x.copy(),
        lambda x: xp.asarray(x),
        lambda x: x.view(np.int64),
        lambda x: x[::-1],
        lambda x: x.astype(np.float64, copy=False),
        lambda x: x.real,
        lambda x: np.broadcast_to(x, (2, len(x))),
    ],
)
@pytest.mark.parametrize("is_pending", [False, True])
def test_memory_of_other_arrays_is_copied(x, view, is_pending):
    y = x * 2
    if not is_pending:
        xp.evaluate(y)
    values = np.asarray(view(y))
    assert values.flags.writeable
    values[...] = 0
    np.testing.assert_array_equal(np.asarray(y[:]), 2.0 * np.arange(len(x)))


def test_parts_of_complex_arrays_are_copied(x):
    z = x + 1j * x
    cleared(np.asarray(z.real))
    cleared(np.asarray(z.imag))
    assert complex(z[5]) == 5 + 5j


def test_what_follows_from_a_value_keeps_it(x):
    later = []

    def made():
        y = x * 2
        later.append(y + 1)
        later.append(y[1:])
        return y

    cleared(np.asarray(made()))
    np.testing.assert_array_equal(np.asarray(later[0]), 2.0 * np.arange(len(x)) + 1)
    np.testing.assert_array_equal(np.asarray(later[1]), 2.0 * np.arange(1, len(x)))


def test_what_numpy_gave_is_not_given_back(x):
    source = np.arange(float(len(x)))
    cleared(np.asarray(xp.asarray(source)))
    assert source[5] == 5


def test_writes_come_before(x):
    def written():
        y = x * 3
        y[0] = 7
        return y

    expected = 3.0 * np.arange(len(x))
    expected[0] = 7
    np.testing.assert_array_equal(cleared(np.asarray(written())), expected)
    np.testing.assert_array_equal(np.asarray(written()), expected)


def test_conversions_of_dtype_and_copies(x):
    assert np.asarray(x * 2, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.array(x * 2), 2.0 * np.arange(len(x)))
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(x * 2, copy=False)


def test_functions_of_jit_keep_their_memory(x):
    function = xp.jit(lambda x: x * 2 + 1)
    first = np.asarray(function(x))
    second = np.asarray(function(x + 1))
    np.testing.assert_array_equal(cleared(first), 2.0 * np.arange(len(x)) + 1)
    np.testing.assert_array_equal(second, 2.0 * np.arange(len(x)) + 3)


def test_constants_and_generated_arrays(x):
    for make in (
        lambda: xp.zeros(len(x)),
        lambda: xp.arange(len(x)),
        lambda: xp.full(len(x), 3.0),
        lambda: xp.eye(600),
    ):
        first = make().get()
        cleared(np.asarray(make()))
        np.testing.assert_array_equal(np.asarray(make()), first)
