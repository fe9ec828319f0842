"""The record of the kernels of a call."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gpuarray.codegen.programs import Program
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import CallStep

#: The value of ``pieces`` for calls that bind every array by several bindings if one is not enough.
ALL_PLACES: Final = tuple((kind, slot) for kind in ("input", "output") for slot in range(3))


def runs_everywhere(step: CallStep, capabilities: Capabilities) -> str | None:
    """Return None, for calls with kernels for every step whose dtypes the device has and whose arrays it can bind."""
    return None


@dataclass(frozen=True, slots=True)
class CallKernels:
    """The kernels of one call.

    Attributes
    ----------
    program : callable
        ``program(step, label, capabilities)`` returns the launches; ``label`` names them for people.
    unsupported : callable
        ``unsupported(step, capabilities)`` returns why a step cannot run, in a few words, or None. The caller has
        checked the dtypes and the bindings.
    pieces : tuple of (str, int)
        The inputs and outputs, by kind and number, that may be larger than a binding: ``program`` splits them itself.
    """

    program: Callable[[CallStep, str, Capabilities], Program]
    unsupported: Callable[[CallStep, Capabilities], str | None] = runs_everywhere
    pieces: tuple[tuple[str, int], ...] = ()
