"""The words of formulas: types, declarations, and primitives, which are functions of ``codegen/math`` and of NumPy.

The modules that define formulas import all of them.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gpuarray.ops.formula import Integer, Pair, Primitive, Real, Triple, Truth, constant, formula

__all__ = [
    "Integer", "Pair", "Real", "Triple", "Truth", "absolute", "add", "constant", "copysign", "cos_reduced", "divide",
    "exp", "expm1", "expm1_rest", "fast_two_sum", "floor", "fmod", "formula", "gradual_multiply", "infinity",
    "is_negative", "is_zero", "isfinite", "isinf", "isnan", "log", "log1p", "log_exponent", "log_fraction", "multiply",
    "nan", "negative", "opaque", "power", "real", "rint", "scaled", "shifted", "signbit", "sin_reduced", "sqrt",
    "subtract", "two_product", "two_sum",
]  # fmt: skip


def _function(name: str, numpy: Callable[..., Any], operands: int = 1) -> Primitive:
    return Primitive(f"{name}_{{T}}({', '.join(f'{{{i}}}' for i in range(operands))})", numpy)


def _split(x: Any) -> Any:
    return (np.asarray(x, np.float64).view(np.uint64) & np.uint64(0xFFFFFFFFF8000000)).view(np.float64)


def _two_product(a: Any, b: Any) -> tuple[Any, Any]:
    product = np.asarray(a * b, np.float64)
    a_high, b_high = _split(a), _split(b)
    a_low, b_low = a - a_high, b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _expm1_rest(high: Any, low: Any) -> Any:
    return np.expm1(high) - high + low * (1 + high)


def _log_exponent(x: Any) -> Any:
    fraction, exponent = np.frexp(x)
    return exponent - (fraction < 0.7071067811865476)


def _scaled(x: Any, n: Any) -> Any:
    return np.ldexp(x, np.asarray(n).astype(np.int32))


absolute: Final = _function("abs", np.abs)
copysign: Final = _function("copysign", np.copysign, 2)
exp: Final = _function("exp", np.exp)
expm1: Final = _function("expm1", np.expm1)
floor: Final = _function("floor", np.floor)
fmod: Final = _function("fmod", np.fmod, 2)
isfinite: Final = _function("isfinite", np.isfinite)
isinf: Final = _function("isinf", np.isinf)
isnan: Final = _function("isnan", np.isnan)
#: True for zeros alone, while devices that flush subnormal numbers also compare these equal to 0.
is_zero: Final = Primitive("(!truth_{T}({0}))", lambda x: np.equal(x, 0))
#: True for negative numbers, including subnormal ones.
is_negative: Final = Primitive("(order_{T}({0}) < 0)", lambda x: np.less(x, 0))
log: Final = _function("log", np.log)
log1p: Final = _function("log1p", np.log1p)
#: The negative of a number, also of a subnormal one.
negative: Final = _function("negative", np.negative)
rint: Final = _function("rint", np.rint)
signbit: Final = _function("signbit", np.signbit)
sqrt: Final = _function("sqrt", np.sqrt)
#: Operations that are rounded correctly, and neither contracted nor reordered.
divide: Final = _function("divide", np.divide, 2)
add: Final = _function("add", np.add, 2)
subtract: Final = _function("subtract", np.subtract, 2)
multiply: Final = _function("multiply", np.multiply, 2)
#: A product that keeps subnormal factors and results.
gradual_multiply: Final = _function("gradual_multiply", np.multiply, 2)
power: Final = _function("pow", np.power, 2)
opaque: Final = _function("opaque", lambda x: x)
#: Sums and products as the rounded result and its rounding error; ``fast_two_sum`` needs abs(a) >= abs(b).
two_product: Final = _function("two_product", _two_product, 2)
two_sum: Final = _function("two_sum", _two_sum, 2)
fast_two_sum: Final = _function("fast_two_sum", lambda a, b: (a + b, b - ((a + b) - a)), 2)
#: exp(high + low) - 1 - high for abs(high) <= log(2)/2.
expm1_rest: Final = _function("expm1_rest", _expm1_rest, 2)
#: x = 2**k * (1 + f) with 1 + f from sqrt(1/2) to sqrt(2).
log_exponent: Final = _function("log_exponent", _log_exponent)
log_fraction: Final = _function("log_fraction", lambda x, k: np.ldexp(x, -k) - 1, 2)
#: sin(high + low) and cos(high + low) for abs(high) <= pi/4.
sin_reduced: Final = _function("sin_reduced", lambda high, low: np.sin(high) + low * np.cos(high), 2)
cos_reduced: Final = _function("cos_reduced", lambda high, low: np.cos(high) - low * np.sin(high), 2)
#: x * 2**n, rounded once, for a real number n with an integral value.
scaled: Final = Primitive("ldexp_{T}({0}, i32({1}))", _scaled)
#: x * 2**n for an integer n.
shifted: Final = Primitive("ldexp_{T}({0}, {1})", _scaled)
#: An integer as a real number.
real: Final = Primitive("{T}({0})", lambda k: np.asarray(k, np.float64))
infinity: Final = Primitive("infinity_{T}()", lambda: np.float64(np.inf))
nan: Final = Primitive("nan_{T}()", lambda: np.float64(np.nan))
