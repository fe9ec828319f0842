"""Filters of images, by ``scipy.ndimage`` and what stands in for it."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

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


WORKLOADS = [
    _filter("gaussian-filter", 4096, lambda ndi, x: ndi.gaussian_filter(x, 3.0)),
    _filter("uniform-filter", 4096, lambda ndi, x: ndi.uniform_filter(x, 5)),
    _filter("sobel", 4096, lambda ndi, x: ndi.sobel(x)),
    _filter("median-filter", 2048, lambda ndi, x: ndi.median_filter(x, 5)),
    _filter("minimum-filter", 2048, lambda ndi, x: ndi.minimum_filter(x, 5)),
    _filter("zoom", 2048, lambda ndi, x: ndi.zoom(x, 1.3)),
    _filter("label", 2048, lambda ndi, x: ndi.label(x > 0.6)[0]),
    _filter("distance-transform", 2048, lambda ndi, x: ndi.distance_transform_edt(x > 0.1)),
    _filter("rotate", 2048, lambda ndi, x: ndi.rotate(x, 17.0, reshape=False)),
]
