"""The constants of ``constants.wgsl`` and the digits of ``two_over_pi.wgsl``, computed.

A *split* constant is a sum of parts of which the first have few bits, so that their products with numbers that have few
bits too are exact; the last part is what remains, rounded.
"""

from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap
from typing import Any, Final

from mpmath import mp

from bench.coefficients.precision import PRECISIONS, Precision
from bench.coefficients.series import CUBE_ROOT_SHIFT

Number = Any
Literals = Mapping[str, str]
_BITS: Final = 1600
#: The bits that an exponent may have, as a number.
_EXPONENT: Final = {32: 8, 64: 11}
#: The bits of the number of quadrants up to which an argument is reduced by subtraction.
_QUADRANTS: Final = {32: 12, 64: 20}


def split(precision: Precision, value: Number, *bits: int) -> list[str]:
    """Return literals of parts with so many bits, and of the remainder."""
    parts = []
    for width in bits:
        parts.append(precision.cut(value, width))
        value -= parts[-1]
    return [precision.literal(part) for part in (*parts, precision.rounded(value))]


def _named(literals: list[str], *names: str) -> Literals:
    return dict(zip(names, literals, strict=True))


def _layout(p: Precision) -> Literals:
    fraction, bias = p.digits - 1, (1 << p.width - p.digits - 1) - 1
    magnitude = (1 << p.width - 1) - 1
    infinity = (2 * bias + 1) << fraction
    return {
        "one_bits": p.word(p.bits(1)),
        "sign_bit": p.word(1 << p.width - 1),
        "magnitude_bits": p.word(magnitude),
        "infinity_bits": p.word(infinity),
        "nan_bits": p.word(infinity | 1 << fraction - 1),
        "half_bits": p.word(p.bits(0.5)),
        "implicit_bit": p.word(1 << fraction),
        "fraction_width": f"{fraction}u",
        "exponent_bias": f"{bias}",
        "exponent_mask": f"{2 * bias + 1:#x}u",
    }


def _halves(p: Precision) -> Literals:
    return {"upper_half": p.word((1 << p.width) - (1 << p.digits - p.upper))}


def _words(p: Precision) -> Literals:
    return {"word_width": f"{p.width}u", "half_word_mask": p.word((1 << p.width // 2) - 1)}


def _logarithms(p: Precision) -> Literals:
    left = p.digits - _EXPONENT[p.width]
    return (
        _named(split(p, mp.log(2), left), "ln2_high", "ln2_low")
        | _named(split(p, mp.log10(2), left), "log10_2_high", "log10_2_low")
        | _named(split(p, 1 / mp.log(2), p.upper), "inverse_ln2_high", "inverse_ln2_low")
        | _named(split(p, 1 / mp.log(10), p.upper), "inverse_ln10_high", "inverse_ln10_low")
        | _named(split(p, mp.log(2), p.upper), "ln2_upper", "ln2_rest")
    )


def _powers(p: Precision) -> Literals:
    factor = 2 / (3 * mp.log(2))
    names = ("two_thirds_inverse_ln2_high", "two_thirds_inverse_ln2_low")
    return (
        _named(split(p, mp.log(1.5, 2), p.upper), "log2_1_5_high", "log2_1_5_low")
        | _named(split(p, factor, p.upper), *names)
        | {"two_thirds_inverse_ln2": p.literal(p.rounded(factor))}
    )


def _quadrants(p: Precision) -> Literals:
    left = p.digits - _QUADRANTS[p.width]
    parts = [f"half_pi_{k}" for k in range(1, 5)]
    return {"quadrants": p.literal(1 << _QUADRANTS[p.width])} | _named(split(p, mp.pi / 2, *[left] * 3), *parts)


def _angles(p: Precision) -> Literals:
    whole = p.digits
    quarter = p.rounded(mp.pi / 4)
    return (
        _named(split(p, mp.pi / 2, whole, whole), "half_pi", "half_pi_low", "half_pi_lowest")
        | _named(split(p, mp.atan(0.5), whole), "atan_half", "atan_half_low")
        | _named(split(p, mp.atan(1.5), whole), "atan_three_halves", "atan_three_halves_low")
        | {"quarter_pi_bits": p.word(p.bits(quarter) - int(quarter > mp.pi / 4))}
    )


def _small(p: Precision) -> Literals:
    return {
        "tiny_bits": p.word(p.bits(mp.mpf(2) ** -(p.digits // 2 + 1))),
        "minute_bits": p.word(p.bits(mp.mpf(2) ** -(p.digits + 2))),
    }


def _large(p: Precision) -> Literals:
    highest = mp.log(mp.mpf(2) ** (1 << p.width - p.digits - 1))
    half = p.digits // 2 + 2
    return {
        "exp_limit": p.literal(mp.floor(highest / 10) * 10),
        "large": p.literal(mp.mpf(2) ** half),
        "vast": p.literal(mp.mpf(2) ** (p.digits + 6)),
        "largest_power": p.literal(mp.mpf(2) ** (p.width + 6)),
    }


def _estimates(p: Precision) -> Literals:
    unit = mp.mpf(2) ** (p.digits - 1)
    bias = (1 << p.width - p.digits - 1) - 1
    excess = int(mp.nint((bias - mp.mpf(bias) / 3 - CUBE_ROOT_SHIFT) * unit))
    root = p.bits(p.rounded(mp.sqrt(2))) & ((1 << p.digits - 1) - 1)
    return {"sqrt_two_excess": p.word((1 << p.digits - 1) - root), "cbrt_excess": p.word(excess)}


GROUPS: Final[tuple[tuple[str, Callable[[Precision], Literals]], ...]] = (
    ("Layout of the binary formats.", _layout),
    ("The upper half of a number: a product of two such halves is exact.", _halves),
    ("Words of that width, and half of one.", _words),
    (
        "log(2) and log10(2) in two parts, the first with bits enough left for an exact product with an exponent; "
        "1/log(2), 1/log(10) and log(2) again, the first part as wide as the upper half of a number.",
        _logarithms,
    ),
    ("pow: log2(3/2) and 2/(3 log 2), the first part as wide as the upper half of a number.", _powers),
    (
        "Up to that many quadrants, products of their number with the first three parts of pi/2 are exact.",
        _quadrants,
    ),
    ("pi/2, atan(1/2) and atan(3/2) rounded, and what that lost; the bits of the last number below pi/4.", _angles),
    ("Below them odd functions are x itself to the last bit, and so are exp(x) - 1 and log(1 + x).", _small),
    (
        "Where exp is near overflow; where x*x + 1 is x*x; where 1/x is lost beside pi/2; exponents beyond which every "
        "power of a number other than 1 is 0 or infinite.",
        _large,
    ),
    (
        "What must be added to a fraction of sqrt(2) or more to carry into the next exponent. A first estimate of the "
        "cube root is (bits of x) / 3 + cbrt_excess.",
        _estimates,
    ),
)


#: Constants that are named after the integer type of their width.
_OF_WORDS: Final = ("word_width", "half_word_mask")


def text() -> str:
    """Return the file of constants."""
    with mp.workprec(_BITS):
        lines = [
            "// Constants of the formats and of the algorithms, for each precision. Written by bench/coefficients."
        ]
        for comment, literals in GROUPS:
            lines += ["", *(f"// {line}" for line in wrap(comment, 115))]
            tables = [(p, literals(p)) for p in PRECISIONS]
            for name in tables[0][1]:
                for p, table in tables:
                    lines.append(f"const {name}_{p.integer if name in _OF_WORDS else p.float_} = {table[name]};")
    return "\n".join(lines) + "\n"


def two_over_pi() -> str:
    """Return the file of the digits of 2/pi, as many words as ``reduce_large`` reaches at the largest exponent."""
    lines = [
        "// The bits of 2/pi after a first word of zeros, by words of the two widths. Written by bench/coefficients.",
        "",
    ]
    functions = []
    for p in PRECISIONS:
        words = [p.word(0), *two_over_pi_digits(p)]
        name = f"two_over_pi_words_{p.integer}"
        lines += _array(name, p.integer, words)
        functions.append(f"fn two_over_pi_{p.integer}(i: u32) -> {p.integer} {{ return {name}[i]; }}")
    return "\n".join([*lines, *functions]) + "\n"


def two_over_pi_digits(p: Precision) -> Iterator[str]:
    """Yield the words of 2/pi of a precision's width, as literals."""
    bias = (1 << p.width - p.digits - 1) - 1
    count = (bias + 1 - p.digits - 2 + p.width) // p.width + 3
    with mp.workprec(p.width * (count + 2)):
        bits = int(mp.floor(2 / mp.pi * mp.mpf(2) ** (p.width * count)))
    for k in reversed(range(count)):
        yield p.word((bits >> (p.width * k)) & ((1 << p.width) - 1))


def _array(name: str, integer: str, words: list[str]) -> Iterator[str]:
    yield f"const {name} = array<{integer}, {len(words)}>("
    per_line = 5 if integer == "u64" else 9
    for start in range(0, len(words), per_line):
        end = "," if start + per_line < len(words) else ");"
        yield f"  {', '.join(words[start : start + per_line])}{end}"
