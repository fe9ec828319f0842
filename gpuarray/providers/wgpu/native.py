"""The hot paths in raw wgpu-native calls: the one module that knows wgpu-py's private names.

Invariant: if any private name is missing, :func:`open_driver` returns the public driver, and nothing but speed is
lost. A public call costs about 6 microseconds of bookkeeping, a raw one 1.6, and a dispatch makes a dozen of them;
downloads are awaited by polling in the calling thread instead of waking wgpu-py's polling thread. Errors reach us
through the same handler as wgpu-py's own calls, captured once around a group of calls. Called by the provider when it
opens a device.
"""

from collections.abc import Sequence
from time import perf_counter_ns
from typing import Any, Final

import numpy as np
import wgpu

from gpuarray.providers.wgpu.driver import Bytes, Command, PublicDriver, Staging, Window

_SCOPE: Final = "gpuarray"
_ERRORS: Final = {
    "OutOfMemory": wgpu.GPUOutOfMemoryError,
    "Validation": wgpu.GPUValidationError,
}
#: How often a mapping is waited for; one wait is enough on a device that works.
_POLLS: Final = 100


def open_driver(device: Any) -> PublicDriver:
    """Return the fastest driver that this version of wgpu-py allows."""
    try:
        from wgpu.backends import wgpu_native
        from wgpu.backends.wgpu_native import _api

        return NativeDriver(device, wgpu_native, _api.error_handler)
    except (ImportError, AttributeError):
        return PublicDriver(device)


class NativeStaging(Staging):
    """A staging buffer with its own mapping callback, made once."""

    def __init__(self, gpu: Any, nbytes: int, ffi: Any, lib: Any) -> None:
        super().__init__(gpu, nbytes)
        self.status: int | None = None
        self.submission = ffi.new("WGPUSubmissionIndex *")

        @ffi.callback("void(WGPUMapAsyncStatus, WGPUStringView, void *, void *)")  # type: ignore[untyped-decorator]  # cffi has no types
        def mapped(status: int, _message: Any, _first: Any, _second: Any) -> None:
            self.status = status

        self.callback = ffi.new("WGPUBufferMapCallbackInfo *")
        self.callback.mode = lib.WGPUCallbackMode_AllowProcessEvents
        self.callback.callback = mapped
        self._mapped = mapped  # the structure holds an address only


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

    def __init__(self, device: Any, native: Any, errors: Any) -> None:
        super().__init__(device)
        self._ffi, self._lib, self._errors = native.ffi, native.lib, errors
        self._bind_group_class = native.GPUBindGroup
        self._module_class = native.GPUShaderModule
        self._raising = _Raising(self)
        self._device: Any = device._internal
        self._queue: Any = device.queue._internal
        self._offsets = self._ffi.new("uint32_t[1]")
        self._commands = self._ffi.new("WGPUCommandBuffer[1]")
        self._writes_pending = True
        self._done = True
        self._writes = self._ffi.new("WGPUPassTimestampWrites *")
        self._timed_pass = self._ffi.new("WGPUComputePassDescriptor *")
        self._timed_pass.timestampWrites = self._writes

        @self._ffi.callback("void(WGPUQueueWorkDoneStatus, WGPUStringView, void *, void *)")  # type: ignore[untyped-decorator]  # cffi has no types
        def done(_status: int, _message: Any, _first: Any, _second: Any) -> None:
            self._done = True

        self._when_done = self._ffi.new("WGPUQueueWorkDoneCallbackInfo *")
        self._when_done.mode = self._lib.WGPUCallbackMode_AllowProcessEvents
        self._when_done.callback = done
        self._callback = done  # the structure holds an address only
        # looked up here so that a missing name shows when the driver is opened
        self.can_trust = hasattr(self._lib, "wgpuDeviceCreateShaderModuleTrusted")
        self._lib.wgpuQueueSubmitForIndex, self._lib.wgpuDevicePoll  # noqa: B018

    def _raise(self, failure: tuple[str, str] | None) -> None:
        if failure is not None:
            kind, message = failure
            raise _ERRORS.get(kind, wgpu.GPUError)(message)

    def shader_module(self, source: str, label: str, *, trusted: bool) -> Any:
        """Return a compiled module, without bounds checks if ``trusted``."""
        if not (trusted and self.can_trust):
            return super().shader_module(source, label, trusted=False)
        text = self._ffi.new("char[]", source.encode())
        code = self._ffi.new("WGPUShaderSourceWGSL *")
        code.chain.sType = self._lib.WGPUSType_ShaderSourceWGSL
        code.code.data, code.code.length = text, len(text) - 1
        descriptor = self._ffi.new("WGPUShaderModuleDescriptor *")
        descriptor.nextInChain = self._ffi.cast("WGPUChainedStruct *", code)
        with self._raising:
            module = self._lib.wgpuDeviceCreateShaderModuleTrusted(self._device, descriptor, 0)
        return self._module_class(label, module, self.device)

    def bind_group(self, layout: Any, windows: Sequence[Window]) -> Any:
        """Return a bind group with ``windows`` at bindings 0, 1, 2, ..."""
        entries = self._ffi.new("WGPUBindGroupEntry[]", len(windows))
        for binding, (gpu, offset, nbytes) in enumerate(windows):
            entry = entries[binding]
            entry.binding, entry.buffer, entry.offset, entry.size = binding, gpu._internal, offset, nbytes
        descriptor = self._ffi.new("WGPUBindGroupDescriptor *")
        descriptor.layout, descriptor.entryCount, descriptor.entries = layout._internal, len(windows), entries
        with self._raising:
            group = self._lib.wgpuDeviceCreateBindGroup(self._device, descriptor)
        return self._bind_group_class("", group, self.device)

    def submit(self, commands: Sequence[Command]) -> None:
        """Enqueue dispatches, in order, as one compute pass."""
        lib, null, offsets = self._lib, self._ffi.NULL, self._offsets
        set_pipeline, set_group = lib.wgpuComputePassEncoderSetPipeline, lib.wgpuComputePassEncoderSetBindGroup
        dispatch = lib.wgpuComputePassEncoderDispatchWorkgroups
        with self._raising:
            encoder = lib.wgpuDeviceCreateCommandEncoder(self._device, null)
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
            self._close(encoder)
        self._hand_over()

    def submit_timed(self, commands: Sequence[Command | None], queries: Any, first: int) -> None:
        """Enqueue dispatches (None: an empty one), a pass each, whose ends write timestamps from query ``first`` on."""
        lib, offsets = self._lib, self._offsets
        writes, descriptor = self._writes, self._timed_pass
        writes.querySet = queries._internal
        with self._raising:
            encoder = lib.wgpuDeviceCreateCommandEncoder(self._device, self._ffi.NULL)
            for number, command in enumerate(commands):
                writes.beginningOfPassWriteIndex = first + 2 * number
                writes.endOfPassWriteIndex = first + 2 * number + 1
                compute = lib.wgpuCommandEncoderBeginComputePass(encoder, descriptor)
                if command is not None:
                    pipeline, group, offset, (x, y, z) = command
                    lib.wgpuComputePassEncoderSetPipeline(compute, pipeline._internal)
                    offsets[0] = offset
                    lib.wgpuComputePassEncoderSetBindGroup(compute, 0, group._internal, 1, offsets)
                    lib.wgpuComputePassEncoderDispatchWorkgroups(compute, x, y, z)
                lib.wgpuComputePassEncoderEnd(compute)
                lib.wgpuComputePassEncoderRelease(compute)
            self._close(encoder)
        self._hand_over()

    def _close(self, encoder: Any) -> None:
        """Make an encoder the command buffer that is submitted next."""
        self._commands[0] = self._lib.wgpuCommandEncoderFinish(encoder, self._ffi.NULL)
        self._lib.wgpuCommandEncoderRelease(encoder)

    def _hand_over(self, submission: Any = None) -> None:
        """Submit the closed command buffer. Not if encoding failed: on a lost device a submit ends the process."""
        lib, commands = self._lib, self._commands
        with self._raising:
            if submission is None:
                lib.wgpuQueueSubmit(self._queue, 1, commands)
            else:
                submission[0] = lib.wgpuQueueSubmitForIndex(self._queue, 1, commands)
            self._writes_pending = False
            lib.wgpuCommandBufferRelease(commands[0])

    def _submit_nothing(self) -> None:
        """Submit an empty command buffer, not an empty list: on a lost device the list ends the process."""
        with self._raising:
            self._close(self._lib.wgpuDeviceCreateCommandEncoder(self._device, self._ffi.NULL))
        self._hand_over()

    def write(self, gpu: Any, offset: int, data: Any) -> None:
        """Copy a bytes-like object to ``gpu``; offset and size are multiples of 4."""
        view = self._ffi.from_buffer(data)
        self._writes_pending = True
        with self._raising:
            self._lib.wgpuQueueWriteBuffer(self._queue, gpu._internal, offset, view, len(view))

    def flush(self) -> None:
        """Hand pending writes to the device and let go of the memory of those that are done."""
        self._submit_nothing()
        with self._raising:
            self._lib.wgpuDevicePoll(self._device, False, self._ffi.NULL)

    def wait(self) -> None:
        """Wait until everything that was enqueued is done, writes included."""
        if self._writes_pending:  # a submit takes the writes before it along
            self._submit_nothing()
        with self._raising:
            self._wait_idle()

    def _wait_idle(self) -> None:
        """Wait until the queue is empty: at first awake, since being woken takes longer than most kernels run."""
        lib, device = self._lib, self._device
        if self.awake_ns:
            self._done = False
            lib.wgpuQueueOnSubmittedWorkDone(self._queue, self._when_done[0])
            give_up = perf_counter_ns() + self.awake_ns
            while perf_counter_ns() < give_up:
                lib.wgpuDevicePoll(device, False, self._ffi.NULL)
                if self._done:
                    return
        lib.wgpuDevicePoll(device, True, self._ffi.NULL)

    def create_staging(self, nbytes: int) -> Staging:
        """Return a buffer for downloads of up to ``nbytes`` bytes."""
        usage = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
        return NativeStaging(self.create_buffer(nbytes, usage), nbytes, self._ffi, self._lib)

    def start_read(self, source: Any, offset: int, staging: Staging, nbytes: int) -> None:
        """Enqueue a copy of ``nbytes`` bytes (a multiple of 4) from ``source`` to ``staging``, and its mapping."""
        assert isinstance(staging, NativeStaging)
        lib, target = self._lib, staging.gpu._internal
        with self._raising:
            encoder = lib.wgpuDeviceCreateCommandEncoder(self._device, self._ffi.NULL)
            lib.wgpuCommandEncoderCopyBufferToBuffer(encoder, source._internal, offset, target, 0, nbytes)
            self._close(encoder)
        self._hand_over(staging.submission)
        staging.status = None
        with self._raising:
            lib.wgpuBufferMapAsync(target, lib.WGPUMapMode_Read, 0, nbytes, staging.callback[0])

    def finish_read(self, staging: Staging, target: Bytes) -> None:
        """Wait for a started read and copy its first ``len(target)`` bytes; the mapping ends before the return."""
        assert isinstance(staging, NativeStaging)
        lib, ffi, source = self._lib, self._ffi, staging.gpu._internal
        with self._raising:
            give_up = perf_counter_ns() + self.awake_ns
            while staging.status is None and perf_counter_ns() < give_up:
                lib.wgpuDevicePoll(self._device, False, ffi.NULL)
            for _ in range(_POLLS if staging.status is None else 0):
                lib.wgpuDevicePoll(self._device, True, staging.submission)
                if staging.status is not None:
                    break
        if staging.status != lib.WGPUMapAsyncStatus_Success:
            raise wgpu.GPUError(f"a staging buffer could not be mapped (status {staging.status})")
        try:
            address = lib.wgpuBufferGetMappedRange(source, 0, -(-target.nbytes // 4) * 4)
            target[:] = np.frombuffer(ffi.buffer(address, target.nbytes), np.uint8)
        finally:
            lib.wgpuBufferUnmap(source)

    def tick_ns(self) -> float:
        """Return the nanoseconds of one tick of timestamp queries."""
        return float(self._lib.wgpuQueueGetTimestampPeriod(self._queue))
