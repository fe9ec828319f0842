"""Samples with their exact values, which mpmath computes, or a file holds for machines where that takes too long."""

from pathlib import Path
from typing import Any

import numpy as np
from mpmath import mp

from bench.accuracy import errors
from bench.accuracy.functions import Function
from bench.accuracy.samples import Array, operands

#: Bits of the exact values of complex functions.
COMPLEX_BITS = 300


class ExactValues:
    """The samples of functions, and their values as long doubles.

    Parameters
    ----------
    file : Path, optional
        Where they are kept; what it does not have yet is computed, and added by :meth:`write`.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._held: dict[str, Array] = {}
        self._count = 0
        if file and file.exists():
            with np.load(file) as held:
                self._held = {name: held[name] for name in held.files}
                self._count = len(self._held)

    def sample(self, function: Function, dtype: str, count: int) -> tuple[list[Array], Array]:
        """Return operands and exact values of about ``count`` points of a function."""
        key = f"{function.name}|{dtype}|{count}"
        if f"{key}|exact" not in self._held:
            given = operands(function, dtype, count)
            self._held |= {f"{key}|{k}": x for k, x in enumerate(given)}
            self._held[f"{key}|exact"] = values(function, given)
        return [self._held[f"{key}|{k}"] for k in range(function.arity)], self._held[f"{key}|exact"]

    def write(self) -> None:
        """Write the file, if there is one and something new for it."""
        if self._file and len(self._held) > self._count:
            np.savez_compressed(self._file, **self._held)


def values(function: Function, arrays: list[Array]) -> Array:
    """Return mpmath's values at operands of any dtype, NaN where an operand is not finite."""
    is_complex = arrays[0].dtype.kind == "c"
    exact = np.full(len(arrays[0]), np.nan, np.clongdouble if is_complex else np.longdouble)
    finite = np.logical_and.reduce([np.isfinite(x) for x in arrays])
    points = list(zip(*(x.tolist() for x in arrays), strict=True))
    for i in np.flatnonzero(finite):
        result = errors.exact_value(function, points[i], COMPLEX_BITS if is_complex else errors.BITS)
        if is_complex:
            exact.real[i], exact.imag[i] = as_long_double(mp.re(result)), as_long_double(mp.im(result))
        else:
            exact[i] = as_long_double(result)
    return exact


def as_long_double(number: Any) -> Any:
    """Return a number of mpmath's as a long double."""
    if not mp.isfinite(number):
        return np.longdouble(float(number))
    mantissa, exponent = mp.frexp(number)
    high = float(mantissa)
    with np.errstate(over="ignore", under="ignore"):
        whole = np.longdouble(high) + np.longdouble(float(mantissa - high))
        return np.ldexp(whole, max(min(exponent, 20_000), -20_000))
