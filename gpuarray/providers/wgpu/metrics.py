"""Metrics of a device: counters of events, and the times of launches while there are observers.

Invariant: counting never waits for the device, and timing does not before :meth:`LaunchTimer.collect`, unless the
device has no clock. The provider owns one :class:`Counters`; the dispatcher calls :class:`LaunchTimer`.
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

from gpuarray.observers import Launch
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


#: Timestamps of one page: the most that a query set can have.
_PAGE: Final = 4096
#: Pages that wait to be read; to read the oldest then waits for nothing that was enqueued lately.
_PAGES: Final = 8
#: How often the clocks are compared; the quickest answer counts.
_COMPARISONS: Final = 5
#: A submit of launches each of which was timed by itself so often is timed as a whole, but for one in so many; and if
#: the one before it was less than so many nanoseconds ago, only one in so many is timed at all: a prime number, so that
#: a loop has none of its submits passed over again and again. The first of these comes soon.
_IN_DETAIL: Final = 1
_AGAIN: Final = 244
_HURRY: Final = 2_000_000
_SAMPLED: Final = 61
_SOON: Final = 8


#: Launches of one submit, each with the tag of its task and what was prepared for it.
Launched: TypeAlias = Sequence[tuple[Any, Any]]
Times: TypeAlias = npt.NDArray[np.int64]


@dataclass(slots=True)
class _Page:
    """A query set with what it is read through, and how many of it are used.

    A submit has a timestamp before its launches, and one after each, or one after all, or it has none. What they are of
    is in flat lists, since the collector of cycles would look at small ones again and again: when each submit was made,
    how many launches and timestamps it has, and so on; and the launches of all.
    """

    queries: Any
    resolved: Any
    staging: Any
    used: int = 0
    submits: list[int] = field(default_factory=list)
    launched: list[tuple[Any, Any]] = field(default_factory=list)


class LaunchTimer:
    """Submits commands with timestamps between them, and computes when each began and ended.

    A timestamp takes a microsecond or two of the host's time. So launches that were timed one by one often enough are
    timed together when they are submitted together, and share the time as they did before; and where such submits
    follow each other quickly, some of them are timed, and the others take as long as these on average.

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
        self._wholes = _SAMPLED - _SOON
        self._submitted = 0
        self._took: dict[Any, tuple[int, int]] = {}
        self._lengths: dict[tuple[Any, ...], tuple[int, int]] = {}
        self._found: list[Launch] = []
        self._ends = 0
        self._page = self._new_page() if self._has_clock else None
        self._offset = self._compare_clocks() if self._has_clock else 0

    def objects(self) -> Iterator[Any]:
        """Yield the wgpu objects that this timer holds."""
        for page in (*self._free, *self._closed, *([self._page] if self._page is not None else [])):
            yield from (page.queries, page.resolved, page.staging.gpu)

    def submit(self, commands: Sequence[Command], launches: Launched, download: Download | None) -> None:
        """Run commands, of which :meth:`collect` tells, and enqueue a copy to the host with them."""
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
        """Return how many timestamps a submit gets; takes note of launches that are timed one by one."""
        since, self._submitted = now - self._submitted, now
        known = self._known
        for _, launch in launches:
            if launch not in known:
                break
        else:
            self._wholes += 1
            if since < _HURRY and self._wholes % _SAMPLED:
                return 0
            if self._wholes % _AGAIN:
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
            self._tell([(tag, launch)], [start], [perf_counter_ns()])

    def collect(self) -> list[Launch]:
        """Return the launches since the last call, once they have run, in order."""
        now = perf_counter_ns()
        if self._page is not None and self._page.submits:
            self._close_page(self._page)
        while self._closed:
            self._read_oldest()
        self._tell_pages(now)
        for known in (self._read, self._seen, self._known, self._took, self._lengths):
            known.clear()
        self._wholes = _SAMPLED - _SOON
        found, self._found = self._found, []
        return found

    def _tell_pages(self, end: int) -> None:
        """Make records of the launches of all pages; not while a program runs, which would wait for it."""
        untimed: list[tuple[int, Launched]] = []
        for times, page in self._read:
            marks = iter(self._marks(times, page))
            launched = iter(page.launched)
            for submitted, count, stamps in zip(*[iter(page.submits)] * 3, strict=True):
                launches = [*islice(launched, count)]
                if not stamps:
                    untimed.append((submitted, launches))
                    continue
                own = [*islice(marks, stamps)]
                self._tell_untimed(untimed, own[0])
                untimed.clear()
                if stamps <= count:
                    own = self._divided(launches, *own)
                else:
                    for (_, launch), start, stop in zip(launches, own, own[1:], strict=False):
                        _add(self._took, launch, stop - start)
                _add(self._lengths, _kind(launches), own[-1] - own[0])
                self._tell(launches, own, own[1:])
                self._ends = own[-1]
        self._tell_untimed(untimed, end)

    def _marks(self, times: Times, page: _Page) -> list[int]:
        """Return the timestamps of a page, in order, by the host's clock."""
        if not times.size:
            return []
        submitted, stamps = np.array(page.submits[::3]), np.array(page.submits[2::3])
        firsts = (np.cumsum(stamps) - stamps)[stamps > 0]
        # comparing clocks leaves an error, and nothing begins before it is submitted
        times = times + max(int(np.max(submitted[stamps > 0] - times[firsts])), 0)
        # the next pass may begin while the one before ends
        found: list[int] = np.maximum(np.maximum.accumulate(times), self._ends).tolist()
        return found

    def _tell_untimed(self, submits: Sequence[tuple[int, Launched]], end: int) -> None:
        """Make records of launches that were not timed, between the last that were and ``end``.

        They begin when they were submitted and take as long as they do on average, or what there is room for.
        """
        if not submits:
            return
        lengths = [self._length(launches) for _, launches in submits]
        rate = min(1.0, max(0, end - self._ends) / sum(lengths))
        stops = [end] * len(submits)
        for number in range(len(submits) - 1, 0, -1):  # no later than leaves room for those that follow
            stops[number - 1] = stops[number] - int(lengths[number] * rate)
        for (submitted, launches), length, latest in zip(submits, lengths, stops, strict=True):
            length = int(length * rate)
            start = max(self._ends, min(submitted, latest - length))
            own = self._divided(launches, start, start + length)
            self._tell(launches, own, own[1:])
            self._ends = own[-1]

    def _length(self, launches: Launched) -> float:
        """Return how long a submit takes on average; that of its launches, if such a one was never timed as a whole."""
        runs, total = self._lengths.get(_kind(launches), (0, 0))
        return total / runs + 1 if runs else sum(self._typical(launch) for _, launch in launches)

    def _typical(self, launch: Any) -> float:
        """Return how long a launch takes on average, and a tick, as no time at all is a matter of the clock."""
        runs, total = self._took[launch]
        return total / runs + 1

    def _divided(self, launches: Launched, start: int, stop: int) -> list[int]:
        """Return when launches that were timed together began and ended: they share the time as they did before."""
        shares = [self._typical(launch) for _, launch in launches]
        rate = (stop - start) / sum(shares)
        return [start, *(start + round(done * rate) for done in accumulate(shares))]

    def _tell(self, launched: Launched, starts: Sequence[int], stops: Sequence[int]) -> None:
        device, by_device = self._device, self._has_clock
        self._found += [
            Launch(device, launch.label, tag, launch.number, launch.traffic, start, stop, by_device)
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
        """Enqueue the way of a page's timestamps to the host, and return another page, which is begun."""
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
        """Return what to add to times of the device's clock for those of the host's."""
        page, driver = self._page, self._driver
        assert page is not None
        found = []
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
            found.append((after - before, (before + after) // 2 - (start + stop) // 2))
        return min(found)[1]


def _kind(launches: Launched) -> tuple[Any, ...]:
    """Return what submits of the same launches have in common."""
    return tuple(launch for _, launch in launches)


def _add(known: dict[Any, tuple[int, int]], what: Any, elapsed: int) -> None:
    """Count one more time of something."""
    runs, total = known.get(what, (0, 0))
    known[what] = runs + 1, total + elapsed
