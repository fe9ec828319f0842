"""Small records kept between runs, as JSON files in the cache folder.

Invariant: a record is never worth an error. Writing is atomic (another process sees the old file or the new one) and
may fail silently where the folder cannot be written; a file that is missing, damaged, of another version or of another
subject reads as nothing, and is made again. Called by providers, for what they find out about a device.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gpuarray.config import config
from gpuarray.logs import logger

#: Raised whenever what a record means changes.
VERSION: Final = 1


def path_of(kind: str, subject: str) -> Path:
    """Return the file of the record of ``kind`` about ``subject``."""
    digest = hashlib.blake2b(subject.encode(), digest_size=8).hexdigest()
    return config.current.cache_folder() / f"{kind}-{digest}.json"


def read(kind: str, subject: str) -> Mapping[str, Any] | None:
    """Return the values recorded about ``subject``; None if there is no sound record."""
    path = path_of(kind, subject)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        return None
    except ValueError as error:
        logger.warning("the record %s is damaged and ignored: %s", path, error)
        return None
    sound = isinstance(record, dict) and record.get("version") == VERSION and record.get("subject") == subject
    values = record.get("values") if sound else None
    return values if isinstance(values, dict) else None


def write(kind: str, subject: str, values: Mapping[str, Any]) -> None:
    """Record values about ``subject``, for other processes too."""
    target = path_of(kind, subject)
    text = json.dumps({"version": VERSION, "subject": subject, "values": dict(values)}, indent=1, sort_keys=True)
    with contextlib.suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(target)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
