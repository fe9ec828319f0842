"""Grids over time: stencils written as slices and rolls."""

from typing import Any

from bench.programs.base import Array, program, square


@program(square, 24, 400, 3000)
def heat(np: Any, u: Array) -> Any:
    """Spread heat between fixed borders."""
    u = u.copy()
    for _ in range(20):
        u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


@program(square, 24, 400, 3000)
def waves(np: Any, u: Array) -> Any:
    """Let waves pass a periodic grid."""
    last, now = u, u.copy()
    for _ in range(15):
        around = np.roll(now, 1, 0) + np.roll(now, -1, 0) + np.roll(now, 1, 1) + np.roll(now, -1, 1)
        last, now = now, 1.9 * now - 0.95 * last + 0.1 * (around - 4 * now)
    return now


@program(square, 24, 300, 2000)
def fields(np: Any, e: Array) -> Any:
    """Step electric and magnetic fields on staggered grids."""
    e, hx, hy = e.copy(), np.zeros((len(e), len(e) - 1)), np.zeros((len(e) - 1, len(e)))
    for _ in range(12):
        hx -= 0.5 * (e[:, 1:] - e[:, :-1])
        hy += 0.5 * (e[1:] - e[:-1])
        e[1:-1, 1:-1] += 0.5 * (hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1])
    return e


@program(square, 24, 300, 2000)
def reaction(np: Any, u: Array) -> Any:
    """Let two substances react and spread."""
    v = 0.25 * (u > 0.7)
    for _ in range(12):
        spread = [sum(np.roll(w, s, axis) for s in (1, -1) for axis in (0, 1)) - 4 * w for w in (u, v)]
        rate = u * v * v
        u, v = u + 0.16 * spread[0] - rate + 0.06 * (1 - u), v + 0.08 * spread[1] + rate - 0.12 * v
    return u + v


@program(square, 24, 400, 3000)
def life(np: Any, u: Array) -> Any:
    """Play Conway's game."""
    a = (u > 0.6).astype(np.int32)
    for _ in range(10):
        near = sum(np.roll(np.roll(a, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1)) - a
        a = ((near == 3) | ((a == 1) & (near == 2))).astype(np.int32)
    return a


@program(square, 24, 300, 2000)
def coloured_sweeps(np: Any, u: Array) -> Any:
    """Relax the points of one colour of a chessboard, then those of the other."""
    u = u.copy()
    inner = u[1:-1, 1:-1]
    red = (np.indices(inner.shape).sum(axis=0) % 2).astype(bool)
    for turn in range(12):
        mean = (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]) / 4
        inner[...] = np.where(red ^ bool(turn % 2), mean, inner)
    return u


@program(square, 24, 200, 1000)
def sweeps_by_rows(np: Any, u: Array) -> Any:
    """Relax row after row, with the new values of the row before."""
    u = u.copy()
    for i in range(1, len(u) - 1):
        u[i, 1:-1] = (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, 2:] + u[i, :-2]) / 4
    return u


@program(square, 24, 200, 1000)
def shortest_paths(np: Any, d: Array) -> Any:
    """Find all shortest paths of a graph."""
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[k])
    return d


@program(square, 24, 300, 2000)
def two_grids(np: Any, f: Array) -> Any:
    """Correct a relaxed solution on a coarser grid."""
    u = np.zeros_like(f)
    for _ in range(4):
        for _ in range(3):
            u = (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) + f) / 4.1
        rest = f - (4.1 * u - np.roll(u, 1, 0) - np.roll(u, -1, 0) - np.roll(u, 1, 1) - np.roll(u, -1, 1))
        coarse = (rest[::2, ::2] + rest[1::2, ::2] + rest[::2, 1::2] + rest[1::2, 1::2]) / 4.4
        u = u + np.repeat(np.repeat(coarse, 2, 0), 2, 1)
    return u
