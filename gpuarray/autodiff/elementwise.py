"""The transposes of elementwise operations, from their partial derivatives."""

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
from gpuarray.graph.tracing import Deferred
from gpuarray.ops import derivatives, generators, reductions
from gpuarray.ops import elementwise as ops
from gpuarray.ops.columns import Kind
from gpuarray.ops.derivatives import FLAT, PARTIALS, UNKNOWN, Partial
from gpuarray.ops.spec import MapOp


class Unevaluated(Exception):  # noqa: N818  # not an error of the user's
    """A formula has an operation that NumPy has no function for."""


def _apply(op: MapOp, *operands: Any) -> Any:
    """Return an operation of a formula, evaluated with arrays or with NumPy's values."""
    if any(isinstance(operand, GpuArray) for operand in operands):
        return GpuArray._apply(op, *operands)
    function = op.numpy
    if isinstance(function, np.ufunc):
        return function(*operands)[op.output] if function.nout > 1 else function(*operands)
    if op is ops.where:
        return np.where(*operands)[()]
    raise Unevaluated


derivatives.evaluation.apply = _apply
#: The module of the special functions, whose operations are declared when one of them is used.
_SPECIAL: Final = "gpuarray.ops.special.derivatives"


@cache
def partials_of(op: MapOp) -> tuple[Partial, ...] | None:
    """Return the partial derivatives of an operation; None if it has none."""
    if op in PARTIALS:
        return PARTIALS[op]
    special: Mapping[MapOp, tuple[Partial, ...]] = import_module(_SPECIAL).PARTIALS
    return special.get(op)


def transpose(
    node: Map, inputs: Sequence[Node], ct: GpuArray, wanted: Sequence[bool], device: Device
) -> list[GpuArray | None]:
    """Return the cotangents of the operands of an elementwise node."""
    if node.op in FLAT:
        return [None] * len(inputs)
    special = _RULES.get(node.op)
    if special is not None:
        found = special(node, ct, [wrap(operand, device) for operand in inputs])
    else:
        found = _by_partials(node, inputs, ct, wanted)
    return [
        fitted(part, operand) if part is not None and is_wanted else None
        for part, operand, is_wanted in zip(found, inputs, wanted, strict=True)
    ]


def _by_partials(node: Map, inputs: Sequence[Node], ct: GpuArray, wanted: Sequence[bool]) -> Sequence[GpuArray | None]:
    partials = partials_of(node.op)
    if partials is None or (node.op.kind is Kind.EXTREME and node.dtype.kind == "c"):
        raise undefined(node, node.op.name)
    arrays: list[GpuArray] = []
    found: list[GpuArray | None] = []
    for partial, is_wanted in zip(partials, wanted, strict=True):
        if not is_wanted:
            found.append(None)
        elif partial is UNKNOWN:
            raise undefined(node, node.op.name)
        elif callable(partial):
            arrays = arrays or [wrap(value, ct.device) for value in (node, *inputs)]
            found.append(scaled(ct, converted(partial(*arrays), ct.dtype)))
        elif partial == 0:
            found.append(None)
        else:
            found.append(ct if partial == 1 else wrap(_times(ct.node(), partial), ct.device))
    return found


def _times(node: Node, number: Any) -> Node:
    return build.unary(ops.negative, node) if number == -1 else build.binary(ops.multiply, node, number)


def scaled(ct: GpuArray, factor: GpuArray) -> GpuArray:
    """Return a cotangent times a derivative, and 0 where either is 0: there the other may be anything."""
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


def conj(x: GpuArray) -> GpuArray:
    """Return the complex conjugate; real numbers as they are."""
    found: GpuArray = GpuArray._apply(ops.conj, x) if x.dtype.kind == "c" else x
    return found


def adjoint(x: GpuArray) -> GpuArray:
    """Return the conjugate transposes of matrices."""
    return conj(x).mT


def converted(ct: GpuArray, dtype: DType) -> GpuArray:
    """Return a cotangent in the dtype of the value that it belongs to."""
    if ct.dtype == dtype:
        return ct
    if ct.dtype.kind == "c" and dtype.kind != "c":
        ct = GpuArray._apply(ops.real, ct)
    return wrap(build.cast(ct.node(), dtype), ct.device)


def fitted(ct: GpuArray, operand: GpuArray | Node) -> GpuArray:
    """Return a cotangent of an operand that was broadcast and converted, as one of the operand itself."""
    ct = converted(ct, operand.dtype)
    shape, own = operand.shape, ct.shape
    if own == shape:
        return ct
    lead = len(own) - len(shape)
    if lead < 0 or any(n != 1 and n != m for n, m in zip(shape, own[lead:], strict=True)):
        own = build.broadcast_shapes(own, shape)
        ct = ct.broadcast(own)
        lead = len(own) - len(shape)
    over = tuple([a for a, n in enumerate(own) if a < lead or (shape[a - lead] == 1 and n != 1)])
    return wrap(build.reshape(build.reduce(_SUM, ct.node(), over), shape), ct.device)


# -- operations that are not holomorphic, or no functions of numbers --------------------------------------------------


def _where(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    condition = operands[0]
    nothing = wrap(build.full((), 0, ct.dtype), ct.device)
    return (
        None,
        GpuArray._apply(ops.where, condition, ct, nothing),
        GpuArray._apply(ops.where, condition, nothing, ct),
    )


def _cast(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    return (converted(ct, operands[0].dtype),)


def _abs(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    (x,) = operands
    return (scaled(_complex(ct) if x.dtype.kind == "c" else ct, GpuArray._apply(ops.conj, _direction(x))),)


def _direction(x: GpuArray) -> GpuArray:
    """Return sign(x), for complex numbers by operations that have derivatives."""
    if x.dtype.kind != "c":
        found: GpuArray = GpuArray._apply(ops.sign, x)
        return found
    length = abs(x)
    return x / _complex(GpuArray._apply(ops.where, length == 0, 1.0, length))


def _sign(node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    """Turn only: along the number nothing changes, across it the angle does, by 1 / abs(x)."""
    (x,) = operands
    if x.dtype.kind != "c":
        return (None,)
    length = abs(x)
    direction = _direction(x)
    across = GpuArray._apply(ops.imag, ct * direction) / GpuArray._apply(ops.where, length == 0, 1.0, length)
    return (GpuArray._apply(ops.complex_from_parts, _nothing(across), across) * GpuArray._apply(ops.conj, direction),)


def _real(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    return (_complex(ct) if operands[0].dtype.kind == "c" else ct,)


def _imag(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    if operands[0].dtype.kind != "c":
        return (None,)
    return (GpuArray._apply(ops.complex_from_parts, _nothing(ct), -ct),)


def _conj(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    return (GpuArray._apply(ops.conj, ct),)


def _from_parts(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    return GpuArray._apply(ops.real, ct), -GpuArray._apply(ops.imag, ct)


def _complex(x: GpuArray) -> GpuArray:
    made: GpuArray = GpuArray._apply(ops.complex_from_parts, x, _nothing(x)) if x.dtype.kind != "c" else x
    return made


def _nothing(like: GpuArray) -> GpuArray:
    return wrap(build.full((), 0, like.dtype), like.device)


_SUM: Final = reductions.sum
_RULES: Final[dict[MapOp, Callable[..., Sequence[GpuArray | None]]]] = {
    ops.where: _where,
    ops.cast: _cast,
    ops.abs: _abs,
    ops.sign: _sign,
    ops.real: _real,
    ops.imag: _imag,
    ops.conj: _conj,
    ops.complex_from_parts: _from_parts,
}
