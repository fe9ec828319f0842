"""Loops that read along one axis and write along another go through tiles, and give what NumPy gives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import need_dtypes, values

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.codegen import emit, transposes
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import FULL, Load, Loop, Store
from gpuarray.graph.layouts import Layout, Shape, contiguous, permute

pytestmark = pytest.mark.wgpu

Function = Callable[[Any, Any], Any]


def square(p: Any, x: Any) -> Any:
    side = min(x.shape[-2:])
    y = p(np.ascontiguousarray(x[..., :side, :side]))
    return y + y.swapaxes(-1, -2)


def written(p: Any, x: Any) -> Any:
    y = p(np.zeros(x.shape[::-1], x.dtype))
    y.T[...] = p(x)
    return y


FUNCTIONS: dict[str, Function] = {
    "transposed": lambda p, x: p(x).T.copy(),
    "with one that is not": lambda p, x: p(x).T * 2 + p(np.ascontiguousarray(x.T)),
    "with itself": square,
    "of a region": lambda p, x: p(x)[..., 1:, 2:].swapaxes(-1, -2).copy(),
    "reversed": lambda p, x: p(x)[..., ::-1, ::2].swapaxes(-1, -2).copy(),
    "written": written,
}


@pytest.fixture
def turned(monkeypatch: pytest.MonkeyPatch, nothing_prepared: None) -> list[str]:
    """The labels of the kernels that go through tiles."""
    seen: list[str] = []

    def launch(*arguments: Any) -> Any:
        seen.append(arguments[2])
        return transposes.transposing_launch(*arguments)

    monkeypatch.setattr(emit, "transposing_launch", launch)
    return seen


@pytest.mark.parametrize("shape", [(64, 64), (33, 70), (8, 1000), (5, 40, 44), (3, 17, 5, 40)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_tiles(name: str, shape: Shape) -> None:
    x = values(shape, "float32")
    with xp.using(device="wgpu"):
        result = FUNCTIONS[name](lambda v: xp.asarray(v), x)
        np.testing.assert_array_equal(np.asarray(result), FUNCTIONS[name](lambda v: v.copy(), x))


@pytest.mark.parametrize("dtype", [d.name for d in dtypes.ALL])
def test_all_sizes_of_elements(dtype: str, turned: list[str]) -> None:
    need_dtypes("wgpu", dtype)
    x = values((52, 68), dtype)
    with xp.using(device="wgpu"):
        result = xp.asarray(x).T.copy()
        xp.evaluate(result)  # what is read alone is a view of the host's copy
        np.testing.assert_array_equal(np.asarray(result), x.T)
    assert turned


def copy(layout: Layout, dtype: Any = dtypes.float32) -> Loop:
    shape = layout.shape
    size = layout.size
    return Loop(
        (),
        shape,
        (Load(0, layout, size, dtype, FULL),),
        (Store(0, 0, contiguous(shape), size, dtype, FULL),),
        (dtype,),
        (dtype,),
        (),
        (0,),
    )


def test_which_loops_are_cut_into_tiles() -> None:
    device = Capabilities(adapter="GPU")

    def tile(shape: Shape, axes: tuple[int, ...], dtype: Any = dtypes.float32) -> Any:
        return transposes.tile_of(copy(permute(contiguous(shape), axes), dtype), device)

    assert tile((100, 200), (0, 1)) is None
    result = tile((100, 200), (1, 0))
    assert (result.fast, result.other) == (1, 0)
    assert tile((256, 64, 128), (2, 1, 0)).other == 0
    # neighbours stay neighbours
    assert tile((256, 64, 128), (1, 0, 2)) is None
    # single bytes of an odd length would be written by atomic operations
    assert tile((64, 63), (1, 0), dtypes.uint8) is not None
    assert tile((63, 64), (1, 0), dtypes.uint8) is None


def test_a_transposed_operand_costs_no_launch(turned: list[str]) -> None:
    with xp.using(device="wgpu"):
        x, y = xp.asarray(values((96, 80), "float32")), xp.asarray(values((80, 96), "float32"))
        xp.evaluate(x, y)
        xp.reset_stats()
        xp.evaluate(np.sin(x.T) + y * 2)
        assert xp.stats()["launches"] == 1
    assert len(turned) == 1
