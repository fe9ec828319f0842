"""What an opaque row gives to run on a device."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gpuarray.codegen.programs import Program
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import CallStep

#: For rows of which ``program`` shows every array by several bindings, where one is not enough.
ALL_PLACES: Final = tuple((kind, slot) for kind in ("input", "output") for slot in range(3))


def runs_everywhere(step: CallStep, capabilities: Capabilities) -> str | None:
    """Return None: there are kernels for every step whose dtypes the device has and whose arrays can be bound."""
    return None


@dataclass(frozen=True, slots=True)
class CallKernels:
    """The kernels of one opaque row.

    Attributes
    ----------
    program : callable
        ``program(step, label, capabilities)`` returns the launches; ``label`` names them for people.
    unsupported : callable
        ``unsupported(step, capabilities)`` returns why a step cannot run, in a few words, or None. That dtypes exist
        on the device is checked before, and what can be bound.
    pieces : tuple of (str, int)
        The inputs and outputs, by kind and number, that ``program`` itself binds by several bindings or piece by piece.
    """

    program: Callable[[CallStep, str, Capabilities], Program]
    unsupported: Callable[[CallStep, Capabilities], str | None] = runs_everywhere
    pieces: tuple[tuple[str, int], ...] = ()
