"""Sums of products of numbered factors: additions, products, quotients and comparisons of them, as data."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

#: A sum of products: by the numbers of the factors, in order, a coefficient.
Terms: TypeAlias = tuple[tuple[tuple[int, ...], int], ...]

#: A quotient, or else a remainder, of two sums.
Division: TypeAlias = tuple[bool, Terms, Terms]
#: A comparison of a sum with zero: True and the sum ask whether it is negative, False and the sum whether it is zero.
Question: TypeAlias = tuple[bool, Terms]


def append_quotients(factors: list[int], divisions: Iterable[Division]) -> None:
    """Append the values of quotients and remainders to the factors."""
    for is_quotient, terms, divisor in divisions:
        value, by = value_of(terms, factors), value_of(divisor, factors)
        factors.append(0 if not by else value // by if is_quotient else value % by)


def reply(question: Question, factors: Sequence[int]) -> bool:
    """Return the answer to a comparison."""
    asks_negative, terms = question
    value = value_of(terms, factors)
    return value < 0 if asks_negative else value == 0


def value_of(terms: Terms, values: Sequence[int]) -> int:
    """Return the value of a sum for those of the factors."""
    total = 0
    for factors, coefficient in terms:
        for factor in factors:
            coefficient *= values[factor]
        total += coefficient
    return total


def added(one: Terms, other: Terms) -> Terms:
    """Return the sum of two sums."""
    total = dict(one)
    for factors, coefficient in other:
        total[factors] = total.get(factors, 0) + coefficient
    return tuple(sorted([item for item in total.items() if item[1]]))


def scaled(terms: Terms, scale: int) -> Terms:
    """Return a multiple of a sum."""
    return tuple([(factors, scale * coefficient) for factors, coefficient in terms])


def product(one: Terms, other: Terms) -> Terms:
    """Return the product of two sums."""
    total: dict[tuple[int, ...], int] = {}
    for first, a in one:
        for second, b in other:
            factors = tuple(sorted(first + second))
            total[factors] = total.get(factors, 0) + a * b
    return tuple(sorted([item for item in total.items() if item[1]]))
