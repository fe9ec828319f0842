"""Separable filters: Gaussians and their derivatives, boxes, gradients and Laplacians."""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, Final

import numpy as np
from scipy import ndimage

from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array
from gpuarray.graph.shapes import normalize_axis
from gpuarray.scipy._calls import trial
from gpuarray.scipy._mirror import chosen, mirrors
from gpuarray.scipy._threads import LEAST, by_lines
from gpuarray.scipy.ndimage._arguments import axes_of, checked, each, finished, output_dtype
from gpuarray.scipy.ndimage._boundary import rounded
from gpuarray.scipy.ndimage._correlation import correlated, line_filtered
from gpuarray.scipy.ndimage._elements import are_gathered
from gpuarray.scipy.ndimage._parts import by_gaussian, by_neighbours, in_parts
from gpuarray.scipy.ndimage._windows import weighted

__all__ = [
    "gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace",
    "generic_gradient_magnitude", "generic_laplace", "laplace", "prewitt", "sobel", "uniform_filter",
    "uniform_filter1d",
]  # fmt: skip

#: The most elements of a window that is read at once, in place of lines along one axis after the other.
_ONE_WINDOW: Final = 64


@lru_cache(maxsize=256)
def _gaussian(sigma: float, order: int, radius: int) -> Any:
    """Return the weights of a Gaussian or of its derivative: SciPy's response to an impulse."""
    impulse = np.zeros(2 * radius + 1)
    impulse[radius] = 1
    return ndimage.gaussian_filter1d(impulse, sigma, order=order, mode="constant", radius=radius)[::-1].copy()


def _radius(sigma: Any, truncate: Any, radius: Any) -> int:
    return int(radius) if radius is not None else int(truncate * float(sigma) + 0.5)


def _blurred(
    source: GpuArray, sigmas: Any, orders: Any, modes: Any, cval: Any, truncate: Any, radii: Any, axes: Any,
    dtype: DType,
) -> GpuArray:  # fmt: skip
    lines = []
    for axis, sigma, order, mode, radius in zip(axes, sigmas, orders, modes, radii, strict=True):
        if sigma > 1e-15:
            lines.append((axis, _gaussian(float(sigma), int(order), _radius(sigma, truncate, radius)), mode))
    return _separable(source, lines, cval, dtype)


def _separable(source: GpuArray, lines: Sequence[tuple[int, Any, str]], cval: Any, dtype: DType) -> GpuArray:
    """Return the correlation with weights along axes, one after the other, or with their product if that is small.

    With the product, results between are neither rounded nor extended. A constant beyond the edges is that of the
    results between, too; all constants but zero differ.
    """
    modes = ["reflect"] * source.ndim
    weights = np.ones((1,) * source.ndim)
    for axis, line, mode in lines:
        modes[axis] = mode
        weights = weights * line.reshape([-1 if along == axis else 1 for along in range(source.ndim)])
    is_extended = cval != 0 and any("constant" in mode for mode in modes)
    if (
        len(lines) > 1
        and dtype.kind == "f"
        and weights.size <= _ONE_WINDOW
        and not is_extended
        and are_gathered(source)
    ):
        origins = [0] * source.ndim
        result = correlated(source, weights, range(source.ndim), modes, cval, origins, dtype, has_gaps=False)
        return chosen(
            result, f"one window: {weights.size} elements, which are no more than {_ONE_WINDOW}, are read once"
        )
    result = source
    for axis, line, mode in lines:
        result = line_filtered(result, line, axis, mode, cval, dtype)
    if len(lines) > 1:
        taps = sum(line.size for _, line, _ in lines)
        result = chosen(result, f"one axis after the other: {taps} products an element, {weights.size} in one window")
    return result if lines else source.astype(dtype)


@mirrors(ndimage.gaussian_filter1d, on_host=by_lines(ndimage.gaussian_filter1d, "input", ("output",)))
def gaussian_filter1d(
    input: Any, sigma: Any, axis: int = -1, order: int = 0, output: Any = None, mode: str = "reflect",
    cval: Any = 0.0, truncate: float = 4.0, *, radius: Any = None,
) -> GpuArray:  # fmt: skip
    """Return an array smoothed by a Gaussian along an axis, or the derivative of that."""
    source, dtype = checked(
        ndimage.gaussian_filter1d, input, sigma, axis, order, output=output, mode=mode, cval=cval, truncate=truncate,
        radius=radius,
    )  # fmt: skip
    line = _gaussian(float(sigma), int(order), _radius(sigma, truncate, radius))
    number = normalize_axis(axis, source.ndim)
    return finished(line_filtered(source, line, number, mode, cval, dtype), output)


@mirrors(ndimage.gaussian_filter, on_host=in_parts(ndimage.gaussian_filter, by_gaussian))
def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    truncate: float = 4.0, *, radius: Any = None, axes: Any = None,
) -> GpuArray:  # fmt: skip
    """Return an array smoothed by a Gaussian along axes, or derivatives of that."""
    source, dtype = checked(
        ndimage.gaussian_filter, input, sigma, order, output=output, mode=mode, cval=cval, truncate=truncate,
        radius=radius, axes=axes,
    )  # fmt: skip
    numbers = axes_of(axes, source.ndim)
    sigmas, orders, modes, radii = (each(value, len(numbers)) for value in (sigma, order, mode, radius))
    return finished(_blurred(source, sigmas, orders, modes, cval, truncate, radii, numbers, dtype), output)


def _averaged(source: GpuArray, size: int, axis: int, mode: str, cval: Any, origin: int, dtype: DType) -> GpuArray:
    """Return the means of windows along an axis; the sums of integers are exact."""
    if not source.size or size < 1:
        return source.astype(dtype)
    shape, before = [1] * source.ndim, [0] * source.ndim
    shape[axis], before[axis] = size, size // 2 + origin
    sums = weighted(source, np.ones(shape), before, [mode] * source.ndim, cval, dtype)
    if sums.dtype.kind != "i":
        return rounded(sums * (1.0 / size) if dtype.kind in "fc" else sums / size, dtype)
    if dtype.kind in "iu":
        return ((sums - np.fmod(sums, np.int32(size))) // np.int32(size)).astype(dtype)
    return rounded(sums.astype(np.float64) / size, dtype)


_means_of_lines = by_lines(ndimage.uniform_filter1d, "input", ("output",))


@mirrors(ndimage.uniform_filter1d, on_host=_means_of_lines)
def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> GpuArray:
    """Return the means of windows along an axis."""
    source, dtype = checked(
        ndimage.uniform_filter1d, input, size, axis, output=output, mode=mode, cval=cval, origin=origin
    )
    number = normalize_axis(axis, source.ndim)
    return finished(_averaged(source, int(size), number, mode, cval, origin, dtype), output)


def _means(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    """Run SciPy's filter, of large arrays along one axis after the other."""
    if output is not None or not isinstance(input, np.ndarray) or input.ndim < 2 or input.size < LEAST:
        return ndimage.uniform_filter(input, size, output, mode, cval, origin, axes=axes)
    trial(ndimage.uniform_filter, input, size, output, mode, cval, origin, axes=axes)
    numbers = axes_of(axes, input.ndim)
    result = input
    values = [each(value, len(numbers)) for value in (size, mode, origin)]
    for axis, extent, kind, shift in zip(numbers, *values, strict=True):
        if extent > 1:
            result = _means_of_lines(result, int(extent), axis, None, kind, cval, shift)
    return result.copy() if result is input else result


@mirrors(ndimage.uniform_filter, on_host=_means)
def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the means of windows."""
    source, dtype = checked(
        ndimage.uniform_filter, input, size, output=output, mode=mode, cval=cval, origin=origin, axes=axes
    )
    numbers = axes_of(axes, source.ndim)
    result = source
    values = [each(value, len(numbers)) for value in (size, mode, origin)]
    sizes = values[0]
    is_floating = source.dtype.kind == dtype.kind == "f" and min(sizes, default=0) > 0 and source.size
    if is_floating and 1 < prod(sizes) <= _ONE_WINDOW and are_gathered(source) and all(n == int(n) for n in sizes):
        shape, before, modes = [1] * source.ndim, [0] * source.ndim, ["reflect"] * source.ndim
        for axis, extent, kind, shift in zip(numbers, *values, strict=True):
            if extent > 1:  # else the origin does not count either
                shape[axis], before[axis], modes[axis] = int(extent), int(extent) // 2 + shift, kind
        sums = weighted(source, np.ones(shape), before, modes, cval, dtype)
        choice = f"one window: {prod(shape)} elements, which are no more than {_ONE_WINDOW}, are read once"
        return finished(chosen(rounded(sums * (1.0 / prod(shape)), dtype), choice), output)
    for axis, extent, kind, shift in zip(numbers, *values, strict=True):
        if extent > 1:
            result = _averaged(result, int(extent), axis, kind, cval, shift, dtype)
            choice = (
                f"sums of {int(extent)} elements along axis {axis}: running sums would lose digits of float numbers"
            )
            result = chosen(result, choice)
    return finished(result if result is not source else source.astype(dtype), output)


def _gradient(function: Any, input: Any, axis: int, output: Any, mode: Any, cval: Any, across: Sequence[float]) -> Any:
    source, dtype = checked(function, input, axis, output=output, mode=mode, cval=cval)
    number = normalize_axis(axis, source.ndim)
    modes = each(mode, source.ndim)
    order = [number, *(along for along in range(source.ndim) if along != number)]
    lines = [(along, np.array([-1.0, 0, 1] if along == number else across), modes[along]) for along in order]
    return finished(_separable(source, lines, cval, dtype), output)


@mirrors(ndimage.prewitt, on_host=in_parts(ndimage.prewitt, by_neighbours))
def prewitt(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> GpuArray:
    """Return Prewitt's gradient along an axis."""
    return _gradient(ndimage.prewitt, input, axis, output, mode, cval, (1.0, 1, 1))


@mirrors(ndimage.sobel, on_host=in_parts(ndimage.sobel, by_neighbours))
def sobel(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> GpuArray:
    """Return Sobel's gradient along an axis."""
    return _gradient(ndimage.sobel, input, axis, output, mode, cval, (1.0, 2, 1))


def _each_axis(
    input: Any, derivative: Any, output: Any, mode: Any, cval: Any, args: Any, keywords: Any, axes: Any, *, norm: bool
) -> GpuArray:
    """Return the sum of derivatives along axes, or the square root of the sum of their squares."""
    source = as_array(input)
    dtype = output_dtype(output, source)
    numbers = axes_of(axes, source.ndim)
    total: Any = None
    for axis, kind in zip(numbers, each(mode, len(numbers)), strict=True):
        result = as_array(derivative(source, axis, dtype, kind, cval, *args, **keywords)).astype(dtype, copy=False)
        term = result * result if norm else result
        total = term if total is None else total + term
    if total is None:
        return finished(source.astype(dtype), output)
    return finished(rounded(elementwise.sqrt(total), dtype) if norm else total, output)


@mirrors(ndimage.generic_laplace, by_scipy=False)
def generic_laplace(
    input: Any, derivative2: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    extra_arguments: Any = (), extra_keywords: Any = None, *, axes: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the sum of second derivatives, which a function computes."""
    keywords = extra_keywords or {}
    return _each_axis(input, derivative2, output, mode, cval, extra_arguments, keywords, axes, norm=False)


@mirrors(ndimage.generic_gradient_magnitude, by_scipy=False)
def generic_gradient_magnitude(
    input: Any, derivative: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    extra_arguments: Any = (), extra_keywords: Any = None, *, axes: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the magnitude of the gradient, whose components a function computes."""
    keywords = extra_keywords or {}
    return _each_axis(input, derivative, output, mode, cval, extra_arguments, keywords, axes, norm=True)


@mirrors(ndimage.laplace, on_host=in_parts(ndimage.laplace, by_neighbours))
def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> GpuArray:
    """Return the Laplacian, of second differences."""
    array, dtype = checked(ndimage.laplace, input, output=output, mode=mode, cval=cval, axes=axes)
    numbers = axes_of(axes, array.ndim)
    modes = each(mode, len(numbers))
    if dtype.kind == "f" and numbers and are_gathered(array):
        weights = np.zeros((3,) * len(numbers))
        for axis in range(len(numbers)):
            weights[tuple(slice(None) if axis == along else 1 for along in range(len(numbers)))] += [1, -2, 1]
        return finished(correlated(array, weights, numbers, modes, cval, [0] * len(numbers), dtype), output)

    def second(source: GpuArray, axis: int, kind: Any, mode: str, cval: Any) -> GpuArray:
        return line_filtered(source, np.array([1.0, -2, 1]), axis, mode, cval, dtype)

    return _each_axis(input, second, dtype if output is None else output, mode, cval, (), {}, axes, norm=False)


def _by_gaussians(
    function: Any, order: int, input: Any, sigma: Any, output: Any, mode: Any, cval: Any, axes: Any, keywords: Any
) -> GpuArray:
    """Return the sum of second Gaussian derivatives, or the magnitude of first ones."""
    source, dtype = checked(function, input, sigma, output=output, mode=mode, cval=cval, axes=axes, **keywords)
    numbers, every = axes_of(axes, source.ndim), range(source.ndim)
    sigmas = each(sigma, source.ndim if order == 1 or len(numbers) == source.ndim else len(numbers))
    if len(sigmas) < source.ndim:  # the Laplacian is smoothed along its own axes alone
        sigma_of = dict(zip(numbers, sigmas, strict=True))
        sigmas = [sigma_of.get(axis, 0.0) for axis in every]
    radii = each(keywords.get("radius"), source.ndim)

    def derivative(source: GpuArray, axis: int, kind: Any, mode: str, cval: Any) -> GpuArray:
        orders = [order if number == axis else 0 for number in every]
        truncate = keywords.get("truncate", 4.0)
        return _blurred(source, sigmas, orders, [mode] * source.ndim, cval, truncate, radii, every, dtype)

    target = dtype if output is None else output
    return _each_axis(source, derivative, target, mode, cval, (), {}, axes, norm=order == 1)


@mirrors(ndimage.gaussian_laplace, on_host=in_parts(ndimage.gaussian_laplace, by_gaussian))
def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None,
    **kwargs: Any,
) -> GpuArray:  # fmt: skip
    """Return the Laplacian of an array smoothed by a Gaussian."""
    return _by_gaussians(ndimage.gaussian_laplace, 2, input, sigma, output, mode, cval, axes, kwargs)


@mirrors(ndimage.gaussian_gradient_magnitude, on_host=in_parts(ndimage.gaussian_gradient_magnitude, by_gaussian))
def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None,
    **kwargs: Any,
) -> GpuArray:  # fmt: skip
    """Return the magnitude of the gradient of an array smoothed by a Gaussian."""
    return _by_gaussians(ndimage.gaussian_gradient_magnitude, 1, input, sigma, output, mode, cval, axes, kwargs)
