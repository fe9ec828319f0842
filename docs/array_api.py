"""The pages on the Array API standard: one for each of its sections, and the table of all functions."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from placement import DOUBLE, FULL, PLAIN, STANDARD, Placement, placement
from standard import (
    ATTRIBUTES,
    CALLS,
    CONSTANTS,
    DTYPES,
    EXPRESSIONS,
    INSPECTION,
    NOTES,
    SECTIONS,
    SPECIFICATION,
    VERSION,
    Section,
)

import gpuarray as xp
from gpuarray.codegen.storage import register_type
from gpuarray.codegen.target import for_target
from gpuarray.dtypes import DType

FOLDER = "array-api"


def summary(value: object) -> str:
    """Return what a docstring begins with, as one line of Markdown."""
    text = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`")


def signature(name: str, function: Callable[..., Any]) -> str:
    """Return a call of a function with the names and defaults of its parameters."""
    found = inspect.signature(function)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in found.parameters.values()]
    return f"{name}{found.replace(parameters=bare, return_annotation=inspect.Signature.empty)}"


# -- the table ---------------------------------------------------------------------------------------------------------


def table() -> Iterator[str]:
    """Yield the page that links all others, with the table of where each function runs."""
    yield "# The Array API standard"
    yield ""
    yield f"`gpuarray` is a namespace of the [Python Array API standard]({SPECIFICATION}/), version"
    yield f"{xp.__array_api_version__}, with its extensions `linalg` and `fft`. How to use it as one:"
    yield "[Write code for the Array API](../how-to/array-api.md)."
    yield ""
    other = (("array-object", "Array object"), *((s.page, s.title) for s in (CONSTANTS, DTYPES, INSPECTION, VERSION)))
    yield "Sections without functions: " + ", ".join(f"[{title}]({FOLDER}/{page}.md)" for page, title in other) + "."
    yield ""
    yield "## Where functions run"
    yield ""
    yield "The tables are made by calling each function with every dtype that the standard has for it, on a device that"
    yield "plans as a GPU with all features does, and taking down what runs."
    yield ""
    yield "- *device*: all of it runs in kernels; what they do stands beside it. Maps fuse with each other and with"
    yield "  reductions, scans and products beside them; a name is a kernel of that row's own."
    yield "- *host*: NumPy's function runs, which is counted as a fallback."
    yield "- *nothing*: the result is a view, or there already."
    yield "- *no array*: an answer about shapes or dtypes."
    yield ""
    yield "On a GPU without 64-bit floats, what computes with `float64` or `complex128` runs on the host. Functions for"
    yield "which that is true of other dtypes too have a note."
    for section in SECTIONS:
        yield ""
        yield f"### {section.title}"
        yield ""
        yield f"[Signatures and meanings]({FOLDER}/{section.page}.md)"
        yield ""
        yield "| function | where | kernels | notes |"
        yield "|---|---|---|---|"
        rows: dict[tuple[str, str, str], list[str]] = {}
        for name in section.names:
            path = section.prefix + name
            rows.setdefault(_row(path, getattr(section.namespace, name)), []).append(f"`{path}`")
        for row, names in rows.items():
            yield f"| {', '.join(names)} | {' | '.join(row)} |"
    yield ""
    yield "```{toctree}"
    yield ":hidden:"
    yield ":glob:"
    yield ""
    yield f"{FOLDER}/*"
    yield "```"


def _row(path: str, function: Callable[..., Any]) -> tuple[str, str, str]:
    call = CALLS.get(path) or _plain_call(function)
    full, plain = placement(call, FULL), placement(call, PLAIN)
    notes = ["waits for a value"] if full.waits else []
    beyond = [dtype for dtype in plain.hosted if dtype not in (*DOUBLE, *full.hosted)]
    if beyond:
        notes.append(f"without 64-bit floats on the host also for {_names(beyond)}")
    if path in NOTES:
        notes.append(NOTES[path])
    return _where(full), ", ".join(full.kernels), "; ".join(notes)


def _plain_call(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a call with as many arrays as there are arguments that cannot be left out."""
    needed = sum(p.default is p.empty for p in inspect.signature(function).parameters.values())
    return lambda x: function(*[x] * needed)


def _where(found: Placement) -> str:
    if not found.makes_arrays:
        return "no array"
    if found.hosted:
        host = "host: " + ", ".join(f"`{name}`" for name in found.host_steps)
        if found.hosted != found.accepted:
            host += f" of {_names(found.hosted)}"
        return f"device, and {host}" if found.kernels else host
    return "device" if found.kernels else "nothing"


def _names(dtypes: Iterable[DType]) -> str:
    """Return names of dtypes, those of all integers as one."""
    given = set(dtypes)
    integers = {dtype for dtype in STANDARD if dtype.kind in "iu"}
    names = ["integers"] if integers <= given else []
    names += [f"`{dtype.name}`" for dtype in STANDARD if dtype in given and not (names and dtype in integers)]
    return ", ".join(names)


# -- the sections ------------------------------------------------------------------------------------------------------


def pages() -> dict[str, Callable[[], Iterator[str]]]:
    """Return the pages by their path in the folder of the reference, as functions that yield their lines."""
    return {
        f"{FOLDER}.md": table,
        f"{FOLDER}/array-object.md": array_object,
        f"{FOLDER}/{CONSTANTS.page}.md": constants,
        f"{FOLDER}/{DTYPES.page}.md": data_types,
        f"{FOLDER}/{INSPECTION.page}.md": inspection,
        f"{FOLDER}/{VERSION.page}.md": version,
        **{f"{FOLDER}/{section.page}.md": _functions(section) for section in SECTIONS},
    }


def _head(title: str, path: str) -> Iterator[str]:
    yield f"# {title}"
    yield ""
    yield f"A section of the [standard]({path}), part of the [reference](../{FOLDER}.md)."
    yield ""


def _functions(section: Section) -> Callable[[], Iterator[str]]:
    def page() -> Iterator[str]:
        yield from _head(section.title, section.path)
        yield from _entries(section, section.names)
        if section.namespace is not xp:
            yield ""
            yield "## Beyond the standard"
            yield ""
            beyond = sorted(set(section.namespace.__all__) - set(section.names))
            yield from _entries(section, [n for n in beyond if inspect.isfunction(getattr(section.namespace, n))])

    return page


def _entries(section: Section, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        function = getattr(section.namespace, name)
        yield f"- `{signature(section.prefix + name, function)}`: {summary(function)}"


def array_object() -> Iterator[str]:
    """Yield the attributes and methods that the standard has for arrays."""
    yield from _head("Array object", f"{SPECIFICATION}/API_specification/array_object.html")
    yield f"`GpuArray`: {summary(xp.GpuArray)}"
    yield ""
    yield "| attribute | meaning |"
    yield "|---|---|"
    for name in ATTRIBUTES:
        yield f"| `x.{name}` | {summary(getattr(xp.GpuArray, name))} |"
    yield ""
    yield "Operators have a reflected form, where a Python scalar or a NumPy array stands on the left, and a form in"
    yield "place, such as `x += y`."
    yield ""
    yield "| expression | meaning |"
    yield "|---|---|"
    for form, meaning in EXPRESSIONS.items():
        yield f"| `{form.replace('|', chr(92) + '|')}` | {_meaning(meaning)} |"


def _meaning(value: Any) -> str:
    if isinstance(value, str):
        return value
    described = summary(value)
    return f"`{value.__name__}`: {described}" if value is getattr(xp, value.__name__, None) else described


def constants() -> Iterator[str]:
    """Yield the constants and their values."""
    yield from _head(CONSTANTS.title, CONSTANTS.path)
    for name in CONSTANTS.names:
        yield f"- `{name}`: `{getattr(xp, name)!r}`"


def data_types() -> Iterator[str]:
    """Yield the dtypes, with what kernels compute them in."""
    yield from _head(DTYPES.title, DTYPES.path)
    yield "A dtype of this namespace is NumPy's of the same name. Kernels compute values in registers of the WGSL types"
    yield "beside it, and wrap small integers to their width after every operation."
    yield ""
    yield "| dtype | register | on a GPU without 64-bit numbers |"
    yield "|---|---|---|"
    for name in DTYPES.names:
        dtype = np.dtype(getattr(xp, name))
        with for_target(PLAIN):
            plain = f"`{register_type(dtype)}`" if dtype in PLAIN.dtypes else "on the host"
        yield f"| `{name}` | `{register_type(dtype)}` | {plain} |"
    yield ""
    yield "Beyond the standard there is `float16`, which is held in `f32` and rounded after every operation."


def inspection() -> Iterator[str]:
    """Yield the inspection functions."""
    yield from _head(INSPECTION.title, INSPECTION.path)
    yield from _entries(INSPECTION, INSPECTION.names)
    yield ""
    yield "Methods of what it returns:"
    yield ""
    info = type(xp.__array_namespace_info__())
    for name in ("capabilities", "default_device", "default_dtypes", "devices", "dtypes"):
        method = getattr(info, name)
        yield f"- `{signature(name, method).replace('(self, ', '(').replace('(self)', '()')}`: {summary(method)}"


def version() -> Iterator[str]:
    """Yield the version of the standard."""
    yield from _head(VERSION.title, VERSION.path)
    yield f"- `__array_api_version__`: `{xp.__array_api_version__!r}`"
    yield "- `x.__array_namespace__(api_version=...)` takes this version and all earlier ones, and returns the package."
