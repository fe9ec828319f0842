"""Running a prepared plan: its placement, its schedule, the lack of memory, observers, and the record for errors.

Evaluations, which bind the nodes of a graph, and recorded functions, which bind the arguments of a call, both run plans
by :func:`execute`.
"""

from collections.abc import Sequence
from typing import Any

from gpuarray import observers
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import DeviceMemoryError, GpuArrayError
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.providers.base import Provider
from gpuarray.runtime import telemetry
from gpuarray.runtime.history import OF_VALUES, Evaluation, blame, remember
from gpuarray.runtime.placement import auto, decisions
from gpuarray.runtime.prepared import Placement, PreparedPlan, PreparedStep
from gpuarray.runtime.schedule import Observe, Run, Schedule
from gpuarray.runtime.telemetry import counters
from gpuarray.source_locations import Origin


def execute(
    prepared: PreparedPlan,
    provider: Provider,
    device: Device,
    order: Sequence[Any],
    origins: Sequence[Origin | None],
    leaves: Sequence[Leaf],
    moved: Sequence[int],
    start: int,
    roots: Sequence[Node] = (),
    is_read: bool = False,
    run: Run | None = None,
) -> list[Leaf] | None:
    """Run a plan for leaves, and return its results in the order of ``plan.results``.

    Parameters
    ----------
    prepared, provider, device
        The plan, the device for which it was prepared, and the requested device. ``"auto"`` places the plan at each
        run.
    order, origins
        The nodes by position; the lines that recorded them by walk index, or nothing.
    leaves : sequence of Leaf
        The leaves, in the order of ``prepared.leaves``.
    moved : sequence of int
        The copies that may reuse the buffer of their input, because nothing else refers to its value.
    start : int
        The start of the evaluation if observers are active, else 0.
    roots : sequence of Node
        The nodes of an evaluation, which can be computed again or one by one. Empty for a recorded function.
    is_read : bool
        Whether the host reads the first of ``roots`` next.
    run : callable, optional
        Runs tasks instead of the device.

    Returns
    -------
    list of Leaf or None
        None if there is too little memory for several ``roots`` together.

    Raises
    ------
    Exception
        If the plan fails, with notes about the lines that recorded it.
    """
    placed = prepared.pinned
    if device is auto.AUTO:
        placed = auto.placed_after_migration(prepared, leaves, provider, is_read=is_read)
    if moved and placed.in_one_go:  # a later step that finds no room would leave an update made and not recorded
        moved = [number for number in moved if number >= placed.in_one_go]
    planned = observers.plan_found(placed) if start and not observers.skip_repeat(placed, start) else 0
    serial = begin(prepared, placed, provider, origins)
    results: list[Leaf] | None = None
    try:
        if placed.fallbacks:
            _count_fallbacks([placed.steps[number] for number in placed.fallbacks], order)
        schedule = None if moved else placed.schedules.get(())
        if schedule is None:
            schedule = Schedule.of(prepared, placed, provider, order, leaves, moved)
        observe = _observer(prepared) if placed.is_free and auto.is_observed(placed) else None
        read = roots[0] if is_read else None
        results = schedule.run(leaves, order, serial, read, run, observe, can_repeat=bool(roots))
    except Exception as error:
        is_split = len(roots) > 1
        if not isinstance(error, DeviceMemoryError) or moved or not (placed.is_free or is_split):
            blame(error, serial, provider)
            if isinstance(error, OF_VALUES) and not config.current.debug:  # earlier attempts say no more
                raise error.with_traceback(None) from error.__cause__
            raise
    if results is None and placed.is_free:  # not in the handler, so that the first attempt is released with its error
        results = _run_on_host(prepared, provider, order, leaves, serial, run, can_split=is_split)
    if results is None:
        return None
    if planned:
        observers.evaluation_done(Evaluation(prepared, placed, provider.device, origins), start, planned)
    elif start:
        observers.skipped()
    if placed.is_free:
        auto.propagate(prepared, leaves, results)
    return results


def begin(prepared: PreparedPlan, placed: Placement, provider: Provider, origins: Sequence[Origin | None]) -> int:
    """Count a run of a plan and record it for errors; return its number."""
    counters["evaluations"] += 1
    counters["operations"] += prepared.operations
    placed.runs += 1
    return remember(prepared, placed, provider.device, origins)


def _run_on_host(
    prepared: PreparedPlan,
    provider: Provider,
    order: Sequence[Any],
    leaves: Sequence[Leaf],
    serial: int,
    run: Run | None,
    *,
    can_split: bool,
) -> list[Leaf] | None:
    """Run a plan on the host because the device lacks memory; return None if that fails too and ``can_split``.

    If a device has too little memory, these are tried in order:

    1. Values that the plan does not use are moved to the host, the least recently used ones first
       (:func:`gpuarray.runtime.placement.residency.allocate`, before this function is called).
    2. On the device ``"auto"`` the whole plan runs on the host.
    3. An evaluation of several values computes them one by one.
    4. The error is raised.

    Once a buffer may have been written to in place, only the first applies, as the plan cannot be run again.
    """
    instead = auto.without_room(prepared, provider)
    try:
        _count_fallbacks(instead.steps, order)
        return Schedule(prepared, instead, provider, order).run(leaves, order, serial, None, run)
    except GpuArrayError as error:
        if can_split and isinstance(error, DeviceMemoryError):
            return None
        blame(error, serial, provider)
        raise


def _observer(prepared: PreparedPlan) -> Observe:
    """Return the function that corrects the estimates of a plan by the times of its steps on the host."""

    def observe(number: int, estimate: float, elapsed: int) -> None:
        if prepared.corrections.observe(number, estimate, elapsed):
            prepared.placed.clear()

    return observe


def _count_fallbacks(steps: Sequence[PreparedStep], order: Sequence[Any]) -> None:
    """Count the steps that run on the host because the device has no kernel, at the lines that recorded them."""
    for step in steps:
        if step.decision.is_fallback:
            where = order[step.planned.outputs[0]].origin
            telemetry.fallback(decisions.name_of(step.planned.step), step.decision.reason, where=where)
