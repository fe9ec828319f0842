"""Images of any number of dimensions, as :mod:`scipy.ndimage`: filters, morphology, measurements, interpolation."""

from scipy import ndimage as _scipy

from gpuarray.scipy._mirror import missing
from gpuarray.scipy.ndimage._correlation import *
from gpuarray.scipy.ndimage._fourier import *
from gpuarray.scipy.ndimage._host import *
from gpuarray.scipy.ndimage._smoothing import *

__getattr__ = missing("ndimage", vars(_scipy))
