"""The rules of the array API standard that are stricter than NumPy's, for ``config.strict_array_api``.

Two tables state them: the category of dtypes that each function of the standard accepts (:data:`ACCEPTED`), and the
elementwise operations whose values differ from NumPy's (:data:`_VALUES`), as compositions of others. Functions and
arguments that are not in the standard are not restricted.

Arrays and functions record elementwise operations through :data:`recorder`, which selects the rules. The checks of
this module return at once while the setting is off.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.config import config
from gpuarray.dtypes import DType
from gpuarray.graph import build
from gpuarray.graph.nodes import Node
from gpuarray.graph.tracing import Weak
from gpuarray.ops import elementwise as ops
from gpuarray.ops.columns import Kind
from gpuarray.ops.spec import OPS, MapOp
from gpuarray.settings import strictness

_REAL_FLOATING: Final = frozenset((dtypes.float32, dtypes.float64))
_COMPLEX: Final = frozenset(dtypes.COMPLEX)
_FLOATING: Final = _REAL_FLOATING | _COMPLEX
_INTEGER: Final = frozenset((*dtypes.SIGNED, *dtypes.UNSIGNED))
_BOOLEAN: Final = frozenset((dtypes.bool_,))

#: The standard's categories of dtypes, under its names.
CATEGORIES: Final[Mapping[str, frozenset[DType]]] = {
    "any": _BOOLEAN | _INTEGER | _FLOATING,
    "boolean": _BOOLEAN,
    "integer": _INTEGER,
    "integer or boolean": _INTEGER | _BOOLEAN,
    "real-valued": _INTEGER | _REAL_FLOATING,
    "numeric": _INTEGER | _FLOATING,
    "real-valued floating-point": _REAL_FLOATING,
    "complex floating-point": _COMPLEX,
    "floating-point": _FLOATING,
}

_FUNCTIONS: Final = (
    ("any", "concat stack result_type unique_all unique_counts unique_inverse unique_values"),
    ("integer", "isin"),
    ("real-valued", "clip argmax argmin argsort max min searchsorted sort"),
    ("numeric", "cross cumulative_prod cumulative_sum diff matmul outer prod round sum tensordot trace vecdot"),
    ("real-valued floating-point", "std var rfft rfftn ihfft"),
    ("complex floating-point", "fft ifft fftn ifftn irfft irfftn hfft"),
    (
        "floating-point",
        "mean cholesky det eig eigh eigvals eigvalsh fftshift ifftshift inv matrix_norm matrix_power matrix_rank pinv "
        "qr slogdet solve svd svdvals vector_norm",
    ),
)
#: The category of dtypes that each function accepts, by name. Elementwise operations have their own.
ACCEPTED: Final[Mapping[str, str]] = {
    op.name: op.accepts for op in OPS.values() if isinstance(op, MapOp) and op.accepts
} | {name: category for category, names in _FUNCTIONS for name in names.split()}

#: Dtypes that promote with each other. The only exception is uint64 with a signed integer.
_KINDS: Final = (_BOOLEAN, _INTEGER, _FLOATING)
#: Dtypes with which Python scalars promote.
_WITH_SCALAR: Final[Mapping[Any, frozenset[DType]]] = {
    bool: _BOOLEAN,
    int: _INTEGER | _FLOATING,
    float: _FLOATING,
    complex: _FLOATING,
}
_ADVICE: Final = "config.strict_array_api forbids it; convert with astype, or turn the setting off"


@lru_cache(maxsize=16384)
def check(name: str, *kinds: Any) -> None:
    """Check that a function of the standard accepts dtypes.

    Parameters
    ----------
    name : str
        Name of the function. Functions that are not in the standard accept everything.
    *kinds : dtype or type
        Dtypes of the arrays that are promoted with each other, and types of Python scalars among the operands.

    Raises
    ------
    TypeError
        If a dtype is not of the function's category, or the standard defines no common dtype.
    """
    category = ACCEPTED.get(name)
    if category is None:
        return
    of_arrays = [kind for kind in kinds if isinstance(kind, np.dtype)]
    scalars = [kind for kind in kinds if not isinstance(kind, np.dtype)]
    if not of_arrays:
        names = ", ".join(kind.__name__ for kind in scalars)
        raise TypeError(f"{name} requires an array in the array API standard, but got only {names}; {_ADVICE}")
    for dtype in of_arrays:
        if dtype not in CATEGORIES[category]:
            accepted = ", ".join(d.name for d in dtypes.ALL if d in CATEGORIES[category])
            raise TypeError(
                f"{name} requires {category} dtypes in the array API standard ({accepted}), but got {dtype.name}; "
                f"{_ADVICE}"
            )
    for position, first in enumerate(of_arrays):
        for second in of_arrays[:position]:
            if not _promote(first, second):
                raise TypeError(
                    f"{name} got arrays of dtypes {second.name} and {first.name}, which have no common dtype in the "
                    f"array API standard; {_ADVICE}"
                )
    common = dtypes.promote(*of_arrays)
    for scalar in scalars:
        if common not in _WITH_SCALAR[scalar] or (scalar is complex and category.startswith("real")):
            raise TypeError(
                f"{name} got a Python {scalar.__name__} and an array of dtype {common.name}, which the array API "
                f"standard does not promote; {_ADVICE}"
            )


def _promote(first: DType, second: DType) -> bool:
    """Return whether the standard defines a common dtype of two dtypes."""
    if {first.kind, second.kind} == {"i", "u"}:
        return dtypes.uint64 not in (first, second)
    return any(first in kind and second in kind for kind in _KINDS)


def kind_of(operand: Any) -> Any:
    """Return the type of a Python scalar, or the dtype of any other operand."""
    if type(operand) in _WITH_SCALAR:
        return type(operand)
    kind = operand if isinstance(operand, type) else getattr(operand, "dtype", operand)
    return kind.python if isinstance(kind, Weak) else dtypes.canonical(kind)


def require(name: str, *operands: Any) -> None:
    """Check the nodes, arrays and Python scalars among the arguments of a function, if the setting is on."""
    if strictness.possible and config.current.strict_array_api:
        check(name, *(kind_of(operand) for operand in operands if operand is not None))


def require_same(name: str, source: DType, result: DType) -> None:
    """Raise TypeError if an in-place operator changes the dtype of its left operand and the setting is on."""
    if source != result and is_on():
        raise TypeError(
            f"{name} in place gives {result.name} and the array is {source.name}, which the array API standard does "
            f"not convert; {_ADVICE}"
        )


def require_part(source: DType, target: DType) -> None:
    """Raise TypeError if complex numbers are converted to real numbers and the setting is on."""
    if source.kind == "c" and target.kind != "c" and is_on():
        raise TypeError(
            f"astype does not convert {source.name} to {target.name} in the array API standard; take the real part, or "
            "turn config.strict_array_api off"
        )


def can_cast(source: DType, target: DType) -> bool:
    """Return whether ``target`` is the common dtype of the two in the standard."""
    return _promote(source, target) and dtypes.promote(source, target) == target


def is_on() -> bool:
    """Return True if ``config.strict_array_api`` is on."""
    return strictness.possible and config.current.strict_array_api


class ElementwiseRecorder:
    """Records elementwise operations, by NumPy's rules or, while the setting is on, by the standard's.

    Attributes
    ----------
    elementwise : callable
        Records an operation on any operands, as :func:`gpuarray.graph.build.elementwise` does.
    unary, binary : callable
        Record an operation on one node, or on two operands of which one is a node.
    """

    __slots__ = ("binary", "elementwise", "unary")

    def __init__(self) -> None:
        self.elementwise: Callable[..., Node] = build.elementwise
        self.unary: Callable[[MapOp, Node], Node] = build.unary
        self.binary: Callable[[MapOp, Any, Any], Node] = build.binary

    def check_setting(self) -> None:
        """Read the setting at each operation from now on, because a thread may have turned it on."""
        self.elementwise = self.unary = self.binary = _by_setting


def _by_setting(op: MapOp, *operands: Any) -> Node:
    return (elementwise if config.current.strict_array_api else build.elementwise)(op, *operands)


def elementwise(op: MapOp, *operands: Any) -> Node:
    """Record an elementwise operation by the rules of the standard; see :func:`gpuarray.graph.build.elementwise`.

    Raises
    ------
    TypeError
        If the function of the standard does not accept the dtypes.
    """
    kinds = [kind_of(operand) for operand in operands]
    if op.kind is Kind.SELECTION:
        condition = kinds.pop(0)
        if condition not in (dtypes.bool_, bool):
            raise TypeError(f"where takes a boolean condition in the array API standard, not {condition}; {_ADVICE}")
    check(op.name, *kinds)
    values = _VALUES.get(op)
    return build.elementwise(op, *operands) if values is None else values(*operands)


# -- values -----------------------------------------------------------------------------------------------------------


def _floor_divide(x1: Any, x2: Any) -> Node:
    """Return the floor of the quotient also where one operand is infinite; NumPy computes it from the remainder."""
    floored = build.elementwise(ops.floor_divide, x1, x2)
    if floored.dtype.kind != "f":
        return floored
    infinite = (build.elementwise(ops.isinf, _as_node(x, floored.dtype)) for x in (x1, x2))
    exact = build.elementwise(ops.divide, x1, x2)
    return build.elementwise(ops.where, build.elementwise(ops.not_equal, *infinite), exact, floored)


def _as_node(operand: Any, dtype: DType) -> Node:
    return build.full((), operand, dtype) if type(operand) in _WITH_SCALAR else build.cast(operand, dtype)


def _expm1(x: Node) -> Node:
    """Return exp(x) - 1, also where a part of a complex number is not finite; NumPy returns NaN there."""
    accurate = build.elementwise(ops.expm1, x)
    if x.dtype.kind != "c":
        return accurate
    plain = build.elementwise(ops.subtract, build.elementwise(ops.exp, x), 1.0)
    return build.elementwise(ops.where, build.elementwise(ops.isfinite, x), _positive_zero(accurate), plain)


def _positive_zero(x: Node) -> Node:
    """Replace real parts of -0 by +0."""
    real, imag = (build.elementwise(part, x) for part in (ops.real, ops.imag))
    is_zero = build.elementwise(ops.equal, real, 0.0)
    return build.elementwise(ops.complex_from_parts, build.elementwise(ops.where, is_zero, 0.0, real), imag)


def _tanh(x: Node) -> Node:
    """Return tanh; at infinite real parts, imaginary zeros have the sign of the operand's imaginary part.

    In C they have the sign of sin(2 * imag).
    """
    value = build.elementwise(ops.tanh, x)
    if x.dtype.kind != "c":
        return value
    real, imag = (build.elementwise(part, x) for part in (ops.real, ops.imag))
    at_infinity = build.elementwise(
        ops.complex_from_parts, build.elementwise(ops.real, value), build.elementwise(ops.copysign, 0.0, imag)
    )
    return build.elementwise(ops.where, build.elementwise(ops.isinf, real), at_infinity, value)


#: Operations whose values differ in the standard, as compositions of others.
_VALUES: Final[Mapping[MapOp, Callable[..., Node]]] = {
    ops.floor_divide: _floor_divide,
    ops.expm1: _expm1,
    ops.tanh: _tanh,
}

#: The recorder of all arrays and functions.
recorder: Final = ElementwiseRecorder()
strictness.when_possible.append(recorder.check_setting)
if strictness.possible:
    recorder.check_setting()
