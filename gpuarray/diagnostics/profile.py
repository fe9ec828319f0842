"""`profile`: measure where the time of a program goes.

A profile is an observer of :mod:`gpuarray.observers`. Its figures are computed when the block ends;
:mod:`gpuarray.diagnostics.profile_result` holds and shows them.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence, Set
from contextlib import contextmanager
from operator import attrgetter, itemgetter
from time import perf_counter_ns
from typing import Any, Final

from gpuarray import observers
from gpuarray.diagnostics.explain import explanation_of
from gpuarray.diagnostics.explanation import Explanation
from gpuarray.diagnostics.profile_lines import lines_of
from gpuarray.diagnostics.profile_result import PHASES, KernelTimes, Profile, Span
from gpuarray.fusion.costs import Cost, cost
from gpuarray.providers import registry
from gpuarray.runtime import telemetry
from gpuarray.runtime.history import Evaluation, places_of
from gpuarray.runtime.placement.decisions import name_of
from gpuarray.source_locations import SourceLocation

#: The maximum number of plans whose drawings are kept, the longest first.
_PLANS: Final = 12


class _EventStore(observers.Observer):
    """Stores events with methods of lists, because the measured program waits for each call.

    The lists are flat, because the garbage collector would traverse a million tuples again and again.
    """

    accepts_sampling = True

    def __init__(self) -> None:
        self._spans: list[Any] = []
        self._evaluated: list[Any] = []
        self.ran: list[observers.CompletedLaunch] = []
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
    result = Profile()
    recorder = _EventStore()
    for provider in registry.opened():
        provider.restart_peak()
    stats_before, fallbacks_before = telemetry.stats(), telemetry.fallbacks()
    observers.subscribe(recorder)
    try:
        for provider in registry.opened():
            provider.collect()  # earlier launches, whose timings are dropped below, and the clocks
        recorder.ran.clear()
        result.start = perf_counter_ns()
        yield result
        for provider in registry.opened():
            provider.synchronize()
        result.stop = perf_counter_ns()
        for provider in registry.opened():
            provider.collect()
    finally:
        result.stop = result.stop or perf_counter_ns()
        observers.unsubscribe(recorder)
        for sampler in recorder.samplers:
            sampler.placed.sampler = None  # plans outlive the profile
    after = telemetry.stats()
    gauges = ("bytes_live", "bytes_pooled", "peak_bytes", "buffers_live", "kernels")
    result.counters = {
        name: value if name in gauges else max(value - stats_before.get(name, 0), 0) for name, value in after.items()
    }
    result.fallbacks = dict(Counter(telemetry.fallbacks()) - Counter(fallbacks_before))
    _finish(result, recorder)


def _finish(result: Profile, recorder: _EventStore) -> None:
    """Compute the figures of a profile from the recorded events."""
    encoding = _encoding()
    evaluations, result.launches = _complete(recorder, encoding, result.stop)
    result.spans = [
        Span(*span) if span[0] != observers.DIRECT else Span(span[0], "small operation", *span[2:])
        for span in recorder.spans()
    ]
    for evaluation, start, planned_at, stop, thread in evaluations:
        result.spans.append(Span(observers.PLAN, "find a plan", start, planned_at, 0, thread))
        if evaluation.device.name in encoding and evaluation.placed.host is None:
            result.spans.append(Span(observers.ENCODE, evaluation.device.name, planned_at, stop, 0, thread))
        result.evaluations.append((evaluation, start, stop, thread))
    result.kernels, timed = _kernels(result, encoding)
    result.lines = lines_of(evaluations, recorder.spans(), timed)
    _keep_timings(recorder.ran)
    result.phases = _phases(result)
    result.plans = _plans(result)


def _kernels(
    result: Profile, encoding: Collection[str]
) -> tuple[list[KernelTimes], list[tuple[SourceLocation | None, int]]]:
    """Return the kernels of the launches, slowest first, and the line and the time of each launch."""
    tags: dict[int, tuple[Any, Evaluation | None]] = {}
    for evaluation, *_ in result.evaluations:
        for step in evaluation.placed.steps:
            tags[id(step)] = step, evaluation
    spread = Counter((id(x.tag), x.number) for x in result.launches)
    several = {tag for tag, number in spread if number}
    windows: Counter[int] = Counter()
    for launch in result.launches:
        windows[id(launch.tag)] += sum(launch.nbytes)
    kernels: dict[tuple[str, str, int], KernelTimes] = {}
    locations: dict[int, list[SourceLocation]] = {}
    timed: list[tuple[SourceLocation | None, int]] = []
    for launch in result.launches:
        tag = id(launch.tag)
        step, ran = tags.get(tag, (launch.tag, None))
        planned = getattr(step, "planned", None)
        if tag not in locations:
            locations[tag] = [] if planned is None or ran is None else places_of(ran, planned.outputs)
        name = launch.label if planned is None else name_of(planned.step)
        label = launch.label if launch.device in encoding else name
        key = launch.device, label, tag
        kernel = kernels.get(key)
        if kernel is None:
            kernel = kernels[key] = KernelTimes(label, name, launch.device, tuple(map(str, locations[tag])))
            kernel.is_device_time = launch.is_device_time
        elapsed = launch.stop - launch.start
        timed.append((locations[tag][-1] if locations[tag] else None, elapsed))
        kernel.least = min(kernel.least, elapsed) if kernel.launches else elapsed
        kernel.launches += 1
        kernel.total += elapsed
        needed = Cost(*launch.nbytes, 0) if planned is None else cost(planned.step)
        if tag in several:  # the operations of a step are divided among its launches by their bytes
            runs = spread[tag, 0]
            share = sum(launch.nbytes) * runs / max(windows[tag], 1)
            needed = Cost(*launch.nbytes, int(needed.operations * share))
        kernel.read += needed.read
        kernel.written += needed.written
        kernel.operations += needed.operations
    return sorted(kernels.values(), key=lambda kernel: -kernel.total), timed


def _complete(
    recorder: _EventStore, encoding: Set[str], end: int
) -> tuple[list[observers.Evaluated], list[observers.CompletedLaunch]]:
    """Return all evaluations and launches, with estimated times for those that were not measured.

    The estimate is the last measured time of the same plan, or the time until the next evaluation if that is less.
    """
    events: list[tuple[Any, int, int, int, int]] = [*recorder.evaluated()]
    events += [(sampler, start, 0, 0, sampler.thread) for sampler in recorder.samplers for start in sampler.starts]
    events.sort(key=itemgetter(1))
    in_process = sorted((launch for launch in recorder.ran if launch.device not in encoding), key=attrgetter("start"))
    launches = [launch for launch in recorder.ran if launch.device in encoding]
    starts = [launch.start for launch in in_process]
    known: dict[tuple[int, int], tuple[Evaluation, int, int, int, list[observers.CompletedLaunch]]] = {}
    evaluations: list[observers.Evaluated] = []
    for number, (what, start, planned_at, stop, thread) in enumerate(events):
        which = id(what.placed), thread
        if planned_at:
            launched = in_process[bisect_left(starts, start) : bisect_left(starts, stop)]
            known[which] = what, start, planned_at, stop, launched
            evaluations.append((what, start, planned_at, stop, thread))
            continue
        evaluation, begin, estimated, ended, launched = known[which]
        following = events[number + 1][1] if number + 1 < len(events) else end
        rate = min(1.0, (following - start) / max(1, ended - begin))
        estimated, ended, *times = (
            start + round((time - begin) * rate)
            for time in (estimated, ended, *(time for launch in launched for time in (launch.start, launch.stop)))
        )
        evaluations.append((evaluation, start, estimated, ended, thread))
        launches += [
            launch._replace(start=began, stop=left)
            for launch, began, left in zip(launched, times[::2], times[1::2], strict=True)
        ]
    for number, launch in enumerate(launches):
        if launch.stop > end:  # a launch without a measured end counts until it is collected, after the block
            launches[number] = launch._replace(start=min(launch.start, end), stop=end)
    return evaluations, sorted(launches + in_process, key=attrgetter("start"))


def _keep_timings(launches: Sequence[observers.CompletedLaunch]) -> None:
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


def _phases(result: Profile) -> dict[str, int]:
    """Return the host time of each phase; nested phases count once."""
    phases = dict.fromkeys(PHASES, 0)
    for span in result.spans:
        phases[span.phase] += span.stop - span.start
    encoding = _encoding()
    ran = [(x.start, x.stop) for x in result.launches if x.device not in encoding]
    phases["run"] = sum(stop - start for start, stop in ran)
    encoded = sorted((span.start, span.stop) for span in result.spans if span.phase == observers.ENCODE)
    others = [(span.start, span.stop) for span in result.spans if span.phase not in (observers.ENCODE, observers.PLAN)]
    for start, stop in (*others, *ran):
        around = bisect_right(encoded, (start, stop)) - 1
        if around >= 0 and stop <= encoded[around][1]:
            phases[observers.ENCODE] -= stop - start
    phases["program"] = max(result.wall - sum(phases.values()), 0)
    return phases


def _plans(result: Profile) -> list[tuple[Explanation, int]]:
    """Return the plans that ran and their numbers of runs, by decreasing time."""
    times: Counter[int] = Counter()
    shown: dict[int, Evaluation] = {}
    for evaluation, *_ in result.evaluations:
        times[id(evaluation.placed)] += 1
        shown[id(evaluation.placed)] = evaluation

    def weight(evaluation: Evaluation) -> float:
        return times[id(evaluation.placed)] * sum(step.timing.mean for step in evaluation.placed.steps)

    longest = sorted(shown.values(), key=lambda evaluation: -weight(evaluation))[:_PLANS]
    return [(explanation_of(evaluation), times[id(evaluation.placed)]) for evaluation in longest]
