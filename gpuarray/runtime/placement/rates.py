"""Rates: the estimated times of steps at a place, from measurements there.

The cost model (:mod:`gpuarray.fusion.costs`) counts the bytes that a step moves and its operations. A :class:`Rates`
holds the times of bytes and operations at one place, as curves in nanoseconds. :meth:`Rates.step` adds them up for a
step. :mod:`gpuarray.runtime.placement.calibrate` measures rates; :mod:`gpuarray.runtime.placement.decisions` uses them.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from itertools import accumulate
from typing import Any, Final

from gpuarray.dtypes import DType
from gpuarray.fusion.costs import Cost, OperationCount, arithmetic, cost, operation_counts
from gpuarray.fusion.steps import CopyStep, Step
from gpuarray.ops.columns import Work
from gpuarray.ops.reduce_spec import ReduceOp

#: Points (amount, nanoseconds) in ascending order.
Curve = Sequence[tuple[float, float]]


def at(curve: Curve, amount: float) -> float:
    """Return the time of an amount: interpolated between points, extrapolated with the rate of the last point."""
    if not curve:
        return 0.0
    index = bisect_right(curve, (amount, float("inf")))
    if index == 0:
        return curve[0][1]
    low, time = curve[index - 1]
    if index == len(curve):
        return time * amount / low if low else time
    high, later = curve[index]
    return time + (later - time) * (amount - low) / (high - low)


def risen(points: Sequence[tuple[float, float]], *, are_rests: bool = False) -> list[tuple[float, float]]:
    """Return the points as a monotonic curve.

    Noise makes measured times longer, so of two points out of order the larger amount has the better time. Rests, which
    are differences of times, also become shorter by noise, so the longer time is taken.
    """
    amounts, times = zip(*sorted(points), strict=True) if points else ((), ())
    monotonic = accumulate(times, max) if are_rests else [*accumulate(reversed(times), min)][::-1]
    return list(zip(amounts, monotonic, strict=True))


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The measured times of one place in nanoseconds; curves are over bytes or elements.

    Attributes
    ----------
    use : float
        To submit work and to notice its end, once per evaluation.
    fetch : float
        To read a small result that is copied in the same submission, in addition to `use`.
    launch : float
        Each further launch of a submission.
    call : float
        Each instruction of a step, whatever its size: in-process a call of a NumPy function.
    traffic : curve
        Bytes read and written by a loop; in-process without the time of the arithmetic on cached operands.
    operation : mapping
        One operation on one element, by the width of its arithmetic in bits, ``"32"`` or ``"64"``.
    rows : mapping
        One element of an elementwise operation, by ``name:dtype``. Others are estimated by their cost.
    least : mapping
        The minimum time of a formula, by ``name:dtype``: it consists of many NumPy calls.
    folds : mapping
        Curves of float32 elements that are reduced in-process, by name.
    speedup : float
        The maximum gain of threads that share a loop, as a factor.
    handoff : float
        The minimum time of each NumPy call where threads share a loop, because they contend for the interpreter.
    product : mapping
        Curves of operations, by dtype. For missing dtypes, four times the float32 curve is used.
    work : mapping
        Curves of operations that are not arithmetic, by the value of :class:`gpuarray.ops.columns.Work`.
    upload : curve
        Bytes from the host: the time that they add to an evaluation. Empty for the host.
    download : curve
        Bytes to the host, including the wait. Empty for the host.
    spread_of_times : float
        The median over all measurements of the longest time over the shortest: how quiet the machine was.
    """

    use: float = 0.0
    fetch: float = 0.0
    launch: float = 0.0
    call: float = 0.0
    traffic: Curve = ()
    operation: Mapping[str, float] = field(default_factory=dict)
    rows: Mapping[str, float] = field(default_factory=dict)
    least: Mapping[str, float] = field(default_factory=dict)
    folds: Mapping[str, Curve] = field(default_factory=dict)
    speedup: float = 1.0
    handoff: float = 0.0
    product: Mapping[str, Curve] = field(default_factory=dict)
    work: Mapping[str, Curve] = field(default_factory=dict)
    upload: Curve = ()
    download: Curve = ()
    spread_of_times: float = 1.0

    def step(self, step: "Step | Amounts", launches: int = 1, chunks: int = 1) -> float:
        """Return the estimated time of a step of ``launches`` launches, or of ``chunks`` chunks in threads.

        A device gets the next launch while it computes, so the longer of both counts; in-process both add up.
        """
        computing = _computing(self, step if isinstance(step, Amounts) else amounts(step), chunks)
        return launches * self.launch + computing if self.rows else max(launches * self.launch, computing)

    def as_json(self) -> dict[str, Any]:
        """Return the rates as the argument of :func:`from_json`."""
        return asdict(self)


def from_json(values: Mapping[str, Any]) -> Rates:
    """Return rates from the values of :meth:`Rates.as_json`.

    Raises
    ------
    ValueError
        If a name is missing or unknown, or a value is not a time.
    """
    if set(values) != {f.name for f in fields(Rates)}:
        raise ValueError("names of rates are missing or unknown")
    return Rates(**{name: _checked(value) for name, value in values.items()})


def _checked(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not 0 <= value < 1e18:
            raise ValueError(f"{value} is no time")
        return float(value)
    if isinstance(value, dict):
        return {name: _checked(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(tuple(map(_checked, point)) for point in value)
    raise ValueError(f"{value!r} is no time")


# -- estimates ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Amounts:
    """The bytes that a step moves and the operations that it computes, at any place.

    Attributes
    ----------
    step : Step
        The step.
    moved : Cost
        All of it.
    loops : list of (int, list of OperationCount)
        The bytes that each of its loops moves, and what it evaluates.
    """

    step: Step
    moved: Cost
    loops: list[tuple[int, list[OperationCount]]]


def amounts(step: Step) -> Amounts:
    """Return the bytes that a step moves and the operations that it computes."""
    moved = cost(step)
    loops = [((moved if loop is step else cost(loop)).nbytes, [*operation_counts(loop)]) for loop in step.loops]
    return Amounts(step, moved, loops)


def _computing(rates: Rates, amounts: Amounts, chunks: int) -> float:
    """Return the time of a step without its launches: of its loops and of its other work."""
    step = amounts.step
    time = sum([_loop(rates, nbytes, evaluated, chunks) for nbytes, evaluated in amounts.loops])
    if isinstance(step, CopyStep):
        time += at(rates.traffic, amounts.moved.nbytes)
    for work, operations in amounts.moved.work:
        time += (
            _product(rates, step, operations)
            if work is Work.PRODUCT
            else at(rates.work.get(work.value, ()), operations)
        )
    return time


#: The dtype of the components: a matrix product of complex numbers is four products of real numbers.
_COMPONENTS: Final = {"complex64": "float32", "complex128": "float64"}
#: The assumed time of unmeasured products relative to float32: BLAS has no products of integers.
_UNMEASURED: Final = 4


def _product(rates: Rates, step: Step, operations: int) -> float:
    """Return the time of matrix products and of calls that consist of them."""
    dtype = step.output_dtypes[0].name
    measured = rates.product.get(dtype) or rates.product.get(_COMPONENTS.get(dtype, ""))
    return at(measured, operations) if measured else _UNMEASURED * at(rates.product.get("float32", ()), operations)


def _loop(rates: Rates, nbytes: int, evaluated: Sequence[OperationCount], chunks: int) -> float:
    """Return the time of a loop, from its memory traffic and its arithmetic.

    A device moves data while it computes, so the longer of both counts; in-process both add up.
    """
    computed = called = 0.0
    calls = 0
    for item in evaluated:
        calls += item.numpy_calls
        curve = rates.folds.get(item.op.name) if isinstance(item.op, ReduceOp) else None
        if curve:
            computed += at(curve, item.count) * max(1.0, item.dtype.itemsize / 4)
        else:
            called += rates.call
            computed += operation_time(rates, item)
    moving = at(rates.traffic, nbytes)
    if not rates.rows:
        return max(moving, computed)
    if chunks > 1:
        # the host uses threads only if they are faster
        computed = min(computed, max(computed / min(rates.speedup, chunks), rates.handoff * calls * chunks))
    return called + moving + computed


@cache
def operation_key(name: str, dtype: DType) -> str:
    """Return the key of an operation in ``Rates.rows`` and ``Rates.least``."""
    return f"{name}:{dtype.name}"


def operation_time(rates: Rates, item: OperationCount) -> float:
    """Return the time of an elementwise operation, as measured or else by its cost."""
    key = operation_key(item.op.name, item.dtype)
    known = rates.rows.get(key)
    if known is not None:
        return max(item.count * known, rates.least.get(key, 0.0))
    bits, operations = arithmetic(item.dtype)
    return item.count * item.op.cost * operations * rates.operation.get(str(bits), 0.0)


# -- defaults without measurements -------------------------------------------------------------------------------------

#: A discrete mid-range GPU, connected by PCI Express.
DEVICE_DEFAULTS: Final = Rates(
    use=60_000.0,
    fetch=20_000.0,
    launch=8_000.0,
    traffic=((1 << 15, 0.0), (1 << 20, 4_000.0), (1 << 27, 500_000.0)),
    operation={"32": 0.0005, "64": 0.01},
    product={"float32": ((1 << 22, 20_000.0), (1 << 34, 3_500_000.0))},
    work={
        "gather": ((1 << 10, 0.0), (1 << 21, 200_000.0)),
        "scan": ((1 << 10, 0.0), (1 << 21, 150_000.0)),
        "sort": ((10 << 10, 50_000.0), (21 << 21, 2_000_000.0)),
        "transform": ((1 << 14, 50_000.0), (44_040_192, 500_000.0)),
    },
    upload=((64, 20_000.0), (1 << 22, 1_000_000.0)),
    download=((64, 100_000.0), (1 << 22, 800_000.0)),
)

#: A GPU that shares the memory of the processor: slower arithmetic and memory, but faster copies.
INTEGRATED_DEFAULTS: Final = replace(
    DEVICE_DEFAULTS,
    traffic=((1 << 15, 0.0), (1 << 20, 20_000.0), (1 << 27, 2_500_000.0)),
    operation={"32": 0.002, "64": 0.05},
    product={"float32": ((1 << 22, 30_000.0), (1 << 34, 15_000_000.0))},
    work={
        "gather": ((1 << 10, 0.0), (1 << 21, 800_000.0)),
        "scan": ((1 << 10, 0.0), (1 << 21, 600_000.0)),
        "sort": ((10 << 10, 80_000.0), (21 << 21, 8_000_000.0)),
        "transform": ((1 << 14, 80_000.0), (44_040_192, 2_500_000.0)),
    },
    upload=((64, 10_000.0), (1 << 22, 500_000.0)),
    download=((64, 80_000.0), (1 << 22, 500_000.0)),
)

#: A processor with few cores.
HOST_DEFAULTS: Final = Rates(
    launch=4_000.0,
    call=700.0,
    traffic=((1 << 15, 500.0), (1 << 20, 60_000.0), (1 << 27, 20_000_000.0)),
    operation={"32": 0.15, "64": 0.3},
    rows={"add:float32": 0.1, "add:float64": 0.2, "exp:float32": 0.5, "exp:float64": 2.5},
    speedup=2.0,
    handoff=5_000.0,
    product={"float32": ((1 << 13, 3_000.0), (1 << 22, 100_000.0), (1 << 31, 25_000_000.0))},
    work={
        "gather": ((1 << 10, 2_000.0), (1 << 21, 10_000_000.0)),
        "scan": ((1 << 10, 3_000.0), (1 << 21, 6_000_000.0)),
        "sort": ((10 << 10, 8_000.0), (21 << 21, 50_000_000.0)),
        "transform": ((1 << 14, 30_000.0), (44_040_192, 60_000_000.0)),
    },
)
