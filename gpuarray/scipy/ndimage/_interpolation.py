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
from gpuarray.graph.shapes import broadcast_to
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions
from gpuarray.scipy.ndimage._boundary import extended, inside
from gpuarray.scipy.ndimage._elements import constants
from gpuarray.scipy.ndimage._splines import Coordinate, coefficients, coordinate, polynomials, total

#: How far arrays are extended whose splines have no closed form beyond the edges, as in SciPy.
_PAD: Final = 12
#: The most axes along which a result of order 1 is blended; with more axes it is a reduction over elements.
_BLENDED: Final = 3
#: The modes by which elements are read, where they differ from those of coordinates.
_READ_AS: Final = {"constant": "mirror", "wrap": "mirror"}


class Places:
    """The positions of results, if they are known when recorded. One object serves all arrays of a shape.

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
            extents = [-1 if axis == a else 1 for a in range(len(self.shape))]
            parts.append(Coordinate(whole.reshape(extents), rest.reshape(extents)))
        if len(parts) == 1:
            return parts[0]
        return total(
            [Coordinate(as_array(coordinate.whole, device), as_array(coordinate.rest, device)) for coordinate in parts]
        )


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


def _clipped(positions: Any, last: Any) -> Any:
    """Return positions from 0 to the last one."""
    return clip(positions, np.int32(0), last) if isinstance(positions, GpuArray) else np.clip(positions, 0, last)


def _start(at: Coordinate, extent: int, target: "_ReadTarget") -> _Start:
    whole, rest = at
    mode, order = target.mode, target.order
    beyond = None
    if mode == "constant":
        last = np.int32(extent - 1)
        near = _clipped(whole, last)
        beyond = (whole != near) | ((near == last) & rest.astype(bool))
        whole = near if order == 1 else whole
    elif mode == "wrap":
        period = max(extent - 1, 1)
        is_inside = (whole >= 0) & ((whole < extent - 1) | ((whole == extent - 1) & (rest == 0)))
        remainder = whole % period
        remainder = np.where((whole < 0) & (remainder == 0) & (rest == 0), np.int32(extent - 1), remainder)
        whole = np.where(is_inside, whole, remainder)
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
    return _Start(whole - np.int32(order // 2) if order > 1 else whole, rest, beyond)


class _Reads(NamedTuple):
    """The elements that are read for each result, along a last axis.

    Attributes
    ----------
    positions : Node
        Flat positions; negative for the constant beyond edges.
    weights : Node or None
        The weight of each element; None if there is one element.
    """

    positions: Node
    weights: Node | None


class _Ends(NamedTuple):
    """The elements along one axis between which the results of a spline of order 1 lie.

    Attributes
    ----------
    steps : list of Node
        What the element before, and the one after, adds to flat positions; a single one along axes that are kept.
    weights : list of Node
        Their weights; none along axes that are kept.
    """

    steps: list[Node]
    weights: list[Node]


#: The elements that are read for each result, and whether the result is the constant.
_Known = tuple[_Reads | list[_Ends], Node | None]


def _known(at: Sequence[Coordinate | None], target: "_ReadTarget", pad: int) -> _Known:
    """Return the elements that are read of an array that is extended by ``pad`` elements.

    Results of order 1 are blended, four at a time. Others are a reduction over the elements of windows.
    """
    starts = [
        None
        if here is None
        else _start(here if not pad else Coordinate(here.whole + np.int32(pad), here.rest), extent, target)
        for here, extent in zip(at, target.source, strict=True)
    ]
    moved = [axis for axis, start in enumerate(starts) if start is not None]
    is_blended = target.order == 1 and len(moved) <= _BLENDED and target.mode != "grid-constant"
    if is_blended:
        starts = [None if s is None else _beside(s, axis, target) for axis, s in enumerate(starts)]
    beyond: Any = None
    for start in starts:
        if start is not None and start.beyond is not None:
            outside = target.put(start.beyond)
            beyond = outside if beyond is None else beyond | outside
    reads = _ends(starts, target) if is_blended else _reads(starts, moved, target)
    return reads, None if beyond is None else beyond.node()


def _beside(start: _Start, axis: int, target: "_ReadTarget") -> _Start:
    """Return positions such that the second element is one after the first, where they are known when recorded.

    A negative rest then tells that a result is the constant, so that fewer tables are read.
    """
    whole, rest, beyond = start
    last = target.source[axis] - 1
    if not isinstance(whole, np.ndarray) or not last:
        return start
    first, second = target.between(whole, axis)
    is_same, is_reversed = second == first, second == first - 1
    if not (is_same | is_reversed | (second == first + 1)).all():
        return start
    low = np.where(is_reversed, second, np.where(is_same, np.minimum(first, last - 1), first))
    rest = np.where(is_reversed, 1 - rest, np.where(is_same, first - low, rest)).astype(target.dtype)
    if beyond is None or not beyond.any():
        return _Start(low, target.put(rest), None)
    rest = target.put(np.where(beyond, target.dtype.type(-1), rest))
    return _Start(low, rest, elementwise.signbit(rest))


def _ends(starts: Sequence[_Start | None], target: "_ReadTarget") -> list[_Ends]:
    result = []
    for axis, start in enumerate(starts):
        if start is None:
            result.append(_Ends([target.put(target.kept(axis)).node()], []))
            continue
        first, second = target.between(start.whole, axis)
        step = target.put(target.step(first, axis))
        if isinstance(first, np.ndarray) and (second == first + 1).all():
            following = step + np.int32(prod(target.source[axis + 1 :]))
        else:
            following = target.put(target.step(second, axis))
        rest = target.put(start.rest)
        result.append(_Ends([step.node(), following.node()], [(1 - rest).node(), rest.node()]))
    return result


def _reads(starts: Sequence[_Start | None], moved: Sequence[int], target: "_ReadTarget") -> _Reads:
    taps = np.array([*product(range(target.order + 1), repeat=len(moved))]).reshape(-1, len(moved))
    positions: Any = None
    weights: Any = None
    for axis, start in enumerate(starts):
        if start is None:
            step = target.put(target.kept(axis)[..., None])
        else:
            steps = taps[:, moved.index(axis)].astype(np.int32)
            indices = target.inside(start.whole[..., None] + target.beside(steps, start.whole), axis)
            step = target.put(target.step(indices, axis))
            if target.order:
                weight = target.put(_weights(start.rest, steps, target))
                weights = weight if weights is None else weights * weight
        positions = step if positions is None else positions + step
    return _Reads(positions.node(), None if weights is None else weights.node())


class _ReadTarget(NamedTuple):
    """The parameters of the reads of an interpolation, besides the coordinates."""

    source: Shape
    result: Shape
    mode: str
    order: int
    dtype: DType
    device: Device

    def put(self, value: Any) -> GpuArray:
        """Return an array of this package or NumPy's as one of this package; elements of a window are stored apart."""
        if isinstance(value, GpuArray):
            return value
        if value.dtype.kind == "f":
            value = value.astype(self.dtype)
        if value.ndim != len(self.result) + 1 or value.shape[-1] == 1:
            return make(host_leaf(np.ascontiguousarray(value)), self.device)
        lines = host_leaf(np.ascontiguousarray(np.moveaxis(value, -1, 0)))
        strides = contiguous_strides(lines.shape)
        return make(build.view(lines, Layout(value.shape, (*strides[1:], strides[0]), 0)), self.device)

    def kept(self, axis: int) -> Any:
        """Return the steps in flat positions of the elements of an axis that is not moved."""
        extent = self.source[axis]
        positions = np.arange(extent, dtype=np.int32) * np.int32(prod(self.source[axis + 1 :]))
        return positions.reshape([extent if axis == a else 1 for a in range(len(self.result))])

    def inside(self, positions: Any, axis: int) -> Any:
        """Return the positions inside an axis that stand for positions anywhere; -1 for the constant."""
        extent = self.source[axis]
        last = np.int32(extent - 1)
        # results beyond the array are the constant: others lie less than a window beyond, or there with weight zero
        if self.mode == "constant" and extent > self.order:
            return _clipped(last - abs(last - abs(positions)) if self.order > 1 else positions, last)
        return inside(positions, extent, _READ_AS.get(self.mode, self.mode))

    def between(self, whole: Any, axis: int) -> tuple[Any, Any]:
        """Return the two positions between which results of order 1 lie, inside an axis."""
        after = whole + np.int32(1)
        if self.mode == "constant":  # the first is inside
            return whole, np.minimum(after, np.int32(self.source[axis] - 1))
        return self.inside(whole, axis), self.inside(after, axis)

    def step(self, positions: Any, axis: int) -> Any:
        """Return the steps in flat positions of positions inside an axis; ``-size`` for the constant."""
        stride = np.int32(prod(self.source[axis + 1 :]))
        result = positions * stride if stride > 1 else positions
        if self.mode == "grid-constant":
            result = np.where(positions < 0, np.int32(-prod(self.source)), result)
        return result.astype(np.int32, copy=False)

    def beside(self, value: Any, like: Any) -> Any:
        """Return numbers as NumPy's if ``like`` is, otherwise as an array of this package."""
        return make(constants(value.tobytes(), value.dtype), self.device) if isinstance(like, GpuArray) else value


def _weights(rest: Any, steps: Any, target: _ReadTarget) -> Any:
    """Return the weights of elements, by Horner's rule."""
    powers = polynomials(target.order)[steps].astype(target.dtype)
    rest = rest[..., None]
    result = target.beside(powers[:, -1], rest)
    for power in range(target.order - 1, -1, -1):
        result = result * rest + target.beside(powers[:, power], rest)
    return result


@lru_cache(maxsize=64)
def _known_beforehand(positions: Places, target: _ReadTarget, pad: int) -> _Known:
    return _known(positions.coordinates(target.dtype, target.device), target, pad)


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
    if not prod(shape) or not source.size:
        return make(build.full(tuple(shape), cval if prod(shape) else 0, dtype), source.device)
    axes = at.axes if isinstance(at, Places) else at
    moved = [axis for axis, here in enumerate(axes) if here is not None]
    pad = 0
    if mode == "grid-mirror":
        mode = "reflect"
    if prefilter and order > 1:
        pad = _PAD if mode in ("nearest", "grid-constant") else 0
        if pad:
            widths = [pad if axis in moved else 0 for axis in range(source.ndim)]
            source = extended(source, widths, widths, [mode] * source.ndim, cval)  # in its own dtype, as SciPy does
        source = coefficients(source, order, moved, mode, dtype)
    source = source.astype(dtype, copy=False)
    target = _ReadTarget(source.shape, tuple(shape), mode, order, rest_dtype(source, result), source.device)
    reads, beyond = _known_beforehand(at, target, pad) if isinstance(at, Places) else _known(at, target, pad)
    if isinstance(reads, _Reads):
        node = _summed(source, reads, cval, is_open=mode == "grid-constant")
    else:
        node = _blended(source.node(), reads)
    if node.shape != tuple(shape):
        node = build.view(node, broadcast_to(node.shape, tuple(shape)))
    values = make(node, source.device)
    return values if beyond is None else where(make(beyond, source.device), _like(cval, values), values)


def _blended(source: Node, axes: Sequence[_Ends], position: Node | None = None) -> Node:
    """Return the elements at positions, blended along axes one after the other."""
    if not axes:
        assert position is not None
        return build.gather(source, position)
    (steps, weights), *others = axes
    parts = [
        _blended(source, others, step if position is None else build.binary(ops.add, position, step)) for step in steps
    ]
    if not weights:
        return parts[0]
    first, second = (build.binary(ops.multiply, *pair) for pair in zip(parts, weights, strict=True))
    return build.binary(ops.add, first, second)


def _summed(source: GpuArray, reads: _Reads, cval: Any, *, is_open: bool) -> Node:
    """Return the sum of the elements that are read, by their weights."""
    if is_open:
        node = build.gather(source.node(), build.binary(ops.maximum, reads.positions, 0))
        inside_ = make(build.binary(ops.greater_equal, reads.positions, 0), source.device)
        result = make(node, source.device)
        node = where(inside_, result, _like(cval, result)).node()
    else:
        node = build.gather(source.node(), reads.positions)
    if reads.weights is None:
        return build.reshape(node, node.shape[:-1])
    return build.reduce(reductions.sum, build.elementwise(ops.multiply, node, reads.weights), (len(node.shape) - 1,))


def _like(value: Any, result: GpuArray) -> GpuArray:
    return as_array(value, result.device).astype(result.dtype)


def _dtype(source: GpuArray, result: DType) -> DType:
    is_single = source.dtype in (dtypes.float32, dtypes.complex64) and result in (dtypes.float32, dtypes.complex64)
    if "c" in (source.dtype.kind, result.kind):
        return dtypes.complex64 if is_single else dtypes.complex128
    return dtypes.float32 if is_single else dtypes.float64


def rest_dtype(source: GpuArray, result: DType) -> DType:
    """Return the dtype of the rests of coordinates."""
    return dtypes.float32 if _dtype(source, result) in (dtypes.float32, dtypes.complex64) else dtypes.float64
