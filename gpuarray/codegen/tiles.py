"""Tiled matrix products: WGSL in which each workgroup computes one tile of the result.

The workgroup loops over the depth, the axis that is summed. In each step its invocations copy a tile of both operands
into workgroup memory, reading along the contiguous axis. Then each invocation computes the products for its patch of
the result, four columns at a time, while the next tiles are being loaded into registers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from gpuarray.codegen.nested_loops import ComputedOperand
from gpuarray.codegen.planes import Arithmetic
from gpuarray.codegen.storage import LANES, Access, Pairs
from gpuarray.codegen.wgsl import Kernel
from gpuarray.dtypes import DType
from gpuarray.graph.layouts import Layout
from gpuarray.graph.moving import is_multiple

#: Elements of padding between the rows of a transposed tile, so that neighbours are in different memory banks.
PAD: Final = 4

#: The invocations of a warp compute eight columns and four rows of patches, so that they share loads.
_WARP: Final = 32

_WARP_ACROSS: Final = 8

_WARP_DOWN: Final = _WARP // _WARP_ACROSS


@dataclass(frozen=True, slots=True)
class Tiling:
    """The sizes that are constants of a kernel. The sizes of the matrices are parameters."""

    rows: int
    columns: int
    depth: int
    """The sides of a tile of the result, and the depth of one step of the loop."""
    patch_rows: int
    patch_columns: int
    """The sides of an invocation's patch, multiples of four."""
    slices: int = 1
    """Number of groups of invocations. Each computes a slice of every step's depth; their sums are added at the end."""
    unrolled: bool = True
    """Whether the loop over the depth of a step is unrolled."""
    block: int = 0
    """The depth after which sums are added to totals; 0 for never."""

    @property
    def across(self) -> int:
        """Invocations along the columns of a tile."""
        return self.columns // self.patch_columns

    @property
    def slice_invocations(self) -> int:
        """Number of invocations of one slice."""
        return self.across * (self.rows // self.patch_rows)

    @property
    def invocations(self) -> int:
        """Size of the workgroup."""
        return self.slices * self.slice_invocations

    def shared_bytes(self, dtype: DType) -> int:
        """Return the bytes of workgroup memory for the tiles of both operands, or for the sums of the slices."""
        arithmetic = Arithmetic(dtype)
        tiles = self.depth * (self.rows + self.columns + 2 * PAD)
        sums = self.rows * self.columns if self.slices > 1 else 0
        return arithmetic.planes * arithmetic.nbytes * max(tiles, sums)


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of a tile, and how a kernel reads it."""

    access: Access | ComputedOperand
    layout: Layout
    """Over (matrix of the batch, position along the edge, depth), relative to the start of the binding."""
    edge: str
    """``"top"`` or ``"left"``: the name in WGSL of the tile's first position along this operand's edge."""
    extent: str
    size: int
    """The side of the tile along the edge."""
    apart: int = 0
    """Elements from the start of one binding to that of the next, if there are several; 0 for one binding."""

    @property
    def deep(self) -> bool:
        """Whether the stride along the depth is smaller than the stride along the edge."""
        _, along, deep = self.layout.strides
        return abs(deep) < abs(along) or self.layout.shape[1] == 1

    @property
    def unit(self) -> int:
        """Number of neighbouring elements that an invocation loads at once: at most sixteen bytes."""
        if not self.access.wide or isinstance(self.access, ComputedOperand):
            return LANES if self.access.wide else 1
        return min(LANES, max(1, 16 // self.access.dtype.itemsize))

    @property
    def pitch(self) -> int:
        """Number of elements between consecutive rows of the tile in workgroup memory."""
        return self.size + (PAD if self.deep else 0)


def is_wide(layout: Layout) -> bool:
    """Return whether a layout over (plane, edge, depth) can be read in vectors of four neighbours."""
    shape, strides = layout.shape, layout.strides
    fast = 2 if abs(strides[2]) < abs(strides[1]) or shape[1] == 1 else 1
    others = [s for axis, s in enumerate(strides) if axis != fast and shape[axis] > 1]
    return (
        strides[fast] == 1
        and shape[fast] % LANES == 0
        and is_multiple(layout.offset, LANES)
        and all(s % LANES == 0 for s in others)
    )


@dataclass
class TileKernel:
    """Emits the sums of a tile.

    The statements before it define ``plane``, the matrix of the batch, ``top`` and ``left``, the tile's first row and
    column, and ``begin`` and ``end``, the part of the depth that is summed. That part is a multiple of the depth of a
    step if ``even``.
    """

    kernel: Kernel
    tiling: Tiling
    dtype: DType
    operands: tuple[Operand, Operand]
    even: bool
    arithmetic: Arithmetic = field(init=False)
    bases: dict[str, int] = field(init=False)
    """Offsets of the operands' tiles in workgroup memory, in vectors of four, by edge."""
    vectors: int = field(init=False)
    """Number of vectors of four in workgroup memory."""

    def __post_init__(self) -> None:
        self.arithmetic = Arithmetic(self.dtype)
        self.bases, self.vectors = {}, 0
        for operand in self.operands:
            self.bases[operand.edge] = self.vectors
            self.vectors += self.arithmetic.planes * self.tiling.depth * operand.pitch // LANES
        if self.tiling.slices > 1:
            self.vectors = max(self.vectors, self.tiling.slice_invocations * len(self._sums()))

    def emit(self) -> None:
        """Emit the declarations and the loop over the depth."""
        kernel, tiling, arithmetic = self.kernel, self.tiling, self.arithmetic
        kernel.workgroup = tiling.invocations
        kernel.module += [*arithmetic.functions, self._memory()]
        self._patch_position()
        fetches = [self._fetch(operand) for operand in self.operands]
        reads = ["{", *([f"let here = min(start, end - {tiling.depth}u);"] if self.even else ["let here = start;"])]
        reads += [*(line for fetch in fetches for line in fetch[0]), "}"]
        sums = self._sums()
        kernel.line(*(f"var {name}: {arithmetic.quad};" for name in sums))
        if tiling.block:
            kernel.line(*(f"var total{n}: {arithmetic.quad};" for n in range(len(sums))), "var mark = begin;")
        kernel.line("var start = begin;", *reads)
        if tiling.block:
            kernel.line("loop {", f"mark = min(mark + {kernel.parameter(tiling.block)}, end);")
        kernel.line("loop {", *(line for fetch in fetches for line in fetch[1]), "workgroupBarrier();")
        kernel.line(f"start += {tiling.depth}u;", *reads)
        self._multiply()
        kernel.line(f"if (start >= {'mark' if tiling.block else 'end'}) {{ break; }}", "workgroupBarrier();", "}")
        if tiling.block:
            kernel.line(*(f"total{n} += {name}; {name} = {arithmetic.quad}();" for n, name in enumerate(sums)))
            kernel.line("if (start >= end) { break; }", "workgroupBarrier();", "}")
            kernel.line(*(f"{name} = total{n};" for n, name in enumerate(sums)))
        if tiling.slices > 1:
            self._add_slices()

    # -- workgroup memory ----------------------------------------------------------------------------------------------

    def _memory(self) -> str:
        """Return the declaration of the workgroup memory, in vectors of four numbers.

        Vectors of eight-byte numbers are split into two halves, which avoids bank conflicts.
        """
        if self.arithmetic.nbytes == 8:
            return f"var<workgroup> tiles: array<vec2<{self.arithmetic.component}>, {2 * self.vectors}>;"
        return f"var<workgroup> tiles: array<{self.arithmetic.quad}, {self.vectors}>;"

    def _vector(self, index: str) -> str:
        """Return the expression of the vector at an index."""
        if self.arithmetic.nbytes == 8:
            return f"{self.arithmetic.quad}(tiles[{index}], tiles[{index} + {self.vectors}u])"
        return f"tiles[{index}]"

    def _store_vector(self, index: str, four: str) -> str:
        """Return the statement that stores a vector at an index."""
        if self.arithmetic.nbytes == 8:
            return f"tiles[{index}] = {four}.xy; tiles[{index} + {self.vectors}u] = {four}.zw;"
        return f"tiles[{index}] = {four};"

    def _store_pair(self, index: str, lane: str, two: str) -> str:
        """Return the statement that stores the first or the last two components of the vector at an index."""
        if self.arithmetic.nbytes == 8:
            return f"tiles[{index} + {lane} / 2u % 2u * {self.vectors}u] = {two};"
        first = f"tiles[{index}][{lane} % {LANES}u"
        return f"{first}] = {two}.x; {first} + 1u] = {two}.y;"

    def _store_component(self, index: str, lane: str, number: str) -> str:
        """Return the statement that stores one component of the vector at an index."""
        if self.arithmetic.nbytes == 8:
            return f"tiles[{index} + {lane} / 2u * {self.vectors}u][{lane} % 2u] = {number};"
        return f"tiles[{index}][{lane}] = {number};"

    # -- products and sums ---------------------------------------------------------------------------------------------

    def _sums(self) -> list[str]:
        """Return the names of the accumulators."""
        rows, quads = range(self.tiling.patch_rows), range(self.tiling.patch_columns // LANES)
        return [f"sum{p}_{i}_{j}" for i in rows for j in quads for p in range(self.arithmetic.planes)]

    def patch(self) -> list[tuple[str, str, list[str]]]:
        """Return the vectors of an invocation's patch: row and column in the tile, and the names of their planes."""
        tiling, planes = self.tiling, range(self.arithmetic.planes)
        rows = tiling.patch_rows // tiling.slices
        step = self._step(tiling.rows, tiling.patch_rows)
        patches = []
        for i in range(rows):
            row = f"{i // LANES * step + i % LANES}u + y * {LANES}u"
            if tiling.slices > 1:
                mine = f"(slice * {rows}u + {i}u)"
                row = f"{mine} / {LANES}u * {step}u + {mine} % {LANES}u + y * {LANES}u"
            for j in range(tiling.patch_columns // LANES):
                column = f"{j * self._step(tiling.columns, tiling.patch_columns)}u + x * {LANES}u"
                patches.append(
                    (row, column, [f"{'merged' if tiling.slices > 1 else 'sum'}{p}_{i}_{j}" for p in planes])
                )
        return patches

    @staticmethod
    def _step(extent: int, patch: int) -> int:
        """Return the distance between the vectors of a patch: neighbours belong to neighbouring invocations."""
        return extent // (patch // LANES)

    def _patch_position(self) -> None:
        tiling, kernel = self.tiling, self.kernel
        across = tiling.across
        if tiling.slices > 1:
            kernel.line(
                f"let slice = local / {tiling.slice_invocations}u;",
                f"let member = local % {tiling.slice_invocations}u;",
            )
        else:
            kernel.line("let member = local;")
        if across % _WARP_ACROSS == 0 and tiling.slice_invocations // across % _WARP_DOWN == 0:
            # two neighbours share a column of patches, and sixteen share two rows: equal loads are merged
            warps, lane = across // _WARP_ACROSS, f"member % {_WARP}u"
            kernel.line(
                f"let x = (member / {_WARP}u) % {warps}u * {_WARP_ACROSS}u + {lane} / 2u % {_WARP_ACROSS}u;",
                f"let y = member / {_WARP * warps}u * {_WARP_DOWN}u + {lane} / {2 * _WARP_ACROSS}u * 2u + member % 2u;",
            )
        else:
            kernel.line(f"let x = member % {across}u;", f"let y = member / {across}u;")
        for operand, coordinate in zip(self.operands, "yx", strict=True):
            vectors = tiling.depth // tiling.slices * operand.pitch // LANES
            mine = f" + slice * {vectors}u" if tiling.slices > 1 else ""
            kernel.line(f"let {operand.edge}_at = {self.bases[operand.edge]}u + {coordinate}{mine};")

    def _multiply(self) -> None:
        depth, kernel = self.tiling.depth // self.tiling.slices, self.kernel
        if self.tiling.unrolled:
            for k in range(depth):
                kernel.line("{", *self._products(f"{k}u"), "}")
            return
        kernel.line(f"for (var k = 0u; k < {depth}u; k++) {{", *self._products("k"), "}")

    def _products(self, k: str) -> list[str]:
        """Return the statements that multiply at position ``k`` along the depth of a slice."""
        tiling, planes = self.tiling, range(self.arithmetic.planes)
        left, right = self.operands
        lines = []
        for operand, letter, patch in ((left, "a", tiling.patch_rows), (right, "b", tiling.patch_columns)):
            step = self._step(operand.size, patch) // LANES
            for p in planes:
                first = p * tiling.depth * operand.pitch // LANES
                for n in range(patch // LANES):
                    index = f"{first + n * step}u + {k} * {operand.pitch // LANES}u + {operand.edge}_at"
                    lines.append(f"let {letter}{p}_{n} = {self._vector(index)};")
        for i in range(tiling.patch_rows):
            factor = [f"a{p}_{i // LANES}.{'xyzw'[i % LANES]}" for p in planes]
            for j in range(tiling.patch_columns // LANES):
                sums = [f"sum{p}_{i}_{j}" for p in planes]
                lines += self.arithmetic.multiply_add(sums, factor, [f"b{p}_{j}" for p in planes])
        return lines

    def _add_slices(self) -> None:
        """Emit the addition of the sums of all slices: each slice adds some rows of the patches."""
        kernel, tiling = self.kernel, self.tiling
        values = [names for _, _, names in self.patch()]
        merged = [name for names in values for name in names]
        kernel.line(*(f"var {name}: {self.arithmetic.quad};" for name in merged))
        sums = self._sums()
        for number in range(tiling.slices):
            totals = sums[number * len(merged) : (number + 1) * len(merged)]
            kernel.line("workgroupBarrier();")
            kernel.line(
                *(self._store_vector(f"{n * tiling.invocations}u + local", name) for n, name in enumerate(totals))
            )
            kernel.line("workgroupBarrier();", f"if (slice == {number}u) {{")
            for n, names in enumerate(values):
                first = n * len(names)
                for s in range(tiling.slices):
                    indices = (
                        (first + p) * tiling.invocations + s * tiling.slice_invocations for p in range(len(names))
                    )
                    loads = [self._vector(f"{index}u + member") for index in indices]
                    if s == 0:
                        kernel.line(*(f"{name} = {quad};" for name, quad in zip(names, loads, strict=True)))
                    else:
                        kernel.line(*self.arithmetic.add(names, loads))
            kernel.line("}")

    # -- tiles ---------------------------------------------------------------------------------------------------------

    def _fetch(self, operand: Operand) -> tuple[list[str], list[str]]:
        """Emit the addresses of an invocation's part of a tile; return the statements that load and that store it.

        The tile begins at ``here`` along the depth.
        """
        tiling, kernel, arithmetic = self.tiling, self.kernel, self.arithmetic
        unit = operand.unit
        fast = tiling.depth if operand.deep else operand.size
        slow = operand.size if operand.deep else tiling.depth
        units = fast // unit
        parts = units * slow
        plane, along, deep = (kernel.parameter(s) for s in operand.layout.strides)
        name = operand.edge
        kind = f"vec{unit}<{arithmetic.component}>" if unit > 1 else arithmetic.component
        ahead = (
            f"here / {unit}u"
            if operand.deep and operand.access.wide
            else f"here * {kernel.parameter(operand.layout.strides[2] // unit)}"
        )
        kernel.line(f"let {name}_plane = {kernel.parameter(operand.layout.offset)} + plane * {plane};")
        keeps: list[str] = []
        fetches: list[tuple[list[str], list[str], list[str], str]] = []
        for s in range(-(-parts // tiling.invocations)):
            n, d, e, at = (f"{name}_{letter}{s}" for letter in "ndeo")
            kernel.line(f"let {n} = local + {s * tiling.invocations}u;")
            first, second = (d, e) if operand.deep else (e, d)
            kernel.line(f"let {first} = {n} % {units}u * {unit}u; let {second} = {n} / {units}u;")
            # beyond the edge any element may be read: results that depend on it are not stored
            last = f"{operand.extent} - {1 if operand.deep else unit}u"
            kernel.line(f"let {at} = ({name}_plane + min({name} + {e}, {last}) * {along} + {d} * {deep}) / {unit}u;")
            mine = [] if (s + 1) * tiling.invocations <= parts else [f"{n} < {parts}u"]
            values = [f"{name}_v{p}_{s}" for p in range(arithmetic.planes)]
            kernel.line(*(f"var {value}: {kind};" for value in values))
            there = [] if self.even else [f"here + {d} < end"]
            fetches.append(([f"{v} = {kind}();" for v in values if there], [*mine, *there], values, f"{at} + {ahead}"))
            keeps += _when(mine, self._keep(operand, values, d, e))

        def reads(access: Access | ComputedOperand, begin: str = "") -> list[str]:
            """Return the loads from a binding; ``begin`` is added to the index."""
            lines: list[str] = []
            for zeros, conditions, values, index in fetches:
                lines += [*zeros, *_when(conditions, self._read(operand, access, f"{index}{begin}", values))]
            return lines

        if not operand.apart:
            return reads(operand.access), keeps
        return self._reads_of_parts(operand, reads, f"{name}_plane", (along, deep)), keeps

    def _reads_of_parts(
        self, operand: Operand, reads: Callable[[Access, str], list[str]], plane: str, strides: tuple[str, str]
    ) -> list[str]:
        """Return the loads of a tile from the one of several bindings that contains all of it."""
        access, name = operand.access, operand.edge
        assert isinstance(access, Access)
        edges = (name, f"min({name} + {operand.size - 1}u, {operand.extent} - 1u)")
        depths = ("here", f"min(here + {self.tiling.depth - 1}u, end - 1u)")
        backward = [stride < 0 for stride in operand.layout.strides[1:]]
        lowest = " + ".join(
            f"{ends[is_backward]} * {stride}"
            for ends, is_backward, stride in zip((edges, depths), backward, strides, strict=True)
        )
        apart = self.kernel.parameter(operand.apart)
        lines = [f"let {name}_part = ({plane} + {lowest}) / {apart};", f"switch {name}_part {{"]
        for number, window in enumerate(access.parts):
            label = f"case {number}u" if number + 1 < access.windows else "default"
            begin = f" - {self.kernel.parameter(number * operand.apart // operand.unit)}" if number else ""
            lines += [f"{label}: {{", *reads(window, begin), "}"]
        return [*lines, "}"]

    def _read(self, operand: Operand, access: Access | ComputedOperand, index: str, values: Sequence[str]) -> list[str]:
        """Return the statements that load the elements at an index into the variables of their planes."""
        unit = operand.unit
        if unit == 1:
            parts = self.arithmetic.parts("loaded")
            reads = [f"{value} = {vector};" for value, vector in zip(values, parts, strict=True)]
            return [f"let loaded = {access.load(index)};", *reads]
        load = access.load_pair if isinstance(access, Pairs) else access.load_wide
        lines, lanes = load(index, "loaded")
        split = [self.arithmetic.parts(lane) for lane in lanes]
        kind = f"vec{unit}<{self.arithmetic.component}>"
        return lines + [f"{v} = {kind}({', '.join(vector[p] for vector in split)});" for p, v in enumerate(values)]

    def _keep(self, operand: Operand, values: Sequence[str], d: str, e: str) -> list[str]:
        """Return the statements that store loaded elements in workgroup memory."""
        lines = []
        unit, vectors = operand.unit, operand.pitch // LANES
        for p, value in enumerate(values):
            base = self.bases[operand.edge] + p * self.tiling.depth * vectors
            if not operand.deep and unit > 1:
                index = f"{base}u + {d} * {vectors}u + {e} / {LANES}u"
                lines.append(self._store_vector(index, value) if unit == LANES else self._store_pair(index, e, value))
                continue
            for lane in range(unit):
                index = f"{base}u + ({d} + {lane}u) * {vectors}u + {e} / {LANES}u"
                number = f"{value}.{'xyzw'[lane]}" if unit > 1 else value
                lines.append(self._store_component(index, f"({e} % {LANES}u)", number))
        return lines


def _when(conditions: Sequence[str], statements: Sequence[str]) -> list[str]:
    """Return statements as a block that runs if all conditions hold."""
    return [f"if ({' && '.join(conditions)}) {{" if conditions else "{", *statements, "}"]
