"""The command line of the accuracy measurements."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.accuracy.exact import ExactValues
from bench.accuracy.functions import FUNCTIONS, Function
from bench.accuracy.measure import DTYPES, Row, compare, cost, has_float64, sweep
from bench.facts import facts
from bench.peers import PEERS, AbsentError, Ours, Peer

LIBRARIES = {"numpy": "numpy", "torch": "torch-cuda", "torch-cpu": "torch-cpu", "jax": "jax-gpu", "cupy": "cupy"}
"""The libraries to compare with, by the names of their adapters; those that are available are measured."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the selected functions, print the tables and write the results; return 1 if a result was NaN."""
    given = _parser().parse_args(arguments)
    ours = Ours(given.device)
    peers: list[Peer] = [ours, *_opened(given.libraries)]
    about = facts(peers)
    print(json.dumps(about, indent=2), flush=True)

    rows: list[Row] = []
    held = ExactValues(given.exact)
    for dtype in given.dtypes:
        print(f"\n{dtype}: largest error in units in the last place{_head(dtype)}")
        for name in given.functions:
            function = FUNCTIONS[name]
            if dtype.startswith("complex") and not function.complex_:
                continue
            result = _measured(peers, function, dtype, given.sweep == "full", held)
            print(_line(result), flush=True)
            rows += result
        held.write()
    document = {"facts": about, "device": ours.name, "sweep": given.sweep, "rows": [asdict(row) for row in rows]}
    _write(given.json, document | {"gigaelements_per_second": {}})
    if given.cost:
        speeds = _costs(ours, given.dtypes, given.functions, given.elements)
        _write(given.json, document | {"gigaelements_per_second": speeds})
    return int(any(row.wrong for row in rows if row.library == ours.name))


def _write(file: Path | None, document: dict[str, Any]) -> None:
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(document, indent=1) + "\n")
        print(f"\nfigures: {file}")


def _measured(peers: Sequence[Peer], function: Function, dtype: str, full: bool, held: ExactValues) -> list[Row]:
    rows = compare(peers, function, dtype, held)
    ours = peers[0]
    assert isinstance(ours, Ours)
    if dtype == "float32" and function.arity == 1 and function.exact and has_float64(ours):
        # over many more operands, without the hard cases of the sample
        begin = time.perf_counter()
        swept = sweep(ours, function, full)
        first = rows[0]
        if full or swept.error >= first.error:
            swept.seconds = time.perf_counter() - begin
            rows[0] = swept
    return rows


def _costs(ours: Ours, dtypes: Sequence[str], names: Sequence[str], count: int) -> dict[str, dict[str, float]]:
    speeds: dict[str, dict[str, float]] = {}
    print(f"\nbillions of elements a second, of {count:,}")
    for dtype in dtypes:
        for name in names:
            if not dtype.startswith("complex") or FUNCTIONS[name].complex_:
                speeds.setdefault(dtype, {})[name] = speed = cost(ours, FUNCTIONS[name], dtype, count)
                print(f"  {dtype:11}{name:12}{speed:10.3f}", flush=True)
    return speeds


def _head(dtype: str) -> str:
    first, second = ("the norm", "a part") if dtype.startswith("complex") else ("normal numbers", "subnormal ones")
    return f", of {first} (and of {second})"


def _line(rows: Sequence[Row]) -> str:
    cells = [f"  {rows[0].function:12}"]
    for row in rows:
        other = row.part if row.part is not None else row.subnormal
        shown = f"{row.library} {row.error:.3f} ({other or 0:.2f})"
        cells.append(f"{shown}{f' {row.wrong} wrong' if row.wrong else ''} at {', '.join(row.at)}")
    return "; ".join(cells)


def _opened(names: Sequence[str]) -> list[Peer]:
    opened = []
    for name in names:
        try:
            opened.append(PEERS[LIBRARIES[name]]())
        except AbsentError as error:
            print(f"without {name}: {error}", file=sys.stderr)
    return opened


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.accuracy", description="Measure the errors of functions.")
    add: Callable[..., Any] = parser.add_argument
    add("--device", default="wgpu", help="device of gpuarray; wgpu by default")
    add("--functions", type=_among(FUNCTIONS), default=list(FUNCTIONS), help=f"some of {', '.join(FUNCTIONS)}")
    add("--dtypes", type=_among(DTYPES), default=list(DTYPES), help=f"some of {', '.join(DTYPES)}")
    add("--libraries", type=_among(LIBRARIES), default=list(LIBRARIES), help=f"some of {', '.join(LIBRARIES)}, or none")
    add(
        "--sweep",
        choices=("full", "sample"),
        default="sample",
        help="float32 functions of one operand over all 2**32 numbers, or over 2**24 of them (the default)",
    )
    add("--cost", action="store_true", help="also time each function")
    add("--elements", type=int, default=1 << 26, help="number of elements to time; 2**26 by default")
    add("--exact", type=Path, help="file (.npz) of exact values, to which missing ones are added")
    add("--json", type=Path, help="output file")
    return parser


def _among(accepted: Iterable[str]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        names = [name for name in text.split(",") if name and name != "none"]
        for name in names:
            if name not in accepted:
                raise argparse.ArgumentTypeError(f"{name!r}; accepted are {', '.join(accepted)}")
        return names

    return parse


if __name__ == "__main__":
    sys.exit(main())
