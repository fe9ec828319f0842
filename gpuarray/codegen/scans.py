"""Kernels of scans (cumulative operations), by the algorithm "reduce, then scan".

Each row is split into enough blocks to occupy the device. The first kernel reduces every block. The second one scans
each block, a tile at a time, starting from the combined results of the blocks before it. This takes two launches and
reads each row twice, but no workgroup waits for another one, so it is correct on every device.

Interleaved rows and short rows are scanned sequentially, one invocation per row; neighbouring invocations then read
neighbouring elements.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from gpuarray.codegen import casts
from gpuarray.codegen.accumulators import identity_literal
from gpuarray.codegen.collectives import Collectives, loaded, stored
from gpuarray.codegen.nested_loops import add_epilogue
from gpuarray.codegen.programs import Launch, Program
from gpuarray.codegen.storage import LANES, Access, register_type, word_dtype
from gpuarray.codegen.wgsl import WORKGROUP, Kernel, combine_expression, scratch_bytes
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import ScanStep

#: Vectors of four elements of a tile per invocation.
VECTORS: Final = 4
TILE: Final = WORKGROUP * LANES * VECTORS
#: Number of blocks that occupy a device: blocks of workgroups, and of single invocations.
BUSY_GROUPS: Final = 1 << 14
BUSY_THREADS: Final = 1 << 17
#: Most blocks of a sequential row, because each invocation combines the blocks before its own, and shortest block.
MOST_BLOCKS: Final = 64
SHORTEST_BLOCK: Final = 64
#: At least this many interleaved rows are scanned sequentially.
INTERLEAVED_ROWS: Final = 32
#: Rows of at most this many elements are scanned sequentially: a workgroup would have almost nothing to do.
SHORT_ROW: Final = 32
#: The binding of a piece of an array begins at a multiple of this many elements, for all dtypes.
PIECE_START: Final = 256


def _binding_elements(step: ScanStep, capabilities: Capabilities) -> int:
    """Return how many elements of a scan's operand and result fit into one storage binding, at any offset."""
    return (capabilities.binding_limit - 512) // max(step.source.itemsize, step.dtype.itemsize) - PIECE_START


class BlockRange(NamedTuple):
    """The blocks of one launch, whose elements fit into one storage binding: ``parts`` of each of ``rows`` rows.

    Attributes
    ----------
    row, part : int
        The first row, and the first block of each.
    first, last : int
        First and last element of the binding.
    """

    row: int
    rows: int
    part: int
    parts: int
    first: int
    last: int


class ScanKernels:
    """Emits the kernels of one scan."""

    def __init__(self, step: ScanStep, label: str, capabilities: Capabilities) -> None:
        self.step = step
        self.label = label
        self.capabilities = capabilities
        self.dtype = step.dtype
        self.kind = register_type(self.dtype)
        self.identity = identity_literal(step.op, self.dtype)
        self.rows = step.before * step.after
        self.is_sequential = step.after >= INTERLEAVED_ROWS or step.length <= SHORT_ROW
        # contiguous rows of whole vectors
        self.wide = step.after == 1 and step.length % LANES == 0 and not self.is_sequential
        # without subgroups a whole tile goes through workgroup memory
        self.vectors = VECTORS if self.dtype.itemsize <= 8 else VECTORS // 2
        unit, busy = (
            (SHORTEST_BLOCK, BUSY_THREADS) if self.is_sequential else (self.vectors * LANES * WORKGROUP, BUSY_GROUPS)
        )
        most = max(1, busy // max(self.rows, 1))
        units = -(-step.length // unit)
        self.block = -(-units // min(most, units, MOST_BLOCKS if self.is_sequential else units)) * unit
        self.binding_elements = _binding_elements(step, capabilities)
        if (
            step.after > self.binding_elements or step.epilogue is not None
        ):  # not split into pieces: it uses several bindings instead
            self.binding_elements = step.before * step.length * step.after
        if step.length * step.after > self.binding_elements:  # a block does not fit into one binding
            reached = max(1, self.binding_elements // step.after)
            self.block = min(self.block, reached // unit * unit or reached)
        self.blocks = -(-step.length // self.block)
        self.pieces = self._pieces()

    def program(self) -> Program:
        """Return the launches: the block sums of every piece, then the scans of every piece."""
        scans = self._sequential_scans if self.is_sequential else self._scans
        if self.blocks == 1:
            return Program(tuple(scans(piece) for piece in self.pieces))
        sums = self._sequential_sums if self.is_sequential else self._sums
        launches = tuple(emit(piece) for emit in (sums, scans) for piece in self.pieces)
        return Program(launches, (scratch_bytes(self.rows * self.blocks, word_dtype(self.dtype)),))

    def _pieces(self) -> list[BlockRange]:
        """Return pieces of several rows each, or if rows are too long, of several blocks of interleaved rows."""
        before, row = self.step.before, self.step.length * self.step.after
        if before * row <= self.binding_elements:
            return [self._piece(0, before, 0, self.blocks)]
        together, parts = self.binding_elements // row, self.binding_elements // (self.block * self.step.after)
        if together:
            starts = range(0, before, together)
            return [self._piece(start, min(together, before - start), 0, self.blocks) for start in starts]
        starts = range(0, self.blocks, parts)
        return [self._piece(n, 1, block, min(parts, self.blocks - block)) for n in range(before) for block in starts]

    def _piece(self, start: int, count: int, block: int, parts: int) -> BlockRange:
        length, after = self.step.length, self.step.after
        first = (start * length + block * self.block) * after
        last = ((start + count - 1) * length + min((block + parts) * self.block, length)) * after - 1
        return BlockRange(start * after, count * after, block, parts, first // PIECE_START * PIECE_START, last)

    # -- one workgroup per block ---------------------------------------------------------------------------------------

    def _sums(self, piece: BlockRange) -> Launch:
        kernel = Kernel(f"{self.label} blocks")
        source = self._source(kernel, piece)
        scratch = self._scratch(kernel, writable=True)
        self._position(kernel, piece)
        lanes = LANES if self.wide else 1
        kernel.line(f"var total: {self.kind} = {self.identity};", f"var n = begin + local * {lanes}u;")
        step = WORKGROUP * lanes
        for count in (VECTORS, 1):  # several loads in flight at a time
            kernel.line(f"for (; n + {(count - 1) * step}u < end; n += {count * step}u) {{")
            values: list[str] = []
            for number in range(count):
                if not self.wide:
                    values.append(self._cast(source.load(f"base + (n + {number * step}u) * step")))
                    continue
                lines, loaded = source.load_wide(f"(base + n) / {LANES}u + {number * WORKGROUP}u", f"loaded{number}")
                kernel.line(*lines)
                values += map(self._cast, loaded)
            kernel.line(*(f"let e{k}: {self.kind} = {value};" for k, value in enumerate(values)))
            kernel.line(f"total = {self._combine('total', self._tree([f'e{k}' for k in range(len(values))]))};", "}")
        self._fold(kernel, "total")
        kernel.line(f"if (local == 0u) {{ {scratch.store('block', stored('total', self.dtype))} }}")
        return kernel.launch(piece.rows * piece.parts, self.capabilities.workgroup_limit)

    def _scans(self, piece: BlockRange) -> Launch:
        kernel = Kernel(f"{self.label} inside")
        source = self._source(kernel, piece)
        finish = self._finish(kernel, piece)
        scratch = self._scratch(kernel, writable=False) if self.blocks > 1 else None
        self._position(kernel, piece)
        kernel.line(f"var carry: {self.kind} = {self.identity};")
        if scratch is not None:
            subtotal = loaded(scratch.load("n"), self.dtype)
            kernel.line(f"for (var n = row * blocks + local; n < block; n += {WORKGROUP}u) {{")
            kernel.line(f"carry = {self._combine('carry', subtotal)};", "}")
            self._fold(kernel, "carry")
        kernel.line("var scans = 0u;", f"for (var start = begin; start < end; start += {self._tile()}u) {{")
        self._scan_tile(kernel, source)
        self._store_tile(kernel, finish)
        kernel.line(f"carry = {self._combine('carry', 'whole')};", "scans++;", "}")
        return kernel.launch(piece.rows * piece.parts, self.capabilities.workgroup_limit)

    def _scan_tile(self, kernel: Kernel, source: Access) -> None:
        """Emit the elements of a tile, the exclusive scan of their vectors, and the sum of the tile."""
        self._tile_values(kernel, source)
        totals = [f"e{four * LANES + LANES - 1}" for four in range(self.vectors)]
        Collectives(kernel, WORKGROUP, self.capabilities).scan(totals, self.dtype, self._combine, self.identity)

    def _finish(self, kernel: Kernel, piece: BlockRange) -> Callable[[str, list[str]], list[str]]:
        """Bind the result; return a function that gives the statements to store four elements from an index on."""
        if self.wide:
            if self.step.epilogue is not None:
                add_epilogue(kernel, self.step.epilogue, 1, lanes=LANES, aligned=True)
                return lambda first, results: [
                    f"if ({first} < end) {{",
                    f"finish(base + {first}, base + {first} + {LANES}u, {', '.join(results)});",
                    "}",
                ]
            target = self._target(kernel, piece)
            return lambda first, results: [
                f"if ({first} < end) {{",
                *target.store_wide(f"(base + {first}) / {LANES}u", results),
                "}",
            ]
        store = self._result_store(kernel, piece)
        return lambda first, results: [
            f"if ({first} + {lane}u < end) {{ {store(f'base + ({first} + {lane}u) * step', result)} }}"
            for lane, result in enumerate(results)
        ]

    def _store_tile(self, kernel: Kernel, finish: Callable[[str, list[str]], list[str]]) -> None:
        """Emit the results of a tile, which continue from ``carry``."""
        for four in range(self.vectors):
            results = []
            kernel.line(f"before{four} = {self._combine('carry', f'before{four}')};")
            for k in range(four * LANES, four * LANES + LANES):
                value = casts.wrap_expression(f"({self._combine(f'before{four}', f'e{k}')})", self.dtype)
                results.append(f"r{k}")
                kernel.line(f"let r{k}: {self.kind} = {value};")
            kernel.line(*finish(f"n{four}", results))

    def _tile(self) -> int:
        return self.vectors * LANES * WORKGROUP

    def _tile_values(self, kernel: Kernel, source: Access) -> None:
        """Emit the elements of a tile and the inclusive scan of each vector of four."""
        for four in range(self.vectors):
            first, k = f"n{four}", four * LANES
            kernel.line(f"let {first} = start + local * {LANES}u + {four * LANES * WORKGROUP}u;")
            kernel.line(*(f"var e{k + lane}: {self.kind} = {self.identity};" for lane in range(LANES)))
            if self.wide:
                lines, values = source.load_wide(f"(base + {first}) / {LANES}u", f"loaded{k}")
                kernel.line(f"if ({first} < end) {{", *lines)
                kernel.line(*(f"e{k + lane} = {self._cast(value)};" for lane, value in enumerate(values)), "}")
                continue
            for lane in range(LANES):
                value = self._cast(source.load(f"base + ({first} + {lane}u) * step"))
                kernel.line(f"if ({first} + {lane}u < end) {{ e{k + lane} = {value}; }}")
        for k in range(self.vectors * LANES):
            if k % LANES:
                kernel.line(f"e{k} = {self._combine(f'e{k - 1}', f'e{k}')};")

    def _position(self, kernel: Kernel, piece: BlockRange) -> None:
        """Emit the row and the block of a workgroup, and the bounds of its elements."""
        parts = kernel.parameter(piece.parts)
        kernel.line(
            "let number = group.x + group.y * groups.x;",
            f"if (number >= {kernel.parameter(piece.rows * piece.parts)}) {{ return; }}",
            f"let row = number / {parts} + {kernel.parameter(piece.row)};",
            f"let part = number % {parts} + {kernel.parameter(piece.part)};",
            f"let blocks = {kernel.parameter(self.blocks)};",
            "let block = row * blocks + part;",
        )
        self._bounds(kernel, piece)

    def _bounds(self, kernel: Kernel, piece: BlockRange) -> None:
        """Emit the bounds of the elements of a block, relative to the binding."""
        kernel.line(
            f"let step = {kernel.parameter(self.step.after)};",
            f"let length = {kernel.parameter(self.step.length)};",
            f"let begin = part * {kernel.parameter(self.block)};",
            f"let end = min(begin + {kernel.parameter(self.block)}, length);",
            f"let base = row / step * length * step + row % step - {kernel.parameter(piece.first)};",
        )

    def _fold(self, kernel: Kernel, name: str) -> None:
        """Emit the reduction of a variable over the workgroup."""
        collectives = Collectives(kernel, WORKGROUP, self.capabilities)
        collectives.reduce({name: self.dtype}, lambda others: f"{name} = {self._combine(name, others[0])};")

    # -- one invocation per block --------------------------------------------------------------------------------------

    def _sequential_sums(self, piece: BlockRange) -> Launch:
        kernel = Kernel(f"{self.label} blocks of columns")
        source = self._source(kernel, piece)
        scratch = self._scratch(kernel, writable=True)
        self._sequential_position(kernel, piece)
        kernel.line(f"var total: {self.kind} = {self.identity};")

        def take(names: list[str], _places: list[str]) -> list[str]:
            return [f"total = {self._combine('total', self._tree(names))};"]

        self._sequential_loop(kernel, source, take)
        kernel.line(scratch.store("part * rows + row", stored("total", self.dtype)))
        return kernel.launch(-(-piece.rows * piece.parts // WORKGROUP), self.capabilities.workgroup_limit)

    def _sequential_scans(self, piece: BlockRange) -> Launch:
        kernel = Kernel(f"{self.label} inside columns")
        source = self._source(kernel, piece)
        store = self._result_store(kernel, piece)
        scratch = self._scratch(kernel, writable=False) if self.blocks > 1 else None
        self._sequential_position(kernel, piece)
        kernel.line(f"var carry: {self.kind} = {self.identity};")
        if scratch is not None:
            kernel.line("for (var n = row; n < part * rows + row; n += rows) {")
            kernel.line(f"carry = {self._combine('carry', loaded(scratch.load('n'), self.dtype))};", "}")

        def take(names: list[str], positions: list[str]) -> list[str]:
            lines = []
            for name, position in zip(names, positions, strict=True):
                value = casts.wrap_expression("carry", self.dtype)
                lines += [f"carry = {self._combine('carry', name)};", store(position, value)]
            return lines

        self._sequential_loop(kernel, source, take)
        return kernel.launch(-(-piece.rows * piece.parts // WORKGROUP), self.capabilities.workgroup_limit)

    def _sequential_loop(
        self, kernel: Kernel, source: Access, take: Callable[[list[str], list[str]], list[str]]
    ) -> None:
        """Emit the loop over a block, with four loads in flight at a time."""
        kernel.line("var n = begin;")
        for count in (LANES, 1):
            kernel.line(f"for (; n + {count - 1}u < end; n += {count}u) {{")
            positions = [f"(base + (n + {lane}u) * step)" for lane in range(count)]
            for lane, position in enumerate(positions):
                kernel.line(f"let e{lane}: {self.kind} = {self._cast(source.load(position))};")
            kernel.line(*take([f"e{lane}" for lane in range(count)], positions), "}")

    def _sequential_position(self, kernel: Kernel, piece: BlockRange) -> None:
        """Emit the row and the block of an invocation, and the bounds of its elements."""
        rows = kernel.parameter(piece.rows)
        kernel.line(
            f"let walker = (group.x + group.y * groups.x) * {WORKGROUP}u + local;",
            f"if (walker >= {kernel.parameter(piece.rows * piece.parts)}) {{ return; }}",
            f"let rows = {kernel.parameter(self.rows)};",
            f"let part = walker / {rows} + {kernel.parameter(piece.part)};",
            f"let row = walker % {rows} + {kernel.parameter(piece.row)};",
        )
        self._bounds(kernel, piece)

    # -- pieces --------------------------------------------------------------------------------------------------------

    def _result_store(self, kernel: Kernel, piece: BlockRange) -> Callable[[str, str], str]:
        """Bind the result, or add the epilogue; return what gives the statement that stores one element."""
        if self.step.epilogue is None:
            return self._target(kernel, piece).store
        add_epilogue(kernel, self.step.epilogue, 1)
        return lambda index, value: f"finish({index}, {value});"

    def _source(self, kernel: Kernel, piece: BlockRange) -> Access:
        size = piece.last - piece.first + 1
        return kernel.array("input", 0, size, self.step.source, first=piece.first, wide=self.wide)

    def _target(self, kernel: Kernel, piece: BlockRange) -> Access:
        size = piece.last - piece.first + 1
        return kernel.array("output", 0, size, self.dtype, first=piece.first, wide=self.wide)

    def _scratch(self, kernel: Kernel, *, writable: bool) -> Access:
        return kernel.scratch(0, self.rows * self.blocks, word_dtype(self.dtype), writable=writable)

    def _cast(self, value: str) -> str:
        """Return an element, cast to the dtype of accumulation."""
        return casts.cast_expression(value, self.step.source, self.dtype)

    def _combine(self, first: str, second: str) -> str:
        combine = self.step.op.combine
        assert combine is not None
        return combine_expression(combine, first, second, self.dtype)

    def _tree(self, values: list[str]) -> str:
        """Return the combination of values, neighbours first."""
        while len(values) > 1:
            odd = values[len(values) // 2 * 2 :]
            values = [self._combine(a, b) for a, b in zip(values[::2], values[1::2], strict=False)] + odd
        return values[0]
