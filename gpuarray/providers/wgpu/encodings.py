"""The commands of runs, which are kept for their repetitions."""

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

from gpuarray.providers.base import Task
from gpuarray.providers.wgpu.driver import Command
from gpuarray.providers.wgpu.launches import PreparedLaunch


class Encoding:
    """The commands of a run, which are enqueued again when the run is repeated with the same buffers.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks of the run.
    commands : list of Command
        Their commands, in order.
    scratch : list of (int, int)
        The sizes and serial numbers of the scratch buffers that were allocated.

    Attributes
    ----------
    scratch : list of (int, int)
        As the parameter.
    programs : list of Prepared
        The programs of the tasks.
    count : int
        The number of commands.
    work : int
        The approximate number of operations of all tasks.
    """

    __slots__ = ("_last", "_varying", "count", "programs", "scratch", "work")

    def __init__(self, tasks: Sequence[Task], commands: list[Command], scratch: list[tuple[int, int]]) -> None:
        self.scratch = scratch
        self.programs = [task.prepared for task in tasks]
        self.count = len(commands)
        self.work = sum([prepared.work for prepared in self.programs])
        scalars: list[Any] = []
        self._varying: list[tuple[int, PreparedLaunch, slice]] = []
        """The numbers of the commands whose parameters depend on scalars, their launches, and which scalars."""
        first = 0
        for task in tasks:
            launches = task.prepared.launches
            own = slice(len(scalars), len(scalars) + len(task.scalars))
            self._varying += [(number, launch, own) for number, launch in enumerate(launches, first) if launch.runs]
            scalars += task.scalars
            first += len(launches)
        self._last = commands, scalars
        """The commands of the last repetition, and the scalars of all its tasks. One value, so that an interrupt leaves
        both or neither."""

    def commands(self, scalars: list[Any], offset_of: Callable[[PreparedLaunch, Sequence[Any]], int]) -> list[Command]:
        """Return the commands for the scalars of all tasks; ``offset_of`` places the parameters of a launch."""
        commands, last = self._last
        if all(map(is_, scalars, last)):
            return commands
        commands = commands[:]
        for number, launch, own in self._varying:
            pipeline, group, _, workgroups = commands[number]
            commands[number] = pipeline, group, offset_of(launch, scalars[own]), workgroups
        self._last = commands, scalars
        return commands
