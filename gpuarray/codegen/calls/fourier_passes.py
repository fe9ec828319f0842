"""One pass of a Fourier transform as a kernel.

A pass does ``size``-point transforms in workgroup memory, in stages of small radices
(:mod:`gpuarray.codegen.calls.fourier_stages`), after Stockham: each stage puts its numbers where the next one reads
them, so that nothing is ever in bit-reversed order. What a stage is to the numbers in workgroup memory, a pass is to
those of a whole row. With ``done`` points of transform behind it, it takes every ``length / size``-th element,
multiplies it by a root of unity, transforms, and writes what becomes ``size * done`` points. A transform whose rows fit
workgroup memory is one pass.

All sizes are parameters, the radices of the stages among them. A source depends on the dtypes, on how many numbers
workgroup memory holds, on which set has the radices (:data:`~gpuarray.codegen.calls.fourier_stages.RADIX_SETS`), and on
the forms of the ends.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpuarray import dtypes
from gpuarray.codegen.calls.fourier_stages import (
    LOOP,
    RADIX_SETS,
    UNROLLED_PRIMES,
    complex_of,
    is_smooth,
    loop_stage,
    radices_of,
    radix_set,
    roots,
    stage_function,
    turned,
)
from gpuarray.codegen.programs import Launch
from gpuarray.codegen.storage import Access, register_type, scalar_expression
from gpuarray.codegen.wgsl import WINDOW_END, WORKGROUP, Kernel, window
from gpuarray.dtypes import DType

#: Numbers of workgroup memory that are roots of unity in sources with a loop.
_TABLE: Final = 32


@dataclass(frozen=True, slots=True)
class BufferRows:
    """Rows of numbers in a buffer: binding ``kind`` and ``slot``, where the first begins, and elements in each."""

    kind: str
    slot: int
    dtype: DType
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class TransformEnds:
    """The source and the target of a transform, and the operations on its numbers on the way.

    ``source`` has complex or real numbers, missing ones being zeros; with ``hermitian`` the first half of rows whose
    other half is its mirror image. ``conjugate`` applies to what is read and to what is written: the inverse transform
    is the forward one between conjugates. What is read is multiplied by ``before`` (one row for all) where that has
    elements, and is zero beyond; what is written by ``after``, and by ``scale``, the first ``target.length`` of each
    row; of complex numbers the real part if the target is real.
    """

    source: BufferRows
    target: BufferRows
    hermitian: bool = False
    conjugate_source: bool = False
    conjugate_target: bool = False
    before: BufferRows | None = None
    after: BufferRows | None = None
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class FourierPass:
    """One launch: ``size``-point transforms of ``rows`` rows of ``length``, ``done`` of whose points are done.

    The first pass of several writes each of its transforms as a row of its own.
    """

    ends: TransformEnds
    rows: int
    length: int
    size: int
    done: int
    capacity: int
    real: DType

    @property
    def room(self) -> int:
        """How many numbers of workgroup memory are for lines."""
        return room(self.size, self.capacity)

    @property
    def whole(self) -> bool:
        """Whether this pass is all of the transform."""
        return self.size == self.length

    @property
    def lines(self) -> int:
        """How many transforms there are."""
        return self.rows * (self.length // self.size)


def room(size: int, capacity: int) -> int:
    """Return how many numbers a workgroup may transform, if its memory holds ``capacity``.

    It is less than half of them where there is a loop, which writes to the other half, and has its roots behind that.
    """
    return capacity if is_smooth(size, UNROLLED_PRIMES) else (capacity - _TABLE) // 2


def pass_launch(task: FourierPass, label: str, limit: int) -> Launch:
    """Return the launch of a pass."""
    kernel = Kernel(label)
    radices = radices_of(task.size)
    together = _lines_together(task)
    kernel.line(
        f"let size = {kernel.parameter(task.size)};",
        f"let total = {kernel.parameter(task.lines)};",
        f"let together = {kernel.parameter(together)};",
        "let first = (group.x + group.y * groups.x) * together;",
        "if (first >= total) { return; }",
        "let reciprocal = 1.0f / f32(size);",
    )
    if not task.whole:
        kernel.line(
            f"let step = {kernel.parameter(task.length // task.size)};",
            f"let done = {kernel.parameter(task.done)};",
            # the lines of a workgroup lie next to each other: neighbours in it take neighbouring lines
            "let near = local & (together - 1u);",
            "let begin = local / together;",
            f"let across = {WORKGROUP}u / together;",
            "let row = (first + near) / step;",
            "let place = (first + near) - row * step;",
            "let inside = first + near < total;",
            "let block = place / done;",
            "let turn = place - block * done;",
            "let start = block * done * size + turn;",
        )
    kernel.module += [*_fetch(kernel, task), *_put_function(kernel, task), *_module(task, radices)]
    if _ends_in_registers(radices):
        kernel.line(*_first_stage(task, radices[0]), *_stages(kernel, task, radices[1:-1], radices[0], radices[-1]))
        kernel.line(*_last_stage(task, radices[-1]))
    else:
        kernel.line(*_load(task), "workgroupBarrier();", *_stages(kernel, task, radices, 1, 1), *_store(task))
    return kernel.launch(-(-task.lines // together), limit)


def _ends_in_registers(radices: list[int]) -> bool:
    """Whether the first and the last stage read and write the buffers: sizes that deserve a source for each pair."""
    return len(radices) > 1 and set(radices) <= set(RADIX_SETS[0])


def _lines_together(task: FourierPass) -> int:
    """Return how many lines a workgroup takes: many short ones, but so that there are many workgroups."""
    most = task.room // task.size
    if task.whole:
        return max(1, min(most, max(1024 // task.size, task.lines // 1024)))
    return 1 << min(most, 16).bit_length() - 1


def _name(task: FourierPass, function: str) -> str:
    return f"{function}_{task.real.name.replace('float', 'f')}"


def bind(kernel: Kernel, name: str, rows: BufferRows, count: int, *, writable: bool) -> tuple[Access, int]:
    """Bind ``count`` rows; return their access, and the position of the first in the binding."""
    start, last = rows.start, rows.start + rows.length * count - 1
    binding, begins = window(rows.kind, rows.slot, start, last, rows.dtype, writable=writable)
    return kernel.show(Access(name, rows.dtype, False, writable), binding), start - begins


def constant(kernel: Kernel, value: float, dtype: DType) -> str:
    """Add a number to the parameters; return the expression that reads it."""
    start = len(kernel.parameters)
    for word in np.array([value], dtype).view(np.uint32):
        kernel.parameter(int(word))
    return scalar_expression(start, dtype)


def _fetch(kernel: Kernel, task: FourierPass) -> list[str]:
    """Return the function that reads element ``j`` of row ``row``."""
    ends, real = task.ends, task.real
    access, base = bind(kernel, "source", ends.source, task.rows, writable=False)
    available = min(ends.source.length, ends.before.length if ends.before else task.length)
    number = register_type(complex_of(real))
    sign = constant(kernel, -1.0 if ends.conjugate_source else 1.0, real)
    at = f"{kernel.parameter(base)} + row * {kernel.parameter(ends.source.length)} + k"
    value = access.load(at) if ends.source.dtype.kind == "c" else f"{number}({access.load(at)}, {_zero(real)})"
    bound = kernel.parameter(available)
    lines = [f"fn fetch(row: u32, j: u32) -> {number} {{", f"var value = {number}();"]
    if ends.hermitian:
        whole = kernel.parameter(ends.before.length if ends.before else task.length)
        lines += [
            f"let mirrored = 2u * j > {whole};",
            f"let k = select(j, {whole} - j, mirrored);",
            f"if (j < {whole} && k < {bound}) {{",
            f"value = {value};",
            f"value.y = select({sign} * value.y, -{sign} * value.y, mirrored);",
        ]
    else:
        lines += ["let k = j;", f"if (k < {bound}) {{", f"value = {value};", f"value.y = {sign} * value.y;"]
    if ends.before is not None:
        factor, _ = bind(kernel, "before", ends.before, 1, writable=False)
        lines.append(f"value = {_name(task, 'turned')}(value, {factor.load('j')});")
    return [*lines, "}", "return value;", "}"]


def _put_function(kernel: Kernel, task: FourierPass) -> list[str]:
    """Return the function that writes element ``j`` of row ``row``."""
    ends, real = task.ends, task.real
    access, base = bind(kernel, "result", ends.target, task.lines if task.done == 1 else task.rows, writable=True)
    number = register_type(complex_of(real))
    length = kernel.parameter(ends.target.length)
    lines = [f"fn put(row: u32, j: u32, number: {number}) {{", f"if (j < {length}) {{", "var value = number;"]
    if ends.after is not None:
        factor, _ = bind(kernel, "after", ends.after, 1, writable=False)
        lines.append(f"value = {_name(task, 'turned')}(value, {factor.load('j')});")
    scale = constant(kernel, ends.scale, real)
    if ends.target.dtype.kind == "c":
        sign = constant(kernel, -ends.scale if ends.conjugate_target else ends.scale, real)
        value = f"{number}({scale} * value.x, {sign} * value.y)"
    else:
        value = f"{scale} * value.x"
    return [*lines, access.store(f"{kernel.parameter(base)} + row * {length} + j", value), "}", "}"]


def _zero(real: DType) -> str:
    return "0.0f" if real == dtypes.float32 else "0.0lf"


def _element(task: FourierPass, t: str) -> str:
    """Return element ``t`` of the line that ``row`` and ``place`` name, as it enters the first stage."""
    if task.whole:
        return f"fetch(row, {t})"
    value = f"fetch(row, place + ({t}) * step)"
    if task.done == 1:
        return value
    return f"{_name(task, 'turned')}({value}, {_name(task, 'unit_root')}(turn * ({t}), size * done))"


def _load(task: FourierPass) -> Iterator[str]:
    """Yield the loading of lines into workgroup memory."""
    if task.whole:
        yield from _along_lines(f"numbers[spread(e)] = {_element(task, 't')};")
        return
    yield "if (inside) {"
    yield "for (var t = begin; t < size; t += across) {"
    yield f"numbers[spread(near * size + t)] = {_element(task, 't')};"
    yield "}"
    yield "}"


def _store(task: FourierPass) -> Iterator[str]:
    """Yield the storing of lines: those of a first pass one after the other, as ``row`` counts lines."""
    if task.done == 1:
        yield from _along_lines("put(row, t, numbers[spread(e)]);")
        return
    yield "if (inside) {"
    yield "for (var t = begin; t < size; t += across) {"
    yield "put(row, start + t * done, numbers[spread(near * size + t)]);"
    yield "}"
    yield "}"


def _along_lines(statement: str) -> Iterator[str]:
    """Yield a loop in which neighbours in the workgroup take neighbouring elements of lines."""
    yield f"for (var e = local; e < together * size; e += {WORKGROUP}u) {{"
    yield "let line = small_quotient(e, reciprocal);"
    yield "let t = e - line * size;"
    yield "let row = first + line;"
    yield f"if (row < total) {{ {statement} }}"
    yield "}"


def _stages(kernel: Kernel, task: FourierPass, radices: list[int], behind: int, ahead: int) -> Iterator[str]:
    """Yield the loop over stages. Their radices are read by a computed index: no driver compiles again for each."""
    start = len(kernel.parameters)
    for radix in radices:
        kernel.parameter(radix)
    yield f"var behind = {behind}u; var stage = {start}u;"
    yield f"while (behind * {ahead}u < size) {{"
    yield "let radix = parameters.words[stage >> 2u][stage & 3u];"
    yield "switch (radix) {"
    known = radix_set(radices_of(task.size))
    for radix in known:
        if radix != LOOP:
            label = "default" if radix == 4 and LOOP not in known else f"case {radix}u"
            yield f"{label}: {{ stage_{radix}(local, together, size, behind); }}"
    if LOOP in known:
        yield "default: { stage_of_prime(local, together, size, behind, radix); }"
    yield "}"
    yield "behind *= radix; stage += 1u;"
    yield "}"


def _butterflies(task: FourierPass, radix: int, *, columns: bool) -> Iterator[tuple[int, str]]:
    """Yield a number and statements for each butterfly of an invocation: which line, where in it, and if there is."""
    for s in range(-(-task.capacity // (radix * WORKGROUP))):
        if columns:
            where = f"let line_{s} = near; let i_{s} = begin + {s}u * across; let holds_{s} = inside && i_{s} < count;"
        else:
            where = (
                f"let b_{s} = local + {s * WORKGROUP}u; let line_{s} = small_quotient(b_{s}, 1.0f / f32(count)); "
                f"let i_{s} = b_{s} - line_{s} * count; "
                f"let holds_{s} = b_{s} < together * count && first + line_{s} < total;"
            )
        yield s, where


def _first_stage(task: FourierPass, radix: int) -> Iterator[str]:
    """Yield the first stage, which takes its numbers from the source."""
    number = register_type(complex_of(task.real))
    yield "{"
    yield f"let count = size / {radix}u;"
    for s, where in _butterflies(task, radix, columns=not task.whole):
        elements = ", ".join(_element(task, f"i_{s} + {n}u * count") for n in range(radix))
        yield where
        yield f"if (holds_{s}) {{"
        if task.whole:
            yield f"let row = first + line_{s};"
        yield f"let y = {_name(task, f'transform_{radix}')}(array<{number}, {radix}>({elements}));"
        yield f"let to = line_{s} * size + i_{s} * {radix}u;"
        yield from (f"numbers[spread(to + {n}u)] = y[{n}];" for n in range(radix))
        yield "}"
    yield "}"
    yield "workgroupBarrier();"


def _last_stage(task: FourierPass, radix: int) -> Iterator[str]:
    """Yield the last stage, which puts its numbers where they belong in the target."""
    number = register_type(complex_of(task.real))
    columns = task.done > 1
    yield f"let count = size / {radix}u;"
    for s, where in _butterflies(task, radix, columns=columns):
        yield where
        yield f"if (holds_{s}) {{"
        yield f"let begins = line_{s} * size + i_{s};"
        yield from roots(radix, f"i_{s}", "size", _name(task, ""))
        values = turned([f"numbers[spread(begins + {n}u * count)]" for n in range(radix)], _name(task, ""))
        yield f"let y = {_name(task, f'transform_{radix}')}(array<{number}, {radix}>({values}));"
        for n in range(radix):
            t = f"i_{s} + {n}u * count"
            yield (f"put(row, start + ({t}) * done, y[{n}]);" if columns else f"put(first + line_{s}, {t}, y[{n}]);")
        yield "}"


def _module(task: FourierPass, radices: list[int]) -> list[str]:
    number = register_type(complex_of(task.real))
    banks = 128 // complex_of(task.real).itemsize  # numbers that lie next to each other in different banks
    bits = banks.bit_length() - 1
    module = [
        f"var<workgroup> numbers: array<{number}, {task.capacity}>;",
        # numbers whose distance is a power of two would lie in one bank of the memory
        f"fn spread(i: u32) -> u32 {{ return i ^ (((i >> {bits}u) ^ (i >> {2 * bits}u)) & {banks - 1}u); }}",
    ]
    for radix in radix_set(radices):
        module.append(
            loop_stage(task.room, task.real) if radix == LOOP else stage_function(radix, task.room, task.real)
        )
    return module


def rounded_bytes(elements: int, dtype: DType) -> int:
    """Return the bytes of a scratch buffer with room for elements."""
    return -(-elements * dtype.itemsize // WINDOW_END) * WINDOW_END + 2 * WINDOW_END
