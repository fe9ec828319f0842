"""Write the pages that are generated from the code and from measurements; ``--check`` tests that they are current."""

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
import scipy_table

import gpuarray
from gpuarray.diagnostics import coverage
from gpuarray.functions import registry
from gpuarray.settings import Config, environment_name

DOCS = Path(__file__).parent
NOTICE = "<!-- Written by docs/generate.py; `make docs` writes it again. -->"


def configuration() -> Iterator[str]:
    """Yield the table of settings, from the fields of ``Config``."""
    yield "# Configuration"
    yield ""
    yield "Settings are attributes of `gpuarray.config`. The value of a setting comes from the first of these that"
    yield "sets it: an enclosing `with gpuarray.using(...)` block, an assignment to `gpuarray.config.<name>`, the"
    yield "environment variable, the default."
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
    yield "The names in `gpuarray.__all__`. Functions that also exist in NumPy or in the"
    yield "[array API standard](https://data-apis.org/array-api/latest/) have the same meaning here."
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
    if isinstance(value, type) and issubclass(value, numpy.generic):
        return "Data types"
    if isinstance(value, type):
        return "Classes"
    if isinstance(value, ModuleType):
        return "Modules"
    return "Functions" if callable(value) else "Values"


def _is_numpys(value: object) -> bool:
    """Return True if ``value`` is a type of NumPy, whose docstring differs between versions."""
    return isinstance(value, type) and value.__module__.partition(".")[0] == "numpy"


def _summary(value: object) -> str:
    described = (isinstance(value, type | ModuleType) or callable(value)) and not _is_numpys(value)
    text = array_api.summary(value) if described else ""
    return f": {text}" if text else ""


def numpy_coverage() -> Iterator[str]:
    """Yield the table of NumPy's functions and their statuses."""
    found = registry.table()
    yield "# NumPy's functions"
    yield ""
    yield "How each function of NumPy handles an array of this package:"
    yield ""
    yield "- *native*: the call is recorded, and fuses with the operations around it."
    yield "- *composed*: the function is composed of native functions. It may download a few values, such as the"
    yield "  number of elements that a mask selects; the data stays on the device. If a reason is given, a part runs"
    yield "  on the host with the arguments that it names, and is counted as a fallback."
    yield "- *host*: NumPy computes the function on a host copy, which is counted as a fallback, and the result is"
    yield "  uploaded."
    yield "- *refused*: the call raises `TypeError`."
    yield ""
    yield "`python -m gpuarray coverage` prints the same table for the installed version of NumPy."
    yield ""
    yield "| status | functions |"
    yield "|---|---:|"
    for kind, count in coverage.counts(found).items():
        yield f"| {kind} | {count} |"
    yield ""
    yield f"{coverage.numeric_share(found):.1f} % of the numeric functions are native or composed."
    yield ""
    yield "| function | status | why |"
    yield "|---|---|---|"
    for name, (kind, reason, _) in found.items():
        yield f"| `{name}` | {kind} | {reason} |"


def design() -> Iterator[str]:
    """Yield the list of the design notes."""
    notes = sorted(DOCS.glob("design/0*.md"))
    pages = sorted(page for page in DOCS.glob("design/[a-z]*.md") if page.name != "index.md")
    yield "# Design notes"
    yield ""
    yield "Each note has one decision: its context, the decision, the rejected alternatives and the consequences."
    yield ""
    for note in (*notes, *pages):
        title = note.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        yield f"- [{title}]({note.name})"
    yield ""
    yield "```{toctree}"
    yield ":hidden:"
    yield ""
    yield from (note.stem for note in (*notes, *pages))
    yield from (f"appendix/{page.stem}" for page in sorted(DOCS.glob("design/appendix/*.md")))
    yield "```"


# -- accuracy ----------------------------------------------------------------------------------------------------------


def accuracy() -> Iterator[str]:
    """Yield the tables of errors, from the measurements of ``bench.accuracy`` in docs/data, one file per adapter."""
    measured = {path.stem.removeprefix("accuracy-"): _figures(path) for path in DOCS.glob("data/accuracy-*.json")}
    yield "# Accuracy"
    yield ""
    yield "The tables have the largest error of each function, in units in the last place (ULP) of the exact result,"
    yield "over operands and results that are normal numbers. The exact values are computed by mpmath, or in twice the"
    yield "precision. An empty cell was not measured, or not since the function changed. In NumPy's column, special"
    yield "functions are SciPy's."
    yield ""
    yield "To measure, run `python -m bench.accuracy --device wgpu --json docs/data/accuracy-NAME.json`, with"
    yield "`--sweep full --cost` on a GPU. `--exact FILE` keeps the exact values in a file, because mpmath is slow, and"
    yield "computes only the missing ones."
    yield ""
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
        yield "The number in brackets is the largest error where an operand or the result is subnormal; devices that"
        yield "flush subnormal numbers to 0 have large errors here. *Wrong* counts results that are NaN or have the"
        yield "opposite sign where the exact value does not."
        yield ""
        yield "| function | float32 | at | float64 | at | wrong |"
        yield "|---|---:|---|---:|---|---:|"
        yield from _worst_table(rows, document["device"])
        if document["gigaelements_per_second"]:
            yield ""
            yield f"## Speed: {name}"
            yield ""
            yield "Billions of elements per second, each read from memory and written back, by the clock of the"
            yield "device; measured by `bench.accuracy --cost`. Half of the operands have uniformly distributed bits,"
            yield "including infinities and subnormal numbers, so these rates include the slow paths of functions that"
            yield "have a fast path for common operands."
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
    """Return the contents of a file, and its rows by dtype and function, and then by library."""
    document = json.loads(path.read_text(encoding="utf-8"))
    rows: _Errors = {}
    for row in document["rows"]:
        rows.setdefault((row["dtype"], row["function"]), {})[row["library"]] = row
    return document, rows


def _error_table(measured: dict[str, tuple[dict[str, Any], _Errors]], dtype: str) -> Iterator[str]:
    """Yield a column of this package for each adapter, and one for each other library, with its largest error."""
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
    "reference/scipy.md": scipy_table.page,
    **{f"reference/{name}": lines for name, lines in (array_api.pages() | api.pages()).items()},
}


def main() -> int:
    """Write the pages, or with ``--check`` return 1 if one is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    check = parser.parse_args().check
    status = 0
    for name, lines in PAGES.items():
        path, text = DOCS / name, "\n".join([NOTICE, "", *lines()]) + "\n"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if check:
            print(f"{path} is out of date; run make docs", file=sys.stderr)
            status = 1
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
    return status


if __name__ == "__main__":
    sys.exit(main())
