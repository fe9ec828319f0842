"""``x.view(dtype)``: the bits of an array as another dtype of the same size, sharing storage as in NumPy."""

from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.device import Device

REAL = [d for d in dtypes.ALL if d.kind != "c"]
PAIRS = [(s, t) for s in REAL for t in REAL if s.itemsize == t.itemsize]


def patterns(dtype: Any, target: Any) -> np.ndarray:
    random = np.random.default_rng(1)
    if "b" in (dtype.kind, target.kind):
        return random.integers(0, 2, 40).astype(dtype)
    bits = np.frombuffer(random.bytes(40 * dtype.itemsize), dtype).copy()
    bits[:4] = [0, 1, 2, 127]
    # processors may quiet a signalling NaN on its way
    return np.where(np.isnan(bits), 1, bits).astype(dtype) if dtype.kind == "f" else bits


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda d: d.name)
def test_bits_are_read_and_written(source: Any, target: Any, device: Device) -> None:
    host = patterns(source, target)
    x = xp.asarray(host)
    view, expected = x.view(target), host.view(target)
    assert view.dtype == target
    assert np.asarray(view).tobytes() == expected.tobytes()
    view[3:9], expected[3:9] = 1, 1
    view[::5], expected[::5] = expected[1::5].copy(), expected[1::5].copy()
    assert np.asarray(x).tobytes() == host.tobytes()
    assert np.asarray(view[2:]).tobytes() == expected[2:].tobytes()


def test_a_view_follows_the_array_and_is_one(device: Device) -> None:
    x = xp.asarray(np.array([[1.0, -2.0], [3.0, 0.0]], np.float32))
    bits = x.T.view("uint32")
    assert bits.base.dtype == np.float32
    assert bits.shape == (2, 2)
    x[0, 1] = 1.0
    assert hex(int(bits[1, 0])) == "0x3f800000"
    assert bits.view(np.float32).dtype == np.float32
    bits &= np.uint32(0x7FFFFFFF)
    np.testing.assert_array_equal(np.asarray(x), [[1, 1], [3, 0]])
    np.testing.assert_array_equal(np.asarray(bits[xp.asarray([1, 0])]), np.asarray(bits)[[1, 0]])


@pytest.mark.parametrize(("source", "target"), [("f4", "f8"), ("f8", "c8"), ("c8", "i8"), ("i4", "i2")])
def test_other_views_are_refused(source: str, target: str) -> None:
    with pytest.raises(TypeError, match="cannot be viewed as"):
        xp.ones(4, dtype=source).view(target)


def test_a_component_is_not_viewed_as_bits() -> None:
    with pytest.raises(TypeError, match="storage of complex64"):
        xp.ones(4, dtype="complex64").real.view("int32")
