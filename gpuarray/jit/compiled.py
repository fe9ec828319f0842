"""Calls of plain recordings, in C where the package was built with a compiler.

A call of a recorded function costs the host a few tens of microseconds in Python, which is as long as a small kernel
runs. A *replay* handles the calls of one recording in which all arguments are arrays and numbers, and nothing but the
results changes. It returns NotImplemented before it has done anything for all other calls, which the methods in Python
handle. They define what a call does; without the extension module they do everything, with the same results.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from gpuarray import extensions, observers
from gpuarray.array import Cell, GpuArray
from gpuarray.array.memory import NOTHING
from gpuarray.config import config
from gpuarray.graph import tape, tracing
from gpuarray.graph.nodes import Leaf
from gpuarray.jit.recorder import Items, NewArray
from gpuarray.jit.recording import Recording
from gpuarray.jit.segment import Segment
from gpuarray.jit.signature import NUMBERS
from gpuarray.providers import registry
from gpuarray.providers.base import Provider
from gpuarray.runtime import places
from gpuarray.runtime.execute import begin
from gpuarray.runtime.history import OF_VALUES, blame, hide_frames
from gpuarray.runtime.placement import auto, residency, trials
from gpuarray.runtime.schedule import PlainSchedule, Schedule

#: Takes the arguments of a call and returns its result, or NotImplemented if it has done nothing.
Replay: TypeAlias = Callable[..., Any]

#: The version of the interface between the extension module and this package; the source of the module states it too.
_VERSION: Final = 3
_compiled: Final = extensions.load("gpuarray.jit._compiled", _VERSION)


def _blame(error: Exception, number: int, provider: Provider) -> None:
    """Add notes about an evaluation to an error, and hide the frames of this package if values caused it."""
    blame(error, number, provider)
    if isinstance(error, OF_VALUES):
        hide_frames(error)


if _compiled is not None:
    _compiled.install(
        GpuArray,
        Cell,
        Leaf,
        config,
        config._scoped,
        tracing.state,
        tape.state,
        observers,
        registry.open_device,
        places.lock_of,
        begin,
        _blame,
        *residency.holders(),
        NOTHING,
    )


def _arguments(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return what the arguments of calls are compared with: the traits of arrays, and the types of numbers.

    Return None if other arguments are among them, or arrays that are not all of their storage in C order.
    """
    expected: list[Any] = []
    for value in args:
        if type(value) is GpuArray:
            cell, layout, shape, dtype, part, access = value.traits()
            if layout is not None or part is not None:
                return None
            expected.append((shape, dtype, cell.device, access))
        elif type(value) in NUMBERS:
            expected.append(type(value))
        else:
            return None
    return tuple(expected)


def _outputs(make: Any) -> list[NewArray] | None:
    """Return the arrays of a result; None if it is not one new array, or a tuple or list of several."""
    parts = make.parts if isinstance(make, Items) else [make]
    arrays = [part for part in parts if isinstance(part, NewArray)]
    return arrays if len(arrays) == len(parts) else None


def _leaves(recording: Recording, segment: Segment) -> list[Any]:
    """Return the leaves of a plan, or in place of each that calls provide the number of the source of its value."""
    sources = {source.register: number for number, source in enumerate(recording.sources)}
    return [
        leaf if register is None else sources.get(register, recording.registers[register])
        for register, leaf in segment.leaves
    ]


def _actions(segment: Segment, plain: PlainSchedule) -> tuple[Any, ...]:
    """Return the actions of a schedule, their places, the numbers by which these keep them, and their scalars."""
    return tuple(
        [
            (action, action.place, serial, tuple([(segment.order[node], part) for node, part in action.scalars]))
            for action, serial in plain.actions
        ]
    )


def _new_arrays(segment: Segment, plain: PlainSchedule, outputs: list[NewArray]) -> list[tuple[Any, ...]] | None:
    """Return what new arrays are made of; None if one is no result of the plan, or has no line."""
    made = []
    is_device = not places.is_host(segment.provider)
    for output in outputs:
        if output.register not in segment.results:
            return None
        position, register = plain.results[segment.results.index(output.register)]
        stub = segment.order[position]
        if stub.origin is None and config.current.origins:  # its line is that of the call
            return None
        leaf = register, segment.provider, is_device, stub.shape, stub.dtype, stub.origin
        made.append((*leaf, output.layout, output.shape, output.access, output.device))
    return made


def replay_of(recording: Recording, args: tuple[Any, ...]) -> Replay | None:
    """Return the replay of a recording for calls like one with some positional arguments; None if it has none."""
    if _compiled is None or not recording.is_plain or len(recording.segments) != 1:
        return None
    (segment,), arguments, outputs = recording.segments, _arguments(args), _outputs(recording.make)
    if arguments is None or len(args) > _compiled.MOST_ARGUMENTS or outputs is None or segment.donors:
        return None
    is_placed = segment.device is auto.AUTO
    if is_placed and not places.is_host(segment.provider):  # anew for each run
        return None
    placed = segment.prepared.pinned
    schedule: Schedule | None = placed.schedules.get(())
    plain = None if schedule is None else schedule.plain(segment.provider)
    if plain is None or placed.fallbacks or placed.is_free:
        return None
    leaves, made = _leaves(recording, segment), _new_arrays(segment, plain, outputs)
    if made is None or None in leaves:
        return None
    cells = [array._cell for array in args if type(array) is GpuArray]
    replay: Replay = _compiled.Replay(
        settings=config.current,
        arguments=arguments,
        aliases=tuple([cells.index(cell) for cell in cells]),
        guards=recording.guards,
        device=segment.device,
        provider=segment.provider,
        sources=tuple([s.array if s.variable is None else (s.variable, s.device) for s in recording.sources]),
        constants=recording.constants,
        fills=segment.fills,
        leaves=tuple(leaves),
        before=trials.asks_for_device if is_placed else None,
        prepared=segment.prepared,
        placed=placed,
        schedule=schedule,
        order=segment.order,
        origins=segment.origins,
        loads=plain.loads,
        sizes=plain.sizes,
        actions=_actions(segment, plain),
        outputs=tuple(made),
        kind=recording.make.kind if isinstance(recording.make, Items) else None,
    )
    return replay
