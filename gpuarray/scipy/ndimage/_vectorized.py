"""Filters by Python functions: of arrays of windows, and of one window or line, which are recorded once for all."""

import itertools
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from scipy import ndimage

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.autodiff import vmap
from gpuarray.dtypes import DType
from gpuarray.errors import BatchingError
from gpuarray.functions.arguments import as_array, read
from gpuarray.functions.creation import zeros
from gpuarray.functions.fallback import placed
from gpuarray.functions.manipulation import moveaxis
from gpuarray.functions.registry import COMPOSED
from gpuarray.graph.shapes import normalize_axis
from gpuarray.runtime import evaluate, telemetry
from gpuarray.scipy._calls import is_target, run_if_host, run_scipy
from gpuarray.scipy._mirror import by_name
from gpuarray.scipy._threads import LEAST
from gpuarray.scipy.ndimage._arguments import axes_of, checked, each, finished, footprint_of, output_dtype, spread
from gpuarray.scipy.ndimage._boundary import extended, rounded
from gpuarray.scipy.ndimage._windows import along_last

__all__ = ["generic_filter", "generic_filter1d"]

_TRACED: Final = "functions that read values run on the host"


def _nothing(*_args: Any, **_kwargs: Any) -> float:
    return 0.0


def _mapped(function: Callable[..., Any], lines: GpuArray) -> GpuArray | None:
    """Return the results of a function of each line; None if it reads values, so that it cannot be recorded."""
    try:
        return as_array(vmap(function)(lines), lines.device)
    except BatchingError:
        return None


def _by_scipy(function: Callable[..., Any], a: Any, source: GpuArray) -> GpuArray:
    """Return the result of SciPy's function on the host, counted as a fallback."""
    if not evaluate.is_host_device(source.device):
        reason = "the function is compiled, or needs values"
        telemetry.fallback(f"scipy.ndimage.{function.__name__}", reason, source.nbytes)
    return run_scipy(function, (), dict(vars(a), input=source))


def _dtype_of_windows(source: GpuArray, result: DType) -> DType:
    """Return the dtype that a function gets: float64, as in SciPy, but for float32 in and out."""
    return dtypes.float32 if source.dtype == result == dtypes.float32 else dtypes.float64


@by_name(ndimage.generic_filter, kind=COMPOSED, reason=_TRACED)
def generic_filter(a: Any) -> GpuArray:
    """Return the results of a function of the elements in the window of each element.

    The function is called once, with an array that stands for those of all windows. Where it needs values, as ``if``
    does, SciPy calls it for each window on the host, which counts as a fallback.
    """
    footprint = None if a.footprint is None else np.asarray(read(a.footprint), bool)
    options = {name: getattr(a, name) for name in ("mode", "cval", "origin", "axes") if hasattr(a, name)}
    source, dtype = checked(
        ndimage.generic_filter, a.input, _nothing, a.size, footprint, output=a.output, **options
    )  # fmt: skip
    if not callable(a.function) or not source.size:
        return _by_scipy(ndimage.generic_filter, a, source)
    axes = axes_of(getattr(a, "axes", None), source.ndim)
    known = footprint_of(footprint, a.size, axes, source.ndim)
    origins = spread(a.origin, axes, source.ndim)
    before = [extent // 2 + o for extent, o in zip(known.shape, origins, strict=True)]
    image = source.astype(_dtype_of_windows(source, dtype), copy=False)
    lines = along_last(image, known, before, [a.mode] * source.ndim, a.cval)
    words = a.extra_keywords or {}
    result = _mapped(lambda line: a.function(line, *a.extra_arguments, **words), lines.reshape(source.size, -1))
    if result is None or result.size != source.size:
        return _by_scipy(ndimage.generic_filter, a, source)
    return finished(rounded(result.reshape(source.shape), dtype), a.output)


@by_name(ndimage.generic_filter1d, kind=COMPOSED, reason=_TRACED)
def generic_filter1d(a: Any) -> GpuArray:
    """Return the lines along an axis as a function writes them, which gets each line with elements beyond its ends.

    The function is called once, with arrays that stand for all lines. Where it needs values, as ``if`` does, SciPy
    calls it for each line on the host, which counts as a fallback.
    """
    source, dtype = checked(
        ndimage.generic_filter1d, a.input, _nothing, a.filter_size, a.axis, output=a.output, mode=a.mode, cval=a.cval,
        origin=a.origin,
    )  # fmt: skip
    if not callable(a.function) or not source.size:
        return _by_scipy(ndimage.generic_filter1d, a, source)
    axis = normalize_axis(a.axis, source.ndim)
    kind = _dtype_of_windows(source, dtype)
    ahead = a.filter_size // 2 + a.origin
    before, after = ([n if axis == a else 0 for a in range(source.ndim)]
                     for n in (ahead, a.filter_size - 1 - ahead))  # fmt: skip
    lines = moveaxis(extended(source.astype(kind, copy=False), before, after, [a.mode] * source.ndim, a.cval), axis, -1)
    words = a.extra_keywords or {}

    def written(line: GpuArray) -> GpuArray:
        result = zeros(source.shape[axis], dtype=kind, device=source.device)
        a.function(line, result, *a.extra_arguments, **words)
        return result

    result = _mapped(written, lines.reshape(-1, lines.shape[-1]))
    if result is None:
        return _by_scipy(ndimage.generic_filter1d, a, source)
    result = moveaxis(result.reshape(*lines.shape[:-1], source.shape[axis]), -1, axis)
    return finished(rounded(result, dtype), a.output)


def _at_once(a: Any, source: GpuArray) -> Any:
    """Return SciPy's result for few windows on the host; NotImplemented if there are more, or another device."""
    extents = a.size if a.footprint is None else np.shape(a.footprint)
    if source.size * np.prod(each(extents, source.ndim)) > LEAST or is_target(a.output):
        return NotImplemented

    def function(windows: Any, axis: Any) -> Any:
        return read(a.function(placed(windows, source.device), axis=axis))

    return run_if_host(ndimage.vectorized_filter, (), dict(vars(a), input=source, function=function))


if hasattr(ndimage, "vectorized_filter"):
    __all__ += ["vectorized_filter"]

    @by_name(ndimage.vectorized_filter, by_scipy=False)
    def vectorized_filter(a: Any) -> GpuArray:
        """Return the results of a function of arrays for windows along ``axis``, which is the last one."""
        source = as_array(a.input)
        result = _at_once(a, source)
        if result is not NotImplemented:
            return result
        if (a.size is None) == (a.footprint is None):
            raise ValueError("Either `size` or `footprint` must be provided." if a.size is None else
                             "Either `size` or `footprint` may be provided, not both.")  # fmt: skip
        footprint = None if a.footprint is None else np.asarray(read(a.footprint), bool)
        if a.cval is not None and a.mode not in ("constant", "grid-constant"):
            raise ValueError("Use of `cval` is compatible only with `mode='constant'`.")
        axes = axes_of(a.axes, source.ndim)
        last = tuple(range(source.ndim - len(axes), source.ndim))
        source = moveaxis(source, axes, last)
        if not source.size:
            return source
        known = footprint_of(footprint, a.size, last, source.ndim)
        origins = spread(0 if a.origin is None else a.origin, last, source.ndim)
        before = [extent // 2 + o for extent, o in zip(known.shape, origins, strict=True)]
        cval = 0 if a.cval is None else a.cval
        widths = [(lead, extent - 1 - lead) for extent, lead in zip(known.shape, before, strict=True)]
        if a.mode == "valid" and any(origins):
            raise ValueError("`mode='valid'` is incompatible with use of `origin`.")
        if min(itertools.chain(*widths), default=0) < 0:
            raise ValueError("index can't contain negative values")
        if a.mode == "valid":
            lines = along_last(source, known, before, ["nearest"] * source.ndim, cval)
            inside = zip(widths, source.shape, strict=True)
            lines = lines[tuple(slice(first, extent - last) for (first, last), extent in inside)]
        else:
            mode = "mirror" if a.mode == "grid-mirror" else a.mode  # as in SciPy, for this function alone
            lines = along_last(source, known, before, [mode] * source.ndim, cval)
        result = moveaxis(as_array(a.function(lines, axis=-1), source.device), last, axes)
        return finished(result.astype(output_dtype(a.output, result), copy=False), a.output)
