"""Running folds as kernels: reduce, then scan.

Each row is cut into blocks. The first kernel folds every block, the second scans the blocks of each row, the third
scans inside the blocks, beginning with what came before. Three launches, each row read twice: right on every device,
since no workgroup waits for another.
"""

from typing import Final

from gpuarray.codegen import casts
from gpuarray.codegen.accumulators import neutral_literal
from gpuarray.codegen.loops import four_store, result_store
from gpuarray.codegen.programs import Binding, Launch, Program
from gpuarray.codegen.storage import LANES, Access, register_type, word_dtype
from gpuarray.codegen.wgsl import WINDOW_END, WORKGROUP, Kernel, combine_expression, window
from gpuarray.device import Capabilities
from gpuarray.fusion.steps import ScanStep

PER_INVOCATION: Final = 16
BLOCK: Final = WORKGROUP * PER_INVOCATION


class ScanKernels:
    """Emits the kernels of one scan."""

    def __init__(self, step: ScanStep, label: str, capabilities: Capabilities) -> None:
        self.step = step
        self.label = label
        self.limit = capabilities.workgroup_limit
        self.dtype = step.op.accumulate(step.source) if step.dtype == step.op.accumulate(step.source) else step.dtype
        self.rows = step.before * step.after
        self.blocks = -(-step.length // BLOCK)
        # rows side by side, of whole fours
        self.wide = step.after == 1 and step.length % LANES == 0
        self.kind = register_type(self.dtype)
        self.neutral = neutral_literal(step.op, self.dtype)

    def program(self) -> Program:
        """Return the launches."""
        if self.blocks == 1:
            return Program((self._inside(carried=False),))
        nbytes = -(-self.rows * self.blocks * word_dtype(self.dtype).itemsize // WINDOW_END) * WINDOW_END
        return Program(
            (self._sums(nbytes), self._carries(nbytes), self._inside(carried=True, nbytes=nbytes)), (nbytes,)
        )

    # -- kernels -------------------------------------------------------------------------------------------------------

    def _sums(self, nbytes: int) -> Launch:
        kernel = Kernel(f"{self.label} blocks")
        source = self._source(kernel)
        scratch = self._scratch(kernel, nbytes, writable=True)
        self._position(kernel)
        self._own(kernel, source)
        self._shared_scan(kernel)
        kernel.line(f"if (local == {WORKGROUP - 1}u) {{ {scratch.store('block', self._out('inclusive'))} }}")
        return kernel.launch(self.rows * self.blocks, self.limit)

    def _carries(self, nbytes: int) -> Launch:
        """One workgroup a row replaces the folds of its blocks by what comes before each."""
        kernel = Kernel(f"{self.label} carries")
        scratch = self._scratch(kernel, nbytes, writable=True)
        blocks, rows = kernel.word(self.blocks), kernel.word(self.rows)
        kernel.line("let row = group.x + group.y * groups.x;", f"if (row >= {rows}) {{ return; }}")
        kernel.line(f"var carry: {self.kind} = {self.neutral};")
        kernel.line(f"for (var start = 0u; start < {blocks}; start += {BLOCK}u) {{")
        kernel.line(f"let begin = start + local * {PER_INVOCATION}u;")
        kernel.line(f"let end = min(begin + {PER_INVOCATION}u, {blocks});")
        kernel.line(f"var total: {self.kind} = {self.neutral};")
        place = f"row * {blocks} + n"
        folded = combine_expression(self.step.op.combine, "total", self._in(scratch.load(place)), self.dtype)
        kernel.line(f"for (var n = begin; n < end; n++) {{ total = {folded}; }}")
        self._shared_scan(kernel)
        before = combine_expression(self.step.op.combine, "carry", "exclusive", self.dtype)
        kernel.line(f"var running: {self.kind} = {before};", "for (var n = begin; n < end; n++) {")
        kernel.line(f"let own: {self.kind} = {self._in(scratch.load(place))};")
        kernel.line(scratch.store(place, self._out("running")))
        kernel.line(f"running = {combine_expression(self.step.op.combine, 'running', 'own', self.dtype)};", "}")
        last = self._in(f"shared_scan[{WORKGROUP - 1}]")
        kernel.line(f"carry = {combine_expression(self.step.op.combine, 'carry', last, self.dtype)};")
        kernel.line("workgroupBarrier();", "}")
        return kernel.launch(self.rows, self.limit)

    def _inside(self, *, carried: bool, nbytes: int = 0) -> Launch:
        kernel = Kernel(f"{self.label} inside")
        source = self._source(kernel)
        store = None if self.wide else result_store(kernel, self.step, self._size(), 1)
        store_four = four_store(kernel, self.step, self._size(), 1) if self.wide else None
        carry = self.neutral
        if carried:
            scratch = self._scratch(kernel, nbytes, writable=False)
        self._position(kernel)
        self._own(kernel, source)
        self._shared_scan(kernel)
        if carried:
            carry = self._in(scratch.load("block"))
        kernel.line(
            f"var running: {self.kind} = {combine_expression(self.step.op.combine, carry, 'exclusive', self.dtype)};"
        )
        for k in range(PER_INVOCATION):
            kernel.line(f"running = {combine_expression(self.step.op.combine, 'running', f'e{k}', self.dtype)};")
            value = casts.wrap_expression("running", self.dtype)
            value = casts.cast_expression(value, self.dtype, self.step.dtype)
            if store is not None:
                kernel.line(f"if (first + {k}u < length) {{ {store(f'base + (first + {k}u) * step', value)} }}")
                continue
            kernel.line(f"let r{k}: {register_type(self.step.dtype)} = {value};")
            if store_four is not None and k % LANES == LANES - 1:
                start = k + 1 - LANES
                values = [f"r{n}" for n in range(start, k + 1)]
                kernel.line(f"if (first + {start}u < length) {{", *store_four(f"base + first + {start}u", values), "}")
        return kernel.launch(self.rows * self.blocks, self.limit)

    # -- pieces --------------------------------------------------------------------------------------------------------

    def _size(self) -> int:
        return self.step.before * self.step.length * self.step.after

    def _source(self, kernel: Kernel) -> Access:
        binding, _ = window("input", 0, 0, self._size() - 1, self.step.source, writable=False)
        return kernel.bind(Access("input0", self.step.source, self.wide, False), binding)

    def _scratch(self, kernel: Kernel, nbytes: int, *, writable: bool) -> Access:
        access = Access("scratch0", word_dtype(self.dtype), False, writable)
        return kernel.bind(access, Binding("scratch", 0, 0, nbytes, writable))

    def _in(self, held: str) -> str:
        return f"({held} != 0u)" if self.dtype.kind == "b" else held

    def _out(self, value: str) -> str:
        return f"select(0u, 1u, {value})" if self.dtype.kind == "b" else value

    def _position(self, kernel: Kernel) -> None:
        """Emit the row and block of this workgroup, and where its elements lie."""
        blocks, after = kernel.word(self.blocks), kernel.word(self.step.after)
        length, total = kernel.word(self.step.length), kernel.word(self.rows * self.blocks)
        kernel.line(
            "let block = group.x + group.y * groups.x;",
            f"if (block >= {total}) {{ return; }}",
            f"let length = {length};",
            f"let step = {after};",
            f"let row = block / {blocks};",
            f"let first = (block - row * {blocks}) * {BLOCK}u + local * {PER_INVOCATION}u;",
            "let base = (row / step) * length * step + row % step;",
        )

    def _own(self, kernel: Kernel, source: Access) -> None:
        """Emit this invocation's elements, and their fold ``total``."""
        kernel.line(f"var total: {self.kind} = {self.neutral};")
        for k in range(0, PER_INVOCATION, LANES) if self.wide else ():
            lines, values = source.load_wide(f"(base + first) / {LANES}u + {k // LANES}u", f"loaded{k}")
            kernel.line(*(f"var e{k + lane}: {self.kind} = {self.neutral};" for lane in range(LANES)))
            kernel.line(f"if (first + {k}u < length) {{", *lines)
            for lane, given in enumerate(values):
                kernel.line(f"e{k + lane} = {casts.cast_expression(given, self.step.source, self.dtype)};")
            kernel.line("}")
        for k in range(PER_INVOCATION):
            if self.wide:
                kernel.line(f"total = {combine_expression(self.step.op.combine, 'total', f'e{k}', self.dtype)};")
                continue
            value = casts.cast_expression(source.load(f"base + (first + {k}u) * step"), self.step.source, self.dtype)
            kernel.line(f"var e{k}: {self.kind} = {self.neutral};")
            kernel.line(f"if (first + {k}u < length) {{ e{k} = {value}; }}")
            kernel.line(f"total = {combine_expression(self.step.op.combine, 'total', f'e{k}', self.dtype)};")

    def _shared_scan(self, kernel: Kernel) -> None:
        """Emit the scan of ``total`` over the workgroup: ``inclusive`` and ``exclusive``."""
        kind = "u32" if self.dtype.kind == "b" else self.kind
        kernel.module.append(f"var<workgroup> shared_scan: array<{kind}, {WORKGROUP}>;")
        both = combine_expression(self.step.op.combine, "left", self._in("shared_scan[local]"), self.dtype)
        kernel.line(
            f"shared_scan[local] = {self._out('total')};",
            "workgroupBarrier();",
            f"for (var reach = 1u; reach < {WORKGROUP}u; reach <<= 1u) {{",
            f"var left: {self.kind} = {self.neutral};",
            f"if (local >= reach) {{ left = {self._in('shared_scan[local - reach]')}; }}",
            f"let both = {both};",
            "workgroupBarrier();",
            f"if (local >= reach) {{ shared_scan[local] = {self._out('both')}; }}",
            "workgroupBarrier();",
            "}",
            f"let inclusive = {self._in('shared_scan[local]')};",
            f"var exclusive: {self.kind} = {self.neutral};",
            f"if (local > 0u) {{ exclusive = {self._in('shared_scan[local - 1u]')}; }}",
        )
