"""Matrix products by tiles: the text of a kernel in which a workgroup makes one tile of a result.

The workgroup walks along the folded axis. Of each piece of it, the invocations bring a tile of both operands into
workgroup memory, along whichever axis lies side by side in memory; then each invocation multiplies what its own patch
of the result needs, four columns at a time. The next tiles are on their way into registers meanwhile.

Values are held as one or two *planes* of plain numbers: the parts of complex numbers, and the words of 64-bit integers
on devices without them, lie apart, so that every arithmetic is one of vectors of four.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from gpuarray.codegen.dialect import PAIRS, compute_type
from gpuarray.codegen.storage import LANES, Access
from gpuarray.codegen.wgsl import Kernel
from gpuarray.dtypes import DType
from gpuarray.graph.layouts import Layout

#: Elements between the rows of a tile that is stored across: neighbours then fall into different banks.
PAD: Final = 4
#: How a warp's invocations share a tile: eight columns of patches, four rows, so that what they read is read once.
_WARP: Final = 32
_WARP_ACROSS: Final = 8


@dataclass(frozen=True, slots=True)
class Tiling:
    """The sizes of a kernel's text: no matrix is in it."""

    rows: int
    columns: int
    depth: int
    """The tile of the result, and how far it walks at a time."""
    patch_rows: int
    patch_columns: int
    """What an invocation makes: multiples of four."""
    unrolled: bool = True
    """Whether the walk over a tile's depth is written out."""
    block: int = 0
    """After how much of the depth sums are added to totals; 0 for never."""

    @property
    def across(self) -> int:
        """Invocations along the columns of a tile."""
        return self.columns // self.patch_columns

    @property
    def invocations(self) -> int:
        """Size of the workgroup."""
        return self.across * (self.rows // self.patch_rows)

    def shared_bytes(self, dtype: DType) -> int:
        """Return the workgroup memory that the tiles of both operands take."""
        arithmetic = Arithmetic(dtype)
        return arithmetic.planes * self.depth * (self.rows + self.columns + 2 * PAD) * arithmetic.nbytes


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How sums of products of a dtype are computed: on planes of components."""

    dtype: DType

    @property
    def component(self) -> str:
        """The WGSL type of the numbers in a plane."""
        held = compute_type(self.dtype)
        return {"bool": "u32", "c64": "f32", "c128": "f64"}.get(held, "u32" if held in PAIRS else held)

    @property
    def planes(self) -> int:
        """How many numbers a value is."""
        held = compute_type(self.dtype)
        return 2 if held in ("c64", "c128", *PAIRS) else 1

    @property
    def nbytes(self) -> int:
        """Bytes of a component."""
        return 8 if self.component in ("f64", "i64", "u64") else 4

    @property
    def quad(self) -> str:
        """The WGSL type of four components."""
        return f"vec4<{self.component}>"

    def parts(self, value: str) -> list[str]:
        """Return the components of a value held in a register."""
        if self.planes == 2:
            return [f"{value}.x", f"{value}.y"]
        return [f"select(0u, 1u, {value})"] if self.dtype.kind == "b" else [value]

    def whole(self, parts: Sequence[str]) -> str:
        """Return the value that components make."""
        if self.planes == 2:
            return f"vec2<{self.component}>({', '.join(parts)})"
        return f"({parts[0]} != 0u)" if self.dtype.kind == "b" else parts[0]

    def multiply_add(self, sums: Sequence[str], factor: Sequence[str], quad: Sequence[str]) -> list[str]:
        """Return the statements that add a value times four values to four sums, each given by its planes."""
        floating = self.component in ("f32", "f64")
        if self.planes == 1:
            (total,), (a,), (b,) = sums, factor, quad
            return [f"{total} = fma({self.quad}({a}), {b}, {total});" if floating else f"{total} += {a} * {b};"]
        (low, high), (a, c), (b, d) = sums, factor, quad
        if floating:
            return [
                f"{low} = fma({self.quad}({a}), {b}, fma({self.quad}(-{c}), {d}, {low}));",
                f"{high} = fma({self.quad}({a}), {d}, fma({self.quad}({c}), {b}, {high}));",
            ]
        return [
            f"{{ let product = {a} * {b}; {low} += product;",
            f"{high} += high_words({a}, {b}) + {a} * {d} + {c} * {b} + select(vec4<u32>(), vec4<u32>(1u), "
            f"{low} < product); }}",
        ]

    @property
    def functions(self) -> list[str]:
        """The functions that the statements call."""
        if self.planes == 1 or self.component != "u32":
            return []
        return [
            "fn high_words(a: u32, b: vec4<u32>) -> vec4<u32> {",
            "  let low = (a & 0xffffu) * (b & vec4<u32>(0xffffu));",
            "  let first = (a >> 16u) * (b & vec4<u32>(0xffffu)) + (low >> vec4<u32>(16u));",
            "  let second = (a & 0xffffu) * (b >> vec4<u32>(16u)) + (first & vec4<u32>(0xffffu));",
            "  return (a >> 16u) * (b >> vec4<u32>(16u)) + (first >> vec4<u32>(16u)) + (second >> vec4<u32>(16u));",
            "}",
        ]


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand as a tile sees it: its edge of the tile, and how it is read."""

    access: Access
    layout: Layout
    """Over (plane, along the edge, along the depth), from where the binding begins."""
    edge: str
    """The name of the edge: ``top`` or ``left``; the tile's first position along it has that name."""
    extent: str
    size: int
    """Of the tile along the edge."""

    @property
    def deep(self) -> bool:
        """Whether neighbours along the depth are the nearer ones in memory."""
        _, along, deep = self.layout.strides
        return abs(deep) < abs(along) or self.layout.shape[1] == 1

    @property
    def name(self) -> str:
        """Of the tile in workgroup memory."""
        return f"{self.edge}_tile"

    @property
    def pitch(self) -> int:
        """Elements from one row of the tile to the next."""
        return self.size + (PAD if self.deep else 0)


def is_wide(layout: Layout) -> bool:
    """Whether an operand's layout, over (plane, edge, depth), can be read four neighbours at a time."""
    shape, strides = layout.shape, layout.strides
    fast = 2 if abs(strides[2]) < abs(strides[1]) or shape[1] == 1 else 1
    others = [s for axis, s in enumerate(strides) if axis != fast and shape[axis] > 1]
    return (
        strides[fast] == 1
        and shape[fast] % LANES == 0
        and layout.offset % LANES == 0
        and all(s % LANES == 0 for s in others)
    )


@dataclass
class TileKernel:
    """Emits the walk of one kernel; the statements before it name ``plane``, ``top``, ``left``, ``begin`` and ``end``.

    ``begin`` and ``end`` say which part of the depth is folded.
    """

    kernel: Kernel
    tiling: Tiling
    dtype: DType
    operands: tuple[Operand, Operand]
    arithmetic: Arithmetic = field(init=False)

    def __post_init__(self) -> None:
        self.arithmetic = Arithmetic(self.dtype)

    def emit(self) -> None:
        """Emit the tiles, the sums and the walk."""
        kernel, tiling, arithmetic = self.kernel, self.tiling, self.arithmetic
        kernel.workgroup = tiling.invocations
        kernel.module += arithmetic.functions
        for operand in self.operands:
            quads = arithmetic.planes * tiling.depth * operand.pitch // LANES
            kernel.module.append(f"var<workgroup> {operand.name}: array<{arithmetic.quad}, {quads}>;")
        self._patch_position()
        fetches = [self._fetch(operand) for operand in self.operands]
        for name in self.sums():
            kernel.line(f"var {name}: {arithmetic.quad};")
            if tiling.block:
                kernel.line(f"var total_{name}: {arithmetic.quad};")
        kernel.line("var start = begin;", *(line for fetch in fetches for line in fetch[0]), "loop {")
        kernel.line(*(line for fetch in fetches for line in fetch[1]), "workgroupBarrier();")
        kernel.line(f"start += {tiling.depth}u;", *(line for fetch in fetches for line in fetch[0]))
        self._multiply()
        if tiling.block:
            kernel.line(f"if ((start - begin) % {tiling.block}u == 0u) {{")
            kernel.line(*(f"total_{name} += {name}; {name} = {arithmetic.quad}();" for name in self.sums()), "}")
        kernel.line("if (start >= end) { break; }", "workgroupBarrier();", "}")
        if tiling.block:
            kernel.line(*(f"{name} += total_{name};" for name in self.sums()))

    # -- what the invocation makes -------------------------------------------------------------------------------------

    def sums(self) -> list[str]:
        """Return the names of the accumulators."""
        return [name for _, _, names in self.patch() for name in names]

    def patch(self) -> list[tuple[str, str, list[str]]]:
        """Return the quads that an invocation makes: row and column in the tile, and the names of their planes."""
        tiling = self.tiling
        found = []
        for i in range(tiling.patch_rows):
            row = f"{i // LANES * self._step(tiling.rows, tiling.patch_rows) + i % LANES}u + y * {LANES}u"
            for j in range(tiling.patch_columns // LANES):
                column = f"{j * self._step(tiling.columns, tiling.patch_columns)}u + x * {LANES}u"
                found.append((row, column, [f"sum{p}_{i}_{j}" for p in range(self.arithmetic.planes)]))
        return found

    @staticmethod
    def _step(extent: int, patch: int) -> int:
        """Return how far apart the quads of a patch are: neighbours in the tile are neighbouring invocations'."""
        return extent // (patch // LANES)

    def _patch_position(self) -> None:
        across, kernel = self.tiling.across, self.kernel
        if across % _WARP_ACROSS == 0 and self.tiling.invocations % _WARP == 0:
            warps = across // _WARP_ACROSS
            kernel.line(
                f"let x = (local / {_WARP}u) % {warps}u * {_WARP_ACROSS}u + local % {_WARP_ACROSS}u;",
                f"let y = local / {_WARP * warps}u * {_WARP // _WARP_ACROSS}u + local % {_WARP}u / {_WARP_ACROSS}u;",
            )
        else:
            kernel.line(f"let x = local % {across}u;", f"let y = local / {across}u;")

    def _multiply(self) -> None:
        tiling, kernel = self.tiling, self.kernel
        if tiling.unrolled:
            for k in range(tiling.depth):
                kernel.line("{", *self._products(f"{k}u"), "}")
            return
        kernel.line(f"for (var k = 0u; k < {tiling.depth}u; k++) {{", *self._products("k"), "}")

    def _products(self, k: str) -> list[str]:
        """Return the statements of one step along the depth, number ``k`` of a tile."""
        tiling, planes = self.tiling, range(self.arithmetic.planes)
        left, right = self.operands
        lines = []
        for operand, letter, place, patch in (
            (left, "a", "y", tiling.patch_rows), (right, "b", "x", tiling.patch_columns),
        ):  # fmt: skip
            step = self._step(operand.size, patch) // LANES
            for p in planes:
                base = p * tiling.depth * operand.pitch // LANES
                for n in range(patch // LANES):
                    where = f"{base + n * step}u + {k} * {operand.pitch // LANES}u + {place}"
                    lines.append(f"let {letter}{p}_{n} = {operand.name}[{where}];")
        for i in range(tiling.patch_rows):
            factor = [f"a{p}_{i // LANES}.{'xyzw'[i % LANES]}" for p in planes]
            for j in range(tiling.patch_columns // LANES):
                sums = [f"sum{p}_{i}_{j}" for p in planes]
                lines += self.arithmetic.multiply_add(sums, factor, [f"b{p}_{j}" for p in planes])
        return lines

    # -- tiles ---------------------------------------------------------------------------------------------------------

    def _fetch(self, operand: Operand) -> tuple[list[str], list[str]]:
        """Emit where an invocation finds its part of a tile; return the statements that read it, and that keep it."""
        tiling, kernel, arithmetic = self.tiling, self.kernel, self.arithmetic
        wide = operand.access.wide
        unit = LANES if wide else 1
        fast = tiling.depth if operand.deep else operand.size
        slow = operand.size if operand.deep else tiling.depth
        units = fast // unit
        parts = units * slow
        rounds = -(-parts // tiling.invocations)
        plane, along, deep = (kernel.word(s) for s in operand.layout.strides)
        origin = kernel.word(operand.layout.offset)
        held = arithmetic.quad if wide else arithmetic.component
        planes = range(arithmetic.planes)
        reads: list[str] = []
        keeps: list[str] = []
        name = operand.edge
        kernel.line(f"let {name}_plane = {origin} + plane * {plane};")
        for s in range(rounds):
            n, d, e, at = (f"{name}_{letter}{s}" for letter in "ndeo")
            kernel.line(f"let {n} = local + {s * tiling.invocations}u;")
            first, second = (d, e) if operand.deep else (e, d)
            kernel.line(f"let {first} = {n} % {units}u * {unit}u; let {second} = {n} / {units}u;")
            # beyond the edge anything will do, as long as it is there: what comes of it is not stored
            last = f"{operand.extent} - {1 if operand.deep else unit}u"
            kernel.line(f"let {at} = {name}_plane + min({operand.edge} + {e}, {last}) * {along} + {d} * {deep};")
            mine = "" if parts % tiling.invocations == 0 else f"{n} < {parts}u"
            values = [f"{name}_v{p}_{s}" for p in planes]
            kernel.line(*(f"var {value}: {held};" for value in values))
            reads.append(f"{' '.join(f'{value} = {held}();' for value in values)}")
            reads.append(f"if ({f'{mine} && ' if mine else ''}start + {d} < end) {{")
            index = f"{at} + start * {deep}"
            if wide:
                lines, lanes = operand.access.load_wide(f"({index}) / {LANES}u", "loaded")
                split = [arithmetic.parts(lane) for lane in lanes]
                reads += lines
                reads += [f"{v} = {held}({', '.join(part[p] for part in split)});" for p, v in enumerate(values)]
            else:
                reads += [f"let loaded = {operand.access.load(index)};"]
                reads += [f"{v} = {part};" for v, part in zip(values, arithmetic.parts("loaded"), strict=True)]
            reads.append("}")
            keep = self._keep(operand, values, d, e, wide=wide)
            keeps += [f"if ({mine}) {{", *keep, "}"] if mine else keep
        return reads, keeps

    def _keep(self, operand: Operand, values: Sequence[str], d: str, e: str, *, wide: bool) -> list[str]:
        """Return the statements that put what was read into the tile."""
        lines = []
        for p, value in enumerate(values):
            base = p * self.tiling.depth * operand.pitch // LANES
            quads = operand.pitch // LANES
            if wide and not operand.deep:
                lines.append(f"{operand.name}[{base}u + {d} * {quads}u + {e} / {LANES}u] = {value};")
            elif wide:
                for lane in range(LANES):
                    place = f"{base}u + ({d} + {lane}u) * {quads}u + {e} / {LANES}u"
                    lines.append(f"{operand.name}[{place}][{e} % {LANES}u] = {value}.{'xyzw'[lane]};")
            else:
                lines.append(f"{operand.name}[{base}u + {d} * {quads}u + {e} / {LANES}u][{e} % {LANES}u] = {value};")
        return lines
