"""The estimated time in which NumPy computes a graph of mid-sized arrays, one function for each node.

Plans say little about it. A fused loop computes a value again for each position at which it is read, and a scatter
may be a loop over the whole array.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Final

from gpuarray.fusion.costs import OperationCount, touched
from gpuarray.graph.nodes import Call, Concat, Contract, Gather, Generate, Leaf, Map, Reduce, Scan, Scatter, View
from gpuarray.graph.walk import Meaning
from gpuarray.ops.columns import Work
from gpuarray.runtime.placement.rates import HOST_DEFAULTS, at, operation_time

#: Nanoseconds of a call of NumPy's, and of a view.
CALLED: Final = 1e3
_VIEWED: Final = 300.0
#: The rates of mid-sized arrays, which stay in a core's cache; threads do not share them.
_RATES: Final = replace(HOST_DEFAULTS, launch=0.0, traffic=((1 << 15, 500.0), (1 << 20, 16_000.0)), speedup=1.0)

Operands = Sequence[Meaning]


def time_at_once(meanings: Sequence[Meaning]) -> float:
    """Return about how many nanoseconds NumPy's functions take to compute a graph.

    Parameters
    ----------
    meanings : sequence of Meaning
        The nodes of the graph, operands before their users.
    """
    return sum([_RULES[item.kind](item, [meanings[number] for number in item.inputs]) for item in meanings])


def _nothing(_: Meaning, __: Operands) -> float:
    return 0.0


def _view(_: Meaning, __: Operands) -> float:
    return _VIEWED


def _map(result: Meaning, operands: Operands) -> float:
    dtype = max([operand.dtype for operand in operands], key=lambda dtype: dtype.itemsize, default=result.dtype)
    count = OperationCount(result.op, dtype, prod(result.shape))
    return CALLED + operation_time(_RATES, count) + _moved(result, *operands)


def _reduce(result: Meaning, operands: Operands) -> float:
    count = OperationCount(result.op, operands[0].dtype, prod(operands[0].shape))
    return CALLED + operation_time(_RATES, count) + _moved(operands[0])


def _product(result: Meaning, operands: Operands) -> float:
    operations = 2 * prod(result.shape) * operands[0].shape[-1]
    wider = result.dtype.itemsize / 4
    return CALLED + wider * at(_RATES.product["float32"], operations)


def _scan(result: Meaning, _: Operands) -> float:
    return CALLED + _work(Work.SCAN, prod(result.shape))


def _gather(result: Meaning, _: Operands) -> float:
    return CALLED + _work(Work.GATHER, prod(result.shape))


def _scatter(result: Meaning, operands: Operands) -> float:
    """Return the time of the elements that are written; the others stay where they are."""
    is_at_positions = result.detail[0] is None
    values = operands[0] if len(operands) == 1 + is_at_positions else operands[1]
    return CALLED + (_work(Work.GATHER, prod(values.shape)) if is_at_positions else _moved(values, values))


def _concat(result: Meaning, _: Operands) -> float:
    return CALLED + _moved(result, result)


def _call(result: Meaning, operands: Operands) -> float:
    operations = result.op.cost([operand.shape for operand in operands], [result.shape])
    if result.op.work is Work.PRODUCT:
        return CALLED + at(_RATES.product["float32"], operations)
    return CALLED + _work(result.op.work, operations)


def _work(work: Work, operations: int) -> float:
    return at(_RATES.work.get(work.value, ()), operations)


def _moved(*values: Meaning) -> float:
    sizes = [touched(value.detail) if value.kind is View else prod(value.shape) for value in values]
    return at(_RATES.traffic, sum([size * value.dtype.itemsize for size, value in zip(sizes, values, strict=True)]))


_RULES: Final[Mapping[type, Callable[[Meaning, Operands], float]]] = {
    Leaf: _nothing,
    Generate: _nothing,
    View: _view,
    Map: _map,
    Reduce: _reduce,
    Contract: _product,
    Scan: _scan,
    Gather: _gather,
    Scatter: _scatter,
    Concat: _concat,
    Call: _call,
}
