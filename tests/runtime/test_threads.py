"""Values that several threads want at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.runtime import places


def test_a_value_that_another_thread_evaluates_first(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    x = xp.arange(5) * 2
    wanted = x + 1
    lock = places.lock

    class Late:
        """The lock, which the other thread gets first."""

        def __enter__(self) -> None:
            monkeypatch.setattr(places, "lock", lock)
            xp.evaluate(wanted)
            lock.acquire()

        def __exit__(self, *error: object) -> None:
            lock.release()

    monkeypatch.setattr(places, "lock", Late())
    xp.evaluate(wanted, x)
    assert wanted.tolist() == [1, 3, 5, 7, 9]
    assert x.tolist() == [0, 2, 4, 6, 8]


def test_many_threads_read_what_is_pending(device: Device) -> None:
    x = xp.asarray(np.arange(1000, dtype=np.float32))
    shared = [x * float(i) + 1 for i in range(20)]
    with xp.using(device=device.name), ThreadPoolExecutor(4) as team:
        sums = [y.sum() for y in shared for _ in range(4)]
        found = list(team.map(float, sums))
    assert found == [float(np.float32(i) * 499_500 + 1000) for i in range(20) for _ in range(4)]
