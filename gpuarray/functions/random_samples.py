"""Samples and permutations of ``numpy.random.Generator``, and its multivariate distributions.

A permutation is the order that sorts as many 64-bit words of the stream.
"""

import math
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.device import Device
from gpuarray.functions.arguments import ArrayLike, DTypeLike, as_array
from gpuarray.functions.indexing import take, take_along_axis
from gpuarray.functions.random_arguments import Size, check, counted, joint_shape, probabilities
from gpuarray.functions.random_discrete import Discrete
from gpuarray.functions.random_source import ahead
from gpuarray.functions.searching import searchsorted
from gpuarray.functions.sorting import argsort
from gpuarray.graph import build
from gpuarray.graph.layouts import Shape
from gpuarray.graph.shapes import normalize_axis, resolve_shape
from gpuarray.ops import generators, philox, samplers
from gpuarray.source_locations import warn


class Samples(Discrete):
    """The methods of random generators that sample, permute, or return vectors."""

    def bytes(self, length: int) -> bytes:
        """Return ``length`` random bytes, computed on the host, the same as NumPy's for the same state."""
        count = max(-(-length // 4), 1)  # as in NumPy, 0 bytes take half a word too
        halves = philox.words32(range(count), self._bits.take_halves(count))
        return halves.astype("<u4").tobytes()[:length]

    @ahead
    def permutation(self, x: int | ArrayLike, axis: int = 0) -> GpuArray:
        """Return the integers below ``x``, or the subarrays of an array along an axis, in a random order.

        Parameters
        ----------
        x : int or array_like
            The number of integers, or an array, which is not changed.
        axis : int
            The axis to permute.
        """
        x = counted(x)
        if isinstance(x, int | np.integer):
            return self._order((int(x),), self._device_for())
        array = as_array(x, self._device_for(x))
        number = normalize_axis(axis, array.ndim)
        count = array.shape[number]
        is_here = array.device is self._device_for()
        order = self.permutation(count) if is_here else self._order((count,), array.device)
        return take(array, order, axis=number)

    def shuffle(self, x: GpuArray, axis: int = 0) -> None:
        """Permute the subarrays of an array along an axis in place.

        Parameters
        ----------
        x : GpuArray
            The array to permute.
        axis : int
            The axis to permute.

        Raises
        ------
        TypeError
            If ``x`` is not a GpuArray.
        """
        if not isinstance(x, GpuArray):
            raise TypeError(f"shuffle takes a GpuArray, not a {type(x).__name__}")
        x[...] = self.permutation(x, axis)

    def permuted(self, x: ArrayLike, *, axis: int | None = None, out: Any = None) -> GpuArray:
        """Return an array in which each line along an axis is permuted independently.

        Parameters
        ----------
        x : array_like
            The array, which is not changed unless it is ``out``.
        axis : int, optional
            The axis to permute; by default the flattened array is permuted.
        out : GpuArray, optional
            An array of the same shape and dtype to write to, which may be ``x``.

        Raises
        ------
        TypeError
            If ``out`` is not a GpuArray, or its dtype differs.
        ValueError
            If its shape differs.
        """
        array = as_array(x, self._device_for(x))
        if out is not None:
            if not isinstance(out, GpuArray) or out.dtype != array.dtype:
                raise TypeError(f"out must be a GpuArray of {array.dtype.name}, which x has")
            if out.shape != array.shape:
                raise ValueError(f"out must have the same shape as x: {out.shape} is not {array.shape}")
        lines = array.reshape(-1) if axis is None else array
        number = normalize_axis(-1 if axis is None else axis, lines.ndim)
        order = argsort(self._keys(lines.shape, array.device), axis=number)
        shuffled = take_along_axis(lines, order, axis=number).reshape(array.shape)
        if out is None:
            return shuffled
        out[...] = shuffled
        return out

    def choice(
        self,
        a: int | ArrayLike,
        size: Size = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> GpuArray:
        """Return a random sample of the integers below ``a``, or of the subarrays of an array along an axis.

        With replacement the sample is that of NumPy if the :meth:`integers` are.

        Parameters
        ----------
        a : int or array_like
            The number of integers, or the array.
        size : int or tuple of int, optional
            The shape of the sample; by default a single element or subarray.
        replace : bool
            Whether to sample with replacement.
        p : array_like, optional
            The probabilities, which are read at the call; by default they are equal.
        axis : int
            The axis of ``a``.
        shuffle : bool
            Accepted as in NumPy, without effect: samples are in random order.

        Raises
        ------
        ValueError
            If the population is empty, a sample without replacement is larger than it, or ``p`` are not probabilities.
        """
        a = counted(a)
        if isinstance(a, int | np.integer):
            return self._below_number(int(a), size, replace, p)
        source = as_array(a, self._device_for(a))
        number = normalize_axis(axis, source.ndim)
        return take(source, self._sample_below(source.shape[number], size, replace, p, source.device), axis=number)

    @ahead
    def _below_number(self, population: int, size: Size, replace: bool, p: ArrayLike | None) -> GpuArray:
        return self._sample_below(population, size, replace, p, self._device_for())

    def _sample_below(
        self, population: int, size: Size, replace: bool, p: ArrayLike | None, device: Device
    ) -> GpuArray:
        """Return a sample of the integers below a number."""
        shape = resolve_shape(() if size is None else size)
        if population <= 0 and (count := math.prod(shape)):
            raise ValueError(f"a must be a positive integer or not empty to choose {count} from it")
        chances = None if p is None else probabilities(p, population)
        sample = self._with_replacement if replace else self._distinct
        return sample(population, shape, chances, device)

    def _with_replacement(self, population: int, shape: Shape, chances: Any, device: Device) -> GpuArray:
        if chances is None:
            spec = self._spec(shape, dtypes.int64, device)
            return spec.array(self._evenly(spec, 0, max(population, 1) - 1))
        bounds = np.cumsum(chances)
        spec = self._spec(shape, dtypes.float64, device)
        drawn = spec.array(self._uniform(spec))
        return searchsorted(as_array(bounds / bounds[-1], device), drawn, side="right")

    def _distinct(self, population: int, shape: Shape, chances: Any, device: Device) -> GpuArray:
        count = math.prod(shape)
        if count > population:
            raise ValueError(
                f"Cannot take a larger sample than population when replace is False: {count} of {population}"
            )
        if chances is None:
            order = self._order((population,), device)
            return order[..., :count].reshape(self._spec(shape, dtypes.int64, device).shape).copy()
        if np.count_nonzero(chances) < count:
            raise ValueError(f"Fewer non-zero entries in p than size: {np.count_nonzero(chances)} for {count}")
        # sorted exponential times with the rates p are in the order of successive choices (Efraimidis, Spirakis, 2006)
        spec = self._spec((population,), dtypes.float64, device)
        times = spec.array(self._exponential(spec))
        with np.errstate(divide="ignore"):
            mean = as_array(1.0 / chances, device)
        order = argsort((times + np.finfo(np.float64).tiny) * mean)
        return order[..., :count].reshape(self._spec(shape, dtypes.int64, device).shape).copy()

    def _keys(self, shape: tuple[int, ...], device: Device) -> GpuArray:
        spec = self._spec(shape, dtypes.uint64, device)
        if spec.is_immediate:
            return spec.array(self._bits.words(spec.size).reshape(spec.shape))
        stream = self._bits.take_words(spec.size)
        return spec.array(build.generate(generators.random_bits, stream.parameters, spec.shape, spec.kind))

    def _order(self, shape: tuple[int, ...], device: Device) -> GpuArray:
        """Return permutations of the integers below the last extent."""
        return argsort(self._keys(shape, device))

    # -- several numbers -----------------------------------------------------------------------------------------------

    @ahead
    def dirichlet(self, alpha: ArrayLike, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return vectors of the Dirichlet distribution, whose elements add up to 1.

        Parameters
        ----------
        alpha : array_like
            The parameters, not negative, along one axis.
        size : int or tuple of int, optional
            The shape of the result without the last axis.
        dtype : {float32, float64}, optional
            By default the default floating dtype.

        Raises
        ------
        ValueError
            If ``alpha`` does not have one axis, or is negative.
        """
        check("not negative", alpha=alpha)
        if np.ndim(alpha) != 1:
            raise ValueError(f"alpha must have one axis; its shape is {np.shape(alpha)}")
        spec, (a,) = self._arguments((*joint_shape(size), np.shape(alpha)[0]), dtype, alpha)
        logarithms = spec.array(self._sample(samplers.sample_log_gamma, spec, a))
        parts = np.exp(logarithms - logarithms.max(axis=-1, keepdims=True))
        return parts / parts.sum(axis=-1, keepdims=True)

    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
        dtype: DTypeLike = None,
    ) -> GpuArray:
        """Return vectors of the multivariate normal distribution.

        Parameters
        ----------
        mean : array_like
            The mean vector, of n elements.
        cov : array_like
            The covariance matrix, n x n, which is read at the call and factorised on the host.
        size : int or tuple of int, optional
            The shape of the result without the last axis.
        check_valid : {"warn", "raise", "ignore"}
            What to do if the matrix is not symmetric and positive semidefinite.
        tol : float
            The tolerance of this check.
        method : {"svd", "eigh", "cholesky"}
            The factorisation.
        dtype : {float32, float64}, optional
            By default the default floating dtype.

        Raises
        ------
        ValueError
            If shapes do not match, an option is unknown, or ``check_valid`` is "raise" and the matrix is not valid.
        numpy.linalg.LinAlgError
            If the method is "cholesky" and the matrix is not positive definite.
        """
        if method not in ("svd", "eigh", "cholesky"):
            raise ValueError(f"method must be one of {{'eigh', 'svd', 'cholesky'}}; {method!r} was given")
        if check_valid not in ("warn", "raise", "ignore"):
            raise ValueError(f"check_valid must equal 'warn', 'raise', or 'ignore'; {check_valid!r} was given")
        centre, matrix = (np.asarray(v.get() if isinstance(v, GpuArray) else v) for v in (mean, cov))
        if centre.ndim != 1:
            raise ValueError(f"mean must be 1 dimensional; its shape is {centre.shape}")
        if matrix.shape != (centre.size, centre.size):
            raise ValueError(f"mean and cov must have same length: {centre.shape} and {matrix.shape} were given")
        spec, _ = self._arguments((*joint_shape(size), centre.size), dtype)
        factor = _factor(matrix.astype(np.float64), method, check_valid, tol)
        drawn = spec.array(self._normal(spec)).reshape((-1, centre.size))
        spread = drawn @ as_array(factor.astype(spec.kind), spec.device)
        return spread.reshape(spec.shape) + as_array(centre.astype(spec.kind), spec.device)


def _factor(matrix: Any, method: str, check_valid: str, tol: float) -> Any:
    """Return a matrix whose transpose times itself is the covariance matrix."""
    if method == "cholesky":
        return np.linalg.cholesky(matrix).T
    if method == "eigh":
        variances, vectors = np.linalg.eigh(matrix)
        is_valid = not np.any(variances < -tol)
        rows = vectors.T
    else:
        _, variances, rows = np.linalg.svd(matrix)
        is_valid = np.allclose(np.dot(rows.T * variances, rows), matrix, rtol=tol, atol=tol)
    if check_valid != "ignore" and not is_valid:
        words = "covariance is not symmetric positive-semidefinite."
        if check_valid == "raise":
            raise ValueError(words)
        warn(words, RuntimeWarning)
    return np.sqrt(np.abs(variances))[:, None] * rows
