"""Varying numbers: extents, strides and offsets of graphs that share one plan but have other sizes.

A loop over `a[k, :k]` records graphs that differ in sizes. A plan for all of them is made once, with a
:class:`Varying` in place of each number that differs. It computes as an integer does. Wherever the planner compares
it, it answers as the number of the graph at hand would, and notes that answer as a condition. A graph that fulfils all
conditions has the same plan, but for the values of these numbers, because the planner would take the same way. So do
functions of the steps of the plan, such as code generation (:meth:`Sizes.derived`).
"""

import operator
from collections.abc import Callable, Sequence
from copy import copy
from math import prod
from typing import Any, Final, NoReturn, cast

from gpuarray.graph.moving import Moving, MustStay
from gpuarray.graph.terms import Division, Question, Terms, added, append_quotients, product, reply, scaled, value_of

#: Most extents are at least this, which decides most comparisons without a condition.
_SEVERAL: Final = 2


class Sizes:
    """The parameters of the varying numbers of one plan, and the conditions under which it is right.

    Parameters
    ----------
    numbers : sequence of int
        Which numbers of the pattern the parameters are.
    example : sequence of int
        Their values in the graph for which the plan is made.
    extents : sequence of bool
        Which of them are extents.
    """

    __slots__ = ("_example", "_least", "_may_stay", "answers", "divisions", "numbers")

    def __init__(self, numbers: Sequence[int], example: Sequence[int], extents: Sequence[bool]) -> None:
        self.numbers = tuple(numbers)
        self._example = [*example]
        self._least = [
            _SEVERAL if is_extent and value >= _SEVERAL else None
            for value, is_extent in zip(example, extents, strict=True)
        ]
        self.divisions: dict[Division, int] = {}
        """The numbers of quotients and remainders as factors."""
        self.answers: dict[Question, tuple[bool, int]] = {}
        """In the order in which they were given, each with how many divisions there were."""
        for number, (value, is_extent) in enumerate(zip(example, extents, strict=True)):
            if is_extent:
                self.answers[True, (((), -_SEVERAL), ((number,), 1))] = value < _SEVERAL, 0
        self._may_stay = True

    def derived(self, values: Sequence[int]) -> tuple["Sizes", list["Varying"]]:
        """Return other parameters for a part of a plan, with their own conditions, and all factors.

        Where a computation needs a value, the condition is that the value is the same, and no ``MustStay`` is raised.
        """
        sizes = copy(self)
        sizes._example = self.factors(values)
        sizes._least, sizes.divisions, sizes.answers = [*self._least], {**self.divisions}, {}
        sizes._may_stay = False
        return sizes, [sizes.number(factor) for factor in range(len(sizes._example))]

    def number(self, parameter: int) -> "Varying":
        """Return a parameter as a number."""
        return Varying((((parameter,), 1),), self)

    def factors(self, values: Sequence[int]) -> list[int]:
        """Return the values of all factors for those of the parameters."""
        factors = [*values]
        append_quotients(factors, self.divisions)
        return factors

    def example(self, terms: Terms) -> int:
        """Return a sum in the graph for which the plan is made."""
        return value_of(terms, self._example)

    def divide(self, terms: Terms, divisor: Terms, *, is_quotient: bool) -> "Varying":
        """Return a quotient or a remainder."""
        key = is_quotient, terms, divisor
        factor = self.divisions.get(key)
        if factor is None:
            factor = self.divisions[key] = len(self._example)
            value, by = self.example(terms), self.example(divisor)
            self._example.append(value // by if is_quotient else value % by)
            least = self._at_least(terms), self._at_least(divisor)
            self._least.append(0 if all(one is not None and one >= 0 for one in least) else None)
        return Varying((((factor,), 1),), self)

    def _at_least(self, terms: Terms) -> int | None:
        """Return the least value that a sum surely has; None if that is not known."""
        total = 0
        for factors, coefficient in terms:
            least = [self._least[factor] for factor in factors]
            if not factors:
                total += coefficient
            elif coefficient < 0 or None in least:
                return None
            else:
                total += coefficient * prod(cast(list[int], least))
        return total

    def is_negative(self, terms: Terms) -> bool:
        """Return whether a sum is negative, and note it."""
        return self._answer(terms, asks_negative=True)

    def is_zero(self, terms: Terms) -> bool:
        """Return whether a sum is zero, and note it."""
        return self._answer(terms, asks_negative=False)

    def _answer(self, terms: Terms, *, asks_negative: bool) -> bool:
        least = self._at_least(terms)
        if least is not None and least >= (0 if asks_negative else 1):
            return False
        least = self._at_least(scaled(terms, -1))
        if least is not None and least > 0:
            return asks_negative
        question = asks_negative, terms
        known = self.answers.get(question)
        if known is None:
            known = self.answers[question] = reply(question, self._example), len(self.divisions)
        return known[0]

    def value(self, terms: Terms) -> int:
        """Return the value of a sum; the plan then depends on it.

        Raises
        ------
        MustStay
            If the parameters are those of a plan, to request that they are numbers.
        """
        if self._may_stay:
            self._must_stay(terms)
        value = self.example(terms)
        self.is_zero(added(terms, (((), -value),)))
        return value

    def _must_stay(self, terms: Terms) -> NoReturn:
        divisions = [*self.divisions]
        count = len(self.numbers)
        fixed: set[int] = set()
        waiting = [factor for factors, _ in terms for factor in factors]
        while waiting:
            factor = waiting.pop()
            if factor < count:
                fixed.add(self.numbers[factor])
            else:
                _, one, other = divisions[factor - count]
                waiting += [factor for factors, _ in one + other for factor in factors]
        raise MustStay(*fixed)


def _by_value(compute: Callable[[Any, Any], Any]) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """Return the methods of an operator of two operands for numbers of which it takes the value."""
    return lambda varying, other: compute(int(varying), other), lambda varying, other: compute(other, int(varying))


def _by_terms(
    compute: Callable[[Any, Any], Any], combine: Callable[["Varying", Terms], Any]
) -> Callable[["Varying", Any], Any]:
    """Return the method of an operator, which combines integers as sums, and takes the value for other numbers."""

    def method(self: "Varying", other: Any) -> Any:
        terms = self._terms(other)
        if terms is not None:
            return combine(self, terms)
        return NotImplemented if type(other) is Moving else compute(int(self), other)  # what moves computes it itself

    return method


class Varying:
    """An integer that is a sum of products of parameters.

    Parameters
    ----------
    terms : Terms
        The sum.
    sizes : Sizes
        Whose parameters they are.
    """

    __slots__ = ("_hash", "sizes", "terms")

    def __init__(self, terms: Terms, sizes: Sizes) -> None:
        self.terms = terms
        self.sizes = sizes
        self._hash = hash((id(sizes), terms))

    def at(self, factors: Sequence[int]) -> int:
        """Return the value for what :meth:`Sizes.factors` returned."""
        return value_of(self.terms, factors)

    @property
    def example(self) -> int:
        """The value in the graph for which the plan is made."""
        return self.sizes.example(self.terms)

    def _terms(self, other: Any) -> Terms | None:
        """Return another number as a sum; None if it is none."""
        if type(other) is Varying:
            return other.terms
        return ((((), other),) if other else ()) if type(other) is int or type(other) is bool else None

    def _sum(self, terms: Terms) -> Any:
        if not terms:
            return 0
        return terms[0][1] if len(terms) == 1 and not terms[0][0] else Varying(terms, self.sizes)

    def _divided(self, one: Terms, other: Terms, *, is_quotient: bool) -> Any:
        if self.sizes.is_zero(other):
            raise ZeroDivisionError
        if one == other:
            return 1 if is_quotient else 0
        if len(other) == 1 and not other[0][0] and all(coefficient % other[0][1] == 0 for _, coefficient in one):
            by = other[0][1]
            return self._sum(tuple([(f, c // by) for f, c in one])) if is_quotient else 0
        return self.sizes.divide(one, other, is_quotient=is_quotient)

    def _is_negative(self, terms: Terms) -> bool:
        return bool(terms) and self.sizes.is_negative(terms)

    __add__ = __radd__ = _by_terms(operator.add, lambda varying, terms: varying._sum(added(varying.terms, terms)))
    __sub__ = _by_terms(operator.sub, lambda varying, terms: varying._sum(added(varying.terms, scaled(terms, -1))))
    __mul__ = __rmul__ = _by_terms(operator.mul, lambda varying, terms: varying._sum(product(varying.terms, terms)))
    __floordiv__ = _by_terms(
        operator.floordiv, lambda varying, terms: varying._divided(varying.terms, terms, is_quotient=True)
    )
    __mod__ = _by_terms(operator.mod, lambda varying, terms: varying._divided(varying.terms, terms, is_quotient=False))
    __lt__ = _by_terms(
        operator.lt, lambda varying, terms: varying._is_negative(added(varying.terms, scaled(terms, -1)))
    )
    __gt__ = _by_terms(
        operator.gt, lambda varying, terms: varying._is_negative(added(scaled(varying.terms, -1), terms))
    )

    def __neg__(self) -> Any:
        return self._sum(scaled(self.terms, -1))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __rfloordiv__(self, other: Any) -> Any:
        terms = self._terms(other)
        return other // int(self) if terms is None else self._divided(terms, self.terms, is_quotient=True)

    def __rmod__(self, other: Any) -> Any:
        terms = self._terms(other)
        return other % int(self) if terms is None else self._divided(terms, self.terms, is_quotient=False)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    # -- conditions ---------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        terms = self._terms(other)
        if terms is None:
            return int(self) == other if isinstance(other, float) else NotImplemented
        terms = added(self.terms, scaled(terms, -1))
        return not terms or self.sizes.is_zero(terms)

    def __hash__(self) -> int:
        return self._hash

    def __ge__(self, other: Any) -> Any:
        return not self < other

    def __le__(self, other: Any) -> Any:
        return not self > other

    def __bool__(self) -> bool:
        return not self.sizes.is_zero(self.terms)

    def __repr__(self) -> str:
        return " + ".join("*".join([str(c), *(f"n{f}" for f in factors)]) for factors, c in self.terms)

    # -- what takes the value ------------------------------------------------------------------------------------------

    def __index__(self) -> int:
        return self.sizes.value(self.terms)

    __int__ = __index__

    def __float__(self) -> float:
        return float(int(self))

    def __format__(self, form: str) -> str:
        return format(int(self), form)

    def __str__(self) -> str:
        return str(int(self))

    def bit_length(self) -> int:
        """Return the number of bits, as that of integers."""
        return int(self).bit_length()

    __truediv__, __rtruediv__ = _by_value(operator.truediv)
    __pow__, __rpow__ = _by_value(operator.pow)
    __and__, __rand__ = _by_value(operator.and_)
    __or__, __ror__ = _by_value(operator.or_)
    __xor__, __rxor__ = _by_value(operator.xor)
    __lshift__, __rlshift__ = _by_value(operator.lshift)
    __rshift__, __rrshift__ = _by_value(operator.rshift)


def varies(number: object) -> bool:
    """Whether a number is one that varies."""
    return type(number) is Varying


def at_example(number: int) -> int:
    """Return a number in the graph for which the plan is made."""
    value: Any = number
    if type(value) is Moving:
        value = value.at(value.example)
    return value.example if type(value) is Varying else value
