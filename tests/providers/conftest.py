"""Devices for tests of the wgpu provider."""

import pytest

from gpuarray.config import config
from gpuarray.providers.wgpu.provider import WgpuProvider


@pytest.fixture(scope="module")
def shared():
    provider = WgpuProvider(0)
    yield provider
    provider.close()


@pytest.fixture
def provider(shared):
    with config.using(memory_limit=0, debug=0, verify=False):
        yield shared


@pytest.fixture
def fresh():
    provider = WgpuProvider(0)
    yield provider
    provider.close()
