"""Data and models: groups, points, images, training."""

from typing import Any

from bench.programs.base import Array, labelled, line, points, program, seeds, square, tall


@program(labelled, 200, 100_000, 4_000_000)
def statistics_of_groups(np: Any, values: Array, groups: Array) -> Any:
    """Compute means and deviations of groups."""
    count = np.bincount(groups, minlength=16)
    mean = np.bincount(groups, values, 16) / count
    square_ = np.bincount(groups, (values - mean[groups]) ** 2, 16)
    return np.stack([mean, np.sqrt(square_ / count)])


@program(labelled, 200, 100_000, 4_000_000)
def largest_of_groups(np: Any, values: Array, groups: Array) -> Any:
    """Find the largest value of each group, one group after the other."""
    return np.stack([np.where(groups == g, values, -1.0).max() for g in range(16)])


@program(points, 64, 10_000, 1_000_000)
def clusters(np: Any, x: Array) -> Any:
    """Cluster points around 5 means."""
    centres = x[:5]
    for _ in range(8):
        near = ((x[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.stack([x[near == k].mean(axis=0) for k in range(5)])
    return centres


@program(points, 32, 400, 3000)
def bodies(np: Any, x: Array) -> Any:
    """Move bodies by their gravity."""
    v = np.zeros_like(x)
    for _ in range(5):
        apart = x[None] - x[:, None]
        near = ((apart**2).sum(axis=2) + 0.1) ** -1.5
        v += 0.001 * (apart * near[:, :, None]).sum(axis=1)
        x = x + 0.1 * v
    return x


@program(square, 24, 300, 2000)
def ranks_of_pages(np: Any, links: Array) -> Any:
    """Rank pages until the ranks change little."""
    move = (links > 0.9) + 1e-3
    move = move / move.sum(axis=0)
    rank = np.ones(len(move)) / len(move)
    for _ in range(50):
        last, rank = rank, 0.15 / len(move) + 0.85 * (move @ rank)
        if float(np.abs(rank - last).sum()) < 1e-9:
            break
    return rank


@program(square, 24, 300, 2000)
def escape_times(np: Any, u: Array) -> Any:
    """Count the steps until points escape."""
    c = 3 * u - 2 + 1j * (2 * u.T - 1)
    z, count = np.zeros_like(c), np.zeros(u.shape, int)
    for _ in range(20):
        inside = np.abs(z) < 2
        z = np.where(inside, z * z + c, z)
        count += inside
    return count


@program(square, 32, 400, 3000)
def image_convolution(np: Any, x: Array) -> Any:
    """Filter an image by slices, and take the largest of each four."""
    n = len(x) - 4
    weights = [[1, 4, 6, 4, 1][i] * [1, 4, 6, 4, 1][j] / 256 for i in range(5) for j in range(5)]
    out = sum(w * x[k // 5 : k // 5 + n, k % 5 : k % 5 + n] for k, w in enumerate(weights))
    return out.reshape(n // 2, 2, n // 2, 2).max(axis=(1, 3))


@program(seeds, 40, 400, 4000)
def checksum(np: Any, data: Array) -> Any:
    """Compute a checksum of bytes bit by bit."""
    crc = 0xFFFF
    for byte in data:
        crc ^= int(byte) << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return np.asarray(crc)


@program(line, 200, 50_000, 2_000_000)
def sieve(np: Any, x: Array) -> Any:
    """Find primes."""
    prime = np.ones(len(x), bool)
    prime[:2] = False
    for k in range(2, int(len(x) ** 0.5) + 1):
        if prime[k]:
            prime[k * k :: k] = False
    return np.flatnonzero(prime)


@program(tall, 40, 4000, 200_000)
def logistic_regression(np: Any, x: Array, y: Array) -> Any:
    """Fit a classifier by gradient steps, and note the loss of each."""
    goal, w, losses = (y > 0).astype(x.dtype), np.zeros(x.shape[1]), []
    for _ in range(20):
        p = 1 / (1 + np.exp(-(x @ w)))
        losses.append(-np.mean(goal * np.log(p + 1e-9) + (1 - goal) * np.log(1 - p + 1e-9)))
        w = w - 0.5 * x.T @ (p - goal) / len(x)
    return np.stack(losses)


@program(tall, 40, 4000, 200_000)
def network(np: Any, x: Array, y: Array) -> Any:
    """Train a network of one hidden layer by moments."""
    a, b = np.sin(np.arange(128.0)).reshape(8, 16), np.cos(np.arange(16.0))
    moments = [np.zeros_like(a), np.zeros_like(b)]
    for _ in range(12):
        hidden = np.tanh(x @ a)
        error = (hidden @ b - y) / len(x)
        gradients = [x.T @ (np.outer(error, b) * (1 - hidden**2)), hidden.T @ error]
        moments = [0.9 * m + g for m, g in zip(moments, gradients, strict=True)]
        a, b = a - 0.05 * moments[0], b - 0.05 * moments[1]
    return np.tanh(x @ a) @ b


@program(tall, 24, 600, 4000)
def attention(np: Any, x: Array, _: Array) -> Any:
    """Let rows attend to those before them."""
    for _ in range(3):
        scores = x @ x.T / x.shape[1] ** 0.5
        scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        x = x + shares @ x / shares.sum(axis=1, keepdims=True)
        x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    return x
