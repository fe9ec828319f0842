"""Counts: by inversion from 0 if the mean is small, else by the ratio of uniforms.

The ratio of uniforms is that of Stadlober ("The ratio of uniforms approach for generating discrete random variates",
1990), with the probabilities of Loader ("Fast and accurate computation of binomial probabilities", 2000).
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from gpuarray.ops import substreams
from gpuarray.ops.rejection import Array, Draws, by_choice, search_accepted, where_valid

#: The counts whose probabilities are computed in about the time of a single one.
_SHORT_TABLE: Final = 1000


def _stirling_rest(k: Array) -> Array:
    """Return log(k!) - k log k + k for integral k."""
    kind = k.dtype.type
    z = kind(1) / (k * k)
    series = kind(1 / 12) - z * (kind(1 / 360) - z * (kind(1 / 1260) - z * kind(1 / 1680)))
    large = kind(0.5) * np.log(kind(2 * np.pi) * k) + series / k
    few = np.clip(k, 1, 9)
    factorial = np.array([1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880], k.dtype)[few.astype(np.int64)]
    small = np.log(factorial) - few * np.log(few) + few
    return np.where(k < 0.5, kind(0), np.where(k < 9.5, small, large))


def _deviance(x: Array, m: Array) -> Array:
    """Return x log(x / m) + m - x without cancellation where x and m are close."""
    kind = x.dtype.type
    difference = x - m
    v = difference / (x + m)
    z = v * v
    series = np.full_like(x, kind(1 / 15))
    for odd in (13, 11, 9, 7, 5, 3):
        series = kind(1 / odd) + z * series
    near = difference * v + kind(2) * x * v * z * series
    far = x * np.log(x / m) + m - x
    close = np.abs(difference) < kind(0.1) * (x + m)
    return np.where(x < 0.5, m, np.where(close, near, far))


def _log_binomial(k: Array, n: Array, p: Array, q: Array) -> Array:
    rest = _stirling_rest(n) - _stirling_rest(k) - _stirling_rest(n - k)
    return rest - _deviance(k, n * p) - _deviance(n - k, n * q)


def _by_ratio(
    draws: Draws,
    log_chance: Callable[..., Array],
    mean: Array,
    variance: Array,
    mode: Array,
    most: Array,
    *parameters: Array,
) -> Array:
    """Return counts k with the log-probabilities ``log_chance(k, *parameters)``, up to a constant."""
    kind = draws.kind.type
    half = kind(0.5)

    def propose(
        draws: Draws,
        attempts: Any,
        mean: Array,
        width: Array,
        mode: Array,
        most: Array,
        highest: Array,
        *parameters: Array,
    ) -> tuple[Array, Array]:
        u, v = draws.uniforms(attempts)
        k = np.floor(mean + half + width * (v - half) / u)
        inside = (k >= 0) & (k <= most)
        chance = log_chance(np.where(inside, k, mode), *parameters)
        return k, inside & (kind(2) * np.log(u) <= chance - highest)

    width = kind(1.7155277699214135) * np.sqrt(variance + half) + kind(0.8989161620588988)
    log_chance = _tabulated(log_chance, variance, mode, most, parameters, draws.numbers.size)
    highest = log_chance(mode, *parameters)
    counts = search_accepted(draws, propose, mean, width, mode, most, highest, *parameters)
    return np.minimum(np.maximum(counts, kind(0)), most)


def _tabulated(
    log_chance: Callable[..., Array], variance: Array, mode: Array, most: Array, parameters: Sequence[Array], size: int
) -> Callable[..., Array]:
    """Return a function that reads log-probabilities of counts from a table, if all elements have the same parameters.

    By Bernstein's inequality a count outside the table has less than exp(-78) times the probability of the mode. No
    number of 53 bits accepts it, nor the end of the table, which stands for it.
    """
    if any(values.size > 1 for values in (variance, mode, most, *parameters)):
        return log_chance
    reach = 13 * math.sqrt(variance.item()) + 40
    first = max(0.0, math.floor(mode.item() - reach))
    last = min(most.item(), math.ceil(mode.item() + reach))
    if last - first > max(_SHORT_TABLE, size // 4):
        return log_chance
    table = log_chance(np.arange(first, last + 1, dtype=mode.dtype), *parameters)
    return lambda k, *_: table[(np.clip(k, first, last) - mode.dtype.type(first)).astype(np.intp)]


def _by_inversion(draws: Draws, start: Array, mean: Array, ratio: Callable[..., Array], *parameters: Array) -> Array:
    """Return counts by inversion.

    0 has the probability ``start``, and k that of k - 1 times ``ratio(k, *parameters)``.
    """
    left, _ = draws.uniforms(0)
    successes = np.zeros(left.shape, np.int16)
    smallest = 1e-10 if draws.kind == np.float32 else 1e-19
    chance, mean, *rest = [v[0] if v.size == 1 else v for v in (start, mean, *parameters)]
    on = left > chance
    for k in range(1, 1001):
        if not on.any():
            break
        successes += on
        left -= chance  # nowhere above the next chances where it was not above this one
        chance = chance * ratio(draws.kind.type(k), *rest)
        on = left > chance
        on &= (k < mean) | (chance > smallest)
    return successes.astype(draws.kind)


def poisson(draws: Draws, mean: Array) -> Array:
    """Return Poisson numbers of means."""

    def by_inversion(draws: Draws, m: Array) -> Array:
        return _by_inversion(draws, np.exp(-m), m, lambda k, m: m / k, m)

    def by_ratio(draws: Draws, m: Array) -> Array:
        most = np.full_like(m, 9.2233714e18)
        return _by_ratio(draws, lambda k, m: -_stirling_rest(k) - _deviance(k, m), m, m, np.floor(m), most, m)

    def sampler(draws: Draws, m: Array) -> Array:
        return by_choice(draws, m < 10, by_inversion, by_ratio, m)

    return where_valid(draws, (mean >= 0) & np.isfinite(mean), sampler, np.nan, mean)


def binomial(draws: Draws, n: Array, p: Array) -> Array:
    """Return binomial numbers of n trials and probabilities p."""
    one = draws.kind.type(1)

    def by_inversion(draws: Draws, n: Array, p: Array) -> Array:
        start = np.exp(n * np.log1p(-p))
        return _by_inversion(draws, start, n * p, lambda k, n, odds: (n - k + one) / k * odds, n, p / (one - p))

    def by_ratio(draws: Draws, n: Array, p: Array) -> Array:
        mean = n * p
        mode, q = np.floor((n + one) * p), one - p
        return _by_ratio(draws, _log_binomial, mean, mean * q, mode, n, n, p, q)

    def sampler(draws: Draws, n: Array, p: Array) -> Array:
        less = np.where(p > 0.5, one - p, p)
        k = by_choice(draws, n * less < 10, by_inversion, by_ratio, n, less)
        return np.where(p > 0.5, n - k, k)

    return where_valid(draws, np.isfinite(n) & (n >= 0) & (p >= 0) & (p <= 1), sampler, np.nan, n, p)


def hypergeometric(draws: Draws, good: Array, bad: Array, sample: Array) -> Array:
    """Return hypergeometric numbers of good items, bad items and sizes of samples."""
    one = draws.kind.type(1)

    def by_draws(stream: Draws, less: Array, more: Array, taken: Array) -> Array:
        k, left = np.zeros(stream.numbers.shape, stream.kind), less + more
        most = int(taken.max())
        step = 1 + substreams.TOGETHER // 2 // stream.numbers.size
        for first in range(0, most, step):
            draws = np.arange(first, min(first + step, most), dtype=np.uint64)[:, None]
            for draw, share in zip(draws, stream.uniforms(draws)[0], strict=True):
                still = draw < taken
                k += still & (share * left <= less - k)
                left = left - still
        return k

    def by_ratio(stream: Draws, less: Array, more: Array, taken: Array) -> Array:
        every = less + more
        share, chance = less / every, taken / every
        mean = taken * share
        variance = mean * (one - share) * (every - taken) / (every - one)

        def log_chance(k: Array, less: Array, more: Array, taken: Array, p: Array, q: Array) -> Array:
            return _log_binomial(k, less, p, q) + _log_binomial(taken - k, more, p, q)

        mode = np.floor((taken + one) * ((less + one) / (every + draws.kind.type(2))))
        most = np.minimum(taken, less)
        return _by_ratio(stream, log_chance, mean, variance, mode, most, less, more, taken, chance, one - chance)

    def sampler(draws: Draws, good: Array, bad: Array, sample: Array) -> Array:
        taken = np.minimum(sample, good + bad - sample)
        k = by_choice(draws, taken < 10, by_draws, by_ratio, np.minimum(good, bad), np.maximum(good, bad), taken)
        k = np.where(good > bad, taken - k, k)
        return np.where(sample > taken, good - k, k)

    every = good + bad
    valid = np.isfinite(every) & (good >= 0) & (bad >= 0) & (sample >= 0) & (sample <= every)
    return where_valid(draws, valid, sampler, np.nan, good, bad, sample)
