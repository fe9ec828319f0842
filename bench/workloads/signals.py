"""Filters, convolutions and spectra of signals, by the functions of SciPy, of CuPy, and of this package."""

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

import numpy as np
from scipy import signal

from bench.workloads.base import Inputs, Workload

#: Where the libraries have SciPy's functions of signals.
_MODULES: Final = {"numpy": "scipy.signal", "cupy": "cupyx.scipy.signal", "gpuarray": "gpuarray.scipy.signal"}
#: Libraries that have not.
_WITHOUT: Final = ("numexpr", "torch", "jax")


@lru_cache(maxsize=32)
def _constant(xp: Any, *numbers: float) -> Any:
    """Return coefficients of filters; only CuPy wants them on the device."""
    result = np.asarray(numbers, np.float32)
    return xp.asarray(result) if xp.__name__ == "cupy" else result


def _workload(
    name: str, size: int, call: Callable[..., Any], *shapes: Callable[[int], tuple[int, ...]], **more: Any
) -> Workload:
    """Return a workload of random numbers of given shapes, of a function of a module, a namespace and the arrays."""

    def inputs(size: int) -> Inputs:
        generator = np.random.default_rng(0)
        return [generator.standard_normal(shape(size), dtype=np.float32) for shape in shapes]

    def run(xp: Any, size: int, *arrays: Any) -> Any:
        return call(import_module(_MODULES[xp.__name__]), xp, *arrays)

    return Workload(
        name=name, size=size, inputs=inputs, run=run, without=_WITHOUT,
        nbytes=lambda n: 8 * int(np.prod(shapes[0](n))), **more,
    )  # fmt: skip


def _lfilter(module: Any, xp: Any, x: Any) -> Any:
    b, a = signal.butter(4, 0.2)
    return module.lfilter(_constant(xp, *b), _constant(xp, *a), x)


def _sosfiltfilt(module: Any, xp: Any, x: Any) -> Any:
    sections = signal.butter(8, 0.1, output="sos")
    return module.sosfiltfilt(_constant(xp, *sections.ravel()).reshape(sections.shape), x)


WORKLOADS = [
    _workload(
        "fftconvolve", 1 << 24, lambda m, xp, x, k: m.fftconvolve(x, k), lambda n: (n,), lambda n: (n >> 8 or 1,)
    ),
    _workload("lfilter", 1 << 22, _lfilter, lambda n: (n,), tolerance=1e-3),
    _workload("lfilter-rows", 1000, _lfilter, lambda n: (n, 1 << 14), tolerance=1e-3),
    _workload("sosfiltfilt", 1 << 22, _sosfiltfilt, lambda n: (n,), tolerance=1e-3),
    _workload("stft", 1 << 24, lambda m, xp, x: m.stft(x, nperseg=1024, noverlap=768)[2], lambda n: (max(n, 1024),)),
    _workload("resample-poly", 1 << 24, lambda m, xp, x: m.resample_poly(x, 3, 2), lambda n: (n,)),
    _workload("convolve2d", 2048, lambda m, xp, x, k: m.convolve2d(x, k, "same"), lambda n: (n, n), lambda n: (31, 31)),
]
