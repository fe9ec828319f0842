"""Arrays of more elements than 32-bit positions tell apart: right values, or an error at once."""

import time

import numpy as np
import pytest

import gpuarray as xp

FAR = (2**31 + 10, 2**32 + 10)


@pytest.mark.parametrize("size", FAR)
@pytest.mark.parametrize(
    "choose",
    [
        lambda x: x[-1],
        lambda x: x[-3:],
        lambda x: x[:: 2**30],
        lambda x: x.reshape(2, -1)[1, -1:],
        lambda x: x[-5:] * 2 + 1,
        lambda x: x[-3:].sum(),
    ],
)
def test_elements_behind_the_limit(size, choose, device):
    lazy = choose(xp.arange(size))
    # what NumPy has of so large an array, without its memory
    expected = choose(_Arange(size))
    np.testing.assert_array_equal(lazy.get(), expected)


class _Arange:
    """The values of ``np.arange(size)`` where they are asked for."""

    def __init__(self, size, shape=None):
        self.size, self.shape = size, shape

    def reshape(self, *shape):
        return _Arange(self.size, shape)

    def __getitem__(self, key):
        if self.shape:
            return np.array([self.size - 1])
        result = range(self.size)[key]
        return np.array(result)


@pytest.mark.parametrize("shape", [(10**6, 10**5), (10**6, 10**6), (10**5,) * 3])
def test_an_array_that_no_machine_has_room_for_is_refused_at_once(shape, device):
    start = time.process_time()
    with pytest.raises(MemoryError):
        xp.evaluate(xp.ones(shape))
    with pytest.raises(MemoryError):
        xp.evaluate(xp.ones(shape, dtype=np.float32) * 2 + 1)
    assert time.process_time() - start < 5
