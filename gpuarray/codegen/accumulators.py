"""Accumulators: how a kernel folds elements into a state, and states into one.

A reduction says what a state is, and has the five parts as templates (:mod:`gpuarray.ops.reduce_spec`). An
accumulator fills them in for one fold of a kernel: the numbers of its state are variables, each with the name that the
reduction gives it and the number of the fold's instruction. Row kernels emit them.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from gpuarray import dtypes
from gpuarray.codegen import casts
from gpuarray.codegen.storage import register_type
from gpuarray.codegen.target import compute_type
from gpuarray.codegen.wgsl import combine_expression, template_of
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import Fold
from gpuarray.ops import elementwise
from gpuarray.ops.reduce_spec import ACCUMULATED, IDENTITY, ReduceOp
from gpuarray.ops.reductions import ELEMENTWISE
from gpuarray.ops.spec import MapOp

#: A name in a template of a reduction.
_NAME: Final = re.compile(r"\$(\w+)")
#: Names of numbers, which become literals of the dtype in which elements are accumulated.
_NUMBERS: Final = {"zero": 0.0, "one": 1.0, "nan": float("nan")}


def identity_literal(op: ReduceOp, dtype: DType) -> str:
    """Return the WGSL literal of the element that changes nothing in a reduction."""
    return casts.literal(op.identity_of(dtype), dtype)


def without_kernel(fold: Fold) -> str | None:
    """Return why no kernel folds elements of this dtype, in a few words; None if one does."""
    dtype = fold.op.accumulate(fold.source)
    parts = fold.op.kernels.get(compute_type(dtype))
    combine = fold.op.combine if parts is None else None
    if parts is None and (combine is None or template_of(combine, (dtype, dtype)) is None):
        return f"{fold.op.name} of {fold.source.name} has no kernel"
    return None


class Accumulator:
    """The state of the fold that is instruction ``number``.

    Attributes
    ----------
    dtype : dtype
        In which elements are accumulated.
    parts : KernelParts
        The parts of the reduction for these elements.
    states : dict of str to dtype
        The variables that hold the state, with their dtypes.
    """

    def __init__(self, fold: Fold, number: int) -> None:
        self.fold, self.number = fold, number
        self.dtype = fold.op.accumulate(fold.source)
        self.parts = fold.op.kernel_parts(compute_type(self.dtype))
        self.states = {f"{name}{number}": self._dtype(kind) for name, kind in self.parts.state.items()}

    @property
    def is_ordered(self) -> bool:
        """Whether elements are merged one by one, in their order, where they change anything."""
        return bool(self.parts.condition)

    @cached_property
    def _names(self) -> dict[str, str]:
        """The names that all templates may use, with their text."""
        names = zip(self.parts.state, self.states, strict=True)
        return {
            "number": str(self.number),
            "T": register_type(self.dtype),
            "compute": compute_type(self.dtype),
            **dict(names),
        }

    def _dtype(self, name: str) -> DType:
        return self.dtype if name == ACCUMULATED else dtypes.canonical(name)

    def _filled(self, template: str, names: Mapping[str, str]) -> str:
        def value(match: re.Match[str]) -> str:
            name = match[1]
            return names.get(name) or self._names.get(name) or casts.literal(_NUMBERS[name], self.dtype)

        return _NAME.sub(value, template)

    def functions(self) -> list[str]:
        """Return the functions that the kernel needs beside its entry point."""
        return [self._filled(line, {}) for line in self.parts.functions]

    def start(self) -> list[str]:
        """Return the declarations of the state of no elements."""
        return [f"var {name}: {register_type(self.states[name])} = {value};" for name, value in self._identity()]

    def _identity(self) -> list[tuple[str, str]]:
        values: list[str] = []
        for value, dtype in zip(self.parts.identity, self.states.values(), strict=True):
            is_row = value == IDENTITY
            values.append(identity_literal(self.fold.op, dtype) if is_row else casts.literal(value, dtype))
        return list(zip(self.states, values, strict=True))

    def _lifted(self, value: str, position: str) -> list[str]:
        """Return the state of one element of the operand's dtype."""
        names = {"x": self._cast(value), "i": position}
        return [self._filled(template, names) for template in self.parts.map]

    def _cast(self, value: str) -> str:
        return casts.cast_expression(value, self.fold.source, self.dtype)

    def take(self, values: Sequence[str], positions: Sequence[str]) -> list[str]:
        """Return statements that fold several elements at positions in their row.

        They are merged with each other first, which rounds less in a long row, unless their order counts.
        """
        parts = self.parts
        if parts.condition:
            return self._take_in_order(values, positions)
        if parts.several and len(values) > 1:
            return self._take_together(values, None)
        lifted = [self._lifted(value, position) for value, position in zip(values, positions, strict=True)]
        if isinstance(parts.combine, MapOp):
            return [self.merge([self._tree(parts.combine, [state[0] for state in lifted], self._only)])]
        return [self.merge(state) for state in lifted]

    def take_existing(self, values: Sequence[str], exist: Sequence[str]) -> list[str]:
        """Return statements that fold those of several elements of which a condition is true, without branches."""
        parts = self.parts
        if parts.several:
            return self._take_together(values, exist)
        lifted = [self._lifted(value, "0u") for value in values]
        if isinstance(parts.combine, MapOp):
            ((_, identity),) = self._identity()
            chosen = [f"select({identity}, {state[0]}, {e})" for state, e in zip(lifted, exist, strict=True)]
            return [self.merge([self._tree(parts.combine, chosen, self._only)])]
        return [f"if ({e}) {{ {self.merge(state)} }}" for state, e in zip(lifted, exist, strict=True)]

    @property
    def _only(self) -> DType:
        (dtype,) = self.states.values()
        return dtype

    def _tree(self, op: MapOp, values: Sequence[str], dtype: DType) -> str:
        """Return the fold of values of a dtype, neighbours first."""
        values = list(values)
        while len(values) > 1:
            odd = values[len(values) // 2 * 2 :]
            pairs = zip(values[::2], values[1::2], strict=False)
            values = [combine_expression(op, *pair, dtype) for pair in pairs] + odd
        return values[0]

    def _let(self, each: list[dict[str, str]], shared: dict[str, str], exist: Sequence[str] | None) -> list[str]:
        """Return the declarations of what elements are lifted with; put the names in ``each`` and ``shared``."""
        lines = []
        for let in self.parts.lets:
            dtype = self._dtype(let.dtype)
            if not let.each and let.fold is None:
                shared[let.name] = f"{let.name}{self.number}"
                lines.append(f"let {shared[let.name]} = {self._filled(let.value, shared)};")
                continue
            terms = [self._filled(let.value, shared | names) for names in each]
            if let.fold is None:
                for k, names in enumerate(each):
                    names[let.name] = f"{let.name}{self.number}_{k}"
                    lines.append(f"let {names[let.name]} = {terms[k]};")
                continue
            if exist is not None:
                nothing = identity_literal(ELEMENTWISE[let.fold], dtype)
                terms = [f"select({nothing}, {term}, {e})" for term, e in zip(terms, exist, strict=True)]
            shared[let.name] = f"{let.name}{self.number}"
            folded = _sum(terms) if let.fold is elementwise.add else self._tree(let.fold, terms, dtype)
            lines.append(f"let {shared[let.name]} = {folded};")
        return lines

    def _take_together(self, values: Sequence[str], exist: Sequence[str] | None) -> list[str]:
        """Return the statements that lift several elements into one state, and merge it."""
        each: list[dict[str, str]] = [{"x": self._cast(value)} for value in values]
        shared, lines = self._counted(len(values), exist)
        lines += self._let(each, shared, exist)
        return ["{", *lines, self.merge([self._filled(values, shared) for values in self.parts.several]), "}"]

    def _counted(self, count: int, exist: Sequence[str] | None) -> tuple[dict[str, str], list[str]]:
        """Return the names of a number of elements, and how to divide by it, with the declarations of the first."""

        def literal(number: Any) -> str:
            return casts.literal(number, self.dtype)

        if exist is None:
            return {"count": literal(count), "by_count": f"* {literal(1 / count)}"}, []
        name = f"count{self.number}"
        terms = [f"select({literal(0)}, {literal(number)}, {e})" for e, number in Counter(exist).items()]
        return {"count": name, "by_count": f"/ max({name}, {literal(1)})"}, [f"let {name} = {_sum(terms)};"]

    def _take_in_order(self, values: Sequence[str], positions: Sequence[str]) -> list[str]:
        """Return statements that merge several elements one by one, if any of them changes the state: few ever do."""
        each = [{"x": self._cast(value), "i": position} for value, position in zip(values, positions, strict=True)]
        shared: dict[str, str] = {}
        lines = self._let(each, shared, None)
        merged = [self.merge([self._filled(values, shared | names) for values in self.parts.several]) for names in each]
        return ["{", *lines, f"if ({self._filled(self.parts.condition, shared)}) {{", *merged, "} }"]

    def merge(self, others: Sequence[str]) -> str:
        """Return the statements that merge another state into this one."""
        combine = self.parts.combine
        if isinstance(combine, MapOp):
            (name,) = self.states
            return f"{name} = {combine_expression(combine, name, others[0], self._only)};"
        return self._filled(
            combine, {f"{name}2": second for name, second in zip(self.parts.state, others, strict=True)}
        )

    def result(self) -> str:
        """Return the fold's result, of its dtype."""
        text, dtype = self._filled(self.parts.finish, {}), self._dtype(self.parts.finish_dtype)
        if dtype == self.fold.dtype:
            return casts.wrap_expression(text, dtype)
        return casts.cast_expression(text, dtype, self.fold.dtype)


def _sum(terms: Sequence[str]) -> str:
    """Return the device's own sum of floating terms, neighbours first."""
    terms = list(terms)
    while len(terms) > 1:
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [f"({' + '.join(pair)})" for pair in zip(terms[::2], terms[1::2], strict=False)] + odd
    return terms[0]
