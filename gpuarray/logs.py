"""The logger ``gpuarray``, and the levels of ``config.debug``.

A message has a level: 1 devices, fallbacks and compilations, 2 steps and launches, 3 decisions, 4 WGSL. It is logged if
``config.debug`` is at least its level, or if the logger is enabled for the corresponding level of :mod:`logging`. It
goes to the handlers of the program, or to stderr if there are none.
"""

import logging
import os
import sys
import threading
import time
from _thread import start_new_thread
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gpuarray.config import config

DEVICES: Final = 1
STEPS: Final = 2
DECISIONS: Final = 3
SOURCES: Final = 4
#: The levels of :mod:`logging`, by those of ``config.debug``.
_LOGGING_LEVELS: Final = {DEVICES: logging.INFO, STEPS: logging.DEBUG, DECISIONS: 8, SOURCES: 5}

logger: Final = logging.getLogger("gpuarray")


class _Stderr(logging.Handler):
    """Writes to the current ``sys.stderr``."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"gpuarray: {record.getMessage()}", file=sys.stderr)


_stderr: Final = _Stderr()


def is_enabled(level: int) -> bool:
    """Whether messages of a level are logged, for callers whose messages take long to make."""
    return config.current.debug >= level or logger.isEnabledFor(_LOGGING_LEVELS[level])


def log(level: int, message: str, *arguments: object) -> None:
    """Log a message of a level, with ``%`` arguments."""
    if is_enabled(level):
        record = logger.makeRecord(logger.name, _LOGGING_LEVELS[level], "(gpuarray)", 0, message, arguments, None)
        if logger.hasHandlers():
            logger.handle(record)
        else:
            _stderr.handle(record)


# -- work that takes long ----------------------------------------------------------------------------------------------

#: The seconds after which work is reported, and the interval of the watching thread.
_LONG: Final = 2.0
_INTERVAL: Final = 0.5

#: The description of evaluations on the host.
ON_HOST: Final = "computing on the host what was recorded, because a value is read"

_lock = threading.Lock()
#: The work in progress: its start, its kind and its description. An item is removed at its end or when reported.
_under_way: Final[dict[object, tuple[float, str, str]]] = {}
_reported: Final[set[str]] = set()
_is_watched = False


@contextmanager
def report_if_long(kind: str, description: str) -> Iterator[None]:
    """Report work that takes longer than two seconds, to the logger or, if none is set up, to a terminal.

    Parameters
    ----------
    kind : str
        The kind of work; each kind is reported once in a process.
    description : str
        The work and its reason.
    """
    global _is_watched
    if kind in _reported:
        yield
        return
    key = object()
    with _lock:
        _under_way[key] = time.monotonic(), kind, description
        if not _is_watched:
            _is_watched = True
            try:
                start_new_thread(_watch, ())  # an interrupt cannot break it, as it can ``Thread.start``, which waits
            except RuntimeError:  # the interpreter is ending, or there are too many threads
                _is_watched = False
    try:
        yield
    finally:
        _under_way.pop(key, None)


def _watch() -> None:
    """Report work that takes long, until no work is in progress."""
    global _is_watched
    threading.current_thread().name = "gpuarray watch"
    while True:
        time.sleep(_INTERVAL)
        with _lock:
            if not _under_way:
                _is_watched = False
                return
            since = time.monotonic() - _LONG
            due = [(key, kind, what) for key, (start, kind, what) in list(_under_way.items()) if start < since]
            for key, kind, _ in due:
                _under_way.pop(key, None)
                _reported.add(kind)
        for _, _, what in due:
            _tell_of_long(what)


def _tell_of_long(what: str) -> None:
    if logger.hasHandlers():
        logger.info("%s ...", what)
    elif sys.stderr is not None and sys.stderr.isatty():
        print(f"gpuarray: {what} ...", file=sys.stderr)


def _forget() -> None:
    """Start anew in a forked process, which has no such thread."""
    global _is_watched, _lock  # a fork may find it locked
    _lock = threading.Lock()
    _is_watched = False
    _under_way.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
