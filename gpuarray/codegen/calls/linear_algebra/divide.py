"""Eigenvalues and eigenvectors of tridiagonal matrices by divide and conquer (Cuppen, 1981).

Blocks of the matrix, without the elements between them, are small matrices at the beginning. Then pairs of them are
merged (:mod:`gpuarray.codegen.calls.linear_algebra.merges`), all of a size in the same launches.
"""

from dataclasses import dataclass, replace

import numpy as np

from gpuarray.codegen.calls.linear_algebra.matrices import INDEX, Builder, Matrix, StepBuffer, Template
from gpuarray.codegen.calls.linear_algebra.merges import Merges
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.calls.linear_algebra.small_spectra import eigh
from gpuarray.codegen.collectives import Collectives
from gpuarray.codegen.storage import LANES
from gpuarray.codegen.wgsl import WORKGROUP
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType

#: Most rows of a block at the beginning, which fits workgroup memory.
_LEAF = 32


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues in ascending order, and eigenvectors, of stacks of matrices.

    Attributes
    ----------
    values : Matrix
        One column of eigenvalues.
    vectors : Matrix
        The eigenvectors.
    """

    values: Matrix
    vectors: Matrix


def tridiagonal_spectrum(builder: Builder, numbers: StepBuffer, n: int, status: StepBuffer) -> Spectrum:
    """Return eigenvalues and vectors of tridiagonal matrices of ``n`` rows.

    Parameters
    ----------
    builder : Builder
        Of real numbers.
    numbers : StepBuffer
        Of each matrix the diagonal, and then the elements below it, none of which is negative: three times ``n``.
    n : int
        Rows.
    status : StepBuffer
        Becomes 1 for a matrix with an element that is not finite.
    """
    levels, size = _division(n, builder.dtype, builder.capabilities)
    rows = size << levels
    norms = builder.buffer(builder.batch, builder.dtype)
    _survey(builder, numbers, n, norms, status)
    values, vectors = _leaves(builder, 1 << levels, numbers, n, norms, size)
    if levels:
        merges = Merges(builder, numbers, n, norms, rows)
        for _ in range(levels):
            size *= 2
            values, vectors = merges.merge(values, vectors, size)
    return Spectrum(
        Matrix(values, n, 1, 0, 1, rows, rows), Matrix(vectors, n, n, 0, rows, 1, rows * rows)
    )  # fmt: skip


def _division(n: int, dtype: DType, capabilities: Capabilities) -> tuple[int, int]:
    """Return how often pairs of blocks are merged, and the rows of the blocks at the beginning."""
    most = _LEAF
    while 4 * most * most * dtype.itemsize > capabilities.workgroup_memory:
        most //= 2
    levels = (-(-n // most) - 1).bit_length()
    return levels, -(-n // (LANES << levels)) * LANES


def rows_of_vectors(n: int, dtype: DType, capabilities: Capabilities) -> int:
    """Return the rows of the eigenvectors of tridiagonal matrices of ``n`` rows, with those of the last block."""
    levels, size = _division(n, dtype, capabilities)
    return size << levels


def _survey(builder: Builder, numbers: StepBuffer, n: int, norms: StepBuffer, status: StepBuffer) -> None:
    """Write the largest elements, and which matrices have some that are not finite."""
    real = Numbers(builder.dtype).real

    def write(template: Template) -> None:
        kernel = template.kernel
        collectives = Collectives(kernel, WORKGROUP, builder.capabilities)
        read, norm = template.bind(numbers, writable=False), template.bind(norms, writable=True)
        failed = template.bind(status, writable=True)
        template.numbers("n")
        kernel.line(
            f"var peak = {real}(); var lost = 0i;",
            f"for (var i = local; i < 2u * n; i += {WORKGROUP}u) {{",
            f"let x = {read.load('block * 3u * n + i')}; peak = max(peak, abs(x));",
            f"if (!isfinite_{real}(x)) {{ lost = 1i; }}",
            "}",
        )
        collectives.reduce(
            {"peak": builder.dtype, "lost": INDEX},
            lambda second: f"peak = max(peak, {second[0]}); lost |= {second[1]};",
        )
        kernel.line("if (local == 0u) {", norm.store("block", "peak"), failed.store("block", "lost"), "}")

    builder.run(("norms",), "norms", write, {"n": n}, builder.batch)


def _leaves(
    whole: Builder, leaves: int, numbers: StepBuffer, n: int, norms: StepBuffer, size: int
) -> tuple[StepBuffer, StepBuffer]:  # fmt: skip
    """Return eigenvalues and vectors of the blocks at the beginning; rows behind the matrix have larger ones."""
    builder = replace(whole, batch=whole.batch * leaves)
    real, info = Numbers(builder.dtype).real, np.finfo(builder.dtype)
    count = builder.batch * size * size
    blocks, vectors = (
        Matrix(builder.buffer(count, builder.dtype), size, size, 0, size, 1, size * size) for _ in range(2)
    )
    values = Matrix(builder.buffer(builder.batch * size, builder.dtype), size, 1, 0, 1, size, size)

    def write(template: Template) -> None:
        kernel = template.kernel
        read, norm = template.bind(numbers, writable=False), template.bind(norms, writable=False)
        written = template.bind(blocks.buffer, writable=True)
        template.numbers("size", "n", "leaves", "all")
        kernel.line(
            f"let e = block * {WORKGROUP}u + local;",
            "if (e >= all) { return; }",
            "let leaf = e / (size * size); let matrix = leaf / leaves; let at = matrix * 3u * n;",
            "let i = e / size % size; let j = e % size; let row = (leaf - matrix * leaves) * size + i;",
            f"var x = {real}();",
            "if (row >= n) {",
            f"if (i == j) {{ let norm = {norm.load('matrix')}; x = select({real}(1), 4 * norm, norm > 0); }}",
            "} else if (i == j) {",
            f"x = {read.load('at + row')};",
            f"if (i == 0u && row > 0u) {{ x -= {read.load('at + n + row - 1u')}; }}",
            f"if (i + 1u == size && row + 1u < n) {{ x -= {read.load('at + n + row')}; }}",
            "} else if (i + 1u == j && row + 1u < n) {",
            f"x = {read.load('at + n + row')};",
            "} else if (j + 1u == i) {",
            f"x = {read.load('at + n + row - 1u')};",
            "}",
            # the squares of smaller ones have few digits
            written.store("e", f"select(x, {real}(), abs(x) < {real}({float(info.tiny / info.eps)!r}))"),
        )

    count = builder.batch * size * size
    words = {"size": size, "n": n, "leaves": leaves, "all": count}
    builder.run(("leaves",), "blocks", write, words, -(-count // WORKGROUP))
    if not eigh(builder, blocks, values, vectors, builder.buffer(builder.batch, INDEX), conjugated=False):
        raise AssertionError("a block fits workgroup memory")
    return values.buffer, vectors.buffer
