"""numba: compiled functions take host memory only, so they refuse arrays of this package, and say what to give."""

from typing import Any, NoReturn

from numba.core.typing.typeof import typeof_impl  # that of numba.extending, which cannot be imported this early

from gpuarray.array import GpuArray


def refuse(array: GpuArray, context: Any) -> NoReturn:
    """Raise the ValueError from which numba makes its TypingError."""
    raise ValueError(
        f"a GpuArray of shape {array.shape} and dtype {array.dtype.name} was given, and numba compiles for memory of "
        "the host; give np.asarray(x), or np.from_dlpack(x), and put the result back with gpuarray.asarray"
    )


def register() -> None:
    """Have numba ask :func:`refuse` for the type of an array."""
    typeof_impl.register(GpuArray, refuse)
