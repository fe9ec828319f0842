"""Counters of what happened, and the host fallbacks with their reasons.

Providers count launches, compilations and bytes; here are the counters of evaluation. :func:`stats` adds both up.
"""

import sys
import threading
import warnings
from collections import Counter
from collections.abc import Mapping
from typing import Final

from gpuarray.config import config
from gpuarray.errors import FallbackError, FallbackWarning
from gpuarray.providers import registry

_lock: Final = threading.Lock()
_counters: Final[Counter[str]] = Counter()
_fallbacks: Final[Counter[tuple[str, str]]] = Counter()
_warned: Final[set[str]] = set()
_OWN: Final = ("evaluations", "operations", "plans", "fallbacks")
_FROM_PROVIDERS: Final = (
    "launches",
    "compiles",
    "bytes_uploaded",
    "bytes_downloaded",
    "bytes_live",
    "bytes_pooled",
)


def count(name: str, amount: int = 1) -> None:
    """Add to a counter."""
    _counters[name] += amount


def fallback(function: str, reason: str) -> None:
    """Count that ``function`` runs on the host although its device is another, and obey ``config.fallback``.

    Raises
    ------
    FallbackError
        If the setting is ``"error"``; nothing has run then.
    """
    policy = config.current.fallback
    if policy == "error":
        raise FallbackError(
            f"{function} would run on the host ({reason}), which config.fallback='error' forbids; move the data with "
            "x.to_device('cpu') or allow it: with gpuarray.using(fallback='allow')"
        )
    with _lock:
        _counters["fallbacks"] += 1
        _fallbacks[function, reason] += 1
        first = function not in _warned
        _warned.add(function)
    if policy == "warn" and first:
        warnings.warn(f"{function} ran on the host: {reason}", FallbackWarning, stacklevel=2)
    if config.current.debug >= 1:
        print(f"gpuarray: {function} runs on the host: {reason}", file=sys.stderr)


def fallbacks() -> Mapping[tuple[str, str], int]:
    """Return how often each function ran on the host, by function and reason, since the last reset."""
    with _lock:
        return dict(_fallbacks)


def stats() -> dict[str, int]:
    """Return the counters since the last :func:`reset_stats`, and the memory in use now.

    Returns
    -------
    dict
        ``launches`` of kernels, ``compiles`` of kernels, ``evaluations`` of graphs, ``operations`` evaluated in them,
        ``plans`` made (evaluations that found none ready), ``fallbacks`` to the host, ``bytes_uploaded`` to and
        ``bytes_downloaded`` from devices, ``bytes_live`` in arrays and ``bytes_pooled`` for reuse.
    """
    totals = dict.fromkeys((*_FROM_PROVIDERS, *_OWN), 0)
    for provider in registry.opened():
        for name, value in provider.stats().items():
            totals[name] = totals.get(name, 0) + value
    for name in _OWN:
        totals[name] = _counters[name]
    return totals


def reset_stats() -> None:
    """Set the counters of events to zero; memory gauges go on."""
    with _lock:
        _counters.clear()
        _fallbacks.clear()
        _warned.clear()
    for provider in registry.opened():
        provider.reset_stats()
