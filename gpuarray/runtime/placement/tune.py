"""Autotuning: which tiles make matrix products quickest on a device.

Each tiling that a device can run is timed on one square product; from the times come the speeds by which
:func:`gpuarray.codegen.products.choose` decides, for all sizes. They are kept in the cache folder by driver, and taken
when the device is opened, so that a process never changes its mind. Other kernels are not tuned: reductions took the
same time within 3 % with 528 to 32,768 workgroups, loaded one to eight vectors at a time.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gpuarray import disk_cache, dtypes
from gpuarray.codegen import products
from gpuarray.codegen.target import for_target
from gpuarray.fusion.steps import ContractStep
from gpuarray.graph.layouts import contiguous
from gpuarray.providers.base import Provider, Task
from gpuarray.runtime.placement import calibrate

#: The sides of the products that are timed, by bytes of an element.
SIZES = {4: 2048, 8: 1024}


def ensure(provider: Provider) -> None:
    """Tune a device unless that was done for its driver, and let it use what was found."""
    capabilities = provider.capabilities
    if not products.tuned(capabilities.driver_name):
        tune(provider, lambda _: None)
    provider.capabilities = replace(capabilities, product_speeds=products.tuned(capabilities.driver_name))


def tune(provider: Provider, progress: Callable[[str], None]) -> dict[str, float]:
    """Measure the tilings of a device's products, record their speeds, and return them by name.

    Parameters
    ----------
    provider : Provider
        One with :meth:`prepare_program`, which runs programs as they are.
    progress : callable
        Told what is measured.
    """
    found: dict[str, float] = {}
    for dtype in (dtypes.float32, dtypes.float64, dtypes.complex64):
        if dtype not in provider.capabilities.dtypes:
            continue
        progress(f"products of {dtype.name}")
        size = SIZES[min(8, dtype.itemsize)] // (8 if provider.capabilities.kind == "CPU" else 1)
        shape = (1, size, size)
        step = ContractStep(contiguous(shape), contiguous(shape), dtype, None, (dtype, dtype), (dtype,))
        nbytes = size * size * dtype.itemsize
        left, right, result = (provider.allocate(nbytes) for _ in range(3))
        for buffer in (left, right):
            provider.write(buffer, np.ones(size * size, dtype))
        tasks = {}
        for candidate in products.candidates(dtype, provider.capabilities, size):
            with for_target(provider.capabilities):
                program = products.tiled_program(
                    step, products.Choice(candidate.tiling, 1), "tune", provider.capabilities
                )
            prepared = provider.prepare_program(program)  # type: ignore[attr-defined]  # providers with kernels have it
            tasks[candidate] = Task(prepared, (left, right), (result,), ())
        provider.run([*tasks.values()])  # compiles all of them, side by side
        for candidate, task in tasks.items():
            elapsed = calibrate.time_of_tasks(provider, [task])
            found[products.name_of(candidate.tiling, dtype)] = products.speed_of(candidate, size, elapsed)
        for buffer in (left, right, result):
            buffer.release()
    disk_cache.write(products.TUNING, provider.capabilities.driver_name, found)
    return found
