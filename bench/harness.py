"""Runs workloads on peers: checks each result against NumPy, times it cold and warm, and relates the figures.

Every time ends when the result is there: read back where a workload says so, otherwise computed and waited for. The
first call is *cold* (it plans and compiles); *warm* is the median of the calls that follow.
"""

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from bench.peers import NUMPY, AbsentError, Peer
from bench.workloads.base import Workload

FEWEST, MOST = 3, 50
"""Bounds of the number of warm calls."""

LEAST_TRAFFIC = 1_000_000
"""Bytes under which a bandwidth means nothing."""


@dataclass(kw_only=True)
class Row:
    """What one peer did in one workload; times in milliseconds."""

    workload: str
    size: int
    peer: str
    place: str
    nbytes: int
    cold_ms: float | None = None
    warm_ms: float | None = None
    least_ms: float | None = None
    repeats: int = 0
    gigabytes_per_second: float | None = None
    of_copy: float | None = None
    times_numpy: float | None = None
    difference: float | None = None
    counters: dict[str, int] = field(default_factory=dict)
    wrong: bool = False
    note: str = ""


def scaled(workload: Workload, scale: Fraction) -> int:
    """Return the size at which ``workload`` runs."""
    return max(1, int(workload.size * scale)) if workload.scaled else workload.size


def run(workload: Workload, peers: Sequence[Peer], scale: Fraction, seconds: float) -> Iterator[Row]:
    """Yield a row for each peer, in their order, after ``seconds`` of warm calls each."""
    size = scaled(workload, scale)
    inputs = workload.inputs(size)
    expected = np.asarray(workload.run(NUMPY, size, *inputs))
    for peer in peers:
        row = Row(workload=workload.name, size=size, peer=peer.name, place=peer.place, nbytes=workload.nbytes(size))
        try:
            with peer.scope():
                _measure(row, workload, peer, inputs, expected, seconds)
        except AbsentError as error:
            row.note = str(error)
        except Exception as error:  # one library's trouble must not end the comparison of the others
            row.note = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            print(f"{workload.name}, {peer.name}: {error}", file=sys.stderr)
        gc.collect()
        yield row


def _measure(
    row: Row, workload: Workload, peer: Peer, inputs: Sequence[np.ndarray], expected: np.ndarray, seconds: float
) -> None:
    arrays = [peer.asarray(array) for array in inputs]
    peer.wait(arrays)
    function = _function(workload, peer, row.size)

    def call() -> Any:
        result = function(*arrays)
        if workload.read:
            return peer.asnumpy(result)
        peer.wait([result])
        return result

    result, row.cold_ms = _timed(call)
    row.difference = difference(peer.asnumpy(result), expected)
    if not row.difference <= workload.tolerance:
        row.note = f"differs by more than {workload.tolerance:.0e}"
        row.wrong = True
    result = None

    times: list[float] = []
    deadline = time.perf_counter() + seconds
    gc.collect()
    gc.disable()  # as timeit does: the heaps of the peers together would be searched in each one's time
    try:
        while len(times) < FEWEST or (len(times) < MOST and time.perf_counter() < deadline):
            peer.reset()
            result, elapsed = _timed(call)
            result = None
            times.append(elapsed)
            if sum(times) > 20 * seconds * 1e3:
                break
    finally:
        gc.enable()
    row.counters = {name: count for name, count in peer.counters().items() if isinstance(count, int)}
    row.repeats = len(times)
    row.warm_ms, row.least_ms = statistics.median(times), min(times)
    if row.nbytes >= LEAST_TRAFFIC:
        row.gigabytes_per_second = row.nbytes / row.warm_ms / 1e6


def _function(workload: Workload, peer: Peer, size: int) -> Callable[..., Any]:
    """Return the workload as a function of this peer's arrays alone."""
    if peer.name == "numexpr":
        say = workload.numexpr
        if say is None:
            raise AbsentError("not written in numexpr's language")
        return lambda *arrays: say(peer.xp.evaluate, size, *arrays)
    return peer.compile(lambda *arrays: workload.run(peer.xp, size, *arrays))


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call()
    return result, (time.perf_counter() - start) * 1e3


def difference(actual: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference, relative to the largest expected value; infinite where shapes differ."""
    if actual.shape != expected.shape:
        return float("inf")
    scale = float(np.max(np.abs(expected), initial=0)) or 1.0
    return float(np.max(np.abs(actual.astype(np.float64) - expected), initial=0)) / scale


def relate(rows: Sequence[Row]) -> None:
    """Fill in what needs several rows: the share of the copy workload's bandwidth, and the ratio to NumPy."""
    copies = [row for row in rows if row.workload == "copy" and row.gigabytes_per_second]
    limit: dict[str, float] = {}
    for row in copies:
        limit[row.place] = max(limit.get(row.place, 0.0), row.gigabytes_per_second or 0.0)
    numpy = {row.workload: row.warm_ms for row in rows if row.peer == "numpy"}
    for row in rows:
        if row.gigabytes_per_second and row.place in limit:
            row.of_copy = row.gigabytes_per_second / limit[row.place]
        base = numpy.get(row.workload)
        if row.warm_ms and base:
            row.times_numpy = base / row.warm_ms


def table(rows: Sequence[Row]) -> str:
    """Return the rows of one workload as text; ratios over 1 mean that the row is the faster one."""
    first = rows[0]
    ours = [row for row in rows if row.peer.startswith("gpuarray") and row.warm_ms]
    lines = [f"{first.workload}: size {first.size:,}, {first.nbytes / 1e6:,.1f} MB at least"]
    heads = ["cold ms", "warm ms", "GB/s", "of copy", "x numpy", *(f"x {row.peer}" for row in ours), "difference"]
    lines.append(f"  {'':20}" + "".join(f"{head:>{_wide(head)}}" for head in heads))
    for row in rows:
        if row.warm_ms is None:
            lines.append(f"  {row.peer:20}  {row.note}")
            continue
        figures = [
            _number(row.cold_ms, 2),
            _number(row.warm_ms, 3),
            _number(row.gigabytes_per_second, 1),
            "" if row.of_copy is None else f"{row.of_copy:.0%}",
            _number(row.times_numpy, 2),
            *(_number((mine.warm_ms or 0) / row.warm_ms, 2) for mine in ours),
            f"{row.difference:.1e}",
        ]
        text = "".join(f"{figure:>{_wide(head)}}" for head, figure in zip(heads, figures, strict=True))
        launches = f"  {row.counters['launches']} launches" if "launches" in row.counters else ""
        lines.append(f"  {row.peer:20}{text}{launches}{'  ' + row.note if row.note else ''}")
    return "\n".join(lines)


def _wide(head: str) -> int:
    return max(len(head) + 2, 11)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
