"""How the rows of a loop with folds are walked: by how many invocations, in how many parts, held or not.

These decisions follow from the loop's sizes and weight, and from the device's limits; the figures behind the numbers
are in design note 0017. :mod:`gpuarray.codegen.folds` emits what is decided here.
"""

from dataclasses import dataclass
from typing import Final

from gpuarray.codegen.accumulators import Accumulator
from gpuarray.codegen.loops import is_heavy, makes_vec4, needs_vec4
from gpuarray.codegen.storage import LANES
from gpuarray.codegen.teams import uses_subgroups
from gpuarray.codegen.wgsl import WORKGROUP
from gpuarray.device import Capabilities
from gpuarray.fusion.costs import operations
from gpuarray.fusion.steps import FULL, Fold, Load, Loop, Store, Take
from gpuarray.graph.layouts import contiguous_strides

#: How many walkers keep a device busy, workgroups and single invocations; more rows than that are not split.
BUSY_GROUPS: Final = 4096
BUSY_THREADS: Final = 1 << 17
#: Rows up to this long are for one invocation each.
SHORT_ROW: Final = 16
#: Rows that are walked several times, and are from this long on, are for the largest workgroups.
LONG_ROW: Final = 1 << 15
#: How many invocations hold a row, and how many times four elements each at most: in the order of preference. Large
#: teams with few elements each have barriers to wait for, small ones with many elements have few of them on the way.
_REGISTER_SHAPES: Final = ((8, 1), (16, 1), (32, 4), (128, 2), (256, 4), (512, 6), (1024, 8))
#: How many rows that lie side by side a workgroup has at least, and how many invocations at most.
_INTERLEAVED_ROWS: Final = 32
_INTERLEAVED_INVOCATIONS: Final = 1024
#: How many bytes of one value a workgroup holds at most: half of what registers are on common devices.
_REGISTER_BYTES: Final = 1 << 17
#: How many times four elements an invocation takes at once on a walk, unless they weigh more than this altogether.
_UNROLL: Final = 2
_UNROLL_WEIGHT: Final = 128


@dataclass(frozen=True)
class RowSchedule:
    """How a loop's rows are walked."""

    team: int
    """How many invocations walk a row together."""
    splits: int = 1
    """How many teams walk a row, whose columns they take in turn."""
    wide: bool = False
    """Whether columns are taken four neighbours at a time."""
    ragged: bool = False
    """Whether the last four of a walk may be fewer."""
    unroll: int = 0
    """How many times four columns an invocation takes at once; 0 leaves it at one column, or four neighbours."""
    in_registers: bool = False
    """Whether that is the whole row: each element is then read, and computed, once."""
    interleaved: bool = False
    """Whether the rows of a workgroup lie side by side: invocations that read neighbours belong to different rows."""
    fills_team: bool = False
    """Whether a held row fills its team, so that no element is beyond the end."""

    @property
    def workgroup(self) -> int:
        """How many invocations a workgroup has."""
        return max(self.team * (_INTERLEAVED_ROWS if self.interleaved else 1), WORKGROUP)


def schedule_rows(loop: Loop, capabilities: Capabilities) -> RowSchedule:
    """Decide how a loop's rows are walked."""
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
    # not by how many rows there are: that would be 3 % faster, and change a row's bits
    splits = min(max(1, columns // (unit * 4)), BUSY_GROUPS) if one_walk else 1
    # a row that only its being alone aligns is folded as among others
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
    """Return how many invocations of a workgroup walk each of its rows, which lie side by side."""
    if loop.columns <= SHORT_ROW or 9 * loop.rows < 8 * (-(-loop.rows // _INTERLEAVED_ROWS) * _INTERLEAVED_ROWS):
        return 1  # single invocations take parts of rows one after the other, and none is idle
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
    """Return how many invocations hold a row of a loop, and how many times four elements each; None if none do."""
    most = largest_team(loop, capabilities)
    heaviest = capabilities.profile.register_weight
    widest = max((max(i.dtype.itemsize, 4) for i in loop.instructions if i.level == FULL), default=4)
    if is_one_walk(loop):  # which reads all of its operands before it computes
        widest = max(widest, _read_bytes(loop))
    for team, largest in _REGISTER_SHAPES:
        unroll = -(-loop.columns // (team * LANES))
        if team > most or unroll > largest:
            continue
        if team * unroll * LANES * widest <= _REGISTER_BYTES and unroll * LANES * weighs <= heaviest:
            return (team, unroll) if loop.columns else None
    return None


def _read_bytes(loop: Loop) -> int:
    """Return how many bytes of registers the operands of an element take."""
    return sum(max(i.dtype.itemsize, 4) for i in loop.instructions if isinstance(i, Load) and i.level == FULL)


def largest_team(loop: Loop, capabilities: Capabilities) -> int:
    """Return how many invocations may fold a row of a loop together."""
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
    """Return the phase in which a value is there to be used."""
    return loop.phases[value] + isinstance(loop.instructions[value], Fold)


def _is_for_invocations(loop: Loop) -> bool:
    """Whether single invocations walk rows: where those are short, or their neighbours lie side by side."""
    if loop.columns <= SHORT_ROW:
        return True
    along = across = 0
    for item in (*loop.instructions, *loop.stores):
        if isinstance(item, Load | Store) and item.level == FULL and item.layout.strides:
            along += abs(item.layout.strides[-1]) == 1
            across += len(loop.outer) > 0 and abs(item.layout.strides[len(loop.outer) - 1]) == 1
    return across > along


def _is_wide(loop: Loop) -> bool:
    """Whether every access along the rows is to four aligned neighbours."""
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
    """Whether a loop needs to see each column once: then a row may be folded in parts."""
    return not any(loop.phases[n] for n in loop.folds) and not any(_late_full(loop))
