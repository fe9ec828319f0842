"""The functions of the Python Array API standard, one module for each of its sections, and NumPy's names for them.

Importing the package makes them the methods of arrays, and NumPy's ufuncs known.
"""

import sys
from typing import Any

from gpuarray import dispatch
from gpuarray.api import (
    arguments,
    elementwise,
    indexing,
    linear_algebra,
    manipulation,
    searching,
    sorting,
    statistical,
    utility,
)
from gpuarray.api.info import __array_api_version__

_KNOWN_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", __array_api_version__)


def _namespace(api_version: str | None) -> Any:
    if api_version is not None and api_version not in _KNOWN_VERSIONS:
        raise ValueError(
            f"api_version={api_version!r} is not known; accepted are {', '.join(_KNOWN_VERSIONS)} and None"
        )
    return sys.modules["gpuarray"]


dispatch.METHODS.update(
    __array_namespace__=_namespace,
    __matmul__=linear_algebra.matmul,
    all=utility.all,
    any=utility.any,
    argmax=searching.argmax,
    argmin=searching.argmin,
    argpartition=sorting.argpartition,
    argsort=sorting.argsort,
    clip=elementwise.clip,
    conj=elementwise.conj,
    cumulative_prod=statistical.cumulative_prod,
    cumulative_sum=statistical.cumulative_sum,
    diagonal=manipulation.diagonal,
    dot=linear_algebra.dot,
    matmul=linear_algebra.matmul,
    max=statistical.max,
    mean=statistical.mean,
    min=statistical.min,
    nonzero=searching.nonzero,
    normalize_axes=manipulation.normalize_axes,
    partition=sorting.partition,
    prod=statistical.prod,
    repeat=manipulation.repeat,
    round=elementwise.round,
    searchsorted=searching.searchsorted,
    sort=sorting.sort,
    squeeze=manipulation.squeeze,
    std=statistical.std,
    sum=statistical.sum,
    take=indexing.take,
    var=statistical.var,
    write_out=arguments.write_out,
)
dispatch.collect_ufunc_rows()
