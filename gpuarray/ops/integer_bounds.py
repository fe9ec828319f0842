"""Bounds of integers: between which numbers results are, given those between which the operands are.

The column ``bounds`` of elementwise operations and of reductions holds these functions. Bounds do not wrap: what reads
the column compares them with those of the dtype.
"""

from typing import TypeAlias

#: The lowest and the highest number.
Bounds: TypeAlias = tuple[int, int]


def same(x: Bounds) -> Bounds:
    """Return the bounds of the operand."""
    return x


def negated(x: Bounds) -> Bounds:
    """Return the bounds of negative values."""
    return -x[1], -x[0]


def of_sum(x: Bounds, y: Bounds) -> Bounds:
    """Return the bounds of sums."""
    return x[0] + y[0], x[1] + y[1]


def of_difference(x: Bounds, y: Bounds) -> Bounds:
    """Return the bounds of differences."""
    return of_sum(x, negated(y))


def of_product(x: Bounds, y: Bounds) -> Bounds:
    """Return the bounds of products."""
    products = [a * b for a in x for b in y]
    return min(products), max(products)


def of_quotient(x: Bounds, y: Bounds) -> Bounds | None:
    """Return the bounds of quotients, rounded down, by a positive number."""
    return (x[0] // y[0], x[1] // y[0]) if y[0] == y[1] > 0 else None


def of_remainder(_x: Bounds, y: Bounds) -> Bounds | None:
    """Return the bounds of remainders of a division by positive numbers."""
    return (0, y[1] - 1) if y[0] > 0 else None


def of_least(x: Bounds, y: Bounds) -> Bounds:
    """Return the bounds of the smaller operands."""
    return min(x[0], y[0]), min(x[1], y[1])


def of_largest(x: Bounds, y: Bounds) -> Bounds:
    """Return the bounds of the larger operands."""
    return max(x[0], y[0]), max(x[1], y[1])


def of_choice(_condition: Bounds, x: Bounds, y: Bounds) -> Bounds:
    """Return the bounds of values that are of one operand or the other."""
    return min(x[0], y[0]), max(x[1], y[1])


def of_elements(x: Bounds | None, _count: int) -> Bounds | None:
    """Return the bounds of a result that is one of the elements that are reduced."""
    return x


def of_positions(_x: Bounds | None, count: int) -> Bounds:
    """Return the bounds of positions among the elements that are reduced."""
    return 0, count - 1
