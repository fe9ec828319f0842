"""Without the private names of wgpu-py everything works as with them, but slower."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import wgpu

from gpuarray.providers.wgpu import native
from gpuarray.providers.wgpu.driver import PublicDriver
from gpuarray.providers.wgpu.native import NativeDriver
from gpuarray.providers.wgpu.provider import WgpuProvider

pytestmark = pytest.mark.wgpu

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
#: Buffers, submissions, transfers and writes in place, and every kernel of the golden programs.
PROGRAMS = (
    "tests/providers/test_buffers.py",
    "tests/providers/test_submissions.py",
    "tests/runtime/test_uploads.py",
    "tests/runtime/test_updates_in_place.py",
    "tests/golden/test_golden.py",
)


def driver_type():
    provider = WgpuProvider(0)
    try:
        return type(provider._driver)
    finally:
        provider.close()


def test_the_installed_release_is_tested():
    assert tuple(wgpu.version_info[:2]) == native.TESTED
    assert driver_type() is NativeDriver


def test_another_release_or_a_missing_name_means_the_public_driver(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(wgpu, "version_info", (0, 99, 0))
        assert driver_type() is PublicDriver
    from wgpu.backends.wgpu_native import _api

    monkeypatch.delattr(_api, "error_handler")
    assert driver_type() is PublicDriver


def test_programs_run_on_the_public_driver():
    path = os.pathsep.join([str(ROOT), str(HERE), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "public_driver", "-k", "not cpu", *PROGRAMS]
    environment = {**os.environ, "PYTHONPATH": path}
    finished = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500, check=False
    )
    assert finished.returncode == 0, finished.stdout[-5000:]
