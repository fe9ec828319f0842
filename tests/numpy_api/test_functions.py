"""NumPy's functions, called with NumPy's arrays and with ours: the same dtypes, shapes and values."""

import inspect

import numpy as np
import pytest

RNG = np.random.default_rng(5)
V = RNG.standard_normal(12)
A = RNG.standard_normal((3, 4))
B = RNG.standard_normal((3, 4))
F = A.astype(np.float32)
T = RNG.standard_normal((2, 3, 4))
S = RNG.standard_normal((4, 4)) + 4 * np.eye(4)
C = A + 1j * B
I = RNG.integers(-9, 9, (3, 4))
U = RNG.integers(0, 9, (3, 4)).astype(np.uint8)
M = A > 0
N = np.where(A > 0.8, np.nan, A)
E = np.array([[1.0, np.inf], [-np.inf, np.nan]])
ONE = np.full((3, 4), 1.5)
EMPTY = np.zeros((0, 3))

CASES = [
    # sums, extremes, moments
    lambda p: np.sum(p(A)), lambda p: np.sum(p(I), axis=0), lambda p: np.sum(p(U), axis=(0, 1), keepdims=True),
    lambda p: np.sum(p(F), 1, np.float64), lambda p: np.sum(p(A), initial=5), lambda p: np.sum(p(A), where=p(M)),
    lambda p: np.sum(p(A), axis=0, where=M[:1], initial=2), lambda p: np.sum(p(M)), lambda p: np.sum(p(EMPTY), axis=0),
    lambda p: np.prod(p(A), axis=-1), lambda p: np.prod(p(I), dtype=np.int32), lambda p: np.prod(p(A), where=p(M)),
    lambda p: np.min(p(A)), lambda p: np.max(p(A), axis=1), lambda p: np.amin(p(I), axis=0), lambda p: np.amax(p(U)),
    lambda p: np.max(p(A), axis=0, where=p(M), initial=-7), lambda p: np.min(p(EMPTY), axis=0, initial=3.0),
    lambda p: np.max(p(N), axis=0), lambda p: np.ptp(p(A)), lambda p: np.ptp(p(A), axis=1, keepdims=True),
    lambda p: np.any(p(M), axis=0), lambda p: np.all(p(M)), lambda p: np.any(p(A), axis=1, where=p(M)),
    lambda p: np.count_nonzero(p(U)), lambda p: np.count_nonzero(p(U), axis=1, keepdims=True),
    lambda p: np.argmin(p(A)), lambda p: np.argmax(p(A), axis=0), lambda p: np.argmax(p(N), axis=1, keepdims=True),
    lambda p: np.mean(p(A)), lambda p: np.mean(p(I), axis=0), lambda p: np.mean(p(F), axis=1, keepdims=True),
    lambda p: np.mean(p(A), where=p(M)), lambda p: np.mean(p(F.astype(np.float16))), lambda p: np.mean(p(C), axis=0),
    lambda p: np.mean(p(M)), lambda p: np.mean(p(I), dtype=np.float32), lambda p: np.mean(p(F), dtype=np.float64),
    lambda p: np.var(p(A)), lambda p: np.var(p(A), axis=0, ddof=1), lambda p: np.std(p(F), axis=1, keepdims=True),
    lambda p: np.var(p(C), axis=0), lambda p: np.std(p(I)), lambda p: np.var(p(A), axis=1, where=p(~np.isnan(N))),
    lambda p: np.var(p(F.astype(np.float16)), axis=0), lambda p: np.std(p(A), axis=0, mean=p(A.mean(0, keepdims=True))),
    lambda p: np.average(p(A)), lambda p: np.average(p(A), axis=0, weights=p(np.arange(1.0, 4))),
    lambda p: np.average(p(A), weights=p(U + 1.0), returned=True), lambda p: np.average(p(I), axis=1, keepdims=True),
    lambda p: np.cumsum(p(A)), lambda p: np.cumsum(p(I), axis=1), lambda p: np.cumprod(p(A), axis=0, dtype=np.float32),
    lambda p: np.cumulative_sum(p(A), axis=1, include_initial=True), lambda p: np.cumulative_prod(p(V)),
    lambda p: np.nansum(p(N), axis=0), lambda p: np.nanprod(p(N)), lambda p: np.nanmin(p(N), axis=1),
    lambda p: np.nanmax(p(N)), lambda p: np.nanmean(p(N), axis=0), lambda p: np.nanvar(p(N), axis=1, ddof=1),
    lambda p: np.nanstd(p(N)), lambda p: np.nanargmin(p(N), axis=0), lambda p: np.nanargmax(p(N)),
    lambda p: np.nancumsum(p(N), axis=1), lambda p: np.nancumprod(p(N)), lambda p: np.nanmax(p(I)),
    lambda p: np.nansum(p(I), axis=1), lambda p: np.nanmean(p(I)), lambda p: np.nanvar(p(I), axis=0),
    lambda p: np.cov(p(A)), lambda p: np.cov(p(A), rowvar=False, bias=True), lambda p: np.cov(p(V), p(V[::-1])),
    lambda p: np.corrcoef(p(A)), lambda p: np.cov(p(C)), lambda p: np.median(p(A), axis=0),
    lambda p: np.cov(p(A), aweights=p(np.arange(1.0, 5))), lambda p: np.corrcoef(p(C)),
    lambda p: np.percentile(p(A), [25, 75], axis=1), lambda p: np.quantile(p(A), 0.3), lambda p: np.nanmedian(p(N)),
    # differences
    lambda p: np.diff(p(A)), lambda p: np.diff(p(A), 2, axis=0), lambda p: np.diff(p(V), prepend=0.0, append=p(V[:2])),
    lambda p: np.diff(p(M), axis=1), lambda p: np.ediff1d(p(A)), lambda p: np.ediff1d(p(V), 1.0, [2.0, 3.0]),
    lambda p: np.gradient(p(V)), lambda p: np.gradient(p(A)), lambda p: np.gradient(p(A), 2.0, axis=0),
    lambda p: np.gradient(p(V), edge_order=2), lambda p: np.trapezoid(p(A)), lambda p: np.gradient(p(F), 0.5, axis=1),
    lambda p: np.trapezoid(p(A), p(np.arange(3.0) ** 2), axis=0),
    # elementwise
    lambda p: np.clip(p(A), -1, 1), lambda p: np.clip(p(A), None, p(B)), lambda p: np.clip(p(U), -5, 4),
    lambda p: np.clip(p(A), min=p(B[0])), lambda p: np.clip(p(I), a_min=-2, a_max=300),
    lambda p: np.round(p(A), 2), lambda p: np.around(p(A)), lambda p: np.round(p(C), 1), lambda p: np.round(p(I)),
    lambda p: np.round(p(A * 100), -1), lambda p: np.round(p(I), -1), lambda p: np.fix(p(A)),
    lambda p: np.real(p(C)), lambda p: np.imag(p(C)), lambda p: np.imag(p(A)), lambda p: np.angle(p(C), deg=True),
    lambda p: np.angle(p(A)), lambda p: np.sinc(p(A)), lambda p: np.sinc(p(I)), lambda p: np.i0(p(V)),
    lambda p: np.where(p(M), p(A), p(B)), lambda p: np.where(p(M), p(F), 0), lambda p: np.where(p(M), 1, 2.5),
    lambda p: np.where(p(U), p(U), p(I)), lambda p: np.where(p(M)),
    lambda p: np.select([p(M), p(B > 0)], [p(A), p(B)], 7), lambda p: np.nan_to_num(p(E)),
    lambda p: np.nan_to_num(p(E), nan=1, posinf=2, neginf=3), lambda p: np.nan_to_num(p(E + 1j * E)),
    lambda p: np.isclose(p(A), p(A + 1e-9)), lambda p: np.isclose(p(E), p(E), equal_nan=True),
    lambda p: np.isclose(p(I), 3), lambda p: np.allclose(p(A), p(A)), lambda p: np.allclose(p(A), p(B)),
    lambda p: np.array_equal(p(A), p(A)), lambda p: np.array_equal(p(E), p(E)), lambda p: np.array_equal(p(A), p(V)),
    lambda p: np.array_equal(p(E), p(E), equal_nan=True), lambda p: np.array_equiv(p(ONE), p(ONE[0])),
    lambda p: np.isposinf(p(E)), lambda p: np.isneginf(p(E)), lambda p: np.iscomplex(p(C)), lambda p: np.isreal(p(C)),
    lambda p: np.iscomplexobj(p(C)), lambda p: np.isrealobj(p(C)), lambda p: np.real_if_close(p(A + 0j)),
    lambda p: np.unwrap(p(V * 4)), lambda p: np.interp(p(V), p(np.arange(3.0)), p(V[:3])),
    lambda p: np.piecewise(p(V), [V < 0, V >= 0], [lambda x: -x, lambda x: x]),
    # shape
    lambda p: np.reshape(p(A), (4, -1)), lambda p: np.reshape(p(A), (2, 6), order="F"), lambda p: np.ravel(p(T)),
    lambda p: np.ravel(p(A), order="F"), lambda p: np.transpose(p(T)), lambda p: np.transpose(p(T), (1, 0, 2)),
    lambda p: np.matrix_transpose(p(T)), lambda p: np.swapaxes(p(T), 0, -1), lambda p: np.moveaxis(p(T), 0, -1),
    lambda p: np.moveaxis(p(T), (0, 1), (-1, 0)), lambda p: np.rollaxis(p(T), 2), lambda p: np.rollaxis(p(T), 0, 3),
    lambda p: np.squeeze(p(A[:, None])), lambda p: np.squeeze(p(A[None, :, None]), axis=0),
    lambda p: np.expand_dims(p(A), (0, -1)), lambda p: np.broadcast_to(p(V), (2, 12)),
    lambda p: np.broadcast_arrays(p(A), p(A[0]), p(np.array(2))), lambda p: np.atleast_1d(p(np.array(3.0))),
    lambda p: np.atleast_2d(p(V)), lambda p: np.atleast_3d(p(A), p(V)), lambda p: np.flip(p(T)),
    lambda p: np.flip(p(T), (0, 2)), lambda p: np.fliplr(p(A)), lambda p: np.flipud(p(A)), lambda p: np.rot90(p(A)),
    lambda p: np.rot90(p(T), 3, (1, 2)), lambda p: np.rot90(p(A), 2), lambda p: np.rot90(p(A), -1),
    lambda p: np.concatenate([p(A), p(B)]), lambda p: np.concatenate([p(A), p(I)], axis=1),
    lambda p: np.concatenate((p(A), V), axis=None), lambda p: np.concatenate([p(A), p(B)], dtype=np.float32),
    lambda p: np.stack([p(A), p(B)], axis=1), lambda p: np.stack((p(F), p(A)), -1), lambda p: np.vstack([p(A), p(A[0])]),
    lambda p: np.hstack([p(V), p(V)]), lambda p: np.hstack([p(A), p(B)]), lambda p: np.dstack([p(A), p(B)]),
    lambda p: np.column_stack([p(V), p(V)]), lambda p: np.append(p(A), p(B)), lambda p: np.append(p(A), [[1, 2, 3, 4]], 0),
    lambda p: np.block([[p(A), p(B)], [p(B), p(A)]]), lambda p: np.block([p(V), 1.0]),
    lambda p: np.split(p(V), 3), lambda p: np.split(p(A), [1, 3], axis=1), lambda p: np.array_split(p(V), 5),
    lambda p: np.hsplit(p(A), 2), lambda p: np.vsplit(p(A), 3), lambda p: np.dsplit(p(T), 2),
    lambda p: np.unstack(p(T), axis=1), lambda p: np.roll(p(V), 3), lambda p: np.roll(p(A), -1, 0),
    lambda p: np.roll(p(A), (1, 2), (0, 1)), lambda p: np.roll(p(A), 5), lambda p: np.tile(p(A), 2),
    lambda p: np.tile(p(A), (2, 1, 3)), lambda p: np.repeat(p(A), 2), lambda p: np.repeat(p(A), 3, axis=1),
    lambda p: np.repeat(p(A), [1, 0, 2], axis=0), lambda p: np.resize(p(A), (5, 5)), lambda p: np.delete(p(A), 1, axis=0),
    lambda p: np.delete(p(V), [0, -1]), lambda p: np.delete(p(A), slice(1, 3), 1), lambda p: np.insert(p(V), 2, 9.0),
    lambda p: np.pad(p(A), 1), lambda p: np.pad(p(A), ((1, 2), (0, 3)), constant_values=((1, 2), (3, 4))),
    lambda p: np.pad(p(A), 2, mode="edge"), lambda p: np.pad(p(A), (1, 2), mode="wrap"),
    lambda p: np.pad(p(A), 2, mode="reflect"), lambda p: np.pad(p(A), 1, mode="symmetric"),
    lambda p: np.pad(p(A), 2, mode="linear_ramp"), lambda p: np.pad(p(A), 1, mode="mean"),
    # creation
    lambda p: np.zeros_like(p(A)), lambda p: np.ones_like(p(A), dtype=np.int8), lambda p: np.full_like(p(I), 7.9),
    lambda p: np.full_like(p(A), p(A[0])), lambda p: np.zeros_like(p(A), shape=(2, 2)), lambda p: np.copy(p(A)),
    lambda p: np.astype(p(A), np.float32), lambda p: np.linspace(p(np.array(1.0)), 4.0, 7),
    lambda p: np.linspace(p(V[:2]), p(V[2:4]), 5, axis=1), lambda p: np.linspace(0, p(np.array(9.0)), 4, False, True),
    lambda p: np.linspace(p(np.array(0)), 10, 5, dtype=int), lambda p: np.logspace(p(np.array(0.0)), 2, 5),
    lambda p: np.meshgrid(p(V[:3]), p(V[:2])), lambda p: np.meshgrid(p(V[:3]), p(V[:2]), indexing="ij", sparse=True),
    lambda p: np.tril(p(A)), lambda p: np.triu(p(T), 1), lambda p: np.tril(p(V[:3]), -1), lambda p: np.vander(p(V[:4])),
    lambda p: np.vander(p(I[0]), 3, increasing=True), lambda p: np.diag(p(V[:3])), lambda p: np.diag(p(V[:3]), -1),
    lambda p: np.diag(p(A), 1), lambda p: np.diagflat(p(A), 2), lambda p: np.diagonal(p(T), 1, 1, 2),
    lambda p: np.diagonal(p(A), -1), lambda p: np.trace(p(A)), lambda p: np.trace(p(T), axis1=1, axis2=2),
    lambda p: np.linalg.diagonal(p(T)), lambda p: np.linalg.trace(p(T)), lambda p: np.geomspace(p(np.array(1.0)), 8, 4),
    # selection
    lambda p: np.take(p(A), p(np.array([0, -1, 5]))), lambda p: np.take(p(A), [[0, 1], [2, 0]], axis=0),
    lambda p: np.take(p(A), 2, axis=1), lambda p: np.take(p(V), [13, -14], mode="wrap"),
    lambda p: np.take(p(V), p(np.array([13, -14])), mode="clip"),
    lambda p: np.take_along_axis(p(A), p(np.argsort(A, 1)), 1), lambda p: np.take_along_axis(p(A), np.argsort(A, 0), 0),
    lambda p: np.compress([True, False, True], p(A), axis=0), lambda p: np.extract(p(M), p(A)),
    lambda p: np.choose(p(U[:1] % 2), [p(A), p(B)]), lambda p: np.sort(p(A)), lambda p: np.argsort(p(A), axis=0),
    lambda p: np.partition(p(V), 3)[3], lambda p: np.searchsorted(p(np.sort(V)), p(A)), lambda p: np.unique(p(U)),
    lambda p: np.unique(p(U), return_counts=True), lambda p: np.nonzero(p(M)), lambda p: np.flatnonzero(p(M)),
    lambda p: np.argwhere(p(M)), lambda p: np.lexsort((p(V), p(V[::-1]))), lambda p: np.isin(p(U), [1, 2, 3]),
    lambda p: np.union1d(p(U), p(I)), lambda p: np.digitize(p(V), p(np.array([-1.0, 0.0, 1.0]))),
    lambda p: np.histogram(p(V), 5), lambda p: np.bincount(p(U.ravel().astype(np.int64))),
    lambda p: np.apply_along_axis(np.sort, 1, p(A)), lambda p: np.packbits(p(M)), lambda p: np.trim_zeros(p(U[0])),
    # products
    lambda p: np.dot(p(A), p(S)), lambda p: np.dot(p(V), p(V)), lambda p: np.dot(p(T), p(S)), lambda p: np.dot(p(A), 2),
    lambda p: np.dot(p(F), p(F.T)), lambda p: np.inner(p(A), p(B)), lambda p: np.inner(p(T), p(A)),
    lambda p: np.outer(p(V), p(A)), lambda p: np.vdot(p(C), p(C[::-1])), lambda p: np.matmul(p(T), p(S)),
    lambda p: np.tensordot(p(T), p(S), 1), lambda p: np.tensordot(p(T), p(T), ([0, 2], [0, 2])),
    lambda p: np.tensordot(p(A), p(V), 0), lambda p: np.kron(p(A), p(S)), lambda p: np.kron(p(V), p(A)),
    lambda p: np.cross(p(A[:, :3]), p(B[:, :3])), lambda p: np.cross(p(A), p(B), axis=0), lambda p: np.vecdot(p(C), p(A)),
    lambda p: np.einsum("ij,ij->i", p(A), p(B)), lambda p: np.einsum("ij,kj->ik", p(A), p(B)),
    lambda p: np.einsum("ii->i", p(S)), lambda p: np.einsum("ii", p(S)), lambda p: np.einsum("ij->ji", p(A)),
    lambda p: np.einsum("bij,bjk->bik", p(T), p(RT)), lambda p: np.einsum("ij,jk,kl->il", p(A), p(S), p(S)),
    lambda p: np.einsum("i,j->ij", p(V), p(V)), lambda p: np.einsum("ij,ji", p(S), p(S)), lambda p: np.einsum("bij->b", p(T)),
    lambda p: np.einsum("...ij->...", p(T)), lambda p: np.einsum("i,i,i->", p(V), p(V), p(V)),
    lambda p: np.linalg.multi_dot([p(A), p(S), p(B.T)]), lambda p: np.linalg.matrix_power(p(S), 3),
    lambda p: np.linalg.matrix_power(p(S), -2), lambda p: np.linalg.matrix_power(p(S), 0), lambda p: np.linalg.norm(p(A)),
    lambda p: np.linalg.norm(p(V), 3), lambda p: np.linalg.norm(p(A), axis=1), lambda p: np.linalg.norm(p(A), 1),
    lambda p: np.linalg.norm(p(A), np.inf, (0, 1), True), lambda p: np.linalg.norm(p(A), 2), lambda p: np.linalg.norm(p(C), "fro"),
    lambda p: np.linalg.norm(p(V), -np.inf), lambda p: np.linalg.norm(p(I), 0, axis=0), lambda p: np.linalg.norm(p(F), axis=0),
    lambda p: np.linalg.vector_norm(p(T), axis=(0, 1)), lambda p: np.linalg.matrix_norm(p(T), ord=-1),
    lambda p: np.linalg.outer(p(V), p(V)), lambda p: np.linalg.matmul(p(A), p(S)), lambda p: np.linalg.vecdot(p(A), p(B), axis=0),
    lambda p: np.linalg.cross(p(A[:, :3]), p(B[:, :3])), lambda p: np.linalg.tensordot(p(A), p(S), axes=1),
    lambda p: np.linalg.matrix_transpose(p(A)), lambda p: np.linalg.inv(p(S)), lambda p: np.linalg.solve(p(S), p(A.T)),
    lambda p: np.linalg.eigh(p(S + S.T)), lambda p: np.linalg.svd(p(A)), lambda p: np.linalg.det(p(S)),
    lambda p: np.fft.fft(p(A)), lambda p: np.fft.irfft(p(C)), lambda p: np.convolve(p(V), p(V[:3])),
    lambda p: np.correlate(p(V), p(V[:3])), lambda p: np.polyval(p(V[:4]), p(A)), lambda p: np.polyfit(p(V), p(V**2), 2),
    lambda p: np.lib.stride_tricks.sliding_window_view(p(V), 3), lambda p: np.lib.scimath.sqrt(p(V)),
    # information
    lambda p: np.shape(p(A)), lambda p: np.ndim(p(A)), lambda p: np.size(p(T), 1), lambda p: np.size(p(A)),
    lambda p: np.result_type(p(F), 3.0), lambda p: np.can_cast(p(U).dtype, p(I).dtype), lambda p: np.common_type(p(F), p(A)),
    lambda p: np.min_scalar_type(p(I)), lambda p: np.array2string(p(I)), lambda p: np.array_str(p(I)),
    lambda p: np.shares_memory(p(A), p(A)),
]  # fmt: skip
RT = np.swapaxes(T, 1, 2)


def _label(case):
    code = case.__code__
    names = [n for n in code.co_names if n != "np" and len(n) > 1]
    return f"{CASES.index(case)}-{'.'.join(names[:3])}"


@pytest.mark.parametrize("case", CASES, ids=map(_label, CASES))
def test_function_agrees_with_numpy(case, agree):
    agree(case)


def test_the_table_is_long():
    assert len(CASES) > 150
    assert all(inspect.isfunction(case) for case in CASES)


ERRORS = [
    (lambda p: np.sum(p(A), axis=2), np.exceptions.AxisError),
    (lambda p: np.min(p(EMPTY)), ValueError),
    (lambda p: np.max(p(A), where=p(M)), ValueError),
    (lambda p: np.sum(p(A), where=p(U)), TypeError),
    (lambda p: np.argmax(p(EMPTY)), ValueError),
    (lambda p: np.concatenate([]), ValueError),
    (lambda p: np.concatenate([p(A), p(V)]), ValueError),
    (lambda p: np.stack([p(A), p(V)]), ValueError),
    (lambda p: np.reshape(p(A), (5, 5)), ValueError),
    (lambda p: np.broadcast_to(p(A), (3, 5)), ValueError),
    (lambda p: np.squeeze(p(A), axis=0), ValueError),
    (lambda p: np.split(p(V), 5), ValueError),
    (lambda p: np.dot(p(A), p(A)), ValueError),
    (lambda p: np.tensordot(p(A), p(A), 1), ValueError),
    (lambda p: np.take(p(A), [99]), IndexError),
    (lambda p: np.take(p(A), p(V)), TypeError),
    (lambda p: np.moveaxis(p(A), 5, 0), np.exceptions.AxisError),
    (lambda p: np.average(p(V), weights=p(np.zeros(12))), ZeroDivisionError),
    (lambda p: np.einsum("ij,jk", p(A), p(A)), ValueError),
    (lambda p: np.nanargmax(p(np.full((2, 2), np.nan)), axis=0), ValueError),
    (lambda p: np.linalg.norm(p(V), "fro"), ValueError),
    (lambda p: np.gradient(p(V[:1])), ValueError),
    (lambda p: np.cumulative_sum(p(A)), ValueError),
    (lambda p: np.sum(p(A), axis=0, out=p(np.zeros(3))), ValueError),
    (lambda p: np.clip(p(A), 0, 1, out=p(np.zeros((3, 4), int))), TypeError),
]


@pytest.mark.parametrize("position", range(len(ERRORS)))
def test_errors_are_those_of_numpy(position, put):
    case, error = ERRORS[position]
    with pytest.raises(error):
        case(np.array)
    with pytest.raises(error):
        case(put)


OUTS = [
    (lambda p, out: np.sum(p(A * 3), axis=0, out=out), (4,), int),
    (lambda p, out: np.mean(p(A * 3), axis=0, out=out), (4,), int),
    (lambda p, out: np.add.accumulate(p(A * 3), out=out), (3, 4), np.int16),
    (lambda p, out: np.add.reduce(p(U * 30), axis=None, out=out), (), np.uint8),
    (lambda p, out: np.sum(p(A), axis=0, out=out), (4,), float),
    (lambda p, out: np.sum(p(I), axis=0, out=out), (4,), np.float32),
    (lambda p, out: np.max(p(A), 1, out), (3,), float),
    (lambda p, out: np.any(p(A), axis=1, out=out), (3,), float),
    (lambda p, out: np.argmax(p(A), axis=1, out=out), (3,), np.int64),
    (lambda p, out: np.mean(p(A), axis=1, out=out), (3,), float),
    (lambda p, out: np.std(p(A), axis=0, out=out), (4,), float),
    (lambda p, out: np.cumsum(p(A), axis=0, out=out), (3, 4), float),
    (lambda p, out: np.clip(p(A), -1, 1, out=out), (3, 4), float),
    (lambda p, out: np.round(p(A), 1, out=out), (3, 4), float),
    (lambda p, out: np.concatenate([p(A), p(B)], out=out), (6, 4), float),
    (lambda p, out: np.stack([p(A), p(B)], out=out), (2, 3, 4), float),
    (lambda p, out: np.dot(p(A), p(S), out=out), (3, 4), float),
    (lambda p, out: np.outer(p(V), p(V), out), (12, 12), float),
    (lambda p, out: np.take(p(A), [1, 2], axis=0, out=out), (2, 4), float),
    (lambda p, out: np.einsum("ij,kj->ik", p(A), p(B), out=out), (3, 3), float),
    (lambda p, out: np.nanmax(p(N), axis=0, out=out), (4,), float),
    (lambda p, out: np.median(p(A), axis=0, out=out), (4,), float),
    (lambda p, out: np.percentile(p(A), 30, 0, out), (4,), float),
]


@pytest.mark.parametrize("kind", ["ours", "numpy"])
@pytest.mark.parametrize("position", range(len(OUTS)))
def test_out_takes_the_result(position, kind, put, same):
    case, shape, dtype = OUTS[position]
    expected = np.full(shape, 9, dtype)
    case(np.array, expected)
    out = np.full(shape, 9, dtype)
    out = put(out) if kind == "ours" else out
    assert case(put, out) is out
    same(out, expected)
