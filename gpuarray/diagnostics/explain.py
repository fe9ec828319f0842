"""`explain`: describe the evaluation of arrays without running it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gpuarray.array import GpuArray, joint_device
from gpuarray.device import Device
from gpuarray.diagnostics import export
from gpuarray.diagnostics.explanation import ExplainedNode, ExplainedStep, Explanation, check_stage
from gpuarray.fusion import step_texts
from gpuarray.fusion.costs import cost
from gpuarray.graph import choices
from gpuarray.graph.nodes import Generate, Leaf, Node, host_leaf
from gpuarray.graph.walk import current
from gpuarray.providers import registry
from gpuarray.providers.base import Provider
from gpuarray.runtime import evaluate
from gpuarray.runtime.history import Evaluation, inherited, reason_of, recall
from gpuarray.runtime.placement import auto, decisions
from gpuarray.runtime.prepared import Placement, PreparedPlan, PreparedStep
from gpuarray.source_locations import Origin, SourceLocation, locate


def explain(*arrays: GpuArray | npt.NDArray[Any], stage: str | None = None) -> Explanation:
    """Describe what evaluating arrays would run, without running it, or what their evaluation did run.

    Parameters
    ----------
    *arrays : GpuArray
        Arrays that would be evaluated together.
    stage : {"graph", "simplified", "plan", "placement", "wgsl"}, optional
        The stage that ``str`` of the result shows: the recorded operations; the operations without duplicates; the
        steps that run; where each step runs and why; the kernels. By default, the simplified graph and the plan.

    Returns
    -------
    Explanation
        All stages, as data, text (``str``), drawings (``svg``, ``dot``) and files (``save``). ``launches`` is the
        number of kernel launches that are still to run. If all arrays have been evaluated, ``has_run`` is True, and
        the result describes the evaluation of the first array, if it is among the last 256 evaluations.

    Raises
    ------
    TypeError
        If an argument is not a GpuArray.
    ValueError
        If the stage is unknown.

    Examples
    --------
    >>> import gpuarray as xp
    >>> x = xp.arange(1000, dtype=xp.float32, device="cpu")
    >>> xp.explain(xp.exp(x) + 1).launches
    1
    """
    given = [array for array in arrays if isinstance(array, GpuArray)]  # NumPy's annotations call some of them its own
    if not given or len(given) < len(arrays):
        raise TypeError(f"explain accepts GpuArray objects, not {[type(a).__name__ for a in arrays]}")
    check_stage(stage)
    device = given[0].device
    for array in given[1:]:
        device = joint_device(device, array.device)
    resolved, reason = registry.resolution() if device.kind == "auto" else (registry.resolve(device), "asked for")
    nodes = [_node(array) for array in given]
    plan = evaluate.plan_of(nodes, device)
    if plan is not None:
        prepared, walked, provider = plan
        origins = [node.origin for node in walked]
        order = prepared.order(walked)
        leaves = [leaf for position in prepared.leaves if isinstance(leaf := order[position], Leaf)]
        placed = prepared.pinned
        if device is auto.AUTO:
            placed = auto.placed(prepared, leaves, provider, is_read=False)
        explanation = _explanation(prepared, placed, origins, provider, reason, device)
        details = {number: _detail(node) for number, node in enumerate(prepared.order(walked))}
        saver = partial(export.save, nodes=nodes, device=device)
        return replace(
            explanation,
            nodes=tuple(replace(node, detail=details[node.number] or node.detail) for node in explanation.nodes),
            stage=stage,
            saver=saver,
            is_direct=evaluate.will_be_direct(nodes, device),
            choices=choices.among(walked),
        )
    evaluation = _last(nodes)
    if evaluation is None:
        return Explanation(resolved.name, reason, (), (), has_run=True, stage=stage)
    return replace(explanation_of(evaluation, reason), stage=stage)


def _node(array: GpuArray) -> Node:
    """Return the node of an array; a leaf if it has a single value, which graphs take for a number."""
    if array._value is not None:
        return host_leaf(np.array(array._value))
    return current(array._cell.node if array.shows_all() else array.node())


def explanation_of(evaluation: Evaluation, reason: str = "asked for") -> Explanation:
    """Return the explanation of a past evaluation."""
    provider = registry.open_device(evaluation.device)
    explanation = _explanation(
        evaluation.prepared, evaluation.placed, evaluation.origins, provider, reason, evaluation.device
    )
    return replace(explanation, has_run=True)


def _last(nodes: list[Node]) -> Evaluation | None:
    """Return the evaluation that computed one of several values, if it is still stored."""
    for node in nodes:
        if isinstance(node, Leaf) and node.evaluation:
            evaluation = recall(node.evaluation)
            if evaluation is not None:
                return evaluation
    return None


def _explanation(
    prepared: PreparedPlan,
    placed: Placement,
    origins: Sequence[Origin | None],
    provider: Provider,
    reason: str,
    device: Device,
) -> Explanation:
    nodes = _nodes(prepared, origins)
    by_number: dict[int, ExplainedNode] = {}
    for node in nodes:
        by_number.setdefault(node.number, node)
    results = tuple(position for position, _ in prepared.plan.results)
    explained = tuple(_step(step, provider, by_number, device) for step in placed.steps)
    return Explanation(provider.device.name, reason, tuple(nodes), explained, results)


def _nodes(prepared: PreparedPlan, origins: Sequence[Origin | None]) -> list[ExplainedNode]:
    walk = prepared.meanings
    indices = range(len(walk)) if prepared.kept is None else prepared.kept
    number = dict(prepared.duplicates) | {at: position for position, at in enumerate(indices)}
    locations = [None if origin is None else locate(origin) for origin in inherited(prepared, origins)]
    again = dict(prepared.duplicates)
    return [
        ExplainedNode(
            number[at],
            node.name,
            node.dtype.name,
            node.shape,
            tuple(number[i] for i in node.inputs),
            node.text,
            locations[at],
            at in again,
        )
        for at, node in enumerate(walk)
    ]


def _step(step: PreparedStep, provider: Provider, nodes: dict[int, ExplainedNode], device: Device) -> ExplainedStep:
    planned = step.planned
    on_device = step.decision.where == decisions.DEVICE
    return ExplainedStep(
        decisions.name_of(planned.step),
        step_texts.text(planned.step, with_offsets=True),
        step.decision.where,
        reason_of(step.decision, device),
        provider.launch_count(step.prepared) if on_device else 0,
        planned.inputs,
        planned.outputs,
        cost(planned.step),
        step.decision.estimates,
        step.timing.mean if step.timing.runs else None,
        _lines_of(planned.inputs, planned.outputs, nodes),
        tuple(provider.describe(step.prepared)) if on_device else (),
    )


def _lines_of(
    inputs: tuple[int, ...], outputs: tuple[int, ...], nodes: dict[int, ExplainedNode]
) -> tuple[SourceLocation, ...]:
    """Return the source lines of the operations between the inputs and outputs of a step."""
    lines: dict[int, SourceLocation | None] = {}
    waiting = list(outputs)
    while waiting:
        number = waiting.pop()
        if number in lines or number not in nodes or nodes[number].is_leaf:
            continue
        lines[number] = nodes[number].place
        waiting += [operand for operand in nodes[number].inputs if operand not in inputs]
    ordered = [lines[number] for number in sorted(lines)]
    return tuple({str(where): where for where in ordered if where is not None}.values())


def _detail(node: Node) -> str:
    """Return details of a node: the scalars of generators, and the residency of leaves."""
    if isinstance(node, Generate):
        return " ".join(repr(p.item()) if hasattr(p, "item") else repr(p) for p in node.parameters)
    if isinstance(node, Leaf):
        return "on host" if node.host is not None and not node.buffers else "resident"
    return ""
