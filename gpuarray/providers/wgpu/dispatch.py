"""Runs programs: the launches of many tasks, and of several runs, become one command buffer with one compute pass.

Invariant: launches run in the given order. Open runs, which are encoded but not yet submitted, are submitted before
every operation that depends on them: a read, a write, a wait, the release of memory, the export of a buffer. The
background flusher (:mod:`.flusher`) submits them soon in any case. Runs whose submission failed stay open, and do not
run twice. Each launch finds its parameter words through a dynamic offset (:mod:`.uniforms`). The provider calls this
module under its lock.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from struct import Struct, pack
from time import perf_counter_ns
from typing import Any, Final, NamedTuple

import numpy as np
import wgpu

from gpuarray import dtypes, logs, observers
from gpuarray.codegen.programs import Launch, Program, ScalarParameter
from gpuarray.dtypes import DType
from gpuarray.providers.base import Task
from gpuarray.providers.wgpu.buffers import Pool, Storage, WgpuBuffer, size_class
from gpuarray.providers.wgpu.driver import Command, Download, PublicDriver
from gpuarray.providers.wgpu.metrics import Counters, LaunchTimer
from gpuarray.providers.wgpu.pipelines import Kernel, Layout, Pipelines
from gpuarray.providers.wgpu.uniforms import CAPACITY, UniformArena

#: Most launches of one submission, so that the device starts while the host still encodes.
_BATCH: Final = 256
#: A submission takes the host about 20 microseconds, and leaves a gap as long on the device. So consecutive runs share
#: one. It is submitted after _TOGETHER runs; or when the time since the last submission exceeds 1/_SHARE of the time
#: since the last wait, or _APART_NS. So at most that share of the work is left when the program waits again.
_TOGETHER: Final = 8
_SHARE: Final = 4
_APART_NS: Final = 1_000_000
#: Most operations of one submission, a tenth of a second on a small GPU: some drivers abort submissions of seconds.
_WORK: Final = 1 << 36
#: The background flusher ends when no run was left open for this long.
_LINGER_NS: Final = 250_000_000
_GROUPS: Final = 8192
_KINDS: Final = {"input": 0, "output": 1, "scratch": 2}
_FLOAT: Final = Struct("<f")


def _float32_bytes(value: Any) -> bytes:
    if isinstance(value, np.float32):
        return value.tobytes()  # keeps the payload of a NaN
    try:
        return _FLOAT.pack(value)
    except OverflowError:
        return _FLOAT.pack(float("inf") if value > 0 else float("-inf"))


def _small_integer_bytes(value: Any) -> bytes:
    return (int(value) & 0xFFFFFFFF).to_bytes(4, "little")


def _large_integer_bytes(value: Any) -> bytes:
    return (int(value) & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little")


def _float64_bytes(value: Any) -> bytes:
    return pack("<d", value)


def _complex64_bytes(value: Any) -> bytes:
    if isinstance(value, np.complex64):
        return value.tobytes()
    return _float32_bytes(value.real) + _float32_bytes(value.imag)


def _complex128_bytes(value: Any) -> bytes:
    return pack("<dd", value.real, value.imag)


def _float16_bytes(value: Any) -> bytes:
    with np.errstate(over="ignore"):
        return np.float32(np.float16(value)).tobytes()


#: The parameter words of a scalar of each dtype, as little-endian bytes.
ENCODERS: Final[dict[DType, Callable[[Any], bytes]]] = {
    **dict.fromkeys((dtypes.bool_, dtypes.int8, dtypes.int16, dtypes.int32), _small_integer_bytes),
    **dict.fromkeys((dtypes.uint8, dtypes.uint16, dtypes.uint32), _small_integer_bytes),
    **dict.fromkeys((dtypes.int64, dtypes.uint64), _large_integer_bytes),
    dtypes.float16: _float16_bytes,
    dtypes.float32: _float32_bytes,
    dtypes.float64: _float64_bytes,
    dtypes.complex64: _complex64_bytes,
    dtypes.complex128: _complex128_bytes,
}


#: Dtypes whose NumPy scalars have the bytes of their parameter words in memory.
_AS_IN_MEMORY: Final = frozenset(
    dtype
    for dtype in ENCODERS
    if dtype.itemsize >= 4  # smaller ones are widened to a word
)


class Run(NamedTuple):
    """Scalars with adjacent words: the offset of the first byte, the slots, and the encoder of each scalar."""

    start: int
    slots: tuple[int, ...]
    encoders: tuple[Callable[[Any], bytes], ...]
    is_plain: bool

    def data(self, scalars: Sequence[Any]) -> bytes:
        """Return the bytes of the words."""
        if self.is_plain:
            try:
                return b"".join([scalars[slot] for slot in self.slots])  # NumPy scalars support the buffer protocol
            except TypeError:  # Python scalars do not
                pass
        return b"".join([encode(scalars[slot]) for slot, encode in zip(self.slots, self.encoders, strict=True)])


def _encoder(scalar: ScalarParameter) -> Callable[[Any], bytes]:
    """Return what makes the words of a scalar from its value."""
    scale, base = scalar.scale, scalar.base
    if scale is None:
        return ENCODERS[scalar.dtype]
    return lambda value: (scale * value + base & 0xFFFFFFFF).to_bytes(4, "little")


def _runs(scalars: Iterable[ScalarParameter]) -> tuple[Run, ...]:
    """Return scalars grouped by adjacent words."""
    found: list[list[ScalarParameter]] = []
    stop = -1
    for scalar in sorted(scalars, key=lambda scalar: scalar.word):
        if scalar.word != stop:
            found.append([])
        found[-1].append(scalar)
        stop = scalar.word + max(scalar.dtype.itemsize // 4, 1)
    return tuple(
        Run(
            4 * run[0].word,
            tuple(scalar.slot for scalar in run),
            tuple(map(_encoder, run)),
            all(scalar.dtype in _AS_IN_MEMORY and scalar.scale is None for scalar in run),
        )
        for run in found
    )


class PreparedLaunch:
    """A launch with all values that do not change between runs."""

    __slots__ = (
        "label",
        "last",
        "layout",
        "nbytes",
        "number",
        "pipeline",
        "runs",
        "serial",
        "slots",
        "traffic",
        "windows",
        "words",
        "workgroups",
    )

    def __init__(self, launch: Launch, number: int, alignment: int) -> None:
        used = 4 * len(launch.parameters)
        # an empty block has one vec4, as the binding convention declares
        self.nbytes = max(16, -(-used // 16) * 16)
        padded = -(-self.nbytes // alignment) * alignment
        words = b"".join((word & 0xFFFFFFFF).to_bytes(4, "little") for word in launch.parameters)
        self.words = words.ljust(padded, b"\0")
        self.runs = _runs(launch.scalars)
        self.slots = tuple((_KINDS[b.kind], b.slot) for b in launch.bindings)
        self.windows = tuple((b.offset, b.nbytes) for b in launch.bindings)
        self.workgroups = launch.workgroups
        self.label = launch.label
        self.number = number
        read, written = (sum(b.nbytes for b in launch.bindings if b.writable == w) for w in (False, True))
        self.traffic = read, written
        #: The last run: the generation of the uniform arena, the data of the scalars, and the offset of the block.
        self.last: tuple[int, Any, int] = (0, None, 0)
        self.serial = 0  # identifies the launch in keys of bind groups; set when it is bound to a device
        self.layout: Layout | None = None
        self.pipeline: Any = None

    def data(self, scalars: Sequence[Any]) -> list[bytes]:
        """Return the bytes of scalars, run by run."""
        return [run.data(scalars) for run in self.runs]

    def block(self, data: Sequence[bytes]) -> bytes:
        """Return the parameter words, with the words of the scalars replaced by ``data``."""
        words = bytearray(self.words)
        for run, content in zip(self.runs, data, strict=True):
            words[run.start : run.start + len(content)] = content
        return bytes(words)


class Prepared:
    """A program prepared for a device; its kernels are compiled at the first run."""

    __slots__ = ("__weakref__", "launches", "owner", "program", "runs", "scratch", "work")

    def __init__(self, program: Program, alignment: int, work: int) -> None:
        self.program = program
        self.scratch = program.scratch
        self.work = work
        self.launches = tuple(
            PreparedLaunch(launch, number, alignment) for number, launch in enumerate(program.launches)
        )
        self.owner: Any = None  # the dispatcher whose pipelines the launches hold
        self.runs = 0  # runs that compiled no kernel

    def unbind(self) -> None:
        """Drop the kernels; they are looked up again before the next run."""
        self.owner = None
        for launch in self.launches:
            launch.pipeline = None

    def kernels(self) -> list[Kernel]:
        """Return the kernels of the launches, in their order."""
        return [
            (launch.source, launch.label, tuple(binding.writable for binding in launch.bindings))
            for launch in self.program.launches
        ]


class Dispatcher:
    """Encodes and submits launches on one device.

    Parameters
    ----------
    driver, pipelines, counters
        The parts of the same provider.
    alignment : int
        Offsets into a uniform buffer are multiples of this, in bytes.
    device : str
        The name of the device.
    """

    pool: Pool  # set by the provider, because the constructor of the pool needs this object

    def __init__(
        self, driver: PublicDriver, pipelines: Pipelines, counters: Counters, alignment: int, device: str
    ) -> None:
        self.device = device
        self.alignment = max(16, alignment)
        self._driver = driver
        self._pipelines = pipelines
        self._counters = counters
        self._uniforms = UniformArena(driver, self.flush)
        self._commands: list[Command] = []
        self._launched: list[tuple[Any, PreparedLaunch]] = []  # each with the tag of its task
        self._complete = 0  # the number of commands that belong to completely encoded runs
        self._together = 0  # the number of open runs
        self._work = 0  # the number of their operations
        self._open_since = 0
        self._last_submit = 0
        self._busy_since = 0  # when the current sequence of consecutive runs began
        self.is_shared = False  # whether code outside this package may hold buffers
        self.has_failed = False  # whether the device refused completely encoded runs
        self._groups: dict[tuple[int, ...], Any] = {}
        self._serials = count(1)
        self._keys: dict[int, set[Any]] = {}  # keys of bind groups, by the serial number of each bound buffer
        self._spare: dict[int, list[WgpuBuffer]] = {}
        self._timer: LaunchTimer | None = None
        self._is_timed = False  # whether the open runs will be timed

    def objects(self) -> Iterator[Any]:
        """Yield the wgpu objects that this dispatcher holds."""
        yield self._uniforms.gpu
        yield from self._groups.values()
        yield from (group for _, group, _, _ in self._commands)
        if self._timer is not None:
            yield from self._timer.objects()

    def prepare(self, program: Program, work: int = 0) -> Prepared:
        """Return a program with its parameters packed; ``work`` is the approximate number of operations."""
        prepared = Prepared(program, self.alignment, work)
        for launch in prepared.launches:
            if launch.nbytes > CAPACITY:
                raise ValueError(f"kernel {launch.label!r} has {launch.nbytes:,} bytes of parameters")
        return prepared

    def run(self, tasks: Sequence[Task], download: Download | None = None) -> bool:
        """Enqueue tasks in order, and a copy to the host after them, in as few submits as possible.

        Return True if runs are left open, to be submitted later. With a copy, all are submitted.
        """
        is_logged = self._is_logged = logs.is_told(logs.STEPS)
        if self._is_timed != (is_logged or bool(observers.active)):
            self.flush()
            self._is_timed = not self._is_timed
        try:
            # allocate everything before the first submit, so that a lack of memory leaves no partial run
            scratch = [self._scratch(task) if task.prepared.scratch else () for task in tasks]
            for task, buffers in zip(tasks, scratch, strict=True):
                if task.prepared.owner is not self:
                    self._bind_all(tasks)
                else:
                    task.prepared.runs += 1
                self._add(task.prepared, (task.inputs, task.outputs, buffers), task.scalars, task.tag)
            if download is not None or is_logged or self._is_due(tasks):
                self.flush(download)
            self._complete = len(self._commands)
            return self._complete > 0
        except BaseException:
            del self._commands[self._complete :], self._launched[self._complete :]
            raise
        finally:
            self._spare.clear()

    def _is_due(self, tasks: Sequence[Task]) -> bool:
        """Return whether to submit the open runs now."""
        self._together += 1
        now = perf_counter_ns()
        if not self._complete:
            self._open_since = now
        apart = now - self._last_submit
        if apart > 2 * _APART_NS:
            self._busy_since = now
        return (
            apart >= min(_APART_NS, (now - self._busy_since) // _SHARE)
            or self._together >= _TOGETHER
            or self._work >= _WORK
            or (self.is_shared and any(b.is_shared for task in tasks for b in (*task.inputs, *task.outputs)))
        )

    def waited(self) -> None:
        """Note that the device is idle, so that the next runs are submitted at once."""
        self._busy_since = perf_counter_ns()

    @property
    def submitted(self) -> int:
        """A number that changes with each submission."""
        return self._last_submit

    @property
    def is_overdue(self) -> bool:
        """Whether :meth:`flush_overdue` has work; a hint, because it is read without the lock."""
        age = perf_counter_ns() - self._open_since
        return age >= _LINGER_NS or (age >= _APART_NS and bool(self._commands))

    def flush_overdue(self) -> bool:
        """Submit runs that are open for too long; return whether a run was left open recently."""
        age = perf_counter_ns() - self._open_since
        if self._commands and age >= _APART_NS:
            self.flush()
        return age < _LINGER_NS

    def _add(self, prepared: Prepared, buffers: tuple[Sequence[Any], ...], scalars: Sequence[Any], tag: Any) -> None:
        uniforms, groups = self._uniforms, self._groups
        commands, launched = self._commands, self._launched
        for launch in prepared.launches:
            try:
                # serial numbers are never reused, so the buffers of a known group belong to this device
                group = groups[launch.serial, *[buffers[kind][slot].held[0].serial for kind, slot in launch.slots]]
            except (KeyError, IndexError):
                bound = [buffers[kind][slot].storage(self.pool) for kind, slot in launch.slots]
                group = self._create_group(launch, bound, (launch.serial, *[storage.serial for storage in bound]))
            data = launch.data(scalars) if launch.runs else None
            generation, known, offset = launch.last
            if generation != uniforms.generation or data != known:
                offset = uniforms.offset_of(launch.words if data is None else launch.block(data))
                launch.last = uniforms.generation, data, offset
            if len(commands) >= _BATCH:
                self.flush()
            commands.append((launch.pipeline, group, offset, launch.workgroups))
            launched.append((tag, launch))
        self._counters.launches += len(prepared.launches)
        self._work += prepared.work

    def _scratch(self, task: Task) -> list[WgpuBuffer]:
        """Return scratch buffers; launches run in order, so a task can reuse those of an earlier task.

        They stay out of the pool until the run is encoded, because other buffers are allocated before that.
        """
        found = []
        for nbytes in task.prepared.scratch:
            spare = self._spare.get(size_class(nbytes))
            found.append(spare.pop() if spare else self.pool.allocate(nbytes))
        for buffer in found:
            self._spare.setdefault(size_class(buffer.nbytes), []).append(buffer)
        return found

    def _bind_all(self, tasks: Sequence[Task]) -> None:
        """Compile the kernels of new tasks in parallel, one of them on this thread."""
        if self._complete == len(self._commands):  # no command of this run yet
            self.flush()  # the device can work while kernels are compiled
        self._pipelines.make_room()
        new = dict.fromkeys(task.prepared for task in tasks if task.prepared.owner is not self)
        kernels = dict.fromkeys(kernel for prepared in new for kernel in prepared.kernels())
        self._pipelines.begin([*kernels][1:])
        for prepared in new:
            for launch, (source, label, writable) in zip(prepared.launches, prepared.kernels(), strict=True):
                launch.layout = self._pipelines.layout(writable)
                launch.pipeline = self._pipelines.pipeline(source, label, writable, prepared)
                launch.serial = next(self._serials)
                launch.last = 0, None, 0
            prepared.owner = self

    def _create_group(self, launch: PreparedLaunch, bound: list[Storage], key: Any) -> Any:
        if len(self._groups) >= _GROUPS:
            self.drop_all_groups()
        assert launch.layout is not None
        windows = [(self._uniforms.gpu, 0, launch.nbytes)]
        for storage, (offset, nbytes) in zip(bound, launch.windows, strict=True):
            # an adopted buffer may lack the padding to 16 bytes of our own
            windows.append((storage.gpu, offset, min(nbytes, storage.nbytes - offset)))
        group = self._driver.bind_group(launch.layout.group, windows)
        self._groups[key] = group
        for storage in bound:
            self._keys.setdefault(storage.serial, set()).add(key)
        return group

    def drop_groups(self, storage: Storage) -> None:
        """Forget the bind groups of a buffer before it is destroyed, and submit the open runs, which may use it."""
        self.flush()
        for key in self._keys.pop(storage.serial, ()):
            self._groups.pop(key, None)
            for serial in key[1:]:
                if serial in self._keys:
                    self._keys[serial].discard(key)

    def drop_all_groups(self) -> None:
        """Forget all bind groups; they are created again when needed."""
        self._groups.clear()
        self._keys.clear()

    def flush(self, download: Download | None = None) -> None:
        """Submit the open runs, and a copy to the host after them."""
        commands, driver = self._commands, self._driver
        if not commands:
            if download is not None:
                driver.submit(commands, download)
            return
        submissions = driver.submissions
        try:
            self._uniforms.upload()
            if self._is_timed:
                (self._timer or self._timed()).submit(commands, self._launched, download)
                if self._is_logged:
                    self.collect()
            else:
                driver.submit(commands, download)
        except wgpu.GPUOutOfMemoryError:
            raise
        except wgpu.GPUError:
            self.has_failed = self._complete > 0
            raise
        finally:
            if driver.submissions != submissions:
                self._counters.submits += 1
                commands.clear()
                self._launched.clear()
                self._complete = self._together = self._work = 0
        self._last_submit = perf_counter_ns()

    def _timed(self) -> LaunchTimer:
        """Return the timer, created at its first use."""
        if self._timer is None:
            self._timer = LaunchTimer(self._driver, self.device)
        return self._timer

    def collect(self) -> None:
        """Report the timed launches once they have run; prepare the timer if there are observers."""
        found = self._timed().collect() if observers.active or self._timer is not None else []
        if found:
            observers.launches_done(found)
        for launch in found if logs.is_told(logs.STEPS) else ():
            logs.tell(logs.STEPS, "launch %12s us  %s", f"{(launch.stop - launch.start) / 1e3:,.1f}", launch.label)

    def clear(self) -> None:
        """Release the resources of this dispatcher on the device."""
        self.drop_all_groups()
        self._timer = None
        self._commands.clear()
        self._launched.clear()
        self._complete = 0
        self._uniforms.gpu.destroy()
