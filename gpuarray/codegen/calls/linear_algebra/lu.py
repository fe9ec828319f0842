"""LU factors with row interchanges: panels of columns by one workgroup for each matrix, products for the rest."""

from gpuarray.codegen.calls.linear_algebra.blocks import substitute, update
from gpuarray.codegen.calls.linear_algebra.lu_panel import factorise_panel
from gpuarray.codegen.calls.linear_algebra.matrices import Buffer, Frame, Matrix, Template, where
from gpuarray.codegen.storage import register_type
from gpuarray.codegen.wgsl import WORKGROUP


def factorise(frame: Frame, a: Matrix, pivots: Buffer, status: Buffer) -> None:
    """Make a matrix its factors L and U, in place, and write the rows that were pivots."""
    steps, block = min(a.rows, a.columns), frame.block
    for k in range(0, steps, block):
        end = min(k + block, steps)
        here, rest = slice(k, end), slice(end, None)
        factorise_panel(frame, a[k:, here], pivots, status, k, steps)
        interchange(frame, a, pivots, k, end, steps, but=here)
        if end < a.columns:
            substitute(frame, a[here, here], a[here, rest], unit=True)
            update(frame, a[rest, rest], a[rest, here], a[here, rest])


def solve(frame: Frame, factors: Matrix, pivots: Buffer, right: Matrix) -> None:
    """Solve a system with the factors, in place."""
    n, block = factors.rows, frame.block
    for k in range(0, n, block):
        interchange(frame, right, pivots, k, min(k + block, n), n)
    lower(frame, factors, right, unit=True)
    upper(frame, factors, right)


def lower(frame: Frame, triangle: Matrix, right: Matrix, *, unit: bool = False, conjugated: bool = False) -> None:
    """Solve a system with a lower triangle, in place: halves of the rows, between which a product has most of the work.

    Blocks are as many rows as one launch solves for.
    """
    n = triangle.rows
    if n <= frame.block:
        substitute(frame, triangle, right, unit=unit, conjugated=conjugated)
        return
    half = -(-n // (2 * frame.block)) * frame.block
    first, rest = slice(0, half), slice(half, n)
    lower(frame, triangle[first, first], right[first, :], unit=unit, conjugated=conjugated)
    update(frame, right[rest, :], triangle[rest, first], right[first, :])
    lower(frame, triangle[rest, rest], right[rest, :], unit=unit, conjugated=conjugated)


def upper(frame: Frame, triangle: Matrix, right: Matrix, *, unit: bool = False, conjugated: bool = False) -> None:
    """Solve a system with an upper triangle, in place, as :func:`lower` does from the last row on."""
    n = triangle.rows
    if n <= frame.block:
        substitute(frame, triangle.reversed, right.upside_down, unit=unit, conjugated=conjugated)
        return
    half = -(-n // (2 * frame.block)) * frame.block
    first, rest = slice(0, half), slice(half, n)
    upper(frame, triangle[rest, rest], right[rest, :], unit=unit, conjugated=conjugated)
    update(frame, right[first, :], triangle[first, rest], right[rest, :])
    upper(frame, triangle[first, first], right[first, :], unit=unit, conjugated=conjugated)


def interchange(
    frame: Frame, a: Matrix, pivots: Buffer, begin: int, end: int, steps: int, *, but: slice = slice(0, 0),
    back: bool = False,
) -> None:  # fmt: skip
    """Exchange each row from ``begin`` to ``end`` with that of its pivot, in order; ``back`` in the opposite order.

    The columns ``but`` some are exchanged.
    Each of the rows that change comes from one other. All are read before one is written.
    """
    together = 4 * WORKGROUP // 64

    def write(template: Template) -> None:
        _write_interchange(template, a, pivots, together)

    columns = a.columns - (but.stop - but.start)
    values = {
        "columns": columns, "begin": begin, "end": end, "steps": steps, "back": int(back), "but": but.start,
        "passed": but.stop - but.start, **where("a", a),
    }  # fmt: skip
    groups = frame.batch * -(-columns // together)
    frame.run(("interchange", a.buffer, pivots), "row interchanges", write, values, groups)


def _write_interchange(template: Template, a: Matrix, pivots: Buffer, together: int) -> None:
    """Write the kernel in which a workgroup has ``together`` columns, four for each invocation."""
    kernel = template.kernel
    access, rows_of = template.bind(a.buffer, writable=True), template.bind(pivots, writable=False)
    kernel.module += ["var<workgroup> pivots: array<u32, 32>;"]
    template.numbers("columns", "begin", "end", "steps", "back", "but", "passed")
    kernel.line(
        f"let groups_across = (columns + {together - 1}u) / {together}u;",
        "let plane = block / groups_across;",
        f"let first = (block - plane * groups_across) * {together}u + local / 64u;",
    )
    template.matrix("a")
    moved = f"u32({rows_of.load('plane * steps + begin + local')})"
    kernel.line(
        f"let count = end - begin; if (local < count) {{ pivots[local] = {moved}; }}",
        "workgroupBarrier();",
        "let number = local % 32u; let is_active = number < count;",
        "var goal = begin + number;",
        "if (is_active && local % 64u >= 32u) { goal = pivots[number]; }",
        "var source = goal;",
        "for (var step = 0u; step < count; step++) {",
        "let place = select(count - 1u - step, step, back != 0u);",
        "let row = begin + place; let pivot = pivots[place];",
        "if (source == row) { source = pivot; } else if (source == pivot) { source = row; }",
        "}",
        f"var kept: array<{register_type(a.buffer.dtype)}, 4>;",
    )
    inside = (
        f"let other = first + t * {WORKGROUP // 64}u; let column = other + select(0u, passed, other >= but); "
        "if (is_active && other < columns && source != goal) {"
    )
    kernel.line("for (var t = 0u; t < 4u; t++) {", inside)
    kernel.line(f"kept[t] = {access.load(template.place('a', a, 'source', 'column'))};", "} }")
    kernel.line("storageBarrier(); workgroupBarrier();", "for (var t = 0u; t < 4u; t++) {", inside)
    kernel.line(access.store(template.place("a", a, "goal", "column"), "kept[t]"), "} }")


def write_order(frame: Frame, pivots: Buffer, order: Buffer, rows: int, steps: int, *, inverse: bool) -> None:
    """Write which row comes to each place by interchanges with the rows of pivots; ``inverse``: where each row goes."""

    def write(template: Template) -> None:
        kernel = template.kernel
        rows_of, written = template.bind(pivots, writable=False), template.bind(order, writable=True)
        template.numbers("rows", "steps", "inverse")
        pivot = rows_of.load("plane * steps + row")
        kernel.line(
            f"let groups_down = (rows + {WORKGROUP - 1}u) / {WORKGROUP}u;",
            "let plane = block / groups_down;",
            f"let place = (block - plane * groups_down) * {WORKGROUP}u + local;",
            "if (place >= rows) { return; }",
            "var found = place;",
            "for (var step = 0u; step < steps; step++) {",
            "let row = select(steps - 1u - step, step, inverse != 0u);",
            f"let pivot = u32({pivot});",
            "if (found == row) { found = pivot; } else if (found == pivot) { found = row; }",
            "}",
            written.store("plane * rows + place", "i32(found)"),
        )

    values = {"rows": rows, "steps": steps, "inverse": int(inverse)}
    frame.run(("order",), "row order", write, values, frame.batch * -(-rows // WORKGROUP))
