"""Motions: which numbers of a graph change within the graphs that share its plans."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter, sub
from typing import Any, TypeAlias

from gpuarray.graph.layouts import Layout, are_apart
from gpuarray.graph.moving import Moving, as_number, is_moving
from gpuarray.graph.varying import Sizes, Varying

#: Returns some of the numbers of a graph.
Picker: TypeAlias = Callable[[Sequence[int]], tuple[int, ...]]


@dataclass(slots=True, eq=False)
class Motion:
    """The numbers of a graph: which of them change, and what holds of all of them in every graph of its plans.

    Attributes
    ----------
    still : dict of int
        The values of numbers that do not change.
    following : dict of (int, int)
        For each number that changes, the number that it follows, and the difference.
    divisors : dict of int
        A divisor of each offset that moves and is followed.
    varying : list of int
        The numbers that vary and are followed.
    assumed : list of (Layout, Layout)
        Pairs of layouts that plans assume to be apart.
    """

    still: dict[int, int]
    following: dict[int, tuple[int, int]]
    divisors: dict[int, int]
    varying: list[int]
    assumed: list[tuple[Layout, Layout]] = field(default_factory=list)
    sizes: Picker = field(init=False)
    """Returns the values of the parameters of numbers that vary, of a graph's numbers."""
    _still: Picker = field(init=False)
    _followers: Picker = field(init=False)
    _leaders: Picker = field(init=False)
    _values: tuple[int, ...] = field(init=False)
    _apart: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        followers = {number: led for number, led in self.following.items() if number != led[0]}
        self.sizes, self._still = picker(self.varying), picker([*self.still])
        self._followers, self._leaders = picker([*followers]), picker([leader for leader, _ in followers.values()])
        self._values, self._apart = tuple(self.still.values()), tuple([apart for _, apart in followers.values()])

    def fits(self, numbers: Sequence[int]) -> bool:
        """Whether a graph of the pattern has such numbers."""
        return (
            self._still(numbers) == self._values
            and tuple(map(sub, self._followers(numbers), self._leaders(numbers))) == self._apart
            and all(numbers[leader] % divisor == 0 for leader, divisor in self.divisors.items())
            and all(are_apart(_at(first, numbers), _at(second, numbers)) for first, second in self.assumed)
        )

    def without_sizes(self, numbers: Sequence[int]) -> "Motion":
        """Return the motion of the graph with these numbers alone."""
        return Motion(dict(enumerate(numbers)), {}, {}, [])

    def changed(
        self, numbers: Sequence[int], extents: Sequence[bool]
    ) -> tuple[list[int], list[tuple[Layout, Layout]], Sizes | None]:
        """Return the numbers of a graph with those in their place that change.

        Beside them, return the list in which the maker of a plan notes layouts that it assumes to be apart, and what
        notes the conditions for numbers that vary.
        """
        assumed: list[tuple[Layout, Layout]] = []
        sizes = None
        if self.varying:
            sizes = Sizes(self.varying, self.sizes(numbers), [extents[number] for number in self.varying])
        renumbered = [*numbers]
        for number, (leader, apart) in self.following.items():
            if leader in self.divisors:
                renumbered[number] = as_number(
                    Moving(leader, numbers[leader], self.divisors[leader], 1, apart, assumed)
                )
            elif sizes is not None:
                renumbered[number] = as_number(sizes.number(self.varying.index(leader)) + apart)
        return renumbered, assumed, sizes


def picker(places: Sequence[int]) -> Picker:
    """Return a function that returns the items at some places of a sequence, faster than a loop does."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda items: tuple([items[place] for place in places])


def _at(layout: Layout, numbers: Sequence[int]) -> Layout:
    """Return a layout of a plan in a graph with these numbers."""

    def value(number: Any) -> int:
        if is_moving(number):
            number = number.at(numbers[number.symbol])
        if not isinstance(number, Varying):
            return int(number)
        return number.at(number.sizes.factors([numbers[parameter] for parameter in number.sizes.numbers]))

    return layout.at(value)
