"""Matrices in buffers, and the launches of one program on them.

A factorisation works on a copy of its matrices with the columns one after the other, as LAPACK does. :class:`Matrix` is
a part of such a copy, and :class:`Builder` collects launches. As a factorisation launches few kernels many times, a
:class:`Template` has the text of each once, and where its numbers are.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from gpuarray import dtypes
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.storage import LANES, Access
from gpuarray.codegen.wgsl import Kernel, scratch_bytes, window_bytes
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType

_WORD: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class StepBuffer:
    """A buffer of the program: its kind, its number of that kind, and its dtype and size."""

    kind: str
    slot: int
    dtype: DType
    size: int

    @property
    def name(self) -> str:
        """The name in kernels."""
        return f"{self.kind}{self.slot}"


@dataclass(frozen=True, slots=True)
class Matrix:
    """A stack of matrices in a buffer: its shape, and the distances between elements."""

    buffer: StepBuffer
    rows: int
    columns: int
    offset: int
    down: int
    """Elements from a row to the next."""
    across: int
    """Elements from a column to the next."""
    plane: int
    """Elements from a matrix to the next."""

    def __getitem__(self, key: tuple[slice, slice]) -> "Matrix":
        """Return some of the rows and columns."""
        (top, bottom, _), (left, right, _) = key[0].indices(self.rows), key[1].indices(self.columns)
        offset = self.offset + top * self.down + left * self.across
        return replace(self, rows=max(bottom - top, 0), columns=max(right - left, 0), offset=offset)

    @property
    def T(self) -> "Matrix":  # noqa: N802  # NumPy's name
        """The transpose, in the same memory."""
        return replace(self, rows=self.columns, columns=self.rows, down=self.across, across=self.down)

    @property
    def reversed(self) -> "Matrix":
        """The matrix with rows and columns from the last to the first: an upper triangle becomes a lower one."""
        offset = self.offset + (self.rows - 1) * self.down + (self.columns - 1) * self.across
        return replace(self, offset=offset, down=-self.down, across=-self.across)

    @property
    def upside_down(self) -> "Matrix":
        """The matrix with its rows from the last to the first."""
        return replace(self, offset=self.offset + (self.rows - 1) * self.down, down=-self.down)

    @property
    def strides(self) -> tuple[StepBuffer, int, int, int]:
        """Where the matrix is, but for its offset."""
        return self.buffer, self.down, self.across, self.plane


class Template:
    """A kernel whose numbers are filled in for each launch.

    Parameters
    ----------
    label : str
        The name of the kernel.
    """

    def __init__(self, label: str) -> None:
        self.kernel = Kernel(label)
        self.words: dict[str, int] = {}
        self._launch: Launch | None = None

    def number(self, name: str) -> str:
        """Return the expression of a number that each launch has its own value of."""
        expression = self.kernel.parameter(0)
        self.words[name] = len(self.kernel.parameters) - 1
        return expression

    def numbers(self, *names: str) -> None:
        """Declare variables with the values of numbers."""
        self.kernel.line(*(f"let {name} = {self.number(name)};" for name in names))

    def index(self, name: str, matrix: Matrix, row: str, column: str) -> str:
        """Return the index of an element, where the numbers of the matrix have the names of :func:`where`."""
        return f"{name}_at + ({row}) * {name}_down + ({column}) * {name}_across"

    def matrix(self, name: str) -> None:
        """Declare the distances of a matrix, and where the one of the stack begins that ``plane`` names."""
        for direction in ("down", "across"):
            self.kernel.line(f"let {name}_{direction} = {self.number(f'{name}_{direction}')};")
        at, plane = self.number(f"{name}_at"), self.number(f"{name}_plane")
        self.kernel.line(f"let {name}_at = {at} + plane * {plane};")

    def rename(self, value: int, name: str) -> None:
        """Make the parameter with a value, which no other has, a number of each launch."""
        self.words[name] = self.kernel.parameters.index(value)

    def bind(self, buffer: StepBuffer, *, writable: bool, wide: bool = False) -> Access:
        """Bind all of a buffer."""
        known = [a for a in self.kernel.accesses if a.name == buffer.name]
        if known:
            return known[0]
        nbytes = scratch_bytes(buffer.size, buffer.dtype)
        access = Access(buffer.name, buffer.dtype, wide, writable)
        return self.kernel.bind(access, Binding(buffer.kind, buffer.slot, 0, nbytes, writable))

    def launch(self, values: dict[str, int], groups: int, limit: int) -> Launch:
        """Return a launch with the values of the numbers."""
        if self._launch is None:
            self._launch = self.kernel.launch(1, limit)
        words = list(self._launch.parameters)
        for name, word in self.words.items():
            words[word] = values[name] & _WORD
        down = -(-groups // limit)
        return replace(self._launch, parameters=tuple(words), workgroups=(-(-groups // down), down, 1))


def where(name: str, matrix: Matrix) -> dict[str, int]:
    """Return the numbers that :meth:`Template.matrix` declares."""
    return {
        f"{name}_at": matrix.offset,
        f"{name}_down": matrix.down,
        f"{name}_across": matrix.across,
        f"{name}_plane": matrix.plane,
    }


@dataclass
class Builder:
    """Collects the launches of a program, and the scratch buffers that they share.

    Attributes
    ----------
    label : str
        The name of the call.
    dtype : dtype
        Of the factors.
    batch : int
        Number of matrices in the stack.
    """

    label: str
    dtype: DType
    batch: int
    capabilities: Capabilities
    launches: list[Launch] = field(default_factory=list)
    scratch: list[int] = field(default_factory=list)
    templates: dict[tuple[object, ...], Template] = field(default_factory=dict)
    _shared: dict[int, StepBuffer] = field(default_factory=dict)

    @property
    def block(self) -> int:
        """The columns of a panel, and the numbers in the registers of an invocation, for each of which text is written.

        Software devices take long to compile long texts.
        """
        return 32 if self.dtype.itemsize <= 8 and self.capabilities.profile.unrolled_products else 16

    def buffer(self, size: int, dtype: DType) -> StepBuffer:
        """Return a scratch buffer."""
        self.scratch.append(scratch_bytes(size, dtype))
        return StepBuffer("scratch", len(self.scratch) - 1, dtype, size)

    def shared(self, size: int) -> StepBuffer:
        """Return a scratch buffer for what the next launch reads, which all launches that ask for this size share."""
        if size not in self._shared:
            self._shared[size] = self.buffer(size, self.dtype)
        return self._shared[size]

    def matrix(self, rows: int, columns: int, dtype: DType | None = None) -> Matrix:
        """Return a stack of matrices in a scratch buffer, with the columns one after the other."""
        pitch = -(-rows // LANES) * LANES
        plane = pitch * columns
        buffer = self.buffer(self.batch * plane, dtype or self.dtype)
        return Matrix(buffer, rows, columns, 0, 1, pitch, plane)

    def array(self, kind: str, slot: int, rows: int, columns: int, dtype: DType, *, one: bool = False) -> Matrix:
        """Return an input or output as a stack of matrices; one matrix for all if ``one``."""
        size = rows * columns
        buffer = StepBuffer(kind, slot, dtype, size if one else size * self.batch)
        return Matrix(buffer, rows, columns, 0, columns, 1, 0 if one else size)

    def run(
        self,
        key: tuple[object, ...],
        label: str,
        write: Callable[[Template], None],
        values: dict[str, int],
        groups: int,
    ) -> None:
        """Add a launch of the kernel ``key``, which ``write`` writes at its first use; it knows its ``groups``."""
        if groups == 0:
            return
        if key not in self.templates:
            template = self.templates[key] = Template(f"{self.label} {label} {self.dtype.name}")
            template.numbers("groups_in_all")
            template.kernel.line("let block = group.x + group.y * groups.x;")
            template.kernel.line("if (block >= groups_in_all) { return; }")
            write(template)
        values = {**values, "groups_in_all": groups}
        self.launches.append(self.templates[key].launch(values, groups, self.capabilities.workgroup_limit))

    def program(self) -> Program:
        """Return the program of the launches."""
        return Program(tuple(self.launches), tuple(self.scratch))


def too_large(nbytes: int, capabilities: Capabilities) -> str | None:
    """Return why a device cannot factorise matrices of a size in bytes, or None."""
    if nbytes <= window_bytes(capabilities.binding_limit):
        return None
    return "the matrices are larger than one storage binding of this device shows"


INDEX: Final = dtypes.int32
