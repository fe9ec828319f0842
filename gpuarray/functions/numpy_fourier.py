"""NumPy's Fourier transforms: those of the namespace, with ``out``."""

from collections.abc import Callable, Iterable
from typing import Any

from gpuarray.functions import fourier
from gpuarray.functions.arguments import write_out
from gpuarray.functions.registry import implements, native


def _along_one_axis(*functions: Callable[..., Any]) -> None:
    for function in functions:

        def transform(
            a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None, _function: Any = function
        ) -> Any:
            return write_out(_function(a, n, axis, norm), out)

        native(f"fft.{function.__name__}")(transform)


def _along_axes(default: Iterable[int] | None, *functions: Callable[..., Any]) -> None:
    for function in functions:

        def transform(
            a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None, _function: Any = function
        ) -> Any:
            return write_out(_function(a, s, axes, norm), out)

        native(f"fft.{function.__name__}")(transform)


_along_one_axis(fourier.fft, fourier.ifft, fourier.rfft, fourier.irfft, fourier.hfft, fourier.ihfft)
_along_axes((-2, -1), fourier.fft2, fourier.ifft2, fourier.rfft2, fourier.irfft2)
_along_axes(None, fourier.fftn, fourier.ifftn, fourier.rfftn, fourier.irfftn)
implements("fft.fftshift")(fourier.fftshift)
implements("fft.ifftshift")(fourier.ifftshift)
