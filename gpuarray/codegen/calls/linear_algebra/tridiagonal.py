"""Tridiagonal forms of Hermitian matrices by Householder reflectors (Martin, Reinsch and Wilkinson, 1968).

A launch makes one reflector. It first changes the matrix by the reflector before it, ``A -= v w^H + w v^H``, and each
element that was changed is multiplied by the new reflector at once, which the next launch needs: so elements are read
and written once for each column. What takes a sum over the column, the next reflector among it, each workgroup computes
for itself, as another launch would take longer. The elements are loaded before that, so that the loads are under way.
"""

from dataclasses import dataclass

import numpy as np

from gpuarray.codegen.calls.linear_algebra.blocks import IDENTITY, move
from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.collectives import Collectives

#: Columns of the matrix that a workgroup changes, the elements of one that an invocation has, and sizes of workgroups.
_LINES, _EACH, _WORKGROUPS = 4, 4, (64, 128, 256, 512, 1024)
#: Invocations begin with a multiple of this, so that subgroups load whole lines of memory.
_ALIGNED = 32


@dataclass(frozen=True)
class Tridiagonal:
    """The tridiagonal form of a matrix: A = Q D T D^H Q^H.

    Attributes
    ----------
    reflectors : Matrix
        The columns of Q's reflectors, which begin below the diagonal.
    numbers : StepBuffer
        Of each matrix the diagonal of T, then the elements below it, none of which is negative, and the numbers by
        which reflectors are scaled.
    phases : StepBuffer
        The diagonal of D, of absolute value 1.
    """

    reflectors: Matrix
    numbers: StepBuffer
    phases: StepBuffer


def reduce(builder: Builder, a: Matrix, block: int) -> Tridiagonal:
    """Return the tridiagonal form of a Hermitian matrix, whose elements are near 1, and which is overwritten.

    Columns of zeros follow the reflectors, as many as make their number a multiple of ``block``.
    """
    n, numbers = a.columns, Numbers(builder.dtype)
    reflectors = builder.matrix(n, -(-n // block) * block)
    move(builder, reflectors, reflectors, IDENTITY)  # zeros but for columns that are written
    form = Tridiagonal(
        reflectors,
        builder.buffer(3 * n * builder.batch, numbers.real_dtype),
        builder.buffer(n * builder.batch, builder.dtype),
    )
    # two columns of products in turn: one is still read when the other is written
    products = builder.buffer(2 * n * builder.batch, builder.dtype)
    # bytes of an invocation in workgroup memory, where sums are made there
    summed = (_LINES + 2) * builder.dtype.itemsize
    for j in range(n):
        left = n - (j + 1) // _ALIGNED * _ALIGNED
        workgroup = next((size for size in _WORKGROUPS if size * _EACH >= left), _WORKGROUPS[-1])
        while (
            workgroup > builder.capabilities.workgroup_size
            or workgroup * summed > builder.capabilities.workgroup_memory
        ):
            workgroup //= 2
        each = 1 << (-(-left // workgroup) - 1).bit_length()

        def write(template: Template, workgroup: int = workgroup, each: int = each) -> None:
            template.kernel.workgroup = workgroup
            _Step(template, builder, a, form, products, each).write()

        groups = max(1, -(-(n - j - 1) // _LINES))
        values = {"n": n, "j": j, "groups_each": groups, **where("a", a), **where("v", form.reflectors)}
        builder.run(("tridiagonal", workgroup, each), "reflector", write, values, builder.batch * groups)
    return form


class _Step:
    """Writes the kernel of a reflector.

    Elements ``k`` of columns are distributed over the invocations, which have ``each`` of them.
    """

    def __init__(
        self, template: Template, builder: Builder, a: Matrix, form: Tridiagonal, products: StepBuffer, each: int
    ) -> None:
        self.template, self.kernel, self.numbers = template, template.kernel, Numbers(builder.dtype)
        self.a, self.v, self.each = a, form.reflectors, each
        self.dtype, self.real_dtype = builder.dtype, self.numbers.real_dtype
        self.access, self.reflectors, self.products, self.form_numbers, self.phases = (
            template.bind(buffer, writable=True)
            for buffer in (a.buffer, self.v.buffer, products, form.numbers, form.phases)
        )
        self.collectives = Collectives(self.kernel, self.kernel.workgroup, builder.capabilities)

    def write(self) -> None:
        """Write the kernel."""
        self.kernel.module += self.numbers.functions
        self.template.numbers("n", "j", "groups_each")
        self.kernel.line(
            "let plane = block / groups_each; let part = block - plane * groups_each;",
            f"let first = j + 1u + part * {_LINES}u;",
            "let own = plane * 3u * n; let turn = j & 1u;",
            "let given = (2u * plane + turn) * n; let taken = (2u * plane + 1u - turn) * n;",
        )
        self.template.matrix("a")
        self.template.matrix("v")
        self._load()
        self._finish_last()
        self._make_reflector()
        self._change()

    def _element(self, row: str, column: str) -> str:
        return self.template.index("a", self.a, row, column)

    def _load(self) -> None:
        """Write the loads of the column, of the reflector before it and its products, and of the columns to change."""
        zero, workgroup = self.numbers.zero, self.kernel.workgroup
        for m in range(self.each):
            self.kernel.line(
                f"let k{m} = (j + 1u) / {_ALIGNED}u * {_ALIGNED}u + local + {m * workgroup}u;",
                f"let is_in{m} = k{m} > j && k{m} < n;",
                f"var v{m} = {zero}; var w{m} = {zero}; var x{m} = {zero};",
                f"if (is_in{m}) {{",
                f"x{m} = {self.access.load(self._element(f'k{m}', 'j'))};",
                f"if (j > 0u) {{ v{m} = {self.reflectors.load(self.template.index('v', self.v, f'k{m}', 'j - 1u'))};",
                f"w{m} = {self.products.load(f'taken + k{m}')}; }}",
                "}",
            )
        self.kernel.line(
            f"var head_v = {zero}; var head_w = {zero}; var tau = {self.numbers.real}();",
            f"if (j > 0u) {{ head_v = {self.reflectors.load(self.template.index('v', self.v, 'j', 'j - 1u'))};",
            f"head_w = {self.products.load('taken + j')}; tau = {self.form_numbers.load('own + 2u * n + j - 1u')}; }}",
            f"let corner = {self.access.load(self._element('j', 'j'))};",
        )
        for r in range(_LINES):
            i = f"first + {r}u"
            self.kernel.line(
                f"var across_v{r} = {zero}; var across_w{r} = {zero};",
                f"if (j > 0u && {i} < n) {{",
                f"across_v{r} = {self.reflectors.load(self.template.index('v', self.v, i, 'j - 1u'))};",
                f"across_w{r} = {self.products.load(f'taken + {i}')};",
                "}",
            )
            for m in range(self.each):
                self.kernel.line(
                    f"var a{r}_{m} = {zero}; if (is_in{m} && first + {r}u < n) "
                    f"{{ a{r}_{m} = {self.access.load(self._element(f'k{m}', f'first + {r}u'))}; }}"
                )

    def _finish_last(self) -> None:
        """Write what the reflector before does: ``w`` of its products, and the column."""
        kernel, numbers, real = self.kernel, self.numbers, self.numbers.real
        products = [numbers.part(numbers.times(numbers.conj(f"v{m}"), f"w{m}")) for m in range(self.each)]
        kernel.line(f"var energy = {' + '.join(products)};")
        self.collectives.reduce({"energy": self.real_dtype}, lambda second: f"energy += {second[0]};")
        kernel.line(
            f"energy += {numbers.part(numbers.times(numbers.conj('head_v'), 'head_w'))};",
            f"let half = {real}(0.5) * tau * tau * energy;",
            "head_w = tau * head_w - half * head_v;",
            f"let head_v_conj = {numbers.conj('head_v')}; let head_w_conj = {numbers.conj('head_w')};",
        )
        for m in range(self.each):
            kernel.line(
                f"w{m} = tau * w{m} - half * v{m};",
                f"x{m} = {numbers.less(numbers.less(f'x{m}', f'v{m}', 'head_w_conj'), f'w{m}', 'head_v_conj')};",
            )

    def _make_reflector(self) -> None:
        """Write the reflector ``u`` of the column, its scale, and the elements of the tridiagonal matrix."""
        kernel, numbers, real = self.kernel, self.numbers, self.numbers.real
        info = np.finfo(self.real_dtype)
        kernel.line(f"var rest = {real}(); var head = {numbers.zero};")
        for m in range(self.each):
            kernel.line(f"if (k{m} == j + 1u) {{ head = x{m}; }} else {{ rest += {numbers.square(f'x{m}')}; }}")
        self.collectives.reduce(
            {"rest": self.real_dtype, "head": self.dtype}, lambda second: f"rest += {second[0]}; head += {second[1]};"
        )
        # the square of a shorter column has few digits; that is less than rounding of the matrix
        least = float(info.tiny / info.eps)
        kernel.line(
            f"let size = {numbers.absolute('head')};",
            f"var phase = {numbers.one}; if (size > 0) {{ phase = head / size; }}",
            f"let square = {numbers.square('head')} + rest;",
            f"let is_reflected = rest > 0 && square > {real}({least!r});",
            "let length = select(size, sqrt(square), is_reflected);",
            f"var scale = {real}(); var inverse = {numbers.zero};",
            "if (is_reflected) {",
            f"scale = (size + length) / length; inverse = {numbers.conj('phase')} / (size + length);",
            "}",
            f"let one = {numbers.whole(f'select({real}(), {real}(1), is_reflected)')};",
        )
        for m in range(self.each):
            kernel.line(f"let u{m} = select({numbers.times(f'x{m}', 'inverse')}, one, k{m} == j + 1u);")
        store = [
            f"if (is_in{m}) {{ {self.reflectors.store(self.template.index('v', self.v, f'k{m}', 'j'), f'u{m}')} }}"
            for m in range(self.each)
        ]
        turned = numbers.times("last", "select(phase, -phase, is_reflected)")
        kernel.line(
            "if (part == 0u) {",
            *store,
            f"for (var k = local; k <= j; k += {kernel.workgroup}u) {{",
            self.reflectors.store(self.template.index("v", self.v, "k", "j"), numbers.zero),
            "}",
            "if (local == 0u) {",
            self.form_numbers.store(
                "own + j", f"{numbers.part('corner')} - 2 * {numbers.part(numbers.times('head_v', 'head_w_conj'))}"
            ),
            self.form_numbers.store("own + n + j", "length"),
            self.form_numbers.store("own + 2u * n + j", "scale"),
            f"if (j == 0u) {{ {self.phases.store('plane * n', numbers.one)} }}",
            "if (j + 1u < n) {",
            f"var last = {numbers.one}; if (j > 0u) {{ last = {self.phases.load('plane * n + j')}; }}",
            self.phases.store("plane * n + j + 1u", turned),
            "}",
            "} }",
        )

    def _change(self) -> None:
        """Write the change of columns by the reflector before, and their products with the new one."""
        kernel, numbers = self.kernel, self.numbers
        sums = [f"sum{r}" for r in range(_LINES)]
        for r in range(_LINES):
            i = f"first + {r}u"
            kernel.line(
                f"var sum{r} = {numbers.zero};",
                f"if ({i} < n) {{",
                f"let w_of = tau * across_w{r} - half * across_v{r};",
                f"let across_v = {numbers.conj(f'across_v{r}')}; let across_w = {numbers.conj('w_of')};",
            )
            for m in range(self.each):
                x = f"a{r}_{m}"
                kernel.line(
                    f"{x} = {numbers.less(numbers.less(x, f'v{m}', 'across_w'), f'w{m}', 'across_v')};",
                    f"if (is_in{m}) {{ {self.access.store(self._element(f'k{m}', i), x)} }}",
                    f"sum{r} += {numbers.times(numbers.conj(x), f'u{m}')};",
                )
            kernel.line("}")
        self.collectives.reduce(
            dict.fromkeys(sums, self.dtype),
            lambda second: " ".join(f"{s} += {o};" for s, o in zip(sums, second, strict=True)),
        )
        kernel.line("if (local == 0u) {")
        for r in range(_LINES):
            kernel.line(f"if (first + {r}u < n) {{ {self.products.store(f'given + first + {r}u', f'sum{r}')} }}")
        kernel.line("}")
