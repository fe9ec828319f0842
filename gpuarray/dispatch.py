"""What arrays look up and :mod:`gpuarray.functions` fills: elementwise rows by ufunc, and functions by name.

The two tables stand below both packages, so that ``array`` does not import ``functions``.
"""

import inspect
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gpuarray.ops.spec import ROWS, MapOp, row_named

#: NumPy's ufuncs that are one elementwise row, or several for several outputs; and the functions of special rows.
UFUNC_ROWS: Final[dict[Any, tuple[MapOp, ...]]] = {}

#: The functions that methods of arrays call, by name, and those that answer the protocols of NumPy and the standard.
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


#: Names of SciPy's ufuncs whose row has another name.
_SCIPY_NAMES: Final = {"psi": "digamma"}


def scipy_row(ufunc: Any) -> MapOp | None:
    """Return the row of a ufunc of ``scipy.special``, None for any other ufunc. SciPy is not imported for it.

    The public name is the ufunc itself or, where SciPy supports other array libraries, a function that wraps it.
    """
    name = ufunc.__name__
    public = getattr(sys.modules.get("scipy.special"), name, None)
    if public is None or inspect.unwrap(public) is not ufunc:
        return None
    try:
        row = row_named(_SCIPY_NAMES.get(name, name))
    except KeyError:
        return None
    return row if isinstance(row, MapOp) else None
