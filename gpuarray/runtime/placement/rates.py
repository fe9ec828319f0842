"""Rates: how long steps take at a place, estimated from what was measured there.

The cost model (:mod:`gpuarray.fusion.costs`) says what a step moves, in bytes, and computes, in operations. A
:class:`Rates` holds how long these take at one place, as measured there: curves of a device, or of the host, in
nanoseconds. :meth:`Rates.step` adds up what a step consists of.
:mod:`gpuarray.runtime.placement.calibrate` makes them; :mod:`gpuarray.runtime.placement.decisions` asks.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import accumulate
from typing import Any, Final

from gpuarray.dtypes import DType
from gpuarray.fusion.costs import Evaluation, arithmetic, cost, evaluations
from gpuarray.fusion.steps import CopyStep, Loop, Step
from gpuarray.ops.columns import Work
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import MapOp

#: Points (amount, nanoseconds) in rising order.
Curve = Sequence[tuple[float, float]]


def at(curve: Curve, amount: float) -> float:
    """Return the time of an amount: between measured points in proportion, beyond the last at its rate."""
    if not curve:
        return 0.0
    place = bisect_right(curve, (amount, float("inf")))
    if place == 0:
        return curve[0][1]
    low, time = curve[place - 1]
    if place == len(curve):
        return time * amount / low if low else time
    high, later = curve[place]
    return time + (later - time) * (amount - low) / (high - low)


def risen(points: Sequence[tuple[float, float]], *, are_rests: bool = False) -> list[tuple[float, float]]:
    """Return a curve in which nothing smaller takes more time.

    Noise makes times longer, so that of two out of order that of the larger amount is right; but it makes rests, from
    which other times were taken away, shorter too, and then the longer one is taken.
    """
    amounts, times = zip(*sorted(points), strict=True) if points else ((), ())
    found = accumulate(times, max) if are_rests else [*accumulate(reversed(times), min)][::-1]
    return list(zip(amounts, found, strict=True))


@dataclass(frozen=True, kw_only=True)
class Rates:
    """What was measured at one place; curves are of bytes or of elements, in nanoseconds.

    Attributes
    ----------
    use : float
        To hand a submission over and to notice its end, once an evaluation.
    fetch : float
        To read a small result that travels with a submission, beyond the end of that.
    launch : float
        One launch more of a submission.
    call : float
        One instruction more of a step, whatever its size: a call of a NumPy function in-process.
    traffic : curve
        Bytes read and written by a loop; in-process what they take beyond the arithmetic of a loop in the cache.
    operation : mapping
        One operation on one element, by the width of its arithmetic in bits, ``"32"`` or ``"64"``.
    rows : mapping
        One element of an elementwise operation, by ``name:dtype``; without a rate, its cost is taken.
    least : mapping
        What a row takes at least, by ``name:dtype``: functions that are made of many NumPy calls.
    folds : mapping
        Curves of elements of float32 that are folded in-process, by name.
    speedup : float
        What threads gain at most where they share a loop.
    handoff : float
        What each call of a NumPy function takes at least where threads share a loop: they take turns in between.
    product : mapping
        Curves of operations, by dtype; of those that it lacks the float32 one is taken four times.
    work : mapping
        Curves of operations that are not arithmetic, by the value of :class:`gpuarray.ops.spec.Work`.
    upload : curve
        Bytes from the host: what they add to an evaluation there. Empty at the host.
    download : curve
        Bytes to the host, waited for. Empty at the host.
    spread_of_times : float
        The longest time of a measurement over its shortest, in the middle of all: how quiet the machine was.
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

    def step(self, step: Step, launches: int = 1, chunks: int = 1) -> float:
        """Return about how long a step takes, in so many launches, or where threads share its loop in so many chunks.

        A device is handed the next launch while it computes, and the longer of the two counts; in-process one comes
        after the other.
        """
        computing = _computing(self, step, chunks)
        return launches * self.launch + computing if self.rows else max(launches * self.launch, computing)

    def as_json(self) -> dict[str, Any]:
        """Return what :func:`from_json` takes."""
        return asdict(self)


def from_json(values: Mapping[str, Any]) -> Rates:
    """Return the rates that a file holds.

    Raises
    ------
    ValueError
        If they are no rates: a name is missing or unknown, or a number is none.
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


# -- what steps consist of ---------------------------------------------------------------------------------------------


def _computing(rates: Rates, step: Step, chunks: int) -> float:
    """Return the time of a step beyond its launches: of its loops, and of its work that is not arithmetic."""
    moved = cost(step)
    time = sum(_loop(rates, loop, chunks) for loop in step.loops)
    if isinstance(step, CopyStep):
        time += at(rates.traffic, moved.nbytes)
    for work, operations in moved.work:
        time += (
            _product(rates, step, operations)
            if work is Work.PRODUCT
            else at(rates.work.get(work.value, ()), operations)
        )
    return time


#: Matrix products of complex numbers are four times as many products of real ones.
_COMPONENTS: Final = {"complex64": "float32", "complex128": "float64"}
#: How much longer products take than those of float32 where they were not measured: BLAS has none of integers.
_UNMEASURED: Final = 4


def _product(rates: Rates, step: Step, operations: int) -> float:
    """Return the time of matrix products, or of what consists of them."""
    dtype = step.output_dtypes[0].name
    measured = rates.product.get(dtype) or rates.product.get(_COMPONENTS.get(dtype, ""))
    return at(measured, operations) if measured else _UNMEASURED * at(rates.product.get("float32", ()), operations)


def _loop(rates: Rates, loop: Loop, chunks: int) -> float:
    """Return the time of a loop: of its traffic and of its arithmetic.

    A device moves data while it computes, and the longer of the two counts; in-process one comes after the other.
    """
    computed = called = 0.0
    calls = 0
    for item in evaluations(loop):
        calls += item.numpy_calls
        curve = rates.folds.get(item.op.name) if isinstance(item.op, ReduceOp) else None
        if curve:
            computed += at(curve, item.count) * max(1.0, item.dtype.itemsize / 4)
        else:
            called += rates.call
            computed += _of_row(rates, item)
    moving = at(rates.traffic, cost(loop).nbytes)
    if not rates.rows:
        return max(moving, computed)
    if chunks > 1:
        # the host shares a loop only where it gains
        computed = min(computed, max(computed / min(rates.speedup, chunks), rates.handoff * calls * chunks))
    return called + moving + computed


def row_key(name: str, dtype: DType) -> str:
    """Return what the times of a row are found by."""
    return f"{name}:{dtype.name}"


def _of_row(rates: Rates, item: Evaluation) -> float:
    """Return the time of the elements of a row: as measured, else by its cost."""
    key = row_key(item.op.name, item.dtype)
    known = rates.rows.get(key)
    if known is not None:
        return max(item.count * known, rates.least.get(key, 0.0))
    bits, operations = arithmetic(item.dtype)
    return item.count * item.op.cost * operations * rates.operation.get(str(bits), 0.0)


def rows_of(step: Step) -> Iterator[tuple[MapOp, DType]]:
    """Yield the elementwise operations of a step, each with the dtype that it computes in."""
    for loop in step.loops:
        for item in evaluations(loop):
            if isinstance(item.op, MapOp):
                yield item.op, item.dtype


# -- where nothing was measured ----------------------------------------------------------------------------------------

#: A discrete GPU of the middle of the range, behind PCI Express.
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

#: A GPU that shares the processor's memory: slower arithmetic and memory, and less to wait for when data are copied.
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

#: A processor of a few cores.
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
