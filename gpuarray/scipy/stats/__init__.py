"""Statistics, as :mod:`scipy.stats`: distributions, descriptions of samples and kernel estimates of densities."""

from scipy import stats as _scipy

from gpuarray.scipy._mirror import missing
from gpuarray.scipy.stats._density import *
from gpuarray.scipy.stats._description import *
from gpuarray.scipy.stats._distributions import *

__getattr__ = missing("stats", vars(_scipy))
