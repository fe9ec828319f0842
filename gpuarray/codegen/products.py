"""Batches of matrix products as kernels.

A product is cut into tiles, one a workgroup (:mod:`gpuarray.codegen.tiles`). Where there are too few tiles to keep a
device busy, several workgroups share the depth of a tile, and a second kernel adds their partial sums in a fixed order;
:mod:`gpuarray.codegen.product_choice` decides. A product with one column is a fold over rows. Operands are read
through any strides: transposes and broadcast batches need no copy.
"""

from dataclasses import dataclass, replace
from typing import Final

from gpuarray.codegen import casts
from gpuarray.codegen.nested_loops import add_epilogue, add_fast_path_epilogue, add_prologue
from gpuarray.codegen.planes import Arithmetic
from gpuarray.codegen.product_choice import Choice, choose
from gpuarray.codegen.product_folds import as_fold
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.reductions import row_program
from gpuarray.codegen.storage import LANES, Access, Pairs, word_dtype
from gpuarray.codegen.target import binding_limit
from gpuarray.codegen.tiles import Operand, TileKernel, is_wide
from gpuarray.codegen.wgsl import WINDOW_END, WINDOW_START, WORKGROUP, Kernel, combine_expression, window, window_bytes
from gpuarray.device import Capabilities
from gpuarray.fusion.costs import operations
from gpuarray.fusion.steps import ContractStep
from gpuarray.graph.layouts import Layout, permute
from gpuarray.ops import elementwise as ops

#: Epilogues that cost no more are unrolled: their text stands in the kernel for each result of an invocation.
_LIGHT: Final = 16


def product_program(step: ContractStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a batch of matrix products."""
    batch, height, depth = step.left.shape
    width = step.right.shape[2]
    loop = as_fold(step) if width == 1 and depth and step.prologues == (None, None) else None
    if loop is not None:
        return row_program(loop, label, capabilities)
    return tiled_program(step, choose(batch, height, width, depth, step.dtype, capabilities), label, capabilities)


def tiled_program(step: ContractStep, choice: Choice, label: str, capabilities: Capabilities) -> Program:
    """Return the launches of a batch of matrix products with the tiles and parts of ``choice``."""
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
        self.word = word_dtype(step.dtype)
        tiling = choice.tiling
        self.down, self.across = -(-self.height // tiling.rows), -(-self.width // tiling.columns)
        self.cut = self.batch * self.down * self.across - choice.whole
        """How many tiles have a depth that several workgroups share."""
        # parts begin at multiples of the depth of a tile, or of a block if only some are split: sums have equal bits
        self.part = tiling.block if choice.whole else -(-self.depth // (choice.splits * tiling.depth)) * tiling.depth
        self.splits = -(-self.depth // self.part) if choice.splits > 1 and self.depth else 1
        elements = self.cut * self.splits * tiling.rows * tiling.columns
        self.scratch_bytes = -(-elements * self.word.itemsize // WINDOW_END) * WINDOW_END

    # -- the tiles -----------------------------------------------------------------------------------------------------

    def tiles(self) -> Launch:
        """Return the launch that computes the tiles, or their parts."""
        tiling, splits, whole = self.choice.tiling, self.splits, self.choice.whole
        kernel = Kernel(self.label if splits == 1 else f"{self.label} parts")
        groups = whole + self.cut * splits
        operands = self._operand(kernel, 0, "top", "height"), self._operand(kernel, 1, "left", "width")
        results = self._result_store(kernel, fast=True) if splits == 1 or whole else None
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
        self._tile_position(kernel)
        even = self.depth > 0 and self.depth % tiling.depth == 0
        walk = TileKernel(kernel, tiling, self.step.dtype, operands, even)
        walk.emit()
        if splits > 1:
            partial = kernel.bind(Access("scratch0", self.word, True, True), self._scratch(writable=True))
            kernel.line("if (block >= whole) {", *self._partial_stores(walk, partial), "return; }")
        if results is not None:
            self._stores(kernel, walk, results)
        return kernel.launch(groups, self.capabilities.workgroup_limit)

    def _sizes(self, kernel: Kernel) -> None:
        numbers = {"height": self.height, "width": self.width, "across": self.across, "down": self.down}
        kernel.line(*(f"let {name} = {kernel.parameter(value)};" for name, value in numbers.items()))

    def _tile_position(self, kernel: Kernel) -> None:
        """Emit the position of a tile."""
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
        # several bindings overlap by a tile, so that one of them shows all of each tile
        steps = zip(here.strides[1:], (size - 1, tiling.depth - 1), strict=True)
        tile = -(-(sum(abs(s) * n for s, n in steps) + LANES) * dtype.itemsize // WINDOW_START) * WINDOW_START
        each = window_bytes(binding_limit())
        apart = each - tile
        if binding.nbytes <= each or apart < tile:
            return Operand(kernel.show(access, binding), here, edge, extent, size)
        access = replace(access, windows=-(-(binding.nbytes - tile) // apart))
        kernel.bind_parts(access, binding, apart)
        return Operand(access, here, edge, extent, size, apart // dtype.itemsize)

    def _stores(self, kernel: Kernel, walk: TileKernel, store: "_ResultStore") -> None:
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
        if store.fast:
            kernel.line("var fine = true;")
        if not store.once:
            fast = ["let first = (base + row) * width + column;", *store.statements(values, fast=store.fast)]
            for row, column, sums in patch:
                lets = [f"let {target} = {name};" for target, name in zip(names, sums, strict=True)]
                here = f"let row = top + {row}; let column = left + {column};"
                kernel.line("{", here, inside, *lets, *fast, "} }")
        if store.once or store.fast:
            # the whole text is there once
            kernel.line("if (!fine) {" if store.fast else "{")
            kernel.line(f"for (var n = 0u; n < {len(patch)}u; n++) {{")
            kernel.line(*(f"var {name}: {arithmetic.quad};" for name in names), "var row = top; var column = left;")
            kernel.line("switch n {")
            for n, (row, column, sums) in enumerate(patch):
                case = f"case {n}u: {{" if n + 1 < len(patch) else "default: {"
                takes = [f"{target} = {name};" for target, name in zip(names, sums, strict=True)]
                kernel.line(f"{case} row += {row}; column += {column}; {' '.join(takes)} }}")
            kernel.line("}", inside, *statements, "} } }")

    def _partial_stores(self, walk: TileKernel, access: Access) -> list[str]:
        """Return the stores of an invocation's patch of a part; parts lie in scratch memory one after the other."""
        words, columns = Arithmetic(self.word), self.choice.tiling.columns
        lines = []
        for row, column, sums in walk.patch():
            values = [words.whole([f"{name}.{'xyzw'[lane]}" for name in sums]) for lane in range(LANES)]
            lines += access.store_wide(f"(part + ({row}) * {columns}u + {column}) / {LANES}u", values)
        return lines

    def _result_store(self, kernel: Kernel, *, fast: bool = False) -> "_ResultStore":
        """Bind the output, or add the epilogue, with a fast path if ``fast`` and the epilogue is short."""
        aligned, epilogue = self.width % LANES == 0, self.step.epilogue
        if epilogue is not None:
            work = add_epilogue(kernel, epilogue, self.step.reads, lanes=LANES, aligned=aligned)
            once = operations(epilogue.instructions) > _LIGHT
            return _ResultStore(None, once, fast=fast and not once and add_fast_path_epilogue(work))
        size = self.batch * self.height * self.width
        binding, _ = window("output", 0, 0, size - 1, self.step.dtype, writable=True)
        return _ResultStore(kernel.show(Access("output0", self.step.dtype, aligned, True), binding), False)

    def _scratch(self, *, writable: bool) -> Binding:
        return Binding("scratch", 0, 0, self.scratch_bytes, writable)

    # -- their parts ---------------------------------------------------------------------------------------------------

    def end(self) -> Launch:
        """Return the launch that adds the parts and stores, or finishes, the sums."""
        tiling, step = self.choice.tiling, self.step
        area, quads = tiling.rows * tiling.columns, self.cut * tiling.rows * tiling.columns // LANES
        kernel = Kernel(f"{self.label} end")
        access = kernel.bind(Access("scratch0", self.word, True, False), self._scratch(writable=False))
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
        self._tile_position(kernel)
        kernel.line(
            f"let row = top + inside / {tiling.columns}u; let column = left + inside % {tiling.columns}u;",
            "if (row >= height || column >= width) { return; }",
            f"let splits = {kernel.parameter(self.splits)};",
            *(f"var sum{lane} = {casts.literal(0, self.word)};" for lane in range(LANES)),
            "for (var split = 0u; split < splits; split++) {",
        )
        lines, values = access.load_wide(f"((cut * splits + split) * {area}u + inside) / {LANES}u", "part")
        kernel.line(*lines)
        for lane, value in enumerate(values):
            kernel.line(f"sum{lane} = {combine_expression(ops.add, f'sum{lane}', value, self.word)};")
        kernel.line("}", "let first = (base + row) * width + column;")
        sums = [f"sum{lane}" for lane in range(LANES)]
        if step.dtype.kind == "b":
            sums = [f"({name} != 0u)" for name in sums]
        kernel.line(*store.statements([casts.wrap_expression(name, step.dtype) for name in sums]))
        return kernel.launch(-(-quads // WORKGROUP), self.capabilities.workgroup_limit)


@dataclass(frozen=True, slots=True)
class _ResultStore:
    """Where four neighbouring results go: to a binding, or to the epilogue."""

    access: Access | None
    once: bool
    """Whether the statements are so long that a loop over the patch has them once."""
    fast: bool = False
    """Whether the epilogue has a fast path, after which ``fine`` says whether it was right."""

    def statements(self, values: list[str], *, fast: bool = False) -> list[str]:
        """Return the statements that store four results of a row from the flat index ``first`` on."""
        stop = "(base + row) * width + width"
        if fast:
            call = f"fast_path_finish(first, min(first + {LANES}u, {stop}), {', '.join(values)})"
            return [f"let answer = {call};", "fine = fine & answer;"]
        if self.access is None:
            return [f"finish(first, min(first + {LANES}u, {stop}), {', '.join(values)});"]
        if self.access.wide:
            return self.access.store_wide(f"first / {LANES}u", values)
        lines = [self.access.store(f"first + {lane}u", value) for lane, value in enumerate(values)]
        return [line if lane == 0 else f"if (first + {lane}u < {stop}) {{ {line} }}" for lane, line in enumerate(lines)]
