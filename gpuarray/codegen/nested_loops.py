"""Loops inside other kernels: those over the results of a product or a scan, and over their operands.

An *epilogue* is a loop without folds that takes each result of the kernel in place of its input 0. A *prologue*
computes an operand where the kernel reads it. Both become WGSL functions, so that no array of their elements is stored.
"""

from dataclasses import dataclass, replace

from gpuarray.codegen.fast_paths import emit_second_guard, value_name
from gpuarray.codegen.lanes import flat_loads, flat_stores, flat_values, has_vec4_rows, wide_slots
from gpuarray.codegen.loops import LoopKernel, bind_loop, emit_single, has_guards
from gpuarray.codegen.storage import LANES, register_type
from gpuarray.codegen.wgsl import Kernel
from gpuarray.fusion.steps import FULL, Load, Loop


def _not_wide(_kind: str, _slot: int) -> bool:
    return False


def add_epilogue(
    kernel: Kernel, loop: Loop, inputs_before: int, *, lanes: int = 1, aligned: bool = False
) -> LoopKernel:
    """Add the function ``finish``, which runs a loop without folds on results of the kernel.

    Parameters
    ----------
    kernel : Kernel
        Where the function is added.
    loop : Loop
        The epilogue. Its input 0 is the result, its other inputs are the step's from number ``inputs_before`` on.
    inputs_before : int
        How many inputs the step has without those of the epilogue.
    lanes : int
        1 for ``finish(first, result0)``, of the result with the flat index ``first``; 4 for ``finish(first, end,
        result0, ..., result3)``, of those from ``first`` on that come before ``end``.
    aligned : bool
        Whether ``first`` is always a multiple of four.

    Returns
    -------
    LoopKernel
        For :func:`add_fast_path_epilogue`.
    """
    work = bind_loop(kernel, loop, wide_slots(loop) if aligned else _not_wide, inputs_before=inputs_before)
    work.together = aligned and lanes > 1 and has_vec4_rows(loop)
    _finish_function(work, lanes)
    return work


def add_fast_path_epilogue(work: LoopKernel) -> bool:
    """Add the function ``fast_path_finish``, which does as ``finish`` by fast paths alone, and return whether it helps.

    The WGSL function returns whether it was right. If it was not, ``finish`` has to run on the same results.
    """
    if not has_guards(work.loop):
        return False
    _finish_function(replace(work, deferred=True), LANES)
    return True


def _finish_function(work: LoopKernel, lanes: int) -> None:
    """Add the function ``finish``, or ``fast_path_finish``, over a number of results."""
    kernel, loop = work.kernel, work.loop
    outside, kernel.body = kernel.body, []
    emit_single(work)
    names = flat_loads(work, lanes, False, 1, "end")
    kind = register_type(loop.input_dtypes[0])
    results = [f"result{lane}" for lane in range(lanes)]
    for number, item in enumerate(loop.instructions):
        if isinstance(item, Load) and item.slot == 0:
            for lane, result in zip(names, results, strict=True):
                lane.loaded[number] = result
    blocks = flat_values(work, names)
    if work.deferred:
        emit_second_guard(kernel, loop.instructions, blocks, range(lanes), "fine")
    flat_stores(work, names, 1, "end")
    parameters = ", ".join(f"{result}: {kind}" for result in results)
    head = f"finish({'first: u32' if lanes == 1 else 'first: u32, end: u32'}, {parameters})"
    body = [f"  {line}" for line in kernel.body]
    if work.deferred:
        kernel.module += [f"fn fast_path_{head} -> bool {{", "  var fine = true;", *body, "  return fine;", "}"]
    else:
        kernel.module += [f"fn {head} {{", *body, "}"]
    kernel.body = outside


@dataclass(frozen=True, slots=True)
class ComputedOperand:
    """An operand that a kernel computes: a WGSL function of the flat index, for one element or four."""

    name: str
    wide: bool

    def load(self, index: str) -> str:
        """Return the element at ``index``."""
        return f"{self.name}({index})"

    def load_wide(self, index: str, target: str) -> tuple[list[str], list[str]]:
        """Return statements, and the four lane expressions, for the elements from ``4 * index``."""
        lines = [f"let {target} = {self.name}(({index}) * {LANES}u);"]
        return lines, [f"{target}[{lane}]" for lane in range(LANES)]


def add_prologue(kernel: Kernel, loop: Loop, name: str, *, wide: bool) -> ComputedOperand:
    """Add the function that computes an element of a loop's one result, or four from a multiple of four if ``wide``.

    The loop has no folds, and its inputs are the step's.
    """
    work = bind_loop(kernel, loop, wide_slots(loop) if wide else _not_wide, outputs=False, name=name)
    outside, kernel.body = kernel.body, []
    emit_single(work)
    work.together = wide and has_vec4_rows(loop)
    names = flat_loads(work, LANES if wide else 1, False, 1, kernel.parameter(loop.columns))
    flat_values(work, names)
    (store,) = loop.stores
    values = [value_name(store.value, FULL, lane) for lane in range(len(names))]
    kind = register_type(store.dtype)
    register = f"array<{kind}, {LANES}>" if wide else kind
    kernel.line(f"return {register}({', '.join(values)});" if wide else f"return {values[0]};")
    kernel.module += [f"fn {name}(first: u32) -> {register} {{", *(f"  {line}" for line in kernel.body), "}"]
    kernel.body = outside
    return ComputedOperand(name, wide)
