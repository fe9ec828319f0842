"""k-means through scikit-learn's array API: Lloyd's algorithm with scikit-learn's nearest centres.

scikit-learn's ``KMeans`` itself supports NumPy arrays only.
"""

import os
from typing import Any

import numpy as np

from bench.peers import AbsentError
from bench.workloads.base import COMPILERS, Inputs, Workload, uniform

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn asks for it, before SciPy is imported

FEATURES, CENTRES, TURNS = 16, 64, 10


def _scikit_learn() -> Any:
    try:
        import sklearn
        import sklearn.metrics
    except ImportError as error:
        raise AbsentError("scikit-learn is not installed (pip install scikit-learn)") from error
    return sklearn


def k_means(xp: Any, size: int, points: Any, centres: Any, numbers: Any, ones: Any) -> Any:
    """Return the centres after some iterations; ``numbers`` are their indices, and there are as many ``ones``."""
    sklearn = _scikit_learn()
    with sklearn.config_context(array_api_dispatch=True):
        for _ in range(TURNS):
            nearest = sklearn.metrics.pairwise_distances_argmin(points, centres)
            members = (nearest[:, None] == numbers[None, :]) * ones[None, :]
            counts = xp.sum(members, axis=0)
            means = (members.T @ points) / xp.maximum(counts, 1)[:, None]
            centres = xp.where((counts > 0)[:, None], means, centres)
    return centres


def _reference(size: int, inputs: Inputs) -> np.ndarray:
    """Return the same, with sums by :func:`numpy.bincount`."""
    points, centres = inputs[:2]
    nearest_of = _scikit_learn().metrics.pairwise_distances_argmin
    for _ in range(TURNS):
        nearest = nearest_of(points, centres)
        counts = np.bincount(nearest, minlength=CENTRES)
        sums = np.stack([np.bincount(nearest, column, CENTRES) for column in points.T], axis=1)
        means = (sums / np.maximum(counts, 1)[:, None]).astype(points.dtype)
        centres = np.where((counts > 0)[:, None], means, centres)
    return centres


def _k_means(name: str, size: int, dtype: Any) -> Workload:
    def inputs(n: int) -> Inputs:
        points = uniform(n, FEATURES, dtype=dtype)
        return [points, points[:: max(1, n // CENTRES)][:CENTRES].copy(), np.arange(CENTRES), np.ones(CENTRES, dtype)]

    return Workload(
        name=name,
        size=size,
        inputs=inputs,
        run=k_means,
        nbytes=lambda n: TURNS * np.dtype(dtype).itemsize * n * FEATURES,
        reference=_reference,
        read=True,
        tolerance=1e-3,  # points as near to one centre as to another
        without=(*COMPILERS, "gpuarray-jit"),
    )


WORKLOADS = [
    _k_means("k-means", 1_000_000, np.float64),
    _k_means("k-means-float32", 100_000, np.float32),  # scikit-learn converts slices of some hundred points to float64
]
