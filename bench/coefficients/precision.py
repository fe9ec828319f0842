"""The two binary formats: rounding to them, and WGSL literals in them."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from mpmath import mp

Number = Any


@dataclass(frozen=True)
class Precision:
    """A binary floating-point format and its WGSL types.

    ``digits`` are the bits of a significand, the implicit one included, ``upper`` those of its upper half, which leave
    room for exact products; ``width`` are all bits.
    """

    float_: str
    integer: str
    digits: int
    upper: int
    width: int

    @property
    def numpy(self) -> Any:
        """NumPy's scalar type."""
        return np.float32 if self.width == 32 else np.float64

    def rounded(self, value: Number) -> Number:
        """Return the nearest number of this format; ``value`` is in its normal range."""
        return self.cut(value, self.digits)

    def cut(self, value: Number, bits: int) -> Number:
        """Return the nearest number with so many significant bits."""
        with mp.workprec(bits):
            return +mp.mpf(value)

    def literal(self, value: Number) -> str:
        """Return a number of this format as the shortest decimal that is read as it."""
        number = self.numpy(float(value))
        if mp.mpf(float(number)) != value:
            raise ValueError(f"{value} is no {self.float_}")
        digits = repr(number.item()) if self.width == 64 else str(number)
        return digits + ("lf" if self.width == 64 else "f")

    def word(self, value: int) -> str:
        """Return an unsigned integer of this width in hexadecimal."""
        return f"{value:#0{self.width // 4 + 2}x}{'lu' if self.width == 64 else 'u'}"

    def bits(self, value: Number) -> int:
        """Return the bits of a number of this format."""
        unsigned = np.uint32 if self.width == 32 else np.uint64
        return int(self.numpy(float(value)).view(unsigned))


SINGLE: Final = Precision("f32", "u32", digits=24, upper=12, width=32)
DOUBLE: Final = Precision("f64", "u64", digits=53, upper=26, width=64)
PRECISIONS: Final = (SINGLE, DOUBLE)
