"""The page of speeds, from the figures that ``bench`` writes.

They are in docs/data/performance-NAME.json, one file a machine, and those of the device "auto" in placement-NAME.json.
What there is to say about a section stands in performance-notes.json, by the section's title.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

#: Workloads of ten million elements, in float32 and in float64.
ON_PROCESSORS = ("chain", "black-scholes", "runmat-elementwise", "runmat-elementwise-sum", "runmat-4k-image") + (
    "sum",
    "var",
    "argmax",
    "softmax",
    "cumulative-sum",
    "argsort",
)
DATA = Path(__file__).parent / "data"


class Section(NamedTuple):
    """Kinds of work: the title, what is aimed at, and the workloads and probes of ``bench``."""

    title: str
    aim: str
    workloads: tuple[str, ...]


SECTIONS = (
    Section(
        "Fused elementwise work",
        "at least 92 % of the bandwidth of a copy, 1.0x torch.compile, 10x CuPy",
        ("copy", "axpy", "chain", "chain-float64", "black-scholes", "heat")
        + ("runmat-elementwise", "runmat-elementwise-written"),
    ),
    Section(
        "Reductions",
        "at least 95 % of the better of CuPy and torch, whole, by rows and by columns",
        ("sum", "mean", "var", "max", "argmax", "sum-axis-0", "var-axis-0", "argmax-axis-0", "sum-axis-1")
        + ("var-axis-1", "argmax-axis-1", "sum-narrow", "max-narrow", "sum-short", "sum-middle"),
    ),
    Section(
        "Rows: softmax, layer norm, pictures",
        "at least 1.0x torch.compile; one kernel where a row fits a workgroup",
        ("softmax", "softmax-1024", "softmax-long", "layernorm", "runmat-4k-image"),
    ),
    Section(
        "Monte Carlo",
        "at least 2x eager torch and 1.0x JAX, from a plain Python loop",
        ("runmat-monte-carlo", "normal"),
    ),
    Section("All pairs", "at least 1.0x torch.compile, without an array of all pairs", ("distances", "n-body")),
    Section(
        "Matrix products",
        "at least 85 % of cuBLAS in float32 at 4096; the epilogue fused, at 1.0x of peers that do not fuse it",
        ("matmul", "matmul-512", "matmul-4096", "matmul-float64", "matmul-complex64", "matmul-batch")
        + ("matmul-vector", "vector-matmul", "matmul-relu"),
    ),
    Section(
        "Moving data",
        "at least 85 % of the bandwidth of a copy where memory allows; masks and take at least as fast as torch",
        ("transpose", "permute", "concatenate", "take", "mask", "scatter"),
    ),
    Section("Running sums", "at least as fast as torch", ("cumulative-sum",)),
    Section("Sorting", "at least half of CuPy's keys a second", ("sort", "argsort")),
    Section("Fourier transforms", "at least half of cuFFT", ("fft", "fft-batch", "rfft")),
    Section("Transfers", "up as fast as torch and CuPy, down at least twice as fast", ("upload", "download")),
    Section(
        "On processors",
        "at 10,000,000 elements 3x NumPy where functions are computed, never under 0.9x",
        tuple(f"{name}-10m{dtype}" for name in ON_PROCESSORS for dtype in ("", "-float64")),
    ),
    Section(
        "Small work, and what Python costs",
        "ten operations on 1,000 elements within 71 microseconds and one read; recording under 2 microseconds",
        ("tiny", "record", "replay", "first-call", "import"),
    ),
)


def page() -> Iterator[str]:
    """Yield the page."""
    documents = {
        path.stem.removeprefix("performance-"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(DATA.glob("performance-*.json"))
        if path.stem != "performance-notes"
    }
    notes_path = DATA / "performance-notes.json"
    notes = json.loads(notes_path.read_text(encoding="utf-8")) if notes_path.exists() else {}
    yield "# Performance"
    yield ""
    yield "How fast this package is, beside other libraries on the same machine. In tables that are headed by a"
    yield "machine, which `python -m bench` wrote, every result was compared with NumPy's before it was timed, in"
    yield "full precision; a time is the median of calls after the first, and ends when the result is there; *of"
    yield "copy* is the bandwidth of the least bytes that must move, as a share of the fastest copy that any of the"
    yield "libraries reached there. The other tables were taken by hand, with the code of 2026-11-21; their peers"
    yield "may be of another run on the same kind of machine. How to measure: [Run the benchmarks](how-"
    yield "to/benchmarks.md)."
    yield ""
    if documents:
        yield "Machines:"
        yield ""
        for name, document in documents.items():
            yield f"- **{name}**: {_machine(document)}"
    else:
        yield "No machine's figures are kept yet: `python -m bench --json docs/data/performance-NAME.json` and"
        yield "`make docs` put them here."
    known = {name for section in SECTIONS for name in section.workloads}
    met = dict.fromkeys(name for document in documents.values() for name in _names(document) if name not in known)
    for section in (*SECTIONS, *([Section("Other work", "", tuple(met))] if met else [])):
        yield ""
        yield f"## {section.title}"
        yield ""
        if section.aim:
            yield f"The aim: {section.aim}."
        if section.title in notes:
            yield ""
            yield notes[section.title]
        for name, document in documents.items():
            yield from _tables(name, document, section.workloads)
    yield from _automatic(notes)


def _machine(document: dict[str, Any]) -> str:
    facts = document["facts"]
    graphics = ", ".join(facts["gpu"]) or "; ".join(facts["adapters"]) or "no GPU"
    peers = ", ".join(f"{name} {version}" for name, version in facts["peers"].items())
    return (
        f"{graphics}; {facts['cores']} cores of {facts['processor']}; {peers}; at {document['scale']} of the full sizes"
    )


def _names(document: dict[str, Any]) -> list[str]:
    return [*dict.fromkeys(row["workload"] for row in document["rows"]), *document["probes"]]


def _tables(machine: str, document: dict[str, Any], workloads: tuple[str, ...]) -> Iterator[str]:
    rows = [row for name in workloads for row in document["rows"] if row["workload"] == name]
    if rows:
        yield ""
        yield f"| {machine} | size | library | ms | GB/s | of copy | x NumPy |"
        yield "|---|---:|---|---:|---:|---:|---:|"
        for row in rows:
            figures = (
                _number(row["warm_ms"], ",.3f"),
                _number(row["gigabytes_per_second"], ",.1f"),
                _number(row["of_copy"], ".0%"),
                _number(row["times_numpy"], ",.2f"),
            )
            shown = " | ".join(figures) if row["warm_ms"] is not None else f"{row['note']} | | | "
            yield f"| {row['workload']} | {row['size']:,} | {row['peer']} | {shown} |"
    probes = {name: document["probes"][name] for name in workloads if name in document["probes"]}
    if probes:
        yield ""
        yield f"| {machine} | figure | |"
        yield "|---|---|---:|"
        for name, figures in probes.items():
            for what, value in figures.items():
                yield f"| {name} | {what.replace('_', ' ')} | {value:,.2f} |"


def _automatic(notes: dict[str, str]) -> Iterator[str]:
    """Yield how the device "auto" does beside the better of its places, from docs/data/placement-NAME.json."""
    paths = sorted(DATA.glob("placement-*.json"))
    if not paths:
        return
    yield ""
    yield "## The device `auto`"
    yield ""
    yield "The aim: within 1.15x of the better of `cpu` and the GPU in nine of ten points, and never over 2x. In the"
    yield "tables: the time on `auto` over the better of the two, by elements; measured by `python -m bench.placement`."
    yield "[How it decides](placement.md)."
    if "auto" in notes:
        yield ""
        yield notes["auto"]
    for path in paths:
        document = json.loads(path.read_text(encoding="utf-8"))
        ratios: dict[str, dict[int, float]] = {}
        for row in document["rows"]:
            ratios.setdefault(row["workload"], {})[row["size"]] = row["ratio"]
        every = [ratio for known in ratios.values() for ratio in known.values()]
        near = sum(ratio <= 1.15 for ratio in every)
        sizes = sorted({size for known in ratios.values() for size in known})
        yield ""
        yield f"**{document['adapter']}**: {near} of {len(every)} points within 1.15x, {max(every):.2f}x at most."
        yield ""
        yield f"| work | {' | '.join(f'{size:,}' for size in sizes)} |"
        yield f"|---|{'---:|' * len(sizes)}"
        for workload, known in ratios.items():
            cells = (f"{known[size]:.2f}" if size in known else "" for size in sizes)
            yield f"| {workload} | {' | '.join(cells)} |"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
