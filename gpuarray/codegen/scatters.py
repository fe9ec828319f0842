"""Copies, and writes at computed positions.

Several values may go to one position, and the last in order must stay. So each position first learns the greatest
number among the values that want it, by an atomic maximum in scratch memory; then only that value is written: by the
position, which fetches it, since reading here and there takes a third of the time of writing so. Where values are few
they cost little in a large array: of the scratch memory only the words at their positions are touched, and each value
looks whether it is the one to be written.
"""

from typing import Final

from gpuarray.codegen.casts import position_expression
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.storage import LANES, Access
from gpuarray.codegen.wgsl import WINDOW_END, WORKGROUP, Kernel, window
from gpuarray.device import Capabilities
from gpuarray.dtypes import uint8, uint16, uint32
from gpuarray.fusion.steps import CopyStep, ScatterStep

#: Up to how many elements a value it is sooner done to go through all of the array than to where the values go.
_STREAMED: Final = 16
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
    nbytes = -(-step.extent * 4 // WINDOW_END) * WINDOW_END
    limit = capabilities.workgroup_limit
    clear, write = (_clear_all, _fetch) if step.extent <= _STREAMED * step.count else (_clear, _write)
    return Program(
        (clear(step, label, nbytes, limit), _elect(step, label, nbytes, limit), write(step, label, nbytes, limit)),
        (nbytes,),
    )


def _open(label: str, count: int) -> Kernel:
    kernel = Kernel(label)
    size = kernel.word(count)
    kernel.line("let block = group.x + group.y * groups.x;", f"let i = block * {WORKGROUP}u + local;")
    kernel.line(f"if (i >= {size}) {{ return; }}")
    return kernel


def _clear_all(step: ScatterStep, label: str, nbytes: int, limit: int) -> Launch:
    fours = -(-step.extent // LANES)
    kernel = _open(f"{label} clear all", fours)
    access = kernel.bind(Access("scratch0", uint32, True, True), Binding("scratch", 0, 0, nbytes, True))
    kernel.line(*access.store_wide("i", ["0u"] * LANES))
    return kernel.launch(-(-fours // WORKGROUP), limit)


def _clear(step: ScatterStep, label: str, nbytes: int, limit: int) -> Launch:
    kernel = _open(f"{label} clear", step.count)
    positions = _positions(kernel, step)
    kernel.bind(_Atomic("scratch0", uint32, False, True), Binding("scratch", 0, 0, nbytes, True))
    kernel.line(f"atomicStore(&scratch0[{position_expression(positions.load('i'), step.positions)}], 0u);")
    return kernel.launch(-(-step.count // WORKGROUP), limit)


def _positions(kernel: Kernel, step: ScatterStep) -> Access:
    binding, _ = window("input", 1, 0, step.count - 1, step.positions, writable=False)
    return kernel.bind(Access("input1", step.positions, False, False), binding)


def _values(kernel: Kernel, step: ScatterStep) -> Access:
    dtype = _RAW.get(step.dtype.itemsize, step.dtype)
    binding, _ = window("input", 0, 0, step.count - 1, dtype, writable=False)
    return kernel.bind(Access("input0", dtype, False, False), binding)


def _target(kernel: Kernel, step: ScatterStep, *, wide: bool) -> Access:
    dtype = _RAW.get(step.dtype.itemsize, step.dtype)
    binding, _ = window("output", 0, 0, step.extent - 1, dtype, writable=True)
    return kernel.bind(Access("output0", dtype, wide, True), binding)


class _Atomic(Access):
    """A binding of atomic words."""

    @property
    def element(self) -> str:
        return "atomic<u32>"


def _elect(step: ScatterStep, label: str, nbytes: int, limit: int) -> Launch:
    kernel = _open(f"{label} elect", step.count)
    positions = _positions(kernel, step)
    kernel.bind(_Atomic("scratch0", uint32, False, True), Binding("scratch", 0, 0, nbytes, True))
    kernel.line(f"atomicMax(&scratch0[{position_expression(positions.load('i'), step.positions)}], i + 1u);")
    return kernel.launch(-(-step.count // WORKGROUP), limit)


def _fetch(step: ScatterStep, label: str, nbytes: int, limit: int) -> Launch:
    """Give four neighbouring positions the values that they want, if any; what else is there keeps its bits."""
    fours = -(-step.extent // LANES)
    kernel = _open(f"{label} fetch", fours)
    values = _values(kernel, step)
    numbers = kernel.bind(Access("scratch0", uint32, True, False), Binding("scratch", 0, 0, nbytes, False))
    target = _target(kernel, step, wide=True)
    lines, wanted = numbers.load_wide("i", "wanted")
    kernel.line(*lines, f"if (({' | '.join(wanted)}) == 0u) {{ return; }}")
    lines, old = target.load_wide("i", "old")
    kernel.line(*lines)
    for lane, (number, kept) in enumerate(zip(wanted, old, strict=True)):
        kernel.line(f"var v{lane} = {kept};", f"if ({number} != 0u) {{ v{lane} = {values.load(f'{number} - 1u')}; }}")
    kernel.line(*target.store_wide("i", [f"v{lane}" for lane in range(LANES)]))
    return kernel.launch(-(-fours // WORKGROUP), limit)


def _write(step: ScatterStep, label: str, nbytes: int, limit: int) -> Launch:
    kernel = _open(f"{label} write", step.count)
    values = _values(kernel, step)
    positions = _positions(kernel, step)
    kernel.bind(Access("scratch0", uint32, False, False), Binding("scratch", 0, 0, nbytes, False))
    target = _target(kernel, step, wide=False)
    kernel.line(f"let place = {position_expression(positions.load('i'), step.positions)};")
    kernel.line(f"if (scratch0[place] == i + 1u) {{ {target.store('place', values.load('i'))} }}")
    return kernel.launch(-(-step.count // WORKGROUP), limit)
