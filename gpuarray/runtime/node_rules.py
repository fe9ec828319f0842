"""Rules by which NumPy's own functions compute single nodes from the values of their operands.

There is one rule for each kind of node. A rule returns None for a node that it does not cover.
:mod:`gpuarray.runtime.direct` computes small graphs by them.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias, get_args

import numpy as np

from gpuarray import dtypes
from gpuarray.config import config
from gpuarray.graph.nodes import (
    Call,
    Concat,
    Contract,
    Gather,
    Generate,
    Leaf,
    Map,
    Node,
    Reduce,
    Scan,
    Scatter,
    View,
)
from gpuarray.graph.tracing import Deferred
from gpuarray.ops import generators
from gpuarray.ops.columns import Kind
from gpuarray.ops.reduce_spec import Elements
from gpuarray.ops.spec import MapOp
from gpuarray.runtime.host_memory import overwritten, strided, value_of
from gpuarray.unprotected import unprotected

#: Errors that values, dtypes and sizes cause. Others are bugs of a rule.
OF_VALUES: Final = (TypeError, ValueError, ArithmeticError, MemoryError)

#: Reductions of more elements take spare memory.
_SPARED: Final = 1 << 14
#: A rule: computes a node from the values of its operands.
Rule: TypeAlias = Callable[[Any, list[Any]], Any]


def _generate(node: Generate, values: list[Any]) -> Any:
    if node.op.is_constant:
        (value,) = node.parameters
        return np.full(node.shape, value, node.dtype) if has_bits(value) else np.zeros(node.shape, node.dtype)
    if node.op.whole is not None:
        return node.op.whole(node.size, *node.parameters, dtype=node.dtype)
    return node.op.numpy(
        range(node.size) if node.op.takes_range and node.size else np.arange(node.size),
        *node.parameters,
        dtype=node.dtype,
    )


def has_bits(value: Any) -> bool:
    """Return whether the bits of a number are not all zeros."""
    return any(np.asarray(value).tobytes())


def generated(node: Generate) -> Any:
    """Return generated elements, a constant without axes as a scalar; None if a call gives the parameters."""
    if any(type(value) is Deferred for value in node.parameters):
        return None
    if node.op.is_constant and not node.shape:
        return node.parameters[0]
    array = np.asarray(_generate(node, []))
    return array if array.shape == node.shape and array.base is None else array.reshape(node.shape).copy()


def _map(node: Map, values: list[Any]) -> Any:
    op = node.op
    function = op.numpy
    if isinstance(function, np.ufunc):
        return function(*values)[op.output] if function.nout > 1 else function(*values)
    if op.kind is Kind.CONVERSION:
        (value,) = values
        value = np.asarray(value)
        return (value.real if value.dtype.kind == "c" and node.dtype.kind not in "cb" else value).astype(node.dtype)
    return function(*values, out=np.empty(node.shape, node.dtype))


def folded_constant(node: Map) -> Node:
    """Return an operation on constants as a constant; the node itself if it has other operands, or raises an error."""
    values = []
    for operand in node.inputs:
        if type(operand) is not Generate or not operand.op.is_constant:
            return node
        values.append(operand.parameters[0])
    try:
        with np.errstate(all="ignore"):
            value = _map(node, values)
    except OF_VALUES:  # the plan raises it again, and says where it comes from
        return node
    if type(value) is not node.dtype.type:
        value = np.asarray(value).astype(node.dtype)[()]
    constant = Generate(generators.full, (), (), node.dtype, (value,))
    constant.origin = node.origin
    return constant


def _view(node: View, values: list[Any]) -> Any:
    return strided(np.asarray(values[0], order="C"), node.layout)


def _concat(node: Concat, values: list[Any]) -> Any:
    return np.concatenate(values, node.axis)


def _reduce(node: Reduce, values: list[Any]) -> Any:
    op, axes = node.op, node.axes
    (array,) = values
    array = np.asarray(array)
    accumulated = op.accumulate(array.dtype)
    parts = op.numpy
    if not array.size and parts is not None:
        return None
    if parts is None:
        return _ufunc(op.combine).reduce(array, axis=axes, dtype=accumulated)
    array = array.astype(accumulated if parts.compute is None else parts.compute(accumulated), copy=False)

    def rows() -> Any:
        outer = [axis for axis in range(array.ndim) if axis not in axes]
        lines = np.ascontiguousarray(array.transpose(*outer, *axes))
        return lines.reshape(*[array.shape[axis] for axis in outer], -1)

    def restored(reduced: Any) -> Any:
        return np.expand_dims(reduced, axes)

    spare = np.empty_like(array) if parts.takes_spare and array.size > _SPARED else None
    elements = Elements(array, axes, spare, 0, rows, restored, lambda reduced: reduced)
    reduced = parts.finish(*parts.fold(elements)) if parts.result is None else parts.result(elements)
    return np.asarray(reduced).astype(node.dtype)


def _scan(node: Scan, values: list[Any]) -> Any:
    if node.op.numpy is not None:
        return None
    return _ufunc(node.op.combine).accumulate(values[0], axis=node.axis, dtype=node.dtype)


def _gather(node: Gather, values: list[Any]) -> Any:
    source, positions = values
    positions = unprotected(np.asarray(positions).astype(np.intp, copy=False))
    line = np.asarray(source).reshape(-1)
    if node.rows is None:
        return line[positions]
    width = node.size // positions.size if positions.size else 0
    return line.reshape(-1, width).take(positions, 0) if width else np.empty(node.shape, node.dtype)


def _scatter(node: Scatter, values: list[Any]) -> Any:
    if node.is_whole:
        new, positions = values
        places_of = positions.reshape(-1)
        inside = places_of < node.size
        result = np.empty(node.size, node.dtype)
        result[places_of[inside]] = new.reshape(-1)[inside]
        return result
    if node.layout is not None and node.dtype is node.inputs[0].dtype:
        values[0] = None  # this was a reference too
        leaf = overwritten(node.inputs, node.layout, values[1])
        if leaf is not None:
            leaf.origin = node.origin
            return leaf
        values[0] = value_of(node.inputs[0])
    return written(node, values)


def written(node: Scatter, values: list[Any]) -> Any:
    """Return the value of a write, in memory of its own."""
    if node.is_whole:
        return _scatter(node, values)
    if node.size > config.current.direct_limit:
        return None
    result = np.array(values[0], node.dtype, order="C")
    if node.layout is not None:
        strided(result, node.layout)[...] = values[1]
        return result
    line = result.reshape(-1)
    positions = np.asarray(values[2]).reshape(-1).astype(np.intp, copy=False)
    new = np.asarray(values[1])
    if node.combine is None:
        line[positions] = new.reshape(-1)
    else:
        _ufunc(node.combine).at(line, positions, *(new.reshape(-1),)[: node.combine.arity - 1])
    return result


def _contract(node: Contract, values: list[Any]) -> Any:
    left, right = values
    if node.dtype == dtypes.float16:
        left, right = left.astype(dtypes.float32), right.astype(dtypes.float32)
    return np.matmul(left, right)


def _call(node: Call, values: list[Any]) -> Any:
    values = [unprotected(np.asarray(value)) for value in values]
    return node.op.numpy(*values, **node.parameters)  # a tuple of all outputs, if there are several


def _ufunc(op: MapOp | None) -> np.ufunc:
    function = None if op is None else op.numpy
    if not isinstance(function, np.ufunc):
        raise TypeError(f"{op!r} is not a ufunc")
    return function


RULES: Final[dict[type, Rule]] = {
    Generate: _generate,
    Map: _map,
    View: _view,
    Concat: _concat,
    Reduce: _reduce,
    Scan: _scan,
    Gather: _gather,
    Scatter: _scatter,
    Contract: _contract,
    Call: _call,
}
if missing := {*get_args(Node)} - {Leaf, *RULES}:
    raise AssertionError(f"kinds of nodes without a rule: {missing}")
