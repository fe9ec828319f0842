"""Recordings: what is kept, for how long, and under which circumstances a call is recorded anew."""

import gc
import inspect
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gpuarray as xp
import gpuarray.scipy.linalg as scipy_linalg
from gpuarray.device import Device
from gpuarray.errors import DeviceMemoryError, RecordingError
from gpuarray.providers import registry
from gpuarray.providers.wgpu.provider import WgpuProvider
from gpuarray.runtime import plans
from gpuarray.testing import assert_same


def _function(x, y):
    return np.sqrt(x * x + y) / 2


def _interrupted(*arguments):
    raise KeyboardInterrupt


@pytest.fixture
def arrays(device):
    x, y = np.random.default_rng(0).random((2, 1000), dtype=np.float32)
    return xp.asarray(x), xp.asarray(y)


@xp.jit(static_argnames="axis")
def _total(x, axis):
    return x.sum(axis)


class TestFunctions:
    def test_what_they_say_of_themselves(self):
        assert _total.__name__ == "_total"
        assert str(inspect.signature(_total)) == "(x, axis)"
        assert repr(_total) == "<jit of _total>"
        assert xp.jit(_total)._function is _total.__wrapped__

    def test_they_are_pickled(self, device):
        assert pickle.loads(pickle.dumps(_total)) is _total
        again = pickle.loads(pickle.dumps(xp.jit(_function, maxsize=2)))
        x = xp.ones(3, dtype=np.float32)
        assert_same(again(x, x), _function(x, x).get())
        assert again.cache_info().maxsize == 2


class TestCache:
    def test_it_is_bounded(self, arrays):
        fast = xp.jit(_function, maxsize=3)
        x, y = arrays
        for size in (1, 2, 3, 4, 5, 5, 4, 1):
            assert_same(fast(x[:size], y[:size]), _function(x[:size], y[:size]).get())
        assert fast.cache_info() == (2, 6, 3, 3)
        fast.clear_cache()
        assert fast.cache_info() == (0, 0, 3, 0)

    def test_the_least_recently_used_goes_first(self, arrays):
        fast = xp.jit(_function, maxsize=2)
        x, y = arrays
        for size in (1, 2, 1, 3, 1):
            fast(x[:size], y[:size])
        assert fast.cache_info()[:2] == (2, 3)

    def test_plans_that_were_evicted(self, arrays, monkeypatch):
        fast = xp.jit(_function)
        x, y = arrays
        expected = fast(x, y).get()
        monkeypatch.setattr(plans, "_plans", type(plans._plans)())
        gc.collect()
        assert_same(fast(x, y), expected)
        assert fast.cache_info().misses == 1

    def test_settings_are_part_of_the_signature(self, arrays):
        fast = xp.jit(_function)
        x, y = arrays
        for _ in range(2):
            for settings in ({}, {"math": "fast"}, {"subnormals": "flush"}, {"fuse": False}):
                with xp.using(**settings):
                    assert_same(fast(x, y), _function(x, y).get(), ulp=64)
        assert fast.cache_info()[:2] == (4, 4)

    def test_variables_that_always_change_are_told(self, arrays, caplog):
        count = 0
        fast = xp.jit(lambda x: x * count)
        for count in range(10):
            assert_same(fast(arrays[0]), (arrays[0] * count).get())
        assert "was recorded 9 times for one signature" in caplog.text
        assert fast.cache_info().currsize == 8


class TestMemory:
    def test_neither_arguments_nor_results_are_kept(self, arrays):
        fast = xp.jit(_function)
        x, y = (a + 0 for a in arrays)
        result = fast(x, y)
        kept = [weakref.ref(a._cell) for a in (x, y, result)]
        leaves = [weakref.ref(fast(x, y)._cell.node) for _ in range(2)]
        del x, y, result
        gc.collect()
        assert [one() for one in kept + leaves] == [None] * 5

    def test_a_function_goes_with_its_recordings(self, arrays):
        weights = arrays[0] * 2

        def function(x):
            return x * weights + xp.asarray([1.0]).astype(np.float32)

        fast = xp.jit(function)
        fast(arrays[0])
        ((recording,),) = fast._recordings.values()
        kept = [weakref.ref(fast), weakref.ref(function), weakref.ref(recording.guards)]
        del fast, function, recording
        gc.collect()
        assert [one() for one in kept] == [None] * 3

    def test_arrays_around_it_are_not_kept(self, arrays):
        class Model:
            def __init__(self, weights):
                self.weights = weights

            @xp.jit
            def apply(self, x):
                return x * self.weights

        model = Model(arrays[0] + 1)
        model.apply(arrays[0])
        old = weakref.ref(model.weights)
        model.weights = model.weights * 2
        gc.collect()
        assert old() is None
        model.apply(arrays[0])
        gone = weakref.ref(model), weakref.ref(model.weights)
        del model
        gc.collect()
        assert [one() for one in gone] == [None, None]
        assert Model.apply.cache_info().currsize == 0

    def test_device_memory_is_that_of_the_results(self, arrays):
        fast = xp.jit(lambda x: (x * 2, x.sum()))
        x = arrays[0]
        fast(x)
        gc.collect()
        before = xp.stats()["bytes_live"]
        kept = [fast(x) for _ in range(4)]
        assert xp.stats()["bytes_live"] - before <= 4 * 2 * 4096
        del kept
        gc.collect()
        assert xp.stats()["bytes_live"] == before

    def test_arrays_of_numpy_that_only_a_recording_has_are_not_compared(self, arrays):
        outer = np.arange(1000, dtype=np.float32)

        def function(x):
            inner = np.arange(1000, dtype=np.float32)
            return x[::-1] * inner[::-1] + np.array([1.0], np.float32) + outer[::2].repeat(2) + x[np.array([3])]

        fast = xp.jit(function)
        assert_same(fast(arrays[0]), function(arrays[0]).get())
        ((recording,),) = fast._recordings.values()
        assert [array is outer for array, _ in recording.hosts] == [True]


class TestEvaluation:
    def test_it_is_under_way_when_the_call_returns(self, arrays):
        fast = xp.jit(_function)
        fast(*arrays)
        xp.reset_stats()
        result = fast(*arrays)
        assert result.residency
        stats = xp.stats()
        assert (stats["evaluations"], stats["launches"], stats["plans"], stats["compiles"]) == (1, 1, 0, 0)
        assert stats["transfers"] == stats["fallbacks"] == 0

    def test_profiles_name_kernels_and_lines(self, arrays):
        fast = xp.jit(_function)
        fast(*arrays)
        with xp.profile() as result:
            for _ in range(3):
                fast(*arrays)
        text = str(result)
        assert "sqrt" in text
        assert "test_recordings.py" in text

    def test_errors_of_a_run_name_lines(self, device):
        solve = xp.jit(lambda a, b: np.linalg.solve(a, b))
        b = xp.asarray(np.ones(3, np.float32))
        assert_same(solve(xp.asarray(np.eye(3, dtype=np.float32)), b), np.ones(3, np.float32))
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            np.asarray(solve(xp.zeros((3, 3), dtype=np.float32), b))

    def test_a_call_does_not_wait_for_its_status(self):
        with xp.using(device="wgpu"):
            inverse = xp.jit(np.linalg.inv)
            good, bad = xp.asarray(np.eye(3, dtype=np.float32)) + 0, xp.zeros((3, 3), dtype=np.float32) + 0
            other = good * 2
            np.asarray(inverse(good))
            xp.evaluate(bad, other)
            xp.reset_stats()
            results = [inverse(bad), inverse(good)]
            assert xp.stats()["bytes_downloaded"] == 0
            with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                np.asarray(other)
            assert_same(results[1], np.eye(3, dtype=np.float32))

    @pytest.mark.parametrize(
        "read",
        [lambda x: x.to_device("cpu"), np.from_dlpack, lambda x: x.__dlpack__(dl_device=(1, 0), copy=False)],
        ids=["to_device", "from_dlpack", "shared memory"],
    )
    def test_every_read_looks_at_statuses(self, read):
        with xp.using(device="wgpu"):
            inverse = xp.jit(np.linalg.inv)
            good, bad = xp.asarray(np.eye(3, dtype=np.float32)) + 0, xp.zeros((3, 3), dtype=np.float32) + 0
            np.asarray(inverse(good))
            with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                read(inverse(bad))
            xp.synchronize()

    def test_calls_do_not_wait_if_their_errors_may_come_with_the_next_read(self):
        with xp.using(device="wgpu", linalg_errors="read"):
            good = xp.asarray(np.broadcast_to(np.eye(3, dtype=np.float32), (50, 3, 3))) + 0
            bad = good.copy()
            bad[40] = 0
            xp.evaluate(good, bad)
            xp.reset_stats()
            results = [np.linalg.inv(good), np.linalg.solve(bad, good), scipy_linalg.solve_triangular(good, good)]
            assert xp.stats()["bytes_downloaded"] == 0
            with pytest.raises(np.linalg.LinAlgError, match="Singular") as caught:
                np.asarray(results[0])
            assert "np.linalg.solve(bad, good)" in caught.value.__notes__[0]
            for result in (results[0], results[2]):
                assert_same(result, good.get())
            scipy_linalg.lu_factor(good * np.nan)
            with pytest.raises(ValueError, match="infs or NaNs"):
                xp.synchronize()

    def test_an_interrupted_wait_loses_no_status(self, monkeypatch):
        with xp.using(device="wgpu"):
            inverse = xp.jit(np.linalg.inv)
            good, bad = xp.asarray(np.eye(3, dtype=np.float32)) + 0, xp.zeros((3, 3), dtype=np.float32) + 0
            np.asarray(inverse(good))
            inverse(bad)
            with monkeypatch.context() as patch:
                patch.setattr(WgpuProvider, "_end_read", _interrupted)
                with pytest.raises(KeyboardInterrupt):
                    xp.synchronize()
            with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                xp.synchronize()

    def test_errors_of_several_calls_are_raised_one_after_the_other(self):
        with xp.using(device="wgpu"):
            inverse, factor = xp.jit(np.linalg.inv), xp.jit(np.linalg.cholesky)
            good, bad = xp.asarray(np.eye(3, dtype=np.float32)) + 0, xp.zeros((5, 3, 3), dtype=np.float32) + 0
            np.asarray(inverse(good)), np.asarray(factor(good)), xp.evaluate(bad)
            results = [inverse(bad), inverse(good), factor(bad)]
            with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                np.asarray(results[1])
            with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
                np.asarray(results[1])
            assert_same(results[1], np.eye(3, dtype=np.float32))

    def test_statuses_of_a_stack_are_one_of_a_call(self):
        with xp.using(device="wgpu"):
            inverse = xp.jit(np.linalg.inv)
            good = xp.asarray(np.broadcast_to(np.eye(3, dtype=np.float32), (50_000, 3, 3))) + 0
            bad = good.copy()
            bad[40_000] = 0
            np.asarray(inverse(good))
            xp.evaluate(bad)
            xp.reset_stats()
            results = [inverse(good) for _ in range(20)]
            xp.synchronize()
            stats = xp.stats()
            assert stats["bytes_downloaded"] == 20 * 4
            assert stats["evaluations"] == 20
            results.append(inverse(bad))
            with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                xp.synchronize()

    def test_many_calls_wait_for_the_oldest_status(self):
        with xp.using(device="wgpu"):
            inverse = xp.jit(np.linalg.inv)
            good, bad = xp.asarray(np.eye(3, dtype=np.float32)) + 0, xp.zeros((3, 3), dtype=np.float32) + 0
            np.asarray(inverse(good))
            inverse(bad)
            with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                [inverse(good) for _ in range(100)]
            xp.synchronize()

    def test_no_room(self, device):
        if device.name != "wgpu:0":
            return
        fast = xp.jit(lambda x: (x + 1, x * 2))
        x = xp.asarray(np.ones(1 << 20, np.float32)) + 0
        fast(x)
        gc.collect()
        with xp.using(memory_limit=x.nbytes + (1 << 20)), pytest.raises(DeviceMemoryError) as caught:
            xp.jit(lambda x: x + xp.zeros((7, 1), dtype=np.float32))(x)
        assert "test_recordings.py" in "".join(caught.value.__notes__)
        assert_same(fast(x)[1][:3], np.float32([2, 2, 2]))

    def test_scratch_values_of_one_call_do_not_meet_those_of_another(self, arrays):
        x = arrays[0]
        fast = xp.jit(lambda x, a: x * a)
        result = [fast(x, float(a)) for a in range(20)]
        for a in range(20):
            assert_same(result[a], x.get() * np.float32(a))


class TestDevices:
    def test_auto_is_placed_at_each_call(self):
        fast = xp.jit(_function)
        x = xp.asarray(np.ones(1000, np.float32), device="auto")
        y = xp.asarray(np.ones(1000, np.float32), device="auto")
        for _ in range(3):
            result = fast(x, y)
            assert result.device is Device("auto")
            assert_same(result, _function(x, y).get())
        assert fast.cache_info()[:2] == (2, 1)
        with xp.using(provider="wgpu", software=True, offload="always"):
            result = fast(x, y)
            assert "wgpu:0" in result.residency
            assert_same(result, _function(x, y).get())

    def test_each_device_has_its_own(self):
        fast = xp.jit(_function)
        host = np.ones(1000, np.float32)
        for _ in range(2):
            for name in ("cpu", "wgpu"):
                x = xp.asarray(host, device=name)
                assert fast(x, x).device is Device(name)
        assert fast.cache_info()[:2] == (2, 2)

    def test_a_device_that_was_opened_again(self, limited):
        fast = xp.jit(_function)
        with xp.using(device=limited.name):
            fast(xp.ones(5, dtype=np.float32), xp.ones(5, dtype=np.float32))
            registry._opened.pop((limited.kind, limited.number))
            x = xp.ones(5, dtype=np.float32)
            assert_same(fast(x, x), _function(x, x).get())
        assert fast.cache_info()[:2] == (0, 2)


class TestThreads:
    def test_calls_and_recordings_at_once(self, arrays):
        x, y = arrays
        fast = xp.jit(lambda x, y, a: (x * a + y).sum() + a)
        expected = {(n, a): float((x[:n] * a + y[:n]).sum() + a) for n in (10, 100, 1000) for a in (1.0, 2.0, 3.0)}
        name = x.device.name

        def work(number):
            n, a = [*expected][number % len(expected)]
            with xp.using(device=name):
                return (n, a), float(fast(x[:n], y[:n], a))

        with ThreadPoolExecutor(4) as team:
            actual = list(team.map(work, range(90)))
        assert all(expected[key] == value for key, value in actual)

    def test_others_go_on_while_one_records(self, arrays):
        x, y = arrays
        with ThreadPoolExecutor(1) as other:
            name = x.device.name

            def elsewhere():
                with xp.using(device=name):
                    z = x * 3
                    z += y
                    return float(z[0])

            def function(x):
                assert other.submit(elsewhere).result() == float(expected)
                return x * 2

            expected = (x * 3 + y)[0].item()
            assert_same(xp.jit(function)(x), x.get() * 2)

    def test_an_array_of_a_recording_in_another_thread(self, arrays):
        with ThreadPoolExecutor(1) as other, pytest.raises(RecordingError):
            xp.jit(lambda x: other.submit(lambda: float((x * 2).sum())).result() * x)(arrays[0])


def test_values_of_a_call_are_not_kept(device):
    host = np.arange(8, dtype=np.float32)
    table = xp.asarray(host[::-1].copy())

    @xp.jit
    def scaled(x, factor):
        return x * factor + table

    for turn in range(4):
        x = xp.asarray(host + turn)
        xp.evaluate(x)
        kept = weakref.ref(x._cell.node)
        assert_same(scaled(x, 2.0 + turn), (host + turn) * (2.0 + turn) + host[::-1])
        del x
        gc.collect()
        assert kept() is None
    table += 1
    assert_same(scaled(xp.asarray(host), 1.0), host + host[::-1] + 1)


def test_values_of_a_call_end_with_the_evaluation_that_reads_them_last(device):
    @xp.jit
    def smoothed(x):
        for _ in range(150):
            x = np.sort(x) * 0.5 + x[::-1]
        return x

    x = xp.asarray(np.random.default_rng(0).random(1 << 15, np.float32))
    with xp.using(pending_limit=16, direct_limit=0):
        smoothed(x)
        xp.reset_stats()
        again = smoothed(x)
        again.get()
        assert xp.stats()["peak_bytes"] < 10 * x.nbytes
    expected = x.get()
    for _ in range(150):
        expected = np.sort(expected) * np.float32(0.5) + expected[::-1]
    np.testing.assert_allclose(again, expected, rtol=1e-5)
