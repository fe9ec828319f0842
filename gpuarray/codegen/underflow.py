"""Where subnormal numbers matter: which questions keep those of float32 on a device that takes them for 0.

Such a device may take a subnormal operand for 0, and gives 0 where the result would be subnormal. A *block* is a run of
instructions that are light or have quick forms. Its quick form has no branches, and its sums and products are plain
arithmetic; one question about all of it finds out whether flushing can have mattered and whether every function's quick
form was right, and then a careful form, by integers, computes the block again.

What a value's users need decides what is asked. In plain arithmetic a value is either right, or it is 0 in the place of
a number below ``2**error``; a value without such an *error* is right whenever the questions are answered well.

- A product is right if it is at least ``2**-125``: nothing in it was flushed. Where it need not be right, it errs by
  what its operands err, times what bounds the other one.
- A sum is right if it is at least ``2**26`` times the errors of its operands: what was lost is below a quarter of its
  last place. So is one with a number that is known to be that large.
- Exponentials and cosines of what is nearly 0 are 1, and squares 0: sums that only they use may be off. Roots and
  quotients ask for ordinary operands themselves.

So most operations need no question: of ``sin(x) * sin(x) + exp(-x * x) * sqrt(abs(x) + 1)`` the result alone is looked
at, once. Called by :mod:`gpuarray.codegen.fast_paths`, which writes the blocks. Pure; needs no GPU.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gpuarray.codegen.target import makes_underflow_gradual
from gpuarray.codegen.wgsl import UNDERFLOWING, fast_path_function
from gpuarray.dtypes import DType, float16, float32
from gpuarray.fusion.costs import operations
from gpuarray.fusion.steps import FULL, Apply, Fold, Instruction, Loop, operands_of
from gpuarray.ops.spec import Kind

#: What a number of any kind may be off by if it is taken for 0, and what it is below, as exponents of 2.
FLUSHED: Final = -125
UNBOUNDED: Final = 128
#: No value errs by more than this unasked; exponentials of what is below it are 1.
LARGEST_ERROR: Final = -60
#: What a factor may err by: a product errs as much, and is asked for where that is too much.
UNLIMITED: Final = 1 << 20
#: The square of what is not above this is nothing.
LARGEST_SQUARED: Final = -63
#: How much larger than the errors of its operands a sum is right.
MARGIN: Final = 26
#: The bound that is asked of a number of all elements which multiplies others.
SCALAR_BOUND: Final = 24
#: What takes no more operations than this is as well computed twice as waited for.
LIGHT: Final = 4
#: How many functions leave time for one more question, while memory is waited for.
FEW: Final = 2
#: The least magnitude that functions ask of their first operand, if any.
ORDINARY: Final = -78


#: The users of values by their numbers; None is a store.
Uses: TypeAlias = dict[int, list[Instruction | None]]


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of a value if the block's questions are answered well: its error, if any, and what bounds it."""

    error: int | None = FLUSHED
    below: int = UNBOUNDED


@dataclass
class Block:
    """Instructions in order, of which ``functions`` have quick forms of their own.

    ``asked`` are values that have to be at least that power of 2 in magnitude, ``normal`` those that must not be
    subnormal. ``least`` says the same of what is one for all elements, and ``bounded`` what of it has to be below
    ``2**SCALAR_BOUND``. ``sums`` are the sums and products whose plain arithmetic the questions are about, ``ratios``
    the quotients, of few functions, whose dividends are none of these, so that a 0 is one. ``used`` are the values that
    others than the block use.
    """

    items: tuple[int, ...]
    functions: frozenset[int]
    sums: frozenset[int]
    ratios: frozenset[int]
    used: tuple[int, ...]
    asked: dict[int, int] = field(default_factory=dict)
    normal: set[int] = field(default_factory=set)
    least: dict[int, int] = field(default_factory=dict)
    bounded: set[int] = field(default_factory=set)

    @property
    def asks(self) -> bool:
        """Whether the block may have to be computed again."""
        return bool(self.functions or self.asked or self.normal or self.least or self.bounded)


def arranged(loop: Loop, numbers: Iterable[int], *, alone: bool = False) -> list[int | Block]:
    """Return instructions of a loop as blocks, and the others by number, each after what it uses.

    Parameters
    ----------
    loop : Loop
        The loop.
    numbers : iterable of int
        The instructions at level FULL to emit, in order.
    alone : bool
        Whether an invocation has a single element: functions then ask for themselves.
    """
    found: list[int | Block] = []
    pending: list[int] = []
    uses = _uses(loop)

    def close(items: list[int]) -> None:
        """Make a block of what may have to be computed again, and one of what only follows from it."""
        doubtful = [n for n in items if _is_doubtful(loop.instructions[n], alone)]
        again = _closure(loop, doubtful, items)
        for part in (again, [n for n in items if n not in again]):
            if part:
                found.append(_Group(loop, part, uses, alone).block())

    for number in numbers:
        item = loop.instructions[number]
        if isinstance(item, Apply) and (operations((item,)) <= LIGHT or _is_doubtful(item, alone)):
            pending.append(number)
            continue
        needed = _closure(loop, operands_of(item), pending)
        pending = [n for n in pending if n not in needed]
        close(needed)
        found.append(number)
    close(pending)
    return found


def _is_doubtful(item: Instruction, alone: bool) -> bool:
    """Whether an instruction has a quick form that may be wrong."""
    return isinstance(item, Apply) and (is_gradual(item) or (not alone and _has_fast_path(item)))


def _has_fast_path(item: Apply) -> bool:
    return fast_path_function(item.op, item.sources) is not None


def is_gradual(item: Apply) -> bool:
    """Return whether an instruction is a sum or a product whose plain form may flush what its careful form keeps."""
    is_single = (item.dtype, item.sources[0]) == (float32, float32)
    return makes_underflow_gradual() and is_single and item.op.kind in UNDERFLOWING


def _closure(loop: Loop, wanted: Iterable[int], pending: Sequence[int]) -> list[int]:
    """Return what has to be computed, of what is pending, before some values are there."""
    found: set[int] = set()
    stack = list(wanted)
    while stack:
        number = stack.pop()
        if number in pending and number not in found:
            found.add(number)
            stack += operands_of(loop.instructions[number])
    return sorted(found)


def _uses(loop: Loop) -> Uses:
    """Return the instructions that use each value; None is a store."""
    found: Uses = {}
    for item in loop.instructions:
        for operand in operands_of(item):
            found.setdefault(operand, []).append(item)
    for number in loop.wanted:
        found.setdefault(number, []).append(None)
    return found


@dataclass(frozen=True, slots=True)
class _Need:
    """What the users of a value need: how much it may err (None: nothing), and what they are like.

    ``ordinary``: the block's function asks for a magnitude of ``2**ORDINARY``. ``flat``: near 0 a value is the same to
    all. ``summed``: all are sums of the block.
    """

    error: int | None
    ordinary: bool
    flat: bool
    summed: bool = False


class _Group:
    """Finds the questions of one block."""

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
        self.found = Block(tuple(items), functions, sums, ratios, used)
        self.facts: dict[int, Fact] = {}
        self.needs: dict[int, _Need] = {}

    def block(self) -> Block:
        """Return the block with its questions."""
        for number in reversed(self.members):
            self.needs[number] = self._need(number)
        for number in self.members:
            self.facts[number] = self._asked(number, self._result(number, self._apply(number)))
        return self.found

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
            elif inner in self.found.functions and self._is_asked_by(user, number):
                need = _Need(LARGEST_ERROR, True, False)
            elif inner is not None and self._is_sign(inner):
                need = self.needs[inner]
            elif inner is not None and inner in self.found.sums:
                of_sum = isinstance(user, Apply) and user.op.kind is Kind.SUM
                need = _Need(LARGEST_ERROR if of_sum else UNLIMITED, False, self._is_square(inner), of_sum)
            elif isinstance(user, Fold) and user.op.combine is not None and user.op.combine.kind is Kind.SUM:
                need = _Need(FLUSHED, False, False)
            else:
                need = _Need(None, False, False)
            error = None if error is None or need.error is None else min(error, need.error)
            ordinary, flat, summed = ordinary or need.ordinary, flat and need.flat, summed and need.summed
        return _Need(error, ordinary, flat, summed)

    def _is_asked_by(self, user: Instruction | None, number: int) -> bool:
        """Whether a value is no divisor, and a function of the block asks for its magnitude."""
        if not isinstance(user, Apply) or number in user.operands[1:]:
            return False
        domain = user.op.values.fast_domain
        return domain is not None and domain.first_at_least is not None

    # -- facts ---------------------------------------------------------------------------------------------------------

    def _fact(self, number: int) -> Fact:
        if number not in self.facts:
            self.facts[number] = self._asked(number, outer_fact(self.items[self._root(number)]))
        return self.facts[number]

    def _asked(self, number: int, fact: Fact) -> Fact:
        """Return a fact with what the functions of the block ask themselves."""
        item = self.items[number]
        if number in self.found.functions and isinstance(item, Apply) and (domain := item.op.values.fast_domain):
            fact = Fact(None, min(fact.below, domain.results_below))
        for user in self.uses.get(number, []):
            if self.inside.get(id(user)) in self.found.functions and isinstance(user, Apply):
                domain = user.op.values.fast_domain
                fact = fact if domain is None else Fact(None, min(fact.below, domain.operands_below))
        return fact

    def _is_scalar(self, number: int) -> bool:
        return self.items[number].level != FULL

    def _result(self, number: int, item: Apply) -> Fact:
        if self._is_sign(number):
            return self._fact(item.operands[0])
        if number not in self.found.sums:
            return outer_fact(item)
        if item.op.kind is Kind.SUM:
            return self._sum(number, *item.operands)
        if item.op.kind is Kind.PRODUCT and not self._is_square(number):
            return self._product(number, *item.operands)
        fact = self._fact(item.operands[0])
        if item.op.kind is Kind.SCALING:
            error = FLUSHED + 6 if fact.error is None else fact.error + 6
            return self._judged(number, Fact(error, min(fact.below + 6, UNBOUNDED)))
        # the square of what is taken for 0 is 0
        error = FLUSHED if fact.error is None else max(FLUSHED, 2 * fact.error)
        return self._judged(number, Fact(error, min(2 * fact.below, UNBOUNDED)))

    def _judged(self, number: int, fact: Fact) -> Fact:
        """Return what is known of a product; ask for it if its users need more."""
        need = self.needs[number]
        assert fact.error is not None
        if need.ordinary:
            return Fact(None, fact.below)
        if need.error is None or fact.error > need.error:
            self.found.asked[number] = FLUSHED
            return Fact(None, fact.below)
        return fact

    def _product(self, number: int, x: int, y: int) -> Fact:
        error, below, doubtful = self._product_of(x, y)
        need = self.needs[number]
        is_needed = not need.ordinary and need.error is not None and error > need.error
        # a question about an operand of several products is cheaper than one about each of them
        if is_needed and all(not self._is_scalar(n) and self._factors(n) > 1 for n in doubtful):
            for n in doubtful:
                if self._root(n) in self.found.sums:  # what was computed here may be 0 and should not be
                    self.found.asked[n] = FLUSHED
                else:
                    self.found.normal.add(n)
                self.facts[n] = Fact(None, self._fact(n).below)
            error, below, doubtful = self._product_of(x, y)
        fact = self._judged(number, Fact(error, below))
        if fact.error is not None:
            for n in (x, y):
                if self._is_scalar(n):
                    self.found.bounded.add(n)
                    self._ask_scalar(n, FLUSHED - 1)
        return fact

    def _product_of(self, x: int, y: int) -> tuple[int, int, list[int]]:
        """Return the error of a product, what bounds it, and the operands that make the error too large."""
        first, second = (self._factor(n) for n in (x, y))
        found, doubtful = FLUSHED, []
        for n, own, other in ((x, first, second), (y, second, first)):
            if own.error is not None:
                found = max(found, own.error + other.below)
                if own.error + other.below > LARGEST_ERROR:
                    doubtful.append(n)
        return found, min(first.below + second.below, UNBOUNDED), doubtful

    def _factor(self, number: int) -> Fact:
        """Return a fact of a value that multiplies others; what is one for all elements is asked for."""
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
            # below its bound it may be any number that is as small: sums of it are asked for as much more
            return Fact(FLUSHED + MARGIN + 1, below)
        if scalars:
            self._ask_scalar(scalars[0], (FLUSHED if error is None else error) + MARGIN)
            return Fact(None, below)
        if need.ordinary and (error is None or error + MARGIN <= ORDINARY):
            return Fact(None, below)
        if error is None and need.error is not None:
            return Fact(FLUSHED, below)
        self.found.asked[number] = FLUSHED if error is None else error + MARGIN
        return Fact(None, below)

    def _ask_scalar(self, number: int, exponent: int) -> None:
        self.found.least[number] = max(exponent, self.found.least.get(number, exponent))

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
            (number,) = operands_of(self.items[number])
        return number


def _is_product(item: Apply) -> bool:
    """Whether an instruction is a product of two operands."""
    return item.op.kind is Kind.PRODUCT and len(item.operands) == 2


def outer_fact(item: Instruction) -> Fact:
    """Return what is known of a value from outside of a block, which is right, and may be subnormal."""
    if not isinstance(item, Apply) or item.dtype != float32:
        return Fact()
    if item.op.kind is Kind.CONVERSION:
        return _cast_fact(item.sources[0])
    if item.sources[0] != float32:
        return Fact()
    values = item.op.values
    return Fact(None if values.never_subnormal else FLUSHED, values.below)


def _cast_fact(source: DType) -> Fact:
    """Return what is known of a number of another dtype: most have none that is subnormal as float32."""
    if source.kind in "biu" or source == float16:
        return Fact(None, 1 if source.kind == "b" else 8 * source.itemsize)
    return Fact()
