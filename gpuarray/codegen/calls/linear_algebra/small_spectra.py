"""Eigenvalues of small Hermitian matrices: one launch, in which each workgroup has a matrix in its memory.

As of larger ones (:mod:`gpuarray.codegen.calls.linear_algebra.jacobi`) a multiple of the identity is added, columns are
turned until they are orthogonal, and the eigenvalues are Rayleigh quotients.
"""

from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, StepBuffer, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers, near_one
from gpuarray.codegen.calls.linear_algebra.rounds import ALONE, RotationTeam, Rounds, team_of


def eigh(
    builder: Builder,
    source: Matrix,
    values: Matrix | None,
    vectors: Matrix | None,
    status: StepBuffer,
    *,
    conjugated: bool,
) -> bool:
    """Write eigenvalues and eigenvectors of the Hermitian matrix with the lower triangle of another, or its conjugate.

    The status becomes 1 if the last sweep turned columns, or an eigenvalue is not finite. Return False, and write
    nothing, if the matrix is too large.
    """
    n, real = source.columns, Numbers(builder.dtype).real_dtype
    if n > ALONE:
        return False
    team = team_of(builder, n, n, n, extra=2 * -(-n // 2) * (3 * real.itemsize + 4))
    if not team.room:
        return False

    def write(template: Template) -> None:
        _SpectrumWriter(template, builder, team, source, conjugated=conjugated).write(values, vectors, status)

    words = {"columns": n, "pairs": team.pairs, "pitch": team.pitch, **where("given", source)}
    if vectors is not None:
        words |= where("vectors", vectors)
    builder.run(("spectrum", team), "rotations", write, words, builder.batch)
    return True


class _SpectrumWriter:
    """Writes the kernel."""

    def __init__(
        self, template: Template, builder: Builder, team: RotationTeam, source: Matrix, *, conjugated: bool
    ) -> None:
        self.template, self.kernel, self.numbers = template, template.kernel, Numbers(builder.dtype)
        self.team, self.source, self.conjugated = team, source, conjugated
        self.rounds = Rounds(template, builder, team)
        self.read = template.bind(source.buffer, writable=False)

    def write(self, values: Matrix | None, vectors: Matrix | None, status: StepBuffer) -> None:
        """Write the kernel."""
        template, kernel, real, size = self.template, self.kernel, self.numbers.real, 2 * self.team.pairs
        kernel.module += [
            f"var<workgroup> seen: array<vec2<{real}>, {size}>;",
            f"var<workgroup> found: array<{real}, {size}>;",
            f"var<workgroup> source: array<u32, {size}>;",  # the columns in the order of their eigenvalues
            "var<workgroup> is_lost: u32;",
        ]
        template.numbers("columns", "pairs", "pitch")
        kernel.line("let plane = block; let rows = columns; let height = columns;")
        template.matrix("given")
        if vectors is not None:
            template.matrix("vectors")
        self._load()
        self.rounds.turn()
        self._find_values()
        self._sort()
        if values is not None:
            written = template.bind(values.buffer, writable=True)
            self._each_column(written.store("plane * columns + j", "found[min(source[j], columns - 1u)]"))
        if vectors is not None:
            # neighbours write neighbours
            written = template.bind(vectors.buffer, writable=True)
            index = template.index("vectors", vectors, "j", "i")
            self.rounds.each_element("columns", written.store(index, "kept[min(source[i], columns - 1u) * pitch + j]"))
        failed = template.bind(status, writable=True)
        lost = "select(0i, 1i, is_lost != 0u || is_turned != 0u)"
        kernel.line(f"if (local == 0u) {{ {failed.store('plane', lost)} }}")

    def _each_column(self, *lines: str) -> None:
        self.kernel.line(f"for (var j = local; j < columns; j += {self.team.workgroup}u) {{", *lines, "}")

    def _element(self, i: str, j: str) -> list[str]:
        """Return statements that declare an element ``x`` of the matrix."""
        numbers = self.numbers
        index = self.template.index("given", self.source, f"max({i}, {j})", f"min({i}, {j})")
        lines = [f"var x = {self.read.load(index)};"]
        if numbers.is_complex:
            lines += [
                f"if ({i} {'>=' if self.conjugated else '<'} {j}) {{ x = {numbers.conj('x')}; }}",
                f"if ({i} == {j}) {{ x = {numbers.whole('x.x')}; }}",
            ]
        return lines

    def _load(self) -> None:
        """Write the loads of the matrix, its scale, and what makes it positive definite."""
        kernel, numbers, real = self.kernel, self.numbers, self.numbers.real
        self.rounds.each_element("columns", *self._element("i", "j"), "kept[j * pitch + i] = x;")
        kernel.line("if (local == 0u) { is_lost = 0u; }", "workgroupBarrier();")
        self._each_column(
            f"var own = vec2<{real}>();",
            "for (var i = 0u; i < columns; i++) {",
            f"let x = kept[j * pitch + i]; let size = {numbers.size('x')};",
            f"own = vec2<{real}>(max(own.x, size), own.y + size);",
            "}",
            "seen[j] = own;",
        )
        kernel.line(
            "workgroupBarrier();",
            f"var peak = {real}(); var norm = {real}(); var scale = {real}(1);",
            "for (var j = 0u; j < columns; j++) { peak = max(peak, seen[j].x); norm = max(norm, seen[j].y); }",
            *near_one(real),
            f"let shift = select(2 * norm * scale, {real}(1), peak == 0);",
        )
        self.rounds.each_element(
            "columns",
            "var x = kept[j * pitch + i] * scale;",
            f"if (i == j) {{ x += {numbers.whole('shift')}; }}",
            "kept[j * pitch + i] = x;",
        )

    def _find_values(self) -> None:
        """Write the division of columns by their lengths, and the Rayleigh quotients: of two columns by each pair."""
        kernel, numbers, together = self.kernel, self.numbers, self.team.together
        along = f"for (var i = member; i < columns; i += {together}u) {{"
        kernel.line(
            "let first = 2u * pair * pitch; let second = min(2u * pair + 1u, columns - 1u) * pitch;",
            f"var square0 = {numbers.real}(); var square1 = {numbers.real}(); var product = {numbers.zero};",
            along,
            "let x = kept[first + i]; let y = kept[second + i];",
            f"square0 += {numbers.square('x')}; square1 += {numbers.square('y')};",
            "}",
        )
        self.rounds.sum()
        kernel.line(
            "let length0 = sqrt(square0); let length1 = sqrt(square1);",
            along,
            "kept[first + i] /= length0; if (second != first) { kept[second + i] /= length1; }",
            "}",
            "workgroupBarrier();",
            f"square0 = {numbers.real}(); square1 = {numbers.real}();",
            along,
            f"var sum0 = {numbers.zero}; var sum1 = {numbers.zero};",
            "for (var k = 0u; k < columns; k++) {",
            *self._element("i", "k"),
            f"sum0 += {numbers.times('x', 'kept[first + k]')}; sum1 += {numbers.times('x', 'kept[second + k]')};",
            "}",
            f"let x = kept[first + i]; let term0 = {numbers.times(numbers.conj('x'), 'sum0')};",
            f"let y = kept[second + i]; let term1 = {numbers.times(numbers.conj('y'), 'sum1')};",
            f"square0 += {numbers.part('term0')}; square1 += {numbers.part('term1')};",
            "}",
        )
        self.rounds.sum()
        kernel.line("if (member == 0u) { found[2u * pair] = square0; found[2u * pair + 1u] = square1; }")

    def _sort(self) -> None:
        """Write the order of the eigenvalues; those that are not finite stay where they are."""
        self.kernel.line("workgroupBarrier();")
        self._each_column(
            "let own = found[j]; var place = 0u;",
            f"if (!isfinite_{self.numbers.real}(own)) {{ is_lost = 1u; place = j; }} else {{",
            "for (var i = 0u; i < columns; i++) {",
            "if (found[i] < own || (found[i] == own && i < j)) { place += 1u; }",
            "} }",
            "source[place] = j;",
        )
        self.kernel.line("workgroupBarrier();")
