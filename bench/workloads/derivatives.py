"""Derivatives and batches: values with gradients, steps of training, Jacobians of many small systems.

Libraries have them under names of their own; the peers' namespaces have JAX's. References are derivatives by hand.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.workloads.base import Inputs, Workload, uniform
from bench.workloads.elementwise import heat

CLASSES, FEATURES, HIDDEN = 4096, 1024, 4096
TURNS, STEPS, PART = 10, 100, 10
SYSTEM = 8
#: Libraries without derivatives, and those that write to no arrays, or have no batches.
_NONE = ("numpy", "numexpr", "cupy")
_REVERSE = (*_NONE, "autograd")


def long_chain(xp: Any, x: Any) -> Any:
    """Return the sum of a chain of 30 operations on each element."""
    y = x
    for _ in range(TURNS):
        y = xp.sin(y) * 0.9 + x
    return xp.sum(y)


def _gradient_of(chain: Callable[[Any, Any], Any]) -> Callable[[Any, int, Any], Any]:
    """Return a function that computes the gradient of a chain, and its value."""

    def run(xp: Any, size: int, x: Any) -> Any:
        value, slope = xp.value_and_grad(lambda x: chain(xp, x))(x)
        return slope, value

    return run


def _chain_by_hand(size: int, inputs: Inputs) -> np.ndarray:
    result = []
    for start in range(0, size, 1 << 20):
        y = x = inputs[0][start : start + (1 << 20)]
        slope = np.ones_like(x)
        for _ in range(TURNS):
            slope = np.cos(y) * np.float32(0.9) * slope + 1
            y = np.sin(y) * np.float32(0.9) + x
        result.append(slope)
    return np.concatenate(result)


def _cross_entropy(xp: Any, size: int, logits: Any, labels: Any, classes: Any) -> Any:
    def loss(logits: Any) -> Any:
        shifted = logits - xp.max(logits, axis=1)[:, None]
        norm = xp.log(xp.sum(xp.exp(shifted), axis=1))
        picked = xp.sum(xp.where(labels[:, None] == classes, shifted, 0.0), axis=1)
        return xp.sum(norm - picked) / size

    value, slope = xp.value_and_grad(loss)(logits)
    return slope, value


def _cross_entropy_by_hand(size: int, inputs: Inputs) -> np.ndarray:
    logits, labels, _ = inputs
    weights = np.exp(logits - logits.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    weights[np.arange(size), labels] -= 1
    return weights / np.float32(size)


def _train(xp: Any, size: int, w: Any, v: Any, mw: Any, mv: Any, sw: Any, sv: Any, x: Any, wanted: Any) -> Any:
    """Compute one step of Adam for two layers."""

    def loss(w: Any, v: Any) -> Any:
        hidden = xp.maximum(x @ w, 0.0)
        return xp.sum((hidden @ v - wanted) ** 2) / size

    gradients = xp.grad(loss, argnums=(0, 1))(w, v)
    moved = []
    for at, slope, mean, square in zip((w, v), gradients, (mw, mv), (sw, sv), strict=True):
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope * slope
        moved.append((at - 1e-3 * mean / (xp.sqrt(square) + 1e-3), mean, square))
    (w, mw, sw), (v, mv, sv) = moved
    return w, v, mw, mv, sw, sv, x, wanted


def _train_by_hand(size: int, inputs: Inputs) -> np.ndarray:
    w, v, *_, x, wanted = inputs
    hidden = np.maximum(x @ w, 0)
    error = 2 * (hidden @ v - wanted) / np.float32(size)
    slope = x.T @ ((error @ v.T) * (hidden > 0))
    mean, square = np.float32(0.1) * slope, np.float32(0.001) * slope * slope
    return w - np.float32(1e-3) * mean / (np.sqrt(square) + np.float32(1e-3))


def _training_inputs(n: int) -> Inputs:
    w, v = uniform(FEATURES, HIDDEN) / 32, uniform(HIDDEN, FEATURES, seed=1) / 64
    zeros = [np.zeros_like(a) for a in (w, v, w, v)]
    return [w, v, *zeros, uniform(n, FEATURES, seed=2), uniform(n, FEATURES, seed=3)]


def _solve_heat(xp: Any, size: int, u: Any, wanted: Any) -> Any:
    """Return the gradient of a misfit through steps of the heat equation, and the misfit."""

    def some_steps(u: Any) -> Any:
        if not hasattr(xp, "with_inner"):
            u = xp.copy(u)
        for _ in range(PART):
            inner = heat(xp, size, u)
            if hasattr(xp, "with_inner"):
                u = xp.with_inner(u, inner)
            else:
                u[1:-1, 1:-1] = inner
        return u

    def misfit(u: Any) -> Any:
        for _ in range(STEPS // PART):
            u = xp.checkpoint(some_steps)(u)
        return xp.sum((u - wanted) ** 2)

    value, slope = xp.value_and_grad(misfit)(u)
    return slope, value


def _solve_heat_by_hand(size: int, inputs: Inputs) -> np.ndarray:
    u, wanted = (array.astype(np.float64) for array in inputs)
    for _ in range(STEPS):
        u[1:-1, 1:-1] = heat(np, size, u)
    slope = 2 * (u - wanted)
    for _ in range(STEPS):
        inner = slope[1:-1, 1:-1].copy()
        slope[1:-1, 1:-1] = 0.6 * inner
        for part in (slope[2:, 1:-1], slope[:-2, 1:-1], slope[1:-1, 2:], slope[1:-1, :-2]):
            part += 0.1 * inner
    return slope


def _energy(xp: Any, weights: Any, p: Any) -> Any:
    return xp.sum(xp.tanh(weights @ p) ** 2) + xp.sum(p * p * p)


def _hessian_products(xp: Any, size: int, x: Any, v: Any) -> Any:
    """Return the product of the Hessian of a function of many numbers and a vector."""

    def gradient(x: Any) -> Any:
        return xp.grad(lambda x: xp.sum(xp.sin(x) * x * x) + xp.sum(x) ** 2 / size)(x)

    return xp.jvp(gradient, (x,), (v,))[1]


def _hessian_products_by_hand(size: int, inputs: Inputs) -> np.ndarray:
    x, v = (array.astype(np.float64) for array in inputs)
    return (2 - x * x) * np.sin(x) * v + 4 * x * np.cos(x) * v + 2 * v.sum() / size


def _jacobians(xp: Any, size: int, points: Any, weights: Any) -> Any:
    return xp.vmap(xp.jacfwd(lambda p: xp.tanh(weights @ p) * p))(points)


def _jacobians_by_hand(size: int, inputs: Inputs) -> np.ndarray:
    points, weights = inputs
    made = np.tanh(points @ weights.T)
    return (points * (1 - made**2))[:, :, None] * weights + made[:, :, None] * np.eye(SYSTEM, dtype=np.float32)


def _gradients(xp: Any, size: int, points: Any, weights: Any) -> Any:
    return xp.vmap(xp.grad(lambda p: _energy(xp, weights, p)))(points)


def _gradients_by_hand(size: int, inputs: Inputs) -> np.ndarray:
    points, weights = inputs
    made = np.tanh(points @ weights.T)
    return (2 * made * (1 - made**2)) @ weights + 3 * points**2


def short_chain(xp: Any, x: Any) -> Any:
    """Return the sum of a chain of 30 cheap operations on each element."""
    y = x
    for _ in range(TURNS):
        y = y * y * 0.5 + x
    return xp.sum(y)


def _tiny(xp: Any, size: int, x: Any) -> Any:
    return short_chain(xp, x)


def _tiny_by_hand(size: int, inputs: Inputs) -> np.ndarray:
    y = x = inputs[0]
    slope = np.ones_like(x)
    for _ in range(TURNS):
        slope = y * slope + 1
        y = y * y * np.float32(0.5) + x
    return slope


WORKLOADS = [
    Workload(
        name="gradient-chain",
        size=1 << 26,
        inputs=lambda n: [uniform(n)],
        run=_gradient_of(long_chain),
        nbytes=lambda n: 8 * n,
        reference=_chain_by_hand,
        tolerance=1e-4,
        without=_NONE,
    ),
    Workload(
        name="gradient-cross-entropy",
        size=1 << 14,
        inputs=lambda n: [uniform(n, CLASSES), np.arange(n) * 7 % CLASSES, np.arange(CLASSES)],
        run=_cross_entropy,
        nbytes=lambda n: 8 * n * CLASSES,
        reference=_cross_entropy_by_hand,
        without=_NONE,
    ),
    Workload(
        name="training-step",
        size=4096,
        inputs=_training_inputs,
        run=_train,
        nbytes=lambda n: 4 * (2 * n * FEATURES + 12 * FEATURES * HIDDEN),
        flops=lambda n: 10.0 * n * FEATURES * HIDDEN,
        limit="matmul",
        reference=_train_by_hand,
        tolerance=1e-3,
        without=_NONE,
    ),
    Workload(
        name="gradient-heat-100",
        size=1024,
        inputs=lambda n: [uniform(n, 1024), uniform(n, 1024, seed=1)],
        run=_solve_heat,
        nbytes=lambda n: 3 * STEPS * 8 * n * 1024,
        reference=_solve_heat_by_hand,
        tolerance=1e-4,
        without=(*_REVERSE, "torch"),
    ),
    Workload(
        name="hessian-vector",
        size=1 << 24,
        inputs=lambda n: [uniform(n), uniform(n, seed=1)],
        run=_hessian_products,
        nbytes=lambda n: 12 * n,
        reference=_hessian_products_by_hand,
        tolerance=1e-4,
        without=_REVERSE,
    ),
    Workload(
        name="jacobians-10000",
        size=10_000,
        inputs=lambda n: [uniform(n, SYSTEM), uniform(SYSTEM, SYSTEM, seed=1)],
        run=_jacobians,
        nbytes=lambda n: 4 * n * (SYSTEM + SYSTEM**2),
        reference=_jacobians_by_hand,
        scaled=False,
        without=_REVERSE,
    ),
    Workload(
        name="gradients-10000",
        size=10_000,
        inputs=lambda n: [uniform(n, SYSTEM), uniform(SYSTEM, SYSTEM, seed=1)],
        run=_gradients,
        nbytes=lambda n: 8 * n * SYSTEM,
        reference=_gradients_by_hand,
        scaled=False,
        without=_REVERSE,
    ),
    Workload(
        name="chain-1000",
        size=1000,
        inputs=lambda n: [uniform(n, low=-0.5, high=0.4)],
        run=_tiny,
        nbytes=lambda n: 4 * n,
        scaled=False,
        without=_NONE[1:],
        tolerance=1e-4,
    ),
    Workload(
        name="gradient-chain-1000",
        size=1000,
        inputs=lambda n: [uniform(n, low=-0.5, high=0.4)],
        run=_gradient_of(short_chain),
        nbytes=lambda n: 8 * n,
        reference=_tiny_by_hand,
        scaled=False,
        without=_NONE,
        tolerance=1e-4,
    ),
]
