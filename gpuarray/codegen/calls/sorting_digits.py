"""Long rows: a least-significant-digit radix sort with digits of eight bits.

Each pass puts the elements in the stable order of one digit, in three launches, none of which waits for another
workgroup. Rows are cut into blocks, blocks into tiles.

1. *count*: how often each digit occurs in each block;
2. *carry*: for each row and digit, how often it occurs in the blocks before each block, and in all;
3. *move*: each block goes through its tiles, puts a tile in order in workgroup memory, and writes it; elements of one
   digit then lie side by side, so that writes are too.

The rank of an element in its tile comes from masks: for each group of 32 invocations and each digit, a word in which
each invocation that has this digit sets its own bit.
"""

from dataclasses import dataclass
from typing import Final

from gpuarray import dtypes
from gpuarray.codegen.calls.sorting_keys import (
    RawAccess,
    bind_array,
    bind_scratch,
    key_functions,
    scratch_bytes,
    word_count,
    word_type,
)
from gpuarray.codegen.programs import Launch, Program
from gpuarray.codegen.wgsl import WORKGROUP, Kernel
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType

_BITS: Final = 8
_DIGITS: Final = 1 << _BITS
_MASK_BITS: Final = 32
#: Groups of invocations in a workgroup that share masks.
_GROUPS: Final = WORKGROUP // _MASK_BITS
_PER_INVOCATION: Final = 8
_EACH: Final = range(_PER_INVOCATION)
_TILE: Final = WORKGROUP * _PER_INVOCATION
#: Blocks that keep a large device busy to the end; more of them would only cost counts.
_BLOCKS: Final = 16384
#: Counts that one invocation carries at a time.
_CARRIED: Final = 8

_COUNTS, _TOTALS, _EVEN, _ODD, _PLACES = range(5)  # numbers of scratch buffers
_PARTS: Final = "xyzw"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the values or positions of a pass lie: a kind of buffer, its number, and the dtype they have there."""

    kind: str
    slot: int
    dtype: DType

    def bind(self, kernel: Kernel, size: int, *, writable: bool) -> RawAccess:
        """Bind the buffer to a kernel."""
        if self.kind == "scratch":
            return bind_scratch(kernel, self.slot, size, self.dtype, writable=writable)
        return bind_array(kernel, self.kind, self.slot, size, self.dtype, writable=writable)


@dataclass(frozen=True, slots=True)
class _Pass:
    """One digit, and what moves from where to where; positions that come from nowhere are counted."""

    digit: int
    values: _Place
    positions: _Place | None
    new_values: _Place | None
    new_positions: _Place | None


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
        tiles = -(-length // _TILE)
        self.span = min(tiles, -(-rows * tiles // _BLOCKS)) * _TILE
        self.blocks = -(-length // self.span)
        # small values take a word each while they are moved, so that each is written by one plain store
        self.moved = dtype if dtype.itemsize >= 4 else dtypes.uint32
        self.kind = word_type(dtype)

    def program(self) -> Program:
        """Return the launches."""
        launches: list[Launch] = []
        for step in self._passes():
            launches += (self._count(step), self._carry(), self._move(step))
        counts, values = self.rows * _DIGITS * self.blocks, self.size if self.dtype.itemsize > 1 else 0
        scratch = [
            scratch_bytes(counts, dtypes.uint32),
            scratch_bytes(self.rows * _DIGITS, dtypes.uint32),
            scratch_bytes(values, self.moved),
        ]
        if self.positions:
            scratch += [
                scratch_bytes(values if self.dtype.itemsize > 2 else 0, self.moved),
                scratch_bytes(values, dtypes.uint32),
            ]
        return Program(tuple(launches), tuple(scratch))

    def _passes(self) -> list[_Pass]:
        """Return the passes: values and positions go to and fro between two places each, and end in the output."""
        last = self.dtype.itemsize - 1
        passes = []
        values = _Place("input", 0, self.dtype)
        positions: _Place | None = None
        for digit in range(last + 1):
            new_values: _Place | None
            new_positions: _Place | None = None
            if self.positions:
                # until the last pass, the output's memory holds positions of 32 bits
                new_positions = (_Place("scratch", _PLACES, dtypes.uint32), _Place("output", 0, dtypes.uint32))[
                    digit % 2
                ]
                new_values = _Place("scratch", (_EVEN, _ODD)[digit % 2], self.moved)
                if digit == last:
                    new_values, new_positions = None, _Place("output", 0, dtypes.int64)
            elif digit == last:
                new_values = _Place("output", 0, self.dtype)
            elif (last - digit) % 2:
                new_values = _Place("scratch", _EVEN, self.moved)
            else:
                new_values = _Place("output", 0, self.moved)
            passes.append(_Pass(digit, values, positions, new_values, new_positions))
            if new_values is not None:
                values, positions = new_values, new_positions
        return passes

    # -- kernels -------------------------------------------------------------------------------------------------------

    def _count(self, step: _Pass) -> Launch:
        kernel = Kernel(f"{self.label} count")
        values = step.values.bind(kernel, self.size, writable=False)
        counts = self._counts(kernel, writable=True)
        self._digit_function(kernel, step)
        kernel.module.append(f"var<workgroup> tally: array<atomic<u32>, {_DIGITS}>;")
        blocks = self._position(kernel)
        kernel.line(
            # some drivers leave there what the workgroup before wrote
            "atomicStore(&tally[local], 0u);",
            "workgroupBarrier();",
            f"for (var i = begin + local; i < end; i += {WORKGROUP}u) {{",
            f"atomicAdd(&tally[digit_of({values.load('row_start + i')})], 1u);",
            "}",
            "workgroupBarrier();",
            counts.store(f"(row * {_DIGITS}u + local) * {blocks} + part", "atomicLoad(&tally[local])"),
        )
        return kernel.launch(self.rows * self.blocks, self.limit)

    def _carry(self) -> Launch:
        """Each line of counts, those of one row and digit, is scanned by as many invocations as it is worth."""
        kernel = Kernel("sort carry")
        counts = self._counts(kernel, writable=True)
        totals = bind_scratch(kernel, _TOTALS, self.rows * _DIGITS, dtypes.uint32, writable=True)
        lines = self.rows * _DIGITS
        abreast = min(WORKGROUP, 1 << (-(-self.blocks // _CARRIED) - 1).bit_length())
        groups = -(-lines * abreast // WORKGROUP)
        count, width = kernel.word(lines), kernel.word(abreast)
        blocks, total = kernel.word(self.blocks), kernel.word(groups)
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
            "sums[local] = total;",
            "workgroupBarrier();",
            "for (var reach = 1u; reach < width; reach <<= 1u) {",
            "var left = 0u;",
            "if (lane >= reach) { left = sums[local - reach]; }",
            "workgroupBarrier();",
            "sums[local] += left;",
            "workgroupBarrier();",
            "}",
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

    def _move(self, step: _Pass) -> Launch:
        kernel = Kernel(f"{self.label} move")
        values = step.values.bind(kernel, self.size, writable=False)
        places = step.positions.bind(kernel, self.size, writable=False) if step.positions else None
        counts = self._counts(kernel, writable=False)
        totals = bind_scratch(kernel, _TOTALS, self.rows * _DIGITS, dtypes.uint32, writable=False)
        new_values = step.new_values.bind(kernel, self.size, writable=True) if step.new_values else None
        new_places = step.new_positions.bind(kernel, self.size, writable=True) if step.new_positions else None
        self._digit_function(kernel, step)
        kernel.module += [
            # masks, one for each group and digit; then a tile's words on their way to another invocation
            f"var<workgroup> pool: array<atomic<u32>, {max(_GROUPS * _DIGITS, _TILE)}>;",
            # how often each digit occurred in each group, two counts a word
            f"var<workgroup> tallies: array<atomic<u32>, {_GROUPS * _DIGITS // 2}>;",
            f"var<workgroup> starts: array<u32, {_DIGITS}>;",
            f"var<workgroup> ends: array<u32, {_DIGITS}>;",
            f"var<workgroup> targets: array<u32, {_DIGITS}>;",
            "fn scan_ends(local: u32) {",
            "  for (var reach = 1u; reach < 256u; reach <<= 2u) {",
            "    var left = 0u;",
            "    for (var k = reach; k < 4u * reach; k += reach) { if (local >= k) { left += ends[local - k]; } }",
            "    workgroupBarrier();",
            "    ends[local] += left;",
            "    workgroupBarrier();",
            "  }",
            "}",
        ]
        blocks = self._position(kernel)
        kernel.line(
            f"let mine = local / {_MASK_BITS}u;",
            f"let lane = local % {_MASK_BITS}u;",
            f"let masks = mine * {_DIGITS}u;",
            f"let pairs = mine * {_DIGITS // 2}u;",
            # where the elements of each digit go: behind those of lesser digits, and those of the blocks before
            f"let in_row = {totals.load(f'row * {_DIGITS}u + local')};",
            "ends[local] = in_row;",
            "workgroupBarrier();",
            "scan_ends(local);",
            f"targets[local] = ends[local] - in_row + {counts.load(f'(row * {_DIGITS}u + local) * {blocks} + part')};",
            f"for (var tile = begin; tile < end; tile += {_TILE}u) {{",
            f"let first = tile + mine * {_MASK_BITS * _PER_INVOCATION}u + lane;",
            f"for (var i = local; i < {_GROUPS * _DIGITS}u; i += {WORKGROUP}u) {{",
            "atomicStore(&pool[i], 0u);",
            f"if (i < {_GROUPS * _DIGITS // 2}u) {{ atomicStore(&tallies[i], 0u); }}",
            "}",
        )
        for k in _EACH:
            at = f"(first + {_MASK_BITS * k}u)"
            # places beyond the end have the greatest digit, and stay last in the tile
            kernel.line(f"var v{k}: {self.kind}; var p{k} = {at}; var d{k} = {_DIGITS - 1}u;", f"if ({at} < end) {{")
            kernel.line(f"v{k} = {values.load(f'row_start + {at}')}; d{k} = digit_of(v{k});")
            if places is not None:
                kernel.line(f"p{k} = {places.load(f'row_start + {at}')};")
            kernel.line("}")
        kernel.line("workgroupBarrier();")
        self._rank(kernel)
        self._exchange(kernel, with_positions=new_places is not None)
        for k in _EACH:
            kernel.line(
                f"if (tile + local + {WORKGROUP * k}u < end) {{",
                f"let to = row_start + targets[digit_of(v{k})] + local + {WORKGROUP * k}u;",
            )
            if new_values is not None:
                kernel.line(new_values.store("to", f"v{k}"))
            if new_places is not None:
                wide = new_places.dtype == dtypes.int64
                kernel.line(new_places.store("to", f"vec2<u32>(p{k}, 0u)" if wide else f"p{k}"))
            kernel.line("}")
        kernel.line("workgroupBarrier();", "targets[local] += start + in_tile;", "}")
        return kernel.launch(self.rows * self.blocks, self.limit)

    def _rank(self, kernel: Kernel) -> None:
        """Emit the place ``o0``, ``o1``, ... of each of an invocation's elements in the ordered tile."""
        for k in _EACH:
            tally = f"tallies[pairs + (d{k} >> 1u)]"
            if k:
                # every invocation sets and clears bits of its own only: no other one's order matters
                kernel.line(f"atomicAnd(&pool[masks + d{k - 1}], ~(1u << lane));")
            kernel.line(
                f"atomicOr(&pool[masks + d{k}], 1u << lane);",
                "workgroupBarrier();",
                f"let m{k} = atomicLoad(&pool[masks + d{k}]);",
                f"let s{k} = (d{k} & 1u) * 16u;",
                f"let r{k} = ((atomicLoad(&{tally}) >> s{k}) & 0xffffu) + countOneBits(m{k} & ((1u << lane) - 1u));",
                "workgroupBarrier();",
                # the last one that has the digit counts it for all
                f"if ((m{k} >> lane) == 1u) {{ atomicAdd(&{tally}, countOneBits(m{k}) << s{k}); }}",
            )
        kernel.line(
            "workgroupBarrier();",
            f"if (local < {_DIGITS // 2}u) {{",
            "var before = 0u;",
            f"for (var i = local; i < {_GROUPS * _DIGITS // 2}u; i += {_DIGITS // 2}u) {{",
            "let tally = atomicLoad(&tallies[i]);",
            "atomicStore(&tallies[i], before);",
            "before += tally;",
            "}",
            "ends[2u * local] = before & 0xffffu;",
            "ends[2u * local + 1u] = before >> 16u;",
            "}",
            "workgroupBarrier();",
            "let in_tile = ends[local];",
            "scan_ends(local);",
            "let start = ends[local] - in_tile;",
            "starts[local] = start;",
            # from here on, what to add to a place in the ordered tile
            "targets[local] -= start;",
            "workgroupBarrier();",
        )
        for k in _EACH:
            kernel.line(
                f"let o{k} = starts[d{k}] + r{k} + ((atomicLoad(&tallies[pairs + (d{k} >> 1u)]) >> s{k}) & 0xffffu);"
            )

    def _exchange(self, kernel: Kernel, *, with_positions: bool) -> None:
        """Emit the moves of a tile's elements to the invocations that write them, a word at a time."""
        words = word_count(self.dtype)
        parts = [f".{_PARTS[word]}" for word in range(words)] if words > 1 else [""]
        for name in [f"v{{}}{part}" for part in parts] + (["p{}"] if with_positions else []):
            kernel.line(
                *(f"atomicStore(&pool[o{k}], {name.format(k)});" for k in _EACH),
                "workgroupBarrier();",
                *(f"{name.format(k)} = atomicLoad(&pool[local + {WORKGROUP * k}u]);" for k in _EACH),
                "workgroupBarrier();",
            )

    # -- pieces --------------------------------------------------------------------------------------------------------

    def _counts(self, kernel: Kernel, *, writable: bool) -> RawAccess:
        size = self.rows * _DIGITS * self.blocks
        return bind_scratch(kernel, _COUNTS, size, dtypes.uint32, writable=writable)

    def _digit_function(self, kernel: Kernel, step: _Pass) -> None:
        """Emit the function from a raw value to its digit; which digit and direction it is are parameters."""
        flip = kernel.word(self.flip)
        word, shift = (kernel.word(number) for number in divmod(step.digit * _BITS, 32))
        key = "sort_key(raw)" if self.kind == "u32" else "key[word]"
        kernel.module += [
            key_functions(self.dtype),
            f"fn digit_of(raw: {self.kind}) -> u32 {{",
            *([f"  let key = sort_key(raw); let word = {word};"] if self.kind != "u32" else []),
            f"  return (({key} ^ {flip}) >> {shift}) & {_DIGITS - 1}u;",
            "}",
        ]

    def _position(self, kernel: Kernel) -> str:
        """Emit which elements of which row are this workgroup's; return the number of blocks in a row."""
        blocks, total = kernel.word(self.blocks), kernel.word(self.rows * self.blocks)
        length, span = kernel.word(self.length), kernel.word(self.span)
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
