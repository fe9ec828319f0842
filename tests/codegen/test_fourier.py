"""Fourier transforms on a wgpu device: lengths of every kind, accuracy, and how many kernels there are."""

from math import prod

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.codegen import emit
from gpuarray.codegen.calls import fourier, fourier_stages
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import CallStep
from gpuarray.ops import calls

#: Of one pass, of several, and of convolutions; powers of two, products of primes, and others.
PRODUCTS = [17 * 17, 19 * 23, 29 * 31, 31 * 32, 31 * 34, 13 * 17 * 19, 17 * 1024, 31**3]
LENGTHS = [*range(1, 129), 210, 243, 256, 360, *PRODUCTS, 1000, 1009, 1024, 2048, 4096, 4099, 5000, 8192, 10007]
LONG = [2**16, 2**17, 3**10, 30030, 65537]


def numbers(shape, dtype=np.complex64):
    generator = np.random.default_rng(5)
    real = generator.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        return (real + 1j * generator.standard_normal(shape)).astype(dtype)
    return real.astype(dtype)


def exact(function, host, *arguments, **keywords):
    return function(host.astype(np.clongdouble if host.dtype.kind == "c" else np.longdouble), *arguments, **keywords)


def assert_near(actual, expected, n, dtype) -> None:
    """Check the relative error in the Euclidean norm, which grows with the logarithm of n; convolutions err twice."""
    error = np.linalg.norm(np.asarray(actual) - expected) / np.linalg.norm(expected)
    bound = (1 + np.log2(n) / 8) * (1 if fourier.is_smooth(n) else 2)
    assert error < np.finfo(dtype).eps * bound, (n, error / np.finfo(dtype).eps)


def step_of(n, rows=2, dtype=dtypes.complex64, op=calls.fft):
    parameters = (("n", n), ("inverse", False), ("norm", "backward"))
    return CallStep(op, parameters, ((rows, n),), ((rows, n),), (dtype,), (dtype,), (0,))


@pytest.mark.parametrize(
    ("dtype", "lengths"),
    [(np.complex64, [*LENGTHS, *LONG]), (np.complex128, [*range(1, 129), *PRODUCTS, 512, 1000, 1024, 4099, 2**17])],
    ids=["complex64", "complex128"],
)
def test_lengths_of_every_kind(dtype, lengths) -> None:
    xp.reset_stats()
    for n in lengths:
        host = numbers((2 if n < 20000 else 1, n), dtype)
        x = xp.asarray(host, device="wgpu")
        assert_near(np.fft.fft(x), exact(np.fft.fft, host), n, dtype)
        assert_near(np.fft.ifft(x), exact(np.fft.ifft, host), n, dtype)
    assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize("n", [7, 8, 96, 101, 4096, 4099, 6000, 8191, 8192])
def test_real_transforms(n: int) -> None:
    real, half = numbers((3, n), np.float32), numbers((3, n // 2 + 1))
    xp.reset_stats()
    for function, host in ((np.fft.rfft, real), (np.fft.ihfft, real), (np.fft.irfft, half), (np.fft.hfft, half)):
        result = function(xp.asarray(host, device="wgpu"), n)
        assert_near(result, exact(function, host, n), n, np.float32)
    assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize("rows", [1, 5, 300])
@pytest.mark.parametrize("n", [1, 4, 30, 101, 512])
def test_batches(rows: int, n: int) -> None:
    host = numbers((rows, n))
    actual = np.fft.fft(xp.asarray(host, device="wgpu"))
    for row, expected in zip(np.asarray(actual), exact(np.fft.fft, host), strict=True):
        assert_near(row, expected, n, np.float32)


@pytest.mark.parametrize("n", [4099, 5000, 8192])
def test_rows_take_turns_where_scratch_memory_is_short(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = 8 * (n if fourier.is_smooth(n) else fourier.convolution_length(n))
    monkeypatch.setattr(fourier, "SCRATCH_LIMIT", 3 * needed)
    host = numbers((7, n))
    assert_near(np.fft.fft(xp.asarray(host, device="wgpu")), exact(np.fft.fft, host), n, np.float32)


@pytest.mark.parametrize("n", [1, 4096, 6000])
def test_the_least_workgroup_memory_will_do(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fourier, "LARGE_MEMORY", 1 << 30)
    host = numbers((3, n))
    assert_near(np.fft.fft(xp.asarray(host, device="wgpu")), exact(np.fft.fft, host), n, np.float32)


def test_nan_stays_in_its_row() -> None:
    host = numbers((3, 64))
    host[1, 5] = np.nan
    result = np.asarray(np.fft.fft(xp.asarray(host, device="wgpu")))
    assert np.isnan(result[1]).all()
    assert np.isfinite(result[[0, 2]]).all()


@pytest.mark.parametrize("dtype", [dtypes.complex64, dtypes.complex128])
def test_all_lengths_share_few_sources(dtype) -> None:
    capabilities = Capabilities(adapter="any", workgroup_memory=32768)
    sources = {
        launch.source
        for n in [*LENGTHS, *LONG]
        for launch in fourier.FOURIER.program(step_of(n, dtype=dtype), "fft", capabilities).launches
    }
    assert len(sources) < 40


def test_what_has_no_kernel_says_why() -> None:
    def reason(n, **limits):
        return emit.unsupported(step_of(n), Capabilities(adapter="any", **limits))

    assert reason(2**20, binding_limit=1 << 27, workgroup_memory=16384) is None
    assert reason(1024, binding_limit=1 << 27, workgroup_memory=16384) is None
    assert reason(2**22 + 1, binding_limit=1 << 25, workgroup_memory=16384) is None
    assert "binds" in reason(2**22 + 1, binding_limit=1 << 25, storage_bindings=8, workgroup_memory=16384)
    assert "32 bits" in reason(2**32, binding_limit=1 << 31, workgroup_memory=16384)
    assert "workgroup memory" in reason(64, workgroup_memory=8192)


def test_lengths_are_split_into_few_near_factors() -> None:
    assert fourier.split(2**18, 512) == [512, 512]
    assert fourier.split(5000, 512) == [100, 50]
    for n in [n for n in range(2000, 4000) if fourier.is_smooth(n)]:
        factors = fourier.split(n, 512)
        assert prod(factors) == n
        assert len(factors) == 2
        assert max(factors) <= 512


def test_radices_multiply_to_the_size() -> None:
    smooth = [n for n in range(1, 4097) if fourier.is_smooth(n)]
    for n in smooth:
        radices = fourier_stages.radices_of(n)
        assert prod(radices) == n
        assert (2 in radices) == (n % 4 == 2)
    with pytest.raises(ValueError, match="prime factor above 31"):
        fourier_stages.radices_of(2 * 37)
