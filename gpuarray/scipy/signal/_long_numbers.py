"""Matrices of long integers, which stand for multiples of a small power of two: products do not lose precision."""

from math import isqrt
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[Any]

#: Fractional bits of the numbers from which the matrices are computed: the recurrences of a filter with poles that are
#: close together lose many digits.
BITS: Final = 512


class _Gaussian:
    """A complex number whose parts are Python integers; beside these it is an element of matrices."""

    __slots__ = ("imag", "real")

    def __init__(self, real: int, imag: int) -> None:
        self.real, self.imag = real, imag

    def __add__(self, other: Any) -> "_Gaussian":
        return _Gaussian(self.real + other.real, self.imag + other.imag)

    def __sub__(self, other: Any) -> "_Gaussian":
        return _Gaussian(self.real - other.real, self.imag - other.imag)

    def __rsub__(self, other: int) -> "_Gaussian":
        return _Gaussian(other - self.real, -self.imag)

    def __mul__(self, other: Any) -> "_Gaussian":
        real, imag = other.real, other.imag
        return _Gaussian(self.real * real - self.imag * imag, self.real * imag + self.imag * real)

    __radd__, __rmul__ = __add__, __mul__

    def __rshift__(self, bits: int) -> "_Gaussian":
        return _Gaussian(self.real >> bits, self.imag >> bits)

    def __lshift__(self, bits: int) -> "_Gaussian":
        return _Gaussian(self.real << bits, self.imag << bits)

    def __floordiv__(self, divisor: int) -> "_Gaussian":
        return _Gaussian(self.real // divisor, self.imag // divisor)

    def conjugate(self) -> "_Gaussian":
        return _Gaussian(self.real, -self.imag)


def _integer(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return (numerator << BITS) // denominator


class NotFiniteError(ValueError):
    """Coefficients are NaN or infinite, so that no integers are multiples of them."""


def integers(matrix: Matrix) -> Matrix:
    """Return a matrix of multiples of 2**-BITS, as Python integers, with which products do not lose precision.

    Raises
    ------
    NotFiniteError
        If a number is NaN or infinite.
    """
    if not np.isfinite(matrix).all():
        raise NotFiniteError("coefficients must be finite")
    is_complex = matrix.dtype.kind == "c"
    values = [_Gaussian(_integer(v.real), _integer(v.imag)) if is_complex else _integer(float(v)) for v in matrix.flat]
    return np.array([*values, 0], object)[: matrix.size].reshape(matrix.shape)


def _float(value: int) -> float:
    """Return the number of such an integer; a number that is too large becomes infinite."""
    try:
        return value / (1 << BITS)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def floats(matrix: Matrix) -> Matrix:
    """Return a matrix of such integers in float64 or complex128."""
    is_complex = any(type(v) is _Gaussian for v in matrix.flat)
    values = [complex(_float(v.real), _float(v.imag)) if is_complex else _float(v) for v in matrix.flat]
    return np.array(values, np.complex128 if is_complex else np.float64).reshape(matrix.shape)


def product(left: Matrix, right: Matrix) -> Matrix:
    return (left @ right) >> BITS


def power(matrix: Matrix, exponent: int) -> Matrix:
    result = integers(np.eye(len(matrix)))
    while exponent:
        if exponent & 1:
            result = product(result, matrix)
        matrix = product(matrix, matrix)
        exponent >>= 1
    return result


def triangle_of(gram: Matrix) -> Matrix | None:
    """Return the upper triangular R with R^H R = gram; None if the matrix is not positive definite."""
    size = len(gram)
    result = np.zeros((size, size), object)
    for i in range(size):
        rest = gram[i, i:] - ((result[:i, i].conj() @ result[:i, i:]) >> BITS if i else 0)
        if rest[0].real <= 0:
            return None
        result[i, i] = isqrt(rest[0].real << BITS)
        result[i, i + 1 :] = (rest[1:] << BITS) // result[i, i]
    return result


def inverse_of(triangle: Matrix) -> Matrix:
    size = len(triangle)
    result = np.zeros((size, size), object)
    for i in reversed(range(size)):
        row = integers(np.eye(size)[i])
        if i + 1 < size:
            row = row - product(triangle[i, i + 1 :], result[i + 1 :])
        result[i] = (row << BITS) // triangle[i, i]
    return result
