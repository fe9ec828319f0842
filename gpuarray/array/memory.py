"""The parts of an array, and its elements in host memory.

An array is a cell seen through a layout, as one component of complex numbers, or as another dtype. Where the cell has
memory of its own, the elements are also a NumPy view of it.
"""

from operator import attrgetter
from typing import Any, Final, Protocol, Self, TypeVar
from weakref import ref

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.array import cells
from gpuarray.array.cells import AUTO, CPU, UNMADE, Cell, is_cpu, noted
from gpuarray.array.compiled import CompiledOperators
from gpuarray.array.recorded import recorded
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout, Shape, contiguous, is_identity
from gpuarray.graph.memory_order import axes_in_order
from gpuarray.graph.nodes import Generate, Leaf, Map, Node, View
from gpuarray.immediacy import immediacy
from gpuarray.ops import elementwise as ops
from gpuarray.references import owner_count
from gpuarray.runtime import evaluate
from gpuarray.runtime.placement import trials
from gpuarray.settings import recording
from gpuarray.source_locations import USER_FILES, find_origin, frame_at
from gpuarray.unprotected import marked_writeable

READ_ONLY: Final = 0
WRITEABLE: Final = 1
#: Access of a 0-d result of a computation, NumPy's scalar, which in-place operators replace instead of changing.
VALUE: Final = 2

COMPONENTS: Final = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}
_PAIRS: Final = {part: whole for whole, part in COMPONENTS.items()}
ROWS: Final = {"real": ops.real, "imag": ops.imag}
#: Complex numbers seen as their parts side by side, and such parts seen as complex numbers.
REGROUPED: Final = ("parts", "pairs")
#: Stands for memory that an array has not seen yet; it is that of no cell.
NOTHING: Final = object()
#: Arrays of more elements may be mid-sized, for which a device may be worth a trial.
_MIDSIZE: Final = 1 << 14
#: Pending values of more elements may not fit into memory, and are only computed where they are needed as a whole.
_HUGE: Final = 1 << 27
_new: Final = object.__new__
_ndarray: Final = np.ndarray

T = TypeVar("T")


class _OnDemand(Protocol[T]):
    """An attribute that is made when it is first read."""

    def __get__(self, array: Any, kind: Any, /) -> T: ...
    def __set__(self, array: Any, value: T, /) -> None: ...


def _on_demand(name: str) -> Any:
    slot = f"_made_{name}"
    read = attrgetter(slot)

    def find(array: "MemoryArray") -> Any:
        if array._value is not None:
            array._complete()
        return read(array)

    def assign(self: "MemoryArray", value: Any) -> None:
        if self._value is not None:
            self._complete()
        setattr(self, slot, value)

    return property(find, assign)


def _layout() -> Any:
    def find(array: "MemoryArray") -> Layout | None:
        if array._value is not None:
            array._complete()
        try:
            return array._made_layout
        except AttributeError:
            array._made_layout = layout = array._find_layout()
            return layout

    return property(find, lambda self, value: setattr(self, "_made_layout", value))


class MemoryArray(CompiledOperators):
    """The attributes of arrays: how arrays and views are made, and their elements in host memory."""

    __slots__ = (
        "__weakref__",
        "_device",
        "_host",
        "_key",
        "_large",
        "_made_access",
        "_made_cell",
        "_made_dtype",
        "_made_layout",
        "_made_owner",
        "_made_part",
        "_made_shape",
        "_maker",
        "_memory",
        "_source",
        "_value",
    )

    # An attribute _made_x is not set while the array has a value instead; _x is the same, made when it is asked for.
    # They are properties, as a method __getattr__ would slow down all attributes.
    _cell: _OnDemand[Cell] = _on_demand("cell")
    _layout: _OnDemand[Layout | None] = _layout()
    """None where the array is all of its storage, in C order."""
    _owner: _OnDemand[Any] = _on_demand("owner")
    """The array that a view was made of, or its owner; None where the array is no view."""
    _shape: _OnDemand[Shape] = _on_demand("shape")
    _dtype: _OnDemand[DType] = _on_demand("dtype")
    _part: _OnDemand[str | None] = _on_demand("part")
    """"real" or "imag" of a component, "bits" where the storage's dtype is another of the same size; "parts" where
    complex storage is seen as real, and "pairs" where real is seen as complex: the layout then counts what is seen."""
    _access: _OnDemand[int] = _on_demand("access")
    _host: Any
    """The elements as a NumPy array or scalar that shares memory of the cell."""
    _memory: Any
    """The memory that ``_host`` shares, if the elements are so few that operations on them are computed at once.
    ``_host`` is of use while it is the cell's memory."""
    _large: Any
    """The same for a large array, of which only parts are computed at once."""
    _value: Any
    """The result that was computed at once, a NumPy array or scalar, until other attributes are needed; then None. Most
    results are operands of one operation, which needs no more of them."""
    _device: Device
    """The device of this value."""
    _maker: tuple[int, int]
    """The ``id`` of the frame, and the offset of its operator, that made a large value; not set for others."""
    _source: Any
    _key: Any
    """The view ``_host`` is ``_source[_key]``; None if it was made in another way. Not set where there is no owner."""
    _made_access: int
    _made_cell: Cell
    _made_dtype: DType
    _made_layout: Layout | None
    """In views of memory not set until it is first read."""
    _made_owner: Any
    _made_part: str | None
    _made_shape: Shape

    # -- making -------------------------------------------------------------------------------------------------------

    @classmethod
    def _wrap(cls, node: Node, device: Device, layout: Layout | None = None) -> Self:
        """Return an array with new storage and the value ``node``, seen through a permutation if one is given.

        The new result of an operation is in the order of its memory.
        """
        array: Self = _new(cls)
        if layout is None and type(node) is View and (inner := build.shown_result(node)) is not None:
            layout, node = node.layout, inner
        shape = node.shape if layout is None else layout.shape
        array._made_layout = layout
        array._value = None
        array._made_cell = cell = _new(Cell)
        array._memory = array._large = NOTHING
        cell.device = device
        cell.memory = cell.own = None
        cell.node = node
        if recording.origins and node.origin is None:
            frame = frame_at(2)  # as find_origin() does, without a call where a program uses an operator
            code = frame.f_code
            node.origin = (code, frame.f_lasti) if USER_FILES.get(code.co_filename) else find_origin(frame)
        reference = ref(cell)
        if node.holder is None or node.holder() is None:
            node.hold(reference)
        if not shape and node.depth == 2 and type(node) is Map:  # of constants
            cell.node = node = evaluate.folded(node, device)
            node.holder = reference
        depth = node.depth
        if depth:
            noted.append(reference)
            if len(noted) > recorded.limit:
                recorded.clear()
        array._made_owner = array._made_part = None
        array._made_shape = shape
        array._made_dtype = node.dtype
        array._made_access = WRITEABLE if shape else VALUE
        if depth >= recording.counted:
            recorded.bound(cell, depth)
        return array

    def traits(self) -> tuple[Cell, Layout | None, Shape, DType, str | None, int]:
        """Return the cell, layout, shape, dtype, part and access, in the time that one or two of them take."""
        if self._value is not None:
            self._complete()
        try:
            layout = self._made_layout
        except AttributeError:
            layout = self._layout
        return self._made_cell, layout, self._made_shape, self._made_dtype, self._made_part, self._made_access

    def _complete(self) -> None:
        """Give the array of a value the other attributes, and a cell with the value as its memory."""
        with cells.binding:  # another thread may do so
            value = self._value
            if value is None:
                return
            cell = _new(Cell)
            cell.device = self._device
            cell.memory = self._memory = self._host = value
            self._large = NOTHING
            cell.own = UNMADE
            self._made_layout = self._made_owner = self._made_part = None
            self._made_shape = value.shape
            self._made_dtype = value.dtype
            self._made_access = WRITEABLE if type(value) is np.ndarray else VALUE
            self._made_cell = cell
            self._value = None

    def _see_host(self, host: npt.NDArray[Any], memory: Any, source: Any = None, key: Any = None) -> Self:
        """Return an array of a NumPy view of the cell's memory, which can be written to if this one can.

        The array has no value in place of its cell any more. The view may be ``source[key]``.
        """
        array: Self = _new(type(self))
        array._value = None
        array._made_cell = self._made_cell
        owner = self._made_owner
        array._made_owner = self if owner is None else owner
        array._made_shape = host.shape
        array._made_dtype = self._made_dtype
        array._made_part = None
        array._made_access = WRITEABLE if self._made_access else READ_ONLY
        array._host = host
        array._memory, array._large = (memory, NOTHING) if host.size <= immediacy().limit else (NOTHING, memory)
        array._source = source
        array._key = key
        return array

    def _find_layout(self) -> Layout | None:
        """Return the layout of a view that NumPy has made."""
        host, memory = self._host, self._large if self._memory is NOTHING else self._memory
        if not host.size:
            return contiguous(self._shape)
        width = memory.itemsize
        first, start = (array.__array_interface__["data"][0] for array in (host, memory))
        layout = Layout(self._shape, tuple([stride // width for stride in host.strides]), (first - start) // width)
        return None if layout.shape == memory.shape and is_identity(layout, memory.size) else layout

    def host(self) -> Any:
        """Return the elements as NumPy has them, for reading; None if they are many, to be computed, or elsewhere."""
        value = self._value
        if value is not None:
            return value
        if self._memory is self._made_cell.memory:
            return self._host
        memory = self._seen_memory()
        if memory is None or (self._shape and self.size > immediacy().limit):
            return None
        return self._hosted(memory)

    def parts(self) -> Any:
        """Return the elements as :meth:`host` does, however many they are, to read or write few of them."""
        memory = self._seen_memory()
        if memory is None:
            return None
        return self._hosted(memory)

    def is_away(self) -> bool:
        """Return whether the value is elsewhere, or to be computed by a plan, as far as that is known without a try."""
        cell = self._made_cell
        return cell.memory is None and evaluate.is_away(cell.node)

    def _seen_memory(self) -> Any:
        """Return the memory of the cell; None if the value is to be computed, or elsewhere."""
        cell = self._made_cell
        memory = cell.memory
        if memory is not None:
            return memory
        node = cell.node
        if evaluate.is_away(node) or not immediacy().covers(cell.device):
            return None
        if node.depth and type(node) is not Generate and not evaluate.computed_small(node, cell.device):
            return None
        return cell.look()

    def whole_host(self, most: int, beside_gpu: int, *, shared: bool = False) -> npt.NDArray[Any] | None:
        """Return elements for reading; None if they are to be computed, or are many, or the device is not the host.

        The result keeps them as they are while it exists.

        Parameters
        ----------
        most : int
            The most elements.
        beside_gpu : int
            The same where the device ``"auto"`` may be a GPU.
        shared : bool
            Whether the GPU may have them, too.
        """
        cell = self._cell
        is_host = is_cpu(cell.device)
        if self._part is not None or self.size > (most if is_host else beside_gpu if cell.device is AUTO else 0):
            return None
        if config.current.memory_limit:
            return None
        node = cell.node
        leaf = node if type(node) is Leaf else node.result
        value = None if leaf is None or (leaf.buffers and not is_host and not shared) else evaluate.value_of(leaf)
        if value is None:
            return None
        if cell.device is CPU:
            self.parts()  # the compiled functions find them there the next time
        return marked_writeable(value if self._layout is None else evaluate.strided(value, self._layout), leaf)

    def compute_on_host(self) -> bool:
        """Compute the value if it is to be computed by the host and not huge; return whether it was."""
        cell = self._cell
        node = cell.node
        is_pending = node.depth > 0 and node.result is None and type(node) is not Generate
        if not is_pending or node.size > _HUGE or not immediacy().limit or not is_cpu(cell.device):
            return False
        evaluate.evaluate((node,), cell.device)
        return True

    def is_computed(self) -> bool:
        """Return whether the value was computed at once, or has been seen in host memory."""
        return self._value is not None or self._cell.memory is not None

    def has_memory(self) -> bool:
        """Return whether the elements are in memory of the cell, as ``_host`` has them."""
        if self._value is not None:
            self._complete()
        return self.host() is not None

    def claimed(self) -> bool:
        """Make the cell's memory its own, if the elements are few; return whether they can be written to at once."""
        if self._value is not None:
            self._complete()
        return bool(self._access) and self.host() is not None and self._made_cell.claim()

    def _hosted(self, memory: Any) -> Any:
        """Return the elements as a view of the cell's memory, and keep it with this memory."""
        part, layout = self._part, self._layout
        if type(memory) is not np.ndarray and (self._access is not VALUE or layout is not None or part is not None):
            memory = self._cell.as_array(memory)
        host = memory
        if part in REGROUPED:
            host = memory.reshape(-1).view(COMPONENTS[memory.dtype] if part == "parts" else _PAIRS[memory.dtype])
        if layout is not None:
            host = evaluate.strided(host, layout)
        if part in ROWS:
            host = getattr(host, part)
        elif part == "bits":
            host = host.view(self._dtype)
        if not self._access:
            host = host[...]
            host.flags.writeable = False
        is_large = bool(self._shape) and self.size > immediacy().limit
        with cells.binding:  # the view of another thread may be one of memory that the cell had before
            if self._made_cell.memory is memory:
                self._host = host
                self._memory, self._large = (NOTHING, memory) if is_large else (memory, NOTHING)
        return host

    def _see(self, layout: Layout | None, shape: Shape, dtype: DType, part: str | None, access: int) -> Self:
        """Return a view of the cell, which the array has; of a copy of a scalar, which shares memory with nothing."""
        cell, owner = self._made_cell, self._made_owner
        if self._made_access is VALUE:
            cell, owner = self._wrap(cell.node, cell.device)._cell, None
            access = access if shape else VALUE
        array: Self = _new(type(self))
        array._value = None
        array._made_cell = cell
        array._made_owner = self if owner is None else owner
        array._memory = array._large = NOTHING
        array._source = array._key = None
        array._made_layout = layout
        array._made_shape = shape
        array._made_dtype = dtype
        array._made_part = part
        array._made_access = access
        return array

    @property
    def size(self) -> int:
        """Number of elements."""
        if self._value is not None:
            return int(self._value.size)
        size = 1
        for extent in self._made_shape:
            size *= extent
        return size


M = TypeVar("M", bound=MemoryArray)


def of_host(kind: type[M], value: Any, device: Device) -> M:
    """Return an array of a NumPy array or scalar that nothing else refers to, computed at once."""
    array: M = _new(kind)
    view: npt.NDArray[Any] | None = None
    if type(value) is _ndarray:
        if value.ndim > 1 and not value.flags.c_contiguous:
            value, view = _straightened(value)
        if value.size > _MIDSIZE and device.kind != "cpu":
            trials.note_computed(value.size, device is not AUTO)
    array._value = value
    array._device = device
    if view is not None:
        array._complete()
        array._host = view
        array._made_shape = view.shape
        del array._made_layout
    return array


def _straightened(value: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
    """Return memory in C order with the elements of an array, in their order in memory, and the view that shows these.

    It is the array's own memory if the array is a view of it to which nothing else refers, else a copy. Of what is in C
    order but for gaps there is no view.
    """
    axes = axes_in_order((value.strides,))
    if axes is None:
        return value.copy(), None
    ordered = value.transpose(axes)
    base: Any = value.base
    is_whole = type(base) is _ndarray and base.nbytes == value.nbytes and base.dtype is value.dtype
    is_whole = is_whole and bool(ordered.flags.c_contiguous and base.flags.carray and base.flags.owndata)
    if is_whole and owner_count((base,), 0) == 4:  # two views, the variable and the tuple
        return base, value
    memory = ordered.copy()
    return memory, memory.transpose(sorted(range(value.ndim), key=axes.__getitem__))
