"""Results from singular values: least squares, ranks and condition numbers; and norms by sums of columns."""

import numpy as np

from gpuarray.codegen.calls.linear_algebra.blocks import move, update
from gpuarray.codegen.calls.linear_algebra.columns import Columns, element_of_each, run_each, sum_columns
from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.wgsl import WORKGROUP


def least_squares(builder: Builder, columns: Columns, right: Matrix, share: float, *, wide: bool) -> Matrix:
    """Return the shortest solutions for right sides; singular values up to a share of the largest count as zeros.

    The columns W = A V, of lengths s, are those of a matrix, whose inverse is then V (W / s**2)^H; or of the adjoint of
    a matrix that is ``wide``, whose inverse is the adjoint of that.
    """
    assert columns.vectors is not None
    known, sought = (columns.vectors, columns.work) if wide else (columns.work, columns.vectors)
    adjoint = known.T
    if builder.dtype.kind == "c":
        copy = builder.matrix(known.rows, known.columns)
        move(builder, known, copy, conjugated=True)
        adjoint = copy.T
    parts, solution = builder.matrix(known.columns, right.columns), builder.matrix(sought.rows, right.columns)
    update(builder, parts, adjoint, right, sign=0)
    _divide(builder, columns, parts, share)
    update(builder, solution, sought, parts, sign=0)
    return solution


def _divide(builder: Builder, columns: Columns, parts: Matrix, share: float) -> None:
    """Divide rows by the squares of the lengths of columns, and multiply them by the scale of the matrix."""

    def write(template: Template) -> None:
        written, scales = template.bind(parts.buffer, writable=True), template.bind(columns.scales, writable=False)
        element_of_each(template)
        template.matrix("parts")
        index, kept = template.index("parts", parts, "i", "j"), _is_kept(template, columns, "i")
        template.kernel.line(
            f"var x = {Numbers(builder.dtype).zero};",
            f"if ({kept}) {{ x = {written.load(index)} / length / length * {scales.load('plane')}; }}",
            written.store(index, "x"),
        )

    run_each(builder, ("divide",), "division", write, parts, {**where("parts", parts), **_share(columns, share)})


def _share(columns: Columns, share: float) -> dict[str, int]:
    return {"short": columns.work.columns, "share": int(np.float32(share).view(np.uint32))}


def _sorted(template: Template, columns: Columns, index: str) -> str:
    """Return the length that is at a position of the order."""
    lengths, order = template.bind(columns.lengths, writable=False), template.bind(columns.order, writable=False)
    return lengths.load(f"plane * short + min(u32({order.load(f'plane * short + {index}')}), short - 1u)")


def _is_kept(template: Template, columns: Columns, j: str) -> str:
    """Declare the ``length`` of column ``j``; return whether it is more than the share of the largest."""
    template.numbers("short", "share")
    lengths = template.bind(columns.lengths, writable=False)
    template.kernel.line(
        f"let least = {_sorted(template, columns, '0u')} * {lengths.element}(bitcast<f32>(share));",
        f"let length = {lengths.load(f'plane * short + {j}')};",
    )
    return "length > least"


def write_rank(builder: Builder, columns: Columns, share: float, target: StepBuffer) -> None:
    """Write how many singular values are more than a share of the largest."""

    def write(template: Template) -> None:
        lengths, rank = template.bind(columns.lengths, writable=False), template.bind(target, writable=True)
        template.numbers("short", "share")
        template.kernel.line(
            "let plane = block;",
            f"let least = {_sorted(template, columns, '0u')} * {lengths.element}(bitcast<f32>(share));",
            # one invocation finds the last that is kept, or that none is
            f"for (var place = local; place < short; place += {WORKGROUP}u) {{",
            f"let is_kept = {_sorted(template, columns, 'place')} > least;",
            "let next = min(place + 1u, short - 1u);",
            f"let is_last = next == place || !({_sorted(template, columns, 'next')} > least);",
            f"if (is_kept && is_last) {{ {rank.store('plane', 'i32(place + 1u)')} }}",
            f"if (place == 0u && !is_kept) {{ {rank.store('plane', '0')} }}",
            "}",
        )

    builder.run(("rank",), "rank", write, _share(columns, share), builder.batch)


# -- condition numbers -------------------------------------------------------------------------------------------------


def write_ratios(builder: Builder, columns: Columns, order: object, target: StepBuffer) -> None:
    """Write condition numbers: quotients of singular values, or of sums of their powers and those of the inverses."""
    real = Numbers(builder.dtype).real

    def write(template: Template) -> None:
        ratios = template.bind(target, writable=True)
        template.numbers("short", "count")
        kernel = template.kernel
        kernel.line(f"let plane = block * {WORKGROUP}u + local;", "if (plane >= count) { return; }")
        largest, smallest = _sorted(template, columns, "0u"), _sorted(template, columns, "short - 1u")
        kernel.line(f"let largest = {largest}; let smallest = {smallest};")
        if order in ("fro", "f", "nuc"):
            share = f"{_sorted(template, columns, 'place')} / largest"
            term = "share" if order == "nuc" else "share * share"
            kernel.line(
                f"var sum = {real}(); var inverse = {real}();",
                f"for (var place = 0u; place < short; place++) {{ let share = {share}; "
                f"sum += {term}; inverse += 1 / ({term}); }}",
            )
            ratio, divisor = "sum * inverse" if order == "nuc" else "sqrt(sum) * sqrt(inverse)", "smallest"
        elif order == -2:
            ratio, divisor = "smallest / largest", "largest"
        else:
            ratio, divisor = "largest / smallest", "smallest"
        kernel.line(
            f"var ratio = infinity_{real}();",
            f"if ({divisor} != 0) {{ ratio = {ratio}; }}",
            ratios.store("plane", "ratio"),
        )

    values = {"short": columns.work.columns, "count": builder.batch}
    builder.run(("ratios",), "quotients", write, values, -(-builder.batch // WORKGROUP))


def norm(builder: Builder, a: Matrix, *, smallest: bool) -> StepBuffer:
    """Return the largest or smallest sum of absolute values of a column, or NaN if an element is."""
    numbers = Numbers(builder.dtype)
    real = numbers.real
    sums, norms = (builder.buffer(builder.batch * size, numbers.real_dtype) for size in (a.columns, 1))
    size = f"hypot_{real}(x.x, x.y)" if numbers.is_complex else "abs(x)"
    sum_columns(builder, "sums", "sums of columns", sums, size, x=a)

    def write_extremes(template: Template) -> None:
        template.numbers("columns", "count")
        read, written = template.bind(sums, writable=False), template.bind(norms, writable=True)
        template.kernel.line(
            f"let plane = block * {WORKGROUP}u + local;",
            "if (plane >= count) { return; }",
            f"var worst = {read.load('plane * columns')};",
            "for (var j = 1u; j < columns; j++) {",
            f"let sum = {read.load('plane * columns + j')};",
            f"if (isnan_{real}(sum) || sum {'<' if smallest else '>'} worst) {{ worst = sum; }}",
            f"if (isnan_{real}(worst)) {{ break; }}",
            "}",
            written.store("plane", "worst"),
        )

    counts = {"columns": a.columns, "count": builder.batch}
    builder.run(("extremes", a.buffer), "norms", write_extremes, counts, -(-builder.batch // WORKGROUP))
    return norms


def write_products(
    builder: Builder, first: StepBuffer, second: StepBuffer, target: StepBuffer, status: StepBuffer
) -> None:
    """Write the products of the norms of matrices and of their inverses, where NaN of an inverse alone is infinity.

    The status becomes 0, as singular matrices have condition numbers.
    """
    real = Numbers(builder.dtype).real

    def write(template: Template) -> None:
        one, other = template.bind(first, writable=False), template.bind(second, writable=False)
        products, failed = template.bind(target, writable=True), template.bind(status, writable=True)
        template.numbers("count")
        template.kernel.line(
            f"let plane = block * {WORKGROUP}u + local;",
            "if (plane >= count) { return; }",
            f"let norm = {one.load('plane')}; let product = norm * {other.load('plane')};",
            f"let is_singular = isnan_{real}(product) && !isnan_{real}(norm);",
            products.store("plane", f"select(product, infinity_{real}(), is_singular)"),
            failed.store("plane", "0"),
        )

    builder.run(("products",), "products of norms", write, {"count": builder.batch}, -(-builder.batch // WORKGROUP))
