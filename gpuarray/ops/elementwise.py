"""The elementwise operations, grouped as the Array API standard groups them, NumPy's own after those.

Names are the standard's, and NumPy's where the standard has none. Compositions are not here: ``divmod``, ``round`` to
decimals and ``clip`` are functions that record several operations. Every operation promises NumPy's value: NaN,
infinities and signed zeros included, integers wrapping, division of integers by zero giving 0.

A new operation needs its name, NumPy's ufunc, one sentence, the cost, and its WGSL. If its WGSL is a function of
``codegen/math`` with its name (``sqrt_f32``, ``sqrt_c64``), ``library`` has the groups of compute types that have one
(``library="float complex"``); other forms are templates.

The templates of + - * / guard their results: ``opaque_{T}`` hides a value from the driver's compiler, which would
otherwise fold ``x - x`` to 0 for infinities, contract a product and a sum into one rounding where NumPy has two, or
reorder a chain of either.
"""

from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.ops import integer_bounds, numpy_forms, references
from gpuarray.ops.columns import FastDomain, Kind, NumPyForm, Quirk, ValueFacts
from gpuarray.ops.spec import MapOp


def _op(
    name: str,
    ufunc: np.ufunc,
    doc: str,
    *,
    cost: int,
    library: str = "",
    wgsl: dict[str, str] | None = None,
    **columns: Any,
) -> MapOp:
    """Return the record of a ufunc; ``library`` has the groups of compute types with a WGSL function of its name."""
    operands = ", ".join(f"{{{i}}}" for i in range(ufunc.nin))
    forms = dict.fromkeys(library.split(), f"{name}_{{T}}({operands})") | (wgsl or {})
    return MapOp(name=name, numpy=ufunc, arity=ufunc.nin, doc=doc, cost=cost, wgsl=forms, **columns)


_FLOATING: Final = (dtypes.float32, dtypes.float64)

# --- arithmetic ----------------------------------------------------------------------------------------------------

add = _op(
    "add", np.add, "Sum; logical or of booleans.", accepts="numeric",
    cost=1, library="float", kind=Kind.SUM, identity=0,
    bounds=integer_bounds.of_sum, atomic="atomicAdd",
    wgsl={"bool": "({0} || {1})", "int": "({0} + {1})", "pair": "add_pair({0}, {1})",
          "complex": "opaque_{T}({0} + {1})"},
)  # fmt: skip
subtract = _op(
    "subtract", np.subtract, "Difference.", accepts="numeric", cost=1, library="float complex", kind=Kind.SUM,
    bounds=integer_bounds.of_difference,
    wgsl={"int": "({0} - {1})", "pair": "subtract_pair({0}, {1})"},
)  # fmt: skip
multiply = _op(
    "multiply", np.multiply, "Product; logical and of booleans.", accepts="numeric",
    cost=1, library="float complex", kind=Kind.PRODUCT,
    bounds=integer_bounds.of_product,
    identity=1, wgsl={"bool": "({0} && {1})", "int": "({0} * {1})", "pair": "multiply_pair({0}, {1})"},
)  # fmt: skip
divide = _op(
    "divide", np.divide, "Quotient as a floating number.", accepts="floating-point",
    cost=4, library="float complex", kind=Kind.QUOTIENT,
    values=ValueFacts(fast_domain=FastDomain(128, 128, -78)),
)  # fmt: skip
floor_divide = _op(
    "floor_divide",
    np.floor_divide,
    "Quotient, rounded down; 0 for integers divided by 0.",
    accepts="real-valued",
    cost=20,
    library="int float",
    bounds=integer_bounds.of_quotient,
)
remainder = _op(
    "remainder",
    np.remainder,
    "Remainder of floor_divide, with the sign of the divisor.",
    accepts="real-valued",
    cost=20,
    library="int float",
    bounds=integer_bounds.of_remainder,
)
fmod = _op(
    "fmod", np.fmod, "Remainder of truncated division, with the sign of the dividend.", cost=20, library="int float"
)
negative = _op(
    "negative", np.negative, "Negated value.", accepts="numeric", cost=1, library="float complex", kind=Kind.SIGN,
    quirks=Quirk.WRONG_WITH_GAPS, bounds=integer_bounds.negated,
    wgsl={"signed": "(-{0})", "unsigned": "({T}(0) - {0})", "pair": "negative_pair({0})"},
)  # fmt: skip
positive = _op(
    "positive", np.positive, "The value itself.", accepts="numeric", cost=1, kind=Kind.SIGN, wgsl={"any": "{0}"},
    bounds=integer_bounds.same,
)  # fmt: skip
abs = _op(
    "abs", np.absolute, "Absolute value; the magnitude of complex numbers.", accepts="numeric", cost=1, ulp=2,
    library="i64p float complex", kind=Kind.SIGN,
    wgsl={"bool": "{0}", "unsigned": "{0}", "u64p": "{0}", "signed": "select({0}, -{0}, {0} < 0)"},
)  # fmt: skip
fabs = _op(
    "fabs", np.fabs, "Absolute value as a floating number.", cost=1, kind=Kind.SIGN, wgsl={"float": "abs_{T}({0})"}
)
sign = _op(
    "sign", np.sign, "-1, 0 or 1; x / abs(x) of complex numbers.", accepts="numeric",
    cost=1, library="pair float complex",
    wgsl={"unsigned": "min({0}, {T}(1))", "signed": "({T}({0} > 0) - {T}({0} < 0))"},
    values=ValueFacts(below=1, never_subnormal=True),
)  # fmt: skip
square = _op(
    "square", np.square, "x * x.", accepts="numeric", cost=1, library="complex", kind=Kind.PRODUCT,
    wgsl={"int": "({0} * {0})", "pair": "multiply_pair({0}, {0})", "float": "multiply_{T}({0}, {0})"},
)  # fmt: skip
reciprocal = _op(
    "reciprocal", np.reciprocal, "1 / x; truncated of integers.", accepts="floating-point", cost=4, library="complex",
    wgsl={"int": "reciprocal_{T}({0}, {bits}u)", "float": "divide_{T}({T}(1.0), {0})"},
)  # fmt: skip
sqrt = _op(
    "sqrt", np.sqrt, "Principal square root.", accepts="floating-point", cost=6, library="float complex",
    values=ValueFacts(below=64, never_subnormal=True, fast_domain=FastDomain(40, 21, -78)),
)  # fmt: skip
cbrt = _op("cbrt", np.cbrt, "Cube root.", cost=15, ulp=2, library="float")
hypot = _op(
    "hypot",
    np.hypot,
    "sqrt(x*x + y*y) without overflow.",
    accepts="real-valued floating-point",
    cost=12,
    ulp=2,
    library="float",
)
pow = _op(
    "pow", np.power, "x to the power y; of integers wrapping, y not negative.", accepts="numeric", cost=30, ulp=2,
    library="int float complex", kind=Kind.POWER,
    numpy_forms=(NumPyForm(numpy_forms.power, _FLOATING, calls=3, scratch=1, uniform=(False, True)),),
)  # fmt: skip
# drivers inline functions: ten powers in a kernel, each with a logarithm that is never taken, compile for a minute
whole_power = MapOp(
    name="whole_power", numpy=references.whole_power, arity=2, dtypes=references.whole_power_dtypes, cost=6,
    doc="x to a power between -100 and 100 that is an integer, by multiplications, as NumPy.",
    wgsl={"complex": "whole_power_{T}({0}, {1})"},
)  # fmt: skip
float_power = _op(
    "float_power", np.float_power, "x to the power y in double precision.", cost=30, ulp=2,
    wgsl=dict.fromkeys(("float", "complex"), "pow_{T}({0}, {1})"),
)  # fmt: skip
gcd = _op("gcd", np.gcd, "Greatest common divisor.", cost=60, library="int")
lcm = _op("lcm", np.lcm, "Lowest common multiple.", cost=60, library="int")
heaviside = _op(
    "heaviside", np.heaviside, "0, the second operand or 1 as x is below, at, above 0.", cost=3, library="float"
)
degrees = _op(
    "degrees", np.degrees, "Radians to degrees.", cost=1, ulp=2, kind=Kind.SCALING,
    wgsl={"float": "opaque_{T}({0} * ({T}(180.0) / {T}(3.14159265358979323846)))"},
)  # fmt: skip
radians = _op(
    "radians", np.radians, "Degrees to radians.", cost=1, ulp=2, kind=Kind.SCALING,
    wgsl={"float": "opaque_{T}({0} * ({T}(3.14159265358979323846) / {T}(180.0)))"},
)  # fmt: skip

# --- rounding and the parts of floating numbers --------------------------------------------------------------------


def _rounding(name: str, ufunc: np.ufunc, doc: str) -> MapOp:
    """Return the record of a rounding to integers, which leaves booleans and integers unchanged."""
    return _op(
        name, ufunc, doc, accepts="real-valued", cost=1, library="float", wgsl={"int": "{0}", "bool": "{0}"},
        values=ValueFacts(never_subnormal=True),
    )  # fmt: skip


ceil = _rounding("ceil", np.ceil, "Rounded up.")
floor = _rounding("floor", np.floor, "Rounded down.")
trunc = _rounding("trunc", np.trunc, "Rounded towards 0.")
rint = _op(
    "rint", np.rint, "Rounded to the nearest integer, ties to even.", cost=1, library="float complex",
    values=ValueFacts(never_subnormal=True),
)  # fmt: skip
copysign = _op(
    "copysign",
    np.copysign,
    "Absolute value of x1 with the sign of x2.",
    accepts="real-valued floating-point",
    cost=1,
    library="float",
)
signbit = _op(
    "signbit",
    np.signbit,
    "Whether the sign bit is set.",
    accepts="real-valued floating-point",
    cost=1,
    library="float",
    quirks=Quirk.WRONG_WITH_GAPS,
)
# float16 computes as f32 but steps on its own grid, hence the name by width
nextafter = _op(
    "nextafter", np.nextafter, "Next representable number after x1 towards x2.", accepts="real-valued floating-point",
    cost=4,
    wgsl={"float": "nextafter_f{bits}({0}, {1})"},
)  # fmt: skip
spacing = _op(
    "spacing", np.spacing, "Distance to the next representable number away from 0.", cost=4,
    wgsl={"float": "spacing_f{bits}({0})"},
)  # fmt: skip
# the literals take the exponent's own integer type, so one template serves i32 and i64 exponents
ldexp = _op(
    "ldexp", np.ldexp, "x times 2 to an integer power.", cost=4,
    wgsl={"float": "ldexp_{T}({0}, i32(max(min({1}, 9999), -9999)))", "pair": "ldexp_{T}({0}, exponent_pair({1}))"},
)  # fmt: skip
frexp_mantissa = _op(
    "frexp_mantissa", np.frexp, "The mantissa, of magnitude in [0.5, 1).", output=0, cost=4, library="float"
)
frexp_exponent = _op("frexp_exponent", np.frexp, "The exponent of that mantissa.", output=1, cost=4, library="float")
modf_fraction = _op(
    "modf_fraction", np.modf, "The fractional part, with the sign of x.", output=0, cost=2, library="float"
)
modf_integral = _op(
    "modf_integral", np.modf, "The integral part, with the sign of x.", output=1, cost=1,
    wgsl={"float": "trunc_{T}({0})"},
)  # fmt: skip

# --- exponentials and logarithms, trigonometry ---------------------------------------------------------------------


def _mathematical(
    name: str,
    ufunc: np.ufunc,
    doc: str,
    *,
    cost: int,
    accepts: str = "floating-point",
    groups: str = "float complex",
    **columns: Any,
) -> MapOp:
    """Return the record of a function with an error of at most 2 units in the last place."""
    return _op(name, ufunc, doc, accepts=accepts, cost=cost, ulp=2, library=groups, **columns)


exp = _mathematical("exp", np.exp, "e to the power x.", cost=10, values=ValueFacts(one_near_zero=True))
exp2 = _mathematical("exp2", np.exp2, "2 to the power x.", accepts="", cost=10, values=ValueFacts(one_near_zero=True))
expm1 = _mathematical("expm1", np.expm1, "exp(x) - 1, exact near 0.", cost=12)
log = _mathematical(
    "log", np.log, "Natural logarithm.", cost=10,
    values=ValueFacts(never_subnormal=True, fast_domain=FastDomain(128, 7)),
)  # fmt: skip
log1p = _mathematical("log1p", np.log1p, "log(1 + x), exact near 0.", cost=12)
log2 = _mathematical("log2", np.log2, "Logarithm to base 2.", cost=12, values=ValueFacts(never_subnormal=True))
log10 = _mathematical("log10", np.log10, "Logarithm to base 10.", cost=12, values=ValueFacts(never_subnormal=True))
# the error is in units of the larger of result, operands and 1: near a result of 0 they cancel, here as in NumPy
logaddexp = _mathematical(
    "logaddexp", np.logaddexp, "log(exp(x) + exp(y)).", accepts="real-valued floating-point", cost=25, groups="float"
)
logaddexp2 = _mathematical("logaddexp2", np.logaddexp2, "log2(2**x + 2**y).", accepts="", cost=25, groups="float")
sin = _mathematical("sin", np.sin, "Sine.", cost=15, values=ValueFacts(below=1), quirks=Quirk.SLOW_UNCACHED)
cos = _mathematical(
    "cos", np.cos, "Cosine.", cost=15, values=ValueFacts(below=1, never_subnormal=True, one_near_zero=True),
    quirks=Quirk.SLOW_UNCACHED,
)  # fmt: skip
tan = _mathematical("tan", np.tan, "Tangent.", cost=20)
asin = _mathematical("asin", np.arcsin, "Inverse sine, in [-pi/2, pi/2].", cost=15, values=ValueFacts(below=1))
acos = _mathematical(
    "acos", np.arccos, "Inverse cosine, in [0, pi].", cost=15, values=ValueFacts(below=2, never_subnormal=True)
)
atan = _mathematical("atan", np.arctan, "Inverse tangent, in [-pi/2, pi/2].", cost=15, values=ValueFacts(below=1))
atan2 = _mathematical(
    "atan2",
    np.arctan2,
    "Angle of the point (x2, x1), in [-pi, pi].",
    accepts="real-valued floating-point",
    cost=20,
    groups="float",
)
sinh = _mathematical("sinh", np.sinh, "Hyperbolic sine.", cost=15)
cosh = _mathematical(
    "cosh", np.cosh, "Hyperbolic cosine.", cost=15, values=ValueFacts(never_subnormal=True, one_near_zero=True)
)
tanh = _mathematical("tanh", np.tanh, "Hyperbolic tangent.", cost=15, values=ValueFacts(below=1))
asinh = _mathematical("asinh", np.arcsinh, "Inverse hyperbolic sine.", cost=20)
acosh = _mathematical("acosh", np.arccosh, "Inverse hyperbolic cosine.", cost=20)
atanh = _mathematical("atanh", np.arctanh, "Inverse hyperbolic tangent.", cost=20)

# --- extremes and comparisons ---------------------------------------------------------------------------------------


def _extreme(name: str, ufunc: np.ufunc, doc: str, boolean: str, integer: str, **columns: Any) -> MapOp:
    forms = {"bool": boolean, "int": f"{integer}({{0}}, {{1}})", "pair": f"{integer}_{{T}}({{0}}, {{1}})"}
    return _op(name, ufunc, doc, cost=2, library="float complex", wgsl=forms, kind=Kind.EXTREME, **columns)


maximum = _extreme(
    "maximum", np.maximum, "Maximum; NaN if either operand is NaN.", "({0} || {1})", "max", accepts="real-valued",
    numpy_forms=numpy_forms.of_one_number(numpy_forms.largest, _FLOATING), bounds=integer_bounds.of_largest,
    atomic="atomicMax",
)  # fmt: skip
minimum = _extreme(
    "minimum", np.minimum, "Minimum; NaN if either operand is NaN.", "({0} && {1})", "min", accepts="real-valued",
    numpy_forms=numpy_forms.of_one_number(numpy_forms.smallest, _FLOATING), bounds=integer_bounds.of_least,
    atomic="atomicMin",
)  # fmt: skip
fmax = _extreme("fmax", np.fmax, "Maximum, ignoring NaN.", "({0} || {1})", "max")
fmin = _extreme("fmin", np.fmin, "Minimum, ignoring NaN.", "({0} && {1})", "min")


def _comparison(
    name: str, ufunc: np.ufunc, doc: str, symbol: str, boolean: str, test: str, *, swapped: bool = False
) -> MapOp:
    accepts = "any" if symbol in ("==", "!=") else "real-valued"
    narrow = f"({{0}} {symbol} {{1}})"
    # NumPy compares int64 with uint64 exactly, without a common type, so there is a function for each two types
    wide = test + ("_{U}_{T}({1}, {0})" if swapped else "_{T}_{U}({0}, {1})")
    forms = {"bool": boolean, "i32": narrow, "u32": narrow, "i64": wide, "u64": wide, "pair": wide}
    return _op(name, ufunc, doc, accepts=accepts, cost=1, library="float complex", wgsl=forms, kind=Kind.COMPARISON)


equal = _comparison("equal", np.equal, "Whether x1 and x2 are equal.", "==", "({0} == {1})", "equal")
not_equal = _comparison(
    "not_equal", np.not_equal, "Whether x1 and x2 are not equal; True for NaN.", "!=", "({0} != {1})", "!equal"
)
less = _comparison("less", np.less, "Whether x1 is less than x2.", "<", "(!{0} && {1})", "less")
less_equal = _comparison(
    "less_equal", np.less_equal, "Whether x1 is less than or equal to x2.", "<=", "(!{0} || {1})", "!less", swapped=True
)
greater = _comparison(
    "greater", np.greater, "Whether x1 is greater than x2.", ">", "({0} && !{1})", "less", swapped=True
)
greater_equal = _comparison(
    "greater_equal", np.greater_equal, "Whether x1 is greater than or equal to x2.", ">=", "({0} || !{1})", "!less"
)


def _question(name: str, ufunc: np.ufunc, doc: str, of_integers: str) -> MapOp:
    """Return the record of a predicate of floating values; ``of_integers`` is its value for all others."""
    return _op(
        name, ufunc, doc, accepts="numeric", cost=1, library="float complex", wgsl={"any": of_integers},
        quirks=Quirk.WRONG_WITH_GAPS,
    )  # fmt: skip


isnan = _question("isnan", np.isnan, "Whether the value, or a part of it, is NaN.", "false")
isinf = _question("isinf", np.isinf, "Whether the value, or a part of it, is infinite.", "false")
isfinite = _question("isfinite", np.isfinite, "Whether the value is neither infinite nor NaN.", "true")

# --- logic and bits ---------------------------------------------------------------------------------------------------

_TRUTHS = ("bool", "int", "pair", "float", "complex")


def _truth(operand: int, group: str) -> str:
    return {"bool": f"{{{operand}}}", "int": f"({{{operand}}} != 0)"}.get(group, f"truth_{{T}}({{{operand}}})")


def _logical(name: str, ufunc: np.ufunc, doc: str, join: str) -> MapOp:
    forms = {group: f"({_truth(0, group)} {join} {_truth(1, group)})" for group in _TRUTHS}
    return _op(name, ufunc, doc, accepts="boolean", cost=1, wgsl=forms)


logical_and = _logical("logical_and", np.logical_and, "Logical and: whether both are non-zero.", "&&")
logical_or = _logical("logical_or", np.logical_or, "Logical or: whether at least one is non-zero.", "||")
logical_xor = _logical("logical_xor", np.logical_xor, "Logical exclusive or: whether exactly one is non-zero.", "!=")
logical_not = _op(
    "logical_not", np.logical_not, "Logical not: whether the value is zero.", accepts="boolean", cost=1,
    wgsl={group: f"!{_truth(0, group)}" for group in _TRUTHS},
)  # fmt: skip
bitwise_and = _op(
    "bitwise_and", np.bitwise_and, "Bitwise and.", accepts="integer or boolean", cost=1, atomic="atomicAnd",
    wgsl={"bool": "({0} && {1})", "int": "({0} & {1})"},
)  # fmt: skip
bitwise_or = _op(
    "bitwise_or", np.bitwise_or, "Bitwise or.", accepts="integer or boolean", cost=1, atomic="atomicOr",
    wgsl={"bool": "({0} || {1})", "int": "({0} | {1})"},
)  # fmt: skip
bitwise_xor = _op(
    "bitwise_xor", np.bitwise_xor, "Bitwise exclusive or.", accepts="integer or boolean", cost=1, atomic="atomicXor",
    wgsl={"bool": "({0} != {1})", "int": "({0} ^ {1})"},
)  # fmt: skip
bitwise_invert = _op(
    "bitwise_invert",
    np.invert,
    "Bitwise not.",
    accepts="integer or boolean",
    cost=1,
    wgsl={"bool": "!{0}", "int": "(~{0})"},
)
bitwise_left_shift = _op(
    "bitwise_left_shift", np.left_shift, "Left shift; 0 beyond the width.", accepts="integer", cost=1,
    wgsl={"int": "left_shift_{T}({0}, {1}, {bits}u)"},
)  # fmt: skip
bitwise_right_shift = _op(
    "bitwise_right_shift", np.right_shift, "Right shift; the sign bit beyond the width.", accepts="integer", cost=1,
    wgsl={"int": "right_shift_{T}({0}, {1}, {bits}u)"},
)  # fmt: skip
bitwise_count = _op(
    "bitwise_count", np.bitwise_count, "Number of bits set in the absolute value.", cost=1, library="int"
)

# --- selection, casts and complex parts -----------------------------------------------------------------------------

where = MapOp(
    name="where", numpy=references.where, arity=3, dtypes=references.where_dtypes,
    accepts="any", cost=1, kind=Kind.SELECTION, bounds=integer_bounds.of_choice,
    doc="x where the condition is true, else y.", wgsl={"any": "select({2}, {1}, {0})"},
)  # fmt: skip
cast = MapOp(
    name="cast", numpy=references.cast, arity=1, dtypes=references.cast_dtypes, cost=1, kind=Kind.CONVERSION,
    doc="The value in another dtype, as ``astype`` gives it.", bounds=integer_bounds.same,
)  # fmt: skip
bitcast = MapOp(
    name="bitcast", numpy=references.bitcast, arity=1, dtypes=references.bitcast_dtypes,
    cost=1, kind=Kind.REINTERPRETATION,
    doc="The bits as another real dtype of the same size.",
)  # fmt: skip
real = MapOp(
    name="real", numpy=references.real, arity=1, dtypes=references.part_dtypes,
    accepts="numeric", cost=1, doc="The real part.", wgsl={"any": "{0}", "complex": "{0}.x"},
)  # fmt: skip
imag = MapOp(
    name="imag", numpy=references.imag, arity=1, dtypes=references.part_dtypes, accepts="complex floating-point",
    cost=1, doc="The imaginary part; 0 of a real number.",
    wgsl={"any": "{R}(0)", "pair": "vec2<u32>(0u, 0u)", "complex": "{0}.y"},
)  # fmt: skip
conj = _op(
    "conj", np.conjugate, "The complex conjugate.", accepts="numeric", cost=1, library="complex", wgsl={"any": "{0}"}
)
complex_from_parts = MapOp(
    name="complex_from_parts", numpy=references.complex_from_parts, arity=2, dtypes=references.parts_dtypes, cost=1,
    doc="The complex number with the given real and imaginary parts.", wgsl={"float": "vec2<{T}>({0}, {1})"},
)  # fmt: skip

# --- derivatives ----------------------------------------------------------------------------------------------------

# what a derivative is multiplied with may be infinite or NaN in branches that a selection has not taken
multiply_no_nan = MapOp(
    name="multiply_no_nan", numpy=references.multiply_no_nan, arity=2, dtypes=references.multiply_no_nan_dtypes, cost=2,
    doc="x * y, and 0 where x or y is 0, whatever the other is.",
    wgsl={"float": "select(multiply_{T}({0}, {1}), {T}(0.0), {0} == {T}(0.0) || {1} == {T}(0.0))",
          "c64": "select(vec2<f32>(), multiply_{T}({0}, {1}), truth_{T}({0}) && truth_{T}({1}))",
          "c128": "select(vec2<f64>(), multiply_{T}({0}, {1}), truth_{T}({0}) && truth_{T}({1}))"},
)  # fmt: skip
