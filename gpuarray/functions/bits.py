"""NumPy's functions that pack bits into bytes and take them out again."""

from functools import reduce
from operator import index, or_
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.functions.arguments import along, as_array, at_least_one_axis, line_axis
from gpuarray.functions.at_once import UNSHARED
from gpuarray.functions.padding import pad
from gpuarray.functions.registry import native
from gpuarray.graph import build
from gpuarray.ops import calls
from gpuarray.ops.spec import CallOp
from gpuarray.runtime.places import is_host_device

__all__ = ["packbits", "unpackbits"]


def _shifts(bitorder: str) -> range:
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    return range(7, -1, -1) if bitorder == "big" else range(8)


def _by_line(op: CallOp, array: GpuArray, axis: int, extent: int, bitorder: str) -> GpuArray:
    """Return the result of an operation on each line along an axis, which then has ``extent`` elements."""
    is_last = axis == array.ndim - 1
    last = array if is_last else array.swapaxes(axis, -1)
    node = build.call_one(op, [last.node()], (*last.shape[:-1], extent), dtypes.uint8, bitorder=bitorder)
    result = wrap(node, array.device)
    return result if is_last else result.swapaxes(axis, -1)


@native("packbits", at_once="elements", most=UNSHARED)
def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> GpuArray:
    """Pack binary values into the bits of uint8."""
    source = as_array(a)
    if source.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    shifts = _shifts(bitorder)
    source = at_least_one_axis(source)
    bits, number = line_axis(source if source.dtype == dtypes.bool_ else source != 0, axis)
    if is_host_device(bits.device):
        return _by_line(calls.packbits, bits, number, -(-bits.shape[number] // 8), bitorder)
    missing = -bits.shape[number] % 8
    if missing:
        bits = pad(bits, [(0, missing if k == number else 0) for k in range(bits.ndim)])
    parts = [bits[along(number, slice(bit, None, 8))].astype(dtypes.uint8) << shift for bit, shift in enumerate(shifts)]
    return reduce(or_, parts)


@native("unpackbits", at_once="multiples", most=UNSHARED)
def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> GpuArray:
    """Unpack uint8 elements into binary values."""
    source = as_array(a)
    if source.dtype != dtypes.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    bits_of = np.array(_shifts(bitorder), np.uint8)
    values, number = line_axis(at_least_one_axis(source), axis)
    extent = 8 * values.shape[number]
    bits: GpuArray
    if is_host_device(values.device):
        bits = _by_line(calls.unpackbits, values, number, extent, bitorder)
    else:
        spread = values.reshape(*values.shape[: number + 1], 1, *values.shape[number + 1 :])
        shifts = bits_of.reshape(8, *(1 for _ in values.shape[number + 1 :]))
        bits = (spread >> shifts) & 1
        bits = bits.reshape(*values.shape[:number], extent, *values.shape[number + 1 :])
    if count is None:
        return bits
    length = index(count)
    if length < -extent:
        raise ValueError(f"-count larger than number of elements: {length}, of {extent}")
    if length > extent:
        return pad(bits, [(0, length - extent if k == number else 0) for k in range(bits.ndim)])
    return bits[along(number, slice(0, length if length >= 0 else extent + length))].copy()
