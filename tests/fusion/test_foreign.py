"""Where a device lacks a dtype: the host runs the steps that need it, and no others for their sake."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import computes

import gpuarray as xp
from gpuarray.testing import TOLERANCES, assert_same

A = np.random.default_rng(0).random((300, 40), np.float32)
#: What the device has no numbers for.
W = np.linspace(-1, 1, 300)

Program = Callable[[Any], Any]

#: Absolute tolerances of sums whose terms cancel: 1e-5 of the largest element.
ABSOLUTE = {"a product of doubles in part": 5e-5}

#: Programs, and where their steps run.
PROGRAMS: dict[str, tuple[Program, list[str]]] = {
    "a chain that ends in doubles": (lambda p: np.exp(np.sin(p(A))).astype(np.float64), ["device", "host"]),
    "a mean in doubles": (lambda p: np.mean(np.exp(p(A)) + 1, dtype=np.float64), ["device", "host"]),
    "a product": (lambda p: (p(A).T @ p(A)).astype(np.float64) * 2, ["device", "host"]),
    "a product of doubles in part": (lambda p: p(W).astype(np.float32) @ np.sqrt(p(A)), ["host", "device"]),
    "rows": (lambda p: np.exp(p(A) - p(A).max(1, keepdims=True)).sum(1) * p(W), ["device", "host"]),
    "a chain that begins with them": (lambda p: np.exp(p(W).astype(np.float32) * 2) + 1, ["host", "device"]),
    "a mask of doubles": (lambda p: np.where(p(W)[:, None] > 0, p(A), 1), ["host", "device"]),
    "a mask for doubles": (lambda p: np.where((p(W) > 0) & (p(W) < 0.5), p(W), 0), ["host"]),
    "a count": (lambda p: (p(W) > 0).sum(), ["host"]),
    "an array as it is": (lambda p: p(A).astype(np.float64) + 1, ["host"]),
    "a range": (lambda p: np.arange(300) * p(W), ["host"]),
    "fewer elements": (lambda p: (p(A)[::50] + p(A)[1::50]).astype(np.float64), ["device", "host"]),
    "both ways": (lambda p: np.exp(np.sin(p(A).sum(1)) * p(W)).astype(np.float32) * 2, ["device", "host", "device"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_of_the_device_stay_there(name: str, limited: Any) -> None:
    program, places = PROGRAMS[name]
    with xp.using(device=limited):
        result = program(xp.asarray)
        assert [step.where for step in xp.explain(result).steps] == places
        assert_same(result, program(lambda x: x), rtol=TOLERANCES, atol=ABSOLUTE.get(name, 0))
        assert xp.stats()["fallbacks"] == places.count("host")


def test_nothing_is_kept_apart_where_the_device_has_all(device: Any) -> None:
    result = np.exp(np.sin(xp.asarray(A))).astype(np.float64) * 2
    assert len(xp.explain(result).steps) == (1 if computes(device, np.float64) else 2)
