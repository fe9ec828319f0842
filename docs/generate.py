"""Writes the pages that follow from the code or from figures; ``--check`` only tells whether they are current."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import api
import array_api
import command_line
import numpy
import performance

import gpuarray
from gpuarray import dispatch
from gpuarray.config import Config, environment_name
from gpuarray.diagnostics import coverage
from gpuarray.functions import status

DOCS = Path(__file__).parent
NOTICE = "<!-- Written by docs/generate.py; `make docs` writes it again. -->"


def configuration() -> Iterator[str]:
    """Yield the table of settings, from the fields of Config."""
    yield "# Configuration"
    yield ""
    yield "A setting is read as an attribute of `gpuarray.config`. Its value is, in this order: what an enclosing"
    yield "`with gpuarray.using(...)` says, what was assigned to `gpuarray.config.<name>`, the environment variable,"
    yield "the default."
    yield ""
    yield "| setting | environment variable | default | meaning |"
    yield "|---|---|---|---|"
    for field in fields(Config):
        meaning = field.metadata["doc"].replace("|", "\\|")
        yield f"| `{field.name}` | `{environment_name(field.name)}` | `{field.default!r}` | {meaning} |"


def interface() -> Iterator[str]:
    """Yield the public names of the package, by kind, each with the first line of its docstring."""
    yield "# Public names"
    yield ""
    yield "Everything in `gpuarray.__all__`. A function that has a namesake in NumPy or in the"
    yield "[array API standard](https://data-apis.org/array-api/latest/) means what it means there."
    kinds: dict[str, list[str]] = {"Classes": [], "Functions": [], "Modules": [], "Data types": [], "Values": []}
    for name in sorted(gpuarray.__all__):
        kinds[_kind(getattr(gpuarray, name))].append(name)
    for kind, names in kinds.items():
        if names:
            yield ""
            yield f"## {kind}"
            yield ""
            for name in names:
                yield f"- `{name}`{_summary(getattr(gpuarray, name))}"


def _kind(value: object) -> str:
    if _is_numpys(value):
        return "Data types"
    if isinstance(value, type):
        return "Classes"
    if isinstance(value, ModuleType):
        return "Modules"
    return "Functions" if callable(value) else "Values"


def _is_numpys(value: object) -> bool:
    """Whether ``value`` is a type of NumPy's, whose docstring differs from version to version."""
    return isinstance(value, type) and value.__module__.partition(".")[0] == "numpy"


def _summary(value: object) -> str:
    described = (isinstance(value, type | ModuleType) or callable(value)) and not _is_numpys(value)
    text = array_api.summary(value) if described else ""
    return f": {text}" if text else ""


def numpy_coverage() -> Iterator[str]:
    """Yield the table of NumPy's functions, from the statuses that they have."""
    statuses = dict(sorted((status.table() | _ufunc_statuses()).items()))
    yield "# NumPy's functions"
    yield ""
    yield "What happens when a function of NumPy is given an array of this package."
    yield ""
    yield "- *native*: it is recorded, and fuses with what stands around it."
    yield "- *composed*: it is made of such functions. A few values may be read, such as how many elements a mask"
    yield "  selects; the data stays on the device. Where a reason stands beside it, a part runs on the host with the"
    yield "  arguments that it names, and is counted as a fallback."
    yield "- *host*: NumPy computes it on a copy, counted as a fallback, and the result is on the device."
    yield "- *refused*: it raises `TypeError`."
    yield ""
    yield "`python -m gpuarray coverage` prints the same of the NumPy that is installed."
    yield ""
    yield "| status | functions |"
    yield "|---|---:|"
    for kind, count in coverage.counts(statuses).items():
        yield f"| {kind} | {count} |"
    yield ""
    yield f"Of the numeric ones, {coverage.numeric_share(statuses):.1f} % are native or composed."
    yield ""
    yield "| function | status | why |"
    yield "|---|---|---|"
    for name, (kind, reason) in statuses.items():
        yield f"| `{name}` | {kind} | {reason} |"


def _ufunc_statuses() -> dict[str, status.Status]:
    known = [*dispatch.UFUNC_ROWS, *dispatch.COMPOSED_UFUNCS]
    public = [ufunc for ufunc in known if getattr(numpy, ufunc.__name__, None) is ufunc]
    return {ufunc.__name__: status.ufunc_status(ufunc) for ufunc in public}


def design() -> Iterator[str]:
    """Yield the list of the design notes."""
    notes = sorted(DOCS.glob("design/0*.md"))
    yield "# Design notes"
    yield ""
    yield "Why it is built as it is: what was decided, what was measured, and what was rejected."
    yield ""
    for note in notes:
        title = note.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        yield f"- [{title}]({note.name})"
    yield ""
    yield "```{toctree}"
    yield ":hidden:"
    yield ""
    yield from (note.stem for note in notes)
    yield "```"


# -- accuracy ----------------------------------------------------------------------------------------------------------


def accuracy() -> Iterator[str]:
    """Yield the tables of errors, from the figures of ``bench.accuracy`` in docs/data, one file an adapter."""
    measured = {path.stem.removeprefix("accuracy-"): _figures(path) for path in DOCS.glob("data/accuracy-*.json")}
    yield "# Accuracy"
    yield ""
    yield "The largest error of each function, in units in the last place (ULP) of the exact result, where operands and"
    yield "result are normal numbers; exact values are mpmath's, or of twice the precision. How to measure: `python -m"
    yield "bench.accuracy --device wgpu --json docs/data/accuracy-NAME.json`, with `--sweep full --cost` on a GPU, and"
    yield "`--exact FILE` where mpmath takes long: a file of exact values, made where it lacks some. An empty cell was"
    yield "not measured, or not since the function changed. Special functions are SciPy's in NumPy's column."
    yield "Adapters:"
    yield ""
    for name, (document, _) in sorted(measured.items()):
        adapter = " ".join(document["facts"]["adapters"][0].split()[1:])
        extent = "all numbers" if document["sweep"] == "full" else "a sample"
        versions = ", ".join(f"{peer} {version}" for peer, version in document["facts"]["peers"].items())
        yield f"- **{name}**: {adapter}; float32 functions of one operand over {extent}; {versions}"
    for dtype, title in _TITLES.items():
        yield ""
        yield f"## {title}"
        yield ""
        yield from _error_table(measured, dtype)
    for name, (document, rows) in sorted(measured.items()):
        yield ""
        yield f"## Where the errors are largest: {name}"
        yield ""
        yield "In brackets the largest error where an operand or the result is a subnormal number; a device that takes"
        yield "these for 0 shows it here. *Wrong* counts results that are NaN, or of the other sign, where the exact"
        yield "value is not."
        yield ""
        yield "| function | float32 | at | float64 | at | wrong |"
        yield "|---|---:|---|---:|---|---:|"
        yield from _worst_table(rows, document["device"])
        if document["gigaelements_per_second"]:
            yield ""
            yield f"## Speed: {name}"
            yield ""
            yield "Billions of elements a second, each read from memory and written back, by the device's own clock;"
            yield "`bench.accuracy --cost`. Half of the operands are uniform in their bits, with infinities and"
            yield "subnormal numbers: where functions have quick forms for common ones, this is what the others take."
            yield ""
            yield from _speed_table(document["gigaelements_per_second"])


_TITLES = {
    "float32": "float32",
    "float64": "float64",
    "complex64": "complex64, error of the norm",
    "complex128": "complex128, error of the norm",
}
_Errors = dict[tuple[str, str], dict[str, dict[str, Any]]]


def _figures(path: Path) -> tuple[dict[str, Any], _Errors]:
    """Return a file, and its rows by dtype and function, and then by library."""
    document = json.loads(path.read_text(encoding="utf-8"))
    rows: _Errors = {}
    for row in document["rows"]:
        rows.setdefault((row["dtype"], row["function"]), {})[row["library"]] = row
    return document, rows


def _error_table(measured: dict[str, tuple[dict[str, Any], _Errors]], dtype: str) -> Iterator[str]:
    """Yield a column of ours for each adapter, and one for each other library, of its largest error anywhere."""
    names = sorted(measured)
    functions = dict.fromkeys(key[1] for name in names for key in measured[name][1] if key[0] == dtype)
    others = dict.fromkeys(
        library
        for name in names
        for key, found in measured[name][1].items()
        for library in found
        if key[0] == dtype and library != measured[name][0]["device"]
    )
    yield f"| function | {' | '.join([*(f'gpuarray, {name}' for name in names), *others])} |"
    yield f"|---|{'---:|' * (len(names) + len(others))}"
    for function in functions:
        found = {name: measured[name][1].get((dtype, function), {}) for name in names}
        own = [found[name].get(measured[name][0]["device"]) for name in names]
        rest = [[found[name][library]["error"] for name in names if library in found[name]] for library in others]
        cells = ["" if row is None else f"{row['error']:.3f}" for row in own]
        yield f"| {function} | {' | '.join([*cells, *(f'{max(r):.3f}' if r else '' for r in rest)])} |"


def _speed_table(speeds: dict[str, dict[str, float]]) -> Iterator[str]:
    yield f"| function | {' | '.join(speeds)} |"
    yield f"|---|{'---:|' * len(speeds)}"
    for function in dict.fromkeys(name for found in speeds.values() for name in found):
        cells = (f"{found[function]:.3g}" if function in found else "" for found in speeds.values())
        yield f"| {function} | {' | '.join(cells)} |"


def _worst_table(rows: _Errors, device: str) -> Iterator[str]:
    for function in dict.fromkeys(key[1] for key in rows):
        single, double = (rows.get((dtype, function), {}).get(device) for dtype in ("float32", "float64"))
        cells = []
        for row in (single, double):
            shown = "" if row is None else f"{row['error']:.3f} ({row['subnormal']:.3g})"
            cells += [shown, "" if row is None else ", ".join(f"`{operand}`" for operand in row["at"])]
        wrong = sum(found[device]["wrong"] for key, found in rows.items() if key[1] == function and device in found)
        yield f"| {function} | {' | '.join(cells)} | {wrong} |"


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "accuracy.md": accuracy,
    "design/index.md": design,
    "performance.md": performance.page,
    "reference/command-line.md": command_line.page,
    "reference/configuration.md": configuration,
    "reference/names.md": interface,
    "reference/numpy-coverage.md": numpy_coverage,
    **{f"reference/{name}": lines for name, lines in (array_api.pages() | api.pages()).items()},
}


def main() -> int:
    """Write the pages, or with ``--check`` return 1 if one is not current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is not current")
    check = parser.parse_args().check
    status = 0
    for name, lines in PAGES.items():
        path, text = DOCS / name, "\n".join([NOTICE, "", *lines()]) + "\n"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if check:
            print(f"{path} is not current; run make docs", file=sys.stderr)
            status = 1
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
    return status


if __name__ == "__main__":
    sys.exit(main())
