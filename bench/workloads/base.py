"""The two kinds of measurements: workloads, which all peers run, and probes of this package alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import Any, Final

import numpy as np

from bench.peers import NUMPY

Inputs = Sequence[np.ndarray]

#: Bytes of the inputs from which NumPy computes a reference, if parts of the result are independent.
PART: Final = 32 << 20
#: Libraries that run the kernels of another library after seconds of compiling.
COMPILED: Final = ("torch-compile",)
COMPILERS: Final = ("torch-compile", "jax")


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A function of an array namespace.

    Attributes
    ----------
    name : str
        The name on the command line.
    size : int
        Elements, or whatever the workload counts, at scale 1.
    inputs : callable
        Function of the scaled size that returns NumPy arrays.
    run : callable
        Function of a namespace, the scaled size and the arrays that returns the result.
    numexpr : callable or None
        The same as a function of numexpr's ``evaluate`` and NumPy arrays, if numexpr supports it.
    nbytes : callable
        Function of the scaled size that returns the minimum memory traffic: inputs once, outputs once.
    flops : callable or None
        Function of the scaled size that returns additions and multiplications, if these are the limit.
    limit : str
        The workload whose best rate is the limit of a device, in bytes or ``flops`` per second.
    reference : callable or None
        Function of the scaled size and the inputs that returns the expected result, if NumPy takes long: the whole
        result, or every k-th element along the first axis; see :func:`parts`.
    seen : callable or None
        Function of a result and the inputs that returns the compared value, if several results are correct.
    steps : int
        Number of calls of ``run`` for one result. It then returns a tuple that replaces the inputs, which it may
        change, and whose first item is the result.
    moves : str
        ``"up"`` or ``"down"`` if the inputs are only uploaded or downloaded.
    read : bool
        Whether the time includes downloading the result, a number or a small array.
    tolerance : float
        Maximum difference from NumPy, relative to NumPy's largest value.
    scaled : bool
        Whether ``--scale`` applies.
    places : tuple of str
        Kinds of devices that it runs on.
    without : tuple of str
        Prefixes of the names of peers that do not run it.
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
    """A measurement of this package alone, such as the time of its import.

    Attributes
    ----------
    name : str
        The name on the command line.
    run : callable
        Function of the name of a device that returns measurements by name; names include units.
    each_device : bool
        Whether the measurements depend on the device.
    """

    name: str
    run: Callable[[str], Mapping[str, float]]
    each_device: bool = True


@lru_cache(maxsize=2)  # of large arrays it takes longer than what is measured, and neighbours have the same
def uniform(*shape: int, low: float = -2.0, high: float = 2.0, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    """Return the same pseudo-random numbers in each call."""
    values = np.random.default_rng(seed).random(shape, dtype=dtype)
    values *= high - low
    values += low
    return values


def complex_uniform(*shape: int, seed: int = 0) -> np.ndarray:
    """Return the same complex64 numbers in each call."""
    return uniform(*shape, 2, seed=seed).view(np.complex64)[..., 0]


def thinned(run: Callable[..., Any]) -> Callable[[int, Inputs], Any]:
    """Return every 64th element of NumPy's result as the reference, to limit downloads."""
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
