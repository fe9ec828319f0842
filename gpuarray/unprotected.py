"""Read-only memory for functions of NumPy that copy read-only arrays, though they only read them."""

from typing import Any

import numpy as np
import numpy.typing as npt

#: Copies of fewer bytes take less time than a view.
_LEAST = 1 << 13


class _Memory:
    """The memory of a read-only array, which does not say that it is read-only."""

    __slots__ = ("__array_interface__", "owners")

    def __init__(self, array: npt.NDArray[Any], owner: object) -> None:
        interface = array.__array_interface__
        self.__array_interface__: dict[str, Any] = interface | {"data": (interface["data"][0], False)}
        self.owners = array, owner


def unprotected(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array that NumPy reads in place: itself, or a view of it that claims to be writeable.

    ``take`` copies positions that are read-only; ``argmax``, ``bincount``, ``interp`` and others copy such operands.
    The caller must not write to the result.
    """
    return array if array.flags.writeable or array.nbytes < _LEAST else marked_writeable(array)


def marked_writeable(array: npt.NDArray[Any], owner: object = None) -> npt.NDArray[Any]:
    """Return a view of an array that claims to be writeable, and that refers to ``owner`` while it exists."""
    return np.asarray(_Memory(array, owner))
