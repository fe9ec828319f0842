"""The registry: which devices there are, what ``auto`` means, one provider a device, and what fork leaves of it."""

import os
import subprocess
import sys
import threading
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import ConfigurationError, DeviceError
from gpuarray.providers import registry

pytestmark = pytest.mark.wgpu

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")


class Fake:
    """A provider that counts how often it is closed."""

    def __init__(self, number):
        self.number = number
        self.closed = 0
        self.alive = True

    def close(self):
        self.closed += 1


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    """Each test has registrations and opened devices of its own."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.setattr(registry, "_opened", {})
    monkeypatch.setattr(registry, "_resolved", {})
    with config.using(provider="auto", software=False, adapter=""):
        yield
    registry.close_all()


def run_python(text):
    """Run a program in a process of its own; five minutes are far more than it needs."""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_registry_imports_no_provider():
    text = (
        "import sys; from gpuarray.providers import registry\n"
        "print([n for n in sys.modules if n == 'wgpu' or n.startswith('gpuarray.providers.')])"
    )
    assert set(eval(run_python(text))) == {"gpuarray.providers.registry", "gpuarray.providers.base"}


def test_what_is_computed_at_once_imports_no_provider():
    text = """
import sys
import numpy as np, gpuarray as xp
x = xp.asarray(np.arange(1000.0), device="cpu")
y = (x * 2 + 1)[3:]
x[3] = 4
assert np.asarray(y)[0] == 7 and y.copy().sum() > 0 and x.tolist()[3] == 4
print([n for n in sys.modules if n.startswith("gpuarray.providers.inprocess")])
"""
    assert eval(run_python(text)) == []


def test_small_work_on_auto_imports_no_wgpu():
    text = """
import sys
import numpy as np
import gpuarray as xp
from gpuarray import settings
from gpuarray.providers import registry
registry._may_have_gpu = lambda: True
settings._hosts.clear()
registry._resolved.clear()
x = xp.asarray(np.arange(100_000.0))
assert xp.asnumpy((x * 2).sum()) == 99_999 * 100_000
print(xp.stats()["evaluations"], x.residency, "wgpu" in sys.modules)
xp.prefetch(x)
print("wgpu" in sys.modules)
"""
    assert run_python(text).splitlines() == ["0 ('cpu',) False", "True"]  # computed at once


def test_one_provider_a_device():
    opened = []
    registry.register("fake", lambda number: opened.append(number) or Fake(number))
    result = []
    threads = [threading.Thread(target=lambda: result.append(registry.open_device(Device("fake:3")))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == [3]
    assert len(set(map(id, result))) == 1
    assert registry.opened() == [result[0]]
    assert registry.open_device(Device("fake")) is registry.open_device(Device("fake:0")) is not result[0]


def test_a_dead_provider_is_replaced():
    registry.register("fake", Fake)
    first = registry.open_device(Device("fake"))
    first.alive = False
    assert registry.open_device(Device("fake")) is not first


def test_close_all_closes_and_forgets():
    registry.register("fake", Fake)
    first = registry.open_device(Device("fake"))
    registry.close_all()
    assert first.closed == 1
    assert registry.opened() == []
    assert registry.open_device(Device("fake")) is not first


def test_unknown_names_and_numbers():
    with pytest.raises(DeviceError, match="no provider 'cuda'; there are 'cpu', 'wgpu'"):
        registry.open_device(Device("cuda"))
    with pytest.raises(DeviceError, match="no device 'wgpu:99'; there are 'wgpu:0'"):
        registry.open_device(Device("wgpu:99"))
    with pytest.raises(DeviceError, match="no device 'cpu:1'"):
        registry.open_device(Device("cpu:1"))
    for name in ("auto", "a b"):
        with pytest.raises(ValueError, match="cannot be named"):
            registry.register(name, Fake)


def test_devices_lists_without_opening():
    registry.register("fake", Fake, count=lambda: 2)
    result = registry.devices()
    assert result[0] == "cpu"
    assert {"wgpu:0", "fake:0", "fake:1"} <= set(map(str, result))
    assert registry.opened() == []


def test_other_packages_announce_providers(monkeypatch):
    point = EntryPoint("third", f"{__name__}:Fake", "gpuarray.providers")
    monkeypatch.setattr(registry, "_entry_points_read", False)
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [point] if group == "gpuarray.providers" else []
    )
    monkeypatch.setitem(sys.modules, __name__, sys.modules[Fake.__module__])
    assert registry.open_device(Device("third:2")).number == 2


class Adapter:
    def __init__(self, name, software):
        self.name, self.software = name, software


class TestResolution:
    @pytest.fixture
    def adapters(self, monkeypatch):
        result = []

        class Module:
            @staticmethod
            def adapters():
                return result

        monkeypatch.setattr(registry, "_wgpu", lambda module: Module)
        monkeypatch.setattr(registry, "_may_have_gpu", lambda: True)
        return result

    def test_pinned_devices_are_themselves(self):
        assert registry.resolve(Device("wgpu:7")) is Device("wgpu:7")

    def test_hardware_is_taken(self, adapters):
        adapters += [Adapter("H100", False), Adapter("llvmpipe", True)]
        assert registry.resolution() == (Device("wgpu:0"), "H100 is a hardware GPU")
        assert registry.resolve(Device("auto")) is Device("wgpu:0")

    def test_software_is_taken_only_if_allowed(self, adapters):
        adapters += [Adapter("llvmpipe", True)]
        device, reason = registry.resolution()
        assert device == "cpu"
        assert "llvmpipe" in reason
        assert "software" in reason
        with config.using(software=True):
            assert registry.resolution()[0] == "wgpu:0"
        assert registry.resolution()[0] == "cpu"

    def test_no_adapter(self, adapters):
        assert registry.resolution() == (Device("cpu"), "no GPU was found")

    def test_machine_without_a_file_of_a_gpu(self, adapters, monkeypatch):
        monkeypatch.setattr(registry, "_may_have_gpu", lambda: False)
        adapters += [Adapter("H100", False)]
        assert registry.resolution() == (Device("cpu"), "no GPU was found: /dev has no file of one")
        with config.using(software=True):  # software devices have no files
            assert registry.resolution()[0] == "wgpu:0"

    def test_the_answer_is_kept(self, adapters):
        first = registry.resolution()
        adapters += [Adapter("H100", False)]
        assert registry.resolution() is first

    def test_named_by_the_configuration(self, adapters):
        with config.using(provider="wgpu"):
            assert registry.resolution() == (Device("wgpu:0"), "config.provider is 'wgpu'")
        with pytest.raises(ConfigurationError, match="no provider 'nothing'"), config.using(provider="nothing"):
            pytest.fail("accepted")


@pytest.mark.parametrize(
    ("platform", "files", "may_have"),
    [
        ("linux", ["null", "zero", "drip"], False),
        ("linux", ["null", "dri"], True),
        ("linux", ["nvidia0"], True),
        ("linux", ["dxg"], True),
        ("linux", None, True),
        ("darwin", ["null"], True),
        ("win32", None, True),
    ],
)
def test_files_of_gpus(platform, files, may_have, tmp_path, monkeypatch):
    folder = tmp_path if files is not None else tmp_path / "absent"
    for name in files or ():
        (tmp_path / name).touch()
    monkeypatch.setattr(registry.sys, "platform", platform)
    monkeypatch.setattr(registry, "Path", lambda name: folder)
    assert registry._may_have_gpu() is may_have


def test_without_the_package_wgpu():
    text = """
import sys
sys.modules["wgpu"] = None
from gpuarray.device import Device
from gpuarray.providers import registry
print([str(d) for d in registry.devices()], registry.resolution()[0])
try:
    registry.open_device(Device("wgpu"))
except Exception as error:
    print(type(error).__name__, error)
"""
    printed = run_python(text)
    assert printed.startswith("['cpu'] cpu\nDeviceError")
    assert "pip install wgpu" in printed


FORK = """
import os, sys, traceback
import numpy as np
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import ConfigurationError, DeviceError
from gpuarray.providers import registry

parent = registry.open_device(Device("wgpu"))
buffer = parent.allocate(400)
parent.write(buffer, np.arange(100, dtype=np.float32))
parent.read(buffer, np.empty(100, np.float32))
child = os.fork()
if child == 0:
    try:
        for call in (lambda: parent.read(buffer, np.empty(100, np.float32)), lambda: parent.allocate(4)):
            try:
                call()
                print("no error")
            except DeviceError as error:
                assert "fork" in str(error) and "spawn" in str(error), error
                print("inherited: DeviceError")
        try:
            registry.open_device(Device("wgpu"))
            print("no error")
        except DeviceError as error:
            assert "fork" in str(error) and "spawn" in str(error), error
            print("new: DeviceError")
        with config.using(software=True, provider="auto"):
            chosen, reason = registry.resolution()
        assert chosen == "cpu" and "fork" in reason, (chosen, reason)
        assert registry.opened() == [] and [str(d) for d in registry.devices()] == ["cpu"]
        del buffer, parent
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    {leave}
_, status = os.waitpid(child, 0)
received = np.empty(100, np.float32)
parent.read(buffer, received)
assert (received == np.arange(100)).all()
print("parent: works", status)
"""


@needs_fork
@pytest.mark.parametrize("leave", ["os._exit(0)", "sys.exit(0)"])
def test_fork(leave):
    printed = run_python(FORK.format(leave=leave)).splitlines()
    assert printed == [*["inherited: DeviceError"] * 2, "new: DeviceError", "parent: works 0"]


@needs_fork
def test_a_child_of_a_process_without_devices_opens_its_own():
    text = """
import os, sys
import numpy as np
from gpuarray.device import Device
from gpuarray.providers import registry
child = os.fork()
provider = registry.open_device(Device("wgpu"))
buffer = provider.allocate(4)
provider.write(buffer, np.array([7], np.int32))
received = np.zeros(1, np.int32)
provider.read(buffer, received)
assert received[0] == 7
if child == 0:
    sys.exit(0)
print(os.waitpid(child, 0)[1])
"""
    assert run_python(text) == "0\n"


@needs_fork
def test_fork_while_other_threads_use_the_device():
    text = """
import os, threading
import numpy as np
from gpuarray.device import Device
from gpuarray.providers import registry

parent = registry.open_device(Device("wgpu"))
stop = threading.Event()

def work():
    while not stop.is_set():
        buffer = parent.allocate(1 << 20)
        parent.read(buffer, np.empty(1 << 20, np.uint8))

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
statuses = []
for _ in range(5):
    child = os.fork()
    if child == 0:
        try:
            parent.synchronize()
        except RuntimeError:
            os._exit(3)
        os._exit(0)
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
for thread in threads:
    thread.join()
print(statuses)
"""
    assert run_python(text).strip() == "[3, 3, 3, 3, 3]"


def test_exit_with_everything_open():
    text = """
import numpy as np
from gpuarray.device import Device
from gpuarray.providers import registry
provider = registry.open_device(Device("wgpu"))
buffer = provider.allocate(1 << 20)
provider.write(buffer, np.zeros(1 << 20, np.uint8))
print("done")
"""
    assert run_python(text) == "done\n"


def test_real_device_opens_once():
    first = registry.open_device(Device("wgpu"))
    assert registry.open_device(Device("wgpu:0")) is first
    buffer = first.allocate(4)
    first.write(buffer, np.array([5], np.int32))
    registry.close_all()
    with pytest.raises(DeviceError, match="closed"):
        first.read(buffer, np.zeros(1, np.int32))
