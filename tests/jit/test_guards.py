"""`jit`: what is around a recorded function is what it would be for the plain one, at every call."""

import functools
import importlib

import numpy as np
import pytest
from support import assert_alike, two_arrays

import gpuarray as xp
from gpuarray.errors import RecordingError
from gpuarray.jit import guards
from gpuarray.testing import assert_same


class TestSurroundings:
    def test_arrays_are_read_at_each_call(self, device):
        weights, _ = two_arrays(1)
        fast = xp.jit(lambda x: x * weights)
        x, _ = two_arrays(0)
        for _ in range(3):
            assert_alike(fast(x), x * weights)
            weights += 1
        weights = weights * 2
        assert_alike(fast(x), x * weights)
        assert fast.cache_info()[:2] == (2, 2)

    def test_arrays_are_written(self, device):
        total = xp.zeros((8, 6), dtype=np.float32)

        @xp.jit
        def add(x):
            np.add(total, x, out=total)

        x, _ = two_arrays(0)
        for _ in range(3):
            add(x)
        assert_same(total, x.get() + x.get() + x.get())

    def test_an_array_that_is_also_an_argument(self, device):
        weights, x = two_arrays(1)
        fast = xp.jit(lambda x: x * weights)
        for value in (weights, x, weights):
            assert_alike(fast(value), value * weights)

        def write(x):
            x += weights

        with pytest.raises(RecordingError, match="shares memory with an array in a variable that it uses"):
            xp.jit(write)(weights)

    def test_variables(self, device):
        scale, options = 2.0, {"shift": [1, 2]}
        fast = xp.jit(lambda x: x * scale + options["shift"][0])
        x, _ = two_arrays(0)
        assert_alike(fast(x), x * 2.0 + 1)
        scale = 3.0
        assert_alike(fast(x), x * 3.0 + 1)
        options["shift"][0] = 5
        assert_alike(fast(x), x * 3.0 + 5)
        assert fast.cache_info().misses == 3
        assert_alike(fast(x), x * 3.0 + 5)
        assert fast.cache_info().misses == 3

    def test_arrays_of_numpy(self, device):
        weights = np.arange(6, dtype=np.float32)
        fast = xp.jit(lambda x: x * weights[::-1])
        x, _ = two_arrays(0)
        for _ in range(3):
            assert_same(fast(x), x.get() * weights[::-1])
        weights += 1
        assert_same(fast(x), x.get() * weights[::-1])
        assert fast.cache_info()[:2] == (2, 2)

    def test_arrays_of_numpy_that_only_the_host_reads(self, device):
        share = np.array([0.25, 0.75])
        fast = xp.jit(lambda x: np.quantile(x, share, axis=0))
        x, _ = two_arrays(0)
        for _ in range(2):
            assert_alike(fast(x), np.quantile(x, share, axis=0))
            share -= 0.1

    def test_properties_slots_and_what_is_set_later(self, device):
        class Model:
            __slots__ = ("__weakref__", "scale")
            shift = 1.0

            @property
            def doubled(self):
                return self.scale * factor

            @xp.jit
            def apply(self, x):
                return x * self.doubled + self.shift + (self.more if hasattr(self, "more") else 0)

        class Later(Model):
            pass

        factor = 2.0
        model, later = Model(), Later()
        model.scale = later.scale = 3.0
        x, _ = two_arrays(0)
        for one in (model, later):
            assert_alike(one.apply(x), x * 6.0 + 1.0)
            one.scale = 5.0
            assert_alike(one.apply(x), x * 10.0 + 1.0)
            factor = 4.0
            assert_alike(one.apply(x), x * 20.0 + 1.0)
            factor = 2.0
        later.more = 7.0
        assert_alike(later.apply(x), x * 10.0 + 1.0 + 7.0)
        Later.shift = 2.0
        assert_alike(later.apply(x), x * 10.0 + 2.0 + 7.0)
        later.shift = 3.0
        assert_alike(later.apply(x), x * 10.0 + 3.0 + 7.0)

    def test_wrapped_functions_and_those_of_a_library(self, device, tmp_path, monkeypatch):
        def scaling(function):
            @functools.wraps(function)
            def scaled(x):
                return function(x) * factor

            return scaled

        factor, shift = 2.0, 1.0
        (tmp_path / "of_a_library.py").write_text("rate = 3.0\ndef apply(x):\n    return x * rate\n")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(guards, "_LIBRARIES", (str(tmp_path),))
        library = importlib.import_module("of_a_library")
        monkeypatch.setattr(library, "rate", 3.0)
        wrapped, outer, inner = (
            xp.jit(scaling(lambda x: x + shift)),
            xp.jit(lambda x: library.apply(x)),
            xp.jit(library.apply),
        )
        x, _ = two_arrays(0)
        for factor, shift in ((2.0, 1.0), (3.0, 1.0), (3.0, 2.0)):
            assert_alike(wrapped(x), (x + shift) * factor)
        assert_alike(outer(x), x * 3.0)
        for library.rate in (3.0, 4.0):
            assert_alike(inner(x), x * library.rate)

    def test_what_can_be_called(self, device):
        class Scaled:
            def __init__(self, by):
                self.by = by

            def apply(self, x):
                return x * self.by

            __call__ = apply

        x, _ = two_arrays(0)
        scaled = Scaled(2.0)
        made = [xp.jit(scaled), xp.jit(scaled.apply), xp.jit(functools.partial(Scaled.apply, scaled))]
        for by in (2.0, 3.0):
            scaled.by = by
            for fast in made:
                assert_alike(fast(x), x * by)

    def test_methods_and_attributes(self, device):
        class Model:
            gain = 2.0

            def __init__(self, weights):
                self.weights = weights
                self.bias = 1.0
                self.calls = 0

            def _scaled(self, x):
                return x * self.gain

            @xp.jit
            def __call__(self, x, n=1):
                """Apply it."""
                return self._scaled(x) * self.weights + self.bias * n

        weights, x = two_arrays(0)
        one, two = Model(weights), Model(weights + 1)
        for n in (1, 3):
            for model in (one, two):
                model.calls += 1  # named by nobody
                assert_alike(model(x, n), x * 2.0 * model.weights + 1.0 * n)
        assert Model.__call__.cache_info()[:2] == (2, 2)
        assert Model.__call__.__doc__ == "Apply it."
        one.bias = 5.0
        assert_alike(one(x, 1), x * 2.0 * weights + 5.0)
        one.weights = weights * 3
        assert_alike(one(x, 1), x * 2.0 * one.weights + 5.0)
        Model.gain = 4.0
        assert_alike(one(x, 1), x * 4.0 * one.weights + 5.0)

    def test_what_a_function_changes_around_itself(self, device):
        seen = []
        x, _ = two_arrays(0)
        with pytest.raises(RecordingError, match="changed the length of a list"):
            xp.jit(lambda x: seen.append(1) or x)(x)
        with pytest.raises(RecordingError, match="random generator of NumPy"):
            xp.jit(lambda x: x * np.random.random())(x)
        draw = np.random.default_rng(0).random
        with pytest.raises(RecordingError, match="random generator of NumPy"):
            xp.jit(lambda x: x * draw())(x)
        with pytest.raises(RecordingError, match="shape"):
            xp.jit(lambda x: setattr(x, "shape", -1))(x)

    def test_arrays_that_are_kept_have_no_value(self, device):
        class Kept:
            pass

        x, _ = two_arrays(0)
        kept = dict.fromkeys(range(100), Kept)  # too large to be looked at
        xp.jit(lambda x: kept.__setitem__(5, x * 2))(x)
        with pytest.raises(RecordingError, match="after that"):
            np.asarray(kept[5])
