"""Programs as users write them: loops over parts, filters over time, grids, transforms, data, learning.

A program is a function of a namespace and of arrays, written for NumPy. It runs unchanged with this package and CuPy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SIZES: Final = ("small", "medium", "large")
PROGRAMS: "Final[dict[str, Program]]" = {}


@dataclass(frozen=True)
class Program:
    """A program with its data.

    Attributes
    ----------
    name, topic : str
        What it is called, and the module that it is in.
    function : callable
        The program: takes a namespace and the arrays.
    data : callable
        Returns the arrays for a length.
    lengths : tuple of int
        The lengths of the three sizes.
    """

    name: str
    topic: str
    function: Callable[..., Any]
    data: Callable[[int], tuple[Array, ...]]
    lengths: tuple[int, int, int]

    def arrays(self, size: str) -> tuple[Array, ...]:
        """Return the arrays of a size."""
        return self.data(self.lengths[SIZES.index(size)])


def program(
    data: Callable[[int], tuple[Array, ...]], small: int, medium: int, large: int
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a program over data of three lengths."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        topic = function.__module__.rpartition(".")[2]
        PROGRAMS[function.__name__] = Program(function.__name__, topic, function, data, (small, medium, large))
        return function

    return register


def _random(n: int) -> np.random.Generator:
    return np.random.default_rng(n)


# -- data --------------------------------------------------------------------------------------------------------------


def line(n: int) -> tuple[Array, ...]:
    """Return one array of ``n`` elements in [0, 1)."""
    return (_random(n).random(n),)


def square(n: int) -> tuple[Array, ...]:
    """Return one matrix of positive numbers."""
    return (_random(n).random((n, n)),)


def dominant(n: int) -> tuple[Array, ...]:
    """Return a symmetric positive definite matrix, and a vector."""
    a = _random(n).random((n, n))
    return a @ a.T / n + np.eye(n), _random(n + 1).random(n)


def tall(n: int) -> tuple[Array, ...]:
    """Return a table of ``n`` rows and 8 columns, and a column of targets."""
    x = _random(n).normal(size=(n, 8))
    return x, np.sin(x).sum(axis=1)


def steps(n: int) -> tuple[Array, ...]:
    """Return measurements at ``n`` times of 4 quantities."""
    return (np.cumsum(_random(n).normal(size=(n, 4)), axis=0) * 0.1,)


def systems(n: int) -> tuple[Array, ...]:
    """Return 64 lines for each of ``n`` systems."""
    return _random(n).random((64, n)), _random(n + 1).random((64, n))


def labelled(n: int) -> tuple[Array, ...]:
    """Return ``n`` values, and the group of each."""
    return _random(n).random(n), _random(n + 1).integers(0, 16, n)


def points(n: int) -> tuple[Array, ...]:
    """Return ``n`` points in space."""
    return (_random(n).normal(size=(n, 3)),)


def seeds(n: int) -> tuple[Array, ...]:
    """Return ``n`` bytes as integers."""
    return (_random(n).integers(0, 256, n),)
