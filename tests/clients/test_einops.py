"""einops' own functions take arrays without being told of them; so do those of its array API module."""

import einops
import numpy as np
import pytest
from einops import array_api

import gpuarray as xp
from gpuarray.testing import TOLERANCES, assert_same

DEVICES = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)
IMAGES = np.random.default_rng(0).random((4, 6, 8, 3)).astype(np.float32)

CASES = {
    "transpose": lambda x: einops.rearrange(x, "b h w c -> b c h w"),
    "join axes": lambda x: einops.rearrange(x, "b h w c -> (b h) (w c)"),
    "split axes": lambda x: einops.rearrange(x, "(a b) h w c -> a b (h w) c", a=2),
    "space to depth": lambda x: einops.rearrange(x, "b (h i) (w j) c -> b h w (c i j)", i=2, j=2),
    "new axes": lambda x: einops.rearrange(x, "b h w c -> b 1 h w 1 c"),
    "list of arrays": lambda x: einops.rearrange([x, x + 1], "n b h w c -> b h w (n c)"),
    "mean": lambda x: einops.reduce(x, "b h w c -> b c", "mean"),
    "max over blocks": lambda x: einops.reduce(x, "b (h i) (w j) c -> b h w c", "max", i=2, j=2),
    "min": lambda x: einops.reduce(x, "b h w c -> c", "min"),
    "sum": lambda x: einops.reduce(x, "b h w c -> ", "sum"),
    "prod": lambda x: einops.reduce(x, "b h w c -> b h c", "prod"),
    "any": lambda x: einops.reduce(x > 0.99, "b h w c -> b", "any"),
    "own reduction": lambda x: einops.reduce(x, "b h w c -> b c", lambda a, axes: a.std(axis=axes)),
    "repeat a new axis": lambda x: einops.repeat(x, "b h w c -> b h w c 3"),
    "repeat elements": lambda x: einops.repeat(x, "b h w c -> b (h 2) (w 2) c"),
    "einsum": lambda x: einops.einsum(x, x[0], "b h w c, h w d -> b c d"),
    "pack": lambda x: einops.pack([x, x[..., 0]], "b h w *")[0],
    "unpack": lambda x: einops.unpack(x, [(1,), (2,)], "b h w *")[1],
    "array API: rearrange": lambda x: array_api.rearrange(x, "b h w c -> (b h) (w c)"),
    "array API: reduce": lambda x: array_api.reduce(x, "b h w c -> b c", "mean"),
    "array API: repeat": lambda x: array_api.repeat(x, "b h w c -> b (h 2) w c"),
}


@DEVICES
@pytest.mark.parametrize("case", CASES)
def test_values(case, device):
    computed = CASES[case](xp.asarray(IMAGES))
    assert xp.stats()["bytes_downloaded"] == 0
    assert_same(computed, CASES[case](IMAGES), rtol=TOLERANCES, message=case)
    assert computed.device == device
    assert xp.stats()["fallbacks"] == 0


@DEVICES
def test_rearrangements_are_views(device):
    x = xp.asarray(IMAGES)
    einops.rearrange(x, "b h w c -> c b h w")[0] = 9
    assert_same(x[..., 0], np.full((4, 6, 8), 9, np.float32), rtol=TOLERANCES)


@DEVICES
def test_shapes_and_conversion(device):
    x = xp.asarray(IMAGES)
    assert einops.parse_shape(x, "b h _ c") == {"b": 4, "h": 6, "c": 3}
    read = einops.asnumpy(x)
    assert isinstance(read, np.ndarray)
    np.testing.assert_array_equal(read, IMAGES)


@DEVICES
def test_wrong_patterns_are_einops_errors(device):
    with pytest.raises(einops.EinopsError, match="Wrong shape"):
        einops.rearrange(xp.asarray(IMAGES), "a b -> b a")
    with pytest.raises(NotImplementedError, match="non-floating"):
        einops.reduce(xp.ones((2, 3), dtype=xp.int32), "a b -> a", "mean")
