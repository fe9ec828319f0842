"""Generate the pages on the array API standard: one for each of its sections, and the table of all functions."""

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
    """Return the first paragraph of a docstring as one line of Markdown."""
    text = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`")


def signature(name: str, function: Callable[..., Any]) -> str:
    """Return the signature of a function, with the names and defaults of its parameters."""
    found = inspect.signature(function)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in found.parameters.values()]
    return f"{name}{found.replace(parameters=bare, return_annotation=inspect.Signature.empty)}"


# -- the table ---------------------------------------------------------------------------------------------------------


def table() -> Iterator[str]:
    """Yield the main page, which has the table of where each function runs."""
    yield "# The array API standard"
    yield ""
    yield f"`gpuarray` is a namespace of the [Python array API standard]({SPECIFICATION}/), version"
    yield f"{xp.__array_api_version__}, including the extensions `linalg` and `fft`. See"
    yield "[Write code for the array API standard](../how-to/array-api.md)."
    yield ""
    other = (("array-object", "Array object"), *((s.page, s.title) for s in (CONSTANTS, DTYPES, INSPECTION, VERSION)))
    yield "Sections without functions: " + ", ".join(f"[{title}]({FOLDER}/{page}.md)" for page, title in other) + "."
    yield ""
    yield "## Where functions run"
    yield ""
    yield "The tables are generated: each function is called with every dtype that the standard requires, on a"
    yield "simulated device with all features of a GPU, and the steps that run are recorded."
    yield ""
    yield "- *device*: the function runs in kernels. The next column lists their kinds: maps fuse with each other and"
    yield "  with the reductions, scans and products around them; a name in code font is a dedicated kernel."
    yield "- *host*: NumPy's function runs on the host, which is counted as a fallback."
    yield "- *nothing*: nothing runs, because the result is a view or exists already."
    yield "- *no array*: the result describes shapes or dtypes and is not an array."
    yield ""
    yield "On a GPU without 64-bit floats, operations on `float64` and `complex128` run on the host. A note marks"
    yield "functions for which other dtypes run on the host too."
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
        notes.append(f"without 64-bit floats, also on the host for {_names(beyond)}")
    if path in NOTES:
        notes.append(NOTES[path])
    return _where(full), ", ".join(full.kernels), "; ".join(notes)


def _plain_call(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a call that passes an array for each required argument."""
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
    """Return the names of dtypes; all integer dtypes together are ``integers``."""
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
    yield f"This page covers a [section of the standard]({path}); see the [overview](../{FOLDER}.md)."
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
            yield from _entries(section, [n for n in beyond if inspect.isroutine(getattr(section.namespace, n))])

    return page


def _entries(section: Section, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        function = getattr(section.namespace, name)
        yield f"- `{signature(section.prefix + name, function)}`: {summary(function)}"


def array_object() -> Iterator[str]:
    """Yield the attributes and operators of the array object of the standard."""
    yield from _head("Array object", f"{SPECIFICATION}/API_specification/array_object.html")
    yield f"`GpuArray`: {summary(xp.GpuArray)}"
    yield ""
    yield "| attribute | meaning |"
    yield "|---|---|"
    for name in ATTRIBUTES:
        yield f"| `x.{name}` | {summary(getattr(xp.GpuArray, name))} |"
    yield ""
    yield "Operators have a reflected form, for a Python scalar or a NumPy array on the left, and an in-place form,"
    yield "such as `x += y`."
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
    """Yield the dtypes and the register types of kernels."""
    yield from _head(DTYPES.title, DTYPES.path)
    yield "The dtypes of this namespace are NumPy dtypes. Kernels compute in registers of the listed WGSL types, and"
    yield "wrap small integers to their width after every operation."
    yield ""
    yield "| dtype | register | on a GPU without 64-bit numbers |"
    yield "|---|---|---|"
    for name in DTYPES.names:
        dtype = np.dtype(getattr(xp, name))
        with for_target(PLAIN):
            plain = f"`{register_type(dtype)}`" if dtype in PLAIN.dtypes else "on the host"
        yield f"| `{name}` | `{register_type(dtype)}` | {plain} |"
    yield ""
    yield "The additional dtype `float16` is not in the standard. Its register type is `f32`, rounded after every"
    yield "operation."


def inspection() -> Iterator[str]:
    """Yield the inspection functions."""
    yield from _head(INSPECTION.title, INSPECTION.path)
    yield from _entries(INSPECTION, INSPECTION.names)
    yield ""
    yield "Methods of the returned object:"
    yield ""
    info = type(xp.__array_namespace_info__())
    for name in ("capabilities", "default_device", "default_dtypes", "devices", "dtypes"):
        method = getattr(info, name)
        yield f"- `{signature(name, method).replace('(self, ', '(').replace('(self)', '()')}`: {summary(method)}"


def version() -> Iterator[str]:
    """Yield the version of the standard."""
    yield from _head(VERSION.title, VERSION.path)
    yield f"- `__array_api_version__`: `{xp.__array_api_version__!r}`"
    yield "- `x.__array_namespace__(api_version=...)` accepts this version and all earlier ones, and returns the"
    yield "  package."
