"""Keys of indexing: which are basic, what NumPy gets instead of arrays among them, and masks."""

from functools import lru_cache, partial
from operator import is_not
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.array.bounds import bounds, enclosed
from gpuarray.array.compaction import compaction
from gpuarray.array.memory import VALUE
from gpuarray.array.operands import as_node
from gpuarray.array.storage import StoredArray
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.graph import build, indexing, tape, tracing
from gpuarray.graph.layouts import Layout, Shape
from gpuarray.graph.nodes import Generate, Node
from gpuarray.immediacy import immediacy
from gpuarray.runtime import evaluate
from gpuarray.runtime.host_memory import strided

_ndarray: Final = np.ndarray
#: Types of keys that select views.
BASIC: Final = frozenset((int, slice, type(None), type(Ellipsis)))
#: The most elements of a storage whose positions are kept.
_NUMBERED: Final = 1 << 15
#: Types of numbers in lists of positions and of flags.
_PLAIN: Final = frozenset((int, bool))


def with_known(key: Any) -> Any:
    """Return a key with integers instead of arrays without axes whose values are known; the key itself if it has none.

    NumPy has scalars where most of these are, and loops use them as indices.
    """
    if type(key) is tuple:
        items = tuple([with_known(item) for item in key if type(item) is not tuple])
        return items if len(items) == len(key) and any(map(is_not, items, key)) else key
    if isinstance(key, StoredArray) and not key._shape and key._part is None and key._layout is None:
        node = key._cell.node
        is_plain = not tape.state.tapes and not tracing.mode().is_replayed
        if key._dtype.kind in "iu" and (is_plain or type(node) is Generate):
            value = evaluate.small_value(node, 1)
            if value is not None:
                return int(value)
            if config.current.check_indices:
                lowest, highest = bounds(node, key._cell.device)  # which is read if no operation states it
                return lowest if lowest == highest else key
    return key


def is_of_scalars(key: Any) -> bool:
    """Return whether a key has slices, ... and integers alone, where results without axes are NumPy's scalars."""
    for item in key if type(key) is tuple else (key,):
        if isinstance(item, StoredArray):
            if item._shape or item._access is not VALUE or item._dtype.kind == "b":
                return False
        elif not indexing.is_basic(item):
            return False
    return True


def are_basic(key: tuple[Any, ...]) -> bool:
    """Return whether a tuple is a basic key without numbers of NumPy or of this package."""
    for item in key:  # noqa: SIM110  # all() takes twice the time
        if type(item) not in BASIC:
            return False
    return True


def host_key(key: Any, limit: int) -> Any:
    """Return a key with the elements of arrays in host memory, of at most ``limit``, as NumPy has them.

    Raises
    ------
    LookupError
        If an array is large, to be computed, or elsewhere, or if the key has something else.
    """
    kind = type(key)
    if kind is tuple:
        return tuple([item if type(item) in BASIC else host_key(item, limit) for item in key])
    if isinstance(key, StoredArray):
        host = key.host() if immediacy().limit else evaluate.small_value(key.node(), limit)
        if host is not None:
            if host.shape:
                return host
            return host.item() if key._access is VALUE else np.asarray(host)  # an array as key makes a copy
    elif kind in BASIC or kind is bool or isinstance(key, np.integer):
        return key
    elif kind is range and len(key) <= limit:
        return np.asarray(key)
    elif kind is np.ndarray and key.size <= limit:
        return key
    elif kind is list:
        return [item if type(item) in _PLAIN else host_key(item, limit) for item in key]
    raise LookupError


def known_positions(layout: Layout, size: int, key: Any, device: Device) -> npt.NDArray[np.int64] | None:
    """Return the flat positions that a key with arrays selects of a small storage; None if they are to be computed.

    Operations that compute them take several times as long to record as a selection of NumPy.
    """
    if not 0 < size <= _NUMBERED or not evaluate.is_direct(device):
        return None
    try:
        host = host_key(key, _NUMBERED)
        positions = None if is_basic_key(host) else strided(_numbers(size), layout)[host]
    except LookupError:  # the key is not known, or not valid
        return None
    return positions if type(positions) is _ndarray and positions.size <= _NUMBERED else None


@lru_cache(maxsize=16)
def _numbers(size: int) -> npt.NDArray[np.int64]:
    """Return the positions of the elements of a storage."""
    return np.arange(size)


def check_few(host: npt.NDArray[Any], key: Any, limit: int) -> None:
    """Raise LookupError if a key of NumPy may select more elements of a large array than are computed at once."""
    items = key if type(key) is tuple else (key,)
    if BASIC.issuperset(map(type, items)):
        selection = host[key]
        if type(selection) is _ndarray and selection.size > limit:
            raise LookupError
        return
    shape, axis, most = host.shape, 0, 1
    positions = []  # which are broadcast
    for item in items:
        if item is Ellipsis:
            raise LookupError
        if type(item) is slice:
            most *= shape[axis]
        elif isinstance(item, np.ndarray | list):
            array = np.asarray(item)
            if array.dtype.kind == "b":
                most *= array.size
                axis += array.ndim - 1
            else:
                positions.append(array)
        axis += item is not None
    if positions:
        most *= np.broadcast(*positions).size
    for extent in shape[axis:]:
        most *= extent
    if most > limit:
        raise LookupError


def is_plain(value: Any) -> bool:
    """Return whether a value of NumPy has real elements, and nothing besides, such as the mask of a masked array."""
    return value.dtype.kind in "biuf" and (isinstance(value, np.generic) or type(value) is np.ndarray)


def is_basic_key(key: Any) -> bool:
    """Return whether a key selects a view, of integers of any kind and slices."""
    return all(map(indexing.is_basic, key if isinstance(key, tuple) else (key,)))


def has_ellipsis(key: Any) -> bool:
    """Return whether ``...`` is a part of a key."""
    return key is Ellipsis or (isinstance(key, tuple) and any(item is Ellipsis for item in key))


def selected(layout: Layout, key: tuple[Any, ...], device: Device) -> indexing.Selection:
    """Return the selection of a key from an array with a layout, on the joint device of the array and the key."""
    known = indexing.part(layout, key)
    if known is not None:
        return indexing.Selection(known, (), False)
    if all(indexing.is_basic(item) for item in key):
        consumed = [0 if item is None or item is Ellipsis else 1 for item in key]
        return indexing.select(layout, indexing.expand(key, len(layout.shape), consumed))
    elements: list[Any] = []
    consumed = []
    for item in key:
        scalar = _scalar_mask(item)
        index_arrays, axes = ([scalar], [1]) if scalar else indexing.elements(_key_element(item, device))
        elements += index_arrays
        consumed += axes
    layout = _with_mask_axes(layout, elements, consumed)
    items = indexing.expand(tuple(elements), len(layout.shape), consumed)
    indexing.check_masks(items, layout.shape)
    selection = indexing.select(layout, items)
    if len(selection.arrays) > 1:
        _check_broadcast([element.node.shape for element in selection.arrays])
    return selection


class _ScalarMask(indexing.Integers):
    """A single boolean in a key, which selects all or nothing of a new axis of extent 1."""


def _scalar_mask(item: Any) -> _ScalarMask | None:
    if isinstance(item, StoredArray | np.ndarray):
        if item.shape or item.dtype != dtypes.bool_:
            return None
    elif not isinstance(item, bool | np.bool_):
        return None
    return _ScalarMask(build.full((int(bool(item)),), 0, dtypes.int64), 0, 0)


def _with_mask_axes(layout: Layout, elements: list[Any], consumed: list[int]) -> Layout:
    """Return the layout with the additional axes of single booleans in a key."""
    shape, strides = list(layout.shape), list(layout.strides)
    for number, element in enumerate(elements):
        if isinstance(element, _ScalarMask):
            if any(item is Ellipsis for item in elements[:number]):
                later = zip(consumed[number:], elements[number:], strict=True)
                axis = len(shape) - sum(count for count, item in later if not isinstance(item, _ScalarMask))
            else:
                axis = sum(consumed[:number])
            shape.insert(axis, 1)
            strides.insert(axis, 0)
    return Layout(tuple(shape), tuple(strides), layout.offset)


def _check_broadcast(shapes: list[Shape]) -> None:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        named = " ".join(map(str, shapes))
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {named}"
        ) from None


def _key_element(item: Any, device: Device) -> Any:
    """Return a key element with arrays replaced: a mask by its count, an integer array by its node."""
    if isinstance(item, list) and any(isinstance(v, StoredArray) for v in item):
        node = as_node(item)
    elif isinstance(item, StoredArray):
        node = item.node()
    else:
        return item
    return _mask(node, device) if node.dtype == dtypes.bool_ else _integers(node, device)


def _mask(node: Node, device: Device) -> indexing.Mask:
    return indexing.Mask(compaction(node, device).nonzero(), node.shape)


def _integers(node: Node, device: Device) -> indexing.Integers:
    if node.dtype.kind not in "iu":
        raise IndexError(
            f"arrays used as indices must be of integer (or boolean) type, not {node.dtype}; convert with astype"
        )
    if node.size == 0 or not config.current.check_indices:
        return indexing.Integers(node, None, None)
    if tracing.mode().is_replayed and (inside := enclosed(node)) is not None:  # which needs no value
        return indexing.Integers(node, *inside, exact=partial(bounds, node, device))
    return indexing.Integers(node, *bounds(node, device))


def mask_node(key: Any) -> Node | None:
    """Return the node of a key that is a single boolean array, of this package or NumPy's."""
    if isinstance(key, tuple) and len(key) == 1:
        key = key[0]
    if isinstance(key, StoredArray):
        return key.node() if key._shape and key._dtype == dtypes.bool_ else None
    if isinstance(key, np.ndarray) and key.shape and key.dtype == np.bool_:
        return build.host_node(key)
    return None
