"""The polynomials of ``series_f32.wgsl`` and ``series_f64.wgsl``: what each approximates, where, and how well.

A weight turns the polynomial's error into the relative one of the function that is made of it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from mpmath import mp

from bench.coefficients.minimax import largest_error, polynomial
from bench.coefficients.precision import DOUBLE, SINGLE, Precision

Number = Any
Real = Callable[[Number], Number]
_WIDE: Final = 200


def _of_square(function: Real) -> Real:
    """Return a function of x as one of z = x * x."""
    return lambda z: function(mp.sqrt(z))


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """A polynomial of the library.

    Attributes
    ----------
    name : str
        Of the WGSL function, before the precision.
    says : str
        Its comment.
    variable : str
        Of the WGSL function.
    function, weight : callable
        What the polynomial approximates, and the weight of its error.
    interval : tuple
        Where.
    terms : mapping
        Number of coefficients by precision; a precision that is missing has no such function.
    times : bool
        Whether the WGSL function is the polynomial times the variable.
    constant : str
        If the first coefficient is a constant of its own, and the function the polynomial of the others: its name.
    single : tuple
        The interval of single precision, if it has its own.
    whole : bool
        Whether what the rounding of the first coefficient loses has to be kept as a number of its own.
    """

    name: str
    says: str
    variable: str = "z"
    function: Real
    weight: Real
    interval: tuple[Number, Number]
    terms: Mapping[Precision, int]
    times: bool = False
    constant: str = field(default="")
    single: tuple[Number, Number] | None = None
    whole: bool = False

    def where(self, precision: Precision) -> tuple[Number, Number]:
        """Return the interval of a precision."""
        return self.single if self.single and precision is SINGLE else self.interval

    def coefficients(self, precision: Precision) -> list[Number]:
        """Return the coefficients, lowest first."""
        return _fitted(self, precision)

    def error(self, precision: Precision) -> float:
        """Return the largest relative error in units of the precision's last place."""
        error = largest_error(self.function, self.weight, self.where(precision), self.coefficients(precision))
        return float(error * mp.mpf(2) ** precision.digits)

    def text(self, precision: Precision) -> Iterator[str]:
        """Yield the lines of the WGSL function."""
        suffix = precision.float_
        literals = list(map(precision.literal, self.coefficients(precision)))
        yield f"// {self.says}: {self.error(precision):.2g} ULP."
        if self.constant:
            yield f"const {self.constant}_{suffix} = {literals.pop(0)};"
        text = (
            f"{self.variable} * ({_horner(literals, self.variable)})"
            if self.times
            else _horner(literals, self.variable)
        )
        head = f"fn {self.name}_{suffix}({self.variable}: {suffix}) -> {suffix} {{"
        if len(head) + len(text) < 100:
            yield f"{head} return {text}; }}"
        else:
            yield head
            yield from _wrapped(f"  return {text};")
            yield "}"


@lru_cache(maxsize=128)
def _fitted(series: Series, precision: Precision) -> list[Number]:
    return polynomial(
        series.function, series.weight, series.where(precision), series.terms[precision], precision.rounded
    )


def _horner(literals: list[str], variable: str) -> str:
    *first, last = literals
    return "".join(f"{c} + {variable} * (" for c in first[:-1]) + (
        f"{first[-1]} + {variable} * {last}" + ")" * (len(first) - 1) if first else last
    )


def _wrapped(line: str) -> Iterator[str]:
    while len(line) > 110:
        at = line.rindex(" + ", 0, 110)
        yield line[:at]
        line = "    " + line[at + 1 :]
    yield line


def _cube_root_range() -> tuple[Number, Number]:
    """Return the range of t**3 / m for the estimate t that :func:`cube_root_excess` gives for m in [1, 8)."""
    ratios = [(t**3 / m) for m, t in _cube_root_estimates()]
    return min(ratios), max(ratios)


def _as_bits(x: Number) -> Number:
    """Return exponent and fraction of x as one number: a logarithm made of straight pieces."""
    exponent = mp.floor(mp.log(x, 2))
    return exponent + x / mp.mpf(2) ** exponent - 1


def _from_bits(bits: Number) -> Number:
    return mp.mpf(2) ** mp.floor(bits) * (1 + bits - mp.floor(bits))


#: Subtracted from a third of the bits, in units of an exponent, for the smallest relative error of the estimate.
CUBE_ROOT_SHIFT: Final = mp.mpf("0.0331")


def _cube_root_estimates() -> Iterator[tuple[Number, Number]]:
    for k in range(513):
        m = mp.mpf(2) ** (mp.mpf(3) * k / 512)
        yield m, _from_bits(_as_bits(m) / 3 - CUBE_ROOT_SHIFT)


with mp.workprec(_WIDE):
    _QUARTER_TURN = mp.pi / 4
    _HALF_LN2 = mp.log(2) / 2
    _ROOT_2 = mp.sqrt(2)
    _CUBE_ROOTS = _cube_root_range()

BOTH: Final = (SINGLE, DOUBLE)


def _terms(single: int, double: int) -> Mapping[Precision, int]:
    return {SINGLE: single, DOUBLE: double}


_SINE: Real = lambda x: (mp.sin(x) - x) / x**3  # noqa: E731  # formulas read best as such


def _low_sine(precision: Precision) -> Real:
    """Return the sine's series, with a sine at pi/2 0.14 units of a precision's last place below 1."""
    lowered = mp.mpf("0.14") * mp.mpf(2) ** -precision.digits
    return lambda x: _SINE(x) - lowered * (x / (mp.pi / 2)) ** 8 / (mp.pi / 2) ** 3


SERIES: Final = (
    Series(
        name="exp_series", says="x / tanh(x / 2) - 2 for |x| <= log(2) / 2, t = x*x", variable="t",
        function=_of_square(lambda x: (x / mp.tanh(x / 2) - 2) / x**2), weight=lambda t: t,
        interval=(0, _HALF_LN2**2), terms=_terms(2, 5), times=True,
    ),
    Series(
        name="log_series", says="(log((1 + s) / (1 - s)) - 2 s) / s for 1 + s over 1 - s up to sqrt(2), z = s*s",
        function=_of_square(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3), weight=lambda z: z / 2,
        interval=(0, ((_ROOT_2 - 1) / (_ROOT_2 + 1)) ** 2), terms=_terms(4, 7), times=True,
    ),
    Series(
        name="log_power_series", says="(3/2 log((1 + s) / (1 - s)) - 3 s - s**3) / s**5 for |s| <= 0.102, z = s*s",
        function=_of_square(lambda s: (3 * mp.atanh(s) - 3 * s - s**3) / s**5), weight=lambda z: z**2 / 3,
        interval=(0, mp.mpf("0.102") ** 2), terms=_terms(4, 6),
    ),
    Series(
        name="sin_series", says="(sin(x) - x) / x**3, less the first term over x*x, for |x| <= pi/4, z = x*x",
        function=_of_square(_SINE), weight=lambda z: z,
        interval=(0, _QUARTER_TURN**2), terms=_terms(4, 6), constant="sin_first",
    ),
    Series(
        name="cos_series", says="(cos(x) - 1 + x*x/2) / x**4 for |x| <= pi/4, z = x*x",
        function=_of_square(lambda x: (mp.cos(x) - 1 + x**2 / 2) / x**4), weight=lambda z: z**2,
        interval=(0, _QUARTER_TURN**2), terms=_terms(4, 6),
    ),
    Series(
        name="tan_series", says="(tan(x) - x) / x**3, less the first term over x*x, for |x| <= 0.6745, z = x*x",
        function=_of_square(lambda x: (mp.tan(x) - x) / x**3), weight=lambda z: z,
        interval=(0, mp.mpf("0.6745") ** 2), terms=_terms(7, 13), constant="tan_first",
    ),
    Series(
        name="asin_series", says="(asin(x) - x) / x for |x| <= 1/2, z = x*x",
        function=_of_square(lambda x: (mp.asin(x) - x) / x**3), weight=lambda z: z,
        interval=(0, mp.mpf(1) / 4), terms=_terms(6, 13), times=True,
    ),
    Series(
        name="atan_series", says="(x - atan(x)) / x for |x| <= 7/16, z = x*x",
        function=_of_square(lambda x: (x - mp.atan(x)) / x**3), weight=lambda z: z,
        interval=(0, mp.mpf(49) / 256), terms=_terms(5, 11), times=True,
    ),
    Series(
        name="cbrt_series", says="1 / cbrt(r) for r = t**3 / m of the first estimate t of cbrt(m)", variable="r",
        function=lambda r: 1 / mp.cbrt(r), weight=lambda r: mp.cbrt(r),
        interval=_CUBE_ROOTS, terms=_terms(4, 5),
    ),
    Series(
        name="exp_fast_path_series", says="(exp(r) - 1 - r) / r**2 for |r| <= log(2) / 2", variable="r",
        function=lambda r: (mp.exp(r) - 1 - r) / r**2, weight=lambda r: r**2 / mp.exp(r),
        interval=(-_HALF_LN2, _HALF_LN2), terms=_terms(5, 10),
    ),
    Series(
        name="exp2_fast_path_series", says="(2**r - 1) / r for |r| <= 1/2", variable="r",
        function=lambda r: (mp.mpf(2) ** r - 1) / r, weight=lambda r: r / mp.mpf(2) ** r,
        interval=(-mp.mpf(1) / 2, mp.mpf(1) / 2), terms={SINGLE: 6},
    ),
    Series(
        name="power_fast_path_series",
        says="(atanh(q) - q - q**3 / 3) / q**5 for 1 + q over 1 - q up to sqrt(2), z = q*q",
        function=_of_square(lambda q: (mp.atanh(q) - q - q**3 / 3) / q**5), weight=lambda z: z**2,
        interval=(0, ((_ROOT_2 - 1) / (_ROOT_2 + 1)) ** 2), terms={SINGLE: 3},
    ),
    Series(
        name="log_fast_path_series", says="(log(1 + f) - f + f**2 / 2) / f**3 for 1 + f from sqrt(1/2) to sqrt(2)",
        variable="f", function=lambda f: (mp.log(1 + f) - f + f**2 / 2) / f**3, weight=lambda f: f**3 / mp.log(1 + f),
        interval=(1 / _ROOT_2 - 1, _ROOT_2 - 1), terms={SINGLE: 9},
    ),
    Series(
        name="tanh_fast_path_series", says="(tanh(x) - x) / x**3 for |x| <= 0.6, z = x*x",
        function=_of_square(lambda x: (mp.tanh(x) - x) / x**3), weight=_of_square(lambda x: x**3 / mp.tanh(x)),
        interval=(0, mp.mpf("0.6") ** 2), terms={SINGLE: 5},
    ),
    *(
        Series(
            name="sin_fast_path_series",
            says="(sin(x) - x) / x**3 for |x| <= pi/2, z = x*x, a little low there so that no sine is above 1",
            function=_of_square(_low_sine(precision)), weight=_of_square(lambda x: x**3 / mp.sin(x)),
            interval=(0, (2 * _QUARTER_TURN) ** 2), terms={precision: terms},
        )
        for precision, terms in _terms(5, 8).items()
    ),
)  # fmt: skip


def text(precision: Precision) -> str:
    """Return the file of a precision's polynomials."""
    lines = [
        "// Polynomials on the reduced ranges, minimax by Remez' exchange, with the largest relative error of what is",
        "// made of them. Written by bench/coefficients.",
        "",
    ]
    for series in SERIES:
        if precision in series.terms:
            lines += series.text(precision)
    return "\n".join(lines) + "\n"
