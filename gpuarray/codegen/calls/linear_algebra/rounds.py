"""Rotations of few columns: one workgroup turns those of a matrix until all are orthogonal.

A sweep has the rounds of a tournament. Each pair of columns has several invocations, which have some of its rows. The
columns are in workgroup memory if they fit.
"""

from dataclasses import dataclass
from typing import Final

from gpuarray import dtypes
from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.meetings import (
    decision,
    limits,
    meeting,
    rotation,
    turned_first,
    turned_second,
)
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.collectives import Collectives, uses_subgroups
from gpuarray.codegen.wgsl import WORKGROUP

#: Most columns that one workgroup turns in one launch, and most sweeps, of which graded matrices take many.
ALONE: Final = 64
_SWEEPS: Final = 200
#: Banks of workgroup memory.
_BANKS: Final = 32
#: Most rows of two columns that an invocation keeps in registers from their products to their rotation.
_MOST_IN_REGISTERS: Final = 16


@dataclass(frozen=True)
class RotationTeam:
    """The invocations that turn the columns of a matrix.

    Attributes
    ----------
    pairs : int
        Of columns.
    together : int
        Invocations of a pair.
    pitch : int
        Numbers from a column to the next in workgroup memory.
    room : int
        Numbers for which there is room in workgroup memory; 0 if the columns do not fit.
    in_registers : int
        Rows of two columns that an invocation keeps in registers; 0 if there are too many.
    """

    pairs: int
    together: int
    pitch: int
    room: int
    in_registers: int

    @property
    def workgroup(self) -> int:
        """Invocations in all."""
        return self.pairs * self.together


def team_of(builder: Builder, height: int, rows: int, columns: int, extra: int = 0) -> RotationTeam:
    """Return the team for columns of a ``height``, whose first ``rows`` become orthogonal.

    The ``extra`` bytes of workgroup memory are for other purposes.
    """
    pairs, numbers, itemsize = -(-columns // 2), Numbers(builder.dtype), builder.dtype.itemsize
    together = max(1, min(64, builder.capabilities.workgroup_size // pairs, WORKGROUP // pairs))
    together = 1 << (min(together, max(1, -(-rows // 2))).bit_length() - 1)
    free = builder.capabilities.workgroup_memory - 64 - extra
    if not _is_exchanged(builder, together):
        free -= pairs * together * (itemsize + 2 * numbers.real_dtype.itemsize)
    pitch = _pitch(height, together)
    elements, each = columns * pitch, -(-height // together)
    in_registers = each if each <= _MOST_IN_REGISTERS else 0
    # workgroups with less memory run together; without rows in registers one text serves several sizes
    capacity = elements if in_registers else 1 << (max(elements, 1) - 1).bit_length()
    room = min(capacity, free // itemsize) if elements * itemsize <= free else 0
    return RotationTeam(pairs, together, pitch, room, in_registers)


def _is_exchanged(builder: Builder, together: int) -> bool:
    """Return whether the invocations of a pair of columns exchange sums in registers."""
    kinds = (builder.dtype, Numbers(builder.dtype).real_dtype)
    return uses_subgroups(kinds, builder.capabilities) and together <= builder.capabilities.subgroup_size


def _pitch(rows: int, together: int) -> int:
    """Return the numbers from a column to the next, so that neighbouring pairs of columns are in different banks.

    It is an odd multiple of the invocations of a pair, which read neighbouring numbers.
    """
    times = -(-rows // together)
    return together * (times | 1) if together < _BANKS else rows


def turn_all(builder: Builder, both: Matrix, rows: int, turned: StepBuffer) -> None:
    """Turn columns, whose first ``rows`` become orthogonal, until all are: one workgroup for each matrix."""
    team = team_of(builder, both.rows, rows, both.columns)

    def write(template: Template) -> None:
        kernel = template.kernel
        rounds = Rounds(template, builder, team, both)
        flags = template.bind(turned, writable=True)
        template.numbers("rows", "height", "columns", "pairs", "pitch", "flags_each")
        kernel.line("let plane = block;")
        template.matrix("a")
        index = template.index("a", both, "i", "j")
        if team.room:
            rounds.each_element("height", f"kept[j * pitch + i] = {rounds.access.load(index)};")
        rounds.turn()
        kernel.line(f"if (local == 0u && is_turned != 0u) {{ {flags.store('plane * flags_each', '1i')} }}")
        if team.room:
            kernel.line("workgroupBarrier();")
            rounds.each_element("height", rounds.access.store(index, "kept[j * pitch + i]"))

    values = {
        "rows": rows, "height": both.rows, "columns": both.columns, "pairs": team.pairs, "pitch": team.pitch,
        "flags_each": turned.size // max(1, builder.batch), **where("a", both),
    }  # fmt: skip
    builder.run(("rounds", both.buffer, team), "rotations", write, values, builder.batch)


class Rounds:
    """Writes the rounds of a kernel in which a team turns columns.

    Parameters
    ----------
    template : Template
        The kernel, which declares the numbers ``rows``, ``height``, ``columns``, ``pairs`` and ``pitch`` before the
        rounds.
    builder : Builder
        Of the program.
    team : RotationTeam
        The invocations.
    both : Matrix, optional
        The columns in memory; not needed if they are in workgroup memory only.
    """

    def __init__(self, template: Template, builder: Builder, team: RotationTeam, both: Matrix | None = None) -> None:
        self.template, self.kernel, self.numbers, self.team = template, template.kernel, Numbers(builder.dtype), team
        self.kernel.workgroup = team.workgroup
        self._collectives = Collectives(self.kernel, team.together, builder.capabilities)
        self._is_exchanged = _is_exchanged(builder, team.together)
        kind, real = self.numbers.kind, self.numbers.real
        self.kernel.module += [*self.numbers.functions, "var<workgroup> is_turned: u32;"]
        if not self._is_exchanged:
            self.kernel.module += [
                f"var<workgroup> lengths: array<vec2<{real}>, {team.workgroup}>;",
                f"var<workgroup> products: array<{kind}, {team.workgroup}>;",
            ]
        if team.room:
            self.kernel.module.append(f"var<workgroup> kept: array<{kind}, {team.room}>;")
        if both is not None:
            self.both, self.access = both, template.bind(both.buffer, writable=True)
        self.barrier = "workgroupBarrier();" if team.room else "storageBarrier(); workgroupBarrier();"

    def load(self, row: str, column: str) -> str:
        """Return an element."""
        if self.team.room:
            return f"kept[({column}) * pitch + {row}]"
        return self.access.load(self.template.index("a", self.both, row, column))

    def store(self, row: str, column: str, value: str) -> str:
        """Return the statement that changes an element."""
        if self.team.room:
            return f"{self.load(row, column)} = {value};"
        return self.access.store(self.template.index("a", self.both, row, column), value)

    def each_element(self, height: str, *lines: str) -> None:
        """Write statements for the elements in rows ``i`` and columns ``j``, of which neighbours have neighbours."""
        self.kernel.line(
            f"for (var e = local; e < {height} * columns; e += {self.team.workgroup}u) {{",
            f"let i = e % {height}; let j = e / {height};",
            *lines,
            "}",
        )

    def turn(self) -> None:
        """Write the rounds, after which ``is_turned`` says whether the last sweep turned columns."""
        kernel, together = self.kernel, self.team.together
        first, second = meeting("number", "pair", "(2u * pairs)")
        kernel.line(
            *limits(self.numbers),
            f"let pair = local / {together}u; let member = local % {together}u;",
            f"var sweeps = {_SWEEPS}u;",
            "while (sweeps > 0u) {",
            "if (local == 0u) { is_turned = 0u; }",
            "for (var number = 0u; number + 1u < 2u * pairs; number++) {",
            self.barrier,
            f"let p = {first}; let q = {second};",
        )
        self.multiply()
        self._turn()
        kernel.line(
            "}",
            self.barrier,
            "let again = workgroupUniformLoad(&is_turned);",
            "sweeps = select(0u, sweeps - 1u, again != 0u);",
            "if (again == 0u) { break; }",
            "}",
        )

    def multiply(self) -> None:
        """Write the sums of the products of columns p and q, of which each member of a pair has a part."""
        numbers = self.numbers
        sums = [
            f"square0 += {numbers.square('x')}; square1 += {numbers.square('y')};",
            f"product += {numbers.times(numbers.conj('x'), 'y')};",
        ]
        self.kernel.line(
            "let is_there = p < columns && q < columns && p != q;",
            f"var square0 = {numbers.real}(); var square1 = {numbers.real}(); var product = {numbers.zero};",
            *(f"var x{n} = {numbers.zero}; var y{n} = {numbers.zero};" for n in range(self.team.in_registers)),
            "if (is_there) {",
        )
        if not self.team.in_registers:
            self.kernel.line(
                f"for (var i = member; i < rows; i += {self.team.together}u) {{",
                f"let x = {self.load('i', 'p')}; let y = {self.load('i', 'q')};",
                *sums,
                "}",
            )
        for n in range(self.team.in_registers):
            self.kernel.line(
                f"{{ let i = member + {n * self.team.together}u; if (i < height) {{",
                f"let x = {self.load('i', 'p')}; let y = {self.load('i', 'q')}; x{n} = x; y{n} = y;",
                "if (i < rows) {",
                *sums,
                "} } }",
            )
        self.kernel.line("}")
        self.sum()
        self.kernel.line(f"let squares = vec2<{numbers.real}>(square0, square1);")

    def sum(self) -> None:
        """Write the sums of those of all members of a pair."""
        numbers, together = self.numbers, self.team.together
        if self._is_exchanged:
            states = {"square0": numbers.real_dtype, "square1": numbers.real_dtype, "product": numbers.dtype}
            self._collectives.reduce(
                states, lambda second: " ".join(f"{s} += {o};" for s, o in zip(states, second, strict=True))
            )
            return
        self.kernel.line(
            f"lengths[local] = vec2<{numbers.real}>(square0, square1); products[local] = product;",
            "workgroupBarrier();",
            f"square0 = {numbers.real}(); square1 = {numbers.real}(); product = {numbers.zero};",
            f"for (var n = 0u; n < {together}u; n++) {{",
            f"let lengths_of = lengths[pair * {together}u + n]; product += products[pair * {together}u + n];",
            "square0 += lengths_of.x; square1 += lengths_of.y;",
            "}",
        )

    def _turn(self) -> None:
        """Write the rotation of columns p and q, if they are not orthogonal."""
        numbers, real = self.numbers, self.numbers.real
        stores = [self.store("i", "p", turned_first(numbers)), self.store("i", "q", turned_second(numbers))]
        exceeds = "size > {0} * sqrt(squares.x) * sqrt(squares.y)"
        if numbers.real_dtype == dtypes.float64:  # whose exponents suffice for squares, which take less time than roots
            exceeds = "size * size > {0} * {0} * squares.x * squares.y"
        is_large, is_more, is_much = (exceeds.format(limit) for limit in ("rounding", "enough", "small"))
        self.kernel.line(
            f"let size = {numbers.absolute('product')};",
            f"if (is_there && min(squares.x, squares.y) > least && {is_large}) {{",
            f"var versine = {real}(); var across = {numbers.zero};",
            *rotation(numbers),
            *decision(numbers, is_more, is_much),
        )
        if not self.team.in_registers:
            self.kernel.line(
                f"for (var i = member; i < height; i += {self.team.together}u) {{",
                f"let x = {self.load('i', 'p')}; let y = {self.load('i', 'q')};",
                *stores,
                "}",
            )
        for n in range(self.team.in_registers):
            self.kernel.line(
                f"{{ let i = member + {n * self.team.together}u; let x = x{n}; let y = y{n}; if (i < height) {{",
                *stores,
                "} }",
            )
        self.kernel.line("}")
