"""Indexing: reading and writing parts of an array by basic and advanced keys, and through the flat iterator.

Basic keys return views, advanced keys new arrays; :mod:`gpuarray.graph.indexing` interprets keys. A key of integers
only returns a value and not a view, because NumPy returns a scalar.
"""

from collections.abc import Iterator
from operator import is_not, setitem
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.array import cells
from gpuarray.array.bounds import bounds
from gpuarray.array.cells import AUTO, is_cpu, joint_device
from gpuarray.array.compaction import AT_ONCE, compaction
from gpuarray.array.memory import READ_ONLY, VALUE, of_host
from gpuarray.array.operands import WEAK, as_element, as_node, assigned_node
from gpuarray.array.storage import StoredArray, without_leading_ones
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.graph import build, indexing, tape, tracing
from gpuarray.graph.layouts import Layout, Shape, contiguous
from gpuarray.graph.nodes import Generate, Node
from gpuarray.graph.walk import current
from gpuarray.immediacy import immediacy, quiet
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators
from gpuarray.runtime import evaluate, telemetry

_ndarray: Final = np.ndarray
_complex: Final = np.complexfloating


class SelectableArray(StoredArray):
    """An array that can be indexed and assigned to."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Self:
        if limit := immediacy().limit:
            host = memory = self._value
            if host is None:
                cell = self._made_cell
                device = cell.device
                memory = self._memory
                if memory is cell.memory or (memory := self._large) is cell.memory:
                    host = self._host
                else:
                    host, memory = self.parts(), cell.memory
            else:
                device = self._device
            if host is not None:
                kind = type(key)
                is_basic = kind is int or kind is slice
                if kind is tuple:
                    for item in key:
                        if type(item) not in _BASIC:
                            break
                    else:
                        is_basic = True
                try:
                    if is_basic:
                        found = host[key]
                    else:
                        given = _host_key(key)
                        if host.size > limit:
                            _check_few(host, given, limit)
                        found = host[given]
                except Exception:  # the error is that of a recording
                    pass
                else:
                    if type(found) is not _ndarray:
                        return of_host(type(self), found, device)
                    if found.base is memory:
                        if self._value is not None:
                            self._settle()
                        if self._made_part is None and found.size <= limit:
                            return self._see_host(found, memory, host, key)
                    elif not is_basic and (type(given) is _ndarray or not _is_basic(given)):
                        return of_host(type(self), found if found.base is None else found.copy(), self._key_device(key))
        layout = indexing.part(contiguous(self._shape) if self._layout is None else self._layout, key)
        if layout is None and (element := _with_known(key)) is not key:
            layout = indexing.part(self._storage_layout(), element)
            if layout is not None and layout.shape and not _is_of_scalars(key):  # an array as key makes a copy
                layout = None
        if layout is None:
            mask = _mask_node(key)
            if mask is not None and mask.shape == self._shape:
                device = self._key_device(key)
                return self._wrap(compaction(mask, device).take(self.node()), device)
            selection = self._select(key)
            layout = None if selection.arrays else selection.layout
        if layout is not None:
            if layout.shape or _has_ellipsis(key):
                return self.view_of(layout)
            device = self._cell.device
            value = None if self._part else evaluate.element(self._cell.node, layout.offset, device)
            if value is None:
                return self._wrap(self.view_of(layout).node(), device)
            return self._wrap(build.constant(value, self._dtype), device)
        size = self.stored().size
        node = self.load_at(indexing.positions(selection, size), indexing.rows(selection, size))
        found = self._wrap(node, self._key_device(key))
        if found._shape and _is_of_scalars(key):
            found._access = READ_ONLY  # NumPy has a view here, to which the program might write
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        if immediacy().limit and self._set_at_once(key, value):
            return
        self.check_writeable()
        cell = self._cell
        layout = indexing.part(contiguous(self._shape) if self._layout is None else self._layout, key)
        if isinstance(value, StoredArray) and value._cell is cell and self._is_itself(key, layout, value):
            return
        if layout is None and (element := _with_known(key)) is not key:
            layout = indexing.part(self._storage_layout(), element)
        if layout is not None:
            if isinstance(value, np.generic):
                value = as_element(value, self._dtype)
            values, device = assigned_node(value, self._dtype, cell.device)
            self.store(layout, values)
            cell.device = device
            return
        values, device = assigned_node(value, self._dtype, self._key_device(key))
        mask = _mask_node(key)
        if mask is not None and self._put_at_once(mask, values):
            cell.device = device
            return
        written = None if mask is None else self._with_masked(mask, values, device)
        if written is not None:
            self.store(self._storage_layout(), written)
        else:
            selection = self._select(key)
            if selection.arrays:
                self.store_at(indexing.positions(selection, self.stored().size), values)
            else:
                self.store(selection.layout, values)
        cell.device = device

    def _set_at_once(self, key: Any, value: Any) -> bool:
        """Write to the memory of the cell; return False if there is none, or if that fails."""
        if self._value is not None:
            self._settle()
        if not self._made_access:
            return False
        cell = self._made_cell
        device = cell.device
        kind = type(value)
        is_view = is_complex = False
        if kind is type(self):
            values = value._value
            if values is None:
                theirs = value._made_cell
                device = theirs.device
                values = value._host if value._memory is theirs.memory else value.host()
                if values is None:
                    return False
                is_view = theirs is cell and value._made_owner is not None
            else:
                device = value._device
            if device is not cell.device and device is not AUTO and cell.device is not AUTO:
                return False
            is_complex = values.dtype.kind == "c" if type(values) is _ndarray else isinstance(values, _complex)
        elif kind in WEAK or (isinstance(value, np.ndarray | np.generic) and _is_plain(value)):
            values = value
        else:
            return False
        kind = type(key)
        try:
            found = key if kind is int or kind is slice or (kind is tuple and _are_basic(key)) else _host_key(key)
            host = self._host if cell.own is not None and self._memory is cell.memory else self._claimed_parts(found)
            if host is None or (is_complex and host.dtype.kind not in "bc"):
                return False
            if is_view and value._source is host and value._key is key:
                return True  # after x[key] += y
            with cells.binding:  # no thread may make a graph of the memory, or write to it, meanwhile
                is_seen = self._memory is cell.memory or self._large is cell.memory
                if cell.own is None or not is_seen or self._host is not host:
                    return False
                quiet.run(setitem, host, found, values)
        except Exception:  # the error is that of a recording
            return False
        if device is not cell.device:
            cell.device = joint_device(cell.device, device)
        return True

    def _claimed_parts(self, key: Any) -> Any:
        """Return the elements in memory of the cell's own, to write to a few that a key selects.

        None if there are many, if they are to be computed, or elsewhere.

        Raises
        ------
        LookupError
            If there are many.
        """
        cell = self._made_cell
        host = self._host if self._large is cell.memory else self.parts()
        if host is None:  # of a large constant the host has no elements yet
            part = indexing.part(self._storage_layout(), key)
            if part is None or part.size > immediacy().limit:
                return None
        elif self._memory is not cell.memory:
            _check_few(host, key, immediacy().limit)
        if cell.own is None:
            return self.parts() if cell.claim() else None
        return host

    def places(self, key: Any) -> Node:
        """Return the flat positions in the storage of the selected elements, in the shape of the selection."""
        selection = self._select(key)
        return indexing.positions_to_write(selection, self.stored().size)

    def _with_masked(self, mask: Node, values: Node, device: Device) -> Node | None:
        """Return the array's value with ``values`` written where a mask over leading axes is true.

        Return None if the mask does not fit, or if the selected elements get different values along further axes.

        Raises
        ------
        TypeError, ValueError
            If the values do not fit.
        """
        if mask.shape != self._shape[: len(mask.shape)]:
            return None
        rest = self._shape[len(mask.shape) :]
        if not rest and len(values.shape) > 1:
            raise TypeError(
                "boolean array indexing assignment requires a 0 or 1-dimensional input, input has "
                f"{len(values.shape)} dimensions"
            )
        values = without_leading_ones(values, rest)
        if len(values.shape) <= len(rest):
            build.broadcast_to(values.shape, rest)
            return build.elementwise(ops.where, build.reshape(mask, mask.shape + (1,) * len(rest)), values, self.node())
        if rest:
            return None
        found = compaction(mask, device)
        if found.count != values.size:
            raise ValueError(
                f"boolean array indexing assignment cannot assign {values.size} input values to the {found.count} "
                "output values where the mask is true"
            )
        return found.put(self.node(), values)

    def _put_at_once(self, mask: Node, values: Node) -> bool:
        """Write where a mask is true if all values are known to the host; return False if that is not possible."""
        cell = self._cell
        if not immediacy().limit or mask.shape != self._shape or mask.size > AT_ONCE or not is_cpu(cell.device):
            return False
        chosen, new = evaluate.value_of(current(mask)), evaluate.value_of(current(values))
        if chosen is None or new is None or self.parts() is None or not cell.claim():
            return False
        try:
            with cells.binding:  # no thread may make a graph of the memory, or write to it, meanwhile
                host = self.parts()
                if cell.own is None or host is None:
                    return False
                host[chosen] = new
        except (ValueError, TypeError):  # the error is that of a recording
            return False
        return True

    def _is_itself(self, key: Any, layout: Layout | None, value: StoredArray) -> bool:
        """Return True if ``value`` is the view of a basic key, which ``x[key] += 1`` finally assigns to ``x[key]``."""
        if layout is None and all(map(indexing.is_basic, key if isinstance(key, tuple) else (key,))):
            layout = self._select(key).layout
        return value._part == self._part and layout == value._storage_layout()

    def assign(self, value: Any) -> None:
        """Write ``value``, broadcast to the array's shape."""
        if immediacy().limit and self._set_at_once(Ellipsis, value):
            return
        self.check_writeable()
        values, device = assigned_node(value, self._dtype, self._cell.device)
        self.store(self._storage_layout(), values)
        self._cell.device = device

    def _key_device(self, key: Any) -> Any:
        device = self.device
        for item in key if isinstance(key, tuple) else (key,):
            if isinstance(item, StoredArray):
                device = joint_device(device, item.device)
        return device

    def _select(self, key: Any) -> indexing.Selection:
        if not isinstance(key, tuple):
            key = (key,)
        layout = self._storage_layout()
        known = indexing.part(layout, key)
        if known is not None:
            return indexing.Selection(known, (), False)
        if all(indexing.is_basic(item) for item in key):
            consumed = [0 if item is None or item is Ellipsis else 1 for item in key]
            return indexing.select(layout, indexing.expand(key, self.ndim, consumed))
        device = self._key_device(key)
        elements: list[Any] = []
        consumed = []
        for item in key:
            scalar = _scalar_mask(item)
            found, axes = ([scalar], [1]) if scalar else indexing.elements(_key_element(item, device))
            elements += found
            consumed += axes
        layout = _with_mask_axes(layout, elements, consumed)
        items = indexing.expand(tuple(elements), len(layout.shape), consumed)
        selection = indexing.select(layout, indexing.check_masks(items, layout.shape))
        _check_broadcast([part.node.shape for part in selection.arrays])
        return selection

    @property
    def flat(self) -> "FlatIterator":
        """Iterator over the elements in C order, which can also be indexed and assigned to."""
        return FlatIterator(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        FlatIterator(self)[:] = value


class FlatIterator:
    """Iterator over the elements of an array in C order, as returned by ``x.flat``."""

    __slots__ = ("_array", "index")

    def __init__(self, array: SelectableArray) -> None:
        self._array = array
        self.index = 0

    @property
    def base(self) -> Any:
        """The array that is iterated over."""
        return self._array

    def __len__(self) -> int:
        return self._array.size

    @property
    def coords(self) -> tuple[int, ...]:
        """The indices of the next element."""
        coordinates: list[int] = []
        rest = self.index
        for extent in reversed(self._array.shape):
            coordinates.append(rest % extent)
            rest //= extent
        return tuple(reversed(coordinates))

    def __iter__(self) -> Iterator[Any]:
        self.index = 0
        self._array.settled()
        return self

    def __next__(self) -> Any:
        if self.index >= self._array.size:
            raise StopIteration
        element = self._array[self.coords]
        self.index += 1
        return element

    def __getitem__(self, key: Any) -> Any:
        line = self._array.reshape(-1)
        return line._fresh(line[key].node()) if not isinstance(key, int | np.integer) else line[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        array = self._array
        array.check_writeable()
        line = array.reshape(-1)
        if type(value) in WEAK and line._cell is array._cell:
            line[key] = value
            return
        values, _ = assigned_node(value, array._dtype, array._cell.device)
        wanted = line[key].size
        if values.size != 1 and wanted:
            values = _cycled(build.reshape(values, (values.size,)), wanted)
            line[key] = line._fresh(values).reshape(line[key].shape)
        elif wanted:
            line[key] = line._fresh(build.reshape(values, ()))
        if line._cell is not array._cell:
            array.assign(line.reshape(array.shape))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        telemetry.transfer("numpy.asarray", self._array.nbytes, self._array.device)
        return evaluate.read(self[:].settled(), self._array.device).astype(dtype or self._array.dtype, copy=False)

    def copy(self) -> Any:
        """Return a copy of the elements as a 1-d array."""
        return self[:]


def _cycled(line: Node, wanted: int) -> Node:
    """Repeat the elements of a 1-d array to ``wanted`` elements, as NumPy does when it assigns to ``flat``."""
    if line.size >= wanted:
        return build.view(line, contiguous((wanted,)))
    if not line.size:
        raise ValueError("cannot copy from an empty array to the elements of a flat iterator")
    count = build.generate(generators.arange, (0, 1), (wanted,), dtypes.int64)
    return build.gather(line, build.elementwise(ops.remainder, count, line.size))


# -- keys -------------------------------------------------------------------------------------------------------------


def _with_known(key: Any) -> Any:
    """Return a key with integers instead of arrays without axes whose values are known; the key itself if it has none.

    NumPy has scalars where most of these are, and loops use them as indices.
    """
    if type(key) is tuple:
        items = tuple([_with_known(item) for item in key if type(item) is not tuple])
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


def _is_of_scalars(key: Any) -> bool:
    """Return whether a key has slices, ... and integers alone, where results without axes are NumPy's scalars."""
    for item in key if type(key) is tuple else (key,):
        if isinstance(item, StoredArray):
            if item._shape or item._access is not VALUE or item._dtype.kind == "b":
                return False
        elif not indexing.is_basic(item):
            return False
    return True


def _are_basic(key: tuple[Any, ...]) -> bool:
    """Return whether a tuple is a basic key without numbers of NumPy or of this package."""
    for item in key:  # noqa: SIM110  # all() takes twice the time
        if type(item) not in _BASIC:
            return False
    return True


def _host_key(key: Any) -> Any:
    """Return a key with the elements of arrays in host memory as NumPy has them.

    Raises
    ------
    LookupError
        If an array is large, to be computed, or elsewhere, or if the key has a list.
    """
    kind = type(key)
    if kind is tuple:
        return tuple([item if type(item) in _BASIC else _host_key(item) for item in key])
    if isinstance(key, StoredArray):
        host = key.host()
        if host is not None:
            if host.shape:
                return host
            return host.item() if key._access is VALUE else np.asarray(host)  # an array as key makes a copy
    elif kind in _BASIC or isinstance(key, np.integer):
        return key
    elif kind is range and len(key) <= immediacy().limit:
        return np.asarray(key)
    elif (kind is np.ndarray and key.size <= immediacy().limit) or (kind is list and {*map(type, key)} <= {int, bool}):
        return key
    raise LookupError


def _check_few(host: npt.NDArray[Any], key: Any, limit: int) -> None:
    """Raise LookupError if a key of NumPy may select more elements of a large array than are computed at once."""
    items = key if type(key) is tuple else (key,)
    if _BASIC.issuperset(map(type, items)):
        found = host[key]
        if type(found) is _ndarray and found.size > limit:
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


def _is_plain(value: Any) -> bool:
    """Return whether a value of NumPy has real elements and no more than these, as masked arrays have."""
    return value.dtype.kind in "biuf" and (isinstance(value, np.generic) or type(value) is np.ndarray)


#: Types of keys that select views.
_BASIC: Final = frozenset((int, slice, type(None), type(Ellipsis)))


def _is_basic(key: Any) -> bool:
    return all(map(indexing.is_basic, key if isinstance(key, tuple) else (key,)))


def _has_ellipsis(key: Any) -> bool:
    return key is Ellipsis or (isinstance(key, tuple) and any(item is Ellipsis for item in key))


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
    for place, element in enumerate(elements):
        if isinstance(element, _ScalarMask):
            behind = any(item is Ellipsis for item in elements[:place])
            axis = len(shape) - sum(
                c for c, e in zip(consumed[place:], elements[place:], strict=True) if e is not element
            )
            if not behind:
                axis = sum(consumed[:place])
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
    return indexing.Integers(node, *bounds(node, device))


def _mask_node(key: Any) -> Node | None:
    """Return the node of a key that is a single boolean array, of this package or NumPy's."""
    if isinstance(key, tuple) and len(key) == 1:
        key = key[0]
    if isinstance(key, StoredArray):
        return key.node() if key._shape and key._dtype == dtypes.bool_ else None
    if isinstance(key, np.ndarray) and key.shape and key.dtype == np.bool_:
        return build.host_node(key)
    return None
