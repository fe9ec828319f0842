"""Choice of the tiles of a matrix product, and of how many workgroups share the depth of a tile.

:func:`choose` estimates how long each way takes and takes the fastest. The estimate is a function of sizes, dtype and
the adapter's profile alone, so that equal products always have equal bits on a device.
"""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

from gpuarray.adapter_profile import AdapterProfile
from gpuarray.codegen.planes import Arithmetic
from gpuarray.codegen.storage import word_dtype
from gpuarray.codegen.tiles import Tiling
from gpuarray.codegen.wgsl import WINDOW_END
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tiling, and the share of a busy device's arithmetic that it reaches."""

    tiling: Tiling
    speed: float
    together: int = 2
    """How many of its workgroups a compute unit runs at a time."""


#: By the bytes of a component and the planes of a value. The speeds are those of an H100, in float32
#: multiplications of full units; :attr:`AdapterProfile.product_speeds` has those of an adapter that was measured.
_CANDIDATES: Final = {
    (4, 1): (
        Candidate(Tiling(64, 128, 16, 8, 8), 0.82),
        Candidate(Tiling(64, 128, 8, 8, 8), 0.75, together=4),
        Candidate(Tiling(64, 64, 16, 8, 8, slices=2), 0.72),
        Candidate(Tiling(64, 64, 16, 4, 4), 0.55),
        Candidate(Tiling(32, 64, 32, 8, 8, slices=4), 0.5, together=3),
        Candidate(Tiling(32, 32, 32, 4, 4), 0.22),
        Candidate(Tiling(256, 16, 16, 4, 4), 0.6, together=4),
        Candidate(Tiling(16, 256, 16, 4, 4), 0.6, together=4),
        Candidate(Tiling(4, 512, 8, 4, 4), 0.25, together=4),
    ),
    (4, 2): (
        Candidate(Tiling(64, 64, 16, 8, 4), 0.207, together=3),
        Candidate(Tiling(64, 64, 8, 8, 4), 0.2, together=3),
        Candidate(Tiling(32, 32, 16, 4, 4), 0.12),
        Candidate(Tiling(128, 16, 8, 4, 4), 0.06),
        Candidate(Tiling(16, 128, 8, 4, 4), 0.06),
    ),
    (8, 1): (
        Candidate(Tiling(128, 64, 8, 8, 4), 0.385),
        Candidate(Tiling(64, 64, 8, 8, 4), 0.37, together=3),
        Candidate(Tiling(32, 32, 16, 4, 4), 0.12),
        Candidate(Tiling(128, 16, 8, 4, 4), 0.06),
        Candidate(Tiling(16, 128, 8, 4, 4), 0.06),
    ),
    (8, 2): (
        Candidate(Tiling(64, 64, 8, 4, 4), 0.09),
        Candidate(Tiling(32, 32, 8, 4, 4), 0.08),
        Candidate(Tiling(128, 16, 4, 4, 4), 0.02),
        Candidate(Tiling(16, 128, 4, 4, 4), 0.02),
    ),
}

#: Where workgroups have little memory.
_SMALLEST: Final = Candidate(Tiling(16, 16, 8, 4, 4), 0.01)

#: Software devices take long to compile unrolled loops, and have few registers.
_SOFTWARE: Final = (Candidate(Tiling(32, 32, 8, 4, 4, unrolled=False), 1.0, together=1),)

#: The least depth of a block. Longer sums of floating-point products are sums of blocks: added one after the other they
#: would err more than NumPy's, by the root of their number.
_BLOCK: Final = 256

#: The steps along the depth that a tile could take in the time of its start and end.
_START: Final = 5

#: The least depth of a part, and the most bytes of partial sums.
_SHORTEST_PART: Final = 128

_MOST_SCRATCH: Final = 1 << 28


@dataclass(frozen=True, slots=True)
class Choice:
    """The tiles of a product, and how many parts the depth of a tile has."""

    tiling: Tiling
    splits: int
    whole: int = 0
    """How many of the first tiles have one part nevertheless."""


def candidates(dtype: DType, capabilities: Capabilities, depth: int = 1) -> list[Candidate]:
    """Return the tilings that a device can run, for sums of ``depth`` products of ``dtype``."""
    arithmetic = Arithmetic(dtype)
    profile = capabilities.profile
    table = _CANDIDATES[arithmetic.nbytes, arithmetic.planes] if profile.unrolled_products else _SOFTWARE
    known = dict(profile.product_speeds)
    choices = []
    for candidate in (*table, _SMALLEST):
        tiling = candidate.tiling
        if tiling.shared_bytes(dtype) > capabilities.workgroup_memory:
            continue
        if tiling.invocations <= capabilities.workgroup_size:
            speed = known.get(name_of(tiling, dtype), candidate.speed)
            choices.append(replace(candidate, tiling=_blocked(tiling, dtype, depth), speed=speed))
    return choices


def _blocked(tiling: Tiling, dtype: DType, depth: int) -> Tiling:
    """Return a tiling with the depth of blocks, a power of two, for which sums of ``depth`` products err least.

    For products of one sign, the sum of a block errs in proportion to its depth, and the total in proportion to the
    root of the number of blocks. So the best depth is the cube root of ``depth**2 / 2``.
    """
    length, fourth = _BLOCK, depth * depth * (depth * depth)
    while fourth > 32 * length**6:  # nearer to the next power
        length *= 2
    block = length * tiling.slices
    return replace(tiling, block=block if dtype.kind in "fc" and depth > block else 0)


def name_of(tiling: Tiling, dtype: DType) -> str:
    """Return the name under which the speed of a tiling is recorded."""
    sliced = f" in {tiling.slices}" if tiling.slices > 1 else ""
    patch = f"{tiling.patch_rows}x{tiling.patch_columns}"
    return f"{dtype.name} {tiling.rows}x{tiling.columns}x{tiling.depth} by {patch}{sliced}"


def _walked(tiling: Tiling, depth: int) -> int:
    """Return how many multiplications a workgroup could make while it makes one tile of a product of ``depth``."""
    return tiling.rows * tiling.columns * (depth + _START * tiling.depth // tiling.slices)


def _tile_time(candidate: Candidate, depth: int, profile: AdapterProfile) -> float:
    """Return the time of one tile, in microseconds, on a unit that is full."""
    return _walked(candidate.tiling, depth) / (profile.unit_rate * candidate.speed)


def _elapsed(candidate: Candidate, tiles: int, depth: int, profile: AdapterProfile) -> float:
    """Return the time of a number of tiles, in microseconds.

    Units take a wave of workgroups at a time, and the last wave takes as long as any. A unit that is not full is slower
    than a full one, but its workgroups are faster.
    """
    each, together, units = _tile_time(candidate, depth, profile), candidate.together, profile.units
    if tiles > units * together:
        return each * together * -(-tiles // (units * together))
    return each * sqrt(-(-tiles // units) * together)


def speed_of(candidate: Candidate, size: int, elapsed: float, profile: AdapterProfile) -> float:
    """Return the speed with which :func:`choose` estimates what a square product took, in nanoseconds."""
    tiling = candidate.tiling
    tiles = -(-size // tiling.rows) * -(-size // tiling.columns)
    return _elapsed(replace(candidate, speed=1.0), tiles, size, profile) / (elapsed / 1e3)


def choose(batch: int, height: int, width: int, depth: int, dtype: DType, capabilities: Capabilities) -> Choice:
    """Return the choice with the least estimated time for a batch of products of (height, depth) and (depth, width)."""
    profile = capabilities.profile
    limit = min(_MOST_SCRATCH, capabilities.binding_limit - WINDOW_END)
    itemsize = word_dtype(dtype).itemsize
    ways: list[tuple[float, Tiling, int, int]] = []

    def try_parts(candidate: Candidate, elapsed: float, splits: int, whole: int, cut: int) -> None:
        """Add a way to split some tiles into parts, unless the partial sums take too much memory."""
        tiling = candidate.tiling
        nbytes = cut * splits * tiling.rows * tiling.columns * itemsize
        if nbytes <= limit:
            added = profile.launch_time + 2 * nbytes / profile.bandwidth
            ways.append((elapsed + added, tiling, splits, whole))

    for candidate in candidates(dtype, capabilities, depth):
        tiling = candidate.tiling
        tiles = batch * -(-height // tiling.rows) * -(-width // tiling.columns)
        wave = profile.units * candidate.together
        ways.append((_elapsed(candidate, tiles, depth, profile), tiling, 1, 0))
        most = min(depth // _SHORTEST_PART, 4 * wave // max(tiles, 1))
        for splits in {1 << n for n in range(1, most.bit_length())} | {wave // max(tiles, 1)}:
            if 1 < splits <= most:
                elapsed = _elapsed(candidate, tiles * splits, -(-depth // splits), profile)
                try_parts(candidate, elapsed, splits, 0, tiles)
        cut = tiles % profile.units
        if tiles > wave and cut and tiling.block and tiling.slices == 1 and not capabilities.is_software:
            # the last tiles, too few for all units, are split at blocks, so that all sums have equal bits
            splits = -(-depth // tiling.block)
            elapsed = (tiles - cut) / profile.units * _tile_time(candidate, depth, profile)
            elapsed += cut * splits / profile.units * _tile_time(candidate, tiling.block, profile)
            try_parts(candidate, elapsed, splits, tiles - cut, cut)
    _, tiling, splits, whole = min(ways, key=lambda way: way[0])
    return Choice(tiling if whole else _blocked(tiling, dtype, -(-depth // splits)), splits, whole)


def fastest_tiling(batch: int, height: int, width: int, depth: int, dtype: DType, capabilities: Capabilities) -> Tiling:
    """Return the tiling with the least estimated time if no tile is shared by several workgroups."""

    def elapsed(candidate: Candidate) -> float:
        tiling = candidate.tiling
        tiles = batch * -(-height // tiling.rows) * -(-width // tiling.columns)
        return _elapsed(candidate, tiles, depth, capabilities.profile)

    return min(candidates(dtype, capabilities, depth), key=elapsed).tiling
