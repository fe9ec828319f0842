"""Arguments that once had other answers than NumPy's: empty lists, shapes that do not broadcast, booleans, folds."""

import functools
import math

import numpy as np
import pytest

import gpuarray as xp

LINE = np.array([np.nan, 1, np.inf, -np.inf])
COUNT = np.arange(5)


@pytest.mark.parametrize("positions", [[], [1, 3], [True, False, True, False, False]], ids=repr)
def test_delete_takes_lists(positions, put, same):
    same(np.delete(put(COUNT), positions), np.delete(COUNT, positions))


@pytest.mark.parametrize("given", [{"nan": [1, 2]}, {"posinf": [1, 2, 3]}, {"neginf": np.ones((2, 1))}], ids=repr)
def test_nan_to_num_refuses_shapes(given, put):
    for array in (LINE, put(LINE)):
        with pytest.raises(ValueError, match="broadcast"):
            np.nan_to_num(array, **given)


@pytest.mark.parametrize("given", [{"nan": [1, 2, 3, 4]}, {"posinf": np.ones((1, 4))}, {"neginf": 2}], ids=repr)
def test_nan_to_num_takes_arrays(given, put, same):
    same(np.nan_to_num(put(LINE.astype(np.float32)), **given), np.nan_to_num(LINE.astype(np.float32), **given))


def test_conjugates_of_real_numbers_are_themselves(put):
    for array in (put(COUNT > 2), put(COUNT)):
        assert array.conj() is array
        assert array.conjugate() is array


@pytest.mark.parametrize("where", [1, 0, True, False])
def test_copyto_takes_numbers_as_masks(where, put, same):
    expected, found = COUNT.copy(), put(COUNT)
    np.copyto(expected, 3, where=where)
    np.copyto(found, 3, where=where)
    same(found, expected)


def test_polyval_needs_an_axis_of_coefficients(put):
    for x in (2.0, put(LINE)):
        with pytest.raises(TypeError, match="0-d array"):
            xp.polyval(3, x)


def test_reductions_fold_from_the_first_element():
    numbers = np.array([[1.0, 2, 3], [4, 5, 6], [0.5, 0.25, 7]])
    for ufunc, function in ((np.arctan2, math.atan2), (np.power, pow), (np.subtract, lambda a, b: a - b)):
        expected = [functools.reduce(function, row) for row in numbers.tolist()]
        np.testing.assert_allclose(ufunc.reduce(xp.asarray(numbers, device="cpu"), axis=1).get(), expected)


def test_operands_beside_arrays_broadcast(put):
    found, nothing, text = np.broadcast_arrays(put(COUNT), None, "a")
    assert isinstance(found, xp.GpuArray)
    assert nothing.tolist() == [None] * 5
    assert text.tolist() == ["a"] * 5


def test_widths_of_edges_are_integers(put):
    for width, error in ((1.5, TypeError), (-1, ValueError)):
        for value in (np.ones(3), np.ones(())):
            for made in (np.array, put):
                with pytest.raises(error):
                    np.pad(made(value), width)


def test_axes_of_numbers(put, same):
    number = np.array(2.5)
    for made in (np.array, put):
        with pytest.raises(np.exceptions.AxisError):
            np.median(made(number), axis=0)
        with pytest.raises(np.exceptions.AxisError):
            np.squeeze(made(number), axis=1)
    same(np.squeeze(put(number), axis=-1), np.squeeze(number, axis=-1))


def test_bincount_refuses_floats_of_which_there_are_none(put):
    for array in (np.empty(0), put(np.empty(0))):
        with pytest.raises(TypeError, match="Cannot cast"):
            np.bincount(array)
    assert not xp.bincount([]).size


def test_tensordot_over_axes_that_do_not_exist_raises_numpys_error(put):
    for array in (np.array(2), put(np.array(2))):
        with pytest.raises(IndexError):
            np.tensordot(array, array, axes=1)


def test_at_refuses_dtypes_before_positions(put):
    for array in (np.zeros((0, 3)), put(np.zeros((0, 3)))):
        with pytest.raises(TypeError):
            np.bitwise_and.at(array, [0], 1)


def test_real_if_close_is_a_view(put):
    for array in (np.array(2 + 0j), put(np.array(2 + 0j)), np.ones(3, complex), put(np.ones(3, complex))):
        real = np.real_if_close(array)
        array[...] = 5
        assert np.all(np.asarray(real) == 5)
