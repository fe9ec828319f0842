"""The transposes of elementwise rows, from their partial derivatives."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Final

from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff.errors import undefined
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.graph import build
from gpuarray.graph.nodes import Map, Node
from gpuarray.ops import derivatives, reductions
from gpuarray.ops import elementwise as rows
from gpuarray.ops.derivatives import FLAT, PARTIALS, UNKNOWN, Partial
from gpuarray.ops.spec import MapOp

derivatives.evaluation.apply = GpuArray._apply
#: The module of the special functions, whose rows are declared when one of them is used.
_SPECIAL: Final = "gpuarray.ops.special.derivatives"


@cache
def partials_of(row: MapOp) -> tuple[Partial, ...] | None:
    """Return the partial derivatives of a row; None if it has none."""
    if row in PARTIALS:
        return PARTIALS[row]
    special: Mapping[MapOp, tuple[Partial, ...]] = import_module(_SPECIAL).PARTIALS
    return special.get(row)


def transpose(
    node: Map, inputs: Sequence[Node], ct: GpuArray, wanted: Sequence[bool], device: Device
) -> list[GpuArray | None]:
    """Return the cotangents of the operands of an elementwise node."""
    special = _RULES.get(node.op)
    operands = [wrap(operand, device) for operand in inputs]
    if node.op in FLAT:
        return [None] * len(inputs)
    if special is not None:
        found = special(node, ct, operands)
    else:
        found = _by_partials(node, ct, operands, wanted)
    return [
        fitted(part, operand) if part is not None and is_wanted else None
        for part, operand, is_wanted in zip(found, operands, wanted, strict=True)
    ]


def _by_partials(
    node: Map, ct: GpuArray, operands: Sequence[GpuArray], wanted: Sequence[bool]
) -> Sequence[GpuArray | None]:
    partials = partials_of(node.op)
    if partials is None or (node.op in _ORDERED and node.dtype.kind == "c"):
        raise undefined(node, node.op.name)
    result = wrap(node, ct.device)
    found: list[GpuArray | None] = []
    for partial, is_wanted in zip(partials, wanted, strict=True):
        if not is_wanted:
            found.append(None)
        elif partial is UNKNOWN:
            raise undefined(node, node.op.name)
        elif callable(partial):
            factor = partial(result, *operands)
            found.append(scaled(ct, converted(factor, ct.dtype)))
        elif partial == 0:
            found.append(None)
        else:
            found.append(ct if partial == 1 else -ct if partial == -1 else ct * partial)
    return found


def scaled(ct: GpuArray, factor: GpuArray) -> GpuArray:
    """Return a cotangent times a derivative, and 0 where either is 0: there the other may be anything."""
    product: GpuArray = GpuArray._apply(rows.scaled, ct, factor)
    return product


def converted(ct: GpuArray, dtype: DType) -> GpuArray:
    """Return a cotangent in the dtype of the value that it belongs to."""
    if ct.dtype == dtype:
        return ct
    if ct.dtype.kind == "c" and dtype.kind != "c":
        ct = GpuArray._apply(rows.real, ct)
    return wrap(build.cast(ct.node(), dtype), ct.device)


def fitted(ct: GpuArray, operand: GpuArray) -> GpuArray:
    """Return a cotangent of an operand that was broadcast and converted, as one of the operand itself."""
    ct = converted(ct, operand.dtype)
    if ct.shape == operand.shape:
        return ct
    lead = ct.ndim - operand.ndim
    if lead < 0 or any(n != 1 and n != m for n, m in zip(operand.shape, ct.shape[lead:], strict=True)):
        ct = ct.broadcast(build.broadcast_shapes(ct.shape, operand.shape))
        lead = ct.ndim - operand.ndim
    over = tuple(a for a in range(ct.ndim) if a < lead or (operand.shape[a - lead] == 1 and ct.shape[a] != 1))
    return wrap(build.reshape(build.reduce(_SUM, ct.node(), over), operand.shape), ct.device)


# -- rows that are not holomorphic, or no functions of numbers -------------------------------------------------------


def _where(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    condition = operands[0]
    nothing = wrap(build.full((), 0, ct.dtype), ct.device)
    return (
        None,
        GpuArray._apply(rows.where, condition, ct, nothing),
        GpuArray._apply(rows.where, condition, nothing, ct),
    )


def _cast(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    return (converted(ct, operands[0].dtype),)


def _abs(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    (x,) = operands
    return (scaled(_complex(ct) if x.dtype.kind == "c" else ct, GpuArray._apply(rows.conj, _direction(x))),)


def _direction(x: GpuArray) -> GpuArray:
    """Return sign(x), for complex numbers by operations that have derivatives."""
    if x.dtype.kind != "c":
        found: GpuArray = GpuArray._apply(rows.sign, x)
        return found
    length = abs(x)
    return x / _complex(GpuArray._apply(rows.where, length == 0, 1.0, length))


def _sign(node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    """Turn only: along the number nothing changes, across it the angle does, by 1 / abs(x)."""
    (x,) = operands
    if x.dtype.kind != "c":
        return (None,)
    length = abs(x)
    direction = _direction(x)
    across = GpuArray._apply(rows.imag, ct * direction) / GpuArray._apply(rows.where, length == 0, 1.0, length)
    return (GpuArray._apply(rows.complex_from_parts, _nothing(across), across) * GpuArray._apply(rows.conj, direction),)


def _real(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    return (_complex(ct) if operands[0].dtype.kind == "c" else ct,)


def _imag(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    if operands[0].dtype.kind != "c":
        return (None,)
    return (GpuArray._apply(rows.complex_from_parts, _nothing(ct), -ct),)


def _conj(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    return (GpuArray._apply(rows.conj, ct),)


def _from_parts(_node: Map, ct: GpuArray, operands: Sequence[GpuArray]) -> Sequence[GpuArray | None]:
    return GpuArray._apply(rows.real, ct), -GpuArray._apply(rows.imag, ct)


def _complex(x: GpuArray) -> GpuArray:
    made: GpuArray = GpuArray._apply(rows.complex_from_parts, x, _nothing(x)) if x.dtype.kind != "c" else x
    return made


def _nothing(like: GpuArray) -> GpuArray:
    return wrap(build.full((), 0, like.dtype), like.device)


_SUM: Final = reductions.sum
#: Rows that compare complex numbers, whose order is no smooth function of them.
_ORDERED: Final = frozenset((rows.maximum, rows.minimum, rows.fmax, rows.fmin))
_RULES: Final[dict[MapOp, Callable[..., Sequence[GpuArray | None]]]] = {
    rows.where: _where,
    rows.cast: _cast,
    rows.abs: _abs,
    rows.sign: _sign,
    rows.real: _real,
    rows.imag: _imag,
    rows.conj: _conj,
    rows.complex_from_parts: _from_parts,
}
