"""Calls of NumPy's functions with small arrays in host memory, which compute at once.

An implementation of the package has the signature and the results of a function of NumPy. Where all arrays of a call
are small and in host memory, NumPy's function itself is called with their memory, and its result becomes an array. The
registration of an implementation says whether this is so, and what bounds the size of the results. If NumPy's call is
all that the in-process provider would do, it is also made with large arrays on the device "cpu". An error and whatever
else this module does not know lead to the implementation, so that errors and warnings are always the same.
"""

import inspect
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from math import prod
from time import perf_counter_ns
from typing import Any, Final, TypeVar, cast

import numpy as np

from gpuarray import dtypes
from gpuarray.array import (
    GpuArray,
    are_known,
    cells,
    default_device,
    default_dtype,
    is_cpu,
    joint_device_of,
    made_of,
    wrap,
)
from gpuarray.array.compiled import of_numbers, of_numpy
from gpuarray.array.immediate import size_of_product
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.dispatch import is_broken_by_masks
from gpuarray.functions.arguments import NOT_GIVEN
from gpuarray.functions.host_results import in_own_memory, wrapped
from gpuarray.functions.result_bounds import RESULTS
from gpuarray.graph.nodes import host_leaf
from gpuarray.immediacy import immediacy, quiet
from gpuarray.runtime.placement import trials
from gpuarray.runtime.telemetry import counters
from gpuarray.settings import recording

_F = TypeVar("_F", bound=Callable[..., Any])

#: The most elements of arrays that NumPy computes at once where no threads would share the work of the call.
UNSHARED: Final = 1 << 20
#: The same where they would, but gain less time than a plan takes.
QUICK: Final = 1 << 18
#: The same on the device "auto" beside a GPU: NumPy takes less time than copying the elements there does.
_BESIDE_GPU: Final = 1 << 17
#: The same where they would take longer.
ANY: Final = 1 << 62
#: The results of functions that read each element of large arrays once.
_READING_ONCE: Final = ("matrix products", "vector products")
#: The result of a call that is not computed at once.
NOT_COMPUTED: Final = object()
#: Types of arguments that NumPy takes as they are.
_PLAIN: Final = frozenset((bool, int, float, complex, str, type(None), type, slice, type(NOT_GIVEN), type(Ellipsis)))
_ndarray: Final = np.ndarray
_float16: Final = dtypes.float16
#: Other arguments of NumPy's types. A union of types is slower.
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
    takes_masks : bool
        Whether it is called with ``where=``.
    unbounded, is_bounded, growth
        Those of :class:`~gpuarray.functions.result_bounds.Results`.
    takes_nothing : bool
        Whether arrays without elements are computed at once.
    most : int
        The elements of larger arrays that are computed at once on the device "cpu".
    reads_once : bool
        Whether larger arrays are also computed at once beside a GPU, because their elements are read once.
    group : callable or None
        Makes the named tuple that the implementation returns.
    compute : callable
        Returns the result of a call as an array; NOT_COMPUTED if the call is to be recorded.
    """

    __slots__ = (
        "call",
        "compute",
        "group",
        "growth",
        "is_bounded",
        "is_in_place",
        "may_be_view",
        "most",
        "out",
        "reads_once",
        "takes_masks",
        "takes_nothing",
        "unbounded",
    )

    def __init__(
        self,
        call: Callable[..., Any],
        results: str,
        group: Callable[..., Any] | None = None,
        *,
        most: int = 0,
        empty: bool = False,
        out: int | None = None,
    ) -> None:
        self.call = getattr(call, "__wrapped__", call)  # NumPy need not look for arrays of other packages
        self.takes_nothing = empty or isinstance(call, np.ufunc)
        self.is_in_place = results == "in place"
        self.may_be_view = "views" in results
        self.unbounded, self.is_bounded, self.growth = RESULTS[results]
        self.most = most
        self.reads_once = most == ANY and results in _READING_ONCE
        self.group = group
        self.out = _position_of_out(self.call) if out is None else out
        self.takes_masks = not is_broken_by_masks(self.call)
        self.compute = self.before(_not_computed)

    def before(self, function: _F) -> _F:
        """Return a function that computes calls at once, and calls another one for those that are to be recorded."""

        def general(by_numpy: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
            result = self._result(by_numpy, arguments, keywords) if immediacy().limit else NOT_COMPUTED
            return function(*arguments, **keywords) if result is NOT_COMPUTED else result

        rules = self.unbounded, self.growth, self.may_be_view, float(self.most), self.out, self.takes_masks
        return cast(_F, of_numpy(general, function, self.call, *rules, self.is_in_place, self.group))

    def _result(self, by_numpy: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Return the result of a call, given NumPy's or None, as an array; NOT_COMPUTED if it is to be recorded."""
        if _names_device(keywords) or (not self.takes_masks and "where" in keywords):
            return NOT_COMPUTED
        if by_numpy is None and arguments and _is_left(arguments[0]):
            return NOT_COMPUTED
        try:
            result = _computed(self, arguments, keywords, by_numpy)
        except Exception:  # the error is that of the implementation
            return NOT_COMPUTED
        counters["operations"] += 1
        return result if self.group is None else self.group(*result)


def _not_computed(*arguments: Any, **keywords: Any) -> Any:
    return NOT_COMPUTED


def at_once(function: _F, results: str, call: Callable[..., Any], *, most: int = 0, empty: bool = False) -> _F:
    """Return an implementation whose calls are computed at once, if that is allowed.

    Parameters
    ----------
    function : callable
        The implementation.
    results : str
        What bounds the size of the results.
    call : callable
        The function of NumPy.
    most : int
        The elements of larger arrays that are computed at once on the device "cpu".
    empty : bool
        Whether arrays without elements are computed at once, too: the function has no warning of its own for them.
    """
    returned = getattr(function, "__annotations__", {}).get("return")
    group = returned if hasattr(returned, "_fields") else None
    out = _position_of_out(function)  # ``call`` may take it among others
    rule = AtOnce(call, results, group, most=most, empty=empty, out=out)
    run = rule.before(function)
    cast(Any, run).at_once = rule
    unchecked = getattr(function, "unchecked", None)
    if unchecked is not None:
        cast(Any, run).unchecked = at_once(unchecked, results, call, most=most, empty=empty)
    return run


def created(
    call: Callable[..., Any], size: Callable[..., float] | None = None, *, bound: int = 1, most: int = 0
) -> Callable[[_F], _F]:
    """Return a decorator of functions that make arrays of numbers: NumPy makes small ones at once.

    It is given to :func:`~gpuarray.functions.registry.implements`, or used alone.

    Parameters
    ----------
    call : callable
        The function of NumPy.
    size : callable, optional
        Returns the number of elements along the axis of a result that numbers say, from the arguments. By default the
        function itself makes what is not made without a step in Python.
    bound : int
        What bounds a result; see :func:`gpuarray.array.compiled.of_numbers`.
    most : int
        The elements of larger arrays that are made at once on the device "cpu".
    """

    def declare(function: _F) -> _F:
        @wraps(function)
        def general(*arguments: Any, **keywords: Any) -> Any:
            if not are_known(immediacy().default_device):
                return run(*arguments, **keywords)
            if size is None:
                return function(*arguments, **keywords)
            limit = immediacy().limit
            device = default_device()
            if limit and immediacy().covers(device) and default_dtype(float) is dtypes.float64:
                try:
                    if is_cpu(device) and not config.current.memory_limit:
                        limit = max(limit, most)
                    if size(*arguments, **keywords) <= limit:
                        return _made_by_numpy(call, arguments, keywords, device)
                except Exception:  # the error is that of the implementation
                    pass
            return function(*arguments, **keywords)

        run = of_numbers(general, function, getattr(call, "__wrapped__", call), bound)
        return cast(_F, run)

    return declare


def _made_by_numpy(
    call: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any], device: Device
) -> Any:
    """Return the array, or the tuple of arrays, that a function of NumPy makes of numbers.

    Raises
    ------
    LookupError
        If there are arrays or a device among the arguments, or if the result is something else.
    """
    if _names_device(keywords):
        raise LookupError
    arguments_taken: list[Any] = []
    _for_numpy((*arguments, *keywords.values()), arguments_taken, arguments_taken, arguments_taken, False)
    result = None if arguments_taken else quiet.run(call, *arguments, **keywords)
    if type(result) is tuple:
        return tuple([_own(each, device) for each in result])
    return _own(result, device)


def _own(result: Any, device: Device) -> GpuArray:
    """Return an array of the result of a function of NumPy.

    Raises
    ------
    LookupError
        If that is not an array.
    """
    if type(result) is not _ndarray:
        raise LookupError
    kind = dtypes.canonical(result.dtype)
    host = in_own_memory(result) if result.dtype is kind else result.astype(kind)
    return made_of(host, device) if host.size <= immediacy().limit else wrap(host_leaf(host), device)


def fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with a new array where NumPy's returns its argument."""
    plain = getattr(function, "__wrapped__", function)  # which does not look for arrays of other packages

    def run(x: Any, *arguments: Any, **keywords: Any) -> Any:
        result = plain(x, *arguments, **keywords)
        return result.copy() if result is x else result

    return run


def _names_device(keywords: dict[str, Any]) -> bool:
    """Return whether an argument is a device. NumPy's only one, "cpu", need not be that of the other arguments."""
    return bool(keywords) and keywords.get("device") is not None


def _is_left(value: Any) -> bool:
    """Whether a value is an array whose elements are known to be elsewhere, or that its device is to compute with."""
    if type(value) is not GpuArray or value._value is not None:
        return False
    return value.is_away() or not immediacy().covers(value._made_cell.device)


def _computed(rule: AtOnce, arguments: tuple[Any, ...], keywords: dict[str, Any], by_numpy: Any) -> Any:
    """Return the result as an array, given what NumPy has returned, if the function was called already.

    Raises
    ------
    LookupError
        If the call is to be recorded.
    """
    arrays: list[GpuArray] = []
    hosts: list[Any] = []
    raw: list[Any] = []
    written = _written(rule, arguments, keywords)
    targets = _targets(written)
    if rule.is_in_place and not targets:
        raise LookupError
    most = 0 if targets and not rule.is_in_place else rule.most
    beside_gpu = _BESIDE_GPU if most == QUICK else most if rule.reads_once and not recording.midsize else 0
    positional = _for_numpy(arguments, arrays, hosts, raw, most, beside_gpu)
    named = dict(zip(keywords, _for_numpy(keywords.values(), arrays, hosts, raw, most, beside_gpu), strict=True))
    device = joint_device_of(arrays) if arrays else default_device() if raw else _device_of_numbers()
    if device is None or not immediacy().covers(device):
        raise LookupError
    hosts += raw
    size = prod([host.size for host in hosts])
    if size > rule.unbounded:
        if not (most == UNSHARED and is_cpu(device)) and not rule.is_bounded(hosts, arguments, keywords):
            raise LookupError
    elif not size and not rule.takes_nothing:
        raise LookupError
    is_read = beside_gpu == ANY and not is_cpu(device) and max([host.size for host in hosts]) > immediacy().limit
    if is_read and (max([host.ndim for host in hosts]) > 2 or size_of_product(*hosts) > immediacy().limit):
        raise LookupError
    if targets:
        with cells.binding:  # no thread may make a graph of memory, or write to it, meanwhile
            if not all(_is_written_by(target, hosts) for target in targets):
                raise LookupError
            by_numpy = quiet.run(rule.call, *positional, **named)
    elif by_numpy is None:
        begin = perf_counter_ns()
        by_numpy = quiet.run(rule.call, *positional, **named)
        if is_read:
            trials.note_read(sum([host.nbytes for host in hosts]), perf_counter_ns() - begin)
    return wrapped(by_numpy, arrays, hosts, device, rule.may_be_view, written)


def _is_written_by(target: GpuArray, hosts: list[Any]) -> bool:
    """Return whether a function of NumPy that writes to one of its arguments writes to the memory of an array."""
    cell = target._made_cell
    if cell.own is None or target._memory is not cell.memory:
        return False
    memory = target._host
    return any(host is memory for host in hosts)


def _device_of_numbers() -> Device | None:
    """Return the device of the result of a call with numbers; None if its dtype is not that of NumPy."""
    return default_device() if default_dtype(float) is dtypes.float64 else None


def _written(rule: AtOnce, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments to which a call writes."""
    if rule.is_in_place:
        return arguments[:1]
    out = keywords.get("out") if keywords else None
    if out is None and len(arguments) > rule.out:
        out = arguments[rule.out]
    return out if type(out) is tuple else () if out is None else (out,)


def _targets(written: tuple[Any, ...]) -> list[GpuArray]:
    """Return the arrays of this package among those to which a call writes, with memory of their own.

    Raises
    ------
    LookupError
        If the call has to be recorded.
    """
    targets = []
    for target in written:
        if type(target) is GpuArray:
            if not target.claimed():
                raise LookupError
            targets.append(target)
    return targets


def _position_of_out(call: Callable[..., Any]) -> int:
    """Return the position of the parameter ``out`` of a function; a very large one if it has none."""
    if isinstance(call, np.ufunc):
        return int(call.nin)
    code = getattr(inspect.unwrap(call), "__code__", None)
    try:  # to make signatures of all functions takes a tenth of the import
        names = [*inspect.signature(call).parameters] if code is None else code.co_varnames[: code.co_argcount]
    except ValueError:  # it is written in C
        return sys.maxsize
    return names.index("out") if "out" in names else sys.maxsize


def _for_numpy(
    values: Iterable[Any], arrays: list[GpuArray], hosts: list[Any], raw: list[Any], most: int, beside_gpu: int = 0
) -> list[Any]:
    """Return the arguments for NumPy.

    Parameters
    ----------
    values : iterable
        The arguments.
    arrays, hosts, raw : list
        To which are added: the arrays of this package, their elements, and arrays of NumPy.
    most : int
        The most elements of an array, where they are more than are computed at once anyway.
    beside_gpu : int
        The same on the device "auto" beside a GPU.

    Raises
    ------
    LookupError
        If the call has to be recorded.
    """
    converted = []
    for value in values:
        kind = type(value)
        if kind is GpuArray:
            host = value._value
            if host is None:
                host = value._host if value._memory is value._made_cell.memory else value.host()
                if host is None and most:
                    host = value.whole_host(most, beside_gpu, shared=beside_gpu == ANY)
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
            value = kind(_for_numpy(value, arrays, hosts, raw, most, beside_gpu))
        elif kind is _ndarray:
            if not 0 < value.size <= max(immediacy().limit, most) or not dtypes.is_supported(value.dtype):
                raise LookupError
            raw.append(value)
        elif not isinstance(value, _NUMPYS):
            raise LookupError
        converted.append(value)
    return converted
