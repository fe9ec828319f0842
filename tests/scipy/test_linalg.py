"""Functions of gpuarray.scipy.linalg, compared with SciPy's."""

import warnings
from functools import partial

import comparing
import numpy as np
import pytest
import scipy
from scipy import linalg

import gpuarray as xp
from gpuarray.scipy import linalg as ours
from gpuarray.scipy._mirror import IMPLEMENTATIONS

IS_NEWEST = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18)
KINDS = ("float32", "float64", "complex64", "complex128")


def values(dtype, *shape):
    generator = np.random.default_rng(sum(shape))
    result = generator.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        result = result + 1j * generator.standard_normal(shape)
    return result.astype(dtype)


def positive(dtype, *shape):
    x = values(dtype, *shape)
    return (x @ x.conj().swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def dominant(dtype, *shape):
    return (values(dtype, *shape) + 2 * shape[-1] * np.eye(shape[-1])).astype(dtype)


def put(value):
    if isinstance(value, np.ndarray):
        return xp.asarray(value)
    return tuple(map(put, value)) if type(value) is tuple else value


compare = partial(comparing.compare, any_integer=True)


def precision(*arrays):
    kinds = [a.dtype for a in arrays if isinstance(a, np.ndarray) and a.dtype.kind in "fc"]
    return 3e-4 if any(kind in (np.float32, np.complex64) for kind in kinds) else 1e-10


def check(name, *args, tolerance=None, newest=None, **kwargs):
    """Compare a function, as it is called and as a composition, with SciPy's.

    ``newest`` turns the result of SciPy before 1.18, with which the composition is then compared, into that of 1.18.
    """
    expected = getattr(linalg, name)(*args, **kwargs)
    function = getattr(ours, name)
    limit = precision(*args, *(args[0] if args and type(args[0]) is tuple else ())) if tolerance is None else tolerance
    given = [put(a) for a in args], {k: put(v) for k, v in kwargs.items()}
    before = xp.stats()["fallbacks"]
    if IS_NEWEST or newest is None:
        compare(function(*given[0], **given[1]), expected, limit)
    if not IS_NEWEST and newest is not None:
        expected = newest(expected)
    compare(getattr(function, "composition", function)(*given[0], **given[1]), expected, limit)
    if not IMPLEMENTATIONS["linalg"][name].reason:
        assert xp.stats()["fallbacks"] == before


@pytest.fixture(params=("cpu", "wgpu"))
def place(request):
    with xp.using(device=request.param):
        yield request.param


@pytest.fixture(params=(*(("cpu", kind) for kind in (*KINDS, "int32")), ("wgpu", "float32")), ids=" ".join)
def dtype(request):
    """A dtype of matrices, while a device is the default one; kernels of few dtypes are compiled, as it takes long."""
    with xp.using(device=request.param[0]):
        yield request.param[1]


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_lu_factors(dtype):
    for shape in ((6, 6), (2, 3, 5, 5), (2, 40, 35), (3, 7)):
        a = values(dtype, *shape) * 3
        check("lu", a)
        check("lu", a, permute_l=True)
        check("lu", a, p_indices=True)
        check("lu_factor", a)
    a = values(dtype, 2, 6, 6) * 3
    with np.errstate(all="ignore"):
        if np.isfinite(np.linalg.cond(a)).all():
            packed, pivots = (np.asarray(part) for part in linalg.lu_factor(a))
            for trans in (0, 1, 2):
                check("lu_solve", (packed, pivots), values(dtype, 2, 6, 3), trans, tolerance=1e-2)
                check("lu_solve", (packed[0], pivots[0]), values(dtype, 6), trans, tolerance=1e-2)
                check("lu_solve", (packed[0], pivots[0]), values(dtype, 2, 6, 3), trans, tolerance=1e-2)
    compare(ours.lu_factor.composition(xp.zeros((3, 0), np.float32)), linalg.lu_factor(np.zeros((3, 0), np.float32)), 0)


def test_triangular_systems(dtype):
    for a, b in (
        (dominant(dtype, 5, 5), values(dtype, 5)),
        (dominant(dtype, 2, 37, 37), values(dtype, 2, 37, 3)),
        (dominant(dtype, 3, 5, 5), values(dtype, 5)),
        (dominant(dtype, 5, 5), values(dtype, 2, 5, 3)),
    ):
        for lower in (False, True):
            for trans in (0, "T", 2):
                check("solve_triangular", a, b, trans, lower)
        check("solve_triangular", a * 0.1 if dtype != "int32" else np.triu(a, 1) // 8, b, unit_diagonal=True)


def test_cholesky_factors(dtype):
    a = positive(dtype, 2, 6, 6)
    for lower in (False, True):
        check("cholesky", a, lower)
        factor = linalg.cho_factor(a, lower)
        check("cho_solve", (factor[0], lower), values(dtype, 2, 6, 3))
        check("cho_solve", (factor[0][0], lower), values(dtype, 6))
        check("cho_solve", (factor[0], lower), values(dtype, 6))
        result, which = ours.cho_factor.composition(put(a), lower)
        assert which is lower
        compare(xp.tril(result) if lower else xp.triu(result), linalg.cholesky(a, lower), precision(a))


def with_residues(left, right, result):
    """Return a least-squares solution with the residues that ranks less than full have."""
    if left.shape[-2] <= left.shape[-1] or result[1].size:
        return result
    columns = right[..., 0, :] if right.ndim > 1 else right[0]
    return result[0], np.full_like(columns.real, np.nan, dtype=result[3].dtype), *result[2:]


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_systems(dtype):
    a, b = dominant(dtype, 2, 6, 6), values(dtype, 2, 6, 3)
    line = values(dtype, 6)
    for assumed in (None, "general", "upper triangular", "lower triangular", "banded"):
        check("solve", a, b, assume_a=assumed)
    check("solve", a[0], line)
    check("solve", a, line)
    if a.dtype.kind != "c":
        check("solve", a, b, transposed=True)
        check("solve", a, b, transposed=True, assume_a="lower triangular")
    for lower in (False, True):
        for assumed in ("symmetric", "her", "pos"):
            check("solve", positive(dtype, 2, 6, 6), b, lower, assume_a=assumed)
            check("solve", positive(dtype, 2, 6, 6), line, lower, assume_a=assumed)
            check("inv", positive(dtype, 2, 6, 6), assume_a=assumed[:3], lower=lower)
    check("solve", a * np.eye(6, dtype=a.dtype), b, assume_a="diagonal")
    check("solve", np.triu(np.tril(a, 1), -1), b, assume_a="tridiagonal")
    check("inv", a)
    check("inv", np.triu(a), assume_a="upper triangular")
    check("inv", a * np.eye(6, dtype=a.dtype), assume_a="diagonal")
    check("inv", a, assume_a="diagonal")
    check("det", a)
    check("det", a[0])
    for left, right in ((values(dtype, 2, 7, 4), values(dtype, 2, 7, 3)), (values(dtype, 4, 7), values(dtype, 4))):
        check("lstsq", left, right)
        # singular values that are rounding errors are near the default limit
        check("lstsq", left[..., :1] * np.ones_like(left), right, 1e-5, newest=partial(with_residues, left, right))
    left, right = values(dtype, 7, 4), values(dtype, 7)
    check("lstsq", left, right, newest=partial(with_residues, left, right))
    check("lstsq", values(dtype, 7, 4), values(dtype, 7), lapack_driver="gelsy")


def bands(dtype, *shape):
    ab = values(dtype, *shape)
    ab[..., 1, :] += 8
    return ab


def test_tridiagonal_systems(dtype):
    for n in (2, 77) if xp.config.device == "wgpu" else (2, 3, 64, 77):
        check_tridiagonal(dtype, n)


def check_tridiagonal(dtype, n):
    right = values(dtype, n, 3)
    check("solve_banded", (1, 1), bands(dtype, 3, n), right)
    check("solve_banded", (1, 1), bands(dtype, 2, 3, n), values(dtype, 2, n, 1))
    check("solve_banded", (1, 1), bands(dtype, 3, n), right[:, 0])
    for lower in (False, True):
        ab = values(dtype, 2, n)
        ab[1 - lower] = 9
        check("solveh_banded", ab, right, lower=lower)
    check("solve_banded", (1, 2), np.concatenate([values(dtype, 1, n), bands(dtype, 3, n)]), right)


@pytest.mark.parametrize("sides", [(0, 0), (2, 1), (0, 3), (4, 4)])
def test_banded_systems(dtype, sides):
    rows = 23
    ab, right = values(dtype, sum(sides) + 1, rows), values(dtype, rows, 2)
    ab[sides[1]] += 20
    with xp.using(fallback="error"):
        check("solve_banded", sides, ab, right)
        for lower in (False, True):
            definite = values(dtype, sides[0] + 1, rows)
            definite[0 if lower else -1] = 30
            check("solveh_banded", definite, right, lower=lower)


def test_tridiagonal_systems_that_need_interchanges_are_counted():
    ab = bands("float32", 3, 40)
    ab[1] = 0
    b = values("float32", 40)
    with xp.using(device="wgpu"):
        before = xp.stats()["fallbacks"]
        result = ours.solve_banded((1, 1), xp.asarray(ab), xp.asarray(b))
        assert xp.stats()["fallbacks"] == before + 1
        compare(result, linalg.solve_banded((1, 1), ab, b), 1e-3)
        with pytest.raises(linalg.LinAlgError, match="singular"):
            ours.solve_banded((1, 1), xp.zeros((3, 5), np.float32), xp.ones(5, np.float32))
        with pytest.raises(linalg.LinAlgError, match="minor not positive definite"):
            ours.solveh_banded(xp.ones((2, 5), np.float32), xp.ones(5, np.float32))


def in_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def test_qr_factors(dtype):
    for shape in ((5, 5), (2, 7, 4), (4, 7)):
        a = values(dtype, *shape)
        for mode in ("full", "economic", "r", "raw"):
            if mode != "raw" or a.ndim == 2:  # SciPy's own result for stacks is an error
                check("qr", a, mode=mode, newest=in_tuple if mode == "r" else None)
    check("qr", values(dtype, 7, 4), pivoting=True)


def up_to_signs(a):
    """Compare what does not depend on the signs of vectors."""
    return np.abs(np.asarray(a))


def test_eigenvalues(dtype):
    a, b = positive(dtype, 2, 6, 6), dominant(dtype, 2, 6, 6)
    b = b @ b.conj().swapaxes(-1, -2)
    for options in ({}, {"lower": False}, {"subset_by_index": [1, 3]}, {"subset_by_value": (-1.0, 1e3)}):
        check("eigvalsh", a[0], **options)
        check("eigh", a[0], eigvals_only=True, **options)
        w, v = ours.eigh.composition(put(a[0]), **options)
        compare(up_to_signs(v), up_to_signs(linalg.eigh(a[0], **options)[1]), 1e-3)
    check("eigvalsh", a)
    for kind in (1, 2, 3):
        check("eigvalsh", a, b, type=kind)
        w, v = (np.asarray(part) for part in ours.eigh.composition(put(a), put(b), type=kind))
        left, right = {1: (a @ v, b @ v), 2: (a @ b @ v, v), 3: (b @ a @ v, v)}[kind]
        compare(left, (right * w[:, None, :]).astype(left.dtype), 1e-3)


def test_singular_values_and_what_follows(dtype):
    for shape in ((5, 5), (2, 7, 4), (4, 7)):
        a = values(dtype, *shape)
        check("svdvals", a)
        check("svd", a, compute_uv=False)
        for full in (True, False):
            result, expected = ours.svd.composition(put(a), full), linalg.svd(a, full)
            assert [part.shape for part in result] == [part.shape for part in expected]
            compare(result[1], expected[1], precision(a))
        check("pinv", a, return_rank=True)
        check("polar", a, tolerance=1e-3)
        check("polar", a, "left", tolerance=1e-3)
        low = a.copy()
        low[..., -1, :] = low[..., 0, :]
        for name in ("orth", "null_space"):
            result, expected = np.asarray(getattr(ours, name).composition(put(low))), getattr(linalg, name)(low)
            assert result.shape == expected.shape
            projections = [x @ x.conj().swapaxes(-1, -2) for x in (result, expected)]
            compare(projections[0], projections[1], 1e-3)
    square = positive(dtype, 2, 6, 6)
    for lower in (False, True):
        check("pinvh", square, lower=lower, return_rank=True)
    check("subspace_angles", values(dtype, 7, 4), values(dtype, 7, 2), tolerance=1e-3)
    check("orthogonal_procrustes", values(dtype, 2, 7, 3), values(dtype, 2, 7, 3)[:, ::-1].copy(), tolerance=1e-3)


def test_functions_of_matrices(dtype):
    a = values(dtype, 2, 5, 5)
    on_device = xp.config.device == "wgpu"
    for scale in (0.1, 30) if on_device else (0.001, 0.1, 1, 30) if a.dtype.kind in "fc" else (1,):
        check("expm", (a * scale).astype(a.dtype), tolerance=2e-3 if precision(a) > 1e-9 else 1e-9)
    check("expm", np.triu(a))
    check("expm", values(dtype, 1, 1))
    for name in ("tanhm",) if on_device else ("cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm"):
        check(name, a, tolerance=2e-3 if precision(a) > 1e-9 else 1e-8)
    for options in ({}, {"method": "blockEnlarge", "compute_expm": False}):
        check("expm_frechet", a[0], a[1], tolerance=2e-3, **options)
    with warnings.catch_warnings(action="ignore"):  # results of SciPy in single precision
        check("logm", positive(dtype, 5, 5), tolerance=1e-3)
    check("sqrtm", positive(dtype, 5, 5))


def test_constructors(dtype):
    c, r = values(dtype, 2, 4) + 3, values(dtype, 2, 5) + 2
    check("toeplitz", c)
    check("toeplitz", c[0], r[0])
    check("toeplitz", c, r)
    check("circulant", c)
    check("hankel", c[0])
    check("hankel", c[0], r[0])
    check("leslie", c[0], r[0, :3])
    check("companion", c)
    check("fiedler", c)
    for n in (1, 2, 3, 4, 5):
        check("fiedler_companion", r[0, :n], newest=(lambda result: result.reshape(0, 0)) if n == 1 else None)
    check("fiedler_companion", r)
    check("khatri_rao", c, r[:, :4])
    check("block_diag", c, r[0], values(dtype, 2, 3, 3))
    check("block_diag")
    for m, n in ((4, 4), (4, 6), (6, 4)):
        check("diagsvd", c[0], m, n)
    for n in (1, 3, 8):
        for mode in ("full", "valid", "same"):
            check("convolution_matrix", c, n, mode)


def test_constructors_of_numbers(place):
    for name in ("dft", "hadamard", "helmert", "hilbert", "invhilbert", "invpascal", "pascal"):
        result = getattr(ours, name)(4)
        assert isinstance(result, xp.GpuArray)
        compare(result, getattr(linalg, name)(4), 0)


def test_systems_of_a_row_and_a_column(dtype):
    c, r = values(dtype, 2, 5) + 1, values(dtype, 2, 5)
    c[:, 0] += 20
    x = values(dtype, 2, 5, 3)
    for first in (c, (c, r)):
        check("matmul_toeplitz", first, x, tolerance=1e-6)
        check("solve_toeplitz", first, x, tolerance=1e-6)
    check("matmul_toeplitz", (c[0], values(dtype, 3)), values(dtype, 3), tolerance=1e-6)
    check("solve_toeplitz", c[0], x[0, :, 0], tolerance=1e-6)
    check("solve_circulant", c[0], x[0])
    check("solve_circulant", c, x[0, :, :2].copy(), caxis=1, outaxis=-1)
    check("solve_circulant", np.ones(4, dtype), values(dtype, 4), singular="lstsq")


def test_norms_and_structure(dtype):
    a = values(dtype, 5, 6)
    for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf):
        compare(ours.norm.composition(put(a), order), np.linalg.norm(a, order), precision(a))
    np.testing.assert_allclose(float(ours.norm(put(a), 1)), linalg.norm(a, 1), rtol=1e-5)
    check("norm", a, axis=1, keepdims=True)
    check("bandwidth", np.tril(np.triu(a, -1), 2))
    check("bandwidth", np.stack([np.tril(a), np.triu(a)]))
    square = values(dtype, 5, 5)
    whole = square + square.T
    for name in ("issymmetric", "ishermitian"):
        for x in (square, whole, square + square.conj().T, np.stack([square, whole])):
            check(name, x)
            check(name, x, atol=1e-3)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # SciPy's own
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_functions_of_matrices_that_are_not_finite_are_scipys(place, value):
    host = np.eye(3, dtype=np.float32)
    host[0, 1] = value
    for name in ("cosm", "sinm", "coshm", "sinhm"):
        assert np.isnan(getattr(linalg, name)(host)).any()
        assert np.isnan(np.asarray(getattr(ours, name)(xp.asarray(host)))).any()
    for name in ("tanm", "tanhm"):
        with pytest.raises(ValueError, match="infs or NaNs"):
            getattr(ours, name)(xp.asarray(host))


def test_errors_are_scipys(place):
    bad, nan = np.ones((3, 4)), np.full((3, 3), np.nan)
    one, line = np.eye(3), np.ones(4)
    cases = [
        ("inv", bad), ("det", bad), ("cholesky", bad), ("expm", bad), ("eigh", bad), ("pinvh", bad), ("cosm", bad),
        ("solve", one, line), ("solve_triangular", one, line), ("lu_solve", (one, np.arange(3)), line),
        ("cho_solve", (one, True), line), ("lstsq", one, line), ("svd", line), ("qr", line), ("lu", line), ("inv", nan),
        ("det", nan), ("cholesky", nan), ("eigh", nan), ("solve", nan, np.ones(3)), ("svd", nan), ("qr", nan),
        ("lu_factor", nan), ("norm", nan), ("pinv", nan), ("solve_triangular", nan, np.ones(3)), ("issymmetric", bad),
        ("solve_toeplitz", line, np.ones(3)), ("leslie", line, line), ("companion", np.zeros(3)),
        ("fiedler_companion", np.zeros(4)), ("companion", np.ones(1)), ("diagsvd", line, 3, 3),
        ("khatri_rao", one, bad),
        ("solve_banded", (1, 1), np.ones((2, 5)), np.ones(5)), ("solveh_banded", np.ones((2, 5)), np.ones(4)),
        ("orthogonal_procrustes", one, bad), ("subspace_angles", one, np.ones((4, 3))),
        ("polar", one, "up"),
        ("convolution_matrix", line, 0), ("solve_circulant", line, np.ones(3)), ("qr", one, False, None, "some"),
    ]  # fmt: skip
    for name, *args in cases:
        with pytest.raises(Exception) as expected:  # noqa: PT011  # whatever SciPy raises
            getattr(linalg, name)(*args)
        with pytest.raises(type(expected.value)) as result:
            getattr(ours, name).composition(*map(put, args))
        assert str(result.value) == str(expected.value), name
    for call in (ours.inv.composition, lambda x: ours.solve.composition(x, x[0])):
        with pytest.raises(linalg.LinAlgError, match="ingular"):
            call(xp.zeros((3, 3)))
    with pytest.raises(linalg.LinAlgError, match="resolution failed at diagonal 1"):
        ours.solve_triangular.composition(xp.asarray(np.diag([1.0, 0, 1])), xp.ones(3))
    with pytest.raises(linalg.LinAlgError, match="positive definite"):
        ours.cholesky.composition(-xp.eye(3))
    with pytest.warns(linalg.LinAlgWarning, match="Diagonal number 2 is exactly zero"):
        ours.lu_factor.composition(xp.asarray(np.diag([1.0, 0, 1])))


def test_a_triangle_is_solved_together_with_its_checks():
    a, b = (xp.asarray(x, device="wgpu") for x in (np.eye(40, dtype="f4"), np.ones((40, 3), "f4")))
    result = ours.solve_triangular(a, b)
    xp.reset_stats()
    result = ours.solve_triangular(a, b)
    np.asarray(result)
    assert xp.stats()["evaluations"] == 1
    with pytest.raises(linalg.LinAlgError, match="singular matrix"):
        ours.solve_triangular(a * 0, b)


def test_complex_matrices_on_a_device():
    with xp.using(device="wgpu"):
        a, b = dominant("complex64", 40, 40), values("complex64", 40, 3)
        check("lu_solve", linalg.lu_factor(a), b, 2)
        check("solve_triangular", a, b, 2, True)
        check("cho_solve", linalg.cho_factor(positive("complex64", 40, 40)), b)
        check("solve_banded", (1, 1), bands("complex64", 3, 40), b)


def scaled(x):
    return xp.sin(x).sum() if x.dtype.kind != "c" else xp.sin(x.real + 2 * x.imag).sum()


A, B = dominant("float64", 4, 4), values("float64", 4, 2)
RATES = {
    "lu": lambda a: sum(map(scaled, ours.lu(a)[1:])),
    "lu of more rows": lambda a: sum(map(scaled, ours.lu(a[:, :3])[1:])),
    "lu of more columns": lambda a: sum(map(scaled, ours.lu(a[:3])[1:])),
    "lu_solve": lambda a: scaled(ours.lu_solve(ours.lu_factor(a), B)),
    "lu_solve transposed": lambda a: scaled(ours.lu_solve(ours.lu_factor(a), B, 1)),
    "solve_triangular": lambda a: scaled(ours.solve_triangular(a, a[:, :2], lower=True)),
    "solve_triangular transposed": lambda a: scaled(ours.solve_triangular(a, a[:, :2], "T", unit_diagonal=True)),
    "cho_solve": lambda a: scaled(ours.cho_solve(ours.cho_factor(a @ a.T), a)),
    "solve of a triangle": lambda a: scaled(ours.solve(a, B, assume_a="symmetric")),
    "solve with three diagonals": lambda a: scaled(ours.solve(a, B, assume_a="tridiagonal")),
    "det": lambda a: xp.log(ours.det(a)),
    "lstsq": lambda a: scaled(ours.lstsq(a[:, :2], B)[0]),
    "eigh of pairs": lambda a: scaled(ours.eigvalsh(a + a.T, a @ a.T)),
    "pinv": lambda a: scaled(ours.pinv(a[:, :2])),
    "polar": lambda a: scaled(ours.polar(a)[0]),
    "expm": lambda a: scaled(ours.expm(a / 9)),
    "toeplitz": lambda a: scaled(ours.toeplitz(a[0], a[1])),
    "solve_circulant": lambda a: scaled(ours.solve_circulant(a[0], B)),
    "block_diag": lambda a: scaled(ours.block_diag(a[:1], a[1:])),
}


@pytest.mark.parametrize("name", RATES)
def test_derivatives(name):
    """Compare derivatives with differences, also under vmap and jit."""
    function = RATES[name]
    with xp.using(device="cpu"):
        direction = values("float64", 4, 4)
        step = 1e-6
        ends = [float(function(xp.asarray(A + sign * step * direction))) for sign in (1, -1)]
        rate = xp.grad(function)(xp.asarray(A)).get()
        expected = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose((rate * direction).sum(), expected, rtol=2e-5, atol=1e-7)
        both = xp.asarray(np.stack([A, A.T]))
        each = [float(function(x)) for x in both]
        np.testing.assert_allclose(xp.vmap(function)(both).get(), each, rtol=1e-9)
        np.testing.assert_allclose(xp.vmap(xp.grad(function))(both)[0].get(), rate, rtol=1e-7, atol=1e-9)
        compiled = xp.jit(function)
        for _ in range(3):
            np.testing.assert_allclose(float(compiled(xp.asarray(A))), each[0], rtol=1e-9)


def test_derivatives_of_complex_factors():
    a, direction = dominant("complex128", 3, 3), values("complex128", 3, 3)
    with xp.using(device="cpu"):
        for function in (
            lambda x: sum(map(scaled, ours.lu(x)[1:])),
            lambda x: scaled(ours.solve_triangular(x, x[:, :1], 2)),
        ):
            ends = [float(function(xp.asarray(a + sign * 1e-6 * direction))) for sign in (1, -1)]
            rate = xp.grad(function)(xp.asarray(a)).get()
            np.testing.assert_allclose((rate * direction).sum().real, (ends[0] - ends[1]) / 2e-6, rtol=1e-5)


def test_recorded_functions_raise_at_the_end_of_a_call():
    with xp.using(device="cpu"):
        compiled = xp.jit(lambda a: ours.solve_triangular(a, a[0]))
        for _ in range(3):
            compiled(xp.asarray(A))
        with pytest.raises(linalg.LinAlgError, match="singular matrix"):
            compiled(xp.zeros((4, 4)))
        with pytest.raises(ValueError, match="infs or NaNs"):
            compiled(xp.full((4, 4), np.nan))


def test_missing_names_say_what_to_do():
    with pytest.raises(AttributeError, match=r"use scipy\.linalg\.get_lapack_funcs with gpuarray\.asnumpy\(x\)"):
        ours.get_lapack_funcs
