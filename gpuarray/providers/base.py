"""The provider protocol, which is independent of individual operations.

A provider owns one device: its memory, its queue and its compiled kernels. It runs :data:`~gpuarray.fusion.steps.Step`
values, which are data. Running enqueues; only :meth:`Provider.read` and :meth:`Provider.synchronize` wait.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy.typing as npt

from gpuarray.device import Capabilities, Device
from gpuarray.fusion.steps import Step


class Buffer(Protocol):
    """Device memory, which is freed by ``release`` or when the last reference is dropped."""

    @property
    def nbytes(self) -> int:
        """The requested size in bytes."""

    @property
    def is_shared(self) -> bool:
        """Whether other code can access the memory, because it was exported or adopted."""

    def release(self) -> None:
        """Free the memory. The buffer must not be used again; releasing it twice is allowed."""


@dataclass(slots=True)
class Task:
    """A prepared step with its buffers and the values of its scalars (Python or NumPy scalars).

    ``tag`` identifies the task in :class:`gpuarray.observers.Launch`.
    """

    prepared: Any
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    scalars: Sequence[Any]
    tag: Any = None


class Provider(Protocol):
    """Runs steps on one device."""

    device: Device
    capabilities: Capabilities

    def allocate(self, nbytes: int) -> Any:
        """Return a buffer of at least ``nbytes`` bytes with undefined contents.

        Raises
        ------
        DeviceMemoryError
            If the device is out of memory, or the memory limit is reached, even after unused memory was released.
        """

    def write(self, buffer: Any, array: npt.NDArray[Any]) -> None:
        """Copy a C-contiguous host array to the start of ``buffer``. The array may be changed after the call."""

    def read(self, buffer: Any, array: npt.NDArray[Any]) -> None:
        """Wait for all enqueued work, and copy the start of ``buffer`` to a C-contiguous host array."""

    def supports(self, step: Step) -> str | None:
        """Return None if the device supports ``step``, otherwise a short reason."""

    def prepare(self, step: Step) -> Any:
        """Return the prepared form of ``step`` for :meth:`run`, which is cached with the plan."""

    def run(self, tasks: Sequence[Task], wanted: Any = None) -> None:
        """Enqueue tasks in order. Each task sees the writes of earlier ones.

        Parameters
        ----------
        tasks : sequence of Task
            The tasks.
        wanted : Buffer, optional
            The buffer that is read next, if it is known. Its download may be enqueued with the tasks.
        """

    def synchronize(self) -> None:
        """Wait until all enqueued work has finished, and raise errors of the device."""

    def stats(self) -> Mapping[str, int]:
        """Return counters: launches, compiles, bytes_uploaded, bytes_downloaded, bytes_live, bytes_pooled, ..."""

    def reset_stats(self) -> None:
        """Set the counters of events (not the gauges of memory) to zero."""

    def restart_peak(self) -> None:
        """Reset the peak of memory, ``peak_bytes`` of :meth:`stats`, to the memory in use now."""

    def collect(self) -> None:
        """Report timed launches that have run to the observers of :mod:`gpuarray.observers`."""

    def describe(self, prepared: Any) -> str:
        """Return the source text of a prepared step; empty if there is none."""

    def launch_count(self, prepared: Any) -> int:
        """Return the number of launches of a prepared step."""

    def export(self, buffer: Any) -> Any:
        """Return the native object of ``buffer``, such as a ``wgpu.GPUBuffer``, without a copy."""

    def adopt(self, handle: Any, nbytes: int) -> Any:
        """Return a buffer over a native object, which the caller continues to own."""

    def close(self) -> None:
        """Release all resources. Later calls raise DeviceError."""


class HostProvider(Provider, Protocol):
    """The provider of the host, whose estimates depend on its threads."""

    def chunks(self, step: Step) -> int:
        """Return the approximate number of chunks of a step's loops that threads share; 1 for a single thread."""
