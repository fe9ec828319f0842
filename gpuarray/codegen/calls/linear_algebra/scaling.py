"""Scales by which the elements of matrices come near 1, so that their squares neither overflow nor vanish."""

from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers, near_one
from gpuarray.codegen.collectives import Collectives
from gpuarray.codegen.wgsl import WORKGROUP

#: Elements that an invocation scales, and most workgroups that look for the largest element of a matrix.
_EACH, _PARTS = 16, 64


def scale(builder: Builder, both: Matrix, rows: int, flags: StepBuffer | None = None) -> StepBuffer:
    """Scale the first rows of matrices by powers of two, and return these.

    The rows below them, if there are any, become zeros and the identity.

    Parameters
    ----------
    builder : Builder
        Of the program.
    both : Matrix
        The matrices.
    rows : int
        The rows that are scaled.
    flags : StepBuffer, optional
        Becomes zeros: some numbers for each matrix.
    """
    numbers = Numbers(builder.dtype)
    each = -(-both.rows * both.columns // (_EACH * WORKGROUP))
    parts = min(each, _PARTS)
    survey = builder.buffer(builder.batch * parts, numbers.real_dtype)
    scales = builder.buffer(builder.batch, numbers.real_dtype)
    # the identity is in the last rows
    begin = both.rows - both.columns if both.rows > rows else rows
    values = {
        "rows": rows, "height": both.rows, "columns": both.columns, "begin": begin, "parts": parts, "groups_each": each,
        "flags_each": flags.size // max(builder.batch, 1) if flags else 0, **where("a", both),
    }  # fmt: skip

    def write_survey(template: Template) -> None:
        _write_survey(template, builder, both, survey)

    def write_scaling(template: Template) -> None:
        _write_scaling(template, numbers, both, survey, scales, flags)

    builder.run(("survey", both.buffer), "largest elements", write_survey, values, builder.batch * parts)
    builder.run(("scaling", both.buffer), "scaling", write_scaling, values, builder.batch * each)
    return scales


def _write_survey(template: Template, builder: Builder, both: Matrix, survey: StepBuffer) -> None:
    """Write the largest element of a part of the matrix."""
    kernel, numbers = template.kernel, Numbers(builder.dtype)
    read, written = template.bind(both.buffer, writable=False), template.bind(survey, writable=True)
    template.numbers("rows", "columns", "parts")
    kernel.line("let plane = block / parts; let part = block - plane * parts;")
    template.matrix("a")
    size = numbers.size(read.load(template.index("a", both, "e % rows", "e / rows")))
    kernel.line(
        f"var peak = {numbers.real}();",
        f"for (var e = part * {WORKGROUP}u + local; e < rows * columns; e += parts * {WORKGROUP}u) {{",
        f"peak = max(peak, {size});",
        "}",
    )
    Collectives(kernel, WORKGROUP, builder.capabilities).reduce(
        {"peak": numbers.real_dtype}, lambda second: f"peak = max(peak, {second[0]});"
    )
    kernel.line(f"if (local == 0u) {{ {written.store('block', 'peak')} }}")


def _write_scaling(
    template: Template, numbers: Numbers, both: Matrix, survey: StepBuffer, scales: StepBuffer, flags: StepBuffer | None
) -> None:
    kernel, real = template.kernel, numbers.real
    kernel.module += numbers.functions
    access, seen = template.bind(both.buffer, writable=True), template.bind(survey, writable=False)
    template.numbers("rows", "height", "columns", "begin", "parts", "groups_each", "flags_each")
    kernel.line("let plane = block / groups_each; let part = block - plane * groups_each;")
    template.matrix("a")
    kernel.line(
        f"var peak = {real}(); var scale = {real}(1);",
        f"for (var n = plane * parts; n < (plane + 1u) * parts; n++) {{ peak = max(peak, {seen.load('n')}); }}",
        *near_one(real),
        f"if (part == 0u && local == 0u) {{ {template.bind(scales, writable=True).store('plane', 'scale')}",
    )
    if flags:
        flag = template.bind(flags, writable=True).store("plane * flags_each + s", "0i")
        kernel.line(f"for (var s = 0u; s < flags_each; s++) {{ {flag} }}")
    kernel.line("}")
    index = template.index("a", both, "i", "j")
    kernel.line(
        f"for (var n = 0u; n < {_EACH}u; n++) {{",
        f"let e = (part * {_EACH}u + n) * {WORKGROUP}u + local;",
        "if (e >= height * columns) { return; }",
        "let i = e % height; let j = e / height;",
        f"var x = select({numbers.zero}, {numbers.one}, i >= begin && i - begin == j);",
        f"if (i < rows) {{ x = {access.load(index)} * scale; }}",
        access.store(index, "x"),
        "}",
    )
