"""``python -m bench.placement``: compare the device "auto" with the CPU and the GPU, over workloads and sizes.

``cpu``, the GPU and ``"auto"`` run alternately in turns of a few milliseconds, in each of the possible orders, so that
other load on the machine affects all three. The result is the median of all calls except the first of each turn, which
finds the caches of another device. "auto" is compared with the faster of the two. All are warmed up for the same time.
A device that takes many times as long as another is not measured further. ``--json`` writes the table of the
documentation, ``--reasons`` prints the placement of a plan if "auto" is far from the faster device, and ``--estimates``
compares estimates with measured times, on a GPU at full clock rate, as during calibration.
"""

import argparse
import gc
import itertools
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

import gpuarray as xp
from gpuarray.providers import registry
from gpuarray.runtime import places, plans
from gpuarray.runtime.placement import auto, calibrate, decisions, timing

SIZES = [10**2, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8]


@lru_cache(maxsize=1)
def _numbers() -> Any:
    return np.random.default_rng(0).random(SIZES[-1] // 16, dtype=np.float32)


def _vector(n: int, dtype: str = "float32") -> Any:
    return np.resize(_numbers(), n).astype(dtype)


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
    ("matmul", _matrix, lambda x: x @ x, False),
    ("sort", _vector, lambda x: np.sort(x), False),
    ("fft", lambda n: _vector(n, "complex64"), lambda x: np.fft.fft(x), False),
    ("loop with small reads", _vector, _loop_with_reads, False),
    ("host and device by turns", _vector, _alternating, False),
]


#: Milliseconds of a turn, and its maximum number of calls.
_TURN = 3.0
_CALLS = 20
#: Milliseconds and maximum number of warm-up calls, and the duration of a call that needs no further warm-up.
_WARM = 60.0
_WARM_CALLS = 100
_LONG = 1000.0
#: A device that takes this many times as long as another is not measured further.
_FAR = 4.0
#: Ratio to the faster device that counts as near.
_NEAR = 1.15


def _call(function: Callable[[Any], Any], x: Any, read: bool) -> float:
    """Return the time of a call in milliseconds, until its result is available."""
    start = time.perf_counter()
    result = function(x)
    if read:
        np.asarray(result)
    else:
        xp.evaluate(result)
        xp.synchronize()
    return 1e3 * (time.perf_counter() - start)


def measured(calls: Mapping[str, Callable[[], float]], seconds: float) -> dict[str, float]:
    """Return the median time of a call by device in milliseconds, measured alternately.

    Parameters
    ----------
    calls : mapping
        For each device a function that makes a call and returns its time. "auto" is always measured.
    seconds : float
        Duration of the measurement.
    """
    figures: dict[str, float] = {}
    for device, call in calls.items():
        times = [call()]
        while sum(times) < _WARM and len(times) < _WARM_CALLS:
            times.append(call())
        if len(times) == 1 and times[0] < _LONG:  # what is done once is not counted
            times.append(call())
        figures[device] = statistics.median(times[len(times) // 2 :])
    turns = {device: max(1, min(_CALLS, round(_TURN / time))) for device, time in figures.items()}
    best = min(figures.values())
    asked = [device for device in calls if device == "auto" or figures[device] < _FAR * best]
    orders = list(itertools.permutations(asked))
    kept: dict[str, list[float]] = {device: [] for device in asked}
    end = time.perf_counter() + seconds
    for number in itertools.count():
        if number >= len(orders) and time.perf_counter() > end:
            break
        for device in orders[number % len(orders)]:
            times = [calls[device]() for _ in range(turns[device])]
            kept[device] += times[1:] or times
    return figures | {device: statistics.median(times) for device, times in kept.items()}


def _reasons(node: Any, device: xp.Device) -> Iterator[str]:
    """Yield the placement of the steps of a plan, with estimates and corrections."""
    planned = plans.plan_of((node,), device)
    assert planned is not None
    prepared = planned[0]
    for placed in prepared.placed.values():
        saving = 0 if placed.migration is None else placed.migration.saving
        yield f"    {placed.runs:,} runs, {saving / 1e3:.1f} us less with operands there; {prepared.corrections}"
        for step in placed.steps:
            name, decision = decisions.name_of(step.planned.step), step.decision
            times = " or ".join(f"{time / 1e3:.1f} us" for time in decision.estimates or ())
            yield f"        {name}: {decision.where}, {decision.reason}, {times}"


def _estimates(gpu: Any, largest: float) -> int:
    """Print the estimated and measured times of plans on both devices, on the GPU first."""
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
                timing.awaken(provider)
                result = timing.Timer(provider).time(node)
                near.append(0.5 <= estimate / result <= 2)
                print(
                    f"{name:20} {size:>11,}  {provider.device.name:8} estimate {estimate / 1e3:10.1f} us, "
                    f"took {result / 1e3:10.1f} us, x{estimate / result:5.2f}{'' if near[-1] else ' *'}",
                    flush=True,
                )
    print(f"\n{sum(near)} of {len(near)} estimates within a factor of 2")
    return 0


def main() -> int:
    """Measure, print the table, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.placement")
    parser.add_argument("--largest", type=float, default=1e8, help="largest size")
    parser.add_argument("--seconds", type=float, default=0.4, help="seconds per point, after warming up")
    parser.add_argument("--workloads", default="", help="names of workloads, separated by semicolons")
    parser.add_argument("--software", action="store_true", help="allow auto to use a software device")
    parser.add_argument(
        "--reasons", action="store_true", help="print placements where auto is far from the faster device"
    )
    parser.add_argument("--estimates", action="store_true", help="only compare estimates with times")
    parser.add_argument("--json", help="output file")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    begin = time.perf_counter()
    with xp.using(software=given.software):
        gpu = registry.open_device(xp.Device("auto"))
        for provider in (places.host(), gpu):
            auto.set_rates(provider, calibrate.rates_of(provider.device))
        if given.estimates:
            return _estimates(gpu, given.largest)
        for name, make, function, read in WORKLOADS:
            if given.workloads and name not in given.workloads.split(";"):
                continue
            for size in SIZES:
                if size > given.largest:
                    break
                row = _point(name, make, size, function, read, gpu, given)
                rows.append(row)
        adapter = gpu.capabilities.adapter
    ratios = [row["ratio"] for row in rows]
    near = sum(ratio <= _NEAR for ratio in ratios)
    print(
        f"\n{near} of {len(ratios)} within {_NEAR} of the better; the worst x{max(ratios):.2f}; "
        f"{time.perf_counter() - begin:.0f} s"
    )
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:  # noqa: PTH123
            json.dump({"adapter": adapter, "platform": platform.system(), "rows": rows}, file, indent=1)
    return 0


def _point(
    name: str,
    make: Callable[[int], Any],
    size: int,
    function: Callable[[Any], Any],
    read: bool,
    gpu: Any,
    given: argparse.Namespace,
) -> dict[str, Any]:
    """Measure a workload of one size, print its line, and return it as a row."""
    data = make(size)
    operands = {device: xp.asarray(data, device=device) for device in ("cpu", gpu.device.name, "auto")}
    del data
    xp.prefetch(operands[gpu.device.name])
    timing.awaken(gpu)
    gc.collect()
    gc.disable()
    try:
        result = measured({d: partial(_call, function, x, read) for d, x in operands.items()}, given.seconds)
    finally:
        gc.enable()
    ratio = result["auto"] / min(result["cpu"], result[gpu.device.name])
    where = operands["auto"].residency
    print(
        f"{name:26} {size:>11,}  cpu {result['cpu']:9.3f}  gpu {result[gpu.device.name]:9.3f}  "
        f"auto {result['auto']:9.3f}  x{ratio:5.2f}  {'+'.join(where)}",
        flush=True,
    )
    if given.reasons and ratio > _NEAR:
        print(*_reasons(function(operands["auto"]).node(), xp.Device("auto")), sep="\n", flush=True)
    shown = {device: round(time, 4) for device, time in result.items()}
    return {"workload": name, "size": size, **shown, "ratio": round(ratio, 3), "where": list(where)}


if __name__ == "__main__":
    sys.exit(main())
