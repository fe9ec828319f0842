"""Templates: plans in which sizes vary, from which the plans for given sizes are made."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Final, TypeAlias, get_args

from gpuarray.fusion.plan import Plan, PlannedStep
from gpuarray.fusion.steps import Instruction, Step, Store
from gpuarray.graph.layouts import Layout
from gpuarray.graph.moving import Moving
from gpuarray.graph.varying import Varying

#: Makes an object of a plan for the values of :meth:`gpuarray.graph.varying.Sizes.factors`.
Maker: TypeAlias = Callable[[Sequence[int]], Any]

#: The classes of objects that may have varying numbers in them, beside tuples and dictionaries.
_PARTS: Final = frozenset((Plan, PlannedStep, Store, *get_args(Step), *get_args(Instruction)))


def maker_of(plan: Plan) -> Callable[[Sequence[int]], Plan]:
    """Return what makes the plan for given sizes; objects without varying numbers are shared by all."""
    return _maker(plan) or (lambda _factors: plan)


def _maker(part: Any) -> Maker | None:
    """Return what makes a part of a plan for given sizes; None if sizes are no matter."""
    kind = type(part)
    if kind is Varying:
        varying: Varying = part
        return varying.at
    if kind is Moving:
        offset: Moving = part
        return _with(offset.with_numbers, _each((offset.scale, offset.base)))
    if kind is tuple:
        return _each(part)
    if kind is Layout:
        return _with(Layout, _each(part))
    if kind is dict:
        keys = tuple(part)
        return _with(lambda *values: dict(zip(keys, values, strict=True)), _each(tuple(part.values())))
    if kind in _PARTS:
        return _with(kind, _each(tuple([getattr(part, field.name) for field in fields(kind)])))
    return None


def _with(build: Callable[..., Any], arguments: Maker | None) -> Maker | None:
    """Return what calls a function with arguments that are made for given sizes."""
    return None if arguments is None else lambda factors: build(*arguments(factors))


def _each(parts: tuple[Any, ...]) -> Maker | None:
    """Return what makes the items of a tuple."""
    made = [_maker(part) for part in parts]
    if not any(made):
        return None
    changing = [(number, maker) for number, maker in enumerate(made) if maker is not None]

    def make(factors: Sequence[int]) -> tuple[Any, ...]:
        found = [*parts]
        for number, maker in changing:
            found[number] = maker(factors)
        return tuple(found)

    return make
