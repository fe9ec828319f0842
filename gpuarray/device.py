"""Devices and their capabilities, which all layers use.

A :class:`Device` is a name: ``"auto"``, whose steps are placed by estimated time, or a device such as ``"cpu"`` or
``"wgpu:0"``. :class:`Capabilities` describes an opened device.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from gpuarray import dtypes
from gpuarray.adapter_profile import AdapterProfile
from gpuarray.dtypes import DType
from gpuarray.errors import DeviceError


class Device:
    """The device of an array. Devices compare equal by name, and to their name as a string.

    Parameters
    ----------
    name : str
        ``"auto"``, or a provider's name with an optional number: ``"cpu"``, ``"wgpu"``, ``"wgpu:1"``.

    Attributes
    ----------
    kind : str
        The name of the provider: ``"auto"``, ``"cpu"``, ``"wgpu"``, ...
    number : int
        The index of the device among those of the provider.
    """

    __slots__ = ("kind", "name", "number")
    _known: "ClassVar[dict[str, Device]]" = {}  # noqa: RUF012  # ruff does not see ClassVar in a string

    name: str
    kind: str
    number: int

    def __new__(cls, name: "str | Device") -> "Device":
        """Return the unique object for ``name``."""
        if isinstance(name, Device):
            return name
        if not isinstance(name, str):
            raise TypeError(f"a device must be a string such as 'auto', 'cpu' or 'wgpu:0', not {name!r}")
        full = "wgpu:0" if name == "wgpu" else name
        known = cls._known.get(full)
        if known is None:
            kind, _, number = full.partition(":")
            if not kind.isidentifier() or (number and not number.isdigit()):
                raise DeviceError(f"there is no device {name!r}; expected 'auto', 'cpu', 'wgpu' or 'wgpu:N'")
            device = super().__new__(cls)
            device.name, device.kind, device.number = full, kind, int(number or 0)
            known = cls._known.setdefault(full, device)
        return known

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.name == ("wgpu:0" if other == "wgpu" else other)
        return self is other

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Device({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return Device, (self.name,)


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """Capabilities of an opened device. Sizes are in bytes.

    Attributes
    ----------
    adapter, vendor, backend, kind, driver : str
        Strings that the adapter reports: its name and vendor, the backend ("Vulkan", "Metal", ...), its type
        ("DiscreteGPU", "CPU", ...), and the version of the driver.
    compiler : str
        Who compiles kernels: ``"naga"`` (wgpu, Firefox) or ``"tint"`` (Chromium, Dawn).
    dtypes : frozenset of dtype
        Dtypes that steps can compute with.
    native_int64 : bool
        Whether kernels have 64-bit integers. If False, these are pairs of 32-bit words.
    subnormal_float32 : bool
        Whether arithmetic keeps subnormal float32 numbers. If False, elementwise kernels use integers for them.
    binding_limit, buffer_limit : int
        Maximum size of a storage binding, and of a buffer.
    storage_bindings : int
        Maximum number of storage buffers of a kernel.
    workgroup_limit : int
        Maximum number of workgroups along one dimension.
    workgroup_memory : int
        Size of workgroup memory.
    workgroup_size : int
        Maximum number of invocations of a workgroup.
    subgroup_size : int
        Number of invocations of a subgroup; 0 if there are no subgroups of a fixed size.
    profile : AdapterProfile
        Properties that kernels and plans are tuned by: rates of the adapter, measured or derived from its type.
    """

    adapter: str
    vendor: str = ""
    backend: str = ""
    kind: str = ""
    driver: str = ""
    compiler: str = "naga"
    dtypes: frozenset[DType] = frozenset(dtypes.ALL)
    native_int64: bool = True
    subnormal_float32: bool = True
    binding_limit: int = 1 << 62
    buffer_limit: int = 1 << 62
    storage_bindings: int = 1 << 20
    workgroup_limit: int = 65535
    workgroup_memory: int = 16384
    workgroup_size: int = 256
    subgroup_size: int = 0
    profile: AdapterProfile = field(default_factory=AdapterProfile)
    features: frozenset[str] = frozenset()
    limits: tuple[tuple[str, int], ...] = field(default=())

    @property
    def is_software(self) -> bool:
        """Whether kernels run on the processor's cores."""
        return self.kind == "CPU"

    @property
    def driver_name(self) -> str:
        """The key of records about the driver."""
        return f"{self.adapter} / {self.backend} / {self.driver}"
