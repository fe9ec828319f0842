"""Counting how often each of the first integers occurs: by atomic additions, in workgroup memory where they fit."""

from math import prod
from typing import Final

from gpuarray.codegen import cuts
from gpuarray.codegen.calls.kernels import CallKernels
from gpuarray.codegen.casts import cast_expression, position_expression
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.storage import Access
from gpuarray.codegen.wgsl import WINDOW_END, WORKGROUP, Kernel, window
from gpuarray.device import Capabilities
from gpuarray.dtypes import uint32
from gpuarray.fusion.steps import CallStep

#: So many counts fit the least workgroup memory that devices have, 16 KiB.
_PRIVATE: Final = 4096
#: Elements an invocation, and workgroups at most, where each workgroup has counts of its own to add up at the end.
_ELEMENTS: Final = 16
_GROUPS: Final = 2048


class _Counts(Access):
    """A binding of atomic counts."""

    @property
    def element(self) -> str:
        """The WGSL element type of the binding's array."""
        return "atomic<u32>"


def _bind_counts(kernel: Kernel, number: int) -> None:
    nbytes = -(-number * 4 // WINDOW_END) * WINDOW_END
    kernel.bind(_Counts("scratch0", uint32, False, True), Binding("scratch", 0, 0, nbytes, True))


def _each_count(label: str, number: int) -> Kernel:
    """Return a kernel with an invocation for each count."""
    kernel = Kernel(label)
    size = kernel.word(number)
    _bind_counts(kernel, number)
    kernel.line("let block = group.x + group.y * groups.x;", f"let i = block * {WORKGROUP}u + local;")
    kernel.line(f"if (i >= {size}) {{ return; }}")
    return kernel


def _add(step: CallStep, label: str, number: int, piece: range, capabilities: Capabilities) -> Launch:
    """Return the launch that counts a piece of the positions."""
    kind, length = step.input_dtypes[0], len(piece)
    is_private = number <= _PRIVATE
    kernel = Kernel(f"{label} {'private' if is_private else 'shared'}")
    binding, _ = window("input", 0, piece.start, piece.stop - 1, kind, writable=False)
    positions = kernel.bind(Access("input0", kind, False, False), binding)
    _bind_counts(kernel, number)
    size, extent = kernel.word(number), kernel.word(length)
    groups = -(-length // WORKGROUP)
    if is_private:
        groups = min(-(-groups // _ELEMENTS), _GROUPS)
        kernel.module.append(f"var<workgroup> counts: array<atomic<u32>, {_PRIVATE}>;")
        kernel.line(
            f"for (var i = local; i < {size}; i += {WORKGROUP}u) {{ atomicStore(&counts[i], 0u); }}",
            "workgroupBarrier();",
        )
    stride = kernel.word(groups * WORKGROUP)
    kernel.line(
        "let block = group.x + group.y * groups.x;",
        f"for (var i = block * {WORKGROUP}u + local; i < {extent}; i += {stride}) {{",
        f"let place = {position_expression(positions.load('i'), kind)};",
        f"if (place < {size}) {{ atomicAdd(&{'counts' if is_private else 'scratch0'}[place], 1u); }}",
        "}",
    )
    if is_private:
        kernel.line(
            "workgroupBarrier();",
            f"for (var i = local; i < {size}; i += {WORKGROUP}u) {{",
            "let found = atomicLoad(&counts[i]);",
            "if (found > 0u) { atomicAdd(&scratch0[i], found); }",
            "}",
        )
    return kernel.launch(groups, capabilities.workgroup_limit)


def _program(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    number, kind = prod(step.output_shapes[0]), step.output_dtypes[0]
    groups, limit = -(-number // WORKGROUP), capabilities.workgroup_limit
    clear = _each_count(f"{label} clear", number)
    clear.line("atomicStore(&scratch0[i], 0u);")
    give = _each_count(f"{label} give", number)
    binding, _ = window("output", 0, 0, number - 1, kind, writable=True)
    target = give.bind(Access("output0", kind, False, True), binding)
    give.line(target.store("i", cast_expression("atomicLoad(&scratch0[i])", uint32, kind)))
    length = prod(step.shapes[0])
    begins = cuts.starts(length, capabilities, step.input_dtypes[0])
    pieces = [range(begin, min(begin + begins.step, length)) for begin in begins]
    adds = [_add(step, label, number, piece, capabilities) for piece in pieces]
    return Program(
        (clear.launch(groups, limit), *adds, give.launch(groups, limit)), (-(-number * 4 // WINDOW_END) * WINDOW_END,)
    )


TALLY: Final = CallKernels(_program, pieces=(("input", 0),))
"""The kernels of ``tally``."""
