"""Batches of matrix products as kernels.

A product is cut into tiles, one a workgroup (:mod:`gpuarray.codegen.tiles`). Where there are too few tiles to keep a
device busy, the depth is split among several workgroups, whose partial sums a second kernel adds in a fixed order. A
product with a column is a fold over rows, and made as one. Operands are read through any strides, so that
transposes and broadcast batches need no copy.

Which tiles, and how many parts, is :func:`choose`: a function of sizes, dtype and device alone.
"""

from dataclasses import dataclass, replace
from math import prod
from typing import Final, assert_never

from gpuarray import records
from gpuarray.codegen import casts
from gpuarray.codegen.folds import row_program
from gpuarray.codegen.loops import add_epilogue
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.storage import LANES, Access, word_dtype
from gpuarray.codegen.tiles import Arithmetic, Operand, TileKernel, Tiling, is_wide
from gpuarray.codegen.wgsl import WINDOW_END, WORKGROUP, Kernel, combine_expression, window
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
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
    together: int = 1
    """How many of its workgroups a device's unit needs at a time to be that fast."""


#: By the bytes of a component and the planes of a value. The speeds are those of an H100.
_CANDIDATES: Final = {
    (4, 1): (
        Candidate(Tiling(64, 128, 16, 8, 8), 0.67),
        Candidate(Tiling(64, 64, 16, 4, 4), 0.48, together=2),
        Candidate(Tiling(32, 64, 16, 4, 4), 0.42, together=2),
        Candidate(Tiling(32, 32, 32, 4, 4), 0.3, together=2),
        Candidate(Tiling(256, 16, 16, 4, 4), 0.25),
        Candidate(Tiling(16, 256, 16, 4, 4), 0.25),
        Candidate(Tiling(4, 512, 8, 4, 4), 0.25, together=4),
    ),
    (4, 2): (
        Candidate(Tiling(64, 64, 8, 8, 4), 0.15),
        Candidate(Tiling(32, 32, 16, 4, 4), 0.12),
        Candidate(Tiling(128, 16, 8, 4, 4), 0.06),
        Candidate(Tiling(16, 128, 8, 4, 4), 0.06),
    ),
    (8, 1): (
        Candidate(Tiling(64, 64, 8, 8, 4), 0.2),
        Candidate(Tiling(32, 32, 16, 4, 4), 0.12),
        Candidate(Tiling(128, 16, 8, 4, 4), 0.06),
        Candidate(Tiling(16, 128, 8, 4, 4), 0.06),
    ),
    (8, 2): (
        Candidate(Tiling(64, 64, 4, 4, 4), 0.05),
        Candidate(Tiling(32, 32, 8, 4, 4), 0.05),
        Candidate(Tiling(128, 16, 4, 4, 4), 0.02),
        Candidate(Tiling(16, 128, 4, 4, 4), 0.02),
    ),
}
#: Where workgroups have little memory.
_SMALLEST: Final = Candidate(Tiling(16, 16, 8, 4, 4), 0.01)
#: On a processor's cores texts that are written out take long to compile, and many variables do not stay in registers.
_SOFTWARE: Final = (Candidate(Tiling(32, 32, 8, 4, 4, unrolled=False), 1.0),)
#: Sums of more floating-point products than this are added in blocks: one after the other they would err more than
#: NumPy's, by the root of their number.
_BLOCK: Final = 256

#: What the choice counts with: workgroups that run at one time, multiplications of each in a microsecond, bytes that
#: memory moves in one, and microseconds of a further launch.
_UNITS: Final = 128
_MULTIPLICATIONS: Final = 2e5
_BYTES: Final = 2.5e6
_LAUNCH: Final = 12.0
#: A part of the depth is no shorter than this, and partial sums take no more bytes.
_SHORTEST_PART: Final = 128
_MOST_SCRATCH: Final = 1 << 28


#: The kind of record that has the speeds of tilings.
TUNING: Final = "tuning"


@dataclass(frozen=True, slots=True)
class Choice:
    """How a product is cut: its tiles, and the parts of its depth."""

    tiling: Tiling
    splits: int


def candidates(dtype: DType, capabilities: Capabilities, depth: int = 1) -> list[Candidate]:
    """Return the tilings whose workgroups a device can run, for sums of ``depth`` products of ``dtype``."""
    arithmetic = Arithmetic(dtype)
    table = _SOFTWARE if capabilities.kind == "CPU" else _CANDIDATES[arithmetic.nbytes, arithmetic.planes]
    block = _BLOCK if dtype.kind in "fc" and depth > _BLOCK else 0
    known = dict(capabilities.product_speeds)
    speeds = [known.get(name_of(c.tiling, dtype), c.speed) for c in (*table, _SMALLEST)]
    blocked = [
        replace(c, tiling=replace(c.tiling, block=block), speed=speed)
        for c, speed in zip((*table, _SMALLEST), speeds, strict=True)
    ]
    return [c for c in blocked if c.tiling.shared_bytes(dtype) <= capabilities.workgroup_memory]


def name_of(tiling: Tiling, dtype: DType) -> str:
    """Return by which name the speed of a tiling is recorded."""
    patch = f"{tiling.patch_rows}x{tiling.patch_columns}"
    return f"{dtype.name} {tiling.rows}x{tiling.columns}x{tiling.depth} by {patch}"


def speed_of(candidate: Candidate, size: int, elapsed: float) -> float:
    """Return the speed that makes :func:`choose` estimate what a square product took, in nanoseconds."""
    tiling = candidate.tiling
    tiles = -(-size // tiling.rows) * -(-size // tiling.columns)
    waves = -(-tiles // (_UNITS * candidate.together))
    each = elapsed / 1e3 / waves
    return tiling.rows * tiling.columns * size / each * candidate.together / _MULTIPLICATIONS


def tuned(driver: str) -> tuple[tuple[str, float], ...]:
    """Return the recorded speeds of tilings on a driver; empty if there is no sound record."""
    found = records.read(TUNING, driver)
    speeds = [(name, speed) for name, speed in (found or {}).items() if isinstance(speed, float) and speed > 0]
    return tuple(sorted(speeds))


def choose(batch: int, height: int, width: int, depth: int, dtype: DType, capabilities: Capabilities) -> Choice:
    """Return how a batch of products of (height, depth) and (depth, width) is cut: what is estimated to end first."""
    found: list[tuple[float, Choice]] = []
    held = word_dtype(dtype).itemsize
    splits = 1
    while splits == 1 or (splits <= depth // _SHORTEST_PART and splits <= 4 * _UNITS):
        nbytes = splits * batch * height * width * held
        if splits > 1 and nbytes > min(_MOST_SCRATCH, capabilities.binding_limit - WINDOW_END):
            break
        end = _LAUNCH + 2 * nbytes / _BYTES if splits > 1 else 0.0
        part = -(-depth // splits)
        for candidate in candidates(dtype, capabilities, part):
            tiling = candidate.tiling
            tiles = batch * -(-height // tiling.rows) * -(-width // tiling.columns)
            waves = -(-tiles * splits // (_UNITS * candidate.together))
            speed = _MULTIPLICATIONS * candidate.speed / candidate.together
            each = tiling.rows * tiling.columns * part / speed
            found.append((waves * each + end, Choice(tiling, splits)))
        splits *= 2
    return min(found, key=lambda pair: pair[0])[1]


def product_program(step: ContractStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a batch of matrix products."""
    batch, height, depth = step.left.shape
    width = step.right.shape[2]
    loop = _as_fold(step) if width == 1 and depth else None
    if loop is not None:
        return row_program(loop, label, capabilities)
    return tiled_program(step, choose(batch, height, width, depth, step.dtype, capabilities), label, capabilities)


def tiled_program(step: ContractStep, choice: Choice, label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a batch of matrix products that is cut as ``choice`` says."""
    work = _Product(step, choice, label, capabilities)
    if choice.splits == 1:
        return Program((work.tiles(),))
    return Program((work.tiles(), work.end()), (work.scratch_bytes,))


class _Product:
    """The kernels of one product."""

    def __init__(self, step: ContractStep, choice: Choice, label: str, capabilities: Capabilities) -> None:
        self.step, self.choice, self.label, self.capabilities = step, choice, label, capabilities
        self.batch, self.height, self.depth = step.left.shape
        self.width = step.right.shape[2]
        self.size = self.batch * self.height * self.width
        self.held = word_dtype(step.dtype)
        self.scratch_bytes = -(-choice.splits * self.size * self.held.itemsize // WINDOW_END) * WINDOW_END

    # -- the tiles -----------------------------------------------------------------------------------------------------

    def tiles(self) -> Launch:
        """Return the launch that makes the tiles, or their parts."""
        tiling, splits = self.choice.tiling, self.choice.splits
        kernel = Kernel(self.label if splits == 1 else f"{self.label} parts")
        down, across = -(-self.height // tiling.rows), -(-self.width // tiling.columns)
        part = -(-self.depth // (splits * tiling.depth)) * tiling.depth  # parts begin where a tile does
        groups = self.batch * down * across * splits
        operands = self._operand(kernel, 0, "top", "height"), self._operand(kernel, 1, "left", "width")
        aligned = self.width % LANES == 0
        store = self._partial_store(kernel, aligned) if splits > 1 else self._result_store(kernel, aligned)
        numbers = {"height": self.height, "width": self.width, "depth": self.depth, "across": across, "down": down}
        kernel.line("let block = group.x + group.y * groups.x;")
        kernel.line(f"if (block >= {kernel.word(groups)}) {{ return; }}")
        kernel.line(*(f"let {name} = {kernel.word(value)};" for name, value in numbers.items()))
        if splits > 1:
            kernel.line(f"let split = block / {kernel.word(groups // splits)};")
            kernel.line(f"let tile = block - split * {kernel.word(groups // splits)};")
            kernel.line(f"let begin = split * {kernel.word(part)};")
            kernel.line(f"let end = min(begin + {kernel.word(part)}, depth);")
        else:
            kernel.line("let tile = block;", "let begin = 0u;", "let end = depth;")
        kernel.line(
            "let plane = tile / (across * down);",
            "let place = tile - plane * across * down;",
            f"let top = place / across * {tiling.rows}u;",
            f"let left = place % across * {tiling.columns}u;",
        )
        walk = TileKernel(kernel, tiling, self.step.dtype, operands)
        walk.emit()
        kernel.line("let base = plane * height;")
        self._stores(kernel, walk, store)
        return kernel.launch(groups, self.capabilities.workgroup_limit)

    def _operand(self, kernel: Kernel, slot: int, edge: str, extent: str) -> Operand:
        layout = self.step.left if slot == 0 else permute(self.step.right, (0, 2, 1))
        dtype = self.step.input_dtypes[slot]
        low, high = layout.bounds()
        binding, origin = window("input", slot, low, max(high, 0), dtype, writable=False)
        here = Layout(layout.shape, layout.strides, layout.offset - origin)
        access = kernel.bind(Access(f"input{slot}", dtype, is_wide(here), False), binding)
        size = self.choice.tiling.rows if slot == 0 else self.choice.tiling.columns
        return Operand(access, here, edge, extent, size)

    def _stores(self, kernel: Kernel, walk: TileKernel, store: "_Store") -> None:
        """Emit the stores of an invocation's patch; what follows a product is in the text once."""
        arithmetic = walk.arithmetic
        patch = walk.patch()
        values = [self._value(arithmetic, store.names, lane) for lane in range(LANES)]
        statements = ["let first = (base + row) * width + column;", *store.statements(values)]
        inside = "if (row < height && column < width) {"
        if store.once:
            kernel.line(f"for (var n = 0u; n < {len(patch)}u; n++) {{")
            kernel.line(
                *(f"var {name}: {arithmetic.quad};" for name in store.names), "var row = top; var column = left;"
            )
            kernel.line("switch n {")
            for n, (row, column, names) in enumerate(patch):
                case = f"case {n}u: {{" if n + 1 < len(patch) else "default: {"
                takes = [f"{target} = {name};" for target, name in zip(store.names, names, strict=True)]
                kernel.line(f"{case} row += {row}; column += {column}; {' '.join(takes)} }}")
            kernel.line("}", inside, *statements, "} }")
            return
        for row, column, names in patch:
            lets = [f"let {target} = {name};" for target, name in zip(store.names, names, strict=True)]
            kernel.line("{", f"let row = top + {row}; let column = left + {column};", inside, *lets, *statements, "} }")

    def _value(self, arithmetic: Arithmetic, names: list[str], lane: int) -> str:
        """Return one of four values, of which planes have ``names``: as it is stored, or as a part of it."""
        parts = [f"{name}.{'xyzw'[lane]}" for name in names]
        if self.choice.splits > 1:
            return Arithmetic(self.held).whole(parts)
        return casts.wrap_expression(arithmetic.whole(parts), self.step.dtype)

    def _result_store(self, kernel: Kernel, aligned: bool) -> "_Store":
        """Bind what results go to, or what follows them."""
        names = [f"found{p}" for p in range(Arithmetic(self.step.dtype).planes)]
        if self.step.epilogue is not None:
            add_epilogue(kernel, self.step.epilogue, 2, lanes=LANES, aligned=aligned)
            return _Store(names, None, aligned)
        binding, _ = window("output", 0, 0, self.size - 1, self.step.dtype, writable=True)
        return _Store(names, kernel.bind(Access("output0", self.step.dtype, aligned, True), binding), aligned)

    def _partial_store(self, kernel: Kernel, aligned: bool) -> "_Store":
        names = [f"found{p}" for p in range(Arithmetic(self.step.dtype).planes)]
        access = kernel.bind(Access("scratch0", self.held, aligned, True), self._scratch(writable=True))
        return _Store(names, access, aligned, f" + split * {kernel.word(self.size)}")

    def _scratch(self, *, writable: bool) -> Binding:
        return Binding("scratch", 0, 0, self.scratch_bytes, writable)

    # -- their parts ---------------------------------------------------------------------------------------------------

    def end(self) -> Launch:
        """Return the launch that adds the parts, and goes on with the sums."""
        step, aligned = self.step, self.size % LANES == 0
        kernel = Kernel(f"{self.label} end")
        access = kernel.bind(Access("scratch0", self.held, aligned, False), self._scratch(writable=False))
        store = self._result_store(kernel, aligned)
        size, splits = kernel.word(self.size), kernel.word(self.choice.splits)
        kernel.line(
            "let block = group.x + group.y * groups.x;",
            f"let first = (block * {WORKGROUP}u + local) * {LANES}u;",
            f"if (first >= {size}) {{ return; }}",
            f"let stop = {size};",
            *(f"var sum{lane} = {casts.literal(0, self.held)};" for lane in range(LANES)),
            f"for (var split = 0u; split < {splits}; split++) {{",
        )
        if aligned:
            lines, values = access.load_wide(f"(split * {size} + first) / {LANES}u", "part")
            kernel.line(*lines)
        else:
            values = [access.load(f"split * {size} + min(first + {lane}u, {size} - 1u)") for lane in range(LANES)]
        for lane, value in enumerate(values):
            kernel.line(f"sum{lane} = {combine_expression(rows.add, f'sum{lane}', value, self.held)};")
        kernel.line("}")
        found = [f"sum{lane}" for lane in range(LANES)]
        if step.dtype.kind == "b":
            found = [f"({name} != 0u)" for name in found]
        kernel.line(*store.statements([casts.wrap_expression(name, step.dtype) for name in found], "stop"))
        return kernel.launch(-(-self.size // (WORKGROUP * LANES)), self.capabilities.workgroup_limit)


@dataclass(frozen=True, slots=True)
class _Store:
    """Where four neighbouring values go: to a binding, or to what follows."""

    names: list[str]
    """Of the planes of the four values."""
    access: Access | None
    aligned: bool
    shift: str = ""
    """What is added to a flat index."""

    @property
    def once(self) -> bool:
        """Whether the statements are so long that they should stand in a text once."""
        return self.access is None

    def statements(self, values: list[str], stop: str = "(base + row) * width + width") -> list[str]:
        """Return the statements that store values from the flat index ``first`` on, those before ``stop``."""
        if self.access is None:
            return [f"finish(first, min(first + {LANES}u, {stop}), {', '.join(values)});"]
        if self.access.wide:
            return self.access.store_wide(f"(first{self.shift}) / {LANES}u", values)
        lines = [self.access.store(f"first + {lane}u{self.shift}", value) for lane, value in enumerate(values)]
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
