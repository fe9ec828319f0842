"""Operations know the lines that asked for them, and so do errors that come from a device later."""

import gc
import inspect
import warnings
import weakref

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import source_locations
from gpuarray.errors import DeviceError, DeviceMemoryError, FallbackError
from gpuarray.providers import registry


def line_of(text):
    """Return the number of this file's one line that contains ``text`` and is marked as wanted."""
    (result,) = [n for n, line in enumerate(_LINES, 1) if text in line and "# wanted" in line]
    return result


def origin_of(array):
    return source_locations.locate(array._cell.node.origin)


def test_recorded_operations_name_their_lines(device):
    x = xp.asarray([1.0, 2.0], dtype=xp.float32)  # wanted: creation
    y = x + 1  # wanted: operator
    z = np.exp(x)  # wanted: ufunc of NumPy
    w = xp.exp(x)  # wanted: function
    v = x.var()  # wanted: composition
    y += 3  # wanted: in place
    cases = {"creation": x, "ufunc of NumPy": z, "function": w, "composition": v, "in place": y}
    for mark, array in cases.items():
        result = origin_of(array)
        assert (result.file, result.line) == (__file__, line_of(f"wanted: {mark}")), mark
        assert result.function == "test_recorded_operations_name_their_lines"
    assert origin_of(w).text == "xp.exp(x)"


def test_an_expression_on_several_lines_is_told_apart():
    x = xp.ones(3, device="cpu")
    total = xp.add(
        x * 2,  # wanted: first operand
        x / 3,
    )
    first, second = total._cell.node.inputs
    assert source_locations.locate(first.origin).line == line_of("first operand")
    assert source_locations.locate(second.origin).line == line_of("first operand") + 1
    assert [source_locations.locate(n.origin).text for n in (first, second)] == ["x * 2", "x / 3"]


def test_origins_can_be_switched_off():
    with xp.using(origins=False):
        x = xp.ones(3, device="cpu") + 1
    assert x._cell.node.origin is None
    assert xp.explain(x).nodes[-1].place is None
    assert (x + 1)._cell.node.origin is not None


def test_an_origin_keeps_no_variable_alive():
    class Thing:
        pass

    def record():
        thing = Thing()
        return xp.ones(3, device="cpu") + 1, weakref.ref(thing)

    array, thing = record()
    gc.collect()
    assert origin_of(array).function.endswith("record")
    assert thing() is None


def test_code_without_a_file_is_told_by_its_name():
    names = {"xp": xp}
    exec(compile("x = xp.ones(2, device='cpu')\ny = x + 1", "<program>", "exec"), names)
    result = origin_of(names["y"])
    assert (str(result), result.text) == ("<program>:2", "")


class TestErrors:
    def test_no_memory(self, device):
        x = xp.ones(7 << 20, dtype=xp.float32)  # more than any pool has at hand
        y = xp.cumulative_sum(x) * 2  # wanted: too large
        with xp.using(memory_limit=1), pytest.raises(DeviceMemoryError) as caught:
            xp.evaluate(y)
        self.names(caught.value, "too large", "sum")
        np.testing.assert_array_equal(np.asarray(y[:3]), [2, 4, 6])

    def test_refused_fallback(self):
        x = xp.eye(3, dtype=xp.float32, device="wgpu")
        with xp.using(fallback="error"), pytest.raises(FallbackError) as caught:
            xp.linalg.eigvals(x)  # wanted: on the host
        self.names(caught.value, "on the host", "eigvals")

    def test_refused_launch(self, monkeypatch):
        x = xp.ones(8, dtype=xp.float32, device="wgpu")
        y = xp.exp(x)  # wanted: refused
        provider = registry.open_device(x.device)

        def refuse(*_):
            raise DeviceError("the driver refused")

        with monkeypatch.context() as patch:
            patch.setattr(provider, "run", refuse)
            with pytest.raises(DeviceError) as caught:
                xp.evaluate(y)
        self.names(caught.value, "refused", "exp")
        np.testing.assert_allclose(np.asarray(y), np.e, rtol=1e-6)

    def test_a_device_that_fails_while_it_is_waited_for(self, monkeypatch):
        x = xp.ones(8, dtype=xp.float32, device="wgpu")
        xp.synchronize()  # what other tests recorded would be evaluated after y
        y = xp.exp(x)  # wanted: evaluated before
        xp.evaluate(y)
        provider = registry.open_device(x.device)

        def fail(*_):
            raise DeviceError("the device was lost")

        for name, wait in (("read", lambda: xp.asnumpy(y)), ("synchronize", xp.synchronize)):
            with monkeypatch.context() as patch:
                patch.setattr(provider, name, fail)
                with pytest.raises(DeviceError) as caught:
                    wait()
            self.names(caught.value, "evaluated before", "exp")

    @staticmethod
    def names(error, mark, operation):
        first, *lines = error.__notes__
        assert operation in first
        assert any(f"test_source_locations.py:{line_of(f'wanted: {mark}')}" in line for line in lines)


_LINES = inspect.getsource(inspect.getmodule(line_of)).splitlines()


WARNING = {
    "assignment": lambda x, c: x.__setitem__(slice(None), c),
    "astype": lambda x, c: c.astype(float),
    "numpy": lambda x, c: np.copyto(x, c, casting="unsafe"),
    "put": lambda x, c: np.put(x, [0, 1], c),
    "asarray": lambda x, c: xp.asarray(c, dtype=float),
    "fill": lambda x, c: x.fill(c[0]),
    "cov": lambda x, c: np.cov(x[:1]),
    "cross": lambda x, c: np.cross(x, x),
    "histogram": lambda x, c: np.histogram(x > 0),
    "median": lambda x, c: np.median(x[:0]),
}


@pytest.mark.parametrize("name", WARNING)
def test_warnings_name_the_users_line(name):
    x, c = xp.zeros(2), xp.asarray([1j, 2])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        WARNING[name](x, c)
    assert caught[0].filename == __file__


def test_frames_are_found_on_any_interpreter():
    def inner(depth):
        return source_locations.frame_by_traceback(depth), source_locations.frame_at(depth)

    for depth in range(3):
        actual, expected = inner(depth)
        assert actual is expected
