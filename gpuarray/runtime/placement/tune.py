"""Tuning: measures the constants of an adapter's profile that decide how matrix products are split.

Compute units are counted by more and more tiles at a time, until these take longer than one. Then each tiling that the
device can run is timed on one square product, which gives the share of the device's arithmetic that it reaches. By
these figures :func:`gpuarray.codegen.product_choice.choose` decides for all sizes. A record is kept by driver and taken
when the device is opened, so that a process never changes its mind. Other kernels are not tuned: reductions took the
same time within 3 % with 528 to 32,768 workgroups that loaded one to eight vectors at a time.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Final

import numpy as np

from gpuarray import dtypes
from gpuarray.adapter_profile import AdapterProfile
from gpuarray.codegen.product_choice import Candidate, Choice, candidates, name_of, speed_of
from gpuarray.codegen.products import tiled_program
from gpuarray.codegen.target import for_target
from gpuarray.codegen.tiles import Tiling
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import ContractStep, CopyStep
from gpuarray.graph.layouts import contiguous
from gpuarray.providers.base import Provider, Task
from gpuarray.runtime.placement import timing

#: The sides of the products that are timed, by bytes of an element.
SIZES: Final = {4: 2048, 8: 1024}
#: Bytes that are copied: more than caches hold.
_COPIED: Final = 256 << 20
#: The tiling by which units are counted: it waits for arithmetic, not for memory, so that its workgroups hardly slow
#: each other down while each has a unit of its own. On an H100 132 tiles take 1.03 times as long as one, 133 take 1.8.
_PROBE: Final = Tiling(64, 64, 16, 4, 4)
_PROBE_DEPTH: Final = 2048
_LONGER: Final = 1.4
_MOST_UNITS: Final = 512


def ensure(provider: Provider) -> None:
    """Tune a device unless that was done for its driver, and let it use the measured tilings."""
    capabilities = provider.capabilities
    profile = capabilities.profile.recorded(capabilities.driver_name)
    if not profile.product_speeds:
        profile = tune(provider, lambda _: None)
    provider.capabilities = replace(capabilities, profile=profile)


def tune(provider: Provider, progress: Callable[[str], None]) -> AdapterProfile:
    """Measure a device's profile, record it, and return it.

    Parameters
    ----------
    provider : Provider
        One with :meth:`prepare_program`, which runs programs as they are.
    progress : callable
        Told what is measured.
    """
    capabilities = provider.capabilities
    progress("copies")
    profile = replace(capabilities.profile, bandwidth=_bandwidth(provider))
    progress("units")
    profile = replace(profile, units=_units(provider))
    speeds: dict[str, float] = {}
    for dtype in (dtypes.float32, dtypes.float64, dtypes.complex64):
        if dtype not in capabilities.dtypes:
            continue
        progress(f"products of {dtype.name}")
        size = SIZES[min(8, dtype.itemsize)] // (8 if capabilities.is_software else 1)
        times = _times(provider, dtype, (size, size, size), candidates(dtype, capabilities, size))
        for candidate, elapsed in times.items():
            speeds[name_of(candidate.tiling, dtype)] = speed_of(candidate, size, elapsed, profile)
    profile = replace(profile, product_speeds=tuple(sorted(speeds.items())))
    profile.record(capabilities.driver_name)
    return profile


def _bandwidth(provider: Provider) -> float:
    """Return how many bytes a copy of much memory reads and writes in a microsecond."""
    nbytes = _COPIED // (8 if provider.capabilities.is_software else 1)
    step = CopyStep(dtypes.uint32, nbytes // dtypes.uint32.itemsize)
    source, target = provider.allocate(nbytes), provider.allocate(nbytes)
    prepared = provider.prepare(step)
    elapsed = timing.time_of_tasks(provider, [Task(prepared, (source,), (target,), ())])
    source.release()
    target.release()
    return 2 * nbytes / (elapsed / 1e3)


def _units(provider: Provider) -> int:
    """Return how many compute units a device has: how many tiles take no longer than one."""
    known = candidates(dtypes.float32, provider.capabilities, _PROBE_DEPTH)
    candidate = next((each for each in known if replace(each.tiling, block=0) == _PROBE), known[0])
    depth = _PROBE_DEPTH // (8 if provider.capabilities.is_software else 1)

    def elapsed(tiles: int) -> float:
        sizes = candidate.tiling.rows, depth, candidate.tiling.columns * tiles
        return min(_times(provider, dtypes.float32, sizes, [candidate])[candidate] for _ in range(2))

    longest = _LONGER * elapsed(1)
    fits, exceeds = 1, 2
    while exceeds <= _MOST_UNITS and elapsed(exceeds) <= longest:
        fits, exceeds = exceeds, 2 * exceeds
    while exceeds - fits > 1:
        middle = (fits + exceeds) // 2
        fits, exceeds = (middle, exceeds) if elapsed(middle) <= longest else (fits, middle)
    return fits


def _times(
    provider: Provider, dtype: DType, sizes: tuple[int, int, int], tilings: Sequence[Candidate]
) -> dict[Candidate, float]:
    """Return the time of a product of (height, depth) and (depth, width), in nanoseconds, by tiling."""
    height, depth, width = sizes
    shapes = ((1, height, depth), (1, depth, width))
    first, second = map(contiguous, shapes)
    step = ContractStep(first, second, dtype, None, (dtype, dtype), (dtype,))
    left, right, result = (
        provider.allocate(count * dtype.itemsize) for count in (height * depth, depth * width, height * width)
    )
    for buffer, shape in zip((left, right), shapes, strict=True):
        provider.write(buffer, np.ones(prod(shape), dtype))
    tasks = {}
    for candidate in tilings:
        with for_target(provider.capabilities):
            program = tiled_program(step, Choice(candidate.tiling, 1), "tune", provider.capabilities)
        prepared = provider.prepare_program(program)  # type: ignore[attr-defined]  # providers with kernels have it
        tasks[candidate] = Task(prepared, (left, right), (result,), ())
    provider.run([*tasks.values()])  # compiles all of them, side by side
    times = {candidate: timing.time_of_tasks(provider, [task]) for candidate, task in tasks.items()}
    for buffer in (left, right, result):
        buffer.release()
    return times
