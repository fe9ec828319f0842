"""The elementwise operations: one row each, grouped as the Array API standard groups them, NumPy's own after those.

Names are the standard's, and NumPy's where the standard has none. A composition has no row: ``divmod``, ``round`` to
decimals and ``clip`` are functions over these rows. The promise of every row is NumPy's value: NaN, infinities and
signed zeros included, integers wrapping, division of integers by zero giving 0.

The templates of + - * / guard their results: ``opaque_{T}`` hides a value from the driver's compiler, which would
otherwise fold ``x - x`` to 0 for infinities, contract a product and a sum into one rounding where NumPy has two, or
reorder a chain of either.
"""

from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.ops.spec import MapOp, Signature

# --- references and dtype rules of the rows that have no ufunc ---------------------------------------------------


def _where(condition: Any, x: Any, y: Any, out: Any) -> Any:
    if out is x:
        np.copyto(out, y, where=np.logical_not(condition), casting="unsafe")
        return out
    if out is not y:
        np.copyto(out, y, casting="unsafe")
    np.copyto(out, x, where=condition, casting="unsafe")
    return out


def _where_dtypes(_condition: Any, x: Any, y: Any) -> Signature:
    common = dtypes.promote(x, y)
    return Signature((dtypes.bool_, common, common), common)


def _cast(x: Any, out: Any) -> Any:
    source = np.asarray(x)
    if source.dtype.kind == "c" and out.dtype.kind not in "cb":
        source = source.real
    with np.errstate(invalid="ignore", over="ignore"):
        np.copyto(out, source, casting="unsafe")
    return out


def _cast_dtypes(source: Any, target: DType) -> Signature:
    """Return the signature of a cast to the dtype that the node names; a weak source is of its kind's default."""
    return Signature((dtypes.promote(source),), dtypes.canonical(target))


def _bitcast(x: Any, out: Any) -> Any:
    np.copyto(out.view(np.asarray(x).dtype), x)
    return out


def _bitcast_dtypes(source: Any, target: DType) -> Signature:
    """Return the signature of the same bits in the dtype that the node names, which has the source's size."""
    return Signature((dtypes.canonical(source),), dtypes.canonical(target))


def _real(x: Any, out: Any) -> Any:
    np.copyto(out, np.asarray(x).real)
    return out


def _imag(x: Any, out: Any) -> Any:
    np.copyto(out, np.asarray(x).imag)
    return out


_REAL_OF = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}


def _part_dtypes(x: Any) -> Signature:
    given = dtypes.promote(x)
    return Signature((given,), _REAL_OF.get(given, given))


def _complex_from_parts(real: Any, imag: Any, out: Any) -> Any:
    # the imaginary part first: out may share memory with neither, but real may be a view of what imag is not
    out.imag = imag
    out.real = real
    return out


def _parts_dtypes(real: Any, imag: Any) -> Signature:
    common = dtypes.promote(real, imag)
    if common.kind == "c":
        raise TypeError("complex_from_parts takes real parts; given a complex dtype; take its real or imag part first")
    single = common in (dtypes.float16, dtypes.float32)
    part, whole = (dtypes.float32, dtypes.complex64) if single else (dtypes.float64, dtypes.complex128)
    return Signature((part, part), whole)


# --- arithmetic ----------------------------------------------------------------------------------------------------

_IDENTITY = {"int": "{0}", "bool": "{0}"}

add = MapOp(
    name="add", numpy=np.add, arity=2, doc="Sum; logical or of booleans.",
    wgsl={
        "bool": "({0} || {1})", "int": "({0} + {1})", "pair": "add_pair({0}, {1})", "float": "add_{T}({0}, {1})",
        "complex": "opaque_{T}({0} + {1})",
    },
)  # fmt: skip
subtract = MapOp(
    name="subtract", numpy=np.subtract, arity=2, doc="Difference.",
    wgsl={
        "int": "({0} - {1})", "pair": "subtract_pair({0}, {1})", "float": "subtract_{T}({0}, {1})",
        "complex": "subtract_{T}({0}, {1})",
    },
)  # fmt: skip
multiply = MapOp(
    name="multiply", numpy=np.multiply, arity=2, doc="Product; logical and of booleans.",
    wgsl={
        "bool": "({0} && {1})", "int": "({0} * {1})", "pair": "multiply_pair({0}, {1})",
        "float": "multiply_{T}({0}, {1})", "complex": "multiply_{T}({0}, {1})",
    },
)  # fmt: skip
divide = MapOp(
    name="divide", numpy=np.divide, arity=2, cost=4, doc="True quotient, floating.",
    wgsl={"float": "divide_{T}({0}, {1})", "complex": "divide_{T}({0}, {1})"},
)  # fmt: skip
floor_divide = MapOp(
    name="floor_divide", numpy=np.floor_divide, arity=2, cost=20, doc="Quotient rounded down; x // 0 is 0 of integers.",
    wgsl={"int": "floor_divide_{T}({0}, {1})", "float": "floor_divide_{T}({0}, {1})"},
)  # fmt: skip
remainder = MapOp(
    name="remainder", numpy=np.remainder, arity=2, cost=20, doc="What floor_divide leaves, with the divisor's sign.",
    wgsl={"int": "remainder_{T}({0}, {1})", "float": "remainder_{T}({0}, {1})"},
)  # fmt: skip
fmod = MapOp(
    name="fmod", numpy=np.fmod, arity=2, cost=20, doc="What truncated division leaves, with the dividend's sign.",
    wgsl={"int": "fmod_{T}({0}, {1})", "float": "fmod_{T}({0}, {1})"},
)  # fmt: skip
negative = MapOp(
    name="negative", numpy=np.negative, arity=1, doc="Negated value.",
    wgsl={
        "signed": "(-{0})", "unsigned": "({T}(0) - {0})", "pair": "negative_pair({0})", "float": "negative_{T}({0})",
        "complex": "negative_{T}({0})",
    },
)  # fmt: skip
positive = MapOp(name="positive", numpy=np.positive, arity=1, doc="The value itself.", wgsl={"any": "{0}"})
abs = MapOp(
    name="abs", numpy=np.absolute, arity=1, ulp=2, doc="Magnitude, exact of real operands; real of complex ones.",
    wgsl={
        "bool": "{0}", "unsigned": "{0}", "u64p": "{0}", "signed": "select({0}, -{0}, {0} < 0)", "i64p": "abs_{T}({0})",
        "float": "abs_{T}({0})", "complex": "abs_{T}({0})",
    },
)  # fmt: skip
fabs = MapOp(name="fabs", numpy=np.fabs, arity=1, doc="Magnitude, floating.", wgsl={"float": "abs_{T}({0})"})
sign = MapOp(
    name="sign", numpy=np.sign, arity=1, doc="-1, 0 or 1; x / abs(x) of complex numbers.",
    wgsl={
        "unsigned": "min({0}, {T}(1))", "signed": "({T}({0} > 0) - {T}({0} < 0))", "pair": "sign_{T}({0})",
        "float": "sign_{T}({0})", "complex": "sign_{T}({0})",
    },
)  # fmt: skip
square = MapOp(
    name="square", numpy=np.square, arity=1, doc="x * x.",
    wgsl={
        "int": "({0} * {0})", "pair": "multiply_pair({0}, {0})", "float": "multiply_{T}({0}, {0})",
        "complex": "square_{T}({0})",
    },
)  # fmt: skip
reciprocal = MapOp(
    name="reciprocal", numpy=np.reciprocal, arity=1, cost=4, doc="1 / x; truncated of integers.",
    wgsl={
        "int": "reciprocal_{T}({0}, {bits}u)", "float": "divide_{T}({T}(1.0), {0})", "complex": "reciprocal_{T}({0})",
    },
)  # fmt: skip
sqrt = MapOp(
    name="sqrt", numpy=np.sqrt, arity=1, cost=6, doc="Principal square root.",
    wgsl={"float": "sqrt_{T}({0})", "complex": "sqrt_{T}({0})"},
)  # fmt: skip
cbrt = MapOp(name="cbrt", numpy=np.cbrt, arity=1, cost=15, ulp=2, doc="Cube root.", wgsl={"float": "cbrt_{T}({0})"})
hypot = MapOp(
    name="hypot", numpy=np.hypot, arity=2, cost=12, ulp=2, doc="sqrt(x*x + y*y) without overflow.",
    wgsl={"float": "hypot_{T}({0}, {1})"},
)  # fmt: skip
pow = MapOp(
    name="pow", numpy=np.power, arity=2, cost=30, ulp=2, doc="x to the power y; of integers wrapping, y not negative.",
    wgsl={"int": "pow_{T}({0}, {1})", "float": "pow_{T}({0}, {1})", "complex": "pow_{T}({0}, {1})"},
)  # fmt: skip
float_power = MapOp(
    name="float_power", numpy=np.float_power, arity=2, cost=30, ulp=2, doc="x to the power y in double precision.",
    wgsl={"float": "pow_{T}({0}, {1})", "complex": "pow_{T}({0}, {1})"},
)  # fmt: skip
gcd = MapOp(
    name="gcd", numpy=np.gcd, arity=2, cost=60, doc="Greatest common divisor.", wgsl={"int": "gcd_{T}({0}, {1})"}
)
lcm = MapOp(
    name="lcm", numpy=np.lcm, arity=2, cost=60, doc="Lowest common multiple.", wgsl={"int": "lcm_{T}({0}, {1})"}
)
heaviside = MapOp(
    name="heaviside", numpy=np.heaviside, arity=2, cost=3, doc="0, the second operand or 1 as x is below, at, above 0.",
    wgsl={"float": "heaviside_{T}({0}, {1})"},
)  # fmt: skip
degrees = MapOp(
    name="degrees", numpy=np.degrees, arity=1, ulp=2, doc="Radians to degrees.",
    wgsl={"float": "opaque_{T}({0} * ({T}(180.0) / {T}(3.14159265358979323846)))"},
)  # fmt: skip
radians = MapOp(
    name="radians", numpy=np.radians, arity=1, ulp=2, doc="Degrees to radians.",
    wgsl={"float": "opaque_{T}({0} * ({T}(3.14159265358979323846) / {T}(180.0)))"},
)  # fmt: skip

# --- rounding and the parts of floating numbers --------------------------------------------------------------------

ceil = MapOp(
    name="ceil", numpy=np.ceil, arity=1, doc="Rounded up.", wgsl=_IDENTITY | {"float": "ceil_{T}({0})"}
)  # fmt: skip
floor = MapOp(
    name="floor", numpy=np.floor, arity=1, doc="Rounded down.", wgsl=_IDENTITY | {"float": "floor_{T}({0})"}
)  # fmt: skip
trunc = MapOp(
    name="trunc", numpy=np.trunc, arity=1, doc="Rounded towards 0.", wgsl=_IDENTITY | {"float": "trunc_{T}({0})"}
)  # fmt: skip
rint = MapOp(
    name="rint", numpy=np.rint, arity=1, doc="Rounded to the nearest integer, ties to even.",
    wgsl={"float": "rint_{T}({0})", "complex": "rint_{T}({0})"},
)  # fmt: skip
copysign = MapOp(
    name="copysign", numpy=np.copysign, arity=2, doc="Magnitude of x, sign of y.",
    wgsl={"float": "copysign_{T}({0}, {1})"},
)  # fmt: skip
signbit = MapOp(
    name="signbit", numpy=np.signbit, arity=1, doc="Whether the sign bit is set.", wgsl={"float": "signbit_{T}({0})"}
)
# float16 computes as f32 but steps on its own grid, hence the name by width
nextafter = MapOp(
    name="nextafter", numpy=np.nextafter, arity=2, cost=4, doc="The next representable value from x towards y.",
    wgsl={"float": "nextafter_f{bits}({0}, {1})"},
)  # fmt: skip
spacing = MapOp(
    name="spacing", numpy=np.spacing, arity=1, cost=4, doc="Distance to the next representable value, away from 0.",
    wgsl={"float": "spacing_f{bits}({0})"},
)  # fmt: skip
# the literals take the exponent's own integer type, so one template serves i32 and i64 exponents
ldexp = MapOp(
    name="ldexp", numpy=np.ldexp, arity=2, cost=4, doc="x times 2 to an integer power.",
    wgsl={"float": "ldexp_{T}({0}, i32(max(min({1}, 9999), -9999)))", "pair": "ldexp_{T}({0}, exponent_pair({1}))"},
)  # fmt: skip
frexp_mantissa = MapOp(
    name="frexp_mantissa", numpy=np.frexp, arity=1, output=0, cost=4, doc="The mantissa, of magnitude in [0.5, 1).",
    wgsl={"float": "frexp_mantissa_{T}({0})"},
)  # fmt: skip
frexp_exponent = MapOp(
    name="frexp_exponent", numpy=np.frexp, arity=1, output=1, cost=4, doc="The exponent that goes with that mantissa.",
    wgsl={"float": "frexp_exponent_{T}({0})"},
)  # fmt: skip
modf_fraction = MapOp(
    name="modf_fraction", numpy=np.modf, arity=1, output=0, cost=2, doc="The fractional part, with the sign of x.",
    wgsl={"float": "modf_fraction_{T}({0})"},
)  # fmt: skip
modf_integral = MapOp(
    name="modf_integral", numpy=np.modf, arity=1, output=1, doc="The integral part, with the sign of x.",
    wgsl={"float": "trunc_{T}({0})"},
)  # fmt: skip


# --- exponentials and logarithms, trigonometry ---------------------------------------------------------------------


def _mathematical(name: str, ufunc: np.ufunc, doc: str, *, cost: int, ulp: float = 2, complex_: bool = True) -> MapOp:
    """Return the row of a function with one WGSL function for each floating type."""
    operands = ", ".join(f"{{{i}}}" for i in range(ufunc.nin))
    form = f"{name}_{{T}}({operands})"
    forms = {"float": form, "complex": form} if complex_ else {"float": form}
    return MapOp(name=name, numpy=ufunc, arity=ufunc.nin, wgsl=forms, cost=cost, ulp=ulp, doc=doc)


exp = _mathematical("exp", np.exp, "e to the power x.", cost=10)
exp2 = _mathematical("exp2", np.exp2, "2 to the power x.", cost=10)
expm1 = _mathematical("expm1", np.expm1, "exp(x) - 1, exact near 0.", cost=12)
log = _mathematical("log", np.log, "Natural logarithm.", cost=10)
log1p = _mathematical("log1p", np.log1p, "log(1 + x), exact near 0.", cost=12)
log2 = _mathematical("log2", np.log2, "Logarithm to base 2.", cost=12)
log10 = _mathematical("log10", np.log10, "Logarithm to base 10.", cost=12)
# the error is in units of the larger of result, operands and 1: near a result of 0 they cancel, here as in NumPy
logaddexp = _mathematical("logaddexp", np.logaddexp, "log(exp(x) + exp(y)).", cost=25, complex_=False)
logaddexp2 = _mathematical("logaddexp2", np.logaddexp2, "log2(2**x + 2**y).", cost=25, complex_=False)
sin = _mathematical("sin", np.sin, "Sine.", cost=15)
cos = _mathematical("cos", np.cos, "Cosine.", cost=15)
tan = _mathematical("tan", np.tan, "Tangent.", cost=20)
asin = _mathematical("asin", np.arcsin, "Inverse sine, in [-pi/2, pi/2].", cost=15)
acos = _mathematical("acos", np.arccos, "Inverse cosine, in [0, pi].", cost=15)
atan = _mathematical("atan", np.arctan, "Inverse tangent, in [-pi/2, pi/2].", cost=15)
atan2 = _mathematical("atan2", np.arctan2, "Angle of the point (y, x), in [-pi, pi].", cost=20, complex_=False)
sinh = _mathematical("sinh", np.sinh, "Hyperbolic sine.", cost=15)
cosh = _mathematical("cosh", np.cosh, "Hyperbolic cosine.", cost=15)
tanh = _mathematical("tanh", np.tanh, "Hyperbolic tangent.", cost=15)
asinh = _mathematical("asinh", np.arcsinh, "Inverse hyperbolic sine.", cost=20)
acosh = _mathematical("acosh", np.arccosh, "Inverse hyperbolic cosine.", cost=20)
atanh = _mathematical("atanh", np.arctanh, "Inverse hyperbolic tangent.", cost=20)

# --- extremes and comparisons ---------------------------------------------------------------------------------------


def _extreme(name: str, ufunc: np.ufunc, doc: str, boolean: str, integer: str) -> MapOp:
    form = f"{name}_{{T}}({{0}}, {{1}})"
    forms = {
        "bool": boolean, "int": f"{integer}({{0}}, {{1}})", "pair": f"{integer}_{{T}}({{0}}, {{1}})", "float": form,
        "complex": form,
    }  # fmt: skip
    return MapOp(name=name, numpy=ufunc, arity=2, wgsl=forms, cost=2, doc=doc)


maximum = _extreme("maximum", np.maximum, "The larger; NaN if either is NaN.", "({0} || {1})", "max")
minimum = _extreme("minimum", np.minimum, "The smaller; NaN if either is NaN.", "({0} && {1})", "min")
fmax = _extreme("fmax", np.fmax, "The larger; the other one if one is NaN.", "({0} || {1})", "max")
fmin = _extreme("fmin", np.fmin, "The smaller; the other one if one is NaN.", "({0} && {1})", "min")

# NumPy compares int64 with uint64 exactly, without a common type: the 64-bit forms take both as u64 together with
# whether each is negative, which is right for all four combinations of types.
_WIDE = "u64({0}), u64({1}), {0} < 0, {1} < 0"
_WIDE_SWAPPED = "u64({1}), u64({0}), {1} < 0, {0} < 0"
_PAIR = "{0}, {1}, below_zero_{T}({0}), below_zero_{U}({1})"
_PAIR_SWAPPED = "{1}, {0}, below_zero_{U}({1}), below_zero_{T}({0})"


def _comparison(
    name: str, ufunc: np.ufunc, doc: str, symbol: str, boolean: str, test: str, *, swapped: bool = False
) -> MapOp:
    form = f"{name}_{{T}}({{0}}, {{1}})"
    narrow = f"({{0}} {symbol} {{1}})"
    wide = f"{test}_wide({_WIDE_SWAPPED if swapped else _WIDE})"
    pair = f"{test}_pair({_PAIR_SWAPPED if swapped else _PAIR})"
    forms = {
        "bool": boolean, "i32": narrow, "u32": narrow, "i64": wide, "u64": wide, "pair": pair, "float": form,
        "complex": form,
    }  # fmt: skip
    return MapOp(name=name, numpy=ufunc, arity=2, wgsl=forms, doc=doc)


equal = _comparison("equal", np.equal, "Whether x is y.", "==", "({0} == {1})", "equal")
not_equal = _comparison("not_equal", np.not_equal, "Whether x is not y; true of NaN.", "!=", "({0} != {1})", "!equal")
less = _comparison("less", np.less, "Whether x is below y.", "<", "(!{0} && {1})", "less")
less_equal = _comparison(
    "less_equal", np.less_equal, "Whether x is at most y.", "<=", "(!{0} || {1})", "!less", swapped=True
)
greater = _comparison("greater", np.greater, "Whether x is above y.", ">", "({0} && !{1})", "less", swapped=True)
greater_equal = _comparison(
    "greater_equal", np.greater_equal, "Whether x is at least y.", ">=", "({0} || !{1})", "!less"
)

isnan = MapOp(
    name="isnan", numpy=np.isnan, arity=1, doc="Whether the value, or a part of it, is NaN.",
    wgsl={"any": "false", "float": "isnan_{T}({0})", "complex": "isnan_{T}({0})"},
)  # fmt: skip
isinf = MapOp(
    name="isinf", numpy=np.isinf, arity=1, doc="Whether the value, or a part of it, is infinite.",
    wgsl={"any": "false", "float": "isinf_{T}({0})", "complex": "isinf_{T}({0})"},
)  # fmt: skip
isfinite = MapOp(
    name="isfinite", numpy=np.isfinite, arity=1, doc="Whether the value is neither infinite nor NaN.",
    wgsl={"any": "true", "float": "isfinite_{T}({0})", "complex": "isfinite_{T}({0})"},
)  # fmt: skip

# --- logic and bits ---------------------------------------------------------------------------------------------------


_TRUTHS = ("bool", "int", "pair", "float", "complex")


def _truth(operand: int, kind: str) -> str:
    return {"bool": f"{{{operand}}}", "int": f"({{{operand}}} != 0)"}.get(kind, f"truth_{{T}}({{{operand}}})")


def _logical(name: str, ufunc: np.ufunc, doc: str, join: str) -> MapOp:
    forms = {kind: f"({_truth(0, kind)} {join} {_truth(1, kind)})" for kind in _TRUTHS}
    return MapOp(name=name, numpy=ufunc, arity=2, wgsl=forms, doc=doc)


logical_and = _logical("logical_and", np.logical_and, "Whether both are non-zero.", "&&")
logical_or = _logical("logical_or", np.logical_or, "Whether either is non-zero.", "||")
logical_xor = _logical("logical_xor", np.logical_xor, "Whether exactly one is non-zero.", "!=")
logical_not = MapOp(
    name="logical_not", numpy=np.logical_not, arity=1, doc="Whether the value is zero.",
    wgsl={kind: f"!{_truth(0, kind)}" for kind in _TRUTHS},
)  # fmt: skip
bitwise_and = MapOp(
    name="bitwise_and", numpy=np.bitwise_and, arity=2, doc="Bits set in both.",
    wgsl={"bool": "({0} && {1})", "int": "({0} & {1})"},
)  # fmt: skip
bitwise_or = MapOp(
    name="bitwise_or", numpy=np.bitwise_or, arity=2, doc="Bits set in either.",
    wgsl={"bool": "({0} || {1})", "int": "({0} | {1})"},
)  # fmt: skip
bitwise_xor = MapOp(
    name="bitwise_xor", numpy=np.bitwise_xor, arity=2, doc="Bits set in exactly one.",
    wgsl={"bool": "({0} != {1})", "int": "({0} ^ {1})"},
)  # fmt: skip
bitwise_invert = MapOp(
    name="bitwise_invert", numpy=np.invert, arity=1, doc="All bits flipped.", wgsl={"bool": "!{0}", "int": "(~{0})"}
)
bitwise_left_shift = MapOp(
    name="bitwise_left_shift", numpy=np.left_shift, arity=2, doc="Bits moved up; 0 beyond the width.",
    wgsl={"int": "left_shift_{T}({0}, {1}, {bits}u)"},
)  # fmt: skip
bitwise_right_shift = MapOp(
    name="bitwise_right_shift", numpy=np.right_shift, arity=2, doc="Bits moved down; the sign beyond the width.",
    wgsl={"int": "right_shift_{T}({0}, {1}, {bits}u)"},
)  # fmt: skip
bitwise_count = MapOp(
    name="bitwise_count", numpy=np.bitwise_count, arity=1, doc="Number of bits set in the magnitude.",
    wgsl={"int": "bitwise_count_{T}({0})"},
)  # fmt: skip

# --- selection, casts and complex parts -----------------------------------------------------------------------------

where = MapOp(
    name="where", numpy=_where, arity=3, dtypes=_where_dtypes, doc="x where the condition holds, y elsewhere.",
    wgsl={"any": "select({2}, {1}, {0})"},
)  # fmt: skip
cast = MapOp(
    name="cast", numpy=_cast, arity=1, dtypes=_cast_dtypes,
    doc="The value in another dtype, as ``astype`` gives it; WGSL comes from ``codegen/casts.py``.",
)  # fmt: skip
bitcast = MapOp(
    name="bitcast", numpy=_bitcast, arity=1, dtypes=_bitcast_dtypes,
    doc="The bits as another real dtype of the same size; WGSL comes from ``codegen/casts.py``.",
)  # fmt: skip
real = MapOp(
    name="real", numpy=_real, arity=1, dtypes=_part_dtypes, doc="The real part.",
    wgsl={"any": "{0}", "complex": "{0}.x"},
)  # fmt: skip
imag = MapOp(
    name="imag", numpy=_imag, arity=1, dtypes=_part_dtypes, doc="The imaginary part; 0 of a real number.",
    wgsl={"any": "{R}(0)", "pair": "vec2<u32>(0u, 0u)", "complex": "{0}.y"},
)  # fmt: skip
conj = MapOp(
    name="conj", numpy=np.conjugate, arity=1, doc="The complex conjugate.",
    wgsl={"any": "{0}", "complex": "conj_{T}({0})"},
)  # fmt: skip
complex_from_parts = MapOp(
    name="complex_from_parts", numpy=_complex_from_parts, arity=2, dtypes=_parts_dtypes,
    doc="The complex number with the given real and imaginary parts.", wgsl={"float": "vec2<{T}>({0}, {1})"},
)  # fmt: skip
