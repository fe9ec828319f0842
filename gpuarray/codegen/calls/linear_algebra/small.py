"""Stacks of small matrices: a *team* of invocations has a matrix, and each of them a column of it in registers.

A workgroup has several teams. Registers move by one in each step, as :func:`forward` explains.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gpuarray.codegen.calls.linear_algebra.blocks import forward, unrolled
from gpuarray.codegen.calls.linear_algebra.matrices import Buffer, Frame, Matrix, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers, inverse
from gpuarray.codegen.casts import cast_expression
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType

#: Most bytes of a column in registers, and fewest invocations of a workgroup.
_COLUMN, _WORKGROUP = 256, 64
#: Most right sides that a member of a team solves for, one after the other.
MOST_TURNS: Final = 4


@dataclass(frozen=True)
class Team:
    """How a stack of matrices is divided: ``size`` registers and members of a team, and the teams of a workgroup."""

    size: int
    teams: int

    @property
    def pitch(self) -> int:
        """Numbers from a column to the next in workgroup memory, where neighbours are in different banks."""
        return self.size + 1

    @property
    def room(self) -> int:
        """Numbers of a matrix in workgroup memory."""
        return self.size * self.pitch

    def registers(self, line: Callable[[int], str], first: int = 0) -> list[str]:
        """Return a line for each register from the ``first`` on."""
        return unrolled(self.size, line, first)


def team_of(n: int, dtype: DType, capabilities: Capabilities) -> Team | None:
    """Return the team for matrices of ``n`` rows and columns, or None if a column does not fit."""
    size = max(4, 1 << (n - 1).bit_length()) if n else 0
    if not 0 < size * dtype.itemsize <= _COLUMN:
        return None
    teams = max(1, _WORKGROUP // size)
    while True:
        team = Team(size, teams)
        if ((team.room + 2 * size) * teams + 2 * size) * dtype.itemsize + 12 * teams < capabilities.workgroup_memory:
            return team
        if teams == 1:
            return None
        teams //= 2


# -- what the kernels have in common -----------------------------------------------------------------------------------


def _begin(template: Template, team: Team, numbers: Numbers) -> None:
    """Declare the matrix and the column of an invocation, and its registers."""
    kernel = template.kernel
    kernel.workgroup = team.size * team.teams
    kernel.module += [
        *numbers.functions,
        f"var<workgroup> column: array<{numbers.kind}, {2 * kernel.workgroup}>;",
        f"var<workgroup> failures: array<u32, {team.teams}>;",
    ]
    template.numbers("n", "count")
    kernel.line(
        f"let team = local / {team.size}u; let own = local % {team.size}u;",
        f"let first = team * {team.size}u;",
        f"let number = block * {team.teams}u + team;",
        # a team without a matrix does what another one does, but for the result
        "let is_present = number < count; let plane = min(number, count - 1u);",
        *team.registers(lambda i: f"var x{i} = {numbers.zero};"),
    )


def _load(template: Template, team: Team, numbers: Numbers, source: Matrix, *, conjugated: bool = False) -> None:
    read = template.bind(source.buffer, writable=False)
    template.matrix("source")

    def element(i: int) -> str:
        value = cast_expression(read.load(template.place("source", source, f"{i}u", "own")), read.dtype, numbers.dtype)
        if conjugated and numbers.is_complex:
            return f"if ({i}u < n) {{ let value = {value}; x{i} = {numbers.conj('value')}; }}"
        return f"if ({i}u < n) {{ x{i} = {value}; }}"

    template.kernel.line("if (own < n) {", *team.registers(element), "}")


def _report(template: Template, status: Buffer) -> None:
    """Write the status, if the columns before those that are ``done`` have none."""
    failed = template.bind(status, writable=True)
    template.numbers("done")
    template.kernel.line(
        "if (is_present && own == 0u) {",
        "var known = 0i;",
        f"if (done > 0u) {{ known = {failed.load('plane')}; }}",
        "if (known == 0 && failures[team] > 0u) { known = i32(done + failures[team]); }",
        failed.store("plane", "known"),
        "}",
    )


def _run(
    frame: Frame, team: Team, key: tuple[object, ...], label: str, write: Callable[[Template], None], n: int,
    places: dict[str, int],
) -> None:  # fmt: skip
    values = {"n": n, "count": frame.batch, "done": 0, **places}
    frame.run((*key, team), label, write, values, -(-frame.batch // team.teams))


# -- LU factors --------------------------------------------------------------------------------------------------------


def _eliminate(template: Template, team: Team, numbers: Numbers) -> None:
    """Make the registers those of the factors L and U, and write the places of the pivots to ``pivots``."""
    kernel, real = template.kernel, numbers.real
    kernel.module.append(f"var<workgroup> pivots: array<u32, {kernel.workgroup}>;")
    kernel.line(
        "if (own == 0u) { failures[team] = 0u; }",
        "for (var j = 0u; j < n; j++) {",
        "let left = n - j;",
        # the member whose column it is finds the pivot
        "if (own == j) {",
        f"var largest = {real}(-1); var place = 0u;",
        *team.registers(lambda i: _larger(i, numbers)),
        "pivots[first + j] = place;",
        "}",
        "workgroupBarrier();",
        "let place = pivots[first + j]; let kept = x0;",
        *team.registers(lambda i: f"if (place == {i}u) {{ x0 = x{i}; x{i} = kept; }}", 1),
        "if (own == j) {",
        f"let size = {numbers.size('x0')};",
        "if (size == 0 && failures[team] == 0u) { failures[team] = j + 1u; }",
        *inverse(numbers, "x0"),
        *team.registers(lambda i: _divided(i, numbers.times(f"x{i} * gain", "inverse")), 1),
        "}",
        "workgroupBarrier();",
        "let top = x0; let is_right = own > j;",
        *team.registers(lambda i: _reduced(i, numbers, "top"), 1),
        f"x{team.size - 1} = top;",
        "}",
    )


def _larger(i: int, numbers: Numbers) -> str:
    size = numbers.size(f"x{i}")
    return f"if ({i}u < left) {{ let size = {size}; if (size > largest) {{ largest = size; place = {i}u; }} }}"


def _divided(i: int, quotient: str) -> str:
    return f"if ({i}u < left) {{ x{i} = {quotient}; }} column[first + {i}u] = x{i};"


def _reduced(i: int, numbers: Numbers, factor: str) -> str:
    changed = numbers.less(f"x{i}", f"column[first + {i}u]", factor)
    return f"x{i - 1} = select(x{i}, {changed}, is_right && {i}u < left);"


def factorise(frame: Frame, team: Team, source: Matrix, target: Matrix, pivots: Buffer, status: Buffer) -> None:
    """Write the factors of matrices, the rows that were pivots, and as status the first column whose pivot is 0."""
    numbers, n = Numbers(frame.dtype), source.rows

    def write(template: Template) -> None:
        kernel = template.kernel
        _begin(template, team, numbers)
        _load(template, team, numbers, source)
        _eliminate(template, team, numbers)
        written, rows_of = template.bind(target.buffer, writable=True), template.bind(pivots, writable=True)
        template.matrix("target")
        kernel.line("if (is_present && own < n) {")
        kernel.line(rows_of.store("plane * n + own", "i32(own + pivots[first + own])"))
        place = template.place("target", target, "row", "own")
        stored = team.registers(
            lambda i: f"if ({i}u >= past) {{ let row = {i}u - past; {written.store(place, f'x{i}')} }}"
        )
        kernel.line(f"let past = {team.size}u - n;", *stored, "}")
        _report(template, status)

    places = {**where("source", source), **where("target", target)}
    _run(frame, team, ("small factors", source.buffer), "small factors", write, n, places)


def solve(frame: Frame, team: Team, source: Matrix, right: Matrix | None, target: Matrix, status: Buffer) -> None:
    """Write the solutions for right sides, or for the identity without any, and the status of the factors."""
    numbers, n = Numbers(frame.dtype), source.rows

    def write(template: Template) -> None:
        kernel = template.kernel
        _begin(template, team, numbers)
        _load(template, team, numbers, source)
        _eliminate(template, team, numbers)
        _keep(template, team, numbers)
        template.numbers("columns")
        if right is not None:
            template.matrix("right")
        template.matrix("target")
        kernel.line(f"if (is_present) {{ for (var c = own; c < columns; c += {team.size}u) {{")
        _load_right(template, team, numbers, right)
        _substitute(template, team, numbers)
        written = template.bind(target.buffer, writable=True)

        def stored(i: int) -> str:
            return f"if ({i}u < n) {{ {written.store(template.place('target', target, f'{i}u', 'c'), f'x{i}')} }}"

        kernel.line(*team.registers(stored), "} }")
        _report(template, status)

    places = {**where("source", source), **(where("right", right) if right else {}), **where("target", target)}
    key = ("small solve", source.buffer, right and right.buffer)
    _run(frame, team, key, "small solve", write, n, {"columns": target.columns, **places})


def _keep(template: Template, team: Team, numbers: Numbers) -> None:
    """Write the factors to workgroup memory, and which row each row of the right sides is."""
    kernel = template.kernel
    kernel.module += [
        # steps read as many numbers as a column has, from the diagonal on: some lie before and behind the matrix
        f"var<workgroup> factors: array<{numbers.kind}, {team.teams * team.room + 2 * team.size}>;",
        f"var<workgroup> order: array<u32, {kernel.workgroup}>;",
    ]
    kernel.line(
        f"let base = {team.size}u + team * {team.room}u;",
        f"let past = {team.size}u - n;",
        *team.registers(lambda i: f"if ({i}u >= past) {{ factors[base + own * {team.pitch}u + {i}u - past] = x{i}; }}"),
        "var source_row = own;",
        "for (var step = n; step > 0u; step--) {",
        "let row = step - 1u; let pivot = row + pivots[first + row];",
        "if (source_row == row) { source_row = pivot; } else if (source_row == pivot) { source_row = row; }",
        "}",
        "order[local] = source_row;",
        "workgroupBarrier();",
    )


def _load_right(template: Template, team: Team, numbers: Numbers, right: Matrix | None) -> None:
    """Load a column of the right sides with its rows in the order of the pivots."""
    if right is None:
        lines = team.registers(lambda i: f"x{i} = select({numbers.zero}, {numbers.one}, order[first + {i}u] == c);")
    else:
        read = template.bind(right.buffer, writable=False)
        place = template.place("right", right, "row", "c")
        value = cast_expression(read.load(place), read.dtype, numbers.dtype)
        lines = team.registers(lambda i: f"if ({i}u < n) {{ let row = order[first + {i}u]; x{i} = {value}; }}")
    template.kernel.line(*lines)


def _substitute(template: Template, team: Team, numbers: Numbers) -> None:
    """Solve for a column with L, whose first row is in register 0, and with U, whose last row is in the last."""
    last = team.size - 1

    def above(i: int) -> str:
        up = team.size - i
        value = numbers.less(f"x{i - 1}", f"factors[diagonal - {up}u]", "top")
        return f"x{i} = select(x{i - 1}, {value}, {up}u <= j);"

    template.kernel.line(
        *forward(team.size, team.pitch, numbers, rows="n", base="base", unit=True),
        "for (var step = n; step > 0u; step--) {",
        f"let j = step - 1u; let diagonal = base + j * {team.pitch + 1}u;",
        f"let top = {numbers.over(f'x{last}', 'factors[diagonal]')};",
        *reversed(team.registers(above, 1)),
        "x0 = top;",
        "}",
    )


# -- Cholesky factors --------------------------------------------------------------------------------------------------


def cholesky(
    frame: Frame, team: Team, source: Matrix, target: Matrix, status: Buffer, *, conjugated: bool = False, done: int = 0
) -> None:
    """Write the lower factors of Hermitian matrices, or of their conjugates and the conjugates of the factors.

    The status is the first row whose pivot is not positive, from 1 on, of matrices that begin at row ``done``.
    """
    numbers, n = Numbers(frame.dtype), source.rows

    def write(template: Template) -> None:
        kernel = template.kernel
        written = template.bind(target.buffer, writable=True)
        _begin(template, team, numbers)
        _load(template, team, numbers, source, conjugated=conjugated)
        _eliminate_positive(template, team, numbers)
        template.matrix("target")
        store = written.store(template.place("target", target, "row", "own"), "value")

        def stored(i: int) -> str:
            value = numbers.conj(f"x{i}") if conjugated else f"x{i}"
            return (
                f"if ({i}u >= past) {{ let row = {i}u - past; var value = {numbers.zero}; "
                f"if (row >= own) {{ value = {value}; }} {store} }}"
            )

        kernel.line(f"let past = {team.size}u - n;", "if (is_present && own < n) {", *team.registers(stored), "}")
        _report(template, status)

    places = {"done": done, **where("source", source), **where("target", target)}
    _run(frame, team, ("small cholesky", conjugated), "small factors", write, n, places)


def _eliminate_positive(template: Template, team: Team, numbers: Numbers) -> None:
    """Make the registers those of the lower factor; what is above the diagonal has no meaning."""
    half = team.size * team.teams
    template.kernel.line(
        "if (own == 0u) { failures[team] = 0u; }",
        "for (var j = 0u; j < n; j++) {",
        # two columns in turn: one is still read when the other is written
        f"let first = (j & 1u) * {half}u + team * {team.size}u;",
        "let left = n - j; let is_right = own > j;",
        "if (own == j) {",
        f"let pivot = {numbers.part('x0')};",
        "if (!(pivot > 0) && failures[team] == 0u) { failures[team] = j + 1u; }",
        "let root = sqrt(pivot); let inverse = 1 / root;",
        f"x0 = {numbers.whole('root')};",
        *team.registers(lambda i: _divided(i, f"x{i} * inverse"), 1),
        "}",
        "workgroupBarrier();",
        f"let other = column[first + select(0u, own - j, is_right)]; let factor = {numbers.conj('other')};",
        "let top = x0;",
        *team.registers(lambda i: _reduced(i, numbers, "factor"), 1),
        f"x{team.size - 1} = top;",
        "}",
    )
