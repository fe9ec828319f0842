"""Registry of providers, their devices, and the provider object of each open device.

Invariant: a device has at most one live provider object in a process, made at first use; nothing is imported before
it is needed, so importing this module imports neither wgpu nor a provider. While a program has done too little work to
justify opening a GPU, ``"auto"`` is *open*, and the host computes. A forked child forgets all opened
providers. If its parent had used a GPU, that GPU raises a DeviceError there, inherited buffers and new ones alike,
and ``"auto"`` means the CPU. Called by the runtime and by diagnostics.
"""

import atexit
import importlib
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from gpuarray import interrupts
from gpuarray.config import add_check, config
from gpuarray.device import Device
from gpuarray.errors import DeviceError
from gpuarray.providers.base import Provider
from gpuarray.settings import Config

Factory: TypeAlias = Callable[[int], Provider]

_HOST: Final = Device("cpu")

#: Names of GPUs in other packages: a message then says which name to use here.
_GPU_NAMES: Final = frozenset(
    ("cuda", "dml", "gpu", "hip", "metal", "mps", "opencl", "rocm", "vulkan", "webgpu", "xpu")
)

#: Other packages announce a factory under their provider's name in this entry-point group.
ENTRY_POINTS: Final = "gpuarray.providers"


@dataclass(frozen=True)
class _Registration:
    factory: Factory
    count: Callable[[], int] | None


def _one() -> int:
    return 1


def _open_cpu(number: int) -> Provider:
    if number:
        raise DeviceError(f"there is no device 'cpu:{number}'; the host is one device, 'cpu'")
    module: Any = importlib.import_module("gpuarray.providers.inprocess.provider")
    provider: Provider = module.InProcessProvider(_HOST)
    return provider


def _wgpu(module: str) -> Any:
    try:
        return importlib.import_module(f"gpuarray.providers.wgpu.{module}")
    except (ImportError, OSError) as error:
        # wgpu-py raises OSError where its native library does not load
        if isinstance(error, ImportError) and (error.name or "").startswith("gpuarray"):
            raise
        raise DeviceError(
            f"the device 'wgpu' needs the package wgpu, which cannot be imported ({error}); "
            "install it with `pip install wgpu`, or use device='cpu'"
        ) from error


def _open_wgpu(number: int) -> Provider:
    provider: Provider = _wgpu("provider").WgpuProvider(number)
    return provider


def _count_wgpu() -> int:
    return len(_wgpu("device").adapters())


#: The files of GPUs in ``/dev``, but for their numbers: those of the kernel's own drivers, of NVIDIA, of Windows around
#: Linux, and of mobile devices.
_GPU_FILES: Final = re.compile(r"(dri|kfd|nvidia|nvhost|nvgpu|dxg|kgsl|mali|pvr|galcore)([-_\d].*)?")

_lock = threading.RLock()
_registered: dict[str, _Registration] = {
    "cpu": _Registration(_open_cpu, _one),
    "wgpu": _Registration(_open_wgpu, _count_wgpu),
}
_opened: dict[tuple[str, int], Provider] = {}
_begun: Final[set[str]] = set()
"""Kinds of devices of which one is being opened."""
_resolved: dict[tuple[str, bool], tuple[Device, str]] = {}
_entry_points_read = False


def register(name: str, factory: Factory, count: Callable[[], int] | None = None) -> None:
    """Register a provider.

    Parameters
    ----------
    name : str
        The name of its devices, ``name`` or ``name:N``; replaces an earlier registration.
    factory : callable
        Called with a device's number; returns a :class:`~gpuarray.providers.base.Provider` or raises DeviceError.
    count : callable, optional
        Returns how many devices there are, without opening one, or raises DeviceError. If not given, one is listed,
        and the factory says whether there are others.
    """
    if not name.isidentifier() or name == "auto":
        raise ValueError(f"a provider cannot be named {name!r}; use an identifier other than 'auto'")
    with _lock:
        _registered[name] = _Registration(factory, count)
        _resolved.clear()


def _providers() -> dict[str, _Registration]:
    """Return all registrations, those of other packages included."""
    global _entry_points_read
    with _lock:
        if not _entry_points_read:
            _entry_points_read = True
            # the module takes as long to import as a tenth of this package, and few programs need it
            metadata = importlib.import_module("importlib.metadata")
            for point in metadata.entry_points(group=ENTRY_POINTS):
                _registered.setdefault(point.name, _Registration(_lazily(point), None))
        return _registered


def _lazily(point: Any) -> Factory:
    def factory(number: int) -> Provider:
        provider: Provider = point.load()(number)
        return provider

    return factory


def _registration(name: str) -> _Registration:
    registration = _registered.get(name) or _providers().get(name)
    if registration is None:
        raise DeviceError(_unknown(name))
    return registration


def _unknown(name: str) -> str:
    hint = "; a GPU of any vendor is 'wgpu'" if name.lower() in _GPU_NAMES else ""
    return f"there is no provider {name!r}; there are {', '.join(map(repr, sorted(_providers())))}{hint}"


def _check_kind(name: str) -> str:
    """Return why there is no provider of a device; empty if there is one."""
    try:
        kind = Device(name).kind
    except DeviceError as error:
        return str(error)
    return "" if kind == "auto" or kind in _registered or kind in _providers() else _unknown(kind)


def _check_device(name: str) -> str:
    """Return why the settings ``device`` and ``provider`` do not accept a name; empty if they do.

    Devices are counted only for a number that is not 0: to look for GPUs may take a second.
    """
    if reason := _check_kind(name):
        return reason
    device = Device(name)
    count = _registration(device.kind).count if device.number else None
    if count is None:
        return ""
    try:
        names = [f"'{device.kind}:{number}'" for number in range(count())]
    except DeviceError as error:
        return str(error)
    if device.number < len(names):
        return ""
    return f"there is no device {device.name!r}; there are {', '.join(names) or 'none of this kind'}"


def open_device(device: Device) -> Provider:
    """Return the provider of a device, opened at its first use.

    Parameters
    ----------
    device : Device
        Any device; ``"auto"`` is resolved first, and is the host while it is open.

    Raises
    ------
    DeviceError
        If there is no such device, naming those that exist, or if it cannot be opened.
    """
    if device.name == "auto":  # without a call where it is known, as evaluations come here
        settings = config.current
        known = _resolved.get(settings.automatic)
        device = known[0] if known is not None else resolve(device, settings)
    key = device.kind, device.number
    opened = _opened.get(key)
    if opened is not None and getattr(opened, "alive", True):
        return opened
    with _quiet(), _lock:
        opened = _opened.get(key)
        if opened is None or not getattr(opened, "alive", True):
            with _beginning(device.kind):
                opened = _registration(device.kind).factory(device.number)
            _opened[key] = opened
            if device.kind != _HOST.kind:
                config.note_gpu()
        return opened


def _quiet() -> AbstractContextManager[None]:
    """Return a context in which signal handlers wait, as drivers cannot be called in the middle of an opening."""
    return interrupts.deferral if interrupts.has_handlers() else nullcontext()


@contextmanager
def _beginning(kind: str) -> Iterator[None]:
    """Refuse to open a device, or to look for some, in the middle of doing so; the lock is held.

    Raises
    ------
    DeviceError
        If a finalizer does it, or the handler of an unusual signal. Drivers would wait for a lock that the thread has.
    """
    if kind in _begun:
        raise DeviceError(
            f"the device {kind!r} is being opened by the code that this signal handler, finalizer or callback "
            "interrupted; set a flag in it, and use arrays afterwards"
        )
    try:
        _begun.add(kind)
        yield
    finally:
        _begun.discard(kind)


def resolve(device: Device, settings: Config | None = None) -> Device:
    """Return the pinned device for ``device``: itself, or for ``"auto"`` the one that ``config.provider`` selects.

    The settings are the given ones, or the current ones. While ``"auto"`` is open, that is the host.
    """
    if device.name != "auto":
        return device
    return _HOST if is_open(settings) else resolution(settings)[0]


def is_open(settings: Config | None = None) -> bool:
    """Whether the device ``"auto"`` is not decided yet, because the program has not needed a GPU."""
    settings = settings or config.current
    return settings.is_open and settings.automatic not in _resolved


def want_device() -> None:
    """Search for a GPU when ``"auto"`` is used next."""
    config.note_gpu()


def wanted(device: Device) -> Device:
    """Return an explicitly requested device; for ``"auto"`` the choice is made now."""
    return device if device.name != "auto" else resolution()[0]


def resolution(settings: Config | None = None) -> tuple[Device, str]:
    """Return the device that ``"auto"`` means under settings, by default the current ones, and the reason."""
    settings = settings or config.current
    automatic = settings.automatic
    known = _resolved.get(automatic)
    if known is None:
        with _quiet(), _lock, _beginning("wgpu"):
            known = _resolved.setdefault(automatic, _resolve(*automatic))
            if known[0].kind == "cpu":
                config.note_host(automatic)
            else:
                config.note_gpu()
    return known


def _may_have_gpu() -> bool:
    """Whether there may be a hardware GPU: drivers of Linux have a file for each, by which programs reach it."""
    try:
        return sys.platform != "linux" or any(_GPU_FILES.fullmatch(file.name) for file in Path("/dev").iterdir())
    except OSError:
        return True


def _resolve(provider: str, software: bool) -> tuple[Device, str]:
    if provider != "auto":
        chosen = Device(provider)
        _registration(chosen.kind)
        return chosen, f"config.provider is {provider!r}"
    if not software and not _may_have_gpu():
        return _HOST, "no GPU was found: /dev has no file of one"
    try:
        adapters = _wgpu("device").adapters()
    except DeviceError as error:
        return _HOST, f"no GPU can be used: {error}"
    if not adapters:
        return _HOST, "no GPU was found"
    for number, adapter in enumerate(adapters):
        if not adapter.software:
            return Device(f"wgpu:{number}"), f"{adapter.name} is a hardware GPU"
    if software:
        return Device("wgpu:0"), f"{adapters[0].name} is a software device, and config.software allows it"
    return _HOST, f"the only GPU device, {adapters[0].name}, is software, which is slower than 'cpu'"


def devices() -> list[Device]:
    """Return the pinned devices that exist, without opening them: ``cpu``, ``wgpu:0``, ..."""
    return [
        Device(name if name == "cpu" else f"{name}:{number}")
        for name, registration in sorted(_providers().items(), key=lambda item: (item[0] != "cpu", item[0]))
        for number in range(_listed(registration))
    ]


def _listed(registration: _Registration) -> int:
    """Return how many devices of a provider are listed."""
    try:
        return 1 if registration.count is None else registration.count()
    except DeviceError:
        return 0


def opened() -> list[Provider]:
    """Return the providers of the devices that are open."""
    with _lock:
        return list(_opened.values())


def close_all() -> None:
    """Close all devices; a device that is used again is opened anew. Called when Python exits."""
    with _lock:
        closing = list(_opened.values())
        _opened.clear()
    for provider in closing:
        provider.close()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()  # another thread of the parent may hold the old one for ever
    for provider in _opened.values():
        leave = getattr(provider, "after_fork", None)
        if leave is not None:
            leave()
    _opened.clear()
    _begun.clear()
    _resolved.clear()
    if "gpuarray.providers.wgpu.device" in sys.modules:
        sys.modules["gpuarray.providers.wgpu.device"].after_fork()


add_check("device", _check_device, _check_kind)
add_check("provider", _check_device, _check_kind)
atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
if not _may_have_gpu():  # what "auto" means need not wait until the program has computed for long
    resolution(Config(provider="auto", software=False))
