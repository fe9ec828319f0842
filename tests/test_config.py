"""Settings are checked where they are set."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gpuarray as xp
from gpuarray.errors import ConfigurationError, DeviceError
from gpuarray.providers import registry

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("setting", ["device", "provider"])
@pytest.mark.parametrize("name", ["cuda", "gpu", "cuda:0", "mps"])
def test_names_of_gpus_elsewhere_are_refused_with_the_name_here(setting, name):
    message = rf"{setting}'? is '{name}'; there is no provider '{name[:4].rstrip(':')}'.*a GPU of any vendor is 'wgpu'"
    with pytest.raises(ConfigurationError, match=message), xp.using(**{setting: name}):
        pytest.fail("accepted")
    before = getattr(xp.config, setting)
    with pytest.raises(ConfigurationError, match=message):
        setattr(xp.config, setting, name)
    assert getattr(xp.config, setting) == before
    with pytest.raises(DeviceError, match="a GPU of any vendor is 'wgpu'"):
        xp.ones(3, device=name)


@pytest.mark.parametrize(
    ("name", "reason"), [("tpu", "there are 'cpu', 'wgpu'$"), ("", "no device"), ("wgpu:x", "no d")]
)
def test_other_names_are_refused(name, reason):
    with pytest.raises(ConfigurationError, match=reason):
        xp.config.device = name


@pytest.mark.parametrize("name", ["auto", "cpu", "wgpu", "two:1", "uncounted:7"])
def test_devices_are_accepted_without_being_opened(name, monkeypatch):
    monkeypatch.setattr(registry, "_registered", registry._registered.copy())
    registry.register("two", pytest.fail, count=lambda: 2)
    registry.register("uncounted", pytest.fail)
    with xp.using(device=name, provider=name):
        assert xp.config.device == name


@pytest.mark.parametrize("setting", ["device", "provider"])
@pytest.mark.parametrize("name", ["wgpu:99", "cpu:1"])
def test_numbers_of_devices_that_do_not_exist_are_refused(setting, name):
    message = rf"'{name}'; there is no device '{name}'; there are '{name.partition(':')[0]}:0'"
    with pytest.raises(ConfigurationError, match=message), xp.using(**{setting: name}):
        pytest.fail("accepted")
    with pytest.raises(ConfigurationError, match=message):
        setattr(xp.config, setting, name)


def test_the_import_does_not_look_for_devices():
    program = "import sys, gpuarray; print(gpuarray.config.device, 'wgpu' in sys.modules)"
    environment = {**os.environ, "GPUARRAY_DEVICE": "wgpu:99"}
    finished = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert finished.stdout.split() == ["wgpu:99", "False"]


@pytest.mark.parametrize(
    ("variable", "value", "accepted"),
    [("DEVICE", "cuda", "'wgpu'"), ("FALLBACK", "no", "'warn'"), ("DEBUG", "x", "integer")],
)
def test_environment_variables_are_checked_when_the_package_is_imported(variable, value, accepted):
    finished = subprocess.run(
        [sys.executable, "-c", "import gpuarray"],
        cwd=ROOT,
        env={**os.environ, f"GPUARRAY_{variable}": value},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    last = finished.stderr.strip().splitlines()[-1]
    assert f"ConfigurationError: GPUARRAY_{variable} is {value!r}; " in last
    assert accepted in last
