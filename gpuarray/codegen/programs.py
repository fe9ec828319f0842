"""Programs: a step as launches of WGSL kernels, complete but for the buffers and the values of scalars.

Whatever depends on sizes is in a launch's numbers (workgroups, parameter words, windows); a kernel's source has none of
it, so a source is compiled once for all sizes.

Calling convention of every source: entry point ``main``; ``@group(0) @binding(0) var<uniform>`` is a struct of 32-bit
parameter words, ``array<vec4<u32>, N>`` with N = len(parameters) / 4; bindings 1, 2, ... of group 0 are the storage
buffers of ``Launch.bindings``, in order.
"""

from dataclasses import dataclass
from typing import Final

from gpuarray.dtypes import DType

#: The first line of sources whose indices are in range, whatever the values in the buffers. It is part of the text so
#: that everything that keeps sources, such as a list of kernels to compile at start-up, keeps it too.
IN_RANGE: Final = "// in range: no index is out of bounds"


@dataclass(frozen=True, slots=True)
class Binding:
    """A window of a buffer: ``kind`` is ``"input"``, ``"output"`` or ``"scratch"``, ``slot`` its number of that kind.

    ``offset`` and ``nbytes`` select the window, in bytes; ``offset`` is a multiple of the device's binding alignment
    and ``nbytes`` one of 4, not beyond the buffer's end (buffers are allocated in multiples of 64 bytes).
    """

    kind: str
    slot: int
    offset: int
    nbytes: int
    writable: bool


@dataclass(frozen=True, slots=True)
class ScalarParameter:
    """Where the run-time scalar ``slot``, of ``dtype``, goes among the parameter words.

    It takes one word (bool, integers and floats up to 32 bits; float16 as the bits of the float32 of equal value; small
    integers sign- or zero-extended), two (64 bits; complex64), or four (complex128), little-endian.

    With a ``scale`` it is the parameter of an offset: the word is ``scale * scalar + base``.
    """

    word: int
    slot: int
    dtype: DType
    scale: int | None = None
    base: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """One dispatch: a source, its bindings, its parameters, and how many workgroups (each at most 65,535)."""

    source: str
    label: str
    bindings: tuple[Binding, ...]
    parameters: tuple[int, ...]
    scalars: tuple[ScalarParameter, ...]
    workgroups: tuple[int, int, int]

    @property
    def in_range(self) -> bool:
        """Whether the source's indices are in range by construction, so that it may run without bounds checks."""
        return is_in_range(self.source)


def is_in_range(source: str) -> bool:
    """Whether a source's indices are in range by construction; a provider adds bounds checks to any other source."""
    return source.startswith(IN_RANGE)


@dataclass(frozen=True, slots=True)
class Program:
    """The launches of one step, in order, and the sizes in bytes of the scratch buffers that they share."""

    launches: tuple[Launch, ...]
    scratch: tuple[int, ...] = ()

    @property
    def in_range(self) -> bool:
        """Whether the indices of all launches are in range by construction."""
        return all(launch.in_range for launch in self.launches)
