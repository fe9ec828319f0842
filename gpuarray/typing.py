"""Types for annotations, as :mod:`numpy.typing`, with arrays of this package in place of NumPy's."""

from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import numpy.typing as npt
from numpy.typing import DTypeLike

from gpuarray.array import GpuArray

__all__ = ["ArrayLike", "DTypeLike", "NDArray"]

#: Arguments that functions accept in place of an array.
ArrayLike: TypeAlias = GpuArray | npt.ArrayLike

if TYPE_CHECKING:
    _Scalar = TypeVar("_Scalar")
    NDArray: TypeAlias = Annotated[GpuArray, _Scalar]
else:
    NDArray = GpuArray
