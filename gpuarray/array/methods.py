"""The methods of NumPy arrays. Each calls the function of the same name in the namespace.

The functions are in a higher layer, :mod:`gpuarray.functions`, and are looked up by name in ``dispatch.METHODS``.
"""

from collections.abc import Callable
from functools import wraps
from math import inf, prod
from sys import maxsize
from typing import Any, Final, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from gpuarray import dispatch, dtypes
from gpuarray.array import compiled
from gpuarray.array.memory import of_host
from gpuarray.array.operators import ComputingArray
from gpuarray.array.storage import check_order
from gpuarray.graph import build
from gpuarray.graph.layouts import contiguous
from gpuarray.graph.nodes import Node
from gpuarray.graph.shapes import normalize_axis, resolve_shape
from gpuarray.immediacy import ONE_THREAD, immediacy
from gpuarray.ops import elementwise as ops
from gpuarray.runtime.ownership import is_shared

F = TypeVar("F", bound=Callable[..., Any])
Axis = int | tuple[int, ...] | None
_NOTHING: Final = np.empty(0)


def check_sort(kind: Any, order: Any, stable: Any, descending: Any) -> None:
    """Validate the arguments of a sort with NumPy. ``descending`` excludes ``kind``; NumPy has it from 2.5 on.

    Raises
    ------
    ValueError
        If ``kind`` is unknown or given together with ``stable`` or ``descending``, or if ``order`` is given.
    """
    np.sort(_NOTHING, kind=kind, order=order, stable=stable if descending is None else bool(stable))


def _ordering(kind: Any, order: Any, stable: Any, descending: Any) -> dict[str, Any]:
    """Return the keywords of a sort, whose arguments are validated; calls without keywords take less time."""
    if kind is not None or order is not None or stable is not None or descending is not None:
        check_sort(kind, order, stable, descending)
    return {"descending": True} if descending else {}


def _masked(where: Any) -> dict[str, Any]:
    """Return the keyword ``where``, if there is a mask; calls without keywords take less time."""
    return {} if where is True else {"where": where}


def _reduces(compute: Callable[..., Any], most: float = inf) -> Callable[[F], F]:
    """Return a decorator of methods that reduce: small arrays in host memory are reduced at once.

    Parameters
    ----------
    compute : callable
        NumPy's function of an array, an axis and ``keepdims``. With further arguments the method is called.
    most : float
        The most elements that are reduced so.
    """

    def declare(method: F) -> F:
        @wraps(method)
        def run(self: "MethodsArray", axis: Any = None, *arguments: Any, **keywords: Any) -> Any:
            if not arguments and (not keywords or keywords.keys() == {"keepdims"}) and immediacy().limit:
                result = compiled.call(compute, (self, axis), keywords, most, 0, False)
                if result is None and self.size <= most:
                    result = self._reduced(compute, axis, **keywords)
                if result is not None:
                    return result
            return method(self, axis, *arguments, **keywords)

        return cast(F, run)

    return declare


def _at_once(compute: Callable[..., Any], growth: int, out: int, *, may_be_view: bool = False) -> Callable[[F], F]:
    """Return a decorator of methods that NumPy's method computes at once, for small arrays in host memory.

    Parameters
    ----------
    compute : callable
        NumPy's method.
    growth : int
        Why results are small, as ``compiled.call`` takes it.
    out : int
        The position of the array that gets the result.
    may_be_view : bool
        Whether the result is a view.
    """

    def declare(method: F) -> F:
        def general(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
            return method(*arguments, **keywords)

        return cast(F, compiled.of_numpy(general, method, compute, 0, growth, may_be_view, 0, out, False, False, None))

    return declare


class MethodsArray(ComputingArray):
    """An array with NumPy's methods."""

    __slots__ = ()

    def _call(self, name: str, *arguments: Any, **keywords: Any) -> Self:
        return dispatch.METHODS[name](self, *arguments, **keywords)

    # -- reductions ---------------------------------------------------------------------------------------------------

    @_reduces(np.add.reduce)
    def sum(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Self:
        """Return the sum along axes; see :func:`gpuarray.sum`."""
        return self._call("sum", axis, dtype, out, keepdims, initial, where)

    @_reduces(np.multiply.reduce)
    def prod(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Self:
        """Return the product along axes; see :func:`gpuarray.prod`."""
        return self._call("prod", axis, dtype, out, keepdims, initial, where)

    @_reduces(np.minimum.reduce)
    def min(
        self, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Self:
        """Return the minimum along axes; see :func:`gpuarray.min`."""
        return self._call("min", axis, out, keepdims, initial, where)

    @_reduces(np.maximum.reduce)
    def max(
        self, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Self:
        """Return the maximum along axes; see :func:`gpuarray.max`."""
        return self._call("max", axis, out, keepdims, initial, where)

    @_reduces(np.logical_or.reduce)
    def any(self, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Self:
        """Return whether any element along axes is non-zero; see :func:`gpuarray.any`."""
        return self._call("any", axis, out, keepdims, **_masked(where))

    @_reduces(np.logical_and.reduce)
    def all(self, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Self:
        """Return whether all elements along axes are non-zero; see :func:`gpuarray.all`."""
        return self._call("all", axis, out, keepdims, **_masked(where))

    @_reduces(np.ndarray.mean)
    def mean(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Self:
        """Return the arithmetic mean along axes; see :func:`gpuarray.mean`."""
        return self._call("mean", axis, dtype, out, keepdims, **_masked(where))

    @_reduces(np.ndarray.var, ONE_THREAD)
    def var(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        correction: float | None = None,
    ) -> Self:
        """Return the variance along axes; see :func:`gpuarray.var`."""
        divisor = ddof if correction is None else correction
        return self._call("var", axis, dtype, out, divisor, keepdims, **_masked(where))

    @_reduces(np.ndarray.std, ONE_THREAD)
    def std(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        correction: float | None = None,
    ) -> Self:
        """Return the standard deviation along axes; see :func:`gpuarray.std`."""
        divisor = ddof if correction is None else correction
        return self._call("std", axis, dtype, out, divisor, keepdims, **_masked(where))

    @_reduces(np.ndarray.argmin)
    def argmin(self, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Self:
        """Return the index of the first minimum; see :func:`gpuarray.argmin`."""
        return self._call("argmin", axis, out, **({"keepdims": keepdims} if keepdims else {}))

    @_reduces(np.ndarray.argmax)
    def argmax(self, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Self:
        """Return the index of the first maximum; see :func:`gpuarray.argmax`."""
        return self._call("argmax", axis, out, **({"keepdims": keepdims} if keepdims else {}))

    def cumsum(self, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: Any = None) -> Self:
        """Return the cumulative sum along an axis; by default of all elements in C order."""
        return self._call("cumsum", axis, dtype, out)

    def cumprod(self, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: Any = None) -> Self:
        """Return the cumulative product along an axis; by default of all elements in C order."""
        return self._call("cumprod", axis, dtype, out)

    def ptp(self, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Self:
        """Return the maximum minus the minimum along axes."""
        return self._call("ptp", axis, out, keepdims)

    # -- elementwise --------------------------------------------------------------------------------------------------

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **keywords: Any) -> Self:
        """Return the elements limited to a range; see :func:`gpuarray.clip`. Accepts the keywords of ufuncs."""
        return self._call("clip", min, max, out, **keywords)

    def round(self, decimals: int = 0, out: Any = None) -> Self:
        """Return the elements rounded to decimals; see :func:`gpuarray.round`."""
        return self._call("round", decimals, out)

    def conj(self) -> Self:
        """Return the complex conjugate; the array itself if it is not complex. See :func:`gpuarray.conj`."""
        return self._call("conj") if self._dtype.kind == "c" else self

    conjugate = conj

    def byteswap(self, inplace: bool = False) -> Self:
        """Return the elements with reversed byte order, or reverse it in place."""
        swapped = self._fresh(_byteswapped(self.node()))
        if not inplace:
            return swapped
        self[...] = swapped
        return self

    # -- shape --------------------------------------------------------------------------------------------------------

    def flatten(self, order: str = "C") -> Self:
        """Return a copy of the elements as one axis."""
        result: Self | None = compiled.call(np.ndarray.flatten, (self, order), {}, inf, 0, False)
        return self.ravel(order).copy() if result is None else result

    def copy(self, order: str = "C") -> Self:
        """Return a copy of the array. Memory is copied only when one of the two is written.

        Parameters
        ----------
        order : {"C", "F", "A", "K"}
            The order of memory of the copy.
        """
        result: Self | None = compiled.call(np.ndarray.copy, (self, order), {}, inf, 0, False)
        if result is not None:
            return result
        order = check_order(order, "CFAK")
        if immediacy().limit and (host := self.host()) is not None:
            return of_host(type(self), host.copy(order), self.device)
        return self._fresh(self.node(), self.axes_in_order(order))

    def ravel(self, order: str = "C") -> Self:
        """Return the elements as one axis: a view if they are contiguous in that order, otherwise a copy."""
        result: Self | None = compiled.call(np.ndarray.ravel, (self, order), {}, inf, 0, True)
        if result is not None:
            return result
        order = check_order(order, "CFAK")
        if order == "C" and immediacy().limit and self.has_memory():
            host = self._host
            return self.reshape(-1) if host.flags.c_contiguous else of_host(type(self), host.ravel(), self.device)
        flags = self.flags
        if order == "F" or (order in "AK" and flags.fnc):
            return self.transpose().ravel()
        return self.reshape(-1, order=order if order in "CA" else "C", copy=None if flags.c_contiguous else True)

    def squeeze(self, axis: Axis = None) -> Self:
        """Return a view without axes of extent 1, or the array itself if it has none; see :func:`gpuarray.squeeze`."""
        axes = tuple(a for a, n in enumerate(self._shape) if n == 1) if axis is None else axis
        if axes == ():
            return self
        return self._call("squeeze", axis=axes)

    def swapaxes(self, axis1: int, axis2: int, /) -> Self:
        """Return a view with two axes exchanged."""
        order = list(range(self.ndim))
        first, second = (normalize_axis(axis, self.ndim) for axis in (axis1, axis2))
        order[first], order[second] = order[second], order[first]
        return self.transpose(order)

    def resize(self, *new_shape: Any, refcheck: bool = True) -> None:
        """Change the shape of this array in place; the elements are truncated or padded with zeros.

        Parameters
        ----------
        *new_shape : int or tuple of int
            New extents; the array stays as it is if there are none.
        refcheck : bool
            Whether to raise an error if other arrays may share the memory. If False, they keep their elements.

        Raises
        ------
        ValueError
            If the array is a view, or may have views.
        """
        if not new_shape or new_shape == (None,):
            return
        shape = resolve_shape(new_shape[0] if len(new_shape) == 1 else new_shape)
        if self._owner is not None:
            raise ValueError("cannot resize this array: it does not own its data")
        if shape == self._shape:
            return
        if refcheck and is_shared((self._cell,)):
            raise ValueError(
                "cannot resize an array that references or is referenced\nby another array in this way.\n"
                "Use the np.resize function or refcheck=False"
            )
        node: Node = build.reshape(self.node(), (self.size,))
        missing = prod(shape) - self.size
        if missing > 0:
            node = build.concat([node, build.full((missing,), 0, self._dtype)], 0)
        resized = self._fresh(build.reshape(build.view(node, contiguous((prod(shape),))), shape))
        self._cell, self._layout, self._shape = resized._cell, None, shape

    def repeat(self, repeats: Any, /, axis: int | None = None) -> Self:
        """Return the elements repeated along an axis; see :func:`gpuarray.repeat`."""
        return self._call("repeat", repeats, axis)

    @_at_once(np.ndarray.diagonal, compiled.ELEMENTS, maxsize, may_be_view=True)
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """Return the diagonal over two axes, as a read-only view."""
        return self._call("diagonal", offset, axis1, axis2)

    @_at_once(np.ndarray.trace, compiled.ELEMENTS, 5)
    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Self:
        """Return the sum along the diagonal."""
        return self._call("trace", offset, axis1, axis2, dtype, out)

    # -- selection and order ------------------------------------------------------------------------------------------

    def take(self, indices: Any, /, axis: int | None = None, out: Any = None, mode: str = "raise") -> Self:
        """Return the elements at indices along an axis; see :func:`gpuarray.take`."""
        return self._call("take", indices, axis, out, mode)

    def put(self, indices: Any, values: Any, /, mode: str = "raise") -> None:
        """Write values to flat indices in C order."""
        dispatch.METHODS["put"](self, indices, values, mode)

    def choose(self, choices: Any, out: Any = None, mode: str = "raise") -> Self:
        """Return elements of several arrays; each element of this array is the index of the array to choose from."""
        return self._call("choose", choices, out, mode)

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Self:
        """Return the slices along an axis at which a one-dimensional condition is true."""
        return dispatch.METHODS["compress"](condition, self, axis, out)

    def nonzero(self) -> tuple[Self, ...]:
        """Return the indices of the non-zero elements, one array per axis; see :func:`gpuarray.nonzero`."""
        return dispatch.METHODS["nonzero"](self)

    def searchsorted(self, v: Any, /, side: str = "left", sorter: Any = None) -> Self:
        """Return the indices at which elements can be inserted to keep the order; see :func:`gpuarray.searchsorted`."""
        return self._call("searchsorted", v, side, sorter)

    def sort(
        self,
        axis: int = -1,
        kind: Any = None,
        order: None = None,
        *,
        stable: bool | None = None,
        descending: bool | None = None,
    ) -> None:
        """Sort in place along an axis; NaN are last."""
        self[...] = self._call("sort", axis, **_ordering(kind, order, stable, descending))

    def argsort(
        self,
        axis: int | None = -1,
        kind: Any = None,
        order: None = None,
        *,
        stable: bool | None = None,
        descending: bool | None = None,
    ) -> Self:
        """Return the indices that sort the array along an axis; stable; see :func:`gpuarray.argsort`."""
        return self._call("argsort", axis, **_ordering(kind, order, stable, descending))

    def partition(self, kth: Any, /, axis: int = -1, kind: Any = "introselect", order: None = None) -> None:
        """Partition in place along an axis. On GPUs the whole axis is sorted, not only around ``kth``."""
        self[...] = self._call("partition", kth, axis=axis, kind=kind, order=order)

    def argpartition(self, kth: Any, /, axis: int | None = -1, kind: Any = "introselect", order: None = None) -> Self:
        """Return the indices that partition the array along an axis. On GPUs they sort the whole axis."""
        return self._call("argpartition", kth, axis=axis, kind=kind, order=order)

    # -- products -----------------------------------------------------------------------------------------------------

    @_at_once(np.ndarray.dot, compiled.VECTORS | compiled.MATRICES, 2)
    def dot(self, other: Any, /, out: Any = None) -> Self:
        """Return the dot product over the last axis of this array and the second-to-last axis of the other."""
        return self._call("dot", other, out)

    # SciPy's linear operators are objects with these methods, or arrays of NumPy's class.

    def matvec(self, vector: Any) -> Self:
        """Return the product of the matrix with a vector."""
        return self._call("matmul", vector)

    def rmatvec(self, vector: Any) -> Self:
        """Return the product of the conjugate transpose of the matrix with a vector or a matrix."""
        return self.conj().T._call("matmul", vector)

    rmatmat = rmatvec


def _byteswapped(node: Node) -> Node:
    """Return the elements of a node with reversed byte order."""
    if node.dtype.kind == "c":
        parts = (_byteswapped(build.elementwise(part, node)) for part in (ops.real, ops.imag))
        return build.elementwise(ops.complex_from_parts, *parts)
    width = node.dtype.itemsize
    if width == 1:
        return node
    word = dtypes.canonical(f"uint{8 * width}")
    bits = build.bitcast(node, word)
    total: Node | None = None
    for byte in range(width):
        low = build.elementwise(ops.bitwise_and, build.elementwise(ops.bitwise_right_shift, bits, 8 * byte), 0xFF)
        moved = build.elementwise(ops.bitwise_left_shift, low, 8 * (width - 1 - byte))
        total = moved if total is None else build.elementwise(ops.bitwise_or, total, moved)
    assert total is not None
    return build.bitcast(total, node.dtype)
