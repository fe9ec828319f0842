"""Filters and models over time."""

from typing import Any

from bench.programs.base import Array, line, program, steps, systems


@program(steps, 40, 400, 2000)
def kalman(np: Any, z: Array) -> Any:
    """Filter measurements of a vector that drifts."""
    n = z.shape[1]
    x, p, result = z[0], np.eye(n), np.zeros_like(z)
    for k in range(len(z)):
        p = p + 0.01 * np.eye(n)
        gain = p @ np.linalg.inv(p + 0.1 * np.eye(n))
        x = x + gain @ (z[k] - x)
        p = (np.eye(n) - gain) @ p
        result[k] = x
    return result


@program(steps, 40, 400, 4000)
def forward_algorithm(np: Any, z: Array) -> Any:
    """Compute the likelihood of a sequence under a hidden Markov model."""
    n = z.shape[1]
    move = 0.1 / n + 0.9 * np.eye(n)
    seen = np.exp(-(z**2))
    alpha, total = np.ones(n) / n, 0.0
    for t in range(len(z)):
        alpha = (alpha @ move) * seen[t]
        norm = alpha.sum()
        alpha = alpha / norm
        total = total + np.log(norm)
    return total + alpha


@program(steps, 40, 400, 4000)
def best_path(np: Any, z: Array) -> Any:
    """Find the most probable states of a hidden Markov model."""
    n = z.shape[1]
    move = 1.5 * np.eye(n)
    best, back = z[0], np.zeros(z.shape, int)
    for t in range(1, len(z)):
        all_ = best[:, None] + move
        back[t] = all_.argmax(axis=0)
        best = all_.max(axis=0) + z[t]
    path = [int(best.argmax())]
    for t in range(len(z) - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return np.asarray(path[::-1])


@program(systems, 32, 10_000, 500_000)
def recursive_filter(np: Any, x: Array, _: Array) -> Any:
    """Run a filter of second order along the first axis."""
    y = x.copy()
    y[1] += 0.6 * y[0]
    for t in range(2, len(x)):
        y[t] += 0.6 * y[t - 1] - 0.2 * y[t - 2]
    return y


@program(line, 200, 100_000, 4_000_000)
def moving_averages(np: Any, x: Array) -> Any:
    """Compare a fast and a slow moving average."""
    total = np.concatenate([np.zeros(1), np.cumsum(x)])
    fast = (total[5:] - total[:-5])[15:] / 5
    slow = (total[20:] - total[:-20]) / 20
    above = fast > slow
    return np.flatnonzero(above[1:] != above[:-1])


@program(line, 120, 600, 4000)
def adaptive_filter(np: Any, x: Array) -> Any:
    """Predict a signal by weights that learn from each error."""
    w, errors = np.zeros(8), []
    for t in range(8, len(x)):
        past = x[t - 8 : t]
        error = float(x[t] - w @ past)
        w = w + 0.05 * error * past
        errors.append(error)
    return np.asarray(errors)


@program(systems, 100, 20_000, 500_000)
def paths_of_prices(np: Any, draws: Array, _: Array) -> Any:
    """Value an option on the average of a price that follows a random walk."""
    price = np.full(draws.shape[1], 100.0)
    total = np.zeros_like(price)
    for t in range(len(draws)):
        price = price * np.exp(0.01 + 0.1 * (draws[t] - 0.5))
        total += price
    return np.maximum(total / len(draws) - 100, 0).mean()
