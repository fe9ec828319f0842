"""Calls of plain recordings run in C, and return what the methods in Python return; other calls take these."""

import gc
import threading
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.errors import DeviceMemoryError
from gpuarray.graph import tracing
from gpuarray.jit import compiled
from gpuarray.jit.recording import Recording
from gpuarray.providers import registry
from gpuarray.runtime.placement import trials
from gpuarray.testing import assert_same

pytestmark = pytest.mark.usefixtures("planned")


def arrays(count=2, shape=(3, 5), dtype=np.float32):
    """Return new arrays whose values are computed."""
    new = [xp.asarray(np.arange(15, dtype=dtype).reshape(shape)) + dtype(k + 1) for k in range(count)]
    xp.evaluate(*new)
    return new


@pytest.fixture
def played(monkeypatch):
    """The recordings that the methods in Python have played."""
    seen = []
    play = Recording.play
    monkeypatch.setattr(Recording, "play", lambda self, call: (seen.append(self.name), play(self, call))[1])
    return seen


def assert_equal(actual, expected):
    """Compare two arrays of this package."""
    assert_same(actual, np.asarray(expected))


def replayed(fast, *args):
    """Call a function often enough that its next call is replayed."""
    for _ in range(3):
        result = fast(*args)
    return result


FUNCTIONS = {
    "one": lambda x, y: x * 2 + y,
    "tuple": lambda x, y: (x + y, (x - y).sum(axis=0)),
    "list": lambda x, y: [x.T.copy(), x @ y.T],
    "order": lambda x, y: (x.T + y.T) * 2,
    "scalar": lambda x, y: (x * y).sum(),
    "constant": lambda x, y: x + np.arange(5, dtype=np.float32),
    "twice": lambda x, y: (np.sort(x, axis=1), np.cumsum(y)),
}


def test_the_package_is_compiled():
    assert compiled._compiled is not None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_those_of_the_function(device, played, name):
    function = FUNCTIONS[name]
    fast = xp.jit(function)
    x, y = arrays()
    replayed(fast, x, y)
    before = len(played)
    for k in range(4):
        x, y = (x + k, y * 2)
        xp.evaluate(x, y)
        actual, expected = fast(x, y), function(x, y)
        for one, other in zip(*([a] if isinstance(a, xp.GpuArray) else a for a in (actual, expected)), strict=True):
            assert type(one) is xp.GpuArray
            assert (one.flags.writeable, one.strides, one.base) == (other.flags.writeable, other.strides, None)
            assert one.device == other.device
            assert_equal(one, other)
    assert len(played) == before
    assert fast.cache_info()[:2] == (6, 1)


def test_factorisations_on_the_host_are_part_of_the_plan(played):
    with xp.using(device="cpu"):
        x = xp.asarray(np.diag([1.0, 2.0, 4.0]))
        for function in (
            lambda x: xp.linalg.solve(x * 2, x[0]) + 1,
            lambda x: xp.linalg.cholesky(x).sum(),
            lambda x: xp.linalg.svd(x)[1],
            xp.grad(lambda x: xp.linalg.slogdet(x)[1]),
        ):
            fast = xp.jit(function)
            replayed(fast, x)
            before = len(played)
            assert_equal(fast(x), function(x))
            assert len(played) == before


def test_the_automatic_device_without_a_gpu(played, monkeypatch):
    with xp.using(device="auto", provider="cpu"):
        fast = xp.jit(lambda x: x * 2 + 1)
        (x,) = arrays(1)
        replayed(fast, x)
        before, asked = len(played), []
        asks = trials.asks_for_device
        monkeypatch.setattr(compiled, "trials", SimpleNamespace(asks_for_device=lambda p: asked.append(p) or asks(p)))
        other = xp.jit(lambda x: x * 2 + 1)
        replayed(other, x)
        for function in (fast, other):
            result = function(x)
            assert result.device == "auto"
            assert_equal(result, x * 2 + 1)
        assert len(played) == before + 2
        assert len(asked) == 2  # a device is looked for once one would have paid


def test_numbers_are_those_of_the_call(device, played):
    fast = xp.jit(lambda x, a, b: x * a + b)
    (x,) = arrays(1)
    replayed(fast, x, 2.0, 3)
    before = len(played)
    for a, b in ((0.5, -1), (np.inf, 7), (-0.0, 2**20)):
        assert_equal(fast(x, a, b), x * a + b)
    assert len(played) == before
    assert_equal(fast(x, 2, 3), x * 2 + 3)  # another type, which is recorded anew
    assert fast.cache_info().misses == 2


def test_variables_around_the_function(device):
    x, y = arrays()
    scale = 2

    def function(a):
        return a * scale + y

    fast = xp.jit(function)
    assert_equal(replayed(fast, x), x * 2 + y)
    y += 1
    assert_equal(fast(x), x * 2 + y)
    scale = 3
    assert_equal(fast(x), x * 3 + y)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x + 1,  # to be computed
        lambda x: x[::-1],
        lambda x: x[:2],
        lambda x: x.astype(np.float64),
        lambda x: np.asarray(x),
        lambda x: x.T.copy().T,
    ],
)
def test_other_arguments_are_as_they_are(device, change):
    fast = xp.jit(lambda x, y: x * 2 + y.sum())
    x, y = arrays()
    replayed(fast, x, y)
    z = change(x)
    assert_equal(fast(z, y), xp.asarray(z) * 2 + y.sum())
    assert_equal(fast(x, y), x * 2 + y.sum())


def test_arguments_that_share_storage(device):
    fast = xp.jit(lambda x, y: x - y)
    x, y = arrays()
    assert_equal(replayed(fast, x, y), x - y)
    assert_equal(replayed(fast, x, x), x - x)
    assert fast.cache_info().misses == 2


def test_keywords_and_wrong_numbers_of_arguments(device):
    fast = xp.jit(lambda x, y: x - y)
    x, y = arrays()
    replayed(fast, x, y)
    assert_equal(fast(x, y=y), x - y)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        fast(x)


def test_calls_without_lines(device, played):
    with xp.using(origins=False):
        fast = xp.jit(lambda x: x * 2 + 1)
        (x,) = arrays(1)
        replayed(fast, x)
        before = len(played)
        assert_equal(fast(x), x * 2 + 1)
    assert len(played) == before


def test_many_arguments(device):
    fast = xp.jit(lambda *values: sum(values))
    for count in (compiled._compiled.MOST_ARGUMENTS, compiled._compiled.MOST_ARGUMENTS + 1):
        xs = [xp.ones(3) * k for k in range(count)]
        xp.evaluate(*xs)
        assert_equal(replayed(fast, *xs), xp.ones(3) * sum(range(count)))


def test_settings_and_modes(device, played):
    fast = xp.jit(lambda x: np.exp(x) * 2)
    (x,) = arrays(1)
    expected = np.asarray(replayed(fast, x))
    with xp.using(fallback="error"):
        assert_equal(fast(x), expected)
        assert fast.cache_info().misses == 2
    before = len(played)
    for _ in range(3):
        with xp.using(fallback="allow"):  # equal settings
            assert_equal(fast(x), expected)
    assert len(played) == before
    with xp.profile() as profile:
        fast(x)
    assert len(played) == before + 1
    assert profile.evaluations
    assert_equal(xp.grad(lambda a: fast(a).sum())(x), expected)
    outer = xp.jit(lambda a: fast(a) + 1)
    assert_equal(outer(x), expected + 1)
    assert tracing.state.trace is None


def test_counters_and_lines(device, monkeypatch):
    fast = xp.jit(lambda x: x * 2 + 1)
    (x,) = arrays(1)
    replayed(fast, x)
    before = xp.stats()["operations"]
    with monkeypatch.context() as patch:
        patch.setattr(fast, "_replays", ())
        fast(x)
    before, steps = xp.stats(), xp.stats()["operations"] - before
    y = fast(x)
    after = xp.stats()
    assert after["evaluations"] - before["evaluations"] == 1
    assert after["operations"] - before["operations"] == steps
    assert after["plans"] == before["plans"]
    assert "test_replays.py" in str(xp.explain(y))


def test_memory_is_given_back(device):
    fast = xp.jit(lambda x, y: (x + y, x * y))
    x, y = arrays(2)
    results = replayed(fast, x, y)
    cells = [weakref.ref(result) for result in results]
    live = xp.stats()["bytes_live"]
    for _ in range(20):
        results = fast(x, y)
    del results
    gc.collect()
    assert all(cell() is None for cell in cells)
    assert xp.stats()["bytes_live"] < live + 1
    function = weakref.ref(fast)
    del fast
    gc.collect()
    assert function() is None


def test_an_error_of_the_device_names_the_lines(device, monkeypatch):
    fast = xp.jit(lambda x: x * 2 + 1)
    (x,) = arrays(1)
    replayed(fast, x)
    provider = registry.open_device(device)

    def failing(*arguments):
        raise RuntimeError("the device fails")

    with monkeypatch.context() as patch:
        patch.setattr(type(provider), "run", failing)
        patch.setattr(type(provider), "repeat", failing, raising=False)
        with pytest.raises(RuntimeError, match="the device fails") as caught:
            fast(x)
        assert any("test_replays.py" in note for note in caught.value.__notes__)
    assert_equal(fast(x), x * 2 + 1)


def test_a_lack_of_memory_is_handled_in_python(device, monkeypatch, played):
    fast = xp.jit(lambda x: x * 2 + 1)
    (x,) = arrays(1)
    replayed(fast, x)
    provider = registry.open_device(device)
    allocate_all = type(provider).allocate_all
    calls = []

    def failing(self, sizes):
        calls.append(sizes)
        if len(calls) < 2:
            raise DeviceMemoryError("there is no memory")
        return allocate_all(self, sizes)

    before = len(played)
    with monkeypatch.context() as patch:
        patch.setattr(type(provider), "allocate_all", failing)
        assert_equal(fast(x), x * 2 + 1)
    assert len(played) == before + 1


def test_threads_share_a_replay(device):
    fast = xp.jit(lambda x, y: x * 2 + y)
    x, y = arrays()
    expected = np.asarray(replayed(fast, x, y))
    wrong = []

    def work():
        with xp.using(device=device):
            wrong.extend(k for k in range(50) if not np.array_equal(np.asarray(fast(x, y)), expected))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_forgotten_recordings_have_no_replays(device):
    fast = xp.jit(lambda x: x + 1, maxsize=2)
    for n in range(1, 6):
        x = xp.ones(n) * 2
        xp.evaluate(x)
        replayed(fast, x)
        assert len(fast._replays) <= 2
    fast.clear_cache()
    assert not fast._replays
    assert_equal(fast(x), x + 1)
    assert fast.cache_info()[:2] == (0, 1)
