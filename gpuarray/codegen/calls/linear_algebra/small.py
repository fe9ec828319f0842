"""Stacks of small matrices: a *team* of invocations has a matrix, and each of them a column of it in registers.

A workgroup has several teams. The text of a kernel names registers, but does not know how many steps there are: a loop
has the steps of a *chunk* of rows, which are in the first registers, and then moves the rows below to where they were
and the chunk to the last registers. Rows behind the matrix complete the last chunk; they have no part in others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gpuarray import dtypes
from gpuarray.codegen.calls.linear_algebra.blocks import unrolled
from gpuarray.codegen.calls.linear_algebra.lu_panel import find_pivot
from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers, Vectors, inverse
from gpuarray.codegen.casts import cast_expression
from gpuarray.codegen.collectives import Collectives
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType

#: Most bytes of a column in registers, half as many on software devices, and fewest invocations of a workgroup.
_COLUMN, _WORKGROUP = 512, 64
#: Largest matrices.
_LARGEST: Final = 64
#: Rows of a chunk, but on software devices, which take long to compile long texts.
_CHUNK: Final = 8
#: Most right sides that a member of a team solves for, one after the other.
MOST_TURNS: Final = 4


@dataclass(frozen=True)
class MatrixTeam:
    """How a stack of matrices is divided.

    Attributes
    ----------
    size : int
        Registers and members of a team.
    teams : int
        Of a workgroup.
    chunk : int
        Rows whose steps are written out.
    """

    size: int
    teams: int
    chunk: int

    @property
    def room(self) -> int:
        """Numbers of a matrix and of two lines in workgroup memory."""
        return (self.size + 2) * Vectors.pitch_of(self.size)

    def groups(self, first: int = 0) -> list[tuple[int, range]]:
        """Return the registers from the ``first`` on in groups of a chunk, each with the number of its start."""
        starts = range(first // self.chunk * self.chunk, self.size, self.chunk)
        return [(start, range(max(start, first), start + self.chunk)) for start in starts]

    def moved_up(self) -> list[str]:
        """Return statements that move the first chunk to the last registers, and the others before it."""
        rest = (f"x{i} = x{i + self.chunk};" for i in range(self.size - self.chunk))
        kept = (f"let kept{i} = x{i};" for i in range(self.chunk))
        return ["{", *kept, *rest, *(f"x{self.size - self.chunk + i} = kept{i};" for i in range(self.chunk)), "}"]

    def moved_down(self) -> list[str]:
        """Return statements that move the last chunk to the first registers, and the others behind it."""
        first = self.size - self.chunk
        rest = (f"x{i} = x{i - self.chunk};" for i in reversed(range(self.chunk, self.size)))
        kept = (f"let kept{i} = x{first + i};" for i in range(self.chunk))
        return ["{", *kept, *rest, *(f"x{i} = kept{i};" for i in range(self.chunk)), "}"]

    def registers(self, line: Callable[[int], str], first: int = 0) -> list[str]:
        """Return a line for each register from the ``first`` on."""
        return unrolled(self.size, line, first)


def team_of(n: int, dtype: DType, capabilities: Capabilities) -> MatrixTeam | None:
    """Return the team for matrices of ``n`` rows and columns, or None if a column does not fit."""
    size = max(4, 1 << (n - 1).bit_length()) if n else 0
    is_fast = capabilities.profile.unrolled_products
    if not 0 < size * dtype.itemsize <= (_COLUMN if is_fast else _COLUMN // 2) or size > _LARGEST:
        return None
    teams = max(1, _WORKGROUP // size)
    chunk = min(size, _CHUNK if is_fast else 1)
    while True:
        team = MatrixTeam(size, teams, chunk)
        if team.room * teams * dtype.itemsize + 24 * (team.size + 1) * teams < capabilities.workgroup_memory:
            return team
        if teams == 1:
            return None
        teams //= 2


# -- what the kernels have in common -----------------------------------------------------------------------------------


def _begin(template: Template, team: MatrixTeam, numbers: Numbers) -> None:
    """Declare the matrix and the column of an invocation, and its registers."""
    kernel = template.kernel
    kernel.workgroup = team.size * team.teams
    kernel.module += numbers.functions
    template.numbers("n", "count")
    kernel.line(
        f"let team = local / {team.size}u; let own = local % {team.size}u;",
        f"let first = team * {team.size}u;",
        f"let number = block * {team.teams}u + team;",
        # a team without a matrix does what another one does, but for the result
        "let is_present = number < count; let plane = min(number, count - 1u);",
        *team.registers(lambda i: f"var x{i} = {numbers.zero};"),
    )


def _load(template: Template, team: MatrixTeam, numbers: Numbers, source: Matrix, *, conjugated: bool = False) -> None:
    read = template.bind(source.buffer, writable=False)
    template.matrix("source")

    def element(i: int) -> str:
        value = cast_expression(read.load(template.index("source", source, f"{i}u", "own")), read.dtype, numbers.dtype)
        if conjugated and numbers.is_complex:
            return f"if ({i}u < n) {{ let value = {value}; x{i} = {numbers.conj('value')}; }}"
        return f"if ({i}u < n) {{ x{i} = {value}; }}"

    template.kernel.line("if (own < n) {", *team.registers(element), "}")


def _report(template: Template, status: StepBuffer, failure: str) -> None:
    """Write the status."""
    failed = template.bind(status, writable=True)
    template.kernel.line(f"if (is_present && own == 0u) {{ {failed.store('plane', f'i32({failure})')} }}")


def _run(
    builder: Builder, team: MatrixTeam, key: tuple[object, ...], label: str, write: Callable[[Template], None], n: int,
    words: dict[str, int],
) -> None:  # fmt: skip
    values = {"n": n, "count": builder.batch, **words}
    builder.run((*key, team), label, write, values, -(-builder.batch // team.teams))


# -- LU factors --------------------------------------------------------------------------------------------------------


def _eliminate(template: Template, team: MatrixTeam, numbers: Numbers, capabilities: Capabilities) -> None:
    """Make the registers of each invocation a row of the factors L and U, and write the rows that were ``pivots``.

    The row that it becomes is its ``position``. No row moves, and no invocation looks for a pivot alone.
    """
    kernel = template.kernel
    # two rows in turn: one is still read when the other is written
    row = Vectors("pivot_row", numbers, 2 * team.teams, team.size)
    kernel.module += [f"var<workgroup> pivots: array<u32, {kernel.workgroup}>;", row.declaration]
    collectives = Collectives(kernel, team.size, capabilities)
    kernel.line(
        "var position = own; var failure = 0u;",
        f"for (var f = 0u; f < n; f += {team.chunk}u) {{",
        "let left = n - f;",
    )
    for s in range(team.chunk):
        line = f"team + j % 2u * {team.teams}u"
        kernel.line(f"if (f + {s}u < n) {{ let j = f + {s}u;")
        find_pivot(kernel, collectives, numbers, [("position", "own < n && position >= j", f"x{s}")])
        kernel.line(
            "if (largest == 0 && failure == 0u) { failure = j + 1u; }",
            "let is_pivot = position == place;",
            "if (position == j) { position = place; }",
            "if (is_pivot) { position = j; pivots[first + j] = place;",
        )
        for start, _ in team.groups(s):
            kernel.line(f"if ({start}u < left) {{", *row.write_some(line, f"{start}u", _names(start, team)), "}")
        kernel.line(
            "}",
            "workgroupBarrier();",
            "if (position > j) {",
            f"let size = largest; let pivot = {row.element(line, f'{s}u')};",
            *inverse(numbers, "pivot"),
            f"let factor = {numbers.times(f'x{s} * gain', 'inverse')}; x{s} = factor;",
        )
        for start, registers in team.groups(s + 1):
            lets, values = row.read_some("value", line, f"{start}u", team.chunk)
            changed = (f"x{i} = {numbers.less(f'x{i}', 'factor', values[i - start])};" for i in registers)
            kernel.line(f"if ({start}u < left) {{", *lets, *changed, "}")
        kernel.line("} }")
    kernel.line(*team.moved_up(), "}")


def _names(start: int, team: MatrixTeam) -> list[str]:
    return [f"x{i}" for i in range(start, start + team.chunk)]


def _past(team: MatrixTeam) -> str:
    """Return the statement that declares which register has the first number after all chunks."""
    return f"let past = {team.size}u - (n + {team.chunk - 1}u) / {team.chunk}u * {team.chunk}u;"


def factorise(
    builder: Builder, team: MatrixTeam, source: Matrix, target: Matrix, pivots: StepBuffer, status: StepBuffer
) -> None:
    """Write the factors of matrices, the rows that were pivots, and as status the first column whose pivot is 0."""
    numbers, n = Numbers(builder.dtype), source.rows

    def write(template: Template) -> None:
        kernel = template.kernel
        _begin(template, team, numbers)
        _load(template, team, numbers, source)
        _eliminate(template, team, numbers, builder.capabilities)
        written, rows_of = template.bind(target.buffer, writable=True), template.bind(pivots, writable=True)
        template.matrix("target")
        kernel.line("workgroupBarrier();", "if (is_present && own < n) {")
        kernel.line(rows_of.store("plane * n + own", "i32(pivots[first + own])"))
        index = template.index("target", target, "position", "column")
        stored = team.registers(
            lambda i: f"{{ let column = {i}u - past; if (column < n) {{ {written.store(index, f'x{i}')} }} }}"
        )
        kernel.line(_past(team), *stored, "}")
        _report(template, status, "failure")

    # an invocation has a column of the transpose
    words = {**where("source", source.T), **where("target", target)}
    _run(builder, team, ("small factors", source.buffer), "small factors", write, n, words)


def solve(
    builder: Builder, team: MatrixTeam, source: Matrix, right: Matrix | None, target: Matrix, status: StepBuffer
) -> None:
    """Write the solutions for right sides, or for the identity without any, and the status of the factors.

    One kernel factorises and solves, unless the factors need more than a third of the workgroup memory: so few
    workgroups run at a time then that factorising takes less time in a kernel of its own.
    """
    numbers, n = Numbers(builder.dtype), source.rows
    is_apart = 3 * team.room * team.teams * builder.dtype.itemsize > builder.capabilities.workgroup_memory
    if is_apart:
        packed, pivots = builder.matrix(n, n), builder.buffer(builder.batch * n, dtypes.int32)
        factorise(builder, team, source, packed, pivots, status)

    def write(template: Template) -> None:
        kernel = template.kernel
        _begin(template, team, numbers)
        factors = Vectors("factors", numbers, team.size * team.teams, team.size)
        kernel.module += [factors.declaration, f"var<workgroup> order: array<u32, {kernel.workgroup}>;"]
        if is_apart:
            _load_factors(template, factors, packed, pivots)
        else:
            _load(template, team, numbers, source)
            _eliminate(template, team, numbers, builder.capabilities)
            _keep(template, team, factors)
        kernel.line(_past(team), "workgroupBarrier();")
        template.numbers("columns")
        if right is not None:
            template.matrix("right")
        template.matrix("target")
        kernel.line(f"if (is_present) {{ for (var c = own; c < columns; c += {team.size}u) {{")
        _load_right(template, team, numbers, right)
        _substitute(template, team, numbers, factors)
        written = template.bind(target.buffer, writable=True)

        def stored(i: int) -> str:
            return f"if ({i}u < n) {{ {written.store(template.index('target', target, f'{i}u', 'c'), f'x{i}')} }}"

        kernel.line(*team.registers(stored), "} }")
        if not is_apart:
            _report(template, status, "failure")

    words = {**where("source", packed if is_apart else source.T), **where("target", target)}
    words |= where("right", right) if right else {}
    key = ("small solve", source.buffer, right and right.buffer)
    _run(builder, team, key, "small solve", write, n, {"columns": target.columns, **words})


def _keep(template: Template, team: MatrixTeam, factors: Vectors) -> None:
    """Write the factors to workgroup memory, and which row each row of the right sides is."""
    kernel = template.kernel
    kernel.line("if (own < n) {", _past(team), "order[first + position] = own;")
    for start, registers in team.groups():
        stores = (f"{factors.element(f'first + {i}u - past', 'position')} = x{i};" for i in registers)
        kernel.line(f"if ({start}u >= past) {{", *stores, "}")
    kernel.line("}")


def _load_factors(template: Template, factors: Vectors, packed: Matrix, pivots: StepBuffer) -> None:
    """Do what :func:`_keep` does with factors in a buffer, and the rows that were their pivots."""
    read, rows_of = template.bind(packed.buffer, writable=False), template.bind(pivots, writable=False)
    template.matrix("source")
    template.kernel.line(
        "if (own < n) {",
        "var position = own;",
        "for (var j = 0u; j < n; j++) {",
        f"{factors.element('first + j', 'own')} = {read.load(template.index('source', packed, 'own', 'j'))};",
        f"let place = u32({rows_of.load('plane * n + j')});",
        "if (position == j) { position = place; } else if (position == place) { position = j; }",
        "}",
        "order[first + position] = own;",
        "}",
    )


def _load_right(template: Template, team: MatrixTeam, numbers: Numbers, right: Matrix | None) -> None:
    """Load a column of the right sides with its rows in the order of the pivots."""
    if right is None:
        lines = team.registers(lambda i: f"x{i} = select({numbers.zero}, {numbers.one}, order[first + {i}u] == c);")
    else:
        read = template.bind(right.buffer, writable=False)
        index = template.index("right", right, "row", "c")
        value = cast_expression(read.load(index), read.dtype, numbers.dtype)
        lines = team.registers(lambda i: f"if ({i}u < n) {{ let row = order[first + {i}u]; x{i} = {value}; }}")
    template.kernel.line(*lines)


def _substitute(template: Template, team: MatrixTeam, numbers: Numbers, factors: Vectors) -> None:
    """Solve for a column with L, from the first chunk of rows on, and with U, from the last chunk on."""
    kernel, chunk, last = template.kernel, team.chunk, team.size - team.chunk
    kernel.line(f"for (var f = 0u; f < n; f += {chunk}u) {{", "let left = n - f;")
    for s in range(chunk):
        kernel.line(f"if (f + {s}u < n) {{")
        for start, registers in team.groups(s + 1):
            lets, values = factors.read_some("factor", f"first + f + {s}u", "f", chunk, start)
            changed = (f"x{i} = {numbers.less(f'x{i}', values[i - start], f'x{s}')};" for i in registers)
            kernel.line(f"if ({start}u < left) {{", *lets, *changed, "}")
        kernel.line("}")
    kernel.line(*team.moved_up(), "}")
    kernel.line(
        f"for (var stop = {team.size}u - past; stop > 0u; stop -= {chunk}u) {{",
        f"let f = stop - {chunk}u;",
    )
    for s in reversed(range(chunk)):
        first = f"x{last + s}"
        diagonal = factors.element(f"first + f + {s}u", f"f + {s}u")
        kernel.line(f"if (f + {s}u < n) {{", f"{first} = {numbers.over(first, diagonal)};")
        for start, registers in team.groups():
            if start > last:
                continue
            lets, values = factors.read_some("factor", f"first + f + {s}u", "f", chunk, start - last)
            changed = (f"x{i} = {numbers.less(f'x{i}', values[i - start], first)};" for i in registers if i < last + s)
            kernel.line(f"if (f + {start}u >= {last}u) {{", *lets, *changed, "}")
        kernel.line("}")
    kernel.line(*team.moved_down(), "}")


# -- Cholesky factors --------------------------------------------------------------------------------------------------


def cholesky(
    builder: Builder, team: MatrixTeam, source: Matrix, target: Matrix, status: StepBuffer, *, conjugated: bool = False
) -> None:
    """Write the lower factors of Hermitian matrices, or of their conjugates and the conjugates of the factors.

    The status is the first row whose pivot is not positive, from 1 on.
    """
    numbers, n = Numbers(builder.dtype), source.rows

    def write(template: Template) -> None:
        kernel = template.kernel
        written = template.bind(target.buffer, writable=True)
        _begin(template, team, numbers)
        _load(template, team, numbers, source, conjugated=conjugated)
        _eliminate_positive(template, team, numbers)
        template.matrix("target")
        store = written.store(template.index("target", target, "row", "own"), "value")

        def stored(i: int) -> str:
            value = numbers.conj(f"x{i}") if conjugated else f"x{i}"
            return (
                f"{{ let row = {i}u - past; if (row < n) {{ var value = {numbers.zero}; "
                f"if (row >= own) {{ value = {value}; }} {store} }} }}"
            )

        kernel.line(_past(team), "if (is_present && own < n) {", *team.registers(stored), "}")
        _report(template, status, "failures[team]")

    words = {**where("source", source), **where("target", target)}
    _run(builder, team, ("small cholesky", conjugated), "small factors", write, n, words)


def _eliminate_positive(template: Template, team: MatrixTeam, numbers: Numbers) -> None:
    """Make the registers those of the lower factor; elements above the diagonal have no meaning."""
    kernel = template.kernel
    # two columns in turn: one is still read when the other is written
    column = Vectors("column", numbers, 2 * team.teams, team.size)
    kernel.module += [f"var<workgroup> failures: array<u32, {team.teams}>;", column.declaration]
    kernel.line(
        "if (own == 0u) { failures[team] = 0u; }",
        f"for (var f = 0u; f < n; f += {team.chunk}u) {{",
        "let left = n - f;",
    )
    for s in range(team.chunk):
        line = f"team + (f + {s}u) % 2u * {team.teams}u"
        kernel.line(
            f"if (f + {s}u < n) {{",
            f"if (own == f + {s}u) {{",
            f"let pivot = {numbers.part(f'x{s}')};",
            f"if (!(pivot > 0) && failures[team] == 0u) {{ failures[team] = f + {s + 1}u; }}",
            "let root = sqrt(pivot); let inverse = 1 / root;",
            f"x{s} = {numbers.whole('root')};",
        )
        for start, registers in team.groups(s + 1):
            divided = (f"x{i} = x{i} * inverse;" for i in registers)
            stores = column.write_some(line, f"{start}u", _names(start, team))
            kernel.line(f"if ({start}u < left) {{", *divided, *stores, "}")
        pivot = column.element(line, "own - f")
        kernel.line("}", "workgroupBarrier();", f"if (own > f + {s}u) {{ let other = {pivot};")
        kernel.line(f"let top = {numbers.conj('other')};")
        for start, registers in team.groups(s + 1):
            lets, factors = column.read_some("factor", line, f"{start}u", team.chunk)
            changed = (f"x{i} = {numbers.less(f'x{i}', factors[i - start], 'top')};" for i in registers)
            kernel.line(f"if ({start}u < left) {{", *lets, *changed, "}")
        kernel.line("} }")
    kernel.line(*team.moved_up(), "}")
