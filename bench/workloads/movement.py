"""Data movement: transposes, concatenation, gathers, boolean selection and scatters."""

from typing import Any

import numpy as np

from bench.workloads.base import COMPILED, COMPILERS, Inputs, Workload, parts, thinned, uniform

COLUMNS = 8192


def transposed(xp: Any, size: int, x: Any) -> Any:
    """Transpose and add, so that every library has to write the result."""
    return _in_order(xp, x.T)


def permuted(xp: Any, size: int, x: Any) -> Any:
    """Exchange the first and the last of three axes."""
    return _in_order(xp, xp.swapaxes(x, 0, 2))


def _in_order(xp: Any, view: Any) -> Any:
    """Return one more than a view, in C order: torch would keep the order of the view, and move nothing."""
    return xp.added_in_order(view, 1) if hasattr(xp, "added_in_order") else view + 1


def joined(xp: Any, size: int, x: Any, y: Any) -> Any:
    """Concatenate along the last axis."""
    return xp.concatenate([x, y], axis=1)


def taken(xp: Any, size: int, x: Any, positions: Any) -> Any:
    """Read elements at random positions."""
    return x[positions]


def masked(xp: Any, size: int, x: Any, mask: Any) -> Any:
    """Select the elements of a mask, about half of them."""
    return x[mask]


def scattered(xp: Any, size: int, x: Any, positions: Any) -> Any:
    """Write all elements at positions, each of which occurs once."""
    result = xp.zeros(size, dtype=x.dtype)
    result[positions] = x
    return result


def _some_columns(size: int, inputs: Inputs) -> np.ndarray:
    """Return every 64th row of a transpose."""
    return inputs[0][:, ::64].T + np.float32(1)


def _some_planes(size: int, inputs: Inputs) -> np.ndarray:
    """Return every 16th plane of :func:`permuted`."""
    return np.swapaxes(inputs[0][:, :, ::16], 0, 2) + np.float32(1)


def _positions(size: int) -> np.ndarray:
    return np.random.default_rng(1).permutation(size)


WORKLOADS = [
    Workload(
        name="transpose",
        size=8192,
        inputs=lambda n: [uniform(n, COLUMNS)],
        run=transposed,
        nbytes=lambda n: 8 * n * COLUMNS,
        reference=_some_columns,
    ),
    Workload(
        name="permute",
        size=1024,
        inputs=lambda n: [uniform(256, n, 256)],
        run=permuted,
        nbytes=lambda n: 8 * n * 256 * 256,
        reference=_some_planes,
    ),
    Workload(
        name="concatenate",
        size=8192,
        inputs=lambda n: [uniform(n, COLUMNS), uniform(n, COLUMNS, seed=1)],
        run=joined,
        nbytes=lambda n: 16 * n * COLUMNS,
        reference=parts(joined),
        without=COMPILED,
    ),
    Workload(
        name="take",
        size=1 << 26,
        inputs=lambda n: [uniform(n), _positions(n)],
        run=taken,
        nbytes=lambda n: 16 * n,
        reference=parts(taken, 1),
        without=COMPILED,
    ),
    Workload(
        name="mask",
        size=1 << 26,
        inputs=lambda n: [uniform(n), uniform(n) < 0],
        run=masked,
        nbytes=lambda n: 7 * n,
        reference=thinned(masked),
        without=COMPILERS,
    ),
    Workload(
        name="scatter",
        size=1 << 26,
        inputs=lambda n: [uniform(n), _positions(n)],
        run=scattered,
        nbytes=lambda n: 16 * n,
        reference=thinned(scattered),
        without=COMPILERS,
    ),
]
