"""What the workloads of ``bench`` launch, allocate and move when they are run again: a lost fusion shows here, untimed.

Counts may fall at any time; then the table is lowered. If one rises, something that ran at once no longer does, or a
copy has crept in.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import gpuarray as xp
from bench.peers import Ours
from bench.workloads import ALL, Workload, learning, runmat
from gpuarray.providers import registry


class Most(NamedTuple):
    """Launches in-process and on a GPU, buffers taken there, and bytes sent to it and read beside results, at most."""

    size: int
    launches: int
    gpu_launches: int
    buffers: int
    gpu_buffers: int
    sent: int = 0
    read: int = 0


#: How many steps of a simulation are counted.
STEPS = 4

COUNTS = {
    "copy": Most(1000, 1, 1, 1, 1),
    "black-scholes": Most(1000, 1, 1, 1, 1),
    "heat": Most(64, 1, 1, 1, 1),
    "axpy": Most(1000, 1, 1, 1, 1),
    "transpose": Most(8, 1, 1, 1, 1),
    "permute": Most(1, 1, 1, 1, 1),
    "concatenate": Most(8, 1, 1, 1, 1),
    "take": Most(1000, 1, 1, 1, 1),
    "mask": Most(1000, 1, 1, 1, 1),
    "scatter": Most(1000, 2, 4, 2, 3),
    "chain": Most(1000, 1, 1, 1, 1),
    "runmat-elementwise": Most(10_000, 1, 2, 1, 2),
    "runmat-elementwise-written": Most(10_000, 1, 1, 1, 1),
    "runmat-monte-carlo": Most(64, 17, 2, 7, 2),
    "runmat-4k-image": Most(2, 2, 4, 3, 4),
    "sum": Most(100_000, 1, 2, 1, 2),
    "sum-axis-0": Most(64, 1, 2, 1, 2),
    "var": Most(100_000, 1, 2, 1, 4),
    "mean-squared-error": Most(100_000, 1, 2, 1, 2),
    "mean": Most(100_000, 1, 2, 1, 2),
    "argmax": Most(100_000, 1, 2, 1, 3),
    "softmax": Most(8, 1, 1, 1, 1),
    "layernorm": Most(8, 1, 1, 1, 1),
    "cumulative-sum": Most(5000, 1, 2, 1, 2),
    "resample-poly": Most(1000, 0, 4, 0, 4),
    "hessian-vector": Most(1000, 1, 1, 1, 1),
    "gradients-10000": Most(1000, 4, 3, 3, 3),
    "gaussian-filter": Most(64, 0, 2, 0, 2),
    "matmul-512": Most(32, 1, 1, 1, 1),
    "matmul-batch": Most(2, 1, 1, 1, 1),
    "matmul-vector": Most(16, 1, 1, 1, 1),
    "vector-matmul": Most(16, 1, 2, 1, 2),
    "matmul-relu": Most(16, 1, 1, 1, 1),
    "distances": Most(32, 1, 1, 1, 1),
    "n-body": Most(32, 2, 2, 2, 2),
    "normal": Most(1000, 1, 1, 1, 1),
    "sort": Most(5000, 1, 12, 1, 4),
    "argsort": Most(5000, 1, 12, 1, 6),
    "histogram": Most(1 << 17, 3, 6, 4, 7, read=8),  # the extremes, which say whether the edges are right
    "bincount": Most(10_000, 3, 4, 4, 4, read=8),
    "fft": Most(4096, 1, 1, 1, 1),
    "fft-2-26": Most(1 << 16, 1, 2, 1, 2),
    "cholesky-stack-16": Most(10, 1, 1, 2, 2, read=40),  # the status of each matrix
    "triangular-solve": Most(32, 0, 6, 0, 8, read=132),  # whether all is finite, and where the diagonal is 0
    "k-means": Most(2000, 8, 9, 9, 10, read=2),  # it asks whether points and centres are finite
    "n-body-100": Most(32, 8, 8, 8, 8),
    "heat-100": Most(300, 13, 13, 9, 9),  # what a step leaves of a large array are two launches more
    "fft-batch": Most(16, 1, 1, 1, 1),
    "tiny": Most(1000, 1, 1, 1, 1),
}


class Counted(NamedTuple):
    """A workload that was run twice before: its counters, and how many buffers it took, in one more run."""

    stats: dict[str, int]
    buffers: int
    read: int


@pytest.fixture(params=["cpu", "wgpu"])
def peer(request: pytest.FixtureRequest) -> Iterator[Ours]:
    """This package on a device, as the benchmark runs it."""
    result = Ours(request.param)
    with result.scope():
        yield result


@pytest.fixture
def count(peer: Ours, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Counted]:
    """Return what runs a workload and counts."""
    provider: Any = registry.open_device(registry.resolve(xp.empty(0).device))
    pool = provider.pool if peer.device == "cpu" else provider._pool
    taken: list[int] = []
    allocate = pool.allocate

    def counting(nbytes: int) -> Any:
        taken.append(nbytes)
        return allocate(nbytes)

    monkeypatch.setattr(pool, "allocate", counting, raising=False)
    monkeypatch.setattr(runmat, "HEIGHT", 27)
    monkeypatch.setattr(runmat, "WIDTH", 48)
    monkeypatch.setattr(learning, "TURNS", 1)
    if peer.device == "wgpu":  # a software device takes seconds to compile what 16 steps become
        monkeypatch.setattr(runmat, "STEPS", 2)

    def run(name: str) -> Counted:
        workload = ALL[name]
        assert isinstance(workload, Workload)
        if name.startswith("k-means"):
            pytest.importorskip("sklearn")
        size = COUNTS[name].size
        function = partial(workload.run, peer.xp, size)
        if workload.steps > 1:
            function = peer.repeat(function, STEPS)
        inputs = [peer.asarray(array) for array in workload.inputs(size)]
        peer.wait(inputs)
        for _ in range(3):
            xp.reset_stats()
            taken.clear()
            result = function(*inputs)
            peer.wait([result])
            buffers = len(taken)
            read = peer.asnumpy(result).nbytes if workload.read else 0
            stats = xp.stats()
            assert np.all(np.isfinite(peer.asnumpy(result)))
        return Counted(stats, buffers, read)

    return run


@pytest.mark.parametrize("name", COUNTS)
def test_a_workload_launches_and_moves_no_more(name: str, peer: Ours, count: Callable[[str], Counted]) -> None:
    most = COUNTS[name]
    stats, buffers, read = count(name)
    on_gpu = peer.device == "wgpu"
    assert stats["launches"] <= (most.gpu_launches if on_gpu else most.launches)
    assert buffers <= (most.gpu_buffers if on_gpu else most.buffers)
    assert stats["plans"] == 0
    assert stats["compiles"] == 0
    assert stats["fallbacks"] == 0
    assert stats["evictions"] == 0
    assert stats["bytes_uploaded"] <= most.sent
    assert read <= stats["bytes_downloaded"] <= read + most.read


def test_every_kind_of_workload_is_counted() -> None:
    assert COUNTS.keys() <= ALL.keys()
    modules = {
        w.run.__module__ for name, w in ALL.items() if isinstance(w, Workload) and "-10m" not in name and not w.moves
    }
    assert {ALL[name].run.__module__ for name in COUNTS} == modules


@pytest.mark.parametrize("shape", [(1200,), (30, 40), (3, 400)])
def test_new_scalars_and_sizes_compile_nothing(shape: tuple[int, ...], peer: Ours) -> None:
    def chain(x: Any, factor: float) -> Any:
        return np.exp(-factor * x) * x + factor

    peer.wait([chain(peer.asarray(np.ones(1000, np.float32)), 0.5)])
    x = peer.asarray(np.ones(shape, np.float32))
    peer.wait([chain(x, 1.5)])
    xp.reset_stats()
    peer.wait([chain(x, 2.5)])
    result = xp.stats()
    assert (result["plans"], result["compiles"], result["launches"]) == (0, 0, 1)


def test_a_new_size_makes_a_plan_and_no_kernel(peer: Ours) -> None:
    sizes = (1000, 1100)
    arrays = [peer.asarray(np.linspace(0, 1, n, dtype=np.float32)) for n in sizes]
    for x in arrays:
        xp.reset_stats()
        peer.wait([np.cos(x) * 3 - x])
    assert xp.stats()["compiles"] == 0
