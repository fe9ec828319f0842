"""Interpolation, as :mod:`scipy.interpolate`, fitted and evaluated on the device; SciPy fits B-splines on the host."""

from scipy import interpolate as _scipy

from gpuarray.scipy._mirror import missing
from gpuarray.scipy.interpolate._grids import *
from gpuarray.scipy.interpolate._piecewise import *

__getattr__ = missing("interpolate", vars(_scipy))
