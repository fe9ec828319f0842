"""What `explain` answers: the stages of an evaluation as data, as text, as a page and as drawings."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from math import inf
from pathlib import Path
from typing import Any, Final

from gpuarray.diagnostics import drawing
from gpuarray.fusion.costs import Cost
from gpuarray.graph.layouts import Shape
from gpuarray.source_locations import SourceLocation

#: What can be shown: the operations as they were recorded; without those that say the same; what is run for them; where
#: and why there; the kernels.
STAGES: Final = ("graph", "simplified", "plan", "placement", "wgsl")
_SHOWN: Final = ("simplified", "plan")


def amount(nbytes: float) -> str:
    """Return a number of bytes for people."""
    for unit in ("B", "KiB", "MiB"):
        if nbytes < 1024:
            return f"{nbytes:,.0f} {unit}" if unit == "B" else f"{nbytes:,.1f} {unit}"
        nbytes /= 1024
    return f"{nbytes:,.2f} GiB"


def duration(nanoseconds: float) -> str:
    """Return a time for people."""
    if nanoseconds < 1e6:
        return f"{nanoseconds / 1e3:,.1f} us"
    return f"{nanoseconds / 1e6:,.2f} ms" if nanoseconds < 1e9 else f"{nanoseconds / 1e9:,.3f} s"


def counted(number: int, noun: str) -> str:
    """Return a number of things for people."""
    return f"{number:,} {noun}{'' if number == 1 else 'es' if noun.endswith('ch') else 's'}"


@dataclass(frozen=True)
class ExplainedNode:
    """One recorded operation.

    Attributes
    ----------
    number : int
        The value's number, as steps name it; operations that say the same of the same operands share one.
    name : str
        What is done.
    dtype : str
        Of the value.
    shape : tuple of int
        Of the value.
    inputs : tuple of int
        The numbers of its operands.
    detail : str
        What else it says.
    place : SourceLocation or None
        The line that asked for it, if it was recorded.
    is_again : bool
        Whether another operation with this number comes before.
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
        """Whether it is a value that is there."""
        return self.name == "leaf"

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape)) or "scalar"
        text = " ".join(part for part in (self.name, *(f"%{i}" for i in self.inputs), self.detail) if part)
        return f"%{self.number}: {self.dtype}[{shape}] = {text}"


@dataclass(frozen=True)
class ExplainedStep:
    """One step of a plan.

    Attributes
    ----------
    name : str
        A short name.
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
    cost : Cost
        Bytes and operations that it needs at least.
    estimates : tuple of float or None
        Nanoseconds that a cost model expects on the host and on the device (infinite where it cannot run), if it was
        asked.
    measured : float or None
        Nanoseconds that it took on average under :func:`gpuarray.profile`, in this process; None if it never ran so.
    places : tuple of SourceLocation
        The lines that asked for what it computes.
    source : str
        The kernels' text: WGSL on wgpu.
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
    source: str


@dataclass(frozen=True, eq=False)
class Explanation:
    """What evaluating some arrays does; ``str`` of it is for people, and notebooks show it as a page.

    It keeps what it needs to run the plan, so the inputs live as long as it does.

    Attributes
    ----------
    device : str
        Where it runs.
    device_reason : str
        Why there.
    nodes : tuple of ExplainedNode
        The recorded operations.
    steps : tuple of ExplainedStep
        What runs, in order.
    results : tuple of int
        Numbers of the values that are kept.
    has_run : bool
        Whether this is what did run, before :func:`explain` was called.
    stage : str or None
        The stage that ``str`` shows, one of "graph", "simplified", "plan", "placement" and "wgsl"; None shows the
        simplified graph and the plan.
    """

    device: str
    device_reason: str
    nodes: tuple[ExplainedNode, ...]
    steps: tuple[ExplainedStep, ...]
    results: tuple[int, ...] = ()
    has_run: bool = False
    stage: str | None = None
    saver: "Callable[[Explanation, Path], list[Path]] | None" = None

    @property
    def launches(self) -> int:
        """Kernels that evaluating the arrays now launches in all; 0 if that is done."""
        return 0 if self.has_run else sum(step.launches for step in self.steps)

    @property
    def operations(self) -> int:
        """Different operations recorded."""
        return sum(not node.is_leaf and not node.is_again for node in self.nodes)

    @property
    def graph(self) -> tuple[str, ...]:
        """The recorded operations, one a line; ``%n`` is a value."""
        return tuple(map(str, self.nodes))

    def text(self, stage: str | None = None) -> str:
        """Return one stage as text, or those that ``str`` shows.

        Parameters
        ----------
        stage : {"graph", "simplified", "plan", "placement", "wgsl"}, optional
            Which.

        Raises
        ------
        ValueError
            If there is no such stage.
        """
        check_stage(stage)
        lines = [f"device {self.device}: {self.device_reason}"]
        if self.has_run:
            lines.append("this is what ran; nothing is left to do")
        elif not self.steps:
            lines.append("nothing is left to do")
        for name in _SHOWN if stage is None else (stage,):
            lines += self._lines(name)
        return "\n".join(lines)

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
        place: dict[int, int] = {}
        for step in self.steps:
            for number in step.inputs:
                if number not in place and number in known:
                    node = known[number]
                    place[number] = len(boxes)
                    boxes.append(drawing.Box("leaf", (f"%{number} {node.detail}".rstrip(), _type(node)), str(node)))
            lines = [step.name]
            lines.append(f"{amount(step.cost.nbytes)}, {counted(step.launches, 'launch')}")
            if step.measured is not None:
                lines.append(duration(step.measured))
            lines += [str(found) for found in step.places[:2]]
            reads = tuple(dict.fromkeys((place[i], f"%{i}") for i in step.inputs if i in place))
            title = "\n".join([f"{step.where}: {step.reason}", step.text])
            for number in step.outputs:
                place[number] = len(boxes)
            boxes.append(drawing.Box("step" if step.where == "device" else "host", tuple(lines), title, reads))
        for number in self.results:
            if number in place and number in known:
                node = known[number]
                read = ((place[number], f"%{number}"),)
                boxes.append(drawing.Box("result", (f"%{number}", _type(node)), str(node), read))
        return boxes

    def _operation_boxes(self, *, with_twins: bool) -> list[drawing.Box]:
        boxes: list[drawing.Box] = []
        place: dict[int, int] = {}
        for node in self.nodes:
            if node.is_again and not with_twins:
                continue
            kind = "leaf" if node.is_leaf else "result" if node.number in self.results else "node"
            lines = [f"%{node.number} {node.name} {node.detail}".rstrip(), _type(node)]
            lines += [] if node.place is None else [str(node.place)]
            reads = tuple(dict.fromkeys((place[i], "") for i in node.inputs))
            place.setdefault(node.number, len(boxes))
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
        """Write the kernels with their inputs, and a program that runs them without this package.

        Evaluates the arrays, if that is not done. The folder then holds each kernel as WGSL, ``plan.json`` with what
        each launch binds, inputs and results as ``.npy``, and ``run.py``, which needs wgpu and NumPy alone, runs the
        launches on the same kind of adapter, and compares all results bit for bit.

        Parameters
        ----------
        folder : str or Path
            Where to; made if it does not exist.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        ValueError
            If the plan has run before, so that its inputs are gone, or nothing of it runs on a device with kernels.
        """
        if self.saver is None:
            raise ValueError(
                "the inputs of a plan that has run are gone; call explain before the arrays are evaluated, and save "
                "what it returns"
            )
        return self.saver(self, Path(folder))


def check_stage(stage: str | None) -> None:
    """Raise a ValueError if there is no such stage."""
    if stage is not None and stage not in STAGES:
        raise ValueError(f"stage is {stage!r}; accepted are {', '.join(map(repr, STAGES))} and None")


def _type(node: ExplainedNode) -> str:
    return f"{node.dtype}[{'x'.join(map(str, node.shape)) or 'scalar'}]"
