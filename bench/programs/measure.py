"""Measures programs: times beside NumPy's, and what the package did."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from time import perf_counter
from typing import Any, Final

import numpy as np

import gpuarray as xp
from bench.programs.base import Array, Program

COUNTED: Final = ("plans", "compiles", "launches", "evaluations", "fallbacks")


@dataclass(frozen=True)
class Figures:
    """Seconds of the first call and of the fastest of the others, and counters of the first and of the last call."""

    first: float
    best: float
    counted: dict[str, int]
    again: dict[str, int]
    result: Array


def measured(
    namespace: Any, program: Program, given: Sequence[Array], convert: Callable[[Any], Array], repeat: int
) -> Figures:
    """Run a program with a namespace; ``convert`` returns results as NumPy arrays, which waits for them."""
    arrays = [namespace.asarray(array) for array in given]
    seconds: list[float] = []
    counts: list[dict[str, int]] = []
    result = np.empty(0)
    for _ in range(max(2, repeat)):
        before = xp.stats()
        start = perf_counter()
        result = convert(program.function(namespace, *arrays))
        seconds.append(perf_counter() - start)
        counts.append({name: int(xp.stats()[name]) - int(before[name]) for name in COUNTED})
    return Figures(seconds[0], min(seconds[1:]), counts[0], counts[-1], result)


def on_numpy(program: Program, size: str, repeat: int = 3) -> Figures:
    """Run a program with NumPy."""
    return measured(np, program, program.arrays(size), np.asarray, repeat)


def on_device(program: Program, size: str, device: str, repeat: int = 3) -> Figures:
    """Run a program with this package on a device."""
    with xp.using(device=device):
        return measured(xp, program, program.arrays(size), np.asarray, repeat)


def on_cupy(program: Program, size: str, repeat: int = 3) -> Figures | None:
    """Run a program with CuPy; None if there is none, or if it cannot run the program."""
    try:
        cupy = import_module("cupy")
        return measured(cupy, program, program.arrays(size), cupy.asnumpy, repeat)
    except Exception:  # of many classes, for want of a package, a device, or one of NumPy's functions
        return None


def is_equal(actual: Figures, expected: Figures) -> bool:
    """Whether two runs have one result, but for the order of additions."""
    return bool(np.allclose(actual.result, expected.result, rtol=1e-6, atol=1e-8, equal_nan=True))
