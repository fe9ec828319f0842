"""Guards of fast paths on devices that flush subnormal float32 numbers to zero.

Such a device may take a subnormal operand for 0, and gives 0 where a result would be subnormal. Code is generated in
*blocks* of instructions that are light or have fast paths. The fast path of a block has no branches, and its sums and
products are the device's own arithmetic. A *guard*, one condition for all of it, finds out whether flushing can have
mattered and whether the fast path of each function was right. If not, the slow path, with integers, computes the block
again.

This module finds the smallest guard, from what the users of each value need. In plain arithmetic a value is either
right, or it is 0 where it should be a number below ``2**error``. A value without such an *error* is right whenever the
guard holds.

- A product is right if it is at least ``2**-125``: nothing in it was flushed. Otherwise its error is that of its
  operands, times the bound of the other operand.
- A sum is right if it is at least ``2**26`` times the errors of its operands: what was lost is below a quarter of its
  last place. So is a sum with a number that is known to be that large.
- Exponentials and cosines of numbers near 0 are 1, and squares 0: sums that only they use may be off. The fast paths of
  roots and quotients guard their operands themselves.

So most operations need no guard: for ``sin(x) * sin(x) + exp(-x * x) * sqrt(abs(x) + 1)`` only the result is tested.
Called by :mod:`gpuarray.codegen.fast_paths`, which writes the blocks. Pure; needs no GPU.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gpuarray.codegen.target import makes_underflow_gradual
from gpuarray.codegen.wgsl import UNDERFLOWING, fast_path_function
from gpuarray.dtypes import DType, float16, float32
from gpuarray.fusion.costs import operations
from gpuarray.fusion.steps import FULL, Apply, Fold, Instruction, Loop, needed
from gpuarray.ops.columns import Kind

#: Exponents of 2: the error of a number that was flushed, and the bound of a number of which nothing is known.
FLUSHED: Final = -125
UNBOUNDED: Final = 128
#: The largest error that a value may have without a guard. Exponentials of numbers below it are 1.
LARGEST_ERROR: Final = -60
#: The error that a factor may have: the product has it, too, and is guarded where it is too large.
UNLIMITED: Final = 1 << 20
#: The squares of numbers up to this are flushed in any case.
LARGEST_SQUARED: Final = -63
#: A sum that is larger than the errors of its operands by this is right.
MARGIN: Final = 26
#: The guard's bound of scalars that multiply elements.
SCALAR_BOUND: Final = 24
#: Up to this many operations, instructions are light: computing them again is no slower than waiting for them.
LIGHT: Final = 4
#: Up to this many functions leave time for one more test during memory accesses.
FEW: Final = 2
#: The least magnitude of the first operand that fast paths are right for (``FastDomain.first_at_least``).
ORDINARY: Final = -78


#: The users of values by their numbers; None is a store.
Uses: TypeAlias = dict[int, list[Instruction | None]]


@dataclass(frozen=True, slots=True)
class Fact:
    """Facts about a value if the guard holds: its error, if it has one, and its bound."""

    error: int | None = FLUSHED
    below: int = UNBOUNDED


@dataclass
class Block:
    """Instructions that are computed together, and their guard.

    Attributes
    ----------
    items : tuple of int
        The instructions, in order.
    functions : frozenset of int
        Those with a fast path of their own.
    sums : frozenset of int
        The sums and products in plain arithmetic, which the guard is about.
    ratios : frozenset of int
        Quotients whose dividends are none of ``sums``, so that a dividend of 0 is exact.
    used : tuple of int
        The values that are used outside of the block.
    at_least : dict of int to int
        Guard: values that have to be at least that power of 2 in magnitude.
    not_subnormal : set of int
        Guard: values that must not be subnormal.
    scalars_at_least : dict of int to int
        Guard: scalars that have to be at least that power of 2 in magnitude.
    scalars_zero_or_at_least : dict of int to int
        Guard: scalars that have to be 0, or at least that power of 2 in magnitude.
    scalars_bounded : set of int
        Guard: scalars that have to be below ``2**SCALAR_BOUND``.
    """

    items: tuple[int, ...]
    functions: frozenset[int]
    sums: frozenset[int]
    ratios: frozenset[int]
    used: tuple[int, ...]
    at_least: dict[int, int] = field(default_factory=dict)
    not_subnormal: set[int] = field(default_factory=set)
    scalars_at_least: dict[int, int] = field(default_factory=dict)
    scalars_zero_or_at_least: dict[int, int] = field(default_factory=dict)
    scalars_bounded: set[int] = field(default_factory=set)

    @property
    def is_guarded(self) -> bool:
        """Whether the block may have to be computed again."""
        of_scalars = self.scalars_at_least or self.scalars_zero_or_at_least or self.scalars_bounded
        return bool(self.functions or self.at_least or self.not_subnormal or of_scalars)


def arranged(loop: Loop, numbers: Iterable[int], *, alone: bool = False) -> list[int | Block]:
    """Return instructions of a loop as blocks, and the others by number, each after its operands.

    Parameters
    ----------
    loop : Loop
        The loop.
    numbers : iterable of int
        The instructions at level FULL to emit, in order.
    alone : bool
        Whether an invocation has a single element: functions then have guards of their own.
    """
    blocks: list[int | Block] = []
    pending: list[int] = []
    uses = _uses(loop)

    def close(items: list[int]) -> None:
        """Make a block of the instructions that may be computed again, and one of those that only depend on these."""
        doubtful = [n for n in items if _is_doubtful(loop.instructions[n], alone)]
        again = _closure(loop, doubtful, items)
        for group in (again, [n for n in items if n not in again]):
            if group:
                blocks.append(_GuardFinder(loop, group, uses, alone).block())

    for number in numbers:
        item = loop.instructions[number]
        if isinstance(item, Apply) and (operations((item,)) <= LIGHT or _is_doubtful(item, alone)):
            pending.append(number)
            continue
        first = _closure(loop, item.operands, pending)
        if first:
            pending = [n for n in pending if n not in first]
            close(first)
        blocks.append(number)
    close(pending)
    return blocks


def _is_doubtful(item: Instruction, alone: bool) -> bool:
    """Whether an instruction has a fast path that may be wrong."""
    return isinstance(item, Apply) and (is_gradual(item) or (not alone and _has_fast_path(item)))


def _has_fast_path(item: Apply) -> bool:
    return fast_path_function(item.op, item.sources) is not None


def is_gradual(item: Apply) -> bool:
    """Return whether an instruction is a sum or a product whose plain form may flush what its slow path keeps."""
    is_single = (item.dtype, item.sources[0]) == (float32, float32)
    return makes_underflow_gradual() and is_single and item.op.kind in UNDERFLOWING


def _closure(loop: Loop, wanted: Iterable[int], pending: Sequence[int]) -> list[int]:
    """Return the pending instructions on which some values depend."""
    return sorted(needed(loop.instructions, wanted, lambda number: number in pending))


def _uses(loop: Loop) -> Uses:
    """Return the instructions that use each value; None is a store."""
    uses: Uses = {}
    for item in loop.instructions:
        for operand in item.operands:
            uses.setdefault(operand, []).append(item)
    for number in loop.wanted:
        uses.setdefault(number, []).append(None)
    return uses


@dataclass(frozen=True, slots=True)
class _Need:
    """The requirements of the users of a value.

    Attributes
    ----------
    error : int or None
        The error that the value may have; None if it has to be right.
    ordinary : bool
        Whether the guard of a function requires a magnitude of ``2**ORDINARY`` in any case.
    flat : bool
        Whether all users have the same result for every value near 0.
    summed : bool
        Whether all users are sums of the block.
    """

    error: int | None
    ordinary: bool
    flat: bool
    summed: bool = False


class _GuardFinder:
    """Finds the guard of one block."""

    def __init__(self, loop: Loop, items: Sequence[int], uses: Uses, alone: bool) -> None:
        self.items = loop.instructions
        self.members = items
        self.inside = {id(self.items[n]): n for n in items}
        self.uses = uses
        functions = frozenset(n for n in items if not alone and _has_fast_path(self._apply(n)))
        sums = frozenset(n for n in items if is_gradual(self._apply(n)))
        used = tuple(n for n in items if any(id(user) not in self.inside for user in uses.get(n, [])))
        quotients = [n for n in functions if len(functions) <= FEW and self._apply(n).op.kind is Kind.QUOTIENT]
        ratios = frozenset(n for n in quotients if self._root(self._apply(n).operands[0]) not in sums)
        self._block = Block(tuple(items), functions, sums, ratios, used)
        self.facts: dict[int, Fact] = {}
        self.needs: dict[int, _Need] = {}

    def block(self) -> Block:
        """Return the block with its guard."""
        for number in reversed(self.members):
            self.needs[number] = self._need(number)
        for number in self.members:
            self.facts[number] = self._guarded(number, self._result(number, self._apply(number)))
        return self._block

    def _apply(self, number: int) -> Apply:
        item = self.items[number]
        assert isinstance(item, Apply)
        return item

    def _need(self, number: int) -> _Need:
        error: int | None = UNLIMITED
        ordinary, flat, summed = False, True, True
        for user in self.uses.get(number, []):
            inner = self.inside.get(id(user))
            if isinstance(user, Apply) and user.op.values.one_near_zero:
                need = _Need(LARGEST_ERROR, False, True)
            elif inner in self._block.functions and self._is_guarded_by(user, number):
                need = _Need(LARGEST_ERROR, True, False)
            elif inner is not None and self._is_sign(inner):
                need = self.needs[inner]
            elif inner is not None and inner in self._block.sums:
                of_sum = isinstance(user, Apply) and user.op.kind is Kind.SUM
                need = _Need(LARGEST_ERROR if of_sum else UNLIMITED, False, self._is_square(inner), of_sum)
            elif isinstance(user, Fold) and user.op.combine is not None and user.op.combine.kind is Kind.SUM:
                need = _Need(FLUSHED, False, False)
            else:
                need = _Need(None, False, False)
            error = None if error is None or need.error is None else min(error, need.error)
            ordinary, flat, summed = ordinary or need.ordinary, flat and need.flat, summed and need.summed
        return _Need(error, ordinary, flat, summed)

    def _is_guarded_by(self, user: Instruction | None, number: int) -> bool:
        """Whether the guard of a function requires a magnitude of a value, which is not its divisor."""
        if not isinstance(user, Apply) or number in user.operands[1:]:
            return False
        domain = user.op.values.fast_domain
        return domain is not None and domain.first_at_least is not None

    # -- facts ---------------------------------------------------------------------------------------------------------

    def _fact(self, number: int) -> Fact:
        if number not in self.facts:
            self.facts[number] = self._guarded(number, outer_fact(self.items[self._root(number)]))
        return self.facts[number]

    def _guarded(self, number: int, fact: Fact) -> Fact:
        """Return a fact with what the guards of functions of the block imply."""
        item = self.items[number]
        if number in self._block.functions and isinstance(item, Apply) and (domain := item.op.values.fast_domain):
            fact = Fact(None, min(fact.below, domain.results_below))
        for user in self.uses.get(number, []):
            if self.inside.get(id(user)) in self._block.functions and isinstance(user, Apply):
                domain = user.op.values.fast_domain
                fact = fact if domain is None else Fact(None, min(fact.below, domain.operands_below))
        return fact

    def _is_scalar(self, number: int) -> bool:
        return self.items[number].level != FULL

    def _result(self, number: int, item: Apply) -> Fact:
        if self._is_sign(number):
            return self._fact(item.operands[0])
        if number not in self._block.sums:
            return outer_fact(item)
        if item.op.kind is Kind.SUM:
            return self._sum(number, *item.operands)
        if item.op.kind is Kind.PRODUCT and not self._is_square(number):
            return self._product(number, *item.operands)
        fact = self._fact(item.operands[0])
        if item.op.kind is Kind.SCALING:
            error = FLUSHED + 6 if fact.error is None else fact.error + 6
            return self._judged(number, Fact(error, min(fact.below + 6, UNBOUNDED)))
        # the square of a value that is taken for 0 is 0
        error = FLUSHED if fact.error is None else max(FLUSHED, 2 * fact.error)
        return self._judged(number, Fact(error, min(2 * fact.below, UNBOUNDED)))

    def _judged(self, number: int, fact: Fact) -> Fact:
        """Return the fact about a product; guard it if its users need more."""
        need = self.needs[number]
        assert fact.error is not None
        if need.ordinary:
            return Fact(None, fact.below)
        if need.error is None or fact.error > need.error:
            self._block.at_least[number] = FLUSHED
            return Fact(None, fact.below)
        return fact

    def _product(self, number: int, x: int, y: int) -> Fact:
        error, below, doubtful = self._product_of(x, y)
        need = self.needs[number]
        is_needed = not need.ordinary and need.error is not None and error > need.error
        # one test of an operand of several products is cheaper than a test of each product
        if is_needed and all(not self._is_scalar(n) and self._factors(n) > 1 for n in doubtful):
            for n in doubtful:
                if self._root(n) in self._block.sums:  # what was computed here may be 0 and should not be
                    self._block.at_least[n] = FLUSHED
                else:
                    self._block.not_subnormal.add(n)
                self.facts[n] = Fact(None, self._fact(n).below)
            error, below, doubtful = self._product_of(x, y)
        fact = self._judged(number, Fact(error, below))
        if fact.error is not None:
            for n in (x, y):
                if self._is_scalar(n):
                    self._block.scalars_bounded.add(n)
                    _raise_to(self._block.scalars_zero_or_at_least, n, FLUSHED - 1)
        return fact

    def _product_of(self, x: int, y: int) -> tuple[int, int, list[int]]:
        """Return the error of a product, what bounds it, and the operands that make the error too large."""
        first, second = (self._factor(n) for n in (x, y))
        error, doubtful = FLUSHED, []
        for n, bound, factor in ((x, first, second), (y, second, first)):
            if bound.error is not None:
                error = max(error, bound.error + factor.below)
                if bound.error + factor.below > LARGEST_ERROR:
                    doubtful.append(n)
        return error, min(first.below + second.below, UNBOUNDED), doubtful

    def _factor(self, number: int) -> Fact:
        """Return a fact of a value that multiplies others; scalars are guarded."""
        return Fact(None, SCALAR_BOUND) if self._is_scalar(number) else self._fact(number)

    def _factors(self, number: int) -> int:
        """Return in how many products of the block a value is."""
        return sum(
            isinstance(item, Apply) and _is_product(item) and number in item.operands
            for item in (self.items[n] for n in self.members)
        )

    def _sum(self, number: int, x: int, y: int) -> Fact:
        scalars = [n for n in (x, y) if self._is_scalar(n)]
        facts = [self._fact(n) for n in (x, y) if not self._is_scalar(n)]
        error = max((fact.error for fact in facts if fact.error is not None), default=None)
        below = UNBOUNDED if scalars else min(max(fact.below for fact in facts) + 1, UNBOUNDED)
        need = self.needs[number]
        if need.flat and (error is None or error + MARGIN < LARGEST_SQUARED):
            return Fact((FLUSHED if error is None else error) + MARGIN + 1, below)
        if need.summed and not scalars and error == FLUSHED:
            # below its bound it may be any number as small as that: sums of it are guarded at a larger bound
            return Fact(FLUSHED + MARGIN + 1, below)
        if scalars:
            flushed = FLUSHED if error is None else error
            if need.summed and flushed <= LARGEST_ERROR:
                # a sum with 0, with which sums of many terms begin, has the error of the other operand
                _raise_to(self._block.scalars_zero_or_at_least, scalars[0], flushed + MARGIN)
                return Fact(flushed, below)
            _raise_to(self._block.scalars_at_least, scalars[0], flushed + MARGIN)
            return Fact(None, below)
        if need.ordinary and (error is None or error + MARGIN <= ORDINARY):
            return Fact(None, below)
        if error is None and need.error is not None:
            return Fact(FLUSHED, below)
        self._block.at_least[number] = FLUSHED if error is None else error + MARGIN
        return Fact(None, below)

    def _is_sign(self, number: int) -> bool:
        item = self.items[number]
        return isinstance(item, Apply) and item.op.kind is Kind.SIGN and item.dtype == float32

    def _is_square(self, number: int) -> bool:
        item = self.items[number]
        if not isinstance(item, Apply) or item.op.kind is not Kind.PRODUCT:
            return False
        return len({self._root(operand) for operand in item.operands}) == 1

    def _root(self, number: int) -> int:
        """Return the value of which another is the same but for the sign."""
        while self._is_sign(number):
            (number,) = self.items[number].operands
        return number


def _raise_to(bounds: dict[int, int], number: int, exponent: int) -> None:
    bounds[number] = max(exponent, bounds.get(number, exponent))


def _is_product(item: Apply) -> bool:
    """Whether an instruction is a product of two operands."""
    return item.op.kind is Kind.PRODUCT and len(item.operands) == 2


def outer_fact(item: Instruction) -> Fact:
    """Return the fact about a value from outside of a block, which is right, and may be subnormal."""
    if not isinstance(item, Apply) or item.dtype != float32:
        return Fact()
    if item.op.kind is Kind.CONVERSION:
        return _cast_fact(item.sources[0])
    if item.sources[0] != float32:
        return Fact()
    values = item.op.values
    return Fact(None if values.never_subnormal else FLUSHED, values.below)


def _cast_fact(source: DType) -> Fact:
    """Return the fact about a number of another dtype: most have none that is subnormal as float32."""
    if source.kind in "biu" or source == float16:
        return Fact(None, 1 if source.kind == "b" else 8 * source.itemsize)
    return Fact()
