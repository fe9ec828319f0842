"""The transposes of elementwise operations, from their partial derivatives.

Rules take arrays of this package, and NumPy's arrays and scalars, with which they compute at once.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from math import isfinite
from typing import Any, Final

import numpy as np

from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff.errors import undefined
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.graph import build
from gpuarray.graph.nodes import Generate, Map, Node
from gpuarray.graph.shapes import broadcast_shapes
from gpuarray.graph.tracing import Deferred
from gpuarray.ops import derivatives, generators, reductions, selection
from gpuarray.ops import elementwise as ops
from gpuarray.ops.columns import Kind
from gpuarray.ops.derivatives import PARTIALS, Formula, OperandFormula, Partial
from gpuarray.ops.spec import MapOp

#: Multiplies a cotangent by a derivative, and gives 0 where either is 0: there the other may be anything.
Scale = Callable[[Any, Any], Any]
#: Returns the cotangent of an operand as the operation broadcasts and converts it; None for zeros. Takes an elementwise
#: node, its operands, its cotangent, what returns the value of a node, and what multiplies cotangents by derivatives.
Share = Callable[[Map, Sequence[Node], Any, Callable[[Node], Any], Scale], Any]


def apply(op: MapOp, *operands: Any) -> Any:
    """Return an operation over arrays of this package, or over NumPy's values."""
    for operand in operands:
        if isinstance(operand, GpuArray):
            return GpuArray._apply(op, *operands)
    function = op.numpy
    if isinstance(function, np.ufunc):
        return function(*operands)[op.output] if function.nout > 1 else function(*operands)
    if op is ops.where:
        return selection.where(*operands)[()]
    signature = op.resolve(*[getattr(operand, "dtype", type(operand)) for operand in operands])
    values = [np.asarray(operand, dtype) for operand, dtype in zip(operands, signature.inputs, strict=True)]
    return function(*values, out=np.empty(np.broadcast(*values).shape, signature.output))[()]


derivatives.evaluation.apply = apply
#: The module of the special functions, whose operations are declared when one of them is used.
_SPECIAL: Final = "gpuarray.ops.special.derivatives"


def transpose(
    node: Map, inputs: Sequence[Node], ct: GpuArray, needed: Sequence[bool], device: Device
) -> list[GpuArray | None]:
    """Return the cotangents of the operands of an elementwise node."""
    results: list[GpuArray | None] = []
    for operand, share_of, is_needed in zip(inputs, shares_of(node.op), needed, strict=True):
        share = share_of(node, inputs, ct, lambda value: wrap(value, device), scaled) if is_needed else None
        results.append(None if share is None else fitted(share, operand))
    return results


@cache
def shares_of(op: MapOp) -> tuple[Share, ...]:
    """Return for each operand of an operation the function that returns its cotangent."""
    if op.kind is Kind.EXTREME:
        return _extreme(0), _extreme(1)
    rules = _RULES.get(op)
    if rules is not None:
        return tuple([_by_rule(rule) for rule in rules])
    special: Mapping[MapOp, tuple[Partial, ...]] = import_module(_SPECIAL).PARTIALS if op not in PARTIALS else {}
    partials = PARTIALS.get(op) or special.get(op)
    if partials is None:
        return (_undefined,) * op.arity
    return tuple([_by_partial(partial) for partial in partials])


def _undefined(node: Map, inputs: Sequence[Node], ct: Any, value: Callable[[Node], Any], scale: Scale) -> Any:
    raise undefined(node, node.op.name)


def _extreme(number: int) -> Share:
    """Give the cotangent to the operand that is the extreme one, and half of it to each of two equal ones."""

    def share(node: Map, inputs: Sequence[Node], ct: Any, value: Callable[[Node], Any], scale: Scale) -> Any:
        if node.dtype.kind == "c":
            raise undefined(node, node.op.name)
        result, own, other = value(node), value(inputs[number]), value(inputs[1 - number])
        return apply(ops.where, own == result, apply(ops.where, other == result, ct * 0.5, ct), 0.0)

    return share


def _by_rule(rule: Callable[[Any, Sequence[Any], Scale], Any]) -> Share:
    return lambda node, inputs, ct, value, scale: rule(ct, [*map(value, inputs)], scale)


def _by_partial(partial: Partial) -> Share:
    if isinstance(partial, float):
        return _by_number(partial)
    if isinstance(partial, OperandFormula):
        number = partial.number - 1
        return lambda node, inputs, ct, value, scale: scale(ct, converted(value(inputs[number]), ct.dtype))
    if callable(partial):
        return _by_formula(partial)
    return _undefined


def _by_formula(partial: Formula) -> Share:
    def share(node: Map, inputs: Sequence[Node], ct: Any, value: Callable[[Node], Any], scale: Scale) -> Any:
        factor = partial(value(node), *[value(operand) for operand in inputs])
        return scale(ct, factor if factor.dtype is ct.dtype else converted(factor, ct.dtype))

    return share


def _by_number(number: float) -> Share:
    if number in (0, 1):
        return lambda node, inputs, ct, value, scale: ct if number else None
    return lambda node, inputs, ct, value, scale: -ct if number == -1 else ct * number


def scaled(ct: Any, factor: Any) -> Any:
    """Return a cotangent times a derivative, and 0 where either is 0: there the other may be anything."""
    if not isinstance(factor, GpuArray):
        return apply(ops.multiply_no_nan, ct, factor)
    if _known(ct) == 1 and ct.dtype == factor.dtype:  # the cotangent of the result itself
        return factor
    number = _known(factor)
    op = ops.multiply if number and isfinite(abs(number)) else ops.multiply_no_nan
    return wrap(build.binary(op, ct.node(), factor.node()), ct.device)


def _known(array: GpuArray) -> Any:
    """Return the number that all elements of an array are; 0 if it is not known."""
    node = array._cell.node
    is_known = type(node) is Generate and node.op is generators.full and not isinstance(node.detail[0], Deferred)
    return node.detail[0] if is_known else 0


def conj(x: Any) -> Any:
    """Return the complex conjugate; real numbers as they are."""
    return apply(ops.conj, x) if x.dtype.kind == "c" else x


def adjoint(x: Any) -> Any:
    """Return the conjugate transposes of matrices."""
    return conj(x).mT


def converted(ct: Any, dtype: DType) -> Any:
    """Return a cotangent in the dtype of the value that it belongs to."""
    source = ct.dtype
    if source is dtype or source == dtype:
        return ct
    if source.kind == "c" and dtype.kind != "c":
        ct = apply(ops.real, ct)
    return ct.astype(dtype)


def fitted(ct: GpuArray, operand: GpuArray | Node) -> GpuArray:
    """Return a cotangent of an operand that was broadcast and converted, as one of the operand itself."""
    ct = converted(ct, operand.dtype)
    shape, ct_shape = operand.shape, ct.shape
    if ct_shape == shape:
        return ct
    lead = len(ct_shape) - len(shape)
    if lead < 0 or any(n != 1 and n != m for n, m in zip(shape, ct_shape[lead:], strict=True)):
        ct_shape = broadcast_shapes(ct_shape, shape)
        ct = ct.broadcast(ct_shape)
        lead = len(ct_shape) - len(shape)
    over = tuple([a for a, n in enumerate(ct_shape) if a < lead or (shape[a - lead] == 1 and n != 1)])
    return wrap(build.reshape(build.reduce(reductions.sum, ct.node(), over), shape), ct.device)


# -- operations that are not holomorphic, or no functions of numbers --------------------------------------------------
# Each rule takes the cotangent, the operands, and what multiplies cotangents by derivatives.


def _abs(ct: Any, operands: Sequence[Any], scale: Scale) -> Any:
    (x,) = operands
    return scale(_complex(ct) if x.dtype.kind == "c" else ct, conj(_direction(x)))


def _direction(x: Any) -> Any:
    """Return sign(x), for complex numbers by operations that have derivatives."""
    if x.dtype.kind != "c":
        return apply(ops.sign, x)
    return x / _complex(_length(x))


def _length(x: Any) -> Any:
    """Return the lengths of complex numbers, and 1 for zeros."""
    length = abs(x)
    return apply(ops.where, length == 0, 1.0, length)


def _sign(ct: Any, operands: Sequence[Any], _scale: Scale) -> Any:
    """Turn only: along the number nothing changes, across it the angle does, by 1 / abs(x)."""
    (x,) = operands
    if x.dtype.kind != "c":
        return None
    direction = _direction(x)
    across = apply(ops.imag, ct * direction) / _length(x)
    return apply(ops.complex_from_parts, 0.0, across) * conj(direction)


def _real(ct: Any, operands: Sequence[Any], _scale: Scale) -> Any:
    return _complex(ct) if operands[0].dtype.kind == "c" else ct


def _complex(x: Any) -> Any:
    return x if x.dtype.kind == "c" else x.astype(np.result_type(x.dtype, np.complex64))


#: The rules of the operands.
_RULES: Final[dict[MapOp, tuple[Callable[[Any, Sequence[Any], Scale], Any], ...]]] = {
    ops.where: (
        lambda ct, operands, scale: None,
        lambda ct, operands, scale: apply(ops.where, operands[0], ct, 0.0),
        lambda ct, operands, scale: apply(ops.where, operands[0], 0.0, ct),
    ),
    ops.cast: (lambda ct, operands, scale: converted(ct, operands[0].dtype),),
    ops.abs: (_abs,),
    ops.sign: (_sign,),
    ops.real: (_real,),
    ops.imag: (
        lambda ct, operands, scale: apply(ops.complex_from_parts, 0.0, -ct) if operands[0].dtype.kind == "c" else None,
    ),
    ops.conj: (lambda ct, operands, scale: conj(ct),),
    ops.complex_from_parts: (
        lambda ct, operands, scale: apply(ops.real, ct),
        lambda ct, operands, scale: -apply(ops.imag, ct),
    ),
}
