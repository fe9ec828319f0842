"""Random numbers as in :mod:`numpy.random`: generators that give the same numbers on every device.

There is no global state; make a generator with :func:`default_rng`.
"""

from numpy.random import SeedSequence

from gpuarray.api.random import Generator, default_rng
from gpuarray.api.random_bits import Philox

__all__ = ["Generator", "Philox", "SeedSequence", "default_rng"]
