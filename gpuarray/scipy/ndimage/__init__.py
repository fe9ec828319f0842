"""Images of any number of dimensions, as :mod:`scipy.ndimage`: filters, morphology, measurements, interpolation."""

from scipy import ndimage as _scipy
from scipy.ndimage import generate_binary_structure as generate_binary_structure
from scipy.ndimage import iterate_structure as iterate_structure

from gpuarray.scipy import _host
from gpuarray.scipy._mirror import missing
from gpuarray.scipy.ndimage._binary import *
from gpuarray.scipy.ndimage._correlation import *
from gpuarray.scipy.ndimage._distances import *
from gpuarray.scipy.ndimage._extremes import *
from gpuarray.scipy.ndimage._fourier import *
from gpuarray.scipy.ndimage._geometry import *
from gpuarray.scipy.ndimage._labels import *
from gpuarray.scipy.ndimage._measurements import *
from gpuarray.scipy.ndimage._objects import *
from gpuarray.scipy.ndimage._ranks import *
from gpuarray.scipy.ndimage._smoothing import *
from gpuarray.scipy.ndimage._steps import *
from gpuarray.scipy.ndimage._vectorized import *

globals().update(_host.on_host("ndimage"))

__getattr__ = missing("ndimage", vars(_scipy))
