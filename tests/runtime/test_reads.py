"""Reads of elements: the host keeps the small arrays of a device of which it has seen an element."""

import numpy as np

import gpuarray as xp


def _done(before: dict[str, int]) -> dict[str, int]:
    return {name: xp.stats()[name] - before[name] for name in ("launches", "bytes_downloaded")}


def test_elements_have_their_values(device: str) -> None:
    with xp.using(device=device):
        x = xp.arange(12.0).reshape(3, 4) * 2
        view = x[::-1, 1:]
        assert [float(x[1, 2]), float(view[0, 0]), view[2].tolist()] == [12.0, 18.0, [2.0, 4.0, 6.0]]
        seen = np.asarray(x[1])
        x[1, 2] = 5
        x[0] += 1
        assert [float(x[1, 2]), float(view[1, 1]), float(x[0, 3])] == [5.0, 5.0, 7.0]
        assert seen.tolist() == [8.0, 10.0, 12.0, 14.0]
        assert seen.flags.writeable


def test_a_small_array_is_read_once() -> None:
    with xp.using(device="wgpu"):
        x = xp.arange(100, dtype=xp.int32) * 3
        x[7] = 1
        before = xp.stats()
        assert [int(x[at]) for at in range(6, 9)] == [18, 1, 24]
        assert x[90:].tolist() == [270 + 3 * at for at in range(10)]
        assert _done(before)["bytes_downloaded"] == 400
        before = xp.stats()
        x += 1
        assert [int(x[at]) for at in range(6, 9)] == [19, 2, 25]
        assert _done(before) == {"launches": 1, "bytes_downloaded": 400}


def test_elements_of_large_or_temporary_arrays_are_read_alone() -> None:
    with xp.using(device="wgpu"):
        x = xp.zeros(1 << 16, dtype=xp.int32) + 1
        xp.evaluate(x)
        before = xp.stats()
        assert int(x[3]) == int((x[:8] + 1)[3]) - 1 == 1
        assert _done(before)["bytes_downloaded"] == 8
