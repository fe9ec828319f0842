"""The flat iterator, ``x.flat``: iteration, indexing and assignment in C order."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.array.memory import VALUE
from gpuarray.array.operands import WEAK, assigned_node
from gpuarray.graph import build
from gpuarray.graph.layouts import contiguous
from gpuarray.graph.nodes import Node
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators
from gpuarray.runtime import evaluate, telemetry


class FlatIterator:
    """Iterator over the elements of an array in C order, as returned by ``x.flat``."""

    __slots__ = ("_array", "_line", "index")

    def __init__(self, array: Any) -> None:
        self._array = array
        self.index = 0
        line = array.reshape(-1)
        #: The elements as a view of the array along one axis; None if there is none.
        self._line = line if line.base is not None else None

    @property
    def base(self) -> Any:
        """The array that is iterated over."""
        return self._array

    def __len__(self) -> int:
        return int(self._array.size)

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
        element = self._array[self.coords] if self._line is None else self._line[self.index]
        self.index += 1
        return element

    def __getitem__(self, key: Any) -> Any:
        _check_key(key)
        line = self._array.reshape(-1)
        return line._fresh(line[key].node()) if not isinstance(key, int | np.integer) else line[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        array = self._array
        array.check_writeable()
        _check_key(key)
        line = array.reshape(-1)
        if type(value) in WEAK and line._cell is array._cell:
            line[key] = value
            return
        values, _ = assigned_node(value, array._dtype, array._cell.device)
        part = line[key]
        if values.shape and part._access is VALUE:
            raise ValueError("an element is set to a number, not to an array or a sequence")
        if not part.size or not values.size:
            return
        if values.size != 1:
            values = _cycled(build.reshape(values, (values.size,)), part.size)
            line[key] = line._fresh(values).reshape(part.shape)
        else:
            line[key] = line._fresh(build.reshape(values, ()))
        if line._cell is not array._cell:
            array[...] = line.reshape(array.shape)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        telemetry.transfer("numpy.asarray", self._array.nbytes, self._array.device)
        return evaluate.read(self[:].settled(), self._array.device).astype(dtype or self._array.dtype, copy=False)

    def copy(self) -> Any:
        """Return a copy of the elements as a 1-d array."""
        return self[:]


def _check_key(key: Any) -> None:
    if key is None or (isinstance(key, tuple) and any(item is None for item in key)):
        raise IndexError("only integers, slices, ellipsis and arrays of integers or booleans index a flat iterator")


def _cycled(line: Node, total: int) -> Node:
    """Repeat the elements of a 1-d array to ``total`` elements, as NumPy does when it assigns to ``flat``."""
    if line.size >= total:
        return build.view(line, contiguous((total,)))
    count = build.generate(generators.arange, (0, 1), (total,), dtypes.int64)
    return build.gather(line, build.elementwise(ops.remainder, count, line.size))
