"""The parts of reductions whose state is more than one number, or another number than an element.

:mod:`gpuarray.ops.reductions` has the reductions that they belong to.
"""

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.ops import elementwise
from gpuarray.ops.reduce_spec import ACCUMULATED, IDENTITY, Elements, KernelParts, Let, NumPyParts
from gpuarray.ops.row_sums import in_pieces, moments
from gpuarray.ops.spec import MapOp, wgsl_template
from gpuarray.unprotected import unprotected

# --- extremes of single-precision numbers -----------------------------------------------------------------------------


def extreme_keys(*, least: bool) -> dict[str, KernelParts]:
    """Return the parts of minima or maxima of float32: unsigned integers that are greater the better the number is.

    NaN of either sign is above all: what is below the worst infinity in the order of bits wraps around to the top.
    """
    sign = " ^ sign_bit_f32" if least else ""
    functions = (
        "fn key$number(x: f32) -> u32 {",
        f"  let bits = bitcast<i32>(bitcast<u32>(x){sign});",
        "  return bitcast<u32>(bits ^ ((bits >> 31u) | -0x80000000)) - 0x7fffffu;",
        "}",
        "fn value$number(key: u32) -> f32 {",
        "  let ordered = bitcast<i32>(key + 0x7fffffu);",
        f"  return bitcast<f32>(bitcast<u32>(ordered ^ ((~ordered >> 31u) | -0x80000000)){sign});",
        "}",
    )
    parts = KernelParts(
        state={"a": "uint32"},
        identity=(0,),
        map=("key$number($x)",),
        combine=elementwise.maximum,
        finish="value$number($a)",
        functions=functions,
    )
    return {"f32": parts}


# --- positions of extremes --------------------------------------------------------------------------------------------

#: The position of no element.
_NOWHERE: Final = 0xFFFFFFFF
#: The dtypes of integers in the order of the values that they stand for, by the compute type of those.
_KEYS: Final = {"f32": "int32", "i32": "int32", "u32": "uint32", "bool": "uint32", "i64": "int64", "u64": "uint64"}


def extreme_positions(*, least: bool) -> dict[str, KernelParts]:
    """Return the parts of the position of the first extreme element: NaN first, then the lowest position."""
    keyed = {compute: _keyed_position(compute, key, least) for compute, key in _KEYS.items()}
    return keyed | {compute: _compared_position(compute, least) for compute in ("f64", "c64", "c128", "i64p", "u64p")}


def _keyed_position(compute: str, key: str, least: bool) -> KernelParts:
    """Return the parts where an integer stands for the element, the greater the better."""
    head = f"fn key$number(x: $T) -> {_register_type(key)} {{"
    if compute == "bool":
        functions: tuple[str, ...] = (f"{head} return select({'1u, 0u' if least else '0u, 1u'}, x); }}",)
    elif compute != "f32":
        functions = (f"{head} return {'~' if least else ''}x; }}",)
    else:  # NaN is above all, and zeros of either sign are the same
        functions = (
            head,
            f"  let bits = bitcast<i32>(bitcast<u32>(x){' ^ 0x80000000u' if least else ''});",
            "  let ordered = bits ^ ((bits >> 31u) & 0x7fffffff);",
            "  return select(select(ordered, 0, ordered == -1), 0x7fffffff, (bits & 0x7fffffff) > 0x7f800000);",
            "}",
        )
    return KernelParts(
        state={"a": key, "p": "uint32"},
        identity=(int(np.iinfo(key).min), _NOWHERE),
        map=("key$number($x)", "$i"),
        combine="if (($a2 > $a) | (($a2 == $a) & ($p2 < $p))) { $a = $a2; $p = $p2; }",
        finish="$p",
        finish_dtype="uint32",
        functions=functions,
        lets=(
            Let("key", "key$number($x)", each=True),
            Let("best", "$key", fold=elementwise.maximum, dtype=key),
        ),
        several=("$key", "$i"),
        condition="($best > $a) | ($p == 0xffffffffu)",
    )


def _register_type(name: str) -> str:
    return {"i": "i", "u": "u"}[np.dtype(name).kind] + str(8 * np.dtype(name).itemsize)


def _compared_position(compute: str, least: bool) -> KernelParts:
    """Return the parts where elements are compared as they are.

    ``better`` knows positions. ``may_beat`` is for a second element that comes later, and errs only by saying yes.
    """
    op = elementwise.less if least else elementwise.greater
    forward, backward = _applied(op, compute, "b", "a"), _applied(op, compute, "a", "b")
    nans: tuple[str, ...] = ()
    may = forward
    if compute[0] in "fc":
        first, second = (_applied(elementwise.isnan, compute, name) for name in "ab")
        nans = (f"  if ({first} || {second}) {{ return select({second}, j < i, {first} && {second}); }}",)
        may = f"{forward} || {second}"
    functions = (
        "fn better$number(a: $T, i: u32, b: $T, j: u32) -> bool {",
        "  if (j == 0xffffffffu) { return false; }",
        "  if (i == 0xffffffffu) { return true; }",
        *nans,
        f"  if ({forward}) {{ return true; }}",
        f"  if ({backward}) {{ return false; }}",
        "  return j < i;",
        "}",
        f"fn may_beat$number(a: $T, b: $T) -> bool {{ return {may}; }}",
    )
    return KernelParts(
        state={"a": ACCUMULATED, "p": "uint32"},
        identity=(IDENTITY, _NOWHERE),
        map=("$x", "$i"),
        combine="if (better$number($a, $p, $a2, $p2)) { $a = $a2; $p = $p2; }",
        finish="$p",
        finish_dtype="uint32",
        functions=functions,
        lets=(Let("beaten", "may_beat$number($a, $x)", fold=elementwise.logical_or, dtype="bool"),),
        several=("$x", "$i"),
        condition="$beaten | ($p == 0xffffffffu)",
    )


def _applied(op: MapOp, compute: str, *operands: str) -> str:
    template = wgsl_template(op, compute)
    assert template is not None
    return template.format(*operands, T=compute, U=compute, R=compute, bits=64)


#: Elements of the blocks whose extremes are found before their positions, and dtypes for which that is faster.
_BLOCK: Final = 1 << 14
_QUICK: Final = tuple(np.dtype(code) for code in "bBhHiIlLfd")


def numpy_positions(search: Callable[..., Any], extreme: Callable[..., Any]) -> NumPyParts:
    """Return the parts in NumPy of the position of an extreme element."""

    def find(values: Any, axis: int = -1) -> Any:
        return search(unprotected(values), axis)

    def first(line: Any) -> int:
        """Return the position of the first extreme element of a line: that in the first block that has the extreme."""
        if line.dtype not in _QUICK:
            return int(find(line))
        full = line.size // _BLOCK * _BLOCK
        extremes = extreme(line[:full].reshape(-1, _BLOCK), 1)
        if full < line.size:
            extremes = np.append(extremes, extreme(line[full:]))
        start = int(find(extremes)) * _BLOCK
        return start + int(find(line[start : start + _BLOCK]))

    def fold(elements: Elements) -> tuple[Any, Any]:
        rows = elements.rows()
        if rows.ndim == 1:
            first_positions: Any = first(rows)
            best = rows[first_positions]
        else:
            first_positions = find(rows)
            best = np.take_along_axis(rows, first_positions[..., None], axis=-1)[..., 0]
        return elements.restored(best), elements.restored(elements.positions(first_positions))

    def combine(values: Any, positions: Any) -> tuple[Any, Any]:
        best = np.take_along_axis(values, find(values, 0)[None], axis=0)
        # tiles need not come in C order: of equally extreme elements the one with the lowest position counts
        is_best = (values == best) | ((values != values) & (best != best))
        return best[0], np.where(is_best, positions, np.iinfo(np.int64).max).min(axis=0)

    return NumPyParts(
        state=lambda dtype: (dtype, dtypes.int64),
        fold=fold,
        combine=combine,
        finish=lambda _best, positions: positions,
        result=lambda elements: elements.restored(find(elements.rows())),
    )


# --- squared deviations -----------------------------------------------------------------------------------------------


def deviations() -> KernelParts:
    """Return the parts of the sum of squared deviations from the mean, with the number of elements and that mean.

    Two states are merged by the formula of Chan, Golub and LeVeque (1979), "Updating formulae and a pairwise algorithm
    for computing sample variances", so that elements are read once, and nothing cancels. Several elements are lifted
    about their own mean, which takes one division.
    """
    return KernelParts(
        state=dict.fromkeys("nma", ACCUMULATED),
        identity=(0, 0, 0),
        map=("$one", "$x", "$zero"),
        combine="{ let gap = $m2 - $m; let share = $n2 / max($n + $n2, $one); "
        "$a += $a2 + gap * gap * ($n * share); $m += gap * share; $n += $n2; }",
        # NaN where the mean is no number, whatever the order of elements was
        finish="select($nan, $a, isfinite_$compute($m))",
        lets=(
            Let("total", "$x", fold=elementwise.add),
            Let("mean", "$total $by_count"),
            Let("off", "$x - $mean", each=True),
            Let("squares", "$off * $off", fold=elementwise.add),
        ),
        several=("$count", "$mean", "$squares"),
    )


def _fold_deviations(elements: Elements) -> tuple[Any, Any, Any]:
    """Return the number of elements of each row, their mean less the shift, and the sum of the squares about the mean.

    These squares come from the sum of squares where few digits cancel, and otherwise from the elements less their mean.
    """
    x, axes = elements.values, elements.axes
    count = prod(x.shape[axis] for axis in axes)
    pieces = None if elements.spare is None else in_pieces(x, axes)  # of few elements, fewer calls take less time
    if pieces is None:
        off = np.subtract(x, elements.shift, out=elements.spare)
        mean = np.add.reduce(off, axes, off.dtype, keepdims=True) / off.dtype.type(count)
        np.subtract(off, mean, out=off)
        return count, mean, np.add.reduce(np.multiply(off, off, out=off), axes, off.dtype, keepdims=True)
    mean, squares, is_good = moments(pieces, count)
    if is_good.all():
        return count, mean - elements.shift, squares
    # rows that lose digits are shifted, and what still does is centred; no row depends on others
    off = np.subtract(x, elements.shift, out=elements.spare)
    pieces = in_pieces(off, axes)
    assert pieces is not None  # spare memory is no worse
    shifted, near, is_better = moments(pieces, count)
    if not (is_good | is_better).all():
        centre = shifted.astype(x.dtype)
        np.subtract(off, centre, out=off)
        rest, best, _ = moments(pieces, count)
        shifted = np.where(is_better, shifted, rest + centre)
        near = np.where(is_better, near, best)
    return count, np.where(is_good, mean - elements.shift, shifted), np.where(is_good, squares, near)


def _combine_deviations(counts: Any, means: Any, squares: Any) -> tuple[Any, Any, Any]:
    count = counts.sum(axis=0)
    mean = (counts * means).sum(axis=0) / count
    off = means - mean
    return count, mean, squares.sum(axis=0) + (counts * off * off).sum(axis=0)


def _wide(dtype: DType) -> DType:
    """Return the dtype in which NumPy tiles compute: float16 would lose what kernels keep."""
    return dtypes.float32 if dtype == dtypes.float16 else dtype


NUMPY_DEVIATIONS: Final = NumPyParts(
    state=lambda _dtype: (dtypes.float64,) * 3,
    fold=_fold_deviations,
    combine=_combine_deviations,
    finish=lambda _count, mean, squares: squares + (mean - mean),  # NaN where the mean is no number
    compute=_wide,
    takes_spare=True,
    takes_shift=True,
    calls=15,
)


# --- logarithms of sums of exponentials -------------------------------------------------------------------------------


def sum_of_exponentials(compute: str) -> KernelParts:
    """Return the parts of the logarithm of a sum of exponentials: the greatest element, and the sum less it.

    What an infinite element is less itself is not computed: its exponential is that of the element.
    """
    maximum = _applied(elementwise.maximum, compute, "$m", "$m2")
    exp = _applied(elementwise.exp, compute, "m - top")
    return KernelParts(
        state={"m": ACCUMULATED, "s": ACCUMULATED},
        identity=(IDENTITY, 0),
        map=("$x", f"{_applied(elementwise.exp, compute, '$x - base$number($x)')}"),
        combine=f"{{ let top = {maximum}; $s = $s * scale$number($m, top) + $s2 * scale$number($m2, top); $m = top; }}",
        finish=f"base$number($m) + {_applied(elementwise.log, compute, '$s')}",
        functions=(
            "fn base$number(m: $T) -> $T { return select($zero, m, isfinite_$compute(m)); }",
            f"fn scale$number(m: $T, top: $T) -> $T {{ return select({exp}, $one, m == top); }}",
        ),
        lets=(
            Let("top", "$x", fold=elementwise.maximum),
            Let("base", "base$number($top)"),
            Let("total", _applied(elementwise.exp, compute, "$x - $base"), fold=elementwise.add),
        ),
        several=("$top", "$total"),
    )


def _fold_exponentials(elements: Elements) -> tuple[Any, Any]:
    x, axes = elements.values, elements.axes
    top = np.maximum.reduce(x, axes, keepdims=True)
    off = np.subtract(x, _base(top), out=elements.spare)
    return top, np.add.reduce(np.exp(off, out=off), axes, off.dtype, keepdims=True)


def _base(top: Any) -> Any:
    return np.where(np.isfinite(top), top, top.dtype.type(0))


def _combine_exponentials(tops: Any, sums: Any) -> tuple[Any, Any]:
    top = tops.max(axis=0)
    scale = np.where(tops == top, top.dtype.type(1), np.exp(tops - top))
    return top, (sums * scale).sum(axis=0)


NUMPY_EXPONENTIALS: Final = NumPyParts(
    state=lambda dtype: (_wide(dtype),) * 2,
    fold=_fold_exponentials,
    combine=_combine_exponentials,
    finish=lambda top, sums: _base(top) + np.log(sums),
    compute=_wide,
    takes_spare=True,
    calls=8,
)
