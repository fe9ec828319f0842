"""The calls of ``bench.functions`` for ``scipy.ndimage``: every function, as text, as a program writes it."""

from math import isqrt
from typing import Any, Final

import numpy as np
from scipy import ndimage

CALLS: Final = """
affine_transform(X, [[.9, .1], [-.1, .9]], order=1)
affine_transform(X, [[.9, .1], [-.1, .9]])
binary_closing(M)
binary_dilation(M)
binary_dilation(M, iterations=4)
binary_dilation(M, numpy.ones((3, 3)))
binary_dilation(M, numpy.ones((7, 7)))
binary_erosion(T > .5)
binary_erosion(M)
binary_erosion(M, mask=N)
binary_fill_holes(M)
binary_hit_or_miss(M)
binary_opening(M)
binary_propagation(N, mask=M)
black_tophat(X, 5)
center_of_mass(X)
center_of_mass(X, L, parts)
convolve(X, W)
convolve1d(X, w)
convolve1d(X, w, 0)
correlate(X, W)
correlate(X, V)
correlate(U, W)
correlate(T, numpy.ones((3, 3, 3)))
correlate1d(X, w)
correlate1d(X, w, 0)
distance_transform_bf(S > .9)
distance_transform_cdt(M)
distance_transform_edt(M)
distance_transform_edt(M, return_indices=True)
distance_transform_edt(T > .5)
extrema(X, L, parts)
find_objects(L)
fourier_ellipsoid(F, 3)
fourier_gaussian(F, 3)
fourier_shift(F, 3)
fourier_uniform(F, 3)
gaussian_filter(X, 3)
gaussian_filter(D, 3)
gaussian_filter(U, 1)
gaussian_filter(T, 2)
gaussian_filter(X, 10)
gaussian_filter(X, 2, order=1)
gaussian_filter1d(X, 3)
gaussian_gradient_magnitude(X, 2)
gaussian_laplace(X, 2)
generate_binary_structure(2, 1)
generic_filter(S, numpy.median, 3)
generic_filter1d(S, line, 3)
generic_gradient_magnitude(X, sobel)
generic_laplace(X, sobel)
geometric_transform(X, place)
grey_closing(X, 5)
grey_dilation(X, 5)
grey_dilation(U, footprint=B)
grey_erosion(X, 5)
grey_opening(X, 5)
histogram(X, 0, 1, 64)
histogram(X, 0, 1, 64, L, parts)
iterate_structure(B, 3)
label(M)
label(X > .5)
label(T > .5)
label(M, numpy.ones((3, 3)))
labeled_comprehension(X, L, parts, numpy.mean, float, 0)
laplace(X)
map_coordinates(X, P, order=0)
map_coordinates(X, P, order=1)
map_coordinates(X, P)
maximum(X, L, parts)
maximum_filter(X, 5)
maximum_filter(U, footprint=B)
maximum_filter1d(X, 9)
maximum_position(X, L, parts)
mean(X)
mean(X, L, parts)
median(X, L, parts)
median_filter(X, 3)
median_filter(U, 5)
median_filter(D, 5)
median_filter(X, 9)
median_filter(T, 3)
minimum(X, L, parts)
minimum_filter(X, 5)
minimum_filter1d(X, 9)
minimum_position(X, L, parts)
morphological_gradient(X, 5)
morphological_laplace(X, 5)
percentile_filter(X, 20, 3)
prewitt(X)
rank_filter(X, 2, 3)
rotate(X, 17, reshape=False, order=1)
rotate(X, 17, reshape=False)
shift(X, 1.5, order=1)
shift(X, 1.5)
sobel(X)
sobel(D, 0)
spline_filter(X)
spline_filter(D)
spline_filter1d(X)
standard_deviation(X, L, parts)
sum(X, L, parts)
sum_labels(X)
sum_labels(X, L, parts)
uniform_filter(X, 5)
uniform_filter(U, 5)
uniform_filter(T, 5)
uniform_filter(X, 50)
uniform_filter1d(X, 9)
value_indices(L)
variance(X, L, parts)
vectorized_filter(X, numpy.max, size=3)
watershed_ift(U, K)
white_tophat(X, 5)
zoom(X, 1.3, order=1)
zoom(X, 1.3)
zoom(T, 1.1, order=1)
"""
#: Filters by the first array and the rest of their arguments, and the modes with which each is called.
FILTERS: Final = """
gaussian_filter({}, 2, mode={})
uniform_filter({}, 5, mode={})
median_filter({}, 3, mode={})
maximum_filter({}, 5, mode={})
convolve({}, W, mode={})
correlate1d({}, w, mode={})
sobel({}, mode={})
laplace({}, mode={})
zoom({}, 1.3, mode={})
zoom({}, .6, order=1, mode={})
rotate({}, 17, mode={})
rotate({}, 17, order=1, mode={})
shift({}, 1.5, mode={})
shift({}, 1.5, order=1, mode={})
map_coordinates({}, P, mode={})
map_coordinates({}, P, order=1, mode={})
affine_transform({}, [[.9, .1], [-.1, .9]], mode={})
"""
MODES: Final = ("reflect", "constant", "nearest", "mirror", "wrap")


def calls() -> list[str]:
    """Return every call."""
    filters = [text.format(x, f'"{mode}"') for text in FILTERS.strip().splitlines() for x in "XD" for mode in MODES]
    return filters + [text for text in CALLS.strip().splitlines() if hasattr(ndimage, text.partition("(")[0])]


def operands(size: int) -> dict[str, Any]:
    """Return the operands of calls for images of nearly ``size`` elements, by name.

    ``S`` is a small one, and ``T`` has three axes.
    """
    random, side = np.random.default_rng(0), isqrt(size)
    image = random.random((side, side), np.float32)
    mask = ndimage.gaussian_filter(image, 2) > 0.5
    labels, count = ndimage.label(mask)
    markers = np.zeros((side, side), np.int16)
    markers[0, 0], markers[side // 2, side // 2] = 1, 2
    return {
        "numpy": np,
        "X": image,
        "D": image.astype(np.float64),
        "U": (image * 255).astype(np.uint8),
        "F": np.fft.fft2(image),
        "S": image[:24, :24].copy(),
        "T": random.random((round(size ** (1 / 3)),) * 3, np.float32),
        "M": mask,
        "N": mask & (image > 0.9),
        "L": labels,
        "K": markers,
        "P": random.random((2, side, side), np.float32) * side,
        "W": random.random((5, 5)),
        "V": random.random((15, 15)),
        "w": random.random(9),
        "B": np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool),
        "parts": np.arange(1, count + 1),
        "line": _line,
        "place": _place,
    }


def _line(values: Any, result: Any) -> None:
    result[:] = values[1:-1]


def _place(at: Any) -> Any:
    return at[0] * 0.9, at[1] * 0.9
