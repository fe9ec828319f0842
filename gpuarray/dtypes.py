"""The data types and their promotion, on NumPy's own dtype objects.

There is no dtype class of our own: a dtype here is always one of the thirteen NumPy scalar dtypes below, in native
byte order. Promotion is NumPy's (NEP 50): Python scalars are weak, NumPy scalars and arrays are strong.
"""

from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

DType: TypeAlias = np.dtype[Any]

bool_: Final[DType] = np.dtype(np.bool_)
int8: Final[DType] = np.dtype(np.int8)
int16: Final[DType] = np.dtype(np.int16)
int32: Final[DType] = np.dtype(np.int32)
int64: Final[DType] = np.dtype(np.int64)
uint8: Final[DType] = np.dtype(np.uint8)
uint16: Final[DType] = np.dtype(np.uint16)
uint32: Final[DType] = np.dtype(np.uint32)
uint64: Final[DType] = np.dtype(np.uint64)
float16: Final[DType] = np.dtype(np.float16)
float32: Final[DType] = np.dtype(np.float32)
float64: Final[DType] = np.dtype(np.float64)
complex64: Final[DType] = np.dtype(np.complex64)
complex128: Final[DType] = np.dtype(np.complex128)

SIGNED: Final = (int8, int16, int32, int64)
UNSIGNED: Final = (uint8, uint16, uint32, uint64)
FLOATING: Final = (float16, float32, float64)
COMPLEX: Final = (complex64, complex128)
ALL: Final = (bool_, *SIGNED, *UNSIGNED, *FLOATING, *COMPLEX)

#: By the objects, scalar types and usual names of dtypes; :func:`canonical` finds the others.
_CANONICAL: dict[Any, DType] = {
    name: dtype for dtype in ALL for name in (dtype, dtype.type, dtype.name, f"{dtype.kind}{dtype.itemsize}")
}
_CANONICAL |= {kind: _CANONICAL[np.dtype(kind)] for kind in (bool, int, float, complex)}


_PLAIN_ADVICE: Final = "convert with NumPy before handing the data over"
#: What to do with data of kinds that are not supported.
ADVICE: Final = {
    "M": "keep dates in NumPy arrays, which masks and indices of this package select from",
    "m": "divide differences of dates by a unit, as in (dates - dates[0]) / numpy.timedelta64(1, 's')",
    "S": "keep texts in NumPy arrays, which masks and indices of this package select from",
    "U": "keep texts in NumPy arrays, which masks and indices of this package select from",
    "V": "convert the fields of structured arrays one by one, as in asarray(records['field'])",
}


def canonical(dtype: Any) -> DType:
    """Return the native, supported NumPy dtype that ``dtype`` names.

    Raises
    ------
    TypeError
        If ``dtype`` names no data type, or one that this package does not hold (object, string, datetime, void,
        long double).
    """
    try:
        return _CANONICAL[dtype]
    except (KeyError, TypeError):
        pass
    converted = np.dtype(dtype)
    native = converted.newbyteorder("=")
    try:
        return _CANONICAL[native]
    except KeyError:
        raise TypeError(
            f"dtype {converted!r} is not supported; use bool, int8 to int64, uint8 to uint64, float16, float32, "
            f"float64, complex64 and complex128; {ADVICE.get(converted.kind, _PLAIN_ADVICE)}"
        ) from None


def is_supported(dtype: DType) -> bool:
    """Whether arrays of ``dtype`` can be held, byte order aside."""
    return dtype in _CANONICAL or dtype.newbyteorder("=") in _CANONICAL


@lru_cache(maxsize=4096)
def promote(*dtypes: Any) -> DType:
    """Return NumPy's common dtype of dtypes and weak Python scalar types (``int``, ``float``, ``complex``)."""
    weak = {bool: False, int: 0, float: 0.0, complex: 0j}
    return canonical(np.result_type(*(weak[d] if isinstance(d, type) and d in weak else d for d in dtypes)))
