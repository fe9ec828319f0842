"""Named programs whose plans and kernels are kept as texts: each records an expression and returns what is wanted.

They are chosen so that each shows something that no other does: an instruction, an access pattern, or a kind of kernel.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import gpuarray as xp
from gpuarray.adapter_profile import profile_of
from gpuarray.array import wrap
from gpuarray.device import Capabilities
from gpuarray.graph import build

#: A device of fixed limits, so that the texts are the same everywhere.
CAPABILITIES = Capabilities(
    adapter="golden", binding_limit=1 << 27, buffer_limit=1 << 28, storage_bindings=12, workgroup_memory=1 << 15
)

#: Its products have rolled loops, whose text is short enough to read; GPUs take the same statements unrolled.
SOFTWARE = replace(CAPABILITIES, kind="CPU", profile=profile_of("CPU"))

Program = Callable[[], Any]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """Add a program under its function's name."""
    PROGRAMS[function.__name__] = function
    return function


def array(*shape: int, dtype: str = "float32") -> xp.GpuArray:
    return xp.asarray(np.ones(shape, dtype), device="cpu")


def image() -> xp.GpuArray:
    return array(60, 80)


# -- elementwise ------------------------------------------------------------------------------------------------------


@program
def add_scalar() -> Any:
    return image() + 1


@program
def chain_of_functions() -> Any:
    x = image()
    return np.sin(x) ** 2 + np.exp(-x * x) * np.sqrt(np.abs(x) + 1)


@program
def broadcast_row_and_column() -> Any:
    return image() * array(80) + array(60, 1)


@program
def transposed_operand() -> Any:
    return image() - array(80, 60).T


@program
def reversed_slices() -> Any:
    x = image()
    return x[::-1, ::2] + x[:, 1::2]


@program
def odd_length() -> Any:
    return array(1001) * array(1001)


@program
def packed_bytes_shifted() -> Any:
    return array(1001, dtype="int8")[1:] + array(1000, dtype="int8")


@program
def long_integers() -> Any:
    return array(1000, dtype="int64") // 7 + array(1000, dtype="int64") % 3


@program
def complex_product() -> Any:
    z = array(1000, dtype="complex64")
    return z * z + 1j


@program
def conversion() -> Any:
    return array(1000, dtype="float32").astype("int16")


@program
def several_results() -> Any:
    x, y = image(), image()
    return x + y, x - y


@program
def index_grids() -> Any:
    rows, columns = xp.arange(60, dtype="float32", device="cpu"), xp.arange(80, dtype="float32", device="cpu")
    return (rows[:, None] - 30) ** 2 + (columns - 40) ** 2


@program
def gathered_rows() -> Any:
    return image()[np.array([3, 1, 2])] + 1


@program
def stencil() -> Any:
    x = array(600, 800)
    return (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / 4


@program
def random_numbers() -> Any:
    return xp.random.default_rng(0).random(1000, np.float32)


# -- reductions and scans ---------------------------------------------------------------------------------------------


@program
def sum_of_all() -> Any:
    return array(1_000_000).sum()


@program
def sum_of_rows() -> Any:
    return array(600, 800).sum(axis=1)


@program
def sum_of_columns() -> Any:
    return array(600, 800).sum(axis=0)


@program
def position_of_maximum() -> Any:
    return image().argmax(axis=1)


@program
def any_of_bytes() -> Any:
    return array(100, 1000, dtype="bool").any(axis=1)


@program
def softmax() -> Any:
    x = image()
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@program
def softmax_of_short_rows() -> Any:
    x = array(3000, 10)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@program
def variance() -> Any:
    return array(1_000_000).var()


@program
def layernorm() -> Any:
    x = image()
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * array(80)


@program
def running_sum() -> Any:
    return np.cumsum(array(100_000)) * 2


# -- products, joins and writes ---------------------------------------------------------------------------------------


@program
def matrix_product() -> Any:
    return array(60, 80) @ array(80, 70) + array(70)


@program
def joined() -> Any:
    return xp.concat([image() + 1, image() * 2, image()[:7]])


@program
def regions_updated() -> Any:
    x = array(1000, dtype="int16")
    x[::3] += 7
    x[1:100] = x[:99] + x[1:100]
    return x


@program
def positions_written() -> Any:
    x = array(1000)
    x[np.array([5, 3, 5])] = np.array([1, 2, 3], np.float32)
    return x


@program
def placed() -> Any:
    x, places = image(), array(60, 80, dtype="int32")
    values = (x * 2, x.astype("uint8"))
    return tuple(wrap(build.scatter_all(v.node(), places.node(), (1000,)), v.device) for v in values)


# -- tiles ------------------------------------------------------------------------------------------------------------


@program
def distances() -> Any:
    x, y = array(40, 7), array(50, 7)
    return np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(-1))


@program
def product_of_parts() -> Any:
    return array(20, 3000) @ array(3000, 30) + 1


@program
def product_with_a_vector() -> Any:
    return np.maximum(array(60, 80) @ array(80), 0)


@program
def product_of_a_computed_matrix() -> Any:
    return (array(60, 80) - array(80)) @ array(80, 8)
