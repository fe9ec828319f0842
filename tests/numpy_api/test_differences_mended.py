"""Arguments that once had other answers than NumPy's: empty lists, shapes that do not broadcast, booleans, folds."""

import functools
import math
import operator

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


@pytest.mark.parametrize("given", [{"nan": "1"}, {"posinf": [["a"]]}, {"neginf": 1j}], ids=repr)
def test_nan_to_num_refuses_dtypes(given, put):
    for array in (LINE, put(LINE)):
        with pytest.raises(TypeError):
            np.nan_to_num(array, **given)


@pytest.mark.parametrize("sorter", [COUNT * 1.0, COUNT > 0, COUNT[None], np.array(0), COUNT[:0] * 1.0], ids=repr)
def test_sorters_are_integers_of_one_axis(sorter, put):
    for array, order in ((COUNT, sorter), (put(COUNT), put(sorter))):
        with pytest.raises(TypeError, match="sorter"):
            np.searchsorted(array, 2, sorter=order)


@pytest.mark.parametrize("given", [{"nan": [1, 2, 3, 4]}, {"posinf": np.ones((1, 4))}, {"neginf": 2}], ids=repr)
def test_nan_to_num_takes_arrays(given, put, same):
    same(np.nan_to_num(put(LINE.astype(np.float32)), **given), np.nan_to_num(LINE.astype(np.float32), **given))


def test_conjugates_of_real_numbers_are_themselves(put):
    for array in (put(COUNT > 2), put(COUNT)):
        assert array.conj() is array
        assert array.conjugate() is array


@pytest.mark.parametrize("where", [1, 0, True, False])
def test_copyto_takes_numbers_as_masks(where, put, same):
    expected, actual = COUNT.copy(), put(COUNT)
    np.copyto(expected, 3, where=where)
    np.copyto(actual, 3, where=where)
    same(actual, expected)


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
    result, nothing, text = np.broadcast_arrays(put(COUNT), None, "a")
    assert isinstance(result, xp.GpuArray)
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


CASES = {
    "casting of operands": lambda np, x, k: np.add(x, k, casting="no"),
    "casting of truth values": lambda np, x, k: np.logical_and(x, k, casting="no"),
    "casting of two results": lambda np, x, k: np.divmod(x, k, casting="no"),
    "casting of masked outs": lambda np, x, k: np.divmod(x, 2.0, out=(k, k + 1), where=x > 0),
    "shapes of outs": lambda np, x, k: np.frexp(x, out=(x, np.zeros((2, 3), dtype=k.dtype))),
    "integers beyond the dtype": lambda np, x, k: np.greater_equal(k, -(2**63), out=x.astype(bool)),
    "matvec of a vector": lambda np, x, k: np.matvec(x, x),
    "vecmat of a vector": lambda np, x, k: np.vecmat(x, x),
    "vecdot of other axes": lambda np, x, k: np.vecdot(x, np.ones((3, 2)), axis=0),
    "shifts of no axes": lambda np, x, k: np.roll(x, [], axis=0),
    "no repeats": lambda np, x, k: np.repeat(x, []),
    "putmask of another dtype": lambda np, x, k: np.putmask(k, k > 0, x),
    "place of another dtype": lambda np, x, k: np.place(k, k > 0, x),
    "correlate of a number": lambda np, x, k: np.correlate(x, x[0]),
    "std into integers": lambda np, x, k: np.std(np.ones((3, 3)), axis=0, out=k),
    "quantile into integers": lambda np, x, k: np.quantile(np.ones((3, 3)), 0.5, axis=0, out=k),
    "one of two outs": lambda np, x, k: (*np.divmod(k, k + 1, out=(x, None)), x),
    "sums in the dtype of an out": lambda np, x, k: np.add.reduce(x.astype("f4") + 2**24, out=x[1:2].reshape(())),
    "running sums in the dtype of an out": lambda np, x, k: np.add.accumulate(x.astype("f4") + 2**24, out=x),
    "sums of groups in the dtype of an out": lambda np, x, k: np.add.reduceat(x.astype("f4") + 2**24, [0, 1, 2], out=x),
    "mean in the dtype of an out": lambda np, x, k: np.mean((x.astype("f4") + 2**24).reshape(1, 3), axis=0, out=x),
    "mean of a line in the dtype of an out": lambda np, x, k: np.mean(x.astype("f4") + 2**22, out=x[1:2].reshape(())),
    "first values of running sums into an out": lambda np, x, k: np.cumulative_sum(k[:2], out=x, include_initial=True),
    "positions beside an ellipsis of no axes": lambda np, x, k: x.reshape(3, 1)[None, [0, 1], ..., 0],
    "positions after an ellipsis of no axes": lambda np, x, k: x.reshape(1, 3)[None, 0, ..., [0, 0]],
    "an ellipsis of no axes before a mask": lambda np, x, k: x.reshape(1, 3)[..., np.ones((1, 3), dtype=bool)],
    "truth values after an ellipsis": lambda np, x, k: x.reshape(1, 3)[..., True, True],
    "a truth value after a position": lambda np, x, k: x.reshape(1, 3)[..., 2, True],
    "a mask of two axes after a position": lambda np, x, k: x.reshape(3, 1, 1)[..., 2, np.ones((1, 1), dtype=bool)],
    "ranges as operands": lambda np, x, k: [x + range(3), range(3) - x, x < range(3), k * range(1)],
    "order in lower case": lambda np, x, k: x.reshape((3, 1), order="c"),
    "rounded truth values": lambda np, x, k: np.round(x > 0),
    "rank of a vector": lambda np, x, k: np.linalg.matrix_rank(x),
    "lower triangle of a vector": lambda np, x, k: np.tril(x),
    "upper triangle of a vector": lambda np, x, k: np.triu(x, 1),
    "transforms over no axes": lambda np, x, k: np.fft.fftn(x, axes=()),
    "running sum of a number": lambda np, x, k: np.cumulative_sum(x[0]),
    "running sum into integers": lambda np, x, k: np.cumulative_sum(x, out=k),
    "powers of single precision": lambda np, x, k: np.logspace(np.float32(0), np.float32(2), 4),
    "angles folded in order": lambda np, x, k: np.arctan2.reduce(np.stack([x, x + 1], axis=1)),
    "no differences of a number": lambda np, x, k: np.diff(x[0], 0),
    "integrals over lines": lambda np, x, k: np.trapezoid(x, np.ones((2, 3))),
    "integrals over lines of one": lambda np, x, k: np.trapezoid(x, np.ones((3, 1))),
    "divisors over no axes": lambda np, x, k: np.gcd.reduce(k, axis=()),
    "dtypes beyond the values": lambda np, x, k: np.equal(k, 2**40),
    "quantile of a number along an axis": lambda np, x, k: np.quantile(x[0], 0.5, axis=0),
    "masks that are lists of numbers": lambda np, x, k: np.sum(x, where=[1, 0, 2]),
    "masks that are arrays of numbers": lambda np, x, k: np.sum(x, where=k),
    "decimals of NumPy": lambda np, x, k: x.astype(np.float32).round(np.int32(1)),
    "decimals that are no integer": lambda np, x, k: x.round(1.0),
    "variances from a mean": lambda np, x, k: np.var(x.astype(np.float32), mean=1.5),
    "smallest dtypes of lists": lambda np, x, k: np.zeros(1, np.min_scalar_type([1, 300])),
    "triangles of less than no rows": lambda np, x, k: np.tri(-1, 2),
    "resizing to no shape": lambda np, x, k: (y := x.copy(), y.resize(), y)[2],
}


@pytest.mark.parametrize("limit", [0, 4096], ids=["recorded", "at once"])
@pytest.mark.parametrize("name", CASES)
def test_results_and_errors_are_numpys(name, limit, device, same):
    host = np.array([1.5, -2, 4]), np.array([1, -3, 2], np.int32)
    with xp.using(direct_limit=limit, device=device):
        arrays = [xp.asarray(array) for array in host]
        try:
            expected = CASES[name](np, *host)
        except (TypeError, ValueError) as error:
            kind = next(kind for kind in (TypeError, np.exceptions.AxisError, ValueError) if isinstance(error, kind))
            with pytest.raises(kind):
                CASES[name](xp, *arrays)
        else:
            same(CASES[name](xp, *arrays), expected)


@pytest.mark.parametrize("limit", [0, 4096], ids=["recorded", "at once"])
def test_masked_comparisons_with_integers_beyond_the_dtype(limit, device):
    with xp.using(direct_limit=limit, device=device):  # NumPy 2.4 ends the process
        counts, result = xp.asarray(np.array([1, -3, 2], np.int32)), xp.zeros(3, dtype=bool)
        np.greater_equal(counts, -(2**63), out=result, where=counts > 0)
        assert result.tolist() == [True, False, True]


@pytest.mark.parametrize("limit", [0, 4096], ids=["recorded", "at once"])
def test_bessel_functions_of_infinity_are_infinite(limit, device):
    with xp.using(direct_limit=limit, device=device):
        assert np.i0(xp.asarray([np.inf, 0.0])).tolist() == [np.inf, 1]


@pytest.mark.parametrize("limit", [0, 4096], ids=["recorded", "at once"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum", "nancumprod"])
def test_running_folds_of_a_number_need_an_axis_of_results(name, limit, device):
    with xp.using(direct_limit=limit, device=device):  # NumPy 2.4 ends the process
        for out in (xp.asarray(0.0), np.asarray(0.0)):
            with pytest.raises(ValueError, match=r"\(\), not \(1,\)"):
                getattr(xp, name)(xp.asarray(2.0), out=out)
        assert getattr(xp, name)(xp.asarray(2.0), out=xp.zeros(1)).tolist() == [2]


@pytest.mark.parametrize("value", [None, "a", {}], ids=repr)
@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "ipow", "iand", "imatmul"])
def test_in_place_operators_refuse_what_is_no_number(name, value, put):
    with pytest.raises(TypeError):
        getattr(operator, name)(put(COUNT), value)


def test_in_place_operators_take_ranges(put, same):
    array = put(COUNT)
    array += range(5)
    same(array, COUNT * 2)


def test_putmask_without_values_changes_nothing(put, same):
    result = put(COUNT)
    np.putmask(result, result > 0, put(COUNT[:0].reshape(2, 0)))
    same(result, COUNT)


@pytest.mark.parametrize("ufunc", [np.hypot, np.gcd], ids=lambda ufunc: ufunc.__name__)
def test_a_fold_of_one_element_begins_with_the_identity(ufunc, put, same):
    column = np.array([[-2], [3]])
    same(ufunc.reduce(put(column), axis=1), ufunc.reduce(column, axis=1))


class Number(int):
    """An integer as enumerations have them."""


@pytest.mark.parametrize("key", [0, ..., [0], np.array([True, False])], ids=repr)
@pytest.mark.parametrize("value", [Number(300), Number(-1), Number(1 << 64)], ids=repr)
def test_subclasses_of_numbers_are_assigned_as_numbers(value, key, put):
    for array in (np.zeros(2, np.uint8), put(np.zeros(2, np.uint8))):
        with pytest.raises(OverflowError):
            array[key] = value


def test_subclasses_of_numbers_may_be_larger_than_any_dtype(put, same):
    same(put(LINE) + Number(1 << 64), LINE + (1 << 64))
    same(put(COUNT) < Number(1 << 64), COUNT < (1 << 64))
    with pytest.raises(OverflowError):
        put(COUNT) + Number(1 << 64)


@pytest.mark.parametrize("shape", [(4, 0, 0), (0, 3), (0, 2, 0)], ids=str)
def test_take_of_no_lines_looks_at_no_index(shape, put, same):
    array = np.ones(shape)
    same(np.take(put(array), [[7], [-9]], axis=-1), np.take(array, [[7], [-9]], axis=-1))


@pytest.mark.parametrize(("result", "error"), [(np.nan, ValueError), (np.inf, OverflowError)])
def test_results_are_assigned_as_numpys_scalars(result, error):
    with xp.using(device="cpu"):
        counts, results = xp.zeros(2, np.int64), xp.asarray([result])
        for array, value in ((counts, results[0]), (counts, results.max()), (counts.get(), results.get()[0])):
            with pytest.raises(error):
                array[0] = value


@pytest.mark.parametrize("shape", [(), (2,)], ids=str)
def test_imaginary_parts_of_real_numbers_are_not_written_to(shape, put):
    for array in (np.ones(shape).imag, put(np.ones(shape)).imag):
        for write in (
            lambda x: np.copyto(x, 5),
            lambda x: np.putmask(x, x >= 0, 5),
            lambda x: np.put(x, [0], 5),
            lambda x: np.add(x, 1, out=x),
        ):
            with pytest.raises(ValueError, match="read-only"):
                write(array)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("dtype", [np.int16, np.float32, np.complex64])
def test_cross_of_two_booleans_has_the_dtype_of_the_other_vectors(dtype, put):
    result = xp.cross(put(np.array([True, False])), put(np.array([1, 2, 3], dtype)))
    assert result.dtype == dtype
    assert result.tolist() == [0, -3, 2]
