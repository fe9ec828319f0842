"""Templates: plans in which sizes vary, from which the plans for given sizes are made.

What is computed from a step, such as its program, is computed from the step of the template too, and put together for
given sizes in the same way.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from gpuarray.fusion.plan import Plan, PlannedStep
from gpuarray.fusion.steps import CallStep, Step
from gpuarray.graph.layouts import Layout
from gpuarray.graph.moving import Moving, as_number
from gpuarray.graph.varying import Sizes, Varying
from gpuarray.ops.spec import Op

#: Makes an object of a plan for the values of :meth:`gpuarray.graph.varying.Sizes.factors`.
Maker: TypeAlias = Callable[[Sequence[int]], Any]

#: How many results with other conditions are kept of one computation from a step.
MOST_DERIVED: Final = 16


class StepTemplate:
    """A step with varying numbers, and what was computed from it.

    Parameters
    ----------
    make : Maker
        Makes the step for given sizes.
    sizes : Sizes
        The parameters of its plan.
    """

    __slots__ = ("_derived", "_make", "_sizes")

    def __init__(self, make: Maker, sizes: Sizes) -> None:
        self._make = make
        self._sizes = sizes
        self._derived: dict[Hashable, list[tuple[Sizes, Maker]]] = {}

    def planned(self, step: PlannedStep, factors: Sequence[int]) -> PlannedStep:
        """Return the planned step for given sizes."""
        made: Step = self._make(factors)
        if isinstance(made, CallStep):  # kernels of calls are written for their sizes
            return replace(step, step=made)
        return replace(step, step=made, derive=partial(self.derive, made, factors[: len(self._sizes.numbers)]))

    def derive(self, step: Step, values: Sequence[int], key: Hashable, compute: Callable[[Step], Any]) -> Any:
        """Return what a function returns for the step of given sizes.

        Parameters
        ----------
        step : Step
            The step.
        values : sequence of int
            The sizes.
        key : hashable
            Identifies the function.
        compute : callable
            The function, of the numbers in a step. It is called with varying numbers, and with a step of other sizes
            only if these do not fulfil the conditions that it noted.
        """
        known = self._derived.setdefault(key, [])
        for sizes, make in known:
            if sizes.hold(values):
                return make(sizes.factors(values))
        if len(known) >= MOST_DERIVED:
            return compute(step)
        sizes, factors = self._sizes.derived(values)
        made = compute(self._make([*map(as_number, factors)]))
        known.append((sizes, _maker(made) or (lambda _factors: made)))
        return known[-1][1](sizes.factors(values))


def maker_of(plan: Plan, sizes: Sizes) -> Callable[[Sequence[int]], Plan]:
    """Return what makes the plan for given sizes; objects without varying numbers are shared by all."""
    rest = _maker(replace(plan, steps=())) or (lambda _factors: plan)
    makers = [(planned, _maker(planned.step)) for planned in plan.steps]
    templates = [(planned, None if make is None else StepTemplate(make, sizes)) for planned, make in makers]

    def make(factors: Sequence[int]) -> Plan:
        steps = [planned if template is None else template.planned(planned, factors) for planned, template in templates]
        made: Plan = rest(factors)
        return replace(made, steps=tuple(steps))

    return make


def _maker(part: Any) -> Maker | None:
    """Return what makes an object for given sizes; None if sizes are no matter."""
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
    if is_dataclass(kind) and not isinstance(part, Op):
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
