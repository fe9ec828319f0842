"""Evaluation: pending nodes become leaves.

A plan is found again by its key (structure, shapes and dtypes; no scalar values and no buffers), so that a loop
repeating the same structure pays for a walk, a look-up and the launches. Running enqueues; :func:`read` waits.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.fusion.plan import Plan, PlannedStep, make_plan
from gpuarray.fusion.steps import Loop, ScatterStep
from gpuarray.fusion.verify import check_plan
from gpuarray.graph.nodes import Call, Contract, Generate, Leaf, Node, Reduce, Scan
from gpuarray.graph.verify import check_graph
from gpuarray.graph.walk import current, merge, topological
from gpuarray.providers import registry
from gpuarray.providers.base import Provider, Task
from gpuarray.runtime import offload, telemetry

PLAN_LIMIT: Final = 2048
_KEPT: Final = frozenset((Reduce, Scan, Contract, Call))
HOST_DEVICE: Final = Device("cpu")


@dataclass(slots=True)
class ReadyStep:
    """A planned step, decided and prepared for the device that runs it."""

    planned: PlannedStep
    decision: offload.Decision
    prepared: Any


@dataclass(slots=True)
class ReadyPlan:
    """A plan with its steps prepared for one provider.

    The plan's positions count the different nodes of a graph; ``kept`` has their places in a walk over it (None if
    none says the same as another), ``twins`` the places of the others with the position that has their value.
    """

    plan: Plan
    steps: tuple[ReadyStep, ...]
    fallbacks: tuple[tuple[str, str], ...]
    operations: int
    kept: tuple[int, ...] | None
    twins: tuple[tuple[int, int], ...]

    def order(self, walked: list[Node]) -> list[Node]:
        """Return the plan's nodes by position."""
        return walked if self.kept is None else [walked[place] for place in self.kept]


_plans: Final[OrderedDict[Hashable, ReadyPlan]] = OrderedDict()
_lock = threading.RLock()


def _renew_lock() -> None:
    global _lock  # a child of fork must not wait for a lock that a thread of its parent held
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def provider_of(device: Device) -> Provider:
    """Return the opened provider that runs what is bound to ``device``."""
    return registry.open_device(registry.resolve(device))


def check_device(device: Device) -> None:
    """Open ``device``, so that a device that does not exist is an error now.

    Raises
    ------
    DeviceError
        If there is no such device.
    """
    provider_of(device)


# -- evaluation --------------------------------------------------------------------------------------------------------


def evaluate(nodes: Sequence[Node], device: Device) -> None:
    """Compute ``nodes`` on ``device``; afterwards each one's ``result`` is a leaf (or it is one)."""
    pending = [node for node in nodes if node.result is None and type(node) is not Leaf]
    if not pending:
        return
    provider = provider_of(device)
    with _lock:
        ready, walked = _find_plan(pending, provider)
        telemetry.count("evaluations")
        telemetry.count("operations", ready.operations)
        order = ready.order(walked)
        _execute(ready, order, provider)
        for place, position in ready.twins:
            leaf = order[position].result
            if leaf is not None:
                walked[place].settle(leaf)


def _find_plan(pending: list[Node], provider: Provider) -> tuple[ReadyPlan, list[Node]]:
    """Return the plan that computes ``pending``, and the nodes below as they were walked."""
    walk = topological(pending)
    order, position, structure, others = walk
    wanted = [position[id(node)] for node in pending if node.result is None]
    wanted += [place for place in others if type(order[place]) in _KEPT and order[place].is_held]
    settings = config.current
    key = (id(provider), settings.fuse, settings.math, tuple(wanted), *structure)
    found = _plans.get(key)
    if found is not None:
        _plans.move_to_end(key)
        return found, order
    telemetry.count("plans")
    merged = merge(walk)
    if settings.verify:
        check_graph(merged.order, merged.position)
    targets = {merged.position[id(order[place])] for place in wanted}
    plan = make_plan(merged.order, merged.position, targets, provider.capabilities, fuse=settings.fuse)
    if settings.verify:
        check_plan(plan, merged.order)
    steps = tuple(_ready(step, provider) for step in plan.steps)
    ready = ReadyPlan(
        plan,
        steps,
        tuple((offload.name_of(s.planned.step), s.decision.reason) for s in steps if s.decision.is_fallback),
        sum(1 for node in merged.order if type(node) is not Leaf),
        tuple(merged.kept) if merged.twins else None,
        tuple(merged.twins),
    )
    _plans[key] = ready
    while len(_plans) > PLAN_LIMIT:
        _plans.popitem(last=False)
    return ready, order


def _ready(planned: PlannedStep, provider: Provider) -> ReadyStep:
    decision = offload.decide(provider.supports(planned.step))
    runner = provider if decision.where == offload.DEVICE else provider_of(HOST_DEVICE)
    return ReadyStep(planned, decision, runner.prepare(planned.step))


def is_host(provider: Provider) -> bool:
    """Whether a provider's memory is the host's own."""
    return provider.device.kind == HOST_DEVICE.kind


def _execute(ready: ReadyPlan, order: list[Node], provider: Provider) -> None:
    plan = ready.plan
    for function, reason in ready.fallbacks:
        telemetry.fallback(function, reason)
    buffers: dict[int, Any] = {}
    slots: list[Any] = [None] * len(plan.slot_bytes)
    tasks: list[Task] = []
    for step in ready.steps:
        planned = step.planned
        outputs = [_output(o, buffers, slots, plan, provider) for o in planned.outputs]
        if step.decision.where == offload.DEVICE:
            inputs = [_input(i, buffers, order, provider) for i in planned.inputs]
            scalars = [_parameter(order[p], k) for p, k in planned.scalars]
            tasks.append(Task(step.prepared, inputs, outputs, scalars))
            continue
        provider.run(tasks)
        tasks = []
        values = [_host_values(i, buffers, order, plan, provider) for i in planned.inputs]
        _run_on_host(step, values, outputs, order, plan, provider)
    if tasks:
        provider.run(tasks)
    for position, root in plan.results:
        node, source = order[position], order[root]
        leaf = Leaf(node.shape, node.dtype)
        if isinstance(source, Leaf):
            leaf.host = None if source.host is None else source.host.reshape(node.shape)
            leaf.buffers.update(source.buffers)
        else:
            leaf.buffers[provider] = _output(root, buffers, slots, plan, provider)
        node.settle(leaf)


def _parameter(node: Node, number: int) -> Any:
    assert isinstance(node, Generate)
    return node.parameters[number]


def _input(position: int, buffers: dict[int, Any], order: list[Node], provider: Provider) -> Any:
    buffer = buffers.get(position)
    if buffer is None:
        node = order[position]
        # nothing computes a value without elements, but a fold over one still has it as its input
        buffer = resident(node, provider) if isinstance(node, Leaf) else provider.allocate(node.nbytes)
        buffers[position] = buffer
    return buffer


def _output(position: int, buffers: dict[int, Any], slots: list[Any], plan: Plan, provider: Provider) -> Any:
    buffer = buffers.get(position)
    if buffer is not None:
        return buffer
    slot = plan.slots.get(position)
    if slot is None:
        size, dtype = plan.sizes[position]
        buffer = provider.allocate(size * dtype.itemsize)
    else:
        if slots[slot] is None:
            slots[slot] = provider.allocate(plan.slot_bytes[slot])
        buffer = slots[slot]
    buffers[position] = buffer
    return buffer


def _run_on_host(
    step: ReadyStep,
    values: list[npt.NDArray[Any]],
    outputs: list[Any],
    order: list[Node],
    plan: Plan,
    provider: Provider,
) -> None:
    """Run one step with host memory, and write its outputs to the device."""
    planned = step.planned
    host = provider_of(HOST_DEVICE)
    results = []
    for position, buffer in zip(planned.outputs, outputs, strict=True):
        size, dtype = plan.sizes[position]
        results.append(np.empty(size, dtype))
        if isinstance(planned.step, Loop | ScatterStep):  # these may write some elements only
            provider.read(buffer, results[-1])
    scalars = [_parameter(order[p], k) for p, k in planned.scalars]
    own = [host.adopt(value, value.nbytes) for value in values]
    host.run([Task(step.prepared, own, [host.adopt(r, r.nbytes) for r in results], scalars)])
    for buffer, result in zip(outputs, results, strict=True):
        provider.write(buffer, result)


def _host_values(
    position: int, buffers: dict[int, Any], order: list[Node], plan: Plan, provider: Provider
) -> npt.NDArray[Any]:
    """Return a step's input for the host; what is there already does not visit the device."""
    node = order[position]
    if isinstance(node, Leaf) and node.host is not None:
        return node.host
    size, dtype = plan.sizes.get(position, (node.size, node.dtype))
    array = np.empty(size, dtype)
    provider.read(_input(position, buffers, order, provider), array)
    return array


# -- residency ---------------------------------------------------------------------------------------------------------


def resident(leaf: Leaf, provider: Provider) -> Any:
    """Return the buffer of ``leaf`` at ``provider``, made and filled now if it is not there yet."""
    buffer = leaf.buffers.get(provider)
    if buffer is not None:
        return buffer
    buffer = provider.allocate(leaf.nbytes)
    provider.write(buffer, host_values(leaf))
    leaf.buffers[provider] = buffer
    return buffer


def host_values(leaf: Leaf) -> npt.NDArray[Any]:
    """Return the value of ``leaf`` as a host array that must not be written to; reading it waits."""
    if leaf.host is not None:
        return leaf.host
    array = np.empty(leaf.shape, leaf.dtype)
    owner, buffer = next(iter(leaf.buffers.items()))
    owner.read(buffer, array)
    return array


def read(node: Node, device: Device) -> npt.NDArray[Any]:
    """Return the value of ``node`` as a host array of the caller's own; waits for it."""
    evaluate((node,), device)
    leaf = current(node)
    assert isinstance(leaf, Leaf)
    return leaf.host.copy() if leaf.host is not None else host_values(leaf)


def transfer(node: Node, source: Device, target: Device) -> Node:
    """Return a node with the same value for ``target``: nothing moves if both mean the same provider."""
    if registry.resolve(source) is registry.resolve(target):
        return node
    evaluate((node,), source)
    leaf = current(node)
    assert isinstance(leaf, Leaf)
    resident(leaf, provider_of(target))
    return leaf


def synchronize(device: Device | None = None) -> None:
    """Wait until everything that was enqueued on ``device``, or on all opened devices, is done."""
    providers = registry.opened() if device is None else [provider_of(device)]
    for provider in providers:
        provider.synchronize()


# -- bounded graphs ----------------------------------------------------------------------------------------------------


def trim(node: Node, device: Device) -> None:
    """Evaluate part of a graph that has become deep, at a place that a loop reaches again and again.

    The chain of deepest operands below ``node`` repeats itself when a loop recorded it. It is cut after a whole
    number of
    repetitions, so that all pieces of a long loop have one structure, and compile once. Without a repetition all of
    it is evaluated.
    """
    chain: list[Node] = []
    link: Node | None = node
    while link is not None and link.result is None and link.depth > 0:
        chain.append(link)
        pending = [i for i in link.inputs if i.result is None and i.depth > 0]
        link = max(pending, key=lambda n: n.depth) if pending else None
    chain.reverse()
    period = _period([_token(link) for link in chain])
    keep = len(chain) % period if period else 0
    cut = chain[len(chain) - 1 - keep] if keep < len(chain) else node
    evaluate((cut,), device)
    _renew_depth(chain[chain.index(cut) + 1 :])


def _token(node: Node) -> Hashable:
    return (type(node), getattr(node, "op", None), node.dtype, node.shape)


def _period(tokens: list[Hashable]) -> int:
    """Return the shortest period of a sequence's end that repeats at least three times; 0 if there is none."""
    reverse = tokens[::-1]
    count = len(reverse)
    for period in range(1, count // 3 + 1):
        span = min(count, max(3 * period, count // 2))
        if all(reverse[i] == reverse[i + period] for i in range(span - period)):
            return period
    return 0


def _renew_depth(chain: Sequence[Node]) -> None:
    for node in chain:
        depth = max((i.depth for i in node.inputs if i.result is None), default=0)
        node.depth = depth + 1


def plan_of(nodes: Sequence[Node], device: Device) -> tuple[ReadyPlan, list[Node], Provider] | None:
    """Return the plan that evaluating ``nodes`` would run, without running it; None if nothing is pending."""
    pending = [node for node in nodes if node.result is None and type(node) is not Leaf]
    if not pending:
        return None
    provider = provider_of(device)
    with _lock:
        ready, walked = _find_plan(pending, provider)
        return ready, ready.order(walked), provider
