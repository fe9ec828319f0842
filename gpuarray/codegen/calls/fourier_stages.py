"""Stages of Fourier transforms: WGSL functions that do one stage of every line in workgroup memory.

A stage of radix r combines r numbers at a time (a *butterfly*). Small radices have a stage each, whose numbers lie in
registers; all other primes share one, which is a loop.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import cos, pi, sin
from typing import Final

from gpuarray import dtypes
from gpuarray.codegen.storage import register_type
from gpuarray.codegen.wgsl import WORKGROUP
from gpuarray.dtypes import DType

#: Radices that a kernel has stages for: the first set that will do is taken. ``LOOP`` stands for all primes.
LOOP: Final = 0

RADIX_SETS: Final = ((8, 4), (8, 4, 2, 3, 5), (8, 4, 2, 3, 5, 7, 11, 13), (8, 4, 2, 3, 5, LOOP))

UNROLLED_PRIMES: Final = (2, 3, 5, 7, 11, 13)

PRIMES: Final = (*UNROLLED_PRIMES, 17, 19, 23, 29, 31)


def complex_of(real: DType) -> DType:
    """Return the complex dtype whose parts are of a real one."""
    return dtypes.complex64 if real == dtypes.float32 else dtypes.complex128


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


def radix_set(radices: list[int]) -> tuple[int, ...]:
    """Return the first of :data:`RADIX_SETS` that has stages for all radices."""
    return next((known for known in RADIX_SETS if set(radices) <= set(known)), RADIX_SETS[-1])


def roots(radix: int, k: str, n: str, suffix: str) -> Iterator[str]:
    """Yield the powers of a root of unity; those that are no powers of 2 are products of two others."""
    for power in range(1, radix):
        lowest = power & -power
        if lowest == power:
            yield f"let w{power} = unit_root{suffix}({k} * {power}u, {n});"
        else:
            yield f"let w{power} = turned{suffix}(w{lowest}, w{power - lowest});"


def turned(values: list[str], suffix: str) -> str:
    """Return values, each but the first turned by a power of the root."""
    return ", ".join([values[0], *(f"turned{suffix}({value}, w{n})" for n, value in enumerate(values[1:], 1))])


@lru_cache(maxsize=128)
def stage_function(radix: int, capacity: int, real: DType) -> str:
    """Return the function that does one stage: all is read into registers, then written where the next one wants it."""
    suffix = real.name.replace("float", "f")
    number = register_type(complex_of(real))
    registers = -(-capacity // (radix * WORKGROUP))
    text = [] if radix in (2, 4, 8) else [_odd_transform(radix, suffix, number)]
    text += [
        f"fn stage_{radix}(local: u32, together: u32, size: u32, behind: u32) {{",
        f"let count = size / {radix}u;",
        "let butterflies = together * count;",
        "let count_reciprocal = 1.0f / f32(count);",
        "let behind_reciprocal = 1.0f / f32(behind);",
    ]
    for s in range(registers):
        values = turned([f"numbers[spread(from_{s} + {n}u * count)]" for n in range(radix)], f"_{suffix}")
        text += [
            f"let b_{s} = local + {s * WORKGROUP}u;",
            f"let line_{s} = small_quotient(b_{s}, count_reciprocal);",
            f"let i_{s} = b_{s} - line_{s} * count;",
            f"let k_{s} = i_{s} - small_quotient(i_{s}, behind_reciprocal) * behind;",
            f"let from_{s} = line_{s} * size + i_{s};",
            f"var y_{s} = array<{number}, {radix}>();",
            f"if (b_{s} < butterflies) {{",
            *roots(radix, f"k_{s}", f"behind * {radix}u", f"_{suffix}"),
            f"y_{s} = transform_{radix}_{suffix}(array<{number}, {radix}>({values}));",
            "}",
        ]
    text.append("workgroupBarrier();")
    for s in range(registers):
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


def loop_stage(lines: int, real: DType) -> str:
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
