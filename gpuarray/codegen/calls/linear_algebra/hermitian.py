"""Eigenvalues and eigenvectors of Hermitian matrices.

Reflectors make the matrix a tridiagonal one, of which the eigenvectors are found by divide and conquer, and multiplied
by the reflectors.
"""

from dataclasses import replace

from gpuarray.codegen.calls.linear_algebra.blocks import move, update
from gpuarray.codegen.calls.linear_algebra.columns import element_of_each, run_each, write_values
from gpuarray.codegen.calls.linear_algebra.divide import Spectrum, tridiagonal_spectrum
from gpuarray.codegen.calls.linear_algebra.householder import Reflectors, multiply
from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.calls.linear_algebra.scaling import scale
from gpuarray.codegen.calls.linear_algebra.tridiagonal import Tridiagonal, reduce


def diagonalise(builder: Builder, a: Matrix, values: Matrix | None, vectors: Matrix | None, status: StepBuffer) -> None:
    """Write eigenvalues in ascending order, and eigenvectors, of a matrix, which is overwritten.

    The status becomes 1 if the matrix has elements that are not finite.
    """
    # panels of reflectors are wide, as nothing but products is made of them
    block = 2 * builder.block
    scales = scale(builder, a, a.rows)
    form = reduce(builder, a, block)
    spectrum = tridiagonal_spectrum(
        replace(builder, dtype=Numbers(builder.dtype).real_dtype), form.numbers, a.rows, status
    )
    if values is not None:
        write_values(builder, spectrum.values, scales, values.buffer)
    if vectors is not None:
        x = builder.matrix(a.rows, a.rows)
        _write_phases(builder, spectrum, form, x)
        multiply(builder, _reflectors(builder, form, x, block), x)
        move(builder, x, vectors)


def _write_phases(builder: Builder, spectrum: Spectrum, form: Tridiagonal, x: Matrix) -> None:
    """Write the eigenvectors of the tridiagonal matrix before its elements were made positive."""

    def write(template: Template) -> None:
        read, phases = (
            template.bind(spectrum.vectors.buffer, writable=False),
            template.bind(form.phases, writable=False),
        )
        written = template.bind(x.buffer, writable=True)
        element_of_each(template)
        template.matrix("x")
        template.matrix("y")
        value = f"{read.load(template.index('y', spectrum.vectors, 'i', 'j'))} * {phases.load('plane * rows + i')}"
        template.kernel.line(written.store(template.index("x", x, "i", "j"), value))

    run_each(builder, ("phases",), "phases", write, x, {**where("x", x), **where("y", spectrum.vectors)})


def _reflectors(builder: Builder, form: Tridiagonal, x: Matrix, block: int) -> Reflectors:
    """Return reflectors in panels, of which those of all panels are made in the same launches."""
    v, n = form.reflectors, x.rows
    is_complex = builder.dtype.kind == "c"
    count = v.columns // block
    panels = replace(builder, batch=builder.batch * count)
    conj = builder.matrix(n, v.columns) if is_complex else v
    vt = builder.matrix(n, v.columns)
    conj_vt = builder.matrix(n, v.columns) if is_complex else vt
    if is_complex:
        move(builder, v, conj, conjugated=True)
    v_each, conj_each, vt_each = (replace(m, columns=block, plane=m.across * block) for m in (v, conj, vt))
    products, t = panels.matrix(block, block), panels.matrix(block, block)
    update(panels, products, conj_each.T, v_each, sign=0)
    _write_triangles(panels, form, n, products, t, count)
    update(panels, vt_each, v_each, t, sign=0)
    if is_complex:
        move(builder, vt, conj_vt, conjugated=True)
    here = slice(0, n)
    scales = Matrix(form.numbers, n, 1, 2 * n, 1, n, 3 * n)
    return Reflectors(
        v[:, here], conj[:, here].T, vt[:, here], conj_vt[:, here].T, t, scales, builder.matrix(block, x.columns)
    )


def _write_triangles(
    panels: Builder, form: Tridiagonal, n: int, products: Matrix, t: Matrix, count: int
) -> None:  # fmt: skip
    """Write the triangles T of panels of their products ``V^H V``; an invocation has a row."""
    numbers = Numbers(panels.dtype)

    def write(template: Template) -> None:
        kernel = template.kernel
        kernel.workgroup = t.rows
        kernel.module += numbers.functions
        written, read = template.bind(t.buffer, writable=True), template.bind(products.buffer, writable=False)
        scales = template.bind(form.numbers, writable=False)
        template.numbers("n", "panels", "size")
        kernel.line("let plane = block; let matrix = block / panels; let first = (block - matrix * panels) * size;")
        template.matrix("g")
        template.matrix("t")
        target, known = template.index("t", t, "local", "k"), written.load(template.index("t", t, "local", "l"))
        kernel.line(
            "for (var k = 0u; k < size; k++) {",
            f"var tau = {numbers.real}(); let at = (3u * matrix + 2u) * n + first + k;",
            f"if (first + k < n) {{ tau = {scales.load('at')}; }}",
            f"var sum = {numbers.zero};",
            "for (var l = local; l < k; l++) {",
            f"sum -= {numbers.times(known, read.load(template.index('g', products, 'l', 'k')))};",
            "}",
            f"if (local == k) {{ sum = {numbers.one}; }}",
            written.store(target, "tau * sum"),
            "}",
        )

    values = {"n": n, "panels": count, "size": t.rows, **where("g", products), **where("t", t)}
    panels.run(("triangles",), "triangles", write, values, panels.batch)
