"""A complete provider on one page. It computes elementwise loops with NumPy, in the memory of this process."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gpuarray.device import Capabilities, Device
from gpuarray.errors import DeviceError, DeviceMemoryError
from gpuarray.fusion.steps import Apply, Load, Loop, Scalar, Step
from gpuarray.graph.layouts import Layout
from gpuarray.graph.moving import at_values
from gpuarray.providers import registry
from gpuarray.providers.base import Kernel, Task

Array = npt.NDArray[Any]


class TinyBuffer:
    """A block of bytes. The provider counts the bytes of live buffers."""

    def __init__(self, provider: "TinyProvider", memory: Array, is_shared: bool = False) -> None:
        self.provider = provider
        self.memory = memory
        self.nbytes = memory.size
        self.is_shared = is_shared
        self.is_live = not is_shared
        provider.count("bytes_live", self.nbytes if self.is_live else 0)

    def release(self) -> None:
        """Release the memory. Calling it twice is allowed."""
        if self.is_live:
            self.is_live = False
            self.provider.count("bytes_live", -self.nbytes)
            self.memory = np.empty(0, np.uint8)

    def __del__(self) -> None:
        self.release()


class TinyProvider:
    """Runs elementwise loops. All other steps are rejected; they run on the host and are counted as fallbacks."""

    def __init__(self, number: int, room: int = 1 << 30) -> None:
        self.device = Device(f"tiny:{number}")
        self.capabilities = Capabilities(adapter="tiny", backend="NumPy", kind="CPU", buffer_limit=room)
        self.room = room
        self.is_closed = False
        self.counters = {"launches": 0, "compiles": 0, "bytes_uploaded": 0, "bytes_downloaded": 0, "bytes_live": 0}

    # -- memory

    def allocate(self, nbytes: int) -> TinyBuffer:
        """Return a buffer with undefined contents."""
        if self.is_closed:
            raise DeviceError(f"device {self.device.name!r} was closed")
        if self.counters["bytes_live"] + nbytes > self.room:
            raise DeviceMemoryError(f"device {self.device.name!r} cannot allocate {nbytes:,} more bytes")
        return TinyBuffer(self, np.empty(nbytes, np.uint8))

    def allocate_all(self, sizes: Sequence[int]) -> list[TinyBuffer]:
        """Return a buffer for each of some sizes."""
        return [self.allocate(nbytes) for nbytes in sizes]

    def write(self, buffer: TinyBuffer, array: Array) -> None:
        """Copy a host array to the start of a buffer."""
        buffer.memory[: array.nbytes] = array.reshape(-1).view(np.uint8)
        self.count("bytes_uploaded", array.nbytes)

    def read(self, buffer: TinyBuffer, array: Array) -> None:
        """Copy the start of a buffer into a host array."""
        array.reshape(-1).view(np.uint8)[:] = buffer.memory[: array.nbytes]
        self.count("bytes_downloaded", array.nbytes)

    def export(self, buffer: TinyBuffer) -> Array:
        """Return the memory of a buffer, which is shared from now on."""
        buffer.is_shared = True
        return buffer.memory

    def adopt(self, handle: Array, nbytes: int) -> TinyBuffer:
        """Return a buffer over memory that belongs to the caller."""
        return TinyBuffer(self, handle.reshape(-1).view(np.uint8)[:nbytes], is_shared=True)

    # -- steps

    def supports(self, step: Step) -> str | None:
        """Return None for elementwise loops over buffers, and otherwise the reason for rejecting the step."""
        if not isinstance(step, Loop):
            return f"there is no {type(step).__name__} here"
        for item in step.instructions:
            if not isinstance(item, Scalar | Load | Apply):
                return f"there is no {type(item).__name__} here"
            if isinstance(item, Apply) and getattr(item.op.numpy, "nout", 1) > 1:
                return f"{item.op.name} has several results"
        return "scattered stores" if any(store.position is not None for store in step.stores) else None

    def prepare(self, step: Step) -> Step:
        """Return the step, which is all that `run` needs. A GPU provider would generate and compile a kernel."""
        return step

    def run(self, tasks: Sequence[Task], wanted: TinyBuffer | None = None) -> None:
        """Run tasks in order. A GPU provider would enqueue them, and the download of ``wanted``."""
        for task in tasks:
            with np.errstate(all="ignore"):
                _run(task.prepared, [b.memory for b in task.inputs], [b.memory for b in task.outputs], task.scalars)
        self.count("launches", len(tasks))

    def synchronize(self) -> None:
        """Return at once, because `run` has finished its tasks."""

    def describe(self, prepared: Step) -> list[Kernel]:
        """Return the kernels for `explain`; there are none."""
        return []

    def launch_count(self, prepared: Step) -> int:
        """Return the number of launches of a step."""
        return 1

    # -- the provider itself

    def count(self, name: str, amount: int) -> None:
        """Add to a counter."""
        self.counters[name] += amount

    def stats(self) -> Mapping[str, int]:
        """Return the counters."""
        return dict(self.counters)

    def reset_stats(self) -> None:
        """Set the counters of events to zero, but not that of live bytes."""
        self.counters = {name: count if name == "bytes_live" else 0 for name, count in self.counters.items()}

    def restart_peak(self) -> None:
        """Do nothing, because peak memory is not recorded."""

    def collect(self) -> None:
        """Do nothing, because launches are not timed."""

    def close(self) -> None:
        """Release all resources."""
        self.is_closed = True


def _run(loop: Loop, inputs: list[Array], outputs: list[Array], scalars: Sequence[Any]) -> None:
    """Compute each instruction for all elements, then store the results."""
    values: list[Any] = []
    replaced = {read for read, _ in loop.updates}  # inputs that share a buffer with an output
    for item in loop.instructions:
        if isinstance(item, Scalar):
            values.append(item.dtype.type(scalars[item.slot]))
        elif isinstance(item, Load):
            view = _view(inputs[item.slot], item.layout, item.dtype, scalars)
            values.append(view.copy() if item.slot in replaced else view)
        elif isinstance(item, Apply):
            signature = item.op.resolve(*item.sources)
            operands = [
                np.asarray(values[number]).astype(dtype, copy=False)
                for number, dtype in zip(item.operands, signature.inputs, strict=True)
            ]
            out = np.empty(np.broadcast_shapes(*(operand.shape for operand in operands)), signature.output)
            item.op.numpy(*operands, out=out)
            values.append(out.astype(item.dtype, copy=False))
    for store in loop.stores:
        view = _view(outputs[store.slot], store.layout, store.dtype, scalars)
        np.copyto(view, values[store.value], casting="unsafe")


def _view(memory: Array, layout: Layout, dtype: np.dtype[Any], scalars: Sequence[Any]) -> Array:
    """Return a view of a buffer with a layout, whose strides and offset, which may be a scalar, are in elements."""
    strides = [stride * dtype.itemsize for stride in layout.strides]
    return np.ndarray(layout.shape, dtype, memory, at_values(layout.offset, scalars) * dtype.itemsize, strides)


registry.register("tiny", TinyProvider)
