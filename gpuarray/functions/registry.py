"""The registry of implementations of NumPy's functions.

Functions have the names that NumPy gives them below ``numpy.`` (``"sum"``, ``"linalg.norm"``), so that one table serves
every NumPy version: names that this version lacks are skipped when the tables are installed.
"""

import inspect
from collections.abc import Callable
from functools import cache
from inspect import Parameter
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

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
    function: Callable[..., Any]
    reason: str
    """Why the function, or a part of it, runs on the host; empty if nothing does."""


#: Reason of host functions that factorise matrices.
LAPACK: Final = "matrices are factorised by NumPy's LAPACK"
#: Reasons of composed functions of which a part runs on the host.
SINGULAR_VALUES: Final = "orders 2, -2 and 'nuc' of matrices take singular values from NumPy's LAPACK"
EIGENVALUES: Final = "a matrix's eigenvalues are found by NumPy's LAPACK"
INVERSE: Final = "negative powers invert with NumPy's LAPACK"

#: Implementations by NumPy name.
IMPLEMENTATIONS: Final[dict[str, Implementation]] = {}

_F = TypeVar("_F", bound=Callable[..., Any])


def implements(*names: str, kind: str = COMPOSED, reason: str = "") -> Callable[[_F], _F]:
    """Register a function as the implementation of NumPy functions, whose signature it has.

    A docstring of one line is completed by a reference to NumPy's documentation of the parameters, results and errors.

    Parameters
    ----------
    *names : str
        NumPy's names below ``numpy.``.
    kind : {"composed", "native", "host"}
        The kind of implementation.
    reason : str
        Why the function runs on the host; of composed functions, for which arguments a part of it does.
    """

    def declare(function: _F) -> _F:
        for name in names:
            if name in IMPLEMENTATIONS:
                raise ValueError(f"numpy.{name} has two implementations")
            IMPLEMENTATIONS[name] = Implementation(kind, function, reason)
        text = function.__doc__ or f"Equivalent of :func:`numpy.{names[0]}`."
        if "\n" not in text and ":func:" not in text and "See " not in text:
            text += f"\n\nParameters, results and errors are those of :func:`numpy.{names[0]}`."
        function.__doc__ = text
        return function

    return declare


def native(*names: str) -> Callable[[_F], _F]:
    """Register a function as a native implementation of NumPy functions."""
    return implements(*names, kind=NATIVE)


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


@cache
def _positional_names(function: Any, implementation: Callable[..., Any]) -> tuple[str, ...]:
    """Return NumPy's names of the parameters that are positional-only in the implementation."""
    parameters = inspect.signature(implementation).parameters.values()
    count = sum(parameter.kind is Parameter.POSITIONAL_ONLY for parameter in parameters)
    return tuple(inspect.signature(function).parameters)[:count] if count else ()


def by_position(
    function: Any, implementation: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a NumPy function in the form that its implementation accepts.

    Some parameters have a name in NumPy and are positional-only in the array API standard: ``numpy.sum(a=x)`` becomes
    ``gpuarray.sum(x)``.
    """
    for name in _positional_names(function, implementation)[len(args) :]:
        if name not in kwargs:
            break
        args = (*args, kwargs[name])
        kwargs = {key: value for key, value in kwargs.items() if key != name}
    return args, kwargs
