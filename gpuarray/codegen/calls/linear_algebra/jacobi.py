"""Singular values and eigenvalues by Jacobi's method on columns (Hestenes, 1958).

Rotations of two columns make these orthogonal, until all are. The matrix is then U S, and the product of the rotations
is V. For a Hermitian matrix the same is done after a multiple of the identity was added that makes it positive
definite: its columns become multiples of its eigenvectors. One workgroup turns few columns in one launch, in the rounds
of a tournament; of more columns, blocks meet each other (:mod:`gpuarray.codegen.calls.linear_algebra.meetings`).
"""

import numpy as np

from gpuarray.codegen.calls.linear_algebra.blocks import move, update
from gpuarray.codegen.calls.linear_algebra.columns import NEGLIGIBLE, Columns, measure, normalise, quotients, sort
from gpuarray.codegen.calls.linear_algebra.matrices import INDEX, Buffer, Frame, Matrix, Template, where
from gpuarray.codegen.calls.linear_algebra.meetings import (
    meeting,
    rotation,
    sweep,
    tournament,
    turned_first,
    turned_second,
)
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.collectives import Collectives, uses_subgroups
from gpuarray.codegen.storage import LANES
from gpuarray.codegen.wgsl import WORKGROUP

#: Banks of workgroup memory.
_BANKS = 32
#: Most rows of two columns that an invocation keeps in registers from their products to their rotation.
_HELD = 16
#: Most columns that one workgroup turns in one launch, and most sweeps.
_ALONE, _SWEEPS = 64, 20


def orthogonalise(
    frame: Frame, a: Matrix, status: Buffer, *, vectors: bool = False, definite: bool = False, ascending: bool = False
) -> Columns:
    """Return columns that are orthogonal, made of those of a matrix.

    With ``definite`` the matrix is Hermitian, its columns become eigenvectors of unit length, and its eigenvalues are
    Rayleigh quotients: those do not have the rounding errors of the rotations. The status becomes 1 if the last sweep
    turned columns, or a length is not finite.
    """
    n, real = a.columns, Numbers(frame.dtype).real_dtype
    turned, scales = frame.buffer(frame.batch * _SWEEPS, INDEX), frame.buffer(frame.batch * 2, real)
    both, work, v = _columns(frame, a, vectors=vectors)
    found = Columns(work, v, scales, frame.buffer(frame.batch * n, real), frame.buffer(frame.batch * n, INDEX))
    _prepare(frame, both, found, turned, definite=definite)
    if n <= _ALONE:
        _rounds(frame, both, a.rows, turned)
    else:
        blocks = tournament(frame, both, a.rows, turned, _SWEEPS)
        for number in range(_SWEEPS):
            sweep(frame, blocks, number)
    measure(frame, work, found.lengths)
    if v is not None:
        units = frame.buffer(frame.batch * n, real)
        measure(frame, v, units)
        normalise(frame, v, units)
    if definite:
        normalise(frame, work, found.lengths)
        product = frame.matrix(n, n)
        update(frame, product, a, work, sign=0)
        quotients(frame, work, product, found.lengths)
    sort(frame, found, turned, 0 if n <= _ALONE else _SWEEPS - 1, status, ascending=ascending)
    return found


def _columns(frame: Frame, a: Matrix, *, vectors: bool) -> tuple[Matrix, Matrix, Matrix | None]:
    """Return a copy of the columns with room for V below, so that what turns the former turns the latter, and both."""
    below = -(-a.rows // LANES) * LANES
    both = frame.matrix(below + a.columns if vectors else a.rows, a.columns)
    work, v = both[: a.rows, :], both[below:, :] if vectors else None
    move(frame, a, work)
    return both, work, v


#: Columns that a workgroup looks through, and invocations for each of them; elements that an invocation scales.
_SURVEYED, _MEMBERS, _SCALED = 8, WORKGROUP // 8, 16


def _prepare(frame: Frame, both: Matrix, columns: Columns, turned: Buffer, *, definite: bool) -> None:
    """Scale matrices by a power of two so that the largest element is near 1, and make V the identity."""
    numbers, a = Numbers(frame.dtype), columns.work
    parts = -(-a.columns // _SURVEYED)
    found = frame.buffer(2 * frame.batch * parts, numbers.real_dtype)

    def write_survey(template: Template) -> None:
        _write_survey(template, numbers, a, found)

    def write_scaling(template: Template) -> None:
        _write_scaling(template, numbers, both, columns, turned, found, definite=definite)

    values = {"rows": a.rows, "columns": a.columns, "parts": parts, **where("a", both)}
    frame.run(("survey", both.buffer), "largest elements", write_survey, values, frame.batch * parts)
    each = -(-both.rows * both.columns // (_SCALED * WORKGROUP))
    # V begins below the rows of the matrix and what pads them
    begin = both.rows - a.columns if columns.vectors else both.rows
    values |= {"height": both.rows, "begin": begin, "groups_each": each}
    frame.run(("scaling", both.buffer, definite), "scaling", write_scaling, values, frame.batch * each)


def _write_survey(template: Template, numbers: Numbers, a: Matrix, found: Buffer) -> None:
    """Write the largest element, and the largest sum of a column, of some columns."""
    kernel, real = template.kernel, numbers.real
    kernel.module += [*numbers.functions, f"var<workgroup> seen: array<vec2<{real}>, {WORKGROUP}>;"]
    read, written = template.bind(a.buffer, writable=False), template.bind(found, writable=True)
    template.numbers("rows", "columns", "parts")
    kernel.line("let plane = block / parts; let part = block - plane * parts;")
    template.matrix("a")
    size = numbers.size(read.load(template.place("a", a, "i", "j")))
    kernel.line(
        f"let j = part * {_SURVEYED}u + local / {_MEMBERS}u;",
        f"var own = vec2<{real}>();",
        f"if (j < columns) {{ for (var i = local % {_MEMBERS}u; i < rows; i += {_MEMBERS}u) {{",
        f"let size = {size}; own = vec2<{real}>(max(own.x, size), own.y + size);",
        "} }",
        "seen[local] = own; workgroupBarrier();",
        "if (local > 0u) { return; }",
        f"var all = vec2<{real}>();",
        f"for (var c = 0u; c < {_SURVEYED}u; c++) {{",
        f"var column = vec2<{real}>();",
        f"for (var n = 0u; n < {_MEMBERS}u; n++) {{",
        f"let other = seen[c * {_MEMBERS}u + n]; column = vec2<{real}>(max(column.x, other.x), column.y + other.y);",
        "}",
        "all = max(all, column);",
        "}",
        written.store("2u * block", "all.x"),
        written.store("2u * block + 1u", "all.y"),
    )


def _write_scaling(
    template: Template, numbers: Numbers, both: Matrix, columns: Columns, turned: Buffer, found: Buffer, *,
    definite: bool,
) -> None:  # fmt: skip
    """Write the scale, what is added to the diagonal then, and with both the elements."""
    kernel, real = template.kernel, numbers.real
    kernel.module += numbers.functions
    access, scales = template.bind(both.buffer, writable=True), template.bind(columns.scales, writable=True)
    flags, seen = template.bind(turned, writable=True), template.bind(found, writable=False)
    template.numbers("rows", "columns", "parts", "height", "begin", "groups_each")
    kernel.line("let plane = block / groups_each; let part = block - plane * groups_each;")
    template.matrix("a")
    kernel.line(
        f"var peak = {real}(); var norm = {real}(); var scale = {real}(1);",
        "for (var n = plane * parts; n < (plane + 1u) * parts; n++) {",
        f"peak = max(peak, {seen.load('2u * n')}); norm = max(norm, {seen.load('2u * n + 1u')});",
        "}",
    )
    for factor, times in ((2.0**16, 64), (2.0, 16)):
        kernel.line(
            f"if (peak > 0) {{ for (var k = 0u; k < {times}u; k++) {{",
            f"if (peak * scale < {real}({1 / factor!r})) {{ scale *= {real}({factor!r}); }}",
            f"else if (peak * scale > {real}({factor!r})) {{ scale *= {real}({1 / factor!r}); }} }} }}",
        )
    place = template.place("a", both, "i", "j")
    kernel.line(
        f"let shift = {f'select(2 * norm * scale, {real}(1), peak == 0)' if definite else f'{real}()'};",
        "if (part == 0u && local == 0u) {",
        scales.store("2u * plane", "scale"),
        scales.store("2u * plane + 1u", "shift"),
        f"for (var s = 0u; s < {_SWEEPS}u; s++) {{ {flags.store(f'plane * {_SWEEPS}u + s', '0i')} }}",
        "}",
        f"for (var n = 0u; n < {_SCALED}u; n++) {{",
        f"let e = (part * {_SCALED}u + n) * {WORKGROUP}u + local;",
        "if (e >= height * columns) { return; }",
        "let i = e % height; let j = e / height;",
        f"var x = select({numbers.zero}, {numbers.one}, i >= begin && i - begin == j);",
        "if (i < rows) {",
        f"x = {access.load(place)} * scale;",
        f"if (i == j) {{ x += {numbers.whole('shift')}; }}",
        "}",
        access.store(place, "x"),
        "}",
    )


def _rounds(frame: Frame, both: Matrix, rows: int, turned: Buffer) -> None:
    """Turn columns, whose first ``rows`` become orthogonal, until all are: one workgroup for each matrix."""
    pairs, numbers, itemsize = -(-both.columns // 2), Numbers(frame.dtype), frame.dtype.itemsize
    together = max(1, min(64, frame.capabilities.workgroup_size // pairs, WORKGROUP // pairs))
    together = 1 << (min(together, max(1, -(-rows // 2))).bit_length() - 1)
    workgroup = pairs * together
    free = (frame.capabilities.workgroup_memory - 64) // itemsize
    if not _is_exchanged(frame, together):
        free -= workgroup * (itemsize + 2 * numbers.real_dtype.itemsize) // itemsize
    pitch = _pitch(both.rows, together)
    kept = both.columns * pitch
    room = min(1 << (max(kept, 1) - 1).bit_length(), free) if kept <= free else 0
    each = -(-both.rows // together)
    held = each if each <= _HELD else 0

    def write(template: Template) -> None:
        _Rounds(template, frame, both, workgroup, together, room, held).write(turned)

    values = {
        "rows": rows, "height": both.rows, "columns": both.columns, "pairs": pairs, "pitch": pitch, **where("a", both),
    }  # fmt: skip
    frame.run(("rounds", both.buffer, workgroup, together, room, held), "rotations", write, values, frame.batch)


def _is_exchanged(frame: Frame, together: int) -> bool:
    """Return whether the invocations of a pair of columns exchange sums in registers."""
    kinds = (frame.dtype, Numbers(frame.dtype).real_dtype)
    return uses_subgroups(kinds, frame.capabilities) and together <= frame.capabilities.subgroup_size


def _pitch(rows: int, together: int) -> int:
    """Return the numbers from a column to the next, so that neighbouring pairs of columns are in different banks.

    It is an odd multiple of the invocations of a pair, which read neighbouring numbers.
    """
    times = -(-rows // together)
    return together * (times | 1) if together < _BANKS else rows


class _Rounds:
    """Writes the kernel that turns columns, ``together`` invocations each pair of them.

    The columns are in workgroup memory, if it has ``room`` for them. Of two columns an invocation has ``held`` rows in
    registers, if they are few.
    """

    def __init__(
        self, template: Template, frame: Frame, both: Matrix, workgroup: int, together: int, room: int, held: int
    ) -> None:
        self.template, self.kernel, self.numbers, self.both = template, template.kernel, Numbers(frame.dtype), both
        self.together, self.room, self.held = together, room, held
        self.kernel.workgroup = workgroup
        self.collectives = Collectives(self.kernel, together, frame.capabilities)
        self.is_exchanged = _is_exchanged(frame, together)
        kind, real = self.numbers.kind, self.numbers.real
        self.kernel.module += [
            *self.numbers.functions,
            *([] if self.is_exchanged else [f"var<workgroup> lengths: array<vec2<{real}>, {workgroup}>;"]),
            *([] if self.is_exchanged else [f"var<workgroup> products: array<{kind}, {workgroup}>;"]),
            "var<workgroup> is_turned: u32;",
            *([f"var<workgroup> kept: array<{kind}, {room}>;"] if room else []),
        ]
        self.access = template.bind(both.buffer, writable=True)
        self.barrier = "workgroupBarrier();" if room else "storageBarrier(); workgroupBarrier();"

    def load(self, row: str, column: str) -> str:
        """Return an element."""
        if self.room:
            return f"kept[({column}) * pitch + {row}]"
        return self.access.load(self.template.place("a", self.both, row, column))

    def store(self, row: str, column: str, value: str) -> str:
        """Return the statement that changes an element."""
        if self.room:
            return f"{self.load(row, column)} = {value};"
        return self.access.store(self.template.place("a", self.both, row, column), value)

    def write(self, turned: Buffer) -> None:
        """Write the kernel."""
        template, kernel = self.template, self.kernel
        flags = template.bind(turned, writable=True)
        template.numbers("rows", "height", "columns", "pairs", "pitch")
        kernel.line("let plane = block;")
        template.matrix("a")
        self._copy(back=False)
        real, epsilon = self.numbers.real, float(np.finfo(self.numbers.real_dtype).eps)
        first, second = meeting("number", "pair", "(2u * pairs)")
        kernel.line(
            f"let enough = {real}({epsilon!r}) * sqrt({real}(rows));",
            f"let least = {real}({(NEGLIGIBLE * epsilon) ** 2!r});",
            f"let pair = local / {self.together}u; let member = local % {self.together}u;",
            f"var sweeps = {_SWEEPS}u;",
            "while (sweeps > 0u) {",
            "if (local == 0u) { is_turned = 0u; }",
            "for (var number = 0u; number + 1u < 2u * pairs; number++) {",
            self.barrier,
            f"let p = {first}; let q = {second};",
        )
        self._multiply()
        self._turn()
        kernel.line(
            "}",
            self.barrier,
            "let again = workgroupUniformLoad(&is_turned);",
            "sweeps = select(0u, sweeps - 1u, again != 0u);",
            "if (again == 0u) { break; }",
            "}",
            f"if (local == 0u && is_turned != 0u) {{ {flags.store(f'plane * {_SWEEPS}u', '1i')} }}",
        )
        self._copy(back=True)

    def _copy(self, *, back: bool) -> None:
        """Write the copy of all columns to workgroup memory, or back."""
        if not self.room:
            return
        place = self.template.place("a", self.both, "i", "j")
        self.kernel.line(
            "workgroupBarrier();" if back else "",
            f"for (var e = local; e < height * columns; e += {self.kernel.workgroup}u) {{",
            "let i = e % height; let j = e / height;",
            self.access.store(place, "kept[j * pitch + i]")
            if back
            else f"kept[j * pitch + i] = {self.access.load(place)};",
            "}",
        )

    def _multiply(self) -> None:
        """Write the sums of the products of columns p and q, of which each member of a pair has a part."""
        numbers = self.numbers
        sums = [
            f"square0 += {numbers.square('x')}; square1 += {numbers.square('y')};",
            f"product += {numbers.times(numbers.conj('x'), 'y')};",
        ]
        self.kernel.line(
            "let is_there = p < columns && q < columns && p != q;",
            f"var square0 = {numbers.real}(); var square1 = {numbers.real}(); var product = {numbers.zero};",
            *(f"var x{n} = {numbers.zero}; var y{n} = {numbers.zero};" for n in range(self.held)),
            "if (is_there) {",
        )
        if not self.held:
            self.kernel.line(
                f"for (var i = member; i < rows; i += {self.together}u) {{",
                f"let x = {self.load('i', 'p')}; let y = {self.load('i', 'q')};",
                *sums,
                "}",
            )
        for n in range(self.held):
            self.kernel.line(
                f"{{ let i = member + {n * self.together}u; if (i < height) {{",
                f"let x = {self.load('i', 'p')}; let y = {self.load('i', 'q')}; x{n} = x; y{n} = y;",
                "if (i < rows) {",
                *sums,
                "} } }",
            )
        self.kernel.line("}")
        self._sum()
        self.kernel.line(f"let squares = vec2<{numbers.real}>(square0, square1);")

    def _sum(self) -> None:
        """Write the sums of those of all members of a pair."""
        numbers, together = self.numbers, self.together
        if self.is_exchanged:
            states = {"square0": numbers.real_dtype, "square1": numbers.real_dtype, "product": numbers.dtype}
            self.collectives.reduce(
                states, lambda other: " ".join(f"{s} += {o};" for s, o in zip(states, other, strict=True))
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
        self.kernel.line(
            f"let size = {numbers.absolute('product')};",
            "if (is_there && min(squares.x, squares.y) > least && size > enough * sqrt(squares.x) * sqrt(squares.y)) {",
            "is_turned = 1u;",
            f"var c = {real}(); var across = {numbers.zero};",
            *rotation(numbers),
        )
        if not self.held:
            self.kernel.line(
                f"for (var i = member; i < height; i += {self.together}u) {{",
                f"let x = {self.load('i', 'p')}; let y = {self.load('i', 'q')};",
                *stores,
                "}",
            )
        for n in range(self.held):
            self.kernel.line(
                f"{{ let i = member + {n * self.together}u; let x = x{n}; let y = y{n}; if (i < height) {{",
                *stores,
                "} }",
            )
        self.kernel.line("}")
