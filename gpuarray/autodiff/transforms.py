"""Gradients, and derivatives in one direction, under JAX's names."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gpuarray.array import GpuArray
from gpuarray.autodiff import containers
from gpuarray.autodiff.arguments import Function, Numbers, P, at_arguments, check_input, check_output, chosen
from gpuarray.autodiff.linearized import Point, tangents_of
from gpuarray.autodiff.pieces import Pullback
from gpuarray.errors import DerivativeError
from gpuarray.graph import tape, tracing
from gpuarray.runtime import evaluate

__all__ = ["grad", "jvp", "linearize", "value_and_grad", "vjp"]


def grad(
    fun: Function[P], argnums: Numbers = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of ``fun``.

    Parameters
    ----------
    fun : callable
        NumPy code that returns a number: a 0-d array. It may write to arrays and read values; what it computes from a
        value that it has read as a Python number is constant.
    argnums : int or sequence of int
        The positional arguments with respect to which to differentiate: arrays and numbers, or nested tuples, lists,
        dictionaries, named tuples and dataclasses of these.
    has_aux : bool
        Whether ``fun`` returns a pair of the number and auxiliary data, which are returned unchanged.
    holomorphic : bool
        Whether ``fun`` is a holomorphic function of complex numbers. If False, a function of complex numbers must
        return a real number.

    Returns
    -------
    callable
        Takes the arguments of ``fun``. Returns the gradient: in the containers of the argument, or a tuple of these if
        ``argnums`` is a sequence; with ``has_aux`` a pair of it and the auxiliary data. As in JAX, the gradient with
        respect to complex numbers is the conjugate of the direction of steepest ascent.

    Raises
    ------
    DerivativeError
        When the function is called: if an argument has no derivative, as integers have none, or the result is not a
        number, or the derivative of an operation is not implemented. The error names the operation and its source line.

    See Also
    --------
    value_and_grad : The value too.
    jacrev : Functions with arrays as results.

    Examples
    --------
    >>> import gpuarray as xp
    >>> slope = xp.grad(lambda x: (x**3).sum())
    >>> slope(xp.asarray([1.0, 2.0])).tolist()
    [3.0, 12.0]
    """
    both = _value_and_gradient(fun, argnums, has_aux, holomorphic)

    @functools.wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        _, aux, gradients = both(args, kwargs)
        return (gradients, aux) if has_aux else gradients

    return gradient


def value_and_grad(
    fun: Function[P], argnums: Numbers = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the value and the gradient of ``fun``, which are evaluated together.

    Parameters
    ----------
    fun, argnums, has_aux, holomorphic
        As for :func:`grad`.

    Returns
    -------
    callable
        Takes the arguments of ``fun``. Returns a pair of the result of ``fun`` and the gradient.

    Raises
    ------
    DerivativeError
        As for :func:`grad`.

    Examples
    --------
    >>> import gpuarray as xp
    >>> value, slope = xp.value_and_grad(lambda x: (x**2).sum())(xp.asarray([1.0, 2.0]))
    >>> float(value), slope.tolist()
    (5.0, [2.0, 4.0])
    """
    both = _value_and_gradient(fun, argnums, has_aux, holomorphic, with_value=True)

    @functools.wraps(fun)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        out, aux, gradients = both(args, kwargs)
        if tracing.active() is None and tape.active() is None:
            arrays = [out, *containers.leaves(gradients)]
            evaluate.evaluate([array.node() for array in arrays if not array.is_computed()], out.device)
        return ((out, aux) if has_aux else out), gradients

    return value_and_gradient


def _value_and_gradient(
    fun: Callable[..., Any], argnums: Numbers, has_aux: bool, holomorphic: bool, *, with_value: bool = False
) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, Any, Any]]:
    """Return a function that returns the result of ``fun``, if it is wanted, auxiliary data and the gradient."""

    def both(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
        point = Point(*at_arguments(fun, argnums, args, kwargs), has_aux=has_aux)
        for array in point.arrays:
            check_input(array, holomorphic)
        out = point.out
        _check_number(out, len(point.results), holomorphic)
        if not with_value:  # what no array has need not become one
            out = point.out = None
            point.results.clear()
        gradients = containers.with_leaves(
            point.primals, point.gradient(Pullback(results=point.nodes if with_value else ()))
        )
        return out, point.aux, chosen(gradients, argnums)

    return both


def _check_number(out: Any, count: int, holomorphic: bool) -> None:
    """Raise DerivativeError unless a function has returned one number."""
    if count != 1 or not isinstance(out, GpuArray) or out.shape:
        what = f"an array of shape {out.shape}" if isinstance(out, GpuArray) else "a container"
        raise DerivativeError(f"a function with a gradient returns a number, not {what}; sum its result, or use jacrev")
    check_output(out, holomorphic)


def vjp(fun: Function[P], *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of ``fun``, and a function that maps its cotangents to those of the arguments.

    Parameters
    ----------
    fun : callable
        NumPy code, whose results are arrays or nested containers of them.
    *primals
        The arguments: arrays and numbers, or nested containers of them.
    has_aux : bool
        Whether ``fun`` returns a pair of the result and auxiliary data, which are returned unchanged.

    Returns
    -------
    out : GpuArray or container
        What ``fun`` returned.
    pullback : callable
        Takes a cotangent, in the containers and of the shapes and dtypes of ``out``. Returns a tuple with a
        cotangent for each argument. It can be called several times.
    aux : object
        The auxiliary data that ``fun`` returned; only with ``has_aux``.

    Raises
    ------
    DerivativeError
        When ``pullback`` is called: if the derivative of an operation is not implemented.

    Examples
    --------
    >>> import gpuarray as xp
    >>> y, pullback = xp.vjp(lambda a, b: a * b, xp.asarray([1.0, 2.0]), xp.asarray([3.0, 4.0]))
    >>> [ct.tolist() for ct in pullback(xp.ones(2))]
    [[3.0, 4.0], [1.0, 2.0]]
    """
    point = Point(fun, primals, has_aux)

    def pullback(cotangents: Any) -> Any:
        cts = tangents_of(cotangents, point.out, point.results, "the cotangent")
        return containers.with_leaves(point.primals, point.pull(cts))

    return (point.out, pullback, point.aux) if has_aux else (point.out, pullback)


def jvp(fun: Function[P], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """Return the value of ``fun`` and its derivative in a direction.

    Parameters
    ----------
    fun : callable
        NumPy code, whose results are arrays or nested containers of them.
    primals : sequence
        The arguments: arrays and numbers, or nested containers of them.
    tangents : sequence
        The direction: for each argument its tangent, in the same containers, shapes and dtypes.
    has_aux : bool
        Whether ``fun`` returns a pair of the result and auxiliary data, which are returned unchanged.

    Returns
    -------
    out : GpuArray or container
        What ``fun`` returned.
    tangent : GpuArray or container
        The derivative in the direction, in the containers and of the shapes and dtypes of ``out``.
    aux : object
        The auxiliary data that ``fun`` returned; only with ``has_aux``.

    Raises
    ------
    TypeError, ValueError
        If a tangent is not like its argument.
    DerivativeError
        If the derivative of an operation is not implemented.

    Examples
    --------
    >>> import gpuarray as xp
    >>> y, tangent = xp.jvp(lambda x: x**2, (xp.asarray(3.0),), (xp.asarray(1.0),))
    >>> float(tangent)
    6.0
    """
    point = Point(fun, primals, has_aux)
    directions = tangents_of(tuple(tangents), point.primals, point.arrays, "the tangent")
    tangent = containers.with_leaves(point.out, point.pushed()(directions))
    return (point.out, tangent, point.aux) if has_aux else (point.out, tangent)


def linearize(fun: Function[P], *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of ``fun``, and a function that maps tangents of the arguments to its tangent.

    Parameters
    ----------
    fun : callable
        NumPy code, whose results are arrays or nested containers of them.
    *primals
        The arguments: arrays and numbers, or nested containers of them.
    has_aux : bool
        Whether ``fun`` returns a pair of the result and auxiliary data, which are returned unchanged.

    Returns
    -------
    out : GpuArray or container
        What ``fun`` returned.
    push : callable
        Takes a tangent for each argument and returns that of ``out``. ``fun`` is not run again.
    aux : object
        The auxiliary data that ``fun`` returned; only with ``has_aux``.

    Raises
    ------
    DerivativeError
        If the derivative of an operation is not implemented.

    Examples
    --------
    >>> import numpy as np
    >>> import gpuarray as xp
    >>> y, push = xp.linearize(np.square, xp.asarray(3.0))
    >>> float(push(xp.asarray(2.0)))
    12.0
    """
    point = Point(fun, primals, has_aux)
    pushed = point.pushed()

    def push(*tangents: Any) -> Any:
        directions = tangents_of(tangents, point.primals, point.arrays, "the tangent")
        return containers.with_leaves(point.out, pushed(directions))

    return (point.out, push, point.aux) if has_aux else (point.out, push)
