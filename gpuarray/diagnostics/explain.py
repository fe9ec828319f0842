"""`explain`: what evaluating an array would do, without doing it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gpuarray.array import GpuArray, joint_device
from gpuarray.fusion import steps
from gpuarray.graph.nodes import Generate, Leaf, Node
from gpuarray.graph.walk import current, merge, operands, topological
from gpuarray.providers import registry
from gpuarray.runtime import evaluate, offload


@dataclass(frozen=True)
class ExplainedStep:
    """One step of a plan.

    Attributes
    ----------
    text : str
        The canonical text of the step: kinds, rows, dtypes, ranks and strides; no sizes and no values.
    where : str
        ``"device"`` or ``"host"``.
    reason : str
        Why it runs there.
    launches : int
        Kernels that it launches.
    inputs, outputs : tuple of int
        Numbers of the values that it reads and writes, as in the graph.
    source : str
        The kernels' text: WGSL on wgpu.
    """

    text: str
    where: str
    reason: str
    launches: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    source: str


@dataclass(frozen=True)
class Explanation:
    """What evaluating some arrays would do; ``str`` of it is for people.

    Attributes
    ----------
    device : str
        Where it runs.
    device_reason : str
        Why there.
    graph : tuple of str
        The recorded operations, one a line; ``%n`` is a value.
    steps : tuple of ExplainedStep
        What runs, in order.
    show_source : bool
        Whether ``str`` shows the kernels' text.
    """

    device: str
    device_reason: str
    graph: tuple[str, ...]
    steps: tuple[ExplainedStep, ...]
    show_source: bool = False

    @property
    def launches(self) -> int:
        """Kernels that are launched in all."""
        return sum(step.launches for step in self.steps)

    @property
    def operations(self) -> int:
        """Operations recorded."""
        return sum(1 for line in self.graph if " = leaf " not in line)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"device {self.device}: {self.device_reason}"
        yield f"graph: {self.operations} operations"
        yield from (f"  {line}" for line in self.graph)
        plural = "" if self.launches == 1 else "es"
        yield f"plan: {len(self.steps)} steps, {self.launches} launch{plural}"
        for number, step in enumerate(self.steps):
            reads = ", ".join(f"%{i}" for i in step.inputs) or "nothing"
            writes = ", ".join(f"%{o}" for o in step.outputs)
            yield f"step {number}: {step.launches} launches, reads {reads}, writes {writes}"
            yield f"  on the {step.where}: {step.reason}"
            yield from (f"  {line}" for line in step.text.splitlines())
            if self.show_source and step.source:
                yield from (f"  | {line}" for line in step.source.splitlines())


def explain(*arrays: GpuArray, source: bool = False) -> Explanation:
    """Say what evaluating arrays would do, without doing it.

    Parameters
    ----------
    *arrays : GpuArray
        What would be evaluated together.
    source : bool
        Whether ``str`` of the answer shows the kernels' text, WGSL on wgpu.

    Returns
    -------
    Explanation
        Graph, steps, placement with reasons; ``launches`` is the number of kernels. An array that has a value already
        needs no step.

    Raises
    ------
    TypeError
        If an argument is no GpuArray.

    Examples
    --------
    >>> import gpuarray as xp
    >>> x = xp.arange(1000, dtype=xp.float32, device="cpu")
    >>> xp.explain(xp.exp(x) + 1).launches
    1
    """
    if not arrays or not all(isinstance(a, GpuArray) for a in arrays):
        raise TypeError(f"explain takes GpuArrays, not {[type(a).__name__ for a in arrays]}")
    device = arrays[0].device
    for array in arrays[1:]:
        device = joint_device(device, array.device)
    nodes = [current(a.node()) for a in arrays]
    resolved, reason = registry.resolution() if device.kind == "auto" else (registry.resolve(device), "asked for")
    found = evaluate.plan_of(nodes, device)
    if found is None:
        return Explanation(resolved.name, reason, (), (), source)
    ready, order, provider = found
    explained = tuple(_explained(step, provider) for step in ready.steps)
    return Explanation(resolved.name, reason, tuple(_graph_lines(order)), explained, source)


def _explained(step: evaluate.ReadyStep, provider: Any) -> ExplainedStep:
    planned = step.planned
    on_device = step.decision.where == offload.DEVICE
    return ExplainedStep(
        steps.text(planned.step),
        step.decision.where,
        step.decision.reason,
        provider.launch_count(step.prepared) if on_device else 0,
        planned.inputs,
        planned.outputs,
        provider.describe(step.prepared) if on_device else "",
    )


def _graph_lines(order: list[Node]) -> Iterator[str]:
    position = merge(topological(order)).position
    for number, node in enumerate(order):
        shape = "x".join(map(str, node.shape)) or "scalar"
        kind = type(node).__name__.lower()
        op = getattr(node, "op", None)
        name = kind if op is None else op.name
        inputs = " ".join(f"%{i}" for i in operands(node, position))
        extra = ""
        if isinstance(node, Generate):
            extra = " ".join(repr(p.item()) if hasattr(p, "item") else repr(p) for p in node.parameters)
        elif isinstance(node, Leaf):
            extra = "on host" if node.host is not None and not node.buffers else "resident"
        text = " ".join(part for part in (name, inputs, extra) if part)
        yield f"%{number}: {node.dtype.name}[{shape}] = {text}"
