"""Direct evaluation: small graphs of host values need no plan, and have the values that plans have."""

import numpy as np
import pytest
from support import assert_same

import gpuarray as xp
from gpuarray.immediacy import suspended
from gpuarray.runtime import direct, evaluate
from gpuarray.settings import Config


@pytest.fixture(autouse=True)
def on_the_host():
    with xp.using(device="cpu", direct_limit=Config().direct_limit), suspended():
        yield


def plans():
    return xp.stats()["plans"]


def elimination(a):
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k : k + 1] * a[k, k + 1 :]
    return a


def test_a_loop_whose_views_move_makes_no_plan():
    given = np.random.default_rng(0).random((12, 12)) + 12 * np.eye(12)
    result = elimination(xp.asarray(given))
    assert_same(result, elimination(given.copy()))
    assert plans() == 0


def test_what_is_computed_once_is_not_computed_again():
    x = xp.asarray(np.arange(6.0))
    y = x
    for step in range(40):
        y = y * 0.5 + x[:1] * step
        float(y[0])
    assert plans() == 0
    assert xp.stats()["operations"] <= 40 * 6


PROGRAMS = {
    "view": lambda np, x, i: x[1:, ::-2].T,
    "reshape": lambda np, x, i: x[:, 1:3].reshape(-1),
    "broadcast": lambda np, x, i: np.broadcast_to(x[:1], (4, 5)) + x,
    "where": lambda np, x, i: np.where(x > 0.5, x, -x),
    "cast": lambda np, x, i: (x * 10).astype(np.int8) + i[:4, None],
    "outputs": lambda np, x, i: np.modf(x * 7)[0] + np.frexp(x)[1],
    "generate": lambda np, x, i: np.arange(5) * x + np.eye(4, 5),
    "concat": lambda np, x, i: np.concatenate([x, x[:2] + 1], axis=0),
    "sum": lambda np, x, i: np.sum(x, axis=1) + np.sum(i),
    "var": lambda np, x, i: np.var(x, axis=0),
    "argmax": lambda np, x, i: np.argmax(x, axis=1),
    "argmin of all": lambda np, x, i: np.argmin(x.T),
    "any": lambda np, x, i: np.any(x > 0.9, axis=0),
    "scan": lambda np, x, i: np.cumsum(x, axis=1),
    "gather": lambda np, x, i: x[i[:3] % 4, i[:3] % 5],
    "matmul": lambda np, x, i: x.T @ x,
    "complex": lambda np, x, i: (x + 1j * x[::-1]).imag,
    "sort": lambda np, x, i: np.sort(x, axis=0),
    "transposed operands": lambda np, x, i: np.exp(x.T) @ np.exp(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_those_of_plans(name):
    x, i = np.random.default_rng(1).random((4, 5)), np.arange(6)
    direct = PROGRAMS[name](xp, xp.asarray(x), xp.asarray(i))
    np.testing.assert_allclose(direct, PROGRAMS[name](np, x, i), rtol=1e-15)
    assert plans() == 0
    with xp.using(direct_limit=0):
        planned = np.asarray(PROGRAMS[name](xp, xp.asarray(x), xp.asarray(i)))
    assert planned.dtype == direct.dtype
    np.testing.assert_allclose(planned, direct, rtol=1e-15)  # sums of plans begin with another element
    assert xp.stats()["launches"] > 0  # an equal plan may be known


def test_writes_reach_all_views_and_no_older_value():
    x = xp.zeros((3, 4))
    row, before = x[1], x + 0
    row[1:3] = 7
    x[[0, 2], 0] = 5
    np.add.at(x, ([0, 0], [3, 3]), 1)
    expected = np.array([[5, 0, 0, 2], [0, 7, 7, 0], [5, 0, 0, 0.0]])
    assert_same(x, expected)
    assert_same(row, expected[1])
    assert not np.asarray(before).any()
    assert plans() == 0


def test_results_do_not_share_memory_with_buffers_that_are_updated():
    large = xp.asarray(np.zeros(1 << 18)) + 1  # computed by a plan, into a buffer that later ones may overwrite
    xp.evaluate(large)
    part = large[:4]
    xp.evaluate(part)
    kept = part + 0
    xp.evaluate(kept)
    large += 1
    xp.evaluate(large)
    assert_same(kept, np.ones(4))
    assert_same(part, np.full(4, 2.0))


def test_large_values_have_plans():
    x = xp.asarray(np.ones(1 << 20))
    assert float((x + 1).sum()) == 2 << 20
    assert plans() == 1
    assert float(x[7]) == 1  # one element of a large array needs none
    assert plans() == 1


def test_a_product_of_small_operands_that_is_large_has_a_plan():
    x = xp.asarray(np.ones(1 << 10))
    xp.evaluate(x[:, None] * x)
    assert plans() == 1


def test_errors_name_the_line_that_asked():
    x = xp.asarray([1, 2]) ** xp.asarray([-1, 2])
    with pytest.raises(ValueError, match="negative integer powers") as caught:
        np.asarray(x)
    assert any("test_direct.py" in note for note in caught.value.__notes__)
    del x, caught  # which has this frame: other tests would compute the array again, until the cycle is collected


def test_values_of_a_device_stay_there():
    x = xp.asarray(np.ones(8), device="wgpu")
    xp.evaluate(x + 1)
    assert xp.stats()["launches"] == 1


def test_the_free_device_computes_small_host_values_at_once():
    with xp.using(device="auto"):
        x = xp.asarray(np.ones(8))
        xp.evaluate(x * 2)
    assert plans() == 0


def test_a_profile_sees_the_program_as_it_runs():
    x = xp.asarray(np.ones(8))
    evaluate.synchronize()  # kernels of an earlier program may still compile
    with xp.profile() as result:
        xp.evaluate(x + 1)
        x[2:] *= 3
        float(x[3])
    assert plans() == 0
    assert result.phases["direct"] > 0
    assert sum(line.operations for line in result.lines) >= 3
    assert all("test_direct.py" in line.place for line in result.lines)


def test_explain_says_that_no_plan_will_be_made():
    x = xp.asarray(np.ones(8))
    assert xp.explain(x + 1).is_direct
    assert "computes them directly" in str(xp.explain(x + 1))
    assert xp.explain(xp.ones(260_000) + 1).is_direct  # there is nothing to fuse
    assert not xp.explain(xp.ones(560_000) * 2 + 1).is_direct
    assert not xp.explain(xp.ones(1_000_000) + 1).is_direct
    assert not xp.explain(xp.asarray(np.ones(100_000))[:5].sum() + xp.ones(600_000)).is_direct


@pytest.fixture(params=["host", "computed"])
def settled(request):
    """An array whose value is host memory, or a buffer that a plan wrote."""
    x = xp.asarray(np.arange(100_000.0))
    if request.param == "computed":
        x = x + 0
    xp.evaluate(x)
    return x


def address(x):
    node = x._cell.node
    leaf = node.result or node
    memory = leaf.host
    if memory is None:
        (buffer,) = leaf.buffers.values()
        memory = buffer.memory
    return memory.ctypes.data


def test_an_element_is_written_where_it_is(settled):
    xp.reset_stats()
    settled[3] = 7
    where = address(settled)
    for k in range(10):
        settled[k] = -1.0
        settled[5:8] = settled[k] * 2
        assert address(settled) == where
    expected = np.arange(100_000.0)
    expected[:10] = -1
    expected[5:8] = -2
    expected[8:10] = -1
    assert_same(settled, expected)
    assert plans() == 0


def test_a_write_is_not_seen_by_what_was_recorded_before(settled):
    settled[0] = 1.0
    whole, part, element = settled + 0, settled[:3] * 1, settled[0]
    copied, shared, same = settled.copy(), settled[:2], settled
    host = xp.asnumpy(settled)
    settled[0] = 2.0
    assert float(whole[0]) == float(part[0]) == float(element) == float(copied[0]) == host[0] == 1
    assert float(shared[0]) == float(same[0]) == 2
    copied[0] = 3.0
    assert float(settled[0]) == 2


def test_a_write_is_not_seen_through_exported_memory(settled):
    settled[0] = 1.0
    exported = np.from_dlpack(settled)
    settled[0] = 2.0
    assert exported[0] == 1
    assert float(settled[0]) == 2


def test_what_is_known_of_indices_is_not_known_of_others():
    index = xp.asarray([0, 1, 2])
    x = xp.asarray([1.0, 2.0, 3.0])
    xp.evaluate(index, x)
    assert x[index].tolist() == [1, 2, 3]
    index[1] = 5
    with pytest.raises(IndexError):
        x[index]


def test_errors_of_elements_are_those_of_numpy(settled):
    for key in (100_000, -100_001, (0, 0)):
        with pytest.raises(IndexError):
            settled[key]
        with pytest.raises(IndexError):
            settled[key] = 1
    with pytest.raises(TypeError):
        settled[0] = 1j
    settled.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        settled[0] = 1


def test_an_array_without_axes_is_an_index():
    x, places = xp.asarray(np.arange(12.0).reshape(3, 4)), xp.asarray([2, 1])
    assert float(x[places[0], places[1]]) == 9
    x[places[0]] = 0
    row, copied = x[places[1]], x[xp.asarray(1)]
    x[1] = -1
    assert x.tolist() == [[0, 1, 2, 3], [-1] * 4, [0] * 4]
    assert row.tolist() == [-1] * 4  # an element is a scalar in NumPy, which makes a view
    assert copied.tolist() == [4, 5, 6, 7]  # an array without axes makes a copy


def test_scalars_that_are_known_are_computed_at_once():
    x = xp.asarray(np.arange(4, dtype=np.float32))
    xp.evaluate(x)
    xp.reset_stats()
    value = (x[1] * 3 + x[2]) / 2
    assert value.dtype == np.float32
    assert isinstance(value, xp.GpuArray)
    assert float(value) == 2.5
    assert xp.stats()["evaluations"] == 0
    with np.errstate(all="raise"):
        assert float(x[1] / x[0]) == np.inf


def test_a_call_with_several_outputs_is_called_once():
    a = np.eye(3) * 2 + 0.5
    sign, logarithm = xp.linalg.slogdet(xp.asarray(a))
    values, vectors = xp.linalg.eigh(xp.asarray(a))
    xp.evaluate(sign, logarithm, values, vectors)
    assert float(sign) == 1
    assert float(logarithm) == np.linalg.slogdet(a)[1]
    assert_same(values, np.linalg.eigh(a)[0])
    assert_same(vectors, np.linalg.eigh(a)[1])
    assert plans() == 0


@pytest.mark.parametrize("name", ["max", "min", "any", "all", "nanmax", "argmax", "argmin", "negative", "isnan", "sin"])
def test_one_function_of_a_large_array_makes_no_plan(name):
    host = np.random.default_rng(0).normal(size=100_000)
    x = xp.asarray(host)
    assert xp.explain(getattr(xp, name)(x)).is_direct
    np.testing.assert_array_equal(np.asarray(getattr(xp, name)(x)), getattr(np, name)(host))


@pytest.mark.parametrize("name", ["sum", "mean", "cumsum"])
def test_what_has_a_quicker_form_makes_a_plan(name):
    assert not xp.explain(getattr(xp, name)(xp.asarray(np.ones(600_000)))).is_direct


def test_buffers_are_counted_under_a_memory_limit():
    with xp.using(memory_limit=1 << 30):
        assert not xp.explain(xp.asarray(np.ones(100_000)) + 1).is_direct


ROWS = {
    "rows": lambda x, i: x[i],
    "rows of rows": lambda x, i: x.reshape(50, 4, 25)[i],
    "rows by a matrix": lambda x, i: x[i.reshape(-1, 2)],
    "negative rows": lambda x, i: x[i - 50],
    "rows of a part": lambda x, i: x[10:][i % 40],
    "every other row": lambda x, i: x[::2][i % 25],
    "columns": lambda x, i: x[:, i],
    "parts of rows": lambda x, i: x[i, 1:],
    "rows in the opposite direction": lambda x, i: x[:, ::-1][i],
    "elements": lambda x, i: x.reshape(-1)[i],
    "no rows": lambda x, i: x[i[:0]],
    "empty rows": lambda x, i: x[:, :0][i],
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.uint64])
def test_rows_are_those_of_numpy(name, dtype):
    x, i = np.arange(5000.0).reshape(50, 100), np.array([3, 3, 49, 0, 7, 12], dtype)
    if name == "negative rows":
        i = i.astype(np.int64)
    for limit in (0, Config().direct_limit):
        with xp.using(direct_limit=limit):
            assert_same(ROWS[name](xp.asarray(x), xp.asarray(i)), ROWS[name](x, i))


def test_many_whole_rows_are_taken_without_a_plan():
    x, i = np.arange(25_600.0).reshape(100, 256), np.arange(300) % 100
    table, rows = xp.asarray(x), xp.asarray(i)
    assert_same(table[rows], x[i])
    assert_same(xp.take(table, rows, 0), x[i])
    assert plans() == 0


def test_rows_are_those_at_the_time_of_the_index():
    x, i = xp.asarray(np.arange(12.0).reshape(4, 3)), xp.asarray(np.array([1, 2]))
    result = x[i]
    i += 1
    x *= 0
    assert_same(result, np.arange(3.0, 9).reshape(2, 3))


def test_a_single_call_has_no_plan_where_threads_gain_nothing():
    bits = np.arange(100_000) % 3 == 0
    given = xp.asarray(bits)
    packed = xp.packbits(given)
    assert_same(packed, np.packbits(bits))
    assert_same(xp.unpackbits(packed), np.unpackbits(np.packbits(bits)))
    assert_same(xp.delete(given, 5), np.delete(bits, 5))
    assert plans() == 0
    assert not xp.explain(xp.sort(xp.asarray(np.ones((400, 400))), axis=1)).is_direct


@pytest.mark.parametrize("value", [0, 0.0, False, 0j])
def test_zeros_need_no_plan_however_many(value):
    x = xp.full(1 << 20, value)
    xp.evaluate(x)
    assert plans() == 0
    assert_same(x, np.full(1 << 20, value))


def test_other_constants_have_plans():
    for value in (1.0, -0.0, True):
        assert not xp.explain(xp.full(1 << 20, value)).is_direct
    x = xp.full(1 << 20, -0.0)
    xp.evaluate(x)
    assert np.signbit(np.asarray(x)).all()


def test_operands_are_looked_at_twice_however_many(monkeypatch):
    looked = []
    value_of = direct.value_of
    monkeypatch.setattr(direct, "value_of", lambda node: looked.append(node) or value_of(node))
    parts = [xp.asarray(float(number)) + 1 for number in range(300)]
    assert xp.concatenate([part.reshape(1) for part in parts]).sum() == 300 * 301 / 2
    assert len(looked) <= 6 * 300
