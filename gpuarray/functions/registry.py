"""The implementations of NumPy's functions, in one table.

Names are those that NumPy gives its functions below ``numpy.`` (``"sum"``, ``"linalg.norm"``), so that one table serves
every NumPy version: names that this version lacks are skipped by :func:`install`.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from gpuarray import dispatch
from gpuarray.functions import at_once as immediate
from gpuarray.functions.arguments import takes_names_of
from gpuarray.settings import strictness

#: The function records graph nodes, which fuse with the nodes around them.
NATIVE: Final = "native"
#: The function calls other functions. Its data stays on the device, though parts of it may read values.
COMPOSED: Final = "composed"
#: NumPy runs the function on host copies of the arguments, and results are uploaded: counted as a fallback.
HOST: Final = "host"
#: The function raises TypeError.
REFUSED: Final = "refused"
#: All kinds, best first.
KINDS: Final = (NATIVE, COMPOSED, HOST, REFUSED)


class Implementation(NamedTuple):
    """How a NumPy function is implemented."""

    kind: str
    """One of :data:`KINDS`."""
    reason: str = ""
    """Why the function, or a part of it, runs on the host or is refused; empty if nothing does."""
    function: Callable[..., Any] | None = None
    """The implementation; None for functions that are refused, are operations, or are left to NumPy on the host."""


#: Reason of ufuncs that run on the host.
NO_KERNEL: Final = "the ufunc has no kernel"
#: Reason of host functions that factorise matrices.
LAPACK: Final = "matrices are factorised by NumPy's LAPACK"
#: Reasons of composed functions of which a part runs on the host.
EIGENVALUES: Final = "a matrix's eigenvalues are found by NumPy's LAPACK"
#: Reason of the division of polynomials.
DIVISION: Final = "each coefficient of a quotient depends on all before it"
#: Reasons of functions that do not compute with numbers.
TEXT_OUT: Final = "text is formatted on the host"
FILES: Final = "files and buffers are read and written by the host"
TEXT: Final = "text is not a supported dtype; keep it in NumPy arrays"
DATES: Final = "dates are not a supported dtype; keep them in NumPy arrays"
STRUCTURED: Final = "structured dtypes are not supported; keep such data in NumPy arrays"
NOT_NUMERIC: Final = frozenset((TEXT_OUT, FILES, TEXT, DATES, STRUCTURED))

_REFUSED_FUNCTIONS: Final[dict[str, str]] = {
    DATES: "busday_count busday_offset datetime_as_string is_busday isnat",
    STRUCTURED: "lib.recfunctions.append_fields "
    "lib.recfunctions.apply_along_fields lib.recfunctions.assign_fields_by_name lib.recfunctions.drop_fields "
    "lib.recfunctions.find_duplicates lib.recfunctions.join_by lib.recfunctions.merge_arrays "
    "lib.recfunctions.rec_append_fields lib.recfunctions.rec_drop_fields lib.recfunctions.rec_join "
    "lib.recfunctions.recursive_fill_fields lib.recfunctions.rename_fields lib.recfunctions.repack_fields "
    "lib.recfunctions.require_fields lib.recfunctions.stack_arrays lib.recfunctions.structured_to_unstructured "
    "lib.recfunctions.unstructured_to_structured",
}
#: Modules all of whose functions are refused, because they compute with text.
TEXT_MODULES: Final = ("char", "strings")

#: Implementations by NumPy name. Those of functions are added where they are defined.
IMPLEMENTATIONS: Final[dict[str, Implementation]] = {
    name: Implementation(REFUSED, reason) for reason, names in _REFUSED_FUNCTIONS.items() for name in names.split()
}
#: The same by the function of the installed NumPy; filled by :func:`install`.
_BY_FUNCTION: Final[dict[Any, Implementation]] = {}

_F = TypeVar("_F", bound=Callable[..., Any])


def implements(
    *names: str,
    kind: str = COMPOSED,
    reason: str = "",
    at_once: str | None = None,
    call: Callable[..., Any] | None = None,
    most: int = 0,
    empty: bool = False,
    makes: Callable[[Any], Any] | None = None,
) -> Callable[[_F], _F]:
    """Register a function as the implementation of NumPy functions, whose signature it has.

    A docstring of one line is completed by a reference to NumPy's documentation of the parameters, results and errors.

    Parameters
    ----------
    *names : str
        NumPy's names below ``numpy.``.
    kind : {"composed", "native", "host"}
        The kind of implementation.
    reason : str
        Why the function runs on the host; for composed functions, the arguments with which a part of it does.
    at_once : str, optional
        What bounds the size of the results, if NumPy computes small arrays in host memory at once.
    call : callable, optional
        What computes them; by default the function of NumPy with the first name.
    most : int
        The elements of larger arrays that are computed at once on the device "cpu": :data:`at_once.UNSHARED` where the
        in-process provider would do no more than NumPy, :data:`at_once.QUICK` for functions with few results.
    empty : bool
        Whether arrays without elements are computed at once: NumPy has no warning of its own for them.
    makes : callable, optional
        The decorator of a function that makes arrays of numbers; see :func:`gpuarray.functions.at_once.created`.
    """

    def declare(function: _F) -> _F:
        numpys = find(names[0])
        if numpys is not None:  # this NumPy version may lack it
            function = takes_names_of(numpys, function)
            if at_once is not None:
                function = immediate.at_once(function, at_once, call or numpys, most=most, empty=empty)
            if makes is not None:
                function = makes(function)
        for name in names:
            if name in IMPLEMENTATIONS:
                raise ValueError(f"numpy.{name} has two implementations")
            IMPLEMENTATIONS[name] = Implementation(kind, reason, function)
        text = function.__doc__ or f"Equivalent of :func:`numpy.{names[0]}`."
        if "\n" not in text and ":func:" not in text and "See " not in text:
            text += f"\n\nParameters, results and errors are those of :func:`numpy.{names[0]}`."
        function.__doc__ = text
        return function

    return declare


def native(*names: str, **options: Any) -> Callable[[_F], _F]:
    """Register a function as a native implementation of NumPy functions; see :func:`implements`."""
    return implements(*names, kind=NATIVE, **options)


def install() -> None:
    """Enter the implementations into the tables in which arrays and NumPy's protocols look for them.

    NumPy's functions, and the methods of arrays while ``config.strict_array_api`` was never on, are not checked by the
    rules of the standard.
    """
    for name, implementation in IMPLEMENTATIONS.items():
        checked = implementation.function
        unchecked = getattr(checked, "unchecked", checked)
        if checked is not None and unchecked is not None:
            dispatch.METHODS[name] = checked if strictness.possible else unchecked
        if (function := find(name)) is not None:
            _BY_FUNCTION[function] = implementation._replace(function=unchecked)
            if unchecked is not None:
                dispatch.FUNCTIONS[function] = unchecked


# --- names ----------------------------------------------------------------------------------------------------------


def name_of(function: Any) -> str:
    """Return the name of a function below ``numpy.``, or the dotted name of a function of another package."""
    module = getattr(function, "__module__", None)  # ufuncs have none
    return f"{module}.{function.__name__}".removeprefix("numpy.") if module else str(function.__name__)


def find(name: str) -> Any:
    """Return the NumPy function with a name; None if this NumPy version lacks it."""
    value: Any = np
    for attribute in name.split("."):
        value = getattr(value, attribute, None)
    return value


def implementation_of(function: Any) -> Implementation:
    """Return the implementation of a function or ufunc. Those that nothing declares run on the host."""
    if (implementation := _BY_FUNCTION.get(function)) is not None:
        return implementation
    if function in dispatch.UFUNC_OPS:
        return Implementation(NATIVE)
    if isinstance(function, np.ufunc):
        return Implementation(HOST, NO_KERNEL) if function.types else Implementation(REFUSED, TEXT)
    name = name_of(function)
    if name.rpartition(".")[0] in TEXT_MODULES:
        return Implementation(REFUSED, TEXT)
    # NumPy imports some modules lazily, so that their functions were not there when the table was filled
    return IMPLEMENTATIONS.get(name, Implementation(HOST, "it has no implementation here"))


def table() -> dict[str, Implementation]:
    """Return the implementations of all declared functions, and of ufuncs that are operations, by name, sorted."""
    ops = {ufunc.__name__: ufunc for ufunc in dispatch.UFUNC_OPS if find(ufunc.__name__) is ufunc}
    public = {name: implementation for name, implementation in IMPLEMENTATIONS.items() if not name.startswith("_")}
    return dict(sorted((public | {name: implementation_of(ufunc) for name, ufunc in ops.items()}).items()))


def current() -> dict[str, Implementation]:
    """Return the implementation of every function and ufunc that this NumPy version has, by name, sorted."""
    functions = {name: implementation for name, implementation in table().items() if _exists(name)}
    ufuncs = {name: implementation_of(value) for name, value in vars(np).items() if isinstance(value, np.ufunc)}
    return dict(sorted((functions | ufuncs).items()))


def _exists(name: str) -> bool:
    module = name.rpartition(".")[0]
    return find(name) is not None or bool(module and find(module) is None)  # NumPy imports some modules lazily
