"""The derivatives of elementwise operations: one partial derivative for each operand, from which both modes follow.

A partial derivative is a number, or a formula of the result and the operands. Formulas have Python's operators and the
functions of this module, each of which is an operation. They are evaluated with arrays, so that derivatives are
recorded like any other operation and have derivatives themselves. A formula is right for complex operands where the
function is holomorphic; :mod:`gpuarray.autodiff.elementwise` has the rules of operations that are not, and of those
that select an operand.

The derivative of an operation without one is :data:`UNKNOWN`: an error where it is needed, never a zero. Operations
whose operands or results are integers or truths need none, as nothing is differentiated through these.
"""

from collections.abc import Callable, Mapping
from math import log as log_of
from math import pi
from typing import Any, Final, TypeAlias

import numpy as np

from gpuarray.ops import elementwise as ops
from gpuarray.ops.spec import MapOp


class _Unknown:
    """A derivative that exists and is not implemented."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()

Formula: TypeAlias = Callable[..., Any]


class OperandFormula:
    """The formula that is one of the operands, for which the others need no value.

    Parameters
    ----------
    number : int
        The number of the operand, counted from 1.
    """

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, *values: Any) -> Any:
        """Return the operand, given the result and the operands."""
        return values[self.number]


#: A derivative that is the same everywhere, a formula of the result and the operands, or :data:`UNKNOWN`.
Partial: TypeAlias = float | Formula | _Unknown


class _Evaluator:
    """Evaluates the operations of formulas: ``apply(operation, *operands)``. Arrays set it."""

    apply: Callable[..., Any]


evaluation: Final = _Evaluator()
#: The values of NumPy. If the first operand of an operation is one, the others are, too.
_HOST: Final = (np.ndarray, np.generic)


def function(op: MapOp) -> Formula:
    """Return an operation as a function that formulas call."""
    ufunc: Any = op.numpy
    if not isinstance(ufunc, np.ufunc) or ufunc.nout > 1:
        return lambda *operands: evaluation.apply(op, *operands)
    return lambda *operands: ufunc(*operands) if isinstance(operands[0], _HOST) else evaluation.apply(op, *operands)


abs_, sign, sqrt, where = function(ops.abs), function(ops.sign), function(ops.sqrt), function(ops.where)
exp, exp2, log, log1p, log2 = (function(r) for r in (ops.exp, ops.exp2, ops.log, ops.log1p, ops.log2))
sin, cos, sinh, cosh = (function(r) for r in (ops.sin, ops.cos, ops.sinh, ops.cosh))
power, whole_power = function(ops.pow), function(ops.whole_power)
floor, trunc, copysign = function(ops.floor), function(ops.trunc), function(ops.copysign)
floor_divide, ldexp, exponent = function(ops.floor_divide), function(ops.ldexp), function(ops.frexp_exponent)
isinf = function(ops.isinf)


def one(x: Any) -> Any:
    """Return 1 in the dtype of an array; NaN where that is NaN."""
    return where(x == x, 1.0, x)


def _base(raised: Formula) -> Formula:
    """Return the derivative of a power by its base."""
    return lambda _, a, b: where(b == 0, 0.0, b * raised(a, where(b == 0, 1.0, b - 1)))


def _cosine(x: Any) -> Any:
    """Return sqrt(1 - x**2), of complex numbers with the sign that it has on their side of the branch cuts."""
    return sqrt(-(x - 1)) * sqrt(x + 1)


def _part(y: Any, x: Any) -> Any:
    """Return x / y of a length y, 0 where it is 0."""
    return where(y == 0, 0.0, x / where(y == 0, 1.0, y))


def _weight(raised: Formula) -> Formula:
    """Return the share of a term in a sum of exponentials whose logarithm is y."""
    return lambda y, a: raised(where(a == y, 0.0, a - y))


_share_e, _share_2 = _weight(exp), _weight(exp2)
_POWER: Final = (_base(power), lambda y, a, b: y * log(where(a == 0, 1.0, a)))

#: The partial derivatives of elementwise operations.
PARTIALS: Final[Mapping[MapOp, tuple[Partial, ...]]] = {
    ops.add: (1.0, 1.0),
    ops.subtract: (1.0, -1.0),
    ops.multiply: (OperandFormula(2), OperandFormula(1)),
    ops.divide: (lambda y, a, b: 1 / b, lambda y, a, b: -y / b),
    ops.floor_divide: (0.0, 0.0),
    ops.remainder: (1.0, lambda y, a, b: -floor_divide(a, b)),
    ops.fmod: (1.0, lambda y, a, b: -trunc(a / b)),
    ops.negative: (-1.0,),
    ops.positive: (1.0,),
    ops.fabs: (lambda y, x: sign(x),),
    ops.square: (lambda y, x: 2 * x,),
    ops.reciprocal: (lambda y, x: -y * y,),
    ops.sqrt: (lambda y, x: 0.5 / y,),
    ops.cbrt: (lambda y, x: 1 / (3 * y * y),),
    ops.hypot: (lambda y, a, b: _part(y, a), lambda y, a, b: _part(y, b)),
    ops.pow: _POWER,
    ops.float_power: _POWER,
    ops.whole_power: (_base(whole_power), UNKNOWN),
    ops.heaviside: (0.0, lambda y, x, h: where(x == 0, one(x), 0.0)),
    ops.degrees: (180 / pi,),
    ops.radians: (pi / 180,),
    ops.ceil: (0.0,),
    ops.floor: (0.0,),
    ops.trunc: (0.0,),
    ops.rint: (0.0,),
    ops.copysign: (lambda y, a, b: sign(a) * copysign(1.0, b), 0.0),
    ops.nextafter: (UNKNOWN, UNKNOWN),
    ops.spacing: (0.0,),
    ops.ldexp: (lambda y, x, n: ldexp(one(x), n), 0.0),
    ops.frexp_mantissa: (lambda y, x: ldexp(one(x), -exponent(x)),),
    ops.modf_fraction: (1.0,),
    ops.modf_integral: (0.0,),
    ops.exp: (lambda y, x: y,),
    ops.exp2: (lambda y, x: log_of(2) * y,),
    ops.expm1: (lambda y, x: exp(x),),
    ops.log: (lambda y, x: 1 / x,),
    ops.log1p: (lambda y, x: 1 / (1 + x),),
    ops.log2: (lambda y, x: 1 / (log_of(2) * x),),
    ops.log10: (lambda y, x: 1 / (log_of(10) * x),),
    ops.logaddexp: (lambda y, a, b: _share_e(y, a), lambda y, a, b: _share_e(y, b)),
    ops.logaddexp2: (lambda y, a, b: _share_2(y, a), lambda y, a, b: _share_2(y, b)),
    ops.sin: (lambda y, x: cos(x),),
    ops.cos: (lambda y, x: -sin(x),),
    ops.tan: (lambda y, x: 1 + y * y,),
    ops.asin: (lambda y, x: 1 / _cosine(x),),
    ops.acos: (lambda y, x: -1 / _cosine(x),),
    ops.atan: (lambda y, x: 1 / (1 + x * x),),
    ops.atan2: (lambda y, a, b: b / (a * a + b * b), lambda y, a, b: -a / (a * a + b * b)),
    ops.sinh: (lambda y, x: cosh(x),),
    ops.cosh: (lambda y, x: sinh(x),),
    ops.tanh: (lambda y, x: 1 - y * y,),
    ops.asinh: (lambda y, x: 1 / sqrt(x * x + 1),),
    ops.acosh: (lambda y, x: 1 / (sqrt(x - 1) * sqrt(x + 1)),),
    ops.atanh: (lambda y, x: 1 / (1 - x * x),),
    ops.multiply_no_nan: (OperandFormula(2), OperandFormula(1)),
}
