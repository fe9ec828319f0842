"""The sections of the array API standard 2025.12, and for each function a call that shows where it runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import gpuarray as xp

SPECIFICATION: Final = f"https://data-apis.org/array-api/{xp.__array_api_version__}"


@dataclass(frozen=True)
class Section:
    """A section of the standard: its page here, its title, its page in the specification, and its names in order."""

    page: str
    title: str
    path: str
    names: tuple[str, ...]
    namespace: ModuleType = xp

    @property
    def prefix(self) -> str:
        """The prefix of its names: empty in the main namespace, ``linalg.`` or ``fft.`` in an extension."""
        return self.namespace.__name__.partition(".")[2] + "." if self.namespace is not xp else ""


def _section(page: str, path: str, names: str, namespace: ModuleType = xp, title: str = "") -> Section:
    title = title or page.replace("-", " ").capitalize()
    return Section(page, title, f"{SPECIFICATION}/{path}.html", tuple(names.split()), namespace)


CONSTANTS: Final = _section("constants", "API_specification/constants", "e inf nan newaxis pi")
DTYPES: Final = _section(
    "data-types",
    "API_specification/data_types",
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128",
)
INSPECTION: Final = _section("inspection", "API_specification/inspection", "__array_namespace_info__")
VERSION: Final = _section("version", "API_specification/version", "__array_api_version__")
#: The sections that hold functions.
SECTIONS: Final = (
    _section(
        "creation-functions",
        "API_specification/creation_functions",
        "arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu "
        "zeros zeros_like",
    ),
    _section(
        "data-type-functions",
        "API_specification/data_type_functions",
        "astype can_cast finfo iinfo isdtype result_type",
    ),
    _section(
        "elementwise-functions",
        "API_specification/elementwise_functions",
        "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or "
        "bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide "
        "greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp "
        "logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal "
        "positive pow real reciprocal remainder round sign signbit sin sinh square sqrt subtract tan tanh trunc",
    ),
    _section("indexing-functions", "API_specification/indexing_functions", "take take_along_axis"),
    _section(
        "linear-algebra-functions",
        "API_specification/linear_algebra_functions",
        "matmul matrix_transpose tensordot vecdot",
    ),
    _section(
        "manipulation-functions",
        "API_specification/manipulation_functions",
        "broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape "
        "roll squeeze stack tile unstack",
    ),
    _section(
        "searching-functions",
        "API_specification/searching_functions",
        "argmax argmin count_nonzero nonzero searchsorted where",
    ),
    _section(
        "set-functions", "API_specification/set_functions", "isin unique_all unique_counts unique_inverse unique_values"
    ),
    _section("sorting-functions", "API_specification/sorting_functions", "argsort sort"),
    _section(
        "statistical-functions",
        "API_specification/statistical_functions",
        "cumulative_prod cumulative_sum max mean min prod std sum var",
    ),
    _section("utility-functions", "API_specification/utility_functions", "all any diff"),
    _section(
        "linalg",
        "extensions/linear_algebra_functions",
        "cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose "
        "outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm",
        xp.linalg,
        "Extension: linear algebra",
    ),
    _section(
        "fft",
        "extensions/fourier_transform_functions",
        "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift",
        xp.fft,
        "Extension: Fourier transforms",
    ),
)

ATTRIBUTES: Final = ("dtype", "device", "mT", "ndim", "shape", "size", "T")
_NUMBER: Final = "the only element as a Python number; waits for the value"
#: Expressions that call the methods of arrays in the standard, with the equivalent function or a description.
EXPRESSIONS: Final[Mapping[str, Any]] = {
    "abs(x)": xp.abs,
    "+x": xp.positive,
    "-x": xp.negative,
    "~x": xp.bitwise_invert,
    "x + y": xp.add,
    "x - y": xp.subtract,
    "x * y": xp.multiply,
    "x / y": xp.divide,
    "x // y": xp.floor_divide,
    "x % y": xp.remainder,
    "x ** y": xp.pow,
    "x @ y": xp.matmul,
    "x & y": xp.bitwise_and,
    "x | y": xp.bitwise_or,
    "x ^ y": xp.bitwise_xor,
    "x << y": xp.bitwise_left_shift,
    "x >> y": xp.bitwise_right_shift,
    "x == y": xp.equal,
    "x != y": xp.not_equal,
    "x < y": xp.less,
    "x <= y": xp.less_equal,
    "x > y": xp.greater,
    "x >= y": xp.greater_equal,
    "x[key]": "a view for slices, integers and `None`; a copy for masks and arrays of integers",
    "x[key] = y": "writes to elements; the write is visible in all views of them",
    "bool(x)": "the truth value of the only element; waits for the value",
    "int(x)": _NUMBER,
    "float(x)": _NUMBER,
    "complex(x)": _NUMBER,
    "operator.index(x)": "the only element, of an integer dtype, as a Python `int`; waits for the value",
    "x.__array_namespace__(api_version=None)": xp.GpuArray.__array_namespace__,
    "x.__dlpack__(max_version=None, dl_device=None, copy=None)": xp.GpuArray.__dlpack__,
    "x.__dlpack_device__()": xp.GpuArray.__dlpack_device__,
    "x.to_device(device)": xp.GpuArray.to_device,
}


def _lines(x: Any) -> Any:
    """Return the row indices of ``x``, on its device."""
    return xp.arange(x.shape[0], device=x.device)


#: Calls of functions whose required arguments are not all arrays; ``x`` is a square matrix.
CALLS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "arange": lambda x: xp.arange(5, dtype=x.dtype),
    "asarray": lambda x: xp.asarray(x, copy=True),
    "astype": lambda x: xp.astype(x, xp.complex64),
    "broadcast_shapes": lambda x: xp.broadcast_shapes(x.shape, (1,)),
    "broadcast_to": lambda x: xp.broadcast_to(x, (3, *x.shape)),
    "can_cast": lambda x: xp.can_cast(x, x.dtype),
    "clip": lambda x: xp.clip(x, x[0], x[1]),
    "concat": lambda x: xp.concat([x, x]),
    "cumulative_prod": lambda x: xp.cumulative_prod(x, axis=0),
    "cumulative_sum": lambda x: xp.cumulative_sum(x, axis=0),
    "empty": lambda x: xp.empty(3, dtype=x.dtype),
    "expand_dims": lambda x: xp.expand_dims(x, axis=0),
    "eye": lambda x: xp.eye(3, dtype=x.dtype),
    "fft.fftfreq": lambda x: xp.fft.fftfreq(5, dtype=x.dtype),
    "fft.rfftfreq": lambda x: xp.fft.rfftfreq(5, dtype=x.dtype),
    "finfo": lambda x: xp.finfo(x.dtype),
    "full": lambda x: xp.full(3, 1, dtype=x.dtype),
    "full_like": lambda x: xp.full_like(x, 1),
    "iinfo": lambda x: xp.iinfo(x.dtype),
    "isdtype": lambda x: xp.isdtype(x.dtype, "numeric"),
    "linalg.cross": lambda x: xp.linalg.cross(xp.concat([x, x[:1]]), xp.concat([x, x[:1]]), axis=0),
    "linalg.matrix_power": lambda x: xp.linalg.matrix_power(x, 2),
    "linalg.outer": lambda x: xp.linalg.outer(x[0], x[1]),
    "linspace": lambda x: xp.linspace(0, 1, 5, dtype=x.dtype),
    "meshgrid": lambda x: xp.meshgrid(x[0], x[1]),
    "moveaxis": lambda x: xp.moveaxis(x, 0, 1),
    "ones": lambda x: xp.ones(3, dtype=x.dtype),
    "permute_dims": lambda x: xp.permute_dims(x, (1, 0)),
    "repeat": lambda x: xp.repeat(x, 2),
    "reshape": lambda x: xp.reshape(x, (-1,)),
    "roll": lambda x: xp.roll(x, 1),
    "searchsorted": lambda x: xp.searchsorted(x[1], x),
    "squeeze": lambda x: xp.squeeze(x[:1], axis=0),
    "stack": lambda x: xp.stack([x, x]),
    "take": lambda x: xp.take(x, _lines(x), axis=0),
    "take_along_axis": lambda x: xp.take_along_axis(x, _lines(x)[:, None], axis=1),
    "tile": lambda x: xp.tile(x, (2, 1)),
    "where": lambda x: xp.where(xp.astype(x, xp.bool), x, x),
    "zeros": lambda x: xp.zeros(3, dtype=x.dtype),
}

_STRICT: Final = "NumPy's value at infinities; the standard's with `strict_array_api`"
_INDICES: Final = "does not wait if `check_indices` is off"
#: Notes that cannot be derived from the code.
NOTES: Final[Mapping[str, str]] = {
    "broadcast_arrays": "the results are read-only",
    "broadcast_to": "the result is read-only",
    "expm1": _STRICT + " (complex numbers)",
    "floor_divide": _STRICT,
    "from_dlpack": "arrays of other libraries are copied through host memory",
    "linalg.diagonal": "the result is read-only",
    "linalg.matrix_rank": "`numpy.linalg.matrix_rank` also accepts vectors",
    "linalg.pinv": "the default tolerance is the standard's; that of `numpy.linalg.pinv` is NumPy's",
    "pow": "for signed integers, the least exponent",
    "reshape": "copies if the strides do not allow a view",
    "take": _INDICES,
    "take_along_axis": _INDICES,
    "tanh": _STRICT + " (complex numbers)",
}
