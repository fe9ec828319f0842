"""The functions that differentiate functions: values, containers, conventions and errors, compared with JAX."""

from collections import defaultdict, namedtuple
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optree
import pytest

import gpuarray as xp
from gpuarray.errors import DerivativeError
from gpuarray.source_locations import assumed_origins, short_name
from gpuarray.testing import check_grads

jax.config.update("jax_enable_x64", True)

pytestmark = pytest.mark.usefixtures("on_host")

A = np.random.default_rng(0).standard_normal((3, 4))
X = np.linspace(0.2, 1.4, 5)


@pytest.fixture
def on_host() -> Any:
    with xp.using(device="cpu"):
        yield


@pytest.fixture(params=["cpu", pytest.param("wgpu:0", marks=pytest.mark.wgpu)])
def everywhere(request: pytest.FixtureRequest, on_host: None) -> Any:
    with xp.using(device=request.param):
        yield


def same(actual: Any, desired: Any, rtol: float = 1e-9) -> None:
    expected = [desired] if isinstance(actual, xp.GpuArray) else jax.tree.leaves(desired, is_leaf=of_numbers)
    for a, b in zip(jax.tree.leaves(to_host(actual)), expected, strict=True):
        np.testing.assert_allclose(a, np.asarray(b), rtol=rtol, atol=1e-12)


def of_numbers(tree: Any) -> bool:
    return isinstance(tree, list) and bool(tree) and all(type(item) in (int, float) for item in tree)


def to_host(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf.get() if isinstance(leaf, xp.GpuArray) else leaf, tree)


def loss(np: Any, x: Any) -> Any:
    return (np.tanh(x @ x.T) ** 2).sum() + np.log(np.exp(x).sum(0)).max()


@pytest.mark.usefixtures("everywhere")
def test_gradients_are_those_of_jax() -> None:
    def mine(x: Any) -> Any:
        return loss(np, x)

    def theirs(x: Any) -> Any:
        return loss(jnp, x)

    same(xp.grad(mine)(xp.asarray(A)), jax.grad(theirs)(A))
    same(xp.value_and_grad(mine)(xp.asarray(A)), jax.value_and_grad(theirs)(A))
    same(xp.jvp(mine, (xp.asarray(A),), (xp.asarray(A),)), jax.jvp(theirs, (A,), (A,)))
    same(xp.hessian(mine)(xp.asarray(A)), jax.hessian(theirs)(A), rtol=1e-7)


@pytest.mark.parametrize("outer", ["jacfwd", "jacrev"])
@pytest.mark.parametrize("inner", ["jacfwd", "jacrev"])
def test_jacobians_compose_in_any_order(outer: str, inner: str) -> None:
    def mine(x: Any) -> Any:
        return np.cumsum(x * np.sin(x[::-1]))[1:]

    def theirs(x: Any) -> Any:
        return jnp.cumsum(x * jnp.sin(x[::-1]))[1:]

    result = getattr(xp, outer)(getattr(xp, inner)(mine))(xp.asarray(X))
    same(result, getattr(jax, outer)(getattr(jax, inner)(theirs))(X))


def test_third_derivatives() -> None:
    def cube(x: Any) -> Any:
        return x**4 / (1 + x)

    result = xp.grad(xp.grad(xp.grad(cube)))(xp.asarray(0.7))
    same(result, jax.grad(jax.grad(jax.grad(cube)))(0.7))


Pair = namedtuple("Pair", "a b")


@dataclass
class Model:
    w: Any
    b: Any
    nothing: None = None


def test_arguments_and_results_may_be_containers() -> None:
    def fun(params: Any, pair: Pair, scale: Any) -> Any:
        total = (params["w"][0] * pair.a).sum() + (params["w"][1] ** 2).sum() * pair.b
        return {"z": total * scale, "a": [pair.a, None]}

    args = ({"w": [X, X + 1], "b": None}, Pair(X * 2, np.float64(0.5)), 3.0)
    mine = jax.tree.map(xp.asarray, args)
    same(xp.jacrev(fun, argnums=(0, 1))(*mine), jax.jacrev(fun, argnums=(0, 1))(*args))
    same(xp.jacfwd(fun, argnums=1)(*mine), jax.jacfwd(fun, argnums=1)(*args))
    out, pullback = xp.vjp(fun, *mine)
    theirs, pull = jax.vjp(fun, *args)
    same(pullback(out), pull(theirs))
    assert out["a"][1] is None


def test_dataclasses_are_containers() -> None:
    result = xp.grad(lambda m: (m.w * 2).sum() + m.b)(Model(xp.asarray(X), xp.asarray(1.0)))
    assert isinstance(result, Model)
    same([result.w, result.b], [np.full(5, 2.0), 1.0])


class Layer:
    """A class that only optree knows as a container."""

    def __init__(self, weights: Any, name: str) -> None:
        self.weights, self.name = weights, name


def test_classes_that_optree_knows_are_containers() -> None:
    optree.register_pytree_node(
        Layer, lambda own: ((own.weights,), own.name), lambda name, items: Layer(*items, name), namespace="gpuarray"
    )
    try:
        layer, scales = Layer(xp.asarray(X), "first"), defaultdict(list, a=[xp.asarray(3.0)])
        result, slopes = xp.grad(lambda m, s: (m.weights**2).sum() * s["a"][0], argnums=(0, 1))(layer, scales)
        assert (type(result), result.name, type(slopes), slopes.default_factory) == (Layer, "first", defaultdict, list)
        same([result.weights, slopes["a"][0]], [6 * X, (X * X).sum()])
        same(xp.vmap(lambda m: m.weights * 2, in_axes=(Layer(0, "first"),))(layer), 2 * X)
        with pytest.raises(TypeError, match="structure"):
            xp.jvp(lambda m: m.weights, (layer,), ((xp.asarray(X),),))
    finally:
        optree.unregister_pytree_node(Layer, namespace="gpuarray")


def test_auxiliary_results_are_returned_as_they_are() -> None:
    gradient, aux = xp.grad(lambda x: ((x * x).sum(), "note"), has_aux=True)(xp.asarray(X))
    same(gradient, 2 * X)
    assert aux == "note"
    (value, aux), gradient = xp.value_and_grad(lambda x: ((x * x).sum(), {"x": x}), has_aux=True)(xp.asarray(X))
    same([value, aux["x"], gradient], [(X * X).sum(), X, 2 * X])


def test_argnums_may_be_negative_and_keywords_are_constant() -> None:
    def fun(a: Any, b: Any, *, power: Any) -> Any:
        return (a * b**power).sum()

    same(xp.grad(fun, argnums=-1)(xp.asarray(X), xp.asarray(X), power=3), 3 * X**3)
    with pytest.raises(ValueError, match="argnums has 2"):
        xp.grad(fun, argnums=2)(X, X, power=3)
    with pytest.raises(ValueError, match="argnums names an argument twice"):
        xp.grad(fun, argnums=(0, -2))(X, X, power=3)


@pytest.mark.usefixtures("everywhere")
def test_functions_of_complex_numbers_follow_jax() -> None:
    z = A[0] + 1j * A[1]

    def real_of(np: Any) -> Any:
        return lambda z: (np.abs(z) ** 3 + np.real(z * z) + np.imag(np.exp(z)) + np.angle(z)).sum()

    def holomorphic(np: Any) -> Any:
        return lambda z: np.sin(z * z).sum()

    same(xp.grad(real_of(np))(xp.asarray(z)), jax.grad(real_of(jnp))(z))
    mine = xp.grad(holomorphic(np), holomorphic=True)(xp.asarray(z))
    same(mine, jax.grad(holomorphic(jnp), holomorphic=True)(z))
    same(xp.jacfwd(lambda z: np.sin(z), holomorphic=True)(xp.asarray(z)), jax.jacfwd(jnp.sin, holomorphic=True)(z))
    with pytest.raises(DerivativeError, match="holomorphic=True"):
        xp.grad(holomorphic(np))(xp.asarray(z))
    with pytest.raises(DerivativeError, match="must be complex"):
        xp.grad(holomorphic(np), holomorphic=True)(xp.asarray(X))


def test_linear_maps_can_be_applied_again() -> None:
    out, push = xp.linearize(lambda x: np.sin(x) * x, xp.asarray(X))
    same(out, np.sin(X) * X)
    for tangent in (X, np.ones(5)):
        same(push(xp.asarray(tangent)), tangent * (np.cos(X) * X + np.sin(X)))
    _, pullback = xp.vjp(lambda x: np.sin(x) * x, xp.asarray(X))
    for ct in (X, np.ones(5)):
        same(pullback(xp.asarray(ct)), [ct * (np.cos(X) * X + np.sin(X))])


@pytest.mark.usefixtures("everywhere")
def test_values_may_be_read_in_the_function() -> None:
    seen = []

    def fun(x: Any) -> Any:
        y = x * x
        seen.append(float(y.sum()))
        total = y * 0
        for k in range(4):
            if y[k] > 0.5:
                total = total + y * float(k)
            seen.append(str(total))
        return (total * y).sum() / max(y)

    def theirs(x: Any) -> Any:
        y = x * x
        return (5.0 * y * y).sum() / y[-1]

    assert [k for k in range(4) if X[k] ** 2 > 0.5] == [2, 3]
    same(xp.grad(fun)(xp.asarray(X)), jax.grad(theirs)(X))
    same(xp.hessian(fun)(xp.asarray(X)), jax.hessian(theirs)(X))
    assert seen[0] == pytest.approx((X * X).sum())


def test_long_loops_are_differentiated() -> None:
    def mine(x: Any) -> Any:
        for _ in range(200):
            x = x - 0.01 * (x * x)
        return x.sum()

    def theirs(x: Any) -> Any:
        return jax.lax.fori_loop(0, 200, lambda _, x: x - 0.01 * (x * x), x).sum()

    same(xp.grad(mine)(xp.asarray(X)), jax.jacfwd(theirs)(X))
    same(xp.jvp(mine, (xp.asarray(X),), (xp.asarray(X),)), jax.jvp(theirs, (X,), (X,)))


@pytest.mark.usefixtures("everywhere")
def test_writes_in_place_are_differentiated() -> None:
    def mine(x: Any) -> Any:
        y = np.zeros_like(x)
        y[1:-1] = x[2:] - 2 * x[1:-1] + x[:-2]
        y[0] += x[-1] ** 2
        y[::2] *= x[::2]
        np.add(y, x, out=y)
        np.add.at(y, [0, 0, 3], x[:3])
        y[[1, 2, 1]] = x[:3] * 3
        y[y > 1] = 0.5
        view = y[1:]
        view -= np.sin(x[:-1])
        return (y * y).sum()

    def theirs(x: Any) -> Any:
        y = jnp.zeros_like(x)
        y = y.at[1:-1].set(x[2:] - 2 * x[1:-1] + x[:-2])
        y = y.at[0].add(x[-1] ** 2)
        y = y.at[::2].multiply(x[::2])
        y = y + x
        y = y.at[np.array([0, 0, 3])].add(x[:3])
        y = y.at[2].set(x[1] * 3).at[1].set(x[2] * 3)
        y = jnp.where(y > 1, 0.5, y)
        y = y.at[1:].add(-jnp.sin(x[:-1]))
        return (y * y).sum()

    same(xp.grad(mine)(xp.asarray(X)), jax.grad(theirs)(X))
    same(xp.hessian(mine)(xp.asarray(X)), jax.hessian(theirs)(X))


def test_writes_to_arrays_from_outside_stay() -> None:
    outside, argument = xp.zeros(5), xp.asarray(X)

    def fun(x: Any) -> Any:
        outside[...] = x * 2
        x += 1
        return (outside * x).sum()

    same(xp.grad(fun)(argument), 4 * X + 2)
    same([outside, argument], [2 * X, X + 1])


@pytest.mark.usefixtures("everywhere")
def test_selections_hide_what_is_not_taken() -> None:
    same(xp.grad(lambda x: np.where(x > 0, np.sqrt(x), 0).sum())(xp.asarray([-1.0, 0.0, 4.0])), [0, 0, 0.25])
    same(xp.hessian(lambda x: np.where(x > 0, x * np.log(x), 0).sum())(xp.asarray([0.0, 2.0])), [[0, 0], [0, 0.5]])


def test_what_is_flat_has_zero_derivatives() -> None:
    result = xp.grad(lambda x: (np.floor(x) + np.sign(x) + (x > 1) + x.astype(int) + np.argmax(x)).sum())(xp.asarray(X))
    same(result, np.zeros(5))


def test_random_numbers_are_constant() -> None:
    def fun(x: Any) -> Any:
        return (x * xp.random.default_rng(3).normal(size=5)).sum()

    same(xp.grad(fun)(xp.asarray(X)), xp.random.default_rng(3).normal(size=5).get())


@pytest.mark.parametrize(
    ("fun", "name"),
    [
        (lambda x: xp.scipy.linalg.schur(np.outer(x, x))[0].sum(), "schur"),
        (lambda x: xp.special.polygamma(x, 1.0).sum(), "polygamma"),
        (lambda x: xp.scipy.special.jv(x, x).sum(), "jv"),
        (lambda x: np.linalg.qr(np.outer(x, x[:2]), mode="raw")[0].sum(), "linalg.qr with mode='raw'"),
        (lambda x: (np.array([x[0], x[1]]) * x[0]).sum(), "__array__"),
        (lambda x: xp.random.default_rng(0).gamma(x).sum(), "gamma"),
        (lambda x: np.nextafter(x, 1).sum(), "nextafter"),
    ],
)
def test_what_has_no_derivative_here_is_an_error_with_its_line(fun: Any, name: str) -> None:
    with pytest.raises(DerivativeError, match=rf"{name}.* \(.*test_transforms.py:\d+: .*\)"):
        xp.grad(fun)(xp.asarray(X))


def test_gradients_are_those_of_real_numbers() -> None:
    with pytest.raises(DerivativeError, match="have no derivative"):
        xp.grad(lambda x: x.sum())(xp.arange(3))
    with pytest.raises(DerivativeError, match=r"array of shape \(5,\)"):
        xp.grad(np.sin)(xp.asarray(X))
    with pytest.raises(DerivativeError, match="a container"):
        xp.grad(lambda x: {"a": x.sum()})(xp.asarray(X))
    with pytest.raises(ValueError, match="must have the shape"):
        xp.jvp(np.sin, (xp.asarray(X),), (xp.ones(4),))
    with pytest.raises(TypeError, match="must have the structure"):
        xp.jvp(np.sin, (xp.asarray(X),), ([xp.ones(5)],))


def test_derivatives_are_explained_by_the_lines_that_they_are_of() -> None:
    with xp.using(direct_limit=0):
        x = xp.asarray(X, device="cpu")

        def fun(x: Any) -> Any:
            y = np.sin(x) * x
            return np.exp(y).sum()

        first = fun.__code__.co_firstlineno
        slope = xp.grad(fun)(x)
        assert f"derivative of {short_name(__file__)}:{first + 1}" in str(xp.explain(slope, stage="plan"))
        curvature = xp.grad(lambda x: xp.grad(fun)(x).sum())(x)
        assert f"derivative of {short_name(__file__)}:{first + 2}" in str(xp.explain(curvature, stage="plan"))
        assert "derivative" not in str(xp.explain(fun(x), stage="plan"))
        halves = str(xp.explain(xp.grad(lambda x: np.sum(np.exp(x * 0.5)))(x), stage="simplified"))
        (constant,) = [line for line in halves.splitlines() if "full 0.5" in line]
        assert "x * 0.5" in constant
        assert "derivative" not in constant
    assert not assumed_origins


def test_integers_among_the_arguments_have_no_cotangents_of_their_own() -> None:
    _, pullback = xp.vjp(lambda x, n: x[n], xp.asarray(X), xp.asarray([0, 0, 2]))
    same(pullback(xp.asarray([1.0, 2.0, 4.0])), [[3, 0, 4, 0, 0], [0, 0, 0]])


def test_empty_arrays_and_arrays_without_axes() -> None:
    same(xp.grad(lambda x: (x * x).sum())(xp.zeros((0, 3))), np.zeros((0, 3)))
    same(xp.grad(lambda x: x * x)(3.0), 6.0)
    same(xp.jacrev(lambda x: x * 2)(xp.zeros(0)), np.zeros((0, 0)))


def test_stopped_arrays_are_constants() -> None:
    same(xp.grad(lambda x: (x * xp.stop_gradient(x)).sum())(xp.asarray(X)), X)
    same(xp.grad(lambda x: (x * np.asarray(xp.stop_gradient(x))).sum())(xp.asarray(X)), X)
    same(xp.jvp(lambda x: xp.stop_gradient(x) * 2, (xp.asarray(X),), (xp.asarray(X),))[1], 0 * X)


@pytest.mark.usefixtures("everywhere")
def test_checkpoints_compute_again() -> None:
    runs = []

    def step(x: Any, w: Any) -> Any:
        runs.append(1)
        return {"x": np.sin(x @ w)}

    def mine(x: Any, w: Any) -> Any:
        for _ in range(3):
            x = xp.checkpoint(step)(x, w)["x"]
        return (x * x).sum()

    def theirs(x: Any, w: Any) -> Any:
        for _ in range(3):
            x = jnp.sin(x @ w)
        return (x * x).sum()

    w = A.T @ A / 4
    same(xp.grad(mine, argnums=(0, 1))(xp.asarray(A), xp.asarray(w)), jax.grad(theirs, argnums=(0, 1))(A, w))
    assert len(runs) == 6
    check_grads(mine, (xp.asarray(A), xp.asarray(w)), rtol=1e-4)
    captured = xp.asarray(w)
    with pytest.raises(DerivativeError, match="not one of its arguments"):
        xp.grad(lambda w: xp.checkpoint(lambda x: x @ w)(xp.asarray(A)).sum())(captured)


def test_custom_derivatives_by_cotangents() -> None:
    @xp.custom_vjp
    def fun(x: Any, y: Any) -> Any:
        return np.sin(x) * y

    fun.defvjp(lambda x, y: (fun(x, y), (np.cos(x), y)), lambda rest, ct: (ct * rest[0] * rest[1] * 10, None))
    same(fun(xp.asarray(X), 2.0), np.sin(X) * 2)
    same(xp.grad(lambda x: fun(x, x).sum())(xp.asarray(X)), 10 * np.cos(X) * X)
    same(xp.jvp(lambda x: fun(x, x), (xp.asarray(X),), (xp.ones(5),))[1], 10 * np.cos(X) * X)
    hessian = xp.hessian(lambda x: fun(x, 1.0).sum())(xp.asarray(X))
    same(hessian, np.diag(-10 * np.sin(X)))


def test_custom_derivatives_by_tangents() -> None:
    @xp.custom_jvp
    def fun(x: Any, y: Any) -> Any:
        return x * y

    @fun.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        return x * y, 3 * dx * y + x * dy

    same(xp.grad(lambda x: fun(x, x).sum())(xp.asarray(X)), 4 * X)
    same(xp.jvp(lambda x: fun(x, x), (xp.asarray(X),), (xp.ones(5),))[1], 4 * X)

    both = xp.custom_vjp(fun)
    both.defvjp(lambda x, y: (x * y, None), lambda _, ct: (ct * 100, ct * 1000))
    same(xp.grad(lambda x: both(x, x).sum())(xp.asarray(X)), np.full(5, 1100.0))
    same(xp.jvp(lambda x: both(x, x), (xp.asarray(X),), (xp.ones(5),))[1], 4 * X)


def test_custom_derivatives_of_functions_with_other_arguments() -> None:
    @xp.custom_vjp
    def undefined(x: Any) -> Any:
        return x

    with pytest.raises(DerivativeError, match="defvjp or defjvp"):
        xp.grad(undefined)(1.0)

    def scaled(function: Any, x: Any) -> Any:
        return function(x)

    chosen = xp.custom_vjp(scaled, nondiff_argnums=(0,))
    chosen.defvjp(lambda f, x: (f(x), None), lambda f, _, ct: (ct * 7,))
    same(xp.grad(lambda x: chosen(np.sin, x).sum())(xp.asarray(X)), np.full(5, 7.0))

    logistic = xp.custom_jvp(lambda x: 1 / (1 + np.exp(-x)))
    logistic.defjvps(lambda t, y, x: t * y * (1 - y))
    same(xp.grad(lambda x: logistic(x).sum())(xp.asarray(X)), np.exp(-X) / (1 + np.exp(-X)) ** 2)


def test_jitted_functions_are_differentiated_and_derivatives_are_jitted() -> None:
    @xp.jit
    def inner(x: Any) -> Any:
        return np.tanh(x) * 2

    def fun(x: Any) -> Any:
        y = inner(x)
        y[0] = x[1]
        return (y * y).sum()

    def theirs(x: Any) -> Any:
        y = (jnp.tanh(x) * 2).at[0].set(x[1])
        return (y * y).sum()

    same(xp.grad(fun)(xp.asarray(X)), jax.grad(theirs)(X))
    jitted = xp.jit(xp.value_and_grad(fun))
    for scale in (1.0, 2.0, 3.0):
        same(jitted(xp.asarray(X * scale)), jax.value_and_grad(theirs)(X * scale))
    assert jitted.cache_info().misses == 1
    same(xp.jit(xp.hessian(fun))(xp.asarray(X)), jax.hessian(theirs)(X))


def test_pullbacks_survive_later_writes() -> None:
    x = xp.asarray(X)
    out, pullback = xp.vjp(lambda x: x * x, x)
    x += 5
    out *= 3
    x[2] = 0.0
    x.get()
    same(pullback(xp.ones(5)), [2 * X])


def test_check_grads_finds_wrong_derivatives() -> None:
    wrong = xp.custom_vjp(lambda x: x * x)
    wrong.defvjp(lambda x: (x * x, x), lambda x, ct: (ct * x,))
    with pytest.raises(AssertionError, match="derivative"):
        check_grads(wrong, (xp.asarray(X),), order=1)
    with pytest.raises(ValueError, match="modes"):
        check_grads(np.sin, (xp.asarray(X),), modes="reverse")


def test_functions_that_compute_nothing() -> None:
    x = xp.asarray(X)
    same(xp.grad(lambda x: x)(2.0), 1.0)
    same(xp.jacfwd(lambda x: x)(x), np.eye(5))
    same(xp.jacrev(lambda x: x[::-1])(x), np.eye(5)[::-1])
    same(xp.vjp(lambda x, y: (x, x, y), x, x)[1]((x, x, x)), [2 * X, X])
    same(xp.grad(lambda x: 1.0)(x), 0 * X)
    same(xp.jacfwd(lambda x: xp.ones(2))(x), np.zeros((2, 5)))
    same(xp.hessian(lambda x: x.sum())(x), np.zeros((5, 5)))


def test_variables_of_nested_derivatives_are_told_apart() -> None:
    same(xp.grad(lambda x: x * xp.grad(lambda y: x + y)(1.0))(1.0), 1.0)

    def forward(x: Any) -> Any:
        return x * xp.jvp(lambda y: x * y, (xp.asarray(1.0),), (xp.asarray(1.0),))[1]

    same(xp.jvp(forward, (xp.asarray(3.0),), (xp.asarray(1.0),)), (9.0, 6.0))


@pytest.mark.parametrize("limit", [0, 4096])
def test_long_loops_that_read_values(limit: int) -> None:
    def mine(x: Any) -> Any:
        for step in range(400):
            x = x * 1.001 + 0.01 * np.sin(x)
            if step % 50 == 0:
                float(x[0])
        return x.sum()

    def theirs(x: Any) -> Any:
        return jax.lax.fori_loop(0, 400, lambda _, x: x * 1.001 + 0.01 * jnp.sin(x), x).sum()

    with xp.using(direct_limit=limit):
        same(xp.grad(mine)(xp.asarray(X)), jax.grad(theirs)(X))
