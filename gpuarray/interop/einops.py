"""einops: a backend for arrays of this package, which ``einops.rearrange`` and others find by an array's type."""

from typing import Any

from einops import _backends

from gpuarray.array import GpuArray
from gpuarray.functions import creation, ranges


class GpuArrayBackend(_backends.NumpyBackend):  # type: ignore[misc]  # a package whose types are not looked at
    """NumPy's functions, which this package answers for its arrays, and NumPy arrays made into them and back."""

    framework_name = "gpuarray"

    def is_appropriate_type(self, tensor: Any) -> bool:
        """Whether this backend is for ``tensor``."""
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
    """Fill in einops' table of types."""
    _backends._type2backend[GpuArray] = GpuArrayBackend()
