"""The two kinds of measurement: a workload that every peer runs, and a probe of this package alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import Any, Final

import numpy as np

from bench.peers import NUMPY

Inputs = Sequence[np.ndarray]

#: Bytes of the part of the inputs that NumPy computes a reference from, where every part of a result has its own.
PART: Final = 32 << 20
#: Libraries that would run the kernels of another one after seconds of compiling.
COMPILED: Final = ("torch-compile",)
COMPILERS: Final = ("torch-compile", "jax")


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
    flops : callable or None
        From the scaled size to the additions and multiplications, where they are what takes the time.
    limit : str
        The workload whose fastest library shows what is possible on a device: of bytes, or of ``flops`` a second.
    reference : callable or None
        From the scaled size and the inputs to what is right, where NumPy takes long to run all of it: as much as the
        whole result, or of an array every k-th element along the first axis; see :func:`parts`.
    seen : callable or None
        From a result and the inputs to what is compared with the reference, where more than one result is right.
    steps : int
        How often ``run`` is called for one result; it then returns a tuple that takes the place of the inputs, which it
        may change, and the result is its first.
    moves : str
        ``"up"`` or ``"down"`` if nothing is computed: the inputs are moved to the device, or from it.
    read : bool
        Whether the result is read back within the time, as a number or a small array; otherwise it stays on the device.
    tolerance : float
        Largest accepted difference from NumPy, relative to NumPy's largest value.
    scaled : bool
        Whether ``--scale`` applies.
    places : tuple of str
        Kinds of devices for which it is meant.
    without : tuple of str
        Peers, by the beginnings of their names, that it is not meant for.
    """

    name: str
    size: int
    inputs: Callable[[int], Inputs]
    run: Callable[..., Any]
    numexpr: Callable[..., Any] | None = None
    nbytes: Callable[[int], int]
    flops: Callable[[int], float] | None = None
    limit: str = "copy"
    reference: Callable[[int, Inputs], Any] | None = None
    seen: Callable[[np.ndarray, Inputs], np.ndarray] | None = None
    steps: int = 1
    moves: str = ""
    read: bool = False
    tolerance: float = 1e-5
    scaled: bool = True
    places: tuple[str, ...] = ("cpu", "gpu")
    without: tuple[str, ...] = ()


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


@lru_cache(maxsize=2)  # of large arrays it takes longer than what is measured, and neighbours have the same
def uniform(*shape: int, low: float = -2.0, high: float = 2.0, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    """Return the same pseudo-random numbers at each call."""
    values = np.random.default_rng(seed).random(shape, dtype=dtype)
    values *= high - low
    values += low
    return values


def complex_uniform(*shape: int, seed: int = 0) -> np.ndarray:
    """Return the same complex64 numbers at each call."""
    return uniform(*shape, 2, seed=seed).view(np.complex64)[..., 0]


def thinned(run: Callable[..., Any]) -> Callable[[int, Inputs], Any]:
    """Return a reference that is every 64th element of what NumPy makes: so much need be read from a device."""
    return lambda size, inputs: run(NUMPY, size, *inputs)[::64]


def parts(run: Callable[..., Any], *which: int) -> Callable[[int, Inputs], Any]:
    """Return a reference of ``run`` from every k-th of its inputs along the first axis, all of them or ``which``.

    It is every k-th of the result: for functions of single elements, of rows, of the rows of a matrix.
    """

    def reference(size: int, inputs: Inputs) -> Any:
        chosen = which or range(len(inputs))
        length = inputs[chosen[0]].shape[0]
        nbytes = sum(inputs[number].nbytes for number in chosen)
        step = max(1, min(-(-nbytes // PART), isqrt(length)))  # more than the root could not be told from the lengths
        cut = [array[::step] if number in chosen else array for number, array in enumerate(inputs)]
        return run(NUMPY, cut[chosen[0]].shape[0], *cut)

    return reference
