"""A flower cut out of a photograph: smoothing, a threshold, morphology, labels and measurements.

The function `segment` works with NumPy and `scipy.ndimage`, and with gpuarray and `gpuarray.scipy.ndimage`.
"""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage
from sklearn.datasets import load_sample_image

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi


def segment(xp: Any, ndi: Any, picture: Any, sigma: float = 2.0) -> tuple[Any, Any]:
    """Return the labels of the coloured parts of a picture, and whether each element is in the largest of them.

    Parameters
    ----------
    xp, ndi : namespace
        NumPy and ``scipy.ndimage``, or what stands in for them.
    picture : array
        Of shape (height, width, 3), float32 between 0 and 1.
    sigma : float
        The width of the Gaussian that smooths the picture, in pixels.
    """
    smooth = ndi.gaussian_filter(picture, (sigma, sigma, 0))
    colour = smooth[:, :, 0] - smooth[:, :, 1]
    coloured = ndi.binary_opening(colour > 0.15, iterations=2)
    filled = ndi.binary_fill_holes(coloured)
    labels, count = ndi.label(filled)
    areas = ndi.sum_labels(filled, labels, np.arange(1, count + 1))
    return labels, labels == 1 + int(xp.argmax(areas))


def main(path: str | Path = "flower.webp", step: int = 1) -> tuple[Any, ...]:
    """Segment every ``step``-th pixel of a sample, draw it, and return the results of SciPy and gpuarray."""
    picture = load_sample_image("flower.jpg")[::step, ::step].astype(np.float32) / 255
    sigma = max(2.0 / step, 0.5)
    expected = segment(np, ndimage, picture, sigma)
    found = tuple(np.asarray(array) for array in segment(xp, ndi, xp.asarray(picture), sigma))
    labels, flower = found
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 2.3))
    shown = (picture, labels, np.where(flower[:, :, None], picture, 1))
    for axis, image, title in zip(axes, shown, ("as taken", "coloured parts", "the flower"), strict=True):
        axis.imshow(image, cmap="nipy_spectral")
        axis.set_title(title)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return expected, found


if __name__ == "__main__":
    main()
