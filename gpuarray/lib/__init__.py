"""Names of :mod:`numpy.lib` that clients look for in the namespace of an array."""

from typing import TYPE_CHECKING

from gpuarray.functions.absent import missing
from gpuarray.lib import stride_tricks

__all__ = ["stride_tricks"]

if not TYPE_CHECKING:  # a checker would take any name for one of the module's
    __getattr__ = missing("lib")
