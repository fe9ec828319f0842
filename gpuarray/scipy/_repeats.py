"""Calls that repeat earlier ones with other arrays: what the earlier call recorded is copied.

To check arguments, and to find weights and positions, takes several times as long as to make nodes. All of it follows
from the other arguments, from shapes, dtypes and the device of the arrays, and from the settings, by which graphs are
found again.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from gpuarray.array import GpuArray, wrap
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import FallbackError
from gpuarray.graph import tape, tracing
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Leaf
from gpuarray.graph.repeats import RepeatedGraph, UnknownError, unknown
from gpuarray.source_locations import keeping_warnings, warn

#: The most graphs that are kept, and the most bytes of NumPy arrays by which one is found.
_KEPT: Final = 256
_SMALL: Final = 1 << 14
#: Types whose values are keys themselves, together with the type: 1 and True may give other dtypes.
_PLAIN: Final = frozenset((int, str, bool, type(None), type))


class _Recorded(NamedTuple):
    """The recording of a call.

    Attributes
    ----------
    graph : RepeatedGraph
        The graph of the storage of the results.
    layouts : tuple of Layout or None
        How the results are seen in their storage; None if they are the whole of it.
    devices : tuple of Device
        The devices of the results.
    is_single : bool
        Whether the result is an array, not a tuple of arrays.
    warnings : list of tuple
        The messages and classes of the warnings of each call.
    """

    graph: RepeatedGraph
    layouts: tuple[Layout | None, ...]
    devices: tuple[Device, ...]
    is_single: bool
    warnings: list[tuple[str, type[Warning]]]


#: What was recorded, by call, the oldest first; None if the call was made once, and False if it has to run each time.
_RECORDED: Final[OrderedDict[Any, _Recorded | bool | None]] = OrderedDict()


def repeated(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call a function that records operations, or copy what it recorded when it was called so before.

    Parameters
    ----------
    function : callable
        The function. Its result depends on the arguments and the settings alone.
    args, kwargs
        The arguments.
    """
    if tape.state.tapes or tracing.is_anywhere():
        return function(*args, **kwargs)
    arrays: list[GpuArray] = []
    meaning = _key(args, arrays), _key(kwargs, arrays) if kwargs else ()
    if not arrays or None in meaning:
        return function(*args, **kwargs)
    key = function, config.current, meaning
    known = _RECORDED.get(key, True)
    if known is True:  # the first call
        _RECORDED[key] = None
        if len(_RECORDED) > _KEPT:
            _RECORDED.popitem(last=False)
    elif known is None:
        known = _RECORDED[key] = _record(function, args, kwargs)
    if type(known) is not _Recorded:
        return function(*args, **kwargs)
    for warning in known.warnings:
        warn(*warning)
    copied = known.graph.copied([array.settled() for array in arrays])
    result = [
        _seen(wrap(node, device), layout)
        for node, layout, device in zip(copied, known.layouts, known.devices, strict=True)
    ]
    return result[0] if known.is_single else tuple(result)


def _seen(array: GpuArray, layout: Layout | None) -> GpuArray:
    """Return the view of a result in its storage; without axes it is a value."""
    if layout is None:
        return array
    view = array.view_of(layout)
    return view if layout.shape else view[()]


def _key(value: Any, arrays: list[GpuArray]) -> Any:
    """Return the key of an argument, without the values of arrays, which are listed; None if it has none."""
    kind = type(value)
    if kind is GpuArray:
        arrays.append(value)
        return value.shape, value.dtype, value.device
    if kind is float or kind is complex:
        return kind, repr(value)  # in which zeros have signs
    if kind in _PLAIN:
        return kind, value
    if kind is tuple or kind is list:
        parts = tuple([_key(item, arrays) for item in value])
        return None if any(key is None for key in parts) else (kind, parts)
    if kind is dict:
        parts = tuple([_key(item, arrays) for item in value.values()])
        return None if any(key is None for key in parts) else (*value, parts)
    if isinstance(value, np.generic) or (kind is np.ndarray and value.nbytes <= _SMALL):
        return None if value.dtype.hasobject else (kind, value.shape, value.dtype, value.tobytes())
    return value if isinstance(value, np.dtype) else None


def _record(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> _Recorded | bool:
    """Return the recording of a call with stand-ins; False if it reads or writes them, or has other results."""
    leaves: list[Leaf] = []
    arrays: list[GpuArray] = []

    def stand_in(value: Any) -> Any:
        kind = type(value)
        if kind is GpuArray:
            leaf = unknown(value.shape, value.dtype)
            leaves.append(leaf)
            array = wrap(leaf, value.device)
            array._access = value._access
            arrays.append(array)
            return array
        if kind is tuple or kind is list:
            return kind([stand_in(item) for item in value])
        return {name: stand_in(item) for name, item in value.items()} if kind is dict else value

    try:
        with config.using(fallback="error"), keeping_warnings() as warnings:
            result = function(*stand_in(args), **stand_in(dict(kwargs)))
    except (UnknownError, FallbackError):
        return False
    results = result if type(result) is tuple else (result,)
    if not all(type(one) is GpuArray and all(one is not array for array in arrays) for one in results):
        return False
    if any(array.stored() is not leaf for array, leaf in zip(arrays, leaves, strict=True)):
        return False
    layouts = tuple([one._layout if one._part is None else None for one in results])
    nodes = [one.node() if layout is None else one.stored() for one, layout in zip(results, layouts, strict=True)]
    try:
        graph = RepeatedGraph(nodes, leaves)
    except ValueError:  # nothing depends on the arrays, or one is returned
        return False
    return _Recorded(graph, layouts, tuple([one.device for one in results]), results is not result, warnings)
