"""Arrays that the tests of NumPy's functions work on."""

import numpy as np

RNG = np.random.default_rng(5)
V = RNG.standard_normal(12)
A = RNG.standard_normal((3, 4))
B = RNG.standard_normal((3, 4))
F = A.astype(np.float32)
T = RNG.standard_normal((2, 3, 4))
R = np.swapaxes(T, 1, 2)
S = RNG.standard_normal((4, 4)) + 4 * np.eye(4)
C = A + 1j * B
K = RNG.integers(-9, 9, (3, 4))
U = RNG.integers(0, 9, (3, 4)).astype(np.uint8)
M = A > 0
N = np.where(A > 0.8, np.nan, A)
E = np.array([[1.0, np.inf], [-np.inf, np.nan]])
EMPTY = np.zeros((0, 3))


def label(case):
    """Return a short name of a test case: the functions that it calls."""
    names = [name for name in case.__code__.co_names if name != "np" and len(name) > 1]
    return ".".join(names[:3])
