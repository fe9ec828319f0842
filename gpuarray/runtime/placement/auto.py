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
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.providers.base import Provider
from gpuarray.runtime import places, plans, telemetry
from gpuarray.runtime.placement import calibrate, decisions, tune
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
from gpuarray.runtime.prepared import Placement, PreparedPlan, PreparedStep, prepare_steps

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
        if calibrate.is_formula(row) and row_key(row.name, dtype) not in rates.rows
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


def placed(
    ready: PreparedPlan, order: Sequence[Node], provider: Provider, device: Device, *, is_read: bool
) -> Placement:
    """Return the steps of a plan at the places where they run now."""
    if device is not AUTO or provider.device.kind == places.HOST_DEVICE.kind:
        return ready.pinned
    choice = config.current.offload if offloading.is_chosen else "auto"
    if choice == "always":
        return ready.pinned
    if choice == "never":
        key = -1
    else:
        key = int(is_read)
        for position in ready.leaves:
            leaf: Leaf = order[position]  # type: ignore[assignment]  # a plan's leaves are always at these places
            is_there = provider in leaf.buffers
            key = key << 2 | is_there << 1 | (leaf.host is not None or len(leaf.buffers) > is_there)
    found = ready.placed.get(key)
    if found is None:
        found = _placed_anew(ready, order, provider, is_read=is_read, is_disabled=choice == "never")
        if len(ready.placed) >= _PLACEMENTS:
            ready.placed.clear()
        ready.placed[key] = found
    return found


def is_observed(found: Placement) -> bool:
    """Whether the steps of a run that may be looked at are timed; says which run is the next such."""
    run = found.runs
    found.look = run + 1 if run < decisions.EARLY else (run // decisions.OBSERVED + 1) * decisions.OBSERVED
    return config.current.refine


def settle(found: Placement, order: Sequence[Node], provider: Provider) -> bool:
    """Bring operands to the device if having them there would have saved by now what that takes.

    Called for each run; returns whether operands came, so that the steps may have other places now.
    """
    away = _leaves(order, found.away)
    share, regret = found.saving / len(away), 0.0
    for leaf in away:
        leaf.saving += share
        regret += leaf.saving
    # a plan's estimates are held against what they are of first, unless it is one of many
    if regret < (found.price if found.runs >= decisions.EARLY else 2 * found.price):
        return False
    try:
        for leaf in away:
            leaf.saving = 0.0
            resident(leaf, provider)
    except DeviceMemoryError:
        return False
    return True


def hand_on(found: Placement, order: Sequence[Node]) -> None:
    """Let what a plan made on the host regret as much as its operands: a loop makes its operands anew in each turn."""
    regret = sum([leaf.saving for leaf in _leaves(order, found.away)])
    for position, share in found.heirs:
        result = order[position].result
        if result is not None:
            result.saving = regret * share


def without_room(ready: PreparedPlan, provider: Provider) -> Placement:
    """Return the steps of a plan on the host, because the device has no room for it."""
    return _prepared(ready, provider, [Decision(decisions.HOST, Reason.MEMORY)] * len(ready.plan.steps))


#: Placements that a plan keeps at most.
_PLACEMENTS: Final = 16
#: By how much the device is taken to be slower in a program than in a calibration at most.
_SLOWER: Final = 2.0


def _leaves(order: Sequence[Node], positions: Sequence[int]) -> list[Leaf]:
    return [order[position] for position in positions]  # type: ignore[misc]  # what is at these places are leaves


def _placed_anew(
    ready: PreparedPlan, order: Sequence[Node], provider: Provider, *, is_read: bool, is_disabled: bool
) -> Placement:
    if is_disabled:
        return _prepared(ready, provider, [decisions.DISABLED] * len(ready.plan.steps))
    chosen, saving = _decided(ready, order, provider, is_read=is_read)
    found = _prepared(ready, provider, chosen)
    found.is_free, found.look = True, 2  # the first run does what later ones need not
    leaves = zip(ready.leaves, _leaves(order, ready.leaves), strict=True)
    away = [position for position, leaf in leaves if provider not in leaf.buffers]
    if saving and away:
        upload = rates_of(provider).upload
        sizes = [(position, order[position].nbytes) for position, _ in ready.plan.results]
        total = max(1, sum(nbytes for _, nbytes in sizes))
        found.saving, found.away = saving, tuple(away)
        found.price = sum(at(upload, order[position].nbytes) for position in away)
        found.heirs = tuple((position, nbytes / total) for position, nbytes in sizes)
    return found


def _decided(
    ready: PreparedPlan, order: Sequence[Node], provider: Provider, *, is_read: bool
) -> tuple[list[Decision], int]:
    leaves = {number: node for number, node in enumerate(order) if isinstance(node, Leaf)}
    situation = Situation(
        {number: (is_on_host(leaf), provider in leaf.buffers) for number, leaf in leaves.items()},
        {number: leaf.nbytes for number, leaf in leaves.items()},
        is_read,
    )
    refusals = [step.decision.reason if step.decision.is_fallback else None for step in ready.pinned.steps]
    corrections = ready.corrections.used
    on_host = [estimate(places.host(), step) for step in ready.pinned.steps]
    corrected = [time * corrections.get(number, 1.0) for number, time in enumerate(on_host)]
    # what is slower in the program than in the calibration is Python and the caches, on the way to the device as well;
    # but what is much slower is so for reasons of its own, such as threads that wait for each other
    slower = min(_SLOWER, max(1.0, sum(corrected) / max(1.0, sum(on_host))))
    rates = rates_of(provider)
    rates = replace(rates, use=rates.use * slower, fetch=rates.fetch * slower, launch=rates.launch * slower)
    times = [
        (time, rates.step(step.planned.step, provider.launch_count(step.prepared)) if refusal is None else 0.0)
        for time, step, refusal in zip(corrected, ready.pinned.steps, refusals, strict=True)
    ]
    return decisions.place(ready.plan, situation, times, refusals, rates)


def _prepared(ready: PreparedPlan, provider: Provider, chosen: list[Decision]) -> Placement:
    telemetry.placed(decision.cause for decision in chosen)
    return prepare_steps(ready.plan.steps, chosen, provider, ready.pinned.steps)
