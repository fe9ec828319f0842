"""The constants of the standard."""

from typing import Final

import numpy as np

__all__ = ["e", "inf", "nan", "newaxis", "pi"]

e: Final = np.e
inf: Final = np.inf
nan: Final = np.nan
newaxis: Final = None
pi: Final = np.pi
