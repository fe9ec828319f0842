"""Decisions: the places of steps, with reasons.

A pinned device runs the steps for which it has kernels. The others run on the host, which counts as a fallback. On the
device ``"auto"``, all steps of a plan are placed together, by their estimated times at either place and the times of
transfers between the places (:mod:`gpuarray.runtime.placement.division`). Estimates follow from measured rates
(:mod:`gpuarray.runtime.placement.rates`) and are corrected by measured times of steps.

Arrays do not move back and forth, because moving away from the operands costs their transfer. An array that is used at
one place repeatedly is copied to the other when the copy would have saved its own cost. Without knowledge of the future
no rule is better by more than a factor of two (Karlin, Manasse, Rudolph and Sleator, "Competitive snoopy caching",
1988).
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import prod
from typing import Final, assert_never

from gpuarray.fusion.costs import operation_counts
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
    """The reason for the place of a step."""

    FORCED = "forced"
    RESIDENT = "resident"
    TOO_SMALL = "too small"
    MODEL = "model"
    UNSUPPORTED = "unsupported"
    MEMORY = "memory"
    DISABLED = "disabled"
    TIE = "tie"
    COMPILING = "compiling"


_MEANINGS: Final[Mapping[Reason, str]] = {
    Reason.FORCED: "the device is pinned or the only one, or config.offload is 'always'",
    Reason.RESIDENT: "its operands are there, and moving them would take longer",
    Reason.TOO_SMALL: "it is over before the device would have begun",
    Reason.MODEL: "it is estimated to be faster there",
    Reason.UNSUPPORTED: "the device has no kernel",
    Reason.MEMORY: "the device has no room",
    Reason.DISABLED: "config.offload is 'never'",
    Reason.TIE: "it is estimated to take as long at either place",
    Reason.COMPILING: "the device's kernels are being compiled, which takes longer",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """The place of a step, with the reason.

    Attributes
    ----------
    where : {"host", "device"}
        The place.
    cause : Reason
        The kind of reason.
    detail : str
        The reason in detail, or an empty string.
    estimates : tuple of float or None
        Estimated nanoseconds of the step alone on the host and on the device; infinite where it cannot run.
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
        """Whether the step runs on the host because the device cannot run it."""
        return self.where == HOST and self.cause in (Reason.UNSUPPORTED, Reason.MEMORY)


_PINNED: Final = Decision(DEVICE, Reason.FORCED)
DISABLED: Final = Decision(HOST, Reason.DISABLED)


def decide(step: Step, refusal: str | None) -> Decision:
    """Return where a step of a pinned device runs.

    Parameters
    ----------
    step : Step
        The step.
    refusal : str or None
        The reason why the device cannot run it, or None.
    """
    if refusal is None:
        return _PINNED
    if isinstance(step, CallStep) and not all(map(prod, step.shapes)):  # such as singular values of an empty matrix
        return Decision(HOST, Reason.TOO_SMALL, "it has nothing to compute")
    return Decision(HOST, Reason.UNSUPPORTED, refusal)


#: The steps of a plan on the host are timed one by one in early runs, up to this one, and then every so many runs.
EARLY: Final = 4
OBSERVED: Final = 128
#: The maximum of a correction, and of its inverse; the smallest relative change that is applied; and the minimum and
#: maximum number of measured times, the latest ones, from which a correction is computed.
_BOUND: Final = 64.0
_MOVED: Final = 1.25
_ENOUGH: Final = 3
_LATEST: Final = 5


@dataclass(slots=True)
class Corrections:
    """The ratios of measured to estimated times of the steps of one plan on the host.

    Each plan has its own corrections, because the causes of wrong estimates differ from loop to loop. A ratio is
    computed from the shortest of the latest times, because other work of the machine only makes times longer.

    Attributes
    ----------
    used : dict
        The ratios that placements use, by the number of the step.
    """

    used: dict[int, float] = field(default_factory=dict)
    _seen: dict[int, deque[float]] = field(default_factory=dict)

    def observe(self, number: int, estimate: float, elapsed: float) -> bool:
        """Record the time of a step, given its corrected estimate. Return whether the plan should be placed again."""
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
    """The inputs of a placement, besides the plan.

    Attributes
    ----------
    residency : mapping
        For each existing value, by position: whether it is on the host, and whether it is on the device.
    nbytes : mapping
        The bytes of these values.
    is_read : bool
        Whether the host reads the requested result.
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
) -> tuple[list[Decision], tuple[int, int]]:
    """Return the placement of the steps of a plan with the least estimated total time.

    The second result is how many nanoseconds would be saved if all values were on the host, and if all were on the
    device. On the host all steps would run then: to divide them again takes longer, and rarely saves more.

    Parameters
    ----------
    plan : Plan
        The steps and the values between them.
    situation : Situation
        The current places of values.
    times : sequence of (float, float)
        The estimated nanoseconds of each step on the host and on the device.
    refusals : sequence of str or None
        For each step, the reason why the device cannot run it, or None. Then its time there is ignored.
    device : Rates
        The measured rates of the device.
    """
    pairs = [
        (max(1, int(on_host)), NEVER if refusal else max(1, int(on_device)))
        for (on_host, on_device), refusal in zip(times, refusals, strict=True)
    ]
    on_host = total = sum([on_host for on_host, _ in pairs])
    on_device = NEVER
    if total < device.use and all(is_here for is_here, _ in situation.residency.values()):
        places = [division.HOST] * len(pairs)  # the device would not have begun by then
    else:
        places, total = division.divide(pairs, _values(plan, situation, device), int(device.use))
        if not all(is_there for _, is_there in situation.residency.values()):
            residency = {position: (is_here, True) for position, (is_here, _) in situation.residency.items()}
            there = replace(situation, residency=residency)
            _, on_device = division.divide(pairs, _values(plan, there, device), int(device.use))
    decisions = [
        _decision(HOST if where == division.HOST else DEVICE, pair, refusal, device)
        for where, pair, refusal in zip(places, pairs, refusals, strict=True)
    ]
    return decisions, (max(0, total - on_host), max(0, total - on_device))


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
    values = []
    for position in {**makers, **readers}:
        size = _nbytes(plan, situation, position)
        if size is None:
            continue
        up, down = int(at(device.upload, size)), int(at(device.download, size))
        writers = makers.get(position, [])
        # a result travels with the submission that makes it, and is waited for once
        read = int(device.fetch) + max(0, down - int(device.use))
        wanted = (0, read if position == asked else 0)
        places = situation.residency.get(position, (True, True))
        values.append(
            Value(writers[0] if writers else None, tuple(readers.get(position, ())), places, wanted, up, down)
        )
        # two steps that must run at one place share a value that cannot move
        values += [Value(writers[0], (other,), places, (0, 0), NEVER, NEVER) for other in writers[1:]]
    return values


def _nbytes(plan: Plan, situation: Situation, position: int) -> int | None:
    if position in plan.sizes:
        size, dtype = plan.sizes[position]
        return size * dtype.itemsize
    return situation.nbytes.get(position)


def name_of(step: Step) -> str:
    """Return a short name of a step for people: its operations, in order, without repetitions."""
    match step:
        case CallStep():
            return step.op.name
        case ScanStep():
            return step.op.name
        case Loop():
            ops = [item.op for item in operation_counts(step)]
            shown = [op for op in ops if not (isinstance(op, MapOp) and op.kind is Kind.CONVERSION)]
            names = list(dict.fromkeys(op.name for op in shown))
            return "+".join(names[:6]) + ("+..." if len(names) > 6 else "") if names else "loop"
        case ContractStep() | CopyStep() | ScatterStep():
            return type(step).__name__.removesuffix("Step").lower()
        case _:
            assert_never(step)
