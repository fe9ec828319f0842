"""The records of the latest evaluations, and the notes that they add to errors.

Invariant: a record refers to the plan, which the plan cache shares, and to lines of the program, but to no value of an
array. There are at most :data:`REMEMBERED` records. An array refers to the evaluation that computed it by number.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import wraps
from itertools import count
from typing import Final, NamedTuple, ParamSpec, TypeVar

from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.graph.nodes import Leaf
from gpuarray.providers import registry
from gpuarray.providers.base import Provider
from gpuarray.runtime.placement.decisions import DEVICE, Decision, Reason, name_of
from gpuarray.runtime.prepared import Placement, PreparedPlan
from gpuarray.source_locations import Origin, SourceLocation, is_user_file, locate

P = ParamSpec("P")
T = TypeVar("T")

REMEMBERED: Final = 256
#: Errors that a program's values and sizes cause.
OF_VALUES: Final = (ValueError, IndexError, ArithmeticError, MemoryError)
#: How many steps and lines an error names.
_SHOWN: Final = 6
#: How many evaluations an error names that may have come from any of them.
_SUSPECTS: Final = 3


class Evaluation(NamedTuple):
    """An evaluation: its plan, the placement of its steps, its device, and the origins of its nodes.

    ``origins`` are by walk index, and empty if they were not recorded.
    """

    prepared: PreparedPlan
    placed: Placement
    device: Device
    origins: Sequence[Origin | None]


_numbers: Final = count(1)
#: The numbers of the latest evaluations with their attributes, each at the index of its number modulo the size.
_recent: Final[list[tuple[int, tuple[PreparedPlan, Placement, Device, Sequence[Origin | None]]] | None]] = [
    None
] * REMEMBERED


def remember(prepared: PreparedPlan, placed: Placement, device: Device, origins: Sequence[Origin | None]) -> int:
    """Record an evaluation, and return its number."""
    number = next(_numbers)
    _recent[number % REMEMBERED] = number, (prepared, placed, device, origins)
    return number


def forget(gone: Collection[PreparedPlan]) -> None:
    """Drop the records of plans that will not run again."""
    known = {id(prepared) for prepared in gone}
    _recent[:] = [None if record is None or id(record[1][0]) in known else record for record in _recent]


def recall(number: int) -> Evaluation | None:
    """Return the record of a number, or None if it was overwritten."""
    record = _recent[number % REMEMBERED]
    return Evaluation(*record[1]) if record is not None and record[0] == number else None


def _latest() -> list[Evaluation]:
    """Return the records, the latest first."""
    records = [record for record in _recent if record is not None]
    return [Evaluation(*record[1]) for record in sorted(records, key=lambda record: -record[0])]


def recent(device: Device) -> list[Evaluation]:
    """Return the records of a device, the latest first."""
    return [evaluation for evaluation in _latest() if evaluation.device is device]


def inherited(prepared: PreparedPlan, origins: Sequence[Origin | None]) -> list[Origin | None]:
    """Return the origins of a walk's nodes. Nodes inside a composition inherit the origin of its result."""
    walk = prepared.meanings
    lines = [*origins] or [None] * len(walk)
    for at in range(len(walk) - 1, -1, -1):
        for operand in walk[at].inputs:
            if lines[operand] is None and walk[operand].kind is not Leaf:
                lines[operand] = lines[at]
    return lines


def reason_of(decision: Decision, device: Device) -> str:
    """Return the reason of a decision in an evaluation on a device, in detail if no other place was possible."""
    if decision.cause is not Reason.FORCED:
        return decision.reason
    if device.kind != "auto":
        return f"the whole plan is for device {device.name!r}"
    if registry.resolve(device).kind == "cpu":
        return "there is no other device"
    return "config.offload is 'always'"


def places_of(evaluation: Evaluation, positions: Iterable[int] | None = None) -> list[SourceLocation]:
    """Return the different lines that recorded some of the plan's values, or all, in the order of the graph."""
    where, indices = inherited(evaluation.prepared, evaluation.origins), evaluation.prepared.kept
    if positions is not None:
        where = [where[p if indices is None else indices[p]] for p in positions]
    return list({str(location): location for location in map(locate, filter(None, where))}.values())


def blame(error: Exception, number: int, provider: Provider) -> None:
    """Add notes to an error: the operations of an evaluation, given its number, and the lines that recorded them.

    If the device is lost, an earlier evaluation may be the cause.
    """
    if not getattr(provider, "alive", True):
        blame_last(error, provider.device)
    elif not getattr(error, "__notes__", None) and (evaluation := recall(number)) is not None:
        _add_notes(error, "while evaluating", evaluation)


def blame_last(error: Exception, device: Device) -> None:
    """Add notes to an error of a wait: the latest evaluations on the device, the last one first."""
    if not getattr(error, "__notes__", None):
        for number, evaluation in enumerate(recent(device)[:_SUSPECTS]):
            _add_notes(error, "the device was evaluating" if number == 0 else "or, before that,", evaluation)


def hide_frames(error: BaseException) -> None:
    """Remove the frames of this package below the caller from an error of values, unless debugging is on.

    The line of the program, or the notes of an error of an evaluation, say where it comes from.
    """
    if config.current.debug or not isinstance(error, OF_VALUES):
        return
    trace = error.__traceback__
    last = None
    while trace is not None:
        if is_user_file(trace.tb_frame.f_code.co_filename):
            last = trace
        trace = trace.tb_next
    if last is None:
        error.__traceback__ = None
    else:  # a function of the program that this package calls
        last.tb_next = None


def without_frames(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that hides the frames of errors; see :func:`hide_frames`."""

    @wraps(function)
    def run(*arguments: P.args, **keywords: P.kwargs) -> T:
        try:
            return function(*arguments, **keywords)
        except OF_VALUES as error:
            hide_frames(error)
            raise

    return run


def _add_notes(error: Exception, head: str, evaluation: Evaluation) -> None:
    names = "; ".join(name_of(step.planned.step) for step in evaluation.placed.steps[:_SHOWN])
    more = len(evaluation.placed.steps) - _SHOWN
    error.add_note(f"{head} {names}{f' and {more} more steps' if more > 0 else ''}")
    for location in places_of(evaluation)[-_SHOWN:]:
        error.add_note(f"  {location.note}")


def placements(limit: int = 32) -> list[str]:
    """Return where the steps of the latest evaluations ran and why, the last one first, without repetitions."""
    counts: Counter[str] = Counter()
    for evaluation in _latest():
        for step in evaluation.placed.steps:
            where = evaluation.device.name if step.decision.where == DEVICE else step.decision.where
            counts[f"{name_of(step.planned.step)}: {where}, {reason_of(step.decision, evaluation.device)}"] += 1
    return [f"{text} ({times:,} times)" if times > 1 else text for text, times in counts.items()][:limit]
