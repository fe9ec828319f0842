"""Special functions, as :mod:`scipy.special`, with SciPy's dtypes.

:mod:`gpuarray.special` has those that have kernels, and keeps float16.
"""

from scipy import special as _scipy

from gpuarray.scipy._mirror import missing
from gpuarray.scipy.special._bessel import *
from gpuarray.scipy.special._compositions import *
from gpuarray.scipy.special._counts import *
from gpuarray.scipy.special._host import *
from gpuarray.scipy.special._kernels import *
from gpuarray.scipy.special._legendre import *

__getattr__ = missing("special", vars(_scipy))
