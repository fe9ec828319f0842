"""Counters of events, and of implicit work on the host: fallbacks and transfers.

A *fallback* is work that the host does for another device. A *transfer* is a read of elements by an implicit conversion
outside this package, such as ``np.asarray(x)`` or ``float(x)``; explicit reads (``asnumpy``, ``item``, ``tolist``,
``print``) do not count. Providers count launches, compilations and bytes, this module counts the rest, and
:func:`stats` adds both up.
"""

import threading
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from gpuarray import logs
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import FallbackError, FallbackWarning, TransferError, TransferWarning
from gpuarray.providers import registry
from gpuarray.settings import Config
from gpuarray.source_locations import Origin, SourceLocation, find_origin, frame_at, locate

_Key = TypeVar("_Key", bound=Hashable)

_lock: Final = threading.Lock()
_OWN: Final = ("evaluations", "operations", "plans", "fallbacks", "transfers", "evictions")
#: The counters of evaluation, by name.
counters: Final = dict.fromkeys(_OWN, 0)
#: Functions that return how many operations they have counted since they were called last.
operations_of: Final[list[Callable[[], int]]] = []
_placed: Final[Counter[str]] = Counter()
_fallbacks: Final[Counter[tuple[str, str]]] = Counter()
_transfers: Final[Counter[tuple[str, str]]] = Counter()
_sites: Final[Counter[tuple[str, Origin | None]]] = Counter()


class _Alike(NamedTuple):
    """Transfers that are not counted yet, and the attributes that they share.

    ``times`` has an item for each. Appending is atomic, unlike incrementing, and takes less time than a lock.
    """

    conversion: str
    device: Device
    where: Origin | None
    settings: Config
    times: list[None]


#: By these attributes. Lines are identified by the address of their code, as hashing code objects takes long.
_uncounted: Final[dict[Hashable, _Alike]] = {}
_MOST_UNCOUNTED: Final = 4096
#: The maximum number of functions and lines with counters of their own, because notebooks and ``exec`` create new ones
#: without end.
_MOST_APART: Final = 4096
_warned: Final[set[Hashable]] = set()
_FROM_PROVIDERS: Final = (
    "launches",
    "compiles",
    "bytes_uploaded",
    "bytes_downloaded",
    "bytes_live",
    "bytes_pooled",
)
_HERE: Final = str(Path(__file__).parents[1])


def _add(counter: Counter[_Key], key: _Key, rest: _Key, times: int = 1) -> None:
    """Count an event under its key, or under ``rest`` if there are too many keys."""
    counter[key if key in counter or len(counter) < _MOST_APART else rest] += times


def placed(causes: Iterable[str]) -> None:
    """Count the steps of a plan that was placed, by the reasons for their places."""
    with _lock:
        _placed.update(causes)


def fallback(function: str, reason: str, nbytes: int = 0, where: Origin | None = None) -> None:
    """Count that ``function`` runs on the host instead of its device, and apply ``config.fallback``.

    Parameters
    ----------
    function : str
        The name of the function.
    reason : str
        The reason.
    nbytes : int
        The bytes of its arrays.
    where : Origin, optional
        The line that recorded it; by default the line that is running.

    Raises
    ------
    FallbackError
        If the setting is ``"error"``. Then nothing has run.
    """
    policy = config.current.fallback
    if policy == "error":
        raise FallbackError(
            f"{function} would run on the host ({reason}), which config.fallback='error' forbids; move the data with "
            "x.to_device('cpu') or allow it: with gpuarray.using(fallback='allow')"
        )
    with _lock:
        counters["fallbacks"] += 1
        _add(_fallbacks, (function, reason), ("other functions", "too many to tell apart"))
        _add(_sites, (function, where or find_origin()), (function, None))
    if policy == "warn":
        _warn(f"{function} ran on the host, on {nbytes:,} bytes: {reason}", FallbackWarning, function)
    logs.log(logs.DEVICES, "%s runs on the host: %s", function, reason)


def transfer(conversion: str, nbytes: int, device: Device, depth: int = 2, where: Origin | None = None) -> None:
    """Count that a conversion reads elements of ``device``, and apply ``config.transfer``.

    Calls by this package itself do not count, unless the line is known, and neither do reads of host memory.

    Parameters
    ----------
    conversion : str
        The name of the conversion.
    nbytes : int
        The bytes that it reads.
    device : Device
        The device.
    depth : int
        The number of frames between this one and the caller of the conversion.
    where : Origin, optional
        The line that asked for it; by default that of the caller.

    Raises
    ------
    TransferError
        If the setting is ``"error"``. Then nothing was read.
    """
    if device.kind == "cpu" or (device.kind == "auto" and config.current.is_without_gpu):
        return
    if where is None:
        frame = frame_at(depth)
        where = find_origin(frame)
        if (where is None or where[0] is not frame.f_code) and frame.f_code.co_filename.startswith(_HERE):
            return
    settings = config.current
    if settings.transfer != "allow":
        _obey(settings.transfer, conversion, nbytes, device, where)
    key = conversion, device.name, where and (id(where[0]), where[1]), id(settings)
    alike = _uncounted.get(key)
    if alike is None:
        alike = _uncounted.setdefault(key, _Alike(conversion, device, where, settings, []))
    alike.times.append(None)
    if len(alike.times) > _MOST_UNCOUNTED or len(_uncounted) > _MOST_UNCOUNTED:
        _count_transfers()


def _obey(policy: str, conversion: str, nbytes: int, device: Device, where: Origin | None) -> None:
    """Warn of a transfer, or raise its error, unless it reads host memory."""
    if registry.resolve(device).kind == "cpu":
        return
    if policy == "error":
        raise TransferError(
            f"{conversion} would read {nbytes:,} bytes from device {device.name!r}, which config.transfer='error' "
            "forbids; ask for the values with gpuarray.asnumpy(x), x.item() or x.tolist(), or allow it: with "
            "gpuarray.using(transfer='allow')"
        )
    _warn(f"{conversion} read {nbytes:,} bytes from device {device.name!r}", TransferWarning, conversion, where)


def _count_transfers() -> None:
    with _lock:
        for conversion, device, where, settings, times in list(_uncounted.values()):
            count = len(times)
            del times[:count]  # others may append meanwhile
            if count and registry.resolve(device, settings).kind != "cpu":
                counters["transfers"] += count
                _transfers[conversion, device.name] += count
                _add(_sites, (conversion, where), (conversion, None), count)
        if len(_uncounted) > _MOST_UNCOUNTED:
            _uncounted.clear()


def _warn(message: str, category: type[Warning], subject: str, where: Origin | None = None) -> None:
    """Warn at the user's line, once for each line and subject."""
    where = where or find_origin()
    at = SourceLocation("<unknown>", 1, "", "") if where is None else locate(where)
    key = (category, subject, at.file, at.line)
    with _lock:
        if key in _warned:
            return
        if len(_warned) >= _MOST_APART:
            _warned.clear()
        _warned.add(key)
    warnings.warn_explicit(f"{message} (at {at})", category, at.file, at.line)


def fallbacks() -> Mapping[tuple[str, str], int]:
    """Return how often each function ran on the host, by function and reason, since the last reset."""
    with _lock:
        return dict(_fallbacks)


def transfers() -> Mapping[tuple[str, str], int]:
    """Return how often each conversion read elements of each device, by conversion and device, since the last reset."""
    _count_transfers()
    with _lock:
        return dict(_transfers)


def sites() -> Mapping[tuple[str, str], int]:
    """Return the number of fallbacks and transfers by their description and source line."""
    _count_transfers()
    with _lock:
        counted = list(_sites.items())
    counts: Counter[tuple[str, str]] = Counter()
    for (what, where), times in counted:
        counts[what, "unknown" if where is None else str(locate(where))] += times
    return counts


def stats() -> dict[str, int]:
    """Return the counters since the last :func:`reset_stats`, and the memory in use now.

    Returns
    -------
    dict
        ``launches`` of kernels, ``compiles`` of kernels, ``evaluations`` of graphs, ``operations`` evaluated in them,
        ``plans`` that were made because none was cached, ``fallbacks`` to the host, ``transfers`` by conversions such
        as ``np.asarray(x)`` and ``float(x)``, ``bytes_uploaded`` to and ``bytes_downloaded`` from devices,
        ``bytes_live`` in arrays and ``bytes_pooled`` for reuse. The steps of plans on the device "auto" are counted by
        the reason for their placement: ``placed_model``, ``placed_too_small`` and so on.
    """
    totals = dict.fromkeys((*_FROM_PROVIDERS, *_OWN), 0)
    for provider in registry.opened():
        for name, value in provider.stats().items():
            totals[name] = totals.get(name, 0) + value
    _count_transfers()
    operations()
    for name in _OWN:
        totals[name] = counters[name]
    with _lock:
        totals |= {f"placed_{cause.replace(' ', '_')}": times for cause, times in _placed.items()}
    return totals


def operations() -> int:
    """Return how many operations were evaluated or computed at once."""
    counters["operations"] += sum([take() for take in operations_of])
    return counters["operations"]


def reset_stats() -> None:
    """Set the counters of events to zero. Memory counters continue, and warnings are issued again."""
    with _lock:
        counters.update(dict.fromkeys(_OWN, 0))
        for take in operations_of:
            take()
        _placed.clear()
        _fallbacks.clear()
        _transfers.clear()
        _sites.clear()
        _uncounted.clear()
        _warned.clear()
    for provider in registry.opened():
        provider.reset_stats()
