"""NumPy's protocols, by which NumPy's own functions and ufuncs accept arrays of this package.

``install`` fills the tables of :mod:`gpuarray.dispatch`, in which arrays look up their methods, ``__array_ufunc__`` and
``__array_function__``.
"""

import sys
from importlib import import_module
from typing import Any, Final

import numpy as np

from gpuarray import dispatch
from gpuarray.array import GpuArray
from gpuarray.config import using
from gpuarray.functions import (
    elementwise,
    mathematics,
    registry,
    scimath,  # noqa: F401  # it declares implementations
    ufuncs,
)
from gpuarray.functions.absent import reason_for
from gpuarray.functions.fallback import on_host
from gpuarray.functions.namespace_info import __array_api_version__
from gpuarray.functions.registry import REFUSED, find, implementation_of, name_of
from gpuarray.graph import standard
from gpuarray.settings import strictness

__all__ = ["array_function", "install", "missing"]

_PLAIN: Final = (np.ndarray, np.memmap)
#: Creation functions with the parameter ``like``; results are on the device of that array.
_WITH_LIKE: Final = frozenset(
    find(name)
    for name in (
        *("arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty", "eye"),
        *("frombuffer", "fromfile", "fromfunction", "fromiter", "fromstring", "full", "genfromtxt", "identity"),
        *("loadtxt", "ones", "require", "tri", "zeros"),
    )
)

_KNOWN_VERSIONS: Final = ("2021.12", "2022.12", "2023.12", "2024.12", __array_api_version__)


def _namespace(api_version: str | None) -> Any:
    if api_version is not None and api_version not in _KNOWN_VERSIONS:
        raise ValueError(f"api_version={api_version!r} is not known; use one of {', '.join(_KNOWN_VERSIONS)} or None")
    return sys.modules["gpuarray"]


def array_function(array: GpuArray, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Answer NumPy's ``__array_function__`` protocol for ``array``.

    For creation functions NumPy calls this with the array given as ``like``, which is not among the arguments; the
    result is on the device of that array.

    Raises
    ------
    TypeError
        If the function's status is "refused".
    """
    if not all(kind is GpuArray or issubclass(kind, GpuArray) or kind in _PLAIN for kind in types):
        return NotImplemented
    if standard.is_on():
        with using(strict_array_api=False):  # the rules of the standard do not apply to NumPy's functions
            return array_function(array, function, types, args, kwargs)
    kind, reason, implementation = implementation_of(function)
    if implementation is not None:
        if function in _WITH_LIKE:
            with using(device=array.device.name):
                return implementation(*args, **kwargs)
        return implementation(*args, **kwargs)
    if kind == REFUSED:
        raise TypeError(f"numpy.{name_of(function)} does not take a GpuArray: {reason}")
    with using(device=array.device.name):
        return on_host(function, args, kwargs, reason)


def install() -> None:
    """Fill the tables of functions, ufuncs and protocol methods. Called once, by the package."""
    dispatch.collect_ufunc_operations()
    for name, synonym in ufuncs.SYNONYMS.items():
        dispatch.UFUNC_OPS[find(name)] = dispatch.UFUNC_OPS[find(synonym)]
    ufuncs.install_methods()
    dispatch.METHODS.update(
        __array_function__=array_function,
        __array_namespace__=_namespace,
        __array_ufunc__=ufuncs.array_ufunc,
    )
    _fill()
    strictness.when_possible.append(_fill)


def _fill() -> None:
    registry.install()
    for function in _WITH_LIKE:  # NumPy calls them with an array that is not among the arguments
        dispatch.FUNCTIONS.pop(function, None)
    dispatch.METHODS.update(clip=mathematics.clip, conj=elementwise.conj)  # the arguments are not those of numpy.clip


#: Modules of the package that are imported when they are first used, because they take long to import.
LAZY_MODULES: Final = ("emath", "scipy", "special", "testing", "typing")


def missing(name: str) -> Any:
    """Return a lazily imported module of the package.

    Raises
    ------
    AttributeError
        For any other name. If NumPy or another array library has the name, the message says what to use instead.
    """
    if name in LAZY_MODULES:
        return import_module(f"gpuarray.{name}")
    reason = reason_for(name)
    raise AttributeError(f"module 'gpuarray' has no attribute {name!r}{reason and ': '}{reason}")
