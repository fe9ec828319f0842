"""numba: compiled functions take host memory only, so they refuse arrays of this package and name the conversion."""

from typing import Any, NoReturn

from numba.extending import typeof_impl

from gpuarray.array import GpuArray


def refuse(array: GpuArray, context: Any) -> NoReturn:
    """Raise the ValueError of which numba makes its TypingError."""
    raise ValueError(
        f"a GpuArray of shape {array.shape} and dtype {array.dtype.name} was given, and numba compiles for memory of "
        "the host; give np.asarray(x), or np.from_dlpack(x), and put the result back with gpuarray.asarray"
    )


def register() -> None:
    """Have numba call :func:`refuse` for the type of an array."""
    typeof_impl.register(GpuArray, refuse)
