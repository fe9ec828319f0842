"""The reductions.

Most of them fold elements by an associative elementwise operation. The others have parts of their own, which
:mod:`gpuarray.ops.reduction_parts` states. The identity is what an empty reduction gives, and what a kernel starts from
or pads with. Where NumPy refuses an empty reduction (``min``, ``argmax``), kernels still have an identity, and
``empty_is_error`` is set.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.ops import elementwise, integer_bounds
from gpuarray.ops import reduction_parts as parts
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import OPS, MapOp


def _same(source: DType) -> DType:
    return source


def _boolean(_source: DType) -> DType:
    return dtypes.bool_


def _position(_source: DType) -> DType:
    return dtypes.int64


def _widened(source: DType) -> DType:
    """NumPy adds and multiplies small integers as int64 or uint64; float16 stays float16 (kernels hold it as f32)."""
    if source.kind in "bi":
        return dtypes.int64
    return dtypes.uint64 if source.kind == "u" else source


def _floating(source: DType) -> DType:
    return elementwise.logaddexp.resolve(source, source).output


def _one_of(value: Any, _count: int, _dtype: DType) -> Any:
    return value


def _sum_of(value: Any, count: int, dtype: DType) -> Any:
    if dtype.kind not in "fc":
        return np.multiply(np.asarray(value, dtype), np.asarray(count).astype(dtype))[()]
    wide = np.asarray([value], np.result_type(dtype, np.float64))  # which has the count; float16 has infinity instead
    return (wide.view(np.float64) * count).view(wide.dtype).astype(dtype)[0]  # of each part: no 0 times infinity


def _product_of(value: Any, count: int, dtype: DType) -> Any:
    if dtype.kind in "iu":
        return np.asarray(pow(int(np.asarray(value).astype(dtype)), count, 1 << 64)).astype(dtype)[()]
    if dtype.kind == "c":  # logarithms lose the digits of such a power
        return None
    return np.power(np.asarray(value, np.float64), count).astype(dtype)[()]


_ZERO: Final = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}
_ONE: Final = {"b": True, "i": 1, "u": 1, "f": 1.0, "c": 1 + 0j}
#: ``lowest`` and ``highest`` are the dtype's extremes: infinities of floating types, and of both parts of complex ones.
_LOWEST: Final = {"b": False, "i": "lowest", "u": 0, "f": "lowest", "c": "lowest"}
_HIGHEST: Final = {"b": True, "i": "highest", "u": "highest", "f": "highest", "c": "highest"}
#: What ``fmin`` and ``fmax`` leave out is neutral to them, so that a fold of nothing else gives it.
_LEFT_OUT: Final = {"f": float("nan"), "c": complex("nan+nanj")}

sum = ReduceOp(
    name="sum", combine=elementwise.add, accumulate=_widened, identity=_ZERO, of_equals=_sum_of,
    doc="Sum of the elements.",
)  # fmt: skip
prod = ReduceOp(
    name="prod", combine=elementwise.multiply, accumulate=_widened, identity=_ONE, of_equals=_product_of,
    doc="Product of the elements.",
)  # fmt: skip
min = ReduceOp(
    name="min", combine=elementwise.minimum, accumulate=_same, identity=_HIGHEST, empty_is_error=True,
    kernels=parts.extreme_keys(least=True), of_equals=_one_of, bounds=integer_bounds.of_elements,
    doc="Minimum of the elements; NaN if any element is NaN.",
)  # fmt: skip
max = ReduceOp(
    name="max", combine=elementwise.maximum, accumulate=_same, identity=_LOWEST, empty_is_error=True,
    kernels=parts.extreme_keys(least=False), of_equals=_one_of, bounds=integer_bounds.of_elements,
    doc="Maximum of the elements; NaN if any element is NaN.",
)  # fmt: skip
fmin = ReduceOp(
    name="fmin_reduce", combine=elementwise.fmin, accumulate=_same, identity=_HIGHEST | _LEFT_OUT, empty_is_error=True,
    of_equals=_one_of, bounds=integer_bounds.of_elements, doc="Minimum of the elements, ignoring NaN.",
)  # fmt: skip
fmax = ReduceOp(
    name="fmax_reduce", combine=elementwise.fmax, accumulate=_same, identity=_LOWEST | _LEFT_OUT, empty_is_error=True,
    of_equals=_one_of, bounds=integer_bounds.of_elements, doc="Maximum of the elements, ignoring NaN.",
)  # fmt: skip
squared_deviations = ReduceOp(
    name="squared_deviations", accumulate=_same, identity={"f": 0.0}, numpy=parts.NUMPY_DEVIATIONS,
    of_equals=lambda value, _count, _dtype: value - value,  # 0, or NaN
    kernels=dict.fromkeys(("f32", "f64"), parts.deviations()),
    doc="Sum of the squared deviations from the mean of the elements.",
)  # fmt: skip
logsumexp = ReduceOp(
    name="logsumexp", combine=elementwise.logaddexp, accumulate=_floating, identity={"f": "lowest"},
    kernels={compute: parts.sum_of_exponentials(compute) for compute in ("f32", "f64")},
    numpy=parts.NUMPY_EXPONENTIALS, doc="Logarithm of the sum of the elements' exponentials.",
)  # fmt: skip
any = ReduceOp(
    name="any", combine=elementwise.logical_or, accumulate=_boolean, identity=dict.fromkeys("biufc", False),
    of_equals=_one_of, doc="Whether any element is non-zero.",
)  # fmt: skip
all = ReduceOp(
    name="all", combine=elementwise.logical_and, accumulate=_boolean, identity=dict.fromkeys("biufc", True),
    of_equals=_one_of, doc="Whether every element is non-zero.",
)  # fmt: skip
argmin = ReduceOp(
    name="argmin", accumulate=_same, result=_position, identity=_HIGHEST, empty_is_error=True,
    kernels=parts.extreme_positions(least=True), numpy=parts.numpy_positions(np.argmin, np.minimum.reduce),
    of_equals=lambda _value, _count, _dtype: 0, bounds=integer_bounds.of_positions,
    doc="Index of the first minimum, or of the first NaN.",
)  # fmt: skip
argmax = ReduceOp(
    name="argmax", accumulate=_same, result=_position, identity=_LOWEST, empty_is_error=True,
    kernels=parts.extreme_positions(least=False), numpy=parts.numpy_positions(np.argmax, np.maximum.reduce),
    of_equals=lambda _value, _count, _dtype: 0, bounds=integer_bounds.of_positions,
    doc="Index of the first maximum, or of the first NaN.",
)  # fmt: skip
bitwise_and = ReduceOp(
    name="bitwise_and_reduce", combine=elementwise.bitwise_and, accumulate=_same,
    identity={"b": True, "i": -1, "u": "highest"}, of_equals=_one_of, doc="Bitwise and of the elements.",
)  # fmt: skip
bitwise_or = ReduceOp(
    name="bitwise_or_reduce", combine=elementwise.bitwise_or, accumulate=_same, identity={"b": False, "i": 0, "u": 0},
    of_equals=_one_of, doc="Bitwise or of the elements.",
)  # fmt: skip
bitwise_xor = ReduceOp(
    name="bitwise_xor_reduce", combine=elementwise.bitwise_xor, accumulate=_same, identity={"b": False, "i": 0, "u": 0},
    of_equals=lambda value, count, dtype: dtype.type(value if count % 2 else 0),
    doc="Bitwise exclusive or of the elements.",
)  # fmt: skip

#: The reductions by the elementwise operation that merges two results.
ELEMENTWISE: Final[Mapping[MapOp, ReduceOp]] = {
    op.combine: op for op in OPS.values() if isinstance(op, ReduceOp) and op.combine is not None
}
