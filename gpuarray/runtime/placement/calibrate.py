"""Calibration: measures the rates of a device and of the host, and stores them in the disk cache.

:mod:`.timing` takes the times, once the clock of the device is up. A curve ends at the first amount that takes
:data:`~.timing.LONG`. A record belongs to an adapter, driver, provider and version of this package; a record that is
missing or damaged is measured again. There are dozens of formulas, which consist of many calls of NumPy. Each is
measured when a placement first needs it, and added to the record.
"""

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from operator import mul
from typing import Any, Final

import numpy as np

from gpuarray import disk_cache, dtypes, logs
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.errors import GpuArrayError
from gpuarray.fusion.steps import Step
from gpuarray.graph import build
from gpuarray.graph.nodes import Leaf, Node, host_leaf
from gpuarray.ops import calls, elementwise, reductions
from gpuarray.ops.columns import Work
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import OPS, CallOp, MapOp
from gpuarray.providers import registry
from gpuarray.providers.base import Provider, Task
from gpuarray.runtime import places, plans
from gpuarray.runtime.placement import residency
from gpuarray.runtime.placement.numpy_times import TILE, formula_times, host_time, is_formula
from gpuarray.runtime.placement.rates import Curve, Rates, from_json, operation_key, risen
from gpuarray.runtime.placement.timing import LONG, MANY, SMALL, Timer, elapsed, typical
from gpuarray.version import __version__

#: A point of a curve that would take longer than this, in proportion to the one before, is not measured.
_TOO_LONG: Final = 16 * LONG
#: The number of measurements of small launches, whose times decide where small work runs.
_OFTEN: Final = 32
#: A point that takes this many times longer than in proportion to the one before is measured again.
_ODD: Final = 4
#: A point that takes less than this, in nanoseconds, is measured again on the host.
_BRIEF: Final = 1_000_000
#: How long a device is kept busy while kernels are compiled, in nanoseconds.
_BUSY: Final = 300_000_000
_KIND: Final = "calibration"

Progress = Callable[[str], None]


def rates_of(device: Device, *, fresh: bool = False, progress: Progress | None = None) -> Rates:
    """Return the rates of a device, which are measured now if there is no record.

    Parameters
    ----------
    device : Device
        A pinned device.
    fresh : bool
        If True, measure even if there is a record.
    progress : callable, optional
        Called with a short description of each measurement before it begins.
    """
    provider = registry.open_device(device)
    subject = subject_of(provider)
    stored = None if fresh else disk_cache.read(_KIND, subject)
    if stored is not None:
        try:
            return from_json(stored)
        except ValueError as error:
            logs.logger.warning("the calibration of %s is ignored: %s", device.name, error)
    start = time.perf_counter()
    what = f"measuring how fast {device.name} is, once for each driver; config.calibration controls it"
    with logs.report_if_long("calibration", what):
        rates = _Bench(provider, progress or (lambda _: None)).rates()
    logs.logger.info("calibrated %s in %.1f s", device.name, time.perf_counter() - start)
    disk_cache.write(_KIND, subject, rates.as_json())
    return rates


def is_recorded(provider: Provider) -> bool:
    """Return whether there is a record of the rates of a provider, so that they need not be measured."""
    return disk_cache.read(_KIND, subject_of(provider)) is not None


def learn(provider: Provider, rates: Rates, formulas: Iterable[tuple[MapOp, DType]]) -> Rates:
    """Measure formulas, add them to the record of the host if there is one, and return the extended rates.

    Parameters
    ----------
    provider : Provider
        The in-process provider.
    rates : Rates
        The rates to extend.
    formulas : iterable of (MapOp, dtype)
        The formulas, with the dtypes that they compute in.
    """
    times: dict[str, float] = {}
    least: dict[str, float] = {}
    for op, dtype in formulas:
        key = operation_key(op.name, dtype)
        with np.errstate(all="ignore"):
            known = formula_times(op, dtype)
        times[key], least[key] = known or (op.cost * rates.operation.get("32", 0.0), 0.0)
    subject = subject_of(provider)
    stored = disk_cache.read(_KIND, subject)
    if stored is not None:
        with suppress(ValueError):  # a damaged record: it is measured again when it is read
            recorded = from_json(stored)
            more = replace(recorded, rows={**recorded.rows, **times}, least={**recorded.least, **least})
            disk_cache.write(_KIND, subject, more.as_json())
    return replace(rates, rows={**rates.rows, **times}, least={**rates.least, **least})


def subject_of(provider: Provider) -> str:
    """Return the subject of a calibration, which differs by driver, versions and number of threads."""
    limits = provider.capabilities
    words = [__version__, np.__version__, provider.device.kind, limits.driver_name]
    if places.is_host(provider):
        words += [platform.machine(), platform.processor(), str(os.cpu_count()), str(config.current.threads)]
    return " / ".join(words)


@dataclass(frozen=True)
class _OperandSizes:
    """The sizes of the operands: sides of matrix products by dtype, and lengths."""

    product: Mapping[DType, Sequence[int]]
    gather: Sequence[int]
    scan: Sequence[int]
    sort: Sequence[int]
    transform: Sequence[int]


_LENGTHS: Final = (1 << 8, 1 << 12, 1 << 16, 1 << 20)
_ON_HOST: Final = _OperandSizes(
    {dtypes.float32: (16, 48, 128, 512, 2048), dtypes.float64: (16, 256, 1024)}, _LENGTHS, _LENGTHS, _LENGTHS, _LENGTHS
)
#: Few sizes that need different kernels, because each kernel takes at least a tenth of a second to compile.
_ON_DEVICE: Final = _OperandSizes(
    {dtypes.float32: (16, 128, 2048), dtypes.float64: (256, 1024)},
    (1 << 8, 1 << 12, 1 << 17, 1 << 22),
    (1 << 17, 1 << 22),
    (1 << 8, 1 << 17, 1 << 22),
    (1 << 10, 1 << 20),
)


class _Bench(Timer):
    """Measures the rates of one provider."""

    def __init__(self, provider: Provider, progress: Progress) -> None:
        super().__init__(provider)
        self.progress = progress
        self.is_host = places.is_host(provider)
        sizes = _ON_HOST if self.is_host else _ON_DEVICE
        known = provider.capabilities.dtypes
        self.sizes = replace(sizes, product={dtype: of for dtype, of in sizes.product.items() if dtype in known})

    def rates(self) -> Rates:
        """Measure everything."""
        self.progress("launches")
        once, read = self._once()  # while the device is idle, as it is in programs with little work
        self._warm_up()
        if self.is_host:
            known = self._of_host()
        else:
            launch = self._launch()
            known = Rates(launch=launch, operation=self._operation(launch))
        self.progress("memory")
        traffic = self._traffic(known)
        self.progress("matrix products")
        product = {
            dtype.name: self._curve(sides, partial(self._product, dtype), lambda side: 2 * side**3, known.launch)
            for dtype, sides in self.sizes.product.items()
        }
        self.progress("gathers, scans, sorts and transforms")
        again, _ = self._once()  # the larger of both is used, so that small work stays where it is
        return replace(
            known,
            use=max(0.0, max(once, again) - known.launch),
            fetch=max(0.0, read - once),
            traffic=traffic,
            product=product,
            work={
                work.value: self._curve(sizes, make, operations, known.launch)
                for work, sizes, make, operations in (
                    (Work.GATHER, self.sizes.gather, self._gathered, float),
                    (Work.SCAN, self.sizes.scan, self._scanned, float),
                    (Work.SORT, self.sizes.sort, self._sorted, partial(_operations, calls.sort)),
                    (Work.TRANSFORM, self.sizes.transform, self._transformed, partial(_operations, calls.fft)),
                )
            },
            upload=() if self.is_host else self._uploads(again),
            download=() if self.is_host else self._transfers(self.provider.read),
            spread_of_times=statistics.median(self.spreads),
        )

    def _of_host(self) -> Rates:
        """Return the rates of loops on the host."""
        one, ten = (self.time(self.chain(elementwise.negative, length, SMALL)) for length in (1, 10))
        call = max(0.0, (ten - one) / 9)
        known = Rates(launch=max(0.0, one - call), call=call)
        self.progress("NumPy's functions")
        rows = self._rows()
        named = [(OPS[key.partition(":")[0]], time) for key, time in rows.items() if key.endswith("float32")]
        unit = statistics.median(time / op.cost for op, time in named if isinstance(op, MapOp))
        known = replace(known, rows=rows, operation={"32": unit, "64": 2 * unit}, folds=self._folds(known.launch))
        self.progress("threads")
        return self._threads(known)

    def _warm_up(self) -> None:
        """Compile the kernels in parallel while the device is busy, and wait until its clock is up."""
        if self.provider.capabilities.kind == "CPU":
            return
        self.progress("kernels")
        sizes = self.sizes
        nodes = [self._product(dtype, side) for dtype, sides in sizes.product.items() for side in sides]
        nodes += [self._gathered(sizes.gather[0]), self._scanned(sizes.scan[0]), *map(self._sorted, sizes.sort[:2])]
        nodes += [*map(self._transformed, sizes.transform), self.chain(elementwise.exp, 4, SMALL, dtypes.float64)]
        tasks: list[Task] = []
        for node in nodes:
            with suppress(GpuArrayError):  # no kernel: nothing to compile
                tasks += self.tasks(node)
        busy = self.busy()
        each = elapsed(lambda: self.run(busy, 4)) / 4
        self.provider.run(busy * int(_BUSY / max(each, 1)))
        with suppress(GpuArrayError):  # the measurement raises it again
            self.run(tasks, 1)  # compiles their kernels in parallel
        self.awaken()

    # -- operands and operations ---------------------------------------------------------------------------------------

    def _copied(self, size: int) -> Node:
        return self.chain(elementwise.negative, 1, size)

    def _product(self, dtype: DType, size: int) -> Node:
        return build.contract(self.leaf((1, size, size), dtype), self.leaf((1, size, size), dtype))

    def _gathered(self, size: int) -> Node:
        places = np.resize(self.random, size) * size
        return build.gather(self.leaf(size, dtypes.float32), host_leaf(places.astype(np.int64)))

    def _folded(self, op: ReduceOp, size: int) -> Node:
        return build.reduce(op, self.leaf(size, dtypes.float32))

    def _scanned(self, size: int) -> Node:
        return build.scan(reductions.sum, self.leaf(size, dtypes.float32), 0)

    def _sorted(self, size: int) -> Node:
        return build.call_one(calls.sort, (self.leaf(size, dtypes.float32),), (size,), dtypes.float32, descending=False)

    def _transformed(self, size: int) -> Node:
        operand = self.leaf((1, size), dtypes.complex64)
        return build.call_one(
            calls.fft, (operand,), (1, size), dtypes.complex64, n=size, inverse=False, norm="backward"
        )

    def _rows(self) -> dict[str, float]:
        """Return the nanoseconds per element of NumPy's own functions, in one thread."""
        rows: dict[str, float] = {}
        known = [op for op in OPS.values() if isinstance(op, MapOp) and not is_formula(op)]
        for dtype in (dtypes.float32, dtypes.float64, dtypes.int64):
            sample = (self.random[:TILE] + 0.5).astype(dtype) + (dtype.kind == "i")
            with np.errstate(all="ignore"):
                times = {operation_key(op.name, dtype): host_time(op, sample) for op in known}
            rows |= {key: time for key, time in times.items() if time is not None}
        return rows

    def _operation(self, launch: float) -> dict[str, float]:
        """Return the time of a simple operation on a device by width."""
        rates = {}
        for width, dtype, length in (("32", dtypes.float32, 8), ("64", dtypes.float64, 4)):
            if dtype in self.provider.capabilities.dtypes:
                make = partial(self.chain, elementwise.exp, length, dtype=dtype)
                curve = self._curve((1 << 18, MANY), make, partial(mul, length * elementwise.exp.cost), launch)
                if curve:
                    operations, time = curve[-1]
                    rates[width] = max(time - launch, 1.0) / operations
        return rates

    def _folds(self, launch: float) -> dict[str, Curve]:
        """Return the curves of float32 reductions on the host."""
        known = [op for op in OPS.values() if isinstance(op, ReduceOp) and "f" in op.identity]
        sizes = (SMALL, 1 << 10, 1 << 16)
        return {op.name: self._curve(sizes, partial(self._folded, op), float, launch) for op in known}

    def _threads(self, known: Rates) -> Rates:
        """Return the rates with the gain of threads, which is measured with short and with long calls of NumPy."""
        host = places.host()
        soon, late = (
            self.chain(elementwise.negative, 8, 1 << 19), self.chain(elementwise.sin, 8, 1 << 19, dtypes.float64)
        )  # fmt: skip
        chunks = host.chunks(self._steps(soon)[0])
        # the first runs wake the threads
        handoff = (min(self.time(soon) for _ in range(3)) - known.launch) / (8 * chunks)
        alone = sum(known.step(step) for step in self._steps(late)) - known.launch
        gained = alone / max(1.0, self.time(late) - known.launch)
        return replace(known, speedup=min(max(1.0, gained), float(os.cpu_count() or 1)), handoff=max(0.0, handoff))

    def _traffic(self, known: Rates) -> Curve:
        """Return the curve of memory traffic; on the host the rest of a loop's time after its arithmetic."""
        points = []
        for size in (1 << 12, 1 << 15, 1 << 17, 1 << 18, 1 << 21, 1 << 23):
            node = self._copied(size)
            time = self._beyond(known, node) if self.is_host else self.time(node)
            points.append((8.0 * size, time))
            if time > LONG:
                break
        if not self.is_host and time <= LONG:
            with suppress(GpuArrayError):  # not enough memory: the curve ends before
                points.append(self.large_copy())
        return risen(points, are_rests=self.is_host)

    def _beyond(self, known: Rates, node: Node) -> float:
        """Return the measured time of a node on the host minus its estimate."""
        host = places.host()
        return max(0.0, self.time(node) - sum(known.step(s, chunks=host.chunks(s)) for s in self._steps(node)))

    def _steps(self, node: Node) -> list[Step]:
        planned = plans.plan_of((node,), self.provider.device)
        return [] if planned is None else [step.planned.step for step in planned[0].pinned.steps]

    # -- measurements --------------------------------------------------------------------------------------------------

    def _curve(
        self, sizes: Sequence[int], make: Callable[[int], Node], amount: Callable[[int], float], launch: float
    ) -> Curve:
        """Return the curve of the times of ``make(size)`` over ``amount(size)``.

        On the host the time of a launch is subtracted; a device prepares the next launch while it computes. A time out
        of proportion is measured again. So are short times on the host, at the end, because BLAS wakes its threads at
        any time.
        """
        beyond = launch if self.is_host else 0.0

        def timed(size: int) -> float:
            return max(0.0, self.time(make(size)) - beyond)

        points: list[tuple[float, float]] = []
        for size in sizes:
            count = float(amount(size))
            share = points[-1][1] * count / points[-1][0] if points else float("inf")
            if points and share > _TOO_LONG:
                break
            try:
                time = timed(size)
                if time > _ODD * share:
                    time = min(time, timed(size))
            except GpuArrayError:  # not enough memory, or no kernel: the curve ends before
                break
            points.append((count, time))
            if time > LONG:
                break
        if self.is_host:
            for number, (size, (count, time)) in enumerate(zip(sizes, points, strict=False)):
                if time < _BRIEF:
                    points[number] = count, min(time, timed(size))
        return risen(points)

    def _once(self) -> tuple[float, float]:
        """Return the time of one launch with a wait for its end, and with a read of its result."""
        tasks = self.tasks(self._copied(SMALL))
        result = Leaf((SMALL,), dtypes.float32)
        residency.hold(result, self.provider, tasks[0].outputs[0])

        def read() -> None:
            self.provider.run(tasks, tasks[0].outputs[0])
            residency.host_values(result)

        runs = (partial(self.run, tasks, 1), read)
        times = [[elapsed(run) for run in runs] for _ in range(_OFTEN)]
        return typical([first for first, _ in times[1:]]), typical([second for _, second in times[1:]])

    def _launch(self) -> float:
        """Return the time of each further launch in a submission."""
        tasks = self.tasks(self._copied(SMALL))
        few, many = (self.median(partial(self.run, tasks, times)) for times in (8, 40))
        return max(0.0, (many - few) / 32)

    def _uploads(self, run: float) -> Curve:
        """Return the time that uploads add to a run that follows them."""
        tasks = self.tasks(self._copied(SMALL))

        def uploaded(buffer: Any, array: Any) -> None:
            self.provider.write(buffer, array)
            self.run(tasks, 1)

        return [(nbytes, max(0.0, time - run)) for nbytes, time in self._transfers(uploaded)]

    def _transfers(self, move: Callable[[Any, Any], None]) -> Curve:
        self.progress("transfers")
        points = []
        for size in (64, 1 << 14, 1 << 18, 1 << 22, 1 << 25):
            array = np.ones(size, np.uint8)
            buffer = self.provider.allocate(size)
            time = self.median(partial(move, buffer, array))
            points.append((float(size), time))
            if time > LONG:
                break
        return risen(points)


def _operations(op: CallOp, size: int) -> float:
    """Return the number of operations of a call on an array of ``size`` elements."""
    return float(op.cost(((size,),), ((size,),)))
