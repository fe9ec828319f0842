"""Python's own modules, and small tools around it: copies, pickles, pools, files, iteration, notebooks, pictures."""

import concurrent.futures
import copy
import io
import json
import math
import multiprocessing
import pickle
import statistics

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from IPython.lib.pretty import pretty
from PIL import Image
from tqdm import tqdm

import gpuarray as xp
from gpuarray.testing import TOLERANCES, assert_same

DEVICES = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)
NUMBERS = np.random.default_rng(0).random((4, 6)).astype(np.float32)


@pytest.fixture
def x(device):
    """An array that was computed where the device is."""
    return xp.asarray(NUMBERS / 2) * 2


def through_pickle(value, protocol):
    return pickle.loads(pickle.dumps(value, protocol))


def through_buffers(value):
    buffers = []
    stream = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    assert len(stream) < value.nbytes + 1000
    return pickle.loads(stream, buffers=buffers)


@DEVICES
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, through_buffers, *(lambda a, p=p: through_pickle(a, p) for p in range(2, 6))]
)
@pytest.mark.parametrize("part", [lambda a: a, lambda a: a[1:, ::2], lambda a: a.T, lambda a: a[:0]])
def test_copies(copied, part, x, device):
    original = part(x)
    made = copied(original)
    assert_same(made, np.asarray(original))
    assert made.device == device
    made[...] = 0
    assert np.asarray(original).all()
    assert_same(made + 1, np.ones_like(np.asarray(original)))


@DEVICES
def test_deepcopy_of_what_holds_arrays(x):
    made = copy.deepcopy({"a": [x, x]})
    assert made["a"][0] is not x
    made["a"][0][0] = 9
    assert float(x[0, 0]) == NUMBERS[0, 0]


@DEVICES
def test_threads(x):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        totals = list(pool.map(lambda row: float((row**2).sum()), x))
    np.testing.assert_allclose(totals, (NUMBERS**2).sum(axis=1), rtol=1e-6)


@pytest.mark.slow
def test_spawned_processes():
    """A child that is spawned opens its own device, and sends arrays back."""
    x = xp.asarray(NUMBERS, device="wgpu")
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        rows = list(pool.map(np.negative, x))
    assert_same(np.stack(rows), -NUMBERS)
    assert rows[0].device == x.device


@DEVICES
def test_iteration(x, device):
    rows = list(tqdm(x, file=io.StringIO(), total=len(x)))
    assert_same(rows[2], NUMBERS[2])
    assert_same(sum(x), sum(NUMBERS))
    assert_same(next(reversed(x)), NUMBERS[-1])
    assert float(max(x[0])) == NUMBERS[0].max()
    assert [float(a) for a, _ in zip(x[:, 0], NUMBERS, strict=True)] == NUMBERS[:, 0].tolist()
    assert rows[0].device == device


@DEVICES
def test_numbers(x):
    assert math.sqrt(x[0, 0]) == math.sqrt(NUMBERS[0, 0])
    assert list(range(xp.asarray(3))) == [0, 1, 2]
    assert "abc"[xp.asarray(1)] == "b"
    assert round(x[0, 0], 2) == round(NUMBERS[0, 0], 2)
    assert round(xp.asarray(2.5)) == 2
    assert isinstance(round(xp.asarray(2.5)), int)
    assert json.loads(json.dumps(x.tolist())) == NUMBERS.tolist()
    assert f"{x[0, 0]:.3f}" == f"{NUMBERS[0, 0]:.3f}"


@DEVICES
def test_files(x, tmp_path):
    np.savez(tmp_path / "both.npz", first=x, second=x[1:, ::2])
    np.save(tmp_path / "one.npy", x)
    np.savetxt(tmp_path / "text.csv", x, delimiter=",")
    with np.load(tmp_path / "both.npz") as saved:
        np.testing.assert_array_equal(saved["first"], NUMBERS, strict=True)
        np.testing.assert_array_equal(saved["second"], NUMBERS[1:, ::2])
    assert_same(xp.asarray(np.load(tmp_path / "one.npy", mmap_mode="r")), NUMBERS)
    assert_same(
        xp.asarray(np.loadtxt(tmp_path / "text.csv", delimiter=",", dtype=np.float32)), NUMBERS, rtol=TOLERANCES
    )


@DEVICES
def test_notebooks(x, device):
    formatted, _ = DisplayFormatter().format(x)
    assert formatted["text/plain"] == repr(x) == pretty(x)
    assert device.name in formatted["text/html"]
    assert "float32" in formatted["text/html"]


@DEVICES
def test_a_large_array_is_shown_without_being_read(device):
    x = xp.zeros((1000, 1000), dtype=xp.float32) + 1
    repr(x)
    x._repr_html_()
    assert xp.stats()["bytes_downloaded"] < 10_000


@DEVICES
def test_pictures(x):
    grey = (x * 255).astype(xp.uint8)
    image = Image.fromarray(np.asarray(grey))
    assert image.size == (6, 4)
    assert_same(xp.asarray(image), (NUMBERS * 255).astype(np.uint8))
    with pytest.raises(AttributeError, match="__array_interface__"):
        Image.fromarray(grey)


@DEVICES
def test_statistics_computes_with_pythons_numbers(x):
    for function in (statistics.mean, statistics.stdev, statistics.median, statistics.quantiles):
        assert function(x[0]) == function(x[0].tolist())
    with pytest.raises(TypeError, match=r"use x\.mean\(\)"):
        statistics.mean([x[0, 0], x[0, 1]])
