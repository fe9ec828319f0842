"""What the namespace can do: the standard's inspection functions."""

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
    """What ``__array_namespace_info__`` returns."""

    def capabilities(self) -> dict[str, Any]:
        """Return what the standard leaves open: boolean indexing and data-dependent shapes work; up to 64 axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Return the device of arrays for which none is given."""
        return default_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """Return the dtypes of arrays for which none is given, by what they hold."""
        return {
            "real floating": default_dtype(float),
            "complex floating": default_dtype(complex),
            "integral": default_dtype(int),
            "indexing": np.dtype(np.int64),
        }

    def devices(self) -> tuple[Device, ...]:
        """Return the devices that arrays can be made on."""
        return (Device("auto"), *registry.devices())

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """Return the dtypes of the standard that a device computes with, by name, all or those of a kind.

        Parameters
        ----------
        device : Device or str, optional
            Which device, the default one if not given. Other dtypes can be held too; operations on them fall back.
        kind : str or tuple of str, optional
            Kinds under the names of :func:`isdtype`.

        Raises
        ------
        ValueError
            If there is no such kind.
        DeviceError
            If there is no such device.
        """
        known = registry.open_device(default_device() if device is None else Device(device)).capabilities.dtypes
        if kind is None:
            chosen: tuple[DType, ...] = ALL
        else:
            kinds = kind if isinstance(kind, tuple) else (kind,)
            unknown = [k for k in kinds if k not in _KINDS]
            if unknown:
                raise ValueError(
                    f"there is no kind of dtypes {unknown[0]!r}; accepted are {', '.join(map(repr, _KINDS))}"
                )
            chosen = tuple(dtype for k in kinds for dtype in _KINDS[k])
        return {dtype.name: dtype for dtype in chosen if dtype in known and dtype.name not in _BEYOND}


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807  # the standard's name
    """Return an object that tells what the namespace can do."""
    return NamespaceInfo()
