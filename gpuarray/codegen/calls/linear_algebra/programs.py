"""The programs of calls of linear algebra: their operands are copied, factorised, and the results written."""

from math import prod
from typing import Any, Final

import numpy as np

from gpuarray.codegen.calls.kernels import CallKernels
from gpuarray.codegen.calls.linear_algebra import (
    cholesky,
    hermitian,
    householder,
    jacobi,
    lu,
    small,
    small_spectra,
    spectra,
    triangles,
)
from gpuarray.codegen.calls.linear_algebra.blocks import ALL, HERMITIAN, IDENTITY, LOWER, UPPER, move, update
from gpuarray.codegen.calls.linear_algebra.columns import restore_signs, sum_columns, take
from gpuarray.codegen.calls.linear_algebra.determinants import determinant
from gpuarray.codegen.calls.linear_algebra.divide import rows_of_vectors
from gpuarray.codegen.calls.linear_algebra.matrices import INDEX, Builder, Matrix, StepBuffer, too_large
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.programs import Program
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import CallStep
from gpuarray.ops import factorisations


def _builder(step: CallStep, label: str, capabilities: Capabilities, dtype: DType) -> Builder:
    return Builder(label, dtype, prod(step.shapes[0][:-2]), capabilities)


def _output(builder: Builder, step: CallStep, pick: int, rows: int, columns: int, dtype: DType) -> Matrix | None:
    """Return an output of the call, or None if it is not wanted."""
    if pick not in step.picks:
        return None
    return builder.array("output", step.picks.index(pick), rows, columns, dtype)


def _status(builder: Builder, step: CallStep, pick: int) -> StepBuffer:
    status = _output(builder, step, pick, 1, 1, INDEX)
    return builder.buffer(builder.batch, INDEX) if status is None else status.buffer


def _cholesky(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    n, dtype = step.shapes[0][-1], step.output_dtypes[step.picks.index(0)]
    builder = _builder(step, label, capabilities, dtype)
    source = builder.array("input", 0, n, n, step.input_dtypes[0])
    result = builder.array("output", step.picks.index(0), n, n, dtype)
    upper, status = bool(dict(step.parameters).get("upper")), _status(builder, step, 1)
    if team := small.team_of(n, dtype, capabilities):
        small.cholesky(
            builder, team, source.T if upper else source, result.T if upper else result, status, conjugated=upper
        )
        return builder.program()
    a = builder.matrix(n, n)
    move(builder, source.T if upper else source, a, HERMITIAN, conjugated=upper)
    factor = builder.matrix(n, n)
    cholesky.factorise(builder, a, factor, status)
    if upper:
        move(builder, factor.T, result, UPPER, conjugated=True)
    else:
        move(builder, factor, result, LOWER)
    return builder.program()


def _factors(builder: Builder, step: CallStep, status: StepBuffer) -> tuple[Matrix, StepBuffer]:
    """Return the LU factors of the first operand, and the rows that were pivots."""
    n = step.shapes[0][-1]
    a, pivots = builder.matrix(n, n), builder.buffer(builder.batch * n, INDEX)
    source = builder.array("input", 0, n, n, step.input_dtypes[0])
    if team := small.team_of(n, builder.dtype, builder.capabilities):
        small.factorise(builder, team, source, a, pivots, status)
    else:
        move(builder, source, a)
        lu.factorise(builder, a, pivots, status)
    return a, pivots


def _lu(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    (m, n), dtype = step.shapes[0][-2:], step.output_dtypes[step.picks.index(0)]
    builder = _builder(step, label, capabilities, dtype)
    a, least = builder.matrix(m, n), min(m, n)
    move(builder, builder.array("input", 0, m, n, step.input_dtypes[0]), a)
    chosen = _output(builder, step, 1, least, 1, INDEX)
    pivots = builder.buffer(builder.batch * least, INDEX) if chosen is None else chosen.buffer
    lu.factorise(builder, a, pivots, _status(builder, step, 2))
    move(builder, a, builder.array("output", step.picks.index(0), m, n, dtype))
    return builder.program()


def _row_order(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    (*batch, steps), rows = step.shapes[0], step.output_shapes[0][-1]
    parameters = dict(step.parameters)
    builder = Builder(label, INDEX, prod(batch), capabilities)
    pivots, order = builder.array("input", 0, steps, 1, INDEX), builder.array("output", 0, rows, 1, INDEX)
    lu.write_order(builder, pivots.buffer, order.buffer, rows, steps, inverse=bool(parameters["inverse"]))
    return builder.program()


def _solve_triangular(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    n, columns, (dtype,) = step.shapes[0][-1], step.shapes[1][-1], step.output_dtypes
    parameters = dict(step.parameters)
    builder = _builder(step, label, capabilities, dtype)
    triangle, x = builder.array("input", 0, n, n, dtype), builder.matrix(n, columns)
    move(builder, builder.array("input", 1, n, columns, dtype), x)
    transposed = bool(parameters["transposed"])
    upper = bool(parameters["lower"]) == transposed
    triangles.solve(builder, triangle.T if transposed else triangle, x, upper=upper, unit=bool(parameters["unit"]))
    move(builder, x, builder.array("output", 0, n, columns, dtype))
    return builder.program()


def _solve_with(builder: Builder, step: CallStep, right: Matrix | None, target: Matrix, status: StepBuffer) -> None:
    """Solve for right sides, or for the identity without any, and write the solutions."""
    n, columns = step.shapes[0][-1], target.columns
    team = small.team_of(n, builder.dtype, builder.capabilities)
    if team and columns <= small.MOST_TURNS * team.size:
        source = builder.array("input", 0, n, n, step.input_dtypes[0])
        small.solve(builder, team, source, right, target, status)
        return
    pivots, together = (
        builder.buffer(builder.batch * n, INDEX),
        builder.batch * n * (n + columns) * builder.dtype.itemsize,
    )
    is_joint = too_large(together, builder.capabilities) is None
    # right sides beside the matrix are solved for with L while it is factorised
    both = builder.matrix(n, n + columns if is_joint else n)
    a, x = both[:, :n], both[:, n:] if is_joint else builder.matrix(n, columns)
    move(builder, builder.array("input", 0, n, n, step.input_dtypes[0]), a)
    if right is None:
        move(builder, a, x, IDENTITY)
    else:
        move(builder, right, x)
    lu.factorise(builder, both, pivots, status, n)
    if not is_joint:
        lu.solve_lower(builder, a, pivots, x)
    triangles.solve(builder, a, x, upper=True)
    move(builder, x, target)


def _inv(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    n, dtype = step.shapes[0][-1], step.output_dtypes[step.picks.index(0)]
    builder = _builder(step, label, capabilities, dtype)
    target = builder.array("output", step.picks.index(0), n, n, dtype)
    _solve_with(builder, step, None, target, _status(builder, step, 1))
    return builder.program()


def _solve(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    n, dtype = step.shapes[0][-1], step.output_dtypes[step.picks.index(0)]
    builder = _builder(step, label, capabilities, dtype)
    columns = 1 if len(step.shapes[1]) == 1 else step.shapes[1][-1]
    one = prod(step.shapes[1][:-2]) == 1 and builder.batch != 1
    right = builder.array("input", 1, n, columns, step.input_dtypes[1], one=one)
    target = builder.array("output", step.picks.index(0), n, columns, dtype)
    _solve_with(builder, step, right, target, _status(builder, step, 1))
    return builder.program()


def _det(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    (dtype,) = step.output_dtypes
    builder = _builder(step, label, capabilities, dtype)
    factors, pivots = _factors(builder, step, builder.buffer(builder.batch, INDEX))
    determinant(builder, factors, pivots, _output(builder, step, 0, 1, 1, dtype), None)
    return builder.program()


def _slogdet(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    dtype = step.output_dtypes[step.picks.index(0)]
    builder = _builder(step, label, capabilities, dtype)
    factors, pivots = _factors(builder, step, builder.buffer(builder.batch, INDEX))
    sign = _output(builder, step, 0, 1, 1, dtype)
    size = _output(builder, step, 1, 1, 1, Numbers(dtype).real_dtype)
    determinant(builder, factors, pivots, sign, size)
    return builder.program()


def _qr(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    (m, n), dtype = step.shapes[0][-2:], step.output_dtypes[0]
    mode = str(dict(step.parameters)["mode"])
    builder = _builder(step, label, capabilities, dtype)
    a = builder.matrix(m, n)
    move(builder, builder.array("input", 0, m, n, step.input_dtypes[0]), a)
    width = m if mode == "complete" else min(m, n)
    q = householder.factorise(builder, a, width)
    if mode == "raw":
        for pick, matrix in enumerate((a.T, q.scales)):
            target = _output(builder, step, pick, matrix.rows, matrix.columns, dtype)
            if target is not None:
                move(builder, matrix, target)
        return builder.program()
    r = _output(builder, step, 0 if mode == "r" else 1, width, n, dtype)
    if r is not None:
        move(builder, a, r, UPPER)
    target = _output(builder, step, 0, m, width, dtype) if mode != "r" else None
    if target is not None:
        x = builder.matrix(m, width)
        move(builder, a, x, IDENTITY)
        householder.multiply(builder, q, x)
        move(builder, x, target)
    return builder.program()


def _eigh(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    n, pick = step.shapes[0][-1], 1 if step.op is factorisations.eigh else None
    dtype = step.input_dtypes[0]
    builder = _builder(step, label, capabilities, dtype)
    source = builder.array("input", 0, n, n, dtype)
    upper = dict(step.parameters)["UPLO"] == "U"
    triangle = source.T if upper else source
    status = _status(builder, step, 1 if pick is None else 2)
    values = _output(builder, step, 0, n, 1, Numbers(dtype).real_dtype)
    vectors = _output(builder, step, 1, n, n, dtype) if pick is not None else None
    if small_spectra.eigh(builder, triangle, values, vectors, status, conjugated=upper):
        return builder.program()
    a = builder.matrix(n, n)
    move(builder, triangle, a, HERMITIAN, conjugated=upper)
    hermitian.diagonalise(builder, a, values, vectors, status)
    return builder.program()


def _svd(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    (m, n), dtype = step.shapes[0][-2:], step.input_dtypes[0]
    parameters = dict(step.parameters)
    alone = parameters.get("compute_uv") is False
    builder = _builder(step, label, capabilities, dtype)
    source = builder.array("input", 0, m, n, dtype)
    # columns are orthogonalised, and there are no more of them than rows
    wide = m < n
    rows, short = max(m, n), min(m, n)
    a = builder.matrix(rows, short)
    form = HERMITIAN if parameters["hermitian"] else ALL
    move(builder, source.T if wide else source, a, form, conjugated=wide)
    status = _status(builder, step, 1 if alone else 3)
    columns = jacobi.orthogonalise(builder, a, status, vectors=not alone)
    values = _output(builder, step, 0 if alone else 1, short, 1, Numbers(dtype).real_dtype)
    if values is not None:
        columns.write(builder, values.buffer)
    if alone or not short:
        return builder.program()
    # of U, what belongs to singular values that are not negligible; the factor Q begins with these columns
    width = rows if parameters["full_matrices"] else short
    left = builder.matrix(rows, short)
    take(builder, columns, columns.work, left, unit=True)
    q = householder.factorise(builder, left, width)
    x = builder.matrix(rows, width)
    move(builder, a, x, IDENTITY)
    householder.multiply(builder, q, x)
    restore_signs(builder, left, x)
    u = _output(builder, step, 0, m, short if wide else width, dtype)
    vh = _output(builder, step, 2, width if wide else short, n, dtype)
    assert columns.vectors is not None
    if wide:
        if vh is not None:
            move(builder, x.T, vh, conjugated=True)
        if u is not None:
            take(builder, columns, columns.vectors, u, unit=False)
    else:
        if u is not None:
            move(builder, x, u)
        if vh is not None:
            take(builder, columns, columns.vectors, vh.T, unit=False, conjugated=True)
    return builder.program()


def _lstsq(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    (m, n), dtype = step.shapes[0], step.output_dtypes[step.picks.index(0)]
    builder = _builder(step, label, capabilities, dtype)
    count = step.shapes[1][1] if len(step.shapes[1]) == 2 else 1
    source = builder.array("input", 0, m, n, step.input_dtypes[0])
    wide, short = m < n, min(m, n)
    a, left, right = builder.matrix(max(m, n), short), builder.matrix(m, n), builder.matrix(m, count)
    move(builder, source.T if wide else source, a, conjugated=wide)
    move(builder, source, left)
    move(builder, builder.array("input", 1, m, count, step.input_dtypes[1]), right)
    columns = jacobi.orthogonalise(builder, a, _status(builder, step, 4), vectors=True)
    share = _share(dict(step.parameters)["rcond"], float(np.finfo(dtype).eps), max(m, n))
    x = spectra.least_squares(builder, columns, right, share, wide=wide)
    move(builder, x, builder.array("output", step.picks.index(0), n, count, dtype))
    real = Numbers(dtype).real_dtype
    if residuals := _output(builder, step, 1, count, 1, real):
        update(builder, right, left, x)
        sum_columns(builder, "squares", "sums of squares", residuals.buffer, Numbers(dtype).square("x"), x=right)
    if rank := _output(builder, step, 2, 1, 1, INDEX):
        spectra.write_rank(builder, columns, share, rank.buffer)
    if values := _output(builder, step, 3, short, 1, real):
        columns.write(builder, values.buffer)
    return builder.program()


def _share(rcond: Any, epsilon: float, size: int) -> float:
    """Return up to which share of the largest one singular values count as zeros; LAPACK's is epsilon if negative."""
    if rcond is None:
        return epsilon * size
    return epsilon if rcond < 0 else float(rcond)


def _cond(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    (m, n), dtype, p = step.shapes[0][-2:], step.input_dtypes[0], dict(step.parameters)["p"]
    builder = _builder(step, label, capabilities, dtype)
    source, a = builder.array("input", 0, m, n, dtype), builder.matrix(max(m, n), min(m, n))
    move(builder, source.T if m < n else source, a)
    target = builder.array("output", step.picks.index(0), 1, 1, Numbers(dtype).real_dtype).buffer
    status = _status(builder, step, 1)
    if p not in (1, -1, np.inf, -np.inf):
        columns = jacobi.orthogonalise(builder, a, status)
        spectra.write_ratios(builder, columns, p, target)
        return builder.program()
    inverse = builder.matrix(n, n)
    _solve_with(builder, step, None, inverse, status)
    one, other = (spectra.norm(builder, x if abs(p) == 1 else x.T, smallest=p < 0) for x in (a, inverse))
    spectra.write_products(builder, one, other, target, status)
    return builder.program()


def _unsupported_spectrum(step: CallStep, capabilities: Capabilities) -> str | None:
    """Return why eigenvalues or singular values cannot be computed: integers have no dtype of their factors."""
    if step.input_dtypes[0].kind not in "fc":
        return "the matrices are not of a floating or complex dtype"
    rows, columns = step.shapes[0][-2:]
    if not rows * columns:
        return "the matrices are empty"
    return _unsupported_factors(step, capabilities)


def _unsupported_values(step: CallStep, capabilities: Capabilities) -> str | None:
    """Return why eigenvalues cannot be computed: eigenvectors have rows behind those of the matrices."""
    dtype = step.input_dtypes[0]
    rows = rows_of_vectors(step.shapes[0][-1], dtype, capabilities)
    nbytes = prod(step.shapes[0][:-2]) * rows * rows * dtype.itemsize
    return _unsupported_spectrum(step, capabilities) or too_large(nbytes, capabilities)


def _unsupported_system(step: CallStep, capabilities: Capabilities) -> str | None:
    """Return why a solve cannot run: the right sides need a matrix each, or all the same one."""
    if len(step.shapes[1]) > 1 and step.shapes[0][:-2] != step.shapes[1][:-2] and prod(step.shapes[1][:-2]) != 1:
        return "the stacks of matrices and right sides have different shapes"
    return _unsupported(step, capabilities)


def _unsupported_triangle(step: CallStep, capabilities: Capabilities) -> str | None:
    if step.shapes[0][:-2] != step.shapes[1][:-2]:
        return "the stacks of matrices and right sides have different shapes"
    if len({*step.input_dtypes, *step.output_dtypes}) > 1:
        return "the matrices and right sides have different dtypes"
    return _unsupported_factors(step, capabilities)


def _unsupported_squares(step: CallStep, capabilities: Capabilities) -> str | None:
    """Return why least squares cannot be computed; their operands are converted."""
    if not all(prod(shape) for shape in step.shapes):
        return "the matrices are empty"
    return _unsupported(step, capabilities)


def _unsupported_condition(step: CallStep, capabilities: Capabilities) -> str | None:
    return "only the status is wanted" if 0 not in step.picks else _unsupported_spectrum(step, capabilities)


def _unsupported_signs(step: CallStep, capabilities: Capabilities) -> str | None:
    return None if 0 in step.picks and 1 in step.picks else "only one output is wanted"


def _unsupported(step: CallStep, capabilities: Capabilities) -> str | None:
    return "only the status is wanted" if 0 not in step.picks else _unsupported_factors(step, capabilities)


def _unsupported_factors(step: CallStep, capabilities: Capabilities) -> str | None:
    itemsize = max(dtype.itemsize for dtype in step.output_dtypes)
    largest = max(prod(shape) for shape in (*step.shapes, *step.output_shapes))
    return too_large((largest + 4 * max(step.shapes[0][-2:]) * prod(step.shapes[0][:-2])) * itemsize, capabilities)


_EIGH: Final = CallKernels(_eigh, _unsupported_values)

KERNELS: Final = {
    factorisations.cholesky: CallKernels(_cholesky, _unsupported),
    factorisations.cond: CallKernels(_cond, _unsupported_condition),
    factorisations.det: CallKernels(_det, _unsupported),
    factorisations.eigh: _EIGH,
    factorisations.eigvalsh: _EIGH,
    factorisations.inv: CallKernels(_inv, _unsupported),
    factorisations.lstsq: CallKernels(_lstsq, _unsupported_squares),
    factorisations.lu: CallKernels(_lu, _unsupported),
    factorisations.qr: CallKernels(_qr, _unsupported_factors),
    factorisations.row_order: CallKernels(_row_order),
    factorisations.slogdet: CallKernels(_slogdet, _unsupported_signs),
    factorisations.solve: CallKernels(_solve, _unsupported_system),
    factorisations.solve_triangular: CallKernels(_solve_triangular, _unsupported_triangle),
    factorisations.svd: CallKernels(_svd, _unsupported_spectrum),
}
