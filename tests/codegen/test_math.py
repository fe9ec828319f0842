"""The WGSL mathematics, operation row by operation row, on a real device against NumPy.

The harness runs one expression over arrays. Values travel in their compute type (int8 as i32, float16 as f32, booleans
as u32), one element an invocation; the prelude's ``zero_u32`` reads a storage value, which no driver sees through.
"""

import itertools
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import wgpu

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.codegen import casts, library
from gpuarray.dtypes import DType
from gpuarray.ops import elementwise, generators, special  # noqa: F401  (declares the operations)
from gpuarray.ops.spec import OPS, GenerateOp, MapOp, Signature, compute_type, wgsl_template

pytestmark = pytest.mark.wgpu

WORKGROUP = 64
STORED = {"bool": "u32", "c64": "vec2<f32>", "c128": "vec2<f64>"}
HOST = {
    "bool": np.uint32, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
    "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


# --- the harness -----------------------------------------------------------------------------------------------------


@cache
def device() -> Any:
    adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    return adapter.request_device_sync(required_features=["shader-int64", "shader-f64"])


def kernel(expression: str, operands: tuple[str, ...], result: str) -> str:
    stored = [STORED.get(t, t) for t in operands]
    loads = [f"let x{i} = input{i}[i]{' != 0u' if t == 'bool' else ''};" for i, t in enumerate(operands)]
    value = f"u32({expression})" if result == "bool" else expression
    return "\n".join(
        [
            "@group(0) @binding(0) var<storage, read_write> zeros: array<u32>;",
            "fn zero_u32() -> u32 { return zeros[0]; }",
            f"@group(0) @binding(1) var<storage, read_write> output: array<{STORED.get(result, result)}>;",
            *(
                f"@group(0) @binding({i + 2}) var<storage, read_write> input{i}: array<{t}>;"
                for i, t in enumerate(stored)
            ),
            library.functions(library.names_in(expression)),
            f"@compute @workgroup_size({WORKGROUP}) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{",
            "let i = id.x; if (i >= arrayLength(&output) || zero_u32() != 0u) { return; }",
            *loads,
            # every binding must be used, or the automatic layout leaves it out
            *(f"if (arrayLength(&input{i}) == 0u) {{ return; }}" for i in range(len(operands))),
            f"output[i] = {value}; }}",
        ]
    )


@cache
def compiled(expression: str, operands: tuple[str, ...], result: str) -> Any:
    module = device().create_shader_module(code=kernel(expression, operands, result))
    return device().create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})


def evaluate(expression: str, operands: list[np.ndarray], result: DType) -> np.ndarray:
    types = tuple(compute_type(x.dtype) for x in operands)
    host = np.dtype(HOST[compute_type(result)])
    size = operands[0].size
    storage = wgpu.BufferUsage.STORAGE
    output = device().create_buffer(size=size * host.itemsize, usage=storage | wgpu.BufferUsage.COPY_SRC)
    held = [np.ascontiguousarray(x.astype(HOST[t])) for x, t in zip(operands, types, strict=True)]
    given = [device().create_buffer_with_data(data=x, usage=storage) for x in (np.zeros(4, np.uint32), *held)]
    buffers = [given[0], output, *given[1:]]
    pipeline = compiled(expression, types, compute_type(result))
    entries = [{"binding": n, "resource": {"buffer": b}} for n, b in enumerate(buffers)]
    group = device().create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
    encoder = device().create_command_encoder()
    commands = encoder.begin_compute_pass()
    commands.set_pipeline(pipeline)
    commands.set_bind_group(0, group)
    commands.dispatch_workgroups(-(-size // WORKGROUP))
    commands.end()
    device().queue.submit([encoder.finish()])
    return np.frombuffer(device().queue.read_buffer(output), host).astype(result)


def expression_of(row: MapOp, signature: Signature) -> str | None:
    first = signature.inputs[1 if row.name == "where" else 0]
    template = wgsl_template(row, compute_type(first))
    if template is None:
        return None
    operands = [f"x{i}" for i in range(row.arity)]
    types = {"T": compute_type(first), "U": compute_type(signature.inputs[-1]), "R": compute_type(signature.output)}
    return casts.wrap_expression(template.format(*operands, **types, bits=8 * first.itemsize), signature.output)


@cache
def flushes() -> bool:
    """Whether the device's f32 arithmetic takes subnormal operands or results for 0, as WGSL allows."""
    return bool(evaluate("x0 + x0", [np.array([1e-40], np.float32)], dtypes.float32)[0] == 0)


def flushed(operands: list[np.ndarray], want: np.ndarray) -> np.ndarray:
    """Return where such a device may differ: a part of an operand or of the result is subnormal, or nearly."""
    values = [part for x in (*operands, want) if x.dtype in FLUSHABLE for part in (x.real, x.imag)]
    return np.logical_or.reduce([(np.abs(v) < 4e-38) & (v != 0) for v in values])


FLUSHABLE = (dtypes.float32, dtypes.complex64)


# --- samples ---------------------------------------------------------------------------------------------------------

SPECIAL = np.array([
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1.5, -1.5, 2.5, -3.5, 3.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40,
    5e-324, 2.3e-308, 1e300, -1e300, 3e38, np.pi, np.pi / 2, 100.0, -100.0, 88.9, -104.0, 710.0, 0.75, 1e-5, -1e-9,
    65504.0, 6e-8, 16777217.0, 2.0**53, 1e22, -3.0,
])  # fmt: skip


def hard(dtype: DType) -> np.ndarray:
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        near = [0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64, info.max, info.max - 1, info.max // 2, info.min, info.min + 1, -1]
        return np.array([v for v in near if info.min <= v <= info.max], dtype)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        # the ends of the range, and the largest integers: odd, even, and odd halves
        whole = 2.0**info.nmant
        ends = [info.smallest_subnormal, info.tiny, info.max, 2 * whole - 1, whole + 1, 2 * whole, whole / 2 + 0.5]
        return np.concatenate([SPECIAL.astype(dtype), np.array(ends, dtype), -np.array(ends, dtype)])
    real, imag = np.meshgrid(SPECIAL[:16], SPECIAL[:16])
    return parts(real.ravel(), imag.ravel(), dtype)


def few(dtype: DType) -> np.ndarray:
    """Return those of which all triples are taken."""
    values = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.0, 100.0, np.inf, -np.inf, np.nan])
    return values.astype(dtype) if dtype.kind == "f" else hard(dtype)[:7]


def parts(real: np.ndarray, imag: np.ndarray, dtype: DType) -> np.ndarray:
    z = np.empty(real.shape, dtype)
    z.real, z.imag = real, imag
    return z


def bulk(dtype: DType, size: int, seed: int) -> np.ndarray:
    """Half of the values uniform in their bits, half of them of ordinary size."""
    random = np.random.default_rng(seed)
    if dtype.kind == "b":
        return random.integers(0, 2, size).astype(bool)
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return parts(bulk(part, size, seed)[random.permutation(size)], bulk(part, size, seed + 9), dtype)
    x = np.frombuffer(random.bytes(size * dtype.itemsize), dtype).copy()
    if dtype.kind in "iu":
        x[::2] = random.integers(0, 70, len(x[::2]))
    else:
        x[::2] = random.normal(size=len(x[::2])) * 3
        x[1::6] = random.uniform(-1.1, 1.1, len(x[1::6]))
        x[3::6] = random.uniform(-90, 90, len(x[3::6]))
    return x


def kinds(x: np.ndarray) -> np.ndarray:
    """Return what sort of number each part is: NaN, or its sign with whether it is zero, finite or infinite."""
    parts_ = np.stack([x.real, x.imag]) if x.dtype.kind == "c" else x[None]
    sort = 1 + (parts_ != 0) + np.isinf(parts_)
    return np.where(np.isnan(parts_), 0, np.where(np.signbit(parts_), -sort, sort))


def operands_of(signature: Signature, size: int) -> list[np.ndarray]:
    grids = np.meshgrid(*(hard(d) if len(signature.inputs) < 3 else few(d) for d in signature.inputs))
    columns = [bulk(d, size, 17 * i + 1) for i, d in enumerate(signature.inputs)]
    return [np.concatenate([c, g.ravel()]) for c, g in itertools.zip_longest(columns, grids, fillvalue=columns[0][:0])]


def signatures(row: MapOp) -> Iterator[Signature]:
    """Yield the distinct loops of a row for operands of one dtype each, and of two where NumPy has such loops."""
    pairs = [(dtypes.int64, dtypes.uint64), (dtypes.float32, dtypes.int32), (dtypes.float64, dtypes.int64)]
    seen = set()
    for given in [(d,) * row.arity for d in dtypes.ALL] + (pairs if row.arity == 2 else []):
        try:
            signature = row.resolve(*given)
        except TypeError:
            continue
        if signature not in seen:
            seen.add(signature)
            yield signature


def cases() -> list[Any]:
    # samplers take the words of one substream, not of one for each element: see test_random_distributions.py
    rows = [row for row in OPS.values() if isinstance(row, MapOp) and row.name not in ("cast", "bitcast")]
    rows = [row for row in rows if not row.name.startswith("sample_")]
    return [
        pytest.param(row, s, id=f"{row.name}-{'-'.join(d.name for d in s.inputs)}")
        for row in rows
        for s in signatures(row)
        # float16 takes the kernels of float32, and those of special functions take long to compile
        if s.output != dtypes.float16 or row.name not in special.OPS
    ]


def reference(row: MapOp, operands: list[np.ndarray], output: DType) -> np.ndarray:
    if isinstance(row.numpy, np.ufunc):
        result = row.numpy(*operands)
        return result[row.output] if isinstance(result, tuple) else result
    return row.numpy(*operands, out=np.empty(operands[0].shape, output))


# --- comparisons -----------------------------------------------------------------------------------------------------


def ulps(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Return the distance in steps of representable numbers; NaN, infinities and zeros must be the same."""
    integer = np.dtype(f"i{want.dtype.itemsize}")

    def ordered(x: np.ndarray) -> np.ndarray:
        bits = x.view(integer).astype(np.float64 if integer.itemsize < 8 else np.longdouble)
        return np.where(x.view(integer) < 0, -(bits + 2.0 ** (8 * integer.itemsize - 1)), bits)

    distance = np.abs(ordered(got) - ordered(want))
    return np.where(np.isnan(want) | np.isnan(got), np.where(np.isnan(want) & np.isnan(got), 0, np.inf), distance)


def explain(bad: np.ndarray, operands: list[np.ndarray], got: np.ndarray, want: np.ndarray) -> str:
    where = np.flatnonzero(bad)
    shown = [(tuple(x[i] for x in operands), got[i], want[i]) for i in where[:5]]
    return f"{len(where)} of {len(bad)} differ; (operands), got, wanted: {shown}"


def complex_error(got: np.ndarray, want: np.ndarray, floor: float) -> np.ndarray:
    """Return the error relative to the magnitude, in epsilons; of what is not finite only that it is so counts."""
    real = np.finfo(want.dtype)
    error = np.abs(got.astype(complex) - want) / np.maximum(
        np.abs(want.astype(complex)), max(floor, 1e3 * float(real.tiny))
    )
    strange = ~(np.isfinite(want) & np.isfinite(got))
    same = (np.isnan(got) == np.isnan(want)) & (np.isinf(got) == np.isinf(want))
    return np.where(strange, np.where(same, 0.0, np.inf), error / float(real.eps))


BULK = 1 << 12
ZEROS_OF_EITHER_SIGN = ("maximum", "minimum", "fmax", "fmin", "nextafter")
#: Their values cross 0 between terms that do not, or are what a term lacks of 1: the error is one of those.
ABSOLUTE = ("betaln",)
#: For the last operand below 1 the first term has another sign than the others, which are about 1 where they cancel.
CROSSING = ("zeta_by_exponent",)
#: Products of their operands overflow or underflow in float32 alone, as SciPy's would that computed in it.
PRODUCTS = ("bdtr", "bdtrc", "fdtr", "fdtrc")
# complex powers by exp(b log(a)) magnify errors with the exponent, in NumPy as here
COMPLEX_EPSILONS = {"pow": 3e3, "float_power": 3e3}


@pytest.mark.parametrize("start", [1.0, 2.0])
def test_all_roots_of_two_binades_are_rounded_correctly(start: float) -> None:
    # what is true of these is true of all: the significand and whether the exponent is odd decide
    first = int(np.float32(start).view(np.uint32))
    x = np.arange(first, first + (1 << 23), dtype=np.uint32).view(np.float32)
    np.testing.assert_array_equal(np.asarray(np.sqrt(xp.asarray(x, device="wgpu"))), np.sqrt(x))


def has_either_zero(row: MapOp, operands: Sequence[np.ndarray]) -> Any:
    """Return where a zero may have either sign."""
    if row.name == "multiply_no_nan":
        # products that underflow, of derivatives; 0 times a number is a positive 0
        return np.logical_and.reduce([x != 0 for x in operands]) & (operands[0].dtype.kind == "f")
    # NumPy's versions differ: an extreme of two, a step between them
    return np.bool_(row.name in ZEROS_OF_EITHER_SIGN)


@pytest.mark.parametrize(("row", "signature"), cases())
def test_operation(row: MapOp, signature: Signature) -> None:
    expression = expression_of(row, signature)
    assert expression is not None, "every row has a form for every dtype that it accepts"
    operands = operands_of(signature, BULK)
    if row.name == "pow" and signature.inputs[1].kind == "i":
        operands[1] = np.where(operands[1] < 0, operands[1] & 31, operands[1])
    if row.name in ("pow", "float_power", "whole_power") and signature.inputs[0].kind == "c":
        operands = [np.where(np.abs(x.imag) + np.abs(x.real) < 8, x, x.dtype.type(2)) for x in operands]
    if row.name == "whole_power":
        operands[1] = np.rint(operands[1].real).astype(signature.inputs[1])
    if row.name in PRODUCTS:
        ordinary = [(np.abs(x) > 1e-15) & (np.abs(x) < 1e15) | (x == 0) | ~np.isfinite(x) for x in operands]
        operands = [np.where(o, x, x.dtype.type(1.5)) for o, x in zip(ordinary, operands, strict=True)]
    if row.name == "polygamma":
        # factorials of higher orders are infinite in float32
        operands[0] = np.where(operands[0] > 48, operands[0].dtype.type(3), operands[0])
    want = reference(row, operands, signature.output)
    result = evaluate(expression, operands, signature.output)
    if signature.output.kind in "biu":
        bad = result != want
    elif signature.output.kind == "c":
        # NumPy's log1p has an absolute error near 0, where ours has a relative one
        floor = 1.0 if row.name == "log1p" else 0.0
        # what NumPy's exp2 rounds z log(2) by is an error of the angle, and of the exponent
        limit = 8 + np.abs(operands[0]) if row.name == "exp2" else COMPLEX_EPSILONS.get(row.name, 8)
        bad = complex_error(result, want, floor) > limit
        if row.name in ("multiply", "square", "multiply_no_nan"):
            # inf - inf or not where parts overflow: NumPy's answer depends on the processor's fused multiply-add
            bad &= np.isfinite(want) | ~np.logical_and.reduce([np.isfinite(x) for x in operands])
    elif row.name.startswith("logaddexp"):
        scale = np.fmax(1, np.fmax(np.abs(operands[0]), np.abs(operands[1])))
        near = np.abs(result - want) <= 4 * np.spacing(scale)
        bad = ~(near | (result == want) | (np.isnan(result) & np.isnan(want)))
    elif row.name in ABSOLUTE:
        scale = np.fmax(np.abs(want), 1 + np.log1p(np.abs(operands[0])))
        near = np.abs(result - want) <= 4 * np.spacing(scale.astype(want.dtype))
        bad = ~(near | (result == want) | (np.isnan(result) & np.isnan(want)))
    else:
        # NumPy's own error comes on top of the promised one, half an ULP for what both round correctly
        allowed = row.ulp + 1 if row.ulp >= 1 else 0
        bad = ulps(result, want) > allowed
        if row.name in CROSSING:
            bad &= ~((operands[-1] > 0) & (operands[-1] < 1) & (np.abs(result - want) <= 4 * np.finfo(want.dtype).eps))
        bad |= (want == 0) & (result == 0) & (np.signbit(want) != np.signbit(result)) & ~has_either_zero(row, operands)
    if signature.output.kind in "fc":
        # at the special values, which come last, NaN, infinities, zeros and signs are NumPy's in every part
        other = (kinds(result) != kinds(want)) & ~(has_either_zero(row, operands) & (result == 0) & (want == 0))
        bad |= other.any(axis=0) & (np.arange(len(result)) >= BULK)
    if row.name in ("asin", "acos") and signature.output.kind == "c":
        # C leaves open which of the two infinities comes with NaN, and NumPy's versions differ
        bad &= ~(np.isnan(want.real) & np.isnan(result.real) & np.isinf(want.imag) & np.isinf(result.imag))
    if signature.output in FLUSHABLE and flushes():
        bad &= ~flushed(operands, want)
        if row.name in ("multiply", "square", "divide", "multiply_no_nan") and signature.output.kind == "c":
            # products inside may be subnormal where operands and result are not
            bad &= np.logical_and.reduce([(np.abs(x) > 1e-15) & (np.abs(x) < 1e15) for x in operands])
    assert not bad.any(), explain(bad, operands, result, want)


# --- casts, literals, generators and the library ---------------------------------------------------------------------


def castable(source: DType, target: DType) -> np.ndarray:
    """Return hard values of ``source``, without those whose integer value C leaves undefined."""
    x = np.concatenate([bulk(source, 1 << 12, 3), hard(source)])
    if source.kind in "iu":
        info = np.iinfo(source)
        near = [s * (1 << k) + (1 << max(k - w, 0)) * m + e
                for k in range(8 * source.itemsize) for w in (11, 24, 53) for m in (0, 1, 3) for e in (-1, 0, 1)
                for s in (1, -1)]  # fmt: skip
        x = np.concatenate([x, np.array([v for v in near if info.min <= v <= info.max], source)])
    if source.kind in "fc" and target.kind in "iu":
        real = x.real.astype(np.float64)
        info = np.iinfo(target)
        x = x[(np.trunc(real) >= info.min) & (real < float(info.max) + (info.max < 2**53))]
    elif source.kind == "f":
        ties = np.array(
            [1 + 2.0**-11, 1 + 3 * 2.0**-11, 2.0**-25, 65519.99, 65520, 1 + 2.0**-24, 1 + 2.0**-11 + 2.0**-40]
        )
        x = np.concatenate([x, ties.astype(source)])
    return x


@pytest.mark.parametrize("source", dtypes.ALL, ids=str)
def test_cast(source: DType) -> None:
    for target in dtypes.ALL:
        x = castable(source, target)
        result = evaluate(casts.cast_expression("x0", source, target), [x], target)
        want = elementwise.cast.numpy(x, out=np.empty(x.shape, target))
        bad = result.view(np.uint8).reshape(len(x), -1) != want.view(np.uint8).reshape(len(x), -1)
        bad = bad.any(axis=1) & ~(np.isnan(result) & np.isnan(want))
        assert not bad.any(), f"{source} to {target}: {explain(bad, [x], result, want)}"


@pytest.mark.parametrize("source", [dtypes.float32, dtypes.float64], ids=str)
def test_cast_of_what_no_integer_holds(source: DType) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 3e9, -3e9, 1e30, -1e30], source)
    for target, lowest in ((dtypes.int32, -(2**31)), (dtypes.int64, -(2**63))):
        result = evaluate(casts.cast_expression("x0", source, target), [x], target)
        beyond = ~(np.abs(x) < -float(lowest))
        assert (result[beyond] == lowest).all()


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_literal(dtype: DType) -> None:
    for value in hard(dtype)[:200]:
        text = casts.literal(value, dtype)
        result = evaluate(text, [np.zeros(1, np.uint32)], dtype)
        assert result.tobytes() == value.tobytes() or np.isnan(value), text


GENERATED = [
    ("full", (3,), "?bhilBHILefdFD"), ("arange", (3, 7), "bhilBHILefdFD"), ("arange", (0.1, 0.3), "efdFD"),
    ("linspace", (0.1, 0.7, 123.25, 999), "fdFD"), ("linspace", (0.1, 0.7, 123.25, -1), "fd"),
    ("eye", (13, 2), "?ilLefdFD"), ("eye", (13, -3), "f"), ("tri", (13, -1), "?ifd"),
    ("random_bits", (7, 0xFFFFFFFF, 3, 9, 0xFFFFFFF0, *(0xFFFFFFFF,) * 6, 3, 5, 0, 0), "IL"),
    ("random_uniform", (7, 9, 0, 1, 0xFFFFFFF0, 3, 0, 0, 5, 0, 0, 0, 3, 0, 0), "fd"),
    ("random_below", (7, 9, 0, 1, 0, 3, 0, 0, 5, 0, 0, 0, 3, 0, 0, 2, 200, 0, 56, 0), "I"),
    ("random_below", (7, 9, 0, 1, 0, 3, 0, 0, 5, 0, 0, 0, 3, 1, 77, 0, 0x80000001, 0, 0x7FFFFFFF, 0), "I"),
    ("random_below", (7, 9, 0, 1, 0, 3, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 1, 0xC0000000, 0xFFFFFFFF, 0x3FFFFFFF), "L"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "parameters", "kinds"), GENERATED)
def test_generator(name: str, parameters: tuple[Any, ...], kinds: str) -> None:
    row = OPS[name]
    assert isinstance(row, GenerateOp)
    index = np.arange(1000)
    for dtype in map(np.dtype, kinds):
        given = [dtype if t == "result" else np.dtype(t) for t in row.parameter_types or ("result",) * row.parameters]
        operands = [index.astype(np.uint32)]
        operands += [np.full(1000, v).astype(d) for v, d in zip(parameters, given, strict=True)]
        template = wgsl_template(row, compute_type(dtype))
        assert template is not None
        held = compute_type(dtype)
        expression = template.format(*(f"x{i}" for i in range(len(operands))), T=held, R=held, bits=8 * dtype.itemsize)
        result = evaluate(casts.wrap_expression(expression, dtype), operands, dtype)
        want = row.numpy(index, *(d.type(v) for v, d in zip(parameters, given, strict=True)), dtype=dtype)
        assert result.tobytes() == want.tobytes(), (dtype, result[:5], want[:5])


def test_library_text_is_stable_and_complete() -> None:
    text = library.functions({"sin_f32", "pow_f64"})
    assert text == library.functions(["pow_f64", "sin_f32", "sin_f32"])
    assert text.index("fn two_sum_f32") < text.index("fn reduce_small_f32") < text.index("fn sin_f32")
    assert library.names_in("let y = sin_f32(x) + exp_(x); // cos_f32") == {"sin_f32"}
