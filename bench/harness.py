"""Run workloads on libraries (peers): check each result against NumPy, time it, and compare the times.

There are three times. The first call is *cold*: it plans and compiles. *One at a time* is the median of later calls,
each timed until its result is available: downloaded if the workload says so, otherwise computed. *Back to back* is the
time per call of many calls that are waited for together, which is the throughput of a GPU; it is not measured on a CPU,
where the libraries compute at once. Peers are timed alternately, so that the device is equally warm for all of them. A
GPU is kept busy before the first call, because idle GPUs lower their clock rates.
"""

import gc
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.peers import NUMPY, AbsentError, Peer
from bench.workloads import TOPIC_OF, Workload

#: Number of turns of each peer.
TURNS = 3
#: Bounds of the number of calls in a turn, and of calls that are waited for together.
MOST, FEWEST_TOGETHER, MOST_TOGETHER = 50, 3, 100
#: Calls that take longer than this, in milliseconds, are not repeated unnecessarily.
SLOW = 2000.0
#: Seconds for which a GPU is kept busy before it is timed: an idle H200 needs 0.3 to reach its highest clock rate.
WARM_UP = 0.5
#: Seconds for which kernels are timed by the clock of the device.
ON_DEVICE = 0.1
#: Minimum bytes for which a bandwidth is meaningful.
LEAST_TRAFFIC = 1_000_000
_STATUS = Path("/proc/self/status")


@dataclass(kw_only=True)
class Row:
    """The result of one peer in one workload. Times are in milliseconds.

    ``rate`` is in GB/s, or in GFLOP/s of workloads that count operations; ``of_limit`` is its share of the best rate in
    the workload ``limit`` on the same kind of device. ``device_ms`` is the time of this package's kernels by the
    device's own clock. ``prepare_s`` are the seconds before the calls that count. ``extra_mib`` is the peak of resident
    memory beyond inputs and result, on a processor.
    """

    topic: str
    workload: str
    size: int
    peer: str
    place: str
    nbytes: int
    flops: float | None = None
    limit: str = ""
    cold_ms: float | None = None
    call_ms: float | None = None
    queued_ms: float | None = None
    least_ms: float | None = None
    device_ms: float | None = None
    prepare_s: float = 0.0
    repeats: int = 0
    rate: float | None = None
    of_limit: float | None = None
    times_numpy: float | None = None
    extra_mib: float | None = None
    difference: float | None = None
    counters: dict[str, int] = field(default_factory=dict)
    wrong: bool = False
    note: str = ""

    @property
    def best_ms(self) -> float | None:
        """The time of queued calls if it was measured, otherwise of single calls."""
        return self.call_ms if self.queued_ms is None else self.queued_ms


def scaled(workload: Workload, scale: Fraction) -> int:
    """Return the size at which ``workload`` runs."""
    return max(1, int(workload.size * scale)) if workload.scaled else workload.size


def run(workload: Workload, peers: Sequence[Peer], scale: Fraction, seconds: float) -> list[Row]:
    """Return a row for each peer of the workload, after ``seconds`` of single and of queued calls each."""
    chosen = [p for p in peers if p.place in workload.places and not p.name.startswith(workload.without)]
    if not chosen:
        return []
    size = scaled(workload, scale)
    inputs = workload.inputs(size)
    refer = workload.reference or (lambda size, inputs: workload.run(NUMPY, size, *inputs))
    try:
        expected = np.asarray(refer(size, inputs))
    except AbsentError as error:
        print(f"without {workload.name}: {error}", file=sys.stderr)
        return []
    runners = [_Runner(workload, size, peer) for peer in chosen]
    for runner in runners:
        runner.attempt(partial(runner.prepare, inputs, expected))
    gc.collect()
    gc.disable()  # as timeit does: the heaps of the peers together would be searched in each one's time
    try:
        busy = next((runner for runner in runners if runner.is_ready and runner.peer.place == "gpu"), None)
        if busy:
            busy.attempt(partial(busy.keep_busy, WARM_UP))
        for _ in range(TURNS):
            for runner in runners:
                if runner.is_ready:
                    runner.attempt(partial(runner.take_turn, seconds / TURNS))
        for runner in runners:
            if runner.is_ready:
                runner.attempt(runner.time_kernels)
    finally:
        gc.enable()
    rows = [runner.finish() for runner in runners]
    del runners, runner, busy  # and the arrays with them
    gc.collect()
    for peer in chosen:
        peer.tidy()
    return rows


class _Runner:
    """One peer in one workload."""

    def __init__(self, workload: Workload, size: int, peer: Peer) -> None:
        self.workload = workload
        self.peer = peer
        self.is_ready = False
        self._calls: list[float] = []
        self._queued: list[float] = []
        self.row = Row(
            topic=TOPIC_OF[workload.name],
            workload=workload.name,
            size=size,
            peer=peer.name,
            place=peer.place,
            nbytes=workload.nbytes(size),
            flops=None if workload.flops is None else workload.flops(size),
            limit=workload.limit,
        )

    def attempt(self, what: Callable[[], None]) -> None:
        """Run a function, and store the reason if it fails."""
        try:
            with self.peer.scope():
                what()
        except AbsentError as error:
            self.is_ready, self.row.note = False, str(error)
        except Exception as error:  # one library's trouble must not end the comparison of the others
            self.is_ready = False
            self.row.note = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            print(f"{self.workload.name}, {self.peer.name}: {error}", file=sys.stderr)

    def prepare(self, inputs: Sequence[np.ndarray], expected: np.ndarray) -> None:
        """Upload the inputs, call once, and check the result."""
        workload, peer, row = self.workload, self.peer, self.row
        start = time.perf_counter()
        if workload.moves == "up":
            self._function: Callable[[], Any] = lambda: peer.asarray(inputs[0])
        elif workload.moves == "down":
            resident = peer.asarray(inputs[0]) + 0  # made there: no library has it on the host as well
            peer.start(resident)
            self._function = lambda: peer.asnumpy(resident)
        else:
            arrays = [peer.resident(array) for array in inputs]
            peer.wait(arrays)
            function = _function(workload, peer, row.size)
            self._function = lambda: function(*arrays)
        result, row.cold_ms = _timed(self._call)
        if np.ndim(result) and expected.ndim:  # the reference may have every k-th element
            result = result[:: -(-result.shape[0] // expected.shape[0])]
        seen = peer.asnumpy(result)
        if workload.seen is not None:
            seen = workload.seen(seen, inputs)
        row.difference = difference(seen, expected)
        if not row.difference <= workload.tolerance:
            row.note = f"differs by more than {workload.tolerance:.0e}"
            row.wrong = True
        del result, seen
        if row.place == "cpu":
            row.extra_mib = _extra_mib(self._call, peer)
        row.prepare_s = time.perf_counter() - start
        self.is_ready = True

    def _call(self) -> Any:
        result = self._function()
        if self.workload.moves == "down":
            return result
        if self.workload.read:
            return self.peer.asnumpy(result)
        self.peer.wait(_results(result))
        return _results(result)[0]

    def keep_busy(self, seconds: float) -> None:
        """Call repeatedly, waiting now and then."""
        deadline = time.perf_counter() + seconds
        while time.perf_counter() < deadline:
            self._call_together(FEWEST_TOGETHER)

    def _call_together(self, count: int) -> None:
        """Call ``count`` times, and wait once."""
        for _ in range(count):
            result = self._function()
            if self.workload.moves != "down":
                self.peer.start(*_results(result))
        if self.workload.moves != "down":
            self.peer.wait(_results(result))

    def take_turn(self, seconds: float) -> None:
        """Time single and queued calls, for ``seconds`` each."""
        fewest = FEWEST_TOGETHER if min(self._calls, default=self.row.cold_ms or 0) < SLOW else 1
        if fewest > 1:
            self._call_together(1)
        times: list[float] = []
        deadline = time.perf_counter() + seconds
        while not times or (len(times) < MOST and time.perf_counter() < deadline):
            self.peer.reset()
            result, elapsed = _timed(self._call)
            del result
            times.append(elapsed)
        self._calls += times
        self.row.counters = {name: count for name, count in self.peer.counters().items() if isinstance(count, int)}
        if self.row.place == "cpu" or self.workload.moves == "down":
            return
        count = min(max(int(seconds * 1e3 / min(times)), fewest), MOST_TOGETHER)
        _, elapsed = _timed(lambda: self._call_together(count))
        self._queued.append(elapsed / count)

    def time_kernels(self) -> None:
        """Measure by the clock of the device, while it is busy."""
        if self.peer.has_clock:
            times = max(1, min(MOST, int(ON_DEVICE * 1e3 / min(self._calls))))
            self._call_together(times)
            self.row.device_ms = self.peer.device_ms(lambda: self._call_together(times)) / times

    def finish(self) -> Row:
        """Return the row, with the medians."""
        row = self.row
        if self._calls and self.is_ready:
            row.repeats = len(self._calls)
            row.call_ms, row.least_ms = statistics.median(self._calls), min(self._calls)
            row.queued_ms = statistics.median(self._queued) if self._queued else None
            amount = row.nbytes if row.flops is None else row.flops
            if row.nbytes >= LEAST_TRAFFIC:
                row.rate = amount / (row.best_ms or 1) / 1e6
        return row


def _function(workload: Workload, peer: Peer, size: int) -> Callable[..., Any]:
    """Return the workload as a function of the arrays of this peer."""
    if peer.name == "numexpr":
        say = workload.numexpr
        if say is None:
            raise AbsentError("not written in numexpr's language")
        return lambda *arrays: say(peer.xp.evaluate, size, *arrays)
    function = lambda *arrays: workload.run(peer.xp, size, *arrays)  # noqa: E731  # partial objects are not compiled
    return peer.repeat(function, workload.steps) if workload.steps > 1 else peer.compile(function)


def _results(result: Any) -> Sequence[Any]:
    return result if isinstance(result, tuple) else (result,)


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call()
    return result, (time.perf_counter() - start) * 1e3


def _extra_mib(call: Callable[[], Any], peer: Peer) -> float | None:
    """Return the growth of resident memory during a call, without its result, in MiB; None if it is unknown."""
    try:
        gc.collect()
        peer.trim()
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
        before = _status("VmRSS")
        result = call()
        return (_status("VmHWM") - before - getattr(result, "nbytes", 0)) / (1 << 20)
    except OSError:
        return None


def _status(name: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) << 10


def difference(actual: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference, relative to the largest expected value; infinite if shapes differ."""
    if actual.shape != expected.shape:
        return float("inf")
    wide = np.result_type(actual, expected, np.float64)
    scale = float(np.max(np.abs(expected), initial=0)) or 1.0
    return float(np.max(np.abs(actual.astype(wide) - expected), initial=0)) / scale


def relate(rows: Sequence[Row]) -> None:
    """Fill in the values that depend on other rows: the share of the limit, and the ratio to NumPy."""
    best: dict[tuple[str, str], float] = {}
    for row in rows:
        at = row.workload, row.place
        best[at] = max(best.get(at, 0.0), row.rate or 0.0)
    numpy = {row.workload: row.call_ms for row in rows if row.peer == "numpy"}
    for row in rows:
        limit = best.get((row.limit, row.place))
        row.of_limit = row.rate / limit if row.rate and limit else None
        base = numpy.get(row.workload)
        row.times_numpy = base / row.call_ms if row.call_ms and base else None


def is_ours(row: Row) -> bool:
    """Return True if a row belongs to this package."""
    return row.peer.startswith("gpuarray")


def table(rows: Sequence[Row]) -> str:
    """Return the rows of one workload as text. Ratios above 1 mean that the row is faster."""
    first = rows[0]
    ours = [row for row in rows if is_ours(row) and row.call_ms]
    unit = "GB/s" if first.flops is None else "GFLOP/s"
    lines = [f"{first.workload}: size {first.size:,}, {first.nbytes / 1e6:,.1f} MB at least"]
    heads = [
        "cold ms",
        "one ms",
        "queued ms",
        "kernels ms",
        unit,
        "of limit",
        "x numpy",
        *(f"x {row.peer}" for row in ours),
    ]
    heads += ["extra MiB", "difference"]
    lines.append(f"  {'':20}" + "".join(f"{head:>{_wide(head)}}" for head in heads))
    for row in rows:
        if row.call_ms is None:
            lines.append(f"  {row.peer:20}  {row.note}")
            continue
        figures = [
            _number(row.cold_ms, 2),
            _number(row.call_ms, 3),
            _number(row.queued_ms, 3),
            _number(row.device_ms, 3),
            _number(row.rate, 1),
            "" if row.of_limit is None else f"{row.of_limit:.0%}",
            _number(row.times_numpy, 2),
            *(_number((mine.best_ms or 0) / (row.best_ms or 1), 2) for mine in ours),
            _number(row.extra_mib, 1),
            f"{row.difference:.1e}",
        ]
        text = "".join(f"{figure:>{_wide(head)}}" for head, figure in zip(heads, figures, strict=True))
        launches = f"  {row.counters['launches']} launches" if "launches" in row.counters else ""
        lines.append(f"  {row.peer:20}{text}{launches}{'  ' + row.note if row.note else ''}")
    return "\n" + "\n".join(lines)


def summary(rows: Sequence[Row]) -> str:
    """Return the rows of one workload as a line: single / queued times, and the times of others over ours."""
    mine = next((row for row in rows if is_ours(row) and row.call_ms), None)
    cells = []
    for row in sorted(rows, key=lambda row: not is_ours(row)):
        if row.call_ms is None:
            cells.append(f"{row.peer}: {row.note[:60]}")
            continue
        ratio = "" if mine is None or row is mine else f" x{(row.best_ms or 0) / (mine.best_ms or 1):.2f}"
        share = f" {row.of_limit:.0%}" if row is mine and row.of_limit else ""
        both = "/".join(f"{time:.3f}" for time in (row.call_ms, row.queued_ms) if time is not None)
        wrong = f" WRONG by {row.difference:.0e}" if row.wrong else ""
        device = f" ({row.device_ms:.3f} on it)" if row.device_ms else ""
        cells.append(f"{row.peer.removeprefix('gpuarray-')} {both}{device}{ratio}{share}{wrong}")
    return f"{rows[0].workload:28}{'  '.join(cells)}"


def _wide(head: str) -> int:
    return max(len(head) + 2, 11)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
