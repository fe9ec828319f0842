"""The result of :func:`gpuarray.profile`: its figures, as text, as a trace and as a page."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from gpuarray import observers
from gpuarray.device import Device
from gpuarray.diagnostics import profile_page
from gpuarray.diagnostics.explanation import Explanation, amount, duration
from gpuarray.diagnostics.profile_lines import COLUMNS, SHOWN, Line, advice
from gpuarray.errors import DeviceMemoryError
from gpuarray.providers import registry
from gpuarray.runtime.history import Evaluation, places_of
from gpuarray.runtime.placement import timing
from gpuarray.runtime.placement.decisions import name_of

#: The phases of host time; what is left of the wall time is the program itself, recording included.
PHASES: Final = {
    observers.PLAN: "finding and making plans",
    observers.COMPILE: "compiling kernels",
    observers.ENCODE: "encoding and submitting",
    observers.UPLOAD: "copies to devices",
    observers.DOWNLOAD: "copies from devices",
    observers.WAIT: "waiting for devices",
    observers.DIRECT: "computing small arrays directly",
    "run": "running in-process",
    "program": "the program, and recording",
}


class Span(NamedTuple):
    """An interval of a host thread. ``phase`` is a key of :data:`PHASES`; times in nanoseconds."""

    phase: str
    name: str
    start: int
    stop: int
    nbytes: int
    thread: int


@dataclass(slots=True)
class KernelTimes:
    """All launches of one kernel for one step.

    Attributes
    ----------
    label : str
        The name of the kernel.
    step : str
        The name of the step.
    device : str
        The device.
    places : tuple of str
        The source lines of its operations.
    launches : int
        The number of launches.
    total, least : int
        Total nanoseconds, and those of the fastest launch.
    read, written, operations : float
        Minimum bytes read, bytes written and simple operations of all launches.
    is_device_time : bool
        Whether times are by the clock of the device. Otherwise they are by that of the host, including waits.
    """

    label: str
    step: str
    device: str
    places: tuple[str, ...]
    launches: int = 0
    total: int = 0
    least: int = 0
    read: float = 0
    written: float = 0
    operations: float = 0
    is_device_time: bool = True

    @property
    def mean(self) -> float:
        """Mean nanoseconds per launch."""
        return self.total / max(self.launches, 1)

    @property
    def bandwidth(self) -> float:
        """Gigabytes read and written per second."""
        return (self.read + self.written) / max(self.total, 1)

    @property
    def rate(self) -> float:
        """Simple operations per nanosecond: an estimate of GFLOP/s from the costs of the operations."""
        return self.operations / max(self.total, 1)


@dataclass
class Profile:
    """The profile of a block, complete when the block has ended. ``str`` returns a table.

    Attributes
    ----------
    wall : int
        Nanoseconds from the start to the end of the block, including the final wait.
    kernels : list of KernelTimes
        The kernels, by decreasing total time.
    phases : dict
        Nanoseconds of host time by phase, see :data:`PHASES`.
    lines : list of Line
        The source lines, by decreasing time.
    counters : dict
        The counters of :func:`gpuarray.stats` in the block, and ``peak_bytes``, the maximum memory in use.
    fallbacks : dict
        The number of fallbacks, by function and reason.
    launches : list of Launch
        Every launch, with its times.
    spans : list of Span
        The intervals of host threads.
    """

    start: int = 0
    stop: int = 0
    kernels: list[KernelTimes] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    phases: dict[str, int] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    fallbacks: dict[tuple[str, str], int] = field(default_factory=dict)
    launches: list[observers.CompletedLaunch] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    evaluations: list[tuple[Evaluation, int, int, int]] = field(default_factory=list)
    plans: list[tuple[Explanation, int]] = field(default_factory=list)

    @property
    def wall(self) -> int:
        """Nanoseconds from the start to the end of the block, including the final wait."""
        return self.stop - self.start

    @property
    def kernel_time(self) -> int:
        """Total nanoseconds of all launches."""
        return sum(kernel.total for kernel in self.kernels)

    def ceiling(self, device: str) -> float | None:
        """Return the rate of a copy within ``device`` in gigabytes per second, measured by the first call.

        None if the device does not have enough memory for the copy.
        """
        try:
            return timing.copy_rate(registry.open_device(Device(device)))
        except DeviceMemoryError:
            return None

    def share(self, kernel: KernelTimes) -> float | None:
        """Return the bandwidth of a kernel as a share of the device's :meth:`ceiling`."""
        ceiling = self.ceiling(kernel.device)
        return None if not ceiling else kernel.bandwidth / ceiling

    # -- as text -------------------------------------------------------------------------------------------------------

    def by_line(self) -> list[KernelTimes]:
        """Return the kernels; those with equal names and source lines are added up over plans."""
        kernels: dict[tuple[Any, ...], KernelTimes] = {}
        for kernel in self.kernels:
            key = kernel.label, kernel.step, kernel.device, kernel.places, kernel.is_device_time
            known = kernels.get(key)
            if known is None:
                kernels[key] = replace(kernel)
                continue
            known.launches += kernel.launches
            known.total += kernel.total
            known.least = min(known.least, kernel.least)
            known.read += kernel.read
            known.written += kernel.written
            known.operations += kernel.operations
        return sorted(kernels.values(), key=lambda kernel: -kernel.total)

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the header and the rows of the table of kernels, added up by :meth:`by_line`."""
        yield ("kernel", "launches", "total", "mean", "read", "written", "GB/s", "of copy", "GFLOP/s", "lines")
        for kernel in self.by_line():
            share = self.share(kernel)
            yield (
                kernel.label + ("" if kernel.is_device_time else " *"),
                f"{kernel.launches:,}",
                duration(kernel.total),
                duration(kernel.mean),
                amount(kernel.read),
                amount(kernel.written),
                f"{kernel.bandwidth:,.1f}",
                "" if share is None else f"{share:.0%}",
                f"{kernel.rate:,.1f}",
                ", ".join(kernel.places[:2]),
            )

    def line_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the header and the rows of the table of lines."""
        yield ("line", "total", *COLUMNS.values(), "evaluations", "operations", "expression")
        for line in self.lines:
            times = (duration(time) if time else "" for time in line.times.values())
            counts = (f"{number:,}" if number else "" for number in (line.evaluations, line.operations))
            yield (line.place, duration(line.total), *times, *counts, line.text[:60])

    @property
    def advice(self) -> str:
        """The phase that took most of the time, and advice to reduce it."""
        return advice(self)

    def summary(self) -> Iterator[tuple[str, str]]:
        """Yield the names and values of the summary."""
        counts = self.counters
        yield "wall time", duration(self.wall)
        yield "kernels", f"{duration(self.kernel_time)} in {len(self.launches):,} launches"
        for phase, text in PHASES.items():
            if self.phases.get(phase):
                yield text, duration(self.phases[phase])
        yield "evaluations", f"{counts.get('evaluations', 0):,}, {counts.get('plans', 0):,} new plans"
        yield "kernels compiled", f"{counts.get('compiles', 0):,}"
        yield "to devices", amount(counts.get("bytes_uploaded", 0))
        yield "from devices", amount(counts.get("bytes_downloaded", 0))
        yield "waits", f"{sum(span.phase == observers.WAIT for span in self.spans):,}"
        yield "peak memory", amount(counts.get("peak_bytes", 0))
        for (function, reason), times in self.fallbacks.items():
            yield f"on the host: {function}", f"{times:,} times, {reason}"
        for device in sorted({kernel.device for kernel in self.kernels}):
            rate = self.ceiling(device)
            if rate is not None:
                yield f"copy in {device}", f"{rate:,.1f} GB/s"

    def __str__(self) -> str:
        lines = [f"{name:31}{value}" for name, value in self.summary()]
        lines += ["", self.advice]
        for rows, what in (([*self.line_rows()], "lines"), ([*self.rows()], "kernels")):
            if len(rows) > 1:
                lines += ["", *_table(rows[: 1 + SHOWN])]
            if len(rows) > 1 + SHOWN:
                lines.append(f"and {len(rows) - 1 - SHOWN:,} more {what}")
        if any(not kernel.is_device_time for kernel in self.kernels):
            lines.append("* by the host's clock: in-process, or a device without timestamps")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Profile of {duration(self.wall)}, {len(self.launches):,} launches>"

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.markup import escape
        from rich.table import Table

        facts = Table(show_header=False, box=None)
        for name, value in self.summary():
            facts.add_row(name, value)
        lines, table = (_rich_table(Table(show_edge=False), rows, escape) for rows in (self.line_rows(), self.rows()))
        return Group(facts, self.advice, lines, table)

    # -- as files ------------------------------------------------------------------------------------------------------

    def trace_events(self) -> list[dict[str, Any]]:
        """Return the events of :meth:`trace`: the host's threads and each device are tracks, times in microseconds."""
        threads = {thread: number for number, thread in enumerate(dict.fromkeys(self._threads()), 1)}
        devices = {device: number for number, device in enumerate(dict.fromkeys(x.device for x in self.launches), 2)}
        events: list[dict[str, Any]] = [_name(1, 0, "process_name", "host")]
        events += [_name(1, number, "thread_name", f"thread {number}") for number in threads.values()]
        for device, process in devices.items():
            events += [_name(process, 0, "process_name", device), _name(process, 1, "thread_name", "kernels")]
        for evaluation, start, stop, thread in self.evaluations:
            name = "; ".join(name_of(step.planned.step) for step in evaluation.placed.steps[:4]) or "evaluation"
            lines = {"lines": [str(location) for location in places_of(evaluation)[-8:]]}
            events.append(self._event(1, threads[thread], "evaluation", name, start, stop, lines))
        for span in self.spans:
            arguments = {"bytes": span.nbytes} if span.nbytes else {}
            name = f"{span.phase} {span.name}"
            events.append(self._event(1, threads[span.thread], span.phase, name, span.start, span.stop, arguments))
        for launch in self.launches:
            arguments = {"read": launch.nbytes[0], "written": launch.nbytes[1], "device_clock": launch.is_device_time}
            process = devices[launch.device]
            events.append(self._event(process, 1, "kernel", launch.label, launch.start, launch.stop, arguments))
        return events

    def _threads(self) -> Iterator[int]:
        yield from (span.thread for span in self.spans)
        yield from (thread for *_, thread in self.evaluations)

    def _event(
        self, process: int, thread: int, category: str, name: str, start: int, stop: int, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            "ph": "X",
            "cat": category,
            "name": name,
            "pid": process,
            "tid": thread,
            "ts": max(start - self.start, 0) / 1e3,
            "dur": max(stop - start, 0) / 1e3,
            "args": arguments,
        }

    def trace(self, path: str | Path) -> Path:
        """Write a trace in the Chrome trace format, for Perfetto (ui.perfetto.dev) and chrome://tracing.

        Parameters
        ----------
        path : str or Path
            The file, usually ``.json``.
        """
        target = Path(path)
        document = {"traceEvents": self.trace_events(), "displayTimeUnit": "ms"}
        target.write_text(json.dumps(document), encoding="utf-8")
        return target

    def html(self, path: str | Path) -> Path:
        """Write an HTML page with the timeline, the kernels and the plans, which needs no network access.

        Parameters
        ----------
        path : str or Path
            The file, usually ``.html``.
        """
        target = Path(path)
        target.write_text(profile_page.page(self), encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        return profile_page.tables(self)


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield rows as text: the first and the last column to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    last = len(widths) - 1
    for line in rows:
        cells = [
            c.ljust(w) if i in (0, last) else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _rich_table(table: Any, rows: Iterator[tuple[str, ...]], escape: Callable[[str], str]) -> Any:
    """Fill a table of rich with the first rows, below their titles."""
    head, *others = rows
    for number, name in enumerate(head):
        table.add_column(name, justify="left" if number in (0, len(head) - 1) else "right", overflow="fold")
    for line in others[:SHOWN]:
        table.add_row(*map(escape, line))
    return table


def _name(process: int, thread: int, kind: str, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": name}}
