"""The transposes of nodes and calls: derivatives of both modes and of second order agree with differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.testing import check_grads

_RANDOM = np.random.default_rng(0)
A = _RANDOM.standard_normal((2, 3, 3))
C = A + 1j * _RANDOM.standard_normal((2, 3, 3))
S = A @ A.swapaxes(1, 2) + 3 * np.eye(3)
H = C @ C.conj().swapaxes(1, 2) + 3 * np.eye(3)
X = np.linspace(0.3, 1.7, 6)


def of_hermitian(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda a: function((a + np.conj(a).mT) / 2)


def lengths(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Factors by their magnitudes, as their signs and phases are arbitrary."""
    return lambda a: [abs(factor) for factor in function(a)]


def projections(factors: Any) -> Any:
    """Return a function of the projections on the first column and on what is beyond the columns of a matrix."""

    def fun(a: Any) -> Any:
        result = []
        for q in (factors(a)[0], np.conj(factors(a)[-1]).mT):
            for part in (q[..., :1], q[..., min(a.shape[-2:]) :]) if q.shape[-1] == q.shape[-2] else ():
                result.append(part @ np.conj(part).mT)
        return tuple(result)

    return fun


def svd(a: Any) -> Any:
    return np.linalg.svd(a, full_matrices=False)


def _solution(result: Any) -> tuple[Any, ...]:
    return result[0], result[1], result[3]


def _many_elements(x: Any) -> Any:
    y = np.concatenate([x, x**2, x[::-1]])
    return sum(y[n] * y[n + 5] for n in range(12)) + y[3:5].sum() ** 2


def _extremes(x: Any) -> Any:
    y = x[:3] * 1.0
    np.maximum.at(y, np.array([0, 1, 1, 2, 0, 2]), x**2)
    np.minimum.at(y, np.array([2, 0]), x[2:4])
    return y**2


def _at(ufunc: Any, positions: Any, *values: Any) -> Any:
    def function(x: Any) -> Any:
        y = x * x
        ufunc.at(y, positions, *(np.asarray(v) * x[: len(v)] for v in values))
        return y

    return function


VIEWS = {
    "reshape": (lambda x: x.reshape(2, 3) * x[:3], X),
    "transpose": (lambda a: a.transpose(2, 0, 1) * a[..., 0], A),
    "flip": (lambda x: x[::-1] * x[::-2].sum(), X),
    "stride": (lambda x: x[1::2] ** 2, X),
    "broadcast": (lambda x: np.broadcast_to(x, (3, 6)) ** 2, X),
    "windows": (lambda a: np.lib.stride_tricks.sliding_window_view(a, 2, axis=2).sum(-1) ** 2, A),
    "diagonal": (lambda a: np.diagonal(a, axis1=1, axis2=2) ** 2, A),
    "swapped parts": (lambda c: c.real * c.imag, C),
    "concatenate": (lambda x: np.concatenate([x[:2] ** 2, x, x[3:] * 2]) ** 2, X),
    "stack": (lambda x: np.stack([x, x**2], axis=1) ** 2, X),
    "take": (lambda x: x[[0, 0, 3, -1]] ** 2, X),
    "take rows": (lambda a: a[:, [0, 0, 2], [1, 1, 0]] ** 2, A),
    "take_along_axis": (lambda a: np.take_along_axis(a, np.argsort(a, 1), 1) ** 2, A),
    "mask": (lambda x: x[x > 1] ** 3, X),
    "where": (lambda x: np.where(x > 1, x**2, np.sin(x)), X),
    "roll": (lambda x: np.roll(x, 2) * x, X),
    "pad": (lambda x: np.pad(x, 2, mode="reflect") ** 2, X),
    "iterate": (lambda x: sum(v * v for v in x), X),
    "extremes at positions": (_extremes, X),
    "products at positions": (_at(np.multiply, [0, 2, 0, 0, 5], [2.0, 0, 0, 1.5, 0]), X),
    "powers at positions": (_at(np.power, [0, 2, 0], [2.0, 0.5, 3]), X),
    "sines at positions": (_at(np.sin, [1, 3, 1]), X),
    "many elements": (_many_elements, X),
}
FOLDS = {
    "sum": (lambda a: a.sum(1) ** 2, A),
    "mean": (lambda a: a.mean((0, 2)) ** 2, A),
    "var": (lambda a: np.var(a, axis=1), A),
    "std": (lambda a: np.std(a), A),
    "max": (lambda a: a.max(0), A),
    "min": (lambda a: a.min((1, 2)), A),
    "prod": (lambda a: np.prod(a, axis=(0, 2)), A),
    "prod with zeros": (lambda x: np.prod(x * np.asarray([1.0, 0, 1, 0, 1, 1])) + np.prod(x - 0.3), X),
    "cumsum": (lambda a: np.cumsum(a, axis=1) ** 2, A),
    "cumprod": (lambda a: np.cumprod(a, axis=1), A),
    "maximum.accumulate": (lambda a: np.maximum.accumulate(a, axis=1), A),
    "logaddexp.accumulate": (lambda a: np.logaddexp.accumulate(a, axis=1), A),
    "subtract.accumulate": (lambda a: np.subtract.accumulate(a, axis=1), A),
    "divide.accumulate": (lambda x: np.divide.accumulate(x), X),
    "add.reduceat": (lambda x: np.add.reduceat(x**2, [0, 3, 1, 5, 2]), X),
    "multiply.reduceat": (lambda a: np.multiply.reduceat(a, [0, 2], axis=1), A),
    "subtract.reduceat": (lambda x: np.subtract.reduceat(x, [1, 0]), X),
    "subtract.reduce": (lambda a: np.subtract.reduce(a, axis=1) ** 2, A),
    "logaddexp.reduce": (lambda a: np.logaddexp.reduce(a, axis=1), A),
    "nanmean": (lambda a: np.nanmean(a, axis=0) ** 2, A),
    "norm": (lambda a: np.linalg.norm(a, axis=1), A),
    "quantile": (lambda a: np.quantile(a, 0.3, axis=2), A),
    "median": (lambda a: np.median(a), A),
    "sort": (lambda a: np.sort(a, axis=1) ** 2, A),
    "partition": (lambda a: np.partition(a, 1, axis=2) ** 2, A),
    "cov": (lambda a: np.cov(a[0]), A),
    "trapezoid": (lambda x: np.trapezoid(x, x**2), X),
    "interp": (lambda x: np.interp(x + 0.01, np.arange(3.0), x[:3]), X),
    "convolve": (lambda x: np.convolve(x, x[:3]), X),
    "gradient": (lambda x: np.gradient(x**2), X),
}
PRODUCTS = {
    "matmul": (lambda a: a @ a[0] @ a[0, 0], A),
    "einsum": (lambda a: np.einsum("ijk,kj->i", a, a[0]), A),
    "tensordot": (lambda a: np.tensordot(a, a, axes=([0, 1], [0, 2])), A),
    "outer": (lambda x: np.outer(x, x**2), X),
    "kron": (lambda x: np.kron(x, x), X),
    "cross": (lambda a: np.cross(a[0], a[1]), A),
    "complex matmul": (lambda a: a @ a[0], C),
}
MATRICES = {
    "inv": (np.linalg.inv, A),
    "det": (np.linalg.det, A),
    "slogdet": (lambda a: np.linalg.slogdet(a)[1], A),
    "solve": (lambda a: np.linalg.solve(a, a[0]), A),
    "solve vector": (lambda a: np.linalg.solve(a, a[0, :, 0]), A),
    "cholesky": (of_hermitian(np.linalg.cholesky), S),
    "upper cholesky": (of_hermitian(lambda a: xp.linalg.cholesky(a, upper=True)), S),
    "eigh": (of_hermitian(lengths(np.linalg.eigh)), S),
    "eigvalsh": (of_hermitian(np.linalg.eigvalsh), S),
    "eig": (lengths(xp.linalg.eig), A),
    "eigvals": (xp.linalg.eigvals, A),
    "svd": (lengths(svd), A[:, :2]),
    "full svd": (projections(np.linalg.svd), A[:, :2]),
    "tall full svd": (projections(np.linalg.svd), A[:, :, :2]),
    "complete qr": (projections(lambda a: np.linalg.qr(a, mode="complete")), A[:, :, :2]),
    "complex full svd": (projections(np.linalg.svd), C[:, :2]),
    "complex complete qr": (projections(lambda a: np.linalg.qr(a, mode="complete")), C[:, :, :2]),
    "tall svd": (lengths(svd), A[:, :, :2]),
    "svdvals": (np.linalg.svdvals, A),
    "qr": (lambda a: tuple(np.linalg.qr(a)), A[:, :, :2]),
    "wide qr": (lambda a: tuple(np.linalg.qr(a)), A[:, :2]),
    "r alone": (lambda a: np.linalg.qr(a, mode="r"), A[:, :, :2]),
    "complex wide qr": (lambda a: tuple(np.linalg.qr(a)), C[:, :2]),
    "lstsq": (lambda a: _solution(np.linalg.lstsq(a[0], a[1])), A[:, :, :2]),
    "wide lstsq": (lambda a: np.linalg.lstsq(a[0], a[1, :, 0])[0], A[:, :2]),
    "complex lstsq": (lambda a: _solution(np.linalg.lstsq(a[0], a[1, :, 0])), C[:, :, :2]),
    "cond": (np.linalg.cond, A),
    "cond in other norms": (lambda a: [np.linalg.cond(a, p) for p in (-2, 1, np.inf, "fro", "nuc")], A),
    "pinv": (np.linalg.pinv, A[:, :2]),
    "complex pinv": (np.linalg.pinv, C[:, :2]),
    "complex inv": (np.linalg.inv, C),
    "complex det": (np.linalg.det, C),
    "complex slogdet": (lambda a: tuple(np.linalg.slogdet(a)), C),
    "complex solve": (lambda a: np.linalg.solve(a, a[0]), C),
    "complex cholesky": (of_hermitian(np.linalg.cholesky), H),
    "complex eigh": (of_hermitian(lengths(np.linalg.eigh)), H),
    "complex eig": (lengths(xp.linalg.eig), C),
    "complex svd": (lengths(svd), C[:, :2]),
    "complex qr": (lambda a: tuple(np.linalg.qr(a)), C[:, :, :2]),
}
TRANSFORMS = {
    "fft": (np.fft.fft, A),
    "longer ifft": (lambda a: np.fft.ifft(a, n=7, norm="ortho"), C),
    "shorter fft": (lambda a: np.fft.fft(a, n=2, axis=0, norm="forward"), C),
    "rfft": (lambda a: np.fft.rfft(a, n=4), A),
    "irfft": (lambda a: np.fft.irfft(a, n=5), C),
    "even irfft": (lambda a: np.fft.irfft(a, n=8), C),
    "hfft": (np.fft.hfft, C),
    "ihfft": (np.fft.ihfft, A),
    "fft2": (np.fft.fft2, A),
}
COMPLEX = {
    "abs": (abs, C),
    "sign": (np.sign, C),
    "angle": (np.angle, C),
    "conj": (lambda c: np.conj(c) * c**2, C),
    "functions": (lambda c: np.exp(c) ** 1.5 / np.sin(c), C),
    "to complex": (lambda a: (a + 1j) ** 2 * a, A),
    "prod": (lambda c: np.prod(c, axis=0), C),
}
_ALL = {**VIEWS, **FOLDS, **PRODUCTS, **MATRICES, **TRANSFORMS, **COMPLEX}


@pytest.mark.parametrize("name", _ALL)
def test_derivatives_agree_with_differences(name: str) -> None:
    function, argument = _ALL[name]
    with xp.using(device="cpu"):
        check_grads(function, (xp.asarray(argument),), order=2, atol=1e-4, rtol=1e-4)


#: Functions that choose elements by value, and so have results whose shapes differ along a batch.
_CHOOSING = {"mask"}
_BATCHES = [name for name in _ALL if name not in _CHOOSING]


def _leaves(made: Any) -> list[Any]:
    return list(made) if isinstance(made, list | tuple) else [made]


@pytest.mark.parametrize("name", _BATCHES)
def test_batches_agree_with_loops(name: str) -> None:
    function, argument = _ALL[name]
    batch = np.stack([argument * scale for scale in (1.0, 1.1, 0.8)])

    def derivative(x: Any) -> Any:
        out, pullback = xp.vjp(function, x)
        return (*_leaves(out), *_leaves(pullback(out)))

    with xp.using(device="cpu"):
        result = xp.vmap(derivative)(xp.asarray(batch))
        expected = [derivative(xp.asarray(x)) for x in batch]
        for number, own in enumerate(result):
            np.testing.assert_allclose(own, np.stack([one[number].get() for one in expected]), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", _BATCHES)
def test_derivatives_of_batches_agree_with_those_of_loops(name: str) -> None:
    function, argument = _ALL[name]
    batch = xp.asarray(np.stack([argument, argument * 1.1]), device="cpu")

    def total(arrays: Any) -> Any:
        return sum((abs(array) ** 2).sum() for array in _leaves(arrays))

    result = xp.grad(lambda x: total(xp.vmap(function)(x)))(batch)
    expected = xp.grad(lambda x: sum(total(function(one)) for one in x))(batch)
    np.testing.assert_allclose(result, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.wgpu
@pytest.mark.parametrize("name", {**VIEWS, **FOLDS, **PRODUCTS, **TRANSFORMS})
def test_derivatives_on_a_gpu_are_those_of_the_host(name: str) -> None:
    function, argument = _ALL[name]
    result = []
    for device in ("cpu", "wgpu:0"):
        with xp.using(device=device):
            out, pullback = xp.vjp(function, xp.asarray(argument))
            result.append(pullback(out)[0].get())
    np.testing.assert_allclose(result[1], result[0], rtol=1e-9, atol=1e-12)


def test_transposed_gathers_have_the_same_bits_each_time() -> None:
    positions = _RANDOM.integers(0, 20, 4000)
    weights = xp.asarray(_RANDOM.standard_normal(4000).astype(np.float32))
    gradient = xp.grad(lambda x: (x[positions] * weights).sum())
    first = gradient(xp.zeros(20, np.float32)).tobytes()
    assert all(gradient(xp.zeros(20, np.float32)).tobytes() == first for _ in range(3))


@pytest.mark.parametrize("is_read", [False, True])
def test_equal_calls_add_their_cotangents(is_read: bool) -> None:
    def fun(x: Any) -> Any:
        first, second = np.sort(x), np.sort(x)
        if is_read:
            xp.evaluate(first, second)
        left, right = (
            np.linalg.inv(np.outer(x, x) + np.eye(4, like=x)),
            np.linalg.inv(np.outer(x, x) + np.eye(4, like=x)),
        )
        return (first * second * 2 + first).sum() + (left @ right).sum()

    check_grads(fun, (xp.asarray([0.3, -0.7, 1.2, 0.9]),), order=2)


def test_many_small_parts_of_a_cotangent_are_added_in_place() -> None:
    with xp.using(device="cpu", direct_limit=0):
        x = xp.arange(1 << 16, dtype="float32") / 1000
        loss = xp.jit(xp.grad(lambda x: sum(x[n] * x[2 * n + 1] for n in range(40)) + (x[200:300] ** 2).sum()))
        result, expected, n = loss(x).get(), np.zeros(x.shape, np.float32), np.arange(40)
        np.add.at(expected, n, x.get()[2 * n + 1])
        np.add.at(expected, 2 * n + 1, x.get()[n])
        expected[200:300] = 2 * x.get()[200:300]
        np.testing.assert_allclose(result, expected, rtol=1e-6)
        xp.reset_stats()
        loss(x).get()
        assert xp.stats()["peak_bytes"] < 20 * x.nbytes


@pytest.mark.parametrize(
    "parts",
    [
        lambda x: [x[i, j] for i in range(4) for j in range(6)],
        lambda x: [*x],
        lambda x: [x[:, j] for j in range(6)],
        lambda x: np.split(x, 3, axis=1),
        lambda x: [x[::2, ::-1], x[1::2, ::-1]],
    ],
    ids=["elements", "rows", "columns", "blocks", "interleaved"],
)
def test_parts_at_equal_distances_are_added_as_one(parts: Any) -> None:
    def fun(x: Any) -> Any:
        return sum(np.sum(np.sin(part) * (number + 1)) for number, part in enumerate(parts(x)))

    host = np.random.default_rng(0).standard_normal((4, 6))
    weights = np.zeros(host.shape)
    for number, part in enumerate(parts(weights)):
        part += number + 1 if isinstance(part, np.ndarray) else 0
    if not weights.any():  # elements of an array of NumPy are no views
        weights[...] = np.arange(1, 25).reshape(host.shape)
    with xp.using(device="cpu", direct_limit=0):
        gradient = xp.grad(fun)(xp.asarray(host))
        assert len(xp.explain(gradient).steps) <= 2
        np.testing.assert_allclose(gradient.get(), np.cos(host) * weights, rtol=1e-12)


def test_the_derivative_of_a_variance_is_one_step() -> None:
    host = np.random.default_rng(0).standard_normal(50)
    with xp.using(device="cpu", direct_limit=0):
        gradient = xp.grad(np.var)(xp.asarray(host))
        assert len(xp.explain(gradient).steps) == 1
        np.testing.assert_allclose(gradient.get(), 2 / 50 * (host - host.mean()), rtol=1e-12)


@pytest.mark.parametrize(
    "term",
    [
        lambda x, w, i: np.sin(x[i]) * x[i],
        lambda x, w, i: w[i] * np.exp(x[i]) + w[i + 8],
        lambda x, w, i: np.where(x[:, i] > 0, x[:, i] ** 2, np.tanh(x[:, -1 - i])),
        lambda x, w, i: np.sqrt(1 + x.reshape(-1)[5 * i : 5 * i + 5] ** 2) * w[-1 - i],
        lambda x, w, i: 3 * x[::-1][i, ::2] * w[i] + w[i + 9],
        lambda x, w, i: np.exp(x[i] - np.max(x[i])) / np.sum(np.exp(x[i])),
    ],
    ids=["rows", "elements", "columns", "blocks", "reversed", "softmax"],
)
def test_equal_expressions_of_parts_are_one(term: Any) -> None:
    def fun(x: Any, w: Any, count: int) -> Any:
        return sum(np.sum(term(x, w, i)) for i in range(count))

    host, weights = np.random.default_rng(0).standard_normal((8, 9)), np.random.default_rng(1).standard_normal(16)
    lengths = []
    for count in (2, 4):
        with xp.using(device="cpu", direct_limit=0):
            gradients = xp.grad(fun, (0, 1))(xp.asarray(host), xp.asarray(weights), count)
            lengths.append(sum(step.text.count("=") for step in xp.explain(*gradients).steps))
        with xp.using(device="cpu"):
            expected = xp.grad(fun, (0, 1))(xp.asarray(host), xp.asarray(weights), count)
        for gradient, wanted in zip(gradients, expected, strict=True):
            np.testing.assert_allclose(gradient.get(), wanted.get(), rtol=1e-12)
    assert lengths[0] == lengths[1]


def test_expressions_of_parts_that_differ_are_not_one() -> None:
    def fun(x: Any) -> Any:
        powers = sum(np.sum(x[i] ** 2 * (i + 1) + np.sin(x[i]) / (i + 2)) for i in range(4))
        return powers + np.sum(np.exp(x[4])) + np.sum(np.cos(x[5])) + np.sum(np.exp(x[6]) * x[0]) + np.sum(x[7] * x[6])

    host = np.random.default_rng(0).standard_normal((8, 3))
    with xp.using(device="cpu", direct_limit=0):
        check_grads(fun, (xp.asarray(host),), order=2)
        result = xp.grad(fun)(xp.asarray(host)).get()
    with xp.using(device="cpu"):
        np.testing.assert_allclose(result, xp.grad(fun)(xp.asarray(host)).get(), rtol=1e-12)


def test_parts_that_overlap_or_occur_twice_are_added() -> None:
    def fun(x: Any) -> Any:
        windows = sum(np.sum(x[i : i + 3] ** 2) * (i + 1) for i in range(8))
        return windows + x[2] * x[2] * x[7] + x[1] + x[-1] + np.sum(x[::3] * x[1::3] * x[2::3][::-1])

    host = np.random.default_rng(0).standard_normal(12)
    for settings in ({"direct_limit": 0}, {}):
        with xp.using(device="cpu", **settings):
            check_grads(fun, (xp.asarray(host),), order=2)
    with xp.using(device="cpu", direct_limit=0):
        recorded = xp.grad(fun)(xp.asarray(host)).get()
    with xp.using(device="cpu"):
        np.testing.assert_allclose(recorded, xp.grad(fun)(xp.asarray(host)).get(), rtol=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: (np.sum(a[:3] ** 2), np.sum(a[3:] ** 2)),
        lambda a: tuple(np.add.reduceat(a * a, [0, 3])),
        lambda a: list(np.bincount([0, 0, 0, 1, 1, 1], weights=a * a)),
    ],
)
def test_variables_that_look_equal_are_not_one(function):
    x, direction = xp.arange(1.0, 7), xp.arange(1.0, 7)
    tangents = xp.jvp(function, (x,), (direction,))[1]
    np.testing.assert_array_equal(np.stack(tangents), [28, 154])
