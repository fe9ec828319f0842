"""Small parts of large arrays in host memory are read and written at once, with the aliasing of NumPy."""

import sys
import threading

import numpy as np
import pytest
from support import assert_same

import gpuarray as xp
from gpuarray.immediacy import suspended

SHAPE = (300, 800)


@pytest.fixture(params=["cpu", "auto"])
def host(request):
    """An array in host memory."""
    with xp.using(device=request.param, provider="cpu", direct_limit=1 << 17):
        yield np.arange(240_000.0).reshape(SHAPE)


def address(array):
    return array._cell.memory.__array_interface__["data"][0]


def computed(host):
    array = xp.asarray(host) + 0.0
    xp.evaluate(array)
    return array


MAKERS = [xp.asarray, computed, lambda host: xp.asarray(host).copy()]


@pytest.mark.parametrize("make", MAKERS)
def test_parts_are_written_in_place(host, make):
    x, y = make(host), host.copy()
    x[0, 0] = 0  # now it has memory of its own
    before = address(x)
    for a in (x, y):
        row, column = a[7], a[:, 3]
        a[3, 5] = 7
        a[-1] = 1
        a[10:12] += a[7]
        column[:] = a[:, 5] * 2
        row *= 3
        a[[1, 2], 3] = -1
        a.T[5, 8:11] = a[0, :3]
        a[20, 0] += a[20, 1]
        a.reshape(-1)[9:12] -= 1
    assert xp.stats()["evaluations"] <= 1
    assert address(x) == before
    assert_same(x, y)
    assert row.tolist() == y[7].tolist()


def test_large_pending_values_are_computed_when_a_small_part_is_read(host):
    x = xp.asarray(host)
    y, expected = x * 2 + 1, host * 2 + 1
    before = xp.stats()["evaluations"]
    large = y[1:]
    assert not y.is_computed()
    for k in range(4):
        assert (y[:, k] @ y[:, k + 1] + y[k, 0]).is_computed()
        assert_same(y[k], expected[k])
    assert xp.stats()["evaluations"] == before + 1
    assert_same(large, expected[1:])
    with pytest.raises(IndexError):
        (x + 1)[300]
    with suspended():
        assert not (x + 1)[0].is_computed()


def test_constants_get_memory_when_they_are_written_to(host):
    for make in (xp.zeros, xp.ones, xp.empty):
        x = make(SHAPE)
        for k in range(SHAPE[0]):
            x[k, k] = k
        assert x._cell.own is not None
    assert xp.stats()["evaluations"] == 0


def test_what_was_recorded_before_a_write_reads_the_old_value(host):
    x = computed(host)
    twice, shared, part = x * 2, x.copy(), xp.sqrt(x[1:])
    x[3, 5] = -1
    x[4] = -1
    assert_same(twice, host * 2)
    assert_same(shared, host)
    assert_same(part, np.sqrt(host[1:]))
    assert x[3, 5] == x[4, 0] == -1
    shared[0, 0] = 5
    assert x[0, 0] == 0


def test_memory_is_taken_back_when_nobody_reads_it_any_more(host):
    x = computed(host)
    x[0, 0] = 1
    before = address(x)
    row = x[0]
    total = (x * 2).sum()
    assert float(total) == 2 * host.sum() + 2
    x[0, 0] = 2
    row[1] = 7
    assert address(x) == before
    assert x[0, :2].tolist() == [2, 7]
    waiting = x * 2
    x[0, 0] = 3  # the memory is another one now
    row[1] = 8
    assert address(x) != before
    assert waiting[0, :2].tolist() == [4, 14]
    assert x[0, :2].tolist() == row[:2].tolist() == [3, 8]


def test_large_parts_are_recorded(host):
    x, y = computed(host), host.copy()
    for a in (x, y):
        a[5, 5] = 1
        a[1:-1, 1:-1] += a[:-2, 1:-1] * 0.5
        a[0] = a[1]
        a[:] = a[::-1].copy()
    assert_same(x, y)


def test_read_only_views_and_components(host):
    z, w = (a * (1 + 2j) for a in (computed(host), host))
    for a in (z, w):
        a[3, 4] = 5j
        a.real[7] = 1
        a.imag[:, 8] = 2
    assert_same(z, w)
    fixed = np.broadcast_to(z[:1], SHAPE)
    with pytest.raises(ValueError, match="read-only"):
        fixed[0, 0] = 1
    z.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        z[0, 0] = 1
    with pytest.raises(IndexError):
        z[300]


def test_results_of_functions_are_written_to_memory_of_their_own(host):
    x = computed(host[:20].reshape(-1))
    out = x.copy()
    with suspended():
        waiting = out * 2
    np.cumsum(x, 0, None, out)
    assert_same(out, np.cumsum(host[:20]))
    assert_same(waiting, host[:20].reshape(-1) * 2)


def test_recorded_functions_see_writes(host):
    x = computed(host)
    total = xp.jit(lambda a: (a * 2).sum())
    for k in range(4):
        x[k, 0] = -1
        y = x.get()
        assert np.isclose(float(total(x)), 2 * y.sum())

    @xp.jit
    def step(a):
        a += 1

    for k in range(4):
        x[k, 1] = 5
        y[k, 1] = 5
        step(x)
        y += 1
        assert x[k, 1] == 6
    assert_same(x, y)


def test_derivatives_see_writes(host):
    x = computed(host)
    x[0, 0] = 3
    gradient = xp.grad(lambda a: (a * a).sum())(x)
    x[0, 0] = 4
    assert gradient[0, 0] == 6
    assert gradient[0, 1] == 2


@pytest.fixture
def switches():
    """Switch between threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_do_not_lose_writes_to_parts(host, switches):
    for _ in range(60):
        x = computed(host)

        def write(first, x=x):
            row = np.ones(200)
            for k in range(first, 200, 4):
                x[k] = k
                x[k, :200] += row
                if k % 16 == first:
                    float((x[k] * 1).sum())
                    x.node()

        threads = [threading.Thread(target=write, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rows = np.broadcast_to(np.arange(200.0)[:, None], (200, 800))
        assert_same(x[:200, :200], rows[:, :200] + 1)
        assert_same(x[:200, 200:], rows[:, 200:])
        assert_same(x[200:], host[200:])


def test_selections_by_masks_make_no_plans(host):
    masks = [host > bound for bound in (90_000, 100_000.5, 119_990)]
    array = xp.asarray(host)
    before = xp.stats()["plans"]
    for mask in masks:
        assert_same(array[xp.asarray(mask)], host[mask])
    assert xp.stats()["plans"] == before


def test_writes_by_masks_are_made_in_place(host):
    x, y = computed(host), host.copy()
    x[0, 0] = 0  # now it has memory of its own
    before, evaluations = address(x), xp.stats()["evaluations"]
    rows = []
    for a, np_ in ((x, xp), (y, np)):
        rows.append(a[200])
        a[np_.asarray(host > 1e5)] = -1
        a[np_.asarray(host % 2000 == 7)] = np_.asarray(np.arange(120.0))
        a[np_.asarray(host < 0)] = 5
    assert xp.stats()["evaluations"] == evaluations
    assert address(x) == before
    for a, np_ in ((x, xp), (y, np)):
        a[np_.asarray(host % 2000 == 9)] = a.reshape(-1)[200:320]
    assert_same(rows[0], rows[1])
    assert_same(x, y)
    pending = x + 0.0
    x[xp.asarray(host < 9)] = 3
    assert_same(pending, y)
    with pytest.raises(ValueError, match="119 input values"):
        x[xp.asarray(host % 2000 == 7)] = xp.asarray(np.arange(119.0))


def test_positions_that_are_broadcast_select_few_elements(host):
    x, y = computed(host), host.copy()
    x[0, 0] = 0
    y[0, 0] = 0
    before = xp.stats()["evaluations"]
    rows, columns = np.arange(700) % 300, np.arange(700)
    for a, np_ in ((x, xp), (y, np)):
        i, j = np_.asarray(rows), np_.asarray(columns)
        a[i, j] += a[i[::-1], j]
        a[i[:5, None], j[:9]] = 1
    assert xp.stats()["evaluations"] == before
    assert_same(x, y)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
def test_a_view_with_another_shape_is_not_the_part_itself():
    for x in (np.arange(6.0).reshape(2, 3), xp.asarray(np.arange(6.0).reshape(2, 3), device="cpu")):
        part = x[1]
        x[1] = part
        part.shape = (3, 1)
        with pytest.raises(ValueError, match="broadcast"):
            x[1] = part
