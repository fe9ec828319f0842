"""The seam between recording and what may be done with it: modes, and what stands for unknown values.

Everything that records asks :func:`mode` where modes may differ: before a value is read, when the values of a NumPy
array are used, when random numbers are drawn. :data:`ORDINARY` answers nearly always. While :func:`gpuarray.jit`
records a function of this thread, which runs again later with other values, its trace answers. A leaf whose value is
not known is held by the trace as if that were a place; whoever wants to read it gets the trace's error. A scalar that
is not known is a :class:`Deferred` where a generator has its parameters.

The rules of the array API standard are no mode of a thread but a setting; :mod:`gpuarray.graph.standard` applies them.
"""

from collections.abc import Callable, Hashable, Sequence
from threading import get_ident
from typing import Any, Final

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


class Mode:
    """How the operations of a thread are recorded. The methods here are those of :data:`ORDINARY`.

    Attributes
    ----------
    thread : int
        The thread whose operations are recorded so.
    is_replayed : bool
        Whether what is recorded runs again, with other values.
    """

    thread: int
    is_replayed: bool = False

    def evaluate(self, pending: Sequence[Any], device: Device) -> bool:
        """Take over an evaluation, whose results get leaves without values; return False if it is to happen now."""
        return False

    def looked_at(self, array: npt.NDArray[Any]) -> None:
        """Note that the values of a NumPy array are used."""

    def present(self, node: Any) -> Any:
        """Return what a node is in the call that is recorded, if it is what a call gives; else the node itself."""
        return node

    def require(self, node: Any, start: int, stop: int) -> None:
        """Note that the recording is for calls where the elements of what :meth:`present` knew are in a range."""

    def check(self, status: Any, error: Callable[[], Exception]) -> bool:
        """Note that each call has an error if a status has an element that is not 0; False to look at it now."""
        return False

    def made(self, stream: Any, is_random: bool) -> None:
        """Note that the function makes a stream of random bits itself."""

    def touched(self, stream: Any, asked: str) -> None:
        """Refuse to change or to see the state of a stream, unless the function has made it."""

    def drawn(self, stream: Any, draw: Callable[[Any], Sequence[Any]], words: int) -> Sequence[Any] | None:
        """Return stand-ins for what ``draw`` takes from a stream at each call; None if it is to be taken now."""
        return None

    def refuse(self, asked: str) -> None:
        """Raise the error that says what cannot be recorded."""


class _State:
    """The mode that a thread has instead of the ordinary one: looked at before the thread is, as it is rarely there."""

    __slots__ = ("trace",)

    def __init__(self) -> None:
        self.trace: Mode | None = None


state: Final = _State()
ORDINARY: Final = Mode()


def active() -> Mode | None:
    """Return the trace of this thread; None if it records as usual."""
    trace = state.trace
    return trace if trace is not None and trace.thread == get_ident() else None


def mode() -> Mode:
    """Return how operations of this thread are recorded."""
    return ORDINARY if state.trace is None else active() or ORDINARY


def is_anywhere() -> bool:
    """Whether a function is recorded by any thread."""
    return state.trace is not None
