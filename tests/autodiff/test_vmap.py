"""Functions that are mapped over batches: axes, containers, writes, errors, and what they compose with."""

import gc
import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.errors import BatchingError, DerivativeError
from gpuarray.graph import tape
from gpuarray.graph.nodes import BaseNode

_RANDOM = np.random.default_rng(1)
A = _RANDOM.standard_normal((4, 3, 5))
B = _RANDOM.standard_normal((4, 5))
V = _RANDOM.standard_normal(5)
IDS = _RANDOM.integers(-3, 3, (4, 6))


def same(result: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=2e-5, atol=1e-5)


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Box:
    inner: Any


def _written(a: Any, b: Any) -> Any:
    a = a.copy()
    a[1:] += a[:-1].copy() * b
    a[0, ::2] = b[:3]
    a[[0, 2], [1, 1]] = 7.0
    a[a > 2] = 0.5
    np.add.at(a, (np.array([0, 0]), np.array([3, 3])), b[:2])
    view = a.T[1:3]
    view *= 2
    return a


def _out(a: Any, b: Any) -> Any:
    buffer = np.empty_like(a)
    np.multiply(a, b, out=buffer)
    return buffer


#: Functions of a matrix, a vector and six integers.
KINDS: dict[str, Any] = {
    "map": lambda a, b, i: np.tanh(a) * b + 1,
    "broadcast": lambda a, b, i: b[:, None] - a[0],
    "constant": lambda a, b, i: xp.ones(3),
    "view": lambda a, b, i: a.T[::-1, 1:].reshape(-1, order="F"),
    "write": lambda a, b, i: _written(a, b),
    "out": lambda a, b, i: _out(a, b),
    "reduce": lambda a, b, i: (a.sum(0), np.argmax(a), a.max(1), np.any(a > 1)),
    "scan": lambda a, b, i: np.cumsum(a, 1),
    "contract": lambda a, b, i: (a @ b, b @ a.T, a @ xp.asarray(V), xp.asarray(V) @ a.T, np.einsum("ij,kj->ik", a, a)),
    "stacks": lambda a, b, i: (
        (xp.asarray(A) @ a.T, a @ xp.asarray(A).mT, a.reshape(3, 5, 1) @ a.reshape(3, 1, 5))
    ),
    "concat": lambda a, b, i: np.concatenate([a, b[None], np.zeros((2, 5))]),
    "gather": lambda a, b, i: (a[i], xp.asarray(A)[:, i], a[:, [0, 0, 3]], np.take_along_axis(b, i % 5, 0)),
    "scalar index": lambda a, b, i: (a[i[0]], b[i[1]], a[i[0], i[1]]),
    "scatter": lambda a, b, i: _put(b, i),
    "sort": lambda a, b, i: (np.sort(a, 0), np.argsort(b), np.partition(b, 2), np.argpartition(b, 2)[2]),
    "search": lambda a, b, i: np.searchsorted(np.sort(b), a),
    "search right": lambda a, b, i: np.searchsorted(np.sort(i), i, side="right"),
    "search a line": lambda a, b, i: np.searchsorted(xp.asarray(np.sort(V)), a),
    "isin": lambda a, b, i: (np.isin(i, i[:1]), np.isin(i, np.arange(30) % 2), np.isin(np.arange(4), np.tile(i, 9))),
    "bincount": lambda a, b, i: np.bincount(i + 3, minlength=7),
    "histogram": lambda a, b, i: (np.histogram(a, xp.asarray([-1.0, 0, 0.5, 2]))[0], np.histogram(i, 4, (-3, 3))[0]),
    "bits": lambda a, b, i: np.unpackbits(np.packbits(i > 0)),
    "fft": lambda a, b, i: (np.fft.fft(a), np.fft.irfft(np.fft.rfft(b, n=6)), np.fft.fft2(a)),
    "reduceat": lambda a, b, i: (np.add.reduceat(a, [0, 2], axis=0), np.subtract.reduceat(b, [0, 3])),
    "accumulate": lambda a, b, i: (np.subtract.accumulate(a, axis=1), np.maximum.accumulate(b)),
    "lstsq": lambda a, b, i: np.linalg.lstsq(xp.asarray(A[0]), a[:, 0])[0],
    "cond": lambda a, b, i: np.linalg.cond(a),
    "solve": lambda a, b, i: (
        np.linalg.solve(xp.asarray(A[0, :, :3]), a[:, 0]), np.linalg.solve(xp.asarray(A[0, :, :3]), a),
        np.linalg.solve(a[:, :3], xp.asarray(V[:3])), np.linalg.solve(a[:, :3], a), np.linalg.solve(a[:, :3], b[:3]),
        np.linalg.solve(xp.asarray(A[:, :, :3]), a), np.linalg.solve(a[:, :3], xp.asarray(A)),
    ),
    "statistics": lambda a, b, i: (np.median(a), np.quantile(b, 0.3), np.var(a, axis=1), np.cov(a)),
    "loop": lambda a, b, i: sum(row * n for n, row in enumerate(a)) + sum(b),
    "pad": lambda a, b, i: np.pad(a, 1, mode="edge"),
    "interp": lambda a, b, i: np.interp(b, np.arange(5.0), xp.asarray(V)),
    "bits of numbers": lambda a, b, i: b.view(np.int64) if b.dtype == np.float64 else b.view(np.int32),
    "draws": lambda a, b, i: b + xp.random.default_rng(3).standard_normal(5),
}  # fmt: skip


def _put(b: Any, i: Any) -> Any:
    x = xp.zeros(6)
    x[i] = np.arange(6.0)
    y = xp.zeros((6, 2))
    y[np.argsort(i)] = x[:, None]
    np.maximum.at(x, i, 2.5)
    np.add.at(x, i[:5], b)
    return x, y


def _listed(made: Any) -> list[Any]:
    return list(made) if isinstance(made, tuple) else [made]


def test_products_with_vectors_of_a_batch_are_products_of_higher_matrices(device: str) -> None:
    w, stack = A[0], A.transpose(0, 2, 1)
    with xp.using(device=device):
        for given, vectors in ((w, B), (A, B), (stack, A[:, :, 0])):
            result = xp.vmap(lambda v, given=given: np.tanh(xp.asarray(given) @ v))(xp.asarray(vectors))
            same(result, np.tanh(np.einsum("...ij,nj->n...i", given, vectors)))
        layer = lambda v: np.tanh(xp.asarray(w) @ v)  # noqa: E731
        slopes = (1 - np.tanh(B @ w.T) ** 2)[:, :, None] * w
        same(xp.vmap(xp.jacfwd(layer))(xp.asarray(B)), slopes)
        same(xp.vmap(xp.jacrev(layer))(xp.asarray(B)), slopes)
        same(xp.jacfwd(lambda v: xp.asarray(stack) @ v)(xp.asarray(A[0, :, 0])), stack)


def test_a_product_with_unit_vectors_is_the_matrix() -> None:
    graph = str(xp.explain(xp.jacfwd(lambda v: xp.asarray(A[0]) @ v)(xp.asarray(V)), stage="graph"))
    assert "contract" not in graph


@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_nodes_agree_with_a_loop(name: str, device: Device) -> None:
    function = KINDS[name]
    dtype = np.float32 if device.kind == "cpuf32" else np.float64
    given = [A.astype(dtype), B.astype(dtype), IDS]
    with xp.using(default_float=np.dtype(dtype).name):
        result = _listed(xp.vmap(function)(*map(xp.asarray, given)))
        expected = [_listed(function(*(xp.asarray(x[n]) for x in given))) for n in range(len(A))]
        for number, own in enumerate(result):
            one = np.stack([loop[number].get() for loop in expected])
            assert own.dtype == one.dtype
            assert own.shape == one.shape
            np.testing.assert_allclose(own.get(), one, rtol=1e-4, atol=1e-5)


def test_on_the_portable_device(portable: Device) -> None:
    with xp.using(device=str(portable), default_float="float32"):
        given = [xp.asarray(x) for x in (A.astype(np.float32), B.astype(np.float32), IDS.astype(np.int32))]
        for name in ("write", "reduce", "contract", "gather", "scatter", "scan", "concat"):
            result = _listed(xp.vmap(KINDS[name])(*given))
            expected = [_listed(KINDS[name](*(x[n] for x in given))) for n in range(4)]
            for number, own in enumerate(result):
                same(own, np.stack([loop[number].get() for loop in expected]))


def test_axes_are_those_of_jax() -> None:
    def fun(a: Any, b: Any) -> Any:
        return a[0] * b, (a.sum(), b[:2])

    cases: list[tuple[Any, Any, Any, Any]] = [
        ((1, None), 0, np.moveaxis(A, 0, 1), V),
        ((2, 0), 1, np.moveaxis(A, 0, 2), B),
        ((-1, -2), (0, (0, 1)), np.moveaxis(A, 0, 2), B),
        ([0, 0], -1, A, B),
    ]
    for in_axes, out_axes, a, b in cases:
        if out_axes in (1, -1):
            out_axes = (out_axes, (0, out_axes))
        theirs = jax.vmap(fun, in_axes=tuple(in_axes), out_axes=out_axes)(a, b)
        ours = xp.vmap(fun, in_axes=in_axes, out_axes=out_axes)(xp.asarray(a), xp.asarray(b))
        for mine, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
            assert mine.shape == other.shape
            same(mine, other)


def test_containers_keywords_and_other_objects() -> None:
    def fun(tree: Any, scale: Any, *, shift: Any) -> Any:
        return {"sum": tree["x"].first + shift, "rest": Box(tree["x"].second * scale["k"]), "none": None}

    tree = {"x": Pair(xp.asarray(B), xp.asarray(V)), "name": "any object"}
    axes = ({"x": Pair(0, None), "name": None}, None)
    result = xp.vmap(fun, in_axes=axes)(tree, {"k": 3}, shift=xp.asarray(B))
    same(result["sum"], 2 * B)
    same(result["rest"].inner, np.broadcast_to(3 * V, (4, 5)))
    assert result["none"] is None
    same(xp.vmap(lambda p: p.first + p.second)(Pair(xp.asarray(B), xp.asarray(B))), 2 * B)
    out = xp.vmap(lambda x: (x, xp.asarray(V)), out_axes=(0, None))(xp.asarray(B))
    same(out[1], V)


def test_wrong_axes_and_extents_are_errors() -> None:
    x, y = xp.asarray(A), xp.asarray(B)
    with pytest.raises(ValueError, match="array 0 has 4 along axis 0, array 1 has 5 along axis 1"):
        xp.vmap(np.add, in_axes=(0, 1))(x, y)
    with pytest.raises(ValueError, match="no axis 3"):
        xp.vmap(np.sin, in_axes=3)(x)
    with pytest.raises(ValueError, match="0 axes"):
        xp.vmap(np.add)(x, 1.0)
    with pytest.raises(ValueError, match="None for all arguments"):
        xp.vmap(np.sin, in_axes=None)(x)
    with pytest.raises(ValueError, match="2 entries and the function was called with 1 positional"):
        xp.vmap(np.sin, in_axes=(0, 0))(x)
    with pytest.raises(ValueError, match="containers like"):
        xp.vmap(lambda t: t[0], in_axes=((0, 0, 0),))((x, y))
    with pytest.raises(TypeError, match="in_axes must be"):
        xp.vmap(np.sin, in_axes="0")(x)
    with pytest.raises(ValueError, match="out_axes is None"):
        xp.vmap(np.sin, out_axes=None)(x)
    with pytest.raises(ValueError, match="out_axes is 3, but the result has"):
        xp.vmap(np.sin, out_axes=3)(x)


READS: dict[str, tuple[Any, str]] = {
    "if": (lambda x: x if x.sum() > 0 else -x, "bool needs a value"),
    "float": (lambda x: float(x[0]), "float needs a value"),
    "int": (lambda x: np.arange(int(x[0])), "int needs a value"),
    "print": (lambda x: str(x), "str needs a value"),
    "tolist": (lambda x: x.tolist(), "tolist needs a value"),
    "get": (lambda x: x.get(), "get needs a value"),
    "mask": (lambda x: x[x > 0], "getitem needs a value"),
    "nonzero": (lambda x: np.nonzero(x), "nonzero needs a value"),
    "piecewise": (lambda x: xp.piecewise(x, [x > 0], [abs]), "piecewise needs a value"),
    "host": (lambda x: np.asarray(x), "array needs a value"),
    "evaluate": (lambda x: xp.evaluate(x + 1), "evaluate needs a value"),
    "a function on the host": (lambda x: np.roots(x), "roots needs a value"),
}


@pytest.mark.parametrize("name", READS)
def test_reading_is_an_error_that_names_the_line(name: str) -> None:
    function, message = READS[name]
    with pytest.raises(BatchingError, match=rf"{message}.*test_vmap\.py:\d+"):
        xp.vmap(function)(xp.asarray(B))
    with pytest.raises(BatchingError, match=message):
        xp.grad(lambda x: xp.vmap(function)(x).sum())(xp.asarray(B))
    assert not tape.state.tapes


def test_what_does_not_depend_on_the_batch_may_be_read() -> None:
    weights = xp.asarray(V)

    def fun(x: Any) -> Any:
        assert float((weights * 2).sum()) == pytest.approx(2 * V.sum())
        kept = weights[weights > 0]
        return x[: len(kept)] * kept

    same(xp.vmap(fun)(xp.asarray(B)), B[:, : (V > 0).sum()] * V[V > 0])


def test_positions_are_checked_for_the_whole_batch() -> None:
    x = xp.asarray(B)
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        xp.vmap(lambda row, i: row[i])(x, xp.asarray([0, 1, 5, 2]))
    with pytest.raises(IndexError, match="index -6 is out of bounds"):
        xp.vmap(xp.vmap(lambda i, row: row[i], in_axes=(0, None)))(xp.asarray([[0], [-6], [1], [1]]), x)


def test_what_has_no_rule_is_named() -> None:
    with pytest.raises(BatchingError, match=r"no batching rule for add\.reduceat with indices"):
        xp.vmap(lambda x, i: np.add.reduceat(x, i))(xp.asarray(B), xp.asarray(IDS[:, :2] % 3))
    with pytest.raises(BatchingError, match=r"no batching rule for searchsorted of complex.*test_vmap\.py:\d+"):
        xp.vmap(lambda a: np.searchsorted(a, 1j))(xp.asarray(B + 1j))


def test_writes_to_arguments_change_them() -> None:
    x, y = xp.asarray(A), xp.asarray(A.swapaxes(0, 1))

    def fun(a: Any, b: Any) -> Any:
        a[0] = 2 * b[1]
        b *= 0
        return a.sum()

    same(xp.vmap(fun, in_axes=(0, 1))(x, y), (A.sum((1, 2)) - A[:, 0].sum(1) + 2 * A[:, 1].sum(1)))
    same(x[:, 0], 2 * A[:, 1])
    same(y, 0 * A.swapaxes(0, 1))
    with pytest.raises(BatchingError, match="array 1 of its arguments"):
        xp.vmap(lambda a, b: b.__setitem__(0, a.sum()), in_axes=(0, None))(x, xp.zeros(3))
    kept = xp.zeros(3)
    xp.vmap(lambda a: kept.__setitem__(0, 1.0) or a)(x)
    assert kept.tolist() == [1, 0, 0]
    xp.vmap(lambda a: kept.__setitem__(0, a.sum()) or a)(x)
    with pytest.raises(BatchingError, match="one element of a batch"):
        kept.tolist()


def test_it_composes_with_derivatives_and_itself() -> None:
    def mine(w: Any, x: Any) -> Any:
        return np.tanh(w @ x).prod() + (w[0] * x).sum() ** 2

    def theirs(w: Any, x: Any) -> Any:
        return jnp.tanh(w @ x).prod() + (w[0] * x).sum() ** 2

    cases: list[Any] = [
        lambda m, f, w, ws, x: m.vmap(m.grad(f), in_axes=(None, 0))(w, x),
        lambda m, f, w, ws, x: m.grad(lambda a, b: m.vmap(f, in_axes=(None, 0))(a, b).sum())(w, x),
        lambda m, f, w, ws, x: m.vmap(m.hessian(f, argnums=1), in_axes=(None, 0))(w, x),
        lambda m, f, w, ws, x: m.hessian(lambda b: m.vmap(f, in_axes=(None, 0))(w, b).prod())(x),
        lambda m, f, w, ws, x: m.vmap(m.vmap(f, in_axes=(None, 0)), in_axes=(0, None))(ws, x),
        lambda m, f, w, ws, x: m.vmap(lambda v: m.jvp(lambda b: f(w, b), (v,), (v,))[1])(x),
        lambda m, f, w, ws, x: m.jacfwd(m.vmap(f, in_axes=(None, 0)))(w, x),
        lambda m, f, w, ws, x: m.jacrev(m.jacfwd(m.vmap(f, in_axes=(None, 0))))(w, x),
    ]
    ours = [xp.asarray(array) for array in (A[0], A, B)]
    with jax.enable_x64(True):
        for case in cases:
            same(case(xp, mine, *ours), case(jax, theirs, A[0], A, B))


def test_it_composes_with_jit() -> None:
    def fun(x: Any) -> Any:
        return (np.sin(x) * x).sum()

    expected = xp.vmap(xp.grad(fun))(xp.asarray(B))
    recorded = xp.jit(xp.vmap(xp.grad(fun)))
    for scale in (1.0, 2.0):
        same(recorded(xp.asarray(B * scale)), np.cos(B * scale) * B * scale + np.sin(B * scale))
    same(xp.vmap(xp.jit(xp.grad(fun)))(xp.asarray(B)), expected)
    same(xp.vmap(xp.grad(xp.jit(fun)))(xp.asarray(B)), expected)
    with pytest.raises(BatchingError, match="float needs"):
        xp.jit(xp.vmap(lambda x: float(x.sum())))(xp.asarray(B))


def test_derivatives_of_ones_own() -> None:
    @xp.custom_vjp
    def clipped(x: Any, y: Any) -> Any:
        return x * y

    clipped.defvjp(lambda x, y: (x * y, (x, y)), lambda kept, ct: (np.clip(ct * kept[1], -1, 1), ct * kept[0] * 10))

    @xp.custom_jvp
    def cubed(x: Any) -> Any:
        return x**3

    cubed.defjvps(lambda t, y, x: 100 * t * x)
    x, y = xp.asarray(B), xp.asarray(V)
    both = xp.grad(lambda a, b: xp.vmap(clipped, in_axes=(0, None))(a, b).sum(), argnums=(0, 1))(x, y)
    same(both[0], np.broadcast_to(np.clip(V, -1, 1), B.shape))
    same(both[1], 10 * B.sum(0))
    same(xp.vmap(xp.grad(lambda a: clipped(a, y).sum()))(x), both[0])
    same(xp.grad(lambda a: xp.vmap(cubed)(a).sum())(x), 100 * B)
    same(xp.jvp(xp.vmap(cubed), (x,), (x,))[1], 100 * B**2)
    same(xp.vmap(clipped, in_axes=(0, None))(x, y), B * V)
    stopped = xp.grad(lambda a: xp.vmap(lambda r: (r * xp.stop_gradient(r)).sum())(a).sum())(x)
    same(stopped, B)
    again = xp.grad(lambda a: xp.vmap(xp.checkpoint(lambda r: np.sin(r) * y))(a).sum())(x)
    same(again, np.cos(B) * V)
    nested = xp.grad(lambda a: xp.vmap(xp.vmap(cubed))(a).sum())(x)
    same(nested, 100 * B)
    with pytest.raises(DerivativeError, match="not one of its arguments"):
        xp.grad(lambda a: xp.vmap(lambda r: xp.checkpoint(lambda s: s * r)(y))(a).sum())(x)


def test_draws_are_the_same_for_all_elements() -> None:
    rng = xp.random.default_rng(5)
    made = xp.vmap(lambda x: x * 0 + rng.standard_normal(5))(xp.asarray(B))
    same(made, np.broadcast_to(xp.random.default_rng(5).standard_normal(5), B.shape))


def test_an_empty_batch() -> None:
    made = xp.vmap(lambda a: (a @ a.T, a.sum(), np.sort(a)))(xp.zeros((0, 3, 5)))
    assert [array.shape for array in made] == [(0, 3, 3), (0,), (0, 3, 5)]


def test_jacobians_of_long_loops_are_computed_in_parts() -> None:
    def fun(x: Any) -> Any:
        for _ in range(20):
            x = np.tanh(xp.asarray(A[0, :, :3]) @ x)
        return x

    with xp.using(pending_limit=16):
        x = xp.asarray(A[0, :, 0])
        same(xp.jacfwd(fun)(x), xp.jacrev(fun)(x))


def test_long_loops_are_computed_in_parts() -> None:
    def fun(x: Any) -> Any:
        u = x.copy()
        for _ in range(300):
            u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return u

    with xp.using(device="cpu", direct_limit=0):
        result = xp.vmap(fun)(xp.asarray(B))
        assert result._cell.node.depth <= 2 * xp.config.pending_limit
    same(result, np.stack([fun(row) for row in B]))


def test_jacobians_are_batches_and_fall_back_to_rows() -> None:
    x = xp.asarray(V, device="cpu")  # with "auto", the launches of a calibration may be counted too

    @xp.custom_vjp
    def reading(x: Any) -> Any:
        return x * 3

    reading.defvjp(lambda x: (x * 3, None), lambda _, ct: (ct * (3 if float(ct.sum()) == 1 else 0),))
    same(xp.jacrev(reading)(x), 3 * np.eye(5))
    xp.reset_stats()
    with xp.using(device="cpu", direct_limit=0):
        made = xp.jacrev(lambda x: np.sin(x) * x.sum())(x)
        xp.evaluate(made)
    assert xp.stats()["launches"] <= 4


def test_a_loop_of_batches_keeps_no_nodes() -> None:
    def nodes() -> list[BaseNode]:
        gc.collect()
        return [result for result in gc.get_objects() if issubclass(type(result), BaseNode)]

    before = weakref.WeakSet(nodes())  # of other tests, which may end meanwhile
    x = xp.asarray(B)
    numbers = []
    for _ in range(6):
        both = xp.vmap(xp.value_and_grad(lambda row: (np.sin(row) * V).sum()))(x)
        x = xp.asarray((x - 0.1 * both[1]).get())
        del both
        numbers.append(sum(node not in before for node in nodes()))
    assert numbers[2:] == [numbers[2]] * 4


def test_singular_matrices_are_errors_at_the_call(device: Device) -> None:
    matrices = np.stack([np.eye(3), np.zeros((3, 3)), np.eye(3)]).astype(np.float32)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        xp.evaluate(xp.vmap(np.linalg.inv)(xp.asarray(matrices)))
    same(xp.vmap(lambda a: np.linalg.solve(a, a[0]))(xp.asarray(matrices[::2])), matrices[::2, 0])


def test_values_of_single_elements_that_are_kept_do_not_hinder_others() -> None:
    kept = []

    def fun(row: xp.GpuArray) -> xp.GpuArray:
        kept.append(row * 2)
        return row.sum()

    with xp.using(direct_limit=0):
        xp.vmap(fun)(xp.asarray(B))
        other = xp.asarray(V) * 3
        xp.synchronize()
        evaluations = xp.stats()["evaluations"]
        same(other, V * 3)
        assert xp.stats()["evaluations"] == evaluations
    with pytest.raises(BatchingError, match="one element of a batch"):
        kept[0].get()
