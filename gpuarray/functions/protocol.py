"""NumPy's protocols: what NumPy's own functions and ufuncs do with arrays of this package.

``install`` fills the tables of :mod:`gpuarray.dispatch`, from which the methods of arrays, ``__array_ufunc__`` and
``__array_function__`` are served.
"""

import sys
from typing import Any, Final

import numpy as np

from gpuarray import dispatch
from gpuarray.array import GpuArray
from gpuarray.config import config, strictness, using
from gpuarray.functions import (
    arguments,
    elementwise,
    indexing,
    indices,
    manipulation,
    matrix_products,
    numpy_creation,
    reductions,
    scimath,  # noqa: F401  # it declares implementations
    searching,
    sorting,
    statistics,
    ufuncs,
)
from gpuarray.functions.host import on_host
from gpuarray.functions.info import __array_api_version__
from gpuarray.functions.registry import IMPLEMENTATIONS, REFUSED, by_position, find, name_of
from gpuarray.functions.status import status_of

__all__ = ["array_function", "install"]

_PLAIN: Final = (np.ndarray, np.memmap)
#: The functions that NumPy may call on account of ``like=`` alone.
_WITH_LIKE: Final = numpy_creation.WITH_LIKE | {indices.fromfunction}

_KNOWN_VERSIONS: Final = ("2021.12", "2022.12", "2023.12", "2024.12", __array_api_version__)


def _namespace(api_version: str | None) -> Any:
    if api_version is not None and api_version not in _KNOWN_VERSIONS:
        raise ValueError(
            f"api_version={api_version!r} is not known; accepted are {', '.join(_KNOWN_VERSIONS)} and None"
        )
    return sys.modules["gpuarray"]


def array_function(array: GpuArray, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Answer NumPy's ``__array_function__`` protocol for ``array``.

    NumPy calls a creation function's protocol on the array that is given as ``like``, and does not pass it on; what the
    function makes is on that array's device.

    Raises
    ------
    TypeError
        If the function's status is "refused".
    """
    if not all(issubclass(kind, GpuArray) or kind in _PLAIN for kind in types):
        return NotImplemented
    if strictness.possible and config.current.strict_array_api:
        with using(strict_array_api=False):  # NumPy's functions under NumPy's names mean what they mean there
            return array_function(array, function, types, args, kwargs)
    implementation = dispatch.FUNCTIONS.get(function)
    if implementation is not None:
        if kwargs:
            args, kwargs = by_position(function, implementation, args, kwargs)
        if implementation in _WITH_LIKE:
            with using(device=array.device.name):
                return implementation(*args, **kwargs)
        return implementation(*args, **kwargs)
    kind, reason = status_of(function)
    if kind == REFUSED:
        raise TypeError(f"numpy.{name_of(function)} does not take a GpuArray: {reason}")
    with using(device=array.device.name):
        return on_host(function, args, kwargs, reason)


def install() -> None:
    """Fill the tables of functions, ufuncs and protocol methods. Called once, by the package."""
    dispatch.collect_ufunc_rows()
    dispatch.UFUNC_METHODS.update(ufuncs.METHODS)
    for name, other in ufuncs.SYNONYMS.items():
        dispatch.UFUNC_ROWS[find(name)] = dispatch.UFUNC_ROWS[find(other)]
    for name, composition in ufuncs.COMPOSED.items():
        if (ufunc := find(name)) is not None:
            dispatch.COMPOSED_UFUNCS[ufunc] = composition
    for name, implementation in IMPLEMENTATIONS.items():
        if (function := find(name)) is not None:
            dispatch.FUNCTIONS[function] = implementation.function
    dispatch.METHODS["__array_function__"] = array_function
    dispatch.METHODS.update(
        __array_namespace__=_namespace,
        __matmul__=matrix_products.matmul,
        all=reductions.all,
        any=reductions.any,
        argmax=searching.argmax,
        argmin=searching.argmin,
        argpartition=sorting.argpartition,
        argsort=sorting.argsort,
        clip=elementwise.clip,
        conj=elementwise.conj,
        cumulative_prod=reductions.cumulative_prod,
        cumulative_sum=reductions.cumulative_sum,
        diagonal=manipulation.diagonal,
        dot=matrix_products.dot,
        matmul=matrix_products.matmul,
        max=reductions.max,
        mean=statistics.mean,
        min=reductions.min,
        nonzero=searching.nonzero,
        normalize_axes=manipulation.normalize_axes,
        partition=sorting.partition,
        prod=reductions.prod,
        repeat=manipulation.repeat,
        round=elementwise.round,
        searchsorted=searching.searchsorted,
        sort=sorting.sort,
        squeeze=manipulation.squeeze,
        std=statistics.std,
        sum=reductions.sum,
        take=indexing.take,
        var=statistics.var,
        write_out=arguments.write_out,
    )
