"""Programs in the manner of CuPy's examples, with the changes that the page "Coming from CuPy" names.

Each takes the namespace as ``cupy``; with NumPy in its place the results are the same.
"""

import math

import numpy as np
import pytest

import gpuarray as xp

DEVICES = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)
RANDOM = np.random.default_rng(4)


def conjugate_gradients(cupy, matrix, right, tolerance=1e-8):
    solution = cupy.zeros_like(right)
    rest = right - cupy.dot(matrix, solution)
    direction = rest
    for _ in range(100):
        step = cupy.inner(rest, rest) / cupy.inner(direction, cupy.dot(matrix, direction))
        solution += step * direction
        following = rest - step * cupy.dot(matrix, direction)
        if cupy.linalg.norm(following) < tolerance:
            break
        direction = following + cupy.inner(following, following) / cupy.inner(rest, rest) * direction
        rest = following
    return solution


def squared_distance(x0, x1, c0, c1):
    """In place of an ``ElementwiseKernel``."""
    return (x0 - c0) * (x0 - c0) + (x1 - c1) * (x1 - c1)


def masked_sum(cupy, x, mask, axis):
    """In place of a ``ReductionKernel``."""
    return cupy.sum(cupy.where(mask, x, 0), axis=axis)


def k_means(cupy, points, count=3, turns=8):
    labels, centers = cupy.zeros(len(points)), points[:count]
    for _ in range(turns):
        result = cupy.argmin(
            squared_distance(points[:, None, 0], points[:, None, 1], centers[None, :, 0], centers[None, :, 1]), axis=1
        )
        if cupy.all(result == labels):
            break
        labels = result
        mask = labels == cupy.arange(count)[:, None]
        sizes = cupy.count_nonzero(mask, axis=1).reshape((count, 1))
        centers = masked_sum(cupy, points, mask[:, :, None], axis=1) / sizes
    return centers


def gaussian_mixture(cupy, points, means, turns=2):
    weights, scale = cupy.array([0.5, 0.5]), cupy.ones((2, points.shape[1]))
    bound = -math.inf
    for _ in range(turns):
        precision = scale**2
        logs = cupy.sum(means**2 * precision, 1) - 2 * cupy.dot(points, (means * precision).T)
        logs = -0.5 * (logs + cupy.dot(points**2, precision.T)) + cupy.sum(cupy.log(scale), axis=1) + cupy.log(weights)
        total = cupy.log(cupy.sum(cupy.exp(logs), axis=1))
        before, bound = bound, cupy.mean(total)
        if abs(bound - before) < 1e-9:
            break
        shares = cupy.exp(logs - total[:, None])
        sizes = cupy.sum(shares, axis=0)
        means = cupy.dot(shares.T, points) / sizes[:, None]
        scale = 1 / cupy.sqrt(cupy.dot(shares.T, points * points) / sizes[:, None] - means**2)
        weights = sizes / len(points)
    return cupy.stack([means, scale])


def black_scholes(cupy, price, strike, years, rate=0.02, volatility=0.3):
    root = cupy.sqrt(years)
    first = (cupy.log(price / strike) + (rate + volatility * volatility / 2) * years) / (volatility * root)

    def below(x):
        k = 1 / (1 + 0.2316419 * cupy.abs(x))
        series = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        tail = 0.3989422804014327 * cupy.exp(-x * x / 2) * series
        return cupy.where(x > 0, 1 - tail, tail)

    return price * below(first) - strike * cupy.exp(-rate * years) * below(first - volatility * root)


def monte_carlo(cupy, price, strike, years, rate=0.02, volatility=0.3):
    """Random numbers are arrays, where an ``ElementwiseKernel`` makes its own."""
    normal = cupy.random.default_rng(5).standard_normal((len(price), 20_000))
    growth = cupy.exp((rate - volatility**2 / 2) * years + volatility * cupy.sqrt(years) * normal)
    return (cupy.exp(-rate * years) * cupy.maximum(price * growth - strike, 0)).mean(axis=1)


def product(cupy, left, right):
    """In place of a ``RawKernel`` that multiplies matrices stored by columns."""
    return cupy.asfortranarray(left) @ cupy.asfortranarray(right)


def _options(count):
    return RANDOM.uniform(5, 30, count), RANDOM.uniform(1, 40, count), RANDOM.uniform(0.25, 10, count)


_ROOT = RANDOM.random((30, 30))
_POINTS = np.concatenate([RANDOM.normal(center, 1, (200, 2)) for center in (-3, 0, 4)])
PROGRAMS = {
    conjugate_gradients: (_ROOT @ _ROOT.T + 9 * np.eye(30), RANDOM.random(30)),
    k_means: (_POINTS,),
    gaussian_mixture: (_POINTS, np.array([[1.0, 1.0], [-1.0, -1.0]])),
    black_scholes: _options(500),
    product: (RANDOM.random((65, 33), np.float32), RANDOM.random((33, 70), np.float32)),
}


@DEVICES
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs_of_cupy_run(program, device):
    operands = PROGRAMS[program]
    arrays = [xp.asarray(operand) for operand in operands]
    assert xp.get_array_module(*arrays) is xp
    xp.synchronize()
    result = xp.asnumpy(program(xp, *arrays))
    np.testing.assert_allclose(result, program(np, *operands), rtol=1e-4, atol=1e-6)


@DEVICES
def test_a_simulation_of_cupy_runs(device):
    options = _options(3)
    exact = black_scholes(np, *options)
    arrays = [xp.asarray(operand)[:, None] for operand in options]
    np.testing.assert_allclose(monte_carlo(xp, *arrays).get(), exact, rtol=0.05, atol=0.05)
