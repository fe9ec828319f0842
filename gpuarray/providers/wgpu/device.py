"""Adapters: which GPUs there are, in which order, and what an opened one can do.

Invariant: adapters are enumerated once per process, so ``wgpu:N`` means the same adapter as long as the process
lives: those that match ``config.adapter`` first, then hardware before software, then by ``config.power_preference``.
An adapter that several graphics interfaces show is listed once, and none that allows less than kernels need. Called by
the registry (which adapters exist), by the provider when it opens one, and by ``python -m gpuarray``.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import wgpu

from gpuarray import dtypes
from gpuarray.adapter_profile import profile_of
from gpuarray.config import config
from gpuarray.device import Capabilities
from gpuarray.errors import DeviceError
from gpuarray.providers.wgpu import driver

#: Features that make kernels possible or faster; an adapter is opened with those of them that it has.
FEATURES: Final = (
    *("shader-f64", "shader-int64", "shader-f16", "subgroup", "subgroup-barrier"),
    *("timestamp-query", "timestamp-query-inside-passes"),
)
_INTEGERS: Final = "shader-int64"
#: What 64-bit floats need: functions of them work on their bits.
_DOUBLE: Final = frozenset(("shader-f64", _INTEGERS))
_FLOAT64: Final = frozenset((dtypes.float64, dtypes.complex128))
INSTALL_HINT: Final = (
    "install a GPU driver with Vulkan (Linux, Windows), Metal (macOS) or DirectX 12 (Windows); "
    "on Debian and Ubuntu, `apt install mesa-vulkan-drivers` has those for Intel and AMD and a software device; "
    "until then use device='cpu'"
)
FORKED: Final = (
    "a GPU cannot be used across fork(): this process was forked from one that had used it; start workers with "
    "multiprocessing's 'spawn' or 'forkserver' method, or use device='cpu' in them and hand them NumPy arrays"
)

#: What WebGPU asks of every adapter, as far as it concerns this package. Kernels need no more than the first four.
LEAST_LIMITS: Final[Mapping[str, int]] = {
    "max-compute-invocations-per-workgroup": 256,
    "max-compute-workgroup-size-x": 256,
    "max-compute-workgroup-storage-size": 16_384,
    "max-storage-buffers-per-shader-stage": 8,
    "max-storage-buffer-binding-size": 1 << 27,
    "max-buffer-size": 1 << 28,
    "max-uniform-buffer-binding-size": 1 << 16,
    "max-dynamic-uniform-buffers-per-pipeline-layout": 8,
    "max-compute-workgroups-per-dimension": 65_535,
    "min-storage-buffer-offset-alignment": 256,
    "min-uniform-buffer-offset-alignment": 256,
}
_NEEDED: Final = tuple(LEAST_LIMITS)[:4]

_BACKENDS: Final = ("Vulkan", "Metal", "D3D12")
_POWER: Final = {
    "high-performance": ("DiscreteGPU", "IntegratedGPU"),
    "low-power": ("IntegratedGPU", "DiscreteGPU"),
}
#: Vendors whose drivers do not choose how many members a subgroup has for each kernel: AMD, NVIDIA, Apple, Mesa's own.
_STEADY: Final = frozenset((0x1002, 0x10DE, 0x106B, 0x10005))
#: Offsets and sizes are 32-bit inside drivers, and windows are multiples of 4 bytes.
_BINDING_CEILING: Final = (1 << 31) - 4
#: The maximum number of buffers of a kernel in Metal, without the two that wgpu adds for parameters and array sizes.
_METAL_BUFFERS: Final = 31 - 2
#: DirectX 12 reserves memory for as many descriptors as are asked for.
_DESCRIPTORS: Final = 1_000_000
# Vulkan drivers keep threads and exit handlers that a forked child inherits by halves: with Mesa, a child that opens a
# device of its own works and then hangs when it exits, waiting for a thread that only its parent has.
_forked = False


@dataclass(frozen=True)
class Adapter:
    """One GPU, or one software device, as wgpu describes it."""

    handle: Any

    @property
    def name(self) -> str:
        """The adapter's name for people."""
        return str(self.handle.info["device"])

    @property
    def kind(self) -> str:
        """``"DiscreteGPU"``, ``"IntegratedGPU"``, ``"CPU"`` or ``"Unknown"``."""
        return str(self.handle.info["adapter_type"])

    @property
    def backend(self) -> str:
        """``"Vulkan"``, ``"Metal"``, ``"D3D12"`` or ``"OpenGL"``."""
        return str(self.handle.info["backend_type"])

    @property
    def software(self) -> bool:
        """Whether the "GPU" is a program on the CPU, such as llvmpipe."""
        return self.kind == "CPU"

    @property
    def features(self) -> frozenset[str]:
        """The elements of :data:`FEATURES` that the adapter has."""
        return frozenset(FEATURES) & frozenset(self.handle.features)

    @property
    def shortfall(self) -> str:
        """The limits that are too small for kernels, in a few words; empty if there are none."""
        limits = self.handle.limits
        shortfalls = [f"{name} is {limits[name]}, not {LEAST_LIMITS[name]}" for name in _NEEDED]
        return ", ".join(
            text for text, name in zip(shortfalls, _NEEDED, strict=True) if limits[name] < LEAST_LIMITS[name]
        )

    @property
    def words(self) -> str:
        """All that it says about itself, for searching."""
        info = self.handle.info
        return " ".join(str(info[key]) for key in ("vendor", "device", "description", "backend_type"))


def enumerate_handles() -> list[Any]:
    """Return wgpu's adapters, those of the primary interfaces only if this is the first use of wgpu in the process."""
    try:
        # OpenGL takes 0.3 s to look at, shows each adapter a second time, and lacks what kernels need
        from wgpu.backends.wgpu_native import extras

        extras.set_instance_extras(backends=["Primary"])
    except (ImportError, RuntimeError):
        pass  # another library made the instance already, or this is another backend: all interfaces are listed
    return list(wgpu.gpu.enumerate_adapters_sync())


@lru_cache(maxsize=1)
def adapters() -> tuple[Adapter, ...]:
    """Return the adapters that exist, in the order of their numbers.

    Raises
    ------
    DeviceError
        If ``config.adapter`` names none of them, or the parent of this forked process has used wgpu.
    """
    if _forked:
        raise DeviceError(FORKED)
    all_adapters = [Adapter(handle) for handle in enumerate_handles()]
    usable = [a for a in all_adapters if a.backend in _BACKENDS and not a.shortfall]
    usable.sort(key=lambda a: _BACKENDS.index(a.backend))
    unique: dict[tuple[str, int, int], Adapter] = {}
    for position, adapter in enumerate(usable):
        info = adapter.handle.info
        # two equal cards differ by nothing but their position within one interface
        copies = sum(a.name == adapter.name and a.backend == adapter.backend for a in usable[:position])
        unique.setdefault((adapter.name, info["device_id"], copies), adapter)
    name_part = config.adapter.lower()
    if name_part and unique and not any(name_part in a.words.lower() for a in unique.values()):
        names = ", ".join(repr(a.name) for a in unique.values())
        raise DeviceError(
            f"config.adapter is {config.adapter!r}, and no adapter has that in its name; there are {names}"
        )
    order = _POWER[config.power_preference]

    def key(adapter: Adapter) -> tuple[bool, bool, int]:
        preference = order.index(adapter.kind) if adapter.kind in order else len(order)
        return name_part not in adapter.words.lower(), adapter.software, preference

    return tuple(sorted(unique.values(), key=key))


def after_fork() -> None:
    """Leave the parent's adapters alone, and refuse from now on: called in a forked child."""
    global _forked
    if adapters.cache_info().currsize:
        driver.disown(adapter.handle for adapter in adapters())
        adapters.cache_clear()
        _forked = True


def select(number: int) -> Adapter:
    """Return adapter ``number``.

    Raises
    ------
    DeviceError
        If there is no such adapter; the message names those that exist, or what to install.
    """
    existing = adapters()
    if not existing:
        why = "; ".join([f"no GPU was found for the device 'wgpu:{number}'", *_too_small()])
        raise DeviceError(f"{why}; {INSTALL_HINT}")
    if number >= len(existing):
        names = ", ".join(f"'wgpu:{i}' ({adapter.name})" for i, adapter in enumerate(existing))
        raise DeviceError(f"there is no device 'wgpu:{number}'; there are {names}")
    return existing[number]


def open_adapter(adapter: Adapter, without: Collection[str], *, portable: bool) -> Any:
    """Return a new ``GPUDevice`` with all limits and all useful features of its adapter.

    Parameters
    ----------
    adapter : Adapter
        The adapter.
    without : collection of str
        Those of :data:`FEATURES` that are not wanted.
    portable : bool
        Whether none of them is, and no more than :data:`LEAST_LIMITS`.

    Raises
    ------
    DeviceError
        If the driver refuses.
    """
    limits = {**adapter.handle.limits}
    if portable:
        for name, least in LEAST_LIMITS.items():
            limits[name] = min(limits[name], least) if name.startswith("max") else max(limits[name], least)
    features = () if portable else sorted(adapter.features.difference(without))
    limits["max-non-sampler-bindings"] = min(limits.get("max-non-sampler-bindings", _DESCRIPTORS), _DESCRIPTORS)
    try:
        return adapter.handle.request_device_sync(label="gpuarray", required_features=features, required_limits=limits)
    except (RuntimeError, wgpu.GPUError) as error:
        raise DeviceError(f"the adapter {adapter.name!r} could not be opened: {error}; {INSTALL_HINT}") from error


def capabilities(adapter: Adapter, device: Any) -> Capabilities:
    """Return the capabilities of an opened device."""
    info, limits, features = adapter.handle.info, device.limits, frozenset(device.features)
    missing = frozenset() if features >= _DOUBLE else _FLOAT64
    buffer_limit = limits["max-buffer-size"] // 16 * 16
    bindings = limits["max-storage-buffers-per-shader-stage"]
    return Capabilities(
        adapter=adapter.name,
        vendor=str(info["vendor"]),
        backend=adapter.backend,
        kind=adapter.kind,
        driver=str(info["description"]),
        dtypes=frozenset(dtypes.ALL) - missing,
        native_int64=_INTEGERS in features,
        binding_limit=min(limits["max-storage-buffer-binding-size"] // 4 * 4, _BINDING_CEILING, buffer_limit),
        buffer_limit=buffer_limit,
        storage_bindings=min(bindings, _METAL_BUFFERS) if adapter.backend == "Metal" else bindings,
        profile=profile_of(adapter.kind),
        workgroup_limit=limits["max-compute-workgroups-per-dimension"],
        workgroup_memory=limits["max-compute-workgroup-storage-size"],
        workgroup_size=limits["max-compute-invocations-per-workgroup"],
        features=features,
        limits=tuple(sorted(limits.items())),
    )


def has_steady_subgroups(adapter: Adapter, device: Any) -> bool:
    """Whether an opened device has subgroups, and all its kernels find the same number of members in them."""
    return "subgroup" in device.features and adapter.handle.info["vendor_id"] in _STEADY


def without_float64(capabilities: Capabilities) -> Capabilities:
    """Return the capabilities of a device whose 64-bit floats cannot be used."""
    return replace(capabilities, dtypes=capabilities.dtypes - _FLOAT64)


def without_subnormals(capabilities: Capabilities) -> Capabilities:
    """Return the capabilities of a device whose float32 arithmetic takes subnormal numbers for 0."""
    return replace(capabilities, subnormal_float32=False)


def adapter_report() -> str:
    """Return a paragraph for each adapter, or what to install if there is none; opens no device."""
    existing = adapters()
    if not existing:
        return "; ".join(["no adapter", *_too_small(), INSTALL_HINT])
    lines = _too_small()
    for number, adapter in enumerate(existing):
        info, limits, features = adapter.handle.info, adapter.handle.limits, adapter.features
        absent = [feature for feature in FEATURES if feature not in features]
        software = ", software" if adapter.software else ""
        lines += [
            f"wgpu:{number}  {adapter.name} ({adapter.kind}{software}, {adapter.backend}; {info['description']})",
            f"    features: {', '.join(sorted(features)) or 'none'}; missing: {', '.join(absent) or 'none'}",
            *(f"    {text}" for text in _what_follows(adapter)),
            f"    largest buffer {limits['max-buffer-size']:,} bytes, binding "
            f"{limits['max-storage-buffer-binding-size']:,}; workgroup memory "
            f"{limits['max-compute-workgroup-storage-size']:,} bytes, invocations "
            f"{limits['max-compute-invocations-per-workgroup']:,}; storage buffers of a kernel "
            f"{limits['max-storage-buffers-per-shader-stage']:,}",
        ]
    return "\n".join(lines)


def _too_small() -> list[str]:
    """Return of each adapter that is left out, since kernels need more than it allows, what that is."""
    adapters = [Adapter(handle) for handle in enumerate_handles()]
    return [f"{a.name} cannot be used: {a.shortfall}" for a in adapters if a.backend in _BACKENDS and a.shortfall]


def _what_follows(adapter: Adapter) -> Iterator[str]:
    """Yield what an adapter's features, and those that it lacks, mean for programs."""
    features = adapter.features
    integers = "native" if _INTEGERS in features else "as pairs of 32-bit words, exact"
    floats = "native"
    if not features >= _DOUBLE:
        floats = "on the host, counted as fallbacks; default_float='float32' makes arrays that stay here"
    yield f"64-bit integers: {integers}; 64-bit floats: {floats}"
    if not has_steady_subgroups(adapter, adapter.handle):
        why = "their size changes from kernel to kernel" if "subgroup" in features else "there are none"
        yield f"subgroups: not used, as {why}: folds, scans and sorts hand values over in workgroup memory"
    if "timestamp-query" not in features:
        yield "clock: none: profiles time kernels by the host's"
