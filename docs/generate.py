"""Writes the pages of docs/reference that follow from the code; ``--check`` only tells whether they are current."""

import argparse
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import gpuarray
from gpuarray.config import Config, environment_name

REFERENCE = Path(__file__).parent / "reference"
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
    text = inspect.getdoc(value) if described else None
    first = text.partition("\n\n")[0].replace("\n", " ").strip() if text else ""
    return f": {first}" if first else ""


PAGES: dict[str, Callable[[], Iterator[str]]] = {"configuration.md": configuration, "names.md": interface}


def main() -> int:
    """Write the pages, or with ``--check`` return 1 if one is not current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is not current")
    check = parser.parse_args().check
    status = 0
    for name, lines in PAGES.items():
        path, text = REFERENCE / name, "\n".join([NOTICE, "", *lines()]) + "\n"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if check:
            print(f"{path} is not current; run make docs", file=sys.stderr)
            status = 1
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
    return status


if __name__ == "__main__":
    sys.exit(main())
