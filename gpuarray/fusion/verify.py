"""The invariants of plans, checked step by step, as :mod:`gpuarray.graph.verify` checks graphs.

A plan is right in form when every step reads only what is there by then and writes where nobody reads, and when every
loop's instructions refer to earlier ones, at levels, phases and layouts that fit its index space.
"""

from collections.abc import Sequence
from typing import Any, assert_never

from gpuarray.fusion.plan import Plan, PlannedStep
from gpuarray.fusion.steps import (
    FULL,
    OUTER,
    UNIFORM,
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
    Store,
    Take,
)
from gpuarray.graph.layouts import are_apart
from gpuarray.graph.moving import at_values
from gpuarray.graph.nodes import Leaf, Node
from gpuarray.graph.verify import check_layout, check_unique, require
from gpuarray.ops.columns import Kind


def check_plan(plan: Plan, nodes: Sequence[Node]) -> None:
    """Check a plan for a graph in topological order.

    Raises
    ------
    InternalError
        If a step is malformed, reads what is not there, or writes what it reads.
    """
    written: set[int] = set()
    #: which value each shared buffer holds now
    holders: dict[int, int] = {}
    for number, planned in enumerate(plan.steps):
        where = f"step {number}"
        for position in planned.inputs:
            there = isinstance(nodes[position], Leaf) or position in written or nodes[position].size == 0
            require(there, f"{where} reads value {position} after it was made")
            slot = plan.slots.get(position)
            require(slot is None or holders.get(slot) == position, f"{where} finds value {position} in its buffer")
        updates = planned.step.updates if isinstance(planned.step, Loop) else ()
        both = [(planned.inputs[read], planned.outputs[write]) for read, write in updates]
        require(all(read == write for read, write in both), f"{where} updates what it reads")
        updated = {read for read, _ in both}
        require(set(planned.inputs) & set(planned.outputs) == updated, f"{where} does not read what else it writes")
        shared = {plan.slots[i] for i in planned.inputs if i in plan.slots and i not in updated}
        for position in planned.outputs:
            slot = plan.slots.get(position)
            require(not isinstance(nodes[position], Leaf), f"{where} writes to no leaf")
            require(slot is None or slot not in shared, f"{where} does not write to a buffer that it reads")
            if slot is not None:
                size, dtype = plan.sizes[position]
                require(size * dtype.itemsize <= plan.slot_bytes[slot], f"{where}: value {position} fits its buffer")
                holders[slot] = position
            written.add(position)
        _check_step(planned, nodes, where)
    for position, root in plan.results:
        require(root not in plan.slots, f"the buffer of result {position} outlives the plan")
        there = isinstance(nodes[root], Leaf) or root in written or nodes[root].size == 0
        require(there, f"result {position} is made")


def _check_step(planned: PlannedStep, nodes: Sequence[Node], where: str) -> None:
    step = planned.step
    require(
        tuple(nodes[i].dtype for i in planned.inputs) == tuple(step.input_dtypes)
        and len(planned.scalars) == len(step.scalar_dtypes),
        f"{where} gets the inputs and scalars that it expects",
    )
    sizes = [nodes[i].size for i in planned.inputs]
    operands: Sequence[Any] = nodes  # those of scalars have parameters
    scalars = [operands[position].parameters[index] for position, index in planned.scalars]
    match step:
        case Loop():
            step = _placed(step, scalars)
            require(len(planned.outputs) == len(step.output_dtypes), f"{where} has the outputs it expects")
            _check_extents(step, sizes, [nodes[o].size for o in planned.outputs], where)
            check_loop(step, where)
        case ScanStep() | ContractStep():
            size = _result_size(step)
            if isinstance(step, ScanStep):
                require(sizes[0] == step.before * step.length * step.after, f"{where} scans its whole input")
                count = 1
            else:
                count = step.reads
                for operand, prologue, slot in zip(
                    (step.left, step.right), step.prologues, (0, count - 1), strict=True
                ):
                    check_layout(operand, sizes[slot] if prologue is None else operand.size, where)
                    if prologue is not None:
                        prologue = _placed(prologue, scalars)
                        require(not prologue.folds, f"{where}: a prologue has no folds")
                        require(len(prologue.stores) == 1, f"{where}: a prologue is one operand")
                        _check_extents(prologue, sizes, [operand.size], where)
                        check_loop(prologue, where)
            if step.epilogue is not None:
                epilogue = _placed(step.epilogue, scalars)
                require(not epilogue.folds, f"{where}: an epilogue has no folds")
                outputs = [nodes[o].size for o in planned.outputs]
                _check_extents(epilogue, [size, *sizes[count:]], outputs, where)
                check_loop(epilogue, where)
        case CopyStep():
            require(sizes == [step.extent], f"{where} copies its whole input")
        case ScatterStep():
            require(sizes == [step.count, step.count], f"{where} has as many values as positions")
        case CallStep():
            require(len(step.picks) == len(planned.outputs), f"{where} has the outputs it expects")
        case _:
            assert_never(step)


def _placed(loop: Loop, scalars: Sequence[Any]) -> Loop:
    """Return a loop with the offsets of a graph where they are run-time parameters."""
    if not loop.moves:
        return loop
    return loop.over(loop.outer, loop.inner, lambda item: item.layout.at(lambda number: at_values(number, scalars)))


def _result_size(step: ScanStep | ContractStep) -> int:
    if isinstance(step, ScanStep):
        return step.before * step.length * step.after
    return step.left.shape[0] * step.left.shape[1] * step.right.shape[2]


def _check_extents(loop: Loop, inputs: Sequence[int], outputs: Sequence[int], where: str) -> None:
    for item in loop.instructions:
        if isinstance(item, Load | Take):
            require(0 <= item.slot < len(inputs), f"{where} has input {item.slot}")
            require(item.extent == inputs[item.slot], f"{where}: input {item.slot} has {item.extent} elements")
    for store in loop.stores:
        require(0 <= store.slot < len(outputs), f"{where} has output {store.slot}")
        require(store.extent == outputs[store.slot], f"{where}: output {store.slot} has {store.extent} elements")


def check_loop(loop: Loop, where: str) -> None:
    """Check a loop by itself.

    Raises
    ------
    InternalError
        If an instruction or a store does not fit the loop.
    """
    require(len(loop.phases) == len(loop.instructions), f"{where} has a phase an instruction")
    for number, item in enumerate(loop.instructions):
        at = f"{where}, instruction {number}"
        operands = item.operands
        require(all(0 <= o < number for o in operands), f"{at} comes after its operands")
        phase = max((loop.phases[o] + isinstance(loop.instructions[o], Fold) for o in operands), default=0)
        require(loop.phases[number] == phase, f"{at} has phase {phase}")
        _check_instruction(loop, item, at)
    for number, store in enumerate(loop.stores):
        _check_store(loop, store, f"{where}, store {number}")
    for read, write in loop.updates:
        _check_update(loop, read, write, where)


def _check_instruction(loop: Loop, item: Instruction, where: str) -> None:
    values = loop.instructions
    match item:
        case Scalar():
            require(item.level == UNIFORM, f"{where}: a scalar is the same for all elements")
            require(loop.scalar_dtypes[item.slot] == item.dtype, f"{where} has the scalar's dtype")
        case Load():
            require(item.layout.shape == loop.index_space(item.level), f"{where} has a layout over its level's space")
            require(loop.input_dtypes[item.slot] == item.dtype, f"{where} has the input's dtype")
            check_layout(item.layout, item.extent, where)
        case Index():
            require(item.layout.shape == loop.index_space(item.level), f"{where} has a layout over its level's space")
        case Take():
            require(values[item.position].dtype.kind in "iu", f"{where} has an integer position")
            require(item.level >= values[item.position].level, f"{where} is at its position's level")
        case Apply():
            require(len(item.operands) == item.op.arity, f"{where} has {item.op.arity} operands")
            require(tuple(values[o].dtype for o in item.operands) == item.sources, f"{where} has its operands' dtypes")
            highest = max((values[o].level for o in item.operands), default=UNIFORM)
            raised = item.op.kind is Kind.CONVERSION and item.level > highest
            require(item.level == highest or raised, f"{where} is at its operands' level")
        case Fold():
            require(item.level == OUTER and values[item.operand].level == FULL, f"{where} folds elements to rows")
            require(values[item.operand].dtype == item.source, f"{where} has its operand's dtype")
        case _:
            assert_never(item)


def _check_update(loop: Loop, read: int, write: int, where: str) -> None:
    """Check that each read of an updated buffer is of the element that is written, or of one that is not."""
    regions = [store.layout for store in loop.stores if store.slot == write]
    for item in loop.instructions:
        if isinstance(item, Load) and item.slot == read:
            single = loop.rows * loop.columns == 1 and item.layout.offset == regions[0].offset
            apart = all(are_apart(item.layout, region) for region in regions)
            same = [item.layout] == regions or single
            require(same or apart, f"{where} reads the elements that it updates where it does")
        require(not isinstance(item, Take) or item.slot != read, f"{where} takes nothing of what it updates")


def _check_store(loop: Loop, store: Store, where: str) -> None:
    value = loop.instructions[store.value]
    require(store.layout.shape == loop.index_space(store.level), f"{where} has a layout over its level's space")
    require(value.level <= store.level, f"{where} is at its value's level or a higher one")
    require(value.dtype == store.dtype == loop.output_dtypes[store.slot], f"{where} has the output's dtype")
    if store.position is not None:
        position = loop.instructions[store.position]
        require(
            position.dtype.kind in "iu" and not loop.folds, f"{where} has an integer position, in a loop without folds"
        )
        return
    check_layout(store.layout, store.extent, where)
    check_unique(store.layout, where)
