"""Where NumPy's functions are looked up: tables that ``functions`` fills, and ``array`` reads.

They stand below both, so that ``array`` does not import ``functions``.
"""

import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gpuarray.ops import special
from gpuarray.ops.formula import Function
from gpuarray.ops.spec import ROWS, MapOp

#: NumPy's ufuncs that are one elementwise row, or several for several outputs; and the functions of special rows.
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
        if isinstance(row, MapOp) and isinstance(row.numpy, np.ufunc | Function):
            outputs.setdefault(row.numpy, {})[row.output] = row
    for ufunc, found in outputs.items():
        if len(found) == ufunc.nout:
            UFUNC_ROWS[ufunc] = tuple(found[i] for i in range(ufunc.nout))


#: SciPy's ufuncs that have a row of another name, or one of NumPy's name.
_SCIPY_NAMES: Final = {"psi": "digamma", "cbrt": "cbrt", "exp2": "exp2", "expm1": "expm1", "log1p": "log1p"}
#: Where SciPy keeps its ufuncs: the public names are functions over them where it looks for other array libraries.
_SCIPY_MODULES: Final = ("scipy.special", "scipy.special._ufuncs")


def scipy_row(ufunc: Any) -> MapOp | None:
    """Return the row of one of ``scipy.special``'s own ufuncs; None of any other. SciPy is not imported for it."""
    name = ufunc.__name__
    row = special.ROWS.get(name) or ROWS.get(_SCIPY_NAMES.get(name, ""))
    known = any(getattr(sys.modules.get(module), name, None) is ufunc for module in _SCIPY_MODULES)
    return row if known and isinstance(row, MapOp) else None
