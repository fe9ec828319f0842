"""Segments: recorded evaluations that run again with other leaves and scalars, without a search for a plan.

A :class:`Segment` binds a prepared plan to *registers*, which hold leaves, and to *values*, which the host knows.
Segments run under the lock of their device, because a run writes the parameters of its call to the nodes of the plan.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any, Final, TypeAlias

import numpy as np

from gpuarray import observers
from gpuarray.device import Device
from gpuarray.dtypes import uint32
from gpuarray.graph.nodes import BaseNode, Generate, Leaf, Node, Scatter, View
from gpuarray.graph.tracing import Deferred
from gpuarray.providers.base import Provider
from gpuarray.runtime.execute import execute
from gpuarray.runtime.ownership import is_last
from gpuarray.runtime.placement import auto, trials
from gpuarray.runtime.prepared import PreparedPlan
from gpuarray.source_locations import Origin

#: A function from the values of a call to the parameters of a generator.
Fill: TypeAlias = Callable[[Sequence[Any]], tuple[Any, ...]]
_AS_DRAWN: Final = ((), (uint32,))


@dataclass(slots=True)
class Segment:
    """One evaluation.

    Attributes
    ----------
    prepared : PreparedPlan
        The plan.
    provider : Provider
        The device for which the plan was prepared.
    device : Device
        The device of the recorded arrays, such as ``"auto"``.
    order : list of Node
        The plan's nodes by position, without values.
    origins : list
        The source lines of the nodes, in the order of the traversal.
    leaves : tuple of (int or None, Leaf or None)
        The register of each leaf of the plan, or the leaf itself if it is the same in all calls.
    fills : tuple of (Fill, tuple of Generate)
        Generators whose parameters depend on the values of a call, grouped by equal parameters.
    results : tuple of int
        The registers of the results.
    donors : tuple of (int, int, int)
        Copies that may reuse the buffer of their input, with the numbers and registers of these leaves.
    ended : tuple of int
        The registers of the values that nothing reads afterwards, whose memory is free from then on.
    """

    prepared: PreparedPlan
    provider: Provider
    device: Device
    order: list[Any]
    origins: list[Origin | None]
    leaves: tuple[tuple[int | None, Leaf | None], ...]
    fills: tuple[tuple[Fill, tuple[Any, ...]], ...]
    results: tuple[int, ...]
    donors: tuple[tuple[int, int, int], ...]
    ended: tuple[int, ...] = ()

    def run(self, registers: list[Any], values: Sequence[Any]) -> None:
        """Run the plan with the leaves in the registers, store the results there, and release leaves."""
        start = perf_counter_ns() if observers.active else 0
        for fill, nodes in self.fills:
            parameters = fill(values)
            for node in nodes:
                node.detail = parameters
        leaves: list[Any] = [leaf if register is None else registers[register] for register, leaf in self.leaves]
        moved = self._moved(registers, leaves) if self.donors else ()
        if self.device is auto.AUTO:
            trials.asks_for_device(self.prepared)  # the next call records again, for it
        results: Any = execute(
            self.prepared, self.provider, self.device, self.order, self.origins, leaves, moved, start
        )
        for number, register in enumerate(self.results):
            registers[register] = results[number]
        for register in self.ended:
            registers[register] = None

    def _moved(self, registers: list[Any], leaves: list[Any]) -> list[int]:
        """Return the copies that may reuse the buffer of their input, because nothing else refers to it."""
        indices = []
        for copy, number, register in self.donors:
            registers[register] = None  # any other reference to the leaf belongs to the program
            if is_last(leaves, number):
                indices.append(copy)
            registers[register] = leaves[number]
        return indices


def bind(
    prepared: PreparedPlan,
    provider: Provider,
    device: Device,
    walked: list[Node],
    register: Callable[[Leaf], int | None],
    results: Sequence[int],
) -> Segment:
    """Return a plan bound to registers and values.

    Parameters
    ----------
    prepared : PreparedPlan
        The plan.
    provider : Provider
        The device for which the plan was prepared.
    device : Device
        The device of the recorded arrays, such as ``"auto"``.
    walked : list of Node
        The nodes in the order of the traversal.
    register : callable
        Returns the register of a leaf, or None if the leaf is the same in all calls.
    results : sequence of int
        The registers of the results.
    """
    order: list[Any] = []
    leaves: list[tuple[int | None, Leaf | None]] = []
    filled: dict[Hashable, tuple[Fill, list[Generate]]] = {}
    for node in prepared.order(walked):
        if isinstance(node, Leaf):
            number = register(node)
            leaves.append((number, node if number is None else None))
            order.append(None)
            continue
        stub: Any = BaseNode(node.op, (), node.shape, node.dtype)
        if isinstance(node, Generate):
            stub = Generate(node.op, (), node.shape, node.dtype, node.parameters)
            if any(type(parameter) is Deferred for parameter in node.parameters):
                key = tuple([p.key() if type(p) is Deferred else id(p) for p in node.parameters])
                filled.setdefault(key, (_fill(node.parameters), []))[1].append(stub)
        elif isinstance(node, View | Scatter):
            stub = Generate(node.op, (), node.shape, node.dtype, node.parameters)  # offsets may be parameters
        stub.origin = node.origin
        order.append(stub)
    fills = tuple([(fill, tuple(nodes)) for fill, nodes in filled.values()])
    position_of = {index: position for position, index in enumerate(prepared.kept)}.get if prepared.kept else int
    donors = []
    for donor in prepared.donors:
        number = prepared.leaves.index(position_of(donor.leaf))
        source, _ = leaves[number]
        if source is not None:
            donors.append((donor.copy, number, source))
    origins = [node.origin for node in walked]
    return Segment(prepared, provider, device, order, origins, tuple(leaves), fills, tuple(results), tuple(donors))


def _fill(parameters: Sequence[Any]) -> Fill:
    first = parameters[0]
    if type(first) is Deferred and len(parameters) == 1 and first.index is None:
        return _scalar(first.slot, first.conversion())
    if all(type(p) is Deferred and p.index == n and p.dtypes in _AS_DRAWN for n, p in enumerate(parameters)):
        slots = {p.slot for p in parameters}
        if len(slots) == 1:
            return _whole(slots.pop())
    return _mixed([_one(p) if type(p) is Deferred else _constant(p) for p in parameters])


def _scalar(slot: int, convert: Callable[[Any], Any]) -> Fill:
    return lambda values: (convert(values[slot]),)


def _whole(slot: int) -> Fill:
    return lambda values: tuple(values[slot])


def _mixed(parts: Sequence[Callable[[Sequence[Any]], Any]]) -> Fill:
    return lambda values: tuple([take(values) for take in parts])


def _one(parameter: Deferred) -> Callable[[Sequence[Any]], Any]:
    slot, index, convert = parameter.slot, parameter.index, parameter.conversion()
    if index is None:
        return lambda values: convert(values[slot])
    return lambda values: convert(values[slot][index])


def _constant(value: np.generic) -> Callable[[Sequence[Any]], Any]:
    return lambda values: value
