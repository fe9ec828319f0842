"""Prepared programs: the parts of a program's launches that all runs share, and the words that differ.

The parameter words of a launch are known when its program is prepared, but for those of scalars, which come with each
run: values, and offsets of views that move. Used by the dispatcher.
"""

from collections.abc import Callable, Iterable, Sequence
from struct import Struct
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.codegen.programs import Launch, Program, ScalarParameter
from gpuarray.dtypes import DType
from gpuarray.providers.wgpu.pipelines import BindingLayout, Kernel


def _integer(nbytes: int) -> Callable[[Any], bytes]:
    """Return a function that encodes integers in some bytes, modulo their range."""
    return lambda value: (int(value) & (1 << 8 * nbytes) - 1).to_bytes(nbytes, "little")


def _converted(*steps: DType) -> Callable[[Any], bytes]:
    """Return a function that converts numbers to one dtype after the other and encodes them; NaN keep their bits."""

    def encode(value: Any) -> bytes:
        with np.errstate(all="ignore"):
            for dtype in steps:
                value = np.asarray(value).astype(dtype)
        return bytes(value.tobytes())

    return encode


#: The parameter words of a scalar of each dtype, as little-endian bytes.
ENCODERS: Final[dict[DType, Callable[[Any], bytes]]] = {
    **dict.fromkeys((dtypes.bool_, *dtypes.SIGNED, *dtypes.UNSIGNED), _integer(4)),
    **dict.fromkeys((dtypes.int64, dtypes.uint64), _integer(8)),
    dtypes.float16: _converted(dtypes.float16, dtypes.float32),
    **{dtype: _converted(dtype) for dtype in (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)},
}


#: Dtypes whose NumPy scalars have the bytes of their parameter words in memory.
_AS_IN_MEMORY: Final = frozenset(
    dtype
    for dtype in ENCODERS
    if dtype.itemsize >= 4  # smaller ones are widened to a word
)


class ScalarRun:
    """Scalars with adjacent words.

    Parameters
    ----------
    scalars : sequence of ScalarParameter
        The scalars, in the order of their words.

    Attributes
    ----------
    start : int
        The offset of the first byte.
    slots : tuple of int
        The slots of the scalars.
    """

    __slots__ = ("_encoders", "_is_plain", "slots", "start")

    def __init__(self, scalars: Sequence[ScalarParameter]) -> None:
        self.start = 4 * scalars[0].word
        self.slots = tuple(scalar.slot for scalar in scalars)
        self._encoders = tuple(ENCODERS[scalar.dtype] for scalar in scalars)
        self._is_plain = all(scalar.dtype in _AS_IN_MEMORY for scalar in scalars)

    def data(self, values: Sequence[Any]) -> bytes:
        """Return the bytes of the words, for the values of all scalars of the program by slot."""
        if self._is_plain:
            try:
                return b"".join([values[slot] for slot in self.slots])  # NumPy scalars support the buffer protocol
            except TypeError:  # Python scalars do not
                pass
        return b"".join([encode(values[slot]) for slot, encode in zip(self.slots, self._encoders, strict=True)])


class OffsetRun:
    """Adjacent words that are computed from integers: ``scale * value + base``.

    Parameters and attributes are those of :class:`ScalarRun`.
    """

    __slots__ = ("_pack", "_terms", "slots", "start")

    def __init__(self, scalars: Sequence[ScalarParameter]) -> None:
        self.start = 4 * scalars[0].word
        self.slots = tuple(scalar.slot for scalar in scalars)
        self._terms = tuple((scalar.slot, scalar.scale, scalar.base) for scalar in scalars)
        self._pack = Struct(f"<{len(scalars)}I").pack

    def data(self, values: Sequence[Any]) -> bytes:
        """Return the bytes of the words, for the values of all scalars of the program by slot."""
        return self._pack(*[scale * values[slot] + base & 0xFFFFFFFF for slot, scale, base in self._terms])


def runs_of(scalars: Iterable[ScalarParameter]) -> tuple[ScalarRun | OffsetRun, ...]:
    """Return scalars grouped by adjacent words of one kind."""
    runs: list[list[ScalarParameter]] = []
    stop, was_offset = -1, False
    for scalar in sorted(scalars, key=lambda scalar: scalar.word):
        is_offset = scalar.scale is not None
        if scalar.word != stop or is_offset != was_offset:
            runs.append([])
        runs[-1].append(scalar)
        stop = scalar.word + (1 if is_offset else max(scalar.dtype.itemsize // 4, 1))
        was_offset = is_offset
    return tuple(ScalarRun(run) if run[0].scale is None else OffsetRun(run) for run in runs)


class PreparedLaunch:
    """A launch with all values that do not change between runs."""

    __slots__ = (
        "bindings",
        "label",
        "last",
        "layout",
        "nbytes",
        "number",
        "pipeline",
        "runs",
        "traffic",
        "words",
        "workgroups",
    )

    def __init__(self, launch: Launch, number: int, alignment: int) -> None:
        used = 4 * len(launch.parameters)
        # an empty block has one vec4, as the binding convention declares
        self.nbytes = max(16, -(-used // 16) * 16)
        padded = -(-self.nbytes // alignment) * alignment
        words = b"".join((word & 0xFFFFFFFF).to_bytes(4, "little") for word in launch.parameters)
        self.words = words.ljust(padded, b"\0")
        self.runs = runs_of(launch.scalars)
        self.bindings = launch.bindings
        self.workgroups = launch.workgroups
        self.label = launch.label
        self.number = number
        read, written = (sum(b.nbytes for b in launch.bindings if b.writable == w) for w in (False, True))
        self.traffic = read, written
        #: The last run: the generation of the uniform arena, the data of the scalars, and the offset of the block.
        self.last: tuple[int, Any, int] = (0, None, 0)
        self.layout: BindingLayout | None = None
        self.pipeline: Any = None

    def data(self, scalars: Sequence[Any]) -> list[bytes]:
        """Return the bytes of scalars, run by run."""
        return [run.data(scalars) for run in self.runs]

    def block(self, data: Sequence[bytes]) -> bytes:
        """Return the parameter words, with the words of the scalars replaced by ``data``."""
        words = bytearray(self.words)
        for run, content in zip(self.runs, data, strict=True):
            words[run.start : run.start + len(content)] = content
        return bytes(words)


class Prepared:
    """A program prepared for a device; its kernels are compiled at the first run."""

    __slots__ = ("__weakref__", "launches", "owner", "program", "runs", "scratch", "serial", "work")

    def __init__(self, program: Program, alignment: int, work: int) -> None:
        self.program = program
        self.scratch = program.scratch
        self.work = work
        self.launches = tuple(
            PreparedLaunch(launch, number, alignment) for number, launch in enumerate(program.launches)
        )
        self.owner: Any = None  # the dispatcher whose pipelines the launches hold
        self.serial = 0  # identifies the program in keys of bind groups; set when it is bound to a device
        self.runs = 0  # runs that compiled no kernel

    def unbind(self) -> None:
        """Drop the kernels; they are looked up again before the next run."""
        self.owner = None
        for launch in self.launches:
            launch.pipeline = None

    def kernels(self) -> list[Kernel]:
        """Return the kernels of the launches, in their order."""
        return [
            (launch.source, launch.label, tuple(binding.writable for binding in launch.bindings))
            for launch in self.program.launches
        ]
