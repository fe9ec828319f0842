"""The device ``"auto"``: plans placed by what their steps are estimated to take, and by where their operands are.

Rates of the device and of the host are measured at the first use, if no record of them is there. A placement is kept
with its plan for each residency that its operands have had.
"""

from dataclasses import replace
from typing import Final
from weakref import WeakKeyDictionary

from gpuarray import logs
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import DeviceMemoryError, GpuArrayError
from gpuarray.fusion.steps import Step
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.providers.base import Provider
from gpuarray.runtime import calibrate, offload, places, plans, tune
from gpuarray.runtime.offload import Decision, Reason, Situation
from gpuarray.runtime.rates import DEVICE_DEFAULTS, HOST_DEFAULTS, Rates, at, row_key, rows_of
from gpuarray.runtime.ready import Placed, ReadyPlan, ReadyStep
from gpuarray.runtime.residency import is_on_host, resident

_rates: Final[WeakKeyDictionary[Provider, Rates]] = WeakKeyDictionary()


def rates_of(provider: Provider) -> Rates:
    """Return the rates that placements use for a provider, as ``config.calibration`` says."""
    found = _rates.get(provider)
    if found is None:
        defaults = HOST_DEFAULTS if places.is_host(provider) else DEVICE_DEFAULTS
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


def estimate(provider: Provider, step: ReadyStep) -> float:
    """Return how long a step, prepared for the device of its plan, is estimated to take at a provider."""
    planned = step.planned.step
    if places.is_host(provider):
        return _rates_for(provider, planned).step(planned, pieces=places.host().pieces(planned))
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


def placed(ready: ReadyPlan, order: list[Node], provider: Provider, device: Device, *, is_read: bool) -> Placed:
    """Return the steps of a plan at the places where they run now."""
    if device.name != "auto" or places.is_host(provider):
        return ready.pinned
    choice = config.current.offload
    if choice == "always":
        return ready.pinned
    if choice == "never":
        key = -1
    else:
        key = int(is_read)
        for position in ready.leaves:
            leaf: Leaf = order[position]  # type: ignore[assignment]  # a plan's leaves are always at these places
            key = key << 2 | (leaf.host is not None or is_on_host(leaf)) | (provider in leaf.buffers) << 1
    found = ready.placed.get(key)
    if found is None:
        saving = 0
        if choice == "never":
            decisions = [offload.DISABLED] * len(ready.plan.steps)
        else:
            decisions, saving = _decided(ready, order, provider, is_read=is_read)
        found = _prepared(ready, provider, decisions)
        found.is_free, found.saving = choice != "never", saving
        if len(ready.placed) >= _PLACEMENTS:
            ready.placed.clear()
        ready.placed[key] = found
    return found


def settle(found: Placed, order: list[Node], provider: Provider) -> bool:
    """Bring operands to the device if having them there would have saved by now what that takes.

    Called for each run; returns whether operands came, so that the steps may have other places now.
    """
    away = [node for node in order if isinstance(node, Leaf) and provider not in node.buffers]
    if not found.saving or not away:
        return False
    for leaf in away:
        leaf.regret += found.saving / len(away)
    upload = rates_of(provider).upload
    if sum(leaf.regret for leaf in away) < sum(at(upload, leaf.nbytes) for leaf in away):
        return False
    try:
        for leaf in away:
            leaf.regret = 0.0
            resident(leaf, provider)
    except DeviceMemoryError:
        return False
    return True


def hand_on(ready: ReadyPlan, order: list[Node]) -> None:
    """Let what a plan made on the host regret as much as its operands: a loop makes its operands anew in each turn."""
    regret = sum(leaf.regret for position in ready.leaves if isinstance(leaf := order[position], Leaf))
    results = [result for position, _ in ready.plan.results if (result := order[position].result) is not None]
    nbytes = max(1, sum(result.nbytes for result in results))
    for result in results:
        result.regret = regret * result.nbytes / nbytes


def without_room(ready: ReadyPlan, provider: Provider) -> Placed:
    """Return the steps of a plan on the host, because the device has no room for it."""
    return _prepared(ready, provider, [Decision(offload.HOST, Reason.MEMORY)] * len(ready.plan.steps))


#: Placements that a plan keeps at most.
_PLACEMENTS: Final = 16


def _decided(ready: ReadyPlan, order: list[Node], provider: Provider, *, is_read: bool) -> tuple[list[Decision], int]:
    leaves = {number: node for number, node in enumerate(order) if isinstance(node, Leaf)}
    situation = Situation(
        {number: (is_on_host(leaf), provider in leaf.buffers) for number, leaf in leaves.items()},
        {number: leaf.nbytes for number, leaf in leaves.items()},
        is_read,
    )
    refusals = [step.decision.reason if step.decision.is_fallback else None for step in ready.pinned.steps]
    host, corrections = places.host(), ready.corrections.used
    on_host = [estimate(host, step) for step in ready.pinned.steps]
    corrected = [time * corrections.get(number, 1.0) for number, time in enumerate(on_host)]
    times = [
        (time, estimate(provider, step) if refusal is None else 0.0)
        for time, step, refusal in zip(corrected, ready.pinned.steps, refusals, strict=True)
    ]
    # what is slower in the program than in the calibration is Python and the caches, on the way to the device as well
    slower = max(1.0, sum(corrected) / max(1.0, sum(on_host)))
    rates = rates_of(provider)
    rates = replace(rates, use=rates.use * slower, fetch=rates.fetch * slower)
    return offload.place(ready.plan, situation, times, refusals, rates)


def _prepared(ready: ReadyPlan, provider: Provider, decisions: list[Decision]) -> Placed:
    return plans.ready_steps(ready.plan.steps, decisions, provider, ready.pinned.steps)
