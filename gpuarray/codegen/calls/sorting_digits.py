"""Sort of long rows: a least-significant-digit radix sort with digits of eight bits.

Each pass puts the elements in the stable order of one digit, in three launches, in none of which a workgroup waits
for another. Rows are split into blocks, and blocks into tiles.

1. *count*: how often each digit occurs in each block;
2. *carry*: for each row and digit, how often it occurs in the blocks before each block, and in all;
3. *move*: each block goes through its tiles, puts a tile in order in workgroup memory, and writes it; elements of one
   digit then lie side by side, so that writes are too.

A row that is no longer than a tile goes through all digits in one launch, and stays in workgroup memory in between.
"""

from dataclasses import dataclass
from typing import Final

from gpuarray import dtypes
from gpuarray.codegen.calls.sorting_keys import bind_array, bind_scratch, key_functions, word_type
from gpuarray.codegen.calls.sorting_tiles import BITS, DIGITS, SortingTile, longest_tile
from gpuarray.codegen.programs import Launch, Program
from gpuarray.codegen.storage import Access, word_count
from gpuarray.codegen.wgsl import WORKGROUP, Kernel, scratch_bytes
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType

#: Elements that an invocation counts at once.
COUNTED: Final = 8
#: Blocks that keep a large device busy to the end; more would only add counts.
_BLOCKS: Final = 8192
#: Counts that one invocation carries at a time.
_CARRIED: Final = 4

COUNTS, TOTALS, _EVEN, _ODD, _PLACES = range(5)  # numbers of scratch buffers
_PARTS: Final = "xyzw"
#: The inclusive scan of ``total`` in ``sums``, over ``width`` lanes.
_SCAN: Final = (
    "sums[local] = total;",
    "workgroupBarrier();",
    "for (var reach = 1u; reach < width; reach <<= 1u) {",
    "var left = 0u;",
    "if (lane >= reach) { left = sums[local - reach]; }",
    "workgroupBarrier();",
    "sums[local] += left;",
    "workgroupBarrier();",
    "}",
)


@dataclass(frozen=True, slots=True)
class BufferRef:
    """Where the values or positions of a pass lie: kind and number of the buffer, and the dtype there."""

    kind: str
    slot: int
    dtype: DType

    def bind(self, kernel: Kernel, size: int, name: str, *, writable: bool) -> Access:
        """Bind the buffer under a name that does not depend on it, so that all passes have one text."""
        if self.kind == "scratch":
            return bind_scratch(kernel, self.slot, size, self.dtype, writable=writable, name=name)
        return bind_array(kernel, self.kind, self.slot, size, self.dtype, writable=writable, name=name)


@dataclass(frozen=True, slots=True)
class DigitPass:
    """One pass: its digit, and where values and positions move. Without a source, positions are indices."""

    digit: int
    values: BufferRef
    positions: BufferRef | None
    new_values: BufferRef | None
    new_positions: BufferRef | None


def _elements(length: int, capabilities: Capabilities) -> int:
    """Return how many elements of a tile an invocation has: as many as fit, or as a row needs."""
    most, needed = longest_tile(capabilities) // WORKGROUP, -(-length // WORKGROUP)
    return min(most, 1 << (needed - 1).bit_length())


class DigitSort:
    """Emits the kernels that sort ``rows`` rows of ``length`` elements, or that give the positions that do."""

    def __init__(
        self,
        label: str,
        dtype: DType,
        rows: int,
        length: int,
        capabilities: Capabilities,
        *,
        descending: bool,
        positions: bool,
    ) -> None:
        self.label = label
        self.dtype = dtype
        self.rows, self.length = rows, length
        self.size = rows * length
        self.limit = capabilities.workgroup_limit
        self.flip = 0xFFFFFFFF if descending else 0
        self.positions = positions
        self.words = word_count(dtype)
        self.tile = SortingTile(_elements(length, capabilities), capabilities)
        tiles = -(-length // self.tile.size)
        self.span = min(tiles, -(-rows * tiles // _BLOCKS)) * self.tile.size
        self.blocks = -(-length // self.span)
        # small values take a word each while they move, so that plain stores write them
        self.moved = dtype if dtype.itemsize >= 4 else dtypes.uint32
        self.kind = word_type(dtype)
        #: Lines of counts of a row: one for each digit, and those of :meth:`_count_more`.
        self.lines = DIGITS

    def program(self) -> Program:
        """Return the launches."""
        if self.length <= self.tile.size:
            return Program((self._whole(),))
        launches: list[Launch] = []
        for step in self._passes():
            launches += self.pass_launches(step)
        counts, values = self.rows * self.lines * self.blocks, self.size if self.dtype.itemsize > 1 else 0
        scratch = [
            scratch_bytes(counts, dtypes.uint32),
            scratch_bytes(self.rows * self.lines, dtypes.uint32),
            scratch_bytes(values, self.moved),
        ]
        if self.positions:
            scratch += [
                scratch_bytes(values if self.dtype.itemsize > 2 else 0, self.moved),
                scratch_bytes(values, dtypes.uint32),
            ]
        return Program(tuple(launches), tuple(scratch))

    def _passes(self) -> list[DigitPass]:
        """Return the passes: values and positions move between two buffers each, and end in the output."""
        last = self.dtype.itemsize - 1
        passes = []
        values = BufferRef("input", 0, self.dtype)
        positions: BufferRef | None = None
        for digit in range(last + 1):
            new_values: BufferRef | None
            new_positions: BufferRef | None = None
            if self.positions:
                # until the last pass, the output's memory holds positions of 32 bits
                new_positions = (BufferRef("scratch", _PLACES, dtypes.uint32), BufferRef("output", 0, dtypes.uint32))[
                    digit % 2
                ]
                new_values = BufferRef("scratch", (_EVEN, _ODD)[digit % 2], self.moved)
                if digit == last:
                    new_values, new_positions = None, BufferRef("output", 0, dtypes.int64)
            elif digit == last:
                new_values = BufferRef("output", 0, self.dtype)
            elif (last - digit) % 2:
                new_values = BufferRef("scratch", _EVEN, self.moved)
            else:
                new_values = BufferRef("output", 0, self.moved)
            passes.append(DigitPass(digit, values, positions, new_values, new_positions))
            if new_values is not None:
                values, positions = new_values, new_positions
        return passes

    def pass_launches(self, step: DigitPass) -> tuple[Launch, ...]:
        """Return the launches of one pass."""
        return self._count(step), self._carry(), self._move(step)

    # -- kernels -------------------------------------------------------------------------------------------------------

    def _count(self, step: DigitPass) -> Launch:
        kernel = Kernel(f"{self.label} count")
        values = step.values.bind(kernel, self.size, "values", writable=False)
        counts = self._counts(kernel, writable=True)
        digit = self._digit_function(kernel, step.digit)
        kernel.module.append(f"var<workgroup> digit_counts: array<atomic<u32>, {self.lines}>;")
        blocks = self._position(kernel)
        kernel.line(
            # some drivers leave there what the workgroup before wrote
            f"for (var n = local; n < {self.lines}u; n += {WORKGROUP}u) {{ atomicStore(&digit_counts[n], 0u); }}",
            "workgroupBarrier();",
            f"for (var first = begin + local; first < end; first += {WORKGROUP * COUNTED}u) {{",
        )
        for k in range(COUNTED):  # several at once, so that they are waited for together
            at = f"first + {WORKGROUP * k}u"
            value = self._loaded(values, f"row_start + {at}")
            kernel.line(f"var v{k}: {self.kind};", f"if ({at} < end) {{ v{k} = {value}; }}")
        for k in range(COUNTED):
            kernel.line(
                f"if (first + {WORKGROUP * k}u < end) {{ atomicAdd(&digit_counts[digit_of(v{k}, {digit})], 1u); }}"
            )
        self._count_more(kernel, values)
        kernel.line(
            "}",
            "workgroupBarrier();",
            f"for (var n = local; n < {self.lines}u; n += {WORKGROUP}u) {{",
            counts.store(f"(row * {self.lines}u + n) * {blocks} + part", "atomicLoad(&digit_counts[n])"),
            "}",
        )
        return kernel.launch(self.rows * self.blocks, self.limit)

    def _count_more(self, kernel: Kernel, values: Access) -> None:
        """Emit further counts of the values from ``first`` on, kept in ``digit_counts`` behind those of the digits."""

    def _carry(self) -> Launch:
        """Return the launch that scans each line of counts: those of one row and digit."""
        kernel = Kernel("sort carry")
        counts = self._counts(kernel, writable=True)
        lines = self.rows * self.lines
        totals = bind_scratch(kernel, TOTALS, lines, dtypes.uint32, writable=True)
        abreast = min(WORKGROUP, 1 << (-(-self.blocks // _CARRIED) - 1).bit_length())
        groups = -(-lines * abreast // WORKGROUP)
        count, width = kernel.parameter(lines), kernel.parameter(abreast)
        blocks, total = kernel.parameter(self.blocks), kernel.parameter(groups)
        kernel.module.append(f"var<workgroup> sums: array<u32, {WORKGROUP}>;")
        kernel.line(
            "let block = group.x + group.y * groups.x;",
            f"if (block >= {total}) {{ return; }}",
            f"let width = {width};",
            "let lane = local & (width - 1u);",
            f"let line = (block * {WORKGROUP}u + local) >> countTrailingZeros(width);",
            f"let length = select(0u, {blocks}, line < {count});",
            "let line_start = line * length;",
            "var carry = 0u;",
            f"for (var start = 0u; start < {blocks}; start += width * {_CARRIED}u) {{",
            f"let first = start + lane * {_CARRIED}u;",
            "var total = 0u;",
        )
        for k in range(_CARRIED):
            kernel.line(
                f"var count{k} = 0u;",
                f"if (first + {k}u < length) {{ count{k} = {counts.load(f'line_start + first + {k}u')}; }}",
                f"total += count{k};",
            )
        kernel.line(
            *_SCAN,
            "var before = carry + sums[local] - total;",
        )
        for k in range(_CARRIED):
            kernel.line(
                f"if (first + {k}u < length) {{ {counts.store(f'line_start + first + {k}u', 'before')} }}",
                f"before += count{k};",
            )
        kernel.line(
            "carry += sums[local | (width - 1u)];",
            "workgroupBarrier();",
            "}",
            f"if (lane == 0u && line < {count}) {{ {totals.store('line', 'carry')} }}",
        )
        return kernel.launch(groups, self.limit)

    def _move(self, step: DigitPass) -> Launch:
        kernel, tile = Kernel(f"{self.label} move"), self.tile
        values = step.values.bind(kernel, self.size, "values", writable=False)
        old_positions = step.positions.bind(kernel, self.size, "places", writable=False) if step.positions else None
        counts = self._counts(kernel, writable=False)
        totals = bind_scratch(kernel, TOTALS, self.rows * self.lines, dtypes.uint32, writable=False)
        new_values = step.new_values.bind(kernel, self.size, "new_values", writable=True) if step.new_values else None
        new_places = (
            step.new_positions.bind(kernel, self.size, "new_places", writable=True) if step.new_positions else None
        )
        digit = self._digit_function(kernel, step.digit)
        kernel.module.append(f"var<workgroup> targets: array<u32, {DIGITS}>;")
        self._begin_move(kernel, totals)
        blocks = self._position(kernel)
        tile.declare(kernel)
        kernel.line(
            # where the elements of each digit go: behind those of lesser digits, and those of the blocks before
            f"let in_row = {totals.load(f'row * {self.lines}u + local')};",
            f"let in_blocks = {counts.load(f'(row * {self.lines}u + local) * {blocks} + part')};",
            "var aim = before_digit(local, in_row) + in_blocks;",
            f"for (var tile = begin; tile < end; tile += {tile.size}u) {{",
        )
        for k in tile.each:
            # no branch around each load, so that all of them are waited for together
            kernel.line(f"let at{k} = row_start + min(tile + {tile.index(k)}, end - 1u);")
            kernel.line(f"var v{k} = {self._loaded(values, f'at{k}')};")
        for k in tile.each if new_places is not None else ():
            kernel.line(
                f"var p{k} = {old_positions.load(f'at{k}') if old_positions is not None else f'at{k} - row_start'};"
            )
        self._digits(kernel, digit, "tile", "end")
        tile.put_in_order(kernel)
        # what to add to a position in the ordered tile
        kernel.line("targets[local] = aim - start;", "aim += found;")
        written = [f"local + {WORKGROUP * k}u" for k in tile.each]
        tile.exchange(kernel, self._value_words(), written)
        for k, index in zip(tile.each, written, strict=True):
            kernel.line(f"let here{k} = tile + {index} < end;")
            kernel.line(f"let to{k} = row_start + targets[digit_of(v{k}, {digit})] + {index};")
            if new_values is not None:
                kernel.line(f"if (here{k}) {{ {new_values.store(f'to{k}', f'v{k}')} }}")
        if new_places is not None:
            words = 1 if step.positions is None else word_count(step.positions.dtype)
            tile.exchange(kernel, _words("p", words), written, again=True)
            for k in tile.each:
                position = f"p{k}" if words > 1 else _position(f"p{k}", new_places)
                kernel.line(f"if (here{k}) {{ {new_places.store(f'to{k}', position)} }}")
        kernel.line("}")
        return kernel.launch(self.rows * self.blocks, self.limit)

    def _begin_move(self, kernel: Kernel, totals: Access) -> None:
        """Emit the first statements of a move."""

    def _whole(self) -> Launch:
        """Return the launch that sorts rows no longer than a tile."""
        kernel, tile = Kernel(f"{self.label} rows"), self.tile
        values = bind_array(kernel, "input", 0, self.size, self.dtype)
        kind = dtypes.int64 if self.positions else self.dtype
        target = bind_array(kernel, "output", 0, self.size, kind)
        self._digit_function(kernel, 0)
        self._position(kernel)
        tile.declare(kernel)
        for k in tile.each:
            kernel.line(f"var v{k} = {values.load(f'row_start + min({tile.index(k)}, end - 1u)')};")
            if self.positions:
                kernel.line(f"var p{k} = {tile.index(k)};")
        kernel.line(f"for (var digit = 0u; digit < {kernel.parameter(self.dtype.itemsize)}; digit++) {{")
        self._digits(kernel, "digit", "0u", "end")
        tile.put_in_order(kernel)
        indices = [tile.index(k) for k in tile.each]
        tile.exchange(kernel, [*self._value_words(), *(["p{}"] if self.positions else [])], indices)
        kernel.line("}")
        for k, index in zip(tile.each, indices, strict=True):
            value = _position(f"p{k}", target) if self.positions else f"v{k}"
            kernel.line(f"if ({index} < end) {{ {target.store(f'row_start + {index}', value)} }}")
        return kernel.launch(self.rows, self.limit)

    def _digits(self, kernel: Kernel, digit: str, begin: str, end: str) -> None:
        """Emit the digits of an invocation's elements; those beyond the end have the greatest digit, and stay last."""
        for k in self.tile.each:
            inside = f"{begin} + {self.tile.index(k)} < {end}"
            kernel.line(f"let d{k} = select({DIGITS - 1}u, digit_of(v{k}, {digit}), {inside});")

    def _value_words(self) -> list[str]:
        """Return the names of the variables of an element's value, without its number."""
        return _words("v", self.words)

    def _loaded(self, values: Access, index: str) -> str:
        """Return the value at an index in the form in which it is moved."""
        return values.load(index)

    # -- pieces --------------------------------------------------------------------------------------------------------

    def _counts(self, kernel: Kernel, *, writable: bool) -> Access:
        size = self.rows * self.lines * self.blocks
        return bind_scratch(kernel, COUNTS, size, dtypes.uint32, writable=writable)

    def _digit_function(self, kernel: Kernel, digit: int) -> str:
        """Emit the function from a raw value to one of its digits; return the expression of the digit's number."""
        key = f"sort_key(raw, {kernel.parameter(self.flip)})" + ("" if self.words == 1 else "[digit >> 2u]")
        kernel.module += [
            key_functions(self.dtype),
            f"fn digit_of(raw: {self.kind}, digit: u32) -> u32 {{",
            f"  return ({key} >> ((digit & 3u) * {BITS}u)) & {DIGITS - 1}u;",
            "}",
        ]
        return kernel.parameter(digit)

    def _position(self, kernel: Kernel) -> str:
        """Emit the row and the elements of a workgroup; return the number of blocks in a row."""
        blocks, total = kernel.parameter(self.blocks), kernel.parameter(self.rows * self.blocks)
        length, span = kernel.parameter(self.length), kernel.parameter(self.span)
        kernel.line(
            "let block = group.x + group.y * groups.x;",
            f"if (block >= {total}) {{ return; }}",
            f"let row = block / {blocks};",
            f"let part = block - row * {blocks};",
            f"let row_start = row * {length};",
            f"let begin = part * {span};",
            f"let end = min(begin + {span}, {length});",
        )
        return blocks


def _words(name: str, count: int) -> list[str]:
    """Return the names of the variables of a value's words, without the element's number."""
    return [f"{name}{{}}.{_PARTS[word]}" for word in range(count)] if count > 1 else [f"{name}{{}}"]


def _position(value: str, target: Access) -> str:
    """Return a position in the form that a binding holds."""
    return f"vec2<u32>({value}, 0u)" if target.dtype == dtypes.int64 else value
