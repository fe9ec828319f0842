"""The logger ``gpuarray``, and the ladder of ``config.debug`` on it.

A message belongs to a rung: 1 devices and fallbacks, 2 steps and launches, 3 decisions, 4 WGSL. It is told if
``config.debug`` is that high, or if the logger's own level lets its rung's level through, whichever comes first; it
goes where the program's logging goes, and to stderr if the program has set none up.
"""

import logging
import sys
from typing import Final

from gpuarray.config import config

DEVICES: Final = 1
STEPS: Final = 2
DECISIONS: Final = 3
SOURCES: Final = 4
#: The level of :mod:`logging` of each rung.
LEVELS: Final = {DEVICES: logging.INFO, STEPS: logging.DEBUG, DECISIONS: 8, SOURCES: 5}

logger: Final = logging.getLogger("gpuarray")


class _Stderr(logging.Handler):
    """Writes to what ``sys.stderr`` is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"gpuarray: {record.getMessage()}", file=sys.stderr)


_stderr: Final = _Stderr()


def is_told(rung: int) -> bool:
    """Whether messages of a rung go anywhere: asked first where a message is dear to make."""
    return config.current.debug >= rung or logger.isEnabledFor(LEVELS[rung])


def tell(rung: int, message: str, *arguments: object) -> None:
    """Log a message of a rung, with ``%`` arguments."""
    if is_told(rung):
        record = logger.makeRecord(logger.name, LEVELS[rung], "(gpuarray)", 0, message, arguments, None)
        if logger.hasHandlers():
            logger.handle(record)
        else:
            _stderr.handle(record)
