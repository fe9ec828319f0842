"""The inspection functions of the standard."""

from typing import Any

import numpy as np

from gpuarray.array import default_device, default_dtype
from gpuarray.device import Device
from gpuarray.dtypes import ALL, COMPLEX, FLOATING, SIGNED, UNSIGNED, DType, bool_
from gpuarray.providers import registry

__all__ = ["__array_api_version__", "__array_namespace_info__"]

__array_api_version__ = "2025.12"

_KINDS: dict[str, tuple[DType, ...]] = {
    "bool": (bool_,),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": (*SIGNED, *UNSIGNED),
    "real floating": FLOATING,
    "complex floating": COMPLEX,
    "numeric": (*SIGNED, *UNSIGNED, *FLOATING, *COMPLEX),
}
#: The standard has no float16.
_BEYOND = ("float16",)


class NamespaceInfo:
    """Result of ``__array_namespace_info__``."""

    def capabilities(self) -> dict[str, Any]:
        """Return the optional capabilities of the standard: boolean indexing, data-dependent shapes, up to 64 axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Return the default device."""
        return default_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """Return the default dtypes by kind."""
        return {
            "real floating": default_dtype(float),
            "complex floating": default_dtype(complex),
            "integral": default_dtype(int),
            "indexing": np.dtype(np.int64),
        }

    def devices(self) -> tuple[Device, ...]:
        """Return the devices on which arrays can be created."""
        return (Device("auto"), *registry.devices())

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """Return the dtypes of the standard with which a device computes, by name; all or those of a kind.

        Parameters
        ----------
        device : Device or str, optional
            The device; the default device if None. It can store other dtypes, whose operations fall back to the host.
        kind : str or tuple of str, optional
            Kinds, as in :func:`isdtype`.

        Raises
        ------
        ValueError
            If a kind is unknown.
        DeviceError
            If the device does not exist.
        """
        asked = registry.wanted(default_device() if device is None else Device(device))
        known = registry.open_device(asked).capabilities.dtypes
        if kind is None:
            chosen: tuple[DType, ...] = ALL
        else:
            kinds = kind if isinstance(kind, tuple) else (kind,)
            unknown = [k for k in kinds if k not in _KINDS]
            if unknown:
                raise ValueError(f"{unknown[0]!r} is not a kind of dtypes; use one of {', '.join(map(repr, _KINDS))}")
            chosen = tuple(dtype for k in kinds for dtype in _KINDS[k])
        return {dtype.name: dtype for dtype in chosen if dtype in known and dtype.name not in _BEYOND}


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807  # the standard's name
    """Return an object that describes the capabilities of the namespace."""
    return NamespaceInfo()
