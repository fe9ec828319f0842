"""``python -m bench.functions``: compare single functions on "cpu" with those of NumPy or SciPy, at several sizes.

Each call of :mod:`bench.calls`, :mod:`bench.scipy_calls`, :mod:`bench.image_calls` or :mod:`bench.matrix_calls` is
evaluated alone, and both libraries take turns. A time is the least of all turns, because other work on the machine only
makes times longer. Where the other library returns a view, the time of its copy is included, because an evaluated
result is a copy too. Calls that would take it longer than ``--longest`` are left out.
"""

import argparse
import gc
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import scipy

import gpuarray as xp
from bench import calls, image_calls, matrix_calls, scipy_calls
from bench.facts import facts

SIZES: Final = (10**3, 10**5, 10**7)
#: Least duration of a turn, in seconds.
TURN: Final = 2e-4
#: What is measured: the time that passes, or the time of all threads on processors, which other work changes less.
CLOCKS: Final = {"wall": time.perf_counter, "process": time.process_time}

#: By package of NumPy's or SciPy's functions: what returns its calls and their operands of a size, and default sizes.
PACKAGES: Final[dict[str, tuple[Any, Any, tuple[int, ...]]]] = {
    "numpy": (calls.calls, calls.operands, SIZES),
    "numpy.linalg": (matrix_calls.calls, matrix_calls.operands, matrix_calls.SIZES),
    "scipy": (scipy_calls.calls, scipy_calls.operands, SIZES),
    "scipy.linalg": (matrix_calls.scipy_calls, matrix_calls.operands, matrix_calls.SIZES),
    "scipy.ndimage": (image_calls.calls, image_calls.operands, SIZES),
}

Call = Callable[[], object]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the calls from the slowest relative to NumPy on, and return 1 if a call failed."""
    given = _parser().parse_args(arguments)
    every, operands, sizes = PACKAGES[given.package]
    sizes = given.sizes or sizes
    baseline = import_module(given.package)
    tested = import_module(f"gpuarray.{given.package}".replace(".numpy", ""))
    chosen = [text for text in every() if not given.calls or any(word in text for word in given.calls)]
    rows: list[dict[str, Any]] = []
    failed = 0
    times: dict[str, list[float]] = {text: [] for text in chosen}
    with xp.using(device=given.device), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for size in sizes:
            theirs = operands(size)
            ours = {name: xp.asarray(v) if isinstance(v, np.ndarray) else v for name, v in theirs.items()}
            xp.evaluate(*(value for value in ours.values() if isinstance(value, xp.ndarray)))
            for text in chosen:
                if expected(times[text]) > given.longest:
                    continue
                try:
                    row = measured(
                        numpy_call(evaluation(text, baseline, theirs), theirs),
                        our_call(evaluation(text, tested, ours), ours),
                        given.seconds,
                        CLOCKS[given.clock],
                    )
                except Exception as error:  # one call must not end the comparison of the others
                    print(f"{text}, {size:,}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                    failed += 1
                    continue
                times[text].append(row["numpy_us"] / 1e6)
                rows.append({"call": text, "size": size, **row})
                if given.verbose:
                    print(f"{size:,} {text} {row}", flush=True)
    for line in _report(rows, sizes, given.worst):
        print(line)
    if given.json:
        versions = {"numpy": np.__version__, "scipy": scipy.__version__}
        document = {"package": given.package, "facts": facts([]) | versions, "rows": rows}
        given.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return int(failed > 0)


def expected(seconds: Sequence[float]) -> float:
    """Return the expected time of a call from those at smaller sizes: it grows again as much, if it grew at all."""
    if len(seconds) < 2:
        return 0.0 if not seconds else seconds[0]
    return seconds[-1] * max(1.0, seconds[-1] / seconds[-2])


def numpy_call(call: Call, arrays: dict[str, Any]) -> Call:
    """Return a call of NumPy that copies results which are views of its operands."""
    held = [value for value in arrays.values() if isinstance(value, np.ndarray)]
    is_view = any(np.may_share_memory(result, operand) for result in _arrays(call(), np.ndarray) for operand in held)
    return (lambda: [result.copy() for result in _arrays(call(), np.ndarray)]) if is_view else call


def our_call(call: Call, arrays: dict[str, Any]) -> Call:
    """Return a call that evaluates its results, or what it changes; itself if its results have values at once."""

    def computed_by(result: object) -> list[Any]:
        return [arrays["z"], arrays["Z"]] if result is None else [*_arrays(result, xp.ndarray)]

    if all(array.is_computed() for array in computed_by(call())):
        return call

    def evaluated() -> None:
        xp.evaluate(*computed_by(call()))

    return evaluated


def _arrays(value: Any, kind: type) -> Iterator[Any]:
    if isinstance(value, kind):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _arrays(item, kind)


def evaluation(text: str, namespace: Any, arrays: dict[str, Any]) -> Call:
    """Return a call that evaluates an expression with the names of a namespace and of arrays."""
    public = xp.__all__ if namespace in (np, xp) else dir(namespace)
    names = {name: getattr(namespace, name) for name in public if hasattr(namespace, name)}
    return partial(eval, compile(text, "<call>", "eval"), names | arrays)


def measured(
    numpy: Call, ours: Call, seconds: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the least time of each call in microseconds, measured by turns for ``seconds`` each.

    ``first_us`` is the time of our very first call, and ``ratio`` our time over NumPy's.
    """
    first = _turn(ours, 1, clock)
    for call in (numpy, ours, ours) if first < seconds else (numpy, ours):
        call()
    counts = [max(1, round(TURN / _turn(call, 1, clock))) for call in (numpy, ours)]
    least = [float("inf"), float("inf")]
    gc.collect(0)
    gc.disable()
    try:
        end = time.perf_counter() + 2 * seconds
        turns = 0
        while not turns or time.perf_counter() < end:
            for number, call in enumerate((numpy, ours)):
                least[number] = min(least[number], _turn(call, counts[number], clock))
            turns += 1
    finally:
        gc.enable()
    theirs, own = least
    figures = {"numpy_us": 1e6 * theirs, "ours_us": 1e6 * own, "first_us": 1e6 * first}
    return {name: round(value, 3) for name, value in figures.items()} | {"ratio": round(own / theirs, 6)}


def _turn(call: Call, times: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(times):
        call()
    return (clock() - start) / times


def is_missed(row: dict[str, Any]) -> bool:
    """Return whether we take more than 1.1 of the other library's time, and two microseconds more."""
    return bool(row["ratio"] > 1.1 and row["ours_us"] > row["numpy_us"] + 2)


def _report(rows: Sequence[dict[str, Any]], sizes: Sequence[int], worst: int) -> Iterator[str]:
    for size in sizes:
        here = sorted((row for row in rows if row["size"] == size), key=lambda row: -row["ratio"])
        if not here:
            continue
        ratios = [row["ratio"] for row in here]
        yield ""
        yield (
            f"size {size:,}: {len(here)} calls, {sum(map(is_missed, here))} above 1.1 of NumPy's time and two "
            "microseconds more; "
            f"geometric mean {statistics.geometric_mean(ratios):.2f}, median {statistics.median(ratios):.2f}"
        )
        for row in here[:worst]:
            yield (
                f"  {row['ratio']:8.2f}  {row['call']:44} NumPy {row['numpy_us']:12,.1f} us  "
                f"gpuarray {row['ours_us']:12,.1f} us"
            )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.functions", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("calls", nargs="*", help="measure only the calls that contain one of these texts")
    add("--package", choices=[*PACKAGES], default="numpy", help="package of the functions; numpy by default")
    add(
        "--sizes",
        type=lambda text: [int(float(word)) for word in text.split(",")],
        help="elements, or rows of matrices",
    )
    add("--device", default="cpu", help="device of our arrays; cpu by default")
    add("--seconds", type=float, default=0.04, help="seconds of each call and library; 0.04 by default")
    add("--clock", choices=[*CLOCKS], default="wall", help="measure processor time if other work runs; wall by default")
    add("--longest", type=float, default=1.0, help="leave out calls that take NumPy more seconds; 1 by default")
    add("--worst", type=int, default=40, help="number of calls that are printed for each size; 40 by default")
    add("--verbose", action="store_true", help="print each call when it has been measured")
    add("--json", type=Path, help="output file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
