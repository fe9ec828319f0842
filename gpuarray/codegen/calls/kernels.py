"""What an opaque row gives to run on a device."""

from collections.abc import Callable
from dataclasses import dataclass

from gpuarray.codegen.programs import Program
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import CallStep


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
        on the device and that each array fits one storage binding is checked before.
    pieces : tuple of (str, int)
        The inputs and outputs, by kind and number, that ``program`` itself binds piece by piece.
    """

    program: Callable[[CallStep, str, Capabilities], Program]
    unsupported: Callable[[CallStep, Capabilities], str | None] = runs_everywhere
    pieces: tuple[tuple[str, int], ...] = ()
