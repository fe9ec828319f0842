"""The native driver: hot paths as raw calls of wgpu-native, below wgpu-py's documented interface.

A public call costs about 6 microseconds of bookkeeping, a raw one 1.6, and a dispatch makes a dozen of them. Downloads
are awaited by polling in the calling thread instead of waking wgpu-py's polling thread.

Invariant: this is the one module that calls wgpu-native, and it replaces nothing in wgpu-py. :func:`open_driver`
returns the public driver instead, and only speed is lost, if wgpu-py is not of a tested release or lacks a name that is
read here. Errors reach us through the same handler as those of wgpu-py's own calls, captured once around a group of
calls. Types come from the signatures of functions, because cffi parses each new text such as ``"WGPULimits *"`` as C,
together with all typedefs of the header, for about 13 ms. Called by the provider when it opens a device.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter_ns, sleep
from typing import Any, Final

import numpy as np
import wgpu

from gpuarray import logs
from gpuarray.logs import logger
from gpuarray.providers.wgpu.driver import Bytes, Command, Download, PublicDriver, Staging, Window

#: The minor release of wgpu-py whose private names were tested.
TESTED: Final = (0, 32)

_SCOPE: Final = "gpuarray"
_ERRORS: Final = {
    "OutOfMemory": wgpu.GPUOutOfMemoryError,
    "Validation": wgpu.GPUValidationError,
}
#: How long to wait for a mapping's callback after the device has done the work, if another thread's poll received it.
_PATIENCE_NS: Final = 10_000_000_000
#: A wait sleeps between two polls for this part of the time that it has taken, within these bounds.
_PARTS: Final = 32
_SHORTEST_NS: Final = 20_000
_LONGEST_NS: Final = 5_000_000
#: A poll takes some microseconds. If one took this many nanoseconds, other work of the machine ran meanwhile, which
#: needs the processor more than polling does.
_BUSY_NS: Final = 100_000
_yield: Final[Callable[[], object]] = getattr(os, "sched_yield", int)


def open_driver(device: Any) -> PublicDriver:
    """Return the fastest driver that this version of wgpu-py allows."""
    if tuple(wgpu.version_info[:2]) != TESTED:
        logger.info("wgpu %s is not a tested release: launches use its public interface", wgpu.__version__)
        return PublicDriver(device)
    try:
        from wgpu.backends import wgpu_native
        from wgpu.backends.wgpu_native import _api

        return NativeDriver(device, wgpu_native, _api.error_handler)
    except (ImportError, AttributeError) as error:
        logger.info("launches use the public interface of wgpu, because a private name is missing: %s", error)
        return PublicDriver(device)


class _Types:
    """C types by the signatures of wgpu-native's functions."""

    def __init__(self, ffi: Any, lib: Any) -> None:
        def arguments(function: Any) -> Any:
            return ffi.typeof(function).args

        def pointer_in(structure: Any, field: str) -> Any:
            return dict(structure.fields)[field].type

        self.offset = arguments(lib.wgpuComputePassEncoderSetBindGroup)[4]
        self.command_buffers = arguments(lib.wgpuQueueSubmit)[2]
        self.submission = arguments(lib.wgpuDevicePoll)[2]
        self.pass_descriptor = arguments(lib.wgpuCommandEncoderBeginComputePass)[1]
        self.timestamp_writes = pointer_in(self.pass_descriptor.item, "timestampWrites")
        self.group_descriptor = arguments(lib.wgpuDeviceCreateBindGroup)[1]
        self.entries = pointer_in(self.group_descriptor.item, "entries")
        self.entry_nbytes = ffi.sizeof(self.entries.item)
        self.module_descriptor = arguments(lib.wgpuDeviceCreateShaderModule)[1]
        self.chained = pointer_in(self.module_descriptor.item, "nextInChain")
        self.mapped = pointer_in(arguments(lib.wgpuBufferMapAsync)[4], "callback")
        self.done = pointer_in(arguments(lib.wgpuQueueOnSubmittedWorkDone)[1], "callback")


class NativeStaging(Staging):
    """A staging buffer with its own mapping callback, made once; without a buffer, a mark in the queue.

    It is in the driver's set of ``awaited`` buffers from when a mapping is asked for until the device has called back,
    because the callback must exist until then. Python handles a signal in the first of its functions that runs, and
    after a long wait that is the callback: what is raised there, a KeyboardInterrupt, is kept in ``interrupt`` and
    raised again by the waiting thread.
    """

    def __init__(self, gpu: Any, nbytes: int, mode: int, driver: "NativeDriver") -> None:
        super().__init__(gpu, nbytes)
        ffi, types, awaited = driver._ffi, driver._types, driver._awaited
        self.mode = mode
        self.status: int | None = None
        self.interrupt: BaseException | None = None
        self.submission = ffi.NULL if gpu is None else ffi.new(types.submission)  # a poll of none waits for all work

        def interrupted(_kind: Any, error: BaseException, _trace: Any) -> None:
            self.interrupt = error
            awaited.discard(self)

        def mapped(status: int, _message: Any, _first: Any, _second: Any) -> None:
            self.status = status
            awaited.discard(self)

        kind = types.done if gpu is None else types.mapped
        self._called = ffi.callback(kind, mapped, onerror=interrupted)  # the structure holds an address only
        self.callback = {"mode": driver._lib.WGPUCallbackMode_AllowProcessEvents, "callback": self._called}

    def is_done(self) -> bool:
        """Whether the device has called back, or was interrupted in doing so."""
        return self.status is not None or self.interrupt is not None


class _Raising:
    """Raises what the device reports during a block; a generator would take three times as long, at every call."""

    __slots__ = ("_driver",)

    def __init__(self, driver: "NativeDriver") -> None:
        self._driver = driver

    def __enter__(self) -> None:
        self._driver._errors.capture(_SCOPE)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        driver = self._driver
        failure = driver._errors.release(_SCOPE)
        if error is None:
            driver._raise(failure)


class NativeDriver(PublicDriver):
    """The calls of one ``GPUDevice``, through wgpu-native's C interface."""

    can_trust = True
    can_map_writes = True

    def __init__(self, device: Any, native: Any, errors: Any) -> None:
        self._ffi, self._lib, self._errors = native.ffi, native.lib, errors
        self._types = _Types(self._ffi, self._lib)
        self._awaited: set[NativeStaging] = set()
        self._writes_pending = True
        super().__init__(device)
        self._bind_group_class = native.GPUBindGroup
        self._module_class = native.GPUShaderModule
        self._raising = _Raising(self)
        self._device: Any = device._internal
        self._queue: Any = device.queue._internal
        self._offsets = self._ffi.new(self._types.offset)
        self._commands = self._ffi.new(self._types.command_buffers)
        self._writes = self._ffi.new(self._types.timestamp_writes)
        self._timed_pass = self._ffi.new(self._types.pass_descriptor)
        self._timed_pass.timestampWrites = self._writes
        self._stamps_inside = "timestamp-query-inside-passes" in device.features
        # looked up here so that a missing name shows when the driver is opened
        self.can_trust = hasattr(self._lib, "wgpuDeviceCreateShaderModuleTrusted")
        self._lib.wgpuQueueSubmitForIndex, self._lib.wgpuDevicePoll  # noqa: B018
        self._lib.wgpuComputePassEncoderWriteTimestamp  # noqa: B018

    def objects(self) -> Iterator[Any]:
        """Yield the wgpu objects that this driver holds, the device last."""
        yield from (staging.gpu for staging in self._awaited if staging.gpu is not None)
        yield from super().objects()

    def _raise(self, failure: tuple[str, str] | None) -> None:
        if failure is not None:
            kind, message = failure
            raise _ERRORS.get(kind, wgpu.GPUError)(message)

    def shader_module(self, source: str, label: str, *, trusted: bool) -> Any:
        """Return a compiled module, without bounds checks if ``trusted``."""
        if not (trusted and self.can_trust):
            return super().shader_module(source, label, trusted=False)
        text = self._ffi.from_buffer(source.encode())
        code = self._ffi.new("WGPUShaderSourceWGSL *")
        code.chain.sType = self._lib.WGPUSType_ShaderSourceWGSL
        code.code.data, code.code.length = text, len(text)
        descriptor = self._ffi.new(self._types.module_descriptor)
        descriptor.nextInChain = self._ffi.cast(self._types.chained, code)
        with self._raising:
            module = self._lib.wgpuDeviceCreateShaderModuleTrusted(self._device, descriptor, 0)
        return self._module_class(label, module, self.device)

    def bind_group(self, layout: Any, windows: Sequence[Window]) -> Any:
        """Return a bind group with ``windows`` at bindings 0, 1, 2, ..."""
        memory = self._ffi.new("char []", max(len(windows), 1) * self._types.entry_nbytes)
        entries = self._ffi.cast(self._types.entries, memory)
        for binding, (gpu, offset, nbytes) in enumerate(windows):
            entry = entries[binding]
            entry.binding, entry.buffer, entry.offset, entry.size = binding, gpu._internal, offset, nbytes
        descriptor = self._ffi.new(self._types.group_descriptor)
        descriptor.layout, descriptor.entryCount, descriptor.entries = layout._internal, len(windows), entries
        with self._raising:
            group = self._lib.wgpuDeviceCreateBindGroup(self._device, descriptor)
        return self._bind_group_class("", group, self.device)

    def submit(self, commands: Sequence[Command], download: Download | None = None) -> None:
        """Enqueue dispatches, in order, as one compute pass, and after them a copy to the host, with its mapping."""
        lib, null, offsets = self._lib, self._ffi.NULL, self._offsets
        with self._raising:
            encoder = lib.wgpuDeviceCreateCommandEncoder(self._device, null)
            if commands:
                set_pipeline, set_group = lib.wgpuComputePassEncoderSetPipeline, lib.wgpuComputePassEncoderSetBindGroup
                dispatch = lib.wgpuComputePassEncoderDispatchWorkgroups
                compute = lib.wgpuCommandEncoderBeginComputePass(encoder, null)
                bound = None
                for pipeline, group, offset, (x, y, z) in commands:
                    if pipeline is not bound:
                        set_pipeline(compute, pipeline._internal)
                        bound = pipeline
                    offsets[0] = offset
                    set_group(compute, 0, group._internal, 1, offsets)
                    dispatch(compute, x, y, z)
                lib.wgpuComputePassEncoderEnd(compute)
                lib.wgpuComputePassEncoderRelease(compute)
            self._close(encoder, download)
        self._hand_over(download)

    def submit_timed(
        self,
        commands: Sequence[Command | None],
        queries: Any,
        first: int,
        stamps: int,
        download: Download | None = None,
    ) -> None:
        """Enqueue dispatches as :meth:`submit` does, with a timestamp before them, and one after each or after all.

        The ends of a pass write the first and the last. Others are written within it if that is possible: a pass each
        would take two microseconds of the host's time.
        """
        lib, offsets, null, stamped = self._lib, self._offsets, self._ffi.NULL, queries._internal
        begin, end = lib.wgpuCommandEncoderBeginComputePass, lib.wgpuComputePassEncoderEnd
        writes, descriptor = self._writes, self._timed_pass
        last = first + stamps - 1
        writes.querySet, writes.beginningOfPassWriteIndex = stamped, first
        writes.endOfPassWriteIndex = last if self._stamps_inside else first + 1
        each = stamps > 2
        with self._raising:
            encoder = lib.wgpuDeviceCreateCommandEncoder(self._device, null)
            compute = begin(encoder, descriptor)
            bound = None
            for number, command in enumerate(commands, first + 1):
                if command is not None:
                    pipeline, group, offset, (x, y, z) = command
                    if pipeline is not bound:
                        lib.wgpuComputePassEncoderSetPipeline(compute, pipeline._internal)
                        bound = pipeline
                    offsets[0] = offset
                    lib.wgpuComputePassEncoderSetBindGroup(compute, 0, group._internal, 1, offsets)
                    lib.wgpuComputePassEncoderDispatchWorkgroups(compute, x, y, z)
                if not each or number == last:
                    continue
                if self._stamps_inside:
                    lib.wgpuComputePassEncoderWriteTimestamp(compute, stamped, number)
                else:
                    end(compute)
                    lib.wgpuComputePassEncoderRelease(compute)
                    writes.beginningOfPassWriteIndex = lib.WGPU_QUERY_SET_INDEX_UNDEFINED
                    writes.endOfPassWriteIndex = number + 1
                    compute, bound = begin(encoder, descriptor), None
            end(compute)
            lib.wgpuComputePassEncoderRelease(compute)
            self._close(encoder, download)
        self._hand_over(download)

    def _close(self, encoder: Any, download: Download | None) -> None:
        """Add a copy to the host to an encoder, and make it the command buffer that is submitted next."""
        if download is not None:
            copy_bytes, target = self._lib.wgpuCommandEncoderCopyBufferToBuffer, download.staging.gpu._internal
            filled = 0
            for source, start, nbytes in download.copies:
                copy_bytes(encoder, source._internal, start, target, filled, nbytes)
                filled += nbytes
        self._commands[0] = self._lib.wgpuCommandEncoderFinish(encoder, self._ffi.NULL)
        self._lib.wgpuCommandEncoderRelease(encoder)

    def _hand_over(self, download: Download | None) -> None:
        """Submit the closed command buffer, and request the mapping of the memory that it copies to the host.

        Not if encoding failed, and never an empty list: on a lost device that would end the process.
        """
        lib, commands = self._lib, self._commands
        with self._raising:
            if download is None:
                self.submissions += 1
                lib.wgpuQueueSubmit(self._queue, 1, commands)
            else:
                staging = download.staging
                assert isinstance(staging, NativeStaging)
                self.submissions += 1
                staging.submission[0] = lib.wgpuQueueSubmitForIndex(self._queue, 1, commands)
                self._map(staging, download.nbytes)
            self._writes_pending = False
            lib.wgpuCommandBufferRelease(commands[0])

    def write(self, gpu: Any, offset: int, data: Any) -> None:
        """Copy a bytes-like object to ``gpu``; offset and size are multiples of 4."""
        view = self._ffi.from_buffer(data)
        self._writes_pending = True
        with self._raising:
            self._lib.wgpuQueueWriteBuffer(self._queue, gpu._internal, offset, view, len(view))

    def flush(self) -> None:
        """Submit pending writes, and release the memory of those that are done."""
        self.submit(())
        with self._raising:
            self._lib.wgpuDevicePoll(self._device, False, self._ffi.NULL)

    def _create_mark(self) -> Staging:
        return NativeStaging(None, 0, 0, self)

    def _place(self, mark: Staging) -> None:
        """Let a mark be done when everything that was submitted is."""
        assert isinstance(mark, NativeStaging)
        if self._writes_pending:  # a submit takes the writes before it along
            self.submit(())
        mark.status = None
        self._awaited.add(mark)
        with self._raising:
            self._lib.wgpuQueueOnSubmittedWorkDone(self._queue, mark.callback)

    def _collect(self, mark: Staging) -> None:
        """Wait until a mark is done."""
        self.await_mapping(mark)

    def _poll_awake(self, is_done: Callable[[], object]) -> None:
        """Poll until something is done, for a while: being woken takes longer than most kernels run.

        Other threads and processes that are ready to run come first, and where there are some, polling ends.
        """
        lib, device, null = self._lib, self._device, self._ffi.NULL
        now = perf_counter_ns()
        give_up = now + self.awake_ns
        while not is_done() and now < give_up:
            before = now
            lib.wgpuDevicePoll(device, False, null)
            _yield()
            now = perf_counter_ns()
            if now - before > _BUSY_NS:
                return

    def _poll_at_intervals(self, is_done: Callable[[], object]) -> None:
        """Poll until something is done, the less often the longer it takes.

        The driver's own wait would keep the handlers of signals, Ctrl-C among them, from running. Where nothing is left
        to be done, another thread's poll has received the callback, for which it needs the interpreter.
        """
        start = idle = perf_counter_ns()
        while not is_done():
            is_idle = self._lib.wgpuDevicePoll(self._device, False, self._ffi.NULL) & 0xFF  # a byte of Rust's
            now = perf_counter_ns()
            if not is_idle:
                idle = now
            elif now - idle > _PATIENCE_NS:
                return
            if not is_done():
                sleep(1e-9 * min(max((now - start) // _PARTS, _SHORTEST_NS), _LONGEST_NS))

    def create_staging(self, nbytes: int) -> Staging:
        """Return a buffer for downloads of up to ``nbytes`` bytes."""
        usage = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
        return self._staging(nbytes, usage, self._lib.WGPUMapMode_Read)

    def create_source(self, nbytes: int) -> Staging:
        """Return a buffer for uploads of up to ``nbytes`` bytes."""
        usage = wgpu.BufferUsage.MAP_WRITE | wgpu.BufferUsage.COPY_SRC
        return self._staging(nbytes, usage, self._lib.WGPUMapMode_Write)

    def _staging(self, nbytes: int, usage: int, mode: int) -> NativeStaging:
        return NativeStaging(self.create_buffer(nbytes, usage), nbytes, mode, self)

    def _map(self, staging: NativeStaging, nbytes: int) -> None:
        """Request the mapping of no more than is needed: memory that was not written to is filled with zeros first."""
        staging.status = None
        self._awaited.add(staging)
        self._lib.wgpuBufferMapAsync(staging.gpu._internal, staging.mode, 0, nbytes, staging.callback)

    def start_write(self, staging: Staging, nbytes: int) -> None:
        """Ask for the mapping of the first ``nbytes`` bytes of a source, a multiple of 4, once it has been copied."""
        assert isinstance(staging, NativeStaging)
        with self._raising:
            self._map(staging, nbytes)

    def mapped(self, staging: Staging, nbytes: int) -> Bytes:
        """Wait until the host may have the first ``nbytes`` bytes of a buffer, and return a view of them."""
        assert isinstance(staging, NativeStaging)
        self.await_mapping(staging)
        if staging.status != self._lib.WGPUMapAsyncStatus_Success:
            raise wgpu.GPUError(f"a staging buffer could not be mapped (status {staging.status})")
        address = self._lib.wgpuBufferGetMappedRange(staging.gpu._internal, 0, -(-nbytes // 4) * 4)
        return np.frombuffer(self._ffi.buffer(address, nbytes), np.uint8)

    def is_mapped(self, staging: Staging) -> bool:
        """Ask the device once whether a requested mapping is there."""
        assert isinstance(staging, NativeStaging)
        if staging.status is None and self.awake_ns:
            with self._raising:
                self._lib.wgpuDevicePoll(self._device, False, self._ffi.NULL)
        return staging.is_done()

    def await_mapping(self, staging: Staging) -> None:
        """Wait for a requested mapping. Other threads, and handlers of signals, may call the driver meanwhile."""
        assert isinstance(staging, NativeStaging)
        if staging.status is None and staging.interrupt is None:
            with self._raising:
                if self.awake_ns:
                    self._poll_awake(staging.is_done)
                if not staging.is_done():
                    with logs.report_if_long("wait", "waiting for the GPU to compute a value that is read"):
                        self._poll_at_intervals(staging.is_done)
        if staging.interrupt is not None:
            interrupt, staging.interrupt = staging.interrupt, None
            try:
                raise interrupt
            finally:  # it refers to the frames that it ended, and to their values
                del interrupt

    def unmap(self, staging: Staging) -> None:
        """Let the device have a buffer again."""
        self._lib.wgpuBufferUnmap(staging.gpu._internal)

    def send(self, source: Staging, target: Any, offset: int, nbytes: int) -> None:
        """Enqueue a copy of the first ``nbytes`` bytes of a filled source, a multiple of 4."""
        assert isinstance(source, NativeStaging)
        lib, gpu = self._lib, source.gpu._internal
        lib.wgpuBufferUnmap(gpu)
        with self._raising:
            encoder = lib.wgpuDeviceCreateCommandEncoder(self._device, self._ffi.NULL)
            lib.wgpuCommandEncoderCopyBufferToBuffer(encoder, gpu, 0, target._internal, offset, nbytes)
            self._close(encoder, None)
        with self._raising:
            source.submission[0] = lib.wgpuQueueSubmitForIndex(self._queue, 1, self._commands)
            lib.wgpuCommandBufferRelease(self._commands[0])
        self._writes_pending = False

    def tick_ns(self) -> float:
        """Return the nanoseconds of one tick of timestamp queries."""
        return float(self._lib.wgpuQueueGetTimestampPeriod(self._queue))
