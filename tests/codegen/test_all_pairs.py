"""Folds over all pairs of rows and columns: one kernel, no array of all pairs, NumPy's results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.codegen import emit

RANDOM = np.random.default_rng(0)
A = RANDOM.standard_normal((130, 37)).astype(np.float32)
B = RANDOM.standard_normal((70, 37)).astype(np.float32)
W = RANDOM.random(37).astype(np.float32)
BATCH = RANDOM.standard_normal((3, 50, 20)).astype(np.float32)


def two_folds(x: Any) -> Any:
    return (x**2).sum(-1) + np.abs(x).max(-1)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "distances": lambda p: np.sqrt(((p(A)[:, None, :] - p(B)[None, :, :]) ** 2).sum(-1)),
    "largest difference": lambda p: np.abs(p(A)[:, None, :] - p(B)[None, :, :]).max(-1),
    "weighted": lambda p: (np.abs(p(A)[:, None, :] - p(B)[None, :, :]) * p(W)).sum(-1) * 2 + 1,
    "any equal": lambda p: (p(A)[:, None, :] == p(B)[None, :, :]).any(-1),
    "both positive": lambda p: ((p(A) > 0)[:, None, :] & (p(B) > 0)[None, :, :]).sum(-1),
    "batches": lambda p: ((p(BATCH)[:, :, None, :] - p(BATCH)[:, None, :, :]) ** 2).sum(-1),
    "columns": lambda p: (p(A.T.copy())[:, :, None] * p(B.T.copy())[:, None, :]).sum(0),
    "mean and more": lambda p: ((p(A)[:, None, :] - p(B)[None, :, :]) ** 2).mean(-1) + p(B)[:, 0],
    "to half": lambda p: np.minimum(((p(A)[:, None, :] - p(B)[None, :, :]) ** 2).sum(-1), 5).astype(np.float16),
    "two folds": lambda p: two_folds(p(A)[:, None, :] - p(B)[None, :, :]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_folds_of_pairs(name: str, device: Any) -> None:
    function = FUNCTIONS[name]
    expected = function(lambda x: x)
    result = np.asarray(function(lambda x: xp.asarray(x, device=device)))
    assert result.dtype == expected.dtype
    tolerance = 1e-3 if expected.dtype == np.float16 else 2e-6
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance * float(np.max(expected)))
    assert xp.stats()["fallbacks"] == 0


@pytest.mark.wgpu
@pytest.mark.usefixtures("nothing_prepared")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_kernel_makes_no_array_of_pairs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    labels: list[str] = []
    whole = emit.AllPairsKernel.launch

    def launch(self: Any) -> Any:
        labels.append(self.label)
        return whole(self)

    monkeypatch.setattr(emit.AllPairsKernel, "launch", launch)
    with xp.using(device="wgpu"):
        xp.reset_stats()
        xp.evaluate(FUNCTIONS[name](xp.asarray))
        assert xp.stats()["launches"] == 1
    assert len(labels) == 1


def test_long_folds_do_not_lose_precision(device: Any) -> None:
    random = np.random.default_rng(1)
    x, y = random.random((20, 3000), np.float32), random.random((24, 3000), np.float32)
    expected = ((x[:, None, :].astype(np.float64) - y) ** 2).sum(-1)
    a, b = xp.asarray(x, device=device), xp.asarray(y, device=device)
    result = np.asarray(((a[:, None, :] - b[None, :, :]) ** 2).sum(-1))
    assert np.max(np.abs(result - expected) / expected) < 2e-6
