"""Panels of LU factors: strips of columns in registers of one workgroup for each matrix.

An invocation has some rows of a strip, each a workgroup's size from the next. Its columns are eliminated one after the
other, which needs a barrier for the pivot and one for its row: a step eliminates the column in the first registers,
moves the others there, and its own to the last. The rows of the other columns of the panel are then exchanged, and
those on the right updated.
"""

from collections.abc import Iterable

import numpy as np

from gpuarray import dtypes
from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers, inverse
from gpuarray.codegen.calls.linear_algebra.strips import Strip, strip_of
from gpuarray.codegen.collectives import Collectives
from gpuarray.codegen.storage import Access
from gpuarray.codegen.wgsl import Kernel


def find_pivot(
    kernel: Kernel, collectives: Collectives, numbers: Numbers, candidates: Iterable[tuple[str, str, str]]
) -> None:
    """Write how a group learns the ``largest`` element of column ``j`` from row ``j`` on, and its ``place``.

    Each invocation has some ``candidates``: the row, the condition under which it takes part, and the element.
    """
    most = f"{numbers.real}({float(np.finfo(numbers.real_dtype).max)!r})"
    kernel.line(f"var largest = {numbers.real}(-1); var place = j;")
    for row, condition, element in candidates:
        kernel.line(
            f"if ({condition}) {{ var size = {numbers.size(element)};",
            f"if (!(size < {most})) {{ size = {most}; }}",  # a column with a NaN is not singular
            f"if (size > largest) {{ largest = size; place = {row}; }} }}",
        )
    collectives.reduce(
        {"largest": numbers.real_dtype, "place": dtypes.uint32},
        lambda second: (
            f"if ({second[0]} > largest || ({second[0]} == largest && {second[1]} < place)) "
            f"{{ largest = {second[0]}; place = {second[1]}; }}"
        ),
    )


def factorise_panel(builder: Builder, a: Matrix, pivots: StepBuffer, status: StepBuffer, done: int, steps: int) -> None:
    """Factorise a panel; the status becomes the first column whose pivot is 0, from 1 on."""
    strip = strip_of(a.rows, builder.dtype.itemsize, builder.capabilities)

    def write(template: Template) -> None:
        _Panel(template, builder, a, strip).write(pivots, status)

    values = {"rows": a.rows, "columns": a.columns, "done": done, "steps": steps, **where("a", a)}
    builder.run(("panel", a.buffer, strip), "panel", write, values, builder.batch)


class _Panel:
    """Writes the kernel of a panel."""

    def __init__(self, template: Template, builder: Builder, a: Matrix, strip: Strip) -> None:
        self.template, self.kernel, self.builder, self.strip, self.a = template, template.kernel, builder, strip, a
        self.numbers = Numbers(builder.dtype)
        self.kernel.workgroup = strip.workgroup
        self.access: Access = template.bind(a.buffer, writable=True)
        self.size = builder.block

    def load(self, row: str, column: str) -> str:
        return self.access.load(self.template.index("a", self.a, row, column))

    def store(self, row: str, column: str, value: str) -> str:
        return self.access.store(self.template.index("a", self.a, row, column), value)

    def write(self, pivots: StepBuffer, status: StepBuffer) -> None:
        """Write the kernel."""
        template, kernel, numbers, strip = self.template, self.kernel, self.numbers, self.strip
        rows_of, failed = template.bind(pivots, writable=True), template.bind(status, writable=True)
        width = strip.columns
        kernel.module += [
            *numbers.functions,
            f"var<workgroup> pivot_row: array<{numbers.kind}, {width}>;",
            f"var<workgroup> kept_row: array<{numbers.kind}, {width}>;",
            f"var<workgroup> corner: array<{numbers.kind}, {width * width}>;",  # L of the rows of the strip's pivots
            f"var<workgroup> top: array<{numbers.kind}, {width * self.size}>;",  # and U on its right
            f"var<workgroup> places: array<u32, {width}>;",
        ]
        template.numbers("rows", "columns", "done", "steps")
        kernel.line("let plane = block;", "var found = 0u;")
        template.matrix("a")
        kernel.line(
            *(f"var {x} = {numbers.zero};" for r in range(strip.rows) for _, x in strip.registers(r)),
            f"for (var f = 0u; f < columns; f += {width}u) {{",
            f"let width = min({width}u, columns - f);",
        )
        self._move_strip(back=False)
        collectives = Collectives(kernel, strip.workgroup, self.builder.capabilities)
        kernel.line("for (var j = f; j < f + width; j++) {")
        rows = range(strip.rows)
        candidates = [(strip.at(r), f"{strip.at(r)} >= j && {strip.at(r)} < rows", f"x{r}_0") for r in rows]
        find_pivot(kernel, collectives, self.numbers, candidates)
        kernel.line(
            f"if (local == 0u) {{ places[j - f] = place; "
            f"{rows_of.store('plane * steps + done + j', 'i32(done + place)')} }}",
            "if (largest == 0 && found == 0u) { found = done + j + 1u; }",
        )
        self._eliminate()
        kernel.line("}")
        self._move_strip(back=True)
        kernel.line("storageBarrier(); workgroupBarrier();")
        self._interchange()
        kernel.line("storageBarrier(); workgroupBarrier();")
        self._update()
        kernel.line(
            "storageBarrier(); workgroupBarrier();",
            "}",
            "if (local == 0u) {",
            "var known = 0i;",
            f"if (done > 0u) {{ known = {failed.load('plane')}; }}",
            failed.store("plane", "select(known, i32(found), known == 0)"),
            "}",
        )

    def _move_strip(self, *, back: bool) -> None:
        """Write the loads of the strip, or its stores and those of the rows of its pivots."""
        if back:
            self.kernel.line(f"let past = {self.strip.columns}u - width;")
        for r in range(self.strip.rows):
            row = self.strip.at(r)
            self.kernel.line(f"if ({row} >= f && {row} < rows) {{")
            for k, x in self.strip.registers(r):
                if back:
                    corner = f"if ({row} < f + width) {{ corner[({row} - f) * {self.strip.columns}u + c] = {x}; }}"
                    self.kernel.line(
                        f"if ({k}u >= past) {{ let c = {k}u - past; {self.store(row, 'f + c', x)} {corner} }}"
                    )
                else:
                    self.kernel.line(f"if (width > {k}u) {{ {x} = {self.load(row, f'f + {k}u')}; }}")
            self.kernel.line("}")

    def _eliminate(self) -> None:
        """Write the exchange of the row of the pivot, and the elimination of the column in the rows below."""
        kernel, strip, numbers = self.kernel, self.strip, self.numbers
        for r in range(strip.rows):
            stores = " ".join(f"pivot_row[{k}] = {x};" for k, x in strip.registers(r))
            kept = " ".join(f"kept_row[{k}] = {x};" for k, x in strip.registers(r))
            kernel.line(f"if ({strip.at(r)} == place) {{ {stores} }}", f"if ({strip.at(r)} == j) {{ {kept} }}")
        kernel.line("workgroupBarrier();", "let pivot = pivot_row[0]; let size = largest;", *inverse(numbers, "pivot"))
        kernel.line(f"let left = {strip.columns}u - (j - f);")
        for r in range(strip.rows):
            changed = [numbers.less(x, "factor", f"pivot_row[{k}]") for k, x in strip.registers(r)]
            kernel.line(
                f"if ({strip.at(r)} == place) {{ {' '.join(f'{x} = kept_row[{k}];' for k, x in strip.registers(r))} }}",
                f"if ({strip.at(r)} == j) {{ {' '.join(f'{x} = pivot_row[{k}];' for k, x in strip.registers(r))} }}",
                f"{{ let is_below = {strip.at(r)} > j; let own = x{r}_0;",
                f"let factor = {numbers.times('own * gain', 'inverse')};",
                *(
                    f"x{r}_{k - 1} = select({x}, {changed[k]}, is_below && {k}u < left);"
                    for k, x in strip.registers(r, 1)
                ),
                f"x{r}_{strip.columns - 1} = select(own, factor, is_below); }}",
            )

    def _interchange(self) -> None:
        """Write the exchange of rows in the other columns: all that change are read before one is written."""
        width = self.strip.columns
        is_active = f"c < columns && (c < f || c >= f + width) && n % {width}u < width"
        self.kernel.line(
            f"for (var t = 0u; t < columns * {2 * width}u; t += {self.strip.workgroup}u) {{",
            f"let e = t + local; let c = e / {2 * width}u; let n = e % {2 * width}u;",
            f"let is_active = {is_active};",
            f"var goal = f + n; if (n >= {width}u) {{ goal = places[n - {width}u]; }}",
            "var source = goal;",
            "for (var step = width; step > 0u; step--) {",
            "let row = f + step - 1u; let pivot = places[step - 1u];",
            "if (source == row) { source = pivot; } else if (source == pivot) { source = row; }",
            "}",
            f"var kept = {self.numbers.zero};",
            f"if (is_active) {{ kept = {self.load('source', 'c')}; }}",
            "storageBarrier(); workgroupBarrier();",
            f"if (is_active) {{ {self.store('goal', 'c', 'kept')} }}",
            "}",
        )

    def _update(self) -> None:
        """Write what the strip changes in the columns on its right: their rows of U, and the products below."""
        kernel, strip, numbers = self.kernel, self.strip, self.numbers
        width = strip.columns
        kernel.line("let right = f + width;", "if (local + right < columns) { let c = right + local;")
        for k in range(width):
            kernel.line(f"var y{k} = {numbers.zero}; if (width > {k}u) {{ y{k} = {self.load(f'f + {k}u', 'c')};")
            for p in range(k):
                kernel.line(f"y{k} = {numbers.less(f'y{k}', f'corner[{k * width + p}]', f'y{p}')};")
            kernel.line(self.store(f"f + {k}u", "c", f"y{k}"), "}", f"top[local * {width}u + {k}u] = y{k};")
        # two columns at a time, the loads of both before a store
        kernel.line("}", "workgroupBarrier();", "for (var c = right; c < columns; c += 2u) {")
        kernel.line("let d = min(c + 1u, columns - 1u);")
        for r in range(strip.rows):
            for column in "cd":
                kernel.line(f"var {column}{r} = {numbers.zero};")
            row = strip.at(r)
            loads = " ".join(f"{column}{r} = {self.load(row, column)};" for column in "cd")
            kernel.line(f"if ({row} >= right && {row} < rows) {{ {loads} }}")
        for r in range(strip.rows):
            row = strip.at(r)
            for column in "cd":
                for k, x in strip.registers(r):  # all of them: there are columns on the right of whole strips alone
                    factor = f"top[({column} - right) * {width}u + {k}u]"
                    kernel.line(f"{column}{r} = {numbers.less(f'{column}{r}', x, factor)};")
            kernel.line(f"if ({row} >= right && {row} < rows) {{ {self.store(row, 'c', f'c{r}')}")
            kernel.line(f"if (d > c) {{ {self.store(row, 'd', f'd{r}')} }} }}")
        kernel.line("}")
