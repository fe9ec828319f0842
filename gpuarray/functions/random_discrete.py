"""Random integers: uniform ones as NumPy makes them, and the discrete distributions of ``numpy.random.Generator``.

Counts are drawn as floating numbers of the default floating dtype and converted to int64, so not every integer beyond
2**53 (2**24 in single precision) can occur.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, default_dtype, make
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import ArrayLike, DTypeLike, as_array
from gpuarray.functions.elementwise import maximum
from gpuarray.functions.joining import stack
from gpuarray.functions.manipulation import reshape
from gpuarray.functions.random_arguments import Size, check, host_integers, joint_shape, known
from gpuarray.functions.random_source import ArraySource, ResultSpec, ahead, cast, mapped
from gpuarray.graph import build
from gpuarray.graph.nodes import Node
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators, samplers

_map = mapped
_MASK = 0xFFFFFFFF
#: By width in bits, the binary logarithm of the number of integers that NumPy makes of half a word.
_SHARES = {1: 5, 8: 2, 16: 1, 32: 0}
_MOST_OF_A_COLOUR = 10**9


class Discrete(ArraySource):
    """The methods of random generators that return integers."""

    @ahead
    def integers(
        self,
        low: ArrayLike,
        high: ArrayLike | None = None,
        size: Size = None,
        dtype: DTypeLike = None,
        endpoint: bool = False,
    ) -> GpuArray:
        """Return uniform integers of a range.

        If the size of the range is a power of two, they are those of NumPy for the same state. For other ranges they
        are the same until NumPy rejects a number. The probability of that is below ``n * k / 2**bits`` for ``n``
        numbers of a range of size ``k``, where ``bits`` is 32 for ranges up to 2**32, 64 for larger ones, and 8 and 16
        for dtypes of that size. A rejected number is drawn again from another stream, and the others stay as they are.
        Ranges that differ between elements draw from a substream.

        Parameters
        ----------
        low, high : int or array_like of int
            The ends of the range, of which ``high`` is excluded. Without ``high`` the range is from 0 to ``low``.
        size : int or tuple of int, optional
            The shape of the result; by default the broadcast shape of the bounds.
        dtype : dtype, optional
            Any integer dtype or bool; int64 by default.
        endpoint : bool
            Whether ``high`` is included.

        Raises
        ------
        TypeError
            If the dtype is not an integer dtype, or a bound is not an integer.
        ValueError
            If the range is empty or exceeds that of the dtype; nothing is read from a device.
        """
        kind = default_dtype(int) if dtype is None else dtypes.canonical(dtype)
        if kind.kind not in "biu":
            raise TypeError(f"Unsupported dtype {kind!r} for integers; use an integer dtype or bool")
        low, high = (0, low) if high is None else (low, high)
        spec = self._spec(joint_shape(size, low, high), kind, self._device_for(low, high))
        if isinstance(low, GpuArray) or isinstance(high, GpuArray):
            seen = known(low), known(high)
            if spec.size and seen[0] is not None and seen[1] is not None:
                first, last = (np.asarray(v).astype(object) for v in seen)
                _check_range(first, last - (not endpoint), kind, endpoint)
            return self._of_device_ranges(spec, low, high, endpoint)
        first, last = host_integers(low, "low"), host_integers(high, "high") - (not endpoint)
        several = isinstance(first, np.ndarray) or isinstance(last, np.ndarray)
        if spec.size or not several:
            _check_range(first, last, kind, endpoint)
        if not spec.size:
            return spec.array(build.full(spec.shape, 0, kind))
        if several:
            limit = np.asarray((last - first + 1) & (1 << 64) - 1).astype(np.uint64)
            start = np.asarray(first & (1 << 64) - 1).astype(np.uint64)
            return self._of_ranges(spec, *(as_array(v, spec.device).node() for v in (start, limit)))
        return spec.array(self._evenly(spec, int(first), int(last) - int(first)))

    def _evenly(self, spec: ResultSpec, first: int, spread: int) -> Any:
        """Return uniform integers from ``first`` to ``first + spread`` as NumPy draws them for the dtype."""
        kind = spec.kind
        if not spread:
            return build.full(spec.shape, first, kind)
        width = 1 if kind == dtypes.bool_ else 8 * kind.itemsize
        if width == 64 and spread <= _MASK:
            width = 32
        span = 1 << width
        limit = (spread + 1) % span
        threshold = span % (spread + 1)
        share, word = (0, dtypes.uint64) if width == 64 else (_SHARES[width], dtypes.uint32)
        if spec.is_immediate:
            drawn = self._bits.below(spec.size, share, limit, threshold, word)
            integers: Any = drawn.reshape(spec.shape).astype(kind)
        else:
            stream = self._bits.take_words(spec.size) if width == 64 else self._bits.take_halves(-(-spec.size >> share))
            numbers = limit & _MASK, limit >> 32, threshold & _MASK, threshold >> 32
            parameters = (*stream.parameters, share, *numbers)
            integers = build.cast(build.generate(generators.random_below, parameters, spec.shape, word), kind)
        return _map(ops.add, integers, build.full((), first, kind)) if first else integers

    def _of_ranges(self, spec: ResultSpec, start: Node, limit: Node) -> GpuArray:
        """Return integers from ``start`` to ``start + limit - 1``, in uint64 modulo 2**64; a limit of 0 is 2**64."""
        integers = _map(ops.add, self._below(spec, limit), start)
        return spec.array(build.cast(integers, spec.kind))

    def _below(self, spec: ResultSpec, limit: Node) -> Any:
        numbers = build.generate(generators.arange, (0, 1), spec.shape, dtypes.uint32)
        words = [build.full((), word, dtypes.uint32) for word in self._substream(spec)]
        return _map(samplers.sample_below, limit, numbers, *words)

    def _of_device_ranges(self, spec: ResultSpec, low: ArrayLike, high: ArrayLike, endpoint: bool) -> GpuArray:
        first, last = (build.cast(as_array(v, spec.device).node(), dtypes.uint64) for v in (low, high))
        limit = _map(ops.subtract, last, first)
        if endpoint:
            limit = _map(ops.add, limit, build.full((), 1, dtypes.uint64))
        return self._of_ranges(spec, first, limit)

    # -- counts --------------------------------------------------------------------------------------------------------

    @ahead
    def poisson(self, lam: ArrayLike = 1.0, size: Size = None) -> GpuArray:
        """Return numbers of the Poisson distribution, as int64.

        Parameters
        ----------
        lam : float or array_like
            The mean, from 0 to 9.2e18.
        size : int or tuple of int, optional
            The shape of the result; by default that of ``lam``.

        Raises
        ------
        ValueError
            If the mean is out of range, or does not broadcast to ``size``.
        """
        check("mean of counts", lam=lam)
        spec, (lam,) = self._arguments(size, None, lam)
        return spec.counts(self._sample(samplers.sample_poisson, spec, lam))

    @ahead
    def binomial(self, n: ArrayLike, p: ArrayLike, size: Size = None) -> GpuArray:
        """Return numbers of the binomial distribution: successes in ``n`` trials of probability ``p``, as int64.

        Parameters
        ----------
        n : int or array_like of int
            Number of trials, not negative; floats are truncated.
        p : float or array_like
            Probability of success, from 0 to 1.
        size : int or tuple of int, optional
            The shape of the result; by default the broadcast shape of the parameters.

        Raises
        ------
        ValueError
            If a parameter is out of range, or they do not broadcast to ``size``.
        """
        check("chance", p=p)
        check("not negative", n=n)
        spec, (n, p) = self._arguments(size, None, n, p)
        return spec.counts(self._sample(samplers.sample_binomial, spec, _whole(n), p))

    @ahead
    def negative_binomial(self, n: ArrayLike, p: ArrayLike, size: Size = None) -> GpuArray:
        """Return numbers of the negative binomial distribution: failures before ``n`` successes, as int64.

        They are Poisson numbers whose means are gamma numbers. ``n`` is positive and need not be an integer; ``p``, the
        probability of success, is in (0, 1].
        """
        check("positive number", n=n)
        check("positive chance", p=p)
        spec, (n, p) = self._arguments(size, None, n, p)
        odds = _map(ops.divide, _map(ops.subtract, spec.constant(1), p), p)
        mean = _map(ops.multiply, self._gamma(spec, n), odds)
        return spec.counts(self._sample(samplers.sample_poisson, spec, mean))

    @ahead
    def geometric(self, p: ArrayLike, size: Size = None) -> GpuArray:
        """Return numbers of the geometric distribution: trials of probability ``p`` up to the first success, as int64.

        They are exponential numbers, rounded up and limited to the largest int64. ``p`` is in (0, 1].
        """
        check("positive chance", p=p)
        spec, (p,) = self._arguments(size, None, p)
        rate = _map(ops.negative, _map(ops.log1p, _map(ops.subtract, spec.constant(0), p)))
        trials = _map(ops.ceil, _map(ops.divide, self._exponential(spec), rate))
        return _saturated(spec, _map(ops.maximum, trials, 1.0))

    @ahead
    def logseries(self, p: ArrayLike, size: Size = None) -> GpuArray:
        """Return numbers of the logarithmic series distribution by Kemp's method, as int64; ``p`` is in [0, 1)."""
        check("chance below 1", p=p)
        spec, (p,) = self._arguments(size, None, p)
        probability = p if not isinstance(p, float) else spec.constant(p)
        v = _map(ops.subtract, 1.0, self._uniform(spec))
        power = _map(ops.multiply, self._uniform(spec), _map(ops.log1p, _map(ops.negative, probability)))
        q = _map(ops.negative, _map(ops.expm1, power))
        many = _map(ops.floor, _map(ops.add, _map(ops.divide, _map(ops.log, v), _map(ops.log, q)), 1.0))
        few = _map(ops.where, _map(ops.greater_equal, v, q), spec.constant(1), spec.constant(2))
        tail = _map(ops.less_equal, v, _map(ops.square, q))
        number = _map(ops.where, tail, _map(ops.maximum, many, 1.0), few)
        return _saturated(spec, _map(ops.where, _map(ops.greater_equal, v, probability), spec.constant(1), number))

    @ahead
    def zipf(self, a: ArrayLike, size: Size = None) -> GpuArray:
        """Return numbers of the Zipf distribution by Devroye's method, as int64; the exponent ``a`` is above 1."""
        check("above 1", a=a)
        spec, (a,) = self._arguments(size, None, a)
        return _saturated(spec, self._sample(samplers.sample_zipf, spec, a))

    @ahead
    def hypergeometric(self, ngood: ArrayLike, nbad: ArrayLike, nsample: ArrayLike, size: Size = None) -> GpuArray:
        """Return numbers of the hypergeometric distribution: good items in a sample without replacement, as int64.

        Parameters
        ----------
        ngood, nbad : int or array_like of int
            Numbers of good and bad items, not negative and below 10**9.
        nsample : int or array_like of int
            Size of the sample, at most the number of items.
        size : int or tuple of int, optional
            The shape of the result; by default the broadcast shape of the parameters.

        Raises
        ------
        ValueError
            If a parameter is out of range, or they do not broadcast to ``size``.
        """
        check("not negative", ngood=ngood, nbad=nbad, nsample=nsample)
        seen = [known(v) for v in (ngood, nbad, nsample)]
        if not any(v is None for v in seen):
            good, bad, sample = map(np.asarray, seen)
            if np.any(good >= _MOST_OF_A_COLOUR) or np.any(bad >= _MOST_OF_A_COLOUR):
                raise ValueError(f"both ngood and nbad must be less than {_MOST_OF_A_COLOUR}")
            if np.any(good + bad < sample):
                raise ValueError(f"ngood + nbad < nsample: {ngood} + {nbad} < {nsample}")
        spec, (ngood, nbad, nsample) = self._arguments(size, None, ngood, nbad, nsample)
        return spec.counts(
            self._sample(samplers.sample_hypergeometric, spec, _whole(ngood), _whole(nbad), _whole(nsample))
        )

    # -- counts of several kinds ---------------------------------------------------------------------------------------

    @ahead
    def multinomial(self, n: ArrayLike, pvals: ArrayLike, size: Size = None) -> GpuArray:
        """Return numbers of the multinomial distribution: how often each outcome occurs in ``n`` trials, as int64.

        Binomial numbers split each count between two halves of the outcomes, level by level, in ``ceil(log2(k))`` steps
        for k outcomes.

        Parameters
        ----------
        n : int or array_like of int
            Number of trials.
        pvals : array_like
            Probabilities along the last axis, which broadcast with ``n``. The last one is 1 minus the others.
        size : int or tuple of int, optional
            The shape of the result without the last axis.

        Raises
        ------
        ValueError
            If a parameter is out of range; nothing is read from a device.
        """
        check("not negative", n=n)
        check("chance", pvals=pvals)
        if np.ndim(pvals) < 1 or np.shape(pvals)[-1] == 0:
            raise ValueError("pvals must have at least 1 dimension and the last dimension must not be empty")
        if (seen := known(pvals)) is not None:
            first = np.asarray(seen, np.float64)[..., :-1]
            if np.any(first.sum(-1) > 1 + 1e-12):
                raise ValueError(f"sum(pvals[:-1]) > 1.0: it is {first.sum(-1).max()}; chances may not exceed 1 in all")
        whole, _ = self._arguments(None, None, pvals)
        chances = as_array(pvals, whole.device).astype(whole.kind, copy=False)
        trials = as_array(n, whole.device).astype(whole.kind, copy=False)
        shape = joint_shape(size, trials, chances[..., 0])
        others = chances[..., :-1]
        rest = as_array(1.0, whole.device) - others.sum(-1)
        parts = [others[..., k] for k in range(others.shape[-1])]
        parts.append(maximum(rest.astype(whole.kind, copy=False), 0.0))

        def split(spec: ResultSpec, left: Any, both: Any, count: Any) -> Any:
            share = _map(ops.divide, left, _map(ops.maximum, both, float(np.finfo(spec.kind).tiny)))
            share = _map(ops.minimum, share, 1.0)
            return self._sample(samplers.sample_binomial, spec, count, share)

        return self._split(parts, trials, shape, whole.kind, split)

    @ahead
    def multivariate_hypergeometric(
        self, colors: ArrayLike, nsample: int, size: Size = None, method: str = "marginals"
    ) -> GpuArray:
        """Return how many items of each colour are in a sample without replacement, as int64.

        Parameters
        ----------
        colors : array_like of int
            Number of items of each colour, along one axis; below 10**9 in total.
        nsample : int
            Size of the sample.
        size : int or tuple of int, optional
            The shape of the result without the last axis.
        method : {"marginals", "count"}
            Accepted as in NumPy, without effect: counts are split as in :meth:`multinomial`.

        Raises
        ------
        ValueError
            If a parameter is out of range.
        """
        if method not in ("marginals", "count"):
            raise ValueError(f'method must be "count" or "marginals"; {method!r} was given')
        host_colors = np.asarray(colors.get() if isinstance(colors, GpuArray) else colors)
        if host_colors.ndim != 1 or (
            host_colors.size and (host_colors.dtype.kind not in "iu" or host_colors.min() < 0)
        ):
            raise ValueError("colors must be a one-dimensional sequence of nonnegative integers")
        count, total = int(nsample), int(host_colors.sum())
        if count < 0:
            raise ValueError(f"nsample must be nonnegative; {count} was given")
        if total >= _MOST_OF_A_COLOUR:
            raise ValueError(f"sum(colors) must be less than {_MOST_OF_A_COLOUR}; it is {total}")
        if count > total:
            raise ValueError(f"nsample > sum(colors): {count} > {total}")
        whole, _ = self._arguments((), None)
        shape = joint_shape(size)
        if not host_colors.size:
            return whole.array(build.full((*shape, 0), 0, dtypes.int64))
        parts = [as_array(whole.kind.type(number), whole.device) for number in host_colors.tolist()]

        def split(spec: ResultSpec, left: Any, both: Any, drawn: Any) -> Any:
            right = _map(ops.subtract, both, left)
            return self._sample(samplers.sample_hypergeometric, spec, left, right, drawn)

        return self._split(parts, as_array(whole.kind.type(count), whole.device), shape, whole.kind, split)

    def _split(
        self, parts: list[GpuArray], count: GpuArray, shape: tuple[int, ...], kind: DType, split: Any
    ) -> GpuArray:
        """Return counts split among parts along a new last axis, level by level.

        ``split(spec, left, both, count)`` returns the part of a count that goes to the first of two groups.
        """
        levels = max(len(parts) - 1, 0).bit_length()
        zero = parts[0] * 0
        padded = stack([zero + count for count in parts] + [zero] * ((1 << levels) - len(parts)), axis=-1)
        sums = [padded]
        for _ in range(levels):
            lower = sums[-1]
            sums.append(reshape(lower, (*lower.shape[:-1], lower.shape[-1] // 2, 2)).sum(-1))
        first = self._spec((*shape, 1), kind, count.device)
        counts = (count + zero * 0)[..., None] + make(build.full(first.shape, 0, kind), count.device)
        for lower, both in zip(sums[-2::-1], sums[:0:-1], strict=True):
            spec = self._spec((*shape, counts.shape[-1]), kind, counts.device)
            left = spec.array(split(spec, *[spec.operand(array) for array in (lower[..., 0::2], both, counts)]))
            counts = reshape(stack([left, counts - left], axis=-1), (*counts.shape[:-1], 2 * counts.shape[-1]))
        return counts[..., : len(parts)].astype(dtypes.int64)


def _whole(value: Any) -> Any:
    """Return a number or a node, rounded down."""
    return float(math.floor(value)) if isinstance(value, float) else _map(ops.floor, value)


def _saturated(spec: ResultSpec, counts: Any) -> GpuArray:
    """Return integral floating numbers as int64, limited to the largest int64."""
    largest = build.full((), np.iinfo(np.int64).max, dtypes.int64)
    fits = _map(ops.less, counts, 2.0**63)
    inside = cast(_map(ops.where, fits, counts, spec.constant(0)), dtypes.int64)
    return spec.array(_map(ops.where, fits, inside, largest))


@lru_cache
def _limits(kind: DType) -> tuple[int, int]:
    return (0, 1) if kind.kind == "b" else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))


def _check_range(first: Any, last: Any, kind: DType, endpoint: bool) -> None:
    """Raise ValueError, as NumPy does, if the range from ``first`` to ``last`` is empty or exceeds the dtype's."""
    least, most = _limits(kind)
    if type(first) is int and type(last) is int and least <= first <= last <= most:
        return
    for name, value, broken in (("low", first, first < least), ("high", last, last > most)):
        if np.any(broken):
            raise ValueError(f"{name} is out of bounds for {kind.name}: {value} is not from {least} to {most}")
    if np.any(first > last):
        what = f"high {'<' if endpoint else '<='} 0" if not np.any(first) else f"low {'>' if endpoint else '>='} high"
        raise ValueError(f"{what}: there are no integers from {first} to {last}")
