"""The generators: arrays that are an expression of the flat output index, with scalar parameters.

The reference takes the flat indices and gives the very bits that the kernel gives. Everything is a function of the
index alone, so any part of an array can be made anywhere, in any order.
"""

from typing import Any

import numpy as np

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


def _philox4x32(counter: list[Any], key0: int, key1: int) -> list[Any]:
    """Return the words of Philox4x32-10 (Salmon et al., SC 2011) for a counter of four uint64 arrays below 2**32."""
    low = np.uint64(0xFFFFFFFF)
    c0, c1, c2, c3 = counter
    for _ in range(10):
        p0, p1 = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (
            (p1 >> np.uint64(32)) ^ c1 ^ np.uint64(key0),
            p1 & low,
            (p0 >> np.uint64(32)) ^ c3 ^ np.uint64(key1),
            p0 & low,
        )
        key0, key1 = (key0 + 0x9E3779B9) & 0xFFFFFFFF, (key1 + 0xBB67AE85) & 0xFFFFFFFF
    return [c0, c1, c2, c3]


def _words(index: Any, key0: Any, key1: Any, offset0: Any, offset1: Any) -> Any:
    """Return uint64 words < 2**32: element i is word i % 4 of the block with counter offset + i // 4."""
    flat = np.asarray(index).astype(np.uint64)
    shift, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    block = (flat >> np.uint64(2)) + np.uint64(int(offset0) | int(offset1) << 32)
    zero = np.zeros_like(flat)
    words = _philox4x32([block & low, block >> shift, zero, zero], int(key0), int(key1))
    return np.choose((flat & np.uint64(3)).astype(np.intp), words)


def _random_bits(index: Any, key0: Any, key1: Any, offset0: Any, offset1: Any, *, dtype: Any) -> Any:
    return _words(index, key0, key1, offset0, offset1).astype(dtype)


def _random_uniform(index: Any, key0: Any, key1: Any, offset0: Any, offset1: Any, *, dtype: Any) -> Any:
    kind = np.dtype(dtype)
    if kind == np.float32:
        return (_words(index, key0, key1, offset0, offset1) >> np.uint64(8)).astype(kind) * np.float32(2.0**-24)
    pair = np.asarray(index).astype(np.uint64) * np.uint64(2)
    high = _words(pair + np.uint64(1), key0, key1, offset0, offset1) >> np.uint64(5)
    low = _words(pair, key0, key1, offset0, offset1) >> np.uint64(6)
    return (high.astype(np.float64) * 67108864.0 + low.astype(np.float64)) * 2.0**-53


full = GenerateOp(name="full", numpy=_full, parameters=1, wgsl={"any": "{1}"}, doc="One value everywhere.")
arange = GenerateOp(
    name="arange", numpy=_arange, parameters=2, doc="start + index * step, as ``numpy.arange`` rounds it.", cost=3,
    wgsl={
        "int": "({1} + {R}({0}) * {2})",
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
          "c64": "vec2<f32>(f32(on_diagonal({0}, {1}, {2})), 0.0)",
          "c128": "vec2<f64>(f64(on_diagonal({0}, {1}, {2})), 0.0)"},
    doc="1 where column - row is k, in a matrix with the given number of columns.",
)  # fmt: skip
tri = GenerateOp(
    name="tri", numpy=_tri, parameters=2, parameter_types=("int32", "int32"), cost=6,
    wgsl={"bool": "under_diagonal({0}, {1}, {2})", "real": "{R}(under_diagonal({0}, {1}, {2}))",
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
