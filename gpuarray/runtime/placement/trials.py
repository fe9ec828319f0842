"""Whether operations on mid-sized arrays are recorded for a GPU, or computed at once by NumPy.

NumPy computes a few thousand elements in the time that a device needs for a launch. Above that, up to
``config.most_midsize`` elements, a device takes less time if the program computes long chains, and more if it reads
values in between. Which of these a program does shows only when it runs. So NumPy computes mid-sized arrays first, and
what a device might have saved is added up. When the sum reaches the price of a trial, operations are recorded, and
evaluations are compared with what NumPy would have taken. When they have lost more than the price of the first trial
since they had saved most, because the program has begun to do something else, NumPy computes again, and the price of
the next trial doubles unless this one has saved much. Without knowledge of the future no rule loses less than
this one by more than a constant factor (Karlin, Manasse, Rudolph and Sleator, 1988).
"""

from collections.abc import Callable
from math import prod
from typing import Final

from gpuarray.config import config
from gpuarray.graph.nodes import Contract, Generate, Leaf, Scatter, View
from gpuarray.providers import registry
from gpuarray.runtime import places, telemetry
from gpuarray.runtime.placement.at_once import CALLED, time_at_once
from gpuarray.runtime.placement.rates import DEVICE_DEFAULTS, HOST_DEFAULTS, Amounts, Rates, amounts
from gpuarray.runtime.prepared import PreparedPlan
from gpuarray.settings import recording

#: Nanoseconds that the host takes more than a device would have, after which a device is opened. To import wgpu, open a
#: device and test it takes about a second.
_OPENING: Final = 200e6
#: The same for the first trial with a device that is open, and what a trial may lose.
_TRIAL: Final = 20e6
#: What a trial has saved if the price of the next one is to be that of the first.
_MUCH_SAVED: Final = 5 * _TRIAL
#: What the first evaluation of a plan counts at most, because others need not make the plan and its kernels.
_FIRST: Final = 2e6
#: How often the price of a trial doubles.
_DOUBLINGS: Final = 6
#: Nanoseconds of an element on the host, an evaluation without a plan, and a recorded operation.
_PER_ELEMENT: Final = 0.5
_EVALUATED: Final = 20e3
_RECORDED: Final = 5e3
#: Kinds of large values that are in memory, or are memory with few other elements.
_AS_MEMORY: Final = frozenset((Leaf, Generate, View, Scatter))
#: The least bytes of a read that is timed, because a call has a time of its own; the factor by which the least time of
#: a byte grows with each timed read.
_MUCH: Final = 1 << 20
_FORGOTTEN: Final = 1.01
#: Functions that return how many elements of mid-sized arrays, beyond those of the smallest, were computed at once
#: since the last call, without a call of :func:`note_computed`.
computed_by: Final[list[Callable[[], int]]] = []

_lost = 0.0
"""The time that a device might have saved since operations were recorded last."""
_saved = _most_saved = 0.0
"""The time that the current trial has saved, and the most that it had saved at any time."""
_per_byte = 1.0
"""About the least nanoseconds that NumPy took lately to read a byte of large values at once."""
_operations = 0
"""The number of operations at the last of these reads."""
_failures = 0
_is_judging = False
"""Whether the last evaluation belongs to the trial."""


def describe() -> str:
    """Return how mid-sized arrays are computed, and why, in a sentence."""
    settings = config.current
    sizes = f"operations on {settings.midsize:,} to {settings.most_midsize:,} elements"
    if recording.midsize:
        return f"{sizes} are recorded, which has saved {_saved / 1e6:.0f} ms compared with NumPy"
    return f"NumPy computes {sizes} at once; a GPU might have saved {_lost / 1e6:.0f} of {_price() / 1e6:.0f} ms"


def note_computed(size: int, is_pinned: bool) -> None:
    """Note that NumPy has computed a mid-sized array at once; begin a trial if that has become worth its price.

    A device that the program has pinned need not be looked for.
    """
    settings = config.current
    more = sum([take() for take in computed_by], size - settings.midsize)
    if more <= 0 or recording.midsize or settings.offload != "auto" or (settings.is_without_gpu and not is_pinned):
        return
    if lose(more * _PER_ELEMENT, is_pinned=is_pinned):
        begin(is_pinned=is_pinned)


def note_read(nbytes: int, elapsed: float) -> None:
    """Note that NumPy has read so many bytes of large values at once, in so many nanoseconds, for a small result.

    A device would have taken next to none, but each operation of the program would have been recorded.
    """
    global _per_byte, _operations
    if nbytes >= _MUCH:  # the least, as other work of the machine only makes times longer
        _per_byte = min(_per_byte * _FORGOTTEN, elapsed / nbytes)
    before, _operations = _operations, telemetry.operations()
    saved = elapsed - _EVALUATED - max(0, _operations - before) * _RECORDED
    if saved > 0 and lose(saved):
        begin()


def lose(time: float, *, is_pinned: bool = False) -> bool:
    """Note nanoseconds that a device would have saved; return whether it is now worth to look for one, or to try it."""
    global _lost
    _lost += time
    return _lost >= _price(is_pinned)


def _price(is_pinned: bool = False) -> float:
    return _OPENING if registry.is_open() and not is_pinned else _TRIAL * 2.0**_failures


def asks_for_device(prepared: PreparedPlan) -> bool:
    """Note that a plan for the host runs on ``"auto"``; return whether a device is to be looked for before it does."""
    if not registry.is_open() or config.current.offload == "never":
        return False
    if prepared.loss is None:
        device = DEVICE_DEFAULTS.use + _total(prepared, DEVICE_DEFAULTS.step)
        prepared.loss = max(0.0, _time_on_host(prepared, HOST_DEFAULTS) - device)
    if not lose(prepared.loss):
        return False
    begin()
    return True


def begin(*, is_pinned: bool = False) -> None:
    """Have a device looked for, unless one is pinned, and operations on mid-sized arrays recorded."""
    global _lost, _saved, _most_saved, _is_judging
    _lost = _saved = _most_saved = 0.0
    _is_judging = False
    if not is_pinned:
        registry.want_device()
    config.record_midsize(True)


def judge(prepared: PreparedPlan, elapsed: float) -> None:
    """Compare an evaluation, which took so many nanoseconds, with NumPy's functions one by one."""
    global _is_judging
    is_first = prepared.at_once is None
    if prepared.at_once is None:
        prepared.at_once = _time_at_once(prepared)
    _is_judging = prepared.at_once > 0.0
    if _is_judging:
        cost = min(elapsed, _FIRST) if is_first else elapsed
        _save(prepared.at_once - cost - prepared.operations * _RECORDED)


def judge_direct(size: int) -> None:
    """Note an evaluation, of results of so many elements, that was left to NumPy's functions after all."""
    global _is_judging
    _is_judging = False
    if size > config.current.midsize:
        _save(-_EVALUATED)


def judge_read(elapsed: float) -> None:
    """Note nanoseconds of waiting for a value of the last evaluation."""
    if _is_judging:
        _save(-elapsed)


def _save(time: float) -> None:
    global _saved, _most_saved, _failures
    _saved += time
    _most_saved = max(_most_saved, _saved)
    if _saved < _most_saved - _TRIAL and recording.midsize:
        _failures = 0 if _most_saved >= _MUCH_SAVED else min(_failures + 1, _DOUBLINGS)
        config.record_midsize(False)


def _time_at_once(prepared: PreparedPlan) -> float:
    """Return the nanoseconds in which NumPy's functions would compute a plan; 0 if they would not do so at once."""
    meanings, most = prepared.meanings, config.current.most_midsize
    sizes = [prod(meaning.shape) for meaning in meanings]
    if max(sizes) <= most:
        return time_at_once(meanings)
    read = 0
    for meaning, size in zip(meanings, sizes, strict=True):
        # few elements are written in place
        operands = meaning.inputs[1:] if meaning.kind is Scatter else meaning.inputs
        is_large = any(sizes[number] > most for number in operands)
        if meaning.kind is Contract and is_large and size <= most:
            read += sum([sizes[number] * meanings[number].dtype.itemsize for number in operands])
        elif (is_large and meaning.kind is not View) or (size > most and meaning.kind not in _AS_MEMORY):
            return 0.0
    return read * _per_byte + prepared.operations * CALLED


def _time_on_host(prepared: PreparedPlan, rates: Rates) -> float:
    return _total(prepared, lambda step: rates.step(step, chunks=places.host().chunks(step.step)))


def _total(prepared: PreparedPlan, time_of: Callable[[Amounts], float]) -> float:
    """Return the sum of the times of the steps of a plan. Equal steps, of which loops have many, are prepared once."""
    steps = prepared.pinned.steps
    times = {key: time_of(amounts(step.planned.step)) for key, step in {id(s.prepared): s for s in steps}.items()}
    return sum([times[id(step.prepared)] for step in steps])
