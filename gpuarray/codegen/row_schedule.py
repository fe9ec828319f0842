"""Row schedules: how many invocations fold each row of a loop, in how many parts, and whether it stays in registers.

A schedule follows from the loop's sizes and cost and from the device's limits; design note 0017 has the measurements
behind the constants. They decide in which order the elements of a row are added, so they are the same for all GPUs.
:mod:`gpuarray.codegen.folds` emits what is decided here.
"""

from dataclasses import dataclass
from typing import Final

from gpuarray.codegen.accumulators import Accumulator
from gpuarray.codegen.collectives import uses_subgroups
from gpuarray.codegen.loops import is_heavy, makes_vec4, needs_vec4
from gpuarray.codegen.storage import LANES
from gpuarray.codegen.wgsl import WORKGROUP
from gpuarray.device import Capabilities
from gpuarray.fusion.costs import operations
from gpuarray.fusion.steps import FULL, Fold, Load, Loop, Store, Take
from gpuarray.graph.layouts import contiguous_strides

#: Workgroups, and single invocations, that keep any device busy; more rows than that are not split.
BUSY_GROUPS: Final = 4096
BUSY_THREADS: Final = 1 << 17
#: Rows of at most this many elements are folded by one invocation each.
SHORT_ROW: Final = 16
#: Rows of at least this many elements that are read several times are folded by the largest workgroups.
LONG_ROW: Final = 1 << 15
#: Invocations that keep a row in registers, and the most vectors of four elements for each, in order of preference.
#: Large teams with few elements wait at barriers; small teams with many elements have few loads in flight.
_REGISTER_SHAPES: Final = ((8, 1), (16, 1), (32, 4), (128, 2), (256, 4), (512, 6), (1024, 8))
#: The least number of interleaved rows of a workgroup, and its most invocations.
_INTERLEAVED_ROWS: Final = 32
_INTERLEAVED_INVOCATIONS: Final = 1024
#: Most bytes of one value that a workgroup keeps in registers: half of the registers of common devices.
_REGISTER_BYTES: Final = 1 << 17
#: How many vectors of four elements an invocation takes in each turn of its loop over a row, and the most simple
#: operations on them. Rows that cost more are not unrolled.
_UNROLL: Final = 2
_UNROLL_WEIGHT: Final = 128


@dataclass(frozen=True)
class RowSchedule:
    """How the rows of a loop are folded."""

    team: int
    """Invocations that fold a row together."""
    splits: int = 1
    """Teams that fold a row: each takes every ``splits``-th piece of its columns."""
    wide: bool = False
    """Whether columns are read four neighbours at a time."""
    ragged: bool = False
    """Whether the last vector of four may have fewer elements."""
    unroll: int = 0
    """Vectors of four columns in each turn of an invocation's loop; 0 for one column, or four neighbours if wide."""
    in_registers: bool = False
    """Whether one turn takes the whole row, so that each element is read and computed once."""
    interleaved: bool = False
    """Whether neighbouring invocations belong to different rows, which lie side by side in memory."""
    fills_team: bool = False
    """Whether a row in registers has exactly as many elements as its team, so that none is beyond the end."""

    @property
    def workgroup(self) -> int:
        """How many invocations a workgroup has."""
        return max(self.team * (_INTERLEAVED_ROWS if self.interleaved else 1), WORKGROUP)


def schedule_rows(loop: Loop, capabilities: Capabilities) -> RowSchedule:
    """Return how the rows of a loop are folded on a device."""
    columns, row_count = loop.columns, max(loop.rows, 1)
    one_walk = is_one_walk(loop)
    items = [i for i in loop.instructions if i.level == FULL]
    weighs = operations(items) + len(items)
    light = weighs * _UNROLL * LANES <= _UNROLL_WEIGHT
    heavy, fits = is_heavy(loop, capabilities), columns >= 2 * _UNROLL * LANES
    unroll = 0 if heavy or not fits else _UNROLL if light else 1
    if _is_for_invocations(loop):
        team = _interleaved_team(loop, unroll, capabilities)
        most = max(1, columns // (32 * team))
        splits = min(most, max(1, BUSY_THREADS // (row_count * team))) if one_walk else 1
        return RowSchedule(team, splits, interleaved=team > 1, unroll=unroll)
    wide = _is_wide(loop) and (not heavy or needs_vec4(loop))
    hold = _register_shape(loop, weighs, capabilities)
    team, unit = WORKGROUP, WORKGROUP * LANES
    if not one_walk and columns >= LONG_ROW:
        team = largest_team(loop, capabilities)
    # independent of the number of rows: to depend on it is 3 % faster, but changes the bits of a row
    splits = min(max(1, columns // (unit * 4)), BUSY_GROUPS) if one_walk else 1
    # a single row is aligned whatever its length; it is folded as it would be among others
    wide = wide and (columns % LANES == 0 or (hold is None and splits > 1))
    unroll = 0 if wide and unroll == 1 else unroll
    if hold is not None:
        team, unroll = hold
        return RowSchedule(
            team,
            wide=wide,
            ragged=not wide,
            unroll=unroll,
            in_registers=True,
            fills_team=team * unroll * LANES == columns,
        )
    return RowSchedule(team, splits, wide=wide, ragged=wide and columns % LANES != 0, unroll=unroll)


def _interleaved_team(loop: Loop, unroll: int, capabilities: Capabilities) -> int:
    """Return how many invocations fold each of the interleaved rows of a workgroup."""
    if loop.columns <= SHORT_ROW or 9 * loop.rows < 8 * (-(-loop.rows // _INTERLEAVED_ROWS) * _INTERLEAVED_ROWS):
        return 1  # single invocations take parts of rows in turn, so none is idle
    folds = (Accumulator(f, n) for n, f in enumerate(loop.instructions) if isinstance(f, Fold))
    held = sum(max(kind.itemsize, 4) for own in folds for kind in own.states.values())
    most = (
        min(capabilities.workgroup_size, _INTERLEAVED_INVOCATIONS, capabilities.workgroup_memory // held)
        // _INTERLEAVED_ROWS
    )
    team, least = 1, 4 * LANES * max(unroll, 1)
    while team < most and loop.rows * team < BUSY_THREADS and loop.columns >= least * team:
        team *= 2
    return team


def _register_shape(loop: Loop, weighs: int, capabilities: Capabilities) -> tuple[int, int] | None:
    """Return the team that keeps a row in registers, and its vectors of four; None if no team can."""
    most = largest_team(loop, capabilities)
    heaviest = capabilities.profile.register_weight
    widest = max((max(i.dtype.itemsize, 4) for i in loop.instructions if i.level == FULL), default=4)
    if is_one_walk(loop):  # all operands are read before anything is computed
        widest = max(widest, _read_bytes(loop))
    for team, largest in _REGISTER_SHAPES:
        unroll = -(-loop.columns // (team * LANES))
        if team > most or unroll > largest:
            continue
        if team * unroll * LANES * widest <= _REGISTER_BYTES and unroll * LANES * weighs <= heaviest:
            return (team, unroll) if loop.columns else None
    return None


def _read_bytes(loop: Loop) -> int:
    """Return the bytes of registers for the operands of one element."""
    return sum(max(i.dtype.itemsize, 4) for i in loop.instructions if isinstance(i, Load) and i.level == FULL)


def largest_team(loop: Loop, capabilities: Capabilities) -> int:
    """Return the most invocations that may fold a row of a loop together."""
    if capabilities.workgroup_size < 1024:
        return WORKGROUP
    folds = (Accumulator(f, n) for n, f in enumerate(loop.instructions) if isinstance(f, Fold))
    return 1024 if all(uses_subgroups(own.states.values(), capabilities) for own in folds) else WORKGROUP


def _late_full(loop: Loop) -> list[bool]:
    values = loop.instructions
    late = [p > 0 for item, p in zip(values, loop.phases, strict=True) if item.level == FULL]
    late += [s.level == FULL and phase_after(loop, s.value) > 0 for s in loop.stores]
    return late


def phase_after(loop: Loop, value: int) -> int:
    """Return the phase from which on a value can be used."""
    return loop.phases[value] + isinstance(loop.instructions[value], Fold)


def _is_for_invocations(loop: Loop) -> bool:
    """Whether single invocations fold rows: short ones, and rows that lie side by side."""
    if loop.columns <= SHORT_ROW:
        return True
    along = across = 0
    for item in (*loop.instructions, *loop.stores):
        if isinstance(item, Load | Store) and item.level == FULL and item.layout.strides:
            along += abs(item.layout.strides[-1]) == 1
            across += len(loop.outer) > 0 and abs(item.layout.strides[len(loop.outer) - 1]) == 1
    return across > along


def _is_wide(loop: Loop) -> bool:
    """Whether every load and store along the rows can take four aligned neighbours."""
    rank = len(loop.outer)
    found = False
    slots: set[tuple[str, int]] = set()
    for item in (*loop.instructions, *loop.stores):
        if isinstance(item, Take):
            return False
        found = found or makes_vec4(loop, item)
        if not isinstance(item, Load | Store):
            continue
        key = ("output" if isinstance(item, Store) else "input", item.slot)
        if item.level != FULL:
            slots.add(key)
            continue
        steps, extents = item.layout.strides[rank:], item.layout.shape[rank:]
        aligned = item.layout.offset % LANES == 0 and all(
            s % LANES == 0 for s, n in zip(item.layout.strides[:rank], item.layout.shape, strict=False) if n > 1
        )
        if steps != contiguous_strides(extents) or not aligned:
            return False
        if isinstance(item, Store) and loop.columns % LANES:
            return False
        found = True
    full = {
        ("output" if isinstance(x, Store) else "input", x.slot)
        for x in (*loop.instructions, *loop.stores)
        if isinstance(x, Load | Store) and x.level == FULL
    }
    return found and not full & slots


def is_one_walk(loop: Loop) -> bool:
    """Whether a loop reads each column once, so that a row may be folded in parts."""
    return not any(loop.phases[n] for n in loop.folds) and not any(_late_full(loop))
