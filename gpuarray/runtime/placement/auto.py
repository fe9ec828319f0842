"""The device ``"auto"``: plans placed by what their steps are estimated to take, and by where their operands are.

Rates of the device and of the host are measured at the first use, if no record of them is there. A placement is kept
with its plan for each residency that its operands have had.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from weakref import WeakKeyDictionary

from gpuarray import logs
from gpuarray.config import config, offloading
from gpuarray.device import Device
from gpuarray.errors import DeviceMemoryError, GpuArrayError
from gpuarray.fusion.steps import Step
from gpuarray.graph.nodes import Leaf
from gpuarray.providers.base import Provider
from gpuarray.runtime import places, plans, telemetry
from gpuarray.runtime.placement import calibrate, decisions, numpy_times, tune
from gpuarray.runtime.placement.decisions import Decision, Reason, Situation
from gpuarray.runtime.placement.rates import (
    DEVICE_DEFAULTS,
    HOST_DEFAULTS,
    INTEGRATED_DEFAULTS,
    Rates,
    at,
    row_key,
    rows_of,
)
from gpuarray.runtime.placement.residency import is_on_host, resident
from gpuarray.runtime.prepared import Migration, Placement, PreparedPlan, PreparedStep, prepare_steps

AUTO: Final = Device("auto")

_rates: Final[WeakKeyDictionary[Provider, Rates]] = WeakKeyDictionary()


def rates_of(provider: Provider) -> Rates:
    """Return the rates that placements use for a provider, as ``config.calibration`` says."""
    found = _rates.get(provider)
    if found is None:
        defaults = _defaults_of(provider)
        if config.current.calibration == "off":
            return defaults
        try:
            found = calibrate.rates_of(provider.device)
            if config.current.autotune == "on" and not places.is_host(provider):
                tune.ensure(provider)
        except GpuArrayError as error:  # such as no room: the program goes on with estimates that are rougher
            logs.logger.warning("%s was not calibrated: %s", provider.device.name, error)
            found = defaults
        _rates[provider] = found
    return found


def _defaults_of(provider: Provider) -> Rates:
    """Return the rates of a provider that was not measured, by the type of its adapter."""
    if places.is_host(provider):
        return HOST_DEFAULTS
    return INTEGRATED_DEFAULTS if provider.capabilities.kind == "IntegratedGPU" else DEVICE_DEFAULTS


def estimate(provider: Provider, step: PreparedStep) -> float:
    """Return how long a step, prepared for the device of its plan, is estimated to take at a provider."""
    planned = step.planned.step
    if places.is_host(provider):
        return _rates_for(provider, planned).step(planned, chunks=places.host().chunks(planned))
    return rates_of(provider).step(planned, provider.launch_count(step.prepared))


def _rates_for(host: Provider, step: Step) -> Rates:
    """Return the host's rates, with those of a step's formulas: they are measured when they are first asked for."""
    rates = rates_of(host)
    missing = {
        (row, dtype)
        for row, dtype in rows_of(step)
        if numpy_times.is_formula(row) and row_key(row.name, dtype) not in rates.rows
    }
    if missing and host in _rates and config.current.calibration != "off":
        rates = _rates[host] = calibrate.learn(host, rates, missing)
    return rates


def known_rates() -> dict[str, Rates]:
    """Return the rates that are in use, by the name of the device."""
    return {provider.device.name: rates for provider, rates in _rates.items()}


def set_rates(provider: Provider, rates: Rates | None) -> None:
    """Use these rates for a provider; None measures or reads them again when they are next needed."""
    if rates is None:
        _rates.pop(provider, None)
    else:
        _rates[provider] = rates
    plans.forget_placements()


def placed(prepared: PreparedPlan, leaves: Sequence[Leaf], provider: Provider, *, is_read: bool) -> Placement:
    """Return the steps of a plan on the device ``"auto"`` at the places where they run now.

    Parameters
    ----------
    prepared : PreparedPlan
        The plan.
    leaves : sequence of Leaf
        Its leaves, in the order of the plan's.
    provider : Provider
        The device that it was prepared for.
    is_read : bool
        Whether the result that was asked for is wanted on the host.
    """
    if places.is_host(provider):
        return prepared.pinned
    choice = config.current.offload if offloading.is_chosen else "auto"
    if choice == "always":
        return prepared.pinned
    if choice == "never":
        key = -1
    else:
        key = int(is_read)
        for leaf in leaves:
            is_there = provider in leaf.buffers
            key = key << 2 | is_there << 1 | (leaf.host is not None or len(leaf.buffers) > is_there)
    found = prepared.placed.get(key)
    if found is None:
        found = _placed_anew(prepared, leaves, provider, is_read=is_read, is_disabled=choice == "never")
        if len(prepared.placed) >= _PLACEMENTS:
            prepared.placed.clear()
        prepared.placed[key] = found
    return found


def is_observed(found: Placement) -> bool:
    """Whether the steps on the host are timed one by one in this run.

    They are where a plan runs at both places. Where all of it runs on the host, they are timed in the first runs, and
    then now and then.
    """
    if found.host is not None:
        run = found.runs
        if run != found.look:
            return False
        found.look = run + 1 if run < decisions.EARLY else (run // decisions.OBSERVED + 1) * decisions.OBSERVED
    return config.current.refine


def migrate(found: Placement, leaves: Sequence[Leaf], provider: Provider) -> bool:
    """Bring leaves to the device if having them there would have saved by now what that takes.

    Called for each run; returns whether leaves came, so that the steps may have other places now.
    """
    migration = found.migration
    assert migration is not None
    away = [leaves[number] for number in migration.leaves]
    share, saving = migration.saving / len(away), 0.0
    for leaf in away:
        leaf.saving += share
        saving += leaf.saving
    # estimates of a plan that ran fewer than four times may be wrong: it must save twice the cost of the transfer
    if saving < (migration.cost if found.runs >= decisions.EARLY else 2 * migration.cost):
        return False
    try:
        for leaf in away:
            leaf.saving = 0.0
            resident(leaf, provider)
    except DeviceMemoryError:
        return False
    return True


def propagate(migration: Migration, leaves: Sequence[Leaf], made: Sequence[Leaf]) -> None:
    """Hand what the leaves would have saved on to the results: a loop makes its operands anew in each turn."""
    saving = sum([leaves[number].saving for number in migration.leaves])
    for result, share in zip(made, migration.shares, strict=True):
        result.saving = saving * share


def without_room(prepared: PreparedPlan, provider: Provider) -> Placement:
    """Return the steps of a plan on the host, because the device has no room for it."""
    return _prepared(prepared, provider, [Decision(decisions.HOST, Reason.MEMORY)] * len(prepared.plan.steps))


#: Placements that a plan keeps at most.
_PLACEMENTS: Final = 16
#: By how much the device is taken to be slower in a program than in a calibration at most.
_SLOWER: Final = 2.0


def _placed_anew(
    prepared: PreparedPlan, leaves: Sequence[Leaf], provider: Provider, *, is_read: bool, is_disabled: bool
) -> Placement:
    if is_disabled:
        return _prepared(prepared, provider, [decisions.DISABLED] * len(prepared.plan.steps))
    chosen, saving = _decided(prepared, leaves, provider, is_read=is_read)
    found = _prepared(prepared, provider, chosen)
    found.is_free, found.look = True, 2  # the first run does what later ones need not
    away = tuple([number for number, leaf in enumerate(leaves) if provider not in leaf.buffers])
    if saving and away:
        upload = rates_of(provider).upload
        total = max(1, sum(prepared.nbytes))
        cost = sum(at(upload, leaves[number].nbytes) for number in away)
        found.migration = Migration(saving, cost, away, tuple([nbytes / total for nbytes in prepared.nbytes]))
    return found


def _decided(
    prepared: PreparedPlan, leaves: Sequence[Leaf], provider: Provider, *, is_read: bool
) -> tuple[list[Decision], int]:
    given = [*zip(prepared.leaves, leaves, strict=True)]
    situation = Situation(
        {position: (is_on_host(leaf), provider in leaf.buffers) for position, leaf in given},
        {position: leaf.nbytes for position, leaf in given},
        is_read,
    )
    refusals = [step.decision.reason if step.decision.is_fallback else None for step in prepared.pinned.steps]
    corrections = prepared.corrections.used
    on_host = [estimate(places.host(), step) for step in prepared.pinned.steps]
    corrected = [time * corrections.get(number, 1.0) for number, time in enumerate(on_host)]
    # what is slower in the program than in the calibration is Python and the caches, on the way to the device as well;
    # but what is much slower is so for reasons of its own, such as threads that wait for each other
    slower = min(_SLOWER, max(1.0, sum(corrected) / max(1.0, sum(on_host))))
    rates = rates_of(provider)
    rates = replace(rates, use=rates.use * slower, fetch=rates.fetch * slower, launch=rates.launch * slower)
    times = [
        (time, rates.step(step.planned.step, provider.launch_count(step.prepared)) if refusal is None else 0.0)
        for time, step, refusal in zip(corrected, prepared.pinned.steps, refusals, strict=True)
    ]
    return decisions.place(prepared.plan, situation, times, refusals, rates)


def _prepared(prepared: PreparedPlan, provider: Provider, chosen: list[Decision]) -> Placement:
    telemetry.placed(decision.cause for decision in chosen)
    return prepare_steps(prepared.plan.steps, chosen, provider, prepared.pinned.steps)
