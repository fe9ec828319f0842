"""Where a step runs: one pure function that returns a decision with its reason."""

from dataclasses import dataclass
from typing import Final

from gpuarray.fusion.steps import CallStep, Step

HOST: Final = "host"
DEVICE: Final = "device"


@dataclass(frozen=True, slots=True)
class Decision:
    """Where a step runs, and why; ``is_fallback`` if it runs on the host for want of anything better."""

    where: str
    reason: str
    is_fallback: bool


def decide(refusal: str | None) -> Decision:
    """Return where a step runs.

    Parameters
    ----------
    refusal : str or None
        Why the device cannot run it, if it cannot.
    """
    if refusal is not None:
        return Decision(HOST, refusal, True)
    return Decision(DEVICE, "the device has a kernel", False)


def name_of(step: Step) -> str:
    """Return a short name of a step for people: its rows, in order, each once."""
    match step:
        case CallStep():
            return step.op.name
        case _:
            rows: list[str] = []
            for item in getattr(step, "instructions", ()):
                op = getattr(item, "op", None)
                if op is not None and op.name not in rows and op.name != "cast":
                    rows.append(op.name)
            if rows:
                return "+".join(rows[:6]) + ("+..." if len(rows) > 6 else "")
            op = getattr(step, "op", None)
            return op.name if op is not None else type(step).__name__.removesuffix("Step").lower()
