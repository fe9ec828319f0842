"""From steps to programs: the one entrance to code generation."""

from dataclasses import replace
from typing import Final, assert_never

from gpuarray import dtypes
from gpuarray.codegen import calls, cuts, slices
from gpuarray.codegen.dialect import compute_type, made_for
from gpuarray.codegen.folds import cut_row_program, row_program
from gpuarray.codegen.loops import flat_launch
from gpuarray.codegen.pairings import PairKernel, pairing_of
from gpuarray.codegen.products import candidates, product_program
from gpuarray.codegen.programs import Launch, Program
from gpuarray.codegen.scans import ScanKernels, most_shown
from gpuarray.codegen.scatters import copy_program, scatter_program
from gpuarray.codegen.stencils import columns_of, stencil_launch
from gpuarray.codegen.transposes import tile_of, turned_launch
from gpuarray.codegen.walks import is_one_walk
from gpuarray.codegen.wgsl import template_of
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import (
    Apply,
    CallStep,
    ContractStep,
    CopyStep,
    Fold,
    Index,
    Load,
    Loop,
    ScanStep,
    ScatterStep,
    Step,
)
from gpuarray.ops.spec import wgsl_template


def emit(step: Step, capabilities: Capabilities, *, fast: bool = False, gradual: bool = False) -> Program:
    """Return the program of a step that :func:`unsupported` has nothing against.

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
    with made_for(capabilities, fast=fast, gradual=gradual):
        return _program(step, label_of(step), capabilities)


def _program(step: Step, label: str, capabilities: Capabilities) -> Program:
    match step:
        case Loop():
            return _loop(step, label, capabilities)
        case ScanStep():
            return ScanKernels(step, label, capabilities).program()
        case ContractStep():
            products = cuts.product_pieces(step, capabilities)
            return cuts.joined(products, lambda part: product_program(part, label, capabilities))
        case CopyStep():
            return copy_program(step, label, capabilities)
        case ScatterStep():
            return scatter_program(step, label, capabilities)
        case CallStep():
            kernels = calls.KERNELS[step.op]
            parts = cuts.call_pieces(step, capabilities, kernels.pieces)
            return cuts.joined(parts, lambda part: kernels.program(part, label, capabilities))
        case _:
            assert_never(step)


def _loop(loop: Loop, label: str, capabilities: Capabilities) -> Program:
    launches: list[Launch] = []
    scratch: tuple[int, ...] = ()
    loop = _as_bits(loop)
    parts = slices.pieces(loop, capabilities)
    if parts is None:
        return cut_row_program(loop, slices.column_pieces(loop, capabilities) or (), label, capabilities)
    for part in parts:
        if not part.folds:
            launches.append(_without_folds(part, label, capabilities))
            continue
        pairing = pairing_of(part, capabilities)
        if pairing is not None:
            launches.append(PairKernel(part, pairing, label, capabilities).launch())
            continue
        program = row_program(part, label, capabilities)
        launches += program.launches
        scratch = (
            tuple(max(pair) for pair in zip(scratch, program.scratch, strict=True)) if scratch else program.scratch
        )
    return Program(tuple(launches), scratch)


def _without_folds(loop: Loop, label: str, capabilities: Capabilities) -> Launch:
    tile = tile_of(loop, capabilities)
    if tile is not None:
        return turned_launch(loop, tile, label, capabilities)
    columns = columns_of(loop)
    if columns is not None:
        return stencil_launch(loop, columns, label, capabilities)
    return flat_launch(loop, label, capabilities)


_TOO_LARGE: Final = "an array is larger than one storage binding of this device shows"

#: Integers that hold the bits of what is smaller than a word.
_BITS: Final = {1: dtypes.uint8, 2: dtypes.uint16}


def _as_bits(loop: Loop) -> Loop:
    """Return a loop that does no more than move small elements as one that does not look at them."""
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
    """Return a short label of a step, which depends on its rows and dtypes only."""
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
    with made_for(capabilities):
        return _without_kernel(step, capabilities)


def _without_kernel(step: Step, capabilities: Capabilities) -> str | None:
    match step:
        case Loop():
            return _unsupported_loop(step, capabilities)
        case ScanStep() | ContractStep() if reason := _unsupported_beside(step, capabilities):
            return reason
        case ScanStep():
            if template_of(step.op.combine, (step.dtype, step.dtype)) is None:
                return f"{step.op.name} of {step.dtype.name} has no kernel"
            # without an epilogue it is cut into pieces, but for what lies side by side
            least = step.after if step.epilogue is None else step.before * step.length * step.after
            return _TOO_LARGE if least > most_shown(step, capabilities) else None
        case ContractStep() if not candidates(step.dtype, capabilities, step.left.shape[2]):
            return f"a matrix product of {step.dtype.name} needs more workgroup memory than this device has"
        case ContractStep():
            return _TOO_LARGE if cuts.product_pieces(step, capabilities) is None else None
        case CallStep():
            kernels = calls.KERNELS[step.op]
            parts = cuts.call_pieces(step, capabilities, kernels.pieces)
            return _TOO_LARGE if parts is None else kernels.unsupported(parts[0].step, capabilities)
        case CopyStep() | ScatterStep():
            return None
        case _:
            assert_never(step)


def _dtypes(step: Step) -> set[DType]:
    found = {*step.input_dtypes, *step.output_dtypes, *step.scalar_dtypes}
    for loop in [step] if isinstance(step, Loop) else step.loops if isinstance(step, ScanStep | ContractStep) else []:
        for item in loop.instructions:
            found.add(item.dtype)
            if isinstance(item, Fold):
                found.add(item.op.accumulate(item.source))
    return found


def _can_cut_columns(loop: Loop, capabilities: Capabilities) -> bool:
    return bool(loop.folds) and is_one_walk(loop) and slices.column_pieces(loop, capabilities) is not None


def _unsupported_beside(step: ScanStep | ContractStep, capabilities: Capabilities) -> str | None:
    """Return why a device cannot run the elementwise programs before and after a step; None if it can."""
    for loop in step.loops:
        if slices.widest(loop) > capabilities.binding_limit:
            return _TOO_LARGE
        if reason := _unsupported_loop(loop, capabilities):
            return reason
    return None


def _unsupported_loop(loop: Loop, capabilities: Capabilities) -> str | None:
    for item in loop.instructions:
        if isinstance(item, Apply) and template_of(item.op, item.sources) is None:
            return f"{item.op.name} of {item.sources[0].name} has no kernel"
        if isinstance(item, Index) and wgsl_template(item.op, compute_type(item.dtype)) is None:
            return f"{item.op.name} of {item.dtype.name} has no kernel"
        if isinstance(item, Fold) and not item.op.indexed:
            dtype = item.op.accumulate(item.source)
            if template_of(item.op.combine, (dtype, dtype)) is None:
                return f"{item.op.name} of {item.source.name} has no kernel"
    further = sum(slices.far(loop, capabilities).values())
    bindings = len(loop.input_dtypes) + len(loop.output_dtypes) + 2 * len(loop.folds) + further
    if bindings > capabilities.storage_bindings:
        return f"{bindings} arrays are more than this device binds at once"
    if slices.pieces(loop, capabilities) is None and not _can_cut_columns(loop, capabilities):
        return _TOO_LARGE
    return None
