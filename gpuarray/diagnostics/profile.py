"""`profile`: measure where the time of a program goes.

A profile is an observer of :mod:`gpuarray.observers`. Its figures are computed when the block ends;
:mod:`gpuarray.diagnostics.profile_result` holds and shows them.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from operator import attrgetter, itemgetter
from time import perf_counter_ns
from typing import Any, Final

from gpuarray import observers
from gpuarray.diagnostics.explain import explanation_of
from gpuarray.diagnostics.explanation import Explanation
from gpuarray.diagnostics.profile_lines import lines_of
from gpuarray.diagnostics.profile_result import PHASES, Kernel, Profile, Span
from gpuarray.fusion.costs import Cost, cost
from gpuarray.providers import registry
from gpuarray.runtime import telemetry
from gpuarray.runtime.history import Evaluation, places_of
from gpuarray.runtime.placement.decisions import name_of
from gpuarray.source_locations import SourceLocation

#: The maximum number of plans whose drawings are kept, the longest first.
_PLANS: Final = 12


class _Recorder(observers.Observer):
    """Stores events with methods of lists, because the measured program waits for each call.

    The lists are flat, because the garbage collector would traverse a million tuples again and again.
    """

    accepts_sampling = True

    def __init__(self) -> None:
        self._spans: list[Any] = []
        self._evaluated: list[Any] = []
        self.ran: list[observers.Launch] = []
        self.samplers: list[observers.RunSampler] = []
        self.span = self._spans.extend  # type: ignore[method-assign]  # as good as a method
        self.evaluation = self._evaluated.extend  # type: ignore[method-assign]  # as good as a method
        self.launches = self.ran.extend  # type: ignore[method-assign]  # as good as a method
        self.sampler = self.samplers.append  # type: ignore[method-assign]  # as good as a method

    def spans(self) -> Iterator[observers.Span]:
        """Yield the intervals of host threads."""
        return zip(*[iter(self._spans)] * 6, strict=True)

    def evaluated(self) -> Iterator[observers.Evaluated]:
        """Yield the evaluations."""
        return zip(*[iter(self._evaluated)] * 5, strict=True)


@contextmanager
def profile() -> Iterator[Profile]:
    """Measure the program within a ``with`` block, on all devices and threads.

    Launches are timed by the clock of the device if it has timestamps. Otherwise the host waits for each launch and
    times it. The end of the block waits until all launches have run. Outside of such blocks nothing is measured.

    Yields
    ------
    Profile
        Complete when the block has ended: ``print`` it, or write it with ``trace`` and ``html``.

    Examples
    --------
    >>> import gpuarray as xp
    >>> x = xp.arange(1000, dtype=xp.float32, device="cpu")
    >>> with xp.profile() as p:
    ...     xp.evaluate(xp.exp(x) + 1)
    >>> len(p.kernels)
    1
    """
    found = Profile()
    heard = _Recorder()
    for provider in registry.opened():
        provider.restart_peak()
    before, told = telemetry.stats(), telemetry.fallbacks()
    observers.subscribe(heard)
    try:
        for provider in registry.opened():
            provider.collect()  # what is timed for somebody else, and the clocks
        heard.ran.clear()
        found.start = perf_counter_ns()
        yield found
        for provider in registry.opened():
            provider.synchronize()
        found.stop = perf_counter_ns()
        for provider in registry.opened():
            provider.collect()
    finally:
        found.stop = found.stop or perf_counter_ns()
        observers.unsubscribe(heard)
        for sampler in heard.samplers:
            sampler.placed.sampler = None  # plans outlive the profile
    after = telemetry.stats()
    gauges = ("bytes_live", "bytes_pooled", "peak_bytes", "buffers_live", "kernels")
    found.counters = {
        name: value if name in gauges else max(value - before.get(name, 0), 0) for name, value in after.items()
    }
    found.fallbacks = dict(Counter(telemetry.fallbacks()) - Counter(told))
    _finish(found, heard)


def _finish(found: Profile, heard: _Recorder) -> None:
    """Compute the figures of a profile from the recorded events."""
    encoding = _encoding()
    evaluations, found.launches = _complete(heard, encoding, found.stop)
    found.spans = [
        Span(*span) if span[0] != observers.DIRECT else Span(span[0], "small operation", *span[2:])
        for span in heard.spans()
    ]
    for evaluation, start, ready, stop, thread in evaluations:
        found.spans.append(Span(observers.PLAN, "find a plan", start, ready, 0, thread))
        if evaluation.device.name in encoding and evaluation.placed.host is None:
            found.spans.append(Span(observers.ENCODE, evaluation.device.name, ready, stop, 0, thread))
        found.evaluations.append((evaluation, start, stop, thread))
    tags: dict[int, tuple[Any, Evaluation | None]] = {}
    for evaluation, *_ in found.evaluations:
        for step in evaluation.placed.steps:
            tags[id(step)] = step, evaluation
    spread = Counter((id(x.tag), x.number) for x in found.launches)
    several = {tag for tag, number in spread if number}
    windows: Counter[int] = Counter()
    for launch in found.launches:
        windows[id(launch.tag)] += sum(launch.nbytes)
    kernels: dict[tuple[str, str, int], Kernel] = {}
    places: dict[int, list[SourceLocation]] = {}
    timed: list[tuple[SourceLocation | None, int]] = []
    for launch in found.launches:
        tag = id(launch.tag)
        step, ran = tags.get(tag, (launch.tag, None))
        planned = getattr(step, "planned", None)
        if tag not in places:
            places[tag] = [] if planned is None or ran is None else places_of(ran, planned.outputs)
        name = launch.label if planned is None else name_of(planned.step)
        label = launch.label if launch.device in encoding else name
        key = launch.device, label, tag
        kernel = kernels.get(key)
        if kernel is None:
            kernel = kernels[key] = Kernel(label, name, launch.device, tuple(map(str, places[tag])))
            kernel.is_device_time = launch.is_device_time
        elapsed = launch.stop - launch.start
        timed.append((places[tag][-1] if places[tag] else None, elapsed))
        kernel.least = min(kernel.least, elapsed) if kernel.launches else elapsed
        kernel.launches += 1
        kernel.total += elapsed
        needed = Cost(*launch.nbytes, 0) if planned is None else cost(planned.step)
        if tag in several:  # the operations of a step go to its launches by the memory that they see
            runs = spread[tag, 0]
            part = sum(launch.nbytes) * runs / max(windows[tag], 1)
            needed = Cost(*launch.nbytes, int(needed.operations * part))
        kernel.read += needed.read
        kernel.written += needed.written
        kernel.operations += needed.operations
    found.kernels = sorted(kernels.values(), key=lambda kernel: -kernel.total)
    found.lines = lines_of(evaluations, heard.spans(), timed)
    _keep_timings(heard.ran)
    found.phases = _phases(found)
    found.plans = _plans(found)


def _complete(
    heard: _Recorder, encoding: Set[str], end: int
) -> tuple[list[observers.Evaluated], list[observers.Launch]]:
    """Return all evaluations and launches, with estimated times for those that were not measured.

    The estimate is the last measured time of the same plan, or the time until the next evaluation if that is less.
    """
    told: list[tuple[Any, int, int, int, int]] = [*heard.evaluated()]
    told += [(sampler, start, 0, 0, sampler.thread) for sampler in heard.samplers for start in sampler.starts]
    told.sort(key=itemgetter(1))
    inside = sorted((launch for launch in heard.ran if launch.device not in encoding), key=attrgetter("start"))
    launches = [launch for launch in heard.ran if launch.device in encoding]
    starts = [launch.start for launch in inside]
    known: dict[tuple[int, int], tuple[Evaluation, int, int, int, list[observers.Launch]]] = {}
    evaluations: list[observers.Evaluated] = []
    for number, (what, start, planned, stop, thread) in enumerate(told):
        which = id(what.placed), thread
        if planned:
            own = inside[bisect_left(starts, start) : bisect_left(starts, stop)]
            known[which] = what, start, planned, stop, own
            evaluations.append((what, start, planned, stop, thread))
            continue
        evaluation, begin, found, ended, own = known[which]
        following = told[number + 1][1] if number + 1 < len(told) else end
        rate = min(1.0, (following - start) / max(1, ended - begin))
        found, ended, *times = (
            start + round((time - begin) * rate)
            for time in (found, ended, *(time for launch in own for time in (launch.start, launch.stop)))
        )
        evaluations.append((evaluation, start, found, ended, thread))
        launches += [
            launch._replace(start=began, stop=left)
            for launch, began, left in zip(own, times[::2], times[1::2], strict=True)
        ]
    for number, launch in enumerate(launches):
        if launch.stop > end:  # where nothing was measured any more, a device's launches last until they are asked for
            launches[number] = launch._replace(start=min(launch.start, end), stop=end)
    return evaluations, sorted(launches + inside, key=attrgetter("start"))


def _keep_timings(launches: Sequence[observers.Launch]) -> None:
    """Store the measured times with the steps of plans, for `explain`."""
    running: Any = None
    elapsed = 0
    for launch in (*launches, None):
        if launch is None or launch.number == 0:
            if hasattr(running, "timing"):
                running.timing.add(elapsed)
            elapsed = 0
        if launch is not None:
            running = launch.tag
            elapsed += launch.stop - launch.start


def _encoding() -> set[str]:
    """Return the devices for which the host encodes commands; other devices are the host itself."""
    return {provider.device.name for provider in registry.opened() if provider.capabilities.backend != "in-process"}


def _phases(found: Profile) -> dict[str, int]:
    """Return the host time of each phase; nested phases count once."""
    phases = dict.fromkeys(PHASES, 0)
    for span in found.spans:
        phases[span.phase] += span.stop - span.start
    encoding = _encoding()
    ran = [(x.start, x.stop) for x in found.launches if x.device not in encoding]
    phases["run"] = sum(stop - start for start, stop in ran)
    encoded = sorted((span.start, span.stop) for span in found.spans if span.phase == observers.ENCODE)
    others = [(span.start, span.stop) for span in found.spans if span.phase not in (observers.ENCODE, observers.PLAN)]
    for start, stop in (*others, *ran):
        around = bisect_right(encoded, (start, stop)) - 1
        if around >= 0 and stop <= encoded[around][1]:
            phases[observers.ENCODE] -= stop - start
    phases["program"] = max(found.wall - sum(phases.values()), 0)
    return phases


def _plans(found: Profile) -> list[tuple[Explanation, int]]:
    """Return the plans that ran and their numbers of runs, by decreasing time."""
    times: Counter[int] = Counter()
    shown: dict[int, Evaluation] = {}
    for evaluation, *_ in found.evaluations:
        times[id(evaluation.placed)] += 1
        shown[id(evaluation.placed)] = evaluation

    def weight(evaluation: Evaluation) -> float:
        return times[id(evaluation.placed)] * sum(step.timing.mean for step in evaluation.placed.steps)

    longest = sorted(shown.values(), key=lambda evaluation: -weight(evaluation))[:_PLANS]
    return [(explanation_of(evaluation), times[id(evaluation.placed)]) for evaluation in longest]
