"""One pass of a Fourier transform as a kernel.

A pass does ``size``-point transforms in workgroup memory, in stages of small radices, after Stockham: between the
stages numbers are put where the next one wants them, so that nothing is ever in bit-reversed order. What a stage is to
the numbers in workgroup memory, a pass is to those of a whole row: with ``done`` points of transform behind it, it
takes every ``length / size``-th element, turns it by a root of unity, transforms, and writes what becomes ``size *
done`` points. A transform whose rows fit workgroup memory is one pass.

All sizes are parameter words, the radices of the stages among them. A source depends on the dtypes, on how many numbers
workgroup memory holds, on which set has the radices (:data:`RADIX_SETS`), and on the forms of the ends. Small radices
have a stage each, whose numbers lie in registers; all other primes share one, which is a loop.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import cos, pi, sin
from typing import Final

import numpy as np

from gpuarray import dtypes
from gpuarray.codegen.programs import Launch
from gpuarray.codegen.storage import Access, register_type, scalar_expression
from gpuarray.codegen.wgsl import WINDOW_END, WORKGROUP, Kernel, window
from gpuarray.dtypes import DType

#: Radices that a kernel has stages for: the first set that will do is taken. ``LOOP`` stands for all primes.
LOOP: Final = 0
RADIX_SETS: Final = ((8, 4), (8, 4, 2, 3, 5), (8, 4, 2, 3, 5, 7, 11, 13), (8, 4, 2, 3, 5, LOOP))
UNROLLED_PRIMES: Final = (2, 3, 5, 7, 11, 13)
PRIMES: Final = (*UNROLLED_PRIMES, 17, 19, 23, 29, 31)
#: Numbers of workgroup memory that are roots of unity in sources with a loop.
_TABLE: Final = 32


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of numbers in a buffer: binding ``kind`` and ``slot``, where the first begins, and elements in each."""

    kind: str
    slot: int
    dtype: DType
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Ends:
    """What a transform reads and writes, and what happens to the numbers on the way.

    ``source`` has complex or real numbers, missing ones being zeros; with ``hermitian`` the first half of rows whose
    other half is its mirror image. ``conjugate`` applies to what is read and to what is written: the inverse transform
    is the forward one between conjugates. What is read is multiplied by ``before`` (one row for all) where that has
    elements, and is zero beyond; what is written by ``after``, and by ``scale``, the first ``target.length`` of each
    row; of complex numbers the real part if the target is real.
    """

    source: Rows
    target: Rows
    hermitian: bool = False
    conjugate_source: bool = False
    conjugate_target: bool = False
    before: Rows | None = None
    after: Rows | None = None
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Pass:
    """One launch: ``size``-point transforms of ``rows`` rows of ``length``, ``done`` of whose points are done.

    The first pass of several writes each of its transforms as a row of its own.
    """

    ends: Ends
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


def complex_of(real: DType) -> DType:
    """Return the complex dtype whose parts are of a real one."""
    return dtypes.complex64 if real == dtypes.float32 else dtypes.complex128


def room(size: int, capacity: int) -> int:
    """Return how many numbers a workgroup may transform, if its memory holds ``capacity``.

    It is less than half of them where there is a loop, which writes to the other half, and has its roots behind that.
    """
    return capacity if is_smooth(size, UNROLLED_PRIMES) else (capacity - _TABLE) // 2


def is_smooth(length: int, primes: Sequence[int] = PRIMES) -> bool:
    """Whether all prime factors are among ``primes``."""
    for prime in primes:
        while length % prime == 0:
            length //= prime
    return length == 1


def radices_of(size: int) -> list[int]:
    """Return radices whose product is ``size``, a product of :data:`PRIMES`; few of them, and none of 2 if avoidable.

    Raises
    ------
    ValueError
        If it has another prime factor.
    """
    odd: list[int] = []
    rest = size
    for prime in PRIMES[:0:-1]:
        while rest % prime == 0:
            odd.append(prime)
            rest //= prime
    twos = rest.bit_length() - 1
    if rest != 1 << twos:
        raise ValueError(f"{size} has a prime factor above {PRIMES[-1]}")
    rests = {0: [], 1: [4, 4] if twos > 1 else [2], 2: [4]}[twos % 3]
    return [8] * ((twos - sum(r.bit_length() - 1 for r in rests)) // 3) + odd + rests


def pass_launch(task: Pass, label: str, limit: int) -> Launch:
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
    kernel.module += [*_fetch(kernel, task), *_deliver(kernel, task), *_module(task, radices)]
    if _ends_in_registers(radices):
        kernel.line(*_first_stage(task, radices[0]), *_stages(kernel, task, radices[1:-1], radices[0], radices[-1]))
        kernel.line(*_last_stage(task, radices[-1]))
    else:
        kernel.line(*_load(task), "workgroupBarrier();", *_stages(kernel, task, radices, 1, 1), *_store(task))
    return kernel.launch(-(-task.lines // together), limit)


def _ends_in_registers(radices: list[int]) -> bool:
    """Whether the first and the last stage read and write the buffers: sizes that deserve a source for each pair."""
    return len(radices) > 1 and set(radices) <= set(RADIX_SETS[0])


def _lines_together(task: Pass) -> int:
    """Return how many lines a workgroup takes: many short ones, but so that there are many workgroups."""
    most = task.room // task.size
    if task.whole:
        return max(1, min(most, max(1024 // task.size, task.lines // 1024)))
    return 1 << min(most, 16).bit_length() - 1


def _name(task: Pass, function: str) -> str:
    return f"{function}_{task.real.name.replace('float', 'f')}"


# -- ends --------------------------------------------------------------------------------------------------------------


def bind(kernel: Kernel, name: str, rows: Rows, count: int, *, writable: bool) -> tuple[Access, int]:
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


def _fetch(kernel: Kernel, task: Pass) -> list[str]:
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


def _deliver(kernel: Kernel, task: Pass) -> list[str]:
    """Return the function that writes element ``j`` of row ``row``."""
    ends, real = task.ends, task.real
    access, base = bind(kernel, "result", ends.target, task.lines if task.done == 1 else task.rows, writable=True)
    number = register_type(complex_of(real))
    wanted = kernel.parameter(ends.target.length)
    lines = [f"fn deliver(row: u32, j: u32, number: {number}) {{", f"if (j < {wanted}) {{", "var value = number;"]
    if ends.after is not None:
        factor, _ = bind(kernel, "after", ends.after, 1, writable=False)
        lines.append(f"value = {_name(task, 'turned')}(value, {factor.load('j')});")
    scale = constant(kernel, ends.scale, real)
    if ends.target.dtype.kind == "c":
        sign = constant(kernel, -ends.scale if ends.conjugate_target else ends.scale, real)
        found = f"{number}({scale} * value.x, {sign} * value.y)"
    else:
        found = f"{scale} * value.x"
    return [*lines, access.store(f"{kernel.parameter(base)} + row * {wanted} + j", found), "}", "}"]


def _zero(real: DType) -> str:
    return "0.0f" if real == dtypes.float32 else "0.0lf"


def _element(task: Pass, t: str) -> str:
    """Return element ``t`` of the line that ``row`` and ``place`` name, as it enters the first stage."""
    if task.whole:
        return f"fetch(row, {t})"
    value = f"fetch(row, place + ({t}) * step)"
    if task.done == 1:
        return value
    return f"{_name(task, 'turned')}({value}, {_name(task, 'unit_root')}(turn * ({t}), size * done))"


def _load(task: Pass) -> Iterator[str]:
    """Yield the loading of lines into workgroup memory."""
    if task.whole:
        yield from _along_lines(f"numbers[spread(e)] = {_element(task, 't')};")
        return
    yield "if (inside) {"
    yield "for (var t = begin; t < size; t += across) {"
    yield f"numbers[spread(near * size + t)] = {_element(task, 't')};"
    yield "}"
    yield "}"


def _store(task: Pass) -> Iterator[str]:
    """Yield the storing of lines: those of a first pass one after the other, as ``row`` counts lines."""
    if task.done == 1:
        yield from _along_lines("deliver(row, t, numbers[spread(e)]);")
        return
    yield "if (inside) {"
    yield "for (var t = begin; t < size; t += across) {"
    yield "deliver(row, start + t * done, numbers[spread(near * size + t)]);"
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


# -- stages ------------------------------------------------------------------------------------------------------------


def _radix_set(radices: list[int]) -> tuple[int, ...]:
    return next((known for known in RADIX_SETS if set(radices) <= set(known)), RADIX_SETS[-1])


def _stages(kernel: Kernel, task: Pass, radices: list[int], behind: int, ahead: int) -> Iterator[str]:
    """Yield the loop over stages. Their radices are read by a computed index: no driver compiles again for each."""
    start = len(kernel.parameters)
    for radix in radices:
        kernel.parameter(radix)
    yield f"var behind = {behind}u; var stage = {start}u;"
    yield f"while (behind * {ahead}u < size) {{"
    yield "let radix = parameters.words[stage >> 2u][stage & 3u];"
    yield "switch (radix) {"
    known = _radix_set(radices_of(task.size))
    for radix in known:
        if radix != LOOP:
            label = "default" if radix == 4 and LOOP not in known else f"case {radix}u"
            yield f"{label}: {{ stage_{radix}(local, together, size, behind); }}"
    if LOOP in known:
        yield "default: { stage_of_prime(local, together, size, behind, radix); }"
    yield "}"
    yield "behind *= radix; stage += 1u;"
    yield "}"


def _butterflies(task: Pass, radix: int, *, columns: bool) -> Iterator[tuple[int, str]]:
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


def _first_stage(task: Pass, radix: int) -> Iterator[str]:
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


def _last_stage(task: Pass, radix: int) -> Iterator[str]:
    """Yield the last stage, which puts its numbers where they belong in the target."""
    number = register_type(complex_of(task.real))
    columns = task.done > 1
    yield f"let count = size / {radix}u;"
    for s, where in _butterflies(task, radix, columns=columns):
        yield where
        yield f"if (holds_{s}) {{"
        yield f"let begins = line_{s} * size + i_{s};"
        yield from _roots(radix, f"i_{s}", "size", _name(task, ""))
        turned = _turned([f"numbers[spread(begins + {n}u * count)]" for n in range(radix)], _name(task, ""))
        yield f"let y = {_name(task, f'transform_{radix}')}(array<{number}, {radix}>({turned}));"
        for n in range(radix):
            t = f"i_{s} + {n}u * count"
            yield (
                f"deliver(row, start + ({t}) * done, y[{n}]);"
                if columns
                else f"deliver(first + line_{s}, {t}, y[{n}]);"
            )
        yield "}"


def _roots(radix: int, k: str, n: str, suffix: str) -> Iterator[str]:
    """Yield the powers of a root of unity; those that are no powers of 2 are products of two others."""
    for power in range(1, radix):
        lowest = power & -power
        if lowest == power:
            yield f"let w{power} = unit_root{suffix}({k} * {power}u, {n});"
        else:
            yield f"let w{power} = turned{suffix}(w{lowest}, w{power - lowest});"


def _turned(values: list[str], suffix: str) -> str:
    """Return values, each but the first turned by a power of the root."""
    return ", ".join([values[0], *(f"turned{suffix}({value}, w{n})" for n, value in enumerate(values[1:], 1))])


def _module(task: Pass, radices: list[int]) -> list[str]:
    number = register_type(complex_of(task.real))
    banks = 128 // complex_of(task.real).itemsize  # numbers that lie next to each other in different banks
    bits = banks.bit_length() - 1
    module = [
        f"var<workgroup> numbers: array<{number}, {task.capacity}>;",
        # numbers whose distance is a power of two would lie in one bank of the memory
        f"fn spread(i: u32) -> u32 {{ return i ^ (((i >> {bits}u) ^ (i >> {2 * bits}u)) & {banks - 1}u); }}",
    ]
    for radix in _radix_set(radices):
        module.append(
            _loop_stage(task.room, task.real) if radix == LOOP else stage_function(radix, task.room, task.real)
        )
    return module


@lru_cache(maxsize=128)
def stage_function(radix: int, capacity: int, real: DType) -> str:
    """Return the function that does one stage: all is read into registers, then written where the next one wants it."""
    suffix = real.name.replace("float", "f")
    number = register_type(complex_of(real))
    places = -(-capacity // (radix * WORKGROUP))
    text = [] if radix in (2, 4, 8) else [_odd_transform(radix, suffix, number)]
    text += [
        f"fn stage_{radix}(local: u32, together: u32, size: u32, behind: u32) {{",
        f"let count = size / {radix}u;",
        "let butterflies = together * count;",
        "let count_reciprocal = 1.0f / f32(count);",
        "let behind_reciprocal = 1.0f / f32(behind);",
    ]
    for s in range(places):
        turned = _turned([f"numbers[spread(from_{s} + {n}u * count)]" for n in range(radix)], f"_{suffix}")
        text += [
            f"let b_{s} = local + {s * WORKGROUP}u;",
            f"let line_{s} = small_quotient(b_{s}, count_reciprocal);",
            f"let i_{s} = b_{s} - line_{s} * count;",
            f"let k_{s} = i_{s} - small_quotient(i_{s}, behind_reciprocal) * behind;",
            f"let from_{s} = line_{s} * size + i_{s};",
            f"var y_{s} = array<{number}, {radix}>();",
            f"if (b_{s} < butterflies) {{",
            *_roots(radix, f"k_{s}", f"behind * {radix}u", f"_{suffix}"),
            f"y_{s} = transform_{radix}_{suffix}(array<{number}, {radix}>({turned}));",
            "}",
        ]
    text.append("workgroupBarrier();")
    for s in range(places):
        text += [
            f"if (b_{s} < butterflies) {{",
            f"let to = line_{s} * size + (i_{s} - k_{s}) * {radix}u + k_{s};",
            *(f"numbers[spread(to + {n}u * behind)] = y_{s}[{n}];" for n in range(radix)),
            "}",
        ]
    return "\n".join([*text, "workgroupBarrier();", "}"])


def _odd_transform(radix: int, suffix: str, number: str) -> str:
    """Return the function that transforms ``radix`` numbers: sums and differences of pairs share the products."""
    half = radix // 2

    def factor(of: float) -> str:
        return f"{suffix}({of!r})"

    text = [f"fn transform_{radix}_{suffix}(x: array<{number}, {radix}>) -> array<{number}, {radix}> {{"]
    for j in range(1, half + 1):
        text.append(f"let s{j} = x[{j}] + x[{radix - j}]; let d{j} = x[{j}] - x[{radix - j}];")
    for k in range(1, half + 1):
        roots = [_root(j * k % radix, radix) for j in range(1, half + 1)]
        even = "".join(f" + {factor(cosine)} * s{j}" for j, (cosine, _) in enumerate(roots, 1))
        odd = " + ".join(f"{factor(sine)} * d{j}" for j, (_, sine) in enumerate(roots, 1))
        text.append(f"let a{k} = x[0]{even}; let b{k} = {odd};")
    first = [f"{number}(a{k}.x + b{k}.y, a{k}.y - b{k}.x)" for k in range(1, half + 1)]
    last = [f"{number}(a{k}.x - b{k}.y, a{k}.y + b{k}.x)" for k in range(half, 0, -1)]
    total = "x[0]" + "".join(f" + s{j}" for j in range(1, half + 1))
    return "\n".join([*text, f"return array<{number}, {radix}>({', '.join([total, *first, *last])});", "}"])


def _root(k: int, n: int) -> tuple[float, float]:
    """Return cosine and sine of ``k`` n-ths of a turn, of an angle that is at most an eighth of it."""
    quarter = (8 * k + n) // (2 * n)
    angle = pi / 2 * ((4 * k - quarter * n) / n)
    x, y = cos(angle), sin(angle)
    return ((x, y), (-y, x), (-x, -y), (y, -x))[quarter % 4]


def _loop_stage(lines: int, real: DType) -> str:
    """Return the function that does a stage of any prime, from the first half of workgroup memory to the second.

    An invocation makes two numbers of a butterfly at a time, those that are made of the same products.
    """
    suffix = real.name.replace("float", "f")
    number = register_type(complex_of(real))
    return f"""
fn stage_of_prime(local: u32, together: u32, size: u32, behind: u32, prime: u32) {{
let count = size / prime;
let columns = together * count;
let half = prime / 2u;
let size_reciprocal = 1.0f / f32(size);
let count_reciprocal = 1.0f / f32(count);
let columns_reciprocal = 1.0f / f32(columns);
let behind_reciprocal = 1.0f / f32(behind);
if (local < prime) {{ numbers[{2 * lines}u + local] = unit_root_{suffix}(local, prime); }}
if (behind > 1u) {{
for (var e = local; e < together * size; e += {WORKGROUP}u) {{
let t = e - small_quotient(e, size_reciprocal) * size;
let n = small_quotient(t, count_reciprocal);
let i = t - n * count;
let k = i - small_quotient(i, behind_reciprocal) * behind;
numbers[spread(e)] = turned_{suffix}(numbers[spread(e)], unit_root_{suffix}(n * k, behind * prime));
}}
}}
workgroupBarrier();
for (var b = local; b < columns * (half + 1u); b += {WORKGROUP}u) {{
let n = small_quotient(b, columns_reciprocal);
let column = b - n * columns;
let line = small_quotient(column, count_reciprocal);
let i = column - line * count;
let k = i - small_quotient(i, behind_reciprocal) * behind;
let begins = line * size + i;
var even = numbers[spread(begins)];
var odd = {number}();
var power = 0u;
for (var j = 1u; j <= half; j += 1u) {{
let x = numbers[spread(begins + j * count)];
let y = numbers[spread(begins + (prime - j) * count)];
power += n;
power -= select(0u, prime, power >= prime);
let root = numbers[{2 * lines}u + power];
even += root.x * (x + y);
odd += root.y * (x - y);
}}
let to = {lines}u + line * size + (i - k) * prime + k;
numbers[to + n * behind] = {number}(even.x - odd.y, even.y + odd.x);
if (n > 0u) {{ numbers[to + (prime - n) * behind] = {number}(even.x + odd.y, even.y - odd.x); }}
}}
workgroupBarrier();
for (var e = local; e < together * size; e += {WORKGROUP}u) {{ numbers[spread(e)] = numbers[{lines}u + e]; }}
workgroupBarrier();
}}""".strip()


def rounded_bytes(elements: int, dtype: DType) -> int:
    """Return the bytes of a scratch buffer with room for elements."""
    return -(-elements * dtype.itemsize // WINDOW_END) * WINDOW_END + 2 * WINDOW_END
