"""Devices and what they can do: the nouns that all layers share.

A :class:`Device` is a name: ``"auto"`` (each evaluation goes where it runs best), or a pinned place, ``"cpu"`` or
``"wgpu:0"``. :class:`Capabilities` is what an opened device tells about itself.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from gpuarray import dtypes
from gpuarray.adapter_profile import AdapterProfile
from gpuarray.dtypes import DType
from gpuarray.errors import DeviceError


class Device:
    """The place where arrays live; equal by name, and equal to its name as a string.

    Parameters
    ----------
    name : str
        ``"auto"``, or a provider's name with an optional number: ``"cpu"``, ``"wgpu"``, ``"wgpu:1"``.

    Attributes
    ----------
    kind : str
        The provider's name: ``"auto"``, ``"cpu"``, ``"wgpu"``, ...
    number : int
        Which of the provider's devices.
    """

    __slots__ = ("kind", "name", "number")
    _known: "ClassVar[dict[str, Device]]" = {}  # noqa: RUF012  # ruff does not see ClassVar in a string

    name: str
    kind: str
    number: int

    def __new__(cls, name: "str | Device") -> "Device":
        """Return the one object that stands for ``name``."""
        if isinstance(name, Device):
            return name
        if not isinstance(name, str):
            raise TypeError(f"a device is named by a string such as 'auto', 'cpu' or 'wgpu:0', not {name!r}")
        full = "wgpu:0" if name == "wgpu" else name
        found = cls._known.get(full)
        if found is None:
            kind, _, number = full.partition(":")
            if not kind.isidentifier() or (number and not number.isdigit()):
                raise DeviceError(f"no device is named {name!r}; accepted are 'auto', 'cpu', 'wgpu' and 'wgpu:N'")
            made = super().__new__(cls)
            made.name, made.kind, made.number = full, kind, int(number or 0)
            found = cls._known.setdefault(full, made)
        return found

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
    """What an opened device can do; sizes in bytes.

    Attributes
    ----------
    adapter, vendor, backend, kind, driver : str
        The adapter's own words: its name, its maker, "Vulkan" or "Metal" or ..., "DiscreteGPU" or "CPU" or ..., and
        the driver's version.
    dtypes : frozenset of dtype
        What steps may compute with.
    native_int64 : bool
        Whether kernels have 64-bit integers; without, they compute them as pairs of 32-bit words.
    subnormal_float32 : bool
        Whether arithmetic keeps subnormal float32 numbers; without, elementwise kernels do so by integers.
    binding_limit, buffer_limit : int
        Largest window that one binding can show; largest buffer.
    storage_bindings : int
        How many storage buffers one kernel can bind.
    workgroup_limit : int
        Workgroups along one dimension.
    workgroup_memory : int
        Memory that a workgroup may share.
    workgroup_size : int
        Most invocations of a workgroup.
    subgroup_size : int
        Invocations of a subgroup; 0 where kernels have none, or none of a steady size.
    profile : AdapterProfile
        What kernels and plans are tuned by: the adapter's speeds, measured or derived from its type.
    """

    adapter: str
    vendor: str = ""
    backend: str = ""
    kind: str = ""
    driver: str = ""
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
        """What records of a device's driver are about."""
        return f"{self.adapter} / {self.backend} / {self.driver}"
