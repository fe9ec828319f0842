"""`jit`: positions that a recorded function computes, which their operations keep in range or not."""

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.array.bounds import enclosed
from gpuarray.errors import RecordingError

FIRST, SECOND = (np.random.default_rng(seed).normal(size=(4, 5)) for seed in (0, 1))

IN_RANGE = {
    "argmax": lambda x: x[np.argmax(x, axis=0), np.arange(5)],
    "argsort": lambda x: np.take_along_axis(x, np.argsort(x, axis=1)[:, :2], axis=1),
    "new axis": lambda x: np.take_along_axis(x, np.argmin(x, axis=0)[None], axis=0),
    "remainder": lambda x: x[(np.argmax(x, axis=0) + 1) % 4],
    "clip": lambda x: x[np.clip(np.argmax(x, axis=0) - 1, 0, 3)],
    "minimum": lambda x: x[np.minimum(np.argmax(x, axis=0) * 0 + np.argmin(x, axis=0), 3)],
    "difference": lambda x: x[np.argmax(x, axis=0) // 2 - 1],
    "where": lambda x: x[np.where(x[:, 0] > 0, 1, -1)],
    "truth values": lambda x: x[(x[:, 0] > 0).astype(int)],
    "lexsort": lambda x: x[np.lexsort((x[:, 0], x[:, 1]))],
    "stack": lambda x: x[np.stack([np.argmax(x, axis=0), np.argmin(x, axis=0)])],
    "gathered": lambda x: x[np.argmax(x, axis=0)[np.argmin(x, axis=1) % 5]],
    "extreme": lambda x: x[np.max(np.argmax(x, axis=0))[None]],
    "narrow dtype": lambda x: x[np.argmax(x, axis=0).astype(np.int8)],
}
UNKNOWN = {
    "sum": lambda x: x[np.argmax(x, axis=0) + 1],
    "floats": lambda x: x[np.abs(x[:, 0]).astype(int)],
    "running sum": lambda x: x[np.cumsum(x[:, 0] > 9)],
}


@pytest.mark.parametrize("name", IN_RANGE)
def test_positions_in_range_are_recorded(name, device):
    fast = xp.jit(IN_RANGE[name])
    for host in (FIRST, SECOND, FIRST):
        np.testing.assert_array_equal(fast(xp.asarray(host)).get(), IN_RANGE[name](host))
    assert fast.cache_info()[0] == 2


@pytest.mark.parametrize("name", UNKNOWN)
def test_positions_that_may_be_out_of_range_are_refused(name, device):
    with pytest.raises(RecordingError, match="check_indices"):
        xp.jit(UNKNOWN[name])(xp.asarray(FIRST))


@pytest.mark.parametrize("end", [3, 7])
def test_numbers_of_a_call_are_no_bounds(end, device):
    clipped = xp.jit(lambda x, end: x[np.argmax(x, axis=0) % end])
    with pytest.raises(RecordingError, match="check_indices"):
        clipped(xp.asarray(FIRST), end)


@pytest.mark.parametrize("end", [2, 2.5])
def test_ends_of_a_range_may_be_numbers_of_a_call(end, device):
    host = np.arange(5, dtype=np.int32)
    clipped = xp.jit(lambda x, end: np.clip(x, 1, end))
    for value in (end, end + 1):
        result, expected = clipped(xp.asarray(host), value).get(), np.clip(host, 1, value)
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)


def test_positions_that_wrap_are_not_taken_to_be_in_range():
    with xp.using(device="cpu", direct_limit=0):
        small = (xp.asarray(FIRST).argmax(axis=0) + 250).astype(np.uint8)
        assert enclosed((small + np.uint8(10)).node()) == (0, 255)
        assert enclosed((small % 7).node()) == (0, 6)
        assert enclosed(small.astype(np.int8).node()) == (-128, 127)
