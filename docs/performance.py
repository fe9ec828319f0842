"""Generate the performance page from the measurements of ``bench``.

The measurements are in docs/data/performance-NAME.json, one file per machine, those of the device "auto" in
placement-NAME.json, and those of single functions in functions-NAME.json. performance-notes.json has the comments on
each section, by its title.
"""

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parent / "data"
#: Number of single functions that are listed for each size.
SLOWEST = 20
#: Names of the libraries on the page.
NAMES = {
    "numpy": "NumPy",
    "numexpr": "numexpr",
    "torch": "torch",
    "torch-compile": "torch.compile",
    "jax": "JAX",
    "cupy": "CuPy",
    "gpuarray": "ours",
    "gpuarray-jit": "ours, jit",
}


class Section(NamedTuple):
    """A section: its title, target, and topic of ``bench``, and the target speed relative to each library.

    ``exceptions`` has the targets of single workloads.
    """

    title: str
    target: str
    topic: str
    rivals: Mapping[str, float] = {}
    exceptions: Mapping[str, Mapping[str, float]] = {}


#: The libraries that compile for CPUs, and the workloads that compute mathematical functions.
COMPILED = {"torch-compile": 1.0, "jax": 1.0, "numexpr": 1.0}
COMPUTED = (
    *("chain", "black-scholes", "runmat-elementwise", "runmat-elementwise-sum", "runmat-monte-carlo"),
    *("runmat-4k-image", "var", "softmax"),
)
#: Targets of linear algebra beside 1.
FACTORS = {
    **{f"{name}-4096": 0.6 for name in ("cholesky", "solve", "qr")},
    **{f"{name}-2048": 0.5 for name in ("cholesky", "solve", "qr")},
    **{f"{name}-2048-float64": 0.25 for name in ("cholesky", "solve", "qr")},
    **{f"{name}-2048-float64": 0.5 for name in ("eigh", "svd")},
    **{
        f"{name}-stack-{n}-float64": 0.5
        for name in ("cholesky", "inv", "det", "qr", "eigh", "svd", "solve")
        for n in (16, 64)
    },
}

SECTIONS = (
    Section(
        "Fused elementwise work",
        "at least 92 % of the bandwidth of a copy, 1.0x torch.compile, 10x CuPy",
        "elementwise",
        {"torch-compile": 1.0},
    ),
    Section(
        "Reductions",
        "at least 95 % of the better of CuPy and torch, for whole arrays, rows and columns",
        "reductions",
        {"cupy": 0.95, "torch": 0.95},
    ),
    Section(
        "Rows: softmax, layer norm, pictures",
        "at least 1.0x torch.compile; one kernel if a row fits a workgroup",
        "rows",
        {"torch-compile": 1.0},
    ),
    Section(
        "Monte Carlo",
        "at least 2x eager torch and 1.0x JAX, from a plain Python loop; normal numbers as fast as CuPy's",
        "random",
        {"torch": 2.0, "jax": 1.0},
        {"normal": {"cupy": 1.0}, "uniform": {"cupy": 1.0}},
    ),
    Section(
        "All pairs",
        "at least 1.0x torch.compile, without an array of all pairs",
        "pairs",
        {"torch-compile": 1.0},
    ),
    Section(
        "A hundred steps",
        "simulations as plain Python loops, at least 1.0x torch.compile of a step, called in the same loop",
        "simulations",
        {"torch-compile": 1.0},
    ),
    Section(
        "Matrix products",
        "at least 85 % of cuBLAS in float32 at 4096; with a fused epilogue, 1.0x of libraries that do not fuse it",
        "products",
        {"cupy": 0.85, "torch": 0.85},
        {"matmul-relu": {"cupy": 1.0, "torch": 1.0}},
    ),
    Section(
        "Moving data",
        "at least 85 % of the bandwidth of a copy where memory allows; masks and take at least as fast as torch",
        "movement",
        {"torch": 1.0},
    ),
    Section("Running sums", "at least as fast as torch", "scans", {"torch": 1.0}),
    Section("Sorting", "at least half of CuPy's keys per second", "sorting", {"cupy": 0.5}),
    Section(
        "Counting",
        "at least as fast as CuPy and torch; on CPUs never below 0.9x NumPy",
        "counting",
        {"cupy": 1.0, "torch": 1.0, "numpy": 0.9},
    ),
    Section(
        "Linear algebra",
        "large ones at 0.6x CuPy and torch; eigenvalues, singular values and stacks of small matrices at least as "
        "fast; in double precision at half of these ratios",
        "linear_algebra",
        {"cupy": 1.0, "torch": 1.0, "numpy": 0.95},
        {name: {"cupy": ratio, "torch": ratio, "numpy": 0.95} for name, ratio in FACTORS.items()},
    ),
    Section("Systems of linear equations", "at least 0.6x CuPy", "systems", {"cupy": 0.6}),
    Section("Fourier transforms", "at least half of cuFFT", "fourier", {"cupy": 0.5, "torch": 0.5}),
    Section("Signals", "at least CuPy", "signals", {"cupy": 1.0}),
    Section(
        "Images",
        "Gaussians, boxes and gradients twice as fast as CuPy, others at least as fast; never below 0.9x SciPy",
        "images",
        {"cupy": 1.0, "numpy": 0.9},
        {name: {"cupy": 2.0, "numpy": 0.9} for name in ("gaussian-filter", "uniform-filter", "sobel")},
    ),
    Section(
        "k-means through scikit-learn",
        "at least as fast as CuPy and torch through the same functions of scikit-learn",
        "learning",
        {"cupy": 1.0, "torch": 1.0},
    ),
    Section(
        "Derivatives and batches",
        "at least as fast as JAX and torch.compile, a training step at least 0.9x",
        "derivatives",
        {"jax": 1.0, "torch-compile": 1.0, "autograd": 1.0},
        {"training-step": {"jax": 0.9}},
    ),
    Section(
        "Transfers",
        "uploads as fast as torch and CuPy, downloads at least twice as fast",
        "transfers",
        {"cupy": 1.0, "torch": 1.0},
        {"download": {"cupy": 2.0, "torch": 2.0}},
    ),
    Section(
        "On CPUs",
        "at 10,000,000 elements 3x NumPy for mathematical functions, never below 0.9x; 1.0x the compiled libraries; "
        "at most 32 MiB in addition to inputs and results",
        "processors",
        {"numpy": 0.9, **COMPILED},
        {f"{name}-10m{width}": {"numpy": 3.0, **COMPILED} for name in COMPUTED for width in ("", "-float64")},
    ),
    Section(
        "Small arrays and host time",
        "ten operations on 1,000 elements and one read within 71 microseconds; recording below 2 microseconds; an "
        "additional launch below 5; a new kernel below 20 ms; the first result of a new process below 1 s",
        "overhead",
        {"torch-compile": 1.0},
    ),
)


def page() -> Iterator[str]:
    """Yield the page."""
    documents = {
        path.stem.removeprefix("performance-"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(DATA.glob("performance-*.json"))
        if path.stem != "performance-notes"
    }
    notes = json.loads((DATA / "performance-notes.json").read_text(encoding="utf-8"))
    yield "# Performance"
    yield ""
    yield "Each table compares this package with other libraries, in one run on one machine and in full precision"
    yield "(never TF32). Every result was compared with NumPy's before it was timed. Times are in milliseconds. On a"
    yield "GPU the first number is the time per call of many calls that are waited for together, which is the"
    yield "throughput of the GPU. The number in brackets is the median of single calls, including the wait for the"
    yield "result. The columns are:"
    yield ""
    yield "- **ours, jit**: the same function with [`gpuarray.jit`](how-to/jit.md);"
    yield "- **best peer**: the time of the fastest other library over ours, with or without `jit`;"
    yield "- **of target**: the smallest ratio to the libraries that the target names, as a share of the target ratio;"
    yield "- **of limit**: the rate of the minimum memory traffic, as a share of the fastest copy of any library on"
    yield "  that machine (for arithmetic, of the fastest large matrix product);"
    yield "- **kernels**: the time of our kernels by the clock of the GPU;"
    yield "- **memory**: memory of a call in addition to its inputs and its result."
    yield ""
    yield "To repeat the measurements, see [Run the benchmarks](how-to/benchmarks.md)."
    yield ""
    if documents:
        yield "Machines:"
        yield ""
        for name, document in documents.items():
            yield f"- **{name}**: {_machine(document)}"
        for name in documents:
            if (DATA / f"performance-{name}.svg").exists():
                yield ""
                yield f"![Times of other libraries relative to ours, {name}](data/performance-{name}.svg)"
    else:
        yield "There are no measurements yet. `python -m bench --json docs/data/performance-NAME.json` and `make docs`"
        yield "add them."
    for section in SECTIONS:
        yield ""
        yield f"## {section.title}"
        yield ""
        yield f"Target: {section.target}."
        for name, document in documents.items():
            for place in ("gpu", "cpu"):
                rows = [row for row in document["rows"] if (row["topic"], row["place"]) == (section.topic, place)]
                if rows:
                    yield from _table(name, rows, section)
            if section.topic == "overhead":
                yield from _probes(name, document)
        if section.title in notes:
            yield ""
            yield notes[section.title]
    yield from _automatic(notes)
    yield from _functions(notes)


def _machine(document: Mapping[str, Any]) -> str:
    facts = document["facts"]
    graphics = ", ".join(facts["gpu"]) or "; ".join(facts["adapters"]) or "no GPU"
    if all(row["place"] == "cpu" for row in document["rows"]):
        graphics = "CPU only"
    peers = ", ".join(f"{name} {version}" for name, version in facts["peers"].items())
    return f"{facts['date']}; {graphics}; {facts['cores']} cores of {facts['processor']}; {peers}"


def _table(machine: str, rows: Sequence[Mapping[str, Any]], section: Section) -> Iterator[str]:
    libraries = list(dict.fromkeys(_library(row) for row in sorted(rows, key=lambda row: not _is_ours(_library(row)))))
    on_processor = rows[0]["place"] == "cpu"
    last = ["best peer", "of target", *(["memory"] if on_processor else ["kernels", "of limit"])]
    yield ""
    yield f"| {machine} | size | {' | '.join([*(NAMES[name] for name in libraries), *last])} |"
    yield f"|---|---:|{'---:|' * (len(libraries) + len(last))}"
    notes: list[str] = []
    for workload in dict.fromkeys(row["workload"] for row in rows):
        here = {_library(row): row for row in rows if row["workload"] == workload}
        cells = [_time(here.get(name), notes) for name in libraries]
        cells += _ratios(here, section)
        ours = here.get("gpuarray", {})
        if on_processor:
            extra = ours.get("extra_mib")
            cells.append(
                _number(extra and max(extra, 0.0), ".0f", " MiB")
            )  # a call may release memory that was in use before
        else:
            cells += [_number(ours.get("device_ms"), ",.3f"), _number(ours.get("of_limit"), ".0%")]
        size = next(iter(here.values()))["size"]
        yield f"| {workload} | {size:,} | {' | '.join(cells)} |"
    for note in notes:
        yield ""
        yield note


def _number(value: float | None, form: str, unit: str = "") -> str:
    return "" if value is None else format(value, form) + unit


def _library(row: Mapping[str, Any]) -> str:
    """Return the library of a row, without its device."""
    name: str = row["peer"]
    return name if name in NAMES else name.rpartition("-")[0]


def _is_ours(library: str) -> bool:
    return library.startswith("gpuarray")


def _best(row: Mapping[str, Any]) -> float | None:
    """Return the time of a row: queued calls if they were measured, otherwise single calls."""
    found: float | None = row["call_ms"] if row["queued_ms"] is None else row["queued_ms"]
    return found


def _time(row: Mapping[str, Any] | None, notes: list[str]) -> str:
    if row is None or row["call_ms"] is None:
        return ""
    mark = ""
    if row["wrong"]:
        notes.append(f"\\* {row['workload']}, {NAMES[_library(row)]}: the result {row['note']} from NumPy's.")
        mark = "\\*"
    if row["queued_ms"] is None:
        return f"{row['call_ms']:,.3f}{mark}"
    return f"{row['queued_ms']:,.3f} ({row['call_ms']:,.3f}){mark}"


def _ratios(here: Mapping[str, Mapping[str, Any]], section: Section) -> tuple[str, str]:
    """Return the ratio to the fastest library, and the smallest ratio to the named ones over its target."""
    times = {name: time for name, row in here.items() if (time := _best(row))}
    known = {name: time for name, time in times.items() if not _is_ours(name)}
    if len(times) == len(known) or not known:
        return "", ""
    ours = min(time for name, time in times.items() if _is_ours(name))
    quickest = min(known, key=lambda name: known[name])
    rivals = section.exceptions.get(next(iter(here.values()))["workload"], section.rivals)
    aims = [known[name] / ours / factor for name, factor in rivals.items() if name in known]
    return f"{known[quickest] / ours:.2f} ({NAMES[quickest]})", f"{min(aims):.0%}" if aims else ""


def _probes(machine: str, document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the measurements of this package alone."""
    if not document["probes"]:
        return
    yield ""
    yield f"| {machine} | measurement | |"
    yield "|---|---|---:|"
    for name, figures in document["probes"].items():
        for what, value in figures.items():
            yield f"| {name} | {what.replace('_', ' ')} | {value:{',.2f' if abs(value) >= 1 else '.2g'}} |"


def _automatic(notes: Mapping[str, str]) -> Iterator[str]:
    """Yield the times on "auto" relative to the faster of cpu and GPU, from docs/data/placement-NAME.json."""
    paths = sorted(DATA.glob("placement-*.json"))
    if not paths:
        return
    yield ""
    yield "## The device `auto`"
    yield ""
    yield "Target: within 1.15x of the faster of `cpu` and the GPU for nine of ten points, and never above 2x. The"
    yield "tables have the time on `auto` divided by the time on the faster of the two, by number of elements, as"
    yield "measured by `python -m bench.placement`. See [Placement](placement.md)."
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
        yield f"**{document['adapter']}**: {near} of {len(every)} points within 1.15x; maximum {max(every):.2f}x."
        yield ""
        yield f"| work | {' | '.join(f'{size:,}' for size in sizes)} |"
        yield f"|---|{'---:|' * len(sizes)}"
        for workload, known in ratios.items():
            cells = (f"{known[size]:.2f}" if size in known else "" for size in sizes)
            yield f"| {workload} | {' | '.join(cells)} |"


def _is_missed(row: Mapping[str, Any]) -> bool:
    return bool(row["ratio"] > 1.1 and row["ours_us"] > row["numpy_us"] + 2)


def _functions(notes: Mapping[str, str]) -> Iterator[str]:
    """Yield the single functions that are slowest relative to NumPy or SciPy, from docs/data/functions-NAME.json."""
    paths = sorted(DATA.glob("functions-*.json"))
    if not paths:
        return
    yield ""
    yield "## Single functions on CPUs"
    yield ""
    yield "Target: at most 1.1 of NumPy's time for each function at 1,000, 100,000 and 10,000,000 elements, or two"
    yield "microseconds more. `python -m bench.functions` evaluates each call alone on the device `cpu`, so nothing is"
    yield "fused. It covers every function of the namespace that computes with arrays, at sizes at which NumPy takes"
    yield "less than a second; `bench/calls.py` lists the calls, and the functions that it leaves out. With `--package`"
    yield "it compares the functions of `gpuarray.scipy` with SciPy's. The tables list the"
    yield f"{SLOWEST} slowest relative to the other library, with times in microseconds."
    if "functions" in notes:
        yield ""
        yield notes["functions"]
    for path in paths:
        document = json.loads(path.read_text(encoding="utf-8"))
        facts, package = document["facts"], document.get("package", "numpy")
        name = "NumPy" if package == "numpy" else "SciPy"
        yield ""
        machine = f"{facts['cores']} cores of {facts['processor']}"
        yield f"`{package}`: {facts['date']}; {machine}; {name} {facts[name.lower()]}."
        for size in sorted({row["size"] for row in document["rows"]}):
            rows = sorted((row for row in document["rows"] if row["size"] == size), key=lambda row: -row["ratio"])
            ratios = [row["ratio"] for row in rows]
            yield ""
            yield f"| {size:,} elements | {name} | ours | ours over {name} |"
            yield "|---|---:|---:|---:|"
            for row in rows[:SLOWEST]:
                yield f"| `{row['call']}` | {row['numpy_us']:,.1f} | {row['ours_us']:,.1f} | {row['ratio']:.2f} |"
            yield (
                f"| {len(rows)} calls: geometric mean, and how many miss the target | | | "
                f"{statistics.geometric_mean(ratios):.2f}, {sum(_is_missed(row) for row in rows)} |"
            )
