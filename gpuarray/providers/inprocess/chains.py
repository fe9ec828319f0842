"""Chains: elementwise operations of a program that follow each other, computed by one function in C.

A chain passes a few hundred elements through all of its operations before it takes the next ones, so that values that
only the chain reads need no registers. It calls the inner loops of NumPy's ufuncs, so that results are those of single
calls. An operation without such a loop is a single call, and without the extension module all are. :mod:`.program`
collects the operations and writes the calls.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from gpuarray import extensions
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import Apply
from gpuarray.ops import elementwise
from gpuarray.ops.columns import Kind
from gpuarray.ops.spec import MapOp

#: The version of the interface between the extension module and this one; the source of the module states it too.
_VERSION: Final = 1
_compiled: Final = extensions.load("gpuarray.providers.inprocess._chains", _VERSION)

#: Whether there are chains.
IS_COMPILED: Final = _compiled is not None
#: The most operations of a chain, which bounds its arrays.
MOST: Final = 32

#: Elements from which on a selection by bits is quicker than NumPy's, whatever the condition.
_LARGE: Final = 1 << 12
_SELECTED: Final = (np.ndarray, np.generic, int, float, complex)


class Chain(NamedTuple):
    """The function of a chain, the names of the arrays that it takes, and a line of text for each operation."""

    function: Callable[..., None]
    arrays: list[str]
    lines: list[str]


@lru_cache(maxsize=4096)
def covers(op: MapOp, sources: tuple[DType, ...], dtype: DType) -> bool:
    """Return whether an operation can be one of a chain."""
    has_other_form = op.numpy_forms and op.kind is not Kind.EXTREME
    if _compiled is None or has_other_form or len(sources) > 3:
        return False
    return bool(_compiled.has_loop(_function(op), (*sources, dtype)))


def _function(op: MapOp) -> Any:
    """Return the function of an operation in terms of the extension module; None if there is none."""
    if op.kind is Kind.CONVERSION:
        return "convert"
    if op is elementwise.where:
        return "select"
    return op.numpy if isinstance(op.numpy, np.ufunc) else None


def chain(items: Mapping[int, Apply], names: Mapping[int, str], targets: Mapping[int, str]) -> Chain:
    """Return a chain.

    Parameters
    ----------
    items : mapping of int and Apply
        The operations in order, by their numbers.
    names : mapping of int and str
        The names of the operands that other lines have computed.
    targets : mapping of int and str
        The names of the arrays that get the results which other lines read.
    """
    assert _compiled is not None
    last = {operand: number for number, item in items.items() for operand in item.operands}
    read = dict.fromkeys(names[o] for item in items.values() for o in item.operands if o not in items)
    arrays = [*read, *targets.values()]
    known = dict(names)
    numbers = {name: position for position, name in enumerate(arrays)}
    values: dict[int, list[str]] = {}  # the free ones, by bytes of an element
    operations, lines = [], []
    for number, item in items.items():
        operands = [known[operand] for operand in item.operands]
        for operand in {*item.operands}.difference(targets):
            if operand in items and last[operand] == number:
                values.setdefault(items[operand].dtype.itemsize, []).append(known[operand])
        if number in targets:
            name = targets[number]
        elif free := values.get(item.dtype.itemsize):
            name = free.pop()
        else:
            name = f"v{len(numbers) - len(arrays)}"
            numbers[name] = len(numbers)
        known[number] = name
        function = _function(item.op)
        operations.append((function, (*item.sources, item.dtype), tuple(numbers[each] for each in (*operands, name))))
        lines.append(f"# {name} = {item.op.name}({', '.join(operands)})")
    return Chain(_compiled.make(len(arrays), len(numbers) - len(arrays), operations), arrays, lines)


def where(condition: Any, *choices: Any) -> Any:
    """Return ``np.where(condition, *choices)``, which takes ten times as long where a large condition changes often."""
    is_large = type(condition) is np.ndarray and condition.size >= _LARGE and condition.dtype == bool
    loop = None
    if _compiled is not None and is_large and [isinstance(each, _SELECTED) for each in choices] == [True, True]:
        dtype = np.result_type(*choices)
        loop = _selection(dtype)
    if loop is None:
        return np.where(condition, *choices)
    first, second = (np.asarray(each, dtype) for each in choices)
    result = np.empty(np.broadcast(condition, first, second).shape, dtype)
    loop(condition, first, second, result)
    return result


@lru_cache(maxsize=64)
def _selection(dtype: DType) -> Callable[..., None] | None:
    """Return the chain of one selection of a dtype; None if there is none."""
    assert _compiled is not None
    operation = "select", (np.dtype(bool), dtype, dtype, dtype)
    return _compiled.make(4, 0, [(*operation, (0, 1, 2, 3))]) if _compiled.has_loop(*operation) else None
