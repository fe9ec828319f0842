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

from dataclasses import dataclass
from typing import Final

from gpuarray.codegen.calls.sorting_digits import COUNTS, TOTALS, DigitSort, Pass, Place
from gpuarray.codegen.calls.sorting_keys import RawAccess, scratch_bytes
from gpuarray.codegen.calls.sorting_tiles import BITS, DIGITS
from gpuarray.codegen.casts import position_expression
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.storage import LANES, Access
from gpuarray.codegen.wgsl import WINDOW_END, WORKGROUP, Kernel, window
from gpuarray.device import Capabilities
from gpuarray.dtypes import uint8, uint16, uint32
from gpuarray.fusion.steps import CopyStep, ScatterStep

#: Up to how many elements a value it is sooner done to go through all of the array than to where the values go.
_STREAMED: Final = 16
#: From so many values and elements on values are sorted by the upper bits of their positions before they go there.
_MANY: Final = 1 << 22
_LARGE: Final = 3 << 22
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
        size = kernel.word(count)
        kernel.line("let block = group.x + group.y * groups.x;", f"let i = block * {WORKGROUP}u + local;")
        kernel.line(f"if (i < {size}) {{ output0[i] = input0[i]; }}")
        launches.append(kernel.launch(-(-count // WORKGROUP), capabilities.workgroup_limit))
    return Program(tuple(launches))


class _Words(Access):
    """A binding of sixteen-byte words, whatever they mean."""

    def __init__(self, name: str, writable: bool) -> None:
        super().__init__(name, uint32, True, writable)


def scatter_program(step: ScatterStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launches that write values at positions, the last one counting."""
    limit = capabilities.workgroup_limit
    dtype = _RAW.get(step.dtype.itemsize, step.dtype)
    values, positions = Place("input", 0, dtype), Place("input", 1, step.positions)
    if step.extent <= _STREAMED * step.count and step.count >= _MANY and step.extent >= _LARGE:
        return _sorted_program(step, label, values, positions, capabilities)
    work = _Scatter(step, label, values, positions, 0)
    launches = (work.clear_all, work.elect, work.fetch)
    if step.extent > _STREAMED * step.count:
        launches = (work.clear, work.elect, work.write)
    return Program(tuple(launch(limit) for launch in launches), (scratch_bytes(step.extent, uint32),))


def _sorted_program(
    step: ScatterStep, label: str, values: Place, positions: Place, capabilities: Capabilities
) -> Program:
    """Return the launches where values are sorted by the upper bits of their positions first."""
    limit = capabilities.workgroup_limit
    near_values = Place("scratch", _NUMBERS + 1, values.dtype if values.dtype.itemsize >= 4 else uint32)
    near_positions = Place("scratch", _NUMBERS + 2, uint32)
    sort = _Partition(label, step.count, capabilities)
    work = _Scatter(step, label, near_values, near_positions, _NUMBERS)
    moves = sort.pass_launches(
        Pass(max(0, (step.extent - 1).bit_length() - BITS), positions, values, near_positions, near_values)
    )
    scratch = (
        scratch_bytes(DIGITS * sort.blocks, uint32),
        scratch_bytes(DIGITS, uint32),
        scratch_bytes(step.extent, uint32),
        scratch_bytes(step.count, near_values.dtype),
        scratch_bytes(step.count, uint32),
    )
    return Program((*moves, work.clear_all(limit), work.elect(limit), work.fetch(limit)), scratch)


class _Partition(DigitSort):
    """A pass of a radix sort by some of the bits of positions, which are moved as single words."""

    def __init__(self, label: str, count: int, capabilities: Capabilities) -> None:
        super().__init__(label, uint32, 1, count, capabilities, descending=False, positions=True)

    def _loaded(self, values: RawAccess, index: str) -> str:
        loaded = values.load(index)
        return f"{loaded}.x" if values.dtype.itemsize == 8 else loaded

    def _digit_function(self, kernel: Kernel, digit: int) -> str:
        kernel.module.append("fn digit_of(raw: u32, shift: u32) -> u32 { return raw >> shift; }")
        return kernel.word(digit)


def _open(label: str, count: int) -> Kernel:
    kernel = Kernel(label)
    size = kernel.word(count)
    kernel.line("let block = group.x + group.y * groups.x;", f"let i = block * {WORKGROUP}u + local;")
    kernel.line(f"if (i >= {size}) {{ return; }}")
    return kernel


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

    def clear_all(self, limit: int) -> Launch:
        """Forget all numbers."""
        fours = -(-self.step.extent // LANES)
        kernel = _open(f"{self.label} clear all", fours)
        access = self._bind_numbers(kernel, Access("numbers", uint32, True, True))
        kernel.line(*access.store_wide("i", ["0u"] * LANES))
        return kernel.launch(-(-fours // WORKGROUP), limit)

    def clear(self, limit: int) -> Launch:
        """Forget the numbers at the positions."""
        kernel = _open(f"{self.label} clear", self.step.count)
        positions = self._bind(kernel, self.positions, "positions")
        self._bind_numbers(kernel, _Atomic("numbers", uint32, False, True))
        kernel.line(f"atomicStore(&numbers[{self._place(positions)}], 0u);")
        return kernel.launch(-(-self.step.count // WORKGROUP), limit)

    def elect(self, limit: int) -> Launch:
        """Find the last value for each position."""
        kernel = _open(f"{self.label} elect", self.step.count)
        positions = self._bind(kernel, self.positions, "positions")
        self._bind_numbers(kernel, _Atomic("numbers", uint32, False, True))
        kernel.line(f"atomicMax(&numbers[{self._place(positions)}], i + 1u);")
        return kernel.launch(-(-self.step.count // WORKGROUP), limit)

    def fetch(self, limit: int) -> Launch:
        """Give four neighbouring positions the values that they want, if any; what else is there keeps its bits."""
        fours = -(-self.step.extent // LANES)
        kernel = _open(f"{self.label} fetch", fours)
        values = self._bind(kernel, self.values, "values")
        numbers = self._bind_numbers(kernel, Access("numbers", uint32, True, False))
        target = self._target(kernel, wide=True)
        lines, wanted = numbers.load_wide("i", "wanted")
        kernel.line(*lines, f"if (({' | '.join(wanted)}) == 0u) {{ return; }}")
        lines, old = target.load_wide("i", "old")
        kernel.line(*lines)
        for lane, (number, kept) in enumerate(zip(wanted, old, strict=True)):
            value = values.load(f"{number} - 1u")
            kernel.line(f"var v{lane} = {kept};", f"if ({number} != 0u) {{ v{lane} = {value}; }}")
        kernel.line(*target.store_wide("i", [f"v{lane}" for lane in range(LANES)]))
        return kernel.launch(-(-fours // WORKGROUP), limit)

    def write(self, limit: int) -> Launch:
        """Write each value that was elected."""
        kernel = _open(f"{self.label} write", self.step.count)
        values = self._bind(kernel, self.values, "values")
        positions = self._bind(kernel, self.positions, "positions")
        self._bind_numbers(kernel, Access("numbers", uint32, False, False))
        target = self._target(kernel, wide=False)
        kernel.line(f"let place = {self._place(positions)};")
        kernel.line(f"if (numbers[place] == i + 1u) {{ {target.store('place', values.load('i'))} }}")
        return kernel.launch(-(-self.step.count // WORKGROUP), limit)

    def _place(self, positions: Access) -> str:
        return position_expression(positions.load("i"), self.positions.dtype)

    def _bind(self, kernel: Kernel, place: Place, name: str) -> Access:
        if place.kind == "scratch":
            nbytes = scratch_bytes(self.step.count, place.dtype)
            binding = Binding("scratch", place.slot, 0, nbytes, False)
        else:
            binding, _ = window(place.kind, place.slot, 0, self.step.count - 1, place.dtype, writable=False)
        return kernel.bind(Access(name, place.dtype, False, False), binding)

    def _bind_numbers(self, kernel: Kernel, access: Access) -> Access:
        nbytes = scratch_bytes(self.step.extent, uint32)
        return kernel.bind(access, Binding("scratch", self.numbers, 0, nbytes, access.writable))

    def _target(self, kernel: Kernel, *, wide: bool) -> Access:
        dtype = _RAW.get(self.step.dtype.itemsize, self.step.dtype)
        binding, _ = window("output", 0, 0, self.step.extent - 1, dtype, writable=True)
        return kernel.bind(Access("output0", dtype, wide, True), binding)
