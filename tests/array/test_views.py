"""Views alias as in NumPy: single cases, and random programs of views and in-place updates."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import both, values

import gpuarray as xp
from gpuarray.testing import assert_same

VIEWS = {
    "slice": lambda a: a[1:4, ::2],
    "negative step": lambda a: a[::-1, 4:1:-1],
    "row": lambda a: a[2],
    "column": lambda a: a[:, -2],
    "newaxis": lambda a: a[:, None, 1:],
    "ellipsis": lambda a: a[..., 3],
    "element": lambda a: a[1, 2, ...],
    "transpose": lambda a: a.T,
    "matrix transpose": lambda a: a.mT[1:],
    "reshape": lambda a: a.reshape(2, -1, 3),
    "ravel": lambda a: a.ravel()[5:20],
    "squeeze": lambda a: a[:, None].squeeze(1),
    "swapaxes": lambda a: a.swapaxes(0, 1)[2],
    "real": lambda a: a.real,
    "diagonal of a copy": lambda a: a.copy().T,
    "transposed and sliced": lambda a: a.T[1:5:2, ::-1],
    "empty": lambda a: a[3:3],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_write_through_a_view_is_seen_by_all(name: str, device: Any) -> None:
    host, x = both(values((5, 6), np.float32))
    view, expected = VIEWS[name](x), VIEWS[name](host)
    before = x + 0
    assert view.shape == expected.shape
    assert view.strides == expected.strides or 0 in expected.shape
    view += 10
    expected += 10
    assert_same(x, host)
    x *= 2
    host *= 2
    assert_same(view, expected)
    view[...] = 3
    expected[...] = 3
    assert_same(x, host)
    assert_same(before, values((5, 6), np.float32))


@pytest.mark.parametrize("view", [np.s_[:, 1], np.s_[::-1, 0], np.s_[1:, ::2], np.s_[2]])
def test_ravel_copies_what_is_not_contiguous(view: Any, device: Any) -> None:
    host, x = both(values((5, 6), np.float32))
    for m, a in ((np, host), (xp, x)):
        a[view].ravel()[0] = 9
        m.ravel(a[view])[1] = 8
        a[view].reshape(-1)[2] = 7
    assert_same(x, host)


SCALAR_VIEWS = {
    "reshape": lambda m, s: s.reshape(1, 1),
    "ravel": lambda m, s: s.ravel(),
    "newaxis": lambda m, s: s[None],
    "ellipsis": lambda m, s: s[...],
    "asarray": lambda m, s: m.asarray(s),
    "ascontiguousarray": lambda m, s: m.ascontiguousarray(s),
    "require": lambda m, s: m.require(s, requirements="W"),
    "atleast_2d": lambda m, s: m.atleast_2d(s),
    "expand_dims": lambda m, s: m.expand_dims(s, 0),
    "copy": lambda m, s: m.copy(s),
}


@pytest.mark.parametrize("size", [3, 40_000])
@pytest.mark.parametrize("name", SCALAR_VIEWS)
def test_views_of_results_without_axes_are_copies(name: str, size: int, device: Any) -> None:
    for m in (np, xp):
        total = m.asarray(np.ones(size, np.float32)).sum()
        seen = same = SCALAR_VIEWS[name](m, total)
        seen += 1
        seen[...] += 1
        assert (float(total), float(same.sum())) == (size, size + 2)


@pytest.mark.parametrize(
    "change", [lambda s: s.copy(), lambda s: s.T, lambda s: s.astype(np.int32), lambda s: s.reshape(()), np.squeeze]
)
def test_what_is_made_of_a_result_without_axes_is_a_value(change: Any, device: Any) -> None:
    for m in (np, xp):
        total = m.asarray([1.0, 2.0], dtype=np.float32).sum()
        changed = before = change(total)
        changed += m.asarray([1.0, 2.0], dtype=np.float32)
        assert (changed.tolist(), float(before), hash(before)) == ([4.0, 5.0], 3.0, hash(3))


def test_a_broadcast_result_without_axes_is_read_only(device: Any) -> None:
    seen = xp.broadcast_to(xp.asarray([1.0, 2.0], dtype=np.float32).sum(), (3,))
    with pytest.raises(ValueError, match="read-only"):
        seen[0] = 1


@pytest.mark.parametrize("part", ["real", "imag"])
def test_components_are_views(part: str, device: Any) -> None:
    host, x = both(values((4, 5), np.complex64))
    view, expected = getattr(x, part)[1:, ::2], getattr(host, part)[1:, ::2]
    assert view.strides == expected.strides
    view *= 2
    expected *= 2
    view[0] = 7
    expected[0] = 7
    assert_same(x, host)
    setattr(x, part, 1.5)
    setattr(host, part, 1.5)
    assert_same(x, host)


def test_overlapping_source_and_target(device: Any) -> None:
    for target, source in (
        (slice(1, None), slice(None, -1)),
        (slice(None, -1), slice(1, None)),
        (slice(None), slice(None, None, -1)),
    ):
        host, x = both(np.arange(8, dtype=np.float32))
        host[target] = host[source]
        x[target] = x[source]
        assert_same(x, host)
        x[target] += x[source]
        host[target] += host[source]
        assert_same(x, host)


@pytest.mark.usefixtures("planned")
def test_an_update_of_a_part_is_one_write(device: Any) -> None:
    host, array = both(values((5, 6)))
    for x in (host, array):
        x[1:3, ::2] += 1
        x[...] -= 2
        x[0][1:4] *= 3
        x[1:3] = x[1:3]
        x[2:4] = x[1:3]
    assert_same(array, host)
    node = array._cell.node
    array[1:3] = array[1:3]
    assert array._cell.node is node
    array[1:3] += 1
    assert array._cell.node.inputs[0] is node
    with pytest.raises(IndexError):
        array[7] = array[1]
    fixed = xp.broadcast_to(array[0], (2, 6))
    with pytest.raises(ValueError, match="read-only"):
        fixed[:1] = fixed[:1]
    complex_array = xp.asarray(np.array([1 + 2j, 3 - 1j]))
    complex_array.real[:] = complex_array.imag[:]
    assert np.asarray(complex_array).tolist() == [2 + 2j, -1 - 1j]


def test_elements_are_values_and_not_views(device: Any) -> None:
    x = xp.asarray([1.0, 2.0, 3.0])
    kept = x[0]
    x[0], x[2] = x[2], x[0]
    assert float(kept) == 1
    assert x.tolist() == [3, 2, 1]
    total = x.sum()
    other = total
    total += 1
    assert float(other) == 6
    assert float(total) == 7
    zero = xp.zeros(())
    same = zero
    zero += 1
    assert float(same) == 1


def test_copies_do_not_alias(device: Any) -> None:
    x = xp.arange(6.0)
    for copied in (x.copy(), x.flatten(), x.astype(x.dtype), x[[0, 1, 2]], x + 0, +x, xp.asarray(x, copy=True)):
        copied[0] = 99
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    assert xp.asarray(x) is x
    host = np.arange(3.0)
    taken = xp.asarray(host)
    host[0] = 99
    assert taken.tolist() == [0, 1, 2]
    given_back = np.asarray(taken)
    given_back[0] = 99
    assert taken.tolist() == [0, 1, 2]


def test_read_only_views(device: Any) -> None:
    x = xp.arange(3.0)
    for view in (xp.broadcast_to(x, (2, 3)), xp.broadcast_arrays(x, xp.ones((2, 1)))[0], xp.diagonal(xp.eye(3))):
        assert not view.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            view += 1
    x += 1
    assert_same(xp.broadcast_to(x, (2, 3)), np.broadcast_to(np.arange(1.0, 4), (2, 3)))


def test_views_of_nothing_are_read_only_if_their_array_is(device: Any) -> None:
    nothing = xp.diagonal(xp.ones((3, 3))[3:, :0])
    for view in (nothing.reshape(1, 0, 1), nothing.ravel(), xp.broadcast_to(xp.ones((2, 0)), (2, 2, 0)).reshape(-1)):
        assert not view.flags.writeable


def test_flat(device: Any) -> None:
    host, x = both(values((3, 4), np.float32))
    for a, b in ((x, host), (x.T, host.T)):
        assert len(a.flat) == len(b.flat)
        assert float(a.flat[5]) == b.flat[5]
        assert_same(a.flat[2:9:3], b.flat[2:9:3])
        a.flat[3], b.flat[3] = 50, 50
        a.flat[1:6] = [1, 2, 3, 4, 5]
        b.flat[1:6] = [1, 2, 3, 4, 5]
        a.flat[[0, 7]] = -1
        b.flat[[0, 7]] = -1
        a.flat[4:] = [8, 9]
        b.flat[4:] = [8, 9]
        assert_same(x, host)
        assert [float(v) for v in a.flat] == [float(v) for v in b.flat]
    x.flat = 2
    assert_same(x, np.full((3, 4), 2, np.float32))


def test_base_and_flags(device: Any) -> None:
    x = xp.zeros((3, 4))
    host = np.zeros((3, 4))
    assert x.base is None
    assert x[1:].base.shape == (3, 4)
    for view, expected in (
        (x, host),
        (x.T, host.T),
        (x[::2], host[::2]),
        (x[:, 1:], host[:, 1:]),
        (x[:1, :1], host[:1, :1]),
    ):
        assert view.flags.c_contiguous == expected.flags.c_contiguous
        assert view.flags["F_CONTIGUOUS"] == expected.flags.f_contiguous
        assert view.flags.writeable


# -- random programs ---------------------------------------------------------------------------------------------------


def _slices(draw: Any, extent: int) -> slice:
    ends = st.one_of(st.none(), st.integers(-extent - 1, extent + 1))
    return slice(draw(ends), draw(ends), draw(st.sampled_from([None, 1, 2, -1, -2, 3])))


def _key(draw: Any, shape: tuple[int, ...]) -> Any:
    key: list[Any] = []
    for extent in shape[: draw(st.integers(0, len(shape)))]:
        if extent and draw(st.integers(0, 3)) == 0:
            key.append(draw(st.integers(-extent, extent - 1)))
        else:
            key.append(_slices(draw, extent))
    if draw(st.integers(0, 4)) == 0:
        key.insert(draw(st.integers(0, len(key))), None)
    key.append(Ellipsis)
    return tuple(key)


def _advanced(draw: Any, host: np.ndarray[Any, Any]) -> Any:
    if draw(st.booleans()):
        return host > draw(st.integers(-4, 4))
    count = draw(st.integers(0, 4))
    extent = host.shape[0]
    return np.array(draw(st.lists(st.integers(-extent, extent - 1), min_size=count, max_size=count)), np.int64)


@st.composite
def programs(draw: Any) -> Any:
    """Draw what to do with an array, as functions that run on NumPy and here alike."""
    return draw(st.data()), draw(st.sampled_from(["int32", "float32", "complex64"])), draw(st.integers(2, 7))


def _step(draw: Any, pairs: list[Any]) -> None:
    host, x = pairs[draw(st.integers(0, len(pairs) - 1))]
    action = draw(st.sampled_from(["view", "transpose", "reshape", "update", "assign", "mask", "shift", "component"]))
    if action == "view":
        key = _key(draw, host.shape)
        pairs.append((host[key], x[key]))
    elif action == "transpose":
        order = draw(st.permutations(range(host.ndim)))
        pairs.append((host.transpose(order), x.transpose(order)))
    elif action == "reshape":
        pairs.append((host.reshape(-1), x.reshape(-1)))
    elif action == "component" and host.dtype.kind == "c":
        part = draw(st.sampled_from(["real", "imag"]))
        pairs.append((getattr(host, part), getattr(x, part)))
    elif action == "update":
        amount = draw(st.integers(-2, 2))
        if draw(st.booleans()):
            host += amount
            x += amount
        else:
            host *= amount
            x *= amount
    elif action == "assign":
        key = _key(draw, host.shape)
        value = draw(st.integers(-5, 5))
        host[key] = value
        x[key] = value
    elif action == "shift" and host.ndim and host.shape[0] > 1:
        host[1:] = host[:-1]
        x[1:] = x[:-1]
    elif action == "mask" and host.ndim and host.shape[0] and host.dtype.kind != "c":
        key = _advanced(draw, host)
        value = draw(st.integers(-5, 5))
        host[key] = value
        x[key] = value


def _run_program(program: Any, device: str) -> None:
    data, dtype, steps = program
    with xp.using(device=device):
        pairs = [both(values((3, 4, 2), dtype))]
        for _ in range(steps):
            _step(data.draw, pairs)
        for host, x in pairs:
            assert_same(x, host)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_random_programs_in_process(program: Any) -> None:
    _run_program(program, "cpu")


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_random_programs_on_wgpu(program: Any) -> None:
    _run_program(program, "wgpu")


@pytest.mark.parametrize("operand", [2.5, np.float32(0.5), np.array(-3, np.int8), np.array([1, 2, 3])])
def test_an_element_is_a_value_that_operators_replace(operand: Any, device: Any) -> None:
    host, x = both(np.array([5, 3, 2], np.int16))
    for array in (host, x):
        array[1] += operand if np.ndim(operand) == 0 else operand.sum()
        element = array[0]
        element += operand
        assert np.result_type(element) == np.result_type(np.int16(1) + operand)
        assert np.shape(element) == np.shape(operand)
    assert_same(x, host)


def test_base_is_the_array(device: Any) -> None:
    x = xp.asarray(values((3, 4), np.float32), device=device)
    for view in (
        x[1:],
        x[1:][:, 1],
        x.T,
        x.reshape(-1),
        x[...],
        x.view(),
        np.broadcast_to(x, (2, 3, 4)),
        x.view(np.int32),
    ):
        assert view.base is x
        assert not view.flags.owndata
    z = x + 1j
    assert z.imag.base is z.real.base is z
    assert z.base is x.imag.base is x[1, 1].base is x.sum().base is None
    x.shape = (4, 3)
    assert x.base is None
    assert x.flags.owndata


def test_flags_can_be_set_as_in_numpy(device: Any) -> None:
    for x in (np.zeros(3), xp.zeros(3)):
        x.flags.aligned = True
        x.flags["ALIGNED"] = True
        x.flags.writebackifcopy = False
        x.flags["X"] = False
        with pytest.raises(ValueError, match="WRITEBACKIFCOPY"):
            x.flags.writebackifcopy = True
        for name in ("c_contiguous", "f_contiguous", "owndata", "fnc", "unknown"):
            with pytest.raises(AttributeError):
                setattr(x.flags, name, True)
        with pytest.raises(KeyError):
            x.flags["C"] = True


@pytest.mark.parametrize("order", ["c", "f", "a", "F", None])
def test_orders_in_either_case(order: Any, device: Any) -> None:
    host, x = both(values((2, 3), np.float32))
    for call in (
        lambda a: a.reshape(3, 2, order=order),
        lambda a: np.reshape(a.T, (3, 2), order=order),
        lambda a: a.T.ravel(order),
        lambda a: np.ravel(a, order),
        lambda a: a.flatten(order),
        lambda a: a.copy(order),
        lambda a: a.astype(np.float64, order=order),
    ):
        assert_same(call(x), call(host))
    with pytest.raises(ValueError, match="order"):
        x.reshape(3, 2, order="k")


@pytest.mark.parametrize(
    "write",
    [
        lambda m, x, n: [_add(x[i], 1) for i in m.arange(3)],
        lambda m, x, n: _add(x[n[1]], 1),
        lambda m, x, n: _add(x[n.argmin()], 1),
        lambda m, x, n: _add(x[:, n.sum() - 3], 1),
        lambda m, x, n: _add(x[n.max() - 1 :], 1),
        lambda m, x, n: _add(x[m.asarray(1)], 1),  # an array without axes makes a copy
        lambda m, x, n: _add(x[[1]], 1),
    ],
)
@pytest.mark.parametrize("limit", [0, 1 << 14])
def test_results_without_axes_are_keys_as_numpys_scalars_are(write, limit, device):
    host, places = np.arange(12.0).reshape(3, 4), np.array([2, 0, 1])
    with xp.using(direct_limit=limit):
        x = xp.asarray(host)
        write(xp, x, xp.asarray(places))
    write(np, host, places)
    assert_same(x, host)


def _add(row, number):
    row += number


def test_a_row_at_a_place_that_is_not_known_yet_cannot_be_written_to(device):
    x = xp.asarray(np.ones((3, 4)))
    with xp.using(check_indices=False, direct_limit=0):
        row = x[(xp.asarray([1, 2]) * 1).min()]
    with pytest.raises(ValueError, match="read-only"):
        row += 1
    assert_same(row.copy() + 1, np.full(4, 2.0))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool", "complex64"])
@pytest.mark.parametrize("limit", [0, 1000])
@pytest.mark.parametrize("key", [0, (1,), (0, ...), slice(0, 1), [0]], ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (2,), (0,)])
def test_single_elements_are_assigned_what_numpy_assigns(dtype, limit, key, shape, device):
    """NumPy assigns arrays of one element to a single element until version 2.4."""
    host, value = np.zeros(3, dtype), np.ones(shape, dtype)
    with xp.using(direct_limit=limit), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = xp.asarray(host)
        try:
            host[key] = value
        except (TypeError, ValueError) as error:
            for given in (value, xp.asarray(value)):
                with pytest.raises(type(error)):
                    x[key] = given
        else:
            x[key] = xp.asarray(value)
    assert_same(x, host)
