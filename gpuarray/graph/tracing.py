"""Modes of recording, and placeholders for values that are not known while a function is recorded.

Code that records calls :func:`mode` where modes differ: before it reads a value, when it uses the values of a NumPy
array, and when it draws random numbers. Nearly always the mode is :data:`ORDINARY`. While :func:`gpuarray.jit` records
a function of this thread, which runs again later with other values, the mode is the trace of that function. A leaf
without a known value has the trace among its buffers, as if the trace were a provider, and reading the leaf raises the
trace's error. A scalar without a known value is a :class:`Deferred` among the parameters of a generator.

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
    """A parameter of a generator that each call provides: a value of the call, or an element of one.

    Attributes
    ----------
    slot : int
        The number of the value.
    index : int or None
        The number of the element; None for all of them.
    dtypes : tuple of dtype
        The dtypes to which it is converted, one after the other.
    """

    __slots__ = ("dtypes", "index", "slot")

    def __init__(self, slot: int, index: int | None = None, dtypes: tuple[DType, ...] = ()) -> None:
        self.slot = slot
        self.index = index
        self.dtypes = dtypes

    def astype(self, dtype: DType) -> "Deferred":
        """Return the parameter with one more conversion."""
        return Deferred(self.slot, self.index, (*self.dtypes, dtype))

    def key(self) -> Hashable:
        """Return a key that is equal for parameters that always have the same value."""
        return self.slot, self.index, self.dtypes

    def conversion(self) -> Callable[[Any], Any]:
        """Return the function from the value to the parameter."""
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
    """Takes the place of the dtype of a node that is a Python scalar of a call.

    Attributes
    ----------
    python : type
        The type of the scalar.
    kind : str
        The kind, as an attribute of dtypes.
    name : str
        The name in error messages.
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
    """How the operations of a thread are recorded. The methods of this class are those of :data:`ORDINARY`.

    Attributes
    ----------
    thread : int
        The thread.
    is_replayed : bool
        Whether the recorded operations run again with other values.
    """

    thread: int
    is_replayed: bool = False

    def evaluate(self, pending: Sequence[Any], device: Device) -> bool:
        """Take over an evaluation, whose results get leaves without values; return False if it is to happen now."""
        return False

    def postpone(self, nodes: Sequence[Any], device: Device) -> Sequence[Any]:
        """Return the nodes to evaluate now although nothing needs their values yet; the others stay pending."""
        return nodes

    def require_computed(self, node: Any, device: Device) -> None:
        """Note that each call computes a value, whether or not it needs it, because that may raise an error."""

    def includes(self, cell: Any) -> bool:
        """Return whether the recorded function has made or used a storage cell."""
        return True

    def is_known(self, node: Any) -> bool:
        """Return whether a value is the same in each call."""
        return True

    def looked_at(self, array: npt.NDArray[Any]) -> None:
        """Note that the values of a NumPy array are used."""

    def present(self, node: Any) -> Any:
        """Return the value that a node has in the recorded call, if each call provides it; else the node itself."""
        return node

    def require(self, node: Any, start: int, stop: int) -> None:
        """Restrict the recording to calls in which the elements of a node, known to :meth:`present`, are in a range."""

    def check(self, status: Any, device: Device, error: Callable[[], Exception]) -> bool:
        """Note that each call raises an error if a status has an element other than 0; return False to check it now."""
        return False

    def stream_created(self, stream: Any, is_random: bool) -> None:
        """Note that the function itself creates a stream of random bits."""

    def touched(self, stream: Any, asked: str) -> None:
        """Refuse access to the state of a stream, unless the function created the stream."""

    def drawn(self, stream: Any, draw: Callable[[Any], Sequence[Any]], words: int) -> Sequence[Any] | None:
        """Return placeholders for what ``draw`` takes from a stream at each call; None if it is taken now."""
        return None

    def refuse(self, asked: str) -> None:
        """Raise an error that names what cannot be recorded."""


class _ThreadMode:
    """The mode that replaces the ordinary one in a thread. It is tested before the thread, because it is rarely set."""

    __slots__ = ("trace",)

    def __init__(self) -> None:
        self.trace: Mode | None = None


state: Final = _ThreadMode()
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
