"""Samplers: elementwise operations that draw a number of a distribution for each element, by rejection.

The operands are the parameters of the distribution, the number of the element, and the four words of a substream (see
:mod:`gpuarray.ops.substreams`). Each element draws from its own blocks until a number is accepted, so it does not
depend on other elements. Results are floating numbers, even if they are integral; the caller converts them.

The references take the same steps as the kernels in ``codegen/math/samplers.generic.wgsl``, many elements at once.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.ops import philox, substreams
from gpuarray.ops.spec import MapOp, Signature

Array = npt.NDArray[Any]

#: The largest number of attempts of an element; each succeeds with a probability above 1/2.
ATTEMPTS: Final = 64
#: The attempts of several elements that are made at once, in about the time of a single one.
_FEW: Final = 2000
#: The counts whose probabilities are computed in about the time of a single one.
_SHORT_TABLE: Final = 1000
#: Numbers of attempts whose blocks serve for decisions outside the search.
_DECISION: Final = 0xFFFFFFFF
_NORMAL_DECISION: Final = 0x7FFFFFFF


class _Draws:
    """The source of numbers of some elements: their numbers, the substream, and the dtype."""

    def __init__(self, numbers: Array, stream: substreams.Substream, kind: np.dtype[Any]) -> None:
        self.numbers = numbers
        self.stream = stream
        self.kind = kind

    def at(self, positions: Array) -> "_Draws":
        return _Draws(self.numbers[positions], self.stream, self.kind)

    def uniforms(self, attempts: Any) -> tuple[Array, Array]:
        """Return two uniform numbers in (0, 1] for each element and attempt, which broadcast."""
        return substreams.pair_of_uniforms(self.numbers, attempts, self.stream, self.kind)

    def normal_and_uniform(self, attempts: Any) -> tuple[Array, Array]:
        """Return a normal number and a uniform number in (0, 1] for each element and attempt, which broadcast."""
        pair = np.arange(2, dtype=np.uint64).reshape(2, *np.ones(max(np.ndim(attempts), 1), int))
        (first, share), (angle, _) = self.uniforms(np.multiply(attempts, 2, dtype=np.uint64) + pair)
        angle *= self.kind.type(2 * np.pi)
        return np.sqrt(self.kind.type(-2) * np.log(first)) * np.cos(angle), share


Sampler = Callable[..., Any]


def _reference(parameters: int, sampler: Sampler) -> Callable[..., Array]:
    """Return the reference of a sampler.

    It calls ``sampler(draws, *parameters)``. Each parameter is a line with an element for each draw, or with a single
    one for all draws.
    """

    def reference(*operands: Any, out: Array) -> Array:
        values, words = operands[: parameters + 1], operands[parameters + 1 :]
        shape = np.broadcast_shapes(*map(np.shape, values))
        *lines, numbers = [np.reshape(v if np.size(v) == 1 else np.broadcast_to(v, shape), -1) for v in values]
        numbers = np.broadcast_to(numbers, math.prod(shape))
        stream = substreams.Substream(*(np.asarray(word).reshape(-1)[0] for word in words))
        result = np.empty(numbers.size, out.dtype)
        with np.errstate(all="ignore"):
            for piece in substreams.pieces(numbers.size):
                draws = _Draws(numbers[piece], stream, out.dtype)
                result[piece] = sampler(draws, *(_at(v, piece).astype(out.dtype, copy=False) for v in lines))
        out[...] = result.reshape(shape)
        return out

    return reference


def _at(values: Array, positions: Any) -> Array:
    """Return the values of some elements; one that all elements share stays one."""
    return values if values.size == 1 else values[positions]


def _search(draws: _Draws, propose: Callable[..., tuple[Array, Array]], *parameters: Array) -> Array:
    """Return for each element the first accepted value of ``propose(draws, attempts, *parameters)``.

    Each call takes tens of calls of NumPy, so the few elements that are left make several attempts at once, along a
    first axis: about as many as it takes until one of each is accepted.
    """
    results, accepted = propose(draws, 0, *parameters)
    positions = np.flatnonzero(~accepted)
    rejected = positions.size / accepted.size
    attempt = 1
    while positions.size and attempt < ATTEMPTS:
        needed = 1 + math.ceil(math.log(positions.size) / -math.log(rejected)) if rejected < 1 else ATTEMPTS
        last = min(attempt + min(needed, 1 + _FEW // positions.size), ATTEMPTS)
        attempts = np.arange(attempt, last, dtype=np.uint64)[:, None]
        values, accepted = propose(draws.at(positions), attempts, *[_at(v, positions) for v in parameters])
        is_left = ~accepted.any(0)
        accepted[-1] = True  # the value of the last attempt, if none is accepted
        results[positions] = values[accepted.argmax(0), np.arange(positions.size)]
        positions = positions[is_left]
        attempt += len(attempts)
    return results


def _where_valid(draws: _Draws, valid: Array, sampler: Sampler, otherwise: Any, *parameters: Array) -> Array:
    """Return ``sampler(draws, *parameters)`` where parameters are valid, and ``otherwise`` elsewhere."""
    if valid.all():
        return np.asarray(sampler(draws, *parameters))
    values = np.array(np.broadcast_to(np.asarray(otherwise, draws.kind), draws.numbers.shape))
    positions = np.flatnonzero(valid)
    if positions.size:
        values[positions] = sampler(draws.at(positions), *[_at(v, positions) for v in parameters])
    return values


def _either(draws: _Draws, choice: Array, first: Sampler, second: Sampler, *parameters: Array) -> Array:
    """Return the results of the first sampler where ``choice`` is true, and of the second elsewhere."""
    values = np.empty(draws.numbers.shape, draws.kind)
    for chosen, sampler in ((choice, first), (~choice, second)):
        if chosen.all():
            return np.asarray(sampler(draws, *parameters))
        positions = np.flatnonzero(chosen)
        if positions.size:
            values[positions] = sampler(draws.at(positions), *[_at(v, positions) for v in parameters])
    return values


# --- gamma: Marsaglia and Tsang, "A simple method for generating gamma variables", 2000 ---


def _gamma_from_one(draws: _Draws, a: Array) -> Array:
    one, half = draws.kind.type(1), draws.kind.type(0.5)
    third = a - draws.kind.type(1 / 3)

    def propose(draws: _Draws, attempts: Any, d: Array, c: Array) -> tuple[Array, Array]:
        x, share = draws.normal_and_uniform(attempts)
        root = one + c * x
        v = root * root * root
        return v, (v > 0) & (np.log(share) < half * x * x + d * (one - v + np.log(v)))

    gammas: Array = third * _search(draws, propose, third, one / np.sqrt(draws.kind.type(9) * third))
    return gammas


def _gamma_and_log_factor(draws: _Draws, a: Array) -> tuple[Array, Any]:
    """Return gamma numbers of shape a, or a + 1 if a < 1, and the logarithms of the factors that lead back to a."""
    small = a < 1
    if not small.any():
        return _gamma_from_one(draws, a), None
    share, _ = draws.uniforms(_DECISION)
    return _gamma_from_one(draws, np.where(small, a + a.dtype.type(1), a)), np.where(small, np.log(share) / a, 0)


def _gamma(draws: _Draws, a: Array) -> Array:
    def sampler(draws: _Draws, a: Array) -> Array:
        gammas, rest = _gamma_and_log_factor(draws, a)
        return gammas if rest is None else gammas * np.exp(rest)

    return _where_valid(draws, (a > 0) & np.isfinite(a), sampler, np.where(a >= 0, a, np.nan), a)


def _log_gamma(draws: _Draws, a: Array) -> Array:
    def sampler(draws: _Draws, a: Array) -> Array:
        gammas, rest = _gamma_and_log_factor(draws, a)
        return np.log(gammas) if rest is None else np.log(gammas) + rest

    return _where_valid(draws, (a > 0) & np.isfinite(a), sampler, np.log(np.where(a >= 0, a, np.nan)), a)


# --- counts: by inversion from 0 if the mean is small, else by the ratio of uniforms (Stadlober, "The ratio of uniforms
# --- approach for generating discrete random variates", 1990), with the probabilities of Loader ("Fast and accurate
# --- computation of binomial probabilities", 2000) ---


def _stirling_rest(k: Array) -> Array:
    """Return log(k!) - k log k + k for integral k."""
    kind = k.dtype.type
    z = kind(1) / (k * k)
    series = kind(1 / 12) - z * (kind(1 / 360) - z * (kind(1 / 1260) - z * kind(1 / 1680)))
    large = kind(0.5) * np.log(kind(2 * np.pi) * k) + series / k
    few = np.clip(k, 1, 9)
    factorial = np.array([1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880], k.dtype)[few.astype(np.int64)]
    small = np.log(factorial) - few * np.log(few) + few
    rest: Array = np.where(k < 0.5, kind(0), np.where(k < 9.5, small, large))
    return rest


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
    draws: _Draws,
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
        draws: _Draws,
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
    counts = _search(draws, propose, mean, width, mode, most, highest, *parameters)
    bounded: Array = np.minimum(np.maximum(counts, kind(0)), most)
    return bounded


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


def _by_inversion(draws: _Draws, start: Array, mean: Array, ratio: Callable[..., Array], *parameters: Array) -> Array:
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


def _poisson(draws: _Draws, mean: Array) -> Array:
    def by_inversion(draws: _Draws, m: Array) -> Array:
        return _by_inversion(draws, np.exp(-m), m, lambda k, m: m / k, m)

    def by_ratio(draws: _Draws, m: Array) -> Array:
        most = np.full_like(m, 9.2233714e18)
        return _by_ratio(draws, lambda k, m: -_stirling_rest(k) - _deviance(k, m), m, m, np.floor(m), most, m)

    def sampler(draws: _Draws, m: Array) -> Array:
        return _either(draws, m < 10, by_inversion, by_ratio, m)

    return _where_valid(draws, (mean >= 0) & np.isfinite(mean), sampler, np.nan, mean)


def _binomial(draws: _Draws, n: Array, p: Array) -> Array:
    one = draws.kind.type(1)

    def by_inversion(draws: _Draws, n: Array, p: Array) -> Array:
        start = np.exp(n * np.log1p(-p))
        return _by_inversion(draws, start, n * p, lambda k, n, odds: (n - k + one) / k * odds, n, p / (one - p))

    def by_ratio(draws: _Draws, n: Array, p: Array) -> Array:
        mean = n * p
        mode, q = np.floor((n + one) * p), one - p
        return _by_ratio(draws, _log_binomial, mean, mean * q, mode, n, n, p, q)

    def sampler(draws: _Draws, n: Array, p: Array) -> Array:
        less = np.where(p > 0.5, one - p, p)
        k = _either(draws, n * less < 10, by_inversion, by_ratio, n, less)
        return np.where(p > 0.5, n - k, k)

    return _where_valid(draws, np.isfinite(n) & (n >= 0) & (p >= 0) & (p <= 1), sampler, np.nan, n, p)


def _hypergeometric(draws: _Draws, good: Array, bad: Array, sample: Array) -> Array:
    one = draws.kind.type(1)

    def by_draws(stream: _Draws, less: Array, more: Array, taken: Array) -> Array:
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

    def by_ratio(stream: _Draws, less: Array, more: Array, taken: Array) -> Array:
        every = less + more
        share, chance = less / every, taken / every
        mean = taken * share
        variance = mean * (one - share) * (every - taken) / (every - one)

        def log_chance(k: Array, less: Array, more: Array, taken: Array, p: Array, q: Array) -> Array:
            return _log_binomial(k, less, p, q) + _log_binomial(taken - k, more, p, q)

        mode = np.floor((taken + one) * ((less + one) / (every + draws.kind.type(2))))
        most = np.minimum(taken, less)
        return _by_ratio(stream, log_chance, mean, variance, mode, most, less, more, taken, chance, one - chance)

    def sampler(draws: _Draws, good: Array, bad: Array, sample: Array) -> Array:
        taken = np.minimum(sample, good + bad - sample)
        k = _either(draws, taken < 10, by_draws, by_ratio, np.minimum(good, bad), np.maximum(good, bad), taken)
        k = np.where(good > bad, taken - k, k)
        return np.where(sample > taken, good - k, k)

    every = good + bad
    valid = np.isfinite(every) & (good >= 0) & (bad >= 0) & (sample >= 0) & (sample <= every)
    return _where_valid(draws, valid, sampler, np.nan, good, bad, sample)


# --- others: Best and Fisher, "Efficient simulation of the von Mises distribution", 1979; Devroye, "Non-uniform
# --- random variate generation", 1986, X.6.1 ---


def _vonmises(draws: _Draws, kappa: Array) -> Array:
    kind = draws.kind.type
    one, two = kind(1), kind(2)
    least, most = (1e-3, 1e4) if draws.kind == np.float32 else (1e-5, 1e6)

    def searched(draws: _Draws, k: Array) -> Array:
        r = one + np.sqrt(one + kind(4) * k * k)
        rho = (r - np.sqrt(two * r)) / (two * k)
        shape = np.where(k < least, one / k + k, (one + rho * rho) / (two * rho))

        def propose(tried: _Draws, attempts: Any, k: Array, s: Array) -> tuple[Array, Array]:
            u, v = tried.uniforms(attempts)
            z = np.cos(kind(np.pi) * u)
            w = (one + s * z) / (s + z)
            y = k * (s - w)
            return w, (y * (two - y) >= v) | (np.log(y / v) + one - y >= 0)

        angle: Array = np.arccos(np.clip(_search(draws, propose, k, shape), -1, 1))
        return angle

    def sampler(draws: _Draws, k: Array) -> Array:
        normal, share = draws.normal_and_uniform(_NORMAL_DECISION)
        angle = _where_valid(draws, (k >= kind(1e-8)) & (k <= most), searched, 0, k)
        angle = np.where(share < 0.5, -angle, angle)
        angle = np.where(k > most, normal / np.sqrt(k), angle)
        return np.where(k < kind(1e-8), kind(np.pi) * (two * share - one), angle)

    return _where_valid(draws, kappa >= 0, sampler, np.nan, kappa)


def _zipf(draws: _Draws, a: Array) -> Array:
    kind = draws.kind.type
    one = kind(1)
    most = 120 if draws.kind == np.float32 else 1025

    def propose(draws: _Draws, attempts: Any, less: Array, b: Array, least: Array) -> tuple[Array, Array]:
        u, v = draws.uniforms(attempts)
        share = least + u * (one - least)
        x = np.maximum(np.floor(np.exp(-np.log(share) / less)), one)
        excess = np.expm1(less * np.log1p(one / x))
        return x, v * x * excess / (b - one) <= (one + excess) / b

    def sampler(draws: _Draws, a: Array) -> Array:
        less = a - one
        return _search(draws, propose, less, np.exp2(less), np.exp(kind(-43.66827) * less))

    return _where_valid(draws, (a > 1) & (a < most), sampler, np.where(a >= most, 1, np.nan), a)


# --- the operations ---


def _rule(parameters: int) -> Callable[..., Signature]:
    """Return the dtype rule: parameters of one floating dtype, and five uint32 words."""

    def rule(*kinds: Any) -> Signature:
        kind = dtypes.promote(*kinds[:parameters])
        if kind not in (dtypes.float32, dtypes.float64):
            raise TypeError(f"samplers take parameters of float32 or float64, not {kind.name}")
        return Signature((kind,) * parameters + (dtypes.uint32,) * 5, kind)

    return rule


def _op(name: str, parameters: int, sampler: Sampler, doc: str) -> MapOp:
    operands = ", ".join(f"{{{number}}}" for number in range(parameters + 5))
    return MapOp(
        name=name, numpy=_reference(parameters, sampler), arity=parameters + 5, dtypes=_rule(parameters),
        wgsl={"float": f"{name}_{{T}}({operands})"}, cost=600, ulp=64, doc=doc,
    )  # fmt: skip


sample_gamma: Final = _op("sample_gamma", 1, _gamma, "Gamma numbers of a shape parameter.")
sample_log_gamma: Final = _op("sample_log_gamma", 1, _log_gamma, "Logarithms of gamma numbers of a shape parameter.")
sample_poisson: Final = _op("sample_poisson", 1, _poisson, "Poisson numbers of a mean.")
sample_binomial: Final = _op("sample_binomial", 2, _binomial, "Binomial numbers of trials and a probability.")
sample_hypergeometric: Final = _op(
    "sample_hypergeometric", 3, _hypergeometric, "Hypergeometric numbers of good items, bad items, and the sample size."
)
sample_vonmises: Final = _op("sample_vonmises", 1, _vonmises, "Angles of the von Mises distribution around 0.")
sample_zipf: Final = _op("sample_zipf", 1, _zipf, "Zipf numbers of an exponent above 1.")


# --- integers of a range for each element ---


def _below(limit: Any, numbers: Any, *words: Any, out: Array) -> Array:
    """Return the integral part of a limit times a random fraction of 128 bits; a limit of 0 is 2**64."""
    shape = np.broadcast_shapes(np.shape(limit), np.shape(numbers))
    stream = substreams.Substream(*(np.asarray(word).reshape(-1)[0] for word in words))
    bits = substreams.blocks(np.broadcast_to(numbers, shape), 0, stream).astype(np.uint64)
    low, high = (bits[..., k] | bits[..., k + 1] << np.uint64(32) for k in (0, 2))
    scale = np.broadcast_to(np.asarray(limit, np.uint64), shape)
    middle = high * scale
    carry = middle + philox.high_product(low, scale) < middle
    out[...] = np.where(scale == 0, high, philox.high_product(high, scale) + carry)
    return out


def _below_rule(*kinds: Any) -> Signature:
    if dtypes.promote(*kinds) == dtypes.float64 or dtypes.promote(kinds[0]).kind not in "ui":
        raise TypeError("sample_below takes a limit of uint64 and words")
    return Signature((dtypes.uint64,) + (dtypes.uint32,) * 5, dtypes.uint64)


sample_below: Final = MapOp(
    name="sample_below", numpy=_below, arity=6, dtypes=_below_rule, cost=120,
    wgsl={"u64": "u64_from_pair(sample_below(pair_from_u64({0}), {1}, {2}, {3}, {4}, {5}))",
          "u64p": "sample_below({0}, {1}, {2}, {3}, {4}, {5})"},
    doc="Integers below the limit of each element: the limit times a fraction of 128 bits, truncated; 0 is 2**64.",
)  # fmt: skip
