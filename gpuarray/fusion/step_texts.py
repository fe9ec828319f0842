"""The canonical texts of steps: structure, operations, dtypes and stride classes, without sizes and values."""

from typing import Final, assert_never

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
    Scalar,
    ScanStep,
    ScatterStep,
    Step,
    Store,
    Take,
    stride_class,
)
from gpuarray.graph.layouts import Layout

_LEVELS: Final = "uof"


def _placed(layout: Layout, with_offsets: bool) -> str:
    """Return the class of a layout and, if wanted, the element at which it begins."""
    return f"{stride_class(layout)} +{layout.offset}" if with_offsets and layout.offset else stride_class(layout)


def _instruction_text(number: int, item: Instruction, with_offsets: bool) -> str:
    head = f"%{number}:{_LEVELS[item.level]}:{item.dtype.name} = "
    match item:
        case Scalar():
            return f"{head}scalar {item.slot}"
        case Load():
            return f"{head}load {item.slot} {_placed(item.layout, with_offsets)}"
        case Take():
            return f"{head}take {item.slot} %{item.position}"
        case Index():
            return f"{head}index {item.op.name} {stride_class(item.layout)} {list(item.parameters)}"
        case Apply():
            operands = " ".join(f"%{o}:{s.name}" for o, s in zip(item.operands, item.sources, strict=True))
            return f"{head}{item.op.name} {operands}"
        case Fold():
            return f"{head}fold {item.op.name} %{item.operand}:{item.source.name}"
        case _:
            assert_never(item)


def _store_text(store: Store, with_offsets: bool) -> str:
    where = _placed(store.layout, with_offsets) if store.position is None else f"at %{store.position}"
    return f"store {store.slot}:{store.dtype.name} %{store.value} {_LEVELS[store.level]} {where}"


def loop_text(loop: Loop, with_offsets: bool = False) -> str:
    """Return the canonical text of a loop: structure, operations, dtypes and stride classes; no sizes and no values."""
    updates = "".join(f" input {read} is output {written}" for read, written in loop.updates)
    lines = [f"loop {len(loop.outer)}+{len(loop.inner)}{updates}"]
    lines += [_instruction_text(i, item, with_offsets) for i, item in enumerate(loop.instructions)]
    lines += [_store_text(store, with_offsets) for store in loop.stores]
    return "\n".join(lines)


def text(step: Step, with_offsets: bool = False) -> str:
    """Return the canonical text of a step, which golden tests compare; with offsets, what ``explain`` shows."""
    match step:
        case Loop():
            return loop_text(step, with_offsets)
        case ScanStep():
            head = f"scan {step.op.name} {step.source.name} -> {step.dtype.name}"
            return head if step.epilogue is None else f"{head}\nepilogue {loop_text(step.epilogue, with_offsets)}"
        case ContractStep():
            operands = f"{stride_class(step.left)} {stride_class(step.right)}"
            lines = [f"contract {step.dtype.name} {operands}"]
            sides = zip(("left", "right", "epilogue"), (*step.prologues, step.epilogue), strict=True)
            return "\n".join(
                lines + [f"{name} {loop_text(loop, with_offsets)}" for name, loop in sides if loop is not None]
            )
        case CallStep():
            dtypes = " ".join(d.name for d in step.input_dtypes)
            return f"call {step.op.name} {dtypes} -> {' '.join(d.name for d in step.output_dtypes)}"
        case CopyStep():
            return f"copy {step.dtype.name}"
        case ScatterStep():
            how = "" if step.combine is None else f" {step.combine.name} {step.input_dtypes[0].name}"
            return f"scatter{how} {step.dtype.name} at {step.positions.name}"
        case _:
            assert_never(step)
