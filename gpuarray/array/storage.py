"""Arrays as storage cells seen through layouts, and writes to the cells.

:class:`~gpuarray.array.GpuArray` adds the public interface.
"""

from typing import Any, NoReturn, Self

from gpuarray.array.cells import joint_device
from gpuarray.array.flags import Flags
from gpuarray.array.memory import NOTHING, READ_ONLY, REGROUPED, ROWS, VALUE, WRITEABLE, MemoryArray
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.errors import ReadOnlyError
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout, Shape, contiguous, inverse, is_identity, is_permutation, reshape
from gpuarray.graph.memory_order import common_order, permuted, seen_back
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.graph.shapes import broadcast_to, resolve_shape
from gpuarray.graph.walk import current
from gpuarray.immediacy import immediacy
from gpuarray.ops import elementwise as ops
from gpuarray.ops.spec import MapOp
from gpuarray.runtime import evaluate


class StoredArray(MemoryArray):
    """A storage cell seen through a layout, as one component of complex numbers, or as another dtype."""

    __slots__ = ()

    # -- attributes --------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """Shape of the array."""
        value = self._value
        return self._made_shape if value is None else value.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        new_shape = resolve_shape(shape, self.size)
        layout = reshape(self._storage_layout(), new_shape)
        if layout is None:
            raise AttributeError(
                f"Incompatible shape for in-place modification: {self._shape} as {new_shape} needs a copy. Use "
                "`.reshape()` to make a copy with the desired shape."
            )
        self._layout = self.view_of(layout)._layout
        self._shape = new_shape
        self._memory = self._large = NOTHING
        self._source = None

    @property
    def dtype(self) -> DType:
        """Data type of the elements, a NumPy dtype."""
        value = self._value
        return self._made_dtype if value is None else value.dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> NoReturn:
        raise AttributeError("cannot set the dtype of a GpuArray; use x = x.view(dtype) or x.astype(dtype)")

    @property
    def device(self) -> Device:
        """Device of the array."""
        return self._made_cell.device if self._value is None else self._device

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Size of one element in bytes."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Size of all elements in bytes."""
        return self.size * self.dtype.itemsize

    @property
    def residency(self) -> tuple[str, ...]:
        """Names of the devices that currently hold the elements, the host (``"cpu"``) first.

        Empty while the value has not been computed. Unlike ``device``, it is not part of the meaning of the array.
        """
        node = current(self._cell.node)
        return evaluate.where(node) if isinstance(node, Leaf) else ()

    @property
    def unit(self) -> int:
        """Size in bytes of the items that the layout counts."""
        return self.itemsize if self._part in REGROUPED else self._cell.node.dtype.itemsize

    @property
    def strides(self) -> Shape:
        """Strides in bytes, as in NumPy."""
        return tuple(s * self.unit for s in self._storage_layout().strides)

    @strides.setter
    def strides(self, strides: Any) -> NoReturn:
        raise AttributeError("cannot set the strides of a GpuArray; x.T, x[::2] and np.broadcast_to return views")

    @property
    def flags(self) -> Flags:
        """Memory layout flags, with NumPy's names as attributes and items. ``writeable`` can be set."""
        return Flags(self)

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Set whether the array can be written to.

        Parameters
        ----------
        write : bool, optional
            The new value.
        align : bool, optional
            Accepted for compatibility with NumPy; elements are always aligned.
        uic : bool, optional
            Accepted for compatibility with NumPy; True is an error.

        Raises
        ------
        ValueError
            If ``write`` is true and several elements share memory or the base is read-only, or if ``uic`` is true.
        """
        if uic:
            raise ValueError("cannot set WRITEBACKIFCOPY flag to True")
        if write is None or bool(write) == bool(self._access):
            return
        layout = self._storage_layout()
        steps = zip(layout.shape, layout.strides, strict=True)
        if write and layout.size and any(extent > 1 and not stride for extent, stride in steps):
            raise ValueError("cannot set WRITEABLE flag to True of this array: several of its elements share memory")
        if write and self._owner is not None and not self._owner._access:
            raise ValueError("cannot set WRITEABLE flag to True of this array: its base is read-only")
        self._access = WRITEABLE if write else READ_ONLY
        self._memory = self._large = NOTHING

    @property
    def base(self) -> "Self | None":
        """The array whose memory this array views; None if it has memory of its own."""
        return self._owner

    # -- value --------------------------------------------------------------------------------------------------------

    def _storage_layout(self) -> Layout:
        layout = self._layout
        return contiguous(self._made_shape) if layout is None else layout

    def node(self) -> Node:
        """Return the node of the current value."""
        if self._value is not None:
            self._complete()
        try:
            layout = self._made_layout
        except AttributeError:
            layout = self._layout
        node = self._made_cell.node
        if self._made_part is None:
            return node if layout is None else build.view(node, layout)
        node = self._stored_in(node)
        return self.elements_of(node if layout is None else build.view(node, layout))

    def stored(self) -> Node:
        """Return the storage as this array's layout counts it: as its parts, or as pairs, where it is seen so."""
        return self._stored_in(self._cell.node)

    def _stored_in(self, node: Node) -> Node:
        """Return a value of the storage as :meth:`stored` does."""
        return _regrouped(node, self._dtype) if self._part in REGROUPED else node

    def elements_of(self, stored: Node) -> Node:
        """Return elements of the storage as this array has them: whole, one component of them, or as another dtype."""
        if self._part is None or self._part in REGROUPED:
            return stored
        if self._part == "bits":
            return build.bitcast(stored, self._dtype)
        return build.elementwise(ROWS[self._part], stored)

    def settled(self) -> Node:
        """Return the node of the value; for a view, with the storage evaluated, so that many views compute it once."""
        stored = self._cell.node
        pending = self._layout is not None and stored.result is None and not isinstance(stored, Leaf)
        if pending and stored.inputs:
            evaluate.evaluate_early([stored], self._cell.device)
        return self.node()

    def axes_in_order(self, order: str) -> tuple[int, ...] | None:
        """Return the axes as memory in an order has them; None if that is C order."""
        ndim = self.ndim
        if order == "K":
            return common_order((self.node(),), ndim) if ndim > 1 else None
        is_fortran = order == "F" or (order == "A" and self.flags.fnc)
        return (*reversed(range(ndim)),) if is_fortran and ndim > 1 else None

    def shows_all(self) -> bool:
        """Return whether the array is a permutation of all of its storage, so that this is computed and read."""
        layout = self._layout
        if layout is None or self._part is not None:
            return False
        return layout.size == self._cell.node.size and is_permutation(layout)

    # -- views --------------------------------------------------------------------------------------------------------

    def view_of(self, layout: Layout, *, writeable: bool = True) -> Self:
        """Return an array that shares this one's storage through another layout."""
        cell, _, _, dtype, part, access = self.traits()
        stored = cell.node
        identity = part not in REGROUPED and layout.shape == stored.shape and is_identity(layout, stored.size)
        access = access and WRITEABLE if writeable else READ_ONLY
        return self._see(None if identity else layout, layout.shape, dtype, part, access)

    # -- writing ------------------------------------------------------------------------------------------------------

    def _fresh(self, node: Node, axes: tuple[int, ...] | None = None) -> Self:
        """Return a writeable array with new storage, on the device of this array; a scalar of a scalar.

        Its memory has the axes in an order, by default in C order.
        """
        if axes is not None:
            layout = seen_back(node.shape, axes)
            array = self._wrap(build.view(node, permuted(node.shape, axes)), self._cell.device, layout)
        else:
            array = self._wrap(node, self._cell.device)
            if array._layout is not None:
                array = self._wrap(array.node(), self._cell.device)  # a view of what is no new result any more
        if node.shape or self._access is not VALUE:
            array._access = WRITEABLE
        return array

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write a value to the elements that a key selects."""
        raise NotImplementedError

    def check_writeable(self) -> None:
        """Raise ReadOnlyError, a ValueError, if the array is a read-only view."""
        if not self._access:
            raise ReadOnlyError("assignment destination is read-only; copy the array first: x = x.copy()")

    def store(self, layout: Layout, values: Node) -> None:
        """Write values of the array's dtype, which broadcast to ``layout``, to that part of the storage."""
        if values.shape != layout.shape:
            values = without_leading_ones(values, layout.shape)
            if values.shape != layout.shape:
                values = build.view(values, broadcast_to(values.shape, layout.shape))
        is_bound = False
        while not is_bound:
            is_bound = self._store(layout, values)

    def _store(self, layout: Layout, values: Node) -> bool:
        """Write as :meth:`store` does; return False if another thread has written meanwhile."""
        cell = self._cell
        before = cell.node
        number = id(before)
        stored = before
        if self._made_part is not None:
            stored = self._stored_in(before)
            values = self.combined(values, build.view(stored, layout))
        if is_identity(layout, stored.size):
            return self._bind(values, number)
        if (whole := inverse(layout, stored.shape)) is not None:
            return self._bind(build.view(values, whole), number)
        if not layout.size:
            return True
        written = build.scatter(stored, values, layout)
        if not self._bind(written, number):
            return False
        if stored.size > layout.size <= immediacy().limit:
            cell.keep_parts(number)
        if self._made_part is None and values.depth < 2:  # deeper ones are still to be computed
            del before, stored  # these references would look like other owners
            evaluate.overwrite(written, layout, values, cell.device)
        return True

    def _bind(self, stored: Node, before: int) -> bool:
        """Make what :meth:`_stored_in` returned, with elements replaced, the storage's value.

        Return False if it is no longer the node with the ``id`` that it was made of.
        """
        cell = self._cell
        node = cell.node
        if self._made_part in REGROUPED:
            stored = _regrouped(stored, node.dtype)
        return cell.bind(build.reshape(stored, node.shape), before)

    def bind_device(self, device: Device) -> None:
        """Bind the storage to the device of the value that was written to it."""
        self._cell.device = joint_device(self._cell.device, device)

    def load_at(self, positions: Node, rows: Node | None) -> Node:
        """Return the elements at flat positions of the storage, maybe of whole rows, as this array has them."""
        return self.elements_of(build.gather(self.stored(), positions, rows))

    def store_at(self, positions: Node, values: Node) -> None:
        """Write values of the array's dtype, which broadcast, to flat positions of the storage."""
        values = without_leading_ones(values, positions.shape)
        if values.shape != positions.shape:
            values = build.view(values, broadcast_to(values.shape, positions.shape))
        is_bound = not values.size
        while not is_bound:
            before = self._cell.node
            stored = self._stored_in(before)
            new = values if self._part is None else self.combined(values, build.gather(stored, positions))
            is_bound = self._bind(build.scatter(stored, new, positions), id(before))

    def combine_at(self, op: MapOp, positions: Node, values: Node) -> None:
        """Apply an operation to elements at flat positions of the storage and values, one after the other."""
        if self._part is None or self._part in REGROUPED:
            is_bound = False
            while not is_bound:
                before = self._cell.node
                combined = build.scatter_combined(op, self._stored_in(before), values, positions)
                is_bound = self._bind(combined, id(before))
            return
        whole = self.elements_of(self.stored())
        self.store_at(positions, build.gather(build.scatter_combined(op, whole, values, positions), positions))

    def combined(self, values: Node, old: Node) -> Node:
        """Return the storage's elements after a write: the values' bits, or the other component of the old ones too."""
        if self._part in REGROUPED:
            return values
        if self._part == "bits":
            return build.bitcast(values, old.dtype)
        if self._part == "real":
            return build.elementwise(ops.complex_from_parts, values, build.elementwise(ops.imag, old))
        return build.elementwise(ops.complex_from_parts, build.elementwise(ops.real, old), values)


def _regrouped(node: Node, dtype: DType) -> Node:
    """Convert complex numbers to a line of their parts, or such a line to complex numbers."""
    if node.dtype.kind != "c":
        line = Layout((node.size // 2,), (2,), 0)
        real, imaginary = build.view(node, line), build.view(node, line._replace(offset=1))
        return build.elementwise(ops.complex_from_parts, real, imaginary)
    column = (node.size, 1)
    parts = [build.reshape(build.elementwise(ROWS[part], node), column) for part in ROWS]
    return build.reshape(build.concat(parts, 1), (2 * node.size,))


def check_order(order: Any, accepted: str) -> str:
    """Return an ``order`` argument as an upper-case letter; None is ``"C"``.

    Raises
    ------
    ValueError
        If it is not an accepted letter, in upper or lower case.
    """
    if order is None:
        return "C"
    if not isinstance(order, str) or order.upper() not in tuple(accepted):
        raise ValueError(f"order must be one of {', '.join(map(repr, accepted))} (got {order!r})")
    return order.upper()


def without_leading_ones(values: Node, shape: Shape) -> Node:
    """Remove leading axes of extent 1 that values may have in addition to the axes of the target of an assignment."""
    extra = len(values.shape) - len(shape)
    if extra > 0 and all(n == 1 for n in values.shape[:extra]):
        return build.reshape(values, values.shape[extra:])
    return values
