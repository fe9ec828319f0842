"""NumPy's ufunc protocol: ``__call__`` with all keywords, ``reduce``, ``accumulate``, ``reduceat``, ``outer``, ``at``.

NumPy's ``ufunc.resolve_dtypes`` determines dtypes and raises errors about them. Ufuncs that are neither operations nor
compositions run on the host, which is counted.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from functools import reduce as reduce_in_turn
from importlib import import_module
from typing import Any, Final, cast

import numpy as np

from gpuarray import dispatch, dtypes
from gpuarray.array import GpuArray, apply, as_node, as_operand, wrap
from gpuarray.array.bounds import bounds
from gpuarray.array.operands import is_of_pandas
from gpuarray.array.powers import check_power
from gpuarray.dtypes import DType
from gpuarray.functions import creation, elementwise, products
from gpuarray.functions.arguments import as_array, as_arrays, check_cast, check_out, device_among, write_out
from gpuarray.functions.at_once import NOT_COMPUTED, QUICK, UNSHARED, AtOnce
from gpuarray.functions.cumulative import running
from gpuarray.functions.fallback import on_host
from gpuarray.functions.reductions import REDUCTIONS, accumulation_dtype, fold, mask_node
from gpuarray.functions.registry import NO_KERNEL, implementation_of, implements
from gpuarray.functions.sequences import fold_line, fold_spans, has_line, running_line, update_at
from gpuarray.graph import build, tape, tracing
from gpuarray.graph.nodes import BaseNode, Node
from gpuarray.graph.tracing import Weak
from gpuarray.immediacy import immediacy
from gpuarray.ops import elementwise as ops
from gpuarray.ops.columns import Kind
from gpuarray.ops.formula_ufunc import FormulaUfunc
from gpuarray.ops.spec import MapOp

#: The module with the functions of ``scipy.special`` that have derivatives, imported when one of them is needed.
_SPECIAL: Final = "gpuarray.scipy.special"
_LAYOUT_KEYWORDS: Final = ("order", "subok")
#: The most arrays of a list that are folded in turn.
_MOST_IN_TURN: Final = 16
#: Ufuncs of operands of any dtype, whose truth values are no conversions.
_TRUTHS: Final = frozenset((np.logical_and, np.logical_or, np.logical_xor, np.logical_not))


def _are_known(*values: Any) -> bool:
    return all(value is None or as_operand(value) is not NotImplemented for value in values)


# --- __call__ -------------------------------------------------------------------------------------------------------


def call(ufunc: np.ufunc, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return ``ufunc(*inputs, **keywords)``; NotImplemented if an output is of an unknown type."""
    outs = keywords.get("out") or (None,) * ufunc.nout
    if not all(o is None or isinstance(o, GpuArray | np.ndarray) for o in outs):
        return NotImplemented
    options = {k: v for k, v in keywords.items() if k not in ("out", "where", *_LAYOUT_KEYWORDS)}
    where = keywords.get("where", True)
    if ufunc is np.power and where is not True and getattr(inputs[1], "dtype", None) in dtypes.SIGNED:
        inputs = (inputs[0], apply(ops.where, where, inputs[1], 1))  # negative powers are no error outside of the mask
    if ufunc in dispatch.UFUNC_OPS:
        results = _operations(ufunc, inputs, outs, **options)
    elif (composed := implementation_of(ufunc).function) is not None and not options.keys() - {"dtype", "casting"}:
        results = _composed(ufunc, composed, inputs, **options)
    else:
        special = _scipy(ufunc, inputs, outs, **options)
        if special is None:
            return _host_call(ufunc, inputs, keywords)
        results = special
    casting = keywords.get("casting", "same_kind")
    if where is not True:
        mask = mask_node(where)
        for result, out in zip(results, outs, strict=True):
            if out is not None:
                check_cast(result.dtype, out.dtype, casting)
        results = [_where(mask, result, out) for result, out in zip(results, outs, strict=True)]
    shape = np.broadcast_shapes(*(array.shape for array in (*results, *outs) if array is not None))
    for out in outs:
        if out is not None:
            check_out(shape, out)
    pairs = zip(results, outs, strict=True)
    delivered = tuple(write_out(r if o is None else r.broadcast(o.shape), o, casting) for r, o in pairs)
    return delivered[0] if ufunc.nout == 1 else delivered


def _operations(
    ufunc: Any,
    inputs: tuple[Any, ...],
    outs: tuple[Any, ...],
    dtype: Any = None,
    signature: Any = None,
    casting: str = "same_kind",
) -> list[GpuArray]:
    ops_of = dispatch.UFUNC_OPS[ufunc]
    is_plain = dtype is None and signature is None and casting in ("same_kind", "safe")
    if is_plain and (ops_of[0].kind is Kind.COMPARISON or not any(o is not None for o in outs)):
        return [apply(op, *inputs) for op in ops_of]
    return _resolved(ops_of, ufunc, inputs, outs, _loop(ufunc, inputs, outs, dtype, signature, casting))


def _loop(
    ufunc: Any,
    inputs: tuple[Any, ...],
    outs: tuple[Any, ...],
    dtype: Any = None,
    signature: Any = None,
    casting: Any = "same_kind",
) -> tuple[Any, ...]:
    """Return the dtypes of the operands in the loop of a ufunc."""
    if dtype is not None:
        signature = (None,) * ufunc.nin + (dtypes.canonical(dtype),) * ufunc.nout
    dtypes_given = [_dtype_of(as_operand(value)) for value in inputs] + [None if o is None else o.dtype for o in outs]
    if signature is None:
        signature = (None,) * ufunc.nargs
    exact = casting in ("no", "equiv")
    chosen = ufunc.resolve_dtypes(tuple(dtypes_given), signature=signature, casting="unsafe" if exact else casting)
    if exact:
        # checked here, because resolve_dtypes of NumPy 2.4 crashes for Python numbers that cannot be cast
        for number, (requested, loop) in enumerate(zip(dtypes_given, chosen, strict=True)):
            if requested is None or ufunc in _TRUTHS or (casting == "no" and isinstance(requested, type)):
                continue  # by this rule, a Python number has the dtype of the arrays
            if not np.can_cast(*((requested, loop) if number < ufunc.nin else (loop, requested)), casting):
                raise TypeError(
                    f"Cannot cast ufunc {ufunc.__name__!r} operand {number} between {np.dtype(requested)} and {loop} "
                    f"with casting rule {casting!r}"
                )
    return tuple(chosen[: ufunc.nin])


def _resolved(
    ops_of: tuple[MapOp, ...], ufunc: Any, inputs: tuple[Any, ...], outs: tuple[Any, ...], loop: tuple[Any, ...]
) -> list[GpuArray]:
    nodes = [_converted(as_operand(value), dtypes.canonical(d)) for value, d in zip(inputs, loop, strict=True)]
    device = device_among(inputs, outs)
    if ufunc is np.power:
        check_power(nodes[0], inputs[1], device)
    return [wrap(build.elementwise(op, *nodes), device) for op in ops_of]


def _scipy(ufunc: Any, inputs: tuple[Any, ...], outs: tuple[Any, ...], **options: Any) -> list[GpuArray] | None:
    """Return the results of a ufunc of ``scipy.special``, with its dtypes; None if there is no operation for them."""
    op = dispatch.scipy_operation(ufunc)
    if op is None:
        return None
    loop = _loop(ufunc, inputs, outs, **options)
    if not all(dtypes.is_supported(d) for d in loop):
        return None
    if isinstance(op.numpy, FormulaUfunc) and any(d.kind == "c" for d in loop):
        return None
    return _resolved((op,), ufunc, inputs, outs, loop)


def _dtype_of(operand: Any) -> Any:
    kind: Any = operand.dtype if isinstance(operand, BaseNode) else type(operand)
    kind = kind.python if isinstance(kind, Weak) else kind
    return dtypes.bool_ if kind is bool else kind


def _converted(operand: Any, dtype: DType) -> Node:
    return as_converted(operand, dtype) if isinstance(operand, BaseNode) else build.full((), operand, dtype)


def as_converted(node: Any, dtype: DType) -> Node:
    """Convert a node to ``dtype``. The imaginary part is dropped, which ``casting="unsafe"`` allows."""
    if node.dtype.kind == "c" and dtype.kind not in "cb":
        node = build.elementwise(ops.real, node)
    return build.cast(node, dtype)


def _composed(
    ufunc: Any, function: Callable[..., Any], inputs: tuple[Any, ...], dtype: Any = None, casting: str = "same_kind"
) -> list[GpuArray]:
    arrays = as_arrays(*inputs)
    if casting != "same_kind":
        _loop(ufunc, inputs, (None,) * ufunc.nout, dtype, casting=casting)  # which raises errors
    if dtype is not None:
        kind = dtypes.canonical(dtype)
        signature = (None,) * ufunc.nin + (kind,) * ufunc.nout
        kinds = tuple(a.dtype for a in arrays) + (None,) * ufunc.nout
        ufunc.resolve_dtypes(kinds, signature=signature, casting=casting)
        inputs = tuple(a.astype(kind, copy=False) for a in arrays)
    elif not any(isinstance(value, GpuArray) for value in inputs):
        inputs = tuple(arrays)
    result = function(*inputs)
    return list(result) if isinstance(result, tuple) else [result]


def _where(mask: Node, result: GpuArray, out: Any) -> GpuArray:
    """Return the result where the mask is True, and elsewhere the elements of ``out``, or zeros."""
    old = build.full((), 0, result.dtype) if out is None else as_node(out)
    new = result.node() if out is None else as_converted(result.node(), dtypes.canonical(out.dtype))
    return wrap(build.elementwise(ops.where, mask, new, old), device_among(result, out))


def _host_call(ufunc: Any, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if tape.state.tapes and not keywords and (name := dispatch.scipy_name(ufunc)) is not None:
        return getattr(import_module(_SPECIAL), name)(*inputs)
    if isinstance(ufunc, np.ufunc) and ufunc.signature is None:  # numba has ufuncs of a class of its own
        arrays = [np.empty((), as_node(value).dtype) for value in inputs]
        ufunc.resolve_dtypes(tuple(a.dtype for a in arrays) + (None,) * ufunc.nout)
    return on_host(ufunc, inputs, keywords, NO_KERNEL, f"numpy.{ufunc.__name__}")


# --- the other methods ----------------------------------------------------------------------------------------------


def _single(keywords: dict[str, Any]) -> dict[str, Any]:
    """Return keywords with ``out`` as the one array it holds."""
    out = keywords.get("out")
    return {**keywords, "out": out[0] if isinstance(out, tuple) else out}


def _host_method(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any], reason: str) -> Any:
    return on_host(getattr(ufunc, method), inputs, keywords, reason, f"numpy.{ufunc.__name__}.{method}")


def _folds(ufunc: np.ufunc, x: Any) -> bool:
    """Return whether the device folds lines of an array with a ufunc; powers of negative integers may be errors."""
    if ufunc is not np.power or not has_line(ufunc):
        return has_line(ufunc)
    source = as_array(x)
    if source.dtype.kind != "i" or source.device.kind == "cpu" or not source.size:
        return True
    return not tracing.mode().is_replayed and bounds(source.node(), source.device)[0] >= 0


def reduce(ufunc: np.ufunc, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return ``ufunc.reduce``, along axis 0 by default."""
    options = {"axis": 0, **_single(keywords)}
    if ufunc in REDUCTIONS:
        op, source = REDUCTIONS[ufunc], as_array(inputs[0])
        accumulation_dtype(op, source.dtype, options.get("dtype"), options.get("out"))  # which refuses dtypes
        return fold(op, source, **options)
    if _folds(ufunc, inputs[0]) and options.pop("where", True) is True:
        return fold_line(ufunc, as_array(inputs[0]), **options)
    return _host_method(
        ufunc, "reduce", inputs, keywords, "only ufuncs with an operation are folded, and without where="
    )


def accumulate(ufunc: np.ufunc, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return ``ufunc.accumulate``."""
    if ufunc in REDUCTIONS:
        return running(REDUCTIONS[ufunc], as_array(inputs[0]), **_single(keywords))
    if _folds(ufunc, inputs[0]):
        return running_line(ufunc, as_array(inputs[0]), **_single(keywords))
    return _host_method(ufunc, "accumulate", inputs, keywords, "only ufuncs with an operation are scanned")


def reduceat(ufunc: np.ufunc, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return ``ufunc.reduceat``."""
    if _folds(ufunc, inputs[0]):
        return fold_spans(ufunc, as_array(inputs[0]), inputs[1], **_single(keywords))
    return _host_method(ufunc, "reduceat", inputs, keywords, NO_KERNEL)


def outer(ufunc: np.ufunc, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return the ufunc of every pair of elements of two arrays."""
    if ufunc.nin != 2:
        raise ValueError("outer product only supported for binary functions")
    if ufunc.signature is not None:
        raise TypeError("method outer is not allowed in ufunc with non-trivial signature")
    first, second = as_arrays(*inputs)
    return call(ufunc, (first.reshape(first.shape + (1,) * second.ndim), second), keywords)


def at(ufunc: np.ufunc, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    """Apply a ufunc in place at indices, once for each time that an index occurs, in order."""
    target, *others = inputs
    ours = isinstance(target, GpuArray)
    if ours and ufunc in dispatch.UFUNC_OPS and len(others) == ufunc.nin and ufunc.nout == 1:
        update_at(ufunc, target, *others)
        return

    def run(array: Any, *arguments: Any) -> Any:
        array = array.copy() if ours else array
        ufunc.at(array, *arguments, **keywords)
        return array

    updated = on_host(run, (target, *others), {}, NO_KERNEL, f"numpy.{ufunc.__name__}.at")
    if ours:
        target[...] = updated


_METHODS: Final[dict[str, Callable[..., Any]]] = {
    "__call__": call,
    "reduce": reduce,
    "accumulate": accumulate,
    "reduceat": reduceat,
    "outer": outer,
    "at": at,
}


#: What bounds the results of the methods of ufuncs that are computed at once, the elements of larger arrays, and the
#: position of ``out``.
_BOUNDS: Final[dict[str, tuple[str, int, int | None]]] = {
    "__call__": ("elements", 0, None),
    "reduce": ("elements", QUICK, 3),
    "accumulate": ("elements", 0, 3),
    "reduceat": ("spans", UNSHARED, 4),
    "outer": ("pairs", 0, None),
    "at": ("in place", UNSHARED, None),
}


@cache
def _rule(ufunc: np.ufunc, method: str) -> AtOnce | None:
    """Return how calls of a method are computed at once; None if they are recorded."""
    if method == "__call__" and (rule := getattr(implementation_of(ufunc).function, "at_once", None)) is not None:
        return cast(AtOnce, rule)
    # NumPy does not fold other ufuncs from the first element on
    is_known = ufunc in (REDUCTIONS if method in ("reduce", "reduceat") else dispatch.UFUNC_OPS)
    if not is_known or method not in _BOUNDS:
        return None
    results, most, out = _BOUNDS[method]
    if method == "reduce" and REDUCTIONS[ufunc].numpy is not None:  # the in-process provider has a better way
        results, most = "precise", 0
    return AtOnce(ufunc if method == "__call__" else getattr(ufunc, method), results, most=most, out=out)


def _may_fail_midway(method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Return whether a power may raise an error when some elements are written: if these are integers."""
    written = inputs[:1] if method == "at" else keywords.get("out", ()) if method == "__call__" else ()
    return any(getattr(getattr(array, "dtype", None), "kind", "") in ("i", "u") for array in written)


def _fills(ufunc: np.ufunc, keywords: dict[str, Any]) -> bool:
    """Return whether NumPy has values for all elements outside of a mask: those of ``out``.

    Comparisons are recorded, because NumPy's read memory that is not there for Python integers beyond the dtype.
    """
    is_comparison = ufunc in dispatch.UFUNC_OPS and dispatch.UFUNC_OPS[ufunc][0].kind is Kind.COMPARISON
    return not is_comparison and all(target is not None for target in keywords.get("out", (None,)))


def ufunc_at_once(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return the result of a method of a ufunc as an array; NOT_COMPUTED if the call is to be recorded."""
    rule = _rule(ufunc, method) if immediacy().limit else None
    if rule is None or (ufunc is np.power and _may_fail_midway(method, inputs, keywords)):
        return NOT_COMPUTED
    if method == "__call__":
        if keywords.keys() == {"out"} and ufunc.nout == 1:  # by position it takes less time
            return rule.compute(*inputs, *keywords["out"])
        if keywords.get("where", True) is not True and not _fills(ufunc, keywords):
            return NOT_COMPUTED
    return rule.compute(*inputs, **keywords)


def _folded_in_turn(ufunc: np.ufunc, arrays: Sequence[Any]) -> GpuArray | None:
    """Return the fold of several arrays, which are not copied into one; None if that is not possible.

    NumPy folds along axis 0 in this order. Derivatives of extremes are those of one fold, which divides them evenly.
    """
    op = REDUCTIONS.get(ufunc)
    if op is None or op.combine is None or not 1 < len(arrays) <= _MOST_IN_TURN or tape.state.tapes:
        return None
    if {*map(type, arrays)} != {GpuArray} or any(array.shape != arrays[0].shape for array in arrays):
        return None
    kind = accumulation_dtype(op, np.result_type(*[array.dtype for array in arrays]), None, None)
    if kind != dtypes.bool_:
        arrays = [array.astype(kind, copy=False) for array in arrays]
    return reduce_in_turn(partial(apply, op.combine), arrays)


def _method(ufunc: np.ufunc, name: str) -> Callable[..., Any]:
    """Return a method of a function. Its first argument is converted to an array, but not the target of ``at``."""
    numpys = getattr(ufunc, name)

    def method(array: Any, /, *arguments: Any, **keywords: Any) -> Any:
        if name == "reduce" and type(array) in (list, tuple) and not arguments and keywords in ({}, {"axis": 0}):
            result = _folded_in_turn(ufunc, array)
            if result is not None:
                return result
        return numpys(array if name == "at" else creation.asarray(array), *arguments, **keywords)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Compute :meth:`numpy.ufunc.{name}` with arrays of this package."
    rule = None if ufunc is np.power and name == "at" else _rule(ufunc, name)
    return method if rule is None else rule.before(method)


def install_methods() -> None:
    """Give the functions of ufuncs their methods."""
    for function, ufunc in elementwise.OF_UFUNCS:
        for name in elementwise.Methods.__annotations__:
            setattr(function, name, _method(ufunc, name))


def array_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Answer NumPy's ``__array_ufunc__`` protocol; NotImplemented if an operand is of an unknown type."""
    result = ufunc_at_once(ufunc, method, inputs, keywords)
    if result is not NOT_COMPUTED:
        return result
    if any(map(is_of_pandas, inputs)) and any(isinstance(value, GpuArray) for value in inputs):
        return getattr(ufunc, method)(*(np.asarray(v) if isinstance(v, GpuArray) else v for v in inputs), **keywords)
    answer = _METHODS.get(method)
    if answer is None or (method != "at" and not _are_known(*inputs)):
        return NotImplemented
    return answer(ufunc, inputs, keywords)


#: Ufuncs that are another one under a second name, by NumPy name.
SYNONYMS: Final[dict[str, str]] = {"deg2rad": "radians", "rad2deg": "degrees"}

# the ufuncs that are compositions
implements("matmul")(products.matmul)
implements("vecdot")(products.vecdot)
implements("_core.umath._ones_like")(creation.ones_like)


@implements("_core.umath.clip")
def _clip(x: Any, low: Any, high: Any) -> GpuArray:
    return elementwise.minimum(elementwise.maximum(x, low), high)
