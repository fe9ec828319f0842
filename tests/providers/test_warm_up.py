"""Warm-up and tuning: what earlier runs found out is used, and is never worth an error."""

import json
from dataclasses import replace

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.codegen import product_choice
from gpuarray.providers.wgpu.provider import WgpuProvider
from gpuarray.runtime.placement import tune

SOURCE = """struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
@compute @workgroup_size(1)
fn main() { found[0] = parameters.words[0].x + %du; }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path):
    with xp.using(cache_dir=str(tmp_path), warm_up=True):
        yield tmp_path


def opened(*numbers):
    """Open a provider, wait for its warm-up, compile some kernels, close it, and return its counts."""
    provider = WgpuProvider()
    provider._warm_up.wait()
    compiled = provider._counters.compiles
    with provider._using("compile"):
        for number in numbers:
            provider._pipelines.pipeline(SOURCE % number, f"kernel {number}", (True,))
    counts = provider.stats()
    provider.close()
    return compiled, counts["warm_hits"], counts["warm_misses"]


def test_kernels_of_the_last_run_are_compiled_ahead(folder):
    assert opened(1, 2) == (0, 0, 2)
    assert opened(2, 3) == (2, 1, 1)
    assert opened() == (3, 0, 0)


@pytest.mark.parametrize("damage", ["", "[]", '{"kernels": 5}', "texts"])
def test_damaged_records_are_ignored(folder, damage):
    opened(1)
    (path,) = folder.glob("kernels-*.json")
    if damage == "texts":
        record = json.loads(path.read_text())
        record["values"]["kernels"] = [["no kernel", 7], ["fn main( {", "broken", [True]]]
        path.write_text(json.dumps(record))
    else:
        path.write_text(damage)
    assert opened(1) == (0, 0, 1)


def test_without_the_setting_nothing_is_recorded(folder):
    with xp.using(warm_up=False):
        provider = WgpuProvider()
        assert provider._warm_up is None
        provider.close()
    assert not list(folder.glob("kernels-*"))


def test_tuned_tilings_are_taken_by_the_next_opening(folder):
    first = WgpuProvider()
    assert not first.capabilities.profile.product_speeds
    profile = tune.tune(first, lambda _: None)
    result = dict(profile.product_speeds)
    assert {name.split()[0] for name in result} >= {"float32", "complex64"}
    assert all(speed > 0 for speed in result.values())
    assert profile.units > 0
    assert profile.bandwidth > 0
    first.close()
    second = WgpuProvider()
    assert second.capabilities.profile == profile
    speeds = [c.speed for c in product_choice.candidates(dtypes.float32, second.capabilities)]
    assert set(speeds) <= set(result.values())
    second.close()
    with xp.using(autotune="off"):
        third = WgpuProvider()
        assert not third.capabilities.profile.product_speeds
        third.close()


def test_a_measured_tiling_wins(folder):
    provider = WgpuProvider()
    limits = provider.capabilities
    names = [
        product_choice.name_of(c.tiling, dtypes.float32) for c in product_choice.candidates(dtypes.float32, limits)
    ]
    for name in names:
        speeds = tuple((n, 1.0 if n == name else 1e-6) for n in names)
        quick = replace(limits, profile=replace(limits.profile, product_speeds=speeds))
        choice = product_choice.choose(1, 512, 512, 512, np.dtype("f4"), quick)
        assert product_choice.name_of(choice.tiling, dtypes.float32) == name
    provider.close()
