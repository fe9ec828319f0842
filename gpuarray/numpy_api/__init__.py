"""NumPy's dialect: what NumPy's own functions and ufuncs do with arrays of this package.

``install`` fills the tables of :mod:`gpuarray.dispatch`, from which the arrays' ``__array_ufunc__`` and
``__array_function__`` are served. Modules ``functions_<topic>`` hold the implementations.
"""

from typing import Any, Final

import numpy as np

from gpuarray import dispatch
from gpuarray.array import GpuArray
from gpuarray.config import config, strictness, using
from gpuarray.numpy_api import (
    functions_binning,
    functions_bits,
    functions_callables,
    functions_creation,
    functions_differences,
    functions_einsum,
    functions_elementwise,
    functions_fourier,
    functions_indices,
    functions_information,
    functions_linalg,
    functions_pad,
    functions_polynomials,
    functions_products,
    functions_quantiles,
    functions_scimath,
    functions_selection,
    functions_sets,
    functions_shape,
    functions_signals,
    functions_sorting,
    functions_statistics,
    functions_without_nan,
    ufuncs,
)
from gpuarray.numpy_api.host import on_host
from gpuarray.numpy_api.registry import IMPLEMENTATIONS, REFUSED, find, name_of
from gpuarray.numpy_api.status import status_of

__all__ = ["array_function", "install"]

_PLAIN: Final = (np.ndarray, np.memmap)
#: The functions that NumPy may call on account of ``like=`` alone.
_WITH_LIKE: Final = functions_creation.WITH_LIKE | {functions_indices.fromfunction}

#: The modules whose import declares the implementations.
TOPICS: Final = (
    functions_binning,
    functions_bits,
    functions_callables,
    functions_creation,
    functions_differences,
    functions_einsum,
    functions_elementwise,
    functions_fourier,
    functions_indices,
    functions_information,
    functions_linalg,
    functions_pad,
    functions_polynomials,
    functions_products,
    functions_quantiles,
    functions_scimath,
    functions_selection,
    functions_sets,
    functions_shape,
    functions_signals,
    functions_sorting,
    functions_statistics,
    functions_without_nan,
)


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
