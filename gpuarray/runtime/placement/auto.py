"""The device ``"auto"``: places the steps of plans by their estimated times and by the residency of their operands.

The rates of the device and of the host are measured, if there is no record, once a program has computed for as long as
that takes. A plan keeps one placement for each residency of its operands.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Final, cast
from weakref import WeakKeyDictionary

from gpuarray import logs
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import DeviceMemoryError, GpuArrayError
from gpuarray.graph.nodes import Leaf
from gpuarray.ops.spec import MapOp
from gpuarray.providers.base import CompilingProvider, Provider
from gpuarray.runtime import places, plans, telemetry
from gpuarray.runtime.placement import calibrate, decisions, numpy_times, tune
from gpuarray.runtime.placement.decisions import Decision, Reason, Situation
from gpuarray.runtime.placement.rates import (
    DEVICE_DEFAULTS,
    HOST_DEFAULTS,
    INTEGRATED_DEFAULTS,
    Amounts,
    Rates,
    amounts,
    at,
    operation_key,
)
from gpuarray.runtime.placement.residency import is_on_host, move_to_host, resident
from gpuarray.runtime.prepared import Migration, Placement, PreparedPlan, PreparedStep, placed_anew

AUTO: Final = Device("auto")

_rates: Final[WeakKeyDictionary[Provider, Rates]] = WeakKeyDictionary()
#: Those of which there is no record, while it is not worth the time to measure them.
_assumed: Final[set[Provider]] = set()
#: Rates are measured when evaluations that may run on a GPU were estimated to take so many nanoseconds: about as long.
_CALIBRATING: Final = 3e9
_estimated = 0.0


def rates_of(provider: Provider) -> Rates:
    """Return the rates of a provider for placements, according to ``config.calibration``."""
    rates = _rates.get(provider)
    if rates is None:
        defaults = _defaults_of(provider)
        if config.current.calibration == "off":
            return defaults
        if _estimated < _CALIBRATING and not calibrate.is_recorded(provider):
            _assumed.add(provider)
            _rates[provider] = defaults
            return defaults
        try:
            rates = calibrate.rates_of(provider.device)
            if config.current.autotune == "on" and not places.is_host(provider):
                tune.ensure(provider)
        except GpuArrayError as error:  # such as too little memory: the program continues with rougher estimates
            logs.logger.warning("%s was not calibrated: %s", provider.device.name, error)
            rates = defaults
        _rates[provider] = rates
    return rates


def _defaults_of(provider: Provider) -> Rates:
    """Return default rates by the type of the adapter of a provider."""
    if places.is_host(provider):
        return HOST_DEFAULTS
    return INTEGRATED_DEFAULTS if provider.capabilities.kind == "IntegratedGPU" else DEVICE_DEFAULTS


def estimate(provider: Provider, step: PreparedStep) -> float:
    """Return the estimated nanoseconds of a step at a provider; it is prepared for the device of its plan."""
    return _estimate(provider, step, amounts(step.planned.step))


def _estimate(provider: Provider, step: PreparedStep, amounts: Amounts) -> float:
    if places.is_host(provider):
        return _rates_for(provider, amounts).step(amounts, chunks=places.host().chunks(amounts.step))
    return rates_of(provider).step(amounts, provider.launch_count(step.prepared))


def _rates_for(host: Provider, amounts: Amounts) -> Rates:
    """Return the rates of the host, including the formulas of a step, which are measured when first needed."""
    rates = rates_of(host)
    missing = {
        (item.op, item.dtype)
        for _, evaluated in amounts.loops
        for item in evaluated
        if isinstance(item.op, MapOp)
        and numpy_times.is_formula(item.op)
        and operation_key(item.op.name, item.dtype) not in rates.rows
    }
    if missing and host in _rates and config.current.calibration != "off":
        rates = _rates[host] = calibrate.learn(host, rates, missing)
    return rates


def known_rates() -> dict[str, Rates]:
    """Return the rates in use by the name of the device."""
    return {provider.device.name: rates for provider, rates in _rates.items()}


def set_rates(provider: Provider, rates: Rates | None) -> None:
    """Set the rates of a provider; with None they are read or measured again when next needed."""
    _assumed.discard(provider)
    if rates is None:
        _rates.pop(provider, None)
    else:
        _rates[provider] = rates
    plans.forget_placements()


def _note_time(time: float) -> None:
    """Note what an evaluation is estimated to take; have rates measured once such evaluations have taken long."""
    global _estimated
    _estimated += time
    if _estimated >= _CALIBRATING and _assumed:
        for provider in [*_assumed]:
            set_rates(provider, None)


def placed(prepared: PreparedPlan, leaves: Sequence[Leaf], provider: Provider, *, is_read: bool) -> Placement:
    """Return the placement of a plan on the device ``"auto"`` for the residency of its leaves.

    Parameters
    ----------
    prepared : PreparedPlan
        The plan.
    leaves : sequence of Leaf
        The leaves, in the order of the plan.
    provider : Provider
        The device for which the plan was prepared.
    is_read : bool
        Whether the host reads the result.
    """
    if places.is_host(provider):
        return prepared.pinned
    choice = config.current.offload
    if choice == "always":
        return prepared.pinned
    if choice == "never":
        key = -1
    else:
        key = int(is_read)
        for leaf in leaves:
            is_there = provider in leaf.buffers
            key = key << 2 | is_there << 1 | (leaf.host is not None or len(leaf.buffers) > is_there)
    placement = prepared.placed.get(key)
    if placement is None:
        placement = _placed_anew(prepared, leaves, provider, is_read=is_read, is_disabled=choice == "never")
        if len(prepared.placed) >= _PLACEMENTS:
            prepared.placed.clear()
        prepared.placed[key] = placement
    if placement.meanwhile is not None:
        if _missing_kernels(placement, provider):
            return placement.meanwhile
        placement.meanwhile = None
    return placement


def is_observed(placement: Placement) -> bool:
    """Whether the steps on the host are timed one by one in this run.

    Plans that run at both places are always timed. Plans that run on the host alone are timed in the first runs, and
    from then on every ``decisions.OBSERVED`` runs.
    """
    if placement.host is not None:
        run = placement.runs
        if run != placement.look:
            return False
        placement.look = run + 1 if run < decisions.EARLY else (run // decisions.OBSERVED + 1) * decisions.OBSERVED
    return config.current.refine


def placed_after_migration(
    prepared: PreparedPlan, leaves: Sequence[Leaf], provider: Provider, *, is_read: bool
) -> Placement:
    """Return the placement of a plan as :func:`placed` does, after the migration of leaves that pays for itself."""
    placement = placed(prepared, leaves, provider, is_read=is_read)
    if _assumed and placement.time:
        _note_time(placement.time)
    if placement.migration is not None and migrate(placement, leaves, provider):
        placement = placed(prepared, leaves, provider, is_read=is_read)
    return placement


def migrate(placement: Placement, leaves: Sequence[Leaf], provider: Provider) -> bool:
    """Move leaves to the place that lacks them if the time that this would have saved so far exceeds its cost.

    Called for each run. Returns True if leaves were moved, which may change the placement. Leaves that move to the host
    leave the device, as a program that reads and writes parts of a value there does so at once and in place. Buffers
    that code outside this package has stay.
    """
    migration = placement.migration
    assert migration is not None
    away = [leaves[number] for number in migration.leaves]
    to_host = places.is_host(migration.target)
    if to_host and any(provider in leaf.buffers and leaf.buffers[provider].is_shared for leaf in away):
        return False
    share, saving = migration.saving / len(away), 0.0
    for leaf in away:
        leaf.saving += share
        saving += leaf.saving
    # estimates of a plan that ran fewer than four times may be wrong: it must save twice the cost of the transfer
    if saving < (migration.cost if placement.runs >= decisions.EARLY else 2 * migration.cost):
        return False
    try:
        for leaf in away:
            leaf.saving = 0.0
            if to_host:
                move_to_host(leaf, provider)
            else:
                resident(leaf, provider)
    except DeviceMemoryError:
        return False
    return True


def propagate(prepared: PreparedPlan, leaves: Sequence[Leaf], results: Sequence[Leaf]) -> None:
    """Share the savings of the leaves among the results, because a loop computes its operands anew in each iteration.

    Each result has a share in proportion to its bytes.
    """
    saving = sum([leaf.saving for leaf in leaves])
    if saving:
        each = saving / max(1, sum(prepared.nbytes))
        for result, nbytes in zip(results, prepared.nbytes, strict=True):
            result.saving = each * nbytes


def without_room(prepared: PreparedPlan, provider: Provider) -> Placement:
    """Return the placement of a whole plan on the host, because the device has too little memory."""
    return _prepared(prepared, provider, [Decision(decisions.HOST, Reason.MEMORY)] * len(prepared.plan.steps))


#: Nanoseconds that a driver takes to compile a kernel, about. The host computes meanwhile what takes it less.
_COMPILING: Final = 20e6
#: The maximum number of placements of a plan.
_PLACEMENTS: Final = 16
#: The maximum factor by which a device is assumed to be slower in a program than in its calibration.
_SLOWER: Final = 2.0


def _placed_anew(
    prepared: PreparedPlan, leaves: Sequence[Leaf], provider: Provider, *, is_read: bool, is_disabled: bool
) -> Placement:
    if is_disabled:
        return _prepared(prepared, provider, [decisions.DISABLED] * len(prepared.plan.steps))
    chosen, savings = _decided(prepared, leaves, provider, is_read=is_read)
    placement = _prepared(prepared, provider, chosen)
    placement.time = sum([min(each.estimates) for each in chosen if each.estimates is not None])
    placement.is_free, placement.look = True, 2  # the first run includes work that later runs do not repeat
    if placement.host is None and all(is_on_host(leaf) and provider not in leaf.buffers for leaf in leaves):
        on_host = sum([each.estimates[0] for each in chosen if each.estimates is not None])
        if on_host < _missing_kernels(placement, provider) * _COMPILING:
            waiting = [Decision(decisions.HOST, Reason.COMPILING, estimates=each.estimates) for each in chosen]
            placement.meanwhile = _prepared(prepared, provider, waiting)
            placement.meanwhile.is_free, placement.meanwhile.look = True, 2
    rates = rates_of(provider)
    targets = zip((places.host(), provider), (rates.download, rates.upload), savings, strict=True)
    target, curve, saving = max(targets, key=itemgetter(2))
    lacking = [number for number, leaf in enumerate(leaves) if not _has(target, leaf)]
    if saving and lacking:
        cost = sum(at(curve, leaves[number].nbytes) for number in lacking)
        placement.migration = Migration(target, saving, cost, tuple(lacking))
    return placement


def _missing_kernels(placement: Placement, provider: Provider) -> int:
    """Return how many kernels of a placement are not compiled yet; other threads compile them."""
    if not hasattr(provider, "compile_ahead"):
        return 0
    on_device = [step.prepared for step in placement.steps if step.decision.where == decisions.DEVICE]
    return cast("CompilingProvider", provider).compile_ahead(on_device)


def _has(place: Provider, leaf: Leaf) -> bool:
    return is_on_host(leaf) if places.is_host(place) else place in leaf.buffers


def _decided(
    prepared: PreparedPlan, leaves: Sequence[Leaf], provider: Provider, *, is_read: bool
) -> tuple[list[Decision], tuple[int, int]]:
    pairs = [*zip(prepared.leaves, leaves, strict=True)]
    situation = Situation(
        {position: (is_on_host(leaf), provider in leaf.buffers) for position, leaf in pairs},
        {position: leaf.nbytes for position, leaf in pairs},
        is_read,
    )
    refusals = [step.decision.reason if step.decision.is_fallback else None for step in prepared.pinned.steps]
    corrections = prepared.corrections.used
    # equal steps, of which programs with loops have many, are prepared once
    steps = {id(step.prepared): step for step in prepared.pinned.steps}
    moved = {key: amounts(step.planned.step) for key, step in steps.items()}
    here = {key: _estimate(places.host(), step, moved[key]) for key, step in steps.items()}
    on_host = [here[id(step.prepared)] for step in prepared.pinned.steps]
    corrected = [time * corrections.get(number, 1.0) for number, time in enumerate(on_host)]
    # a program that is slower than the calibration has slower Python code and cold caches, which also slow down the
    # device; a larger factor has other causes, such as threads that wait for each other
    slower = min(_SLOWER, max(1.0, sum(corrected) / max(1.0, sum(on_host))))
    rates = rates_of(provider)
    rates = replace(rates, use=rates.use * slower, fetch=rates.fetch * slower, launch=rates.launch * slower)
    there = {
        key: 0.0 if step.decision.is_fallback else rates.step(moved[key], provider.launch_count(step.prepared))
        for key, step in steps.items()
    }
    times = [(time, there[id(step.prepared)]) for time, step in zip(corrected, prepared.pinned.steps, strict=True)]
    return decisions.place(prepared.plan, situation, times, refusals, rates)


def _prepared(prepared: PreparedPlan, provider: Provider, chosen: list[Decision]) -> Placement:
    telemetry.placed(decision.cause for decision in chosen)
    return placed_anew(prepared.pinned, chosen, provider)
