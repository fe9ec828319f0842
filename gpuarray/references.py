"""Reference counts: how many owners an object has, which decides whether its memory may be used again.

Invariant: an answer is never too small. Interpreters without reference counts, or without a global lock, whose counts
another thread may change at any time, answer with a very large number: then nothing is taken to have one owner.
"""

import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np


def find_counter() -> Callable[[Any], int] | None:
    """Return the interpreter's function that counts references; None if its counts cannot be relied on."""
    has_lock = getattr(sys, "_is_gil_enabled", None)  # documented, and there since Python 3.13
    return getattr(sys, "getrefcount", None) if has_lock is None or has_lock() else None


_count: Final = find_counter()
#: References that the call itself adds.
_OWN: Final = 0 if _count is None else _count([object()][0])


def owner_count(items: Any, key: Any) -> int:
    """Return how many references there are to ``items[key]``, of which one is the container's."""
    return sys.maxsize if _count is None else _count(items[key]) - _OWN


class _Probe:
    """An object that NumPy converts to the number of owners that it has meanwhile."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(owner_count((self,), 0))


def _owners_of_temporary() -> int:
    """Return how many owners a temporary result has in its method ``__array__``.

    It is 0 if a variable may have no more, as in interpreters that borrow references from variables.
    """
    probe = _Probe()
    temporary = int(np.asarray(_Probe()))
    return temporary if temporary < int(np.asarray(probe)) else 0


_TEMPORARY: Final = _owners_of_temporary()


def is_temporary(owners: int) -> bool:
    """Return whether an object with so many owners, counted in its ``__array__``, is a temporary result."""
    return owners == _TEMPORARY
