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
from gpuarray.runtime.schedule import Schedule

#: Takes the arguments of a call and returns its result, or NotImplemented if it has done nothing.
Replay: TypeAlias = Callable[..., Any]

#: The version of the interface between the extension module and this package; the source of the module states it too.
_VERSION: Final = 2
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


def _leaves(recording: Recording, segment: Segment) -> tuple[Any, ...]:
    """Return the leaves of a plan, or in place of each that calls provide the number of the source of its value."""
    sources = {source.register: number for number, source in enumerate(recording.sources)}
    return tuple(
        [
            leaf if register is None else sources.get(register, recording.registers[register])
            for register, leaf in segment.leaves
        ]
    )


def replay_of(recording: Recording, args: tuple[Any, ...]) -> Replay | None:
    """Return the replay of a recording for calls like one with some positional arguments; None if it has none."""
    if _compiled is None or not recording.is_plain or len(recording.segments) != 1:
        return None
    if len(args) > _compiled.MOST_ARGUMENTS:
        return None
    (segment,), sources = recording.segments, recording.sources
    arguments = _arguments(args)
    outputs = _outputs(recording.make)
    if arguments is None or outputs is None or segment.donors:
        return None
    is_device = not places.is_host(segment.provider)
    if segment.device is auto.AUTO and is_device:  # each run is placed anew
        return None
    placed = segment.prepared.pinned
    schedule: Schedule | None = placed.schedules.get(())
    plain = None if schedule is None else schedule.plain(segment.provider)
    if plain is None or placed.fallbacks or placed.is_free:
        return None
    results = [segment.results.index(output.register) for output in outputs if output.register in segment.results]
    if len(results) < len(outputs):
        return None
    cells = [array._cell for array in args if type(array) is GpuArray]
    stubs = [segment.order[plain.results[number][0]] for number in results]
    if any(stub.origin is None for stub in stubs):  # the lines of its results are those of the calls
        return None
    replay: Replay = _compiled.Replay(
        config.current,
        arguments,
        tuple([cells.index(cell) for cell in cells]),
        recording.guards,
        segment.device,
        segment.provider,
        tuple([source.array if source.variable is None else (source.variable, source.device) for source in sources]),
        recording.constants,
        segment.fills,
        _leaves(recording, segment),
        trials.asks_for_device if segment.device is auto.AUTO else None,
        segment.prepared,
        placed,
        schedule,
        segment.order,
        segment.origins,
        plain.loads,
        plain.sizes,
        tuple(
            [
                (action, action.place, serial, tuple([(segment.order[node], part) for node, part in action.scalars]))
                for action, serial in plain.actions
            ]
        ),
        tuple(
            [
                (
                    plain.results[number][1],
                    segment.provider,
                    is_device,
                    stub.shape,
                    stub.dtype,
                    stub.origin,
                    output.layout,
                    output.shape,
                    output.access,
                    output.device,
                )
                for output, number, stub in zip(outputs, results, stubs, strict=True)
            ]
        ),
        recording.make.kind if isinstance(recording.make, Items) else None,
    )
    return replay
