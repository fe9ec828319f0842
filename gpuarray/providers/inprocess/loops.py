"""Running loops tile by tile.

A prepared loop is a list of :class:`TiledLoop`: one, unless its rows do not fit a tile (see :mod:`.stages`). Each calls
the two functions that :mod:`.program` wrote for it, ``uniform`` once a run and ``body`` once a tile, on views of the
buffers and on scratch memory that stays in a core's cache. Invariant: the tiles depend on the loop alone, so results do
not depend on the number of threads. The provider makes :class:`PreparedLoop` objects and runs them.
"""

from collections.abc import Iterator, Sequence
from math import prod
from operator import is_
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray.fusion.steps import FULL, Fold, Loop, Store, needed
from gpuarray.graph.layouts import Shape
from gpuarray.graph.moving import at_values
from gpuarray.providers.inprocess import reductions, tiles
from gpuarray.providers.inprocess.buffers import ALIGNMENT, Memory
from gpuarray.providers.inprocess.program import Program, write
from gpuarray.providers.inprocess.stages import phases, stages
from gpuarray.providers.inprocess.tiles import Tiling
from gpuarray.providers.inprocess.views import Register, StridedView
from gpuarray.providers.inprocess.workers import Arena, ChunkTiming, WorkerPool

#: Elements of the longest row that a loop with several phases holds whole.
ROW_LIMIT: Final = 1 << 17

#: Scratch arrays are kept for this many pairs of arena and tile shape.
_BOUND_MOST: Final = 32

Array = npt.NDArray[Any]


class TiledLoop:
    """A loop with its tiling and its program."""

    def __init__(self, loop: Loop, tiling: Tiling) -> None:
        self.loop = loop
        self.tiling = tiling
        self.program: Program = write(loop, tiling)
        self._scratch: dict[tuple[int, Shape], list[Array]] = {}
        self._only = tiling.tile(0) if tiling.tiles == 1 else None
        self._timing = ChunkTiming(self.program.calls)
        self._finished = self._finishing()
        self._last: tuple[Sequence[Any], list[Array]] = (None,), []

    def run(
        self, inputs: Sequence[Memory], outputs: Sequence[Memory], scalars: Sequence[Any], workers: WorkerPool
    ) -> None:
        """Compute the loop from and into flat memory."""
        program = self.program
        whole = [_view(v, inputs, outputs, scalars) for v in program.whole]
        uniforms = self._uniforms_of(scalars, whole)
        if not self.tiling.tiles:
            return
        fixed = [*uniforms, *whole]
        views = [_view(v, inputs, outputs, scalars) for v in program.views]
        parts = [reductions.make_states(fold, self.tiling) for fold in program.parts.values()]
        if self._only is not None:
            arena = workers.borrow_arena()
            try:
                program.body(self._only, *fixed, *views, *parts, *self._bind(arena, self._only.shape))
            finally:
                workers.return_arena(arena)
        else:
            self._run_tiles(fixed, views, parts, workers)
        if parts:
            self._finish(parts, outputs, scalars)

    def _uniforms_of(self, scalars: Sequence[Any], whole: list[Array]) -> list[Array]:
        """Return the scalars, and what follows from them for all tiles, as arrays, anew if the last run had others.

        Most runs of a recorded function have the same objects as scalars, which takes less time to see than their bits.
        """
        program = self.program
        before, uniforms = self._last
        if len(before) == len(scalars) and all(map(is_, before, scalars)) and not whole:
            return uniforms
        uniforms = [
            np.empty((), dtype) if slot < 0 else np.array(scalars[slot], dtype) for dtype, slot in program.uniforms
        ]
        if program.uniform is not None:
            program.uniform(*uniforms, *whole)
        if not whole:
            self._last = (*scalars,), uniforms
        return uniforms

    def _run_tiles(self, fixed: list[Array], views: list[Array], parts: list[Any], workers: WorkerPool) -> None:
        body, tile_of, bind = self.program.body, self.tiling.tile, self._bind
        by_row = [v.by_row for v in self.program.views]
        cut = list(zip(views, by_row, strict=True))

        def work(numbers: Iterator[int]) -> None:
            arena = workers.borrow_arena()
            try:
                for number in numbers:
                    at = tile_of(number)
                    full, rows = at.full, at.rows
                    pieces = [view[rows] if is_by_row else view[full] for view, is_by_row in cut]
                    body(at, *fixed, *pieces, *parts, *bind(arena, at.shape))
            finally:
                workers.return_arena(arena)

        workers.run(self.tiling.tiles, work, self._timing)

    def _bind(self, arena: Arena, shape: Shape) -> list[Array]:
        """Return the scratch arrays for tiles of ``shape`` in the memory of ``arena``."""
        arrays = self._scratch.get((arena.number, shape))
        if arrays is not None:
            return arrays
        full, rows = prod(shape), self.tiling.row_shape(shape)
        sizes = [-(-width * full // ALIGNMENT) * ALIGNMENT for width in self.program.full_slots]
        sizes += [-(-width * prod(rows) // ALIGNMENT) * ALIGNMENT for width in self.program.row_slots]
        number = arena.reserve(sum(sizes))
        starts = np.cumsum([0, *sizes]).tolist()
        bound = [self._register(r, shape, rows, starts, arena.memory) for r in self.program.registers]
        if len(self._scratch) >= _BOUND_MOST:
            self._scratch.clear()
        self._scratch[number, shape] = bound
        return bound

    def _register(self, register: Register, shape: Shape, rows: Shape, starts: list[int], memory: Memory) -> Array:
        if register.level == FULL:
            return np.ndarray(register.shape(shape), register.dtype, memory, starts[register.slot])
        return np.ndarray(rows, register.dtype, memory, starts[len(self.program.full_slots) + register.slot])

    def _finishing(self) -> list[tuple[int, Fold, StridedView]]:
        """Return the stores of folds of partial results: the number among such folds, the fold, and the view."""
        parts = list(self.program.parts.items())
        numbers = {number: k for k, (number, _) in enumerate(parts)}
        stores = [(numbers[store.value], store) for store in self.loop.stores if store.value in numbers]
        return [(k, parts[k][1], self._output(store)) for k, store in stores]

    def _output(self, store: Store) -> StridedView:
        return StridedView.of(store.slot, True, store.layout, store.dtype, self.tiling, len(self.loop.outer))

    def _finish(self, parts: list[Any], outputs: Sequence[Memory], scalars: Sequence[Any]) -> None:
        for number, fold, view in self._finished:
            result = reductions.merge(fold, parts[number])
            np.copyto(_view(view, (), outputs, scalars), result, casting="unsafe")


def _view(view: StridedView, inputs: Sequence[Memory], outputs: Sequence[Memory], scalars: Sequence[Any]) -> Array:
    slot, is_output, dtype, shape, strides, offset, _ = view
    if type(offset) is not int:
        offset = at_values(offset, scalars)
    return np.ndarray(shape, dtype, outputs[slot] if is_output else inputs[slot], offset, strides)


class PreparedLoop:
    """A loop as its stages."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.results: tuple[int, ...] = ()
        used = needed(loop.instructions, loop.wanted)
        if used.isdisjoint(loop.folds):
            self.stages = [TiledLoop(loop, tiles.tile_elements(loop))]
            return
        tiling = tiles.tile_rows(loop, ROW_LIMIT if _uses_folds(loop) else 0)
        if tiling is not None:
            self.stages = [TiledLoop(loop, tiling)]
        else:
            cut = stages(loop)
            self.results = tuple(dtype.itemsize * loop.rows for dtype in cut.results)
            self.stages = [TiledLoop(stage, tiles.tile_elements(stage)) for stage in cut.loops]

    def run(
        self, inputs: Sequence[Memory], outputs: Sequence[Memory], scalars: Sequence[Any], workers: WorkerPool
    ) -> None:
        """Compute the loop from and into flat memory."""
        if self.results:
            between = [np.empty(nbytes, np.uint8) for nbytes in self.results]
            inputs, outputs = [*inputs, *between], [*outputs, *between]
        for stage in self.stages:
            stage.run(inputs, outputs, scalars, workers)

    def describe(self) -> str:
        """Return the text of the functions that are called."""
        return "\n".join(_describe(stage) for stage in self.stages)


def _uses_folds(loop: Loop) -> bool:
    """Whether elements depend on a fold of their row."""
    return any(when and item.level == FULL for when, item in zip(phases(loop), loop.instructions, strict=True))


def _describe(stage: TiledLoop) -> str:
    tiling = stage.tiling
    space = " x ".join(map(str, tiling.extents)) or "1"
    block = " x ".join(map(str, tiling.block)) or "1"
    return f"# {space} elements in {tiling.tiles} tiles of {block}\n{stage.program.text}"
