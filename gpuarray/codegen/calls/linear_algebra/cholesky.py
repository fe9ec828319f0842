"""Cholesky factors: panels by workgroups that each have some of the rows, and products for the rest.

An invocation has two rows of a panel, and a block of their columns in registers. The first invocations of each
workgroup have the rows of the diagonal, which all workgroups factorise for themselves, and the others have rows below,
so that a panel takes one launch. The factor is written to another matrix, as all workgroups read the diagonal.
"""

from itertools import product
from typing import Final

from gpuarray.codegen.calls.linear_algebra.blocks import update
from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers, Vectors
from gpuarray.codegen.storage import LANES

#: Most blocks of columns of a panel, and the rows of an invocation, which share its reads.
_MOST: Final = 4
_ROWS: Final = 2


def _width(builder: Builder) -> int:
    """Return the columns of a panel, of which the blocks below those of the diagonal fit workgroup memory."""
    size, itemsize, blocks = builder.block, builder.dtype.itemsize, _MOST
    memory = builder.capabilities.workgroup_memory // itemsize - 2 * Vectors.pitch_of(size)
    while blocks > 1 and (
        blocks * (blocks - 1) // 2 * size * Vectors.pitch_of(size) > memory
        or 2 * blocks * size // _ROWS > builder.capabilities.workgroup_size
    ):
        blocks -= 1
    return blocks * size


def factorise(builder: Builder, a: Matrix, factor: Matrix, status: StepBuffer) -> None:
    """Write the lower factor of a Hermitian matrix, which is overwritten; elements above the diagonal have no meaning.

    The status becomes the first row whose pivot is not positive, from 1 on.
    """
    n, width = a.rows, _width(builder)
    for k in range(0, n, width):
        here, rest = slice(k, k + width), slice(k + width, n)
        adjoint = a[here, k:] if builder.dtype.kind == "c" else None
        _factorise_panel(builder, a[k:, here], factor[k:, here], adjoint, status, k)
        right = factor[rest, here].T if adjoint is None else a[here, rest]
        update(builder, a[rest, rest], factor[rest, here], right, lower=True)


def _factorise_panel(
    builder: Builder, a: Matrix, factor: Matrix, adjoint: Matrix | None, status: StepBuffer, done: int
) -> None:
    """Write a panel of the factor, and the adjoint of its elements below the diagonal unless it is the transpose."""
    width = _width(builder)
    groups = max(1, -(-(a.rows - width) // width))

    def write(template: Template) -> None:
        _Panel(template, builder, a, factor, adjoint, width).write(status)

    values = {
        "rows": a.rows, "columns": a.columns, "groups_each": groups, "done": done,
        **where("a", a), **where("factor", factor), **(where("adjoint", adjoint) if adjoint else {}),
    }  # fmt: skip
    builder.run(("panel", width), "panel", write, values, builder.batch * groups)


class _Panel:
    """Writes the kernel of a panel."""

    def __init__(
        self, template: Template, builder: Builder, a: Matrix, factor: Matrix, adjoint: Matrix | None, width: int
    ) -> None:
        self.template, self.kernel, self.a, self.factor, self.adjoint = template, template.kernel, a, factor, adjoint
        self.numbers, self.size, self.width = Numbers(builder.dtype), builder.block, width
        self.access = template.bind(a.buffer, writable=True)
        self.written = template.bind(factor.buffer, writable=True)
        blocks = width // self.size
        # column i of a block is the row above it in the adjoint; blocks of the second row come first
        self.known = Vectors("known", self.numbers, blocks * (blocks - 1) // 2 * self.size, self.size)
        # the rows of a block in the column that is eliminated; one is still read when the next is written
        self.column = Vectors("column", self.numbers, 2, self.size)
        self.has_known = blocks > 1

    def write(self, status: StepBuffer) -> None:
        """Write the kernel."""
        template, kernel, numbers, size, width = self.template, self.kernel, self.numbers, self.size, self.width
        each = width // _ROWS
        kernel.workgroup = 2 * each
        kernel.module += [*numbers.functions, self.column.declaration]
        if self.has_known:
            kernel.module.append(self.known.declaration)
        template.numbers("rows", "columns", "groups_each", "done")
        kernel.line(
            "let plane = block / groups_each; let part = block - plane * groups_each;",
            f"let is_top = local < {each}u;",
            f"let row0 = {_ROWS}u * local + select(part * {width}u, 0u, is_top);",
            *(f"let row{r} = row0 + {r}u;" for r in range(1, _ROWS)),
            f"let is_written = part == 0u || !is_top; let strip = row0 / {size}u;",
            "var failed = 0u;",
        )
        template.matrix("a")
        template.matrix("factor")
        if self.adjoint is not None:
            template.matrix("adjoint")
        # loads without conditions do not wait for each other
        kernel.line(*(f"let near{r} = min(row{r}, rows - 1u);" for r in range(_ROWS)))
        kernel.line(f"for (var b = 0u; b < columns; b += {size}u) {{")
        for r in range(_ROWS):
            kernel.line(*(self._loaded(r, i) for i in range(size)))
        self._subtract()
        for j in range(size):
            self._eliminate(j)
        for r in range(_ROWS):
            kernel.line(f"if (is_written && row{r} < rows) {{", *(self._stored(r, i) for i in range(size)), "}")
        if self.has_known:
            line = f"(strip * (strip - 1u) / 2u * {size}u + b + {{}}u)"
            keeps = (
                f"{self.known.element(line.format(i), f'row{r} % {size}u')} = x{r}_{i};"
                for r in range(_ROWS)
                for i in range(size)
            )
            kernel.line(f"if (is_top && row0 >= b + {size}u) {{", *keeps, "}", "workgroupBarrier();")
        kernel.line("}")
        self._report(status)

    def _loaded(self, r: int, i: int) -> str:
        """Return the declaration of an element; behind the matrix stands the identity."""
        value = self.access.load(self.template.index("a", self.a, f"near{r}", f"min(b + {i}u, columns - 1u)"))
        outside = f"select({self.numbers.zero}, {self.numbers.one}, row{r} == b + {i}u)"
        return f"var x{r}_{i} = select({outside}, {value}, row{r} < rows && b + {i}u < columns);"

    def _stored(self, r: int, i: int) -> str:
        x, row = f"x{r}_{i}", f"row{r}"
        below = self.written.store(self.template.index("factor", self.factor, row, f"b + {i}u"), x)
        if self.adjoint is None:
            return f"if ({row} >= b + {i}u) {{ {below} }}"
        index = self.template.index("adjoint", self.adjoint, f"b + {i}u", row)
        beside = self.access.store(index, self.numbers.conj(x))
        return f"if ({row} >= b + {i}u) {{ {below} if (!is_top) {{ {beside} }} }}"

    def _subtract(self) -> None:
        """Write the products with the columns before the block, of which four are read at a time."""
        if not self.has_known:
            return
        kernel, numbers, size = self.kernel, self.numbers, self.size
        kernel.line(
            f"let above = b / {size}u; let first = above * (above - 1u) / 2u * {size}u;",
            f"let own = strip * (strip - 1u) / 2u * {size}u;",
            f"if (row0 >= b) {{ for (var k = 0u; k < b; k += {LANES}u) {{",
        )
        elements = [*product(range(_ROWS), range(LANES))]
        kernel.line(*(f"var y{r}_{m} = {numbers.zero};" for r, m in elements), "if (is_top) {")
        for r, m in elements:
            kernel.line(f"y{r}_{m} = {self.known.element(f'own + k + {m}u', f'row{r} % {size}u')};")
        kernel.line("} else {")
        for r, m in elements:
            element = self.written.load(self.template.index("factor", self.factor, f"near{r}", f"k + {m}u"))
            kernel.line(f"y{r}_{m} = {element};")
        kernel.line("}")
        for m in range(LANES):
            lets, factors = self.known.read(f"(first + k + {m}u)")
            changed = (
                f"x{r}_{i} = {numbers.less(f'x{r}_{i}', f'y{r}_{m}', numbers.conj(factor))};"
                for i, factor in enumerate(factors)
                for r in range(_ROWS)
            )
            kernel.line("{", *lets, *changed, "}")
        kernel.line("} }")

    def _eliminate(self, j: int) -> None:
        """Write the step of column ``j`` of a block: its rows are given to all, which subtract their multiples."""
        kernel, numbers, size = self.kernel, self.numbers, self.size
        lets, factors = self.column.read(f"{j % 2}u", j)
        for r in range(_ROWS):
            factor = self.column.element(f"{j % 2}u", f"row{r} - b")
            kernel.line(f"if (row{r} - b < {size}u) {{ {factor} = x{r}_{j}; }}")
        kernel.line(
            "workgroupBarrier();",
            f"if (row0 + {_ROWS}u > b) {{",
            *lets,
            f"let pivot = {numbers.part(factors[j])}; let root = sqrt(pivot);",
            f"if (!(pivot > 0) && failed == 0u && b + {j}u < columns) {{ failed = done + b + {j + 1}u; }}",
        )
        for r in range(_ROWS):
            kernel.line(f"let ratio{r} = x{r}_{j} / pivot;")
        for i, r in product(range(j + 1, size), range(_ROWS)):
            kernel.line(f"x{r}_{i} = {numbers.less(f'x{r}_{i}', f'ratio{r}', numbers.conj(factors[i]))};")
        for r in range(_ROWS):
            x = f"x{r}_{j}"
            kernel.line(f"{x} = select({x} / root, {numbers.whole('root')}, row{r} == b + {j}u);")
        kernel.line("}")

    def _report(self, status: StepBuffer) -> None:
        """Write the status, if the columns before those that are ``done`` have none."""
        failure = self.template.bind(status, writable=True)
        self.kernel.line(
            # the last invocation takes part in all blocks
            f"if (part == 0u && local == {self.kernel.workgroup - 1}u) {{",
            f"var earlier = 0i; if (done > 0u) {{ earlier = {failure.load('plane')}; }}",
            f"if (earlier == 0) {{ {failure.store('plane', 'i32(failed)')} }}",
            "}",
        )
