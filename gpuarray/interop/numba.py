"""numba: compiled functions take host memory only, so they refuse arrays of this package and name the conversion."""

from typing import Any, NoReturn

from numba.extending import typeof_impl

from gpuarray.array import GpuArray


def refuse(array: GpuArray, context: Any) -> NoReturn:
    """Raise the ValueError of which numba makes its TypingError."""
    raise ValueError(
        f"numba operates on host memory and does not support a GpuArray of shape {array.shape} and dtype "
        f"{array.dtype.name}; pass np.asarray(x), or np.from_dlpack(x), and convert the result with gpuarray.asarray"
    )


def register() -> None:
    """Have numba call :func:`refuse` for the type of an array."""
    typeof_impl.register(GpuArray, refuse)
