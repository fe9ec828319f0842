"""Systems with triangles: substitution in a block of rows by one launch, and products between the blocks."""

from typing import Final

from gpuarray.codegen.calls.linear_algebra.blocks import unrolled, update
from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers, Vectors

#: Right sides of a workgroup, and most strips of their rows, each of which other invocations have.
_TOGETHER: Final = 32
_STRIPS: Final = 8


def rows_of_launch(builder: Builder) -> int:
    """Return for how many rows one launch solves: a block of the triangle for each strip fits workgroup memory."""
    size, itemsize, capabilities = builder.block, builder.dtype.itemsize, builder.capabilities
    free = capabilities.workgroup_memory // itemsize - size * _TOGETHER
    fitting = min(free // (Vectors.pitch_of(size) * size), capabilities.workgroup_size // _TOGETHER, _STRIPS)
    return size << (max(1, fitting).bit_length() - 1)


def solve(builder: Builder, triangle: Matrix, right: Matrix, *, upper: bool = False, unit: bool = False) -> None:
    """Solve a system with a triangle, in place; the other side of the diagonal is not read.

    Halves of the rows are solved for one after the other, so that the product between them has most of the work: of an
    upper triangle the last half comes first. With ``unit`` the diagonal counts as ones.
    """
    n, most = triangle.rows, rows_of_launch(builder)
    if n <= most:
        if upper:
            triangle, right = triangle.reversed, right.upside_down
        _substitute(builder, triangle, right, unit=unit)
        return
    half = -(-n // (2 * most)) * most
    known, rest = (slice(half, n), slice(0, half)) if upper else (slice(0, half), slice(half, n))
    solve(builder, triangle[known, known], right[known, :], upper=upper, unit=unit)
    update(builder, right[rest, :], triangle[rest, known], right[known, :])
    solve(builder, triangle[rest, rest], right[rest, :], upper=upper, unit=unit)


def _substitute(builder: Builder, triangle: Matrix, right: Matrix, *, unit: bool) -> None:
    if not right.rows:
        return
    along = abs(triangle.across) < abs(triangle.down)  # rows of the triangle are contiguous
    strips = 1 << (-(-right.rows // builder.block) - 1).bit_length()

    def write(template: Template) -> None:
        _Substitution(template, builder, triangle, right, strips).write(unit=unit, along=along)

    values = {
        "rows": right.rows, "columns": right.columns, **where("triangle", triangle), **where("right", right),
    }  # fmt: skip
    key = ("substitute", triangle.buffer, right.buffer, unit, along, strips)
    builder.run(key, "triangular solve", write, values, builder.batch * -(-right.columns // _TOGETHER))


class _Substitution:
    """Writes the kernel in which each invocation has a strip of the rows of a right side in registers.

    The strips are solved for one after the other, and subtracted from those below them at the same time.
    """

    def __init__(self, template: Template, builder: Builder, triangle: Matrix, right: Matrix, strips: int) -> None:
        self.template, self.kernel, self.triangle, self.right = template, template.kernel, triangle, right
        self.numbers, self.size, self.strips = Numbers(builder.dtype), builder.block, strips
        self.written = template.bind(right.buffer, writable=True)
        self.read = template.bind(triangle.buffer, writable=False)
        # a block of the triangle for each strip, with the inverses of the diagonal: its columns one after the other
        self.factors = Vectors("factors", self.numbers, strips * self.size, self.size)

    def write(self, *, unit: bool, along: bool) -> None:
        """Write the kernel."""
        template, kernel, numbers, size = self.template, self.kernel, self.numbers, self.size
        kernel.workgroup = _TOGETHER * self.strips
        kernel.module += [*numbers.functions, self.factors.declaration]
        if self.strips > 1:
            kernel.module.append(f"var<workgroup> solved: array<{numbers.kind}, {size * _TOGETHER}>;")
        template.numbers("rows", "columns")
        kernel.line(
            f"let groups_across = (columns + {_TOGETHER - 1}u) / {_TOGETHER}u;",
            "let plane = block / groups_across;",
            f"let lane = local % {_TOGETHER}u; let b = local / {_TOGETHER}u * {size}u;",
            f"let c = (block - plane * groups_across) * {_TOGETHER}u + lane;",
        )
        template.matrix("triangle")
        template.matrix("right")
        kernel.line(
            *unrolled(size, lambda i: f"var x{i} = {numbers.zero};"),
            "if (c < columns) {",
            *unrolled(size, lambda i: f"if (b + {i}u < rows) {{ x{i} = {self._element(i)}; }}"),
            "}",
            *(f"var t{n} = {numbers.zero};" for n in range(0, size, _TOGETHER // size)),
            *self._load_block("0u", unit=unit, along=along),
            f"for (var p = 0u; p < rows; p += {size}u) {{",
            *self._keep_block(unit=unit, along=along),
            "workgroupBarrier();",
            # the loads of the next block are under way while this one is solved for
            *self._load_block(f"(p + {size}u)", unit=unit, along=along),
            "if (b == p) {",
            *self._solve(unit=unit),
        )
        if self.strips > 1:
            kernel.line(
                *unrolled(size, lambda i: f"solved[{i * _TOGETHER}u + lane] = x{i};"),
                "}",
                "workgroupBarrier();",
                "if (b > p) {",
                *self._subtract(),
            )
        kernel.line(
            "}",
            "workgroupBarrier();",
            "}",
            "if (c < columns) {",
            *unrolled(size, lambda i: f"if (b + {i}u < rows) {{ {self._stored(i)} }}"),
            "}",
        )

    def _element(self, i: int) -> str:
        return self.written.load(self.template.index("right", self.right, f"b + {i}u", "c"))

    def _stored(self, i: int) -> str:
        return self.written.store(self.template.index("right", self.right, f"b + {i}u", "c"), f"x{i}")

    def _loaded_elements(self, *, along: bool) -> list[tuple[int, str, str]]:
        """Return the rows and columns of a block that an invocation loads, and the numbers of their registers."""
        size = self.size
        row, column = ("lane / {0}u + {1}u", "lane % {0}u") if along else ("lane % {0}u", "lane / {0}u + {1}u")
        return [(n, row.format(size, n), column.format(size, n)) for n in range(0, size, _TOGETHER // size)]

    def _load_block(self, first: str, *, unit: bool, along: bool) -> list[str]:
        """Return statements that load the block of rows ``b`` and some columns, with all loads under way at once."""
        lines = []
        for n, i, k in self._loaded_elements(along=along):
            index = self.template.index("triangle", self.triangle, f"b + {i}", f"{first} + {k}")
            limit = f"b + {i} < rows && {first} + {k} {'<' if unit else '<='} b + {i}"
            lines.append(f"t{n} = {self.numbers.zero}; if ({limit}) {{ t{n} = {self.read.load(index)}; }}")
        return lines

    def _keep_block(self, *, unit: bool, along: bool) -> list[str]:
        """Return statements that write the loaded block of columns ``p`` to workgroup memory."""
        numbers, lines = self.numbers, []
        for n, i, k in self._loaded_elements(along=along):
            if not unit:
                inverse = numbers.over(numbers.one, f"t{n}")
                lines.append(f"if (p == b && {i} == {k}) {{ t{n} = {inverse}; }}")
            lines.append(f"{self.factors.element(f'b + {k}', i)} = t{n};")
        return lines

    def _subtract(self) -> list[str]:
        """Return statements that subtract the products with the rows that were solved for."""
        lets, factors = self.factors.read("b + k")
        return [
            f"for (var k = 0u; k < {self.size}u; k++) {{",
            f"let known = solved[k * {_TOGETHER}u + lane];",
            *lets,
            *unrolled(self.size, lambda i: f"x{i} = {self.numbers.less(f'x{i}', factors[i], 'known')};"),
            "}",
        ]

    def _solve(self, *, unit: bool) -> list[str]:
        """Return statements that solve for the rows of a block; what lies behind the matrix are zeros."""
        lines = []
        for j in range(self.size):
            lets, factors = self.factors.read(f"b + {j}u", j)
            lines += ["{", *lets]
            if not unit:
                lines.append(f"x{j} = {self.numbers.times(f'x{j}', factors[j])};")
            changed = unrolled(self.size, lambda i: self._reduced(i, factors[i], f"x{j}"), j + 1)  # noqa: B023
            lines += [*changed, "}"]
        return lines

    def _reduced(self, i: int, factor: str, known: str) -> str:
        return f"x{i} = {self.numbers.less(f'x{i}', factor, known)};"
