"""Calls of NumPy's functions with small arrays in host memory, which compute at once.

An implementation of the package has the signature and the results of a function of NumPy. Where all arrays of a call
are small and in host memory, NumPy's function itself is called with their memory, and its result becomes an array. The
registration of an implementation says whether this is so, and what bounds the size of the results. If NumPy's call is
all that the in-process provider would do, it is also made with large arrays on the device "cpu". An error and whatever
else this module does not know lead to the implementation, so that errors and warnings are always the same.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from math import prod
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

import numpy as np

from gpuarray import dtypes
from gpuarray.array import (
    GpuArray,
    cells,
    default_device,
    default_dtype,
    is_cpu,
    joint_device_of,
    made_of,
    wrap,
)
from gpuarray.array.immediate import have_few_products
from gpuarray.array.memory import READ_ONLY, of_host
from gpuarray.config import config
from gpuarray.device import FREE, Device
from gpuarray.functions.arguments import NOT_GIVEN
from gpuarray.graph.nodes import host_leaf
from gpuarray.immediacy import ONE_THREAD, immediacy, quiet
from gpuarray.references import owner_count
from gpuarray.runtime.telemetry import counters

_F = TypeVar("_F", bound=Callable[..., Any])

#: The results of a function that is called at once:
#:
#: - "elements": have the shape to which the arrays broadcast, or fewer elements;
#: - "precise": have fewer elements, each of many: the sums of a plan have smaller errors;
#: - "lines": have the shape of the array, and each line along an axis is computed from one line;
#: - "matrices": the same with matrices, along the last two axes;
#: - "sums": have no more elements than all arrays together, whatever shapes these have;
#: - "matrix products": are products of matrices and vectors, of which NumPy computes those of few operations;
#: - "products": may have as many elements as the product of their sizes, or as the square of a single one;
#: - "multiples": may have as many elements as the size of the array times the integers among the arguments;
#: - "sizes": have as many elements as the product of the integers among the arguments;
#: - "views": are views of the arrays where strides allow;
#: - "products or views": are products, or views as far as NumPy returns these;
#: - "in place": there is none; the function writes to its first argument.
Results: TypeAlias = Literal[
    "elements",
    "precise",
    "lines",
    "matrices",
    "sums",
    "matrix products",
    "products",
    "multiples",
    "sizes",
    "views",
    "products or views",
    "in place",
]

#: The most elements of arrays that NumPy computes at once where no threads would share the work of the call.
UNSHARED: Final = 1 << 20
#: The same where they would, but gain less time than a plan takes.
QUICK: Final = 1 << 18
#: The same on the device "auto" beside a GPU: NumPy takes less time than copying the elements there does.
_BESIDE_GPU: Final = 1 << 17
#: The same where they would take longer.
ANY: Final = 1 << 62
#: The most elements of a result of one of the products and multiples.
_MOST: Final = 1 << 20
#: Arrays with sizes of at most this product have few elements, and few products.
_UNBOUNDED: Final = 1 << 10
#: What a call returns that is not computed at once.
NOT_COMPUTED: Final = object()
#: Types of arguments that NumPy takes as they are.
_PLAIN: Final = frozenset((bool, int, float, complex, str, type(None), type, slice, type(NOT_GIVEN), type(Ellipsis)))
#: The dtype objects of this package, of which NumPy has several that are equal.
_CANONICAL: Final = frozenset(map(id, dtypes.ALL))
_ndarray: Final = np.ndarray
_generic: Final = np.generic
_float16: Final = dtypes.float16
#: What functions return and take with several arrays, and other arguments of NumPy's types. A union of types is slower.
_SEVERAL: Final = (tuple, list)
_NUMPYS: Final = (np.generic, np.dtype)


class AtOnce:
    """How the calls of a function are computed at once.

    Attributes
    ----------
    call : callable
        The function of NumPy, or another one with its parameters.
    is_in_place : bool
        Whether it writes to its first argument.
    may_be_view : bool
        Whether a result may share memory with an argument.
    out : int
        The position of the parameter for an array that gets the result; a very large one if there is none.
    is_bounded : callable
        Returns whether the results of a call are small, from the sizes of arrays and integers.
    takes_nothing : bool
        Whether arrays without elements are computed at once.
    unbounded : int
        The largest product of the sizes of arrays for which they always are.
    most : int
        The elements of larger arrays that are computed at once on the device "cpu".
    group : callable or None
        Makes the named tuple that the implementation returns.
    """

    __slots__ = (
        "call",
        "group",
        "is_bounded",
        "is_in_place",
        "may_be_view",
        "most",
        "out",
        "takes_nothing",
        "unbounded",
    )

    def __init__(
        self,
        call: Callable[..., Any],
        results: Results,
        group: Callable[..., Any] | None = None,
        *,
        most: int = 0,
        empty: bool = False,
    ) -> None:
        self.call = getattr(call, "__wrapped__", call)  # NumPy need not look for arrays of other packages
        self.takes_nothing = empty or isinstance(call, np.ufunc)
        self.is_in_place = results == "in place"
        self.may_be_view = "views" in results
        self.is_bounded: _Bound = _BOUNDS.get(results, _has_few_elements)
        self.unbounded = 0 if results in ("multiples", "sizes") else _UNBOUNDED if results in _BOUNDS else sys.maxsize
        self.most = most
        self.group = group
        self.out = _position_of_out(self.call)


def at_once(function: _F, results: Results, call: Callable[..., Any], *, most: int = 0, empty: bool = False) -> _F:
    """Return an implementation whose calls are computed at once, if that is allowed.

    Parameters
    ----------
    function : callable
        The implementation.
    results : Results
        What bounds the size of the results.
    call : callable
        The function of NumPy.
    most : int
        The elements of larger arrays that are computed at once on the device "cpu".
    empty : bool
        Whether arrays without elements are computed at once, too: the function has no warning of its own for them.
    """
    returned = getattr(function, "__annotations__", {}).get("return")
    rule = AtOnce(call, results, returned if hasattr(returned, "_fields") else None, most=most, empty=empty)
    rule.out = _position_of_out(function)  # ``call`` may take it among others

    @wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        if immediacy().limit and not (arguments and _is_pinned(arguments[0])):
            found = computed(rule, arguments, keywords)
            if found is not NOT_COMPUTED:
                return found
        return function(*arguments, **keywords)

    cast(Any, run).at_once = rule
    unchecked = getattr(function, "unchecked", None)
    if unchecked is not None:
        cast(Any, run).unchecked = at_once(unchecked, results, call, most=most, empty=empty)
    return cast(_F, run)


def created(call: Callable[..., Any], size: Callable[..., float], *, most: int = 0) -> Callable[[_F], _F]:
    """Return a decorator of functions that make arrays of numbers: NumPy makes small ones at once.

    Parameters
    ----------
    call : callable
        The function of NumPy.
    size : callable
        Returns the number of elements along the axis of a result that numbers say, from the arguments.
    most : int
        The elements of larger arrays that are made at once on the device "cpu".
    """

    def declare(function: _F) -> _F:
        @wraps(function)
        def run(*arguments: Any, **keywords: Any) -> Any:
            limit = immediacy().limit
            device = default_device()
            if limit and device.kind in FREE and default_dtype(float) is dtypes.float64:
                try:
                    if is_cpu(device) and not config.current.memory_limit:
                        limit = max(limit, most)
                    if size(*arguments, **keywords) <= limit:
                        return _made(call, arguments, keywords, device)
                except Exception:  # the error is that of the implementation
                    pass
            return function(*arguments, **keywords)

        return cast(_F, run)

    return declare


def _made(call: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any], device: Device) -> Any:
    """Return the array, or the tuple of arrays, that a function of NumPy makes of numbers.

    Raises
    ------
    LookupError
        If there are arrays among the arguments, or if the result is something else.
    """
    given: list[Any] = []
    _given((*arguments, *keywords.values()), given, given, given, False)
    found = None if given else quiet.run(call, *arguments, **keywords)
    if type(found) is tuple:
        return tuple([_own(each, device) for each in found])
    return _own(found, device)


def _own(found: Any, device: Device) -> GpuArray:
    """Return an array of what a function of NumPy made.

    Raises
    ------
    LookupError
        If that is not an array.
    """
    if type(found) is not _ndarray:
        raise LookupError
    kind = dtypes.canonical(found.dtype)
    host = _in_own_memory(found) if found.dtype is kind else found.astype(kind)
    return made_of(host, device) if host.size <= immediacy().limit else wrap(host_leaf(host), device)


def fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with a new array where NumPy's returns its argument."""

    def run(x: Any, *arguments: Any, **keywords: Any) -> Any:
        found = function(x, *arguments, **keywords)
        return found.copy() if found is x else found

    return run


def grouped(function: Callable[..., Any], group: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with another named tuple where NumPy's returns one."""

    def run(*arguments: Any, **keywords: Any) -> Any:
        found = function(*arguments, **keywords)
        return group(*found) if hasattr(found, "_fields") else found

    return run


def _is_pinned(value: Any) -> bool:
    """Whether a value is an array of a device whose values the host does not compute."""
    return type(value) is GpuArray and value._value is None and value._made_cell.device.kind not in FREE


def computed(rule: AtOnce, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return the result of a function of NumPy as an array; NOT_COMPUTED if the call is to be recorded."""
    arrays: list[GpuArray] = []
    hosts: list[Any] = []
    raw: list[Any] = []
    most = rule.most
    targets: list[GpuArray] | None = None
    try:
        if keywords or rule.is_in_place or (len(arguments) > rule.out and arguments[rule.out] is not None):
            targets = _targets(rule, arguments, keywords)
            if targets and not rule.is_in_place:
                most = 0
        given = _given(arguments, arrays, hosts, raw, most)
        named = (
            dict(zip(keywords, _given(keywords.values(), arrays, hosts, raw, most), strict=True)) if keywords else {}
        )
        device = joint_device_of(arrays)
        if device is None:
            return NOT_COMPUTED
        if raw:
            hosts += raw
        size = 1
        for host in hosts:
            size *= host.size
        if size > rule.unbounded:
            if not (most == UNSHARED and is_cpu(device)) and not rule.is_bounded(hosts, arguments, keywords):
                return NOT_COMPUTED
        elif not size and not rule.takes_nothing:
            return NOT_COMPUTED
        if targets:
            with cells.binding:  # no thread may make a graph of memory, or write to it, meanwhile
                for target in targets:
                    cell = target._made_cell
                    is_current = target._memory is cell.memory and cell.own is not None
                    if not is_current or all(target._host is not host for host in hosts):
                        return NOT_COMPUTED
                found = quiet.run(rule.call, *given, **named)
        else:
            found = quiet.run(rule.call, *given, **named) if named else quiet.run(rule.call, *given)
        if isinstance(found, _generic):
            wrapped: Any = of_host(GpuArray, found, device)
        else:
            wrapped = _wrapped(found, arrays, hosts, device, rule.may_be_view)
    except Exception:  # the error is that of the implementation
        return NOT_COMPUTED
    counters["operations"] += 1
    return wrapped if rule.group is None else rule.group(*wrapped)


def _targets(rule: AtOnce, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[GpuArray]:
    """Return the arrays to which a call writes, with memory of their own.

    Raises
    ------
    LookupError
        If the call has to be recorded.
    """
    if rule.is_in_place:
        written = arguments[:1]
    else:
        out = keywords.get("out") if keywords else None
        if out is None and len(arguments) > rule.out:
            out = arguments[rule.out]
        if out is None:
            return []
        written = out if type(out) is tuple else (out,)
    targets = []
    for target in written:
        if type(target) is GpuArray:
            if not target.claimed():
                raise LookupError
            targets.append(target)
    if rule.is_in_place and not targets:
        raise LookupError
    return targets


def _position_of_out(call: Callable[..., Any]) -> int:
    """Return the position of the parameter ``out`` of a function; a very large one if it has none."""
    if isinstance(call, np.ufunc):
        return int(call.nin)
    try:
        names = [*inspect.signature(call).parameters]
    except ValueError:  # it is written in C
        return sys.maxsize
    return names.index("out") if "out" in names else sys.maxsize


def _given(values: Iterable[Any], arrays: list[GpuArray], hosts: list[Any], raw: list[Any], most: int) -> list[Any]:
    """Return what NumPy gets instead of arguments.

    Parameters
    ----------
    values : iterable
        The arguments.
    arrays, hosts, raw : list
        To which are added: the arrays of this package, their elements, and arrays of NumPy.
    most : int
        The most elements of an array, where they are more than are computed at once anyway.

    Raises
    ------
    LookupError
        If the call has to be recorded.
    """
    given = []
    for value in values:
        kind = type(value)
        if kind is GpuArray:
            host = value._value
            if host is None:
                host = value._host if value._memory is value._made_cell.memory else value.host()
                if host is None and most:
                    host = value.whole_host(most, _BESIDE_GPU if most == QUICK else 0)
                if host is None:
                    raise LookupError
            if host.dtype is _float16:
                raise LookupError
            arrays.append(value)
            hosts.append(host)
            value = host
        elif kind in _PLAIN:
            pass
        elif kind is tuple or kind is list:
            value = kind(_given(value, arrays, hosts, raw, most))
        elif kind is _ndarray:
            if not 0 < value.size <= max(immediacy().limit, most) or not dtypes.is_supported(value.dtype):
                raise LookupError
            raw.append(value)
        elif not isinstance(value, _NUMPYS):
            raise LookupError
        given.append(value)
    return given


def _wrapped(found: Any, arrays: list[GpuArray], hosts: list[Any], device: Device, may_be_view: bool) -> Any:
    """Return what NumPy returned with arrays of this package.

    Raises
    ------
    LookupError
        If it is of another type, or a view that is not one of the memory of a cell.
    """
    kind = type(found)
    if kind is _ndarray:
        for host in hosts:
            if found is host:  # it was given as ``out``, or there was nothing to do
                number = [id(other) for other in hosts].index(id(found))
                return _current(arrays[number]) if number < len(arrays) else found
        is_read_only = False
        if found.base is not None:
            view = _seen(found, arrays) if may_be_view else None
            if view is not None:
                return view
            is_read_only = not found.flags.writeable
            found = _in_own_memory(found)
        if id(found.dtype) not in _CANONICAL:
            found = found.astype(dtypes.canonical(found.dtype))
        made = wrap(host_leaf(found), device) if found.size > immediacy().limit else of_host(GpuArray, found, device)
        if is_read_only:  # as NumPy's broadcasts of scalars
            made._access = READ_ONLY
        return made
    if isinstance(found, _generic):
        return of_host(GpuArray, found, device)
    if isinstance(found, _SEVERAL):
        items = [_wrapped(item, arrays, hosts, device, may_be_view) for item in found]
        return items if kind is list else tuple(items) if kind is tuple else kind(*items)
    if found is None or kind is bool:
        return found
    raise LookupError


def _in_own_memory(found: Any) -> Any:
    """Return an array that is no view: without a copy if it is all of an array to which nothing else refers."""
    base = found.base
    if base is None:
        return found
    if type(base) is not _ndarray or base.dtype is not found.dtype or base.nbytes != found.nbytes:
        return found.copy()
    if not (found.flags.c_contiguous and base.flags.c_contiguous and base.flags.owndata and base.flags.writeable):
        return found.copy()
    if owner_count((base,), 0) != 3:  # beside the view's there are this function's and the tuple's
        return found.copy()
    base.resize(found.shape, refcheck=False)  # NumPy would count the view's
    return base


def _seen(found: Any, arrays: list[GpuArray]) -> GpuArray | None:
    """Return the array of a view that NumPy has made of the memory of an argument; None if it has made another one.

    Raises
    ------
    LookupError
        If the view may not be one of the memory of a cell, or has too many elements.
    """
    for array in arrays:
        if _current(array)._part is not None:
            raise LookupError
        if found.base is array._memory and found.dtype is array._dtype:
            if found.size > immediacy().limit:
                raise LookupError
            view = array._see_host(found, array._memory)
            if not found.flags.writeable:
                view._access = READ_ONLY  # as NumPy's broadcasts and diagonals
            return view
    return None


def _current(array: GpuArray) -> GpuArray:
    """Return an array whose elements are in the memory of its cell.

    Raises
    ------
    LookupError
        If they are not.
    """
    if array._value is None and array._memory is not array._cell.memory:
        raise LookupError
    return array


# -- bounds of the number of elements ----------------------------------------------------------------------------------

_Bound: TypeAlias = Callable[[list[Any], tuple[Any, ...], dict[str, Any]], bool]


def _has_few_elements(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    shape = hosts[0].shape
    for host in hosts:
        if host.shape != shape:
            break
    else:  # which the result has, too
        return True
    try:
        return bool(np.broadcast(*hosts).size <= immediacy().limit)
    except ValueError:  # as for products of matrices
        return bool(prod([host.size for host in hosts]) <= _MOST)


def _has_few_addends(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    return all(host.size <= ONE_THREAD for host in hosts)


def _has_few(axes: int) -> _Bound:
    """Return the bound of functions of lines (1 axis) or matrices (2 axes), which threads share if they are many."""
    return lambda hosts, arguments, keywords: bool(hosts[0].ndim <= axes or hosts[0].size <= ONE_THREAD)


def _has_few_multiplications(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    if len(hosts) == 2 and hosts[0].ndim and hosts[1].ndim and have_few_products(*hosts):
        return True
    return all(host.size <= immediacy().limit for host in hosts) and _has_few_elements(hosts, arguments, keywords)


def _has_few_products(hosts: list[Any], arguments: Any, keywords: Any) -> bool:
    sizes = [host.size for host in hosts]
    return bool(prod(sizes if len(sizes) > 1 else sizes * 2) <= _MOST)


def _has_few_multiples(hosts: list[Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return len(hosts) == 1 and hosts[0].size * _multiple((arguments, [*keywords.values()])) <= _MOST


def _multiple(values: Iterable[Any]) -> int:
    """Return a number of times that integers among arguments can repeat elements."""
    return prod([1 + abs(value) for value in _integers(values)])


def _has_small_size(hosts: list[Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return prod([abs(value) for value in _integers((arguments, [*keywords.values()]))]) <= _MOST


def _integers(values: Iterable[Any]) -> Iterator[int]:
    for value in values:
        if isinstance(value, tuple | list):
            yield from _integers(value)
        elif isinstance(value, int | np.integer):
            yield int(value)


_BOUNDS: Final[dict[str, _Bound]] = {
    "elements": _has_few_elements,
    "precise": _has_few_addends,
    "lines": _has_few(1),
    "matrices": _has_few(2),
    "matrix products": _has_few_multiplications,
    "products": _has_few_products,
    "products or views": _has_few_products,
    "multiples": _has_few_multiples,
    "sizes": _has_small_size,
}
