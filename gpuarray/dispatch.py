"""Where NumPy's functions are looked up: tables that ``numpy_api`` and ``api`` fill, and ``array`` reads.

They stand below both, so that neither has to import the other.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gpuarray.ops.spec import ROWS, MapOp

#: NumPy's ufuncs that are one elementwise row, or several for several outputs.
UFUNC_ROWS: Final[dict[Any, tuple[MapOp, ...]]] = {}

#: NumPy's ufuncs that are compositions: ``function(*operands)`` on arrays and scalars.
COMPOSED_UFUNCS: Final[dict[Any, Callable[..., Any]]] = {}

#: Handlers of ufunc methods: ``"__call__"``, ``"reduce"``, ...: ``handler(ufunc, inputs, keywords)``.
UFUNC_METHODS: Final[dict[str, Callable[..., Any]]] = {}

#: NumPy's functions that have an implementation here, by the public NumPy function.
FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {}

#: Implementations by name, for methods of arrays that are functions of the namespace.
METHODS: Final[dict[str, Callable[..., Any]]] = {}


def collect_ufunc_rows() -> None:
    """Fill :data:`UFUNC_ROWS` from the registered rows."""
    outputs: dict[Any, dict[int, MapOp]] = {}
    for row in ROWS.values():
        if isinstance(row, MapOp) and isinstance(row.numpy, np.ufunc):
            outputs.setdefault(row.numpy, {})[row.output] = row
    for ufunc, found in outputs.items():
        if len(found) == ufunc.nout:
            UFUNC_ROWS[ufunc] = tuple(found[i] for i in range(ufunc.nout))
