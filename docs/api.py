"""Generate the pages of the API reference, one per topic, which Sphinx completes from the docstrings."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType

import gpuarray
from gpuarray import errors, fft, lib, linalg, random, special, testing
from gpuarray.providers import base

FOLDER = "api"

#: Functions that control or inspect evaluation; they have a page of their own.
_RUNNING = (
    *("evaluate", "synchronize", "asnumpy", "prefetch", "devices", "using", "jit", "explain", "profile", "report"),
    *("stats", "reset_stats", "from_dlpack", "get_array_module", "get_default_memory_pool", "is_available"),
)
_DERIVATIVES = (
    *("grad", "value_and_grad", "vjp", "jvp", "linearize", "jacfwd", "jacrev", "jacobian", "hessian", "vmap"),
    *("checkpoint", "custom_jvp", "custom_vjp", "stop_gradient"),
)
#: For each page its title and the modules whose functions it lists.
_PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "creation": ("Making arrays", ("creation", "ranges", "matrices", "windows", "grids")),
    "data-types": ("Data types", ("data_types", "namespace_info", "properties")),
    "elementwise": ("Elementwise functions", ("elementwise", "mathematics", "logic", "bits")),
    "statistics": (
        "Sums and statistics",
        ("reductions", "cumulative", "statistics", "correlation", "quantiles", "nan_reductions", "binning"),
    ),
    "shapes": ("Shapes", ("manipulation", "joining", "tiling", "padding")),
    "indexing": ("Indexing and searching", ("indexing", "searching", "positions")),
    "sorting": ("Sorting and sets", ("sorting", "sets")),
    "products": ("Products", ("products", "einstein_summation")),
    "signals": ("Differences, signals, polynomials", ("differences", "signals", "polynomials")),
    "callables": ("Functions of functions", ("functional",)),
}
_MODULES: dict[str, tuple[str, ModuleType]] = {
    "linalg": ("Linear algebra", linalg),
    "fft": ("Fourier transforms", fft),
    "random": ("Random numbers", random),
    "special": ("Special functions", special),
    "stride_tricks": ("Sliding windows and strides", lib.stride_tricks),
    "testing": ("Comparison with NumPy", testing),
    "errors": ("Errors", errors),
    "providers": ("Providers", base),
}


def pages() -> dict[str, Callable[[], Iterator[str]]]:
    """Return the pages by name."""
    found: dict[str, Callable[[], Iterator[str]]] = {
        "index": _index,
        "arrays": lambda: _page("Arrays and devices", gpuarray, ("GpuArray", "Device")),
        "running": lambda: _page("Evaluation and inspection", gpuarray, _RUNNING),
        "derivatives": lambda: _page("Derivatives", gpuarray, _DERIVATIVES),
    }
    for name, (title, _) in _PAGES.items():
        found[name] = lambda name=name, title=title: _page(title, gpuarray, _names(name))
    for name, (title, module) in _MODULES.items():
        found[name] = lambda title=title, module=module: _page(title, module, _public(module))
    return {f"{FOLDER}/{name}.md": lines for name, lines in found.items()}


def _index() -> Iterator[str]:
    titles = {
        "arrays": "Arrays and devices",
        "running": "Evaluation and inspection",
        "derivatives": "Derivatives",
        **{name: title for name, (title, _) in (_PAGES | _MODULES).items()},
    }
    yield "# API"
    yield ""
    yield "The public functions and their parameters, by topic. [Public names](../names.md) lists all names on one"
    yield "page; [NumPy's functions](../numpy-coverage.md) lists where each of them runs."
    yield ""
    for name, title in titles.items():
        yield f"- [{title}]({name}.md)"
    yield ""
    yield "```{toctree}"
    yield ":hidden:"
    yield ""
    yield from titles
    yield "```"


def _public(module: ModuleType) -> Sequence[str]:
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    return sorted(getattr(module, "__all__", own))


def _page(title: str, module: ModuleType, names: Sequence[str]) -> Iterator[str]:
    aliases: dict[int, list[str]] = {}
    for name in names:
        aliases.setdefault(id(getattr(module, name)), []).append(name)
    yield f"# {title}"
    yield ""
    yield "```{eval-rst}"
    yield f".. currentmodule:: {module.__name__}"
    yield ""
    for name in names:
        value = getattr(module, name)
        first, *others = aliases[id(value)]
        if name != first:
            continue
        if not callable(value):
            yield f".. autodata:: {name}"
        elif not isinstance(value, type):
            yield f".. autofunction:: {name}"
        elif value.__module__.startswith("gpuarray."):
            yield f".. autoclass:: {name}"
            yield "   :members:"
            yield "   :inherited-members: tuple, BaseException"
        else:
            yield f".. autoclass:: {name}"
        if others:
            yield ""
            yield f"Alias: {', '.join(f'``{other}``' for other in others)}."
            yield ""
    yield "```"


def _names(page: str) -> list[str]:
    """Return the functions of the modules of a page."""
    modules = {f"gpuarray.functions.{module}" for module in _PAGES[page][1]}
    return [name for name in _functions() if getattr(gpuarray, name).__module__ in modules and name not in _RUNNING]


def _functions() -> list[str]:
    return [name for name in sorted(set(gpuarray.__all__)) if inspect.isroutine(getattr(gpuarray, name))]


def unlisted() -> list[str]:
    """Return the functions of this package that are on no page."""
    listed = {*_RUNNING, *_DERIVATIVES, *(name for page in _PAGES for name in _names(page))}
    return [n for n in _functions() if n not in listed and getattr(gpuarray, n).__module__.startswith("gpuarray.")]
