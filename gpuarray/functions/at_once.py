"""Calls of NumPy's functions with small arrays in host memory, which compute at once.

An implementation of the package has the signature and the results of a function of NumPy. Where all arrays of a call
are small and in host memory, NumPy's function itself is called with their memory, and its result becomes an array. The
registration of an implementation says whether this is so, and what bounds the size of the results. An error and
whatever else this module does not know lead to the implementation, so that errors and warnings are always the same.
"""

import sys
from collections.abc import Callable, Iterable
from functools import wraps
from math import prod
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray, cells, joint_device, wrap
from gpuarray.functions.arguments import NOT_GIVEN
from gpuarray.graph.nodes import host_leaf
from gpuarray.immediacy import immediacy, quiet
from gpuarray.runtime import telemetry

_F = TypeVar("_F", bound=Callable[..., Any])

#: The results of a function that is called at once:
#:
#: - "elements": have the shape to which the arrays broadcast, or fewer elements;
#: - "sums": have no more elements than all arrays together, whatever shapes these have;
#: - "products": may have as many elements as the product of their sizes, or as the square of a single one;
#: - "multiples": may have as many elements as the product of the sizes and of the integers among the arguments;
#: - "views": are views of the arrays where strides allow;
#: - "products or views": are products, or views as far as NumPy returns these;
#: - "in place": there is none; the function writes to its first argument.
Results: TypeAlias = Literal[
    "elements", "sums", "products", "multiples", "views", "products or views", "in place"
]  # fmt: skip

#: The most elements of a result of one of the products and multiples.
_MOST: Final = 1 << 20
#: What a call returns that is not computed at once.
NOT_COMPUTED: Final = object()
#: Types of arguments that NumPy takes as they are.
_PLAIN: Final = frozenset((bool, int, float, complex, str, type(None), type, slice, type(NOT_GIVEN), type(Ellipsis)))
_ndarray: Final = np.ndarray


class AtOnce(NamedTuple):
    """How the calls of a function are computed at once."""

    call: Callable[..., Any]
    """The function of NumPy, or another one with its parameters."""
    results: Results
    group: Callable[..., Any] | None = None
    """Makes the named tuple that the implementation returns."""


def at_once(function: _F, results: Results, call: Callable[..., Any]) -> _F:
    """Return an implementation whose calls are computed at once, if that is allowed.

    Parameters
    ----------
    function : callable
        The implementation.
    results : Results
        What bounds the size of the results.
    call : callable
        The function of NumPy.
    """
    returned = getattr(function, "__annotations__", {}).get("return")
    rule = AtOnce(call, results, returned if hasattr(returned, "_fields") else None)

    @wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        if immediacy().limit:
            found = computed(rule, arguments, keywords)
            if found is not NOT_COMPUTED:
                return found
        return function(*arguments, **keywords)

    cast(Any, run).at_once = rule
    unchecked = getattr(function, "unchecked", None)
    if unchecked is not None:
        cast(Any, run).unchecked = at_once(unchecked, results, call)
    return cast(_F, run)


def computed(rule: AtOnce, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return the result of a function of NumPy as an array; NOT_COMPUTED if the call is to be recorded."""
    call, results, group = rule
    made = _Call()
    try:
        given = made.given(arguments)
        named = dict(zip(keywords, made.given(keywords.values()), strict=True)) if keywords else keywords
        arrays = made.arrays
        if not arrays or not made.are_few(results, arguments, keywords):
            return NOT_COMPUTED
        if results == "in place" or keywords.get("out") is not None:
            with cells.binding:  # no thread may make a graph of memory, or write to it, meanwhile
                if (results == "in place" and arguments[0] is not arrays[0]) or not made.have_memory():
                    return NOT_COMPUTED
                found = quiet.run(call, *given, **named)
        else:
            found = quiet.run(call, *given, **named)
        if found is None:
            wrapped: Any = None
        else:
            first = given[0] if given else next(iter(named.values()))
            wrapped = made.wrapped(found, first, "views" in results)
    except Exception:  # the error is that of the implementation
        return NOT_COMPUTED
    telemetry.counters["operations"] += 1
    return wrapped if group is None else group(*wrapped)


class _Call:
    """The arguments of a call: the arrays, and what NumPy gets instead."""

    __slots__ = ("arrays", "device", "hosts", "raw")

    def __init__(self) -> None:
        self.arrays: list[GpuArray] = []
        self.hosts: list[Any] = []
        self.raw: list[Any] = []
        self.device: Any = None

    def given(self, values: Iterable[Any]) -> list[Any]:
        """Return what NumPy gets instead of arguments.

        Raises
        ------
        LookupError
            If the call has to be recorded.
        """
        given = []
        for value in values:
            kind = type(value)
            if kind is GpuArray:
                cell = value._cell
                host = value._host if value._memory is cell.memory else value.host()
                if host is None or not host.size or host.dtype is dtypes.float16:
                    raise LookupError
                device = cell.device
                if device is not self.device:
                    self.device = device if self.device is None else joint_device(self.device, device)
                self.arrays.append(value)
                self.hosts.append(host)
                value = host
            elif kind in _PLAIN:
                pass
            elif kind is tuple or kind is list:
                value = kind(self.given(value))
            elif kind is _ndarray:
                if not value.size or value.size > immediacy().limit or not dtypes.is_supported(value.dtype):
                    raise LookupError
                self.raw.append(value)
            elif not isinstance(value, np.generic | np.dtype):
                raise LookupError
            given.append(value)
        return given

    def are_few(self, results: Results, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Return whether the result has a bounded number of elements, as far as sizes tell."""
        sizes = [array.size for array in (*self.hosts, *self.raw)]
        if results == "multiples":
            return int(prod(sizes)) * _multiple((arguments, [*keywords.values()])) <= _MOST
        is_product = results.startswith("products")
        if is_product and len(sizes) == 1:
            sizes *= 2
        if len(sizes) == 1 or results in ("sums", "views") or prod(sizes) <= immediacy().limit:
            return True
        arrays = self.hosts + self.raw
        if not is_product:
            first: Any = arrays[0].shape
            if all(array.shape == first for array in arrays):
                return True
            if results == "elements" and _broadcast_size(arrays) <= immediacy().limit:
                return True
        return int(prod(sizes)) <= _MOST

    def have_memory(self) -> bool:
        """Return whether what NumPy gets is still the memory of the cells."""
        return all(array._memory is array._cell.memory for array in self.arrays)

    def wrapped(self, found: Any, first: Any, may_be_view: bool) -> Any:
        """Return what NumPy returned with arrays of this package.

        Parameters
        ----------
        found : ndarray, scalar, tuple or list
            What NumPy returned.
        first : object
            The first argument that NumPy got.
        may_be_view : bool
            Whether the result may share memory with an argument that is not given as ``out``.

        Raises
        ------
        LookupError
            If it is of another type, or a view that is not one of the memory of a cell.
        """
        kind = type(found)
        if kind is _ndarray:
            for array, host in zip(reversed(self.arrays), reversed(self.hosts), strict=True):
                if found is host and (may_be_view or host is not first or array is not self.arrays[0]):
                    return _current(array)
            if any(found is raw for raw in self.raw) and not may_be_view:
                return found
            base = found.base
            if base is None and found is not first:
                return self._fresh(found)
            return self._seen(found, base) if may_be_view else self._fresh(found.copy())
        if isinstance(found, np.generic):
            return GpuArray._of_host(found, self.device)
        if isinstance(found, tuple | list):
            return (list if kind is list else tuple)([self.wrapped(item, first, may_be_view) for item in found])
        raise LookupError

    def _seen(self, found: Any, base: Any) -> Any:
        """Return the array of a view that NumPy has made of an argument, or of memory of its own."""
        for array in self.arrays:
            if _current(array)._part is not None:
                raise LookupError
            if base is array._memory and found.dtype is array._dtype:
                if found.size > immediacy().limit:
                    raise LookupError
                return array._see_host(found)
        return self._fresh(found.copy())

    def _fresh(self, found: Any) -> GpuArray:
        """Return an array of memory that nobody else has."""
        dtype = dtypes.canonical(found.dtype)
        if found.dtype is not dtype:
            found = found.astype(dtype)
        if found.size > immediacy().limit:
            return wrap(host_leaf(found), self.device)
        return GpuArray._of_host(found, self.device)


def _current(array: GpuArray) -> GpuArray:
    """Return an array whose elements are in the memory of its cell.

    Raises
    ------
    LookupError
        If they are not.
    """
    if array._memory is not array._cell.memory:
        raise LookupError
    return array


def _broadcast_size(arrays: list[Any]) -> int:
    """Return the number of elements of the shape to which arrays broadcast; the largest number if they do not."""
    try:
        return int(np.broadcast(*arrays).size)
    except ValueError:
        return sys.maxsize


def _multiple(values: Iterable[Any]) -> int:
    """Return a number of times that integers among arguments can repeat elements."""
    times = 1
    for value in values:
        if isinstance(value, tuple | list):
            times *= _multiple(value)
        elif isinstance(value, int | np.integer):
            times *= 1 + abs(int(value))
    return times
