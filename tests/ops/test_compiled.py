"""The loops in C and what stands for them without a compiler: the same bits."""

import numpy as np
import pytest

from gpuarray.ops import calls, philox, substreams
from gpuarray.ops.compiled import COMPILED

pytestmark = pytest.mark.skipif(COMPILED is None, reason="there was no C compiler")
END = philox.COUNTER_MASK


def with_and_without(monkeypatch, function):
    """Return the results of a function with the loops in C and without them."""
    compiled = function()
    for module in (calls, philox, substreams):
        monkeypatch.setattr(module, "COMPILED", None)
    return compiled, function()


def assert_same(first, second):
    assert first.dtype == second.dtype
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("block", [0, 1, 2**64 - 3, 2**128 - 1, END - 1])
@pytest.mark.parametrize("start", range(8))
def test_streams(monkeypatch, block, start):
    stream = philox.StreamPosition(0x1234_5678_9ABC_DEF0_0FED_CBA9_8765_4321, block, start, None)

    def draw():
        halves = stream._replace(spare=7)
        return [
            philox.words64(range(2, 40), stream), philox.words64(range(0), stream),
            philox.words32(range(3, 50), stream),
            philox.words32(range(9), halves), *(philox.uniform(range(1, 30), stream, np.dtype(kind)) for kind in "fd"),
            philox.below(range(500), stream, 0, 3 << 30, 1 << 30, np.dtype(np.uint32)),
        ]  # fmt: skip

    for first, second in zip(*with_and_without(monkeypatch, draw), strict=True):
        assert_same(first, second)


@pytest.mark.parametrize("size", [0, 1, 255, 256, 1000])
@pytest.mark.parametrize("kind", ["f", "d"])
def test_substreams(monkeypatch, size, kind):
    streams = [substreams.Substream(*row) for row in np.random.default_rng(size).integers(0, 2**32, (3, 4), np.uint32)]
    attempts = np.array([[0], [5], [2**32 - 1]], np.uint64)
    numbers = np.random.default_rng(size).integers(0, 2**32, size, np.uint32)
    together = substreams.Substream(*np.transpose(streams))
    several = np.random.default_rng(size + 1).integers(0, 2**32, (4, size), np.uint32)

    def draw():
        return [
            *substreams.pair_of_uniforms(numbers, 3, streams[0], np.dtype(kind)),
            *substreams.pair_of_uniforms(numbers, attempts, streams[1], np.dtype(kind)),
            *substreams.pair_of_uniforms(numbers, attempts, several, np.dtype(kind)),
            substreams.blocks(numbers, 9, streams[2]), substreams.normals(size, together, np.dtype(kind)),
        ]  # fmt: skip

    for first, second in zip(*with_and_without(monkeypatch, draw), strict=True):
        assert_same(first, second)


def test_cosines(monkeypatch):
    turns = np.concatenate([np.linspace(-0.25, 1, 1281), np.random.default_rng(0).integers(0, 2**53, 5000) * 2.0**-53])
    cosines, expected = with_and_without(monkeypatch, lambda: substreams.cosine_of_turns(turns))
    assert_same(cosines, expected)
    np.testing.assert_allclose(cosines, np.cos(2 * np.pi * turns), rtol=0, atol=1e-15)


LINES = {
    "random": lambda random, size: random.integers(0, 2**64, size, np.uint64),
    "few": lambda random, size: random.integers(0, 3, size, np.uint64) << np.uint64(62),
    "far clusters": lambda random, size: (
        random.integers(0, 2, size, np.uint64) << np.uint64(63) | random.integers(0, 99, size, np.uint64)
    ),
    "equal": lambda random, size: np.full(size, 2**64 - 1, np.uint64),
    "falling": lambda random, size: np.arange(size, dtype=np.uint64)[::-1].copy(),
}


@pytest.mark.parametrize("size", [0, 1, 24, 25, 300, 5000, 70_000])
@pytest.mark.parametrize("words", LINES.values(), ids=LINES)
@pytest.mark.parametrize("spare", [0, 200, 70_000])
def test_sorted_words(words, size, spare):
    line = words(np.random.default_rng(size), size)
    expected = np.sort(line)
    COMPILED.sort(line, np.empty(spare, np.uint64))
    assert_same(line, expected)


@pytest.mark.parametrize("dtype", ["i8", "u8", "f4", "f8", "i4"])
@pytest.mark.parametrize("descending", [False, True])
def test_orders(monkeypatch, dtype, descending):
    values = np.random.default_rng(1).normal(0, 1e4, (2, 5000)).astype("f4").astype(dtype)
    assert_same(*with_and_without(monkeypatch, lambda: calls.argsort.numpy(values, descending=descending)))


def test_arguments():
    with pytest.raises(TypeError, match="expected 2 arguments"):
        COMPILED.sort(np.empty(3, np.uint64))
    with pytest.raises(ValueError, match="each block"):
        COMPILED.uniforms(np.empty(3, np.uint32), np.empty((1, 5), np.uint32), np.empty(3), np.empty(2))
    with pytest.raises(ValueError, match="seven words"):
        COMPILED.stream_words(np.empty(6, np.uint64), np.empty(2, np.uint64))
    with pytest.raises(BufferError):
        COMPILED.cosines(b"12345678")
