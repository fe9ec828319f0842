"""LU factors with row interchanges: panels of columns by one workgroup for each matrix, products for the rest."""

from typing import Final

from gpuarray.codegen.calls.linear_algebra.blocks import update
from gpuarray.codegen.calls.linear_algebra.lu_panel import factorise_panel
from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.triangles import rows_of_launch, solve
from gpuarray.codegen.storage import register_type
from gpuarray.codegen.wgsl import WORKGROUP

#: Columns that an invocation has a row of, one after the other, when rows are exchanged.
_TURNS: Final = 4
#: Most columns of several panels, after which everything on their right is updated.
_MOST: Final = 128


def factorise(builder: Builder, a: Matrix, pivots: StepBuffer, status: StepBuffer, steps: int | None = None) -> None:
    """Make a matrix its factors L and U, in place, and write the rows that were pivots.

    Of the first ``steps`` columns, if these are not all: the others become those of U, that is, right sides become
    solutions of the system with L. Panels of few columns are factorised, and what is right of several is updated at
    once.
    """
    steps = min(a.rows, a.columns) if steps is None else steps
    most = _width(builder)
    for k in range(0, steps, most):
        end = min(k + most, steps)
        here, rest = slice(k, end), slice(end, None)
        for j in range(k, end, builder.block):
            stop = min(j + builder.block, end)
            factorise_panel(builder, a[j:, j:stop], pivots, status, j, steps)
            interchange(builder, a[:, here], pivots, j, stop, steps, but=slice(j - k, stop - k))
            _update(builder, a, slice(j, stop), slice(stop, end))
        interchange(builder, a, pivots, k, end, steps, but=here)
        _update(builder, a, here, rest)


def _width(builder: Builder) -> int:
    return min(_MOST, rows_of_launch(builder))


def solve_lower(builder: Builder, factors: Matrix, pivots: StepBuffer, right: Matrix) -> None:
    """Make right sides the solutions of the system with L, in place."""
    n, most = factors.rows, _width(builder)
    for k in range(0, n, most):
        interchange(builder, right, pivots, k, min(k + most, n), n)
    solve(builder, factors, right, unit=True)


def _update(builder: Builder, a: Matrix, here: slice, columns: slice) -> None:
    """Update columns on the right of those that were factorised."""
    solve(builder, a[here, here], a[here, columns], unit=True)
    update(builder, a[here.stop :, columns], a[here.stop :, here], a[here, columns])


def interchange(
    builder: Builder, a: Matrix, pivots: StepBuffer, begin: int, end: int, steps: int, *, but: slice = slice(0, 0)
) -> None:
    """Exchange each row from ``begin`` to ``end`` with that of its pivot, in order.

    The columns ``but`` some are exchanged.
    Each of the rows that change comes from one other. All are read before one is written.
    """
    rows = _width(builder)
    across = max(1, WORKGROUP // (2 * rows))

    def write(template: Template) -> None:
        _write_interchange(template, a, pivots, rows, across)

    columns = a.columns - (but.stop - but.start)
    values = {
        "columns": columns, "begin": begin, "end": end, "steps": steps, "but": but.start,
        "passed": but.stop - but.start, **where("a", a),
    }  # fmt: skip
    groups = builder.batch * -(-columns // (_TURNS * across))
    builder.run(("interchange", a.buffer, pivots), "row interchanges", write, values, groups)


def _write_interchange(template: Template, a: Matrix, pivots: StepBuffer, rows: int, across: int) -> None:
    """Write the kernel in which the invocations have ``rows`` and as many pivots of ``across`` columns, in turns."""
    kernel = template.kernel
    kernel.workgroup = 2 * rows * across
    access, rows_of = template.bind(a.buffer, writable=True), template.bind(pivots, writable=False)
    kernel.module += [f"var<workgroup> pivots: array<u32, {rows}>;"]
    template.numbers("columns", "begin", "end", "steps", "but", "passed")
    kernel.line(
        f"let groups_across = (columns + {_TURNS * across - 1}u) / {_TURNS * across}u;",
        "let plane = block / groups_across;",
        f"let first = (block - plane * groups_across) * {_TURNS * across}u + local / {2 * rows}u;",
    )
    template.matrix("a")
    moved = f"u32({rows_of.load('plane * steps + begin + local')})"
    kernel.line(
        f"let count = end - begin; if (local < count) {{ pivots[local] = {moved}; }}",
        "workgroupBarrier();",
        f"let number = local % {rows}u; let is_active = number < count;",
        "var goal = begin + number;",
        f"if (is_active && local % {2 * rows}u >= {rows}u) {{ goal = pivots[number]; }}",
        "var source = goal;",
        "for (var step = count; step > 0u; step--) {",
        "let row = begin + step - 1u; let pivot = pivots[step - 1u];",
        "if (source == row) { source = pivot; } else if (source == pivot) { source = row; }",
        "}",
        f"var kept: array<{register_type(a.buffer.dtype)}, {_TURNS}>;",
    )
    inside = (
        f"let other = first + t * {across}u; let column = other + select(0u, passed, other >= but); "
        "if (is_active && other < columns && source != goal) {"
    )
    kernel.line(f"for (var t = 0u; t < {_TURNS}u; t++) {{", inside)
    kernel.line(f"kept[t] = {access.load(template.index('a', a, 'source', 'column'))};", "} }")
    kernel.line("storageBarrier(); workgroupBarrier();", f"for (var t = 0u; t < {_TURNS}u; t++) {{", inside)
    kernel.line(access.store(template.index("a", a, "goal", "column"), "kept[t]"), "} }")


def write_order(
    builder: Builder, pivots: StepBuffer, order: StepBuffer, rows: int, steps: int, *, inverse: bool
) -> None:
    """Write which row comes to each position by interchanges with pivots; ``inverse``: where each row goes."""

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
    builder.run(("order",), "row order", write, values, builder.batch * -(-rows // WORKGROUP))
