"""The arguments with respect to which functions are differentiated, and what these may be."""

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, ParamSpec, TypeAlias

from gpuarray.array import GpuArray
from gpuarray.errors import DerivativeError

P = ParamSpec("P")
#: The number of a positional argument, or those of several.
Numbers: TypeAlias = int | Sequence[int]
#: NumPy code. Type checkers know the parameters of a lambda, of any type, by the first ones.
Function: TypeAlias = (
    Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any] | Callable[P, Any]
)


def at_arguments(
    fun: Callable[..., Any], argnums: Numbers, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a function of the arguments that ``argnums`` selects, and these arguments."""
    if argnums == 0 and len(args) == 1 and not kwargs and type(argnums) is int:
        return fun, args
    numbers = [index(n) for n in argnums] if isinstance(argnums, Sequence) else [index(argnums)]
    chosen = []
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise ValueError(
                f"argnums has {number}, but the function was called with {len(args)} positional arguments; count from 0"
            )
        chosen.append(number % len(args))
    if len({*chosen}) < len(chosen):
        raise ValueError(f"argnums names an argument twice: {argnums}")

    def of_these(*values: Any) -> Any:
        all_args = list(args)
        for number, value in zip(chosen, values, strict=True):
            all_args[number] = value
        return fun(*all_args, **kwargs)

    return of_these, tuple(args[number] for number in chosen)


def chosen(values: tuple[Any, ...], argnums: Numbers) -> Any:
    """Return the values for several arguments as a tuple, or the value for a single one."""
    return values[0] if type(argnums) is int or not isinstance(argnums, Sequence) else values


def check_input(array: GpuArray, holomorphic: bool) -> None:
    """Raise DerivativeError if nothing can be differentiated with respect to an array."""
    if array.dtype.kind not in "fc":
        raise DerivativeError(
            f"arrays of dtype {array.dtype.name} have no derivative; convert the argument with astype(float)"
        )
    if holomorphic and array.dtype.kind != "c":
        raise DerivativeError(f"with holomorphic=True the arguments must be complex, not {array.dtype.name}")


def check_output(array: GpuArray, holomorphic: bool) -> None:
    """Raise DerivativeError if an array is no result that can be differentiated."""
    if holomorphic and array.dtype.kind != "c":
        raise DerivativeError(f"with holomorphic=True the result must be complex, not {array.dtype.name}")
    if not holomorphic and array.dtype.kind != "f":
        raise DerivativeError(
            f"the function returned dtype {array.dtype.name}; return real numbers, or give holomorphic=True if it is a "
            "holomorphic function of complex numbers"
        )
