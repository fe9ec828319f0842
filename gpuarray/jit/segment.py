"""Evaluations that were recorded, and are run again with other leaves and scalars: no walk, and no search for a plan.

A :class:`Segment` is a ready plan with what its leaves and parameters are bound to: numbers of *registers*, which hold
leaves, and of *values*, which hold what the host knows. Segments are run under the lock of evaluations, so that what is
bound is put into the nodes that the plan was made of.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any, Final, TypeAlias

import numpy as np

from gpuarray import observers
from gpuarray.device import Device
from gpuarray.dtypes import uint32
from gpuarray.errors import GpuArrayError
from gpuarray.graph.nodes import BaseNode, Generate, Leaf, Node
from gpuarray.graph.tracing import Deferred
from gpuarray.providers.base import Provider
from gpuarray.runtime import telemetry
from gpuarray.runtime.evaluate import run_placed
from gpuarray.runtime.history import Evaluation, blame, remember
from gpuarray.runtime.ownership import is_last
from gpuarray.runtime.placement import auto
from gpuarray.runtime.prepared import PreparedPlan
from gpuarray.runtime.straight import Straight
from gpuarray.source_locations import Origin

#: What makes the parameters of a generator of the values of a call.
Fill: TypeAlias = Callable[[Sequence[Any]], tuple[Any, ...]]
_AS_DRAWN: Final = ((), (uint32,))


@dataclass(slots=True)
class Segment:
    """One evaluation.

    Attributes
    ----------
    ready : PreparedPlan
        What is run.
    provider : Provider
        Where its steps were prepared.
    device : Device
        What asked for it: ``"auto"`` places it at each run.
    order : list of Node
        The plan's nodes by position, those that are bound without a value.
    leaves : tuple of (int, int)
        Positions of leaves, and their registers.
    fills : tuple of (Fill, tuple of Generate)
        Generators whose parameters follow from the values of a call, those together that have the same.
    results : tuple of (int, int)
        Positions of results, and their registers.
    donors : tuple of (int, int, int)
        Copies that may hand on their input's buffer, and the positions and registers of those inputs.
    origins : list
        The lines that asked for the nodes, by place in the walk.
    last : Evaluation, optional
        The record of the last run, which is that of others with the same placement.
    straight : Straight, optional
        What runs the plan, where it is always placed as it was the last time.
    given : list of (int or None, Leaf)
        For that, where it has its leaves from: a register, or always the same.
    """

    ready: PreparedPlan
    provider: Provider
    device: Device
    order: list[Any]
    leaves: tuple[tuple[int, int], ...]
    fills: tuple[tuple[Fill, tuple[Any, ...]], ...]
    results: tuple[tuple[int, int], ...]
    donors: tuple[tuple[int, int, int], ...]
    origins: list[Origin | None]
    last: Evaluation | None = None
    straight: Straight | None = None
    given: list[tuple[int | None, Any]] = field(default_factory=list)

    def run(self, registers: list[Any], values: Sequence[Any]) -> None:
        """Run the plan for what is in the registers, and put the results there."""
        order = self.order
        if self.straight is not None and (not observers.active or self._is_sampled_out()):
            for fill, nodes in self.fills:
                parameters = fill(values)
                for node in nodes:
                    node.parameters = parameters
            try:
                self._run_straight(self.straight, registers)
            finally:
                if observers.is_sampled_out:
                    observers.is_sampled_out = False
            return
        try:
            for position, register in self.leaves:
                order[position] = registers[register]
            for fill, nodes in self.fills:
                parameters = fill(values)
                for node in nodes:
                    node.parameters = parameters
            self._run(registers)
            for position, register in self.results:
                registers[register] = order[position].result
        finally:
            for position, _ in self.leaves:
                order[position] = None
            for position, _ in self.results:
                order[position].result = None

    def _is_sampled_out(self) -> bool:
        """Record only the start of a run, if its plan is sampled."""
        return self.last is not None and observers.skip_repeat(self.last.placed, perf_counter_ns())

    def _run_straight(self, straight: Straight, registers: list[Any]) -> None:
        """Run the plan as it was placed the last time, which is how it is always placed."""
        assert self.last is not None
        telemetry.evaluated(self.ready.operations)
        try:
            leaves = [leaf if register is None else registers[register] for register, leaf in self.given]
            made = straight.made(leaves, self.order, remember(self.last))
        except GpuArrayError as error:
            blame(error, self.last, self.provider)
            raise
        for number, (_, register) in enumerate(self.results):
            registers[register] = made[number]

    def _run(self, registers: list[Any]) -> None:
        ready, order, provider = self.ready, self.order, self.provider
        start = perf_counter_ns() if observers.active else 0
        moved = self._moved(registers) if self.donors else []
        placed = auto.placed(ready, order, provider, self.device, is_read=False)
        if placed.saving and auto.settle(placed, order, provider):
            placed = auto.placed(ready, order, provider, self.device, is_read=False)
        if moved and placed.in_one_go:
            moved = [number for number in moved if number >= placed.in_one_go]
        telemetry.evaluated(ready.operations)
        evaluation = self.last
        if evaluation is None or evaluation.placed is not placed:
            evaluation = self.last = Evaluation(ready, placed, provider.device, self.origins)
        planned = 0 if not start or observers.skip_repeat(placed, start) else observers.plan_found(placed)
        try:
            run_placed(ready, placed, moved, order, provider, None, remember(evaluation), None)
        except GpuArrayError as error:
            blame(error, evaluation, provider)
            raise
        if placed is ready.pinned and self.device is not auto.AUTO and not self.donors:
            self.straight = Straight.of(ready, placed, provider, order)
            of_calls = dict(self.leaves)
            self.given = [
                (of_calls[position], None) if position in of_calls else (None, order[position])
                for position in ready.leaves
            ]
        if planned:
            observers.evaluation_done(evaluation, start, planned)
        elif start:
            observers.is_sampled_out = False
        if placed.saving:
            auto.hand_on(placed, order)

    def _moved(self, registers: list[Any]) -> list[int]:
        """Return the copies that may hand on their input's buffer, because nobody else has that any more."""
        found = []
        for number, position, register in self.donors:
            registers[register] = None  # whoever else has the leaf is somebody who can see it
            if is_last(self.order, position):
                found.append(number)
            registers[register] = self.order[position]
        return found


def bound(
    ready: PreparedPlan,
    provider: Provider,
    device: Device,
    walked: list[Node],
    register: Callable[[Leaf], int | None],
    results: Sequence[tuple[int, int]],
) -> Segment:
    """Return a plan bound to registers and values.

    Parameters
    ----------
    ready : PreparedPlan
        The plan.
    provider : Provider
        Where it was prepared.
    device : Device
        What asked for it.
    walked : list of Node
        The nodes that it was found for.
    register : callable
        Returns the register of a leaf that each call gives; None for one that stays.
    results : sequence of (int, int)
        Positions of results, and their registers.
    """
    order: list[Any] = []
    leaves: list[tuple[int, int]] = []
    filled: dict[Hashable, tuple[Fill, list[Generate]]] = {}
    for position, node in enumerate(ready.order(walked)):
        if isinstance(node, Leaf):
            number = register(node)
            order.append(node if number is None else None)
            if number is not None:
                leaves.append((position, number))
            continue
        if isinstance(node, Generate):
            stub: Any = Generate(node.op, (), node.shape, node.dtype, node.parameters)
            if any(type(parameter) is Deferred for parameter in node.parameters):
                said = tuple([p.said() if type(p) is Deferred else id(p) for p in node.parameters])
                filled.setdefault(said, (_fill(node.parameters), []))[1].append(stub)
        else:
            stub = BaseNode(node.op, (), node.shape, node.dtype)
        stub.origin = node.origin
        order.append(stub)
    fills = tuple([(fill, tuple(nodes)) for fill, nodes in filled.values()])
    origins = [node.origin for node in walked]
    position_of = {place: position for position, place in enumerate(ready.kept)}.get if ready.kept else int
    register_of = dict(leaves)
    donors = []
    for copy, place in ready.donors:
        donor: Any = position_of(place)
        if donor in register_of:
            donors.append((copy, donor, register_of[donor]))
    return Segment(ready, provider, device, order, tuple(leaves), fills, tuple(results), tuple(donors), origins)


def _fill(parameters: Sequence[Any]) -> Fill:
    first = parameters[0]
    if type(first) is Deferred and len(parameters) == 1 and first.part is None:
        return _scalar(first.slot, first.conversion())
    if all(type(p) is Deferred and p.part == n and p.dtypes in _AS_DRAWN for n, p in enumerate(parameters)):
        slots = {p.slot for p in parameters}
        if len(slots) == 1:
            return _whole(slots.pop())
    return _mixed([_one(p) if type(p) is Deferred else _constant(p) for p in parameters])


def _scalar(slot: int, convert: Callable[[Any], Any]) -> Fill:
    return lambda values: (convert(values[slot]),)


def _whole(slot: int) -> Fill:
    return lambda values: tuple(values[slot])


def _mixed(parts: Sequence[Callable[[Sequence[Any]], Any]]) -> Fill:
    return lambda values: tuple([part(values) for part in parts])


def _one(parameter: Deferred) -> Callable[[Sequence[Any]], Any]:
    slot, part, convert = parameter.slot, parameter.part, parameter.conversion()
    if part is None:
        return lambda values: convert(values[slot])
    return lambda values: convert(values[slot][part])


def _constant(value: np.generic) -> Callable[[Sequence[Any]], Any]:
    return lambda values: value
