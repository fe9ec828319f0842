"""JAX and this package hand arrays to each other through DLPack, over host memory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gpuarray as xp
from gpuarray.testing import assert_same

DEVICES = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)
NUMBERS = np.random.default_rng(0).random((4, 6)).astype(np.float32)
DTYPES = ["bool", "int8", "uint8", "int16", "int32", "uint32", "float16", "float32", "complex64"]


@DEVICES
@pytest.mark.parametrize("dtype", DTYPES)
def test_both_ways(dtype, device):
    host = (NUMBERS * 7).astype(dtype)
    there = jnp.from_dlpack(xp.asarray(host))
    assert isinstance(there, jax.Array)
    np.testing.assert_array_equal(np.asarray(there), host, strict=True)
    assert_same(xp.from_dlpack(there), host)
    assert xp.from_dlpack(there).device == device


@DEVICES
@pytest.mark.parametrize(
    "view", [lambda a: a[1:, ::2], lambda a: a.T, lambda a: a[0, 0], lambda a: a[:0]], ids=["part", "T", "0d", "empty"]
)
def test_views(view, device):
    expected = view(NUMBERS)
    np.testing.assert_array_equal(np.asarray(jnp.from_dlpack(view(xp.asarray(NUMBERS)))), expected)
    assert_same(xp.from_dlpack(view(jnp.asarray(NUMBERS))), expected)


@pytest.mark.usefixtures("planned")
@DEVICES
def test_elements_are_read_once(device):
    x = xp.asarray(NUMBERS - 1) + 1
    jnp.from_dlpack(x)
    assert xp.stats()["bytes_downloaded"] == x.nbytes


@DEVICES
def test_asarray(device):
    x = xp.asarray(NUMBERS)
    np.testing.assert_array_equal(np.asarray(jnp.asarray(x)), NUMBERS)
    assert_same(xp.asarray(jnp.asarray(NUMBERS)), NUMBERS)


@DEVICES
def test_what_is_exported_does_not_change_later(device):
    x = xp.asarray(NUMBERS)
    there = jnp.from_dlpack(x)
    x[:] = 0
    np.testing.assert_array_equal(np.asarray(there), NUMBERS)


@DEVICES
def test_gradient_through_both(device):
    """What a program does that has its model in JAX and its data here."""
    x = xp.asarray(NUMBERS)
    gradient = jax.grad(lambda a: jnp.sum(jnp.tanh(a) ** 2))(jnp.from_dlpack(x))
    stepped = x - 0.1 * xp.from_dlpack(gradient)
    tanh = np.tanh(NUMBERS)
    np.testing.assert_allclose(np.asarray(stepped), NUMBERS - 0.2 * tanh * (1 - tanh**2), rtol=1e-5)


@DEVICES
def test_arrays_do_not_mix_by_accident(device):
    x, there = xp.asarray(NUMBERS), jnp.asarray(NUMBERS)
    for mixed in (lambda: x + there, lambda: there + x, lambda: np.add(x, there), lambda: jnp.sum(x)):
        with pytest.raises(TypeError):
            mixed()
    assert xp.stats()["bytes_downloaded"] == 0


@DEVICES
def test_dtypes_that_are_not_ours(device):
    with pytest.raises(TypeError, match="bfloat16"):
        xp.from_dlpack(jnp.ones(3, dtype=jnp.bfloat16))
    with pytest.raises(TypeError, match="bfloat16"):
        xp.asarray(jnp.ones(3, dtype=jnp.bfloat16))


def test_trees():
    doubled = jax.tree_util.tree_map(lambda a: a * 2, {"weights": xp.asarray(NUMBERS)})
    assert_same(doubled["weights"], NUMBERS * 2)
