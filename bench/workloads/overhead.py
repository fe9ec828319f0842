"""The fixed costs of calls, reads and the import."""

import contextlib
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from bench.workloads.base import Probe, Workload, uniform
from bench.workloads.elementwise import chain

OPERATIONS = 10_000
IMPORTS = 5
REPEATS = 300
STEPS = 256
LAUNCHES = 32
ENOUGH = 2.0


def tiny(xp: Any, size: int, x: Any) -> Any:
    """Ten operations on few elements."""
    y = xp.sin(x) * 2 + 1
    y = xp.sqrt(xp.abs(y) + x * x)
    return xp.exp(-y) * x


def record(device: str) -> Mapping[str, float]:
    """Time the recording of operations."""
    import gpuarray as xp

    with xp.using(device=device, direct_pinned=False, pending_limit=OPERATIONS + 1):
        times = []
        for _ in range(5):
            x = xp.asarray(np.ones(1000, np.float32))
            start = time.thread_time()
            for _ in range(OPERATIONS // 2):
                x = x * 1.0001 + 0.5
            times.append(time.thread_time() - start)
            del x
    return {"microseconds_per_operation": min(times) / OPERATIONS * 1e6}


def parts(device: str) -> Mapping[str, float]:
    """Time the parts of ten operations on 1,000 elements: recording, finding the plan, evaluating, reading."""
    import gpuarray as xp
    from gpuarray.runtime.evaluate import plan_of

    with xp.using(device=device, direct_pinned=False):
        x = xp.asarray(uniform(1000))
        xp.asnumpy(x)
        times: list[tuple[float, ...]] = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            y = tiny(xp, 1000, x)
            recorded = time.perf_counter()
            plan_of([y.node()], y.device)
            result = time.perf_counter()
            xp.evaluate(y)
            evaluated = time.perf_counter()
            xp.asnumpy(y)
            read = time.perf_counter()
            times.append((recorded - start, result - recorded, evaluated - result, read - evaluated))
    names = ("record_us", "find_plan_us", "evaluate_us", "read_us")
    return {name: min(column) * 1e6 for name, column in zip(names, zip(*times, strict=True), strict=True)}


def further(device: str) -> Mapping[str, float]:
    """Time evaluations of one and of 33 different launches, which gives the cost of an additional launch."""
    import gpuarray as xp

    least = {}
    with xp.using(device=device, direct_pinned=False):
        arrays = [xp.asarray(uniform(1000 + number)) for number in range(LAUNCHES + 1)]
        for count in (1, LAUNCHES + 1):
            times = []
            for _ in range(REPEATS):
                results = [x * 2 + 1 for x in arrays[:count]]
                start = time.perf_counter()
                xp.evaluate(*results)
                times.append(time.perf_counter() - start)
                xp.synchronize()
            least[count] = min(times) * 1e6
    return {"one_launch_us": least[1], "a_further_launch_us": (least[LAUNCHES + 1] - least[1]) / LAUNCHES}


def growth(device: str) -> Mapping[str, float]:
    """Time a chain, a sum and a running sum of increasing size, and report the peak memory in use."""
    import gpuarray as xp
    from gpuarray.providers import registry
    from gpuarray.runtime import telemetry

    figures = {}
    with xp.using(device=device):
        provider = registry.open_device(registry.resolve(xp.Device(device)))
        for power in (6, 7, 8, *([] if provider.capabilities.kind == "CPU" else [9])):
            size = 10**power
            for name, function in (("chain", chain), ("sum", _total), ("cumulative_sum", _running)):
                gc.collect()
                x = xp.linspace(-2, 2, size, dtype=xp.float32)
                xp.evaluate(x)
                times = []
                hosted = sum(telemetry.fallbacks().values())
                while len(times) < 4 and sum(times) < ENOUGH:
                    provider.restart_peak()
                    start = time.perf_counter()
                    xp.evaluate(function(xp, size, x))
                    xp.synchronize()
                    times.append(time.perf_counter() - start)
                where = "" if sum(telemetry.fallbacks().values()) == hosted else "_on_the_host"
                figures[f"{name}_of_1e{power}_ns_an_element{where}"] = min(times) / size * 1e9
                figures[f"{name}_of_1e{power}_bytes_an_element{where}"] = provider.stats()["peak_bytes"] / size
                del x
    return figures


def _total(xp: Any, size: int, x: Any) -> Any:
    return xp.sum(x)


def _running(xp: Any, size: int, x: Any) -> Any:
    return xp.cumsum(x, 0)


def planning(device: str) -> Mapping[str, float]:
    """Time the first evaluation of programs of increasing length with compiled kernels, which is mostly planning."""
    import gpuarray as xp

    figures = {}
    for operations in (100, 100, 1000, 10_000, 100_000):
        with xp.using(device=device, direct_pinned=False, pending_limit=operations + 1):
            x = xp.asarray(np.ones(1000, np.float32))
            for _ in range(operations // 2):
                x = x * 1.0001 + 0.5
            start = time.perf_counter()
            xp.evaluate(x)
            xp.synchronize()
            figures[f"{operations}_operations_us_each"] = (time.perf_counter() - start) / operations * 1e6
    return figures


def loop(device: str) -> Mapping[str, float]:
    """Time the host's part of a simulation of 256 steps, with a random number for each path and step."""
    import gpuarray as xp

    with xp.using(device=device, direct_pinned=False):
        random = xp.random.default_rng(0)
        recorded, evaluated = [], []
        for _ in range(12):
            start = time.perf_counter()
            price = xp.full(64, 100.0, dtype=np.float32)
            for _ in range(STEPS):
                price = price * xp.exp(0.0001 + 0.01 * random.standard_normal(64, dtype=np.float32))
            stop = time.perf_counter()
            xp.evaluate(price)
            recorded.append(stop - start)
            evaluated.append(time.perf_counter() - stop)
            xp.synchronize()
    return {"record_ms": min(recorded) * 1e3, "evaluate_ms": min(evaluated) * 1e3}


def first_result(device: str) -> Mapping[str, float]:
    """Time a new process from its start to the first result, and a kernel that is new to it."""
    code = (
        "import time; start = time.perf_counter(); import numpy as np, gpuarray as xp\n"
        f"x = xp.asarray(np.ones(1000, np.float32), device={device!r}); np.asarray(x * 2 + 1)\n"
        "first = time.perf_counter(); np.asarray(np.exp(x) - x); stop = time.perf_counter()\n"
        "print(first - start, stop - first)"
    )
    with _processes() as printed:
        runs = [printed(code) for _ in range(3)]
    firsts, seconds = zip(*runs, strict=True)
    return {"first_result_ms": min(firsts) * 1e3, "new_kernel_ms": min(seconds) * 1e3}


def import_time(device: str) -> Mapping[str, float]:
    """Time the import in new processes, and NumPy's share of it; the minimum of several, measured alternately."""
    timed = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
    numpy, ours = [], []
    with _processes() as printed:
        for _ in range(IMPORTS):
            numpy += printed(timed.format("numpy"))
            ours += printed(timed.format("numpy, gpuarray"))
    return {"numpy_ms": min(numpy) * 1e3, "gpuarray_adds_ms": (min(ours) - min(numpy)) * 1e3}


@contextlib.contextmanager
def _processes() -> Iterator[Callable[[str], list[float]]]:
    """Yield a function that runs code in a new process and returns the numbers it prints.

    Compiled Python modules are kept between the processes, as those of an installed package are, whatever the
    environment says; the first process writes them.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def printed(code: str) -> list[float]:
            run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
            return [float(number) for number in run.stdout.split()]

        printed("import gpuarray.providers.wgpu.provider")
        yield printed


WORKLOADS: list[Workload | Probe] = [
    Workload(
        name="tiny",
        size=1000,
        inputs=lambda n: [uniform(n)],
        run=tiny,
        nbytes=lambda n: 8 * n,
        read=True,
        scaled=False,
    ),
    Probe(name="record", run=record),
    Probe(name="parts", run=parts),
    Probe(name="further-launches", run=further),
    Probe(name="loop", run=loop),
    Probe(name="planning", run=planning),
    Probe(name="growth", run=growth),
    Probe(name="first-result", run=first_result),
    Probe(name="import", run=import_time, each_device=False),
]
