"""Short rows: a bitonic sort of keys with positions in workgroup memory, one launch in all.

Several rows share a workgroup if they are short. Ties are decided by position, so the order is stable.
"""

from typing import Final

from gpuarray import dtypes
from gpuarray.codegen.calls.sorting_keys import bind_array, key_functions, word_type
from gpuarray.codegen.programs import Program
from gpuarray.codegen.storage import word_count
from gpuarray.codegen.wgsl import WORKGROUP, Kernel
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType

#: Positions of a workgroup: two an invocation keep it busy.
_PLACES: Final = 2 * WORKGROUP
#: The longest short row for each word of a key: the steps of a longer row's network take more time than its digits.
_LONGEST: Final = 128

_PARTS: Final = "xyzw"
#: The steps of the network. Sorted runs of `size` positions become runs of twice as many: first each position meets its
#: mirror image in the other run, then the position that is `half` away.
_NETWORK: Final = (
    "for (var size = 1u; size < width; size <<= 1u) {",
    "for (var half = size; half > 0u; half >>= 1u) {",
    "let across = select(half, 2u * half - 1u, half == size);",
    f"for (var pair = local; 2u * pair < used; pair += {WORKGROUP}u) {{",
    "let low = 2u * pair - (pair & (half - 1u));",
    "let high = low ^ across;",
    "if (is_first(keys[high], places[high], keys[low], places[low])) {",
    "let key = keys[low]; keys[low] = keys[high]; keys[high] = key;",
    "let place = places[low]; places[low] = places[high]; places[high] = place;",
    "}",
    "}",
    "workgroupBarrier();",
    "}",
    "}",
)


def longest_short_row(dtype: DType) -> int:
    """Return how many elements a row may have that one workgroup sorts."""
    return _LONGEST * word_count(dtype)


def _first_expression(words: int) -> str:
    """Return whether key ``a`` is less than key ``b``, or equal and at an earlier position."""
    expression = "at_a < at_b"
    parts = [f".{_PARTS[word]}" for word in range(words)] if words > 1 else [""]
    for word in parts:  # the most significant word is the last one, and becomes the outermost
        expression = f"a{word} < b{word} || (a{word} == b{word} && ({expression}))"
    return expression


def short_rows(
    label: str,
    dtype: DType,
    rows: int,
    length: int,
    capabilities: Capabilities,
    *,
    descending: bool,
    positions: bool,
) -> Program:
    """Return the one launch that sorts ``rows`` rows of ``length`` elements, or gives the positions that do.

    Each row takes a power of two of positions; those beyond its end hold the greatest key and come last, because
    their positions do.
    """
    kernel = Kernel(f"{label} short rows")
    size = rows * length
    source = bind_array(kernel, "input", 0, size, dtype)
    target = bind_array(kernel, "output", 0, size, dtypes.int64 if positions else dtype)
    kind = word_type(dtype)
    slots = 1 << (length - 1).bit_length()
    together = min(rows, _PLACES // slots)
    extent, width, used = kernel.parameter(length), kernel.parameter(slots), kernel.parameter(slots * together)
    count, flip = kernel.parameter(size), kernel.parameter(0xFFFFFFFF if descending else 0)
    groups, rows_together = kernel.parameter(-(-rows // together)), kernel.parameter(together)
    kernel.module += _declarations(dtype)
    kernel.line(
        "let block = group.x + group.y * groups.x;",
        f"if (block >= {groups}) {{ return; }}",
        f"let width = {width};",
        f"let used = {used};",
        "let row_bits = countTrailingZeros(width);",
        f"for (var i = local; i < used; i += {WORKGROUP}u) {{",
        "let place = i & (width - 1u);",
        f"let at = (block * {rows_together} + (i >> row_bits)) * {extent} + place;",
        f"var key = {kind}(0xffffffffu);",
        # rows beyond the last one are read nowhere
        f"if (place < {extent} && at < {count}) {{ key = sort_key({source.load('at')}, {flip}); }}",
        "keys[i] = key;",
        "places[i] = place;",
        "}",
        "workgroupBarrier();",
        *_NETWORK,
        f"for (var i = local; i < used; i += {WORKGROUP}u) {{",
        "let place = i & (width - 1u);",
        f"let row_start = (block * {rows_together} + (i >> row_bits)) * {extent};",
        f"if (place < {extent} && row_start < {count}) {{",
    )
    if positions:
        kernel.line(target.store("row_start + place", "vec2<u32>(places[i], 0u)"))
    else:
        kernel.line(target.store("row_start + place", source.load("row_start + places[i]")))
    kernel.line("}", "}")
    return Program((kernel.launch(-(-rows // together), capabilities.workgroup_limit),))


def _declarations(dtype: DType) -> list[str]:
    """Return the functions of keys, and the memory of a workgroup."""
    kind = word_type(dtype)
    return [
        key_functions(dtype),
        f"fn is_first(a: {kind}, at_a: u32, b: {kind}, at_b: u32) -> bool {{",
        f"  return {_first_expression(word_count(dtype))};",
        "}",
        f"var<workgroup> keys: array<{kind}, {_PLACES}>;",
        f"var<workgroup> places: array<u32, {_PLACES}>;",
    ]
