"""Which of NumPy's functions have an implementation here, and of what kind.

Functions are named as NumPy names them below ``numpy.`` (``"sum"``, ``"linalg.norm"``), so that one table serves every
NumPy version: a name that this version lacks is left out when the tables are installed.
"""

import inspect
from collections.abc import Callable
from functools import cache
from inspect import Parameter
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

#: The function is graph nodes of its own: it fuses with what stands around it.
NATIVE: Final = "native"
#: The function is written over other functions; parts of it may have to read values, its data stays on the device.
COMPOSED: Final = "composed"
#: The function's arguments are read to the host, NumPy runs there, and results go back: counted as a fallback.
HOST: Final = "host"
#: The function raises TypeError with the reason.
REFUSED: Final = "refused"
#: All of them, from the best.
KINDS: Final = (NATIVE, COMPOSED, HOST, REFUSED)


class Implementation(NamedTuple):
    """How a NumPy function is implemented: of what kind, by what, and what of it runs on the host, and why."""

    kind: str
    function: Callable[..., Any]
    reason: str


#: Why functions that factorise matrices are host functions.
LAPACK: Final = "matrices are factorised by NumPy's LAPACK"
#: Which part of functions that are composed but for it is done there.
SINGULAR_VALUES: Final = "orders 2, -2 and 'nuc' of matrices take singular values from NumPy's LAPACK"
EIGENVALUES: Final = "a matrix's eigenvalues are found by NumPy's LAPACK"
INVERSE: Final = "negative powers invert with NumPy's LAPACK"

#: Implementations by NumPy name.
IMPLEMENTATIONS: Final[dict[str, Implementation]] = {}

_F = TypeVar("_F", bound=Callable[..., Any])


def implements(*names: str, kind: str = COMPOSED, reason: str = "") -> Callable[[_F], _F]:
    """Declare a function to be the implementation of NumPy functions, whose signature it has.

    Parameters
    ----------
    *names : str
        NumPy's names below ``numpy.``.
    kind : {"composed", "native", "host"}
        What the table of statuses says.
    reason : str
        Why the function is a host function; of another one, with which arguments a part of it runs on the host.
    """

    def declare(function: _F) -> _F:
        for name in names:
            if name in IMPLEMENTATIONS:
                raise ValueError(f"numpy.{name} has two implementations")
            IMPLEMENTATIONS[name] = Implementation(kind, function, reason)
        if function.__doc__ is None:
            function.__doc__ = f"Equivalent of :func:`numpy.{names[0]}` for arrays of this package."
        return function

    return declare


def native(*names: str) -> Callable[[_F], _F]:
    """Declare a function to be a native implementation of NumPy functions."""
    return implements(*names, kind=NATIVE)


def name_of(function: Any) -> str:
    """Return NumPy's name of a function below ``numpy.``, or the dotted name of somebody else's function."""
    module = getattr(function, "__module__", None)  # ufuncs have none
    return f"{module}.{function.__name__}".removeprefix("numpy.") if module else str(function.__name__)


def find(name: str) -> Any:
    """Return the NumPy function of that name; None if this NumPy has none."""
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


@cache
def _positional_names(function: Any, implementation: Callable[..., Any]) -> tuple[str, ...]:
    """Return NumPy's names of the parameters that the implementation takes by position only."""
    taken = inspect.signature(implementation).parameters.values()
    count = sum(parameter.kind is Parameter.POSITIONAL_ONLY for parameter in taken)
    return tuple(inspect.signature(function).parameters)[:count] if count else ()


def by_position(
    function: Any, implementation: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a NumPy function as its implementation takes them.

    The standard has positional-only parameters where NumPy's have names: ``numpy.sum(a=x)`` is ``gpuarray.sum(x)``.
    """
    for name in _positional_names(function, implementation)[len(args) :]:
        if name not in kwargs:
            break
        args = (*args, kwargs[name])
        kwargs = {key: value for key, value in kwargs.items() if key != name}
    return args, kwargs
