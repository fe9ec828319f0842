"""Batches of matrix products as kernels.

A product is cut into tiles, one a workgroup (:mod:`gpuarray.codegen.tiles`). Where there are too few tiles to keep a
device busy, the depth is split among several workgroups, whose partial sums a second kernel adds in a fixed order. A
product with a column is a fold over rows, and made as one. Operands are read through any strides, so that
transposes and broadcast batches need no copy.

Which tiles, and how many parts, is :func:`choose`: a function of sizes, dtype and device alone.
"""

from dataclasses import dataclass, replace
from math import log2, prod, sqrt
from typing import Final, assert_never

from gpuarray.adapter_profile import AdapterProfile
from gpuarray.codegen import casts
from gpuarray.codegen.folds import row_program
from gpuarray.codegen.loops import add_epilogue, add_fast_path_epilogue, add_prologue
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.storage import LANES, Access, Pairs, word_dtype
from gpuarray.codegen.target import binding_limit
from gpuarray.codegen.tiles import Arithmetic, Operand, TileKernel, Tiling, is_wide
from gpuarray.codegen.wgsl import (
    WINDOW_END,
    WINDOW_START,
    WORKGROUP,
    Kernel,
    combine_expression,
    window,
    window_bytes,
)
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.costs import operations
from gpuarray.fusion.lowering import collapse_loop
from gpuarray.fusion.steps import (
    FULL,
    OUTER,
    UNIFORM,
    Apply,
    ContractStep,
    Fold,
    Index,
    Instruction,
    Load,
    Loop,
    Scalar,
    Store,
    Take,
)
from gpuarray.graph.layouts import Layout, Shape, contiguous, permute, reshape
from gpuarray.ops import elementwise as rows
from gpuarray.ops import reductions


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tiling, and what of a device's arithmetic it reaches where all of the device is busy."""

    tiling: Tiling
    speed: float
    together: int = 2
    """How many of its workgroups a device's unit has at a time."""


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
#: On a processor's cores texts that are written out take long to compile, and many variables do not stay in registers.
_SOFTWARE: Final = (Candidate(Tiling(32, 32, 8, 4, 4, unrolled=False), 1.0, together=1),)
#: Sums of no more floating-point products than this are one after the other; longer ones are added in blocks, of which
#: this is the shortest: one after the other they would err more than NumPy's, by the root of their number.
_BLOCK: Final = 256

#: How many steps of its walk along the depth a tile could take while it begins and ends.
_START: Final = 5
#: A part of the depth is no shorter than this, and partial sums take no more bytes.
_SHORTEST_PART: Final = 128
_MOST_SCRATCH: Final = 1 << 28

#: What follows a product and weighs no more than this is in the text of a kernel for each of an invocation's results.
_LIGHT: Final = 16


@dataclass(frozen=True, slots=True)
class Choice:
    """How a product is cut: its tiles, and the parts of their depth."""

    tiling: Tiling
    splits: int
    whole: int = 0
    """How many tiles, the first ones, are made in one part all the same."""


def candidates(dtype: DType, capabilities: Capabilities, depth: int = 1) -> list[Candidate]:
    """Return the tilings whose workgroups a device can run, for sums of ``depth`` products of ``dtype``."""
    arithmetic = Arithmetic(dtype)
    profile = capabilities.profile
    table = _CANDIDATES[arithmetic.nbytes, arithmetic.planes] if profile.unrolled_products else _SOFTWARE
    known = dict(profile.product_speeds)
    found = []
    for candidate in (*table, _SMALLEST):
        tiling = candidate.tiling
        if tiling.shared_bytes(dtype) > capabilities.workgroup_memory:
            continue
        if tiling.invocations <= capabilities.workgroup_size:
            speed = known.get(name_of(tiling, dtype), candidate.speed)
            found.append(replace(candidate, tiling=_blocked(tiling, dtype, depth), speed=speed))
    return found


def _blocked(tiling: Tiling, dtype: DType, depth: int) -> Tiling:
    """Return a tiling for sums of ``depth`` products, with the length of blocks, a power of two, that errs least.

    If all products have one sign, sums of blocks err by their lengths, and totals by the root of how many there are.
    """
    length = max(_BLOCK, 1 << round(log2(max(1, depth**2 / 2)) / 3))
    block = length * tiling.slices
    return replace(tiling, block=block if dtype.kind in "fc" and depth > block else 0)


def name_of(tiling: Tiling, dtype: DType) -> str:
    """Return by which name the speed of a tiling is recorded."""
    teams = f" in {tiling.slices}" if tiling.slices > 1 else ""
    patch = f"{tiling.patch_rows}x{tiling.patch_columns}"
    return f"{dtype.name} {tiling.rows}x{tiling.columns}x{tiling.depth} by {patch}{teams}"


def _walked(tiling: Tiling, depth: int) -> int:
    """Return how many multiplications a workgroup could make while it makes one tile of a product of ``depth``."""
    return tiling.rows * tiling.columns * (depth + _START * tiling.depth // tiling.slices)


def _tile_time(candidate: Candidate, depth: int, profile: AdapterProfile) -> float:
    """Return the time of one tile, in microseconds, on a unit that is full."""
    return _walked(candidate.tiling, depth) / (profile.unit_rate * candidate.speed)


def _elapsed(candidate: Candidate, tiles: int, depth: int, profile: AdapterProfile) -> float:
    """Return the time of so many tiles, in microseconds.

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


def units_of(candidate: Candidate, size: int, elapsed: float, depth: int, alone: float) -> int:
    """Return how many units make the estimates of two measured times agree.

    Parameters
    ----------
    candidate : Candidate
        The tiling of both.
    size, elapsed : int, float
        The side of a square product of many tiles, and its time.
    depth, alone : int, float
        The depth of a product of one tile, and its time.
    """
    tiling = candidate.tiling
    tiles = -(-size // tiling.rows) * -(-size // tiling.columns)
    each = alone * _walked(tiling, size) / _walked(tiling, depth) / sqrt(candidate.together)
    return max(1, round(tiles * each / elapsed))


def choose(batch: int, height: int, width: int, depth: int, dtype: DType, capabilities: Capabilities) -> Choice:
    """Return how a batch of products of (height, depth) and (depth, width) is cut: what is estimated to end first."""
    profile = capabilities.profile
    limit = min(_MOST_SCRATCH, capabilities.binding_limit - WINDOW_END)
    held = word_dtype(dtype).itemsize
    ways: list[tuple[float, Tiling, int, int]] = []

    def try_parts(candidate: Candidate, elapsed: float, splits: int, whole: int, cut: int) -> None:
        """Add a way to cut some tiles into parts, unless these take too much memory."""
        tiling = candidate.tiling
        nbytes = cut * splits * tiling.rows * tiling.columns * held
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
            # what units do not have equally many of is cut finer, where blocks end: all tiles' sums have the same bits
            splits = -(-depth // tiling.block)
            elapsed = (tiles - cut) / profile.units * _tile_time(candidate, depth, profile)
            elapsed += cut * splits / profile.units * _tile_time(candidate, tiling.block, profile)
            try_parts(candidate, elapsed, splits, tiles - cut, cut)
    _, tiling, splits, whole = min(ways, key=lambda way: way[0])
    return Choice(tiling if whole else _blocked(tiling, dtype, -(-depth // splits)), splits, whole)


def product_program(step: ContractStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a batch of matrix products."""
    batch, height, depth = step.left.shape
    width = step.right.shape[2]
    loop = _as_fold(step) if width == 1 and depth and step.prologues == (None, None) else None
    if loop is not None:
        return row_program(loop, label, capabilities)
    return tiled_program(step, choose(batch, height, width, depth, step.dtype, capabilities), label, capabilities)


def tiled_program(step: ContractStep, choice: Choice, label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a batch of matrix products that is cut as ``choice`` says."""
    work = _Product(step, choice, label, capabilities)
    if work.splits == 1:
        return Program((work.tiles(),))
    return Program((work.tiles(), work.end()), (work.scratch_bytes,))


class _Product:
    """The kernels of one product."""

    def __init__(self, step: ContractStep, choice: Choice, label: str, capabilities: Capabilities) -> None:
        self.step, self.choice, self.label, self.capabilities = step, choice, label, capabilities
        self.batch, self.height, self.depth = step.left.shape
        self.width = step.right.shape[2]
        self.held = word_dtype(step.dtype)
        tiling = choice.tiling
        self.down, self.across = -(-self.height // tiling.rows), -(-self.width // tiling.columns)
        self.cut = self.batch * self.down * self.across - choice.whole
        """Tiles whose depth several workgroups share."""
        # parts begin where tiles do, and those of some of the tiles where blocks do: all have the same bits then
        self.part = tiling.block if choice.whole else -(-self.depth // (choice.splits * tiling.depth)) * tiling.depth
        self.splits = -(-self.depth // self.part) if choice.splits > 1 and self.depth else 1
        elements = self.cut * self.splits * tiling.rows * tiling.columns
        self.scratch_bytes = -(-elements * self.held.itemsize // WINDOW_END) * WINDOW_END

    # -- the tiles -----------------------------------------------------------------------------------------------------

    def tiles(self) -> Launch:
        """Return the launch that makes the tiles, or their parts."""
        tiling, splits, whole = self.choice.tiling, self.splits, self.choice.whole
        kernel = Kernel(self.label if splits == 1 else f"{self.label} parts")
        groups = whole + self.cut * splits
        operands = self._operand(kernel, 0, "top", "height"), self._operand(kernel, 1, "left", "width")
        results = self._result_store(kernel, quick=True) if splits == 1 or whole else None
        kernel.line("let block = group.x + group.y * groups.x;")
        kernel.line(f"if (block >= {kernel.parameter(groups)}) {{ return; }}")
        kernel.line("var tile = block;", "var begin = 0u;")
        self._sizes(kernel)
        kernel.line(f"let depth = {kernel.parameter(self.depth)};", "var end = depth;")
        if splits > 1:
            lines = [
                f"let split = (block - whole) / {kernel.parameter(self.cut)};",
                f"tile = block - split * {kernel.parameter(self.cut)};",
                f"begin = split * {kernel.parameter(self.part)};",
                f"end = min(begin + {kernel.parameter(self.part)}, depth);",
                f"part = ((tile - whole) * {kernel.parameter(splits)} + split) * {tiling.rows * tiling.columns}u;",
            ]
            kernel.line(
                f"let whole = {kernel.parameter(whole)};", "var part = 0u;", "if (block >= whole) {", *lines, "}"
            )
        self._place(kernel)
        even = self.depth > 0 and self.depth % tiling.depth == 0
        walk = TileKernel(kernel, tiling, self.step.dtype, operands, even)
        walk.emit()
        if splits > 1:
            partial = kernel.bind(Access("scratch0", self.held, True, True), self._scratch(writable=True))
            kernel.line("if (block >= whole) {", *self._partial_stores(walk, partial), "return; }")
        if results is not None:
            self._stores(kernel, walk, results)
        return kernel.launch(groups, self.capabilities.workgroup_limit)

    def _sizes(self, kernel: Kernel) -> None:
        numbers = {"height": self.height, "width": self.width, "across": self.across, "down": self.down}
        kernel.line(*(f"let {name} = {kernel.parameter(value)};" for name, value in numbers.items()))

    def _place(self, kernel: Kernel) -> None:
        """Emit where a tile is."""
        tiling = self.choice.tiling
        kernel.line(
            "let plane = tile / (across * down);",
            "let place = tile - plane * across * down;",
            f"let top = place / across * {tiling.rows}u;",
            f"let left = place % across * {tiling.columns}u;",
            "let base = plane * height;",
        )

    def _operand(self, kernel: Kernel, slot: int, edge: str, extent: str) -> Operand:
        step, tiling = self.step, self.choice.tiling
        layout = step.left if slot == 0 else permute(step.right, (0, 2, 1))
        size = tiling.rows if slot == 0 else tiling.columns
        prologue = step.prologues[slot]
        if prologue is not None:
            return Operand(
                add_prologue(kernel, prologue, f"{edge}_value", wide=is_wide(layout)), layout, edge, extent, size
            )
        slot, dtype = (0, step.reads - 1)[slot], step.dtype
        low, high = layout.bounds()
        binding, origin = window("input", slot, low, max(high, 0), dtype, writable=False)
        here = Layout(layout.shape, layout.strides, layout.offset - origin)
        wide = is_wide(here)
        access = (Pairs if wide and dtype.itemsize == 8 else Access)(f"input{slot}", dtype, wide, False)
        # where several bindings show it they overlap by a tile, so that one of them shows all of each
        steps = zip(here.strides[1:], (size - 1, tiling.depth - 1), strict=True)
        tile = -(-(sum(abs(s) * n for s, n in steps) + LANES) * dtype.itemsize // WINDOW_START) * WINDOW_START
        each = window_bytes(binding_limit())
        apart = each - tile
        if binding.nbytes <= each or apart < tile:
            return Operand(kernel.show(access, binding), here, edge, extent, size)
        access = replace(access, windows=-(-(binding.nbytes - tile) // apart))
        kernel.bind_parts(access, binding, apart)
        return Operand(access, here, edge, extent, size, apart // dtype.itemsize)

    def _stores(self, kernel: Kernel, walk: TileKernel, store: "_Store") -> None:
        """Emit the stores of an invocation's patch."""
        arithmetic = walk.arithmetic
        patch = walk.patch()
        names = [f"found{p}" for p in range(arithmetic.planes)]
        values = [
            casts.wrap_expression(arithmetic.whole([f"{name}.{'xyzw'[lane]}" for name in names]), self.step.dtype)
            for lane in range(LANES)
        ]
        statements = ["let first = (base + row) * width + column;", *store.statements(values)]
        inside = "if (row < height && column < width) {"
        if store.quick:
            kernel.line("var fine = true;")
        if not store.once:
            quick = ["let first = (base + row) * width + column;", *store.statements(values, quick=store.quick)]
            for row, column, sums in patch:
                lets = [f"let {target} = {name};" for target, name in zip(names, sums, strict=True)]
                here = f"let row = top + {row}; let column = left + {column};"
                kernel.line("{", here, inside, *lets, *quick, "} }")
        if store.once or store.quick:
            # the whole text is there once
            kernel.line("if (!fine) {" if store.quick else "{")
            kernel.line(f"for (var n = 0u; n < {len(patch)}u; n++) {{")
            kernel.line(*(f"var {name}: {arithmetic.quad};" for name in names), "var row = top; var column = left;")
            kernel.line("switch n {")
            for n, (row, column, sums) in enumerate(patch):
                case = f"case {n}u: {{" if n + 1 < len(patch) else "default: {"
                takes = [f"{target} = {name};" for target, name in zip(names, sums, strict=True)]
                kernel.line(f"{case} row += {row}; column += {column}; {' '.join(takes)} }}")
            kernel.line("}", inside, *statements, "} } }")

    def _partial_stores(self, walk: TileKernel, access: Access) -> list[str]:
        """Return the stores of an invocation's patch of a part: tiles lie one after the other, whole."""
        held, columns = Arithmetic(self.held), self.choice.tiling.columns
        lines = []
        for row, column, sums in walk.patch():
            values = [held.whole([f"{name}.{'xyzw'[lane]}" for name in sums]) for lane in range(LANES)]
            lines += access.store_wide(f"(part + ({row}) * {columns}u + {column}) / {LANES}u", values)
        return lines

    def _result_store(self, kernel: Kernel, *, quick: bool = False) -> "_Store":
        """Bind what results go to, or what follows them, with a ``quick`` form for those that are written out."""
        aligned, epilogue = self.width % LANES == 0, self.step.epilogue
        if epilogue is not None:
            work = add_epilogue(kernel, epilogue, self.step.reads, lanes=LANES, aligned=aligned)
            once = operations(epilogue.instructions) > _LIGHT
            return _Store(None, once, quick=quick and not once and add_fast_path_epilogue(work))
        size = self.batch * self.height * self.width
        binding, _ = window("output", 0, 0, size - 1, self.step.dtype, writable=True)
        return _Store(kernel.show(Access("output0", self.step.dtype, aligned, True), binding), False)

    def _scratch(self, *, writable: bool) -> Binding:
        return Binding("scratch", 0, 0, self.scratch_bytes, writable)

    # -- their parts ---------------------------------------------------------------------------------------------------

    def end(self) -> Launch:
        """Return the launch that adds the parts, and goes on with the sums."""
        tiling, step = self.choice.tiling, self.step
        area, quads = tiling.rows * tiling.columns, self.cut * tiling.rows * tiling.columns // LANES
        kernel = Kernel(f"{self.label} end")
        access = kernel.bind(Access("scratch0", self.held, True, False), self._scratch(writable=False))
        store = self._result_store(kernel)
        kernel.line(
            "let block = group.x + group.y * groups.x;",
            f"let quad = block * {WORKGROUP}u + local;",
            f"if (quad >= {kernel.parameter(quads)}) {{ return; }}",
            f"let cut = quad / {area // LANES}u;",
            f"let inside = quad % {area // LANES}u * {LANES}u;",
            f"let tile = {kernel.parameter(self.choice.whole)} + cut;",
        )
        self._sizes(kernel)
        self._place(kernel)
        kernel.line(
            f"let row = top + inside / {tiling.columns}u; let column = left + inside % {tiling.columns}u;",
            "if (row >= height || column >= width) { return; }",
            f"let splits = {kernel.parameter(self.splits)};",
            *(f"var sum{lane} = {casts.literal(0, self.held)};" for lane in range(LANES)),
            "for (var split = 0u; split < splits; split++) {",
        )
        lines, values = access.load_wide(f"((cut * splits + split) * {area}u + inside) / {LANES}u", "part")
        kernel.line(*lines)
        for lane, value in enumerate(values):
            kernel.line(f"sum{lane} = {combine_expression(rows.add, f'sum{lane}', value, self.held)};")
        kernel.line("}", "let first = (base + row) * width + column;")
        found = [f"sum{lane}" for lane in range(LANES)]
        if step.dtype.kind == "b":
            found = [f"({name} != 0u)" for name in found]
        kernel.line(*store.statements([casts.wrap_expression(name, step.dtype) for name in found]))
        return kernel.launch(-(-quads // WORKGROUP), self.capabilities.workgroup_limit)


@dataclass(frozen=True, slots=True)
class _Store:
    """Where four neighbouring values go: to a binding, or to what follows."""

    access: Access | None
    once: bool
    """Whether the statements are so long that they should stand in a text once."""
    quick: bool = False
    """Whether what follows has a quick form, after which ``fine`` says whether it was right."""

    def statements(self, values: list[str], *, quick: bool = False) -> list[str]:
        """Return the statements that store values from the flat index ``first`` on, those in the same row."""
        stop = "(base + row) * width + width"
        if quick:
            found = f"fast_path_finish(first, min(first + {LANES}u, {stop}), {', '.join(values)})"
            return [f"let answer = {found};", "fine = fine & answer;"]
        if self.access is None:
            return [f"finish(first, min(first + {LANES}u, {stop}), {', '.join(values)});"]
        if self.access.wide:
            return self.access.store_wide(f"first / {LANES}u", values)
        lines = [self.access.store(f"first + {lane}u", value) for lane, value in enumerate(values)]
        return [line if lane == 0 else f"if (first + {lane}u < {stop}) {{ {line} }}" for lane, line in enumerate(lines)]


def _as_fold(step: ContractStep) -> Loop | None:
    """Return a product as a loop with one fold, which suits a column; None if what follows does not fit one."""
    batch, height, depth = step.left.shape
    width = step.right.shape[2]
    outer = (batch, height, width)
    dtype, held = step.dtype, word_dtype(step.dtype) if step.dtype.kind != "b" else step.dtype
    items: list[Instruction] = []
    for slot, layout in enumerate((step.left, step.right)):
        plane, first, second = layout.strides
        strides = (plane, first, 0, second) if slot == 0 else (plane, 0, second, first)
        extent = layout.bounds()[1] + 1
        items.append(Load(slot, Layout((*outer, depth), strides, layout.offset), extent, dtype, FULL))
        items.append(Apply(rows.cast, (len(items) - 1,), (dtype,), held, FULL))
    items.append(Apply(rows.multiply, (1, 3), (held, held), held, FULL))
    items.append(Fold(reductions.any if dtype.kind == "b" else reductions.sum, 4, held, dtype))
    phases = [0] * len(items)
    stores: list[Store] = [Store(0, 5, contiguous(outer), prod(outer), dtype, OUTER)]
    if step.epilogue is not None:
        if any(store.position is not None for store in step.epilogue.stores):
            return None
        numbers: dict[int, int] = {}
        for number, item in enumerate(step.epilogue.instructions):
            if isinstance(item, Load) and item.slot == 0:
                numbers[number] = 5
                continue
            moved = _by_row(item, numbers, outer)
            if moved is None:
                return None
            numbers[number] = len(items)
            operands = (
                moved.operands if isinstance(moved, Apply) else (moved.position,) if isinstance(moved, Take) else ()
            )
            phases.append(max((phases[o] + (o == 5) for o in operands), default=0))
            items.append(moved)
        stores = []
        for store in step.epilogue.stores:
            place = _expanded(store.layout, outer)
            if place is None:
                return None
            stores.append(replace(store, value=numbers[store.value], layout=place, level=OUTER))
    loop = Loop(
        outer, (depth,), tuple(items), tuple(stores), step.input_dtypes, step.output_dtypes, step.scalar_dtypes,
        tuple(phases),
    )  # fmt: skip
    return collapse_loop(loop)


def _by_row(item: Instruction, numbers: dict[int, int], outer: Shape) -> Instruction | None:
    """Return an instruction of what follows a product as one of a loop over it; None if it has no layout there."""
    level = UNIFORM if item.level == UNIFORM else OUTER
    match item:
        case Apply():
            return replace(item, operands=tuple(numbers[o] for o in item.operands), level=level)
        case Take():
            return replace(item, slot=item.slot + 1, position=numbers[item.position], level=level)
        case Load() | Index():
            layout = _expanded(item.layout, outer)
            if layout is None:
                return None
            moved = replace(item, layout=layout, level=level)
            return replace(moved, slot=moved.slot + 1) if isinstance(moved, Load) else moved
        case Scalar():
            return item
        case Fold():
            return None
        case _:
            assert_never(item)


def _expanded(layout: Layout, outer: Shape) -> Layout | None:
    """Return a layout over merged axes as one over the axes themselves."""
    return Layout(outer, (0,) * len(outer), layout.offset) if layout.shape == () else reshape(layout, outer)
