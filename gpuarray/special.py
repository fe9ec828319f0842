"""Special functions as in :mod:`scipy.special`, of real numbers, on any device.

SciPy's own functions of these names take arrays of this package too, and give the same values. ``import gpuarray``
does not import this module; ``gpuarray.special`` does when it is first used.
"""

from typing import TYPE_CHECKING

from gpuarray.functions.special import *  # noqa: F403

if not TYPE_CHECKING:  # checkers take the names from the star
    from gpuarray.functions.special import __all__ as __all__
