"""Copies of big arrays by several threads."""

import subprocess
import sys

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import parallel_copy

#: Bytes that two threads copy.
BIG = 2 * parallel_copy._MIN_BYTES


@pytest.mark.parametrize("threads", [1, 3, 0])
@pytest.mark.parametrize("nbytes", [0, 1000, BIG - 1, BIG, BIG + 5, 3 * BIG])
def test_copies_are_right_and_private(nbytes, threads):
    given = np.random.default_rng(0).integers(0, 256, nbytes, np.uint8)
    with xp.using(threads=threads):
        made = parallel_copy.copy_of(given)
    assert np.array_equal(made, given)
    assert not np.shares_memory(made, given)


def test_they_keep_shape_and_dtype():
    given = np.arange(BIG // 8, dtype=np.float64).reshape(64, -1)
    made = parallel_copy.copy_of(given)
    assert (made.shape, made.dtype) == (given.shape, given.dtype)
    assert np.array_equal(made, given)


def test_arrays_keep_the_value_that_they_were_made_from():
    given = np.ones(BIG, np.uint8)
    x = xp.asarray(given, device="cpu")
    given[:] = 2
    first = np.asarray(x)
    first[:] = 3
    assert np.array_equal(np.asarray(x), np.ones_like(given))


def test_they_go_on_when_python_ends():
    program = (
        "import atexit, numpy as np\n"
        "from gpuarray import parallel_copy\n"
        f"given = np.ones({BIG}, np.uint8)\n"
        "atexit.register(lambda: print(np.array_equal(parallel_copy.copy_of(given), given)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
