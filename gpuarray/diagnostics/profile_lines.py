"""The time of a profile by source line, and the advice that follows from its phases."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from gpuarray import observers
from gpuarray.source_locations import Origin, SourceLocation, locate

#: Lines and kernels that a text shows.
SHOWN: Final = 15
#: The kinds of time that lines have, with the heads of their columns.
COLUMNS: Final = {
    observers.PLAN: "plans",
    observers.COMPILE: "compiling",
    "kernels": "kernels",
    observers.DIRECT: "direct",
}

_UNKNOWN: Final = "unknown line"


@dataclass(slots=True)
class Line:
    """The work that one source line caused.

    A plan or kernel with operations from several lines is attributed to the last of them, that of the result. Repeats
    of a plan are attributed to the line of its last complete measurement.

    Attributes
    ----------
    place : str
        File and line.
    text : str
        The expression around the one that took most of the time.
    times : dict
        Nanoseconds by kind, see :data:`COLUMNS`.
    evaluations, plans : int
        Evaluations with a plan, and how many different plans they had.
    operations : int
        Operations that were computed directly.
    """

    place: str
    text: str
    times: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 0))
    evaluations: int = 0
    plans: int = 0
    operations: int = 0

    @property
    def total(self) -> int:
        """The sum of the times."""
        return sum(self.times.values())


@lru_cache(maxsize=4096)
def _located(origin: Origin | None) -> tuple[str, str]:
    if origin is None:
        return _UNKNOWN, ""
    location = locate(origin)
    return str(location), location.text


def last_origin(origins: Iterable[Origin | None]) -> Origin | None:
    """Return the origin of the last node of a walk that has one."""
    return next((origin for origin in reversed([*origins]) if origin is not None), None)


def lines_of(
    evaluated: Sequence[observers.Evaluated],
    spans: Iterable[observers.Span],
    launches: Iterable[tuple[SourceLocation | None, int]],
) -> list[Line]:
    """Return the lines, by decreasing time.

    Parameters
    ----------
    evaluated : sequence of Evaluated
        The evaluations, by start.
    spans : iterable of Span
        Intervals of host threads.
    launches : iterable of (SourceLocation or None, int)
        The last line and the nanoseconds of each launch.
    """
    lines: dict[str, Line] = {}
    plans: dict[str, set[int]] = {}
    #: By thread, the starts and the lines of its evaluations, and when their plans were found.
    known: dict[int, tuple[list[int], list[tuple[Line, int]]]] = {}

    #: By line and expression, nanoseconds.
    shares: dict[str, dict[str, int]] = {}

    def line(location: str, text: str, elapsed: int = 0) -> Line:
        of_line = shares.setdefault(location, {})
        of_line[text] = of_line.get(text, 0) + elapsed
        return lines.get(location) or lines.setdefault(location, Line(location, text))

    for evaluation, start, planned, _, thread in evaluated:
        entry = line(*_located(last_origin(evaluation.origins)), planned - start)
        entry.times[observers.PLAN] += planned - start
        entry.evaluations += 1
        plans.setdefault(entry.place, set()).add(id(evaluation.prepared))
        starts, ends = known.setdefault(thread, ([], []))
        starts.append(start)
        ends.append((entry, planned))
    for location, which in plans.items():
        lines[location].plans = len(which)
    for phase, name, start, stop, _, thread in spans:
        if phase == observers.DIRECT:
            entry = line(*_located(name), stop - start)
            entry.times[phase] += stop - start
            entry.operations += 1
        elif phase == observers.COMPILE:
            starts, ends = known.get(thread, ([], []))
            at = bisect_right(starts, start) - 1
            entry, planned = ends[at] if at >= 0 else (line(_UNKNOWN, ""), 0)
            entry.times[phase] += stop - start
            if stop <= planned:
                entry.times[observers.PLAN] -= stop - start
    for where, elapsed in launches:
        entry = line(*((_UNKNOWN, "") if where is None else (str(where), where.text)), elapsed)
        entry.times["kernels"] += elapsed
    for place, of_line in shares.items():
        most = max(of_line, key=of_line.__getitem__)
        lines[place].text = max((text for text in of_line if most in text), key=len)
    return sorted(lines.values(), key=lambda timed_line: -timed_line.total)


def advice(profile: Any) -> str:
    """Return where most of the time went, and what may be done about it, in one sentence."""
    phases: dict[str, int] = dict(profile.phases)
    device = sum(launch.stop - launch.start for launch in profile.launches if launch.is_device_time)
    waits = phases.get(observers.WAIT, 0) + phases.get(observers.DOWNLOAD, 0)
    if device and device >= waits // 2:
        phases[observers.WAIT] = phases[observers.DOWNLOAD] = 0
        phases["run"] = max(phases.get("run", 0), device)
    phase = max(phases, key=lambda name: phases[name], default="")
    if not phase or not profile.wall:
        return ""
    kind = "kernels" if phase == "run" else phase
    most = max(profile.lines, key=lambda line: line.times.get(kind, 0), default=None)
    where = "" if most is None or not most.times.get(kind) else f", most of it for {most.place}"
    changing = ""
    if most is not None and phase == observers.PLAN and most.plans > 1:
        changing = f", where shapes or indices change ({most.plans:,} different plans)"
    text = _ADVICE[phase]
    if phase == observers.DIRECT:
        times = [span.stop - span.start for span in profile.spans if span.phase == phase]
        if sum(times) > _LONG * len(times):
            text = "functions of NumPy that compute one array each{where}"
    return f"{phases[phase] / profile.wall:.0%} of the time went into {text.format(where=where + changing)}"


#: The mean time of operations that are computed one by one, in nanoseconds, from which on it is not mostly overhead.
_LONG: Final = 100_000


_ADVICE: Final = {
    observers.PLAN: "finding and making plans{where}; keep shapes and indices the same, or see docs/how-to/jit.md",
    observers.COMPILE: "compiling kernels{where}; each is compiled once, and config.warm_up does so ahead",
    observers.ENCODE: "encoding and submitting; fewer and larger operations, or gpuarray.jit, make less of it",
    observers.UPLOAD: "copies to devices; create arrays on the device, or copy them once, before the loop",
    observers.DOWNLOAD: "copies from devices; read results less often, or reduce them first",
    observers.WAIT: "waiting for devices; read results less often, as each read waits for all work before it",
    observers.DIRECT: "small operations, computed one by one{where}; operations on larger arrays have less overhead",
    "run": "kernels{where}",
    "program": "the program itself, recording included; for many small operations see docs/how-to/jit.md",
}
