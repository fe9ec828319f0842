"""``python -m bench.placement``: the device "auto" against both of its places, over workloads and sizes.

For each workload and size the warm times on ``cpu``, on the GPU and on ``"auto"`` are taken by turns, in several rounds
of changing order, so that whatever else happens on the machine happens to all three; a figure is the median of its
rounds, and "auto" is held against the better of the two. ``--json`` writes the docs' table. ``--estimates`` holds
estimates against what steps took, on a GPU whose clock is up, as it is when it is calibrated.
"""

import argparse
import gc
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gpuarray as xp
from gpuarray.runtime import auto, calibrate, places, plans

SIZES = [10**2, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8]


def _vector(n: int, dtype: str = "float32") -> Any:
    return np.random.default_rng(0).random(n, dtype=np.float32).astype(dtype)


def _matrix(n: int) -> Any:
    side = max(2, int(n**0.5))
    return _vector(side * side).reshape(side, side)


def _chain(x: Any) -> Any:
    return np.sin(x) * np.sin(x) + np.exp(-x * x) * np.sqrt(np.abs(x) + 1)


def _loop_with_reads(x: Any) -> Any:
    for _ in range(5):
        x = x * np.float32(0.5) + np.float32(0.25)
        float(x[0])
    return x


def _alternating(x: Any) -> Any:
    y = np.sqrt(x) + 1
    part = np.asarray(y[:100]) * 2
    return y * float(part.sum())


#: Name, operands by size, function, and whether the result is read.
WORKLOADS: list[tuple[str, Callable[[int], Any], Callable[[Any], Any], bool]] = [
    ("add", _vector, lambda x: x + 1, False),
    ("chain", _vector, _chain, False),
    ("chain, read", _vector, _chain, True),
    ("chain float64", lambda n: _vector(n, "float64"), _chain, False),
    ("sum", _vector, lambda x: np.sum(x), True),
    ("variance of columns", _matrix, lambda x: np.var(x, axis=0), False),
    ("softmax", _matrix, lambda x: (lambda e: e / e.sum(axis=1, keepdims=True))(np.exp(x)), False),
    ("matmul", lambda n: _matrix(min(n, 10**7)), lambda x: x @ x, False),
    ("sort", lambda n: _vector(min(n, 10**7)), lambda x: np.sort(x), False),
    ("fft", lambda n: _vector(min(n, 10**7), "complex64"), lambda x: np.fft.fft(x), False),
    ("loop with small reads", _vector, _loop_with_reads, False),
    ("host and device by turns", _vector, _alternating, False),
]


#: Rounds of a point: each device once, in changing order.
_ROUNDS = 5


def _call(function: Callable[[Any], Any], x: Any, read: bool) -> float:
    """Return the time of a call in milliseconds, until its result is there."""
    start = time.perf_counter()
    found = function(x)
    if read:
        np.asarray(found)
    else:
        xp.evaluate(found)
        xp.synchronize()
    return 1e3 * (time.perf_counter() - start)


def _round(function: Callable[[Any], Any], x: Any, read: bool, seconds: float) -> float:
    """Return the median time of calls in a row; the first one is not counted if there is time for others."""
    times = [_call(function, x, read)]
    left = 1e3 * seconds - times[0]
    while left > 0 and len(times) < 200:
        times.append(_call(function, x, read))
        left -= times[-1]
    return statistics.median(times[1:] or times)


def _point(
    make: Callable[[int], Any],
    size: int,
    function: Callable[[Any], Any],
    read: bool,
    devices: list[str],
    seconds: float,
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the warm time of a call by device in milliseconds, and where the operand was in the end for "auto"."""
    data = make(size)
    operands = {device: xp.asarray(data, device=device) for device in devices}
    del data
    for device, x in operands.items():
        if device not in ("cpu", "auto"):
            xp.prefetch(x)
        for _ in range(4):
            if _call(function, x, read) > 1e3 * seconds:
                break
    rounds: dict[str, list[float]] = {device: [] for device in devices}
    gc.disable()
    try:
        for number in range(_ROUNDS):
            first = number % len(devices)
            for device in devices[first:] + devices[:first]:
                rounds[device].append(_round(function, operands[device], read, seconds / _ROUNDS))
    finally:
        gc.enable()
    return {device: statistics.median(times) for device, times in rounds.items()}, operands["auto"].residency


def _estimates(gpu: Any, largest: float) -> int:
    """Print what plans were estimated to take at either place, and what they took: first all on the GPU."""
    near: list[bool] = []
    for provider in (gpu, places.host()):
        for name, make, function, _ in WORKLOADS:
            for size in SIZES:
                if size > largest or name in ("chain, read", "loop with small reads", "host and device by turns"):
                    continue
                node = function(xp.asarray(make(size), device=provider.device)).node()
                planned = plans.plan_of((node,), provider.device)
                assert planned is not None
                estimate = sum(auto.estimate(provider, step) for step in planned[0].pinned.steps)
                calibrate.awaken(provider)
                found = calibrate.time_of(provider, node)
                near.append(0.5 <= estimate / found <= 2)
                print(
                    f"{name:20} {size:>11,}  {provider.device.name:8} estimate {estimate / 1e3:10.1f} us, "
                    f"took {found / 1e3:10.1f} us, x{estimate / found:5.2f}{'' if near[-1] else ' *'}",
                    flush=True,
                )
    print(f"\n{sum(near)} of {len(near)} estimates within a factor of 2")
    return 0


def main() -> int:
    """Measure, print the table, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.placement")
    parser.add_argument("--largest", type=float, default=1e8, help="largest size")
    parser.add_argument("--seconds", type=float, default=0.05, help="of calls for each figure")
    parser.add_argument("--workloads", default="", help="some of them, by name")
    parser.add_argument("--software", action="store_true", help="let auto take a software device")
    parser.add_argument("--estimates", action="store_true", help="compare estimates with times, and nothing else")
    parser.add_argument("--json", help="file of the figures")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    ratios: list[float] = []
    with xp.using(software=given.software):
        gpu = places.provider_of(xp.Device("auto"))
        auto.rates_of(places.host())
        auto.rates_of(gpu)
        if given.estimates:
            return _estimates(gpu, given.largest)
        for name, make, function, read in WORKLOADS:
            if given.workloads and name not in given.workloads.split(","):
                continue
            for size in SIZES:
                if size > given.largest:
                    break
                figures, where = _point(make, size, function, read, ["cpu", gpu.device.name, "auto"], given.seconds)
                best = min(figures["cpu"], figures[gpu.device.name])
                ratio = figures["auto"] / best
                ratios.append(ratio)
                shown = {device: round(time, 4) for device, time in figures.items()}
                rows.append({"workload": name, "size": size, **shown, "ratio": round(ratio, 3), "where": list(where)})
                print(
                    f"{name:26} {size:>11,}  cpu {figures['cpu']:9.3f}  gpu {figures[gpu.device.name]:9.3f}  "
                    f"auto {figures['auto']:9.3f}  x{ratio:5.2f}  {'+'.join(where)}",
                    flush=True,
                )
        adapter = gpu.capabilities.adapter
    near = sum(ratio <= 1.15 for ratio in ratios)
    print(f"\n{near} of {len(ratios)} within 1.15 of the better; the worst x{max(ratios):.2f}")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:  # noqa: PTH123
            json.dump({"adapter": adapter, "platform": platform.system(), "rows": rows}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
