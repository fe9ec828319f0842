"""What a recording has in place of values: leaves without values, and scalars that each call gives.

While a function is recorded, to be run again later with other values, :func:`active` is who records. A leaf whose value
is not known is held by the :class:`Trace` as if that were a place; whoever wants to read it gets the trace's error. A
scalar that is not known is a :class:`Deferred` where a generator has its parameters.
"""

from collections.abc import Callable, Hashable, Sequence
from threading import get_ident
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from gpuarray.device import Device
from gpuarray.dtypes import DType


class Deferred:
    """A parameter of a generator that a call gives: value ``slot`` of its values, or element ``part`` of that.

    Attributes
    ----------
    slot : int
        Which of the values that a call has.
    part : int or None
        Which element of it.
    dtypes : tuple of dtype
        What it is converted to, one after the other.
    """

    __slots__ = ("dtypes", "part", "slot")

    def __init__(self, slot: int, part: int | None = None, dtypes: tuple[DType, ...] = ()) -> None:
        self.slot = slot
        self.part = part
        self.dtypes = dtypes

    def astype(self, dtype: DType) -> "Deferred":
        """Return it with one more conversion."""
        return Deferred(self.slot, self.part, (*self.dtypes, dtype))

    def said(self) -> Hashable:
        """Return what is equal for those that always have the same value."""
        return self.slot, self.part, self.dtypes

    def conversion(self) -> Callable[[Any], Any]:
        """Return what makes the parameter of the value."""
        if not self.dtypes:
            return lambda value: value
        first, *rest = self.dtypes
        convert: Callable[[Any], Any] = first.type
        return convert if not rest else lambda value: _converted(convert(value), rest)


def _converted(value: Any, steps: Sequence[DType]) -> Any:
    with np.errstate(all="ignore"):
        for dtype in steps:
            value = np.asarray(value).astype(dtype)[()]
    return value


class Weak:
    """Stands where the dtype of a node would, if the node is a Python scalar that a call gives.

    Attributes
    ----------
    python : type
        Its type.
    kind : str
        As dtypes have it.
    name : str
        For errors.
    """

    __slots__ = ("kind", "name", "python")

    def __init__(self, python: type) -> None:
        self.python = python
        self.kind = {bool: "b", int: "i", float: "f", complex: "c"}[python]
        self.name = python.__name__

    def __repr__(self) -> str:
        return self.name


WEAK: Final = {python: Weak(python) for python in (bool, int, float, complex)}


class Trace(Protocol):
    """Who records a function."""

    thread: int

    def evaluate(self, pending: Sequence[Any], device: Device, held_from: int) -> bool:
        """Take an evaluation over, whose results get leaves without values; False if no unknown value is part of it."""

    def looked_at(self, array: npt.NDArray[Any]) -> None:
        """Note that the values of a NumPy array are used."""

    def present(self, node: Any) -> Any:
        """Return what a node is in the call that is recorded, if it is what a call gives; else the node itself."""

    def require(self, node: Any, start: int, stop: int) -> None:
        """Note that the recording is for calls where the elements of what :meth:`present` knew are in a range."""

    def made(self, stream: Any, is_random: bool) -> None:
        """Note that the function makes a stream of random bits itself."""

    def touched(self, stream: Any, asked: str) -> None:
        """Refuse to change or to see the state of a stream, unless the function has made it."""

    def drawn(self, stream: Any, draw: Callable[[Any], Sequence[Any]], words: int) -> Sequence[Any] | None:
        """Return stand-ins for what ``draw`` takes from a stream at each call; None if it is to be taken now."""

    def refuse(self, asked: str) -> None:
        """Raise the error that says what cannot be recorded."""


class _State:
    """Who records, of all threads: asked before the thread is, as there is none nearly always."""

    __slots__ = ("trace",)

    def __init__(self) -> None:
        self.trace: Trace | None = None


state: Final = _State()


def active() -> Trace | None:
    """Return who records what this thread does; None if nobody."""
    trace = state.trace
    return trace if trace is not None and trace.thread == get_ident() else None


def refuse(asked: str) -> None:
    """Raise the error that says what cannot be recorded."""
    if (trace := active()) is not None:
        trace.refuse(asked)


def looked_at(array: npt.NDArray[Any]) -> None:
    """Tell who records, if anybody does, that the values of a NumPy array are used."""
    if state.trace is not None and (trace := active()) is not None:
        trace.looked_at(array)
