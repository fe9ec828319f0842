"""Samplers: elementwise operations that draw a number of a distribution for each element, by rejection.

The operands are the parameters of the distribution, the number of the element, and the four words of a substream (see
:mod:`gpuarray.ops.substreams`). Each element draws from its own blocks until a number is accepted, so it does not
depend on other elements. Results are floating numbers, even if they are integral; the caller converts them.

The references take the same steps as the kernels in ``codegen/math/samplers.generic.wgsl``, many elements at once.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.ops import philox, substreams
from gpuarray.ops.count_samplers import binomial, hypergeometric, poisson
from gpuarray.ops.rejection import (
    DECISION,
    NORMAL_DECISION,
    Array,
    Draws,
    Sampler,
    reference_of,
    search_accepted,
    where_valid,
)  # fmt: skip
from gpuarray.ops.spec import MapOp, Signature

# --- gamma: Marsaglia and Tsang, "A simple method for generating gamma variables", 2000 ---


def _gamma_from_one(draws: Draws, a: Array) -> Array:
    one, half = draws.kind.type(1), draws.kind.type(0.5)
    third = a - draws.kind.type(1 / 3)

    def propose(draws: Draws, attempts: Any, d: Array, c: Array) -> tuple[Array, Array]:
        x, share = draws.normal_and_uniform(attempts)
        root = one + c * x
        v = root * root * root
        return v, (v > 0) & (np.log(share) < half * x * x + d * (one - v + np.log(v)))

    return third * search_accepted(draws, propose, third, one / np.sqrt(draws.kind.type(9) * third))


def _gamma_and_log_factor(draws: Draws, a: Array) -> tuple[Array, Any]:
    """Return gamma numbers of shape a, or a + 1 if a < 1, and the logarithms of the factors that lead back to a."""
    small = a < 1
    if not small.any():
        return _gamma_from_one(draws, a), None
    share, _ = draws.uniforms(DECISION)
    return _gamma_from_one(draws, np.where(small, a + a.dtype.type(1), a)), np.where(small, np.log(share) / a, 0)


def _gamma(draws: Draws, a: Array) -> Array:
    def sampler(draws: Draws, a: Array) -> Array:
        gammas, rest = _gamma_and_log_factor(draws, a)
        return gammas if rest is None else gammas * np.exp(rest)

    return where_valid(draws, (a > 0) & np.isfinite(a), sampler, np.where(a >= 0, a, np.nan), a)


def _log_gamma(draws: Draws, a: Array) -> Array:
    def sampler(draws: Draws, a: Array) -> Array:
        gammas, rest = _gamma_and_log_factor(draws, a)
        return np.log(gammas) if rest is None else np.log(gammas) + rest

    return where_valid(draws, (a > 0) & np.isfinite(a), sampler, np.log(np.where(a >= 0, a, np.nan)), a)


# --- others: Best and Fisher, "Efficient simulation of the von Mises distribution", 1979; Devroye, "Non-uniform
# --- random variate generation", 1986, X.6.1 ---


def _vonmises(draws: Draws, kappa: Array) -> Array:
    kind = draws.kind.type
    one, two = kind(1), kind(2)
    least, most = (1e-3, 1e4) if draws.kind == np.float32 else (1e-5, 1e6)

    def searched(draws: Draws, k: Array) -> Array:
        r = one + np.sqrt(one + kind(4) * k * k)
        rho = (r - np.sqrt(two * r)) / (two * k)
        shape = np.where(k < least, one / k + k, (one + rho * rho) / (two * rho))

        def propose(tried: Draws, attempts: Any, k: Array, s: Array) -> tuple[Array, Array]:
            u, v = tried.uniforms(attempts)
            z = np.cos(kind(np.pi) * u)
            w = (one + s * z) / (s + z)
            y = k * (s - w)
            return w, (y * (two - y) >= v) | (np.log(y / v) + one - y >= 0)

        return np.arccos(np.clip(search_accepted(draws, propose, k, shape), -1, 1))

    def sampler(draws: Draws, k: Array) -> Array:
        normal, share = draws.normal_and_uniform(NORMAL_DECISION)
        angle = where_valid(draws, (k >= kind(1e-8)) & (k <= most), searched, 0, k)
        angle = np.where(share < 0.5, -angle, angle)
        angle = np.where(k > most, normal / np.sqrt(k), angle)
        return np.where(k < kind(1e-8), kind(np.pi) * (two * share - one), angle)

    return where_valid(draws, kappa >= 0, sampler, np.nan, kappa)


def _zipf(draws: Draws, a: Array) -> Array:
    kind = draws.kind.type
    one = kind(1)
    most = 120 if draws.kind == np.float32 else 1025

    def propose(draws: Draws, attempts: Any, less: Array, b: Array, least: Array) -> tuple[Array, Array]:
        u, v = draws.uniforms(attempts)
        share = least + u * (one - least)
        x = np.maximum(np.floor(np.exp(-np.log(share) / less)), one)
        excess = np.expm1(less * np.log1p(one / x))
        return x, v * x * excess / (b - one) <= (one + excess) / b

    def sampler(draws: Draws, a: Array) -> Array:
        less = a - one
        return search_accepted(draws, propose, less, np.exp2(less), np.exp(kind(-43.66827) * less))

    return where_valid(draws, (a > 1) & (a < most), sampler, np.where(a >= most, 1, np.nan), a)


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
        name=name, numpy=reference_of(parameters, sampler), arity=parameters + 5, dtypes=_rule(parameters),
        wgsl={"float": f"{name}_{{T}}({operands})"}, cost=600, ulp=64, doc=doc,
    )  # fmt: skip


sample_gamma: Final = _op("sample_gamma", 1, _gamma, "Gamma numbers of a shape parameter.")
sample_log_gamma: Final = _op("sample_log_gamma", 1, _log_gamma, "Logarithms of gamma numbers of a shape parameter.")
sample_poisson: Final = _op("sample_poisson", 1, poisson, "Poisson numbers of a mean.")
sample_binomial: Final = _op("sample_binomial", 2, binomial, "Binomial numbers of trials and a probability.")
sample_hypergeometric: Final = _op(
    "sample_hypergeometric", 3, hypergeometric, "Hypergeometric numbers of good items, bad items, and the sample size."
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
