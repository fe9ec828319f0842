"""Compute pipelines, one for each canonical source text.

Invariant: equal text is compiled once while the cache holds it, whatever the sizes and scalars of the launches that
use it. Bind group layouts are ours, not derived from the text: binding 0 is the uniform block of parameter words with
a dynamic offset, bindings 1, 2, ... are storage buffers, read-only or not; kernels that bind alike share a layout and
so share bind groups. Called by the dispatcher at a program's first run. Kernels compile side by side, on other threads,
which touch nothing of what is kept here: the driver releases the interpreter lock while it compiles. First wgpu checks
a text, in about a millisecond. Then the driver makes a pipeline, for which a program waits only when its runs are
submitted.

On a software adapter a compiled kernel takes a megabyte or more. So kernels that were not used for long are dropped,
and the programs that use them are notified. Only this module and work in progress hold a pipeline for long.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns
from typing import Any, Final, NamedTuple, Protocol, TypeAlias
from weakref import WeakSet

import wgpu

from gpuarray import interrupts, logs, observers, thread_pool
from gpuarray.codegen.programs import is_in_range
from gpuarray.config import config
from gpuarray.errors import DeviceError
from gpuarray.providers.wgpu.driver import PublicDriver
from gpuarray.providers.wgpu.metrics import Counters
from gpuarray.thread_pool import Future

#: How many kernels are kept, and how many bytes they may take together, about.
_CAPACITY: Final = 4096
_MOST_BYTES: Final = 1 << 30
#: Bytes that a kernel takes, and that each character of its text adds, about: wgpu keeps the parsed text, and a driver
#: without a GPU the code of several variants.
_SIZES: Final = {False: (256 << 10, 40), True: (448 << 10, 240)}

#: A kernel to compile: its text, its name for people, and which of its storage bindings are writable.
Kernel: TypeAlias = tuple[str, str, tuple[bool, ...]]
#: What a compiled kernel is found by: its text, its bindings, and whether bounds checks were left out.
_Key: TypeAlias = tuple[str, tuple[bool, ...], bool]


class User(Protocol):
    """A user of compiled kernels.

    Attributes
    ----------
    runs : int
        How often it has run again.
    """

    runs: int

    def unbind(self) -> None:
        """Drop all kernels, and look them up again before the next run."""


class _Compiled:
    """A kernel that is kept, with its users."""

    __slots__ = ("label", "nbytes", "pipeline", "runs", "users")

    def __init__(self, pipeline: Any, label: str, nbytes: int) -> None:
        self.pipeline = pipeline
        self.label = label
        self.nbytes = nbytes
        self.runs = 0
        self.users: WeakSet[User] = WeakSet()

    def was_used(self) -> bool:
        """Whether it has run since the last call of this method."""
        before, self.runs = self.runs, sum(user.runs for user in self.users)
        return self.runs > before

    def drop(self) -> None:
        """Tell the users of the pipeline to release it."""
        for user in [*self.users]:
            user.unbind()


@dataclass(frozen=True, slots=True, eq=False)
class BindingLayout:
    """How a kernel binds: the bind group layout and the pipeline layout over it."""

    group: Any
    pipeline: Any


class _Begun(NamedTuple):
    """A kernel that other threads compile: its checked text, and its pipeline."""

    module: Future[Any]
    pipeline: Future[Any]


def numbered(source: str) -> str:
    """Return a source text with line numbers, as in a compiler's messages."""
    return "\n".join(f"{number:5} | {line}" for number, line in enumerate(source.splitlines(), 1))


class Pipelines:
    """The compiled kernels of one device.

    Parameters
    ----------
    driver, counters
        The parts of the same provider.
    is_software : bool
        Whether kernels become code for the processor.
    """

    def __init__(self, driver: PublicDriver, counters: Counters, *, is_software: bool = False) -> None:
        self._driver = driver
        self._counters = counters
        self._sizes = _SIZES[is_software]
        self._nbytes = 0
        self.constants: Mapping[str, bool] = {}
        self._layouts: dict[tuple[bool, ...], BindingLayout] = {}
        self._compiled: OrderedDict[_Key, _Compiled] = OrderedDict()
        self._ahead: set[_Key] = set()
        self._begun: dict[_Key, _Begun] = {}
        #: Whether kernels are compiled ahead, so that those that were not count.
        self.is_warmed = False

    def objects(self) -> Iterator[Any]:
        """Yield the wgpu objects that the cache holds."""
        yield from (compiled.pipeline for compiled in self._compiled.values())
        for layout in self._layouts.values():
            yield from (layout.group, layout.pipeline)

    @property
    def count(self) -> int:
        """How many kernels are kept."""
        return len(self._compiled)

    def layout(self, writable: tuple[bool, ...]) -> BindingLayout:
        """Return the layout of kernels whose storage bindings are ``writable`` or read-only."""
        known = self._layouts.get(writable)
        if known is None:
            uniform = {"type": "uniform", "has_dynamic_offset": True, "min_binding_size": 0}
            kinds = [uniform, *({"type": "storage" if w else "read-only-storage"} for w in writable)]
            entries = [
                {"binding": binding, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": kind}
                for binding, kind in enumerate(kinds)
            ]
            group = self._driver.device.create_bind_group_layout(entries=entries)
            known = BindingLayout(group, self._driver.device.create_pipeline_layout(bind_group_layouts=[group]))
            self._layouts[writable] = known
        return known

    def pipeline(self, source: str, label: str, writable: tuple[bool, ...], user: User | None = None) -> Any:
        """Return the pipeline of a source text, compiled now if needed; ``user`` is notified when it is dropped.

        Raises
        ------
        DeviceError
            If the text does not compile; the message has it, with line numbers.
        """
        key = source, writable, _is_trusted(source)
        compiled = self._compiled.get(key)
        if compiled is not None:
            self._compiled.move_to_end(key)
            if key in self._ahead:
                self._ahead.discard(key)
                self._counters.warm_hits += 1
            if user is not None:
                compiled.users.add(user)
            return compiled.pipeline
        self._counters.warm_misses += self.is_warmed
        if logs.is_enabled(logs.SOURCES):
            logs.log(logs.SOURCES, "compile %s\n%s", label, numbered(source))
        start = perf_counter_ns()
        with logs.report_if_long("compile", f"compiling the kernel {label}, once in this process"):
            compiled = self._keep(key, label, self._awaited(key, label))
        logs.log(logs.DEVICES, "compiled %s in %.1f ms", label, (perf_counter_ns() - start) / 1e6)
        if observers.active:
            observers.span(observers.COMPILE, label, start, perf_counter_ns())
        if user is not None:
            compiled.users.add(user)
        return compiled.pipeline

    def begin(self, kernels: Iterable[Kernel]) -> list[Future[Any]]:
        """Compile missing kernels on other threads; :meth:`pipeline` waits for the one that it needs."""
        begun = []
        for source, label, writable in kernels:
            key = source, writable, _is_trusted(source)
            if key not in self._compiled and key not in self._begun:
                module = Future(partial(self._module, source, label, key[2]))
                pipeline = thread_pool.submit(self._compile, source, label, self.layout(writable), module)
                self._begun[key] = _Begun(module, pipeline)
                self._counters.compiles += 1
                begun.append(pipeline)
        return begun

    def missing(self, kernels: Iterable[Kernel]) -> int:
        """Return how many kernels are not compiled yet."""
        keys = [(source, writable, _is_trusted(source)) for source, _, writable in kernels]
        return sum(
            key not in self._compiled and not (key in self._begun and self._begun[key].pipeline.is_done) for key in keys
        )

    def check(self, kernels: Iterable[Kernel]) -> None:
        """Wait until the texts of kernels that were begun are checked.

        Raises
        ------
        DeviceError
            If one does not compile; the message has it, with line numbers.
        """
        for source, label, writable in kernels:
            key = source, writable, _is_trusted(source)
            begun = self._begun.get(key)
            if begun is None:
                continue
            with logs.report_if_long("compile", f"compiling the kernel {label}, once in this process"):
                begun.module.wait(interrupts.end_if_long)
            if begun.module.has_failed:
                self._awaited(key, label)

    def ahead(self, source: str, label: str, writable: tuple[bool, ...]) -> None:
        """Compile a source text that may be needed later, if there is room."""
        key = source, writable, _is_trusted(source)
        if key not in self._compiled and not self._is_full:
            self._keep(key, label, self._awaited(key, label))
            self._ahead.add(key)

    def used(self) -> Iterator[tuple[str, str, tuple[bool, ...]]]:
        """Yield text, label and bindings of the kernels in use, the most recent ones last."""
        for key, compiled in self._compiled.items():
            if key not in self._ahead:
                yield key[0], compiled.label, key[1]

    def _keep(self, key: _Key, label: str, pipeline: Any) -> _Compiled:
        fixed, each = self._sizes
        compiled = self._compiled[key] = _Compiled(pipeline, label, fixed + each * len(key[0]))
        self._nbytes += compiled.nbytes
        return compiled

    @property
    def _is_full(self) -> bool:
        return len(self._compiled) >= _CAPACITY or self._nbytes >= _MOST_BYTES

    def make_room(self) -> bool:
        """Drop kernels that were not used for long, if there are too many; called before others are compiled.

        Return whether any was dropped.
        """
        count = self.count
        while self._compiled and self._is_full:
            key, compiled = self._compiled.popitem(last=False)
            if compiled.was_used():
                self._compiled[key] = compiled
                continue
            self._ahead.discard(key)
            self._nbytes -= compiled.nbytes
            compiled.drop()
        return self.count < count

    def _awaited(self, key: _Key, label: str) -> Any:
        """Return a kernel compiled by another thread, so that interrupts end the wait for it."""
        source, writable, _ = key
        self.begin([(source, label, writable)])
        begun = self._begun[key].pipeline
        begun.wait(interrupts.end_if_long)  # after an interrupt the compilation continues for later calls
        del self._begun[key]
        self._counters.compiles -= begun.has_failed
        return begun.result()

    def _module(self, source: str, label: str, trusted: bool) -> Any:
        try:
            return self._driver.shader_module(source, label, trusted=trusted)
        except wgpu.GPUError as error:
            raise _failure(source, label, error) from error

    def _compile(self, source: str, label: str, layout: BindingLayout, module: Future[Any]) -> Any:
        module.run()
        stage = {"module": module.result(), "entry_point": "main"}
        constants = self.constants_of(source)
        if constants:
            stage["constants"] = constants
        try:
            return self._driver.device.create_compute_pipeline(label=label, layout=layout.pipeline, compute=stage)
        except wgpu.GPUError as error:
            raise _failure(source, label, error) from error

    def constants_of(self, source: str) -> dict[str, float]:
        """Return the pipeline constants of a source text."""
        return {name: float(value) for name, value in self.constants.items() if f"override {name}" in source}

    def forget(self) -> None:
        """Drop the kernels, after other threads have finished compiling."""
        thread_pool.wait([begun.pipeline for begun in self._begun.values()])
        self._begun.clear()
        for compiled in self._compiled.values():
            compiled.drop()
        self._compiled.clear()
        self._ahead.clear()
        self._nbytes = 0

    def clear(self) -> None:
        """Drop everything."""
        self.forget()
        self._layouts.clear()


def _failure(source: str, label: str, error: wgpu.GPUError) -> DeviceError:
    return DeviceError(f"the kernel {label!r} does not compile: {error}\n{numbered(source)}")


def _is_trusted(source: str) -> bool:
    """Whether bounds checks are left out: the source is in range by construction, and no fault is being looked for."""
    return is_in_range(source) and config.debug == 0 and not config.verify
