"""The base of random generators: drawing arrays of uniform, normal and other numbers from a bit generator."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, Final, Self, TypeVar

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, default_device, default_dtype, device_of, joint_device, made_of, make
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import ArrayLike, DeviceLike, DTypeLike, check_nbytes, checked_device
from gpuarray.functions.random_ahead import RecordedDrawError
from gpuarray.functions.random_arguments import NUMBERS, Size, checked_out, joint_shape
from gpuarray.functions.random_bits import Philox
from gpuarray.graph import build
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import BaseNode, Generate, host_leaf
from gpuarray.graph.shapes import resolve_shape
from gpuarray.immediacy import ONE_THREAD, immediacy, quiet
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators, samplers
from gpuarray.ops.spec import MapOp
from gpuarray.ops.substreams import Substream
from gpuarray.runtime import evaluate

_NO_SUBSTREAM: Final = Substream(*[np.uint32(0)] * 4)
_DTYPES: Final = frozenset(type(np.dtype(code)) for code in "?bBhHiIlLqQfd")
#: Types of hashable dtype arguments, for the cache of specs.
_PLAIN: Final = frozenset((str, type, *_DTYPES))
_MOST_SPECS: Final = 256
#: The longest list that is an argument of calls which are computed together.
_MOST_LISTED: Final = 64
_HOST: Final = (np.ndarray, np.generic)
#: Types of arguments of calls that are computed together.
_REPEATED: Final = frozenset((int, float, str, type(None), type, tuple, bool, np.float64, np.int64, *_DTYPES))
_F = TypeVar("_F", bound=Callable[..., Any])


def mapped(op: MapOp, *operands: Any) -> Any:
    """Apply an elementwise operation to nodes and numbers: at once to those that were drawn on the host."""
    has_numbers = has_nodes = False
    for value in operands:
        if isinstance(value, _HOST):
            has_numbers = True
        elif isinstance(value, BaseNode):
            has_nodes = True
    if has_numbers:
        known: Sequence[Any] | None = known_values(operands) if has_nodes else operands
        if known is not None and isinstance(op.numpy, np.ufunc):
            return quiet.run(op.numpy, *known)
        if known is not None:
            kind = op.resolve(*[value.dtype if isinstance(value, _HOST) else type(value) for value in known]).output
            return _at_once(op, known, np.broadcast_shapes(*map(np.shape, known)), kind)
    return build.elementwise(op, *[_recorded(value) for value in operands])


def _at_once(op: MapOp, values: Sequence[Any], shape: Shape, kind: DType) -> Any:
    """Return the result of an operation that is no ufunc for values."""
    function: Any = op.numpy
    return function(*values, out=np.empty(shape, kind))


def cast(value: Any, kind: DType) -> Any:
    """Return a node, or numbers that were drawn on the host, in another dtype."""
    return quiet.run(np.asarray(value).astype, kind) if isinstance(value, _HOST) else build.cast(value, kind)


def known_values(operands: Sequence[Any]) -> list[Any] | None:
    """Return numbers, and the values of nodes; None if the host does not have one of these."""
    known = [evaluate.value_of(value) if isinstance(value, BaseNode) else value for value in operands]
    return None if any(value is None for value in known) else known


def _recorded(value: Any) -> Any:
    """Return a node instead of numbers that were drawn on the host."""
    return host_leaf(np.asarray(value)) if isinstance(value, _HOST) else value


def _hashable(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return values with tuples of types and values instead of lists."""
    return tuple(
        [
            (list, *map(type, value), *map(str, value), *_hashable(value)) if type(value) is list else value
            for value in values
        ]
    )


def _are_plain(values: Iterable[Any]) -> bool:
    """Return whether there are no arrays among values, nor in tuples of them."""
    return all(type(value) in _REPEATED and (type(value) is not tuple or _are_plain(value)) for value in values)


def ahead(method: _F) -> _F:
    """Return a method that draws for several calls together where a program repeats a call of numbers.

    The method draws from ``self._bits``, and returns what the method ``array`` of the spec of the result returns.
    """
    name = method.__name__

    @wraps(method)
    def draw(self: "ArraySource", *arguments: Any, **keywords: Any) -> Any:
        setting = immediacy()
        device = self._device or default_device()
        given = (*arguments, *keywords, *keywords.values()) if keywords else arguments
        kinds = tuple(map(type, given))
        if list in kinds:
            if any(len(value) > _MOST_LISTED for value in given if type(value) is list):
                return method(self, *arguments, **keywords)
            given = _hashable(given)
            kinds = tuple(map(type, given))
        if not setting.limit or not _REPEATED.issuperset(kinds) or not setting.covers(device):
            return method(self, *arguments, **keywords)
        if tuple in kinds and not _are_plain(given):
            return method(self, *arguments, **keywords)
        signs = [math.copysign(1, value) for value in given if value == 0] if 0 in given else None
        key = (name, config.current.default_float, given, kinds, signs and tuple(signs))
        try:
            row = self._bits.next_row(key, setting.limit)
        except TypeError:  # something in a tuple or a list is not hashable
            return method(self, *arguments, **keywords)
        if row is not None:
            return made_of(row, device)

        def drawn(bits: Any) -> Any:
            source = self if bits is self._bits else ArraySource.__new__(type(self))
            source._bits, source._device = bits, self._device
            return method(source, *arguments, **keywords)

        result = self._bits.repeated(key, drawn, setting.limit)
        return made_of(result, device) if type(result) is np.ndarray else result

    return draw  # type: ignore[return-value]  # with the same signature


class ArraySource:
    """A bit generator and the device of the arrays that are drawn from it.

    Parameters
    ----------
    bit_generator : Philox, or numpy.random.Philox
        The source of bits. The state of a NumPy generator is copied.
    device : Device or str, optional
        The device of the arrays. By default the default device at the time of each call.

    Raises
    ------
    TypeError
        If ``bit_generator`` is of another type.
    """

    def __init__(self, bit_generator: Any, device: DeviceLike = None) -> None:
        self._bits = _own_bits(bit_generator)
        self._device = None if device is None else checked_device(device)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(Philox{'' if self._device is None else f', device={self._device.name!r}'})"

    @property
    def bit_generator(self) -> Philox:
        """The source of bits, whose ``state`` is that of ``numpy.random.Philox``."""
        return self._bits

    @property
    def device(self) -> Device | None:
        """The device of the arrays; None is the default device."""
        return self._device

    def spawn(self, n_children: int) -> list[Self]:
        """Return independent generators on the same device, as ``numpy.random.Generator.spawn``."""
        return [type(self)(child, self._device) for child in self._bits.spawn(n_children)]

    # -- drawing -------------------------------------------------------------------------------------------------------

    def _uniform(self, spec: "ResultSpec") -> Any:
        """Return numbers in [0, 1), the same as NumPy's."""
        if spec.is_immediate:
            return self._bits.uniforms(spec.size, spec.kind).reshape(spec.shape)
        # the node is constructed without the conversions of build.generate, because simulations draw at every step
        take = self._bits.take_halves if spec.kind == dtypes.float32 else self._bits.take_words
        stream = take(spec.size)
        return Generate(generators.random_uniform, (), spec.shape, spec.kind, tuple(stream.parameters))

    def _normal(self, spec: "ResultSpec") -> Any:
        """Return standard normal numbers."""
        if spec.is_immediate:
            return self._bits.normals(spec.size, spec.kind).reshape(spec.shape)
        return Generate(generators.random_normal, (), spec.shape, spec.kind, self._substream(spec))

    def _exponential(self, spec: "ResultSpec") -> Any:
        """Return standard exponential numbers, -log(1 - u) with u < 1."""
        return mapped(ops.negative, mapped(ops.log1p, mapped(ops.negative, self._uniform(spec))))

    def _sample(self, op: MapOp, spec: "ResultSpec", *parameters: Any) -> Any:
        """Return the numbers of a sampler, for parameters that are numbers or nodes."""
        stream = self._substream(spec)
        if spec.is_immediate and spec.size <= ONE_THREAD:
            known = known_values(parameters)
            if known is not None:
                elements = spec.of_each(np.arange(spec.size, dtype=np.uint32))
                values = [np.asarray(value, spec.kind) for value in known]
                words = stream if spec.rows is None else [spec.of_each(word[:, None]) for word in stream]
                return _at_once(op, (*values, elements, *words), spec.shape, spec.kind)
        operands = [
            build.full((), p, spec.kind) if isinstance(p, float) else build.cast(_recorded(p), spec.kind)
            for p in parameters
        ]
        numbers = build.generate(generators.arange, (0, 1), spec.shape, dtypes.uint32)
        words = [build.full((), word, dtypes.uint32) for word in stream]
        return build.elementwise(op, *operands, numbers, *words)

    def _gamma(self, spec: "ResultSpec", a: Any) -> Any:
        return self._sample(samplers.sample_gamma, spec, a)

    def _substream(self, spec: "ResultSpec") -> tuple[Any, ...]:
        """Return the substream for an array; an array without elements takes none."""
        return self._bits.take_substream() if spec.size else _NO_SUBSTREAM

    # -- arguments -----------------------------------------------------------------------------------------------------

    def _spec(self, shape: Shape, kind: DType, device: Device) -> "ResultSpec":
        return ResultSpec(shape, kind, device, self._bits.rows)

    def _device_for(self, *parameters: Any) -> Device:
        """Return the device for an array: that of the generator or of the parameters.

        Raises
        ------
        DeviceError
            If parameters are on another device than the generator.
        """
        there = device_of(*parameters)
        if self._device is None or there is None:
            return checked_device(self._device or there)
        return joint_device(self._device, there)

    def _arguments(self, size: Size, dtype: DTypeLike, *parameters: ArrayLike) -> tuple["ResultSpec", list[Any]]:
        """Return the spec of a result, and the parameters as Python floats, which do not widen dtypes, or as nodes."""
        if NUMBERS.issuperset(map(type, parameters)):
            return self._target(size, dtype, None, "this distribution"), list(map(float, parameters))
        spec = self._spec(joint_shape(size, *parameters), floating(dtype), self._device_for(*parameters))
        return spec, [spec.parameter(value) for value in parameters]

    def _target(self, size: Size, dtype: DTypeLike, out: Any, name: str) -> "ResultSpec":
        """Return the spec of a result, which is that of ``out`` if given."""
        if out is None:
            device = self._device or default_device()
            if type(size) is int and type(dtype) in _PLAIN and self._bits.rows is None:
                known = _specs.get((size, dtype, device.name))
                if known is None:
                    if len(_specs) >= _MOST_SPECS:
                        _specs.clear()
                    known = ResultSpec(resolve_shape(size), floating(dtype, name), device)
                    _specs[size, dtype, device.name] = known
                return known
            return self._spec(resolve_shape(() if size is None else size), floating(dtype, name), device)
        kind, shape = checked_out(out, dtype, size)
        return ResultSpec(shape, floating(kind, name), out.device)


class ResultSpec:
    """The shape, number of elements, dtype and device of a result.

    If several calls are computed together, the shape begins with their number, ``rows``; the number of elements is that
    of a single call.
    """

    __slots__ = ("device", "kind", "rows", "shape", "size")

    def __init__(self, shape: Shape, kind: DType, device: Device, rows: int | None = None) -> None:
        check_nbytes(shape, kind)
        self.shape = shape if rows is None else (rows, *shape)
        self.size = math.prod(shape)
        self.kind = kind
        self.device = device
        self.rows = rows

    @property
    def is_immediate(self) -> bool:
        """Whether numbers are drawn now, on the host: there are few, and their device may be the host."""
        return 0 < self.size <= immediacy().limit and immediacy().covers(self.device)

    def of_each(self, values: Any) -> Any:
        """Return values that broadcast with a line for each call in the shape of the result."""
        line = values if self.rows is None else np.broadcast_to(values, (self.rows, self.size))
        return line.reshape(self.shape)

    def operand(self, array: GpuArray) -> Any:
        """Return the elements of an array: numbers if others are drawn now and the host has them, otherwise a node."""
        node = array.node()
        value = evaluate.value_of(node) if self.is_immediate else None
        return node if value is None else value

    def constant(self, value: float) -> Any:
        """Return a scalar in the dtype: a number if others are drawn now, otherwise a node."""
        return self.kind.type(value) if self.is_immediate else build.full((), value, self.kind)

    def parameter(self, value: ArrayLike) -> Any:
        """Return a distribution's parameter as a Python float or as a node of the dtype."""
        if isinstance(value, GpuArray):
            return build.cast(value.node(), self.kind)
        if type(value) is float or np.ndim(value) == 0:
            return float(value)
        return build.host_node(
            np.asarray(value, self.kind)
        )  # converted on the host, because the device may lack the dtype of the value

    def array(self, draws: Any) -> GpuArray:
        """Return a node, or numbers that were drawn on the host, as an array; those of several calls as they are."""
        if self.rows is not None:
            if isinstance(draws, BaseNode):
                raise RecordedDrawError
            return np.broadcast_to(draws, self.shape)  # type: ignore[return-value]  # which the caller takes apart
        if isinstance(draws, _HOST):
            return made_of(np.asarray(draws), self.device)
        return make(draws, self.device)

    def counts(self, draws: Any) -> GpuArray:
        """Return whole numbers as an array of int64."""
        return self.array(cast(draws, dtypes.int64))

    def array_or_out(self, draws: Any, out: Any) -> GpuArray:
        """Return a node, or numbers that were drawn on the host, as an array, or written to ``out``."""
        if out is None:
            return self.array(draws)
        out[...] = self.array(draws)
        return out


_specs: Final[dict[tuple[int, Any, str], ResultSpec]] = {}
"""Frames by size, dtype and device, because simulations use the same ones at every step."""


def floating(dtype: DTypeLike, name: str = "this distribution") -> DType:
    """Return the floating dtype of a result; by default the default floating dtype.

    Raises
    ------
    TypeError
        If it is neither float32 nor float64.
    """
    kind = default_dtype(float) if dtype is None else dtypes.canonical(dtype)
    if kind not in (dtypes.float32, dtypes.float64):
        raise TypeError(f"Unsupported dtype {kind!r} for {name}; use float32 or float64")
    return kind


def _own_bits(bits: Any) -> Philox:
    """Return a Philox as it is, or one that has the state of a NumPy Philox."""
    if isinstance(bits, Philox):
        return bits
    if isinstance(bits, np.random.Philox):
        seeds: Any = bits.seed_seq  # None where the key was given
        generator = Philox(key=0) if seeds is None else Philox(seeds)
        generator.state = bits.state
        return generator
    raise TypeError(
        f"a Generator takes a Philox bit generator, not a {type(bits).__name__}; use default_rng(seed) or "
        "Philox(seed). Other bit generators cannot compute their numbers in parallel"
    )
