"""What each call, each read and the import cost, whatever the size of the data."""

import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.workloads.base import Probe, Workload, uniform

OPERATIONS = 10_000
IMPORTS = 7


def tiny(xp: Any, size: int, x: Any) -> Any:
    """Ten operations on few elements."""
    y = xp.sin(x) * 2 + 1
    y = xp.sqrt(xp.abs(y) + x * x)
    return xp.exp(-y) * x


def record(device: str) -> Mapping[str, float]:
    """Time the recording of operations, which is all that a line of the user's code costs."""
    import gpuarray as xp

    with xp.using(device=device, pending_limit=OPERATIONS + 1):
        times = []
        for _ in range(5):
            x = xp.asarray(np.ones(1000, np.float32))
            start = time.perf_counter()
            for _ in range(OPERATIONS // 2):
                x = x * 1.0001 + 0.5
            times.append(time.perf_counter() - start)
            del x
    return {"microseconds_per_operation": statistics.median(times) / OPERATIONS * 1e6}


def import_time(device: str) -> Mapping[str, float]:
    """Time the import in new processes, and what NumPy's part of it is; the least of several, taken in turn."""
    numpy, ours = [], []
    for _ in range(IMPORTS):
        numpy.append(_import_seconds("numpy"))
        ours.append(_import_seconds("numpy, gpuarray"))
    return {"numpy_ms": min(numpy) * 1e3, "gpuarray_adds_ms": (min(ours) - min(numpy)) * 1e3}


def _import_seconds(names: str) -> float:
    code = f"import time; start = time.perf_counter(); import {names}; print(time.perf_counter() - start)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)


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
    Probe(name="import", run=import_time, each_device=False),
]
