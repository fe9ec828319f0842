"""The colours of a photograph by k-means, through scikit-learn's array API support.

`pairwise_distances_argmin` and `StandardScaler` are functions of scikit-learn that run on the device of their
arguments.
"""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # required by scikit-learn, and set before SciPy is imported

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.datasets import load_sample_image
from sklearn.metrics import pairwise_distances_argmin
from sklearn.preprocessing import StandardScaler

import gpuarray


def k_means(points: Any, centres: Any, turns: int) -> tuple[Any, Any]:
    """Return the centres after some iterations of Lloyd's algorithm, and the nearest centre of each point.

    Parameters
    ----------
    points, centres : array
        Of shapes (n, d) and (k, d), of any namespace of the array API standard.
    turns : int
        How many.
    """
    xp = points.__array_namespace__()
    numbers = xp.arange(centres.shape[0], device=points.device)
    for _ in range(turns):
        nearest = pairwise_distances_argmin(points, centres)
        members = xp.astype(nearest[:, None] == numbers[None, :], points.dtype)
        counts = xp.sum(members, axis=0)
        centres = xp.where((counts > 0)[:, None], members.T @ points / xp.maximum(counts, 1.0)[:, None], centres)
    return centres, pairwise_distances_argmin(points, centres)


def main(
    path: str | Path = "colours.webp", step: int = 2, colours: int = 8, turns: int = 12
) -> tuple[np.ndarray, np.ndarray]:
    """Reduce a photograph to few colours, draw it, and return the labels by NumPy and by gpuarray."""
    picture = load_sample_image("flower.jpg")[::step, ::step].astype(np.float32) / 255
    pixels = picture.reshape(-1, 3)
    start = np.random.default_rng(3).choice(len(pixels), colours, replace=False)
    found = []
    with sklearn.config_context(array_api_dispatch=True):
        for points in (pixels, gpuarray.asarray(pixels)):
            scaler = StandardScaler()
            scaled = scaler.fit_transform(points)
            centres, nearest = k_means(scaled, scaled[start], turns)
            found.append(np.asarray(nearest))
            palette = np.clip(np.asarray(scaler.inverse_transform(centres)), 0, 1)
    figure, axes = plt.subplots(1, 2, figsize=(8, 2.9))
    painted = palette[found[1]].reshape(picture.shape)
    for axis, image, title in zip(axes, (picture, painted), ("as taken", f"in {colours} colours"), strict=True):
        axis.imshow(image)
        axis.set_title(title)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return found[0], found[1]


if __name__ == "__main__":
    main()
