"""The transposes of calls: sorts, Fourier transforms, and the factorisations of linear algebra.

The rules of factorisations are those of Giles (Collected matrix derivative results, 2008) and of Seeger et al.
(Auto-differentiating linear algebra, 2017), with conjugates where cotangents of complex numbers have none.

Most rules take arrays of this package, and NumPy's arrays and scalars, with which they compute at once.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff import composed, folds, triangles
from gpuarray.autodiff import images as image_rules
from gpuarray.autodiff.elementwise import adjoint, apply, conj, converted, fitted, scaled
from gpuarray.autodiff.errors import name_of, undefined
from gpuarray.autodiff.subgraph import Cotangents, Outputs, called, outputs_of
from gpuarray.device import Device
from gpuarray.graph import build, tape, tracing
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import Node
from gpuarray.graph.shapes import broadcast_shapes
from gpuarray.ops import calls, factorisations, generators, images
from gpuarray.ops import elementwise as ops
from gpuarray.ops.spec import CallOp

#: An array of this package or of NumPy.
_Array: TypeAlias = Any
_Given: TypeAlias = dict[int, _Array]
_Rule: TypeAlias = Callable[[Outputs, _Given, Sequence[_Array]], Sequence[_Array | None]]


def transpose(outputs: Outputs, cts: _Given, needed: Sequence[bool], device: Device) -> Cotangents:
    """Return the cotangents of the operands of a call, given those of some of its outputs."""
    call = outputs.call
    rule = RULES.get(call.op) or RECORDED_RULES.get(call.op)
    if rule is None:
        raise undefined(outputs, name_of(call))
    operands = [wrap(operand, device) for operand in outputs.inputs]
    results = rule(outputs, cts, operands)
    return [
        fitted(result, operand) if result is not None and is_needed else None
        for result, operand, is_needed in zip(results, operands, needed, strict=True)
    ]


# -- lines -----------------------------------------------------------------------------------------------------------


def _sort(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    """Put each cotangent where its element came from."""
    (x,) = operands
    order = called(calls.argsort, [x], x.shape, dtypes.int64, **outputs.call.parameters)
    if not isinstance(x, GpuArray):
        pulled = np.empty(x.size, cts[0].dtype)
        if x.ndim > 1:
            order = order + np.arange(prod(x.shape[:-1])).reshape(*x.shape[:-1], 1) * x.shape[-1]
        pulled[order] = cts[0]
        return (pulled.reshape(x.shape),)
    return (wrap(build.scatter_all(cts[0].node(), positions_of(order.node()), x.shape), x.device),)


def _partition(outputs: Outputs, cts: _Given, operands: Sequence[GpuArray]) -> Cotangents:
    """Put each cotangent where its element came from: in the order of values, operand and result are the same."""
    (x,) = operands
    before, after = (
        positions_of(called(calls.argsort, [lines], x.shape, dtypes.int64, descending=False).node())
        for lines in (x, wrap(outputs.call, x.device))
    )
    return (wrap(build.scatter_all(build.gather(cts[0].node(), after), before, x.shape), x.device),)


def positions_of(order: Node) -> Node:
    """Return the flat positions of elements that are given by their positions in lines of the last axis."""
    length = order.shape[-1]
    starts = build.generate(generators.arange, (0, length), order.shape[:-1] or (1,), dtypes.int64)
    shape = (*order.shape[:-1], 1)
    return build.elementwise(ops.add, order, build.reshape(starts, shape))


def _resized(x: _Array, extent: int) -> _Array:
    """Return lines cropped to an extent, or padded with zeros."""
    length = x.shape[-1]
    if extent < length:
        return x[..., :extent]
    if extent == length:
        return x
    return np.concatenate([x, _zero(x, (*x.shape[:-1], extent - length))], -1)


def _fft(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    """Transform the cotangent in the same way: the matrix is symmetric."""
    (x,) = operands
    ct = cts[0]
    return (_resized(called(calls.fft, [ct], ct.shape, ct.dtype, **outputs.call.parameters), x.shape[-1]),)


def _rfft(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    (x,) = operands
    whole = _resized(cts[0], outputs.call.parameters["n"])
    result = called(calls.fft, [whole], whole.shape, whole.dtype, **outputs.call.parameters)
    return (_resized(apply(ops.real, result), x.shape[-1]),)


def _irfft(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    """Transform the cotangent; elements that stand for two, themselves and their conjugates, count twice."""
    (x,) = operands
    ct, parameters = cts[0], outputs.call.parameters
    n = parameters["n"]
    shape = (*ct.shape[:-1], n // 2 + 1)
    half = called(calls.rfft, [ct], shape, x.dtype, **parameters)
    column = np.arange(n // 2 + 1, like=half)
    is_single = (column == 0) | (column * 2 == n)
    return (_resized(apply(ops.where, is_single, half, 2 * half), x.shape[-1]),)


# -- matrices --------------------------------------------------------------------------------------------------------


def _inverse(x: _Array, dtype: dtypes.DType) -> _Array:
    return called(factorisations.inv, [x], x.shape, dtype)


def _solved(left: _Array, right: _Array) -> _Array:
    """Return solutions for columns."""
    shape = (*broadcast_shapes(left.shape[:-2], right.shape[:-2]), *right.shape[-2:])
    return called(factorisations.solve, [left, right], shape, dtypes.promote(left.dtype, right.dtype))


def _is_main(values: _Array) -> _Array:
    """Return the truth of being on the diagonal, for matrices whose diagonals are like given values."""
    return np.eye(values.shape[-1], dtype=bool, like=values)


def _diagonal(values: _Array) -> _Array:
    """Return matrices with given diagonals."""
    return apply(ops.where, _is_main(values), values[..., None, :], 0.0)


def _inv(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    inverse = outputs.result(operands[0]).mT
    return (-(inverse @ cts[0] @ inverse),)


def _solve(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    left, right = operands
    solution, ct = outputs.result(left), cts[0]
    if right.ndim == 1:
        part = _solved(left.mT, ct[..., None])
        return -(part @ solution[..., None, :]), part[..., 0]
    part = _solved(left.mT, ct)
    return -(part @ solution.mT), part


def _det(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    """Multiply by the cofactors, which singular matrices have too."""
    (x,) = operands
    value = outputs.result(x)
    if tracing.active() is None and _has_zero(value):
        return (cts[0][..., None, None] * _cofactors(x),)
    return (scaled(cts[0], value)[..., None, None] * _inverse(x, outputs.call.dtype).mT,)


def _has_zero(value: _Array) -> bool:
    """Return whether an element is 0; if ``vmap`` maps over them, whether one of all is."""
    if isinstance(value, GpuArray):
        value = wrap(tape.whole(value.node(), value.device), value.device)
    return bool((value == 0).any().item())


def _cofactors(x: _Array) -> _Array:
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    others = converted(folds.products_of_others(s), u.dtype)
    return conj((u * others[..., None, :]) @ vh) * (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def _slogdet(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    """Differentiate the logarithm, whose imaginary part is the angle of the sign: that of real matrices is constant."""
    (x,) = operands
    weight = cts.get(1)
    if 0 in cts and cts[0].dtype.kind == "c":
        (sign,) = outputs.outputs([0], [(x.shape[:-2], cts[0].dtype)], x)
        turned = apply(ops.imag, cts[0] * sign)
        weight = apply(ops.complex_from_parts, 0.0 if weight is None else weight, turned)
    if weight is None:
        return (None,)
    return (weight[..., None, None] * _inverse(x, dtypes.promote(x.dtype, weight.dtype)).mT,)


def _cholesky(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    factor, ct = outputs.result(operands[0]), conj(cts[0])
    if outputs.call.parameters.get("upper"):
        factor, ct = adjoint(factor), adjoint(ct)
    inner = np.tril(adjoint(factor) @ ct)
    inner = inner - _diagonal(np.linalg.diagonal(inner)) / 2
    outer = adjoint(_inverse(factor, factor.dtype))
    result = outer @ inner @ adjoint(outer)
    return (conj(result + adjoint(result)) / 2,)


def _gaps(values: _Array) -> _Array:
    """Return the inverses of the differences of values, 0 on the diagonal."""
    is_main = _is_main(values)
    differences = values[..., None, :] - values[..., :, None]
    return apply(ops.where, is_main, 0.0, 1 / apply(ops.where, is_main, 1.0, differences))


def _eigh(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    (x,) = operands
    values, vectors = _eigen_of(outputs, factorisations.eigh, x)
    inner = None if 0 not in cts else _diagonal(cts[0])
    if 1 in cts:  # nothing is divided by differences of eigenvalues where no vectors are used
        turned = (adjoint(vectors) @ conj(cts[1])) * _gaps(values)
        inner = turned if inner is None else inner + turned
    result = vectors @ inner @ adjoint(vectors)
    return (conj(result + adjoint(result)) / 2,)


def _eigen_of(outputs: Outputs, op: CallOp, x: _Array) -> Sequence[_Array]:
    """Return eigenvalues and vectors, of which a call may have returned the former alone."""
    call = outputs.call
    complex_ = dtypes.promote(call.dtype, dtypes.complex64) if call.dtype.kind == "f" else call.dtype
    vectors = complex_ if op is factorisations.eig or x.dtype.kind == "c" else _real(call.dtype)
    kinds = (complex_ if op is factorisations.eig else _real(call.dtype), vectors)
    both = [(x.shape[:-1], kinds[0]), (x.shape, kinds[1])]
    return outputs.outputs((0, 1), both, x) if call.op is op else outputs_of(op, [x], both, **call.parameters)[:2]


def _real(dtype: dtypes.DType) -> dtypes.DType:
    return {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(dtype, dtype)


def _eig(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    (x,) = operands
    values, vectors = _eigen_of(outputs, factorisations.eig, x)
    inner = None if 0 not in cts else _diagonal(conj(cts[0]))
    if 1 in cts:
        turned = adjoint(vectors) @ conj(cts[1])
        lengths = np.linalg.diagonal(turned)
        lengths = converted(apply(ops.real, lengths), vectors.dtype)
        turned = turned - (adjoint(vectors) @ vectors) * lengths[..., None, :]
        turned = turned * conj(_gaps(values))
        inner = turned if inner is None else inner + turned
    across = adjoint(vectors)
    return (conj(_solved(across, inner @ across)),)


def _svd(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    (x,) = operands
    call = outputs.call
    *batch, m, n = x.shape
    k = min(m, n)
    real = _real(call.dtype)
    dtype = real if x.dtype.kind != "c" else dtypes.promote(real, dtypes.complex64)
    kinds = [((*batch, m, k), dtype), ((*batch, k), real), ((*batch, k, n), dtype)]
    parameters = {"full_matrices": False, "hermitian": call.parameters["hermitian"]}
    alone = call.parameters.get("compute_uv") is False
    if alone:
        u, s, vh = outputs_of(call.op, [x], kinds, **parameters)[:3]
    else:
        if call.parameters["full_matrices"]:
            kinds[0], kinds[2] = ((*batch, m, m), dtype), ((*batch, n, n), dtype)
        u, s, vh = outputs.outputs(range(3), kinds, x)
    u, more_u, vh, more_vh = u[..., :k], u[..., k:], vh[..., :k, :], vh[..., k:, :]
    of_values = cts.get(0 if alone else 1)
    inner = None if of_values is None else _diagonal(of_values)
    if alone or cts.keys() <= {1}:
        return (conj(u @ inner @ vh),)
    of_u, of_vh = (None if ct is None else conj(ct) for ct in (cts.get(0), cts.get(2)))
    beside = _zero(u, x.shape)
    inverse = (u / s[..., None, :]) @ vh
    if of_u is not None and more_u.size:
        beside = -(more_u @ adjoint(of_u[..., k:]) @ inverse)
        of_u = of_u[..., :k]
    if of_vh is not None and more_vh.size:
        beside = -(inverse @ adjoint(of_vh[..., k:, :]) @ more_vh)
        of_vh = of_vh[..., :k, :]
    return (conj(beside + _of_factors(u, s, vh, of_u, inner, of_vh)),)


def _of_factors(
    u: _Array, s: _Array, vh: _Array, of_u: _Array | None, inner: _Array | None, of_vh: _Array | None
) -> _Array:
    """Return the cotangent, without conjugate, of matrices by those of their singular vectors and values."""
    dtype = u.dtype
    m, k, n = u.shape[-2], s.shape[-1], vh.shape[-1]
    gaps = _gaps(s * s)
    scale = s[..., None, :]
    total = _zero(u, (*s.shape, k)) if inner is None else converted(inner, dtype)
    if of_u is not None:
        skew = adjoint(u) @ of_u
        total = total + (skew - adjoint(skew)) * gaps * scale
    if of_vh is not None:
        skew = vh @ adjoint(of_vh)
        total = total + scale.mT * ((skew - adjoint(skew)) * gaps)
    if dtype.kind == "c" and of_u is not None:
        turned = apply(ops.imag, np.linalg.diagonal(adjoint(u) @ of_u)) / s
        total = total + _diagonal(apply(ops.complex_from_parts, turned * 0, turned))
    result = u @ total @ vh
    if of_u is not None and m > k:
        scaled_ct = of_u / scale
        result = result + (scaled_ct - u @ (adjoint(u) @ scaled_ct)) @ vh
    if of_vh is not None and n > k:
        scaled_ct = of_vh / scale.mT
        result = result + u @ (scaled_ct - (scaled_ct @ adjoint(vh)) @ vh)
    return result


def _zero(like: _Array, shape: Shape) -> _Array:
    if not isinstance(like, GpuArray):
        return np.zeros(shape, like.dtype)
    return wrap(build.full(shape, 0, like.dtype), like.device)


def _qr(outputs: Outputs, cts: _Given, operands: Sequence[_Array]) -> Sequence[_Array | None]:
    (x,) = operands
    call = outputs.call
    mode = call.parameters["mode"]
    *batch, m, n = x.shape
    k = min(m, n)
    if mode == "raw":
        raise undefined(outputs, "linalg.qr with mode='raw'")
    kinds = [((*batch, m, k), call.dtype), ((*batch, k, n), call.dtype)]
    is_full = mode == "complete" and m > n
    if is_full:
        kinds = [((*batch, m, m), call.dtype), ((*batch, m, n), call.dtype)]
    if mode == "r":
        q, r = outputs_of(call.op, [x], kinds, mode="reduced")
        cts = {1: cts[0]}
    else:
        q, r = outputs.outputs((0, 1), kinds, x)
    of_q = conj(cts[0]) if 0 in cts else _zero(q, q.shape)
    of_r = conj(cts[1]) if 1 in cts else _zero(r, r.shape)
    if is_full:
        q, more, r = q[..., :n], q[..., n:], r[..., :n, :]
        turned = more @ adjoint(of_q[..., n:]) @ q
        beside = adjoint(_solved(r, adjoint(turned)))
        return (conj(_qr_part(q, r, of_q[..., :n], of_r[..., :n, :]) - beside),)
    if m >= n:
        return (conj(_qr_part(q, r, of_q, of_r)),)
    # the first columns alone have this Q, and the others are Q times those of R
    of_rest = of_r[..., m:]
    of_square = _qr_part(q, r[..., :m], of_q + x[..., m:] @ adjoint(of_rest), of_r[..., :m])
    return (conj(np.concatenate([of_square, q @ of_rest], -1)),)


def _qr_part(q: _Array, r: _Array, of_q: _Array, of_r: _Array) -> _Array:
    """Return the cotangent, without conjugate, of matrices that are not wide."""
    inner = r @ adjoint(of_r) - adjoint(of_q) @ q
    lower = np.tril(inner, -1)
    main = np.linalg.diagonal(inner)
    if main.dtype.kind == "c":
        main = converted(apply(ops.real, main), inner.dtype)
    symmetric = lower + adjoint(lower) + _diagonal(main)
    return adjoint(_solved(r, adjoint(of_q + q @ symmetric)))


#: Rules that take arrays of this package and those of NumPy.
RULES: Final[dict[CallOp, _Rule]] = {
    calls.sort: _sort,
    calls.fft: _fft,
    calls.rfft: _rfft,
    calls.irfft: _irfft,
    factorisations.cholesky: _cholesky,
    factorisations.det: _det,
    factorisations.eig: _eig,
    factorisations.eigh: _eigh,
    factorisations.eigvals: _eig,
    factorisations.eigvalsh: _eigh,
    factorisations.inv: _inv,
    factorisations.qr: _qr,
    factorisations.slogdet: _slogdet,
    factorisations.solve: _solve,
    factorisations.solve_triangular: triangles.triangular_system,
    factorisations.svd: _svd,
}

#: Rules that take arrays of this package alone.
RECORDED_RULES: Final[dict[CallOp, _Rule]] = {
    calls.partition: _partition,
    calls.fold_spans: composed.spans,
    calls.running_fold: composed.running,
    images.lower_envelope: image_rules.envelope,
    images.rank_of_windows: image_rules.ranks,
    factorisations.cond: composed.condition,
    factorisations.lstsq: composed.least_squares,
    factorisations.lu: triangles.lu_factors,
}

Outputs.rule = staticmethod(transpose)
