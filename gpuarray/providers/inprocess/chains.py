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

from gpuarray.dtypes import DType
from gpuarray.fusion.steps import Apply
from gpuarray.ops import elementwise
from gpuarray.ops.columns import Kind
from gpuarray.ops.compiled import CHAINS
from gpuarray.ops.spec import MapOp

#: The most operations of a chain, which bounds its arrays.
MOST: Final = 32


class Chain(NamedTuple):
    """The function of a chain, the names of the arrays that it takes, and a line of text for each operation."""

    function: Callable[..., None]
    arrays: list[str]
    lines: list[str]


@lru_cache(maxsize=4096)
def covers(op: MapOp, sources: tuple[DType, ...], dtype: DType) -> bool:
    """Return whether an operation can be one of a chain."""
    has_other_form = op.numpy_forms and op.kind is not Kind.EXTREME
    if CHAINS is None or has_other_form or len(sources) > 3:
        return False
    return bool(CHAINS.has_loop(_function(op), (*sources, dtype)))


def _function(op: MapOp) -> Any:
    """Return the function of an operation in terms of the extension module; None if there is none."""
    if op.kind is Kind.CONVERSION:
        return "convert"
    if op is elementwise.where:
        return "select"
    if op is elementwise.multiply_no_nan:
        return "multiply_no_nan"
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
    assert CHAINS is not None
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
    return Chain(CHAINS.make(len(arrays), len(numbers) - len(arrays), operations), arrays, lines)
