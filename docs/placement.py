"""Find out where functions run, by calling them on simulated GPUs that compute in-process."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.codegen import emit
from gpuarray.device import Capabilities, Device
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import CallStep, ContractStep, CopyStep, Loop, ScanStep, ScatterStep, Step
from gpuarray.providers import registry
from gpuarray.providers.base import Task
from gpuarray.providers.inprocess.provider import InProcessProvider
from gpuarray.runtime import telemetry
from gpuarray.settings import Config

#: 64-bit dtypes, which some GPUs do not support.
DOUBLE: Final = frozenset((dtypes.float64, dtypes.complex128))
#: A GPU with all features, and one with only the features that every GPU has.
FULL: Final = Capabilities(adapter="full", storage_bindings=32, workgroup_memory=32768)
PLAIN: Final = Capabilities(adapter="plain", dtypes=FULL.dtypes - DOUBLE, native_int64=False, storage_bindings=8)
#: The dtypes of the standard.
STANDARD: Final = tuple(dtype for dtype in dtypes.ALL if dtype != dtypes.float16)


class Recorder(InProcessProvider):
    """Runs the steps that have kernels in-process, and records them."""

    def __init__(self, device: Device, capabilities: Capabilities) -> None:
        super().__init__(device, threads=1)
        self.capabilities = capabilities
        self.steps: list[Step] = []
        self.reads = 0

    def supports(self, step: Step) -> str | None:
        """Return None if ``step`` has a kernel, and otherwise the reason for rejecting it."""
        return emit.unsupported(step, self.capabilities)

    def prepare(self, step: Step) -> Any:
        """Return ``step`` and its compiled form."""
        return step, super().prepare(step)

    def run(self, tasks: Sequence[Task], wanted: Any = None) -> None:
        """Run tasks in order."""
        self.steps += [task.prepared[0] for task in tasks]
        super().run([replace(task, prepared=task.prepared[1]) for task in tasks], wanted)

    def read(self, buffer: Any, array: npt.NDArray[Any]) -> None:
        """Copy the start of ``buffer`` into a host array."""
        self.reads += 1
        super().read(buffer, array)


registry.register(FULL.adapter, lambda _: Recorder(Device(FULL.adapter), FULL))
registry.register(PLAIN.adapter, lambda _: Recorder(Device(PLAIN.adapter), PLAIN))


@dataclass
class Placement:
    """Where a function runs on one device.

    Attributes
    ----------
    accepted : list of dtype
        The dtypes that it accepts.
    hosted : list of dtype
        Those for which a step runs on the host.
    kernels : dict
        The kinds of its kernels, in order.
    host_steps : dict
        The names of the steps on the host, in order.
    waits : bool
        Whether the call waits for a value.
    makes_arrays : bool
        Whether the result contains arrays.
    """

    accepted: list[DType] = field(default_factory=list)
    hosted: list[DType] = field(default_factory=list)
    kernels: dict[str, None] = field(default_factory=dict)
    host_steps: dict[str, None] = field(default_factory=dict)
    waits: bool = False
    makes_arrays: bool = False


def placement(call: Callable[[Any], Any], capabilities: Capabilities) -> Placement:
    """Return where ``call``, a function of one square matrix, runs on a device."""
    found = Placement()
    recorder = registry.open_device(Device(capabilities.adapter))
    assert isinstance(recorder, Recorder)
    # independent of the environment, and restricted to the dtypes that the standard requires
    settings = replace(Config(), device=recorder.device.name, direct_pinned=False, strict_array_api=True)
    with xp.using(**asdict(settings)):
        for dtype in STANDARD:
            # computed on the device, so that reading it is counted
            rows = xp.asarray(np.array([[4, 1], [1, 3]], dtype))
            x = xp.concat([rows[:1], rows[1:]])
            xp.evaluate(x)
            telemetry.reset_stats()
            recorder.steps, recorder.reads = [], 0
            try:
                result = call(x)
            except (TypeError, ValueError):
                continue
            found.accepted.append(dtype)
            found.waits |= recorder.reads > 0
            arrays = [value for value in _flat(result) if isinstance(value, xp.GpuArray)]
            if arrays:
                found.makes_arrays = True
                xp.evaluate(*arrays)
            missing = telemetry.fallbacks()
            found.kernels.update(dict.fromkeys(map(_kind, recorder.steps)))
            found.host_steps.update(dict.fromkeys(name for name, _ in missing))
            if missing:
                found.hosted.append(dtype)
    assert found.accepted, call
    return found


def _flat(value: Any) -> list[Any]:
    return [part for item in value for part in _flat(item)] if isinstance(value, tuple | list) else [value]


def _kind(step: Step) -> str:
    match step:
        case Loop():
            return "reduction" if step.folds else "map"
        case ScanStep():
            return "scan"
        case ContractStep():
            return "matrix product"
        case CopyStep() | ScatterStep():
            return "scatter"
        case CallStep():
            return f"`{step.op.name}`"
