"""What a driver does with arithmetic, found out by running it once when a device is opened.

The answers become pipeline constants (overrides) of the mathematics library, which knows a form for either case. Called
by the provider, which records the answers per driver version.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray.codegen.programs import Binding, Launch, Program

#: The override of ``codegen/math`` that says whether ``fma`` rounds once.
FUSED: Final = "fused_multiply_add"
FACTS: Final = (FUSED,)

_COUNT: Final = 64
_SOURCE: Final = f"""struct Parameters {{ words: array<vec4<u32>, 1> }}
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> factors: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> errors: array<f32>;
@compute @workgroup_size({_COUNT})
fn main(@builtin(local_invocation_index) i: u32) {{
  let x = factors[i];
  let product = bitcast<f32>(bitcast<u32>(x.x * x.y) + parameters.words[0].x);
  errors[i] = fma(x.x, x.y, -product);
}}
"""


def facts(run: Callable[[Program, npt.NDArray[Any], npt.NDArray[Any]], None]) -> Mapping[str, bool]:
    """Return the pipeline constants that fit this driver.

    Parameters
    ----------
    run : callable
        ``run(program, input, output)``: runs a program with one input and one output, host arrays both.
    """
    bits = np.arange(1, 2 * _COUNT + 1, dtype=np.uint32) * np.uint32(0x9E3779B1) >> np.uint32(9)
    factors = (bits | np.uint32(0x3F800000)).view(np.float32).reshape(_COUNT, 2)
    bindings = (Binding("input", 0, 0, factors.nbytes, False), Binding("output", 0, 0, 4 * _COUNT, True))
    launch = Launch(_SOURCE, "selftest", bindings, (0, 0, 0, 0), (), (1, 1, 1))
    errors = np.empty(_COUNT, np.float32)
    run(Program((launch,)), factors, errors)
    wide = factors.astype(np.float64)
    exact = wide[:, 0] * wide[:, 1]
    rounded = (factors[:, 0] * factors[:, 1]).astype(np.float64)
    return {FUSED: bool(np.array_equal(errors.astype(np.float64), exact - rounded))}
