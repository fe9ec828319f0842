"""Launches that all factorisations use: copies, and the update of the columns right of a panel.

The update is a matrix product in tiles (:mod:`gpuarray.codegen.tiles`), which has nearly all of the arithmetic.
"""

from collections.abc import Callable
from math import gcd
from typing import Final

from gpuarray.codegen.calls.linear_algebra.matrices import Builder, Matrix, Template, where
from gpuarray.codegen.calls.linear_algebra.numbers import Numbers
from gpuarray.codegen.casts import cast_expression
from gpuarray.codegen.product_choice import choose, fastest_tiling
from gpuarray.codegen.storage import LANES, Access
from gpuarray.codegen.tiles import Operand, TileKernel, Tiling, is_wide
from gpuarray.codegen.wgsl import WORKGROUP
from gpuarray.graph.layouts import Layout

#: Which elements of a matrix are copied, and what stands at the others.
ALL, LOWER, UPPER, HERMITIAN, IDENTITY = "all", "lower", "upper", "hermitian", "identity"
#: Offsets for which each launch has numbers of its own.
_MARKS: Final = (0x7FFFFF00, 0x7FFFFF40)

_COPIED: Final = {LOWER: "row >= column", UPPER: "row <= column", HERMITIAN: "row >= column", IDENTITY: "false"}


def move(builder: Builder, source: Matrix, target: Matrix, form: str = ALL, *, conjugated: bool = False) -> None:
    """Copy a matrix, or a triangle of it; a Hermitian matrix is copied from its lower triangle."""
    numbers = Numbers(builder.dtype)

    def write(template: Template) -> None:
        kernel = template.kernel
        kernel.module += numbers.functions
        written = template.bind(target.buffer, writable=True)
        read = template.bind(source.buffer, writable=False)
        template.numbers("rows", "columns")
        kernel.line(
            "let across = (columns + 15u) / 16u; let down = (rows + 15u) / 16u;",
            "let plane = block / (across * down);",
            "let tile = block - plane * across * down;",
            "let row = tile / across * 16u + local % 16u;",
            "let column = tile % across * 16u + local / 16u;",
            "if (row >= rows || column >= columns) { return; }",
        )
        template.matrix("source")
        template.matrix("target")
        plain = cast_expression(read.load(template.index("source", source, "row", "column")), source.buffer.dtype,
                                target.buffer.dtype)  # fmt: skip
        kernel.line(f"var value = {numbers.zero if target.buffer.dtype == builder.dtype else plain};")
        if form in _COPIED:
            kernel.line(f"if ({_COPIED[form]}) {{ value = {plain}; }}")
        else:
            kernel.line(f"value = {plain};")
        if form == HERMITIAN:
            mirrored = read.load(template.index("source", source, "column", "row"))
            mirrored = cast_expression(mirrored, source.buffer.dtype, target.buffer.dtype)
            kernel.line(f"else {{ let other = {mirrored}; value = {numbers.conj('other')}; }}")
            if numbers.is_complex:
                kernel.line(f"if (row == column) {{ value = {numbers.whole('value.x')}; }}")
        if form == IDENTITY:
            kernel.line(f"if (row == column) {{ value = {numbers.one}; }}")
        stored = numbers.conj("value") if conjugated else "value"
        kernel.line(written.store(template.index("target", target, "row", "column"), stored))

    values = {"rows": target.rows, "columns": target.columns, **where("source", source), **where("target", target)}
    tiles = -(-target.rows // 16) * -(-target.columns // 16)
    key = ("move", source.buffer, target.buffer, form, conjugated)
    builder.run(key, "copy", write, values, builder.batch * tiles)


def unrolled(count: int, line: Callable[[int], str], first: int = 0) -> list[str]:
    """Return a line for each register from the ``first`` on."""
    return [line(i) for i in range(first, count)]


def update(
    builder: Builder, result: Matrix, left: Matrix, right: Matrix, *, lower: bool = False, sign: int = -1
) -> None:
    """Subtract the product of two matrices from a third, in place; of lower triangles only tiles with their elements.

    With ``sign=1`` the product is added, and with ``sign=0`` it is written.
    """
    if not result.rows * result.columns * left.columns:
        return
    if abs(result.down) < abs(result.across):  # vectors of a result lie along its columns in memory
        result, left, right = result.T, right.T, left.T
        transposed = True
    else:
        transposed = False
    rows, columns, depth = result.rows, result.columns, left.columns
    tiling, splits = _tiles(builder, rows, columns, depth, lower=lower)
    fits = builder.dtype.itemsize == 4 and all(
        gcd(m.offset, m.plane, *(s for s in (m.down, m.across) if s != 1)) % LANES == 0 and 1 in (m.down, m.across)
        for m in (result, left, right)
    )
    # elements beyond the edge of a matrix stand in the same column of its buffer, and are computed in vain
    layouts = (
        _layout(builder, left.plane, _up(rows, left.down, fits), left.down, _up(depth, left.across, fits), left.across),
        _layout(
            builder,
            right.plane,
            _up(columns, right.across, fits),
            right.across,
            _up(depth, right.down, fits),
            right.down,
        ),
    )
    wide = fits and all(is_wide(layout) for layout in layouts)
    even = depth % tiling.depth == 0
    wide = wide and even
    depth_each = -(-depth // (splits * tiling.depth)) * tiling.depth
    splits = -(-depth // depth_each)
    height, width = layouts[0].shape[1], layouts[1].shape[1]
    parts = _parts(builder, splits, height, width) if splits > 1 else None

    def write(template: Template) -> None:
        _write_update(template, (result, left, right), layouts, tiling, parts, wide=wide, even=even, sign=sign,
                      numbers=Numbers(builder.dtype))  # fmt: skip

    across, down = -(-columns // tiling.columns), -(-rows // tiling.rows)
    values = {
        "height": height, "width": width, "depth": depth, "across": across, "down": down,
        "left_from": left.offset, "right_from": right.offset, "result_from": result.offset,
        "skipped": 0 if not lower else 1 if transposed else 2, "splits": splits, "part": depth_each,
        "pitch": parts.down if parts else 0, "plane_each": parts.plane if parts else 0,
    }  # fmt: skip
    key = ("update", result.strides, left.strides, right.strides, tiling, wide, even, sign, parts and parts.buffer)
    builder.run(key, "update", write, values, builder.batch * splits * across * down)
    if parts:
        _add_parts(builder, result, parts, splits, sign)


def _tiles(builder: Builder, rows: int, columns: int, depth: int, *, lower: bool) -> tuple[Tiling, int]:
    """Return the tiles of a product, and in how many parts of the depth different workgroups compute each."""
    chosen = choose(builder.batch, rows, columns, depth, builder.dtype, builder.capabilities)
    if lower or chosen.whole or chosen.splits == 1:
        return fastest_tiling(builder.batch, rows, columns, depth, builder.dtype, builder.capabilities), 1
    return chosen.tiling, chosen.splits


def _parts(builder: Builder, splits: int, height: int, width: int) -> Matrix:
    """Return the matrices of the sums of the parts, those of a product one after the other."""
    pitch = -(-width // LANES) * LANES
    size = builder.batch * splits * height * pitch
    buffer = builder.shared(1 << (size - 1).bit_length())
    return Matrix(buffer, height, width, 0, pitch, 1, height * pitch)


def _add_parts(builder: Builder, result: Matrix, parts: Matrix, splits: int, sign: int) -> None:
    """Add the sums of the parts in order, and subtract the total from the result, add it or write it."""
    numbers = Numbers(builder.dtype)

    def write(template: Template) -> None:
        kernel = template.kernel
        written, read = template.bind(result.buffer, writable=True), template.bind(parts.buffer, writable=False)
        template.numbers("rows", "columns", "splits", "groups_each")
        kernel.line(
            "let plane = block / groups_each;",
            f"let e = (block - plane * groups_each) * {WORKGROUP}u + local;",
            "if (e >= rows * columns) { return; }",
            "let i = e / columns; let j = e % columns;",
        )
        template.matrix("result")
        template.matrix("parts")
        first = "parts_at + i * parts_down + j + (plane * (splits - 1u) + n) * parts_each"
        kernel.line(
            f"let parts_each = {template.number('parts_each')}; var sum = {numbers.zero};",
            f"for (var n = 0u; n < splits; n++) {{ sum += {read.load(first)}; }}",
        )
        index = template.index("result", result, "i", "j")
        total = f"{written.load(index)} {'+' if sign > 0 else '-'} sum" if sign else "sum"
        kernel.line(written.store(index, total))

    each = -(-result.rows * result.columns // WORKGROUP)
    values = {
        "rows": result.rows, "columns": result.columns, "splits": splits, "groups_each": each,
        "parts_each": parts.plane, **where("result", result), **where("parts", parts),
    }  # fmt: skip
    builder.run(("parts", result.buffer, parts.buffer, sign), "update end", write, values, builder.batch * each)


def _up(extent: int, stride: int, fits: bool) -> int:
    return -(-extent // LANES) * LANES if fits and stride == 1 else extent


def _layout(builder: Builder, plane: int, edge: int, along: int, depth: int, deep: int) -> Layout:
    return Layout((builder.batch, edge, depth), (plane, along, deep), 0)


def _write_update(
    template: Template, matrices: tuple[Matrix, Matrix, Matrix], layouts: tuple[Layout, Layout], tiling: Tiling,
    parts: Matrix | None, *, wide: bool, even: bool, sign: int, numbers: Numbers,
) -> None:  # fmt: skip
    kernel, (result, left, right) = template.kernel, matrices
    written = template.bind(parts.buffer if parts else result.buffer, writable=True, wide=wide)
    accesses = [template.bind(m.buffer, writable=False, wide=wide) for m in (left, right)]
    template.numbers("height", "width", "depth", "across", "down", "skipped")
    kernel.line(
        "let number = block / (across * down);",
        "let tile = block - number * across * down;",
        f"let top = tile / across * {tiling.rows}u;",
        f"let left = tile % across * {tiling.columns}u;",
        f"if (skipped == 1u && top >= left + {tiling.columns}u) {{ return; }}",
        f"if (skipped == 2u && left >= top + {tiling.rows}u) {{ return; }}",
    )
    if parts:
        template.numbers("splits", "part", "pitch", "plane_each")
        kernel.line("let plane = number / splits; let begin = (number - plane * splits) * part;")
        kernel.line("let end = min(begin + part, depth);")
    else:
        kernel.line("let plane = number; let begin = 0u; let end = depth;")
    operands = []
    for mark, edge, extent, access, layout, size in (
        (_MARKS[0], "top", "height", accesses[0], layouts[0], tiling.rows),
        (_MARKS[1], "left", "width", accesses[1], layouts[1], tiling.columns),
    ):
        operands.append(Operand(access, layout._replace(offset=mark), edge, extent, size))
    walk = TileKernel(kernel, tiling, numbers.dtype, (operands[0], operands[1]), even)
    walk.emit()
    for mark, name in zip(_MARKS, ("left_from", "right_from"), strict=True):
        template.rename(mark, name)
    step, sign = "", sign if parts is None else 0
    if parts:
        kernel.line("let result_at = number * plane_each;")
    else:
        kernel.line(f"let result_at = {template.number('result_from')} + plane * {kernel.parameter(result.plane)};")
        kernel.line(f"let pitch = {kernel.parameter(result.down)};")
        step = "" if result.across == 1 else f" * {kernel.parameter(result.across)}"
    for row, column, sums in walk.patch():
        kernel.line("{", f"let row = top + {row}; let column = left + {column};",
                    "if (row < height && column < width) {",
                    f"let here = result_at + row * pitch + column{step};")  # fmt: skip
        kernel.line(*_stores(written, walk, sums, step, sign), "} }")


def _stores(access: Access, walk: TileKernel, sums: list[str], step: str, sign: int) -> list[str]:
    if access.wide:
        target, total = f"{access.name}[here / {LANES}u]", sums[0]
        return [f"{target} = {total};" if sign == 0 else f"{target} {'+' if sign > 0 else '-'}= {total};"]
    lines = []
    for lane in range(LANES):
        value = walk.arithmetic.whole([f"{name}.{'xyzw'[lane]}" for name in sums])
        target = f"here + {lane}u{step}"
        if sign:
            value = f"{access.load(target)} {'+' if sign > 0 else '-'} {value}"
        lines.append(f"if (column + {lane}u < width) {{ {access.store(target, value)} }}")
    return lines
