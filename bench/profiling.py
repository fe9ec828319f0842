"""``python -m bench.profiling``: measure the overhead of ``profile`` for several kinds of work.

Short turns of a program run inside and outside of a profile, in rotating order, so that changes of the machine's speed
cancel. The results are medians of the ratios of neighbouring turns. They do not include the time in which the figures
are computed at the end of a profile. Two turns outside of a profile are also compared with each other, which shows the
accuracy of the results.
"""

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gpuarray as xp


def _ones(n: int, device: str) -> Any:
    return xp.asarray(np.ones(n, np.float32), device=device)


def _steps(x: Any) -> None:
    xp.evaluate(x + 1)


def _eight(x: Any) -> None:
    xp.evaluate(*(x + number for number in range(1, 9)))


def _read(x: Any) -> None:
    float(xp.sum(x))


def _mixed(x: Any) -> None:
    e = xp.exp(x)
    y = e / e.sum(axis=1, keepdims=True)
    z = xp.sort((y @ x).reshape(-1))
    float(z[0])


#: Name, elements, function.
WORKLOADS: list[tuple[str, int, Callable[[Any], None]]] = [
    ("evaluations of 64 elements", 64, _steps),
    ("eight steps of 64 elements", 64, _eight),
    ("a sum of 64 elements, read", 64, _read),
    ("evaluations of 16 MiB", 1 << 22, _steps),
    ("softmax, product and sort, read", 1 << 14, _mixed),
]


def _piece(function: Callable[[Any], None], x: Any, times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        function(x)
    xp.synchronize()
    return time.perf_counter() - start


def _inside(function: Callable[[Any], None], x: Any, times: int) -> float:
    with xp.profile():
        _piece(function, x, max(2, times // 8))  # the first runs are looked at one by one, of a program once
        return _piece(function, x, times)


def cost(
    function: Callable[[Any], None], x: Any, pairs: int, seconds: float, most: float
) -> tuple[float, float, float]:
    """Return the microseconds of a call, its ratio inside to outside a profile, and the ratio of two turns outside.

    Parameters
    ----------
    function, x
        The function and its argument.
    pairs : int
        Maximum number of ratios.
    seconds : float
        Approximate duration of a turn.
    most : float
        Maximum duration in seconds.
    """
    _piece(function, x, 20)
    times = max(2, round(seconds * 20 / _piece(function, x, 20)))
    turns = [_inside, _piece, _piece]
    took: list[list[float]] = [[], [], []]
    end = time.perf_counter() + most
    gc.disable()
    try:
        for number in range(pairs):
            for turn in range(3):
                which = (turn + number) % 3
                if which:
                    _piece(function, x, max(2, times // 8))  # as in a block
                took[which].append(turns[which](function, x, times))
            gc.collect(0)
            if number >= 2 and time.perf_counter() > end:
                break
    finally:
        gc.enable()
    inside = [2 * own / (one + other) for own, one, other in zip(*took, strict=True)]
    outside = [one / other for _, one, other in zip(*took, strict=True)]
    return 1e6 * statistics.median(took[1]) / times, statistics.median(inside), statistics.median(outside)


def main() -> int:
    """Measure, print a line for each kind of work and device, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.profiling")
    parser.add_argument("--devices", default="cpu,wgpu", help="devices, separated by commas")
    parser.add_argument("--pairs", type=int, default=150, help="maximum number of ratios per result")
    parser.add_argument("--seconds", type=float, default=0.003, help="seconds per turn")
    parser.add_argument("--most", type=float, default=2.0, help="maximum seconds per result")
    parser.add_argument("--json", help="output file")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for device in given.devices.split(","):
        for name, size, function in WORKLOADS:
            x = _ones(size, device)
            if function is _mixed:
                x = x.reshape(int(size**0.5), -1)
            took, inside, outside = cost(function, x, given.pairs, given.seconds, given.most)
            rows.append({"device": device, "workload": name, "microseconds": took, "cost": inside - 1})
            print(
                f"{device:6} {name:34} {took:9.1f} us  in a block x{inside:.3f}  (out of it x{outside:.3f})", flush=True
            )
    print(f"at most {max(row['cost'] for row in rows):.1%}")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:  # noqa: PTH123
            json.dump(rows, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
