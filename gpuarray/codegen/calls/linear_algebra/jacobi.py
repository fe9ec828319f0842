"""Singular values and eigenvalues by Jacobi's method on columns (Hestenes, 1958).

Rotations of two columns make these orthogonal, until all are. The matrix is then U S, and the product of the rotations
is V. For a Hermitian matrix the same is done after a multiple of the identity was added that makes it positive
definite: its columns become multiples of its eigenvectors. A workgroup takes as many columns as it has pairs for, in
the rounds of a tournament. If that is all of them, one launch makes all sweeps; otherwise each launch is a round of a
tournament between blocks of columns, which ends at once if the last sweep turned nothing.
"""

import numpy as np

from gpuarray.codegen.calls.linear_algebra.blocks import move, update
from gpuarray.codegen.calls.linear_algebra.columns import NEGLIGIBLE, Columns, measure, normalise, quotients, sort
from gpuarray.codegen.calls.linear_algebra.matrices import INDEX, Buffer, Frame, Matrix, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.storage import Access
from gpuarray.codegen.wgsl import WORKGROUP

#: Most columns that one workgroup turns in one launch, columns of a block of more, and most sweeps.
_ALONE, _BLOCK, _SWEEPS = 64, 16, 20


def orthogonalise(
    frame: Frame, a: Matrix, status: Buffer, *, vectors: bool = False, definite: bool = False, ascending: bool = False
) -> Columns:
    """Make the columns of a matrix orthogonal, in place.

    With ``definite`` the matrix is Hermitian, its columns become eigenvectors of unit length, and its eigenvalues are
    Rayleigh quotients: those do not have the rounding errors of the rotations. The status becomes 1 if the last sweep
    turned columns, or a length is not finite.
    """
    n = a.columns
    real = Numbers(frame.dtype).real_dtype
    units = frame.buffer(frame.batch * n, real)
    v = frame.matrix(n, n) if vectors else None
    turned = frame.buffer(frame.batch * (_SWEEPS + 1), INDEX)
    scales = frame.buffer(frame.batch * 2, real)
    found = Columns(a, v, scales, frame.buffer(frame.batch * n, real), frame.buffer(frame.batch * n, INDEX))
    given = frame.matrix(n, n) if definite else a
    if definite:
        move(frame, a, given)
    _prepare(frame, found, turned, definite=definite)
    if n <= _ALONE:
        _rounds(frame, found, turned, 0, 0, -(-n // 2), 1)
    else:
        blocks = -(-n // (2 * _BLOCK)) * 2
        for sweep in range(_SWEEPS):
            for number in range(blocks - 1):
                _rounds(frame, found, turned, sweep, number, _BLOCK, blocks // 2)
    measure(frame, a, found.lengths)
    if v is not None:
        measure(frame, v, units)
        normalise(frame, v, units)
    if definite:
        normalise(frame, a, found.lengths)
        product = frame.matrix(n, n)
        update(frame, product, given, a, sign=0)
        quotients(frame, a, product, found.lengths)
    sort(frame, found, turned, 0 if n <= _ALONE else _SWEEPS - 1, status, ascending=ascending)
    return found


def _prepare(frame: Frame, columns: Columns, turned: Buffer, *, definite: bool) -> None:
    """Scale matrices by a power of two so that the largest element is near 1, and make V the identity."""
    numbers, a, v = Numbers(frame.dtype), columns.work, columns.vectors
    real = numbers.real

    def write(template: Template) -> None:
        kernel = template.kernel
        kernel.module += [*numbers.functions, f"var<workgroup> sums: array<{real}, {WORKGROUP}>;"]
        access, scales = template.bind(a.buffer, writable=True), template.bind(columns.scales, writable=True)
        flags = template.bind(turned, writable=True)
        template.numbers("rows", "columns")
        kernel.line("let plane = block;")
        template.matrix("a")
        element = template.place("a", a, "i", "j")
        kernel.line(
            f"for (var s = local; s < {_SWEEPS + 1}u; s += {WORKGROUP}u) "
            f"{{ {flags.store(f'plane * {_SWEEPS + 1}u + s', '0i')} }}",
            f"var peak = {real}(); var norm = {real}();",
            f"for (var j = local; j < columns; j += {WORKGROUP}u) {{ var sum = {real}();",
            f"for (var i = 0u; i < rows; i++) {{ let size = {numbers.size(f'{access.load(element)}')}; "
            "peak = max(peak, size); sum += size; }",
            "norm = max(norm, sum); }",
        )
        for name in ("peak", "norm"):
            kernel.line(
                f"sums[local] = {name}; workgroupBarrier();",
                f"for (var n = 0u; n < {WORKGROUP}u; n++) {{ {name} = max({name}, sums[n]); }}",
                "workgroupBarrier();",
            )
        steps = [(2.0**16, 64), (2.0, 16)]
        kernel.line(f"var scale = {real}(1);")
        for factor, times in steps:
            kernel.line(
                f"if (peak > 0) {{ for (var k = 0u; k < {times}u; k++) {{",
                f"if (peak * scale < {real}({1 / factor!r})) {{ scale *= {real}({factor!r}); }}",
                f"else if (peak * scale > {real}({factor!r})) {{ scale *= {real}({1 / factor!r}); }} }} }}",
            )
        shift = f"select(2 * norm * scale, {real}(1), peak == 0)" if definite else f"{real}()"
        kernel.line(
            f"let shift = {shift};",
            f"if (local == 0u) {{ {scales.store('2u * plane', 'scale')} {scales.store('2u * plane + 1u', 'shift')} }}",
            f"for (var e = local; e < rows * columns; e += {WORKGROUP}u) {{ let i = e % rows; let j = e / rows;",
            f"var x = {access.load(element)} * scale;",
            f"if (i == j) {{ x += {numbers.whole('shift')}; }}",
            access.store(element, "x"),
            "}",
        )
        if v is not None:
            stored = template.bind(v.buffer, writable=True)
            template.matrix("v")
            kernel.line(
                f"for (var e = local; e < columns * columns; e += {WORKGROUP}u) "
                "{ let i = e % columns; let j = e / columns;",
                stored.store(template.place("v", v, "i", "j"), f"select({numbers.zero}, {numbers.one}, i == j)"),
                "}",
            )

    values = {"rows": a.rows, "columns": a.columns, **where("a", a), **(where("v", v) if v else {})}
    frame.run(("prepare", a.buffer, definite, v is not None), "scaling", write, values, frame.batch)


def _rounds(frame: Frame, columns: Columns, turned: Buffer, sweep: int, number: int, pairs: int, meetings: int) -> None:
    """Turn the columns of ``meetings`` pairs of blocks, ``pairs`` of columns at a time in each."""
    numbers, a, v = Numbers(frame.dtype), columns.work, columns.vectors
    alone = meetings == 1
    together = max(1, min(64, frame.capabilities.workgroup_size // pairs, 256 // pairs if alone else 64))
    together = 1 << (min(together, max(1, -(-a.rows // 2))).bit_length() - 1)
    workgroup = pairs * together
    numbers_kept = 2 * pairs * (a.rows + (v.rows if v else 0))
    free = frame.capabilities.workgroup_memory - workgroup * 2 * frame.dtype.itemsize - 64
    shared = alone and numbers_kept * frame.dtype.itemsize <= free
    room = 1 << (max(numbers_kept, 1) - 1).bit_length()
    if shared and room * frame.dtype.itemsize > free:
        room = numbers_kept

    def write(template: Template) -> None:
        _write_rounds(template, numbers, columns, turned, workgroup, together, room if shared else 0, alone=alone)

    parts = {"a": where("a", a), "v": where("v", v) if v else {}}
    values = {
        "rows": a.rows, "columns": a.columns, "round": number, "sweep": sweep, "pairs": pairs, "meetings": meetings,
        **parts["a"], **parts["v"],
    }  # fmt: skip
    key = ("rounds", a.buffer, workgroup, together, room if shared else 0, alone)
    frame.run(key, "rotations", write, values, frame.batch * meetings)


def _meeting(number: str, place: str, count: str) -> tuple[str, str]:
    """Return which two of ``count``, an even number, meet at a place of a round of a tournament."""
    rest = f"({count} - 1u)"
    first = f"select(({number} + {place}) % {rest}, {rest}, {place} == 0u)"
    return first, f"({number} + {rest} - {place}) % {rest}"


def _write_rounds(
    template: Template, numbers: Numbers, columns: Columns, turned: Buffer, workgroup: int, together: int, room: int,
    *, alone: bool,
) -> None:  # fmt: skip
    kernel, a, v = template.kernel, columns.work, columns.vectors
    kernel.workgroup = workgroup
    real, epsilon = numbers.real, float(np.finfo(numbers.real_dtype).eps)
    least = (NEGLIGIBLE * epsilon) ** 2
    kernel.module += [
        *numbers.functions,
        f"var<workgroup> lengths: array<vec2<{real}>, {workgroup}>;",
        f"var<workgroup> products: array<{numbers.kind}, {workgroup}>;",
        "var<workgroup> is_turned: u32;",
        *([f"var<workgroup> kept: array<{numbers.kind}, {room}>;"] if room else []),
    ]
    access, flags = template.bind(a.buffer, writable=True), template.bind(turned, writable=True)
    stored = template.bind(v.buffer, writable=True) if v is not None else None
    template.numbers("rows", "columns", "round", "sweep", "pairs", "meetings")
    kernel.line("let plane = block / meetings; let meeting = block - plane * meetings;")
    template.matrix("a")
    if v is not None:
        template.matrix("v")
    flag = f"plane * {_SWEEPS + 1}u + sweep"
    if not alone:
        kernel.line(f"if (sweep > 0u) {{ if ({flags.load(f'{flag} - 1u')} == 0) {{ return; }} }}")
    one, other = _meeting("round", "meeting", "(2u * meetings)")
    kernel.line(f"let one = {one}; let other = {other};" if not alone else "let one = 0u; let other = 1u;")

    def of_a(row: str, column: str) -> str:
        return f"kept[({column}) * rows + {row}]" if room else access.load(template.place("a", a, row, column))

    def put_a(row: str, column: str, value: str) -> str:
        if room:
            return f"kept[({column}) * rows + {row}] = {value};"
        return access.store(template.place("a", a, row, column), value)

    def of_v(row: str, column: str) -> str:
        if room:
            return f"kept[(2u * pairs) * rows + ({column}) * columns + {row}]"
        assert stored is not None
        assert v is not None
        return stored.load(template.place("v", v, row, column))

    def put_v(row: str, column: str, value: str) -> str:
        if room:
            return f"{of_v(row, column)} = {value};"
        assert stored is not None
        assert v is not None
        return stored.store(template.place("v", v, row, column), value)

    def copies(there: Access, name: str, matrix: Matrix, rows: str, base: str, *, back: bool) -> list[str]:
        """Return the copy of all columns to workgroup memory, or back."""
        place, mine = template.place(name, matrix, "i", "j"), f"kept[{base} + j * {rows} + i]"
        return [
            f"for (var e = local; e < {rows} * columns; e += {workgroup}u) {{ let i = e % {rows}; let j = e / {rows};",
            there.store(place, mine) if back else f"{mine} = {there.load(place)};",
            "}",
        ]

    held = [(access, "a", a, "rows", "0u")]
    if stored is not None and v is not None:
        held.append((stored, "v", v, "columns", "2u * pairs * rows"))
    if room:
        for each in held:
            kernel.line(*copies(*each, back=False))
    barrier = "workgroupBarrier();" if room else "storageBarrier(); workgroupBarrier();"
    first, second = _meeting("number", "pair", "(2u * pairs)")
    absolute = f"sqrt({numbers.square('product')})" if numbers.is_complex else "abs(product)"
    kernel.line(
        f"let enough = {real}({epsilon!r}) * sqrt({real}(rows));",
        f"let pair = local / {together}u; let member = local % {together}u;",
        f"var sweeps = {_SWEEPS if alone else 1}u;",
        "while (sweeps > 0u) {",
        "if (local == 0u) { is_turned = 0u; }",
        "for (var number = 0u; number + 1u < 2u * pairs; number++) {",
        barrier,
        f"let left = {first}; let right = {second};",
        "let p = select(other * pairs + left - pairs, one * pairs + left, left < pairs);",
        "let q = select(other * pairs + right - pairs, one * pairs + right, right < pairs);",
        "let is_there = p < columns && q < columns && p != q;",
        f"var squares = vec2<{real}>(); var product = {numbers.zero};",
        f"if (is_there) {{ for (var i = member; i < rows; i += {together}u) {{",
        f"let x = {of_a('i', 'p')}; let y = {of_a('i', 'q')};",
        f"squares += vec2<{real}>({numbers.square('x')}, {numbers.square('y')});",
        f"product += {numbers.times(numbers.conj('x'), 'y')};",
        "} }",
        "lengths[local] = squares; products[local] = product;",
        "workgroupBarrier();",
        f"squares = vec2<{real}>(); product = {numbers.zero};",
        f"for (var n = 0u; n < {together}u; n++) {{",
        f"squares += lengths[pair * {together}u + n]; product += products[pair * {together}u + n];",
        "}",
        f"let size = {absolute};",
        f"if (is_there && min(squares.x, squares.y) > {real}({least!r}) "
        f"&& size > enough * sqrt(squares.x) * sqrt(squares.y)) {{",
        "is_turned = 1u;",
        "let slope = (squares.y - squares.x) / (2 * size);",
        f"let t = select({real}(-1), {real}(1), slope >= 0) / (abs(slope) + sqrt(1 + slope * slope));",
        "let c = 1 / sqrt(1 + t * t); let s = c * t;",
        f"let phase = {'product / size' if numbers.is_complex else f'select({real}(-1), {real}(1), product > 0)'};",
        f"let across = phase * s; let back = {numbers.conj('across')};",
    )
    for of, put, extent in ((of_a, put_a, "rows"), *(((of_v, put_v, "columns"),) if v is not None else ())):
        kernel.line(
            f"for (var i = member; i < {extent}; i += {together}u) {{",
            f"let x = {of('i', 'p')}; let y = {of('i', 'q')};",
            put("i", "p", f"c * x - {numbers.times('back', 'y')}"),
            put("i", "q", f"{numbers.times('across', 'x')} + c * y"),
            "}",
        )
    kernel.line(
        "}",
        "}",
        barrier,
        "let again = workgroupUniformLoad(&is_turned);",
        "sweeps = select(0u, sweeps - 1u, again != 0u);",
        "if (again == 0u) { break; }",
        "}",
    )
    end = flags.store(flag, "1i")
    kernel.line(f"if (local == 0u && is_turned != 0u) {{ {end} }}")
    if room:
        kernel.line("workgroupBarrier();")
        for each in held:
            kernel.line(*copies(*each, back=True))
