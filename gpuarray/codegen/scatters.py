"""Copies, and writes at computed positions.

Several values may go to one position, and the last in order must stay. So each position first learns the greatest
number among the values that want it, by an atomic maximum in scratch memory; then only that value is written: by the
position, which fetches it, since reading here and there takes a third of the time of writing so. Where values are few
they cost little in a large array: of the scratch memory only the words at their positions are touched, and each value
looks whether it is the one to be written.

Many values that go here and there in a large array are sorted first by the upper bits of their positions, in one pass
of a radix sort. What follows then stays within a part of the array, and in the device's cache. The sort is stable, so
the last of the values for a position stays the last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpuarray.codegen.calls.sorting_digits import COUNTED, COUNTS, TOTALS, Pass, Place
from gpuarray.codegen.calls.sorting_keys import RawAccess, bind_scratch, scratch_bytes
from gpuarray.codegen.calls.sorting_tiles import BITS, DIGITS
from gpuarray.codegen.casts import position_expression
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.scatters_combined import PositionSort, combined_scatter_program
from gpuarray.codegen.storage import LANES, Access
from gpuarray.codegen.wgsl import WINDOW_END, WINDOW_START, WORKGROUP, Kernel, window
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType, uint8, uint16, uint32
from gpuarray.fusion.steps import CopyStep, ScatterStep

#: Up to how many elements a value it is sooner done to go through all of the array than to where the values go.
_STREAMED: Final = 16
#: From so many values on, values are sorted by the upper bits of their positions if no cache holds the array.
_MANY: Final = 1 << 22
#: Workgroups of one launch at most: more would only take time to find nothing to do.
_GROUPS: Final = 1 << 15
#: The scratch buffer with a word for each element, behind those of the sort.
_NUMBERS: Final = max(COUNTS, TOTALS) + 1
#: What elements lie in whose bits arithmetic types might not keep.
_RAW: Final = {1: uint8, 2: uint16, 4: uint32}


def copy_program(step: CopyStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launches that copy a buffer, sixteen bytes an invocation."""
    total = -(-step.extent * step.dtype.itemsize // 16)
    most = capabilities.binding_limit // 256 * 256 // 16
    launches = []
    for start in range(0, total, most):
        count = min(most, total - start)
        kernel = Kernel(label)
        nbytes = -(-count * 16 // WINDOW_END) * WINDOW_END if start + count == total else count * 16
        for kind in ("input", "output"):
            writable = kind == "output"
            kernel.bind(_Words(f"{kind}0", writable), Binding(kind, 0, start * 16, nbytes, writable))
        size = kernel.parameter(count)
        kernel.line("let block = group.x + group.y * groups.x;", f"let i = block * {WORKGROUP}u + local;")
        kernel.line(f"if (i < {size}) {{ output0[i] = input0[i]; }}")
        launches.append(kernel.launch(-(-count // WORKGROUP), capabilities.workgroup_limit))
    return Program(tuple(launches))


class _Words(Access):
    """A binding of sixteen-byte words, whatever they mean."""

    def __init__(self, name: str, writable: bool) -> None:
        super().__init__(name, uint32, True, writable)


def scatter_program(step: ScatterStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launches that write values at positions, the last one counting, or combine elements with them."""
    if step.combine is not None:
        return combined_scatter_program(step, label, capabilities)
    limit = capabilities.workgroup_limit
    dtype = _RAW.get(step.dtype.itemsize, step.dtype)
    values, positions = Place("input", 0, dtype), Place("input", 1, step.positions)
    is_shown = max(step.count, step.extent) <= _shown(capabilities, step.dtype, step.positions)
    if is_shown and _gains_by_sorting(step, capabilities):
        return _sorted_program(step, label, values, positions, capabilities)
    launches: list[Launch] = []
    for part in _parts(step, label, values, positions, capabilities):
        ways = (part.clear_all, part.elect, part.fetch)
        if step.extent > _STREAMED * step.count:
            ways = (part.clear, part.elect, part.write)
        launches += [launch(limit) for launch in ways]
    return Program(tuple(launches), (scratch_bytes(min(step.extent, _shown(capabilities, step.dtype)), uint32),))


def _gains_by_sorting(step: ScatterStep, capabilities: Capabilities) -> bool:
    """Whether a sort by position costs less than what it saves: each number of a value in a cache, not in memory."""
    is_large = step.extent * uint32.itemsize >= capabilities.profile.cache_bytes
    return step.extent <= _STREAMED * step.count and step.count >= _MANY and is_large


def _shown(capabilities: Capabilities, *dtypes: DType) -> int:
    """Return how many elements one binding shows of arrays of these dtypes, and of words."""
    widest = max(4, *(dtype.itemsize for dtype in dtypes))
    return (capabilities.binding_limit - WINDOW_END) // widest // WINDOW_START * WINDOW_START


def _parts(
    step: ScatterStep, label: str, values: Place, positions: Place, capabilities: Capabilities
) -> Iterator["_Scatter"]:
    """Yield writes of some values to a part of the target each, as bindings show them; values come in their order."""
    together, reach = _shown(capabilities, step.dtype, step.positions), _shown(capabilities, step.dtype)
    is_cut = step.count > together or step.extent > reach
    for start in range(0, step.count, together):
        for first in range(0, step.extent, reach):
            part = replace(step, count=min(together, step.count - start), extent=min(reach, step.extent - first))
            yield _Scatter(part, label, values, positions, 0, start=start, first=first, is_cut=is_cut)


def _sorted_program(
    step: ScatterStep, label: str, values: Place, positions: Place, capabilities: Capabilities
) -> Program:
    """Return the launches where values are sorted by the upper bits of their positions first, if they are in no order.

    If the positions never fall, which the first launch finds out, the last launch alone does something after it.
    """
    limit = capabilities.workgroup_limit
    near_values = Place("scratch", _NUMBERS + 1, values.dtype if values.dtype.itemsize >= 4 else uint32)
    near_positions = Place("scratch", _NUMBERS + 2, uint32)
    sort = _Partition(label, step.count, capabilities)
    work = _Scatter(step, label, near_values, near_positions, _NUMBERS, "falls == 0u")
    moves = sort.pass_launches(
        Pass(max(0, (step.extent - 1).bit_length() - BITS), positions, values, near_positions, near_values)
    )
    scratch = (
        scratch_bytes(sort.lines * sort.blocks, uint32),
        scratch_bytes(sort.lines, uint32),
        scratch_bytes(step.extent, uint32),
        scratch_bytes(step.count, near_values.dtype),
        scratch_bytes(step.count, uint32),
    )
    follow = _Scatter(step, label, values, positions, _NUMBERS, "falls != 0u").follow
    return Program((*moves, *(launch(limit) for launch in (work.clear_all, work.elect, work.fetch, follow))), scratch)


class _Partition(PositionSort):
    """A pass of a radix sort by some of the bits of positions, which are moved as single words.

    It counts blocks in which a position is less than the one before it, behind the digits; if there are none, nothing
    is moved.
    """

    def __init__(self, label: str, count: int, capabilities: Capabilities) -> None:
        super().__init__(label, count, capabilities)
        self.lines = DIGITS + 1

    def _count_more(self, kernel: Kernel, values: RawAccess) -> None:
        length = kernel.parameter(self.length)
        falls = []
        for k in range(COUNTED):
            at = f"first + {WORKGROUP * k}u"
            kernel.line(f"let next{k} = {self._loaded(values, f'min({at} + 1u, {length} - 1u)')};")
            falls.append(f"({at} < end && next{k} < v{k})")
        kernel.line(f"if ({' || '.join(falls)}) {{ atomicStore(&digit_counts[{DIGITS}u], 1u); }}")

    def _begin_move(self, kernel: Kernel, totals: RawAccess) -> None:
        kernel.line(f"if ({totals.load(f'{DIGITS}u')} == 0u) {{ return; }}")

    def _digit_function(self, kernel: Kernel, digit: int) -> str:
        kernel.module.append(f"fn digit_of(raw: u32, shift: u32) -> u32 {{ return min(raw >> shift, {DIGITS - 1}u); }}")
        return kernel.parameter(digit)


class _Atomic(Access):
    """A binding of atomic words."""

    @property
    def element(self) -> str:
        return "atomic<u32>"


@dataclass(frozen=True, slots=True)
class _Scatter:
    """Emits the kernels that elect the values and write them, wherever values and positions lie."""

    step: ScatterStep
    label: str
    values: Place
    positions: Place
    numbers: int
    """The scratch buffer with a word for each element of the target."""
    idle: str = ""
    """When there is nothing to do, if the number of blocks in which positions fall can say so."""
    start: int = 0
    first: int = 0
    """The first of the values, and of the elements of the target, of which ``step`` has a part."""
    is_cut: bool = False
    """Whether positions may be those of other parts."""

    def clear_all(self, limit: int) -> Launch:
        """Forget all numbers."""
        kernel = Kernel(f"{self.label} clear all")
        access = self._bind_numbers(kernel, Access("numbers", uint32, True, True))
        return self._each(kernel, -(-self.step.extent // LANES), access.store_wide("i", ["0u"] * LANES), limit)

    def clear(self, limit: int) -> Launch:
        """Forget the numbers at the positions."""
        kernel = Kernel(f"{self.label} clear")
        positions = self._bind(kernel, self.positions, "positions")
        self._bind_numbers(kernel, _Atomic("numbers", uint32, False, True))
        lines = [*self._place(kernel, positions), "atomicStore(&numbers[place], 0u);"]
        return self._each(kernel, self.step.count, lines, limit)

    def elect(self, limit: int) -> Launch:
        """Find the last value for each position."""
        kernel = Kernel(f"{self.label} elect")
        positions = self._bind(kernel, self.positions, "positions")
        self._bind_numbers(kernel, _Atomic("numbers", uint32, False, True))
        lines = [*self._place(kernel, positions), "atomicMax(&numbers[place], i + 1u);"]
        return self._each(kernel, self.step.count, lines, limit)

    def fetch(self, limit: int) -> Launch:
        """Give four neighbouring positions the values that they want, if any; what else is there keeps its bits."""
        kernel = Kernel(f"{self.label} fetch")
        values = self._bind(kernel, self.values, "values")
        numbers = self._bind_numbers(kernel, Access("numbers", uint32, True, False))
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
        """Write each value that was elected."""
        kernel = Kernel(f"{self.label} write")
        values = self._bind(kernel, self.values, "values")
        positions = self._bind(kernel, self.positions, "positions")
        self._bind_numbers(kernel, Access("numbers", uint32, False, False))
        target = self._target(kernel, wide=False)
        store = f"if (numbers[place] == i + 1u) {{ {target.store('place', values.load('i'))} }}"
        return self._each(kernel, self.step.count, [*self._place(kernel, positions), store], limit)

    def follow(self, limit: int) -> Launch:
        """Write the values at positions that never fall: each that is the last for its position."""
        kernel = Kernel(f"{self.label} follow")
        values = self._bind(kernel, self.values, "values")
        positions = self._bind(kernel, self.positions, "positions")
        target = self._target(kernel, wide=False)
        last = f"i == {kernel.parameter(self.step.count)} - 1u"
        after = position_expression(
            positions.load(f"min(i + 1u, {kernel.parameter(self.step.count)} - 1u)"), self.positions.dtype
        )
        store = f"if ({last} || place != {after}) {{ {target.store('place', values.load('i'))} }}"
        return self._each(kernel, self.step.count, [*self._place(kernel, positions), store], limit)

    def _each(self, kernel: Kernel, count: int, statements: Sequence[str], limit: int) -> Launch:
        """Return the launch of a kernel with statements for each ``i`` below ``count``."""
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

    def _place(self, kernel: Kernel, positions: Access) -> list[str]:
        """Return the statements that name the place of value ``i``, and leave out one that is not in this part."""
        place = position_expression(positions.load("i"), self.positions.dtype)
        extent = kernel.parameter(self.step.extent)
        origin = f" - {kernel.parameter(self.first)}" if self.is_cut else ""
        return [f"let place = {place}{origin};", f"if (place >= {extent}) {{ continue; }}"]

    def _bind(self, kernel: Kernel, place: Place, name: str) -> Access:
        if place.kind == "scratch":
            nbytes = scratch_bytes(self.step.count, place.dtype)
            binding = Binding("scratch", place.slot, 0, nbytes, False)
        else:
            last = self.start + self.step.count - 1
            binding, _ = window(place.kind, place.slot, self.start, last, place.dtype, writable=False)
        return kernel.bind(Access(name, place.dtype, False, False), binding)

    def _bind_numbers(self, kernel: Kernel, access: Access) -> Access:
        nbytes = scratch_bytes(self.step.extent, uint32)
        return kernel.bind(access, Binding("scratch", self.numbers, 0, nbytes, access.writable))

    def _target(self, kernel: Kernel, *, wide: bool) -> Access:
        dtype = _RAW.get(self.step.dtype.itemsize, self.step.dtype)
        binding, _ = window("output", 0, self.first, self.first + self.step.extent - 1, dtype, writable=True)
        return kernel.bind(Access("output0", dtype, wide, True), binding)
