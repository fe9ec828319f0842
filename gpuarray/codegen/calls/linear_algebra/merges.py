"""Merges of the eigenvalues and eigenvectors of two blocks of a tridiagonal matrix (Cuppen, 1981).

A matrix is a block diagonal one plus ``rho z z^T``, where the blocks are halves of it. With their eigenvectors as a
basis it is a diagonal matrix of *poles* plus such a product, whose eigenvalues are the *roots* of the secular equation
``1 + rho sum(z_i^2 / (d_i - x)) = 0``, one after each pole. Poles with a negligible z are eigenvalues themselves; of
two that are too near each other one is, after a rotation.

Each root is known by its distance from the nearest pole, and the vectors are those of the z for which the roots are
exact, so that they are orthogonal to rounding (Gu and Eisenstat, 1995).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gpuarray.codegen.calls.linear_algebra.blocks import update
from gpuarray.codegen.calls.linear_algebra.matrices import INDEX, Builder, Matrix, StepBuffer, Template
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.collectives import Collectives
from gpuarray.codegen.wgsl import WORKGROUP

#: Invocations that find a root.
_MEMBERS = 64

#: The properties of the columns of a merge, each in a section of a buffer: first real numbers, then positions.
_SECTIONS = ("d", "z", "sorted_d", "sorted_z", "root", "offset", "weight", "inverse", "cosine", "sine")
_INDICES = ("slot", "sorted_row", "origin", "rank", "first", "second", "counts")


class Merges:
    """The buffers of merges, which all of them share."""

    def __init__(self, builder: Builder, numbers: StepBuffer, n: int, norms: StepBuffer, rows: int) -> None:
        self.builder, self.numbers, self.n, self.norms, self.rows = builder, numbers, n, norms, rows
        self.all = builder.batch * rows
        self.state = builder.buffer(len(_SECTIONS) * self.all, builder.dtype)
        self.indices = builder.buffer(len(_INDICES) * self.all, INDEX)
        self.turns = builder.buffer(self.all * rows, builder.dtype)
        self._vectors = [builder.buffer(self.all * rows, builder.dtype) for _ in range(2)]
        self._values = [builder.buffer(self.all, builder.dtype) for _ in range(2)]

    def merge(self, values: StepBuffer, vectors: StepBuffer, size: int) -> tuple[StepBuffer, StepBuffer]:
        """Return eigenvalues and vectors of blocks of ``size`` rows, of those of their halves."""
        builder, half = replace(self.builder, batch=self.all // size), size // 2
        merged, result = self._values[0], self._vectors[0]
        self._values.reverse()
        self._vectors.reverse()

        def run(key: tuple[object, ...], write: Callable[["_MergeWriter"], None], groups: int, workgroup: int) -> None:
            def begin(template: Template) -> None:
                template.kernel.workgroup = workgroup
                write(_MergeWriter(template, builder, self))

            counts = {"size": size, "n": self.n, "blocks": self.rows // size, "all": self.all, "each": groups}
            builder.run(key, str(key[0]), begin, counts, builder.batch * groups)

        run(("poles", values, vectors), lambda kernel: kernel.write_poles(values, vectors), 1, WORKGROUP)
        run(("roots",), _MergeWriter.write_roots, size, _MEMBERS)
        run(("weights",), _MergeWriter.write_weights, size, _MEMBERS)
        run(("ranks", merged), lambda kernel: kernel.write_ranks(merged), size, _MEMBERS)
        run(("columns",), _MergeWriter.write_columns, -(-size * size // WORKGROUP), WORKGROUP)
        run(("rotations",), _MergeWriter.write_rotations, -(-size // _MEMBERS), _MEMBERS)
        # rows of the halves are those of the whole, one half after the other
        left = Matrix(vectors, half, half, 0, half, 1, half * half)
        right, target = (Matrix(b, half, size, 0, size, 1, half * size) for b in (self.turns, result))
        update(replace(builder, batch=2 * builder.batch), target, left, right, sign=0)
        return merged, result


class _MergeWriter:
    """Writes one of the kernels of a merge."""

    def __init__(self, template: Template, builder: Builder, merges: Merges) -> None:
        self.template, self.kernel, self.builder, self.merges = template, template.kernel, builder, merges
        self.real, self.info = Numbers(builder.dtype).real, np.finfo(builder.dtype)
        self.state, self.indices = (template.bind(b, writable=True) for b in (merges.state, merges.indices))
        self.collectives = Collectives(self.kernel, self.kernel.workgroup, builder.capabilities)
        template.numbers("size", "n", "blocks", "all", "each")
        self.kernel.line(
            "let plane = block / each; let item = block - plane * each; let base = plane * size;",
            "let matrix = plane / blocks; let boundary = (plane - matrix * blocks) * size + size / 2u;",
        )

    def number(self, section: str, index: str) -> str:
        """Return a number of a column."""
        return self.state.load(self._at(_SECTIONS, section, index))

    def index(self, section: str, index: str) -> str:
        """Return a property of a column that is a position."""
        return f"min(u32({self.indices.load(self._at(_INDICES, section, index))}), size)"

    def keep(self, section: str, index: str, value: str) -> str:
        """Return the statement that notes something."""
        if section in _SECTIONS:
            return self.state.store(self._at(_SECTIONS, section, index), value)
        return self.indices.store(self._at(_INDICES, section, index), f"i32({value})")

    def _at(self, sections: tuple[str, ...], section: str, index: str) -> str:
        return f"{sections.index(section)}u * all + base + {index}"

    def _rho(self) -> str:
        """Return the statement that declares the factor of ``z z^T``, where z has unit length."""
        edge = self.template.bind(self.merges.numbers, writable=False).load("(3u * matrix + 1u) * n + boundary - 1u")
        return f"var rho = {self.real}(); if (boundary < n) {{ rho = 2 * {edge}; }}"

    def write_poles(self, values: StepBuffer, vectors: StepBuffer) -> None:
        """Write the poles in ascending order, z, and which columns are turned; one workgroup finds them."""
        kernel, real, workgroup = self.kernel, self.real, self.kernel.workgroup
        self._sort_poles(values, vectors)
        kernel.module.append(f"var<workgroup> near: array<vec2<{real}>, {workgroup}>;")
        kernel.module.append(f"var<workgroup> row_of: array<u32, {workgroup}>;")
        kernel.line(
            "var poles = 0u; var others = 0u; var turned = 0u; var row = size;",
            f"var d = {real}(); var z = {real}();",
            f"for (var start = 0u; start < size; start += {workgroup}u) {{",
            "let k = start + local;",
            f"if (k < size) {{ near[local] = vec2<{real}>({self.number('sorted_d', 'k')}, "
            f"{self.number('sorted_z', 'k')}); row_of[local] = min({self.index('sorted_row', 'k')}, size - 1u); }}",
            "workgroupBarrier();",
            f"if (local == 0u) {{ for (var c = 0u; c < min({workgroup}u, size - start); c++) {{",
            "var next = near[c]; let next_row = row_of[c];",
            "if (rho * abs(next.y) <= least) {",
            *self._set_aside("next_row", "next.x"),
            "continue;",
            "}",
            "if (row < size) {",
            # a rotation makes one z zero, and the element that it leaves off the diagonal is negligible
            "let both = sqrt(z * z + next.y * next.y); let c = next.y / both; let s = -z / both;",
            "if (abs((next.x - d) * c * s) <= least) {",
            *self._set_aside("row", "d * c * c + next.x * s * s"),
            self.keep("first", "turned", "row"), self.keep("second", "turned", "next_row"),
            self.keep("cosine", "turned", "c"), self.keep("sine", "turned", "s"),
            "turned += 1u;",
            f"next = vec2<{real}>(d * s * s + next.x * c * c, both);",
            "} else {",
            *self._add_pole(),
            "} }",
            "row = next_row; d = next.x; z = next.y;",
            "} }",
            "workgroupBarrier();",
            "}",
            "if (local == 0u) {",
            "if (row < size) {",
            *self._add_pole(),
            "}",
            self.keep("counts", "0u", "poles"), self.keep("counts", "1u", "turned"),
            "}",
        )  # fmt: skip

    def _sort_poles(self, values: StepBuffer, vectors: StepBuffer) -> None:
        """Write the eigenvalues of both halves in ascending order, with z and their rows."""
        template, real, workgroup = self.template, self.real, self.kernel.workgroup
        halves, basis = template.bind(values, writable=False), template.bind(vectors, writable=False)
        norm = template.bind(self.merges.norms, writable=False)
        self.kernel.line(
            self._rho(),
            f"let least = {real}({4 * float(self.info.eps)!r}) * {norm.load('matrix')};",
            "let half = size / 2u;",
            f"for (var k = local; k < size; k += {workgroup}u) {{",
            f"let is_second = k >= half; let d = {halves.load('base + k')};",
            # the position among the other half: of equal ones those of the first half come first
            "var low = select(half, 0u, is_second); var high = low + half;",
            "while (low < high) {",
            f"let mid = (low + high) / 2u; let other = {halves.load('base + mid')};",
            "if (other < d || (is_second && other == d)) { low = mid + 1u; } else { high = mid; }",
            "}",
            "let to = k + low - half;",
            # the last row of the first half, and the first row of the second one
            "let along = select((2u * plane + 1u) * half * half - half + k, "
            "(2u * plane + 1u) * half * half + k - half, is_second);",
            self.keep("sorted_d", "to", "d"),
            self.keep("sorted_z", "to", f"{basis.load('along')} * {real}({0.5**0.5!r})"),
            self.keep("sorted_row", "to", "k"),
            "}",
            "storageBarrier(); workgroupBarrier();",
        )

    def _set_aside(self, row: str, value: str) -> list[str]:
        """Return statements that make a row an eigenvector, from the last column on."""
        column = "size - 1u - others"
        return [self.keep("slot", row, column), self.keep("root", column, value), "others += 1u;"]

    def _add_pole(self) -> list[str]:
        return [
            self.keep("d", "poles", "d"), self.keep("z", "poles", "z"), self.keep("slot", "row", "poles"),
            "poles += 1u;",
        ]  # fmt: skip

    def _poles(self) -> str:
        return f"let poles = {self.index('counts', '0u')};"

    def _distance(self, pole: str, origin: str, offset: str) -> str:
        """Return the distance of a pole from a root.

        A compiler that regroups it, as those of NVIDIA do in double precision, loses the digits of the offset.
        """
        return f"(opaque_{self.real}({self.number('d', pole)} - {origin}) - {offset})"

    def write_roots(self) -> None:
        """Write the root after each pole: its distance from the nearer one of the poles beside it, by bisection."""
        kernel, real = self.kernel, self.real
        # halvings of the distance of the poles, the powers of two among them, and then digits
        powers, digits = (6, 26) if self.info.bits == 32 else (7, 55)
        kernel.line(
            self._poles(),
            "if (item >= poles) { return; }",
            self._rho(),
            f"let own = {self.number('d', 'item')}; var side = {real}(1); var origin = own;",
            f"let is_last = item + 1u == poles; var widest = {real}();",
            f"if (!is_last) {{ widest = {real}(0.5) * ({self.number('d', 'item + 1u')} - own); }}",
            f"var low = {real}(); var high = {real}();",
            f"for (var step = 0u; step < {1 + powers + digits}u; step++) {{",
            "workgroupBarrier();",
            f"var trial = {real}(0.5) * (low + high);",
            "if (step == 0u) { trial = widest; }",
            f"else if (step <= {powers}u) {{ trial = high; "
            f"for (var n = 0u; n < ({1 << powers}u >> step); n++) {{ trial *= {real}(0.5); }} }}",
            "let offset = side * trial;",
            f"var total = {real}(); var squares = {real}();",
            f"for (var i = local; i < poles; i += {_MEMBERS}u) {{",
            f"let z = {self.number('z', 'i')}; let gap = {self._distance('i', 'origin', 'offset')};",
            "squares += z * z; total += z * z / gap;",
            "}",
        )
        states = {"total": self.builder.dtype, "squares": self.builder.dtype}
        self.collectives.reduce(states, lambda second: f"total += {second[0]}; squares += {second[1]};")
        kernel.line(
            "let value = 1 + rho * total;",
            "if (step == 0u) {",
            "high = select(widest, rho * squares, is_last);",
            f"if (!is_last && value < 0) {{ side = {real}(-1); origin = {self.number('d', 'item + 1u')}; }}",
            "continue;",
            "}",
            "let is_beyond = side * value < 0;",
            f"if (step <= {powers}u) {{ if (!is_beyond) {{ high = trial; }} }}",
            "else if (is_beyond) { low = trial; } else { high = trial; }",
            "}",
            "if (local == 0u) {",
            "let offset = side * high;",
            self.keep("offset", "item", "offset"), self.keep("root", "item", "origin + offset"),
            self.keep("origin", "item", "select(item + 1u, item, side > 0)"),
            "}",
        )  # fmt: skip

    def _origin(self, column: str) -> str:
        """Return the pole from which the root of a column is measured."""
        return self.number("d", f"min({self.index('origin', column)}, size - 1u)")

    def write_weights(self) -> None:
        """Write the z for which the roots are exact."""
        kernel, real = self.kernel, self.real
        kernel.line(
            self._poles(),
            "if (item >= poles) { return; }",
            f"let own = {self.number('d', 'item')}; var square = {real}(1);",
            f"for (var j = local; j < poles; j += {_MEMBERS}u) {{",
            f"let distance = {self._distance('item', self._origin('j'), self.number('offset', 'j'))};",
            f"square *= abs(distance / select(own - {self.number('d', 'j')}, {real}(1), j == item));",
            "}",
        )
        self.collectives.reduce({"square": self.builder.dtype}, lambda second: f"square *= {second[0]};")
        kernel.line(
            "if (local == 0u) {",
            f"let weight = sqrt(square); let z = {self.number('z', 'item')};",
            self.keep("weight", "item", "select(weight, -weight, z < 0)"),
            "}",
        )

    def write_ranks(self, values: StepBuffer) -> None:
        """Write the positions of columns in ascending order, and their divisors."""
        kernel, real = self.kernel, self.real
        written = self.template.bind(values, writable=True)
        kernel.line(
            self._poles(),
            f"let own = {self.number('root', 'item')}; var rank = 0i; var square = {real}();",
            f"for (var i = local; i < size; i += {_MEMBERS}u) {{",
            f"let other = {self.number('root', 'i')};",
            "if (other < own || (other == own && i < item)) { rank += 1i; }",
            "}",
            "if (item < poles) {",
            f"let origin = {self._origin('item')}; let offset = {self.number('offset', 'item')};",
            f"for (var i = local; i < poles; i += {_MEMBERS}u) {{",
            f"let x = {self.number('weight', 'i')} / {self._distance('i', 'origin', 'offset')}; square += x * x;",
            "} }",
        )
        states = {"rank": INDEX, "square": self.builder.dtype}
        self.collectives.reduce(states, lambda second: f"rank += {second[0]}; square += {second[1]};")
        kernel.line(
            "if (local == 0u) {",
            self.keep("rank", "item", "rank"), self.keep("inverse", "item", "1 / sqrt(square)"),
            written.store("base + u32(rank)", "own"),
            "}",
        )  # fmt: skip

    def _turns(self, row: str, column: str) -> str:
        return f"(base + {row}) * size + {column}"

    def write_columns(self) -> None:
        """Write the eigenvectors, but for the rotations."""
        written = self.template.bind(self.merges.turns, writable=True)
        distance = self._distance("slot", self._origin("column"), self.number("offset", "column"))
        self.kernel.line(
            self._poles(),
            f"let e = item * {WORKGROUP}u + local;",
            "if (e >= size * size) { return; }",
            "let row = e / size; let column = e % size;",
            f"let slot = {self.index('slot', 'row')};",
            f"var x = select({self.real}(), {self.real}(1), slot == column);",
            "if (column < poles) {",
            f"x = {self.real}();",
            f"if (slot < poles) {{ x = {self.number('weight', 'slot')} / {distance} * "
            f"{self.number('inverse', 'column')}; }}",
            "}",
            f"let to = min({self.index('rank', 'column')}, size - 1u);",
            written.store(self._turns("row", "to"), "x"),
        )

    def write_rotations(self) -> None:
        """Write the rotations of rows, from the last to the first; an invocation has a column."""
        access = self.template.bind(self.merges.turns, writable=True)
        one, other = self._turns("first", "column"), self._turns("second", "column")
        self.kernel.line(
            f"let column = item * {_MEMBERS}u + local;",
            "if (column >= size) { return; }",
            f"for (var n = {self.index('counts', '1u')}; n > 0u; n--) {{",
            f"let first = min({self.index('first', 'n - 1u')}, size - 1u);",
            f"let second = min({self.index('second', 'n - 1u')}, size - 1u);",
            f"let c = {self.number('cosine', 'n - 1u')}; let s = {self.number('sine', 'n - 1u')};",
            f"let x = {access.load(one)}; let y = {access.load(other)};",
            access.store(one, "c * x - s * y"),
            access.store(other, "s * x + c * y"),
            "}",
        )
