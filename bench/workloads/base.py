"""The two kinds of measurement: a workload that every peer runs, and a probe of this package alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Inputs = Sequence[np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One function against a namespace.

    Attributes
    ----------
    name : str
        How the command line calls it.
    size : int
        Elements, or whatever the workload counts, at scale 1.
    inputs : callable
        From the scaled size to NumPy arrays.
    run : callable
        From a namespace, the scaled size and the peer's arrays to the result.
    numexpr : callable or None
        The same from numexpr's ``evaluate`` and NumPy arrays, where that language can say it.
    nbytes : callable
        From the scaled size to the bytes that must go through memory at least: inputs once, outputs once.
    read : bool
        Whether the result is read back within the time, as a number or a small array; otherwise it stays on the device.
    tolerance : float
        Largest accepted difference from NumPy, relative to NumPy's largest value.
    scaled : bool
        Whether ``--scale`` applies.
    """

    name: str
    size: int
    inputs: Callable[[int], Inputs]
    run: Callable[..., Any]
    numexpr: Callable[..., Any] | None = None
    nbytes: Callable[[int], int]
    read: bool = False
    tolerance: float = 1e-5
    scaled: bool = True


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A figure of this package alone, such as the time of its import.

    Attributes
    ----------
    name : str
        How the command line calls it.
    run : callable
        From a device's name to figures by name; their units are in the names.
    each_device : bool
        Whether the figures depend on the device.
    """

    name: str
    run: Callable[[str], Mapping[str, float]]
    each_device: bool = True


def uniform(*shape: int, low: float = -2.0, high: float = 2.0, dtype: Any = np.float32) -> np.ndarray:
    """Return the same pseudo-random numbers at each call."""
    values = np.random.default_rng(0).random(shape, dtype=dtype)
    values *= high - low
    values += low
    return values
