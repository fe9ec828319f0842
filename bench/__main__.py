"""The command line of the benchmarks."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

from bench.facts import facts
from bench.harness import Row, relate, run, table
from bench.peers import PEERS, AbsentError, Ours, Peer
from bench.plot import plot
from bench.workloads import ALL, Probe, Workload

RESULTS = Path(__file__).parent / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen workloads on the chosen peers; return 1 if one of our results was wrong."""
    given = _parser().parse_args(arguments)
    chosen = list(ALL) if given.workloads == ["all"] else given.workloads
    devices = given.device
    peers = list(_opened(devices, list(PEERS) if given.peers == ["all"] else given.peers))
    about = facts(peers)
    print(json.dumps(about, indent=2))

    rows: list[Row] = []
    figures: dict[str, dict[str, float]] = {}
    for name in sorted(chosen, key=list(ALL).index):
        workload = ALL[name]
        if isinstance(workload, Probe):
            figures[name] = _probe(workload, devices)
        else:
            rows += _run(workload, peers, rows, given.scale, given.seconds)

    path = given.json or RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"facts": about, "scale": str(given.scale), "rows": [asdict(row) for row in rows], "probes": figures}
    path.write_text(json.dumps(document, indent=2) + "\n")
    print(f"\nfigures: {path}\n{plot(rows, path.with_suffix('.png'))}")
    return int(any(row.wrong and row.peer.startswith("gpuarray") for row in rows))


def _run(
    workload: Workload, peers: Sequence[Peer], earlier: Sequence[Row], scale: Fraction, seconds: float
) -> list[Row]:
    rows = list(run(workload, peers, scale, seconds))
    relate([*earlier, *rows])
    print("\n" + table(rows), flush=True)
    return rows


def _probe(probe: Probe, devices: Sequence[str]) -> dict[str, float]:
    chosen = devices if probe.each_device else devices[:1]
    figures = {f"{device}: {name}": value for device in chosen for name, value in probe.run(device).items()}
    print(f"\n{probe.name}")
    for name, value in figures.items():
        print(f"  {name:40}{value:10,.2f}", flush=True)
    return figures


def _opened(devices: Sequence[str], names: Sequence[str]) -> list[Peer]:
    """Return the peers that can run here, this package's devices last; say why the others cannot."""
    factories = {name: PEERS[name] for name in names}
    factories |= {f"gpuarray-{device}": lambda device=device: Ours(device) for device in devices}
    opened = []
    for name, factory in factories.items():
        try:
            opened.append(factory())
        except AbsentError as error:
            print(f"without {name}: {error}", file=sys.stderr)
    return opened


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Compare gpuarray with other array libraries.")
    add = parser.add_argument
    add("--device", type=_names, default=["cpu", "wgpu"], help="our devices; cpu,wgpu by default")
    add("--workloads", type=_among(ALL), default=["all"], help=f"all, or some of {', '.join(ALL)}")
    add("--peers", type=_among(PEERS), default=["all"], help=f"all, none, or some of {', '.join(PEERS)}")
    add(
        "--scale",
        type=Fraction,
        default=Fraction(1, 16),
        help="part of the full sizes, such as 1 or 1/16 (the default)",
    )
    add("--seconds", type=float, default=1.0, help="of warm calls for each peer and workload; 1 by default")
    add("--json", type=Path, help="file of the figures; bench/results/TIME.json by default")
    return parser


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name and name != "none"]


def _among(accepted: Iterable[str]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        names = _names(text)
        for name in names:
            if name != "all" and name not in accepted:
                raise argparse.ArgumentTypeError(f"{name!r}; accepted are all, {', '.join(accepted)}")
        return names

    return parse


if __name__ == "__main__":
    sys.exit(main())
