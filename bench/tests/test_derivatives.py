"""Each call of the benchmarks of functions has the derivative that differences show, or an error that names it."""

import re
import warnings
from typing import Any

import numpy as np
import pytest

import gpuarray as xp
from bench import calls
from bench.functions import evaluation
from gpuarray.array import GpuArray
from gpuarray.autodiff import containers
from gpuarray.errors import DerivativeError

#: Calls that leave values undefined, round them, return one of many results, or take an operand to be symmetric.
_OTHERS = (
    "empty_like(x)", "astype(x, 'float32')", "linalg.eig(A)", "linalg.cholesky(S)", "linalg.eigh(S)",
    "linalg.eigvalsh(S)",
)  # fmt: skip
_STEP = 1e-6


def _directions(values: list[Any], random: np.random.Generator) -> list[Any]:
    return [(random.normal(size=v.shape) + 1j * random.normal(size=v.shape)).astype(v.dtype) for v in values]


@pytest.mark.parametrize("text", [call for call in calls.calls() if call not in _OTHERS and "random." not in call])
@pytest.mark.filterwarnings("ignore")
def test_derivatives_are_those_of_differences(text: str) -> None:
    given, random = calls.operands(120), np.random.default_rng(0)
    given["T"] = given["T"].astype(np.float64)
    used = [name for name in given if re.search(rf"(?<![\w.]){name}(?!\w)", text)]
    chosen = [name for name in used if isinstance(given[name], np.ndarray) and given[name].dtype.kind in "fc"]

    def fun(*values: GpuArray) -> list[GpuArray]:
        own = {name: xp.asarray(v) if isinstance(v, np.ndarray) else v for name, v in given.items()}
        own |= dict(zip(chosen, (value.copy() for value in values), strict=True))
        result = evaluation(text, xp, own)()
        result = [own[name] for name in "zZ" if name in used] if result is None else result
        return [leaf for leaf in containers.leaves(result) if isinstance(leaf, GpuArray) and leaf.dtype.kind in "fc"]

    def at(step: float) -> list[Any]:
        return [a.get() for a in fun(*(xp.asarray(given[n] + step * d) for n, d in zip(chosen, moved, strict=True)))]

    with xp.using(device="cpu"), warnings.catch_warnings():
        moved = _directions([given[name] for name in chosen], random)
        message = ""
        try:
            out, pullback = xp.vjp(fun, *(xp.asarray(given[name]) for name in chosen))
            cts = _directions(out, random)
            result = pullback([xp.asarray(ct) for ct in cts])
        except DerivativeError as error:
            message = str(error)
        if message:
            assert "<call>" in message
            assert text.partition("(")[0] in message
            return
        pulled = sum(np.sum((ct.get() * d).real) for ct, d in zip(result, moved, strict=True))
        parts = [(ct * (a - b) / (2 * _STEP)).real for ct, a, b in zip(cts, at(_STEP), at(-_STEP), strict=True)]
    scale = max((float(abs(part).max(initial=1)) for part in parts), default=1)
    assert pulled == pytest.approx(sum(part.sum() for part in parts), rel=1e-4, abs=1e-4 * scale)
