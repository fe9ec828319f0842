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
    commands, scratch
        The parameters.
    programs : list of Prepared
        The programs of the tasks.
    work : int
        Their approximate number of operations.
    scalars : list
        The scalars of all tasks for which the commands have the parameters.
    """

    __slots__ = ("_varying", "commands", "programs", "scalars", "scratch", "work")

    def __init__(self, tasks: Sequence[Task], commands: list[Command], scratch: list[tuple[int, int]]) -> None:
        self.commands = commands
        self.scratch = scratch
        self.programs = [task.prepared for task in tasks]
        self.work = sum([prepared.work for prepared in self.programs])
        self.scalars: list[Any] = []
        self._varying: list[tuple[int, PreparedLaunch, slice]] = []
        """The numbers of the commands whose parameters depend on scalars, their launches, and which scalars."""
        first = 0
        for task in tasks:
            launches = task.prepared.launches
            own = slice(len(self.scalars), len(self.scalars) + len(task.scalars))
            self._varying += [(number, launch, own) for number, launch in enumerate(launches, first) if launch.runs]
            self.scalars += task.scalars
            first += len(launches)

    def bind(self, scalars: list[Any], offset_of: Callable[[PreparedLaunch, Sequence[Any]], int]) -> None:
        """Give the commands the parameters for other scalars, whose offsets a function returns."""
        if all(map(is_, scalars, self.scalars)):
            return
        commands = self.commands[:]
        for number, launch, own in self._varying:
            pipeline, group, _, workgroups = commands[number]
            commands[number] = pipeline, group, offset_of(launch, scalars[own]), workgroups
        self.commands, self.scalars = commands, scalars
