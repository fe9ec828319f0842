"""Registration with client packages that keep tables of array types: dask, einops and numba.

No client is imported here, and nothing happens while a client is imported. The arrays are registered with the clients
in ``sys.modules`` when this package is imported and when the next array is made. Until then a client treats them as
objects of an unknown type. If a version of a client lacks what the registration needs, there is a RuntimeWarning, no
error.
"""

import sys
import warnings
from importlib import import_module
from typing import Final

#: By client, the module whose ``register`` fills the client's tables.
REGISTRATIONS: Final = {
    "dask.array": "gpuarray.interop.dask",
    "einops": "gpuarray.interop.einops",
    "numba": "gpuarray.interop.numba",
}

_pending: Final = set(REGISTRATIONS)
#: The length of ``sys.modules`` when clients were last looked for. While it stays the same, no client is new.
checked_modules = 0


def register(*clients: str) -> None:
    """Make arrays of this package known to client packages.

    This happens by itself when an array is made after the client was imported. Call it for a client that was imported
    after the last array was made.

    Parameters
    ----------
    *clients : str
        Names of :data:`REGISTRATIONS`, which are imported if they are not; by default all clients that are imported.

    Raises
    ------
    ValueError
        If a client has no registration.

    Warns
    -----
    RuntimeWarning
        If a client cannot be imported, or its version lacks what the registration needs.
    """
    for client in clients or [client for client in REGISTRATIONS if client in sys.modules]:
        if client not in REGISTRATIONS:
            raise ValueError(f"{client!r} has no registration; use one of {', '.join(map(repr, REGISTRATIONS))}")
        _register(client)


def register_imported() -> None:
    """Register with the clients that were imported since the last call."""
    global checked_modules
    checked_modules = len(sys.modules)
    for client in [client for client in _pending if client in sys.modules]:
        _register(client)


def _register(client: str) -> None:
    if client not in _pending:
        return
    _pending.discard(client)
    try:
        import_module(REGISTRATIONS[client]).register()
    except Exception as error:  # whatever another version of the client does, arrays are made
        package = client.partition(".")[0]
        warnings.warn(
            f"gpuarray could not register its arrays with this version of {package}, which may refuse them: {error}",
            RuntimeWarning,
            stacklevel=3,
        )
