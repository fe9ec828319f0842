"""The arithmetic of real and complex numbers in the kernels of factorisations."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from gpuarray import dtypes
from gpuarray.codegen.storage import LANES, register_type
from gpuarray.codegen.target import compute_type
from gpuarray.dtypes import DType

_FUNCTIONS: Final = """\
fn times(a: vec2<FLOAT>, b: vec2<FLOAT>) -> vec2<FLOAT> {
  return vec2<FLOAT>(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}"""


class Numbers:
    """Expressions of the arithmetic of a dtype.

    Attributes
    ----------
    dtype : dtype
        Floating or complex.
    kind, real : str
        The WGSL types of a number, and of its parts.
    real_dtype : dtype
        Of the parts.
    """

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype
        self.is_complex = dtype.kind == "c"
        self.real_dtype = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(dtype, dtype)
        self.kind, self.real = register_type(dtype), register_type(self.real_dtype)
        self._suffix = compute_type(dtype)

    @property
    def functions(self) -> list[str]:
        """The functions that the expressions call."""
        return [_FUNCTIONS.replace("FLOAT", self.real)] if self.is_complex else []

    @property
    def zero(self) -> str:
        """The number 0."""
        return f"{self.kind}()"

    @property
    def one(self) -> str:
        """The number 1."""
        return self.whole(f"{self.real}(1)")

    def whole(self, real: str) -> str:
        """Return a number with a real part, and no other."""
        return f"{self.kind}({real}, {self.real}())" if self.is_complex else real

    def part(self, number: str) -> str:
        """Return the real part."""
        return f"{number}.x" if self.is_complex else number

    def conj(self, number: str) -> str:
        """Return the conjugate of a number."""
        return f"{self.kind}({number}.x, -{number}.y)" if self.is_complex else number

    def times(self, a: str, b: str) -> str:
        """Return a product."""
        return f"times({a}, {b})" if self.is_complex else f"(({a}) * ({b}))"

    def less(self, a: str, b: str, c: str) -> str:
        """Return ``a - b * c``."""
        return f"({a} - times({b}, {c}))" if self.is_complex else f"fma(-({b}), {c}, {a})"

    def over(self, a: str, b: str) -> str:
        """Return a quotient."""
        return f"divide_{self._suffix}({a}, {b})" if self.is_complex else f"(({a}) / ({b}))"

    def size(self, a: str) -> str:
        """Return the sum of the absolute values of the parts, by which LAPACK chooses pivots."""
        return f"(abs({a}.x) + abs({a}.y))" if self.is_complex else f"abs({a})"

    def absolute(self, a: str) -> str:
        """Return the absolute value of a number whose square neither overflows nor vanishes."""
        return f"sqrt(dot({a}, {a}))" if self.is_complex else f"abs({a})"

    def square(self, a: str) -> str:
        """Return the square of the absolute value."""
        return f"dot({a}, {a})" if self.is_complex else f"({a} * {a})"


class Vectors:
    """Lines of numbers in workgroup memory, which all invocations read together: real ones four at a time.

    Parameters
    ----------
    name : str
        Of the array.
    numbers : Numbers
        Of the dtype.
    lines, length : int
        How many lines there are, and the numbers of each, a multiple of four.
    """

    def __init__(self, name: str, numbers: Numbers, lines: int, length: int) -> None:
        self._name, self._length, self._pitch = name, length, self.pitch_of(length)
        self._lanes = 1 if numbers.is_complex else LANES
        kind = numbers.kind if numbers.is_complex else f"vec{LANES}<{numbers.kind}>"
        self.declaration = f"var<workgroup> {name}: array<{kind}, {lines * self._pitch // self._lanes}>;"

    @staticmethod
    def pitch_of(length: int) -> int:
        """Return the numbers from a line to the next, which begin in different banks."""
        return length + LANES

    def element(self, line: str, index: str) -> str:
        """Return one number."""
        if self._lanes == 1:
            return f"{self._name}[({line}) * {self._pitch}u + {index}]"
        first = f"({line}) * {self._pitch // LANES}u"
        return f"{self._name}[{first} + ({index}) / {LANES}u][({index}) % {LANES}u]"

    def read(self, line: str, first: int = 0) -> tuple[list[str], list[str]]:
        """Return statements that read a line from the number ``first`` on, and names of its numbers by position."""
        return self._read(self._name, f"({line}) * {self._pitch // self._lanes}u", range(first, self._length))

    def read_some(
        self, name: str, line: str, index: str, count: int, beyond: int = 0
    ) -> tuple[list[str], list[str]]:  # fmt: skip
        """Return statements that read ``count`` numbers, and the names of these.

        They begin ``beyond`` numbers after a position, or before it. Both are multiples of ``count``; reads from one
        position are a constant apart.
        """
        sign, distance = "-" if beyond < 0 else "+", abs(beyond)
        if count % self._lanes:
            return [
                f"let {name}{n} = {self.element(line, f'{index} {sign} {distance}u + {n}u')};" for n in range(count)
            ], [f"{name}{n}" for n in range(count)]
        lanes = self._lanes
        start = f"({line}) * {self._pitch // lanes}u + ({index}) / {lanes}u {sign} {distance // lanes}u"
        return self._read(name, start, range(count))

    def write_some(self, line: str, index: str, values: Sequence[str]) -> list[str]:
        """Return statements that write numbers from a position on, a multiple of their number."""
        lanes = self._lanes
        if len(values) % lanes:
            return [f"{self.element(line, f'{index} + {n}u')} = {value};" for n, value in enumerate(values)]
        start = f"({line}) * {self._pitch // lanes}u + ({index}) / {lanes}u"
        kind = f"vec{LANES}" if lanes > 1 else ""
        parts = [", ".join(values[n : n + lanes]) for n in range(0, len(values), lanes)]
        return [f"{self._name}[{start} + {n}u] = {kind}({component});" for n, component in enumerate(parts)]

    def _read(self, name: str, start: str, indices: range) -> tuple[list[str], list[str]]:
        lanes = self._lanes
        parts = range(indices.start // lanes, -(-indices.stop // lanes))
        lets = [f"let {name}{n} = {self._name}[{start} + {n}u];" for n in parts]
        if lanes == 1:
            return lets, [f"{name}{n}" for n in range(indices.stop)]
        return lets, [f"{name}{n // LANES}.{'xyzw'[n % LANES]}" for n in range(indices.stop)]


def inverse(numbers: Numbers, pivot: str) -> list[str]:
    """Return statements that declare the ``inverse`` of ``gain`` times a pivot of some ``size``; it is not infinite."""
    real, tiny = numbers.real, float(np.finfo(numbers.real_dtype).tiny)
    return [
        f"let gain = select({real}(1), {real}({2.0**64!r}), size < {real}({tiny * 2**20!r}));",
        f"var inverse = {numbers.zero};",
        f"if (size != 0) {{ inverse = {numbers.over(numbers.one, f'({pivot} * gain)')}; }}",
    ]


def near_one(real: str) -> list[str]:
    """Return statements that make ``scale``, which is 1, the power of two by which a ``peak`` comes near 1."""
    lines = []
    for factor, times in ((2.0**16, 64), (2.0, 16)):
        lines += [
            f"if (peak > 0) {{ for (var k = 0u; k < {times}u; k++) {{",
            f"if (peak * scale < {real}({1 / factor!r})) {{ scale *= {real}({factor!r}); }}",
            f"else if (peak * scale > {real}({factor!r})) {{ scale *= {real}({1 / factor!r}); }} }} }}",
        ]
    return lines
