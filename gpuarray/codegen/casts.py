"""Casts, literals and widths: how a value of one dtype becomes a value of another, in WGSL expressions.

Invariant: a value held in a register is always a value of its dtype. An int8 in an i32 is in [-128, 127], a float16 in
an f32 is a float16 number. Every expression made here keeps that.

Casts are NumPy's ``astype`` on x86-64. Where C leaves a result undefined (a float out of the integer's range, NaN), it
is what that processor gives: the lowest value for int32 and int64, and the low bits of the int32 result for narrower
targets; unsigned targets take negative values modulo their range while int32 or int64 holds them. NumPy's own results
there differ between its vectorised loops and their tails; these are the vectorised ones.
"""

import math
import struct
from typing import Any

from gpuarray import dtypes
from gpuarray.codegen.target import PAIRS, compute_type
from gpuarray.dtypes import DType

_REAL = {"c64": "f32", "c128": "f64"}
_NATIVE = ("i32", "u32", "i64", "u64")
_INTEGER = (*_NATIVE, *PAIRS)
#: Built-in conversions that extend by the target's signedness, where NumPy's extend by the source's.
_EXTENDS = (("i32", "u64"), ("u32", "i64"), ("i32", "i64"))


def wrap_expression(expression: str, dtype: DType) -> str:
    """Return an arithmetic result brought back into the range of an 8- or 16-bit dtype; else the expression itself."""
    if dtype == dtypes.float16:
        return f"round_f16_f32({expression})"
    if dtype.itemsize > 2 or dtype.kind not in "iu":
        return expression
    bits = 8 * dtype.itemsize
    if dtype.kind == "u":
        return f"(({expression}) & {hex((1 << bits) - 1)}u)"
    return f"((({expression}) << {32 - bits}u) >> {32 - bits}u)"


def cast_expression(expression: str, source: DType, target: DType) -> str:
    """Return the value of ``expression``, held as ``source``, converted to ``target`` as ``astype`` does."""
    if source == target:
        return expression
    source_type, target_type = compute_type(source), compute_type(target)
    if target.kind == "b":
        return _truth(expression, source_type)
    if source_type in _REAL:
        if target_type in _REAL:
            return f"{target_type}_from_{source_type}({expression})"
        real = dtypes.float32 if source_type == "c64" else dtypes.float64
        return cast_expression(f"({expression}).x", real, target)
    if target_type in _REAL:
        part = dtypes.float32 if target_type == "c64" else dtypes.float64
        return (
            f"vec2<{_REAL[target_type]}>({cast_expression(expression, source, part)}, opaque_{_REAL[target_type]}(0.0))"
        )
    if source_type not in _INTEGER and source_type != "bool":
        return _from_float(expression, source_type, target)
    converted = (
        _from_bool(expression, target_type)
        if source_type == "bool"
        else _from_integer(expression, source_type, source, target)
    )
    # an integer that the driver proves to be 0 must not become a 0.0 that it knows: it would fold 0.0 * x and 0.0 / x
    return f"opaque_{target_type}({converted})" if target.kind == "f" else converted


def position_expression(expression: str, dtype: DType) -> str:
    """Return the u32 position that ``expression``, held as an integer ``dtype``, gives: the low word of a wider one."""
    return f"{expression}.x" if compute_type(dtype) in PAIRS else f"u32({expression})"


def _truth(expression: str, source_type: str) -> str:
    return f"({expression} != 0)" if source_type in _NATIVE else f"truth_{source_type}({expression})"


def _from_bool(expression: str, target_type: str) -> str:
    return f"vec2<u32>(u32({expression}), 0u)" if target_type in PAIRS else f"{target_type}({expression})"


def _from_integer(expression: str, source_type: str, source: DType, target: DType) -> str:
    target_type = compute_type(target)
    if target_type in _INTEGER:
        widened = _widened(expression, source_type, target_type)
        fits = target.kind == source.kind and target.itemsize >= source.itemsize
        fits = fits or (source.kind == "u" and target.itemsize > source.itemsize)
        return widened if fits else wrap_expression(widened, target)
    if target == dtypes.float16:
        # beyond 2**17 every integer is infinite as float16, so clamping loses nothing and the f32 is exact
        return f"round_f16_f32(f32(clamp_{source_type}({expression})))"
    if target_type == "f64" and source_type in ("i32", "u32"):
        return f"f64({expression})"
    return f"{target_type}_from_{source_type}({expression})"


def _widened(expression: str, source_type: str, target_type: str) -> str:
    if source_type == target_type or (source_type in PAIRS and target_type in PAIRS):
        return expression
    if source_type in PAIRS or target_type in PAIRS or (source_type, target_type) in _EXTENDS:
        return f"{target_type}_from_{source_type}({expression})"
    return f"{target_type}({expression})"


def _from_float(expression: str, source_type: str, target: DType) -> str:
    target_type = compute_type(target)
    if target_type in ("f32", "f64"):
        if target == dtypes.float16:
            return f"round_f16_{source_type}({expression})"
        return expression if source_type == target_type else f"{target_type}_from_{source_type}({expression})"
    if target.itemsize < 4:
        return wrap_expression(f"{target_type}(i32_from_{source_type}({expression}))", target)
    return f"{target_type}_from_{source_type}({expression})"


def bitcast_expression(expression: str, source: DType, target: DType) -> str:
    """Return the bits of ``expression``, held as ``source``, as ``target``: real dtypes of one size."""
    source_type, target_type = compute_type(source), compute_type(target)
    if target.kind == "b":
        return f"({expression} != 0)"
    if dtypes.float16 in (source, target):
        integer = dtypes.uint16
        bits = (
            f"f16_to_bits({expression})"
            if source == dtypes.float16
            else _from_integer(expression, source_type, source, integer)
        )
        return f"f16_from_bits({bits})" if target == dtypes.float16 else _from_integer(bits, "u32", integer, target)
    if source.itemsize > 2:
        return expression if source_type in PAIRS else f"bitcast<{target_type}>({expression})"
    return (
        f"{target_type}({expression})"
        if source_type == "bool"
        else _from_integer(expression, source_type, source, target)
    )


def literal(value: Any, dtype: DType) -> str:
    """Return ``value`` of ``dtype`` as a WGSL expression in its compute type: exact, NaN and infinities included."""
    kind = compute_type(dtype)
    if kind in _REAL:
        part = dtypes.float32 if kind == "c64" else dtypes.float64
        number = complex(dtype.type(value))
        return f"vec2<{_REAL[kind]}>({literal(number.real, part)}, {literal(number.imag, part)})"
    if kind == "bool":
        return "true" if value else "false"
    if kind in _INTEGER:
        number = int(dtype.type(value))
        return _pair_literal(number) if kind in PAIRS else _integer_literal(number, kind)
    number = float(dtype.type(value))
    if kind == "f32":
        bits = struct.unpack("<I", struct.pack("<f", number))[0]
        plain = number == 0.0 or 1e-30 < abs(number) < 1e30
        return f"{number!r}f" if plain and math.copysign(1.0, number) > 0 else f"bitcast<f32>({hex(bits)}u)"
    bits = struct.unpack("<Q", struct.pack("<d", number))[0]
    plain = number == 0.0 or 1e-300 < abs(number) < 1e300
    return f"{number!r}lf" if plain and math.copysign(1.0, number) > 0 else f"bitcast<f64>({hex(bits)}lu)"


def _integer_literal(value: int, kind: str) -> str:
    suffix = {"i32": "i", "u32": "u", "i64": "li", "u64": "lu"}[kind]
    if value >= 0:
        return f"{value}{suffix}"
    # the lowest value has no positive counterpart to negate
    return f"({value + 1}{suffix} - 1{suffix})"


def _pair_literal(value: int) -> str:
    return f"vec2<u32>({value & 0xFFFFFFFF}u, {value >> 32 & 0xFFFFFFFF}u)"
