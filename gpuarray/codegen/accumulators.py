"""Accumulators: how a kernel folds elements into a running result, and running results into one.

A plain fold keeps one value. That of a position keeps the extreme value and where it was found. That of squared
deviations keeps a count, a mean and the sum of the squares about it; two of them meet by the formula of Chan, Golub and
LeVeque (1979), "Updating formulae and a pairwise algorithm for computing sample variances", so that one walk over the
elements is enough, and nothing cancels.

What an accumulator keeps are its *states*, variables of the kernel with a letter and the number of the fold's
instruction. Row kernels emit them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpuarray import dtypes
from gpuarray.codegen import casts
from gpuarray.codegen.storage import register_type
from gpuarray.codegen.target import compute_type
from gpuarray.codegen.wgsl import apply_expression, combine_expression
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import Fold
from gpuarray.ops import elementwise as rows
from gpuarray.ops import reductions
from gpuarray.ops.spec import ReduceOp

UNSET: Final = "0xffffffffu"
#: The dtypes of integers in the order of the values that they stand for, by the compute type of those.
_KEYS: Final = {
    "f32": dtypes.int32,
    "i32": dtypes.int32,
    "u32": dtypes.uint32,
    "bool": dtypes.uint32,
    "i64": dtypes.int64,
    "u64": dtypes.uint64,
}


def accumulating_dtype(op: ReduceOp, source: DType) -> DType:
    """Return the dtype in which a fold accumulates."""
    return source if op.indexed else op.accumulate(source)


def neutral_literal(op: ReduceOp, dtype: DType) -> str:
    """Return the WGSL literal of a fold's neutral value."""
    return casts.literal(op.identity_of(dtype), dtype)


def accumulator(fold: Fold, number: int) -> "Accumulator":
    """Return the accumulator of the fold that is instruction ``number``."""
    if fold.op.indexed:
        return KeyedPosition(fold, number) if compute_type(fold.source) in _KEYS else Position(fold, number)
    if fold.op.name in (reductions.min.name, reductions.max.name) and compute_type(fold.source) == "f32":
        return Extreme(fold, number)
    return Deviations(fold, number) if fold.op.centred else Accumulator(fold, number)


@dataclass(frozen=True)
class Accumulator:
    """One value, combined with each element."""

    fold: Fold
    number: int

    @property
    def dtype(self) -> DType:
        """The dtype in which elements are accumulated."""
        return accumulating_dtype(self.fold.op, self.fold.source)

    @property
    def states(self) -> dict[str, DType]:
        """The variables that are kept, with their dtypes."""
        return {f"a{self.number}": self.dtype}

    def functions(self) -> list[str]:
        """Return what the kernel needs beside its entry point."""
        return []

    def start(self) -> list[str]:
        """Return the declarations of the states, before any element."""
        return [f"var a{self.number}: {register_type(self.dtype)} = {neutral_literal(self.fold.op, self.dtype)};"]

    def take(self, value: str, place: str) -> str:
        """Return the statement that folds one element, of the operand's dtype, at a position in its row."""
        return self.meet([self._cast(value)])

    def take_all(self, values: Sequence[str], places: Sequence[str]) -> list[str]:
        """Return statements that fold several elements: with each other first, which rounds less in a long row."""
        return [self.meet([self._together([self._cast(value) for value in values])])]

    def take_existing(self, values: Sequence[str], exist: Sequence[str]) -> list[str]:
        """Return statements that fold those of several elements of which a condition is true, without branches."""
        neutral = neutral_literal(self.fold.op, self.dtype)
        parts = [f"select({neutral}, {self._cast(v)}, {e})" for v, e in zip(values, exist, strict=True)]
        return [self.meet([self._together(parts)])]

    def _cast(self, value: str) -> str:
        return casts.cast_expression(value, self.fold.source, self.dtype)

    def _together(self, parts: list[str]) -> str:
        """Return what some values of the accumulator's dtype fold to, in a tree."""
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=False)
            odd = parts[len(parts) // 2 * 2 :]
            parts = [combine_expression(self.fold.op.combine, *pair, self.dtype) for pair in pairs] + odd
        return parts[0]

    def meet(self, others: Sequence[str]) -> str:
        """Return the statement that folds another accumulator's states into this one's."""
        a = f"a{self.number}"
        return f"{a} = {combine_expression(self.fold.op.combine, a, others[0], self.dtype)};"

    def result(self) -> str:
        """Return the fold's result, of its dtype."""
        if self.dtype == self.fold.dtype:
            return casts.wrap_expression(f"a{self.number}", self.dtype)
        return casts.cast_expression(f"a{self.number}", self.dtype, self.fold.dtype)


class Extreme(Accumulator):
    """The extreme of single-precision numbers, kept as an unsigned integer that is greater the better it is.

    NaN of either sign is above all: what is below the worst infinity in the order of bits goes round to the top.
    """

    @property
    def states(self) -> dict[str, DType]:
        """The number's key."""
        return {f"a{self.number}": dtypes.uint32}

    def functions(self) -> list[str]:
        """Return the functions from numbers to keys and back."""
        sign = " ^ sign_bit_f32" if self.fold.op.name == reductions.min.name else ""
        return [
            f"fn key{self.number}(x: f32) -> u32 {{",
            f"  let bits = bitcast<i32>(bitcast<u32>(x){sign});",
            "  return bitcast<u32>(bits ^ ((bits >> 31u) | -0x80000000)) - 0x7fffffu;",
            "}",
            f"fn value{self.number}(key: u32) -> f32 {{",
            "  let ordered = bitcast<i32>(key + 0x7fffffu);",
            f"  return bitcast<f32>(bitcast<u32>(ordered ^ ((~ordered >> 31u) | -0x80000000)){sign});",
            "}",
        ]

    def start(self) -> list[str]:
        """Return the declaration of the state: the worst infinity's key."""
        return [f"var a{self.number} = 0u;"]

    def take_existing(self, values: Sequence[str], exist: Sequence[str]) -> list[str]:
        """Return the statement that folds those of several elements of which a condition is true."""
        parts = [f"select(0u, {self._cast(v)}, {e})" for v, e in zip(values, exist, strict=True)]
        return [self.meet([self._together(parts)])]

    def _cast(self, value: str) -> str:
        return f"key{self.number}({value})"

    def _together(self, parts: list[str]) -> str:
        while len(parts) > 1:
            parts = [f"max({', '.join(pair)})" for pair in zip(parts[::2], parts[1::2], strict=False)] + (
                parts[-1:] if len(parts) % 2 else []
            )
        return parts[0]

    def meet(self, others: Sequence[str]) -> str:
        """Return the statement that takes another key if it is greater."""
        return f"a{self.number} = max(a{self.number}, {others[0]});"

    def result(self) -> str:
        """Return the number of the best key."""
        return f"value{self.number}(a{self.number})"


class Position(Accumulator):
    """The extreme element and its position: NaN first, then the lowest position."""

    @property
    def states(self) -> dict[str, DType]:
        """The value, and where it was found."""
        return {f"a{self.number}": self.dtype, f"p{self.number}": dtypes.uint32}

    def functions(self) -> list[str]:
        """Return the functions that say whether the second of two candidates is the extreme one.

        ``better`` knows positions; ``may_beat`` is for a second that comes later, and errs only by saying yes.
        """
        fold, dtype, number = self.fold, self.dtype, self.number
        row = rows.greater if fold.op.name == reductions.argmax.name else rows.less
        kind = register_type(dtype)
        if dtype.kind == "b":
            beats = {"argmax": "(!{1} && {0})", "argmin": "({1} && !{0})"}[fold.op.name]
            forward, backward = beats.format("b", "a"), beats.format("a", "b")
        else:
            forward = apply_expression(row, ["b", "a"], (dtype, dtype), dtypes.bool_)
            backward = apply_expression(row, ["a", "b"], (dtype, dtype), dtypes.bool_)
        lines = [
            f"fn better{number}(a: {kind}, i: u32, b: {kind}, j: u32) -> bool {{",
            f"  if (j == {UNSET}) {{ return false; }}",
            f"  if (i == {UNSET}) {{ return true; }}",
        ]
        if dtype.kind in "fc":
            first, second = (apply_expression(rows.isnan, [n], (dtype,), dtypes.bool_) for n in "ab")
            lines.append(f"  if ({first} || {second}) {{ return select({second}, j < i, {first} && {second}); }}")
        found = forward
        if dtype.kind in "fc":
            found = f"{forward} || {apply_expression(rows.isnan, ['b'], (dtype,), dtypes.bool_)}"
        return [
            *lines,
            f"  if ({forward}) {{ return true; }}",
            f"  if ({backward}) {{ return false; }}",
            "  return j < i;",
            "}",
            f"fn may_beat{number}(a: {kind}, b: {kind}) -> bool {{ return {found}; }}",
        ]

    def start(self) -> list[str]:
        """Return the declarations of the states, before any element."""
        return [*super().start(), f"var p{self.number}: u32 = {UNSET};"]

    def take(self, value: str, place: str) -> str:
        """Return the statement that folds one element at a position in its row, after those before it."""
        return " ".join(self.take_all([value], [place]))

    def take_all(self, values: Sequence[str], places: Sequence[str]) -> list[str]:
        """Return statements that fold several elements in order: one cheap question, as few are the best so far."""
        a, p = self.states
        asked = [f"{p} == {UNSET}", *(f"may_beat{self.number}({a}, {value})" for value in values)]
        folds = [self.meet([value, place]) for value, place in zip(values, places, strict=True)]
        return [f"if ({' | '.join(f'({question})' for question in asked)}) {{", *folds, "}"]

    def meet(self, others: Sequence[str]) -> str:
        """Return the statement that takes another value and position if they are better."""
        a, p = self.states
        value, place = others
        return f"if (better{self.number}({a}, {p}, {value}, {place})) {{ {a} = {value}; {p} = {place}; }}"

    def result(self) -> str:
        """Return the position."""
        return casts.cast_expression(f"p{self.number}", dtypes.uint32, self.fold.dtype)


class KeyedPosition(Position):
    """A position whose element is kept as an integer, the greater the better: two of them meet without branches."""

    @property
    def states(self) -> dict[str, DType]:
        """The element's key, and where it was found."""
        return {f"a{self.number}": _KEYS[compute_type(self.dtype)], f"p{self.number}": dtypes.uint32}

    def functions(self) -> list[str]:
        """Return the function from elements to keys: NaN is above all, and zeros of either sign are the same."""
        source, least = compute_type(self.dtype), self.fold.op.name == reductions.argmin.name
        head = f"fn key{self.number}(x: {register_type(self.dtype)}) -> {register_type(_KEYS[source])} {{"
        if source == "bool":
            return [f"{head} return select({'1u, 0u' if least else '0u, 1u'}, x); }}"]
        if source != "f32":
            return [f"{head} return {'~' if least else ''}x; }}"]
        return [
            head,
            f"  let bits = bitcast<i32>(bitcast<u32>(x){' ^ 0x80000000u' if least else ''});",
            "  let ordered = bits ^ ((bits >> 31u) & 0x7fffffff);",
            "  return select(select(ordered, 0, ordered == -1), 0x7fffffff, (bits & 0x7fffffff) > 0x7f800000);",
            "}",
        ]

    def start(self) -> list[str]:
        """Return the declarations of the states, before any element."""
        a, p = self.states
        kind = self.states[a]
        return [
            f"var {a}: {register_type(kind)} = {casts.literal(np.iinfo(kind).min, kind)};",
            f"var {p}: u32 = {UNSET};",
        ]

    def take_all(self, values: Sequence[str], places: Sequence[str]) -> list[str]:
        """Return statements that fold several elements in order, and ask for the best of them first."""
        a, p = self.states
        keys = [f"key{self.number}_{k}" for k in range(len(values))]
        lines = [f"let {key} = key{self.number}({value});" for key, value in zip(keys, values, strict=True)]
        best = keys[0]
        for key in keys[1:]:
            best = f"max({best}, {key})"
        folds = [self.meet([key, place]) for key, place in zip(keys, places, strict=True)]
        return ["{", *lines, f"if (({best} > {a}) | ({p} == {UNSET})) {{", *folds, "} }"]

    def meet(self, others: Sequence[str]) -> str:
        """Return the statement that takes another key and position if they are better."""
        a, p = self.states
        key, place = others
        better = f"({key} > {a}) | (({key} == {a}) & ({place} < {p}))"
        return f"if ({better}) {{ {a} = {key}; {p} = {place}; }}"


class Deviations(Accumulator):
    """The sum of squared deviations from the mean, with that mean and the number of elements."""

    @property
    def states(self) -> dict[str, DType]:
        """The number of elements, their mean, and the squares about it."""
        return {f"{letter}{self.number}": self.dtype for letter in "nma"}

    def start(self) -> list[str]:
        """Return the declarations of the states, before any element."""
        return [f"var {name}: {register_type(self.dtype)} = {self._number(0)};" for name in self.states]

    def take(self, value: str, place: str) -> str:
        """Return the statement that folds one element."""
        return self.meet([self._number(1), self._cast(value), self._number(0)])

    def take_all(self, values: Sequence[str], places: Sequence[str]) -> list[str]:
        """Return statements that fold several elements: about their own mean first, which takes one division."""
        count, number = len(values), self.number
        if count == 1:
            return [self.take(values[0], places[0])]
        own = [self._cast(value) for value in values]
        lines = [f"{{ let mean{number} = {_added(own)} * {self._number(1 / count)};"]
        lines += [f"let off{number}_{k} = {value} - mean{number};" for k, value in enumerate(own)]
        squares = _added([f"off{number}_{k} * off{number}_{k}" for k in range(count)])
        return [*lines, self.meet([self._number(count), f"mean{number}", squares]), "}"]

    def take_existing(self, values: Sequence[str], exist: Sequence[str]) -> list[str]:
        """Return statements that fold those of several elements of which a condition is true."""
        number, zero = self.number, self._number(0)
        together = Counter(exist)
        count = _added([f"select({zero}, {self._number(n)}, {e})" for e, n in together.items()])
        own = [f"select({zero}, {self._cast(v)}, {e})" for v, e in zip(values, exist, strict=True)]
        lines = [
            f"{{ let count{number} = {count};",
            f"let mean{number} = {_added(own)} / max(count{number}, {self._number(1)});",
        ]
        for k, (value, e) in enumerate(zip(values, exist, strict=True)):
            lines.append(f"let off{number}_{k} = select({zero}, {self._cast(value)} - mean{number}, {e});")
        squares = _added([f"off{number}_{k} * off{number}_{k}" for k in range(len(values))])
        return [*lines, self.meet([f"count{number}", f"mean{number}", squares]), "}"]

    def meet(self, others: Sequence[str]) -> str:
        """Return the statement that folds others' number, mean and squares into these."""
        n, m, a = self.states
        count, mean, squares = others
        return (
            f"{{ let gap = {mean} - {m}; let share = {count} / max({n} + {count}, {self._number(1)}); "
            f"{a} += {squares} + gap * gap * ({n} * share); {m} += gap * share; {n} += {count}; }}"
        )

    def result(self) -> str:
        """Return the squares; NaN where the mean is no number, whatever the order of elements was."""
        _, mean, squares = self.states
        nothing = apply_expression(rows.subtract, [mean, mean], (self.dtype, self.dtype), self.dtype)
        total = apply_expression(rows.add, [squares, nothing], (self.dtype, self.dtype), self.dtype)
        return total if self.dtype == self.fold.dtype else casts.cast_expression(total, self.dtype, self.fold.dtype)

    def _number(self, value: float) -> str:
        return casts.literal(value, self.dtype)


def _added(parts: list[str]) -> str:
    """Return the sum of some values, in a tree."""
    while len(parts) > 1:
        odd = parts[-1:] if len(parts) % 2 else []
        parts = [f"({' + '.join(pair)})" for pair in zip(parts[::2], parts[1::2], strict=False)] + odd
    return parts[0]
