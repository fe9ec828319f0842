"""Evaluation: pending nodes become leaves.

A plan is found by the structure of the graph (:mod:`.plans`), placed (:mod:`.placement`) and run as a schedule
(:mod:`.execute`, :mod:`.schedule`). Running enqueues; :func:`read` waits. The layers above call this module; it also
exports the functions of :mod:`.places`, :mod:`.placement` and :mod:`.plans` that they need.
"""

from collections.abc import Sequence
from operator import attrgetter
from time import perf_counter_ns
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray import observers
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import GpuArrayError
from gpuarray.graph import tape, tracing
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Generate, Leaf, Map, Node, View
from gpuarray.graph.tape import state as tapes
from gpuarray.graph.walk import current
from gpuarray.immediacy import FREE, immediacy
from gpuarray.interrupts import Section
from gpuarray.parallel_copy import copy_of
from gpuarray.providers import registry
from gpuarray.providers.base import Provider
from gpuarray.runtime import direct, host_memory, ownership, places, statuses
from gpuarray.runtime.direct import NodeValues
from gpuarray.runtime.execute import execute
from gpuarray.runtime.history import OF_VALUES, blame_last, hide_frames, without_frames
from gpuarray.runtime.host_memory import is_away, keep, strided, value_of
from gpuarray.runtime.node_rules import folded_constant, generated
from gpuarray.runtime.ownership import ending_with_plan
from gpuarray.runtime.placement import auto, residency, trials
from gpuarray.runtime.placement.rates import at
from gpuarray.runtime.placement.residency import resident, send, where
from gpuarray.runtime.places import is_host, is_host_device
from gpuarray.runtime.plans import find_plan, pending_of, plan_of
from gpuarray.runtime.schedule import Run
from gpuarray.runtime.telemetry import counters
from gpuarray.settings import Config, recording

__all__ = [
    "QUICKLY_SEEN", "NodeValues", "compute_small", "copy_to_device", "evaluate", "host_values", "is_away", "is_host",
    "is_host_device", "keep", "plan_of", "read", "resident", "send", "small_value", "strided",
    "synchronize", "transfer", "value_of", "values_of", "where", "will_be_direct",
]  # fmt: skip

#: The maximum depth of a pending graph that an operation computes before using it: a composition of a few operations.
_SHALLOW: Final = 8
#: Values of fewer elements are read from host memory, if they are there, in less time than a device needs.
QUICKLY_SEEN: Final = 1 << 17
#: About the nanoseconds that a recorded read or write of a few elements, with its use, takes more than one on the host.
_OF_PART: Final = 50e3
#: Nanoseconds by which a program may fall behind a pinned device while it waits for a value.
_BEHIND: Final = 1e6
_origin_of: Final = attrgetter("origin")
#: A download of this many bytes takes about as long as one of a few: reading one element downloads the whole array.
_SENT_WHOLE: Final = 1 << 15
#: The maximum number of generated integers, such as the indices of a loop, that are read without a device.
_SHORT: Final = 1 << 10


def evaluate(nodes: Sequence[Node], device: Device, run: Run | None = None, *, is_read: bool = False) -> None:
    """Compute ``nodes`` on ``device``; afterwards each one's ``result`` is a leaf (or it is one).

    Parameters
    ----------
    nodes : sequence of Node
        The values to compute.
    device : Device
        The device to compute them on.
    run : callable, optional
        Runs each batch of tasks instead of the device.
    is_read : bool
        Whether the host reads the values next; the placement on ``"auto"`` depends on it.
    """
    pending = pending_of(nodes)
    if not pending:
        return
    if tapes.tapes:
        tape.check_batched(pending)
    if tracing.state.trace is not None and tracing.mode().evaluate(pending, device):
        return
    while True:
        provider = registry.open_device(device)
        try:
            with (lock := places.lock_of(provider)):
                busy = _evaluate(pending, device, provider, lock, run, is_read)
        except OF_VALUES as error:
            hide_frames(error)
            raise
        if busy is None:
            return
        places.wait_for(busy)


def device_lock(device: Device) -> places.Lock:
    """Return the lock that an evaluation on a device holds; it may be taken again."""
    return places.lock_of(registry.open_device(device))


def evaluate_early(nodes: Sequence[Node], device: Device, *, is_read: bool = False) -> None:
    """Compute nodes before their values are needed, as they share work or may raise an error; batches stay pending.

    With ``is_read`` the host reads the first of them next, and the others stay where they are computed.
    """
    whole = [node for node in nodes if tape.batch_of(node) is None] if tapes.tapes else nodes
    # the device "auto" would assume that all of them are read
    evaluate(tracing.mode().postpone(whole, device), device, is_read=is_read and device.kind != "auto")


def _evaluate(
    pending: Sequence[Node],
    device: Device,
    provider: Provider,
    lock: places.Lock,
    run: Run | None,
    is_read: bool,
) -> Provider | None:
    """Evaluate as :func:`evaluate` does, under the lock of the device, which may be taken again.

    Return the device whose evaluations must end before this one begins, or None. It is another device if that updates a
    value of this graph in place, and this one if a GPU is to be searched first.
    """
    with places.graphs:
        if len(pending) > 1 or pending[0].result is not None:  # another thread may have computed them
            pending = pending_of(pending)
        if places.being_updated and (busy := places.updating(pending, provider)) is not None:
            return busy
        settings = config.current
        if pending and run is None and settings.is_direct(device.kind):
            if _are_computed_directly(pending, device, provider, settings):
                return None
            pending = pending_of(pending)
        if not pending:
            return None
        is_trial = recording.midsize and device.kind != "cpu" and settings.is_direct(device.kind)
        begin = perf_counter_ns() if is_trial or observers.active else 0
        start = begin if observers.active else 0
        prepared, walked = find_plan(pending, provider, settings)
        if device is auto.AUTO and trials.asks_for_device(prepared):
            return provider
        # a derivative reads values that an update would overwrite
        moved = ending_with_plan(walked, prepared.donors) if prepared.donors and not tapes.tapes else ()
        # a second list of the nodes would count as another owner
        order: list[Any] = walked if prepared.kept is None else prepared.order(walked)
        origins = [*map(_origin_of, walked)] if recording.origins else ()
        leaves = [*map(order.__getitem__, prepared.leaves)]
        updated = [id(walked[donor.leaf]) for donor in prepared.donors if donor.copy in moved] if moved else ()
        for identity in updated:
            places.being_updated[identity] = provider
    try:
        with Section() if moved else lock:  # a null context would take ten times as long
            results = execute(prepared, provider, device, order, origins, leaves, moved, start, pending, is_read, run)
            if results is not None:
                with places.graphs:
                    prepared.resolve(walked, order, results)
    finally:
        for identity in updated:
            places.being_updated.pop(identity, None)
    if results is None:
        for root in pending:
            evaluate((root,), device, run, is_read=is_read)
    if is_trial:
        trials.judge(prepared, perf_counter_ns() - begin)
    return None


def _are_computed_directly(pending: Sequence[Node], device: Device, provider: Provider, settings: Config) -> bool:
    """Compute a small graph without a plan; return False if some nodes are still pending."""
    limit = _direct_limit(device, provider, settings)
    if device.kind not in FREE and max([root.size for root in pending]) > limit:
        return False  # without a look at operands, which a repeated graph makes when they are asked for
    values = _values_for_tape(pending, limit) if limit else None
    if values is not None and direct.compute_for_tape(pending, values, calls=is_host(provider)):
        return True
    if not limit or not direct.compute(pending, limit, calls=is_host(provider)):
        return False
    counters["evaluations"] += 1
    if recording.midsize and device.kind != "cpu":
        trials.judge_direct(max([root.size for root in pending]))
    return True


def _values_for_tape(pending: Sequence[Node], limit: int) -> NodeValues | None:
    """Return the values that the tape of this thread has, if it needs the graphs of some nodes; else None."""
    record = tape.active()
    if record is None or observers.active or not any(map(record.varies, pending)):
        return None
    values = values_of(record)
    values.limit = limit
    return values


def values_of(record: tape.Tape) -> NodeValues:
    """Return the values of the small nodes of a tape."""
    if not isinstance(record.values, NodeValues):
        record.values = NodeValues(record.values)
    return record.values


def _direct_limit(device: Device, provider: Provider, settings: Config) -> int:
    """Return the maximum elements of values that are computed without a plan on this device."""
    if provider.device.kind == "cpu":
        return settings.host_limit(beside_gpu=False)
    if not settings.is_direct(device.kind):
        return 0
    return settings.host_limit(beside_gpu=not settings.is_open) if device.kind == "auto" else settings.midsize


def compute_small(nodes: Sequence[Node], device: Device, values: NodeValues) -> bool:
    """Compute a small graph without a plan, and add the values of its nodes, which are in topological order.

    Return False if the graph is not small, or the host lacks a value of it. Warnings are the caller's.
    """
    provider = registry.open_device(device)
    values.limit = _direct_limit(device, provider, config.current)
    with places.lock_of(provider), places.graphs:
        if not values.limit or (places.being_updated and places.updating(pending_of(nodes), provider) is not None):
            return False
        return direct.compute_in_order(nodes, values, calls=is_host(provider))


def is_immediate(device: Device) -> bool:
    """Whether single elements of host values are read and written immediately, as small graphs need no plan."""
    return not tapes.tapes and is_direct(device)


def is_direct(device: Device) -> bool:
    """Return whether small graphs of host values need no plan, and no function is recorded from them."""
    settings = config.current
    return not tracing.mode().is_replayed and settings.direct_limit > 0 and settings.is_direct(device.kind)


def element(node: Node, position: int, device: Device) -> Any:
    """Return an element of a value in host memory as a NumPy scalar; None if it is not there."""
    value = host_memory.element(node, position)  # which takes less time where there is none
    return value if value is not None and is_immediate(device) else None


def small_value(node: Node, limit: int) -> Any:
    """Return a copy of a small value in host memory, or a constant as a scalar; None if there is none."""
    if node.size > limit:
        return None
    if type(node) is Generate and node.result is None:
        return generated(node)
    value = value_of(node)
    return None if value is None else np.array(value, order="C")


def take(owners: list[Node]) -> Leaf | None:
    """Return a new leaf with the memory of a value of which one cell has a view; None if others may still read it.

    Parameters
    ----------
    owners : list of Node
        The node of the value, to which nothing else may refer. The new leaf is appended.
    """
    leaf = ownership.private_leaf(owners, views=1)
    if leaf is None:
        return None
    owners.append(new := host_memory.moved(leaf))
    return new


def is_elsewhere(node: Node) -> bool:
    """Whether another device than the host has the value of an evaluated node."""
    leaf = current(node)
    return isinstance(leaf, Leaf) and not all(map(places.is_host, leaf.buffers))


def folded(node: Map, device: Device) -> Node:
    """Return an operation on constants as a constant if small graphs are computed directly; else the node itself."""
    return folded_constant(node) if is_immediate(device) else node


def computed_small(node: Node, device: Device) -> bool:
    """Compute a pending node if its graph is small and its values are on the host; return whether that was possible.

    Operations on it then need not be recorded. Deeper graphs depend on large values or on values of a device, because
    small graphs are computed as soon as they are used.
    """
    if node.needs_plan or node.depth > _SHALLOW:
        return False
    state = immediacy()
    if not state.covers(device):
        return False
    limit = state.limit
    with places.graphs:
        if node.result is not None:
            return True
        if _is_left(node, limit) or not direct.compute((node,), limit, calls=device.kind == "cpu"):
            node.needs_plan = True
            return False
    return True


def _is_left(node: Node, limit: int) -> bool:
    """Return whether a pending node, or a node that it needs, has more elements than a limit, or its value is away.

    Pending operations of which this holds are marked.
    """
    if node.size > limit:
        return True
    is_selecting = type(node) in direct.SELECTING
    for operand in node.inputs:
        if is_away(operand) or (operand.size > limit and not is_selecting):
            return True
        if operand.result is None and operand.inputs and _is_left(operand, limit):
            if type(operand) is not View:  # whose value may come to the host without a plan, with that of its operand
                operand.needs_plan = True
            return True
    return False


def overwrite(node: Node, layout: Layout, values: Node, device: Device) -> None:
    """Compute a write of a few known values immediately and in place, if nothing else can read the old value.

    Parameters
    ----------
    node : Node
        The write. The array already refers to it, so that no other thread gets the old value.
    layout : Layout
        The elements to write.
    values : Node
        The new elements, of the same dtype, and of the layout's shape or without axes.
    device : Device
        The device that computes with the value.
    """
    if not is_immediate(device) or layout.size > config.current.direct_limit:
        return
    is_constant = isinstance(values, Generate) and values.op.is_constant
    written = values.detail[0] if is_constant else value_of(values)
    if written is None:
        return
    with places.graphs:
        if node.result is None and (leaf := host_memory.overwritten(node.inputs, layout, written)) is not None:
            leaf.origin = node.origin
            node.resolve(leaf)


@without_frames
def scalar(node: Node, device: Device) -> Any:
    """Return the value of a node of one element as a Python scalar; waits for it."""
    value = element(node, 0, device)
    return read(node, device).item() if value is None else value.item()


def will_be_direct(nodes: Sequence[Node], device: Device) -> bool:
    """Return whether evaluating nodes needs no plan, because the graph is small and its values are on the host."""
    provider = registry.open_device(device)
    limit = _direct_limit(device, provider, config.current)
    return limit > 0 and direct.covers(nodes, limit, calls=is_host(provider))


def moved_for_parts(node: Node, device: Device, parts: int, *, is_written: bool) -> bool:
    """Move a value of a device to the host if programs read and write parts of it there in less time.

    Parameters
    ----------
    node : Node
        The value.
    device : Device
        The device.
    parts : int
        How often a few elements were read or written by recorded operations.
    is_written : bool
        Whether some were written, so that a copy on the device is of no use.
    """
    provider = registry.open_device(device)
    spent = parts * _OF_PART - (0 if device is auto.AUTO else _BEHIND)
    if spent < 0 or is_host(provider) or spent < at(auto.rates_of(provider).download, node.nbytes):
        return False
    evaluate((node,), device)
    leaf = current(node)
    assert isinstance(leaf, Leaf)
    with places.lock_of(provider):
        if provider in leaf.buffers and leaf.buffers[provider].is_shared:
            return False
        if is_written:
            residency.move_to_host(leaf, provider)
        else:
            residency.copy_to_host(leaf)
    return True


def read(node: Node, device: Device) -> npt.NDArray[Any]:
    """Return the value of ``node`` as a host array of the caller's own; waits for it."""
    if tapes.tapes:
        tape.check_reader(node)
    if type(node) is Generate and (known := _generated(node)) is not None:
        return known
    values = _part(node, device) if type(node) is View else None
    if values is None:
        evaluate((node,), device, is_read=True)
        leaf = current(node)
        assert isinstance(leaf, Leaf)
        values = copy_of(leaf.host) if leaf.host is not None else _fetched(leaf)
    statuses.check()
    return values


def host_values(leaf: Leaf) -> npt.NDArray[Any]:
    """Return the value of a leaf as a new host array; waits for it."""
    statuses.start()  # so that one wait is for both
    values = residency.host_values(leaf)
    statuses.check()
    return values


def _fetched(leaf: Leaf) -> npt.NDArray[Any]:
    """Return a value from its device, and report the time of the wait if it belongs to a trial."""
    if not recording.midsize:
        return host_values(leaf)
    begin = perf_counter_ns()
    values = host_values(leaf)
    trials.judge_read(perf_counter_ns() - begin)
    return values


def _part(node: View, device: Device) -> npt.NDArray[Any] | None:
    """Return elements of a small array of a device, and keep a copy of the whole array on the host; or return None.

    Programs read one element after the other, and each would take a launch and a wait.
    """
    if device.kind in FREE or tracing.state.trace is not None or tapes.tapes:
        return None
    operands = node.inputs  # which go when it has been evaluated
    if not operands or operands[0].nbytes > _SENT_WHOLE:
        return None
    (source,) = operands
    leaf = current(source)
    if type(leaf) is not Leaf:
        if not source.is_held:  # nothing else can read the other elements
            return None
        evaluate((source,), device, is_read=True)
        leaf = current(source)
        assert isinstance(leaf, Leaf)
    if leaf.host is None:
        whole = host_values(leaf)
        whole.flags.writeable = False
        leaf.host = whole
    return strided(leaf.host, node.layout).copy()


def _generated(node: Generate) -> npt.NDArray[Any] | None:
    """Return a constant or a short array of generated integers, which need no device; else None."""
    if node.result is not None or tracing.mode().is_replayed:
        return None
    if node.op.is_constant and not node.shape:
        return np.array(node.parameters[0], node.dtype)
    if node.dtype.kind in "biu" and node.size <= _SHORT and config.current.direct_limit and not observers.active:
        return np.asarray(node.op.numpy(np.arange(node.size), *node.parameters, dtype=node.dtype)).reshape(node.shape)
    return None


def copy_to_device(node: Node, device: Device) -> None:
    """Copy the value of an evaluated node to a device too, if it is not there."""
    leaf = current(node)
    assert isinstance(leaf, Leaf)
    provider = registry.open_device(registry.wanted(device))
    with places.lock_of(provider):
        resident(leaf, provider)


def transfer(node: Node, source: Device, target: Device) -> Node:
    """Return a node with the same value for ``target``: nothing moves if both mean the same provider."""
    if registry.resolve(source) is registry.resolve(target):
        return node
    if tapes.tapes:
        tape.check_reader(node)
    evaluate((node,), source)
    leaf = current(node)
    assert isinstance(leaf, Leaf)
    resident(leaf, registry.open_device(target))
    statuses.check()
    return leaf


def synchronize(device: Device | None = None) -> None:
    """Wait until everything that was enqueued on ``device``, or on all opened devices, is done."""
    providers = registry.opened() if device is None else [registry.open_device(device)]
    for provider in providers:
        try:
            provider.synchronize()
        except GpuArrayError as error:
            blame_last(error, provider.device)
            raise
    statuses.check()
