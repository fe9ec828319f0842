"""The calls of the GPU interface on the wgpu provider's hot paths, in wgpu-py's public API.

Invariant: :class:`PublicDriver` uses documented wgpu-py calls only, and every method means the same in
:class:`~gpuarray.providers.wgpu.native.NativeDriver`, which overrides those where the public call costs too much.
:func:`gpuarray.providers.wgpu.native.open_driver` chooses. A driver does not depend on steps or pools. It raises the
errors of wgpu-py.
"""

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import wgpu

#: A pipeline, a bind group, the offset of its parameters in bytes, and the workgroups of one dispatch.
Command: TypeAlias = tuple[Any, Any, int, tuple[int, int, int]]
#: A ``GPUBuffer`` and the offset and size of the window that is bound.
Window: TypeAlias = tuple[Any, int, int]
Bytes: TypeAlias = npt.NDArray[np.uint8]


class Staging:
    """A buffer that the host can map, and the state of a copy through it."""

    def __init__(self, gpu: Any, nbytes: int) -> None:
        self.gpu = gpu
        self.nbytes = nbytes
        self.promise: Any = None


class DownloadPart(NamedTuple):
    """A copy of ``nbytes`` bytes (a multiple of 4) of the ``GPUBuffer`` ``source``, from ``offset`` on."""

    source: Any
    offset: int
    nbytes: int


class Download(NamedTuple):
    """Copies to ``staging``, one after the other."""

    staging: Staging
    copies: Sequence[DownloadPart]

    @property
    def nbytes(self) -> int:
        """Bytes of all copies."""
        return sum([copy.nbytes for copy in self.copies])


class PublicDriver:
    """The calls of one ``GPUDevice``.

    Parameters
    ----------
    device : wgpu.GPUDevice
        The opened device.
    """

    #: Whether kernels may be compiled without bounds checks.
    can_trust = False
    #: Whether the host can write to mapped memory, so that upload buffers exist.
    can_map_writes = False
    #: Nanoseconds for which a wait polls before it sleeps: waking up takes longer than most kernels. Zero on software
    #: devices, which need the processor.
    awake_ns = 0
    #: Number of submissions so far.
    submissions = 0

    def __init__(self, device: Any) -> None:
        self.device = device
        self.queue = device.queue
        self._probe = self.create_buffer(4, wgpu.BufferUsage.COPY_SRC)
        self._marks = [self._create_mark()]  # now, as a wait may be for memory

    def objects(self) -> Iterator[Any]:
        """Yield the wgpu objects that this driver owns, the device last."""
        yield self._probe
        yield from (mark.gpu for mark in self._marks if mark.gpu is not None)
        yield self.queue
        yield self.device

    def create_buffer(self, nbytes: int, usage: int) -> Any:
        """Return a new ``GPUBuffer``."""
        return self.device.create_buffer(size=nbytes, usage=usage)

    def shader_module(self, source: str, label: str, *, trusted: bool) -> Any:
        """Return a compiled module; ``trusted`` omits bounds checks if possible."""
        return self.device.create_shader_module(code=source, label=label)

    def bind_group(self, layout: Any, windows: Sequence[Window]) -> Any:
        """Return a bind group with ``windows`` at bindings 0, 1, 2, ..."""
        entries = [
            {"binding": binding, "resource": {"buffer": gpu, "offset": offset, "size": nbytes}}
            for binding, (gpu, offset, nbytes) in enumerate(windows)
        ]
        return self.device.create_bind_group(layout=layout, entries=entries)

    def submit(self, commands: Sequence[Command], download: Download | None = None) -> None:
        """Enqueue dispatches as one compute pass, then a copy to the host and its mapping."""
        encoder = self.device.create_command_encoder()
        if commands:
            _encode(encoder.begin_compute_pass(), commands)
        self._end(encoder, download)

    def submit_timed(
        self,
        commands: Sequence[Command | None],
        queries: Any,
        first: int,
        stamps: int,
        download: Download | None = None,
    ) -> None:
        """Enqueue dispatches as :meth:`submit` does, with a timestamp before them, and one after each or after all.

        They go to ``stamps`` queries from number ``first`` on, and are written at the ends of passes. None is an empty
        dispatch.
        """
        encoder = self.device.create_command_encoder()
        together = len(commands) if stamps == 2 else 1
        for number in range(0, len(commands), together):
            writes = {"query_set": queries, "end_of_pass_write_index": first + number // together + 1}
            if number == 0:
                writes["beginning_of_pass_write_index"] = first
            _encode(encoder.begin_compute_pass(timestamp_writes=writes), commands[number : number + together])
        self._end(encoder, download)

    def _end(self, encoder: Any, download: Download | None) -> None:
        """Encode a copy to the host, submit the commands, and request the mapping of the copy."""
        if download is not None:
            staging, copies = download
            filled = 0
            for source, offset, nbytes in copies:
                encoder.copy_buffer_to_buffer(source, offset, staging.gpu, filled, nbytes)
                filled += nbytes
        # never an empty list of command buffers: on a lost device it would abort the process
        buffers = [encoder.finish()]
        self.submissions += 1
        self.queue.submit(buffers)
        if download is not None:
            staging.promise = staging.gpu.map_async("READ", 0, filled)

    def write(self, gpu: Any, offset: int, data: Any) -> None:
        """Copy a bytes-like object to ``gpu``; offset and size are multiples of 4."""
        self.queue.write_buffer(gpu, offset, data)

    def flush(self) -> None:
        """Submit pending writes, and release the memory of completed ones."""
        self.submit(())

    def wait(self) -> None:
        """Wait until everything that was enqueued has finished, writes included."""
        # on_submitted_work_done raises in wgpu-py 0.32; a read also waits for everything before it
        self.finish_wait(self.start_wait())

    def start_wait(self) -> Staging:
        """Return a mark for :meth:`await_mapping` and :meth:`finish_wait`, done when the enqueued work has finished."""
        mark = self._marks.pop() if self._marks else self._create_mark()
        self._place(mark)
        return mark

    def finish_wait(self, mark: Staging) -> None:
        """Wait for what :meth:`start_wait` returned."""
        self._collect(mark)
        self._marks.append(mark)

    def _create_mark(self) -> Staging:
        return self.create_staging(4)

    def _place(self, mark: Staging) -> None:
        """Let a mark be done when everything before it is: here a copy of a few bytes that is mapped."""
        self.start_read(self._probe, 0, mark, 4)

    def _collect(self, mark: Staging) -> None:
        """Wait until a mark is done, and make it ready for another use."""
        self.finish_read(mark, np.empty(4, np.uint8))

    def create_staging(self, nbytes: int) -> Staging:
        """Return a buffer for downloads of up to ``nbytes`` bytes."""
        usage = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
        return Staging(self.create_buffer(nbytes, usage), nbytes)

    def start_read(self, source: Any, offset: int, staging: Staging, nbytes: int) -> None:
        """Enqueue a copy of ``nbytes`` bytes (a multiple of 4) from ``source`` to ``staging``, and its mapping."""
        self.submit((), Download(staging, [DownloadPart(source, offset, nbytes)]))

    def finish_read(self, staging: Staging, target: Bytes) -> None:
        """Wait for a started read, copy its first ``len(target)`` bytes, and unmap the buffer."""
        view = self.mapped(staging, target.nbytes)
        try:
            target[:] = view
        finally:
            del view
            self.unmap(staging)

    def is_mapped(self, staging: Staging) -> bool:
        """Whether a requested mapping is known to be there; asks the device once if that takes little."""
        return False

    def await_mapping(self, staging: Staging) -> None:
        """Wait for a requested mapping. Other threads, and handlers of signals, may call the driver meanwhile."""
        staging.promise.sync_wait()

    def mapped(self, staging: Staging, nbytes: int) -> Bytes:
        """Wait for a requested mapping, and return a view of the first ``nbytes`` bytes.

        No view may exist when the buffer is unmapped or sent.
        """
        self.await_mapping(staging)
        return np.frombuffer(staging.gpu.read_mapped(0, -(-nbytes // 4) * 4, copy=False), np.uint8, nbytes)

    def unmap(self, staging: Staging) -> None:
        """Unmap a buffer."""
        staging.gpu.unmap()

    def create_source(self, nbytes: int) -> Staging:
        """Return a buffer for uploads of up to ``nbytes`` bytes."""
        raise NotImplementedError  # wgpu-py has no view of mapped memory to write to

    def start_write(self, staging: Staging, nbytes: int) -> None:
        """Request the mapping of ``nbytes`` bytes of an upload buffer, a multiple of 4, after its last copy."""
        raise NotImplementedError

    def send(self, source: Staging, target: Any, offset: int, nbytes: int) -> None:
        """Enqueue a copy of the first ``nbytes`` bytes of an upload buffer, a multiple of 4."""
        raise NotImplementedError

    def tick_ns(self) -> float:
        """Return the nanoseconds per tick of timestamp queries."""
        return 1.0


def _encode(compute: Any, commands: Sequence[Command | None]) -> None:
    """Encode dispatches as a compute pass; None is an empty dispatch."""
    for command in commands:
        if command is not None:
            pipeline, group, offset, workgroups = command
            compute.set_pipeline(pipeline)
            compute.set_bind_group(0, group, [offset])
            compute.dispatch_workgroups(*workgroups)
    compute.end()


def disown(items: Iterator[Any]) -> None:
    """Leak wgpu objects, so that their finalizers never call the driver.

    A forked child has copies of its parent's objects. A call on them could deadlock, because it may wait for threads of
    the parent. A leaked reference also survives interpreter shutdown, which clears all modules.
    """
    for item in items:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(item))
