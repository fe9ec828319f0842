"""The command line of the benchmark of programs."""

import argparse
from collections.abc import Sequence
from math import exp, log

from bench.programs import PROGRAMS, SIZES
from bench.programs.measure import is_equal, on_cupy, on_device, on_numpy


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each program: times, ratios to NumPy's, counters. Return 1 if a result was wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.programs", description=__doc__)
    parser.add_argument("programs", nargs="*", default=[*PROGRAMS], help="names of programs, or topics; all by default")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--device", default="auto", help="the device of this package (%(default)s)")
    parser.add_argument("--repeat", type=int, default=3, help="how often each runs (%(default)s)")
    given = parser.parse_args(arguments)
    chosen = [p for p in PROGRAMS.values() if p.name in given.programs or p.topic in given.programs]
    print(f"{'program':24}{'NumPy ms':>10}{'first':>9}{'ms':>9}{'times':>8}{'CuPy':>8}  plans compiles launches")
    ratios, wrong = [], 0
    for program in chosen:
        numpy, ours = on_numpy(program, given.size), on_device(program, given.size, given.device, given.repeat)
        cupy = on_cupy(program, given.size, given.repeat)
        ratios.append(numpy.best / ours.best)
        counted = "".join(f"{ours.counted[name]:>7}" for name in ("plans", "compiles", "launches"))
        note = "" if is_equal(ours, numpy) else "  wrong"
        wrong += bool(note)
        theirs = f"{numpy.best / cupy.best:8.2f}" if cupy is not None else f"{'-':>8}"
        times = f"{numpy.best * 1e3:10.2f}{ours.first * 1e3:9.1f}{ours.best * 1e3:9.2f}{ratios[-1]:8.2f}"
        print(f"{program.name:24}{times}{theirs}{counted}{note}", flush=True)
    if ratios:
        mean = exp(sum(map(log, ratios)) / len(ratios))
        print(f"{len(ratios)} programs, geometric mean {mean:.2f}, least {min(ratios):.2f} times NumPy's speed")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
