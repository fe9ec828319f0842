"""Kernels of copies and of scatters: writes at computed positions.

If several values have the same position, the last one is written. The kernels find it with an atomic maximum of the
value numbers, one word of scratch memory per position. Then each position fetches its value, because random reads take
a third of the time of random writes. If there are few values in a large array, only the words at their positions are
used, and each value checks whether it is the one to write.

Many values with random positions in a large array are first sorted by the upper bits of their positions, in one pass
of a radix sort. The following accesses are then local and stay in the device's cache. The sort is stable, so the last
value of a position remains the last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpuarray.codegen.calls.sorting_digits import COUNTED, COUNTS, TOTALS, BufferRef, DigitPass
from gpuarray.codegen.calls.sorting_keys import bind_scratch
from gpuarray.codegen.calls.sorting_tiles import BITS, DIGITS
from gpuarray.codegen.casts import position_expression
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.scatters_combined import PositionSort, combined_scatter_program
from gpuarray.codegen.storage import LANES, Access
from gpuarray.codegen.wgsl import WINDOW_END, WINDOW_START, WORKGROUP, Kernel, scratch_bytes
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType, uint8, uint16, uint32
from gpuarray.fusion.steps import CopyStep, ScatterStep

#: With at most this many elements per value, a pass over the whole array is faster than one over the values.
_STREAMED: Final = 16
#: At least this many values are sorted by the upper bits of their positions, if the array is larger than the cache.
_SORTED_COUNT: Final = 1 << 22
#: Most workgroups of a launch; invocations loop over the rest.
_GROUPS: Final = 1 << 15
#: The scratch buffer with one word per element, after the buffers of the sort.
_NUMBERS: Final = max(COUNTS, TOTALS) + 1
#: Dtypes through which elements are moved, by size: floating-point types might not preserve all bits.
_RAW: Final = {1: uint8, 2: uint16, 4: uint32}


def copy_program(step: CopyStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launches that copy a buffer, sixteen bytes per invocation."""
    total = -(-step.extent * step.dtype.itemsize // 16)
    most = capabilities.binding_limit // 256 * 256 // 16
    launches = []
    for start in range(0, total, most):
        count = min(most, total - start)
        kernel = Kernel(label)
        nbytes = -(-count * 16 // WINDOW_END) * WINDOW_END if start + count == total else count * 16
        for kind in ("input", "output"):
            writable = kind == "output"
            kernel.bind(Access(f"{kind}0", uint32, True, writable), Binding(kind, 0, start * 16, nbytes, writable))
        size = kernel.parameter(count)
        kernel.line("let block = group.x + group.y * groups.x;", f"let i = block * {WORKGROUP}u + local;")
        kernel.line(f"if (i < {size}) {{ output0[i] = input0[i]; }}")
        launches.append(kernel.launch(-(-count // WORKGROUP), capabilities.workgroup_limit))
    return Program(tuple(launches))


def scatter_program(step: ScatterStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a scatter, which writes the last value of each position or combines all values."""
    if step.combine is not None:
        return combined_scatter_program(step, label, capabilities)
    limit = capabilities.workgroup_limit
    dtype = _RAW.get(step.dtype.itemsize, step.dtype)
    values, positions = BufferRef("input", 0, dtype), BufferRef("input", 1, step.positions)
    fits = max(step.count, step.extent) <= _binding_elements(capabilities, step.dtype, step.positions)
    if fits and _should_sort(step, capabilities):
        return _sorted_program(step, label, values, positions, capabilities)
    launches: list[Launch] = []
    for piece in _parts(step, label, values, positions, capabilities):
        steps = (piece.clear_all, piece.elect, piece.fetch)
        if step.extent > _STREAMED * step.count:
            steps = (piece.clear, piece.elect, piece.write)
        launches += [launch(limit) for launch in steps]
    return Program(
        tuple(launches), (scratch_bytes(min(step.extent, _binding_elements(capabilities, step.dtype)), uint32),)
    )


def _should_sort(step: ScatterStep, capabilities: Capabilities) -> bool:
    """Return whether sorting by position pays: it keeps the numbers of values in the cache."""
    is_large = step.extent * uint32.itemsize >= capabilities.profile.cache_bytes
    return step.extent <= _STREAMED * step.count and step.count >= _SORTED_COUNT and is_large


def _binding_elements(capabilities: Capabilities, *dtypes: DType) -> int:
    """Return how many elements of arrays of these dtypes, and of words, fit into one binding."""
    widest = max(4, *(dtype.itemsize for dtype in dtypes))
    return (capabilities.binding_limit - WINDOW_END) // widest // WINDOW_START * WINDOW_START


def _parts(
    step: ScatterStep, label: str, values: BufferRef, positions: BufferRef, capabilities: Capabilities
) -> Iterator["_ScatterWriter"]:
    """Yield scatters of some values to a part of the target that fit into bindings, in the order of the values."""
    together, reach = (
        _binding_elements(capabilities, step.dtype, step.positions),
        _binding_elements(capabilities, step.dtype),
    )
    is_cut = step.count > together or step.extent > reach
    for start in range(0, step.count, together):
        for first in range(0, step.extent, reach):
            piece = replace(step, count=min(together, step.count - start), extent=min(reach, step.extent - first))
            yield _ScatterWriter(piece, label, values, positions, 0, start=start, first=first, is_cut=is_cut)


def _sorted_program(
    step: ScatterStep, label: str, values: BufferRef, positions: BufferRef, capabilities: Capabilities
) -> Program:
    """Return the launches of a scatter that sorts the values by the upper bits of their positions first.

    If the first launch finds that the positions never decrease, only the last launch does any work after it.
    """
    limit = capabilities.workgroup_limit
    near_values = BufferRef("scratch", _NUMBERS + 1, values.dtype if values.dtype.itemsize >= 4 else uint32)
    near_positions = BufferRef("scratch", _NUMBERS + 2, uint32)
    sort = _Partition(label, step.count, capabilities)
    work = _ScatterWriter(step, label, near_values, near_positions, _NUMBERS, "falls == 0u")
    moves = sort.pass_launches(
        DigitPass(max(0, (step.extent - 1).bit_length() - BITS), positions, values, near_positions, near_values)
    )
    scratch = (
        scratch_bytes(sort.lines * sort.blocks, uint32),
        scratch_bytes(sort.lines, uint32),
        scratch_bytes(step.extent, uint32),
        scratch_bytes(step.count, near_values.dtype),
        scratch_bytes(step.count, uint32),
    )
    follow = _ScatterWriter(step, label, values, positions, _NUMBERS, "falls != 0u").follow
    return Program((*moves, *(launch(limit) for launch in (work.clear_all, work.elect, work.fetch, follow))), scratch)


class _Partition(PositionSort):
    """A pass of a radix sort of positions by some of their bits.

    After the counts of digits it counts the blocks in which a position is less than the one before. If there are none,
    nothing is moved.
    """

    def __init__(self, label: str, count: int, capabilities: Capabilities) -> None:
        super().__init__(label, count, capabilities)
        self.lines = DIGITS + 1

    def _count_more(self, kernel: Kernel, values: Access) -> None:
        length = kernel.parameter(self.length)
        falls = []
        for k in range(COUNTED):
            at = f"first + {WORKGROUP * k}u"
            kernel.line(f"let next{k} = {self._loaded(values, f'min({at} + 1u, {length} - 1u)')};")
            falls.append(f"({at} < end && next{k} < v{k})")
        kernel.line(f"if ({' || '.join(falls)}) {{ atomicStore(&digit_counts[{DIGITS}u], 1u); }}")

    def _begin_move(self, kernel: Kernel, totals: Access) -> None:
        kernel.line(f"if ({totals.load(f'{DIGITS}u')} == 0u) {{ return; }}")

    def _digit_function(self, kernel: Kernel, digit: int) -> str:
        kernel.module.append(f"fn digit_of(raw: u32, shift: u32) -> u32 {{ return min(raw >> shift, {DIGITS - 1}u); }}")
        return kernel.parameter(digit)


@dataclass(frozen=True, slots=True)
class _ScatterWriter:
    """Emits the kernels that select the last value of each position and write it."""

    step: ScatterStep
    label: str
    values: BufferRef
    positions: BufferRef
    numbers: int
    """The scratch buffer with one word per element of the target."""
    idle: str = ""
    """Condition in WGSL, on the number of blocks in which positions decrease, that makes the launch return at once."""
    start: int = 0
    first: int = 0
    """The first value, and the first element of the target, if ``step`` is a part of a scatter."""
    is_cut: bool = False
    """Whether positions may belong to other parts."""

    def clear_all(self, limit: int) -> Launch:
        """Return the launch that clears all words."""
        kernel = Kernel(f"{self.label} clear all")
        access = self._bind_numbers(kernel, writable=True, wide=True)
        return self._each(kernel, -(-self.step.extent // LANES), access.store_wide("i", ["0u"] * LANES), limit)

    def clear(self, limit: int) -> Launch:
        """Return the launch that clears the words at the positions."""
        return self._by_position("clear", "atomicStore(&numbers[place], 0u);", limit)

    def elect(self, limit: int) -> Launch:
        """Return the launch that finds the last value of each position."""
        return self._by_position("elect", "atomicMax(&numbers[place], i + 1u);", limit)

    def _by_position(self, name: str, statement: str, limit: int) -> Launch:
        """Return a launch that runs a statement about the word at the position of each value."""
        kernel = Kernel(f"{self.label} {name}")
        positions = self._bind(kernel, self.positions, "positions")
        self._bind_numbers(kernel, writable=True, item="atomic<u32>")
        return self._each(kernel, self.step.count, [*self._position(kernel, positions), statement], limit)

    def fetch(self, limit: int) -> Launch:
        """Return the launch in which each invocation fetches the values of four neighbouring positions, if any."""
        kernel = Kernel(f"{self.label} fetch")
        values = self._bind(kernel, self.values, "values")
        numbers = self._bind_numbers(kernel, writable=False, wide=True)
        target = self._target(kernel, wide=True)
        lines, wanted = numbers.load_wide("i", "wanted")
        lines.append(f"if (({' | '.join(wanted)}) == 0u) {{ continue; }}")
        loads, old = target.load_wide("i", "old")
        lines += loads
        for lane, (number, kept) in enumerate(zip(wanted, old, strict=True)):
            value = values.load(f"{number} - 1u")
            lines += [f"var v{lane} = {kept};", f"if ({number} != 0u) {{ v{lane} = {value}; }}"]
        lines += target.store_wide("i", [f"v{lane}" for lane in range(LANES)])
        return self._each(kernel, -(-self.step.extent // LANES), lines, limit)

    def write(self, limit: int) -> Launch:
        """Return the launch that writes each selected value."""
        kernel = Kernel(f"{self.label} write")
        values = self._bind(kernel, self.values, "values")
        positions = self._bind(kernel, self.positions, "positions")
        self._bind_numbers(kernel, writable=False)
        target = self._target(kernel, wide=False)
        store = f"if (numbers[place] == i + 1u) {{ {target.store('place', values.load('i'))} }}"
        return self._each(kernel, self.step.count, [*self._position(kernel, positions), store], limit)

    def follow(self, limit: int) -> Launch:
        """Return the launch that writes values at positions that never decrease: the last one of each position."""
        kernel = Kernel(f"{self.label} follow")
        values = self._bind(kernel, self.values, "values")
        positions = self._bind(kernel, self.positions, "positions")
        target = self._target(kernel, wide=False)
        last = f"i == {kernel.parameter(self.step.count)} - 1u"
        after = position_expression(
            positions.load(f"min(i + 1u, {kernel.parameter(self.step.count)} - 1u)"), self.positions.dtype
        )
        store = f"if ({last} || place != {after}) {{ {target.store('place', values.load('i'))} }}"
        return self._each(kernel, self.step.count, [*self._position(kernel, positions), store], limit)

    def _each(self, kernel: Kernel, count: int, statements: Sequence[str], limit: int) -> Launch:
        """Return the launch of a kernel that runs statements for each ``i`` below ``count``."""
        if self.idle:
            falls = bind_scratch(kernel, TOTALS, DIGITS + 1, uint32, writable=False, name="totals")
            kernel.line(f"let falls = {falls.load(f'{DIGITS}u')};", f"if ({self.idle}) {{ return; }}")
        groups = min(-(-count // WORKGROUP), _GROUPS)
        kernel.line(
            f"let stride = groups.x * groups.y * {WORKGROUP}u;",
            f"let size = {kernel.parameter(count)};",
            f"for (var i = (group.x + group.y * groups.x) * {WORKGROUP}u + local; i < size; i += stride) {{",
            *statements,
            "}",
        )
        return kernel.launch(groups, limit)

    def _position(self, kernel: Kernel, positions: Access) -> list[str]:
        """Return the statements that define the position of value ``i`` and skip values of other parts."""
        position = position_expression(positions.load("i"), self.positions.dtype)
        extent = kernel.parameter(self.step.extent)
        origin = f" - {kernel.parameter(self.first)}" if self.is_cut else ""
        return [f"let place = {position}{origin};", f"if (place >= {extent}) {{ continue; }}"]

    def _bind(self, kernel: Kernel, buffer: BufferRef, name: str) -> Access:
        if buffer.kind == "scratch":
            return kernel.scratch(buffer.slot, self.step.count, buffer.dtype, writable=False, name=name)
        return kernel.array(buffer.kind, buffer.slot, self.step.count, buffer.dtype, first=self.start, name=name)

    def _bind_numbers(self, kernel: Kernel, *, writable: bool, wide: bool = False, item: str = "") -> Access:
        size = self.step.extent
        return kernel.scratch(self.numbers, size, uint32, writable=writable, name="numbers", wide=wide, item=item)

    def _target(self, kernel: Kernel, *, wide: bool) -> Access:
        dtype = _RAW.get(self.step.dtype.itemsize, self.step.dtype)
        return kernel.array("output", 0, self.step.extent, dtype, first=self.first, wide=wide)
