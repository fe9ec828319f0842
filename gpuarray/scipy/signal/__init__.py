"""Signals, as :mod:`scipy.signal`: convolution, filters and their design, resampling, spectra."""

from scipy import signal as _scipy

from gpuarray.scipy import _host
from gpuarray.scipy._mirror import missing
from gpuarray.scipy.signal import windows as windows
from gpuarray.scipy.signal._both_ways import *
from gpuarray.scipy.signal._convolution import *
from gpuarray.scipy.signal._filtering import *
from gpuarray.scipy.signal._peaks import *
from gpuarray.scipy.signal._resampling import *
from gpuarray.scipy.signal._ridges import *
from gpuarray.scipy.signal._short_time import *
from gpuarray.scipy.signal._smoothing import *
from gpuarray.scipy.signal._spectra import *
from gpuarray.scipy.signal._splines import *
from gpuarray.scipy.signal._systems import *
from gpuarray.scipy.signal._transforms import *
from gpuarray.scipy.signal._trends import *
from gpuarray.scipy.signal._waveforms import *

globals().update(_host.on_host("signal"))

__getattr__ = missing("signal", vars(_scipy))
