"""Cases that random programs found once, each by itself."""

from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.device import Device

INTEGERS = np.array([[3, -2, 5], [-9, 0, 1], [7, 7, -7]], np.int32)


def test_fold_of_a_wanted_value_without_elements(device: Device) -> None:
    empty = xp.asarray(np.zeros((0, 7), np.int32))
    doubled = empty * 2
    folded = doubled.any(axis=(0, 1), keepdims=True)
    xp.evaluate(doubled, folded)
    assert not np.asarray(folded)
    assert np.asarray(doubled).shape == (0, 7)


def test_fold_of_rows_of_one_element(device: Device) -> None:
    assert int(xp.asarray(np.array([2], np.uint8)).prod(axis=0)) == 2


@pytest.mark.parametrize("fuse", [True, False])
def test_operand_of_one_element_with_as_many_axes(device: Device, fuse: bool) -> None:
    host = np.arange(1.0, 9.0, dtype=np.float32).reshape(1, 8)
    with xp.using(fuse=fuse):
        x = xp.asarray(host)
        np.testing.assert_array_equal(np.asarray(x - x.sum(axis=(0, 1), keepdims=True)), host - host.sum())


def test_negative_integers_stay_negative_when_widened(device: Device) -> None:
    # Mesa takes a widened integer for unsigned where it is compared with a constant
    x = xp.asarray(INTEGERS)
    np.testing.assert_array_equal(np.asarray(x.astype(np.int64) < 0), INTEGERS < 0)
    np.testing.assert_array_equal(np.asarray(x.astype(np.int64).astype(np.float32)), INTEGERS.astype(np.float32))
    np.testing.assert_array_equal(np.asarray(np.abs(x.astype(np.int64))), np.abs(INTEGERS.astype(np.int64)))


def test_quotient_of_numbers_that_a_compiler_proves_to_be_zero(device: Device) -> None:
    x = xp.asarray(INTEGERS)
    with np.errstate(all="ignore"):
        zero = x < x
        assert np.isnan(np.asarray(zero / (x != x))).all()
        assert np.isnan(np.asarray(zero * xp.asarray(np.float32(np.inf)))).all()


@pytest.mark.parametrize("function", [np.exp, np.sin, np.cosh, np.log, np.tanh])
def test_function_of_a_number_that_a_compiler_proves(device: Device, function: Any) -> None:
    # Mesa compiles again with the values of parameters on which alone a branch depends
    x = xp.asarray(INTEGERS)
    one = (x <= x).astype(np.float32)
    np.testing.assert_allclose(np.asarray(function(one)), function(np.ones((3, 3), np.float32)), rtol=1e-6)


def test_ravel_copies_what_does_not_lie_side_by_side(device: Device) -> None:
    host = np.arange(10)
    x = xp.asarray(host)
    line = x[::2].ravel()
    line += 100
    np.testing.assert_array_equal(np.asarray(x), host)
    whole = x.ravel()
    whole += 1
    np.testing.assert_array_equal(np.asarray(x), host + 1)


def test_empty_mask_of_an_axis_without_elements(device: Device) -> None:
    x = xp.asarray(np.zeros((0, 4)))
    x[np.zeros(0, bool)] = 3
    assert x[np.zeros((0, 4), bool)].shape == (0,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [np.arcsin, np.arcsinh, np.sinh, np.cbrt, np.rint, np.trunc])
def test_function_of_a_fold(device: Device, function: Any, dtype: Any) -> None:
    # Mesa mixes up a value out of a loop with what a function of it returns early
    host = (np.random.default_rng(0).random((2, 300)) * 2 - 1).astype(dtype)
    result = np.asarray(function(xp.asarray(host).max(axis=0)))
    np.testing.assert_allclose(result, function(host.max(axis=0)), rtol=1e-6)


def test_product_of_columns_without_elements(device: Device) -> None:
    one = xp.asarray(np.ones((1, 8), np.float32)) <= 1
    empty = np.where(one, one[2:], one[2:])
    smallest = empty.argmin(axis=1, keepdims=True)
    np.testing.assert_array_equal(np.asarray((empty + smallest).prod(axis=0)), np.ones(8, np.int64))


def test_names_of_values_hide_no_type(device: Device) -> None:
    # an instruction for each number up to 70 at the level of scalars, and a type's name at the end
    x = xp.asarray(INTEGERS)
    total = xp.asarray(np.int32(0))
    for number in range(35):
        total = total + number
    result = (x + total).astype(np.int64)[np.array([0, 2])]
    np.testing.assert_array_equal(np.asarray(result), INTEGERS[[0, 2]] + sum(range(35)))
