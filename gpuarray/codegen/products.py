"""Batches of matrix products as kernels.

Each workgroup makes a tile of 64 x 64 elements of the result, each invocation 4 x 4 of them, from tiles of the
operands in
workgroup memory. Operands are read through any strides, so that transposes and broadcast batches need no copy.
"""

from typing import Final

from gpuarray.codegen import casts
from gpuarray.codegen.dialect import compute_type
from gpuarray.codegen.loops import result_store
from gpuarray.codegen.programs import Program
from gpuarray.codegen.storage import Access, register_type
from gpuarray.codegen.wgsl import Kernel, combine_expression, window
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import ContractStep
from gpuarray.graph.layouts import Layout
from gpuarray.ops import elementwise as rows

TILE: Final = 64
DEPTH: Final = 16
PATCH: Final = 4


def shared_bytes(dtype: DType) -> int:
    """Return the workgroup memory that the tiles of both operands take."""
    return 2 * TILE * DEPTH * max(dtype.itemsize, 4)


def product_program(step: ContractStep, label: str, capabilities: Capabilities) -> Program:
    """Return the launch of a batch of matrix products."""
    batch, height, depth = step.left.shape
    width = step.right.shape[2]
    kernel = Kernel(label)
    kind = register_type(step.dtype)
    zero = casts.literal(0, step.dtype)
    accesses = []
    origins = []
    for slot, layout in enumerate((step.left, step.right)):
        low, high = layout.bounds()
        binding, origin = window("input", slot, low, max(high, 0), step.input_dtypes[slot], writable=False)
        accesses.append(kernel.bind(Access(f"input{slot}", step.input_dtypes[slot], False, False), binding))
        origins.append(origin)
    store = result_store(kernel, step, batch * height * width, 2)
    down, across = -(-height // TILE), -(-width // TILE)
    groups = batch * down * across
    numbers = {"groups": groups, "height": height, "width": width, "depth": depth, "across": across, "down": down}
    words = {name: kernel.word(value) for name, value in numbers.items()}
    kernel.module += [
        f"var<workgroup> left_tile: array<{kind}, {TILE * DEPTH}>;",
        f"var<workgroup> right_tile: array<{kind}, {TILE * DEPTH}>;",
    ]
    kernel.line(
        "let block = group.x + group.y * groups.x;",
        f"if (block >= {words['groups']}) {{ return; }}",
        f"let height = {words['height']}; let width = {words['width']}; let depth = {words['depth']};",
        f"let plane = block / ({words['across']} * {words['down']});",
        f"let tile = block - plane * ({words['across']} * {words['down']});",
        f"let top = (tile / {words['across']}) * {TILE}u;",
        f"let left = (tile % {words['across']}) * {TILE}u;",
        f"let y = (local / {TILE // PATCH}u) * {PATCH}u;",
        f"let x = (local % {TILE // PATCH}u) * {PATCH}u;",
    )
    for i in range(PATCH):
        kernel.line(*(f"var sum{i}{j}: {kind} = {zero};" for j in range(PATCH)))
    kernel.line(f"for (var start = 0u; start < depth; start += {DEPTH}u) {{")
    _fill(kernel, accesses[0], step.left, origins[0], ("top", "height"), zero, transposed=True)
    _fill(kernel, accesses[1], step.right, origins[1], ("left", "width"), zero, transposed=False)
    kernel.line("workgroupBarrier();", f"for (var k = 0u; k < {DEPTH}u; k++) {{")
    for i in range(PATCH):
        kernel.line(f"let a{i} = left_tile[k * {TILE}u + y + {i}u];", f"let b{i} = right_tile[k * {TILE}u + x + {i}u];")
    for i in range(PATCH):
        for j in range(PATCH):
            product = _product(f"a{i}", f"b{j}", step)
            kernel.line(f"sum{i}{j} = {combine_expression(rows.add, f'sum{i}{j}', product, step.dtype)};")
    kernel.line("}", "workgroupBarrier();", "}")
    for i in range(PATCH):
        for j in range(PATCH):
            value = casts.wrap_expression(f"sum{i}{j}", step.dtype)
            statement = store(f"(plane * height + top + y + {i}u) * width + left + x + {j}u", value)
            kernel.line(f"if (top + y + {i}u < height && left + x + {j}u < width) {{ {statement} }}")
    return Program((kernel.launch(groups, capabilities.workgroup_limit),))


def _product(first: str, second: str, step: ContractStep) -> str:
    # sums of float products need no guard against contraction: a fused multiply-add errs less
    if compute_type(step.dtype) in ("f32", "f64"):
        return f"{first} * {second}"
    return combine_expression(rows.multiply, first, second, step.dtype)


def _fill(
    kernel: Kernel, access: Access, layout: Layout, origin: int, edge: tuple[str, str], zero: str, *, transposed: bool
) -> None:
    """Emit the copy of one operand's tile into workgroup memory, as (depth, along the edge), zero outside."""
    start, extent = edge
    name = "left_tile" if transposed else "right_tile"
    plane, outer, inner = (kernel.word(s) for s in layout.strides)
    along, deep = (outer, inner) if transposed else (inner, outer)
    offset = kernel.word(layout.offset - origin)
    # neighbouring invocations read neighbours in memory, whichever of the two axes that is
    deep_first = abs(layout.strides[2]) <= abs(layout.strides[1]) if transposed else layout.strides[1] == 1
    place = (
        (f"let d = n % {DEPTH}u; let e = n / {DEPTH}u;")
        if deep_first
        else (f"let e = n % {TILE}u; let d = n / {TILE}u;")
    )
    read = access.load(f"{offset} + plane * {plane} + ({start} + e) * {along} + (start + d) * {deep}")
    kernel.line(
        f"for (var n = local; n < {TILE * DEPTH}u; n += 256u) {{ {place}",
        f"var value: {register_type(access.dtype)} = {zero};",
        f"if ({start} + e < {extent} && start + d < depth) {{ value = {read}; }}",
        f"{name}[d * {TILE}u + e] = value; }}",
    )
