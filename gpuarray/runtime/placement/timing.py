"""Timing: how long nodes and tasks take at a provider.

Every time is the median of the faster half of several runs, with a wait after each. Other work of the machine makes a
time longer, never shorter. Each kernel runs once before it is timed.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.errors import GpuArrayError
from gpuarray.graph import build
from gpuarray.graph.nodes import Generate, Leaf, Node, Scatter, View, host_leaf
from gpuarray.ops import elementwise
from gpuarray.ops.spec import MapOp
from gpuarray.providers.base import Provider, Task
from gpuarray.runtime import plans
from gpuarray.runtime.placement import residency

#: A measurement that takes longer than this, in nanoseconds, is the last one of its curve.
LONG: Final = 8_000_000
#: Each measurement has at least ``_LEAST`` runs, and at most ``_REPEATS`` within ``_ENOUGH`` nanoseconds.
_LEAST: Final = 2
_REPEATS: Final = 9
_ENOUGH: Final = 4_000_000
#: The number of elements of small operands.
SMALL: Final = 16
#: The number of elements for which the time of a launch is negligible on a device.
MANY: Final = 1 << 23
#: The number of different random numbers; larger operands repeat them.
_DIFFERENT: Final = 1 << 20
#: The clock of a device is up when runs have not become faster, by more than 1/30, for ``_STEADY`` nanoseconds.
_STEADY: Final = 250_000_000
#: The longest time to wait for that, in nanoseconds.
_AWAKENING: Final = 700_000_000
#: Bytes of the largest array that is copied: far more than a cache holds. Fewer on processors, where it takes long.
_LARGE: Final = 256 << 20
_LARGE_ON: Final = {"CPU": 32 << 20}

_fastest: Final[WeakKeyDictionary[Provider, float]] = WeakKeyDictionary()
_copy_rates: Final[WeakKeyDictionary[Provider, float]] = WeakKeyDictionary()


def time_of_tasks(provider: Provider, tasks: Sequence[Task]) -> float:
    """Return how long tasks take on a provider, in nanoseconds, when many run one after the other."""
    return Timer(provider).time_of_tasks(tasks)


def awaken(provider: Provider) -> None:
    """Keep a device busy until its clock is up: that of an idle device is lower, by a factor of six or more."""
    Timer(provider).awaken()


def copy_rate(provider: Provider) -> float:
    """Return the gigabytes per second, read and written, of a copy that is larger than the caches.

    The first call measures it, in less than a second; the process keeps the result.

    Raises
    ------
    DeviceMemoryError
        If there is not enough memory for the copy.
    """
    if provider not in _copy_rates:
        timer = Timer(provider)
        timer.awaken()
        nbytes, time = timer.large_copy()
        _copy_rates[provider] = nbytes / time
    return _copy_rates[provider]


class Timer:
    """Measures how long work takes at one provider.

    Parameters
    ----------
    provider : Provider
        The provider.

    Attributes
    ----------
    spreads : list of float
        For each measurement the longest time over the shortest.
    leaves : dict
        The operands, by shape and dtype; measurements share them.
    """

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.spreads: list[float] = []
        self.leaves: dict[Any, Leaf] = {}

    def time(self, node: Node) -> float:
        """Return how long evaluating a node takes when many run one after the other."""
        return self.time_of_tasks(self.tasks(node))

    def time_of_tasks(self, tasks: Sequence[Task]) -> float:
        """Return how long tasks take when many run one after the other."""
        first = self.median(lambda: self.run(tasks, 1))
        more = min(16, int(LONG / 8 / max(first, 1)))
        if more < 2:
            return first
        many = self.median(lambda: self.run(tasks, 1 + more))
        return max(many - first, many / 4) / more  # the difference excludes the wait: each measurement has one

    def run(self, tasks: Sequence[Task], times: int) -> None:
        """Run tasks in one submission, and wait."""
        self.provider.run([*tasks] * times)
        self.provider.synchronize()

    def median(self, run: Callable[[], object]) -> float:
        """Return the typical time of a call in nanoseconds, after one call that is not timed."""
        times = _times(run)
        self.spreads.append(max(times) / max(min(times), 1))
        return typical(times)

    def tasks(self, node: Node) -> list[Task]:
        """Return the tasks that compute a node, with new buffers."""
        planned = plans.plan_of((node,), self.provider.device)
        assert planned is not None
        prepared, walked, provider = planned
        order = prepared.order(walked)
        if any(step.decision.is_fallback for step in prepared.pinned.steps):
            raise GpuArrayError("the device has no kernel for an operation")
        buffers: dict[int, Any] = {}
        tasks = []
        for step in prepared.pinned.steps:
            for position in step.planned.inputs:
                source = order[position]
                if position not in buffers:
                    assert isinstance(source, Leaf)
                    buffers[position] = residency.resident(source, provider)
            for position in step.planned.outputs:
                size, dtype = prepared.plan.sizes[position]
                buffers[position] = provider.allocate(size * dtype.itemsize)
            scalars = []
            for position, number in step.planned.scalars:
                source = order[position]
                assert isinstance(source, Generate | View | Scatter)
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

    def awaken(self) -> None:
        """Keep a device busy until runs become no faster, or are as fast as they were when its clock was up."""
        if self.provider.capabilities.kind == "CPU":
            return
        busy = self.busy()
        known = _fastest.get(self.provider, 0.0)
        least = known or float("inf")
        now = improved = since = time.perf_counter_ns()
        while True:
            took = elapsed(lambda: self.run(busy, 16))
            now = time.perf_counter_ns()
            if took < least * 29 / 30:
                least, improved = took, now
            if took < 1.1 * known or now - improved > _STEADY or now - since > _AWAKENING:
                break
        _fastest[self.provider] = least

    def busy(self) -> list[Task]:
        """Return tasks that take a device much longer than the host needs to submit them."""
        tasks = self.tasks(self.chain(elementwise.exp, 8, MANY))
        self.run(tasks, 1)
        return tasks

    def leaf(self, shape: int | tuple[int, ...], dtype: DType) -> Leaf:
        """Return random numbers between 0.5 and 1.5 of a shape and a dtype."""
        known = self.leaves.get((shape, dtype))
        if known is None:
            known = host_leaf((np.resize(self.random, shape) + np.float32(0.5)).astype(dtype))
            self.leaves[shape, dtype] = known
        return known

    @cached_property
    def random(self) -> npt.NDArray[Any]:
        """Random numbers for operands."""
        return np.random.default_rng(0).random(_DIFFERENT, np.float32)

    def chain(self, op: MapOp, length: int, size: int, dtype: DType = dtypes.float32) -> Node:
        """Return an elementwise operation applied ``length`` times, one after the other, to ``size`` elements."""
        node: Node = self.leaf(size, dtype)
        for _ in range(length):
            node = build.elementwise(op, node)
        return node

    def large_copy(self) -> tuple[float, float]:
        """Return the bytes and the time of a copy that is larger than the caches."""
        limits = self.provider.capabilities
        nbytes = min(_LARGE_ON.get(limits.kind, _LARGE), limits.binding_limit // 2) // 4 * 4
        leaf = Leaf((nbytes // 4,), dtypes.float32)
        residency.hold(leaf, self.provider, self.provider.allocate(nbytes))
        return 2.0 * nbytes, self.time(build.elementwise(elementwise.negative, leaf))


def _times(run: Callable[[], object], enough: int = _ENOUGH) -> list[int]:
    """Return the nanoseconds of several calls, after one that is not timed."""
    times: list[int] = []
    first = elapsed(run)
    while len(times) < _LEAST or (len(times) < _REPEATS and (sum(times) < enough or max(times) > 2 * min(times))):
        times.append(elapsed(run))
        if min(first, *times) > 4 * LONG:
            break
    return times


def elapsed(run: Callable[[], object]) -> int:
    """Return the nanoseconds that a call takes."""
    start = time.perf_counter_ns()
    run()
    return time.perf_counter_ns() - start


def typical(times: Sequence[int]) -> float:
    """Return the median of the faster half."""
    ordered = sorted(times)
    return float(statistics.median(ordered[: (len(ordered) + 1) // 2]))
