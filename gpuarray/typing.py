"""Types for annotations, as :mod:`numpy.typing`, with arrays of this package in place of NumPy's."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy.typing as npt
from numpy.typing import DTypeLike

from gpuarray.array import GpuArray

__all__ = ["ArrayLike", "DTypeLike", "NDArray"]

#: Arguments that functions accept in place of an array.
ArrayLike: TypeAlias = GpuArray | npt.ArrayLike

if TYPE_CHECKING:
    from typing_extensions import TypeAliasType, TypeVar  # which every checker has

    _Scalar = TypeVar("_Scalar", default=Any)
    NDArray = TypeAliasType("NDArray", GpuArray, type_params=(_Scalar,))
else:
    NDArray = GpuArray
