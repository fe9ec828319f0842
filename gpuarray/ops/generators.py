"""The generators: arrays that are an expression of the flat output index, with scalar parameters.

The reference takes the flat indices and gives the very bits that the kernel gives. Everything is a function of the
index alone, so any part of an array can be made anywhere, in any order.
"""

from typing import Any

import numpy as np

from gpuarray.ops import philox
from gpuarray.ops.spec import GenerateOp


def _full(index: Any, value: Any, *, dtype: Any) -> Any:
    return np.full(np.shape(index), value, dtype)


def _arange(index: Any, start: Any, step: Any, *, dtype: Any) -> Any:
    """Return start + index * step; NumPy's fill takes the step between the first two *rounded* elements."""
    kind = np.dtype(dtype)
    # NumPy fills float16 in single precision, from rounded start and step, and rounds at the end
    wide = np.dtype(np.float32) if kind == np.float16 else kind
    with np.errstate(over="ignore", invalid="ignore"):
        first, second = kind.type(start), kind.type(kind.type(start) + kind.type(step))
        delta = wide.type(second) - wide.type(first)
        return (wide.type(first) + np.asarray(index).astype(wide) * delta).astype(kind)


def _linspace(index: Any, start: Any, step: Any, stop: Any, last_index: Any, *, dtype: Any) -> Any:
    """Return index * step + start, and exactly ``stop`` at ``last_index`` (-1 where the end point is left out)."""
    kind = np.dtype(dtype)
    at = np.asarray(index)
    values = at.astype(kind) * kind.type(step) + kind.type(start)
    return np.where(at == last_index, kind.type(stop), values)


def _eye(index: Any, columns: Any, k: Any, *, dtype: Any) -> Any:
    row, column = np.divmod(np.asarray(index), columns)
    return (column - row == k).astype(dtype)


def _tri(index: Any, columns: Any, k: Any, *, dtype: Any) -> Any:
    row, column = np.divmod(np.asarray(index), columns)
    return (column - row <= k).astype(dtype)


def _random_bits(index: Any, *stream: Any, dtype: Any) -> Any:
    return philox.words(index, 1, philox.Stream(*stream))[..., 0].astype(dtype, copy=False)


def _random_uniform(index: Any, *stream: Any, dtype: Any) -> Any:
    kind = np.dtype(dtype)
    return philox.uniform(philox.words(index, 1 if kind == np.float32 else 2, philox.Stream(*stream)), kind)


def _random_normal(index: Any, *stream: Any, dtype: Any) -> Any:
    return philox.normal(index, philox.Stream(*stream), np.dtype(dtype))


def _random_below(index: Any, *parameters: Any, dtype: Any) -> Any:
    *stream, low, high = parameters
    return philox.below(index, philox.Stream(*stream), int(low) | int(high) << 32, np.dtype(dtype))


full = GenerateOp(name="full", numpy=_full, parameters=1, wgsl={"any": "{1}"}, doc="One value everywhere.")
arange = GenerateOp(
    name="arange", numpy=_arange, parameters=2, doc="start + index * step, as ``numpy.arange`` rounds it.", cost=3,
    wgsl={
        "int": "({1} + {R}({0}) * {2})",
        "pair": "add_pair({1}, multiply_pair(vec2<u32>({0}, 0u), {2}))",
        "float": "arange_f{bits}({0}, {1}, {2})",
        "complex": "arange_{R}({0}, {1}, {2})",
    },
)  # fmt: skip
linspace = GenerateOp(
    name="linspace", numpy=_linspace, parameters=4, parameter_types=("result", "result", "result", "int32"), cost=3,
    wgsl=dict.fromkeys(("float", "complex"), "linspace_{R}({0}, {1}, {2}, {3}, {4})"),
    doc="index * step + start, and exactly stop at last_index; last_index is -1 without an end point.",
)  # fmt: skip
eye = GenerateOp(
    name="eye", numpy=_eye, parameters=2, parameter_types=("int32", "int32"), cost=6,
    wgsl={"bool": "on_diagonal({0}, {1}, {2})", "real": "{R}(on_diagonal({0}, {1}, {2}))",
          "pair": "vec2<u32>(u32(on_diagonal({0}, {1}, {2})), 0u)",
          "c64": "vec2<f32>(f32(on_diagonal({0}, {1}, {2})), 0.0)",
          "c128": "vec2<f64>(f64(on_diagonal({0}, {1}, {2})), 0.0)"},
    doc="1 where column - row is k, in a matrix with the given number of columns.",
)  # fmt: skip
tri = GenerateOp(
    name="tri", numpy=_tri, parameters=2, parameter_types=("int32", "int32"), cost=6,
    wgsl={"bool": "under_diagonal({0}, {1}, {2})", "real": "{R}(under_diagonal({0}, {1}, {2}))",
          "pair": "vec2<u32>(u32(under_diagonal({0}, {1}, {2})), 0u)",
          "c64": "vec2<f32>(f32(under_diagonal({0}, {1}, {2})), 0.0)",
          "c128": "vec2<f64>(f64(under_diagonal({0}, {1}, {2})), 0.0)"},
    doc="1 where column - row is at most k, in a matrix with the given number of columns.",
)  # fmt: skip
random_bits = GenerateOp(
    name="random_bits", numpy=_random_bits, parameters=4, parameter_types=("uint32",) * 4, cost=40,
    wgsl={"u32": "random_word({0}, {1}, {2}, {3}, {4})"},
    doc="Philox4x32-10: word index % 4 of the block of counter offset + index // 4; keys and offset low word first.",
)  # fmt: skip
random_uniform = GenerateOp(
    name="random_uniform", numpy=_random_uniform, parameters=4, parameter_types=("uint32",) * 4, cost=80,
    wgsl={"f32": "random_uniform_f32({0}, {1}, {2}, {3}, {4})", "f64": "random_uniform_f64({0}, {1}, {2}, {3}, {4})"},
    doc="Uniform in [0, 1) from random_bits: the top 24 bits of a word, or the top 53 of two.",
)  # fmt: skip
random_normal = GenerateOp(
    name="random_normal", numpy=_random_normal, parameters=4, parameter_types=("uint32",) * 4, cost=110,
    wgsl={"f32": "random_normal_f32({0}, {1}, {2}, {3}, {4})", "f64": "random_normal_f64({0}, {1}, {2}, {3}, {4})"},
    doc="Standard normal by Box and Muller: a pair of elements takes two words of random_bits, or a block for float64.",
)  # fmt: skip
random_below = GenerateOp(
    name="random_below", numpy=_random_below, parameters=6, parameter_types=("uint32",) * 6, cost=90,
    wgsl={"u32": "random_below_u32({0}, {1}, {2}, {3}, {4}, {5})",
          "u64": "random_below_u64({0}, {1}, {2}, {3}, {4}, {5}, {6})",
          "u64p": "random_below_u64p({0}, {1}, {2}, {3}, {4}, {5}, {6})"},
    doc="Integers below the last two parameters, low word first (0 is two to the width): fractions times it, cut off.",
)  # fmt: skip
