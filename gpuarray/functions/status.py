"""The status of every NumPy function that arrays of other packages can override.

Implementations are registered where they are defined. This module lists the others: functions that NumPy runs on host
copies, and functions that are refused. A test compares the table with NumPy's list of functions.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from gpuarray import dispatch
from gpuarray.functions import ufuncs
from gpuarray.functions.registry import COMPOSED, HOST, IMPLEMENTATIONS, LAPACK, NATIVE, REFUSED, find, name_of


class Status(NamedTuple):
    """What a NumPy function does with an array of this package: the kind of implementation, and the reason for it."""

    kind: str
    reason: str


_TEXT_OUT: Final = "text is formatted on the host"
_FILES: Final = "files and buffers are read and written by the host"
_TEXT: Final = "text is no supported dtype; keep it in NumPy arrays"
_DATES: Final = "dates are no supported dtype; keep them in NumPy arrays"
_STRUCTURED: Final = "structured dtypes are not supported; keep such data in NumPy arrays"

#: Reasons of functions that do not compute with numbers.
NOT_NUMERIC: Final = frozenset((_TEXT_OUT, _FILES, _TEXT, _DATES, _STRUCTURED))

_HOST_FUNCTIONS: Final[dict[str, str]] = {
    LAPACK: "polyfit roots",
    _TEXT_OUT: "array2string array_repr array_str",
    _FILES: "frombuffer fromfile fromiter fromstring genfromtxt loadtxt save savetxt savez savez_compressed",
}

_REFUSED_FUNCTIONS: Final[dict[str, str]] = {
    _DATES: "busday_count busday_offset datetime_as_string is_busday",
    _STRUCTURED: "lib.recfunctions.append_fields "
    "lib.recfunctions.apply_along_fields lib.recfunctions.assign_fields_by_name lib.recfunctions.drop_fields "
    "lib.recfunctions.find_duplicates lib.recfunctions.join_by lib.recfunctions.merge_arrays "
    "lib.recfunctions.rec_append_fields lib.recfunctions.rec_drop_fields lib.recfunctions.rec_join "
    "lib.recfunctions.recursive_fill_fields lib.recfunctions.rename_fields lib.recfunctions.repack_fields "
    "lib.recfunctions.require_fields lib.recfunctions.stack_arrays lib.recfunctions.structured_to_unstructured "
    "lib.recfunctions.unstructured_to_structured",
}

#: Modules all of whose functions are refused.
REFUSED_MODULES: Final[dict[str, str]] = dict.fromkeys(("char", "strings"), _TEXT)

#: Functions of NumPy that this package does not implement, by name.
OTHERS: Final[dict[str, Status]] = {
    name: Status(kind, reason)
    for kind, table in ((HOST, _HOST_FUNCTIONS), (REFUSED, _REFUSED_FUNCTIONS))
    for reason, names in table.items()
    for name in names.split()
}


def status_of(function: Any) -> Status:
    """Return the status of a NumPy function. Functions that are not in a table run on the host."""
    name = name_of(function)
    if name in IMPLEMENTATIONS:
        return Status(IMPLEMENTATIONS[name].kind, IMPLEMENTATIONS[name].reason)
    module = name.rpartition(".")[0]
    if module in REFUSED_MODULES:
        return Status(REFUSED, REFUSED_MODULES[module])
    return OTHERS.get(name, Status(HOST, "it has no implementation here"))


def table() -> dict[str, Status]:
    """Return the status of every registered or listed function, by NumPy name, sorted."""
    declared = {name: Status(kind, reason) for name, (kind, _, reason) in IMPLEMENTATIONS.items()}
    return dict(sorted((declared | OTHERS).items()))


def ufunc_status(ufunc: np.ufunc) -> Status:
    """Return the status of a ufunc."""
    if ufunc in dispatch.UFUNC_ROWS:
        return Status(NATIVE, "")
    if ufunc in ufuncs.COMPOSED:
        return Status(COMPOSED, "")
    if not ufunc.types:
        return Status(REFUSED, _TEXT)
    if ufunc is np.isnat:
        return Status(REFUSED, _DATES)
    return Status(HOST, "the ufunc has no kernel")


def current() -> dict[str, Status]:
    """Return the status of every function and ufunc that this NumPy version has, by name, sorted."""
    functions = {name: status for name, status in table().items() if _exists(name)}
    rows = {name: ufunc_status(value) for name, value in vars(np).items() if isinstance(value, np.ufunc)}
    return dict(sorted((functions | rows).items()))


def _exists(name: str) -> bool:
    module = name.rpartition(".")[0]
    return find(name) is not None or bool(module and find(module) is None)  # NumPy imports some modules lazily
