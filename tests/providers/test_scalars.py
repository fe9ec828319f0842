"""The parameter words of scalars: neighbours travel together, and each keeps its bits."""

from typing import Any

import numpy as np
import pytest

from gpuarray import dtypes
from gpuarray.codegen.programs import ScalarParameter
from gpuarray.providers.wgpu.launches import ENCODERS, runs_of

VALUES: dict[str, Any] = {
    "bool": np.True_,
    "int8": np.int8(-3),
    "uint16": np.uint16(65_535),
    "int32": np.int32(-2),
    "uint32": np.uint32(1 << 31),
    "int64": np.int64(-1 << 40),
    "uint64": np.uint64((1 << 64) - 1),
    "float16": np.float16(0.1),
    "float32": np.float32(0.1),
    "float64": np.float64(0.1),
    "complex64": np.complex64(1 + 2j),
    "complex128": np.complex128(1 - 2j),
}


def scalars_of(names: list[str], first: int = 0) -> tuple[ScalarParameter, ...]:
    result, word = [], first
    for slot, name in enumerate(names):
        result.append(ScalarParameter(word, slot, np.dtype(name)))
        word += max(np.dtype(name).itemsize // 4, 1)
    return tuple(result)


@pytest.mark.parametrize("names", [[*VALUES], ["float32", "uint32", "int64", "complex128"], ["bool"], ["float64"]])
@pytest.mark.parametrize("as_python", [False, True])
def test_a_run_is_what_each_scalar_is_alone(names: list[str], as_python: bool) -> None:
    values = [VALUES[name].item() if as_python else VALUES[name] for name in names]
    (run,) = runs_of(reversed(scalars_of(names, first=2)))
    assert run.start == 8
    alone = [ENCODERS[np.dtype(name)](value) for name, value in zip(names, values, strict=True)]
    assert run.data(values) == b"".join(alone)


def test_a_gap_ends_a_run() -> None:
    scalars = (
        ScalarParameter(0, 0, dtypes.float32),
        ScalarParameter(1, 1, dtypes.float64),
        ScalarParameter(4, 2, dtypes.int32),
    )
    first, second = runs_of(scalars)
    assert (first.start, first.slots, second.start, second.slots) == (0, (0, 1), 16, (2,))


def test_offsets_are_computed_from_their_scalar() -> None:
    scalars = (
        ScalarParameter(0, 0, dtypes.float32),
        ScalarParameter(1, 1, dtypes.int64, 2, 5),
        ScalarParameter(2, 1, dtypes.int64, 1, -8),
        ScalarParameter(3, 0, dtypes.float32),
    )
    first, offsets, last = runs_of(scalars)
    assert (first.start, offsets.start, last.start) == (0, 4, 12)
    assert offsets.data((np.float32(1), 7)) == (19).to_bytes(4, "little") + (0xFFFFFFFF).to_bytes(4, "little")


@pytest.mark.parametrize("bits", [0x7F800001, 0x7FC12345, 0xFF800000, 0x80000000])
def test_floats_keep_their_bits(bits: int) -> None:
    (run,) = runs_of(scalars_of(["float32"]))
    assert run.data([np.uint32(bits).view(np.float32)]) == bits.to_bytes(4, "little")
