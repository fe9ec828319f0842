"""Row schedules: how many invocations reduce a row, in how many parts, and whether it stays in registers.

A schedule follows from the loop's sizes and cost and from the device's limits; design note 0017 has the measurements
behind the constants. They decide in which order the elements of a row are added, so they are the same for all GPUs.
:mod:`gpuarray.codegen.reductions` emits what is decided here.
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
from gpuarray.fusion.steps import FULL, Fold, Index, Load, Loop, Store, Take
from gpuarray.graph.layouts import contiguous_strides
from gpuarray.graph.moving import is_multiple

#: Number of workgroups, and of single invocations, that occupy any device. With more rows, rows are not split.
BUSY_GROUPS: Final = 4096
BUSY_THREADS: Final = 1 << 17
#: Rows of at most this many elements are reduced by one invocation each.
SHORT_ROW: Final = 16
#: Rows of at least this many elements that are read more than once are reduced by the largest workgroups.
LONG_ROW: Final = 1 << 15
#: Invocations that keep a row in registers, and the most vectors of four elements for each, in order of preference.
#: Many invocations with few elements each wait at barriers; few with many elements have few loads in flight.
_REGISTER_SHAPES: Final = ((8, 1), (16, 1), (32, 4), (128, 2), (256, 4), (512, 6), (1024, 8))
#: The least number of interleaved rows of a workgroup, and its most invocations.
_INTERLEAVED_ROWS: Final = 32
_INTERLEAVED_INVOCATIONS: Final = 1024
#: Most bytes of one value that a workgroup keeps in registers: half of the registers of common devices.
_REGISTER_BYTES: Final = 1 << 17
#: Vectors of four elements in each iteration of the loop over a row, and the most simple operations on them. Rows
#: that cost more are not unrolled.
_UNROLL: Final = 2
_UNROLL_WEIGHT: Final = 128


@dataclass(frozen=True)
class RowSchedule:
    """How the rows of a loop are reduced."""

    invocations: int
    """Number of invocations in the group that reduces a row."""
    splits: int = 1
    """Number of groups that reduce a row: each takes every ``splits``-th piece of its columns."""
    wide: bool = False
    """Whether columns are read as vectors of four neighbours."""
    ragged: bool = False
    """Whether the last vector of four may have fewer elements."""
    unroll: int = 0
    """Vectors of four columns in each iteration; 0 for one column, or for one vector if ``wide``."""
    in_registers: bool = False
    """Whether the whole row stays in registers, so that each element is read and computed once."""
    interleaved: bool = False
    """Whether neighbouring invocations belong to different rows, whose elements are neighbours in memory."""
    fills_invocations: bool = False
    """Whether a row fills the registers of its group exactly, so that no element is beyond the end."""

    @property
    def workgroup(self) -> int:
        """Number of invocations of a workgroup."""
        return max(self.invocations * (_INTERLEAVED_ROWS if self.interleaved else 1), WORKGROUP)


def schedule_rows(loop: Loop, capabilities: Capabilities) -> RowSchedule:
    """Return the schedule of a loop's rows on a device."""
    columns, row_count = loop.columns, max(loop.rows, 1)
    single_pass = is_single_pass(loop)
    items = [i for i in loop.instructions if i.level == FULL]
    weight = operations(items) + len(items)
    light = weight * _UNROLL * LANES <= _UNROLL_WEIGHT
    heavy, fits = is_heavy(loop, capabilities), columns >= 2 * _UNROLL * LANES
    unroll = 0 if heavy or not fits else _UNROLL if light else 1
    if _is_for_invocations(loop):
        if not heavy and LANES <= columns < 2 * _UNROLL * LANES and _takes(loop):
            unroll = 1  # the elements of small windows are read together
        group = _interleaved_invocations(loop, unroll, capabilities)
        most = max(1, columns // (32 * group))
        splits = min(most, max(1, BUSY_THREADS // (row_count * group))) if single_pass else 1
        return RowSchedule(group, splits, interleaved=group > 1, unroll=unroll)
    wide = _is_wide(loop) and (not heavy or needs_vec4(loop))
    registers = _register_shape(loop, weight, capabilities)
    group, unit = WORKGROUP, WORKGROUP * LANES
    if not single_pass and columns >= LONG_ROW:
        group = most_invocations(loop, capabilities)
    # independent of the number of rows: to depend on it is 3 % faster, but changes the bits of a row
    splits = min(max(1, columns // (unit * 4)), BUSY_GROUPS) if single_pass else 1
    # a single row is aligned whatever its length; it is reduced as it would be among others
    wide = wide and (columns % LANES == 0 or (registers is None and splits > 1))
    unroll = 0 if wide and unroll == 1 else unroll
    if registers is not None:
        group, unroll = registers
        return RowSchedule(
            group,
            wide=wide,
            ragged=not wide,
            unroll=unroll,
            in_registers=True,
            fills_invocations=group * unroll * LANES == columns,
        )
    return RowSchedule(group, splits, wide=wide, ragged=wide and columns % LANES != 0, unroll=unroll)


def _interleaved_invocations(loop: Loop, unroll: int, capabilities: Capabilities) -> int:
    """Return how many invocations reduce each of the interleaved rows of a workgroup."""
    if loop.columns <= SHORT_ROW or 9 * loop.rows < 8 * (-(-loop.rows // _INTERLEAVED_ROWS) * _INTERLEAVED_ROWS):
        return 1  # single invocations take parts of rows in turn, so none is idle
    folds = (Accumulator(f, n) for n, f in enumerate(loop.instructions) if isinstance(f, Fold))
    nbytes = sum(max(kind.itemsize, 4) for fold in folds for kind in fold.states.values())
    most = (
        min(capabilities.workgroup_size, _INTERLEAVED_INVOCATIONS, capabilities.workgroup_memory // nbytes)
        // _INTERLEAVED_ROWS
    )
    group, least = 1, 4 * LANES * max(unroll, 1)
    while group < most and loop.rows * group < BUSY_THREADS and loop.columns >= least * group:
        group *= 2
    return group


def _register_shape(loop: Loop, weight: int, capabilities: Capabilities) -> tuple[int, int] | None:
    """Return the invocations that keep a row in registers, and the vectors of four of each; None if none can."""
    most = most_invocations(loop, capabilities)
    heaviest = capabilities.profile.register_weight
    widest = max((max(i.dtype.itemsize, 4) for i in loop.instructions if i.level == FULL), default=4)
    if is_single_pass(loop):  # all operands are read before anything is computed
        widest = max(widest, _read_bytes(loop))
    for group, largest in _REGISTER_SHAPES:
        unroll = -(-loop.columns // (group * LANES))
        if group > most or unroll > largest:
            continue
        if group * unroll * LANES * widest <= _REGISTER_BYTES and unroll * LANES * weight <= heaviest:
            return (group, unroll) if loop.columns else None
    return None


def _read_bytes(loop: Loop) -> int:
    """Return the bytes of registers for the operands of one element."""
    return sum(max(i.dtype.itemsize, 4) for i in loop.instructions if isinstance(i, Load) and i.level == FULL)


def most_invocations(loop: Loop, capabilities: Capabilities) -> int:
    """Return the most invocations that may reduce a row of a loop together."""
    if capabilities.workgroup_size < 1024:
        return WORKGROUP
    folds = (Accumulator(f, n) for n, f in enumerate(loop.instructions) if isinstance(f, Fold))
    return 1024 if all(uses_subgroups(fold.states.values(), capabilities) for fold in folds) else WORKGROUP


def _late_full(loop: Loop) -> list[bool]:
    values = loop.instructions
    late = [p > 0 for item, p in zip(values, loop.phases, strict=True) if item.level == FULL]
    late += [s.level == FULL and phase_after(loop, s.value) > 0 for s in loop.stores]
    return late


def phase_after(loop: Loop, value: int) -> int:
    """Return the phase from which on a value can be used."""
    return loop.phases[value] + isinstance(loop.instructions[value], Fold)


def _is_for_invocations(loop: Loop) -> bool:
    """Return whether single invocations reduce rows: short rows, windows, and rows interleaved in memory."""
    if loop.columns <= SHORT_ROW or _reads_windows(loop):
        return True
    along = across = 0
    for item in loop.laid_out_at(FULL):
        is_shared = not any(item.layout.strides[: len(loop.outer)])  # all rows read the same
        if not isinstance(item, Index) and item.layout.strides and not is_shared:
            along += abs(item.layout.strides[-1]) == 1
            across += len(loop.outer) > 0 and abs(item.layout.strides[len(loop.outer) - 1]) == 1
    # where nothing is contiguous along rows, neighbouring rows are more likely to take neighbouring elements
    return across > along or (not along and _takes(loop))


def _takes(loop: Loop) -> bool:
    return any(isinstance(item, Take) and item.level == FULL for item in loop.instructions)


def _reads_windows(loop: Loop) -> bool:
    """Return whether rows are overlapping windows: a step to the next row is a step along the row."""
    rank = len(loop.outer)
    for item in loop.laid_out_at(FULL):
        if isinstance(item, Load) and item.layout.strides:
            steps = [abs(s) if n > 1 else 0 for s, n in zip(item.layout.strides, item.layout.shape, strict=True)]
            if {*steps[:rank]} & {*steps[rank:]} - {0}:
                return True
    return False


def _is_wide(loop: Loop) -> bool:
    """Return whether every load and store along the rows can be a vector of four aligned neighbours."""
    rank = len(loop.outer)
    is_wide = False
    slots: set[tuple[str, int]] = set()
    for item in (*loop.instructions, *loop.stores):
        if isinstance(item, Take):
            return False
        is_wide = is_wide or makes_vec4(loop, item)
        if not isinstance(item, Load | Store):
            continue
        if item.level != FULL:
            slots.add(item.key)
            continue
        steps, extents = item.layout.strides[rank:], item.layout.shape[rank:]
        aligned = is_multiple(item.layout.offset, LANES) and all(
            s % LANES == 0 for s, n in zip(item.layout.strides[:rank], item.layout.shape, strict=False) if n > 1
        )
        if steps != contiguous_strides(extents) or not aligned:
            return False
        if isinstance(item, Store) and loop.columns % LANES:
            return False
        is_wide = True
    full = {x.key for x in loop.laid_out_at(FULL) if not isinstance(x, Index)}
    return is_wide and not full & slots


def is_single_pass(loop: Loop) -> bool:
    """Return whether a loop reads each column once, so that rows may be reduced in parts."""
    return not any(loop.phases[n] for n in loop.folds) and not any(_late_full(loop))
