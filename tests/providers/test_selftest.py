"""The self-test: what it finds is what the driver does, and what follows from it."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gpuarray import dtypes, using
from gpuarray.codegen.programs import Program
from gpuarray.providers.wgpu import selftest
from gpuarray.providers.wgpu.provider import WgpuProvider


def exact(fused: str, flush: bool, double: bool, close: float = 0.0) -> selftest.Run:
    """Return a driver played by NumPy, with faults as asked for; its estimates err by ``close`` units."""

    def run(program: Program, given: npt.NDArray[Any], result: npt.NDArray[Any]) -> None:
        if given.dtype == np.float64:
            x, y = given[:, 0], given[:, 1]
            result[:, 0], result[:, 1], result[:, 2] = x / y, np.sqrt(x), x * y
            exact = [float(Fraction(a) * Fraction(b) - Fraction(a * b)) for a, b in zip(x, y, strict=True)]
            result[:, 3] = exact if fused == "both" else 0
            if not double:
                result[3, 0] = np.nextafter(result[3, 0], np.inf)
            return
        if len(given) > 64:
            with np.errstate(over="ignore"):
                result[:, 0], result[:, 1] = np.exp2(given[:, 0].astype(np.float64)), 1 / given[:, 1]
                normal = result[:-1] >= np.finfo(np.float32).tiny
                result[:-1] += np.where(normal, close * np.spacing(result[:-1]), 0)
            return
        product = given[:, 0] * given[:, 1]
        wide = given.astype(np.float64)
        result[:, 0] = wide[:, 0] * wide[:, 1] - product if fused != "neither" else 0
        small = given * np.finfo(np.float32).tiny
        result[:, 1] = 0 if flush else small[:, 0] - small[:, 1]

    return run


@pytest.mark.parametrize("fused", ["both", "single", "neither"])
@pytest.mark.parametrize("flush", [True, False])
@pytest.mark.parametrize("double", [True, False])
def test_faults_are_found(fused: str, flush: bool, double: bool) -> None:
    result = selftest.facts(exact(fused, flush, double), float64=True)
    assert result == {
        selftest.FUSED: fused == "both",
        selftest.CLOSE: fused != "neither",
        selftest.SUBNORMAL: not flush,
        selftest.ROUNDED: double,
    }
    assert selftest.are_complete(result, float64=True)
    assert not selftest.are_complete(result, float64=False)
    assert set(result) == set(selftest.MEANINGS)


@pytest.mark.parametrize(("units", "is_close"), [(-1.0, True), (1.0, True), (2.0, False), (-2.0, False)])
def test_estimates_that_err_much_are_not_used(units: float, is_close: bool) -> None:
    result = selftest.facts(exact("both", True, True, units), float64=True)
    assert result[selftest.CLOSE] == is_close


def test_float64_that_rounds_wrongly_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = selftest.facts
    monkeypatch.setattr(
        selftest, "facts", lambda run, *, float64: {**real(run, float64=float64), selftest.ROUNDED: False}
    )
    with using(cache_dir=str(tmp_path)):
        provider = WgpuProvider()
        try:
            assert dtypes.float64 not in provider.capabilities.dtypes
            assert dtypes.complex128 not in provider.capabilities.dtypes
            assert dtypes.float32 in provider.capabilities.dtypes
        finally:
            provider.close()


@pytest.mark.parametrize(
    ("sizes", "size"),
    [([32] * 256, 32), ([8] * 256, 8), ([32] * 128 + [16] * 128, 0), ([0] * 256, 0), ([1] * 256, 0), ([256] * 256, 0)],
    ids=["32", "8", "two sizes", "scattered", "alone", "too many"],
)
def test_subgroups_are_used_if_they_are_steady(sizes: list[int], size: int) -> None:
    def run(_program: Program, _given: npt.NDArray[Any], result: npt.NDArray[Any]) -> None:
        result[:] = sizes

    assert selftest.subgroup_size(run) == size


@pytest.mark.wgpu
def test_the_size_of_subgroups_is_found_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with using(cache_dir=str(tmp_path)):
        first = WgpuProvider()
        size = first.capabilities.subgroup_size
        first.close()
        monkeypatch.setattr(selftest, "subgroup_size", lambda _run: 64)
        second = WgpuProvider()
        assert second.capabilities.subgroup_size == size
        second.close()
        plain = WgpuProvider(without=("subgroup", "subgroup-barrier"))
        assert plain.capabilities.subgroup_size == 0
        plain.close()


@pytest.mark.wgpu
def test_it_leaves_no_memory_behind(tmp_path: Path) -> None:
    with using(cache_dir=str(tmp_path)):
        provider = WgpuProvider()
        try:
            assert provider.stats()["bytes_live"] == provider.stats()["bytes_pooled"] == 0
            assert not list(provider._transfers.objects())
        finally:
            provider.close()
