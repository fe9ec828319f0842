"""Sort keys: unsigned words whose order is that of the values, and the raw words that sorting moves.

Sorting never computes with values. It moves their bits as they lie in memory, so that payloads of NaN, signs of zeros
and subnormal numbers stay what they are, and compares keys that are made of the bits on the fly. A key has as many bits
as its value, the least significant word first. Both zeros have one key, and all NaN have one, the greatest; complex
numbers are in NumPy's order, where one with NaN in its real part comes last, and before it one with NaN in its
imaginary part only. In descending order NaN is last too, so that keys are inverted where they are made.
"""

from typing import Final

from gpuarray import dtypes
from gpuarray.codegen.storage import Access, word_count
from gpuarray.codegen.wgsl import Kernel
from gpuarray.dtypes import DType

_NARROW: Final = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32}


def word_type(dtype: DType) -> str:
    """Return the WGSL type of a raw value, and of its key."""
    count = word_count(dtype)
    return "u32" if count == 1 else f"vec{count}<u32>"


def bind_array(
    kernel: Kernel,
    kind: str,
    slot: int,
    size: int,
    dtype: DType,
    *,
    name: str = "",
    first: int = 0,
    writable: bool | None = None,
) -> Access:
    """Bind ``size`` values of an input or output, those from number ``first`` on, as raw words."""
    raw, item = _raw(dtype)
    return kernel.array(kind, slot, size, raw, first=first, name=name, item=item, writable=writable)


def bind_scratch(kernel: Kernel, slot: int, size: int, dtype: DType, *, writable: bool, name: str = "") -> Access:
    """Bind a scratch buffer of ``size`` values as raw words."""
    raw, item = _raw(dtype)
    return kernel.scratch(slot, size, raw, writable=writable, name=name, item=item)


def _raw(dtype: DType) -> tuple[DType, str]:
    """Return the dtype and the WGSL type of the raw words of values."""
    return _NARROW.get(dtype.itemsize, dtype), word_type(dtype) if dtype.itemsize > 4 else ""


def key_functions(dtype: DType) -> str:
    """Return the WGSL function ``sort_key``, from a raw value of ``dtype`` to its key.

    The key is that of ascending order where ``flip`` is 0, of descending order where it has all bits.
    """
    kind = word_type(dtype)
    if dtype.kind == "c":
        return _complex_key(dtype)
    if dtype.kind == "f":
        return _float_key("sort_key", dtype)
    if dtype.kind == "i":
        sign = hex(1 << (8 * min(dtype.itemsize, 4) - 1)) + "u"
        key = f"raw ^ {sign} ^ flip" if kind == "u32" else f"vec2<u32>(raw.x, raw.y ^ {sign}) ^ vec2<u32>(flip)"
        return f"fn sort_key(raw: {kind}, flip: u32) -> {kind} {{ return {key}; }}"
    return f"fn sort_key(raw: {kind}, flip: u32) -> {kind} {{ return raw ^ {kind}(flip); }}"


def _float_key(name: str, dtype: DType) -> str:
    """Return the key of a real floating dtype: negative numbers turned over, the others above them."""
    top = 8 * min(dtype.itemsize, 4)
    sign, every, rest = 1 << (top - 1), (1 << top) - 1, (1 << (top - 1)) - 1
    infinity = {2: 0x7C00, 4: 0x7F800000, 8: 0x7FF00000}[dtype.itemsize]
    if dtype.itemsize <= 4:
        return f"""fn {name}(raw: u32, flip: u32) -> u32 {{
  let magnitude = raw & {hex(rest)}u;
  let turned = select(raw | {hex(sign)}u, raw ^ {hex(every)}u, raw >= {hex(sign)}u);
  let key = select(turned, {hex(sign)}u, magnitude == 0u) ^ flip;
  return select(key, {hex(every)}u | flip, magnitude > {hex(infinity)}u);
}}"""
    return f"""fn {name}(raw: vec2<u32>, flip: u32) -> vec2<u32> {{
  let magnitude = raw.y & {hex(rest)}u;
  let lost = magnitude > {hex(infinity)}u || (magnitude == {hex(infinity)}u && raw.x != 0u);
  let turned = select(vec2<u32>(raw.x, raw.y | {hex(sign)}u), ~raw, raw.y >= {hex(sign)}u);
  let key = select(turned, vec2<u32>(0u, {hex(sign)}u), (magnitude | raw.x) == 0u) ^ vec2<u32>(flip);
  return select(key, vec2<u32>({hex(every)}u), lost);
}}"""


def _complex_key(dtype: DType) -> str:
    """Return the key of a complex dtype: the real part's above the imaginary part's, unless one of them is NaN.

    No number has a key whose highest word is one of the last three, so these stand for the three kinds of NaN.
    """
    if dtype == dtypes.complex64:
        part, kind, real, imaginary = dtypes.float32, "vec2<u32>", "raw.x", "raw.y"
        top, joined = "", "vec2<u32>({low}, {high})"
    else:
        part, kind, real, imaginary = dtypes.float64, "vec4<u32>", "raw.xy", "raw.zw"
        top, joined = ".y", "vec4<u32>({low}, {high})"
    nan = "0xffffffffu"

    def marked(mark: str, low: str) -> str:
        high = mark if part == dtypes.float32 else f"vec2<u32>(0u, {mark})"
        return joined.format(low=low, high=high)

    return f"""{_float_key("part_key", part)}
fn sort_key(raw: {kind}, flip: u32) -> {kind} {{
  let real = part_key({real}, flip);
  let imaginary = part_key({imaginary}, flip);
  let lost = imaginary{top} == {nan};
  if (real{top} == {nan}) {{ return {marked(f"select(0xfffffffeu, {nan}, lost)", "imaginary")}; }}
  if (lost) {{ return {marked("0xfffffffdu", "real")}; }}
  return {joined.format(low="imaginary", high="real")};
}}"""
