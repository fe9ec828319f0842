"""The derivatives of elementwise rows: one partial derivative for each operand, from which both modes follow.

A partial derivative is a number, or a formula of the result and the operands. Formulas have Python's operators and the
functions of this module, each of which is a row. They are evaluated with arrays, so that derivatives are recorded like
any other operation and have derivatives themselves. A formula is right for complex operands where the function is
holomorphic; rows that are not are among :data:`SPECIAL`, and :mod:`gpuarray.autodiff` has their rules.

The derivative of a row without one is :data:`UNKNOWN`: an error where it is needed, never a zero. Rows whose results
are integers or truths are :data:`FLAT`.
"""

from collections.abc import Callable, Mapping
from math import log as log_of
from math import pi
from typing import Any, Final, TypeAlias

from gpuarray.ops import elementwise as rows
from gpuarray.ops import samplers
from gpuarray.ops.spec import MapOp


class _Unknown:
    """A derivative that exists and is not implemented."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()

Formula: TypeAlias = Callable[..., Any]
#: A derivative that is the same everywhere, a formula of the result and the operands, or :data:`UNKNOWN`.
Partial: TypeAlias = float | Formula | _Unknown


class _Evaluation:
    """What evaluates the rows of formulas: ``apply(row, *operands)``. Arrays set it."""

    apply: Callable[..., Any]


evaluation: Final = _Evaluation()


def function(row: MapOp) -> Formula:
    """Return a row as a function that formulas call."""
    return lambda *operands: evaluation.apply(row, *operands)


abs_, sign, sqrt, where = function(rows.abs), function(rows.sign), function(rows.sqrt), function(rows.where)
exp, exp2, log, log1p, log2 = (function(r) for r in (rows.exp, rows.exp2, rows.log, rows.log1p, rows.log2))
sin, cos, sinh, cosh = (function(r) for r in (rows.sin, rows.cos, rows.sinh, rows.cosh))
power, floor, trunc, copysign = function(rows.pow), function(rows.floor), function(rows.trunc), function(rows.copysign)
floor_divide, ldexp, exponent = function(rows.floor_divide), function(rows.ldexp), function(rows.frexp_exponent)
isinf = function(rows.isinf)


def one(x: Any) -> Any:
    """Return 1 in the dtype of an array; NaN where that is NaN."""
    return where(x == x, 1.0, x)


def _share(own: Any, result: Any, other: Any) -> Any:
    """Return 1 where an operand is the extreme one, 0 where the other is, and 1/2 where both are."""
    return where(own == result, where(other == result, 0.5, one(own)), 0.0)


def _first_share(y: Any, a: Any, b: Any) -> Any:
    return _share(a, y, b)


def _second_share(y: Any, a: Any, b: Any) -> Any:
    return _share(b, y, a)


def _base(_y: Any, a: Any, b: Any) -> Any:
    return where(b == 0, 0.0, b * power(a, where(b == 0, 1.0, b - 1)))


def _exponent(y: Any, a: Any, _b: Any) -> Any:
    return y * log(where(a == 0, 1.0, a))


def _part(y: Any, x: Any) -> Any:
    """Return x / y of a length y, 0 where it is 0."""
    return where(y == 0, 0.0, x / where(y == 0, 1.0, y))


def _weight(raised: Formula) -> Formula:
    """Return the share of a term in a sum of exponentials whose logarithm is y."""
    return lambda y, a: raised(where(a == y, 0.0, a - y))


_share_e, _share_2 = _weight(exp), _weight(exp2)
_EXTREME: Final = (_first_share, _second_share)
_POWER: Final = (_base, _exponent)

#: The partial derivatives of elementwise rows.
PARTIALS: Final[Mapping[MapOp, tuple[Partial, ...]]] = {
    rows.add: (1.0, 1.0),
    rows.subtract: (1.0, -1.0),
    rows.multiply: (lambda y, a, b: b, lambda y, a, b: a),
    rows.divide: (lambda y, a, b: 1 / b, lambda y, a, b: -y / b),
    rows.floor_divide: (0.0, 0.0),
    rows.remainder: (1.0, lambda y, a, b: -floor_divide(a, b)),
    rows.fmod: (1.0, lambda y, a, b: -trunc(a / b)),
    rows.negative: (-1.0,),
    rows.positive: (1.0,),
    rows.fabs: (lambda y, x: sign(x),),
    rows.square: (lambda y, x: 2 * x,),
    rows.reciprocal: (lambda y, x: -y * y,),
    rows.sqrt: (lambda y, x: 0.5 / y,),
    rows.cbrt: (lambda y, x: 1 / (3 * y * y),),
    rows.hypot: (lambda y, a, b: _part(y, a), lambda y, a, b: _part(y, b)),
    rows.pow: _POWER,
    rows.float_power: _POWER,
    rows.heaviside: (0.0, lambda y, x, h: where(x == 0, one(x), 0.0)),
    rows.degrees: (180 / pi,),
    rows.radians: (pi / 180,),
    rows.ceil: (0.0,),
    rows.floor: (0.0,),
    rows.trunc: (0.0,),
    rows.rint: (0.0,),
    rows.copysign: (lambda y, a, b: sign(a) * copysign(1.0, b), 0.0),
    rows.nextafter: (UNKNOWN, UNKNOWN),
    rows.spacing: (0.0,),
    rows.ldexp: (lambda y, x, n: ldexp(one(x), n), 0.0),
    rows.frexp_mantissa: (lambda y, x: ldexp(one(x), -exponent(x)),),
    rows.modf_fraction: (1.0,),
    rows.modf_integral: (0.0,),
    rows.exp: (lambda y, x: y,),
    rows.exp2: (lambda y, x: log_of(2) * y,),
    rows.expm1: (lambda y, x: exp(x),),
    rows.log: (lambda y, x: 1 / x,),
    rows.log1p: (lambda y, x: 1 / (1 + x),),
    rows.log2: (lambda y, x: 1 / (log_of(2) * x),),
    rows.log10: (lambda y, x: 1 / (log_of(10) * x),),
    rows.logaddexp: (lambda y, a, b: _share_e(y, a), lambda y, a, b: _share_e(y, b)),
    rows.logaddexp2: (lambda y, a, b: _share_2(y, a), lambda y, a, b: _share_2(y, b)),
    rows.sin: (lambda y, x: cos(x),),
    rows.cos: (lambda y, x: -sin(x),),
    rows.tan: (lambda y, x: 1 + y * y,),
    rows.asin: (lambda y, x: 1 / sqrt(1 - x * x),),
    rows.acos: (lambda y, x: -1 / sqrt(1 - x * x),),
    rows.atan: (lambda y, x: 1 / (1 + x * x),),
    rows.atan2: (lambda y, a, b: b / (a * a + b * b), lambda y, a, b: -a / (a * a + b * b)),
    rows.sinh: (lambda y, x: cosh(x),),
    rows.cosh: (lambda y, x: sinh(x),),
    rows.tanh: (lambda y, x: 1 - y * y,),
    rows.asinh: (lambda y, x: 1 / sqrt(x * x + 1),),
    rows.acosh: (lambda y, x: 1 / (sqrt(x - 1) * sqrt(x + 1)),),
    rows.atanh: (lambda y, x: 1 / (1 - x * x),),
    rows.maximum: _EXTREME,
    rows.minimum: _EXTREME,
    rows.fmax: _EXTREME,
    rows.fmin: _EXTREME,
    rows.scaled: (lambda y, a, b: b, lambda y, a, b: a),
}

#: Rows that are linear, but not in complex numbers, or select or convert: they have a rule in ``gpuarray.autodiff``.
SPECIAL: Final = frozenset((
    rows.abs, rows.sign, rows.where, rows.cast, rows.real, rows.imag, rows.conj, rows.complex_from_parts,
))  # fmt: skip

#: Rows whose results, or operands, are integers, truths or bits, and never change by a little.
FLAT: Final = frozenset((
    rows.gcd, rows.lcm, rows.signbit, rows.frexp_exponent, rows.equal, rows.not_equal, rows.less, rows.less_equal,
    rows.greater, rows.greater_equal, rows.isnan, rows.isinf, rows.isfinite, rows.logical_and, rows.logical_or,
    rows.logical_xor, rows.logical_not, rows.bitwise_and, rows.bitwise_or, rows.bitwise_xor, rows.bitwise_invert,
    rows.bitwise_left_shift, rows.bitwise_right_shift, rows.bitwise_count, rows.bitcast,
))  # fmt: skip

#: Samples, which are no functions of their parameters.
RANDOM: Final = frozenset((
    samplers.sample_gamma, samplers.sample_log_gamma, samplers.sample_poisson, samplers.sample_binomial,
    samplers.sample_hypergeometric, samplers.sample_vonmises, samplers.sample_zipf, samplers.sample_below,
))  # fmt: skip
