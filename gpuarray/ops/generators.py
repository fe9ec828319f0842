"""The generators: arrays that are an expression of the flat output index, with scalar parameters.

The reference takes the flat indices and gives the very bits that the kernel gives. Everything is a function of the
index alone, so any part of an array can be made anywhere, in any order.
"""

from functools import partial
from typing import Any

import numpy as np

from gpuarray.ops import philox, substreams
from gpuarray.ops.spec import GenerateOp


def _arange(index: Any, start: Any, step: Any, *, dtype: Any) -> Any:
    """Return start + index * step; NumPy's fill takes the step between the first two *rounded* elements."""
    kind = np.dtype(dtype)
    # NumPy fills float16 in single precision, from rounded start and step, and rounds at the end
    wide = np.dtype(np.float32) if kind == np.float16 else kind
    with np.errstate(over="ignore", invalid="ignore"):
        first, second = kind.type(start), kind.type(kind.type(start) + kind.type(step))
        if isinstance(index, range):
            if kind.kind in "iu" and first != second and index:
                each = int(second) - int(first)
                start, last = int(first) + index.start * each, int(first) + index[-1] * each
                if max(start, last) < np.iinfo(kind).max and min(start, last) > np.iinfo(kind).min:
                    return np.arange(start, last + (1 if each > 0 else -1), each, dtype=kind)
            index = np.arange(index.start, index.stop)
        delta = wide.type(second) - wide.type(first)
        numbers = np.array(index, wide)
        if first != 0 or delta != 1:
            numbers *= delta
            numbers += wide.type(first)
        return numbers.astype(kind, copy=False)


def _arange_bounds(size: int, dtype: Any, start: Any, step: Any) -> tuple[int, int] | None:
    if dtype.kind not in "iu":
        return None
    first, last = int(start), int(start) + int(step) * (size - 1)
    limits = np.iinfo(dtype)
    lowest, highest = min(first, last), max(first, last)
    return (lowest, highest) if limits.min <= lowest and highest <= limits.max else None


def _linspace(index: Any, start: Any, step: Any, stop: Any, last_index: Any, *, dtype: Any) -> Any:
    """Return index * step + start, and exactly ``stop`` at ``last_index`` (-1 where the end point is left out)."""
    kind = np.dtype(dtype)
    at = np.asarray(index)
    values = at.astype(kind) * kind.type(step) + kind.type(start)
    return np.where(at == last_index, kind.type(stop), values)


def _diagonals(compare: Any, index: Any, columns: Any, k: Any, *, dtype: Any) -> Any:
    """Return where ``compare(column - row, k)`` holds in a matrix."""
    if not isinstance(index, range):
        row, column = np.divmod(np.asarray(index), columns)
        return compare(column - row, k).astype(dtype)
    if not index:
        return np.empty(0, dtype)
    first, stop = index.start // columns, -(-index.stop // columns)
    short = np.min_scalar_type(-(stop + abs(int(k)) + int(columns)))  # of which a register of the processor holds many
    ends = np.arange(first + k, stop + k, dtype=short)[:, None]
    flags = compare(np.arange(columns, dtype=short), ends).reshape(-1)
    return flags[index.start - first * columns : index.stop - first * columns].astype(dtype, copy=False)


def _random_bits(index: Any, *words: Any, dtype: Any) -> Any:
    words_of = philox.words64 if np.dtype(dtype) == np.uint64 else philox.words32
    return words_of(index, philox.StreamPosition.of(words))


def _random_uniform(index: Any, *words: Any, dtype: Any) -> Any:
    return philox.uniform(index, philox.StreamPosition.of(words), np.dtype(dtype))


def _random_below(index: Any, *parameters: Any, dtype: Any) -> Any:
    *words, share, limit_0, limit_1, threshold_0, threshold_1 = (int(word) for word in parameters)
    limit, threshold = limit_0 | limit_1 << 32, threshold_0 | threshold_1 << 32
    return philox.below(index, philox.StreamPosition.of(words), share, limit, threshold, np.dtype(dtype))


def _random_normal(index: Any, *stream: Any, dtype: Any) -> Any:
    return substreams.normal(index, substreams.Substream(*stream), np.dtype(dtype))


full = GenerateOp(
    name="full", parameters=1, cost=0, is_constant=True, wgsl={"any": "{1}"}, doc="A constant.",
    numpy=lambda index, value, *, dtype: np.full(np.shape(index), value, dtype),
    bounds=lambda _size, _dtype, value: (int(value), int(value)),
)  # fmt: skip
arange = GenerateOp(
    name="arange", numpy=_arange, parameters=2, doc="start + index * step, as ``numpy.arange`` rounds it.", cost=3,
    takes_range=True,
    bounds=_arange_bounds,
    wgsl={
        "int": "({1} + {R}({0}) * {2})",
        "pair": "add_pair({1}, multiply_pair(vec2<u32>({0}, 0u), {2}))",
        "float": "arange_f{bits}({0}, {1}, {2})",
        "complex": "arange_{R}({0}, {1}, {2})",
    },
    vec4={"f32": "vec4_arange_f32({0}, {1}, {2})"},
)  # fmt: skip
position = GenerateOp(
    name="position", parameters=0, wgsl={"i32": "i32({0})"}, cost=1,
    numpy=lambda index, *, dtype: np.asarray(index).astype(dtype),
    doc="The index itself, which is negative before the first element.",
)  # fmt: skip
not_negative = GenerateOp(
    name="not_negative", parameters=0, wgsl={"bool": "(i32({0}) >= 0)"}, cost=1,
    numpy=lambda index, *, dtype: (np.asarray(index) >= 0).astype(dtype),
    doc="Whether the index is not negative.",
)  # fmt: skip
linspace = GenerateOp(
    name="linspace", numpy=_linspace, parameters=4, parameter_types=("result", "result", "result", "int32"), cost=3,
    wgsl=dict.fromkeys(("float", "complex"), "linspace_{R}({0}, {1}, {2}, {3}, {4})"),
    vec4={"f32": "vec4_linspace_f32({0}, {1}, {2}, {3}, {4})"},
    doc="index * step + start, and exactly stop at last_index; last_index is -1 without an end point.",
)  # fmt: skip
eye = GenerateOp(
    name="eye", numpy=partial(_diagonals, np.equal), takes_range=True, parameters=2, parameter_types=("int32", "int32"),
    whole=lambda size, columns, k, *, dtype: np.eye(size // int(columns), int(columns), int(k), dtype), cost=6,
    wgsl={"bool": "on_diagonal({0}, {1}, {2})", "real": "{R}(on_diagonal({0}, {1}, {2}))",
          "pair": "vec2<u32>(u32(on_diagonal({0}, {1}, {2})), 0u)",
          "c64": "vec2<f32>(f32(on_diagonal({0}, {1}, {2})), 0.0)",
          "c128": "vec2<f64>(f64(on_diagonal({0}, {1}, {2})), 0.0)"},
    doc="1 where column - row is k, in a matrix with the given number of columns.",
)  # fmt: skip
tri = GenerateOp(
    name="tri", numpy=partial(_diagonals, np.less_equal), parameters=2, parameter_types=("int32", "int32"), cost=6,
    takes_range=True,
    wgsl={"bool": "under_diagonal({0}, {1}, {2})", "real": "{R}(under_diagonal({0}, {1}, {2}))",
          "pair": "vec2<u32>(u32(under_diagonal({0}, {1}, {2})), 0u)",
          "c64": "vec2<f32>(f32(under_diagonal({0}, {1}, {2})), 0.0)",
          "c128": "vec2<f64>(f64(under_diagonal({0}, {1}, {2})), 0.0)"},
    doc="1 where column - row is at most k, in a matrix with the given number of columns.",
)  # fmt: skip

# A position in a stream is 15 words (see philox.StreamPosition): key, counter, where in the block, and the spare half.
_POSITION = (
    "vec4<u32>({1}, {2}, {3}, {4}), "
    "Block_4x64(vec4<u32>({5}, {6}, {7}, {8}), vec4<u32>({9}, {10}, {11}, {12})), {13}, {14}, {15}"
)
_LIMITS = "vec2<u32>({17}, {18}), vec2<u32>({19}, {20})"

random_bits = GenerateOp(
    name="random_bits", numpy=_random_bits, parameters=15, parameter_types=("uint32",) * 15,
    cost=250, numpy_calls=8, takes_range=True,
    wgsl={"u32": f"stream_half({{0}}, {_POSITION})", "u64": f"u64_from_pair(stream_word({{0}}, {_POSITION}))",
          "u64p": f"stream_word({{0}}, {_POSITION})"},
    vec4={"u32": f"stream_vec4_halves({{0}}, {_POSITION})", "u64": f"stream_vec4_u64({{0}}, {_POSITION})"},
    vec8={"u32": f"stream_vec8_halves({{0}}, {_POSITION})"},
    doc="Philox4x64-10 from a position on: words, or, as uint32, their halves.",
)  # fmt: skip
random_uniform = GenerateOp(
    name="random_uniform", numpy=_random_uniform, parameters=15, parameter_types=("uint32",) * 15,
    cost=250, numpy_calls=8, takes_range=True,
    wgsl=dict.fromkeys(("f32", "f64"), f"random_uniform_{{R}}({{0}}, {_POSITION})"),
    vec4=dict.fromkeys(("f32", "f64"), f"vec4_uniform_{{R}}({{0}}, {_POSITION})"),
    vec8={"f32": f"vec8_uniform_f32({{0}}, {_POSITION})"},
    doc="Uniform in [0, 1) from random_bits: the top 24 bits of a half, or the top 53 of a word.",
)  # fmt: skip
random_below = GenerateOp(
    name="random_below", numpy=_random_below, parameters=20, parameter_types=("uint32",) * 20,
    cost=300, numpy_calls=8, takes_range=True,
    wgsl={"u32": f"random_below_u32({{0}}, {_POSITION}, {{16}}, {{17}}, {{19}})",
          "u64": f"u64_from_pair(random_below_pair({{0}}, {_POSITION}, {_LIMITS}))",
          "u64p": f"random_below_pair({{0}}, {_POSITION}, {_LIMITS})"},
    vec4={"u32": f"vec4_below_u32({{0}}, {_POSITION}, {{16}}, {{17}}, {{19}})"},
    vec8={"u32": f"vec8_below_u32({{0}}, {_POSITION}, {{16}}, {{17}}, {{19}})"},
    doc="Integers below a limit by Lemire's method: after the position, how many are made of a half (the binary "
        "logarithm), the limit and the threshold, low words first; see philox.below.",
)  # fmt: skip
random_normal = GenerateOp(
    name="random_normal", numpy=_random_normal, parameters=4, parameter_types=("uint32",) * 4,
    cost=110, takes_range=True,
    wgsl=dict.fromkeys(("f32", "f64"), "random_normal_{R}({0}, {1}, {2}, {3}, {4})"),
    vec4=dict.fromkeys(("f32", "f64"), "vec4_normal_{R}({0}, {1}, {2}, {3}, {4})"),
    doc="Standard normal by Box and Muller from a substream: two words, or a block for float64, make two elements.",
)  # fmt: skip
