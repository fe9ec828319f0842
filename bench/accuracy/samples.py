"""Operands to measure at: uniform in their bits, of ordinary size, and the hard cases of each function."""

from typing import Any

import numpy as np

from bench.accuracy.functions import Function

Array = np.ndarray[Any, Any]

#: Odd, so that the multiples of it below 2**32 are all 32-bit words, each once: the first of them are spread evenly.
STRIDE = 0x9E3779B1

#: The decimal exponent of the largest parameters, where functions have samples of their own: mpmath judges float64.
LARGEST = {"float32": 8.0, "float64": 3.5}


def words(start: int, count: int, stride: int) -> Array:
    """Return ``count`` 32-bit words, multiples of ``stride`` from the one of number ``start``."""
    return np.arange(start, start + count, dtype=np.uint32) * np.uint32(stride)


def operands(function: Function, dtype: Any, count: int, seed: int = 0) -> list[Array]:
    """Return a sample of about ``count`` operands, the hard cases last."""
    kind = np.dtype(dtype)
    random = np.random.default_rng(seed)
    if kind.kind == "c":
        part = np.dtype(f"f{kind.itemsize // 2}")
        return [_complex(function, random, part, kind, count) for _ in range(function.arity)]
    hard = (
        [np.array(values) for values in zip(*map(np.atleast_1d, function.hard), strict=True)] if function.hard else []
    )
    if function.sample:
        sampled = [x.astype(kind) for x in function.sample(random, count, LARGEST[kind.name])]
    else:
        sampled = [_real(function, random, kind, count) for _ in range(function.arity)]
    if function.name == "pow":
        sampled = _powers(random, sampled)
    with np.errstate(over="ignore", under="ignore"):
        return [np.concatenate([x, *(h.astype(kind) for h in hard[i : i + 1])]) for i, x in enumerate(sampled)]


def _real(function: Function, random: np.random.Generator, kind: Any, count: int) -> Array:
    """Return values uniform in their bits (a half), in their exponent (a quarter) and in the interval (a quarter)."""
    bits = np.frombuffer(random.bytes(count // 2 * kind.itemsize), kind)
    sign = random.choice([-1.0, 1.0], count // 4)
    scaled = sign * 2.0 ** random.uniform(-24, 12, count // 4)
    return np.concatenate([bits, scaled.astype(kind), random.uniform(*function.interval, count // 4).astype(kind)])


def _powers(random: np.random.Generator, sampled: list[Array]) -> list[Array]:
    """Return the operands with most exponents such that the power is in range."""
    base, exponent = sampled
    some = slice(0, len(base) * 3 // 4)
    with np.errstate(all="ignore"):
        largest = np.log(float(np.finfo(base.dtype).max)) / np.abs(np.log(np.abs(base[some].astype(np.float64))))
        chosen = random.uniform(-1.1, 1.1, len(largest)) * np.where(np.isfinite(largest), largest, 1)
        base[some] = np.abs(base[some])
        exponent[some] = chosen.astype(base.dtype)
    return [base, exponent]


def _complex(function: Function, random: np.random.Generator, part: Any, kind: Any, count: int) -> Array:
    """Return numbers with parts uniform in their exponents (half), in the interval, and near the branch points."""
    half = count // 2
    z = np.empty(count, kind)
    parts = [random.choice([-1.0, 1.0], half) * 2.0 ** random.uniform(-24, 5, half) for _ in range(2)]
    z.real[:half], z.imag[:half] = parts
    rest = count - half
    low, high = max(function.interval[0], -30.0), min(function.interval[1], 30.0)
    z.real[half:], z.imag[half:] = random.uniform(low, high, rest), random.uniform(low, high, rest)
    near = z[half + rest // 2 :]
    near /= 30 * 2.0 ** random.uniform(0, 20, len(near))
    near += random.choice(np.array([1, -1, 1j, -1j]), len(near)).astype(kind)
    return z
