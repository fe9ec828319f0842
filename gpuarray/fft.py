"""Discrete Fourier transforms as in :mod:`numpy.fft` and the array API standard, of any length, on any device."""

from gpuarray.functions import fourier, frequencies
from gpuarray.functions.fourier import *
from gpuarray.functions.frequencies import *

__all__ = fourier.__all__ + frequencies.__all__
