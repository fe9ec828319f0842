"""Clients that keep tables of array types learn of ours when they are imported, in whichever order that happens.

Nothing of a client is imported here: our module for it is imported right after the module of the client that holds the
tables, and its ``register`` called. A client that is never imported costs nothing.
"""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

#: A client's module with its tables, and our module that fills them.
REGISTRATIONS: Final = {
    "dask.array.backends": "gpuarray.interop.dask",
    "einops._backends": "gpuarray.interop.einops",
    "numba.core.typing.typeof": "gpuarray.interop.numba",
    "scipy.ndimage": "gpuarray.interop.scipy",
}


def register(client: str) -> None:
    """Register with an imported client; that its version has not what it takes is a warning, no error."""
    try:
        import_module(REGISTRATIONS[client]).register()
    except (ImportError, AttributeError, TypeError) as error:
        package = client.partition(".")[0]
        warnings.warn(
            f"gpuarray could not register its arrays with this version of {package}, which may refuse them: {error}",
            RuntimeWarning,
            stacklevel=2,
        )


class _Loader(Loader):
    """A client's own loader, followed by the registration."""

    def __init__(self, own: Loader) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._own
        self._own.exec_module(module)
        register(module.__name__)


class _Finder(MetaPathFinder):
    """Finds what the other finders find, and lets a registration follow the modules that wait for one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in REGISTRATIONS:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def install() -> None:
    """Register with the clients that are imported already, and wait for the others. Called once, by the package."""
    for client in REGISTRATIONS:
        if client in sys.modules:
            register(client)
    sys.meta_path.insert(0, _Finder())
