"""Templates: plans in which sizes vary, from which the plans for given sizes are made.

What is computed from a step, such as its program, has templates, too: loops over parts of arrays, and programs that
take one step after the other, have many steps of one form.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar, assert_never

from gpuarray.fusion.steps import (
    Apply,
    CallStep,
    ContractStep,
    CopyStep,
    Fold,
    Index,
    Instruction,
    Load,
    Loop,
    Scalar,
    ScanStep,
    ScatterStep,
    Step,
    Store,
    Take,
)
from gpuarray.graph.cases import Cases
from gpuarray.graph.layouts import Layout
from gpuarray.graph.moving import Moving, as_number
from gpuarray.graph.varying import Sizes, Varying
from gpuarray.ops.spec import Op

#: Makes an object of a plan for the values of :meth:`gpuarray.graph.varying.Sizes.factors`.
Maker: TypeAlias = Callable[[Sequence[int]], Any]
Item = TypeVar("Item", Instruction, Store)

#: Of how many forms of steps something is kept, and about how many results of each.
MOST_FORMS: Final = 512
MOST_CASES: Final = 128
#: Smaller numbers are equal in all steps of one form.
_SEVERAL: Final = 2


class StepTemplates:
    """Results computed from steps, such as programs, from which those of steps with other numbers are derived."""

    def __init__(self) -> None:
        self._forms: OrderedDict[tuple[Hashable, Step], Cases] = OrderedDict()

    def derive(self, step: Step, key: Hashable, compute: Callable[[Step], Any]) -> Any:
        """Return the result of a function for a step, from a template if there is one.

        Parameters
        ----------
        step : Step
            The step.
        key : hashable
            Identifies the function.
        compute : callable
            The function, of the numbers in a step. From the second step of a form on, these vary, and it is called
            again only for numbers with other answers to what it asked of them.
        """
        if isinstance(step, CallStep):  # kernels of calls are written for their sizes
            return compute(step)
        numbers: dict[int, int] = {}  # the different ones, in order; those of the form are their positions
        form = key, _renumbered(step, partial(_with_digit, numbers))
        cases = self._forms.get(form)
        if cases is None:
            if len(self._forms) >= MOST_FORMS:
                self._forms.popitem(last=False)
            self._forms[form] = Cases()
            return compute(step)
        self._forms.move_to_end(form)
        values = [*numbers]
        case = cases.find(values)
        if case is not None:
            make, factors = case
            return make(factors)
        if cases.count >= MOST_CASES:
            return compute(step)
        sizes, varying = Sizes(range(len(values)), values, [True] * len(values)).derived(values)
        value = compute(_renumbered(form[1], partial(_at_digit, varying)))
        make = maker_of(value) or (lambda _factors: value)
        cases.add(sizes, make)
        return make(sizes.factors(values))


def _renumbered(step: Step, value_of: Callable[[int], int]) -> Step:
    """Return a step with other extents, strides and offsets in place of its own."""

    def of(number: int) -> int:
        moving: Any = number
        if type(moving) is Moving:
            return as_number(moving.with_numbers(value_of(moving.scale), value_of(moving.base)))
        return value_of(number)

    match step:
        case Loop():
            return _renumbered_loop(step, of)
        case ScanStep():
            epilogue = step.epilogue and _renumbered_loop(step.epilogue, of)
            return replace(
                step, before=of(step.before), length=of(step.length), after=of(step.after), epilogue=epilogue
            )
        case ContractStep():
            first, second = (loop and _renumbered_loop(loop, of) for loop in step.prologues)
            return replace(
                step,
                left=step.left.at(of),
                right=step.right.at(of),
                epilogue=step.epilogue and _renumbered_loop(step.epilogue, of),
                prologues=(first, second),
            )
        case CopyStep():
            return replace(step, extent=of(step.extent))
        case ScatterStep():
            return replace(step, count=of(step.count), extent=of(step.extent))
        case CallStep():
            return step
        case _:
            assert_never(step)


def _renumbered_loop(loop: Loop, of: Callable[[int], int]) -> Loop:
    def changed(item: Item) -> Item:
        match item:
            case Load():
                return Load(item.slot, item.layout.at(of), of(item.extent), item.dtype, item.level)
            case Take():
                return Take(item.slot, item.position, of(item.extent), item.dtype, item.level)
            case Index():
                return Index(item.op, item.layout.at(of), item.parameters, item.dtype, item.level)
            case Store():
                layout, extent = item.layout.at(of), of(item.extent)
                return Store(item.slot, item.value, layout, extent, item.dtype, item.level, item.position)
            case Scalar() | Apply() | Fold():
                return item
            case _:
                assert_never(item)

    return replace(
        loop,
        outer=tuple(map(of, loop.outer)),
        inner=tuple(map(of, loop.inner)),
        instructions=tuple(map(changed, loop.instructions)),
        stores=tuple(map(changed, loop.stores)),
    )


def _with_digit(numbers: dict[int, int], number: int) -> int:
    if -_SEVERAL < number < _SEVERAL:
        return number
    digit = numbers.setdefault(abs(number), len(numbers)) + _SEVERAL
    return digit if number > 0 else -digit


def _at_digit(varying: Sequence[Varying], digit: int) -> int:
    if -_SEVERAL < digit < _SEVERAL:
        return digit
    return as_number(varying[digit - _SEVERAL] if digit > 0 else -varying[-digit - _SEVERAL])


def maker_of(item: Any) -> Maker | None:
    """Return a function that makes an object for given sizes; None if it does not depend on sizes."""
    kind = type(item)
    if kind is Varying:
        varying: Varying = item
        return varying.at
    if kind is Moving:
        offset: Moving = item
        return _with(offset.with_numbers, _each((offset.scale, offset.base)))
    if kind is tuple:
        return _each(item)
    if kind is Layout:
        return _with(Layout, _each(item))
    if kind is dict:
        keys = tuple(item)
        return _with(lambda *values: dict(zip(keys, values, strict=True)), _each(tuple(item.values())))
    if is_dataclass(kind) and not isinstance(item, Op):
        return _with(kind, _each(tuple([getattr(item, field.name) for field in fields(kind)])))
    return None


def _with(build: Callable[..., Any], arguments: Maker | None) -> Maker | None:
    """Return a maker that calls a function with arguments for given sizes."""
    return None if arguments is None else lambda factors: build(*arguments(factors))


def _each(parts: tuple[Any, ...]) -> Maker | None:
    """Return a maker of the items of a tuple."""
    makers = [maker_of(item) for item in parts]
    if not any(makers):
        return None
    changing = [(number, maker) for number, maker in enumerate(makers) if maker is not None]

    def make(factors: Sequence[int]) -> tuple[Any, ...]:
        numbers = [*parts]
        for number, maker in changing:
            numbers[number] = maker(factors)
        return tuple(numbers)

    return make
