"""Cholesky factors: blocks of the diagonal in workgroup memory, and products for the rest."""

from gpuarray.codegen.calls.linear_algebra.blocks import substitute, update
from gpuarray.codegen.calls.linear_algebra.matrices import Buffer, Frame, Matrix, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.wgsl import WORKGROUP


def factorise(frame: Frame, a: Matrix, status: Buffer) -> None:
    """Make a Hermitian matrix its lower factor, in place; elements above the diagonal become those of the adjoint."""
    n, block = a.rows, frame.block
    for k in range(0, n, block):
        here, rest = slice(k, min(k + block, n)), slice(k + block, n)
        _diagonal(frame, a[here, here], status, k)
        if k + block < n:
            substitute(frame, a[here, here], a[rest, here].T, adjoint=True, mirror=a[here, rest])
            update(frame, a[rest, rest], a[rest, here], a[here, rest], lower=True)


def _diagonal(frame: Frame, a: Matrix, status: Buffer, done: int) -> None:
    """Factorise a block of the diagonal; the status becomes the first row whose pivot is not positive, from 1 on."""
    numbers, size = Numbers(frame.dtype), frame.block

    def write(template: Template) -> None:
        kernel = template.kernel
        kernel.module += [*numbers.functions, f"var<workgroup> factor: array<{numbers.kind}, {size * (size + 1)}>;"]
        access, failed = template.bind(a.buffer, writable=True), template.bind(status, writable=True)
        template.numbers("rows", "done")
        kernel.line("let plane = block;")
        template.matrix("a")
        element = template.place("a", a, "i", "j")
        each = (
            f"for (var e = local; e < rows * rows; e += {WORKGROUP}u) {{",
            "let i = e % rows; let j = e / rows;",
            "if (j > i) { continue; }",
        )
        pitch = size + 1
        kernel.line(*each, f"factor[i * {pitch}u + j] = {access.load(element)};", "}", "var found = 0u;")
        here, top = f"factor[i * {pitch}u + j]", f"factor[k * {pitch}u + k]"
        kernel.line(
            "for (var k = 0u; k < rows; k++) {",
            "workgroupBarrier();",
            f"let pivot = {numbers.part(top)};",
            "if (!(pivot > 0) && found == 0u) { found = done + k + 1u; }",
            "let root = sqrt(pivot);",
            "workgroupBarrier();",
            f"if (local < rows && local > k) {{ factor[local * {pitch}u + k] /= root; }}",
            f"if (local == k) {{ {top} = {numbers.whole('root')}; }}",
            "workgroupBarrier();",
            f"for (var e = local; e < rows * rows; e += {WORKGROUP}u) {{",
            "let i = e % rows; let j = e / rows;",
            "if (j <= k || j > i) { continue; }",
            f"let other = factor[j * {pitch}u + k];",
            f"{here} = {numbers.less(here, f'factor[i * {pitch}u + k]', numbers.conj('other'))};",
            "}",
            "}",
            "workgroupBarrier();",
        )
        kernel.line(*each, access.store(element, here), "}")
        known = failed.load("plane")
        kernel.line(
            "if (local == 0u) {",
            "var known = 0i;",
            f"if (done > 0u) {{ known = {known}; }}",
            failed.store("plane", "select(known, i32(found), known == 0)"),
            "}",
        )

    values = {"rows": a.rows, "done": done, **where("a", a)}
    frame.run(("diagonal", a.buffer), "panel", write, values, frame.batch)
