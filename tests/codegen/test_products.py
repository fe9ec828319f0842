"""Kernels of matrix products: every way of cutting them, on every layout, gives NumPy's product."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from support import need_dtypes, values

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.codegen import product_choice, products
from gpuarray.codegen.products import Choice
from gpuarray.codegen.programs import Program
from gpuarray.codegen.target import for_target
from gpuarray.codegen.tiles import Tiling
from gpuarray.device import Capabilities, Device
from gpuarray.fusion.steps import ContractStep
from gpuarray.graph.layouts import Layout, contiguous, permute
from gpuarray.providers import registry
from gpuarray.providers.base import Task

Array = np.ndarray[Any, Any]

#: A device of ample limits, which gets the tilings of hardware.
GPU = Capabilities(adapter="GPU", workgroup_memory=48 << 10, binding_limit=1 << 31)
TILINGS = (
    Tiling(32, 32, 8, 4, 4, unrolled=False),
    Tiling(64, 32, 4, 8, 4, block=16),
    Tiling(16, 64, 4, 4, 8),
    Tiling(32, 32, 16, 8, 4, slices=4, unrolled=False, block=32),
)


@pytest.fixture(scope="module")
def provider() -> Any:
    return registry.open_device(Device("wgpu"))


def run(provider: Any, program: Program, operands: list[Array], result: Array) -> Array:
    buffers = [provider.allocate(x.nbytes) for x in (*operands, result)]
    for buffer, operand in zip(buffers, operands, strict=False):
        provider.write(buffer, np.ascontiguousarray(operand))
    provider.run([Task(provider.prepare_program(program), buffers[:-1], buffers[-1:], ())])
    found = np.empty_like(result)
    provider.read(buffers[-1], found)
    return found


def multiplied(left: Array, right: Array) -> Array:
    if left.dtype == np.float16:
        return np.matmul(left.astype(np.float32), right.astype(np.float32)).astype(np.float16)
    return np.matmul(left, right)


def check(provider: Any, sizes: tuple[int, int, int, int], dtype: str, turned: tuple[bool, bool], choice: Any) -> None:
    batch, rows, depth, columns = sizes
    left, right = values((batch, rows, depth), dtype), values((batch, depth, columns), dtype, seed=1)
    stored = [x.swapaxes(1, 2).copy() if turn else x for x, turn in zip((left, right), turned, strict=True)]
    layouts = [
        permute(contiguous(x.shape), (0, 2, 1)) if turn else contiguous(x.shape)
        for x, turn in zip(stored, turned, strict=True)
    ]
    kind = np.dtype(dtype)
    step = ContractStep(layouts[0], layouts[1], kind, None, (kind, kind), (kind,))
    with for_target(provider.capabilities):
        if choice is None:
            program = products.product_program(step, "product", provider.capabilities)
        else:
            program = products.tiled_program(step, choice, "product", provider.capabilities)
    expected = multiplied(left, right)
    # sums of halves are exact
    np.testing.assert_array_equal(run(provider, program, stored, expected), expected)


@pytest.mark.wgpu
@pytest.mark.parametrize("tiling", TILINGS, ids=lambda t: f"{t.rows}x{t.columns}x{t.slices}")
@pytest.mark.parametrize("turned", [*product((False, True), repeat=2)], ids=str)
def test_tilings_and_layouts(provider: Any, tiling: Tiling, turned: tuple[bool, bool]) -> None:
    check(provider, (1, 64, 72, 64), "float32", turned, Choice(tiling, 1))
    check(provider, (2, 33, 37, 41), "float32", turned, Choice(tiling, 1))


#: All tilings of hardware, each with a loop in place of its iterations one after the other: it compiles sooner.
OF_HARDWARE = {
    replace(candidate.tiling, unrolled=False)
    for dtype in (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)
    for candidate in product_choice.candidates(dtype, replace(GPU, workgroup_size=1024))
}


@pytest.mark.wgpu
@pytest.mark.parametrize("tiling", sorted(OF_HARDWARE, key=repr), ids=lambda t: f"{t.rows}x{t.columns}x{t.depth}")
def test_every_tiling_of_hardware(provider: Any, tiling: Tiling) -> None:
    sizes = (1, tiling.rows + 3, 2 * tiling.depth, tiling.columns + 4)
    check(provider, sizes, "float32", (False, False), Choice(tiling, 1))


@pytest.mark.wgpu
def test_parts_of_the_depth(provider: Any) -> None:
    for sizes in ((2, 33, 300, 41), (1, 30, 7, 36)):
        check(provider, sizes, "float32", (False, False), Choice(TILINGS[0], 3))


@pytest.mark.wgpu
@pytest.mark.parametrize("sizes", [(1, 70, 300, 90), (2, 33, 100, 64)], ids=str)
def test_tiles_cut_at_blocks_have_the_same_bits(provider: Any, sizes: tuple[int, int, int, int]) -> None:
    batch, height, depth, width = sizes
    random = np.random.default_rng(0)
    left = random.standard_normal((batch, height, depth), np.float32)
    right = random.standard_normal((batch, depth, width), np.float32)
    kind = left.dtype
    step = ContractStep(contiguous(left.shape), contiguous(right.shape), kind, None, (kind, kind), (kind,))
    tiling = Tiling(32, 32, 8, 4, 4, unrolled=False, block=32)
    result = []
    for choice in (Choice(tiling, 1), Choice(tiling, -(-depth // 32), whole=4)):
        with for_target(provider.capabilities):
            program = products.tiled_program(step, choice, "product", provider.capabilities)
        result.append(run(provider, program, [left, right], np.empty((batch, height, width), np.float32)))
    np.testing.assert_array_equal(*result)
    np.testing.assert_allclose(result[0], left @ right, rtol=0, atol=1e-4)


@pytest.mark.wgpu
@pytest.mark.parametrize("dtype", [d.name for d in dtypes.ALL])
def test_dtypes(provider: Any, dtype: str) -> None:
    need_dtypes("wgpu", dtype)
    for sizes, splits in (((2, 20, 70, 36), 1), ((1, 21, 70, 33), 3)):
        check(provider, sizes, dtype, (False, True), Choice(TILINGS[0], splits))
    check(provider, (1, 40, 50, 36), dtype, (False, True), Choice(Tiling(16, 16, 8, 4, 4, slices=2), 1))
    for sizes in ((2, 50, 70, 1), (1, 1, 70, 50)):
        check(provider, sizes, dtype, (False, False), None)


@pytest.mark.wgpu
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_long_integers_as_pairs_of_words(provider: Any, dtype: str) -> None:
    from gpuarray.providers.wgpu.provider import WgpuProvider

    paired = WgpuProvider(0, without=("shader-int64",))
    limits = np.iinfo(dtype)
    random = np.random.default_rng(0)
    left = random.integers(limits.min, limits.max, (1, 20, 40), dtype)
    right = random.integers(limits.min, limits.max, (1, 40, 20), dtype)
    kind = np.dtype(dtype)
    step = ContractStep(contiguous(left.shape), contiguous(right.shape), kind, None, (kind, kind), (kind,))
    expected = np.matmul(left, right)
    for choice in (Choice(TILINGS[0], 2), Choice(Tiling(16, 16, 8, 4, 4, slices=2), 1)):
        with for_target(paired.capabilities):
            program = products.tiled_program(step, choice, "product", paired.capabilities)
        np.testing.assert_array_equal(run(paired, program, [left, right], expected), expected)
    paired.close()


@pytest.mark.wgpu
def test_broadcast_batches_are_read_where_they_are(provider: Any) -> None:
    left, right = values((3, 20, 24), "float32"), values((24, 28), "float32")
    shared = Layout((3, 24, 28), (0, 28, 1), 0)
    kind = left.dtype
    step = ContractStep(contiguous(left.shape), shared, kind, None, (kind, kind), (kind,))
    with for_target(provider.capabilities):
        program = products.tiled_program(step, Choice(TILINGS[0], 1), "product", provider.capabilities)
    expected = np.matmul(left, right)
    np.testing.assert_array_equal(run(provider, program, [left, right], expected), expected)


def test_the_choice_depends_on_sizes_and_limits() -> None:
    def chosen(*sizes: int, dtype: Any = dtypes.float32, device: Capabilities = GPU) -> Choice:
        return product_choice.choose(*sizes, dtype, device)

    large = chosen(1, 4096, 4096, 4096)
    assert large.tiling.rows * large.tiling.columns >= 128 * 64
    # of many tiles only those of the last wave are cut, at the ends of blocks
    tiles = 4096**2 // (large.tiling.rows * large.tiling.columns)
    assert large.splits == 1 or large.whole > tiles * 3 // 4
    assert large.splits in (1, 4096 // large.tiling.block)
    # few tiles, or a long depth, leave a device idle: the depth is split
    assert chosen(1, 64, 64, 1 << 20).splits >= 64
    assert chosen(64, 256, 256, 256).splits == 1
    # tiles are as thin as the result
    assert chosen(1, 1 << 20, 8, 64).tiling.columns <= 16
    assert chosen(1, 8, 1 << 20, 64).tiling.rows <= 16
    least = replace(GPU, workgroup_memory=16 << 10)
    for dtype in dtypes.ALL:
        for sizes in ((1, 4096, 4096, 4096), (1, 10, 10, 10), (64, 256, 256, 256)):
            assert chosen(*sizes, dtype=dtype, device=least).tiling.shared_bytes(dtype) <= 16 << 10
    # partial sums must fit a binding
    narrow = replace(GPU, binding_limit=1 << 16)
    result = chosen(1, 64, 128, 1 << 16, device=narrow)
    assert result.splits * 64 * 128 * 4 <= 1 << 16


@pytest.mark.wgpu
def test_what_follows_parts_of_an_odd_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "choose", lambda *_: Choice(TILINGS[0], 3))
    left, right, bias = values((8, 300), "float32"), values((300, 51), "float32", 1), values((51,), "float32", 2)
    with xp.using(device="wgpu"):
        a, b, c = map(xp.asarray, (left, right, bias))
        xp.evaluate(a, b, c)
        xp.reset_stats()
        result = np.asarray((a @ b) * 2 + c)
        assert xp.stats()["launches"] == 2
    np.testing.assert_array_equal(result, (left @ right) * 2 + bias)


A, B, BIAS = values((40, 36), "float32"), values((36, 52), "float32", 1), values((52,), "float32", 2)
EPILOGUES = {
    "bias and relu": lambda p: np.maximum(p(A) @ p(B) + p(BIAS), 0),
    "column": lambda p: (p(A) @ p(B)) * p(A)[:, :1],
    "transposed": lambda p: (p(A) @ p(B)).T + p(B).sum() * 2,
    "same shape": lambda p: p(A) @ p(B) - p(A) @ p(B),
    "to bytes": lambda p: (p(A) @ p(B)) > 3,
    "odd width": lambda p: p(A) @ p(B)[:, :51] + p(BIAS)[:51],
    "vector": lambda p: np.maximum(p(A) @ p(B)[:, 0] + p(A)[:, 1], 0),
    "row vector": lambda p: p(A)[0] @ p(B) * 2 + p(BIAS),
    "batch of vectors": lambda p: (p(A).reshape((4, 10, 36)) @ p(B)[:, :1])[..., 0] + 1,
    "two results": lambda p: np.stack([p(A) @ p(B), (p(A) @ p(B)) * 2]),
}


@pytest.mark.parametrize("name", EPILOGUES)
def test_what_follows_a_product(name: str, device: Any) -> None:
    function = EPILOGUES[name]
    expected = function(lambda x: x)
    result = np.asarray(function(lambda x: xp.asarray(x, device=device)))
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)
    assert xp.stats()["fallbacks"] == 0


def test_functions_that_follow_and_are_have_no_fast_path_for_all() -> None:
    left, right = np.linspace(-120, 120, 70, dtype=np.float32)[:, None], np.ones((1, 36), np.float32)
    left[3], right[0, 5] = np.inf, np.nan
    with np.errstate(over="ignore", invalid="ignore"):
        expected = np.exp(np.float64(left) @ np.float64(right)).astype(np.float32)
    with xp.using(device="wgpu"):
        result = np.exp(xp.asarray(left) @ xp.asarray(right))
        assert "fast_path_finish" in str(xp.explain(result, stage="wgsl"))
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-6, atol=2e-45)


def test_bias_and_relu_take_no_launch_of_their_own() -> None:
    with xp.using(device="wgpu"):
        a, b, c = (xp.asarray(x) for x in (A, B, BIAS))
        xp.reset_stats()
        xp.evaluate(np.maximum(a @ b + c, 0))
        assert xp.stats()["launches"] == 1
        xp.reset_stats()
        xp.evaluate(np.maximum(a @ b[:, 0] + a[:, 1], 0))
        assert xp.stats()["launches"] == 1


@pytest.mark.parametrize("depth", [256, 4096, 65536])
def test_products_err_as_numpys(depth: int, device: Any) -> None:
    random = np.random.default_rng(0)
    for left, right in (
        (random.random((24, depth), np.float32), random.random((depth, 20), np.float32)),
        (random.standard_normal((24, depth), np.float32), random.standard_normal((depth, 20), np.float32)),
    ):
        exact = left.astype(np.float64) @ right.astype(np.float64)
        scale = np.abs(left).astype(np.float64) @ np.abs(right).astype(np.float64)

        def error(result: Array, exact: Array = exact, scale: Array = scale) -> float:
            return float(np.max(np.abs(result - exact) / scale)) / 2.0**-24

        result = np.asarray(xp.asarray(left, device=device) @ xp.asarray(right, device=device))
        assert error(result) <= max(4.0, 1.5 * error(left @ right))


def test_a_matrix_times_its_transpose_is_symmetric(device: Any) -> None:
    x = xp.asarray(np.random.default_rng(0).standard_normal((70, 600), np.float32), device=device)
    result = np.asarray(x @ x.T)
    np.testing.assert_array_equal(result, result.T)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_stays_in_its_row_and_column(value: float, device: Any) -> None:
    left, right = values((37, 301), "float32"), values((301, 35), "float32", 1)
    left[5, 300], right[300, 7] = value, value
    with np.errstate(all="ignore"):
        expected = left @ right
    result = xp.asarray(left, device=device) @ xp.asarray(right, device=device)
    np.testing.assert_array_equal(np.asarray(result), expected)
