"""The command line of the benchmarks."""

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from bench.facts import facts
from bench.harness import Row, is_ours, relate, run, summary, table
from bench.peers import PEERS, AbsentError, Ours, Peer
from bench.plot import plot
from bench.workloads import ALL, TOPICS, Probe

RESULTS = Path(__file__).parent / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the selected workloads on the selected libraries. Return 1 if a result of gpuarray was wrong."""
    given = _parser().parse_args(arguments)
    document = _merged([json.loads(path.read_text(encoding="utf-8")) for path in given.merge])
    rows = [Row(**row) for row in document["rows"]]
    figures: dict[str, dict[str, float]] = document["probes"]
    chosen = {name for word in given.workloads for name in members(word)}
    if chosen:
        peers = list(_opened(given.device, given.peers, given.jit))
        about = facts(peers) | {"scale": str(given.scale)}
        print(json.dumps(about, indent=2))
        document["facts"] = about
    path = given.json or RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    for name in (name for name in ALL if name in chosen):
        workload = ALL[name]
        if isinstance(workload, Probe):
            figures.setdefault(name, {}).update(_probe(workload, given.device))
        else:
            result = run(workload, peers, given.scale, given.seconds)
            gc.freeze()  # the libraries have hundreds of thousands of objects, which need not be looked at again
            rows = [row for row in rows if row.workload != name] + result
            relate(rows)
            if result:
                show = summary if given.brief else table
                print(f"{show(result)}  [{time.perf_counter() - start:.0f} s]", flush=True)
        _write(path, document, rows, figures)  # whoever ends a long run keeps what there is
    relate(rows)
    _write(path, document, rows, figures)
    print(f"figures: {path}\n{plot(rows, path.with_suffix('.svg')) if given.plot else ''}")
    return int(any(row.wrong and is_ours(row) for row in rows))


def _write(path: Path, document: dict[str, Any], rows: Sequence[Row], figures: dict[str, dict[str, float]]) -> None:
    place = {name: number for number, name in enumerate(ALL)}
    ordered = sorted(rows, key=lambda row: place.get(row.workload, len(place)))
    document |= {"rows": [asdict(row) for row in ordered], "probes": figures}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _merged(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Merge documents. If several have a workload, the last one is used."""
    merged: dict[str, Any] = {"facts": {}, "rows": [], "probes": {}}
    for document in documents:
        measured = {row["workload"] for row in document["rows"]}
        merged["rows"] = [row for row in merged["rows"] if row["workload"] not in measured] + document["rows"]
        for name, figures in document["probes"].items():
            merged["probes"].setdefault(name, {}).update(figures)
        merged["facts"] = document["facts"]
    return merged


def members(word: str) -> Sequence[str]:
    """Return the workloads of a name on the command line."""
    if word == "all":
        return list(ALL)
    return [member.name for member in TOPICS[word]] if word in TOPICS else [word]


def _probe(probe: Probe, devices: Sequence[str]) -> dict[str, float]:
    chosen = devices if probe.each_device else devices[:1]
    figures = {f"{device}: {name}": value for device in chosen for name, value in probe.run(device).items()}
    print(f"\n{probe.name}")
    for name, value in figures.items():
        print(f"  {name:48}{value:12,.3f}", flush=True)
    return figures


def _opened(devices: Sequence[str], names: Sequence[str], jit: bool) -> list[Peer]:
    """Return the available libraries, with the devices of this package last, and print why the others are missing."""
    ours = {f"gpuarray-{device}": lambda device=device: Ours(device) for device in devices}
    if jit:
        ours |= {f"gpuarray-jit-{device}": lambda device=device: Ours(device, compiled=True) for device in devices}
    every = list(PEERS) if set(names) & {"all", "same"} else names
    opened = []
    for name, factory in ({name: PEERS[name] for name in every} | ours).items():
        try:
            opened.append(factory())
        except AbsentError as error:
            print(f"without {name}: {error}", file=sys.stderr)
    places = {peer.place for peer in opened[-len(ours) :]} if "same" in names else {"cpu", "gpu"}
    return [peer for peer in opened if peer.place in places]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Compare gpuarray with other array libraries.")
    add = parser.add_argument
    add("--device", type=_names, default=["cpu", "wgpu"], help="devices of gpuarray; cpu,wgpu by default")
    add("--jit", action="store_true", help="also run the functions with gpuarray.jit")
    add(
        "--workloads",
        type=among([*TOPICS, *ALL]),
        default=["all"],
        help=f"all, none, or some, by topic ({', '.join(TOPICS)}) or by name ({', '.join(ALL)})",
    )
    add(
        "--peers",
        type=among(["same", *PEERS]),
        default=["same"],
        help=f"same (the default: those on the same kinds of devices), all, none, or some of {', '.join(PEERS)}",
    )
    add(
        "--scale",
        type=Fraction,
        default=Fraction(1, 16),
        help="fraction of the full sizes, such as 1 or 1/16 (the default)",
    )
    add(
        "--seconds",
        type=float,
        default=0.5,
        help="seconds of single and of queued calls for each workload and library; 0.5 by default",
    )
    add("--merge", type=Path, nargs="+", default=[], help="files of earlier results to include")
    add("--json", type=Path, help="output file; bench/results/TIME.json by default")
    add("--brief", action="store_true", help="print a line for each workload, not a table")
    add("--plot", action="store_true", help="draw a chart next to the output file")
    return parser


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name and name != "none"]


def among(accepted: Iterable[str]) -> Callable[[str], list[str]]:
    """Return the type of an argument that is a list of accepted names, separated by commas."""

    def parse(text: str) -> list[str]:
        names = _names(text)
        for name in names:
            if name != "all" and name not in accepted:
                raise argparse.ArgumentTypeError(f"{name!r}; accepted are all, {', '.join(accepted)}")
        return names

    return parse


if __name__ == "__main__":
    sys.exit(main())
