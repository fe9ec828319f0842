"""Columns that are orthogonal to each other: their lengths, their order and the outputs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.wgsl import WORKGROUP

#: Columns shorter than this share of epsilon times the largest element count as zeros, and are not turned.
NEGLIGIBLE: Final = 0.1


@dataclass(frozen=True)
class Columns:
    """Columns that are orthogonal to each other, with their lengths and order.

    Attributes
    ----------
    work, vectors : Matrix
        U S, and V if it was asked for, in no order.
    scales : StepBuffer
        Of each matrix what its elements were multiplied by.
    lengths, order : StepBuffer
        The lengths of the columns, and their numbers from the first to the last.
    """

    work: Matrix
    vectors: Matrix | None
    scales: StepBuffer
    lengths: StepBuffer
    order: StepBuffer

    def write(self, builder: Builder, target: StepBuffer) -> None:
        """Write the lengths in their order, without the scale."""
        n = self.work.columns
        write_values(builder, Matrix(self.lengths, n, 1, 0, 1, n, n), self.scales, target, self.order)


def element_of_each(template: Template) -> None:
    """Declare which element of which matrix of the stack is that of an invocation."""
    template.numbers("rows", "columns", "groups_each")
    template.kernel.line(
        "let plane = block / groups_each;",
        f"let e = (block - plane * groups_each) * {WORKGROUP}u + local;",
        "if (e >= rows * columns) { return; }",
        "let i = e % rows; let j = e / rows;",
    )


def run_each(
    builder: Builder, key: tuple[object, ...], label: str, write: Callable[[Template], None], a: Matrix,
    words: dict[str, int],
) -> None:  # fmt: skip
    """Add a launch with an invocation for each element of a stack of matrices."""
    each = -(-a.rows * a.columns // WORKGROUP)
    values = {"rows": a.rows, "columns": a.columns, "groups_each": each, **words}
    builder.run(key, label, write, values, builder.batch * each)


def sum_columns(
    builder: Builder, key: str, label: str, target: StepBuffer, term: str, *, result: str = "sum", **matrices: Matrix
) -> None:
    """Add a launch that sums an expression of the elements of columns, with a workgroup for each column.

    Parameters
    ----------
    builder : Builder
        Of the program.
    key, label : str
        The kernel, and its name.
    target : StepBuffer
        Gets the results, one for each column.
    term : str
        The expression.
    result : str
        The expression of the ``sum`` that is written.
    **matrices : Matrix
        Matrices of one shape, by the names of their elements in the expression.
    """
    numbers = Numbers(builder.dtype)
    rows, columns = next((a.rows, a.columns) for a in matrices.values())

    def write(template: Template) -> None:
        kernel = template.kernel
        kernel.workgroup = 32
        kernel.module += [*numbers.functions, f"var<workgroup> sums: array<{numbers.real}, 32>;"]
        accesses = {name: template.bind(a.buffer, writable=False) for name, a in matrices.items()}
        template.numbers("rows", "columns")
        kernel.line("let plane = block / columns; let j = block - plane * columns;")
        for name in matrices:
            template.matrix(f"of_{name}")
        kernel.line(
            f"var sum = {numbers.real}();",
            "for (var i = local; i < rows; i += 32u) {",
            *(
                f"let {name} = {accesses[name].load(template.index(f'of_{name}', a, 'i', 'j'))};"
                for name, a in matrices.items()
            ),
            f"sum += {term};",
            "}",
            "sums[local] = sum; workgroupBarrier();",
            "if (local > 0u) { return; }",
            "for (var n = 1u; n < 32u; n++) { sum += sums[n]; }",
            template.bind(target, writable=True).store("block", result),
        )

    values = {"rows": rows, "columns": columns}
    for name, a in matrices.items():
        values |= where(f"of_{name}", a)
    builder.run((key, target, *(a.buffer for a in matrices.values())), label, write, values, builder.batch * columns)


def measure(builder: Builder, a: Matrix, target: StepBuffer) -> None:
    """Write the lengths of the columns."""
    sum_columns(builder, "measure", "lengths", target, Numbers(builder.dtype).square("x"), result="sqrt(sum)", x=a)


def normalise(builder: Builder, a: Matrix, lengths: StepBuffer) -> None:
    """Divide columns by their lengths."""

    def write(template: Template) -> None:
        kernel = template.kernel
        access, divisors = template.bind(a.buffer, writable=True), template.bind(lengths, writable=False)
        element_of_each(template)
        template.matrix("a")
        index = template.index("a", a, "i", "j")
        kernel.line(access.store(index, f"{access.load(index)} / {divisors.load('plane * columns + j')}"))

    run_each(builder, ("normalise", a.buffer), "normalisation", write, a, where("a", a))


def sort(builder: Builder, columns: Columns, turned: StepBuffer, last: int, status: StepBuffer) -> None:
    """Write the numbers of the columns in the order of their lengths.

    The status becomes 1 if the flag ``last`` of a matrix says that columns were turned, or a length is not finite.
    """
    numbers, n = Numbers(builder.dtype), columns.work.columns
    suffix = numbers.real

    def write(template: Template) -> None:
        kernel = template.kernel
        lengths, order = template.bind(columns.lengths, writable=False), template.bind(columns.order, writable=True)
        flags, failed = template.bind(turned, writable=False), template.bind(status, writable=True)
        template.numbers("columns", "last", "flags_each")
        kernel.module += ["var<workgroup> is_lost: u32;"]
        kernel.line(
            "let plane = block;",
            "if (local == 0u) { is_lost = 0u; } workgroupBarrier();",
            f"for (var j = local; j < columns; j += {WORKGROUP}u) {{",
            f"let own = {lengths.load('plane * columns + j')}; var place = 0u;",
            f"if (!isfinite_{suffix}(own)) {{ is_lost = 1u; place = j; }} else {{",
            f"for (var i = 0u; i < columns; i++) {{ let other = {lengths.load('plane * columns + i')};",
            "if (other > own || (other == own && i < j)) { place += 1u; } } }",
            order.store("plane * columns + min(place, columns - 1u)", "i32(j)"),
            "}",
            "workgroupBarrier();",
            f"if (local == 0u) {{ let again = {flags.load('plane * flags_each + last')};",
            failed.store("plane", "select(0i, 1i, is_lost != 0u || again != 0)"),
            "}",
        )

    values = {"columns": n, "last": last, "flags_each": turned.size // builder.batch if builder.batch else 0}
    builder.run(("sort",), "order", write, values, builder.batch)


def write_values(
    builder: Builder, values: Matrix, scales: StepBuffer, target: StepBuffer, order: StepBuffer | None = None
) -> None:  # fmt: skip
    """Write columns of values without the scale, in the order of their numbers if it is given."""

    def write(template: Template) -> None:
        kernel = template.kernel
        read, written = template.bind(values.buffer, writable=False), template.bind(target, writable=True)
        template.numbers("rows", "values_each", "size")
        kernel.line(
            f"let i = block * {WORKGROUP}u + local;",
            "if (i >= size) { return; }",
            "let plane = i / rows; var place = i - plane * rows;",
        )
        if order is not None:
            kernel.line(f"place = min(u32({template.bind(order, writable=False).load('i')}), rows - 1u);")
        scale = template.bind(scales, writable=False).load("plane")
        kernel.line(written.store("i", f"{read.load('plane * values_each + place')} / {scale}"))

    size = builder.batch * values.rows
    counts = {"rows": values.rows, "values_each": values.plane, "size": size}
    builder.run(("values",), "values", write, counts, -(-size // WORKGROUP))


def take(
    builder: Builder, columns: Columns, source: Matrix, target: Matrix, *, unit: bool, conjugated: bool = False
) -> None:
    """Write columns in their order; with ``unit`` divided by their lengths, and negligible ones as zeros."""
    numbers = Numbers(builder.dtype)
    least = NEGLIGIBLE * float(np.finfo(numbers.real_dtype).eps)

    def write(template: Template) -> None:
        kernel = template.kernel
        kernel.module += numbers.functions
        written, read = template.bind(target.buffer, writable=True), template.bind(source.buffer, writable=False)
        order = template.bind(columns.order, writable=False)
        element_of_each(template)
        template.matrix("source")
        template.matrix("target")
        kernel.line(
            f"let place = min(u32({order.load('plane * columns + j')}), columns - 1u);",
            f"var x = {read.load(template.index('source', source, 'i', 'place'))};",
        )
        if unit:
            length = template.bind(columns.lengths, writable=False).load("plane * columns + place")
            kernel.line(
                f"let length = {length};",
                f"if (length > {numbers.real}({least!r})) {{ x = x / length; }} else {{ x = {numbers.zero}; }}",
            )
        kernel.line(written.store(template.index("target", target, "i", "j"), numbers.conj("x") if conjugated else "x"))

    words = {**where("source", source), **where("target", target)}
    run_each(builder, ("take", source.buffer, target.buffer, unit, conjugated), "vectors", write, source, words)


def restore_signs(builder: Builder, r: Matrix, q: Matrix) -> None:
    """Multiply the columns of Q by the signs of the diagonal of R, so that Q begins with the factorised columns."""
    numbers = Numbers(builder.dtype)

    def write(template: Template) -> None:
        kernel = template.kernel
        kernel.module += numbers.functions
        written, read = template.bind(q.buffer, writable=True), template.bind(r.buffer, writable=False)
        element_of_each(template)
        template.matrix("r")
        template.matrix("q")
        index = template.index("q", q, "i", "j")
        kernel.line(
            f"let pivot = {read.load(template.index('r', r, 'j', 'j'))};",
            f"if ({numbers.part('pivot')} < 0) {{ let x = {written.load(index)}; {written.store(index, '-x')} }}",
        )

    words = {**where("r", r), **where("q", q)}
    run_each(builder, ("signs", r.buffer, q.buffer), "signs", write, q[:, : r.columns], words)
