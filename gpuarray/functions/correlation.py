"""Covariances and correlation coefficients."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import elementwise
from gpuarray.functions.arguments import as_array, as_arrays, concatenated, numbers
from gpuarray.functions.reductions import sum
from gpuarray.functions.registry import implements
from gpuarray.functions.statistics import mean
from gpuarray.source_locations import warn

__all__ = ["corrcoef", "cov"]

#: The most variables whose covariance matrix is computed at once.
_FEW: Final = 256


def _of_several(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return NumPy's function of few variables, without weights, and of several observations: it does not warn."""

    def run(x: Any, y: Any = None, rowvar: bool = True) -> Any:
        tables = (x,) if y is None else (x, y)
        variables = [1 if table.ndim < 2 else table.shape[0 if rowvar else 1] for table in tables]
        if any(min(table.shape, default=1) < 2 for table in tables) or max(variables) > _FEW:
            raise NotImplementedError
        return function(x, y, rowvar)

    return run


@implements("cov", at_once="elements", call=_of_several(np.cov))
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> GpuArray:  # fmt: skip
    """Return the covariance matrix of variables."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    arrays = (as_array(m),) if y is None else as_arrays(m, y)
    # NumPy transposes m unless it has one axis, and y if it has more than one row
    may_transpose = (arrays[0].ndim != 1, *(table.shape[:1] != (1,) for table in map(_table, arrays[1:])))
    rows = [_table(v).T if can and not rowvar else _table(v) for v, can in zip(arrays, may_transpose, strict=True)]
    table = rows[0] if len(rows) == 1 else concatenated(rows, 0)
    kind = np.result_type(table.dtype, np.float64) if dtype is None else dtypes.canonical(dtype)
    table = table.astype(kind, copy=False)
    free = (0 if bias else 1) if ddof is None else ddof
    frequency, importance = (
        _observation_weights(w, n, table) for w, n in ((fweights, "fweights"), (aweights, "aweights"))
    )
    given_weights = [w for w in (frequency, importance) if w is not None]
    weight: Any = given_weights[0] if given_weights else None
    if len(given_weights) == 2:
        weight = weight * given_weights[1]
    if weight is None:
        centre: Any = mean(table, 1, keepdims=True)
        factor: Any = float(table.shape[1] - free)
    else:
        total = sum(weight)
        centre = sum(table * weight, 1, keepdims=True) / total
        factor = total if not free else total - free
        if free and importance is not None:
            factor = total - free * sum(weight * importance) / total
    has_degrees = factor > 0 if weight is None else (factor > 0).item()
    if not has_degrees:
        warn("Degrees of freedom <= 0 for slice", RuntimeWarning)
        factor = 0.0
    centred = (table - centre).astype(kind, copy=False)
    scaled = centred if weight is None else centred * weight
    products: GpuArray = centred @ scaled.T.conj()
    inverse = np.true_divide(1, factor)
    return (products * (float(inverse) if weight is None else inverse.astype(products.dtype))).squeeze()


def _observation_weights(weights: Any, name: str, table: GpuArray) -> Any:
    """Check weights of observations as NumPy does, and convert them to float64; None stays None."""
    if weights is None:
        return None
    line: Any = as_array(weights, table.device).astype(dtypes.float64)
    if line.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if line.shape[0] != table.shape[1]:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    fractions, negative = numbers((line != np.rint(line)).any(), (line < 0).any())
    if fractions and name == "fweights":
        raise TypeError("fweights must be integer")
    if negative:
        raise ValueError(f"{name} cannot be negative")
    return line


def _table(value: GpuArray) -> GpuArray:
    if value.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    return value.reshape(1, -1) if value.ndim < 2 else value


@implements("corrcoef", at_once="elements", call=_of_several(np.corrcoef))
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> GpuArray:
    """Return the Pearson correlation coefficients of variables."""
    table = cov(x, y, rowvar, dtype=dtype)
    if table.ndim == 0:
        return table / table
    deviation = elementwise.sqrt(table.diagonal().real)
    table = table / deviation[:, None] / deviation[None, :]
    if table.dtype.kind == "c":
        return table.real.clip(-1, 1) + 1j * table.imag.clip(-1, 1)
    return table.clip(-1, 1)
