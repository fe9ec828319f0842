"""Where steps run, and why: decisions with their reasons.

A pinned device runs what it has kernels for; the rest runs on the host, which counts as a fallback. For the device
``"auto"`` all steps of a plan are placed together, by what they are estimated to take at either place and what moving
values between the places takes (:mod:`gpuarray.runtime.placement.division`). Estimates come from measured rates
(:mod:`gpuarray.runtime.placement.rates`), corrected by what steps were seen to take.

Arrays do not bounce: to leave the place where operands are costs their transfer, in either direction. An array that
is used on the host again and again goes to the device when what that would have saved by then has paid its way: not
knowing how often it will be used, no rule is better by more than a factor of two (Karlin, Manasse, Rudolph and Sleator,
"Competitive snoopy caching", 1988).
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, assert_never

from gpuarray.fusion.costs import evaluations
from gpuarray.fusion.plan import Plan
from gpuarray.fusion.steps import CallStep, ContractStep, CopyStep, Loop, ScanStep, ScatterStep, Step
from gpuarray.ops.columns import Kind
from gpuarray.ops.spec import MapOp
from gpuarray.runtime.placement import division
from gpuarray.runtime.placement.division import NEVER, Value
from gpuarray.runtime.placement.rates import Rates, at

HOST: Final = "host"
DEVICE: Final = "device"


class Reason(StrEnum):
    """Why a step runs where it does."""

    FORCED = "forced"
    RESIDENT = "resident"
    TOO_SMALL = "too small"
    MODEL = "model"
    UNSUPPORTED = "unsupported"
    MEMORY = "memory"
    DISABLED = "disabled"
    TIE = "tie"


_MEANINGS: Final[Mapping[Reason, str]] = {
    Reason.FORCED: "the device is pinned or the only one, or config.offload is 'always'",
    Reason.RESIDENT: "its operands are there, and moving them would take longer",
    Reason.TOO_SMALL: "it is over before the device would have begun",
    Reason.MODEL: "it is estimated to be faster there",
    Reason.UNSUPPORTED: "the device has no kernel",
    Reason.MEMORY: "the device has no room",
    Reason.DISABLED: "config.offload is 'never'",
    Reason.TIE: "it is estimated to take as long at either place",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """Where a step runs, and why.

    Attributes
    ----------
    where : {"host", "device"}
        The place.
    cause : Reason
        The kind of reason.
    detail : str
        More about it, if there is more to say.
    estimates : tuple of float or None
        Nanoseconds that the step alone was estimated to take on the host and on the device; infinite where it
        cannot run.
    """

    where: str
    cause: Reason
    detail: str = ""
    estimates: tuple[float, float] | None = None

    @property
    def reason(self) -> str:
        """The reason in a sentence."""
        return self.detail or _MEANINGS[self.cause]

    @property
    def is_fallback(self) -> bool:
        """Whether the step runs on the host for want of anything better."""
        return self.where == HOST and self.cause in (Reason.UNSUPPORTED, Reason.MEMORY)


_PINNED: Final = Decision(DEVICE, Reason.FORCED)
DISABLED: Final = Decision(HOST, Reason.DISABLED)


def decide(refusal: str | None) -> Decision:
    """Return where a step of a pinned device runs.

    Parameters
    ----------
    refusal : str or None
        Why the device cannot run it, if it cannot.
    """
    return _PINNED if refusal is None else Decision(HOST, Reason.UNSUPPORTED, refusal)


#: The steps of a plan on the host are timed one by one in early runs, up to this one, and then every so many runs.
EARLY: Final = 4
OBSERVED: Final = 128
#: No correction goes beyond this, or below one by it; how far one must move to count; and of how many times it is made
#: at least, and at most, which are the latest.
_BOUND: Final = 64.0
_MOVED: Final = 1.25
_ENOUGH: Final = 3
_LATEST: Final = 5


@dataclass(slots=True)
class Corrections:
    """By what factors the steps of one plan differ, on the host, from what was estimated.

    Each plan has its own, as what makes an estimate wrong for one loop says nothing of another. A factor is made of the
    least of the last times that were seen: what else the machine does makes a time longer, never shorter.

    Attributes
    ----------
    used : dict
        The factors that placements are made with, by the number of the step.
    """

    used: dict[int, float] = field(default_factory=dict)
    _seen: dict[int, deque[float]] = field(default_factory=dict)

    def observe(self, number: int, estimate: float, elapsed: float) -> bool:
        """Take note of how long a step took whose estimate is known, corrections included.

        Returns whether the plan should be placed again.
        """
        used = self.used.get(number, 1.0)
        seen = self._seen.setdefault(number, deque(maxlen=_LATEST))
        seen.append(used * elapsed / max(estimate, 1.0))
        factor = min(_BOUND, max(1 / _BOUND, min(seen)))
        if len(seen) < _ENOUGH or 1 / _MOVED < factor / used < _MOVED:
            return False
        self.used[number] = factor
        return True


@dataclass(frozen=True, slots=True)
class Situation:
    """What a placement depends on beside the plan.

    Attributes
    ----------
    residency : mapping
        For the position of each value that is there before: whether it is on the host, and on the device.
    nbytes : mapping
        The sizes of these values.
    is_read : bool
        Whether the result that was asked for is wanted on the host.
    """

    residency: Mapping[int, tuple[bool, bool]]
    nbytes: Mapping[int, int]
    is_read: bool


def place(
    plan: Plan,
    situation: Situation,
    times: Sequence[tuple[float, float]],
    refusals: Sequence[str | None],
    device: Rates,
) -> tuple[list[Decision], int]:
    """Return where the steps of a plan run so that all of it is estimated to take the least time.

    The second result is how many nanoseconds less it would take if the device had what only the host has.

    Parameters
    ----------
    plan : Plan
        The steps and the values between them.
    situation : Situation
        Where values are now.
    times : sequence of (float, float)
        What each step is estimated to take on the host and on the device, in nanoseconds.
    refusals : sequence of str or None
        For each step, why the device cannot run it, if it cannot; its time there does not matter then.
    device : Rates
        What was measured of the device: its transfers, and what it takes to use it.
    """
    pairs = [
        (max(1, int(on_host)), NEVER if refusal else max(1, int(on_device)))
        for (on_host, on_device), refusal in zip(times, refusals, strict=True)
    ]
    total = sum([on_host for on_host, _ in pairs])
    if total < device.use and all(on_host for on_host, _ in situation.residency.values()):
        places, least = [division.HOST] * len(pairs), total  # the device would not have begun by then
    else:
        places, total = division.divide(pairs, _values(plan, situation, device), int(device.use))
        least = total
        if not all(on_device for _, on_device in situation.residency.values()):
            residency = {position: (on_host, True) for position, (on_host, _) in situation.residency.items()}
            there = replace(situation, residency=residency)
            _, least = division.divide(pairs, _values(plan, there, device), int(device.use))
    decisions = [
        _decision(HOST if where == division.HOST else DEVICE, pair, refusal, device)
        for where, pair, refusal in zip(places, pairs, refusals, strict=True)
    ]
    return decisions, total - least


def _decision(where: str, times: tuple[int, int], refusal: str | None, device: Rates) -> Decision:
    on_host, on_device = times
    if refusal is not None:
        return Decision(where, Reason.UNSUPPORTED, refusal, (float(on_host), float("inf")))
    here, there = (on_host, on_device + device.use) if where == HOST else (on_device, on_host)
    if 0.9 * there < here < 1.1 * there:
        cause = Reason.TIE
    elif here > there:
        cause = Reason.RESIDENT
    elif where == HOST and on_host < device.launch + device.use:
        cause = Reason.TOO_SMALL
    else:
        cause = Reason.MODEL
    return Decision(where, cause, "", (float(on_host), float(on_device)))


def _values(plan: Plan, situation: Situation, device: Rates) -> list[Value]:
    """Return the values between steps. Steps that write one value run at one place."""
    makers: dict[int, list[int]] = {}
    readers: dict[int, list[int]] = {}
    for number, planned in enumerate(plan.steps):
        for position in planned.outputs:
            makers.setdefault(position, []).append(number)
        for position in planned.inputs:
            readers.setdefault(position, []).append(number)
    # the requested value is last in the graph; the host does not read the other results
    asked = max(plan.results)[1] if situation.is_read and plan.results else None
    found = []
    for position in {**makers, **readers}:
        size = _nbytes(plan, situation, position)
        if size is None:
            continue
        up, down = int(at(device.upload, size)), int(at(device.download, size))
        made = makers.get(position, [])
        # a result travels with the submission that makes it, and is waited for once
        read = int(device.fetch) + max(0, down - int(device.use))
        wanted = (0, read if position == asked else 0)
        places = situation.residency.get(position, (True, True))
        found.append(Value(made[0] if made else None, tuple(readers.get(position, ())), places, wanted, up, down))
        # to be in one place, two steps hand each other something that cannot travel
        found += [Value(made[0], (other,), places, (0, 0), NEVER, NEVER) for other in made[1:]]
    return found


def _nbytes(plan: Plan, situation: Situation, position: int) -> int | None:
    if position in plan.sizes:
        size, dtype = plan.sizes[position]
        return size * dtype.itemsize
    return situation.nbytes.get(position)


def name_of(step: Step) -> str:
    """Return a short name of a step for people: its rows, in order, each once."""
    match step:
        case CallStep():
            return step.op.name
        case ScanStep():
            return step.op.name
        case Loop():
            found = [item.op for item in evaluations(step)]
            shown = [op for op in found if not (isinstance(op, MapOp) and op.kind is Kind.CONVERSION)]
            names = list(dict.fromkeys(op.name for op in shown))
            return "+".join(names[:6]) + ("+..." if len(names) > 6 else "") if names else "loop"
        case ContractStep() | CopyStep() | ScatterStep():
            return type(step).__name__.removesuffix("Step").lower()
        case _:
            assert_never(step)
