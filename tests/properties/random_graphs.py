"""Random programs of array expressions, run alike on NumPy arrays with error bounds and on arrays of this package.

A :class:`Graph` is a list of instructions made from one seed. Every instruction knows how to make NumPy's value with
its error bound (:mod:`bounds`), and how to record the same operation on arrays of this package.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import bounds
import numpy as np
from bounds import Value

from gpuarray import dtypes
from gpuarray.ops import spec

LARGEST = 90_000
EXTENTS = (1, 2, 3, 4, 5, 7, 8)


def _words(*lines: str) -> tuple[str, ...]:
    return tuple(word for line in lines for word in line.split())


UNARY = _words(
    "negative positive abs fabs sign square reciprocal sqrt cbrt degrees radians ceil floor trunc rint signbit spacing",
    "exp exp2 expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh isnan isinf",
    "isfinite logical_not bitwise_invert bitwise_count conj",
)
BINARY = _words(
    "add subtract multiply divide floor_divide remainder fmod hypot pow gcd lcm heaviside copysign nextafter atan2",
    "logaddexp maximum minimum fmax fmin equal not_equal less less_equal greater greater_equal logical_and logical_or",
    "logical_xor bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift",
)
#: Drawn more often than others: what most programs consist of.
COMMON = _words("add subtract multiply divide maximum less negative square abs")
#: Not continuous, or of unbounded slope: only for operands without slack.
ABRUPT = _words("floor_divide remainder fmod spacing nextafter gcd lcm pow tan copysign sign heaviside reciprocal")
REDUCTIONS = ("sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "mean", "var")


@dataclass
class Instruction:
    """One line of a program: a name for people, its operands, and the operation on arrays of either kind."""

    text: str
    operands: tuple[int, ...]
    run: Callable[..., Any]


class Graph:
    """A program made from a seed, with NumPy's values and the choice of what is wanted."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.leaves: list[np.ndarray[Any, Any]] = []
        self.instructions: list[Instruction] = []
        self.values: list[Value] = []
        self.shape = self._shape()
        for _ in range(self.random.integers(1, 4)):
            self._leaf(self._part(self.shape), self._dtype())
        expected = int(self.random.integers(2, 13))
        for _ in range(3 * expected):
            self._grow()
            if len(self.instructions) >= expected + len(self.leaves):
                break
        count = min(int(self.random.integers(1, 4)), len(self.values))
        last = len(self.values) - 1
        others = self.random.permutation(last)[: count - 1].tolist() if last else []
        self.wanted = sorted({last, *others})
        self.held = set(self.wanted) | {i for i in range(last) if self.random.random() < 0.3}

    # -- choices ------------------------------------------------------------------------------------------------------

    def _chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def _pick(self, items: Sequence[Any]) -> Any:
        return items[int(self.random.integers(len(items)))]

    def _shape(self) -> tuple[int, ...]:
        draw = self.random.random()
        if draw < 0.06:
            return self._pick([(40_000,), (200, 200), (3, 9000), (9000, 3), (20_011,)])
        rank = int(self.random.choice([0, 1, 2, 3], p=[0.06, 0.3, 0.44, 0.2]))
        shape = [self._pick(EXTENTS) for _ in range(rank)]
        if rank and self._chance(0.05):
            shape[int(self.random.integers(rank))] = 0
        if rank and self._chance(0.12):
            shape[int(self.random.integers(rank))] = self._pick((64, 100, 257, 300))
        return tuple(shape)

    def _part(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return a shape that broadcasts to ``shape``."""
        if self._chance(0.55):
            return shape
        kept = [1 if self._chance(0.3) else n for n in shape]
        return tuple(kept[int(self.random.integers(len(kept) + 1)) :])

    def _dtype(self) -> Any:
        if self._chance(0.4):
            return self._pick((dtypes.float32, dtypes.float64, dtypes.int32))
        return self._pick(dtypes.ALL)

    def _numbers(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        random = self.random
        kind = dtype.kind
        if kind == "b":
            return random.integers(0, 2, shape).astype(dtype)
        if kind in "iu":
            small = random.integers(0 if kind == "u" else -9, 10, shape).astype(dtype)
            info = np.iinfo(dtype)
            return self._sprinkled(small, [info.max, info.min, info.max - 1, info.min + 1, 0, 100])
        numbers = np.asarray(random.integers(-32, 33, shape) / 4)
        if kind == "c":
            numbers = numbers + 1j * random.integers(-32, 33, shape) / 4
            return self._sprinkled(numbers.astype(dtype), [0, 1j, -1, 1e4 - 1e4j, 1e-3j])
        info = np.finfo(dtype)
        special = [np.nan, np.inf, -np.inf, -0.0, 0.0, info.max, info.min, 1e4, -1e-4, 0.1]
        return self._sprinkled(numbers.astype(dtype), special)

    def _sprinkled(self, array: np.ndarray[Any, Any], special: list[Any]) -> np.ndarray[Any, Any]:
        if self._chance(0.55):
            return array
        chosen = self.random.random(array.shape) < min(0.12, 12 / max(array.size, 1))
        drawn = self.random.integers(0, len(special), array.shape)
        return np.where(chosen, np.array(special, array.dtype)[drawn], array)

    # -- instructions -------------------------------------------------------------------------------------------------

    def _add(self, text: str, operands: tuple[int, ...], run: Callable[..., Any], value: Value) -> None:
        self.instructions.append(Instruction(text, operands, run))
        self.values.append(value)

    def _leaf(self, shape: tuple[int, ...], dtype: Any) -> None:
        array = np.asarray(self._numbers(shape, dtype))
        self.leaves.append(array)
        shown = np.array2string(array, threshold=40) if array.size <= 40 else "..."
        self._add(f"leaf {dtype.name}{list(shape)} {shown}", (), lambda: None, bounds.exact(array))

    def _grow(self) -> None:
        kinds = [
            (self._unary, 0.16),
            (self._binary, 0.27),
            (self._reduction, 0.11),
            (self._normalised, 0.05),
            (self._view, 0.19),
            (self._cast, 0.06),
            (self._where, 0.05),
            (self._scan, 0.03),
            (self._join, 0.04),
            (self._gather, 0.02),
            (self._product, 0.02),
        ]
        weights = [w for _, w in kinds]
        number = int(self.random.choice(len(kinds), p=weights))
        kinds[number][0]()

    def _any(self) -> int:
        """Return some value, recent ones with preference."""
        count = len(self.values)
        return count - 1 - min(int(self.random.geometric(0.35)) - 1, count - 1)

    def _row(self, names: Sequence[str]) -> spec.MapOp:
        name = self._pick([n for n in COMMON if n in names]) if self._chance(0.4) else self._pick(names)
        row = spec.OPS[name]
        assert isinstance(row, spec.MapOp)
        return row

    def _apply(self, row: spec.MapOp, operands: tuple[int, ...]) -> None:
        values = [self.values[o] for o in operands]
        inexact = any(v.slack.any() for v in values)
        if inexact and row.name in ABRUPT:
            return
        if row.name == "pow" and any(v.array.dtype.kind == "i" for v in values):
            return
        try:
            value = bounds.elementwise(row.name, row.ulp, row.numpy, values)
        except TypeError:
            return
        self._add(f"{row.name} {_names(operands)}", operands, row.numpy, value)

    def _unary(self) -> None:
        self._apply(self._row(UNARY), (self._any(),))

    def _binary(self) -> None:
        first = self._any()
        others = [i for i in range(len(self.values)) if self._fits(first, i)]
        if self._chance(0.2):
            self._scalar(self._row(BINARY), first)
            return
        second = self._pick(others)
        self._apply(self._row(BINARY), (first, second) if self._chance(0.5) else (second, first))

    def _scalar(self, row: spec.MapOp, first: int) -> None:
        kind = self.values[first].array.dtype.kind
        scalar = self._pick({"b": (True, False), "f": (2, 0.5, -3.0), "c": (2, 1j)}.get(kind, (1, 2, 7)))
        if row.name in ("pow", "gcd", "lcm") or (row.name in ABRUPT and self.values[first].slack.any()):
            return
        reverse = self._chance(0.3)

        def run(x: Any) -> Any:
            return row.numpy(scalar, x) if reverse else row.numpy(x, scalar)

        try:
            value = bounds.elementwise(row.name, row.ulp, run, [self.values[first]])
        except TypeError:
            return
        text = f"{row.name} {scalar!r} %{first}" if reverse else f"{row.name} %{first} {scalar!r}"
        self._add(text, (first,), run, value)

    def _fits(self, *operands: int) -> bool:
        try:
            shape = np.broadcast_shapes(*(self.values[o].array.shape for o in operands))
        except ValueError:
            return False
        return prod(shape) <= LARGEST

    def _cast(self) -> None:
        source, dtype = self._any(), self._pick(dtypes.ALL)
        value = bounds.cast(self.values[source], dtype)
        self._add(f"astype {dtype.name} %{source}", (source,), lambda x: x.astype(dtype), value)

    def _where(self) -> None:
        candidates = [self._any() for _ in range(3)]
        if not self._fits(*candidates):
            return
        condition, first, second = candidates
        if self.values[condition].array.dtype != np.bool_:
            run: Callable[..., Any] = lambda c, x, y: np.where(c.astype(bool), x, y)  # noqa: E731
        else:
            run = np.where
        chosen = bounds.cast(self.values[condition], np.bool_)
        value = bounds.where(chosen, self.values[first], self.values[second])
        self._add(f"where {_names(candidates)}", tuple(candidates), run, value)

    def _normalised(self) -> None:
        """Combine a value with a reduction of itself, as softmax, variance and normalisation do."""
        source = self._any()
        if self._reduced(source, self._pick(("sum", "max", "min", "mean")), True):
            self._apply(self._row(("add", "subtract", "multiply", "divide", "less")), (source, len(self.values) - 1))

    def _reduction(self) -> None:
        self._reduced(self._any(), self._pick(REDUCTIONS), self._chance(0.4))

    def _reduced(self, source: int, name: str, keepdims: bool) -> bool:
        value = self.values[source]
        ndim = value.array.ndim
        axis: Any = None
        if ndim and self._chance(0.75):
            axes = self.random.permutation(ndim)[: int(self.random.integers(1, ndim + 1))].tolist()
            axis = axes[0] if len(axes) == 1 or name.startswith("arg") else tuple(axes)
        reduced = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        folded = prod(value.array.shape[a] for a in reduced)
        if folded == 0 and name not in ("sum", "prod", "any", "all"):
            return False
        if name in ("mean", "var") and not value.array.size:
            return False
        if name == "prod" and folded > 64 and value.array.dtype.kind in "fc":
            return False
        if name == "var" and value.array.dtype.kind == "c":
            return False
        result = bounds.reduction(name, value, axis, keepdims)
        text = f"{name} %{source} axis={axis} keepdims={keepdims}"
        self._add(text, (source,), lambda x: getattr(x, name)(axis=axis, keepdims=keepdims), result)
        return True

    def _scan(self) -> None:
        source, name = self._any(), self._pick(("cumsum", "cumprod"))
        array = self.values[source].array
        if not array.ndim or (name == "cumprod" and array.dtype.kind in "fc" and max(array.shape) > 32):
            return
        axis = int(self.random.integers(array.ndim))
        value = bounds.scan(name, self.values[source], axis)
        function = getattr(np, name)
        self._add(f"{name} %{source} axis={axis}", (source,), lambda x: function(x, axis=axis), value)

    def _join(self) -> None:
        source = self._any()
        array = self.values[source].array
        if not array.ndim or 3 * array.size > LARGEST:
            return
        same = [i for i, v in enumerate(self.values) if v.array.shape == array.shape]
        parts = tuple(self._pick(same) for _ in range(int(self.random.integers(2, 4))))
        axis = int(self.random.integers(array.ndim))
        function = self._pick((np.concatenate, np.stack))
        name = function.__name__

        def run(*operands: Any) -> Any:
            return function(operands, axis=axis)

        arrays = [self.values[p] for p in parts]
        joined = run(*(v.array for v in arrays))
        slack = run(*(v.slack for v in arrays))
        # parts are converted to the common dtype first, which rounds
        rounding = np.where(slack > 0, bounds.unit(np.abs(joined)) if joined.dtype.kind in "fc" else 0, 0)
        self._add(f"{name} {_names(parts)} axis={axis}", parts, run, bounds._closed(joined, slack + rounding))

    def _gather(self) -> None:
        source = self._any()
        array = self.values[source].array
        if not array.ndim or not array.shape[0]:
            return
        extent = array.shape[0]
        indices = self.random.integers(-extent, extent, self._pick([(3,), (2, 2), (6,)]))
        if prod(indices.shape) * (array.size // extent) > LARGEST:
            return
        value = bounds.through(self.values[source], lambda x: x[indices])
        self._add(f"gather %{source}[{indices.tolist()}]", (source,), lambda x: x[indices], value)

    def _product(self) -> None:
        matrices = [i for i, v in enumerate(self.values) if v.array.ndim == 2 and v.array.size]
        pairs = [(i, j) for i in matrices for j in matrices if self._chains(i, j)]
        if pairs:
            first, second = self._pick(pairs)
            value = bounds.matrix_product(self.values[first], self.values[second])
            self._add(f"matmul %{first} %{second}", (first, second), np.matmul, value)

    def _chains(self, first: int, second: int) -> bool:
        (height, depth), (rows, width) = self.values[first].array.shape, self.values[second].array.shape
        return depth == rows and height * width * depth <= LARGEST

    # -- views --------------------------------------------------------------------------------------------------------

    def _view(self) -> None:
        source = self._any()
        array = self.values[source].array
        makers = (self._slicing, self._slicing, self._transposition, self._reshaping, self._broadcast, self._flip)
        made = self._pick(makers)(array)
        if made is None:
            return
        text, run = made
        value = bounds.through(self.values[source], run)
        self._add(f"{text} %{source}", (source,), run, value)

    def _slicing(self, array: np.ndarray[Any, Any]) -> Any:
        key: list[Any] = []
        for extent in array.shape:
            draw = self.random.random()
            if draw < 0.1 and extent:
                key.append(int(self.random.integers(-extent, extent)))
            elif draw < 0.75:
                ends = [None if self._chance(0.5) else int(self.random.integers(-extent - 1, extent + 2)) for _ in "ab"]
                key.append(slice(*ends, self._pick((None, 1, 2, -1, -2, 3))))
            else:
                key.append(slice(None))
            if self._chance(0.08):
                key.append(None)
        keys = tuple(key)
        return f"slice {keys}", lambda x: x[keys]

    def _transposition(self, array: np.ndarray[Any, Any]) -> Any:
        order = self.random.permutation(array.ndim).tolist()
        return f"transpose {order}", lambda x: x.transpose(order)

    def _reshaping(self, array: np.ndarray[Any, Any]) -> Any:
        size = array.size
        divisors = [d for d in range(1, min(size, 300) + 1) if size % d == 0] or [1]
        first = self._pick(divisors)
        rest = size // first
        second = self._pick([d for d in divisors if rest % d == 0])
        shape = self._pick([(size,), (first, rest), (first, second, rest // second), (size, 1)])
        return f"reshape {shape}", lambda x: x.reshape(shape)

    def _broadcast(self, array: np.ndarray[Any, Any]) -> Any:
        target = tuple(self._pick((2, 3)) if n == 1 and self._chance(0.7) else n for n in array.shape)
        target = (2, *target) if self._chance(0.3) and len(target) < 5 else target
        if prod(target) > LARGEST:
            return None
        return f"broadcast_to {target}", lambda x: np.broadcast_to(x, target)

    def _flip(self, array: np.ndarray[Any, Any]) -> Any:
        if not array.ndim:
            return None
        axis = int(self.random.integers(array.ndim))
        return f"flip axis={axis}", lambda x: np.flip(x, axis)

    # -- running ------------------------------------------------------------------------------------------------------

    def record(self, make: Callable[[Any], Any]) -> dict[int, Any]:
        """Run the program on arrays that ``make`` makes of the leaves; return those that are held to the end."""
        leaves = iter(self.leaves)
        last = {o: n for n, item in enumerate(self.instructions) for o in item.operands}
        arrays: dict[int, Any] = {}
        for number, item in enumerate(self.instructions):
            arrays[number] = item.run(*(arrays[o] for o in item.operands)) if item.operands else make(next(leaves))
            for operand in {*item.operands, number}:
                if operand not in self.held and last.get(operand, -1) <= number:
                    arrays.pop(operand)
        return arrays

    def text(self, target: int) -> str:
        """Return the lines that ``target`` depends on."""
        needed = {target}
        for number in range(target, -1, -1):
            if number in needed:
                needed.update(self.instructions[number].operands)
        lines = []
        for number in sorted(needed):
            value = self.values[number].array
            lines.append(f"%{number}: {value.dtype.name}{list(value.shape)} = {self.instructions[number].text}")
        return "\n".join(lines)


def _names(operands: Sequence[int]) -> str:
    return " ".join(f"%{o}" for o in operands)
