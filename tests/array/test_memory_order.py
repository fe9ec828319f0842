"""Results are in the order of the memory of their operands, as NumPy's are."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from support import both, values

import gpuarray as xp
from gpuarray.settings import Config
from gpuarray.testing import assert_same

#: Functions of an array of shape (4, 5, 6) whose results have NumPy's strides.
ORDERED = {
    "reversed axes": lambda x: x.T + 1,
    "rotated axes": lambda x: 2 * x.transpose(2, 0, 1),
    "exchanged axes": lambda x: -x.swapaxes(1, 2),
    "moved axis": lambda x: np.moveaxis(x, 0, -1) / 2,
    "part": lambda x: x[::2, 1:].T * 3,
    "negative steps": lambda x: x[::-1].transpose(2, 0, 1) * 2,
    "two views alike": lambda x: x.T * x.T[::-1],
    "two orders": lambda x: x.T + x.T.copy(),
    "partly two orders": lambda x: x.transpose(1, 0, 2) + np.broadcast_to(x[0, 0], (5, 4, 6)),
    "broadcast": lambda x: x.T + x[:, 0, 0] * 0.5 + x.T[:, :1, :1],
    "broadcast view": lambda x: np.broadcast_to(x[:1], (4, 5, 6)).T * 2,
    "comparison": lambda x: x.T > 0,
    "selection": lambda x: np.where(x.T > 0, x.T, 0),
    "composition": lambda x: np.clip(x.T, -0.5, 0.5).round(1),
    "conversion": lambda x: x.T.astype(np.int32),
    "parts of complex numbers": lambda x: (x.T + 1j).imag,
    "chain": lambda x: ((x.T * 2 + 1).swapaxes(0, 1) * 3)[1:] + 1,
    "copy in C order": lambda x: (x.T * 2).copy() + 1,
    "reduction": lambda x: (x.T * 2).sum(0),
    "reduction of two axes": lambda x: x.transpose(1, 2, 0).max((0, 2)),
    "kept axis": lambda x: x.T - x.T.mean(1, keepdims=True),
    "running sum": lambda x: x.T.cumsum(0),
    "sorted": lambda x: np.sort(x, axis=0),
    "positions in order": lambda x: np.argsort(x.T, axis=1, stable=True),
    "joined": lambda x: np.concatenate([x.T, x.T], 1),
    "stacked": lambda x: np.stack([x.T, x.T]),
    "written": lambda x: _written(x.T * 2),
    "out": lambda x: np.multiply(x.T, 2, out=x.T * 0),
    "updated": lambda x: _updated(x.T * 2),
    "filled": lambda x: _filled(x.T * 2, x),
    "flat": lambda x: (x.T * 2).ravel("K"),
}  # fmt: skip


def _written(y: Any) -> Any:
    y[0, 1:] = 7
    y[:, 2] += 1
    return y


def _updated(y: Any) -> Any:
    view = y[1:]
    y += 1
    view *= y[1:]
    return y


def _filled(y: Any, x: Any) -> Any:
    y.T[...] = x
    return y


@pytest.mark.parametrize("limit", [0, Config().direct_limit])
@pytest.mark.parametrize("name", ORDERED)
def test_results_have_numpys_strides(name: str, limit: int, device: Any) -> None:
    host, x = both(values((4, 5, 6), np.float32))
    with xp.using(direct_limit=limit):
        expected, result = ORDERED[name](host), ORDERED[name](x)
        assert result.strides == expected.strides
        assert (result.flags.c_contiguous, result.flags.f_contiguous) == (
            expected.flags.c_contiguous,
            expected.flags.f_contiguous,
        )
        assert_same(result, expected)
        seen = np.asarray(result)
        assert seen.strides == expected.strides or not (expected.flags.c_contiguous or expected.flags.f_contiguous)


#: Functions of a namespace and an array whose results are in an order of memory that an argument names, or NumPy's own.
COPIES = {
    "copy": lambda m, x: x.T.copy(),
    "copy in Fortran order": lambda m, x: x.copy("F"),
    "copy in any order": lambda m, x: x.T.copy("A"),
    "copy in the order of memory": lambda m, x: m.copy(x.transpose(1, 0, 2)),
    "copy of the module": lambda m, x: copy.copy(x.T),
    "array": lambda m, x: m.array(x.T),
    "array in C order": lambda m, x: m.asarray(x.T, order="C"),
    "array in Fortran order": lambda m, x: m.asarray(x, order="F"),
    "converted in C order": lambda m, x: x.T.astype(np.int32, "C"),
    "converted in Fortran order": lambda m, x: x.astype(np.int32, "F"),
    "converted": lambda m, x: m.asarray(x.T, np.int32),
    "of Fortran order": lambda m, x: m.asfortranarray(x),
    "of C order": lambda m, x: m.ascontiguousarray(x.T),
    "required": lambda m, x: m.require(x, requirements="F"),
    "zeros": lambda m, x: m.zeros((3, 4), order="F"),
    "constant": lambda m, x: m.full((3, 4), 2, order="F"),
    "like another": lambda m, x: m.zeros_like(x.T),
    "like another, in C order": lambda m, x: m.full_like(x.T, 2, order="C"),
    "of NumPy": lambda m, x: m.asarray(np.ones((3, 4, 5)).T),
    "part of NumPy": lambda m, x: m.array(np.ones((3, 4, 5))[::2].transpose(2, 0, 1)),
    "pickled": lambda m, x: pickle.loads(pickle.dumps(m.asarray(x.T + 0))),
}  # fmt: skip


@pytest.mark.parametrize("limit", [0, Config().direct_limit])
@pytest.mark.parametrize("name", COPIES)
def test_copies_are_in_the_order_that_is_asked_for(name: str, limit: int, device: Any) -> None:
    host, x = both(values((4, 5, 6), np.float32))
    with xp.using(direct_limit=limit, device=device.name):
        expected, result = COPIES[name](np, host), COPIES[name](xp, x)
        assert (result.flags.c_contiguous, result.flags.f_contiguous) == (
            expected.flags.c_contiguous,
            expected.flags.f_contiguous,
        )
        if result.dtype == expected.dtype:
            assert result.strides == expected.strides
            assert_same(result, expected)
        result[1] = 3
        expected[1] = 3
        assert np.array_equal(np.asarray(result), expected)
        assert_same(x, host)


@pytest.mark.parametrize("limit", [0, Config().direct_limit])
def test_elements_of_a_transposed_view_are_read_in_the_order_of_its_memory(limit: int, device: Any) -> None:
    host, x = both(values((4, 5, 6), np.float32))
    with xp.using(direct_limit=limit):
        for axes in ((2, 1, 0), (1, 2, 0)):
            result = np.asarray(x.transpose(axes))
            assert result.strides == host.transpose(axes).strides
            assert np.array_equal(result, host.transpose(axes))


@pytest.mark.parametrize("limit", [0, Config().direct_limit])
def test_sorted_lines_are_no_views(limit: int, device: Any) -> None:
    with xp.using(direct_limit=limit, device=device):
        assert np.sort(xp.ones((3, 4)), axis=0).base is None


@pytest.mark.parametrize("limit", [0, Config().direct_limit])
def test_results_in_another_order_are_no_views(limit: int, device: Any) -> None:
    _, x = both(values((4, 6), np.float32))
    with xp.using(direct_limit=limit):
        y = x.T * 2
        assert y.base is None
        assert y.flags.owndata
        assert y.flags.writeable
        view = y.T
        assert view.base is y
        assert view.flags.c_contiguous
        view[0] = 1
        assert_same(y[:, 0], np.ones(6, np.float32))


#: Functions of arrays of shapes (3, 40, 50) and (50, 40), and how many steps they take, as for operands in C order.
STEPS = {
    "one view": (lambda x, w: 0.5 * x.transpose(2, 0, 1), 1),
    "chain": (lambda x, w: np.sqrt(abs(w.T * 2 + 1)) - w.T, 1),
    "with its sum": (lambda x, w: _with_sum(w.T * 2), 1),
    "softmax": (lambda x, w: _softmax(w.T), 1),
    "centred": (lambda x, w: w.T - w.T.mean(0), 1),
    "product": (lambda x, w: w.T @ w, 1),
    "product with a prologue": (lambda x, w: (0.5 * w.T) @ w[:, 0], 1),
    "image": (lambda x, w: (x.transpose(1, 2, 0) / 255 - 0.5).transpose(2, 0, 1) * 2, 1),
    "update": (lambda x, w: _updated_once(w.T * 2), 1),
}  # fmt: skip


def _with_sum(y: Any) -> Any:
    return y, y.sum(0)


def _softmax(y: Any) -> Any:
    exponentials = np.exp(y - y.max(0))
    return exponentials / exponentials.sum(0)


def _updated_once(y: Any) -> Any:
    y *= y.T[0, 0] + y
    return y


@pytest.mark.usefixtures("planned")
@pytest.mark.parametrize("name", STEPS)
def test_steps_of_permuted_operands(name: str, device: Any) -> None:
    function, steps = STEPS[name]
    x, w = values((3, 40, 50), np.float32), values((50, 40), np.float32, seed=2)
    result = function(xp.asarray(x, device=device), xp.asarray(w, device=device))
    results = result if type(result) is tuple else (result,)
    explained = xp.explain(*results).steps
    assert len(explained) == steps
    expected = function(x, w)
    for one, other in zip(results, expected if type(expected) is tuple else (expected,), strict=True):
        assert_same(one, other, ulp=8, signed_zeros=False)


@pytest.mark.usefixtures("planned")
def test_a_loop_over_a_permuted_operand_reads_and_writes_in_order(device: Any) -> None:
    x = xp.asarray(values((40, 50), np.float32), device=device)
    (step,) = xp.explain(0.5 * x.T + x.T).steps
    assert step.text.startswith("loop 0+1")  # as one axis


def test_derivatives_and_maps_of_permuted_operands(device: Any) -> None:
    host, x = both(values((4, 6), np.float32))
    weights = xp.asarray(values((6, 4), np.float32, seed=3), device=device)
    gradient = xp.grad(lambda v: ((v.T * weights) ** 2).sum())(x)
    assert_same(gradient, 2 * host * np.asarray(weights).T ** 2, signed_zeros=False)
    mapped = xp.vmap(lambda v: 2 * v.T - v.T.sum(0), in_axes=1)(
        xp.asarray(values((4, 3, 6), np.float32), device=device)
    )
    columns = values((4, 3, 6), np.float32).transpose(1, 2, 0)
    assert_same(mapped, 2 * columns - columns.sum(1, keepdims=True))


def test_recorded_functions_return_the_order_of_memory(device: Any) -> None:
    host, x = both(values((4, 6), np.float32))
    twice = xp.jit(lambda v: 2 * v.T)
    for _ in range(2):
        result = twice(x)
        assert result.strides == (2 * host.T).strides
        assert result.base is None
        assert_same(result, 2 * host.T)


def test_parts_of_large_arrays_by_advanced_keys_are_in_numpys_order() -> None:
    host = np.arange(float(2 * Config().direct_limit)).reshape(-1, 64, 32)
    x = xp.asarray(host, device="cpu")
    for key in (np.s_[:, :, [0, 2]], np.s_[:, [1, 1]], np.s_[[3, 5]], np.s_[:4, np.array([[0], [1]])]):
        expected, part = host[key], x[key]
        assert part.strides == expected.strides
        assert part.base is None
        part[0] += 1
        expected[0] += 1
        assert_same(part, expected)
    assert_same(x, np.arange(float(host.size)).reshape(host.shape))
