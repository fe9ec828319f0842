"""Interpolation, as :mod:`scipy.interpolate`: SciPy fits on the host, and interpolants are evaluated on the device."""

from scipy import interpolate as _scipy

from gpuarray.scipy._mirror import missing
from gpuarray.scipy.interpolate._grids import *
from gpuarray.scipy.interpolate._piecewise import *

__getattr__ = missing("interpolate", vars(_scipy))
