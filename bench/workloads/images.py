"""Filters of images, by ``scipy.ndimage`` and what stands in for it."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from bench.workloads.base import Workload, uniform

#: The package of SciPy's functions, where it is not called after the namespace.
_PACKAGES = {"numpy": "scipy", "cupy": "cupyx.scipy"}


def _ndimage(xp: Any) -> Any:
    return import_module(f"{_PACKAGES.get(xp.__name__, f'{xp.__name__}.scipy')}.ndimage")


def _filter(name: str, side: int, run: Callable[[Any, Any], Any]) -> Workload:
    return Workload(
        name=name,
        size=side,
        inputs=lambda n: [uniform(n, n)],
        run=lambda xp, n, x: run(_ndimage(xp), x),
        nbytes=lambda n: 8 * n * n,
        without=("torch", "jax", "autograd"),
    )


def _map_coordinates(name: str, side: int, order: int) -> Workload:
    """Return a workload that reads each pixel at a point near its own."""
    return Workload(
        name=name,
        size=side,
        inputs=lambda n: [uniform(n, n), np.mgrid[:n, :n].astype(np.float32) + 3 * uniform(2, n, n, seed=1)],
        run=lambda xp, n, x, points: _ndimage(xp).map_coordinates(x, points, order=order),
        nbytes=lambda n: 16 * n * n,
        without=("torch", "jax", "autograd"),
    )


WORKLOADS = [
    _filter("gaussian-filter", 4096, lambda ndi, x: ndi.gaussian_filter(x, 3.0)),
    _filter("uniform-filter", 4096, lambda ndi, x: ndi.uniform_filter(x, 5)),
    _filter("sobel", 4096, lambda ndi, x: ndi.sobel(x)),
    _filter("median-filter", 2048, lambda ndi, x: ndi.median_filter(x, 5)),
    _filter("minimum-filter", 2048, lambda ndi, x: ndi.minimum_filter(x, 5)),
    _filter("rank-filter", 2048, lambda ndi, x: ndi.rank_filter(x, 3, 5)),
    _filter("percentile-filter", 2048, lambda ndi, x: ndi.percentile_filter(x, 20, 5)),
    _filter("grey-dilation", 2048, lambda ndi, x: ndi.grey_dilation(x, (5, 5))),
    _filter("binary-opening", 2048, lambda ndi, x: ndi.binary_opening(x > 0.3)),
    _map_coordinates("map-coordinates-linear", 2048, 1),
    _map_coordinates("map-coordinates", 2048, 3),
    _filter("zoom-linear", 2048, lambda ndi, x: ndi.zoom(x, 1.3, order=1)),
    _filter("shift-linear", 2048, lambda ndi, x: ndi.shift(x, 3.3, order=1)),
    _filter("rotate-linear", 2048, lambda ndi, x: ndi.rotate(x, 17.0, reshape=False, order=1)),
    _filter("zoom", 2048, lambda ndi, x: ndi.zoom(x, 1.3)),
    _filter("label", 2048, lambda ndi, x: ndi.label(x > 0.6)[0]),
    _filter("distance-transform", 2048, lambda ndi, x: ndi.distance_transform_edt(x > 0.1)),
    _filter("rotate", 2048, lambda ndi, x: ndi.rotate(x, 17.0, reshape=False)),
]
