"""Moving offsets: offsets of layouts that are run-time parameters of a plan.

A loop over rows records views and writes that differ in their offsets alone. A plan in which these offsets move serves
all of them. While such a plan is made, a :class:`Moving` takes the place of the number in layouts. It supports the
operations that are right for all its values, such as adding a number. All others raise :class:`MustStay`, and the plan
is made again with that offset as a number.
"""

from collections.abc import Sequence
from typing import Any, Final, NoReturn, cast


class MustStay(Exception):  # noqa: N818  # a request to the maker of a plan, not an error
    """A plan depends on the values of some numbers of its pattern, by their numbers there."""

    def __init__(self, *numbers: int) -> None:
        super().__init__(*numbers)
        self.numbers = numbers


class Moving:
    """The offset ``scale * value + base``, where ``value`` is a parameter of a run.

    Parameters
    ----------
    symbol : int
        Which parameter: a number of the pattern, and in a step the number of a scalar.
    example : int
        The value of the parameter in the graph for which the plan is made.
    divisor : int
        A number that divides the parameter in all runs.
    scale, base : int
        The coefficients.
    assumed : list, optional
        Collects pairs of layouts that the plan assumes to be apart.
    number : int, optional
        The number of the pattern, if ``symbol`` is that of a scalar.
    """

    __slots__ = ("assumed", "base", "divisor", "example", "number", "scale", "symbol")

    def __init__(
        self,
        symbol: int,
        example: int,
        divisor: int = 1,
        scale: int = 1,
        base: int = 0,
        assumed: "list[tuple[Any, Any]] | None" = None,
        number: int | None = None,
    ) -> None:
        self.number = symbol if number is None else number
        self.symbol = symbol
        self.example = example
        self.divisor = divisor
        self.scale = scale
        self.base = base
        self.assumed = assumed

    def at(self, value: int) -> int:
        """Return the offset for a value of the parameter."""
        return self.scale * value + self.base

    def is_multiple(self, number: int) -> bool:
        """Whether the offset is known to be a multiple of a number."""
        return self.base % number == 0 and self.scale * self.divisor % number == 0

    def renamed(self, symbol: int) -> "Moving":
        """Return the same offset of another parameter."""
        return Moving(symbol, self.example, self.divisor, self.scale, self.base, None, self.number)

    def with_numbers(self, scale: int, base: int) -> "Moving":
        """Return the offset of the same parameter with other coefficients."""
        return Moving(self.symbol, self.example, self.divisor, scale, base, self.assumed, self.number)

    def __add__(self, other: Any) -> "Moving":
        if isinstance(other, Moving):
            raise MustStay(self.number)
        return self.with_numbers(self.scale, self.base + other) if other else self

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        """Return the difference, a number if both move together."""
        if not isinstance(other, Moving):
            return self + -other
        if self.follows(other):
            return self.base - other.base
        raise MustStay(self.number)

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, Moving):
            raise MustStay(self.number)
        return self.with_numbers(self.scale * factor, self.base * factor) if factor else 0

    __rmul__ = __mul__

    def follows(self, other: "Moving") -> bool:
        """Whether the difference from another moving offset is the same in all runs."""
        return self.symbol == other.symbol and self.scale == other.scale

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moving):
            return False
        is_alike = self.follows(other) and self.base == other.base and self.divisor == other.divisor
        return is_alike and self.assumed is other.assumed  # layouts of another plan are kept in caches

    def __hash__(self) -> int:
        return hash((Moving, self.symbol, self.scale, self.base))

    def __bool__(self) -> bool:
        """Whether the offset must be added: it may be zero only in some runs."""
        return True

    def __repr__(self) -> str:
        scaled = f"p{self.symbol}" if self.scale == 1 else f"{self.scale}*p{self.symbol}"
        return f"{scaled}{self.base:+d}" if self.base else scaled

    def _refuse(self, *_: Any) -> NoReturn:
        raise MustStay(self.number)

    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = __rdivmod__ = _refuse
    __rsub__ = __neg__ = __abs__ = __index__ = __int__ = _refuse


def as_number(number: Any) -> int:
    """Return a number that moves or varies, to be put where a number is expected."""
    return cast(int, number)


def is_moving(offset: object) -> bool:
    """Whether an offset moves."""
    return type(offset) is Moving


def is_multiple(offset: int, number: int) -> bool:
    """Whether an offset is a multiple of a number, in all runs if it moves."""
    moving: Any = offset
    return moving.is_multiple(number) if type(moving) is Moving else offset % number == 0


def at_values(offset: int, values: Sequence[int]) -> int:
    """Return an offset for the values of the parameters, by symbol."""
    moving: Any = offset
    return moving.at(values[moving.symbol]) if type(moving) is Moving else offset


#: The parameter of a view or a write: the first, as of generators.
PART: Final = 0
