"""NumPy code, unchanged, on any GPU: the namespace of the Python Array API standard, and NumPy's names for it.

Arrays are lazy: operations are recorded. When a value is needed, they are fused, and run on the device that is
estimated to finish first.
"""

from typing import TYPE_CHECKING

from gpuarray import autodiff, functions
from gpuarray import fft as fft
from gpuarray import lib as lib
from gpuarray import linalg as linalg
from gpuarray import random as random
from gpuarray.array import GpuArray as GpuArray
from gpuarray.autodiff import *
from gpuarray.config import config as config
from gpuarray.config import using as using
from gpuarray.device import Device as Device
from gpuarray.diagnostics.environment import report as report
from gpuarray.diagnostics.explain import explain as explain
from gpuarray.diagnostics.profile import profile as profile
from gpuarray.functions import *
from gpuarray.functions import protocol
from gpuarray.functions.namespace_info import __array_api_version__ as __array_api_version__
from gpuarray.functions.namespace_info import __array_namespace_info__ as __array_namespace_info__
from gpuarray.interop import dlpack
from gpuarray.interop.dlpack import from_dlpack as from_dlpack
from gpuarray.jit import jit as jit
from gpuarray.runtime.telemetry import reset_stats as reset_stats
from gpuarray.runtime.telemetry import stats as stats
from gpuarray.version import __version__ as __version__

protocol.install()
dlpack.install()

ndarray = GpuArray

if TYPE_CHECKING:
    from gpuarray import emath as emath
    from gpuarray import errors as errors
    from gpuarray import scipy as scipy
    from gpuarray import special as special
    from gpuarray import testing as testing
    from gpuarray import typing as typing
else:  # a checker takes the names from the imports, and would take any name for one of the package's
    __all__ = [
        "Device", "GpuArray", "config", "emath", "explain", "fft", "from_dlpack", "jit", "lib", "linalg", "ndarray",
        "profile", "random", "report", "reset_stats", "special", "stats", "testing", "typing", "using",
    ]  # fmt: skip
    __all__ += autodiff.__all__ + functions.__all__
    __getattr__ = protocol.missing
