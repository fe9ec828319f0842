"""The provider protocol: the interface of a device, which knows no operation by name.

A provider owns one device: its memory, its queue, its compiled kernels. It runs :data:`~gpuarray.fusion.steps.Step`
values as data. Running enqueues; only :meth:`Provider.read` and :meth:`Provider.synchronize` wait.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

from gpuarray.device import Capabilities, Device
from gpuarray.fusion.steps import Step


class Buffer(Protocol):
    """Device memory, which is freed by :meth:`release` or when the last reference to it is dropped."""

    @property
    def nbytes(self) -> int:
        """The requested size, in bytes."""

    @property
    def is_shared(self) -> bool:
        """Whether code outside this package refers to the memory, because it was exported or adopted."""

    def release(self) -> None:
        """Free the memory; the buffer must not be used again. Releasing twice is allowed."""


@dataclass(slots=True)
class Task:
    """A prepared step with its buffers and the values of its scalars (Python or NumPy scalars).

    ``tag`` identifies it in :class:`gpuarray.observers.Launch`.
    """

    prepared: Any
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    scalars: Sequence[Any]
    tag: Any = None


class Kernel(NamedTuple):
    """A kernel of a prepared step, for :func:`gpuarray.explain`.

    Attributes
    ----------
    name : str
        Its name, as :func:`gpuarray.profile` shows it; empty if there is none.
    launches : int
        How often the step launches it.
    source : str
        Its text.
    """

    name: str
    launches: int
    source: str


class Provider(Protocol):
    """Runs steps on one device."""

    device: Device
    capabilities: Capabilities

    def allocate(self, nbytes: int) -> Any:
        """Return a buffer of at least ``nbytes`` bytes with undefined contents.

        Raises
        ------
        DeviceMemoryError
            If the device or its memory limit is exhausted even after unused memory was freed.
        """

    def allocate_all(self, sizes: Sequence[int]) -> list[Any]:
        """Return a buffer as :meth:`allocate` does for each of some sizes; none is kept if there is no room for all."""

    def write(self, buffer: Any, array: npt.NDArray[Any]) -> None:
        """Copy a C-contiguous host array to the start of ``buffer``; the array may be changed after the return."""

    def read(self, buffer: Any, array: npt.NDArray[Any]) -> None:
        """Wait for the enqueued work, and copy the start of ``buffer`` into a C-contiguous host array."""

    def supports(self, step: Step) -> str | None:
        """Return None if ``step`` can run here, otherwise the reason in a few words."""

    def prepare(self, step: Step) -> Any:
        """Return ``step`` in the form that :meth:`run` takes. It is cached with the plan and used many times."""

    def run(self, tasks: Sequence[Task], wanted: Any = None) -> None:
        """Enqueue tasks in order; each sees what earlier ones wrote.

        Parameters
        ----------
        tasks : sequence of Task
            What to run.
        wanted : Buffer, optional
            The buffer that is read next, if known: its copy to the host may be enqueued with the tasks.
        """

    def synchronize(self) -> None:
        """Wait until everything enqueued is done; raise the device's error if there was one."""

    def stats(self) -> Mapping[str, int]:
        """Return counters: launches, compiles, bytes_uploaded, bytes_downloaded, bytes_live, bytes_pooled, ..."""

    def reset_stats(self) -> None:
        """Set the counters of events (not the gauges of memory) to zero."""

    def restart_peak(self) -> None:
        """Reset the peak of memory, ``peak_bytes`` of :meth:`stats`, to the memory in use now."""

    def collect(self) -> None:
        """Report the timed launches to the observers of :mod:`gpuarray.observers`, once they have run."""

    def describe(self, prepared: Any) -> Sequence[Kernel]:
        """Return the distinct kernels of a prepared step, in the order of their first launches."""

    def launch_count(self, prepared: Any) -> int:
        """Return how many launches a prepared step makes."""

    def export(self, buffer: Any) -> Any:
        """Return the device API's own object behind ``buffer``, such as a ``wgpu.GPUBuffer``, without a copy."""

    def adopt(self, handle: Any, nbytes: int) -> Any:
        """Return a buffer over the device API's own object, which still belongs to its owner."""

    def close(self) -> None:
        """Release everything; later calls raise DeviceError."""


class TranslatingProvider(Provider, Protocol):
    """A provider that translates steps to a form of its own, once for many sizes."""

    def translate(self, step: Step) -> Any:
        """Return the form of a step as dataclasses and tuples; numbers in the step may be ``Varying``."""

    def prepare(self, step: Step, translated: Any = None) -> Any:
        """Return ``step`` in the form that :meth:`run` takes; ``translated`` is its translation, if it was made."""


class CompilingProvider(Provider, Protocol):
    """A provider that compiles kernels on other threads."""

    def compile_ahead(self, steps: Sequence[Any]) -> int:
        """Begin to compile the kernels of prepared steps, and return how many are not compiled yet."""


class RepeatingProvider(Provider, Protocol):
    """A provider that keeps what it enqueued for tasks, and whose buffers have a ``serial`` number each.

    No other buffer of any device ever has the same number.
    """

    def run(self, tasks: Sequence[Task], wanted: Any = None, key: tuple[int, ...] = ()) -> None:
        """Enqueue tasks, and keep what was enqueued for :meth:`repeat` if there is a ``key``."""

    def repeat(self, key: tuple[int, ...], scalars: list[Any], wanted: Any = None) -> bool:
        """Enqueue the tasks of a key again; return False, having done nothing, if they are to be given to :meth:`run`.

        Parameters
        ----------
        key : tuple of int
            A number that stands for the programs of the tasks, and the serial numbers of all their buffers.
        scalars : list
            The scalars of all tasks, in order.
        wanted : Buffer, optional
            The buffer that is read next, if known.
        """


class WordProvider(Provider, Protocol):
    """A provider that reads words of many buffers in one submission."""

    def read_words(self, buffers: Sequence[Any]) -> Callable[[], npt.NDArray[Any]]:
        """Start to copy the first four bytes of each buffer; the function that is returned waits for these numbers."""


class HostProvider(Provider, Protocol):
    """The provider of the host, whose estimates depend on its threads."""

    def chunks(self, step: Step) -> int:
        """Return the approximate number of chunks into which threads divide a step's loops; 1 for a single thread."""

    def memory_of(self, buffer: Any) -> Any:
        """Return the memory of a buffer, to be read immediately; unlike that of ``export``, it is reused."""
