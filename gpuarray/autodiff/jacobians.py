"""Jacobians and Hessians: derivatives in all directions at once, as batches."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gpuarray import dtypes
from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff import containers
from gpuarray.autodiff.arguments import Function, Numbers, P, at_arguments, check_input, check_output, chosen
from gpuarray.autodiff.batches import mapped_over_units
from gpuarray.autodiff.linearized import Point
from gpuarray.autodiff.subgraph import zeros_like
from gpuarray.errors import BatchingError, DerivativeError
from gpuarray.graph import build
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators

__all__ = ["hessian", "jacfwd", "jacobian", "jacrev"]


def jacrev(
    fun: Function[P], argnums: Numbers = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``fun`` by rows, which is fast if there are few results.

    Parameters
    ----------
    fun : callable
        NumPy code, whose results are arrays or nested containers of them.
    argnums, has_aux, holomorphic
        As for :func:`grad`.

    Returns
    -------
    callable
        Takes the arguments of ``fun``. Returns for each array of its results the derivatives with respect to the
        arguments, each of shape ``result.shape + argument.shape``; with ``has_aux`` a pair of these and the auxiliary
        data.

    Raises
    ------
    DerivativeError
        As for :func:`grad`.

    See Also
    --------
    jacfwd : Column by column.

    Examples
    --------
    >>> import numpy as np
    >>> import gpuarray as xp
    >>> xp.jacrev(np.square)(xp.asarray([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """

    @functools.wraps(fun)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        point = Point(*at_arguments(fun, argnums, args, kwargs), has_aux=has_aux)
        for array in point.arrays:
            check_input(array, holomorphic)
        blocks = []
        for number, result in enumerate(point.results):
            check_output(result, holomorphic)
            others: list[GpuArray | None] = [None] * len(point.results)
            rows = _of_units(_of_argument(point.pull, others, number), result)
            arrays = [line.reshape(result.shape + array.shape) for line, array in zip(rows, point.arrays, strict=True)]
            blocks.append(chosen(containers.with_leaves(point.primals, arrays), argnums))
        jacobian = containers.with_leaves(point.out, blocks)
        return (jacobian, point.aux) if has_aux else jacobian

    return jacobian_of


def jacfwd(
    fun: Function[P], argnums: Numbers = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``fun`` by columns, which is fast if there are few arguments.

    Parameters
    ----------
    fun : callable
        NumPy code, whose results are arrays or nested containers of them.
    argnums, has_aux, holomorphic
        As for :func:`grad`.

    Returns
    -------
    callable
        As that of :func:`jacrev`.

    Raises
    ------
    DerivativeError
        As for :func:`grad`.

    See Also
    --------
    jacrev : Row by row.

    Examples
    --------
    >>> import numpy as np
    >>> import gpuarray as xp
    >>> xp.jacfwd(np.square)(xp.asarray([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """

    @functools.wraps(fun)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        point = Point(*at_arguments(fun, argnums, args, kwargs), has_aux=has_aux)
        for array in point.arrays:
            check_input(array, holomorphic)
            if array.dtype.kind == "c" and not holomorphic:
                raise DerivativeError(
                    "jacfwd takes complex arguments with holomorphic=True; give real and imaginary parts"
                )
        push = point.pushed()
        blocks: list[list[GpuArray]] = [[] for _ in point.results]
        for number, array in enumerate(point.arrays):
            zeros = [zeros_like(array) for array in point.arrays]
            columns = _of_units(_of_argument(push, zeros, number), array)
            for column, line, result in zip(blocks, columns, point.results, strict=True):
                rows = line.reshape((array.size, result.size)).T
                column.append(rows.reshape(result.shape + array.shape))
        parts = [chosen(containers.with_leaves(point.primals, column), argnums) for column in blocks]
        jacobian = containers.with_leaves(point.out, parts)
        return (jacobian, point.aux) if has_aux else jacobian

    return jacobian_of


jacobian = jacrev


def hessian(
    fun: Function[P], argnums: Numbers = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the Hessian of ``fun``: :func:`jacfwd` of :func:`jacrev`.

    Parameters
    ----------
    fun : callable
        NumPy code, whose results are arrays or nested containers of them.
    argnums, has_aux, holomorphic
        As for :func:`grad`.

    Returns
    -------
    callable
        Takes the arguments of ``fun``. Returns the second derivatives, for a number of shape
        ``argument.shape + argument.shape``.

    Raises
    ------
    DerivativeError
        As for :func:`grad`.

    Examples
    --------
    >>> import gpuarray as xp
    >>> xp.hessian(lambda x: x[0] * x[1])(xp.asarray([1.0, 2.0])).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)


def _of_argument(function: Callable[[Any], Any], others: Sequence[Any], number: int) -> Callable[[GpuArray], Any]:
    """Return a function of one array among others."""
    return lambda array: function([*others[:number], array, *others[number + 1 :]])


def _of_units(linear: Callable[[GpuArray], Sequence[GpuArray]], like: GpuArray) -> list[GpuArray]:
    """Return the results of a function for the arrays with one element 1 and zeros else, along a new first axis.

    They are a batch, unless an operation has no batching rule.
    """
    positions = build.generate(generators.arange, (0, 1), (like.size,), dtypes.int64)
    is_one = build.elementwise(ops.equal, build.reshape(positions, (like.size, 1)), positions)
    units = build.reshape(build.cast(is_one, like.dtype), (like.size, *like.shape))
    try:
        return mapped_over_units(units, like.device, linear)
    except BatchingError:
        if not like.size:
            raise
        whole = wrap(units, like.device)
        rows = [linear(whole[number]) for number in range(like.size)]
    return [
        wrap(build.concat([build.reshape(x.node(), (1, *x.shape)) for x in line], 0), like.device)
        for line in zip(*rows, strict=True)
    ]
