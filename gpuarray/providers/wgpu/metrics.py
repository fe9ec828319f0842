"""What happened on a device: counters of events, and the times of launches while somebody wants to know them.

Invariant: counting never waits for the device, and timing does not before :meth:`LaunchTimer.collect`, unless the
device has no clock. The provider owns one :class:`Counters`; the dispatcher calls :class:`LaunchTimer`.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from time import perf_counter_ns
from typing import Any, Final, TypeAlias

import numpy as np
import wgpu

from gpuarray.events import Launch
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


#: Launches of one page: a query set has room for two timestamps of each, and 4,096 is the most that one can have.
_PAGE: Final = 2048
#: Pages that wait to be read; to read the oldest then waits for nothing that was enqueued lately.
_PAGES: Final = 8
#: How often the clocks are compared; the quickest answer counts.
_COMPARISONS: Final = 5


#: Launches of one submit, each with the tag of its task and what was prepared for it.
Launched: TypeAlias = Sequence[tuple[Any, Any]]


@dataclass(slots=True)
class _Page:
    """A query set with what it is read through, how many launches it has times of, and when which were submitted."""

    queries: Any
    resolved: Any
    staging: Any
    used: int = 0
    submits: list[tuple[int, Launched]] = field(default_factory=list)


class LaunchTimer:
    """Runs commands in a compute pass each, and finds out when each began and ended.

    Parameters
    ----------
    driver : PublicDriver
        Of the device.
    device : str
        What the device is called.
    """

    def __init__(self, driver: PublicDriver, device: str) -> None:
        self._driver = driver
        self._device = device
        self._has_clock = "timestamp-query" in driver.device.features
        self._free: list[_Page] = []
        self._closed: deque[_Page] = deque()
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
            if page.used + len(commands) > _PAGE:
                page = self._close_page(page)
            now = perf_counter_ns()
            self._driver.submit_timed(commands, page.queries, 2 * page.used, download)
            page.submits.append((now, launches))
            page.used += len(commands)
            return
        if download is not None:
            self._driver.submit((), download)

    def _run_one_by_one(self, commands: Sequence[Command], launches: Launched) -> None:
        for command, (tag, launch) in zip(commands, launches, strict=True):
            self._driver.wait()
            start = perf_counter_ns()
            self._driver.submit([command])
            self._driver.wait()
            self._tell(tag, launch, start, perf_counter_ns())

    def collect(self) -> list[Launch]:
        """Return the launches since the last call, once they have run, in order."""
        if self._page is not None and self._page.used:
            self._close_page(self._page)
        while self._closed:
            self._read_oldest()
        found, self._found = self._found, []
        return found

    def _tell(self, tag: Any, launch: Any, start: int, stop: int) -> None:
        start = max(start, self._ends)  # the next pass may begin while the last one still ends
        self._ends = stop = max(start, stop)
        self._found.append(
            Launch(self._device, launch.label, tag, launch.number, launch.traffic, start, stop, self._has_clock)
        )

    def _new_page(self) -> _Page:
        if self._free:
            return self._free.pop()
        usage = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
        return _Page(
            self._driver.device.create_query_set(type="timestamp", count=2 * _PAGE),
            self._driver.create_buffer(16 * _PAGE, usage),
            self._driver.create_staging(16 * _PAGE),
        )

    def _close_page(self, page: _Page) -> _Page:
        """Enqueue the way of a page's timestamps to the host, and return another page, which is begun."""
        driver = self._driver
        encoder = driver.device.create_command_encoder()
        encoder.resolve_query_set(page.queries, 0, 2 * page.used, page.resolved, 0)
        driver.queue.submit([encoder.finish()])
        driver.start_read(page.resolved, 0, page.staging, 16 * page.used)
        self._closed.append(page)
        if len(self._closed) > _PAGES:
            self._read_oldest()
        self._page = self._new_page()
        return self._page

    def _read_oldest(self) -> None:
        page = self._closed.popleft()
        times = self._read(page, page.used) + self._offset
        # comparing clocks leaves an error, and nothing begins before it is submitted
        firsts = np.cumsum([0, *[len(launches) for _, launches in page.submits[:-1]]])
        submitted = np.array([time for time, _ in page.submits])
        times += max(int(np.max(submitted - times[2 * firsts])), 0)
        launched = (each for _, launches in page.submits for each in launches)
        for (tag, launch), start, stop in zip(launched, times[::2].tolist(), times[1::2].tolist(), strict=True):
            self._tell(tag, launch, start, stop)
        page.submits, page.used = [], 0
        self._free.append(page)

    def _read(self, page: _Page, count: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """Wait for the timestamps of ``count`` launches, in nanoseconds of the device's clock."""
        ticks = np.empty(2 * count, np.uint64)
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
            driver.submit_timed([None], page.queries, 0)
            driver.wait()
            after = perf_counter_ns()
            encoder = driver.device.create_command_encoder()
            encoder.resolve_query_set(page.queries, 0, 2, page.resolved, 0)
            driver.queue.submit([encoder.finish()])
            driver.start_read(page.resolved, 0, page.staging, 16)
            start, stop = (int(time) for time in self._read(page, 1))
            found.append((after - before, (before + after) // 2 - (start + stop) // 2))
        return min(found)[1]
