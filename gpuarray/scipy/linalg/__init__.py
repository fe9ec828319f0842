"""Linear algebra, as :mod:`scipy.linalg`: factorisations, systems, functions of matrices and special matrices."""

from scipy import linalg as _scipy
from scipy.linalg import LinAlgError as LinAlgError
from scipy.linalg import LinAlgWarning as LinAlgWarning

from gpuarray.scipy import _host
from gpuarray.scipy._mirror import missing
from gpuarray.scipy.linalg._banded import *
from gpuarray.scipy.linalg._bases import *
from gpuarray.scipy.linalg._constructors import *
from gpuarray.scipy.linalg._functions import *
from gpuarray.scipy.linalg._orthogonal import *
from gpuarray.scipy.linalg._properties import *
from gpuarray.scipy.linalg._spectra import *
from gpuarray.scipy.linalg._structured import *
from gpuarray.scipy.linalg._systems import *
from gpuarray.scipy.linalg._triangular import *

globals().update(_host.on_host("linalg"))

__getattr__ = missing("linalg", vars(_scipy))
