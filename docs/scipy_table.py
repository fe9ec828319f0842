"""Write the table of SciPy's functions, from what :mod:`gpuarray.scipy` registers."""

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from gpuarray.functions.registry import COMPOSED, HOST, Implementation
from gpuarray.scipy import SUBPACKAGES
from gpuarray.scipy._mirror import IMPLEMENTATIONS

#: What stands in the table for a function that there is no definition of.
ABSENT = "absent"
#: The same for a function that has no array among its arguments, and is taken as it is.
TAKEN = "SciPy's"


def statuses(package: str) -> dict[str, Implementation]:
    """Return how each public function and class of one of SciPy's subpackages is implemented, by name."""
    theirs, ours = (import_module(f"{top}.{package}") for top in ("scipy", "gpuarray.scipy"))
    known = IMPLEMENTATIONS.get(package, {})
    found = {}
    for name in sorted(theirs.__all__):
        item = getattr(theirs, name)
        if isinstance(item, type) and not issubclass(item, BaseException):
            found[name] = _of_class(item, getattr(ours, name, None))
        elif callable(item) and not isinstance(item, ModuleType | type):
            is_taken = getattr(ours, name, None) is item
            found[name] = known.get(name, Implementation(TAKEN if is_taken else ABSENT))
    return found


def _of_class(theirs: type, ours: Any) -> Implementation:
    if ours is theirs:
        return Implementation(HOST, "it is SciPy's own class")
    return (
        Implementation(COMPOSED, "calls run on the device of the points or signals") if ours else Implementation(ABSENT)
    )


def page() -> Iterator[str]:
    """Yield the page."""
    yield "# SciPy's functions"
    yield ""
    yield "`gpuarray.scipy` has functions of SciPy, by its names and with its parameters:"
    yield "`import gpuarray.scipy.ndimage as ndi` takes the place of `import scipy.ndimage as ndi`. SciPy must be"
    yield "installed. Each function or class is"
    yield ""
    yield "- *native*: its operations are recorded, and fuse with the operations around them."
    yield "- *composed*: it reads a few values, such as a number of labels; the data stays on the device."
    yield "- *host*: SciPy computes it on a host copy, which is counted as a fallback."
    yield "- *SciPy's*: it is SciPy's own function, which takes no arrays of this package."
    yield "- *absent*: use SciPy's function with `gpuarray.asnumpy(x)`."
    yield ""
    yield 'Where the device is the host (`"cpu"`, or `"auto"` for small arrays on the host), SciPy\'s own functions'
    yield "compute native and composed ones too, on the values where they are, unless a function is recorded by"
    yield "`gpuarray.jit` or differentiated. [Design note 0026](../design/0026-scipy.md) has the reasons."
    for package in (*SUBPACKAGES, "signal.windows"):
        table = statuses(package)
        yield ""
        yield f"## scipy.{package}"
        yield ""
        yield "| function | status | why |"
        yield "|---|---|---|"
        for name, (kind, reason, _) in table.items():
            yield f"| `{name}` | {kind} | {reason} |"
