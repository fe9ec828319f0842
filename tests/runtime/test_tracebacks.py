"""Tracebacks of errors end at the line of the program, or where an evaluation begins, unless debugging is on."""

import traceback

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.array import compiled
from gpuarray.settings import Config


def _files(debug: int) -> list[str]:
    with xp.using(device="cpu", direct_limit=0):
        power = xp.asarray([1, 2]) ** xp.asarray([-1, 2])
        with xp.using(debug=debug), pytest.raises(ValueError, match="negative integer powers") as caught:
            power.get()
    assert any("recorded at" in note for note in caught.value.__notes__)
    files = [frame.filename for frame in traceback.extract_tb(caught.tb)]
    del power, caught  # which has this frame: other tests would compute the array again, until the cycle is collected
    return files


def test_frames_of_steps_are_hidden() -> None:
    hidden, shown = _files(0), _files(1)
    assert __file__ in hidden
    assert not any("providers" in name or "loop>" in name for name in hidden)
    assert any("providers" in name for name in shown)


@pytest.mark.parametrize("read", [np.asarray, str, repr, float, xp.evaluate, xp.asnumpy, lambda x: x.item(), list])
def test_little_of_the_package_is_seen_below_the_line_that_reads(read):
    with xp.using(device="cpu", direct_limit=0):
        power = xp.asarray([1]) ** xp.asarray([-1])
        value = power[0] if read is float else power
        with pytest.raises(ValueError, match="negative integer powers") as caught:
            read(value)
        frames = traceback.extract_tb(caught.tb)
        assert len([frame for frame in frames if "gpuarray/" in frame.filename.replace("\\", "/")]) <= 2
        del power, value, caught


def _of_package(trace):
    frames = traceback.extract_tb(trace)
    return [frame.name for frame in frames if "/gpuarray/" in frame.filename.replace("\\", "/")]


@pytest.mark.parametrize("debug", [0, 1])
@pytest.mark.parametrize(
    "call",
    [lambda x: xp.sum(x, axis=5), lambda x: xp.concatenate([x, x[0]]), lambda x: xp.linalg.inv(x[:, :2] * 0)],
    ids=["sum", "concatenate", "inv"],
)
def test_nothing_of_the_package_is_seen_below_a_call_with_wrong_arguments(call, debug):
    with xp.using(device="cpu", debug=debug), pytest.raises(ValueError) as caught:  # noqa: PT011  # of several classes
        call(xp.ones((2, 3)))
    assert bool(_of_package(caught.tb)) == bool(debug)


@pytest.mark.skipif(not compiled.IS_COMPILED, reason="methods in Python have frames")
@pytest.mark.parametrize("debug", [0, 1])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + x[0, :2],
        lambda x: np.ones(2) - x,
        lambda x: x < x[:, :2],
        lambda x: x @ x,
        lambda x: x.__iadd__(x[0, :2]),
        lambda x: x[5],
        lambda x: x[xp.asarray([5])],
        lambda x: x.__setitem__(0, x[0, :2]),
        lambda x: np.add(x, x[0, :2]),
    ],
    ids=["add", "subtract", "less", "matmul", "iadd", "getitem", "gather", "setitem", "ufunc"],
)
def test_nothing_of_the_package_is_seen_below_an_operator(call, debug):
    with xp.using(device="cpu", debug=debug), pytest.raises((ValueError, IndexError)) as caught:
        call(xp.ones((2, 3)))
    assert bool(_of_package(caught.tb)) == bool(debug)


def test_functions_of_the_program_are_seen_below_those_of_the_package():
    def fails(line):
        raise ValueError("mine")

    with xp.using(device="cpu"), pytest.raises(ValueError, match="mine") as caught:
        xp.apply_along_axis(fails, 0, xp.ones(3))
    assert traceback.extract_tb(caught.tb)[-1].name == "fails"


def test_little_of_the_package_is_seen_below_a_call_of_a_recorded_function():
    power = xp.jit(lambda x, n: x**n)
    with xp.using(device="cpu", direct_limit=0):
        power(xp.asarray([2]), xp.asarray([1]))
        with pytest.raises(ValueError, match="negative integer powers") as caught:
            power(xp.asarray([2]), xp.asarray([-1]))
    assert _of_package(caught.tb) == ["__call__"]
    assert "x**n" in "".join(caught.value.__notes__)


def test_powers_of_values_that_the_host_has_fail_where_they_are_written():
    with xp.using(device="cpu", direct_limit=Config().direct_limit):
        base, exponent = xp.asarray([1, 2]), xp.asarray([-1, 2])
        for power in (lambda: base**exponent, lambda: np.power(base, exponent), lambda: base.__ipow__(exponent)):
            with pytest.raises(ValueError, match="negative integer powers"):
                power()
