"""Powers: the faster operations of some exponents, and the error of integers to negative integer powers.

NumPy raises the error while it computes, and so does the provider of the host. Kernels raise none, so exponents of a
power that is computed elsewhere are checked where it is recorded, as indices are.
"""

from functools import partial
from typing import Any, Final

import numpy as np

from gpuarray.array.bounds import bounds
from gpuarray.array.operands import as_node, holds_arrays
from gpuarray.array.storage import StoredArray
from gpuarray.array.traced_scalars import TracedScalar
from gpuarray.device import Device
from gpuarray.graph import build, tracing
from gpuarray.graph.nodes import BaseNode, Node
from gpuarray.immediacy import immediacy
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions
from gpuarray.ops.spec import MapOp
from gpuarray.runtime import evaluate
from gpuarray.source_locations import error_at, find_origin

_OPERATIONS: Final = {1: ops.positive, 2: ops.square, 0.5: ops.sqrt, -1: ops.reciprocal}
#: NumPy computes powers of complex numbers to smaller integers by multiplications.
_MULTIPLIED: Final = 100


def power_operation(node: Node, exponent: Any) -> MapOp:
    """Return the operation that computes what NumPy does for an exponent; ``pow`` if it is no Python scalar.

    An operation of one operand leaves the exponent out.
    """
    if type(exponent) not in (int, float):
        return ops.pow
    if node.dtype.kind in "fc" and exponent in _OPERATIONS:
        return _OPERATIONS[exponent]
    if node.dtype.kind == "c" and abs(exponent) < _MULTIPLIED and exponent == int(exponent):
        return ops.whole_power
    return ops.square if type(exponent) is int and exponent == 2 else ops.pow


def check_power(base: Any, exponent: Any, device: Device) -> None:
    """Raise ValueError if an integer is raised to a negative integer.

    Exponents in the memory of a device are evaluated, and the least of them is read, once per value. Functions that
    ``jit`` has recorded raise the error at the end of a call.

    Parameters
    ----------
    base : Node or scalar
        The base.
    exponent : object
        A number, array or sequence.
    device : Device
        Where the power is computed.
    """
    if isinstance(base, BaseNode):
        if base.dtype.kind not in "biu" or not base.size:
            return
    elif not isinstance(base, int):
        return
    if isinstance(exponent, StoredArray) and immediacy().limit and (host := exponent.host()) is not None:
        exponent = host
    if holds_arrays(exponent):
        if device.kind != "cpu":
            node = as_node(exponent)
            if node.size and _is_integral(base, node.dtype) and has_negative(node, device):
                raise _error()
    elif type(exponent) is not TracedScalar and isinstance(exponent, int | np.integer | np.ndarray | list | tuple):
        exponents = np.asarray(exponent)
        is_python = type(exponent) is int
        if _is_integral(base, int if is_python else exponents.dtype) and (exponents < 0).any():
            raise _error()


def has_negative(node: Node, device: Device) -> bool:
    """Return whether an integer power of the elements is an error now; ``jit`` looks at them at each call."""
    if tracing.mode().is_replayed:
        status = build.reduce(reductions.any, build.elementwise(ops.less, node, 0), None, None, False)
        later = partial(error_at, _error, find_origin())
        evaluate.evaluate_early([status], device)
        if tracing.mode().check(status, device, later):
            return False
    return bounds(node, device)[0] < 0


def _is_integral(base: Any, exponent: Any) -> bool:
    """Return whether a power is one of signed integers; a negative Python integer has no unsigned dtype."""
    exponents = getattr(exponent, "kind", "i")
    if exponents != "i":
        return False
    first: Any = base.dtype if isinstance(base, BaseNode) else type(base)
    return ops.pow.resolve(getattr(first, "python", first), exponent).output.kind == "i"


def _error() -> ValueError:
    return ValueError("Integers to negative integer powers are not allowed.")
