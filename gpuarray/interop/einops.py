"""einops: a backend for arrays of this package.

einops finds a backend among the subclasses of its own backends, by the type of an array; so to define one is to
register it. These classes are in a private module of einops, the only one that this package reads. If it changes,
``einops.array_api``, which needs no backend, still takes the arrays.
"""

from typing import Any

from einops import _backends

from gpuarray.array import GpuArray
from gpuarray.functions import creation, ranges


class GpuArrayBackend(_backends.NumpyBackend):  # type: ignore[misc]  # einops has no types
    """NumPy's functions, which accept arrays of this package, and conversions."""

    framework_name = "gpuarray"

    def is_appropriate_type(self, tensor: Any) -> bool:
        """Return whether this backend is for ``tensor``."""
        return isinstance(tensor, GpuArray)

    def from_numpy(self, x: Any) -> GpuArray:
        """Return an array with the elements of a NumPy array."""
        return creation.asarray(x)

    def to_numpy(self, x: GpuArray) -> Any:
        """Return a NumPy array with the elements of an array."""
        return x.get()

    def arange(self, start: int, stop: int) -> GpuArray:
        """Return the integers from ``start`` up to ``stop``."""
        return ranges.arange(start, stop)


def register() -> None:
    """Do nothing: the class above is what einops looks for."""
