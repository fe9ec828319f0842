"""Rates: how long steps take at a place, estimated from what was measured there.

A :class:`Rates` holds a few measured curves of one device, or of the host: a launch, memory traffic, arithmetic, and
the operations that are neither. :meth:`Rates.step` adds up what a step consists of. Everything is in nanoseconds.
:mod:`gpuarray.runtime.placement.calibrate` makes them; :mod:`gpuarray.runtime.placement.decisions` asks.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import accumulate
from math import log2, prod
from typing import Any, Final, assert_never

from gpuarray.dtypes import DType
from gpuarray.fusion.costs import cost
from gpuarray.fusion.steps import (
    FULL,
    OUTER,
    Apply,
    CallStep,
    ContractStep,
    CopyStep,
    Fold,
    Index,
    Instruction,
    Loop,
    ScanStep,
    ScatterStep,
    Step,
    Take,
)
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
        One simple operation on one element, by the width of its arithmetic, ``"32"`` or ``"64"``.
    rows : mapping
        One element of an elementwise row, by ``name:dtype``; of those that it lacks the cost in operations is taken.
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
    gather, scan, sort, transform : curve
        Elements taken at random positions; folded as they go; sorted; times their logarithm, transformed.
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
    gather: Curve = ()
    scan: Curve = ()
    sort: Curve = ()
    transform: Curve = ()
    upload: Curve = ()
    download: Curve = ()
    spread_of_times: float = 1.0

    def step(self, step: Step, launches: int = 1, pieces: int = 1) -> float:
        """Return about how long a step takes, in so many launches, or where threads share its loop in so many pieces.

        A device is handed the next launch while it computes, and the longer of the two counts; in-process one comes
        after the other.
        """
        computing = _computing(self, step, pieces)
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


def _computing(rates: Rates, step: Step, pieces: int) -> float:
    match step:
        case Loop():
            return _loop(rates, step, pieces)
        case ScanStep():
            size = step.before * step.length * step.after
            return at(rates.scan, size * step.dtype.itemsize / 4) + _after(rates, step.epilogue, pieces)
        case ContractStep():
            wanted = rates.product.get(step.dtype.name)
            curve = wanted or rates.product.get("float32", ())
            batch, height, depth = step.left.shape
            operations = 2 * batch * height * depth * step.right.shape[2]
            beside = sum(_loop(rates, loop, pieces) for loop in step.loops)
            return at(curve, operations) * (1 if wanted else 4) + beside
        case CallStep():
            return _call(rates, step)
        case CopyStep():
            return at(rates.traffic, 2 * step.extent * step.dtype.itemsize)
        case ScatterStep():  # what combines puts the values in the order of their positions first
            sorting = 0.0 if step.combine is None else at(rates.sort, step.count)
            return 2 * at(rates.gather, step.count) + sorting
        case _:
            assert_never(step)


def _after(rates: Rates, epilogue: Loop | None, pieces: int) -> float:
    return 0.0 if epilogue is None else _loop(rates, epilogue, pieces)


def _call(rates: Rates, step: CallStep) -> float:
    size = max((prod(shape) for shape in (*step.shapes, *step.output_shapes)), default=0)
    if "fft" in step.op.name:
        return at(rates.transform, size * max(1.0, log2(max(size, 1))))
    if step.op.by_part:
        return 2 * at(rates.gather, prod(step.shapes[0]))  # finds a bin, and adds to a count
    words = max((dtype.itemsize for dtype in step.input_dtypes), default=4) / 4
    return at(rates.sort, size) * max(1.0, words)


#: Dtypes of wide arithmetic, and how many operations of it one of theirs is.
_WIDE: Final = {"float64": 1, "int64": 1, "uint64": 1, "complex64": 4, "complex128": 4}


def _loop(rates: Rates, loop: Loop, pieces: int) -> float:
    """Return the time of a loop: of its traffic, of its arithmetic, and of what it takes at random.

    A device moves data while it computes, and the longer of the two counts; in-process one comes after the other.
    """
    elements = {FULL: loop.rows * loop.columns, OUTER: loop.rows}
    moved = cost(loop)
    computed = taken = called = 0.0
    calls = 0
    for item in loop.instructions:
        count = elements.get(item.level, 1)
        calls += _calls(item)
        if isinstance(item, Apply):
            called += rates.call
            computed += _of_row(rates, item.op.name, item.op.cost, item.sources[0], count)
        elif isinstance(item, Index):
            called += rates.call
            computed += _of_row(rates, item.op.name, item.op.cost, item.dtype, count)
        elif isinstance(item, Fold):
            curve = rates.folds.get(item.op.name)
            if curve:
                computed += at(curve, elements[FULL]) * max(1.0, item.source.itemsize / 4)
            else:
                called += rates.call
                computed += _of_row(rates, item.op.name, 1, item.source, elements[FULL])
        elif isinstance(item, Take):
            taken += at(rates.gather, count)
    moving = at(rates.traffic, moved.nbytes)
    if not rates.rows:
        return max(moving, computed) + taken
    if pieces > 1:
        # the host shares a loop only where it gains
        computed = min(computed, max(computed / min(rates.speedup, pieces), rates.handoff * calls * pieces))
    return called + moving + computed + taken


def _calls(item: Instruction) -> int:
    """Return how many NumPy functions an instruction calls in-process, about."""
    if isinstance(item, Fold):
        return 10 if item.op.centred else 4
    return int(isinstance(item, Apply | Index))


def row_key(name: str, dtype: DType) -> str:
    """Return what the times of a row are found by."""
    return f"{name}:{dtype.name}"


def _of_row(rates: Rates, name: str, operations: int, dtype: DType, count: int) -> float:
    """Return the time of so many elements of a row."""
    key = row_key(name, dtype)
    known = rates.rows.get(key)
    if known is not None:
        return max(count * known, rates.least.get(key, 0.0))
    wide = _WIDE.get(dtype.name, 0)
    return count * operations * max(wide, 1) * rates.operation.get("64" if wide else "32", 0.0)


def rows_of(step: Step) -> Iterator[tuple[MapOp, DType]]:
    """Yield the elementwise rows of a step, each with the dtype that it computes in."""
    loops: Sequence[Loop | None]
    match step:
        case Loop():
            loops = (step,)
        case ScanStep():
            loops = (step.epilogue,)
        case ContractStep():
            loops = step.loops
        case _:
            loops = ()
    for loop in loops:
        for item in loop.instructions if loop is not None else ():
            if isinstance(item, Apply):
                yield item.op, item.sources[0]


# -- where nothing was measured ----------------------------------------------------------------------------------------

#: A discrete GPU of the middle of the range, behind PCI Express.
DEVICE_DEFAULTS: Final = Rates(
    use=60_000.0,
    fetch=20_000.0,
    launch=8_000.0,
    traffic=((1 << 15, 0.0), (1 << 20, 4_000.0), (1 << 27, 500_000.0)),
    operation={"32": 0.0005, "64": 0.01},
    product={"float32": ((1 << 22, 20_000.0), (1 << 34, 3_500_000.0))},
    gather=((1 << 10, 0.0), (1 << 21, 200_000.0)),
    scan=((1 << 10, 0.0), (1 << 21, 150_000.0)),
    sort=((1 << 10, 50_000.0), (1 << 21, 2_000_000.0)),
    transform=((1 << 14, 50_000.0), (44_040_192, 500_000.0)),
    upload=((64, 20_000.0), (1 << 22, 1_000_000.0)),
    download=((64, 100_000.0), (1 << 22, 800_000.0)),
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
    gather=((1 << 10, 2_000.0), (1 << 21, 10_000_000.0)),
    scan=((1 << 10, 3_000.0), (1 << 21, 6_000_000.0)),
    sort=((1 << 10, 8_000.0), (1 << 21, 50_000_000.0)),
    transform=((1 << 14, 30_000.0), (44_040_192, 60_000_000.0)),
)
