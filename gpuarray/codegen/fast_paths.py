"""Fast paths and slow paths: the text of a block of elementwise instructions.

The functions of the library that kernels use most have two forms: a *fast path* without branches, right for ordinary
operands, and a *slow path* that is always right and large. A *guard* says whether the fast path is right. A block is a
run of instructions that share one guard (:class:`gpuarray.codegen.underflow.Block`).

A kernel computes a block by fast paths for four elements, checks the guard once, and has few branches besides, so that
drivers can order the instructions. If the guard fails, a loop computes the four elements again, one by one, by slow
paths, whose text stands in the kernel once. Where the guard is about underflow of sums and products alone, a second
guard comes first (:mod:`gpuarray.codegen.zeros`), which knows of zeros. Called by the kernels of loops.
"""

from collections.abc import Iterable, Mapping, Sequence

from gpuarray.codegen import library, zeros
from gpuarray.codegen.storage import LANES, register_type
from gpuarray.codegen.underflow import SCALAR_BOUND, Block, is_gradual
from gpuarray.codegen.wgsl import Kernel, apply_expression, declare, fast_path_function
from gpuarray.fusion.steps import FULL, Apply, Instruction


def value_name(number: int, level: int, lane: int) -> str:
    """Return the WGSL name of an instruction's value."""
    # a u in front would make u32 of number 32, and hide the type
    return f"v{number}_{lane}" if level == FULL else f"one{number}"


def emit_block(
    kernel: Kernel, instructions: Sequence[Instruction], block: Block, lanes: int, *, deferred: bool = False
) -> None:
    """Emit the values of a block's instructions in all lanes.

    If the guard is ``deferred``, no slow path is emitted; the variable ``fine`` becomes false where one is needed.
    """
    writer = _Writer(kernel, instructions, block, lanes)
    if deferred:
        writer.note()
    else:
        writer.write()


def emit_slow_path(
    kernel: Kernel, instructions: Sequence[Instruction], numbers: Iterable[int], operand_names: Mapping[int, str]
) -> dict[int, str]:
    """Emit elementwise instructions of one element by slow paths.

    Parameters
    ----------
    kernel : Kernel
        What to add statements to.
    instructions : sequence of Instruction
        All instructions of the loop.
    numbers : iterable of int
        Those to emit, in order.
    operand_names : mapping of int to str
        The names of the element's values that they start from.

    Returns
    -------
    dict of int to str
        The names of these values, and of the values that were emitted.
    """
    names = dict(operand_names)
    for number in numbers:
        item = _apply(instructions, number)
        form = _form(item, _operands(instructions, item, names))
        names[number] = f"again{number}"
        kernel.line(f"  {declare(names[number], item.dtype, form)}")
    return names


def emit_second_guard(
    kernel: Kernel, instructions: Sequence[Instruction], blocks: Iterable[Block], lanes: Sequence[int], fine: str
) -> bool:
    """Emit what makes ``fine`` true again where the zeros in blocks are right, and return whether there is a guard."""
    bounds: dict[int, int] = {}
    for block in blocks:
        if not block.is_guarded:
            continue
        least = zeros.least_operand(instructions, block)
        if least is None:
            return False
        for number in zeros.operands_of(instructions, block):
            bound = least if instructions[number].level == FULL else zeros.SCALARS
            bounds[number] = max(bound, bounds.get(number, bound))
    values: dict[int, list[str]] = {}
    for number, bound in bounds.items():
        level = instructions[number].level
        names = [value_name(number, level, lane) for lane in (lanes if level == FULL else lanes[:1])]
        values.setdefault(bound, []).extend(names)
    kernel.line(f"if (!{fine}) {{", f"{fine} = true;")
    for bound, names in values.items():
        kernel.line("{", f"var least = zero_last_f32({names[0]});")
        kernel.line(*(f"least = min(least, zero_last_f32({name}));" for name in names[1:]))
        kernel.line(f"{fine} = {fine} & (least >= zero_last_f32(0x1p{bound}f));", "}")
    kernel.line("}")
    return True


def emit_checked(
    kernel: Kernel,
    instructions: Sequence[Instruction],
    numbers: Iterable[int],
    operand_names: Mapping[int, str],
    fine: str,
) -> None:
    """Emit elementwise instructions of one element in plain arithmetic; ``fine`` becomes false if one is not right.

    For kernels without a second guard (:func:`emit_second_guard`). The guards here, one for each sum and product,
    have no branches and know of zeros that are right.
    """
    names = dict(operand_names)
    for number in numbers:
        item = _apply(instructions, number)
        operands = _operands(instructions, item, names)
        names[number] = f"checked{number}"
        kernel.line(f"  {declare(names[number], item.dtype, _form(item, operands, plain=is_gradual(item)))}")
        if is_gradual(item):
            kernel.line(f"  {fine} = {fine} & guard_gradual_{item.op.name}_f32({', '.join(operands)});")


def can_check(instructions: Sequence[Instruction], numbers: Iterable[int]) -> bool:
    """Whether the guards of some instructions are about sums and products alone; those of functions know no zeros."""
    items = [_apply(instructions, number) for number in numbers]
    return any(map(is_gradual, items)) and not any(fast_path_function(item.op, item.sources) for item in items)


class _Writer:
    """Writes one block."""

    def __init__(self, kernel: Kernel, instructions: Sequence[Instruction], block: Block, lanes: int) -> None:
        self.kernel = kernel
        self.instructions = instructions
        self.block = block
        self.lanes = lanes
        self.again = block.items if block.is_guarded else ()
        self.results = [n for n in self.again if n in block.used]

    def write(self) -> None:
        """Write the statements."""
        number = self.block.items[-1]
        fine, slow = f"fine{number}", f"slow{number}"
        if self.again and self.lanes > LANES:
            self.kernel.line(f"var {slow} = 0u;")
        for first in range(0, self.lanes, LANES):
            together = range(first, min(first + LANES, self.lanes))
            if self.again:
                self.kernel.line(f"{fine} = true;" if first else f"var {fine} = true;")
            self._write_fast_path(together, fine)
            if self.again and self.lanes > 1:  # of one element the slow path takes little longer
                emit_second_guard(self.kernel, self.instructions, [self.block], together, fine)
            if self.again and self.lanes > LANES:
                mask = sum(1 << lane for lane in together)
                self.kernel.line(f"if (!{fine}) {{ {slow} |= {mask:#x}u; }}")
        if not self.again:
            return
        if self.lanes > LANES:
            self.kernel.line(f"for (; {slow} != 0u; {slow} &= {slow} - 1u) {{ {{")
            self.kernel.line(f"  let lane = firstTrailingBit({slow});")
            self._one_lane()
            return
        self.kernel.line(f"if (!{fine}) {{")
        if self.lanes == 1:
            value_names = {n: value_name(n, FULL, 0) for n in self._slow_path_operands()}
            names = emit_slow_path(self.kernel, self.instructions, self.again, value_names)
            self.kernel.line(*(f"  v{n}_0 = {names[n]};" for n in self.results), "}")
        else:
            self.kernel.line(f"for (var lane = 0u; lane < {self.lanes}u; lane++) {{")
            self._one_lane()

    def note(self) -> None:
        """Write the statements of the fast paths, and those that make ``fine`` false."""
        self._write_fast_path(range(self.lanes), "fine")

    def _write_fast_path(self, together: range, fine: str) -> None:
        """Write the fast paths of some lanes, each value followed by its guards: a chain of comparisons."""
        block = self.block
        outside = sorted((block.at_least.keys() | block.not_subnormal) - set(block.items))
        guards = [guard for lane in together for n in outside for guard in self._guards_of(n, lane)]
        self._check(fine, self._guards_of_scalars() + guards)
        for number in block.items:
            kind = register_type(_apply(self.instructions, number).dtype)
            word = "var" if number in self.results else "let"
            for lane in together:
                self.kernel.line(f"{word} {value_name(number, FULL, lane)}: {kind} = {self._fast_path(number, lane)};")
            self._check(fine, [guard for lane in together for guard in self._guards_of(number, lane)])
            if number in block.functions:
                self.kernel.line(*(f"{fine} = {self._guard(fine, number, lane)};" for lane in together))

    def _check(self, fine: str, guards: Sequence[str]) -> None:
        if guards:
            self.kernel.line(f"{fine} = {' & '.join([fine, *guards])};")

    def _guards_of_scalars(self) -> list[str]:
        least, bounded = self.block.scalars_at_least, self.block.scalars_bounded
        asked = [f"is_at_least_f32(one{n}, 0x1p{exponent}f)" for n, exponent in sorted(least.items())]
        asked += [
            f"is_zero_or_at_least_f32(one{n}, 0x1p{exponent}f)"
            for n, exponent in sorted(self.block.scalars_zero_or_at_least.items())
            if n not in least or exponent > least[n]
        ]
        return asked + [f"!is_at_least_f32(one{n}, 0x1p{SCALAR_BOUND}f)" for n in sorted(bounded)]

    def _guards_of(self, number: int, lane: int) -> list[str]:
        name, asked = value_name(number, FULL, lane), []
        if number in self.block.at_least:
            asked.append(f"is_at_least_f32({name}, 0x1p{self.block.at_least[number]}f)")
        if number in self.block.not_subnormal:
            asked.append(f"is_normal_or_zero_f32({name})")
        return asked

    def _fast_path(self, number: int, lane: int) -> str:
        """Return the fast path of an instruction in a lane."""
        item = _apply(self.instructions, number)
        form = _form(item, self._names(number, lane), plain=number in self.block.sums)
        if number not in self.block.functions:
            return form
        name = self._function(number)
        return form.replace(f"{name}(", f"fast_path_{name}(", 1)

    def _guard(self, fine: str, number: int, lane: int) -> str:
        """Return the expression that is true if ``fine`` is and a function's fast path is right in a lane."""
        name = "ratio_f32" if number in self.block.ratios else self._function(number)
        guard, arguments = f"guard_{name}", [fine, *self._names(number, lane)]
        if library.parameter_count(guard) > len(arguments):
            arguments.append(value_name(number, FULL, lane))
        return f"{guard}({', '.join(arguments)})"

    def _one_lane(self) -> None:
        """Write the slow paths of one lane, and the end of the loop and of the branch around it."""
        operands = self._slow_path_operands()
        value_names = {n: f"operand{k}" for k, n in enumerate(operands)}
        self.kernel.line(*(f"  var {value_names[n]}: {register_type(self.instructions[n].dtype)};" for n in operands))
        # a choice by cases keeps the lanes in registers, which an index would not
        lanes = range(self.lanes)
        self.kernel.line(
            f"  {_cases([' '.join(f'{value_names[n]} = v{n}_{lane};' for n in operands) for lane in lanes])}"
        )
        names = emit_slow_path(self.kernel, self.instructions, self.again, value_names)
        takes = [" ".join(f"v{n}_{lane} = {names[n]};" for n in self.results) for lane in lanes]
        self.kernel.line(f"  {_cases(takes)}", "} }")

    def _slow_path_operands(self) -> list[int]:
        """Return the values of single elements from which the slow paths start."""
        operands = [o for n in self.again for o in _apply(self.instructions, n).operands if o not in self.again]
        return [n for n in dict.fromkeys(operands) if self.instructions[n].level == FULL]

    def _names(self, number: int, lane: int) -> list[str]:
        return [value_name(o, self.instructions[o].level, lane) for o in _apply(self.instructions, number).operands]

    def _function(self, number: int) -> str:
        item = _apply(self.instructions, number)
        name = fast_path_function(item.op, item.sources)
        assert name is not None
        return name


def _apply(instructions: Sequence[Instruction], number: int) -> Apply:
    item = instructions[number]
    assert isinstance(item, Apply)
    return item


def _operands(instructions: Sequence[Instruction], item: Apply, names: Mapping[int, str]) -> list[str]:
    return [names.get(n) or value_name(n, instructions[n].level, 0) for n in item.operands]


def _form(item: Apply, operands: Sequence[str], *, plain: bool = False) -> str:
    return apply_expression(item.op, operands, item.sources, item.dtype, plain=plain)


def _cases(statements: Sequence[str]) -> str:
    """Return the statement that runs one of several statements, by the number of the lane."""
    *first, last = statements
    cases = [f"case {lane}u: {{ {statement} }}" for lane, statement in enumerate(first)]
    return f"switch lane {{ {' '.join(cases)} default: {{ {last} }} }}"
