"""Random numbers as in :mod:`numpy.random`, from generators that return the same numbers on every device.

There is no global generator. :func:`default_rng` makes one.
"""

from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.random import SeedSequence

from gpuarray.functions.random import Generator, default_rng
from gpuarray.functions.random_bits import Philox

__all__ = ["Generator", "Philox", "SeedSequence", "default_rng"]

if not TYPE_CHECKING:  # a checker would take any name for one of the module's

    def __getattr__(name: str) -> NoReturn:
        """Raise AttributeError; for NumPy's functions of the global generator its message says what to use."""
        hint = "; there is no global generator: gpuarray.random.default_rng(seed) makes one"
        known = name in np.random.__all__
        raise AttributeError(f"module 'gpuarray.random' has no attribute {name!r}{hint if known else ''}")
