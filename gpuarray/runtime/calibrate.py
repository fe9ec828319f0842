"""Calibration: measures the rates of a device and of the host, and keeps them between runs.

Every time is the median of the quicker half of several, synchronised: what else the machine does makes a time longer,
never shorter. None begins before the kernel has run once. A curve ends at the amount that takes :data:`LONG`. All of it
takes a few seconds. What was measured is kept in the cache folder by adapter, driver, provider and
version of this package; a record that is missing, damaged or of something else is measured again.
"""

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from gpuarray import dtypes, logs, records
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.errors import GpuArrayError
from gpuarray.graph import build
from gpuarray.graph.nodes import Generate, Leaf, Node, host_leaf
from gpuarray.ops import calls, elementwise, reductions
from gpuarray.ops.spec import ROWS, MapOp, ReduceOp
from gpuarray.providers.base import Provider, Task
from gpuarray.runtime import places, plans, residency
from gpuarray.runtime.rates import Curve, Rates, from_json, risen
from gpuarray.version import __version__

#: A point of a curve that takes longer than this, in nanoseconds, is the last one.
LONG: Final = 8_000_000
_REPEATS: Final = 5
_SMALL: Final = 16
#: Elements of the tiles in which the in-process provider computes, about.
_TILE: Final = 1 << 14
_KIND: Final = "calibration"

Progress = Callable[[str], None]


def rates_of(device: Device, *, fresh: bool = False, progress: Progress | None = None) -> Rates:
    """Return the rates of a device, measured now if no record of them is there.

    Parameters
    ----------
    device : Device
        A pinned device.
    fresh : bool
        Measure in any case.
    progress : callable, optional
        Told what is measured, in a few words each.
    """
    provider = places.provider_of(device)
    subject = subject_of(provider)
    kept = None if fresh else records.read(_KIND, subject)
    if kept is not None:
        try:
            return from_json(kept)
        except ValueError as error:
            logs.logger.warning("the calibration of %s is ignored: %s", device.name, error)
    start = time.perf_counter()
    found = _Bench(provider, progress or (lambda _: None)).rates()
    logs.logger.info("calibrated %s in %.1f s", device.name, time.perf_counter() - start)
    records.write(_KIND, subject, found.as_json())
    return found


def subject_of(provider: Provider) -> str:
    """Return what a calibration is of: another driver, version or number of threads is another subject."""
    limits = provider.capabilities
    words = [__version__, np.__version__, provider.device.kind, limits.driver_name]
    if places.is_host(provider):
        words += [platform.machine(), platform.processor(), str(os.cpu_count()), str(config.current.threads)]
    return " / ".join(words)


def time_of(provider: Provider, node: Node) -> float:
    """Return how long evaluating a node takes on a provider, in nanoseconds, at the rate of many in a row.

    Raises
    ------
    GpuArrayError
        If part of it has no kernel there.
    """
    return _Bench(provider, lambda _: None)._time(node)


def time_of_tasks(provider: Provider, tasks: Sequence[Task]) -> float:
    """Return how long tasks take on a provider, in nanoseconds, at the rate of many in a row."""
    return _Bench(provider, lambda _: None).time_of_tasks(tasks)


class _Bench:
    """Measures one provider."""

    def __init__(self, provider: Provider, progress: Progress) -> None:
        self.provider = provider
        self.progress = progress
        self.is_host = places.is_host(provider)
        self.random = np.random.default_rng(0)
        self.spreads: list[float] = []

    def rates(self) -> Rates:
        """Measure everything."""
        self.progress("launches")
        one, ten = (self._time(self._chain(elementwise.negative, length, _SMALL)) for length in (1, 10))
        launch, use = self._launch()
        call = max(0.0, (ten - one) / 9) if self.is_host else 0.0
        launch = max(0.0, one - call) if self.is_host else launch
        rows = self._rows() if self.is_host else {}
        self.progress("memory")
        traffic = self._curve((1 << n for n in (12, 15, 18, 21, 23)), self._copied, 8, launch + call)
        self.progress("arithmetic")
        operation, speedup = self._arithmetic(rows, traffic, launch)
        self.progress("matrix products")
        sides = {dtypes.float32: (16, 128, 512, 2048), dtypes.float64: (16, 1024)}
        product = {
            dtype.name: self._curve(sizes, partial(self._product, dtype), 0, launch)
            for dtype, sizes in sides.items()
            if dtype in self.provider.capabilities.dtypes
        }
        self.progress("gathers, scans, sorts and transforms")
        lengths = (1 << 10, 1 << 14, 1 << 18, 1 << 21)
        return Rates(
            use=use,
            launch=launch,
            call=call,
            traffic=traffic,
            operation=operation,
            rows=rows,
            speedup=speedup,
            spread=float(self.provider.capabilities.spread_least),
            product={name: [(2 * n**3, t) for n, t in curve] for name, curve in product.items()},
            gather=self._curve(lengths, self._gathered, 1, launch),
            scan=self._curve(lengths, self._scanned, 1, launch),
            sort=self._curve(lengths, self._sorted, 1, launch),
            transform=[(n * np.log2(n), t) for n, t in self._curve(lengths, self._transformed, 1, launch)],
            upload=() if self.is_host else self._transfers(self._uploaded),
            download=() if self.is_host else self._transfers(self._downloaded),
            spread_of_times=statistics.median(self.spreads),
        )

    # -- what is measured ----------------------------------------------------------------------------------------------

    def _leaf(self, shape: int | tuple[int, ...], dtype: DType) -> Leaf:
        return host_leaf((self.random.random(shape, np.float32) + 0.5).astype(dtype))

    def _chain(self, row: MapOp, length: int, size: int, dtype: DType = dtypes.float32) -> Node:
        node: Node = self._leaf(size, dtype)
        for _ in range(length):
            node = build.elementwise(row, node)
        return node

    def _copied(self, size: int) -> Node:
        return self._chain(elementwise.negative, 1, size)

    def _product(self, dtype: DType, size: int) -> Node:
        return build.contract(self._leaf((1, size, size), dtype), self._leaf((1, size, size), dtype))

    def _gathered(self, size: int) -> Node:
        places = self.random.integers(0, size, size)
        return build.gather(self._leaf(size, dtypes.float32), host_leaf(places))

    def _scanned(self, size: int) -> Node:
        return build.scan(reductions.sum, self._leaf(size, dtypes.float32), 0)

    def _sorted(self, size: int) -> Node:
        return build.call_one(
            calls.sort, (self._leaf(size, dtypes.float32),), (size,), dtypes.float32, descending=False
        )

    def _transformed(self, size: int) -> Node:
        operand = self._leaf((1, size), dtypes.complex64)
        return build.call_one(
            calls.fft, (operand,), (1, size), dtypes.complex64, n=size, inverse=False, norm="backward"
        )

    def _rows(self) -> dict[str, float]:
        """Return the nanoseconds an element that the host's elementwise rows and folds take, in one thread."""
        self.progress("NumPy's functions")
        found: dict[str, float] = {}
        for dtype in (dtypes.float32, dtypes.float64, dtypes.int64):
            given = (self.random.random(_TILE, np.float32) + 0.5).astype(dtype) + (dtype.kind == "i")
            for row in ROWS.values():
                time = _host_time(row, given)
                if time is not None:
                    found[f"{row.name}:{dtype.name}"] = time
        return found

    def _arithmetic(self, rows: dict[str, float], traffic: Curve, launch: float) -> tuple[dict[str, float], float]:
        """Return the time of a simple operation by width, and what several threads gain."""
        if self.is_host:
            costs = [(rows[key], ROWS[key.partition(":")[0]]) for key in rows if key.endswith("float32")]
            unit = statistics.median(time / row.cost for time, row in costs if isinstance(row, MapOp))
            size = 1 << 20
            time = self._time(self._chain(elementwise.exp, 8, size)) - launch
            gain = 8 * size * rows["exp:float32"] / max(time, 1.0)
            return {"32": unit, "64": 2 * unit}, min(max(1.0, gain), float(os.cpu_count() or 1))
        found = {}
        for width, dtype in (("32", dtypes.float32), ("64", dtypes.float64)):
            if dtype not in self.provider.capabilities.dtypes:
                continue
            size = 1 << 20
            time = self._time(self._chain(elementwise.exp, 8, size, dtype)) - launch
            found[width] = max(time, 1.0) / (8 * size * elementwise.exp.cost)
        return found, 1.0

    # -- how it is measured --------------------------------------------------------------------------------------------

    def _curve(self, sizes: Iterable[int], make: Callable[[int], Node], scale: int, launch: float) -> Curve:
        """Return the times of what ``make`` makes of each size; ``scale`` 0 keeps the sizes.

        On the host they are those beyond a launch; a device prepares the next launch while it computes.
        """
        points: list[tuple[float, float]] = []
        for size in sizes:
            try:
                time = self._time(make(size))
            except GpuArrayError:  # no room, or no kernel: what there is has to do
                break
            points.append((float(size * scale if scale else size), max(0.0, time - launch) if self.is_host else time))
            if time > LONG:
                break
        return risen(points)

    def _launch(self) -> tuple[float, float]:
        """Return the times of a launch among many, and of handing over one and waiting for it."""
        tasks = self._tasks(self._copied(_SMALL))
        once = self._median(lambda: self._run(tasks, 1))
        often = self._median(lambda: self._run(tasks, 32))
        launch = max(0.0, (often - once) / 31)
        return launch, max(0.0, once - launch)

    def _time(self, node: Node) -> float:
        """Return how long evaluating a node takes at the rate of many one after the other."""
        return self.time_of_tasks(self._tasks(node))

    def time_of_tasks(self, tasks: Sequence[Task]) -> float:
        """Return how long tasks take at the rate of many one after the other."""
        first = self._median(lambda: self._run(tasks, 1), 2)
        if first > LONG:
            return first
        times = max(1, min(16, int(LONG / 8 / max(first, 1))))
        return self._median(lambda: self._run(tasks, times)) / times

    def _run(self, tasks: Sequence[Task], times: int) -> None:
        """Run tasks in one submission, and wait."""
        self.provider.run([*tasks] * times)
        self.provider.synchronize()

    def _median(self, run: Callable[[], None], repeats: int = _REPEATS) -> float:
        """Return the typical time of a call in nanoseconds; one that was not timed comes first."""
        run()
        times = []
        for _ in range(repeats):
            start = time.perf_counter_ns()
            run()
            times.append(time.perf_counter_ns() - start)
            if times[-1] > LONG:
                break
        self.spreads.append(max(times) / max(min(times), 1))
        return _typical(times)

    def _tasks(self, node: Node) -> list[Task]:
        """Return the tasks that compute a node, with buffers of their own."""
        planned = plans.plan_of((node,), self.provider.device)
        assert planned is not None
        ready, walked, provider = planned
        order = ready.order(walked)
        if any(step.decision.is_fallback for step in ready.pinned.steps):
            raise GpuArrayError("this device has no kernel for it")
        buffers: dict[int, Any] = {}
        tasks = []
        for step in ready.pinned.steps:
            for position in step.planned.inputs:
                source = order[position]
                if position not in buffers:
                    assert isinstance(source, Leaf)
                    buffers[position] = residency.resident(source, provider)
            for position in step.planned.outputs:
                size, dtype = ready.plan.sizes[position]
                buffers[position] = provider.allocate(size * dtype.itemsize)
            scalars = []
            for position, number in step.planned.scalars:
                source = order[position]
                assert isinstance(source, Generate)
                scalars.append(source.parameters[number])
            tasks.append(
                Task(
                    step.prepared,
                    [buffers[p] for p in step.planned.inputs],
                    [buffers[p] for p in step.planned.outputs],
                    scalars,
                )
            )
        return tasks

    def _transfers(self, move: Callable[[Any, Any], None]) -> Curve:
        self.progress("transfers")
        points = []
        for size in (64, 1 << 14, 1 << 18, 1 << 22, 1 << 25):
            array = np.ones(size, np.uint8)
            buffer = self.provider.allocate(size)
            time = self._median(lambda array=array, buffer=buffer: move(buffer, array), 3)  # type: ignore[misc]  # defaults
            points.append((float(size), time))
            if time > LONG:
                break
        return risen(points)

    def _uploaded(self, buffer: Any, array: Any) -> None:
        self.provider.write(buffer, array)
        self.provider.synchronize()

    def _downloaded(self, buffer: Any, array: Any) -> None:
        self.provider.read(buffer, array)


def _typical(times: Sequence[int]) -> float:
    """Return the median of the quicker half."""
    ordered = sorted(times)
    return float(statistics.median(ordered[: (len(ordered) + 1) // 2]))


def _host_time(row: object, given: Any) -> float | None:
    """Return the nanoseconds that an elementwise row or a fold takes an element; None if it takes no such ones."""
    try:
        if isinstance(row, MapOp):
            out = np.empty(given.shape, row.resolve(*(given.dtype,) * row.arity).output)
            operands = (given,) * row.arity

            def run() -> None:
                row.numpy(*operands, out=out)

        elif isinstance(row, ReduceOp) and not row.indexed and not row.centred:
            dtype = row.accumulate(given.dtype)
            combine: Any = row.combine.numpy

            def run() -> None:
                combine.reduce(given, dtype=dtype)

        elif isinstance(row, ReduceOp) and row.centred:

            def run() -> None:
                np.var(given)

        elif isinstance(row, ReduceOp):

            def run() -> None:
                np.argmax(given)

        else:
            return None
        with np.errstate(all="ignore"):
            run()
            times = []
            for _ in range(_REPEATS):
                start = time.perf_counter_ns()
                run()
                times.append(time.perf_counter_ns() - start)
        return _typical(times) / int(given.size)
    except (TypeError, ValueError, NotImplementedError):
        return None
