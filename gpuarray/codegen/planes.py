"""The arithmetic of matrix products, on *planes* of plain numbers.

The parts of complex numbers, and the 32-bit words of 64-bit integers on devices without these, are planes of their own,
so that every operation is one of vectors of four components.
"""

from collections.abc import Sequence
from typing import Final

from gpuarray.codegen.target import PAIRS, compute_type
from gpuarray.dtypes import DType

_COMPONENTS: Final = {"bool": "u32", "c64": "f32", "c128": "f64", **dict.fromkeys(PAIRS, "u32")}


class Arithmetic:
    """The arithmetic of a dtype on planes of components.

    Attributes
    ----------
    dtype : dtype
        Of the values.
    component, quad : str
        The WGSL types of the numbers in a plane, and of four of them.
    planes : int
        How many components a value has.
    nbytes : int
        Bytes of a component.
    """

    def __init__(self, dtype: DType) -> None:
        compute = compute_type(dtype)
        self.dtype = dtype
        self.component = _COMPONENTS.get(compute, compute)
        self.quad = f"vec4<{self.component}>"
        self.planes = 2 if compute in ("c64", "c128", *PAIRS) else 1
        self.nbytes = 8 if self.component in ("f64", "i64", "u64") else 4

    def parts(self, value: str) -> list[str]:
        """Return the components of a value held in a register."""
        if self.planes == 2:
            return [f"{value}.x", f"{value}.y"]
        return [f"select(0u, 1u, {value})"] if self.dtype.kind == "b" else [value]

    def whole(self, parts: Sequence[str]) -> str:
        """Return the value that components make."""
        if self.planes == 2:
            return f"vec2<{self.component}>({', '.join(parts)})"
        return f"({parts[0]} != 0u)" if self.dtype.kind == "b" else parts[0]

    def multiply_add(self, sums: Sequence[str], factor: Sequence[str], quad: Sequence[str]) -> list[str]:
        """Return the statements that add a value times four values to four sums, each given by its planes."""
        floating = self.component in ("f32", "f64")
        if self.planes == 1:
            (total,), (a,), (b,) = sums, factor, quad
            return [f"{total} = fma({self.quad}({a}), {b}, {total});" if floating else f"{total} += {a} * {b};"]
        (low, high), (a, c), (b, d) = sums, factor, quad
        if floating:
            return [
                f"{low} = fma({self.quad}({a}), {b}, fma({self.quad}(-{c}), {d}, {low}));",
                f"{high} = fma({self.quad}({a}), {d}, fma({self.quad}({c}), {b}, {high}));",
            ]
        return [
            f"{{ let product = {a} * {b}; {low} += product;",
            f"{high} += high_words({a}, {b}) + {a} * {d} + {c} * {b} + {_carry(low, 'product')}; }}",
        ]

    def add(self, sums: Sequence[str], quads: Sequence[str]) -> list[str]:
        """Return the statements that add four values to four sums, both given by their planes."""
        lines = [f"{total} += {quad};" for total, quad in zip(sums, quads, strict=True)]
        if self.planes == 2 and self.component == "u32":
            lines[1:] = [f"{sums[1]} += {quads[1]} + {_carry(sums[0], quads[0])};"]
        return lines

    @property
    def functions(self) -> list[str]:
        """The functions that the statements call."""
        if self.planes == 1 or self.component != "u32":
            return []
        return [
            "fn high_words(a: u32, b: vec4<u32>) -> vec4<u32> {",
            "  let low = (a & 0xffffu) * (b & vec4<u32>(0xffffu));",
            "  let first = (a >> 16u) * (b & vec4<u32>(0xffffu)) + (low >> vec4<u32>(16u));",
            "  let second = (a & 0xffffu) * (b >> vec4<u32>(16u)) + (first & vec4<u32>(0xffffu));",
            "  return (a >> 16u) * (b >> vec4<u32>(16u)) + (first >> vec4<u32>(16u)) + (second >> vec4<u32>(16u));",
            "}",
        ]


def _carry(low: str, added: str) -> str:
    """Return the carries of four sums of lower words to which ``added`` was just added."""
    return f"select(vec4<u32>(), vec4<u32>(1u), {low} < {added})"
