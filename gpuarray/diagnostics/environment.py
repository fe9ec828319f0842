"""The report of ``python -m gpuarray``: versions, adapters, the provider in use and why, folders, settings.

It is what a bug report should begin with, so nothing that is missing or broken here may make it fail: whatever cannot
be found out is replaced by the reason.
"""

import platform
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields
from importlib import metadata

from gpuarray.config import Config, config, environment_name
from gpuarray.providers import registry

DISTRIBUTIONS = ("gpuarray-xp", "numpy", "wgpu", "platformdirs")


def report() -> str:
    """Return the environment as readable text, a section a topic."""
    sections = {
        "Versions": versions,
        "Adapters": adapters,
        "Self-test": selftest,
        'Device "auto"': resolution,
        "Cache": folders,
        "Settings that differ from their defaults": settings,
    }
    return "\n\n".join(
        f"{title}\n" + "\n".join(f"  {line}" for line in _told(lines)) for title, lines in sections.items()
    )


def _told(lines: Callable[[], Iterable[str]]) -> list[str]:
    """Return the lines of a section, or the reason why there are none."""
    try:
        return list(lines())
    except Exception as error:  # a broken driver may raise anything, and the other sections still matter
        return [f"not available: {type(error).__name__}: {error}"]


def versions() -> Iterable[str]:
    """Yield the versions of Python, this package and what it needs, and the platform."""
    yield f"{'python':14}{platform.python_version()} ({platform.python_implementation()}, {sys.executable})"
    for name in DISTRIBUTIONS:
        yield f"{name:14}{_version(name)}"
    yield f"{'platform':14}{platform.platform()}"


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed as a distribution"


def adapters() -> Iterable[str]:
    """Yield the adapters that wgpu finds, each with the features and limits that matter here."""
    # Imported here because it imports wgpu, whose native library may be absent or broken.
    from gpuarray.providers.wgpu import device

    yield from device.adapter_report().splitlines()


def selftest() -> Iterable[str]:
    """Yield what the self-test of each wgpu device found about its driver's arithmetic."""
    # Imported here because importing the package must not import wgpu.
    from gpuarray.providers.wgpu.selftest import MEANINGS

    for device in registry.devices():
        if device.kind == "wgpu":
            found = registry.open_device(device).facts  # type: ignore[attr-defined]  # of the wgpu provider alone
            yield from (f"{device}: {MEANINGS[name][0 if holds else 1]}" for name, holds in found.items())


def resolution() -> Iterable[str]:
    """Yield the device that ``"auto"`` means, and why."""
    device, reason = registry.resolution()
    yield f"{device}: {reason}"


def folders() -> Iterable[str]:
    """Yield the folder of files kept between runs."""
    folder = config.current.cache_folder()
    yield f"{folder}{'' if folder.exists() else ' (does not exist yet)'}"


def settings() -> Iterable[str]:
    """Yield the settings that differ from their defaults, with the variables that would set them."""
    changed = [field.name for field in fields(Config) if getattr(config, field.name) != field.default]
    for name in changed:
        yield f"{name} = {getattr(config, name)!r} ({environment_name(name)})"
    if not changed:
        yield "none"
