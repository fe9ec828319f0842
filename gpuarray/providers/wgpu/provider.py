"""The provider that runs steps on a GPU through wgpu.

Invariant: every call of the driver holds the lock of the provider (:mod:`.guard`), so any thread may use a provider.
The registry opens providers; the runtime uses them.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import wgpu

from gpuarray import dtypes, logs, observers
from gpuarray.codegen import emit
from gpuarray.codegen.programs import Program
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import DeviceError, DeviceMemoryError
from gpuarray.fusion.costs import cost
from gpuarray.fusion.steps import Step
from gpuarray.providers.base import Kernel, Task
from gpuarray.providers.wgpu import device as adapters
from gpuarray.providers.wgpu import driver as drivers
from gpuarray.providers.wgpu import selftest
from gpuarray.providers.wgpu.buffers import BufferPool, WgpuBuffer
from gpuarray.providers.wgpu.dispatch import Dispatcher
from gpuarray.providers.wgpu.flusher import BackgroundFlusher
from gpuarray.providers.wgpu.guard import Guarded
from gpuarray.providers.wgpu.launches import Prepared
from gpuarray.providers.wgpu.metrics import Counters
from gpuarray.providers.wgpu.native import open_driver
from gpuarray.providers.wgpu.pipelines import Pipelines
from gpuarray.providers.wgpu.transfer import SMALL_BYTES, Transfers, as_bytes
from gpuarray.providers.wgpu.warmup import WarmUp

#: Two milliseconds: in longer waits the time to wake the thread is negligible.
_AWAKE_NS: Final = 2_000_000


class WgpuProvider(Guarded):
    """Runs steps on one adapter.

    Parameters
    ----------
    number : int
        Which adapter, in the order of :func:`gpuarray.providers.wgpu.device.adapters`.
    device : Device, optional
        The name of the device, ``wgpu:N`` by default.
    without : collection of str
        Features of the adapter that must not be used, such as ``"shader-int64"``, to behave like adapters without them.
    portable : bool
        If True, use no optional feature, and only the minimum limits of WebGPU, which every adapter supports.

    Raises
    ------
    DeviceError
        If there is no adapter with this number, or it cannot be opened.
    """

    def __init__(
        self,
        number: int = 0,
        *,
        device: Device | None = None,
        without: Collection[str] = (),
        portable: bool = False,
    ) -> None:
        adapter = adapters.select(number)
        gpu_device = adapters.open_adapter(adapter, without, portable=portable)
        super().__init__(device or Device(f"wgpu:{number}"))
        self.capabilities = adapters.capabilities(adapter, gpu_device)
        self._counters = Counters()
        self._driver = open_driver(gpu_device)
        is_software = self.capabilities.kind == "CPU"
        if not is_software:
            self._driver.awake_ns = _AWAKE_NS
        self._pipelines = Pipelines(self._driver, self._counters, is_software=is_software)
        alignment = gpu_device.limits["min-uniform-buffer-offset-alignment"]
        self._dispatcher = Dispatcher(self._driver, self._pipelines, self._counters, alignment, self.device.name)
        self._pool = BufferPool(self._driver, self.capabilities.buffer_limit, self._dispatcher.drop_groups)
        self._dispatcher.pool = self._pool
        self._transfers = Transfers(self._driver, self._counters, self._dispatcher.flush)
        self._flusher = BackgroundFlusher(self._dispatcher, self._lock, self._using)
        self.facts = self._find_facts()
        if not self.facts.get(selftest.ROUNDED, True):
            self.capabilities = adapters.without_float64(self.capabilities)
        if not self.facts[selftest.SUBNORMAL]:
            self.capabilities = adapters.without_subnormals(self.capabilities)
        if adapters.has_steady_subgroups(adapter, gpu_device):
            size = selftest.recorded_subgroup_size(self._run_once, self._driver_name())
            self.capabilities = replace(self.capabilities, subgroup_size=size)
        if config.current.autotune != "off":
            profile = self.capabilities.profile.recorded(self.capabilities.driver_name)
            self.capabilities = replace(self.capabilities, profile=profile)
        self._pipelines.constants = self.facts
        self._pipelines.forget()  # the kernels of the self-test are not needed again
        self._transfers.clear()  # nor are its buffers
        self._pool.trim()
        self._counters.reset()
        self._warm_up = None
        if config.current.warm_up:
            self._pipelines.is_warmed = True
            self._warm_up = WarmUp(self._pipelines, self._driver_name(), self._lock, self._using)
        logs.log(logs.DEVICES, "opened %s: %s, %s", self.device.name, adapter.name, self.capabilities.driver)

    def _find_facts(self) -> Mapping[str, bool]:
        """Return the result of the self-test for this driver, from the record of its first run if there is one."""
        double = dtypes.float64 in self.capabilities.dtypes
        return selftest.recorded_facts(self._run_once, self._driver_name(), float64=double)

    def _driver_name(self) -> str:
        capabilities = self.capabilities
        return f"{capabilities.adapter} {capabilities.backend} {capabilities.driver} wgpu {wgpu.__version__}"

    def _run_once(self, program: Program, values: npt.NDArray[Any], results: npt.NDArray[Any]) -> None:
        """Run a program with one input and one output, from host memory to host memory."""
        source, target = self.allocate(values.nbytes), self.allocate(results.nbytes)
        self.write(source, values)
        self.run([Task(self.prepare_program(program), (source,), (target,), ())])
        self.read(target, results)
        source.release()
        target.release()

    def __repr__(self) -> str:
        return f"<WgpuProvider {self.device} on {self.capabilities.adapter}{', dead' if self._dead else ''}>"

    def allocate(self, nbytes: int) -> WgpuBuffer:
        """Return a buffer of at least ``nbytes`` bytes with undefined contents.

        Raises
        ------
        DeviceMemoryError
            If the memory of the device, or ``config.memory_limit``, is exhausted even after unused memory is released.
        """
        return self.allocate_all((nbytes,))[0]

    def allocate_all(self, sizes: Sequence[int]) -> list[WgpuBuffer]:
        """Return a buffer as :meth:`allocate` does for each of some sizes; none is kept if there is no room for all."""
        if len(sizes) == len(self._pool.returned) == 1 and (buffer := self._pool.reuse(sizes[0])) is not None:
            return [buffer]
        # the same as _using, but without its calls, because each evaluation allocates
        with self._entered(), self._lock:
            if self._dead:
                raise DeviceError(self._dead)
            try:
                return [*map(self._pool.allocate, sizes)]
            except wgpu.GPUError as error:
                raise self._translated(error, "an allocation") from error
            except KeyboardInterrupt:
                self._pool.audit()
                raise

    def write(self, buffer: WgpuBuffer, array: npt.NDArray[Any]) -> None:
        """Copy a C-contiguous host array to the start of ``buffer``; the array may be changed afterwards."""
        with self._entered(), self._lock, self._using("an upload"):
            self._check_size(buffer, array)
            start = perf_counter_ns() if observers.active else 0
            self._transfers.forget()
            self._transfers.upload(buffer.storage(self._pool).gpu, array)
            if start:
                observers.span(observers.UPLOAD, self.device.name, start, perf_counter_ns(), array.nbytes)

    def read(self, buffer: WgpuBuffer, array: npt.NDArray[Any]) -> None:
        """Wait for the enqueued work and copy the start of ``buffer`` into a C-contiguous host array."""
        with self._entered(), self._lock, self._using("a download"):
            self._check_size(buffer, array)
            start, phase = 0, observers.WAIT
            if observers.active:
                start = perf_counter_ns()
                if array.nbytes > SMALL_BYTES:  # a small copy takes as long as the kernels before it
                    start, phase = self._observed_wait(), observers.DOWNLOAD
            data = as_bytes(array)
            staging = self._transfers.start_download(buffer.storage(self._pool).gpu, data)
            is_there = staging is None or self._driver.is_mapped(staging)
            if is_there:
                self._finish_read(staging, data, phase, start)
        if not is_there:
            assert staging is not None
            self._end_read(staging, data, phase, start)

    def read_words(self, buffers: Sequence[WgpuBuffer]) -> Callable[[], npt.NDArray[np.uint32]]:
        """Start to copy the first four bytes of some buffers, one submission for all.

        The function that is returned waits for them, and returns a number for each buffer.
        """
        with self._entered(), self._lock, self._using("a download"):
            staging = self._transfers.start_download_of_words([b.storage(self._pool).gpu for b in buffers])

        def words() -> npt.NDArray[np.uint32]:
            array = np.empty(len(buffers), np.uint32)
            self._end_read(staging, as_bytes(array), observers.WAIT, 0)
            return array

        return words

    def _end_read(self, staging: drivers.Staging, data: drivers.Bytes, phase: str, start: int) -> None:
        """Wait for a copy that was started, and take it."""
        failure = self._await(staging)
        with self._entered(), self._lock, self._using("a download"):
            if failure is not None:
                raise failure
            self._finish_read(staging, data, phase, start)

    def _finish_read(self, staging: drivers.Staging | None, data: drivers.Bytes, phase: str, start: int) -> None:
        """Copy what :meth:`read` was waiting for, if it was; the lock is held."""
        if staging is not None:
            self._transfers.finish_download(staging, data)
        self._dispatcher.waited()
        if start:
            observers.span(phase, self.device.name, start, perf_counter_ns(), data.size)

    def _await(self, staging: drivers.Staging) -> wgpu.GPUError | None:
        """Wait for a mapping without the lock, so that other threads and signal handlers can use the device."""
        try:
            self._driver.await_mapping(staging)
        except wgpu.GPUError as error:
            return error
        return None

    def _observed_wait(self) -> int:
        """Wait for the kernels and report it, so that the time of a copy excludes them; return the time."""
        start = perf_counter_ns()
        self._dispatcher.flush()
        self._driver.wait()
        stop = perf_counter_ns()
        observers.span(observers.WAIT, self.device.name, start, stop)
        return stop

    def _check_size(self, buffer: WgpuBuffer, array: npt.NDArray[Any]) -> None:
        if array.nbytes > buffer.nbytes:
            raise ValueError(f"an array of {array.nbytes:,} bytes does not fit a buffer of {buffer.nbytes:,} bytes")

    def supports(self, step: Step) -> str | None:
        """Return None if ``step`` can run here, else a short reason."""
        return emit.unsupported(step, self.capabilities)

    def translate(self, step: Step) -> Program:
        """Return the program of a step, whose sizes may vary."""
        settings = config.current
        fast, gradual = settings.math == "fast", settings.subnormals == "keep"
        return emit.emit(step, self.capabilities, fast=fast, gradual=gradual)

    def prepare(self, step: Step, translated: Program | None = None) -> Prepared:
        """Return ``step`` prepared for :meth:`run`; the plan keeps it and runs it many times."""
        costs = cost(step)
        return self._dispatcher.prepare(
            self.translate(step) if translated is None else translated,
            max(costs.operations, self.capabilities.profile.byte_operations * costs.nbytes),
        )

    def prepare_program(self, program: Program) -> Prepared:
        """Return a program prepared for :meth:`run`; its kernels are compiled at the first run."""
        return self._dispatcher.prepare(program)

    def compile_ahead(self, steps: Sequence[Prepared]) -> int:
        """Begin to compile the kernels of prepared steps on other threads; return how many are not compiled yet."""
        with self._entered(), self._lock, self._using("a compilation"):
            return self._dispatcher.compile_ahead(steps)

    def run(self, tasks: Sequence[Task], wanted: WgpuBuffer | None = None, key: tuple[int, ...] = ()) -> None:
        """Enqueue tasks in order; each reads the results of earlier ones.

        The buffer ``wanted`` is read next. If it is small, the same submit copies it to the host. With a ``key``,
        :meth:`repeat` can run the tasks again.
        """
        # the same as _using, but without its calls, because each evaluation runs
        with self._entered(), self._lock:
            if self._dead:
                raise DeviceError(self._dead)
            try:
                expected = self._transfers.expected
                if expected is not None and (wanted is not None or self._writes(tasks, expected.copies[0].source)):
                    self._transfers.forget()
                if wanted is None:
                    self._dispatcher.run(tasks, None, key)
                    self._watch()
                else:
                    self._fetching(wanted, lambda download: self._dispatcher.run(tasks, download, key))
            except wgpu.GPUError as error:
                raise self._translated(error, "a launch") from error

    def repeat(self, key: tuple[int, ...], scalars: list[Any], wanted: WgpuBuffer | None = None) -> bool:
        """Run the tasks again that :meth:`run` was given with a key; return False if it must be called instead.

        The scalars are those of all tasks, in order. The key contains the serial numbers of all buffers.
        """
        with self._entered(), self._lock:
            if self._dead:
                raise DeviceError(self._dead)
            if self._transfers.expected is not None:  # the tasks may write to its source
                return False
            try:
                if wanted is not None:
                    return self._fetching(wanted, lambda download: self._dispatcher.repeat(key, scalars, download))
                is_known = self._dispatcher.repeat(key, scalars)
                self._watch()
                return is_known
            except wgpu.GPUError as error:
                raise self._translated(error, "a launch") from error

    def _watch(self) -> None:
        """Start the background flusher if runs are left open."""
        if self._dispatcher.is_open and not self._flusher.is_running:
            self._flusher.start()

    def _writes(self, tasks: Sequence[Task], gpu: Any) -> bool:
        return any(buffer.storage(self._pool).gpu is gpu for task in tasks for buffer in task.outputs)

    def _fetching(self, wanted: WgpuBuffer, run: Callable[[drivers.Download | None], bool | None]) -> bool:
        """Run tasks with a copy of a small buffer to the host; return False if ``run`` does, which ran nothing."""
        download = self._transfers.small_download(wanted.storage(self._pool).gpu, wanted.nbytes)
        try:
            is_run = run(download) is not False
        except DeviceMemoryError:  # nothing was submitted
            if download is not None:
                self._transfers.keep(download.staging)
            raise
        except BaseException:
            self._transfers.clear()
            raise
        if is_run:
            self._transfers.expected = download
        elif download is not None:
            self._transfers.keep(download.staging)
        return is_run

    def synchronize(self) -> None:
        """Wait until all enqueued work is done; raise the error of the device if there was one."""
        start = perf_counter_ns() if observers.active else 0
        with self._entered(), self._lock, self._using("a wait"):
            self._dispatcher.flush()
            mark = self._driver.start_wait()
        failure = self._await(mark)
        with self._entered(), self._lock, self._using("a wait"):
            if failure is not None:
                raise failure
            self._driver.finish_wait(mark)
            if start:
                observers.span(observers.WAIT, self.device.name, start, perf_counter_ns())
            self._dispatcher.waited()
            self._pool.reap()

    def collect(self) -> None:
        """Report the launches since the last call to the observers of :mod:`gpuarray.observers`, once they have run."""
        with self._entered(), self._lock, self._using("a measurement"):
            self._dispatcher.flush()
            self._dispatcher.collect()

    def stats(self) -> Mapping[str, int]:
        """Return counters of events, and gauges of memory in bytes and buffers."""
        with self._lock:
            self._pool.reap()
            return {
                **self._counters.as_dict(),
                "bytes_live": self._pool.live_bytes,
                "bytes_pooled": self._pool.pooled_bytes,
                "peak_bytes": self._pool.peak_bytes,
                "buffers_live": self._pool.live_count,
                "kernels": self._pipelines.count,
            }

    def reset_stats(self) -> None:
        """Set the counters of events to zero, and the peak to the memory in use."""
        with self._lock:
            self._pool.reap()
            self._counters.reset()
            self._pool.restart_peak()

    def restart_peak(self) -> None:
        """Set the peak of memory to the memory in use."""
        with self._lock:
            self._pool.reap()
            self._pool.restart_peak()

    def trim(self) -> None:
        """Return the memory of the pool and of the staging buffers to the device."""
        with self._entered(), self._lock, self._using("a trim"):
            self._pool.trim()
            self._transfers.trim()

    def describe(self, prepared: Prepared) -> list[Kernel]:
        """Return the distinct kernels of a prepared step, in the order of their first launches."""
        counts = Counter((launch.label, launch.source) for launch in prepared.program.launches)
        return [Kernel(label, count, source) for (label, source), count in counts.items()]

    #: A program that runs the exported result of :meth:`kernels` without this package.
    runner: Final = Path(__file__).with_name("run_exported.py")

    def kernels(self, task: Task) -> list[dict[str, Any]]:
        """Return the launches of a task as dictionaries of plain values.

        Each has the keys ``label``, ``source``, ``constants`` (of the pipeline), ``words`` (of the uniform block at
        binding 0), ``workgroups`` and ``bindings`` (of storage, from 1 on).
        """
        program = task.prepared.program
        rows = []
        for launch, packed in zip(program.launches, task.prepared.launches, strict=True):
            block = packed.block(packed.data(task.scalars))[: packed.nbytes]
            rows.append(
                {
                    "label": launch.label,
                    "source": launch.source,
                    "constants": self._pipelines.constants_of(launch.source),
                    "words": memoryview(block).cast("I").tolist(),
                    "workgroups": list(launch.workgroups),
                    "bindings": [asdict(binding) for binding in launch.bindings],
                }
            )
        return rows

    def launch_count(self, prepared: Prepared) -> int:
        """Return the number of launches of a prepared step."""
        return len(prepared.launches)

    def export(self, buffer: WgpuBuffer) -> Any:
        """Return the ``wgpu.GPUBuffer`` behind ``buffer``, without a copy; valid as long as ``buffer`` lives."""
        with self._entered(), self._lock, self._using("an export"):
            buffer.is_shared = True
            self._dispatcher.share()
            self._dispatcher.flush()
            self._transfers.forget()
            return buffer.storage(self._pool).gpu

    def adopt(self, handle: Any, nbytes: int) -> WgpuBuffer:
        """Return a buffer over a ``wgpu.GPUBuffer`` of the same device; its owner keeps it.

        Raises
        ------
        TypeError
            If ``handle`` is not a ``wgpu.GPUBuffer``.
        DeviceError
            If it belongs to another ``wgpu.GPUDevice``, is mapped, too small, or lacks a usage.
        """
        if not isinstance(handle, wgpu.GPUBuffer):
            raise TypeError(f"a {type(handle).__name__} is not a wgpu.GPUBuffer")
        if handle._device is not self._driver.device:
            raise DeviceError(
                "the buffer belongs to another wgpu.GPUDevice; create it on the one that "
                f"gpuarray.interop.wgpu_device({self.device.name!r}) returns"
            )
        if handle.map_state != "unmapped":
            raise DeviceError(f"the buffer is {handle.map_state}; unmap it first")
        with self._entered(), self._lock, self._using("an adoption"):
            self._dispatcher.share()
            return self._pool.adopt(handle, nbytes)

    @property
    def gpu_device(self) -> Any:
        """The ``wgpu.GPUDevice``, for code that shares the device."""
        return self._driver.device

    def close(self) -> None:
        """Release everything; later calls raise DeviceError. Closing twice is allowed."""
        if self._warm_up is not None and not self._dead:
            self._warm_up.close()
        with self._lock:
            if self._dead:
                return
            with suppress(wgpu.GPUError):  # a lost device has no work
                # the process may end next, while threads of the driver still compile or compute
                self._driver.wait()
            self._end(
                f"the device {self.device.name!r} is closed; arrays that were read are still right, "
                "others must be made again"
            )
            self._transfers.clear()
            self._dispatcher.clear()
            self._pipelines.clear()
            self._pool.close(self._dead)
            self._driver.device.destroy()

    def after_fork(self) -> None:
        """Disown the device of the parent process; called in a forked child, where only this thread exists."""
        self._renew_lock()
        self._end(adapters.FORKED)
        parts = (self._dispatcher, self._pipelines, self._transfers, self._pool, self._driver)
        drivers.disown(chain.from_iterable(part.objects() for part in parts))
        self._pool.abandon(self._dead)
