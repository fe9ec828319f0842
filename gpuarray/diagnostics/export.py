"""Export of a plan: each kernel with its bindings, in files that run without this package.

Invariant: the inputs and results of each step are downloaded before and after it while the plan runs once, so that each
step can be run and changed alone. Called by :meth:`gpuarray.diagnostics.explanation.Explanation.save`.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gpuarray.device import Device
from gpuarray.diagnostics.explanation import Explanation
from gpuarray.fusion.steps import Loop, ScatterStep, Step
from gpuarray.graph.nodes import Node
from gpuarray.providers import registry
from gpuarray.providers.base import Task
from gpuarray.runtime import evaluate


def save(explanation: Explanation, folder: Path, nodes: Sequence[Node], device: Device) -> list[Path]:
    """Run an explained plan and write its files; see :meth:`Explanation.save`."""
    provider = registry.open_device(device)
    if not hasattr(provider, "kernels") or not any(step.source for step in explanation.steps):
        raise ValueError(
            f"this plan has no kernels to export (it runs on {provider.device.name!r}); create the arrays on "
            "device='wgpu'"
        )
    if all(node.result is not None for node in nodes):
        raise ValueError("the arrays were evaluated after explain was called; call save before they are evaluated")
    writer = _Writer(folder, provider, explanation)
    evaluate.evaluate(nodes, device, writer.run)
    return writer.finish()


class _Writer:
    """Writes the files of steps while they run."""

    def __init__(self, folder: Path, provider: Any, explanation: Explanation) -> None:
        self.folder = folder
        self.provider = provider
        self.nodes = {node.number: node for node in reversed(explanation.nodes)}
        self.files: dict[str, str] = {}
        self.steps: list[dict[str, Any]] = []
        for name in ("kernels", "arrays"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def run(self, tasks: Sequence[Task]) -> None:
        """Run tasks one by one, like a provider, and write each."""
        for task in tasks:
            step = task.tag.planned.step
            positions = task.tag.planned
            inputs = [self._read(b, p) for b, p in zip(task.inputs, positions.inputs, strict=True)]
            before: list[npt.NDArray[Any] | None] = [
                self._read(b, p) if _keeps(step) else None for b, p in zip(task.outputs, positions.outputs, strict=True)
            ]
            self.provider.run([task])
            after = [self._read(b, p) for b, p in zip(task.outputs, positions.outputs, strict=True)]
            number = len(self.steps)
            self.steps.append(
                {
                    "inputs": [self._array(f"step{number}-input{i}", a) for i, a in enumerate(inputs)],
                    "before": [
                        None if a is None else self._array(f"step{number}-before{i}", a) for i, a in enumerate(before)
                    ],
                    "results": [self._array(f"step{number}-result{i}", a) for i, a in enumerate(after)],
                    "scratch": list(task.prepared.program.scratch),
                    "launches": [self._kernel(number, launch) for launch in self.provider.kernels(task)],
                }
            )

    def _read(self, buffer: Any, position: int) -> npt.NDArray[Any]:
        node = self.nodes[position]
        array = np.empty(node.shape, node.dtype)
        self.provider.read(buffer, array)
        return array

    def _array(self, name: str, array: npt.NDArray[Any]) -> str:
        """Write an array, unless an equal one was written, and return the name of its file."""
        digest = hashlib.blake2b(array.tobytes(), person=array.dtype.str.encode()[:16]).hexdigest()
        key = f"{digest} {array.shape}"
        if key not in self.files:
            self.files[key] = f"arrays/{name}.npy"
            np.save(self.folder / self.files[key], array)
        return self.files[key]

    def _kernel(self, number: int, launch: dict[str, Any]) -> dict[str, Any]:
        source = launch["source"]
        if source not in self.files:
            label = "".join(c if c.isalnum() else "_" for c in launch["label"])[:60]
            self.files[source] = f"kernels/step{number}-{len(self.files)}-{label}.wgsl"
            (self.folder / self.files[source]).write_text(source, encoding="utf-8")
        return {**launch, "source": self.files[source]}

    def finish(self) -> list[Path]:
        """Write the files that belong to no single step; return all files."""
        limits = self.provider.capabilities
        plan = {
            "adapter": limits.adapter,
            "driver": limits.driver,
            "features": sorted(limits.features),
            "steps": self.steps,
        }
        (self.folder / "plan.json").write_text(json.dumps(plan, indent=1), encoding="utf-8")
        (self.folder / "run.py").write_text(self.provider.runner.read_text(encoding="utf-8"), encoding="utf-8")
        return [self.folder / name for name in ("plan.json", "run.py", *self.files.values())]


def _keeps(step: Step) -> bool:
    """Return True if a step writes only some elements of its outputs."""
    loop = step if isinstance(step, Loop) else getattr(step, "epilogue", None)
    if isinstance(loop, Loop):
        return bool(loop.updates) or any(s.layout.size < s.extent or s.position is not None for s in loop.stores)
    return isinstance(step, ScatterStep)
