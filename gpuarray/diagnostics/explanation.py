"""The result of `explain`: the stages of an evaluation as data, text, HTML and drawings."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from math import inf
from pathlib import Path
from typing import Any, Final

from gpuarray.diagnostics import drawing
from gpuarray.fusion.costs import Cost
from gpuarray.graph.layouts import Shape
from gpuarray.providers.base import Kernel
from gpuarray.source_locations import SourceLocation

#: The stages: the recorded operations; the operations without duplicates; the steps that run; where each runs and why;
#: the kernels.
STAGES: Final = ("graph", "simplified", "plan", "placement", "wgsl")
_SHOWN: Final = ("simplified", "plan")
#: With more operations or steps than these, the text without a stage is a summary.
_MOST_NODES: Final = 100
_MOST_STEPS: Final = 20


def amount(nbytes: float) -> str:
    """Format a number of bytes."""
    for unit in ("B", "KiB", "MiB"):
        if nbytes < 1024:
            return f"{nbytes:,.0f} {unit}" if unit == "B" else f"{nbytes:,.1f} {unit}"
        nbytes /= 1024
    return f"{nbytes:,.2f} GiB"


def duration(nanoseconds: float) -> str:
    """Format a time."""
    if nanoseconds < 1e6:
        return f"{nanoseconds / 1e3:,.1f} us"
    return f"{nanoseconds / 1e6:,.2f} ms" if nanoseconds < 1e9 else f"{nanoseconds / 1e9:,.3f} s"


def counted(number: int, noun: str) -> str:
    """Format a count with a noun."""
    return f"{number:,} {noun}{'' if number == 1 else 'es' if noun.endswith('ch') else 's'}"


@dataclass(frozen=True)
class ExplainedNode:
    """One recorded operation.

    Attributes
    ----------
    number : int
        The number of the value, which steps refer to; equal operations on the same operands share a number.
    name : str
        The name of the operation.
    dtype : str
        The dtype of the value.
    shape : tuple of int
        The shape of the value.
    inputs : tuple of int
        The numbers of its operands.
    detail : str
        Parameters of the operation.
    place : SourceLocation or None
        The source line that recorded it, if known.
    is_again : bool
        Whether an earlier operation has the same number.
    """

    number: int
    name: str
    dtype: str
    shape: Shape
    inputs: tuple[int, ...]
    detail: str
    place: SourceLocation | None
    is_again: bool

    @property
    def is_leaf(self) -> bool:
        """Whether the node is a stored value."""
        return self.name == "leaf"

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape)) or "scalar"
        text = " ".join(word for word in (self.name, *(f"%{i}" for i in self.inputs), self.detail) if word)
        return f"%{self.number}: {self.dtype}[{shape}] = {text}"


@dataclass(frozen=True)
class ExplainedStep:
    """One step of a plan.

    Attributes
    ----------
    name : str
        A short name.
    text : str
        The canonical text of the step: kinds, operations, dtypes, ranks and strides; no sizes and no values.
    where : str
        ``"device"`` or ``"host"``.
    reason : str
        The reason for its placement.
    launches : int
        Number of kernel launches.
    inputs, outputs : tuple of int
        Numbers of the values that it reads and writes.
    cost : Cost
        Minimum numbers of bytes and operations.
    estimates : tuple of float or None
        Estimated nanoseconds on the host and on the device (infinite where it cannot run), if the step was placed by
        estimates.
    measured : float or None
        Mean nanoseconds under :func:`gpuarray.profile` in this process; None if it was not measured.
    places : tuple of SourceLocation
        The source lines that recorded its operations.
    kernels : tuple of Kernel
        The distinct kernels, each with its ``name``, such as that of the panels of a factorisation, the number of its
        ``launches``, and its ``source``: WGSL on wgpu devices.
    """

    name: str
    text: str
    where: str
    reason: str
    launches: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    cost: Cost
    estimates: tuple[float, float] | None
    measured: float | None
    places: tuple[SourceLocation, ...]
    kernels: tuple[Kernel, ...]

    @property
    def source(self) -> str:
        """The text of all kernels."""
        return "\n\n".join(f"// {each.name}\n{each.source}" if each.name else each.source for each in self.kernels)

    @property
    def launch_lines(self) -> list[str]:
        """The number of launches by the name of the kernel, as lines of text, if there are several names."""
        counts: Counter[str] = Counter()
        for kernel in self.kernels:
            counts[kernel.name] += kernel.launches
        return [f"{counted(count, 'launch')} of {name}" for name, count in counts.items()] if len(counts) > 1 else []


@dataclass(frozen=True, eq=False)
class Explanation:
    """The evaluation of arrays, described. ``str`` returns readable text, and notebooks show a page.

    An explanation refers to the inputs of the plan, which therefore live as long as it does.

    Attributes
    ----------
    device : str
        The device.
    device_reason : str
        The reason for the choice of the device.
    nodes : tuple of ExplainedNode
        The recorded operations.
    steps : tuple of ExplainedStep
        The steps, in order.
    results : tuple of int
        Numbers of the values that are stored as results.
    has_run : bool
        Whether the evaluation had run before :func:`explain` was called.
    stage : str or None
        The stage that ``str`` shows, one of "graph", "simplified", "plan", "placement" and "wgsl"; None shows the
        simplified graph and the plan, or a summary of them if they are long.
    is_direct : bool
        Whether NumPy will compute the small arrays one operation at a time, without the plan; see
        ``config.direct_limit``.
    choices : tuple of str
        Why functions compute what is to be evaluated the way they do, such as by Fourier transforms.
    """

    device: str
    device_reason: str
    nodes: tuple[ExplainedNode, ...]
    steps: tuple[ExplainedStep, ...]
    results: tuple[int, ...] = ()
    has_run: bool = False
    stage: str | None = None
    is_direct: bool = False
    choices: tuple[str, ...] = ()
    saver: "Callable[[Explanation, Path], list[Path]] | None" = None

    @property
    def launches(self) -> int:
        """Number of kernel launches that evaluating the arrays now would take; 0 if they are evaluated."""
        return 0 if self.has_run else sum(step.launches for step in self.steps)

    @property
    def operations(self) -> int:
        """Number of distinct recorded operations."""
        return sum(not node.is_leaf and not node.is_again for node in self.nodes)

    @property
    def graph(self) -> tuple[str, ...]:
        """The recorded operations, one per line; ``%n`` is a value."""
        return tuple(map(str, self.nodes))

    def text(self, stage: str | None = None) -> str:
        """Return one stage as text, or the stages that ``str`` shows.

        Parameters
        ----------
        stage : {"graph", "simplified", "plan", "placement", "wgsl"}, optional
            The stage.

        Raises
        ------
        ValueError
            If the stage is unknown.
        """
        check_stage(stage)
        lines = [f"device {self.device}: {self.device_reason}"]
        if self.has_run and self.nodes:
            lines.append("this is what ran; nothing is left to do")
        elif self.has_run:
            lines.append(
                "nothing is left to do, and no plan is remembered: NumPy computes small arrays at once, without one "
                "(config.direct_limit)"
            )
        elif not self.steps:
            lines.append("nothing is left to do")
        elif self.is_direct:
            lines.append(
                "the arrays are small: NumPy computes them directly, without the plan below (config.direct_limit)"
            )
        lines += [f"choice: {choice}" for choice in self.choices]
        if stage is None and (len(self.nodes) > _MOST_NODES or len(self.steps) > _MOST_STEPS):
            return "\n".join([*lines, *self._summary_lines()])
        for name in _SHOWN if stage is None else (stage,):
            lines += self._lines(name)
        return "\n".join(lines)

    def _summary_lines(self) -> Iterator[str]:
        """Yield a summary of a long graph and plan: equal steps are counted, the most frequent ones first."""
        launches = sum(step.launches for step in self.steps)
        nbytes, measured = sum(step.cost.nbytes for step in self.steps), sum(step.measured or 0 for step in self.steps)
        sizes = [counted(self.operations, "operation"), counted(len(self.steps), "step"), counted(launches, "launch")]
        yield f"summary: {', '.join(sizes)}; {amount(nbytes)} read and written" + (
            f"; measured {duration(measured)}" if measured else ""
        )
        alike: dict[tuple[str, str, str, str], list[ExplainedStep]] = {}
        for step in self.steps:
            lines = ", ".join(map(str, step.places))
            alike.setdefault((step.name, step.where, step.reason, lines), []).append(step)
        groups = sorted(alike.items(), key=lambda group: -len(group[1]))
        for (name, where, reason, lines), steps in groups[:_MOST_STEPS]:
            launches = sum(step.launches for step in steps)
            yield f"  {counted(len(steps), 'step')} {name}: {counted(launches, 'launch')} on the {where}, {reason}"
            if lines:
                yield f"    for {lines}"
        if len(groups) > _MOST_STEPS:
            yield f"  and {len(groups) - _MOST_STEPS:,} more kinds of steps"
        yield f"details: stage={', '.join(map(repr, STAGES))}, as in explain(x, stage='plan')"

    def __str__(self) -> str:
        return self.text(self.stage)

    def __repr__(self) -> str:
        return str(self)

    def _lines(self, stage: str) -> Iterator[str]:
        match stage:
            case "graph":
                again = sum(node.is_again for node in self.nodes)
                yield f"graph: {counted(self.operations + again, 'operation')} recorded"
                yield from self._node_lines(self.nodes)
            case "simplified":
                yield f"graph: {counted(self.operations, 'operation')}"
                yield from self._node_lines([node for node in self.nodes if not node.is_again])
            case "plan":
                yield from self._plan_lines()
            case "placement":
                yield f"placement: {counted(len(self.steps), 'step')}"
                for number, step in enumerate(self.steps):
                    yield f"  step {number} {step.name}: on the {step.where}, because {step.reason}"
                    yield f"    {self._times(step)}"
            case "wgsl":
                for number, step in enumerate(self.steps):
                    yield f"step {number} {step.name}"
                    yield from (f"  | {line}" for line in (step.source or "no kernel").splitlines())

    @staticmethod
    def _node_lines(nodes: Any) -> Iterator[str]:
        texts = [f"  {node}{'   again' if node.is_again else ''}" for node in nodes]
        margin = min(max(map(len, texts), default=0), 76)
        for node, text in zip(nodes, texts, strict=True):
            yield text if node.place is None else f"{text:{margin}}   # {node.place}: {node.place.text}".rstrip(": ")

    def _plan_lines(self) -> Iterator[str]:
        launches = sum(step.launches for step in self.steps)
        yield f"plan: {counted(len(self.steps), 'step')}, {counted(launches, 'launch')}"
        for number, step in enumerate(self.steps):
            reads = ", ".join(f"%{i}" for i in step.inputs) or "nothing"
            writes = ", ".join(f"%{o}" for o in step.outputs)
            yield f"step {number}: {counted(step.launches, 'launch')}, reads {reads}, writes {writes}"
            yield f"  on the {step.where}: {step.reason}"
            yield f"  {self._times(step)}"
            yield from (f"  {line}" for line in step.launch_lines)
            if step.places:
                yield f"  for {', '.join(map(str, step.places))}"
            yield from (f"  {line}" for line in step.text.splitlines())

    @staticmethod
    def _times(step: ExplainedStep) -> str:
        parts = [f"reads {amount(step.cost.read)}, writes {amount(step.cost.written)}"]
        parts.append(f"{step.cost.operations:,} operations")
        if step.estimates is not None:
            places = zip(("host", "device"), step.estimates, strict=True)
            parts.append(f"expected {', '.join(f'{duration(t)} on the {p}' for p, t in places if t < inf)}")
        if step.measured is not None:
            rate = step.cost.nbytes / max(step.measured, 1)
            parts.append(f"measured {duration(step.measured)} ({rate:,.1f} GB/s)")
        return "; ".join(parts)

    # -- drawings ------------------------------------------------------------------------------------------------------

    def boxes(self, stage: str = "plan") -> list[drawing.Box]:
        """Return the boxes of a drawing of the plan, or of the recorded operations."""
        check_stage(stage)
        if stage in ("graph", "simplified"):
            return self._operation_boxes(with_twins=stage == "graph")
        boxes: list[drawing.Box] = []
        known = {node.number: node for node in self.nodes if not node.is_again}
        box: dict[int, int] = {}
        for step in self.steps:
            for number in step.inputs:
                if number not in box and number in known:
                    node = known[number]
                    box[number] = len(boxes)
                    boxes.append(drawing.Box("leaf", (f"%{number} {node.detail}".rstrip(), _type(node)), str(node)))
            lines = [step.name]
            lines.append(f"{amount(step.cost.nbytes)}, {counted(step.launches, 'launch')}")
            if step.measured is not None:
                lines.append(duration(step.measured))
            lines += [str(location) for location in step.places[:2]]
            reads = tuple(dict.fromkeys((box[i], f"%{i}") for i in step.inputs if i in box))
            title = "\n".join([f"{step.where}: {step.reason}", *step.launch_lines, step.text])
            for number in step.outputs:
                box[number] = len(boxes)
            boxes.append(drawing.Box("step" if step.where == "device" else "host", tuple(lines), title, reads))
        for number in self.results:
            if number in box and number in known:
                node = known[number]
                read = ((box[number], f"%{number}"),)
                boxes.append(drawing.Box("result", (f"%{number}", _type(node)), str(node), read))
        return boxes

    def _operation_boxes(self, *, with_twins: bool) -> list[drawing.Box]:
        boxes: list[drawing.Box] = []
        box: dict[int, int] = {}
        for node in self.nodes:
            if node.is_again and not with_twins:
                continue
            kind = "leaf" if node.is_leaf else "result" if node.number in self.results else "node"
            lines = [f"%{node.number} {node.name} {node.detail}".rstrip(), _type(node)]
            lines += [] if node.place is None else [str(node.place)]
            reads = tuple(dict.fromkeys((box[i], "") for i in node.inputs))
            box.setdefault(node.number, len(boxes))
            boxes.append(drawing.Box(kind, tuple(lines), "" if node.place is None else node.place.text, reads))
        return boxes

    def dot(self, stage: str = "plan") -> str:
        """Return a drawing of a stage ("plan", "simplified" or "graph") in the DOT language, for Graphviz."""
        return drawing.dot(self.boxes(stage))

    def svg(self, stage: str = "plan") -> str:
        """Return a drawing of a stage ("plan", "simplified" or "graph") as an SVG element."""
        return drawing.svg(self.boxes(stage))

    def _repr_html_(self) -> str:
        sections = [("plan", f'<div style="overflow:auto">{self.svg()}</div><pre>{escape(self.text("plan"))}</pre>')]
        sections += [(stage, f"<pre>{escape(self.text(stage))}</pre>") for stage in STAGES if stage != "plan"]
        shown = self.stage or "plan"
        return "".join(
            f"<details{' open' if name == shown else ''}><summary>{name}</summary>{body}</details>"
            for name, body in sections
        )

    # -- export --------------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> list[Path]:
        """Write the kernels and their inputs, and a program that runs them without this package.

        The arrays are evaluated if necessary. The directory then contains each kernel as WGSL, ``plan.json`` with the
        bindings of each launch, inputs and results as ``.npy``, and ``run.py``, which needs only wgpu and NumPy. It
        runs the launches on the same kind of adapter and compares all results bit for bit.

        Parameters
        ----------
        folder : str or Path
            The directory, which is created if it does not exist.

        Returns
        -------
        list of Path
            The files that were written.

        Raises
        ------
        ValueError
            If the plan has already run, so that its inputs are released, or if none of its steps has a kernel.
        """
        if self.saver is None:
            raise ValueError(
                "the plan has run and its inputs are released; call explain before the arrays are evaluated, and save "
                "its result"
            )
        return self.saver(self, Path(folder))


def check_stage(stage: str | None) -> None:
    """Raise a ValueError if the stage is unknown."""
    if stage is not None and stage not in STAGES:
        raise ValueError(f"stage is {stage!r}; use one of {', '.join(map(repr, STAGES))} or None")


def _type(node: ExplainedNode) -> str:
    return f"{node.dtype}[{'x'.join(map(str, node.shape)) or 'scalar'}]"
