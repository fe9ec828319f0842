"""The stream below a generator of random numbers: a key, a counter, and values drawn from them.

Element i of what a call returns is a function of the key, of the counter where the call began, and of i. So nothing is
computed before it is needed, parts can be made anywhere, and the numbers depend neither on the device nor on the order
of evaluation. A call moves the counter on by the blocks it uses; no two calls share a block. Kernels and their
references are rows of :mod:`gpuarray.ops.generators`. Base of :class:`gpuarray.random.Generator`.
"""

import math
import threading
from typing import Any, Self

import numpy as np

from gpuarray import dtypes
from gpuarray.api.arguments import DeviceLike, DTypeLike, checked_shape, wanted_device
from gpuarray.api.random_arguments import Size, checked_out
from gpuarray.array import GpuArray, default_dtype, make
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.graph import build
from gpuarray.ops import generators
from gpuarray.ops.spec import GenerateOp

_WORDS_OF_BLOCK = 4
_MASK = 0xFFFFFFFF


class Stream:
    """A key from a seed, and a counter; safe to use from several threads.

    Parameters
    ----------
    seed_sequence : numpy.random.SeedSequence
        Where the key comes from.
    device : Device or str, optional
        Where arrays are made; without one, on what is the default device at each call.
    """

    def __init__(self, seed_sequence: "np.random.SeedSequence", device: DeviceLike = None) -> None:
        if not isinstance(seed_sequence, np.random.SeedSequence):
            raise TypeError(
                f"a generator is made of a numpy.random.SeedSequence, not of a {type(seed_sequence).__name__}; "
                "use default_rng(seed)"
            )
        self._seeds = seed_sequence
        self._key: tuple[int, ...] = tuple(int(word) for word in seed_sequence.generate_state(2, np.uint32))
        self._block = 0
        self._device = None if device is None else wanted_device(device)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(Philox4x32-10{'' if self._device is None else f', device={self._device.name!r}'})"
        )

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    @property
    def device(self) -> Device | None:
        """Where arrays are made; None if that is the default device."""
        return self._device

    def spawn(self, n_children: int) -> list[Self]:
        """Return independent generators on the same device, as ``numpy.random.Generator.spawn``."""
        with self._lock:
            children = self._seeds.spawn(n_children)
        return [type(self)(child, self._device) for child in children]

    def _place(self) -> Device:
        """Return the device on which to make an array now."""
        return wanted_device(self._device)

    def _draw(
        self, row: GenerateOp, size: Size, dtype: DType, words: int, *parameters: int, device: Device | None = None
    ) -> GpuArray:
        """Return a row's values for ``size`` elements, of which each takes ``words`` words of the stream."""
        shape = checked_shape(() if size is None else size, dtype)
        count = -(-math.prod(shape) * words // _WORDS_OF_BLOCK)
        with self._lock:
            block, self._block = self._block, (self._block + count) & (1 << 64) - 1
        stream = (*self._key, block & _MASK, block >> 32)
        return make(build.generate(row, (*stream, *parameters), shape, dtype), device or self._place())

    def _below(self, limit: int, size: Size, device: Device | None = None) -> GpuArray:
        """Return integers from 0 to ``limit - 1``, as uint32 up to a limit of 2**32, else as uint64."""
        row, halves = generators.random_below, (limit & _MASK, limit >> 32 & _MASK)
        if limit <= 1 << 32:
            return self._draw(row, size, dtypes.uint32, 2, halves[0], 0, device=device)
        return self._draw(row, size, dtypes.uint64, 4, *halves, device=device)

    def _floating(self, row: GenerateOp, size: Size, dtype: DTypeLike, out: Any, name: str) -> tuple[GpuArray, Any]:
        """Return a floating row's values for ``size`` or for ``out``, and ``out`` if it can take them."""
        if out is None:
            kind = default_dtype(float) if dtype is None else dtypes.canonical(dtype)
        else:
            kind, size = checked_out(out, dtype, size)
        if kind not in (dtypes.float32, dtypes.float64):
            raise TypeError(f"Unsupported dtype {kind!r} for {name}; accepted are float32 and float64")
        return self._draw(row, size, kind, 1 if kind == dtypes.float32 else 2), out
