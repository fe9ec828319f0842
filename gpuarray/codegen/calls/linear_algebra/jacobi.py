"""Singular values and eigenvalues by Jacobi's method on columns (Hestenes, 1958).

Rotations of two columns make these orthogonal, until all are. The matrix is then U S, and the product of the rotations
is V. For a Hermitian matrix the same is done after a multiple of the identity was added that makes it positive
definite: its columns become multiples of its eigenvectors. One workgroup turns few columns in one launch, in the rounds
of a tournament; of more columns, blocks meet each other (:mod:`gpuarray.codegen.calls.linear_algebra.meetings`).

The columns of a triangle, of which a QR factorisation was made twice, are nearly orthogonal already (Drmac and Veselic,
2008): A = Q R, R^H = Q' R', and the columns of R'^H are turned. Others may take many sweeps, as those of a matrix whose
rows are of different sizes.
"""

from dataclasses import replace

from gpuarray.codegen.calls.linear_algebra.blocks import IDENTITY, LOWER, move, update
from gpuarray.codegen.calls.linear_algebra.columns import Columns, measure, normalise, quotients, sort
from gpuarray.codegen.calls.linear_algebra.householder import Reflectors, factorise, multiply
from gpuarray.codegen.calls.linear_algebra.matrices import INDEX, Buffer, Frame, Matrix, Template, where
from gpuarray.codegen.calls.linear_algebra.meetings import sweep, tournament
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers, near_one
from gpuarray.codegen.calls.linear_algebra.rounds import ALONE, turn_all
from gpuarray.codegen.storage import LANES
from gpuarray.codegen.wgsl import WORKGROUP

#: Most sweeps in which blocks meet.
_SWEEPS = 20


def orthogonalise(
    frame: Frame, a: Matrix, status: Buffer, *, vectors: bool = False, definite: bool = False, ascending: bool = False
) -> Columns:
    """Return columns that are orthogonal, made of those of a matrix.

    With ``definite`` the matrix is Hermitian, its columns become eigenvectors of unit length, and its eigenvalues are
    Rayleigh quotients: those do not have the rounding errors of the rotations. Another matrix may be overwritten. The
    status becomes 1 if the last sweep turned columns, or a length is not finite.
    """
    if definite or a.columns <= ALONE:
        return _turned(frame, a, status, vectors=vectors, definite=definite, ascending=ascending)
    left, lower = _triangle(frame, a)
    right, core = _triangle(frame, lower)
    found = _turned(frame, core, status, vectors=vectors, definite=False, ascending=ascending)
    if found.vectors is None:
        return found
    work = found.work
    if a.rows > a.columns:
        work = frame.matrix(a.rows, a.columns)
        move(frame, work, work, IDENTITY)
        move(frame, found.work, work[: a.columns, :])
    multiply(frame, left, work)
    multiply(frame, right, found.vectors)
    return replace(found, work=work)


def _triangle(frame: Frame, a: Matrix) -> tuple[Reflectors, Matrix]:
    """Return the factor Q of a matrix, which is overwritten, and the adjoint of R."""
    q = factorise(frame, a)
    lower = frame.matrix(a.columns, a.columns)
    move(frame, a[: a.columns, :].T, lower, LOWER, conjugated=True)
    return q, lower


def _turned(
    frame: Frame, a: Matrix, status: Buffer, *, vectors: bool, definite: bool, ascending: bool
) -> Columns:  # fmt: skip
    """Return columns that are orthogonal, after rotations of those of a matrix."""
    n, real = a.columns, Numbers(frame.dtype).real_dtype
    turned, scales = frame.buffer(frame.batch * _SWEEPS, INDEX), frame.buffer(frame.batch * 2, real)
    both, work, v = _columns(frame, a, vectors=vectors)
    found = Columns(work, v, scales, frame.buffer(frame.batch * n, real), frame.buffer(frame.batch * n, INDEX))
    _prepare(frame, both, found, turned, definite=definite)
    if n <= ALONE:
        turn_all(frame, both, a.rows, turned)
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
    sort(frame, found, turned, 0 if n <= ALONE else _SWEEPS - 1, status, ascending=ascending)
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
    kernel.line(*near_one(real))
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
