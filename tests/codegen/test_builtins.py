"""Which of a driver's own functions the rows' text calls: those that are exact, and a few whose error is made good."""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from gpuarray import dtypes
from gpuarray.codegen import casts, library
from gpuarray.codegen.target import for_target
from gpuarray.codegen.wgsl import apply_expression, generate_expression, parameter_dtypes
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.ops import elementwise, generators, special
from gpuarray.ops.spec import OPS, GenerateOp, MapOp, compute_type, wgsl_template

#: What may stand anywhere, and why.
EXACT = {
    "bitcast": "moves bits",
    "select": "moves bits",
    "min": "of integers, and of floats that are no NaN",
    "max": "of integers",
    "countLeadingZeros": "of 32-bit integers",
    "countOneBits": "of 32-bit integers",
    "abs": "of floats in comparisons, where a subnormal number taken for 0 makes no difference",
    "floor": "exact from 1 on, and used only there",
    "ceil": "exact from 1 on, and used only there",
    "trunc": "exact from 1 on, and used only there",
    "round": "exact from 1 on, and used only there or where another integer nearby would do",
    "fma": "right whether it rounds once or twice, unless the self-test has found that it rounds once",
}
#: What may stand in these functions only, and why.
INEXACT = {
    "inverseSqrt": {"fast_path_sqrt_f32": "an estimate, improved by its exact remainder"},
    "sqrt": {
        "sqrt_slow_path_f32": "an estimate, improved by its integer remainder",
        "sqrt_f64": "correctly rounded by every driver that was measured",
        **dict.fromkeys(("hypot", "asin", "acos", "acosh"), "its exact remainder is added"),
        **dict.fromkeys(("asinh", "tanh"), "its error is part of the function's, which is measured"),
        "root_words": "its exact remainder is the second part",
        **dict.fromkeys(("i0_near", "i1_near"), "for a correction, to a few digits"),
        "erfcinv_far": "where to start from",
    },
    "exp2": {"fast_path_tanh_f32": "where the self-test has found that it is close"},
    "log2": {"guard_pow_f32": "bounds the result, to a few digits"},
    "%": dict.fromkeys(("fmod_f", "reduce_late", "square_modulo"), "of unsigned integers: of signed ones it is wrong"),
}
CORRECTED = {
    "fast_path_divide_f32": "an estimate, improved by its exact remainder",
    "divide_slow_path_f32": "an estimate, improved by its integer remainder",
    "divide_f64": "correctly rounded by every driver that was measured",
}
WORDS = {
    "if",
    "while",
    "for",
    "switch",
    "return",
    "array",
    "vec2",
    "vec3",
    "vec4",
    "bool",
    "i32",
    "u32",
    "i64",
    "u64",
    "f32",
    "f64",
}
FUNCTION = re.compile(r"^fn (\w+)\(.*?(?=^(?:fn|const|override|struct|alias) |\Z)", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"\b([A-Za-z]\w*)\s*(?:<[\w<>, ]*>)?\(")


@cache
def uses(function: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a library function calls: driver's functions and operators, and other names."""
    text = library.functions([function])
    result = [m for m in FUNCTION.finditer(text) if m[1] == function]
    return called(result[0][0].partition("{")[2]) if result else (frozenset(), frozenset())


def called(text: str) -> tuple[frozenset[str], frozenset[str]]:
    names = set(CALL.findall(text)) - WORDS - {"zero_u32"}
    own = {name for name in names if name in library.names()}
    return frozenset((names - own) | {op for op in "/%" if f" {op} " in text}), frozenset(own)


def reached(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield every function that an expression reaches, "" for itself, with the driver's functions it calls."""
    builtins, waiting = called(text)
    yield "", builtins
    seen = set(waiting)
    pending = list(waiting)
    while pending:
        name = pending.pop()
        builtins, more = uses(name)
        yield name, builtins
        pending += more - seen
        seen |= more


def expressions() -> Iterator[tuple[str, str, bool]]:
    """Yield name, text and whether the result is correctly rounded, of every row, dtype by dtype, and of every cast."""
    for row in OPS.values():
        if isinstance(row, MapOp) and row not in (elementwise.cast, elementwise.bitcast):
            for signature in accepted(row):
                held = signature.inputs[1:] + signature.inputs[:1] if row is elementwise.where else signature.inputs
                if wgsl_template(row, compute_type(held[0])) is not None:
                    operands = [f"x{i}" for i in range(row.arity)]
                    text = apply_expression(row, operands, held, signature.output)
                    exact = row.ulp < 1 and signature.output.kind == "f"
                    yield f"{row.name} of {', '.join(map(str, held))}", text, exact
        elif isinstance(row, GenerateOp):
            for dtype in dtypes.ALL:
                if wgsl_template(row, compute_type(dtype)) is not None:
                    given = [f"p{i}" for i in range(len(parameter_dtypes(row, dtype)))]
                    yield f"{row.name} of {dtype}", generate_expression(row, "i", given, dtype), False
    for source in dtypes.ALL:
        for target in dtypes.ALL:
            yield f"{source} to {target}", casts.cast_expression("x", source, target), True
            if source.itemsize == target.itemsize and "c" not in source.kind + target.kind:
                yield f"{source} as {target}", casts.bitcast_expression("x", source, target), True


def accepted(row: MapOp) -> Iterator[object]:
    for dtype in dtypes.ALL:
        try:
            yield row.resolve(*[dtype] * row.arity)
        except TypeError:
            continue


def is_in(function: str, names: object) -> bool:
    """Whether a function is one of a table's, which has names without the precision."""
    return any(function == name or function.startswith(name) for name in names)  # type: ignore[attr-defined]


def test_a_use_is_seen_wherever_it_is() -> None:
    assert uses("acosh_f64")[0] == {"sqrt", "/"}
    assert ("fmod_f32", frozenset({"%", "min"})) in [
        (name, result & {"%", "min"}) for name, result in reached("f(remainder_f32(x, y))")
    ]
    assert called("exp(x) + log<f32>(y) % z")[0] == {"exp", "log", "%"}


def test_every_builtin_is_allowed() -> None:
    assert {generators.arange, *special.OPS.values()} <= set(OPS.values())
    result = [
        (name, where, builtin) for name, text, _ in expressions() for where, all_ in reached(text) for builtin in all_
    ]
    wrong = {
        (where or name, builtin)
        for name, where, builtin in result
        if builtin not in EXACT and builtin != "/" and not is_in(where, INEXACT.get(builtin, ()))
    }
    assert not wrong
    assert len(result) > 1000, "the expressions were looked at"


def test_what_rounds_correctly_divides_and_takes_roots_by_what_is_corrected() -> None:
    integers = re.compile(r"_(?:[iu](?:32|64)p?)$")
    allowed = set(CORRECTED) | {
        "fast_path_sqrt_f32",
        "sqrt_slow_path_f32",
        "sqrt_f64",
        "reduce_late_f32",
        "reduce_late_f64",
    }
    wrong = {
        (name, where)
        for name, text, exact in expressions()
        if exact
        for where, builtins in reached(text)
        if builtins & {"/", "sqrt", "inverseSqrt"} and where not in allowed and not integers.search(where)
    }
    assert not wrong


@pytest.mark.parametrize("dtype", [dtypes.float64, dtypes.complex128], ids=str)
def test_no_double_precision_function_of_a_driver(dtype: DType) -> None:
    plain = {"abs", "floor", "ceil", "trunc", "round", "sqrt", "fma", "/"} | {"bitcast", "select", "min", "max"}
    counted = {"countLeadingZeros", "countOneBits", "%"}  # of integers
    for name, text, _ in expressions():
        if name.endswith(f"of {dtype}"):
            for where, builtins in reached(text):
                assert builtins <= plain | counted, (name, where)


@pytest.mark.parametrize("native", [True, False], ids=["with 64-bit integers", "without"])
def test_operations_use_no_types_that_a_device_may_lack(native: bool) -> None:
    """Of a row, and of all functions that it reaches: those of other dtypes use no 64-bit floats, nor integers."""
    lacking = re.compile(r"\bf64\b|\dlf\b" if native else r"\b[fiu]64\b|\dl[fiu]\b")
    result = set()
    with for_target(Capabilities(adapter="any", native_int64=native)):
        for name, text, _ in expressions():
            if not re.search("float64|complex128", name):
                whole = "\n".join([text, library.functions(library.names_in(text))])
                if lacking.search(whole):
                    result.add(name)
    assert not result
