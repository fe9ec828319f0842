"""Random numbers as in :mod:`numpy.random`, from generators that return the same numbers on every device.

:func:`default_rng` makes a generator. The older functions, such as :func:`rand`, :func:`randint` and :func:`seed`, use
a global :class:`RandomState`, whose arrays differ from NumPy's for the same seed.
"""

from typing import TYPE_CHECKING

from numpy.random import SeedSequence

from gpuarray.functions import random_legacy
from gpuarray.functions.absent import missing
from gpuarray.functions.random import Generator, default_rng
from gpuarray.functions.random_bits import Philox
from gpuarray.functions.random_legacy import *

__all__ = ["Generator", "Philox", "SeedSequence", "default_rng"]
__all__ += random_legacy.__all__

if not TYPE_CHECKING:  # a checker would take any name for one of the module's
    __getattr__ = missing("random")
