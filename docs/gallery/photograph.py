"""Exposure, local contrast and edges of a photograph.

The function `develop` works with any namespace, here NumPy and gpuarray. More than a hundred operations are recorded,
and five or six kernels run.
"""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import gpuarray as xp

#: The binomial weights of five neighbours.
WEIGHTS = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)


def blurred(picture: Any) -> Any:
    """Return the weighted mean of the 5 x 5 neighbours of each pixel, rows first, without a border of two pixels."""
    height, width = picture.shape[:2]
    rows = sum(weight * picture[k : height - 4 + k] for k, weight in enumerate(WEIGHTS))
    return sum(weight * rows[:, k : width - 4 + k] for k, weight in enumerate(WEIGHTS))


def develop(xp: Any, picture: Any) -> tuple[Any, Any]:
    """Return a picture with more local contrast, and its edges.

    Parameters
    ----------
    xp : namespace
        NumPy, or what stands in for it.
    picture : array
        Of shape (height, width, 3), float32 between 0 and 1. Results have 4 pixels less on each side.
    """
    exposed = xp.log1p(1.5 * picture) / np.log(2.5)
    near = blurred(blurred(exposed))
    sharp = xp.clip(near + 2.2 * (exposed[4:-4, 4:-4] - near), 0, 1)
    light = xp.mean(near, axis=2)
    across = light[1:-1, 2:] - light[1:-1, :-2]
    down = light[2:, 1:-1] - light[:-2, 1:-1]
    return sharp, xp.exp(-30 * xp.hypot(across, down))


def main(path: str | Path = "photograph.webp", step: int = 1) -> tuple[Any, ...]:
    """Develop every ``step``-th pixel of a sample, draw it, and return the results of NumPy and gpuarray."""
    picture = load_sample_image("china.jpg")[::step, ::step].astype(np.float32) / 255
    expected = develop(np, picture)
    plan = xp.explain(*(made := develop(xp, xp.asarray(picture))))
    print(f"{plan.operations} operations, {plan.launches} launches")
    shown = [np.asarray(array) for array in made]
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 2.3))
    for axis, image, title in zip(axes, (picture, *shown), ("as taken", "developed", "edges"), strict=True):
        axis.imshow(image, cmap="gray", vmin=0, vmax=1)
        axis.set_title(title)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return expected, tuple(shown)


if __name__ == "__main__":
    main()
