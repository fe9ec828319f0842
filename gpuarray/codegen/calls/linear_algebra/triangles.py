"""Systems with triangles: substitution in a block of rows by one launch, and products between the blocks."""

from typing import Final

from gpuarray.codegen.calls.linear_algebra.blocks import unrolled, update
from gpuarray.codegen.calls.linear_algebra.matrices import Frame, Matrix, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers, Vectors

#: Right sides of a workgroup, each that of one invocation; most rows for which one launch solves.
_TOGETHER: Final = 32
_MOST: Final = 128


def rows_of_launch(frame: Frame) -> int:
    """Return for how many rows one launch solves: what it has found of them but the last fits workgroup memory."""
    size, itemsize = frame.block, frame.dtype.itemsize
    free = frame.capabilities.workgroup_memory - Vectors.pitch_of(size) * size * itemsize
    return size * (1 + max(0, min(_MOST // size - 1, free // (size * _TOGETHER * itemsize))))


def lower(frame: Frame, triangle: Matrix, right: Matrix, *, unit: bool = False) -> None:
    """Solve a system with a lower triangle, in place; what is above the diagonal is not read.

    Halves of the rows are solved for one after the other, so that the product between them has most of the work. With
    ``unit`` the diagonal counts as ones.
    """
    n, most = triangle.rows, rows_of_launch(frame)
    if n <= most:
        _substitute(frame, triangle, right, unit=unit)
        return
    half = -(-n // (2 * most)) * most
    first, rest = slice(0, half), slice(half, n)
    lower(frame, triangle[first, first], right[first, :], unit=unit)
    update(frame, right[rest, :], triangle[rest, first], right[first, :])
    lower(frame, triangle[rest, rest], right[rest, :], unit=unit)


def upper(frame: Frame, triangle: Matrix, right: Matrix, *, unit: bool = False) -> None:
    """Solve a system with an upper triangle, in place, as :func:`lower` does from the last row on."""
    n, most = triangle.rows, rows_of_launch(frame)
    if n <= most:
        _substitute(frame, triangle.reversed, right.upside_down, unit=unit)
        return
    half = -(-n // (2 * most)) * most
    first, rest = slice(0, half), slice(half, n)
    upper(frame, triangle[rest, rest], right[rest, :], unit=unit)
    update(frame, right[first, :], triangle[first, rest], right[rest, :])
    upper(frame, triangle[first, first], right[first, :], unit=unit)


def _substitute(frame: Frame, triangle: Matrix, right: Matrix, *, unit: bool) -> None:
    if not right.rows:
        return
    along = abs(triangle.across) < abs(triangle.down)  # rows of the triangle are contiguous

    def write(template: Template) -> None:
        _Substitution(template, frame, triangle, right).write(unit=unit, along=along)

    values = {
        "rows": right.rows, "columns": right.columns, **where("triangle", triangle), **where("right", right),
    }  # fmt: skip
    key = ("substitute", triangle.buffer, right.buffer, unit, along)
    frame.run(key, "triangular solve", write, values, frame.batch * -(-right.columns // _TOGETHER))


class _Substitution:
    """Writes the kernel in which each invocation has a column of right sides, and a block of its rows in registers."""

    def __init__(self, template: Template, frame: Frame, triangle: Matrix, right: Matrix) -> None:
        self.template, self.kernel, self.triangle, self.right = template, template.kernel, triangle, right
        self.numbers, self.size = Numbers(frame.dtype), frame.block
        self.written = template.bind(right.buffer, writable=True)
        self.read = template.bind(triangle.buffer, writable=False)
        # a block of the triangle, with the inverses of its diagonal: its columns one after the other
        self.factors = Vectors("factors", self.numbers, self.size, self.size)
        self.kept = rows_of_launch(frame) - self.size

    def write(self, *, unit: bool, along: bool) -> None:
        """Write the kernel."""
        template, kernel, numbers, size = self.template, self.kernel, self.numbers, self.size
        kernel.workgroup = _TOGETHER
        kernel.module += [*numbers.functions, self.factors.declaration]
        if self.kept:
            kernel.module.append(f"var<workgroup> solved: array<{numbers.kind}, {self.kept * _TOGETHER}>;")
        template.numbers("rows", "columns")
        kernel.line(
            f"let groups_across = (columns + {_TOGETHER - 1}u) / {_TOGETHER}u;",
            "let plane = block / groups_across;",
            f"let c = (block - plane * groups_across) * {_TOGETHER}u + local;",
        )
        template.matrix("triangle")
        template.matrix("right")

        def loaded(i: int) -> str:
            return f"if (b + {i}u < rows) {{ x{i} = {self._element(i)}; }}"

        def stored(i: int) -> str:
            place = template.place("right", self.right, f"b + {i}u", "c")
            return f"if (b + {i}u < rows) {{ {self.written.store(place, f'x{i}')} }}"

        kernel.line(
            f"for (var b = 0u; b < rows; b += {size}u) {{",
            *unrolled(size, lambda i: f"var x{i} = {numbers.zero};"),
            "if (c < columns) {",
            *unrolled(size, loaded),
            "}",
            f"for (var p = 0u; p <= b; p += {size}u) {{",
            "workgroupBarrier();",
            *self._load_block(unit=unit, along=along),
            "workgroupBarrier();",
            *self._subtract(),
            "}",
            *self._solve(unit=unit),
            "if (c < columns) {",
            *unrolled(size, stored),
            "}",
        )
        if self.kept:
            keeps = unrolled(size, lambda i: f"solved[(b + {i}u) * {_TOGETHER}u + local] = x{i};")
            kernel.line(f"if (b < {self.kept}u) {{", *keeps, "}")
        kernel.line("}")

    def _element(self, i: int) -> str:
        return self.written.load(self.template.place("right", self.right, f"b + {i}u", "c"))

    def _load_block(self, *, unit: bool, along: bool) -> list[str]:
        """Return statements that load the block of rows ``b`` and columns ``p``, with all loads under way at once."""
        size, numbers = self.size, self.numbers
        each = _TOGETHER // size
        row, column = ("local / {0}u + {1}u", "local % {0}u") if along else ("local % {0}u", "local / {0}u + {1}u")
        lines = []
        for n in range(0, size, each):
            i, k = row.format(size, n), column.format(size, n)
            place = self.template.place("triangle", self.triangle, f"b + {i}", f"p + {k}")
            limit = f"b + {i} < rows && p + {k} {'<' if unit else '<='} b + {i}"
            lines.append(f"var t{n} = {numbers.zero}; if ({limit}) {{ t{n} = {self.read.load(place)}; }}")
        for n in range(0, size, each):
            i, k = row.format(size, n), column.format(size, n)
            if not unit:
                inverse = numbers.over(numbers.one, f"t{n}")
                lines.append(f"if (p == b && {i} == {k}) {{ t{n} = {inverse}; }}")
            lines.append(f"{self.factors.element(k, i)} = t{n};")
        return lines

    def _subtract(self) -> list[str]:
        """Return statements that subtract the products with rows that were solved for."""
        if not self.kept:
            return []
        lets, factors = self.factors.read("k")
        return [
            f"if (p < b) {{ for (var k = 0u; k < {self.size}u; k++) {{",
            f"let known = solved[(p + k) * {_TOGETHER}u + local];",
            *lets,
            *unrolled(self.size, lambda i: f"x{i} = {self.numbers.less(f'x{i}', factors[i], 'known')};"),
            "} }",
        ]

    def _solve(self, *, unit: bool) -> list[str]:
        """Return statements that solve for the rows of a block; what lies behind the matrix are zeros."""
        lines = []
        for j in range(self.size):
            lets, factors = self.factors.read(f"{j}u", j)
            lines += ["{", *lets]
            if not unit:
                lines.append(f"x{j} = {self.numbers.times(f'x{j}', factors[j])};")
            changed = unrolled(self.size, lambda i: self._reduced(i, factors[i], f"x{j}"), j + 1)  # noqa: B023
            lines += [*changed, "}"]
        return lines

    def _reduced(self, i: int, factor: str, known: str) -> str:
        return f"x{i} = {self.numbers.less(f'x{i}', factor, known)};"
