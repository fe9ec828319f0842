"""Arguments of the functions of this subpackage: SciPy's dtypes, its errors, and stacks of systems."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NoReturn, TypeAlias

import numpy as np

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import as_arrays
from gpuarray.functions.linalg_arguments import is_checked_later, require_zero
from gpuarray.graph.shapes import broadcast_shapes
from gpuarray.runtime import evaluate

#: An array whose elements are 0 if all is well, and what makes the error of another element.
Condition: TypeAlias = tuple[GpuArray, Callable[[int], Exception]]


def result_dtypes(original: Callable[..., Any], *arrays: GpuArray, **parameters: Any) -> tuple[np.dtype[Any], ...]:
    """Return the dtypes of what SciPy's function returns for matrices of the dtypes of arrays.

    Raises
    ------
    Exception
        SciPy's, if it does not accept the other arguments.
    """
    return _result_dtypes(original, tuple(a.dtype for a in arrays), tuple(parameters.items()))


@lru_cache(maxsize=1024)
def _result_dtypes(original: Callable[..., Any], kinds: Any, parameters: Any) -> tuple[np.dtype[Any], ...]:
    results = original(*(np.eye(2, dtype=kind) for kind in kinds), **dict(parameters))
    return tuple(np.asarray(value).dtype for value in (results if isinstance(results, tuple) else (results,)))


def computed(
    original: Callable[..., Any], *values: Any, check_finite: bool = True, pick: int = 0, **parameters: Any
) -> Any:
    """Return arguments as arrays of the dtype of a result of SciPy's function, checked to be finite.

    Parameters
    ----------
    original : callable
        SciPy's function.
    *values : array_like
        Its arguments.
    check_finite : bool
        Whether values must be finite.
    pick : int
        The number of the result.
    **parameters
        Other arguments, which SciPy checks.

    Returns
    -------
    GpuArray or list of GpuArray
        One array for each value; an array for one value.
    """
    arrays = as_arrays(*values)
    kind = result_dtypes(original, *arrays, **parameters)[pick]
    result = [array.astype(kind, copy=False) for array in arrays]
    if check_finite:
        require_finite(*arrays)
    return result if len(result) > 1 else result[0]


def require_finite(*arrays: GpuArray) -> None:
    """Raise ValueError if an element is infinite or not a number; all arrays are checked by one read."""
    check_all(finite(*arrays), *arrays)


def finite(*arrays: GpuArray) -> list[Condition]:
    """Return the condition that no element is infinite or not a number, for :func:`check_all`."""
    are_finite = None
    for array in arrays:
        if array.dtype.kind in "fc" and array.size:
            is_lost = (~xp.isfinite(array)).any()
            are_finite = is_lost if are_finite is None else are_finite | is_lost
    return (
        [] if are_finite is None else [(are_finite, lambda number: ValueError("array must not contain infs or NaNs"))]
    )


def check(failed: GpuArray, error: Callable[[int], Exception], *operands: GpuArray) -> None:
    """Raise the error of the first element that is not 0. The operands it depends on are evaluated once, with it."""
    check_all([(failed, error)], *operands)


def check_all(conditions: Sequence[Condition], *operands: GpuArray) -> None:
    """Raise the error of the first condition with an element that is not 0; all are checked by one read now, or later.

    Parameters
    ----------
    conditions : sequence of (GpuArray, callable)
        Integers or booleans, whose shapes broadcast, and what makes the error of an element.
    *operands : GpuArray
        What the conditions depend on, which is evaluated once, with them.
    """
    is_later = is_checked_later()
    if len(conditions) > 1 and not is_later:
        # the remainder says which condition it is
        status: Any = 0
        for number, (failed, _) in reversed([*enumerate(conditions)]):
            if failed.dtype == dtypes.bool_:
                status = xp.where(failed, len(conditions) + number, status)
            else:
                code = failed.astype(dtypes.int32, copy=False) * len(conditions) + number
                status = xp.where(failed != 0, code, status)
        errors = [error for _, error in conditions]
        conditions = [(status, lambda number: errors[number % len(errors)](number // len(errors)))]
    for failed, error in conditions:
        # one status of all elements is read later
        status = failed.any() if is_later else failed.astype(dtypes.int32, copy=False)
        values = [status.settled(), *(array.settled() for array in operands)]
        evaluate.evaluate_early(values, status.device, is_read=not is_later)
        require_zero(status, error)


def refuse(original: Callable[..., Any], *arguments: Any, **parameters: Any) -> NoReturn:
    """Raise what SciPy's function raises for zeros of the shapes of the arguments, which need no memory.

    Raises
    ------
    Exception
        SciPy's.
    ValueError
        If SciPy accepts the shapes.
    """
    original(*map(_zeros, arguments), **{name: _zeros(value) for name, value in parameters.items()})
    shapes = ", ".join(str(value.shape) for value in arguments if isinstance(value, GpuArray))
    raise ValueError(f"arrays of shapes {shapes} are not supported")


def _zeros(value: Any) -> Any:
    if isinstance(value, GpuArray):
        return np.broadcast_to(np.zeros((), value.dtype), value.shape)
    return tuple(map(_zeros, value)) if isinstance(value, tuple) else value


def as_lines(*values: Any) -> list[GpuArray]:
    """Return arguments as arrays of at least one axis."""
    return [array if array.ndim else array.reshape(1) for array in as_arrays(*values)]


def is_square(array: GpuArray) -> bool:
    """Whether an array has matrices of as many rows as columns."""
    return array.ndim >= 2 and array.shape[-1] == array.shape[-2]


def rows_of(right: GpuArray) -> int:
    """Return the number of rows of right-hand sides, which are a vector or matrices; -1 of numbers."""
    return right.shape[0 if right.ndim == 1 else -2] if right.ndim else -1


def matrices(original: Any, *values: Any, check_finite: bool = True, **parameters: Any) -> Any:
    """Return arguments that have at least two axes."""
    result = computed(original, *values, check_finite=check_finite, **parameters)
    arrays = result if isinstance(result, list) else [result]
    if any(array.ndim < 2 for array in arrays):
        refuse(original, *arrays)
    return result


def adjoint(array: GpuArray) -> GpuArray:
    """Return conjugate transposes."""
    return xp.conj(array).mT if array.dtype.kind == "c" else array.mT


def whole(a: GpuArray, lower: bool, *, conjugated: bool) -> GpuArray:
    """Return symmetric or Hermitian matrices of one of their triangles."""
    half = xp.tril(a) if lower else xp.triu(a)
    strict = xp.tril(a, -1) if lower else xp.triu(a, 1)
    if not conjugated or a.dtype.kind != "c":
        return half + strict.mT
    diagonal = xp.eye(a.shape[-1], dtype=xp.bool, device=a.device)
    return xp.where(diagonal, a.real.astype(a.dtype), strict + adjoint(strict))


def stacks(a: GpuArray, b: GpuArray) -> tuple[GpuArray, GpuArray, Callable[[GpuArray], GpuArray]]:
    """Return matrices and columns of equal stacks, and what brings solutions into the shape of the right sides.

    Parameters
    ----------
    a : GpuArray
        Of shape (..., M, M).
    b : GpuArray
        Of shape (M,) or (..., M, K). One matrix for a stack of right sides has all of them as its columns.
    """
    right = b[:, None] if b.ndim == 1 else b
    n, columns = right.shape[-2:]
    batch = broadcast_shapes(a.shape[:-2], right.shape[:-2])
    if a.ndim == 2 and batch:
        lines = xp.moveaxis(right, -2, 0)
        return a, lines.reshape(n, -1), lambda x: xp.moveaxis(x.reshape(lines.shape), 0, -2)
    if a.shape[:-2] != batch:
        a = a.broadcast((*batch, *a.shape[-2:]))
    if right.shape[:-2] != batch:
        right = right.broadcast((*batch, n, columns))
    return a, right, (lambda x: x[..., 0]) if b.ndim == 1 else (lambda x: x)
