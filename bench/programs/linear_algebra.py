"""Linear algebra written out, by rows, columns and parts."""

from typing import Any

from bench.programs.base import Array, dominant, program, square, systems, tall


@program(dominant, 24, 160, 1000)
def lu(np: Any, a: Array, _: Array) -> Any:
    """Factor a matrix without pivots, in place."""
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


@program(dominant, 24, 160, 1000)
def cholesky_by_columns(np: Any, a: Array, _: Array) -> Any:
    """Factor a positive definite matrix column by column."""
    low = np.zeros_like(a)
    for j in range(len(a)):
        column = a[j:, j] - low[j:, :j] @ low[j, :j]
        low[j:, j] = column / np.sqrt(column[0])
    return low


@program(tall, 40, 4000, 400_000)
def gram_schmidt(np: Any, x: Array, _: Array) -> Any:
    """Make columns orthonormal, one after the other."""
    q = x.copy()
    for k in range(q.shape[1]):
        q[:, k] /= np.sqrt(np.sum(q[:, k] ** 2))
        q[:, k + 1 :] -= np.outer(q[:, k], q[:, k] @ q[:, k + 1 :])
    return q


@program(tall, 40, 4000, 400_000)
def reflections(np: Any, x: Array, _: Array) -> Any:
    """Triangularise a tall matrix by Householder's reflections."""
    r = x.copy()
    for k in range(r.shape[1]):
        v = r[k:, k].copy()
        v[0] += np.copysign(np.sqrt(v @ v), v[0])
        r[k:, k:] -= np.outer(v, (2 / (v @ v)) * (v @ r[k:, k:]))
    return np.triu(r[: r.shape[1]])


@program(dominant, 30, 200, 2000)
def forward_substitution(np: Any, a: Array, b: Array) -> Any:
    """Solve a lower triangular system row by row."""
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


@program(dominant, 30, 200, 2000)
def backward_substitution(np: Any, a: Array, b: Array) -> Any:
    """Solve an upper triangular system column by column."""
    x = b.copy()
    for j in range(len(b) - 1, -1, -1):
        x[j] /= a[j, j]
        x[:j] -= x[j] * a[:j, j]
    return x


@program(dominant, 40, 400, 3000)
def levinson(np: Any, _: Array, b: Array) -> Any:
    """Find the coefficients of linear prediction from autocorrelations."""
    r = np.concatenate([np.asarray([float(len(b))]), b])
    a, error = np.zeros_like(b), float(len(b))
    for k in range(len(b)):
        reflection = -(r[k + 1] + a[:k] @ r[1 : k + 1][::-1]) / error
        a[:k] += reflection * a[:k][::-1]
        a[k] = reflection
        error = error * (1 - reflection**2)
    return a


@program(dominant, 32, 300, 3000)
def conjugate_gradients(np: Any, a: Array, b: Array) -> Any:
    """Solve a positive definite system until the residual is small."""
    x, r = np.zeros_like(b), b.copy()
    p, rho = r.copy(), float(r @ r)
    for _ in range(60):
        q = a @ p
        alpha = rho / float(p @ q)
        x += alpha * p
        r -= alpha * q
        last, rho = rho, float(r @ r)
        if rho < 1e-20:
            break
        p = r + (rho / last) * p
    return x


@program(square, 32, 300, 3000)
def dominant_eigenvalue(np: Any, a: Array) -> Any:
    """Find the largest eigenvalue by repeated products."""
    v, value = np.ones(len(a)) / len(a), 0.0
    for _ in range(30):
        w = a @ v
        value = float(np.sqrt(w @ w))
        v = w / value
    return v * value


@program(square, 24, 160, 800)
def product_with_symmetric(np: Any, a: Array) -> Any:
    """Add the lower triangle of a product with the transpose, row by row."""
    c = np.zeros_like(a)
    for i in range(len(a)):
        c[i, : i + 1] += a[: i + 1] @ a[i]
    return c


@program(systems, 32, 4096, 200_000)
def tridiagonal_systems(np: Any, lower: Array, right: Array) -> Any:
    """Solve many tridiagonal systems at once, each with 4 on its diagonal."""
    c, d = np.zeros_like(lower), right.copy()
    c[0] = lower[0] / 4
    d[0] /= 4
    for i in range(1, len(lower)):
        pivot = 4 - lower[i] * c[i - 1]
        c[i] = lower[i] / pivot
        d[i] = (d[i] - lower[i] * d[i - 1]) / pivot
    for i in range(len(lower) - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d
