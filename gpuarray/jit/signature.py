"""Calls: the signature, which is equal for calls that share a recording, and the values of a single call.

The signature has the dtype, shape, device and layout of arrays, the type of numbers, and the value of everything else.
Nested tuples, lists and dictionaries are traversed.
"""

from collections.abc import Callable, Hashable, Iterator
from itertools import count
from typing import Any, Final
from weakref import ref

import numpy as np

from gpuarray.array import Cell, GpuArray, default_device, from_host
from gpuarray.array.memory import READ_ONLY
from gpuarray.config import config
from gpuarray.functions.random import Generator
from gpuarray.functions.random_bits import Philox
from gpuarray.jit.guards import has_identity
from gpuarray.settings import Config

#: Scalars of which each call has its own value.
NUMBERS: Final = (int, float, complex)
_PLAIN: Final = frozenset((type(None), bool, str, bytes, type, np.dtype, type(Ellipsis), np.bool_))
_CONTAINERS: Final = (tuple, list, dict)
_numbers: Final = count()
_numbers_of_settings: Final[dict[Config, int]] = {}
#: The maximum number of known settings. Settings that were forgotten get a new number and new recordings.
_MOST_SETTINGS: Final = 1024
_last: tuple[Config | None, int] = (None, 0)


def settings_number() -> int:
    """Return a number for the current settings, which is equal for equal settings."""
    global _last
    settings = config.current
    known, number = _last
    if settings is known:
        return number
    if settings not in _numbers_of_settings and len(_numbers_of_settings) >= _MOST_SETTINGS:
        _numbers_of_settings.clear()
    number = _numbers_of_settings.setdefault(settings, next(_numbers))
    _last = settings, number
    return number


class BoundCall:
    """The arguments of a call, divided into the signature and values.

    Attributes
    ----------
    key : list
        The signature, to which :meth:`take` appends.
    arrays : list of GpuArray
        The arrays, in order.
    argument_cells : list of Cell
        Their cells.
    values : list
        Numbers, and streams of random bits.
    statics : list
        Objects that are part of the signature.
    cells : list of Cell
        The external cells of the recording that is replayed, by number.
    registers : list
        The registers of the replay.
    results : dict
        The new arrays of the result that have views, by number.
    """

    __slots__ = ("argument_cells", "arrays", "cells", "key", "registers", "results", "statics", "values")

    def __init__(self) -> None:
        self.key: list[Any] = [settings_number()]
        self.arrays: list[GpuArray] = []
        self.argument_cells: list[Cell] = []
        self.values: list[Any] = []
        self.statics: list[Any] = []
        self.cells: list[Any] = []
        self.registers: list[Any] = []
        self.results: dict[int, GpuArray] = {}

    def take(self, value: Any) -> None:
        """Add an argument, or a part of one."""
        kind = type(value)
        if kind is GpuArray:
            cell, layout, shape, dtype, part, access = value.traits()
            self.key += (kind, shape, dtype, cell.device.name, access)
            if layout is not None or part is not None:
                self.key += (layout, part, cell.node.shape, cell.node.dtype)
            self.arrays.append(value)
            self.argument_cells.append(cell)
        elif kind in NUMBERS:
            self.key.append(kind)
            self.values.append(value)
        elif kind in _PLAIN:
            self.key += ("is", kind, value)
        elif kind in _CONTAINERS:
            self._take_items(value, kind, self.take)
        else:
            self._take_other(value, kind)

    def _take_items(self, value: Any, kind: type, take: Callable[[Any], None]) -> None:
        """Add a container, and its items by a function."""
        self.key += (kind, tuple(value) if kind is dict else len(value))
        for item in value.values() if kind is dict else value:
            take(item)

    def _take_other(self, value: Any, kind: type) -> None:
        if isinstance(value, np.number):
            self.key.append(kind)
            self.values.append(value)
        elif kind is np.ndarray or kind is np.memmap:
            array = from_host(value, default_device())
            array._access = READ_ONLY  # what is written to it would not reach the array that was given
            self.key.append(np.ndarray)
            self.take(array)
        elif kind is Generator:
            self.key += (kind, value.device)
            self.values.append(value.bit_generator)
        elif kind is Philox:
            self.key.append(kind)
            self.values.append(value)
        elif isinstance(value, tuple) and hasattr(value, "_fields"):
            self._take_items(value, kind, self.take)
        elif kind is slice:
            self.take_static((value.start, value.stop, value.step))
        else:
            self.take_static(value)

    def take_static(self, value: Any) -> None:
        """Add an argument whose value is part of the signature.

        Raises
        ------
        TypeError
            If its values cannot be compared.
        """
        kind = type(value)
        if kind in _CONTAINERS:
            self._take_items(value, kind, self.take_static)
            return
        if kind in (float, complex):  # of which 0.0 equals -0.0
            self.key += ("is", kind, repr(value))
            return
        if isinstance(value, GpuArray | np.ndarray) or hasattr(value, "__dlpack__"):
            raise TypeError(
                f"a {kind.__module__}.{kind.__qualname__} cannot be part of the signature of a jit function; do not "
                "name arrays as static, and convert those of other packages with gpuarray.asarray"
            )
        try:
            hash(value)
        except TypeError:
            if not hasattr(value, "__dict__"):
                raise TypeError(
                    f"{value!r} was given to a jit function, and a {kind.__qualname__} has no hash; use arrays, "
                    "numbers, objects with a hash or with attributes, and tuples, lists and dictionaries of these"
                ) from None
            self.key += (kind, id(value))  # as long as it lives: see function.py
            self.statics.append(value)
            return
        self.key += ("is", kind, ref(value) if has_identity(value) else value)
        self.statics.append(value)

    def _arrays(self) -> Iterator[tuple[int, GpuArray]]:
        """Yield the arrays, and the index in the key at which :meth:`take` added each."""
        index = 0
        for array in self.arrays:
            while self.key[index] is not GpuArray or self.key[index + 1] is not array._shape:
                index += 1
            yield index, array
            index += 1

    def without_offsets(self) -> Hashable:
        """Return the key without the offsets of views; None if no array is one."""
        key = self.key[:]
        for index, array in self._arrays():
            if array._layout is not None:
                key[index + 5] = array._layout[:2]
        return None if key == self.key else tuple(key)

    def without_sizes(self) -> Hashable:
        """Return the key without the lengths of axes, and without the layouts of views."""
        key = self.key[:]
        for index, array in self._arrays():
            key[index + 1] = array.ndim
            if array._layout is not None:
                key[index + 5] = len(array._layout.shape)
            if array._layout is not None or array._part is not None:
                key[index + 7] = len(key[index + 7])
        return tuple(key)

    def finished(self) -> Hashable:
        """Return the key, in which arrays that share storage are marked."""
        if len(self.argument_cells) > 1:
            cells = [id(cell) for cell in self.argument_cells]
            if len({*cells}) < len(cells):
                self.key.append(tuple([cells.index(cell) for cell in cells]))
        values = self.values
        if len(values) > 1:
            streams = [id(value) for value in values if type(value) is Philox]
            if len({*streams}) < len(streams):
                self.key.append(tuple([streams.index(stream) for stream in streams]))
        return tuple(self.key)


def rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return an argument or a result in which ``change`` replaced each item, in the order of :meth:`BoundCall.take`."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind([rebuilt(item, change) for item in value])
    if kind is dict:
        return {name: rebuilt(item, change) for name, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*[rebuilt(item, change) for item in value])
    return change(value)
