"""How fast a device copies its own memory: what the rates of kernels are held against."""

from typing import Any, Final
from weakref import WeakKeyDictionary

from gpuarray import dtypes, events
from gpuarray.device import Device
from gpuarray.errors import GpuArrayError
from gpuarray.graph import build
from gpuarray.graph.walk import current
from gpuarray.ops import elementwise as rows
from gpuarray.providers.base import Provider
from gpuarray.runtime import evaluate

_REPEATS: Final = 7
#: Bytes of the array that is copied: far more than a cache on hardware, as much as takes no time on a processor.
_BYTES: Final = {"CPU": 32 << 20}
_LARGE: Final = 256 << 20


class _Launches:
    """Listens to launches."""

    def __init__(self) -> None:
        self.found: list[events.Launch] = []

    def span(self, phase: str, name: str, start: int, stop: int, nbytes: int = 0) -> None:
        """Ignore what the host does."""

    def evaluation(self, evaluation: Any, start: int, stop: int) -> None:
        """Ignore evaluations."""

    def launches(self, launches: Any) -> None:
        """Keep launches."""
        self.found += launches


_known: Final[WeakKeyDictionary[Any, float]] = WeakKeyDictionary()


def copy_rate(device: Device) -> float | None:
    """Return gigabytes a second, read and written, of a copy within a device's memory; None if it has no room for one.

    Measured at the first call for a device, in well under a second, and kept for the process.
    """
    provider = evaluate.provider_of(device)
    if provider not in _known:
        found = _measured(provider)
        if found is None:
            return None
        _known[provider] = found
    return _known[provider]


def _measured(provider: Provider) -> float | None:
    limits = provider.capabilities
    size = min(_BYTES.get(limits.kind, _LARGE), limits.binding_limit // 2) // 4
    listener = _Launches()
    try:
        source = build.full((size,), 1, dtypes.float32)
        evaluate.evaluate([source], provider.device)
        stored = current(source)
        events.listen(listener)
        for _ in range(_REPEATS):
            evaluate.evaluate([build.elementwise(rows.negative, stored)], provider.device)
        provider.synchronize()
        provider.collect()
    except GpuArrayError:
        return None
    finally:
        events.leave(listener)
    return max((8 * size / max(launch.stop - launch.start, 1) for launch in listener.found), default=None)
