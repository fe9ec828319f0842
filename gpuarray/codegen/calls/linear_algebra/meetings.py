"""Jacobi's method on blocks of columns: rotations are found in a small matrix, and products turn the columns.

Two blocks *meet*: the products of their columns, the Gram matrix, show which rotations make these orthogonal. A sweep
of rotations is made of that matrix in workgroup memory, and the columns are multiplied by the product of the rotations.
Meetings are the rounds of a tournament, those of one round in the same launches. All launches of a sweep end at once if
the sweep before turned nothing.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from gpuarray import dtypes
from gpuarray.codegen.calls.linear_algebra.columns import NEGLIGIBLE
from gpuarray.codegen.calls.linear_algebra.matrices import INDEX, Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers, Vectors
from gpuarray.codegen.storage import LANES
from gpuarray.codegen.wgsl import WORKGROUP
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType

#: Workgroups of a launch of Gram matrices, for which rows are divided.
_GROUPS = 256
#: Invocations along an edge of a tile.
_EDGE = 16
#: Rows of an invocation that turns columns, and invocations that have columns of the same row.
_SHARED = 2


def meeting(number: str, round: str, count: str) -> tuple[str, str]:
    """Return which two of ``count``, an even number, meet at a position of a round of a tournament."""
    rest = f"({count} - 1u)"
    first = f"select(({number} + {round}) % {rest}, {rest}, {round} == 0u)"
    return first, f"({number} + {rest} - {round}) % {rest}"


def limits(numbers: Numbers) -> list[str]:
    """Return statements that declare what products of two columns of ``rows`` are compared with.

    Those of unit columns have errors of up to ``rounding`` from rotations, and of ``enough`` from sums. What rotations
    leave whose products and tangents are ``small`` is a product of two of them, which is rounding. Columns are not
    turned if their squares are up to ``least``.
    """
    real, epsilon = numbers.real, float(np.finfo(numbers.real_dtype).eps)
    return [
        f"let rounding = {real}({2 * epsilon!r});",
        f"let enough = max(rounding, {real}({epsilon!r}) * sqrt({real}(rows)));",
        f"let small = {real}({epsilon**0.5!r});",
        f"let least = {real}({(NEGLIGIBLE * epsilon) ** 2!r});",
    ]


def decision(numbers: Numbers, is_more: str, is_much: str) -> list[str]:
    """Return statements that decide whether another sweep follows because of a rotation, or that it is left out.

    Parameters
    ----------
    numbers : Numbers
        Of the dtype.
    is_more, is_much : str
        Whether the product of the columns exceeds ``enough``, and whether it is not ``small``.
    """
    return [
        "let is_steep = abs(tangent) > small;",
        f"if ({is_more}) {{ if (is_steep || {is_much}) {{ is_turned = 1u; }} }}",
        # columns of equal lengths whose product is rounding: a rotation by any angle would change their other products
        f"else if (is_steep) {{ versine = {numbers.real}(); across = {numbers.zero}; }}",
    ]


def rotation(numbers: Numbers) -> list[str]:
    """Return statements that set ``versine`` and ``across``, so that two columns become orthogonal.

    These are 1 less the cosine, and the sine. A cosine near 1 rounds alike in rotation after rotation, so that the
    lengths of columns drift; a versine has all its digits. The columns have the ``squares`` of their lengths, and the
    ``product`` of a ``size`` that is not 0.
    """
    real = numbers.real
    phase = "product / size" if numbers.is_complex else f"select({real}(-1), {real}(1), product > 0)"
    angle = _angle_by_float32() if numbers.real_dtype == dtypes.float64 else [
        "let slope = (squares.y - squares.x) / (2 * size);",
        f"let tangent = select({real}(-1), {real}(1), slope >= 0) / (abs(slope) + sqrt(1 + slope * slope));",
        "let secant = sqrt(1 + tangent * tangent);",
        "versine = tangent * tangent / (secant * (1 + secant));",
    ]  # fmt: skip
    return [*angle, f"across = {phase} * (tangent - versine * tangent);"]


def _angle_by_float32() -> list[str]:
    """Return statements that declare the ``tangent`` and set ``versine`` in double precision, without its divisions.

    A tangent rounded to single precision leaves 1e-7 of the product, which the next sweep turns away. The versine, by
    Newton's method, belongs to it to rounding. Each division or root in double precision takes some twenty operations.
    """
    return [
        "let inverse = f64(1 / f32(max(squares.x, squares.y)));",
        "let slope = f32((squares.y - squares.x) * inverse) / f32(2 * size * inverse);",
        "let root = select(sqrt(1 + slope * slope), abs(slope), abs(slope) > 1e15);",
        "let tangent = f64(select(-1f, 1f, slope >= 0) / (abs(slope) + root));",
        "let square = tangent * tangent;",
        "let secant = sqrt(1 + f32(square));",
        "versine = f64(f32(square) / (secant * (1 + secant)));",
        *["versine = fma(f64(0.5f / secant), fma(-(1 + square) * versine, 2 - versine, square), versine);"] * 2,
    ]


def turned_first(numbers: Numbers, x: str = "x", y: str = "y", across: str = "across", versine: str = "versine") -> str:
    """Return the first of two numbers of a row, turned."""
    return f"{x} - ({versine} * {x} + {numbers.times(numbers.conj(across), y)})"


def turned_second(
    numbers: Numbers, x: str = "x", y: str = "y", across: str = "across", versine: str = "versine"
) -> str:
    """Return the second of two numbers of a row, turned."""
    return f"{y} + ({numbers.times(across, x)} - {versine} * {y})"


def width_of(dtype: DType, capabilities: Capabilities) -> int:
    """Return the columns of a meeting: two square matrices with as many rows and columns fit workgroup memory."""
    width = 64
    while (
        width > _EDGE and (2 * (width + 1) * width + 2 * width) * dtype.itemsize + 1024 > capabilities.workgroup_memory
    ):
        width //= 2
    return width


@dataclass(frozen=True)
class Tournament:
    """The blocks of the columns of matrices, and what their meetings share.

    Attributes
    ----------
    work : Matrix
        The columns that become orthogonal, and below them those that are turned with them.
    rows : int
        How many rows of it are those of the columns.
    turned : StepBuffer
        For each matrix and sweep whether columns were turned.
    width : int
        Columns of two blocks.
    """

    work: Matrix
    rows: int
    turned: StepBuffer
    sweeps: int
    width: int
    grams: StepBuffer
    rotations: StepBuffer
    meets: StepBuffer
    chunks: int

    @property
    def meetings(self) -> int:
        """Meetings of a round."""
        return -(-self.work.columns // self.width)


def tournament(builder: Builder, work: Matrix, rows: int, turned: StepBuffer, sweeps: int) -> Tournament:
    """Return the meetings of the columns of a matrix."""
    width = width_of(builder.dtype, builder.capabilities)
    meetings = builder.batch * -(-work.columns // width)
    chunks = max(1, min(-(-_GROUPS // max(meetings, 1)), -(-rows // width)))
    squares = width * width * meetings
    grams, rotations = (builder.buffer(size, builder.dtype) for size in (squares * chunks, squares))
    return Tournament(work, rows, turned, sweeps, width, grams, rotations, builder.buffer(meetings, INDEX), chunks)


def sweep(builder: Builder, t: Tournament, number: int) -> None:
    """Let all blocks meet each other once."""
    for round_number in range(2 * t.meetings - 1):
        words = {"sweep": number, "round": round_number, "meetings": t.meetings}
        _gram(builder, t, words)
        _rotate(builder, t, words)
        _turn(builder, t, words)


def _begin(template: Template, t: Tournament) -> None:
    """Declare the meeting of a workgroup, and the part of it, and end if the last sweep turned nothing."""
    kernel = template.kernel
    flags = template.bind(t.turned, writable=True)
    template.numbers("sweep", "round", "meetings", "columns", "parts")
    kernel.line(
        "let slot = block / parts; let part = block - slot * parts;",
        "let plane = slot / meetings; let place = slot - plane * meetings;",
        f"if (sweep > 0u) {{ if ({flags.load(f'plane * {t.sweeps}u + sweep - 1u')} == 0) {{ return; }} }}",
    )
    one, other = meeting("round", "place", "(2u * meetings)")
    half = t.width // 2
    kernel.line(f"let one = {one} * {half}u; let other = {other} * {half}u - {half}u;")
    kernel.module.append(
        f"fn column_of(c: u32, one: u32, other: u32) -> u32 {{ return c + select(other, one, c < {half}u); }}"
    )


def _gram(builder: Builder, t: Tournament, words: dict[str, int]) -> None:
    """Write the products of the columns of meetings with each other, for each chunk of rows."""
    numbers = Numbers(builder.dtype)

    def write(template: Template) -> None:
        _write_gram(template, t, numbers)

    each = -(-t.rows // (t.chunks * t.width)) * t.width
    values = {
        **words, "columns": t.work.columns, "parts": t.chunks, "rows": t.rows, "rows_each": each,
        **where("work", t.work),
    }  # fmt: skip
    builder.run(("gram", t.work.buffer), "Gram matrices", write, values, builder.batch * t.meetings * t.chunks)


def _write_gram(template: Template, t: Tournament, numbers: Numbers) -> None:
    """Write the kernel, in which an invocation has the products of four columns, or a few, with as many."""
    kernel, width = template.kernel, t.width
    each = width // _EDGE
    kept = Vectors("kept", numbers, width, width)  # a line for each row
    kernel.module += [*numbers.functions, kept.declaration]
    _begin(template, t)
    read, written = template.bind(t.work.buffer, writable=False), template.bind(t.grams, writable=True)
    template.numbers("rows", "rows_each")
    template.matrix("work")
    element = read.load(template.index("work", t.work, "row", "column"))
    here = kept.element(f"e % {width}u", f"e / {width}u")
    (lefts, left_names), (rights, right_names) = (
        kept.read_some(name, "k", column, each) for name, column in (("left", "i"), ("right", "j"))
    )
    kernel.line(
        f"let i = local % {_EDGE}u * {each}u; let j = local / {_EDGE}u * {each}u;",
        *(f"var sum{a}_{b} = {numbers.zero};" for a in range(each) for b in range(each)),
        "let bottom = min(part * rows_each + rows_each, rows);",
        f"for (var top = part * rows_each; top < bottom; top += {width}u) {{",
        "workgroupBarrier();",
        f"for (var e = local; e < {width * width}u; e += {WORKGROUP}u) {{",
        f"let row = top + e % {width}u; let column = column_of(e / {width}u, one, other);",
        f"var value = {numbers.zero};",
        f"if (row < bottom && column < columns) {{ value = {element}; }}",
        f"{here} = value;",
        "}",
        "workgroupBarrier();",
        f"for (var k = 0u; k < {width}u; k++) {{",
        *lefts,
        *rights,
        *(f"let minus{a} = -{numbers.conj(left)};" for a, left in enumerate(left_names)),
        *(
            f"sum{a}_{b} = {numbers.less(f'sum{a}_{b}', f'minus{a}', right)};"
            for a in range(each)
            for b, right in enumerate(right_names)
        ),
        "}",
        "}",
    )
    for a in range(each):
        for b in range(each):
            kernel.line(written.store(f"block * {width * width}u + (j + {b}u) * {width}u + i + {a}u", f"sum{a}_{b}"))


def _turn(builder: Builder, t: Tournament, words: dict[str, int]) -> None:
    """Multiply the columns of meetings by their rotations, in place."""
    numbers = Numbers(builder.dtype)

    def write(template: Template) -> None:
        _write_turn(template, t, numbers)

    parts = -(-t.work.rows // WORKGROUP)
    values = {**words, "columns": t.work.columns, "parts": parts, "rows": t.work.rows, **where("work", t.work)}
    builder.run(("turn", t.work.buffer), "turns of columns", write, values, builder.batch * t.meetings * parts)


def _write_turn(template: Template, t: Tournament, numbers: Numbers) -> None:
    """Write the kernel, in which an invocation has some columns of a few rows in registers, which share rotations.

    The rows are those of several invocations: all have read them before one writes.
    """
    kernel, width = template.kernel, t.width
    each = width // _SHARED
    turns = Vectors("turns", numbers, width, width)
    kernel.module += [*numbers.functions, turns.declaration]
    _begin(template, t)
    written, read = template.bind(t.work.buffer, writable=True), template.bind(t.rotations, writable=False)
    meets = template.bind(t.meets, writable=False)
    step = WORKGROUP // _SHARED
    kernel.line(
        f"if ({meets.load('slot')} == 0) {{ return; }}",
        f"let first = local / {step}u * {each}u;",
        *(f"let i{r} = part * {WORKGROUP}u + local % {step}u + {r * step}u;" for r in range(_SHARED)),
    )
    template.numbers("rows")
    template.matrix("work")
    turn = read.load(f"slot * {width * width}u + e")
    kernel.line(
        f"for (var e = local; e < {width * width}u; e += {WORKGROUP}u) {{",
        f"{turns.element(f'e / {width}u', f'e % {width}u')} = {turn};",
        "}",
        "workgroupBarrier();",
        *(f"var x{r}_{j} = {numbers.zero};" for r in range(_SHARED) for j in range(each)),
        f"for (var k = 0u; k < {width}u; k += {LANES}u) {{",
    )
    for m, r in product(range(LANES), range(_SHARED)):  # the loads of four columns are under way at once
        element = written.load(template.index("work", t.work, f"i{r}", "column"))
        kernel.line(
            f"var minus{m}_{r} = {numbers.zero}; {{ let column = column_of(k + {m}u, one, other);",
            f"if (column < columns && i{r} < rows) {{ minus{m}_{r} = -{element}; }} }}",
        )
    for m in range(LANES):
        lets, factors = turns.read_some("turn", f"k + {m}u", "first", each)
        kernel.line("{", *lets)
        for r, (j, factor) in product(range(_SHARED), enumerate(factors)):
            kernel.line(f"x{r}_{j} = {numbers.less(f'x{r}_{j}', f'minus{m}_{r}', factor)};")
        kernel.line("}")
    kernel.line("}", "storageBarrier(); workgroupBarrier();")
    for j in range(each):
        stores = (
            f"if (i{r} < rows) {{ {written.store(template.index('work', t.work, f'i{r}', 'column'), f'x{r}_{j}')} }}"
            for r in range(_SHARED)
        )
        kernel.line(f"{{ let column = column_of(first + {j}u, one, other); if (column < columns) {{", *stores, "} }")


def _rotate(builder: Builder, t: Tournament, words: dict[str, int]) -> None:
    """Find the rotations of meetings, and write their product, and whether there are any."""
    numbers = Numbers(builder.dtype)

    def write(template: Template) -> None:
        template.kernel.workgroup = min(builder.capabilities.workgroup_size, max(WORKGROUP, (t.width // 2) ** 2))
        _write_rotations(template, t, numbers)

    values = {**words, "columns": t.work.columns, "parts": 1, "rows": t.rows}
    builder.run(("rotate", t.work.buffer), "rotations", write, values, builder.batch * t.meetings)


def _write_rotations(template: Template, t: Tournament, numbers: Numbers) -> None:
    kernel, width, pitch, real = template.kernel, t.width, t.width + 1, numbers.real
    half = width // 2
    kernel.module += [
        *numbers.functions,
        f"var<workgroup> gram: array<{numbers.kind}, {width * pitch}>;",
        f"var<workgroup> turns: array<{numbers.kind}, {width * pitch}>;",
        f"var<workgroup> sines: array<{numbers.kind}, {half}>;",
        f"var<workgroup> versines: array<{real}, {half}>;",
        f"var<workgroup> pairs: array<vec2<u32>, {half}>;",
        "var<workgroup> is_needed: u32;",
        "var<workgroup> is_turned: u32;",
    ]
    _begin(template, t)
    _write_check(template, t, numbers)
    written = template.bind(t.rotations, writable=True)
    first, second = meeting("number", "local", f"{width}u")
    kernel.line(
        f"for (var number = 0u; number < select({half}u, {width - 1}u, is_first); number++) {{",
        f"if (local < {half}u) {{",
        f"var p = local; var q = {half}u + (local + number) % {half}u;",
        f"if (is_first) {{ p = {first}; q = {second}; }}",
        *_angle(numbers, pitch),
        f"var versine = {real}(); var across = {numbers.zero};",
        "if (is_there && size > rounding * longer) {",
        *rotation(numbers),
        *decision(numbers, "size > enough * longer", "size > small * longer"),
        "}",
        "pairs[local] = vec2<u32>(p, q); versines[local] = versine; sines[local] = across;",
        "}",
        "workgroupBarrier();",
        *_turn_gram(numbers, half, pitch, kernel.workgroup),
        f"for (var e = local; e < {width * half}u; e += {kernel.workgroup}u) {{",
        f"let i = e % {width}u; let pair = e / {width}u; let at = pairs[pair] * {pitch}u + i;",
        "let versine = versines[pair]; let across = sines[pair];",
        "let x = turns[at.x]; let y = turns[at.y];",
        f"turns[at.x] = {turned_first(numbers)}; turns[at.y] = {turned_second(numbers)};",
        "}",
        "workgroupBarrier();",
        "}",
        f"for (var e = local; e < {width * width}u; e += {kernel.workgroup}u) {{",
        # by rows, as a column of the matrix is multiplied by one
        written.store(f"slot * {width * width}u + e", f"turns[e % {width}u * {pitch}u + e / {width}u]"),
        "}",
        # a product just above the limit may be below it in the rotation, which finds its conjugate or rounds otherwise
        f"if (local == 0u && is_turned != 0u) {{ {t.turned.name}[plane * {t.sweeps}u + sweep] = 1i; }}",
    )


def _write_check(template: Template, t: Tournament, numbers: Numbers) -> None:
    """Write the sum of the Gram matrices of the chunks, and end if all columns of the meeting are orthogonal."""
    kernel, width, pitch = template.kernel, t.width, t.width + 1
    read, meets = template.bind(t.grams, writable=False), template.bind(t.meets, writable=True)
    template.numbers("rows")
    partial_sum = read.load(f"(slot * {t.chunks}u + n) * {width * width}u + e")
    kernel.line(
        # columns of one block are turned with each other in the first round of a sweep alone
        "let is_first = round == 0u;",
        *limits(numbers),
        "if (local == 0u) { is_needed = 0u; is_turned = 0u; }",
        f"for (var e = local; e < {width * width}u; e += {kernel.workgroup}u) {{",
        f"let i = e % {width}u; let c = e / {width}u; var sum = {numbers.zero};",
        f"for (var n = 0u; n < {t.chunks}u; n++) {{ sum += {partial_sum}; }}",
        f"gram[c * {pitch}u + i] = sum;",
        f"turns[c * {pitch}u + i] = select({numbers.zero}, {numbers.one}, i == c);",
        "}",
        "workgroupBarrier();",
        # is there a pair that is not orthogonal yet? Products of rotations have more rounding than single rotations
        f"for (var e = local; e < {width * width}u; e += {kernel.workgroup}u) {{",
        f"let p = e % {width}u; let q = e / {width}u;",
        f"if (p < q && (is_first || (p < {width // 2}u && q >= {width // 2}u))) {{",
        *_angle(numbers, pitch),
        "if (is_there && size > enough * longer) { is_needed = 1u; }",
        "} }",
        "let needed = workgroupUniformLoad(&is_needed);",
        f"if (local == 0u) {{ {meets.store('slot', 'i32(needed)')} }}",
        "if (needed == 0u) { return; }",
    )


def _angle(numbers: Numbers, pitch: int) -> list[str]:
    """Return statements that declare the product of columns p and q, and the square of the ``longer``.

    Products are compared with that, whose rounding error is not more than that of the matrix.
    """
    diagonal = [numbers.part(f"gram[{i} * {pitch + 1}u]") for i in "pq"]
    return [
        f"let product = gram[q * {pitch}u + p]; let size = {numbers.absolute('product')};",
        f"let squares = vec2<{numbers.real}>({diagonal[0]}, {diagonal[1]});",
        "let longer = max(squares.x, squares.y); let is_there = min(squares.x, squares.y) > least;",
    ]


def _turn_gram(numbers: Numbers, half: int, pitch: int, workgroup: int) -> list[str]:
    """Return statements that turn rows and columns of the Gram matrix: an invocation has two of each at a time."""
    lines = [
        f"for (var e = local; e < {half * half}u; e += {workgroup}u) {{",
        f"let down = e % {half}u; let side = e / {half}u;",
        f"let i = pairs[down]; let j = pairs[side] * {pitch}u;",
        "let versine = versines[side]; let across = sines[side]; let d = versines[down]; let turned = sines[down];",
        "let xx = gram[j.x + i.x]; let yx = gram[j.y + i.x]; let xy = gram[j.x + i.y]; let yy = gram[j.y + i.y];",
        f"let px = {turned_first(numbers, 'xx', 'yx')}; let qx = {turned_second(numbers, 'xx', 'yx')};",
        f"let py = {turned_first(numbers, 'xy', 'yy')}; let qy = {turned_second(numbers, 'xy', 'yy')};",
    ]
    # rows turn by the conjugates
    back = numbers.conj("turned")
    for name, x, y in (("x", "px", "py"), ("y", "qx", "qy")):
        lines += [
            f"gram[j.{name} + i.x] = {turned_first(numbers, x, y, back, 'd')};",
            f"gram[j.{name} + i.y] = {turned_second(numbers, x, y, back, 'd')};",
        ]
    return [*lines, "}"]
