"""Runs programs: the launches of many tasks, and of several runs, become one command buffer with one compute pass.

Invariant: launches run in the given order. Open runs, which are encoded but not yet submitted, are submitted before
every operation that depends on them: a read, a write, a wait, the release of memory, the export of a buffer. The
background flusher (:mod:`.flusher`) submits them soon in any case, once their kernels are compiled. Runs whose
submission failed stay open, and do not run twice. Each launch finds its parameter words through a dynamic offset
(:mod:`.uniforms`). The commands of a run are kept for its repetition with the same buffers. The provider calls this
module under its lock.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, count
from time import perf_counter_ns
from typing import Any, Final

import wgpu

from gpuarray import logs, observers
from gpuarray.codegen.programs import Program
from gpuarray.errors import DeviceError
from gpuarray.providers.base import Task
from gpuarray.providers.wgpu.buffers import BufferPool, Storage, WgpuBuffer, size_class
from gpuarray.providers.wgpu.driver import Command, Download, PublicDriver
from gpuarray.providers.wgpu.encodings import Encoding
from gpuarray.providers.wgpu.launches import Prepared, PreparedLaunch
from gpuarray.providers.wgpu.metrics import Counters, LaunchTimer
from gpuarray.providers.wgpu.pipelines import Pipelines
from gpuarray.providers.wgpu.uniforms import CAPACITY, UniformArena
from gpuarray.thread_pool import Future

#: Most launches of one submission, so that the device starts while the host still encodes. The first one of a long
#: program has _FIRST, and each later one twice those of the one before.
_BATCH: Final = 256
_FIRST: Final = 32
#: A submission takes the host about 20 microseconds, and leaves a gap as long on the device. So consecutive runs share
#: one. It is submitted after _TOGETHER runs; or when the time since the last submission exceeds 1/_SHARE of the time
#: since the last wait, or _APART_NS. So at most that share of the work is left when the program waits again.
_TOGETHER: Final = 32
_SHARE: Final = 4
_APART_NS: Final = 1_000_000
#: Most operations of one submission, a tenth of a second on a small GPU: some drivers abort submissions of seconds.
_WORK: Final = 1 << 36
#: The background flusher ends when no run was left open for this long.
_LINGER_NS: Final = 250_000_000
_GROUPS: Final = 8192
#: Most commands that are kept for runs that are repeated.
_ENCODED: Final = 1 << 15


def _sizes(count: int) -> Iterator[int]:
    """Yield the most launches of the first, the second, ... submission of a program with ``count`` launches."""
    size = _FIRST if count > 2 * _FIRST else _BATCH
    while True:
        yield size
        size = min(2 * size, _BATCH)


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

    pool: BufferPool  # set by the provider, because the constructor of the pool needs this object

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
        self._launched: list[tuple[Any, PreparedLaunch]] = []  # if they are timed, each with the tag of its task
        self._complete = 0  # the number of commands that belong to completely encoded runs
        self._together = 0  # the number of open runs
        self._work = 0  # the number of their operations
        self._open_since = 0
        self._last_submit = 0
        self._busy_since = 0  # when the current sequence of consecutive runs began
        self.is_shared = False  # whether code outside this package may hold buffers
        self.has_failed = False  # whether the device refused completely encoded runs
        #: Of the launches of a task, by the serial numbers of its program and its buffers.
        self._groups: dict[tuple[int, ...], list[Any]] = {}
        self._group_count = 0
        #: By the keys of runs that found all their bind groups, which they have only from the second time on.
        self._encodings: dict[tuple[int, ...], Encoding] = {}
        self._encoded = 0  # the number of their commands
        self._generation = 0  # of the uniform arena in which their parameters have offsets
        self._serials = count(1)
        self._keys: dict[int, set[Any]] = {}  # keys of bind groups, by the serial number of each bound buffer
        self._unbound: dict[Prepared, None] = {}  # programs whose launches have no pipelines yet
        self._compiling: list[Future[Any]] = []  # pipelines, of which some may be there
        self._spare: dict[int, list[WgpuBuffer]] = {}
        self._timer: LaunchTimer | None = None
        self._is_timed = False  # whether the open runs will be timed

    def objects(self) -> Iterator[Any]:
        """Yield the wgpu objects that this dispatcher holds."""
        yield self._uniforms.gpu
        yield from chain.from_iterable(self._groups.values())
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

    def run(self, tasks: Sequence[Task], download: Download | None = None, key: tuple[int, ...] = ()) -> None:
        """Enqueue tasks in order, and a copy to the host after them, in as few submits as possible.

        Without a copy, the run may be left open, to be submitted later. With a ``key``, its commands are kept for
        :meth:`repeat` once it has run before.
        """
        self._choose_timing()
        try:
            # allocate everything before the first submit, so that a lack of memory leaves no partial run
            scratch = [self._scratch(task.prepared) for task in tasks]
            is_new = False
            for task in tasks:
                if task.prepared.owner is self:
                    task.prepared.runs += 1
                else:
                    is_new = True
            if is_new:  # before the first submit too, as a wait for a compiler can be interrupted
                self._begin_all(tasks)
            group_count = self._group_count
            groups = [
                self._groups_of(task, [*task.inputs, *task.outputs, *buffers])
                for task, buffers in zip(tasks, scratch, strict=True)
            ]
            generation = self._uniforms.generation
            is_bound = not self._unbound  # otherwise commands have launches in place of pipelines
            encoded: list[Command] = []
            for task, own in zip(tasks, groups, strict=True):
                encoded += self._add(task, own)
            is_shared = self.is_shared and any(b.is_shared for task in tasks for b in (*task.inputs, *task.outputs))
            if key and is_bound and group_count == self._group_count and not (self._is_timed or is_shared):
                self._keep(key, tasks, encoded, scratch, generation)
            self._end(download, is_due=is_shared)
        except BaseException:
            del self._commands[self._complete :], self._launched[self._complete :]
            raise
        finally:
            self._spare.clear()

    def repeat(self, key: tuple[int, ...], scalars: list[Any], download: Download | None = None) -> bool:
        """Enqueue the commands that :meth:`run` has kept for a key; return False if there are none."""
        encoding = self._encodings.get(key)
        is_old = self._generation != self._uniforms.generation
        if encoding is None or is_old or self._choose_timing():
            return False
        programs = encoding.programs
        for prepared in programs:
            if prepared.owner is not self:
                return False
        try:
            if encoding.scratch:
                scratch = [self.pool.allocate(nbytes) for nbytes, _ in encoding.scratch]
                if any(buffer.serial != serial for buffer, (_, serial) in zip(scratch, encoding.scratch, strict=True)):
                    return False
            commands = encoding.commands(scalars, self._offset)
            if self._generation != self._uniforms.generation:  # there was no room for the parameters
                return False
            for prepared in programs:
                prepared.runs += 1
            rest = commands
            for most in _sizes(len(commands)):
                room = max(most - len(self._commands), 0)
                self._commands += rest[:room]
                rest = rest[room:]
                if not rest:
                    break
                self.flush()
            self._counters.launches += len(commands)
            self._work += encoding.work
            self._end(download)
        except BaseException:
            del self._commands[self._complete :]
            raise
        return True

    def _choose_timing(self) -> bool:
        """Determine whether the launches of the next run are timed."""
        is_logged = self._is_logged = logs.is_enabled(logs.STEPS)
        if self._is_timed != (is_logged or bool(observers.active)):
            self.flush()
            self._is_timed = not self._is_timed
        return self._is_timed

    def _keep(
        self,
        key: tuple[int, ...],
        tasks: Sequence[Task],
        commands: list[Command],
        scratch: Sequence[Sequence[WgpuBuffer]],
        generation: int,
    ) -> None:
        """Keep the commands of a run whose parameters have offsets of one generation."""
        if self._generation != generation or self._encoded + len(commands) > _ENCODED:
            self._drop_encodings()
        self._generation = generation
        if len(commands) > _ENCODED or self._uniforms.generation != generation:
            return
        known = self._encodings.pop(key, None)
        self._encoded += len(commands) - (0 if known is None else known.count)
        allocated = dict.fromkeys(chain.from_iterable(scratch))  # tasks share some
        self._encodings[key] = Encoding(tasks, commands, [(buffer.nbytes, buffer.serial) for buffer in allocated])

    def share(self) -> None:
        """Note that code outside this package may hold buffers, whose runs are submitted at once and not repeated."""
        self.is_shared = True
        self._drop_encodings()

    def _drop_encodings(self) -> None:
        """Forget the commands of all runs."""
        self._encodings.clear()
        self._encoded = 0

    def _end(self, download: Download | None, *, is_due: bool = False) -> None:
        """Complete a run, and submit it if it is due."""
        if download is not None or self._is_logged or self._is_due() or is_due:
            self.flush(download)
        self._complete = len(self._commands)

    @property
    def is_open(self) -> bool:
        """Whether runs are left open, to be submitted later."""
        return self._complete > 0

    def _is_due(self) -> bool:
        """Return whether to submit the open runs now."""
        self._together += 1
        now = perf_counter_ns()
        if not self._complete:
            self._open_since = now
        apart = now - self._last_submit
        if apart > 2 * _APART_NS:
            self._busy_since = now
        if self._compiling and self._is_compiling:
            return False
        return (
            apart >= min(_APART_NS, (now - self._busy_since) // _SHARE)
            or self._together >= _TOGETHER
            or self._work >= _WORK
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
        if self._commands and age >= _APART_NS and not self._is_compiling:
            self.flush()
        return bool(self._commands) or age < _LINGER_NS

    def _groups_of(self, task: Task, buffers: Sequence[WgpuBuffer]) -> list[Any]:
        """Return the bind groups of a task, whose buffers are its inputs, outputs and scratch."""
        # serial numbers are never reused, so the buffers of known groups belong to this device
        key = (task.prepared.serial, *[buffer.serial for buffer in buffers])
        return self._groups.get(key) or self._create_groups(task, buffers, key)

    def _add(self, task: Task, groups: Sequence[Any]) -> list[Command]:
        """Enqueue the launches of a task, and return their commands."""
        prepared, commands = task.prepared, self._commands
        launches = prepared.launches
        sizes = _sizes(len(launches))
        most = next(sizes)
        added: list[Command] = []
        for launch, group in zip(launches, groups, strict=True):
            offset = self._offset(launch, task.scalars)
            if len(commands) >= most:
                self.flush()
                most = next(sizes)
            command = (launch.pipeline or launch, group, offset, launch.workgroups)
            commands.append(command)
            added.append(command)
            if self._is_timed:
                self._launched.append((task.tag, launch))
        self._counters.launches += len(launches)
        self._work += prepared.work
        return added

    def _offset(self, launch: PreparedLaunch, scalars: Sequence[Any]) -> int:
        """Return the offset of the parameters of a launch."""
        uniforms = self._uniforms
        data = launch.data(scalars) if launch.runs else None
        generation, known, offset = launch.last
        if generation != uniforms.generation or data != known:
            offset = uniforms.offset_of(launch.words if data is None else launch.block(data))
            launch.last = uniforms.generation, data, offset
        return offset

    def _scratch(self, prepared: Prepared) -> list[WgpuBuffer]:
        """Return the scratch buffers of a task; launches run in order, so it can reuse those of an earlier task.

        They stay out of the pool until the run is encoded, because other buffers are allocated before that.
        """
        buffers: list[WgpuBuffer] = []
        for nbytes in prepared.scratch:
            spare = self._spare.get(size_class(nbytes))
            buffers.append(spare.pop() if spare else self.pool.allocate(nbytes))
        for buffer in buffers:
            self._spare.setdefault(size_class(buffer.nbytes), []).append(buffer)
        return buffers

    def _begin_all(self, tasks: Sequence[Task]) -> None:
        """Begin to compile the kernels of new tasks in parallel.

        Their launches have no pipelines before the next submission, so that kernels of several runs compile together.
        """
        if not self._unbound:
            self.flush()  # the device can work while kernels are compiled
        if self._pipelines.make_room():
            self._drop_encodings()
        new = dict.fromkeys(task.prepared for task in tasks if task.prepared.owner is not self)
        kernels = dict.fromkeys(kernel for prepared in new for kernel in prepared.kernels())
        self._compiling += self._pipelines.begin(kernels)
        self._pipelines.check(kernels)
        for prepared in new:
            for launch, (_, _, writable) in zip(prepared.launches, prepared.kernels(), strict=True):
                launch.layout = self._pipelines.layout(writable)
                launch.pipeline = None
                launch.last = 0, None, 0
            prepared.owner, prepared.serial = self, next(self._serials)
        self._unbound |= new
        if self._is_timed or logs.is_enabled(logs.DEVICES):  # so that each compilation is logged at its cause
            self._bind()

    def compile_ahead(self, steps: Sequence[Prepared]) -> int:
        """Begin to compile the kernels of prepared steps on other threads; return how many are not compiled yet."""
        kernels = dict.fromkeys(
            kernel for prepared in steps if prepared.owner is not self for kernel in prepared.kernels()
        )
        if kernels and self._pipelines.make_room():
            self._drop_encodings()
        self._pipelines.begin(kernels)
        return self._pipelines.missing(kernels)

    def _bind(self) -> None:
        """Wait for the pipelines of the open runs; after an interrupt they are waited for again."""
        try:
            for prepared in self._unbound:
                for launch, kernel in zip(prepared.launches, prepared.kernels(), strict=True):
                    launch.pipeline = self._pipelines.pipeline(*kernel, prepared)
        except DeviceError as error:  # the driver has no pipeline for a text that wgpu accepted
            for prepared in self._unbound:
                prepared.unbind()
            self._unbound.clear()
            raise wgpu.GPUError(str(error)) from error
        self._commands[:] = [
            (pipeline.pipeline if type(pipeline) is PreparedLaunch else pipeline, *rest)
            for pipeline, *rest in self._commands
        ]
        self._unbound.clear()

    @property
    def _is_compiling(self) -> bool:
        """Whether a submission would wait for a compiler."""
        while self._compiling and self._compiling[-1].is_done:
            self._compiling.pop()
        return bool(self._compiling)

    def _create_groups(self, task: Task, buffers: Sequence[WgpuBuffer], key: tuple[int, ...]) -> list[Any]:
        """Return new bind groups for the launches of a task, whose buffers are its inputs, outputs and scratch."""
        if self._group_count >= _GROUPS:
            self.drop_all_groups()
        storages = [buffer.storage(self.pool) for buffer in buffers]
        first = {"input": 0, "output": len(task.inputs), "scratch": len(task.inputs) + len(task.outputs)}
        groups = []
        created: dict[tuple[int, ...], Any] = {}
        for launch in task.prepared.launches:
            # factorisations launch few kernels many times
            alike = (id(launch.layout), id(launch.bindings), launch.nbytes)
            if alike in created:
                groups.append(created[alike])
                continue
            assert launch.layout is not None
            windows = [(self._uniforms.gpu, 0, launch.nbytes)]
            for binding in launch.bindings:
                storage = storages[first[binding.kind] + binding.slot]
                # an adopted buffer may lack the padding to 16 bytes of our own
                windows.append((storage.gpu, binding.offset, min(binding.nbytes, storage.nbytes - binding.offset)))
            created[alike] = self._driver.bind_group(launch.layout.group, windows)
            groups.append(created[alike])
        self._groups[key] = groups
        self._group_count += len(created)
        for serial in key[1:]:
            self._keys.setdefault(serial, set()).add(key)
        return groups

    def drop_groups(self, storage: Storage) -> None:
        """Forget the bind groups of a buffer before it is destroyed, and submit the open runs, which may use it."""
        self.flush()
        self._drop_encodings()
        for key in self._keys.pop(storage.serial, ()):
            self._group_count -= len(set(self._groups.pop(key, ())))
            for serial in key[1:]:
                if serial in self._keys:
                    self._keys[serial].discard(key)

    def drop_all_groups(self) -> None:
        """Forget all bind groups; they are created again when needed."""
        self._drop_encodings()
        self._groups.clear()
        self._keys.clear()
        self._group_count = 0

    def flush(self, download: Download | None = None) -> None:
        """Submit the open runs, and a copy to the host after them."""
        commands, driver = self._commands, self._driver
        if not commands:
            if download is not None:
                driver.submit(commands, download)
            return
        submissions = driver.submissions
        try:
            if self._unbound:
                self._bind()
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
        launches = self._timed().collect() if observers.active or self._timer is not None else []
        if launches:
            observers.launches_done(launches)
        for launch in launches if logs.is_enabled(logs.STEPS) else ():
            logs.log(logs.STEPS, "launch %12s us  %s", f"{(launch.stop - launch.start) / 1e3:,.1f}", launch.label)

    def clear(self) -> None:
        """Release the resources of this dispatcher on the device."""
        self.drop_all_groups()
        self._timer = None
        self._commands.clear()
        self._launched.clear()
        self._unbound.clear()
        self._compiling.clear()
        self._complete = 0
        self._uniforms.gpu.destroy()
