"""Samplers: elementwise operations that draw a number of a distribution for each element, by rejection.

The operands are the parameters of the distribution, the number of the element, and the four words of a substream (see
:mod:`gpuarray.ops.substreams`). Each element draws from its own blocks until a number is accepted, so it does not
depend on other elements. Results are floating numbers, even if they are integral; the caller converts them.

The references take the same steps as the kernels in ``codegen/math/samplers.generic.wgsl``, many elements at once.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.ops import philox, substreams
from gpuarray.ops.spec import MapOp, Signature

Array = npt.NDArray[Any]

#: The largest number of attempts of an element; each succeeds with a probability above 1/2.
ATTEMPTS: Final = 64
#: Numbers of attempts whose blocks serve for decisions outside the search.
_DECISION: Final = 0xFFFFFFFF
_NORMAL_DECISION: Final = 0x7FFFFFFF


class _Draws:
    """The source of numbers of some elements: their numbers, the substream, and the dtype."""

    def __init__(self, numbers: Array, stream: substreams.Substream, kind: np.dtype[Any]) -> None:
        self.numbers = numbers
        self.stream = stream
        self.kind = kind

    def at(self, places: Array) -> "_Draws":
        return _Draws(self.numbers[places], self.stream, self.kind)

    def uniforms(self, attempt: int) -> tuple[Array, Array]:
        """Return two uniform numbers in (0, 1] for each element."""
        return substreams.pair_of_uniforms(self.numbers, attempt, self.stream, self.kind)

    def normal_and_uniform(self, attempt: int) -> tuple[Array, Array]:
        """Return a normal number and a uniform number in (0, 1] for each element."""
        first, angle = self.uniforms(2 * attempt)
        share, _ = self.uniforms(2 * attempt + 1)
        two_pi = self.kind.type(2 * np.pi)
        return np.sqrt(self.kind.type(-2) * np.log(first)) * np.cos(two_pi * angle), share


Sampler = Callable[..., Any]


def _reference(parameters: int, sampler: Sampler) -> Callable[..., Array]:
    """Return the reference of a sampler, which calls ``sampler(draws, *parameters)`` with flat arrays of one length."""

    def reference(*operands: Any, out: Array) -> Array:
        given, words = operands[: parameters + 1], operands[parameters + 1 :]
        shape = np.broadcast_shapes(*map(np.shape, given))
        *flat, numbers = [np.broadcast_to(v, shape).reshape(-1) for v in given]
        stream = substreams.Substream(*(np.asarray(word).reshape(-1)[0] for word in words))
        found = np.empty(numbers.size, out.dtype)
        with np.errstate(all="ignore"):
            for piece in substreams.pieces(numbers.size):
                draws = _Draws(numbers[piece], stream, out.dtype)
                found[piece] = sampler(draws, *(v[piece].astype(out.dtype, copy=False) for v in flat))
        out[...] = found.reshape(shape)
        return out

    return reference


def _search(draws: _Draws, start: Array, propose: Callable[[_Draws, Array, int], tuple[Array, Array]]) -> Array:
    """Return for each element the first accepted value of ``propose(draws, places, attempt)``."""
    found = np.array(start, draws.kind)
    places = np.arange(found.size)
    for attempt in range(ATTEMPTS):
        values, accepted = propose(draws.at(places) if attempt else draws, places, attempt)
        found[places] = values
        places = places[~accepted]
        if not places.size:
            break
    return found


def _where_valid(draws: _Draws, valid: Array, sampler: Callable[[_Draws, Array], Array], otherwise: Any) -> Array:
    """Return ``sampler(draws, places)`` where parameters are valid, and ``otherwise`` elsewhere."""
    found = np.array(np.broadcast_to(np.asarray(otherwise, draws.kind), valid.shape))
    places = np.flatnonzero(valid)
    if places.size == valid.size:
        return sampler(draws, places)
    if places.size:
        found[places] = sampler(draws.at(places), places)
    return found


# --- gamma: Marsaglia and Tsang, "A simple method for generating gamma variables", 2000 ---


def _gamma_from_one(draws: _Draws, a: Array) -> Array:
    one, half = draws.kind.type(1), draws.kind.type(0.5)
    d = a - draws.kind.type(1 / 3)
    c = one / np.sqrt(draws.kind.type(9) * d)

    def propose(own: _Draws, places: Array, attempt: int) -> tuple[Array, Array]:
        x, share = own.normal_and_uniform(attempt)
        root = one + c[places] * x
        v = root * root * root
        accepted = (v > 0) & (np.log(share) < half * x * x + d[places] * (one - v + np.log(v)))
        return v, accepted

    found: Array = d * _search(draws, np.ones_like(d), propose)
    return found


def _gamma_and_log_factor(draws: _Draws, a: Array) -> tuple[Array, Array]:
    """Return gamma numbers of shape a, or a + 1 if a < 1, and the logarithms of the factors that lead back to a."""
    small = a < 1
    if not small.any():
        return _gamma_from_one(draws, a), np.zeros_like(a)
    share, _ = draws.uniforms(_DECISION)
    return _gamma_from_one(draws, np.where(small, a + a.dtype.type(1), a)), np.where(small, np.log(share) / a, 0)


def _gamma(draws: _Draws, a: Array) -> Array:
    def sampler(own: _Draws, places: Array) -> Array:
        found, rest = _gamma_and_log_factor(own, a[places])
        return found * np.exp(rest) if rest.any() else found

    return _where_valid(draws, (a > 0) & np.isfinite(a), sampler, np.where(a >= 0, a, np.nan))


def _log_gamma(draws: _Draws, a: Array) -> Array:
    def sampler(own: _Draws, places: Array) -> Array:
        found, rest = _gamma_and_log_factor(own, a[places])
        return np.log(found) + rest

    return _where_valid(draws, (a > 0) & np.isfinite(a), sampler, np.log(np.where(a >= 0, a, np.nan)))


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
    found: Array = np.where(k < 0.5, kind(0), np.where(k < 9.5, small, large))
    return found


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
    log_chance: Callable[[Array, Array], Array],
    mean: Array,
    variance: Array,
    mode: Array,
    most: Array,
) -> Array:
    """Return counts k with the log-probabilities ``log_chance(places, k)``, up to a constant."""
    kind = draws.kind.type
    half = kind(0.5)
    width = kind(1.7155277699214135) * np.sqrt(variance + half) + kind(0.8989161620588988)
    highest = log_chance(np.arange(mode.size), mode)

    def propose(own: _Draws, places: Array, attempt: int) -> tuple[Array, Array]:
        u, v = own.uniforms(attempt)
        k = np.floor(mean[places] + half + width[places] * (v - half) / u)
        inside = (k >= 0) & (k <= most[places])
        chance = log_chance(places, np.where(inside, k, mode[places]))
        return k, inside & (kind(2) * np.log(u) <= chance - highest[places])

    found: Array = np.minimum(np.maximum(_search(draws, mode, propose), kind(0)), most)
    return found


def _by_inversion(draws: _Draws, start: Array, ratio: Callable[[Array, Array], Array], mean: Array) -> Array:
    """Return counts by inversion: 0 has the probability ``start``, and k that of k - 1 times ``ratio(places, k)``."""
    left, _ = draws.uniforms(0)
    found = np.zeros(start.shape, draws.kind)
    chance = np.array(start)
    smallest = 1e-10 if draws.kind == np.float32 else 1e-19
    places = np.flatnonzero(left > chance)
    while places.size:
        left[places] -= chance[places]
        found[places] += 1
        chance[places] *= ratio(places, found[places])
        on = (left[places] > chance[places]) & ((found[places] < mean[places]) | (chance[places] > smallest))
        on &= found[places] < 1000
        places = places[on]
    return found


def _either(draws: _Draws, small: Array, by_inversion: Any, by_ratio: Any) -> Array:
    """Return the results of one method where ``small`` is true, and of the other method elsewhere."""
    found = np.empty(small.shape, draws.kind)
    for chosen, method in ((np.flatnonzero(small), by_inversion), (np.flatnonzero(~small), by_ratio)):
        if chosen.size:
            found[chosen] = method(draws.at(chosen), chosen)
    return found


def _poisson(draws: _Draws, mean: Array) -> Array:
    def by_inversion(own: _Draws, at: Array) -> Array:
        m = mean[at]
        return _by_inversion(own, np.exp(-m), lambda places, k: m[places] / k, m)

    def by_ratio(own: _Draws, at: Array) -> Array:
        m = mean[at]
        most = np.full_like(m, 9.2233714e18)
        return _by_ratio(own, lambda p, k: -_stirling_rest(k) - _deviance(k, m[p]), m, m, np.floor(m), most)

    def sampler(own: _Draws, at: Array) -> Array:
        return _either(own, mean[at] < 10, lambda d, p: by_inversion(d, at[p]), lambda d, p: by_ratio(d, at[p]))

    return _where_valid(draws, (mean >= 0) & np.isfinite(mean), sampler, np.nan)


def _binomial(draws: _Draws, n: Array, p: Array) -> Array:
    one = draws.kind.type(1)
    less = np.where(p > 0.5, one - p, p)

    def by_inversion(own: _Draws, at: Array) -> Array:
        m, odds = n[at], less[at] / (one - less[at])
        start = np.exp(m * np.log1p(-less[at]))
        return _by_inversion(own, start, lambda places, k: (m[places] - k + one) / k * odds[places], m * less[at])

    def by_ratio(own: _Draws, at: Array) -> Array:
        m, chance = n[at], less[at]
        mean = m * chance
        return _by_ratio(
            own,
            lambda places, k: _log_binomial(k, m[places], chance[places], one - chance[places]),
            mean,
            mean * (one - chance),
            np.floor((m + one) * chance),
            m,
        )

    def sampler(own: _Draws, at: Array) -> Array:
        few = n[at] * less[at] < 10
        k = _either(own, few, lambda d, q: by_inversion(d, at[q]), lambda d, q: by_ratio(d, at[q]))
        return np.where(p[at] > 0.5, n[at] - k, k)

    return _where_valid(draws, np.isfinite(n) & (n >= 0) & (p >= 0) & (p <= 1), sampler, np.nan)


def _hypergeometric(draws: _Draws, good: Array, bad: Array, sample: Array) -> Array:
    one = draws.kind.type(1)
    every = good + bad
    less, more = np.minimum(good, bad), np.maximum(good, bad)
    taken = np.minimum(sample, every - sample)

    def by_draws(own: _Draws, at: Array) -> Array:
        k, left = np.zeros(at.size, draws.kind), every[at].copy()
        for draw in range(9):
            share, _ = own.uniforms(draw)
            still = draw < taken[at]
            k += still & (share * left <= less[at] - k)
            left -= still
        return k

    def by_ratio(own: _Draws, at: Array) -> Array:
        g, b, t = less[at], more[at], taken[at]
        share = g / every[at]
        chance = t / (g + b)
        mean = t * share
        variance = mean * (one - share) * (every[at] - t) / (every[at] - one)

        def log_chance(places: Array, k: Array) -> Array:
            q = chance[places]
            first = _log_binomial(k, g[places], q, one - q)
            return first + _log_binomial(t[places] - k, b[places], q, one - q)

        mode = np.floor((t + one) * ((g + one) / (every[at] + draws.kind.type(2))))
        return _by_ratio(own, log_chance, mean, variance, mode, np.minimum(t, g))

    def sampler(own: _Draws, at: Array) -> Array:
        few = taken[at] < 10
        k = _either(own, few, lambda d, p: by_draws(d, at[p]), lambda d, p: by_ratio(d, at[p]))
        k = np.where(good[at] > bad[at], taken[at] - k, k)
        return np.where(sample[at] > taken[at], good[at] - k, k)

    valid = np.isfinite(every) & (good >= 0) & (bad >= 0) & (sample >= 0) & (sample <= every)
    return _where_valid(draws, valid, sampler, np.nan)


# --- others: Best and Fisher, "Efficient simulation of the von Mises distribution", 1979; Devroye, "Non-uniform
# --- random variate generation", 1986, X.6.1 ---


def _vonmises(draws: _Draws, kappa: Array) -> Array:
    kind = draws.kind.type
    one, two = kind(1), kind(2)
    least, most = (1e-3, 1e4) if draws.kind == np.float32 else (1e-5, 1e6)

    def searched(own: _Draws, k: Array) -> Array:
        r = one + np.sqrt(one + kind(4) * k * k)
        rho = (r - np.sqrt(two * r)) / (two * k)
        s = np.where(k < least, one / k + k, (one + rho * rho) / (two * rho))

        def propose(tried: _Draws, places: Array, attempt: int) -> tuple[Array, Array]:
            u, v = tried.uniforms(attempt)
            z = np.cos(kind(np.pi) * u)
            w = (one + s[places] * z) / (s[places] + z)
            y = k[places] * (s[places] - w)
            return w, (y * (two - y) >= v) | (np.log(y / v) + one - y >= 0)

        angle: Array = np.arccos(np.clip(_search(own, np.zeros_like(k), propose), -1, 1))
        return angle

    def sampler(own: _Draws, at: Array) -> Array:
        k = kappa[at]
        normal, share = own.normal_and_uniform(_NORMAL_DECISION)
        angle = np.zeros_like(k)
        places = np.flatnonzero((k >= kind(1e-8)) & (k <= most))
        if places.size:
            angle[places] = searched(own.at(places), k[places])
        angle = np.where(share < 0.5, -angle, angle)
        angle = np.where(k > most, normal / np.sqrt(k), angle)
        return np.where(k < kind(1e-8), kind(np.pi) * (two * share - one), angle)

    return _where_valid(draws, kappa >= 0, sampler, np.nan)


def _zipf(draws: _Draws, a: Array) -> Array:
    kind = draws.kind.type
    one = kind(1)
    most = 120 if draws.kind == np.float32 else 1025

    def sampler(own: _Draws, at: Array) -> Array:
        less = a[at] - one
        b = np.exp2(less)
        least = np.exp(kind(-43.66827) * less)

        def propose(tried: _Draws, places: Array, attempt: int) -> tuple[Array, Array]:
            u, v = tried.uniforms(attempt)
            share = least[places] + u * (one - least[places])
            x = np.maximum(np.floor(np.exp(-np.log(share) / less[places])), one)
            excess = np.expm1(less[places] * np.log1p(one / x))
            return x, v * x * excess / (b[places] - one) <= (one + excess) / b[places]

        return _search(own, np.ones_like(less), propose)

    return _where_valid(draws, (a > 1) & (a < most), sampler, np.where(a >= most, 1, np.nan))


# --- the operations ---


def _rule(parameters: int) -> Callable[..., Signature]:
    """Return the dtype rule: parameters of one floating dtype, and five uint32 words."""

    def rule(*given: Any) -> Signature:
        kind = dtypes.promote(*given[:parameters])
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
    found = substreams.blocks(np.broadcast_to(numbers, shape), 0, stream).astype(np.uint64)
    low, high = (found[..., k] | found[..., k + 1] << np.uint64(32) for k in (0, 2))
    scale = np.broadcast_to(np.asarray(limit, np.uint64), shape)
    middle = high * scale
    carry = middle + philox.high_product(low, scale) < middle
    out[...] = np.where(scale == 0, high, philox.high_product(high, scale) + carry)
    return out


def _below_rule(*given: Any) -> Signature:
    if dtypes.promote(*given) == dtypes.float64 or dtypes.promote(given[0]).kind not in "ui":
        raise TypeError("sample_below takes a limit of uint64 and words")
    return Signature((dtypes.uint64,) + (dtypes.uint32,) * 5, dtypes.uint64)


sample_below: Final = MapOp(
    name="sample_below", numpy=_below, arity=6, dtypes=_below_rule, cost=120,
    wgsl={"u64": "u64_from_pair(sample_below(pair_from_u64({0}), {1}, {2}, {3}, {4}, {5}))",
          "u64p": "sample_below({0}, {1}, {2}, {3}, {4}, {5})"},
    doc="Integers below the limit of each element: the limit times a fraction of 128 bits, truncated; 0 is 2**64.",
)  # fmt: skip
