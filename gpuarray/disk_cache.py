"""Small facts kept between runs, as JSON files in the cache folder.

Invariant: the cache never causes an error. Writes are atomic (another process sees the old file or the new one) and
fail silently where the folder cannot be written. A file that is missing, damaged, of another version or about another
subject reads as None, and the caller finds the fact again. Used for what is measured or compiled for a device.
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

#: Raised whenever the meaning of an entry changes.
VERSION: Final = 1


def path_of(kind: str, subject: str) -> Path:
    """Return the file of the entry of ``kind`` about ``subject``."""
    digest = hashlib.blake2b(subject.encode(), digest_size=8).hexdigest()
    return config.current.cache_folder() / f"{kind}-{digest}.json"


def read(kind: str, subject: str) -> Mapping[str, Any] | None:
    """Return the values kept about ``subject``; None if there is no valid entry."""
    path = path_of(kind, subject)
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        return None
    except ValueError as error:
        logger.warning("the record %s is damaged and ignored: %s", path, error)
        return None
    is_valid = isinstance(entry, dict) and entry.get("version") == VERSION and entry.get("subject") == subject
    values = entry.get("values") if is_valid else None
    return values if isinstance(values, dict) else None


def write(kind: str, subject: str, values: Mapping[str, Any]) -> None:
    """Store values about ``subject`` for this process and others."""
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
