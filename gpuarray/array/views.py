"""Views of arrays: other shapes, other orders of axes, and the parts of complex elements."""

from typing import Any, Self, cast

import numpy as np

from gpuarray.array import compiled
from gpuarray.array.memory import COMPONENTS, READ_ONLY, REGROUPED, WRITEABLE, of_host
from gpuarray.array.storage import StoredArray, check_order
from gpuarray.dtypes import DType
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout, Shape, broadcast_layout, permute, reshape
from gpuarray.graph.shapes import broadcast_to, listed, normalize_axis, resolve_shape
from gpuarray.immediacy import immediacy


class ViewableArray(StoredArray):
    """An array with the views that NumPy's arrays have; those by keys are in :mod:`gpuarray.array.selection`."""

    __slots__ = ()

    @property
    def T(self) -> Self:  # noqa: N802  # NumPy's name
        """View with reversed axes."""
        return self.transpose()

    @property
    def mT(self) -> Self:  # noqa: N802  # the standard's name
        """View with the last two axes exchanged.

        Raises
        ------
        ValueError
            If there are fewer than two axes.
        """
        if self.ndim < 2:
            raise ValueError(f"matrix transpose with ndim < 2 is undefined; the array has {self.ndim}")
        return self.transpose(*range(self.ndim - 2), self.ndim - 1, self.ndim - 2)

    @property
    def real(self) -> Self:
        """Real part: a view of a complex array, or the array itself."""
        return self._component("real")

    @real.setter
    def real(self, value: Any) -> None:
        self._component("real")[...] = value

    @property
    def imag(self) -> Self:
        """Imaginary part: a view of a complex array, or read-only zeros."""
        if self._dtype.kind != "c":
            device = self.device
            if immediacy().covers(device) and self.size <= immediacy().limit:
                zeros = of_host(type(self), np.zeros(self._shape, self._dtype), device)
            else:
                zeros = self._wrap(build.full(self._shape, 0, self._dtype), device)
            zeros._access = READ_ONLY
            return zeros
        return self._component("imag")

    @imag.setter
    def imag(self, value: Any) -> None:
        if self._dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self._component("imag")[...] = value

    def _component(self, part: str) -> Self:
        if self._dtype.kind != "c":
            return self
        dtype = COMPONENTS[self._dtype]
        if self._part == "pairs":
            apart = _apart(self._storage_layout())
            layout = apart._replace(offset=apart.offset + (part == "imag"))
            return self._see(layout, self._shape, dtype, None, self._access)
        view = self._see(self._layout, self._shape, dtype, part, self._access)
        if self._memory is view._made_cell.memory:
            view._host, view._memory = getattr(self._host, part), self._memory
        return view

    def regrouped(self, dtype: DType) -> Self | None:
        """Return complex numbers as pairs of their parts, or pairs as complex numbers; None if that is not possible.

        The last axis, whose extent changes, has to be without gaps.
        """
        layout, stored = self._storage_layout(), self._cell.node
        if self._part not in (None, *REGROUPED) or not layout.shape or (layout.strides[-1] != 1 < layout.shape[-1]):
            return None
        # not dict.get, because NumPy's float64 compares equal to None
        if self._dtype in COMPONENTS and COMPONENTS[self._dtype] == dtype:
            apart = _apart(layout)
            joined = Layout((*apart.shape[:-1], 2 * apart.shape[-1]), (*apart.strides[:-1], 1), apart.offset)
        elif dtype in COMPONENTS and COMPONENTS[dtype] == self._dtype:
            rest, last = layout.strides[:-1], layout.shape[-1]
            odd = any(n % 2 for n in (*rest, last, layout.offset))
            if odd or (stored.size % 2 and stored.dtype == self._dtype):
                return None
            joined = Layout((*layout.shape[:-1], last // 2), (*(n // 2 for n in rest), 1), layout.offset // 2)
        else:
            return None
        part = None if dtype == stored.dtype else "parts" if stored.dtype.kind == "c" else "pairs"
        return self._see(joined, joined.shape, dtype, part, self._access and WRITEABLE)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Self:
        """Return the elements with another shape: a view if strides allow, otherwise a copy.

        Parameters
        ----------
        *shape : int or tuple of int
            New extents; one may be -1.
        order : {"C", "F", "A"}
            Order in which elements are read and placed.
        copy : bool, optional
            True always copies, False never does.

        Raises
        ------
        ValueError
            If the sizes differ, or ``copy=False`` and a view is not possible.
        """
        is_plain = order == "C" and copy is None
        if is_plain and (view := compiled.view(self, "reshape", shape)) is not None:
            return cast(Self, view)
        if is_plain and immediacy().limit and self._part is None and self._shape:
            view = self._reshaped_at_once(shape)
            if view is not None:
                return view
        order = check_order(order, "CFA")
        new_shape = resolve_shape(_unpacked(shape), self.size)
        if order == "F" or (order == "A" and self.flags.f_contiguous and not self.flags.c_contiguous):
            return self.transpose().reshape(tuple(reversed(new_shape)), copy=copy).transpose()
        layout = None if copy else reshape(self._storage_layout(), new_shape)
        if layout is not None:
            return self.view_of(layout)
        if copy is False:
            raise ValueError(f"cannot reshape {self._shape} to {new_shape} without a copy; omit copy=False")
        return self._fresh(build.reshape(self.node(), new_shape))

    def _reshaped_at_once(self, shape: tuple[Any, ...]) -> Self | None:
        """Return the elements in host memory with another shape; None if that is recorded instead."""
        if not self.has_memory():
            return None
        memory, host = self._memory, self._host
        try:
            view = host.reshape(*shape)
        except (TypeError, ValueError):
            return None
        if view.base is memory:
            return self._see_host(view, memory)
        if not view.size or np.may_share_memory(view, host):
            return None
        return of_host(type(self), view.copy(), self._cell.device)

    def transpose(self, *axes: Any) -> Self:
        """Return a view with permuted axes, or with reversed axes if no order is given.

        Raises
        ------
        ValueError
            If the arguments are not a permutation of the axes.
        """
        if (seen := compiled.view(self, "transpose", axes)) is not None:
            return cast(Self, seen)
        if immediacy().limit and self._part is None and self._shape and self.has_memory():
            memory, host = self._memory, self._host
            try:
                view = host.transpose(*axes)
            except (TypeError, ValueError):
                pass
            else:
                if view.base is memory:  # another thread may have replaced one of them
                    return self._see_host(view, memory)
        order = _unpacked(axes) if axes else None
        if order is None:
            numbers = list(reversed(range(self.ndim)))
        else:
            numbers = [normalize_axis(a, self.ndim) for a in listed(order)]
            if sorted(numbers) != list(range(self.ndim)):
                raise ValueError(f"axes don't match array: {order!r} is not a permutation of {self.ndim} axes")
        return self.view_of(permute(self._storage_layout(), numbers))

    def broadcast(self, shape: Shape) -> Self:
        """Return a read-only view broadcast to ``shape``."""
        broadcast_to(self._shape, shape)
        return self.view_of(broadcast_layout(self._storage_layout(), shape), writeable=False)


def _apart(layout: Layout) -> Layout:
    """Return the layout of the real parts among the parts of complex elements."""
    return Layout(layout.shape, tuple(2 * n for n in layout.strides), 2 * layout.offset)


def _unpacked(arguments: tuple[Any, ...]) -> Any:
    """Return the tuple of ``f(2, 3)`` or ``f((2, 3))``."""
    if len(arguments) == 1 and not isinstance(arguments[0], int | np.integer):
        return arguments[0]
    return arguments
