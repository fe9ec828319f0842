"""NumPy code, unchanged, on any GPU: the namespace of the Python Array API standard, and NumPy's names for it.

Arrays are lazy: operations are recorded, fused and run where they run best when a value is needed.
"""

from typing import TYPE_CHECKING

from gpuarray import fft, functions, lib, linalg, random
from gpuarray.array import GpuArray
from gpuarray.config import config, using
from gpuarray.device import Device
from gpuarray.diagnostics.environment import report
from gpuarray.diagnostics.explain import explain
from gpuarray.diagnostics.profile import profile
from gpuarray.functions import *
from gpuarray.functions import protocol
from gpuarray.interop import dlpack
from gpuarray.interop.dlpack import from_dlpack
from gpuarray.jit import jit
from gpuarray.runtime.telemetry import reset_stats, stats
from gpuarray.version import __version__ as __version__

protocol.install()
dlpack.install()

ndarray = GpuArray

__all__ = [
    "Device", "GpuArray", "config", "emath", "explain", "fft", "from_dlpack", "jit", "lib", "linalg", "ndarray",
    "profile", "random", "report", "reset_stats", "special", "stats", "testing", "typing", "using",
]  # fmt: skip
__all__ += functions.__all__


if TYPE_CHECKING:
    from gpuarray import emath, special, testing, typing
else:  # a checker would take any name for one of the package's
    __getattr__ = protocol.missing
