"""Tracebacks of errors in evaluations end where the evaluation begins, unless debugging is on."""

import traceback

import numpy as np
import pytest

import gpuarray as xp
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


def test_powers_of_values_that_the_host_has_fail_where_they_are_written():
    with xp.using(device="cpu", direct_limit=Config().direct_limit):
        base, exponent = xp.asarray([1, 2]), xp.asarray([-1, 2])
        for power in (lambda: base**exponent, lambda: np.power(base, exponent), lambda: base.__ipow__(exponent)):
            with pytest.raises(ValueError, match="negative integer powers"):
                power()
