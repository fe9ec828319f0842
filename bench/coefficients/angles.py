"""The numbers of the sines and cosines that NumPy calls compute, written as ``gpuarray/ops/angles.py``."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from mpmath import mp

from bench.coefficients.constants import split
from bench.coefficients.precision import DOUBLE
from bench.coefficients.series import SERIES

Number = Any
_BITS: Final = 400
#: Of the first parts of half pi: what is left takes a number of quadrants up to 2**17.
_WIDTH: Final = 36


def text() -> str:
    """Return the file."""
    with mp.workprec(_BITS):
        parts = [literal.removesuffix("lf") for literal in split(DOUBLE, mp.pi / 2, _WIDTH, _WIDTH)]
        per_angle = 2 / mp.pi
        lines = [
            '"""Half pi and minimax polynomials of float64. Written by bench/coefficients."""',
            "",
            "#: In three parts: products of the first two with a number of quadrants are exact.",
            f"HALF_PI = ({', '.join(parts)})",
            f"QUADRANTS_PER_RADIAN = {_literal(DOUBLE.rounded(per_angle))}",
            "#: The sine is x + x z times the first, the cosine 1 - z / 2 + z z times the second, of z = x x.",
            "#: The highest power comes first.",
            *_tuple("SINE", "sin_series"),
            *_tuple("COSINE", "cos_series"),
        ]
    return "\n".join(lines) + "\n"


def _tuple(name: str, series: str) -> Iterator[str]:
    one = next(one for one in SERIES if one.name == series)
    yield f"{name} = ("
    yield from _lines(reversed(one.coefficients(DOUBLE)))
    yield ")"


def _lines(numbers: Iterable[Number]) -> Iterator[str]:
    return (f"    {_literal(number)}," for number in numbers)


def _literal(number: Number) -> str:
    return DOUBLE.literal(number).removesuffix("lf")
