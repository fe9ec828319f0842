"""The report: versions, adapters, the self-test's findings, the provider in use and why, settings, memory, events.

Bug reports start with it, so a missing or broken part must not make it fail: a section that cannot be determined
contains the reason instead.
"""

import importlib
import json
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final

from gpuarray.array.compiled import IS_COMPILED
from gpuarray.config import config
from gpuarray.providers import registry
from gpuarray.runtime import plans, telemetry
from gpuarray.runtime.history import placements
from gpuarray.runtime.placement import auto, trials
from gpuarray.settings import Config

DISTRIBUTIONS: Final = ("gpuarray-xp", "numpy", "wgpu", "platformdirs")


#: What a setting's entry has: it stands in one line.
_SETTING: Final = {"value", "source"}


class Report(dict[str, Any]):
    """A report: a dict of sections with JSON-compatible values. ``str`` returns readable text."""

    def __str__(self) -> str:
        return "\n\n".join(f"{_title(name)}\n" + "\n".join(_lines(values)) for name, values in self.items())

    def __repr__(self) -> str:
        return str(self)

    def json(self) -> str:
        """Return the report as JSON."""
        return json.dumps(self, indent=1)


def report() -> Report:
    """Return a report on the state of this package, for users and for bug reports.

    Returns
    -------
    Report
        A dict of sections, whose ``str`` is readable: ``versions``, ``adapters``, ``self_test``, ``auto`` (the device
        it resolves to, and why), ``devices`` (the open ones, with features and limits), ``settings`` (each with
        its value and the source of the value), ``calibration``, ``caches``, ``memory``, ``events`` (as
        :func:`gpuarray.stats`),
        ``fallbacks`` and ``transfers`` to the host, the source ``lines`` that recorded them, and ``decisions``.
    """
    return _report({**_ENVIRONMENT, **_STATE})


def environment() -> Report:
    """Return the part of the report that does not depend on the program."""
    return _report(_ENVIRONMENT)


def _report(sections: Mapping[str, Callable[[], Any]]) -> Report:
    return Report({name: _values_or_reason(section) for name, section in sections.items()})


def _values_or_reason(section: Callable[[], Any]) -> Any:
    """Return the values of a section, or the reason why they cannot be determined."""
    try:
        return section()
    except Exception as error:  # a broken driver may raise anything, and the other sections still matter
        return f"not available: {type(error).__name__}: {error}"


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _lines(values: Any, indent: int = 2) -> list[str]:
    """Return values as readable lines; nested mappings are indented."""
    pad = " " * indent
    if isinstance(values, Mapping):
        width = max((len(str(name)) for name, value in values.items() if not _is_nested(value)), default=0) + 2
        lines = []
        for name, value in values.items():
            if isinstance(value, Mapping) and value.keys() == _SETTING:
                lines.append(f"{pad}{name!s:{width}}{_text(value['value'])} ({value['source']})")
            elif isinstance(value, Mapping) and value:
                lines += [f"{pad}{name}", *_lines(value, indent + 2)]
            else:
                lines.append(f"{pad}{name!s:{width}}{_text(value)}")
        return lines or [f"{pad}none"]
    if isinstance(values, list):
        return [f"{pad}{value}" for value in values] or [f"{pad}none"]
    return [f"{pad}{line}" for line in str(values).splitlines()] or [f"{pad}none"]


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() != _SETTING


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value) if value else "none"


# -- what does not depend on the program -------------------------------------------------------------------------------


def _versions() -> dict[str, str]:
    return {
        "python": f"{platform.python_version()} ({platform.python_implementation()}, {sys.executable})",
        **{name: _version(name) for name in DISTRIBUTIONS},
        "platform": platform.platform(),
        "operators": "compiled" if IS_COMPILED else "in Python: small arrays take longer; install with a C compiler",
    }


def _version(distribution: str) -> str:
    # the module takes as long to import as a tenth of this package
    metadata = importlib.import_module("importlib.metadata")
    try:
        return str(metadata.version(distribution))
    except metadata.PackageNotFoundError:
        return "not installed as a distribution"


def _adapters() -> list[str]:
    # Imported here because it imports wgpu, whose native library may be absent or broken.
    from gpuarray.providers.wgpu import device

    return device.adapter_report().splitlines()


def _selftest() -> dict[str, list[str]]:
    # Imported here because importing the package must not import wgpu.
    from gpuarray.providers.wgpu.selftest import MEANINGS

    problems = {}
    for device in registry.devices():
        if device.kind == "wgpu":
            facts = registry.open_device(device).facts  # type: ignore[attr-defined]  # of the wgpu provider alone
            problems[device.name] = [MEANINGS[name][0 if holds else 1] for name, holds in facts.items()]
    return problems


def _auto() -> dict[str, str]:
    device, reason = registry.resolution()
    description = {"device": device.name, "reason": reason}
    return description if device.kind == "cpu" else description | {"mid-sized arrays": trials.describe()}


def _settings() -> dict[str, dict[str, Any]]:
    return {
        field.name: {"value": getattr(config, field.name), "source": config.source_of(field.name)}
        for field in fields(Config)
    }


def _folder() -> dict[str, Any]:
    folder = config.current.cache_folder()
    return {"folder": str(folder), "exists": folder.exists()}


# -- what does ---------------------------------------------------------------------------------------------------------


def _devices() -> dict[str, dict[str, Any]]:
    devices = {}
    for provider in registry.opened():
        limits = provider.capabilities
        devices[provider.device.name] = {
            "adapter": limits.adapter,
            "driver": limits.driver,
            "kind": limits.kind,
            "backend": limits.backend,
            "dtypes": sorted(dtype.name for dtype in limits.dtypes),
            "features": sorted(limits.features),
            **{f"limit {name}": value for name, value in limits.limits},
        }
    return devices


def _calibration() -> dict[str, dict[str, Any]]:
    """Return the first rates of each calibrated device, in microseconds."""
    return {
        name: {
            "submission": round(rates.use / 1e3, 2),
            "launch": round(rates.launch / 1e3, 2),
            "times spread by": round(rates.spread_of_times, 2),
        }
        for name, rates in auto.known_rates().items()
    }


def _caches() -> dict[str, Any]:
    kernels = {f"kernels of {p.device.name}": p.stats().get("kernels", 0) for p in registry.opened()}
    return {**_folder(), "plans": plans.plan_count(), "plans at most": plans.PLAN_LIMIT, **kernels}


def _memory() -> dict[str, dict[str, int]]:
    names = ("bytes_live", "bytes_pooled", "peak_bytes")
    return {p.device.name: {name: p.stats().get(name, 0) for name in names} for p in registry.opened()}


def _counted(pairs: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    """Return counts of pairs as nested mappings."""
    counts: dict[str, dict[str, int]] = {}
    for (first, second), times in pairs.items():
        counts.setdefault(first, {})[second] = times
    return counts


_ENVIRONMENT: Final[Mapping[str, Callable[[], Any]]] = {
    "versions": _versions,
    "adapters": _adapters,
    "self_test": _selftest,
    "auto": _auto,
    "settings": _settings,
    "cache": _folder,
}
_STATE: Final[Mapping[str, Callable[[], Any]]] = {
    "devices": _devices,
    "calibration": _calibration,
    "caches": _caches,
    "memory": _memory,
    "events": telemetry.stats,
    "fallbacks": lambda: _counted(telemetry.fallbacks()),
    "transfers": lambda: _counted(telemetry.transfers()),
    "lines": lambda: _counted(telemetry.sites()),
    "decisions": placements,
}
