"""Panels of QR factors: strips of columns in registers of one workgroup for each matrix.

An invocation has some rows of a strip. A step makes the reflector of the column in the first registers, applies it to
the others, moves those there, and its own to the last. It takes one reduction, for the products of the column with all
columns of the strip. Columns are scaled by their largest elements, so that squares neither overflow nor vanish; these
are those of the strip before its first step, as reflections do not make columns longer. The reflectors of the strip are
then applied together to the columns on the right, several at a time, so that their loads are under way at once.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.calls.linear_algebra.strips import Strip, strip_of
from gpuarray.codegen.calls.linear_algebra.sums import CollectiveSums, span_of
from gpuarray.codegen.collectives import Collectives, uses_subgroups

if TYPE_CHECKING:
    from gpuarray.codegen.calls.linear_algebra.householder import Reflectors


def factorise_panel(builder: Builder, a: Matrix, q: "Reflectors", done: int) -> None:
    """Factorise a panel, and write its V and T."""
    strip = _fitting(strip_of(a.rows, builder.dtype.itemsize, builder.capabilities), builder)
    parts = {
        "a": a, "v": q.v[done:, done:], "t": q.t[:, done:], "s": q.scales[done:, :],
        "c": q.adjoint.T[done:, done:],
    }  # fmt: skip

    def write(template: Template) -> None:
        _Panel(template, builder, parts, strip).write()

    values = {"rows": a.rows, "columns": a.columns}
    for name, matrix in parts.items():
        values |= where(name, matrix)
    builder.run(("reflectors", a.buffer, strip), "panel", write, values, builder.batch)


#: Other columns whose loads are under way at once, and the smallest workgroup.
_BESIDE, _LEAST = 2, 32


def _fitting(strip: Strip, builder: Builder) -> Strip:
    """Return a strip that fits workgroup memory; fewer invocations have more rows each."""
    while strip.workgroup > _LEAST and _kept_bytes(strip, builder) > builder.capabilities.workgroup_memory:
        columns = max(1, strip.columns // 2)
        strip = replace(strip, workgroup=strip.workgroup // 2, rows=strip.rows * 2, columns=columns)
    return strip


def _kept_bytes(strip: Strip, builder: Builder) -> int:
    """Return the bytes that a workgroup keeps in its memory; without subgroups reductions take place there."""
    size, width, numbers, workgroup = builder.block, strip.columns, Numbers(builder.dtype), strip.workgroup
    spans = workgroup // span_of(width, workgroup, builder.dtype, builder.capabilities)
    elements = spans * size * width + size * (size + 2 * width) + 2 * width * width + 3 * width
    real = numbers.real_dtype.itemsize
    if uses_subgroups([builder.dtype], builder.capabilities):
        parts = workgroup // builder.capabilities.subgroup_size * width
        return (elements + 2 * parts + 64) * builder.dtype.itemsize + parts * real
    peaks = workgroup * width * real if numbers.is_complex else 0  # real numbers are reduced where the products are
    return (elements + workgroup * width + 64) * builder.dtype.itemsize + peaks


class _Panel:
    """Writes the kernel of a panel."""

    def __init__(self, template: Template, builder: Builder, parts: dict[str, Matrix], strip: Strip) -> None:
        self.template, self.kernel, self.strip, self.parts = template, template.kernel, strip, parts
        self.numbers, self.dtype, self.size = Numbers(builder.dtype), builder.dtype, builder.block
        self.kernel.workgroup = strip.workgroup
        self.accesses = {name: template.bind(matrix.buffer, writable=True) for name, matrix in parts.items()}
        self.collectives = Collectives(self.kernel, strip.workgroup, builder.capabilities)
        self.dots = [f"dot{k}" for k in range(strip.columns)]
        self.sums = CollectiveSums(self.collectives, self.dots, builder.dtype)

    def load(self, name: str, row: str, column: str) -> str:
        """Return an element of a matrix."""
        return self.accesses[name].load(self.template.index(name, self.parts[name], row, column))

    def store(self, name: str, row: str, column: str, value: str) -> str:
        """Return the statement that changes an element of a matrix."""
        return self.accesses[name].store(self.template.index(name, self.parts[name], row, column), value)

    def write(self) -> None:
        """Write the kernel."""
        kernel, numbers, strip, size = self.kernel, self.numbers, self.strip, self.size
        width = strip.columns
        kernel.module += [
            *numbers.functions,
            f"var<workgroup> pivot_row: array<{numbers.kind}, {2 * width}>;",
            f"var<workgroup> products: array<{numbers.kind}, {width * width}>;",  # of the reflectors of the strip
            f"var<workgroup> scales: array<{numbers.kind}, {width}>;",
            f"var<workgroup> corner: array<{numbers.kind}, {width * width}>;",  # T of the strip
            f"var<workgroup> others: array<{numbers.kind}, {width * size}>;",  # products with the other columns
            f"var<workgroup> turned_others: array<{numbers.kind}, {width * size}>;",
            f"var<workgroup> partial: array<{numbers.kind}, {strip.workgroup // self.sums.span * width * size}>;",
            f"var<workgroup> triangle: array<{numbers.kind}, {size * size}>;",  # T of the panel
        ]
        self.template.numbers("rows", "columns")
        kernel.line("let plane = block;")
        for name in self.parts:
            self.template.matrix(name)
        kernel.line(
            *(f"var {x} = {numbers.zero};" for r in range(self.strip.rows) for _, x in self.strip.registers(r)),
            f"for (var f = 0u; f < columns; f += {width}u) {{",
            f"let width = min({width}u, columns - f); let past = {width}u - width;",
        )
        self._load_strip()
        self._find_peaks()
        # two rows in turn: one is still read when the other is written
        kernel.line("for (var j = f; j < f + width; j++) {", f"let pivot_at = (j & 1u) * {width}u;")
        self._make_reflector()
        self._reflect_strip()
        kernel.line("}")
        self._store_strip()
        self._join_reflectors()
        self._multiply_others()
        self._reflect_others()
        self._extend_triangle()
        kernel.line("}")
        self._store_triangle()

    def _load_strip(self) -> None:
        for r in range(self.strip.rows):
            row = self.strip.at(r)
            loads = (f"if (width > {k}u) {{ {x} = {self.load('a', row, f'f + {k}u')}; }}" for k, x in self._row(r))
            self.kernel.line(f"if ({row} >= f && {row} < rows) {{", *loads, "}")

    def _row(self, r: int) -> list[tuple[int, str]]:
        return self.strip.registers(r)

    def _find_peaks(self) -> None:
        """Write the largest elements of the columns of the strip."""
        kernel, numbers, strip = self.kernel, self.numbers, self.strip
        peaks = [f"peak{k}" for k in range(strip.columns)]
        kernel.line(*(f"var {peak} = {numbers.real}();" for peak in peaks))
        for r in range(strip.rows):
            sizes = (f"max(abs({x}.x), abs({x}.y))" if numbers.is_complex else f"abs({x})" for _, x in self._row(r))
            largest = (f"{peak} = max({peak}, {size});" for peak, size in zip(peaks, sizes, strict=True))
            kernel.line(f"if ({strip.at(r)} >= f && {strip.at(r)} < rows) {{", *largest, "}")
        self.collectives.reduce(
            dict.fromkeys(peaks, numbers.real_dtype),
            lambda second: " ".join(f"{p} = max({p}, {o});" for p, o in zip(peaks, second, strict=True)),
        )

    def _make_reflector(self) -> None:
        """Write the reflector of column ``j``: beta, tau, the divisor of the column, and products with all columns."""
        kernel, numbers, strip, real = self.kernel, self.numbers, self.strip, self.numbers.real
        for r in range(strip.rows):
            stores = " ".join(f"pivot_row[pivot_at + {k}u] = {x};" for k, x in self._row(r))
            kernel.line(f"if ({strip.at(r)} == j) {{ {stores} }}")
        tiny = float(np.finfo(numbers.real_dtype).tiny)
        kernel.line("let peak = peak0;", *(f"peak{k - 1} = peak{k};" for k in range(1, strip.columns)))
        kernel.line(
            f"let is_tiny = peak < {real}({tiny!r});",
            f"let scale = select(peak, {real}(1), is_tiny); let shrink = 1 / scale;",
        )
        kernel.line(*(f"var {dot} = {numbers.zero};" for dot in self.dots))
        for r in range(strip.rows):
            row = strip.at(r)
            products = (f"{self.dots[k]} += {numbers.times('x', y)};" for k, y in strip.registers(r, 1))
            kernel.line(
                f"if ({row} > j && {row} < rows) {{ let own = x{r}_0 * shrink; let x = {numbers.conj('own')};",
                f"dot0 += {numbers.whole(numbers.square('own'))};", *products, "}",
            )  # fmt: skip
        self.sums.over_all()
        tail = "below != 0" + (" || (alpha.y != 0 && !is_tiny)" if numbers.is_complex else "")
        largest = "max(abs(alpha.x), abs(alpha.y))" if numbers.is_complex else "abs(alpha)"
        # the square of the length of a shorter column has few digits, or its inverse is infinite: it counts as zeros,
        # which is less than the rounding of what the column was before the strip
        least, shortest = tiny / float(np.finfo(numbers.real_dtype).eps), 4 * tiny
        kernel.line(
            f"let alpha = pivot_row[pivot_at]; let below = {numbers.part('dot0')};",
            f"var beta = {numbers.part('alpha')}; var tau = {numbers.zero}; var divisor = {numbers.one};",
            f"let most = max({largest}, peak); let share = alpha / most; let rest = peak / most;",
            f"let square = {numbers.square('share')} + rest * rest * below; let length = most * sqrt(square);",
            f"if (({tail}) && !(square <= {real}({least!r})) && !(length < {real}({shortest!r}))) {{",
            f"beta = select(length, -length, {numbers.part('alpha')} >= 0);",
            f"tau = ({numbers.whole('beta')} - alpha) / beta;",
            f"divisor = alpha - {numbers.whole('beta')};",
            "}",
        )

    def _reflect_strip(self) -> None:
        """Write what the reflector does to the columns on its right, and keep its products with those on its left."""
        kernel, numbers, strip = self.kernel, self.numbers, self.strip
        width = strip.columns
        kernel.line(
            f"let left = {width}u - (j - f); let is_reflected = {numbers.size('tau')} != 0;",
            f"let ratio = {numbers.over(numbers.whole('scale'), numbers.conj('divisor'))};",
            f"let turned = {numbers.conj('tau')};",
            "if (local == 0u) { scales[j - f] = tau; }",
        )
        for k in range(1, width):
            total = f"pivot_row[pivot_at + {k}u] + {numbers.times('ratio', self.dots[k])}"
            kernel.line(
                f"let total{k} = {total}; let factor{k} = {numbers.times('turned', f'total{k}')};",
                f"if (local == 0u && {k}u >= left) "
                f"{{ products[({k}u - left) * {width}u + j - f] = {numbers.conj(f'total{k}')}; }}",
            )
        for r in range(strip.rows):
            row = strip.at(r)
            kernel.line(
                f"{{ let own = x{r}_0; var v = {numbers.zero};",
                f"if ({row} == j) {{ v = {numbers.one}; }}",
                f"if ({row} > j && is_reflected) {{ v = {numbers.over('own', 'divisor')}; }}",
            )
            for k, x in strip.registers(r, 1):
                kernel.line(f"x{r}_{k - 1} = select({x}, {numbers.less(x, 'v', f'factor{k}')}, {k}u < left);")
            last = f"x{r}_{width - 1}"
            kernel.line(
                f"{last} = select(own, v, {row} > j); if ({row} == j) {{ {last} = {numbers.whole('beta')}; }} }}"
            )

    def _store_strip(self) -> None:
        """Write the stores of the factors, and those of V, which the registers hold from then on."""
        for r in range(self.strip.rows):
            row = self.strip.at(r)
            for k, x in self._row(r):
                zero, one = self.numbers.zero, self.numbers.one
                copy = self.store("c", row, "c", self.numbers.conj(x)) if self.numbers.is_complex else ""
                self.kernel.line(
                    f"if ({k}u >= past && {row} < rows) {{ let c = f + {k}u - past;",
                    f"if ({row} >= f) {{ {self.store('a', row, 'c', x)} }}",
                    f"{x} = select(select({zero}, {one}, {row} == c), {x}, {row} > c);",
                    f"{self.store('v', row, 'c', x)} {copy}",
                    f"}} else {{ {x} = {zero}; }}",
                )
        self.kernel.line("storageBarrier(); workgroupBarrier();")

    def _join_reflectors(self) -> None:
        """Write T of the strip; each of its rows is that of one invocation."""
        numbers, width = self.numbers, self.strip.columns
        product = numbers.times(f"corner[local * {width}u + p]", f"products[p * {width}u + c]")
        self.kernel.line(
            f"if (local < {width}u) {{",
            f"for (var c = 0u; c < {width}u; c++) {{",
            f"var sum = {numbers.zero};",
            f"for (var p = local; p < c; p++) {{ sum += {product}; }}",
            f"var value = -{numbers.times('scales[c]', 'sum')};",
            "if (c == local) { value = scales[c]; }",
            f"if (c < local || c >= width || local >= width) {{ value = {numbers.zero}; }}",
            f"corner[local * {width}u + c] = value;",
            "}",
            "}",
            "workgroupBarrier();",
        )

    def _multiply_others(self) -> None:
        """Write the products of V with the other columns, partial sums first."""
        kernel, numbers, strip, size = self.kernel, self.numbers, self.strip, self.size
        width = strip.columns
        kernel.line(f"for (var n = 0u; n + width < columns; n += {_BESIDE}u) {{")
        for m in range(_BESIDE):
            kernel.line(
                f"let c{m} = n + {m}u + select(0u, width, n + {m}u >= f);",
                *(f"var y{m}_{r} = {numbers.zero};" for r in range(strip.rows)),
            )
        for m in range(_BESIDE):
            for r in range(strip.rows):
                row, y = strip.at(r), f"y{m}_{r}"
                kernel.line(
                    f"if (c{m} < columns && {row} >= f && {row} < rows) {{ if (c{m} < f) ",
                    f"{{ {y} = {self.load('v', row, f'c{m}')}; }} else {{ {y} = {self.load('a', row, f'c{m}')}; }} }}",
                )
        for m in range(_BESIDE):
            products = (
                f"{self.dots[k]} += {numbers.times(numbers.conj(x), f'y{m}_{r}')};"
                for r in range(strip.rows)
                for k, x in self._row(r)
            )
            # where neighbours are of several subgroups, all have read what these summed for the column before
            kernel.line(
                "{", "workgroupBarrier();" if self.sums.is_shared else "",
                *(f"var {dot} = {numbers.zero};" for dot in self.dots), *products,
            )  # fmt: skip
            start = f"(local / {self.sums.span}u * {size}u + c{m}) * {width}u"
            self.sums.of_neighbours(f"if (c{m} < columns) {{{{ partial[{start} + {{number}}] = {{value}}; }}}}")
            kernel.line("}")
        spans = strip.workgroup // self.sums.span
        kernel.line(
            "}",
            "workgroupBarrier();",
            f"for (var e = local; e < columns * {width}u; e += {strip.workgroup}u) {{",
            f"var sum = {numbers.zero};",
            f"for (var n = 0u; n < {spans}u; n++) {{ sum += partial[n * {size * width}u + e]; }}",
            "others[e] = sum;",
            "}",
            "workgroupBarrier();",
        )

    def _reflect_others(self) -> None:
        """Write the reflections of the columns on the right."""
        kernel, numbers, strip = self.kernel, self.numbers, self.strip
        width = strip.columns
        # registers begin ``past`` columns before T does, but only where there is nothing on the right
        term = numbers.times(numbers.conj(f"corner[p * {width}u + k]"), "others[e - k + p]")
        kernel.line(
            f"for (var e = local; e < columns * {width}u; e += {strip.workgroup}u) {{",
            f"let k = e % {width}u; var sum = {numbers.zero};",
            f"for (var p = 0u; p <= k; p++) {{ sum += {term}; }}",
            "turned_others[e] = sum;",
            "}",
            "workgroupBarrier();",
            f"for (var c = f + width; c < columns; c += {_BESIDE}u) {{",
        )
        for m in range(_BESIDE):
            for r in range(strip.rows):
                row, y = strip.at(r), f"y{m}_{r}"
                is_there = f"c + {m}u < columns && {row} >= f && {row} < rows"
                kernel.line(
                    f"var {y} = {numbers.zero}; if ({is_there}) {{ {y} = {self.load('a', row, f'c + {m}u')}; }}"
                )
        for m in range(_BESIDE):
            kernel.line(f"if (c + {m}u < columns) {{")
            kernel.line(*(f"let u{k} = turned_others[(c + {m}u) * {width}u + {k}u];" for k in range(width)))
            for r in range(strip.rows):
                row, y = strip.at(r), f"y{m}_{r}"
                kernel.line(*(f"{y} = {numbers.less(y, x, f'u{k}')};" for k, x in self._row(r)))
                kernel.line(f"if ({row} >= f && {row} < rows) {{ {self.store('a', row, f'c + {m}u', y)} }}")
            kernel.line("}")
        kernel.line("}", "storageBarrier(); workgroupBarrier();")

    def _extend_triangle(self) -> None:
        """Write T of the panel up to the strip: above that of the strip is what joins it to those on the left."""
        numbers, width, size = self.numbers, self.strip.columns, self.size
        product = numbers.conj(f"others[p * {width}u + c + past]")
        first = numbers.times(f"triangle[i * {size}u + p]", product)
        second = numbers.times("sum", f"corner[c * {width}u + k]")
        self.kernel.line(
            f"for (var e = local; e < f + {width}u; e += {self.strip.workgroup}u) {{",
            "let i = e;",
            "if (i < f) {",
            f"for (var k = 0u; k < width; k++) {{ triangle[i * {size}u + f + k] = {numbers.zero}; }}",
            "for (var c = 0u; c < width; c++) {",
            f"var sum = {numbers.zero};",
            f"for (var p = i; p < f; p++) {{ sum += {first}; }}",
            f"for (var k = c; k < width; k++) {{ triangle[i * {size}u + f + k] -= {second}; }}",
            "}",
            "} else if (i < f + width) {",
            f"for (var k = 0u; k < width; k++) {{ triangle[i * {size}u + f + k] = corner[(i - f) * {width}u + k]; }}",
            "}",
            "}",
            "workgroupBarrier();",
        )

    def _store_triangle(self) -> None:
        """Write the stores of T, and the scales of the reflectors."""
        numbers = self.numbers
        self.kernel.line(
            f"for (var e = local; e < columns * columns; e += {self.strip.workgroup}u) {{",
            "let i = e % columns; let j = e / columns;",
            f"var x = {numbers.zero}; if (i <= j) {{ x = triangle[i * {self.size}u + j]; }}",
            self.store("t", "i", "j", "x"),
            f"if (i == j) {{ {self.store('s', 'j', '0u', 'x')} }}",
            "}",
        )
