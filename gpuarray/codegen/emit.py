"""From steps to programs: the entrance to code generation.

:func:`emit` returns the program of a step, and :func:`unsupported` the reason why a device has none.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate, chain
from typing import Final, assert_never

from gpuarray import dtypes
from gpuarray.codegen import binding_splits, calls, loop_splits
from gpuarray.codegen.accumulators import without_kernel
from gpuarray.codegen.all_pairs import AllPairsKernel, all_pairs_of
from gpuarray.codegen.flat import flat_launch
from gpuarray.codegen.product_choice import candidates
from gpuarray.codegen.products import product_program
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.reductions import cut_row_program, row_program
from gpuarray.codegen.row_schedule import is_single_pass
from gpuarray.codegen.scans import ScanKernels
from gpuarray.codegen.scatters import copy_program, scatter_program
from gpuarray.codegen.scatters_combined import unsupported_combine
from gpuarray.codegen.stencils import columns_of, stencil_launch
from gpuarray.codegen.target import compute_type, for_target
from gpuarray.codegen.transposes import tile_of, transposing_launch
from gpuarray.codegen.wgsl import template_of, window_bytes
from gpuarray.codegen.window_folds import WindowKernel, windows_of
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import (
    Apply,
    CallStep,
    ContractStep,
    CopyStep,
    Fold,
    Index,
    Instruction,
    Load,
    Loop,
    ScanStep,
    ScatterStep,
    Step,
)
from gpuarray.ops.spec import wgsl_template


def emit(step: Step, capabilities: Capabilities, *, fast: bool = False, gradual: bool = False) -> Program:
    """Return the program of a step for which :func:`unsupported` returns None.

    A step with an array that is larger than a buffer can be is never run, as its memory is asked for first. Its program
    is empty, because it would be cut into billions of launches.

    Parameters
    ----------
    step : Step
        What to run.
    capabilities : Capabilities
        Limits of the device.
    fast : bool
        Whether functions of single precision may be the driver's own.
    gradual : bool
        Whether sums and products keep subnormal numbers that the device does not.
    """
    if _has_no_room(step, capabilities):
        return Program(())
    with for_target(capabilities, fast=fast, gradual=gradual):
        return _in_buffers(_program(step, label_of(step), capabilities), capabilities)


def _in_buffers(program: Program, capabilities: Capabilities) -> Program:
    """Return a program whose scratch buffers fit the device: larger ones become a buffer for each binding."""
    if max(program.scratch, default=0) <= capabilities.buffer_limit:
        return program
    each = window_bytes(capabilities.binding_limit)
    buffers = [
        [min(each, nbytes - begin) for begin in range(0, nbytes, each)]
        if nbytes > capabilities.buffer_limit
        else [nbytes]
        for nbytes in program.scratch
    ]
    firsts = list(accumulate(map(len, buffers), initial=0))

    def placed(binding: Binding) -> Binding:
        if binding.kind != "scratch":
            return binding
        window, offset = divmod(binding.offset, each) if len(buffers[binding.slot]) > 1 else (0, binding.offset)
        return replace(binding, slot=firsts[binding.slot] + window, offset=offset)

    launches = (replace(launch, bindings=tuple(map(placed, launch.bindings))) for launch in program.launches)
    return Program(tuple(launches), tuple(chain(*buffers)))


def _program(step: Step, label: str, capabilities: Capabilities) -> Program:
    match step:
        case Loop():
            return _loop(step, label, capabilities)
        case ScanStep():
            return ScanKernels(step, label, capabilities).program()
        case ContractStep():
            products = binding_splits.split_product(step, capabilities)
            return binding_splits.join(products, lambda piece: product_program(piece, label, capabilities))
        case CopyStep():
            return copy_program(step, label, capabilities)
        case ScatterStep():
            return scatter_program(step, label, capabilities)
        case CallStep():
            kernels = calls.KERNELS[step.op]
            parts = binding_splits.split_call(step, capabilities, kernels.pieces)
            return binding_splits.join(parts, lambda piece: kernels.program(piece, label, capabilities))
        case _:
            assert_never(step)


def _loop(loop: Loop, label: str, capabilities: Capabilities) -> Program:
    loop, added = loop_splits.separate_takes(_as_bits(loop), capabilities)
    program = _of_pieces(loop, label, capabilities)
    return replace(program, launches=tuple(_renumbered(launch, added) for launch in program.launches))


def _renumbered(launch: Launch, numbers: Mapping[int, int]) -> Launch:
    """Return a launch with the numbers of some inputs replaced."""
    bindings = (
        replace(b, slot=numbers[b.slot]) if b.kind == "input" and b.slot in numbers else b for b in launch.bindings
    )
    return replace(launch, bindings=tuple(bindings)) if numbers else launch


def _of_pieces(loop: Loop, label: str, capabilities: Capabilities) -> Program:
    launches: list[Launch] = []
    scratch: tuple[int, ...] = ()
    parts = loop_splits.split_loop(loop, capabilities)
    if parts is None:
        columns = _column_pieces(loop, capabilities)
        if columns is not None:
            return cut_row_program(loop, columns, label, capabilities)
    for piece in parts or [loop]:
        if not piece.folds:
            launches.append(_without_folds(piece, label, capabilities))
            continue
        pairs = all_pairs_of(piece, capabilities)
        if pairs is not None:
            launches.append(AllPairsKernel(piece, pairs, label, capabilities).launch())
            continue
        windows = windows_of(piece, capabilities)
        if windows is not None:
            launches.append(WindowKernel(piece, windows, label, capabilities).launch())
            continue
        program = row_program(piece, label, capabilities)
        launches += program.launches
        scratch = (
            tuple(max(pair) for pair in zip(scratch, program.scratch, strict=True)) if scratch else program.scratch
        )
    return Program(tuple(launches), scratch)


def _column_pieces(loop: Loop, capabilities: Capabilities) -> list[tuple[Loop, int]] | None:
    return loop_splits.split_columns(loop, capabilities) if loop.folds and is_single_pass(loop) else None


def _without_folds(loop: Loop, label: str, capabilities: Capabilities) -> Launch:
    tile = tile_of(loop, capabilities)
    if tile is not None:
        return transposing_launch(loop, tile, label, capabilities)
    columns = columns_of(loop, capabilities)
    if columns is not None:
        return stencil_launch(loop, columns, label, capabilities)
    return flat_launch(loop, label, capabilities)


#: Most elements of an array that a kernel indexes with 32 bits; the slack is for indices beyond the end.
_MOST_ELEMENTS: Final = (1 << 32) - (1 << 16)
_TOO_MANY: Final = "an array has more elements than kernels count in 32 bits"
#: The last position that kernels make elements of, and that they find: drivers differ in how they widen larger ones.
_LAST_POSITION: Final = (1 << 31) - 1
_TOO_FAR: Final = "positions beyond 2**31 are computed on the host"

#: An upper bound of the scratch memory of a call, as a multiple of its largest array.
_MOST_SCRATCH: Final = 16

#: Bytes that spans have more than their arrays at most, for windows that begin at a multiple of bytes.
_SLACK: Final = 512

_TOO_LARGE: Final = "an array is larger than one storage binding of this device shows"

#: Integers that hold the bits of elements smaller than a word, by size.
_BITS: Final = {1: dtypes.uint8, 2: dtypes.uint16}


def _as_bits(loop: Loop) -> Loop:
    """Return a loop that only moves small elements as one that moves integers of their size."""
    if not all(isinstance(item, Load) for item in loop.instructions) or any(
        s.position is not None for s in loop.stores
    ):
        return loop

    def bits(dtype: DType) -> DType:
        return _BITS.get(dtype.itemsize, dtype)

    return replace(
        loop,
        instructions=tuple(replace(item, dtype=bits(item.dtype)) for item in loop.instructions),
        stores=tuple(replace(store, dtype=bits(store.dtype)) for store in loop.stores),
        input_dtypes=tuple(map(bits, loop.input_dtypes)),
        output_dtypes=tuple(map(bits, loop.output_dtypes)),
    )


def label_of(step: Step) -> str:
    """Return a short label of a step, which depends on its operations and dtypes only."""
    match step:
        case Loop():
            names = [i.op.name for i in step.instructions if isinstance(i, Apply | Fold | Index)]
            shown = "_".join(dict.fromkeys(names)) if len(names) <= 6 else f"{'_'.join(names[:5])}_and_{len(names) - 5}"
            return f"{'rows' if step.folds else 'map'}_{shown or 'copy'}"
        case ScanStep():
            return f"scan_{step.op.name}_{step.dtype.name}"
        case ContractStep():
            return f"contract_{step.dtype.name}"
        case CopyStep() | ScatterStep():
            return f"{type(step).__name__.removesuffix('Step').lower()}_{step.dtype.name}"
        case CallStep():
            return step.op.name
        case _:
            assert_never(step)


def unsupported(step: Step, capabilities: Capabilities) -> str | None:
    """Return why the device cannot run a step, in a few words; None if it can."""
    if isinstance(step, CallStep) and step.op not in calls.KERNELS:
        return "no kernel: runs as NumPy's function on the host"
    for dtype in _dtypes(step):
        if dtype not in capabilities.dtypes:
            return f"{dtype.name} is not supported by this device"
    if _has_no_room(step, capabilities):
        return None
    with for_target(capabilities):
        return _without_kernel(step, capabilities)


def _has_no_room(step: Step, capabilities: Capabilities) -> bool:
    """Whether the step writes to more bytes than a buffer of the device can have."""
    if isinstance(step, Loop):
        spans = step.spans
        sizes = [
            (spans["output", slot][1] + 1) * dtype.itemsize
            for slot, dtype in enumerate(step.output_dtypes)
            if ("output", slot) in spans
        ]
        return max(sizes, default=0) > capabilities.buffer_limit
    if isinstance(step, ScanStep | ContractStep | CallStep):
        return binding_splits.most_bytes(step) - _SLACK > capabilities.buffer_limit
    return False


def _without_kernel(step: Step, capabilities: Capabilities) -> str | None:
    match step:
        case Loop():
            return _unsupported_loop(step, capabilities) or _unsupported_windows(step, capabilities)
        case ScanStep() | ContractStep() if reason := _unsupported_loops(step, capabilities):
            return reason
        case ScanStep():
            if step.op.combine is None or template_of(step.op.combine, (step.dtype, step.dtype)) is None:
                return f"{step.op.name} of {step.dtype.name} has no kernel"
            return _unsupported_windows(step, capabilities)
        case ContractStep() if not candidates(step.dtype, capabilities, step.left.shape[2]):
            return f"a matrix product of {step.dtype.name} needs more workgroup memory than this device has"
        case ContractStep():
            return _unsupported_windows(step, capabilities)
        case CallStep():
            kernels = calls.KERNELS[step.op]
            parts = binding_splits.split_call(step, capabilities, kernels.pieces)
            if parts is None:
                return _TOO_LARGE
            return kernels.unsupported(parts[0].step, capabilities) or _unsupported_windows(step, capabilities)
        case ScatterStep():
            return None if step.combine is None else unsupported_combine(step, capabilities)
        case CopyStep():
            return None
        case _:
            assert_never(step)


def _unsupported_windows(step: Loop | ScanStep | ContractStep | CallStep, capabilities: Capabilities) -> str | None:
    """Return why a device cannot bind arrays, or scratch memory, that are larger than a binding; None if it can."""
    if (
        binding_splits.most_bytes(step) * (_MOST_SCRATCH if isinstance(step, CallStep) else 1)
        <= capabilities.binding_limit
    ):
        return None
    program = _program(step, label_of(step), capabilities)
    itemsizes = {("input", slot): dtype.itemsize for slot, dtype in enumerate(step.input_dtypes)}
    itemsizes |= {("output", slot): dtype.itemsize for slot, dtype in enumerate(step.output_dtypes)}
    for launch in program.launches:
        if len(launch.bindings) > capabilities.storage_bindings:
            return f"{len(launch.bindings)} parts of arrays are more than this device binds at once"
        shown: Counter[tuple[str, int]] = Counter()
        for binding in launch.bindings:
            shown[binding.kind, binding.slot] += binding.nbytes
        if any(nbytes > itemsizes.get(array, 4) * _MOST_ELEMENTS for array, nbytes in shown.items()):
            return _TOO_MANY
    return None


def _dtypes(step: Step) -> set[DType]:
    dtypes_of_step = {*step.input_dtypes, *step.output_dtypes, *step.scalar_dtypes}
    for loop in [step] if isinstance(step, Loop) else step.loops if isinstance(step, ScanStep | ContractStep) else []:
        for item in loop.instructions:
            dtypes_of_step.add(item.dtype)
            if isinstance(item, Fold):
                dtypes_of_step.add(item.op.accumulate(item.source))
    return dtypes_of_step


def _unsupported_loops(step: ScanStep | ContractStep, capabilities: Capabilities) -> str | None:
    """Return why a device cannot run a step's prologues and epilogue; None if it can."""
    for loop in step.loops:
        if reason := _unsupported_loop(loop, capabilities):
            return reason
    return None


def _reaches_too_far(loop: Loop, item: Instruction) -> bool:
    """Whether an instruction has positions in it that kernels do not compute right, as they have 32 bits."""
    if isinstance(item, Index):
        return not item.op.is_constant and item.layout.bounds()[1] > _LAST_POSITION
    if isinstance(item, Fold):
        return item.op.combine is None and loop.columns > _LAST_POSITION
    return False


def _unsupported_loop(loop: Loop, capabilities: Capabilities) -> str | None:
    loop, _ = loop_splits.separate_takes(loop, capabilities)
    for item in loop.instructions:
        if isinstance(item, Apply) and template_of(item.op, item.sources) is None:
            return f"{item.op.name} of {item.sources[0].name} has no kernel"
        if isinstance(item, Index) and wgsl_template(item.op, compute_type(item.dtype)) is None:
            return f"{item.op.name} of {item.dtype.name} has no kernel"
        if isinstance(item, Fold) and (reason := without_kernel(item)):
            return reason
        if _reaches_too_far(loop, item):
            return _TOO_FAR
    further = sum(windows - 1 for windows in loop_splits.windows_needed(loop, capabilities).values())
    parts = sum(i.op.state_size for i in loop.instructions if isinstance(i, Fold)) if is_single_pass(loop) else 0
    bindings = len(loop.input_dtypes) + len(loop.output_dtypes) + parts + further
    if bindings > capabilities.storage_bindings:
        return f"{bindings} arrays are more than this device binds at once"
    if loop.rows * loop.columns > _MOST_ELEMENTS:
        is_cut = (
            loop_splits.split_loop(loop, capabilities) is not None or _column_pieces(loop, capabilities) is not None
        )
        return None if is_cut else _TOO_MANY
    return None
