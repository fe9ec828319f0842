"""Tracebacks of errors in evaluations end where the evaluation begins, unless debugging is on."""

import traceback

import pytest

import gpuarray as xp


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
