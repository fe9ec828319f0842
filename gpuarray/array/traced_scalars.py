"""Traced scalars: Python and NumPy numbers among the arguments of a recorded function, and values computed from them.

A :class:`TracedScalar` computes like the number on the host, and each operation is recorded, to be repeated with the
numbers of a later call. In an operation with an array it is a scalar of the kernel, with the promotion of the number.
An operation that needs its value, such as ``float(x)``, raises an error.
"""

import operator
from collections.abc import Callable
from typing import Any, Final, NoReturn, Protocol

import numpy as np

from gpuarray import dtypes
from gpuarray.array.storage import StoredArray
from gpuarray.graph import build
from gpuarray.graph.nodes import Generate
from gpuarray.graph.tracing import WEAK, Deferred, Weak
from gpuarray.ops import generators

_KNOWN: Final = (bool, int, float, complex, np.generic)


class ScalarRecorder(Protocol):
    """Records the operations on traced scalars."""

    def computed(self, function: Callable[..., Any], operands: tuple[Any, ...], sample: Any) -> Any:
        """Return ``function`` of operands that are numbers or traced scalars, as a traced scalar."""

    def refuse(self, asked: str) -> NoReturn:
        """Raise the error that says which operation cannot be recorded."""


class TracedScalar:
    """A number that differs between the calls of a recorded function.

    Parameters
    ----------
    recorder : ScalarRecorder
        Records the operations.
    slot : int
        Its index among the values of a call.
    sample : scalar
        Its value in the call that is recorded.
    name : str
        The name of the argument; empty if the number was computed.
    """

    __slots__ = ("_name", "_recorder", "_sample", "_slot")

    def __init__(self, recorder: ScalarRecorder, slot: int, sample: Any, name: str = "") -> None:
        self._recorder = recorder
        self._slot = slot
        self._sample = sample
        self._name = name

    @property  # type: ignore[misc]  # it cannot be set
    def __class__(self) -> Any:
        """The type of the number, so that ``isinstance(x, float)`` has the same answer as without recording."""
        return type(self._sample)

    @property
    def ndim(self) -> int:
        """The number of axes, which ``numpy.ndim`` reads."""
        return 0

    def operand(self) -> Generate:
        """Return a node: a NumPy scalar has its dtype, a Python scalar a weak dtype."""
        value = Deferred(self._slot)
        if isinstance(self._sample, np.generic):
            return build.full((), value, dtypes.canonical(self._sample.dtype))
        weak: Any = WEAK[type(self._sample)]
        return Generate(generators.full, (), (), weak, (value,))

    def _combined(self, function: Callable[..., Any], *operands: Any) -> Any:
        """Return the result of a function of numbers; NotImplemented if an operand is no number."""
        samples = []
        for operand in operands:
            if type(operand) is TracedScalar:
                samples.append(operand._sample)
            elif isinstance(operand, _KNOWN):
                samples.append(operand)
            else:
                return NotImplemented
        if function is operator.pow and all(isinstance(s, int) for s in samples) and type(operands[1]) is TracedScalar:
            self._refuse(
                "an integer to the power of an integer argument, which is not an integer if the exponent is negative"
            )
        return self._recorder.computed(function, operands, function(*samples))

    def _refuse(self, asked: str) -> NoReturn:
        self._recorder.refuse(f"{asked} of the number {self._name!r}" if self._name else f"{asked} of a number")

    # -- NumPy ---------------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        if any(isinstance(value, StoredArray) for value in inputs):
            return NotImplemented
        if method == "__call__" and not keywords and ufunc.nout == 1:
            result = self._combined(ufunc, *inputs)
            if result is not NotImplemented:
                return result
        return self._refuse(f"numpy.{ufunc.__name__}, with NumPy's arrays or with options,")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self._refuse("a scalar or an array of NumPy (call the function with one, as with np.float32(a)),")

    # -- Python --------------------------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        self._refuse("the truth value")

    def __float__(self) -> float:
        self._refuse("the value, as a float (NumPy's functions of numbers are recorded, those of `math` are not),")

    def __int__(self) -> int:
        self._refuse("the value, as an int,")

    def __index__(self) -> int:
        self._refuse("the value, as an integer (of a shape, an axis, an index, a range),")

    def __complex__(self) -> complex:
        self._refuse("the value, as a complex number,")

    def __str__(self) -> str:
        self._refuse("the text")

    def __format__(self, specification: str) -> str:
        self._refuse("the text")

    def __hash__(self) -> int:
        self._refuse("the hash")

    def __repr__(self) -> str:
        return f"<{self._name or 'a'} number of a recorded call, a {type(self._sample).__name__}>"

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._sample, name)  # raises what the number raises
        if name == "dtype":
            return value
        return self._refuse(f"the attribute {name!r}")

    def __round__(self, digits: int | None = None) -> Any:
        return self._combined(round, self) if digits is None else self._combined(round, self, digits)


def _forward(function: Callable[..., Any]) -> Any:
    return lambda self, other: self._combined(function, self, other)


def _reflected(function: Callable[..., Any]) -> Any:
    return lambda self, other: self._combined(function, other, self)


def _unary(function: Callable[..., Any]) -> Any:
    return lambda self: self._combined(function, self)


for _name, _function in {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}.items():
    setattr(TracedScalar, f"__{_name}__", _forward(_function))
    setattr(TracedScalar, f"__r{_name}__", _reflected(_function))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(TracedScalar, f"__{_name}__", _forward(getattr(operator, _name)))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(TracedScalar, f"__{_name}__", _unary(getattr(operator, _name)))


def weak_of(node: Any) -> Weak | None:
    """Return the weak dtype of a node of a traced Python scalar; None if the node has an ordinary dtype."""
    return node.dtype if isinstance(node.dtype, Weak) else None
