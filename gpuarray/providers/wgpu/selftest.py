"""Tests of a driver's arithmetic, which run once when a device is opened.

The results select variants of the functions of the mathematics library, or disable a dtype of the device. They are
recorded by driver version. The kernels take a few milliseconds.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from gpuarray import disk_cache
from gpuarray.codegen.programs import Binding, Launch, Program

Run: TypeAlias = Callable[[Program, npt.NDArray[Any], npt.NDArray[Any]], None]

#: Whether ``fma`` rounds once, in both precisions. Kernels read it from an override constant of this name.
FUSED: Final = "fused_multiply_add"
#: Whether ``exp2`` and reciprocals of float32 have small errors and ``fma`` rounds once: also an override constant.
CLOSE: Final = "close_estimates"
#: Whether sums and products of float32 may be subnormal. If not, elementwise kernels compute them with integers.
SUBNORMAL: Final = "subnormal_float32"
#: Whether quotients and square roots of float64 are rounded correctly. If not, float64 is disabled on the device.
ROUNDED: Final = "rounded_float64"

#: Descriptions of each fact, if it holds and if it does not.
MEANINGS: Final[Mapping[str, tuple[str, str]]] = {
    FUSED: (
        "fma rounds once: exact remainders take one instruction",
        "fma rounds twice: exact remainders are computed by splitting",
    ),
    CLOSE: (
        "exp2 and reciprocals of float32 err little: hyperbolic tangents start from them, quotients ask two questions",
        "exp2 or reciprocals of float32 err much: hyperbolic tangents are polynomials, quotients ask four questions",
    ),
    SUBNORMAL: (
        "subnormal float32 numbers are kept in arithmetic",
        "subnormal float32 numbers become zero in arithmetic: elementwise kernels keep them by integers",
    ),
    ROUNDED: (
        "float64 quotients and roots are rounded correctly",
        "float64 quotients or roots are rounded wrongly: float64 runs on the host",
    ),
}

_COUNT: Final = 64
_HEAD: Final = """struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
"""
#: Adds a run-time zero to bits, which prevents constant folding and other simplifications.
_SINGLE: Final = f"""{_HEAD}@group(0) @binding(1) var<storage, read> given: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> found: array<vec2<f32>>;
@compute @workgroup_size({_COUNT})
fn main(@builtin(local_invocation_index) i: u32) {{
  let x = given[i];
  let product = bitcast<f32>(bitcast<u32>(x.x * x.y) + parameters.words[0].x);
  let small = x * bitcast<f32>(0x00800000u + parameters.words[0].x);
  found[i] = vec2<f32>(fma(x.x, x.y, -product), small.x - small.y);
}}
"""
#: Each invocation tests several numbers.
_ESTIMATES: Final = f"""{_HEAD}@group(0) @binding(1) var<storage, read> given: array<f32>;
@group(0) @binding(2) var<storage, read_write> found: array<vec2<f32>>;
@compute @workgroup_size({_COUNT})
fn main(@builtin(local_invocation_index) i: u32) {{
  for (var k = i; k < arrayLength(&given) / 2u; k += {_COUNT}u) {{
    found[k] = vec2<f32>(exp2(given[2u * k]), 1.0 / given[2u * k + 1u]);
  }}
}}
"""
_DOUBLE: Final = f"""{_HEAD}@group(0) @binding(1) var<storage, read> given: array<vec4<f64>>;
@group(0) @binding(2) var<storage, read_write> found: array<vec4<f64>>;
@compute @workgroup_size({_COUNT})
fn main(@builtin(local_invocation_index) i: u32) {{
  let x = given[i];
  let product = bitcast<f64>(bitcast<u64>(x.x * x.y) + u64(parameters.words[0].x));
  found[i] = vec4<f64>(x.x / x.y, sqrt(x.x), product, fma(x.x, x.y, -product));
}}
"""


def facts(run: Run, *, float64: bool) -> Mapping[str, bool]:
    """Return the facts about a driver.

    Parameters
    ----------
    run : callable
        ``run(program, input, output)`` runs a program with one input and one output, which are host arrays.
    float64 : bool
        Whether the device has float64.
    """
    bits = np.arange(1, 2 * _COUNT + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    single = ((bits >> np.uint64(41)).astype(np.uint32) | np.uint32(0x3F800000)).view(np.float32).reshape(_COUNT, 2)
    errors = _run(run, _SINGLE, single)
    wide = single.astype(np.float64)
    remainder = wide[:, 0] * wide[:, 1] - (single[:, 0] * single[:, 1]).astype(np.float64)
    tiny = single * np.finfo(np.float32).tiny
    answers = {
        FUSED: bool(np.array_equal(errors[:, 0].astype(np.float64), remainder)),
        SUBNORMAL: bool(np.array_equal(errors[:, 1], tiny[:, 0] - tiny[:, 1])),
    }
    answers[CLOSE] = answers[FUSED] and _has_close_estimates(run)
    if float64:
        x, y = (bits >> np.uint64(12) | np.uint64(0x3FF0000000000000)).view(np.float64).reshape(2, _COUNT)
        results = _run(run, _DOUBLE, np.stack((x, y, x, y), axis=1))
        answers[ROUNDED] = bool(np.array_equal(results[:, :2], np.stack((x / y, np.sqrt(x)), axis=1)))
        left = [Fraction(a) * Fraction(b) - Fraction(a * b) for a, b in zip(x, y, strict=True)]
        answers[FUSED] &= bool(np.array_equal(results[:, 2], x * y) and left == list(map(Fraction, results[:, 3])))
    return answers


def _has_close_estimates(run: Run) -> bool:
    """Return whether exponentials and reciprocals have relative errors below 2**-22; subnormal results may be 0.

    Drivers compute both from tables of a few hundred intervals, so a few thousand numbers reveal their errors.
    """
    count = 1 << 14
    powers = np.concatenate((np.linspace(0.0, 1.0, count // 2), np.geomspace(1.0, 120.0, count // 2)))
    divisors = np.linspace(1.0, 2.0, count, endpoint=False) * 2.0 ** (np.arange(count) % 254 - 126)
    powers[-1], divisors[-1] = 200.0, np.inf
    inputs = np.stack((powers, divisors), 1).astype(np.float32)
    estimates = _run(run, _ESTIMATES, inputs).astype(np.float64)
    if not np.array_equal(estimates[-1], (np.inf, 0.0)):
        return False
    wide = inputs[:-1].astype(np.float64)
    exact = np.stack((np.exp2(wide[:, 0]), 1.0 / wide[:, 1]), 1)
    is_flushed = (exact < np.finfo(np.float32).tiny) & (estimates[:-1] == 0.0)
    return bool(np.all(is_flushed | (np.abs(estimates[:-1] / exact - 1.0) < 2.0**-22)))


#: Writes the size of an invocation's subgroup if its members are neighbours in the workgroup, otherwise zero.
_SUBGROUPS: Final = f"""{_HEAD}@group(0) @binding(1) var<storage, read> given: array<u32>;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;
@compute @workgroup_size({4 * _COUNT})
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_size) together: u32,
        @builtin(subgroup_invocation_id) member: u32) {{
  found[i] = select(0u, together + given[i], i % together == member);
}}
"""


def subgroup_size(run: Run) -> int:
    """Return the size of subgroups; 0 if they are not made of neighbours in the workgroup."""
    sizes = _run(run, _SUBGROUPS, np.zeros(4 * _COUNT, np.uint32))
    size = int(sizes[0])
    return size if size in (4, 8, 16, 32, 64, 128) and bool((sizes == size).all()) else 0


def recorded_facts(run: Run, driver: str, *, float64: bool) -> Mapping[str, bool]:
    """Return the facts of a driver, from the record of the first test if there is one."""
    subject = driver + " float64" if float64 else driver
    known = disk_cache.read("selftest", subject)
    if known is not None and are_complete(known, float64=float64):
        return known
    measured = facts(run, float64=float64)
    disk_cache.write("selftest", subject, measured)
    return measured


def recorded_subgroup_size(run: Run, driver: str) -> int:
    """Return the size of the subgroups of a driver, from the record of the first test if there is one."""
    known = disk_cache.read("subgroups", driver)
    if known is not None and isinstance(known.get("size"), int):
        return int(known["size"])
    measured = subgroup_size(run)
    disk_cache.write("subgroups", driver, {"size": measured})
    return measured


def are_complete(known: Any, *, float64: bool) -> bool:
    """Return whether recorded facts are complete."""
    names = {FUSED, CLOSE, SUBNORMAL, *((ROUNDED,) if float64 else ())}
    return known is not None and set(known) == names and all(isinstance(value, bool) for value in known.values())


def _run(run: Run, source: str, inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
    bindings = (Binding("input", 0, 0, inputs.nbytes, False), Binding("output", 0, 0, inputs.nbytes, True))
    launch = Launch(source, "selftest", bindings, (0, 0, 0, 0), (), (1, 1, 1))
    result = np.empty_like(inputs)
    run(Program((launch,)), inputs, result)
    return result
