"""Kernels of factorisations, by LAPACK's criteria: residuals and orthogonality in units of the size and epsilon."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import dtypes, linalg
from gpuarray.adapter_profile import profile_of
from gpuarray.codegen.calls import KERNELS
from gpuarray.codegen.calls.linear_algebra import blocks, small
from gpuarray.codegen.product_choice import Choice, fastest_tiling
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import CallStep
from gpuarray.ops import factorisations
from gpuarray.providers import registry

Array = np.ndarray[Any, Any]

#: Most units of rounding of LAPACK's own tests.
LIMIT = 30

SIZES = (1, 2, 31, 32, 33, 64, 100, 161)
DTYPES = ("float32", "complex64", "float64", "complex128")


@pytest.fixture(autouse=True)
def on_the_device() -> Any:
    with xp.using(device="wgpu", fallback="error"):
        yield


def adjoint(a: Array) -> Array:
    return np.conj(np.swapaxes(a, -1, -2))


def random(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    generator = np.random.default_rng(seed)
    parts = [generator.standard_normal(shape) for _ in range(2)]
    return (parts[0] + 1j * parts[1] if dtype.startswith("c") else parts[0]).astype(dtype)


def positive(shape: tuple[int, ...], dtype: str) -> Array:
    a = random(shape, dtype)
    return (a @ adjoint(a) / shape[-1] + np.eye(shape[-1])).astype(dtype)


def difficult(kind: str, n: int, dtype: str = "float32") -> Array:
    """Return a matrix that is far from well conditioned, or none of whose elements are near 1."""
    generator = np.random.default_rng(1)
    places = np.arange(n)

    def between(values: Array) -> Array:
        left, right = (np.linalg.qr(generator.standard_normal((n, n)))[0] for _ in range(2))
        return left * values @ right

    matrices = {
        "hilbert": 1 / (places[:, None] + places + 1.0),
        "graded": generator.standard_normal((n, n)) * 10.0 ** (-places * 20 / n),
        "graded rows": generator.standard_normal((n, n)) * 10.0 ** (-places * 8 / n)[:, None],
        "rank deficient": generator.standard_normal((n, 3)) @ generator.standard_normal((3, n)),
        "zero": np.zeros((n, n)),
        "small": 1e-30 * generator.standard_normal((n, n)),
        "large": 1e30 * generator.standard_normal((n, n)),
        "repeated columns": np.ones((n, n)) + np.eye(n),
        "equal columns": np.ones((n, n)),
        "clustered values": between(
            np.where(places < n // 2, 1.0, np.where(places < 3 * n // 4, 1e-3, 1 + 1e-6 * places))
        ),
        "one large value": between(np.where(places == 0, 1.0, 1e-6)),
        "decaying values": between(10.0 ** (-places * 8 / n)),
    }
    return matrices[kind].astype(dtype)


DIFFICULT = (
    "hilbert",
    "graded",
    "graded rows",
    "rank deficient",
    "zero",
    "small",
    "large",
    "repeated columns",
    "equal columns",
    "clustered values",
    "one large value",
    "decaying values",
)


def units(error: Array, a: Array) -> float:
    """Return an error in units of the size, the norm, and the epsilon of a matrix."""
    wide = a.astype(np.result_type(a.dtype, np.float64))
    scale = np.abs(wide).sum(-1).max(initial=0) * max(a.shape[-2:]) * float(np.finfo(a.dtype).eps)
    worst = float(np.abs(error).sum(-1).max(initial=0))
    return worst / scale if scale else worst


def wide(x: Any) -> Array:
    result = np.asarray(x)
    return result.astype(np.result_type(result.dtype, np.float64))


def check_orthogonal(q: Array, dtype: Any) -> None:
    error = np.abs(adjoint(q) @ q - np.eye(q.shape[-1])).sum(-1).max(initial=0)
    assert error <= LIMIT * q.shape[-2] * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
def test_factorisations_of_any_size(dtype: str) -> None:
    for n in SIZES if dtype == "float32" else SIZES[1::2]:
        a, p = random((n, n), dtype), positive((n, n), dtype)
        factor = wide(linalg.cholesky(xp.asarray(p)))
        assert units(factor @ adjoint(factor) - p, p) <= LIMIT
        assert not np.triu(factor, 1).any()
        upper = wide(linalg.cholesky(xp.asarray(p), upper=True))
        assert units(adjoint(upper) @ upper - p, p) <= LIMIT
        right = random((n, 7), dtype, 1)
        x = wide(linalg.solve(xp.asarray(a), xp.asarray(right)))
        error = np.abs(a @ x - right).max() / (np.abs(a).sum(-1).max() * np.abs(x).max())
        assert error <= LIMIT * n * np.finfo(dtype).eps
        inverse = wide(linalg.inv(xp.asarray(p)))
        assert units(inverse @ p - np.eye(n), p) <= LIMIT * np.linalg.cond(p)
        sign, logarithm = np.linalg.slogdet(wide(a))
        result = linalg.slogdet(xp.asarray(a))
        condition = 100 * n * np.finfo(dtype).eps * np.linalg.cond(a)
        np.testing.assert_allclose(np.asarray(result.sign), sign, atol=condition)
        np.testing.assert_allclose(np.asarray(result.logabsdet), logarithm, atol=condition)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (5, 2), (2, 5), (33, 33), (100, 40), (40, 100), (3, 17, 16)])
def test_orthogonal_factors(shape: tuple[int, ...], dtype: str) -> None:
    a = random(shape, dtype)
    for mode in ("reduced", "complete"):
        q, r = map(wide, linalg.qr(xp.asarray(a), mode=mode))
        assert units(q @ r - a, a) <= LIMIT
        assert not np.tril(r, -1).any()
        check_orthogonal(q, dtype)
    alone = np.asarray(linalg.qr(xp.asarray(a), mode="r"))
    np.testing.assert_array_equal(alone, np.asarray(linalg.qr(xp.asarray(a))[1]))


def test_raw_factors() -> None:
    a = random((40, 35), "float64")
    for actual, expected in zip(linalg.qr(xp.asarray(a), mode="raw"), np.linalg.qr(a, mode="raw"), strict=True):
        np.testing.assert_allclose(np.asarray(actual), expected, atol=1e-12)


@pytest.mark.parametrize("kind", DIFFICULT)
@pytest.mark.parametrize("n", [12, 70])
def test_difficult_matrices(kind: str, n: int) -> None:
    a = difficult(kind, n)
    q, r = map(wide, linalg.qr(xp.asarray(a)))
    assert units(q @ r - a, a) <= LIMIT
    check_orthogonal(q, a.dtype)
    right = np.ones((n, 2), np.float32)
    try:
        x = wide(linalg.solve(xp.asarray(a), xp.asarray(right)))
    except linalg.LinAlgError:
        return
    if np.isfinite(x).all():
        error = np.abs(a.astype(float) @ x - right).max() / (np.abs(a.astype(float)).sum(-1).max() * np.abs(x).max())
        assert error <= LIMIT * n * np.finfo(a.dtype).eps


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_columns_that_shrink_with_each_reflector(dtype: str) -> None:
    for n in (48, 66, 97):  # what is left of equal columns is rounding, and rounding of it, down to subnormal numbers
        a = np.ones((n, n), dtype)
        q, r = map(wide, linalg.qr(xp.asarray(a)))
        assert units(q @ r - a, a) <= LIMIT
        check_orthogonal(q, dtype)
    check_singular_values(a, dtype)


@pytest.mark.parametrize("n", [20, 70])
def test_stacks(n: int) -> None:
    a = random((4, 3, n, n), "float32") / np.float32(np.sqrt(n))
    x = xp.asarray(a)
    np.testing.assert_allclose(np.asarray(linalg.det(x)), np.linalg.det(a), rtol=1e-3)
    inverse = np.asarray(linalg.inv(x))
    for place in np.ndindex(4, 3):
        np.testing.assert_array_equal(inverse[place], np.asarray(linalg.inv(x[place])))
    one = random((n, 5), "float32", 1)
    shared = np.asarray(linalg.solve(x, xp.asarray(one)))
    np.testing.assert_array_equal(shared[2, 1], np.asarray(linalg.solve(x[2, 1], xp.asarray(one))))
    right = random((3, n, 5), "float32", 1)
    different = np.asarray(linalg.solve(x, xp.asarray(right)))
    np.testing.assert_array_equal(different[1, 2], np.asarray(linalg.solve(x[1, 2], xp.asarray(right[2]))))


@pytest.mark.parametrize("n", [2, 40, 70])
def test_errors_come_from_any_matrix_of_a_stack(n: int) -> None:
    a = np.stack([np.eye(n, dtype=np.float32)] * 3)
    a[1, n - 1, n - 1] = 0
    for function, message in ((linalg.inv, "Singular matrix"), (linalg.cholesky, "not positive definite")):
        with pytest.raises(linalg.LinAlgError, match=message):
            function(xp.asarray(a))
    assert np.asarray(linalg.det(xp.asarray(a))).tolist() == [1, 0, 1]
    sign, logarithm = linalg.slogdet(xp.asarray(a))
    assert np.asarray(sign).tolist() == [1, 0, 1]
    assert np.asarray(logarithm).tolist() == [0, -np.inf, 0]


@pytest.mark.parametrize("n", [3, 70])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_determinants_have_a_sign(n: int, value: float) -> None:
    a = np.eye(n, dtype=np.float32)
    a[-1, -1] = value
    sign, logarithm = linalg.slogdet(xp.asarray(a))
    assert (float(sign), float(logarithm)) == (np.sign(value), np.inf)
    assert float(linalg.det(xp.asarray(a))) == value


def test_not_a_number_is_no_singular_matrix() -> None:
    a = np.eye(5, dtype=np.float32)
    a[2, 3] = np.nan
    assert np.isnan(np.asarray(linalg.inv(xp.asarray(a)))).any()
    assert np.isnan(np.asarray(linalg.qr(xp.asarray(a)).R)).any()
    a[3, 2] = np.nan
    with pytest.raises(linalg.LinAlgError):
        linalg.cholesky(xp.asarray(a))


def test_pivots_whose_inverses_are_infinite() -> None:
    a = np.array([[5e-323, 5e-323], [0, 1e-320]])
    np.testing.assert_array_equal(np.asarray(linalg.solve(xp.asarray(a), xp.asarray(a))), np.eye(2))


def test_small_matrices_take_one_launch() -> None:
    x = xp.asarray(positive((3, 16, 16), "float32"))
    for function in (linalg.cholesky, linalg.inv, lambda y: linalg.solve(y, y), linalg.eigh, linalg.eigvalsh):
        with xp.profile() as profile:
            function(x)
        assert [kernel.launches for kernel in profile.kernels] == [1]


@pytest.mark.parametrize("subgroup_size", [0, 32])
def test_kernels_of_small_matrices_are_short(subgroup_size: int) -> None:
    gpu = Capabilities(
        adapter="any", kind="DiscreteGPU", workgroup_memory=49_152, subgroup_size=subgroup_size,
        profile=profile_of("DiscreteGPU"),
    )  # fmt: skip
    shape, kind = (10, 64, 64), dtypes.float32
    step = CallStep(factorisations.inv, (), (shape,), (shape, (10,)), (kind,), (kind, dtypes.int32), (0, 1))
    sources = [launch.source for launch in KERNELS[factorisations.inv].program(step, "inv", gpu).launches]
    # 64 numbers in each of 8 steps of the factors and of both triangles; GPUs cache a few thousand instructions
    assert sum(source.count("fma(") for source in sources) < 3 * 8 * 64
    assert sum(source.count("\n") for source in sources) < 4_000


@pytest.mark.parametrize(("dtype", "size", "launches"), [("float32", 32, 1), ("float32", 64, 2), ("complex64", 32, 2)])
def test_factors_that_need_much_workgroup_memory_have_a_kernel_of_their_own(dtype, size, launches) -> None:
    x = random((3, size, size), dtype)
    with xp.profile() as profile:
        inverse = linalg.inv(xp.asarray(x))
    assert sum(kernel.launches for kernel in profile.kernels) == launches
    assert units(x @ wide(inverse) - np.eye(size), x) <= LIMIT * np.linalg.cond(x).max()


def test_results_are_the_same_each_time() -> None:
    x = xp.asarray(random((70, 70), "float32"))
    for function in (linalg.inv, lambda y: linalg.qr(y).Q):
        np.testing.assert_array_equal(np.asarray(function(x)), np.asarray(function(x)))


def test_devices_with_no_more_than_all_have(portable: Any) -> None:
    with xp.using(device=portable):
        for dtype in ("float32", "complex64"):
            p, a = positive((70, 70), dtype), random((70, 70), dtype)
            factor = wide(linalg.cholesky(xp.asarray(p)))
            assert units(factor @ adjoint(factor) - p, p) <= LIMIT
            q, r = map(wide, linalg.qr(xp.asarray(a)))
            assert units(q @ r - a, a) <= LIMIT
            inverse = wide(linalg.inv(xp.asarray(p)))
            assert units(inverse @ p - np.eye(70), p) <= LIMIT * np.linalg.cond(p)
            check_eigenvalues(a + adjoint(a), dtype)


def test_eigenvalues_with_little_workgroup_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = registry.open_device(xp.ones(1).device)
    monkeypatch.setattr(provider, "capabilities", replace(provider.capabilities, workgroup_memory=16_384))
    a = random((77, 77), "complex128")
    check_eigenvalues(a + adjoint(a), "complex128")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (5, 2), (2, 5), (33, 33), (3, 17, 16), (70, 70)])
def test_singular_values(shape: tuple[int, ...], dtype: str) -> None:
    a = random(shape, dtype)
    check_singular_values(a, dtype, full=shape[-2] != shape[-1])


@pytest.mark.parametrize(("seed", "dtype"), [(3, "complex64"), (17, "complex128")])
def test_products_at_the_limit_end(seed: int, dtype: str) -> None:
    # two columns of these have a product within rounding of the limit, so that only one of two orders exceeds it on a
    # GPU whose multiplication and addition are fused
    generator = np.random.default_rng(seed)
    a = generator.standard_normal((3, 65, 65)) + 1j * generator.standard_normal((3, 65, 65))
    check_singular_values(a.astype(dtype), dtype)


def check_singular_values(a: Array, dtype: Any, *, full: bool = False) -> None:
    u, s, vh = map(wide, linalg.svd(xp.asarray(a), full_matrices=full))
    k = s.shape[-1]
    assert units((u[..., :k] * s[..., None, :]) @ vh[..., :k, :] - a, a) <= LIMIT
    check_orthogonal(u, dtype)
    check_orthogonal(adjoint(vh), dtype)
    expected = np.linalg.svd(wide(a), compute_uv=False)
    bound = LIMIT * max(a.shape[-2:]) * np.finfo(dtype).eps * np.max(expected, initial=0)
    assert np.abs(s - expected).max() <= bound
    assert (np.diff(s, axis=-1) <= 0).all()
    assert np.abs(wide(linalg.svdvals(xp.asarray(a))) - expected).max() <= bound


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (33, 33), (3, 16, 16), (64, 64), (2, 70, 70)])
def test_eigenvalues(shape: tuple[int, ...], dtype: str) -> None:
    a = random(shape, dtype)
    check_eigenvalues(a + adjoint(a), dtype)


@pytest.mark.parametrize("n", [7, 40, 70])
def test_one_triangle_has_the_eigenvalues(n: int) -> None:
    a = random((n, n), "complex64")
    for triangle, part in (("L", np.tril(a)), ("U", np.triu(a))):
        whole = part + adjoint(part) - np.diag(np.diag(a).real)
        values, vectors = map(wide, linalg.eigh(xp.asarray(a), UPLO=triangle))
        assert units(whole @ vectors - vectors * values, whole) <= LIMIT


def check_eigenvalues(a: Array, dtype: Any) -> None:
    values, vectors = map(wide, linalg.eigh(xp.asarray(a)))
    assert units(a @ vectors - vectors * values[..., None, :], a) <= LIMIT
    check_orthogonal(vectors, dtype)
    expected = np.linalg.eigvalsh(wide(a))
    bound = LIMIT * a.shape[-1] * np.finfo(dtype).eps * np.abs(expected).max(initial=0)
    assert np.abs(values - expected).max() <= bound
    assert (np.diff(values, axis=-1) >= 0).all()
    assert np.abs(wide(linalg.eigvalsh(xp.asarray(a), UPLO="U")) - expected).max() <= bound


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", DIFFICULT)
def test_spectra_of_difficult_matrices(kind: str, dtype: str) -> None:
    check_singular_values(difficult(kind, 24, dtype), dtype)
    for n in (24, 100):
        a = difficult(kind, n, dtype)
        check_eigenvalues(np.tril(a) + np.tril(a, -1).T, dtype)


TRIDIAGONAL = {
    "second differences": (np.full(150, 2.0), np.ones(149)),
    "pairs of values": (np.abs(np.arange(150.0) - 75), np.ones(149)),
    "blocks side by side": (np.tile([1.0, 2, 1, 2, 1], 30), np.where(np.arange(149) % 5 == 4, 1e-8, 1)),
    "one value": (np.ones(150), np.zeros(149)),
    "different sizes": (10.0 ** -np.arange(150), -(10.0 ** -np.arange(149))),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", TRIDIAGONAL)
def test_eigenvalues_of_tridiagonal_matrices(kind: str, dtype: str) -> None:
    diagonal, beside = TRIDIAGONAL[kind]
    check_eigenvalues((np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)).astype(dtype), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lengths_of_columns_do_not_drift(dtype: str) -> None:
    """Hundreds of rotations of each column change the largest singular value by a few units of rounding."""
    a = random((60, 60), dtype, 7)
    expected = np.linalg.svd(wide(a), compute_uv=False)
    error = np.abs(wide(linalg.svdvals(xp.asarray(a))) - expected).max()
    assert error <= 10 * np.finfo(dtype).eps * expected[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "most"), [((1000, 10), 5), ((64, 64), 11), ((100, 100), 18)])
def test_residuals_do_not_grow_with_the_rows(shape: tuple[int, int], most: float, dtype: str) -> None:
    """Columns are orthogonal to rounding, however many products their sums have; LAPACK leaves about 5, 8 and 10."""
    a = random(shape, dtype)
    u, s, vh = map(wide, linalg.svd(xp.asarray(a), full_matrices=False))
    residual = np.linalg.norm((u * s) @ vh - a) / np.linalg.norm(wide(a))
    assert residual <= most * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [16, 33, 64, 100])
def test_equal_singular_values(n: int, dtype: str) -> None:
    """The rotation of two columns of equal lengths may have any angle, and must not turn them into others."""
    values = np.resize([1, 0.5, 0.5, 0.25], n)
    left, right = (np.linalg.qr(random((4, n, n), dtype, seed))[0] for seed in (1, 2))
    a = ((left * values) @ right).astype(dtype)
    u, s, vh = map(wide, linalg.svd(xp.asarray(a)))
    assert np.abs((u * s[..., None, :]) @ vh - a).max() <= n * np.finfo(dtype).eps
    check_orthogonal(u, dtype)
    check_orthogonal(adjoint(vh), dtype)


@pytest.mark.parametrize("shape", [(60, 60), (100, 100), (120, 70)])
def test_singular_values_of_rows_of_different_sizes(shape: tuple[int, int]) -> None:
    check_singular_values(difficult("graded rows", shape[0])[:, : shape[1]], np.float32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [40, 160])
def test_clustered_eigenvalues(n: int, dtype: str) -> None:
    q = np.linalg.qr(wide(random((n, n), dtype)))[0]
    values = np.repeat([1, 1 + 1e-6, -1, 0], n // 4)
    a = (q * values) @ adjoint(q)
    check_eigenvalues(((a + adjoint(a)) / 2).astype(dtype), dtype)


@pytest.mark.parametrize("n", [3, 70])
def test_spectra_of_what_is_not_finite_do_not_converge(n: int) -> None:
    a = np.ones((n, n), np.float32)
    a[-1, -1] = np.nan
    for function, message in ((linalg.svdvals, "SVD did not"), (linalg.eigvalsh, "Eigenvalues did not")):
        with pytest.raises(linalg.LinAlgError, match=message):
            function(xp.asarray(a))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (20, 7), (7, 20), (40, 40), (100, 80)])
def test_least_squares(shape: tuple[int, int], dtype: str) -> None:
    a, right = random(shape, dtype), random((shape[0], 3), dtype, 1)
    x, residuals, rank, s = linalg.lstsq(xp.asarray(a), xp.asarray(right))
    expected, squares, _, values = np.linalg.lstsq(wide(a), wide(right), rcond=None)
    condition = values[0] / values[-1]
    bound = LIMIT * max(shape) * np.finfo(dtype).eps
    assert int(rank) == min(shape)
    assert np.abs(wide(x) - expected).max() <= bound * condition * (1 + np.abs(expected).max())
    assert np.abs(wide(s) - values).max() <= bound * values[0]
    assert residuals.shape == squares.shape
    assert np.abs(wide(residuals) - squares).max(initial=0) <= bound * np.abs(right).max() ** 2 * shape[0]


@pytest.mark.parametrize("kind", ["rank deficient", "zero", "graded", "small", "large"])
def test_least_squares_of_difficult_matrices(kind: str) -> None:
    a = difficult(kind, 24)
    size = float(np.abs(a).max()) or 1.0
    right = a @ np.ones((24, 2), np.float32)
    actual = linalg.lstsq(xp.asarray(a), xp.asarray(right))
    share = np.finfo(np.float32).eps * 24
    expected, _, rank, _ = np.linalg.lstsq(wide(a), wide(right), rcond=share)
    assert int(actual.rank) == rank
    error = np.abs(wide(a) @ wide(actual.x) - right).max() / size
    assert error <= LIMIT * share * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("dtype", DTYPES)
def test_updates_whose_depth_several_workgroups_share(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def in_parts(*arguments: Any) -> Choice:
        return Choice(fastest_tiling(*arguments), splits=3)

    monkeypatch.setattr(blocks, "choose", in_parts)
    a = random((2, 97, 97), dtype)
    q, r = map(wide, linalg.qr(xp.asarray(a)))
    assert units(q @ r - a, a) <= LIMIT
    check_orthogonal(q, dtype)


def test_a_factorisation_and_its_check_take_one_submission() -> None:
    x = xp.asarray(positive((3, 16, 16), "float32"))
    linalg.inv(x)
    provider = registry.open_device(x.device)
    before = provider.stats()["submits"]
    linalg.inv(x)
    assert provider.stats()["submits"] == before + 1


def test_chunks_of_several_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    result = small.team_of

    def in_chunks(*arguments: Any) -> Any:
        team = result(*arguments)
        return team and replace(team, chunk=4)

    monkeypatch.setattr(small, "team_of", in_chunks)
    for n, dtype in ((5, "complex64"), (13, "float32")):
        p, right = positive((3, n, n), dtype), random((3, n, 2), dtype)
        factor = wide(linalg.cholesky(xp.asarray(p)))
        assert units(factor @ adjoint(factor) - p, p) <= LIMIT
        for a in (p, random((3, n, n), dtype)):
            x = wide(linalg.solve(xp.asarray(a), xp.asarray(right)))
            error = np.abs(a @ x - right).max() / (np.abs(a).sum(-1).max() * np.abs(x).max())
            assert error <= LIMIT * n * np.finfo(dtype).eps
