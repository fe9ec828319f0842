"""The derivatives of functions that SciPy computes on the host."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeAlias

from gpuarray.array import GpuArray
from gpuarray.autodiff import custom_vjp, stop_gradient
from gpuarray.autodiff.elementwise import converted, fitted, scaled
from gpuarray.functions.fallback import among
from gpuarray.graph import tape

#: A partial derivative: a function of the arguments, which returns a tuple for several results; None if it is unknown.
Partial: TypeAlias = Callable[..., Any] | None


def vary(*values: Any) -> bool:
    """Return whether some values depend on a variable."""
    return bool(tape.state.tapes) and any(isinstance(v, GpuArray) and tape.varying(v.node()) for v in values)


def with_partials(function: Callable[..., Any], partials: Sequence[Partial]) -> Callable[..., Any]:
    """Return a function of elements with partial derivatives by its positional arguments.

    Parameters
    ----------
    function : callable
        Reads its arguments. So it raises an error if one depends on a variable whose partial derivative is unknown.
    partials : sequence of callable or None
        The partial derivatives. They take the keyword arguments too.
    """

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if not tape.state.tapes or len(args) > len(partials) or "out" in kwargs:
            return function(*args, **kwargs)
        differentiated = custom_vjp(
            lambda *arguments: function(
                *(stop_gradient(v) if partial else v for v, partial in zip(arguments, partials, strict=False)), **kwargs
            )
        )
        differentiated.defvjp(
            lambda *arguments: (differentiated(*arguments), arguments),
            lambda arguments, ct: pulled(arguments, ct, kwargs),
        )
        return differentiated(*args)

    def pulled(arguments: Sequence[Any], ct: Any, kwargs: dict[str, Any]) -> tuple[GpuArray | None, ...]:
        cts = ct if isinstance(ct, tuple) else (ct,)
        result: list[GpuArray | None] = []
        for partial, operand in zip(partials, arguments, strict=False):
            share: Any = None
            if partial is not None and isinstance(operand, GpuArray) and operand.dtype.kind in "fc":
                slopes = partial(*arguments, **kwargs)
                slopes = slopes if isinstance(slopes, tuple) else (slopes,)
                share = sum(scaled(ct, converted(slope, ct.dtype)) for ct, slope in zip(cts, slopes, strict=True))
            result.append(None if share is None else fitted(share, operand))
        return tuple(result)

    return run


def with_cotangents(function: Callable[..., Any], pull: Callable[..., Sequence[GpuArray]]) -> Callable[..., Any]:
    """Return a function of arrays whose derivative is known.

    Parameters
    ----------
    function : callable
        Reads its arguments, and returns an array.
    pull : callable
        Takes the cotangent of the result and the positional arguments, and returns the cotangents of these.
    """

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if not tape.state.tapes:
            return function(*args, **kwargs)
        own = custom_vjp(lambda *operands: function(*map(stop_gradient, operands), **kwargs))
        own.defvjp(lambda *operands: (own(*operands), operands), pulled)
        return own(*args)

    def pulled(operands: Sequence[Any], ct: GpuArray) -> tuple[GpuArray | None, ...]:
        cts = pull(ct, *operands)
        return tuple(
            converted(share, operand.dtype) if isinstance(operand, GpuArray) else None
            for share, operand in zip(cts, operands, strict=True)
        )

    return run


def with_composition(function: Callable[..., Any], composition: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is a composition of recorded operations where derivatives or batches follow its arguments.

    Parameters
    ----------
    function : callable
        Reads its arguments.
    composition : callable
        Has the parameters and the results of the function. It returns NotImplemented for arguments that it does not
        cover.
    """

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if tape.state.tapes and any(tape.is_followed(array.node()) for array in among(args, kwargs)):
            result = composition(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return function(*args, **kwargs)

    return run
