"""Tables that arrays look up and :mod:`gpuarray.functions` fills: operations by ufunc, and functions.

The tables stand below both packages, so that ``array`` does not import ``functions``.
"""

import inspect
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gpuarray.ops.spec import OPS, MapOp, op_named

#: NumPy's ufuncs that are one elementwise operation, or several for several outputs; and the special functions.
UFUNC_OPS: Final[dict[Any, tuple[MapOp, ...]]] = {}

#: The functions that methods of arrays call, by name, and those that answer the protocols of NumPy and the standard.
METHODS: Final[dict[str, Callable[..., Any]]] = {}

#: By function of NumPy, the implementation that gets its arguments, unless the rules of the standard hold.
FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {}


def collect_ufunc_operations() -> None:
    """Fill :data:`UFUNC_OPS` from the registered operations."""
    outputs: dict[Any, dict[int, MapOp]] = {}
    for op in OPS.values():
        if isinstance(op, MapOp) and isinstance(op.numpy, np.ufunc):
            outputs.setdefault(op.numpy, {})[op.output] = op
    for ufunc, ops in outputs.items():
        if len(ops) == ufunc.nout:
            UFUNC_OPS[ufunc] = tuple(ops[i] for i in range(ufunc.nout))


#: Names of SciPy's ufuncs whose operation has another name.
_SCIPY_NAMES: Final = {"psi": "digamma"}


def scipy_name(ufunc: Any) -> str | None:
    """Return the name of a ufunc of ``scipy.special``, None for any other ufunc. SciPy is not imported for it.

    The public name is the ufunc itself or, where SciPy supports other array libraries, a function that wraps it.
    """
    name: str = ufunc.__name__
    public = getattr(sys.modules.get("scipy.special"), name, None)
    return None if public is None or inspect.unwrap(public) is not ufunc else name


def is_broken_by_masks(function: Any) -> bool:
    """Return whether a function is a ufunc of another package than NumPy, as those of ``scipy.special`` are.

    Called with ``where=``, those of SciPy 1.17 write beyond their results.
    """
    return isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is not function


def scipy_operation(ufunc: Any) -> MapOp | None:
    """Return the operation of a ufunc of ``scipy.special``; None for others, and if there is none."""
    name = scipy_name(ufunc)
    if name is None:
        return None
    try:
        op = op_named(_SCIPY_NAMES.get(name, name))
    except KeyError:
        return None
    return op if isinstance(op, MapOp) else None
