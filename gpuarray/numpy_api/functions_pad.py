"""NumPy's ``pad``: edges that are constant or repeat the array's own are concatenated, the other modes are NumPy's."""

from typing import Any

import numpy as np

from gpuarray.array import GpuArray, wrap
from gpuarray.graph import build
from gpuarray.numpy_api.arguments import along, as_array, concatenated
from gpuarray.numpy_api.host import on_host
from gpuarray.numpy_api.registry import native


def _pairs(value: Any, ndim: int) -> list[tuple[Any, Any]]:
    """Return a (before, after) pair for each axis, as NumPy broadcasts the argument."""
    if isinstance(value, dict):
        table: list[Any] = [value.get(a, value.get(a - ndim, (0, 0))) for a in range(ndim)]
        return [(p, p) if np.ndim(p) == 0 else tuple(p) for p in table]
    return [tuple(pair) for pair in np.broadcast_to(np.asarray(value), (ndim, 2)).tolist()]


def _edge(source: GpuArray, axis: int, width: int, position: int) -> GpuArray:
    shape = (*source.shape[:axis], width, *source.shape[axis + 1 :])
    return source[along(axis, slice(position, (position + 1) or None))].broadcast(shape)


def _constant(source: GpuArray, axis: int, width: int, value: Any) -> GpuArray:
    shape = (*source.shape[:axis], width, *source.shape[axis + 1 :])
    value = np.asarray(value).astype(source.dtype)[()]
    return wrap(build.full(shape, value, source.dtype), source.device)


def _wrapped(source: GpuArray, axis: int, before: int, after: int) -> GpuArray:
    extent = source.shape[axis]
    return source[along(axis, np.arange(-before, extent + after) % extent)]


def _mirrored(source: GpuArray, axis: int, before: int, after: int, mode: str) -> GpuArray:
    extent = source.shape[axis]
    return source[along(axis, np.pad(np.arange(extent), (before, after), mode=mode))]  # type: ignore[call-overload]  # one of two modes


@native("pad")
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """Return the array with edges around it; the arguments are those of ``numpy.pad``."""
    source = as_array(array)
    plain = mode in ("wrap", "edge", "constant") or (mode in ("reflect", "symmetric") and not kwargs)
    if not plain or (0 in source.shape and mode != "constant"):
        return on_host(np.pad, (array, pad_width, mode), kwargs, f"pad with mode={mode!r} is NumPy's")
    unknown = kwargs.keys() - ({"constant_values"} if mode == "constant" else set())
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode {mode!r}: {unknown}")
    widths = _pairs(pad_width, source.ndim)
    values = _pairs(kwargs.get("constant_values", 0), source.ndim)
    for axis, ((before, after), (low, high)) in enumerate(zip(widths, values, strict=True)):
        if before < 0 or after < 0:
            raise ValueError("index can't contain negative values")
        if before == 0 and after == 0:
            continue
        if mode == "constant":
            parts = [_constant(source, axis, before, low), source, _constant(source, axis, after, high)]
            source = concatenated(parts, axis)
        elif mode == "edge":
            source = concatenated([_edge(source, axis, before, 0), source, _edge(source, axis, after, -1)], axis)
        elif mode == "wrap":
            source = _wrapped(source, axis, before, after)
        else:
            source = _mirrored(source, axis, before, after, mode)
    return source if source is not array else source.copy()
