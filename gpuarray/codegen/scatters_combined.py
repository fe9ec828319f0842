"""Kernels of scatters that combine each element with all values of its position, like ``ufunc.at``.

Sums and extremes of 32-bit integers are atomic operations, whose order does not matter. Otherwise a stable radix sort
orders the positions together with the numbers of their values, and one invocation combines each element with its
values, in order. Results equal those of NumPy's ``ufunc.at`` bit for bit. If elements have many values each and the
operation has a reduction, a group of invocations combines them in a tree whose shape depends on their number alone.
Results are the same in every run.
"""

from typing import Final

from gpuarray.codegen.calls.sorting_digits import BufferRef, DigitPass, DigitSort
from gpuarray.codegen.calls.sorting_keys import bind_scratch
from gpuarray.codegen.calls.sorting_tiles import BITS
from gpuarray.codegen.casts import cast_expression, position_expression
from gpuarray.codegen.programs import Launch, Program
from gpuarray.codegen.storage import Access, register_type
from gpuarray.codegen.wgsl import WORKGROUP, Kernel, apply_expression, combine_expression, scratch_bytes, template_of
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType, int32, uint32
from gpuarray.fusion.steps import ScatterStep
from gpuarray.ops.reductions import ELEMENTWISE

#: With at least this many values per element on average, groups of invocations combine them.
_GROUP_VALUES: Final = 64
#: Scratch buffers after those of the counts: the sorted positions and the numbers of their values. The passes of the
#: sort alternate between two of each.
_POSITIONS: Final = (2, 4)
_NUMBERS: Final = (3, 5)


class PositionSort(DigitSort):
    """A radix sort of positions, which are moved as 32-bit words."""

    def __init__(self, label: str, count: int, capabilities: Capabilities) -> None:
        super().__init__(label, uint32, 1, count, capabilities, descending=False, positions=True)

    def _loaded(self, values: Access, index: str) -> str:
        loaded = values.load(index)
        return f"{loaded}.x" if values.dtype.itemsize == 8 else loaded


def combined_scatter_program(step: ScatterStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a scatter with ``combine``."""
    assert step.combine is not None
    if _is_atomic(step):
        return Program((_atomic(step, label, capabilities),))
    sort = PositionSort(label, step.count, capabilities)
    passes = max(1, -(-max(step.extent - 1, 1).bit_length() // BITS))
    launches: list[Launch] = []
    positions, numbers = BufferRef("input", 1, step.positions), None
    for digit in range(passes):
        new_positions, new_numbers = (
            BufferRef("scratch", slots[digit % 2], uint32) for slots in (_POSITIONS, _NUMBERS)
        )
        launches += sort.pass_launches(DigitPass(digit, positions, numbers, new_positions, new_numbers))
        positions, numbers = new_positions, new_numbers
    assert numbers is not None
    fold = _fold_in_groups if _takes_groups(step) else _fold
    launches.append(fold(step, label, positions, numbers, capabilities))
    moved = [scratch_bytes(step.count, uint32)] * (2 if passes == 1 else 4)
    scratch = (scratch_bytes(sort.lines * sort.blocks, uint32), scratch_bytes(sort.lines, uint32), *moved)
    return Program(tuple(launches), scratch)


def unsupported_combine(step: ScatterStep, capabilities: Capabilities) -> str | None:
    """Return why a device cannot run a scatter with ``combine``, in a few words; None if it can."""
    signature = step.signature
    assert step.combine is not None
    assert signature is not None
    for dtype in (*signature.inputs, signature.output):
        if dtype not in capabilities.dtypes:
            return f"{dtype.name} is not supported by this device"
    if template_of(step.combine, signature.inputs) is None:
        return f"{step.combine.name} of {signature.inputs[0].name} has no kernel"
    nbytes = max(step.extent * step.dtype.itemsize, *(step.count * max(d.itemsize, 4) for d in step.input_dtypes))
    return None if nbytes <= capabilities.binding_limit - 512 else "an array is larger than one binding"


def _is_uniform(step: ScatterStep) -> bool:
    """Return whether elements, values and results have the same dtype."""
    signature = step.signature
    return signature is not None and {*signature.inputs, signature.output, *step.input_dtypes[:1]} == {step.dtype}


def _is_atomic(step: ScatterStep) -> bool:
    return (
        step.combine is not None and bool(step.combine.atomic) and step.dtype in (int32, uint32) and _is_uniform(step)
    )


def _takes_groups(step: ScatterStep) -> bool:
    return step.combine in ELEMENTWISE and step.count >= _GROUP_VALUES * step.extent and _is_uniform(step)


def _open(step: ScatterStep, kernel: Kernel) -> tuple[Access, Access]:
    """Bind the values and the target of a kernel, whose invocations are numbered ``i``."""
    item = f"atomic<{register_type(step.dtype)}>" if _is_atomic(step) else ""
    values = kernel.array("input", 0, step.count, step.input_dtypes[0])
    target = kernel.array("output", 0, step.extent, step.dtype, item=item)
    kernel.line(
        "let block = group.x + group.y * groups.x;",
        f"let i = block * {WORKGROUP}u + local;",
        f"let size = {kernel.parameter(step.count)};",
    )
    return values, target


def _atomic(step: ScatterStep, label: str, capabilities: Capabilities) -> Launch:
    assert step.combine is not None
    kernel = Kernel(f"{label} atomic")
    values, _ = _open(step, kernel)
    positions = kernel.array("input", 1, step.count, step.positions)
    position = position_expression(positions.load("i"), step.positions)
    kernel.line("if (i >= size) { return; }", f"{step.combine.atomic}(&output0[{position}], {values.load('i')});")
    return kernel.launch(-(-step.count // WORKGROUP), capabilities.workgroup_limit)


def _fold(
    step: ScatterStep, label: str, positions: BufferRef, numbers: BufferRef, capabilities: Capabilities
) -> Launch:
    """Return the launch in which one invocation per element combines its values one by one."""
    kernel = Kernel(f"{label} fold")
    values, target = _open(step, kernel)
    keys, order = _bind_sorted(kernel, step, positions, numbers)
    # a single exit: with two breaks in a loop, llvmpipe keeps invocations running that have left it
    kernel.line(
        "if (i >= size) { return; }",
        f"let own = {keys.load('i')};",
        f"if (i > 0u) {{ if ({keys.load('i - 1u')} == own) {{ return; }} }}",
        f"var kept: {register_type(step.dtype)} = {target.load('own')};",
        "var at = i;",
        "var more = true;",
        "while (more) {",
        f"let number = {order.load('at')};",
        f"kept = {_combined(step, 'kept', values.load('number'))};",
        "at += 1u;",
        "more = at < size;",
        f"if (more) {{ more = {keys.load('at')} == own; }}",
        "}",
        target.store("own", "kept"),
    )
    return kernel.launch(-(-step.count // WORKGROUP), capabilities.workgroup_limit)


def _fold_in_groups(
    step: ScatterStep, label: str, positions: BufferRef, numbers: BufferRef, capabilities: Capabilities
) -> Launch:
    """Return the launch in which a group of invocations combines the values of an element."""
    assert step.combine is not None
    dtype, kernel = step.dtype, Kernel(f"{label} fold groups")
    values, target = _open(step, kernel)
    keys, order = _bind_sorted(kernel, step, positions, numbers)
    together = min(1 << (step.count // step.extent // 4).bit_length(), WORKGROUP)
    lanes, extent = kernel.parameter(together), kernel.parameter(step.extent)
    kind = register_type(dtype)
    word = "u32" if kind == "bool" else kind  # workgroup memory holds booleans as words
    kernel.module.append(f"var<workgroup> parts: array<{word}, {WORKGROUP}>;")

    def to_word(value: str) -> str:
        return f"select(0u, 1u, {value})" if kind == "bool" else value

    def from_word(word: str) -> str:
        return f"({word} != 0u)" if kind == "bool" else word

    both = combine_expression(step.combine, from_word("parts[local]"), from_word("parts[local + half]"), dtype)
    kernel.line(
        f"let lane = local & ({lanes} - 1u);",
        f"let element = i / {lanes};",
        *_search(keys, "low", "element"),
        *_search(keys, "high", "element + 1u"),
        f"var total: {kind};",
        "var at = low + lane;",
        f"if (at < high) {{ let number = {order.load('at')}; total = {values.load('number')}; }}",
        f"for (at += {lanes}; at < high; at += {lanes}) {{",
        f"let number = {order.load('at')};",
        f"total = {combine_expression(step.combine, 'total', values.load('number'), dtype)};",
        "}",
        f"parts[local] = {to_word('total')};",
        "workgroupBarrier();",
        f"for (var half = {lanes} >> 1u; half > 0u; half >>= 1u) {{",
        f"if (lane < half && low + lane + half < high) {{ parts[local] = {to_word(both)}; }}",
        "workgroupBarrier();",
        "}",
        f"if (lane == 0u && low < high && element < {extent}) {{",
        f"let folded = {_combined(step, target.load('element'), from_word('parts[local]'))};",
        target.store("element", "folded"),
        "}",
    )
    return kernel.launch(-(-step.extent * together // WORKGROUP), capabilities.workgroup_limit)


def _search(keys: Access, name: str, key: str) -> list[str]:
    """Return the statements of a binary search for the first position of a key that is not less than ``key``."""
    return [
        f"var {name} = 0u;",
        f"var {name}_end = size;",
        f"while ({name} < {name}_end) {{",
        f"let middle = ({name} + {name}_end) / 2u;",
        f"if ({keys.load('middle')} < {key}) {{ {name} = middle + 1u; }} else {{ {name}_end = middle; }}",
        "}",
    ]


def _bind_sorted(kernel: Kernel, step: ScatterStep, positions: BufferRef, numbers: BufferRef) -> tuple[Access, Access]:
    keys, order = (
        bind_scratch(kernel, buffer.slot, step.count, uint32, writable=False, name=name)
        for buffer, name in ((positions, "keys"), (numbers, "order"))
    )
    return keys, order


def _combined(step: ScatterStep, element: str, value: str) -> str:
    """Return an element combined with a value, in the target's dtype."""
    signature = step.signature
    assert step.combine is not None
    assert signature is not None
    operands_and_dtypes: tuple[tuple[str, DType], ...] = ((element, step.dtype), (value, step.input_dtypes[0]))
    pairs = zip(operands_and_dtypes, signature.inputs, strict=False)
    operands = [cast_expression(operand, source, kind) for (operand, source), kind in pairs]
    combined = apply_expression(step.combine, operands, signature.inputs, signature.output)
    return cast_expression(combined, signature.output, step.dtype)
