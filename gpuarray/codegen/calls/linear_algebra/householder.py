"""QR factors by Householder reflectors: panels by one workgroup for each matrix, products for the rest.

The reflectors of a panel, as columns of V, act together as ``I - V T V^H`` with an upper triangle T (Schreiber and Van
Loan, 1989). V has ones on its diagonal and zeros above, so that it is the operand of products.
"""

from dataclasses import dataclass

import numpy as np

from gpuarray.codegen.calls.linear_algebra.blocks import update
from gpuarray.codegen.calls.linear_algebra.matrices import Frame, Matrix, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers


@dataclass(frozen=True)
class Reflectors:
    """The panels of reflectors: V, their adjoints, and the triangles T, all of the columns of the factors."""

    v: Matrix
    adjoint: Matrix
    """The conjugates of V, transposed by its strides."""
    t: Matrix
    t_adjoint: Matrix
    scales: Matrix
    """One column: the numbers by which LAPACK scales its reflectors."""
    work: Matrix
    """For what is between two products."""


def factorise(frame: Frame, a: Matrix, widest: int = 0) -> Reflectors:
    """Factorise in place, for products with matrices of as many columns, or up to ``widest``.

    Make a matrix R in its upper triangle, and below it the reflectors but for their ones; return them.
    """
    steps, block = min(a.rows, a.columns), frame.block
    v, t = frame.matrix(a.rows, steps), frame.matrix(block, steps)
    t_adjoint = frame.matrix(block, steps)
    conj = frame.matrix(a.rows, steps) if frame.dtype.kind == "c" else v
    q = Reflectors(
        v,
        conj.T,
        t,
        t_adjoint,
        frame.matrix(steps, 1),
        frame.matrix(block, 2 * max(widest, a.columns)),
    )
    for k in range(0, steps, block):
        end = min(k + block, steps)
        _panel(frame, a[k:, k:end], q, k)
        apply(frame, q, a[k:, end:], k, end, adjoint=True)
    return q


def multiply(frame: Frame, q: Reflectors, x: Matrix, *, adjoint: bool = False) -> None:
    """Multiply the rows of a matrix by Q, or by its adjoint, in place."""
    steps, block = q.v.columns, frame.block
    starts = range(0, steps, block)
    for k in starts if adjoint else reversed(starts):
        apply(frame, q, x[k:, :], k, min(k + block, steps), adjoint=adjoint)


def apply(frame: Frame, q: Reflectors, x: Matrix, begin: int, end: int, *, adjoint: bool) -> None:
    """Multiply by the reflectors of a panel: ``x -= V T (V^H x)``."""
    if not x.columns:
        return
    here = slice(begin, end)
    work = q.work
    first, second = work[: end - begin, : x.columns], work[: end - begin, x.columns : 2 * x.columns]
    t = (q.t_adjoint if adjoint else q.t)[: end - begin, here]
    update(frame, first, q.adjoint[here, begin:], x, sign=0)
    update(frame, second, t, first, sign=0)
    update(frame, x, q.v[begin:, here], second)


def _panel(frame: Frame, a: Matrix, q: Reflectors, done: int) -> None:
    """Factorise a panel, and write its V and T.

    A column is scaled by its largest element, so that squares neither overflow nor vanish.
    """
    numbers, size = Numbers(frame.dtype), frame.block
    workgroup = min(frame.capabilities.workgroup_size, 1024 if a.rows > 1024 else 256 if a.rows > 64 else 64)
    workgroup = max(workgroup, 2 * size)
    v, t, scales = q.v[done:, done:], q.t[:, done:], q.scales[done:, :]
    conj = q.adjoint.T[done:, done:]
    real, tiny = numbers.real, float(np.finfo(numbers.real_dtype).tiny)

    def write(template: Template) -> None:
        kernel = template.kernel
        kernel.workgroup = workgroup
        kernel.module += [
            *numbers.functions,
            f"var<workgroup> sums: array<{numbers.kind}, {workgroup}>;",
            f"var<workgroup> dots: array<{numbers.kind}, {size}>;",
            f"var<workgroup> triangle: array<{numbers.kind}, {size * size}>;",
            f"var<workgroup> head: array<{numbers.kind}, 2>;",
        ]
        access = template.bind(a.buffer, writable=True)
        stores = {m.buffer: template.bind(m.buffer, writable=True) for m in (v, t, q.t_adjoint, scales, conj)}
        template.numbers("rows", "columns")
        kernel.line("let plane = block;")
        for name in ("a", "v", "t", "ta", "s", *(("c",) if numbers.is_complex else ())):
            template.matrix(name)

        def load(row: str, column: str) -> str:
            return access.load(template.place("a", a, row, column))

        def store(row: str, column: str, value: str) -> str:
            return access.store(template.place("a", a, row, column), value)

        barrier = "storageBarrier(); workgroupBarrier();"
        parts = workgroup // size

        larger = numbers.whole(f"max({numbers.part('whole')}, {numbers.part('other')})")

        def total(fold: str = "whole + other") -> list[str]:
            """Return the statements after which ``whole`` is the sum, or other fold, of the values of ``own``."""
            return [
                "sums[local] = own;", "workgroupBarrier();",
                "if (local < 32u) { var whole = own; "
                f"for (var n = local + 32u; n < {workgroup}u; n += 32u) {{ let other = sums[n]; whole = {fold}; }} "
                "sums[local] = whole; }", "workgroupBarrier();",
                "var whole = sums[0]; for (var n = 1u; n < 32u; n++) { let other = sums[n]; "
                f"whole = {fold}; }}", "workgroupBarrier();",
            ]  # fmt: skip

        largest = "max(abs(x.x), abs(x.y))" if numbers.is_complex else "abs(x)"
        kernel.line(
            f"for (var j = 0u; j < columns; j++) {{ {barrier}",
            f"var scale = {real}(); var beta = {real}(); var tau = {numbers.zero}; var divisor = {numbers.one};",
            f"{{ var peak = {real}(); for (var i = j + 1u + local; i < rows; i += {workgroup}u) {{",
            f"let x = {load('i', 'j')}; peak = max(peak, {largest}); }}",
            f"let own = {numbers.whole('peak')};",
            *total(larger),
            f"scale = {numbers.part('whole')}; }}",
            f"let alpha = {load('j', 'j')};",
            f"let inverse = 1 / select(scale, {real}(1), scale < {real}({tiny!r}));",
            f"{{ var own = {numbers.zero}; for (var i = j + 1u + local; i < rows; i += {workgroup}u) {{",
            f"let x = {load('i', 'j')} * inverse; own += {numbers.whole(numbers.square('x'))}; }}",
            *total(),
            f"let below = {numbers.part('whole')};",
        )
        tail = "below != 0" + (" || alpha.y != 0" if numbers.is_complex else "")
        # the length of the column, and the reflector that makes it beta
        kernel.line(
            f"if ({tail}) {{",
            f"let most = max({'max(abs(alpha.x), abs(alpha.y))' if numbers.is_complex else 'abs(alpha)'}, scale);",
            "let part = alpha / most; let rest = scale / most;",
            f"let length = most * sqrt({numbers.square('part')} + rest * rest * below);",
            f"beta = select(length, -length, {numbers.part('alpha')} >= 0);",
            f"tau = ({numbers.whole('beta')} - alpha) / beta;",
            f"divisor = alpha - {numbers.whole('beta')};",
            f"}} else {{ beta = {numbers.part('alpha')}; }} }}",
        )  # fmt: skip
        is_reflected = f"({numbers.size('tau')} != 0)"
        v_store = stores[v.buffer]
        at = template.place("v", v, "i", "j")
        kernel.line(
            barrier,
            f"for (var i = local; i < rows; i += {workgroup}u) {{",
            f"var x = {numbers.zero};",
            f"if (i == j) {{ x = {numbers.one}; {store('j', 'j', numbers.whole('beta'))} }}",
            f"if (i > j) {{ if {is_reflected} {{ let y = {load('i', 'j')}; x = {numbers.over('y', 'divisor')}; }} "
            f"{store('i', 'j', 'x')} }}",
            v_store.store(at, "x"),
        )
        if numbers.is_complex:
            kernel.line(stores[conj.buffer].store(template.place("c", conj, "i", "j"), numbers.conj("x")))
        # products of the reflector with the columns on its right, and with the reflectors on its left: parts of the
        # workgroup have a column each
        kernel.line(
            "}", barrier,
            f"{{ let c = local / {parts}u; var own = {numbers.zero};",
            "if (c < columns && c > j) { "
            f"for (var i = j + local % {parts}u; i < rows; i += {parts}u) {{ let x = {v_store.load(at)};",
            f"let y = {load('i', 'c')}; own += {numbers.times(numbers.conj('x'), 'y')}; }} }}",
            "if (c < j) { "
            f"for (var i = j + local % {parts}u; i < rows; i += {parts}u) {{ let x = {v_store.load(at)};",
            f"let y = {v_store.load(template.place('v', v, 'i', 'c'))}; "
            f"own += {numbers.times(numbers.conj('y'), 'x')}; }} }}",
            "sums[local] = own; workgroupBarrier();",
            f"if (local % {parts}u == 0u) {{ for (var n = 1u; n < {parts}u; n++) {{ own += sums[local + n]; }} "
            "dots[c] = own; } }",
            "workgroupBarrier();",
            "for (var c = j + 1u; c < columns; c++) {",
            f"let factor = {numbers.times(numbers.conj('tau'), 'dots[c]')};",
            f"for (var i = j + local; i < rows; i += {workgroup}u) {{ let x = {v_store.load(at)}; "
            f"let y = {load('i', 'c')};",
            store("i", "c", numbers.less("y", "x", "factor")), "} }",
            # column j of T: -tau T (V^H v), and tau
            f"if (local < j) {{ var sum = {numbers.zero}; for (var p = local; p < j; p++) {{ "
            f"sum += {numbers.times(f'triangle[local * {size}u + p]', 'dots[p]')}; }}",
            f"let found = -{numbers.times('tau', 'sum')};",
            f"triangle[local * {size}u + j] = found; }}",
            f"if (local == j) {{ triangle[j * {size}u + j] = tau; "
            f"{stores[scales.buffer].store(template.place('s', scales, 'j', '0u'), 'tau')} }}",
            "}", "workgroupBarrier();",
            f"for (var e = local; e < columns * columns; e += {workgroup}u) {{",
            "let i = e % columns; let j = e / columns;",
            f"var x = {numbers.zero}; if (i <= j) {{ x = triangle[i * {size}u + j]; }}",
            stores[t.buffer].store(template.place("t", t, "i", "j"), "x"),
            stores[q.t_adjoint.buffer].store(template.place("ta", q.t_adjoint, "j", "i"), numbers.conj("x")),
            "}",
        )  # fmt: skip

    values = {
        "rows": a.rows, "columns": a.columns, **where("a", a), **where("v", v), **where("t", t),
        **where("ta", q.t_adjoint[:, done:]), **where("s", scales), **(where("c", conj) if numbers.is_complex else {}),
    }  # fmt: skip
    frame.run(("reflectors", a.buffer, workgroup), "panel", write, values, frame.batch)
