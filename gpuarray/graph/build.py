"""The checked constructors of nodes, which determine shapes, dtypes and axes, and raise errors for invalid ones.

Operands are nodes or Python scalars, which are weak in promotion (NEP 50). Callers convert NumPy scalars and arrays to
nodes. The constructors use shapes and dtypes alone and compute no values.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes, parallel_copy
from gpuarray.dtypes import DType
from gpuarray.graph import tracing
from gpuarray.graph.layouts import Layout, Shape, compose, contiguous, is_identity, is_permutation
from gpuarray.graph.memory_order import common_order, in_memory_order, permuted, seen_back, shows
from gpuarray.graph.nodes import (
    BaseNode,
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
    host_leaf,
    map_with_scalar,
)
from gpuarray.graph.shapes import AxisArgument, broadcast_shapes, broadcast_to, normalize_axes, normalize_axis
from gpuarray.graph.tracing import Deferred, Weak
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators
from gpuarray.ops.columns import Kind
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import CallOp, GenerateOp, MapOp

Operand: TypeAlias = Node | bool | int | float | complex

_SCALARS = frozenset((bool, int, float, complex))
_FULL: Final = generators.full
#: The kinds of nodes whose results are in the order of the memory of their operands.
_IN_ORDER: Final = frozenset((Concat, Leaf, Map, Reduce, Scan))
#: By operation and kinds of operands: the dtypes in which it computes, the dtype of the result, whether the nodes among
#: the operands have these dtypes, and the NumPy types of the dtypes.
_RULES: Final[dict[tuple[Any, ...], tuple[tuple[DType, ...], DType, bool, tuple[Any, ...]]]] = {}
#: At least this many equal values are reduced without a loop, which would take seconds for larger numbers of them.
_MANY: Final = 1 << 24


def full(shape: Shape, value: Any, dtype: DType) -> Generate:
    """Return an array of ``shape`` filled with ``value``, which is converted to ``dtype`` at once.

    Raises
    ------
    OverflowError
        If ``value`` is a Python integer that ``dtype`` cannot hold.
    """
    known = value.astype(dtype) if type(value) is Deferred else dtype.type(value)
    return Generate(generators.full, (), shape, dtype, (known,))


def constant(value: Any, dtype: DType) -> Generate:
    """Return a NumPy scalar of ``dtype`` as a node."""
    return Generate(generators.full, (), (), dtype, (value,))


def generate(op: GenerateOp, parameters: Sequence[Any], shape: Shape, dtype: DType) -> Generate:
    """Return a generator over ``shape``; the parameters are converted to the types that ``op`` names."""
    if len(parameters) != op.parameters:
        raise ValueError(f"{op.name} takes {op.parameters} parameters, not {len(parameters)}")
    types = parameter_types(op, dtype)
    converted = [v if type(v) is kind else _parameter(v, kind) for kind, v in zip(types, parameters, strict=True)]
    return Generate(op, (), shape, dtype, tuple(converted))


def _parameter(value: Any, kind: type[np.generic]) -> Any:
    return value.astype(np.dtype(kind)) if type(value) is Deferred else kind(value)


@lru_cache(maxsize=1024)
def parameter_types(op: GenerateOp, dtype: DType) -> tuple[type[np.generic], ...]:
    """Return the types of the parameters of a generator with a result of ``dtype``."""
    names = op.parameter_types or ("result",) * op.parameters
    return tuple(dtype.type if name == "result" else np.dtype(name).type for name in names)


def cast(node: Node, dtype: DType) -> Node:
    """Return ``node`` converted to ``dtype`` by the rules of C, or ``node`` itself if it has this dtype."""
    if node.dtype == dtype:
        return node
    if isinstance(node, Generate) and node.op is generators.full:
        (value,) = node.parameters
        if type(value) is Deferred:
            return Generate(generators.full, (), node.shape, dtype, (value.astype(dtype),))
        with np.errstate(all="ignore"):
            value = np.asarray(value).astype(dtype)[()]
        return Generate(generators.full, (), node.shape, dtype, (value,))
    return _mapped(ops.cast, (node,), node.shape, dtype)


def bitcast(node: Node, dtype: DType) -> Node:
    """Return the bits of ``node`` as another real dtype of the same size, or ``node`` itself if it has this dtype."""
    return node if node.dtype == dtype else _mapped(ops.bitcast, (node,), node.shape, dtype)


def _mapped(op: MapOp, operands: tuple[Node, ...], shape: Shape, dtype: DType) -> Node:
    """Return an elementwise operation, computed in the order of the memory of its operands."""
    axes = None
    if len(shape) > 1:
        for node in operands:
            if type(node) is View:
                axes = common_order(operands, len(shape))
                break
    if axes is None:
        return Map(op, operands, shape, dtype)
    ordered = tuple([_permuted(node, axes) for node in operands])
    return View(Map(op, ordered, tuple([shape[axis] for axis in axes]), dtype), seen_back(shape, axes))


def _permuted(node: Node, axes: tuple[int, ...]) -> Node:
    """Return an operand that broadcasts, with its axes in another order."""
    return view(node, permuted(node.shape, axes)) if node.shape else node


def shown_result(node: View) -> Node | None:
    """Return the new result of an operation that a view shows with permuted axes; None if it is another view."""
    if not shows(node):
        return None
    source = node.inputs[0]
    is_new = type(source) in _IN_ORDER and source.holder is None and source.size == node.size
    return source if is_new and is_permutation(node.layout) else None


def elementwise(op: MapOp, *operands: Operand) -> Node:
    """Return an elementwise operation over operands that broadcast, in the dtypes in which NumPy computes.

    Raises
    ------
    TypeError
        If the operation does not accept the dtypes.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype that the other operands determine.
    """
    kinds: list[Any] = [op]
    shape: Shape | None = None
    are_nodes = True
    for operand in operands:
        kind = type(operand)
        if kind in _SCALARS:
            kinds.append(kind)
            are_nodes = False
        else:
            node: Node = operand  # type: ignore[assignment]  # operands that are not scalars are nodes
            kinds.append(node.dtype)
            if shape is None:
                shape = node.shape
            elif node.shape != shape:
                try:
                    shape = broadcast_shapes(shape, node.shape)
                except ValueError:
                    # NumPy checks the dtypes first
                    _rule(op, [type(o) if type(o) in _SCALARS else o.dtype for o in operands])  # type: ignore[union-attr]  # as above
                    raise
    rule = _RULES.get(tuple(kinds))
    if rule is None:
        rule = _RULES[tuple(kinds)] = _rule(op, kinds[1:])
    inputs, output, as_given, _ = rule
    if are_nodes and as_given:
        return _mapped(op, operands, shape or (), output)  # type: ignore[arg-type]  # they are all nodes
    nodes: list[Node] = []
    for operand, dtype in zip(operands, inputs, strict=True):
        if isinstance(operand, BaseNode):
            nodes.append(operand if operand.dtype is dtype else cast(operand, dtype))
        else:
            try:
                nodes.append(Generate(generators.full, (), (), dtype, (dtype.type(operand),)))
            except OverflowError:
                if op.kind is Kind.COMPARISON:
                    return _compare_out_of_range(op, operands)
                if op.kind is not Kind.SELECTION:
                    raise
                # NumPy before 2.5 converts Python integers to arrays here and casts these, so that they wrap around
                nodes.append(full((), np.where(True, operand, np.empty((), dtype))[()], dtype))
    return _mapped(op, tuple(nodes), shape or (), output)


def _rule(op: MapOp, kinds: list[Any]) -> tuple[tuple[DType, ...], DType, bool, tuple[Any, ...]]:
    signature = op.resolve(*[kind.python if isinstance(kind, Weak) else kind for kind in kinds])
    if op.kind is Kind.POWER and signature.output.kind in "iu" and isinstance(kinds[1], Weak):
        tracing.mode().refuse("an integer power, an error where that is negative")
    as_given = all(k in _SCALARS or k == dtype for k, dtype in zip(kinds, signature.inputs, strict=True))
    return signature.inputs, signature.output, as_given, tuple(dtype.type for dtype in signature.inputs)


def unary(op: MapOp, operand: Node) -> Node:
    """Return the node of :func:`elementwise` for one operand, in half of the time if no cast is needed."""
    rule = _RULES.get((op, operand.dtype))
    if rule is not None and rule[2]:
        return _mapped(op, (operand,), operand.shape, rule[1])
    return elementwise(op, operand)


def binary(op: MapOp, first: Operand, second: Operand) -> Node:
    """Return the node of :func:`elementwise` for two operands, in a third of the time in common cases.

    These are two nodes of one shape, and a node and a Python scalar, if no cast is needed.
    """
    node: Any = first
    scalar: Any = second
    kind = type(scalar)
    if kind in _SCALARS:
        rule = _RULES.get((op, node.dtype, kind))
        slot = 1
    else:
        kind = type(first)
        if kind not in _SCALARS:
            rule = _RULES.get((op, node.dtype, scalar.dtype)) if node.shape == scalar.shape else None
            if rule is not None and rule[2]:
                return _mapped(op, (first, second), node.shape, rule[1])  # type: ignore[arg-type]  # both are nodes
            return elementwise(op, first, second)
        node, scalar = second, first
        rule = _RULES.get((op, kind, node.dtype))
        slot = 0
    if rule is None or not rule[2]:
        return elementwise(op, first, second)
    try:
        value = rule[3][slot](scalar)
    except OverflowError:
        return elementwise(op, first, second)
    if type(node) is View:
        number = Generate(_FULL, (), (), rule[0][slot], (value,))
        return _mapped(op, (node, number) if slot else (number, node), node.shape, rule[1])
    return map_with_scalar(op, node, _FULL, value, rule[0][slot], rule[1], slot == 0)


def _compare_out_of_range(op: MapOp, operands: Sequence[Operand]) -> Node:
    """Compare integers with a Python integer outside the range of their dtype: all elements have the same result."""
    shape: Shape = ()
    samples: list[Any] = []
    for operand in operands:
        if isinstance(operand, BaseNode):
            shape = operand.shape
            samples.append(np.zeros((), operand.dtype))
        else:
            samples.append(operand)
    return full(shape, bool(op.numpy(*samples)), dtypes.bool_)


def view(node: Node, layout: Layout) -> Node:
    """Return the elements of ``node`` at the positions of ``layout``, in the C order of the node."""
    if layout.shape == node.shape and is_identity(layout, node.size):
        return node
    if isinstance(node, Generate) and node.op is generators.full:
        return Generate(node.op, (), layout.shape, node.dtype, node.parameters)
    if isinstance(node, View) and node.result is None:
        composed = compose(layout, node.layout)
        if composed is not None:
            (source,) = node.inputs
            if composed.shape == source.shape and is_identity(composed, source.size):
                return source
            return View(source, composed)
    return View(node, layout)


def reshape(node: Node, shape: Shape) -> Node:
    """Return ``node`` with the same elements in C order and another shape of the same size."""
    return node if node.shape == shape else view(node, _reshaped(node.shape, shape))


@lru_cache(maxsize=1024)
def _reshaped(shape: Shape, new_shape: Shape) -> Layout:
    if prod(new_shape) != prod(shape):
        raise ValueError(f"cannot reshape array of size {prod(shape)} into shape {new_shape}")
    return contiguous(new_shape)


def reduce(
    op: ReduceOp, source: Node, axis: AxisArgument = None, dtype: DType | None = None, keepdims: bool = False
) -> Node:
    """Return the reduction of ``source`` along axes.

    Raises
    ------
    ValueError
        If there is no element and the reduction has no identity.
    """
    axes = normalize_axes(axis, len(source.shape))
    outer, keeping_dims, is_empty = _reduced_shapes(source.shape, axes)
    if op.empty_is_error and is_empty:
        raise ValueError(f"zero-size array to reduction operation {op.name} which has no identity")
    if dtype is not None and op.result is None:
        source = cast(source, dtype)
    result = dtype if dtype is not None and op.result is None else op.result_dtype(source.dtype)
    if not axes and op.combine is not None:
        return cast(source, result)
    if type(source) is Generate and source.op.is_constant and prod(source.shape) >= _MANY:
        value = source.parameters[0]
        if op.of_equals is not None and isinstance(value, np.generic):  # the scalars of a recorded function vary
            with np.errstate(all="ignore"):
                folded = op.of_equals(value, prod([source.shape[axis] for axis in axes]), result)
            if folded is not None:
                return full(keeping_dims.shape if keepdims else outer, folded, result)
    node = _reduced(op, source, axes, outer, result)
    return view(node, keeping_dims) if keepdims and axes else node


def _reduced(op: ReduceOp, source: Node, axes: tuple[int, ...], shape: Shape, dtype: DType) -> Node:
    """Return a reduction, computed in the order of the memory of its source, unless results are positions."""
    order = common_order((source,), len(source.shape)) if op.result is None else None
    if order is None:
        return Reduce(op, source, axes, shape, dtype)
    inner = [order.index(axis) for axis in axes]
    if op.combine is None and inner != sorted(inner):  # its results depend on the order of elements
        return Reduce(op, source, axes, shape, dtype)
    outer = [axis for axis in order if axis not in axes]
    remaining = [axis for axis in range(len(order)) if axis not in axes]
    stored = tuple([source.shape[axis] for axis in outer])
    node = Reduce(op, _permuted(source, order), tuple(sorted(inner)), stored, dtype)
    if outer == remaining:
        return node
    return View(node, seen_back(shape, tuple([remaining.index(axis) for axis in outer])))


@lru_cache(maxsize=1024)
def _reduced_shapes(shape: Shape, axes: tuple[int, ...]) -> tuple[Shape, Layout, bool]:
    """Return the shape without the axes, the layout with extents 1 instead, and whether an axis is empty."""
    outer = tuple(n for a, n in enumerate(shape) if a not in axes)
    keeping_dims = contiguous(tuple(1 if a in axes else n for a, n in enumerate(shape)))
    return outer, keeping_dims, any(shape[a] == 0 for a in axes)


def scan(op: ReduceOp, source: Node, axis: int, dtype: DType | None = None) -> Node:
    """Return the cumulative reduction of ``source`` along ``axis``.

    Raises
    ------
    ValueError
        If no elementwise operation combines two results of the reduction.
    """
    if op.combine is None:
        raise ValueError(f"{op.name} has no running form: no elementwise operation combines two of its results")
    number = normalize_axis(axis, len(source.shape))
    is_count = dtype is not None and source.dtype == dtypes.bool_ and dtype.kind in "iu"
    if dtype is not None and not is_count:  # a mask is counted without a cast
        source = cast(source, dtype)
    kind = dtype or op.accumulate(source.dtype)
    order = common_order((source,), len(source.shape))
    if order is None:
        return Scan(op, source, number, kind)
    return View(Scan(op, _permuted(source, order), order.index(number), kind), seen_back(source.shape, order))


def concat(sources: Sequence[Node], axis: int) -> Node:
    """Return the concatenation along ``axis`` of sources of one dtype.

    Raises
    ------
    ValueError
        If there is no source, or the shapes do not match.
    """
    if not sources:
        raise ValueError("need at least one array to concatenate")
    first = sources[0]
    number = normalize_axis(axis, len(first.shape))
    for position, source in enumerate(sources):
        if len(source.shape) != len(first.shape):
            raise ValueError(
                "all the input arrays must have the same number of dimensions, but the array at index 0 has "
                f"{len(first.shape)} and the array at index {position} has {len(source.shape)}"
            )
        for a, (n, m) in enumerate(zip(first.shape, source.shape, strict=True)):
            if n != m and a != number:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis must match exactly, but along "
                    f"dimension {a}, the array at index 0 has size {n} and the array at index {position} has size {m}"
                )
    shape = list(first.shape)
    shape[number] = sum(s.shape[number] for s in sources)
    if len(sources) == 1:
        return first
    order = common_order(sources, len(shape))
    if order is None:
        return Concat(tuple(sources), number, tuple(shape), first.dtype)
    ordered = tuple([_permuted(source, order) for source in sources])
    joined = Concat(ordered, order.index(number), tuple([shape[axis] for axis in order]), first.dtype)
    return View(joined, seen_back(tuple(shape), order))


def gather(source: Node, positions: Node, rows: Node | None = None) -> Node:
    """Return the elements of ``source`` at flat positions in C order; ``rows`` are the numbers of whole rows."""
    return Gather(source, positions, rows)


def scatter(target: Node, values: Node, where: Layout | Node) -> Node:
    """Return ``target`` with the elements at ``where`` replaced by ``values``, which are broadcast and cast."""
    values = cast(values, target.dtype)
    shape = where.shape
    if values.shape != shape:
        values = view(values, broadcast_to(values.shape, shape))
    if isinstance(where, Layout):
        return Scatter(target, values, where, None, target.shape)
    return Scatter(target, values, None, where, target.shape)


def scatter_combined(op: MapOp, target: Node, values: Node, positions: Node) -> Node:
    """Return ``target`` after ``element = op(element, value)`` at each flat position, value by value.

    Parameters
    ----------
    op : MapOp
        An operation of two operands, or of one, which is the element.
    target : Node
        The initial elements.
    values : Node
        The values, which are broadcast to the shape of ``positions``, of a dtype that ``op`` accepts.
    positions : Node
        Flat positions in the C order of the target, in range. A position may occur several times.

    Raises
    ------
    TypeError
        If ``op`` does not accept the dtypes.
    """
    op.resolve(*(target.dtype, values.dtype)[: op.arity])
    if values.shape != positions.shape:
        values = view(values, broadcast_to(values.shape, positions.shape))
    return Scatter(target, values, None, positions, target.shape, op)


def scatter_all(values: Node, positions: Node, shape: Shape) -> Node:
    """Return an array of ``shape`` with each value at its flat position.

    Parameters
    ----------
    values : Node
        The values, of the shape of ``positions``.
    positions : Node
        Non-negative integers, among them each flat position of ``shape`` once. Values at greater ones are dropped.
    shape : tuple of int
        The shape of the result.
    """
    return Scatter(None, values, None, positions, shape)


def contract(left: Node, right: Node) -> Node:
    """Return the matrix products of shapes (B, M, K) and (B, K, N), of one dtype.

    Raises
    ------
    ValueError
        If the inner extents differ.
    """
    if left.shape[2] != right.shape[1] or left.shape[0] != right.shape[0]:
        raise ValueError(
            f"matmul: mismatch in the core dimension: {left.shape[2]} columns on the left, {right.shape[1]} rows on "
            "the right"
        )
    return Contract(left, right)


def call(
    op: CallOp, inputs: Sequence[Node], parameters: dict[str, Any], outputs: Sequence[tuple[Shape, DType]]
) -> tuple[Node, ...]:
    """Return the outputs of a call with the given shapes and dtypes."""
    operands = tuple(inputs)
    return tuple(Call(op, operands, parameters, i, shape, dtype) for i, (shape, dtype) in enumerate(outputs))


def call_one(op: CallOp, inputs: Sequence[Node], shape: Shape, dtype: DType, **parameters: Any) -> Node:
    """Return the only output of a call."""
    (node,) = call(op, inputs, parameters, [(shape, dtype)])
    return node


def host_node(array: npt.NDArray[Any]) -> Node:
    """Return a leaf with a private copy of a NumPy array, in the order of its memory; a constant for a 0-d array."""
    dtype = dtypes.canonical(array.dtype)
    tracing.mode().looked_at(array)
    if not array.shape:
        return full((), array[()], dtype)
    ordered, layout = in_memory_order(array)
    if ordered.flags.c_contiguous and ordered.dtype is dtype:
        leaf = host_leaf(parallel_copy.copy_of(ordered))
    else:
        leaf = host_leaf(np.array(ordered, dtype=dtype, order="C", copy=True, subok=False))
    return leaf if layout is None else View(leaf, layout)
