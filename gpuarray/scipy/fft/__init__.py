"""Discrete Fourier, cosine and sine transforms, as :mod:`scipy.fft`."""

from scipy import fft as _scipy
from scipy.fft import get_workers as get_workers
from scipy.fft import next_fast_len as next_fast_len
from scipy.fft import prev_fast_len as prev_fast_len
from scipy.fft import register_backend as register_backend
from scipy.fft import set_backend as set_backend
from scipy.fft import set_global_backend as set_global_backend
from scipy.fft import set_workers as set_workers
from scipy.fft import skip_backend as skip_backend

from gpuarray.scipy._mirror import missing
from gpuarray.scipy.fft._fourier import *
from gpuarray.scipy.fft._trigonometric import *

__getattr__ = missing("fft", vars(_scipy))
