"""Extension modules in C, which a package has if it was built with a compiler."""

from contextlib import suppress
from importlib import import_module
from types import ModuleType

from gpuarray.config import config


def load(name: str, version: int) -> ModuleType | None:
    """Return an extension module of the package; None without one of this version, or with ``compiled=False``.

    Another version was built from another state of the source.
    """
    if config.current.compiled:
        with suppress(ImportError):
            module = import_module(name)
            if getattr(module, "VERSION", 0) == version:
                return module
    return None
