"""LU factors with row interchanges: panels of columns by one workgroup for each matrix, products for the rest.

A panel is factorised after Crout: a column, and then the row of its pivot, are computed from what is on their left and
above. Its elements are read in the order in which they lie in memory.
"""

from gpuarray.codegen.calls.linear_algebra.blocks import substitute, update
from gpuarray.codegen.calls.linear_algebra.matrices import Buffer, Frame, Matrix, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.storage import register_type
from gpuarray.codegen.wgsl import WORKGROUP


def factorise(frame: Frame, a: Matrix, pivots: Buffer, status: Buffer) -> None:
    """Make a matrix its factors L and U, in place, and write the rows that were pivots."""
    steps, block = min(a.rows, a.columns), frame.block
    for k in range(0, steps, block):
        end = min(k + block, steps)
        here, rest = slice(k, end), slice(end, None)
        _panel(frame, a[k:, here], pivots, status, k, steps)
        interchange(frame, a[:, :k], pivots, k, end, steps)
        interchange(frame, a[:, rest], pivots, k, end, steps)
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
    """Solve a system with a lower triangle, in place: a block of rows at a time, from the first to the last."""
    n, block = triangle.rows, frame.block
    for k in range(0, n, block):
        here, rest = slice(k, min(k + block, n)), slice(k + block, n)
        substitute(frame, triangle[here, here], right[here, :], unit=unit, conjugated=conjugated)
        update(frame, right[rest, :], triangle[rest, here], right[here, :])


def upper(frame: Frame, triangle: Matrix, right: Matrix, *, unit: bool = False, conjugated: bool = False) -> None:
    """Solve a system with an upper triangle, in place: a block of rows at a time, from the last to the first."""
    n, block = triangle.rows, frame.block
    for k in reversed(range(0, n, block)):
        here, rest = slice(k, min(k + block, n)), slice(0, k)
        block_here = triangle[here, here]
        substitute(frame, block_here.reversed, right[here, :].upside_down, unit=unit, conjugated=conjugated)
        update(frame, right[rest, :], triangle[rest, here], right[here, :])


def _panel(frame: Frame, a: Matrix, pivots: Buffer, status: Buffer, done: int, steps: int) -> None:
    """Factorise a panel; the status becomes the first column whose pivot is 0, from 1 on."""
    numbers, size = Numbers(frame.dtype), frame.block
    workgroup = min(frame.capabilities.workgroup_size, 1024 if a.rows > 1024 else 256 if a.rows > 64 else 64)
    itemsize = frame.dtype.itemsize
    free = frame.capabilities.workgroup_memory - (size + 1) * size * itemsize - workgroup * 12 - 64
    together = min(free, 32768) // (size * itemsize)
    shared = a.rows <= together
    real = register_type(numbers.real_dtype)

    def write(template: Template) -> None:
        kernel = template.kernel
        kernel.workgroup = workgroup
        kernel.module += [
            *numbers.functions,
            f"var<workgroup> top: array<{numbers.kind}, {size * size}>;",  # the rows of U
            f"var<workgroup> sizes: array<{real}, {workgroup}>;",
            f"var<workgroup> places: array<u32, {workgroup}>;",
            *([f"var<workgroup> panel: array<{numbers.kind}, {size * together}>;"] if shared else []),
        ]
        access, rows_of = template.bind(a.buffer, writable=True), template.bind(pivots, writable=True)
        failed = template.bind(status, writable=True)
        template.numbers("rows", "columns", "done", "steps")
        kernel.line("let plane = block;")
        template.matrix("a")

        def load(row: str, column: str) -> str:
            return f"panel[({column}) * rows + {row}]" if shared else access.load(template.place("a", a, row, column))

        def store(row: str, column: str, value: str) -> str:
            if shared:
                return f"panel[({column}) * rows + {row}] = {value};"
            return access.store(template.place("a", a, row, column), value)

        each = (f"for (var e = local; e < rows * columns; e += {workgroup}u) {{", "let i = e % rows; let j = e / rows;")
        element = template.place("a", a, "i", "j")
        if shared:
            kernel.line(*each, f"panel[e] = {access.load(element)};", "}")
        barrier = "workgroupBarrier();" if shared else "storageBarrier(); workgroupBarrier();"
        groups = min(32, workgroup)
        kernel.line(
            "var found = 0u;",
            f"for (var j = 0u; j < columns; j++) {{ {barrier}",
            # the column below the rows of U, and its largest element
            f"var largest = {real}(-1); var place = j;",
            f"for (var i = j + local; i < rows; i += {workgroup}u) {{",
            f"var sum = {load('i', 'j')};",
            "for (var p = 0u; p < j; p++) {",
            f"let factor = {load('i', 'p')};",
            f"sum = {numbers.less('sum', 'factor', f'top[p * {size}u + j]')};",
            "}",
            store("i", "j", "sum"),
            f"let magnitude = {numbers.size('sum')};",
            "if (magnitude > largest) { largest = magnitude; place = i; }",
            "}",
            "sizes[local] = largest; places[local] = place;",
            "workgroupBarrier();",
            f"if (local < {groups}u) {{",
            f"for (var other = local + {groups}u; other < {workgroup}u; other += {groups}u) {{",
            f"if ({_first('sizes[other]', 'places[other]')}) {{ largest = sizes[other]; place = places[other]; }}",
            "}",
            "sizes[local] = largest; places[local] = place;",
            "}",
            "workgroupBarrier();",
            "largest = sizes[0]; place = places[0];",
            f"for (var other = 1u; other < {groups}u; other++) {{",
            f"if ({_first('sizes[other]', 'places[other]')}) {{ largest = sizes[other]; place = places[other]; }}",
            "}",
            barrier,
            f"if (local == 0u) {{ {rows_of.store('plane * steps + done + j', 'i32(done + place)')} }}",
            "if (largest == 0 && found == 0u) { found = done + j + 1u; }",
            # exchange the rows, and make the row of U
            "if (local < columns) {",
            f"let kept = {load('j', 'local')}; var sum = {load('place', 'local')};",
            f"if (place != j) {{ {store('place', 'local', 'kept')} }}",
            "if (local > j) {",
            "for (var p = 0u; p < j; p++) {",
            "let factor = left[p];",
            f"sum = {numbers.less('sum', 'factor', f'top[p * {size}u + local]')};",
            "}",
            "}",
            f"if (local >= j) {{ top[j * {size}u + local] = sum; }}",
            store("j", "local", "sum"),
            "}",
            barrier,
            f"let pivot = top[j * {size}u + j];",
            f"if (largest != 0) {{ for (var i = j + 1u + local; i < rows; i += {workgroup}u) {{",
            f"let value = {load('i', 'j')};",
            store("i", "j", numbers.over("value", "pivot")),
            "} }",
            "}",
        )
        # the multipliers of the pivot's row are read before the rows are exchanged
        position = kernel.body.index("if (local < columns) {")
        kernel.body[position:position] = [
            f"if (local < j) {{ left[local] = {load('place', 'local')}; }}",
            barrier,
        ]
        kernel.module.append(f"var<workgroup> left: array<{numbers.kind}, {size}>;")
        if shared:
            kernel.line("workgroupBarrier();", *each, access.store(element, "panel[e]"), "}")
        kernel.line(
            "if (local == 0u) {",
            "var known = 0i;",
            f"if (done > 0u) {{ known = {failed.load('plane')}; }}",
            failed.store("plane", "select(known, i32(found), known == 0)"),
            "}",
        )

    values = {"rows": a.rows, "columns": a.columns, "done": done, "steps": steps, **where("a", a)}
    frame.run(("panel", a.buffer, workgroup, shared), "panel", write, values, frame.batch)


def _first(size: str, place: str) -> str:
    return f"{size} > largest || ({size} == largest && {place} < place)"


def interchange(
    frame: Frame, a: Matrix, pivots: Buffer, begin: int, end: int, steps: int, *, back: bool = False
) -> None:
    """Exchange each row from ``begin`` to ``end`` with that of its pivot, in order; ``back`` in the opposite order.

    Each of the rows that change comes from one other. All are read before one is written.
    """
    together = 4 * WORKGROUP // 64

    def write(template: Template) -> None:
        kernel = template.kernel
        access, rows_of = template.bind(a.buffer, writable=True), template.bind(pivots, writable=False)
        kernel.module += ["var<workgroup> pivots: array<u32, 32>;"]
        template.numbers("columns", "begin", "end", "steps", "back")
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
            f"var kept: array<{register_type(frame.dtype)}, 4>;",
        )
        inside = f"let column = first + t * {WORKGROUP // 64}u; if (is_active && column < columns && source != goal) {{"
        kernel.line("for (var t = 0u; t < 4u; t++) {", inside)
        kernel.line(f"kept[t] = {access.load(template.place('a', a, 'source', 'column'))};", "} }")
        kernel.line("storageBarrier(); workgroupBarrier();", "for (var t = 0u; t < 4u; t++) {", inside)
        kernel.line(access.store(template.place("a", a, "goal", "column"), "kept[t]"), "} }")

    values = {"columns": a.columns, "begin": begin, "end": end, "steps": steps, "back": int(back), **where("a", a)}
    groups = frame.batch * -(-a.columns // together)
    frame.run(("interchange", a.buffer, pivots), "row interchanges", write, values, groups)


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


def determinant(frame: Frame, factors: Matrix, pivots: Buffer, sign: Matrix | None, size: Matrix | None) -> None:
    """Write the determinant of factors; with ``size`` its sign, and the logarithm of its absolute value."""
    numbers = Numbers(frame.dtype)
    real, suffix = numbers.real, numbers.real

    def write(template: Template) -> None:
        kernel = template.kernel
        kernel.workgroup = 64
        access, rows_of = template.bind(factors.buffer, writable=False), template.bind(pivots, writable=False)
        kernel.module += [
            *numbers.functions,
            f"struct Scaled {{ number: {numbers.kind}, exponent: i32 }}",
            # a number with a magnitude near 1, times a power of 2**32
            "fn scaled(x: Scaled) -> Scaled {",
            "var y = x;",
            f"for (var k = 0u; k < 34u && {numbers.size('y.number')} > 65536; k++) "
            f"{{ y.number *= {real}({2.0**-32!r}); y.exponent += 1; }}",
            f"for (var k = 0u; k < 34u && {numbers.size('y.number')} < {2.0**-16!r} "
            f"&& {numbers.size('y.number')} > 0; k++) {{ y.number *= {real}({2.0**32!r}); y.exponent -= 1; }}",
            "return y; }",
            "var<workgroup> parts: array<Scaled, 64>;",
        ]
        template.numbers("rows")
        kernel.line("let plane = block;")
        template.matrix("a")
        kernel.line(
            f"var product = Scaled({numbers.one}, 0);",
            "for (var k = local; k < rows; k += 64u) {",
            f"let factor = scaled(Scaled({access.load(template.place('a', factors, 'k', 'k'))}, 0));",
            f"var number = {numbers.times('product.number', 'factor.number')};",
            f"if (u32({rows_of.load('plane * rows + k')}) != k) {{ number = -number; }}",
            "product = scaled(Scaled(number, product.exponent + factor.exponent));",
            "}",
            "parts[local] = product;",
            "workgroupBarrier();",
            "if (local > 0u) { return; }",
            "for (var other = 1u; other < 64u; other++) {",
            f"let number = {numbers.times('product.number', 'parts[other].number')};",
            "product = scaled(Scaled(number, product.exponent + parts[other].exponent));",
            "}",
        )
        if size is None:
            assert sign is not None
            result = template.bind(sign.buffer, writable=True)
            # beyond forty powers of 2**32 every number is infinite, or zero
            kernel.line(
                "product.exponent = clamp(product.exponent, -40, 40);",
                f"for (; product.exponent > 0; product.exponent--) {{ product.number *= {real}({2.0**32!r}); }}",
                f"for (; product.exponent < 0; product.exponent++) {{ product.number *= {real}({2.0**-32!r}); }}",
                result.store("plane", "product.number"),
            )
            return
        absolute = (
            f"hypot_{suffix}(product.number.x, product.number.y)" if numbers.is_complex else "abs(product.number)"
        )
        kernel.line(f"let magnitude = {absolute};")
        logs = template.bind(size.buffer, writable=True)
        ln = 22.18070977791824990135
        kernel.line(logs.store("plane", f"log_{suffix}(magnitude) + {real}({ln!r}) * {real}(product.exponent)"))
        if sign is not None:
            signs = template.bind(sign.buffer, writable=True)
            kernel.line(
                f"var direction = {numbers.zero};",
                "if (magnitude != 0) { direction = product.number / magnitude; }",
                signs.store("plane", "direction"),
            )

    values = {"rows": factors.rows, **where("a", factors)}
    key = ("determinant", sign is not None, size is not None)
    frame.run(key, "determinant", write, values, frame.batch)
