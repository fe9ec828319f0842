"""Metrics of a device: counters of events, and the times of launches while observers are registered.

Invariant: counting never waits for the device. Timing waits only in :meth:`LaunchTimer.collect`, unless the device has
no timestamp queries. The provider owns one :class:`Counters`; the dispatcher calls :class:`LaunchTimer`.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import accumulate, islice
from time import perf_counter_ns
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import wgpu

from gpuarray.observers import CompletedLaunch
from gpuarray.providers.wgpu.driver import Command, Download, PublicDriver


@dataclass(slots=True)
class Counters:
    """Events since the provider was opened or since the last reset."""

    launches: int = 0
    compiles: int = 0
    warm_hits: int = 0
    warm_misses: int = 0
    submits: int = 0
    bytes_uploaded: int = 0
    bytes_downloaded: int = 0

    def reset(self) -> None:
        """Set all counters to zero."""
        for counter in fields(self):
            setattr(self, counter.name, 0)

    def as_dict(self) -> dict[str, int]:
        """Return the counters by name."""
        return {counter.name: getattr(self, counter.name) for counter in fields(self)}


#: Timestamps of one page: the largest size of a query set.
_PAGE: Final = 4096
#: Pages that are not read yet. With this many, reading the oldest one does not wait for recent submits.
_PAGES: Final = 8
#: Number of comparisons of the clocks; the fastest one counts.
_COMPARISONS: Final = 5
#: Number of times that a launch is timed individually, before its submits are timed as a whole.
_IN_DETAIL: Final = 1
#: One in this many of the later submits is timed in detail again.
_DETAIL_INTERVAL: Final = 244
#: Submits that follow the previous one within this many nanoseconds are sampled.
_RAPID_NS: Final = 2_000_000
#: One in this many rapid submits is timed. It is a prime number, so that every submit of a loop has its turn.
_SAMPLE_INTERVAL: Final = 61
#: The first sample is taken after this many submits.
_FIRST_SAMPLE: Final = 8


#: Launches of one submit: the tag of the task and the prepared launch of each.
Launched: TypeAlias = Sequence[tuple[Any, Any]]
Times: TypeAlias = npt.NDArray[np.int64]


@dataclass(slots=True)
class _Page:
    """A query set, the buffers through which it is read, and the submits that use it.

    A submit has one timestamp before its launches and one after each launch, or one after all of them, or none.
    ``submits`` is a flat list, because the garbage collector would traverse many small objects again and again. It has
    the time of each submit, the number of its launches and the number of its timestamps. ``launched`` has all launches.
    """

    queries: Any
    resolved: Any
    staging: Any
    used: int = 0
    submits: list[int] = field(default_factory=list)
    launched: list[tuple[Any, Any]] = field(default_factory=list)


class LaunchTimer:
    """Submits commands with timestamps, and computes when each launch began and ended.

    A timestamp takes one or two microseconds of host time. Launches that were timed individually before are therefore
    timed as a whole when they are submitted together again, and the time is divided in the same proportions. If such
    submits follow each other rapidly, only a sample is timed, and the others get the average time.

    Parameters
    ----------
    driver : PublicDriver
        The driver of the device.
    device : str
        The name of the device.
    """

    def __init__(self, driver: PublicDriver, device: str) -> None:
        self._driver = driver
        self._device = device
        self._has_clock = "timestamp-query" in driver.device.features
        self._free: list[_Page] = []
        self._closed: deque[_Page] = deque()
        self._read: list[tuple[Times, _Page]] = []
        self._seen: Counter[Any] = Counter()
        self._known: set[Any] = set()
        self._repeated = _SAMPLE_INTERVAL - _FIRST_SAMPLE
        """How many submissions had known launches alone. It starts so that number ``_FIRST_SAMPLE`` is measured."""
        self._submitted = 0
        self._times_by_launch: dict[Any, tuple[int, int]] = {}
        self._times_by_submit: dict[tuple[Any, ...], tuple[int, int]] = {}
        self._launches: list[CompletedLaunch] = []
        self._last_end = 0
        """When the latest launch ended that was recorded."""
        self._page = self._new_page() if self._has_clock else None
        self._offset = self._compare_clocks() if self._has_clock else 0

    def objects(self) -> Iterator[Any]:
        """Yield the wgpu objects that this timer owns."""
        for page in (*self._free, *self._closed, *([self._page] if self._page is not None else [])):
            yield from (page.queries, page.resolved, page.staging.gpu)

    def submit(self, commands: Sequence[Command], launches: Launched, download: Download | None) -> None:
        """Submit commands, whose times :meth:`collect` returns, followed by a copy to the host."""
        page = self._page
        if page is None:
            self._run_one_by_one(commands, launches)
        elif commands:
            now = perf_counter_ns()
            stamps = self._stamps(launches, now)
            if page.used + stamps > _PAGE:
                page = self._close_page(page)
            if stamps:
                self._driver.submit_timed(commands, page.queries, page.used, stamps, download)
            else:
                self._driver.submit(commands, download)
            page.used += stamps
            page.submits += (now, len(commands), stamps)
            page.launched += launches
            return
        if download is not None:
            self._driver.submit((), download)

    def _stamps(self, launches: Launched, now: int) -> int:
        """Return the number of timestamps for a submit, and count the launches that are timed individually."""
        since, self._submitted = now - self._submitted, now
        known = self._known
        for _, launch in launches:
            if launch not in known:
                break
        else:
            self._repeated += 1
            if since < _RAPID_NS and self._repeated % _SAMPLE_INTERVAL:
                return 0
            if self._repeated % _DETAIL_INTERVAL:
                return 2
        for _, launch in launches:
            self._seen[launch] += 1
            if self._seen[launch] >= _IN_DETAIL:
                known.add(launch)
        return len(launches) + 1

    def _run_one_by_one(self, commands: Sequence[Command], launches: Launched) -> None:
        for command, (tag, launch) in zip(commands, launches, strict=True):
            self._driver.wait()
            start = perf_counter_ns()
            self._driver.submit([command])
            self._driver.wait()
            self._record([(tag, launch)], [start], [perf_counter_ns()])

    def collect(self) -> list[CompletedLaunch]:
        """Wait for the launches since the last call, and return them in order."""
        now = perf_counter_ns()
        if self._page is not None and self._page.submits:
            self._close_page(self._page)
        while self._closed:
            self._read_oldest()
        self._record_pages(now)
        for known in (self._read, self._seen, self._known, self._times_by_launch, self._times_by_submit):
            known.clear()
        self._repeated = _SAMPLE_INTERVAL - _FIRST_SAMPLE
        launches, self._launches = self._launches, []
        return launches

    def _record_pages(self, end: int) -> None:
        """Record the launches of all pages. This is deferred to :meth:`collect`, because it would delay the program."""
        untimed: list[tuple[int, Launched]] = []
        for times, page in self._read:
            marks = iter(self._marks(times, page))
            launched = iter(page.launched)
            for submitted, count, stamps in zip(*[iter(page.submits)] * 3, strict=True):
                launches = [*islice(launched, count)]
                if not stamps:
                    untimed.append((submitted, launches))
                    continue
                edges = [*islice(marks, stamps)]
                self._record_untimed(untimed, edges[0])
                untimed.clear()
                if stamps <= count:
                    edges = self._divided(launches, *edges)
                else:
                    for (_, launch), start, stop in zip(launches, edges, edges[1:], strict=False):
                        _add(self._times_by_launch, launch, stop - start)
                _add(self._times_by_submit, _kind(launches), edges[-1] - edges[0])
                self._record(launches, edges, edges[1:])
                self._last_end = edges[-1]
        self._record_untimed(untimed, end)

    def _marks(self, times: Times, page: _Page) -> list[int]:
        """Return the timestamps of a page, in order, on the host's clock."""
        if not times.size:
            return []
        submitted, stamps = np.array(page.submits[::3]), np.array(page.submits[2::3])
        firsts = (np.cumsum(stamps) - stamps)[stamps > 0]
        # the comparison of the clocks has an error: shift times so that nothing begins before it is submitted
        times = times + max(int(np.max(submitted[stamps > 0] - times[firsts])), 0)
        # a pass may begin before the previous one ends
        marks: list[int] = np.maximum(np.maximum.accumulate(times), self._last_end).tolist()
        return marks

    def _record_untimed(self, submits: Sequence[tuple[int, Launched]], end: int) -> None:
        """Record launches that were not timed, between the last timed launch and ``end``.

        They begin when they were submitted and take their average time, or less if there is not enough time.
        """
        if not submits:
            return
        lengths = [self._length(launches) for _, launches in submits]
        rate = min(1.0, max(0, end - self._last_end) / sum(lengths))
        stops = [end] * len(submits)
        for number in range(len(submits) - 1, 0, -1):  # leave time for the submits that follow
            stops[number - 1] = stops[number] - int(lengths[number] * rate)
        for (submitted, launches), length, latest in zip(submits, lengths, stops, strict=True):
            length = int(length * rate)
            start = max(self._last_end, min(submitted, latest - length))
            edges = self._divided(launches, start, start + length)
            self._record(launches, edges, edges[1:])
            self._last_end = edges[-1]

    def _length(self, launches: Launched) -> float:
        """Return the average time of a submit, or of its launches if it was never timed as a whole."""
        runs, total = self._times_by_submit.get(_kind(launches), (0, 0))
        return total / runs + 1 if runs else sum(self._typical(launch) for _, launch in launches)

    def _typical(self, launch: Any) -> float:
        """Return the average time of a launch, plus one tick of the clock, so that it is never zero."""
        runs, total = self._times_by_launch[launch]
        return total / runs + 1

    def _divided(self, launches: Launched, start: int, stop: int) -> list[int]:
        """Return the times between launches that were timed as a whole, divided in proportion to their averages."""
        shares = [self._typical(launch) for _, launch in launches]
        rate = (stop - start) / sum(shares)
        return [start, *(start + round(done * rate) for done in accumulate(shares))]

    def _record(self, launched: Launched, starts: Sequence[int], stops: Sequence[int]) -> None:
        device, by_device = self._device, self._has_clock
        self._launches += [
            CompletedLaunch(device, launch.label, tag, launch.number, launch.traffic, start, stop, by_device)
            for (tag, launch), start, stop in zip(launched, starts, stops, strict=False)
        ]

    def _new_page(self) -> _Page:
        if self._free:
            return self._free.pop()
        usage = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
        return _Page(
            self._driver.device.create_query_set(type="timestamp", count=_PAGE),
            self._driver.create_buffer(8 * _PAGE, usage),
            self._driver.create_staging(8 * _PAGE),
        )

    def _close_page(self, page: _Page) -> _Page:
        """Enqueue the copy of a page's timestamps to the host, and return the next page."""
        driver = self._driver
        if page.used:
            encoder = driver.device.create_command_encoder()
            encoder.resolve_query_set(page.queries, 0, page.used, page.resolved, 0)
            driver.queue.submit([encoder.finish()])
            driver.start_read(page.resolved, 0, page.staging, 8 * page.used)
        self._closed.append(page)
        if len(self._closed) > _PAGES:
            self._read_oldest()
        self._page = self._new_page()
        return self._page

    def _read_oldest(self) -> None:
        page = self._closed.popleft()
        self._read.append((self._times(page, page.used) + self._offset, page))
        self._free.append(_Page(page.queries, page.resolved, page.staging))

    def _times(self, page: _Page, count: int) -> Times:
        """Wait for the first ``count`` timestamps, in nanoseconds of the device's clock."""
        ticks = np.empty(count, np.uint64)
        if count:
            self._driver.finish_read(page.staging, ticks.view(np.uint8))
        return (ticks * self._driver.tick_ns()).astype(np.int64)

    def _compare_clocks(self) -> int:
        """Return the offset from the device's clock to the host's clock, in nanoseconds."""
        page, driver = self._page, self._driver
        assert page is not None
        samples = []
        for _ in range(_COMPARISONS):
            driver.wait()
            before = perf_counter_ns()
            driver.submit_timed([None], page.queries, 0, 2)
            driver.wait()
            after = perf_counter_ns()
            encoder = driver.device.create_command_encoder()
            encoder.resolve_query_set(page.queries, 0, 2, page.resolved, 0)
            driver.queue.submit([encoder.finish()])
            driver.start_read(page.resolved, 0, page.staging, 16)
            start, stop = (int(time) for time in self._times(page, 2))
            samples.append((after - before, (before + after) // 2 - (start + stop) // 2))
        return min(samples)[1]


def _kind(launches: Launched) -> tuple[Any, ...]:
    """Return a key that is equal for submits of the same launches."""
    return tuple(launch for _, launch in launches)


def _add(known: dict[Any, tuple[int, int]], key: Any, elapsed: int) -> None:
    """Add a time to the count and the total of a key."""
    runs, total = known.get(key, (0, 0))
    known[key] = runs + 1, total + elapsed
