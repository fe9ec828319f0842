"""dask.array with chunks of this package, in threads and in the processes of a cluster."""

import os
from importlib.metadata import EntryPoint
from pathlib import Path
from tomllib import loads

import dask
import dask.array as da
import numpy as np
import pytest
from dask.array.dispatch import concatenate_lookup, tensordot_lookup
from dask.sizeof import sizeof
from dask.tokenize import tokenize
from distributed import Client, LocalCluster

import gpuarray as xp
from gpuarray.errors import TransferError
from gpuarray.interop.dask import GpuArrayBackend
from gpuarray.testing import TOLERANCES, assert_same

ROOT = Path(__file__).parents[2]
NUMBERS = np.random.default_rng(0).random((12, 8)).astype(np.float32)
DEVICES = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)


def chunked(x, chunks=(5, 4)):
    return da.from_array(x, chunks=chunks)


def square(x):
    """Return a well-conditioned symmetric matrix."""
    a = chunked(x)
    return a.T @ a + 8 * da.eye(8, chunks=4, dtype="float32")


def written(a, key, value):
    a[key] = value
    return a


CASES = {
    "operators": lambda x: chunked(x) * 2 + 1,
    "ufunc": lambda x: np.exp(chunked(x)),
    "beside NumPy's chunks": lambda x: chunked(x) + chunked(NUMBERS, (4, 8)),
    "astype": lambda x: chunked(x).astype("float16"),
    "clip": lambda x: da.clip(chunked(x), 0.2, 0.8),
    "where": lambda x: da.where(chunked(x) > 0.5, chunked(x), 0),
    "isin": lambda x: da.isin(chunked((x * 4).astype("int32")), [1, 2]),
    "digitize": lambda x: da.digitize(chunked(x), np.array([0.2, 0.5], np.float32)),
    "sum": lambda x: chunked(x).sum(),
    "sum along an axis": lambda x: chunked(x).sum(axis=0),
    "prod": lambda x: chunked(x).prod(axis=1),
    "mean": lambda x: chunked(x).mean(axis=1),
    "mean of all": lambda x: chunked(x).mean(),
    "var": lambda x: chunked(x).var(axis=0),
    "std": lambda x: chunked(x).std(),
    "moment": lambda x: chunked(x).moment(3),
    "min": lambda x: chunked(x).min(axis=0),
    "ptp": lambda x: da.ptp(chunked(x), axis=0),
    "argmax": lambda x: chunked(x).argmax(axis=0),
    "any": lambda x: (chunked(x) > 0.9).any(axis=0),
    "count_nonzero": lambda x: da.count_nonzero(chunked(x) > 0.5),
    "nanmean": lambda x: da.nanmean(chunked(x), axis=0),
    "nanvar": lambda x: da.nanvar(chunked(x)),
    "nanargmax": lambda x: da.nanargmax(chunked(x), axis=0),
    "average": lambda x: da.average(chunked(x), axis=0, weights=chunked(x[:, 0], 5)),
    "median": lambda x: da.median(chunked(x), axis=0),
    "quantile": lambda x: da.quantile(chunked(x, (12, 4)), 0.3, axis=0),
    "cumsum": lambda x: chunked(x).cumsum(axis=0),
    "topk": lambda x: chunked(x).topk(3, axis=0),
    "argtopk": lambda x: chunked(x).argtopk(3, axis=0),
    "cov": lambda x: da.cov(chunked(x)),
    "reduction": lambda x: da.reduction(chunked(x), chunk=np.sum, aggregate=np.sum, dtype="float32"),
    "rechunk": lambda x: chunked(x).rechunk((4, 8)),
    "slice": lambda x: chunked(x)[2:9:2, ::-1],
    "rows": lambda x: chunked(x)[[9, 0, 5, 5, 2]],
    "take": lambda x: da.take(chunked(x), [3, 1, 7], axis=1),
    "mask": lambda x: chunked(x)[chunked(x) > 0.5],
    "vindex": lambda x: chunked(x).vindex[[1, 2, 10], [3, 4, 5]],
    "assignment": lambda x: written(chunked(x), (slice(0, 3), 0), 9),
    "assignment by mask": lambda x: written(chunked(x), chunked(x) > 0.5, 9),
    "concatenate": lambda x: da.concatenate([chunked(x), chunked(x)], axis=1),
    "stack": lambda x: da.stack([chunked(x), chunked(x)], axis=0),
    "block": lambda x: da.block([[chunked(x), chunked(x)]]),
    "transpose": lambda x: chunked(x).T,
    "reshape": lambda x: chunked(x).reshape(-1),
    "pad": lambda x: da.pad(chunked(x), 1, mode="edge"),
    "roll": lambda x: da.roll(chunked(x), 3, axis=0),
    "repeat": lambda x: da.repeat(chunked(x), 2, axis=0),
    "diff": lambda x: da.diff(chunked(x), axis=0),
    "gradient": lambda x: da.gradient(chunked(x), axis=0),
    "coarsen": lambda x: da.coarsen(np.sum, chunked(x, (4, 4)), {0: 2, 1: 2}),
    "sliding_window_view": lambda x: da.lib.stride_tricks.sliding_window_view(chunked(x), 3, axis=0),
    "tril": lambda x: da.tril(chunked(x)),
    "diagonal": lambda x: da.diagonal(chunked(x)),
    "full_like": lambda x: da.full_like(chunked(x), 3),
    "unique": lambda x: da.unique(chunked((x * 4).astype("int32"))),
    "histogram": lambda x: da.histogram(chunked(x), bins=4, range=(0, 1))[0],
    "bincount": lambda x: da.bincount(chunked((x[:, 0] * 4).astype("int32"), 5), minlength=5),
    "matmul": lambda x: chunked(x) @ chunked(x).T,
    "tensordot": lambda x: da.tensordot(chunked(x), chunked(x), axes=((0,), (0,))),
    "einsum": lambda x: da.einsum("ij,kj->ik", chunked(x), chunked(x)),
    "outer": lambda x: da.outer(chunked(x)[:, 0], chunked(x)[0]),
    "fft": lambda x: da.fft.fft(chunked(x, (5, 8))),
    "norm": lambda x: da.linalg.norm(chunked(x)),
    "map_blocks": lambda x: chunked(x).map_blocks(lambda block: block * 2),
    "map_overlap": lambda x: chunked(x).map_overlap(lambda block: block * 2, depth=1, boundary="reflect"),
    "blockwise": lambda x: da.blockwise(np.add, "ij", chunked(x), "ij", chunked(x), "ij", dtype="float32"),
    "apply_gufunc": lambda x: da.apply_gufunc(
        lambda block: np.mean(block, axis=-1), "(i)->()", chunked(x, (5, 8)), output_dtypes="float32"
    ),
    "persist": lambda x: chunked(x).persist() + 1,
}

#: What dask does by factorisations.
FACTORISED = {
    "qr": lambda x: abs(da.linalg.qr(chunked(x, (5, 8)))[1]),
    "svd": lambda x: da.linalg.svd(chunked(x, (5, 8)))[1],
    "cholesky": lambda x: da.linalg.cholesky(square(x)),
}


@DEVICES
@pytest.mark.parametrize("case", CASES)
def test_chunks_stay_on_the_device(case, device):
    computed = CASES[case](xp.asarray(NUMBERS)).compute(scheduler="threads")
    assert xp.stats()["fallbacks"] == 0
    assert_same(computed, CASES[case](NUMBERS).compute(scheduler="threads"), rtol=TOLERANCES, message=case)
    assert computed.device == device


@DEVICES
@pytest.mark.parametrize("case", FACTORISED)
def test_factorisations_come_back_to_the_device(case, device):
    computed = FACTORISED[case](xp.asarray(NUMBERS)).compute(scheduler="threads")
    assert_same(computed, FACTORISED[case](NUMBERS).compute(scheduler="threads"), rtol=1e-4, message=case)
    assert xp.stats()["fallbacks"] == 0


@DEVICES
@pytest.mark.parametrize("method", ["linear", "lower", "nearest"])
def test_percentile(method, device):
    line = NUMBERS.ravel()
    computed = da.percentile(chunked(xp.asarray(line), 20), [5, 50, 90], method=method).compute()
    assert_same(computed, da.percentile(chunked(line, 20), [5, 50, 90], method=method).compute(), rtol=TOLERANCES)


@DEVICES
def test_meta(device):
    x = xp.asarray(NUMBERS)
    for a in (chunked(x), chunked(x) + 1, chunked(x).mean(axis=0), chunked(x)[:3], chunked(x).map_blocks(np.exp)):
        assert isinstance(a._meta, xp.GpuArray)
        assert a._meta.device == device
        assert a._meta.dtype == np.float32


@DEVICES
def test_equal_arrays_have_equal_names(device):
    x = xp.asarray(NUMBERS)
    with dask.config.set({"tokenize.ensure-deterministic": True}):
        assert tokenize(x) == tokenize(xp.asarray(NUMBERS))
        assert tokenize(x[:, 1:]) == tokenize(xp.asarray(NUMBERS[:, 1:].copy()))
        assert tokenize(x) != tokenize(x + 1)
        assert tokenize(x) != tokenize(NUMBERS)
        assert tokenize(x) != tokenize(x.astype("float64"))
        assert tokenize(x) != tokenize(x.reshape(8, 12))
    assert chunked(x).name == chunked(xp.asarray(NUMBERS)).name


@DEVICES
def test_names_at_random_read_nothing(device):
    x = xp.asarray(NUMBERS - 1) + 1
    with xp.using(transfer="error"):
        if device.kind == "wgpu":
            with pytest.raises(TransferError, match=r"dask\.tokenize would read"):
                da.from_array(x, chunks=4)
        da.from_array(x, chunks=4, name=False)
    assert xp.stats()["bytes_downloaded"] == 0


@DEVICES
def test_size_is_that_of_the_elements(device):
    x = xp.asarray(NUMBERS)
    assert sizeof(x) == NUMBERS.nbytes
    assert sizeof(x[:3] * 2) == NUMBERS[:3].nbytes


@DEVICES
def test_lookups_find_functions_that_keep_arrays(device):
    x = xp.asarray(NUMBERS)
    joined = concatenate_lookup.dispatch(xp.GpuArray)([x, x], axis=0)
    product = tensordot_lookup.dispatch(xp.GpuArray)(x, x, axes=((1,), (1,)))
    assert_same(joined, np.concatenate([NUMBERS, NUMBERS]), rtol=TOLERANCES)
    assert_same(product, np.tensordot(NUMBERS, NUMBERS, axes=((1,), (1,))), rtol=TOLERANCES)


@DEVICES
def test_backend_makes_arrays(device):
    with dask.config.set({"array.backend": "gpuarray"}):
        made = [
            da.ones((4, 3), chunks=2),
            da.zeros((4, 3), chunks=2, dtype="float32"),
            da.full((4, 3), 7, chunks=2),
            da.arange(1, 9, 2, chunks=2),
            da.empty((4, 3), chunks=2) * 0,
        ]
        computed = [a.compute() for a in made]
    expected = [np.ones((4, 3)), np.zeros((4, 3), np.float32), np.full((4, 3), 7), np.arange(1, 9, 2), np.zeros((4, 3))]
    for ours, numpys in zip(computed, expected, strict=True):
        assert_same(ours, numpys, rtol=TOLERANCES)
        assert ours.device == device


@DEVICES
def test_backend_converts(device):
    there = chunked(NUMBERS).to_backend("gpuarray")
    assert isinstance(there._meta, xp.GpuArray)
    assert there.to_backend("gpuarray") is there
    assert_same(there.compute(), NUMBERS, rtol=TOLERANCES)
    back = there.to_backend("numpy").compute()
    assert isinstance(back, np.ndarray)
    np.testing.assert_array_equal(back, NUMBERS)


@DEVICES
def test_random_numbers_of_the_backend(device):
    with dask.config.set({"array.backend": "gpuarray"}):
        drawn = [da.random.default_rng(7).random((400, 50), chunks=100) for _ in range(2)]
        first, second = (a.compute() for a in drawn)
    assert isinstance(first, xp.GpuArray)
    np.testing.assert_array_equal(np.asarray(first), np.asarray(second))
    assert float(first.mean()) == pytest.approx(1 / 2, abs=0.01)
    assert float(first.var()) == pytest.approx(1 / 12, abs=0.01)
    assert not np.array_equal(np.asarray(first[:100]), np.asarray(first[100:200]))  # chunks have streams of their own


@DEVICES
def test_random_numbers_of_a_generator(device):
    drawn = [da.random.default_rng(xp.random.default_rng(7)).normal(size=(400, 50), chunks=100) for _ in range(2)]
    first, second = (a.compute() for a in drawn)
    assert isinstance(first, xp.GpuArray)
    np.testing.assert_array_equal(np.asarray(first), np.asarray(second))
    assert float(first.mean()) == pytest.approx(0, abs=0.03)
    assert not np.array_equal(np.asarray(first[:100]), np.asarray(first[100:200]))


def test_random_functions_of_the_backend():
    with dask.config.set({"array.backend": "gpuarray"}):
        drawn = {
            "random": da.random.random((40, 50), chunks=20),
            "normal": da.random.normal(5, 1, 2000, chunks=500),
            "randint": da.random.randint(3, 8, 2000, chunks=500),
            "random_integers": da.random.random_integers(7, size=2000, chunks=500),
            "tomaxint": da.random.RandomState(7).tomaxint(2000, chunks=500),
        }
        made = {name: x.compute() for name, x in drawn.items()}
    assert all(isinstance(x, xp.GpuArray) for x in made.values())
    ends = {name: (float(x.min()), float(x.max())) for name, x in made.items()}
    assert ends["randint"] == (3, 7)
    assert ends["random_integers"] == (1, 7)
    assert 0 <= ends["random"][0] < 0.01 < 0.99 < ends["random"][1] < 1
    assert float(made["normal"].mean()) == pytest.approx(5, abs=0.1)
    assert ends["tomaxint"][1] > 2**62


def test_what_dask_knows_of_sums_of_products():
    assert isinstance(
        da.einsum("ij,kj->ik", chunked(xp.asarray(NUMBERS)), chunked(xp.asarray(NUMBERS)))._meta, xp.GpuArray
    )


def test_backend_is_found_without_an_import():
    project = loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    target = project["entry-points"]["dask.array.backends"]["gpuarray"]
    assert EntryPoint("gpuarray", target, "dask.array.backends").load() is GpuArrayBackend


def _process(block):
    return xp.full((1, 1), os.getpid(), dtype="int64", device=block.device)


def _described(x):
    return type(x).__name__, x.device.name, float(x.sum())


@pytest.mark.slow
def test_cluster_of_processes():
    """Each worker opens its own device; what travels between them is values."""
    x = xp.asarray(NUMBERS, device="wgpu")
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        client.wait_for_workers(2, timeout=300)
        a = chunked(x, (3, 8)).persist()
        processes = np.asarray(a.map_blocks(_process, dtype="int64", chunks=(1, 1)).compute())
        assert len(set(processes.ravel())) == 2
        assert os.getpid() not in processes
        computed = (np.exp(a) - a.mean(axis=0)).rechunk((12, 2)).sum(axis=0).compute()
        assert_same(computed, (np.exp(NUMBERS) - NUMBERS.mean(axis=0)).sum(axis=0), rtol=TOLERANCES)
        expected = da.percentile(chunked(NUMBERS[:, 0], 3), [25, 75]).compute()
        assert_same(da.percentile(a[:, 0], [25, 75]).compute(), expected, rtol=TOLERANCES)
        name, place, total = client.submit(_described, client.scatter(x)).result()
        assert (name, place) == ("GpuArray", x.device.name)
        assert total == pytest.approx(NUMBERS.sum(), rel=1e-5)


def _use(device):
    xp.config.device = device


def _made(block):
    return xp.asarray(np.asarray(block))


def _pinned(block):
    return xp.asarray(np.asarray(block), device="cpu")


def _device_of(chunk):
    return chunk.device.name


def test_cluster_with_a_device_for_each_process():
    """A chunk that arrives in a process is on the device of that process, unless it was pinned to another."""
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        client.wait_for_workers(2, timeout=300)
        first, second = client.scheduler_info()["workers"]
        client.run(_use, "cpu", workers=[first])
        client.run(_use, "wgpu:0", workers=[second])
        a = chunked(NUMBERS, (3, 8)).map_blocks(_made, dtype="float32").persist()
        computed = (np.exp(a) - a.mean(axis=0)).rechunk((12, 2)).sum(axis=0).compute()
        assert computed.device == xp.Device(xp.config.device)
        assert_same(computed, (np.exp(NUMBERS) - NUMBERS.mean(axis=0)).sum(axis=0), rtol=TOLERANCES)
        chunk = client.submit(_made, NUMBERS, workers=[first], pure=False)
        for worker, device in ((first, "cpu"), (second, "wgpu:0")):
            assert client.submit(_device_of, chunk, workers=[worker], pure=False).result() == device
        pinned = client.submit(_pinned, NUMBERS, workers=[second], pure=False)
        assert client.submit(_device_of, pinned, workers=[second], pure=False).result() == "cpu"


@pytest.mark.parametrize("device", ["cpu", "wgpu"])
def test_cluster_of_threads(device):
    x = xp.asarray(NUMBERS, device=device)
    cluster = LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0")
    with cluster, Client(cluster):
        a = chunked(x).persist()
        assert_same((a @ a.T).compute(), NUMBERS @ NUMBERS.T, rtol=TOLERANCES)
        assert_same(a.std(axis=1).compute(), NUMBERS.std(axis=1), rtol=TOLERANCES)
