"""Indexing: reading and writing parts of an array by basic and advanced keys, and through the flat iterator.

Basic keys return views, advanced keys new arrays; :mod:`gpuarray.graph.indexing` interprets keys. A key of integers
only returns a value and not a view, because NumPy returns a scalar.
"""

from operator import setitem
from typing import Any, Final, Self

import numpy as np

from gpuarray.array import cells
from gpuarray.array.cells import AUTO, is_cpu, joint_device
from gpuarray.array.compaction import AT_ONCE, compaction
from gpuarray.array.flat_iterator import FlatIterator
from gpuarray.array.keys import (
    BASIC,
    are_basic,
    check_few,
    has_ellipsis,
    host_key,
    is_basic_key,
    is_of_scalars,
    is_plain,
    known_positions,
    mask_node,
    selected,
    with_known,
)
from gpuarray.array.memory import READ_ONLY, VALUE, WRITEABLE, of_host
from gpuarray.array.operands import WEAK, as_element, assigned_node, check_depth, check_element, joint_device_of
from gpuarray.array.storage import StoredArray, without_leading_ones
from gpuarray.array.views import ViewableArray
from gpuarray.device import Device
from gpuarray.graph import build, indexing
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Node, host_leaf
from gpuarray.graph.shapes import broadcast_to
from gpuarray.graph.walk import current
from gpuarray.immediacy import immediacy, quiet
from gpuarray.ops import elementwise as ops
from gpuarray.runtime import evaluate

_ndarray: Final = np.ndarray
_complex: Final = np.complexfloating


def known_items(values: Any, device: Device) -> list[Any]:
    """Return nested sequences of numbers with arrays as NumPy has them.

    Raises
    ------
    LookupError
        If an item is complex, of another device, to be computed, or something else.
    """
    items: list[Any] = []
    for value in values:
        if type(value) in WEAK:
            item = value
        elif type(value) is list or type(value) is tuple:
            item = known_items(value, device)
        else:
            item = value
            if isinstance(value, StoredArray):
                item = value.host() if value.device is device else None
            if not isinstance(item, np.ndarray | np.generic) or not is_plain(item):
                raise LookupError
            item = item.copy()  # it may be a part of what is written to
        items.append(item)
    return items


class SelectableArray(ViewableArray):
    """An array that can be indexed and assigned to."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Self:
        layout: Layout | None = None
        if limit := immediacy().limit:
            host = memory = self._value
            if host is None:
                cell = self._made_cell
                device = cell.device
                memory = self._memory
                if memory is cell.memory or (memory := self._large) is cell.memory:
                    host = self._host
                else:
                    host = self.parts()
                    if host is None:
                        layout = indexing.part(self._storage_layout(), key)
                        if layout is not None and self._compute_for_parts(layout):
                            host = self.parts()
                    memory = cell.memory
            else:
                device = self._device
            if host is not None:
                kind = type(key)
                is_basic = kind is int or kind is slice
                if kind is tuple:
                    for item in key:
                        if type(item) not in BASIC:
                            break
                    else:
                        is_basic = True
                try:
                    if is_basic:
                        chosen = host[key]
                    else:
                        index = host_key(key, limit)
                        if host.size > limit:
                            check_few(host, index, limit)
                        chosen = host[index]
                except Exception:  # the error is that of a recording
                    pass
                else:
                    if type(chosen) is not _ndarray:
                        return of_host(type(self), chosen, device)
                    if chosen.base is memory:
                        if self._value is not None:
                            self._complete()
                        if self._made_part is None:
                            return self._see_host(chosen, memory, host, key)
                    elif type(host) is not _ndarray:  # a part of a scalar is a copy
                        return of_host(type(self), chosen.copy(), device)
                    elif not is_basic and (type(index) is _ndarray or not is_basic_key(index)):
                        if kind is not type(self) or key.device is not device:
                            device = self._key_device(key)
                        if chosen.base is not None and chosen.flags.c_contiguous:
                            chosen = chosen.copy()
                        return of_host(type(self), chosen, device)
        return self._recorded_item(key, layout)

    def _compute_for_parts(self, layout: Layout) -> bool:
        """Have the value computed on the host or moved to it if a part is of few elements; return whether it was.

        A loop reads one part after the other.
        """
        cell, limit = self._made_cell, immediacy().limit
        if layout.size > limit:
            return False
        return (cell.node.size > limit and self.compute_on_host()) or cell.note_part(is_written=False)

    def _recorded_item(self, key: Any, layout: Layout | None) -> Self:
        """Return a view or a copy of elements, as a layout, if it is known, or by a node."""
        if layout is None:
            layout = indexing.part(self._storage_layout(), key)
        if layout is None and (element := with_known(key)) is not key:
            layout = indexing.part(self._storage_layout(), element)
            if layout is not None and layout.shape and not is_of_scalars(key):  # an array as key makes a copy
                layout = None
        if layout is None:
            whole, device = self._storage_layout(), self._key_device(key)
            known = known_positions(whole, self.stored().size, key, device)
            if known is not None:
                return self._item(key, host_leaf(known), None, device)
            mask = mask_node(key)
            if mask is not None and mask.shape == self._shape:
                return self._wrap(compaction(mask, device).take(self.node()), device)
            selection = self._select(key)
            layout = None if selection.arrays else selection.layout
        if layout is not None:
            if layout.shape or has_ellipsis(key):
                view = self.view_of(layout)
                if view._made_access is VALUE:
                    view._made_access = WRITEABLE
                return view
            cell, part = self._made_cell, self._made_part
            device = cell.device
            value = None if part else evaluate.element(cell.node, layout.offset, device)
            if value is None:
                stored = self.stored() if part else cell.node
                return self._wrap(self.elements_of(build.view(stored, layout)), device)
            return self._wrap(build.constant(value, self._dtype), device)
        size = self.stored().size
        return self._item(key, indexing.positions(selection, size), indexing.rows(selection, size), device)

    def _item(self, key: Any, positions: Node, rows: Node | None, device: Device) -> Self:
        """Return a copy of the elements at flat positions of the storage, maybe of whole rows."""
        item = self._wrap(self.load_at(positions, rows), device)
        if item._shape and is_of_scalars(key):
            item._access = READ_ONLY  # NumPy has a view here, to which the program might write
        return item

    def __setitem__(self, key: Any, value: Any) -> None:
        if immediacy().limit and self._set_at_once(key, value):
            return
        self.check_writeable()
        cell = self._cell
        layout = indexing.part(self._storage_layout(), key)
        if isinstance(value, StoredArray) and value._cell is cell and self._is_itself(key, layout, value):
            return
        if layout is None and (element := with_known(key)) is not key:
            layout = indexing.part(self._storage_layout(), element)
        if layout is not None:
            if not layout.shape and not has_ellipsis(key):
                check_element(value, self._dtype)
            if isinstance(value, np.generic):
                value = as_element(value, self._dtype)
            elif isinstance(value, StoredArray) and value._access is VALUE and (known := value.host()) is not None:
                as_element(known[()], self._dtype)  # raises NumPy's errors of scalars
            values, device = assigned_node(value, self._dtype, cell.device)
            check_depth(value, values, len(layout.shape))
            self.store(layout, values)
            cell.device = device
            return
        values, device = assigned_node(value, self._dtype, self._key_device(key))
        mask = mask_node(key)
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
            self._complete()
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
        elif kind in WEAK or (isinstance(value, np.ndarray | np.generic) and is_plain(value)):
            values = value
        elif kind is not list and kind is not tuple:
            return False
        kind = type(key)
        try:
            if type(value) is list or type(value) is tuple:
                values = known_items(value, device)
            is_plain_key = kind is int or kind is slice or (kind is tuple and are_basic(key))
            host_index = key if is_plain_key else host_key(key, immediacy().limit)
            host = (
                self._host
                if cell.own is not None and self._memory is cell.memory
                else self._claimed_parts(host_index, type(values) is not _ndarray)
            )
            if host is None or (is_complex and host.dtype.kind not in "bc"):
                return False
            if is_view and value._source is host and value._key is key:
                return True  # after x[key] += y
            with cells.binding:  # no thread may make a graph of the memory, or write to it, meanwhile
                is_seen = self._memory is cell.memory or self._large is cell.memory
                if cell.own is None or not is_seen or self._host is not host:
                    return False
                quiet.run(setitem, host, host_index, values)
        except Exception:  # the error is that of a recording
            return False
        if device is not cell.device:
            cell.device = joint_device(cell.device, device)
        return True

    def _claimed_parts(self, key: Any, is_number: bool) -> Any:
        """Return the elements in memory of the cell's own, to write to a few that a key selects.

        None if there are many, if they are to be computed, or elsewhere. A number is also written to many elements,
        unless they are most of the array: nothing is fused with it, but all elements would be copied.

        Raises
        ------
        LookupError
            If there are many.
        """
        cell = self._made_cell
        host = self._host if self._large is cell.memory else self.parts()
        if host is None:  # of a large constant the host has no elements yet
            region = indexing.part(self._storage_layout(), key)
            if region is None or region.size > immediacy().limit:
                return None
        elif self._memory is not cell.memory:
            most = immediacy().limit
            if is_number and is_cpu(cell.device):
                most = max(most, min(AT_ONCE, host.size // 2))
            check_few(host, key, most)
        if cell.own is None:
            return self.parts() if cell.claim() or (cell.note_part(is_written=True) and cell.claim()) else None
        return host

    def positions(self, key: Any) -> Node:
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
            broadcast_to(values.shape, rest)
            return build.elementwise(ops.where, build.reshape(mask, mask.shape + (1,) * len(rest)), values, self.node())
        if rest:
            return None
        selected = compaction(mask, device)
        if selected.count != values.size:
            raise ValueError(
                f"boolean array indexing assignment cannot assign {values.size} input values to the {selected.count} "
                "output values where the mask is true"
            )
        return selected.put(self.node(), values)

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

    def _key_device(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        return joint_device_of((self, *[item for item in items if isinstance(item, StoredArray)]))

    def _select(self, key: Any) -> indexing.Selection:
        return selected(self._storage_layout(), key if isinstance(key, tuple) else (key,), self._key_device(key))

    @property
    def flat(self) -> FlatIterator:
        """Iterator over the elements in C order, which can also be indexed and assigned to."""
        return FlatIterator(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        FlatIterator(self)[:] = value
