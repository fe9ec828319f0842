"""The in-process provider: runs steps with NumPy, in the memory and on the threads of this process.

It is the fallback where there is no GPU or a step cannot run there, and the oracle that tests compare kernels with:
every operation is computed by its NumPy reference, or by a faster composition of NumPy calls. Steps run
at once, so there is nothing to wait for. The registry of providers makes one provider for the device ``cpu``; tests
make limited ones through ``capabilities``.
"""

import os
import platform
from collections.abc import Mapping, Sequence
from time import perf_counter_ns
from typing import Any, Final, NamedTuple, TypeAlias, assert_never
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from gpuarray import observers
from gpuarray.adapter_profile import AdapterProfile
from gpuarray.device import Capabilities, Device
from gpuarray.dtypes import ALL, DType
from gpuarray.errors import DeviceError
from gpuarray.fusion.steps import CallStep, ContractStep, CopyStep, Fold, Loop, ScanStep, ScatterStep, Step
from gpuarray.providers.base import Kernel, Task
from gpuarray.providers.inprocess import tiles
from gpuarray.providers.inprocess.buffers import HostBuffer, Memory, MemoryCache
from gpuarray.providers.inprocess.calls import PreparedCall, PreparedContract, PreparedCopy, PreparedScatter
from gpuarray.providers.inprocess.loops import ROW_LIMIT, PreparedLoop
from gpuarray.providers.inprocess.scans import PreparedScan
from gpuarray.providers.inprocess.workers import WorkerPool

#: Copies of fewer bytes are not reported: reporting one takes as long as the copy.
_UNREPORTED: Final = 1 << 14

Prepared: TypeAlias = PreparedLoop | PreparedScan | PreparedContract | PreparedCall | PreparedCopy | PreparedScatter


def default_capabilities() -> Capabilities:
    """Return the capabilities of this process."""
    return Capabilities(
        adapter=platform.processor() or platform.machine() or "CPU",
        backend="in-process",
        kind="CPU",
        driver=f"NumPy {np.__version__}",
        profile=AdapterProfile(
            recompute_limit=6,
            launch_operations=1 << 15,
            row_limit=ROW_LIMIT,
            parallel_rows=1,
            narrow_product=0,
            selects_boxes=False,
        ),
    )


class _Observed(NamedTuple):
    """Runs of steps while observers were active: prepared step, tag, begin and end of each; and the bytes of buffers.

    One flat list: the collector of cycles would look at a million small ones.
    """

    ran: list[Any]
    moved: dict[Prepared, tuple[int, int]]


class InProcessProvider:
    """Runs steps with NumPy.

    Parameters
    ----------
    device : Device
        The device that this provider serves.
    capabilities : Capabilities, optional
        The capabilities to report instead of those of this process; steps that need more are refused.
    threads : int, optional
        How many threads compute; 0 is one a core, and None follows ``config.threads``.
    """

    def __init__(self, device: Device, *, capabilities: Capabilities | None = None, threads: int | None = None) -> None:
        self.device = device
        self.capabilities = default_capabilities() if capabilities is None else capabilities
        self.workers = WorkerPool(threads)
        self.pool = MemoryCache()
        self.alive = True
        """Whether the device can be used."""
        self._observed = _Observed([], {})
        self._events = {"launches": 0, "compiles": 0, "bytes_uploaded": 0, "bytes_downloaded": 0}
        _providers.add(self)

    # ---- memory

    def allocate(self, nbytes: int) -> HostBuffer:
        """Return a buffer of at least ``nbytes`` bytes with undefined contents."""
        self._check_open()
        return self.pool.allocate(nbytes)

    def allocate_all(self, sizes: Sequence[int]) -> list[HostBuffer]:
        """Return a buffer as :meth:`allocate` does for each of some sizes."""
        self._check_open()
        return [*map(self.pool.allocate, sizes)]

    def write(self, buffer: HostBuffer, array: npt.NDArray[Any]) -> None:
        """Copy a C-contiguous host array to the start of ``buffer``."""
        self._check_open()
        data = _flat(array)
        start = perf_counter_ns() if data.size > _UNREPORTED and observers.active else 0
        self.workers.copy(buffer.memory[: data.size], data)
        if start:
            observers.span(observers.UPLOAD, self.device.name, start, perf_counter_ns(), data.size)
        self._events["bytes_uploaded"] += data.size

    def read(self, buffer: HostBuffer, array: npt.NDArray[Any]) -> None:
        """Copy the start of ``buffer`` into a C-contiguous host array."""
        self._check_open()
        data = _flat(array)
        start = perf_counter_ns() if data.size > _UNREPORTED and observers.active else 0
        self.workers.copy(data, buffer.memory[: data.size])
        if start:
            observers.span(observers.DOWNLOAD, self.device.name, start, perf_counter_ns(), data.size)
        self._events["bytes_downloaded"] += data.size

    def export(self, buffer: HostBuffer) -> Memory:
        """Return the memory of ``buffer`` as a flat array of bytes; views of it stay valid after the buffer's end."""
        return buffer.export()

    def memory_of(self, buffer: HostBuffer) -> Memory:
        """Return the memory of ``buffer`` to be read at once; unlike that of ``export``, it is reused."""
        return buffer.memory

    def adopt(self, handle: npt.NDArray[Any], nbytes: int) -> HostBuffer:
        """Return a buffer over the memory of a C-contiguous array, which stays the array's."""
        self._check_open()
        return self.pool.adopt(handle, nbytes)

    # ---- steps

    def supports(self, step: Step) -> str | None:
        """Return None if ``step`` can run here, else the reason why not."""
        limits = self.capabilities
        if len(limits.dtypes) < len(ALL):
            missing = sorted((_dtypes_of(step) - limits.dtypes), key=lambda dtype: dtype.num)
            if missing:
                return f"{missing[0].name} is not supported by this device"
        bound = 0 if isinstance(step, CallStep) else len(step.input_dtypes) + len(step.output_dtypes)
        if bound > limits.storage_bindings:
            return f"it binds {bound} buffers and this device {limits.storage_bindings} at most"
        return None

    def prepare(self, step: Step) -> Prepared:
        """Return ``step`` compiled for :meth:`run`."""
        match step:
            case Loop():
                return PreparedLoop(step)
            case ScanStep():
                return PreparedScan(step)
            case ContractStep():
                return PreparedContract(step)
            case CallStep():
                return PreparedCall(step)
            case CopyStep():
                return PreparedCopy(step)
            case ScatterStep():
                return PreparedScatter(step)
            case _:
                assert_never(step)

    @np.errstate(all="ignore")  # as a decorator it makes no object at each call
    def run(self, tasks: Sequence[Task], wanted: HostBuffer | None = None) -> None:
        """Run tasks in order; they are done on return."""
        self._check_open()
        workers = self.workers
        observed = self._observed if observers.active and not observers.is_sampled_out() else None
        stop = 0 if observed is None else perf_counter_ns()
        for task in tasks:
            inputs = [buffer.memory for buffer in task.inputs]
            outputs = [buffer.memory for buffer in task.outputs]
            prepared = task.prepared
            if isinstance(prepared, PreparedCall):
                for buffer, memory in zip(
                    task.outputs, prepared.run(inputs, outputs, task.scalars, workers), strict=False
                ):
                    if not buffer.take(memory):
                        workers.copy(buffer.memory[: memory.nbytes], memory)
            else:
                prepared.run(inputs, outputs, task.scalars, workers)
            if observed is not None:
                start, stop = stop, perf_counter_ns()
                if prepared not in observed.moved:
                    observed.moved[prepared] = _nbytes(task.inputs), _nbytes(task.outputs)
                observed.ran.extend((prepared, task.tag, start, stop))
        self._events["launches"] += len(tasks)

    def synchronize(self) -> None:
        """Return at once: what runs here is done when :meth:`run` returns."""
        self._check_open()

    def describe(self, prepared: Prepared) -> list[Kernel]:
        """Return the text of a prepared step, the calls of NumPy functions that it makes, as one kernel."""
        return [Kernel("", 1, prepared.describe())]

    def launch_count(self, prepared: Prepared) -> int:
        """Return 1."""
        return 1

    def chunks(self, step: Step) -> int:
        """Return into about how many chunks a step's loops are cut, for threads to share; 1 if one thread computes."""
        return max([1, *(-(-loop.rows * loop.columns // tiles.elements(loop)) for loop in step.loops)])

    # ---- the provider itself

    def stats(self) -> Mapping[str, int]:
        """Return counters of events and gauges of memory."""
        return {**self._events, **self.pool.stats()}

    def reset_stats(self) -> None:
        """Set the counters of events to zero, and the peak to the memory in use now."""
        for name in self._events:
            self._events[name] = 0
        self.restart_peak()

    def restart_peak(self) -> None:
        """Count the peak of memory anew, from the memory in use now."""
        self.pool.restart_peak()

    def collect(self) -> None:
        """Report the launches since the last call to the observers of :mod:`gpuarray.observers`."""
        observed, self._observed = self._observed, _Observed([], {})
        name = self.device.name
        launches = [
            observers.CompletedLaunch(name, _kind(prepared), tag, 0, observed.moved[prepared], start, stop, False)
            for prepared, tag, start, stop in zip(*[iter(observed.ran)] * 4, strict=True)
        ]
        if launches:
            observers.launches_done(launches)

    def trim(self) -> None:
        """Give pooled memory back to the operating system."""
        self.pool.trim()

    def close(self) -> None:
        """Let unused memory go; later calls raise DeviceError."""
        self.alive = False
        self.workers.close()
        self.pool.trim()

    def after_fork(self) -> None:
        """Make the provider usable in a child process, which has the memory."""
        self.pool.after_fork()

    def _check_open(self) -> None:
        if not self.alive:
            raise DeviceError(f"device {self.device.name!r} was closed; open it again by making a new array on it")


def _nbytes(buffers: Sequence[HostBuffer]) -> int:
    return sum(buffer.nbytes for buffer in buffers)


def _kind(prepared: Prepared) -> str:
    """Return the name of a kind of step for people."""
    return type(prepared).__name__.removeprefix("Prepared").lower()


def _flat(array: npt.NDArray[Any]) -> Memory:
    if not array.flags.c_contiguous:
        raise ValueError("buffers are copied from and to C-contiguous arrays; use numpy.ascontiguousarray")
    return array.reshape(-1).view(np.uint8)


def _dtypes_of(step: Step) -> set[DType]:
    """Return every dtype that computing ``step`` needs."""
    used = {*step.input_dtypes, *step.output_dtypes}
    match step:
        case Loop():
            for item in step.instructions:
                used.add(item.dtype)
                if isinstance(item, Fold):
                    used |= {item.source, item.op.accumulate(item.source)}
            used |= {store.dtype for store in step.stores}
        case ScanStep():
            used.add(step.op.accumulate(step.source))
        case ContractStep():
            used.add(step.dtype)
            for loop in step.loops:
                used |= _dtypes_of(loop)
        case CallStep() | CopyStep() | ScatterStep():
            pass
        case _:
            assert_never(step)
    return used


_providers: "WeakSet[InProcessProvider]" = WeakSet()


def _after_fork() -> None:
    for provider in list(_providers):
        provider.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
