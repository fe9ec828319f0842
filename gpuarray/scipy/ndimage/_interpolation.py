"""The values of splines at any coordinates.

A value is a reduction over a gather of the elements that it depends on. Where coordinates are known beforehand, as
those of a rotation, positions and weights are recorded once.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, make
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array
from gpuarray.functions.logic import where
from gpuarray.functions.mathematics import clip
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout, Shape, contiguous_strides
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions
from gpuarray.scipy.ndimage._boundary import extended, inside
from gpuarray.scipy.ndimage._elements import constants
from gpuarray.scipy.ndimage._splines import Coordinate, coefficients, coordinate, polynomials, total

#: How far arrays are extended whose splines have no closed form beyond the edges, as in SciPy.
_PAD: Final = 12
#: The modes by which elements are read, where they differ from those of coordinates.
_READ_AS: Final = {"constant": "mirror", "wrap": "mirror"}


class Places:
    """Where results lie if that is known beforehand. One object serves all arrays of a shape.

    Attributes
    ----------
    axes : sequence
        For each axis of the source the terms whose sum is the coordinate: pairs of an axis of the result and a NumPy
        array along it. None stands for the elements of the axis themselves.
    shape : tuple of int
        The shape of the result.
    """

    def __init__(self, axes: Sequence[Sequence[tuple[int, Any]] | None], shape: Sequence[int]) -> None:
        self.axes = axes
        self.shape = tuple(shape)

    def coordinates(self, dtype: DType, device: Device) -> list[Coordinate | None]:
        """Return the coordinates along each axis, with rests of a dtype."""
        return [None if terms is None else self._summed(terms, dtype, device) for terms in self.axes]

    def _summed(self, terms: Sequence[tuple[int, Any]], dtype: DType, device: Device) -> Coordinate:
        parts = []
        for axis, values in terms:
            whole, rest = coordinate(values, dtype)
            extents = [-1 if axis == other else 1 for other in range(len(self.shape))]
            parts.append(Coordinate(whole.reshape(extents), rest.reshape(extents)))
        if len(parts) == 1:
            return parts[0]
        return total([Coordinate(as_array(part.whole, device), as_array(part.rest, device)) for part in parts])


class _Start(NamedTuple):
    """Where the elements begin that results depend on.

    Attributes
    ----------
    whole : array
        The position of the first element, which may be outside.
    rest : array
        The variable of the weights.
    beyond : array or None
        Whether the result is the constant.
    """

    whole: Any
    rest: Any
    beyond: Any


def _start(at: Coordinate, extent: int, mode: str, order: int) -> _Start:
    whole, rest = at
    beyond = None
    if mode == "constant":
        beyond = (whole < 0) | (whole > extent - 1) | ((whole == extent - 1) & (rest > 0))
    elif mode == "wrap":
        period = max(extent - 1, 1)
        is_inside = (whole >= 0) & ((whole < extent - 1) | ((whole == extent - 1) & (rest == 0)))
        turned = whole % period
        turned = np.where((whole < 0) & (turned == 0) & (rest == 0), np.int32(extent - 1), turned)
        whole = np.where(is_inside, whole, turned)
        if extent == 1:
            whole, rest = whole * np.int32(0), rest * rest.dtype.type(0)
    if order % 2 == 0:
        upper = rest >= 0.5
        if order == 0 and mode in ("mirror", "reflect"):  # SciPy reflects coordinates, so halves round down
            is_mirror = mode == "mirror"
            period = max(2 * (extent - is_mirror), 1)
            length = np.where(whole < 0, np.int32(extent - is_mirror), np.int32(extent))
            upper = upper & ((rest != 0.5) | (whole % period < length))
        whole, rest = whole + upper.astype(np.int32), rest - upper.astype(rest.dtype)
    return _Start(whole - np.int32(order // 2), rest, beyond)


class _Reads(NamedTuple):
    """What is read for each result, with the elements along a last axis.

    Attributes
    ----------
    positions : Node
        Flat positions; negative for the constant beyond edges.
    weights : Node or None
        The weight of each element; None if there is one element.
    beyond : Node or None
        Whether the result is the constant.
    is_open : bool
        Whether there are negative positions.
    """

    positions: Node
    weights: Node | None
    beyond: Node | None
    is_open: bool


def _reads(at: Sequence[Coordinate | None], target: "_Target", pad: int) -> _Reads:
    """Return what is read of an array that is extended by ``pad`` elements."""
    moved = [axis for axis, here in enumerate(at) if here is not None]
    taps = np.array([*product(range(target.order + 1), repeat=len(moved))]).reshape(-1, len(moved))
    positions: Any = None
    weights: Any = None
    beyond: Any = None
    is_open = False
    for axis, (here, extent) in enumerate(zip(at, target.source, strict=True)):
        stride = prod(target.source[axis + 1 :])
        if here is None:
            extents = [extent if axis == other else 1 for other in range(len(target.result))]
            where_: Any = target.put(np.arange(extent, dtype=np.int32).reshape(*extents, 1) * np.int32(stride))
        else:
            steps = taps[:, moved.index(axis)].astype(np.int32)
            whole = here.whole + np.int32(pad) if pad else here.whole
            start = _start(Coordinate(whole, here.rest), extent, target.mode, target.order)
            found = _position(start.whole[..., None] + target.given(steps, whole), extent, target)
            if target.mode == "grid-constant":
                is_open = True
                found = np.where(found < 0, np.int32(-prod(target.source)), found * np.int32(stride))
            elif stride > 1:
                found = found * np.int32(stride)
            where_ = target.put(found.astype(np.int32, copy=False))
            if target.order:
                own = target.put(_weights(start.rest, steps, target))
                weights = own if weights is None else weights * own
            if start.beyond is not None:
                outside = target.put(start.beyond)
                beyond = outside if beyond is None else beyond | outside
        positions = where_ if positions is None else positions + where_
    weighing, constant = (None if value is None else value.node() for value in (weights, beyond))
    return _Reads(positions.node(), weighing, constant, is_open)


class _Target(NamedTuple):
    """What the reads of an interpolation depend on besides the coordinates."""

    source: Shape
    result: Shape
    mode: str
    order: int
    dtype: DType
    device: Device

    def put(self, value: Any) -> GpuArray:
        """Return what may be NumPy's as an array of this package; elements of a window are stored apart."""
        if isinstance(value, GpuArray):
            return value
        if value.dtype.kind == "f":
            value = value.astype(self.dtype)
        if value.ndim != len(self.result) + 1 or value.shape[-1] == 1:
            return make(host_leaf(np.ascontiguousarray(value)), self.device)
        lines = host_leaf(np.ascontiguousarray(np.moveaxis(value, -1, 0)))
        strides = contiguous_strides(lines.shape)
        return make(build.view(lines, Layout(value.shape, (*strides[1:], strides[0]), 0)), self.device)

    def given(self, value: Any, like: Any) -> Any:
        """Return numbers beside others: NumPy's beside NumPy's."""
        return make(constants(value.tobytes(), value.dtype), self.device) if isinstance(like, GpuArray) else value


def _position(places: Any, extent: int, target: _Target) -> Any:
    """Return the positions inside an axis that stand for others."""
    last = np.int32(extent - 1)
    if target.mode != "constant" or extent <= target.order:
        return inside(places, extent, _READ_AS.get(target.mode, target.mode))
    # results beyond the array are the constant: others lie less than a window beyond, or there with a weight of zero
    if target.order > 1:
        places = last - abs(last - abs(places))
        return elementwise.maximum(places, np.int32(0)) if isinstance(places, GpuArray) else np.maximum(places, 0)
    return clip(places, np.int32(0), last) if isinstance(places, GpuArray) else np.clip(places, 0, last)


def _weights(rest: Any, steps: Any, target: _Target) -> Any:
    """Return the weights of elements, by Horner's rule."""
    powers = polynomials(target.order)[steps].astype(target.dtype)
    rest = rest[..., None]
    found = target.given(powers[:, -1], rest)
    for power in range(target.order - 1, -1, -1):
        found = found * rest + target.given(powers[:, power], rest)
    return found


@lru_cache(maxsize=64)
def _known_reads(places: Places, target: _Target, pad: int) -> _Reads:
    return _reads(places.coordinates(target.dtype, target.device), target, pad)


def interpolated(
    source: GpuArray,
    at: Places | Sequence[Coordinate],
    shape: Sequence[int],
    order: int,
    mode: str,
    cval: Any,
    result: DType,
    *,
    prefilter: bool,
) -> GpuArray:
    """Return the values of the spline through an array, before they are stored.

    Parameters
    ----------
    source : GpuArray
        The array.
    at : Places or sequence of Coordinate
        Where, along each axis.
    shape : sequence of int
        The shape of the result.
    order : int
        The order of the spline, 0 to 5.
    mode : str
        What is beyond the edges.
    cval : number
        The constant that may be there.
    result : dtype
        The dtype of the result.
    prefilter : bool
        Whether the coefficients are to be computed first.
    """
    dtype = _dtype(source, result)
    if not prod(shape):
        return make(build.full(tuple(shape), 0, dtype), source.device)
    axes = at.axes if isinstance(at, Places) else at
    moved = [axis for axis, here in enumerate(axes) if here is not None]
    pad = 0
    if mode == "grid-mirror":
        mode = "reflect"
    if prefilter and order > 1:
        pad = _PAD if mode in ("nearest", "grid-constant") else 0
        if pad:
            widths = [pad if axis in moved else 0 for axis in range(source.ndim)]
            source = extended(source.astype(dtype, copy=False), widths, widths, [mode] * source.ndim, cval)
        source = coefficients(source, order, moved, mode, dtype)
    source = source.astype(dtype, copy=False)
    target = _Target(source.shape, tuple(shape), mode, order, rest_dtype(source, result), source.device)
    reads = _known_reads(at, target, pad) if isinstance(at, Places) else _reads(at, target, pad)
    node = _summed(source, reads, cval)
    if node.shape != tuple(shape):
        node = build.view(node, build.broadcast_to(node.shape, tuple(shape)))
    found = make(node, source.device)
    return found if reads.beyond is None else where(make(reads.beyond, source.device), _like(cval, found), found)


def _summed(source: GpuArray, reads: _Reads, cval: Any) -> Node:
    """Return the sum of the elements that are read, by their weights."""
    if reads.is_open:
        node = build.gather(source.node(), build.binary(ops.maximum, reads.positions, 0))
        inside_ = make(build.binary(ops.greater_equal, reads.positions, 0), source.device)
        found = make(node, source.device)
        node = where(inside_, found, _like(cval, found)).node()
    else:
        node = build.gather(source.node(), reads.positions)
    if reads.weights is None:
        return build.reshape(node, node.shape[:-1])
    return build.reduce(reductions.sum, build.elementwise(ops.multiply, node, reads.weights), (len(node.shape) - 1,))


def _like(value: Any, found: GpuArray) -> GpuArray:
    return as_array(value, found.device).astype(found.dtype)


def _dtype(source: GpuArray, result: DType) -> DType:
    is_single = source.dtype in (dtypes.float32, dtypes.complex64) and result in (dtypes.float32, dtypes.complex64)
    if "c" in (source.dtype.kind, result.kind):
        return dtypes.complex64 if is_single else dtypes.complex128
    return dtypes.float32 if is_single else dtypes.float64


def rest_dtype(source: GpuArray, result: DType) -> DType:
    """Return the dtype of the rests of coordinates."""
    return dtypes.float32 if _dtype(source, result) in (dtypes.float32, dtypes.complex64) else dtypes.float64
